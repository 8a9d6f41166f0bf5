/* The library's own streams: a few for each device, whoever asks. */
#include "backend/emulated.h"
#include "memory/transfer_streams.h"
#include "support/expect.h"
#include "support/faulty_backend.h"

#include <pthread.h>
#include <stdlib.h>

#define DEVICES 2
#define IN_TURN 4

static cc__backend *emulated, *backend;

static void set_up(void)
{
    emulated = cc__backend_emulated_create(DEVICES);
    ck_assert_ptr_nonnull(emulated);
    backend = faulty_backend_create(emulated);
    ck_assert_ptr_nonnull(backend);
}

static void tear_down(void)
{
    cc__transfer_streams_reset();
    ck_assert_int_eq(cc__emulated_count_live(emulated).streams, 0);
    faulty_backend_destroy(backend);
    cc__backend_emulated_destroy(emulated);
}

static cc_stream must_get(int32_t device)
{
    cc_stream stream = NULL;
    ck_assert_int_eq(cc__transfer_stream_get(backend, device, &stream), CC_OK);
    ck_assert_ptr_nonnull(stream);
    return stream;
}

START_TEST(each_device_has_its_own_in_turn)
{
    cc_stream seen[DEVICES][IN_TURN];
    for (int32_t turn = 0; turn < 3 * IN_TURN; ++turn) {
        for (int32_t device = 0; device < DEVICES; ++device) {
            const cc_stream stream = must_get(device);
            if (turn < IN_TURN)
                seen[device][turn] = stream;
            ck_assert_ptr_eq(stream, seen[device][turn % IN_TURN]);
        }
    }
    for (int32_t a = 0; a < DEVICES * IN_TURN; ++a)
        for (int32_t b = 0; b < a; ++b)
            ck_assert_ptr_ne(seen[a / IN_TURN][a % IN_TURN], seen[b / IN_TURN][b % IN_TURN]);
    ck_assert_int_eq(cc__emulated_count_live(emulated).streams, DEVICES * IN_TURN);
}
END_TEST

START_TEST(traffic_of_each_kind_has_its_own)
{
    cc_stream seen[CC__TRAFFIC_COUNT * IN_TURN];
    for (int32_t i = 0; i < CC__TRAFFIC_COUNT * IN_TURN; ++i) {
        const cc__traffic traffic = (cc__traffic)(i % CC__TRAFFIC_COUNT);
        ck_assert_int_eq(cc__transfer_stream_get_for(backend, 1, traffic, &seen[i]), CC_OK);
        for (int32_t other = 0; other < i; ++other)
            ck_assert_ptr_ne(seen[other], seen[i]);
    }
    ck_assert_int_eq(cc__emulated_count_live(emulated).streams, CC__TRAFFIC_COUNT * IN_TURN);
    ck_assert_ptr_eq(must_get(1), seen[CC__TRAFFIC_OTHER]);
}
END_TEST

START_TEST(a_stream_that_is_not_used_is_not_made)
{
    ck_assert_int_eq(cc__emulated_count_live(emulated).streams, 0);
    must_get(1);
    ck_assert_int_eq(cc__emulated_count_live(emulated).streams, 1);
    bool capturing = true;
    ck_assert_int_eq(backend->stream_is_capturing(backend, 1, must_get(1), &capturing), CC_OK);
    ck_assert(!capturing);
}
END_TEST

START_TEST(one_that_cannot_be_made_is_made_the_next_time)
{
    cc_stream stream = (cc_stream)7;
    const faulty_rule rule = {FAULTY_STREAM_CREATE, 1, false, CC_ERROR_DEVICE, 999};
    faulty_backend_add_rule(backend, &rule);
    expect_passed_on(CC_ERROR_DEVICE, cc__transfer_stream_get(backend, 1, &stream));
    ck_assert_ptr_eq(stream, (cc_stream)7);
    ck_assert_int_eq(cc__emulated_count_live(emulated).streams, 0);
    for (int32_t turn = 0; turn < 2 * IN_TURN; ++turn)
        must_get(1);
    ck_assert_int_eq(cc__emulated_count_live(emulated).streams, IN_TURN);
}
END_TEST

static void count_up(void *argument)
{
    ++*(int32_t *)argument;
}

START_TEST(a_reset_waits_for_what_is_queued)
{
    int32_t done = 0;
    ck_assert_int_eq(cc__emulated_launch(emulated, 1, must_get(1), count_up, &done), CC_OK);
    ck_assert_int_eq(done, 0);
    cc__transfer_streams_reset();
    ck_assert_int_eq(done, 1);
    ck_assert_int_eq(cc__emulated_count_live(emulated).streams, 0);
    /* It starts again with new ones, and twice is once. */
    cc__transfer_streams_reset();
    must_get(1);
    ck_assert_int_eq(cc__emulated_count_live(emulated).streams, 1);
}
END_TEST

#define THREADS 8

static pthread_barrier_t barrier;

static void *get_many(void *argument)
{
    (void)argument;
    pthread_barrier_wait(&barrier);
    for (int32_t i = 0; i < 100; ++i) {
        cc_stream stream = NULL;
        if (cc__transfer_stream_get(backend, i % DEVICES, &stream) != CC_OK || stream == NULL)
            return backend;
    }
    return NULL;
}

/* Again and again, since the threads must meet where a stream is being made. */
START_TEST(threads_share_them)
{
    pthread_t threads[THREADS];
    ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (int32_t round = 0; round < 50; ++round) {
        faulty_backend_reset_counts(backend);
        for (int32_t i = 0; i < THREADS; ++i)
            ck_assert_int_eq(pthread_create(&threads[i], NULL, get_many, NULL), 0);
        for (int32_t i = 0; i < THREADS; ++i) {
            void *failed = NULL;
            ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
            ck_assert_ptr_null(failed);
        }
        ck_assert_int_eq(cc__emulated_count_live(emulated).streams, DEVICES * IN_TURN);
        ck_assert_int_eq(faulty_backend_counts(backend).calls[FAULTY_STREAM_CREATE], DEVICES * IN_TURN);
        cc__transfer_streams_reset();
    }
    pthread_barrier_destroy(&barrier);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("transfer_streams");
    TCase *tcase = tcase_create("transfer_streams");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, each_device_has_its_own_in_turn);
    tcase_add_test(tcase, traffic_of_each_kind_has_its_own);
    tcase_add_test(tcase, a_stream_that_is_not_used_is_not_made);
    tcase_add_test(tcase, one_that_cannot_be_made_is_made_the_next_time);
    tcase_add_test(tcase, a_reset_waits_for_what_is_queued);
    tcase_add_test(tcase, threads_share_them);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
