#include "pressure.h"

#include "data_manager/lent.h"
#include "image/image_handle.h"

#include "backend/emulated.h"

#include <stdlib.h>
#include <string.h>

static void set_peers(model_world *world)
{
    const bool refuses = world->device_count > 1 && random_chance(&world->random, 30);
    faulty_backend_refuse_peer_access(fixture_backend, refuses);
    for (int32_t to = 0; to < world->device_count; to++)
        for (int32_t from = 0; from < world->device_count; from++)
            if (to != from && !refuses && fixture_inner->has_peer_access(fixture_inner, to, from))
                world->peers[to + 1] |= ORACLE_BIT(from);
}

void world_begin(model_world *world, uint64_t seed, bool tidies)
{
    memset(world, 0, sizeof *world);
    world->random.state = seed;
    world->tidies = tidies;
    fixture_setup();
    world->device_count = fixture_device_count();
    model_check(world->device_count < ORACLE_MAX_PLACES, "more devices than the oracle knows");
    world->may_be_huge = random_chance(&world->random, 5);
    world->region_style = (int32_t)random_below(&world->random, 3);
    world->most_mappings = 1 + (int32_t)random_below(&world->random, WORLD_MAPPINGS);
    set_peers(world);
    if (fixture_is_emulated()) {
        world->current_device = (int32_t)random_below(&world->random, world->device_count);
        cc__emulated_set_current_device(fixture_inner, world->current_device);
    }
    work_begin(&world->work, &world->random);
}

bool world_expect(model_world *world, const char *call, cc_status status, uint32_t errors)
{
    report_note("%s", cc_status_name(status));
    if (world->tidies && errors == STATUS(CC_ERROR_UNINITIALIZED) && status == CC_OK)
        return true;
    if (status != CC_OK && (errors == 0 || (errors & STATUS(CC_OK)) != 0) && pressure_excuses(world, status))
        return false;
    const uint32_t allowed = errors != 0 ? errors : STATUS(CC_OK);
    model_check((allowed & STATUS(status)) != 0, "%s: %s (%s), expected one of the set 0x%x (%s)", call,
                cc_status_name(status), status == CC_OK ? "" : cc_last_error_message(), allowed,
                cc_status_name((cc_status)__builtin_ctz(allowed)));
    return status == CC_OK;
}

model_image *world_pick_image(model_world *world)
{
    int32_t owned = 0;
    for (int32_t i = 0; i < world->image_count; i++)
        owned += world->images[i]->owners > 0;
    if (owned == 0)
        return NULL;
    int64_t left = random_below(&world->random, owned);
    int32_t i = 0;
    while (world->images[i]->owners == 0 || left-- > 0)
        i++;
    return world->images[i];
}

model_image *world_image_of(const model_world *world, const model_pixels *pixels)
{
    for (int32_t i = 0; i < world->image_count; i++)
        if (world->images[i]->pixels == pixels)
            return world->images[i];
    return NULL;
}

model_image *world_add_image(model_world *world)
{
    if (world->image_count == WORLD_IMAGES)
        return NULL;
    model_image *image = calloc(1, sizeof *image);
    image->number = world->made_images;
    image->owners = 1;
    return image;
}

/* Along one axis, a part of `size` pixels that begins at `first`. */
static void pick_extent(model_world *world, int64_t first, int64_t size, int64_t *out_index, int64_t *out_size)
{
    random_source *random = &world->random;
    int64_t length = size == 0 ? 0 : 1 + random_below(random, size);
    if (world->region_style == 1 && length > 2 && random_chance(random, 70))
        length = 1 + random_below(random, 2);
    if (world->region_style == 2 && random_chance(random, 80))
        length = size;
    if (random_chance(random, 2))
        length = 0;
    *out_index = first + random_below(random, size - length + 1);
    *out_size = length;
}

/* A region that begins where one that is mapped does. False when the image has none. */
static bool pick_beside_mapping(model_world *world, const model_image *image, cc_region *out_region)
{
    random_source *random = &world->random;
    for (int32_t i = 0; i < world->mapping_count; i++) {
        const model_mapping *mapping = &world->mappings[i];
        if (mapping->image != image)
            continue;
        for (int32_t axis = 0; axis < image->dimension; axis++) {
            const int64_t start = mapping->box.start[axis] - image->box.start[axis];
            out_region->index[axis] = image->region.index[axis] + start;
            out_region->size[axis] = 1 + random_below(random, image->region.size[axis] - start);
        }
        return true;
    }
    return false;
}

