/*
 * Carries out a plan: memory for the place, the copies and fills, the fences. In three parts, so that nobody waits and
 * nothing is copied while the lock is held.
 */
#ifndef CC_DATA_MANAGER_TRANSFER_H
#define CC_DATA_MANAGER_TRANSFER_H

#include "data_manager/internal.h"
#include "data_manager/plan.h"
#include "memory/paths.h"

/* The part of a transfer that one device's stream carries. */
typedef struct cc__lane {
    int32_t device;
    cc_stream stream;
    cc__fences waits;      /* before the work */
    cc__fences host_waits; /* before the CPU reads pixels for the lane, on their way up; they are among the waits */
    cc__fence *done;       /* after the work */
    bool started;
    bool uses_host;     /* something in the stream uses the pixels on the host */
    bool has_read_host; /* nothing does: the CPU has read them */
    bool is_settled;    /* all of it is done already */
    bool is_stranded;   /* it has failed, and waiting for what was queued has too */
} cc__lane;

/* A use of a place by a lane, for the place's timeline; with the place's memory, as far as it is read. */
typedef struct cc__touch {
    int32_t lane;
    cc_place place;
    cc__use use;
    cc__box box;
    cc__place_memory memory;
} cc__touch;

/* A plan of a few steps, as most are, needs no memory of its own. */
#define CC__TRANSFER_INLINE_STEPS CC__PLAN_INLINE_STEPS

typedef struct cc__transfer {
    cc__data_manager *manager;
    cc__backend *backend; /* NULL when no device takes part */
    cc_place place;
    const cc__plan *plan;
    const cc__box *box;       /* all of it is valid at the place afterwards; NULL: the steps' boxes are */
    bool synchronizes;        /* come back only when the pixels are there */
    bool allocates;           /* the place has no memory yet */
    cc__place_memory target;  /* the place's memory as it is, or as it will be */
    cc__allocator *allocator; /* for new memory; NULL: whatever the process has */
    cc__fences host_waits;    /* before the CPU writes host memory */
    cc__lane *lanes;
    int32_t lane_count;
    cc__touch *touches;
    int32_t touch_count;
    cc__copy *works; /* copies that a lane collects, the next after those of the lane before */
    int32_t work_count;
    int32_t work_capacity;
    cc__tally moved;       /* between the host and devices, by the paths that were taken */
    uint64_t locked_bytes; /* of host memory, that were page-locked for it */
    bool keeps_memory;     /* it has failed, and a lane is stranded */
    bool has_claim;
    cc__box claimed;
    cc__lane inline_lanes[CC__TRANSFER_INLINE_STEPS + 1];
    cc__touch inline_touches[2 * (CC__TRANSFER_INLINE_STEPS + 1)];
    cc__copy inline_works[CC__TRANSFER_INLINE_STEPS];
} cc__transfer;

/* With the lock held: everything that can fail for want of bookkeeping memory. On failure nothing is left behind. */
cc_status cc__transfer_prepare(cc__transfer *transfer, cc__data_manager *manager, const cc__plan *plan,
                               const cc__box *box, cc_place place, bool synchronizes);

/* Without the lock. On failure nothing of it is under way any more, but for lanes that are stranded. */
cc_status cc__transfer_run(cc__transfer *transfer);

/* With the lock held: gives up what preparing it has taken. */
void cc__transfer_discard(cc__transfer *transfer);

/* With the lock held, after run: installs the memory, notes the work, and makes the boxes valid. Ends the transfer
 * either way. */
cc_status cc__transfer_finish(cc__transfer *transfer, cc_status run_status);

/* With the lock held: waits until no other thread is filling this box of the place, or making the place's memory. */
void cc__transfer_wait_for_claims(cc__data_manager *manager, cc_place place, const cc__box *box);
bool cc__transfer_has_claim(const cc__data_manager *manager, cc_place place, const cc__box *box);

/*
 * With the lock held, which is given up meanwhile. The caller has a mapping of the boxes, so that nobody writes their
 * pixels. execute: carries out a plan. bring: makes and carries out the plan that makes the box valid at the place;
 * when `reads` is false it only gives the place memory. UNINITIALIZED with CC__PLAN_STALE, and whatever a transfer
 * returns.
 */
cc_status cc__data_manager_execute(cc__data_manager *manager, const cc__plan *plan, const cc__box *box, cc_place place,
                                   bool synchronizes);
cc_status cc__data_manager_bring(cc__data_manager *manager, const char *function, const cc__box *box, cc_place place,
                                 bool reads, cc__plan_scope scope, bool synchronizes);

#endif
