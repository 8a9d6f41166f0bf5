/*
 * Where a point is between pixels, and what an image is there: the same for the CPU and the GPU, every operation rounds
 * once.
 */
#ifndef CC_KERNELS_RESAMPLE_MATH_H
#define CC_KERNELS_RESAMPLE_MATH_H

#include "base/resample.h"
#include "kernels/any_type.h"
#include "kernels/shared.h"

#include <stdbool.h>

/* Never summed up along a row or column, so that no error grows. The third axis comes last: columns go along it. */
CC__SHARED double cc__map_start(const double row[4], double i, double j)
{
    return (row[0] * i + row[1] * j) + row[3];
}

CC__SHARED double cc__map_position(const double row[4], double start, double k)
{
    return start + row[2] * k;
}

/*
 * A position in units of 2^-23: 1.5 * 2^29 is a float64 whose last bit is worth one, so that the addition rounds. What
 * is beyond +-2^28, or NaN, gives a number that is beyond too, on one side or the other.
 */
#define CC__FIXED_BITS 23
#define CC__FIXED_HALF (INT64_C(1) << (CC__FIXED_BITS - 1))

CC__SHARED int64_t cc__fixed_of(double position)
{
    return (int64_t)(cc__bits_of_float64(position + 0x1.8p29) - UINT64_C(0x41c8000000000000));
}

CC__SHARED bool cc__fixed_is_inside(int64_t fixed, int64_t size)
{
    return (uint64_t)fixed + CC__FIXED_HALF < (uint64_t)size << CC__FIXED_BITS;
}

/* The pixel before the point along one axis, and how far the next one is: 0 where that has no weight, or is not there.
 */
#define CC__DEFINE_NEAR(NUMBER, SUFFIX)                                                                                \
    typedef struct cc__near_##SUFFIX {                                                                                 \
        int64_t first;                                                                                                 \
        NUMBER fraction;                                                                                               \
        bool is_inside;                                                                                                \
    } cc__near_##SUFFIX;                                                                                               \
                                                                                                                       \
    CC__SHARED cc__near_##SUFFIX cc__near_in_##SUFFIX(int64_t first, NUMBER fraction, int64_t size, bool is_inside)    \
    {                                                                                                                  \
        cc__near_##SUFFIX near = {first, fraction, is_inside};                                                         \
        if (!is_inside || first < 0) {                                                                                 \
            near.first = 0;                                                                                            \
            near.fraction = 0;                                                                                         \
        } else if (first >= size - 1) {                                                                                \
            near.first = size - 1;                                                                                     \
            near.fraction = 0;                                                                                         \
        }                                                                                                              \
        return near;                                                                                                   \
    }                                                                                                                  \
                                                                                                                       \
    CC__SHARED NUMBER cc__between_##SUFFIX(NUMBER a, NUMBER b, NUMBER fraction)                                        \
    {                                                                                                                  \
        const NUMBER way = fraction * (b - a);                                                                         \
        return fraction != 0 ? a + way : a;                                                                            \
    }                                                                                                                  \
                                                                                                                       \
    /* A cubic B-spline, of the pixels from the one before `first` on. */                                              \
    CC__SHARED void cc__cubic_weights_##SUFFIX(NUMBER f, NUMBER out[4])                                                \
    {                                                                                                                  \
        const NUMBER g = 1 - f, sixth = (NUMBER)(1.0 / 6.0), third = (NUMBER)(2.0 / 3.0);                              \
        out[0] = g * g * g * sixth;                                                                                    \
        out[1] = third - f * f * (1 - f / 2);                                                                          \
        out[2] = third - g * g * (1 - g / 2);                                                                          \
        out[3] = f * f * f * sixth;                                                                                    \
    }

CC__DEFINE_NEAR(float, float32)
CC__DEFINE_NEAR(double, float64)

CC__SHARED int64_t cc__floor_of(double position)
{
    const int64_t whole = (int64_t)position;
    return (double)whole > position ? whole - 1 : whole;
}

/* For the cubic B-spline the same, but as it is at the edges. */
CC__SHARED cc__near_float32 cc__near_raw_float32(double position, int64_t size)
{
    const int64_t fixed = cc__fixed_of(position);
    cc__near_float32 near = {0, 0, cc__fixed_is_inside(fixed, size)};
    if (near.is_inside) {
        near.first = fixed >> CC__FIXED_BITS;
        near.fraction = (float)(int32_t)(fixed & ((1 << CC__FIXED_BITS) - 1)) * 0x1p-23F;
    }
    return near;
}

