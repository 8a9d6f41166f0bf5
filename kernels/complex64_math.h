/*
 * Steps on complex64 into float32 with the results of step_math.h, in less time. Plain C, and for the GPU's compiler.
 */
#ifndef CC_KERNELS_COMPLEX64_MATH_H
#define CC_KERNELS_COMPLEX64_MATH_H

#include "kernels/step_math.h"

#include <stdbool.h>

/* Parts that are float32 need no scaling: float64 holds their squares. Infinite where a part is, NaN or not the other.
 */
CC__SHARED double cc__complex64_magnitude(cc__complex z)
{
    const double x = cc__magnitude_of_real(z.real);
    const double y = cc__magnitude_of_real(z.imaginary);
    const double root = cc__square_root(z.real * z.real + z.imaginary * z.imaginary);
    return x > 0x1p128 || y > 0x1p128 ? (double)INFINITY : root;
}

/* x * y + z of approximations, for which it does not matter whether it rounds once or twice. */
CC__SHARED double cc__about_sum(double x, double y, double z)
{
#ifdef __CUDA_ARCH__
    return __fma_rn(x, y, z);
#else
    return x * y + z;
#endif
}

/* To 20 bits, as GPUs find it: nothing else may be expected of it. */
CC__SHARED double cc__about_inverse(double value)
{
#ifdef __CUDA_ARCH__
    double inverse;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(value));
    return inverse;
#else
    return cc__float64_of_bits(cc__bits_of_float64(1.0 / value) & ~(uint64_t)UINT32_MAX);
#endif
}

CC__SHARED float cc__about_quotient(float x, float y)
{
#ifdef __CUDA_ARCH__
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(y));
    return x * inverse;
#else
    return x / y;
#endif
}

/* The angles of k / 8: themselves, and taken from a right angle, from a straight one, and with a right one. */
#define CC__ANGLE_BASES                                                                                                \
    {                                                                                                                  \
        0.0, 0x1.fd5ba9aac2f6ep-4, 0x1.f5b75f92c80ddp-3, 0x1.6f61941e4def1p-2, 0x1.dac670561bb4fp-2,                   \
            0x1.1e00babdefeb4p-1, 0x1.4978fa3269ee1p-1, 0x1.700a7c5784634p-1, 0x1.921fb54442d18p-1,                    \
            0x1.921fb54442d18p+0, 0x1.7249faa996a21p+0, 0x1.5368c951e9cfdp+0, 0x1.3647503caf55cp+0,                    \
            0x1.1b6e192ebbe44p+0, 0x1.031f57e54adbep+0, 0x1.dac670561bb4fp-1, 0x1.b434ee31013fdp-1,                    \
            0x1.921fb54442d18p-1, 0x1.921fb54442d18p+1, 0x1.8234d7f6ecb9dp+1, 0x1.72c43f4b1650ap+1,                    \
            0x1.643382c07913ap+1, 0x1.56c6e7397f5aep+1, 0x1.4a9f8694c6d6bp+1, 0x1.3fc176b7a8560p+1,                    \
            0x1.361d162e61b8bp+1, 0x1.2d97c7f3321d2p+1, 0x1.921fb54442d18p+0, 0x1.b1f56fdeef00fp+0,                    \
            0x1.d0d6a1369bd34p+0, 0x1.edf81a4bd64d4p+0, 0x1.0468a8ace4df6p+1, 0x1.109009519d639p+1,                    \
            0x1.1b6e192ebbe44p+1, 0x1.251279b802819p+1, 0x1.2d97c7f3321d2p+1,                                          \
    }

#ifdef __CUDACC__
static __device__ const double cc__angle_bases_on_device[36] = CC__ANGLE_BASES;
#endif

/*
 * The angle of z, as cc__angle() and a rounding to float32 give it, or anything where *is_sure is made false: then that
 * is to be done. With one division, by way of c = k / 8 near y / x for x >= y >= 0: atan(y / x) = atan(c) +
 * atan((y - c x) / (x + c y)), the last |r| <= 1 / 16. The polynomial equals atan there at Chebyshev's nodes, and
 * differs from it by less than 2^-50 of it. Float32 has rounded the result rightly unless it is nearly in the middle
 * between two.
 */
CC__SHARED uint32_t cc__complex64_about_angle(uint32_t real_bits, uint32_t imaginary_bits, bool *is_sure)
{
    const uint32_t real = real_bits & INT32_MAX;
    const uint32_t imaginary = imaginary_bits & INT32_MAX;
    const bool is_steep = imaginary > real;
    const uint32_t smaller = is_steep ? real : imaginary;
    uint32_t larger = is_steep ? imaginary : real;
    /* Not below 2^100, or below 2^-100 and not 0; in place of 0 comes what has the angle 0 too. */
    const uint32_t least = (127 - 100) << 23;
    const uint32_t too_large = (127 + 100) << 23;
    const bool is_far = larger >= too_large || larger - 1 < least - 1;
    larger = larger > least ? larger : least;

    /* At 1.5 * 2^20 the last bit of a float32 is worth 1 / 8, at 2^49 that of a float64. */
    const float ratio = cc__about_quotient(cc__float32_of_bits(smaller), cc__float32_of_bits(larger));
    uint32_t eighths = cc__bits_of_float32(ratio + 0x1.8p20F) & 15;
    eighths = eighths < 8 ? eighths : 8;
    const double near = cc__float64_of_bits(UINT64_C(0x4300000000000000) | eighths) - 0x1p49;
    const double x = cc__load_FLOAT32(larger);
    const double y = cc__load_FLOAT32(smaller);
    const double below = cc__about_sum(near, y, x);
    const double inverse = cc__about_inverse(below);
    /* The error's third power is left of it. */
    double rest = cc__about_sum(-below, inverse, 1.0);
    rest = cc__about_sum(rest, rest, rest);
    const double tangent = cc__about_sum(-near, x, y) * cc__about_sum(inverse, rest, inverse);
    const double square = tangent * tangent;
    double sum = cc__about_sum(square, 0x1.c436ff8a6bef1p-4, -0x1.249161bcde69ep-3);
    sum = cc__about_sum(square, sum, 0x1.9999996b56d19p-3);
    sum = cc__about_sum(square, sum, -0x1.55555555549c5p-2);
    sum = cc__about_sum(tangent * square, sum, tangent);

    const uint32_t is_left = real_bits >> 31;
    const uint32_t place = eighths + (is_steep ? 9 : 0) + (is_left != 0 ? 18 : 0);
    const uint64_t turned = (uint64_t)(is_left ^ (is_steep ? 1 : 0)) << 63;
#ifdef __CUDA_ARCH__
    const double base = cc__angle_bases_on_device[place];
#else
    static const double bases[36] = CC__ANGLE_BASES;
    const double base = bases[place];
#endif
    const double angle = base + cc__float64_of_bits(cc__bits_of_float64(sum) ^ turned);

    /* What is not 0 has the least normal float32 or more, or becomes 0 as less than 2^-160 does. */
    const uint64_t bits = cc__bits_of_float64(angle);
    const uint32_t doubt = 256;
    const uint32_t from_middle = ((uint32_t)bits - (UINT32_C(0x10000000) - doubt)) & UINT32_C(0x1fffffff);
    const uint32_t least_normal = (1023 - 126) << 20;
    const uint32_t far_below = (1023 - 160) << 20;
    if (is_far || from_middle < 2 * doubt || (uint32_t)(bits >> 32) - far_below < least_normal - far_below)
        *is_sure = false;
    return cc__bits_of_float32((float)angle) | (imaginary_bits & ~(uint32_t)INT32_MAX);
}

#endif
