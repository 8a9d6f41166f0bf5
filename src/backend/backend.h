/* The table of operations that a kind of device offers, and which one is behind the library. */
#ifndef CC_BACKEND_BACKEND_H
#define CC_BACKEND_BACKEND_H

#include "base/kernel.h"
#include "base/texture.h"
#include "base/work.h"

#include <cudacommon/device.h>
#include <cudacommon/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most devices a backend may have: a set of places fits in 64 bits with room for two more sources. */
#define CC__MAX_DEVICES 61

/* What pixels may pass through on their way into a texture. */
#define CC__TEXTURE_PASSAGE_BYTES ((size_t)64 << 20)

typedef struct cc__backend cc__backend;
typedef struct cc__event cc__event;     /* the backend's own; belongs to one device */
typedef struct cc__texture cc__texture; /* the same */

/*
 * Every operation that can fail returns CC_OK, CC_ERROR_DEVICE, or the narrower status named beside it, with the
 * message set; it may return CC_ERROR_FORKED at any time, and CC_ERROR_STREAM for a stream that the device has not.
 * None changes the caller's current device or pending CUDA error. Nothing blocks the host unless it says so. Devices
 * are checked by the caller. Any thread may call any operation. During process exit, operations that free return CC_OK
 * and do nothing.
 */
struct cc__backend {
    const char *name;
    void *state;
    int32_t device_count;
    const char *absence; /* why there are no devices, in words; NULL when there are some, or nobody knows */

    /* FORKED in a child of a process that used a device; asks nothing of the driver, for what needs nothing else of it.
     */
    cc_status (*check_usable)(cc__backend *self);

    /* The device current on the calling thread; creates no context. */
    cc_status (*current_device)(cc__backend *self, int32_t *out_device);

    /* Uninitialised memory, usable in `stream` at once; OUT_OF_DEVICE_MEMORY. Freed in stream order. */
    cc_status (*allocate)(cc__backend *self, int32_t device, cc_stream stream, size_t size_bytes, void **out_memory);
    cc_status (*free)(cc__backend *self, int32_t device, cc_stream stream, void *memory);

    /* Page-locks host memory for fast asynchronous copies. A refusal costs speed only. */
    cc_status (*host_register)(cc__backend *self, void *memory, size_t size_bytes);
    cc_status (*host_unregister)(cc__backend *self, void *memory);

    /* Whether all of these bytes are in one piece of page-locked host memory, whoever locked it. False when in doubt.
     */
    bool (*host_is_locked)(cc__backend *self, const void *memory, size_t size_bytes);

    /* Which device the memory belongs to; CC_ERROR_POINTER when it is not device memory. */
    cc_status (*memory_device)(cc__backend *self, const void *memory, int32_t *out_device);

    /*
     * Whether a call has found that the device works no more, and never will: nothing runs there from then on. Blocks
     * for nothing; asks the driver only when a call has failed since it was asked last.
     */
    bool (*is_lost)(cc__backend *self, int32_t device);

    /* Whether `to` can copy from `from` without going through the host. */
    bool (*has_peer_access)(cc__backend *self, int32_t to, int32_t from);

    /* Streams of the library's own: they do not synchronise with the legacy default stream. */
    cc_status (*stream_create)(cc__backend *self, int32_t device, cc_stream *out_stream);
    void (*stream_destroy)(cc__backend *self, int32_t device, cc_stream stream);          /* after its work is done */
    cc_status (*stream_synchronize)(cc__backend *self, int32_t device, cc_stream stream); /* blocks; CC_ERROR_CAPTURE */
    cc_status (*stream_is_capturing)(cc__backend *self, int32_t device, cc_stream stream, bool *out_capturing);
    /* Whether all that comes before what is queued in it next is done; asks, queues nothing. CC_ERROR_CAPTURE */
    cc_status (*stream_is_idle)(cc__backend *self, int32_t device, cc_stream stream, bool *out_idle);

    /* Everything queued on the device so far, in whatever stream; blocks. CC_ERROR_CAPTURE: one is being captured. */
    cc_status (*synchronize)(cc__backend *self, int32_t device);

    /* An event marks a point in a stream. One that was never recorded counts as complete. */
    cc_status (*event_create)(cc__backend *self, int32_t device, cc__event **out_event);
    void (*event_destroy)(cc__backend *self, int32_t device, cc__event *event);
    cc_status (*event_record)(cc__backend *self, int32_t device, cc__event *event,
                              cc_stream stream); /* CC_ERROR_CAPTURE */
    cc_status (*event_is_complete)(cc__backend *self, int32_t device, cc__event *event, bool *out_complete);
    cc_status (*event_synchronize)(cc__backend *self, int32_t device, cc__event *event); /* blocks */
    /* `stream` of `device` waits for the event, which may be another device's. */
    cc_status (*stream_wait)(cc__backend *self, int32_t device, cc_stream stream, cc__event *event);

