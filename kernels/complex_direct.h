/* The kernels of single steps on complex numbers alone, one for each, over rows without gaps; for evaluate.cu. */
#ifndef CC_KERNELS_COMPLEX_DIRECT_H
#define CC_KERNELS_COMPLEX_DIRECT_H

#include "kernels/complex64_math.h"
#include "kernels/complex_step_plan.h"
#include "kernels/step_math.h"

/* Of parts of BITS bits. */
#define DEFINE_NUMBERS(KIND, BITS, TYPE)                                                                               \
    typedef struct KIND##_bits {                                                                                       \
        uint##BITS##_t real;                                                                                           \
        uint##BITS##_t imaginary;                                                                                      \
    } KIND##_bits;                                                                                                     \
    typedef uint##BITS##_t KIND##_part;                                                                                \
                                                                                                                       \
    static __device__ inline cc__complex KIND##_value(KIND##_bits z)                                                   \
    {                                                                                                                  \
        return cc__complex_of(cc__load_##TYPE(z.real), cc__load_##TYPE(z.imaginary));                                  \
    }                                                                                                                  \
                                                                                                                       \
    static __device__ inline KIND##_bits KIND##_of(cc__complex z)                                                      \
    {                                                                                                                  \
        const KIND##_bits made = {cc__store_##TYPE(z.real), cc__store_##TYPE(z.imaginary)};                            \
        return made;                                                                                                   \
    }

DEFINE_NUMBERS(complex64, 32, FLOAT32)
DEFINE_NUMBERS(complex128, 64, FLOAT64)

static __device__ inline complex64_bits complex64_MULTIPLY(complex64_bits x, complex64_bits y)
{
    return complex64_of(cc__complex64_product(complex64_value(x), complex64_value(y)));
}

static __device__ inline complex128_bits complex128_MULTIPLY(complex128_bits x, complex128_bits y)
{
    return complex128_of(cc__complex_product(complex128_value(x), complex128_value(y), 0));
}

/* Where both parts are surely what the exact quotient becomes. All that is divided by 0 is NaN. */
static __device__ inline complex64_bits complex64_about_DIVIDE(complex64_bits x, complex64_bits y, bool *is_sure)
{
    const cc__complex about = cc__complex64_about_quotient(complex64_value(x), complex64_value(y));
    const bool by_zero = ((y.real | y.imaginary) & INT32_MAX) == 0;
    const uint32_t nan = UINT32_C(0x7fc00000);
    const complex64_bits made = {by_zero ? nan : cc__bits_of_float32((float)about.real),
                                 by_zero ? nan : cc__bits_of_float32((float)about.imaginary)};
    const bool is_unsure = cc__is_unsure(about.real) || cc__is_unsure(about.imaginary);
    *is_sure = *is_sure && (by_zero || !is_unsure);
    return made;
}

static __device__ CC__NOT_INLINE complex64_bits complex64_DIVIDE(complex64_bits x, complex64_bits y)
{
    return complex64_of(cc__complex_quotient(complex64_value(x), complex64_value(y), 0));
}

static __device__ inline complex128_bits complex128_DIVIDE(complex128_bits x, complex128_bits y)
{
    return complex128_of(cc__complex_quotient(complex128_value(x), complex128_value(y), 0));
}

static __device__ inline complex64_part complex64_REAL(complex64_bits z)
{
    return cc__float32_into_FLOAT32(cc__float32_of_bits(z.real));
}

static __device__ inline complex128_part complex128_REAL(complex128_bits z)
{
    return cc__store_FLOAT64(cc__float64_of_bits(z.real));
}

static __device__ inline complex64_part complex64_IMAGINARY(complex64_bits z)
{
    return cc__float32_into_FLOAT32(cc__float32_of_bits(z.imaginary));
}

static __device__ inline complex128_part complex128_IMAGINARY(complex128_bits z)
{
    return cc__store_FLOAT64(cc__float64_of_bits(z.imaginary));
}

static __device__ inline complex64_bits complex64_CONJUGATE(complex64_bits z)
{
    const complex64_bits made = {complex64_REAL(z), cc__float32_into_FLOAT32(-cc__float32_of_bits(z.imaginary))};
    return made;
}

static __device__ inline complex128_bits complex128_CONJUGATE(complex128_bits z)
{
    const complex128_bits made = {complex128_REAL(z), cc__store_FLOAT64(-cc__float64_of_bits(z.imaginary))};
    return made;
}

static __device__ inline complex64_part complex64_ABSOLUTE(complex64_bits z)
{
    return cc__store_FLOAT32(cc__complex64_magnitude(complex64_value(z)));
}

static __device__ inline complex128_part complex128_ABSOLUTE(complex128_bits z)
{
    return cc__store_FLOAT64(cc__complex_magnitude(complex128_value(z)));
}

static __device__ CC__NOT_INLINE complex64_part complex64_ARGUMENT(complex64_bits z)
{
    const cc__complex value = complex64_value(z);
    return cc__store_FLOAT32(cc__angle(value.real, value.imaginary));
}

static __device__ inline complex128_part complex128_ARGUMENT(complex128_bits z)
{
    return cc__store_FLOAT64(cc__angle(cc__float64_of_bits(z.real), cc__float64_of_bits(z.imaginary)));
}

/*
 * FROM and TO: a number of the sources and of the result, of which UNIT are a unit; UNITS of these in a thread, and as
 * few registers as let BLOCKS be on a multiprocessor: less hides neither the memory nor divisions. FIRST
 * makes a result, and may say that it is not sure: then EXACT makes all of the unit once more. A unit is written before
 * the next is made, which is quicker than all at the end.
 */
#define DEFINE_DIRECT(NAME, FROM, TO, UNIT, UNITS, BLOCKS, HAS_Y, FIRST, EXACT)                                        \
    typedef struct __align__(16) NAME##_from_unit                                                                      \
    {                                                                                                                  \
        FROM number[UNIT];                                                                                             \
    }                                                                                                                  \
    NAME##_from_unit;                                                                                                  \
    typedef struct __align__((UNIT) * sizeof(TO)) NAME##_to_unit                                                       \
    {                                                                                                                  \
        TO number[UNIT];                                                                                               \
    }                                                                                                                  \
    NAME##_to_unit;                                                                                                    \
                                                                                                                       \
    static __device__ inline void NAME##_single(const cc__complex_plan *plan)                                          \
    {                                                                                                                  \
        const int32_t thread = (int32_t)threadIdx.x;                                                                   \
        if (blockIdx.x != 0 || thread >= plan->units.head + plan->units.tail)                                          \
            return;                                                                                                    \
        int64_t n = (int64_t)thread - plan->units.head;                                                                \
        n += n < 0 ? 0 : plan->units.count * (UNIT);                                                                   \
        const FROM x = ((const FROM *)plan->from[0])[n];                                                               \
        const FROM y = (HAS_Y) ? ((const FROM *)plan->from[1])[n] : x;                                                 \
        (void)y;                                                                                                       \
        ((TO *)plan->to)[n] = EXACT;                                                                                   \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS, BLOCKS)                                                \
        NAME##_step(const __grid_constant__ cc__complex_plan plan)                                                     \
    {                                                                                                                  \
        const int64_t first = (int64_t)blockIdx.x * ((int64_t)(UNITS)*CC__BLOCK_THREADS) + threadIdx.x;                \
        NAME##_from_unit all_x[UNITS];                                                                                 \
        NAME##_from_unit all_y[UNITS];                                                                                 \
        CC__CLEAR(all_x);                                                                                              \
        CC__CLEAR(all_y);                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < (UNITS); i++) {                                                                        \
            const int64_t n = first + (int64_t)i * CC__BLOCK_THREADS;                                                  \
            if (n < plan.units.count) {                                                                                \
                all_x[i] = ((const NAME##_from_unit *)plan.from[0])[n];                                                \
                all_y[i] = (HAS_Y) ? ((const NAME##_from_unit *)plan.from[1])[n] : all_x[i];                           \
            }                                                                                                          \
        }                                                                                                              \
        CC__LOADS_FIRST();                                                                                             \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < (UNITS); i++) {                                                                        \
            const int64_t n = first + (int64_t)i * CC__BLOCK_THREADS;                                                  \
            if (n < plan.units.count) {                                                                                \
                NAME##_to_unit made;                                                                                   \
                bool is_sure = true;                                                                                   \
                CC__UNROLL                                                                                             \
                for (int32_t j = 0; j < (UNIT); j++) {                                                                 \
                    const FROM x = all_x[i].number[j];                                                                 \
                    const FROM y = all_y[i].number[j];                                                                 \
                    (void)y;                                                                                           \
                    made.number[j] = FIRST;                                                                            \
                }                                                                                                      \
                if (!is_sure) {                                                                                        \
                    CC__UNROLL                                                                                         \
                    for (int32_t j = 0; j < (UNIT); j++) {                                                             \
                        const FROM x = all_x[i].number[j];                                                             \
                        const FROM y = all_y[i].number[j];                                                             \
                        (void)y;                                                                                       \
                        made.number[j] = EXACT;                                                                        \
                    }                                                                                                  \
                }                                                                                                      \
                ((NAME##_to_unit *)plan.to)[n] = made;                                                                 \
            }                                                                                                          \
        }                                                                                                              \
        NAME##_single(&plan);                                                                                          \
    }

/* Results that are always sure. */
#define DEFINE_SURE(NAME, FROM, TO, UNIT, UNITS, BLOCKS, HAS_Y, RESULT)                                                \
    DEFINE_DIRECT(NAME, FROM, TO, UNIT, UNITS, BLOCKS, HAS_Y, RESULT, RESULT)

/* UNIT: of 16 bytes of complex numbers. */
#define DEFINE_STEPS(KIND, UNIT)                                                                                       \
    DEFINE_SURE(KIND##_product, KIND##_bits, KIND##_bits, UNIT, CC__COMPLEX_UNITS, 5, 1, KIND##_MULTIPLY(x, y))        \
    DEFINE_SURE(KIND##_square, KIND##_bits, KIND##_bits, UNIT, 1, 8, 0, KIND##_MULTIPLY(x, x))                         \
    DEFINE_SURE(KIND##_conjugate, KIND##_bits, KIND##_bits, UNIT, 1, 8, 0, KIND##_CONJUGATE(x))                        \
    DEFINE_SURE(KIND##_real, KIND##_bits, KIND##_part, 2 * UNIT, 1, 8, 0, KIND##_REAL(x))                              \
    DEFINE_SURE(KIND##_imaginary, KIND##_bits, KIND##_part, 2 * UNIT, 1, 8, 0, KIND##_IMAGINARY(x))                    \
    DEFINE_SURE(KIND##_absolute, KIND##_bits, KIND##_part, 2 * UNIT, 1, 6, 0, KIND##_ABSOLUTE(x))

DEFINE_STEPS(complex64, CC__COMPLEX_NARROW_UNIT)
DEFINE_STEPS(complex128, CC__COMPLEX_WIDE_UNIT)
DEFINE_DIRECT(complex64_quotient, complex64_bits, complex64_bits, CC__COMPLEX_NARROW_UNIT, CC__COMPLEX_UNITS, 4, 1,
              complex64_about_DIVIDE(x, y, &is_sure), complex64_DIVIDE(x, y))
DEFINE_SURE(complex128_quotient, complex128_bits, complex128_bits, CC__COMPLEX_WIDE_UNIT, CC__COMPLEX_UNITS, 4, 1,
            complex128_DIVIDE(x, y))
DEFINE_DIRECT(complex64_argument, complex64_bits, complex64_part, 2 * CC__COMPLEX_NARROW_UNIT, 1, 8, 0,
              cc__complex64_angle(x.real, x.imaginary, &is_sure), complex64_ARGUMENT(x))
DEFINE_SURE(complex128_argument, complex128_bits, complex128_part, 2 * CC__COMPLEX_WIDE_UNIT, 1, 4, 0,
            complex128_ARGUMENT(x))

#define WIDE_OR_NOT(NAME) plan->is_wide != 0 ? (const void *)complex128_##NAME : (const void *)complex64_##NAME

/* NULL where there is none. */
static const void *complex_direct_kernel(const cc__complex_plan *plan)
{
    if (!cc__complex_is_direct(plan))
        return NULL;
    switch (plan->kind) {
    case CC_STEP_MULTIPLY:
        return WIDE_OR_NOT(product_step);
    case CC_STEP_DIVIDE:
        return WIDE_OR_NOT(quotient_step);
    case CC_STEP_SQUARE:
        return WIDE_OR_NOT(square_step);
    case CC_STEP_CONJUGATE:
        return WIDE_OR_NOT(conjugate_step);
    case CC_STEP_REAL:
        return WIDE_OR_NOT(real_step);
    case CC_STEP_IMAGINARY:
        return WIDE_OR_NOT(imaginary_step);
    case CC_STEP_ABSOLUTE:
        return WIDE_OR_NOT(absolute_step);
    case CC_STEP_ARGUMENT:
        return WIDE_OR_NOT(argument_step);
    }
    return NULL;
}

#undef DEFINE_NUMBERS
#undef DEFINE_DIRECT
#undef DEFINE_SURE
#undef DEFINE_STEPS
#undef WIDE_OR_NOT

#endif
