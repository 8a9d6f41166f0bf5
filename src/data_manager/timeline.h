/*
 * The work under way on the pixels at one place: the last writes and the reads since, each with the fence that tells
 * when it is done. Guarded by the data manager's lock, but for the fences themselves.
 */
#ifndef CC_DATA_MANAGER_TIMELINE_H
#define CC_DATA_MANAGER_TIMELINE_H

#include "backend/backend.h"
#include "base/box.h"

#include <stdatomic.h>
#include <stdbool.h>

/* Who waits: a stream of a device, or the host (device CC_PLACE_HOST). */
typedef struct cc__waiter {
    int32_t device;
    cc_stream stream;
    uint64_t stream_id; /* of a stream that is not the legacy default; 0 when it has none */
    bool skips_standing;
} cc__waiter;

/* A stream of the library's own, which has done nothing yet that anybody's work could follow. */
cc__waiter cc__waiter_of_library(int32_t device);
extern const cc__waiter cc__waiter_host;

/*
 * An event, shared by everything that it ends, in whatever data manager.
 *
 * One for the legacy default stream is recorded only when somebody else must wait for it: whatever is queued there in
 * between makes the wait longer, never wrong, since that stream cannot go away. Until then `event` is NULL. That is for
 * the lock of the data manager whose site made it, and ends before anybody else gets to see the fence.
 *
 * A standing one is for a stream that somebody uses when it likes. Whoever must wait waits for a fence of its own, for
 * what is queued there by then; no event of the standing one is asked for before cc__fence_end_standing().
 *
 * Where it is not known which stream that is, a fence is device-wide: the host waits for the whole device, and others
 * for the legacy default stream, by which everybody else orders its work.
 */
typedef struct cc__fence {
    cc__backend *backend;
    int32_t device;
    atomic_int references;
    cc__event *event;
    cc_stream stream;        /* where it was recorded, or will be */
    uint64_t stream_id;      /* 0 when unknown */
    atomic_bool is_complete; /* known to be done, so that nobody asks the device again */
    bool is_standing;
    bool is_device_wide;
    const struct cc__fence *moment_of; /* the standing one that it was made from; only to be compared */
} cc__fence;

cc_status cc__fence_create(cc__backend *backend, int32_t device,
                           cc__fence **out_fence); /* OUT_OF_HOST_MEMORY, DEVICE */
/* For what is queued in the legacy default stream up to the moment when somebody waits. OUT_OF_HOST_MEMORY. */
cc_status cc__fence_create_for_default_stream(cc__backend *backend, int32_t device, cc__fence **out_fence);
cc__fence *cc__fence_retain(cc__fence *fence);
void cc__fence_let_go(cc__fence *fence);
static inline void cc__fence_release(cc__fence *fence) /* accepts NULL */
{
    if (fence != NULL)
        cc__fence_let_go(fence);
}
/*
 * Releases a fence; one that nobody else has is kept in *spare when there is none, to be recorded again for what comes
 * next. That spares the next one an event and an allocation.
 */
void cc__fence_recycle(cc__fence *fence, cc__fence **spare);
cc_status cc__fence_record(cc__fence *fence, cc_stream stream, uint64_t stream_id);
/* Records one for the default stream that is not recorded yet. CAPTURE while another stream is being captured; DEVICE.
 */
cc_status cc__fence_settle(cc__fence *fence);

/* Makes one that was to be recorded in a stream of the library's own one that is recorded when somebody waits. */
void cc__fence_defer(cc__fence *fence, cc_stream stream);

/* Standing; stream_is_known false: device-wide. OUT_OF_HOST_MEMORY, DEVICE. */
cc_status cc__fence_create_standing(cc__backend *backend, int32_t device, cc_stream stream, uint64_t stream_id,
                                    bool stream_is_known, cc__fence **out_fence);
/*
 * From now on an ordinary one: for what is queued in `stream`; or device-wide, when has_stream is false or the stream
 * cannot be marked. Cannot fail. Sets the message of no error.
 */
void cc__fence_end_standing(cc__fence *fence, bool has_stream, cc_stream stream);

/* 0 and 1 both name the legacy default stream, which nobody can destroy and make again under the same name. */
static inline bool cc__stream_is_legacy_default(cc_stream stream)
{
    return (uintptr_t)stream <= 1;
}

typedef enum cc__use {
    CC__USE_READ = 0,
    CC__USE_WRITE = 1,      /* all of the box */
    CC__USE_WRITE_PARTS = 2 /* boxes that lie apart in it; what is between them was not waited for */
} cc__use;

