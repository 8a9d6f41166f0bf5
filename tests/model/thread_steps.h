/* What the steps of threads share: parts of the image, stamps, and checks. */
#ifndef CC_TESTS_MODEL_THREAD_STEPS_H
#define CC_TESTS_MODEL_THREAD_STEPS_H

#include "threads.h"

/* Pixels that a step is about: whole rows to write, any part of them to read. */
typedef struct part {
    cc_region region;
    int32_t first_row;
    int32_t row_count;
    int32_t pixels; /* of each row */
} part;

part thread_pick_part(thread_state *state, int32_t first_row, int32_t row_count, bool whole_rows);
part thread_pick_own_rows(thread_state *state);
/* BUSY is fine too, but not done. */
bool thread_is_fine(thread_state *state, const char *call, cc_status status);
#define fine(state, call) thread_is_fine(state, #call, call)

cc_stream thread_pick_stream(thread_state *state, const cc_image *image);
/* Page-locked rows that no work uses. */
int32_t *thread_reserve(thread_state *state, int32_t row_count);
/* A copy as a kernel would be. */
void thread_queue_row(thread_state *state, int32_t device, cc_stream stream, void *to, void *from, int64_t bytes);
void thread_check_row(thread_state *state, const char *where, int32_t row, const int32_t *pixels, int32_t count,
                      int32_t earliest);
void thread_begin_writing(thread_state *state, const part *written);
void thread_finish_writing(thread_state *state, const part *written);
void thread_stamp_rows(const thread_state *state, const part *written, int32_t *out_pixels);
/* What an image that only this thread has seen has cost. */
void thread_add_costs(thread_state *state, cc_image *image);

/* thread_operations.c */
void thread_reduce_row(thread_state *state);
void thread_add_to_rows(thread_state *state);
void thread_filter_rows(thread_state *state);
void thread_read_texture(thread_state *state);

#endif
