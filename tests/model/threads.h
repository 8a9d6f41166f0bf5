/*
 * Several threads on the same pixels. Each owns some rows, and writes a stamp through a row: its version and its
 * number. All read everybody's rows; a row that is torn, stale, or ahead of its owner shows. A refusal (CC_ERROR_BUSY)
 * means "something else, then".
 */
#ifndef CC_TESTS_MODEL_THREADS_H
#define CC_TESTS_MODEL_THREADS_H

#include "random.h"

#include "support/fixture.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREAD_COUNT 4
#define ROWS_OF_A_THREAD 3
#define ROW_COUNT (THREAD_COUNT * ROWS_OF_A_THREAD)
#define ROW_PIXELS 12
#define MAX_DEVICES 8

typedef struct shared_rows {
    cc_image *image;
    _Atomic int32_t begun[ROW_COUNT];    /* the version that the owner may be writing */
    _Atomic int32_t finished[ROW_COUNT]; /* the version that it has written */
    pthread_mutex_t lock;                /* of the message */
    atomic_bool has_failed;
    char message[320];
} shared_rows;

typedef struct thread_state {
    pthread_t thread;
    shared_rows *rows;
    int32_t number;
    int32_t steps;
    random_source random;
    cc_image *own; /* the same pixels, with a device of its own */
    cc_stream streams[MAX_DEVICES];
    int32_t *arena; /* page-locked */
    int32_t used;   /* rows of it */
    uint64_t generation;
    cc_counters private_costs; /* of images that only this thread has seen */
} thread_state;

/* What each pixel of a row is. 0 before the first version. */
int32_t threads_stamp(int32_t row, int32_t version);

/* Notes the first failure; the threads then stop. */
void threads_fail(shared_rows *rows, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Runs the threads over an image of ROW_PIXELS x ROW_COUNT int32, and looks at it in the end. */
void threads_run(shared_rows *rows, uint64_t seed, int32_t steps, cc_counters *out_private_costs);

/* One thread's program; in thread_steps.c. */
void *threads_program(void *state);

#endif
