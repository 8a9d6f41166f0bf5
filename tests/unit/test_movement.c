/* Moving boxes between the host and a device: by which path, what is page-locked for it, and the right bytes always. */
#include "base/allocate.h"
#include "memory/chunks.h"
#include "memory/crew.h"
#include "memory/host_pool.h"
#include "memory/movement.h"
#include "memory/page_locking.h"
#include "support/dense_work.h"
#include "support/expect.h"
#include "support/fixture.h"
#include "support/share.h"

#include <stdlib.h>
#include <string.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

static cc_stream stream;
static cc__host_memory *memory;
static unsigned char *device, *expected;
static size_t bytes, locked_limit_before, direct_bytes_before, piece_bytes_before;

static void set_up(void)
{
    fixture_setup();
    locked_limit_before = cc__page_locking_limit();
    direct_bytes_before = cc__movement_direct_bytes;
    piece_bytes_before = cc__host_memory_piece_bytes;
    cc__crew_cores = 3;
    stream = fixture_device_count() > 0 ? fixture_stream_create(0) : NULL;
    device = expected = NULL;
    memory = NULL;
}

static void tear_down(void)
{
    cc__allocate_set_hook(NULL);
    faulty_backend_clear_rules(fixture_backend);
    if (fixture_device_count() > 0) {
        if (device != NULL)
            fixture_ok(fixture_inner->free(fixture_inner, 0, stream, device));
        fixture_ok(fixture_inner->stream_synchronize(fixture_inner, 0, stream));
        cc__chunks_reset(); /* before the stream that some were used in */
        fixture_stream_destroy(0, stream);
    }
    if (memory != NULL)
        cc__host_memory_destroy(memory, true);
    free(expected);
    cc__page_locking_set_limit(locked_limit_before);
    cc__movement_direct_bytes = direct_bytes_before;
    cc__host_memory_piece_bytes = piece_bytes_before;
    cc__crew_cores = 0;
    fixture_teardown();
}

#define NEEDS_A_DEVICE                                                                                                 \
    if (fixture_device_count() == 0)                                                                                   \
    return

static void fill(unsigned char *at, uint32_t seed)
{
    for (size_t i = 0; i < bytes; ++i)
        at[i] = (unsigned char)((i * 2654435761u + seed) >> 13);
}

static void make(size_t wanted)
{
    void *allocated = NULL;
    bytes = wanted;
    expected = malloc(bytes);
    ck_assert_ptr_nonnull(expected);
    fixture_ok(cc__host_memory_create(bytes, NULL, &memory));
    fixture_ok(fixture_inner->allocate(fixture_inner, 0, stream, bytes, &allocated));
    device = allocated;
}

static cc__copy box_of(bool is_up, const int64_t image[CC_MAX_DIMENSION], const int64_t at[CC_MAX_DIMENSION],
                       const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes)
{
    return box_copy(is_up ? device : memory->bytes, is_up ? memory->bytes : device, image, at, size, pixel_bytes);
}

static cc__copy row_of(bool is_up, size_t first, size_t end)
{
    const int64_t image[] = {(int64_t)bytes, 1, 1, 1};
    const int64_t at[] = {(int64_t)first, 0, 0, 0};
    const int64_t size[] = {(int64_t)(end - first), 1, 1, 1};
    return box_of(is_up, image, at, size, 1);
}

static cc__movement movement_of(bool is_up, cc__copy *works, int32_t count)
{
    return (cc__movement){.backend = fixture_backend,
                          .device = 0,
                          .stream = stream,
                          .host = is_up ? CC__SIDE_SOURCE : CC__SIDE_DESTINATION,
                          .bytes = memory->bytes,
                          .memory = memory,
                          .works = works,
                          .count = count};
}

