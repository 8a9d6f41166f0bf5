/* Who has borrowed what. Of loans that have ended it is the library that says how long they still count. */
#include "world.h"

#include "data_manager/lent.h"
#include "image/image_handle.h"
#include "interop/loan.h"

#include <string.h>

cc__data_manager *world_lender_of(const model_world *world, const model_pixels *pixels)
{
    for (int32_t i = 0; i < world->loan_count; i++)
        if (world->loans[i].pixels == pixels)
            return world->loans[i].handle->manager;
    return NULL;
}

cc__data_manager *world_manager_of(const model_world *world, const model_pixels *pixels)
{
    const model_image *image = world_image_of(world, pixels);
    return image != NULL ? image->handle->manager : world_lender_of(world, pixels);
}

static const cc__lent *list_of(const model_world *world, const model_pixels *pixels)
{
    const cc__data_manager *manager = world_manager_of(world, pixels);
    return manager != NULL ? manager->loans : NULL;
}

static oracle_box box_of(const cc__box *box)
{
    oracle_box same;
    memcpy(same.start, box->start, sizeof same.start);
    memcpy(same.size, box->size, sizeof same.size);
    return same;
}

static bool intersect(const oracle_box *a, const oracle_box *b, oracle_box *out_shared)
{
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        const int64_t a_end = a->start[axis] + a->size[axis];
        const int64_t b_end = b->start[axis] + b->size[axis];
        const int64_t end = a_end < b_end ? a_end : b_end;
        out_shared->start[axis] = a->start[axis] > b->start[axis] ? a->start[axis] : b->start[axis];
        out_shared->size[axis] = end - out_shared->start[axis];
        if (out_shared->size[axis] <= 0)
            return false;
    }
    return true;
}

void world_age_loans(const model_world *world)
{
    for (int32_t i = 0; i < world->image_count; i++) {
        model_pixels *pixels = world->images[i]->pixels;
        for (int32_t ended = 0; ended < 2; ended++)
            for (const cc__lent *lent = list_of(world, pixels); lent != NULL; lent = lent->next) {
                const oracle_box box = box_of(&lent->box);
                if (lent->writes && lent->has_ended == (ended == 1))
                    oracle_age(pixels->oracle, &box, lent->place);
            }
    }
}

bool world_may_be_written(const model_world *world, const model_pixels *pixels)
{
    for (const cc__lent *lent = list_of(world, pixels); lent != NULL; lent = lent->next)
        if (lent->writes)
            return true;
    return false;
}

const model_loan *world_find_loan(const model_world *world, const model_pixels *pixels, const oracle_box *box,
                                  cc_place place)
{
    for (int32_t i = 0; i < world->loan_count; i++)
        if (world->loans[i].pixels == pixels && world->loans[i].place == place &&
            oracle_boxes_overlap(&world->loans[i].box, box))
            return &world->loans[i];
    return NULL;
}

/* Readers that start at the same pixel are lent one box, as large as all of theirs. */
static oracle_box reach_of(const model_world *world, const model_mapping *mapping)
{
    oracle_box reach = mapping->box;
    for (int32_t i = 0; mapping->access == CC_ACCESS_READ && !mapping->is_texture && i < world->mapping_count; i++) {
        const model_mapping *other = &world->mappings[i];
        if (other->is_texture || other->image != mapping->image || other->place != mapping->place ||
            other->access != CC_ACCESS_READ || memcmp(other->box.start, mapping->box.start, sizeof reach.start) != 0)
            continue;
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
            if (other->box.size[axis] > reach.size[axis])
                reach.size[axis] = other->box.size[axis];
    }
    return reach;
}

static bool has_onlooker(const model_world *world, const model_pixels *pixels, const oracle_box *box, cc_place place,
                         bool is_elsewhere)
{
    for (int32_t i = 0; i < world->mapping_count; i++) {
        const model_mapping *mapping = &world->mappings[i];
        const oracle_box reach = reach_of(world, mapping);
        if (mapping->image->pixels == pixels && (mapping->place == place) != is_elsewhere &&
            oracle_boxes_overlap(&reach, box))
            return true;
    }
    return false;
}

