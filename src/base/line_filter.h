/* Lines of pixels weighted with a symmetric filter along one axis, as plain data, and how the CPU does it. */
#ifndef CC_BASE_LINE_FILTER_H
#define CC_BASE_LINE_FILTER_H

#include "base/lines.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most pixels to each side that a filter reaches: its weights are parameters of the GPU's kernel. */
#define CC__LINE_RADIUS 256

/*
 * destination[p] = weight[0] s[first + p] + the sum over d = 1 to radius of weight[d] (s[first + p - d] + s[first + p +
 * d]), added in this order, in float32 or float64, where s is a line of the source and the border around it. The
 * destination does not overlap the source, unless the radius is 0 and they are the same.
 */
typedef struct cc__line_filter {
    cc__line_images images; /* of the source whole lines */
    int64_t length;         /* of the source's lines, > 0 */
    int64_t first;          /* where in them the destination begins */
    int32_t border;         /* cc_border */
    int32_t radius;
    int32_t is_wide; /* float64 */
    int32_t reserved;
    double border_value;
    double weight[CC__LINE_RADIUS + 1];
} cc__line_filter;

/* Shares of the work for threads. */
typedef struct cc__line_pieces {
    cc__lines lines;
    int64_t group;     /* lines of a piece */
    int64_t positions; /* of each of them */
    int64_t along;     /* pieces of a line */
    int64_t count;
} cc__line_pieces;

void cc__line_pieces_plan(const cc__line_filter *work, cc__line_pieces *out_pieces);
void cc__line_piece(const cc__line_filter *work, const cc__line_pieces *pieces, int64_t piece);

#ifdef __cplusplus
}
#endif

#endif
