/* The inside of the backend that fails on request: its state, and what each of its operations begins and ends with. */
#ifndef CC_TESTS_FAULTY_STATE_H
#define CC_TESTS_FAULTY_STATE_H

#include "support/faulty_backend.h"

#include <pthread.h>

#define FAULTY_MAX_RULES 8
#define FAULTY_LOG_LENGTH 256

typedef struct faulty_log_entry {
    faulty_operation operation;
    int32_t device;
    const void *what; /* the stream; for memory and events, those */
    int64_t bytes;
    cc_status status;
    bool injected;
} faulty_log_entry;

typedef struct faulty {
    cc__backend table;
    cc__backend *inner;
    pthread_mutex_t lock;
    faulty_rule rules[FAULTY_MAX_RULES]; /* nth counts down */
    int32_t rule_count;
    faulty_hook hook;
    bool refuses_peer_access;
    bool fails_late;
    faulty_counts counts;
    faulty_log_entry log[FAULTY_LOG_LENGTH];
    int64_t logged;
} faulty;

/* One call, from the moment it comes in. */
typedef struct faulty_call {
    faulty *self;
    cc__backend *inner;
    faulty_log_entry entry;
} faulty_call;

faulty_call faulty_begin(cc__backend *backend, faulty_operation operation, int32_t device, const void *what,
                         int64_t bytes);
/* For what can fail. False: it has, and the call ends with entry.status. */
bool faulty_passes(faulty_call *now);
/* Remembers the call, and passes the status on. */
cc_status faulty_end(faulty_call *now, cc_status status);

/* Counts a copy of so many bytes that has succeeded, by where the two sides are. */
void faulty_count_copy(faulty *self, const void *destination, const void *source, int64_t bytes);
void faulty_count_range(faulty *self, faulty_operation operation);

#endif
