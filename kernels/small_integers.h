/* Integers of 8 and 16 bits, several in a word of 32 bits. One instruction each, where the GPU has it. */
#ifndef CC_KERNELS_SMALL_INTEGERS_H
#define CC_KERNELS_SMALL_INTEGERS_H

#include "kernels/shared.h"

#include <stdint.h>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define CC__HAS_WORD_INSTRUCTIONS
#endif

/* What `to` is with all integers of a word added, which are without sign, or with those of x times those of y. */
static __device__ inline uint32_t cc__add_all(int32_t bits, uint32_t x, uint32_t to)
{
#ifdef CC__HAS_WORD_INSTRUCTIONS
    return bits == 8 ? __dp4a(x, UINT32_C(0x01010101), to) : __dp2a_lo(x, UINT32_C(0x0101), to);
#else
    if (bits == 8)
        x = (x & 0x00ff00ff) + (x >> 8 & 0x00ff00ff);
    return to + (x & 0xffff) + (x >> 16);
#endif
}

static __device__ inline uint64_t cc__add_products(int32_t bits, uint32_t x, uint32_t y, uint64_t to)
{
    if (bits == 16)
        return to + (uint64_t)(x & 0xffff) * (y & 0xffff) + (uint64_t)(x >> 16) * (y >> 16);
#ifdef CC__HAS_WORD_INSTRUCTIONS
    return __dp4a(x, y, (uint32_t)to);
#else
    for (int32_t n = 0; n < 32; n += 8)
        to += (uint64_t)((x >> n & 0xff) * (y >> n & 0xff));
    return to;
#endif
}

/* The larger ones of halves without sign. */
static __device__ inline uint32_t cc__larger_halves(uint32_t x, uint32_t y)
{
#ifdef CC__HAS_WORD_INSTRUCTIONS
    return __vmaxu2(x, y);
#else
    const uint32_t low = (x & 0xffff) > (y & 0xffff) ? x & 0xffff : y & 0xffff;
    const uint32_t high = x >> 16 > y >> 16 ? x >> 16 : y >> 16;
    return high << 16 | low;
#endif
}

/* Bytes that are 1 where those of x are not 0. */
static __device__ inline uint32_t cc__not_zero_bytes(uint32_t x)
{
    return (((x & 0x7f7f7f7f) + 0x7f7f7f7f) | x) >> 7 & 0x01010101;
}

#ifdef __CUDACC__
/* Of all threads of a warp, for each of them. */
static __device__ inline uint32_t cc__sum_of_warp(uint32_t own)
{
#ifdef CC__HAS_WORD_INSTRUCTIONS
    return __reduce_add_sync(UINT32_MAX, own);
#else
    for (int32_t apart = 16; apart > 0; apart /= 2)
        own += __shfl_xor_sync(UINT32_MAX, own, apart);
    return own;
#endif
}

static __device__ inline uint32_t cc__largest_of_warp(uint32_t own)
{
#ifdef CC__HAS_WORD_INSTRUCTIONS
    return __reduce_max_sync(UINT32_MAX, own);
#else
    for (int32_t apart = 16; apart > 0; apart /= 2) {
        const uint32_t other = __shfl_xor_sync(UINT32_MAX, own, apart);
        own = other > own ? other : own;
    }
    return own;
#endif
}
#endif

#endif
