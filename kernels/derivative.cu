#include "kernels/any_type.h"
#include "kernels/columns.h"
#include "kernels/derivative_math.h"
#include "kernels/launch.h"
#include "kernels/step_math.h"

typedef struct derivative_plan {
    cc__derivative work;
    cc__columns columns;          /* of the destination's components */
    float weight[CC__SPACE_AXES]; /* the work's, since conversions are slow */
    float edge_weight[CC__SPACE_AXES];
} derivative_plan;

/* Where a thread is: its pixel in both images, and the pixel's place along the axes. */
typedef struct walk {
    const unsigned char *from;
    unsigned char *to;
    int64_t at[CC__SPACE_AXES]; /* along the axis of columns: see `moving` */
    int64_t moving;
    int64_t end;
    int32_t component;
} walk;

/* False when the thread has nothing to do in the patch. */
static __device__ inline bool begin_walk(const derivative_plan *plan, int64_t patch, walk *out)
{
    const cc__derivative *work = &plan->work;
    const cc__columns *columns = &plan->columns;
    cc__column column;
    if (!cc__columns_find(columns, patch, (int32_t)threadIdx.x, &column))
        return false;
    out->at[0] = column.pixel;
    out->at[1] = columns->march == 1 ? column.first : column.still;
    out->at[2] = columns->march == 1 ? column.still : column.first;
    out->moving = column.first;
    out->end = column.end;
    out->component = column.component;
    out->from = work->source.data + column.volume * work->source.stride[3];
    out->to = work->destination.data + column.volume * work->destination.stride[3];
    CC__UNROLL
    for (int32_t axis = 0; axis < CC__SPACE_AXES; axis++) {
        out->from += out->at[axis] * work->source.stride[axis];
        out->to += out->at[axis] * work->destination.stride[axis];
    }
    return true;
}

static __device__ inline void step_walk(const derivative_plan *plan, walk *w)
{
    const bool is_second = plan->columns.march == 1;
    w->moving++;
    w->from += is_second ? plan->work.source.stride[1] : plan->work.source.stride[2];
    w->to += is_second ? plan->work.destination.stride[1] : plan->work.destination.stride[2];
}

/* Along one axis: bytes from a pixel to the two of which a difference is taken, unless it is the first or last. */
typedef struct arms {
    int64_t high;
    int64_t low;
    int64_t last;
    bool moves; /* with the thread */
    bool is_first;
    bool is_last;
    double weight;
    double edge_weight;
} arms;

static __device__ inline arms arms_of(const derivative_plan *plan, const walk *w, int32_t axis, int32_t difference)
{
    const cc__derivative *work = &plan->work;
    arms a;
    a.high = difference == CC_DIFFERENCE_BACKWARD ? 0 : work->source.stride[axis];
    a.low = difference == CC_DIFFERENCE_FORWARD ? 0 : work->source.stride[axis];
    a.last = work->size[axis] - 1;
    a.moves = axis == plan->columns.march;
    /* Written out, since a choice by index would put the array into memory. */
    const int64_t at = axis == 0 ? w->at[0] : axis == 1 ? w->at[1] : w->at[2];
    a.is_first = at == 0;
    a.is_last = at == a.last;
    a.weight = work->weight[axis];
    a.edge_weight = work->edge_weight[axis];
    return a;
}

static __device__ inline void move_arms(arms *a, const walk *w)
{
    if (a->moves) {
        a->is_first = w->moving == 0;
        a->is_last = w->moving == a->last;
    }
}

/*
 * NUMBER is float or double. READ(from) and WRITE(to, value) are components of the plan's types, of SOURCE_BYTES and
 * DESTINATION_BYTES.
 */
