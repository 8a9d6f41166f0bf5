/* Threads that share one piece of work. */
#include "memory/crew.h"
#include "memory/pages.h"

#include "base/allocate.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MIB ((size_t)1 << 20)
#define SHARES 10000

static void tear_down(void)
{
    cc__crew_cores = 0;
}

START_TEST(no_more_threads_than_pay)
{
    cc__crew_cores = 8;
    ck_assert_int_eq(cc__crew_size(0, MIB, 4), 1);
    ck_assert_int_eq(cc__crew_size(MIB, MIB, 4), 1);
    ck_assert_int_eq(cc__crew_size(2 * MIB, MIB, 4), 2);
    ck_assert_int_eq(cc__crew_size(3 * MIB - 1, MIB, 4), 2);
    ck_assert_int_eq(cc__crew_size(SIZE_MAX, 1, 4), 4);
    ck_assert_int_eq(cc__crew_size(SIZE_MAX, 1, 100), 8);
    cc__crew_cores = 1;
    ck_assert_int_eq(cc__crew_size(SIZE_MAX, 1, 100), 1);
    cc__crew_cores = 1000;
    ck_assert_int_eq(cc__crew_size(SIZE_MAX, 1, 1000), CC__CREW_MOST);
    /* From 16 on so many threads have n * n / 16 shares. */
    ck_assert_int_eq(cc__crew_size(15 * MIB, MIB, 1000), 15);
    ck_assert_int_eq(cc__crew_size(16 * MIB, MIB, 1000), 16);
    ck_assert_int_eq(cc__crew_size(17 * MIB, MIB, 1000), 16);
    ck_assert_int_eq(cc__crew_size(18 * MIB, MIB, 1000), 17);
    ck_assert_int_eq(cc__crew_size(64 * MIB, MIB, 1000), 32);
    ck_assert_int_eq(cc__crew_size(64 * MIB, MIB, 20), 20);
    ck_assert_int_eq(cc__crew_size(255 * MIB, MIB, 1000), 63);
    ck_assert_int_eq(cc__crew_size(256 * MIB, MIB, 1000), 64);
    ck_assert_int_eq(cc__crew_size(10000 * MIB, MIB, 1000), 64);
    cc__crew_cores = 0;
    ck_assert_int_ge(cc__crew_size(SIZE_MAX, 1, 100), 1);
    ck_assert_int_le(cc__crew_size(SIZE_MAX, 1, 100), CC__CREW_MOST);
}
END_TEST

/* All items once, in order, with so many large shares before the usual ones. */
static void expect_shares(int64_t count, int64_t usual, size_t item_bytes, int32_t threads, int64_t large_shares)
{
    cc__crew_shares shares;
    int64_t first = -1, taken = -1, done = 0;
    cc__crew_shares_make(&shares, count, usual, item_bytes, threads);
    for (int64_t n = 0; cc__crew_shares_take(&shares, &first, &taken); n++) {
        const int64_t wanted = n < large_shares ? (int64_t)(2 * MIB / item_bytes) : usual;
        ck_assert_int_eq(first, done);
        ck_assert_int_eq(taken, wanted < count - done ? wanted : count - done);
        done += taken;
    }
    ck_assert_int_eq(done, count);
    ck_assert(!cc__crew_shares_take(&shares, &first, &taken));
}

START_TEST(large_shares_come_first)
{
    expect_shares(100, 1, MIB, 4, 42);
    expect_shares(101, 1, MIB, 4, 42);
    expect_shares(16, 1, MIB, 4, 0);
    expect_shares(18, 1, MIB, 4, 1);
    expect_shares(1000, 32, 16384, 1, 5);
    expect_shares(1000, 200, 16384, 1, 0);
    expect_shares(1000, 7, 3 * MIB, 2, 0);
    expect_shares(1, 1, 1, 1, 0);
    expect_shares(65, 64, 1, 64, 0);
}
END_TEST

typedef struct shares {
    atomic_int next;
    atomic_int started;
    atomic_int blocked;
    int32_t wait_for; /* so many threads meet before any goes on */
    unsigned char done[SHARES];
} shares;

static void take_shares(void *context)
{
    shares *self = context;
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    if (sigismember(&mask, SIGINT) && !sigismember(&mask, SIGSEGV))
        atomic_fetch_add(&self->blocked, 1);
    atomic_fetch_add(&self->started, 1);
    while (atomic_load(&self->started) < self->wait_for)
        sched_yield();
    for (int32_t i = atomic_fetch_add(&self->next, 1); i < SHARES; i = atomic_fetch_add(&self->next, 1))
        ++self->done[i];
}

