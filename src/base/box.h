/* Boxes of pixels, counted from the first pixel of a buffer; always four axes, unused ones have start 0 and size 1. */
#ifndef CC_BASE_BOX_H
#define CC_BASE_BOX_H

#include <cudacommon/region.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct cc__box {
    int64_t start[CC_MAX_DIMENSION]; /* >= 0 */
    int64_t size[CC_MAX_DIMENSION];  /* >= 0; start + size does not overflow */
} cc__box;

/* The most boxes that are left of one when another is cut out of it: two for each axis. */
#define CC__BOX_MAX_PIECES (2 * CC_MAX_DIMENSION)

cc__box cc__box_of_size(const int64_t size[CC_MAX_DIMENSION]); /* at the start of the buffer */
bool cc__box_intersect(const cc__box *a, const cc__box *b,
                       cc__box *out); /* false, out untouched, when they share nothing */

/* What is left of `box` without `hole`, as disjoint boxes with rows as long as possible. Returns how many. */
int32_t cc__box_subtract(const cc__box *box, const cc__box *hole, cc__box out_pieces[CC__BOX_MAX_PIECES]);

/* Whether two disjoint boxes together are one box; if so, that one. */
bool cc__box_join(const cc__box *a, const cc__box *b, cc__box *out);

/* In every access, so that they are worth compiling into their callers. */
static inline bool cc__box_is_empty(const cc__box *box)
{
    return box->size[0] == 0 || box->size[1] == 0 || box->size[2] == 0 || box->size[3] == 0;
}

static inline int64_t cc__box_pixels(const cc__box *box)
{
    /* First, because the other axes of an empty box may be long enough to overflow. */
    return cc__box_is_empty(box) ? 0 : box->size[0] * box->size[1] * box->size[2] * box->size[3];
}

/* The smallest that holds both, neither empty. */
static inline cc__box cc__box_bounding(const cc__box *a, const cc__box *b)
{
    cc__box bounding;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        const int64_t end_a = a->start[axis] + a->size[axis];
        const int64_t end_b = b->start[axis] + b->size[axis];
        bounding.start[axis] = a->start[axis] < b->start[axis] ? a->start[axis] : b->start[axis];
        bounding.size[axis] = (end_a > end_b ? end_a : end_b) - bounding.start[axis];
    }
    return bounding;
}

static inline bool cc__box_equal(const cc__box *a, const cc__box *b)
{
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        if (a->start[axis] != b->start[axis] || a->size[axis] != b->size[axis])
            return false;
    return true;
}

/* False when one is empty. */
static inline bool cc__box_overlaps(const cc__box *a, const cc__box *b)
{
    for (int32_t axis = CC_MAX_DIMENSION - 1; axis >= 0; axis--)
        if (a->start[axis] >= b->start[axis] + b->size[axis] || b->start[axis] >= a->start[axis] + a->size[axis])
            return false;
    return !cc__box_is_empty(a) && !cc__box_is_empty(b);
}

/* True when inner is empty. */
static inline bool cc__box_contains(const cc__box *outer, const cc__box *inner)
{
    for (int32_t axis = CC_MAX_DIMENSION - 1; axis >= 0; axis--)
        if (inner->start[axis] < outer->start[axis] ||
            inner->start[axis] + inner->size[axis] > outer->start[axis] + outer->size[axis])
            return cc__box_is_empty(inner);
    return true;
}

#endif
