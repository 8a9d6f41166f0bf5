/* The cubic B-spline of float32 where the third axes are parallel. */
#include "kernels/resample_plan.h"

/* A thread's column in a plane of the source: the four pixels along each of its axes that are around, mirrored. */
typedef struct cubic_column {
    const unsigned char *row[4];
    int64_t pixel[4];
    float wx[4];
    float wy[4];
} cubic_column;

/* False outside. */
static __device__ inline bool find_column(const cc__resample *work, const walk *w, cubic_column *out,
                                          bool *out_is_inner)
{
    double position[3];
    find_position(work, w, position);
    const cc__near_float32 x = cc__near_raw_float32(position[0], work->source_size[0]);
    const cc__near_float32 y = cc__near_raw_float32(position[1], work->source_size[1]);
    if (!x.is_inside || !y.is_inside)
        return false;
    cc__cubic_weights_float32(x.fraction, out->wx);
    cc__cubic_weights_float32(y.fraction, out->wy);
    CC__UNROLL
    for (int32_t n = 0; n < 4; n++) {
        out->row[n] = w->from + cc__mirrored(y.first - 1 + n, work->source_size[1]) * work->source.stride[1];
        out->pixel[n] = cc__mirrored(x.first - 1 + n, work->source_size[0]) * work->source.stride[0];
    }
    *out_is_inner = x.first >= 1 && x.first + 2 < work->source_size[0];
    return true;
}

/* step: bytes from one pixel to the next, a constant, where they are not mirrored; else 0. */
static __device__ inline float cubic_plane(const cubic_column *column, int64_t plane, int64_t step)
{
    float sum = 0;
    CC__UNROLL
    for (int32_t j = 0; j < 4; j++) {
        const unsigned char *row = column->row[j] + plane + (step > 0 ? column->pixel[0] : 0);
        float line = 0;
        CC__UNROLL
        for (int32_t i = 0; i < 4; i++)
            line += column->wx[i] * READ_FLOAT32(row + (step > 0 ? i * step : column->pixel[i]));
        sum += column->wy[j] * line;
    }
    return sum;
}

static __device__ inline int32_t mirrored(int32_t at, int32_t size)
{
    at = at < 0 ? -at : at;
    at = at < size ? at : 2 * (size - 1) - at;
    return at < 0 ? -at : at;
}

/* Of four neighbours in the column, the next one needs three planes again. Axes are short where float32 will do. */
static __device__ inline void do_column(const resample_plan *plan, walk *w, const cubic_column *column, int64_t step)
{
    const cc__resample *work = &plan->work;
    const double start = cc__map_start(work->map.row[2], w->i, w->j);
    const int32_t size = (int32_t)work->source_size[2];
    const int64_t slice = work->source.stride[2];
    float plane[4] = {0, 0, 0, 0};
    int32_t first = INT32_MIN;
    for (int32_t left = (int32_t)w->left; left > 0; left--, w->k += 1, w->to += work->destination.stride[2]) {
        const int64_t fixed = cc__fixed_of(cc__map_position(work->map.row[2], start, w->k));
        if (!cc__fixed_is_inside(fixed, size)) {
            KEEP_4(w->to, plan);
            continue;
        }
        const int32_t wanted = (int32_t)(fixed >> CC__FIXED_BITS);
        while (first != wanted) {
            /* The last of the next pixel's planes, or one by one all of one that is further on. */
            const bool is_next = first < wanted && first >= wanted - 4;
            first = is_next ? first + 1 : wanted - 3;
            plane[0] = plane[1];
            plane[1] = plane[2];
            plane[2] = plane[3];
            plane[3] = cubic_plane(column, mirrored(first + 2, size) * slice, step);
        }
        float wz[4], sum = 0;
        cc__cubic_weights_float32((float)(int32_t)(fixed & ((1 << CC__FIXED_BITS) - 1)) * 0x1p-23F, wz);
        CC__UNROLL
        for (int32_t n = 0; n < 4; n++)
            sum += wz[n] * plane[n];
        WRITE_FLOAT32(w->to, sum);
    }
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 3)
    upright_cubic_float32(const __grid_constant__ resample_plan plan)
{
    const cc__resample *work = &plan.work;
    for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {
        walk w;
        cubic_column column;
        bool is_inner = false;
        if (!begin_walk(&plan, patch, 4, 4, &w))
            continue;
        if (!find_column(work, &w, &column, &is_inner))
            for (; w.left > 0; w.left--, w.to += work->destination.stride[2])
                KEEP_4(w.to, &plan);
        else if (is_inner && work->source.stride[0] == 4)
            do_column(&plan, &w, &column, 4);
        else
            do_column(&plan, &w, &column, 0);
    }
}

static bool is_upright_cubic(const cc__resample *work)
{
    return work->interpolation == CC_INTERPOLATION_CUBIC_BSPLINE && work->in_float32 && is_upright(work) &&
           work->destination_type == CC_PIXEL_FLOAT32 && work->source_size[0] > 1 && work->source_size[1] > 1 &&
           work->source_size[2] > 1;
}

const void *cc__cubic_kernel(const cc__resample *work)
{
    return is_upright_cubic(work) ? (const void *)upright_cubic_float32 : NULL;
}
