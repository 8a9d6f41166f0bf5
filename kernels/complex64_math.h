/*
 * Steps on complex64 with the results of step_math.h, in less time. Plain C, and for the GPU's compiler.
 */
#ifndef CC_KERNELS_COMPLEX64_MATH_H
#define CC_KERNELS_COMPLEX64_MATH_H

#include "kernels/step_math.h"

#include <stdbool.h>

/* x * y + z where the product is exact or the result an approximation: rounded once or twice does not matter. */
CC__SHARED double cc__fused(double x, double y, double z)
{
#ifdef __CUDA_ARCH__
    return __fma_rn(x, y, z);
#else
    return x * y + z;
#endif
}

/*
 * As cc__complex_product() and magnitude with parts that are float32: float64 holds their products, and what comes of
 * them, without scaling.
 */
CC__SHARED cc__complex cc__complex64_product(cc__complex x, cc__complex y)
{
    cc__complex result = {cc__fused(x.real, y.real, -(x.imaginary * y.imaginary)),
                          cc__fused(x.real, y.imaginary, x.imaginary * y.real)};
    return result;
}

/* Infinite where a part is, also where the other is NaN. The root of 0, which takes longer, is any that becomes 0. */
CC__SHARED double cc__complex64_magnitude(cc__complex z)
{
    const double x = cc__magnitude_of_real(z.real);
    const double y = cc__magnitude_of_real(z.imaginary);
    const double square = cc__fused(x, x, y * y);
    const double root = cc__square_root(square < 0x1p-400 ? 0x1p-400 : square);
    return x > 0x1p128 || y > 0x1p128 ? (double)INFINITY : root;
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

/*
 * With an error of 2^-50 of each part where these are numbers: float64's division takes long where a part is 0. The
 * third power of the error of the inverse is left of it.
 */
CC__SHARED cc__complex cc__complex64_about_quotient(cc__complex x, cc__complex y)
{
    const double square = cc__fused(y.real, y.real, y.imaginary * y.imaginary);
    const double inverse = cc__about_inverse(square);
    double rest = cc__fused(-square, inverse, 1.0);
    rest = cc__fused(rest, rest, rest);
    const double nearer = cc__fused(inverse, rest, inverse);
    cc__complex result = {cc__fused(x.real, y.real, x.imaginary * y.imaginary) * nearer,
                          cc__fused(x.imaginary, y.real, -(x.real * y.imaginary)) * nearer};
    return result;
}

/* x / y + z */
CC__SHARED float cc__about_ratio(float x, float y, float z)
{
#ifdef __CUDA_ARCH__
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(y));
    return __fmaf_rn(x, inverse, z);
#else
    return x / y + z;
#endif
}

/*
 * 16 entries for a quarter of the plane each, by the real part's sign and which part is larger: the angle of k / 8 and
 * the sign of what more there is. k is 0 to 8, and anything where that angle is not used.
 */
