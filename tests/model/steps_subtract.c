/* An operation on three images, which may be the same ones. */
#include "pressure.h"
#include "steps.h"

#include <stdlib.h>
#include <string.h>

/* The same as the output: an image of its size, mostly. */
static model_image *pick_operand(model_world *world, const model_image *output)
{
    for (int32_t tries = 0; tries < 12; tries++) {
        model_image *operand = world_pick_image(world);
        const bool fits = memcmp(operand->region.size, output->region.size, sizeof output->region.size) == 0 &&
                          operand->kind.components == output->kind.components;
        if (fits || random_chance(&world->random, 1))
            return operand;
    }
    return NULL;
}

static bool is_output(const model_image *operand, const model_image *output)
{
    return operand->pixels == output->pixels && memcmp(&operand->box, &output->box, sizeof output->box) == 0;
}

/* One pixel, or one component, counts for all: whether an operand fits. */
static bool fits(const model_image *operand, const model_image *output)
{
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        if (operand->region.size[axis] != output->region.size[axis] && operand->region.size[axis] != 1)
            return false;
    return operand->kind.components == output->kind.components || operand->kind.components == 1;
}

static bool is_alike(const model_image *operand, const model_image *output)
{
    return memcmp(operand->region.size, output->region.size, sizeof output->region.size) == 0 &&
           operand->kind.components == output->kind.components;
}

static uint32_t operand_errors(const model_world *world, const model_image *operand, const model_image *output)
{
    uint32_t errors = world_conflicts(world, operand->pixels, &operand->box, CC_ACCESS_READ);
    if (operand->pixels == output->pixels && !is_output(operand, output) &&
        oracle_boxes_overlap(&operand->box, &output->box))
        errors |= STATUS(CC_ERROR_BUSY);
    if (oracle_has_undefined(operand->pixels->oracle, &operand->box))
        errors |= STATUS(CC_ERROR_UNINITIALIZED);
    return errors;
}

static unsigned char *take(const model_image *image, int64_t count)
{
    unsigned char *bytes = malloc((size_t)(count * image->pixels->oracle->pixel_bytes));
    bool *known = malloc((size_t)count * sizeof *known);
    oracle_take(image->pixels->oracle, &image->box, bytes, known);
    free(known);
    return bytes;
}

static void subtract_pixels(model_image *first, model_image *second, model_image *output)
{
    const int64_t count = oracle_box_count(&output->box);
    const int64_t first_bytes = first->pixels->oracle->pixel_bytes, second_bytes = second->pixels->oracle->pixel_bytes,
                  to_bytes = output->pixels->oracle->pixel_bytes;
    unsigned char *x = take(first, count), *y = take(second, count), *to = malloc((size_t)(count * to_bytes));
    for (int64_t i = 0; i < count; i++)
        value_subtract(first->kind.type, x + i * first_bytes, second->kind.type, y + i * second_bytes,
                       output->kind.type, output->kind.components, to + i * to_bytes);
    oracle_put(output->pixels->oracle, &output->box, to);
    free(x);
    free(y);
    free(to);
}

/* The inputs that are lent for themselves, in that order: not with the output, and not with an input before. */
static int32_t lent_inputs(model_image *first, model_image *second, const model_image *output, model_image *out[2])
{
    int32_t count = 0;
    if (!is_output(first, output))
        out[count++] = first;
    if (!is_output(second, output) && !is_output(second, first))
        out[count++] = second;
    return count;
}

/* Those that were lent before the one for which there was no memory. */
static void note_lent(model_world *world, model_image *const lent[2], int32_t count, cc_place place)
{
    for (int32_t i = 0; i < count; i++)
        if (!pressure_note_input(world, lent[i], place, world_cost(world, lent[i])))
            return;
}

bool step_subtract(model_world *world)
{
    model_image *output = world_pick_image(world);
    model_image *first = output != NULL ? pick_operand(world, output) : NULL;
    model_image *second = first != NULL ? pick_operand(world, output) : NULL;
    if (second == NULL)
        return false;
    /* Parts of pixels that are lent are in each other's way while both are read. */
    if (first->pixels == second->pixels && !is_output(first, second) && world->loan_count > 0)
        return false;
    model_image *const images[] = {first, second, output};
    model_image *lent[2];
    const int32_t lent_count = lent_inputs(first, second, output, lent);
    cc_place place = CC_PLACE_HOST;
    cc_stream stream = NULL;
    uint32_t errors = output->pixels->oracle->read_only ? STATUS(CC_ERROR_READ_ONLY) : 0;
    for (int32_t i = 0; i < 2; i++) {
        if (!fits(images[i], output))
            errors |= STATUS(CC_ERROR_SIZE);
        else if (!is_alike(images[i], output))
            return false; /* one counts for all: that is for tests of values */
        else if (images[i]->pixels == output->pixels && !is_output(images[i], output) &&
                 oracle_boxes_overlap(&images[i]->box, &output->box))
            errors |= STATUS(CC_ERROR_BUSY);
    }
    const bool touches = errors == 0 && oracle_box_count(&output->box) > 0;
    if (touches) {
        errors |= world_operation_place(world, images, 3, &output->box, &place);
        errors |= world_conflicts(world, output->pixels, &output->box, CC_ACCESS_WRITE);
        for (int32_t i = 0; i < 2; i++)
            errors |= operand_errors(world, images[i], output);
        for (int32_t i = 0; i < 2 && errors == 0; i++)
            errors |= world_loan_conflicts(world, images[i]->pixels, &images[i]->box, place, CC_ACCESS_READ);
    }
    if ((errors & STATUS(CC_ERROR_UNINITIALIZED)) != 0 && world->tidies)
        return false; /* what comes out is nobody's business */
    if (place != CC_PLACE_HOST && world_place_errors(world, place) == 0)
        stream = work_stream(&world->work, place);
    for (int32_t i = 0; i < lent_count; i++)
        (void)world_cost(world, lent[i]);
    oracle_cost *output_cost = world_cost(world, output);
    world->worked_at = place;
    report_step(world->step, "subtract image %d from image %d into image %d at %d, stream %p", (int)second->number,
                (int)first->number, (int)output->number, (int)place, (void *)stream);
    const cc_status status = cc_image_subtract(first->handle, second->handle, output->handle, stream);
    if (status == CC_ERROR_OUT_OF_DEVICE_MEMORY || status == CC_ERROR_OUT_OF_HOST_MEMORY)
        note_lent(world, lent, lent_count, place);
    const bool done = world_expect(world, "subtract", status, errors);
    world_note_device(world, first, false);
    if (second != first)
        world_note_device(world, second, false);
    if (output != first && output != second)
        world_note_device(world, output, false);
    if (!done || !touches)
        return true;
    const uint32_t peers = world->peers[place + 1];
    const bool in_place = is_output(first, output) || is_output(second, output);
    for (int32_t i = 0; i < lent_count; i++) {
        oracle_bring(lent[i]->pixels->oracle, &lent[i]->box, place, true, peers, world_cost(world, lent[i]));
        pressure_note_use(world, lent[i]->pixels, place);
    }
    oracle_bring(output->pixels->oracle, &output->box, place, in_place, peers, output_cost);
    pressure_note_use(world, output->pixels, place);
    subtract_pixels(first, second, output);
    oracle_own(output->pixels->oracle, &output->box, place);
    output->pixels->has_changed = true;
    world_bring_back(world, output->pixels, &output->box, place, output_cost);
    world->device_calls[FAULTY_RUN_KERNEL] += place != CC_PLACE_HOST;
    return true;
}
