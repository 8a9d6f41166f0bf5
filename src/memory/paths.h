/* The ways in which pixels move between the host and a device, and which of two is faster. */
#ifndef CC_MEMORY_PATHS_H
#define CC_MEMORY_PATHS_H

#include "backend/backend.h"

#include <stdint.h>

typedef enum cc__path {
    CC__PATH_ENGINE = 0, /* by a copy engine, from or to page-locked memory, or between devices */
    CC__PATH_KERNEL = 1, /* by a kernel that reads or writes page-locked memory */
    CC__PATH_STAGED = 2, /* by the CPU into or out of page-locked chunks, and from there by one of the two */
    CC__PATH_PLAIN = 3   /* by the driver from or to pageable memory */
} cc__path;
#define CC__PATH_COUNT 4

/* What has moved by each. A box that was cut counts as its pieces. */
typedef struct cc__tally {
    uint64_t boxes[CC__PATH_COUNT];
    uint64_t bytes[CC__PATH_COUNT];
} cc__tally;

void cc__tally_add(cc__tally *tally, cc__path path, int64_t boxes, int64_t bytes);
void cc__tally_join(cc__tally *tally, const cc__tally *other);

/*
 * Copies between one device and page-locked memory, in any order. Brings those for which a kernel is worth its launch
 * to the front, and returns how many they are.
 */
int32_t cc__paths_choose(cc__copy *works, int32_t count);

/* Queues such copies, as cc__paths_choose says; they are reordered. tally may be NULL. */
cc_status cc__paths_queue(cc__backend *backend, int32_t device, cc_stream stream, cc__copy *works, int32_t count,
                          cc__tally *tally);

#endif
