#include "backend/cuda_internal.h"

#include "base/error.h"

#include <stdint.h>
#include <string.h>

_Static_assert(sizeof(CUdeviceptr) == sizeof(void *), "device pointers are pointers");

/*
 * The pool keeps what is freed. It hands memory on to a stream that is ordered after the free, or once the free has
 * happened; it never makes one stream wait for another, since that would tie callers to each other. The price is that
 * memory whose free is still to come counts as used. So `drain` waits for each free, and before giving up, an
 * allocation waits for `drain`. Waiting for the whole device instead would break captures that are none of our
 * business.
 */
static CUresult make_pool(cc__cuda_device *device, const char **out_function)
{
    CUmemPoolProps properties = {0};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = device->ordinal;
    cuuint64_t keep_all = UINT64_MAX;
    int no = 0;

    CUmemoryPool pool = NULL;
    CUevent freed = NULL;
    CUstream drain = NULL;
    *out_function = "cuMemPoolCreate";
    CUresult result = cc__driver.cuMemPoolCreate(&pool, &properties);
    if (result != CUDA_SUCCESS)
        return result;
    *out_function = "cuMemPoolSetAttribute";
    result = cc__driver.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep_all);
    if (result == CUDA_SUCCESS)
        result = cc__driver.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES, &no);
    if (result != CUDA_SUCCESS)
        goto destroy_pool;
    *out_function = "cuEventCreate";
    result = cc__driver.cuEventCreate(&freed, CU_EVENT_DISABLE_TIMING);
    if (result != CUDA_SUCCESS)
        goto destroy_pool;
    *out_function = "cuStreamCreate";
    result = cc__driver.cuStreamCreate(&drain, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS)
        goto destroy_event;
    device->freed = freed;
    device->drain = drain;
    atomic_store(&device->pool, pool);
    return CUDA_SUCCESS;

destroy_event:
    cc__driver.cuEventDestroy(freed);
destroy_pool:
    cc__driver.cuMemPoolDestroy(pool);
    return result;
}

static CUresult get_pool(cc__cuda_device *device, CUmemoryPool *out_pool, const char **out_function)
{
    CUresult result = CUDA_SUCCESS;
    if (atomic_load(&device->pool) == NULL) {
        pthread_mutex_lock(&device->lock);
        if (atomic_load(&device->pool) == NULL)
            result = make_pool(device, out_function);
        pthread_mutex_unlock(&device->lock);
    }
    *out_pool = atomic_load(&device->pool);
    return result;
}

static CUresult allocate_from_pool(cc__cuda_device *device, CUstream stream, size_t size_bytes, CUdeviceptr *out_memory,
                                   const char **out_function)
{
    CUmemoryPool pool = NULL;
    CUresult result = get_pool(device, &pool, out_function);
    if (result != CUDA_SUCCESS)
        return result;
    *out_function = "cuMemAllocFromPoolAsync";
    result = cc__driver.cuMemAllocFromPoolAsync(out_memory, size_bytes, pool, stream);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        /* An error that shows while waiting belongs to the work that failed; the second attempt will meet it too. */
        cc__driver.cuStreamSynchronize(device->drain);
        cc__driver.cuMemPoolTrimTo(pool, 0);
        result = cc__driver.cuMemAllocFromPoolAsync(out_memory, size_bytes, pool, stream);
    }
    return result;
}

cc_status cc__cuda_allocate(cc__backend *self, int32_t device, cc_stream stream, size_t size_bytes, void **out_memory)
{
    cc__cuda_guard guard;
    cc_status status = cc__cuda_enter(self, device, &guard);
    if (status != CC_OK)
        return status;
    CUdeviceptr memory = 0;
    const char *function = "cuMemAlloc";
    CUresult result = guard.device->has_pools ? allocate_from_pool(guard.device, stream, size_bytes, &memory, &function)
                                              : cc__driver.cuMemAlloc(&memory, size_bytes);
    cc__cuda_leave(&guard);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return cc__fail_native(CC_ERROR_OUT_OF_DEVICE_MEMORY, (int32_t)result,
                               "%s: out of memory (%d), device %d, size_bytes = %zu", function, (int)result,
                               (int)device, size_bytes);
    status = cc__driver_status(result, function, device);
    if (status == CC_OK)
        memcpy(out_memory, &memory, sizeof memory);
    return status;
}

static void let_drain_wait(cc__cuda_device *device, CUstream stream)
{
    pthread_mutex_lock(&device->lock);
    if (cc__driver.cuEventRecord(device->freed, stream) == CUDA_SUCCESS)
        cc__driver.cuStreamWaitEvent(device->drain, device->freed, 0);
    pthread_mutex_unlock(&device->lock);
}

static CUresult free_in_stream(cc__cuda_device *device, CUstream stream, CUdeviceptr memory, const char **out_function)
{
    CUresult result = CUDA_SUCCESS;
    if (device->has_pools) {
        *out_function = "cuMemFreeAsync";
        result = cc__driver.cuMemFreeAsync(memory, stream);
        if (result == CUDA_SUCCESS)
            let_drain_wait(device, stream);
        return result;
    }
    *out_function = "cuStreamSynchronize";
    result = cc__driver.cuStreamSynchronize(stream);
    if (result != CUDA_SUCCESS)
        return result;
    *out_function = "cuMemFree";
    return cc__driver.cuMemFree(memory);
}

