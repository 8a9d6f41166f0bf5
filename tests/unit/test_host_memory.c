/* Host memory: which of its bytes are page-locked, what that costs, and what is kept for the next image. */
#include "backend/emulated.h"
#include "base/allocate.h"
#include "base/error.h"
#include "memory/crew.h"
#include "memory/host_memory.h"
#include "memory/host_pool.h"
#include "memory/machine.h"
#include "memory/page_locking.h"
#include "support/dense_work.h"
#include "support/expect.h"
#include "support/faulty_backend.h"

#include <cudacommon/memory.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

static long live_before;
static cc__backend *emulated, *backend;
static size_t pool_limit_before, locked_limit_before, piece_bytes_before;

static void set_up(void)
{
    live_before = cc__allocations_live();
    emulated = cc__backend_emulated_create(1);
    ck_assert_ptr_nonnull(emulated);
    backend = faulty_backend_create(emulated);
    ck_assert_ptr_nonnull(backend);
    pool_limit_before = cc__host_pool_limit();
    piece_bytes_before = cc__host_memory_piece_bytes;
    locked_limit_before = cc__page_locking_limit();
}

static void tear_down(void)
{
    cc__allocate_set_hook(NULL);
    cc__host_memory_piece_bytes = piece_bytes_before;
    cc__crew_cores = 0;
    cc__host_pool_trim(0);
    cc__host_pool_set_limit(pool_limit_before);
    cc__page_locking_set_limit(locked_limit_before);
    ck_assert_uint_eq(cc__page_locking_bytes(), 0);
    ck_assert_int_eq(cc__emulated_count_live(emulated).registrations, 0);
    faulty_backend_destroy(backend);
    cc__backend_emulated_destroy(emulated);
    ck_assert_int_eq(cc__allocations_live(), live_before);
}

static cc__host_memory *must_create(size_t bytes)
{
    cc__host_memory *memory = NULL;
    ck_assert_int_eq(cc__host_memory_create(bytes, NULL, &memory), CC_OK);
    ck_assert_uint_eq(memory->size_bytes, bytes);
    return memory;
}

static int64_t registrations(void)
{
    return faulty_backend_counts(backend).calls[FAULTY_HOST_REGISTER];
}

static size_t lock(cc__host_memory *memory, size_t first, size_t end)
{
    return cc__host_memory_lock(memory, backend, (cc__range){first, end});
}

static cc__locking locking(cc__host_memory *memory, size_t first, size_t end)
{
    return cc__host_memory_locking(memory, (cc__range){first, end});
}

/* The ranges that are locked, written out in units: "0-2 6-8". */
static const char *ranges_of(cc__host_memory *memory, size_t unit)
{
    static char text[256];
    cc__range *ranges = NULL;
    int32_t count = 0;
    size_t length = 0;
    ck_assert_int_eq(cc__host_memory_ranges(memory, (cc__range){0, SIZE_MAX}, &ranges, &count), CC_OK);
    text[0] = '\0';
    for (int32_t i = 0; i < count; ++i) {
        ck_assert_uint_eq(ranges[i].first % unit + ranges[i].end % unit, 0);
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%zu-%zu", i > 0 ? " " : "",
                                   ranges[i].first / unit, ranges[i].end / unit);
    }
    cc__free(ranges);
    return text;
}

START_TEST(large_memory_is_locked_in_huge_pages)
{
    cc__host_memory *memory = must_create(64 * MIB + 1);
    ck_assert_uint_eq((uintptr_t)memory->bytes % (2 * MIB), 0);
    ck_assert_int_eq(locking(memory, 0, 64 * MIB), CC__LOCKING_NONE);
    ck_assert_uint_eq(lock(memory, 5 * MIB, 5 * MIB + 1), 2 * MIB);
    ck_assert_str_eq(ranges_of(memory, MIB), "4-6");
    ck_assert_uint_eq(cc__host_memory_locked_bytes(memory), 2 * MIB);
    ck_assert_uint_eq(cc__page_locking_bytes(), 2 * MIB);
    ck_assert_int_eq(locking(memory, 4 * MIB, 6 * MIB), CC__LOCKING_WHOLE);
    ck_assert_int_eq(locking(memory, 4 * MIB, 6 * MIB + 1), CC__LOCKING_PARTS);
    ck_assert_int_eq(locking(memory, 4 * MIB - 1, 4 * MIB), CC__LOCKING_NONE);
    ck_assert_int_eq(locking(memory, 6 * MIB, 7 * MIB), CC__LOCKING_NONE);
    ck_assert_uint_eq(lock(memory, 4 * MIB, 6 * MIB), 0);
    ck_assert_int_eq(registrations(), 1);
    /* The last page ends where the system's page does, not where a huge one would. */
    ck_assert_uint_eq(lock(memory, 64 * MIB, 64 * MIB + 1), 4 * KIB);
    ck_assert_str_eq(ranges_of(memory, 4 * KIB), "1024-1536 16384-16385");
    cc__host_memory_destroy(memory, true);
}
END_TEST

