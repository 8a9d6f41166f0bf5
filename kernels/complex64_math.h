/*
 * Single steps on complex64, with the results of step_math.h in less time. Parts are float32, whose products float64
 * holds exactly: a sum of two fused with one of them still rounds once. Quotients, magnitudes and angles come from an
 * approximation with an error far below what float32 shows. Where the error could change the rounding all the same,
 * which is seldom, and where numbers are not ordinary ones, step_math.h is asked.
 */
#ifndef CC_KERNELS_COMPLEX64_MATH_H
#define CC_KERNELS_COMPLEX64_MATH_H

#include "kernels/step_math.h"

#include <stdbool.h>

/* Bits of float32. */
typedef struct cc__parts {
    uint32_t real;
    uint32_t imaginary;
} cc__parts;

/* x * y + z, rounded once: of an exact product or an approximation, so that it does not matter whether twice. */
CC__SHARED double cc__fused(double x, double y, double z)
{
#ifdef __CUDA_ARCH__
    return __fma_rn(x, y, z);
#else
    return x * y + z;
#endif
}

/* To 20 bits, as GPUs find it; of an approximation nothing else may be expected. */
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

CC__SHARED double cc__about_inverse_root(double value)
{
#ifdef __CUDA_ARCH__
    double inverse;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(inverse) : "d"(value));
    return inverse;
#else
    return cc__float64_of_bits(cc__bits_of_float64(1.0 / sqrt(value)) & ~(uint64_t)UINT32_MAX);
#endif
}

CC__SHARED float cc__about_inverse_float32(float value)
{
#ifdef __CUDA_ARCH__
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(value));
    return inverse;
#else
    return 1.0F / value;
#endif
}

/*
 * Whether all numbers that differ from this one by less than `doubt` of its last bits become the same float32: it is
 * 0 or far below all float32, or a normal one and not so near to the middle between two. Exponents are compared in the
 * upper half.
 */
CC__SHARED bool cc__is_sure(double value, uint32_t doubt)
{
    const uint64_t bits = cc__bits_of_float64(value);
    const uint32_t upper = (uint32_t)(bits >> 32) & INT32_MAX;
    const uint32_t from_middle = ((uint32_t)bits - (UINT32_C(0x10000000) - doubt)) & UINT32_C(0x1fffffff);
    const uint32_t least_normal = (1023 - 126) << 20;
    const uint32_t far_below = (1023 - 160) << 20;
    const uint32_t too_large = (1023 + 127) << 20;
    return from_middle >= 2 * doubt && upper - far_below >= least_normal - far_below && upper < too_large;
}

CC__SHARED uint32_t cc__complex64_rounded(double value)
{
    return cc__bits_of_float32((float)value);
}

CC__SHARED cc__complex cc__complex64_value(cc__parts z)
{
    return cc__complex_of(cc__load_FLOAT32(z.real), cc__load_FLOAT32(z.imaginary));
}

CC__SHARED cc__parts cc__complex64_of(cc__complex z)
{
    cc__parts parts = {cc__store_FLOAT32(z.real), cc__store_FLOAT32(z.imaginary)};
    return parts;
}

CC__SHARED cc__parts cc__complex64_product(cc__parts x_bits, cc__parts y_bits)
{
    const cc__complex x = cc__complex64_value(x_bits);
    const cc__complex y = cc__complex64_value(y_bits);
    return cc__complex64_of(cc__complex_of(cc__fused(x.real, y.real, -(x.imaginary * y.imaginary)),
                                           cc__fused(x.real, y.imaginary, x.imaginary * y.real)));
}

CC__SHARED_APART cc__parts cc__complex64_quotient_apart(cc__parts x, cc__parts y)
{
    return cc__complex64_of(cc__complex_quotient(cc__complex64_value(x), cc__complex64_value(y), 0));
}

/* The inverse of |y|^2 has an error of about 2^-52: one of 2^-20 to the third power, and roundings. */
CC__SHARED cc__parts cc__complex64_quotient(cc__parts x_bits, cc__parts y_bits)
{
    const cc__complex x = cc__complex64_value(x_bits);
    const cc__complex y = cc__complex64_value(y_bits);
    const double square = cc__fused(y.imaginary, y.imaginary, y.real * y.real);
    const double inverse = cc__about_inverse(square);
    double rest = cc__fused(-square, inverse, 1.0);
    rest = cc__fused(rest, rest, rest);
    const double nearer = cc__fused(inverse, rest, inverse);
    const double real = cc__fused(x.imaginary, y.imaginary, x.real * y.real) * nearer;
    const double imaginary = cc__fused(x.imaginary, y.real, -(x.real * y.imaginary)) * nearer;
    if (!cc__is_sure(real, 64) || !cc__is_sure(imaginary, 64))
        return cc__complex64_quotient_apart(x_bits, y_bits);
    cc__parts made = {cc__complex64_rounded(real), cc__complex64_rounded(imaginary)};
    return made;
}

