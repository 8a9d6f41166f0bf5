/*
 * The kernel for one size of pack; evaluate_dense.h includes this once for each. Before it are defined DENSE(name): its
 * names; DENSE_PACK: components; DENSE_FOR_EACH_SOURCE: the types that sources may have.
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

/* Begins to bring the packs `n` of all sources to the thread's places in `stage`. */
static __device__ inline void DENSE(bring)(const cc__dense_plan *plan, dense_part (*parts)[CC__BLOCK_THREADS],
                                           int32_t stage, int64_t n)
{
    for (int32_t source = 0; source < plan->source_count && n < plan->packs; source++) {
        dense_part *to = &parts[2 * (stage * plan->source_count + source)][threadIdx.x];
        const int32_t bytes = plan->pack_bytes[source];
        const unsigned char *from = plan->from[source] + n * bytes;
        switch (bytes) {
        case 4:
            dense_copy(to, from, 4);
            break;
        case 8:
            dense_copy(to, from, 8);
            break;
        case 16:
            dense_copy(to, from, 16);
            break;
        default:
            dense_copy(to, from, 16);
            dense_copy(to + CC__BLOCK_THREADS, from + 16, 16);
            break;
        }
    }
    dense_commit();
}

/* What was brought, a part of 16 bytes at a time. */
#define DENSE_READ(NAME, HOLDER, BITS)                                                                                 \
    case CC_PIXEL_##NAME: {                                                                                            \
        union {                                                                                                        \
            dense_part part[2];                                                                                        \
            uint##BITS##_t value[DENSE_PACK];                                                                          \
        } whole;                                                                                                       \
        whole.part[0] = parts[0];                                                                                      \
        if (DENSE_PACK * BITS > 128)                                                                                   \
            whole.part[1] = parts[CC__BLOCK_THREADS];                                                                  \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < DENSE_PACK; i++)                                                                       \
            out[i] = cc__load_##NAME((HOLDER)whole.value[i]);                                                          \
        break;                                                                                                         \
    }

static __device__ inline void DENSE(read)(cc_pixel_type type, const dense_part *parts, double out[DENSE_PACK])
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

static __device__ inline void DENSE(take)(const cc__dense_plan *plan, const cc__term *term,
                                          const dense_part (*parts)[CC__BLOCK_THREADS],
                                          const double slots[DENSE_SLOTS][DENSE_PACK], double out[DENSE_PACK])
{
    switch (term->kind) {
    case CC__TERM_SOURCE:
        DENSE(read)(plan->from_type[term->number], &parts[2 * term->number][threadIdx.x], out);
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

/* What comes next is on its way to shared memory while a pack goes through the steps. Threads share nothing. */
static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 3)
    DENSE(evaluate)(const __grid_constant__ cc__dense_plan plan)
{
    __shared__ dense_part parts[2 * CC__DENSE_STAGES][CC__BLOCK_THREADS];
    double slots[DENSE_SLOTS][DENSE_PACK];
    const int64_t step = (int64_t)gridDim.x * CC__BLOCK_THREADS;
    int64_t next = (int64_t)blockIdx.x * CC__BLOCK_THREADS + threadIdx.x;
    int32_t stage = 0;
    for (int32_t i = 0; i < plan.stages - 1; i++, next += step)
        DENSE(bring)(&plan, parts, i, next);
    for (int32_t n = 0; n < plan.single_count; n++) {
        const double single = dense_read_single(plan.single_type[n], plan.single[n]);
        CC__UNROLL
        for (int32_t i = 0; i < DENSE_PACK; i++)
            slots[CC_MAX_STEPS + n][i] = single;
    }
    for (int64_t n = next - (plan.stages - 1) * step; n < plan.packs; n += step, next += step) {
        double value[DENSE_PACK];
        double a[DENSE_PACK];
        double b[DENSE_PACK];
        DENSE(bring)(&plan, parts, stage == 0 ? plan.stages - 1 : stage - 1, next);
        dense_wait(plan.stages - 1);
        CC__UNROLL
        for (int32_t i = 0; i < DENSE_PACK; i++) {
            value[i] = 0.0;
            a[i] = 0.0;
            b[i] = 0.0;
        }
        for (int32_t s = 0; s < plan.step_count; s++) {
            const cc__instruction *now = &plan.steps[s];
            DENSE(take)(&plan, &now->a, &parts[2 * stage * plan.source_count], slots, a);
            DENSE(take)(&plan, &now->b, &parts[2 * stage * plan.source_count], slots, b);
            DENSE(make_step)(now->kind, value, a, b);
            if (now->slot >= 0) {
                CC__UNROLL
                for (int32_t i = 0; i < DENSE_PACK; i++)
                    slots[now->slot][i] = value[i];
            }
        }
        DENSE(write)(plan.to_type, value, plan.to, n);
        stage = stage + 1 == plan.stages ? 0 : stage + 1;
    }
}

#undef DENSE_ACCESS
#undef DENSE_READ
#undef DENSE_WRITE
#undef DENSE_STEP
