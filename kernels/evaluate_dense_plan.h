/* How an expression over rows without gaps is computed on the GPU: what a launch works on, and what is left. Plain C.
 */
#ifndef CC_KERNELS_EVALUATE_DENSE_PLAN_H
#define CC_KERNELS_EVALUATE_DENSE_PLAN_H

#include "base/evaluate.h"
#include "kernels/pixel_math.h"

#include <stdbool.h>
#include <string.h>

/*
 * All images as one row, each component beside the one before: a thread takes packs of 4 components, whose bytes come
 * in as few loads as 16 bytes each allow, and goes through the steps: with two packs, a block's threads apart, or with
 * one when a source's components have 8 bytes. Sources of one component for all are kept like the results of steps.
 */
#define CC__DENSE_PACK 4
#define CC__DENSE_NARROW_PACKS 2
#define CC__DENSE_WIDE_PACKS 1
#define CC__DENSE_SLOTS 4 /* the GPU keeps them in memory of which all its threads have some */
#define CC__DENSE_SOURCES 4
#define CC__DENSE_SINGLES 2
#define CC__DENSE_STAGES 6 /* packs of a thread that are on their way or used, of all sources together */
#define CC__DENSE_MOST_STAGES 3
#define CC__DENSE_BLOCKS 24      /* for each multiprocessor, where 3 fit at once */
#define CC__DENSE_LEAST_PACKS 64 /* fewer are not worth the launches for the components before and after them */

/* How a step comes by its operands. */
typedef enum cc__dense_way {
    CC__DENSE_LOAD = 0,    /* a source becomes the running value */
    CC__DENSE_UNIFORM = 1, /* the operands, if any, are `a` and `b` for all components */
    CC__DENSE_MIXED = 2
} cc__dense_way;

/*
 * Steps with limits that are neither NaN nor -0 need fewer comparisons: where `value` is NaN both are false, and where
 * it is a zero of the other sign the first takes the limit and the second does not.
 */
#define CC__DENSE_PLAIN_MINIMUM 64
#define CC__DENSE_PLAIN_MAXIMUM 65
#define CC__DENSE_PLAIN_CLAMP 66

CC__SHARED double cc__dense_plain_maximum(double value, double a)
{
    return value <= a ? a : value;
}

CC__SHARED double cc__dense_plain_minimum(double value, double a)
{
    return value > a ? a : value;
}

typedef struct cc__dense_step {
    double a;
    double b;
    int32_t kind;      /* a cc_step_kind or one of the plain ones */
    int8_t way;        /* a cc__dense_way */
    int8_t slot;       /* where the new value is kept; -1: nowhere */
    uint8_t kind_of_a; /* a cc__term_kind */
    uint8_t kind_of_b;
    int32_t number_of_a;
    int32_t number_of_b;
} cc__dense_step;

typedef struct cc__dense_plan {
    unsigned char *to;
    const unsigned char *from[CC__DENSE_SOURCES];
    const unsigned char *single[CC__DENSE_SINGLES];
    int64_t packs;
    cc_pixel_type to_type;
    cc_pixel_type from_type[CC__DENSE_SOURCES];
    cc_pixel_type single_type[CC__DENSE_SINGLES];
    int32_t source_count;
    int32_t single_count;
    int32_t step_count;
    int32_t is_wide;
    int32_t pack_bytes[CC__DENSE_SOURCES];
    int32_t stages;                     /* of all sources at once */
    cc__dense_step steps[CC_MAX_STEPS]; /* sources count in `from`; singles are the last slots */
    int64_t head;                       /* components before the first pack, and after the last */
    int64_t tail;
} cc__dense_plan;

static inline bool cc__dense_is_narrow(cc_pixel_type type)
{
    return cc_pixel_type_size_bytes(type) <= 4;
}

static inline int64_t cc__dense_alignment(cc_pixel_type type, int64_t pack)
{
    const int64_t bytes = pack * (int64_t)cc_pixel_type_size_bytes(type);
    return bytes < 16 ? bytes : 16;
}

static inline bool cc__dense_is_aligned(const void *data, cc_pixel_type type, int64_t pack, int64_t head)
{
    const uintptr_t at = (uintptr_t)data + (uintptr_t)(head * (int64_t)cc_pixel_type_size_bytes(type));
    return at % (uintptr_t)cc__dense_alignment(type, pack) == 0;
}

static inline bool cc__dense_uses_a(int32_t kind)
{
    return kind <= CC_STEP_SELECT;
}

static inline bool cc__dense_uses_b(int32_t kind)
{
    return kind == CC_STEP_MULTIPLY_ADD || kind == CC_STEP_CLAMP || kind == CC_STEP_WITHIN || kind == CC_STEP_SELECT;
}

/* place_of: where each of the work's sources went. False for what the dense kernels do not have. */
static inline bool cc__dense_translate(cc__term *term, bool is_used, const int32_t place_of[CC__MAX_SOURCES])
{
    if (!is_used) {
        term->kind = CC__TERM_NONE;
        return true;
    }
    if (term->kind == CC__TERM_MAGNITUDE)
        return false;
    if (term->kind != CC__TERM_SOURCE)
        return true;
    const int32_t place = place_of[term->number];
    term->kind = place < CC_MAX_STEPS ? CC__TERM_SOURCE : CC__TERM_SLOT;
    term->number = place < CC_MAX_STEPS ? place : CC__DENSE_SLOTS - 1 - (place - CC_MAX_STEPS);
    return true;
}

