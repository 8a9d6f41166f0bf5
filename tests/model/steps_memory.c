/* Steps of programs that are short of memory. */
#include "steps.h"

#include "pressure.h"

#include <stdlib.h>
#include <string.h>

#define MOST_SCATTERED 24
#define TRIES 3

/* Sizes about those of images; or of those that are worth page-locking. */
static size_t random_bytes(model_world *world)
{
    random_source *random = &world->random;
    if (world->may_be_huge && random_chance(random, 50))
        return (size_t)random_below(random, (int64_t)8 << 20);
    return (size_t)random_below(random, 6000);
}

/* Room for a few images like one that there is. */
static size_t bytes_of_some(model_world *world)
{
    const model_image *image = world_pick_image(world);
    if (image == NULL)
        return random_bytes(world);
    const oracle_pixels *pixels = image->pixels->oracle;
    return (size_t)(pixels->count * pixels->pixel_bytes * (1 + random_below(&world->random, 4)));
}

bool step_limit(model_world *world)
{
    random_source *random = &world->random;
    const int32_t beyond = world->device_count == 0 || random_chance(random, 2) ? 1 : 0;
    const int32_t device = (int32_t)random_below(random, world->device_count + beyond);
    const uint32_t errors = world_place_errors(world, device);
    const size_t limit = random_chance(random, 5)    ? 0
                         : random_chance(random, 20) ? 1 + random_bytes(world)
                                                     : 1 + bytes_of_some(world);
    report_step(world->step, "limit device %d to %zu bytes", (int)device, limit);
    if (errors == 0)
        world->pressure->limit_bytes[device + 1] = limit;
    (void)world_expect(world, "set_limit", cc_device_set_limit(device, limit, 0), errors);
    return true;
}

bool step_priority(model_world *world)
{
    model_image *image = world_pick_image(world);
    int32_t priority = 0;
    if (image == NULL)
        return false;
    model_ok(cc_image_get_priority(image->handle, &priority));
    model_check(priority == image->pixels->priority, "image %d has priority %d, expected %d", (int)image->number,
                (int)priority, (int)image->pixels->priority);
    image->pixels->priority = (int32_t)random_below(&world->random, 3) - 1;
    report_step(world->step, "priority of image %d is %d", (int)image->number, (int)image->pixels->priority);
    model_ok(cc_image_set_priority(image->handle, image->pixels->priority));
    return true;
}

/* When nothing is defined any more, the library's own memory goes, where nobody has it. */
static void drop_memory(model_world *world, model_pixels *pixels)
{
    oracle_pixels *oracle = pixels->oracle;
    for (cc_place place = CC_PLACE_HOST; place < world->device_count; place++) {
        if (!oracle->has_memory[place + 1] || (oracle->is_wrapped && oracle->wrapped_at == place) ||
            world_has_mapping(world, pixels, false, place))
            continue;
        oracle->has_memory[place + 1] = false;
        pixels->memory[place + 1] = NULL;
        world->device_frees += place != CC_PLACE_HOST;
    }
}

bool step_discard(model_world *world)
{
    model_image *image = world_pick_image(world);
    model_region region;
    if (image == NULL)
        return false;
    oracle_pixels *oracle = image->pixels->oracle;
    world_pick_region(world, image, true, &region);
    uint32_t errors = region.errors;
    const bool touches = region.errors == 0 && !region.is_empty;
    if (touches && oracle->read_only)
        errors |= STATUS(CC_ERROR_READ_ONLY);
    if (touches)
        errors |= world_conflicts(world, image->pixels, &region.box, CC_ACCESS_WRITE);
    report_step(world->step, "discard %lld pixels of image %d",
                (long long)(touches ? oracle_box_count(&region.box) : 0), (int)image->number);
    if (!world_expect(world, "discard", cc_image_discard(image->handle, region.argument), errors) || !touches)
        return true;
    image->pixels->has_changed = true;
    oracle_forget(oracle, &region.box);
    const oracle_box whole = oracle_whole(oracle);
    if (oracle_count_undefined(oracle, &whole) == oracle->count)
        drop_memory(world, image->pixels);
    return true;
}

