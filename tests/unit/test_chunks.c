/* Chunks that pageable memory is copied through: who has one, and when it may be used again. */
#include "backend/emulated.h"
#include "base/allocate.h"
#include "memory/chunks.h"
#include "memory/page_locking.h"
#include "support/dense_work.h"
#include "support/expect.h"
#include "support/faulty_backend.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_ONES ((int32_t)(CC__CHUNK_BYTES / CC__CHUNK_SMALL_BYTES))
#define MOST_LARGE 28
#define BYTES 100

static long live_before;
static size_t limit_before;
static cc__backend *emulated, *backend;
static cc_stream stream;
static void *device_memory;

static void set_up(void)
{
    live_before = cc__allocations_live();
    limit_before = cc__page_locking_limit();
    emulated = cc__backend_emulated_create(2);
    ck_assert_ptr_nonnull(emulated);
    backend = faulty_backend_create(emulated);
    ck_assert_ptr_nonnull(backend);
    ck_assert_int_eq(emulated->stream_create(emulated, 0, &stream), CC_OK);
    ck_assert_int_eq(emulated->allocate(emulated, 0, stream, BYTES, &device_memory), CC_OK);
}

static void tear_down(void)
{
    cc__allocate_set_hook(NULL);
    faulty_backend_clear_rules(backend);
    cc__chunks_trim();
    cc__page_locking_set_limit(limit_before);
    ck_assert_uint_eq(cc__chunks_bytes(), 0);
    ck_assert_uint_eq(cc__page_locking_bytes(), 0);
    ck_assert_int_eq(emulated->free(emulated, 0, stream, device_memory), CC_OK);
    ck_assert_int_eq(emulated->stream_synchronize(emulated, 0, stream), CC_OK);
    emulated->stream_destroy(emulated, 0, stream);
    const cc__emulated_live live = cc__emulated_count_live(emulated);
    ck_assert_int_eq(live.registrations + live.events + live.streams, 0);
    faulty_backend_destroy(backend);
    cc__backend_emulated_destroy(emulated);
    ck_assert_int_eq(cc__allocations_live(), live_before);
}

static cc__chunk *must_take(int32_t device, size_t bytes)
{
    cc__chunk *chunk = NULL;
    ck_assert_int_eq(cc__chunk_take(backend, device, bytes, &chunk), CC_OK);
    ck_assert_ptr_nonnull(chunk);
    ck_assert_uint_ge(chunk->size_bytes, bytes);
    ck_assert(chunk->is_locked);
    ck_assert_int_eq(chunk->use, CC__CHUNK_IDLE);
    return chunk;
}

/* A late copy out of the chunk. */
static void queue(cc__chunk *chunk)
{
    ck_assert_int_eq(copy_bytes(backend, 0, stream, device_memory, chunk->bytes, BYTES), CC_OK);
    ck_assert_int_eq(cc__chunk_mark(chunk, stream), CC_OK);
    ck_assert_int_eq(chunk->use, CC__CHUNK_QUEUED);
}

static void fail_always(faulty_operation operation)
{
    const faulty_rule rule = {operation, 1, true, CC_ERROR_DEVICE, FAULTY_NATIVE_ERROR};
    faulty_backend_add_rule(backend, &rule);
}

START_TEST(small_ones_are_parts_of_a_large_one)
{
    cc__chunk *small = must_take(0, 1);
    cc__chunk *other = must_take(0, CC__CHUNK_SMALL_BYTES);
    ck_assert_uint_eq(small->size_bytes, CC__CHUNK_SMALL_BYTES);
    ck_assert_uint_eq(cc__chunks_bytes(), CC__CHUNK_BYTES);
    ck_assert(small->bytes + CC__CHUNK_SMALL_BYTES <= other->bytes ||
              other->bytes + CC__CHUNK_SMALL_BYTES <= small->bytes);
    cc__chunk *large = must_take(0, CC__CHUNK_SMALL_BYTES + 1);
    ck_assert_uint_eq(large->size_bytes, CC__CHUNK_BYTES);
    ck_assert_uint_eq(cc__chunks_bytes(), 2 * CC__CHUNK_BYTES);
    ck_assert_uint_eq(cc__page_locking_bytes(), 2 * CC__CHUNK_BYTES);
    cc__chunk_give(small);
    cc__chunk_give(other);
    cc__chunk_give(large);
    ck_assert_ptr_eq(must_take(0, CC__CHUNK_BYTES), large);
    cc__chunk_give(large);
    ck_assert_int_eq(faulty_backend_counts(backend).calls[FAULTY_HOST_REGISTER], 2);
    ck_assert_int_eq(faulty_backend_counts(backend).calls[FAULTY_EVENT_CREATE], 3);
}
END_TEST

