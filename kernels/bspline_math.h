/*
 * The coefficients of a cubic B-spline along one line, by a recursion forth and one back with the pole sqrt(3) - 2: the
 * same for the CPU and the GPU, every operation rounds once. In float64, also where pixels and coefficients are
 * float32.
 * Source: Unser, "Splines: A Perfect Fit for Signal and Image Processing", 1999, box 2.
 */
#ifndef CC_KERNELS_BSPLINE_MATH_H
#define CC_KERNELS_BSPLINE_MATH_H

#include "kernels/any_type.h"
#include "kernels/shared.h"

#include <stdint.h>

#define CC__BSPLINE_POLE (-0.26794919243112270647)

/* Pixels further than this from the first have no part in how a line begins that float64 could tell. */
#define CC__BSPLINE_HORIZON 30

#define CC__DEFINE_BSPLINE(NUMBER, SUFFIX)                                                                             \
    CC__SHARED double cc__bspline_begin_##SUFFIX(int32_t type, const unsigned char *from, int64_t step, int64_t count) \
    {                                                                                                                  \
        const double pole = CC__BSPLINE_POLE;                                                                          \
        double sum = cc__load_any(type, from), power = pole;                                                           \
        if (count > CC__BSPLINE_HORIZON) {                                                                             \
            for (int64_t n = 1; n < CC__BSPLINE_HORIZON; n++, power *= pole)                                           \
                sum += power * cc__load_any(type, from + n * step);                                                    \
            return sum;                                                                                                \
        }                                                                                                              \
        /* All of it, there and back, and again and again. */                                                          \
        for (int64_t n = 1; n < count; n++, power *= pole)                                                             \
            sum += power * cc__load_any(type, from + n * step);                                                        \
        for (int64_t n = count - 2; n > 0; n--, power *= pole)                                                         \
            sum += power * cc__load_any(type, from + n * step);                                                        \
        return sum / (1 - power);                                                                                      \
    }                                                                                                                  \
                                                                                                                       \
    CC__SHARED void cc__bspline_line_##SUFFIX(int32_t type, const unsigned char *from, int64_t from_step,              \
                                              unsigned char *to, int64_t to_step, int64_t count)                       \
    {                                                                                                                  \
        const double pole = CC__BSPLINE_POLE;                                                                          \
        if (count == 1) {                                                                                              \
            *(NUMBER *)(void *)to = (NUMBER)cc__load_any(type, from);                                                  \
            return;                                                                                                    \
        }                                                                                                              \
        double value = 6 * cc__bspline_begin_##SUFFIX(type, from, from_step, count);                                   \
        double before = value;                                                                                         \
        *(NUMBER *)(void *)to = (NUMBER)value;                                                                         \
        for (int64_t n = 1; n < count; n++) {                                                                          \
            before = value;                                                                                            \
            value = 6 * cc__load_any(type, from + n * from_step) + pole * value;                                       \
            *(NUMBER *)(void *)(to + n * to_step) = (NUMBER)value;                                                     \
        }                                                                                                              \
        value = (value + pole * before) * (pole / (pole * pole - 1));                                                  \
        *(NUMBER *)(void *)(to + (count - 1) * to_step) = (NUMBER)value;                                               \
        for (int64_t n = count - 2; n >= 0; n--) {                                                                     \
            void *at = to + n * to_step;                                                                               \
            value = pole * (value - (double)*(NUMBER *)at);                                                            \
            *(NUMBER *)at = (NUMBER)value;                                                                             \
        }                                                                                                              \
    }

CC__DEFINE_BSPLINE(float, float32)
CC__DEFINE_BSPLINE(double, float64)

/*
 * Long lines of float32 coefficients: a group of pixels at a time, of which the way back begins one group further on as
 * if pixels stayed equal from there, and the way forth one group before the first, mirrored. pole^16 is 2^-30, so that
 * float32 hardly tells. A line is so read once and written once, and what one pixel spoils of the way back ends soon.
 */
#define CC__BSPLINE_GROUP 16
#define CC__BSPLINE_LONG 32 /* two groups */

