#include "cuda_test.h"

#include "support/dense_work.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIPPED 77

#define SYMBOL_TEXT(name) #name
#define SYMBOL(name) {SYMBOL_TEXT(name), offsetof(caller_table, name)},

caller_table caller;
cc__backend *backend;

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {CALLER_FUNCTIONS(SYMBOL)};

int cuda_test_start(void)
{
    backend = cc__backend_cuda();
    if (backend == NULL || backend->device_count == 0) {
        const bool required = getenv("CC_TEST_REQUIRE_GPU") != NULL;
        printf("%s: no GPU here\n", required ? "failed" : "skipped");
        return required ? EXIT_FAILURE : SKIPPED;
    }
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *address = dlsym(library, symbols[i].name);
        if (address == NULL)
            return EXIT_FAILURE;
        memcpy((unsigned char *)&caller + symbols[i].offset, &address, sizeof address);
    }
    return 0;
}

int cuda_test_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

CUcontext make_current(int32_t device)
{
    CUdevice handle = 0;
    CUcontext context = NULL;
    ck_assert_int_eq(cc__driver.cuDeviceGet(&handle, device), CUDA_SUCCESS);
    ck_assert_int_eq(cc__driver.cuDevicePrimaryCtxRetain(&context, handle), CUDA_SUCCESS);
    ck_assert_int_eq(caller.cuCtxSetCurrent(context), CUDA_SUCCESS);
    return context;
}

void make_none_current(void)
{
    ck_assert_int_eq(caller.cuCtxSetCurrent(NULL), CUDA_SUCCESS);
}

void *must_allocate(int32_t device, cc_stream stream, size_t size_bytes)
{
    void *memory = NULL;
    ck_assert_msg(backend->allocate(backend, device, stream, size_bytes, &memory) == CC_OK, "%s",
                  cc_last_error_message());
    ck_assert_ptr_nonnull(memory);
    return memory;
}

void must_free(int32_t device, cc_stream stream, void *memory)
{
    ck_assert_msg(backend->free(backend, device, stream, memory) == CC_OK, "%s", cc_last_error_message());
}

cc_stream must_create_stream(int32_t device)
{
    cc_stream stream = NULL;
    ck_assert_msg(backend->stream_create(backend, device, &stream) == CC_OK, "%s", cc_last_error_message());
    return stream;
}

void must_synchronize(int32_t device, cc_stream stream)
{
    ck_assert_msg(backend->stream_synchronize(backend, device, stream) == CC_OK, "%s", cc_last_error_message());
}

void must_copy(int32_t device, cc_stream stream, void *destination, const void *source, size_t size_bytes)
{
    cc__copy work = dense_copy(destination, source, (int64_t)size_bytes);
    ck_assert_msg(backend->copy(backend, device, stream, &work) == CC_OK, "%s", cc_last_error_message());
}

void *pointer_to(CUdeviceptr memory)
{
    void *pointer = NULL;
    memcpy(&pointer, &memory, sizeof pointer);
    return pointer;
}

void *allocate_pages(void)
{
    void *pages = NULL;
    ck_assert_int_eq(posix_memalign(&pages, 4096, PAGES_BYTES), 0);
    memset(pages, 0, PAGES_BYTES);
    return pages;
}

static void CUDA_CB wait_at_gate(void *argument)
{
    stream_gate *gate = argument;
    while (sem_wait(&gate->opened) != 0)
        continue;
}

void gate_close(stream_gate *gate, cc_stream stream)
{
    ck_assert_int_eq(sem_init(&gate->opened, 0, 0), 0);
    ck_assert_int_eq(caller.cuLaunchHostFunc(stream, wait_at_gate, gate), CUDA_SUCCESS);
}

void gate_open(stream_gate *gate)
{
    ck_assert_int_eq(sem_post(&gate->opened), 0);
}
