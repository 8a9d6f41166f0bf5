/* Lending pixels: plan, execute, commit; and giving them back. */
#include "base/error.h"
#include "data_manager/internal.h"
#include "data_manager/transfer.h"
#include "memory/transfer_streams.h"

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

cc_status cc__data_manager_fail_busy(const char *function, const cc__mapping *holder)
{
    if (holder->place == CC_PLACE_HOST)
        return cc__fail(CC_ERROR_BUSY, "%s: pixels of the region are being %s on the host; unmap them first", function,
                        name_of(holder->access));
    return cc__fail(CC_ERROR_BUSY, "%s: pixels of the region are being %s on device %d; unmap them first", function,
                    name_of(holder->access), holder->place);
}

/*
 * Scattered writes cut the image into ever more cells. Before they are too many, the image is made whole at the place
 * that is asked for next, and what other places have of it is forgotten where they do not have all of it. That costs
 * one copy of what is stale there, and loses no pixel. When it cannot be done (somebody writes, memory is short), a
 * later access does it.
 */
static void tidy(cc__data_manager *manager, const char *function, cc_place place)
{
    cc__sources everywhere = ~(cc__sources)0;
    cc__validity next = {0};
    cc__error_state before;
    if (manager->validity.count <= cc__cells_before_tidying || cc__mappings_have_writer(&manager->mappings))
        return;
    cc__mapping *mapping = cc__mappings_add(&manager->mappings, NULL, place, CC_ACCESS_READ, &manager->whole);
    if (mapping == NULL)
        return;
    cc__error_save(&before);
    cc_status status = cc__data_manager_bring(manager, function, &manager->whole, place, true, CC__PLAN_STALE_OR_ZERO,
                                              place == CC_PLACE_HOST);
    for (int32_t i = 0; i < manager->validity.count; ++i)
        everywhere &= manager->validity.cells[i].sources;
    if (status == CC_OK)
        status = cc__validity_prepare(&manager->validity, &manager->whole, everywhere, 0, &next);
    if (status == CC_OK)
        cc__validity_install(&manager->validity, &next);
    cc__error_restore(&before);
    cc__mappings_remove(&manager->mappings, mapping);
}

/* Waits for what is under way on the box: on the host here, on a device in the caller's stream. */
static cc_status wait_for_others(cc__data_manager *manager, const cc__access_request *request)
{
    const cc__timeline *timeline = &cc__data_manager_site(manager, request->place)->timeline;
    const cc__use use = request->access == CC_ACCESS_READ ? CC__USE_READ : CC__USE_WRITE;
    cc__fences fences = {0};
    cc_status status = cc__timeline_collect(timeline, &request->box, use, &fences);
    if (status == CC_OK && fences.count > 0) {
        pthread_mutex_unlock(&manager->lock);
        if (request->place == CC_PLACE_HOST)
            status = cc__fences_synchronize(&fences);
        else
            status = cc__fences_wait_in_stream(&fences, manager->backend, request->place, request->stream);
        pthread_mutex_lock(&manager->lock);
        if (status == CC_OK && request->place == CC_PLACE_HOST)
            cc__fences_mark_complete(&fences);
    }
    cc__fences_destroy(&fences);
    return status;
}

static cc_status check_stream(cc__data_manager *manager, const cc__access_request *request)
{
    bool capturing = false;
    cc__backend *backend = manager->backend;
    const cc_status status = backend->stream_is_capturing(backend, request->place, request->stream, &capturing);
    if (status == CC_OK && capturing)
        return cc__fail(CC_ERROR_CAPTURE, "%s: stream = %p is being captured into a graph", request->function,
                        (void *)request->stream);
    return status;
}

