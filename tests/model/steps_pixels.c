#include "pressure.h"
#include "steps.h"

#include <stdlib.h>
#include <string.h>

/* One image with huge pixels is enough. */
#define MOST_PIXELS_OF_NEW_OUTPUT 300

bool step_prefetch(model_world *world)
{
    model_image *image = world_pick_image(world);
    if (image == NULL)
        return false;
    model_region region;
    const cc_place place = (cc_place)random_below(&world->random, world->device_count + 2) - 1;
    world_pick_region(world, image, true, &region);
    uint32_t errors = region.errors | world_place_errors(world, place);
    const bool touches = region.errors == 0 && !region.is_empty;
    if (region.errors == 0 && region.is_empty && errors != 0)
        errors |= STATUS(CC_OK);
    if (touches) {
        errors |= world_conflicts(world, image->pixels, &region.box, CC_ACCESS_READ);
        errors |= world_loan_conflicts(world, image->pixels, &region.box, place, CC_ACCESS_READ);
        if (oracle_has_undefined(image->pixels->oracle, &region.box))
            errors |= STATUS(CC_ERROR_UNINITIALIZED);
    }
    oracle_cost *cost = world_cost(world, image);
    world->worked_at = place;
    report_step(world->step, "prefetch %lld pixels of image %d to %d",
                (long long)(touches ? oracle_box_count(&region.box) : 0), (int)image->number, (int)place);
    const cc_status status = cc_image_prefetch(image->handle, region.argument, place);
    if (world_expect(world, "prefetch", status, errors) && touches) {
        oracle_bring(image->pixels->oracle, &region.box, place, true, world->peers[place + 1], cost);
        pressure_note_use(world, image->pixels, place);
    }
    world_note_device(world, image, false);
    return true;
}

bool step_evict(model_world *world)
{
    model_image *image = world_pick_image(world);
    if (image == NULL)
        return false;
    model_pixels *pixels = image->pixels;
    oracle_pixels *oracle = pixels->oracle;
    const cc_place place = (cc_place)random_below(&world->random, world->device_count + 2) - 1;
    const bool is_wrapped = oracle->is_wrapped && oracle->wrapped_at == place;
    uint32_t errors = world_place_errors(world, place);
    const bool has_memory = errors == 0 && oracle->has_memory[place + 1];
    const bool touches = has_memory && !is_wrapped;
    cc_place refuge = CC_PLACE_HOST;
    if (has_memory && place == CC_PLACE_HOST && world->device_count > 0) {
        errors |= world_device(world, image, &refuge);
        if (errors != 0 && (is_wrapped || !oracle_has_only_at(oracle, place)))
            errors |= STATUS(CC_OK);
    }
    if (touches &&
        (world_has_mapping(world, pixels, false, place) || world_has_mapping(world, pixels, true, CC_PLACE_HOST)))
        errors |= STATUS(CC_ERROR_BUSY);
    if (touches)
        errors |= world_lent_errors(world, pixels, place);
    if (touches && place == CC_PLACE_HOST && world->device_count == 0 && oracle_has_only_at(oracle, place))
        errors |= STATUS(CC_ERROR_NO_DEVICE);
    oracle_cost *cost = world_cost(world, image);
    world->worked_at = refuge;
    report_step(world->step, "evict image %d from %d", (int)image->number, (int)place);
    const cc_status status = cc_image_evict(image->handle, place);
    const bool done = world_expect(world, "evict", status, errors);
    if (done && has_memory)
        world_evict_textures(world, pixels, place);
    if (done && touches) {
        const bool had_refuge = oracle->has_memory[refuge + 1];
        oracle_evict(oracle, place, refuge, cost);
        if (!had_refuge && oracle->has_memory[refuge + 1])
            pressure_note_use(world, pixels, refuge);
        pixels->memory[place + 1] = NULL;
        world->device_frees += place != CC_PLACE_HOST;
    }
    world_note_device(world, image, false);
    return true;
}

/* On the first image's device that has memory on any; on the host when one has memory only there; else on the last
 * image's device. */
