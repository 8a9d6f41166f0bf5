/* Textures: mappings for reading whose pixels are a copy, made when the pixels have changed since the last one. */
#include "steps.h"

#include "support/texture_probe.h"

#include <math.h>
#include <string.h>

#define PROBED 4

static int32_t values_of(cc_pixel_type type)
{
    if (type == CC_PIXEL_FLOAT64 || type == CC_PIXEL_UINT64 || type == CC_PIXEL_COMPLEX128)
        return 0;
    return type == CC_PIXEL_COMPLEX64 ? 2 : 1;
}

/* All of a pixel where that is possible, else a component. */
static int32_t channels_of(const model_image *image, uint32_t flags)
{
    const int32_t values = values_of(image->kind.type), all = values * image->kind.components;
    return (all == 1 || all == 2 || all == 4) && (flags & CC_TEXTURE_PER_COMPONENT) == 0 ? all : values;
}

static uint32_t form_errors(const model_image *image, const model_region *region, const cc_texture_params *params)
{
    const int32_t values = values_of(image->kind.type), channels = channels_of(image, params->flags);
    uint32_t errors = values == 0 ? STATUS(CC_ERROR_PIXEL_TYPE) : 0;
    if (values > 0 && values * image->kind.components / channels > CC_TEXTURE_MAX_OBJECTS)
        errors |= STATUS(CC_ERROR_UNSUPPORTED);
    for (int32_t axis = params->shape == CC_TEXTURE_PLANE ? 2 : 3; axis < CC_MAX_DIMENSION; axis++)
        if (region->errors == 0 && region->box.size[axis] > 1)
            errors |= STATUS(CC_ERROR_SIZE);
    return errors;
}

static bool is_used(const model_world *world, const model_pixels *pixels, int32_t number)
{
    for (int32_t i = 0; i < world->mapping_count; i++) {
        const model_mapping *mapping = &world->mappings[i];
        if (mapping->image->pixels == pixels && mapping->is_texture && mapping->texture_number == number)
            return true;
    }
    return false;
}

static bool is_old(const model_pixels *pixels, const model_texture *texture)
{
    return oracle_last_change(pixels->oracle, &texture->box) > texture->clock;
}

/* What nobody uses and nobody will get again. */
static void forget_old(const model_world *world, model_pixels *pixels)
{
    for (int32_t i = pixels->texture_count - 1; i >= 0; i--)
        if (is_old(pixels, &pixels->textures[i]) && !is_used(world, pixels, pixels->textures[i].number))
            pixels->textures[i] = pixels->textures[--pixels->texture_count];
}

void world_evict_textures(const model_world *world, model_pixels *pixels, cc_place place)
{
    for (int32_t i = pixels->texture_count - 1; i >= 0; i--)
        if (pixels->textures[i].place == place && !is_used(world, pixels, pixels->textures[i].number))
            pixels->textures[i] = pixels->textures[--pixels->texture_count];
}

static model_texture *find_fresh(model_pixels *pixels, const model_texture *wanted)
{
    for (int32_t i = 0; i < pixels->texture_count; i++) {
        model_texture *texture = &pixels->textures[i];
        if (texture->place == wanted->place && texture->shape == wanted->shape &&
            texture->channels == wanted->channels && memcmp(&texture->box, &wanted->box, sizeof wanted->box) == 0 &&
            !is_old(pixels, texture))
            return texture;
    }
    return NULL;
}

/* Some values, read by a kernel: the centres of pixels, of one object. What it read is looked at later. */
static void probe_texture(model_world *world, model_mapping *mapping)
{
    random_source *random = &world->random;
    const cc_texture *texture = &mapping->texture;
    const model_image *image = mapping->image;
    const int32_t object = (int32_t)random_below(random, texture->object_count);
    const cc_pixel_type type = image->kind.type;
    const cc_pixel_type value_type = type == CC_PIXEL_COMPLEX64 ? CC_PIXEL_FLOAT32
                                     : type == CC_PIXEL_BOOL    ? CC_PIXEL_UINT8
                                                                : type;
    const size_t value_bytes = cc_pixel_type_size_bytes(value_type);
    float at[PROBED][3], expected[PROBED * 4];
    bool known[PROBED];
    char what[48];
    for (int32_t n = 0; n < PROBED; n++) {
        oracle_box pixel = {.size = {1, 1, 1, 1}};
        unsigned char bytes[CC_MAX_COMPONENTS * 16];
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
            const int64_t index = random_below(random, mapping->box.size[axis]);
            pixel.start[axis] = mapping->box.start[axis] + index;
            if (axis < 3)
                at[n][axis] = (float)index + (axis == 2 && mapping->texture_shape == CC_TEXTURE_LAYERS ? 0 : 0.5f);
        }
        oracle_take(image->pixels->oracle, &pixel, bytes, &known[n]);
        for (int32_t channel = 0; channel < texture->channels; channel++) {
            const int32_t value = object * texture->channels + channel;
            const float read = (float)value_get(value_type, bytes + (size_t)value * value_bytes);
            expected[n * texture->channels + channel] = read;
            /* Which 0 it is, only a real texture unit tells. */
            known[n] = known[n] && (read != 0 || signbit(read) == 0);
        }
    }
    snprintf(what, sizeof what, "a texture, step %d", (int)world->step);
    const probe queued = probe_queue(texture, object, mapping->texture_shape, value_type, mapping->stream, at, PROBED);
    const int64_t bytes = texture->channels * (int64_t)sizeof(float);
    const work_box results = {.memory = (unsigned char *)queued.results,
                              .stride = {sizeof(float[4]), 0, 0, 0},
                              .size = {PROBED, 1, 1, 1},
                              .pixel_bytes = bytes};
    work_read(&world->work, mapping->place, mapping->stream, &results, (const unsigned char *)expected, known, what);
    model_ok(fixture_inner->free(fixture_inner, mapping->place, mapping->stream, queued.results));
}