/* Moves the boxes and checks every byte of both sides. Returns what was moved how. */
static cc__tally move(bool is_up, const cc__copy *works, int32_t count)
{
    cc__copy *scratch = malloc((size_t)count * sizeof *scratch);
    unsigned char *from = malloc(bytes);
    unsigned char *found = malloc(bytes);
    fill(from, 1);
    fill(expected, 2);
    fill(memory->bytes, is_up ? 1 : 2);
    fixture_device_write(0, stream, device, is_up ? expected : from, bytes);
    fixture_ok(fixture_inner->stream_synchronize(fixture_inner, 0, stream));
    for (int32_t i = 0; i < count; ++i) {
        cc__copy work = scratch[i] = works[i];
        work.destination.data = expected + (works[i].destination.data - (is_up ? device : memory->bytes));
        work.source.data = from + (works[i].source.data - (is_up ? memory->bytes : device));
        cc__copy_on_host(&work);
    }
    cc__movement movement = movement_of(is_up, scratch, count);
    fixture_ok(cc__movement_prepare(&movement));
    fixture_ok(cc__movement_run(&movement));
    if (is_up && movement.is_over_on_host)
        memset(memory->bytes, 0, bytes);
    if (is_up)
        fixture_device_read(0, stream, found, device, bytes);
    if (is_up || !movement.is_over_on_host)
        fixture_ok(fixture_inner->stream_synchronize(fixture_inner, 0, stream));
    ck_assert(memcmp(is_up ? found : memory->bytes, expected, bytes) == 0);
    cc__movement_end(&movement);
    free(scratch);
    free(from);
    free(found);
    return movement.tally;
}

static void expect_stretches(const char *what, const cc__stretch *given, int32_t count, uint64_t staged_bytes,
                             const cc__stretch *wanted, int32_t wanted_count)
{
    cc__stretch stretches[8];
    memcpy(stretches, given, (size_t)count * sizeof *given);
    const int32_t kept = cc__stretches_worth_locking(stretches, count, staged_bytes);
    ck_assert_msg(kept == wanted_count, "%s: %d, expected %d", what, (int)kept, (int)wanted_count);
    for (int32_t i = 0; i < kept; ++i) {
        ck_assert_msg(stretches[i].bytes.first == wanted[i].bytes.first &&
                          stretches[i].bytes.end == wanted[i].bytes.end &&
                          stretches[i].moving_bytes == wanted[i].moving_bytes,
                      "%s: stretch %d is %zu to %zu", what, (int)i, stretches[i].bytes.first, stretches[i].bytes.end);
    }
}

START_TEST(which_stretches_are_worth_locking)
{
    const cc__stretch pixel = {{5 * GIB, 5 * GIB + 4}, 4};
    const cc__stretch slice = {{64 * MIB, 65 * MIB}, MIB};
    const cc__stretch next = {{65 * MIB, 66 * MIB}, MIB};
    const cc__stretch far_away = {{40 * GIB, 40 * GIB + 3 * MIB}, 3 * MIB};
    const cc__stretch short_of = {{0, MIB - 1}, MIB - 1};
    const cc__stretch quarter = {{0, 8 * MIB}, 2 * MIB};
    const cc__stretch sparse = {{0, 8 * MIB}, 2 * MIB - 1};
    const cc__stretch sixteenth = {{0, 64 * MIB}, 4 * MIB};
    const cc__stretch columns = {{0, 64 * GIB}, 4 * GIB - 1};
    expect_stretches("one pixel", &pixel, 1, UINT64_MAX / 2, NULL, 0);
    expect_stretches("one slice", &slice, 1, 0, &slice, 1);
    expect_stretches("a little too little", &short_of, 1, UINT64_MAX / 2, NULL, 0);
    expect_stretches("a quarter", &quarter, 1, 0, &quarter, 1);
    expect_stretches("less than a quarter", &sparse, 1, 0, NULL, 0);
    expect_stretches("less, but again and again", &sparse, 1, 6 * MIB + 1, &sparse, 1);
    expect_stretches("a sixteenth", &sixteenth, 1, 60 * MIB - 1, NULL, 0);
    expect_stretches("a sixteenth, again and again", &sixteenth, 1, 60 * MIB, &sixteenth, 1);
    expect_stretches("columns of all of it", &columns, 1, UINT64_MAX / 2, NULL, 0);

    const cc__stretch apart[] = {far_away, next, pixel, slice};
    const cc__stretch joined[] = {{{64 * MIB, 66 * MIB}, 2 * MIB}, far_away};
    expect_stretches("neighbours, in any order", apart, 4, 0, joined, 2);
    /* Together they are enough, though each is too little, when they are close. */
    const cc__stretch close[] = {{{0, MIB / 2}, MIB / 2}, {{MIB, 3 * MIB / 2}, MIB / 2}, {{7 * MIB, 8 * MIB}, MIB}};
    const cc__stretch all = {{0, 8 * MIB}, 2 * MIB};
    expect_stretches("close ones", close, 3, 0, &all, 1);
    /* Boxes of an image overlap in memory, without sharing a byte. */
    const cc__stretch boxes[] = {{{0, 3 * MIB}, MIB / 2}, {{100, 3 * MIB + 100}, MIB / 2}, {{200, MIB}, 8}};
    const cc__stretch both = {{0, 3 * MIB + 100}, MIB + 8};
    expect_stretches("boxes beside each other", boxes, 3, 0, &both, 1);
}
END_TEST