START_TEST(small_memory_is_locked_in_pages)
{
    cc__host_memory *memory = must_create(MIB);
    lock(memory, 5000, 5001);
    ck_assert_str_eq(ranges_of(memory, 4 * KIB), "1-2");
    lock(memory, 0, MIB);
    ck_assert_str_eq(ranges_of(memory, 4 * KIB), "0-1 1-2 2-256");
    cc__host_memory_destroy(memory, true);
}
END_TEST

START_TEST(each_gap_is_locked_as_one_piece)
{
    cc__host_memory *memory = must_create(32 * MIB);
    lock(memory, 12 * MIB, 13 * MIB);
    lock(memory, 4 * MIB, 6 * MIB);
    ck_assert_uint_eq(lock(memory, MIB, 30 * MIB), 26 * MIB);
    ck_assert_str_eq(ranges_of(memory, MIB), "0-4 4-6 6-12 12-14 14-30");
    ck_assert_int_eq(registrations(), 5);
    ck_assert_int_eq(locking(memory, 6 * MIB, 12 * MIB), CC__LOCKING_WHOLE);
    ck_assert_int_eq(locking(memory, 5 * MIB, 7 * MIB), CC__LOCKING_PARTS);
    cc__host_memory_drop(memory);
    ck_assert_int_eq(faulty_backend_counts(backend).calls[FAULTY_HOST_UNREGISTER], 5);
}
END_TEST

typedef struct taken {
    size_t ends[16];
    int32_t count;
    int32_t most;
} taken;

static bool take(void *context, cc__range locked)
{
    taken *self = context;
    ck_assert_uint_eq(locked.first, self->count > 0 ? self->ends[self->count - 1] : 0);
    self->ends[self->count++] = locked.end;
    return self->count < self->most;
}

START_TEST(much_is_locked_in_pieces)
{
    const faulty_rule rule = {FAULTY_HOST_REGISTER, 3, false, CC_ERROR_DEVICE, FAULTY_NATIVE_ERROR};
    cc__host_memory_piece_bytes = 4 * MIB;
    /* With a thread that goes ahead, and without. */
    cc__crew_cores = _i == 0 ? 4 : 1;
    cc__host_memory *memory = must_create(24 * MIB);
    lock(memory, 0, 15 * MIB);
    ck_assert_str_eq(ranges_of(memory, MIB), "0-16");
    cc__host_memory_drop(memory);
    memory = must_create(24 * MIB);
    for (size_t i = 0; i < 24 * MIB; i += 97)
        memory->bytes[i] = (unsigned char)(i * 31);
    lock(memory, 7 * MIB, 7 * MIB + 1);
    ck_assert_uint_eq(lock(memory, MIB, 22 * MIB - 5), 20 * MIB);
    ck_assert_str_eq(ranges_of(memory, MIB), "0-4 4-6 6-8 8-12 12-16 16-20 20-22");
    for (size_t i = 0; i < 24 * MIB; ++i)
        if (memory->bytes[i] != (i % 97 == 0 ? (unsigned char)(i * 31) : 0))
            ck_abort_msg("byte %zu", i);
    taken all = {.most = 16};
    ck_assert_uint_eq(cc__host_memory_lock_each(memory, backend, (cc__range){0, 24 * MIB}, take, &all), 2 * MIB);
    ck_assert_int_eq(all.count, 8);
    ck_assert_uint_eq(all.ends[7], 24 * MIB);
    cc__host_memory_drop(memory);

    /* Up to where somebody says that it is enough, or the system does. */
    memory = must_create(24 * MIB);
    taken two = {.most = 2};
    ck_assert_uint_eq(cc__host_memory_lock_each(memory, backend, (cc__range){0, 24 * MIB}, take, &two), 8 * MIB);
    ck_assert_str_eq(ranges_of(memory, MIB), "0-4 4-8");
    cc__host_memory_drop(memory);
    memory = must_create(24 * MIB);
    faulty_backend_add_rule(backend, &rule);
    taken some = {.most = 16};
    ck_assert_uint_eq(cc__host_memory_lock_each(memory, backend, (cc__range){0, 24 * MIB}, take, &some), 8 * MIB);
    ck_assert_int_eq(some.count, 2);
    cc__host_memory_drop(memory);
    /* Nothing, when all of it is more than the limit. */
    cc__page_locking_set_limit(23 * MIB);
    memory = must_create(24 * MIB);
    ck_assert_uint_eq(lock(memory, 0, 24 * MIB), 0);
    ck_assert_uint_eq(lock(memory, 0, 22 * MIB), 22 * MIB);
    cc__host_memory_drop(memory);
}
END_TEST

