/*
 * Chunks of page-locked memory, shared by all images, through which pageable memory moves to devices and back. A chunk
 * belongs to whoever took it. Given back, it may still be in use by copies that are queued; whoever gets it next waits.
 */
#ifndef CC_MEMORY_CHUNKS_H
#define CC_MEMORY_CHUNKS_H

#include "backend/backend.h"

#include <stdbool.h>
#include <stddef.h>

/* Small ones, for a few pixels, are parts of one large one. */
#define CC__CHUNK_BYTES ((size_t)2 << 20)
#define CC__CHUNK_SMALL_BYTES ((size_t)64 << 10)

/* The most boxes in one chunk. */
#define CC__CHUNK_BOXES 64

typedef enum cc__chunk_use {
    CC__CHUNK_IDLE = 0,
    CC__CHUNK_QUEUED = 1, /* until `event` */
    CC__CHUNK_UNKNOWN = 2 /* no event could be recorded: until all of `stream` is done */
} cc__chunk_use;

typedef struct cc__slab cc__slab;

typedef struct cc__chunk {
    struct cc__chunk *next;
    cc__slab *slab;
    unsigned char *bytes;
    size_t size_bytes;
    bool is_locked; /* else copies are done when they return */
    cc__chunk_use use;
    int32_t device; /* whose event it is */
    cc__event *event;
    cc_stream stream; /* where it was used last */

    int32_t box_count;
    cc__copy on_device[CC__CHUNK_BOXES]; /* each box, between the chunk and the device */
    cc__copy on_host[CC__CHUNK_BOXES];   /* the same box, between the chunk and the pixels */
} cc__chunk;

/*
 * A chunk for work on `device`, for so many bytes if they are at most CC__CHUNK_BYTES; nothing uses it any more.
 * out_chunk NULL: nothing more can be page-locked. take_pageable: one that is not. OUT_OF_HOST_MEMORY, DEVICE.
 */
cc_status cc__chunk_take(cc__backend *backend, int32_t device, size_t size_bytes, cc__chunk **out_chunk);
cc_status cc__chunk_take_pageable(cc__backend *backend, cc__chunk **out_chunk);
void cc__chunk_give(cc__chunk *chunk);

/* Notes that copies are queued in `stream` which use the chunk. When that fails, they are not known to be done before
 * the stream is, so it must be one of the library's own, which stay. */
cc_status cc__chunk_mark(cc__chunk *chunk, cc_stream stream);
/* Waits for the copies. */
cc_status cc__chunk_settle(cc__chunk *chunk);

size_t cc__chunks_bytes(void);
/* Gives back those that nobody has. Blocks for copies under way. */
void cc__chunks_trim(void);
/* The same, for tests: also those whose copies cannot be waited for, because the device is lost. */
void cc__chunks_reset(void);

#endif
