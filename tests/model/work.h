/*
 * What an application does on devices: writes and reads in streams of its own. The bytes it writes and reads lie in
 * page-locked memory, so that the emulated device is late with them, as a kernel would be. What was read is looked at
 * when the program next waits.
 */
#ifndef CC_TESTS_MODEL_WORK_H
#define CC_TESTS_MODEL_WORK_H

#include "oracle.h"
#include "random.h"

#include "backend/backend.h"

#define WORK_STREAMS 3

typedef struct work_pending work_pending;

typedef struct device_work {
    random_source *random;
    size_t used_bytes;
    cc_stream streams[ORACLE_MAX_PLACES][WORK_STREAMS];
    void *ballast[ORACLE_MAX_PLACES]; /* device memory for what keeps a real device busy */
    work_pending *pending;
    int32_t pending_count;
    int32_t pending_capacity;
} device_work;

/* With the fixture's backend in place. end waits for everything, and looks at it. */
void work_begin(device_work *work, random_source *random);
void work_end(device_work *work);

/* A default stream, or one of the program's own. */
cc_stream work_stream(device_work *work, int32_t device);
/* Destroys it when it is one of the program's own. */
void work_drop_stream(device_work *work, int32_t device, cc_stream stream);

/* It is somebody else's, who will destroy it. */
void work_forget_stream(device_work *work, int32_t device, cc_stream stream);

/* A point in a stream, and another stream that waits for it. */
cc__event *work_mark(int32_t device, cc_stream stream);
void work_follow(int32_t device, cc_stream stream, cc__event *event);

/* A box of pixels in device memory: its first pixel and its strides. */
typedef struct work_box {
    unsigned char *memory;
    int64_t stride[CC_MAX_DIMENSION];
    int64_t size[CC_MAX_DIMENSION];
    int64_t pixel_bytes;
} work_box;

void work_write(device_work *work, int32_t device, cc_stream stream, const work_box *box, const unsigned char *bytes);
/* `known` marks the pixels of which anything is expected. */
void work_read(device_work *work, int32_t device, cc_stream stream, const work_box *box, const unsigned char *expected,
               const bool *known, const char *what);

/* Waits for a stream, or for everything, and compares what was read there. */
void work_synchronize(device_work *work, int32_t device, cc_stream stream);
void work_settle(device_work *work);

/* Runs in a row of memory that follow each other in both layouts: `memory` bytes from the first pixel, `dense` bytes
 * from the first of a dense copy. */
typedef void (*work_run_function)(void *context, int64_t memory, int64_t dense, int64_t bytes);
void work_each_run(const work_box *box, work_run_function function, void *context);

#endif
