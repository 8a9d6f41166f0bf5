/* How at most one step in complex numbers is computed over rows without gaps. Plain C. */
#ifndef CC_KERNELS_COMPLEX_STEP_PLAN_H
#define CC_KERNELS_COMPLEX_STEP_PLAN_H

#include "kernels/evaluate_shallow_plan.h"
#include "kernels/step_math.h"

/* Threads take units of 16 bytes of complex numbers, and what belongs to them of real ones; see cc__complex_unit(). */
#define CC__COMPLEX_NARROW_UNIT 2
#define CC__COMPLEX_WIDE_UNIT 1
#define CC__COMPLEX_UNITS 2 /* of a thread, loaded before it goes on; of two sources, and of any */

typedef struct cc__complex_plan {
    unsigned char *to; /* the first unit, also in `from` */
    const unsigned char *from[2];
    cc__units units;
    double a; /* operands that are numbers */
    double b;
    int32_t kind; /* of the step; LOAD: none */
    int32_t reals;
    int32_t a_is_y; /* operands are `a` and `b` or the second source */
    int32_t b_is_y;
    int32_t to_is_real;
    int32_t from_is_real[2];
    int32_t source_count;
    int32_t is_wide; /* parts are float64 */
} cc__complex_plan;

static inline bool cc__complex_has_type(cc_pixel_type type, bool is_wide)
{
    return is_wide ? type == CC_PIXEL_COMPLEX128 || type == CC_PIXEL_FLOAT64
                   : type == CC_PIXEL_COMPLEX64 || type == CC_PIXEL_FLOAT32;
}

static inline int32_t cc__complex_is_real(cc_pixel_type type)
{
    return type == CC_PIXEL_FLOAT32 || type == CC_PIXEL_FLOAT64;
}

/* Whether complex numbers can do the step; others order real values. */
static inline bool cc__complex_has_step(int32_t kind)
{
    switch (kind) {
#define CC__COMPLEX_HAS(NAME) case CC_STEP_##NAME:
        CC__FOR_EACH_COMPLEX_STEP(CC__COMPLEX_HAS)
#undef CC__COMPLEX_HAS
        return true;
    }
    return kind == CC_STEP_LOAD;
}

/* Whether complex numbers are all there is: the sources, and the result where the step's is complex. */
static inline bool cc__complex_is_direct(const cc__complex_plan *plan)
{
    if (plan->from_is_real[0] != 0 || plan->from_is_real[1] != 0 || (plan->reals & CC__VALUE_IS_REAL) != 0)
        return false;
    switch (plan->kind) {
    case CC_STEP_MULTIPLY:
    case CC_STEP_DIVIDE:
        return plan->to_is_real == 0 && plan->a_is_y != 0 && (plan->reals & CC__A_IS_REAL) == 0;
    case CC_STEP_SQUARE:
    case CC_STEP_CONJUGATE:
        return plan->to_is_real == 0;
    case CC_STEP_REAL:
    case CC_STEP_IMAGINARY:
    case CC_STEP_ABSOLUTE:
    case CC_STEP_ARGUMENT:
        return plan->to_is_real != 0;
    }
    return false;
}

/* Results of 16 bytes are quicker to write than of 8, where a kernel does not do everything. */
static inline int64_t cc__complex_unit(const cc__complex_plan *plan)
{
    const int64_t unit = plan->is_wide != 0 ? CC__COMPLEX_WIDE_UNIT : CC__COMPLEX_NARROW_UNIT;
    return plan->to_is_real != 0 && cc__complex_is_direct(plan) ? 2 * unit : unit;
}

/* False when the work is not of this kind. */
static inline bool cc__complex_plan_make(const cc__evaluate *work, const cc__lattice *lattice, cc__complex_plan *plan)
{
    const cc__instruction *step = &work->steps[1];
    const cc__term *loaded = &work->steps[0].a;
    int32_t y = -1;
    if (work->numbers != CC__NUMBERS_COMPLEX || !cc__shallow_is_row(work, lattice) || work->step_count > 2 ||
        loaded->kind != CC__TERM_SOURCE)
        return false;
    memset(plan, 0, sizeof *plan);
    plan->kind = work->step_count > 1 ? step->kind : CC_STEP_LOAD;
    plan->reals = step->reals;
    if (!cc__complex_has_step(plan->kind) || (work->step_count > 1 && plan->kind == CC_STEP_LOAD))
        return false;
    if (plan->kind != CC_STEP_LOAD &&
        (!cc__shallow_take(&step->a, cc__dense_uses_a(step->kind), &y, &plan->a, &plan->a_is_y) ||
         !cc__shallow_take(&step->b, cc__dense_uses_b(step->kind), &y, &plan->b, &plan->b_is_y)))
        return false;

    const int32_t number[2] = {loaded->number, y};
    const void *data[3];
    cc_pixel_type types[3];
    plan->source_count = y >= 0 ? 2 : 1;
    if (!cc__shallow_find(work, lattice, number, plan->source_count, data, types))
        return false;
    plan->is_wide = !cc__complex_has_type(types[0], false);
    for (int32_t n = 0; n <= plan->source_count; n++)
        if (!cc__complex_has_type(types[n], plan->is_wide != 0))
            return false;
    plan->to_is_real = cc__complex_is_real(types[0]);
    for (int32_t n = 0; n < plan->source_count; n++)
        plan->from_is_real[n] = cc__complex_is_real(types[1 + n]);
    if (!cc__units_find(data, types, 1 + plan->source_count, cc__complex_unit(plan), lattice->length, &plan->units))
        return false;
    plan->to = work->destination.data + plan->units.head * lattice->step[0];
    for (int32_t n = 0; n < plan->source_count; n++)
        plan->from[n] = work->sources[number[n]].data + plan->units.head * lattice->step[1 + number[n]];
    return true;
}

#endif