START_TEST(pages_that_others_data_may_be_on_stay_unlocked)
{
    unsigned char *bytes = cc__pages_allocate(MIB);
    const struct {
        size_t first, end;
        const char *locked; /* pages, from the first whole one */
    } cases[] = {{0, MIB, "0-256"}, {1, MIB, "1-256"},          {4096, MIB - 1, "1-255"},
                 {1, 4096, ""},     {4095, 8192 + 1, "1-2"},    {5000, 5001, ""},
                 {1, 4097, ""},     {4097, 4096 * 3 - 1, ""},   {4096, 8192, "1-2"},
                 {4096, 4097, ""},  {8191, 3 * 4096 + 5, "2-3"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        cc__host_memory *memory = NULL;
        ck_assert_int_eq(cc__host_memory_wrap(bytes + cases[i].first, cases[i].end - cases[i].first, &memory), CC_OK);
        lock(memory, 0, cases[i].end - cases[i].first);
        char text[64] = "";
        if (memory->range_count > 0)
            snprintf(text, sizeof text, "%zu-%zu", (memory->ranges[0].bytes.first + cases[i].first) / 4096,
                     (memory->ranges[0].bytes.end + cases[i].first) / 4096);
        ck_assert_msg(strcmp(text, cases[i].locked) == 0, "case %zu: %s, expected %s", i, text, cases[i].locked);
        cc__host_memory_destroy(memory, true);
    }
    /* What is locked of the inside begins and ends with pages too. */
    cc__host_memory *memory = NULL;
    ck_assert_int_eq(cc__host_memory_wrap(bytes + 100, MIB - 100, &memory), CC_OK);
    lock(memory, 20000, 20001);
    ck_assert_int_eq(memory->range_count, 1);
    ck_assert_uint_eq((uintptr_t)(bytes + 100 + memory->ranges[0].bytes.first) % 4096, 0);
    ck_assert_uint_eq(memory->ranges[0].bytes.end - memory->ranges[0].bytes.first, 4096);
    cc__host_memory_destroy(memory, true);
    cc__pages_free(bytes, MIB);
}
END_TEST

static size_t resident_bytes(void)
{
    unsigned long pages = 0;
    unsigned long resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%lu %lu", &pages, &resident), 2);
    fclose(file);
    return (size_t)resident * (size_t)sysconf(_SC_PAGESIZE);
}

START_TEST(a_slice_of_64_gib_costs_a_slice)
{
    const size_t slice = 16 * MIB;
    const size_t before = resident_bytes();
    cc__host_memory *memory = must_create(64 * GIB);
    lock(memory, 1000 * slice, 1001 * slice);
    ck_assert_uint_eq(cc__page_locking_bytes(), slice);
    const size_t after = resident_bytes();
    ck_assert_uint_ge(after, before + slice);
    ck_assert_uint_le(after, before + slice + 8 * MIB);
    ck_assert_int_eq(memory->bytes[1000 * slice], 0);
    cc__host_memory_destroy(memory, true);
    /* It is not kept: hardly any of it is locked. */
    ck_assert_uint_eq(cc__host_pool_bytes(), 0);
}
END_TEST

START_TEST(locking_changes_no_byte)
{
    const size_t bytes = 48 * MIB;
    cc__host_memory *memory = must_create(bytes);
    cc__crew_cores = 4;
    for (size_t i = 0; i < bytes; i += 97)
        memory->bytes[i] = (unsigned char)(i * 31);
    lock(memory, 0, bytes);
    size_t changed = 0;
    for (size_t i = 0; i < bytes; ++i)
        changed += memory->bytes[i] != (i % 97 == 0 ? (unsigned char)(i * 31) : 0);
    ck_assert_uint_eq(changed, 0);
    cc__host_memory_destroy(memory, true);
}
END_TEST

START_TEST(a_refusal_is_for_good_and_not_reported)
{
    cc__host_memory *memory = must_create(8 * MIB);
    const faulty_rule rule = {FAULTY_HOST_REGISTER, 2, false, CC_ERROR_DEVICE, FAULTY_NATIVE_ERROR};
    lock(memory, 0, MIB);
    faulty_backend_add_rule(backend, &rule);
    lock(memory, 2 * MIB, 3 * MIB);
    expect_forget_message();
    ck_assert_uint_eq(lock(memory, 4 * MIB, 5 * MIB), 0);
    ck_assert_str_eq(cc_last_error_message(), "no message since");
    ck_assert_uint_eq(lock(memory, 6 * MIB, 7 * MIB), 0);
    ck_assert_int_eq(registrations(), 3);
    ck_assert_str_eq(ranges_of(memory, MIB), "0-2 2-4");
    ck_assert_uint_eq(cc__page_locking_bytes(), 4 * MIB);
    cc__host_memory_destroy(memory, true);

    /* The next image has another try, also with the same memory. */
    memory = must_create(8 * MIB);
    ck_assert_str_eq(ranges_of(memory, MIB), "0-2 2-4");
    ck_assert_uint_eq(lock(memory, 6 * MIB, 7 * MIB), 2 * MIB);
    cc__host_memory_destroy(memory, true);
}
END_TEST

START_TEST(the_limit_is_kept)
{
    cc__host_memory *memory = must_create(16 * MIB);
    cc__page_locking_set_limit(5 * MIB);
    ck_assert_uint_eq(lock(memory, 0, MIB), 2 * MIB);
    ck_assert_uint_eq(lock(memory, 2 * MIB, 16 * MIB), 0);
    ck_assert_uint_eq(lock(memory, 2 * MIB, 4 * MIB), 2 * MIB);
    ck_assert_uint_eq(lock(memory, 4 * MIB, 6 * MIB), 0);
    cc__page_locking_set_limit(0);
    ck_assert_uint_eq(cc__page_locking_bytes(), 4 * MIB);
    ck_assert_uint_eq(lock(memory, 4 * MIB, 6 * MIB), 0);
    /* It was the limit's fault, not the memory's. */
    cc__page_locking_set_limit(6 * MIB);
    ck_assert_uint_eq(lock(memory, 4 * MIB, 6 * MIB), 2 * MIB);
    ck_assert_int_eq(registrations(), 3);
    cc__host_memory_drop(memory);
    ck_assert_uint_eq(cc__page_locking_bytes(), 0);
    cc__page_locking_set_limit(SIZE_MAX);
    memory = must_create(16 * MIB);
    ck_assert_uint_eq(lock(memory, 0, 16 * MIB), 16 * MIB);
    cc__host_memory_drop(memory);
}
END_TEST

static void keep(size_t bytes)
{
    cc__host_memory *memory = must_create(bytes);
    lock(memory, 0, bytes);
    cc__host_memory_destroy(memory, true);
}

START_TEST(what_is_kept_makes_room_for_what_is_wanted)
{
    cc__page_locking_set_limit(12 * MIB);
    keep(4 * MIB);
    keep(8 * MIB);
    ck_assert_uint_eq(cc__host_pool_bytes(), 12 * MIB);
    cc__host_memory *memory = must_create(2 * MIB);
    ck_assert_uint_eq(lock(memory, 0, 2 * MIB), 2 * MIB);
    ck_assert_uint_eq(cc__host_pool_bytes(), 8 * MIB);
    ck_assert_uint_eq(cc__page_locking_bytes(), 10 * MIB);
    cc__host_memory_drop(memory);
    memory = must_create(40 * MIB);
    /* What can never be had costs nobody anything. */
    ck_assert_uint_eq(lock(memory, 0, 40 * MIB), 0);
    ck_assert_uint_eq(cc__host_pool_bytes(), 8 * MIB);
    cc__host_memory_drop(memory);
}
END_TEST

START_TEST(kept_memory_is_used_again)
{
    cc__host_memory *memory = must_create(8 * MIB);
    unsigned char *bytes = memory->bytes;
    ck_assert(memory->is_zero);
    memset(memory->bytes, 7, 8 * MIB);
    lock(memory, 0, 8 * MIB);
    (void)cc__host_memory_note_staged(memory, 100);
    cc__host_memory_destroy(memory, true);
    ck_assert_uint_eq(cc__host_pool_bytes(), 8 * MIB);
    ck_assert_int_eq(faulty_backend_counts(backend).calls[FAULTY_HOST_UNREGISTER], 0);

    /* Larger, and so much smaller that too much would lie idle. */
    cc__host_memory *larger = must_create(8 * MIB + 1);
    cc__host_memory *smaller = must_create(6 * MIB);
    ck_assert(larger->is_zero && smaller->is_zero);
    ck_assert_uint_eq(cc__host_pool_bytes(), 8 * MIB);
    cc__host_memory_drop(larger);
    cc__host_memory_drop(smaller);
    memory = must_create(7 * MIB);
    ck_assert_ptr_eq(memory->bytes, bytes);
    ck_assert(!memory->is_zero);
    ck_assert_int_eq(memory->bytes[0], 7);
    ck_assert_uint_eq(cc__host_pool_bytes(), 0);
    ck_assert_uint_eq(cc__host_memory_note_staged(memory, 0), 0);
    ck_assert_uint_eq(lock(memory, 0, 7 * MIB), 0);
    ck_assert_int_eq(registrations(), 1);
    /* It stays as large as it was. */
    cc__host_memory_destroy(memory, true);
    ck_assert_uint_eq(cc__host_pool_bytes(), 8 * MIB);
}
END_TEST

START_TEST(the_best_fit_is_taken)
{
    cc__host_memory *memories[3];
    const size_t sizes[] = {9 * MIB, 8 * MIB, 8 * MIB + 4096};
    unsigned char *best = NULL;
    for (int32_t i = 0; i < 3; ++i) {
        memories[i] = must_create(sizes[i]);
        lock(memories[i], 0, sizes[i]);
        best = i == 2 ? memories[i]->bytes : best;
    }
    for (int32_t i = 0; i < 3; ++i)
        cc__host_memory_destroy(memories[i], true);
    cc__host_memory *memory = must_create(8 * MIB + 1);
    ck_assert_ptr_eq(memory->bytes, best);
    cc__host_memory_destroy(memory, true);
}
END_TEST

START_TEST(what_is_not_worth_keeping)
{
    cc__host_memory *memory = must_create(8 * MIB);
    lock(memory, 0, 3 * MIB + 1);
    cc__host_memory_destroy(memory, true);
    ck_assert_uint_eq(cc__host_pool_bytes(), 8 * MIB);
    cc__host_pool_trim(0);
    memory = must_create(8 * MIB);
    lock(memory, 0, 2 * MIB);
    cc__host_memory_destroy(memory, true);
    ck_assert_uint_eq(cc__host_pool_bytes(), 0);
    memory = must_create(8 * MIB);
    lock(memory, 0, 8 * MIB);
    cc__host_memory_destroy(memory, false);
    ck_assert_uint_eq(cc__host_pool_bytes(), 0);
    ck_assert_uint_eq(cc__page_locking_bytes(), 8 * MIB);
    cc__host_pool_trim(0);
    ck_assert_uint_eq(cc__page_locking_bytes(), 0);
    for (size_t bytes = 1; bytes <= 3; ++bytes)
        cc__host_memory_destroy(must_create(bytes), true);
    ck_assert_uint_eq(cc__host_pool_bytes(), 0);
    cc__host_pool_set_limit(8 * MIB - 1);
    keep(8 * MIB);
    ck_assert_uint_eq(cc__host_pool_bytes(), 0);
    cc__host_pool_set_limit(0);
    keep(4096);
    ck_assert_uint_eq(cc__host_pool_bytes(), 0);
}
END_TEST

/* What is not page-locked is kept where it is large, is taken last and goes first. */
START_TEST(large_memory_is_kept_without_locks)
{
    cc__host_memory *memory = must_create(8 * MIB);
    unsigned char *bytes = memory->bytes;
    memset(bytes, 7, 8 * MIB);
    cc__host_memory_destroy(memory, true);
    ck_assert_uint_eq(cc__host_pool_bytes(), 8 * MIB);
    ck_assert_uint_eq(cc__host_pool_locked_bytes(), 0);
    memory = must_create(7 * MIB);
    ck_assert_ptr_eq(memory->bytes, bytes);
    ck_assert(!memory->is_zero);
    /* It may be locked then as any other. */
    ck_assert_uint_eq(lock(memory, 0, 7 * MIB), 8 * MIB);
    cc__host_memory_destroy(memory, true);
    ck_assert_uint_eq(cc__host_pool_locked_bytes(), 8 * MIB);

    cc__host_memory_destroy(must_create(9 * MIB), true);
    cc__host_memory_destroy(must_create(5 * MIB), true);
    ck_assert_uint_eq(cc__host_pool_bytes(), 22 * MIB);
    ck_assert_uint_eq(cc__host_pool_locked_bytes(), 8 * MIB);
    memory = must_create(8 * MIB - 4096);
    ck_assert_ptr_eq(memory->bytes, bytes);
    cc__host_memory_destroy(memory, true);

    /* They hold nothing that is locked, and so make no room for it. */
    cc__page_locking_set_limit(8 * MIB);
    ck_assert(cc__page_locking_fits(8 * MIB));
    memory = must_create(4 * MIB);
    cc__page_locking_set_limit(4 * MIB);
    ck_assert_uint_eq(lock(memory, 0, 4 * MIB), 4 * MIB);
    ck_assert_uint_eq(cc__host_pool_bytes(), 9 * MIB);
    ck_assert_uint_eq(cc__host_pool_locked_bytes(), 0);
    ck_assert(!cc__page_locking_fits(4 * MIB));
    cc__host_memory_drop(memory);

    cc__page_locking_set_limit(100 * MIB);
    keep(6 * MIB);
    cc__host_memory_destroy(must_create(12 * MIB), true);
    ck_assert_uint_eq(cc__host_pool_bytes(), 27 * MIB);
    cc__host_pool_trim(18 * MIB);
    ck_assert_uint_eq(cc__host_pool_bytes(), 18 * MIB);
    cc__host_pool_trim(18 * MIB - 1);
    ck_assert_uint_eq(cc__host_pool_bytes(), 6 * MIB);
    ck_assert_uint_eq(cc__host_pool_locked_bytes(), 6 * MIB);
    cc__host_pool_set_limit(8 * MIB);
    cc__host_memory_destroy(must_create(8 * MIB), true);
    ck_assert_uint_eq(cc__host_pool_bytes(), 6 * MIB);
    cc__host_memory_destroy(must_create(4 * MIB - 1), true);
    ck_assert_uint_eq(cc__host_pool_bytes(), 6 * MIB);
}
END_TEST

START_TEST(the_oldest_goes_first)
{
    cc__host_pool_set_limit(20 * MIB);
    keep(4 * MIB);
    keep(6 * MIB);
    keep(10 * MIB);
    ck_assert_uint_eq(cc__host_pool_bytes(), 20 * MIB);
    keep(2 * MIB);
    ck_assert_uint_eq(cc__host_pool_bytes(), 18 * MIB);
    cc__host_pool_trim(18 * MIB);
    ck_assert_uint_eq(cc__host_pool_bytes(), 18 * MIB);
    cc__host_pool_trim(18 * MIB - 1);
    ck_assert_uint_eq(cc__host_pool_bytes(), 12 * MIB);
    cc__host_pool_set_limit(MIB);
    ck_assert_uint_eq(cc__host_pool_bytes(), 0);
    ck_assert(!cc__host_pool_drop_locked());
    ck_assert_uint_eq(cc__page_locking_bytes(), 0);
}
END_TEST

START_TEST(so_many_are_kept_at_most)
{
    static cc__host_memory *memories[300];
    for (int32_t i = 0; i < 300; ++i) {
        memories[i] = must_create(4096);
        lock(memories[i], 0, 4096);
    }
    for (int32_t i = 0; i < 300; ++i)
        cc__host_memory_destroy(memories[i], true);
    ck_assert_uint_eq(cc__host_pool_bytes(), 256 * 4096);
}
END_TEST

START_TEST(nothing_is_locked_while_the_driver_copies_pageable_bytes)
{
    cc__host_memory *memory = must_create(8 * MIB);
    ck_assert(cc__host_memory_begin_direct(memory));
    ck_assert(cc__host_memory_begin_direct(memory));
    ck_assert_uint_eq(lock(memory, 0, MIB), 0);
    cc__host_memory_end_direct(memory);
    ck_assert_uint_eq(lock(memory, 0, MIB), 0);
    ck_assert_int_eq(registrations(), 0);
    cc__host_memory_end_direct(memory);
    ck_assert_uint_eq(lock(memory, 0, MIB), 2 * MIB);
    ck_assert(!cc__host_memory_begin_direct(memory));
    cc__host_memory_destroy(memory, true);
}
END_TEST

START_TEST(without_bookkeeping_memory_it_stays_pageable)
{
    cc__range *ranges = NULL;
    int32_t count = -1;
    cc__host_memory *memory = must_create(16 * MIB);
    expect_allocations_to_fail_from(1);
    /* Two ranges need none. */
    ck_assert_uint_eq(lock(memory, 0, MIB), 2 * MIB);
    ck_assert_uint_eq(lock(memory, 4 * MIB, 5 * MIB), 2 * MIB);
    ck_assert_uint_eq(lock(memory, 8 * MIB, 9 * MIB), 0);
    ck_assert_uint_eq(cc__page_locking_bytes(), 4 * MIB);
    expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY,
                     cc__host_memory_ranges(memory, (cc__range){0, SIZE_MAX}, &ranges, &count));
    ck_assert_ptr_null(ranges);
    ck_assert_int_eq(count, -1);
    cc__allocate_set_hook(NULL);
    ck_assert_uint_eq(lock(memory, 8 * MIB, 9 * MIB), 2 * MIB);
    ck_assert_str_eq(ranges_of(memory, MIB), "0-2 4-6 8-10");
    cc__host_memory_destroy(memory, true);
}
END_TEST

