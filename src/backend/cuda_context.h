/* The devices, their contexts, and how an operation enters one without the caller noticing. */
#ifndef CC_BACKEND_CUDA_CONTEXT_H
#define CC_BACKEND_CUDA_CONTEXT_H

#include "backend/backend.h"
#include "backend/cuda_driver.h"
#include "backend/program_table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* More than there are kernels; a power of two. */
#define CC__CUDA_KERNEL_SLOTS 128

/*
 * Events that nobody uses now, kept since making one costs more than all else that a mapping does. Threads are spread
 * over several shelves; one that finds its shelf busy does without.
 */
#define CC__CUDA_EVENT_SHELVES 8
#define CC__CUDA_EVENTS_PER_SHELF 256
typedef struct cc__cuda_event_shelf {
    _Alignas(64) atomic_bool is_busy;
    int32_t count;
    cc__event *first;
} cc__cuda_event_shelf;

/* A kernel's host symbol, and what it is called on one device; the function is NULL until it has been looked up. */
typedef struct cc__cuda_kernel {
    _Atomic(const void *) symbol;
    _Atomic(CUfunction) function;
} cc__cuda_kernel;

typedef struct cc__cuda_device {
    int32_t ordinal;
    CUdevice handle;
    int32_t multiprocessor_count;
    bool has_pools;
    bool reaches_host; /* host memory that is registered, at its own address */
    int64_t max_pitch_bytes;

    pthread_mutex_t lock;       /* for making what follows, and for recording `freed` */
    _Atomic(CUcontext) context; /* the primary one, retained from the first use until the process ends */
    atomic_bool is_lost;
    _Atomic uint32_t asked_at; /* how many final errors there were when it was last found to work */
    _Atomic(CUmemoryPool) pool;
    CUevent freed;
    CUstream drain; /* waits for every free there was; see cuda_memory.c */

    atomic_uchar peer[CC__MAX_DEVICES]; /* CC__CUDA_PEER_...: this device using the other's memory */
    cc__cuda_kernel kernels[CC__CUDA_KERNEL_SLOTS];
    cc__program_table programs;
    cc__cuda_event_shelf events[CC__CUDA_EVENT_SHELVES];
} cc__cuda_device;

#define CC__CUDA_PEER_KNOWN 1u   /* CAN has been asked for */
#define CC__CUDA_PEER_CAN 2u     /* the hardware allows it */
#define CC__CUDA_PEER_ENABLED 4u /* it has been switched on, as far as it goes */

/* Starts the driver, without a context, and sets state and device_count; 0 when there is no using it. Called once. */
void cc__cuda_start(cc__backend *self);

cc__cuda_device *cc__cuda_device_at(const cc__backend *self, int32_t device);

/* CC_OK while the driver can be called; CC_ERROR_FORKED in a child, CC_ERROR_DEVICE when the process is ending. */
cc_status cc__cuda_usable(void);

/* True when nothing needs to be freed any more: the process is ending, or this is a child that owns nothing. */
bool cc__cuda_is_over(void);

/* What to put back when an operation leaves a device. */
typedef struct cc__cuda_guard {
    cc__cuda_device *device;
    bool is_pushed;
    bool is_relaxed;
    CUstreamCaptureMode capture_mode;
} cc__cuda_guard;

/*
 * Makes the device's context current, below it the caller's; and lets unsafe calls (allocating, querying events) pass
 * while somebody captures a stream: none of ours belongs in a graph. Every success is followed by cc__cuda_leave().
 * _to_free gives the plain result, for cc__driver_free_status().
 */
cc_status cc__cuda_enter(const cc__backend *self, int32_t device, cc__cuda_guard *out_guard);
CUresult cc__cuda_enter_to_free(const cc__backend *self, int32_t device, cc__cuda_guard *out_guard);
/*
 * The same, cheaper: _stream for calls on a stream, which find the context by themselves unless it is a default stream,
 * and are safe beside a capture; _event for calls on an event that are not safe beside one.
 */
cc_status cc__cuda_enter_stream(const cc__backend *self, int32_t device, cc_stream stream, cc__cuda_guard *out_guard);
cc_status cc__cuda_enter_event(const cc__backend *self, int32_t device, cc__cuda_guard *out_guard);
void cc__cuda_leave(const cc__cuda_guard *guard);

/* A device whose context exists already; the current one when there is none. */
cc_status cc__cuda_any_device(cc__backend *self, int32_t *out_device);

/* The device's context, for calls that name one beside the current one. */
cc_status cc__cuda_context_of(const cc__backend *self, int32_t device, CUcontext *out_context);

/* Lets a device that is entered use the memory of `other` directly, if it can. A refusal costs speed only. */
void cc__cuda_enable_access(cc__backend *self, cc__cuda_device *device, int32_t other);

/* Operations of the backend's table. */
cc_status cc__cuda_current_device(cc__backend *self, int32_t *out_device);
bool cc__cuda_is_lost(cc__backend *self, int32_t device);
bool cc__cuda_has_peer_access(cc__backend *self, int32_t to, int32_t from);

#endif