    /*
     * Work queued in `stream` of `device`. copy: between host and device, or devices; each side is host memory or
     * memory of any device. Blocks only while pageable host memory is copied. The others: memory of `device`.
     */
    cc_status (*copy)(cc__backend *self, int32_t device, cc_stream stream, const cc__copy *work);
    cc_status (*fill)(cc__backend *self, int32_t device, cc_stream stream, const cc__fill *work);

    /*
     * Any operation; the work is of the kernel's kind. What it touches is memory of `device`. out_has_written: whether
     * something is queued that writes the work's output; when it fails, that is a part of it.
     */
    cc_status (*run_kernel)(cc__backend *self, int32_t device, cc_stream stream, const cc__kernel *kernel,
                            const void *work, bool *out_has_written);

    /* Calls a function with the device current on the calling thread, and passes its status on. */
    cc_status (*call)(cc__backend *self, int32_t device, cc_status (*function)(void *context), void *context);

    /*
     * Many boxes in one go, by a kernel of `device` that reads and writes both sides itself: for narrow rows, which
     * copy engines are slow at. Each side is memory of `device`, or host memory that host_register took in one piece.
     */
    cc_status (*copy_boxes)(cc__backend *self, int32_t device, cc_stream stream, const cc__copy *works, int32_t count);

    /*
     * Arrays that kernels read through texture units. create: with anything in them; OUT_OF_DEVICE_MEMORY, UNSUPPORTED.
     * update: fills them, in `stream`, from pixels of `device`: source is the first of them, with the strides;
     * OUT_OF_DEVICE_MEMORY when CC__TEXTURE_PASSAGE_BYTES cannot be had meanwhile. objects: for one way of reading,
     * form.object_count of them, which live as long as the texture; one call at a time for each texture. destroy:
     * nothing uses it any more.
     */
    cc_status (*texture_create)(cc__backend *self, int32_t device, const cc__texture_form *form,
                                cc__texture **out_texture);
    cc_status (*texture_update)(cc__backend *self, int32_t device, cc_stream stream, cc__texture *texture,
                                const cc__span *source);
    cc_status (*texture_objects)(cc__backend *self, int32_t device, cc__texture *texture, const cc__sampling *sampling,
                                 uint64_t out_objects[CC_TEXTURE_MAX_OBJECTS]);
    void (*texture_destroy)(cc__backend *self, int32_t device, cc__texture *texture);

    /*
     * A number that the stream shares with no other of the process, also after it is destroyed; 0 when there is none,
     * and while the stream is being captured.
     */
    uint64_t (*stream_id)(cc__backend *self, int32_t device, cc_stream stream);

    /* Bytes of the device's memory. Creates no context. UNSUPPORTED where that cannot be asked. */
    cc_status (*memory_info)(cc__backend *self, int32_t device, size_t *out_free_bytes, size_t *out_total_bytes);

    /* Gives memory that is kept for reuse back to the driver, down to this many bytes. */
    cc_status (*trim)(cc__backend *self, int32_t device, size_t keep_bytes);

    /* A named range on the calling thread, for a profiler to show; they nest. Nothing without a profiler. */
    void (*range_push)(cc__backend *self, const char *name);
    void (*range_pop)(cc__backend *self);
};

/* The backend of this process, chosen on the first call: see cc_device_backend_name(). Never NULL. */
cc__backend *cc__backend_get(void);

/* CC_OK when `device` is one of the backend's; else NO_DEVICE (there are none) or INVALID_DEVICE, naming `function`. */
cc_status cc__backend_check_device(cc__backend *backend, const char *function, int32_t device);

/* For tests: puts another in its place, NULL for the first choice again. No image may be alive. */
void cc__backend_set(cc__backend *backend);

/* The kinds. cc__backend_none has no devices. The others return NULL when they cannot be had. */
cc__backend *cc__backend_none(void);
cc__backend *cc__backend_emulated_create(int32_t device_count);
void cc__backend_emulated_destroy(cc__backend *backend);
/* NULL in a build without CUDA; with device_count 0, and absence, when there is no driver or GPU. */
cc__backend *cc__backend_cuda(void);

#endif
