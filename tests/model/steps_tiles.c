/* An application's function on an image tile by tile: what moves is what the tiles say that they have. */
#include "operation.h"
#include "steps.h"
#include "tile_function.h"

#include "ops/tiles.h"

#include <stdlib.h>
#include <string.h>

#define MOST_INPUTS 2

typedef struct tiling {
    model_world *world;
    cc_place place;
    model_image *inputs[MOST_INPUTS];
    int32_t input_count;
    model_image *output;
    int64_t tiles;
    int64_t pixels; /* of the output, written so far */
} tiling;

static bool is_output(const tiling *self, int32_t input)
{
    return self->inputs[input]->pixels == self->output->pixels &&
           memcmp(&self->inputs[input]->box, &self->output->box, sizeof self->output->box) == 0;
}

/* Where an image's pixels are all right on the host, nothing is asked for. */
static void bring_to_host(const tiling *self, model_image *image, const oracle_box *box)
{
    oracle_pixels *pixels = image->pixels->oracle;
    oracle_cost *cost = world_cost(self->world, image);
    if (pixels->has_memory[CC_PLACE_HOST + 1] &&
        oracle_count_valid(pixels, box, CC_PLACE_HOST) == oracle_box_count(box))
        return;
    oracle_bring(pixels, box, CC_PLACE_HOST, true, 0, cost);
    cost->cells += (int64_t)CC__BOX_MAX_PIECES;
}

static void count_copy(const tiling *self, model_image *image, const oracle_box *box, oracle_direction direction)
{
    oracle_cost *cost = world_cost(self->world, image);
    const int64_t bytes = oracle_box_count(box) * image->pixels->oracle->pixel_bytes;
    cost->bytes[direction] += bytes;
    cost->of_tiles[direction] += bytes;
    cost->fewest_copies[direction]++;
    cost->most_copies[direction]++;
}

/* Called for each tile. On a device each of its parts moves once, but for those of the output, which are one. */
static void on_tile(void *context, const cc_tile *tile)
{
    tiling *self = context;
    const bool on_device = self->place != CC_PLACE_HOST;
    const oracle_box written = tile_box(self->output, &tile->output);
    oracle_pixels *output = self->output->pixels->oracle;
    /* Pixels that are written have got memory before the first tile. */
    if (self->tiles == 0 && !output->has_memory[CC_PLACE_HOST + 1])
        oracle_bring(output, &self->output->box, CC_PLACE_HOST, false, 0, world_cost(self->world, self->output));
    bool has_output = false;
    self->tiles++;
    for (int32_t i = 0; i < self->input_count; i++) {
        const oracle_box box = tile_box(self->inputs[i], &tile->inputs[i]);
        if (oracle_box_count(&box) == 0 || (is_output(self, i) && has_output))
            continue;
        has_output = has_output || is_output(self, i);
        bring_to_host(self, self->inputs[i], &box);
        if (on_device)
            count_copy(self, self->inputs[i], &box, ORACLE_UP);
    }
    if (on_device) {
        count_copy(self, self->output, &written, ORACLE_DOWN);
        work_forget_stream(&self->world->work, self->place, tile->stream);
        self->world->device_calls[FAULTY_CALL]++;
    }
    self->pixels += oracle_box_count(&written);
}

/* A halo around the first input's part, and some other part of the second. */
static cc_tiles_input input_of(random_source *random, const tiling *self, int32_t number)
{
    cc_tiles_input input = CC_TILES_INPUT_INIT;
    input.image = self->inputs[number]->handle;
    if (is_output(self, number) && random_chance(random, 80))
        return input;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        input.halo_before[axis] = random_chance(random, 70) ? 0 : random_below(random, 3);
        input.halo_after[axis] = random_chance(random, 70) ? 0 : random_below(random, 3);
        if (number > 0)
            input.offset[axis] = random_below(random, 5) - 2;
    }
    return input;
}

static bool is_as_it_is(const cc_tiles_input *input, int32_t dimension)
{
    for (int32_t axis = 0; axis < dimension; axis++)
        if (input->halo_before[axis] != 0 || input->halo_after[axis] != 0 || input->offset[axis] != 0)
            return false;
    return true;
}

static uint32_t input_errors(const tiling *self, const cc_tiles_input *input, int32_t number)
{
    const model_image *image = self->inputs[number];
    uint32_t errors = world_conflicts(self->world, image->pixels, &image->box, CC_ACCESS_READ);
    errors |= world_loan_conflicts(self->world, image->pixels, &image->box, CC_PLACE_HOST, CC_ACCESS_READ);
    if (image->pixels == self->output->pixels && oracle_boxes_overlap(&image->box, &self->output->box) &&
        !(is_output(self, number) && is_as_it_is(input, image->dimension)))
        errors |= STATUS(CC_ERROR_BUSY);
    if (oracle_has_undefined(image->pixels->oracle, &image->box))
        errors |= STATUS(CC_ERROR_UNINITIALIZED);
    return errors;
}

static uint32_t choose_place(const tiling *self, cc_place asked, cc_place *out_place)
{
    *out_place = asked;
    if (asked == CC_DEVICE_CURRENT && self->world->device_count == 0)
        *out_place = CC_PLACE_HOST;
    else if (asked == CC_DEVICE_CURRENT)
        return world_device(self->world, self->output, out_place);
    return world_place_errors(self->world, *out_place);
}

