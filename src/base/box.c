#include "base/box.h"

static int64_t end_of(const cc__box *box, int32_t axis)
{
    return box->start[axis] + box->size[axis];
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

cc__box cc__box_of_size(const int64_t size[CC_MAX_DIMENSION])
{
    cc__box box;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        box.start[axis] = 0;
        box.size[axis] = size[axis];
    }
    return box;
}

bool cc__box_intersect(const cc__box *a, const cc__box *b, cc__box *out)
{
    cc__box shared;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        int64_t start = larger(a->start[axis], b->start[axis]);
        int64_t end = smaller(end_of(a, axis), end_of(b, axis));
        if (start >= end)
            return false;
        shared.start[axis] = start;
        shared.size[axis] = end - start;
    }
    *out = shared;
    return true;
}

int32_t cc__box_subtract(const cc__box *box, const cc__box *hole, cc__box out_pieces[CC__BOX_MAX_PIECES])
{
    if (cc__box_is_empty(box))
        return 0;
    cc__box rest = *box;
    cc__box cut;
    if (!cc__box_intersect(box, hole, &cut)) {
        out_pieces[0] = rest;
        return 1;
    }
    /* The slowest axis first: what lies before and after the hole along it keeps whole rows and slices. */
    int32_t count = 0;
    for (int32_t axis = CC_MAX_DIMENSION - 1; axis >= 0; axis--) {
        int64_t before = cut.start[axis] - rest.start[axis];
        int64_t after = end_of(&rest, axis) - end_of(&cut, axis);
        if (before > 0) {
            out_pieces[count] = rest;
            out_pieces[count].size[axis] = before;
            count++;
        }
        if (after > 0) {
            out_pieces[count] = rest;
            out_pieces[count].start[axis] = end_of(&cut, axis);
            out_pieces[count].size[axis] = after;
            count++;
        }
        rest.start[axis] = cut.start[axis];
        rest.size[axis] = cut.size[axis];
    }
    return count;
}

bool cc__box_join(const cc__box *a, const cc__box *b, cc__box *out)
{
    if (cc__box_is_empty(a) || cc__box_is_empty(b)) {
        *out = cc__box_is_empty(a) ? *b : *a;
        return true;
    }
    int32_t along = -1;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        if (a->start[axis] == b->start[axis] && a->size[axis] == b->size[axis])
            continue;
        if (along >= 0 || (end_of(a, axis) != b->start[axis] && end_of(b, axis) != a->start[axis]))
            return false;
        along = axis;
    }
    *out = cc__box_bounding(a, b);
    return true;
}
