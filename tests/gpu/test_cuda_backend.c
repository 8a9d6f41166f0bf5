/* The CUDA backend as a guest: what a caller has current or pending stays, also through fork and exit. */
#include "cuda_test.h"

#include "support/dense_work.h"

#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool has_context(int32_t device)
{
    CUdevice handle = 0;
    unsigned int flags = 0;
    int active = -1;
    ck_assert_int_eq(cc__driver.cuDeviceGet(&handle, device), CUDA_SUCCESS);
    ck_assert_int_eq(caller.cuDevicePrimaryCtxGetState(handle, &flags, &active), CUDA_SUCCESS);
    return active != 0;
}

/* As they are without a context. */
static size_t free_bytes[CC__MAX_DEVICES];
static size_t total_bytes[CC__MAX_DEVICES];

/* Comes first: the contexts of a process can't be taken back. */
START_TEST(questions_create_no_context)
{
    CUcontext context = NULL;
    int32_t device = -7;
    int on_host = 0;
    ck_assert_int_eq(backend->current_device(backend, &device), CC_OK);
    ck_assert_int_eq(device, 0);
    ck_assert_int_eq(backend->memory_device(backend, &on_host, &device), CC_ERROR_POINTER);
    ck_assert_int_eq(device, 0);
    backend->has_peer_access(backend, 0, backend->device_count - 1);
    for (int32_t i = 0; i < backend->device_count; i++) {
        const cc_status status = backend->memory_info(backend, i, &free_bytes[i], &total_bytes[i]);
        ck_assert(status == CC_OK || status == CC_ERROR_UNSUPPORTED);
        ck_assert_uint_le(free_bytes[i], total_bytes[i]);
        ck_assert_int_eq(backend->trim(backend, i, 0), CC_OK);
        backend->stream_id(backend, i, CC_STREAM_DEFAULT);
        backend->stream_id(backend, i, CC_STREAM_PER_THREAD);
    }
    backend->range_push(backend, "questions");
    backend->range_pop(backend);
    for (int32_t i = 0; i < backend->device_count; i++)
        ck_assert(!has_context(i));
    ck_assert_int_eq(cc__driver.cuCtxGetCurrent(&context), CUDA_SUCCESS);
    ck_assert_ptr_null(context);
}
END_TEST

static void *use_device(void *argument)
{
    const int32_t device = *(const int32_t *)argument;
    uint32_t sent[256];
    uint32_t received[256];
    cc_stream stream = must_create_stream(device);
    for (uint32_t run = 0; run < 50; run++) {
        for (uint32_t i = 0; i < 256; i++)
            sent[i] = run * 256u + i + (uint32_t)(uintptr_t)&sent;
        void *memory = must_allocate(device, stream, sizeof sent);
        must_copy(device, stream, memory, sent, sizeof sent);
        must_copy(device, stream, received, memory, sizeof sent);
        must_free(device, stream, memory);
        must_synchronize(device, stream);
        ck_assert_mem_eq(sent, received, sizeof sent);
    }
    backend->stream_destroy(backend, device, stream);
    return NULL;
}

/* Comes second, so that the threads also race for the context and the pool. */
START_TEST(threads_share_a_device)
{
    int32_t device = 0;
    pthread_t threads[8];
    for (int32_t i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, use_device, &device), 0);
    for (int32_t i = 0; i < 8; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert(has_context(0));
    for (int32_t i = 1; i < backend->device_count; i++)
        ck_assert(!has_context(i));
}
END_TEST

/* NVML and the driver mean the same: they differ by what the context takes, and by what others do. */
START_TEST(memory_is_the_same_with_a_context)
{
    const size_t slack_bytes = (size_t)4 << 30;
    size_t free_now = 0;
    size_t total_now = 0;
    void *memory = must_allocate(0, CC_STREAM_DEFAULT, PAGES_BYTES);
    ck_assert_int_eq(backend->memory_info(backend, 0, &free_now, &total_now), CC_OK);
    must_free(0, CC_STREAM_DEFAULT, memory);
    ck_assert_uint_le(free_now, total_now);
    ck_assert_uint_gt(free_now, 0);
    if (total_bytes[0] == 0)
        return; /* could not be asked */
    ck_assert_uint_eq(total_now, total_bytes[0]);
    ck_assert_uint_le(free_now, free_bytes[0] + slack_bytes);
    ck_assert_uint_le(free_bytes[0], free_now + slack_bytes);
}
END_TEST

/* What the caller had before, and must have after each call. */
static CUcontext callers_context;
static cudaError_t callers_error;

