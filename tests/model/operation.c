#include "operation.h"

#include "pressure.h"
#include "steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PIXELS 1200
#define MOST_PIXELS_OF_NEW_OUTPUT 300

static const operation_kind *const kinds[] = {
    &operation_evaluate,    &operation_evaluate, &operation_reduce,   &operation_measure,  &operation_histogram,
    &operation_paste,       &operation_crop,     &operation_pad,      &operation_flip,     &operation_permute,
    &operation_interpolate, &operation_splat,    &operation_average,  &operation_gradient, &operation_divergence,
    &operation_laplacian,   &operation_resample, &operation_resample, &operation_warp,     &operation_gaussian,
    &operation_convolve,    &operation_filter,
};

#define KIND_COUNT ((int64_t)(sizeof kinds / sizeof kinds[0]))

model_image *operation_pick(model_world *world)
{
    for (int32_t tries = 0; tries < 4; tries++) {
        model_image *image = world_pick_image(world);
        if (image == NULL)
            return NULL;
        const int64_t count = oracle_box_count(&image->box);
        if (count > 0 && count <= MOST_PIXELS)
            return image;
    }
    return NULL;
}

model_image *operation_pick_output(model_world *world, int32_t dimension, const int64_t size[CC_MAX_DIMENSION],
                                   int32_t components, const model_image *apart)
{
    int64_t whole[CC_MAX_DIMENSION] = {1, 1, 1, 1};
    memcpy(whole, size, (size_t)dimension * sizeof *size);
    const int64_t count = whole[0] * whole[1] * whole[2] * whole[3];
    for (int32_t tries = 0; tries < 8; tries++) {
        model_image *output = world_pick_image(world);
        if (output == apart && !random_chance(&world->random, 10))
            continue;
        if (output != NULL && output->dimension == dimension && output->kind.components == components &&
            memcmp(output->region.size, whole, sizeof whole) == 0)
            return output;
    }
    if (count > MOST_PIXELS_OF_NEW_OUTPUT)
        return NULL;
    return step_create_of(world, (value_kind){value_type_random(&world->random), components}, dimension, whole);
}

void operation_read(model_operation *operation, model_image *image)
{
    operation->read[operation->input_count] = image->box;
    operation->inputs[operation->input_count++] = image;
}

void operation_write(model_operation *operation, model_image *image)
{
    operation->output = image;
    operation->written = image->box;
}

bool operation_is_complex(const model_operation *operation)
{
    bool is_complex = operation->output != NULL && value_is_complex(operation->output->kind.type);
    for (int32_t i = 0; i < operation->input_count; i++)
        is_complex = is_complex || value_is_complex(operation->inputs[i]->kind.type);
    return is_complex;
}

