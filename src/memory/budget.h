/*
 * How much device memory the library's own images may hold, and how much they hold. Freed memory counts as free at
 * once, though the device may still be using it: the backend's allocation waits for that. Any thread; no locks.
 */
#ifndef CC_MEMORY_BUDGET_H
#define CC_MEMORY_BUDGET_H

#include "backend/backend.h"

#include <stddef.h>

typedef struct cc__budget {
    size_t limit_bytes;    /* 0: none */
    size_t headroom_bytes; /* of the device, to be left free */
} cc__budget;

void cc__budget_set(int32_t device, const cc__budget *budget);
cc__budget cc__budget_get(int32_t device);
size_t cc__budget_held_bytes(int32_t device);

/* Counts these bytes as held, if that keeps within limit and headroom. OUT_OF_DEVICE_MEMORY. */
cc_status cc__budget_take(cc__backend *backend, int32_t device, size_t size_bytes);
void cc__budget_give_back(int32_t device, size_t size_bytes);

/* Bytes to give back before `size_bytes` more keep within the limit. */
size_t cc__budget_excess(int32_t device, size_t size_bytes);

/* Whether `size_bytes` could be had if nothing else were held. */
bool cc__budget_could_hold(cc__backend *backend, int32_t device, size_t size_bytes);

#endif
