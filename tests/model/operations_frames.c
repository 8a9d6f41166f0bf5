/* Frames along the last axis, made into a volume; and a volume added to them. */
#include "operation.h"

#include <math.h>
#include <string.h>

/* The two frames that a position lies between; one, when it lies on it. */
typedef struct frame_pair {
    int64_t frame[2];
    double weight[2];
    int32_t count;
} frame_pair;

static frame_pair find_pair(const model_image *frames, double position, int32_t border)
{
    const int32_t last = frames->dimension - 1;
    const int64_t count = frames->region.size[last];
    double at = position - (double)frames->region.index[last];
    while (border == CC_BORDER_PERIODIC && at < 0)
        at += (double)count;
    while (border == CC_BORDER_PERIODIC && at >= (double)count)
        at -= (double)count;
    at = fmax(0, border == CC_BORDER_REPLICATE ? fmin(at, (double)(count - 1)) : at);
    const int64_t below = (int64_t)floor(at);
    const double beyond = at - (double)below;
    frame_pair pair = {{below, below}, {1, 0}, 1};
    if (beyond == 0 || count == 1)
        return pair;
    pair.frame[1] = below + 1 < count ? below + 1 : 0;
    pair.weight[0] = 1 - beyond;
    pair.weight[1] = beyond;
    pair.count = 2;
    return pair;
}

static oracle_box box_of_frames(const model_image *frames, int64_t first, int64_t count)
{
    oracle_box box = frames->box;
    box.start[frames->dimension - 1] += first;
    box.size[frames->dimension - 1] = count;
    return box;
}

static model_image *pick_frames(model_world *world)
{
    for (int32_t tries = 0; tries < 6; tries++) {
        model_image *image = operation_pick(world);
        if (image != NULL && image->dimension > 1)
            return image;
    }
    return NULL;
}

/* A volume like one frame, in whatever number of dimensions. */
static model_image *pick_volume(model_world *world, const model_image *frames)
{
    int64_t size[CC_MAX_DIMENSION];
    memcpy(size, frames->region.size, sizeof size);
    size[frames->dimension - 1] = 1;
    const int32_t dimension = frames->dimension - (int32_t)random_below(&world->random, 2);
    return operation_pick_output(world, dimension, size, frames->kind.components, frames);
}

/* Frames and volume are chosen; the position, too. */
static bool choose(model_world *world, model_operation *operation, model_image **out_frames, model_image **out_volume)
{
    random_source *random = &world->random;
    *out_frames = pick_frames(world);
    *out_volume = *out_frames != NULL ? pick_volume(world, *out_frames) : NULL;
    if (*out_volume == NULL)
        return false;
    const int32_t last = (*out_frames)->dimension - 1;
    const int64_t count = (*out_frames)->region.size[last];
    operation->numbers[0] =
        (double)((*out_frames)->region.index[last] - 1) + (double)random_below(random, 4 * count + 8) / 4;
    operation->choice = random_chance(random, 50) ? CC_BORDER_REPLICATE : CC_BORDER_PERIODIC;
    if (value_is_complex((*out_frames)->kind.type) != value_is_complex((*out_volume)->kind.type))
        operation->errors = STATUS(CC_ERROR_PIXEL_TYPE);
    operation->call = FAULTY_RUN_KERNEL;
    operation->calls = 1;
    return true;
}

static bool prepare_interpolate(model_world *world, model_operation *operation)
{
    model_image *frames, *volume;
    if (!choose(world, operation, &frames, &volume))
        return false;
    const frame_pair pair = find_pair(frames, operation->numbers[0], operation->choice);
    for (int32_t i = 0; i < pair.count; i++) {
        operation_read(operation, frames);
        operation->read[i] = box_of_frames(frames, pair.frame[i], 1);
    }
    operation_write(operation, volume);
    if (pair.count == 2)
        return true;
    const bool is_output =
        frames->pixels == volume->pixels && memcmp(&operation->read[0], &volume->box, sizeof volume->box) == 0;
    operation->is_copy = frames->kind.type == volume->kind.type && !is_output;
    operation->call = FAULTY_RUN_KERNEL;
    operation->calls = is_output ? 0 : 1;
    return true;
}

static cc_status run_interpolate(model_operation *operation, cc_image *const inputs[], cc_image *output,
                                 cc_stream stream)
{
    return cc_image_interpolate_frames(inputs[0], operation->numbers[0], (cc_border)operation->choice, output, stream);
}

/* The place of a volume's pixel in a frame. */
static void in_frame(const model_image *frames, const int64_t at[CC_MAX_DIMENSION], int64_t frame,
                     int64_t out_at[CC_MAX_DIMENSION])
{
    memcpy(out_at, at, CC_MAX_DIMENSION * sizeof *at);
    out_at[frames->dimension - 1] = frame;
}

