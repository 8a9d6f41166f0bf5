/* How pixels lie in memory: size, strides, and the bytes they span. */
#ifndef CC_BASE_LAYOUT_H
#define CC_BASE_LAYOUT_H

#include "base/box.h"

#include <cudacommon/pixel.h>
#include <cudacommon/region.h>
#include <cudacommon/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cc__layout {
    int64_t size[CC_MAX_DIMENSION];   /* pixels; unused axes 1 */
    int64_t stride[CC_MAX_DIMENSION]; /* bytes to the next pixel along the axis */
    int64_t pixel_bytes;              /* components * bytes of one */
    int64_t component_bytes;
    int64_t extent_bytes; /* from the first byte to the last; 0 when there are no pixels */
} cc__layout;

/*
 * These three check what comes from a caller. `function` and `name` (the argument) go into the message.
 *
 * cc__region_check: dimension 1 to 4, sizes >= 0 (INVALID_ARGUMENT), index + size within 63 bits (OVERFLOW). Writes the
 * region with its unused axes at index 0, size 1.
 */
cc_status cc__region_check(const char *function, const char *name, int32_t dimension, const cc_region *region,
                           cc_region *out_region);

/* Dense, i fastest. An axis of size 0 counts as 1 in the strides of slower axes. OVERFLOW when pixels or bytes leave 63
 * bits. */
cc_status cc__layout_dense(const char *function, const int64_t size[CC_MAX_DIMENSION], cc_pixel_type type,
                           int32_t components, cc__layout *out_layout);

/*
 * With the caller's strides for the first `dimension` axes (unused axes: any). LAYOUT when a stride is not a positive
 * multiple of a component's size or pixels could overlap, axes of size 1 (or images without pixels) excepted; OVERFLOW.
 */
cc_status cc__layout_strided(const char *function, const int64_t size[CC_MAX_DIMENSION], cc_pixel_type type,
                             int32_t components, int32_t dimension, const int64_t strides_bytes[CC_MAX_DIMENSION],
                             cc__layout *out_layout);

/* Bytes from the first pixel of the buffer to the first of the box. The box lies in the layout. */
int64_t cc__layout_offset(const cc__layout *layout, const int64_t start[CC_MAX_DIMENSION]);

/*
 * The box of `inner` (absolute indices, unused axes at index 0 and size 1, as cc__region_check writes it) counted from
 * the first pixel of `outer`. False when inner is not inside outer. An empty inner region with its index inside, or one
 * past the end of, outer is inside. Never overflows.
 */
bool cc__region_to_box(const cc_region *outer, const cc_region *inner, cc__box *out_box);

#endif
