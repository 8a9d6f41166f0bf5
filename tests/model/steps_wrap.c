#include "steps.h"

#include <stdlib.h>
#include <string.h>

/* What a wrap call may do wrong. */
typedef enum mistake {
    MISTAKE_NONE = 0,
    MISTAKE_SIZE = 1,
    MISTAKE_OWNER = 2,  /* neither borrowed nor with a callback */
    MISTAKE_MEMORY = 3, /* host memory given as device memory */
    MISTAKE_FLAGS = 4
} mistake;

/* Strides of any order with gaps, for the axes of the image; and the bytes from the first pixel to the last. */
static void random_strides(model_world *world, const model_image *image, oracle_pixels *pixels,
                           int64_t out_strides[CC_MAX_DIMENSION])
{
    random_source *random = &world->random;
    const int64_t component_bytes = (int64_t)cc_pixel_type_size_bytes(image->kind.type);
    const bool is_strided = random_chance(random, 50);
    int32_t axes[CC_MAX_DIMENSION] = {0, 1, 2, 3};
    int64_t extent = pixels->pixel_bytes;
    memset(out_strides, 0, CC_MAX_DIMENSION * sizeof *out_strides);
    for (int32_t i = image->dimension - 1; is_strided && i > 0; i--) {
        const int64_t other = random_chance(random, 30) ? random_below(random, i + 1) : i;
        const int32_t swapped = axes[i];
        axes[i] = axes[other];
        axes[other] = swapped;
    }
    bool has_stride = false;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        const int32_t axis = axes[i];
        const int64_t gap = is_strided && random_chance(random, 50) ? random_below(random, 3) : 0;
        pixels->wrapped_stride[axis] = extent + gap * component_bytes;
        if (pixels->size[axis] > 1) {
            extent += pixels->wrapped_stride[axis] * (pixels->size[axis] - 1);
            has_stride = has_stride || axis < image->dimension;
        }
    }
    pixels->wrapped_bytes = pixels->count == 0 ? 0 : (size_t)extent;
    /* A stride that is never used may be anything. */
    for (int32_t axis = 0; is_strided && has_stride && axis < image->dimension; axis++)
        out_strides[axis] = pixels->size[axis] > 1 ? pixels->wrapped_stride[axis] : random_below(random, 5) - 2;
}

static oracle_pixels *random_pixels(model_world *world, const model_image *image, bool is_undefined)
{
    const int64_t bytes = (int64_t)cc_pixel_type_size_bytes(image->kind.type) * image->kind.components;
    oracle_pixels *pixels = oracle_create(image->region.size, bytes, is_undefined);
    world_random_values(world, image->kind, pixels->count, pixels->newest);
    memset(pixels->is_constant, 0, (size_t)pixels->count * sizeof *pixels->is_constant);
    pixels->is_wrapped = true;
    return pixels;
}

static void make_mistake(mistake made, model_world *world, cc_wrap_params *params, uint32_t *errors)
{
    switch (made) {
    case MISTAKE_NONE:
        break;
    case MISTAKE_SIZE:
        params->size_bytes++;
        *errors |= STATUS(CC_ERROR_SIZE);
        break;
    case MISTAKE_OWNER:
        params->release = NULL;
        params->flags &= ~CC_WRAP_BORROWED;
        *errors |= STATUS(CC_ERROR_INVALID_ARGUMENT);
        break;
    case MISTAKE_MEMORY:
        params->data = world;
        *errors |= STATUS(CC_ERROR_POINTER);
        break;
    case MISTAKE_FLAGS:
        params->flags |= 1u << 20;
        *errors |= STATUS(CC_ERROR_INVALID_ARGUMENT);
        break;
    }
}

static mistake random_mistake(model_world *world, bool on_device, bool is_empty)
{
    if (!random_chance(&world->random, 12))
        return MISTAKE_NONE;
    const mistake made = (mistake)(1 + random_below(&world->random, 4));
    return made == MISTAKE_MEMORY && (!on_device || is_empty) ? MISTAKE_NONE : made;
}

