/* One version of the loops. Included once for each: CC__VERSION(name) names it, CC__TARGET says for which CPU. */
#include "kernels/step_math.h"

#include <stddef.h>
#include <string.h>

#define LOAD(NAME, HOLDER, BITS)                                                                                       \
    case CC_PIXEL_##NAME:                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            HOLDER held;                                                                                               \
            memcpy(&held, source + i * (int64_t)sizeof held, sizeof held);                                             \
            out[i] = cc__load_##NAME(held);                                                                            \
        }                                                                                                              \
        break;

CC__TARGET static void CC__VERSION(load)(cc_pixel_type type, const unsigned char *source, int64_t count,
                                         double *restrict out)
{
    switch (type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(LOAD)
        CC__FOR_EACH_TYPE_OF_32_BITS(LOAD)
        CC__FOR_EACH_TYPE_OF_64_BITS(LOAD)
    case CC_PIXEL_COMPLEX64:
    case CC_PIXEL_COMPLEX128:
        break;
    }
}

#define STORE(NAME, HOLDER, BITS)                                                                                      \
    case CC_PIXEL_##NAME:                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            HOLDER held = cc__store_##NAME(values[i]);                                                                 \
            memcpy(destination + i * (int64_t)sizeof held, &held, sizeof held);                                        \
        }                                                                                                              \
        break;

CC__TARGET static void CC__VERSION(store)(cc_pixel_type type, const double *restrict values,
                                          unsigned char *restrict destination, int64_t count)
{
    switch (type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(STORE)
        CC__FOR_EACH_TYPE_OF_32_BITS(STORE)
        CC__FOR_EACH_TYPE_OF_64_BITS(STORE)
    case CC_PIXEL_COMPLEX64:
    case CC_PIXEL_COMPLEX128:
        break;
    }
}

#define REAL_STEP(NAME)                                                                                                \
    case CC_STEP_##NAME:                                                                                               \
        CC__IN_PLACE                                                                                                   \
        for (int64_t i = 0; i < count; i++)                                                                            \
            out[i] = REAL_##NAME(value[i], a[i], b[i]);                                                                \
        break;

CC__TARGET static void CC__VERSION(step)(cc_step_kind kind, const double *value, const double *a, const double *b,
                                         double *out, int64_t count)
{
    switch (kind) {
    case CC_STEP_LOAD:
        memcpy(out, a, (size_t)count * sizeof *out);
        break;
        CC__FOR_EACH_REAL_STEP(REAL_STEP)
    case CC_STEP_REAL:
    case CC_STEP_CONJUGATE:
        if (out != value)
            memcpy(out, value, (size_t)count * sizeof *out);
        break;
    }
}

CC__TARGET static void CC__VERSION(scale_and_shift)(double *values, double scale, double shift, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = cc__scale_and_shift(values[i], scale, shift);
}

#define INTO_FLOAT32(NAME, HOLDER)                                                                                     \
    case CC_PIXEL_##NAME:                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            HOLDER held;                                                                                               \
            memcpy(&held, source + i * (int64_t)sizeof held, sizeof held);                                             \
            const uint32_t bits = cc__store_FLOAT32(cc__scale_and_shift(cc__load_##NAME(held), scale, shift));         \
            memcpy(out + i * (int64_t)sizeof bits, &bits, sizeof bits);                                                \
        }                                                                                                              \
        break;

CC__TARGET static void CC__VERSION(scale_into_float32)(cc_pixel_type type, const unsigned char *source, double scale,
                                                       double shift, unsigned char *out, int64_t count)
{
    switch ((int32_t)type) {
        CC__FOR_EACH_FLOAT32_TYPE(INTO_FLOAT32)
    }
}

#define LOAD_FLOAT32(NAME, HOLDER)                                                                                     \
    case CC_PIXEL_##NAME:                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            HOLDER held;                                                                                               \
            memcpy(&held, source + i * (int64_t)sizeof held, sizeof held);                                             \
            out[i] = cc__float32_from_##NAME(held);                                                                    \
        }                                                                                                              \
        break;

