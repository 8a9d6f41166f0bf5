#include "kernels/columns.h"
#include "kernels/launch.h"
#include "kernels/resample_math.h"

typedef struct resample_plan {
    cc__resample work;
    cc__columns columns; /* of the destination's components */
} resample_plan;

/* A thread's column, and the pixel in it where it is. */
typedef struct walk {
    int64_t i;
    int64_t j;
    int64_t k;
    int64_t volume;
    int64_t left; /* pixels of the column still to do */
    int32_t component;
    const unsigned char *from; /* the source's first pixel of the volume, and its component */
    unsigned char *to;
} walk;

static __device__ inline bool begin_walk(const resample_plan *plan, int64_t patch, int64_t source_bytes,
                                         int64_t destination_bytes, walk *out)
{
    const cc__resample *work = &plan->work;
    cc__column column;
    if (!cc__columns_find(&plan->columns, patch, (int32_t)threadIdx.x, &column))
        return false;
    out->i = column.pixel;
    out->j = plan->columns.march == 1 ? column.first : column.still;
    out->k = plan->columns.march == 1 ? column.still : column.first;
    out->volume = column.volume;
    out->left = column.end - column.first;
    out->component = column.component;
    out->from = work->source.data + column.volume * work->source.stride[3] + column.component * source_bytes;
    out->to = work->destination.data + out->i * work->destination.stride[0] + out->j * work->destination.stride[1] +
              out->k * work->destination.stride[2] + column.volume * work->destination.stride[3] +
              column.component * destination_bytes;
    return true;
}

static __device__ inline void step_walk(const resample_plan *plan, walk *w)
{
    const bool is_second = plan->columns.march == 1;
    w->j += is_second;
    w->k += !is_second;
    w->to += is_second ? plan->work.destination.stride[1] : plan->work.destination.stride[2];
    w->left--;
}

static __device__ inline void find_position(const cc__resample *work, const walk *w, double out[3])
{
    CC__UNROLL
    for (int32_t axis = 0; axis < 3; axis++)
        out[axis] = cc__map_position(work->map.row[axis], cc__map_start(work->map.row[axis], w->i, w->j), w->k);
}

static __device__ inline void find_field_start(const cc__resample *work, const walk *w, double out[3])
{
    CC__UNROLL
    for (int32_t axis = 0; axis < 3; axis++)
        out[axis] = cc__map_start(work->field_map.row[axis], w->i, w->j);
}

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

