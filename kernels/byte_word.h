/* 16 bytes as 4 words, and bytes picked from such words. */
#ifndef CC_KERNELS_BYTE_WORD_H
#define CC_KERNELS_BYTE_WORD_H

#include <stdint.h>

typedef struct __align__(16) byte_word
{
    uint32_t part[4];
}
byte_word;

/* The 8 bytes of a, then b, are counted from 0; each digit of `which`, the lowest first, says which one is taken. */
static __device__ inline uint32_t pick_bytes(uint32_t a, uint32_t b, uint32_t which)
{
#ifdef __CUDA_ARCH__
    return __byte_perm(a, b, which);
#else
    const uint64_t both = (uint64_t)b << 32 | a;
    uint32_t picked = 0;
    for (int32_t i = 0; i < 4; i++)
        picked |= (uint32_t)(both >> (which >> 4 * i & 7) * 8 & 255) << 8 * i;
    return picked;
#endif
}

#endif
