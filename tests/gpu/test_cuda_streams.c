/* The CUDA backend's memory and streams, and what it does beside somebody's capture. */
#include "cuda_test.h"

#include "support/dense_work.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(out_of_memory_says_so_and_passes)
{
    cc_stream stream = must_create_stream(0);
    void *memory = NULL;
    ck_assert_int_eq(backend->allocate(backend, 0, stream, PETABYTE, &memory), CC_ERROR_OUT_OF_DEVICE_MEMORY);
    ck_assert_ptr_null(memory);
    ck_assert_int_eq(cc_last_native_error(), CUDA_ERROR_OUT_OF_MEMORY);
    ck_assert_ptr_nonnull(strstr(cc_last_error_message(), "device 0, size_bytes = 1125899906842624"));
    memory = must_allocate(0, stream, PAGES_BYTES);
    must_free(0, stream, memory);
    must_synchronize(0, stream);
    backend->stream_destroy(backend, 0, stream);
}
END_TEST

static void *open_later(void *argument)
{
    usleep(100000);
    gate_open(argument);
    return NULL;
}

/* Memory whose free has still to come is waited for before an allocation fails. */
START_TEST(pending_free_is_found)
{
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    make_current(0);
    ck_assert_int_eq(caller.cuMemGetInfo(&free_bytes, &total_bytes), CUDA_SUCCESS);
    const size_t most = free_bytes / 10 * 6;
    cc_stream first = must_create_stream(0);
    cc_stream second = must_create_stream(0);
    void *memory = must_allocate(0, first, most);
    stream_gate gate;
    pthread_t opener;
    gate_close(&gate, first);
    ck_assert_int_eq(pthread_create(&opener, NULL, open_later, &gate), 0);
    must_free(0, first, memory);
    memory = must_allocate(0, second, most);
    ck_assert_int_eq(pthread_join(opener, NULL), 0);
    must_free(0, second, memory);
    must_synchronize(0, first);
    must_synchronize(0, second);
    backend->stream_destroy(backend, 0, first);
    backend->stream_destroy(backend, 0, second);
    make_none_current();
}
END_TEST

/* The pool keeps what is freed: what it holds after many rounds is no more than after one. */
START_TEST(freed_memory_is_used_again)
{
    size_t before = 0;
    size_t after = 0;
    size_t total_bytes = 0;
    cc_stream stream = must_create_stream(0);
    make_current(0);
    must_free(0, stream, must_allocate(0, stream, (size_t)64 << 20));
    must_synchronize(0, stream);
    ck_assert_int_eq(caller.cuMemGetInfo(&before, &total_bytes), CUDA_SUCCESS);
    for (int32_t i = 0; i < 1000; i++)
        must_free(0, stream, must_allocate(0, stream, (size_t)64 << 20));
    must_synchronize(0, stream);
    ck_assert_int_eq(caller.cuMemGetInfo(&after, &total_bytes), CUDA_SUCCESS);
    ck_assert_uint_ge(after + ((size_t)1 << 20), before);
    backend->stream_destroy(backend, 0, stream);
    make_none_current();
}
END_TEST

