/* Linear, by a field, all of float32. */
#include "kernels/resample_plan.h"

#include <math.h>

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

/* An infinite displacement is outside along its own axis, so that zeros of the others need not tell. */
static __device__ inline double way_of(const resample_plan *plan, const float displacement[3], int32_t axis)
{
    const double *pull = plan->work.pull[axis];
    const double d[3] = {(double)displacement[0], (double)displacement[1], (double)displacement[2]};
    return plan->is_straight ? pull[axis] * d[axis] : (pull[0] * d[0] + pull[1] * d[1]) + pull[2] * d[2];
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
            const float d[3] = {next[0], next[1], next[2]};
            cc__near_float32 near[3];
            if (w.left > 1)
                sample_field(work, &field, w.k + 1, next);
            CC__UNROLL
            for (int32_t axis = 0; axis < 3; axis++) {
                const double from = axis == 2 ? cc__map_position(work->map.row[2], start, w.k) : still[axis];
                near[axis] = cc__near_float32_of(from + way_of(&plan, d, axis), work->source_size[axis]);
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

/*
 * The field has a pixel for each one of the output, or its edges, and displacements go along the source's axes: so many
 * pixels of a column at a time.
 */
#define WARP_RUN 2

typedef struct field_run {
    float value[WARP_RUN][3];
} field_run;

static __device__ inline int64_t clamped_pixel(int64_t at, int64_t least, int64_t most)
{
    return at < least ? least : at < most ? at : most;
}

/* `column`: the field's first pixel along the third axis. */
static __device__ inline field_run load_field(const cc__resample *work, const unsigned char *column, int32_t k)
{
    const int32_t last = (int32_t)work->field_size[2] - 1;
    field_run run;
    CC__UNROLL
    for (int32_t n = 0; n < WARP_RUN; n++) {
        const int32_t at = k + n < 0 ? 0 : k + n < last ? k + n : last;
        const unsigned char *pixel = column + at * work->field.stride[2];
        CC__UNROLL
        for (int32_t axis = 0; axis < 3; axis++)
            run.value[n][axis] = *(const float *)(pixel + axis * 4);
    }
    return run;
}

/* Where a pixel's point is when all its neighbours are there: in a plane, which plane, and between them. */
typedef struct foot {
    uint32_t at;
    uint32_t plane;
    float fraction[3];
    bool is_inside;
} foot;

/* As is_between(), of all axes: the upper halves tell what is far away, what is left of the lower ones the rest. */
static __device__ inline foot foot_of(const resample_plan *plan, const double position[3])
{
    const int64_t *size = plan->work.source_size;
    uint32_t pixel[3], far = 0;
    foot f;
    CC__UNROLL
    for (int32_t axis = 0; axis < 3; axis++) {
        pixel[axis] = pixel_of(position[axis], &f.fraction[axis]);
        far |= (uint32_t)((uint64_t)cc__fixed_of(position[axis]) >> 32);
    }
    f.is_inside = far < UINT32_C(1) << 19 && pixel[0] < (uint32_t)size[0] - 1 && pixel[1] < (uint32_t)size[1] - 1 &&
                  pixel[2] < (uint32_t)size[2] - 1;
    f.at = pixel[0] * (uint32_t)plan->stride[0] + pixel[1] * (uint32_t)plan->stride[1];
    f.plane = pixel[2];
    return f;
}

/* x: bytes to the next pixel, a constant where it can be. */
static __device__ inline float sample_foot(const resample_plan *plan, const unsigned char *from, const foot *f,
                                           int64_t x)
{
    const int64_t y = plan->stride[1], z = plan->work.source.stride[2];
    const unsigned char *p = from + f->at + (int64_t)f->plane * z;
    const float a = cc__sample_plane_of_float32(0, p, x, y, f->fraction[0], f->fraction[1]);
    const float b = cc__sample_plane_of_float32(0, p + z, x, y, f->fraction[0], f->fraction[1]);
    return cc__between_float32(a, b, f->fraction[2]);
}

static __device__ inline void warp_inside(const resample_plan *plan, const unsigned char *from,
                                          const foot feet[WARP_RUN], int64_t x, unsigned char *to)
{
    float value[WARP_RUN];
    CC__UNROLL
    for (int32_t n = 0; n < WARP_RUN; n++)
        value[n] = sample_foot(plan, from, &feet[n], x);
    CC__UNROLL
    for (int32_t n = 0; n < WARP_RUN; n++)
        WRITE_FLOAT32(to + n * plan->work.destination.stride[2], value[n]);
}

static __device__ CC__NOT_INLINE void warp_edge(const resample_plan *plan, const unsigned char *from, double x,
                                                double y, double z, unsigned char *to)
{
    const cc__resample *work = &plan->work;
    const cc__near_float32 near[3] = {cc__near_float32_of(x, work->source_size[0]),
                                      cc__near_float32_of(y, work->source_size[1]),
                                      cc__near_float32_of(z, work->source_size[2])};
    if (near[0].is_inside && near[1].is_inside && near[2].is_inside) {
        const float value = cc__sample_linear_of_float32(0, from, work->source.stride, near);
        WRITE_FLOAT32(to, value);
    } else {
        KEEP_4(to, plan);
    }
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 3)
    grid_warp_float32(const __grid_constant__ resample_plan plan)
{
    const cc__resample *work = &plan.work;
    const int64_t *size = work->field_size, *stride = work->field.stride;
    for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {
        walk w;
        double still[3];
        if (!begin_walk(&plan, patch, 4, 4, &w))
            continue;
        find_position(work, &w, still);
        const double start = cc__map_start(work->map.row[2], w.i, w.j);
        const int64_t i = (int64_t)(w.i + work->field_map.row[0][3]), j = (int64_t)(w.j + work->field_map.row[1][3]);
        const unsigned char *column = work->field.data + clamped_pixel(i, 0, size[0] - 1) * stride[0] +
                                      clamped_pixel(j, 0, size[1] - 1) * stride[1] +
                                      (size[3] > 1 ? w.volume : 0) * stride[3];
        /* Also where all of the column is before the field's pixels, or behind them. */
        int32_t k = (int32_t)clamped_pixel((int64_t)(w.k + work->field_map.row[2][3]), -CC__COLUMN_MOST_DEPTH, size[2]);
        int32_t left = (int32_t)w.left;
        field_run next = load_field(work, column, k);
        for (; left > 0; left -= WARP_RUN, w.k += WARP_RUN, w.to += WARP_RUN * work->destination.stride[2]) {
            const field_run run = next;
            double position[WARP_RUN][3];
            foot feet[WARP_RUN];
            bool is_inside = left >= WARP_RUN;
            k += WARP_RUN;
            next = load_field(work, column, k);
            CC__UNROLL
            for (int32_t n = 0; n < WARP_RUN; n++) {
                CC__UNROLL
                for (int32_t axis = 0; axis < 3; axis++) {
                    const double from = axis == 2 ? cc__map_position(work->map.row[2], start, w.k + n) : still[axis];
                    position[n][axis] = from + work->pull[axis][axis] * (double)run.value[n][axis];
                }
                feet[n] = foot_of(&plan, position[n]);
                is_inside = is_inside && feet[n].is_inside;
            }
            if (is_inside && plan.stride[0] == 4) {
                warp_inside(&plan, w.from, feet, 4, w.to);
            } else if (is_inside) {
                warp_inside(&plan, w.from, feet, plan.stride[0], w.to);
            } else {
                CC__UNROLL
                for (int32_t n = 0; n < WARP_RUN; n++)
                    if (n < left)
                        warp_edge(&plan, w.from, position[n][0], position[n][1], position[n][2],
                                  w.to + n * work->destination.stride[2]);
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

/* Pixels of the field are where the output's are, or would be. */
static bool is_on_grid(const cc__resample *work)
{
    bool is = true;
    for (int32_t row = 0; row < 3; row++) {
        const double *map = work->field_map.row[row];
        for (int32_t column = 0; column < 3; column++)
            is = is && map[column] == (row == column ? 1 : 0);
        is = is && map[3] >= -CC__RESAMPLE_MOST_FIXED && map[3] <= CC__RESAMPLE_MOST_FIXED && map[3] == floor(map[3]);
    }
    return is;
}

const void *cc__warp_kernel(const cc__resample *work)
{
    if (!is_float32_warp(work))
        return NULL;
    if (!is_steady(work))
        return (const void *)warp_float32;
    if (is_on_grid(work) && is_straight(work) && has_short_planes(work))
        return (const void *)grid_warp_float32;
    return (const void *)steady_warp_float32;
}
