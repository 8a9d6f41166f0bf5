#include "device.h"

#include <stdio.h>
#include <string.h>

const char *device_why_none(bench *b)
{
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess)
        return cudaGetErrorString(error);
    if (count == 0)
        return "none found";
    if (strcmp(cc_device_backend_name(), "cuda") != 0)
        return "the library was told to do without, or cannot use it";
    b->device_count = cc_device_count();
    return b->device_count > 0 ? NULL : "the library sees none";
}

void device_begin(bench *b)
{
    CUDA(cudaSetDevice(b->device));
    CUDA(cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking));
}

/* A failed group may have left a device that only gives errors. */
void device_end(bench *b)
{
    (void)cudaStreamDestroy(b->stream);
}

void device_recover(const bench *b)
{
    (void)cudaGetLastError();
    (void)cudaSetDevice(b->device);
}

void bench_check_cuda(cudaError_t error, const char *call, const char *file, int line)
{
    if (error != cudaSuccess)
        bench_fail("%s:%d: %s: %s", file, line, call, cudaGetErrorString(error));
}

void device_describe(machine *m)
{
    struct cudaDeviceProp properties;
    int count = 0, driver = 0, runtime = 0;
    if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0 &&
        cudaGetDeviceProperties(&properties, 0) == cudaSuccess) {
        machine_set(m->gpu, properties.name);
        m->gpu_memory_bytes = (double)properties.totalGlobalMem;
    }
    m->gpu_count = count;
    (void)cudaDriverGetVersion(&driver);
    (void)cudaRuntimeGetVersion(&runtime);
    snprintf(m->cuda, sizeof m->cuda, "%d.%d, runtime %d.%d", driver / 1000, driver % 1000 / 10, runtime / 1000,
             runtime % 1000 / 10);
    machine_find("/proc/driver/nvidia/version", "Kernel Module", m->driver);
    /* "Open Kernel Module for x86_64  580.10  Release Build ..." and "Kernel Module  580.10  Fri ..." */
    for (char *word = strtok(m->driver, " \t"); word != NULL; word = strtok(NULL, " \t")) {
        if (word[0] >= '0' && word[0] <= '9') {
            memmove(m->driver, word, strlen(word) + 1);
            break;
        }
    }
}
