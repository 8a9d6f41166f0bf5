/*
 * The work under way on the pixels at one place: the last writes and the reads since, each with the fence that tells
 * when it is done. Guarded by the data manager's lock, but for the fences themselves.
 */
#ifndef CC_DATA_MANAGER_TIMELINE_H
#define CC_DATA_MANAGER_TIMELINE_H

#include "base/box.h"
#include "data_manager/fence.h"

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
 * not recorded yet. Entries that are known to be done go too, and what is done already is not added.
 */
void cc__timeline_add(cc__timeline *timeline, const cc__box *box, cc__use use, cc__fence *fence);
/* The same, but takes the fence over, and recycles a fence of its device that goes, unless spare is NULL. */
void cc__timeline_take(cc__timeline *timeline, const cc__box *box, cc__use use, cc__fence *fence, cc__fence **spare);

/* Those that are known to be done go. */
void cc__timeline_drop_done(cc__timeline *timeline);

/* The entry of a fence that is not standing any more takes over from those before it that it covers. */
void cc__timeline_settle_standing(cc__timeline *timeline, const cc__fence *fence);
/* Whether there is one that is not known to be done. */
bool cc__timeline_has_device_wide(const cc__timeline *timeline);

/* Whether all that it must wait for is device-wide: then others wait for the legacy default stream and nothing else. */
bool cc__timeline_waits_device_wide(const cc__timeline *timeline, const cc__box *box, cc__use use,
                                    const cc__waiter *waiter);

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

/* Whether a lost device would have been the reader: it reads for itself alone, and nobody needs to wait for that. */
bool cc__timeline_entry_is_void(const cc__timeline_entry *entry);

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
/* After work that a stream did when it had waited for them. A stream does not wait for all that is device-wide. */
void cc__fences_mark_followed(const cc__fences *fences);

#endif
