/* The kernels of any expression of an 8-bit source: its results come from a table. For evaluate.cu. */
#ifndef CC_KERNELS_EVALUATE_TABLE_H
#define CC_KERNELS_EVALUATE_TABLE_H

#include "kernels/evaluate_shallow_plan.h"
#include "kernels/vector_of_4.h"

#define TABLE_THREADS 1024 /* of a block, so that few blocks make a table and all threads that fit have one */
#define TABLE_LANES 32

/*
 * Every lane of a warp has a copy of its own, in a memory bank of its own, so that no lane waits for another. A word of
 * it has `each` results side by side.
 */
static __device__ inline void table_fill(const cc__table_plan *plan, int32_t each, uint32_t *table)
{
    const int32_t lane = (int32_t)threadIdx.x % TABLE_LANES;
#ifdef __CUDACC__
    const int32_t first = (int32_t)threadIdx.x / TABLE_LANES;
    const int32_t warps = TABLE_THREADS / TABLE_LANES;
#else
    /* Where threads run one after the other, each makes what it needs. */
    const int32_t first = 0;
    const int32_t warps = 1;
#endif
    for (int32_t n = first; n < 256 / each; n += warps) {
        uint32_t word = 0;
        CC__UNROLL
        for (int32_t i = 0; i < each; i++)
            word += plan->result[n * each + i] << (i * 32 / each);
        table[n * TABLE_LANES + lane] = word;
    }
#ifdef __CUDACC__
    __syncthreads();
#endif
}

/* 16 bytes of results have 128 / BITS components, whose sources fill `WORDS` words. */
#define DEFINE_TABLE(BITS, WORDS)                                                                                      \
    typedef struct __align__(4 * WORDS) table_source_##BITS                                                            \
    {                                                                                                                  \
        uint32_t word[WORDS];                                                                                          \
    }                                                                                                                  \
    table_source_##BITS;                                                                                               \
                                                                                                                       \
    /* `lane`: the lane's first word. */                                                                               \
    static __device__ inline uint32_t table_find_##BITS(const unsigned char *lane, uint32_t source)                    \
    {                                                                                                                  \
        const uint32_t each = 32 / BITS;                                                                               \
        const uint32_t offset = source / each * (4 * TABLE_LANES) + source % each * (BITS / 8);                        \
        return *(const uint##BITS##_t *)(lane + offset);                                                               \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(TABLE_THREADS)                                                            \
        evaluate_table_##BITS(const __grid_constant__ cc__table_plan plan)                                             \
    {                                                                                                                  \
        __shared__ uint32_t table[256 * BITS / 32 * TABLE_LANES];                                                      \
        const unsigned char *lane = (const unsigned char *)&table[threadIdx.x % TABLE_LANES];                          \
        const int32_t thread = (int32_t)threadIdx.x;                                                                   \
        const int64_t step = (int64_t)gridDim.x * TABLE_THREADS;                                                       \
        table_fill(&plan, 32 / BITS, table);                                                                           \
        for (int64_t n = (int64_t)blockIdx.x * TABLE_THREADS + thread; n < plan.units.count; n += step) {              \
            const table_source_##BITS from = ((const table_source_##BITS *)plan.from)[n];                              \
            vector_of_4 made = {{0, 0, 0, 0}};                                                                         \
            CC__UNROLL                                                                                                 \
            for (int32_t j = 0; j < 4 * WORDS; j++)                                                                    \
                made.value[j * BITS / 32] += table_find_##BITS(lane, from.word[j / 4] >> (j % 4 * 8) & 0xff)           \
                                             << (j * BITS % 32);                                                       \
            ((vector_of_4 *)plan.to)[n] = made;                                                                        \
        }                                                                                                              \
        if (blockIdx.x == 0 && thread < plan.units.head + plan.units.tail) {                                           \
            const int64_t n = thread < plan.units.head ? (int64_t)thread - plan.units.head                             \
                                                       : plan.units.count * (4 * WORDS) + thread - plan.units.head;    \
            ((uint##BITS##_t *)plan.to)[n] = (uint##BITS##_t)table_find_##BITS(lane, plan.from[n]);                    \
        }                                                                                                              \
    }

DEFINE_TABLE(8, 4)
DEFINE_TABLE(16, 2)
DEFINE_TABLE(32, 1)

#undef DEFINE_TABLE

#endif