START_TEST(pointers_are_told_apart)
{
    for (int32_t device = 0; device < backend->device_count; device++) {
        int32_t found = -1;
        cc_stream stream = must_create_stream(device);
        unsigned char *memory = must_allocate(device, stream, 1000);
        ck_assert_int_eq(backend->memory_device(backend, memory + 999, &found), CC_OK);
        ck_assert_int_eq(found, device);
        must_free(device, stream, memory);
        must_synchronize(device, stream);
        backend->stream_destroy(backend, device, stream);

        make_current(device);
        CUdeviceptr plain = 0;
        CUdeviceptr managed = 0;
        void *locked = NULL;
        ck_assert_int_eq(cc__driver.cuMemAlloc(&plain, 1000), CUDA_SUCCESS);
        ck_assert_int_eq(caller.cuMemAllocManaged(&managed, 1000, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
        ck_assert_int_eq(caller.cuMemHostAlloc(&locked, 1000, CU_MEMHOSTALLOC_PORTABLE), CUDA_SUCCESS);
        make_none_current();

        found = -1;
        ck_assert_int_eq(backend->memory_device(backend, pointer_to(plain + 10), &found), CC_OK);
        ck_assert_int_eq(found, device);
        found = -1;
        ck_assert_int_eq(backend->memory_device(backend, pointer_to(managed), &found), CC_OK);
        ck_assert_int_eq(found, device);
        found = -1;
        ck_assert_int_eq(backend->memory_device(backend, locked, &found), CC_ERROR_POINTER);
        ck_assert_int_eq(found, -1);

        make_current(device);
        ck_assert_int_eq(cc__driver.cuMemFree(plain), CUDA_SUCCESS);
        ck_assert_int_eq(cc__driver.cuMemFree(managed), CUDA_SUCCESS);
        ck_assert_int_eq(caller.cuMemFreeHost(locked), CUDA_SUCCESS);
        make_none_current();
    }
}
END_TEST

/* What was freed is kept until it is asked for, down to what shall be kept. */
START_TEST(trim_gives_memory_back)
{
    const size_t size_bytes = (size_t)512 << 20;
    const size_t slack_bytes = (size_t)64 << 20;
    size_t total_bytes = 0;
    size_t free_bytes[4] = {0};
    cc_stream stream = must_create_stream(0);
    must_free(0, stream, must_allocate(0, stream, size_bytes));
    must_synchronize(0, stream);
    for (int32_t i = 0; i < 4; i++) {
        /* Nothing; as much as there is; half of it, which may round up to all; none. */
        static const size_t keep_bytes[] = {SIZE_MAX, (size_t)1 << 40, (size_t)256 << 20, 0};
        if (i > 0)
            ck_assert_int_eq(backend->trim(backend, 0, keep_bytes[i]), CC_OK);
        ck_assert_int_eq(backend->memory_info(backend, 0, &free_bytes[i], &total_bytes), CC_OK);
        ck_assert_uint_le(free_bytes[i], total_bytes);
    }
    ck_assert_uint_le(free_bytes[1], free_bytes[0] + slack_bytes);
    ck_assert_uint_le(free_bytes[2], free_bytes[3]);
    ck_assert_uint_ge(free_bytes[3] + slack_bytes, free_bytes[0] + size_bytes);
    backend->stream_destroy(backend, 0, stream);
}
END_TEST

/* A stream of the library's does not wait for the legacy stream, nor the other way round. */
START_TEST(own_streams_pass_the_legacy_stream)
{
    cc_stream stream = must_create_stream(0);
    void *memory = must_allocate(0, stream, 16);
    cc__fill fill = dense_fill(memory, 1, 16);
    stream_gate gate;
    make_current(0);
    ck_assert_int_eq(backend->fill(backend, 0, stream, &fill), CC_OK);
    must_synchronize(0, stream);
    gate_close(&gate, CC_STREAM_DEFAULT);
    ck_assert_int_eq(backend->fill(backend, 0, stream, &fill), CC_OK);
    must_synchronize(0, stream);
    gate_open(&gate);
    must_synchronize(0, CC_STREAM_DEFAULT);
    must_free(0, stream, memory);
    must_synchronize(0, stream);
    backend->stream_destroy(backend, 0, stream);
    make_none_current();
}
END_TEST

typedef struct capture {
    CUstream captured; /* a blocking stream, so that the legacy stream is out of bounds too */
    cc_stream other;
} capture;

static void *use_other_streams(void *argument)
{
    const capture *during = argument;
    cc_stream stream = NULL;
    cc__event *event = NULL;
    bool flag = false;
    void *untouched = NULL;
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    void *pages = allocate_pages();
    ck_assert_int_eq(backend->stream_is_capturing(backend, 0, during->captured, &flag), CC_OK);
    ck_assert(flag);
    ck_assert_int_eq(backend->stream_is_capturing(backend, 0, CC_STREAM_DEFAULT, &flag), CC_OK);
    ck_assert(flag);
    ck_assert_int_eq(backend->stream_is_capturing(backend, 0, during->other, &flag), CC_OK);
    ck_assert(!flag);
    ck_assert_int_eq(backend->stream_is_idle(backend, 0, during->other, &flag), CC_OK);
    ck_assert_int_eq(backend->stream_is_idle(backend, 0, CC_STREAM_DEFAULT, &flag), CC_ERROR_CAPTURE);
    ck_assert_int_eq(backend->stream_synchronize(backend, 0, during->captured), CC_ERROR_CAPTURE);
    ck_assert_int_eq(backend->stream_synchronize(backend, 0, CC_STREAM_DEFAULT), CC_ERROR_CAPTURE);

    ck_assert_int_eq(backend->stream_create(backend, 0, &stream), CC_OK);
    ck_assert_int_eq(backend->event_create(backend, 0, &event), CC_OK);
    ck_assert_int_eq(backend->host_register(backend, pages, PAGES_BYTES), CC_OK);
    void *memory = must_allocate(0, stream, PAGES_BYTES);
    must_copy(0, stream, memory, pages, PAGES_BYTES);
    cc__fill fill = dense_fill(memory, 7, (int64_t)PAGES_BYTES);
    ck_assert_int_eq(backend->fill(backend, 0, stream, &fill), CC_OK);
    must_copy(0, stream, pages, memory, PAGES_BYTES);
    cc__copy box = dense_copy(pages, memory, 100);
    ck_assert_int_eq(backend->copy_boxes(backend, 0, stream, &box, 1), CC_OK);
    ck_assert_int_eq(backend->event_record(backend, 0, event, stream), CC_OK);
    ck_assert_int_eq(backend->event_is_complete(backend, 0, event, &flag), CC_OK);
    ck_assert_int_eq(backend->stream_wait(backend, 0, during->other, event), CC_OK);
    ck_assert_int_eq(backend->event_record(backend, 0, event, during->captured), CC_ERROR_CAPTURE);
    ck_assert_int_eq(backend->event_is_complete(backend, 0, event, &flag), CC_OK);
    ck_assert_uint_eq(backend->stream_id(backend, 0, during->captured), 0);
    backend->stream_id(backend, 0, during->other);
    backend->stream_id(backend, 0, CC_STREAM_DEFAULT);
    ck_assert_int_eq(backend->memory_info(backend, 0, &free_bytes, &total_bytes), CC_OK);
    ck_assert_int_eq(backend->trim(backend, 0, 0), CC_OK);
    ck_assert_int_eq(backend->event_synchronize(backend, 0, event), CC_OK);
    ck_assert(bytes_are(pages, 7, PAGES_BYTES));
    ck_assert_int_eq(backend->allocate(backend, 0, stream, PETABYTE, &untouched), CC_ERROR_OUT_OF_DEVICE_MEMORY);
    must_free(0, stream, memory);
    ck_assert_int_eq(backend->host_unregister(backend, pages), CC_OK);
    must_synchronize(0, stream);
    must_synchronize(0, during->other);
    backend->event_destroy(backend, 0, event);
    backend->stream_destroy(backend, 0, stream);
    free(pages);
    return NULL;
}

/* Somebody's capture, of the strictest kind, survives all that the library does beside it. */
START_TEST(captures_are_seen_and_survive)
{
    const bool in_another_thread = _i == 1;
    capture during = {NULL, must_create_stream(0)};
    CUgraph graph = NULL;
    bool flag = true;
    make_current(0);
    ck_assert_int_eq(cc__driver.cuStreamCreate(&during.captured, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    ck_assert_int_eq(caller.cuStreamBeginCapture(during.captured, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    if (in_another_thread) {
        pthread_t thread;
        ck_assert_int_eq(pthread_create(&thread, NULL, use_other_streams, &during), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
    } else {
        use_other_streams(&during);
    }
    ck_assert_int_eq(caller.cuStreamEndCapture(during.captured, &graph), CUDA_SUCCESS);
    ck_assert_ptr_nonnull(graph);
    ck_assert_int_eq(caller.cuGraphDestroy(graph), CUDA_SUCCESS);
    ck_assert_int_eq(backend->stream_is_capturing(backend, 0, during.captured, &flag), CC_OK);
    ck_assert(!flag);
    must_synchronize(0, during.captured);
    ck_assert_int_eq(cc__driver.cuStreamDestroy(during.captured), CUDA_SUCCESS);
    backend->stream_destroy(backend, 0, during.other);
    make_none_current();
}
END_TEST

/* Also for a stream that has no order with the default one. */
START_TEST(the_device_is_waited_for)
{
    cc_stream stream = must_create_stream(0);
    cc__event *event = NULL;
    bool is_complete = true;
    stream_gate gate;
    pthread_t opener;
    ck_assert_int_eq(backend->event_create(backend, 0, &event), CC_OK);
    gate_close(&gate, stream);
    ck_assert_int_eq(backend->event_record(backend, 0, event, stream), CC_OK);
    ck_assert_int_eq(backend->event_is_complete(backend, 0, event, &is_complete), CC_OK);
    ck_assert(!is_complete);
    ck_assert_int_eq(pthread_create(&opener, NULL, open_later, &gate), 0);
    ck_assert_int_eq(backend->synchronize(backend, 0), CC_OK);
    ck_assert_int_eq(backend->event_is_complete(backend, 0, event, &is_complete), CC_OK);
    ck_assert(is_complete);
    ck_assert_int_eq(pthread_join(opener, NULL), 0);
    backend->event_destroy(backend, 0, event);
    backend->stream_destroy(backend, 0, stream);
}
END_TEST

/* What is queued in the legacy stream next comes after the work of blocking streams too. */
START_TEST(legacy_stream_is_idle_when_nothing_comes_before_it)
{
    CUstream blocking = NULL;
    cc_stream own = must_create_stream(0);
    bool is_idle = false;
    stream_gate gate;
    make_current(0);
    ck_assert_int_eq(cc__driver.cuStreamCreate(&blocking, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    const cc_stream busy[] = {CC_STREAM_DEFAULT, blocking, own};
    for (int i = 0; i < 3; ++i) {
        ck_assert_int_eq(backend->synchronize(backend, 0), CC_OK);
        ck_assert_int_eq(backend->stream_is_idle(backend, 0, CC_STREAM_DEFAULT, &is_idle), CC_OK);
        ck_assert(is_idle);
        gate_close(&gate, busy[i]);
        ck_assert_int_eq(backend->stream_is_idle(backend, 0, CC_STREAM_DEFAULT, &is_idle), CC_OK);
        ck_assert_msg(is_idle == (busy[i] == own), "stream %d of 3", i);
        gate_open(&gate);
    }
    ck_assert_int_eq(backend->synchronize(backend, 0), CC_OK);
    ck_assert_int_eq(cc__driver.cuStreamDestroy(blocking), CUDA_SUCCESS);
    backend->stream_destroy(backend, 0, own);
    make_none_current();
}
END_TEST

int main(void)
{
    int status = cuda_test_start();
    if (status != 0)
        return status;

    Suite *suite = suite_create("cuda_streams");
    TCase *memory = tcase_create("memory");
    tcase_add_test(memory, out_of_memory_says_so_and_passes);
    tcase_add_test(memory, freed_memory_is_used_again);
    tcase_add_test(memory, pointers_are_told_apart);
    tcase_add_test(memory, trim_gives_memory_back);
    suite_add_tcase(suite, memory);
    TCase *order = tcase_create("order");
    tcase_add_test(order, pending_free_is_found);
    tcase_add_test(order, the_device_is_waited_for);
    tcase_add_test(order, legacy_stream_is_idle_when_nothing_comes_before_it);
    tcase_add_test(order, own_streams_pass_the_legacy_stream);
    suite_add_tcase(suite, order);
    TCase *capturing = tcase_create("capture");
    tcase_add_loop_test(capturing, captures_are_seen_and_survive, 0, 2);
    suite_add_tcase(suite, capturing);
    return cuda_test_run(suite);
}