uint32_t world_loan_conflicts(const model_world *world, const model_pixels *pixels, const oracle_box *box,
                              cc_place place, cc_access access)
{
    if (access != CC_ACCESS_READ && place != CC_PLACE_HOST &&
        world_find_loan(world, pixels, box, CC_PLACE_HOST) != NULL)
        return STATUS(CC_ERROR_BUSY);
    for (const cc__lent *lent = list_of(world, pixels); lent != NULL && access != CC_ACCESS_WRITE; lent = lent->next) {
        const oracle_box lent_box = box_of(&lent->box);
        oracle_box shared;
        if (lent->writes && lent->place != place && intersect(&lent_box, box, &shared) &&
            has_onlooker(world, pixels, &shared, place, false))
            return STATUS(CC_ERROR_BUSY);
    }
    return 0;
}

uint32_t world_lent_errors(const model_world *world, const model_pixels *pixels, cc_place place)
{
    for (const cc__lent *lent = list_of(world, pixels); lent != NULL; lent = lent->next) {
        const oracle_box box = box_of(&lent->box);
        if (lent->place == place && (!lent->has_ended || has_onlooker(world, pixels, &box, place, true)))
            return STATUS(CC_ERROR_BUSY);
    }
    return 0;
}

int32_t world_count_loans(const model_world *world, const model_pixels *pixels, cc_place place)
{
    int32_t count = 0;
    for (int32_t i = 0; i < world->loan_count; i++)
        count += world->loans[i].pixels == pixels && world->loans[i].place == place;
    return count;
}

static const model_loan *find_behind(const model_world *world, const model_pixels *pixels, const oracle_box *box,
                                     cc_place place, oracle_box *out_shared)
{
    for (int32_t i = 0; i < world->loan_count; i++) {
        const model_loan *loan = &world->loans[i];
        if (loan->pixels == pixels && loan->place != place && loan->place != CC_PLACE_HOST &&
            intersect(&loan->box, box, out_shared) &&
            oracle_count_valid(pixels->oracle, out_shared, loan->place) < oracle_box_count(out_shared))
            return loan;
    }
    return NULL;
}

void world_bring_back(model_world *world, model_pixels *pixels, const oracle_box *box, cc_place place,
                      oracle_cost *cost)
{
    const model_loan *loan = NULL;
    oracle_box shared;
    while ((loan = find_behind(world, pixels, box, place, &shared)) != NULL) {
        oracle_bring(pixels->oracle, &shared, loan->place, true, world->peers[loan->place + 1], cost);
        cost->cells += CC__BOX_MAX_PIECES;
    }
}

work_box world_loan_span(const model_loan *loan, const oracle_box *box)
{
    const oracle_pixels *pixels = loan->pixels->oracle;
    work_box span = {.memory = loan->memory, .pixel_bytes = pixels->pixel_bytes};
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        span.stride[axis] = oracle_stride(pixels, loan->place, axis);
        span.size[axis] = box->size[axis];
        span.memory += (box->start[axis] - loan->box.start[axis]) * span.stride[axis];
    }
    return span;
}

void world_note_copies(model_world *world, const cc_counters *before, cc__data_manager *manager)
{
    const cc_counters after = cc__data_manager_counters(manager);
    world->before.host_to_device_copies += (int64_t)(after.host_to_device_copies - before->host_to_device_copies);
    world->before.host_to_device_bytes += (int64_t)(after.host_to_device_bytes - before->host_to_device_bytes);
    world->before.device_to_host_copies += (int64_t)(after.device_to_host_copies - before->device_to_host_copies);
    world->before.device_to_host_bytes += (int64_t)(after.device_to_host_bytes - before->device_to_host_bytes);
    world->before.device_to_device_copies += (int64_t)(after.device_to_device_copies - before->device_to_device_copies);
    world->before.device_to_device_bytes += (int64_t)(after.device_to_device_bytes - before->device_to_device_bytes);
}
