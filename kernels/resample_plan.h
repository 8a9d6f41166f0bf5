/* What the kernels of resampling share: a thread's way along its column, and which kernel a work is for. */
#ifndef CC_KERNELS_RESAMPLE_PLAN_H
#define CC_KERNELS_RESAMPLE_PLAN_H

#include "kernels/columns.h"
#include "kernels/resample_math.h"
#include "kernels/step_math.h"

typedef struct resample_plan {
    cc__resample work;
    cc__columns columns; /* of the destination's components */
    int32_t stride[3];   /* the source's, where they are short */
    bool has_short_strides;
    bool has_short_planes;
    bool is_straight; /* displacements along an axis of the source are those of one component */
    uint64_t outside; /* the bits of a component of the destination */
} resample_plan;

/* A thread's column, and the pixel in it where it is. */
typedef struct walk {
    double i; /* whole numbers, of which the next is found exactly: conversions are slow */
    double j;
    double k;
    int64_t volume;
    int64_t rows; /* from this one to the last */
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
    const int64_t j = plan->columns.march == 1 ? column.first : column.still;
    const int64_t k = plan->columns.march == 1 ? column.still : column.first;
    out->i = (double)column.pixel;
    out->j = (double)j;
    out->k = (double)k;
    out->rows = work->size[1] - j;
    out->volume = column.volume;
    out->left = column.end - column.first;
    out->component = column.component;
    out->from = work->source.data + column.volume * work->source.stride[3] + column.component * source_bytes;
    out->to = work->destination.data + column.pixel * work->destination.stride[0] + j * work->destination.stride[1] +
              k * work->destination.stride[2] + column.volume * work->destination.stride[3] +
              column.component * destination_bytes;
    return true;
}

static __device__ inline void step_walk(const resample_plan *plan, walk *w)
{
    const bool is_second = plan->columns.march == 1;
    w->j += is_second ? 1.0 : 0.0;
    w->k += is_second ? 0.0 : 1.0;
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

/* The lower half of what cc__fixed_of() has holds all of a pixel inside. */
static __device__ inline uint32_t pixel_of(double position, float *out_fraction)
{
    const uint64_t bits = cc__bits_of_float64(position + 0x1.8p29);
    *out_fraction = (float)(int32_t)(bits & ((1 << CC__FIXED_BITS) - 1)) * 0x1p-23F;
    return (uint32_t)(bits >> CC__FIXED_BITS) - UINT32_C(0x90000000);
}

static __device__ inline bool is_between(double position, int64_t size)
{
    return (uint64_t)cc__fixed_of(position) < (uint64_t)(size - 1) << CC__FIXED_BITS;
}

#define READ_FLOAT32(FROM) (*(const float *)(FROM))
CC__DEFINE_SAMPLE(of_float32, float, float32, READ_FLOAT32)

/* WRITE: a float32; KEEP: the value outside, of so many bytes. */
#define WRITE_FLOAT32(TO, VALUE) (*(uint32_t *)(TO) = cc__store_float32(VALUE))
#define KEEP_4(TO, PLAN) (*(uint32_t *)(TO) = (uint32_t)(PLAN)->outside)

/* The third axis of one image is parallel to that of the other, and so are the planes of the others. */
static inline bool is_upright(const cc__resample *work)
{
    const double(*row)[4] = work->map.row;
    return work->field.data == NULL && work->size[2] > 1 && row[0][2] == 0 && row[1][2] == 0 && row[2][0] == 0 &&
           row[2][1] == 0;
}

static inline bool is_straight(const cc__resample *work)
{
    bool is = true;
    for (int32_t n = 0; n < 9; n++)
        is = is && (n / 3 == n % 3 || work->pull[n / 3][n % 3] == 0);
    return is;
}

static inline bool has_short_planes(const cc__resample *work)
{
    const int64_t *stride = work->source.stride, *size = work->source_size;
    for (int32_t axis = 0; axis < 3; axis++)
        if (stride[axis] < 0 || stride[axis] > INT32_MAX || size[axis] > CC__RESAMPLE_MOST_FIXED)
            return false;
    return stride[0] * (size[0] - 1) <= INT32_MAX - stride[1] * (size[1] - 1);
}

/* The kernel that does this work, NULL where none of the kind does. */
const void *cc__linear_kernel(const cc__resample *work);
const void *cc__nearest_kernel(const cc__resample *work);
const void *cc__cubic_kernel(const cc__resample *work);
const void *cc__warp_kernel(const cc__resample *work);
/* The same for some of what cc__linear_kernel() has a kernel for. The columns must be planned, and get their length. */
const void *cc__staged_kernel(resample_plan *plan, int32_t multiprocessor_count);

#endif