static bool expect_interpolate(const model_operation *operation, const operation_pixels inputs[],
                               operation_pixels *output, double *out_result)
{
    const frame_pair pair = find_pair(operation->inputs[0], operation->numbers[0], operation->choice);
    (void)out_result;
    if (value_is_complex(output->kind.type))
        return false;
    for (int64_t pixel = 0; pixel < output->count; pixel++) {
        int64_t at[CC_MAX_DIMENSION], from[2][CC_MAX_DIMENSION];
        pixels_locate(output, pixel, at);
        for (int32_t i = 0; i < 2; i++)
            in_frame(operation->inputs[0], at, pair.frame[i], from[i]);
        for (int32_t component = 0; component < output->kind.components; component++) {
            double value = pixels_get(&inputs[0], from[0], component);
            if (pair.count == 2)
                value = pair.weight[0] * value + pair.weight[1] * pixels_get(&inputs[0], from[1], component);
            pixels_set(output, at, component, value);
        }
    }
    return true;
}

const operation_kind operation_interpolate = {
    .name = "interpolate frames", .prepare = prepare_interpolate, .run = run_interpolate, .expect = expect_interpolate};

/* On both sides of the seam, all frames are written. */
static bool prepare_splat(model_world *world, model_operation *operation)
{
    model_image *frames, *volume;
    if (!choose(world, operation, &frames, &volume))
        return false;
    const frame_pair pair = find_pair(frames, operation->numbers[0], operation->choice);
    const int64_t first = pair.frame[0] < pair.frame[1] ? pair.frame[0] : pair.frame[1];
    const int64_t last = pair.frame[0] > pair.frame[1] ? pair.frame[0] : pair.frame[1];
    operation_write(operation, frames);
    operation->written = box_of_frames(frames, first, last - first + 1);
    operation_read(operation, volume);
    operation_read(operation, frames);
    operation->read[1] = operation->written;
    operation->apart = 1;
    return true;
}

static cc_status run_splat(model_operation *operation, cc_image *const inputs[], cc_image *output, cc_stream stream)
{
    return cc_image_splat_frames(inputs[0], operation->numbers[0], (cc_border)operation->choice, output, stream);
}

static bool expect_splat(const model_operation *operation, const operation_pixels inputs[], operation_pixels *output,
                         double *out_result)
{
    const frame_pair pair = find_pair(operation->output, operation->numbers[0], operation->choice);
    (void)out_result;
    if (value_is_complex(output->kind.type))
        return false;
    for (int64_t pixel = 0; pixel < inputs[0].count; pixel++) {
        int64_t at[CC_MAX_DIMENSION], to[CC_MAX_DIMENSION];
        pixels_locate(&inputs[0], pixel, at);
        for (int32_t i = 0; i < 2 && i < pair.count; i++) {
            in_frame(operation->output, at, pair.frame[i], to);
            for (int32_t component = 0; component < output->kind.components; component++)
                pixels_set(output, to, component,
                           pixels_get(output, to, component) + pair.weight[i] * pixels_get(&inputs[0], at, component));
        }
    }
    return true;
}

const operation_kind operation_splat = {
    .name = "splat frames", .prepare = prepare_splat, .run = run_splat, .expect = expect_splat};

static bool prepare_average(model_world *world, model_operation *operation)
{
    model_image *frames, *volume;
    if (!choose(world, operation, &frames, &volume))
        return false;
    operation_read(operation, frames);
    operation_write(operation, volume);
    operation->apart = 1;
    return true;
}

static cc_status run_average(model_operation *operation, cc_image *const inputs[], cc_image *output, cc_stream stream)
{
    (void)operation;
    return cc_image_average_frames(inputs[0], output, stream);
}

static bool expect_average(const model_operation *operation, const operation_pixels inputs[], operation_pixels *output,
                           double *out_result)
{
    const model_image *frames = operation->inputs[0];
    const int64_t count = frames->region.size[frames->dimension - 1];
    (void)out_result;
    if (!pixels_are_simple(&inputs[0]) || value_is_complex(output->kind.type))
        return false;
    for (int64_t pixel = 0; pixel < output->count; pixel++) {
        int64_t at[CC_MAX_DIMENSION], from[CC_MAX_DIMENSION];
        pixels_locate(output, pixel, at);
        for (int32_t component = 0; component < output->kind.components; component++) {
            double sum = 0;
            for (int64_t frame = 0; frame < count; frame++) {
                in_frame(frames, at, frame, from);
                sum += pixels_get(&inputs[0], from, component);
            }
            pixels_set(output, at, component, sum / (double)count);
        }
    }
    return true;
}

const operation_kind operation_average = {
    .name = "average frames", .prepare = prepare_average, .run = run_average, .expect = expect_average};
