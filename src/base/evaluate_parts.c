/* Expressions in complex numbers whose parts never meet: those of twice as many real numbers. */
#include "base/components.h"
#include "base/evaluate.h"

static cc_pixel_type part_of(cc_pixel_type type)
{
    return type == CC_PIXEL_COMPLEX64 ? CC_PIXEL_FLOAT32 : CC_PIXEL_FLOAT64;
}

/* All kinds of terms here are complex, as the sources are: only a step with a value's imaginary part of 0 is apart. */
static bool is_complex_term(const cc__term *term)
{
    return term->kind == CC__TERM_SOURCE || term->kind == CC__TERM_SLOT;
}

static bool keeps_parts_apart(const cc__instruction *step)
{
    const bool is_scale = step->a.kind == CC__TERM_VALUE;
    switch ((cc_step_kind)step->kind) {
    case CC_STEP_LOAD:
    case CC_STEP_ADD:
    case CC_STEP_SUBTRACT:
        return is_complex_term(&step->a);
    case CC_STEP_MULTIPLY:
    case CC_STEP_DIVIDE:
        return is_scale;
    case CC_STEP_MULTIPLY_ADD:
        return is_scale && is_complex_term(&step->b);
    case CC_STEP_NEGATE:
        return true;
    case CC_STEP_MINIMUM:
    case CC_STEP_MAXIMUM:
    case CC_STEP_CLAMP:
    case CC_STEP_WITHIN:
    case CC_STEP_LESS:
    case CC_STEP_EQUAL:
    case CC_STEP_SELECT:
    case CC_STEP_ABSOLUTE:
    case CC_STEP_SQUARE:
    case CC_STEP_SQUARE_ROOT:
    case CC_STEP_REAL:
    case CC_STEP_IMAGINARY:
    case CC_STEP_CONJUGATE:
    case CC_STEP_ARGUMENT:
        break;
    }
    return false;
}

/* With one component for all, that one would have to count for every second part; with one pixel, rows have gaps. */
static bool goes_along(const cc__evaluate *work, const cc__source *source)
{
    if (!cc__is_complex(source->type) ||
        (work->components > 1 && source->component_stride != (int64_t)cc_pixel_type_size_bytes(source->type)))
        return false;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        if (work->size[axis] > 1 && source->stride[axis] == 0)
            return false;
    return true;
}

void cc__evaluate_by_parts(cc__evaluate *work)
{
    if (work->numbers != CC__NUMBERS_COMPLEX || !cc__is_complex(work->destination_type))
        return;
    for (int32_t i = 0; i < work->source_count; i++)
        if (!goes_along(work, &work->sources[i]))
            return;
    for (int32_t i = 0; i < work->step_count; i++)
        if (!keeps_parts_apart(&work->steps[i]))
            return;
    work->numbers = CC__NUMBERS_REAL;
    work->destination_type = part_of(work->destination_type);
    work->components *= 2;
    for (int32_t i = 0; i < work->source_count; i++) {
        cc__source *source = &work->sources[i];
        source->type = part_of(source->type);
        source->component_stride = (int64_t)cc_pixel_type_size_bytes(source->type);
    }
    for (int32_t i = 0; i < work->step_count; i++)
        work->steps[i].reals = 0;
}
