/* A backend around another that counts calls and bytes, fails what it is told to, and remembers what it saw. */
#ifndef CC_TESTS_FAULTY_BACKEND_H
#define CC_TESTS_FAULTY_BACKEND_H

#include "backend/backend.h"

#include <stdio.h>

typedef enum faulty_operation {
    FAULTY_CURRENT_DEVICE = 0,
    FAULTY_ALLOCATE = 1,
    FAULTY_FREE = 2,
    FAULTY_HOST_REGISTER = 3,
    FAULTY_HOST_UNREGISTER = 4,
    FAULTY_MEMORY_DEVICE = 5,
    FAULTY_HAS_PEER_ACCESS = 6, /* cannot fail; see faulty_backend_refuse_peer_access */
    FAULTY_STREAM_CREATE = 7,
    FAULTY_STREAM_DESTROY = 8, /* cannot fail */
    FAULTY_STREAM_SYNCHRONIZE = 9,
    FAULTY_STREAM_IS_CAPTURING = 10,
    FAULTY_EVENT_CREATE = 11,
    FAULTY_EVENT_DESTROY = 12, /* cannot fail */
    FAULTY_EVENT_RECORD = 13,
    FAULTY_EVENT_IS_COMPLETE = 14,
    FAULTY_EVENT_SYNCHRONIZE = 15,
    FAULTY_STREAM_WAIT = 16,
    FAULTY_COPY = 17,
    FAULTY_FILL = 18,
    FAULTY_RUN_KERNEL = 19, /* but those that copy and fill, which count as that */
    FAULTY_COPY_BOXES = 20,
    FAULTY_STREAM_ID = 21, /* cannot fail */
    FAULTY_MEMORY_INFO = 22,
    FAULTY_TRIM = 23,
    FAULTY_RANGE_PUSH = 24, /* cannot fail, and is not in total_calls or the log: it does nothing to a device */
    FAULTY_RANGE_POP = 25,  /* the same */
    FAULTY_SYNCHRONIZE = 26,
    FAULTY_CALL = 27,
    FAULTY_TEXTURE_CREATE = 28,
    FAULTY_TEXTURE_UPDATE = 29,
    FAULTY_TEXTURE_OBJECTS = 30,
    FAULTY_TEXTURE_DESTROY = 31, /* cannot fail */
    FAULTY_STREAM_IS_IDLE = 32,
    FAULTY_OPERATION_COUNT = 33,
    FAULTY_ANY = 34,        /* in a rule: all that can fail, less free and host_unregister */
    FAULTY_ANY_OR_FREE = 35 /* in a rule: all that can fail */
} faulty_operation;

const char *faulty_operation_name(faulty_operation operation);

/*
 * The inner backend is borrowed, and outlives this one. Its name and devices show through. What only the emulated
 * device offers (emulated.h) is asked of the inner one. Safe to use from any thread.
 */
cc__backend *faulty_backend_create(cc__backend *inner);
void faulty_backend_destroy(cc__backend *faulty);

/*
 * What fails: the nth (1: the next) of the operations meant, counted from when the rule is added, and with for_ever all
 * after it. The operation then returns the status and does nothing; OUT_OF_DEVICE_MEMORY is what allocate and
 * those of textures alone may return, from others it becomes CC_ERROR_DEVICE.
 */
typedef struct faulty_rule {
    faulty_operation operation;
    int64_t nth;
    bool for_ever;
    cc_status status;
    int32_t native_error;
} faulty_rule;

/* At most 8 at a time; of those that fire at once the first added decides. */
void faulty_backend_add_rule(cc__backend *faulty, const faulty_rule *rule);
void faulty_backend_clear_rules(cc__backend *faulty);
/* The common rule alone: the nth that can fail, less frees, with CC_ERROR_DEVICE and this native error. */
#define FAULTY_NATIVE_ERROR 999
void faulty_backend_fail_nth(cc__backend *faulty, int64_t nth, bool for_ever);

/* Asked, on the calling thread, before every operation that can fail; true makes it fail in the same way. NULL: none.
 */
typedef bool (*faulty_hook)(faulty_operation operation);
void faulty_backend_set_hook(cc__backend *faulty, faulty_hook hook);

/* From now on a kernel that fails, or a copy or fill that is one, has written what it should: and says so. */
void faulty_backend_fail_late(cc__backend *faulty, bool late);

void faulty_backend_refuse_peer_access(cc__backend *faulty, bool refuse);

/*
 * Since the start, or since they were reset. Copies are counted by where the two sides are, when they succeed; each box
 * of a copy_boxes is one.
 */
typedef struct faulty_counts {
    int64_t calls[FAULTY_OPERATION_COUNT]; /* also those that fail */
    int64_t total_calls;
    int64_t failures; /* what rules made fail */
    int64_t host_to_device_copies;
    int64_t host_to_device_bytes;
    int64_t device_to_host_copies;
    int64_t device_to_host_bytes;
    int64_t device_to_device_copies;
    int64_t device_to_device_bytes;
} faulty_counts;

faulty_counts faulty_backend_counts(cc__backend *faulty);
void faulty_backend_reset_counts(cc__backend *faulty);

/* The latest calls, oldest first, a line each; 256 are remembered. */
void faulty_backend_print_log(cc__backend *faulty, FILE *file);

#endif
