#include "host_run.h"
#include "pressure.h"
#include "steps.h"

#include "data_manager/data_manager.h"

#include <stdlib.h>
#include <string.h>

static const char *const access_names[] = {"read", "write", "read-write"};

static size_t box_bytes(const oracle_pixels *pixels, const oracle_box *box)
{
    return (size_t)(oracle_box_count(box) * pixels->pixel_bytes);
}

/* The pixels of a mapping are what they must be: now, on the host; when the stream gets there, on a device. */
static void check_pixels(model_world *world, const model_mapping *mapping, const char *what)
{
    const oracle_pixels *pixels = mapping->image->pixels->oracle;
    const work_box span = world_span(mapping, &mapping->box);
    const size_t count = (size_t)oracle_box_count(&mapping->box);
    const size_t pixel_bytes = (size_t)pixels->pixel_bytes;
    unsigned char *expected = malloc(count * pixel_bytes);
    unsigned char *found = malloc(count * pixel_bytes);
    bool *known = malloc(count * sizeof *known);
    oracle_take(pixels, &mapping->box, expected, known);
    if (mapping->place == CC_PLACE_HOST) {
        work_each_run(&span, host_gather, &(host_run){span.memory, found});
        for (size_t i = 0; i < count; i++)
            model_check(!known[i] || memcmp(found + i * pixel_bytes, expected + i * pixel_bytes, pixel_bytes) == 0,
                        "the host read pixel %zu of its box wrong: byte 0x%02x, expected 0x%02x; read in: %s", i,
                        found[i * pixel_bytes], expected[i * pixel_bytes], what);
    } else {
        work_read(&world->work, mapping->place, mapping->stream, &span, expected, known, what);
    }
    free(expected);
    free(found);
    free(known);
}

static void write_pixels(model_world *world, model_mapping *mapping, const oracle_box *box)
{
    oracle_pixels *pixels = mapping->image->pixels->oracle;
    const work_box span = world_span(mapping, box);
    unsigned char *bytes = malloc(box_bytes(pixels, box) + 1);
    world_random_values(world, mapping->image->kind, oracle_box_count(box), bytes);
    oracle_put(pixels, box, bytes);
    if (mapping->place == CC_PLACE_HOST)
        work_each_run(&span, host_scatter, &(host_run){span.memory, bytes});
    else
        work_write(&world->work, mapping->place, mapping->stream, &span, bytes);
    free(bytes);
    if (memcmp(box, &mapping->box, sizeof *box) == 0)
        mapping->needs_all = false;
}

/* The memory of a place stays where it is, and a box where the layout says. */
static void check_pointer(const model_mapping *mapping)
{
    model_pixels *pixels = mapping->image->pixels;
    unsigned char *first = mapping->memory - oracle_offset(pixels->oracle, mapping->place, mapping->box.start);
    unsigned char **known = &pixels->memory[mapping->place + 1];
    model_check(*known == NULL || *known == first, "the memory of place %d is at %p, expected %p", (int)mapping->place,
                (void *)first, (void *)*known);
    *known = first;
}

static bool map(model_world *world, bool on_device)
{
    random_source *random = &world->random;
    model_image *image = world_pick_image(world);
    if (image == NULL || world->mapping_count >= world->most_mappings)
        return false;
    model_pixels *pixels = image->pixels;
    const cc_access access = (cc_access)random_below(random, 3);
    cc_place place = CC_PLACE_HOST;
    cc_stream stream = NULL;
    model_region region;
    world_pick_region(world, image, true, &region);
    uint32_t errors = region.errors;
    if (access != CC_ACCESS_READ && pixels->oracle->read_only)
        errors |= STATUS(CC_ERROR_READ_ONLY);
    const bool touches = region.errors == 0 && !region.is_empty;
    const bool is_new = touches && oracle_has_undefined(pixels->oracle, &region.box);
    if (touches && on_device) {
        const uint32_t device_errors = world_device(world, image, &place);
        errors |= device_errors;
        if (device_errors == 0)
            stream = work_stream(&world->work, place);
    }
    if (touches)
        errors |=
            world_conflicts(world, pixels, &region.box, access) |
            (world_place_errors(world, place) == 0 ? world_loan_conflicts(world, pixels, &region.box, place, access)
                                                   : 0);
    if (is_new && access != CC_ACCESS_WRITE)
        errors |= STATUS(CC_ERROR_UNINITIALIZED);
    oracle_cost *cost = world_cost(world, image);
    world->worked_at = place;
    report_step(world->step, "map image %d at %d to %s, box from %lld,%lld,%lld,%lld of %lld,%lld,%lld,%lld, stream %p",
                (int)image->number, (int)place, access_names[access], (long long)region.box.start[0],
                (long long)region.box.start[1], (long long)region.box.start[2], (long long)region.box.start[3],
                (long long)region.box.size[0], (long long)region.box.size[1], (long long)region.box.size[2],
                (long long)region.box.size[3], (void *)stream);

    void *const untouched = world;
    void *memory = untouched;
    const cc_status status = on_device ? cc_image_map_device(image->handle, region.argument, access, stream, &memory)
                                       : cc_image_map_host(image->handle, region.argument, access, &memory);
    const bool done = world_expect(world, "map", status, errors);
    world_note_device(world, image, done && touches && on_device);
    if (!done || region.is_empty) {
        model_check(memory == (done ? NULL : untouched), "map gave pixels = %p", memory);
        return true;
    }
    oracle_bring(pixels->oracle, &region.box, place, access != CC_ACCESS_WRITE, world->peers[place + 1], cost);
    pressure_note_use(world, pixels, place);
    image->mappings++;
    model_mapping *mapping = &world->mappings[world->mapping_count++];
    *mapping = (model_mapping){.image = image,
                               .place = place,
                               .access = access,
                               .box = region.box,
                               .memory = memory,
                               .stream = stream,
                               .needs_all = access == CC_ACCESS_WRITE || (access == CC_ACCESS_READ_WRITE && is_new)};
    check_pointer(mapping);
    if (access != CC_ACCESS_WRITE) {
        char what[32];
        snprintf(what, sizeof what, "step %d", (int)world->step);
        check_pixels(world, mapping, what);
    }
    if (access != CC_ACCESS_READ)
        oracle_own(pixels->oracle, &region.box, place);
    return true;
}

