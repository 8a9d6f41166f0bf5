/* A part of an image copied into a part of another, or of the same one. */
#include "pressure.h"
#include "steps.h"

#include <stdlib.h>
#include <string.h>

/* A part of an image: absolute, and of the pixels that are shared. */
typedef struct image_part {
    cc_region region;
    oracle_box box;
} image_part;

static image_part part_of(const model_image *image, const int64_t start[CC_MAX_DIMENSION],
                          const int64_t size[CC_MAX_DIMENSION])
{
    image_part part;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        part.region.index[axis] = image->region.index[axis] + start[axis];
        part.region.size[axis] = size[axis];
        part.box.start[axis] = image->box.start[axis] + start[axis];
        part.box.size[axis] = size[axis];
    }
    return part;
}

/* Parts of one size, now and then the same one. */
static void pick_parts(model_world *world, const model_image *input, const model_image *output, image_part *out_from,
                       image_part *out_to)
{
    random_source *random = &world->random;
    int64_t from[CC_MAX_DIMENSION], to[CC_MAX_DIMENSION], size[CC_MAX_DIMENSION];
    const bool is_whole = random_chance(random, 25), is_same = random_chance(random, 10);
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        const int64_t from_size = input->region.size[axis], to_size = output->region.size[axis];
        const int64_t most = from_size < to_size ? from_size : to_size;
        size[axis] = most > 0 && !is_whole ? 1 + random_below(random, most) : most;
        from[axis] = random_below(random, from_size - size[axis] + 1);
        to[axis] =
            is_same && from[axis] + size[axis] <= to_size ? from[axis] : random_below(random, to_size - size[axis] + 1);
    }
    *out_from = part_of(input, from, size);
    *out_to = part_of(output, to, size);
}

/* What an image has no axis for counts as one pixel, also where the other has none. */
static bool are_alike(const model_image *input, const image_part *from, const model_image *output, const image_part *to)
{
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        if ((axis < input->dimension ? from->region.size[axis] : 1) !=
            (axis < output->dimension ? to->region.size[axis] : 1))
            return false;
    return true;
}

static model_image *pick_output(model_world *world, const model_image *input)
{
    for (int32_t tries = 0; tries < 12; tries++) {
        model_image *output = world_pick_image(world);
        if (output->kind.components == input->kind.components || random_chance(&world->random, 1))
            return output;
    }
    return NULL;
}

static void copy_pixels(const model_image *input, const oracle_box *from, model_image *output, const oracle_box *to)
{
    const int64_t count = oracle_box_count(from);
    const size_t from_bytes = (size_t)input->pixels->oracle->pixel_bytes;
    const size_t to_bytes = (size_t)output->pixels->oracle->pixel_bytes;
    unsigned char *taken = malloc((size_t)count * from_bytes), *put = malloc((size_t)count * to_bytes);
    bool *known = malloc((size_t)count * sizeof *known);
    oracle_take(input->pixels->oracle, from, taken, known);
    for (size_t i = 0; i < (size_t)count; i++)
        value_rescale(input->kind.type, taken + i * from_bytes, 1, 0, output->kind.type, output->kind.components,
                      put + i * to_bytes);
    oracle_put(output->pixels->oracle, to, put);
    free(taken);
    free(put);
    free(known);
}

/* What the device does for it, which the pixels' counters do not count. */
static void note_device_work(model_world *world, const model_image *input, const model_image *output, int64_t count)
{
    if (input->kind.type != output->kind.type) {
        world->device_calls[FAULTY_RUN_KERNEL]++;
        return;
    }
    world->before.device_to_device_copies++;
    world->before.device_to_device_bytes += count * output->pixels->oracle->pixel_bytes;
}

/* The call failed for the output: the part of the input may have been brought. */
static void note_input(model_world *world, const model_image *input, const oracle_box *box, cc_place place,
                       oracle_cost *cost)
{
    model_image part = *input;
    part.box = *box;
    (void)pressure_note_input(world, &part, place, cost);
}

bool step_copy_region(model_world *world)
{
    model_image *input = world_pick_image(world);
    model_image *output = input != NULL ? pick_output(world, input) : NULL;
    if (output == NULL)
        return false;
    image_part from, to;
    pick_parts(world, input, output, &from, &to);
    const int64_t count = oracle_box_count(&to.box);
    const bool is_shared = input->pixels == output->pixels;
    const bool in_place = is_shared && memcmp(&from.box, &to.box, sizeof to.box) == 0;
    model_image *const images[] = {input, output};
    cc_place place = CC_PLACE_HOST;
    cc_stream stream = NULL;
    uint32_t errors = output->pixels->oracle->read_only ? STATUS(CC_ERROR_READ_ONLY) : 0;
    if (output->kind.components != input->kind.components || !are_alike(input, &from, output, &to))
        errors |= STATUS(CC_ERROR_SIZE);
    const bool touches = errors == 0 && count > 0;
    const bool is_new = touches && oracle_has_undefined(input->pixels->oracle, &from.box);
    if (touches) {
        errors |= world_operation_place(world, images, 2, &to.box, &place);
        errors |= world_conflicts(world, output->pixels, &to.box, CC_ACCESS_WRITE);
        errors |= world_conflicts(world, input->pixels, &from.box, CC_ACCESS_READ);
        if (errors == 0)
            errors |= world_loan_conflicts(world, input->pixels, &from.box, place, CC_ACCESS_READ);
        if (is_shared && !in_place && oracle_boxes_overlap(&from.box, &to.box))
            errors |= STATUS(CC_ERROR_BUSY);
        if (is_new)
            errors |= STATUS(CC_ERROR_UNINITIALIZED);
    }
    if (is_new && world->tidies)
        return false; /* what comes out is nobody's business */
    if (place != CC_PLACE_HOST && world_place_errors(world, place) == 0)
        stream = work_stream(&world->work, place);
    oracle_cost *input_cost = world_cost(world, input);
    oracle_cost *output_cost = world_cost(world, output);
    world->worked_at = place;
    report_step(world->step, "copy %lld pixels of image %d into image %d at %d, stream %p", (long long)count,
                (int)input->number, (int)output->number, (int)place, (void *)stream);
    const cc_status status = cc_image_copy_region(input->handle, &from.region, output->handle, &to.region, stream);
    if (!in_place && (status == CC_ERROR_OUT_OF_DEVICE_MEMORY || status == CC_ERROR_OUT_OF_HOST_MEMORY))
        note_input(world, input, &from.box, place, input_cost);
    const bool done = world_expect(world, "copy region", status, errors);
    world_note_device(world, input, false);
    if (input != output)
        world_note_device(world, output, false);
    if (!done || !touches)
        return true;
    const uint32_t peers = world->peers[place + 1];
    oracle_bring(input->pixels->oracle, &from.box, place, true, peers, input_cost);
    pressure_note_use(world, input->pixels, place);
    if (!in_place)
        oracle_bring(output->pixels->oracle, &to.box, place, false, peers, output_cost);
    pressure_note_use(world, output->pixels, place);
    if (!in_place)
        copy_pixels(input, &from.box, output, &to.box);
    oracle_own(output->pixels->oracle, &to.box, place);
    output->pixels->has_changed = true;
    world_bring_back(world, output->pixels, &to.box, place, output_cost);
    if (place != CC_PLACE_HOST && !in_place)
        note_device_work(world, input, output, count);
    return true;
}
