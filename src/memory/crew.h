/* Threads that share one piece of work, and are gone when it is done. */
#ifndef CC_MEMORY_CREW_H
#define CC_MEMORY_CREW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most threads that work together. */
#define CC__CREW_MOST 64

/* For tests: how many cores to believe in; 0 (the default) asks the system. */
extern int32_t cc__crew_cores;

/*
 * How many threads pay for this many bytes: one for each `bytes_each` up to 16, and with more for each of them, since
 * the last of many waits until the others have been made; no more than `most` or than there are cores.
 */
int32_t cc__crew_size(size_t bytes, size_t bytes_each, int32_t most);

/*
 * `count` items that a crew takes in shares: `usual` at a time, but as many as a huge page of what they write holds as
 * long as there is enough for all. Threads that touch one new page at the same time each clear all of it, and all but
 * one do so in vain. item_bytes: what an item writes, after the one before.
 */
typedef struct cc__crew_shares {
    int64_t count;
    int64_t usual;
    int64_t large;
    int64_t large_shares; /* the first so many */
    _Atomic int64_t next;
} cc__crew_shares;
void cc__crew_shares_make(cc__crew_shares *out_shares, int64_t count, int64_t usual, size_t item_bytes,
                          int32_t threads);
/* False: all are taken. */
bool cc__crew_shares_take(cc__crew_shares *shares, int64_t *out_first, int64_t *out_count);

/*
 * Calls `work` in up to `size` threads at once, one of them the caller's, and returns when all have come back. `work`
 * takes its share from `context` until nothing is left, so that it does not matter how many there are: when the system
 * gives no more threads, fewer do it. Signals are for the caller's threads: ours take none.
 */
typedef void (*cc__crew_work)(void *context);
void cc__crew_run(int32_t size, cc__crew_work work, void *context);

/* One thread that works beside the caller's, until it comes back. False when the system gives none. */
typedef struct cc__crew_member {
    pthread_t thread;
    cc__crew_work work;
    void *context;
} cc__crew_member;
bool cc__crew_start(cc__crew_member *member, cc__crew_work work, void *context);
void cc__crew_join(cc__crew_member *member);

#endif
