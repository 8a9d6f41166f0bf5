/* How a copy of a strided box is cut into the copies that the driver offers. Pure arithmetic, no CUDA. */
#ifndef CC_BACKEND_COPY_PLAN_H
#define CC_BACKEND_COPY_PLAN_H

#include "base/work.h"

#include <cudacommon/region.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * One copy of the driver's moves a row of bytes, rows at one pitch, and slices a whole number of pitches apart. The
 * plan is that copy, and how often to repeat it. The first index is 0 for the destination, 1 for the source.
 */
typedef struct cc__copy_plan {
    int64_t width_bytes;
    int64_t rows;          /* 1: a single row, no pitch needed */
    int64_t slices;        /* 1 when rows is 1 */
    int64_t pitch[2];      /* bytes from row to row, at least the width */
    int64_t slice_rows[2]; /* pitches from slice to slice, at least rows */
    int32_t outer_count;
    int64_t outer_size[CC_MAX_DIMENSION];
    int64_t outer_stride[2][CC_MAX_DIMENSION]; /* bytes */
} cc__copy_plan;

/* max_pitch: the longest pitch that the driver takes. */
cc__copy_plan cc__copy_plan_make(const cc__copy *work, int64_t max_pitch_bytes);

/*
 * Walks the repetitions. step: how often each outer axis was stepped, all 0 for the first. Sets the offsets of the one
 * that step stands for, and moves step on; false when that was the last.
 */
bool cc__copy_plan_next(const cc__copy_plan *plan, int64_t step[CC_MAX_DIMENSION], int64_t out_offset[2]);

#endif
