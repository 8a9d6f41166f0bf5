#include "data_manager/transfer.h"

#include "base/allocate.h"
#include "base/error.h"

#include <string.h>

bool cc__transfer_has_claim(const cc__data_manager *manager, cc_place place, const cc__box *box)
{
    for (int32_t i = 0; i < manager->claim_count; ++i)
        if (manager->claims[i].place == place && cc__box_overlaps(&manager->claims[i].box, box))
            return true;
    return false;
}

void cc__transfer_wait_for_claims(cc__data_manager *manager, cc_place place, const cc__box *box)
{
    while (cc__transfer_has_claim(manager, place, box))
        cc__lock_wait(&manager->lock);
}

static cc_status claim(cc__transfer *transfer, const cc__box *box)
{
    cc__data_manager *manager = transfer->manager;
    if (manager->claim_count == manager->claim_capacity) {
        const int32_t capacity = manager->claim_capacity == 0 ? 2 : manager->claim_capacity * 2;
        cc__claim *claims = cc__reallocate(manager->claims, (size_t)capacity * sizeof *claims);
        if (claims == NULL)
            return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__transfer_prepare: no memory for %d claims", capacity);
        manager->claims = claims;
        manager->claim_capacity = capacity;
    }
    manager->claims[manager->claim_count] = (cc__claim){.place = transfer->place, .box = *box};
    ++manager->claim_count;
    transfer->claimed = *box;
    transfer->has_claim = true;
    return CC_OK;
}

static void unclaim(cc__transfer *transfer)
{
    cc__data_manager *manager = transfer->manager;
    for (int32_t i = 0; transfer->has_claim && i < manager->claim_count; ++i) {
        if (manager->claims[i].place != transfer->place || !cc__box_equal(&manager->claims[i].box, &transfer->claimed))
            continue;
        --manager->claim_count;
        manager->claims[i] = manager->claims[manager->claim_count];
        transfer->has_claim = false;
        cc__lock_tell(&manager->lock);
    }
}

static int32_t lane_of(cc__transfer *transfer, int32_t device)
{
    for (int32_t i = 0; i < transfer->lane_count; ++i)
        if (transfer->lanes[i].device == device)
            return i;
    transfer->lanes[transfer->lane_count].device = device;
    return transfer->lane_count++;
}

/* Notes that a lane uses a box of a place; one touch holds all boxes of the same kind. */
static cc_status touch(cc__transfer *transfer, int32_t lane, cc_place place, cc__use use, const cc__box *box)
{
    for (int32_t i = 0; i < transfer->touch_count; ++i) {
        cc__touch *known = &transfer->touches[i];
        if (known->lane != lane || known->place != place || (known->use == CC__USE_READ) != (use == CC__USE_READ))
            continue;
        if (cc__box_contains(&known->box, box))
            return CC_OK;
        known->box = cc__box_bounding(&known->box, box);
        if (use != CC__USE_READ)
            known->use = CC__USE_WRITE_PARTS;
        return CC_OK;
    }
    cc__site *site = cc__data_manager_site(transfer->manager, place);
    const cc_status status = cc__timeline_reserve(&site->timeline);
    if (status != CC_OK)
        return status;
    transfer->touches[transfer->touch_count] =
        (cc__touch){.lane = lane, .place = place, .use = use, .box = *box, .memory = site->memory};
    ++transfer->touch_count;
    return CC_OK;
}

static cc__box box_around(const cc__plan *plan, const cc__step *steps, int32_t count)
{
    cc__box around = steps[0].box;
    if (plan->origins == 1)
        return plan->around;
    for (int32_t i = 1; i < count; ++i)
        around = cc__box_bounding(&around, &steps[i].box);
    return around;
}

static cc_status collect(const cc__timeline *timeline, const cc__step *steps, int32_t count, cc__use use,
                         const cc__waiter *waiter, cc__fences *fences)
{
    return cc__timeline_collect_boxes(timeline, &steps[0].box, sizeof *steps, count, use, waiter, fences);
}

/* For steps of one origin. */
static cc_status prepare_steps(cc__transfer *transfer, const cc__step *steps, int32_t count)
{
    cc__data_manager *manager = transfer->manager;
    const cc__timeline *here = &cc__data_manager_site(manager, transfer->place)->timeline;
    const bool copies = steps[0].kind == CC__STEP_COPY;
    cc_status status = CC_OK;

    if (transfer->place == CC_PLACE_HOST && !copies)
        return collect(here, steps, count, CC__USE_WRITE, &cc__waiter_host, &transfer->host_waits);

    const int32_t index = lane_of(transfer, transfer->place == CC_PLACE_HOST ? steps[0].source : transfer->place);
    cc__lane *lane = &transfer->lanes[index];
    const cc__waiter waiter = cc__waiter_of_library(lane->device);
    const cc__box around = box_around(transfer->plan, steps, count);
    status = collect(here, steps, count, CC__USE_WRITE, &waiter, &lane->waits);
    if (status == CC_OK)
        status = touch(transfer, index, transfer->place, count == 1 ? CC__USE_WRITE : CC__USE_WRITE_PARTS, &around);
    if (status == CC_OK && copies) {
        const cc__site *there = cc__data_manager_site(manager, steps[0].source);
        status = collect(&there->timeline, steps, count, CC__USE_READ, &waiter, &lane->waits);
        if (status == CC_OK && steps[0].source == CC_PLACE_HOST)
            status = collect(&there->timeline, steps, count, CC__USE_READ, &waiter, &lane->host_waits);
        if (status == CC_OK)
            status = touch(transfer, index, steps[0].source, CC__USE_READ, &around);
    }
    return status;
}

