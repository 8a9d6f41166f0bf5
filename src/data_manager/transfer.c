#include "data_manager/transfer.h"

#include "base/allocate.h"
#include "base/error.h"
#include "data_manager/eviction.h"
#include "memory/transfer_streams.h"

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
        pthread_cond_wait(&manager->changed, &manager->lock);
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
        pthread_cond_broadcast(&manager->changed);
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
        if (use == CC__USE_WRITE)
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

static cc_status prepare_step(cc__transfer *transfer, const cc__step *step)
{
    cc__data_manager *manager = transfer->manager;
    const cc__timeline *here = &cc__data_manager_site(manager, transfer->place)->timeline;
    cc_status status = CC_OK;

    if (transfer->place == CC_PLACE_HOST && step->kind != CC__STEP_COPY)
        return cc__timeline_collect(here, &step->box, CC__USE_WRITE, &cc__waiter_host, &transfer->host_waits);

    const int32_t index = lane_of(transfer, transfer->place == CC_PLACE_HOST ? step->source : transfer->place);
    cc__lane *lane = &transfer->lanes[index];
    const cc__waiter waiter = cc__waiter_of_library(lane->device);
    status = cc__timeline_collect(here, &step->box, CC__USE_WRITE, &waiter, &lane->waits);
    if (status == CC_OK)
        status = touch(transfer, index, transfer->place, CC__USE_WRITE, &step->box);
    if (status == CC_OK && step->kind == CC__STEP_COPY) {
        const cc__site *there = cc__data_manager_site(manager, step->source);
        status = cc__timeline_collect(&there->timeline, &step->box, CC__USE_READ, &waiter, &lane->waits);
        if (status == CC_OK)
            status = touch(transfer, index, step->source, CC__USE_READ, &step->box);
    }
    return status;
}

/* Bytes that go through the host's memory, which is then worth page-locking or not. */
static void decide_registration(cc__transfer *transfer)
{
    cc__data_manager *manager = transfer->manager;
    cc__place_memory host = manager->host.memory;
    size_t moving_bytes = 0;
    for (int32_t i = 0; i < transfer->plan->count; ++i) {
        const cc__step *step = &transfer->plan->steps[i];
        if (step->kind == CC__STEP_COPY && (transfer->place == CC_PLACE_HOST || step->source == CC_PLACE_HOST))
            moving_bytes += (size_t)(cc__box_pixels(&step->box) * manager->layout.pixel_bytes);
    }
    if (transfer->place == CC_PLACE_HOST && transfer->allocates)
        host.size_bytes = (size_t)manager->layout.extent_bytes;
    if (moving_bytes == 0 || !cc__host_memory_is_worth_registering(&host, moving_bytes))
        return;
    transfer->registers_host = true;
    transfer->registered = host.pixels;
    transfer->registered_bytes = host.size_bytes;
    manager->host.memory.registration = CC__REGISTRATION_UNDER_WAY;
}

static void discard(cc__transfer *transfer)
{
    cc__data_manager *manager = transfer->manager;
    if (transfer->registers_host)
        manager->host.memory.registration = CC__REGISTRATION_NONE;
    for (int32_t i = 0; i < transfer->touch_count; ++i)
        cc__timeline_unreserve(&cc__data_manager_site(manager, transfer->touches[i].place)->timeline);
    for (int32_t i = 0; i < transfer->lane_count; ++i) {
        cc__fences_destroy(&transfer->lanes[i].waits);
        cc__fence_release(transfer->lanes[i].done);
    }
    cc__fences_destroy(&transfer->host_waits);
    cc__free(transfer->lanes);
    cc__free(transfer->touches);
    unclaim(transfer);
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

    cc__box claimed = transfer->allocates ? manager->whole : plan->steps[0].box;
    for (int32_t i = 0; i < plan->count; ++i)
        claimed = cc__box_bounding(&claimed, &plan->steps[i].box);
    cc_status status = claim(transfer, &claimed);
    if (status != CC_OK)
        return status;

    transfer->lanes = cc__allocate(((size_t)plan->count + 1) * sizeof *transfer->lanes);
    transfer->touches = cc__allocate(((size_t)plan->count + 1) * 2 * sizeof *transfer->touches);
    if (transfer->lanes == NULL || transfer->touches == NULL)
        status = cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__transfer_prepare: no memory for %d steps", plan->count);
    /* Whoever uses new device memory first must come after its allocation, in whatever stream. */
    if (status == CC_OK && transfer->allocates && place != CC_PLACE_HOST)
        status = touch(transfer, lane_of(transfer, place), place, CC__USE_WRITE, &manager->whole);
    for (int32_t i = 0; status == CC_OK && i < plan->count; ++i)
        status = prepare_step(transfer, &plan->steps[i]);
    for (int32_t i = 0; status == CC_OK && i < transfer->lane_count; ++i)
        status = cc__fence_create(manager->backend, transfer->lanes[i].device, &transfer->lanes[i].done);
    if (status == CC_OK)
        decide_registration(transfer);
    else
        discard(transfer);
    return status;
}

