/* One slice of a volume, turned the way radiologists look at it, as plain floats. */
#ifndef SLICE_H
#define SLICE_H

#include "orientation.h"

#include <cudacommon/cudacommon.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct slice {
    int64_t columns, rows;
    double column_mm, row_mm; /* size of a pixel */
    float *values;            /* columns * rows, from the top left; free() it */
} slice;

/*
 * The middle slice with `column_toward` running to the right and `row_toward` downwards (TOWARDS_HEAD always runs
 * upwards). Of 4-D images the first volume, of colours their mean. Brings down the slice's pixels only. On failure
 * returns false after saying why on stderr.
 */
bool slice_read(cc_image *image, const orientation *turned, int column_toward, int row_toward, slice *out_slice);

/* Between pixels: linear. column and row may be half a pixel outside. */
double slice_sample(const slice *from, double column, double row);

#endif
