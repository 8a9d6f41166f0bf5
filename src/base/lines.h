/* The pixels of two images as lines along one axis: for operations that treat each line on its own. */
#ifndef CC_BASE_LINES_H
#define CC_BASE_LINES_H

#include "base/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Real types; parts of complex pixels count as components. The sizes are the destination's, > 0. */
typedef struct cc__line_images {
    cc__span source;
    cc__span destination;
    cc_pixel_type source_type;
    cc_pixel_type destination_type;
    int64_t size[CC_MAX_DIMENSION];
    int32_t components;
    int32_t axis;
} cc__line_images;

/* The lines in their order: components first. Axes that follow each other without a gap on both sides are one. */
typedef struct cc__lines {
    int64_t count;
    int32_t axes;
    int32_t is_along_rows; /* the source's pixels of a line are nearer to each other than its neighbouring lines */
    int64_t size[CC_MAX_DIMENSION];
    int64_t stride[2][CC_MAX_DIMENSION]; /* of source and destination */
    int64_t step[2];                     /* along the lines */
} cc__lines;

void cc__lines_plan(const cc__line_images *images, cc__lines *out_lines);
/* Bytes from the first line to another; side 0 is the source. */
int64_t cc__lines_offset(const cc__lines *lines, int32_t side, int64_t line);

/*
 * Leaves the first half of the largest other axis, or of the lines themselves when there is only one, and returns the
 * second. out_first: where along its lines the second half begins.
 */
cc__line_images cc__line_images_split(cc__line_images *images, int64_t *out_first);

/* What an operation touches when the source's lines have this length. */
int32_t cc__line_images_ranges(const cc__line_images *images, int64_t length, cc__kernel_range out_ranges[2]);

#ifdef __cplusplus
}
#endif

#endif
