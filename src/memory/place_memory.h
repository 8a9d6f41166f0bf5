/* The memory that pixels have at one place: whose it is, and how they lie in it. */
#ifndef CC_MEMORY_PLACE_MEMORY_H
#define CC_MEMORY_PLACE_MEMORY_H

#include "backend/backend.h"
#include "base/layout.h"
#include "memory/allocators.h"
#include "memory/host_memory.h"

#include <stdbool.h>

typedef struct cc__place_memory {
    unsigned char *pixels; /* the first pixel; NULL when there is no memory */
    size_t size_bytes;
    int64_t stride[CC_MAX_DIMENSION];
    bool is_wrapped;          /* somebody else's: never freed here */
    cc__host_memory *host;    /* on the host; NULL for wrapped memory that is never page-locked */
    cc__allocator *allocator; /* on a device: where it came from; NULL for the backend */
} cc__place_memory;

/*
 * Memory for a layout, from the allocator, or from what the process has set when that is NULL. Host: see
 * cc__host_memory.is_zero. Device: undefined, usable in `stream`. OUT_OF_HOST_MEMORY, OUT_OF_DEVICE_MEMORY, DEVICE.
 */
cc_status cc__host_memory_allocate(const cc__layout *layout, cc__allocator *allocator, cc__place_memory *out_memory);
cc_status cc__device_memory_allocate(cc__backend *backend, int32_t device, cc_stream stream, const cc__layout *layout,
                                     cc__allocator *allocator, cc__place_memory *out_memory);

/* Lets the caller's host memory, noted in `memory`, be page-locked where pixels move. OUT_OF_HOST_MEMORY. */
cc_status cc__host_memory_make_lockable(cc__place_memory *memory);

/* Nothing uses the host memory any more; is_settled false: waiting for what did has failed. Wrapped memory stays. */
void cc__host_memory_free(cc__place_memory *memory, bool is_settled);
/* Freed in `stream` order. Wrapped memory stays. */
void cc__device_memory_free(cc__backend *backend, int32_t device, cc_stream stream, cc__place_memory *memory);

/* Where a box of the pixels is. */
cc__span cc__place_memory_span(const cc__place_memory *memory, const cc__box *box);

/* Of host memory: how much is page-locked now. */
size_t cc__place_memory_locked_bytes(const cc__place_memory *memory);

#endif