CC__SHARED_APART uint32_t cc__complex64_magnitude_apart(cc__parts z)
{
    return cc__store_FLOAT32(cc__complex_magnitude(cc__complex64_value(z)));
}

/* With g about the root of s and h about half its inverse, r = 1 / 2 - g h: the root is g (1 + r + 3 / 2 r^2 + ...). */
CC__SHARED uint32_t cc__complex64_magnitude(cc__parts bits)
{
    const cc__complex z = cc__complex64_value(bits);
    uint64_t square = cc__bits_of_float64(cc__fused(z.imaginary, z.imaginary, z.real * z.real));
    /* In place of 0, of which there is no inverse: its root is far below all float32. */
    const uint64_t least = (uint64_t)(1023 - 400) << 52;
    square = square > least ? square : least;
    const double inverse = cc__about_inverse_root(cc__float64_of_bits(square));
    const double root = cc__float64_of_bits(square) * inverse;
    const double rest = cc__fused(-root, inverse * 0.5, 0.5);
    const double nearer = cc__fused(root * rest, cc__fused(rest, 1.5, 1.0), root);
    return cc__is_sure(nearer, 64) ? cc__complex64_rounded(nearer) : cc__complex64_magnitude_apart(bits);
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

CC__SHARED_APART uint32_t cc__complex64_angle_apart(cc__parts z)
{
    const cc__complex value = cc__complex64_value(z);
    return cc__store_FLOAT32(cc__angle(value.real, value.imaginary));
}

/*
 * As cc__angle() with one division: for x >= y and c = k / 8 near y / x, atan(y / x) = atan(c) + atan((y - c x) / (x +
 * c y)). The polynomial equals atan at Chebyshev's nodes of |r| <= 1 / 16, and differs by less than 2^-50 between them.
 */
CC__SHARED uint32_t cc__complex64_angle(cc__parts z)
{
    const uint32_t real = z.real & INT32_MAX;
    const uint32_t imaginary = z.imaginary & INT32_MAX;
    const bool is_steep = imaginary > real;
    const uint32_t smaller = is_steep ? real : imaginary;
    uint32_t larger = is_steep ? imaginary : real;
    /* Below 2^-100 but not 0, or not below 2^100. */
    const uint32_t least = (127 - 100) << 23;
    const uint32_t too_large = (127 + 100) << 23;
    const bool is_far = larger >= too_large || larger - 1 < least - 1;
    larger = larger > least ? larger : least;
    /* At 1.5 * 2^20 the last bit of a float32 is worth 1 / 8. */
    const float ratio = cc__float32_of_bits(smaller) * cc__about_inverse_float32(cc__float32_of_bits(larger));
    uint32_t eighths = cc__bits_of_float32(ratio + 0x1.8p20F) & 15;
    eighths = eighths < 8 ? eighths : 8;
    const double near = cc__float64_of_bits(UINT64_C(0x4300000000000000) | eighths) - 0x1p49;
    const double x = cc__load_FLOAT32(larger);
    const double y = cc__load_FLOAT32(smaller);
    const double below = cc__fused(near, y, x);
    const double inverse = cc__about_inverse(below);
    double rest = cc__fused(-below, inverse, 1.0);
    rest = cc__fused(rest, rest, rest);
    const double tangent = cc__fused(-near, x, y) * cc__fused(inverse, rest, inverse);
    const double square = tangent * tangent;
    double sum = cc__fused(square, 0x1.c436ff8a6bef1p-4, -0x1.249161bcde69ep-3);
    sum = cc__fused(square, sum, 0x1.9999996b56d19p-3);
    sum = cc__fused(square, sum, -0x1.55555555549c5p-2);
    sum = cc__fused(tangent * square, sum, tangent);

    const uint32_t is_left = z.real >> 31;
    const uint32_t quadrant = 2 * is_left + (is_steep ? 1 : 0);
    const uint64_t turned = (uint64_t)(is_left ^ (is_steep ? 1 : 0)) << 63;
#ifdef __CUDA_ARCH__
    const double base = cc__angle_bases_on_device[9 * quadrant + eighths];
#else
    static const double bases[36] = CC__ANGLE_BASES;
    const double base = bases[9 * quadrant + eighths];
#endif
    const double angle = base + cc__float64_of_bits(cc__bits_of_float64(sum) ^ turned);
    if (is_far || !cc__is_sure(angle, 256))
        return cc__complex64_angle_apart(z);
    return cc__complex64_rounded(angle) | (z.imaginary & ~(uint32_t)INT32_MAX);
}

#endif
