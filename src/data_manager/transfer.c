#include "data_manager/transfer.h"

#include "base/allocate.h"
#include "base/error.h"
#include "data_manager/eviction.h"
#include "memory/host_work.h"
#include "memory/movement.h"
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

static void discard(cc__transfer *transfer)
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
        discard(transfer);
    return status;
}

static cc_status allocate_target(cc__transfer *transfer)
{
    const cc__layout *layout = &transfer->manager->layout;
    if (transfer->place == CC_PLACE_HOST)
        return cc__host_memory_allocate(layout, transfer->allocator, &transfer->target);
    return cc__eviction_allocate(transfer->backend, transfer->place, transfer->lanes[0].stream, layout,
                                 transfer->allocator, &transfer->target);
}

static const cc__place_memory *memory_read(const cc__transfer *transfer, cc_place place)
{
    for (int32_t i = 0; i < transfer->touch_count; ++i)
        if (transfer->touches[i].place == place && transfer->touches[i].use == CC__USE_READ)
            return &transfer->touches[i].memory;
    return &transfer->target;
}

/* The first byte of a box. */
static unsigned char *find_box(const cc__place_memory *memory, const cc__box *box)
{
    unsigned char *data = memory->pixels;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        data += box->start[axis] * memory->stride[axis];
    return data;
}

/* The copies that steps of one origin are. */
static void find_copies(const cc__transfer *transfer, const cc__step *steps, int32_t count, cc__copy *out_works)
{
    const cc__place_memory *to = &transfer->target;
    const cc__place_memory *from = memory_read(transfer, steps[0].source);
    for (int32_t i = 0; i < count; ++i) {
        cc__copy *work = &out_works[i];
        work->pixel_bytes = transfer->manager->layout.pixel_bytes;
        work->destination.data = find_box(to, &steps[i].box);
        work->source.data = find_box(from, &steps[i].box);
        memcpy(work->destination.stride, to->stride, sizeof to->stride);
        memcpy(work->source.stride, from->stride, sizeof from->stride);
        memcpy(work->size, steps[i].box.size, sizeof work->size);
    }
}

/* Between devices. */
static cc_status run_copy(cc__transfer *transfer, const cc__lane *lane, const cc__step *step)
{
    cc__copy work;
    find_copies(transfer, step, 1, &work);
    return transfer->backend->copy(transfer->backend, lane->device, lane->stream, &work);
}

/* Between the host and the lane's device. */
static cc_status run_movement(cc__transfer *transfer, cc__lane *lane, cc__copy *works, int32_t count)
{
    const bool is_up = transfer->place != CC_PLACE_HOST;
    const cc__place_memory *host = is_up ? memory_read(transfer, CC_PLACE_HOST) : &transfer->target;
    cc__movement movement = {.backend = transfer->backend,
                             .device = lane->device,
                             .stream = lane->stream,
                             .host = is_up ? CC__SIDE_SOURCE : CC__SIDE_DESTINATION,
                             .bytes = host->pixels,
                             .memory = host->host,
                             .works = works,
                             .count = count};
    cc_status status = cc__movement_prepare(&movement);
    if (status != CC_OK)
        return status;
    /* Waiting in the stream is not enough where the CPU reads the pixels. */
    if (is_up && (movement.staged.count > 0 || movement.locks_late))
        status = cc__fences_synchronize(&lane->host_waits);
    lane->started = true;
    if (status == CC_OK)
        status = cc__movement_run(&movement);
    lane->uses_host = lane->uses_host || !movement.is_over_on_host;
    lane->has_read_host = is_up && !lane->uses_host;
    lane->is_settled = !is_up && !lane->uses_host;
    cc__tally_join(&transfer->moved, &movement.tally);
    transfer->locked_bytes += movement.locked_bytes;
    cc__movement_end(&movement);
    return status;
}

