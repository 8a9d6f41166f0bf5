/*
 * How much memory a device has, and how much of it is free. Where we have a context, the driver says so. Elsewhere it
 * would make one to answer, which takes hundreds of megabytes; there NVML is asked, which came with the driver. Both
 * mean the same: what no process has taken. The total is the driver's in either case, since NVML counts in it what the
 * driver keeps for itself.
 */
#include "backend/cuda_internal.h"
#include "base/error.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* As in nvml.h, which not every toolkit has. */
typedef struct nvml_memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
} nvml_memory;
typedef struct nvml_device nvml_device;

static struct {
    int (*init)(void);
    int (*find_device)(const char *uuid, nvml_device **out_device);
    int (*get_memory)(nvml_device *device, nvml_memory *out_memory);
    bool is_usable;
} nvml;

static const struct {
    const char *name;
    void *function;
} symbols[] = {{"nvmlInit_v2", &nvml.init},
               {"nvmlDeviceGetHandleByUUID", &nvml.find_device},
               {"nvmlDeviceGetMemoryInfo", &nvml.get_memory}};

/* It stays for the rest of the process. */
static void start_nvml(void)
{
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return;
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *address = dlsym(library, symbols[i].name);
        if (address == NULL)
            return;
        /* ISO C has no conversion from an object pointer to a function pointer. */
        memcpy(symbols[i].function, &address, sizeof address);
    }
    nvml.is_usable = nvml.init() == 0;
}

/* A UUID names the same GPU, or the same MIG instance, whatever devices are visible in whatever order. */
static bool find_nvml_device(const CUuuid *uuid, nvml_device **out_device)
{
    static const char *const kinds[] = {"GPU", "MIG"};
    for (size_t kind = 0; kind < 2; kind++) {
        char text[48];
        int length = snprintf(text, sizeof text, "%s", kinds[kind]);
        for (size_t i = 0; i < sizeof uuid->bytes; i++) {
            bool is_first_of_group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
            length += snprintf(text + length, sizeof text - (size_t)length, "%s%02x", is_first_of_group ? "-" : "",
                               (unsigned int)(unsigned char)uuid->bytes[i]);
        }
        if (nvml.find_device(text, out_device) == 0)
            return true;
    }
    return false;
}

static cc_status ask_nvml(const cc__cuda_device *device, size_t *out_free_bytes, size_t *out_total_bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    CUuuid uuid;
    nvml_device *found = NULL;
    nvml_memory memory = {0, 0, 0};
    size_t total_bytes = 0;
    pthread_once(&once, start_nvml);
    if (!nvml.is_usable || cc__driver_more.device_get_uuid == NULL ||
        cc__driver_more.device_get_uuid(&uuid, device->handle) != CUDA_SUCCESS || !find_nvml_device(&uuid, &found) ||
        nvml.get_memory(found, &memory) != 0)
        return cc__fail(CC_ERROR_UNSUPPORTED, "memory_info: device %d has no context yet, and NVML cannot be asked",
                        (int)device->ordinal);
    cc_status status = CC__CU(device->ordinal, cuDeviceTotalMem, &total_bytes, device->handle);
    if (status != CC_OK)
        return status;
    *out_free_bytes = memory.free < total_bytes ? (size_t)memory.free : total_bytes;
    *out_total_bytes = total_bytes;
    return CC_OK;
}

cc_status cc__cuda_memory_info(cc__backend *self, int32_t device, size_t *out_free_bytes, size_t *out_total_bytes)
{
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    cc_status status = cc__cuda_usable();
    if (status != CC_OK)
        return status;
    if (atomic_load(&cc__cuda_device_at(self, device)->context) == NULL)
        return ask_nvml(cc__cuda_device_at(self, device), out_free_bytes, out_total_bytes);
    cc__cuda_guard guard;
    status = cc__cuda_enter(self, device, &guard);
    if (status != CC_OK)
        return status;
    status = CC__CU(device, cuMemGetInfo, &free_bytes, &total_bytes);
    cc__cuda_leave(&guard);
    if (status == CC_OK) {
        *out_free_bytes = free_bytes;
        *out_total_bytes = total_bytes;
    }
    return status;
}
