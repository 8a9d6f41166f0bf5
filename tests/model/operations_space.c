/* Derivatives, smoothing and convolution: each pixel from its neighbours. */
#include "operation.h"

#include "steps.h"

#include <math.h>
#include <string.h>

#define MOST_WEIGHTS 5
/* Of what a transform may be off, for results that are rounded to whole numbers. */
#define MOST_ERROR 0.2

static int32_t axes_in_space(const model_image *image)
{
    return image->dimension < 3 ? image->dimension : 3;
}

/* Input and output of one size, with so many components. */
static bool choose_images(model_world *world, model_operation *operation, model_image *input, int32_t components)
{
    model_image *output = operation_pick_output(world, input->dimension, input->region.size, components,
                                                operation->apart > 0 ? input : NULL);
    if (output == NULL)
        return false;
    operation_read(operation, input);
    operation_write(operation, output);
    operation->errors = operation_is_complex(operation) ? STATUS(CC_ERROR_PIXEL_TYPE) : 0;
    operation->call = FAULTY_RUN_KERNEL;
    operation->calls = 1;
    return true;
}

/* One that has as many components as a vector in its space, or 1. */
static model_image *pick_with_components(model_world *world, bool has_vectors)
{
    for (int32_t tries = 0; tries < 12; tries++) {
        model_image *image = operation_pick(world);
        if (image != NULL && image->kind.components == (has_vectors ? axes_in_space(image) : 1))
            return image;
    }
    return NULL;
}

static bool prepare_gradient(model_world *world, model_operation *operation)
{
    model_image *input = pick_with_components(world, false);
    operation->choice = (int32_t)random_below(&world->random, CC_DIFFERENCE_BACKWARD + 1);
    operation->apart = 1;
    return input != NULL && choose_images(world, operation, input, axes_in_space(input));
}

static bool prepare_divergence(model_world *world, model_operation *operation)
{
    model_image *input = pick_with_components(world, true);
    operation->choice = (int32_t)random_below(&world->random, CC_DIFFERENCE_BACKWARD + 1);
    operation->apart = 1;
    return input != NULL && choose_images(world, operation, input, 1);
}

static bool prepare_laplacian(model_world *world, model_operation *operation)
{
    model_image *input = operation_pick(world);
    operation->apart = 1;
    return input != NULL && choose_images(world, operation, input, input->kind.components);
}

static cc_status run_gradient(model_operation *operation, cc_image *const inputs[], cc_image *output, cc_stream stream)
{
    return cc_image_gradient(inputs[0], (cc_difference)operation->choice, CC_DERIVATIVE_IGNORE_SPACING, output, stream);
}

static cc_status run_divergence(model_operation *operation, cc_image *const inputs[], cc_image *output,
                                cc_stream stream)
{
    return cc_image_divergence(inputs[0], (cc_difference)operation->choice, CC_DERIVATIVE_IGNORE_SPACING, output,
                               stream);
}

static cc_status run_laplacian(model_operation *operation, cc_image *const inputs[], cc_image *output, cc_stream stream)
{
    (void)operation;
    return cc_image_laplacian(inputs[0], CC_DERIVATIVE_IGNORE_SPACING, output, stream);
}

/* The pixel some steps along an axis; where there is none, the nearest. */
static double beside(const operation_pixels *pixels, const int64_t at[CC_MAX_DIMENSION], int32_t axis, int64_t step,
                     int32_t component)
{
    int64_t there[CC_MAX_DIMENSION];
    memcpy(there, at, sizeof there);
    there[axis] += step;
    if (there[axis] < 0)
        there[axis] = 0;
    if (there[axis] >= pixels->size[axis])
        there[axis] = pixels->size[axis] - 1;
    return pixels_get(pixels, there, component);
}

/* At an edge the differences that have no neighbour are 0, as the nearest pixel's; the divergence has its own. */
static double difference(const operation_pixels *pixels, const int64_t at[CC_MAX_DIMENSION], int32_t axis,
                         cc_difference kind, int32_t component)
{
    const double before = beside(pixels, at, axis, -1, component), here = beside(pixels, at, axis, 0, component),
                 after = beside(pixels, at, axis, 1, component);
    const bool is_edge = at[axis] == 0 || at[axis] == pixels->size[axis] - 1;
    switch (kind) {
    case CC_DIFFERENCE_CENTRAL:
        return (after - before) / 2;
    case CC_DIFFERENCE_CENTRAL_ONE_SIDED:
        return is_edge ? after - before : (after - before) / 2;
    case CC_DIFFERENCE_FORWARD:
        return after - here;
    case CC_DIFFERENCE_BACKWARD:
        break;
    }
    return here - before;
}

