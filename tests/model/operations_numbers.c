/* Operations on pixels that lie at the same place, and those that make few numbers of many. */
#include "operation.h"

#include "steps.h"

#include <math.h>
#include <string.h>

#define MOST_BINS 8

static bool is_alike(const model_image *a, const model_image *b)
{
    return memcmp(a->region.size, b->region.size, sizeof a->region.size) == 0 &&
           a->kind.components == b->kind.components;
}

/* One pixel along an axis, or one component, counts for all. */
static bool fits(const model_image *input, const model_image *output)
{
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        if (input->region.size[axis] != output->region.size[axis] && input->region.size[axis] != 1)
            return false;
    return input->kind.components == output->kind.components || input->kind.components == 1;
}

static void add_step(model_operation *operation, cc_step_kind kind, cc_operand a, cc_operand b)
{
    operation->steps[operation->step_count++] = (cc_step){.kind = kind, .a = a, .b = b};
}

static cc_operand operand_of(cc_operand_kind kind, int32_t number, double value)
{
    return (cc_operand){.value = value, .kind = kind, .number = number};
}

/* The values stay small, whatever becomes of them later. */
static void make_steps(random_source *random, model_operation *operation)
{
    static const cc_step_kind joins[] = {CC_STEP_ADD,     CC_STEP_SUBTRACT,     CC_STEP_MINIMUM,
                                         CC_STEP_MAXIMUM, CC_STEP_MULTIPLY_ADD, CC_STEP_LESS};
    const cc_operand none = operand_of(CC_OPERAND_NONE, 0, 0);
    add_step(operation, CC_STEP_LOAD, operand_of(CC_OPERAND_IMAGE, 0, 0), none);
    for (int32_t i = 1; i < operation->input_count; i++) {
        const cc_step_kind kind = joins[random_below(random, 6)];
        const cc_operand image = operand_of(CC_OPERAND_IMAGE, i, 0);
        if (kind == CC_STEP_MULTIPLY_ADD)
            add_step(operation, kind, operand_of(CC_OPERAND_VALUE, 0, 0.5), image);
        else
            add_step(operation, kind, image, none);
    }
    if (random_chance(random, 50))
        add_step(operation, CC_STEP_ADD, operand_of(CC_OPERAND_STEP, 0, 0), none);
    add_step(operation, CC_STEP_CLAMP, operand_of(CC_OPERAND_VALUE, 0, -8192), operand_of(CC_OPERAND_VALUE, 0, 8191));
}

static bool prepare_evaluate(model_world *world, model_operation *operation)
{
    model_image *output = operation_pick(world);
    if (output == NULL)
        return false;
    operation_write(operation, output);
    const int32_t wanted = 1 + (int32_t)random_below(&world->random, OPERATION_INPUTS);
    for (int32_t tries = 0; tries < 12 && operation->input_count < wanted; tries++) {
        model_image *input = tries == 0 && random_chance(&world->random, 30) ? output : world_pick_image(world);
        if (oracle_box_count(&input->box) > 0 && fits(input, output))
            operation_read(operation, input);
    }
    if (operation->input_count == 0)
        return false;
    make_steps(&world->random, operation);
    for (int32_t i = 0; i < operation->input_count; i++)
        operation->errors |= value_is_complex(operation->inputs[i]->kind.type) ? STATUS(CC_ERROR_PIXEL_TYPE) : 0;
    operation->call = FAULTY_RUN_KERNEL;
    operation->calls = 1;
    return true;
}

static cc_status run_evaluate(model_operation *operation, cc_image *const inputs[], cc_image *output, cc_stream stream)
{
    return cc_image_evaluate(operation->steps, operation->step_count, inputs, operation->input_count, output, stream);
}

static double lesser(double a, double b)
{
    return a < b || (a == b && signbit(a) != 0) ? a : b;
}

static double greater(double a, double b)
{
    return a > b || (a == b && signbit(b) != 0) ? a : b;
}

static double step_value(const cc_step *step, double value, double a, double b)
{
    switch ((cc_step_kind)step->kind) {
    case CC_STEP_LOAD:
        return a;
    case CC_STEP_ADD:
        return value + a;
    case CC_STEP_SUBTRACT:
        return value - a;
    case CC_STEP_MINIMUM:
        return lesser(value, a);
    case CC_STEP_MAXIMUM:
        return greater(value, a);
    case CC_STEP_MULTIPLY_ADD:
        return value * a + b;
    case CC_STEP_LESS:
        return value < a;
    case CC_STEP_CLAMP:
        return lesser(greater(value, a), b);
    case CC_STEP_MULTIPLY:
    case CC_STEP_DIVIDE:
    case CC_STEP_WITHIN:
    case CC_STEP_EQUAL:
    case CC_STEP_SELECT:
    case CC_STEP_NEGATE:
    case CC_STEP_ABSOLUTE:
    case CC_STEP_SQUARE:
    case CC_STEP_SQUARE_ROOT:
    case CC_STEP_REAL:
    case CC_STEP_IMAGINARY:
    case CC_STEP_CONJUGATE:
    case CC_STEP_ARGUMENT:
        break;
    }
    return NAN;
}

