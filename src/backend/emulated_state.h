/* What the emulated device is made of: streams of late work, and blocks of memory. Everything is under one lock. */
#ifndef CC_BACKEND_EMULATED_STATE_H
#define CC_BACKEND_EMULATED_STATE_H

#include "backend/backend.h"
#include "backend/emulated.h"
#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>

#define CC__EMULATED_MAX_DEVICES 61

/* The driver's own codes (CUresult) for what the emulated device refuses, as the real one would report them. */
enum {
    CC__NATIVE_INVALID_VALUE = 1,
    CC__NATIVE_OUT_OF_MEMORY = 2,
    CC__NATIVE_INVALID_HANDLE = 400,
    CC__NATIVE_ILLEGAL_ADDRESS = 700,
    CC__NATIVE_ALREADY_REGISTERED = 712,
    CC__NATIVE_NOT_REGISTERED = 713,
    CC__NATIVE_CAPTURE_UNSUPPORTED = 900
};

typedef struct cc__stream cc__stream;

/* A point in a stream, which events, waits and the host share: it outlives the event that was recorded there. */
typedef struct cc__mark {
    cc__stream *stream;    /* valid until done */
    struct cc__mark *next; /* of those that one call waits for */
    int32_t references;
    bool done;
} cc__mark;

/* Device memory, or host memory that is registered. */
typedef struct cc__block {
    struct cc__block *next;
    unsigned char *data;
    size_t size_bytes;
    uint64_t id;        /* never used again, unlike the address */
    int32_t device;     /* CC_PLACE_HOST when registered */
    cc__mark *freed_at; /* once the caller has freed it: then it is there, but only for work queued before */
} cc__block;

typedef enum cc__task_kind {
    CC__TASK_MARK, /* nothing but its mark */
    CC__TASK_WAIT,
    CC__TASK_COPY,
    CC__TASK_FILL,
    CC__TASK_KERNEL,
    CC__TASK_POISON, /* makes memory fresh where the stream has got to its allocation */
    CC__TASK_FREE,
    CC__TASK_FUNCTION
} cc__task_kind;

/* The most blocks that a task works on. */
#define CC__TASK_BLOCKS CC__KERNEL_RANGES

typedef struct cc__task {
    struct cc__task *next;
    cc__task_kind kind;
    cc__mark *mark;                      /* done when the task has run; may be NULL */
    cc__mark *awaited;                   /* of WAIT */
    uint64_t block_ids[CC__TASK_BLOCKS]; /* what must still be there when the task runs; 0: nothing */
    union {
        cc__copy copy;
        cc__fill fill;
        struct {
            const cc__kernel *kernel;
            void *work; /* the task's own */
        } run;
        struct {
            cc__emulated_function call;
            void *argument;
        } function;
    } work;
} cc__task;

struct cc__stream {
    cc__stream *next;
    cc_stream handle;   /* 0: the device's default stream, 2: a thread's, else the library's own, never used again */
    uint64_t id;        /* of a stream of the library's own: no other in the process has it, ever */
    uint64_t thread_id; /* of a thread's default stream */
    int32_t device;
    int32_t queued;
    cc__task *first;
    cc__task **last; /* where the next task is linked */
    bool running;    /* the first task is a host function, and runs now */
    bool capturing;
    bool destroyed; /* goes away with its last task */
};

struct cc__event {
    struct cc__event *next;
    struct cc__event **link; /* what points at this one */
    cc__mark *latest;        /* NULL: never recorded */
    int32_t device;
};

typedef struct cc__emulated_device {
    size_t held_bytes;         /* allocated and not freed by the caller */
    size_t present_bytes;      /* the same, and what waits to be freed */
    const char *lost;          /* why nothing works any more; NULL: it does */
    atomic_bool is_found_lost; /* some call has failed for it */
} cc__emulated_device;

typedef struct cc__emulated {
    cc__backend table;
    pthread_mutex_t lock;
    pthread_cond_t function_ended;
    cc__stream *streams;
    cc__event *events;
    cc__block *blocks; /* oldest first */
    cc__texture *textures;
    uint64_t next_object; /* of textures; never used again */
    uint64_t next_stream;
    uint64_t next_block;
    uint64_t random; /* 0: nothing runs before it must */
    size_t limit_bytes;
    cc__emulated_device devices[CC__EMULATED_MAX_DEVICES];
} cc__emulated;

/* Takes the lock, and lets a seeded device drift. Unlocking passes the status on. */
cc__emulated *cc__emulated_lock(cc__backend *self);
cc_status cc__emulated_unlock(cc__emulated *emulated, cc_status status);

/* Reports what the driver would refuse. Names the status it returns, so that clang-tidy sees a failure in it. */
#define CC__EMULATED_REFUSE(native_error, ...)                                                                         \
    (cc__fail_native(CC_ERROR_DEVICE, (native_error), __VA_ARGS__), CC_ERROR_DEVICE)

/* The failures that most operations share. */
cc_status cc__emulated_no_memory(const char *operation);
cc_status cc__emulated_refuse_capture(cc_status status, const char *operation, cc_stream handle);
cc_status cc__emulated_check_not_lost(cc__emulated *emulated, const char *operation, int32_t device);

