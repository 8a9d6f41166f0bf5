/* What the library says, against the oracle. */
#include "pressure.h"

#include "base/allocate.h"
#include "data_manager/internal.h"
#include "image/image_handle.h"

#include "backend/emulated.h"

#include <stdlib.h>
#include <string.h>

void world_begin_step(model_world *world)
{
    world->before = faulty_backend_counts(fixture_backend);
    world->cost_count = 0;
    memset(world->device_calls, 0, sizeof world->device_calls);
    world->device_scratch = 0;
    world->device_frees = 0;
    world->worked_at = CC_PLACE_HOST;
    world_age_loans(world);
    pressure_begin_step(world);
}

typedef struct way {
    const char *name;
    int64_t copies;
    int64_t bytes;
} way;

static int64_t grown(uint64_t before, uint64_t after)
{
    return (int64_t)(after - before);
}

static void difference(const cc_counters *before, const cc_counters *after, way out_ways[3])
{
    out_ways[ORACLE_UP] = (way){"host to device", grown(before->host_to_device_copies, after->host_to_device_copies),
                                grown(before->host_to_device_bytes, after->host_to_device_bytes)};
    out_ways[ORACLE_DOWN] = (way){"device to host", grown(before->device_to_host_copies, after->device_to_host_copies),
                                  grown(before->device_to_host_bytes, after->device_to_host_bytes)};
    out_ways[ORACLE_ACROSS] =
        (way){"device to device", grown(before->device_to_device_copies, after->device_to_device_copies),
              grown(before->device_to_device_bytes, after->device_to_device_bytes)};
}

static void compare_number(const char *what, int64_t is, int64_t expected)
{
    model_check(is == expected, "%s: %lld, expected %lld", what, (long long)is, (long long)expected);
}

/* Without the oracle's word on validity: an access moves no more than its pixels, all of them once to tidy up, and what
 * it has written to each borrower. */
static void compare_bounds(const oracle_pixels *pixels, const oracle_cost *cost, int32_t loans, const way ways[3])
{
    const int64_t whole = pixels->count * pixels->pixel_bytes;
    const int64_t most = 2 + loans;
    for (int32_t i = 0; i < 3; i++) {
        model_check(ways[i].bytes <= most * whole + cost->of_tiles[i],
                    "%s: %lld bytes, expected at most some times all %lld", ways[i].name, (long long)ways[i].bytes,
                    (long long)whole);
        model_check((ways[i].copies == 0) == (ways[i].bytes == 0) && ways[i].copies <= most * pixels->count,
                    "%s: %lld copies of %lld bytes", ways[i].name, (long long)ways[i].copies, (long long)ways[i].bytes);
    }
}

static void compare_cost(const oracle_cost *cost, const cc_counters *before, const cc_counters *after,
                         const way ways[3])
{
    for (int32_t i = 0; i < 3; i++) {
        compare_number(ways[i].name, ways[i].bytes, cost->bytes[i]);
        model_check(ways[i].copies >= cost->fewest_copies[i] && ways[i].copies <= cost->most_copies[i],
                    "%s: %lld copies, expected %lld to %lld", ways[i].name, (long long)ways[i].copies,
                    (long long)cost->fewest_copies[i], (long long)cost->most_copies[i]);
    }
    const int64_t fills = grown(before->fills, after->fills);
    model_check(fills >= cost->fewest_fills && fills <= cost->most_fills, "%lld fills, expected %lld to %lld",
                (long long)fills, (long long)cost->fewest_fills, (long long)cost->most_fills);
    compare_number("avoided copies", grown(before->avoided_copies, after->avoided_copies), cost->avoided_copies);
    compare_number("avoided bytes", grown(before->avoided_bytes, after->avoided_bytes), cost->avoided_bytes);
    compare_number("texture updates", grown(before->texture_updates, after->texture_updates), cost->texture_updates);
    compare_number("evictions", grown(before->evictions, after->evictions), cost->evictions);
    compare_number("host allocations", grown(before->host_allocations, after->host_allocations),
                   cost->host_allocations);
    compare_number("device allocations", grown(before->device_allocations, after->device_allocations),
                   cost->device_allocations);
}

static const faulty_operation kinds_of_work[] = {FAULTY_FILL, FAULTY_RUN_KERNEL, FAULTY_CALL, FAULTY_TEXTURE_UPDATE};

