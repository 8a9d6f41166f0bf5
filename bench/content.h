/* Pseudo-random pixels that the CPU and the GPU agree on: a wrong byte, or an old one, is seen anywhere it is looked
 * for. */
#ifndef BENCH_CONTENT_H
#define BENCH_CONTENT_H

#include <stdint.h>

#ifdef __CUDACC__
#define CONTENT_ANYWHERE static __host__ __device__ __forceinline__
#else
#define CONTENT_ANYWHERE static inline
#endif

/* 32 bits for the pixel at a position, counted from the first pixel of the image. */
CONTENT_ANYWHERE uint32_t content_bits(uint32_t seed, int64_t position)
{
    uint64_t bits = ((uint64_t)position + 1) * UINT64_C(0xD6E8FEB86659FD93);
    bits ^= (uint64_t)(seed + 1) * UINT64_C(0xA24BAED4963EE407);
    bits ^= bits >> 32;
    bits *= UINT64_C(0xD6E8FEB86659FD93);
    return (uint32_t)(bits >> 32);
}

/* From 0 to 1, with all 24 bits of a float's precision in use. */
CONTENT_ANYWHERE float content_pixel(uint32_t seed, int64_t position)
{
    return (float)(content_bits(seed, position) >> 8) / 16777216.0F;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Writes pixels 0 to count - 1 of a content with as many threads as there are cores. */
void content_write(float *pixels, int64_t count, uint32_t seed, int32_t core_count);

#ifdef __cplusplus
}
#endif

#endif