CC__TARGET static void CC__VERSION(load_float32)(cc_pixel_type type, const unsigned char *source, int64_t count,
                                                 float *restrict out)
{
    switch ((int32_t)type) {
        CC__FOR_EACH_FLOAT32_TYPE(LOAD_FLOAT32)
    }
}

#define STORE_FLOAT32(NAME, HOLDER)                                                                                    \
    case CC_PIXEL_##NAME:                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            float value;                                                                                               \
            memcpy(&value, values + i * (int64_t)sizeof value, sizeof value);                                          \
            HOLDER held = (HOLDER)cc__float32_into_##NAME(value);                                                      \
            memcpy(destination + i * (int64_t)sizeof held, &held, sizeof held);                                        \
        }                                                                                                              \
        break;

CC__TARGET static void CC__VERSION(store_float32)(cc_pixel_type type, const unsigned char *restrict values,
                                                  unsigned char *restrict destination, int64_t count)
{
    switch ((int32_t)type) {
        CC__FOR_EACH_FLOAT32_TYPE(STORE_FLOAT32)
    }
}

#define FLOAT32_STEP(NAME)                                                                                             \
    case CC_STEP_##NAME:                                                                                               \
        if (a == NULL) {                                                                                               \
            CC__IN_PLACE                                                                                               \
            for (int64_t i = 0; i < count; i++) {                                                                      \
                float x;                                                                                               \
                memcpy(&x, value + 4 * i, sizeof x);                                                                   \
                uint32_t bits = cc__store_float32(FLOAT32_##NAME(x, constant));                                        \
                memcpy(out + 4 * i, &bits, sizeof bits);                                                               \
            }                                                                                                          \
        } else {                                                                                                       \
            CC__IN_PLACE                                                                                               \
            for (int64_t i = 0; i < count; i++) {                                                                      \
                float x, y;                                                                                            \
                memcpy(&x, value + 4 * i, sizeof x);                                                                   \
                memcpy(&y, a + 4 * i, sizeof y);                                                                       \
                uint32_t bits = cc__store_float32(FLOAT32_##NAME(x, y));                                               \
                memcpy(out + 4 * i, &bits, sizeof bits);                                                               \
            }                                                                                                          \
        }                                                                                                              \
        break;

CC__TARGET static void CC__VERSION(step_float32)(cc_step_kind kind, const unsigned char *value, const unsigned char *a,
                                                 float constant, unsigned char *out, int64_t count)
{
    switch ((int32_t)kind) {
        CC__FOR_EACH_FLOAT32_STEP(FLOAT32_STEP)
    }
}

#define INTEGER_STEP(NAME, HOLDER, FUNCTION)                                                                           \
    case CC_STEP_##NAME:                                                                                               \
        CC__IN_PLACE                                                                                                   \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            HOLDER x, y;                                                                                               \
            memcpy(&x, value + i * (int64_t)sizeof x, sizeof x);                                                       \
            memcpy(&y, a + i * (int64_t)sizeof y, sizeof y);                                                           \
            const HOLDER held = FUNCTION(x, y);                                                                        \
            memcpy(out + i * (int64_t)sizeof held, &held, sizeof held);                                                \
        }                                                                                                              \
        break;

#define INTEGER_STEPS(TYPE, HOLDER)                                                                                    \
    case CC_PIXEL_##TYPE:                                                                                              \
        switch ((int32_t)kind) {                                                                                       \
            INTEGER_STEP(ADD, HOLDER, sum_##TYPE)                                                                      \
            INTEGER_STEP(SUBTRACT, HOLDER, difference_##TYPE)                                                          \
            INTEGER_STEP(MINIMUM, HOLDER, lesser_##TYPE)                                                               \
            INTEGER_STEP(MAXIMUM, HOLDER, greater_##TYPE)                                                              \
        }                                                                                                              \
        break;

CC__TARGET static void CC__VERSION(step_integer)(cc_step_kind kind, cc_pixel_type type, const unsigned char *value,
                                                 const unsigned char *a, unsigned char *out, int64_t count)
{
    switch ((int32_t)type) {
        INTEGER_STEPS(UINT8, uint8_t)
        INTEGER_STEPS(INT8, int8_t)
        INTEGER_STEPS(UINT16, uint16_t)
        INTEGER_STEPS(INT16, int16_t)
    }
}

CC__TARGET static void CC__VERSION(load_squares)(const unsigned char *source, const double *added, int64_t count,
                                                 double *out)
{
    if (added == NULL) {
        CC__IN_PLACE
        for (int64_t i = 0; i < count; i++)
            out[i] = square_at(source, i);
    } else {
        CC__IN_PLACE
        for (int64_t i = 0; i < count; i++)
            out[i] = square_at(source, i) + added[i];
    }
}

/* What is done beside a square root costs nothing: the CPU has one unit for those, and many for the rest. */
#define FINISH(VALUE, FIRST)                                                                                           \
    for (int64_t i = FIRST; i < count; i++) {                                                                          \
        const float value = least_float32(greatest_float32((float)(VALUE), lower), upper);                             \
        const uint32_t bits = cc__store_float32(value);                                                                \
        memcpy(out + i * (int64_t)sizeof bits, &bits, sizeof bits);                                                    \
    }

CC__TARGET static void CC__VERSION(finish_float32)(bool is_root, const double *restrict values, float lower,
                                                   float upper, unsigned char *restrict out, int64_t count)
{
    if (is_root)
        FINISH(cc__square_root(values[i]), CC__VERSION(roots)(NULL, values, lower, upper, out, count))
    else
        FINISH(values[i], 0)
}

CC__TARGET static void CC__VERSION(finish_squares)(const unsigned char *restrict source, const double *restrict added,
                                                   float lower, float upper, unsigned char *restrict out,
                                                   int64_t count){
    FINISH(cc__square_root(square_at(source, i) + added[i]),
           CC__VERSION(roots)(source, added, lower, upper, out, count))}

#define REVERSE(HOLDER)                                                                                                \
    for (int64_t i = 0; i < count; i++) {                                                                              \
        HOLDER held;                                                                                                   \
        memcpy(&held, last - i * (int64_t)sizeof held, sizeof held);                                                   \
        memcpy(destination + i * (int64_t)sizeof held, &held, sizeof held);                                            \
    }

CC__TARGET static void CC__VERSION(reverse)(unsigned char *restrict destination, const unsigned char *last,
                                            int64_t bytes, int64_t count)
{
    switch (bytes) {
    case 1:
        REVERSE(uint8_t)
        break;
    case 2:
        REVERSE(uint16_t)
        break;
    case 4:
        REVERSE(uint32_t)
        break;
    case 8:
        REVERSE(uint64_t)
        break;
    }
}

static const cc__loops CC__VERSION(loops) = {
    .name = CC__VERSION_NAME,
    .load = CC__VERSION(load),
    .store = CC__VERSION(store),
    .step = CC__VERSION(step),
    .scale_and_shift = CC__VERSION(scale_and_shift),
    .scale_into_float32 = CC__VERSION(scale_into_float32),
    .load_float32 = CC__VERSION(load_float32),
    .store_float32 = CC__VERSION(store_float32),
    .step_float32 = CC__VERSION(step_float32),
    .step_integer = CC__VERSION(step_integer),
    .load_squares = CC__VERSION(load_squares),
    .finish_float32 = CC__VERSION(finish_float32),
    .finish_squares = CC__VERSION(finish_squares),
    .reverse = CC__VERSION(reverse),
    .look_up = CC__VERSION(look_up),
};

#undef LOAD
#undef STORE
#undef REAL_STEP
#undef INTO_FLOAT32
#undef LOAD_FLOAT32
#undef STORE_FLOAT32
#undef FLOAT32_STEP
#undef INTEGER_STEP
#undef INTEGER_STEPS
#undef FINISH
#undef REVERSE
