/* The lock that data managers have: one at a time, nobody left asleep, and nothing looked at after it is let go. */
#include "base/lock.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define HANGS_AFTER_SECONDS 100
#define THREADS 6
#define ROUNDS 2000

static cc__lock lock;
static long counter; /* guarded by the lock alone */

static void set_up(void)
{
    alarm(HANGS_AFTER_SECONDS);
    lock = (cc__lock){0};
    counter = 0;
}

static void run_threads(void *(*work)(void *), int count, void *argument)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < count; ++i)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, argument), 0);
    for (int i = 0; i < count; ++i)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

/* Some rounds are longer than a thread looks before it sleeps. */
static void *count_up(void *argument)
{
    (void)argument;
    for (int round = 0; round < ROUNDS; ++round) {
        cc__lock_take(&lock);
        const long before = counter;
        if (round % 500 == 0)
            (void)usleep(200);
        counter = before + 1;
        cc__lock_let_go(&lock);
    }
    return NULL;
}

START_TEST(one_thread_at_a_time_has_it)
{
    run_threads(count_up, THREADS, NULL);
    ck_assert_int_eq(counter, (long)THREADS * ROUNDS);
    ck_assert_uint_eq(atomic_load(&lock.is_held), 0);
    ck_assert_uint_eq(atomic_load(&lock.sleepers), 0);
}
END_TEST

static void *take_once(void *argument)
{
    (void)argument;
    errno = 7;
    cc__lock_take(&lock);
    counter += errno == 7;
    cc__lock_let_go(&lock);
    return NULL;
}

/* Everybody sleeps for as long as it is held, and everybody gets it; errno stays. */
START_TEST(who_waits_long_is_woken)
{
    pthread_t threads[THREADS];
    cc__lock_take(&lock);
    for (int i = 0; i < THREADS; ++i)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_once, NULL), 0);
    while (atomic_load(&lock.sleepers) < THREADS)
        (void)usleep(100);
    (void)usleep(5000);
    ck_assert_int_eq(counter, 0);
    cc__lock_let_go(&lock);
    for (int i = 0; i < THREADS; ++i)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(counter, THREADS);
    ck_assert_uint_eq(atomic_load(&lock.sleepers), 0);
}
END_TEST

/* What a wake-up that went astray leaves behind: a thread asleep beside a free lock. It finds out by itself. */
START_TEST(who_is_not_woken_looks_again)
{
    pthread_t thread;
    cc__lock_take(&lock);
    ck_assert_int_eq(pthread_create(&thread, NULL, take_once, NULL), 0);
    while (atomic_load(&lock.sleepers) < 1)
        (void)usleep(100);
    (void)usleep(5000);
#ifdef CC__LOCK_CHECKS_ORDER
    cc__lock_let_go(&lock); /* which ThreadSanitizer must be told */
#else
    atomic_store(&lock.is_held, 0);
#endif
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(counter, 1);
}
END_TEST

/* Each adds one when it is its turn. */
static void *take_turns(void *argument)
{
    static atomic_long members;
    const long mine = atomic_fetch_add(&members, 1) % THREADS;
    (void)argument;
    for (int round = 0; round < ROUNDS / 10; ++round) {
        cc__lock_take(&lock);
        while (counter % THREADS != mine)
            cc__lock_wait(&lock);
        ++counter;
        cc__lock_tell(&lock);
        cc__lock_let_go(&lock);
    }
    return NULL;
}

START_TEST(all_who_wait_are_told)
{
    run_threads(take_turns, THREADS, NULL);
    ck_assert_int_eq(counter, (long)THREADS * (ROUNDS / 10));
}
END_TEST

/* Something that goes with its last owner, as data managers do. */
typedef struct shared_thing {
    cc__lock lock;
    int owners;
} shared_thing;

static void *leave(void *argument)
{
    shared_thing *shared = argument;
    cc__lock_take(&shared->lock);
    const int left = --shared->owners;
    cc__lock_let_go(&shared->lock);
    if (left == 0)
        free(shared);
    return NULL;
}

/* For AddressSanitizer and ThreadSanitizer. */
START_TEST(the_last_may_free_it)
{
    for (int round = 0; round < 200; ++round) {
        shared_thing *shared = calloc(1, sizeof *shared);
        ck_assert_ptr_nonnull(shared);
        shared->owners = THREADS;
        run_threads(leave, THREADS, shared);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base_lock");
    TCase *tcase = tcase_create("base_lock");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_set_timeout(tcase, HANGS_AFTER_SECONDS);
    tcase_add_test(tcase, one_thread_at_a_time_has_it);
    tcase_add_test(tcase, who_waits_long_is_woken);
    tcase_add_test(tcase, who_is_not_woken_looks_again);
    tcase_add_test(tcase, all_who_wait_are_told);
    tcase_add_test(tcase, the_last_may_free_it);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
