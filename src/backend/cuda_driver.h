/* The driver's functions, found at run time so that the library loads without a driver, and what its errors mean. */
#ifndef CC_BACKEND_CUDA_DRIVER_H
#define CC_BACKEND_CUDA_DRIVER_H

#include <cuda.h>
#include <cudacommon/status.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define CC__DRIVER_FUNCTIONS(X)                                                                                        \
    X(cuInit)                                                                                                          \
    X(cuDriverGetVersion)                                                                                              \
    X(cuGetErrorString)                                                                                                \
    X(cuDeviceGetCount)                                                                                                \
    X(cuDeviceGet)                                                                                                     \
    X(cuDeviceGetAttribute)                                                                                            \
    X(cuDeviceTotalMem)                                                                                                \
    X(cuDeviceCanAccessPeer)                                                                                           \
    X(cuDevicePrimaryCtxRetain)                                                                                        \
    X(cuDevicePrimaryCtxGetState)                                                                                      \
    X(cuCtxPushCurrent)                                                                                                \
    X(cuCtxPopCurrent)                                                                                                 \
    X(cuCtxGetCurrent)                                                                                                 \
    X(cuCtxGetDevice)                                                                                                  \
    X(cuCtxEnablePeerAccess)                                                                                           \
    X(cuCtxSynchronize)                                                                                                \
    X(cuThreadExchangeStreamCaptureMode)                                                                               \
    X(cuMemPoolCreate)                                                                                                 \
    X(cuMemPoolDestroy)                                                                                                \
    X(cuMemPoolSetAttribute)                                                                                           \
    X(cuMemPoolSetAccess)                                                                                              \
    X(cuMemPoolTrimTo)                                                                                                 \
    X(cuMemAllocFromPoolAsync)                                                                                         \
    X(cuMemFreeAsync)                                                                                                  \
    X(cuMemGetInfo)                                                                                                    \
    X(cuMemAlloc)                                                                                                      \
    X(cuMemFree)                                                                                                       \
    X(cuMemHostRegister)                                                                                               \
    X(cuMemHostUnregister)                                                                                             \
    X(cuPointerGetAttributes)                                                                                          \
    X(cuMemcpyAsync)                                                                                                   \
    X(cuMemcpyPeerAsync)                                                                                               \
    X(cuMemcpy3DAsync)                                                                                                 \
    X(cuMemcpy3DPeerAsync)                                                                                             \
    X(cuMemsetD8Async)                                                                                                 \
    X(cuMemsetD16Async)                                                                                                \
    X(cuMemsetD32Async)                                                                                                \
    X(cuStreamCreate)                                                                                                  \
    X(cuStreamDestroy)                                                                                                 \
    X(cuStreamSynchronize)                                                                                             \
    X(cuStreamIsCapturing)                                                                                             \
    X(cuStreamQuery)                                                                                                   \
    X(cuStreamWaitEvent)                                                                                               \
    X(cuEventCreate)                                                                                                   \
    X(cuEventDestroy)                                                                                                  \
    X(cuEventRecord)                                                                                                   \
    X(cuEventQuery)                                                                                                    \
    X(cuEventSynchronize)                                                                                              \
    X(cuModuleLoadData)                                                                                                \
    X(cuModuleUnload)                                                                                                  \
    X(cuModuleGetFunction)                                                                                             \
    X(cuLaunchKernel)                                                                                                  \
    X(cuArray3DCreate)                                                                                                 \
    X(cuArrayDestroy)                                                                                                  \
    X(cuTexObjectCreate)                                                                                               \
    X(cuTexObjectDestroy)

/*
 * cuda.h maps a plain name to the revision that its declaration belongs to (cuMemAlloc to cuMemAlloc_v2). Member names
 * and symbols go through the same mapping, so that name, type and symbol always agree, whatever the toolkit.
 */
#define CC__DRIVER_MEMBER(name) __typeof__(name) *(name);
typedef struct cc__driver_table {
    CC__DRIVER_FUNCTIONS(CC__DRIVER_MEMBER)
} cc__driver_table;

/* What only newer drivers have, NULL in the others; older toolkits do not declare it. */
typedef struct cc__driver_extras {
    CUresult (*stream_get_id)(CUstream stream, unsigned long long *out_id);
    CUresult (*device_get_uuid)(CUuuid *out_uuid, CUdevice device); /* under MIG that of the instance */
} cc__driver_extras;

/* Filled once, by cc__driver_load(). */
extern cc__driver_table cc__driver;
extern cc__driver_extras cc__driver_more;

/* False without a driver that has all of the functions. Prints nothing and initialises nothing. */
bool cc__driver_load(void);

/* What the driver says of a result. */
const char *cc__driver_words(CUresult result);

/* CC_OK, or what the result means to a caller, with the message set. device: -1 when the call concerns none. */
cc_status cc__driver_status(CUresult result, const char *function, int32_t device);

/* Whether a context that gave this result gives it from now on, whatever it is asked for. */
bool cc__driver_is_final(CUresult result);
/* How many such results cc__driver_status() has seen. */
extern _Atomic uint32_t cc__driver_final_errors;

/* The same for what frees: CC_OK also when the driver or the context has gone, and all that was in it. */
cc_status cc__driver_free_status(CUresult result, const char *function, int32_t device);

/* Calls a function of the driver: CC__CU(device, cuEventRecord, event, stream). */
#define CC__CU(device, function, ...) cc__driver_status(cc__driver.function(__VA_ARGS__), #function, device)

#endif