static cc_status run_fill(cc__transfer *transfer, const cc__lane *lane, const cc__step *step)
{
    const cc__data_manager *manager = transfer->manager;
    const bool is_zero = step->kind == CC__STEP_ZERO || manager->constant_is_zero;
    if (lane == NULL && transfer->allocates && is_zero && transfer->target.host->is_zero)
        return CC_OK; /* new pages are zero already, and stay untouched */
    cc__fill work = {.pixel_bytes = manager->layout.pixel_bytes};
    work.destination = cc__place_memory_span(&transfer->target, &step->box);
    memcpy(work.size, step->box.size, sizeof work.size);
    if (!is_zero)
        memcpy(work.value, manager->constant, (size_t)work.pixel_bytes);
    if (lane != NULL)
        return transfer->backend->fill(transfer->backend, lane->device, lane->stream, &work);
    cc__fill_by_crew(&work);
    return CC_OK;
}

/*
 * When there are so many boxes, some are queued by themselves: they are on their way while the rest is made ready. Not
 * where that decides about locking pages, which goes by all of them.
 */
#define MANY_BOXES 384
#define BOXES_AHEAD 192

static bool is_all_locked(const cc__transfer *transfer)
{
    const cc__place_memory *host =
        transfer->place != CC_PLACE_HOST ? memory_read(transfer, CC_PLACE_HOST) : &transfer->target;
    return host->host != NULL && cc__host_memory_is_all_locked(host->host);
}

/* Copies between the host and the lane's device are noted, to be moved all at once, but for those ahead. */
static cc_status collect_copies(cc__transfer *transfer, cc__lane *lane, const cc__step *steps, int32_t count,
                                int32_t *work_count)
{
    cc__copy *works = transfer->works + transfer->work_count + *work_count;
    cc_status status = CC_OK;
    int32_t ahead = 0;
    if (count >= MANY_BOXES && *work_count == 0 && is_all_locked(transfer)) {
        ahead = BOXES_AHEAD;
        find_copies(transfer, steps, ahead, works);
        status = run_movement(transfer, lane, works, ahead);
        transfer->work_count += ahead;
    }
    if (status == CC_OK)
        find_copies(transfer, steps + ahead, count - ahead, works + ahead);
    *work_count += count - ahead;
    return status;
}

/* Steps of one origin, unless they are copies between the host and the device: those come later. */
static cc_status run_steps(cc__transfer *transfer, cc__lane *lane, const cc__step *steps, int32_t count,
                           int32_t *work_count)
{
    const bool copies = steps[0].kind == CC__STEP_COPY;
    cc_status status = CC_OK;
    if (transfer->place == CC_PLACE_HOST && (!copies || steps[0].source != lane->device))
        return CC_OK;
    if (copies && (transfer->place == CC_PLACE_HOST || steps[0].source == CC_PLACE_HOST))
        return collect_copies(transfer, lane, steps, count, work_count);
    lane->started = true;
    for (int32_t i = 0; status == CC_OK && i < count; ++i)
        status = copies ? run_copy(transfer, lane, &steps[i]) : run_fill(transfer, lane, &steps[i]);
    return status;
}

static cc_status run_lane(cc__transfer *transfer, cc__lane *lane)
{
    const cc__plan *plan = transfer->plan;
    cc__backend *backend = transfer->backend;
    const bool was_lost = backend->is_lost(backend, lane->device);
    int32_t count = 0;
    cc_status status = cc__fences_wait_in_stream(&lane->waits, backend, lane->device, lane->stream);
    for (int32_t i = 0, end = 0; status == CC_OK && i < plan->count; i = end) {
        end = cc__plan_end_of_origin(plan, i);
        status = run_steps(transfer, lane, &plan->steps[i], end - i, &count);
    }
    if (status == CC_OK && count > 0)
        status = run_movement(transfer, lane, transfer->works + transfer->work_count, count);
    transfer->work_count += count;
    if (status == CC_OK && !lane->is_settled)
        status = cc__fence_record(lane->done, lane->stream, 0);
    /* Then it has taken no work. */
    lane->started = lane->started && !was_lost;
    return status;
}