#define CC__ANGLE_BASES                                                                                                \
    {                                                                                                                  \
        {0.0, 1.0}, {0x1.fd5ba9aac2f6ep-4, 1.0}, {0x1.f5b75f92c80ddp-3, 1.0}, {0x1.6f61941e4def1p-2, 1.0},             \
            {0x1.dac670561bb4fp-2, 1.0}, {0x1.1e00babdefeb4p-1, 1.0}, {0x1.4978fa3269ee1p-1, 1.0},                     \
            {0x1.700a7c5784634p-1, 1.0}, {0x1.921fb54442d18p-1, 1.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0},  \
            {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {0x1.921fb54442d18p+0, -1.0}, {0x1.7249faa996a21p+0, -1.0},            \
            {0x1.5368c951e9cfdp+0, -1.0}, {0x1.3647503caf55cp+0, -1.0}, {0x1.1b6e192ebbe44p+0, -1.0},                  \
            {0x1.031f57e54adbep+0, -1.0}, {0x1.dac670561bb4fp-1, -1.0}, {0x1.b434ee31013fdp-1, -1.0},                  \
            {0x1.921fb54442d18p-1, -1.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0},      \
            {0.0, 0.0}, {0x1.921fb54442d18p+1, -1.0}, {0x1.8234d7f6ecb9dp+1, -1.0}, {0x1.72c43f4b1650ap+1, -1.0},      \
            {0x1.643382c07913ap+1, -1.0}, {0x1.56c6e7397f5aep+1, -1.0}, {0x1.4a9f8694c6d6bp+1, -1.0},                  \
            {0x1.3fc176b7a8560p+1, -1.0}, {0x1.361d162e61b8bp+1, -1.0}, {0x1.2d97c7f3321d2p+1, -1.0}, {0.0, 0.0},      \
            {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {0x1.921fb54442d18p+0, 1.0},       \
            {0x1.b1f56fdeef00fp+0, 1.0}, {0x1.d0d6a1369bd34p+0, 1.0}, {0x1.edf81a4bd64d4p+0, 1.0},                     \
            {0x1.0468a8ace4df6p+1, 1.0}, {0x1.109009519d639p+1, 1.0}, {0x1.1b6e192ebbe44p+1, 1.0},                     \
            {0x1.251279b802819p+1, 1.0}, {0x1.2d97c7f3321d2p+1, 1.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0},  \
            {0.0, 0.0}, {0.0, 0.0}, {0.0, 0.0},                                                                        \
    }

typedef struct cc__angle_base {
    double angle;
    double sign;
} cc__angle_base;

#ifdef __CUDACC__
static __device__ const __align__(16) cc__angle_base cc__angle_bases_on_device[64] = CC__ANGLE_BASES;
#endif

/* Whether a value, more or less by fewer than 256 of its last bits, may become another float32; also of what is none.
 */
CC__SHARED bool cc__is_unsure(double value)
{
    const uint64_t bits = cc__bits_of_float64(value);
    const uint32_t upper = (uint32_t)(bits >> 32) & INT32_MAX;
    const uint32_t doubt = 256;
    const uint32_t middle = UINT32_C(1) << 28;
    const uint32_t from_middle = ((uint32_t)bits - (middle - doubt)) & (2 * middle - 1);
    /* What is not 0 has the least normal float32 or more, or becomes 0 as less than 2^-160 does. */
    const uint32_t least_normal = (1023 - 126) << 20;
    const uint32_t far_below = (1023 - 160) << 20;
    const uint32_t too_large = (1023 + 127) << 20;
    return (from_middle < 2 * doubt) | (upper - far_below < least_normal - far_below) | (upper >= too_large);
}

/*
 * The angle of (real, imaginary) without its sign, with an error of 2^-49 of it; any number where *out_is_far. With one
 * division, by way of c = k / 8 near y / x for x >= y >= 0: atan(y / x) = atan(c) + atan((y - c x) / (x + c y)), the
 * last |r| <= 1 / 16. The polynomial equals atan there at Chebyshev's nodes, and differs from it by less than 2^-50.
 */
CC__SHARED double cc__complex64_about_angle(uint32_t real_bits, uint32_t imaginary_bits, bool *out_is_far)
{
    const uint32_t real = real_bits & INT32_MAX;
    const uint32_t imaginary = imaginary_bits & INT32_MAX;
    const bool is_steep = imaginary > real;
    const uint32_t smaller = is_steep ? real : imaginary;
    uint32_t larger = is_steep ? imaginary : real;
    /* Not below 2^100, or below 2^-100 and not 0; in place of 0 comes what has the angle 0 too. */
    const uint32_t least = (127 - 100) << 23;
    const uint32_t too_large = (127 + 100) << 23;
    *out_is_far = (larger - least >= too_large - least) & (larger != 0);
    larger = larger > least ? larger : least;

    /* At 1.5 * 2^20 the last bit of a float32 is worth 1 / 8, at 2^49 that of a float64. */
    const float x_float32 = cc__float32_of_bits(larger);
    const float y_float32 = cc__float32_of_bits(smaller);
    const uint32_t eighths = cc__bits_of_float32(cc__about_ratio(y_float32, x_float32, 0x1.8p20F)) & 15;
    const double near = cc__float64_of_bits(UINT64_C(0x4300000000000000) | eighths) - 0x1p49;
    const double x = (double)x_float32;
    const double y = (double)y_float32;
    const double below = cc__fused(near, y, x);
    const double inverse = cc__about_inverse(below);
    /* The error's third power is left of it. */
    double rest = cc__fused(-below, inverse, 1.0);
    rest = cc__fused(rest, rest, rest);
    const double tangent = cc__fused(-near, x, y) * cc__fused(inverse, rest, inverse);
    const double square = tangent * tangent;
    double sum = cc__fused(square, 0x1.c436ff8a6bef1p-4, -0x1.249161bcde69ep-3);
    sum = cc__fused(square, sum, 0x1.9999996b56d19p-3);
    sum = cc__fused(square, sum, -0x1.55555555549c5p-2);
    sum = cc__fused(tangent * square, sum, tangent);

    const uint32_t quarter = (is_steep ? 16 : 0) + 32 * (real_bits >> 31);
#ifdef __CUDA_ARCH__
    const cc__angle_base base = cc__angle_bases_on_device[quarter | eighths];
#else
    static const cc__angle_base bases[64] = CC__ANGLE_BASES;
    const cc__angle_base base = bases[quarter | eighths];
#endif
    return cc__fused(base.sign, sum, base.angle);
}

/* The bits of float32 that cc__angle() gives, unless *is_sure is made false: then that is to be asked. */
CC__SHARED uint32_t cc__complex64_angle(uint32_t real_bits, uint32_t imaginary_bits, bool *is_sure)
{
    bool is_far = false;
    const double angle = cc__complex64_about_angle(real_bits, imaginary_bits, &is_far);
    *is_sure = *is_sure & !(is_far | cc__is_unsure(angle));
    return cc__bits_of_float32((float)angle) | (imaginary_bits & ~(uint32_t)INT32_MAX);
}

#endif
