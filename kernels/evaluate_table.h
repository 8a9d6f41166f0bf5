/* The kernels of any expression of an 8-bit source: its results come from a table. For evaluate.cu. */
#ifndef CC_KERNELS_EVALUATE_TABLE_H
#define CC_KERNELS_EVALUATE_TABLE_H

#include "kernels/evaluate_shallow_plan.h"
#include "kernels/vector_of_4.h"

#define TABLE_UNITS 4 /* of a thread at once */
#define TABLE_TILE (TABLE_UNITS * CC__BLOCK_THREADS)
#define TABLE_LANES 32

/* Every lane of a warp has a copy of its own, in a memory bank of its own, so that no lane waits for another. */
static __device__ inline void table_fill(const cc__table_plan *plan, uint32_t *table)
{
    const int32_t lane = (int32_t)threadIdx.x % TABLE_LANES;
#ifdef __CUDACC__
    const int32_t first = (int32_t)threadIdx.x / TABLE_LANES;
    const int32_t warps = CC__BLOCK_THREADS / TABLE_LANES;
#else
    /* Where threads run one after the other, each makes what it needs. */
    const int32_t first = 0;
    const int32_t warps = 1;
#endif
    for (int32_t n = first; n < 256; n += warps)
        table[n * TABLE_LANES + lane] = plan->result[n];
#ifdef __CUDACC__
    __syncthreads();
#endif
}

/* The result of the byte of `word` that begins at bit `shift`; `lane` in bytes. */
static __device__ inline uint32_t table_find(const uint32_t *table, uint32_t lane, uint32_t word, int32_t shift)
{
    const uint32_t moved = shift < 8 ? word << 7 : word >> (shift - 7);
    return *(const uint32_t *)((const unsigned char *)table + ((moved & UINT32_C(0x7f80)) | lane));
}

/* 16 bytes of results have 128 / BITS components, whose sources fill `WORDS` words. */
#define DEFINE_TABLE(BITS, WORDS)                                                                                      \
    typedef struct __align__(4 * WORDS) table_source_##BITS                                                            \
    {                                                                                                                  \
        uint32_t word[WORDS];                                                                                          \
    }                                                                                                                  \
    table_source_##BITS;                                                                                               \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        evaluate_table_##BITS(const __grid_constant__ cc__table_plan plan)                                             \
    {                                                                                                                  \
        __shared__ uint32_t table[256 * TABLE_LANES];                                                                  \
        const uint32_t lane = 4 * (threadIdx.x % TABLE_LANES);                                                         \
        const int32_t thread = (int32_t)threadIdx.x;                                                                   \
        const int64_t step = (int64_t)gridDim.x * TABLE_TILE;                                                          \
        table_fill(&plan, table);                                                                                      \
        for (int64_t first = (int64_t)blockIdx.x * TABLE_TILE + thread; first < plan.units.count; first += step) {     \
            table_source_##BITS from[TABLE_UNITS];                                                                     \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < TABLE_UNITS; i++) {                                                                \
                const int64_t n = first + i * CC__BLOCK_THREADS;                                                       \
                from[i] = ((const table_source_##BITS *)plan.from)[n < plan.units.count ? n : first];                  \
            }                                                                                                          \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < TABLE_UNITS; i++) {                                                                \
                const int64_t n = first + i * CC__BLOCK_THREADS;                                                       \
                vector_of_4 made = {{0, 0, 0, 0}};                                                                     \
                CC__UNROLL                                                                                             \
                for (int32_t j = 0; j < 4 * WORDS; j++)                                                                \
                    made.value[j * BITS / 32] |= table_find(table, lane, from[i].word[j / 4], j % 4 * 8)               \
                                                 << (j * BITS % 32);                                                   \
                if (n < plan.units.count)                                                                              \
                    ((vector_of_4 *)plan.to)[n] = made;                                                                \
            }                                                                                                          \
        }                                                                                                              \
        if (blockIdx.x == 0 && thread < plan.units.head + plan.units.tail) {                                           \
            const int64_t n = thread < plan.units.head ? (int64_t)thread - plan.units.head                             \
                                                       : plan.units.count * (4 * WORDS) + thread - plan.units.head;    \
            ((uint##BITS##_t *)plan.to)[n] = (uint##BITS##_t)table_find(table, lane, plan.from[n], 0);                 \
        }                                                                                                              \
    }

DEFINE_TABLE(8, 4)
DEFINE_TABLE(16, 2)
DEFINE_TABLE(32, 1)

#undef DEFINE_TABLE

#endif