cc_status cc__cuda_free(cc__backend *self, int32_t device, cc_stream stream, void *memory)
{
    if (cc__cuda_is_over())
        return CC_OK;
    cc__cuda_guard guard;
    const char *function = "cuCtxPushCurrent";
    CUresult result = cc__cuda_enter_to_free(self, device, &guard);
    if (result == CUDA_SUCCESS) {
        result = free_in_stream(guard.device, stream, (CUdeviceptr)(uintptr_t)memory, &function);
        cc__cuda_leave(&guard);
    }
    return cc__driver_free_status(result, function, device);
}

/* What is in use, or whose free is still to come, stays; so nothing waits. Without a pool nothing is kept. */
cc_status cc__cuda_trim(cc__backend *self, int32_t device, size_t keep_bytes)
{
    cc_status status = cc__cuda_usable();
    if (status != CC_OK)
        return status;
    CUmemoryPool pool = atomic_load(&cc__cuda_device_at(self, device)->pool);
    if (pool == NULL)
        return CC_OK;
    cc__cuda_guard guard;
    status = cc__cuda_enter(self, device, &guard);
    if (status != CC_OK)
        return status;
    status = CC__CU(device, cuMemPoolTrimTo, pool, keep_bytes);
    cc__cuda_leave(&guard);
    return status;
}

cc_status cc__cuda_host_register(cc__backend *self, void *memory, size_t size_bytes)
{
    int32_t device = 0;
    cc_status status = cc__cuda_any_device(self, &device);
    if (status != CC_OK)
        return status;
    cc__cuda_guard guard;
    status = cc__cuda_enter(self, device, &guard);
    if (status != CC_OK)
        return status;
    status =
        CC__CU(-1, cuMemHostRegister, memory, size_bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
    cc__cuda_leave(&guard);
    return status;
}

cc_status cc__cuda_host_unregister(cc__backend *self, void *memory)
{
    if (cc__cuda_is_over())
        return CC_OK;
    int32_t device = 0;
    cc_status status = cc__cuda_any_device(self, &device);
    if (status != CC_OK)
        return status;
    cc__cuda_guard guard;
    const char *function = "cuCtxPushCurrent";
    CUresult result = cc__cuda_enter_to_free(self, device, &guard);
    if (result == CUDA_SUCCESS) {
        function = "cuMemHostUnregister";
        result = cc__driver.cuMemHostUnregister(memory);
        cc__cuda_leave(&guard);
    }
    return cc__driver_free_status(result, function, -1);
}

CUresult cc__cuda_find_memory(const void *memory, cc__cuda_memory *out_memory)
{
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_CONTEXT};
    unsigned int type = 0;
    unsigned int managed = 0;
    int device = -1;
    CUcontext context = NULL;
    void *values[] = {&type, &managed, &device, &context};
    CUresult result = cc__driver.cuPointerGetAttributes(4, attributes, values, (CUdeviceptr)(uintptr_t)memory);
    /* Also the answers to a pointer that CUDA does not know. */
    if (result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_INVALID_CONTEXT) {
        *out_memory = (cc__cuda_memory){CC__CUDA_MEMORY_PAGEABLE, -1, NULL};
        return CUDA_SUCCESS;
    }
    if (result != CUDA_SUCCESS)
        return result;
    cc__cuda_memory found = {CC__CUDA_MEMORY_PAGEABLE, device, context};
    if (managed != 0)
        found.kind = CC__CUDA_MEMORY_MANAGED;
    else if (type == CU_MEMORYTYPE_DEVICE)
        found.kind = CC__CUDA_MEMORY_DEVICE;
    else if (type == CU_MEMORYTYPE_HOST)
        found.kind = CC__CUDA_MEMORY_PAGE_LOCKED;
    *out_memory = found;
    return CUDA_SUCCESS;
}

bool cc__cuda_host_is_locked(cc__backend *self, const void *memory, size_t size_bytes)
{
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    unsigned int type = 0;
    unsigned int managed = 0;
    CUdeviceptr first = 0;
    size_t range_bytes = 0;
    void *values[] = {&type, &managed, &first, &range_bytes};
    cc__error_state before;
    (void)self;
    cc__error_save(&before);
    const bool is_usable = cc__cuda_usable() == CC_OK;
    cc__error_restore(&before);
    /* A pointer that CUDA does not know is an error, or has no type. */
    if (!is_usable ||
        cc__driver.cuPointerGetAttributes(4, attributes, values, (CUdeviceptr)(uintptr_t)memory) != CUDA_SUCCESS)
        return false;
    const uintptr_t offset = (uintptr_t)memory - (uintptr_t)first;
    return type == CU_MEMORYTYPE_HOST && managed == 0 && offset <= range_bytes && size_bytes <= range_bytes - offset;
}

cc_status cc__cuda_memory_device(cc__backend *self, const void *memory, int32_t *out_device)
{
    cc_status status = cc__cuda_usable();
    if (status != CC_OK)
        return status;
    cc__cuda_memory found;
    status = cc__driver_status(cc__cuda_find_memory(memory, &found), "cuPointerGetAttributes", -1);
    if (status != CC_OK)
        return status;
    switch (found.kind) {
    case CC__CUDA_MEMORY_PAGEABLE:
        return cc__fail(CC_ERROR_POINTER, "memory = %p is not known to CUDA, expected device memory", memory);
    case CC__CUDA_MEMORY_PAGE_LOCKED:
        return cc__fail(CC_ERROR_POINTER, "memory = %p is page-locked host memory, expected device memory", memory);
    case CC__CUDA_MEMORY_MANAGED:
    case CC__CUDA_MEMORY_DEVICE:
        break;
    }
    if (found.device < 0 || found.device >= self->device_count)
        return cc__fail(CC_ERROR_POINTER, "memory = %p belongs to device %d, expected 0 to %d", memory,
                        (int)found.device, (int)self->device_count - 1);
    *out_device = found.device;
    return CC_OK;
}
