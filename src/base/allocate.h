/* Memory for the library's own bookkeeping and for pixels on the host. NULL when there is none; nothing is reported. */
#ifndef CC_BASE_ALLOCATE_H
#define CC_BASE_ALLOCATE_H

#include <stdbool.h>
#include <stddef.h>

void *cc__allocate(size_t size_bytes); /* zeroed */
void *cc__reallocate(void *memory, size_t size_bytes);
void cc__free(void *memory);

/*
 * Whole pages straight from the system, zero, taking up RAM only where they are touched; for pixels. From 4 MiB on they
 * begin at a multiple of 2 MiB, and are huge where the system has those. cc__pages_free takes the same size.
 */
void *cc__pages_allocate(size_t size_bytes);
void cc__pages_free(void *memory, size_t size_bytes);
/*
 * Lets the system take the RAM of these pages when it is short, with what is in them, until they are written to. False:
 * it has no such thing.
 */
bool cc__pages_offer(void *memory, size_t size_bytes);

/*
 * For tests: asked before every allocation, true makes it fail. NULL (the default) lets all through.
 * cc__allocations_live counts what is not freed yet.
 */
typedef bool (*cc__allocate_hook)(size_t size_bytes);
void cc__allocate_set_hook(cc__allocate_hook hook);
long cc__allocations_live(void);

#endif
