#include "memory/movement.h"

#include "base/allocate.h"
#include "base/error.h"
#include "memory/staging.h"

#include <stdlib.h>
#include <string.h>

/*
 * When page-locking pays: it costs some 30 us and 28 ms for each GiB (shared/baseline.md), and RAM for all that it
 * spans. So of what is locked a quarter moves at once; or a sixteenth, when as much as all of it has been staged
 * before.
 */
#define LOCK_FROM_BYTES ((size_t)1 << 20)
#define DENSE_SHARE 4
#define SPARSE_SHARE 16

/*
 * Measured on an H200: one pixel up takes 6.7 us by the driver and 11.8 through a chunk; 64 KiB 18.1 and 19.9. From
 * here on the driver waits for what was queued before.
 */
size_t cc__movement_direct_bytes = (size_t)64 << 10;

/* Each is looked at once for every piece that is locked. */
#define MOST_LATE_BOXES 64

/* The driver takes its time for each; from one chunk a kernel moves all at once. */
#define MOST_DIRECT_BOXES 2

static int compare_stretches(const void *a, const void *b)
{
    const cc__stretch *left = a;
    const cc__stretch *right = b;
    return (left->bytes.first > right->bytes.first) - (left->bytes.first < right->bytes.first);
}

static size_t length_of(const cc__stretch *stretch)
{
    return stretch->bytes.end - stretch->bytes.first;
}

static bool is_worth_locking(const cc__stretch *stretch, uint64_t staged_bytes)
{
    const size_t length = length_of(stretch);
    const size_t moving = stretch->moving_bytes;
    if (moving < LOCK_FROM_BYTES)
        return false;
    return moving >= length / DENSE_SHARE || (moving >= length / SPARSE_SHARE && staged_bytes + moving >= length);
}

int32_t cc__stretches_worth_locking(cc__stretch *stretches, int32_t count, uint64_t staged_bytes)
{
    int32_t kept = 0;
    qsort(stretches, (size_t)count, sizeof *stretches, compare_stretches);
    for (int32_t i = 0; i < count;) {
        cc__stretch joined = stretches[i++];
        for (; i < count; ++i) {
            cc__stretch longer = joined;
            if (longer.bytes.end < stretches[i].bytes.end)
                longer.bytes.end = stretches[i].bytes.end;
            longer.moving_bytes += stretches[i].moving_bytes;
            if (stretches[i].bytes.first > joined.bytes.end && longer.moving_bytes < length_of(&longer) / DENSE_SHARE)
                break;
            joined = longer;
        }
        if (is_worth_locking(&joined, staged_bytes))
            stretches[kept++] = joined;
    }
    return kept;
}

static cc__stretch stretch_of(const cc__movement *movement, const cc__copy *work)
{
    const size_t first = (size_t)(cc__copy_side_of(work, movement->host)->data - movement->bytes);
    const cc__range bytes = {first, first + (size_t)cc__copy_extent(work, movement->host)};
    return (cc__stretch){bytes, (size_t)cc__copy_bytes(work)};
}

/* From the first byte that any of the copies uses to the last. */
static cc__stretch bounding_stretch(const cc__movement *movement)
{
    cc__stretch all = stretch_of(movement, &movement->works[0]);
    for (int32_t i = 1; i < movement->count; ++i) {
        const cc__stretch one = stretch_of(movement, &movement->works[i]);
        if (all.bytes.first > one.bytes.first)
            all.bytes.first = one.bytes.first;
        if (all.bytes.end < one.bytes.end)
            all.bytes.end = one.bytes.end;
        all.moving_bytes += one.moving_bytes;
    }
    return all;
}

static cc_status fail(int32_t count)
{
    return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "moving pixels: no memory to plan %d copies", (int)count);
}

static bool is_worth_locking_late(const cc__movement *movement, const cc__stretch *stretch, const cc__stretch *bounds)
{
    return movement->count <= MOST_LATE_BOXES && stretch->bytes.first == bounds->bytes.first &&
           stretch->bytes.end == bounds->bytes.end && cc__host_memory_locks_in_pieces(length_of(bounds));
}

static cc_status lock_pages(cc__movement *movement, const cc__stretch *bounds, cc__locking locking)
{
    cc__stretch one;
    cc__stretch *stretches = &one;
    if (movement->count > 1) {
        stretches = cc__allocate((size_t)movement->count * sizeof *stretches);
        if (stretches == NULL)
            return fail(movement->count);
    }
    for (int32_t i = 0; i < movement->count; ++i)
        stretches[i] = stretch_of(movement, &movement->works[i]);
    const uint64_t staged_bytes = cc__host_memory_note_staged(movement->memory, 0);
    const int32_t count = cc__stretches_worth_locking(stretches, movement->count, staged_bytes);
    movement->locks_late =
        locking == CC__LOCKING_NONE && count == 1 && is_worth_locking_late(movement, &stretches[0], bounds);
    movement->bounds = bounds->bytes;
    for (int32_t i = 0; i < count && !movement->locks_late; ++i)
        movement->locked_bytes += cc__host_memory_lock(movement->memory, movement->backend, stretches[i].bytes);
    if (stretches != &one)
        cc__free(stretches);
    return CC_OK;
}

