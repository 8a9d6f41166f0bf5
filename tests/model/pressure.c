#include "pressure.h"

#include "data_manager/internal.h"
#include "image/image_handle.h"
#include "memory/budget.h"
#include "memory/host_pool.h"
#include "memory/page_locking.h"

#include <stdlib.h>
#include <string.h>

static size_t usual_locked_limit;
static size_t usual_pool_limit;
static bool refuses_locking; /* for the hook, which threads of the library call */

static bool refuse(faulty_operation operation)
{
    return operation == FAULTY_HOST_REGISTER && refuses_locking;
}

/* Each set of pixels once: the image that stands for it. */
static bool stands_for_pixels(const model_world *world, int32_t image)
{
    for (int32_t i = 0; i < image; i++)
        if (world->images[i]->pixels == world->images[image]->pixels)
            return false;
    return true;
}

static bool holds(const model_pixels *pixels, int32_t device)
{
    const oracle_pixels *oracle = pixels->oracle;
    return oracle->has_memory[device + 1] && !(oracle->is_wrapped && oracle->wrapped_at == device);
}

static size_t bytes_of(const model_pixels *pixels)
{
    return (size_t)(pixels->oracle->count * pixels->oracle->pixel_bytes);
}

size_t pressure_held(const model_world *world, int32_t device)
{
    size_t bytes = 0;
    for (int32_t i = 0; i < world->image_count; i++)
        if (stands_for_pixels(world, i) && holds(world->images[i]->pixels, device))
            bytes += bytes_of(world->images[i]->pixels);
    return bytes;
}

/* Only the first may not leave: an operation's output is not in use before its input is there. */
static bool is_of_the_step(const model_world *world, const model_pixels *pixels, bool only_first)
{
    for (int32_t i = 0; i < world->cost_count; i++)
        if (world->costs[i].pixels == pixels && world->costs[i].is_of_the_step)
            return i == 0 || !only_first;
    return false;
}

static bool may_leave(const model_world *world, const model_pixels *pixels, int32_t device)
{
    return holds(pixels, device) && !world_has_mapping(world, pixels, false, device) &&
           !world_has_mapping(world, pixels, true, CC_PLACE_HOST);
}

/* What the call needs room for. */
static size_t missing_bytes(const model_world *world, int32_t device, bool only_first)
{
    size_t bytes = 0;
    for (int32_t i = 0; i < world->cost_count && world->worked_at == device; i++) {
        const model_pixels *pixels = world->costs[i].pixels;
        if (!world->costs[i].is_of_the_step || pixels->oracle->has_memory[device + 1])
            continue;
        bytes += bytes_of(pixels);
        if (only_first)
            break;
    }
    return bytes;
}

/* Whether one leaves before another: lower priority, needs no copy, used longer ago. */
static bool comes_before(const model_pixels *first, const model_pixels *second, int32_t device)
{
    const bool first_is_dirty = oracle_has_only_at(first->oracle, device);
    const bool second_is_dirty = oracle_has_only_at(second->oracle, device);
    if (first->priority != second->priority)
        return first->priority < second->priority;
    if (first_is_dirty != second_is_dirty)
        return second_is_dirty;
    return first->used[device + 1] < second->used[device + 1];
}

static bool allocators_failed(const model_pressure *pressure)
{
    return pressure->allocators.failures[MEMORY_OF_HOST] + pressure->allocators.failures[MEMORY_OF_DEVICE] > 0;
}

static void check_eviction(const model_world *world, const model_pixels *pixels, int32_t device)
{
    const model_pressure *pressure = world->pressure;
    const size_t limit = pressure->limit_bytes[device + 1];
    model_check(may_leave(world, pixels, device), "pixels left device %d, where they are not, or in use", (int)device);
    model_check(!is_of_the_step(world, pixels, true), "pixels left device %d for themselves", (int)device);
    if (allocators_failed(pressure))
        return;
    const size_t held = pressure_held(world, device);
    const size_t missing = missing_bytes(world, device, false);
    model_check(limit > 0 && held + missing > limit, "pixels left device %d, which held %zu and needed %zu of %zu",
                (int)device, held, missing, limit);
    for (int32_t i = 0; i < world->image_count; i++) {
        const model_pixels *other = world->images[i]->pixels;
        model_check(other == pixels || is_of_the_step(world, other, false) || !may_leave(world, other, device) ||
                        !comes_before(other, pixels, device),
                    "pixels of image %d should have left device %d before others", (int)world->images[i]->number,
                    (int)device);
    }
}

