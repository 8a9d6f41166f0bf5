/* The kernels of LOAD and at most one more step in complex numbers over rows without gaps, for evaluate.cu. */
#ifndef CC_KERNELS_COMPLEX_STEP_H
#define CC_KERNELS_COMPLEX_STEP_H

#include "kernels/complex_step_plan.h"
#include "kernels/step_math.h"

#define COMPLEX_CASE(NAME)                                                                                             \
    case CC_STEP_##NAME:                                                                                               \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < count; i++)                                                                            \
            value[i] =                                                                                                 \
                cc__complex_##NAME(value[i], plan->a_is_y != 0 ? y[i] : a, plan->b_is_y != 0 ? y[i] : b, plan->reals); \
        break;

/* Of parts of BITS bits, UNIT numbers at a time. */
#define DEFINE_COMPLEX(KIND, TYPE, BITS, UNIT)                                                                         \
    typedef struct __align__(16) KIND##_unit                                                                           \
    {                                                                                                                  \
        uint##BITS##_t part[2 * UNIT];                                                                                 \
    }                                                                                                                  \
    KIND##_unit;                                                                                                       \
    typedef struct __align__(8) KIND##_real_unit                                                                       \
    {                                                                                                                  \
        uint##BITS##_t value[UNIT];                                                                                    \
    }                                                                                                                  \
    KIND##_real_unit;                                                                                                  \
                                                                                                                       \
    /* Where there is no unit, the thread's first is read once more. */                                                \
    static __device__ inline void KIND##_read(const cc__complex_plan *plan, int32_t source, int64_t first,             \
                                              cc__complex out[CC__COMPLEX_UNITS * UNIT])                               \
    {                                                                                                                  \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < CC__COMPLEX_UNITS; i++) {                                                              \
            const int64_t next = first + i * CC__BLOCK_THREADS;                                                        \
            const int64_t n = next < plan->units.count ? next : first;                                                 \
            if (plan->from_is_real[source] != 0) {                                                                     \
                const KIND##_real_unit whole = ((const KIND##_real_unit *)plan->from[source])[n];                      \
                CC__UNROLL                                                                                             \
                for (int32_t j = 0; j < UNIT; j++)                                                                     \
                    out[i * UNIT + j] = cc__complex_of(cc__load_##TYPE(whole.value[j]), 0.0);                          \
            } else {                                                                                                   \
                const KIND##_unit whole = ((const KIND##_unit *)plan->from[source])[n];                                \
                CC__UNROLL                                                                                             \
                for (int32_t j = 0; j < UNIT; j++)                                                                     \
                    out[i * UNIT + j] =                                                                                \
                        cc__complex_of(cc__load_##TYPE(whole.part[2 * j]), cc__load_##TYPE(whole.part[2 * j + 1]));    \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __device__ inline cc__complex KIND##_read_single(const cc__complex_plan *plan, int32_t source, int64_t n)   \
    {                                                                                                                  \
        const uint##BITS##_t *from = (const uint##BITS##_t *)plan->from[source];                                       \
        if (plan->from_is_real[source] != 0)                                                                           \
            return cc__complex_of(cc__load_##TYPE(from[n]), 0.0);                                                      \
        return cc__complex_of(cc__load_##TYPE(from[2 * n]), cc__load_##TYPE(from[2 * n + 1]));                         \
    }                                                                                                                  \
                                                                                                                       \
    static __device__ inline void KIND##_make_step(const cc__complex_plan *plan, cc__complex *value,                   \
                                                   const cc__complex *y, int32_t count)                                \
    {                                                                                                                  \
        const cc__complex a = cc__complex_of(plan->a, 0.0);                                                            \
        const cc__complex b = cc__complex_of(plan->b, 0.0);                                                            \
        switch (plan->kind) {                                                                                          \
            CC__FOR_EACH_COMPLEX_STEP(COMPLEX_CASE)                                                                    \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __device__ inline void KIND##_write(const cc__complex_plan *plan, int64_t first,                            \
                                               const cc__complex value[CC__COMPLEX_UNITS * UNIT])                      \
    {                                                                                                                  \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < CC__COMPLEX_UNITS; i++) {                                                              \
            const int64_t n = first + i * CC__BLOCK_THREADS;                                                           \
            if (n >= plan->units.count)                                                                                \
                break;                                                                                                 \
            if (plan->to_is_real != 0) {                                                                               \
                KIND##_real_unit whole;                                                                                \
                CC__UNROLL                                                                                             \
                for (int32_t j = 0; j < UNIT; j++)                                                                     \
                    whole.value[j] = cc__store_##TYPE(value[i * UNIT + j].real);                                       \
                ((KIND##_real_unit *)plan->to)[n] = whole;                                                             \
            } else {                                                                                                   \
                KIND##_unit whole;                                                                                     \
                CC__UNROLL                                                                                             \
                for (int32_t j = 0; j < UNIT; j++) {                                                                   \
                    whole.part[2 * j] = cc__store_##TYPE(value[i * UNIT + j].real);                                    \
                    whole.part[2 * j + 1] = cc__store_##TYPE(value[i * UNIT + j].imaginary);                           \
                }                                                                                                      \
                ((KIND##_unit *)plan->to)[n] = whole;                                                                  \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    /* The numbers before and after all units, which are few: the first block's threads do one each. */                \
    static __device__ inline void KIND##_single(const cc__complex_plan *plan)                                          \
    {                                                                                                                  \
        const int32_t thread = (int32_t)threadIdx.x;                                                                   \
        if (blockIdx.x != 0 || thread >= plan->units.head + plan->units.tail)                                          \
            return;                                                                                                    \
        int64_t n = (int64_t)thread - plan->units.head;                                                                \
        n += n < 0 ? 0 : plan->units.count * UNIT;                                                                     \
        uint##BITS##_t *to = (uint##BITS##_t *)plan->to;                                                               \
        cc__complex value = KIND##_read_single(plan, 0, n);                                                            \
        const cc__complex y = plan->source_count == 2 ? KIND##_read_single(plan, 1, n) : value;                        \
        KIND##_make_step(plan, &value, &y, 1);                                                                         \
        if (plan->to_is_real != 0) {                                                                                   \
            to[n] = cc__store_##TYPE(value.real);                                                                      \
        } else {                                                                                                       \
            to[2 * n] = cc__store_##TYPE(value.real);                                                                  \
            to[2 * n + 1] = cc__store_##TYPE(value.imaginary);                                                         \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        KIND##_step(const __grid_constant__ cc__complex_plan plan)                                                     \
    {                                                                                                                  \
        const int64_t first = (int64_t)blockIdx.x * (CC__COMPLEX_UNITS * CC__BLOCK_THREADS) + threadIdx.x;             \
        if (first < plan.units.count) {                                                                                \
            cc__complex value[CC__COMPLEX_UNITS * UNIT];                                                               \
            cc__complex y[CC__COMPLEX_UNITS * UNIT];                                                                   \
            KIND##_read(&plan, 0, first, value);                                                                       \
            if (plan.source_count == 2) {                                                                              \
                KIND##_read(&plan, 1, first, y);                                                                       \
            } else {                                                                                                   \
                CC__UNROLL                                                                                             \
                for (int32_t i = 0; i < CC__COMPLEX_UNITS * UNIT; i++)                                                 \
                    y[i] = cc__complex_of(0.0, 0.0);                                                                   \
            }                                                                                                          \
            KIND##_make_step(&plan, value, y, CC__COMPLEX_UNITS *UNIT);                                                \
            KIND##_write(&plan, first, value);                                                                         \
        }                                                                                                              \
        KIND##_single(&plan);                                                                                          \
    }

DEFINE_COMPLEX(complex64, FLOAT32, 32, CC__COMPLEX_NARROW_UNIT)
DEFINE_COMPLEX(complex128, FLOAT64, 64, CC__COMPLEX_WIDE_UNIT)

#undef COMPLEX_CASE
#undef DEFINE_COMPLEX

#endif
