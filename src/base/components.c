#include "base/components.h"

#include "kernels/pixel_math.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Wider intermediate results would round differently from the GPU's. */
static_assert(FLT_EVAL_METHOD == 0, "float and double are computed as they are stored");

/* Components side by side get a loop of their own, which the compiler makes vectors of. */
#define FOR_EACH_COMPONENT(BYTES, BODY)                                                                                \
    if (step == (BYTES)) {                                                                                             \
        for (int64_t i = 0, at = 0; i < count; i++, at += (BYTES)) {                                                   \
            BODY                                                                                                       \
        }                                                                                                              \
    } else {                                                                                                           \
        for (int64_t i = 0, at = 0; i < count; i++, at += step) {                                                      \
            BODY                                                                                                       \
        }                                                                                                              \
    }

#define LOAD_REAL(NAME, HOLDER, BITS)                                                                                  \
    case CC_PIXEL_##NAME:                                                                                              \
        FOR_EACH_COMPONENT((BITS) / 8, HOLDER held; memcpy(&held, source + at, sizeof held);                           \
                           real[i] = cc__load_##NAME(held);)                                                           \
        break;

#define LOAD_COMPLEX(NAME, PART, HOLDER, BITS)                                                                         \
    case CC_PIXEL_##NAME:                                                                                              \
        FOR_EACH_COMPONENT((BITS) / 8, HOLDER held[2]; memcpy(held, source + at, sizeof held);                         \
                           real[i] = cc__load_##PART(held[0]); imaginary[i] = cc__load_##PART(held[1]);)               \
        break;

void cc__components_load(cc_pixel_type type, const unsigned char *source, int64_t step, int64_t count,
                         double *restrict real, double *restrict imaginary)
{
    switch (type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(LOAD_REAL)
        CC__FOR_EACH_TYPE_OF_32_BITS(LOAD_REAL)
        CC__FOR_EACH_TYPE_OF_64_BITS(LOAD_REAL)
        LOAD_COMPLEX(COMPLEX64, FLOAT32, uint32_t, 64)
        LOAD_COMPLEX(COMPLEX128, FLOAT64, uint64_t, 128)
    }
}

#define STORE_REAL(NAME, HOLDER, BITS)                                                                                 \
    case CC_PIXEL_##NAME:                                                                                              \
        FOR_EACH_COMPONENT((BITS) / 8, HOLDER held = cc__store_##NAME(real[i]);                                        \
                           memcpy(destination + at, &held, sizeof held);)                                              \
        break;

#define STORE_COMPLEX(NAME, PART, HOLDER, BITS)                                                                        \
    case CC_PIXEL_##NAME:                                                                                              \
        FOR_EACH_COMPONENT((BITS) / 8, HOLDER held[2]; held[0] = cc__store_##PART(real[i]);                            \
                           held[1] = cc__store_##PART(imaginary[i]); memcpy(destination + at, held, sizeof held);)     \
        break;

void cc__components_store(cc_pixel_type type, const double *restrict real, const double *restrict imaginary,
                          unsigned char *destination, int64_t step, int64_t count)
{
    switch (type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(STORE_REAL)
        CC__FOR_EACH_TYPE_OF_32_BITS(STORE_REAL)
        CC__FOR_EACH_TYPE_OF_64_BITS(STORE_REAL)
        STORE_COMPLEX(COMPLEX64, FLOAT32, uint32_t, 64)
        STORE_COMPLEX(COMPLEX128, FLOAT64, uint64_t, 128)
    }
}