static bool expect_gradient(const model_operation *operation, const operation_pixels inputs[], operation_pixels *output,
                            double *out_result)
{
    (void)out_result;
    if (!pixels_are_simple(&inputs[0]))
        return false;
    for (int64_t pixel = 0; pixel < output->count; pixel++) {
        int64_t at[CC_MAX_DIMENSION];
        pixels_locate(output, pixel, at);
        for (int32_t axis = 0; axis < output->kind.components; axis++)
            pixels_set(output, at, axis, difference(&inputs[0], at, axis, (cc_difference)operation->choice, 0));
    }
    return true;
}

/* Such that it is the negative adjoint of the gradient: what flows in at one end and out at the other is nothing. */
static double inflow(const operation_pixels *pixels, const int64_t at[CC_MAX_DIMENSION], int32_t axis,
                     cc_difference kind)
{
    const int64_t size = pixels->size[axis];
    const bool is_first = at[axis] == 0, is_last = at[axis] == size - 1;
    if (kind != CC_DIFFERENCE_FORWARD && kind != CC_DIFFERENCE_BACKWARD)
        return difference(pixels, at, axis, kind, axis);
    if (size == 1)
        return 0;
    if (kind == CC_DIFFERENCE_BACKWARD)
        return (is_last ? 0 : beside(pixels, at, axis, 0, axis)) - (is_first ? 0 : beside(pixels, at, axis, -1, axis));
    return (is_last ? 0 : beside(pixels, at, axis, 1, axis)) - (is_first ? 0 : beside(pixels, at, axis, 0, axis));
}

static bool expect_divergence(const model_operation *operation, const operation_pixels inputs[],
                              operation_pixels *output, double *out_result)
{
    (void)out_result;
    if (!pixels_are_simple(&inputs[0]))
        return false;
    for (int64_t pixel = 0; pixel < output->count; pixel++) {
        int64_t at[CC_MAX_DIMENSION];
        double sum = 0;
        pixels_locate(output, pixel, at);
        for (int32_t axis = 0; axis < inputs[0].kind.components; axis++)
            sum += inflow(&inputs[0], at, axis, (cc_difference)operation->choice);
        pixels_set(output, at, 0, sum);
    }
    return true;
}

static bool expect_laplacian(const model_operation *operation, const operation_pixels inputs[],
                             operation_pixels *output, double *out_result)
{
    (void)out_result;
    if (!pixels_are_simple(&inputs[0]))
        return false;
    for (int64_t pixel = 0; pixel < output->count; pixel++) {
        int64_t at[CC_MAX_DIMENSION];
        pixels_locate(output, pixel, at);
        for (int32_t component = 0; component < output->kind.components; component++) {
            double sum = 0;
            for (int32_t axis = 0; axis < axes_in_space(operation->inputs[0]); axis++)
                sum += beside(&inputs[0], at, axis, -1, component) + beside(&inputs[0], at, axis, 1, component) -
                       2 * beside(&inputs[0], at, axis, 0, component);
            pixels_set(output, at, component, sum);
        }
    }
    return true;
}

const operation_kind operation_gradient = {
    .name = "gradient", .prepare = prepare_gradient, .run = run_gradient, .expect = expect_gradient};
const operation_kind operation_divergence = {
    .name = "divergence", .prepare = prepare_divergence, .run = run_divergence, .expect = expect_divergence};
const operation_kind operation_laplacian = {
    .name = "laplacian", .prepare = prepare_laplacian, .run = run_laplacian, .expect = expect_laplacian};

static bool prepare_gaussian(model_world *world, model_operation *operation)
{
    static const double sigmas[] = {0, 0, 0.5, 1};
    const cc_gaussian_params defaults = CC_GAUSSIAN_PARAMS_INIT;
    random_source *random = &world->random;
    model_image *input = operation_pick(world);
    if (input == NULL || !choose_images(world, operation, input, input->kind.components))
        return false;
    const model_image *output = operation->output;
    cc_gaussian_params *params = &operation->params.gaussian;
    int32_t passes = 0;
    *params = defaults;
    params->unit = CC_SIGMA_IN_PIXELS;
    params->truncate = 2;
    params->border = (cc_border)random_below(random, CC_BORDER_PERIODIC + 1);
    params->border_value = 3;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        params->sigma[axis] = sigmas[random_below(random, 4)];
        passes += axis < input->dimension && params->sigma[axis] > 0;
    }
    const bool in_place = input->pixels == output->pixels && memcmp(&input->box, &output->box, sizeof input->box) == 0;
    if (value_is_complex(input->kind.type) == value_is_complex(output->kind.type))
        operation->errors = 0;
    if (passes == 0)
        operation->call = FAULTY_RUN_KERNEL;
    operation->scratch = passes > 1 || (passes == 1 && in_place) ? 1 : 0;
    return true;
}