static void note_mapping(model_world *world, model_image *image, const model_texture *texture, const cc_texture *mapped,
                         cc_stream stream)
{
    model_mapping *mapping = &world->mappings[world->mapping_count++];
    image->mappings++;
    *mapping = (model_mapping){.image = image,
                               .place = texture->place,
                               .access = CC_ACCESS_READ,
                               .box = texture->box,
                               .stream = stream,
                               .is_texture = true,
                               .texture = *mapped,
                               .texture_shape = texture->shape,
                               .texture_number = texture->number};
    probe_texture(world, mapping);
}

static void check_form(const model_image *image, const cc_texture *texture, const model_texture *wanted)
{
    model_check(texture->device == wanted->place && texture->channels == wanted->channels &&
                    texture->object_count * texture->channels == values_of(image->kind.type) * image->kind.components,
                "a texture of device %d has %d objects of %d channels", (int)texture->device,
                (int)texture->object_count, (int)texture->channels);
}

/* An image that has a texture of all of it, and the shape of that. NULL when none is found. */
static model_image *pick_textured(model_world *world, int32_t *out_shape)
{
    for (int32_t tries = 0; tries < 6; tries++) {
        model_image *image = world_pick_image(world);
        for (int32_t i = 0; image != NULL && i < image->pixels->texture_count; i++) {
            if (memcmp(&image->pixels->textures[i].box, &image->box, sizeof image->box) != 0)
                continue;
            *out_shape = (int32_t)image->pixels->textures[i].shape;
            return image;
        }
    }
    return NULL;
}

bool step_map_texture(model_world *world)
{
    random_source *random = &world->random;
    cc_texture_params params = CC_TEXTURE_PARAMS_INIT;
    params.shape = (int32_t)random_below(random, 3);
    model_image *again = random_chance(random, 60) ? pick_textured(world, &params.shape) : NULL;
    model_image *image = again != NULL ? again : world_pick_image(world);
    cc_texture mapped = CC_TEXTURE_INIT;
    model_texture wanted = {.place = CC_PLACE_HOST};
    cc_stream stream = NULL;
    model_region region;
    if (image == NULL || world->mapping_count >= world->most_mappings)
        return false;
    model_pixels *pixels = image->pixels;
    world_pick_region(world, image, true, &region);
    if (again != NULL || random_chance(random, 30)) {
        memset(&region, 0, sizeof region);
        region.region = image->region;
        region.box = image->box;
        region.is_empty = oracle_box_count(&image->box) == 0;
    }
    params.flags = random_chance(random, 80) ? 0 : CC_TEXTURE_PER_COMPONENT;
    uint32_t errors = region.errors | form_errors(image, &region, &params);
    forget_old(world, pixels);
    if (pixels->texture_count == MODEL_TEXTURES)
        return false;
    const bool touches = errors == 0 && !region.is_empty;
    if (touches)
        errors |= world_device(world, image, &wanted.place);
    if (touches && errors == 0) {
        stream = work_stream(&world->work, wanted.place);
        errors |= world_conflicts(world, pixels, &region.box, CC_ACCESS_READ);
        errors |= world_loan_conflicts(world, pixels, &region.box, wanted.place, CC_ACCESS_READ);
        if (oracle_has_undefined(pixels->oracle, &region.box))
            errors |= STATUS(CC_ERROR_UNINITIALIZED);
    }
    wanted.box = region.box;
    wanted.channels = channels_of(image, params.flags);
    wanted.shape = (cc_texture_shape)params.shape;
    oracle_cost *cost = world_cost(world, image);
    world->worked_at = wanted.place;
    report_step(world->step, "map texture of %lld pixels of image %d, shape %d, flags %u at %d, stream %p",
                (long long)(touches ? oracle_box_count(&region.box) : 0), (int)image->number, (int)params.shape,
                (unsigned)params.flags, (int)wanted.place, (void *)stream);
    const cc_status status = cc_image_map_texture(image->handle, region.argument, &params, stream, &mapped);
    const bool done = world_expect(world, "map texture", status, errors);
    world_note_device(world, image, done && touches);
    if (!done || !touches) {
        model_check(mapped.object_count == 0 && mapped.library == NULL, "a texture of nothing has objects");
        return true;
    }
    check_form(image, &mapped, &wanted);
    oracle_bring(pixels->oracle, &region.box, wanted.place, true, world->peers[wanted.place + 1], cost);
    model_texture *fresh = find_fresh(pixels, &wanted);
    if (fresh == NULL) {
        fresh = &pixels->textures[pixels->texture_count++];
        wanted.number = ++pixels->made_textures;
        wanted.clock = pixels->oracle->clock;
        *fresh = wanted;
        cost->texture_updates++;
        world->device_calls[FAULTY_TEXTURE_UPDATE]++;
    }
    report_note("texture %d%s", (int)fresh->number, cost->texture_updates > 0 ? ", new" : "");
    note_mapping(world, image, fresh, &mapped, stream);
    return true;
}

cc_status world_unmap_texture(model_world *world, model_mapping *mapping, cc_stream stream)
{
    if (random_chance(&world->random, 30))
        probe_texture(world, mapping);
    return cc_image_unmap_texture(mapping->image->handle, &mapping->texture, stream);
}