static cc__traffic traffic_of(const cc__transfer *transfer)
{
    if (transfer->place == CC_PLACE_HOST)
        return CC__TRAFFIC_DOWN;
    for (int32_t i = 0; i < transfer->plan->count; ++i)
        if (transfer->plan->steps[i].kind == CC__STEP_COPY && transfer->plan->steps[i].source == CC_PLACE_HOST)
            return CC__TRAFFIC_UP;
    return CC__TRAFFIC_OTHER;
}

/*
 * Nothing of a failed transfer is to be under way any more, and new memory goes. Where that cannot be had, host memory
 * stays, since copies may still write to it.
 */
static void undo(cc__transfer *transfer)
{
    cc__backend *backend = transfer->backend;
    for (int32_t i = 0; i < transfer->lane_count; ++i) {
        cc__lane *lane = &transfer->lanes[i];
        lane->is_stranded = lane->started && backend->stream_synchronize(backend, lane->device, lane->stream) != CC_OK;
        transfer->keeps_memory = transfer->keeps_memory || lane->is_stranded;
    }
    if (transfer->allocates && transfer->place != CC_PLACE_HOST)
        cc__device_memory_free(backend, transfer->place, transfer->lanes[0].stream, &transfer->target);
    else if (transfer->allocates && !transfer->keeps_memory)
        cc__host_memory_free(&transfer->target, true);
}

cc_status cc__transfer_run(cc__transfer *transfer)
{
    const cc__plan *plan = transfer->plan;
    cc__backend *backend = transfer->backend;
    const cc__traffic traffic = traffic_of(transfer);
    cc_status status = CC_OK;

    for (int32_t i = 0; status == CC_OK && i < transfer->lane_count; ++i)
        status = cc__transfer_stream_get_for(backend, transfer->lanes[i].device, traffic, &transfer->lanes[i].stream);
    if (status == CC_OK && transfer->allocates)
        status = allocate_target(transfer);
    if (status != CC_OK)
        return status;

    for (int32_t i = 0; status == CC_OK && i < transfer->lane_count; ++i)
        status = run_lane(transfer, &transfer->lanes[i]);
    if (status == CC_OK)
        status = cc__fences_synchronize(&transfer->host_waits);
    for (int32_t i = 0; status == CC_OK && transfer->place == CC_PLACE_HOST && i < plan->count; ++i)
        if (plan->steps[i].kind != CC__STEP_COPY)
            status = run_fill(transfer, NULL, &plan->steps[i]);
    for (int32_t i = 0; status == CC_OK && transfer->synchronizes && i < transfer->lane_count; ++i) {
        cc__lane *lane = &transfer->lanes[i];
        if (!lane->is_settled)
            status = backend->event_synchronize(backend, lane->device, lane->done->event);
        lane->is_settled = status == CC_OK;
    }
    if (status != CC_OK)
        undo(transfer);
    return status;
}

static void count(cc__transfer *transfer)
{
    const cc__data_manager *manager = transfer->manager;
    cc_counters *counters = &transfer->manager->counters;
    for (int32_t i = 0, end = 0; i < transfer->plan->count; i = end) {
        end = cc__plan_end_of_origin(transfer->plan, i);
        const cc__step *step = &transfer->plan->steps[i];
        const uint64_t steps = (uint64_t)(end - i);
        const uint64_t bytes = (uint64_t)(cc__plan_pixels(transfer->plan, i, end) * manager->layout.pixel_bytes);
        if (step->kind != CC__STEP_COPY) {
            counters->fills += steps;
        } else if (transfer->place == CC_PLACE_HOST) {
            counters->device_to_host_copies += steps;
            counters->device_to_host_bytes += bytes;
        } else if (step->source == CC_PLACE_HOST) {
            counters->host_to_device_copies += steps;
            counters->host_to_device_bytes += bytes;
        } else {
            counters->device_to_device_copies += steps;
            counters->device_to_device_bytes += bytes;
        }
    }
    if (transfer->allocates && transfer->place == CC_PLACE_HOST)
        ++counters->host_allocations;
    else if (transfer->allocates)
        ++counters->device_allocations;
}