static cc_status run_gaussian(model_operation *operation, cc_image *const inputs[], cc_image *output, cc_stream stream)
{
    return cc_image_smooth_gaussian(inputs[0], &operation->params.gaussian, output, stream);
}

const operation_kind operation_gaussian = {.name = "smooth", .prepare = prepare_gaussian, .run = run_gaussian};

static bool is_whole(cc_pixel_type type)
{
    return type == CC_PIXEL_BOOL || type == CC_PIXEL_UINT8 || type == CC_PIXEL_UINT16 || type == CC_PIXEL_INT16 ||
           type == CC_PIXEL_INT32;
}

/* A line of weights: one that is there, or a new one of a small number. */
static model_image *pick_filter(model_world *world)
{
    for (int32_t tries = 0; tries < 12; tries++) {
        model_image *image = world_pick_image(world);
        const int64_t count = image != NULL ? oracle_box_count(&image->box) : 0;
        if (count > 0 && count <= MOST_WEIGHTS && count == image->region.size[0] && image->kind.components == 1 &&
            is_whole(image->kind.type))
            return image;
    }
    const int64_t size = 1 + random_below(&world->random, MOST_WEIGHTS);
    const value_kind kind = {CC_PIXEL_INT16, 1};
    model_image *image = step_create_of(world, kind, 1, &size);
    const int16_t weight = (int16_t)(random_below(&world->random, 7) - 3);
    if (image == NULL)
        return NULL;
    model_ok(cc_image_fill(image->handle, NULL, &weight, CC_STREAM_DEFAULT));
    oracle_set_constant(image->pixels->oracle, (const unsigned char *)&weight);
    image->pixels->has_changed = true;
    return image;
}

/* The root of the sum of the squares of all components. */
static double norm_of(const model_image *image)
{
    const oracle_pixels *pixels = image->pixels->oracle;
    const size_t bytes = cc_pixel_type_size_bytes(image->kind.type);
    double sum = 0;
    for (int64_t i = 0; i < pixels->count * image->kind.components; i++) {
        const double value = value_get(image->kind.type, pixels->newest + (size_t)i * bytes);
        sum += value * value;
    }
    return sqrt(sum);
}

/* Whole numbers, so large at most that a transform gives the right ones, rounded. */
static bool prepare_convolve(model_world *world, model_operation *operation)
{
    const cc_convolve_params defaults = CC_CONVOLVE_PARAMS_INIT;
    random_source *random = &world->random;
    model_image *input = operation_pick(world);
    if (input == NULL || !choose_images(world, operation, input, input->kind.components))
        return false;
    model_image *filter = pick_filter(world);
    const bool is_wide = cc_pixel_type_size_bytes(input->kind.type) > 2;
    const cc_pixel_type to = operation->output->kind.type;
    /* A bool is whether a number is 0, which no rounding brings back. */
    if (filter == NULL || !is_whole(input->kind.type) || !is_whole(to) || to == CC_PIXEL_BOOL)
        return false;
    if (16 * norm_of(input) * norm_of(filter) * (is_wide ? 0x1p-52 : 0x1p-23) > MOST_ERROR)
        return false;
    operation_read(operation, filter);
    operation->params.convolve = defaults;
    operation->params.convolve.axis = (int32_t)random_below(random, input->dimension);
    operation->params.convolve.centre = random_below(random, filter->region.size[0]);
    operation->scratch = 1;
    operation->may_be_less = true;
    return true;
}

static cc_status run_convolve(model_operation *operation, cc_image *const inputs[], cc_image *output, cc_stream stream)
{
    return cc_image_convolve_axis(inputs[0], inputs[1], &operation->params.convolve, output, stream);
}

static bool expect_convolve(const model_operation *operation, const operation_pixels inputs[], operation_pixels *output,
                            double *out_result)
{
    const int32_t axis = operation->params.convolve.axis;
    const operation_pixels line = inputs[0]; /* also where the output is the input */
    (void)out_result;
    for (int64_t pixel = 0; pixel < output->count; pixel++) {
        int64_t at[CC_MAX_DIMENSION], from[CC_MAX_DIMENSION];
        pixels_locate(output, pixel, at);
        memcpy(from, at, sizeof from);
        for (int32_t component = 0; component < output->kind.components; component++) {
            double sum = 0;
            for (int64_t n = 0; n < inputs[1].count; n++) {
                from[axis] = at[axis] + operation->params.convolve.centre - n;
                if (from[axis] >= 0 && from[axis] < line.size[axis])
                    sum += pixels_get(&inputs[1], (const int64_t[CC_MAX_DIMENSION]){n, 0, 0, 0}, 0) *
                           pixels_get(&line, from, component);
            }
            pixels_set(output, at, component, sum);
        }
    }
    return true;
}

const operation_kind operation_convolve = {
    .name = "convolve", .prepare = prepare_convolve, .run = run_convolve, .expect = expect_convolve};