START_TEST(one_that_is_queued_is_not_used_again_before_it_is_done)
{
    cc__chunk *chunk = must_take(0, CC__CHUNK_BYTES);
    memset(chunk->bytes, 5, BYTES);
    queue(chunk);
    cc__chunk_give(chunk);
    cc__chunk *other = must_take(0, CC__CHUNK_BYTES);
    ck_assert_ptr_ne(other, chunk);
    cc__chunk_give(other);
    /* An idle one comes first. */
    ck_assert_ptr_eq(must_take(0, CC__CHUNK_BYTES), other);
    ck_assert_int_eq(emulated->stream_synchronize(emulated, 0, stream), CC_OK);
    ck_assert_ptr_eq(must_take(0, CC__CHUNK_BYTES), chunk);
    cc__chunk_give(chunk);
    cc__chunk_give(other);
}
END_TEST

START_TEST(when_there_are_enough_the_oldest_is_waited_for)
{
    cc__chunk *chunks[SMALL_ONES];
    for (int32_t i = 0; i < SMALL_ONES; ++i) {
        chunks[i] = must_take(0, 1);
        for (int32_t other = 0; other < i; ++other)
            ck_assert_ptr_ne(chunks[other], chunks[i]);
    }
    for (int32_t i = 0; i < SMALL_ONES; ++i) {
        memset(chunks[i]->bytes, i, BYTES);
        queue(chunks[i]);
    }
    for (int32_t i = 0; i < SMALL_ONES; ++i)
        cc__chunk_give(chunks[i]);
    ck_assert_int_gt(cc__emulated_count_live(emulated).queued, SMALL_ONES);
    ck_assert_ptr_eq(must_take(0, 1), chunks[0]);
    ck_assert_uint_eq(cc__chunks_bytes(), CC__CHUNK_BYTES);
    /* When all are in somebody's hands, there are more. */
    for (int32_t i = 1; i < SMALL_ONES; ++i)
        must_take(0, 1);
    cc__chunk *more = must_take(0, 1);
    ck_assert_uint_eq(cc__chunks_bytes(), 2 * CC__CHUNK_BYTES);
    cc__chunk_give(more);
    for (int32_t i = 0; i < SMALL_ONES; ++i)
        cc__chunk_give(chunks[i]);
}
END_TEST

START_TEST(more_than_enough_are_not_kept)
{
    cc__chunk *chunks[MOST_LARGE + 3];
    for (int32_t i = 0; i < MOST_LARGE + 3; ++i)
        chunks[i] = must_take(0, CC__CHUNK_BYTES);
    ck_assert_uint_eq(cc__chunks_bytes(), (MOST_LARGE + 3) * CC__CHUNK_BYTES);
    for (int32_t i = 0; i < MOST_LARGE + 3; ++i)
        cc__chunk_give(chunks[i]);
    ck_assert_uint_eq(cc__chunks_bytes(), MOST_LARGE * CC__CHUNK_BYTES);
}
END_TEST

START_TEST(an_event_is_of_the_device_that_uses_the_chunk)
{
    cc__chunk *chunk = must_take(0, CC__CHUNK_BYTES);
    queue(chunk);
    cc__chunk_give(chunk);
    ck_assert_int_eq(emulated->stream_synchronize(emulated, 0, stream), CC_OK);
    ck_assert_ptr_eq(must_take(1, CC__CHUNK_BYTES), chunk);
    ck_assert_int_eq(chunk->device, 1);
    ck_assert_int_eq(cc__emulated_count_live(emulated).events, 1);
    cc__chunk *other = must_take(0, CC__CHUNK_BYTES);
    cc__chunk_give(chunk);
    cc__chunk_give(other);
    ck_assert_ptr_eq(must_take(1, CC__CHUNK_BYTES), chunk);
    cc__chunk_give(chunk);
    ck_assert_ptr_eq(must_take(0, CC__CHUNK_BYTES), other);
    cc__chunk_give(other);
    ck_assert_int_eq(faulty_backend_counts(backend).calls[FAULTY_EVENT_CREATE], 3);
}
END_TEST