uint32_t world_operation_place(const model_world *world, model_image *const images[], int32_t count,
                               const oracle_box *written, cc_place *out_place)
{
    bool has_host_memory = false;
    *out_place = CC_PLACE_HOST;
    if (world->device_count == 0 || world_find_loan(world, images[count - 1]->pixels, written, CC_PLACE_HOST) != NULL)
        return 0;
    for (int32_t i = 0; i < count; i++) {
        const oracle_pixels *pixels = images[i]->pixels->oracle;
        for (int32_t device = 0; device < world->device_count; device++)
            if (pixels->has_memory[device + 1])
                return world_device(world, images[i], out_place);
        has_host_memory = has_host_memory || pixels->has_memory[CC_PLACE_HOST + 1];
    }
    return has_host_memory ? 0 : world_device(world, images[count - 1], out_place);
}

static bool is_lent(const model_world *world, const model_pixels *pixels)
{
    for (int32_t i = 0; i < world->loan_count; i++)
        if (world->loans[i].pixels == pixels)
            return true;
    return false;
}

bool step_fill(model_world *world)
{
    model_image *image = world_pick_image(world);
    if (image == NULL)
        return false;
    oracle_pixels *pixels = image->pixels->oracle;
    unsigned char value[CC_MAX_COMPONENTS * 16];
    cc_place place = CC_PLACE_HOST;
    cc_stream stream = NULL;
    model_region region;
    world_pick_region(world, image, true, &region);
    if (random_chance(&world->random, 20))
        memset(value, 0, sizeof value);
    else
        world_random_values(world, image->kind, 1, value);
    uint32_t errors = region.errors | (pixels->read_only ? STATUS(CC_ERROR_READ_ONLY) : 0);
    const bool touches = region.errors == 0 && !region.is_empty;
    const bool is_whole = touches && oracle_box_count(&region.box) == pixels->count && !is_lent(world, image->pixels);
    if (touches) {
        if (!is_whole)
            errors |= world_operation_place(world, &image, 1, &region.box, &place);
        errors |= world_conflicts(world, image->pixels, &region.box, CC_ACCESS_WRITE);
    }
    if (place != CC_PLACE_HOST && world_place_errors(world, place) == 0)
        stream = work_stream(&world->work, place);
    oracle_cost *cost = world_cost(world, image);
    world->worked_at = place;
    report_step(world->step, "fill %lld pixels of image %d at %d, stream %p",
                (long long)(touches ? oracle_box_count(&region.box) : 0), (int)image->number, (int)place,
                (void *)stream);
    const cc_status status = cc_image_fill(image->handle, region.argument, value, stream);
    const bool done = world_expect(world, "fill", status, errors);
    world_note_device(world, image, done && touches && place != CC_PLACE_HOST);
    if (!done || !touches)
        return true;
    image->pixels->has_changed = true;
    if (is_whole) {
        oracle_set_constant(pixels, value);
        return true;
    }
    const int64_t count = oracle_box_count(&region.box);
    unsigned char *bytes = malloc((size_t)(count * pixels->pixel_bytes));
    for (int64_t i = 0; i < count; i++)
        memcpy(bytes + i * pixels->pixel_bytes, value, (size_t)pixels->pixel_bytes);
    oracle_bring(pixels, &region.box, place, false, world->peers[place + 1], cost);
    pressure_note_use(world, image->pixels, place);
    oracle_own(pixels, &region.box, place);
    oracle_put(pixels, &region.box, bytes);
    world_bring_back(world, image->pixels, &region.box, place, cost);
    world->device_calls[FAULTY_FILL] += place != CC_PLACE_HOST;
    free(bytes);
    return true;
}

/* Another image of the same size, mostly. NULL when there is none. */
static model_image *pick_output(model_world *world, const model_image *input)
{
    if (random_chance(&world->random, 30) && oracle_box_count(&input->box) <= MOST_PIXELS_OF_NEW_OUTPUT)
        return step_create_like(world, input);
    for (int32_t tries = 0; tries < 12; tries++) {
        model_image *output = world_pick_image(world);
        const bool fits = memcmp(output->region.size, input->region.size, sizeof input->region.size) == 0 &&
                          output->kind.components == input->kind.components;
        if (fits || random_chance(&world->random, 1))
            return output;
    }
    return NULL;
}