static oracle_cost *cost_of(model_world *world, model_pixels *pixels)
{
    for (int32_t i = 0; i < world->cost_count; i++)
        if (world->costs[i].pixels == pixels)
            return &world->costs[i].cost;
    model_cost *cost = &world->costs[world->cost_count++];
    memset(cost, 0, sizeof *cost);
    cost->pixels = pixels;
    cost->cost.cells = pixels->oracle->count;
    return &cost->cost;
}

/* Pixels that have left a device to make room. */
static void on_event(const cc_trace_event *event, void *user_data)
{
    model_world *world = user_data;
    int32_t image = 0;
    if (event->kind != CC_TRACE_EVICT || strcmp(event->function, "eviction") != 0)
        return;
    while (image < world->image_count && world->images[image]->handle->manager->id != event->pixels_id)
        image++;
    model_check(image < world->image_count, "pixels left that no image has");
    model_pixels *pixels = world->images[image]->pixels;
    report_note("pixels of %zu bytes left device %d", bytes_of(pixels), (int)event->from);
    check_eviction(world, pixels, event->from);
    model_check(event->bytes == bytes_of(pixels), "eviction freed %llu bytes, expected %zu",
                (unsigned long long)event->bytes, bytes_of(pixels));
    oracle_evict(pixels->oracle, event->from, CC_PLACE_HOST, cost_of(world, pixels));
    pixels->memory[event->from + 1] = NULL;
    world->device_frees++;
}

void pressure_begin(model_world *world)
{
    model_pressure *pressure = calloc(1, sizeof *pressure);
    random_source *random = &world->random;
    pressure->world = world;
    pressure->allocators.random = random;
    pressure->allocators.fail_percent = random_chance(random, 50) ? 0 : 15;
    world->pressure = pressure;
    world->may_be_huge = random_chance(random, 10);
    world->most_mappings = 1 + (int32_t)random_below(random, 4);
    usual_locked_limit = cc__page_locking_limit();
    usual_pool_limit = cc__host_pool_limit();
    pressure->refuses_locking = random_chance(random, 10);
    faulty_backend_set_hook(fixture_backend, refuse);
    cc_set_trace(on_event, world);
    for (int32_t device = 0; device < world->device_count; device++) {
        pressure->limit_bytes[device + 1] = (size_t)(1 + random_below(random, world->may_be_huge ? 6000000 : 3000));
        model_ok(cc_device_set_limit(device, pressure->limit_bytes[device + 1], 0));
    }
}

void pressure_end(model_world *world)
{
    model_pressure *pressure = world->pressure;
    for (int32_t device = 0; device < world->device_count; device++)
        model_ok(cc_device_set_limit(device, 0, 0));
    model_ok(cc_host_set_allocator(NULL));
    model_ok(cc_device_set_allocator(NULL));
    cc_host_set_locked_limit(usual_locked_limit);
    cc_host_set_pool_limit(usual_pool_limit);
    cc_set_trace(NULL, NULL);
    faulty_backend_set_hook(fixture_backend, NULL);
    allocators_end(&pressure->allocators);
    world->pressure = NULL;
    free(pressure);
}

void pressure_begin_step(model_world *world)
{
    model_pressure *pressure = world->pressure;
    if (pressure == NULL)
        return;
    refuses_locking = pressure->refuses_locking;
    allocators_begin_step(&pressure->allocators);
    memset(pressure->expected_allocations, 0, sizeof pressure->expected_allocations);
    pressure->locked_before = cc__page_locking_bytes();
    for (int32_t device = 0; device < world->device_count; device++)
        pressure->held_before[device + 1] = pressure_held(world, device);
}

