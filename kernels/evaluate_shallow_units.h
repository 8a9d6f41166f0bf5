/*
 * The kernel for one kind of work; evaluate_shallow.h includes this once for each. Before it are defined SHALLOW(name):
 * its names; SHALLOW_UNIT: components of a unit; SHALLOW_UNITS: units of a thread; SHALLOW_SOURCES: 0 where there is
 * one source and no step; SHALLOW_NUMBER: what is computed in, with SHALLOW_LOAD(NAME) and SHALLOW_STORE(NAME) from and
 * to the types of SHALLOW_FOR_EACH_TYPE.
 */

#define SHALLOW_ACCESS(BITS)                                                                                           \
    typedef struct __align__(SHALLOW_UNIT *BITS / 8 < 16 ? SHALLOW_UNIT * BITS / 8 : 16) SHALLOW(unit_of_##BITS)       \
    {                                                                                                                  \
        uint##BITS##_t value[SHALLOW_UNIT];                                                                            \
    }                                                                                                                  \
    SHALLOW(unit_of_##BITS);
SHALLOW_ACCESS(8)
SHALLOW_ACCESS(16)
SHALLOW_ACCESS(32)
SHALLOW_ACCESS(64)

/* Where there is no unit, the thread's first is read once more. */
#define SHALLOW_READ(NAME, HOLDER, BITS)                                                                               \
    case CC_PIXEL_##NAME: {                                                                                            \
        SHALLOW(unit_of_##BITS) whole[SHALLOW_UNITS];                                                                  \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < SHALLOW_UNITS; i++) {                                                                  \
            const int64_t n = first + i * CC__BLOCK_THREADS;                                                           \
            whole[i] = ((const SHALLOW(unit_of_##BITS) *)from)[n < count ? n : first];                                 \
        }                                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < SHALLOW_UNITS; i++) {                                                                  \
            CC__UNROLL                                                                                                 \
            for (int32_t j = 0; j < SHALLOW_UNIT; j++)                                                                 \
                out[i * SHALLOW_UNIT + j] = SHALLOW_LOAD(NAME)((HOLDER)whole[i].value[j]);                             \
        }                                                                                                              \
        break;                                                                                                         \
    }

static __device__ inline void SHALLOW(read)(cc_pixel_type type, const unsigned char *from, int64_t first, int64_t count,
                                            SHALLOW_NUMBER out[SHALLOW_UNITS * SHALLOW_UNIT])
{
    switch ((int32_t)type) {
        SHALLOW_FOR_EACH_TYPE(SHALLOW_READ)
    }
}

#define SHALLOW_WRITE(NAME, HOLDER, BITS)                                                                              \
    case CC_PIXEL_##NAME:                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < SHALLOW_UNITS; i++) {                                                                  \
            const int64_t n = first + i * CC__BLOCK_THREADS;                                                           \
            SHALLOW(unit_of_##BITS) whole;                                                                             \
            CC__UNROLL                                                                                                 \
            for (int32_t j = 0; j < SHALLOW_UNIT; j++)                                                                 \
                whole.value[j] = (uint##BITS##_t)SHALLOW_STORE(NAME)(value[i * SHALLOW_UNIT + j]);                     \
            if (n < plan->units.count)                                                                                 \
                ((SHALLOW(unit_of_##BITS) *)plan->to)[n] = whole;                                                      \
        }                                                                                                              \
        break;

static __device__ inline void SHALLOW(write)(const cc__shallow_plan *plan, int64_t first,
                                             const SHALLOW_NUMBER value[SHALLOW_UNITS * SHALLOW_UNIT])
{
    switch ((int32_t)plan->to_type) {
        SHALLOW_FOR_EACH_TYPE(SHALLOW_WRITE)
    }
}

#if SHALLOW_SOURCES > 0
#if SHALLOW_SOURCES > 1
#define SHALLOW_OPERAND(NAME) (plan->NAME##_is_y != 0 ? y[i] : plan->NAME)
#else
#define SHALLOW_OPERAND(NAME) plan->NAME
#endif

#define SHALLOW_STEP(NAME)                                                                                             \
    case CC_STEP_##NAME:                                                                                               \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < SHALLOW_UNITS * SHALLOW_UNIT; i++)                                                     \
            value[i] = cc__real_##NAME(value[i], SHALLOW_OPERAND(a), SHALLOW_OPERAND(b));                              \
        break;

static __device__ inline void SHALLOW(make_step)(const cc__shallow_plan *plan, double *value, const double *y)
{
    (void)y;
    switch (plan->kind) {
        CC__FOR_EACH_SHORT_REAL_STEP(SHALLOW_STEP)
    }
}

#undef SHALLOW_OPERAND
#undef SHALLOW_STEP
#endif

static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 4)
    SHALLOW(step)(const __grid_constant__ cc__shallow_plan plan)
{
    const int64_t first = (int64_t)blockIdx.x * (SHALLOW_UNITS * CC__BLOCK_THREADS) + threadIdx.x;
    if (first < plan.units.count) {
        SHALLOW_NUMBER value[SHALLOW_UNITS * SHALLOW_UNIT];
        CC__UNROLL
        for (int32_t i = 0; i < SHALLOW_UNITS * SHALLOW_UNIT; i++)
            value[i] = 0;
        SHALLOW(read)(plan.from_type[0], plan.from[0], first, plan.units.count, value);
#if SHALLOW_SOURCES == 1
        SHALLOW(make_step)(&plan, value, NULL);
#elif SHALLOW_SOURCES == 2
        double y[SHALLOW_UNITS * SHALLOW_UNIT];
        CC__UNROLL
        for (int32_t i = 0; i < SHALLOW_UNITS * SHALLOW_UNIT; i++)
            y[i] = 0;
        SHALLOW(read)(plan.from_type[1], plan.from[1], first, plan.units.count, y);
        SHALLOW(make_step)(&plan, value, y);
#endif
        SHALLOW(write)(&plan, first, value);
    }
    shallow_singles(&plan, SHALLOW_UNIT);
}

#undef SHALLOW_ACCESS
#undef SHALLOW_READ
#undef SHALLOW_WRITE
