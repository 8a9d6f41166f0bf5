/* What reductions do with one value and with parts of a result; the CPU and the GPU run this same code. */
#ifndef CC_KERNELS_REDUCE_MATH_H
#define CC_KERNELS_REDUCE_MATH_H

#include "kernels/step_math.h"

/*
 * The order of cudacommon/reductions.h: in each piece of the components, lane l takes those with l as remainder, in
 * turn; then neighbouring lanes are joined in pairs, those again, and so on. So it goes on with the pieces' results.
 */
#define CC__REDUCE_LANES 1024
#define CC__REDUCE_ROUNDS 16
#define CC__REDUCE_PIECE ((int64_t)CC__REDUCE_LANES * CC__REDUCE_ROUNDS)

typedef enum cc__reduce_kind {
    CC__REDUCE_SUM = 0,
    CC__REDUCE_MINIMUM = 1,
    CC__REDUCE_MAXIMUM = 2,
    CC__REDUCE_SQUARES = 3,
    CC__REDUCE_DOT = 4,
    CC__REDUCE_MOMENTS = 5
} cc__reduce_kind;

/* What becomes of the result of all components. */
typedef enum cc__reduce_end {
    CC__REDUCE_AS_IT_IS = 0,
    CC__REDUCE_MEAN = 1,    /* divided by their number */
    CC__REDUCE_ROOT = 2,    /* the square root */
    CC__REDUCE_VARIANCE = 3 /* of moments: the squares by their number */
} cc__reduce_end;

/* Of some components. `squares` and `count` only of moments: the squares of the distances from `value`, the mean. */
typedef struct cc__partial {
    double value;
    double squares;
    double count;
} cc__partial;

/*
 * While a lane takes components. Moments: sums of the distances from the first one and of their squares. Since the
 * first is one of at most 16, the distance of the mean from it is no greater than the root of what is wanted, and
 * little is lost in the difference.
 */
typedef struct cc__reduce_lane {
    double value;
    double squares;
    double first;
} cc__reduce_lane;

CC__SHARED double cc__reduce_nothing(cc__reduce_kind kind)
{
    const double infinity = cc__float64_of_bits(UINT64_C(0x7ff0000000000000));
    return kind == CC__REDUCE_MINIMUM ? infinity : kind == CC__REDUCE_MAXIMUM ? -infinity : 0.0;
}

CC__SHARED cc__partial cc__reduce_lane_end(cc__reduce_kind kind, cc__reduce_lane lane, int32_t count)
{
    cc__partial partial = {lane.value, 0.0, 0.0};
    if (kind == CC__REDUCE_MOMENTS && count > 0) {
        /* Of a whole lane a product that is the same, and cheaper. */
        double mean = count == CC__REDUCE_ROUNDS ? lane.value * (1.0 / CC__REDUCE_ROUNDS) : lane.value / (double)count;
        double rest = lane.squares - lane.value * mean;
        partial.value = lane.first + mean;
        partial.squares = rest < 0.0 ? 0.0 : rest;
        partial.count = (double)count;
    }
    return partial;
}

/* `share`: what y has of all components. */
CC__SHARED cc__partial cc__reduce_join_shares(cc__partial x, cc__partial y, double share)
{
    cc__partial both;
    double distance = y.value - x.value;
    both.count = x.count + y.count;
    both.value = x.value + distance * share;
    both.squares = (x.squares + y.squares) + distance * distance * (x.count * share);
    return both;
}

CC__SHARED cc__partial cc__reduce_join_moments(cc__partial x, cc__partial y)
{
    if (y.count == 0.0)
        return x;
    if (x.count == 0.0)
        return y;
    return cc__reduce_join_shares(x, y, x.count == y.count ? 0.5 : y.count / (x.count + y.count));
}

CC__SHARED cc__partial cc__reduce_join(cc__reduce_kind kind, cc__partial x, cc__partial y)
{
    if (kind == CC__REDUCE_MOMENTS)
        return cc__reduce_join_moments(x, y);
    if (kind == CC__REDUCE_MINIMUM)
        x.value = cc__minimum(x.value, y.value);
    else if (kind == CC__REDUCE_MAXIMUM)
        x.value = cc__maximum(x.value, y.value);
    else
        x.value = x.value + y.value;
    return x;
}

/* The same, where x is mostly what so many like y have together: their share is known without a division. */
CC__SHARED cc__partial cc__reduce_join_next(cc__reduce_kind kind, cc__partial x, cc__partial y, int32_t times)
{
    if (kind == CC__REDUCE_MOMENTS && times > 0 && x.count == (double)times * y.count)
        return cc__reduce_join_shares(x, y, 1.0 / (double)(times + 1));
    return cc__reduce_join(kind, x, y);
}

/* The same of two that have `count` components each, a power of two. */
CC__SHARED cc__partial cc__reduce_join_equal(cc__reduce_kind kind, cc__partial x, cc__partial y, int32_t count)
{
    if (kind != CC__REDUCE_MOMENTS)
        return cc__reduce_join(kind, x, y);
    cc__partial both;
    double distance = y.value - x.value;
    both.value = x.value + distance * 0.5;
    both.squares = (x.squares + y.squares) + distance * distance * ((double)count * 0.5);
    both.count = 2.0 * (double)count;
    return both;
}

/*
 * Of a piece of integers of up to 16 bits: their sum, or the one wanted, and the sum of their squares or products. The
 * difference stays under 2^60.
 */
CC__SHARED cc__partial cc__reduce_small(cc__reduce_kind kind, int64_t count, int64_t sum, int64_t products)
{
    cc__partial partial = {(double)(kind == CC__REDUCE_SQUARES || kind == CC__REDUCE_DOT ? products : sum), 0.0, 0.0};
    if (kind == CC__REDUCE_MOMENTS) {
        const double share = 1.0 / (double)CC__REDUCE_PIECE;
        const double squares = (double)(count * products - sum * sum);
        /* Of a whole piece a product that is the same, and cheaper. */
        partial.value = count == CC__REDUCE_PIECE ? partial.value * share : partial.value / (double)count;
        partial.squares = count == CC__REDUCE_PIECE ? squares * share : squares / (double)count;
        partial.count = (double)count;
    }
    return partial;
}

CC__SHARED double cc__reduce_result(cc__reduce_end end, cc__partial all, int64_t count)
{
    double value = all.value;
    if (end == CC__REDUCE_MEAN)
        value = value / (double)count;
    else if (end == CC__REDUCE_ROOT)
        value = cc__square_root(value);
    else if (end == CC__REDUCE_VARIANCE)
        value = all.squares / all.count;
    return value == value ? value : cc__float64_of_bits(UINT64_C(0x7ff8000000000000));
}

/* The bin of a value, -1 for none. */
CC__SHARED int64_t cc__histogram_bin(double value, double lower, double upper, double scale, int64_t bins)
{
    if (!(value >= lower && value <= upper))
        return -1;
    int64_t bin = (int64_t)((value - lower) * scale);
    return bin < bins ? bin : bins - 1;
}

#endif
