/* Allocators of the caller's: shared by all that got memory from them, so that it finds its way back. */
#ifndef CC_MEMORY_ALLOCATORS_H
#define CC_MEMORY_ALLOCATORS_H

#include <cudacommon/memory.h>
#include <cudacommon/status.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct cc__allocator cc__allocator;

/* Checks what comes from a caller; NULL gives NULL. INVALID_ARGUMENT, OUT_OF_HOST_MEMORY, naming `function`. */
cc_status cc__allocator_create(const char *function, const cc_allocator *allocator, cc__allocator **out_allocator);
cc__allocator *cc__allocator_retain(cc__allocator *allocator); /* both accept NULL */
void cc__allocator_release(cc__allocator *allocator);
void cc__allocator_discard(cc__allocator *allocator); /* one that nobody has used: `release` is not called */

/* No lock is held. OUT_OF_HOST_MEMORY or OUT_OF_DEVICE_MEMORY, also for memory that is not aligned. */
cc_status cc__allocator_allocate(cc__allocator *allocator, cc_place place, cc_stream stream, size_t size_bytes,
                                 size_t alignment_bytes, void **out_memory);
void cc__allocator_free(cc__allocator *allocator, cc_place place, cc_stream stream, size_t size_bytes, void *memory);

/* The process's allocator, with a reference for the caller; NULL for the library's own memory. */
cc__allocator *cc__allocator_of_process(bool on_host);

#endif