/* On the way forth: the last value, those of a group and of the next one, and the one before them. */
typedef struct cc__bspline_window {
    double last;
    double before;
    double value[2 * CC__BSPLINE_GROUP];
} cc__bspline_window;

/* From the first group of a line and the pixel after it. */
CC__SHARED double cc__bspline_start(const float run[CC__BSPLINE_GROUP], float next)
{
    const double pole = CC__BSPLINE_POLE;
    double value = (double)next * (6 / (1 - pole));
    CC__UNROLL
    for (int32_t i = CC__BSPLINE_GROUP - 1; i > 0; i--)
        value = 6 * (double)run[i] + pole * value;
    return value;
}

CC__SHARED void cc__bspline_forth(const float run[CC__BSPLINE_GROUP], cc__bspline_window *window)
{
    const double pole = CC__BSPLINE_POLE;
    window->before = window->value[CC__BSPLINE_GROUP - 1];
    CC__UNROLL
    for (int32_t i = 0; i < CC__BSPLINE_GROUP; i++) {
        window->last = 6 * (double)run[i] + pole * window->last;
        window->value[i] = window->value[CC__BSPLINE_GROUP + i];
        window->value[CC__BSPLINE_GROUP + i] = window->last;
    }
}

/* Of the window's first group; left: pixels from its first one to the end of the line. */
CC__SHARED void cc__bspline_back(const cc__bspline_window *window, int64_t left, float out[CC__BSPLINE_GROUP])
{
    const double pole = CC__BSPLINE_POLE;
    double value = window->value[CC__BSPLINE_LONG - 1] * (pole / (pole - 1));
    if (left > CC__BSPLINE_LONG) {
        CC__UNROLL
        for (int32_t i = CC__BSPLINE_LONG - 2; i >= 0; i--) {
            value = pole * (value - window->value[i]);
            if (i < CC__BSPLINE_GROUP)
                out[i] = (float)value;
        }
        return;
    }
    CC__UNROLL
    for (int32_t i = CC__BSPLINE_LONG - 1; i >= 0; i--) {
        if (i == left - 1)
            value = (window->value[i] + pole * (i > 0 ? window->value[i - 1] : window->before)) *
                    (pole / (pole * pole - 1));
        else if (i < left)
            value = pole * (value - window->value[i]);
        if (i < CC__BSPLINE_GROUP)
            out[i] = (float)value;
    }
}

/* Also in place. */
CC__SHARED_APART void cc__bspline_long_line(int32_t type, const unsigned char *from, int64_t from_step,
                                            unsigned char *to, int64_t to_step, int64_t count)
{
    float run[CC__BSPLINE_GROUP], next[CC__BSPLINE_GROUP];
    cc__bspline_window window = {0, 0, {0}};
    for (int64_t first = -CC__BSPLINE_LONG; first < count; first += CC__BSPLINE_GROUP) {
        const int64_t ahead = first + CC__BSPLINE_LONG;
        for (int64_t i = 0; i < CC__BSPLINE_GROUP; i++)
            next[i] = ahead + i < count ? (float)cc__load_any(type, from + (ahead + i) * from_step) : 0;
        if (ahead == 0)
            window.last = cc__bspline_start(next, (float)cc__load_any(type, from + CC__BSPLINE_GROUP * from_step));
        if (first >= 0) {
            cc__bspline_back(&window, count - first, run);
            for (int64_t i = 0; i < CC__BSPLINE_GROUP && first + i < count; i++)
                *(float *)(void *)(to + (first + i) * to_step) = run[i];
        }
        cc__bspline_forth(next, &window);
    }
}

/* As in_float32 is. */
CC__SHARED void cc__bspline_line(int32_t in_float32, int32_t type, const unsigned char *from, int64_t from_step,
                                 unsigned char *to, int64_t to_step, int64_t count)
{
    if (!in_float32)
        cc__bspline_line_float64(type, from, from_step, to, to_step, count);
    else if (count > CC__BSPLINE_LONG)
        cc__bspline_long_line(type, from, from_step, to, to_step, count);
    else
        cc__bspline_line_float32(type, from, from_step, to, to_step, count);
}

#endif
