/* Pixels of one box put into another: cast, axes swapped or turned round, continued past their ends. Plain data. */
#ifndef CC_BASE_REARRANGE_H
#define CC_BASE_REARRANGE_H

#include "base/work.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One axis of the destination. Its pixel `n` is the source's pixel n - before, or what the border says of that. */
typedef struct cc__rearrange_axis {
    int64_t size;        /* of the destination */
    int64_t to_stride;   /* bytes */
    int64_t from_stride; /* bytes; any */
    int64_t from_size;   /* pixels of the source, > 0 */
    int64_t before;
    int64_t border; /* a cc_border */
} cc__rearrange_axis;

typedef struct cc__rearrange {
    unsigned char *to;
    const unsigned char *from; /* the source's pixel 0 along every axis */
    cc__rearrange_axis axes[CC_MAX_DIMENSION];
    cc_pixel_type to_type;
    cc_pixel_type from_type;
    int32_t components;
    int32_t unit_bytes; /* equal types: a pixel is made of units, each 1, 2, 4, 8 or 16 bytes and aligned */
    int32_t units;
    int32_t past_cache; /* on the host: see base/past_cache.h */
    /* A pixel of the destination, for CC_BORDER_CONSTANT. */
    unsigned char value[CC__MAX_PIXEL_BYTES] __attribute__((aligned(16)));
} cc__rearrange;

/*
 * Puts the work into the form that the others take: axes in the destination's order, nearest first, those of one pixel
 * last, merged where they go on in both; then, if rows are across the source's, the source's nearest axis second.
 */
void cc__rearrange_normalize(cc__rearrange *work);

/* No pixel along the axis is outside the source. */
bool cc__rearrange_is_inside(const cc__rearrange_axis *axis);

/* Rows are those along the first axis. Pixels `first` to `first + count` of one. */
int64_t cc__rearrange_rows(const cc__rearrange *work);
void cc__rearrange_row(const cc__rearrange *work, int64_t row, int64_t first, int64_t count);

#ifdef __cplusplus
}
#endif

#endif
