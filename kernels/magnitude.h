/* The kernels of magnitudes of float32 vectors, for evaluate.cu. */
#ifndef CC_KERNELS_MAGNITUDE_H
#define CC_KERNELS_MAGNITUDE_H

#include "kernels/magnitude_plan.h"
#include "kernels/step_math.h"
#include "kernels/vector_of_4.h"

/* Added in the order of the components, as the CPU does. */
static __device__ inline uint32_t magnitude_of(const uint32_t *components, int32_t count)
{
    double sum = 0.0;
    CC__UNROLL
    for (int32_t k = 0; k < count; k++) {
        const double value = cc__load_FLOAT32(components[k]);
        sum = sum + value * value;
    }
    return cc__store_FLOAT32(cc__square_root(sum));
}

#define DEFINE_MAGNITUDE(COUNT)                                                                                        \
    typedef struct __align__(16) vectors_of_##COUNT                                                                    \
    {                                                                                                                  \
        uint32_t component[CC__MAGNITUDE_UNIT * COUNT];                                                                \
    }                                                                                                                  \
    vectors_of_##COUNT;                                                                                                \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        magnitude_of_##COUNT(const __grid_constant__ cc__magnitude_plan plan)                                          \
    {                                                                                                                  \
        const int32_t thread = (int32_t)threadIdx.x;                                                                   \
        const int64_t first = (int64_t)blockIdx.x * (CC__MAGNITUDE_UNITS * CC__BLOCK_THREADS) + thread;                \
        vectors_of_##COUNT whole[CC__MAGNITUDE_UNITS];                                                                 \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < CC__MAGNITUDE_UNITS; i++) {                                                            \
            const int64_t n = first + i * CC__BLOCK_THREADS;                                                           \
            if (n < plan.units)                                                                                        \
                whole[i] = ((const vectors_of_##COUNT *)plan.from)[n];                                                 \
        }                                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < CC__MAGNITUDE_UNITS; i++) {                                                            \
            const int64_t n = first + i * CC__BLOCK_THREADS;                                                           \
            vector_of_4 made;                                                                                          \
            if (n >= plan.units)                                                                                       \
                break;                                                                                                 \
            CC__UNROLL                                                                                                 \
            for (int32_t j = 0; j < CC__MAGNITUDE_UNIT; j++)                                                           \
                made.value[j] = magnitude_of(&whole[i].component[j * COUNT], COUNT);                                   \
            ((vector_of_4 *)plan.to)[n] = made;                                                                        \
        }                                                                                                              \
        if (blockIdx.x == 0 && thread < plan.head + plan.tail) {                                                       \
            int64_t n = (int64_t)thread - plan.head;                                                                   \
            n += n < 0 ? 0 : plan.units * CC__MAGNITUDE_UNIT;                                                          \
            uint32_t one[COUNT];                                                                                       \
            CC__UNROLL                                                                                                 \
            for (int32_t k = 0; k < COUNT; k++)                                                                        \
                one[k] = ((const uint32_t *)plan.from)[n * COUNT + k];                                                 \
            ((uint32_t *)plan.to)[n] = magnitude_of(one, COUNT);                                                       \
        }                                                                                                              \
    }

DEFINE_MAGNITUDE(2)
DEFINE_MAGNITUDE(3)
DEFINE_MAGNITUDE(4)

#undef DEFINE_MAGNITUDE

#endif
