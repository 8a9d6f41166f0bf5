#include "data_manager/transfer.h"

#include "data_manager/eviction.h"

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
    cc__transfer_discard(transfer);
    return status;
}
