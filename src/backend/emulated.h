/* What only tests ask of the emulated device. */
#ifndef CC_BACKEND_EMULATED_H
#define CC_BACKEND_EMULATED_H

#include "backend/backend.h"

/* Device memory holds this byte until something writes it; freed memory holds the other. */
#define CC__EMULATED_FRESH 0xCD
#define CC__EMULATED_FREED 0xDD

/*
 * Queued work runs only when something waits for it. With a seed other than 0, each call may also run some of the work
 * that the waits allow, in an order drawn from the seed (CUDACOMMON_EMULATED_SEED sets it for the process's backend).
 */
void cc__emulated_set_seed(cc__backend *backend, uint64_t seed);

/*
 * Queues a host function in a stream, as a kernel would be. It runs in whichever thread waits, with no lock held, and
 * must not itself wait for the device.
 */
typedef void (*cc__emulated_function)(void *argument);
cc_status cc__emulated_launch(cc__backend *backend, int32_t device, cc_stream stream, cc__emulated_function function,
                              void *argument);

/*
 * What a texture unit gives for an object, in a kernel of the emulated device (cc__kernel.on_host): as many values as
 * the object has channels, integers as float. False when there is no such object, or none any more.
 */
bool cc__emulated_fetch(cc__backend *backend, uint64_t object, const float at[3], float out_values[4]);

/* What cudaSetDevice and stream capture would do. */
void cc__emulated_set_current_device(cc__backend *backend, int32_t device); /* of the calling thread */
void cc__emulated_set_capturing(cc__backend *backend, int32_t device, cc_stream stream, bool capturing);

/* The most bytes a device holds; more is OUT_OF_DEVICE_MEMORY. 0: no limit. */
void cc__emulated_set_memory_limit(cc__backend *backend, size_t limit_bytes);

/* What is alive now, for leak checks. */
typedef struct cc__emulated_live {
    int64_t allocations;
    int64_t allocated_bytes;
    int64_t streams;
    int64_t events;
    int64_t registrations;
    int64_t queued; /* pieces of work not run yet */
} cc__emulated_live;
cc__emulated_live cc__emulated_count_live(cc__backend *backend);

#endif
