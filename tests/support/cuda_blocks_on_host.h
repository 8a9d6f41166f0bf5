/*
 * For kernels whose threads wait for each other: runs each block's threads as threads of the CPU, block after block.
 * Slow, so for few blocks. Included before the .cu file, in place of cuda_on_host.h.
 */
#ifndef CC_TESTS_CUDA_BLOCKS_ON_HOST_H
#define CC_TESTS_CUDA_BLOCKS_ON_HOST_H

#include "kernels/tiles.h"
#include "support/launches.h"

#include <check.h>
#include <pthread.h>
#include <stdint.h>

#define __global__
#define __device__
#define __grid_constant__
#define __shared__ static
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __syncthreads() (void)pthread_barrier_wait(&cuda_block_barrier)

static pthread_barrier_t cuda_block_barrier;
static _Thread_local struct cuda_blocks_index {
    uint32_t x;
} blockIdx, threadIdx, gridDim;

typedef struct cuda_block_thread {
    pthread_t thread;
    uint32_t number;
    uint32_t grid_blocks;
    void (*call)(void *context);
    void *context;
} cuda_block_thread;

static void *cuda_block_start(void *argument)
{
    const cuda_block_thread *self = argument;
    threadIdx.x = self->number;
    gridDim.x = self->grid_blocks;
    for (blockIdx.x = 0; blockIdx.x < self->grid_blocks; blockIdx.x++) {
        self->call(self->context);
        /* What a block shares is the next block's too. */
        __syncthreads();
    }
    return NULL;
}

static void cuda_blocks_run(uint32_t grid_blocks, void (*call)(void *context), void *context)
{
    static cuda_block_thread threads[CC__BLOCK_THREADS];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)256 << 10);
    ck_assert_int_eq(pthread_barrier_init(&cuda_block_barrier, NULL, CC__BLOCK_THREADS), 0);
    for (uint32_t n = 0; n < CC__BLOCK_THREADS; n++) {
        threads[n] = (cuda_block_thread){.number = n, .grid_blocks = grid_blocks, .call = call, .context = context};
        ck_assert_int_eq(pthread_create(&threads[n].thread, &attributes, cuda_block_start, &threads[n]), 0);
    }
    for (uint32_t n = 0; n < CC__BLOCK_THREADS; n++)
        pthread_join(threads[n].thread, NULL);
    pthread_barrier_destroy(&cuda_block_barrier);
    pthread_attr_destroy(&attributes);
}

/* Kernels become `const void *`, which ISO C has no conversion for. */
#pragma GCC diagnostic ignored "-Wpedantic"

#endif
