/* How some steps on rows of 8-bit integers without gaps are computed on the GPU, 4 in a word. Plain C. */
#ifndef CC_KERNELS_EVALUATE_BYTES_PLAN_H
#define CC_KERNELS_EVALUATE_BYTES_PLAN_H

#include "kernels/evaluate_direct_plan.h"
#include "kernels/pixel_math.h"

#include <math.h>

#define CC__BYTES_VECTOR 16 /* what a thread takes */
#define CC__BYTES_EACH UINT32_C(0x01010101)

/* What is done; all of it keeps to integers that the type has. */
typedef enum cc__bytes_form {
    CC__BYTES_NONE = 0,
    CC__BYTES_MINIMUM = 1, /* of x and y */
    CC__BYTES_MAXIMUM = 2,
    CC__BYTES_CLAMP = 3, /* x to lower and upper */
    CC__BYTES_CHOICE = 4 /* one of two values, depending on whether lower <= x <= upper */
} cc__bytes_form;

typedef struct cc__bytes_plan {
    unsigned char *to; /* the first component that is aligned to 16 bytes */
    const unsigned char *x;
    const unsigned char *y;
    int64_t vectors;
    int32_t head;
    int32_t tail;
    uint32_t flip; /* the sign bits of integers with one, without which they are in order as others are */
    uint32_t lower;
    uint32_t upper;
    uint32_t inside;
    uint32_t outside;
} cc__bytes_plan;

/* The four of a value in this type, as they are compared. */
static inline uint32_t cc__bytes_of_value(double value, cc_pixel_type type)
{
    const uint8_t byte = type == CC_PIXEL_INT8 ? (uint8_t)cc__store_INT8(value) : cc__store_UINT8(value);
    return byte * CC__BYTES_EACH;
}

/* Whether the type has integers between the limits; then they are these. */
static inline bool cc__bytes_find_limits(double lower, double upper, cc_pixel_type type, cc__bytes_plan *plan)
{
    const double least = type == CC_PIXEL_INT8 ? INT8_MIN : 0;
    const double greatest = type == CC_PIXEL_INT8 ? INT8_MAX : UINT8_MAX;
    if (!(ceil(lower) <= floor(upper)) || lower > greatest || upper < least)
        return false;
    plan->lower = cc__bytes_of_value(ceil(lower), type);
    plan->upper = cc__bytes_of_value(floor(upper), type);
    return true;
}

static inline cc__bytes_form cc__bytes_find_form(const cc__evaluate *work, cc__bytes_plan *plan)
{
    const cc__instruction *step = &work->steps[1];
    const cc_pixel_type type = work->destination_type;
    if (cc__direct_is_choice(work)) {
        plan->inside = cc__bytes_of_value(work->steps[2].a.value, type);
        plan->outside = cc__bytes_of_value(work->steps[2].b.value, type);
        return cc__bytes_find_limits(step->a.value, step->b.value, type, plan) ? CC__BYTES_CHOICE : CC__BYTES_NONE;
    }
    if (work->step_count != 2)
        return CC__BYTES_NONE;
    switch (step->kind) {
    case CC_STEP_MINIMUM:
        return step->a.kind == CC__TERM_SOURCE ? CC__BYTES_MINIMUM : CC__BYTES_NONE;
    case CC_STEP_MAXIMUM:
        return step->a.kind == CC__TERM_SOURCE ? CC__BYTES_MAXIMUM : CC__BYTES_NONE;
    case CC_STEP_CLAMP:
        /* Rounding keeps the order: the limits may be rounded instead of the result. NaN becomes 0 only there. */
        if (step->a.kind != CC__TERM_VALUE || step->b.kind != CC__TERM_VALUE || isnan(step->a.value) ||
            isnan(step->b.value))
            return CC__BYTES_NONE;
        plan->lower = cc__bytes_of_value(step->a.value, type);
        plan->upper = cc__bytes_of_value(step->b.value, type);
        return CC__BYTES_CLAMP;
    }
    return CC__BYTES_NONE;
}

static inline cc__bytes_form cc__bytes_plan_make(const cc__evaluate *work, const cc__lattice *lattice,
                                                 cc__bytes_plan *plan)
{
    const cc_pixel_type type = work->destination_type;
    const cc__term *loaded = &work->steps[0].a;
    if (work->numbers != CC__NUMBERS_REAL || (type != CC_PIXEL_UINT8 && type != CC_PIXEL_INT8) ||
        loaded->kind != CC__TERM_SOURCE || loaded->number != 0 || work->source_count > 2 || lattice->axes > 0 ||
        lattice->step[0] != 1)
        return CC__BYTES_NONE;
    for (int32_t i = 0; i < work->source_count; i++)
        if (work->sources[i].type != type || lattice->step[1 + i] != 1)
            return CC__BYTES_NONE;
    memset(plan, 0, sizeof *plan);
    const cc__bytes_form form = cc__bytes_find_form(work, plan);
    const bool has_y = form == CC__BYTES_MINIMUM || form == CC__BYTES_MAXIMUM;
    const unsigned char *x = work->sources[0].data;
    const unsigned char *y = has_y ? work->sources[work->steps[1].a.number].data : x;
    const int64_t behind = (int64_t)((uintptr_t)work->destination.data % CC__BYTES_VECTOR);
    if (form == CC__BYTES_NONE || (int64_t)((uintptr_t)x % CC__BYTES_VECTOR) != behind ||
        (int64_t)((uintptr_t)y % CC__BYTES_VECTOR) != behind)
        return CC__BYTES_NONE;
    int64_t head = behind == 0 ? 0 : CC__BYTES_VECTOR - behind;
    head = head < lattice->length ? head : lattice->length;
    plan->head = (int32_t)head;
    plan->vectors = (lattice->length - head) / CC__BYTES_VECTOR;
    plan->tail = (int32_t)((lattice->length - head) % CC__BYTES_VECTOR);
    plan->to = work->destination.data + head;
    plan->x = x + head;
    plan->y = y + head;
    plan->flip = type == CC_PIXEL_INT8 ? 0x80 * CC__BYTES_EACH : 0;
    plan->lower ^= plan->flip;
    plan->upper ^= plan->flip;
    return form;
}

#endif