/* For one registration that takes its time. */
static atomic_int stage;

static bool wait_in_register(faulty_operation operation)
{
    int expected = 0;
    if (operation != FAULTY_HOST_REGISTER || !atomic_compare_exchange_strong(&stage, &expected, 1))
        return false;
    while (atomic_load(&stage) != 2)
        usleep(100);
    return false;
}

static void *lock_the_first_half(void *argument)
{
    lock(argument, 0, 8 * MIB);
    return NULL;
}

static void *lock_all(void *argument)
{
    lock(argument, 0, 16 * MIB);
    atomic_fetch_add(&stage, 10);
    return NULL;
}

START_TEST(whoever_needs_the_same_bytes_waits_and_others_do_not)
{
    cc__host_memory *memory = must_create(16 * MIB);
    pthread_t first;
    pthread_t second;
    lock(memory, 14 * MIB, 16 * MIB);
    atomic_store(&stage, 0);
    faulty_backend_set_hook(backend, wait_in_register);
    ck_assert_int_eq(pthread_create(&first, NULL, lock_the_first_half, memory), 0);
    while (atomic_load(&stage) != 1)
        usleep(100);
    ck_assert_int_eq(pthread_create(&second, NULL, lock_all, memory), 0);
    usleep(20000);
    ck_assert_int_eq(atomic_load(&stage), 1);
    /* Questions, and other bytes, are free meanwhile; what is pending is not locked. */
    ck_assert_int_eq(locking(memory, 0, MIB), CC__LOCKING_NONE);
    ck_assert_int_eq(locking(memory, 14 * MIB, 16 * MIB), CC__LOCKING_WHOLE);
    ck_assert_uint_eq(lock(memory, 10 * MIB, 12 * MIB), 2 * MIB);
    ck_assert(!cc__host_memory_begin_direct(memory));
    atomic_store(&stage, 2);
    ck_assert_int_eq(pthread_join(first, NULL), 0);
    ck_assert_int_eq(pthread_join(second, NULL), 0);
    faulty_backend_set_hook(backend, NULL);
    ck_assert_str_eq(ranges_of(memory, MIB), "0-8 8-10 10-12 12-14 14-16");
    ck_assert_int_eq(registrations(), 5);
    cc__host_memory_destroy(memory, true);
}
END_TEST

