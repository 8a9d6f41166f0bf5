/* Copies between pageable host memory and a device, through chunks of page-locked memory, by several threads. */
#ifndef CC_MEMORY_STAGING_H
#define CC_MEMORY_STAGING_H

#include "backend/backend.h"
#include "memory/pieces.h"

typedef struct cc__staging {
    cc__backend *backend;
    int32_t device;
    cc_stream stream; /* all copies are queued in it, and so come after what it waits for now */
    cc__side host;    /* which side of the copies is pixels on the host: the source up, the destination down */
    const cc__copy *works;
    int32_t count;
    int64_t bytes;
    bool is_pageable; /* through chunks that are not page-locked: slow, but always to be had */
} cc__staging;

/*
 * Up: returns when the pixels have been read and all copies are queued. Down: returns when the pixels are there. The
 * CPU reads or writes the pixels now: nobody else writes them, or uses them, meanwhile. On failure copies may be under
 * way, but none of them uses the pixels. out_is_done false with CC_OK: no chunk can be page-locked, and nothing was
 * done.
 */
cc_status cc__staging_run(const cc__staging *staging, bool *out_is_done);

#endif