/* With the lock held. The mapping is there on success, and excludes others from the first moment on. */
static cc_status begin_locked(cc__data_manager *manager, const cc__access_request *request, cc__mapping **out_mapping)
{
    const bool on_host = request->place == CC_PLACE_HOST;
    cc__mapping *mapping = NULL;
    cc_status status = CC_OK;

    if (request->access != CC_ACCESS_READ && manager->read_only)
        return cc__fail(CC_ERROR_READ_ONLY, "%s: the pixels were wrapped read-only", request->function);
    const cc__mapping *holder = cc__mappings_find_conflict(&manager->mappings, &request->box, request->access);
    if (holder != NULL)
        return cc__data_manager_fail_busy(request->function, holder);
    if (!on_host)
        status = cc__data_manager_use_devices(manager);
    if (status == CC_OK && !on_host)
        status = check_stream(manager, request);
    if (status != CC_OK)
        return status;
    tidy(manager, request->function, request->place);
    /* tidy() may have let another thread in. */
    holder = cc__mappings_find_conflict(&manager->mappings, &request->box, request->access);
    if (holder != NULL)
        return cc__data_manager_fail_busy(request->function, holder);

    mapping = cc__mappings_add(&manager->mappings, request->owner, request->place, request->access, &request->box);
    if (mapping == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for a mapping", request->function);
    if (!on_host) {
        status = cc__timeline_reserve(&cc__data_manager_site(manager, request->place)->timeline);
        if (status != CC_OK)
            goto remove_mapping;
        status = cc__fence_create(manager->backend, request->place, &mapping->fence);
        if (status != CC_OK)
            goto unreserve;
    }
    status = cc__data_manager_bring(manager, request->function, &request->box, request->place,
                                    request->access != CC_ACCESS_WRITE, CC__PLAN_STALE, on_host);
    if (status == CC_OK)
        status = wait_for_others(manager, request);
    if (status != CC_OK)
        goto release_fence;
    *out_mapping = mapping;
    return CC_OK;

release_fence:
    cc__fence_release(mapping->fence);
unreserve:
    if (!on_host)
        cc__timeline_unreserve(&cc__data_manager_site(manager, request->place)->timeline);
remove_mapping:
    cc__mappings_remove(&manager->mappings, mapping);
    return status;
}

/* Records what was done on a device, for others to wait for. */
static cc_status record_use(cc__data_manager *manager, cc__mapping *mapping, cc_stream stream)
{
    cc__backend *backend = manager->backend;
    cc__timeline *timeline = &cc__data_manager_site(manager, mapping->place)->timeline;
    cc__error_state before;
    cc__error_save(&before);
    cc_status status = cc__fence_record(mapping->fence, stream);
    if (status != CC_OK && status != CC_ERROR_CAPTURE) {
        /* Without an event the work can still be waited for. */
        status = backend->stream_synchronize(backend, mapping->place, stream);
        mapping->fence->is_complete = status == CC_OK;
        if (status == CC_OK)
            cc__error_restore(&before);
    }
    if (status == CC_OK)
        cc__timeline_add(timeline, &mapping->box, mapping->access == CC_ACCESS_READ ? CC__USE_READ : CC__USE_WRITE,
                         mapping->fence);
    return status;
}

/* Puts one fence in the place of many, so that a place used by many streams without a pause does not slow down. */
static void join_timeline(cc__data_manager *manager, cc_place device)
{
    cc__timeline *timeline = &cc__data_manager_site(manager, device)->timeline;
    cc__backend *backend = manager->backend;
    cc__fences fences = {0};
    cc__fence *fence = NULL;
    cc_stream stream = NULL;
    cc__error_state before;
    if (timeline->count < ENTRIES_BEFORE_JOINING)
        return;
    cc__error_save(&before);
    cc_status status = cc__timeline_reserve(timeline);
    const bool reserved = status == CC_OK;
    if (reserved)
        status = cc__timeline_collect(timeline, &manager->whole, CC__USE_WRITE, &fences);
    if (status == CC_OK)
        status = cc__fence_create(backend, device, &fence);
    if (status == CC_OK)
        status = cc__transfer_stream_get(backend, device, &stream);
    if (status == CC_OK)
        status = cc__fences_wait_in_stream(&fences, backend, device, stream);
    if (status == CC_OK)
        status = cc__fence_record(fence, stream);
    if (status == CC_OK)
        cc__timeline_add(timeline, &manager->whole, CC__USE_WRITE, fence);
    else if (reserved)
        cc__timeline_unreserve(timeline);
    cc__error_restore(&before);
    cc__fence_release(fence);
    cc__fences_destroy(&fences);
}

static void remove_mapping(cc__data_manager *manager, cc__mapping *mapping)
{
    if (mapping->access != CC_ACCESS_READ)
        ++manager->generation;
    cc__fence_release(mapping->fence);
    cc__mappings_remove(&manager->mappings, mapping);
}

static cc_status prepare_write(cc__data_manager *manager, const cc__mapping *mapping, cc__validity *out_next)
{
    return cc__validity_prepare(&manager->validity, &mapping->box, 0, CC__SOURCE(mapping->place), out_next);
}

cc_status cc__data_manager_begin(cc__data_manager *manager, const cc__access_request *request,
                                 cc__mapping **out_mapping)
{
    pthread_mutex_lock(&manager->lock);
    const cc_status status = begin_locked(manager, request, out_mapping);
    pthread_mutex_unlock(&manager->lock);
    return status;
}

cc__span cc__data_manager_span(cc__data_manager *manager, const cc__mapping *mapping)
{
    pthread_mutex_lock(&manager->lock);
    const cc__span span = cc__place_memory_span(&cc__data_manager_site(manager, mapping->place)->memory, &mapping->box);
    pthread_mutex_unlock(&manager->lock);
    return span;
}

cc_status cc__data_manager_commit(cc__data_manager *manager, cc__mapping *mapping, cc__work_fn work, void *context)
{
    cc__validity next = {0};
    pthread_mutex_lock(&manager->lock);
    cc_status status = prepare_write(manager, mapping, &next);
    if (status == CC_OK && mapping->place != CC_PLACE_HOST)
        status = work(context);
    if (status == CC_OK)
        cc__validity_install(&manager->validity, &next);
    cc__validity_destroy(&next);
    pthread_mutex_unlock(&manager->lock);
    if (status == CC_OK && mapping->place == CC_PLACE_HOST)
        status = work(context);
    return status;
}

cc_status cc__data_manager_end(cc__data_manager *manager, cc__mapping *mapping, cc_stream stream)
{
    cc_status status = CC_OK;
    pthread_mutex_lock(&manager->lock);
    if (mapping->place != CC_PLACE_HOST) {
        status = record_use(manager, mapping, stream);
        if (status != CC_OK)
            cc__timeline_unreserve(&cc__data_manager_site(manager, mapping->place)->timeline);
        else
            join_timeline(manager, mapping->place);
    }
    remove_mapping(manager, mapping);
    pthread_mutex_unlock(&manager->lock);
    return status;
}

/* A further reader of an owner that starts where another one does joins its mapping; see cc_image_unmap_host(). */
static cc_status share_reading(cc__data_manager *manager, cc__mapping *mapping, cc__mapping **out_mapping)
{
    for (int32_t i = 0; i < manager->mappings.count; ++i) {
        cc__mapping *other = manager->mappings.entries[i];
        if (other == mapping || other->owner != mapping->owner || other->place != mapping->place ||
            other->pixels == NULL || other->access != CC_ACCESS_READ || mapping->access != CC_ACCESS_READ ||
            memcmp(other->box.start, mapping->box.start, sizeof other->box.start) != 0)
            continue;
        other->box = cc__box_bounding(&other->box, &mapping->box);
        ++other->count;
        cc__fence_release(mapping->fence);
        cc__mappings_remove(&manager->mappings, mapping);
        *out_mapping = other;
        return CC_OK;
    }
    *out_mapping = mapping;
    return CC_OK;
}

cc_status cc__data_manager_map(cc__data_manager *manager, const cc__access_request *request, void **out_pixels)
{
    cc__mapping *mapping = NULL;
    cc__validity next = {0};
    pthread_mutex_lock(&manager->lock);
    cc_status status = begin_locked(manager, request, &mapping);
    if (status != CC_OK)
        goto unlock;
    if (request->access == CC_ACCESS_READ) {
        status = share_reading(manager, mapping, &mapping);
    } else {
        status = prepare_write(manager, mapping, &next);
        if (status == CC_OK)
            cc__validity_install(&manager->validity, &next);
    }
    if (status == CC_OK) {
        mapping->pixels =
            cc__place_memory_span(&cc__data_manager_site(manager, mapping->place)->memory, &mapping->box).data;
        *out_pixels = (void *)mapping->pixels;
    } else {
        if (request->place != CC_PLACE_HOST)
            cc__timeline_unreserve(&cc__data_manager_site(manager, request->place)->timeline);
        cc__fence_release(mapping->fence);
        cc__mappings_remove(&manager->mappings, mapping);
    }
unlock:
    pthread_mutex_unlock(&manager->lock);
    return status;
}

/* One of several readers that share a mapping gives its part back: its work is noted, the pixels stay lent. */
static cc_status unmap_shared(cc__data_manager *manager, cc__mapping *mapping, cc_stream stream)
{
    cc_status status = CC_OK;
    if (mapping->place != CC_PLACE_HOST) {
        cc__fence *fence = mapping->fence;
        status = cc__fence_create(manager->backend, mapping->place, &mapping->fence);
        if (status == CC_OK)
            status = record_use(manager, mapping, stream);
        if (mapping->fence != fence)
            cc__fence_release(mapping->fence);
        mapping->fence = fence;
    }
    if (status == CC_OK)
        --mapping->count;
    return status;
}

cc_status cc__data_manager_unmap(cc__data_manager *manager, const char *function, const void *owner, bool on_host,
                                 void *pixels, cc_stream stream)
{
    cc_status status = CC_OK;
    pthread_mutex_lock(&manager->lock);
    cc__mapping *mapping = cc__mappings_find(&manager->mappings, owner, on_host, pixels);
    if (mapping == NULL) {
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: pixels = %p is not mapped by this image on %s", function,
                          pixels, on_host ? "the host" : "a device");
    } else if (mapping->count > 1) {
        status = unmap_shared(manager, mapping, stream);
    } else {
        if (!on_host)
            status = record_use(manager, mapping, stream);
        if (status == CC_OK && !on_host)
            join_timeline(manager, mapping->place);
        if (status == CC_OK)
            remove_mapping(manager, mapping);
    }
    pthread_mutex_unlock(&manager->lock);
    return status;
}
