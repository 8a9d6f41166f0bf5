#include "data_manager/lending.h"

#include "base/error.h"
#include "data_manager/eviction.h"
#include "data_manager/lent.h"
#include "data_manager/lost.h"
#include "data_manager/textures.h"
#include "data_manager/transfer.h"
#include "memory/transfer_streams.h"

#include <stdio.h>
#include <string.h>

/* With more cells than this, the next access first makes the image whole at its place; see tidy(). */
int32_t cc__cells_before_tidying = 8192;
/* With more entries than this under way at a place, one fence takes their place. */
#define ENTRIES_BEFORE_JOINING 64

static const char *name_of(cc_access access)
{
    switch (access) {
    case CC_ACCESS_READ:
        return "read";
    case CC_ACCESS_WRITE:
    case CC_ACCESS_READ_WRITE:
        return "written";
    }
    return "used";
}

/* The label in quotes, if there is one. */
static const char *name_pixels(const cc__data_manager *manager, char buffer[CC_LABEL_BYTES + 2])
{
    if (manager->label[0] == '\0')
        return "the region";
    snprintf(buffer, CC_LABEL_BYTES + 2, "\"%s\"", manager->label);
    return buffer;
}

cc_status cc__data_manager_fail_busy(const cc__data_manager *manager, const char *function, const cc__mapping *holder)
{
    char label[CC_LABEL_BYTES + 2];
    char place[32] = "the host";
    if (holder->place != CC_PLACE_HOST)
        snprintf(place, sizeof place, "device %d", (int)holder->place);
    return cc__fail(CC_ERROR_BUSY, "%s: pixels of %s are being %s on %s%s%s; unmap them first", function,
                    name_pixels(manager, label), name_of(holder->access), place, holder->function != NULL ? " by " : "",
                    holder->function != NULL ? holder->function : "");
}

cc_status cc__data_manager_fail_undefined(const cc__data_manager *manager, const char *function)
{
    char label[CC_LABEL_BYTES + 2];
    return cc__fail(CC_ERROR_UNINITIALIZED,
                    "%s: %s has pixels that were never written, or lost when an operation failed", function,
                    name_pixels(manager, label));
}

/* Whoever uses pixels at another place, or copies any, counts on what is valid there: nobody may fill it again. */
static bool may_forget(const cc__data_manager *manager, cc_place place)
{
    for (int32_t i = 0; i < manager->mappings.count; ++i) {
        const cc__mapping *mapping = manager->mappings.entries[i];
        if (mapping->access != CC_ACCESS_READ || mapping->place != place)
            return false;
    }
    return manager->claim_count == 0 &&
           cc__lent_find_onlooker(manager->loans, &manager->mappings, &manager->whole, place) == NULL;
}

/*
 * Scattered writes cut the image into ever more cells. Before they are too many, the image is made whole at the place
 * that is asked for next, and what other places have of it is forgotten where they do not have all of it. That costs
 * one copy of what is stale there, and loses no pixel. When it cannot be done (somebody is at another place, memory is
 * short), a later access does it.
 */
static void tidy(cc__data_manager *manager, const char *function, cc_place place)
{
    cc__sources lent_places = 0;
    cc__error_state before;
    if (!may_forget(manager, place))
        return;
    cc__mapping *mapping = cc__mappings_add(&manager->mappings, NULL, place, CC_ACCESS_READ, &manager->whole);
    if (mapping == NULL)
        return;
    cc__error_save(&before);
    const cc_status status = cc__data_manager_bring(manager, function, &manager->whole, place, true,
                                                    CC__PLAN_STALE_OR_ZERO, place == CC_PLACE_HOST);
    for (const cc__lent *lent = manager->loans; lent != NULL; lent = lent->next)
        lent_places |= CC__SOURCE(lent->place);
    /* Others may have come in meanwhile. */
    if (status == CC_OK && may_forget(manager, place))
        cc__validity_drop(&manager->validity, ~(cc__validity_everywhere(&manager->validity) | lent_places));
    cc__error_restore(&before);
    cc__mappings_remove(&manager->mappings, mapping);
}

/* Waits for what is under way on the box: on the host here, on a device in the caller's stream. */
static cc_status wait_for_others(cc__data_manager *manager, const cc__access_request *request, cc__use use,
                                 const cc__waiter *waiter)
{
    const cc__timeline *timeline = &cc__data_manager_site(manager, request->place)->timeline;
    cc__fences fences = {0};
    cc_status status = cc__timeline_collect(timeline, &request->box, use, waiter, &fences);
    if (status == CC_OK && fences.count > 0) {
        cc__lock_let_go(&manager->lock);
        if (request->place == CC_PLACE_HOST)
            status = cc__fences_synchronize(&fences);
        else
            status = cc__fences_wait_in_stream(&fences, manager->backend, request->place, request->stream);
        cc__lock_take(&manager->lock);
        if (status == CC_OK && request->place == CC_PLACE_HOST)
            cc__fences_mark_complete(&fences);
    }
    cc__fences_destroy(&fences);
    return status;
}

