#include "data_manager/timeline.h"

#include "base/allocate.h"
#include "base/error.h"

#include <string.h>

/* More entries than this are worth asking the device which of them are done. */
#define ENTRIES_BEFORE_QUERY 16

cc_status cc__fence_create(cc__backend *backend, int32_t device, cc__fence **out_fence)
{
    cc__fence *fence = cc__allocate(sizeof *fence);
    if (fence == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__fence_create: no memory for a fence");
    const cc_status status = backend->event_create(backend, device, &fence->event);
    if (status != CC_OK) {
        cc__free(fence);
        return status;
    }
    fence->backend = backend;
    fence->device = device;
    atomic_init(&fence->references, 1);
    *out_fence = fence;
    return CC_OK;
}

cc__fence *cc__fence_retain(cc__fence *fence)
{
    atomic_fetch_add(&fence->references, 1);
    return fence;
}

void cc__fence_release(cc__fence *fence)
{
    if (fence == NULL || atomic_fetch_sub(&fence->references, 1) > 1)
        return;
    fence->backend->event_destroy(fence->backend, fence->device, fence->event);
    cc__free(fence);
}

cc_status cc__fence_record(cc__fence *fence, cc_stream stream)
{
    fence->stream = stream;
    return fence->backend->event_record(fence->backend, fence->device, fence->event, stream);
}

void cc__timeline_destroy(cc__timeline *timeline)
{
    for (int32_t i = 0; i < timeline->count; ++i)
        cc__fence_release(timeline->entries[i].fence);
    cc__free(timeline->entries);
    memset(timeline, 0, sizeof *timeline);
}

cc_status cc__timeline_reserve(cc__timeline *timeline)
{
    const int32_t needed = timeline->count + timeline->reserved + 1;
    if (needed > timeline->capacity) {
        const int32_t capacity = needed < 4 ? 4 : needed * 2;
        cc__timeline_entry *entries = cc__reallocate(timeline->entries, (size_t)capacity * sizeof *entries);
        if (entries == NULL)
            return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__timeline_reserve: no memory for %d entries", capacity);
        timeline->entries = entries;
        timeline->capacity = capacity;
    }
    ++timeline->reserved;
    return CC_OK;
}

void cc__timeline_unreserve(cc__timeline *timeline)
{
    --timeline->reserved;
}

static void remove_entry(cc__timeline *timeline, int32_t at)
{
    cc__fence_release(timeline->entries[at].fence);
    --timeline->count;
    timeline->entries[at] = timeline->entries[timeline->count];
}

static bool is_done(cc__fence *fence, bool ask)
{
    if (!fence->is_complete && ask) {
        bool complete = false;
        cc__error_state before;
        /* An error here is found again, and reported, by whoever waits for the fence. */
        cc__error_save(&before);
        if (fence->backend->event_is_complete(fence->backend, fence->device, fence->event, &complete) == CC_OK)
            fence->is_complete = complete;
        cc__error_restore(&before);
    }
    return fence->is_complete;
}

void cc__timeline_add(cc__timeline *timeline, const cc__box *box, cc__use use, cc__fence *fence)
{
    const bool ask = timeline->count >= ENTRIES_BEFORE_QUERY;
    for (int32_t i = timeline->count - 1; i >= 0; --i) {
        cc__timeline_entry *entry = &timeline->entries[i];
        if ((use == CC__USE_WRITE && cc__box_contains(box, &entry->box)) || is_done(entry->fence, ask))
            remove_entry(timeline, i);
    }
    timeline->entries[timeline->count].box = *box;
    timeline->entries[timeline->count].use = use;
    timeline->entries[timeline->count].fence = cc__fence_retain(fence);
    ++timeline->count;
    --timeline->reserved;
}

cc_status cc__timeline_collect(const cc__timeline *timeline, const cc__box *box, cc__use use, cc__fences *fences)
{
    for (int32_t i = 0; i < timeline->count; ++i) {
        const cc__timeline_entry *entry = &timeline->entries[i];
        if (entry->fence->is_complete || (use == CC__USE_READ && entry->use == CC__USE_READ) ||
            !cc__box_overlaps(&entry->box, box))
            continue;
        bool known = false;
        for (int32_t other = 0; other < fences->count && !known; ++other)
            known = fences->entries[other] == entry->fence;
        if (known)
            continue;
        if (fences->count == fences->capacity) {
            const int32_t capacity = fences->capacity == 0 ? 4 : fences->capacity * 2;
            cc__fence **entries = cc__reallocate(fences->entries, (size_t)capacity * sizeof *entries);
            if (entries == NULL)
                return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__timeline_collect: no memory for %d fences", capacity);
            fences->entries = entries;
            fences->capacity = capacity;
        }
        fences->entries[fences->count] = cc__fence_retain(entry->fence);
        ++fences->count;
    }
    return CC_OK;
}

void cc__fences_destroy(cc__fences *fences)
{
    for (int32_t i = 0; i < fences->count; ++i)
        cc__fence_release(fences->entries[i]);
    cc__free(fences->entries);
    memset(fences, 0, sizeof *fences);
}

/* 0 and 1 both name the legacy default stream, which nobody can destroy and make again under the same name. */
static bool is_legacy_default(cc_stream stream)
{
    return (uintptr_t)stream <= 1;
}

cc_status cc__fences_wait_in_stream(const cc__fences *fences, cc__backend *backend, int32_t device, cc_stream stream)
{
    for (int32_t i = 0; i < fences->count; ++i) {
        const cc__fence *fence = fences->entries[i];
        if (fence->device == device && is_legacy_default(stream) && is_legacy_default(fence->stream))
            continue;
        const cc_status status = backend->stream_wait(backend, device, stream, fence->event);
        if (status != CC_OK)
            return status;
    }
    return CC_OK;
}

cc_status cc__fences_synchronize(const cc__fences *fences)
{
    for (int32_t i = 0; i < fences->count; ++i) {
        const cc__fence *fence = fences->entries[i];
        const cc_status status = fence->backend->event_synchronize(fence->backend, fence->device, fence->event);
        if (status != CC_OK)
            return status;
    }
    return CC_OK;
}

void cc__fences_mark_complete(const cc__fences *fences)
{
    for (int32_t i = 0; i < fences->count; ++i)
        fences->entries[i]->is_complete = true;
}