static cc_status make_box_valid(const cc__transfer *transfer, cc__validity *validity, const cc__box *box)
{
    const cc_status status = cc__validity_prepare(validity, box, ~CC__SOURCE_UNDEFINED, CC__SOURCE(transfer->place));
    if (status == CC_OK)
        cc__validity_install(validity);
    return status;
}

static cc_status make_valid(cc__transfer *transfer)
{
    cc__validity *validity = &transfer->manager->validity;
    const cc__plan *plan = transfer->plan;
    cc__validity next;
    cc_status status = CC_OK;

    if (plan->count == 0)
        return CC_OK;
    if (transfer->box != NULL || plan->count == 1)
        return make_box_valid(transfer, validity, transfer->box != NULL ? transfer->box : &plan->steps[0].box);
    status = cc__validity_copy(validity, &next);
    if (status != CC_OK)
        return status;
    for (int32_t i = 0; status == CC_OK && i < plan->count; ++i)
        status = make_box_valid(transfer, &next, &plan->steps[i].box);
    if (status == CC_OK) {
        const cc__validity before = *validity;
        *validity = next;
        next = before;
    }
    cc__validity_destroy(&next);
    return status;
}

/* For others to wait for, if it is not over. */
static void note(cc__transfer *transfer, const cc__touch *use)
{
    cc__timeline *timeline = &cc__data_manager_site(transfer->manager, use->place)->timeline;
    const cc__lane *lane = &transfer->lanes[use->lane];
    const bool is_over = lane->is_settled || (use->place == CC_PLACE_HOST && lane->has_read_host);
    if (use->use == CC__USE_READ && is_over)
        cc__timeline_unreserve(timeline);
    else
        cc__timeline_add(timeline, &use->box, use->use, lane->done);
    /* An image that is left alone then holds no events: a driver that has very many is slow to record new ones. */
    if (lane->is_settled)
        cc__timeline_drop_done(timeline);
}

/* What may still be under way of a failed transfer, others wait for; the library's streams are there to be asked. */
static void note_stranded(cc__transfer *transfer)
{
    for (int32_t i = 0; i < transfer->lane_count; ++i)
        if (transfer->lanes[i].is_stranded)
            cc__fence_defer(transfer->lanes[i].done, transfer->lanes[i].stream);
    for (int32_t i = 0; i < transfer->touch_count; ++i) {
        const cc__touch *use = &transfer->touches[i];
        const cc__lane *lane = &transfer->lanes[use->lane];
        cc__timeline *timeline = &cc__data_manager_site(transfer->manager, use->place)->timeline;
        if (lane->is_stranded)
            cc__timeline_add(timeline, &use->box, use->use, lane->done);
        else
            cc__timeline_unreserve(timeline);
    }
    transfer->touch_count = 0;
    if (transfer->allocates && transfer->place == CC_PLACE_HOST)
        transfer->manager->host.memory = transfer->target;
}

cc_status cc__transfer_finish(cc__transfer *transfer, cc_status run_status)
{
    cc__data_manager *manager = transfer->manager;
    cc_status status = run_status;

    if (run_status == CC_OK) {
        if (transfer->allocates)
            cc__data_manager_site(manager, transfer->place)->memory = transfer->target;
        if (transfer->allocates && transfer->place != CC_PLACE_HOST)
            cc__residents_add(&manager->devices[transfer->place].resident, manager, transfer->place, manager->priority);
        for (int32_t i = 0; i < transfer->lane_count; ++i) {
            transfer->lanes[i].done->is_complete = transfer->lanes[i].is_settled;
            if (transfer->lanes[i].is_settled)
                cc__fences_mark_followed(&transfer->lanes[i].waits);
        }
        for (int32_t i = 0; i < transfer->touch_count; ++i)
            note(transfer, &transfer->touches[i]);
        transfer->touch_count = 0;
        count(transfer);
        status = make_valid(transfer);
        cc__eviction_reconsider(manager);
    }
    if (run_status != CC_OK && transfer->keeps_memory)
        note_stranded(transfer);
    discard(transfer);
    return status;
}
