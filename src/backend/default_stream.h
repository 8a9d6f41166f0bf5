/* The default streams, which exist without being made: their numbers among all streams of the process. */
#ifndef CC_BACKEND_DEFAULT_STREAM_H
#define CC_BACKEND_DEFAULT_STREAM_H

#include <cudacommon/device.h>
#include <stdbool.h>
#include <stdint.h>

/* CUDA has two names for the legacy default stream, 0 and 1. */
static inline bool cc__is_default_stream(cc_stream stream)
{
    return (uintptr_t)stream <= (uintptr_t)CC_STREAM_PER_THREAD;
}

/* Unlike the system's own number of a thread, never used again. At least 1. */
uint64_t cc__thread_number(void);

/* A number for a default stream of the device; the calling thread's own when it is its. Has the topmost bit set. */
uint64_t cc__default_stream_id(int32_t device, cc_stream stream);

#endif
