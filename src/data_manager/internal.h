/* What a data manager is made of; for the files of this room only. */
#ifndef CC_DATA_MANAGER_INTERNAL_H
#define CC_DATA_MANAGER_INTERNAL_H

#include "backend/backend.h"
#include "base/lock.h"
#include "data_manager/data_manager.h"
#include "data_manager/mappings.h"
#include "data_manager/plan.h"
#include "data_manager/residents.h"
#include "data_manager/timeline.h"
#include "data_manager/validity.h"
#include "memory/place_memory.h"
#include "trace/totals.h"

#include <stdatomic.h>

/* One place: its memory and the work under way on it. */
typedef struct cc__site {
    cc__place_memory memory;
    cc__timeline timeline;
    cc__resident resident;    /* on a device: the memory's place among what may be given up */
    cc__fence *spare_fence;   /* that nobody uses any more, for the next mapping; or NULL */
    bool owes_synchronize;    /* somebody whose stream is not known may still be using the memory of a device */
    cc__fence *default_fence; /* for uses of the legacy default stream that nobody has waited for yet; NULL until one */
    struct cc__textured *textures; /* on a device: see textures.h */
} cc__site;

/* A box of a place that a thread is filling without holding the lock; whoever needs it filled too waits on the
 * lock. */
typedef struct cc__claim {
    cc_place place;
    cc__box box;
} cc__claim;

struct cc__data_manager {
    atomic_int references;
    cc__lock lock; /* guards all that follows down to `label`; never held while waiting for a device; it tells when a
                      claim or an eviction has ended */
    cc__validity validity;
    cc__mappings mappings;
    struct cc__lent *loans;        /* NULL when nobody has to know of any: see lent.h */
    struct cc__lent *spare_lent;   /* for the next loan, or NULL */
    cc__texture_use *texture_uses; /* textures that are mapped */
    cc__claim *claims;
    int32_t claim_count;
    int32_t claim_capacity;
    cc__copy *spare_works; /* of the last transfer of several boxes, for the next */
    int32_t spare_work_capacity;
    cc__plan_room spare_steps; /* of the last plan of several boxes, for the next */
    cc__backend *backend;      /* NULL until a device is used */
    cc__site host;
    cc__site *devices;               /* backend->device_count of them */
    cc__allocator *host_allocator;   /* for new memory; NULL: whatever the process has */
    cc__allocator *device_allocator; /* the same */
    bool constant_is_zero;
    bool has_textures;        /* or had some */
    bool is_moving_out;       /* an eviction is copying, without the lock; nobody begins to use pixels meanwhile */
    bool has_dirty_residents; /* some have been put behind those that need no copy */
    int32_t priority;
    uint64_t generation;
    cc_counters counters;
    char label[CC_LABEL_BYTES];

    cc__data_manager *next_leftover; /* see leftovers.c */
    uint64_t id;                     /* no other of the process has it */
    cc__account account;             /* of `counters` */
    cc__layout layout;               /* of memory of the library's own */
    cc__box whole;
    bool read_only;
    cc_release_fn release; /* of wrapped memory */
    void *release_data;
    void *release_user_data;
    unsigned char constant[]; /* one pixel */
};

/* With the lock held. A device's site is there once this has succeeded. */
cc_status cc__data_manager_make_devices(cc__data_manager *manager);
static inline cc_status cc__data_manager_use_devices(cc__data_manager *manager)
{
    return manager->devices != NULL ? CC_OK : cc__data_manager_make_devices(manager);
}

/* NULL when no device was used yet, and for a place that is none (CC_DEVICE_CURRENT too). */
static inline cc__site *cc__data_manager_site(cc__data_manager *manager, cc_place place)
{
    if (place == CC_PLACE_HOST)
        return &manager->host;
    if (manager->devices == NULL || place < 0 || place >= manager->backend->device_count)
        return NULL;
    return &manager->devices[place];
}

/* Ends what a mapping's unmap call would have needed, or has left. */
static inline void cc__data_manager_drop_fence(cc__data_manager *manager, cc__mapping *mapping)
{
    if (mapping->fence != NULL)
        cc__fence_recycle(mapping->fence, &cc__data_manager_site(manager, mapping->place)->spare_fence);
    mapping->fence = NULL;
}

/* Whether a stream of the device can be worked in: CAPTURE, STREAM, naming `function`. */
cc_status cc__data_manager_check_stream(cc__data_manager *manager, const char *function, int32_t device,
                                        cc_stream stream);

/* CC_ERROR_BUSY, saying who excludes the caller; with the lock held. */
cc_status cc__data_manager_fail_busy(const cc__data_manager *manager, const char *function, const cc__mapping *holder);

/* CC_ERROR_UNINITIALIZED; with the lock held. */
cc_status cc__data_manager_fail_undefined(const cc__data_manager *manager, const char *function);

/* The number of cells that is too many; tests lower it. */
extern int32_t cc__cells_before_tidying;

/* The last owner has let go. Waits where it must. */
void cc__data_manager_destroy(cc__data_manager *manager);

/* Nothing uses the site any more but the work under way: frees its memory after that, waiting only where it must. */
void cc__data_manager_let_go(cc__backend *backend, cc_place place, cc__site *site);

#endif
