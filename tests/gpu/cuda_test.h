/* What tests of the CUDA backend share: the driver, seen as the library's caller sees it, and when they are skipped. */
#ifndef CC_TESTS_CUDA_TEST_H
#define CC_TESTS_CUDA_TEST_H

#include "backend/backend.h"
#include "backend/cuda_driver.h"

#include <check.h>
#include <semaphore.h>

/* What the backend has no need of; the rest is in cc__driver. */
#define CALLER_FUNCTIONS(X)                                                                                            \
    X(cuDevicePrimaryCtxGetState)                                                                                      \
    X(cuCtxSetCurrent)                                                                                                 \
    X(cuMemGetInfo)                                                                                                    \
    X(cuMemHostAlloc)                                                                                                  \
    X(cuMemFreeHost)                                                                                                   \
    X(cuMemAllocManaged)                                                                                               \
    X(cuStreamBeginCapture)                                                                                            \
    X(cuStreamEndCapture)                                                                                              \
    X(cuGraphDestroy)                                                                                                  \
    X(cuLaunchHostFunc)

#define CALLER_MEMBER(name) __typeof__(name) *(name);
typedef struct caller_table {
    CALLER_FUNCTIONS(CALLER_MEMBER)
} caller_table;

extern caller_table caller;
extern cc__backend *backend;

/* Finds the backend and the driver. 0; or what the program exits with when there is no GPU to test. */
int cuda_test_start(void);

/* Runs the suite in this process, as CUDA needs it. What the program exits with. */
int cuda_test_run(Suite *suite);

/* Makes the device's own context current, or none, as a caller would. */
CUcontext make_current(int32_t device);
void make_none_current(void);

/* Library calls that must succeed. */
void *must_allocate(int32_t device, cc_stream stream, size_t size_bytes);
void must_free(int32_t device, cc_stream stream, void *memory);
cc_stream must_create_stream(int32_t device);
void must_synchronize(int32_t device, cc_stream stream);
void must_copy(int32_t device, cc_stream stream, void *destination, const void *source, size_t size_bytes);

void *pointer_to(CUdeviceptr memory);

/* Whole pages of the host's, zero; free() takes them back. */
#define PAGES_BYTES ((size_t)1 << 16)
void *allocate_pages(void);

/* More than any device has. */
#define PETABYTE ((size_t)1 << 50)

/* Holds a stream up until the gate is opened. A gate stays where it is until the stream has passed. */
typedef struct stream_gate {
    sem_t opened;
} stream_gate;
void gate_close(stream_gate *gate, cc_stream stream);
void gate_open(stream_gate *gate);

#endif
