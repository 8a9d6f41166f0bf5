/* The memory that pixels have at one place, and the work under way on it. */
#ifndef CC_MEMORY_PLACE_MEMORY_H
#define CC_MEMORY_PLACE_MEMORY_H

#include "backend/backend.h"
#include "base/layout.h"

#include <stdbool.h>

typedef enum cc__registration {
    CC__REGISTRATION_NONE = 0,
    CC__REGISTRATION_UNDER_WAY = 1, /* one thread is at it, without the lock */
    CC__REGISTRATION_DONE = 2,
    CC__REGISTRATION_REFUSED = 3 /* pageable for good */
} cc__registration;

typedef struct cc__place_memory {
    unsigned char *pixels; /* the first pixel; NULL when there is no memory */
    size_t size_bytes;
    int64_t stride[CC_MAX_DIMENSION];
    bool is_wrapped;               /* somebody else's: never freed here, never page-locked */
    cc__registration registration; /* of owned host memory */
} cc__place_memory;

/* Owned memory for a layout. Host: zero pages. Device: undefined, usable in `stream`. OUT_OF_HOST_MEMORY,
 * OUT_OF_DEVICE_MEMORY. */
cc_status cc__host_memory_allocate(const cc__layout *layout, cc__place_memory *out_memory);
cc_status cc__device_memory_allocate(cc__backend *backend, int32_t device, cc_stream stream, const cc__layout *layout,
                                     cc__place_memory *out_memory);

/* Nothing uses the host memory any more. `backend` may be NULL when it was never registered. Wrapped memory is left
 * alone. */
void cc__host_memory_free(cc__backend *backend, cc__place_memory *memory);
/* Freed in `stream` order. Wrapped memory is left alone. */
void cc__device_memory_free(cc__backend *backend, int32_t device, cc_stream stream, cc__place_memory *memory);

/* Where a box of the pixels is. */
cc__span cc__place_memory_span(const cc__place_memory *memory, const cc__box *box);

/* Whether page-locking pays for moving this many bytes between this memory and devices. */
bool cc__host_memory_is_worth_registering(const cc__place_memory *memory, size_t moving_bytes);

#endif