/* Pixels that were on their way when their device was lost are brought from elsewhere. */
static cc_status bring_and_wait(cc__data_manager *manager, const cc__access_request *request, cc__use use,
                                const cc__waiter *waiter)
{
    const bool reads = request->access != CC_ACCESS_WRITE;
    const bool on_host = request->place == CC_PLACE_HOST;
    cc__sources lost = 0;
    cc_status status = CC_OK;
    cc__error_state before;
    cc__error_save(&before);
    do {
        cc__error_restore(&before);
        lost = cc__lost_devices(manager);
        status = cc__data_manager_bring(manager, request->function, &request->box, request->place, reads,
                                        CC__PLAN_STALE, on_host);
        if (status == CC_OK)
            status = wait_for_others(manager, request, use, waiter);
    } while (status == CC_ERROR_DEVICE && cc__lost_devices(manager) != lost);
    return status;
}

cc_status cc__data_manager_check_stream(cc__data_manager *manager, const char *function, int32_t device,
                                        cc_stream stream)
{
    bool capturing = false;
    const cc_status status = manager->backend->stream_is_capturing(manager->backend, device, stream, &capturing);
    if (status == CC_OK && capturing)
        return cc__fail(CC_ERROR_CAPTURE, "%s: stream = %p is being captured into a graph", function, (void *)stream);
    return cc__fail_for(function, status);
}

static cc__waiter waiter_of(const cc__data_manager *manager, const cc__access_request *request)
{
    cc__waiter waiter = {.device = request->place, .stream = request->stream};
    if (request->place != CC_PLACE_HOST && !cc__stream_is_legacy_default(request->stream))
        waiter.stream_id = manager->backend->stream_id(manager->backend, request->place, request->stream);
    return waiter;
}

/*
 * Whether a stream needs not be asked when nothing is queued in it: the legacy default stream cannot be captured
 * itself, and one that is being captured has no number. The per-thread default stream has one of the library's own.
 */
static bool is_known_open(cc_stream stream, uint64_t stream_id)
{
    return cc__stream_is_legacy_default(stream) || (stream != CC_STREAM_PER_THREAD && stream_id != 0);
}

static cc_status make_default_fence(cc__data_manager *manager, cc_place device)
{
    cc__site *site = &manager->devices[device];
    cc__fence *fence = NULL;
    const cc_status status = cc__fence_create_for_default_stream(manager->backend, device, &fence);
    if (status != CC_OK)
        return status;
    cc__fence_release(site->default_fence);
    site->default_fence = fence;
    return CC_OK;
}

/* One that is not recorded yet for the default stream of a device's site, kept so that most uses need no new one. */
static inline cc_status get_default_fence(cc__data_manager *manager, cc_place device, cc__fence **out_fence)
{
    const cc__site *site = &manager->devices[device];
    if (site->default_fence == NULL || site->default_fence->event != NULL) {
        const cc_status status = make_default_fence(manager, device);
        if (status != CC_OK)
            return status;
    }
    *out_fence = site->default_fence;
    return CC_OK;
}

/* An application's use of the default stream is marked late, by whoever must wait for it; see cc__fence. */
static bool is_marked_late(const cc__mapping *mapping, cc_stream stream)
{
    return mapping->owner != NULL && cc__stream_is_legacy_default(stream);
}

static cc_status get_fence(cc__data_manager *manager, cc__mapping *mapping)
{
    cc__site *site = cc__data_manager_site(manager, mapping->place);
    if (site->spare_fence == NULL)
        return cc__fence_create(manager->backend, mapping->place, &mapping->fence);
    mapping->fence = site->spare_fence;
    site->spare_fence = NULL;
    return CC_OK;
}

/* Room in the timeline, and a fence, so that giving the pixels back does not fail for want of them. */
static cc_status reserve_note(cc__data_manager *manager, cc__mapping *mapping, cc_stream stream)
{
    cc__timeline *timeline = &cc__data_manager_site(manager, mapping->place)->timeline;
    cc__fence *default_fence = NULL;
    cc_status status = cc__timeline_reserve(timeline);
    if (status != CC_OK)
        return status;
    if (is_marked_late(mapping, stream))
        status = get_default_fence(manager, mapping->place, &default_fence);
    else
        status = get_fence(manager, mapping);
    if (status != CC_OK)
        cc__timeline_unreserve(timeline);
    return status;
}

