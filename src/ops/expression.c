#include "ops/expression.h"

#include "base/components.h"
#include "base/error.h"
#include "kernels/step_math.h"

#include <math.h>
#include <string.h>

/* How many operands each kind of step has. */
static const int32_t operand_counts[] = {
    [CC_STEP_LOAD] = 1,        [CC_STEP_ADD] = 1,     [CC_STEP_SUBTRACT] = 1,  [CC_STEP_MULTIPLY] = 1,
    [CC_STEP_DIVIDE] = 1,      [CC_STEP_MINIMUM] = 1, [CC_STEP_MAXIMUM] = 1,   [CC_STEP_MULTIPLY_ADD] = 2,
    [CC_STEP_CLAMP] = 2,       [CC_STEP_WITHIN] = 2,  [CC_STEP_LESS] = 1,      [CC_STEP_EQUAL] = 1,
    [CC_STEP_SELECT] = 2,      [CC_STEP_NEGATE] = 0,  [CC_STEP_ABSOLUTE] = 0,  [CC_STEP_SQUARE] = 0,
    [CC_STEP_SQUARE_ROOT] = 0, [CC_STEP_REAL] = 0,    [CC_STEP_IMAGINARY] = 0, [CC_STEP_CONJUGATE] = 0,
    [CC_STEP_ARGUMENT] = 0,
};
#define STEP_KINDS ((int32_t)(sizeof operand_counts / sizeof operand_counts[0]))

typedef struct builder {
    const char *function;
    const cc_step *steps;
    int32_t step_count;
    cc_image *const *inputs;
    int32_t input_count;
    const cc_image *output;
    cc__expression *expression;
    bool is_real[CC_MAX_STEPS]; /* the value after each step */
} builder;

static bool is_pixels(const cc_operand *operand)
{
    return operand->kind == CC_OPERAND_IMAGE || operand->kind == CC_OPERAND_COMPONENT ||
           operand->kind == CC_OPERAND_MAGNITUDE;
}

static cc_status check_operand(const builder *b, int32_t step, char name, const cc_operand *operand, bool is_wanted)
{
    if (operand->kind < CC_OPERAND_NONE || operand->kind > CC_OPERAND_STEP ||
        (operand->kind != CC_OPERAND_NONE) != is_wanted)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: steps[%d].%c.kind = %d, expected %s", b->function, step, name,
                        operand->kind, is_wanted ? "an operand" : "no operand");
    if (operand->reserved != 0)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: steps[%d].%c.reserved = %d, expected 0", b->function, step,
                        name, operand->reserved);
    const bool is_image = is_pixels(operand);
    const int32_t most = is_image ? b->input_count : operand->kind == CC_OPERAND_STEP ? step : 1;
    if (operand->number < 0 || operand->number >= most)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: steps[%d].%c.number = %d, expected %s", b->function, step, name,
                        operand->number, is_image ? "one of the inputs" : "an earlier step");
    if (operand->kind == CC_OPERAND_COMPONENT &&
        (operand->component < 0 || operand->component >= b->inputs[operand->number]->components))
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: steps[%d].%c.component = %d, expected 0 to %d", b->function,
                        step, name, operand->component, b->inputs[operand->number]->components - 1);
    return CC_OK;
}

static cc_status check_steps(const builder *b)
{
    for (int32_t i = 0; i < b->step_count; i++) {
        const cc_step *step = &b->steps[i];
        if (step->kind < 0 || step->kind >= STEP_KINDS || (i == 0 && step->kind != CC_STEP_LOAD))
            return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: steps[%d].kind = %d, expected %s", b->function, i,
                            step->kind, i == 0 ? "CC_STEP_LOAD" : "a cc_step_kind");
        if (step->reserved != 0)
            return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: steps[%d].reserved = %d, expected 0", b->function, i,
                            step->reserved);
        cc_status status = check_operand(b, i, 'a', &step->a, operand_counts[step->kind] > 0);
        if (status == CC_OK)
            status = check_operand(b, i, 'b', &step->b, operand_counts[step->kind] > 1);
        if (status != CC_OK)
            return status;
    }
    return CC_OK;
}