#define DEFINE_KERNELS(NAME, NUMBER, MATH, READ, WRITE, SOURCE_BYTES, DESTINATION_BYTES)                               \
    static __device__ inline NUMBER slope_##NAME(const cc__derivative *work, const unsigned char *from, const arms *a) \
    {                                                                                                                  \
        const NUMBER high = READ(from + (a->is_last ? 0 : a->high));                                                   \
        const NUMBER low = READ(from - (a->is_first ? 0 : a->low));                                                    \
        (void)work;                                                                                                    \
        return cc__slope_##MATH(high, low, (NUMBER)(a->is_first || a->is_last ? a->edge_weight : a->weight));          \
    }                                                                                                                  \
                                                                                                                       \
    static __device__ inline void gradient_walk_##NAME(const derivative_plan *plan, walk *w)                           \
    {                                                                                                                  \
        const cc__derivative *work = &plan->work;                                                                      \
        arms a = arms_of(plan, w, w->component, work->difference);                                                     \
        for (; w->moving < w->end; step_walk(plan, w)) {                                                               \
            move_arms(&a, w);                                                                                          \
            const NUMBER slope = slope_##NAME(work, w->from, &a);                                                      \
            WRITE(w->to, slope);                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        gradient_##NAME(const __grid_constant__ derivative_plan plan)                                                  \
    {                                                                                                                  \
        for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {                             \
            walk w;                                                                                                    \
            if (!begin_walk(&plan, patch, &w))                                                                         \
                continue;                                                                                              \
            w.to += w.component * DESTINATION_BYTES(&plan.work);                                                       \
            gradient_walk_##NAME(&plan, &w);                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        turned_gradient_##NAME(const __grid_constant__ derivative_plan plan)                                           \
    {                                                                                                                  \
        const cc__derivative *work = &plan.work;                                                                       \
        for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {                             \
            walk w;                                                                                                    \
            if (!begin_walk(&plan, patch, &w))                                                                         \
                continue;                                                                                              \
            w.to += w.component * DESTINATION_BYTES(&plan.work);                                                       \
            for (; w.moving < w.end; step_walk(&plan, &w)) {                                                           \
                NUMBER slopes[CC__SPACE_AXES] = {0, 0, 0};                                                             \
                CC__UNROLL                                                                                             \
                for (int32_t axis = 0; axis < CC__SPACE_AXES; axis++) {                                                \
                    if (axis < work->axes) {                                                                           \
                        arms a = arms_of(&plan, &w, axis, work->difference);                                           \
                        move_arms(&a, &w);                                                                             \
                        slopes[axis] = slope_##NAME(work, w.from, &a);                                                 \
                    }                                                                                                  \
                }                                                                                                      \
                WRITE(w.to, cc__turned_##MATH(slopes, work->direction[w.component], 1));                               \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    /* A vector's part along an axis of the image. */                                                                  \
    static __device__ inline NUMBER part_##NAME(const cc__derivative *work, const unsigned char *from, int32_t axis)   \
    {                                                                                                                  \
        if (!work->is_turned)                                                                                          \
            return READ(from + axis * SOURCE_BYTES(work));                                                             \
        NUMBER vector[CC__SPACE_AXES] = {0, 0, 0};                                                                     \
        CC__UNROLL                                                                                                     \
        for (int32_t n = 0; n < CC__SPACE_AXES; n++)                                                                   \
            if (n < work->axes)                                                                                        \
                vector[n] = READ(from + n * SOURCE_BYTES(work));                                                       \
        return cc__turned_##MATH(vector, &work->direction[0][axis], CC__SPACE_AXES);                                   \
    }                                                                                                                  \
                                                                                                                       \
    static __device__ inline void divergence_walk_##NAME(const derivative_plan *plan, walk *w)                         \
    {                                                                                                                  \
        const cc__derivative *work = &plan->work;                                                                      \
        const bool is_central = work->difference <= CC_DIFFERENCE_CENTRAL_ONE_SIDED;                                   \
        arms all[CC__SPACE_AXES];                                                                                      \
        CC__UNROLL                                                                                                     \
        for (int32_t axis = 0; axis < CC__SPACE_AXES; axis++)                                                          \
            all[axis] = arms_of(plan, w, axis, work->difference);                                                      \
        for (; w->moving < w->end; step_walk(plan, w)) {                                                               \
            NUMBER sum = 0;                                                                                            \
            CC__UNROLL                                                                                                 \
            for (int32_t axis = 0; axis < CC__SPACE_AXES; axis++) {                                                    \
                arms *a = &all[axis];                                                                                  \
                if (axis >= work->axes)                                                                                \
                    break;                                                                                             \
                move_arms(a, w);                                                                                       \
                NUMBER high = part_##NAME(work, w->from + (a->is_last ? 0 : a->high), axis);                           \
                NUMBER low = part_##NAME(work, w->from - (a->is_first ? 0 : a->low), axis);                            \
                high = is_central || !a->is_last ? high : 0;                                                           \
                low = is_central || !a->is_first ? low : 0;                                                            \
                const NUMBER weight = (NUMBER)(a->is_first || a->is_last ? a->edge_weight : a->weight);                \
                const NUMBER slope = cc__slope_##MATH(high, low, weight);                                              \
                sum = axis == 0 ? slope : sum + slope;                                                                 \
            }                                                                                                          \
            WRITE(w->to, sum);                                                                                         \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        divergence_##NAME(const __grid_constant__ derivative_plan plan)                                                \
    {                                                                                                                  \
        for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {                             \
            walk w;                                                                                                    \
            if (begin_walk(&plan, patch, &w))                                                                          \
                divergence_walk_##NAME(&plan, &w);                                                                     \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __device__ inline void laplacian_walk_##NAME(const derivative_plan *plan, walk *w)                          \
    {                                                                                                                  \
        const cc__derivative *work = &plan->work;                                                                      \
        arms all[CC__SPACE_AXES];                                                                                      \
        CC__UNROLL                                                                                                     \
        for (int32_t axis = 0; axis < CC__SPACE_AXES; axis++)                                                          \
            all[axis] = arms_of(plan, w, axis, CC_DIFFERENCE_CENTRAL);                                                 \
        for (; w->moving < w->end; step_walk(plan, w)) {                                                               \
            const NUMBER twice = 2 * READ(w->from);                                                                    \
            NUMBER sum = 0;                                                                                            \
            CC__UNROLL                                                                                                 \
            for (int32_t axis = 0; axis < CC__SPACE_AXES; axis++) {                                                    \
                arms *a = &all[axis];                                                                                  \
                if (axis >= work->axes)                                                                                \
                    break;                                                                                             \
                move_arms(a, w);                                                                                       \
                const NUMBER high = READ(w->from + (a->is_last ? 0 : a->high));                                        \
                const NUMBER low = READ(w->from - (a->is_first ? 0 : a->low));                                         \
                const NUMBER bend = cc__bend_##MATH(high, low, twice, (NUMBER)a->weight);                              \
                sum = axis == 0 ? bend : sum + bend;                                                                   \
            }                                                                                                          \
            WRITE(w->to, sum);                                                                                         \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        laplacian_##NAME(const __grid_constant__ derivative_plan plan)                                                 \
    {                                                                                                                  \
        for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {                             \
            walk w;                                                                                                    \
            if (!begin_walk(&plan, patch, &w))                                                                         \
                continue;                                                                                              \
            w.from += w.component * SOURCE_BYTES(&plan.work);                                                          \
            w.to += w.component * DESTINATION_BYTES(&plan.work);                                                       \
            laplacian_walk_##NAME(&plan, &w);                                                                          \
        }                                                                                                              \
    }

#define READ_FLOAT32(FROM) (*(const float *)(FROM))
#define WRITE_FLOAT32(TO, VALUE) (*(uint32_t *)(TO) = cc__store_float32(VALUE))
#define READ_ANY_FLOAT32(FROM) ((float)cc__load_any((int32_t)work->source_type, FROM))
#define READ_ANY_FLOAT64(FROM) (cc__load_any((int32_t)work->source_type, FROM))
#define WRITE_ANY(TO, VALUE) cc__store_any((int32_t)work->destination_type, TO, (double)(VALUE))
#define BYTES_OF_FLOAT32(WORK) 4
#define BYTES_OF_SOURCE(WORK) cc__bytes_of_real((int32_t)(WORK)->source_type)
#define BYTES_OF_DESTINATION(WORK) cc__bytes_of_real((int32_t)(WORK)->destination_type)

DEFINE_KERNELS(of_float32, float, float32, READ_FLOAT32, WRITE_FLOAT32, BYTES_OF_FLOAT32, BYTES_OF_FLOAT32)
DEFINE_KERNELS(in_float32, float, float32, READ_ANY_FLOAT32, WRITE_ANY, BYTES_OF_SOURCE, BYTES_OF_DESTINATION)
DEFINE_KERNELS(in_float64, double, float64, READ_ANY_FLOAT64, WRITE_ANY, BYTES_OF_SOURCE, BYTES_OF_DESTINATION)

#include "kernels/derivative_rows.h"

#include "kernels/derivative_packs.h"

#define CHOOSE(KERNEL)                                                                                                 \
    (is_float32         ? (const void *)KERNEL##_of_float32                                                            \
     : work->in_float32 ? (const void *)KERNEL##_in_float32                                                            \
                        : (const void *)KERNEL##_in_float64)

static bool is_float32_only(const cc__derivative *work)
{
    return work->source_type == CC_PIXEL_FLOAT32 && work->destination_type == CC_PIXEL_FLOAT32 && work->in_float32;
}

static bool goes_by_rows(const cc__derivative *work)
{
    return is_float32_only(work) && !work->is_turned && work->axes == CC__SPACE_AXES && work->size[2] > 1;
}

/* Whether all packs of rows begin at a multiple of their size. */
static bool has_packs(const cc__span *span, int32_t pixel_bytes)
{
    bool has = (uintptr_t)span->data % PACK_BYTES == 0 && span->stride[0] == pixel_bytes;
    for (int32_t axis = 1; axis < CC_MAX_DIMENSION; axis++)
        has = has && span->stride[axis] % PACK_BYTES == 0;
    return has;
}

static bool goes_by_packs(const cc__derivative *work)
{
    const int32_t components = work->kind == CC__DERIVATIVE_GRADIENT ? CC__SPACE_AXES : 1;
    return goes_by_rows(work) && work->kind != CC__DERIVATIVE_DIVERGENCE && work->components == 1 &&
           work->size[2] <= INT32_MAX && work->source.stride[1] <= INT32_MAX / 2 && work->source.stride[1] >= 0 &&
           work->size[0] % PACK == 0 && work->size[0] / PACK > PACKS_OF_HALF_A_WARP && has_packs(&work->source, 4) &&
           has_packs(&work->destination, 4 * components);
}

static const void *kernel_of(const cc__derivative *work)
{
    const bool is_float32 = is_float32_only(work), by_rows = goes_by_rows(work), by_packs = goes_by_packs(work);
    switch ((cc__derivative_kind)work->kind) {
    case CC__DERIVATIVE_GRADIENT:
        return by_packs          ? (const void *)gradient_packs
               : by_rows         ? (const void *)gradient_rows
               : work->is_turned ? CHOOSE(turned_gradient)
                                 : CHOOSE(gradient);
    case CC__DERIVATIVE_DIVERGENCE:
        return by_rows ? (const void *)divergence_rows : CHOOSE(divergence);
    case CC__DERIVATIVE_LAPLACIAN:
        return by_packs ? (const void *)laplacian_packs : by_rows ? (const void *)laplacian_rows : CHOOSE(laplacian);
    }
    return NULL;
}

static void plan_columns(const cc__derivative *work, int32_t multiprocessor_count, cc__columns *out)
{
    const int32_t components = work->kind == CC__DERIVATIVE_GRADIENT ? work->axes : work->components;
    if (goes_by_packs(work)) {
        const int64_t size[] = {work->size[0] / PACK, work->size[1], work->size[2], work->size[3]};
        cc__columns_plan(size, 1, PACK_ROWS, (multiprocessor_count + PACK - 1) / PACK, out);
    } else {
        cc__columns_plan(work->size, components, goes_by_rows(work) ? ROWS : 1, multiprocessor_count, out);
    }
}

cc_status cc__launch_derivative(const void *work, const cc__launcher *launcher)
{
    derivative_plan plan;
    plan.work = *(const cc__derivative *)work;
    for (int32_t axis = 0; axis < CC__SPACE_AXES; axis++) {
        plan.weight[axis] = (float)plan.work.weight[axis];
        plan.edge_weight[axis] = (float)plan.work.edge_weight[axis];
    }
    plan_columns(&plan.work, launcher->multiprocessor_count, &plan.columns);
    void *arguments[] = {&plan};
    return launcher->launch(launcher, kernel_of(&plan.work),
                            cc__columns_blocks(&plan.columns, launcher->multiprocessor_count), CC__BLOCK_THREADS,
                            arguments);
}