static int32_t choose(int64_t i, int64_t j, int64_t k, int64_t count)
{
    static cc__copy works[512];
    for (int64_t at = 0; at < count; ++at) {
        works[at] = (cc__copy){.size = {i, j, k, 1}, .pixel_bytes = 4};
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
            works[at].destination.stride[axis] = works[at].source.stride[axis] = (int64_t)4 << (9 * axis);
    }
    return cc__paths_choose(works, (int32_t)count);
}

/* Where one of the two was clearly faster on the H200; boxes of floats in 512^3. */
START_TEST(which_boxes_go_by_kernel)
{
    ck_assert_int_eq(choose(1, 1, 1, 1), 0);
    ck_assert_int_eq(choose(8, 8, 8, 1), 0);
    ck_assert_int_eq(choose(32, 32, 32, 1), 0);
    ck_assert_int_eq(choose(64, 64, 64, 1), 0);
    ck_assert_int_eq(choose(512, 512, 1, 1), 0);
    ck_assert_int_eq(choose(512, 512, 512, 1), 0);
    ck_assert_int_eq(choose(16, 512, 512, 1), 0);
    ck_assert_int_eq(choose(1, 1, 1, 16), 16);
    ck_assert_int_eq(choose(4, 4, 4, 4), 4);
    ck_assert_int_eq(choose(8, 8, 8, 512), 512);
    ck_assert_int_eq(choose(32, 32, 32, 16), 16);
    ck_assert_int_eq(choose(64, 64, 64, 16), 16);
    ck_assert_int_eq(choose(512, 512, 1, 16), 0);
    ck_assert_int_eq(choose(512, 512, 4, 16), 0);
    ck_assert_int_eq(cc__paths_choose(NULL, 0), 0);
}
END_TEST

START_TEST(those_for_the_kernel_come_first)
{
    cc__copy works[40];
    for (int32_t at = 0; at < 40; ++at) {
        const bool is_large = at % 3 == 0;
        works[at] = (cc__copy){.size = {is_large ? 512 : 2, is_large ? 512 : 2, 1, 1}, .pixel_bytes = 4};
        works[at].source.data = (unsigned char *)(uintptr_t)(1000 + at);
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
            works[at].destination.stride[axis] = works[at].source.stride[axis] = (int64_t)4 << (9 * axis);
    }
    ck_assert_int_eq(cc__paths_choose(works, 40), 26);
    uint64_t seen = 0;
    for (int32_t at = 0; at < 40; ++at) {
        ck_assert_int_eq(works[at].size[0], at < 26 ? 2 : 512);
        seen |= (uint64_t)1 << ((uintptr_t)works[at].source.data - 1000);
    }
    ck_assert_uint_eq(seen, ((uint64_t)1 << 40) - 1);
}
END_TEST

START_TEST(what_moves_is_locked_first)
{
    NEEDS_A_DEVICE;
    make(8 * MIB);
    const cc__copy all = row_of(_i == 0, 0, bytes);
    const cc__tally tally = move(_i == 0, &all, 1);
    ck_assert_uint_eq(tally.bytes[CC__PATH_ENGINE], bytes);
    ck_assert_uint_eq(tally.boxes[CC__PATH_ENGINE], 1);
    ck_assert_uint_eq(cc__host_memory_locked_bytes(memory), bytes);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).calls[FAULTY_HOST_REGISTER], 1);
    /* One pixel of what is locked moves in place. */
    const cc__copy pixel = row_of(_i == 0, 4000, 4004);
    ck_assert_uint_eq(move(_i == 0, &pixel, 1).bytes[CC__PATH_ENGINE], 4);
}
END_TEST