static cc_status allocate_target(cc__transfer *transfer)
{
    const cc__layout *layout = &transfer->manager->layout;
    if (transfer->place == CC_PLACE_HOST)
        return cc__host_memory_allocate(layout, &transfer->target);
    return cc__eviction_allocate(transfer->manager, transfer->place, transfer->lanes[0].stream, &transfer->target);
}

static const cc__place_memory *memory_read(const cc__transfer *transfer, cc_place place)
{
    for (int32_t i = 0; i < transfer->touch_count; ++i)
        if (transfer->touches[i].place == place && transfer->touches[i].use == CC__USE_READ)
            return &transfer->touches[i].memory;
    return &transfer->target;
}

static cc_status run_copy(cc__transfer *transfer, const cc__lane *lane, const cc__step *step)
{
    cc__copy work = {.pixel_bytes = transfer->manager->layout.pixel_bytes};
    work.destination = cc__place_memory_span(&transfer->target, &step->box);
    work.source = cc__place_memory_span(memory_read(transfer, step->source), &step->box);
    memcpy(work.size, step->box.size, sizeof work.size);
    return transfer->backend->copy(transfer->backend, lane->device, lane->stream, &work);
}

static cc_status run_fill(cc__transfer *transfer, const cc__lane *lane, const cc__step *step)
{
    const cc__data_manager *manager = transfer->manager;
    const bool is_zero = step->kind == CC__STEP_ZERO || manager->constant_is_zero;
    if (lane == NULL && transfer->allocates && is_zero)
        return CC_OK; /* new host pages are zero already, and stay untouched */
    cc__fill work = {.pixel_bytes = manager->layout.pixel_bytes};
    work.destination = cc__place_memory_span(&transfer->target, &step->box);
    memcpy(work.size, step->box.size, sizeof work.size);
    if (!is_zero)
        memcpy(work.value, manager->constant, (size_t)work.pixel_bytes);
    if (lane != NULL)
        return transfer->backend->fill(transfer->backend, lane->device, lane->stream, &work);
    cc__fill_on_host(&work);
    return CC_OK;
}

static cc_status run_lane(cc__transfer *transfer, cc__lane *lane)
{
    cc_status status = cc__fences_wait_in_stream(&lane->waits, transfer->backend, lane->device, lane->stream);
    for (int32_t i = 0; status == CC_OK && i < transfer->plan->count; ++i) {
        const cc__step *step = &transfer->plan->steps[i];
        if (transfer->place == CC_PLACE_HOST && (step->kind != CC__STEP_COPY || step->source != lane->device))
            continue;
        lane->started = true;
        status = step->kind == CC__STEP_COPY ? run_copy(transfer, lane, step) : run_fill(transfer, lane, step);
    }
    if (status == CC_OK)
        status = cc__fence_record(lane->done, lane->stream, 0);
    return status;
}

cc_status cc__transfer_run(cc__transfer *transfer)
{
    const cc__plan *plan = transfer->plan;
    cc__backend *backend = transfer->backend;
    cc_status status = CC_OK;

    for (int32_t i = 0; status == CC_OK && i < transfer->lane_count; ++i)
        status = cc__transfer_stream_get(backend, transfer->lanes[i].device, &transfer->lanes[i].stream);
    if (status == CC_OK && transfer->allocates)
        status = allocate_target(transfer);
    if (status != CC_OK)
        return status;

    if (transfer->registers_host) {
        if (transfer->registered == NULL)
            transfer->registered = transfer->target.pixels;
        /* A refusal costs speed only: the copies work on pageable memory too. */
        cc__error_state before;
        transfer->register_tried = true;
        cc__error_save(&before);
        transfer->register_refused =
            backend->host_register(backend, transfer->registered, transfer->registered_bytes) != CC_OK;
        cc__error_restore(&before);
    }
    for (int32_t i = 0; status == CC_OK && i < transfer->lane_count; ++i)
        status = run_lane(transfer, &transfer->lanes[i]);

    if (status == CC_OK)
        status = cc__fences_synchronize(&transfer->host_waits);
    for (int32_t i = 0; status == CC_OK && transfer->place == CC_PLACE_HOST && i < plan->count; ++i)
        if (plan->steps[i].kind != CC__STEP_COPY)
            status = run_fill(transfer, NULL, &plan->steps[i]);
    for (int32_t i = 0; status == CC_OK && transfer->synchronizes && i < transfer->lane_count; ++i)
        status = backend->event_synchronize(backend, transfer->lanes[i].device, transfer->lanes[i].done->event);
    if (status == CC_OK)
        return CC_OK;

    for (int32_t i = 0; i < transfer->lane_count; ++i)
        if (transfer->lanes[i].started)
            (void)backend->stream_synchronize(backend, transfer->lanes[i].device, transfer->lanes[i].stream);
    if (transfer->allocates) {
        if (transfer->place == CC_PLACE_HOST) {
            if (transfer->registers_host && !transfer->register_refused)
                transfer->target.registration = CC__REGISTRATION_DONE;
            cc__host_memory_free(backend, &transfer->target);
        } else {
            cc__device_memory_free(backend, transfer->place, transfer->lanes[0].stream, &transfer->target);
        }
    }
    return status;
}

