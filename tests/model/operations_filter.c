/* An application's function on whole images. */
#include "operation.h"

#include "tile_function.h"

#include <string.h>

enum {
    ON_DEVICE = 1,
    ON_HOST = 2
};

/* Which functions there are, and the place that is asked for. */
static bool prepare_filter(model_world *world, model_operation *operation)
{
    static const double scales[] = {1, 2, 0.5, -1};
    random_source *random = &world->random;
    model_image *input = operation_pick(world);
    model_image *output =
        input != NULL ? operation_pick_output(world, input->dimension, input->region.size, input->kind.components, NULL)
                      : NULL;
    if (output == NULL)
        return false;
    operation_read(operation, input);
    operation_write(operation, output);
    model_image *second = random_chance(random, 40) ? operation_pick(world) : NULL;
    if (second != NULL)
        operation_read(operation, second);
    operation->choice = 1 + (int32_t)random_below(random, 3);
    operation->asked =
        random_chance(random, 70) ? CC_DEVICE_CURRENT : (cc_place)random_below(random, world->device_count + 2) - 1;
    operation->numbers[0] = scales[random_below(random, 4)];
    operation->numbers[1] = (double)random_below(random, 3);
    operation->call = FAULTY_CALL;
    operation->calls = 1;
    return true;
}

static uint32_t choose_place(const model_operation *operation, cc_place *out_place)
{
    const model_world *world = operation->world;
    const bool on_device = (operation->choice & ON_DEVICE) != 0, on_host = (operation->choice & ON_HOST) != 0;
    *out_place = operation->asked;
    if (operation->asked == CC_PLACE_HOST)
        return on_host ? 0 : STATUS(CC_ERROR_INVALID_ARGUMENT);
    if (operation->asked != CC_DEVICE_CURRENT)
        return on_device ? world_place_errors(world, operation->asked) : STATUS(CC_ERROR_INVALID_ARGUMENT);
    const bool prefers_host =
        world->device_count == 0 || fixture_is_emulated() || !on_device ||
        world_find_loan(world, operation->output->pixels, &operation->written, CC_PLACE_HOST) != NULL;
    *out_place = CC_PLACE_HOST;
    return on_host && prefers_host ? 0 : world_device(world, operation->output, out_place);
}

static cc_status run_filter(model_operation *operation, cc_image *const inputs[], cc_image *output, cc_stream stream)
{
    cc_filter filter = CC_FILTER_INIT;
    tile_task work = {.world = operation->world,
                      .name = "filter",
                      .place = operation->place,
                      .inputs = operation->inputs,
                      .input_count = operation->input_count,
                      .output = operation->output,
                      .scale = operation->numbers[0],
                      .shift = operation->numbers[1]};
    filter.inputs = inputs;
    filter.input_count = operation->input_count;
    filter.output = output;
    filter.on_device = (operation->choice & ON_DEVICE) != 0 ? tile_function : NULL;
    filter.on_host = (operation->choice & ON_HOST) != 0 ? tile_function : NULL;
    filter.user_data = &work;
    filter.place = operation->asked;
    filter.stream = stream;
    return cc_filter_run(&filter);
}

static bool expect_filter(const model_operation *operation, const operation_pixels inputs[], operation_pixels *output,
                          double *out_result)
{
    (void)out_result;
    for (int64_t i = 0; i < output->count; i++)
        value_rescale(inputs[0].kind.type, inputs[0].bytes + i * inputs[0].pixel_bytes, operation->numbers[0],
                      operation->numbers[1], output->kind.type, output->kind.components,
                      output->bytes + i * output->pixel_bytes);
    return true;
}

const operation_kind operation_filter = {.name = "filter",
                                         .prepare = prepare_filter,
                                         .run = run_filter,
                                         .expect = expect_filter,
                                         .choose_place = choose_place};
