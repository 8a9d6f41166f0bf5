/* The CUDA backend's events, new and used again, and the numbers of streams. */
#include "cuda_test.h"

#include "support/dense_work.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

START_TEST(unrecorded_event_is_complete)
{
    bool complete = false;
    cc_stream stream = must_create_stream(0);
    cc__event *event = NULL;
    ck_assert_int_eq(backend->event_create(backend, 0, &event), CC_OK);
    ck_assert_int_eq(backend->event_is_complete(backend, 0, event, &complete), CC_OK);
    ck_assert(complete);
    ck_assert_int_eq(backend->event_synchronize(backend, 0, event), CC_OK);
    ck_assert_int_eq(backend->stream_wait(backend, 0, stream, event), CC_OK);
    must_synchronize(0, stream);
    backend->event_destroy(backend, 0, event);
    backend->stream_destroy(backend, 0, stream);
}
END_TEST

/* An event that somebody gave back while its record was still to come: whoever gets it next has a new one. */
START_TEST(used_event_is_like_new)
{
    bool complete = false;
    cc_stream held = must_create_stream(0);
    cc_stream other = must_create_stream(0);
    cc__event *event = NULL;
    stream_gate gate;
    make_current(0);
    ck_assert_int_eq(backend->event_create(backend, 0, &event), CC_OK);
    gate_close(&gate, held);
    ck_assert_int_eq(backend->event_record(backend, 0, event, held), CC_OK);
    ck_assert_int_eq(backend->event_is_complete(backend, 0, event, &complete), CC_OK);
    ck_assert(!complete);
    backend->event_destroy(backend, 0, event);

    cc__event *next = NULL;
    ck_assert_int_eq(backend->event_create(backend, 0, &next), CC_OK);
    ck_assert_ptr_eq(next, event);
    ck_assert_int_eq(backend->event_is_complete(backend, 0, next, &complete), CC_OK);
    ck_assert(complete);
    ck_assert_int_eq(backend->event_synchronize(backend, 0, next), CC_OK);
    ck_assert_int_eq(backend->stream_wait(backend, 0, other, next), CC_OK);
    must_synchronize(0, other);
    /* What it is recorded for now is what counts. */
    ck_assert_int_eq(backend->event_record(backend, 0, next, other), CC_OK);
    ck_assert_int_eq(backend->event_synchronize(backend, 0, next), CC_OK);
    ck_assert_int_eq(backend->event_is_complete(backend, 0, next, &complete), CC_OK);
    ck_assert(complete);
    ck_assert_int_eq(backend->event_record(backend, 0, next, held), CC_OK);
    ck_assert_int_eq(backend->event_is_complete(backend, 0, next, &complete), CC_OK);
    ck_assert(!complete);
    gate_open(&gate);
    ck_assert_int_eq(backend->event_synchronize(backend, 0, next), CC_OK);
    backend->event_destroy(backend, 0, next);
    must_synchronize(0, held);
    backend->stream_destroy(backend, 0, held);
    backend->stream_destroy(backend, 0, other);
    make_none_current();
}
END_TEST

static void *use_many_events(void *argument)
{
    enum {
        COUNT = 3000
    };
    static _Thread_local cc__event *events[COUNT];
    const cc_stream stream = must_create_stream(0);
    for (int32_t run = 0; run < 2; run++) {
        for (int32_t i = 0; i < COUNT; i++) {
            bool complete = false;
            ck_assert_int_eq(backend->event_create(backend, 0, &events[i]), CC_OK);
            ck_assert_int_eq(backend->event_is_complete(backend, 0, events[i], &complete), CC_OK);
            ck_assert(complete);
            ck_assert_int_eq(backend->event_record(backend, 0, events[i], stream), CC_OK);
        }
        for (int32_t i = 0; i < COUNT; i++) {
            ck_assert_int_eq(backend->event_synchronize(backend, 0, events[i]), CC_OK);
            backend->event_destroy(backend, 0, events[i]);
        }
    }
    must_synchronize(0, stream);
    backend->stream_destroy(backend, 0, stream);
    return argument;
}

/* More events than are kept, in more threads than there are shelves. */
START_TEST(events_come_and_go_in_many_threads)
{
    pthread_t threads[12];
    for (int32_t i = 0; i < 12; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, use_many_events, NULL), 0);
    for (int32_t i = 0; i < 12; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}
END_TEST