void world_pick_region(model_world *world, const model_image *image, bool may_be_null, model_region *out_region)
{
    random_source *random = &world->random;
    memset(out_region, 0, sizeof *out_region);
    out_region->argument = &out_region->region;
    if (may_be_null && random_chance(random, world->region_style == 2 ? 50 : 10)) {
        out_region->argument = NULL;
        out_region->region = image->region;
    } else {
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
            /* Entries past the dimension mean nothing. */
            out_region->region.index[axis] = random_below(random, 9) - 4;
            out_region->region.size[axis] = random_below(random, 9) - 4;
        }
        const bool is_beside = random_chance(random, 25) && pick_beside_mapping(world, image, &out_region->region);
        for (int32_t axis = 0; !is_beside && axis < image->dimension; axis++)
            pick_extent(world, image->region.index[axis], image->region.size[axis], &out_region->region.index[axis],
                        &out_region->region.size[axis]);
        const int64_t axis = random_below(random, image->dimension);
        if (random_chance(random, 2))
            out_region->region.index[axis] += random_below(random, 2) != 0 ? 1 : -1;
        if (random_chance(random, 1))
            out_region->region.size[axis] = random_below(random, 2) != 0 ? -1 : out_region->region.size[axis] + 1;
    }
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        const bool is_axis = axis < image->dimension;
        const int64_t index = is_axis ? out_region->region.index[axis] : 0;
        const int64_t size = is_axis ? out_region->region.size[axis] : 1;
        const int64_t end = image->region.index[axis] + image->region.size[axis];
        if (size < 0)
            out_region->errors |= STATUS(CC_ERROR_INVALID_ARGUMENT);
        if (index < image->region.index[axis] || index + size > end)
            out_region->errors |= STATUS(CC_ERROR_REGION);
        out_region->is_empty = out_region->is_empty || size == 0;
        out_region->box.start[axis] = image->box.start[axis] + index - image->region.index[axis];
        out_region->box.size[axis] = size;
    }
}

uint32_t world_place_errors(const model_world *world, cc_place place)
{
    if (place == CC_PLACE_HOST)
        return 0;
    if (world->device_count == 0)
        return STATUS(CC_ERROR_NO_DEVICE);
    return place >= 0 && place < world->device_count ? 0 : STATUS(CC_ERROR_INVALID_DEVICE);
}

uint32_t world_device(const model_world *world, const model_image *image, cc_place *out_place)
{
    *out_place = image->device == CC_DEVICE_CURRENT ? world->current_device : image->device;
    return world_place_errors(world, *out_place);
}

void world_note_device(model_world *world, model_image *image, bool was_used)
{
    const int32_t device = cc_image_get_device(image->handle);
    const bool is_open = image->device == CC_DEVICE_CURRENT;
    const bool is_decided = is_open && world->device_count > 0 && device == world->current_device;
    model_check(is_decided || (device == image->device && !(is_open && was_used)),
                "image %d uses device %d, expected %d", (int)image->number, (int)device, (int)image->device);
    image->device = device;
}

uint32_t world_conflicts(const model_world *world, const model_pixels *pixels, const oracle_box *box, cc_access access)
{
    for (int32_t i = 0; i < world->mapping_count; i++) {
        const model_mapping *mapping = &world->mappings[i];
        if (mapping->image->pixels == pixels && (access != CC_ACCESS_READ || mapping->access != CC_ACCESS_READ) &&
            oracle_boxes_overlap(box, &mapping->box))
            return STATUS(CC_ERROR_BUSY);
    }
    return 0;
}

bool world_has_mapping(const model_world *world, const model_pixels *pixels, bool only_writers, cc_place place)
{
    for (int32_t i = 0; i < world->mapping_count; i++) {
        const model_mapping *mapping = &world->mappings[i];
        if (mapping->image->pixels == pixels &&
            (only_writers ? mapping->access != CC_ACCESS_READ : mapping->place == place))
            return true;
    }
    return false;
}

int32_t world_count_mappings(const model_world *world, const model_pixels *pixels, cc_place place)
{
    int32_t count = 0;
    for (int32_t i = 0; i < world->mapping_count; i++) {
        const model_mapping *mapping = &world->mappings[i];
        count += mapping->image->pixels == pixels && mapping->place == place && !mapping->is_returned;
    }
    return count;
}

static cc_status count_part(void *context, const cc__box *part)
{
    (void)part;
    ++*(int64_t *)context;
    return CC_OK;
}

