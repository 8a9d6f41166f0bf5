/* The kernels of any list of steps in complex and whole numbers, over any rows. For evaluate.cu. */
#ifndef CC_KERNELS_EVALUATE_WIDE_H
#define CC_KERNELS_EVALUATE_WIDE_H

#include "kernels/evaluate_packs.h"
#include "kernels/step_math.h"

#define LOAD_PART(NAME, HOLDER, BITS)                                                                                  \
    case CC_PIXEL_##NAME:                                                                                              \
        out.real = cc__load_##NAME(*(const HOLDER *)from);                                                             \
        break;

static __device__ inline cc__complex load_complex(cc_pixel_type type, const unsigned char *from)
{
    cc__complex out = {0.0, 0.0};
    switch ((int32_t)type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(LOAD_PART)
        CC__FOR_EACH_TYPE_OF_32_BITS(LOAD_PART)
        CC__FOR_EACH_TYPE_OF_64_BITS(LOAD_PART)
    case CC_PIXEL_COMPLEX64:
        out.real = cc__load_FLOAT32(((const uint32_t *)from)[0]);
        out.imaginary = cc__load_FLOAT32(((const uint32_t *)from)[1]);
        break;
    case CC_PIXEL_COMPLEX128:
        out.real = cc__load_FLOAT64(((const uint64_t *)from)[0]);
        out.imaginary = cc__load_FLOAT64(((const uint64_t *)from)[1]);
        break;
    }
    return out;
}

#define STORE_PART(NAME, HOLDER, BITS)                                                                                 \
    case CC_PIXEL_##NAME:                                                                                              \
        *(HOLDER *)to = cc__store_##NAME(value.real);                                                                  \
        break;

static __device__ inline void store_complex(cc_pixel_type type, cc__complex value, unsigned char *to)
{
    /* A complex value is 0 when both parts are. */
    if (type == CC_PIXEL_BOOL)
        value.real = value.real != 0.0 || value.imaginary != 0.0 ? 1.0 : 0.0;
    switch ((int32_t)type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(STORE_PART)
        CC__FOR_EACH_TYPE_OF_32_BITS(STORE_PART)
        CC__FOR_EACH_TYPE_OF_64_BITS(STORE_PART)
    case CC_PIXEL_COMPLEX64:
        ((uint32_t *)to)[0] = cc__store_FLOAT32(value.real);
        ((uint32_t *)to)[1] = cc__store_FLOAT32(value.imaginary);
        break;
    case CC_PIXEL_COMPLEX128:
        ((uint64_t *)to)[0] = cc__store_FLOAT64(value.real);
        ((uint64_t *)to)[1] = cc__store_FLOAT64(value.imaginary);
        break;
    }
}

#define LOAD_WHOLE(NAME, HOLDER, LEAST, GREATEST)                                                                      \
    case CC_PIXEL_##NAME:                                                                                              \
        return *(const HOLDER *)from;

static __device__ inline cc__whole load_whole(cc_pixel_type type, const unsigned char *from)
{
    switch ((int32_t)type) {
        CC__FOR_EACH_WHOLE_TYPE(LOAD_WHOLE)
    }
    return *from != 0;
}

#define STORE_WHOLE(NAME, HOLDER, LEAST, GREATEST)                                                                     \
    case CC_PIXEL_##NAME:                                                                                              \
        *(HOLDER *)to = cc__store_whole_##NAME(value);                                                                 \
        return;

static __device__ inline void store_whole(cc_pixel_type type, cc__whole value, unsigned char *to)
{
    switch ((int32_t)type) {
        CC__FOR_EACH_WHOLE_TYPE(STORE_WHOLE)
    }
    *to = value != 0;
}

static __device__ inline cc__complex complex_of_value(double value)
{
    return cc__complex_of(value, 0.0);
}

/* In the order of the components, as the CPU adds them. */
static __device__ inline cc__complex complex_magnitude(const cc__source *source, const unsigned char *from,
                                                       int64_t component_bytes)
{
    double sum = 0.0;
    for (int32_t k = 0; k < source->components; k++) {
        cc__complex z = load_complex(source->type, from + k * component_bytes);
        sum = sum + (z.real * z.real + z.imaginary * z.imaginary);
    }
    return cc__complex_of(cc__square_root(sum), 0.0);
}

