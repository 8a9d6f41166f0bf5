/*
 * What rescale does to one component: to float64, scaled, to the other type. The CPU and the GPU run this same code,
 * and every operation in it rounds once and is exactly defined, so they agree to the bit.
 */
#ifndef CC_KERNELS_PIXEL_MATH_H
#define CC_KERNELS_PIXEL_MATH_H

#include "kernels/shared.h"

#include <stdint.h>
#include <string.h>

/*
 * Every type that is not complex: name, what holds it, bits. Floats are held as their bits, so that no register changes
 * a NaN. A complex type is two of a float type.
 */
#define CC__FOR_EACH_TYPE_UP_TO_16_BITS(X)                                                                             \
    X(BOOL, uint8_t, 8)                                                                                                \
    X(UINT8, uint8_t, 8)                                                                                               \
    X(INT8, int8_t, 8)                                                                                                 \
    X(UINT16, uint16_t, 16)                                                                                            \
    X(INT16, int16_t, 16)                                                                                              \
    X(FLOAT16, uint16_t, 16)                                                                                           \
    X(BFLOAT16, uint16_t, 16)
#define CC__FOR_EACH_TYPE_OF_32_BITS(X)                                                                                \
    X(UINT32, uint32_t, 32)                                                                                            \
    X(INT32, int32_t, 32)                                                                                              \
    X(FLOAT32, uint32_t, 32)
#define CC__FOR_EACH_TYPE_OF_64_BITS(X)                                                                                \
    X(UINT64, uint64_t, 64)                                                                                            \
    X(INT64, int64_t, 64)                                                                                              \
    X(FLOAT64, uint64_t, 64)

CC__SHARED double cc__float64_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

CC__SHARED uint64_t cc__bits_of_float64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

CC__SHARED float cc__float32_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