#define THREADS 4

static void *lock_here_and_there(void *argument)
{
    static atomic_uint seeds;
    cc__host_memory *memory = argument;
    uint32_t random = atomic_fetch_add(&seeds, 1) * 7919u + 1;
    for (int32_t i = 0; i < 200; ++i) {
        random = random * 1664525u + 1013904223u;
        const size_t first = (random >> 8) % (64 * MIB);
        random = random * 1664525u + 1013904223u;
        const size_t end = first + 1 + (random >> 8) % (4 * MIB);
        lock(memory, first, end < 64 * MIB ? end : 64 * MIB);
        if (locking(memory, first, first + 1) != CC__LOCKING_WHOLE)
            return memory;
    }
    return NULL;
}

/* The backend refuses to register a byte twice; then the memory would be pageable for good. */
START_TEST(threads_lock_what_they_need)
{
    cc__host_memory *memory = must_create(64 * MIB);
    pthread_t threads[THREADS];
    cc__crew_cores = 2;
    for (int32_t i = 0; i < THREADS; ++i)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, lock_here_and_there, memory), 0);
    for (int32_t i = 0; i < THREADS; ++i) {
        void *failed = NULL;
        ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
        ck_assert_ptr_null(failed);
    }
    ck_assert(!memory->is_refused);
    for (int32_t i = 1; i < memory->range_count; ++i)
        ck_assert_uint_le(memory->ranges[i - 1].bytes.end, memory->ranges[i].bytes.first);
    cc__host_memory_destroy(memory, true);
}
END_TEST