static bool has_box(const oracle_box *a, const oracle_box *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static bool is_output(const model_operation *operation, int32_t input)
{
    return operation->output != NULL && operation->inputs[input]->pixels == operation->output->pixels &&
           has_box(&operation->read[input], &operation->written);
}

/* Of inputs that are the same pixels the first is lent for all. */
static bool is_lent(const model_operation *operation, int32_t input)
{
    for (int32_t i = 0; i < input; i++)
        if (operation->inputs[i]->pixels == operation->inputs[input]->pixels &&
            has_box(&operation->read[i], &operation->read[input]))
            return false;
    return !is_output(operation, input);
}

static bool is_in_place(const model_operation *operation)
{
    for (int32_t i = 0; i < operation->input_count; i++)
        if (is_output(operation, i))
            return true;
    return false;
}

/* Parts of pixels that are lent are in each other's way while both are read. */
static bool has_parts_of_one(const model_operation *operation)
{
    for (int32_t i = 0; i < operation->input_count; i++)
        for (int32_t other = 0; other < i; other++)
            if (operation->inputs[i]->pixels == operation->inputs[other]->pixels &&
                !has_box(&operation->read[i], &operation->read[other]))
                return true;
    return false;
}

static bool reads_undefined(const model_operation *operation)
{
    for (int32_t i = 0; i < operation->input_count; i++)
        if (oracle_has_undefined(operation->inputs[i]->pixels->oracle, &operation->read[i]))
            return true;
    return false;
}

static uint32_t argument_errors(const model_operation *operation)
{
    const model_image *output = operation->output;
    uint32_t errors = operation->errors;
    if (output == NULL)
        return errors;
    if (output->pixels->oracle->read_only)
        errors |= STATUS(CC_ERROR_READ_ONLY);
    for (int32_t i = 0; i < operation->input_count; i++)
        if (operation->inputs[i]->pixels == output->pixels && (i < operation->apart || !is_output(operation, i)) &&
            oracle_boxes_overlap(&operation->read[i], &operation->written))
            errors |= STATUS(CC_ERROR_BUSY);
    return errors;
}

/* A number for the host comes from a temporary image, which has memory nowhere. */
static uint32_t choose_place(const model_world *world, const model_operation *operation, cc_place *out_place)
{
    model_image *images[OPERATION_INPUTS + 1];
    const int32_t count = operation->input_count;
    memcpy(images, operation->inputs, sizeof operation->inputs);
    images[count] = operation->output;
    if (operation->output != NULL)
        return world_operation_place(world, images, count + 1, &operation->written, out_place);
    bool has_host_memory = false;
    *out_place = CC_PLACE_HOST;
    for (int32_t i = 0; i < count; i++) {
        const bool *has_memory = images[i]->pixels->oracle->has_memory;
        for (int32_t device = 0; device < world->device_count; device++)
            if (has_memory[device + 1])
                return world_device(world, images[i], out_place);
        has_host_memory = has_host_memory || has_memory[CC_PLACE_HOST + 1];
    }
    if (!has_host_memory && world->device_count > 0)
        *out_place = world->current_device;
    return 0;
}

static uint32_t state_errors(const model_world *world, const model_operation *operation, cc_place place)
{
    uint32_t errors = 0;
    const model_image *output = operation->output;
    if (output != NULL)
        errors |= world_conflicts(world, output->pixels, &operation->written, CC_ACCESS_WRITE);
    if (output != NULL && world_place_errors(world, place) == 0)
        errors |= world_loan_conflicts(world, output->pixels, &operation->written, place, CC_ACCESS_WRITE);
    for (int32_t i = 0; i < operation->input_count; i++)
        errors |= world_conflicts(world, operation->inputs[i]->pixels, &operation->read[i], CC_ACCESS_READ);
    for (int32_t i = 0; i < operation->input_count && world_place_errors(world, place) == 0; i++)
        errors |= world_loan_conflicts(world, operation->inputs[i]->pixels, &operation->read[i], place, CC_ACCESS_READ);
    if (reads_undefined(operation))
        errors |= STATUS(CC_ERROR_UNINITIALIZED);
    return errors;
}

static void bring(model_world *world, model_image *image, const oracle_box *box, cc_place place, bool reads)
{
    oracle_cost *cost = world_cost(world, image);
    oracle_bring(image->pixels->oracle, box, place, reads, world->peers[place + 1], cost);
    cost->cells += OPERATION_INPUTS; /* a part that is read after another finds what that one was cut into */
    pressure_note_use(world, image->pixels, place);
}

static void bring_all(model_world *world, const model_operation *operation, cc_place place)
{
    for (int32_t i = 0; i < operation->input_count; i++)
        if (is_lent(operation, i))
            bring(world, operation->inputs[i], &operation->read[i], place, true);
    if (operation->output != NULL)
        bring(world, operation->output, &operation->written, place, is_in_place(operation));
}

static bool has_memory_now(const model_image *image, cc_place place)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    model_ok(cc_image_get_place_state(image->handle, place, &state));
    return state.memory_bytes > 0;
}

/* One after the other, as far as there was memory. */
static void bring_those_with_memory(model_world *world, const model_operation *operation, cc_place place)
{
    for (int32_t i = 0; i < operation->input_count; i++) {
        if (!is_lent(operation, i))
            continue;
        if (!has_memory_now(operation->inputs[i], place))
            return;
        bring(world, operation->inputs[i], &operation->read[i], place, true);
    }
}

/* What comes out, by the oracle's arithmetic or on the host, is the output's newest value; or the result. */
static void compute(const operation_kind *kind, model_operation *operation)
{
    operation_pixels inputs[OPERATION_INPUTS];
    operation_pixels output = {.count = 0};
    const double result = operation->result;
    double expected = 0;
    for (int32_t i = 0; i < operation->input_count; i++)
        inputs[i] = pixels_take(operation->inputs[i]);
    if (operation->output != NULL)
        output = pixels_take(operation->output);
    if (kind->expect == NULL || !kind->expect(operation, inputs, &output, &expected)) {
        report_note("compared with the host");
        operation_compute_on_host(kind, operation, inputs, &output);
        expected = operation->result;
    }
    if (operation->output != NULL)
        oracle_put(operation->output->pixels->oracle, &operation->output->box, output.bytes);
    else
        model_check(result == expected && signbit(result) == signbit(expected), "%s gave %.17g, expected %.17g",
                    kind->name, result, expected);
    for (int32_t i = 0; i < operation->input_count; i++)
        free(inputs[i].bytes);
    free(output.bytes);
}