static bool wrap(model_world *world, bool on_device)
{
    random_source *random = &world->random;
    model_image *image = world_pick_image(world);
    if (image == NULL || (image->mappings > 0 && random_chance(random, 80)))
        return false;
    const bool is_undefined = random_chance(random, 20);
    const bool is_read_only = !is_undefined && random_chance(random, 20);
    oracle_pixels *oracle = random_pixels(world, image, is_undefined);
    const bool is_empty = oracle->count == 0;
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    cc_stream stream = NULL;
    cc_place place = CC_PLACE_HOST;
    uint32_t errors = image->mappings > 0 ? STATUS(CC_ERROR_BUSY) : 0;
    if (on_device && is_empty)
        errors |= world_device(world, image, &place);
    else if (on_device && world->device_count > 0)
        place = (cc_place)random_below(random, world->device_count);
    else if (on_device)
        errors |= STATUS(CC_ERROR_NO_DEVICE);
    const bool has_place = !on_device || (place >= 0 && place < world->device_count);
    oracle->wrapped_at = has_place ? place : CC_PLACE_HOST;
    oracle->read_only = is_read_only;
    for (int64_t i = 0; i < oracle->count; i++)
        oracle->valid[i] = is_undefined ? 0 : ORACLE_BIT(oracle->wrapped_at);
    random_strides(world, image, oracle, params.strides_bytes);
    if (on_device && has_place)
        stream = work_stream(&world->work, place);
    wrapped_memory *wrapped = wrapped_create(&world->work, oracle, oracle->wrapped_at, stream);
    wrapped->is_compared = !world->tidies;
    wrapped->is_borrowed = random_chance(random, 30);
    params.data = wrapped->data;
    params.size_bytes = oracle->wrapped_bytes;
    params.flags = (wrapped->is_borrowed ? CC_WRAP_BORROWED : 0) | (is_read_only ? CC_WRAP_READ_ONLY : 0) |
                   (is_undefined ? CC_WRAP_UNINITIALIZED : 0) | (random_chance(random, 30) ? CC_WRAP_REUSED : 0);
    params.release = wrapped->is_borrowed ? NULL : wrapped_release;
    params.user_data = wrapped;
    make_mistake(random_mistake(world, on_device, is_empty), world, &params, &errors);
    report_step(world->step, "image %d wraps memory at %d%s%s%s, strides %lld,%lld,%lld,%lld, stream %p",
                (int)image->number, (int)oracle->wrapped_at, is_read_only ? ", read-only" : "",
                is_undefined ? ", undefined" : "", wrapped->is_borrowed ? ", borrowed" : "",
                (long long)params.strides_bytes[0], (long long)params.strides_bytes[1],
                (long long)params.strides_bytes[2], (long long)params.strides_bytes[3], (void *)stream);

    model_pixels *before = image->pixels;
    world_expect_drop(before);
    const cc_status status =
        on_device ? cc_image_wrap_device(image->handle, &params, stream) : cc_image_wrap_host(image->handle, &params);
    if (!world_expect(world, "wrap", status, errors)) {
        world_forget_drop(before);
        world_note_device(world, image, false);
        work_settle(&world->work);
        wrapped_free(wrapped);
        free(wrapped);
        oracle_destroy(oracle);
        return true;
    }
    if (on_device)
        image->device = place;
    oracle->has_memory[oracle->wrapped_at + 1] = true;
    image->pixels = world_add_pixels(oracle);
    image->pixels->handles = 1;
    image->pixels->wrapped = wrapped;
    image->pixels->counters = fixture_counters(image->handle);
    memcpy(image->box.size, image->region.size, sizeof image->box.size);
    memset(image->box.start, 0, sizeof image->box.start);
    if (!is_empty)
        image->pixels->memory[place + 1] = wrapped->data;
    world_drop(world, before);
    return true;
}

bool step_wrap_host(model_world *world)
{
    return wrap(world, false);
}

bool step_wrap_device(model_world *world)
{
    return wrap(world, true);
}
