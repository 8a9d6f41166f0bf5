#include "backend/default_stream.h"

#include <stdatomic.h>

/* As many as hold any device's number. */
#define DEVICE_BITS 6

uint64_t cc__thread_number(void)
{
    static _Atomic uint64_t latest;
    static _Thread_local uint64_t own;
    if (own == 0)
        own = atomic_fetch_add(&latest, 1) + 1;
    return own;
}

uint64_t cc__default_stream_id(int32_t device, cc_stream stream)
{
    const uint64_t thread = stream == CC_STREAM_PER_THREAD ? cc__thread_number() : 0;
    return UINT64_C(1) << 63 | thread << DEVICE_BITS | (uint64_t)device;
}