bool step_map_host(model_world *world)
{
    return map(world, false);
}

bool step_map_device(model_world *world)
{
    return map(world, true);
}

/* NULL when none is as asked for. */
static model_mapping *pick_mapping(model_world *world, bool writes)
{
    model_mapping *found = NULL;
    int64_t count = 0;
    for (int32_t i = 0; i < world->mapping_count; i++) {
        model_mapping *mapping = &world->mappings[i];
        if (mapping->is_returned || (writes && mapping->access == CC_ACCESS_READ))
            continue;
        count++;
        if (random_below(&world->random, count) == 0)
            found = mapping;
    }
    return found;
}

bool step_write(model_world *world)
{
    model_mapping *mapping = pick_mapping(world, true);
    if (mapping == NULL)
        return false;
    oracle_box box = mapping->box;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        if (random_chance(&world->random, 40))
            continue;
        box.size[axis] = 1 + random_below(&world->random, mapping->box.size[axis]);
        box.start[axis] += random_below(&world->random, mapping->box.size[axis] - box.size[axis] + 1);
    }
    report_step(world->step, "write %lld pixels of image %d at %d, stream %p", (long long)oracle_box_count(&box),
                (int)mapping->image->number, (int)mapping->place, (void *)mapping->stream);
    write_pixels(world, mapping, &box);
    return true;
}

/* What the mapping's stream holds so far comes first in another one, which takes over. */
static void change_stream(model_mapping *mapping, cc_stream stream)
{
    cc__event *event = work_mark(mapping->place, mapping->stream);
    work_follow(mapping->place, stream, event);
    fixture_inner->event_destroy(fixture_inner, mapping->place, event);
    mapping->stream = stream;
}

/* The mapping ends; or it is lent on, when another reader started at the same pixel. */
static void end_mapping(model_world *world, model_mapping *ended)
{
    const model_mapping mapping = *ended;
    bool has_others = false;
    if (mapping.is_texture) {
        mapping.image->mappings--;
        *ended = world->mappings[--world->mapping_count];
        return;
    }
    ended->is_returned = true;
    ended->image->mappings--;
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t i = world->mapping_count - 1; i >= 0; i--) {
            model_mapping *other = &world->mappings[i];
            if (other->is_texture || other->image != mapping.image || other->place != mapping.place ||
                other->access != CC_ACCESS_READ ||
                memcmp(other->box.start, mapping.box.start, sizeof mapping.box.start) != 0)
                continue;
            has_others = has_others || !other->is_returned;
            if (pass == 1 && !has_others)
                *other = world->mappings[--world->mapping_count];
        }
    }
    if (mapping.access != CC_ACCESS_READ)
        *ended = world->mappings[--world->mapping_count];
}

/* Such a stream lives as long as the loan. */
static bool is_borrowers(const model_world *world, cc_place place, cc_stream stream)
{
    for (int32_t i = 0; i < world->loan_count; i++)
        if (world->loans[i].is_stream_known && world->loans[i].place == place && world->loans[i].stream == stream)
            return true;
    return false;
}

