/*
 * The kernel for one size of pack; evaluate_dense.h includes this once for each. Before it are defined DENSE(name): its
 * names; DENSE_PACK: components; DENSE_HELD: what sources are held as; DENSE_FOR_EACH_SOURCE: their types.
 */

#define DENSE_ACCESS(BITS)                                                                                             \
    typedef struct __align__(DENSE_PACK *BITS / 8 < 16 ? DENSE_PACK * BITS / 8 : 16) DENSE(pack_of_##BITS)             \
    {                                                                                                                  \
        uint##BITS##_t value[DENSE_PACK];                                                                              \
    }                                                                                                                  \
    DENSE(pack_of_##BITS);
DENSE_ACCESS(8)
DENSE_ACCESS(16)
DENSE_ACCESS(32)
DENSE_ACCESS(64)

#define DENSE_READ(NAME, HOLDER, BITS)                                                                                 \
    case CC_PIXEL_##NAME: {                                                                                            \
        const DENSE(pack_of_##BITS) whole = ((const DENSE(pack_of_##BITS) *)from)[n];                                  \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < DENSE_PACK; i++)                                                                       \
            out[i] = (DENSE_HELD)cc__load_##NAME((HOLDER)whole.value[i]);                                              \
        break;                                                                                                         \
    }

static __device__ inline void DENSE(read)(cc_pixel_type type, const unsigned char *from, int64_t n,
                                          DENSE_HELD out[DENSE_PACK])
{
    switch ((int32_t)type) {
        DENSE_FOR_EACH_SOURCE(DENSE_READ)
    }
}

#define DENSE_WRITE(NAME, HOLDER, BITS)                                                                                \
    case CC_PIXEL_##NAME: {                                                                                            \
        DENSE(pack_of_##BITS) whole;                                                                                   \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < DENSE_PACK; i++)                                                                       \
            whole.value[i] = (uint##BITS##_t)cc__store_##NAME(value[i]);                                               \
        ((DENSE(pack_of_##BITS) *)to)[n] = whole;                                                                      \
        break;                                                                                                         \
    }

static __device__ inline void DENSE(write)(cc_pixel_type type, const double value[DENSE_PACK], unsigned char *to,
                                           int64_t n)
{
    switch ((int32_t)type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(DENSE_WRITE)
        CC__FOR_EACH_TYPE_OF_32_BITS(DENSE_WRITE)
        CC__FOR_EACH_TYPE_OF_64_BITS(DENSE_WRITE)
    }
}

/* What is in registers is chosen by branches that all threads take alike: indices would put it into memory. */
static __device__ inline void DENSE(take)(const cc__term *term, const DENSE_HELD held[CC__DENSE_SOURCES][DENSE_PACK],
                                          const double slots[DENSE_SLOTS][DENSE_PACK], double out[DENSE_PACK])
{
    switch (term->kind) {
    case CC__TERM_SOURCE:
        CC__UNROLL
        for (int32_t source = 0; source < CC__DENSE_SOURCES; source++) {
            if (term->number == source) {
                CC__UNROLL
                for (int32_t i = 0; i < DENSE_PACK; i++)
                    out[i] = (double)held[source][i];
            }
        }
        break;
    case CC__TERM_SLOT:
        CC__UNROLL
        for (int32_t i = 0; i < DENSE_PACK; i++)
            out[i] = slots[term->number][i];
        break;
    case CC__TERM_VALUE:
        CC__UNROLL
        for (int32_t i = 0; i < DENSE_PACK; i++)
            out[i] = term->value;
        break;
    }
}

#define DENSE_STEP(NAME)                                                                                               \
    case CC_STEP_##NAME:                                                                                               \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < DENSE_PACK; i++)                                                                       \
            value[i] = cc__real_##NAME(value[i], a[i], b[i]);                                                          \
        break;

static __device__ inline void DENSE(make_step)(int32_t kind, double value[DENSE_PACK], const double a[DENSE_PACK],
                                               const double b[DENSE_PACK])
{
    switch (kind) {
    case CC_STEP_LOAD:
        CC__UNROLL
        for (int32_t i = 0; i < DENSE_PACK; i++)
            value[i] = a[i];
        break;
        CC__FOR_EACH_REAL_STEP(DENSE_STEP)
    }
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 2)
    DENSE(evaluate)(const __grid_constant__ cc__dense_plan plan)
{
    double slots[DENSE_SLOTS][DENSE_PACK];
    const int64_t step = (int64_t)gridDim.x * CC__BLOCK_THREADS;
    for (int32_t n = 0; n < plan.single_count; n++) {
        const double single = dense_read_single(plan.single_type[n], plan.single[n]);
        CC__UNROLL
        for (int32_t i = 0; i < DENSE_PACK; i++)
            slots[CC_MAX_STEPS + n][i] = single;
    }
    for (int64_t n = (int64_t)blockIdx.x * CC__BLOCK_THREADS + threadIdx.x; n < plan.packs; n += step) {
        DENSE_HELD held[CC__DENSE_SOURCES][DENSE_PACK];
        double value[DENSE_PACK];
        double a[DENSE_PACK];
        double b[DENSE_PACK];
        CC__UNROLL
        for (int32_t source = 0; source < CC__DENSE_SOURCES; source++) {
            CC__UNROLL
            for (int32_t i = 0; i < DENSE_PACK; i++)
                held[source][i] = 0;
            if (source < plan.source_count)
                DENSE(read)(plan.from_type[source], plan.from[source], n, held[source]);
        }
        CC__UNROLL
        for (int32_t i = 0; i < DENSE_PACK; i++) {
            value[i] = 0.0;
            a[i] = 0.0;
            b[i] = 0.0;
        }
        for (int32_t s = 0; s < plan.step_count; s++) {
            const cc__instruction *now = &plan.steps[s];
            DENSE(take)(&now->a, held, slots, a);
            DENSE(take)(&now->b, held, slots, b);
            DENSE(make_step)(now->kind, value, a, b);
            if (now->slot >= 0) {
                CC__UNROLL
                for (int32_t i = 0; i < DENSE_PACK; i++)
                    slots[now->slot][i] = value[i];
            }
        }
        DENSE(write)(plan.to_type, value, plan.to, n);
    }
}

#undef DENSE_ACCESS
#undef DENSE_READ
#undef DENSE_WRITE
#undef DENSE_STEP
