#include "memory/host_memory.h"

#include "base/allocate.h"
#include "base/error.h"
#include "memory/machine.h"
#include "memory/page_locking.h"
#include "memory/pages.h"

#include <string.h>

/*
 * Measured on an H200's host, 4 GiB: RAM takes 16 threads 78 ms, locking 90 to 110, in one piece or in many, by one
 * thread or by several. Pieces of 64 to 512 MiB, one locked while the next gets its RAM and the one before is copied,
 * take 120 to 150 ms with the copy.
 */
size_t cc__host_memory_piece_bytes = (size_t)256 << 20;
#define PIECES_FROM 4

/* Sizes are less than half of the address space. */
static size_t round_up(size_t value, size_t grain)
{
    return (value + grain - 1) / grain * grain;
}

/* The first range that ends after the byte; range_count when there is none. With the lock held. */
static int32_t find(const cc__host_memory *memory, size_t at)
{
    int32_t low = 0;
    int32_t high = memory->range_count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (memory->ranges[middle].bytes.end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool insert(cc__host_memory *memory, int32_t at, cc__range bytes)
{
    if (memory->range_count == memory->range_capacity) {
        const bool was_inside = memory->ranges == memory->first_ranges;
        const int32_t capacity = 4 * memory->range_capacity;
        cc__locked_range *ranges =
            cc__reallocate(was_inside ? NULL : memory->ranges, (size_t)capacity * sizeof *ranges);
        if (ranges == NULL)
            return false;
        if (was_inside)
            memcpy(ranges, memory->first_ranges, sizeof memory->first_ranges);
        memory->ranges = ranges;
        memory->range_capacity = capacity;
    }
    cc__locked_range *here = &memory->ranges[at];
    memmove(here + 1, here, (size_t)(memory->range_count - at) * sizeof *here);
    *here = (cc__locked_range){.bytes = bytes, .is_pending = true};
    ++memory->range_count;
    return true;
}

static void remove_range(cc__host_memory *memory, int32_t at)
{
    cc__locked_range *here = &memory->ranges[at];
    --memory->range_count;
    memmove(here, here + 1, (size_t)(memory->range_count - at) * sizeof *here);
}

/* The gap at `at`, as far as it is wanted, rounded to whole grains where they are free. With the lock held. */
static cc__range gap_at(const cc__host_memory *memory, size_t at, size_t end)
{
    const int32_t next = find(memory, at);
    const size_t low = next > 0 ? memory->ranges[next - 1].bytes.end : memory->lockable.first;
    const size_t high = next < memory->range_count ? memory->ranges[next].bytes.first : memory->lockable.end;
    const size_t origin = memory->lockable.first;
    cc__range gap = {origin + (at - origin) / memory->grain_bytes * memory->grain_bytes,
                     origin + round_up(end - origin, memory->grain_bytes)};
    if (gap.first < low)
        gap.first = low;
    if (gap.end > high)
        gap.end = high;
    return gap;
}

bool cc__host_memory_locks_in_pieces(size_t size_bytes)
{
    return size_bytes / PIECES_FROM >= cc__host_memory_piece_bytes;
}

/* One call that locks. */
typedef struct locker {
    cc__host_memory *memory;
    cc__backend *backend;
    size_t end;         /* of what is wanted */
    size_t piece_bytes; /* 0: each gap is one */
    bool goes_ahead;
    size_t ahead_first;
    cc__pages_ahead ahead;
} locker;

/* Left to the backend, it takes one thread several times as long. */
static void commit(locker *self, cc__range gap)
{
    unsigned char *bytes = self->memory->bytes;
    if (self->piece_bytes == 0) {
        cc__pages_commit(bytes + gap.first, gap.end - gap.first);
        return;
    }
    if (!self->goes_ahead) {
        const size_t whole = round_up(self->end, self->memory->grain_bytes);
        const size_t end = whole < self->memory->lockable.end ? whole : self->memory->lockable.end;
        self->goes_ahead = true;
        self->ahead_first = gap.first;
        cc__pages_begin_ahead(&self->ahead, bytes + gap.first, end - gap.first);
    }
    cc__pages_wait_ahead(&self->ahead, gap.end - self->ahead_first);
}

/* Locks the gap at `at`. Returns its bytes, 0 when it cannot be. With the lock held, which is given up meanwhile. */
static size_t fill_gap(locker *self, size_t at)
{
    cc__host_memory *memory = self->memory;
    size_t end = self->end;
    bool is_refused = false;
    if (self->piece_bytes > 0 && end - at > self->piece_bytes)
        end = (at / self->piece_bytes + 1) * self->piece_bytes;
    const cc__range gap = gap_at(memory, at, end);
    if (!insert(memory, find(memory, at), gap))
        return 0;
    pthread_mutex_unlock(&memory->lock);
    if (memory->owner == CC__HOST_OWNER_LIBRARY)
        commit(self, gap);
    const bool is_locked = cc__page_lock(self->backend, memory->bytes + gap.first, gap.end - gap.first, &is_refused);
    pthread_mutex_lock(&memory->lock);
    const int32_t index = find(memory, gap.first);
    if (is_locked) {
        memory->ranges[index].is_pending = false;
        memory->backend = self->backend;
        memory->locked_bytes += gap.end - gap.first;
    } else {
        remove_range(memory, index);
        memory->is_refused = memory->is_refused || is_refused;
    }
    pthread_cond_broadcast(&memory->changed);
    return is_locked ? gap.end - gap.first : 0;
}

size_t cc__host_memory_lock_each(cc__host_memory *memory, cc__backend *backend, cc__range bytes, cc__take_range take,
                                 void *context)
{
    size_t at = bytes.first > memory->lockable.first ? bytes.first : memory->lockable.first;
    const size_t end = bytes.end < memory->lockable.end ? bytes.end : memory->lockable.end;
    locker self;
    size_t locked_bytes = 0;
    bool goes_on = true;
    self.memory = memory;
    self.backend = backend;
    self.end = end;
    self.piece_bytes = 0;
    self.goes_ahead = false;
    /* As much as can be locked of what is too much would leave none to copy the rest through. */
    if (at < end && cc__host_memory_locks_in_pieces(end - at) && cc__page_locking_fits(end - at))
        self.piece_bytes = cc__host_memory_piece_bytes;
    pthread_mutex_lock(&memory->lock);
    while (at < end && goes_on) {
        const int32_t next = find(memory, at);
        const bool is_known = next < memory->range_count && memory->ranges[next].bytes.first <= at;
        if (is_known && memory->ranges[next].is_pending) {
            pthread_cond_wait(&memory->changed, &memory->lock);
        } else if (is_known) {
            const cc__range known = memory->ranges[next].bytes;
            at = known.end;
            if (take != NULL) {
                pthread_mutex_unlock(&memory->lock);
                goes_on = take(context, known);
                pthread_mutex_lock(&memory->lock);
            }
        } else {
            const bool may = !memory->is_refused && memory->direct_users == 0;
            const size_t filled_bytes = may ? fill_gap(&self, at) : 0;
            locked_bytes += filled_bytes;
            goes_on = filled_bytes > 0;
        }
    }
    pthread_mutex_unlock(&memory->lock);
    if (self.goes_ahead)
        cc__pages_end_ahead(&self.ahead);
    return locked_bytes;
}

size_t cc__host_memory_lock(cc__host_memory *memory, cc__backend *backend, cc__range bytes)
{
    return cc__host_memory_lock_each(memory, backend, bytes, NULL, NULL);
}

cc__locking cc__host_memory_locking(cc__host_memory *memory, cc__range bytes)
{
    cc__locking locking = CC__LOCKING_NONE;
    pthread_mutex_lock(&memory->lock);
    for (int32_t i = find(memory, bytes.first);
         i < memory->range_count && memory->ranges[i].bytes.first < bytes.end && locking == CC__LOCKING_NONE; ++i) {
        const cc__locked_range *range = &memory->ranges[i];
        if (!range->is_pending)
            locking = range->bytes.first <= bytes.first && range->bytes.end >= bytes.end ? CC__LOCKING_WHOLE
                                                                                         : CC__LOCKING_PARTS;
    }
    pthread_mutex_unlock(&memory->lock);
    return locking;
}

cc_status cc__host_memory_ranges(cc__host_memory *memory, cc__range bytes, cc__range **out_ranges, int32_t *out_count)
{
    cc__range *ranges = NULL;
    int32_t count = 0;
    pthread_mutex_lock(&memory->lock);
    const int32_t first = find(memory, bytes.first);
    int32_t end = first;
    while (end < memory->range_count && memory->ranges[end].bytes.first < bytes.end)
        ++end;
    ranges = cc__allocate((size_t)(end - first) * sizeof *ranges);
    for (int32_t i = first; ranges != NULL && i < end; ++i)
        if (!memory->ranges[i].is_pending)
            ranges[count++] = memory->ranges[i].bytes;
    pthread_mutex_unlock(&memory->lock);
    if (ranges == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "host memory: no memory for %d ranges", (int)(end - first));
    *out_ranges = ranges;
    *out_count = count;
    return CC_OK;
}

size_t cc__host_memory_locked_bytes(cc__host_memory *memory)
{
    pthread_mutex_lock(&memory->lock);
    const size_t bytes = memory->locked_bytes;
    pthread_mutex_unlock(&memory->lock);
    return bytes;
}

bool cc__host_memory_begin_direct(cc__host_memory *memory)
{
    pthread_mutex_lock(&memory->lock);
    const bool may = memory->range_count == 0;
    memory->direct_users += may;
    pthread_mutex_unlock(&memory->lock);
    return may;
}

void cc__host_memory_end_direct(cc__host_memory *memory)
{
    pthread_mutex_lock(&memory->lock);
    --memory->direct_users;
    pthread_mutex_unlock(&memory->lock);
}

uint64_t cc__host_memory_note_staged(cc__host_memory *memory, size_t bytes)
{
    pthread_mutex_lock(&memory->lock);
    memory->staged_bytes += bytes;
    const uint64_t staged = memory->staged_bytes;
    pthread_mutex_unlock(&memory->lock);
    return staged;
}
