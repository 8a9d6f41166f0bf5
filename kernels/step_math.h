/*
 * What each step of an expression does to one value, in float64 and complex numbers; whole_math.h has whole numbers.
 * The CPU and the GPU run this same code; every operation in it rounds once and none may be fused, so they agree to the
 * bit.
 */
#ifndef CC_KERNELS_STEP_MATH_H
#define CC_KERNELS_STEP_MATH_H

#include "kernels/pixel_math.h"
#include "kernels/whole_math.h"

#include <math.h>

/* All but ARGUMENT, whose table takes memory of every thread. */
#define CC__FOR_EACH_SHORT_REAL_STEP(X)                                                                                \
    CC__FOR_EACH_STEP_WITH_OPERAND(X)                                                                                  \
    X(NEGATE)                                                                                                          \
    X(ABSOLUTE)                                                                                                        \
    X(SQUARE)                                                                                                          \
    X(SQUARE_ROOT)                                                                                                     \
    X(IMAGINARY)
#define CC__FOR_EACH_REAL_STEP(X)                                                                                      \
    CC__FOR_EACH_SHORT_REAL_STEP(X)                                                                                    \
    X(ARGUMENT)
/* For complex numbers also REAL, ABSOLUTE and ARGUMENT, which make real ones. */
#define CC__FOR_EACH_COMPLEX_STEP(X)                                                                                   \
    X(ADD)                                                                                                             \
    X(SUBTRACT)                                                                                                        \
    X(MULTIPLY)                                                                                                        \
    X(DIVIDE)                                                                                                          \
    X(MULTIPLY_ADD)                                                                                                    \
    X(EQUAL)                                                                                                           \
    X(SELECT)                                                                                                          \
    X(NEGATE)                                                                                                          \
    X(ABSOLUTE)                                                                                                        \
    X(SQUARE)                                                                                                          \
    X(REAL)                                                                                                            \
    X(IMAGINARY)                                                                                                       \
    X(CONJUGATE)                                                                                                       \
    X(ARGUMENT)

CC__SHARED double cc__square_root(double value)
{
#ifdef __CUDA_ARCH__
    return __dsqrt_rn(value);
#else
    return sqrt(value);
#endif
}

CC__SHARED double cc__magnitude_of_real(double value)
{
    return cc__float64_of_bits(cc__bits_of_float64(value) & INT64_MAX);
}

/* atan(k / 8), and what that is more than the nearest float64. */
#define CC__ANGLES                                                                                                     \
    {                                                                                                                  \
        {0.0, 0.0}, {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59}, {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},     \
            {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56}, {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},             \
            {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58}, {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},             \
            {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56}, {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},             \
    }

/* A table of the function's own would be written into each thread's memory before it is read. */
#ifdef __CUDACC__
static __device__ const double cc__angles_on_device[9][2] = CC__ANGLES;
#endif

/*
 * The angle of a right triangle whose legs are 1 and 0 <= tangent <= 1. Near k / 8, atan(t) = atan(k / 8) + atan(r)
 * with r = (t - k / 8) / (1 + t * k / 8) and |r| <= 1 / 16, where the series of atan needs 7 terms for 2^-57.
 * Source: Abramowitz and Stegun, 4.4.34 and 4.4.42.
 */
CC__SHARED double cc__arc_tangent(double tangent)
{
    int32_t eighths = (int32_t)(tangent * 8.0 + 0.5);
    double near = (double)eighths * 0.125;
    double rest = (tangent - near) / (1.0 + tangent * near);
    double square = rest * rest;
    double sum = -1.0 / 15.0;
    sum = 1.0 / 13.0 + square * sum;
    sum = -1.0 / 11.0 + square * sum;
    sum = 1.0 / 9.0 + square * sum;
    sum = -1.0 / 7.0 + square * sum;
    sum = 1.0 / 5.0 + square * sum;
    sum = -1.0 / 3.0 + square * sum;
#ifdef __CUDA_ARCH__
    const double *angle = cc__angles_on_device[eighths];
#else
    static const double angles[9][2] = CC__ANGLES;
    const double *angle = angles[eighths];
#endif
    return angle[0] + (angle[1] + (rest + rest * square * sum));
}