/* Steps on values that are real although others of the expression are not. */
#define COMPLEX_ORDER_STEP(NAME)                                                                                       \
    case CC_STEP_##NAME:                                                                                               \
        return cc__complex_of(cc__real_##NAME(value.real, a.real, b.real), value.imaginary);
#define COMPLEX_STEP(NAME)                                                                                             \
    case CC_STEP_##NAME:                                                                                               \
        return cc__complex_##NAME(value, a, b, reals);

static __device__ inline cc__complex make_complex_step(int32_t kind, cc__complex value, cc__complex a, cc__complex b,
                                                       int32_t reals)
{
    switch (kind) {
    case CC_STEP_LOAD:
        return a;
        CC__FOR_EACH_COMPLEX_STEP(COMPLEX_STEP)
        COMPLEX_ORDER_STEP(MINIMUM)
        COMPLEX_ORDER_STEP(MAXIMUM)
        COMPLEX_ORDER_STEP(CLAMP)
        COMPLEX_ORDER_STEP(WITHIN)
        COMPLEX_ORDER_STEP(LESS)
        COMPLEX_ORDER_STEP(SQUARE_ROOT)
    }
    return value;
}

#define WHOLE_STEP(NAME)                                                                                               \
    case CC_STEP_##NAME:                                                                                               \
        return cc__whole_##NAME(value, a, b);

static __device__ inline cc__whole make_whole_step(int32_t kind, cc__whole value, cc__whole a, cc__whole b,
                                                   int32_t reals)
{
    (void)reals;
    switch (kind) {
    case CC_STEP_LOAD:
        return a;
        CC__FOR_EACH_WHOLE_STEP(WHOLE_STEP)
    }
    return value;
}

/* Never asked for: magnitudes are not whole. */
static __device__ inline cc__whole whole_magnitude(const cc__source *source, const unsigned char *from,
                                                   int64_t component_bytes)
{
    (void)source, (void)from, (void)component_bytes;
    return 0;
}

static __device__ inline int64_t bytes_of(cc_pixel_type type)
{
    return type == CC_PIXEL_COMPLEX128 ? 16 : type == CC_PIXEL_COMPLEX64 ? 8 : bytes_of_real(type);
}

/* The same for complex and whole numbers, one component after the other. */
#define DEFINE_WIDE(NAME, NUMBER, OF_VALUE)                                                                            \
    static __device__ inline NUMBER load_##NAME##_term(const cc__general_plan *plan, const cc__term *term,             \
                                                       const place_of_pack *position, int32_t i,                       \
                                                       NUMBER slots[CC_MAX_STEPS][WIDE_PACK])                          \
    {                                                                                                                  \
        if (term->kind == CC__TERM_SLOT)                                                                               \
            return slots[term->number][i];                                                                             \
        if (term->kind != CC__TERM_SOURCE && term->kind != CC__TERM_MAGNITUDE)                                         \
            return OF_VALUE(term->value);                                                                              \
        const cc__source *source = &plan->work.sources[term->number];                                                  \
        const unsigned char *from =                                                                                    \
            source->data + offset_of(plan, 1 + term->number, position) + i * plan->step[1 + term->number];             \
        if (term->kind == CC__TERM_MAGNITUDE)                                                                          \
            return NAME##_magnitude(source, from, bytes_of(source->type));                                             \
        return load_##NAME(source->type, from);                                                                        \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        evaluate_##NAME(const __grid_constant__ cc__general_plan plan)                                                 \
    {                                                                                                                  \
        NUMBER slots[CC_MAX_STEPS][WIDE_PACK];                                                                         \
        for (int64_t tile = blockIdx.x; tile < plan.tiles.count; tile += gridDim.x) {                                  \
            place_of_pack position;                                                                                    \
            NUMBER value[WIDE_PACK];                                                                                   \
            if (!find_position(&plan, tile, WIDE_PACK, &position))                                                     \
                continue;                                                                                              \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < WIDE_PACK; i++)                                                                    \
                value[i] = OF_VALUE(0.0);                                                                              \
            for (int32_t s = 0; s < plan.work.step_count; s++) {                                                       \
                const cc__instruction *step = &plan.work.steps[s];                                                     \
                NUMBER a[WIDE_PACK];                                                                                   \
                NUMBER b[WIDE_PACK];                                                                                   \
                CC__UNROLL                                                                                             \
                for (int32_t i = 0; i < WIDE_PACK; i++) {                                                              \
                    int32_t j = i < position.count ? i : 0;                                                            \
                    a[i] = load_##NAME##_term(&plan, &step->a, &position, j, slots);                                   \
                    b[i] = load_##NAME##_term(&plan, &step->b, &position, j, slots);                                   \
                }                                                                                                      \
                CC__UNROLL                                                                                             \
                for (int32_t i = 0; i < WIDE_PACK; i++) {                                                              \
                    value[i] = make_##NAME##_step(step->kind, value[i], a[i], b[i], step->reals);                      \
                    if (step->slot >= 0)                                                                               \
                        slots[step->slot][i] = value[i];                                                               \
                }                                                                                                      \
            }                                                                                                          \
            unsigned char *to = plan.work.destination.data + offset_of(&plan, 0, &position);                           \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < WIDE_PACK; i++) {                                                                  \
                if (i < position.count)                                                                                \
                    store_##NAME(plan.work.destination_type, value[i], to + i * plan.step[0]);                         \
            }                                                                                                          \
        }                                                                                                              \
    }

DEFINE_WIDE(complex, cc__complex, complex_of_value)
DEFINE_WIDE(whole, cc__whole, cc__whole_of_float64)

#undef LOAD_PART
#undef STORE_PART
#undef LOAD_WHOLE
#undef STORE_WHOLE
#undef COMPLEX_ORDER_STEP
#undef COMPLEX_STEP
#undef WHOLE_STEP
#undef DEFINE_WIDE

#endif
