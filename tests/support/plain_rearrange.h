/* Random arrangements of pixels, and what they must give, pixel by pixel. For tests of rearranging. */
#ifndef CC_TESTS_PLAIN_REARRANGE_H
#define CC_TESTS_PLAIN_REARRANGE_H

#include "base/rearrange.h"

/* Which pixel of an axis stands for another, found step by step as border.h draws it; -1: the value. */
int64_t plain_border(int64_t border, int64_t at, int64_t size);

/* Pixels of equal types, one after the other. The work is as it was before cc__rearrange_normalize(). */
void plain_rearrange(const cc__rearrange *work);

/* What random works are made of. */
typedef enum random_kind {
    RANDOM_PIXELS = 0,  /* equal types */
    RANDOM_CASTS = 1,   /* types that differ */
    RANDOM_SQUARES = 2, /* equal types, no border, axes swapped, often dense */
} random_kind;

/*
 * Pixels in `from` and `to`, which have `most` bytes each, aligned to 16. False, with nothing made, when they are too
 * few. out_bytes: those of `to` that the pixels may lie in.
 */
bool random_rearrange(uint32_t *state, random_kind kind, unsigned char *from, unsigned char *to, int64_t most,
                      cc__rearrange *out_work, int64_t *out_bytes);

#endif
