/* Parts of images: put in, cut out, continued, turned round, axes swapped. */
#include "operation.h"

#include <string.h>

/* All of the input as it is. */
static void arrange(model_operation *operation, const model_image *input)
{
    model_arrangement *arrangement = &operation->arrangement;
    memcpy(arrangement->from_size, input->region.size, sizeof arrangement->from_size);
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        arrangement->order[axis] = axis;
}

/* What is a box as it is, a device copies or casts; the rest is for a kernel, and cannot be done in place. */
static void choose_call(model_operation *operation, bool is_plain)
{
    const model_image *input = operation->inputs[0], *output = operation->output;
    const bool is_output = input->pixels == output->pixels &&
                           memcmp(&operation->read[0], &operation->written, sizeof operation->written) == 0;
    operation->apart = is_plain ? 0 : 1;
    operation->calls = 1;
    if (!is_plain)
        operation->call = FAULTY_RUN_KERNEL;
    else if (is_output)
        operation->calls = 0;
    else if (input->kind.type == output->kind.type)
        operation->is_copy = true;
    else
        operation->call = FAULTY_RUN_KERNEL;
}

/* Along one axis: the pixel that is there, or -1 for the value. */
static int64_t beyond(int64_t at, int64_t size, int32_t border)
{
    if (at >= 0 && at < size)
        return at;
    const int64_t period = border == CC_BORDER_REFLECT ? 2 * size - 2 : border == CC_BORDER_SYMMETRIC ? 2 * size : size;
    switch ((cc_border)border) {
    case CC_BORDER_CONSTANT:
        return -1;
    case CC_BORDER_REPLICATE:
        return at < 0 ? 0 : size - 1;
    case CC_BORDER_REFLECT:
    case CC_BORDER_SYMMETRIC:
    case CC_BORDER_PERIODIC:
        break;
    }
    if (period == 0)
        return 0;
    while (at < 0)
        at += period;
    at %= period;
    if (at < size)
        return at;
    return border == CC_BORDER_REFLECT ? period - at : period - 1 - at;
}

static bool expect_arrangement(const model_operation *operation, const operation_pixels inputs[],
                               operation_pixels *output, double *out_result)
{
    const model_arrangement *arrangement = &operation->arrangement;
    const int64_t *size = operation->written.size;
    (void)out_result;
    for (int64_t pixel = 0; pixel < oracle_box_count(&operation->written); pixel++) {
        int64_t rest = pixel, from[CC_MAX_DIMENSION], to[CC_MAX_DIMENSION];
        bool is_value = false;
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
            const int32_t source = arrangement->order[axis];
            int64_t at = rest % size[axis];
            rest /= size[axis];
            to[axis] = arrangement->at[axis] + at;
            at = beyond(at - arrangement->before[axis], arrangement->from_size[source], arrangement->border[axis]);
            is_value = is_value || at < 0;
            if ((arrangement->flipped >> axis & 1) != 0)
                at = arrangement->from_size[source] - 1 - at;
            from[source] = arrangement->from[source] + at;
        }
        if (is_value)
            memcpy(pixels_at(output, to), arrangement->value, (size_t)output->pixel_bytes);
        else
            value_rescale(inputs[0].kind.type, pixels_at(&inputs[0], from), 1, 0, output->kind.type,
                          output->kind.components, pixels_at(output, to));
    }
    return true;
}

/* Where the input's first pixel is in space, and the output, before a call that gives the output a place. */
typedef struct placing {
    cc_geometry geometry;
    double point[CC_MAX_DIMENSION];
} placing;

static placing look_at_place(const model_operation *operation, const cc_image *output)
{
    const model_arrangement *arrangement = &operation->arrangement;
    const model_image *input = operation->inputs[0];
    placing before = {.geometry = CC_GEOMETRY_INIT};
    int64_t index[CC_MAX_DIMENSION];
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        const int32_t source = arrangement->order[axis];
        const bool is_flipped = (arrangement->flipped >> axis & 1) != 0;
        index[source] = input->region.index[source] + arrangement->from[source] +
                        (is_flipped ? arrangement->from_size[source] - 1 : 0);
    }
    model_ok(cc_image_get_geometry(output, &before.geometry));
    model_ok(cc_image_get_point(input->handle, index, before.point));
    return before;
}

