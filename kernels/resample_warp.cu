/* Linear, by a field, all of float32. */
#include "kernels/resample_plan.h"

CC__DEFINE_POSITION(of_float32, float, float32)

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) warp_float32(const __grid_constant__ resample_plan plan)
{
    const cc__resample *work = &plan.work;
    for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {
        walk w;
        if (!begin_walk(&plan, patch, 4, 4, &w))
            continue;
        for (; w.left > 0; step_walk(&plan, &w)) {
            double position[3], start[3];
            cc__near_float32 near[3];
            find_position(work, &w, position);
            find_field_start(work, &w, start);
            cc__displaced_of_float32(work, start, w.k, w.volume, position);
            CC__UNROLL
            for (int32_t axis = 0; axis < 3; axis++)
                near[axis] = cc__near_float32_of(position[axis], work->source_size[axis]);
            if (near[0].is_inside && near[1].is_inside && near[2].is_inside) {
                const float value = cc__sample_linear_of_float32(0, w.from, work->source.stride, near);
                WRITE_FLOAT32(w.to, value);
            } else {
                KEEP_4(w.to, &plan);
            }
        }
    }
}

/* The field in a column where both maps leave the first two axes as they are along it. */
typedef struct field_column {
    const unsigned char *first;
    double start;
    cc__near_float32 near[3];
} field_column;

static __device__ inline void begin_field(const cc__resample *work, const walk *w, field_column *out)
{
    double start[3];
    find_field_start(work, w, start);
    out->first = work->field.data + (work->field_size[3] > 1 ? w->volume : 0) * work->field.stride[3];
    out->start = start[2];
    CC__UNROLL
    for (int32_t axis = 0; axis < 2; axis++) {
        const double at = cc__map_position(work->field_map.row[axis], start[axis], w->k);
        const int64_t size = work->field_size[axis];
        out->near[axis] = cc__near_float32_of(cc__clamped_position(at, size), size);
    }
}

static __device__ inline void sample_field(const cc__resample *work, field_column *field, double k, float out[3])
{
    const double at = cc__map_position(work->field_map.row[2], field->start, k);
    const int64_t size = work->field_size[2];
    field->near[2] = cc__near_float32_of(cc__clamped_position(at, size), size);
    CC__UNROLL
    for (int32_t axis = 0; axis < 3; axis++) {
        out[axis] = 0;
        if (axis < work->axes)
            out[axis] = cc__sample_linear_of_float32(0, field->first + axis * 4, work->field.stride, field->near);
    }
}

/* The next pixel's displacement is on its way while this one's is followed. */
static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 3)
    steady_warp_float32(const __grid_constant__ resample_plan plan)
{
    const cc__resample *work = &plan.work;
    for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {
        walk w;
        field_column field;
        double still[3];
        float next[3];
        if (!begin_walk(&plan, patch, 4, 4, &w))
            continue;
        find_position(work, &w, still);
        begin_field(work, &w, &field);
        sample_field(work, &field, w.k, next);
        const double start = cc__map_start(work->map.row[2], w.i, w.j);
        for (; w.left > 0; w.left--, w.k += 1, w.to += work->destination.stride[2]) {
            const double d[3] = {(double)next[0], (double)next[1], (double)next[2]};
            cc__near_float32 near[3];
            if (w.left > 1)
                sample_field(work, &field, w.k + 1, next);
            CC__UNROLL
            for (int32_t axis = 0; axis < 3; axis++) {
                const double *pull = work->pull[axis];
                const double from = axis == 2 ? cc__map_position(work->map.row[2], start, w.k) : still[axis];
                /* An infinite displacement is outside along its own axis, so that zeros of the others need not tell. */
                const double way =
                    plan.is_straight ? pull[axis] * d[axis] : (pull[0] * d[0] + pull[1] * d[1]) + pull[2] * d[2];
                near[axis] = cc__near_float32_of(from + way, work->source_size[axis]);
            }
            if (near[0].is_inside && near[1].is_inside && near[2].is_inside) {
                const float value = cc__sample_linear_of_float32(0, w.from, work->source.stride, near);
                WRITE_FLOAT32(w.to, value);
            } else {
                KEEP_4(w.to, &plan);
            }
        }
    }
}

static bool is_float32_warp(const cc__resample *work)
{
    return work->interpolation == CC_INTERPOLATION_LINEAR && work->in_float32 && work->field.data != NULL &&
           work->field_type == CC_PIXEL_FLOAT32 && work->source_type == CC_PIXEL_FLOAT32 &&
           work->destination_type == CC_PIXEL_FLOAT32;
}

/* Along columns, only the third axis of both maps moves on. */
static bool is_steady(const cc__resample *work)
{
    return work->size[2] > 1 && work->map.row[0][2] == 0 && work->map.row[1][2] == 0 &&
           work->field_map.row[0][2] == 0 && work->field_map.row[1][2] == 0;
}

const void *cc__warp_kernel(const cc__resample *work)
{
    if (!is_float32_warp(work))
        return NULL;
    return is_steady(work) ? (const void *)steady_warp_float32 : (const void *)warp_float32;
}