static int64_t count_boxes(const cc__validity *validity)
{
    int64_t count = validity->cells.count;
    (void)cc__validity_rest_parts(validity, &validity->whole, count_part, &count);
    return count;
}

oracle_cost *world_cost(model_world *world, model_image *image)
{
    for (int32_t i = 0; i < world->cost_count; i++)
        if (world->costs[i].pixels == image->pixels)
            return &world->costs[i].cost;
    model_cost *cost = &world->costs[world->cost_count++];
    memset(cost, 0, sizeof *cost);
    cost->pixels = image->pixels;
    cost->is_of_the_step = true;
    cost->cost.cells = count_boxes(&image->handle->manager->validity);
    /* What borrowers may have written is cut out first. */
    for (const cc__lent *lent = image->handle->manager->loans; lent != NULL; lent = lent->next)
        cost->cost.cells += CC__BOX_MAX_PIECES;
    return &cost->cost;
}

model_pixels *world_add_pixels(oracle_pixels *oracle)
{
    model_pixels *pixels = calloc(1, sizeof *pixels);
    pixels->oracle = oracle;
    pixels->has_changed = true;
    return pixels;
}

void world_expect_drop(model_pixels *pixels)
{
    if (pixels->wrapped != NULL)
        pixels->wrapped->may_release = pixels->handles == 1;
}

void world_forget_drop(model_pixels *pixels)
{
    if (pixels->wrapped != NULL)
        pixels->wrapped->may_release = false;
}

void world_drop(model_world *world, model_pixels *pixels)
{
    wrapped_memory *wrapped = pixels->wrapped;
    pixels->handles--;
    if (pixels->handles > 0) {
        model_check(wrapped == NULL || wrapped->releases == 0, "wrapped memory was released before its last image");
        return;
    }
    for (int32_t device = 0; device < world->device_count; device++) {
        const bool is_wrapped = pixels->oracle->is_wrapped && pixels->oracle->wrapped_at == device;
        world->device_frees += pixels->oracle->has_memory[device + 1] && !is_wrapped;
    }
    if (wrapped != NULL) {
        model_check(wrapped->releases == !wrapped->is_borrowed,
                    "wrapped memory was released %d times with its last image", (int)wrapped->releases);
        wrapped_free(wrapped);
        free(wrapped);
    }
    pressure_note_drop(pixels);
    oracle_destroy(pixels->oracle);
    free(pixels);
}

bool world_is_last_use(const model_image *image)
{
    return image->owners + image->mappings == 1;
}

void world_forget_image(model_world *world, model_image *image)
{
    for (int32_t i = 0; i < world->image_count; i++)
        if (world->images[i] == image)
            world->images[i] = world->images[--world->image_count];
    world_drop(world, image->pixels);
    free(image);
}

work_box world_span(const model_mapping *mapping, const oracle_box *box)
{
    const oracle_pixels *pixels = mapping->image->pixels->oracle;
    work_box span = {.memory = mapping->memory, .pixel_bytes = pixels->pixel_bytes};
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        span.stride[axis] = oracle_stride(pixels, mapping->place, axis);
        span.size[axis] = box->size[axis];
        span.memory += (box->start[axis] - mapping->box.start[axis]) * span.stride[axis];
    }
    return span;
}

int64_t world_random_size(model_world *world, int32_t dimension, int64_t most_pixels,
                          int64_t out_size[CC_MAX_DIMENSION])
{
    random_source *random = &world->random;
    int64_t count = 1;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        out_size[axis] = 1;
    for (int32_t axis = 0; axis < dimension; axis++) {
        const int64_t most = count == 0 ? most_pixels : most_pixels / count;
        const int64_t usual = dimension == 1 ? 60 : dimension == 2 ? 14 : dimension == 3 ? 7 : 5;
        const int64_t limit = usual < most ? usual : most;
        out_size[axis] = random_chance(random, 2) ? 0 : random_chance(random, 10) ? 1 : 1 + random_below(random, limit);
        count *= out_size[axis];
    }
    return count;
}

void world_random_values(model_world *world, value_kind kind, int64_t count, unsigned char *out_bytes)
{
    const size_t pixel_bytes = cc_pixel_type_size_bytes(kind.type) * (size_t)kind.components;
    for (int64_t i = 0; i < count; i++)
        value_random(&world->random, kind.type, kind.components, out_bytes + (size_t)i * pixel_bytes);
}
