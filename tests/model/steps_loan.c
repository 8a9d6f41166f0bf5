#include "host_run.h"
#include "steps.h"

#include "data_manager/data_manager.h"

#include <stdlib.h>
#include <string.h>

/* Another stream that comes after the one by which everybody orders; and that comes after what it holds by then. */
static cc_stream enter(model_world *world, const model_loan *loan)
{
    const cc_stream stream = work_stream(&world->work, loan->place);
    cc__event *event = work_mark(loan->place, CC_STREAM_DEFAULT);
    work_follow(loan->place, stream, event);
    fixture_inner->event_destroy(fixture_inner, loan->place, event);
    return stream;
}

static void leave(const model_loan *loan, cc_stream stream)
{
    cc__event *event = work_mark(loan->place, stream);
    work_follow(loan->place, CC_STREAM_DEFAULT, event);
    fixture_inner->event_destroy(fixture_inner, loan->place, event);
}

/* The borrower's memory holds what the image holds. */
static void borrower_reads(model_world *world, const model_loan *loan, const oracle_box *box, cc_stream stream)
{
    const oracle_pixels *pixels = loan->pixels->oracle;
    const work_box span = world_loan_span(loan, box);
    const size_t count = (size_t)oracle_box_count(box);
    const size_t pixel_bytes = (size_t)pixels->pixel_bytes;
    unsigned char *expected = malloc(count * pixel_bytes);
    unsigned char *found = malloc(count * pixel_bytes);
    bool *known = malloc(count * sizeof *known);
    char what[64];
    oracle_take(pixels, box, expected, known);
    snprintf(what, sizeof what, "a borrower in step %d", (int)world->step);
    if (loan->place != CC_PLACE_HOST) {
        work_read(&world->work, loan->place, stream, &span, expected, known, what);
    } else {
        work_each_run(&span, host_gather, &(host_run){span.memory, found});
        for (size_t i = 0; i < count; i++)
            model_check(!known[i] || memcmp(found + i * pixel_bytes, expected + i * pixel_bytes, pixel_bytes) == 0,
                        "the borrower read pixel %zu of its box wrong: byte 0x%02x, expected 0x%02x", i,
                        found[i * pixel_bytes], expected[i * pixel_bytes]);
    }
    free(expected);
    free(found);
    free(known);
}

static void borrower_writes(model_world *world, const model_loan *loan, const oracle_box *box, cc_stream stream)
{
    oracle_pixels *pixels = loan->pixels->oracle;
    const work_box span = world_loan_span(loan, box);
    unsigned char *bytes = malloc((size_t)(oracle_box_count(box) * pixels->pixel_bytes) + 1);
    world_random_values(world, loan->kind, oracle_box_count(box), bytes);
    oracle_put(pixels, box, bytes);
    if (loan->place == CC_PLACE_HOST)
        work_each_run(&span, host_scatter, &(host_run){span.memory, bytes});
    else
        work_write(&world->work, loan->place, stream, &span, bytes);
    free(bytes);
}

static uint32_t loan_errors(model_world *world, const model_image *image, const model_region *region, cc_place place,
                            cc_access access)
{
    const model_pixels *pixels = image->pixels;
    const bool writes = access != CC_ACCESS_READ;
    uint32_t errors = world_conflicts(world, pixels, &region->box, CC_ACCESS_READ);
    errors |= world_loan_conflicts(world, pixels, &region->box, place,
                                   access == CC_ACCESS_WRITE ? CC_ACCESS_WRITE : CC_ACCESS_READ);
    for (int32_t i = 0; i < world->loan_count; i++) {
        const model_loan *other = &world->loans[i];
        if (other->pixels == pixels && other->place != place && (writes || other->writes) &&
            oracle_boxes_overlap(&other->box, &region->box))
            errors |= STATUS(CC_ERROR_BUSY);
    }
    if (access != CC_ACCESS_WRITE && oracle_has_undefined(pixels->oracle, &region->box))
        errors |= STATUS(CC_ERROR_UNINITIALIZED);
    return errors;
}

static void note_memory(const model_loan *loan)
{
    unsigned char *first = loan->memory - oracle_offset(loan->pixels->oracle, loan->place, loan->box.start);
    unsigned char **known = &loan->pixels->memory[loan->place + 1];
    model_check(*known == NULL || *known == first, "the memory of place %d is at %p, expected %p", (int)loan->place,
                (void *)first, (void *)*known);
    *known = first;
}