/* The angle of (real, imaginary), in the quadrant that their signs say. */
CC__SHARED double cc__angle(double real, double imaginary)
{
    double x = cc__magnitude_of_real(real);
    double y = cc__magnitude_of_real(imaginary);
    double larger = x > y ? x : y;
    double smaller = x > y ? y : x;
    double angle = 0.0;
    if (x != x || y != y)
        return x + y;
    if (larger == smaller)
        angle = larger == 0.0 ? 0.0 : 0x1.921fb54442d18p-1;
    else
        angle = cc__arc_tangent(smaller / larger);
    if (y > x)
        angle = (0x1.921fb54442d18p+0 - angle) + 0x1.1a62633145c07p-54;
    if (cc__bits_of_float64(real) >> 63 != 0)
        angle = (0x1.921fb54442d18p+1 - angle) + 0x1.1a62633145c07p-53;
    return cc__float64_of_bits(cc__bits_of_float64(angle) | (cc__bits_of_float64(imaginary) & ~(uint64_t)INT64_MAX));
}

/* IEEE 754-2019 minimum and maximum: NaN stays, -0 is less than 0. Without branches, so that vectors can be made. */
CC__SHARED double cc__minimum(double x, double y)
{
    double least = x < y ? x : y;
    double both = cc__float64_of_bits(cc__bits_of_float64(x) | cc__bits_of_float64(y));
    least = x == y ? both : least;
    return x == x ? least : x;
}

CC__SHARED double cc__maximum(double x, double y)
{
    double greatest = x > y ? x : y;
    double both = cc__float64_of_bits(cc__bits_of_float64(x) & cc__bits_of_float64(y));
    greatest = x == y ? both : greatest;
    return x == x ? greatest : x;
}

/* One function for each step; `a` and `b` are its operands, used or not. */
#define CC__REAL_STEP(NAME, RESULT)                                                                                    \
    CC__SHARED double cc__real_##NAME(double value, double a, double b)                                                \
    {                                                                                                                  \
        (void)value, (void)a, (void)b;                                                                                 \
        return RESULT;                                                                                                 \
    }

CC__REAL_STEP(ADD, value + a)
CC__REAL_STEP(SUBTRACT, value - a)
CC__REAL_STEP(MULTIPLY, value *a)
CC__REAL_STEP(DIVIDE, value / a)
CC__REAL_STEP(MINIMUM, cc__minimum(value, a))
CC__REAL_STEP(MAXIMUM, cc__maximum(value, a))
CC__REAL_STEP(MULTIPLY_ADD, cc__scale_and_shift(value, a, b))
CC__REAL_STEP(CLAMP, cc__minimum(cc__maximum(value, a), b))
CC__REAL_STEP(WITHIN, a <= value && value <= b ? 1.0 : 0.0)
CC__REAL_STEP(LESS, value < a ? 1.0 : 0.0)
CC__REAL_STEP(EQUAL, value == a ? 1.0 : 0.0)
CC__REAL_STEP(SELECT, value != 0.0 ? a : b)
CC__REAL_STEP(NEGATE, -value)
CC__REAL_STEP(ABSOLUTE, cc__magnitude_of_real(value))
CC__REAL_STEP(SQUARE, value *value)
CC__REAL_STEP(SQUARE_ROOT, cc__square_root(value))
CC__REAL_STEP(IMAGINARY, 0.0)
CC__REAL_STEP(ARGUMENT, cc__angle(value, 0.0))

/* The steps that float32 does as float64 and a rounding to float32 would. `a` is the operand of those that have one. */
#define CC__FOR_EACH_FLOAT32_STEP(X)                                                                                   \
    X(ADD)                                                                                                             \
    X(SUBTRACT)                                                                                                        \
    X(MULTIPLY)                                                                                                        \
    X(DIVIDE)                                                                                                          \
    X(MINIMUM)                                                                                                         \
    X(MAXIMUM)                                                                                                         \
    X(NEGATE)                                                                                                          \
    X(ABSOLUTE)                                                                                                        \
    X(SQUARE)                                                                                                          \
    X(SQUARE_ROOT)