/* Where one pixel or component counts for all, it is the first. */
static double operand_value(const cc_operand *operand, const operation_pixels inputs[], const double values[],
                            const int64_t at[CC_MAX_DIMENSION], int32_t component)
{
    if (operand->kind == CC_OPERAND_VALUE)
        return operand->value;
    if (operand->kind == CC_OPERAND_STEP)
        return values[operand->number];
    if (operand->kind != CC_OPERAND_IMAGE)
        return 0;
    const operation_pixels *input = &inputs[operand->number];
    int64_t from[CC_MAX_DIMENSION];
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        from[axis] = input->size[axis] == 1 ? 0 : at[axis];
    return pixels_get(input, from, input->kind.components == 1 ? 0 : component);
}

static bool expect_evaluate(const model_operation *operation, const operation_pixels inputs[], operation_pixels *output,
                            double *out_result)
{
    (void)out_result;
    for (int64_t pixel = 0; pixel < output->count; pixel++) {
        int64_t at[CC_MAX_DIMENSION];
        pixels_locate(output, pixel, at);
        for (int32_t component = 0; component < output->kind.components; component++) {
            double values[OPERATION_STEPS];
            for (int32_t i = 0; i < operation->step_count; i++) {
                const cc_step *step = &operation->steps[i];
                values[i] =
                    step_value(step, i > 0 ? values[i - 1] : 0, operand_value(&step->a, inputs, values, at, component),
                               operand_value(&step->b, inputs, values, at, component));
            }
            pixels_set(output, at, component, values[operation->step_count - 1]);
        }
    }
    return true;
}

const operation_kind operation_evaluate = {
    .name = "evaluate", .prepare = prepare_evaluate, .run = run_evaluate, .expect = expect_evaluate};

/* One pixel of numbers, or a line of bins: one that is there, or a new one. */
static model_image *pick_result(model_world *world, cc_pixel_type type, int32_t components, int64_t most)
{
    for (int32_t tries = 0; tries < 6; tries++) {
        model_image *image = world_pick_image(world);
        const int64_t count = image != NULL ? oracle_box_count(&image->box) : 0;
        if (count > 0 && count <= most && count == image->region.size[0] && image->kind.type == type &&
            image->kind.components == components)
            return image;
    }
    const int64_t size = 1 + random_below(&world->random, most);
    return step_create_of(world, (value_kind){type, components}, 1, &size);
}

/* Chooses what is reduced, and the second image of a product. */
static bool prepare_inputs(model_world *world, model_operation *operation)
{
    model_image *input = operation_pick(world);
    if (input == NULL)
        return false;
    operation_read(operation, input);
    operation->choice = (int32_t)random_below(&world->random, CC_REDUCE_DOT + 1);
    for (int32_t tries = 0; operation->choice == CC_REDUCE_DOT && operation->input_count < 2; tries++) {
        model_image *second = tries == 8 ? input : world_pick_image(world);
        if (is_alike(second, input))
            operation_read(operation, second);
    }
    operation->call = FAULTY_RUN_KERNEL;
    operation->calls = 1;
    operation->scratch = 1;
    operation->scratch_is_little = true;
    return true;
}

static bool prepare_reduce(model_world *world, model_operation *operation)
{
    if (!prepare_inputs(world, operation))
        return false;
    const value_kind kind = operation->inputs[0]->kind;
    const int32_t components = random_chance(&world->random, 50) ? kind.components : 1;
    model_image *output = pick_result(world, CC_PIXEL_FLOAT64, components, 1);
    if (output == NULL)
        return false;
    operation_write(operation, output);
    operation->apart = operation->input_count;
    const bool is_norm = operation->choice == CC_REDUCE_NORM;
    operation->errors = operation_is_complex(operation) && !is_norm ? STATUS(CC_ERROR_PIXEL_TYPE) : 0;
    return true;
}

static cc_status run_reduce(model_operation *operation, cc_image *const inputs[], cc_image *output, cc_stream stream)
{
    return cc_image_reduce((cc_reduction)operation->choice, inputs[0], operation->input_count > 1 ? inputs[1] : NULL,
                           output, stream);
}