START_TEST(one_pixel_locks_nothing)
{
    NEEDS_A_DEVICE;
    make(8 * MIB);
    const cc__copy pixel = row_of(_i == 0, 5 * MIB, 5 * MIB + 4);
    ck_assert_uint_eq(move(_i == 0, &pixel, 1).bytes[CC__PATH_PLAIN], 4);
    cc__movement_direct_bytes = 0;
    ck_assert_uint_eq(move(_i == 0, &pixel, 1).bytes[CC__PATH_STAGED], 4);
    ck_assert_uint_eq(cc__host_memory_locked_bytes(memory), 0);
    ck_assert_uint_eq(cc__host_memory_note_staged(memory, 0), 8);
}
END_TEST

START_TEST(sparse_boxes_are_staged_until_that_is_too_much)
{
    const int64_t image[] = {64, 512, 64, 1};
    const int64_t at[] = {5, 0, 0, 0};
    const int64_t size[] = {12, 512, 64, 1};
    NEEDS_A_DEVICE;
    make(8 * MIB);
    const cc__copy columns = box_of(_i == 0, image, at, size, 4);
    for (int32_t round = 0; round < 5; ++round) {
        ck_assert_uint_eq(move(_i == 0, &columns, 1).bytes[CC__PATH_STAGED], 3 * MIB / 2);
        ck_assert_uint_eq(cc__host_memory_locked_bytes(memory), 0);
    }
    const cc__tally tally = move(_i == 0, &columns, 1);
    ck_assert_uint_eq(tally.bytes[CC__PATH_STAGED], 0);
    ck_assert_uint_gt(cc__host_memory_locked_bytes(memory), 7 * MIB);
}
END_TEST

START_TEST(boxes_across_borders_are_cut)
{
    NEEDS_A_DEVICE;
    make(16 * MIB);
    const size_t firsts[] = {2, 6, 8};
    for (int32_t i = 0; i < 3; ++i)
        cc__host_memory_lock(memory, fixture_backend, (cc__range){firsts[i] * MIB, firsts[i] * MIB + 1});
    /* Little of a long stretch, so that nothing more is locked: of each slice of a MiB, one kilobyte at its end. */
    const int64_t image[] = {KIB, KIB, 16, 1};
    const int64_t at[] = {1020, 1023, 0, 0};
    const int64_t size[] = {4, 1, 16, 1};
    const cc__copy ends = box_of(_i == 0, image, at, size, 1);
    cc__movement_direct_bytes = 0;
    const cc__tally tally = move(_i == 0, &ends, 1);
    ck_assert_uint_eq(tally.bytes[CC__PATH_ENGINE] + tally.bytes[CC__PATH_KERNEL], 6 * 4);
    ck_assert_uint_eq(tally.bytes[CC__PATH_STAGED], 10 * 4);
    /* All of it: the gaps are locked, and each piece moves as far as its range goes. */
    const cc__copy all = row_of(_i == 0, 1, bytes - 1);
    ck_assert_uint_eq(move(_i == 0, &all, 1).boxes[CC__PATH_ENGINE], 6);
    ck_assert_uint_eq(cc__host_memory_locked_bytes(memory), 16 * MIB);
}
END_TEST

static char order[64];
static size_t order_length;

static bool note_order(faulty_operation operation)
{
    if (operation == FAULTY_HOST_REGISTER)
        order[order_length++] = 'r';
    else if (operation == FAULTY_COPY)
        order[order_length++] = 'c';
    return false;
}

static void renew(void)
{
    cc__host_memory_drop(memory);
    memory = NULL;
    fixture_ok(cc__host_memory_create(bytes, NULL, &memory));
}

