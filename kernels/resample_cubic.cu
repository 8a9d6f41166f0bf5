/* The cubic B-spline of float32 where the third axes are parallel. */
#include "kernels/resample_plan.h"

/* Of four neighbours in a column, the next one needs three planes again. */
static __device__ inline float cubic_plane(const cc__resample *work, const unsigned char *pixel, int64_t plane,
                                           const float wx[4], const float wy[4])
{
    const unsigned char *row = pixel + cc__mirrored(plane, work->source_size[2]) * work->source.stride[2];
    const int64_t x = work->source.stride[0];
    float sum = 0;
    CC__UNROLL
    for (int32_t j = 0; j < 4; j++) {
        float line = 0;
        CC__UNROLL
        for (int32_t i = 0; i < 4; i++)
            line += wx[i] * READ_FLOAT32(row + i * x);
        sum += wy[j] * line;
        row += work->source.stride[1];
    }
    return sum;
}

static __device__ CC__NOT_INLINE void cubic_edges(const resample_plan *plan, const walk *column)
{
    const cc__resample *work = &plan->work;
    walk w = *column;
    for (; w.left > 0; step_walk(plan, &w)) {
        double position[3];
        cc__near_float32 near[3];
        bool is_in = true;
        find_position(work, &w, position);
        for (int32_t axis = 0; axis < 3; axis++) {
            near[axis] = cc__near_raw_float32(position[axis], work->source_size[axis]);
            is_in = is_in && near[axis].is_inside;
        }
        if (is_in) {
            const float value = cc__sample_cubic_float32(w.from, work->source.stride, work->source_size, near);
            WRITE_FLOAT32(w.to, value);
        } else {
            KEEP_4(w.to, plan);
        }
    }
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 4)
    upright_cubic_float32(const __grid_constant__ resample_plan plan)
{
    const cc__resample *work = &plan.work;
    for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {
        walk w;
        double position[3];
        float wx[4], wy[4], plane[4] = {0, 0, 0, 0};
        if (!begin_walk(&plan, patch, 4, 4, &w))
            continue;
        find_position(work, &w, position);
        const cc__near_float32 x = cc__near_raw_float32(position[0], work->source_size[0]);
        const cc__near_float32 y = cc__near_raw_float32(position[1], work->source_size[1]);
        if (!x.is_inside || x.first < 1 || x.first + 2 >= work->source_size[0] || !y.is_inside || y.first < 1 ||
            y.first + 2 >= work->source_size[1]) {
            cubic_edges(&plan, &w);
            continue;
        }
        cc__cubic_weights_float32(x.fraction, wx);
        cc__cubic_weights_float32(y.fraction, wy);
        const unsigned char *pixel =
            w.from + (x.first - 1) * work->source.stride[0] + (y.first - 1) * work->source.stride[1];
        const double start = cc__map_start(work->map.row[2], w.i, w.j);
        int64_t first = INT64_MIN;
        for (; w.left > 0; w.left--, w.k += 1, w.to += work->destination.stride[2]) {
            const cc__near_float32 z =
                cc__near_raw_float32(cc__map_position(work->map.row[2], start, w.k), work->source_size[2]);
            if (!z.is_inside) {
                KEEP_4(w.to, &plan);
                continue;
            }
            while (first != z.first) {
                /* The last of the next pixel's planes, or one by one all of one that is further on. */
                const bool is_next = first < z.first && first >= z.first - 4;
                first = is_next ? first + 1 : z.first - 3;
                plane[0] = plane[1];
                plane[1] = plane[2];
                plane[2] = plane[3];
                plane[3] = cubic_plane(work, pixel, first + 2, wx, wy);
            }
            float wz[4], sum = 0;
            cc__cubic_weights_float32(z.fraction, wz);
            CC__UNROLL
            for (int32_t n = 0; n < 4; n++)
                sum += wz[n] * plane[n];
            WRITE_FLOAT32(w.to, sum);
        }
    }
}

static bool is_upright_cubic(const cc__resample *work)
{
    return work->interpolation == CC_INTERPOLATION_CUBIC_BSPLINE && work->in_float32 && is_upright(work) &&
           work->destination_type == CC_PIXEL_FLOAT32 && work->source_size[2] > 1;
}

const void *cc__cubic_kernel(const cc__resample *work)
{
    return is_upright_cubic(work) ? (const void *)upright_cubic_float32 : NULL;
}