/* Over one component, or over all of them. False for what is not just a sum. */
static bool reduce(cc_reduction reduction, const operation_pixels inputs[], int32_t first, int32_t end,
                   double *out_result)
{
    double sum = 0, squares = 0, products = 0, least = INFINITY, greatest = -INFINITY;
    for (int64_t pixel = 0; pixel < inputs[0].count; pixel++) {
        int64_t at[CC_MAX_DIMENSION];
        pixels_locate(&inputs[0], pixel, at);
        for (int32_t component = first; component < end; component++) {
            const double value = pixels_get(&inputs[0], at, component);
            sum += value;
            squares += value * value;
            least = lesser(least, value);
            greatest = greater(greatest, value);
            if (reduction == CC_REDUCE_DOT)
                products += value * pixels_get(&inputs[1], at, component);
        }
    }
    switch (reduction) {
    case CC_REDUCE_SUM:
        *out_result = sum;
        return true;
    case CC_REDUCE_MEAN:
        *out_result = sum / (double)(inputs[0].count * (end - first));
        return true;
    case CC_REDUCE_MINIMUM:
        *out_result = least;
        return true;
    case CC_REDUCE_MAXIMUM:
        *out_result = greatest;
        return true;
    case CC_REDUCE_NORM:
        *out_result = sqrt(squares);
        return true;
    case CC_REDUCE_DOT:
        *out_result = products;
        return true;
    case CC_REDUCE_VARIANCE:
        break;
    }
    return false;
}

static bool expect_reduce(const model_operation *operation, const operation_pixels inputs[], operation_pixels *output,
                          double *out_result)
{
    static const int64_t only[CC_MAX_DIMENSION] = {0, 0, 0, 0};
    const int32_t components = inputs[0].kind.components;
    const int32_t results = output->count > 0 ? output->kind.components : 1;
    for (int32_t i = 0; i < operation->input_count; i++)
        if (!pixels_are_simple(&inputs[i]))
            return false;
    for (int32_t i = 0; i < results; i++) {
        const bool is_one = results == 1;
        if (!reduce((cc_reduction)operation->choice, inputs, is_one ? 0 : i, is_one ? components : i + 1, out_result))
            return false;
        if (output->count > 0)
            pixels_set(output, only, i, *out_result);
    }
    return true;
}

const operation_kind operation_reduce = {
    .name = "reduce", .prepare = prepare_reduce, .run = run_reduce, .expect = expect_reduce};

static bool prepare_measure(model_world *world, model_operation *operation)
{
    /* The temporary image would need room, too. */
    if (world->pressure != NULL || !prepare_inputs(world, operation))
        return false;
    const bool is_norm = operation->choice == CC_REDUCE_NORM;
    operation->errors = operation_is_complex(operation) && !is_norm ? STATUS(CC_ERROR_PIXEL_TYPE) : 0;
    return true;
}

static cc_status run_measure(model_operation *operation, cc_image *const inputs[], cc_image *output, cc_stream stream)
{
    (void)output;
    return cc_image_measure((cc_reduction)operation->choice, inputs[0], operation->input_count > 1 ? inputs[1] : NULL,
                            stream, &operation->result);
}

const operation_kind operation_measure = {
    .name = "measure", .prepare = prepare_measure, .run = run_measure, .expect = expect_reduce};

static bool prepare_histogram(model_world *world, model_operation *operation)
{
    model_image *input = operation_pick(world);
    model_image *output = input != NULL ? pick_result(world, CC_PIXEL_UINT64, 1, MOST_BINS) : NULL;
    if (output == NULL)
        return false;
    operation_read(operation, input);
    operation_write(operation, output);
    operation->apart = 1;
    operation->errors = operation_is_complex(operation) ? STATUS(CC_ERROR_PIXEL_TYPE) : 0;
    if (output->pixels->oracle->is_wrapped && output->region.size[0] > 1)
        return false; /* bins side by side are a condition of their own */
    operation->numbers[0] = -(double)(1 << random_below(&world->random, 14));
    operation->numbers[1] = (double)(1 << random_below(&world->random, 14));
    operation->call = FAULTY_RUN_KERNEL;
    operation->calls = 1;
    operation->scratch = 1;
    operation->scratch_is_little = true;
    return true;
}

static cc_status run_histogram(model_operation *operation, cc_image *const inputs[], cc_image *output, cc_stream stream)
{
    return cc_image_histogram(inputs[0], operation->numbers[0], operation->numbers[1], output, stream);
}

static bool expect_histogram(const model_operation *operation, const operation_pixels inputs[],
                             operation_pixels *output, double *out_result)
{
    const double lower = operation->numbers[0], upper = operation->numbers[1];
    double counts[MOST_BINS] = {0};
    (void)out_result;
    for (int64_t pixel = 0; pixel < inputs[0].count; pixel++) {
        int64_t at[CC_MAX_DIMENSION];
        pixels_locate(&inputs[0], pixel, at);
        for (int32_t component = 0; component < inputs[0].kind.components; component++) {
            const double value = pixels_get(&inputs[0], at, component);
            const double bin = floor((value - lower) * ((double)output->count / (upper - lower)));
            if (value >= lower && value <= upper)
                counts[(int64_t)lesser(bin, (double)(output->count - 1))]++;
        }
    }
    for (int64_t bin = 0; bin < output->count; bin++)
        pixels_set(output, (const int64_t[CC_MAX_DIMENSION]){bin, 0, 0, 0}, 0, counts[bin]);
    return true;
}

const operation_kind operation_histogram = {
    .name = "histogram", .prepare = prepare_histogram, .run = run_histogram, .expect = expect_histogram};
