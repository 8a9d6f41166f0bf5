/* The arithmetic of derivatives, the same for the CPU and the GPU: every operation rounds once. */
#ifndef CC_KERNELS_DERIVATIVE_MATH_H
#define CC_KERNELS_DERIVATIVE_MATH_H

#include "kernels/shared.h"

#include <stdint.h>

/* NUMBER is float or double. */
#define CC__DEFINE_DERIVATIVE_MATH(NUMBER, SUFFIX)                                                                     \
    CC__SHARED NUMBER cc__slope_##SUFFIX(NUMBER high, NUMBER low, NUMBER weight)                                       \
    {                                                                                                                  \
        return (high - low) * weight;                                                                                  \
    }                                                                                                                  \
                                                                                                                       \
    CC__SHARED NUMBER cc__bend_##SUFFIX(NUMBER high, NUMBER low, NUMBER twice, NUMBER weight)                          \
    {                                                                                                                  \
        return ((high + low) - twice) * weight;                                                                        \
    }                                                                                                                  \
                                                                                                                       \
    /* A vector's part along one axis; `factors` are `step` apart. */                                                  \
    CC__SHARED NUMBER cc__turned_##SUFFIX(const NUMBER vector[3], const double *factors, int64_t step)                 \
    {                                                                                                                  \
        NUMBER sum = vector[0] * (NUMBER)factors[0];                                                                   \
        sum += vector[1] * (NUMBER)factors[step];                                                                      \
        return sum + vector[2] * (NUMBER)factors[2 * step];                                                            \
    }

CC__DEFINE_DERIVATIVE_MATH(float, float32)
CC__DEFINE_DERIVATIVE_MATH(double, float64)

#endif