/* The nearest pixel; false outside. */
static __device__ inline bool find_nearest(const cc__resample *work, const double position[3],
                                           const unsigned char **pixel)
{
    CC__UNROLL
    for (int32_t axis = 0; axis < 3; axis++) {
        const int64_t at = cc__nearest_of(position[axis], work->source_size[axis], work->is_fixed != 0);
        if (at < 0)
            return false;
        *pixel += at * work->source.stride[axis];
    }
    return true;
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
                    cc__displaced_##SUFFIX(work, start, w.k, w.volume, position);                                      \
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

/* Linear, without a field, in float32, between some types. */
#define READ_UINT8(FROM) ((float)*(const uint8_t *)(FROM))
#define READ_INT16(FROM) ((float)*(const int16_t *)(FROM))
#define READ_UINT16(FROM) ((float)*(const uint16_t *)(FROM))
#define READ_FLOAT32(FROM) (*(const float *)(FROM))
CC__DEFINE_SAMPLE(of_uint8, float, float32, READ_UINT8)
CC__DEFINE_SAMPLE(of_int16, float, float32, READ_INT16)
CC__DEFINE_SAMPLE(of_uint16, float, float32, READ_UINT16)
CC__DEFINE_SAMPLE(of_float32, float, float32, READ_FLOAT32)

#define WRITE_UINT8(TO, VALUE) (*(uint8_t *)(TO) = cc__store_UINT8((double)(VALUE)))
#define WRITE_INT16(TO, VALUE) (*(int16_t *)(TO) = cc__store_INT16((double)(VALUE)))
#define WRITE_UINT16(TO, VALUE) (*(uint16_t *)(TO) = cc__store_UINT16((double)(VALUE)))
#define WRITE_FLOAT32(TO, VALUE) (*(uint32_t *)(TO) = cc__store_FLOAT32((double)(VALUE)))

/* The axes of both images are parallel: of neighbours in a column, one needs a plane of the other's. */
typedef struct planes {
    int64_t first;
    int64_t second;
    float first_value;
    float second_value;
} planes;

#define DEFINE_LINEAR(NAME, SAMPLE, WRITE, SOURCE_BYTES, DESTINATION_BYTES)                                            \
    static __device__ inline float sample_planes_##NAME(const unsigned char *p, int64_t z, int64_t x, int64_t y,       \
                                                        float fx, float fy, const cc__near_float32 *near, planes *had) \
    {                                                                                                                  \
        float first = had->first_value, second = had->second_value;                                                    \
        if (near->first == had->second)                                                                                \
            first = had->second_value;                                                                                 \
        else if (near->first != had->first)                                                                            \
            first = cc__sample_plane_##SAMPLE(0, p + near->first * z, x, y, fx, fy);                                   \
        had->first = near->first;                                                                                      \
        had->first_value = first;                                                                                      \
        if (near->fraction == 0)                                                                                       \
            return first;                                                                                              \
        if (near->first + 1 != had->second)                                                                            \
            second = cc__sample_plane_##SAMPLE(0, p + (near->first + 1) * z, x, y, fx, fy);                            \
        had->second = near->first + 1;                                                                                 \
        had->second_value = second;                                                                                    \
        return cc__between_float32(first, second, near->fraction);                                                     \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        parallel_##NAME(const __grid_constant__ resample_plan plan)                                                    \
    {                                                                                                                  \
        const cc__resample *work = &plan.work;                                                                         \
        const double *row = work->map.row[2];                                                                          \
        for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {                             \
            walk w;                                                                                                    \
            double position[3];                                                                                        \
            planes had = {-1, -1, 0, 0};                                                                               \
            if (!begin_walk(&plan, patch, SOURCE_BYTES, DESTINATION_BYTES, &w))                                        \
                continue;                                                                                              \
            find_position(work, &w, position);                                                                         \
            const cc__near_float32 nx = cc__near_float32_of(position[0], work->source_size[0]);                        \
            const cc__near_float32 ny = cc__near_float32_of(position[1], work->source_size[1]);                        \
            const bool is_inside = nx.is_inside && ny.is_inside;                                                       \
            const int64_t x = nx.fraction != 0 ? work->source.stride[0] : 0;                                           \
            const int64_t y = ny.fraction != 0 ? work->source.stride[1] : 0;                                           \
            const unsigned char *p = w.from + nx.first * work->source.stride[0] + ny.first * work->source.stride[1];   \
            for (; w.left > 0; step_walk(&plan, &w)) {                                                                 \
                const double at = cc__map_position(row, cc__map_start(row, w.i, w.j), w.k);                            \
                const cc__near_float32 nz = cc__near_float32_of(at, work->source_size[2]);                             \
                if (is_inside && nz.is_inside)                                                                         \
                    WRITE(w.to,                                                                                        \
                          sample_planes_##NAME(p, work->source.stride[2], x, y, nx.fraction, ny.fraction, &nz, &had)); \
                else                                                                                                   \
                    WRITE(w.to, work->outside);                                                                        \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        oblique_##NAME(const __grid_constant__ resample_plan plan)                                                     \
    {                                                                                                                  \
        const cc__resample *work = &plan.work;                                                                         \
        for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {                             \
            walk w;                                                                                                    \
            if (!begin_walk(&plan, patch, SOURCE_BYTES, DESTINATION_BYTES, &w))                                        \
                continue;                                                                                              \
            for (; w.left > 0; step_walk(&plan, &w)) {                                                                 \
                double position[3];                                                                                    \
                cc__near_float32 near[3];                                                                              \
                find_position(work, &w, position);                                                                     \
                CC__UNROLL                                                                                             \
                for (int32_t axis = 0; axis < 3; axis++)                                                               \
                    near[axis] = cc__near_float32_of(position[axis], work->source_size[axis]);                         \
                if (near[0].is_inside && near[1].is_inside && near[2].is_inside)                                       \
                    WRITE(w.to, cc__sample_linear_##SAMPLE(0, w.from, work->source.stride, near));                     \
                else                                                                                                   \
                    WRITE(w.to, work->outside);                                                                        \
            }                                                                                                          \
        }                                                                                                              \
    }

/* X(from, to, SAMPLE, WRITE, bytes of each) */
#define FOR_EACH_PAIR(X)                                                                                               \
    X(FLOAT32, FLOAT32, of_float32, WRITE_FLOAT32, 4, 4)                                                               \
    X(UINT8, UINT8, of_uint8, WRITE_UINT8, 1, 1)                                                                       \
    X(UINT8, FLOAT32, of_uint8, WRITE_FLOAT32, 1, 4)                                                                   \
    X(INT16, INT16, of_int16, WRITE_INT16, 2, 2)                                                                       \
    X(INT16, FLOAT32, of_int16, WRITE_FLOAT32, 2, 4)                                                                   \
    X(UINT16, UINT16, of_uint16, WRITE_UINT16, 2, 2)                                                                   \
    X(UINT16, FLOAT32, of_uint16, WRITE_FLOAT32, 2, 4)

#define DEFINE_PAIR(FROM, TO, SAMPLE, WRITE, FROM_BYTES, TO_BYTES)                                                     \
    DEFINE_LINEAR(FROM##_##TO, SAMPLE, WRITE, FROM_BYTES, TO_BYTES)
FOR_EACH_PAIR(DEFINE_PAIR)

static bool is_parallel(const resample_plan *plan)
{
    const double(*row)[4] = plan->work.map.row;
    return plan->columns.march == 2 && row[0][1] == 0 && row[0][2] == 0 && row[1][0] == 0 && row[1][2] == 0 &&
           row[2][0] == 0 && row[2][1] == 0;
}

static const void *kernel_of(const resample_plan *plan)
{
    const cc__resample *work = &plan->work;
    if (work->interpolation == CC_INTERPOLATION_LINEAR && work->in_float32 && work->field.data == NULL) {
#define CHOOSE_PAIR(FROM, TO, SAMPLE, WRITE, FROM_BYTES, TO_BYTES)                                                     \
    if (work->source_type == CC_PIXEL_##FROM && work->destination_type == CC_PIXEL_##TO)                               \
        return is_parallel(plan) ? (const void *)parallel_##FROM##_##TO : (const void *)oblique_##FROM##_##TO;
        FOR_EACH_PAIR(CHOOSE_PAIR)
#undef CHOOSE_PAIR
    }
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
    cc__columns_plan(plan.work.size, plan.work.components, 1, launcher->multiprocessor_count, &plan.columns);
    void *arguments[] = {&plan};
    return launcher->launch(launcher, kernel_of(&plan),
                            cc__columns_blocks(&plan.columns, launcher->multiprocessor_count), CC__BLOCK_THREADS,
                            arguments);
}