START_TEST(without_locking_there_is_none)
{
    cc__chunk *chunk = (cc__chunk *)backend;
    cc__page_locking_set_limit(CC__CHUNK_BYTES - 1);
    ck_assert_int_eq(cc__chunk_take(backend, 0, 1, &chunk), CC_OK);
    ck_assert_ptr_null(chunk);
    ck_assert_int_eq(faulty_backend_counts(backend).total_calls, 0);
    cc__page_locking_set_limit(CC__CHUNK_BYTES);
    cc__chunk *only = must_take(0, 1);
    ck_assert_int_eq(cc__chunk_take(backend, 0, CC__CHUNK_BYTES, &chunk), CC_OK);
    ck_assert_ptr_null(chunk);
    cc__chunk_give(only);
    cc__chunks_trim();
    fail_always(FAULTY_HOST_REGISTER);
    expect_forget_message();
    ck_assert_int_eq(cc__chunk_take(backend, 0, 1, &chunk), CC_OK);
    ck_assert_ptr_null(chunk);
    ck_assert_str_eq(cc_last_error_message(), "no message since");
    ck_assert_int_eq(cc__allocations_live(), live_before);

    ck_assert_int_eq(cc__chunk_take_pageable(backend, &chunk), CC_OK);
    ck_assert(!chunk->is_locked);
    ck_assert_uint_eq(chunk->size_bytes, CC__CHUNK_BYTES);
    ck_assert_int_eq(cc__chunk_mark(chunk, stream), CC_OK);
    ck_assert_int_eq(cc__chunk_settle(chunk), CC_OK);
    cc__chunk_give(chunk);
    ck_assert_int_eq(faulty_backend_counts(backend).calls[FAULTY_EVENT_RECORD], 0);
    ck_assert_int_eq(cc__allocations_live(), live_before);
}
END_TEST

START_TEST(a_failure_leaves_nothing_taken)
{
    cc__chunk *chunk = (cc__chunk *)backend;
    for (long nth = 1; nth <= 2; ++nth) {
        expect_allocations_to_fail_from(nth);
        expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY, cc__chunk_take(backend, 0, 1, &chunk));
        expect_allocations_to_fail_from(nth);
        expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY, cc__chunk_take_pageable(backend, &chunk));
        cc__allocate_set_hook(NULL);
        ck_assert_int_eq(cc__allocations_live(), live_before);
    }
    const faulty_rule rule = {FAULTY_EVENT_CREATE, 1, false, CC_ERROR_DEVICE, FAULTY_NATIVE_ERROR};
    faulty_backend_add_rule(backend, &rule);
    expect_passed_on(CC_ERROR_DEVICE, cc__chunk_take(backend, 0, 1, &chunk));
    ck_assert_ptr_eq(chunk, (cc__chunk *)backend);
    chunk = must_take(0, 1);
    ck_assert_uint_eq(cc__chunks_bytes(), CC__CHUNK_BYTES);
    cc__chunk_give(chunk);
}
END_TEST

START_TEST(without_an_event_the_stream_is_waited_for)
{
    cc__chunk *chunk = must_take(0, CC__CHUNK_BYTES);
    const faulty_rule rule = {FAULTY_EVENT_RECORD, 1, false, CC_ERROR_DEVICE, FAULTY_NATIVE_ERROR};
    memset(chunk->bytes, 5, BYTES);
    ck_assert_int_eq(copy_bytes(backend, 0, stream, device_memory, chunk->bytes, BYTES), CC_OK);
    faulty_backend_add_rule(backend, &rule);
    expect_passed_on(CC_ERROR_DEVICE, cc__chunk_mark(chunk, stream));
    ck_assert_int_eq(chunk->use, CC__CHUNK_UNKNOWN);
    cc__chunk_give(chunk);
    /* Nobody gets it while that is so and there are others to be had. */
    cc__chunk *other = must_take(0, CC__CHUNK_BYTES);
    ck_assert_ptr_ne(other, chunk);
    cc__chunk_give(other);
    ck_assert_int_gt(cc__emulated_count_live(emulated).queued, 0);
    ck_assert_int_eq(cc__chunk_settle(chunk), CC_OK);
    ck_assert_int_eq(cc__emulated_count_live(emulated).queued, 0);
}
END_TEST