static cc_status add_copy(cc__copies *copies, const cc__copy *piece)
{
    if (copies->count == copies->capacity) {
        const int32_t capacity = copies->capacity < 8 ? 8 : 2 * copies->capacity;
        cc__copy *items = cc__reallocate(copies->items, (size_t)capacity * sizeof *items);
        if (items == NULL)
            return fail(capacity);
        copies->items = items;
        copies->capacity = capacity;
    }
    copies->items[copies->count++] = *piece;
    return CC_OK;
}

static cc_status add_piece(void *context, const cc__copy *piece, bool is_locked)
{
    cc__movement *movement = context;
    return add_copy(is_locked ? &movement->in_place : &movement->staged, piece);
}

static cc_status cut(cc__movement *movement, cc__range all)
{
    cc__range *ranges = NULL;
    int32_t count = 0;
    cc_status status = cc__host_memory_ranges(movement->memory, all, &ranges, &count);
    movement->owns_copies = true;
    for (int32_t i = 0; status == CC_OK && i < movement->count; ++i)
        status = cc__pieces_at_borders(&movement->works[i], movement->host, movement->bytes, ranges, count, add_piece,
                                       movement);
    cc__free(ranges);
    if (status != CC_OK)
        cc__movement_end(movement);
    return status;
}

static int64_t bytes_of(const cc__copies *copies)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < copies->count; ++i)
        bytes += cc__copy_bytes(&copies->items[i]);
    return bytes;
}

/*
 * Memory that is not the library's may have been page-locked by its owner, who keeps it so while it is wrapped. It does
 * not count when an image locked it, which may unlock it at any time. A few bytes the driver moves as fast either way.
 */
static bool is_locked_by_owner(const cc__movement *movement, const cc__stretch *bounds)
{
    unsigned char *first = movement->bytes + bounds->bytes.first;
    return movement->memory == NULL && bounds->moving_bytes > cc__movement_direct_bytes &&
           movement->backend->host_is_locked(movement->backend, first, length_of(bounds)) &&
           !cc__host_memory_may_lock(first, length_of(bounds));
}

/* Then nothing needs to be found out about the boxes. */
static bool is_all_locked(const cc__movement *movement)
{
    return movement->memory != NULL && cc__host_memory_is_all_locked(movement->memory);
}

cc_status cc__movement_prepare(cc__movement *movement)
{
    const cc__copies all = {movement->works, movement->count, movement->count};
    const cc__copies none = {0};
    cc__locking locking = CC__LOCKING_NONE;
    cc_status status = CC_OK;

    movement->in_place = none;
    movement->staged = none;
    movement->owns_copies = false;
    movement->locks_late = false;
    movement->locked_bytes = 0;
    movement->is_over_on_host = false;
    memset(&movement->tally, 0, sizeof movement->tally);
    if (is_all_locked(movement)) {
        movement->in_place = all;
        return CC_OK;
    }
    const cc__stretch bounds = bounding_stretch(movement);
    if (movement->memory != NULL)
        locking = cc__host_memory_locking(movement->memory, bounds.bytes);
    else if (is_locked_by_owner(movement, &bounds))
        locking = CC__LOCKING_WHOLE;
    if (movement->memory != NULL && locking != CC__LOCKING_WHOLE && bounds.moving_bytes >= LOCK_FROM_BYTES) {
        status = lock_pages(movement, &bounds, locking);
        if (status != CC_OK || movement->locks_late)
            return status;
        locking = cc__host_memory_locking(movement->memory, bounds.bytes);
    }
    switch (locking) {
    case CC__LOCKING_NONE:
        movement->staged = all;
        break;
    case CC__LOCKING_WHOLE:
        movement->in_place = all;
        break;
    case CC__LOCKING_PARTS:
        status = cut(movement, bounds.bytes);
        break;
    }
    if (status == CC_OK && movement->memory != NULL && movement->staged.count > 0)
        (void)cc__host_memory_note_staged(movement->memory, (size_t)bytes_of(&movement->staged));
    return status;
}

/*
 * By the driver, which knows how to copy pageable memory, if slowly; unless some of it is locked, or being locked.
 * Memory that is not our own may have been page-locked by its owner: then the driver does not wait for the copies.
 */
