/* What others owe to borrowers, and what borrowers leave to others: order, fresh copies, pixels brought back. */
#include "base/error.h"
#include "data_manager/lending.h"
#include "data_manager/lent.h"
#include "data_manager/transfer.h"

cc_status cc__loans_fail_busy(const char *function, const cc__lent *lent)
{
    if (lent->place == CC_PLACE_HOST)
        return cc__fail(CC_ERROR_BUSY, "%s: pixels are lent on the host; end the loan first", function);
    return cc__fail(CC_ERROR_BUSY, "%s: pixels are lent on device %d; end the loan first", function, lent->place);
}

static cc_status fail_onlooker(const char *function, const cc__mapping *onlooker)
{
    if (onlooker->place == CC_PLACE_HOST)
        return cc__fail(CC_ERROR_BUSY,
                        "%s: pixels that a borrower may have written since are mapped on the host; unmap them first",
                        function);
    return cc__fail(CC_ERROR_BUSY,
                    "%s: pixels that a borrower may have written since are mapped on device %d; unmap them first",
                    function, onlooker->place);
}

cc_status cc__loans_admit(cc__data_manager *manager, const char *function, const cc__box *box, cc_place place,
                          cc_access access)
{
    cc__loans_forget_ended(manager, NULL);
    if (access != CC_ACCESS_READ) {
        const cc__lent *unreachable = cc__lent_find_unreachable(manager->loans, box, place);
        if (unreachable != NULL)
            return cc__fail(CC_ERROR_BUSY,
                            "%s: pixels are lent on the host, where the borrower would not see them change; end the "
                            "loan first",
                            function);
    }
    if (access == CC_ACCESS_WRITE)
        return CC_OK;
    const cc__mapping *onlooker = cc__lent_find_onlooker(manager->loans, &manager->mappings, box, place);
    if (onlooker != NULL)
        return fail_onlooker(function, onlooker);
    return cc__lent_age(&manager->validity, manager->loans, box);
}

/* Waits on the host where the stream cannot be made to. */
static cc_status follow(cc__data_manager *manager, const cc__lent *lent, const cc__box *box)
{
    const cc__timeline *timeline = &cc__data_manager_site(manager, lent->place)->timeline;
    const cc__waiter waiter = {
        .device = lent->place, .stream = lent->stream, .stream_id = lent->stream_id, .skips_standing = true};
    cc__backend *backend = manager->backend;
    cc__fences fences = {0};
    cc__error_state before;
    bool capturing = false;
    cc_status status =
        cc__timeline_collect(timeline, box, lent->writes ? CC__USE_WRITE : CC__USE_READ, &waiter, &fences);
    if (status == CC_OK && fences.count > 0) {
        cc__error_save(&before);
        status = backend->stream_is_capturing(backend, lent->place, lent->stream, &capturing);
        if (status == CC_OK && !capturing)
            status = cc__fences_wait_in_stream(&fences, backend, lent->place, lent->stream);
        if (status != CC_OK || capturing) {
            status = cc__fences_synchronize(&fences);
            if (status == CC_OK) {
                cc__fences_mark_complete(&fences);
                cc__error_restore(&before);
            }
        }
    }
    cc__fences_destroy(&fences);
    return status;
}

cc_status cc__loans_follow(cc__data_manager *manager, const cc__box *box)
{
    for (const cc__lent *lent = manager->loans; lent != NULL; lent = lent->next) {
        cc__box shared;
        if (lent->has_ended || lent->fence == NULL || !cc__box_intersect(&lent->box, box, &shared))
            continue;
        const cc_status status = follow(manager, lent, &shared);
        if (status != CC_OK)
            return status;
    }
    return CC_OK;
}

/* Pixels of the box that a borrower elsewhere does not have as they are now. */
static const cc__lent *find_behind(const cc__data_manager *manager, const cc__mapping *mapping, cc__box *out_box)
{
    for (const cc__lent *lent = manager->loans; lent != NULL; lent = lent->next)
        if (!lent->has_ended && lent->place != mapping->place && lent->place != CC_PLACE_HOST &&
            cc__box_intersect(&lent->box, &mapping->box, out_box) &&
            !cc__validity_has(&manager->validity, out_box, CC__SOURCE(lent->place)))
            return lent;
    return NULL;
}

