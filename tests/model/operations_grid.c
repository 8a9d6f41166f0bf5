/* Images on another grid. Where the grids are is set before each call: pixels of the output lie on pixels of the input,
 * or half way between them. */
#include "operation.h"

#include "steps.h"

#include <math.h>
#include <string.h>

#define OUTSIDE 7.0
/* Displacements are large numbers; this makes some pixels of them. */
#define DISPLACEMENT_SCALE 0x1p-10

static int32_t axes_in_space(const model_image *image)
{
    return image->dimension < 3 ? image->dimension : 3;
}

/* The image's first pixel is at this point, and the others beside it. */
static void set_grid(const model_image *image, const double first[CC_MAX_DIMENSION])
{
    cc_geometry geometry = CC_GEOMETRY_INIT;
    geometry.dimension = image->dimension;
    memcpy(geometry.index, image->region.index, sizeof geometry.index);
    for (int32_t axis = 0; axis < image->dimension; axis++)
        geometry.origin[axis] = first[axis] - (double)image->region.index[axis];
    model_ok(cc_image_set_geometry(image->handle, &geometry));
}

static bool prepare_resample(model_world *world, model_operation *operation)
{
    static const double here[CC_MAX_DIMENSION] = {0, 0, 0, 0};
    const cc_resample_params defaults = CC_RESAMPLE_PARAMS_INIT;
    random_source *random = &world->random;
    model_image *input = operation_pick(world);
    int64_t size[CC_MAX_DIMENSION] = {1, 1, 1, 1};
    if (input == NULL)
        return false;
    for (int32_t axis = 0; axis < input->dimension; axis++)
        size[axis] = axis == 3 || random_chance(random, 70) ? input->region.size[axis]
                                                            : 1 + random_below(random, input->region.size[axis]);
    model_image *output = operation_pick_output(world, input->dimension, size, input->kind.components, input);
    if (output == NULL || output == input)
        return false;
    operation_read(operation, input);
    operation_write(operation, output);
    operation->errors = operation_is_complex(operation) ? STATUS(CC_ERROR_PIXEL_TYPE) : 0;
    operation->apart = 1;
    operation->call = FAULTY_RUN_KERNEL;
    operation->calls = 1;
    operation->params.resample = defaults;
    operation->params.resample.outside = OUTSIDE;
    operation->params.resample.interpolation = (int32_t)random_below(random, CC_INTERPOLATION_CUBIC_BSPLINE + 1);
    operation->scratch = operation->params.resample.interpolation == CC_INTERPOLATION_CUBIC_BSPLINE;
    for (int32_t axis = 0; axis < axes_in_space(input); axis++)
        operation->numbers[axis] = random_chance(random, 40) ? 0 : (double)(random_below(random, 7) - 3) / 2;
    set_grid(input, here);
    set_grid(output, operation->numbers);
    return true;
}

static cc_status run_resample(model_operation *operation, cc_image *const inputs[], cc_image *output, cc_stream stream)
{
    return cc_image_resample(inputs[0], &operation->params.resample, output, stream);
}

static bool is_inside(const operation_pixels *input, int32_t axes, const double position[CC_MAX_DIMENSION])
{
    for (int32_t axis = 0; axis < axes; axis++)
        if (!(position[axis] >= -0.5 && position[axis] < (double)input->size[axis] - 0.5))
            return false;
    return true;
}

/* Of a pixel of the output: the nearest one of the input, or OUTSIDE. */
static void set_nearest(const operation_pixels *input, int32_t axes, const double position[CC_MAX_DIMENSION],
                        operation_pixels *output, const int64_t at[CC_MAX_DIMENSION])
{
    int64_t from[CC_MAX_DIMENSION];
    memcpy(from, at, sizeof from);
    for (int32_t component = 0; component < output->kind.components; component++) {
        double value = OUTSIDE;
        if (is_inside(input, axes, position)) {
            for (int32_t axis = 0; axis < axes; axis++)
                from[axis] = (int64_t)floor(position[axis] + 0.5);
            value = pixels_get(input, from, component);
        }
        pixels_set(output, at, component, value);
    }
}