/* What the pixels' images say is what the backend has seen. */
static void compare_backend(const model_world *world, const way sums[3], int64_t fills, int64_t device_allocations)
{
    const faulty_counts *before = &world->before;
    const faulty_counts after = faulty_backend_counts(fixture_backend);
    const int64_t copies[3] = {after.host_to_device_copies - before->host_to_device_copies,
                               after.device_to_host_copies - before->device_to_host_copies,
                               after.device_to_device_copies - before->device_to_device_copies};
    const int64_t bytes[3] = {after.host_to_device_bytes - before->host_to_device_bytes,
                              after.device_to_host_bytes - before->device_to_host_bytes,
                              after.device_to_device_bytes - before->device_to_device_bytes};
    for (int32_t i = 0; i < 3; i++) {
        /* What is page-locked in parts, or copied through chunks, is cut. */
        if (world->pressure == NULL)
            compare_number("copies seen by the backend", copies[i], sums[i].copies);
        model_check(copies[i] >= sums[i].copies, "the backend has seen %lld copies, expected %lld",
                    (long long)copies[i], (long long)sums[i].copies);
        compare_number("bytes seen by the backend", bytes[i], sums[i].bytes);
    }
    for (size_t i = 0; i < sizeof kinds_of_work / sizeof kinds_of_work[0]; i++) {
        const faulty_operation kind = kinds_of_work[i];
        const bool fills_places = kind == FAULTY_FILL && world->worked_at != CC_PLACE_HOST;
        const int64_t expected = world->device_calls[kind] + (fills_places ? fills : 0);
        const int64_t seen = after.calls[kind] - before->calls[kind];
        model_check(seen == expected, "the backend has seen %s %lld times, expected %lld", faulty_operation_name(kind),
                    (long long)seen, (long long)expected);
    }
    compare_number("allocations seen by the backend", after.calls[FAULTY_ALLOCATE] - before->calls[FAULTY_ALLOCATE],
                   world->device_scratch + device_allocations - pressure_allocations(world, MEMORY_OF_DEVICE));
    compare_number("frees seen by the backend", after.calls[FAULTY_FREE] - before->calls[FAULTY_FREE],
                   world->device_scratch + world->device_frees - pressure_frees(world, MEMORY_OF_DEVICE));
}

/* The library may have given memory to a place earlier than the oracle thinks. */
static void accept_memory(const model_world *world, model_pixels *pixels)
{
    for (cc_place place = CC_PLACE_HOST; place < world->device_count; place++) {
        cc_place_state state = CC_PLACE_STATE_INIT;
        model_ok(cc_image_get_place_state(world_image_of(world, pixels)->handle, place, &state));
        pixels->oracle->has_memory[place + 1] = state.memory_bytes > 0;
    }
}

void world_end_step(model_world *world)
{
    way sums[3] = {{"", 0, 0}, {"", 0, 0}, {"", 0, 0}};
    int64_t fills = 0;
    int64_t device_allocations = 0;
    for (int32_t i = 0; i < world->cost_count; i++) {
        model_pixels *pixels = world->costs[i].pixels;
        const cc_counters after = fixture_counters(world_image_of(world, pixels)->handle);
        way ways[3];
        difference(&pixels->counters, &after, ways);
        if (world->tidies) {
            compare_bounds(pixels->oracle, &world->costs[i].cost, world->loan_count, ways);
            accept_memory(world, pixels);
        } else {
            compare_cost(&world->costs[i].cost, &pixels->counters, &after, ways);
        }
        for (int32_t k = 0; k < 3; k++) {
            sums[k].copies += ways[k].copies;
            sums[k].bytes += ways[k].bytes;
        }
        fills += grown(pixels->counters.fills, after.fills);
        device_allocations += grown(pixels->counters.device_allocations, after.device_allocations);
        pressure_note_allocations(world, pixels, MEMORY_OF_HOST,
                                  grown(pixels->counters.host_allocations, after.host_allocations));
        pressure_note_allocations(world, pixels, MEMORY_OF_DEVICE,
                                  grown(pixels->counters.device_allocations, after.device_allocations));
        pixels->counters = after;
    }
    compare_backend(world, sums, fills, device_allocations);
    world_age_loans(world);
    pressure_end_step(world);
    model_image *image = world_pick_image(world);
    if (image != NULL)
        world_compare_state(world, image, (cc_place)random_below(&world->random, world->device_count + 2) - 1);
}

