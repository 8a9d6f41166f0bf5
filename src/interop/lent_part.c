#include "interop/lent_part.h"

/* Of the axes that are not done, the one with the largest stride; -1 when all are. */
static int32_t slowest_axis(const cc_loan *loan, const bool is_done[CC_MAX_DIMENSION])
{
    int32_t slowest = -1;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        if (!is_done[axis] && (slowest < 0 || loan->stride[axis] > loan->stride[slowest]))
            slowest = axis;
    return slowest;
}

bool cc__lent_part_find(const cc_loan *loan, const cc__array_image *image, const unsigned char *data, cc__box *out_box,
                        cc_geometry *out_geometry)
{
    bool is_done[CC_MAX_DIMENSION] = {false, false, false, false};
    cc__box part = loan->box;
    int64_t rest = data - loan->pixels;
    if (rest < 0 || image->type != loan->pixel_type || image->components != loan->components ||
        image->dimension != loan->dimension)
        return false;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        is_done[axis] = loan->box.size[axis] == 1;
        if (image->layout.size[axis] > 1 && image->layout.stride[axis] != loan->stride[axis])
            return false;
    }
    /* No two pixels overlap, so that the offset has one decomposition into steps, the largest first. */
    for (int32_t axis = slowest_axis(loan, is_done); axis >= 0; axis = slowest_axis(loan, is_done)) {
        part.start[axis] += rest / loan->stride[axis];
        rest %= loan->stride[axis];
        is_done[axis] = true;
    }
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        part.size[axis] = image->layout.size[axis];
    if (rest != 0 || !cc__box_contains(&loan->box, &part))
        return false;
    *out_box = part;
    *out_geometry = loan->geometry;
    for (int32_t axis = 0; axis < loan->dimension; ++axis)
        out_geometry->index[axis] += part.start[axis] - loan->box.start[axis];
    return true;
}