/* 9 MiB in pieces of 2: what is locked moves before the next piece is locked. */
START_TEST(much_moves_while_it_is_locked)
{
    NEEDS_A_DEVICE;
    cc__host_memory_piece_bytes = 2 * MIB;
    make(9 * MIB);
    cc__copy all = row_of(_i == 0, 1, bytes - 1);
    memset(order, 0, sizeof order);
    order_length = 0;
    faulty_backend_set_hook(fixture_backend, note_order);
    cc__tally tally = move(_i == 0, &all, 1);
    faulty_backend_set_hook(fixture_backend, NULL);
    ck_assert_str_eq(order, "rcrcrcrcrc");
    ck_assert_uint_eq(tally.boxes[CC__PATH_ENGINE], 5);
    ck_assert_uint_eq(tally.bytes[CC__PATH_ENGINE], bytes - 2);
    ck_assert_uint_eq(cc__host_memory_locked_bytes(memory), bytes);
    tally = move(_i == 0, &all, 1);
    ck_assert_uint_eq(tally.boxes[CC__PATH_ENGINE], 5);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).calls[FAULTY_HOST_REGISTER], 5);

    /* The system may refuse any of them: what follows goes through chunks. */
    for (int64_t nth = 1; nth <= 5; nth += 2) {
        const faulty_rule rule = {FAULTY_HOST_REGISTER, nth, false, CC_ERROR_DEVICE, FAULTY_NATIVE_ERROR};
        renew();
        all = row_of(_i == 0, 1, bytes - 1);
        faulty_backend_clear_rules(fixture_backend);
        faulty_backend_add_rule(fixture_backend, &rule);
        tally = move(_i == 0, &all, 1);
        const uint64_t locked = nth > 1 ? (uint64_t)(nth - 1) * 2 * MIB - 1 : 0;
        ck_assert_uint_eq(tally.bytes[CC__PATH_ENGINE], locked);
        ck_assert_uint_eq(tally.bytes[CC__PATH_STAGED], bytes - 2 - locked);
    }
    faulty_backend_clear_rules(fixture_backend);
    /* More than may be locked is not begun with. */
    renew();
    cc__chunks_reset();
    cc__page_locking_set_limit(8 * MIB);
    all = row_of(_i == 0, 0, bytes);
    ck_assert_uint_eq(move(_i == 0, &all, 1).bytes[CC__PATH_STAGED], bytes);
    ck_assert_uint_eq(cc__host_memory_locked_bytes(memory), 0);
}
END_TEST

/* Boxes whose rows and pixels cross the borders, in any order. */
START_TEST(boxes_move_while_they_are_locked)
{
    static cc__copy works[32];
    NEEDS_A_DEVICE;
    cc__host_memory_piece_bytes = 2 * MIB;
    make(12 * 1000 * 1000);
    const int64_t image[] = {1000, 1000, 1, 1};
    for (int32_t i = 0; i < 32; ++i) {
        const int64_t j = (i * 13 + 5) % 32 * 31;
        const int64_t at[] = {3, j, 0, 0};
        const int64_t size[] = {990 - i, 31, 1, 1};
        works[i] = box_of(_i == 0, image, at, size, 12);
    }
    const cc__tally tally = move(_i == 0, works, 32);
    ck_assert_uint_eq(tally.bytes[CC__PATH_STAGED] + tally.bytes[CC__PATH_PLAIN], 0);
    ck_assert_int_eq(memory->range_count, 6);
}
END_TEST

/* After each failure the stream's work can be waited for, and the next attempt is right. */
START_TEST(a_failure_while_it_is_locked)
{
    int32_t failed_count = 0;
    NEEDS_A_DEVICE;
    cc__host_memory_piece_bytes = 2 * MIB;
    make(9 * MIB);
    for (int64_t nth = 1; nth < 100; ++nth) {
        renew();
        cc__copy all = row_of(_i == 0, 0, bytes);
        cc__movement movement = movement_of(_i == 0, &all, 1);
        faulty_backend_fail_nth(fixture_backend, nth, true);
        faulty_backend_reset_counts(fixture_backend);
        fixture_ok(cc__movement_prepare(&movement));
        const cc_status status = cc__movement_run(&movement);
        cc__movement_end(&movement);
        faulty_backend_clear_rules(fixture_backend);
        const int64_t failures = faulty_backend_counts(fixture_backend).failures;
        failed_count += status != CC_OK;
        fixture_ok(fixture_inner->stream_synchronize(fixture_inner, 0, stream));
        if (failures == 0)
            break;
        if (nth % 3 == 0)
            (void)move(_i == 0, &all, 1);
    }
    ck_assert_int_ge(failed_count, 5);
    for (long nth = 1; nth <= 20; ++nth) {
        renew();
        cc__copy all = row_of(_i == 0, 0, bytes);
        cc__movement movement = movement_of(_i == 0, &all, 1);
        fixture_ok(cc__movement_prepare(&movement));
        expect_allocations_to_fail_from(nth);
        const cc_status status = cc__movement_run(&movement);
        cc__allocate_set_hook(NULL);
        cc__movement_end(&movement);
        fixture_ok(fixture_inner->stream_synchronize(fixture_inner, 0, stream));
        if (status == CC_OK)
            break;
        ck_assert_int_lt(nth, 20);
        ck_assert_int_eq(status, CC_ERROR_OUT_OF_HOST_MEMORY);
    }
}
END_TEST

