#include "memory/place_memory.h"

#include "memory/budget.h"

#include <string.h>

/* What is asked of a caller's device allocator: CUDA promises as much. */
#define DEVICE_ALIGNMENT 256

cc_status cc__host_memory_allocate(const cc__layout *layout, cc__allocator *allocator, cc__place_memory *out_memory)
{
    const size_t size_bytes = (size_t)layout->extent_bytes;
    cc__host_memory *host = NULL;
    cc__allocator *used = allocator != NULL ? cc__allocator_retain(allocator) : cc__allocator_of_process(true);
    const cc_status status = cc__host_memory_create(size_bytes, used, &host);
    cc__allocator_release(used);
    if (status != CC_OK)
        return status;
    *out_memory = (cc__place_memory){.pixels = host->bytes, .size_bytes = size_bytes, .host = host};
    memcpy(out_memory->stride, layout->stride, sizeof out_memory->stride);
    return CC_OK;
}

cc_status cc__device_memory_allocate(cc__backend *backend, int32_t device, cc_stream stream, const cc__layout *layout,
                                     cc__allocator *allocator, cc__place_memory *out_memory)
{
    const size_t size_bytes = (size_t)layout->extent_bytes;
    void *pixels = NULL;
    cc_status status = cc__budget_take(backend, device, size_bytes);
    if (status != CC_OK)
        return status;
    cc__allocator *used = allocator != NULL ? cc__allocator_retain(allocator) : cc__allocator_of_process(false);
    status = used != NULL ? cc__allocator_allocate(used, device, stream, size_bytes, DEVICE_ALIGNMENT, &pixels)
                          : backend->allocate(backend, device, stream, size_bytes, &pixels);
    if (status != CC_OK) {
        cc__allocator_release(used);
        cc__budget_give_back(device, size_bytes);
        return status;
    }
    *out_memory = (cc__place_memory){.pixels = pixels, .size_bytes = size_bytes, .allocator = used};
    memcpy(out_memory->stride, layout->stride, sizeof out_memory->stride);
    return CC_OK;
}

cc_status cc__host_memory_make_lockable(cc__place_memory *memory)
{
    return cc__host_memory_wrap(memory->pixels, memory->size_bytes, &memory->host);
}

void cc__host_memory_free(cc__place_memory *memory, bool is_settled)
{
    if (memory->host != NULL)
        cc__host_memory_destroy(memory->host, is_settled);
    memset(memory, 0, sizeof *memory);
}

void cc__device_memory_free(cc__backend *backend, int32_t device, cc_stream stream, cc__place_memory *memory)
{
    if (memory->pixels != NULL && !memory->is_wrapped) {
        if (memory->allocator != NULL)
            cc__allocator_free(memory->allocator, device, stream, memory->size_bytes, memory->pixels);
        else
            (void)backend->free(backend, device, stream, memory->pixels);
        cc__allocator_release(memory->allocator);
        cc__budget_give_back(device, memory->size_bytes);
    }
    memset(memory, 0, sizeof *memory);
}

cc__span cc__place_memory_span(const cc__place_memory *memory, const cc__box *box)
{
    cc__span span = {.data = memory->pixels};
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        span.stride[axis] = memory->stride[axis];
        span.data += box->start[axis] * memory->stride[axis];
    }
    return span;
}

size_t cc__place_memory_locked_bytes(const cc__place_memory *memory)
{
    if (memory->host == NULL)
        return 0;
    /* Whole pages are locked, and what is past the pixels with them. */
    const size_t locked_bytes = cc__host_memory_locked_bytes(memory->host);
    return locked_bytes < memory->size_bytes ? locked_bytes : memory->size_bytes;
}