/*
 * Streams. A function that runs tasks may let go of the lock while a host function runs, so that streams and blocks
 * found before must be looked up again after it.
 */

/*
 * The stream behind a handle, with room for one more task; runs the oldest ones for that. A thread's default stream is
 * made when it is first asked for. Fails with CC_ERROR_DEVICE when the handle is no stream of the device.
 */
cc_status cc__emulated_find_stream(cc__emulated *emulated, const char *operation, int32_t device, cc_stream handle,
                                   cc__stream **out_stream);
/* The same, for new work: not on a lost device, nor in a stream that is being captured. */
cc_status cc__emulated_find_open_stream(cc__emulated *emulated, const char *operation, int32_t device, cc_stream handle,
                                        cc__stream **out_stream);
cc__stream *cc__emulated_add_stream(cc__emulated *emulated, int32_t device, cc_stream handle); /* NULL: no memory */
void cc__emulated_retire_stream(cc__emulated *emulated, cc__stream *stream);

/* A zeroed task, with a mark (one reference, the task's) when asked for. NULL: no memory. */
cc__task *cc__emulated_create_task(cc__task_kind kind, bool marked);
void cc__emulated_destroy_task(cc__task *task);
void cc__emulated_queue(cc__stream *stream, cc__task *task); /* the task becomes the stream's */

cc__mark *cc__emulated_retain_mark(cc__mark *mark); /* NULL is allowed, here and below */
void cc__emulated_release_mark(cc__mark *mark);

/* Runs what the mark needs, nothing more. */
void cc__emulated_wait(cc__emulated *emulated, cc__mark *mark);

/* With a seed: runs a few tasks that could run now. */
void cc__emulated_drift(cc__emulated *emulated);

/* Drops streams and their tasks, without running them. */
void cc__emulated_drop_streams(cc__emulated *emulated);

/* Memory. */

/* Fresh memory of the device; OUT_OF_DEVICE_MEMORY. May run tasks: what was freed has to be gone first. */
cc_status cc__emulated_allocate_block(cc__emulated *emulated, int32_t device, size_t size_bytes, cc__block **out_block);
/* Host memory, as registered: the block tells of it and does not own it. NULL: no memory for that. */
cc__block *cc__emulated_register_block(cc__emulated *emulated, unsigned char *data, size_t size_bytes);
cc__block *cc__emulated_block_by_id(cc__emulated *emulated, uint64_t id);
/* A block that shares a byte with the range: the only one if the range is inside it. NULL: none does. */
cc__block *cc__emulated_block_at(cc__emulated *emulated, const unsigned char *first, size_t size_bytes);
/* Poisons and frees device memory; forgets host memory. */
void cc__emulated_remove_block(cc__emulated *emulated, cc__block *block);

/* The block of the device that holds the whole box; refuses anything else, naming the operation and the side. */
cc_status cc__emulated_find_block(cc__emulated *emulated, const char *operation, const char *side, int32_t device,
                                  const cc__span *span, const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes,
                                  cc__block **out_block);

/* Operations of the table that concern memory and work; those of streams and events stand beside the table. */
cc_status cc__emulated_allocate(cc__backend *self, int32_t device, cc_stream handle, size_t size_bytes,
                                void **out_memory);
cc_status cc__emulated_free(cc__backend *self, int32_t device, cc_stream stream, void *memory);
cc_status cc__emulated_host_register(cc__backend *self, void *memory, size_t size_bytes);
cc_status cc__emulated_host_unregister(cc__backend *self, void *memory);
bool cc__emulated_host_is_locked(cc__backend *self, const void *memory, size_t size_bytes);
cc_status cc__emulated_memory_device(cc__backend *self, const void *memory, int32_t *out_device);
cc_status cc__emulated_memory_info(cc__backend *self, int32_t device, size_t *out_free_bytes, size_t *out_total_bytes);
cc_status cc__emulated_trim(cc__backend *self, int32_t device, size_t keep_bytes);
cc_status cc__emulated_copy(cc__backend *self, int32_t device, cc_stream stream, const cc__copy *work);
cc_status cc__emulated_copy_boxes(cc__backend *self, int32_t device, cc_stream stream, const cc__copy *works,
                                  int32_t count);
cc_status cc__emulated_fill(cc__backend *self, int32_t device, cc_stream stream, const cc__fill *work);
cc_status cc__emulated_texture_create(cc__backend *self, int32_t device, const cc__texture_form *form,
                                      cc__texture **out_texture);
cc_status cc__emulated_texture_update(cc__backend *self, int32_t device, cc_stream stream, cc__texture *texture,
                                      const cc__span *source);
cc_status cc__emulated_texture_objects(cc__backend *self, int32_t device, cc__texture *texture,
                                       const cc__sampling *sampling, uint64_t out_objects[CC_TEXTURE_MAX_OBJECTS]);
void cc__emulated_texture_destroy(cc__backend *self, int32_t device, cc__texture *texture);
cc_status cc__emulated_run_kernel(cc__backend *self, int32_t device, cc_stream stream, const cc__kernel *kernel,
                                  const void *work, bool *out_has_written);

#endif