static inline bool cc__dense_is_plain(double limit)
{
    return limit == limit && cc__bits_of_float64(limit) != UINT64_C(1) << 63;
}

static inline int32_t cc__dense_kind(const cc__instruction *step)
{
    const bool a_is_plain = cc__dense_is_plain(step->a.value);
    if (step->kind == CC_STEP_MINIMUM && a_is_plain)
        return CC__DENSE_PLAIN_MINIMUM;
    if (step->kind == CC_STEP_MAXIMUM && a_is_plain)
        return CC__DENSE_PLAIN_MAXIMUM;
    if (step->kind == CC_STEP_CLAMP && a_is_plain && cc__dense_is_plain(step->b.value))
        return CC__DENSE_PLAIN_CLAMP;
    return step->kind;
}

/* Of a step whose terms are translated. */
static inline cc__dense_step cc__dense_step_of(const cc__instruction *step)
{
    const bool is_uniform = (step->a.kind == CC__TERM_NONE || step->a.kind == CC__TERM_VALUE) &&
                            (step->b.kind == CC__TERM_NONE || step->b.kind == CC__TERM_VALUE) &&
                            step->kind != CC_STEP_LOAD;
    const bool is_load = step->kind == CC_STEP_LOAD && step->a.kind == CC__TERM_SOURCE;
    cc__dense_step made = {.a = step->a.value,
                           .b = step->b.value,
                           .kind = is_uniform ? cc__dense_kind(step) : step->kind,
                           .way = (int8_t)(is_load      ? CC__DENSE_LOAD
                                           : is_uniform ? CC__DENSE_UNIFORM
                                                        : CC__DENSE_MIXED),
                           .slot = (int8_t)step->slot,
                           .kind_of_a = (uint8_t)step->a.kind,
                           .kind_of_b = (uint8_t)step->b.kind,
                           .number_of_a = step->a.number,
                           .number_of_b = step->b.number};
    return made;
}

static inline bool cc__dense_take_sources(const cc__evaluate *work, const cc__lattice *lattice, cc__dense_plan *plan,
                                          int32_t place_of[CC__MAX_SOURCES])
{
    for (int32_t n = 0; n < work->source_count; n++) {
        const cc__source *source = &work->sources[n];
        if (lattice->step[1 + n] == 0) {
            if (plan->single_count == CC__DENSE_SINGLES)
                return false;
            place_of[n] = CC_MAX_STEPS + plan->single_count;
            plan->single[plan->single_count] = source->data;
            plan->single_type[plan->single_count++] = source->type;
            continue;
        }
        if (plan->source_count == CC__DENSE_SOURCES ||
            lattice->step[1 + n] != (int64_t)cc_pixel_type_size_bytes(source->type))
            return false;
        place_of[n] = plan->source_count;
        plan->from[plan->source_count] = source->data;
        plan->from_type[plan->source_count++] = source->type;
        plan->is_wide |= !cc__dense_is_narrow(source->type);
    }
    return true;
}

/* False when the work is not of this kind. */
static inline bool cc__dense_plan_make(const cc__evaluate *work, const cc__lattice *lattice, cc__dense_plan *plan)
{
    int32_t place_of[CC__MAX_SOURCES] = {0};
    const int64_t size_bytes = (int64_t)cc_pixel_type_size_bytes(work->destination_type);
    if (work->numbers != CC__NUMBERS_REAL || lattice->axes > 0 || lattice->step[0] != size_bytes)
        return false;
    memset(plan, 0, sizeof *plan);
    plan->to = work->destination.data;
    plan->to_type = work->destination_type;
    plan->step_count = work->step_count;
    if (!cc__dense_take_sources(work, lattice, plan, place_of))
        return false;
    for (int32_t i = 0; i < work->step_count; i++) {
        cc__instruction step = work->steps[i];
        if (step.kind == CC_STEP_ARGUMENT || step.slot >= CC__DENSE_SLOTS - plan->single_count ||
            !cc__dense_translate(&step.a, cc__dense_uses_a(step.kind), place_of) ||
            !cc__dense_translate(&step.b, cc__dense_uses_b(step.kind), place_of))
            return false;
        plan->steps[i] = cc__dense_step_of(&step);
    }
    const int64_t pack = CC__DENSE_PACK;
    while (plan->head < pack && !cc__dense_is_aligned(plan->to, plan->to_type, pack, plan->head))
        plan->head++;
    for (int32_t n = 0; n < plan->source_count; n++)
        if (!cc__dense_is_aligned(plan->from[n], plan->from_type[n], pack, plan->head))
            return false;
    if (plan->head == pack || lattice->length < plan->head + CC__DENSE_LEAST_PACKS * pack)
        return false;
    plan->packs = (lattice->length - plan->head) / pack;
    plan->tail = (lattice->length - plan->head) % pack;
    plan->to += plan->head * size_bytes;
    plan->stages = plan->source_count == 0 ? 1 : CC__DENSE_STAGES / plan->source_count;
    plan->stages = plan->stages < CC__DENSE_MOST_STAGES ? plan->stages : CC__DENSE_MOST_STAGES;
    for (int32_t n = 0; n < plan->source_count; n++) {
        plan->pack_bytes[n] = (int32_t)(pack * (int64_t)cc_pixel_type_size_bytes(plan->from_type[n]));
        plan->from[n] += plan->head * (int64_t)cc_pixel_type_size_bytes(plan->from_type[n]);
    }
    return true;
}

#endif