/* The mean of the pixels around, half of which may be the same ones. */
static void set_linear(const operation_pixels *input, int32_t axes, const double position[CC_MAX_DIMENSION],
                       operation_pixels *output, const int64_t at[CC_MAX_DIMENSION])
{
    for (int32_t component = 0; component < output->kind.components; component++) {
        double sum = 0;
        for (int32_t corner = 0; corner < 1 << axes; corner++) {
            int64_t from[CC_MAX_DIMENSION];
            memcpy(from, at, sizeof from);
            for (int32_t axis = 0; axis < axes; axis++) {
                const double last = (double)(input->size[axis] - 1);
                const double there = fmin(fmax(position[axis], 0), last);
                from[axis] = (int64_t)((corner >> axis & 1) != 0 ? ceil(there) : floor(there));
            }
            sum += is_inside(input, axes, position) ? pixels_get(input, from, component) : OUTSIDE;
        }
        pixels_set(output, at, component, sum / (1 << axes));
    }
}

static bool expect_resample(const model_operation *operation, const operation_pixels inputs[], operation_pixels *output,
                            double *out_result)
{
    const int32_t interpolation = operation->params.resample.interpolation;
    const int32_t axes = axes_in_space(operation->output);
    (void)out_result;
    if (interpolation == CC_INTERPOLATION_CUBIC_BSPLINE ||
        (interpolation == CC_INTERPOLATION_LINEAR && !pixels_are_simple(&inputs[0])))
        return false;
    for (int64_t pixel = 0; pixel < output->count; pixel++) {
        int64_t at[CC_MAX_DIMENSION];
        double position[CC_MAX_DIMENSION];
        pixels_locate(output, pixel, at);
        for (int32_t axis = 0; axis < axes; axis++)
            position[axis] = (double)at[axis] + operation->numbers[axis];
        if (interpolation == CC_INTERPOLATION_NEAREST)
            set_nearest(&inputs[0], axes, position, output, at);
        else
            set_linear(&inputs[0], axes, position, output, at);
    }
    return true;
}

const operation_kind operation_resample = {
    .name = "resample", .prepare = prepare_resample, .run = run_resample, .expect = expect_resample};

/* One vector for each pixel, or the nearest edge's; of series, for all volumes or for each. */
static model_image *pick_displacement(model_world *world, const model_image *output)
{
    for (int32_t tries = 0; tries < 12; tries++) {
        model_image *image = operation_pick(world);
        if (image != NULL && image->dimension == output->dimension && image != output &&
            image->kind.components == axes_in_space(output) &&
            (image->region.size[3] == 1 || image->region.size[3] == output->region.size[3]))
            return image;
    }
    const int64_t size[CC_MAX_DIMENSION] = {1, 1, 1, 1};
    const value_kind kind = {CC_PIXEL_FLOAT32, axes_in_space(output)};
    return step_create_of(world, kind, output->dimension, size);
}

/* As resampling, with the displacement's pixels on those of the output. */
static bool prepare_warp(model_world *world, model_operation *operation)
{
    if (!prepare_resample(world, operation))
        return false;
    model_image *displacement = pick_displacement(world, operation->output);
    if (displacement == NULL || displacement == operation->inputs[0])
        return false;
    operation_read(operation, displacement);
    operation->errors = operation_is_complex(operation) ? STATUS(CC_ERROR_PIXEL_TYPE) : 0;
    operation->apart = 2;
    for (int32_t axis = 0; axis < 3; axis++)
        operation->params.resample.matrix[axis][axis] = DISPLACEMENT_SCALE;
    set_grid(displacement, operation->numbers);
    return true;
}

static cc_status run_warp(model_operation *operation, cc_image *const inputs[], cc_image *output, cc_stream stream)
{
    return cc_image_warp(inputs[0], inputs[1], &operation->params.resample, output, stream);
}

static bool expect_warp(const model_operation *operation, const operation_pixels inputs[], operation_pixels *output,
                        double *out_result)
{
    const int32_t axes = axes_in_space(operation->output);
    (void)out_result;
    if (operation->params.resample.interpolation != CC_INTERPOLATION_NEAREST || !pixels_are_simple(&inputs[1]))
        return false;
    for (int64_t pixel = 0; pixel < output->count; pixel++) {
        int64_t at[CC_MAX_DIMENSION], from[CC_MAX_DIMENSION];
        double position[CC_MAX_DIMENSION];
        pixels_locate(output, pixel, at);
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
            from[axis] = at[axis] < inputs[1].size[axis] ? at[axis] : inputs[1].size[axis] - 1;
        for (int32_t axis = 0; axis < axes; axis++)
            position[axis] =
                ((double)at[axis] + operation->numbers[axis] + pixels_get(&inputs[1], from, axis)) * DISPLACEMENT_SCALE;
        set_nearest(&inputs[0], axes, position, output, at);
    }
    return true;
}

const operation_kind operation_warp = {.name = "warp", .prepare = prepare_warp, .run = run_warp, .expect = expect_warp};