/* So many are kept for the next transfer. */
#define MOST_SPARE_WORKS 1024

static void take_works(cc__transfer *transfer, int32_t count)
{
    cc__data_manager *manager = transfer->manager;
    transfer->work_capacity = count;
    if (manager->spare_works == NULL || manager->spare_work_capacity < count) {
        transfer->works = cc__allocate((size_t)count * sizeof *transfer->works);
        return;
    }
    transfer->works = manager->spare_works;
    transfer->work_capacity = manager->spare_work_capacity;
    manager->spare_works = NULL;
}

static void give_works(cc__transfer *transfer)
{
    cc__data_manager *manager = transfer->manager;
    if (transfer->works == transfer->inline_works)
        return;
    if (transfer->works == NULL || transfer->work_capacity > MOST_SPARE_WORKS) {
        cc__free(transfer->works);
        return;
    }
    cc__free(manager->spare_works);
    manager->spare_works = transfer->works;
    manager->spare_work_capacity = transfer->work_capacity;
}

void cc__transfer_discard(cc__transfer *transfer)
{
    cc__data_manager *manager = transfer->manager;
    for (int32_t i = 0; i < transfer->touch_count; ++i)
        cc__timeline_unreserve(&cc__data_manager_site(manager, transfer->touches[i].place)->timeline);
    for (int32_t i = 0; i < transfer->lane_count; ++i) {
        cc__fences_destroy(&transfer->lanes[i].waits);
        cc__fences_destroy(&transfer->lanes[i].host_waits);
        cc__fence_release(transfer->lanes[i].done);
    }
    cc__fences_destroy(&transfer->host_waits);
    if (transfer->lanes != transfer->inline_lanes)
        cc__free(transfer->lanes);
    if (transfer->touches != transfer->inline_touches)
        cc__free(transfer->touches);
    give_works(transfer);
    cc__allocator_release(transfer->allocator);
    unclaim(transfer);
}

/* Room for the works of all steps, and for the lanes and touches of their origins. */
static cc_status make_room(cc__transfer *transfer, const cc__plan *plan)
{
    const size_t origins = (size_t)plan->origins;
    transfer->lanes = transfer->inline_lanes;
    transfer->touches = transfer->inline_touches;
    transfer->works = transfer->inline_works;
    if (origins > CC__TRANSFER_INLINE_STEPS) {
        transfer->lanes = cc__allocate((origins + 1) * sizeof *transfer->lanes);
        transfer->touches = cc__allocate((origins + 1) * 2 * sizeof *transfer->touches);
    }
    if (plan->count > CC__TRANSFER_INLINE_STEPS)
        take_works(transfer, plan->count);
    if (transfer->lanes == NULL || transfer->touches == NULL || transfer->works == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__transfer_prepare: no memory for %d steps", (int)plan->count);
    return CC_OK;
}

cc_status cc__transfer_prepare(cc__transfer *transfer, cc__data_manager *manager, const cc__plan *plan,
                               const cc__box *box, cc_place place, bool synchronizes)
{
    memset(transfer, 0, sizeof *transfer);
    transfer->manager = manager;
    transfer->place = place;
    transfer->plan = plan;
    transfer->box = box;
    transfer->synchronizes = synchronizes;
    transfer->target = cc__data_manager_site(manager, place)->memory;
    transfer->allocates = transfer->target.pixels == NULL;
    transfer->backend = manager->backend;

    const cc__box claimed = transfer->allocates ? manager->whole : plan->around;
    cc_status status = claim(transfer, &claimed);
    if (status != CC_OK)
        return status;

    transfer->allocator =
        cc__allocator_retain(place == CC_PLACE_HOST ? manager->host_allocator : manager->device_allocator);
    status = make_room(transfer, plan);
    /* Whoever uses new device memory first must come after its allocation, in whatever stream. */
    if (status == CC_OK && transfer->allocates && place != CC_PLACE_HOST)
        status = touch(transfer, lane_of(transfer, place), place, CC__USE_WRITE, &manager->whole);
    for (int32_t i = 0, end = 0; status == CC_OK && i < plan->count; i = end) {
        end = cc__plan_end_of_origin(plan, i);
        status = prepare_steps(transfer, &plan->steps[i], end - i);
    }
    for (int32_t i = 0; status == CC_OK && i < transfer->lane_count; ++i)
        status = cc__fence_create(manager->backend, transfer->lanes[i].device, &transfer->lanes[i].done);
    if (status != CC_OK)
        cc__transfer_discard(transfer);
    return status;
}
