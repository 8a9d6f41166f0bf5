/* How much host memory may be page-locked, over all images and all that is kept for reuse. */
#ifndef CC_MEMORY_PAGE_LOCKING_H
#define CC_MEMORY_PAGE_LOCKING_H

#include "backend/backend.h"

#include <stdbool.h>
#include <stddef.h>

/* At first half of the machine's memory, or what the environment variable CUDACOMMON_PINNED_LIMIT says. */
size_t cc__page_locking_limit(void);
void cc__page_locking_set_limit(size_t limit_bytes); /* what is locked stays so */
size_t cc__page_locking_bytes(void);
/* Whether so much more may be locked, once what is kept for reuse is given up for it. */
bool cc__page_locking_fits(size_t size_bytes);

/*
 * Page-locks memory, as far as the limit goes: memory that is kept for reuse is given up for it. False, without an
 * error being reported, when it cannot be. out_is_refused (or NULL): whether trying again later makes no sense.
 */
bool cc__page_lock(cc__backend *backend, void *memory, size_t size_bytes, bool *out_is_refused);
void cc__page_unlock(cc__backend *backend, void *memory, size_t size_bytes);

#endif
