/* A box of pixels as rows: elements at equal distances, in one span of memory or in two at once. */
#ifndef CC_BASE_ROWS_H
#define CC_BASE_ROWS_H

#include <cudacommon/region.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* [0] is about the first span (the destination), [1] about the second. */
typedef struct cc__rows {
    int64_t length;                      /* elements of a row */
    int64_t step[2];                     /* bytes to the next element */
    int32_t axes;                        /* axes along which there is more than one row; the rest have size 1 */
    int64_t size[CC_MAX_DIMENSION];      /* rows along each, nearest first */
    int64_t stride[2][CC_MAX_DIMENSION]; /* bytes to the next row */
} cc__rows;

/* What one pixel is, seen from the rows. */
typedef enum cc__rows_of {
    CC__ROWS_OF_ELEMENTS = 0, /* elements, each worked on by itself: rows are long, their elements may lie apart */
    CC__ROWS_OF_BYTES = 1     /* bytes: those of a row lie side by side, and it begins with a whole pixel */
} cc__rows_of;

/*
 * Each pixel is `count` elements, step_a and step_b bytes apart (strides of both spans, or NULL for the second). Rows
 * are as long as can be, and in the order in which they lie in the first span. Sizes and count are > 0.
 */
void cc__rows_plan(cc__rows_of of, int64_t count, int64_t step_a, int64_t step_b, const int64_t size[CC_MAX_DIMENSION],
                   const int64_t stride_a[CC_MAX_DIMENSION], const int64_t stride_b[CC_MAX_DIMENSION],
                   cc__rows *out_rows);

/* Works on the rows along the first axis, rows->size[0] of them; a and b are where the first begins. */
typedef void (*cc__rows_function)(const cc__rows *rows, unsigned char *a, unsigned char *b, void *argument);

/* Calls `function` until all rows are done. b may be NULL when there is no second span. */
void cc__rows_each(const cc__rows *rows, unsigned char *a, unsigned char *b, cc__rows_function function,
                   void *argument);

#ifdef __cplusplus
}
#endif

#endif