/* The pixels' counters do not count what operations do inside a device. */
static void note_device_work(model_world *world, const model_operation *operation)
{
    world->device_scratch += operation->scratch;
    if (operation->is_copy) {
        world->before.device_to_device_copies++;
        world->before.device_to_device_bytes +=
            oracle_box_count(&operation->written) * operation->output->pixels->oracle->pixel_bytes;
    } else {
        world->device_calls[operation->call] += operation->calls;
    }
    if (operation->output != NULL)
        return;
    /* The temporary image, and the way of its only pixel. */
    world->device_scratch++;
    world->before.device_to_host_copies++;
    world->before.device_to_host_bytes += (int64_t)sizeof operation->result;
}

static void report(const model_world *world, const operation_kind *kind, const model_operation *operation,
                   cc_place place, cc_stream stream)
{
    report_step(world->step, "%s at %d, stream %p", kind->name, (int)place, (void *)stream);
    for (int32_t i = 0; i < operation->input_count; i++)
        report_note("of %lld pixels of image %d", (long long)oracle_box_count(&operation->read[i]),
                    (int)operation->inputs[i]->number);
    if (operation->output != NULL)
        report_note("into %lld pixels of image %d", (long long)oracle_box_count(&operation->written),
                    (int)operation->output->number);
}

static void note_devices(model_world *world, const model_operation *operation)
{
    for (int32_t i = 0; i < operation->input_count; i++) {
        bool is_first = true;
        for (int32_t other = 0; other < i; other++)
            is_first = is_first && operation->inputs[other] != operation->inputs[i];
        if (is_first && operation->inputs[i] != operation->output)
            world_note_device(world, operation->inputs[i], false);
    }
    if (operation->output != NULL)
        world_note_device(world, operation->output, false);
}

static void finish(model_world *world, const operation_kind *kind, model_operation *operation, cc_place place)
{
    model_image *output = operation->output;
    bring_all(world, operation, place);
    compute(kind, operation);
    if (place != CC_PLACE_HOST)
        note_device_work(world, operation);
    if (output == NULL)
        return;
    oracle_own(output->pixels->oracle, &operation->written, place);
    output->pixels->has_changed = true;
    world_bring_back(world, output->pixels, &operation->written, place, world_cost(world, output));
}

static bool step_operation_of(model_world *world, const operation_kind *kind)
{
    model_operation operation;
    cc_image *handles[OPERATION_INPUTS] = {NULL};
    cc_place place = CC_PLACE_HOST;
    cc_stream stream = NULL;
    memset(&operation, 0, sizeof operation);
    operation.world = world;
    if (!kind->prepare(world, &operation))
        return false;
    if (world->loan_count > 0 && has_parts_of_one(&operation))
        return false;
    /* What is asked for beside the images' own memory is for tests of its own. */
    if (world->pressure != NULL && operation.scratch > 0 && !operation.scratch_is_little)
        return false;
    uint32_t errors = argument_errors(&operation);
    /* Where images overlap is seen before or after the place is chosen. */
    if ((errors & ~STATUS(CC_ERROR_BUSY)) == 0) {
        errors |= kind->choose_place != NULL ? kind->choose_place(&operation, &place)
                                             : choose_place(world, &operation, &place);
        errors |= state_errors(world, &operation, place);
    }
    if ((errors & STATUS(CC_ERROR_UNINITIALIZED)) != 0 && world->tidies)
        return false; /* what comes out is nobody's business */
    if (place != CC_PLACE_HOST && world_place_errors(world, place) == 0)
        stream = work_stream(&world->work, place);
    for (int32_t i = 0; i < operation.input_count; i++) {
        handles[i] = operation.inputs[i]->handle;
        if (is_lent(&operation, i))
            (void)world_cost(world, operation.inputs[i]);
    }
    if (operation.output != NULL)
        (void)world_cost(world, operation.output);
    operation.place = place;
    world->worked_at = place;
    report(world, kind, &operation, place, stream);
    cc_image *handle = operation.output != NULL ? operation.output->handle : NULL;
    const cc_status status = kind->run(&operation, handles, handle, stream);
    if (status == CC_ERROR_OUT_OF_DEVICE_MEMORY || status == CC_ERROR_OUT_OF_HOST_MEMORY)
        bring_those_with_memory(world, &operation, place);
    if (status == CC_ERROR_UNSUPPORTED && operation.may_be_less && errors == 0 && !fixture_is_emulated()) {
        bring_all(world, &operation, place);
        note_device_work(world, &operation);
        errors = STATUS(CC_ERROR_UNSUPPORTED);
    }
    const bool done = world_expect(world, kind->name, status, errors);
    note_devices(world, &operation);
    if (done)
        finish(world, kind, &operation, place);
    else if (errors != 0 && status != CC_ERROR_UNSUPPORTED && operation.output != NULL)
        world_compare_state(world, operation.output, place);
    return true;
}

bool step_operation(model_world *world)
{
    return step_operation_of(world, kinds[random_below(&world->random, KIND_COUNT)]);
}
