/*
 * The kernel for one number of packs; evaluate_dense.h includes this once for each. Before it are defined DENSE(name):
 * its names; DENSE_PACKS: packs of a thread at once; DENSE_FOR_EACH_SOURCE: the types that sources may have.
 */
#define DENSE_COUNT (DENSE_PACKS * CC__DENSE_PACK)

/* Begins to bring packs of all sources to the thread's places in `stage`, the first being pack `n`. */
static __device__ inline void DENSE(bring)(const cc__dense_plan *plan, dense_part (*parts)[CC__BLOCK_THREADS],
                                           int32_t stage, int64_t n)
{
    for (int32_t source = 0; source < plan->source_count && n < plan->packs; source++) {
        dense_part *to = &parts[2 * (stage * plan->source_count + source)][threadIdx.x];
        const int32_t bytes = plan->pack_bytes[source];
        const unsigned char *from = plan->from[source] + n * bytes;
        CC__UNROLL
        for (int32_t i = 0; i < DENSE_PACKS; i++) {
            if (n + i * CC__BLOCK_THREADS < plan->packs) {
                switch (bytes) {
                case 4:
                    dense_copy(to, from, 4);
                    break;
                case 8:
                    dense_copy(to, from, 8);
                    break;
                default:
                    dense_copy(to, from, 16);
                    if (DENSE_PACKS == 1 && bytes == 32)
                        dense_copy(to + CC__BLOCK_THREADS, from + 16, 16);
                    break;
                }
            }
            to += CC__BLOCK_THREADS;
            from += CC__BLOCK_THREADS * bytes;
        }
    }
    dense_commit();
}

/* What was brought, a part of 16 bytes at a time. */
#define DENSE_READ(NAME, HOLDER, BITS)                                                                                 \
    case CC_PIXEL_##NAME:                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < DENSE_PACKS; i++) {                                                                    \
            union {                                                                                                    \
                dense_part part[2];                                                                                    \
                uint##BITS##_t value[CC__DENSE_PACK];                                                                  \
            } whole;                                                                                                   \
            whole.part[0] = parts[i * CC__BLOCK_THREADS];                                                              \
            if (CC__DENSE_PACK * BITS > 128)                                                                           \
                whole.part[1] = parts[(i + 1) * CC__BLOCK_THREADS];                                                    \
            CC__UNROLL                                                                                                 \
            for (int32_t j = 0; j < CC__DENSE_PACK; j++)                                                               \
                out[i * CC__DENSE_PACK + j] = cc__load_##NAME((HOLDER)whole.value[j]);                                 \
        }                                                                                                              \
        break;

static __device__ inline void DENSE(read)(cc_pixel_type type, const dense_part *parts, double out[DENSE_COUNT])
{
    switch ((int32_t)type) {
        DENSE_FOR_EACH_SOURCE(DENSE_READ)
    }
}

