/* Between which types linear resampling in float32 has kernels of its own, and how they read and write them. */
#ifndef CC_KERNELS_RESAMPLE_PAIRS_H
#define CC_KERNELS_RESAMPLE_PAIRS_H

#include "kernels/resample_plan.h"

#define READ_UINT8(FROM) ((float)*(const uint8_t *)(FROM))
#define READ_INT16(FROM) ((float)*(const int16_t *)(FROM))
#define READ_UINT16(FROM) ((float)*(const uint16_t *)(FROM))
CC__DEFINE_SAMPLE(of_uint8, float, float32, READ_UINT8)
CC__DEFINE_SAMPLE(of_int16, float, float32, READ_INT16)
CC__DEFINE_SAMPLE(of_uint16, float, float32, READ_UINT16)

/* As cc__store_UINT8() and so on do it: at 1.5 * 2^23 the last bit of a float32 is worth 1. */
static __device__ inline uint32_t round_into(float value, float least, float greatest)
{
    value = value > least ? value : least;
    value = value < greatest ? value : greatest;
    return cc__bits_of_float32(value + 0x1.8p23F);
}

#define WRITE_UINT8(TO, VALUE) (*(uint8_t *)(TO) = (uint8_t)round_into(VALUE, 0, UINT8_MAX))
#define WRITE_INT16(TO, VALUE)                                                                                         \
    (*(int16_t *)(TO) = (int16_t)round_into((VALUE) == (VALUE) ? (VALUE) : 0, INT16_MIN, INT16_MAX))
#define WRITE_UINT16(TO, VALUE) (*(uint16_t *)(TO) = (uint16_t)round_into(VALUE, 0, UINT16_MAX))
#define KEEP_1(TO, PLAN) (*(TO) = (uint8_t)(PLAN)->outside)
#define KEEP_2(TO, PLAN) (*(uint16_t *)(TO) = (uint16_t)(PLAN)->outside)

/* X(from, to, SAMPLE, WRITE, bytes of each) */
#define FOR_EACH_PAIR(X)                                                                                               \
    X(FLOAT32, FLOAT32, float32, WRITE_FLOAT32, 4, 4)                                                                  \
    X(UINT8, UINT8, uint8, WRITE_UINT8, 1, 1)                                                                          \
    X(UINT8, FLOAT32, uint8, WRITE_FLOAT32, 1, 4)                                                                      \
    X(INT16, INT16, int16, WRITE_INT16, 2, 2)                                                                          \
    X(INT16, FLOAT32, int16, WRITE_FLOAT32, 2, 4)                                                                      \
    X(UINT16, UINT16, uint16, WRITE_UINT16, 2, 2)                                                                      \
    X(UINT16, FLOAT32, uint16, WRITE_FLOAT32, 2, 4)

#endif