CC__SHARED cc__near_float64 cc__near_raw_float64(double position, int64_t size)
{
    cc__near_float64 near = {0, 0, position >= -0.5 && position < (double)size - 0.5};
    if (near.is_inside) {
        near.first = cc__floor_of(position);
        near.fraction = position - (double)near.first;
    }
    return near;
}

CC__SHARED cc__near_float32 cc__near_float32_of(double position, int64_t size)
{
    const cc__near_float32 near = cc__near_raw_float32(position, size);
    return cc__near_in_float32(near.first, near.fraction, size, near.is_inside);
}

CC__SHARED cc__near_float64 cc__near_float64_of(double position, int64_t size)
{
    const cc__near_float64 near = cc__near_raw_float64(position, size);
    return cc__near_in_float64(near.first, near.fraction, size, near.is_inside);
}

/* The nearest pixel; -1 outside. */
CC__SHARED int64_t cc__nearest_of(double position, int64_t size, bool is_fixed)
{
    if (is_fixed) {
        const int64_t fixed = cc__fixed_of(position);
        return cc__fixed_is_inside(fixed, size) ? (fixed + CC__FIXED_HALF) >> CC__FIXED_BITS : -1;
    }
    if (!(position >= -0.5 && position < (double)size - 0.5))
        return -1;
    const int64_t nearest = cc__floor_of(position + 0.5);
    return nearest < size ? nearest : size - 1;
}

/* NaN is at the first pixel, so that nothing else is read than what there is. */
CC__SHARED double cc__clamped_position(double position, int64_t size)
{
    const double last = (double)(size - 1);
    return !(position > 0) ? 0 : position < last ? position : last;
}

CC__SHARED int64_t cc__mirrored(int64_t at, int64_t size)
{
    if (at < 0)
        at = -at;
    if (at >= size)
        at = 2 * (size - 1) - at;
    return at < 0 ? -at : at;
}

/*
 * What a component of an image is at a place. LOAD(from) is that of one pixel as NUMBER; it may use `type`. Along the
 * rows first, then the second axis, then the third.
 */
#define CC__DEFINE_SAMPLE(NAME, NUMBER, SUFFIX, LOAD)                                                                  \
    CC__SHARED NUMBER cc__sample_plane_##NAME(int32_t type, const unsigned char *p, int64_t x, int64_t y, NUMBER fx,   \
                                              NUMBER fy)                                                               \
    {                                                                                                                  \
        const NUMBER a = cc__between_##SUFFIX(LOAD(p), LOAD(p + x), fx);                                               \
        const NUMBER b = cc__between_##SUFFIX(LOAD(p + y), LOAD(p + y + x), fx);                                       \
        (void)type;                                                                                                    \
        return cc__between_##SUFFIX(a, b, fy);                                                                         \
    }                                                                                                                  \
                                                                                                                       \
    CC__SHARED NUMBER cc__sample_linear_##NAME(int32_t type, const unsigned char *first,                               \
                                               const int64_t stride[CC_MAX_DIMENSION],                                 \
                                               const cc__near_##SUFFIX near[3])                                        \
    {                                                                                                                  \
        const NUMBER fx = near[0].fraction, fy = near[1].fraction, fz = near[2].fraction;                              \
        const int64_t x = fx != 0 ? stride[0] : 0, y = fy != 0 ? stride[1] : 0;                                        \
        const unsigned char *p =                                                                                       \
            first + near[0].first * stride[0] + near[1].first * stride[1] + near[2].first * stride[2];                 \
        const NUMBER a = cc__sample_plane_##NAME(type, p, x, y, fx, fy);                                               \
        if (fz == 0)                                                                                                   \
            return a;                                                                                                  \
        return cc__between_##SUFFIX(a, cc__sample_plane_##NAME(type, p + stride[2], x, y, fx, fy), fz);                \
    }