cc_status cc__loans_bring_back(cc__data_manager *manager, const char *function, const cc__mapping *mapping)
{
    const cc__lent *lent = NULL;
    cc__box box;
    if (mapping->access == CC_ACCESS_READ)
        return CC_OK;
    while ((lent = find_behind(manager, mapping, &box)) != NULL) {
        const cc_status status =
            cc__data_manager_bring(manager, function, &box, lent->place, true, CC__PLAN_STALE, false);
        if (status != CC_OK)
            return status;
    }
    return CC_OK;
}

cc_status cc__loans_end_use(cc__data_manager *manager, const char *function, cc__mapping *mapping, cc_stream stream)
{
    cc__timeline *timeline = NULL;
    cc_status status = CC_OK;
    if (mapping->place != CC_PLACE_HOST) {
        /* Room for noting it once more, if what follows fails. */
        timeline = &cc__data_manager_site(manager, mapping->place)->timeline;
        status = cc__timeline_reserve(timeline);
        if (status != CC_OK)
            return status;
        status = cc__lending_note_use(manager, mapping, stream);
        if (status != CC_OK) {
            cc__timeline_unreserve(timeline);
            return status;
        }
    }
    /* Others, who may come in meanwhile, do not find it. */
    const void *pixels = mapping->pixels;
    mapping->pixels = NULL;
    status = cc__loans_bring_back(manager, function, mapping);
    mapping->pixels = pixels;
    if (status == CC_OK)
        status = cc__loans_follow(manager, cc__mapping_reach(mapping));
    if (timeline != NULL && status == CC_OK) {
        cc__timeline_unreserve(timeline);
    } else if (timeline != NULL) {
        cc__fence_release(mapping->fence);
        mapping->fence = NULL;
    }
    return status;
}

static bool is_owed(const cc__timeline_entry *entry)
{
    return entry->fence->is_device_wide && !entry->fence->is_standing && !entry->fence->is_complete;
}

bool cc__loans_owe(const cc__data_manager *manager, cc_place device)
{
    if (device == CC_PLACE_HOST || manager->devices == NULL || !manager->devices[device].owes_synchronize)
        return false;
    const cc__timeline *timeline = &manager->devices[device].timeline;
    for (int32_t i = 0; i < timeline->count; ++i)
        if (is_owed(&timeline->entries[i]))
            return true;
    return false;
}

/* What ended loans have left behind before is done after it. */
static cc_status synchronize(cc__data_manager *manager, cc_place device)
{
    cc__site *site = &manager->devices[device];
    cc__backend *backend = manager->backend;
    cc__fence *owed = NULL;
    for (int32_t i = 0; owed == NULL && i < site->timeline.count; ++i)
        if (is_owed(&site->timeline.entries[i]))
            owed = cc__fence_retain(site->timeline.entries[i].fence);
    cc__lock_let_go(&manager->lock);
    const cc_status status = backend->synchronize(backend, device);
    cc__lock_take(&manager->lock);
    if (status == CC_OK && owed != NULL)
        owed->is_complete = true;
    cc__fence_release(owed);
    if (status == CC_OK)
        site->owes_synchronize = cc__timeline_has_device_wide(&site->timeline);
    return status;
}

cc_status cc__loans_pay(cc__data_manager *manager, cc_place device)
{
    const cc_status status = synchronize(manager, device);
    if (status == CC_OK)
        cc__loans_forget_ended(manager, NULL);
    return status;
}

static bool may_be_written(const cc__site *site, const cc__box *box)
{
    for (int32_t i = 0; site->owes_synchronize && i < site->timeline.count; ++i) {
        const cc__timeline_entry *entry = &site->timeline.entries[i];
        if (entry->fence->is_device_wide && !entry->fence->is_complete && entry->use != CC__USE_READ &&
            cc__box_overlaps(&entry->box, box))
            return true;
    }
    return false;
}

cc_status cc__loans_wait_for_devices(cc__data_manager *manager, const cc__mapping *mapping)
{
    if (manager->devices == NULL || cc__validity_has(&manager->validity, &mapping->box, CC__SOURCE(CC_PLACE_HOST)))
        return CC_OK;
    for (int32_t device = 0; device < manager->backend->device_count; ++device) {
        if (!may_be_written(&manager->devices[device], &mapping->box))
            continue;
        const cc_status status = synchronize(manager, device);
        if (status != CC_OK)
            return status;
    }
    cc__loans_forget_ended(manager, mapping);
    return CC_OK;
}