/* Whether the pixels are there, and nobody must be waited for. */
static bool is_ready(cc__data_manager *manager, const cc__access_request *request, cc__use use,
                     const cc__waiter *waiter)
{
    const cc__site *site = cc__data_manager_site(manager, request->place);
    return site->memory.pixels != NULL &&
           (request->access == CC_ACCESS_WRITE ||
            cc__validity_has(&manager->validity, &request->box, CC__SOURCE(request->place))) &&
           cc__timeline_is_quiet(&site->timeline, &request->box, use, waiter);
}

/* BUSY. Copies that a borrower has made old are not valid any more. */
static cc_status check_free(cc__data_manager *manager, const cc__access_request *request)
{
    const cc__mapping *holder = cc__mappings_find_conflict(&manager->mappings, &request->box, request->access);
    if (holder != NULL)
        return cc__data_manager_fail_busy(manager, request->function, holder);
    if (manager->loans == NULL)
        return CC_OK;
    return cc__loans_admit(manager, request->function, &request->box, request->place, request->access);
}

cc_status cc__lending_begin(cc__data_manager *manager, const cc__access_request *request, cc__mapping **out_mapping)
{
    const bool on_host = request->place == CC_PLACE_HOST;
    const cc__use use = request->access == CC_ACCESS_READ ? CC__USE_READ : CC__USE_WRITE;
    cc__mapping *mapping = NULL;
    cc_status status = CC_OK;

    if (request->access != CC_ACCESS_READ && manager->read_only)
        return cc__fail(CC_ERROR_READ_ONLY, "%s: the pixels were wrapped read-only", request->function);
    cc__eviction_wait(manager);
    status = check_free(manager, request);
    if (status == CC_OK && !on_host)
        status = cc__data_manager_use_devices(manager);
    if (status == CC_OK && !on_host)
        status = manager->backend->check_usable(manager->backend);
    if (status != CC_OK)
        return status;
    const cc__waiter waiter = waiter_of(manager, request);
    bool ready = is_ready(manager, request, use, &waiter);
    if (!on_host && !(ready && is_known_open(request->stream, waiter.stream_id)))
        status = cc__data_manager_check_stream(manager, request->function, request->place, request->stream);
    if (status != CC_OK)
        return status;
    if (!ready && !on_host) {
        cc__timeline_ask(&cc__data_manager_site(manager, request->place)->timeline, &request->box, use, &waiter);
        ready = is_ready(manager, request, use, &waiter);
    }
    if (manager->validity.cells.count > cc__cells_before_tidying) {
        tidy(manager, request->function, request->place);
        /* That may have let another thread in. */
        ready = false;
        cc__eviction_wait(manager);
        status = check_free(manager, request);
        if (status != CC_OK)
            return status;
    }

    mapping = cc__mappings_add(&manager->mappings, request->owner, request->place, request->access, &request->box);
    if (mapping == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for a mapping", request->function);
    mapping->stream = request->stream;
    mapping->function = request->function;
    mapping->stream_id = waiter.stream_id;
    if (!on_host) {
        status = reserve_note(manager, mapping, request->stream);
        if (status != CC_OK) {
            cc__mappings_remove(&manager->mappings, mapping);
            return status;
        }
    }
    if (ready) {
        cc__lending_count_ready(manager, &request->box);
    } else {
        if (on_host && request->access != CC_ACCESS_WRITE)
            status = cc__loans_wait_for_devices(manager, mapping);
        if (status == CC_OK)
            status = bring_and_wait(manager, request, use, &waiter);
    }
    if (status == CC_OK && !on_host)
        cc__resident_use(&manager->devices[request->place].resident);
    if (status == CC_OK)
        *out_mapping = mapping;
    else
        cc__lending_cancel(manager, mapping);
    return status;
}

void cc__lending_cancel(cc__data_manager *manager, cc__mapping *mapping)
{
    if (mapping->place != CC_PLACE_HOST)
        cc__timeline_unreserve(&cc__data_manager_site(manager, mapping->place)->timeline);
    cc__data_manager_drop_fence(manager, mapping);
    cc__mappings_remove(&manager->mappings, mapping);
}

/* Puts one fence in the place of many, when there are, so that a place used by many streams without a pause does not
 * slow down. */
static void join_timeline(cc__data_manager *manager, cc_place device)
{
    cc__timeline *timeline = &cc__data_manager_site(manager, device)->timeline;
    cc__backend *backend = manager->backend;
    cc__fences fences = {0};
    cc__fence *fence = NULL;
    cc_stream stream = NULL;
    cc__error_state before;
    const cc__waiter waiter = cc__waiter_of_library(device);
    cc__error_save(&before);
    cc_status status = cc__timeline_reserve(timeline);
    const bool reserved = status == CC_OK;
    if (reserved)
        status = cc__timeline_collect(timeline, &manager->whole, CC__USE_WRITE, &waiter, &fences);
    if (status == CC_OK)
        status = cc__fence_create(backend, device, &fence);
    if (status == CC_OK)
        status = cc__transfer_stream_get(backend, device, &stream);
    if (status == CC_OK)
        status = cc__fences_wait_in_stream(&fences, backend, device, stream);
    if (status == CC_OK)
        status = cc__fence_record(fence, stream, 0);
    if (status == CC_OK)
        cc__timeline_add(timeline, &manager->whole, CC__USE_WRITE, fence);
    else if (reserved)
        cc__timeline_unreserve(timeline);
    cc__error_restore(&before);
    cc__fence_release(fence);
    cc__fences_destroy(&fences);
}

static cc__use use_of(const cc__mapping *mapping)
{
    return mapping->access == CC_ACCESS_READ ? CC__USE_READ : CC__USE_WRITE;
}

static cc_status record(cc__data_manager *manager, cc__mapping *mapping, cc_stream stream)
{
    cc__backend *backend = manager->backend;
    cc__error_state before;
    uint64_t stream_id = mapping->stream_id;
    cc_status status = CC_OK;
    if (mapping->fence == NULL)
        status = get_fence(manager, mapping);
    if (status != CC_OK)
        return status;
    if (stream != mapping->stream)
        stream_id = cc__stream_is_legacy_default(stream) ? 0 : backend->stream_id(backend, mapping->place, stream);
    cc__error_save(&before);
    status = cc__fence_record(mapping->fence, stream, stream_id);
    if (status != CC_OK && status != CC_ERROR_CAPTURE) {
        /* Without an event the work can still be waited for. */
        status = backend->stream_synchronize(backend, mapping->place, stream);
        mapping->fence->is_complete = status == CC_OK;
        if (status == CC_OK)
            cc__error_restore(&before);
    }
    return status;
}

cc_status cc__lending_note_use(cc__data_manager *manager, cc__mapping *mapping, cc_stream stream)
{
    cc__site *site = cc__data_manager_site(manager, mapping->place);
    cc__fence *fence = NULL;
    cc_status status = CC_OK;
    if (is_marked_late(mapping, stream)) {
        status = get_default_fence(manager, mapping->place, &fence);
        if (status == CC_OK)
            cc__timeline_add(&site->timeline, cc__mapping_reach(mapping), use_of(mapping), fence);
    } else {
        status = record(manager, mapping, stream);
        if (status != CC_OK)
            return status;
        /* An operation's mapping shares its fence with those of other images when it ends. */
        if (mapping->owner == NULL)
            cc__fence_retain(mapping->fence);
        cc__timeline_take(&site->timeline, cc__mapping_reach(mapping), use_of(mapping), mapping->fence,
                          &site->spare_fence);
        if (mapping->owner != NULL)
            mapping->fence = NULL;
    }
    if (status == CC_OK && site->timeline.count >= ENTRIES_BEFORE_JOINING)
        join_timeline(manager, mapping->place);
    return status;
}

void cc__lending_end(cc__data_manager *manager, cc__mapping *mapping)
{
    if (mapping->access != CC_ACCESS_READ) {
        ++manager->generation;
        cc__textures_age(manager, &mapping->box);
    }
    for (int32_t i = manager->mappings.count - 1; i >= 0 && manager->mappings.count > 1; --i) {
        cc__mapping *other = manager->mappings.entries[i];
        if (other != mapping && other->count == 0 && other->owner == mapping->owner && other->place == mapping->place &&
            memcmp(other->box.start, mapping->box.start, sizeof other->box.start) == 0)
            cc__mappings_remove(&manager->mappings, other);
    }
    cc__data_manager_drop_fence(manager, mapping);
    cc__mappings_remove(&manager->mappings, mapping);
}

cc_status cc__lending_prepare_write(cc__data_manager *manager, const cc__mapping *mapping, bool *out_changes)
{
    const cc__sources written = CC__SOURCE(mapping->place);
    *out_changes = cc__validity_would_change(&manager->validity, &mapping->box, 0, written);
    return *out_changes ? cc__validity_prepare(&manager->validity, &mapping->box, 0, written) : CC_OK;
}