/* Its pixel of the output is there, or nothing has changed. */
static cc_status check_place(const model_operation *operation, const cc_image *output, const placing *before,
                             cc_status status)
{
    cc_geometry geometry = CC_GEOMETRY_INIT;
    double point[CC_MAX_DIMENSION];
    int64_t index[CC_MAX_DIMENSION];
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        index[axis] = operation->output->region.index[axis] + operation->arrangement.before[axis];
    model_ok(cc_image_get_geometry(output, &geometry));
    model_ok(cc_image_get_point(output, index, point));
    for (int32_t axis = 0; status == CC_OK && axis < CC_MAX_DIMENSION; axis++)
        model_check(point[axis] == before->point[axis], "a pixel is at %g along axis %d, expected %g", point[axis],
                    (int)axis, before->point[axis]);
    model_check(status == CC_OK || memcmp(&geometry, &before->geometry, sizeof geometry) == 0,
                "a call that failed has set the output's place");
    return status;
}

static bool prepare_paste(model_world *world, model_operation *operation)
{
    model_image *input = operation_pick(world);
    if (input == NULL)
        return false;
    for (int32_t tries = 0; tries < 8 && operation->output == NULL; tries++) {
        model_image *output = world_pick_image(world);
        bool fits = output->kind.components == input->kind.components;
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
            fits = fits && output->region.size[axis] >= input->region.size[axis];
        if (fits)
            operation_write(operation, output);
    }
    model_image *output = operation->output;
    if (output == NULL)
        return false;
    operation_read(operation, input);
    arrange(operation, input);
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        const int64_t room = output->region.size[axis] - input->region.size[axis];
        const int64_t at = random_below(&world->random, room + 1);
        operation->arrangement.at[axis] = at;
        operation->region.index[axis] = output->region.index[axis] + at;
        operation->written.start[axis] += at;
        operation->written.size[axis] = input->region.size[axis];
    }
    choose_call(operation, true);
    return true;
}

static cc_status run_paste(model_operation *operation, cc_image *const inputs[], cc_image *output, cc_stream stream)
{
    return cc_image_paste(inputs[0], output, operation->region.index, stream);
}

const operation_kind operation_paste = {
    .name = "paste", .prepare = prepare_paste, .run = run_paste, .expect = expect_arrangement};

static bool prepare_crop(model_world *world, model_operation *operation)
{
    model_image *input = operation_pick(world);
    model_region region;
    if (input == NULL)
        return false;
    world_pick_region(world, input, false, &region);
    if (region.is_empty)
        return false;
    const int64_t *size = region.errors == 0 ? region.box.size : input->region.size;
    model_image *output = operation_pick_output(world, input->dimension, size, input->kind.components, NULL);
    if (output == NULL)
        return false;
    operation_read(operation, input);
    operation_write(operation, output);
    arrange(operation, input);
    operation->region = region.region;
    operation->errors = region.errors;
    if (region.errors == 0) {
        operation->read[0] = region.box;
        memcpy(operation->arrangement.from_size, size, sizeof operation->arrangement.from_size);
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
            operation->arrangement.from[axis] = region.box.start[axis] - input->box.start[axis];
    }
    choose_call(operation, true);
    return true;
}

static cc_status run_crop(model_operation *operation, cc_image *const inputs[], cc_image *output, cc_stream stream)
{
    const placing before = look_at_place(operation, output);
    return check_place(operation, output, &before, cc_image_crop(inputs[0], &operation->region, output, stream));
}

const operation_kind operation_crop = {
    .name = "crop", .prepare = prepare_crop, .run = run_crop, .expect = expect_arrangement};