static void check_limits(const model_world *world)
{
    const model_pressure *pressure = world->pressure;
    cc_host_memory_state state = CC_HOST_MEMORY_STATE_INIT;
    for (int32_t device = 0; device < world->device_count; device++) {
        const size_t held = cc__budget_held_bytes(device);
        const size_t limit = pressure->limit_bytes[device + 1];
        model_check(held == pressure_held(world, device), "device %d holds %zu bytes, expected %zu", (int)device, held,
                    pressure_held(world, device));
        model_check(limit == 0 || held <= limit || held <= pressure->held_before[device + 1],
                    "device %d holds %zu bytes, more than its limit of %zu", (int)device, held, limit);
    }
    model_ok(cc_host_get_memory_state(&state));
    model_check(state.locked_bytes <= state.locked_limit_bytes || state.locked_bytes <= pressure->locked_before,
                "%llu bytes are page-locked, more than the limit of %llu", (unsigned long long)state.locked_bytes,
                (unsigned long long)state.locked_limit_bytes);
    model_check(state.pooled_bytes <= state.pool_limit_bytes, "%llu bytes are kept, more than the limit of %llu",
                (unsigned long long)state.pooled_bytes, (unsigned long long)state.pool_limit_bytes);
}

void pressure_end_step(model_world *world)
{
    if (world->pressure == NULL)
        return;
    check_limits(world);
    for (int32_t kind = 0; kind < 2; kind++)
        model_check(world->pressure->allocators.allocations[kind] == world->pressure->expected_allocations[kind],
                    "the program's own allocators gave memory %lld times, expected %lld",
                    (long long)world->pressure->allocators.allocations[kind],
                    (long long)world->pressure->expected_allocations[kind]);
    allocators_check(&world->pressure->allocators);
}

bool pressure_excuses(const model_world *world, cc_status status)
{
    const model_pressure *pressure = world->pressure;
    const cc_place device = world->worked_at;
    if (pressure == NULL)
        return false;
    if (status == CC_ERROR_OUT_OF_HOST_MEMORY)
        return pressure->allocators.failures[MEMORY_OF_HOST] > 0;
    if (status != CC_ERROR_OUT_OF_DEVICE_MEMORY || device == CC_PLACE_HOST)
        return false;
    if (allocators_failed(pressure))
        return true;
    const size_t limit = pressure->limit_bytes[device + 1];
    const size_t missing = missing_bytes(world, device, true);
    if (limit == 0 || missing == 0 || pressure_held(world, device) + missing <= limit)
        return false;
    for (int32_t i = 0; missing <= limit && i < world->image_count; i++) {
        const model_pixels *pixels = world->images[i]->pixels;
        if (!is_of_the_step(world, pixels, false) && may_leave(world, pixels, device))
            return false;
    }
    return true;
}

int64_t pressure_allocations(const model_world *world, memory_kind kind)
{
    return world->pressure != NULL ? world->pressure->allocators.allocations[kind] : 0;
}

void pressure_note_allocations(model_world *world, const model_pixels *pixels, memory_kind kind, int64_t count)
{
    model_pressure *pressure = world->pressure;
    if (pressure != NULL && (pixels->allocators[kind] != NULL || pressure->of_process[kind] != NULL))
        pressure->expected_allocations[kind] += count;
}

int64_t pressure_frees(const model_world *world, memory_kind kind)
{
    return world->pressure != NULL ? world->pressure->allocators.frees[kind] : 0;
}

void pressure_note_use(model_world *world, model_pixels *pixels, cc_place place)
{
    if (place != CC_PLACE_HOST)
        pixels->used[place + 1] = ++world->uses;
}

void pressure_note_drop(model_pixels *pixels)
{
    for (int32_t kind = 0; kind < 2; kind++)
        allocator_let_go(pixels->allocators[kind]);
}

bool pressure_note_input(model_world *world, model_image *input, cc_place place, oracle_cost *cost)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    model_ok(cc_image_get_place_state(input->handle, place, &state));
    if (state.memory_bytes == 0)
        return false;
    oracle_bring(input->pixels->oracle, &input->box, place, true, world->peers[place + 1], cost);
    pressure_note_use(world, input->pixels, place);
    return true;
}