static bool is_mapped(const model_world *world, const model_pixels *pixels, const oracle_box *box, bool only_writers)
{
    for (int32_t i = 0; i < world->mapping_count; i++) {
        const model_mapping *mapping = &world->mappings[i];
        if (mapping->image->pixels == pixels && (!only_writers || mapping->access != CC_ACCESS_READ) &&
            oracle_boxes_overlap(&mapping->box, box))
            return true;
    }
    return false;
}

/* Two borrowers at one place order their own work; these only do when they share a stream. */
static bool is_race(const model_world *world, const model_pixels *pixels, const oracle_box *box, cc_place place,
                    cc_access access, bool is_known, cc_stream stream)
{
    for (int32_t i = 0; place != CC_PLACE_HOST && i < world->loan_count; i++) {
        const model_loan *other = &world->loans[i];
        if (other->pixels == pixels && other->place == place && (access != CC_ACCESS_READ || other->writes) &&
            oracle_boxes_overlap(&other->box, box) &&
            (is_known != other->is_stream_known || (is_known && stream != other->stream)))
            return true;
    }
    return false;
}

bool step_lend(model_world *world)
{
    random_source *random = &world->random;
    model_image *image = world_pick_image(world);
    if (image == NULL || world->loan_count == WORLD_LOANS)
        return false;
    cc_access access = (cc_access)random_below(random, 3);
    cc_place place = (cc_place)random_below(random, world->device_count + 1) - 1;
    model_region region;
    world_pick_region(world, image, true, &region);
    if (region.errors == 0 && region.is_empty)
        return false;
    cc_export_params params = CC_EXPORT_PARAMS_INIT;
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    params.region = region.argument;
    params.access = (int32_t)access;
    params.place = place;
    params.order = CC_ORDER_K;
    uint32_t errors = region.errors;
    const bool is_open = region.errors == 0 && place != CC_PLACE_HOST && random_chance(random, 40);
    if (is_open) {
        params.place = CC_DEVICE_CURRENT;
        errors |= world_device(world, image, &place);
    }
    if (image->pixels->oracle->read_only && access == CC_ACCESS_WRITE)
        errors |= STATUS(CC_ERROR_READ_ONLY);
    if (image->pixels->oracle->read_only && access == CC_ACCESS_READ_WRITE)
        access = CC_ACCESS_READ;
    if (errors == 0)
        errors |= loan_errors(world, image, &region, place, access);
    /* Where the library tidies, undefined pixels may be lent too. What is written at once is not what is mapped. */
    const bool is_new = region.errors == 0 && access != CC_ACCESS_READ &&
                        (access == CC_ACCESS_WRITE || oracle_has_undefined(image->pixels->oracle, &region.box));
    if (is_new && is_mapped(world, image->pixels, &region.box, false))
        return false;
    if (place != CC_PLACE_HOST && world_place_errors(world, place) == 0)
        params.stream = work_stream(&world->work, place);
    /* A thread's default stream is not to be told from others by its handle. */
    const bool is_known = place != CC_PLACE_HOST && random_chance(random, 50);
    params.flags = is_known ? CC_EXPORT_STREAM_KNOWN : 0;
    if (region.errors == 0 && is_race(world, image->pixels, &region.box, place, access, is_known, params.stream))
        return false;
    oracle_cost *cost = world_cost(world, image);
    world->worked_at = place;
    report_step(world->step, "lend %lld pixels of image %d at %d, access %d, stream %p%s",
                (long long)(region.errors == 0 ? oracle_box_count(&region.box) : 0), (int)image->number, (int)place,
                (int)access, (void *)params.stream, is_known ? " known" : "");
    cc_loan *handle = NULL;
    const bool done =
        world_expect(world, "export", cc_image_export(image->handle, &params, &descriptor, &handle), errors);
    world_note_device(world, image, done && is_open);
    model_check(done == (handle != NULL), "export gave loan %p", (void *)handle);
    if (!done)
        return true;
    oracle_bring(image->pixels->oracle, &region.box, place, access != CC_ACCESS_WRITE, world->peers[place + 1], cost);
    memmove(&world->loans[1], &world->loans[0], (size_t)world->loan_count * sizeof world->loans[0]);
    world->loan_count++;
    model_loan *loan = &world->loans[0];
    *loan = (model_loan){.handle = handle,
                         .pixels = image->pixels,
                         .kind = image->kind,
                         .place = place,
                         .writes = access != CC_ACCESS_READ,
                         .is_stream_known = is_known,
                         .box = region.box,
                         .memory = descriptor.data,
                         .stream = params.stream};
    model_check(descriptor.read_only == !loan->writes, "read_only = %d", (int)descriptor.read_only);
    model_check(descriptor.place == place && descriptor.stream == params.stream, "lent at %d in stream %p",
                (int)descriptor.place, (void *)descriptor.stream);
    image->pixels->handles++;
    note_memory(loan);
    if (access != CC_ACCESS_WRITE)
        borrower_reads(world, loan, &loan->box, params.stream);
    if (loan->writes) {
        oracle_own(image->pixels->oracle, &loan->box, place);
        image->pixels->has_changed = true;
    }
    if (is_new)
        borrower_writes(world, loan, &loan->box, params.stream);
    /* What others are not told of is in order with the default stream. */
    if (place != CC_PLACE_HOST && !is_known)
        leave(loan, params.stream);
    return true;
}