START_TEST(one_that_cannot_be_waited_for_is_left_alone)
{
    cc__chunk *chunks[SMALL_ONES];
    for (int32_t i = 0; i < SMALL_ONES; ++i)
        chunks[i] = must_take(0, 1);
    for (int32_t i = 0; i < SMALL_ONES; ++i) {
        queue(chunks[i]);
        cc__chunk_give(chunks[i]);
    }
    fail_always(FAULTY_EVENT_SYNCHRONIZE);
    fail_always(FAULTY_EVENT_IS_COMPLETE);
    expect_forget_message();
    cc__chunk *other = must_take(1, 1);
    ck_assert_str_eq(cc_last_error_message(), "no message since");
    ck_assert_uint_eq(cc__chunks_bytes(), 2 * CC__CHUNK_BYTES);
    cc__chunk_give(other);
    cc__chunks_trim();
    ck_assert_uint_eq(cc__chunks_bytes(), CC__CHUNK_BYTES);
    ck_assert_str_eq(cc_last_error_message(), "no message since");
    /* Before the backend goes away, nothing is kept. */
    ck_assert_int_eq(emulated->stream_synchronize(emulated, 0, stream), CC_OK);
    cc__chunks_reset();
    ck_assert_uint_eq(cc__chunks_bytes(), 0);
}
END_TEST

START_TEST(what_somebody_has_is_not_trimmed)
{
    cc__chunk *small = must_take(0, 1);
    cc__chunk *large = must_take(0, CC__CHUNK_BYTES);
    cc__chunk *queued = must_take(0, CC__CHUNK_BYTES);
    queue(queued);
    cc__chunk_give(queued);
    cc__chunks_trim();
    ck_assert_uint_eq(cc__chunks_bytes(), 2 * CC__CHUNK_BYTES);
    ck_assert_int_eq(cc__emulated_count_live(emulated).queued, 0);
    cc__chunk_give(large);
    cc__chunks_trim();
    ck_assert_uint_eq(cc__chunks_bytes(), CC__CHUNK_BYTES);
    cc__chunk_give(small);
    cc__chunks_trim();
    ck_assert_uint_eq(cc__chunks_bytes(), 0);
}
END_TEST

#define THREADS 4

static void *take_and_give(void *argument)
{
    cc__chunk *held[3] = {NULL, NULL, NULL};
    const uintptr_t number = (uintptr_t)argument;
    for (int32_t i = 0; i < 600; ++i) {
        cc__chunk **chunk = &held[i % 3];
        if (*chunk != NULL) {
            for (int32_t byte = 0; byte < BYTES; ++byte)
                if ((*chunk)->bytes[byte] != (unsigned char)number)
                    return backend;
            if (cc__chunk_mark(*chunk, stream) != CC_OK)
                return backend;
            cc__chunk_give(*chunk);
        }
        if (cc__chunk_take(backend, 0, i % 7 == 0 ? CC__CHUNK_BYTES : 1, chunk) != CC_OK || *chunk == NULL)
            return backend;
        memset((*chunk)->bytes, (int)number, BYTES);
        if (i % 100 == 0)
            cc__chunks_trim();
    }
    for (int32_t i = 0; i < 3; ++i)
        cc__chunk_give(held[i]);
    return NULL;
}

START_TEST(a_chunk_is_one_threads_at_a_time)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; ++i)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, take_and_give, (void *)(i + 1)), 0);
    for (int32_t i = 0; i < THREADS; ++i) {
        void *failed = NULL;
        ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
        ck_assert_ptr_null(failed);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("chunks");
    TCase *tcase = tcase_create("chunks");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, small_ones_are_parts_of_a_large_one);
    tcase_add_test(tcase, one_that_is_queued_is_not_used_again_before_it_is_done);
    tcase_add_test(tcase, when_there_are_enough_the_oldest_is_waited_for);
    tcase_add_test(tcase, more_than_enough_are_not_kept);
    tcase_add_test(tcase, an_event_is_of_the_device_that_uses_the_chunk);
    tcase_add_test(tcase, without_locking_there_is_none);
    tcase_add_test(tcase, a_failure_leaves_nothing_taken);
    tcase_add_test(tcase, without_an_event_the_stream_is_waited_for);
    tcase_add_test(tcase, one_that_cannot_be_waited_for_is_left_alone);
    tcase_add_test(tcase, what_somebody_has_is_not_trimmed);
    tcase_add_test(tcase, a_chunk_is_one_threads_at_a_time);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
