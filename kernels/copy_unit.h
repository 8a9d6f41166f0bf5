/* What one instruction moves: 16, 8, 4, 2 or 1 bytes, aligned. unit_bytes is a constant where these are called. */
#ifndef CC_KERNELS_COPY_UNIT_H
#define CC_KERNELS_COPY_UNIT_H

#include <stdint.h>
#ifdef __CUDACC__
#include <cuda_pipeline.h>
#else
#include <string.h>
#endif

typedef struct __align__(16) cc__copy_unit
{
    uint64_t part[2];
}
cc__copy_unit;

static __device__ inline cc__copy_unit load_unit(const unsigned char *at, int32_t unit_bytes)
{
    cc__copy_unit unit;
    switch (unit_bytes) {
    case 16:
        unit = *(const cc__copy_unit *)at;
        break;
    case 8:
        unit.part[0] = *(const uint64_t *)at;
        break;
    case 4:
        unit.part[0] = *(const uint32_t *)at;
        break;
    case 2:
        unit.part[0] = *(const uint16_t *)at;
        break;
    default:
        unit.part[0] = *at;
        break;
    }
    return unit;
}

static __device__ inline void store_unit(unsigned char *at, cc__copy_unit unit, int32_t unit_bytes)
{
    switch (unit_bytes) {
    case 16:
        *(cc__copy_unit *)at = unit;
        break;
    case 8:
        *(uint64_t *)at = unit.part[0];
        break;
    case 4:
        *(uint32_t *)at = (uint32_t)unit.part[0];
        break;
    case 2:
        *(uint16_t *)at = (uint16_t)unit.part[0];
        break;
    default:
        *at = (unsigned char)unit.part[0];
        break;
    }
}

/* From global into shared memory without registers between them: 4, 8 or 16 bytes. */
static __device__ inline void copy_unit_async(unsigned char *to, const unsigned char *from, int32_t unit_bytes)
{
#ifdef __CUDACC__
    if (unit_bytes == 16)
        __pipeline_memcpy_async(to, from, 16);
    else if (unit_bytes == 8)
        __pipeline_memcpy_async(to, from, 8);
    else
        __pipeline_memcpy_async(to, from, 4);
#else
    memcpy(to, from, (size_t)unit_bytes);
#endif
}

static __device__ inline void wait_for_units(void)
{
#ifdef __CUDACC__
    __pipeline_commit();
    __pipeline_wait_prior(0);
#endif
}

#endif
