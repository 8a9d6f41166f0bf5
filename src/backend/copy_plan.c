#include "backend/copy_plan.h"

#include "base/rows.h"

static bool can_be_rows(const cc__rows *all, int32_t axis, int64_t max_pitch_bytes)
{
    return all->stride[0][axis] <= max_pitch_bytes && all->stride[1][axis] <= max_pitch_bytes;
}

/* Pixels do not overlap, so that an axis of whole pitches leaves room for all the rows. */
static bool can_be_slices(const cc__rows *all, int32_t axis, int32_t rows)
{
    return all->stride[0][axis] % all->stride[0][rows] == 0 && all->stride[1][axis] % all->stride[1][rows] == 0;
}

cc__copy_plan cc__copy_plan_make(const cc__copy *work, int64_t max_pitch_bytes)
{
    cc__rows all;
    cc__rows_plan(CC__ROWS_OF_BYTES, work->pixel_bytes, 1, 1, work->size, work->destination.stride, work->source.stride,
                  &all);
    cc__copy_plan plan = {.width_bytes = all.length, .rows = 1, .slices = 1};

    /* The axes that become rows and slices leave the fewest repetitions; -1 for none. */
    int32_t best_rows = -1;
    int32_t best_slices = -1;
    int64_t most = 0;
    for (int32_t rows = 0; rows < all.axes; rows++) {
        if (!can_be_rows(&all, rows, max_pitch_bytes))
            continue;
        if (all.size[rows] > most) {
            most = all.size[rows];
            best_rows = rows;
            best_slices = -1;
        }
        for (int32_t slices = 0; slices < all.axes; slices++) {
            if (slices != rows && can_be_slices(&all, slices, rows) && all.size[rows] * all.size[slices] > most) {
                most = all.size[rows] * all.size[slices];
                best_rows = rows;
                best_slices = slices;
            }
        }
    }
    for (int32_t side = 0; side < 2 && best_rows >= 0; side++) {
        plan.rows = all.size[best_rows];
        plan.pitch[side] = all.stride[side][best_rows];
        plan.slice_rows[side] = plan.rows;
        if (best_slices >= 0) {
            plan.slices = all.size[best_slices];
            plan.slice_rows[side] = all.stride[side][best_slices] / plan.pitch[side];
        }
    }
    for (int32_t axis = 0; axis < all.axes; axis++) {
        if (axis == best_rows || axis == best_slices)
            continue;
        plan.outer_size[plan.outer_count] = all.size[axis];
        plan.outer_stride[0][plan.outer_count] = all.stride[0][axis];
        plan.outer_stride[1][plan.outer_count] = all.stride[1][axis];
        plan.outer_count++;
    }
    return plan;
}

bool cc__copy_plan_next(const cc__copy_plan *plan, int64_t step[CC_MAX_DIMENSION], int64_t out_offset[2])
{
    out_offset[0] = 0;
    out_offset[1] = 0;
    for (int32_t axis = 0; axis < plan->outer_count; axis++) {
        out_offset[0] += step[axis] * plan->outer_stride[0][axis];
        out_offset[1] += step[axis] * plan->outer_stride[1][axis];
    }
    for (int32_t axis = 0; axis < plan->outer_count; axis++) {
        if (++step[axis] < plan->outer_size[axis])
            return true;
        step[axis] = 0;
    }
    return false;
}
