#include "data_manager/timeline.h"

#include "base/allocate.h"
#include "base/error.h"

#include <string.h>

/* More entries than this are worth asking the device which of them are done. */
#define ENTRIES_BEFORE_QUERY 16
#define QUESTIONS_BEFORE_WAITING 2

void cc__timeline_destroy(cc__timeline *timeline)
{
    for (int32_t i = 0; i < timeline->count; ++i)
        cc__fence_release(timeline->entries[i].fence);
    cc__free(timeline->entries);
    memset(timeline, 0, sizeof *timeline);
}

cc_status cc__timeline_grow(cc__timeline *timeline)
{
    const int32_t needed = timeline->count + timeline->reserved + 1;
    const int32_t capacity = needed < 4 ? 4 : needed * 2;
    cc__timeline_entry *entries = cc__reallocate(timeline->entries, (size_t)capacity * sizeof *entries);
    if (entries == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__timeline_reserve: no memory for %d entries", capacity);
    timeline->entries = entries;
    timeline->capacity = capacity;
    return CC_OK;
}

static void remove_entry(cc__timeline *timeline, int32_t at)
{
    --timeline->count;
    timeline->entries[at] = timeline->entries[timeline->count];
}

static bool is_done(cc__fence *fence, bool ask)
{
    if (!fence->is_complete && ask && fence->event != NULL && !fence->is_standing && !fence->is_device_wide) {
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

/* Whether what `later` marks comes after what `earlier` marks, in one stream. */
static bool is_same_stream(const cc__fence *earlier, const cc__fence *later)
{
    if (earlier->device != later->device)
        return false;
    if (cc__stream_is_legacy_default(earlier->stream) && cc__stream_is_legacy_default(later->stream))
        return true;
    return earlier->stream_id != 0 && earlier->stream_id == later->stream_id;
}

static bool is_superseded(const cc__timeline_entry *entry, const cc__box *box, cc__use use, const cc__fence *fence)
{
    /* Whoever follows one of these in a stream has not waited for all that it stands for. */
    if (entry->fence->is_standing || entry->fence->is_device_wide)
        return false;
    switch (use) {
    case CC__USE_WRITE:
        return cc__box_contains(box, &entry->box);
    case CC__USE_READ:
        return entry->use == CC__USE_READ && is_same_stream(entry->fence, fence) && cc__box_contains(box, &entry->box);
    case CC__USE_WRITE_PARTS:
        return false;
    }
    return false;
}

/* is_given: there is a reference to the fence for the new entry. One of the same fence that goes leaves its own. */
static void add(cc__timeline *timeline, const cc__box *box, cc__use use, cc__fence *fence, bool is_given,
                cc__fence **spare)
{
    const bool ask = timeline->count >= ENTRIES_BEFORE_QUERY;
    --timeline->reserved;
    for (int32_t i = timeline->count - 1; i >= 0; --i) {
        cc__timeline_entry *entry = &timeline->entries[i];
        const bool is_same = entry->fence == fence;
        if (is_same && fence->event == NULL && entry->use == CC__USE_READ && use == CC__USE_READ) {
            if (!cc__box_equal(&entry->box, box))
                entry->box = cc__box_bounding(&entry->box, box);
            if (is_given)
                cc__fence_release(fence);
            return;
        }
        if (!is_superseded(entry, box, use, fence) && !is_done(entry->fence, ask))
            continue;
        if (is_same && !is_given)
            is_given = true;
        else if (spare != NULL && entry->fence->device == fence->device)
            cc__fence_recycle(entry->fence, spare);
        else
            cc__fence_release(entry->fence);
        remove_entry(timeline, i);
    }
    if (fence->is_complete) {
        if (is_given)
            cc__fence_release(fence);
        return;
    }
    timeline->entries[timeline->count].box = *box;
    timeline->entries[timeline->count].use = use;
    timeline->entries[timeline->count].fence = is_given ? fence : cc__fence_retain(fence);
    ++timeline->count;
}

void cc__timeline_drop_done(cc__timeline *timeline)
{
    for (int32_t i = timeline->count - 1; i >= 0; --i) {
        if (!timeline->entries[i].fence->is_complete)
            continue;
        cc__fence_release(timeline->entries[i].fence);
        remove_entry(timeline, i);
    }
}

void cc__timeline_take(cc__timeline *timeline, const cc__box *box, cc__use use, cc__fence *fence, cc__fence **spare)
{
    add(timeline, box, use, fence, true, spare);
}

void cc__timeline_add(cc__timeline *timeline, const cc__box *box, cc__use use, cc__fence *fence)
{
    add(timeline, box, use, fence, false, NULL);
}

static cc__use join_uses(cc__use a, cc__use b)
{
    return a == CC__USE_READ && b == CC__USE_READ ? CC__USE_READ : CC__USE_WRITE_PARTS;
}

/* Whoever waits for `later` has waited for `earlier` too, which comes before it in one stream. */
static bool is_covered(const cc__timeline_entry *earlier, const cc__timeline_entry *later)
{
    return !earlier->fence->is_device_wide && !later->fence->is_device_wide &&
           is_same_stream(earlier->fence, later->fence) && cc__box_contains(&later->box, &earlier->box) &&
           (later->use != CC__USE_READ || earlier->use == CC__USE_READ);
}

void cc__timeline_settle_standing(cc__timeline *timeline, const cc__fence *fence)
{
    const bool ask = timeline->count >= ENTRIES_BEFORE_QUERY;
    int32_t own = 0;
    while (timeline->entries[own].fence != fence)
        ++own;
    for (int32_t i = timeline->count - 1; i >= 0; --i) {
        const cc__timeline_entry other = timeline->entries[i];
        cc__timeline_entry *mine = &timeline->entries[own];
        if (i == own || other.fence->is_standing)
            continue;
        if (fence->is_device_wide && other.fence->is_device_wide && !other.fence->is_complete) {
            mine->box = cc__box_bounding(&mine->box, &other.box);
            mine->use = join_uses(mine->use, other.use);
        } else if (!is_done(other.fence, ask) && !is_covered(&other, mine)) {
            continue;
        }
        cc__fence_release(other.fence);
        remove_entry(timeline, i);
        if (own == timeline->count)
            own = i;
    }
}

bool cc__timeline_has_device_wide(const cc__timeline *timeline)
{
    for (int32_t i = 0; i < timeline->count; ++i)
        if (timeline->entries[i].fence->is_device_wide && !timeline->entries[i].fence->is_complete)
            return true;
    return false;
}

const cc__waiter cc__waiter_host = {.device = CC_PLACE_HOST};

cc__waiter cc__waiter_of_library(int32_t device)
{
    /* Any stream but the legacy default, and without a number: it waits for everything. */
    return (cc__waiter){.device = device, .stream = CC_STREAM_PER_THREAD};
}

/* Whether it must wait where the boxes overlap. */
static bool may_wait(const cc__timeline_entry *entry, cc__use use, const cc__waiter *waiter)
{
    const cc__fence *fence = entry->fence;
    if (fence->is_complete || (fence->is_standing && waiter->skips_standing) ||
        (use == CC__USE_READ && entry->use == CC__USE_READ))
        return false;
    if (fence->device == waiter->device) {
        const bool is_same_stream = cc__stream_is_legacy_default(waiter->stream)
                                        ? cc__stream_is_legacy_default(fence->stream)
                                        : waiter->stream_id != 0 && waiter->stream_id == fence->stream_id;
        if (is_same_stream)
            return false;
    }
    return true;
}

bool cc__timeline_entry_is_void(const cc__timeline_entry *entry)
{
    cc__backend *backend = entry->fence->backend;
    return entry->use == CC__USE_READ && backend->is_lost(backend, entry->fence->device);
}

/* Comes to the question that takes longest last. */
static bool must_wait(const cc__timeline_entry *entry, const cc__box *box, cc__use use, const cc__waiter *waiter)
{
    return may_wait(entry, use, waiter) && cc__box_overlaps(&entry->box, box) && !cc__timeline_entry_is_void(entry);
}

bool cc__timeline_entry_is_quiet(const cc__timeline_entry *entry, const cc__box *box, cc__use use,
                                 const cc__waiter *waiter)
{
    return !must_wait(entry, box, use, waiter);
}

void cc__timeline_ask(cc__timeline *timeline, const cc__box *box, cc__use use, const cc__waiter *waiter)
{
    int32_t questions = 0;
    for (int32_t i = timeline->count - 1; i >= 0 && questions < QUESTIONS_BEFORE_WAITING; --i) {
        cc__timeline_entry *entry = &timeline->entries[i];
        if (!must_wait(entry, box, use, waiter))
            continue;
        ++questions;
        if (!is_done(entry->fence, true))
            continue;
        cc__fence_release(entry->fence);
        remove_entry(timeline, i);
    }
}

void cc__timeline_ask_now(cc__timeline *timeline, const cc__box *box, cc__use use, const cc__waiter *waiter)
{
    cc__error_state before;
    cc__error_save(&before);
    for (int32_t i = 0; i < timeline->count; ++i) {
        const cc__timeline_entry *entry = &timeline->entries[i];
        if (!entry->fence->is_standing && !entry->fence->is_device_wide && must_wait(entry, box, use, waiter) &&
            cc__fence_settle(entry->fence) != CC_OK)
            cc__error_restore(&before);
    }
    cc__timeline_ask(timeline, box, use, waiter);
}

bool cc__timeline_waits_device_wide(const cc__timeline *timeline, const cc__box *box, cc__use use,
                                    const cc__waiter *waiter)
{
    for (int32_t i = 0; i < timeline->count; ++i)
        if (must_wait(&timeline->entries[i], box, use, waiter) && !timeline->entries[i].fence->is_device_wide)
            return false;
    return true;
}

static cc_status add_fence(cc__fences *fences, cc__fence *fence)
{
    for (int32_t i = 0; i < fences->count; ++i)
        if (fences->entries[i] == fence)
            return CC_OK;
    if (fences->count == fences->capacity) {
        const int32_t capacity = fences->capacity == 0 ? 4 : fences->capacity * 2;
        cc__fence **entries = cc__reallocate(fences->entries, (size_t)capacity * sizeof *entries);
        if (entries == NULL)
            return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__timeline_collect: no memory for %d fences", capacity);
        fences->entries = entries;
        fences->capacity = capacity;
    }
    fences->entries[fences->count] = cc__fence_retain(fence);
    ++fences->count;
    return CC_OK;
}

/* What the stream of a standing fence holds now; once in a list is enough, as a list is made at one moment. */
static cc_status add_moment(cc__fences *fences, const cc__fence *standing, bool settles)
{
    cc__fence *fence = NULL;
    for (int32_t i = 0; i < fences->count; ++i)
        if (fences->entries[i]->moment_of == standing)
            return CC_OK;
    cc_status status = cc__fence_create_for_default_stream(standing->backend, standing->device, &fence);
    if (fence == NULL)
        return status;
    fence->stream = standing->stream;
    fence->stream_id = standing->stream_id;
    fence->is_device_wide = standing->is_device_wide;
    fence->moment_of = standing;
    if (settles)
        status = cc__fence_settle(fence);
    if (status == CC_OK)
        status = add_fence(fences, fence);
    cc__fence_release(fence);
    return status;
}

cc_status cc__timeline_collect(const cc__timeline *timeline, const cc__box *box, cc__use use, const cc__waiter *waiter,
                               cc__fences *fences)
{
    return cc__timeline_collect_boxes(timeline, box, sizeof *box, 1, use, waiter, fences);
}

/* A list of boxes, and where the last one was found: the next is often near, as boxes are in the order of writes. */
typedef struct box_list {
    const cc__box *first;
    size_t stride_bytes;
    int32_t count;
    int32_t found;
} box_list;

static const cc__box *box_at(const box_list *boxes, int32_t at)
{
    return (const cc__box *)((const unsigned char *)boxes->first + (size_t)at * boxes->stride_bytes);
}

static bool overlaps_any(const cc__box *box, box_list *boxes)
{
    int32_t after = boxes->found;
    int32_t before = after - 1;
    while (after < boxes->count || before >= 0) {
        if (after < boxes->count && cc__box_overlaps(box_at(boxes, after), box)) {
            boxes->found = after;
            return true;
        }
        if (before >= 0 && cc__box_overlaps(box_at(boxes, before), box)) {
            boxes->found = before;
            return true;
        }
        ++after;
        --before;
    }
    return false;
}

cc_status cc__timeline_collect_boxes(const cc__timeline *timeline, const cc__box *first, size_t stride_bytes,
                                     int32_t count, cc__use use, const cc__waiter *waiter, cc__fences *fences)
{
    box_list boxes = {.first = first, .stride_bytes = stride_bytes, .count = count};
    for (int32_t i = 0; i < timeline->count; ++i) {
        if (!may_wait(&timeline->entries[i], use, waiter) || !overlaps_any(&timeline->entries[i].box, &boxes) ||
            cc__timeline_entry_is_void(&timeline->entries[i]))
            continue;
        cc__fence *fence = timeline->entries[i].fence;
        const bool settles = waiter->device != CC_PLACE_HOST || !fence->is_device_wide;
        cc_status status = CC_OK;
        if (fence->is_standing)
            status = add_moment(fences, fence, settles);
        else if (settles)
            status = cc__fence_settle(fence);
        if (status == CC_OK && !fence->is_standing)
            status = add_fence(fences, fence);
        if (status != CC_OK)
            return status;
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

cc_status cc__fences_wait_in_stream(const cc__fences *fences, cc__backend *backend, int32_t device, cc_stream stream)
{
    for (int32_t i = 0; i < fences->count; ++i) {
        const cc__fence *fence = fences->entries[i];
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
        const cc_status status = fence->is_device_wide
                                     ? fence->backend->synchronize(fence->backend, fence->device)
                                     : fence->backend->event_synchronize(fence->backend, fence->device, fence->event);
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

void cc__fences_mark_followed(const cc__fences *fences)
{
    for (int32_t i = 0; i < fences->count; ++i)
        if (!fences->entries[i]->is_device_wide)
            fences->entries[i]->is_complete = true;
}
