#include "kernels/launch.h"
#include "kernels/resample_plan.h"

static __device__ inline void copy_component(int32_t type, unsigned char *to, const unsigned char *from)
{
    switch (cc__bytes_of_real(type)) {
    case 1:
        *to = *from;
        break;
    case 2:
        *(uint16_t *)to = *(const uint16_t *)from;
        break;
    case 4:
        *(uint32_t *)to = *(const uint32_t *)from;
        break;
    default:
        *(uint64_t *)to = *(const uint64_t *)from;
        break;
    }
}

/* Every type, interpolation and field. */
#define DEFINE_ANY(NUMBER, SUFFIX)                                                                                     \
    static __device__ CC__NOT_INLINE double sample_any_##SUFFIX(const cc__resample *work, const unsigned char *from,   \
                                                                const double position[3])                              \
    {                                                                                                                  \
        const bool is_cubic = work->interpolation == CC_INTERPOLATION_CUBIC_BSPLINE;                                   \
        cc__near_##SUFFIX near[3];                                                                                     \
        for (int32_t axis = 0; axis < 3; axis++) {                                                                     \
            near[axis] = is_cubic ? cc__near_raw_##SUFFIX(position[axis], work->source_size[axis])                     \
                                  : cc__near_##SUFFIX##_of(position[axis], work->source_size[axis]);                   \
            if (!near[axis].is_inside)                                                                                 \
                return work->outside;                                                                                  \
        }                                                                                                              \
        if (is_cubic)                                                                                                  \
            return (double)cc__sample_cubic_##SUFFIX(from, work->source.stride, work->source_size, near);              \
        return (double)cc__sample_linear_any_##SUFFIX((int32_t)work->source_type, from, work->source.stride, near);    \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        resample_any_##SUFFIX(const __grid_constant__ resample_plan plan)                                              \
    {                                                                                                                  \
        const cc__resample *work = &plan.work;                                                                         \
        const int64_t source_bytes = cc__bytes_of_real((int32_t)work->source_type);                                    \
        const int64_t destination_bytes = cc__bytes_of_real((int32_t)work->destination_type);                          \
        for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {                             \
            walk w;                                                                                                    \
            if (!begin_walk(&plan, patch, source_bytes, destination_bytes, &w))                                        \
                continue;                                                                                              \
            for (; w.left > 0; step_walk(&plan, &w)) {                                                                 \
                double position[3];                                                                                    \
                const unsigned char *pixel = w.from;                                                                   \
                find_position(work, &w, position);                                                                     \
                if (work->field.data != NULL) {                                                                        \
                    double start[3];                                                                                   \
                    find_field_start(work, &w, start);                                                                 \
                    cc__displaced_any_##SUFFIX(work, start, w.k, w.volume, position);                                  \
                }                                                                                                      \
                double value = work->outside;                                                                          \
                if (work->interpolation != CC_INTERPOLATION_NEAREST) {                                                 \
                    value = sample_any_##SUFFIX(work, pixel, position);                                                \
                } else if (find_nearest(work, position, &pixel)) {                                                     \
                    if (work->source_type == work->destination_type) {                                                 \
                        copy_component((int32_t)work->source_type, w.to, pixel);                                       \
                        continue;                                                                                      \
                    }                                                                                                  \
                    value = cc__load_any((int32_t)work->source_type, pixel);                                           \
                }                                                                                                      \
                cc__store_any((int32_t)work->destination_type, w.to, value);                                           \
            }                                                                                                          \
        }                                                                                                              \
    }

DEFINE_ANY(float, float32)
DEFINE_ANY(double, float64)

static const void *kernel_of(const cc__resample *work)
{
    const void *const kernels[] = {cc__nearest_kernel(work), cc__warp_kernel(work), cc__linear_kernel(work),
                                   cc__cubic_kernel(work)};
    for (int32_t n = 0; n < 4; n++)
        if (kernels[n] != NULL)
            return kernels[n];
    return work->in_float32 ? (const void *)resample_any_float32 : (const void *)resample_any_float64;
}

static cc_status launch_coefficients(const cc__resample *work, const cc__launcher *launcher)
{
    cc__bspline bspline;
    cc_status status = CC_OK;
    for (int32_t axis = 0; axis < work->axes && status == CC_OK; axis++)
        if (cc__bspline_plan(work, axis, &bspline))
            status = cc__launch_bspline(&bspline, launcher);
    return status;
}

cc_status cc__launch_resample(const void *work, const cc__launcher *launcher)
{
    resample_plan plan;
    plan.work = *(const cc__resample *)work;
    if (plan.work.interpolation == CC_INTERPOLATION_CUBIC_BSPLINE) {
        const cc_status status = launch_coefficients(&plan.work, launcher);
        if (status != CC_OK)
            return status;
    }
    plan.outside = 0;
    cc__store_any((int32_t)plan.work.destination_type, (unsigned char *)&plan.outside, plan.work.outside);
    plan.has_short_strides = true;
    for (int32_t axis = 0; axis < 3; axis++) {
        plan.stride[axis] = (int32_t)plan.work.source.stride[axis];
        plan.has_short_strides = plan.has_short_strides && plan.stride[axis] == plan.work.source.stride[axis];
    }
    plan.has_short_planes = has_short_planes(&plan.work);
    plan.is_straight = is_straight(&plan.work);
    /* Such columns are long, since two or more planes are there before their first pixel. */
    const bool is_long = is_upright(&plan.work);
    cc__columns_plan(
        plan.work.size, plan.work.components, is_long && cc__linear_kernel(&plan.work) != NULL ? CC__COLUMN_ROWS : 1,
        is_long ? (launcher->multiprocessor_count + 3) / 4 : launcher->multiprocessor_count, &plan.columns);
    const void *staged = cc__staged_kernel(&plan, launcher->multiprocessor_count);
    void *arguments[] = {&plan};
    return launcher->launch(launcher, staged != NULL ? staged : kernel_of(&plan.work),
                            cc__columns_blocks(&plan.columns, launcher->multiprocessor_count), CC__BLOCK_THREADS,
                            arguments);
}