CC__SHARED uint32_t cc__store_float32(float value)
{
    return value == value ? cc__bits_of_float32(value) : UINT32_C(0x7fc00000);
}

CC__SHARED float cc__float32_minimum(float x, float y)
{
    float least = x < y ? x : y;
    float both = cc__float32_of_bits(cc__bits_of_float32(x) | cc__bits_of_float32(y));
    least = x == y ? both : least;
    return x == x ? least : x;
}

CC__SHARED float cc__float32_maximum(float x, float y)
{
    float greatest = x > y ? x : y;
    float both = cc__float32_of_bits(cc__bits_of_float32(x) & cc__bits_of_float32(y));
    greatest = x == y ? both : greatest;
    return x == x ? greatest : x;
}

CC__SHARED float cc__float32_quotient(float x, float y)
{
#ifdef __CUDA_ARCH__
    return __fdiv_rn(x, y);
#else
    return x / y;
#endif
}

CC__SHARED float cc__float32_square_root(float value)
{
#ifdef __CUDA_ARCH__
    return __fsqrt_rn(value);
#else
    return sqrtf(value);
#endif
}

#define CC__FLOAT32_STEP(NAME, RESULT)                                                                                 \
    CC__SHARED float cc__float32_##NAME(float value, float a)                                                          \
    {                                                                                                                  \
        (void)value, (void)a;                                                                                          \
        return RESULT;                                                                                                 \
    }

CC__FLOAT32_STEP(ADD, value + a)
CC__FLOAT32_STEP(SUBTRACT, value - a)
CC__FLOAT32_STEP(MULTIPLY, value *a)
CC__FLOAT32_STEP(DIVIDE, cc__float32_quotient(value, a))
CC__FLOAT32_STEP(MINIMUM, cc__float32_minimum(value, a))
CC__FLOAT32_STEP(MAXIMUM, cc__float32_maximum(value, a))
CC__FLOAT32_STEP(NEGATE, -value)
CC__FLOAT32_STEP(ABSOLUTE, cc__float32_of_bits(cc__bits_of_float32(value) & INT32_MAX))
CC__FLOAT32_STEP(SQUARE, value *value)
CC__FLOAT32_STEP(SQUARE_ROOT, cc__float32_square_root(value))

typedef struct cc__complex {
    double real;
    double imaginary;
} cc__complex;

/* Which of the running value and `a` have the imaginary part 0 by their type. */
#define CC__VALUE_IS_REAL 1
#define CC__A_IS_REAL 2

/* A power of two that brings the larger part to [1, 2), or near it where that power would not be a normal number. */
CC__SHARED double cc__complex_scale(cc__complex z)
{
    uint64_t real = cc__bits_of_float64(z.real) & INT64_MAX;
    uint64_t imaginary = cc__bits_of_float64(z.imaginary) & INT64_MAX;
    int32_t exponent = (int32_t)((real > imaginary ? real : imaginary) >> 52);
    if (exponent == 0x7ff || (real | imaginary) == 0)
        return 1.0;
    int32_t inverse = 2046 - exponent;
    inverse = inverse < 1 ? 1 : inverse > 2045 ? 2045 : inverse;
    return cc__float64_of_bits((uint64_t)inverse << 52);
}

CC__SHARED double cc__complex_magnitude(cc__complex z)
{
    double scale = cc__complex_scale(z);
    double real = z.real * scale;
    double imaginary = z.imaginary * scale;
    double inverse = cc__float64_of_bits((UINT64_C(2046) << 52) - cc__bits_of_float64(scale));
    double x = cc__magnitude_of_real(z.real);
    double y = cc__magnitude_of_real(z.imaginary);
    if (x > 0x1.fffffffffffffp+1023 || y > 0x1.fffffffffffffp+1023)
        return x > y ? x : y > x ? y : x == x ? x : y;
    return cc__square_root(real * real + imaginary * imaginary) * inverse;
}

CC__SHARED cc__complex cc__complex_scaled(cc__complex z, double factor)
{
    cc__complex result = {z.real * factor, z.imaginary * factor};
    return result;
}