static cc_status run_direct(cc__movement *movement, bool *out_is_done)
{
    cc__backend *backend = movement->backend;
    cc_status status = CC_OK;
    if (movement->memory != NULL && !cc__host_memory_begin_direct(movement->memory))
        return CC_OK;
    *out_is_done = true;
    movement->is_over_on_host = movement->memory != NULL && movement->memory->owner == CC__HOST_OWNER_LIBRARY;
    for (int32_t i = 0; status == CC_OK && i < movement->staged.count; ++i)
        status = backend->copy(backend, movement->device, movement->stream, &movement->staged.items[i]);
    if (movement->memory != NULL)
        cc__host_memory_end_direct(movement->memory);
    return status;
}

static cc_status run_staged(cc__movement *movement)
{
    const cc__copies *copies = &movement->staged;
    cc__staging staging = {.backend = movement->backend,
                           .device = movement->device,
                           .stream = movement->stream,
                           .host = movement->host,
                           .works = copies->items,
                           .count = copies->count,
                           .bytes = bytes_of(copies)};
    const bool are_few = copies->count <= MOST_DIRECT_BOXES && (size_t)staging.bytes <= cc__movement_direct_bytes;
    cc__path path = CC__PATH_PLAIN;
    bool is_done = false;
    cc_status status = CC_OK;
    if (are_few)
        status = run_direct(movement, &is_done);
    if (status == CC_OK && !is_done) {
        status = cc__staging_run(&staging, &is_done);
        path = is_done ? CC__PATH_STAGED : CC__PATH_PLAIN;
    }
    if (status == CC_OK && !is_done && !are_few)
        status = run_direct(movement, &is_done);
    if (status == CC_OK && !is_done) {
        staging.is_pageable = true;
        status = cc__staging_run(&staging, &is_done);
    }
    cc__tally_add(&movement->tally, path, copies->count, staging.bytes);
    return status;
}

static cc_status queue_in_place(cc__movement *movement)
{
    return cc__paths_queue(movement->backend, movement->device, movement->stream, movement->in_place.items,
                           movement->in_place.count, &movement->tally);
}

/* What becomes of the boxes while their memory is locked. */
typedef struct late {
    cc__movement *movement;
    size_t queued_end; /* what lies before it is queued */
    cc_status status;
} late;

static cc_status add_locked(void *context, const cc__copy *piece, bool is_locked)
{
    cc__movement *movement = context;
    return is_locked ? add_copy(&movement->in_place, piece) : CC_OK;
}

static cc_status add_left(void *context, const cc__copy *piece, bool is_queued)
{
    cc__movement *movement = context;
    return is_queued ? CC_OK : add_copy(&movement->staged, piece);
}

static cc_status cut_once(const cc__movement *movement, cc__range range, cc__take_piece take, void *context)
{
    cc_status status = CC_OK;
    for (int32_t i = 0; status == CC_OK && i < movement->count; ++i)
        status = cc__pieces_at_borders(&movement->works[i], movement->host, movement->bytes, &range, 1, take, context);
    return status;
}

static bool queue_locked(void *context, cc__range locked)
{
    late *self = context;
    cc__movement *movement = self->movement;
    movement->in_place.count = 0;
    self->status = cut_once(movement, locked, add_locked, movement);
    if (self->status == CC_OK && movement->in_place.count > 0)
        self->status = queue_in_place(movement);
    self->queued_end = locked.end;
    return self->status == CC_OK;
}

/* Leaves what could not be locked as staged. The device may be using the pixels as soon as something is queued. */
static cc_status lock_and_queue(cc__movement *movement, bool *out_is_queued)
{
    late self = {.movement = movement};
    movement->owns_copies = true;
    movement->locked_bytes +=
        cc__host_memory_lock_each(movement->memory, movement->backend, movement->bounds, queue_locked, &self);
    *out_is_queued = self.queued_end > 0;
    if (self.status == CC_OK && self.queued_end < movement->bounds.end)
        self.status = cut_once(movement, (cc__range){0, self.queued_end}, add_left, movement);
    if (self.status == CC_OK && movement->staged.count > 0)
        (void)cc__host_memory_note_staged(movement->memory, (size_t)bytes_of(&movement->staged));
    return self.status;
}

cc_status cc__movement_run(cc__movement *movement)
{
    bool is_queued = movement->in_place.count > 0;
    cc_status status = CC_OK;
    movement->is_over_on_host = true;
    if (movement->locks_late)
        status = lock_and_queue(movement, &is_queued);
    else if (is_queued)
        status = queue_in_place(movement);
    if (status == CC_OK && movement->staged.count > 0)
        status = run_staged(movement);
    if (is_queued)
        movement->is_over_on_host = false;
    return status;
}

void cc__movement_end(cc__movement *movement)
{
    if (movement->owns_copies) {
        cc__free(movement->in_place.items);
        cc__free(movement->staged.items);
    }
    movement->owns_copies = false;
}