START_TEST(a_pixel_across_a_border)
{
    NEEDS_A_DEVICE;
    make(12 * 700 * 1000);
    cc__host_memory_lock(memory, fixture_backend, (cc__range){2 * MIB, 2 * MIB + 1});
    const int64_t image[] = {700, 1000, 1, 1};
    const int64_t at[] = {(int64_t)(2 * MIB / 12) % 700, (int64_t)(2 * MIB / 12) / 700, 0, 0};
    const int64_t size[] = {1, 1, 1, 1};
    ck_assert_uint_ne(2 * MIB % 12, 0);
    const cc__copy pixel = box_of(_i == 0, image, at, size, 12);
    const cc__tally tally = move(_i == 0, &pixel, 1);
    ck_assert_uint_eq(tally.bytes[CC__PATH_ENGINE], 12 - 2 * MIB % 12);
    ck_assert_uint_eq(tally.bytes[CC__PATH_STAGED], 2 * MIB % 12);
}
END_TEST

START_TEST(without_locking_the_driver_copies)
{
    NEEDS_A_DEVICE;
    make(8 * MIB);
    cc__page_locking_set_limit(0);
    const cc__copy all = row_of(_i == 0, 0, bytes);
    ck_assert_uint_eq(move(_i == 0, &all, 1).bytes[CC__PATH_PLAIN], bytes);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).calls[FAULTY_HOST_REGISTER], 0);
    /* With a part locked already, what is left goes through memory that is not. */
    cc__page_locking_set_limit(2 * MIB);
    cc__host_memory_lock(memory, fixture_backend, (cc__range){4 * MIB, 4 * MIB + 1});
    ck_assert_uint_eq(cc__host_memory_locked_bytes(memory), 2 * MIB);
    const cc__tally tally = move(_i == 0, &all, 1);
    ck_assert_uint_eq(tally.bytes[CC__PATH_ENGINE], 2 * MIB);
    ck_assert_uint_eq(tally.bytes[CC__PATH_PLAIN], 6 * MIB);
}
END_TEST

START_TEST(a_refusal_costs_speed_only)
{
    const faulty_rule rule = {FAULTY_HOST_REGISTER, 1, true, CC_ERROR_DEVICE, FAULTY_NATIVE_ERROR};
    NEEDS_A_DEVICE;
    make(8 * MIB);
    faulty_backend_add_rule(fixture_backend, &rule);
    const cc__copy all = row_of(_i == 0, 0, bytes);
    expect_forget_message();
    ck_assert_uint_eq(move(_i == 0, &all, 1).bytes[CC__PATH_PLAIN], bytes);
    ck_assert_str_eq(cc_last_error_message(), "no message since");
}
END_TEST

START_TEST(memory_of_the_callers_is_never_locked)
{
    NEEDS_A_DEVICE;
    make(8 * MIB);
    cc__copy all = row_of(true, 0, bytes);
    cc__movement movement = movement_of(true, &all, 1);
    movement.memory = NULL;
    fill(memory->bytes, 1);
    fixture_ok(cc__movement_prepare(&movement));
    fixture_ok(cc__movement_run(&movement));
    ck_assert_uint_eq(movement.tally.bytes[CC__PATH_STAGED], bytes);
    ck_assert(movement.is_over_on_host);
    cc__movement_end(&movement);
    ck_assert_uint_eq(cc__host_memory_locked_bytes(memory), 0);
    /* A few bytes the driver may copy late, if their owner has page-locked them. */
    cc__copy few = row_of(true, 0, 100);
    movement.works = &few;
    fixture_ok(cc__movement_prepare(&movement));
    fixture_ok(cc__movement_run(&movement));
    ck_assert_uint_eq(movement.tally.bytes[CC__PATH_PLAIN], 100);
    ck_assert(!movement.is_over_on_host);
    cc__movement_end(&movement);
}
END_TEST