/* The same with the coefficients of a cubic B-spline. */
#define CC__DEFINE_CUBIC(NUMBER, SUFFIX)                                                                               \
    CC__SHARED NUMBER cc__sample_cubic_##SUFFIX(const unsigned char *first, const int64_t stride[CC_MAX_DIMENSION],    \
                                                const int64_t size[CC_MAX_DIMENSION], const cc__near_##SUFFIX near[3]) \
    {                                                                                                                  \
        NUMBER wx[4], wy[4], wz[4];                                                                                    \
        NUMBER volume = 0;                                                                                             \
        const int32_t x_count = size[0] > 1 ? 4 : 1, y_count = size[1] > 1 ? 4 : 1, z_count = size[2] > 1 ? 4 : 1;     \
        cc__cubic_weights_##SUFFIX(near[0].fraction, wx);                                                              \
        cc__cubic_weights_##SUFFIX(near[1].fraction, wy);                                                              \
        cc__cubic_weights_##SUFFIX(near[2].fraction, wz);                                                              \
        for (int32_t k = 0; k < z_count; k++) {                                                                        \
            const unsigned char *slice =                                                                               \
                z_count == 1 ? first : first + cc__mirrored(near[2].first - 1 + k, size[2]) * stride[2];               \
            NUMBER plane = 0;                                                                                          \
            for (int32_t j = 0; j < y_count; j++) {                                                                    \
                const unsigned char *row =                                                                             \
                    y_count == 1 ? slice : slice + cc__mirrored(near[1].first - 1 + j, size[1]) * stride[1];           \
                NUMBER line = 0;                                                                                       \
                for (int32_t i = 0; i < x_count; i++) {                                                                \
                    const int64_t at = x_count == 1 ? 0 : cc__mirrored(near[0].first - 1 + i, size[0]);                \
                    const NUMBER value = *(const NUMBER *)(const void *)(row + at * stride[0]);                        \
                    line += x_count == 1 ? value : wx[i] * value;                                                      \
                }                                                                                                      \
                plane += y_count == 1 ? line : wy[j] * line;                                                           \
            }                                                                                                          \
            volume += z_count == 1 ? plane : wz[k] * plane;                                                            \
        }                                                                                                              \
        return volume;                                                                                                 \
    }

CC__DEFINE_CUBIC(float, float32)
CC__DEFINE_CUBIC(double, float64)

#define CC__LOAD_ANY_FLOAT32(FROM) ((float)cc__load_any(type, FROM))
#define CC__LOAD_ANY_FLOAT64(FROM) (cc__load_any(type, FROM))
CC__DEFINE_SAMPLE(any_float32, float, float32, CC__LOAD_ANY_FLOAT32)
CC__DEFINE_SAMPLE(any_float64, double, float64, CC__LOAD_ANY_FLOAT64)

/* The position of an output pixel, with its displacement where there is a field; starts are cc__map_start() of the
 * maps. */
#define CC__DEFINE_POSITION(NAME, NUMBER, SUFFIX)                                                                      \
    CC__SHARED void cc__displaced_##NAME(const cc__resample *work, const double start[3], double k, int64_t l,         \
                                         double position[3])                                                           \
    {                                                                                                                  \
        const unsigned char *first = work->field.data + (work->field_size[3] > 1 ? l : 0) * work->field.stride[3];     \
        const int64_t bytes = cc__bytes_of_real((int32_t)work->field_type);                                            \
        cc__near_##SUFFIX near[3];                                                                                     \
        NUMBER d[3] = {0, 0, 0};                                                                                       \
        CC__UNROLL                                                                                                     \
        for (int32_t axis = 0; axis < 3; axis++) {                                                                     \
            const double at = cc__map_position(work->field_map.row[axis], start[axis], k);                             \
            const int64_t size = work->field_size[axis];                                                               \
            near[axis] = cc__near_##SUFFIX##_of(cc__clamped_position(at, size), size);                                 \
        }                                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t axis = 0; axis < 3; axis++)                                                                       \
            if (axis < work->axes)                                                                                     \
                d[axis] = cc__sample_linear_##NAME((int32_t)work->field_type, first + axis * bytes,                    \
                                                   work->field.stride, near);                                          \
        CC__UNROLL                                                                                                     \
        for (int32_t axis = 0; axis < 3; axis++) {                                                                     \
            const double *pull = work->pull[axis];                                                                     \
            position[axis] += (pull[0] * (double)d[0] + pull[1] * (double)d[1]) + pull[2] * (double)d[2];              \
        }                                                                                                              \
    }

CC__DEFINE_POSITION(any_float32, float, float32)
CC__DEFINE_POSITION(any_float64, double, float64)

#endif
