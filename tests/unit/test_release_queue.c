/* Tokens come back once, from any thread, and nothing is left when everybody is done. */
#include "base/allocate.h"

#include <check.h>
#include <cudacommon/cudacommon.h>
#include <pthread.h>
#include <stdlib.h>

#define TOKENS 1000
#define THREADS 4

static long live_before;
static cc_release_queue *queue;

static void set_up(void)
{
    live_before = cc__allocations_live();
    queue = NULL;
    ck_assert_int_eq(cc_release_queue_create(&queue), CC_OK);
}

static void tear_down(void)
{
    cc_release_queue_release(queue);
    ck_assert_int_eq(cc__allocations_live(), live_before);
}

static void *ticket_for(uint64_t token)
{
    void *ticket = NULL;
    ck_assert_int_eq(cc_release_queue_add(queue, token, &ticket), CC_OK);
    return ticket;
}

START_TEST(a_token_comes_back_once)
{
    uint64_t tokens[2] = {0, 0};
    void *ticket = ticket_for(UINT64_MAX);
    ck_assert_int_eq(cc_release_queue_take(queue, 2, tokens), 0);
    cc_release_to_queue(tokens, ticket);
    ck_assert_int_eq(cc_release_queue_take(queue, 2, tokens), 1);
    ck_assert_uint_eq(tokens[0], UINT64_MAX);
    ck_assert_int_eq(cc_release_queue_take(queue, 2, tokens), 0);
}
END_TEST

START_TEST(more_than_fit_come_in_several_goes)
{
    uint64_t tokens[2];
    uint64_t sum = 0;
    for (uint64_t token = 1; token <= 5; ++token)
        cc_release_to_queue(NULL, ticket_for(token));
    ck_assert_int_eq(cc_release_queue_take(queue, 0, tokens), 0);
    ck_assert_int_eq(cc_release_queue_take(queue, -1, tokens), 0);
    for (int32_t goes = 0; goes < 3; ++goes) {
        const int32_t count = cc_release_queue_take(queue, 2, tokens);
        ck_assert_int_eq(count, goes < 2 ? 2 : 1);
        for (int32_t i = 0; i < count; ++i)
            sum += tokens[i];
    }
    ck_assert_uint_eq(sum, 15);
}
END_TEST

START_TEST(tickets_outlive_the_queue)
{
    void *first = ticket_for(1);
    void *second = ticket_for(2);
    cc_release_to_queue(NULL, first);
    cc_release_queue_release(queue);
    queue = NULL;
    cc_release_to_queue(NULL, second);
}
END_TEST

START_TEST(null_is_refused_or_nothing)
{
    uint64_t token;
    void *ticket = NULL;
    ck_assert_int_eq(cc_release_queue_create(NULL), CC_ERROR_INVALID_ARGUMENT);
    ck_assert_int_eq(cc_release_queue_add(NULL, 1, &ticket), CC_ERROR_INVALID_ARGUMENT);
    ck_assert_int_eq(cc_release_queue_add(queue, 1, NULL), CC_ERROR_INVALID_ARGUMENT);
    ck_assert_int_eq(cc_release_queue_take(NULL, 1, &token), 0);
    ck_assert_int_eq(cc_release_queue_take(queue, 1, NULL), 0);
    cc_release_to_queue(NULL, NULL);
    cc_release_queue_release(NULL);
}
END_TEST

static bool refuse(size_t size_bytes)
{
    (void)size_bytes;
    return true;
}

START_TEST(without_memory_nothing_changes)
{
    cc_release_queue *other = NULL;
    void *ticket = NULL;
    cc__allocate_set_hook(refuse);
    ck_assert_int_eq(cc_release_queue_create(&other), CC_ERROR_OUT_OF_HOST_MEMORY);
    ck_assert_int_eq(cc_release_queue_add(queue, 1, &ticket), CC_ERROR_OUT_OF_HOST_MEMORY);
    cc__allocate_set_hook(NULL);
    ck_assert_ptr_null(other);
    ck_assert_ptr_null(ticket);
}
END_TEST

static void *release_all(void *tickets)
{
    for (int i = 0; i < TOKENS; ++i)
        cc_release_to_queue(NULL, ((void **)tickets)[i]);
    return NULL;
}

START_TEST(every_thread_may_release)
{
    static void *tickets[THREADS][TOKENS];
    static int seen[THREADS * TOKENS];
    pthread_t threads[THREADS];
    uint64_t tokens[64];
    int left = THREADS * TOKENS;
    for (int thread = 0; thread < THREADS; ++thread)
        for (int i = 0; i < TOKENS; ++i)
            tickets[thread][i] = ticket_for((uint64_t)(thread * TOKENS + i));
    for (int thread = 0; thread < THREADS; ++thread)
        ck_assert_int_eq(pthread_create(&threads[thread], NULL, release_all, tickets[thread]), 0);
    while (left > 0) {
        const int32_t count = cc_release_queue_take(queue, 64, tokens);
        for (int32_t i = 0; i < count; ++i)
            ck_assert_int_eq(seen[tokens[i]]++, 0);
        left -= count;
    }
    for (int thread = 0; thread < THREADS; ++thread)
        ck_assert_int_eq(pthread_join(threads[thread], NULL), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("release_queue");
    TCase *tcase = tcase_create("release_queue");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_token_comes_back_once);
    tcase_add_test(tcase, more_than_fit_come_in_several_goes);
    tcase_add_test(tcase, tickets_outlive_the_queue);
    tcase_add_test(tcase, null_is_refused_or_nothing);
    tcase_add_test(tcase, without_memory_nothing_changes);
    tcase_add_test(tcase, every_thread_may_release);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
