/* How one step, or a threshold, on rows of float32 or float64 without gaps is computed on the GPU. Plain C. */
#ifndef CC_KERNELS_EVALUATE_DIRECT_PLAN_H
#define CC_KERNELS_EVALUATE_DIRECT_PLAN_H

#include "base/evaluate.h"
#include "kernels/pixel_math.h"
#include "kernels/tiles.h"

#include <stdbool.h>
#include <string.h>

/*
 * All images have one of the two types. A thread takes a vector of 16 bytes, which was measured to be a little quicker
 * than two. The first and last components, which do not fill a vector, come on their own.
 */
typedef struct cc__direct_plan {
    unsigned char *to; /* the first component that is aligned to 16 bytes */
    const unsigned char *x;
    const unsigned char *y;
    int64_t vectors;
    int32_t head; /* components before it, up to 3 */
    int32_t tail; /* after the last vector */
    double a;
    double b;
    uint64_t inside; /* bits of what a threshold gives */
    uint64_t outside;
} cc__direct_plan;

/* Which forms have kernels of their own. */
typedef enum cc__direct_form {
    CC__DIRECT_NONE = 0,
    CC__DIRECT_TWO = 1,     /* x and y */
    CC__DIRECT_VALUE = 2,   /* x and a, also for steps without operand */
    CC__DIRECT_NUMBERS = 3, /* x, and a and b that are not float32, in float64 */
    CC__DIRECT_AXPY = 4,    /* x * a + y */
    CC__DIRECT_SCALE = 5,   /* x * a + b */
    CC__DIRECT_CHOICE = 6   /* one of two values, depending on whether a <= x <= b */
} cc__direct_form;

static inline bool cc__direct_has_type(const cc__evaluate *work)
{
    if ((work->destination_type != CC_PIXEL_FLOAT32 && work->destination_type != CC_PIXEL_FLOAT64) ||
        work->source_count < 1 || work->source_count > 2)
        return false;
    for (int32_t i = 0; i < work->source_count; i++)
        if (work->sources[i].type != work->destination_type)
            return false;
    return true;
}

/* Whether values are all that the steps of cc_image_threshold() take. */
static inline bool cc__direct_is_choice(const cc__evaluate *work)
{
    const cc__instruction *within = &work->steps[1];
    const cc__instruction *select = &work->steps[2];
    return work->step_count == 3 && within->kind == CC_STEP_WITHIN && within->a.kind == CC__TERM_VALUE &&
           within->b.kind == CC__TERM_VALUE && select->kind == CC_STEP_SELECT && select->a.kind == CC__TERM_VALUE &&
           select->b.kind == CC__TERM_VALUE;
}

static inline cc__direct_form cc__direct_form_of(const cc__evaluate *work)
{
    const cc__instruction *step = &work->steps[1];
    const cc__term *loaded = &work->steps[0].a;
    if (work->numbers != CC__NUMBERS_REAL || !cc__direct_has_type(work) || loaded->kind != CC__TERM_SOURCE ||
        loaded->number != 0)
        return CC__DIRECT_NONE;
    if (work->step_count != 2)
        return cc__direct_is_choice(work) ? CC__DIRECT_CHOICE : CC__DIRECT_NONE;
    switch (step->kind) {
    case CC_STEP_ADD:
    case CC_STEP_SUBTRACT:
    case CC_STEP_MULTIPLY:
    case CC_STEP_DIVIDE:
    case CC_STEP_MINIMUM:
    case CC_STEP_MAXIMUM:
        if (step->a.kind == CC__TERM_VALUE)
            return work->destination_type == CC_PIXEL_FLOAT64 || cc__evaluate_is_float32(work) ? CC__DIRECT_VALUE
                                                                                               : CC__DIRECT_NUMBERS;
        return step->a.kind == CC__TERM_SOURCE ? CC__DIRECT_TWO : CC__DIRECT_NONE;
    case CC_STEP_NEGATE:
    case CC_STEP_ABSOLUTE:
    case CC_STEP_SQUARE:
    case CC_STEP_SQUARE_ROOT:
        return CC__DIRECT_VALUE;
    case CC_STEP_CLAMP:
    case CC_STEP_WITHIN:
        return step->a.kind == CC__TERM_VALUE && step->b.kind == CC__TERM_VALUE ? CC__DIRECT_NUMBERS : CC__DIRECT_NONE;
    case CC_STEP_MULTIPLY_ADD:
        if (step->a.kind != CC__TERM_VALUE)
            return CC__DIRECT_NONE;
        return step->b.kind == CC__TERM_SOURCE  ? CC__DIRECT_AXPY
               : step->b.kind == CC__TERM_VALUE ? CC__DIRECT_SCALE
                                                : CC__DIRECT_NONE;
    }
    return CC__DIRECT_NONE;
}

static inline cc__direct_form cc__direct_plan_make(const cc__evaluate *work, const cc__lattice *lattice,
                                                   cc__direct_plan *plan)
{
    const cc__instruction *step = &work->steps[1];
    const cc__direct_form form = cc__direct_form_of(work);
    const int64_t bytes = work->destination_type == CC_PIXEL_FLOAT64 ? 8 : 4;
    if (form == CC__DIRECT_NONE || lattice->axes > 0 || lattice->step[0] != bytes)
        return CC__DIRECT_NONE;
    for (int32_t i = 0; i < work->source_count; i++)
        if (lattice->step[1 + i] != bytes)
            return CC__DIRECT_NONE;

    memset(plan, 0, sizeof *plan);
    plan->a = step->a.value;
    plan->b = step->b.value;
    if (form == CC__DIRECT_CHOICE) {
        const cc__instruction *select = &work->steps[2];
        plan->inside = bytes == 8 ? cc__store_FLOAT64(select->a.value) : cc__store_FLOAT32(select->a.value);
        plan->outside = bytes == 8 ? cc__store_FLOAT64(select->b.value) : cc__store_FLOAT32(select->b.value);
    }
    const cc__term *other = form == CC__DIRECT_AXPY ? &step->b : &step->a;
    const bool has_y = form == CC__DIRECT_AXPY || form == CC__DIRECT_TWO;
    const unsigned char *x = work->sources[0].data;
    const unsigned char *y = has_y ? work->sources[other->number].data : x;
    const uintptr_t behind = (uintptr_t)work->destination.data % 16;
    if (behind % (uintptr_t)bytes != 0 || (uintptr_t)x % 16 != behind || (uintptr_t)y % 16 != behind)
        return CC__DIRECT_NONE;
    const int64_t of_vector = 16 / bytes;
    int64_t head = behind == 0 ? 0 : (16 - (int64_t)behind) / bytes;
    head = head < lattice->length ? head : lattice->length;
    plan->head = (int32_t)head;
    plan->vectors = (lattice->length - head) / of_vector;
    plan->tail = (int32_t)((lattice->length - head) % of_vector);
    plan->to = work->destination.data + bytes * head;
    plan->x = x + bytes * head;
    plan->y = y + bytes * head;
    return form;
}

#endif