bool step_borrow(model_world *world)
{
    random_source *random = &world->random;
    if (world->loan_count == 0)
        return false;
    const model_loan *loan = &world->loans[random_below(random, world->loan_count)];
    const bool writes = loan->writes && random_chance(random, 70);
    oracle_box box = loan->box;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        if (random_chance(random, 40))
            continue;
        box.size[axis] = 1 + random_below(random, loan->box.size[axis]);
        box.start[axis] += random_below(random, loan->box.size[axis] - box.size[axis] + 1);
    }
    if (is_mapped(world, loan->pixels, &box, !writes))
        return false;
    cc_stream stream = loan->is_stream_known ? loan->stream : CC_STREAM_DEFAULT;
    const bool is_aside = loan->place != CC_PLACE_HOST && !loan->is_stream_known && random_chance(random, 50);
    if (is_aside)
        stream = enter(world, loan);
    report_step(world->step, "a borrower %s %lld pixels at %d, stream %p", writes ? "writes" : "reads",
                (long long)oracle_box_count(&box), (int)loan->place, (void *)stream);
    if (writes)
        borrower_writes(world, loan, &box, stream);
    else
        borrower_reads(world, loan, &box, stream);
    if (is_aside)
        leave(loan, stream);
    return true;
}

bool step_return(model_world *world)
{
    random_source *random = &world->random;
    if (world->loan_count == 0)
        return false;
    const int32_t at = (int32_t)random_below(random, world->loan_count);
    const model_loan loan = world->loans[at];
    const bool in_stream = loan.place != CC_PLACE_HOST && random_chance(random, 30);
    cc_stream stream = loan.is_stream_known ? loan.stream : CC_STREAM_DEFAULT;
    if (in_stream && !loan.is_stream_known)
        stream = enter(world, &loan);
    report_step(world->step, "a loan at %d ends%s, stream %p", (int)loan.place, in_stream ? " in a stream" : "",
                (void *)stream);
    world_expect_drop(loan.pixels);
    if (loan.writes)
        loan.pixels->has_changed = true;
    if (in_stream)
        cc_loan_release_in_stream(loan.handle, stream);
    else
        cc_loan_release(loan.handle);
    if (loan.pixels->handles == 1)
        cc__data_managers_free_leftovers();
    world->loan_count--;
    memmove(&world->loans[at], &world->loans[at + 1], (size_t)(world->loan_count - at) * sizeof world->loans[0]);
    world_drop(world, loan.pixels);
    return true;
}

/* A loan that stands is as a new one: it would be granted, and who works in the default stream finds the pixels. */
bool step_renew(model_world *world)
{
    random_source *random = &world->random;
    if (world->loan_count == 0)
        return false;
    const model_loan *loan = &world->loans[random_below(random, world->loan_count)];
    const model_image *image =
        random_chance(random, 50) ? world_pick_image(world) : world_image_of(world, loan->pixels);
    if (image == NULL)
        return false;
    const int32_t standing = cc_loan_renew(loan->handle, image->handle);
    report_step(world->step, "a loan at %d for image %d is renewed: %d", (int)loan->place, (int)image->number,
                (int)standing);
    if (standing == CC_LOAN_STALE)
        return true;
    const model_region whole = {.box = image->box};
    const bool on_host = loan->place == CC_PLACE_HOST;
    model_check(image->pixels == loan->pixels && memcmp(&image->box, &loan->box, sizeof loan->box) == 0,
                "a loan of other pixels stands");
    model_check(on_host || image->device == loan->place, "a loan at %d stands, the image is at %d", (int)loan->place,
                (int)image->device);
    model_check(!on_host || standing == CC_LOAN_STANDS, "a loan on the host is pending");
    model_check(loan_errors(world, image, &whole, loan->place, loan->writes ? CC_ACCESS_READ_WRITE : CC_ACCESS_READ) ==
                    0,
                "a loan stands that would be refused");
    /* Nobody is told of what is read beside a stream that is known. */
    if (on_host || !loan->is_stream_known)
        borrower_reads(world, loan, &loan->box, CC_STREAM_DEFAULT);
    return true;
}