typedef struct cc__timeline_entry {
    cc__box box;
    cc__use use;
    cc__fence *fence;
} cc__timeline_entry;

typedef struct cc__timeline {
    cc__timeline_entry *entries;
    int32_t count;
    int32_t capacity;
    int32_t reserved; /* entries promised room */
} cc__timeline;

void cc__timeline_destroy(cc__timeline *timeline);

/* Makes sure that one later cc__timeline_add() has room. OUT_OF_HOST_MEMORY. Each is followed by one add or unreserve.
 */
cc_status cc__timeline_grow(cc__timeline *timeline);
static inline cc_status cc__timeline_reserve(cc__timeline *timeline)
{
    const cc_status status =
        timeline->count + timeline->reserved < timeline->capacity ? CC_OK : cc__timeline_grow(timeline);
    timeline->reserved += status == CC_OK;
    return status;
}
static inline void cc__timeline_unreserve(cc__timeline *timeline)
{
    --timeline->reserved;
}

/*
 * Adds an entry, keeping the fence. A write of all of its box drops the entries inside: whoever queued it waited for
 * them. A read drops the reads inside that came earlier in the same stream, and widens one whose fence is the same and
 * not recorded yet. Entries that are known to be done go too.
 */
void cc__timeline_add(cc__timeline *timeline, const cc__box *box, cc__use use, cc__fence *fence);
/* The same, but takes the fence over, and recycles a fence of its device that goes, unless spare is NULL. */
void cc__timeline_take(cc__timeline *timeline, const cc__box *box, cc__use use, cc__fence *fence, cc__fence **spare);

/* The entry of a fence that is not standing any more takes over from those before it that it covers. */
void cc__timeline_settle_standing(cc__timeline *timeline, const cc__fence *fence);
/* Whether there is one that is not known to be done. */
bool cc__timeline_has_device_wide(const cc__timeline *timeline);

/* A list of fences, each once, holding a reference to each. */
typedef struct cc__fences {
    cc__fence **entries;
    int32_t count;
    int32_t capacity;
} cc__fences;

/* Whether a use of the box by this waiter need not wait: a read waits for the writes, a write for everything. */
bool cc__timeline_entry_is_quiet(const cc__timeline_entry *entry, const cc__box *box, cc__use use,
                                 const cc__waiter *waiter);
static inline bool cc__timeline_is_quiet(const cc__timeline *timeline, const cc__box *box, cc__use use,
                                         const cc__waiter *waiter)
{
    for (int32_t i = 0; i < timeline->count; ++i)
        if ((use != CC__USE_READ || timeline->entries[i].use != CC__USE_READ) &&
            !cc__timeline_entry_is_quiet(&timeline->entries[i], box, use, waiter))
            return false;
    return true;
}

/*
 * Asks the device which of those that it would have to wait for are done already, so that nobody has to wait for them
 * any more: of the first few, as a question costs as much as a wait.
 */
void cc__timeline_ask(cc__timeline *timeline, const cc__box *box, cc__use use, const cc__waiter *waiter);

/* The same, after an event has been recorded for what is marked late, so that the answer is as of now. */
void cc__timeline_ask_now(cc__timeline *timeline, const cc__box *box, cc__use use, const cc__waiter *waiter);

/*
 * Adds the fences that it must wait for. With the lock held: records those that were not yet. OUT_OF_HOST_MEMORY;
 * CAPTURE when the default stream cannot be waited for because another one is being captured; DEVICE.
 */
cc_status cc__timeline_collect(const cc__timeline *timeline, const cc__box *box, cc__use use, const cc__waiter *waiter,
                               cc__fences *fences);
/* The same for several boxes, each so many bytes after the one before. */
cc_status cc__timeline_collect_boxes(const cc__timeline *timeline, const cc__box *first, size_t stride_bytes,
                                     int32_t count, cc__use use, const cc__waiter *waiter, cc__fences *fences);
void cc__fences_destroy(cc__fences *fences);

/* Lets `stream` of `device` wait for all of them. */
cc_status cc__fences_wait_in_stream(const cc__fences *fences, cc__backend *backend, int32_t device, cc_stream stream);
/* Blocks until all are done. The caller marks them complete under its lock: cc__fences_mark_complete. */
cc_status cc__fences_synchronize(const cc__fences *fences);
void cc__fences_mark_complete(const cc__fences *fences);

#endif