static void look_at_guest(int line)
{
    CUcontext context = NULL;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    ck_assert_int_eq(cc__driver.cuCtxGetCurrent(&context), CUDA_SUCCESS);
    ck_assert_msg(context == callers_context, "line %d: another context", line);
    ck_assert_int_eq(cc__driver.cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    ck_assert_msg(mode == CU_STREAM_CAPTURE_MODE_GLOBAL, "line %d: another capture mode", line);
    ck_assert_int_eq(cc__driver.cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    ck_assert_msg(cudaPeekAtLastError() == callers_error, "line %d: another pending error", line);
}

#define GUEST(expected, call)                                                                                          \
    do {                                                                                                               \
        const cc_status guest_status_ = (call);                                                                        \
        ck_assert_msg(guest_status_ == (expected), "%s: %s (%s)", #call, cc_status_name(guest_status_),                \
                      cc_last_error_message());                                                                        \
        look_at_guest(__LINE__);                                                                                       \
    } while (0)

/* Every operation, and each way in which one can fail without harm. */
static void use_everything(int32_t device)
{
    cc_stream stream = NULL;
    cc__event *event = NULL;
    void *memory = NULL;
    void *pages = allocate_pages();
    int32_t found = -1;
    bool flag = false;
    float value = 42.3f;
    size_t known_bytes = 0;

    GUEST(CC_OK, backend->stream_create(backend, device, &stream));
    GUEST(CC_OK, backend->stream_is_capturing(backend, device, stream, &flag));
    ck_assert(!flag);
    GUEST(CC_OK, backend->allocate(backend, device, stream, PAGES_BYTES, &memory));
    GUEST(CC_OK, backend->memory_device(backend, memory, &found));
    ck_assert_int_eq(found, device);
    GUEST(CC_OK, backend->host_register(backend, pages, PAGES_BYTES));
    GUEST(CC_ERROR_DEVICE, backend->host_register(backend, pages, PAGES_BYTES));
    GUEST(CC_ERROR_POINTER, backend->memory_device(backend, pages, &found));
    GUEST(CC_ERROR_POINTER, backend->memory_device(backend, &value, &found));
    GUEST(CC_ERROR_POINTER, backend->memory_device(backend, NULL, &found));

    cc__copy copy = dense_copy(memory, pages, (int64_t)PAGES_BYTES);
    cc__fill fill = {.destination = {memory, {4, 65536, 65536, 65536}}, .size = {16384, 1, 1, 1}, .pixel_bytes = 4};
    memcpy(fill.value, &value, sizeof value);
    GUEST(CC_OK, backend->copy(backend, device, stream, &copy));
    cc__fill fill_by_kernel = {.destination = {memory, {3, 65536, 65536, 65536}},
                               .size = {21845, 1, 1, 1},
                               .pixel_bytes = 3,
                               .value = {1, 2, 3}};
    cc__rescale rescale = {.destination = {memory, {4, 65536, 65536, 65536}},
                           .source = {memory, {4, 65536, 65536, 65536}},
                           .size = {16384, 1, 1, 1},
                           .components = 1,
                           .destination_type = CC_PIXEL_FLOAT32,
                           .source_type = CC_PIXEL_FLOAT32,
                           .scale = 2.0};
    GUEST(CC_OK, backend->fill(backend, device, stream, &fill_by_kernel));
    GUEST(CC_OK, backend->fill(backend, device, stream, &fill));
    GUEST(CC_OK, backend->stream_synchronize(backend, device, stream));
    GUEST(CC_OK, queue_kernel(backend, device, stream, &cc__rescale_kernel, &rescale));
    copy = dense_copy(pages, memory, (int64_t)PAGES_BYTES);
    GUEST(CC_OK, backend->copy(backend, device, stream, &copy));
    GUEST(CC_OK, backend->copy_boxes(backend, device, stream, &copy, 1));
    cc__copy strided = {.destination = {memory, {8, 65536, 65536, 65536}},
                        .source = {(unsigned char *)memory + 4, {8, 65536, 65536, 65536}},
                        .size = {1, 1, 1, 1},
                        .pixel_bytes = 4};
    strided.size[0] = 64; /* each value to where the same one is */
    GUEST(CC_OK, backend->copy(backend, device, stream, &strided));
    GUEST(CC_OK, backend->memory_info(backend, device, &known_bytes, &known_bytes));
    GUEST(CC_OK, backend->trim(backend, device, 0));
    backend->stream_id(backend, device, stream);
    look_at_guest(__LINE__);
    backend->stream_id(backend, device, CC_STREAM_PER_THREAD);
    look_at_guest(__LINE__);
    backend->range_push(backend, "everything");
    backend->range_pop(backend);
    look_at_guest(__LINE__);
    GUEST(CC_OK, backend->event_create(backend, device, &event));
    GUEST(CC_OK, backend->event_record(backend, device, event, CC_STREAM_DEFAULT));
    GUEST(CC_OK, backend->event_record(backend, device, event, CC_STREAM_PER_THREAD));
    GUEST(CC_OK, backend->stream_is_capturing(backend, device, CC_STREAM_PER_THREAD, &flag));
    GUEST(CC_OK, backend->event_record(backend, device, event, stream));
    GUEST(CC_OK, backend->stream_wait(backend, device, CC_STREAM_PER_THREAD, event));
    GUEST(CC_OK, backend->stream_wait(backend, device, CC_STREAM_DEFAULT, event));
    GUEST(CC_OK, backend->event_synchronize(backend, device, event));
    GUEST(CC_OK, backend->event_is_complete(backend, device, event, &flag));
    ck_assert(flag);
    GUEST(CC_OK, backend->stream_synchronize(backend, device, stream));
    GUEST(CC_OK, backend->stream_synchronize(backend, device, CC_STREAM_DEFAULT));
    GUEST(CC_OK, backend->stream_synchronize(backend, device, CC_STREAM_PER_THREAD));
    for (size_t i = 0; i < PAGES_BYTES / sizeof value; i++)
        ck_assert(((float *)pages)[i] == 2 * value);

    void *untouched = &value;
    GUEST(CC_ERROR_OUT_OF_DEVICE_MEMORY, backend->allocate(backend, device, stream, PETABYTE, &untouched));
    ck_assert_ptr_eq(untouched, &value);
    GUEST(CC_OK, backend->host_unregister(backend, pages));
    GUEST(CC_ERROR_DEVICE, backend->host_unregister(backend, pages));
    GUEST(CC_OK, backend->free(backend, device, stream, memory));
    backend->event_destroy(backend, device, event);
    look_at_guest(__LINE__);
    backend->stream_synchronize(backend, device, stream);
    backend->stream_destroy(backend, device, stream);
    look_at_guest(__LINE__);
    free(pages);
}

START_TEST(nothing_current_stays_so)
{
    callers_context = NULL;
    callers_error = cudaPeekAtLastError();
    make_none_current();
    for (int32_t device = 0; device < backend->device_count; device++)
        use_everything(device);
}
END_TEST

static void *use_without_device(void *argument)
{
    int found = -1;
    callers_context = NULL;
    callers_error = cudaSuccess;
    for (int32_t device = backend->device_count - 1; device >= 0; device--)
        use_everything(device);
    ck_assert_int_eq(cudaGetDevice(&found), cudaSuccess);
    ck_assert_int_eq(found, 0);
    return argument;
}

/* To the runtime, which the kernels share with the caller when the library is static, nothing has happened. */
START_TEST(new_thread_stays_on_the_first_device)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, use_without_device, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

START_TEST(current_context_stays)
{
    for (int32_t current = 0; current < backend->device_count; current++) {
        callers_error = cudaPeekAtLastError();
        callers_context = make_current(current);
        int32_t found = -1;
        GUEST(CC_OK, backend->current_device(backend, &found));
        ck_assert_int_eq(found, current);
        for (int32_t device = 0; device < backend->device_count; device++)
            use_everything(device);
    }
    make_none_current();
}
END_TEST

START_TEST(pending_error_and_runtime_device_stay)
{
    int found = -1;
    const int current = backend->device_count - 1;
    ck_assert_int_eq(cudaSetDevice(current), cudaSuccess);
    ck_assert_int_eq(cc__driver.cuCtxGetCurrent(&callers_context), CUDA_SUCCESS);
    callers_error = cudaSetDevice(9999);
    ck_assert_int_eq(callers_error, cudaErrorInvalidDevice);
    for (int32_t device = 0; device < backend->device_count; device++)
        use_everything(device);
    ck_assert_int_eq(cudaGetLastError(), cudaErrorInvalidDevice);
    ck_assert_int_eq(cudaGetDevice(&found), cudaSuccess);
    ck_assert_int_eq(found, current);
    ck_assert_int_eq(backend->current_device(backend, &found), CC_OK);
    ck_assert_int_eq(found, current);
    make_none_current();
}
END_TEST

static cc_stream late_stream;
static cc__event *late_event;
static void *late_memory;
static void *late_pages;

/* 0 when a child, or what runs after the library's own end, gets what it should. */
static int use_when_over(cc_status expected)
{
    void *memory = NULL;
    int32_t device = 0;
    bool flag = false;
    cc__event *event = NULL;
    size_t known_bytes = 0;
    cc__copy work = dense_copy(late_memory, late_pages, 16);
    if (backend->allocate(backend, 0, late_stream, 16, &memory) != expected ||
        backend->current_device(backend, &device) != expected ||
        backend->memory_device(backend, late_memory, &device) != expected ||
        backend->stream_create(backend, 0, &late_stream) != expected ||
        backend->stream_is_capturing(backend, 0, late_stream, &flag) != expected ||
        backend->stream_synchronize(backend, 0, late_stream) != expected ||
        backend->event_record(backend, 0, late_event, late_stream) != expected ||
        backend->event_is_complete(backend, 0, late_event, &flag) != expected ||
        backend->event_synchronize(backend, 0, late_event) != expected ||
        backend->stream_wait(backend, 0, late_stream, late_event) != expected ||
        backend->host_register(backend, late_pages, PAGES_BYTES) != expected ||
        backend->copy(backend, 0, late_stream, &work) != expected ||
        backend->copy_boxes(backend, 0, late_stream, &work, 1) != expected ||
        backend->copy_boxes(backend, 0, late_stream, &work, 0) != expected ||
        backend->event_create(backend, 0, &event) != expected || backend->trim(backend, 0, 0) != expected ||
        backend->memory_info(backend, 0, &known_bytes, &known_bytes) != expected ||
        backend->stream_id(backend, 0, late_stream) != 0)
        return 1;
    if (backend->free(backend, 0, late_stream, late_memory) != CC_OK ||
        backend->host_unregister(backend, late_pages) != CC_OK)
        return 2;
    backend->event_destroy(backend, 0, late_event);
    backend->stream_destroy(backend, 0, late_stream);
    return 0;
}

static void prepare_late_use(void)
{
    if (backend->stream_create(backend, 0, &late_stream) != CC_OK ||
        backend->event_create(backend, 0, &late_event) != CC_OK ||
        backend->allocate(backend, 0, late_stream, 16, &late_memory) != CC_OK ||
        posix_memalign(&late_pages, 4096, PAGES_BYTES) != 0 ||
        backend->host_register(backend, late_pages, PAGES_BYTES) != CC_OK)
        _exit(4);
}

START_TEST(child_is_told)
{
    prepare_late_use();
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(use_when_over(CC_ERROR_FORKED));
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    must_free(0, late_stream, late_memory);
    ck_assert_int_eq(backend->host_unregister(backend, late_pages), CC_OK);
    backend->event_destroy(backend, 0, late_event);
    must_synchronize(0, late_stream);
    backend->stream_destroy(backend, 0, late_stream);
    free(late_pages);
}
END_TEST

static void use_late(void)
{
    int failed = use_when_over(CC_ERROR_DEVICE);
    if (failed != 0)
        _exit(failed);
}

/* This program, started again as `test_cuda_backend exit`: an image outlives everything. */
static int exit_with_memory(void)
{
    /* Before the backend's own, and so run after it. */
    if (atexit(use_late) != 0 || cuda_test_start() != 0)
        return 5;
    prepare_late_use();
    return 0;
}

START_TEST(exit_is_quiet)
{
    extern char **environ;
    char path[] = "/tmp/cc-exit-XXXXXX";
    char *arguments[] = {"test_cuda_backend", "exit", NULL};
    int output = mkstemp(path);
    pid_t child = 0;
    int status = -1;
    struct stat written;
    posix_spawn_file_actions_t actions;
    ck_assert_int_ge(output, 0);
    ck_assert_int_eq(posix_spawn_file_actions_init(&actions), 0);
    ck_assert_int_eq(posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO), 0);
    ck_assert_int_eq(posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO), 0);
    ck_assert_int_eq(posix_spawn(&child, "/proc/self/exe", &actions, NULL, arguments, environ), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(fstat(output, &written), 0);
    ck_assert_int_eq(written.st_size, 0);
    posix_spawn_file_actions_destroy(&actions);
    close(output);
    unlink(path);
}
END_TEST

int main(int argument_count, char **arguments)
{
    if (argument_count == 2 && strcmp(arguments[1], "exit") == 0)
        return exit_with_memory();
    int status = cuda_test_start();
    if (status != 0)
        return status;

    Suite *suite = suite_create("cuda_backend");
    TCase *guest = tcase_create("guest");
    tcase_add_test(guest, questions_create_no_context);
    tcase_add_test(guest, threads_share_a_device);
    tcase_add_test(guest, memory_is_the_same_with_a_context);
    tcase_add_test(guest, nothing_current_stays_so);
    tcase_add_test(guest, current_context_stays);
    suite_add_tcase(suite, guest);
    TCase *runtime = tcase_create("runtime");
    tcase_add_test(runtime, new_thread_stays_on_the_first_device);
    tcase_add_test(runtime, pending_error_and_runtime_device_stay);
    suite_add_tcase(suite, runtime);
    TCase *process = tcase_create("process");
    tcase_add_test(process, child_is_told);
    tcase_add_test(process, exit_is_quiet);
    suite_add_tcase(suite, process);
    return cuda_test_run(suite);
}
