/*
 * Moves boxes of pixels between the host and one device. First `prepare`: page-locks what is worth it, and cuts the
 * boxes at the borders of what is locked. Then `run`, by the paths that are left for each piece. Where there is much to
 * lock, `run` does that too, so that what is locked moves while the next piece is being locked.
 */
#ifndef CC_MEMORY_MOVEMENT_H
#define CC_MEMORY_MOVEMENT_H

#include "memory/host_memory.h"
#include "memory/paths.h"
#include "memory/pieces.h"

typedef struct cc__copies {
    cc__copy *items;
    int32_t count;
    int32_t capacity;
} cc__copies;

typedef struct cc__movement {
    cc__backend *backend;
    int32_t device;
    cc_stream stream;
    cc__side host; /* which side of the works is on the host: the source up, the destination down */
    unsigned char *bytes;
    cc__host_memory *memory; /* what is known of the memory at `bytes`; NULL: it is the caller's, and never locked */
    cc__copy *works;         /* they may be reordered */
    int32_t count;

    cc__copies in_place; /* each inside one locked range */
    cc__copies staged;
    bool owns_copies; /* else both are parts of `works` */
    bool locks_late;  /* run locks `bounds`; until then both are empty */
    cc__range bounds;
    cc__tally tally;
    size_t locked_bytes;  /* that were page-locked for it */
    bool is_over_on_host; /* after run: nothing that is queued uses the pixels on the host */
} cc__movement;

/* The lists of what moves how. OUT_OF_HOST_MEMORY; then there is nothing to end. */
cc_status cc__movement_prepare(cc__movement *movement);

/*
 * Queues the copies in `stream`. What is staged may be read from the pixels, or written to them, before this returns:
 * so up, what writes the pixels there must be done, and not only be waited for in the stream.
 */
cc_status cc__movement_run(cc__movement *movement);
void cc__movement_end(cc__movement *movement);

/* So few bytes the driver itself moves fastest from or to pageable memory. For tests to lower. */
extern size_t cc__movement_direct_bytes;

/* A stretch of memory, and how much of it moves. */
typedef struct cc__stretch {
    cc__range bytes;
    size_t moving_bytes;
} cc__stretch;

/*
 * Which stretches of the memory are worth page-locking, of those that copies move: joined where they are close, without
 * those of which too little moves. `staged_bytes`: what has had to move through other memory so far. Rewrites
 * `stretches` and returns how many are left, in order. Pure.
 */
int32_t cc__stretches_worth_locking(cc__stretch *stretches, int32_t count, uint64_t staged_bytes);

#endif