CC__SHARED uint32_t cc__bits_of_float32(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Never fused: with one rounding instead of two, results would depend on who computes them. */
CC__SHARED double cc__scale_and_shift(double value, double scale, double shift)
{
#ifdef __CUDA_ARCH__
    return __dadd_rn(__dmul_rn(value, scale), shift);
#else
    double product = value * scale;
    return product + shift;
#endif
}

/*
 * Whole numbers of up to 32 bits: as the last bits of 2^52, or of 2^52 + 2^31, which is then taken away again. GPUs add
 * several times faster than they convert.
 */
CC__SHARED double cc__float64_of_uint32(uint32_t value)
{
    return cc__float64_of_bits(UINT64_C(0x4330000000000000) | value) - 0x1p52;
}

CC__SHARED double cc__float64_of_int32(int32_t value)
{
    return cc__float64_of_bits(UINT64_C(0x4330000000000000) | ((uint32_t)value ^ UINT32_C(0x80000000))) - 0x1.000008p52;
}

#ifdef __CUDA_ARCH__
#define CC__FLOAT64_OF_UINT32(value) cc__float64_of_uint32(value)
#define CC__FLOAT64_OF_INT32(value) cc__float64_of_int32(value)
#else
#define CC__FLOAT64_OF_UINT32(value) (double)(value)
#define CC__FLOAT64_OF_INT32(value) (double)(value)
#endif

CC__SHARED double cc__load_BOOL(uint8_t value)
{
    return value != 0 ? 1.0 : 0.0;
}

CC__SHARED double cc__load_UINT8(uint8_t value)
{
    return CC__FLOAT64_OF_UINT32(value);
}

CC__SHARED double cc__load_INT8(int8_t value)
{
    return CC__FLOAT64_OF_INT32(value);
}

CC__SHARED double cc__load_UINT16(uint16_t value)
{
    return CC__FLOAT64_OF_UINT32(value);
}

CC__SHARED double cc__load_INT16(int16_t value)
{
    return CC__FLOAT64_OF_INT32(value);
}

CC__SHARED double cc__load_UINT32(uint32_t value)
{
    return CC__FLOAT64_OF_UINT32(value);
}

CC__SHARED double cc__load_INT32(int32_t value)
{
    return CC__FLOAT64_OF_INT32(value);
}

CC__SHARED double cc__load_UINT64(uint64_t value)
{
    return (double)value;
}

CC__SHARED double cc__load_INT64(int64_t value)
{
    return (double)value;
}

/* The exponent moves from 5 bits to the 8 of float32, which holds every float16 exactly. */
CC__SHARED float cc__float32_from_FLOAT16(uint16_t bits)
{
    const uint32_t exponent_one = UINT32_C(1) << 23;
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
    uint32_t magnitude = (uint32_t)(bits & 0x7fff) << 13;
    if (magnitude >= 31 * exponent_one) {
        magnitude += (255 - 31) * exponent_one;
    } else if (magnitude >= exponent_one) {
        magnitude += (127 - 15) * exponent_one;
    } else {
        /* Subnormal: give it the least exponent, with its hidden bit, and take that bit away again. */
        float shifted = cc__float32_of_bits(magnitude + (127 - 14) * exponent_one);
        magnitude = cc__bits_of_float32(shifted - 0x1p-14f);
    }
    return cc__float32_of_bits(sign | magnitude);
}

CC__SHARED double cc__load_FLOAT16(uint16_t bits)
{
    return (double)cc__float32_from_FLOAT16(bits);
}

/* The upper half of a float32. */
CC__SHARED double cc__load_BFLOAT16(uint16_t bits)
{
    return (double)cc__float32_of_bits((uint32_t)bits << 16);
}

CC__SHARED double cc__load_FLOAT32(uint32_t bits)
{
    return (double)cc__float32_of_bits(bits);
}

CC__SHARED double cc__load_FLOAT64(uint64_t bits)
{
    return cc__float64_of_bits(bits);
}

CC__SHARED uint8_t cc__store_BOOL(double value)
{
    return value != 0.0;
}

/*
 * Rounds half to even into an integer of up to 32 bits, least and greatest being its range: at 1.5 * 2^52 the last bit
 * of a float64 is worth 1, so the addition rounds, and the lower half of the bits is the integer. NaN must be gone.
 */
CC__SHARED uint32_t cc__round_into(double value, double least, double greatest)
{
    value = value > least ? value : least;
    value = value < greatest ? value : greatest;
    return (uint32_t)cc__bits_of_float64(value + 0x1.8p52);
}

CC__SHARED double cc__zero_for_nan(double value)
{
    return value == value ? value : 0.0;
}

/* Where the least value is 0, clamping to it takes NaN there too. */
CC__SHARED uint8_t cc__store_UINT8(double value)
{
    return (uint8_t)cc__round_into(value, 0.0, UINT8_MAX);
}

CC__SHARED int8_t cc__store_INT8(double value)
{
    return (int8_t)cc__round_into(cc__zero_for_nan(value), INT8_MIN, INT8_MAX);
}

CC__SHARED uint16_t cc__store_UINT16(double value)
{
    return (uint16_t)cc__round_into(value, 0.0, UINT16_MAX);
}

CC__SHARED int16_t cc__store_INT16(double value)
{
    return (int16_t)cc__round_into(cc__zero_for_nan(value), INT16_MIN, INT16_MAX);
}

CC__SHARED uint32_t cc__store_UINT32(double value)
{
    return cc__round_into(value, 0.0, UINT32_MAX);
}

CC__SHARED int32_t cc__store_INT32(double value)
{
    return (int32_t)cc__round_into(cc__zero_for_nan(value), INT32_MIN, INT32_MAX);
}

/* From 2^52 on every float64 is an integer; below, adding 2^52 rounds half to even. */
CC__SHARED double cc__round_half_to_even(double value)
{
    double magnitude = value < 0.0 ? -value : value;
    if (magnitude < 0x1p52)
        magnitude = (magnitude + 0x1p52) - 0x1p52;
    return value < 0.0 ? -magnitude : magnitude;
}

CC__SHARED uint64_t cc__store_UINT64(double value)
{
    if (!(value > 0.0))
        return 0;
    if (value >= 0x1p64)
        return UINT64_MAX;
    return (uint64_t)cc__round_half_to_even(value);
}

CC__SHARED int64_t cc__store_INT64(double value)
{
    if (value != value)
        return 0;
    if (value >= 0x1p63)
        return INT64_MAX;
    if (value <= -0x1p63)
        return INT64_MIN;
    return (int64_t)cc__round_half_to_even(value);
}

/* The upper half of a float64 without its sign; the last bit also says whether anything was cut off. */
CC__SHARED uint32_t cc__upper_half(uint64_t bits)
{
    return ((uint32_t)(bits >> 32) & 0x7fffffff) | ((uint32_t)bits != 0 ? 1 : 0);
}

/*
 * Both 16-bit floats come straight from float64, since by way of float32 they would be rounded twice. A normal one: the
 * exponent's bias changes, and the bits that do not fit round half to even, up into the exponent where they carry. A
 * subnormal one: added to a power of two whose last bit is worth one of it, so that the addition rounds.
 */
CC__SHARED uint16_t cc__store_FLOAT16(double value)
{
    const uint32_t exponent_one = UINT32_C(1) << 20;
    uint64_t bits = cc__bits_of_float64(value);
    uint32_t sign = (uint32_t)(bits >> 48) & 0x8000;
    uint32_t upper = cc__upper_half(bits);
    uint32_t magnitude;
    if (value != value)
        return 0x7e00;
    if (upper >= (1023 - 14) * exponent_one) {
        magnitude = upper - (1023 - 15) * exponent_one;
        magnitude = (magnitude + 0x1ff + ((magnitude >> 10) & 1)) >> 10;
        magnitude = magnitude < 0x7c00 ? magnitude : 0x7c00;
    } else {
        double positive = cc__float64_of_bits(bits & INT64_MAX);
        magnitude = (uint32_t)cc__bits_of_float64(positive + 0x1p28);
    }
    return (uint16_t)(sign | magnitude);
}

CC__SHARED uint16_t cc__store_BFLOAT16(double value)
{
    const uint32_t exponent_one = UINT32_C(1) << 20;
    uint64_t bits = cc__bits_of_float64(value);
    uint32_t sign = (uint32_t)(bits >> 48) & 0x8000;
    uint32_t upper = cc__upper_half(bits);
    uint32_t magnitude;
    if (value != value)
        return 0x7fc0;
    if (upper >= (1023 - 126) * exponent_one) {
        magnitude = upper - (1023 - 127) * exponent_one;
        magnitude = (magnitude + 0xfff + ((magnitude >> 13) & 1)) >> 13;
        magnitude = magnitude < 0x7f80 ? magnitude : 0x7f80;
    } else {
        double positive = cc__float64_of_bits(bits & INT64_MAX);
        magnitude = (uint32_t)cc__bits_of_float64(positive + 0x1p-81);
    }
    return (uint16_t)(sign | magnitude);
}

CC__SHARED uint32_t cc__float32_into_FLOAT32(float value)
{
    return value == value ? cc__bits_of_float32(value) : UINT32_C(0x7fc00000);
}

CC__SHARED uint32_t cc__store_FLOAT32(double value)
{
    return cc__float32_into_FLOAT32((float)value);
}

CC__SHARED uint64_t cc__store_FLOAT64(double value)
{
    return value == value ? cc__bits_of_float64(value) : UINT64_C(0x7ff8000000000000);
}

/*
 * The same without float64, for casts between types whose values float32 holds: cc__float32_from_X() is
 * cc__load_X(), and cc__float32_into_X() of a float32 is cc__store_X() of it.
 */
CC__SHARED float cc__float32_from_UINT16(uint16_t value)
{
    return cc__float32_of_bits(UINT32_C(0x4b000000) | value) - 0x1p23F;
}

CC__SHARED float cc__float32_from_INT16(int16_t value)
{
    return cc__float32_of_bits(UINT32_C(0x4b000000) | (uint16_t)((uint16_t)value ^ 0x8000)) - 0x1.01p23F;
}

CC__SHARED float cc__float32_from_UINT8(uint8_t value)
{
    return cc__float32_from_UINT16(value);
}

CC__SHARED float cc__float32_from_INT8(int8_t value)
{
    return cc__float32_from_INT16(value);
}

CC__SHARED float cc__float32_from_BOOL(uint8_t value)
{
    return value != 0 ? 1.0F : 0.0F;
}

CC__SHARED float cc__float32_from_BFLOAT16(uint16_t bits)
{
    return cc__float32_of_bits((uint32_t)bits << 16);
}

CC__SHARED float cc__float32_from_FLOAT32(uint32_t bits)
{
    return cc__float32_of_bits(bits);
}

CC__SHARED uint32_t cc__float32_round_into(float value, float least, float greatest)
{
    value = value > least ? value : least;
    value = value < greatest ? value : greatest;
    return cc__bits_of_float32(value + 0x1.8p23F);
}

CC__SHARED float cc__float32_zero_for_nan(float value)
{
    return value == value ? value : 0.0F;
}

CC__SHARED uint8_t cc__float32_into_BOOL(float value)
{
    return value != 0.0F;
}

CC__SHARED uint8_t cc__float32_into_UINT8(float value)
{
    return (uint8_t)cc__float32_round_into(value, 0.0F, UINT8_MAX);
}

CC__SHARED int8_t cc__float32_into_INT8(float value)
{
    return (int8_t)cc__float32_round_into(cc__float32_zero_for_nan(value), INT8_MIN, INT8_MAX);
}

CC__SHARED uint16_t cc__float32_into_UINT16(float value)
{
    return (uint16_t)cc__float32_round_into(value, 0.0F, UINT16_MAX);
}

CC__SHARED int16_t cc__float32_into_INT16(float value)
{
    return (int16_t)cc__float32_round_into(cc__float32_zero_for_nan(value), INT16_MIN, INT16_MAX);
}

CC__SHARED uint16_t cc__float32_into_FLOAT16(float value)
{
    const uint32_t exponent_one = UINT32_C(1) << 23;
    uint32_t sign = cc__bits_of_float32(value) >> 16 & 0x8000;
    uint32_t magnitude = cc__bits_of_float32(value) & INT32_MAX;
    if (value != value)
        return 0x7e00;
    if (magnitude >= (127 - 14) * exponent_one) {
        magnitude -= (127 - 15) * exponent_one;
        magnitude = (magnitude + 0xfff + ((magnitude >> 13) & 1)) >> 13;
        magnitude = magnitude < 0x7c00 ? magnitude : 0x7c00;
    } else {
        magnitude = cc__bits_of_float32(cc__float32_of_bits(magnitude) + 0.5F);
    }
    return (uint16_t)(sign | (magnitude & 0x7fff));
}

CC__SHARED uint16_t cc__float32_into_BFLOAT16(float value)
{
    uint32_t bits = cc__bits_of_float32(value);
    return value == value ? (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16) : 0x7fc0;
}

/* What float64 cannot do: 64-bit integers of the other sign, exact and clamped. */
CC__SHARED uint64_t cc__clamp_INT64_to_UINT64(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

CC__SHARED int64_t cc__clamp_UINT64_to_INT64(uint64_t value)
{
    return value < (uint64_t)INT64_MAX ? (int64_t)value : INT64_MAX;
}

#endif
