/* Marks of where work in a stream ends, shared by all who wait for it. */
#ifndef CC_DATA_MANAGER_FENCE_H
#define CC_DATA_MANAGER_FENCE_H

#include "backend/backend.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* 0 and 1 both name the legacy default stream, which nobody can destroy and make again under the same name. */
static inline bool cc__stream_is_legacy_default(cc_stream stream)
{
    return (uintptr_t)stream <= 1;
}

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
    /* In a word of their own: the compiler reads both at once, under another lock than is_complete is written. */
    _Alignas(int32_t) bool is_standing;
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

#endif
