/* Which pixel stands for one outside an axis. The CPU and the GPU run this same code. */
#ifndef CC_KERNELS_BORDER_MATH_H
#define CC_KERNELS_BORDER_MATH_H

#include "kernels/shared.h"

#include <cudacommon/border.h>
#include <stdint.h>

/* What is left of `at` when whole periods are taken away: 0 to period - 1. Mostly it is near, and division is slow. */
CC__SHARED int64_t cc__border_wrap(int64_t at, int64_t period)
{
    if (at >= -period && at < 2 * period)
        return at < 0 ? at + period : at >= period ? at - period : at;
    const int64_t rest = at % period;
    return rest < 0 ? rest + period : rest;
}

/* The pixel for one that is outside. */
CC__SHARED_APART int64_t cc__border_find_outside(int32_t border, int64_t at, int64_t size)
{
    switch ((cc_border)border) {
    case CC_BORDER_CONSTANT:
        break;
    case CC_BORDER_REPLICATE:
        return at < 0 ? 0 : size - 1;
    case CC_BORDER_REFLECT:
        if (size == 1)
            return 0;
        at = cc__border_wrap(at, 2 * (size - 1));
        return at < size ? at : 2 * (size - 1) - at;
    case CC_BORDER_SYMMETRIC:
        at = cc__border_wrap(at, 2 * size);
        return at < size ? at : 2 * size - 1 - at;
    case CC_BORDER_PERIODIC:
        return cc__border_wrap(at, size);
    }
    return -1;
}

/* For an axis of `size` > 0 pixels: 0 to size - 1, or -1 for the border's value. */
CC__SHARED int64_t cc__border_find(int32_t border, int64_t at, int64_t size)
{
    return at >= 0 && at < size ? at : cc__border_find_outside(border, at, size);
}

#endif
