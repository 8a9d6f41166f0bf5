/* How a thread takes the components of its lanes: those of a piece that lie in packs at once, others one by one. */
#ifndef CC_KERNELS_REDUCE_LANES_H
#define CC_KERNELS_REDUCE_LANES_H

#include "kernels/sequence.h"

#define ROUNDS CC__REDUCE_ROUNDS
/*
 * Rounds that are loaded before the first is taken, by bits of a component; and by which power of two fewer they are
 * with two sources. Where registers allow it a piece is loaded at once, which is worth more than another block.
 */
#define AT_ONCE_16 16
#define AT_ONCE_32 16
#define AT_ONCE_64 2
#define FEWER_16 2
#define FEWER_32 2
#define FEWER_64 0
#define MIXED 2

static __device__ inline void cc__take(cc__reduce_kind kind, cc__reduce_lane *lane, bool is_first, double x, double y)
{
    switch (kind) {
    case CC__REDUCE_SUM:
        lane->value = lane->value + x;
        break;
    case CC__REDUCE_MINIMUM:
        lane->value = cc__minimum(lane->value, x);
        break;
    case CC__REDUCE_MAXIMUM:
        lane->value = cc__maximum(lane->value, x);
        break;
    case CC__REDUCE_SQUARES:
        lane->value = lane->value + x * x;
        break;
    case CC__REDUCE_DOT:
        lane->value = lane->value + x * y;
        break;
    case CC__REDUCE_MOMENTS: {
        if (is_first)
            lane->first = x;
        double distance = x - lane->first;
        lane->value = lane->value + distance;
        lane->squares = lane->squares + distance * distance;
        break;
    }
    }
}

/* All rounds of a whole piece, of one source or of two with one type; TAKE_ONE takes x[r] and y[r] of lane i. */
#define TAKE_ROUNDS(BITS, TAKE_ONE)                                                                                    \
    const int32_t at_once = AT_ONCE_##BITS >> ((sources - 1) * FEWER_##BITS);                                          \
    for (int32_t round = 0; round < ROUNDS; round += at_once) {                                                        \
        cc__pack_##BITS x[AT_ONCE_##BITS];                                                                             \
        cc__pack_##BITS y[AT_ONCE_##BITS];                                                                             \
        cc__read_##BITS(from, 0, first + (int64_t)round * CC__REDUCE_LANES, at_once, x);                               \
        if (sources == 2)                                                                                              \
            cc__read_##BITS(from, 1, first + (int64_t)round * CC__REDUCE_LANES, at_once, y);                           \
        CC__UNROLL                                                                                                     \
        for (int32_t r = 0; r < at_once; r++) {                                                                        \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < CC__PACK; i++)                                                                     \
                (TAKE_ONE);                                                                                            \
        }                                                                                                              \
    }

#define TAKE(NAME, HOLDER, BITS)                                                                                       \
    case CC_PIXEL_##NAME: {                                                                                            \
        TAKE_ROUNDS(BITS, cc__take(kind, &lanes[i], round + r == 0, cc__load_##NAME((HOLDER)x[r].value[i]),            \
                                   sources == 2 ? cc__load_##NAME((HOLDER)y[r].value[i]) : 0.0))                       \
        break;                                                                                                         \
    }

/* is_narrow, a constant: what the first source is. Each has a kernel, since wide components need more registers. */
static __device__ inline void cc__take_packs(const cc__packed_sequence *from, cc__reduce_kind kind, bool is_narrow,
                                             int64_t first, cc__reduce_lane lanes[CC__PACK])
{
    const int32_t sources = kind == CC__REDUCE_DOT ? 2 : 1;
    if (is_narrow) {
        switch ((int32_t)from->sources[0].type) {
            TAKE(FLOAT16, uint16_t, 16)
            TAKE(BFLOAT16, uint16_t, 16)
            CC__FOR_EACH_TYPE_OF_32_BITS(TAKE)
        }
    } else {
        switch ((int32_t)from->sources[0].type) {
            CC__FOR_EACH_TYPE_OF_64_BITS(TAKE)
        }
    }
}

#define READ_MIXED(NAME, HOLDER, BITS)                                                                                 \
    case CC_PIXEL_##NAME: {                                                                                            \
        cc__pack_##BITS packs[MIXED];                                                                                  \
        cc__read_##BITS(from, n, first, MIXED, packs);                                                                 \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < MIXED * CC__PACK; i++)                                                                 \
            out[i] = cc__load_##NAME((HOLDER)packs[i / CC__PACK].value[i % CC__PACK]);                                 \
        break;                                                                                                         \
    }

static __device__ inline void cc__read_mixed(const cc__packed_sequence *from, int32_t n, int64_t first, double *out)
{
    switch ((int32_t)from->sources[n].type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(READ_MIXED)
        CC__FOR_EACH_TYPE_OF_32_BITS(READ_MIXED)
        CC__FOR_EACH_TYPE_OF_64_BITS(READ_MIXED)
    }
}

/* The same for products of two types. */
static __device__ inline void cc__take_mixed(const cc__packed_sequence *from, int64_t first,
                                             cc__reduce_lane lanes[CC__PACK])
{
    for (int32_t round = 0; round < ROUNDS; round += MIXED) {
        double x[MIXED * CC__PACK] = {0};
        double y[MIXED * CC__PACK] = {0};
        cc__read_mixed(from, 0, first + (int64_t)round * CC__REDUCE_LANES, x);
        cc__read_mixed(from, 1, first + (int64_t)round * CC__REDUCE_LANES, y);
        CC__UNROLL
        for (int32_t i = 0; i < MIXED * CC__PACK; i++)
            cc__take(CC__REDUCE_DOT, &lanes[i % CC__PACK], false, x[i], y[i]);
    }
}

/* The last piece, and pixels that do not lie in packs. */
static __device__ inline void cc__take_one_by_one(const cc__packed_sequence *from, cc__reduce_kind kind, int64_t first,
                                                  cc__reduce_lane lanes[CC__PACK])
{
    for (int32_t round = 0; round < ROUNDS; round++) {
        CC__UNROLL
        for (int32_t i = 0; i < CC__PACK; i++) {
            int64_t number = first + (int64_t)round * CC__REDUCE_LANES + i;
            if (number < from->sequence.count)
                cc__take(kind, &lanes[i], round == 0, cc__read_one(from, 0, number),
                         kind == CC__REDUCE_DOT ? cc__read_one(from, 1, number) : 0.0);
        }
    }
}

#undef ROUNDS
#undef MIXED
#undef TAKE_ROUNDS
#undef TAKE
#undef READ_MIXED

#endif
