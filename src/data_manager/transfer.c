#include "data_manager/transfer.h"

#include "base/error.h"
#include "data_manager/eviction.h"
#include "memory/host_work.h"
#include "memory/movement.h"
#include "memory/transfer_streams.h"

#include <string.h>

static cc_status allocate_target(cc__transfer *transfer)
{
    const cc__layout *layout = &transfer->manager->layout;
    const cc_status status = transfer->place == CC_PLACE_HOST
                                 ? cc__host_memory_allocate(layout, transfer->allocator, &transfer->target)
                                 : cc__eviction_allocate(transfer->backend, transfer->place, transfer->lanes[0].stream,
                                                         layout, transfer->allocator, &transfer->target);
    return cc__fail_for(transfer->plan->asked_by, status);
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