static void count(cc__transfer *transfer)
{
    const cc__data_manager *manager = transfer->manager;
    cc_counters *counters = &transfer->manager->counters;
    for (int32_t i = 0; i < transfer->plan->count; ++i) {
        const cc__step *step = &transfer->plan->steps[i];
        const uint64_t bytes = (uint64_t)(cc__box_pixels(&step->box) * manager->layout.pixel_bytes);
        if (step->kind != CC__STEP_COPY) {
            ++counters->fills;
        } else if (transfer->place == CC_PLACE_HOST) {
            ++counters->device_to_host_copies;
            counters->device_to_host_bytes += bytes;
        } else if (step->source == CC_PLACE_HOST) {
            ++counters->host_to_device_copies;
            counters->host_to_device_bytes += bytes;
        } else {
            ++counters->device_to_device_copies;
            counters->device_to_device_bytes += bytes;
        }
    }
    if (transfer->allocates && transfer->place == CC_PLACE_HOST)
        ++counters->host_allocations;
    else if (transfer->allocates)
        ++counters->device_allocations;
}

static cc_status make_valid(cc__transfer *transfer)
{
    cc__validity *validity = &transfer->manager->validity;
    const int32_t box_count = transfer->box != NULL ? 1 : transfer->plan->count;
    cc__validity next = {0};
    cc_status status = CC_OK;

    if (transfer->plan->count == 0)
        return CC_OK;
    for (int32_t i = 0; status == CC_OK && i < box_count; ++i) {
        const cc__box *box = transfer->box != NULL ? transfer->box : &transfer->plan->steps[i].box;
        cc__validity after = {0};
        status = cc__validity_prepare(i == 0 ? validity : &next, box, ~CC__SOURCE_UNDEFINED,
                                      CC__SOURCE(transfer->place), &after);
        if (status == CC_OK)
            cc__validity_install(&next, &after);
    }
    if (status == CC_OK)
        cc__validity_install(validity, &next);
    cc__validity_destroy(&next);
    return status;
}

cc_status cc__transfer_finish(cc__transfer *transfer, cc_status run_status)
{
    cc__data_manager *manager = transfer->manager;
    cc_status status = run_status;

    /* Host memory that was there before stays page-locked, also when a copy failed. */
    if (transfer->registers_host &&
        (run_status == CC_OK || !(transfer->allocates && transfer->place == CC_PLACE_HOST))) {
        if (transfer->register_tried) {
            manager->host.memory.registration =
                transfer->register_refused ? CC__REGISTRATION_REFUSED : CC__REGISTRATION_DONE;
            transfer->registers_host = false;
        }
    }
    if (run_status == CC_OK) {
        cc__place_memory *memory = &cc__data_manager_site(manager, transfer->place)->memory;
        if (transfer->allocates) {
            transfer->target.registration = memory->registration;
            *memory = transfer->target;
            if (transfer->place != CC_PLACE_HOST)
                cc__residents_add(&manager->devices[transfer->place].resident, manager, transfer->place,
                                  manager->priority);
        }
        for (int32_t i = 0; i < transfer->lane_count; ++i)
            transfer->lanes[i].done->is_complete = transfer->synchronizes;
        for (int32_t i = 0; i < transfer->touch_count; ++i) {
            const cc__touch *use = &transfer->touches[i];
            cc__timeline_add(&cc__data_manager_site(manager, use->place)->timeline, &use->box, use->use,
                             transfer->lanes[use->lane].done);
        }
        transfer->touch_count = 0;
        count(transfer);
        status = make_valid(transfer);
        cc__eviction_reconsider(manager);
    }
    discard(transfer);
    return status;
}
