/* The kernels of single steps in float32 over rows without gaps, for evaluate.cu. */
#ifndef CC_KERNELS_EVALUATE_DIRECT_H
#define CC_KERNELS_EVALUATE_DIRECT_H

#include "kernels/evaluate_plan.h"
#include "kernels/step_math.h"
#include "kernels/vector_of_4.h"

#define VECTORS CC__DIRECT_VECTORS

/* One function for each direct kernel: bits of the result of x and y. */
#define DEFINE_DIRECT(NAME, HAS_Y, RESULT)                                                                             \
    static __device__ inline uint32_t direct_##NAME(const cc__direct_plan *plan, uint32_t x_bits, uint32_t y_bits)     \
    {                                                                                                                  \
        float x = cc__float32_of_bits(x_bits);                                                                         \
        float y = cc__float32_of_bits(y_bits);                                                                         \
        (void)y, (void)plan;                                                                                           \
        return RESULT;                                                                                                 \
    }                                                                                                                  \
                                                                                                                       \
    static __device__ inline void direct_single_##NAME(const cc__direct_plan *plan, int64_t n)                         \
    {                                                                                                                  \
        uint32_t x = ((const uint32_t *)plan->x)[n];                                                                   \
        uint32_t y = (HAS_Y) ? ((const uint32_t *)plan->y)[n] : 0;                                                     \
        ((uint32_t *)plan->to)[n] = direct_##NAME(plan, x, y);                                                         \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        evaluate_direct_##NAME(const __grid_constant__ cc__direct_plan plan)                                           \
    {                                                                                                                  \
        const int64_t step = (int64_t)gridDim.x * CC__DIRECT_TILE;                                                     \
        int32_t thread = (int32_t)threadIdx.x;                                                                         \
        for (int64_t first = (int64_t)blockIdx.x * CC__DIRECT_TILE + thread; first < plan.vectors; first += step) {    \
            vector_of_4 x[VECTORS];                                                                                    \
            vector_of_4 y[VECTORS];                                                                                    \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < VECTORS; i++) {                                                                    \
                int64_t n = first + i * CC__BLOCK_THREADS;                                                             \
                if (n < plan.vectors) {                                                                                \
                    x[i] = ((const vector_of_4 *)plan.x)[n];                                                           \
                    if (HAS_Y)                                                                                         \
                        y[i] = ((const vector_of_4 *)plan.y)[n];                                                       \
                    else                                                                                               \
                        y[i] = x[i];                                                                                   \
                }                                                                                                      \
            }                                                                                                          \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < VECTORS; i++) {                                                                    \
                int64_t n = first + i * CC__BLOCK_THREADS;                                                             \
                if (n < plan.vectors) {                                                                                \
                    vector_of_4 made;                                                                                  \
                    CC__UNROLL                                                                                         \
                    for (int32_t j = 0; j < 4; j++)                                                                    \
                        made.value[j] = direct_##NAME(&plan, x[i].value[j], y[i].value[j]);                            \
                    ((vector_of_4 *)plan.to)[n] = made;                                                                \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        if (blockIdx.x == 0 && thread < plan.head)                                                                     \
            direct_single_##NAME(&plan, thread - plan.head);                                                           \
        if (blockIdx.x == 0 && thread < plan.tail)                                                                     \
            direct_single_##NAME(&plan, 4 * plan.vectors + thread);                                                    \
    }

#define DEFINE_STEP(NAME)                                                                                              \
    DEFINE_DIRECT(two_##NAME, 1, cc__store_float32(cc__float32_##NAME(x, y)))                                          \
    DEFINE_DIRECT(value_##NAME, 0, cc__store_float32(cc__float32_##NAME(x, (float)plan->a)))
CC__FOR_EACH_FLOAT32_STEP(DEFINE_STEP)
DEFINE_DIRECT(axpy, 1, cc__store_FLOAT32(cc__scale_and_shift((double)x, plan->a, (double)y)))
DEFINE_DIRECT(scale, 0, cc__store_FLOAT32(cc__scale_and_shift((double)x, plan->a, plan->b)))

#define CASE_STEP(NAME)                                                                                                \
    case CC_STEP_##NAME:                                                                                               \
        return form == CC__DIRECT_TWO ? (const void *)evaluate_direct_two_##NAME                                       \
                                      : (const void *)evaluate_direct_value_##NAME;

static const void *direct_kernel(cc__direct_form form, int32_t kind)
{
    if (form == CC__DIRECT_AXPY)
        return (const void *)evaluate_direct_axpy;
    if (form == CC__DIRECT_SCALE)
        return (const void *)evaluate_direct_scale;
    switch (kind) {
        CC__FOR_EACH_FLOAT32_STEP(CASE_STEP)
    }
    return NULL;
}

#undef VECTORS
#undef DEFINE_DIRECT
#undef DEFINE_STEP
#undef CASE_STEP

#endif