bool step_trim(model_world *world)
{
    random_source *random = &world->random;
    const size_t keep = random_chance(random, 50) ? 0 : random_bytes(world);
    const int32_t device = (int32_t)random_below(random, world->device_count + 1) - 1;
    report_step(world->step, "trim place %d to %zu bytes", (int)device, keep);
    if (device != CC_PLACE_HOST) {
        (void)world_expect(world, "trim", cc_device_trim(device, keep), 0);
        return true;
    }
    cc_host_memory_state state = CC_HOST_MEMORY_STATE_INIT;
    cc_host_trim(keep);
    model_ok(cc_host_get_memory_state(&state));
    model_check(state.pooled_bytes <= keep && (keep > 0 || state.staging_bytes == 0),
                "after trimming to %zu bytes %llu are kept, and %llu for staging", keep,
                (unsigned long long)state.pooled_bytes, (unsigned long long)state.staging_bytes);
    return true;
}

bool step_host_limits(model_world *world)
{
    static const size_t limits[] = {0, (size_t)64 << 10, (size_t)1 << 20, (size_t)3 << 20, (size_t)8 << 20, SIZE_MAX};
    random_source *random = &world->random;
    const size_t limit = limits[random_below(random, 6)];
    if (random_chance(random, 20)) {
        world->pressure->refuses_locking = !world->pressure->refuses_locking;
        report_step(world->step, "page-locking is %srefused", world->pressure->refuses_locking ? "" : "not ");
    } else if (random_chance(random, 60)) {
        report_step(world->step, "limit page-locked memory to %zu bytes", limit);
        cc_host_set_locked_limit(limit);
    } else {
        report_step(world->step, "limit the host's pool to %zu bytes", limit);
        cc_host_set_pool_limit(limit);
    }
    return true;
}

static bool has_memory_of_kind(const model_world *world, const model_pixels *pixels, memory_kind kind)
{
    if (pixels->oracle->count == 0)
        return false;
    if (kind == MEMORY_OF_HOST)
        return pixels->oracle->has_memory[CC_PLACE_HOST + 1];
    for (int32_t device = 0; device < world->device_count; device++)
        if (pixels->oracle->has_memory[device + 1])
            return true;
    return false;
}

static cc_status set_allocator(model_image *image, memory_kind kind, const cc_allocator *calls)
{
    if (image == NULL)
        return kind == MEMORY_OF_HOST ? cc_host_set_allocator(calls) : cc_device_set_allocator(calls);
    return kind == MEMORY_OF_HOST ? cc_image_set_host_allocator(image->handle, calls)
                                  : cc_image_set_device_allocator(image->handle, calls);
}

bool step_allocator(model_world *world)
{
    random_source *random = &world->random;
    model_pressure *pressure = world->pressure;
    model_image *image = random_chance(random, 70) ? world_pick_image(world) : NULL;
    const memory_kind kind = (memory_kind)random_below(random, 2);
    model_allocator **place = image != NULL ? &image->pixels->allocators[kind] : &pressure->of_process[kind];
    cc_allocator calls;
    const bool takes_away = random_chance(random, 30);
    model_allocator *next = takes_away ? NULL : allocators_add(&pressure->allocators, kind, &calls);
    const bool is_busy = image != NULL && has_memory_of_kind(world, image->pixels, kind);
    report_step(world->step, "allocator of image %d for %s: %s", image != NULL ? (int)image->number : -1,
                kind == MEMORY_OF_HOST ? "the host" : "devices", takes_away ? "none" : "a new one");
    const cc_status status = set_allocator(image, kind, takes_away ? NULL : &calls);
    if (!world_expect(world, "set_allocator", status, is_busy ? STATUS(CC_ERROR_BUSY) : 0)) {
        if (next != NULL)
            allocators_take_back(&pressure->allocators, next);
        return true;
    }
    allocator_let_go(*place);
    allocator_hold(next);
    *place = next;
    return true;
}

typedef struct host_run {
    unsigned char *memory;
    const unsigned char *dense;
} host_run;

