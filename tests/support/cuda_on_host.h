/*
 * Lets a test include a .cu file as C and run its kernels on the CPU, thread after thread. It finds wrong arithmetic
 * and wrong addresses, with the sanitizers also misaligned ones; what the GPU's compiler does is for the gpu tests.
 */
#ifndef CC_TESTS_CUDA_ON_HOST_H
#define CC_TESTS_CUDA_ON_HOST_H

#include "support/launches.h"

#include <stdint.h>

#define __global__
#define __device__
#define __grid_constant__
#define __shared__ static
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

static struct cuda_on_host_index {
    uint32_t x;
} blockIdx, threadIdx, gridDim;

/* Runs `call` for every thread of the blocks from `first` on, `blocks` of `grid_blocks`. */
#define cuda_on_host_run(first, blocks, grid_blocks, block_threads, call)                                              \
    do {                                                                                                               \
        gridDim.x = (grid_blocks);                                                                                     \
        for (blockIdx.x = (first); blockIdx.x < (first) + (blocks); blockIdx.x++) {                                    \
            for (threadIdx.x = 0; threadIdx.x < (block_threads); threadIdx.x++)                                        \
                call;                                                                                                  \
        }                                                                                                              \
    } while (0)

/* Kernels become `const void *`, which ISO C has no conversion for. */
#pragma GCC diagnostic ignored "-Wpedantic"

#endif
