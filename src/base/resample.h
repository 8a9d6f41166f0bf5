/* Pixels of one grid at the places of another, as plain data, and how the CPU computes them. */
#ifndef CC_BASE_RESAMPLE_H
#define CC_BASE_RESAMPLE_H

#include "base/work.h"

#include <cudacommon/resample.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where an index is on another grid, in its pixels from the first one: row[0..2] times the index, plus row[3]. */
typedef struct cc__map {
    double row[3][4];
} cc__map;

typedef struct cc__resample {
    cc__span destination; /* apart from the others */
    cc__span source;      /* for the cubic B-spline its coefficients, float32 or float64 as the arithmetic is */
    cc__span pixels;      /* for the cubic B-spline: what the coefficients are found from, of pixels_type */
    cc__span field;       /* displacements; data NULL: none */
    cc_pixel_type destination_type;
    cc_pixel_type source_type;
    cc_pixel_type pixels_type;
    cc_pixel_type field_type;
    int32_t interpolation; /* a cc_interpolation */
    int32_t axes;          /* 1 to 3: of the field's components */
    int32_t components;
    int32_t in_float32;
    int32_t is_fixed; /* positions may be rounded to 2^-23: no axis is too long */
    int64_t size[CC_MAX_DIMENSION];
    int64_t source_size[CC_MAX_DIMENSION];
    int64_t field_size[CC_MAX_DIMENSION]; /* the last is 1 where the field is the same for all volumes */
    cc__map map;
    cc__map field_map;
    double pull[3][3]; /* from a displacement to pixels of the source */
    double outside;
} cc__resample;

/* Longer axes have positions that 2^-23 of a pixel is too fine for. */
#define CC__RESAMPLE_MOST_FIXED (INT64_C(1) << 28)

int64_t cc__resample_row_count(const cc__resample *work);
/* Of a cc__resample; rows may be done in any order. */
void cc__resample_rows(const void *work, int64_t first, int64_t count);

/* The coefficients of a cubic B-spline through the pixels: along one axis after the other, the first from the pixels.
 */
typedef struct cc__bspline {
    cc__span destination; /* float32 or float64 */
    cc__span source;      /* the pixels, or the destination itself */
    cc_pixel_type source_type;
    int32_t in_float32;
    int32_t components;
    int32_t axis;
    int64_t size[CC_MAX_DIMENSION];
} cc__bspline;

/* What is to be done along an axis before the coefficients are sampled. False: nothing, the axis has one pixel. */
bool cc__bspline_plan(const cc__resample *work, int32_t axis, cc__bspline *out_work);
/* Components of pixels of which no two have the same place along the other axes. */
int64_t cc__bspline_line_count(const cc__bspline *work);
/* Of a cc__bspline; lines may be done in any order. */
void cc__bspline_lines(const void *work, int64_t first, int64_t count);

#ifdef __cplusplus
}
#endif

#endif
