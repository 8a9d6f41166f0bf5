/* Pixels for the time of an operation, where its images are; images that are not in use give up theirs for them. */
#ifndef CC_OPS_SCRATCH_PIXELS_H
#define CC_OPS_SCRATCH_PIXELS_H

#include "memory/place_memory.h"
#include "ops/lent_images.h"

/* Undefined, dense. OUT_OF_HOST_MEMORY, OUT_OF_DEVICE_MEMORY, OVERFLOW, DEVICE. */
cc_status cc__scratch_pixels_allocate(const cc__lent_images *images, const int64_t size[CC_MAX_DIMENSION],
                                      cc_pixel_type type, int32_t components, cc__place_memory *out_memory);
cc__span cc__scratch_pixels_span(const cc__place_memory *memory);
/* After the work, or what there is of it, is queued in the images' stream. Nothing when there is no memory. */
void cc__scratch_pixels_free(const cc__lent_images *images, cc__place_memory *memory);

/* The same for little, which nobody gives up pixels for. OUT_OF_HOST_MEMORY, OUT_OF_DEVICE_MEMORY, DEVICE. */
cc_status cc__scratch_bytes_allocate(const cc__lent_images *images, size_t bytes, void **out_memory);
void cc__scratch_bytes_free(const cc__lent_images *images, void *memory);

#endif
