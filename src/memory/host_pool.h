/*
 * Host memory that images have let go of, kept for the next one. Page-locked memory, since locking is what takes long;
 * and large memory that is not, which the system may take back when it is short: to write to new pages takes three
 * times as long as to those that are there. The latter goes first where the limit wants something to go.
 */
#ifndef CC_MEMORY_HOST_POOL_H
#define CC_MEMORY_HOST_POOL_H

#include "memory/host_memory.h"

/* Memory of at least this size, and not much more, rather page-locked; NULL when none is kept. It is not zero. */
cc__host_memory *cc__host_pool_take(size_t size_bytes);

/* Takes the memory over, giving up older memory where the limit wants it. False: it is not worth keeping. */
bool cc__host_pool_keep(cc__host_memory *memory);

/* Takes over memory that copies may still be using. It is not used again, and goes when everything is given up. */
void cc__host_pool_put_aside(cc__host_memory *memory);

/* Gives up the page-locked memory that has been here longest. False when there is none. */
bool cc__host_pool_drop_locked(void);
void cc__host_pool_trim(size_t keep_bytes);

size_t cc__host_pool_bytes(void);
size_t cc__host_pool_locked_bytes(void); /* of these, in memory that is page-locked */
size_t cc__host_pool_limit(void);        /* at first an eighth of the machine's memory, at most 8 GiB */
void cc__host_pool_set_limit(size_t limit_bytes);

#endif
