/* The kernels of some steps on rows of 8-bit integers without gaps, for evaluate.cu. */
#ifndef CC_KERNELS_EVALUATE_BYTES_H
#define CC_KERNELS_EVALUATE_BYTES_H

#include "kernels/evaluate_bytes_plan.h"
#include "kernels/vector_of_4.h"

#ifdef __CUDA_ARCH__
#define BYTES_LEAST(x, y) __vminu4(x, y)
#define BYTES_GREATEST(x, y) __vmaxu4(x, y)
#define BYTES_WHERE_EQUAL(x, y) __vcmpeq4(x, y)
#else
#define DEFINE_BYTES(NAME, RESULT)                                                                                     \
    static inline uint32_t NAME(uint32_t x_word, uint32_t y_word)                                                      \
    {                                                                                                                  \
        uint32_t made = 0;                                                                                             \
        for (int32_t i = 0; i < 32; i += 8) {                                                                          \
            const uint32_t x = x_word >> i & 0xff;                                                                     \
            const uint32_t y = y_word >> i & 0xff;                                                                     \
            made |= (uint32_t)(RESULT) << i;                                                                           \
        }                                                                                                              \
        return made;                                                                                                   \
    }
DEFINE_BYTES(bytes_least, x < y ? x : y)
DEFINE_BYTES(bytes_greatest, x > y ? x : y)
DEFINE_BYTES(bytes_where_equal, x == y ? 0xff : 0)
#undef DEFINE_BYTES
#define BYTES_LEAST(x, y) bytes_least(x, y)
#define BYTES_GREATEST(x, y) bytes_greatest(x, y)
#define BYTES_WHERE_EQUAL(x, y) bytes_where_equal(x, y)
#endif

static __device__ inline uint32_t bytes_minimum(const cc__bytes_plan *plan, uint32_t x, uint32_t y)
{
    return BYTES_LEAST(x ^ plan->flip, y ^ plan->flip) ^ plan->flip;
}

static __device__ inline uint32_t bytes_maximum(const cc__bytes_plan *plan, uint32_t x, uint32_t y)
{
    return BYTES_GREATEST(x ^ plan->flip, y ^ plan->flip) ^ plan->flip;
}

static __device__ inline uint32_t bytes_clamp(const cc__bytes_plan *plan, uint32_t x, uint32_t y)
{
    (void)y;
    return BYTES_LEAST(BYTES_GREATEST(x ^ plan->flip, plan->lower), plan->upper) ^ plan->flip;
}

static __device__ inline uint32_t bytes_choice(const cc__bytes_plan *plan, uint32_t x, uint32_t y)
{
    const uint32_t flipped = x ^ plan->flip;
    const uint32_t clamped = BYTES_LEAST(BYTES_GREATEST(flipped, plan->lower), plan->upper);
    const uint32_t is_inside = BYTES_WHERE_EQUAL(flipped, clamped);
    (void)y;
    return (is_inside & plan->inside) | (~is_inside & plan->outside);
}

#define DEFINE_KERNEL(NAME, HAS_Y)                                                                                     \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        evaluate_bytes_##NAME(const __grid_constant__ cc__bytes_plan plan)                                             \
    {                                                                                                                  \
        const int32_t thread = (int32_t)threadIdx.x;                                                                   \
        const int64_t n = (int64_t)blockIdx.x * CC__BLOCK_THREADS + thread;                                            \
        if (n < plan.vectors) {                                                                                        \
            const vector_of_4 x = ((const vector_of_4 *)plan.x)[n];                                                    \
            const vector_of_4 y = (HAS_Y) ? ((const vector_of_4 *)plan.y)[n] : x;                                      \
            vector_of_4 made;                                                                                          \
            CC__UNROLL                                                                                                 \
            for (int32_t j = 0; j < 4; j++)                                                                            \
                made.value[j] = bytes_##NAME(&plan, x.value[j], y.value[j]);                                           \
            ((vector_of_4 *)plan.to)[n] = made;                                                                        \
        }                                                                                                              \
        if (blockIdx.x == 0 && thread < plan.head + plan.tail) {                                                       \
            const int64_t at = thread < plan.head ? (int64_t)thread - plan.head                                        \
                                                  : CC__BYTES_VECTOR * plan.vectors + thread - plan.head;              \
            plan.to[at] = (uint8_t)bytes_##NAME(&plan, plan.x[at], (HAS_Y) ? plan.y[at] : 0);                          \
        }                                                                                                              \
    }

DEFINE_KERNEL(minimum, 1)
DEFINE_KERNEL(maximum, 1)
DEFINE_KERNEL(clamp, 0)
DEFINE_KERNEL(choice, 0)

static const void *bytes_kernel(cc__bytes_form form)
{
    switch (form) {
    case CC__BYTES_NONE:
        break;
    case CC__BYTES_MINIMUM:
        return (const void *)evaluate_bytes_minimum;
    case CC__BYTES_MAXIMUM:
        return (const void *)evaluate_bytes_maximum;
    case CC__BYTES_CLAMP:
        return (const void *)evaluate_bytes_clamp;
    case CC__BYTES_CHOICE:
        return (const void *)evaluate_bytes_choice;
    }
    return NULL;
}

#undef BYTES_LEAST
#undef BYTES_GREATEST
#undef BYTES_WHERE_EQUAL
#undef DEFINE_KERNEL

#endif