/* The second stream can only have seen the new bytes if it waited for the event. */
START_TEST(events_order_streams)
{
    const int32_t second_device = _i == 0 ? 0 : backend->device_count - 1;
    make_current(0);
    unsigned char *pages = allocate_pages();
    unsigned char *out = allocate_pages();
    ck_assert_int_eq(backend->host_register(backend, pages, PAGES_BYTES), CC_OK);
    ck_assert_int_eq(backend->host_register(backend, out, PAGES_BYTES), CC_OK);
    cc_stream first = must_create_stream(0);
    cc_stream second = must_create_stream(second_device);
    cc__event *written = NULL;
    cc__event *read = NULL;
    bool complete = true;
    ck_assert_int_eq(backend->event_create(backend, 0, &written), CC_OK);
    ck_assert_int_eq(backend->event_create(backend, second_device, &read), CC_OK);
    unsigned char *memory = must_allocate(0, first, PAGES_BYTES);
    unsigned char *landing = must_allocate(second_device, second, PAGES_BYTES);
    cc__fill fill = dense_fill(memory, 1, (int64_t)PAGES_BYTES);
    ck_assert_int_eq(backend->fill(backend, 0, first, &fill), CC_OK);
    must_synchronize(0, first);
    /* What happens once, such as opening the pool to the other device, may wait for the device; not behind the gate. */
    must_copy(second_device, second, landing, memory, PAGES_BYTES);
    must_copy(second_device, second, out, landing, PAGES_BYTES);
    must_synchronize(second_device, second);
    ck_assert(bytes_are(out, 1, PAGES_BYTES));

    stream_gate gate;
    gate_close(&gate, first);
    memset(pages, 2, PAGES_BYTES);
    must_copy(0, first, memory, pages, PAGES_BYTES);
    ck_assert_int_eq(backend->event_record(backend, 0, written, first), CC_OK);
    ck_assert_int_eq(backend->stream_wait(backend, second_device, second, written), CC_OK);
    must_copy(second_device, second, landing, memory, PAGES_BYTES);
    must_copy(second_device, second, out, landing, PAGES_BYTES);
    ck_assert_int_eq(backend->event_record(backend, second_device, read, second), CC_OK);
    ck_assert_int_eq(backend->event_is_complete(backend, 0, written, &complete), CC_OK);
    ck_assert(!complete);
    ck_assert_int_eq(backend->event_is_complete(backend, second_device, read, &complete), CC_OK);
    ck_assert(!complete);
    gate_open(&gate);
    ck_assert_int_eq(backend->event_synchronize(backend, second_device, read), CC_OK);
    ck_assert_int_eq(backend->event_is_complete(backend, 0, written, &complete), CC_OK);
    ck_assert(complete);
    ck_assert(bytes_are(out, 2, PAGES_BYTES));

    must_free(0, first, memory);
    must_free(second_device, second, landing);
    must_synchronize(0, first);
    must_synchronize(second_device, second);
    backend->event_destroy(backend, 0, written);
    backend->event_destroy(backend, second_device, read);
    backend->stream_destroy(backend, 0, first);
    backend->stream_destroy(backend, second_device, second);
    ck_assert_int_eq(backend->host_unregister(backend, pages), CC_OK);
    ck_assert_int_eq(backend->host_unregister(backend, out), CC_OK);
    free(pages);
    free(out);
    make_none_current();
}
END_TEST

static void *find_thread_id(void *argument)
{
    *(uint64_t *)argument = backend->stream_id(backend, 0, CC_STREAM_PER_THREAD);
    return NULL;
}

START_TEST(streams_have_numbers_of_their_own)
{
    const cc_stream legacy = (cc_stream)1;
    const int32_t last = backend->device_count - 1;
    cc_stream streams[2] = {must_create_stream(0), must_create_stream(last)};
    uint64_t ids[8] = {backend->stream_id(backend, 0, streams[0]), backend->stream_id(backend, last, streams[1]),
                       backend->stream_id(backend, 0, CC_STREAM_DEFAULT),
                       backend->stream_id(backend, 0, CC_STREAM_PER_THREAD)};
    pthread_t thread;
    if (ids[0] == 0)
        return; /* the driver is too old */
    ck_assert_uint_eq(backend->stream_id(backend, 0, streams[0]), ids[0]);
    ck_assert_uint_eq(backend->stream_id(backend, 0, legacy), ids[2]);
    ck_assert_int_eq(pthread_create(&thread, NULL, find_thread_id, &ids[4]), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    backend->stream_destroy(backend, 0, streams[0]);
    streams[0] = must_create_stream(0);
    ids[5] = backend->stream_id(backend, 0, streams[0]);
    make_current(0);
    CUstream of_caller = NULL;
    ck_assert_int_eq(cc__driver.cuStreamCreate(&of_caller, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    ids[6] = backend->stream_id(backend, 0, of_caller);
    make_none_current();
    ck_assert_uint_eq(backend->stream_id(backend, 0, of_caller), ids[6]);
    ids[7] = backend->stream_id(backend, last, (cc_stream)2) + (last == 0);
    for (int32_t i = 0; i < 8; i++) {
        ck_assert_uint_ne(ids[i], 0);
        for (int32_t j = 0; j < i; j++)
            ck_assert_msg(ids[i] != ids[j], "%d and %d", (int)i, (int)j);
    }
    ck_assert_int_eq(cc__driver.cuStreamDestroy(of_caller), CUDA_SUCCESS);
    backend->stream_destroy(backend, 0, streams[0]);
    backend->stream_destroy(backend, last, streams[1]);
}
END_TEST

int main(void)
{
    int status = cuda_test_start();
    if (status != 0)
        return status;

    Suite *suite = suite_create("cuda_events");
    TCase *events = tcase_create("events");
    tcase_add_test(events, unrecorded_event_is_complete);
    tcase_add_test(events, used_event_is_like_new);
    tcase_add_loop_test(events, events_order_streams, 0, 2);
    tcase_add_test(events, events_come_and_go_in_many_threads);
    tcase_add_test(events, streams_have_numbers_of_their_own);
    suite_add_tcase(suite, events);
    return cuda_test_run(suite);
}
