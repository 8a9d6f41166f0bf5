/* The nearest pixel as it is, without a field. */
#include "kernels/resample_plan.h"

#define DEFINE_NEAREST(BYTES, HOLDER)                                                                                  \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        nearest_##BYTES(const __grid_constant__ resample_plan plan)                                                    \
    {                                                                                                                  \
        const cc__resample *work = &plan.work;                                                                         \
        for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {                             \
            walk w;                                                                                                    \
            if (!begin_walk(&plan, patch, BYTES, BYTES, &w))                                                           \
                continue;                                                                                              \
            for (; w.left > 0; step_walk(&plan, &w)) {                                                                 \
                const unsigned char *pixel = w.from;                                                                   \
                double position[3];                                                                                    \
                find_position(work, &w, position);                                                                     \
                const bool inside = find_nearest(work, position, &pixel);                                              \
                *(HOLDER *)w.to = inside ? *(const HOLDER *)pixel : (HOLDER)plan.outside;                              \
            }                                                                                                          \
        }                                                                                                              \
    }

DEFINE_NEAREST(1, uint8_t)
DEFINE_NEAREST(2, uint16_t)
DEFINE_NEAREST(4, uint32_t)
DEFINE_NEAREST(8, uint64_t)

/* The same where the third axes are parallel: several pixels of a column at a time. */
#define NEAREST_RUN 4

#define DEFINE_UPRIGHT_NEAREST(BYTES, HOLDER)                                                                          \
    static __device__ inline HOLDER nearest_along_##BYTES(const resample_plan *plan, const unsigned char *column,      \
                                                          double start, double k, bool is_inside)                      \
    {                                                                                                                  \
        const cc__resample *work = &plan->work;                                                                        \
        const int64_t at =                                                                                             \
            cc__nearest_of(cc__map_position(work->map.row[2], start, k), work->source_size[2], work->is_fixed != 0);   \
        return is_inside && at >= 0 ? *(const HOLDER *)(column + at * work->source.stride[2]) : (HOLDER)plan->outside; \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        upright_nearest_##BYTES(const __grid_constant__ resample_plan plan)                                            \
    {                                                                                                                  \
        const cc__resample *work = &plan.work;                                                                         \
        const int64_t step = work->destination.stride[2];                                                              \
        for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {                             \
            walk w;                                                                                                    \
            double position[3];                                                                                        \
            bool is_inside = true;                                                                                     \
            if (!begin_walk(&plan, patch, BYTES, BYTES, &w))                                                           \
                continue;                                                                                              \
            find_position(work, &w, position);                                                                         \
            CC__UNROLL                                                                                                 \
            for (int32_t axis = 0; axis < 2; axis++) {                                                                 \
                const int64_t at = cc__nearest_of(position[axis], work->source_size[axis], work->is_fixed != 0);       \
                is_inside = is_inside && at >= 0;                                                                      \
                w.from += (at >= 0 ? at : 0) * work->source.stride[axis];                                              \
            }                                                                                                          \
            const double start = cc__map_start(work->map.row[2], w.i, w.j);                                            \
            for (; w.left >= NEAREST_RUN; w.left -= NEAREST_RUN) {                                                     \
                HOLDER found[NEAREST_RUN];                                                                             \
                CC__UNROLL                                                                                             \
                for (int32_t n = 0; n < NEAREST_RUN; n++)                                                              \
                    found[n] = nearest_along_##BYTES(&plan, w.from, start, w.k + n, is_inside);                        \
                CC__UNROLL                                                                                             \
                for (int32_t n = 0; n < NEAREST_RUN; n++)                                                              \
                    *(HOLDER *)(w.to + n * step) = found[n];                                                           \
                w.k += NEAREST_RUN;                                                                                    \
                w.to += NEAREST_RUN * step;                                                                            \
            }                                                                                                          \
            for (; w.left > 0; w.left--, w.k += 1, w.to += step)                                                       \
                *(HOLDER *)w.to = nearest_along_##BYTES(&plan, w.from, start, w.k, is_inside);                         \
        }                                                                                                              \
    }

DEFINE_UPRIGHT_NEAREST(1, uint8_t)
DEFINE_UPRIGHT_NEAREST(2, uint16_t)
DEFINE_UPRIGHT_NEAREST(4, uint32_t)
DEFINE_UPRIGHT_NEAREST(8, uint64_t)

static const void *nearest_kernel(cc_pixel_type type, bool is_upright)
{
    switch (cc__bytes_of_real((int32_t)type)) {
    case 1:
        return is_upright ? (const void *)upright_nearest_1 : (const void *)nearest_1;
    case 2:
        return is_upright ? (const void *)upright_nearest_2 : (const void *)nearest_2;
    case 4:
        return is_upright ? (const void *)upright_nearest_4 : (const void *)nearest_4;
    }
    return is_upright ? (const void *)upright_nearest_8 : (const void *)nearest_8;
}

const void *cc__nearest_kernel(const cc__resample *work)
{
    const bool is_copied = work->interpolation == CC_INTERPOLATION_NEAREST &&
                           work->source_type == work->destination_type && work->field.data == NULL;
    return is_copied ? nearest_kernel(work->source_type, is_upright(work)) : NULL;
}