/* 1: all of it; 2: less than what moves, so that a copy would cross a border; 3: by an image that may unlock it. */
START_TEST(memory_that_its_owner_has_locked)
{
    NEEDS_A_DEVICE;
    const bool in_place = _i == 1;
    cc__host_memory *locker = NULL;
    make(8 * MIB);
    cc__copy all = row_of(true, 0, bytes);
    cc__movement movement = movement_of(true, &all, 1);
    movement.memory = NULL;
    fill(memory->bytes, 1);
    if (_i < 3) {
        fixture_ok(fixture_inner->host_register(fixture_inner, memory->bytes, _i == 2 ? bytes / 2 : bytes));
    } else {
        fixture_ok(cc__host_memory_wrap(memory->bytes, bytes, &locker));
        ck_assert_uint_gt(cc__host_memory_lock(locker, fixture_backend, (cc__range){0, bytes}), 0);
    }
    fixture_ok(cc__movement_prepare(&movement));
    fixture_ok(cc__movement_run(&movement));
    ck_assert_uint_eq(movement.tally.bytes[CC__PATH_ENGINE], in_place ? bytes : 0);
    ck_assert_uint_eq(movement.tally.bytes[CC__PATH_STAGED], in_place ? 0 : bytes);
    ck_assert(movement.is_over_on_host != in_place);
    cc__movement_end(&movement);
    fixture_ok(fixture_inner->stream_synchronize(fixture_inner, 0, stream));
    if (_i < 3)
        fixture_ok(fixture_inner->host_unregister(fixture_inner, memory->bytes));
    else
        cc__host_memory_destroy(locker, true);
}
END_TEST

static uint32_t random_state;

static int64_t random_below(int64_t limit)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (int64_t)(random_state >> 8) % limit;
}

/* Random boxes that share no byte: one in each cell of a grid. */
static int32_t make_boxes(bool is_up, int64_t pixel_bytes, const int64_t image[CC_MAX_DIMENSION], cc__copy *out_works)
{
    int32_t count = 0;
    const int64_t cells = 1 + random_below(4);
    for (int64_t k = 0; k < cells; ++k)
        for (int64_t j = 0; j < cells; ++j)
            for (int64_t i = 0; i < cells; ++i) {
                const int64_t cell[] = {i, j, k, 0};
                int64_t at[CC_MAX_DIMENSION] = {0, 0, 0, 0};
                int64_t size[CC_MAX_DIMENSION] = {1, 1, 1, 1};
                for (int32_t axis = 0; axis < 3; ++axis) {
                    const int64_t length = image[axis] / cells;
                    const int64_t start = random_below(length);
                    at[axis] = cell[axis] * length + start;
                    size[axis] = random_below(3) == 0 ? length - start : 1 + random_below(length - start);
                }
                out_works[count++] = box_of(is_up, image, at, size, pixel_bytes);
            }
    return count;
}

START_TEST(any_boxes_any_locks)
{
    static cc__copy works[64];
    NEEDS_A_DEVICE;
    make(6 * MIB);
    random_state = (uint32_t)_i;
    const int64_t rounds = share_one_in() < 5 ? 25 : 5;
    for (int64_t round = 0; round < rounds; ++round) {
        const bool is_up = random_below(2) == 0;
        const int64_t pixel_bytes = 1 + random_below(16);
        int64_t image[CC_MAX_DIMENSION] = {40 + random_below(200), 40 + random_below(100), 1, 1};
        image[2] = (int64_t)bytes / (pixel_bytes * image[0] * image[1]);
        cc__movement_direct_bytes = (size_t)random_below(2) * 64 * KIB;
        if (random_below(3) == 0) {
            cc__host_memory_destroy(memory, random_below(2) == 0);
            fixture_ok(cc__host_memory_create(bytes, NULL, &memory));
        }
        if (random_below(2) == 0) {
            const size_t first = (size_t)random_below((int64_t)bytes);
            cc__host_memory_lock(memory, fixture_backend, (cc__range){first, first + 1});
        }
        cc__page_locking_set_limit(random_below(4) == 0 ? (size_t)random_below(6 * (int64_t)MIB) : locked_limit_before);
        const int32_t count = make_boxes(is_up, pixel_bytes, image, works);
        int64_t moved = 0;
        for (int32_t i = 0; i < count; ++i)
            moved += cc__copy_bytes(&works[i]);
        const cc__tally tally = move(is_up, works, count);
        ck_assert_uint_eq(tally.bytes[0] + tally.bytes[1] + tally.bytes[2] + tally.bytes[3], (uint64_t)moved);
    }
}
END_TEST

