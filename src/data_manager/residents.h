/*
 * What data managers have on each device, in the order in which it is given up: lower priority first, then what need
 * not be copied, then what was used longest ago.
 *
 * The order is a heap that is put right only when something is to be given up: using pixels stores a number in the
 * resident, and nothing else. Adding one costs the same however many there are; finding the first costs the logarithm
 * of their number for each that was used since, or is busy. The lock of a device's list is never held while another is
 * taken.
 */
#ifndef CC_DATA_MANAGER_RESIDENTS_H
#define CC_DATA_MANAGER_RESIDENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct cc__data_manager cc__data_manager;

typedef struct cc__resident {
    _Atomic uint64_t last_used;
    cc__data_manager *manager; /* NULL when it is in no list */
    int32_t device;
    int32_t priority;
    bool is_dirty;    /* was found to be the only place of some pixels; cleared when that may have changed */
    uint64_t used_by; /* what last_used was when the resident got its place in the heap */
    struct cc__resident *child;
    struct cc__resident *next;
    struct cc__resident *previous; /* of the first child: its parent */
    struct cc__resident **aside;   /* the round that has set it aside, by the head of that list */
} cc__resident;

/* Notes that the pixels are used now. */
void cc__resident_use(cc__resident *resident);

/* With the data manager's lock held, or by its last owner. remove: also when it is in no list. */
void cc__residents_add(cc__resident *resident, cc__data_manager *manager, int32_t device, int32_t priority);
void cc__residents_remove(cc__resident *resident);
void cc__residents_set_priority(cc__resident *resident, int32_t priority);
void cc__residents_set_dirty(cc__resident *resident, bool is_dirty);

/* One walk through a device's list, first things first; several threads may each be on one. */
typedef struct cc__residents_round {
    int32_t device;
    uint64_t successes;  /* of all rounds, when this one began */
    cc__resident *aside; /* what has been offered and stays, for this round */
} cc__residents_round;
void cc__residents_begin(cc__residents_round *round, int32_t device);
/*
 * The next, set aside until the round ends; NULL when there is none. Its data manager is retained for the caller.
 * set_dirty() puts it back, to be offered again after what is clean.
 */
cc__resident *cc__residents_next(cc__residents_round *round, cc__data_manager **out_manager, bool *out_is_dirty);
/*
 * freed: something was given up. Returns whether there may be room now that was not there when the round began. When it
 * found nothing but other rounds are under way, which may be giving up the very things that it did not find, waits for
 * one of them. The caller holds no lock.
 */
bool cc__residents_end(cc__residents_round *round, bool freed);

#endif