/* An image of the pixels that is there after the last mapping of this one, or NULL. */
static model_image *image_left(const model_world *world, model_image *image, bool is_last)
{
    for (int32_t i = 0; i < world->image_count; i++)
        if (world->images[i]->pixels == image->pixels && !(is_last && world->images[i] == image))
            return world->images[i];
    return NULL;
}

bool step_unmap(model_world *world)
{
    random_source *random = &world->random;
    model_mapping *mapping = pick_mapping(world, false);
    if (mapping == NULL)
        return false;
    model_image *image = mapping->image;
    const cc_place place = mapping->place;
    report_step(world->step, "unmap image %d at %d", (int)image->number, (int)place);
    if (mapping->needs_all || (mapping->access != CC_ACCESS_READ && random_chance(random, 50)))
        write_pixels(world, mapping, &mapping->box);
    if (!mapping->is_texture && mapping->access == CC_ACCESS_READ &&
        random_chance(random, place == CC_PLACE_HOST ? 100 : 30))
        check_pixels(world, mapping, "unmapping");
    if (place != CC_PLACE_HOST && random_chance(random, 25))
        change_stream(mapping, work_stream(&world->work, place));
    const cc_stream stream = mapping->stream;
    const bool is_last = world_is_last_use(image);
    if (is_last)
        world_expect_drop(image->pixels);
    if (mapping->access != CC_ACCESS_READ)
        image->pixels->has_changed = true;
    report_note("stream %p", (void *)stream);
    model_pixels *pixels = image->pixels;
    /* Where no image is left to ask what it cost, the loans' pixels are asked, and nothing is expected. */
    model_image *asked = image_left(world, image, is_last);
    cc__data_manager *manager = asked == NULL ? world_lender_of(world, pixels) : NULL;
    const cc_counters before = manager != NULL ? cc__data_manager_counters(manager) : (cc_counters)CC_COUNTERS_INIT;
    oracle_cost unasked;
    memset(&unasked, 0, sizeof unasked);
    const oracle_box box = mapping->box;
    if (mapping->access != CC_ACCESS_READ)
        world_bring_back(world, pixels, &box, place, asked != NULL ? world_cost(world, asked) : &unasked);
    const cc_status status = mapping->is_texture      ? world_unmap_texture(world, mapping, stream)
                             : place == CC_PLACE_HOST ? cc_image_unmap_host(image->handle, mapping->memory)
                                                      : cc_image_unmap_device(image->handle, mapping->memory, stream);
    (void)world_expect(world, "unmap", status, 0);
    if (manager != NULL)
        world_note_copies(world, &before, manager);
    end_mapping(world, mapping);
    if (is_last)
        world_forget_image(world, image);
    if (place != CC_PLACE_HOST && !is_borrowers(world, place, stream) && random_chance(random, 25)) {
        for (int32_t i = 0; i < world->mapping_count; i++) {
            model_mapping *other = &world->mappings[i];
            if (!other->is_returned && other->place == place && other->stream == stream)
                change_stream(other, CC_STREAM_DEFAULT);
        }
        work_drop_stream(&world->work, place, stream);
    }
    return true;
}

bool step_unmap_wrongly(model_world *world)
{
    model_mapping *mapping = pick_mapping(world, false);
    model_image *image = world_pick_image(world);
    if (mapping == NULL || image == NULL || mapping->is_texture)
        return false;
    const bool on_host = random_below(&world->random, 2) != 0;
    unsigned char *memory = mapping->memory;
    if (image == mapping->image && on_host == (mapping->place == CC_PLACE_HOST))
        memory = random_below(&world->random, 2) != 0 ? NULL : (unsigned char *)world;
    for (int32_t i = 0; i < world->mapping_count; i++)
        if (world->mappings[i].image == image && world->mappings[i].memory == memory)
            return false;
    report_step(world->step, "unmap image %d wrongly, pixels = %p", (int)image->number, (void *)memory);
    const cc_status status = on_host ? cc_image_unmap_host(image->handle, memory)
                                     : cc_image_unmap_device(image->handle, memory, CC_STREAM_DEFAULT);
    (void)world_expect(world, "unmap", status, memory == NULL ? 0 : STATUS(CC_ERROR_INVALID_ARGUMENT));
    return true;
}

bool step_synchronize(model_world *world)
{
    if (world->device_count == 0)
        return false;
    if (random_chance(&world->random, 30)) {
        report_step(world->step, "synchronize everything");
        work_settle(&world->work);
        return true;
    }
    const int32_t device = (int32_t)random_below(&world->random, world->device_count);
    const cc_stream stream = work_stream(&world->work, device);
    report_step(world->step, "synchronize device %d, stream %p", (int)device, (void *)stream);
    work_synchronize(&world->work, device, stream);
    return true;
}
