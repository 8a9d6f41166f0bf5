/* Streams have numbers that no other stream of the process has, ever. */
#include "backend/default_stream.h"
#include "backend/emulated.h"
#include "support/dense_work.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>

static cc__backend *backend;

static void set_up(void)
{
    backend = cc__backend_emulated_create(2);
    ck_assert_ptr_nonnull(backend);
}

static void tear_down(void)
{
    cc__backend_emulated_destroy(backend);
}

static uint64_t id_of(cc__backend *of, int32_t device, cc_stream stream)
{
    return of->stream_id(of, device, stream);
}

static cc_stream create_stream(cc__backend *of, int32_t device)
{
    cc_stream stream = NULL;
    ck_assert_int_eq(of->stream_create(of, device, &stream), CC_OK);
    return stream;
}

static void expect_distinct(const uint64_t *ids, int count)
{
    for (int i = 0; i < count; i++) {
        ck_assert_uint_ne(ids[i], 0);
        for (int j = 0; j < i; j++)
            ck_assert_msg(ids[i] != ids[j], "%d and %d", i, j);
    }
}

static void *find_thread_id(void *argument)
{
    *(uint64_t *)argument = id_of(backend, 0, CC_STREAM_PER_THREAD);
    return NULL;
}

START_TEST(numbers_are_distinct)
{
    uint64_t ids[9];
    for (int32_t device = 0; device < 2; device++) {
        ids[device] = id_of(backend, device, create_stream(backend, device));
        ids[2 + device] = id_of(backend, device, CC_STREAM_DEFAULT);
        ids[4 + device] = id_of(backend, device, CC_STREAM_PER_THREAD);
    }
    /* Threads that come one after the other, so that the system may call them the same. */
    for (int i = 6; i < 8; i++) {
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, find_thread_id, &ids[i]), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
    }
    ids[8] = id_of(backend, 0, create_stream(backend, 0));
    expect_distinct(ids, 9);
}
END_TEST

START_TEST(numbers_are_not_used_again)
{
    cc_stream first = create_stream(backend, 0);
    uint64_t ids[3] = {id_of(backend, 0, first)};
    ck_assert_uint_eq(id_of(backend, 0, first), ids[0]);
    backend->stream_destroy(backend, 0, first);
    ck_assert_uint_eq(id_of(backend, 0, first), 0);
    ids[1] = id_of(backend, 0, create_stream(backend, 0));
    /* Another backend's stream has the same handle. */
    cc__backend *second = cc__backend_emulated_create(1);
    cc_stream elsewhere = create_stream(second, 0);
    ck_assert_ptr_eq(elsewhere, first);
    ids[2] = id_of(second, 0, elsewhere);
    expect_distinct(ids, 3);
    cc__backend_emulated_destroy(second);
}
END_TEST

START_TEST(default_streams_keep_theirs)
{
    unsigned char host[8] = {0};
    void *memory = NULL;
    const cc_stream legacy = (cc_stream)1;
    const uint64_t id = id_of(backend, 1, CC_STREAM_PER_THREAD);
    ck_assert_uint_eq(id_of(backend, 1, legacy), id_of(backend, 1, CC_STREAM_DEFAULT));
    ck_assert_int_eq(backend->allocate(backend, 1, CC_STREAM_PER_THREAD, 8, &memory), CC_OK);
    ck_assert_int_eq(copy_bytes(backend, 1, CC_STREAM_PER_THREAD, memory, host, 8), CC_OK);
    ck_assert_uint_eq(id_of(backend, 1, CC_STREAM_PER_THREAD), id);
    ck_assert_uint_eq(id_of(backend, 1, CC_STREAM_PER_THREAD), cc__default_stream_id(1, CC_STREAM_PER_THREAD));
    /* As many devices as there may be. */
    uint64_t ids[3 * CC__MAX_DEVICES];
    for (int32_t device = 0; device < CC__MAX_DEVICES; device++) {
        ids[3 * device] = cc__default_stream_id(device, CC_STREAM_DEFAULT);
        ids[3 * device + 1] = cc__default_stream_id(device, CC_STREAM_PER_THREAD);
        ids[3 * device + 2] = (uint64_t)device + 1; /* what a driver might count */
    }
    expect_distinct(ids, 3 * CC__MAX_DEVICES);
}
END_TEST

START_TEST(captured_streams_have_none)
{
    const cc_stream stream = create_stream(backend, 1);
    const uint64_t id = id_of(backend, 1, stream);
    cc__emulated_set_capturing(backend, 1, stream, true);
    ck_assert_uint_eq(id_of(backend, 1, stream), 0);
    cc__emulated_set_capturing(backend, 1, stream, false);
    ck_assert_uint_eq(id_of(backend, 1, stream), id);
}
END_TEST

START_TEST(unknown_streams_have_none)
{
    ck_assert_uint_eq(id_of(backend, 1, create_stream(backend, 0)), 0);
    ck_assert_uint_eq(id_of(backend, 0, (cc_stream)0xBAD0), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stream id");
    TCase *cases = tcase_create("stream id");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, numbers_are_distinct);
    tcase_add_test(cases, numbers_are_not_used_again);
    tcase_add_test(cases, default_streams_keep_theirs);
    tcase_add_test(cases, captured_streams_have_none);
    tcase_add_test(cases, unknown_streams_have_none);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