static void rescale_pixels(model_image *input, double scale, double shift, model_image *output)
{
    const int64_t count = oracle_box_count(&input->box);
    const size_t from_bytes = (size_t)input->pixels->oracle->pixel_bytes;
    const size_t to_bytes = (size_t)output->pixels->oracle->pixel_bytes;
    unsigned char *from = malloc((size_t)count * from_bytes);
    unsigned char *to = malloc((size_t)count * to_bytes);
    bool *known = malloc((size_t)count * sizeof *known);
    oracle_take(input->pixels->oracle, &input->box, from, known);
    for (size_t i = 0; i < (size_t)count; i++)
        value_rescale(input->kind.type, from + i * from_bytes, scale, shift, output->kind.type, output->kind.components,
                      to + i * to_bytes);
    oracle_put(output->pixels->oracle, &output->box, to);
    free(from);
    free(to);
    free(known);
}

bool step_rescale(model_world *world)
{
    static const double scales[] = {1, 1, 0.5, 2, -1, 0.25};
    static const double shifts[] = {0, 0, 1, -3, 0.5};
    random_source *random = &world->random;
    model_image *input = world_pick_image(world);
    model_image *output = input != NULL ? pick_output(world, input) : NULL;
    if (output == NULL)
        return false;
    const double scale = scales[random_below(random, 6)];
    const double shift = shifts[random_below(random, 5)];
    const bool is_shared = input->pixels == output->pixels;
    const bool in_place = is_shared && memcmp(&input->box, &output->box, sizeof input->box) == 0;
    const bool is_empty = oracle_box_count(&output->box) == 0;
    model_image *const images[] = {input, output};
    cc_place place = CC_PLACE_HOST;
    cc_stream stream = NULL;
    uint32_t errors = output->pixels->oracle->read_only ? STATUS(CC_ERROR_READ_ONLY) : 0;
    if (memcmp(output->region.size, input->region.size, sizeof input->region.size) != 0 ||
        output->kind.components != input->kind.components)
        errors |= STATUS(CC_ERROR_SIZE);
    const bool touches = errors == 0 && !is_empty;
    const bool is_new = touches && oracle_has_undefined(input->pixels->oracle, &input->box);
    if (touches) {
        errors |= world_operation_place(world, images, 2, &output->box, &place);
        errors |= world_conflicts(world, output->pixels, &output->box, CC_ACCESS_WRITE);
        errors |= world_conflicts(world, input->pixels, &input->box, CC_ACCESS_READ);
        if (errors == 0)
            errors |= world_loan_conflicts(world, input->pixels, &input->box, place, CC_ACCESS_READ);
        if (is_shared && !in_place && oracle_boxes_overlap(&input->box, &output->box))
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
    report_step(world->step, "rescale image %d by %g, %g into image %d at %d, stream %p", (int)input->number, scale,
                shift, (int)output->number, (int)place, (void *)stream);
    const cc_status status = cc_image_rescale(input->handle, scale, shift, output->handle, stream);
    if (!in_place && (status == CC_ERROR_OUT_OF_DEVICE_MEMORY || status == CC_ERROR_OUT_OF_HOST_MEMORY))
        (void)pressure_note_input(world, input, place, input_cost);
    const bool done = world_expect(world, "rescale", status, errors);
    world_note_device(world, input, false);
    if (input != output)
        world_note_device(world, output, false);
    if (!done || !touches)
        return true;
    const uint32_t peers = world->peers[place + 1];
    oracle_bring(input->pixels->oracle, &input->box, place, true, peers, input_cost);
    pressure_note_use(world, input->pixels, place);
    if (!in_place)
        oracle_bring(output->pixels->oracle, &output->box, place, false, peers, output_cost);
    pressure_note_use(world, output->pixels, place);
    rescale_pixels(input, scale, shift, output);
    oracle_own(output->pixels->oracle, &output->box, place);
    output->pixels->has_changed = true;
    world_bring_back(world, output->pixels, &output->box, place, output_cost);
    world->device_calls[FAULTY_RUN_KERNEL] += place != CC_PLACE_HOST;
    return true;
}
