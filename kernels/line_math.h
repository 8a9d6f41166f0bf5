/* How a line is weighted: one rounding an operation, none fused, so that the CPU and the GPU agree to the bit. */
#ifndef CC_KERNELS_LINE_MATH_H
#define CC_KERNELS_LINE_MATH_H

#include "kernels/shared.h"

#define CC__DEFINE_LINE_MATH(NUMBER)                                                                                   \
    CC__SHARED NUMBER cc__line_begin_##NUMBER(NUMBER weight, NUMBER centre)                                            \
    {                                                                                                                  \
        return weight * centre;                                                                                        \
    }                                                                                                                  \
                                                                                                                       \
    CC__SHARED NUMBER cc__line_add_##NUMBER(NUMBER sum, NUMBER weight, NUMBER before, NUMBER after)                    \
    {                                                                                                                  \
        NUMBER both = before + after;                                                                                  \
        return sum + weight * both;                                                                                    \
    }

CC__DEFINE_LINE_MATH(float)
CC__DEFINE_LINE_MATH(double)

#endif
