/* Strided work as a test would do it by hand, pixel by pixel, and random layouts to try it on. */
#ifndef CC_TESTS_PLAIN_WORK_H
#define CC_TESTS_PLAIN_WORK_H

#include "base/work.h"

#include <stdint.h>

/* A number from 0 to count - 1, the same sequence for the same first state everywhere. */
int64_t random_below(uint32_t *state, int64_t count);
void random_bytes(uint32_t *state, void *memory, int64_t size_bytes);

/*
 * Strides without overlap, the axes in any order, often with gaps; all multiples of `alignment`, as pixel_bytes must
 * be. Returns the bytes that the pixels span at most.
 */
int64_t random_strides(uint32_t *state, const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes, int64_t alignment,
                       int64_t out_stride[CC_MAX_DIMENSION]);

void plain_copy(const cc__copy *work);
void plain_fill(const cc__fill *work);

#endif
