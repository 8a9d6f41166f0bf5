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

/* An event, shared by everything that it ends, in whatever data manager. */
typedef struct cc__fence {
    cc__backend *backend;
    int32_t device;
    atomic_int references;
    cc__event *event;
    cc_stream stream;        /* where it was recorded */
    atomic_bool is_complete; /* known to be done, so that nobody asks the device again */
} cc__fence;

cc_status cc__fence_create(cc__backend *backend, int32_t device,
                           cc__fence **out_fence); /* OUT_OF_HOST_MEMORY, DEVICE */
cc__fence *cc__fence_retain(cc__fence *fence);
void cc__fence_release(cc__fence *fence); /* accepts NULL */
cc_status cc__fence_record(cc__fence *fence, cc_stream stream);

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
cc_status cc__timeline_reserve(cc__timeline *timeline);
void cc__timeline_unreserve(cc__timeline *timeline);

/*
 * Adds an entry, keeping the fence. A write of all of its box drops the entries inside: whoever queued it waited for
 * them. Entries that are known to be done go too.
 */
void cc__timeline_add(cc__timeline *timeline, const cc__box *box, cc__use use, cc__fence *fence);

/* A list of fences, each once, holding a reference to each. */
typedef struct cc__fences {
    cc__fence **entries;
    int32_t count;
    int32_t capacity;
} cc__fences;

/* Adds the fences that a use of the box must wait for: a read for the writes, a write for everything.
 * OUT_OF_HOST_MEMORY. */
cc_status cc__timeline_collect(const cc__timeline *timeline, const cc__box *box, cc__use use, cc__fences *fences);
void cc__fences_destroy(cc__fences *fences);

/* Lets `stream` of `device` wait for all of them; a fence recorded in the same default stream needs no wait. */
cc_status cc__fences_wait_in_stream(const cc__fences *fences, cc__backend *backend, int32_t device, cc_stream stream);
/* Blocks until all are done. The caller marks them complete under its lock: cc__fences_mark_complete. */
cc_status cc__fences_synchronize(const cc__fences *fences);
void cc__fences_mark_complete(const cc__fences *fences);

#endif
