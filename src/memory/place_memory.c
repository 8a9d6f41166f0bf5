#include "memory/place_memory.h"

#include "base/allocate.h"
#include "base/error.h"
#include "memory/budget.h"

#include <string.h>

/* Below this the driver's own staging of pageable memory is as fast as page-locking costs. */
#define SMALLEST_REGISTERED_BYTES ((size_t)1 << 20)

cc_status cc__host_memory_allocate(const cc__layout *layout, cc__place_memory *out_memory)
{
    const size_t size_bytes = (size_t)layout->extent_bytes;
    unsigned char *pixels = cc__pages_allocate(size_bytes);
    if (pixels == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "host memory: %zu bytes are not to be had", size_bytes);
    *out_memory = (cc__place_memory){.pixels = pixels, .size_bytes = size_bytes};
    memcpy(out_memory->stride, layout->stride, sizeof out_memory->stride);
    return CC_OK;
}

cc_status cc__device_memory_allocate(cc__backend *backend, int32_t device, cc_stream stream, const cc__layout *layout,
                                     cc__place_memory *out_memory)
{
    const size_t size_bytes = (size_t)layout->extent_bytes;
    void *pixels = NULL;
    cc_status status = cc__budget_take(backend, device, size_bytes);
    if (status != CC_OK)
        return status;
    status = backend->allocate(backend, device, stream, size_bytes, &pixels);
    if (status != CC_OK) {
        cc__budget_give_back(device, size_bytes);
        return status;
    }
    *out_memory = (cc__place_memory){.pixels = pixels, .size_bytes = size_bytes};
    memcpy(out_memory->stride, layout->stride, sizeof out_memory->stride);
    return CC_OK;
}

void cc__host_memory_free(cc__backend *backend, cc__place_memory *memory)
{
    if (memory->pixels != NULL && !memory->is_wrapped) {
        if (memory->registration == CC__REGISTRATION_DONE)
            (void)backend->host_unregister(backend, memory->pixels);
        cc__pages_free(memory->pixels, memory->size_bytes);
    }
    memset(memory, 0, sizeof *memory);
}

void cc__device_memory_free(cc__backend *backend, int32_t device, cc_stream stream, cc__place_memory *memory)
{
    if (memory->pixels != NULL && !memory->is_wrapped) {
        (void)backend->free(backend, device, stream, memory->pixels);
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

bool cc__host_memory_is_worth_registering(const cc__place_memory *memory, size_t moving_bytes)
{
    return !memory->is_wrapped && memory->registration == CC__REGISTRATION_NONE &&
           memory->size_bytes >= SMALLEST_REGISTERED_BYTES && moving_bytes >= memory->size_bytes / 4;
}
