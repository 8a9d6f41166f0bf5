/* From the pixels of one image to those of another, through space. */
#ifndef CC_OPS_GRID_MAP_H
#define CC_OPS_GRID_MAP_H

#include "base/resample.h"
#include "image/image_handle.h"

/* point of `to` = matrix * point of `from` + offset; identity and 0 past the dimension. */
typedef struct cc__affine {
    double matrix[3][3];
    double offset[3];
} cc__affine;

/*
 * From pixels of `from`, counted from its first one, to those of `to`, along the first `axes` axes; the others stay at
 * 0. False when that leaves float64. Where both images have the same direction and the transform only moves points,
 * each axis has its own scale, exactly.
 */
bool cc__grid_map(const cc_image *from, const cc_image *to, const cc__affine *transform, int32_t axes,
                  cc__map *out_map);

/* From displacements in space, before the transform, to pixels of `to`. */
bool cc__grid_pull(const cc_image *to, const cc__affine *transform, int32_t axes, double out_pull[3][3]);

#endif