static void *take_and_give(void *argument)
{
    (void)argument;
    for (int32_t i = 0; i < 200; ++i) {
        cc__host_memory *memory = NULL;
        const size_t bytes = (size_t)(1 + i % 5) * 64 * KIB;
        if (cc__host_memory_create(bytes, NULL, &memory) != CC_OK)
            return backend;
        lock(memory, 0, bytes);
        memset(memory->bytes, i, bytes);
        cc__host_memory_destroy(memory, true);
        if (i % 50 == 0)
            cc__host_pool_trim(64 * KIB);
    }
    return NULL;
}

START_TEST(threads_share_the_pool)
{
    pthread_t threads[THREADS];
    for (int32_t i = 0; i < THREADS; ++i)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_and_give, NULL), 0);
    for (int32_t i = 0; i < THREADS; ++i) {
        void *failed = NULL;
        ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
        ck_assert_ptr_null(failed);
    }
}
END_TEST

START_TEST(numbers_in_the_environment)
{
    const struct {
        const char *text;
        size_t bytes;
    } cases[] = {{"0", 0},
                 {"17", 17},
                 {"4K", 4096},
                 {"3M", 3 * MIB},
                 {"64G", 64 * GIB},
                 {"1T", 1024 * GIB},
                 {"", 5},
                 {"-1", 5},
                 {" 1", 5},
                 {"M", 5},
                 {"1MB", 5},
                 {"1k", 5},
                 {"0x10", 5},
                 {"1.5G", 5},
                 {"99999999999999999999", SIZE_MAX},
                 {"18446744073709551615", SIZE_MAX},
                 {"17179869184G", SIZE_MAX},
                 {"16777216T", SIZE_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        setenv("CC_TEST_BYTES", cases[i].text, 1);
        const size_t bytes = cc__machine_bytes_from_environment("CC_TEST_BYTES", 5);
        ck_assert_msg(bytes == cases[i].bytes, "\"%s\": %zu, expected %zu", cases[i].text, bytes, cases[i].bytes);
    }
    unsetenv("CC_TEST_BYTES");
    ck_assert_uint_eq(cc__machine_bytes_from_environment("CC_TEST_BYTES", 5), 5);
}
END_TEST

START_TEST(what_callers_see_and_set)
{
    cc_host_memory_state state = CC_HOST_MEMORY_STATE_INIT;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_state", cc_host_get_memory_state(NULL));
    state.struct_size = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size", cc_host_get_memory_state(&state));
    state.struct_size = sizeof state;
    cc_host_set_locked_limit(100 * MIB);
    cc_host_set_pool_limit(50 * MIB);
    cc__host_memory *memory = must_create(8 * MIB);
    lock(memory, 0, 8 * MIB);
    keep(4 * MIB);
    ck_assert_int_eq(cc_host_get_memory_state(&state), CC_OK);
    ck_assert_uint_eq(state.struct_size, sizeof state);
    ck_assert_uint_eq(state.locked_bytes, 12 * MIB);
    ck_assert_uint_eq(state.locked_limit_bytes, 100 * MIB);
    ck_assert_uint_eq(state.pooled_bytes, 4 * MIB);
    ck_assert_uint_eq(state.pool_limit_bytes, 50 * MIB);
    ck_assert_uint_eq(state.staging_bytes, 0);
    /* An older caller knows of less. */
    memset(&state, 9, sizeof state);
    state.struct_size = 16;
    ck_assert_int_eq(cc_host_get_memory_state(&state), CC_OK);
    ck_assert_uint_eq(state.struct_size, 16);
    ck_assert_uint_eq(state.locked_bytes, 12 * MIB);
    ck_assert_uint_eq(state.locked_limit_bytes, 0x0909090909090909);
    cc_host_trim(0);
    ck_assert_uint_eq(cc__host_pool_bytes(), 0);
    cc__host_memory_destroy(memory, true);
    cc_host_trim(8 * MIB);
    ck_assert_uint_eq(cc__host_pool_bytes(), 8 * MIB);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("host_memory");
    TCase *tcase = tcase_create("host_memory");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, large_memory_is_locked_in_huge_pages);
    tcase_add_test(tcase, small_memory_is_locked_in_pages);
    tcase_add_test(tcase, each_gap_is_locked_as_one_piece);
    tcase_add_loop_test(tcase, much_is_locked_in_pieces, 0, 2);
    tcase_add_test(tcase, pages_that_others_data_may_be_on_stay_unlocked);
    tcase_add_test(tcase, a_slice_of_64_gib_costs_a_slice);
    tcase_add_test(tcase, locking_changes_no_byte);
    tcase_add_test(tcase, a_refusal_is_for_good_and_not_reported);
    tcase_add_test(tcase, the_limit_is_kept);
    tcase_add_test(tcase, what_is_kept_makes_room_for_what_is_wanted);
    tcase_add_test(tcase, kept_memory_is_used_again);
    tcase_add_test(tcase, the_best_fit_is_taken);
    tcase_add_test(tcase, what_is_not_worth_keeping);
    tcase_add_test(tcase, large_memory_is_kept_without_locks);
    tcase_add_test(tcase, the_oldest_goes_first);
    tcase_add_test(tcase, so_many_are_kept_at_most);
    tcase_add_test(tcase, nothing_is_locked_while_the_driver_copies_pageable_bytes);
    tcase_add_test(tcase, without_bookkeeping_memory_it_stays_pageable);
    tcase_add_test(tcase, whoever_needs_the_same_bytes_waits_and_others_do_not);
    tcase_add_test(tcase, threads_lock_what_they_need);
    tcase_add_test(tcase, threads_share_the_pool);
    tcase_add_test(tcase, numbers_in_the_environment);
    tcase_add_test(tcase, what_callers_see_and_set);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
