/* Being told what the library does with pixels, when it does it, and why. */
#ifndef CUDACOMMON_TRACE_H
#define CUDACOMMON_TRACE_H

#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/region.h>
#include <cudacommon/state.h>
#include <stdint.h>

CC_BEGIN_DECLS

/* What happened. Later versions may add values. */
typedef enum cc_trace_kind {
    CC_TRACE_COPY_TO_DEVICE = 0, /* from the host */
    CC_TRACE_COPY_TO_HOST = 1,   /* from a device */
    CC_TRACE_COPY_BETWEEN_DEVICES = 2,
    CC_TRACE_FILL = 3,     /* pixels set to the fill value, because somebody looked */
    CC_TRACE_ALLOCATE = 4, /* memory for pixels at a place */
    CC_TRACE_FREE = 5,     /* that memory is about to go */
    CC_TRACE_EVICT = 6,    /* pixels were taken from a place; FREE follows */
    CC_TRACE_REGISTER = 7  /* host memory was page-locked */
} cc_trace_kind;

/* One event. Copies and fills of one access that have kind, places and path in common are one event. */
typedef struct cc_trace_event {
    uint32_t struct_size; /* of the library's; later versions add members at the end */
    int32_t kind;         /* a cc_trace_kind */
    int32_t path;         /* of a copy: a cc_copy_path */
    int32_t box_count;    /* boxes of pixels copied or filled; 0 for memory */
    cc_place from;        /* where the pixels came from */
    cc_place to;          /* where they are now; the same as `from` for what happens at one place */
    uint64_t bytes;       /* copied, filled, allocated, freed or locked; of an eviction, what was freed by it */
    uint64_t pixels_id;   /* of the pixels, in this process; shared by views and grafts: see cc_live_image */
    cc_region box;     /* holds all the boxes; counted from the first of all pixels that are shared; zero for memory */
    const char *label; /* see cc_image_set_label() */
    const char *function; /* the public function that needed it, as in "cc_image_map_host"; "eviction" when it made */
                          /* room for other images; "" when none did */
    const char *reason;   /* in words, for people: "out of date at this place, newest on device 0" */
} cc_trace_event;

/*
 * Called on the thread that caused the event, after it was done or queued, before the call that caused it returns, with
 * no lock of the library held. Events come in the order in which the thread caused them. The event and its strings are
 * borrowed for the call. Any function of the library may be called; what the callback itself causes is not reported to
 * it. Threads call it at the same time.
 */
typedef void (*cc_trace_fn)(const cc_trace_event *event, void *user_data);

/**
 * Has a callback told of every event from now on, of all images of the process, in the place of the one before. NULL:
 * of none. While nobody is told, tracing costs the library one load of a number now and then.
 *
 * The environment variable CUDACOMMON_LOG asks for a text log: "stderr", or the path of a file to append to; one line
 * for each event, as docs/observing.md describes. It is read once, when the library first works on pixels, and is the
 * only thing that makes the library write anything. A file that cannot be opened is no error: there is no log.
 * Copies and allocates nothing.
 * Ownership: user_data stays the caller's; it is used until this is called again.
 * Thread safety: any thread. Blocks until calls of the callback before have returned; not inside a callback, where it
 * returns at once. Since 2.0.
 */
CC_API void cc_set_trace(cc_trace_fn callback, void *user_data);

CC_END_DECLS

#endif