static cc_status check_arguments(const builder *b)
{
    if (b->steps == NULL || b->output == NULL || (b->inputs == NULL && b->input_count > 0))
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected %s", b->function,
                        b->steps == NULL    ? "steps"
                        : b->output == NULL ? "output"
                                            : "inputs",
                        b->steps == NULL    ? "a list of steps"
                        : b->output == NULL ? "an image"
                                            : "images");
    if (b->step_count < 1 || b->step_count > CC_MAX_STEPS)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: step_count = %d, expected 1 to %d", b->function, b->step_count,
                        CC_MAX_STEPS);
    if (b->input_count < 0 || b->input_count > CC_MAX_INPUTS)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: input_count = %d, expected 0 to %d", b->function,
                        b->input_count, CC_MAX_INPUTS);
    for (int32_t i = 0; i < b->input_count; i++)
        if (b->inputs[i] == NULL)
            return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: inputs[%d] = NULL, expected an image", b->function, i);
    return CC_OK;
}

static bool is_same_pixels(const cc_image *a, const cc_image *b)
{
    return a->manager == b->manager && cc__box_equal(&a->box, &b->box);
}

/* One operand that is pixels: whether they fit. */
static cc_status check_fit(const builder *b, const cc_operand *operand)
{
    const cc_image *input = b->inputs[operand->number];
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        if (input->box.size[axis] != b->output->box.size[axis] && input->box.size[axis] != 1)
            return cc__fail(CC_ERROR_SIZE, "%s: inputs[%d] has size[%d] = %lld, expected the output's %lld, or 1",
                            b->function, operand->number, axis, (long long)input->box.size[axis],
                            (long long)b->output->box.size[axis]);
    if (operand->kind == CC_OPERAND_IMAGE && input->components != b->output->components && input->components != 1)
        return cc__fail(CC_ERROR_SIZE, "%s: inputs[%d] has %d components, expected the output's %d, or 1", b->function,
                        operand->number, input->components, b->output->components);
    if (input->manager == b->output->manager && cc__box_overlaps(&input->box, &b->output->box) &&
        !is_same_pixels(input, b->output))
        return cc__fail(CC_ERROR_BUSY, "%s: output overlaps inputs[%d], expected the same pixels or others",
                        b->function, operand->number);
    if (is_same_pixels(input, b->output) && operand->kind != CC_OPERAND_IMAGE && input->components > 1)
        return cc__fail(CC_ERROR_BUSY,
                        "%s: inputs[%d] is the output, expected others for what takes several components", b->function,
                        operand->number);
    return CC_OK;
}

/* What the images and steps allow. */
typedef struct survey {
    bool is_complex;
    bool is_whole; /* nothing but whole numbers, and steps that keep them */
    bool is_wide;  /* some of 64 bits */
} survey;

static void survey_type(survey *found, cc_pixel_type type)
{
    found->is_complex = found->is_complex || cc__is_complex(type);
    found->is_whole = found->is_whole && type <= CC_PIXEL_INT64;
    found->is_wide = found->is_wide || type == CC_PIXEL_UINT64 || type == CC_PIXEL_INT64;
}