static void compare_regions(const model_image *image, cc_place place)
{
    const oracle_pixels *pixels = image->pixels->oracle;
    cc_region regions[512];
    int32_t count = -1;
    int32_t *covered = calloc((size_t)pixels->count + 1, sizeof *covered);
    model_ok(cc_image_get_valid_regions(image->handle, place, 512, regions, &count));
    model_check(count >= 0 && count <= 512, "%d valid regions", (int)count);
    for (int32_t i = 0; i < count; i++) {
        oracle_box box;
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
            box.start[axis] = image->box.start[axis] + regions[i].index[axis] - image->region.index[axis];
            box.size[axis] = regions[i].size[axis];
        }
        int64_t inside = 0;
        for (int64_t pixel = 0; pixel < pixels->count; pixel++) {
            int64_t at[CC_MAX_DIMENSION];
            oracle_locate(pixels, pixel, at);
            const bool is_covered = oracle_box_has(&box, at);
            covered[pixel] += is_covered;
            inside += is_covered && oracle_box_has(&image->box, at);
        }
        model_check(inside > 0 && inside == oracle_box_count(&box), "valid region %d is empty or leaves the image",
                    (int)i);
    }
    for (int64_t pixel = 0; pixel < pixels->count; pixel++) {
        int64_t at[CC_MAX_DIMENSION];
        oracle_locate(pixels, pixel, at);
        const bool is_valid = oracle_box_has(&image->box, at) && (pixels->valid[pixel] & ORACLE_BIT(place)) != 0;
        model_check(covered[pixel] == is_valid,
                    "pixel %lld of image %d is in %d valid regions of place %d, expected %d", (long long)pixel,
                    (int)image->number, (int)covered[pixel], (int)place, is_valid);
    }
    free(covered);
}

static void compare_layout(const model_image *image, cc_place place)
{
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    model_ok(cc_image_describe(image->handle, NULL, CC_ORDER_K, CC_DESCRIBE_COMPONENT_AXIS, place, &descriptor));
    compare_number("axes", descriptor.ndim, image->dimension + 1);
    for (int32_t axis = 0; axis < image->dimension; axis++) {
        compare_number("shape", descriptor.shape[axis + 1], image->region.size[axis]);
        if (image->pixels->oracle->size[axis] > 1 && image->pixels->oracle->count > 0)
            compare_number("stride", descriptor.strides_bytes[axis + 1],
                           oracle_stride(image->pixels->oracle, place, axis));
    }
}

static void compare_generation(model_image *image)
{
    model_pixels *pixels = image->pixels;
    const uint64_t generation = cc_image_get_generation(image->handle);
    model_check(pixels->has_changed ? generation > pixels->generation : generation == pixels->generation,
                "generation %llu follows %llu, though the pixels %s", (unsigned long long)generation,
                (unsigned long long)pixels->generation, pixels->has_changed ? "changed" : "are the same");
    pixels->generation = generation;
    pixels->has_changed = false;
}

void world_compare_state(model_world *world, model_image *image, cc_place place)
{
    const oracle_pixels *pixels = image->pixels->oracle;
    const cc_region region = cc_image_get_region(image->handle);
    cc_place_state state = CC_PLACE_STATE_INIT;
    model_check(memcmp(&region, &image->region, sizeof region) == 0, "image %d has another region", (int)image->number);
    compare_number("device", cc_image_get_device(image->handle), image->device);
    compare_number("read only", cc_image_get_read_only(image->handle), pixels->read_only);
    compare_number("bytes", (int64_t)cc_image_get_size_bytes(image->handle),
                   oracle_box_count(&image->box) * pixels->pixel_bytes);
    if (world_may_be_written(world, image->pixels))
        image->pixels->has_changed = true;
    compare_generation(image);
    compare_layout(image, place);
    model_ok(cc_image_get_place_state(image->handle, place, &state));
    compare_number("mappings", state.mapping_count, world_count_mappings(world, image->pixels, place));
    compare_number("loans", state.loan_count, world_count_loans(world, image->pixels, place));
    if (world->tidies)
        return;
    compare_number("memory", (int64_t)state.memory_bytes, (int64_t)oracle_memory_bytes(pixels, place));
    compare_number("valid pixels", state.valid_pixels, oracle_count_valid(pixels, &image->box, place));
    compare_number("constant pixels", state.constant_pixels, oracle_count_constant(pixels, &image->box));
    compare_regions(image, place);
    const cc_counters counters = fixture_counters(image->handle);
    model_check(memcmp(&counters, &image->pixels->counters, sizeof counters) == 0,
                "the counters of image %d have changed without a reason", (int)image->number);
}