static bool prepare_pad(model_world *world, model_operation *operation)
{
    const cc_pad_params defaults = CC_PAD_PARAMS_INIT;
    random_source *random = &world->random;
    model_image *input = operation_pick(world);
    int64_t size[CC_MAX_DIMENSION] = {1, 1, 1, 1};
    bool is_plain = true;
    if (input == NULL)
        return false;
    cc_pad_params *params = &operation->params.pad;
    *params = defaults;
    arrange(operation, input);
    for (int32_t axis = 0; axis < input->dimension; axis++) {
        params->border[axis] = (int32_t)random_below(random, CC_BORDER_PERIODIC + 1);
        params->lower[axis] = random_chance(random, 50) ? 0 : random_below(random, 3);
        params->upper[axis] = random_chance(random, 50) ? 0 : random_below(random, 3);
        size[axis] = params->lower[axis] + input->region.size[axis] + params->upper[axis];
        is_plain = is_plain && size[axis] == input->region.size[axis];
        operation->arrangement.before[axis] = params->lower[axis];
        operation->arrangement.border[axis] = params->border[axis];
    }
    model_image *output = operation_pick_output(world, input->dimension, size, input->kind.components, NULL);
    if (output == NULL)
        return false;
    operation_read(operation, input);
    operation_write(operation, output);
    if (random_chance(random, 70))
        world_random_values(world, output->kind, 1, operation->arrangement.value);
    choose_call(operation, is_plain);
    return true;
}

static cc_status run_pad(model_operation *operation, cc_image *const inputs[], cc_image *output, cc_stream stream)
{
    operation->params.pad.value = operation->arrangement.value;
    const placing before = look_at_place(operation, output);
    return check_place(operation, output, &before, cc_image_pad(inputs[0], &operation->params.pad, output, stream));
}

const operation_kind operation_pad = {
    .name = "pad", .prepare = prepare_pad, .run = run_pad, .expect = expect_arrangement};

static bool prepare_flip(model_world *world, model_operation *operation)
{
    model_image *input = operation_pick(world);
    model_image *output = input != NULL ? operation_pick_output(world, input->dimension, input->region.size,
                                                                input->kind.components, input)
                                        : NULL;
    if (output == NULL)
        return false;
    operation_read(operation, input);
    operation_write(operation, output);
    arrange(operation, input);
    operation->arrangement.flipped = (uint32_t)random_below(&world->random, 1 << input->dimension);
    choose_call(operation, operation->arrangement.flipped == 0);
    return true;
}

static cc_status run_flip(model_operation *operation, cc_image *const inputs[], cc_image *output, cc_stream stream)
{
    const placing before = look_at_place(operation, output);
    return check_place(operation, output, &before,
                       cc_image_flip(inputs[0], operation->arrangement.flipped, output, stream));
}

const operation_kind operation_flip = {
    .name = "flip", .prepare = prepare_flip, .run = run_flip, .expect = expect_arrangement};

static bool prepare_permute(model_world *world, model_operation *operation)
{
    model_image *input = operation_pick(world);
    int64_t size[CC_MAX_DIMENSION] = {1, 1, 1, 1};
    bool is_plain = true;
    if (input == NULL)
        return false;
    arrange(operation, input);
    int32_t *order = operation->arrangement.order;
    for (int32_t axis = input->dimension - 1; axis > 0; axis--) {
        const int64_t other = random_below(&world->random, axis + 1);
        const int32_t swapped = order[axis];
        order[axis] = order[other];
        order[other] = swapped;
    }
    for (int32_t axis = 0; axis < input->dimension; axis++) {
        size[axis] = input->region.size[order[axis]];
        is_plain = is_plain && order[axis] == axis;
    }
    model_image *output = operation_pick_output(world, input->dimension, size, input->kind.components, NULL);
    if (output == NULL)
        return false;
    operation_read(operation, input);
    operation_write(operation, output);
    choose_call(operation, is_plain);
    return true;
}

static cc_status run_permute(model_operation *operation, cc_image *const inputs[], cc_image *output, cc_stream stream)
{
    const placing before = look_at_place(operation, output);
    return check_place(operation, output, &before,
                       cc_image_permute(inputs[0], operation->arrangement.order, output, stream));
}

const operation_kind operation_permute = {
    .name = "permute", .prepare = prepare_permute, .run = run_permute, .expect = expect_arrangement};
