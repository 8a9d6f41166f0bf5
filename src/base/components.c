#include "base/components.h"

#include "base/loops.h"
#include "kernels/pixel_math.h"

#include <string.h>

/* Components side by side: what is not in base/loops.h gets a loop of its own, which the compiler makes vectors of. */
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

static bool is_dense(cc_pixel_type type, int64_t step)
{
    return !cc__is_complex(type) && step == (int64_t)cc_pixel_type_size_bytes(type);
}

#define LOAD_REAL(NAME, HOLDER, BITS)                                                                                  \
    case CC_PIXEL_##NAME:                                                                                              \
        for (int64_t i = 0, at = 0; i < count; i++, at += step) {                                                      \
            HOLDER held;                                                                                               \
            memcpy(&held, source + at, sizeof held);                                                                   \
            real[i] = cc__load_##NAME(held);                                                                           \
        }                                                                                                              \
        break;

#define LOAD_COMPLEX(NAME, PART, HOLDER, BITS)                                                                         \
    case CC_PIXEL_##NAME:                                                                                              \
        FOR_EACH_COMPONENT((BITS) / 8, HOLDER held[2]; memcpy(held, source + at, sizeof held);                         \
                           real[i] = cc__load_##PART(held[0]); imaginary[i] = cc__load_##PART(held[1]);)               \
        break;

void cc__components_load(cc_pixel_type type, const unsigned char *source, int64_t step, int64_t count,
                         double *restrict real, double *restrict imaginary)
{
    if (is_dense(type, step)) {
        cc__loops_get()->load(type, source, count, real);
        return;
    }
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
        for (int64_t i = 0, at = 0; i < count; i++, at += step) {                                                      \
            HOLDER held = cc__store_##NAME(real[i]);                                                                   \
            memcpy(destination + at, &held, sizeof held);                                                              \
        }                                                                                                              \
        break;

#define STORE_COMPLEX(NAME, PART, HOLDER, BITS)                                                                        \
    case CC_PIXEL_##NAME:                                                                                              \
        FOR_EACH_COMPONENT((BITS) / 8, HOLDER held[2]; held[0] = cc__store_##PART(real[i]);                            \
                           held[1] = cc__store_##PART(imaginary[i]); memcpy(destination + at, held, sizeof held);)     \
        break;

void cc__components_store(cc_pixel_type type, const double *restrict real, const double *restrict imaginary,
                          unsigned char *destination, int64_t step, int64_t count)
{
    if (is_dense(type, step)) {
        cc__loops_get()->store(type, real, destination, count);
        return;
    }
    switch (type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(STORE_REAL)
        CC__FOR_EACH_TYPE_OF_32_BITS(STORE_REAL)
        CC__FOR_EACH_TYPE_OF_64_BITS(STORE_REAL)
        STORE_COMPLEX(COMPLEX64, FLOAT32, uint32_t, 64)
        STORE_COMPLEX(COMPLEX128, FLOAT64, uint64_t, 128)
    }
}