static void scatter_run(void *context, int64_t memory, int64_t dense, int64_t bytes)
{
    const host_run *run = context;
    memcpy(run->memory + memory, run->dense + dense, (size_t)bytes);
}

static void write_new(model_world *world, const model_mapping *mapping)
{
    oracle_pixels *oracle = mapping->image->pixels->oracle;
    const work_box span = world_span(mapping, &mapping->box);
    const int64_t count = oracle_box_count(&mapping->box);
    unsigned char *bytes = malloc((size_t)(count * oracle->pixel_bytes));
    world_random_values(world, mapping->image->kind, count, bytes);
    oracle_put(oracle, &mapping->box, bytes);
    if (mapping->place == CC_PLACE_HOST)
        work_each_run(&span, scatter_run, &(host_run){span.memory, bytes});
    else
        work_write(&world->work, mapping->place, mapping->stream, &span, bytes);
    free(bytes);
}

/* A few pixels that nobody has. False when none were found. */
static bool pick_free_box(model_world *world, const model_image *image, oracle_box *out_box)
{
    random_source *random = &world->random;
    for (int32_t tries = 0; tries < TRIES; tries++) {
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
            const int64_t most = image->box.size[axis] < 3 ? image->box.size[axis] : 3;
            out_box->size[axis] = 1 + random_below(random, most);
            out_box->start[axis] =
                image->box.start[axis] + random_below(random, image->box.size[axis] - out_box->size[axis] + 1);
        }
        if (world_conflicts(world, image->pixels, out_box, CC_ACCESS_WRITE) == 0)
            return true;
    }
    return false;
}

/* Writes one small box, and gives it back. False when there was no memory. */
static bool write_box(model_world *world, model_image *image, const oracle_box *box, cc_place place, oracle_cost *cost)
{
    model_mapping mapping = {.image = image, .place = place, .box = *box};
    cc_region region = {{0, 0, 0, 0}, {1, 1, 1, 1}};
    void *memory = NULL;
    for (int32_t axis = 0; axis < image->dimension; axis++) {
        region.index[axis] = image->region.index[axis] + box->start[axis] - image->box.start[axis];
        region.size[axis] = box->size[axis];
    }
    if (place != CC_PLACE_HOST)
        mapping.stream = work_stream(&world->work, place);
    const cc_status status =
        place == CC_PLACE_HOST ? cc_image_map_host(image->handle, &region, CC_ACCESS_WRITE, &memory)
                               : cc_image_map_device(image->handle, &region, CC_ACCESS_WRITE, mapping.stream, &memory);
    const bool is_there = world_expect(world, "map", status, 0);
    world_note_device(world, image, is_there && place != CC_PLACE_HOST);
    if (!is_there)
        return false;
    mapping.memory = memory;
    oracle_bring(image->pixels->oracle, box, place, false, world->peers[place + 1], cost);
    pressure_note_use(world, image->pixels, place);
    oracle_own(image->pixels->oracle, box, place);
    write_new(world, &mapping);
    image->pixels->has_changed = true;
    model_ok(place == CC_PLACE_HOST ? cc_image_unmap_host(image->handle, memory)
                                    : cc_image_unmap_device(image->handle, memory, mapping.stream));
    return true;
}

bool step_scatter(model_world *world)
{
    model_image *image = world_pick_image(world);
    cc_place place = CC_PLACE_HOST;
    oracle_box box;
    if (image == NULL || oracle_box_count(&image->box) == 0 || image->pixels->oracle->read_only)
        return false;
    if (random_chance(&world->random, 60) && world_device(world, image, &place) != 0)
        place = CC_PLACE_HOST;
    oracle_cost *cost = world_cost(world, image);
    if (cost->cells > 300) /* more than the oracle asks for */
        return false;
    world->worked_at = place;
    report_step(world->step, "scatter writes over image %d at %d", (int)image->number, (int)place);
    for (int64_t left = 1 + random_below(&world->random, MOST_SCATTERED); left > 0; left--)
        if (!pick_free_box(world, image, &box) || !write_box(world, image, &box, place, cost))
            break;
    return true;
}
