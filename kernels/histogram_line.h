/*
 * The bins of integers of 16 bits, as a straight line in integers: cheaper than float64, and taken only where it gives
 * every integer the same bin.
 */
#ifndef CC_KERNELS_HISTOGRAM_LINE_H
#define CC_KERNELS_HISTOGRAM_LINE_H

#include "kernels/reduce_math.h"

#include <cudacommon/pixel.h>
#include <math.h>
#include <stdbool.h>

/* The span when all integers have a bin. */
#define CC__LINE_OF_ALL UINT32_C(0xffff0000)

/* Integers are in the upper half of a word, as distances from the first that has a bin. */
typedef struct cc__histogram_line {
    uint32_t first;
    uint32_t span; /* to the last that has a bin */
    uint32_t slope;
    uint32_t offset;
    int32_t shift;
} cc__histogram_line;

/* To be shifted right: the bin, or the number of bins where it is the last. */
CC__SHARED uint32_t cc__line_value(const cc__histogram_line *line, uint32_t place)
{
#ifdef __CUDA_ARCH__
    return __umulhi(place, line->slope) + line->offset;
#else
    return (uint32_t)((uint64_t)place * line->slope >> 32) + line->offset;
#endif
}

/* Whether every bin begins where it has to: bins never fall from one integer to the next, so that no other differs. */
static inline bool cc__line_is_right(const cc__histogram_line *line, double first, double lower, double upper,
                                     double scale, int64_t bins)
{
    const int64_t span = line->span >> 16;
    int64_t next = 0; /* the first place that has at least this bin, or one more than there are */
    for (int64_t bin = 1; bin < bins; bin++) {
        const double guess = lower + (double)bin / scale - first;
        if (guess > (double)next)
            next = guess < (double)span ? (int64_t)guess : span;
        while (next > 0 && cc__histogram_bin(first + (double)(next - 1), lower, upper, scale, bins) >= bin)
            next--;
        while (next <= span && cc__histogram_bin(first + (double)next, lower, upper, scale, bins) < bin)
            next++;
        if ((next > 0 && cc__line_value(line, (uint32_t)(next - 1) << 16) >> line->shift >= bin) ||
            (next <= span && cc__line_value(line, (uint32_t)next << 16) >> line->shift < bin))
            return false;
    }
    return cc__line_value(line, line->span) >> line->shift <= bins;
}

/* False where there is none. */
static inline bool cc__line_of(cc_pixel_type type, double lower, double upper, double scale, int64_t bins,
                               cc__histogram_line *out_line)
{
    const double least = type == CC_PIXEL_INT16 ? -0x8000 : 0;
    const double first = fmax(ceil(lower), least);
    const double last = fmin(floor(upper), least + 0xffff);
    int32_t bin_bits = 0, scale_bits = 0;
    cc__histogram_line line;
    (void)frexp((double)bins, &bin_bits);
    (void)frexp(scale, &scale_bits);
    /* As many bits after the point as a word leaves, for the bins and for the slope. */
    line.shift = 32 - bin_bits < 16 - scale_bits ? 32 - bin_bits : 16 - scale_bits;
    if ((type != CC_PIXEL_UINT16 && type != CC_PIXEL_INT16) || !(first <= last) || line.shift < 8)
        return false;
    line.first = (uint32_t)(int32_t)first << 16;
    line.span = (uint32_t)(last - first) << 16;
    line.slope = (uint32_t)ldexp(scale, line.shift + 16);
    /* Two steps up or down, which rounding may lose: what is exactly between two bins is in the same one as before. */
    const double offset = ldexp((first - lower) * scale, line.shift);
    for (int32_t steps = 2; steps >= -2; steps -= 4) {
        line.offset = (uint32_t)fmax(offset + steps, 0.0);
        if (cc__line_is_right(&line, first, lower, upper, scale, bins)) {
            *out_line = line;
            return true;
        }
    }
    return false;
}

#endif
