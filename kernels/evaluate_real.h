/* The kernel of any list of steps in float64, over any rows. For evaluate.cu. */
#ifndef CC_KERNELS_EVALUATE_REAL_H
#define CC_KERNELS_EVALUATE_REAL_H

#include "kernels/evaluate_packs.h"
#include "kernels/step_math.h"

#define LOAD_REAL(NAME, HOLDER, BITS)                                                                                  \
    case CC_PIXEL_##NAME:                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < PACK; i++)                                                                             \
            out[i] = cc__load_##NAME((HOLDER)bits[i]);                                                                 \
        break;

static __device__ inline void convert(cc_pixel_type type, const uint64_t bits[PACK], double out[PACK])
{
    switch ((int32_t)type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(LOAD_REAL)
        CC__FOR_EACH_TYPE_OF_32_BITS(LOAD_REAL)
        CC__FOR_EACH_TYPE_OF_64_BITS(LOAD_REAL)
    }
}

/* One component of each pixel, or the magnitude of all. */
static __device__ inline void load_source(const cc__general_plan *plan, const cc__term *term,
                                          const place_of_pack *position, const uint64_t ahead[AHEAD][PACK],
                                          double out[PACK])
{
    const cc__source *source = &plan->work.sources[term->number];
    bool is_magnitude = term->kind == CC__TERM_MAGNITUDE;
    int32_t count = is_magnitude ? source->components : 1;
    double sum[PACK];
    CC__UNROLL
    for (int32_t i = 0; i < PACK; i++)
        sum[i] = 0.0;
    for (int32_t k = 0; k < count; k++) {
        uint64_t bits[PACK];
        double value[PACK];
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++) {
            bits[i] = 0;
            value[i] = 0.0;
        }
        if (k == 0 && term->number < AHEAD) {
            /* Masks, not choices: the compiler would put the array into memory to choose from. */
            CC__UNROLL
            for (int32_t n = 0; n < AHEAD; n++) {
                uint64_t mask = term->number == n ? UINT64_MAX : 0;
                CC__UNROLL
                for (int32_t i = 0; i < PACK; i++)
                    bits[i] |= ahead[n][i] & mask;
            }
        } else {
            read_source(plan, term->number, position, k * bytes_of_real(source->type), bits);
        }
        convert(source->type, bits, value);
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++)
            sum[i] = is_magnitude ? sum[i] + value[i] * value[i] : value[i];
    }
    CC__UNROLL
    for (int32_t i = 0; i < PACK; i++)
        out[i] = is_magnitude ? cc__square_root(sum[i]) : sum[i];
}

static __device__ inline void load_term(const cc__general_plan *plan, const cc__term *term,
                                        const place_of_pack *position, const uint64_t ahead[AHEAD][PACK],
                                        double slots[CC_MAX_STEPS][PACK], double out[PACK])
{
    switch (term->kind) {
    case CC__TERM_SOURCE:
    case CC__TERM_MAGNITUDE:
        load_source(plan, term, position, ahead, out);
        break;
    case CC__TERM_SLOT:
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++)
            out[i] = slots[term->number][i];
        break;
    default:
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++)
            out[i] = term->value;
        break;
    }
}

#define REAL_STEP(NAME)                                                                                                \
    case CC_STEP_##NAME:                                                                                               \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < PACK; i++)                                                                             \
            value[i] = cc__real_##NAME(value[i], a[i], b[i]);                                                          \
        break;

static __device__ inline void make_real_step(int32_t kind, double value[PACK], const double a[PACK],
                                             const double b[PACK])
{
    switch (kind) {
    case CC_STEP_LOAD:
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++)
            value[i] = a[i];
        break;
        CC__FOR_EACH_REAL_STEP(REAL_STEP)
    }
}

#define STORE_REAL(NAME, HOLDER, BITS)                                                                                 \
    case CC_PIXEL_##NAME: {                                                                                            \
        uint##BITS##_t bits[PACK];                                                                                     \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < PACK; i++)                                                                             \
            bits[i] = (uint##BITS##_t)cc__store_##NAME(value[i]);                                                      \
        write_##BITS(to, plan->step[0], (plan->packed & 1) != 0, position->count, bits);                               \
        break;                                                                                                         \
    }

static __device__ inline void store_real(const cc__general_plan *plan, const place_of_pack *position,
                                         const double value[PACK])
{
    unsigned char *to = plan->work.destination.data + offset_of(plan, 0, position);
    switch ((int32_t)plan->work.destination_type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(STORE_REAL)
        CC__FOR_EACH_TYPE_OF_32_BITS(STORE_REAL)
        CC__FOR_EACH_TYPE_OF_64_BITS(STORE_REAL)
    }
}

/* With three blocks on a multiprocessor enough is under way to keep the memory busy. */
static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 3)
    evaluate_real(const __grid_constant__ cc__general_plan plan)
{
    double slots[CC_MAX_STEPS][PACK];
    for (int64_t tile = blockIdx.x; tile < plan.tiles.count; tile += gridDim.x) {
        place_of_pack position;
        uint64_t ahead[AHEAD][PACK];
        double value[PACK];
        if (!find_position(&plan, tile, PACK, &position))
            continue;
        CC__UNROLL
        for (int32_t n = 0; n < AHEAD; n++) {
            CC__UNROLL
            for (int32_t i = 0; i < PACK; i++)
                ahead[n][i] = 0;
            if (n < plan.work.source_count)
                read_source(&plan, n, &position, 0, ahead[n]);
        }
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++)
            value[i] = 0.0;
        for (int32_t s = 0; s < plan.work.step_count; s++) {
            const cc__instruction *step = &plan.work.steps[s];
            double a[PACK];
            double b[PACK];
            load_term(&plan, &step->a, &position, ahead, slots, a);
            load_term(&plan, &step->b, &position, ahead, slots, b);
            make_real_step(step->kind, value, a, b);
            if (step->slot >= 0) {
                CC__UNROLL
                for (int32_t i = 0; i < PACK; i++)
                    slots[step->slot][i] = value[i];
            }
        }
        store_real(&plan, &position, value);
    }
}

#undef LOAD_REAL
#undef REAL_STEP
#undef STORE_REAL

#endif
