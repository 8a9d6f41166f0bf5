/* What each step of an expression does to a whole number, for the integers of 64 bits that float64 does not hold. */
#ifndef CC_KERNELS_WHOLE_MATH_H
#define CC_KERNELS_WHOLE_MATH_H

#include "kernels/pixel_math.h"

/* The steps that make one value of the running value and its operands; for each kind of numbers. */
#define CC__FOR_EACH_STEP_WITH_OPERAND(X)                                                                              \
    X(ADD)                                                                                                             \
    X(SUBTRACT)                                                                                                        \
    X(MULTIPLY)                                                                                                        \
    X(DIVIDE)                                                                                                          \
    X(MINIMUM)                                                                                                         \
    X(MAXIMUM)                                                                                                         \
    X(MULTIPLY_ADD)                                                                                                    \
    X(CLAMP)                                                                                                           \
    X(WITHIN)                                                                                                          \
    X(LESS)                                                                                                            \
    X(EQUAL)                                                                                                           \
    X(SELECT)
#define CC__FOR_EACH_WHOLE_STEP(X)                                                                                     \
    CC__FOR_EACH_STEP_WITH_OPERAND(X)                                                                                  \
    X(NEGATE)                                                                                                          \
    X(ABSOLUTE)                                                                                                        \
    X(SQUARE)                                                                                                          \
    X(IMAGINARY)

/* A whole number from -2^63 to 2^64 - 1. */
__extension__ typedef __int128 cc__whole;
__extension__ typedef unsigned __int128 cc__whole_product;

CC__SHARED cc__whole cc__whole_clamp(cc__whole value)
{
    if (value < INT64_MIN)
        return INT64_MIN;
    return value > (cc__whole)UINT64_MAX ? (cc__whole)UINT64_MAX : value;
}

/* `value` has no fraction. */
CC__SHARED cc__whole cc__whole_of_float64(double value)
{
    if (value >= 0x1p64)
        return (cc__whole)UINT64_MAX;
    if (value >= 0x1p63)
        return (cc__whole)(uint64_t)value;
    return value <= -0x1p63 ? (cc__whole)INT64_MIN : (cc__whole)(int64_t)value;
}

CC__SHARED uint64_t cc__whole_magnitude(cc__whole value)
{
    return (uint64_t)(value < 0 ? -value : value);
}

CC__SHARED cc__whole cc__whole_of(uint64_t magnitude, int32_t is_negative)
{
    return cc__whole_clamp(is_negative != 0 ? -(cc__whole)magnitude : (cc__whole)magnitude);
}

CC__SHARED cc__whole cc__whole_times(cc__whole x, cc__whole y)
{
    cc__whole_product product = (cc__whole_product)cc__whole_magnitude(x) * cc__whole_magnitude(y);
    uint64_t magnitude = product >> 64 != 0 ? UINT64_MAX : (uint64_t)product;
    return cc__whole_of(magnitude, (x < 0) != (y < 0));
}

/* Rounded half to even. */
CC__SHARED cc__whole cc__whole_quotient(cc__whole x, cc__whole y)
{
    if (y == 0)
        return x > 0 ? (cc__whole)UINT64_MAX : x < 0 ? (cc__whole)INT64_MIN : 0;
    uint64_t dividend = cc__whole_magnitude(x);
    uint64_t divisor = cc__whole_magnitude(y);
    uint64_t quotient = dividend / divisor;
    uint64_t rest = dividend % divisor;
    if (rest > divisor - rest || (rest == divisor - rest && (quotient & 1) != 0))
        quotient++;
    return cc__whole_of(quotient, (x < 0) != (y < 0));
}

CC__SHARED cc__whole cc__whole_lesser(cc__whole x, cc__whole y)
{
    return x < y ? x : y;
}

CC__SHARED cc__whole cc__whole_greater(cc__whole x, cc__whole y)
{
    return x > y ? x : y;
}

#define CC__WHOLE_STEP(NAME, RESULT)                                                                                   \
    CC__SHARED cc__whole cc__whole_##NAME(cc__whole value, cc__whole a, cc__whole b)                                   \
    {                                                                                                                  \
        (void)value, (void)a, (void)b;                                                                                 \
        return RESULT;                                                                                                 \
    }

CC__WHOLE_STEP(ADD, cc__whole_clamp(value + a))
CC__WHOLE_STEP(SUBTRACT, cc__whole_clamp(value - a))
CC__WHOLE_STEP(MULTIPLY, cc__whole_times(value, a))
CC__WHOLE_STEP(DIVIDE, cc__whole_quotient(value, a))
CC__WHOLE_STEP(MINIMUM, cc__whole_lesser(value, a))
CC__WHOLE_STEP(MAXIMUM, cc__whole_greater(value, a))
CC__WHOLE_STEP(MULTIPLY_ADD, cc__whole_clamp(cc__whole_times(value, a) + b))
CC__WHOLE_STEP(CLAMP, cc__whole_lesser(cc__whole_greater(value, a), b))
CC__WHOLE_STEP(WITHIN, a <= value && value <= b ? 1 : 0)
CC__WHOLE_STEP(LESS, value < a ? 1 : 0)
CC__WHOLE_STEP(EQUAL, value == a ? 1 : 0)
CC__WHOLE_STEP(SELECT, value != 0 ? a : b)
CC__WHOLE_STEP(NEGATE, cc__whole_clamp(-value))
CC__WHOLE_STEP(ABSOLUTE, value < 0 ? -value : value)
CC__WHOLE_STEP(SQUARE, cc__whole_times(value, value))
CC__WHOLE_STEP(IMAGINARY, 0)

/* Into the bits of an integer type, clamped to its range, and out of them. */
#define CC__FOR_EACH_WHOLE_TYPE(X)                                                                                     \
    X(UINT8, uint8_t, 0, UINT8_MAX)                                                                                    \
    X(INT8, int8_t, INT8_MIN, INT8_MAX)                                                                                \
    X(UINT16, uint16_t, 0, UINT16_MAX)                                                                                 \
    X(INT16, int16_t, INT16_MIN, INT16_MAX)                                                                            \
    X(UINT32, uint32_t, 0, UINT32_MAX)                                                                                 \
    X(INT32, int32_t, INT32_MIN, INT32_MAX)                                                                            \
    X(UINT64, uint64_t, 0, UINT64_MAX)                                                                                 \
    X(INT64, int64_t, INT64_MIN, INT64_MAX)

#define CC__WHOLE_TYPE(NAME, HOLDER, LEAST, GREATEST)                                                                  \
    CC__SHARED HOLDER cc__store_whole_##NAME(cc__whole value)                                                          \
    {                                                                                                                  \
        return (HOLDER)(value < (LEAST) ? (LEAST) : value > (cc__whole)(GREATEST) ? (cc__whole)(GREATEST) : value);    \
    }
CC__FOR_EACH_WHOLE_TYPE(CC__WHOLE_TYPE)
#undef CC__WHOLE_TYPE

#endif