/* The rule of cudacommon/expression.h. */
static cc__numbers choose_numbers(const builder *b)
{
    survey found = {.is_whole = true};
    survey_type(&found, b->output->pixel_type);
    for (int32_t i = 0; i < b->step_count; i++) {
        const cc_step *step = &b->steps[i];
        const cc_operand *operands[] = {&step->a, &step->b};
        found.is_whole = found.is_whole && step->kind != CC_STEP_SQUARE_ROOT && step->kind != CC_STEP_ARGUMENT;
        for (int32_t j = 0; j < 2; j++) {
            const cc_operand *operand = operands[j];
            if (is_pixels(operand))
                survey_type(&found, b->inputs[operand->number]->pixel_type);
            if (operand->kind == CC_OPERAND_MAGNITUDE ||
                (operand->kind == CC_OPERAND_VALUE && operand->value != nearbyint(operand->value)))
                found.is_whole = false;
        }
    }
    if (found.is_complex)
        return CC__NUMBERS_COMPLEX;
    return found.is_whole && found.is_wide ? CC__NUMBERS_WHOLE : CC__NUMBERS_REAL;
}

static cc_status find_source(const builder *b, const cc_operand *operand, int32_t *out_number)
{
    cc__evaluate *work = &b->expression->work;
    const cc_image *input = b->inputs[operand->number];
    const int64_t component_bytes = (int64_t)cc_pixel_type_size_bytes(input->pixel_type);
    const bool is_by_component = operand->kind == CC_OPERAND_IMAGE && input->components > 1;
    const int64_t offset = operand->kind == CC_OPERAND_COMPONENT ? operand->component * component_bytes : 0;
    for (int32_t i = 0; i < work->source_count; i++) {
        if (b->expression->input[i] == operand->number && b->expression->is_by_component[i] == is_by_component &&
            b->expression->offset_bytes[i] == offset) {
            *out_number = i;
            return CC_OK;
        }
    }
    if (work->source_count == CC__MAX_SOURCES)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: steps take more than %d different images and components",
                        b->function, CC__MAX_SOURCES);
    const int32_t number = work->source_count++;
    cc__source *source = &work->sources[number];
    source->type = input->pixel_type;
    source->components = 1;
    source->component_stride = is_by_component ? component_bytes : 0;
    b->expression->input[number] = operand->number;
    b->expression->offset_bytes[number] = offset;
    b->expression->is_by_component[number] = is_by_component;
    *out_number = number;
    return CC_OK;
}

static int32_t slot_of(const builder *b, int32_t step)
{
    return b->expression->work.steps[step].slot;
}

static cc_status make_term(const builder *b, const cc_operand *operand, cc__term *out_term, bool *out_is_real)
{
    cc_status status = CC_OK;
    *out_is_real = true;
    switch ((cc_operand_kind)operand->kind) {
    case CC_OPERAND_NONE:
        out_term->kind = CC__TERM_NONE;
        break;
    case CC_OPERAND_IMAGE:
    case CC_OPERAND_COMPONENT:
    case CC_OPERAND_MAGNITUDE:
        status = check_fit(b, operand);
        if (status == CC_OK)
            status = find_source(b, operand, &out_term->number);
        if (status == CC_OK && operand->kind == CC_OPERAND_MAGNITUDE)
            b->expression->work.sources[out_term->number].components = b->inputs[operand->number]->components;
        out_term->kind = operand->kind == CC_OPERAND_MAGNITUDE ? CC__TERM_MAGNITUDE : CC__TERM_SOURCE;
        *out_is_real = operand->kind == CC_OPERAND_MAGNITUDE || !cc__is_complex(b->inputs[operand->number]->pixel_type);
        break;
    case CC_OPERAND_VALUE:
        out_term->kind = CC__TERM_VALUE;
        out_term->value = operand->value;
        break;
    case CC_OPERAND_STEP:
        out_term->kind = CC__TERM_SLOT;
        out_term->number = slot_of(b, operand->number);
        *out_is_real = b->is_real[operand->number];
        break;
    }
    return status;
}

/* Values that a later step asks for get slots. */
static void choose_slots(const builder *b)
{
    int32_t slots = 0;
    for (int32_t i = 0; i < b->step_count; i++)
        b->expression->work.steps[i].slot = -1;
    for (int32_t i = 0; i < b->step_count; i++) {
        const cc_operand *operands[] = {&b->steps[i].a, &b->steps[i].b};
        for (int32_t j = 0; j < 2; j++) {
            if (operands[j]->kind == CC_OPERAND_STEP && slot_of(b, operands[j]->number) < 0)
                b->expression->work.steps[operands[j]->number].slot = slots++;
        }
    }
}

