/* The kernels of expressions over rows without gaps, for evaluate.cu. */
#ifndef CC_KERNELS_EVALUATE_DENSE_H
#define CC_KERNELS_EVALUATE_DENSE_H

#include "kernels/evaluate_dense_plan.h"
#include "kernels/step_math.h"
#include "kernels/tiles.h"

#define DENSE_SLOTS (CC_MAX_STEPS + CC__DENSE_SINGLES)

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

/* The names below keep to the two inclusions. */
#define DENSE(name) narrow_##name
#define DENSE_PACK CC__DENSE_NARROW_PACK
#define DENSE_HELD float
#define DENSE_FOR_EACH_SOURCE(X) CC__FOR_EACH_TYPE_UP_TO_16_BITS(X) X(FLOAT32, uint32_t, 32)
#include "kernels/evaluate_dense_pack.h"
#undef DENSE
#undef DENSE_PACK
#undef DENSE_HELD
#undef DENSE_FOR_EACH_SOURCE

#define DENSE(name) wide_##name
#define DENSE_PACK CC__DENSE_WIDE_PACK
#define DENSE_HELD double
#define DENSE_FOR_EACH_SOURCE(X)                                                                                       \
    CC__FOR_EACH_TYPE_UP_TO_16_BITS(X) CC__FOR_EACH_TYPE_OF_32_BITS(X) CC__FOR_EACH_TYPE_OF_64_BITS(X)
#include "kernels/evaluate_dense_pack.h"
#undef DENSE
#undef DENSE_PACK
#undef DENSE_HELD
#undef DENSE_FOR_EACH_SOURCE
#undef DENSE_SINGLE
#undef DENSE_SLOTS

#endif
