/* Copies from device memory to shared memory that go on while the thread computes, where the GPU can do that. */
#ifndef CC_KERNELS_ASYNC_COPY_H
#define CC_KERNELS_ASYNC_COPY_H

#include "kernels/shared.h"

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#include <cuda_pipeline.h>
#endif

/* What a thread copies at most at once. */
typedef struct __align__(16) async_part
{
    uint32_t word[4];
}
async_part;

/* bytes: 4, 8 or 16, a constant; both sides are aligned to them. */
static __device__ inline void async_copy(async_part *to, const unsigned char *from, size_t bytes)
{
#ifdef __CUDACC__
    __pipeline_memcpy_async(to, from, bytes);
#else
    memcpy(to, from, bytes);
#endif
}

/* Ends a group of the thread's copies, which may be none. */
static __device__ inline void async_commit(void)
{
#ifdef __CUDACC__
    __pipeline_commit();
#endif
}

/* Until all groups of the thread but the last `rest`, a constant, are there. */
static __device__ inline void async_wait(int32_t rest)
{
#ifdef __CUDACC__
    __pipeline_wait_prior((size_t)rest);
#else
    (void)rest;
#endif
}

#endif