static void run(int32_t size)
{
    static shares work;
    sigset_t before;
    sigset_t after;
    memset(&work, 0, sizeof work);
    work.wait_for = size;
    pthread_sigmask(SIG_BLOCK, NULL, &before);
    cc__crew_run(size, take_shares, &work);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    ck_assert_int_eq(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
    ck_assert_int_eq(atomic_load(&work.started), size);
    /* All but the caller's own. */
    ck_assert_int_eq(atomic_load(&work.blocked), size - 1);
    for (int32_t i = 0; i < SHARES; ++i)
        ck_assert_int_eq(work.done[i], 1);
}

START_TEST(each_share_is_done_once)
{
    const int32_t sizes[] = {1, 2, 5, CC__CREW_MOST};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
        run(sizes[i]);
}
END_TEST

static void *keep_writing(void *argument)
{
    volatile unsigned char *bytes = argument;
    for (int32_t i = 0; i < 2000000; ++i)
        bytes[(size_t)i % 1024] = (unsigned char)i;
    for (int32_t i = 0; i < 1024; ++i)
        bytes[i] = (unsigned char)(i * 7);
    return NULL;
}

START_TEST(committing_pages_changes_no_byte)
{
    const size_t bytes = 40 * MIB;
    unsigned char *memory = cc__pages_allocate(bytes);
    unsigned char *expected = malloc(bytes);
    pthread_t writer;
    cc__crew_cores = 4;
    for (size_t i = 0; i < bytes; ++i)
        expected[i] = (unsigned char)(i * 2654435761u >> 11);
    /* One half is there already, the other is not. */
    memcpy(memory, expected, bytes / 2);
    memset(expected + bytes / 2, 0, bytes / 2);
    for (int32_t i = 0; i < 1024; ++i)
        expected[i] = (unsigned char)(i * 7);
    ck_assert_int_eq(pthread_create(&writer, NULL, keep_writing, memory), 0);
    for (int32_t i = 0; i < 5; ++i)
        cc__pages_commit(memory, bytes);
    ck_assert_int_eq(pthread_join(writer, NULL), 0);
    ck_assert_mem_eq(memory, expected, bytes);
    free(expected);
    cc__pages_free(memory, bytes);
}
END_TEST

static size_t resident_bytes(unsigned char *memory, size_t bytes)
{
    unsigned char resident[16384];
    size_t count = 0;
    ck_assert_uint_le(bytes / 4096, sizeof resident);
    ck_assert_int_eq(mincore(memory, bytes, resident), 0);
    for (size_t i = 0; i < bytes / 4096; ++i)
        count += resident[i] & 1;
    return count * 4096;
}

/* By threads, and by the caller where there is one core. */
START_TEST(pages_are_there_when_they_are_waited_for)
{
    const size_t bytes = 41 * MIB + 4096;
    unsigned char *memory = cc__pages_allocate(bytes);
    cc__pages_ahead ahead;
    cc__crew_cores = _i == 0 ? 4 : 1;
    memory[9 * MIB] = 9;
    memory[bytes - 1] = 7;
    cc__pages_begin_ahead(&ahead, memory, bytes);
    ck_assert_int_eq(ahead.started > 0, _i == 0);
    cc__pages_wait_ahead(&ahead, 4096);
    cc__pages_wait_ahead(&ahead, 17 * MIB);
    ck_assert_uint_eq(resident_bytes(memory, 17 * MIB), 17 * MIB);
    cc__pages_wait_ahead(&ahead, 10 * MIB);
    cc__pages_wait_ahead(&ahead, bytes);
    ck_assert_uint_eq(resident_bytes(memory, bytes), bytes);
    cc__pages_end_ahead(&ahead);
    for (size_t i = 0; i < bytes; ++i)
        if (memory[i] != (i == 9 * MIB ? 9 : i == bytes - 1 ? 7 : 0))
            ck_abort_msg("byte %zu is %d", i, memory[i]);
    cc__pages_free(memory, bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("crew");
    TCase *tcase = tcase_create("crew");
    tcase_add_checked_fixture(tcase, NULL, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, no_more_threads_than_pay);
    tcase_add_test(tcase, large_shares_come_first);
    tcase_add_test(tcase, each_share_is_done_once);
    tcase_add_test(tcase, committing_pages_changes_no_byte);
    tcase_add_loop_test(tcase, pages_are_there_when_they_are_waited_for, 0, 2);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
