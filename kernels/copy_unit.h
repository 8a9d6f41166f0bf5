/* What one instruction moves: 16, 8, 4, 2 or 1 bytes, aligned. unit_bytes is a constant where these are called. */
#ifndef CC_KERNELS_COPY_UNIT_H
#define CC_KERNELS_COPY_UNIT_H

#include <stdint.h>

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

#endif