CC__SHARED cc__complex cc__complex_product(cc__complex x, cc__complex y, int32_t reals)
{
    cc__complex result;
    if ((reals & CC__A_IS_REAL) != 0)
        return cc__complex_scaled(x, y.real);
    if ((reals & CC__VALUE_IS_REAL) != 0)
        return cc__complex_scaled(y, x.real);
    result.real = x.real * y.real - x.imaginary * y.imaginary;
    result.imaginary = x.real * y.imaginary + x.imaginary * y.real;
    return result;
}

CC__SHARED cc__complex cc__complex_quotient(cc__complex x, cc__complex y, int32_t reals)
{
    cc__complex result;
    if ((reals & CC__A_IS_REAL) != 0) {
        result.real = x.real / y.real;
        result.imaginary = (reals & CC__VALUE_IS_REAL) != 0 ? 0.0 : x.imaginary / y.real;
        return result;
    }
    double scale = cc__complex_scale(y);
    cc__complex z = cc__complex_scaled(y, scale);
    double square = z.real * z.real + z.imaginary * z.imaginary;
    if ((reals & CC__VALUE_IS_REAL) != 0) {
        result.real = x.real * z.real / square * scale;
        result.imaginary = -(x.real * z.imaginary) / square * scale;
        return result;
    }
    result.real = (x.real * z.real + x.imaginary * z.imaginary) / square * scale;
    result.imaginary = (x.imaginary * z.real - x.real * z.imaginary) / square * scale;
    return result;
}

CC__SHARED cc__complex cc__complex_sum(cc__complex x, cc__complex y)
{
    cc__complex result = {x.real + y.real, x.imaginary + y.imaginary};
    return result;
}

CC__SHARED cc__complex cc__complex_of(double real, double imaginary)
{
    cc__complex result = {real, imaginary};
    return result;
}

#define CC__COMPLEX_STEP(NAME, RESULT)                                                                                 \
    CC__SHARED cc__complex cc__complex_##NAME(cc__complex value, cc__complex a, cc__complex b, int32_t reals)          \
    {                                                                                                                  \
        (void)value, (void)a, (void)b, (void)reals;                                                                    \
        return RESULT;                                                                                                 \
    }

CC__COMPLEX_STEP(ADD, cc__complex_sum(value, a))
CC__COMPLEX_STEP(SUBTRACT, cc__complex_of(value.real - a.real, value.imaginary - a.imaginary))
CC__COMPLEX_STEP(MULTIPLY, cc__complex_product(value, a, reals))
CC__COMPLEX_STEP(DIVIDE, cc__complex_quotient(value, a, reals))
CC__COMPLEX_STEP(MULTIPLY_ADD, cc__complex_sum(cc__complex_product(value, a, reals), b))
CC__COMPLEX_STEP(EQUAL, cc__complex_of(value.real == a.real && value.imaginary == a.imaginary ? 1.0 : 0.0, 0.0))
CC__COMPLEX_STEP(SELECT, value.real != 0.0 || value.imaginary != 0.0 ? a : b)
CC__COMPLEX_STEP(NEGATE, cc__complex_of(-value.real, (reals & CC__VALUE_IS_REAL) != 0 ? 0.0 : -value.imaginary))
CC__COMPLEX_STEP(ABSOLUTE, cc__complex_of((reals & CC__VALUE_IS_REAL) != 0 ? cc__magnitude_of_real(value.real)
                                                                           : cc__complex_magnitude(value),
                                          0.0))
CC__COMPLEX_STEP(SQUARE, cc__complex_product(value, value, (reals & CC__VALUE_IS_REAL) != 0 ? 3 : 0))
CC__COMPLEX_STEP(REAL, cc__complex_of(value.real, 0.0))
CC__COMPLEX_STEP(IMAGINARY, cc__complex_of(value.imaginary, 0.0))
CC__COMPLEX_STEP(CONJUGATE, cc__complex_of(value.real, (reals & CC__VALUE_IS_REAL) != 0 ? 0.0 : -value.imaginary))
CC__COMPLEX_STEP(ARGUMENT, cc__complex_of(cc__angle(value.real, value.imaginary), 0.0))

#endif