#define DENSE_WRITE(NAME, HOLDER, BITS)                                                                                \
    case CC_PIXEL_##NAME:                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < DENSE_PACKS; i++) {                                                                    \
            dense_pack_of_##BITS whole;                                                                                \
            CC__UNROLL                                                                                                 \
            for (int32_t j = 0; j < CC__DENSE_PACK; j++)                                                               \
                whole.value[j] = (uint##BITS##_t)cc__store_##NAME(value[i * CC__DENSE_PACK + j]);                      \
            if (n + i * CC__BLOCK_THREADS < plan->packs)                                                               \
                ((dense_pack_of_##BITS *)plan->to)[n + i * CC__BLOCK_THREADS] = whole;                                 \
        }                                                                                                              \
        break;

static __device__ inline void DENSE(write)(const cc__dense_plan *plan, const double value[DENSE_COUNT], int64_t n)
{
    switch ((int32_t)plan->to_type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(DENSE_WRITE)
        CC__FOR_EACH_TYPE_OF_32_BITS(DENSE_WRITE)
        CC__FOR_EACH_TYPE_OF_64_BITS(DENSE_WRITE)
    }
}

static __device__ inline void DENSE(take)(const cc__dense_plan *plan, int32_t kind, int32_t number, double value,
                                          const dense_part (*parts)[CC__BLOCK_THREADS],
                                          const double slots[CC__DENSE_SLOTS][DENSE_COUNT], double out[DENSE_COUNT])
{
    switch (kind) {
    case CC__TERM_SOURCE:
        DENSE(read)(plan->from_type[number], &parts[2 * number][threadIdx.x], out);
        break;
    case CC__TERM_SLOT:
        CC__UNROLL
        for (int32_t i = 0; i < DENSE_COUNT; i++)
            out[i] = slots[number][i];
        break;
    case CC__TERM_VALUE:
        CC__UNROLL
        for (int32_t i = 0; i < DENSE_COUNT; i++)
            out[i] = value;
        break;
    }
}

#define DENSE_UNIFORM_STEP(NAME)                                                                                       \
    case CC_STEP_##NAME:                                                                                               \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < DENSE_COUNT; i++)                                                                      \
            value[i] = cc__real_##NAME(value[i], a, b);                                                                \
        break;

static __device__ inline void DENSE(make_uniform_step)(int32_t kind, double value[DENSE_COUNT], double a, double b)
{
    switch (kind) {
    case CC__DENSE_PLAIN_MINIMUM:
        CC__UNROLL
        for (int32_t i = 0; i < DENSE_COUNT; i++)
            value[i] = cc__dense_plain_minimum(value[i], a);
        break;
    case CC__DENSE_PLAIN_MAXIMUM:
        CC__UNROLL
        for (int32_t i = 0; i < DENSE_COUNT; i++)
            value[i] = cc__dense_plain_maximum(value[i], a);
        break;
    case CC__DENSE_PLAIN_CLAMP:
        CC__UNROLL
        for (int32_t i = 0; i < DENSE_COUNT; i++)
            value[i] = cc__dense_plain_minimum(cc__dense_plain_maximum(value[i], a), b);
        break;
        CC__FOR_EACH_SHORT_REAL_STEP(DENSE_UNIFORM_STEP)
    }
}

/* Steps that have an operand. */
#define DENSE_MIXED_STEP(NAME)                                                                                         \
    case CC_STEP_##NAME:                                                                                               \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < DENSE_COUNT; i++)                                                                      \
            value[i] = cc__real_##NAME(value[i], a[i], b[i]);                                                          \
        break;

static __device__ inline void DENSE(make_mixed_step)(int32_t kind, double value[DENSE_COUNT],
                                                     const double a[DENSE_COUNT], const double b[DENSE_COUNT])
{
    switch (kind) {
    case CC_STEP_LOAD:
        CC__UNROLL
        for (int32_t i = 0; i < DENSE_COUNT; i++)
            value[i] = a[i];
        break;
        CC__FOR_EACH_STEP_WITH_OPERAND(DENSE_MIXED_STEP)
    }
}

/* What comes next is on its way to shared memory while packs go through the steps. Threads share nothing. */
static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 3)
    DENSE(evaluate)(const __grid_constant__ cc__dense_plan plan)
{
    __shared__ dense_part parts[2 * CC__DENSE_STAGES][CC__BLOCK_THREADS];
    double slots[CC__DENSE_SLOTS][DENSE_COUNT];
    const int64_t step = (int64_t)gridDim.x * (DENSE_PACKS * CC__BLOCK_THREADS);
    int64_t next = (int64_t)blockIdx.x * (DENSE_PACKS * CC__BLOCK_THREADS) + threadIdx.x;
    int32_t stage = 0;
    for (int32_t i = 0; i < plan.stages - 1; i++, next += step)
        DENSE(bring)(&plan, parts, i, next);
    for (int32_t n = 0; n < plan.single_count; n++) {
        const double single = dense_read_single(plan.single_type[n], plan.single[n]);
        CC__UNROLL
        for (int32_t i = 0; i < DENSE_COUNT; i++)
            slots[CC__DENSE_SLOTS - 1 - n][i] = single;
    }
    for (int64_t n = next - (plan.stages - 1) * step; n < plan.packs; n += step, next += step) {
        const dense_part(*now)[CC__BLOCK_THREADS] = &parts[2 * stage * plan.source_count];
        double value[DENSE_COUNT];
        DENSE(bring)(&plan, parts, stage == 0 ? plan.stages - 1 : stage - 1, next);
        dense_wait(plan.stages - 1);
        CC__UNROLL
        for (int32_t i = 0; i < DENSE_COUNT; i++)
            value[i] = 0.0;
        for (int32_t s = 0; s < plan.step_count; s++) {
            const cc__dense_step *made = &plan.steps[s];
            if (made->way == CC__DENSE_LOAD) {
                DENSE(read)(plan.from_type[made->number_of_a], &now[2 * made->number_of_a][threadIdx.x], value);
            } else if (made->way == CC__DENSE_UNIFORM) {
                DENSE(make_uniform_step)(made->kind, value, made->a, made->b);
            } else {
                double a[DENSE_COUNT];
                double b[DENSE_COUNT];
                CC__UNROLL
                for (int32_t i = 0; i < DENSE_COUNT; i++) {
                    a[i] = 0.0;
                    b[i] = 0.0;
                }
                DENSE(take)(&plan, made->kind_of_a, made->number_of_a, made->a, now, slots, a);
                DENSE(take)(&plan, made->kind_of_b, made->number_of_b, made->b, now, slots, b);
                DENSE(make_mixed_step)(made->kind, value, a, b);
            }
            if (made->slot >= 0) {
                CC__UNROLL
                for (int32_t i = 0; i < DENSE_COUNT; i++)
                    slots[made->slot][i] = value[i];
            }
        }
        DENSE(write)(&plan, value, n);
        stage = stage + 1 == plan.stages ? 0 : stage + 1;
    }
}

#undef DENSE_READ
#undef DENSE_WRITE
#undef DENSE_UNIFORM_STEP
#undef DENSE_MIXED_STEP
#undef DENSE_COUNT