static bool choose_images(model_world *world, tiling *self)
{
    self->world = world;
    self->inputs[0] = operation_pick(world);
    if (self->inputs[0] == NULL)
        return false;
    const model_image *input = self->inputs[0];
    self->output = operation_pick_output(world, input->dimension, input->region.size, input->kind.components, input);
    self->input_count = 1;
    if (random_chance(&world->random, 40))
        self->inputs[1] = operation_pick(world);
    self->input_count += self->inputs[1] != NULL;
    /* Parts of pixels that are lent are in each other's way while both are read. */
    const bool has_parts = self->inputs[1] != NULL && self->inputs[1]->pixels == input->pixels;
    return self->output != NULL && !(world->loan_count > 0 && has_parts);
}

static void rescale_pixels(const tiling *self, const tile_task *task)
{
    const model_image *input = self->inputs[0];
    oracle_pixels *from = input->pixels->oracle, *to = self->output->pixels->oracle;
    const int64_t count = oracle_box_count(&self->output->box);
    unsigned char *taken = malloc((size_t)(count * from->pixel_bytes)),
                  *put = malloc((size_t)(count * to->pixel_bytes));
    bool *known = malloc((size_t)count);
    oracle_take(from, &input->box, taken, known);
    for (int64_t i = 0; i < count; i++)
        value_rescale(input->kind.type, taken + i * from->pixel_bytes, task->scale, task->shift,
                      self->output->kind.type, self->output->kind.components, put + i * to->pixel_bytes);
    oracle_put(to, &self->output->box, put);
    free(taken);
    free(put);
    free(known);
}

bool step_tiles(model_world *world)
{
    random_source *random = &world->random;
    tiling self = {.pixels = 0};
    cc_tiles_params params = CC_TILES_PARAMS_INIT;
    cc_tiles_input inputs[MOST_INPUTS];
    tile_task task = {.world = world, .name = "tiles", .scale = random_chance(random, 50) ? 1 : 2, .shift = 1};
    if (!choose_images(world, &self))
        return false;
    for (int32_t i = 0; i < self.input_count; i++)
        inputs[i] = input_of(random, &self, i);
    const oracle_pixels *pixels = self.output->pixels->oracle;
    params.limit_bytes = (size_t)(768 + random_below(random, 3 * pixels->count * pixels->pixel_bytes + 1));
    params.buffer_count = (int32_t)random_below(random, 4);
    params.place =
        random_chance(random, 60) ? CC_DEVICE_CURRENT : (cc_place)random_below(random, world->device_count + 2) - 1;
    params.inputs = inputs;
    params.input_count = self.input_count;
    params.output = self.output->handle;
    params.function = tile_function;
    params.user_data = &task;
    uint32_t errors = pixels->read_only ? STATUS(CC_ERROR_READ_ONLY) : 0;
    errors |= choose_place(&self, params.place, &self.place);
    errors |= world_conflicts(world, self.output->pixels, &self.output->box, CC_ACCESS_WRITE);
    for (int32_t i = 0; i < self.input_count; i++)
        errors |= input_errors(&self, &inputs[i], i);
    if ((errors & STATUS(CC_ERROR_UNINITIALIZED)) != 0 && world->tidies)
        return false; /* what comes out is nobody's business */
    task.place = self.place;
    task.inputs = self.inputs;
    task.input_count = self.input_count;
    task.output = self.output;
    task.on_tile = on_tile;
    task.context = &self;
    oracle_cost *cost = world_cost(world, self.output);
    for (int32_t i = 0; i < self.input_count; i++)
        (void)world_cost(world, self.inputs[i]);
    world->worked_at = CC_PLACE_HOST;
    report_step(world->step, "tiles at %d of image %d and %d others into image %d, limit %zu", (int)self.place,
                (int)self.inputs[0]->number, (int)self.input_count - 1, (int)self.output->number, params.limit_bytes);
    const cc_status status = cc_tiles_run(&params);
    /* One pixel with all that it needs was too much. */
    if (errors == 0 && status == CC_ERROR_OUT_OF_DEVICE_MEMORY && self.tiles == 0)
        errors = STATUS(CC_ERROR_OUT_OF_DEVICE_MEMORY);
    const bool done = world_expect(world, "tiles", status, errors);
    report_note("%lld tiles", (long long)self.tiles);
    for (int32_t i = 0; i < self.input_count; i++)
        if (self.inputs[i] != self.output && (i == 0 || self.inputs[i] != self.inputs[0]))
            world_note_device(world, self.inputs[i], false);
    world_note_device(world, self.output, false);
    if (!done)
        return true;
    const int64_t count = oracle_box_count(&self.output->box);
    model_check(self.pixels == count, "the tiles have %lld pixels, expected %lld", (long long)self.pixels,
                (long long)count);
    world->device_scratch += self.place != CC_PLACE_HOST;
    rescale_pixels(&self, &task);
    oracle_own(self.output->pixels->oracle, &self.output->box, CC_PLACE_HOST);
    self.output->pixels->has_changed = true;
    world_bring_back(world, self.output->pixels, &self.output->box, CC_PLACE_HOST, cost);
    return true;
}