static cc_status fail_complex(const builder *b, int32_t step)
{
    return cc__fail(CC_ERROR_PIXEL_TYPE,
                    "%s: steps[%d] orders complex values or takes their square root, expected real ones", b->function,
                    step);
}

/* Whether the new value is real, given whether the old one and the operands are. */
static cc_status follow_kind(builder *b, int32_t i, bool value, bool first, bool second)
{
    bool is_real = value;
    switch ((cc_step_kind)b->steps[i].kind) {
    case CC_STEP_LOAD:
        is_real = first;
        break;
    case CC_STEP_ADD:
    case CC_STEP_SUBTRACT:
    case CC_STEP_MULTIPLY:
    case CC_STEP_DIVIDE:
        is_real = value && first;
        break;
    case CC_STEP_MULTIPLY_ADD:
        is_real = value && first && second;
        break;
    case CC_STEP_SELECT:
        is_real = first && second;
        break;
    case CC_STEP_MINIMUM:
    case CC_STEP_MAXIMUM:
    case CC_STEP_CLAMP:
    case CC_STEP_WITHIN:
    case CC_STEP_LESS:
    case CC_STEP_SQUARE_ROOT:
        if (!value || !first || !second)
            return fail_complex(b, i);
        break;
    case CC_STEP_NEGATE:
    case CC_STEP_SQUARE:
    case CC_STEP_CONJUGATE:
        break;
    case CC_STEP_EQUAL:
    case CC_STEP_ABSOLUTE:
    case CC_STEP_REAL:
    case CC_STEP_IMAGINARY:
    case CC_STEP_ARGUMENT:
        is_real = true;
        break;
    }
    b->is_real[i] = is_real;
    return CC_OK;
}

static cc_status make_instructions(builder *b)
{
    choose_slots(b);
    for (int32_t i = 0; i < b->step_count; i++) {
        cc__instruction *made = &b->expression->work.steps[i];
        const bool value = i == 0 || b->is_real[i - 1];
        bool first = true, second = true;
        made->kind = b->steps[i].kind;
        cc_status status = make_term(b, &b->steps[i].a, &made->a, &first);
        if (status == CC_OK)
            status = make_term(b, &b->steps[i].b, &made->b, &second);
        if (status == CC_OK)
            status = follow_kind(b, i, value, first, second);
        if (status != CC_OK)
            return status;
        made->reals = (value ? CC__VALUE_IS_REAL : 0) | (first ? CC__A_IS_REAL : 0);
    }
    return CC_OK;
}

cc_status cc__expression_check(const char *function, const cc_step *steps, int32_t step_count, cc_image *const *inputs,
                               int32_t input_count, const cc_image *output, cc__expression *out_expression)
{
    builder b = {.function = function,
                 .steps = steps,
                 .step_count = step_count,
                 .inputs = inputs,
                 .input_count = input_count,
                 .output = output,
                 .expression = out_expression};
    memset(out_expression, 0, sizeof *out_expression);
    cc_status status = check_arguments(&b);
    if (status == CC_OK)
        status = check_steps(&b);
    if (status != CC_OK)
        return status;
    cc__evaluate *work = &out_expression->work;
    work->destination_type = output->pixel_type;
    work->components = output->components;
    memcpy(work->size, output->box.size, sizeof work->size);
    work->numbers = choose_numbers(&b);
    work->step_count = step_count;
    status = make_instructions(&b);
    if (status == CC_OK && cc__image_is_read_only(output))
        status = cc__fail(CC_ERROR_READ_ONLY, "%s: the output's pixels were wrapped read-only", function);
    return status;
}
