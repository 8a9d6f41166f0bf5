/* The kernels of single steps on float32 or float64 over rows without gaps, for evaluate.cu. */
#ifndef CC_KERNELS_EVALUATE_DIRECT_H
#define CC_KERNELS_EVALUATE_DIRECT_H

#include "kernels/evaluate_direct_plan.h"
#include "kernels/step_math.h"

/* Of numbers of BITS bits: RESULT are the bits of the result of x and y. */
#define DEFINE_DIRECT(NAME, BITS, FLOAT, HAS_Y, RESULT)                                                                \
    static __device__ inline uint##BITS##_t direct_##NAME(const cc__direct_plan *plan, uint##BITS##_t x_bits,          \
                                                          uint##BITS##_t y_bits)                                       \
    {                                                                                                                  \
        const FLOAT x = cc__float##BITS##_of_bits(x_bits);                                                             \
        const FLOAT y = cc__float##BITS##_of_bits(y_bits);                                                             \
        (void)y, (void)plan;                                                                                           \
        return RESULT;                                                                                                 \
    }                                                                                                                  \
                                                                                                                       \
    static __device__ inline void direct_single_##NAME(const cc__direct_plan *plan, int64_t n)                         \
    {                                                                                                                  \
        const uint##BITS##_t x = ((const uint##BITS##_t *)plan->x)[n];                                                 \
        const uint##BITS##_t y = (HAS_Y) ? ((const uint##BITS##_t *)plan->y)[n] : 0;                                   \
        ((uint##BITS##_t *)plan->to)[n] = direct_##NAME(plan, x, y);                                                   \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        evaluate_direct_##NAME(const __grid_constant__ cc__direct_plan plan)                                           \
    {                                                                                                                  \
        const int32_t thread = (int32_t)threadIdx.x;                                                                   \
        const int64_t n = (int64_t)blockIdx.x * CC__BLOCK_THREADS + thread;                                            \
        if (n < plan.vectors) {                                                                                        \
            const vector_of_##BITS x = ((const vector_of_##BITS *)plan.x)[n];                                          \
            const vector_of_##BITS y = (HAS_Y) ? ((const vector_of_##BITS *)plan.y)[n] : x;                            \
            vector_of_##BITS made;                                                                                     \
            CC__UNROLL                                                                                                 \
            for (int32_t j = 0; j < 128 / BITS; j++)                                                                   \
                made.value[j] = direct_##NAME(&plan, x.value[j], y.value[j]);                                          \
            ((vector_of_##BITS *)plan.to)[n] = made;                                                                   \
        }                                                                                                              \
        if (blockIdx.x == 0 && thread < plan.head)                                                                     \
            direct_single_##NAME(&plan, thread - plan.head);                                                           \
        if (blockIdx.x == 0 && thread < plan.tail)                                                                     \
            direct_single_##NAME(&plan, 128 / BITS * plan.vectors + thread);                                           \
    }

#define DEFINE_VECTOR(BITS)                                                                                            \
    typedef struct __align__(16) vector_of_##BITS                                                                      \
    {                                                                                                                  \
        uint##BITS##_t value[128 / BITS];                                                                              \
    }                                                                                                                  \
    vector_of_##BITS;
DEFINE_VECTOR(32)
DEFINE_VECTOR(64)

/* What a number that is not a float32 does to one. */
#define FOR_EACH_STEP_WITH_A(X)                                                                                        \
    X(ADD)                                                                                                             \
    X(SUBTRACT)                                                                                                        \
    X(MULTIPLY)                                                                                                        \
    X(DIVIDE)                                                                                                          \
    X(MINIMUM)                                                                                                         \
    X(MAXIMUM)
#define FOR_EACH_STEP_WITH_A_AND_B(X)                                                                                  \
    X(CLAMP)                                                                                                           \
    X(WITHIN)

#define DEFINE_STEP(NAME)                                                                                              \
    DEFINE_DIRECT(two_##NAME, 32, float, 1, cc__store_float32(cc__float32_##NAME(x, y)))                               \
    DEFINE_DIRECT(value_##NAME, 32, float, 0, cc__store_float32(cc__float32_##NAME(x, (float)plan->a)))                \
    DEFINE_DIRECT(two_wide_##NAME, 64, double, 1, cc__store_FLOAT64(cc__real_##NAME(x, y, 0.0)))                       \
    DEFINE_DIRECT(value_wide_##NAME, 64, double, 0, cc__store_FLOAT64(cc__real_##NAME(x, plan->a, 0.0)))
#define DEFINE_NUMBERS(NAME)                                                                                           \
    DEFINE_DIRECT(numbers_##NAME, 32, float, 0, cc__store_FLOAT32(cc__real_##NAME((double)x, plan->a, plan->b)))
#define DEFINE_WIDE_NUMBERS(NAME)                                                                                      \
    DEFINE_DIRECT(numbers_wide_##NAME, 64, double, 0, cc__store_FLOAT64(cc__real_##NAME(x, plan->a, plan->b)))
CC__FOR_EACH_FLOAT32_STEP(DEFINE_STEP)
FOR_EACH_STEP_WITH_A(DEFINE_NUMBERS)
DEFINE_NUMBERS(WITHIN)
/* Rounding keeps the order, so that it does not matter whether the limits or the result are rounded. */
DEFINE_DIRECT(numbers_CLAMP, 32, float, 0,
              cc__store_float32(cc__float32_minimum(cc__float32_maximum(x, (float)plan->a), (float)plan->b)))
FOR_EACH_STEP_WITH_A_AND_B(DEFINE_WIDE_NUMBERS)
DEFINE_DIRECT(axpy, 32, float, 1, cc__store_FLOAT32(cc__scale_and_shift((double)x, plan->a, (double)y)))
DEFINE_DIRECT(scale, 32, float, 0, cc__store_FLOAT32(cc__scale_and_shift((double)x, plan->a, plan->b)))
DEFINE_DIRECT(axpy_wide, 64, double, 1, cc__store_FLOAT64(cc__scale_and_shift(x, plan->a, y)))
DEFINE_DIRECT(scale_wide, 64, double, 0, cc__store_FLOAT64(cc__scale_and_shift(x, plan->a, plan->b)))

#define WIDE_OR_NOT(FORM, STEP)                                                                                        \
    is_wide ? (const void *)evaluate_direct_##FORM##_wide_##STEP : (const void *)evaluate_direct_##FORM##_##STEP
#define CASE_TWO(NAME)                                                                                                 \
    case CC_STEP_##NAME:                                                                                               \
        return WIDE_OR_NOT(two, NAME);
#define CASE_VALUE(NAME)                                                                                               \
    case CC_STEP_##NAME:                                                                                               \
        return WIDE_OR_NOT(value, NAME);
#define CASE_NUMBERS(NAME)                                                                                             \
    case CC_STEP_##NAME:                                                                                               \
        return (const void *)evaluate_direct_numbers_##NAME;
#define CASE_WIDE_OR_NOT(NAME)                                                                                         \
    case CC_STEP_##NAME:                                                                                               \
        return WIDE_OR_NOT(numbers, NAME);

static const void *direct_kernel(cc__direct_form form, int32_t kind, bool is_wide)
{
    switch (form) {
    case CC__DIRECT_NONE:
        break;
    case CC__DIRECT_TWO:
        switch (kind) {
            CC__FOR_EACH_FLOAT32_STEP(CASE_TWO)
        }
        break;
    case CC__DIRECT_VALUE:
        switch (kind) {
            CC__FOR_EACH_FLOAT32_STEP(CASE_VALUE)
        }
        break;
    case CC__DIRECT_NUMBERS:
        switch (kind) {
            FOR_EACH_STEP_WITH_A(CASE_NUMBERS)
            FOR_EACH_STEP_WITH_A_AND_B(CASE_WIDE_OR_NOT)
        }
        break;
    case CC__DIRECT_AXPY:
        return is_wide ? (const void *)evaluate_direct_axpy_wide : (const void *)evaluate_direct_axpy;
    case CC__DIRECT_SCALE:
        return is_wide ? (const void *)evaluate_direct_scale_wide : (const void *)evaluate_direct_scale;
    }
    return NULL;
}

#undef DEFINE_DIRECT
#undef DEFINE_VECTOR
#undef FOR_EACH_STEP_WITH_A
#undef FOR_EACH_STEP_WITH_A_AND_B
#undef DEFINE_STEP
#undef DEFINE_NUMBERS
#undef DEFINE_WIDE_NUMBERS
#undef WIDE_OR_NOT
#undef CASE_TWO
#undef CASE_VALUE
#undef CASE_NUMBERS
#undef CASE_WIDE_OR_NOT

#endif