START_TEST(each_failure_is_passed_on)
{
    const bool is_up = _i % 2 == 0;
    static cc__copy works[3];
    int32_t failed_count = 0;
    NEEDS_A_DEVICE;
    make(8 * MIB);
    cc__host_memory_lock(memory, fixture_backend, (cc__range){4 * MIB, 4 * MIB + 1});
    for (int64_t nth = 1; nth < 100; ++nth) {
        works[0] = row_of(is_up, 10, 20);
        works[1] = row_of(is_up, 4 * MIB - 5, 4 * MIB + 5);
        works[2] = row_of(is_up, 7 * MIB, 7 * MIB + 9);
        cc__movement movement = movement_of(is_up, works, 3);
        faulty_backend_reset_counts(fixture_backend);
        faulty_backend_fail_nth(fixture_backend, nth, _i / 2 == 1);
        expect_forget_message();
        cc_status status = cc__movement_prepare(&movement);
        if (status == CC_OK) {
            status = cc__movement_run(&movement);
            cc__movement_end(&movement);
        }
        faulty_backend_clear_rules(fixture_backend);
        if (status != CC_OK) {
            ++failed_count;
            ck_assert_int_eq(status, CC_ERROR_DEVICE);
            ck_assert_int_eq(cc_last_native_error(), FAULTY_NATIVE_ERROR);
        }
        fixture_ok(fixture_inner->stream_synchronize(fixture_inner, 0, stream));
        (void)move(is_up, works, 3);
        if (faulty_backend_counts(fixture_backend).failures == 0)
            break;
    }
    ck_assert_int_ge(failed_count, 2);
    for (long nth = 1; nth <= 4; ++nth) {
        works[0] = row_of(is_up, 4 * MIB - 5, 4 * MIB + 5);
        cc__movement movement = movement_of(is_up, works, 1);
        expect_allocations_to_fail_from(nth);
        const cc_status status = cc__movement_prepare(&movement);
        cc__allocate_set_hook(NULL);
        ck_assert_int_eq(status, nth <= 3 ? CC_ERROR_OUT_OF_HOST_MEMORY : CC_OK);
        if (status == CC_OK)
            cc__movement_end(&movement);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("movement");
    TCase *tcase = tcase_create("movement");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 100);
    tcase_add_test(tcase, which_stretches_are_worth_locking);
    tcase_add_test(tcase, which_boxes_go_by_kernel);
    tcase_add_test(tcase, those_for_the_kernel_come_first);
    tcase_add_loop_test(tcase, what_moves_is_locked_first, 0, 2);
    tcase_add_loop_test(tcase, one_pixel_locks_nothing, 0, 2);
    tcase_add_loop_test(tcase, sparse_boxes_are_staged_until_that_is_too_much, 0, 2);
    tcase_add_loop_test(tcase, boxes_across_borders_are_cut, 0, 2);
    tcase_add_loop_test(tcase, much_moves_while_it_is_locked, 0, 2);
    tcase_add_loop_test(tcase, boxes_move_while_they_are_locked, 0, 2);
    tcase_add_loop_test(tcase, a_failure_while_it_is_locked, 0, 2);
    tcase_add_loop_test(tcase, a_pixel_across_a_border, 0, 2);
    tcase_add_loop_test(tcase, without_locking_the_driver_copies, 0, 2);
    tcase_add_loop_test(tcase, a_refusal_costs_speed_only, 0, 2);
    tcase_add_test(tcase, memory_of_the_callers_is_never_locked);
    tcase_add_loop_test(tcase, memory_that_its_owner_has_locked, 1, 4);
    tcase_add_loop_test(tcase, any_boxes_any_locks, 0, 4);
    tcase_add_loop_test(tcase, each_failure_is_passed_on, 0, 4);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
