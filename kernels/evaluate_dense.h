/* The kernels of expressions over rows without gaps, for evaluate.cu. */
#ifndef CC_KERNELS_EVALUATE_DENSE_H
#define CC_KERNELS_EVALUATE_DENSE_H

#include "kernels/evaluate_dense_plan.h"
#include "kernels/step_math.h"
#include "kernels/tiles.h"

#ifdef __CUDACC__
#include <cuda_pipeline.h>
#endif

typedef struct __align__(16) dense_part
{
    uint32_t word[4];
}
dense_part;

/* Copies of 4, 8 or 16 bytes into shared memory that go on meanwhile, where the GPU can do that. */
static __device__ inline void dense_copy(dense_part *to, const unsigned char *from, size_t bytes)
{
#ifdef __CUDACC__
    __pipeline_memcpy_async(to, from, bytes);
#else
    memcpy(to, from, bytes);
#endif
}

static __device__ inline void dense_commit(void)
{
#ifdef __CUDACC__
    __pipeline_commit();
#endif
}

/* Until all but the last `rest` of what was committed is there. */
static __device__ inline void dense_wait(int32_t rest)
{
#ifdef __CUDACC__
    switch (rest) {
    case 0:
        __pipeline_wait_prior(0);
        break;
    case 1:
        __pipeline_wait_prior(1);
        break;
    default:
        __pipeline_wait_prior(2);
        break;
    }
#else
    (void)rest;
#endif
}

#define DENSE_ACCESS(BITS)                                                                                             \
    typedef struct __align__(BITS < 32 ? CC__DENSE_PACK * BITS / 8 : 16) dense_pack_of_##BITS                          \
    {                                                                                                                  \
        uint##BITS##_t value[CC__DENSE_PACK];                                                                          \
    }                                                                                                                  \
    dense_pack_of_##BITS;
DENSE_ACCESS(8)
DENSE_ACCESS(16)
DENSE_ACCESS(32)
DENSE_ACCESS(64)
#undef DENSE_ACCESS

#define DENSE_SINGLE(NAME, HOLDER, BITS)                                                                               \
    case CC_PIXEL_##NAME:                                                                                              \
        return cc__load_##NAME(*(const HOLDER *)from);

static __device__ inline double dense_read_single(cc_pixel_type type, const unsigned char *from)
{
    switch ((int32_t)type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(DENSE_SINGLE)
        CC__FOR_EACH_TYPE_OF_32_BITS(DENSE_SINGLE)
        CC__FOR_EACH_TYPE_OF_64_BITS(DENSE_SINGLE)
    }
    return 0.0;
}

#define DENSE(name) narrow_##name
#define DENSE_PACKS CC__DENSE_NARROW_PACKS
#define DENSE_FOR_EACH_SOURCE(X) CC__FOR_EACH_TYPE_UP_TO_16_BITS(X) CC__FOR_EACH_TYPE_OF_32_BITS(X)
#include "kernels/evaluate_dense_pack.h"
#undef DENSE
#undef DENSE_PACKS
#undef DENSE_FOR_EACH_SOURCE

#define DENSE(name) wide_##name
#define DENSE_PACKS CC__DENSE_WIDE_PACKS
#define DENSE_FOR_EACH_SOURCE(X)                                                                                       \
    CC__FOR_EACH_TYPE_UP_TO_16_BITS(X) CC__FOR_EACH_TYPE_OF_32_BITS(X) CC__FOR_EACH_TYPE_OF_64_BITS(X)
#include "kernels/evaluate_dense_pack.h"
#undef DENSE
#undef DENSE_PACKS
#undef DENSE_FOR_EACH_SOURCE
#undef DENSE_SINGLE

#endif
