/* The kernels of LOAD and at most one more step over rows without gaps, for evaluate.cu. */
#ifndef CC_KERNELS_EVALUATE_SHALLOW_H
#define CC_KERNELS_EVALUATE_SHALLOW_H

#include "kernels/evaluate_shallow_plan.h"
#include "kernels/step_math.h"

#define SHALLOW_SINGLE_READ(NAME, HOLDER, BITS)                                                                        \
    case CC_PIXEL_##NAME:                                                                                              \
        return cc__load_##NAME(((const HOLDER *)from)[n]);
#define SHALLOW_SINGLE_STEP(NAME)                                                                                      \
    case CC_STEP_##NAME:                                                                                               \
        value = cc__real_##NAME(value, a, b);                                                                          \
        break;
#define SHALLOW_SINGLE_WRITE(NAME, HOLDER, BITS)                                                                       \
    case CC_PIXEL_##NAME:                                                                                              \
        ((HOLDER *)plan->to)[n] = cc__store_##NAME(value);                                                             \
        break;

static __device__ inline double shallow_read_single(cc_pixel_type type, const unsigned char *from, int64_t n)
{
    switch ((int32_t)type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(SHALLOW_SINGLE_READ)
        CC__FOR_EACH_TYPE_OF_32_BITS(SHALLOW_SINGLE_READ)
        CC__FOR_EACH_TYPE_OF_64_BITS(SHALLOW_SINGLE_READ)
    }
    return 0.0;
}

/* The components before and after all units, which are few: the first block's threads do one each. */
static __device__ inline void shallow_singles(const cc__shallow_plan *plan, int32_t unit)
{
    const int32_t thread = (int32_t)threadIdx.x;
    if (blockIdx.x != 0 || thread >= plan->units.head + plan->units.tail)
        return;
    int64_t n = (int64_t)thread - plan->units.head;
    n += n < 0 ? 0 : plan->units.count * unit;
    double value = shallow_read_single(plan->from_type[0], plan->from[0], n);
    const double y = plan->source_count == 2 ? shallow_read_single(plan->from_type[1], plan->from[1], n) : 0.0;
    const double a = plan->a_is_y != 0 ? y : plan->a;
    const double b = plan->b_is_y != 0 ? y : plan->b;
    switch (plan->kind) {
        CC__FOR_EACH_SHORT_REAL_STEP(SHALLOW_SINGLE_STEP)
    }
    switch ((int32_t)plan->to_type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(SHALLOW_SINGLE_WRITE)
        CC__FOR_EACH_TYPE_OF_32_BITS(SHALLOW_SINGLE_WRITE)
        CC__FOR_EACH_TYPE_OF_64_BITS(SHALLOW_SINGLE_WRITE)
    }
}

#define SHALLOW(name) narrow_one_##name
#define SHALLOW_UNIT CC__SHALLOW_NARROW_UNIT
#define SHALLOW_UNITS CC__SHALLOW_UNITS
#define SHALLOW_SOURCES 1
#define SHALLOW_NUMBER double
#define SHALLOW_LOAD(NAME) cc__load_##NAME
#define SHALLOW_STORE(NAME) cc__store_##NAME
#define SHALLOW_FOR_EACH_TYPE(X) CC__FOR_EACH_TYPE_UP_TO_16_BITS(X) CC__FOR_EACH_TYPE_OF_32_BITS(X)
#include "kernels/evaluate_shallow_units.h"
#undef SHALLOW
#undef SHALLOW_SOURCES
#undef SHALLOW_UNITS

#define SHALLOW(name) narrow_two_##name
#define SHALLOW_SOURCES 2
#define SHALLOW_UNITS CC__SHALLOW_UNITS_OF_TWO
#include "kernels/evaluate_shallow_units.h"
#undef SHALLOW
#undef SHALLOW_UNIT
#undef SHALLOW_FOR_EACH_TYPE

#define SHALLOW(name) wide_two_##name
#define SHALLOW_UNIT CC__SHALLOW_WIDE_UNIT
#define SHALLOW_FOR_EACH_TYPE(X)                                                                                       \
    CC__FOR_EACH_TYPE_UP_TO_16_BITS(X) CC__FOR_EACH_TYPE_OF_32_BITS(X) CC__FOR_EACH_TYPE_OF_64_BITS(X)
#include "kernels/evaluate_shallow_units.h"
#undef SHALLOW
#undef SHALLOW_SOURCES
#undef SHALLOW_UNITS

#define SHALLOW(name) wide_one_##name
#define SHALLOW_SOURCES 1
#define SHALLOW_UNITS CC__SHALLOW_WIDE_UNITS
#include "kernels/evaluate_shallow_units.h"
#undef SHALLOW
#undef SHALLOW_UNIT
#undef SHALLOW_UNITS
#undef SHALLOW_SOURCES
#undef SHALLOW_NUMBER
#undef SHALLOW_LOAD
#undef SHALLOW_STORE
#undef SHALLOW_FOR_EACH_TYPE

#define SHALLOW(name) float32_cast_##name
#define SHALLOW_UNIT CC__SHALLOW_NARROW_UNIT
#define SHALLOW_UNITS CC__SHALLOW_UNITS_OF_CAST
#define SHALLOW_SOURCES 0
#define SHALLOW_NUMBER float
#define SHALLOW_LOAD(NAME) cc__float32_from_##NAME
#define SHALLOW_STORE(NAME) cc__float32_into_##NAME
#define SHALLOW_FOR_EACH_TYPE(X) CC__FOR_EACH_TYPE_UP_TO_16_BITS(X) X(FLOAT32, uint32_t, 32)
#include "kernels/evaluate_shallow_units.h"
#undef SHALLOW
#undef SHALLOW_UNIT
#undef SHALLOW_UNITS
#undef SHALLOW_SOURCES
#undef SHALLOW_NUMBER
#undef SHALLOW_LOAD
#undef SHALLOW_STORE
#undef SHALLOW_FOR_EACH_TYPE

#undef SHALLOW_SINGLE_READ
#undef SHALLOW_SINGLE_STEP
#undef SHALLOW_SINGLE_WRITE

#endif
