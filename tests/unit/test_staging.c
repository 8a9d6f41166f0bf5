/* Copies through page-locked chunks: the right bytes, in the right order, by several threads, whatever fails. */
#include "base/allocate.h"
#include "memory/chunks.h"
#include "memory/crew.h"
#include "memory/page_locking.h"
#include "memory/staging.h"
#include "support/dense_work.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define MOST_BOXES 600

static cc_stream stream;
static unsigned char *host, *device, *expected;
static size_t bytes;
static size_t limit_before;

static void set_up(void)
{
    fixture_setup();
    limit_before = cc__page_locking_limit();
    cc__crew_cores = 4;
    stream = fixture_device_count() > 0 ? fixture_stream_create(0) : NULL;
    host = device = expected = NULL;
    bytes = 0;
}

static void tear_down(void)
{
    cc__allocate_set_hook(NULL);
    faulty_backend_clear_rules(fixture_backend);
    if (fixture_device_count() > 0) {
        if (device != NULL)
            fixture_ok(fixture_inner->free(fixture_inner, 0, stream, device));
        fixture_ok(fixture_inner->stream_synchronize(fixture_inner, 0, stream));
        cc__chunks_reset(); /* before the stream that some were used in */
        fixture_stream_destroy(0, stream);
    }
    free(host);
    free(expected);
    cc__page_locking_set_limit(limit_before);
    cc__crew_cores = 0;
    fixture_teardown();
}

static void fill(unsigned char *memory, uint32_t seed)
{
    for (size_t i = 0; i < bytes; ++i)
        memory[i] = (unsigned char)((i * 2654435761u + seed) >> 13);
}

static void make(size_t wanted)
{
    void *memory = NULL;
    bytes = wanted;
    host = malloc(bytes);
    expected = malloc(bytes);
    ck_assert(host != NULL && expected != NULL);
    fixture_ok(fixture_inner->allocate(fixture_inner, 0, stream, bytes, &memory));
    device = memory;
}

/* The device's bytes, and the host's, become something known. */
static void start(uint32_t host_seed, uint32_t device_seed)
{
    fill(expected, device_seed);
    fixture_device_write(0, stream, device, expected, bytes);
    fixture_ok(fixture_inner->stream_synchronize(fixture_inner, 0, stream));
    fill(host, host_seed);
}

static cc__staging staging_of(bool is_up, cc__copy *works, int32_t count)
{
    cc__staging staging = {.backend = fixture_backend,
                           .device = 0,
                           .stream = stream,
                           .host = is_up ? CC__SIDE_SOURCE : CC__SIDE_DESTINATION,
                           .works = works,
                           .count = count};
    for (int32_t i = 0; i < count; ++i)
        staging.bytes += cc__copy_bytes(&works[i]);
    return staging;
}

static void expect_all_moved(bool is_up, const cc__copy *works, int32_t count, uint32_t host_seed, uint32_t device_seed)
{
    unsigned char *from = malloc(bytes);
    unsigned char *found = is_up ? malloc(bytes) : host;
    fill(from, is_up ? host_seed : device_seed);
    fill(expected, is_up ? device_seed : host_seed);
    for (int32_t i = 0; i < count; ++i) {
        cc__copy work = works[i];
        work.destination.data = expected + (works[i].destination.data - (is_up ? device : host));
        work.source.data = from + (works[i].source.data - (is_up ? host : device));
        cc__copy_on_host(&work);
    }
    if (is_up) {
        memset(host, 0, bytes); /* the pixels have been read: what is written now comes too late */
        fixture_device_read(0, stream, found, device, bytes);
        fixture_ok(fixture_inner->stream_synchronize(fixture_inner, 0, stream));
    }
    ck_assert(memcmp(found, expected, bytes) == 0);
    free(from);
    if (is_up)
        free(found);
}

static void move(bool is_up, cc__copy *works, int32_t count)
{
    const cc__staging staging = staging_of(is_up, works, count);
    bool is_done = false;
    start(1, 2);
    fixture_ok(cc__staging_run(&staging, &is_done));
    ck_assert(is_done);
    expect_all_moved(is_up, works, count, 1, 2);
}

static cc__copy box_of(bool is_up, const int64_t image[CC_MAX_DIMENSION], const int64_t at[CC_MAX_DIMENSION],
                       const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes)
{
    return box_copy(is_up ? device : host, is_up ? host : device, image, at, size, pixel_bytes);
}

#define NEEDS_A_DEVICE                                                                                                 \
    if (fixture_device_count() == 0)                                                                                   \
    return

START_TEST(one_pixel)
{
    const int64_t image[] = {10, 10, 10, 1};
    const int64_t at[] = {9, 3, 5, 0};
    const int64_t size[] = {1, 1, 1, 1};
    NEEDS_A_DEVICE;
    make(4000);
    cc__copy work = box_of(_i == 0, image, at, size, 4);
    move(_i == 0, &work, 1);
    ck_assert_uint_eq(cc__chunks_bytes(), CC__CHUNK_BYTES);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).calls[FAULTY_COPY], 1);
}
END_TEST

START_TEST(one_long_row_by_several_threads)
{
    const int64_t image[] = {17 * (int64_t)MIB + 1, 1, 1, 1};
    const int64_t at[] = {0, 0, 0, 0};
    NEEDS_A_DEVICE;
    make(17 * MIB + 1);
    cc__copy work = box_of(_i == 0, image, at, image, 1);
    move(_i == 0, &work, 1);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).calls[FAULTY_COPY], 9);
    /* Again, with the chunks that there are. */
    const int64_t registrations = faulty_backend_counts(fixture_backend).calls[FAULTY_HOST_REGISTER];
    move(_i == 0, &work, 1);
    ck_assert_int_ge(registrations, 2);
    ck_assert_int_le(faulty_backend_counts(fixture_backend).calls[FAULTY_HOST_REGISTER], 8);
}
END_TEST

START_TEST(slices_with_gaps)
{
    const int64_t image[] = {130, 90, 120, 1};
    const int64_t at[] = {3, 5, 7, 0};
    const int64_t size[] = {120, 80, 110, 1};
    NEEDS_A_DEVICE;
    make((size_t)(130 * 90 * 120 * 12));
    cc__copy work = box_of(_i == 0, image, at, size, 12);
    move(_i == 0, &work, 1);
}
END_TEST

START_TEST(many_narrow_boxes)
{
    static cc__copy works[MOST_BOXES];
    const int64_t image[] = {128, 128, 64, 1};
    int32_t count = 0;
    NEEDS_A_DEVICE;
    make((size_t)128 * 128 * 64 * 2);
    for (int64_t k = 0; k < 64 && count < MOST_BOXES; k += 8)
        for (int64_t j = 0; j < 128 && count < MOST_BOXES; j += 16)
            for (int64_t i = 0; i < 128 && count < MOST_BOXES; i += 16) {
                const int64_t at[] = {i, j, k, 0};
                const int64_t size[] = {5 + i % 3, 7, 3, 1};
                works[count++] = box_of(_i == 0, image, at, size, 2);
            }
    ck_assert_int_eq(count, 512);
    move(_i == 0, works, count);
    /* A kernel takes all that are in one chunk. */
    ck_assert_int_ge(faulty_backend_counts(fixture_backend).calls[FAULTY_COPY_BOXES], 8);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).calls[FAULTY_COPY], 0);
}
END_TEST

/* Columns first on the host, rows first on the device. */
START_TEST(the_hosts_axes_in_another_order)
{
    const int64_t size[] = {70, 60, 50, 1};
    const int64_t at[] = {0, 0, 0, 0};
    NEEDS_A_DEVICE;
    make((size_t)(70 * 60 * 50 * 8));
    cc__copy work = box_of(_i == 0, size, at, size, 8);
    cc__span *there = cc__copy_side(&work, _i == 0 ? CC__SIDE_SOURCE : CC__SIDE_DESTINATION);
    there->stride[2] = 8;
    there->stride[1] = 8 * 50;
    there->stride[0] = 8 * 50 * 60;
    move(_i == 0, &work, 1);
}
END_TEST

START_TEST(what_the_stream_waits_for_comes_first)
{
    const int64_t image[] = {6 * (int64_t)MIB, 1, 1, 1};
    const int64_t at[] = {0, 0, 0, 0};
    NEEDS_A_DEVICE;
    make(6 * MIB);
    const cc_stream other = fixture_stream_create(0);
    cc__event *event = NULL;
    fixture_ok(fixture_inner->event_create(fixture_inner, 0, &event));
    start(1, 2);
    cc__fill work = {.destination = {.data = device, .stride = {1, 1, 1, 1}},
                     .size = {(int64_t)bytes, 1, 1, 1},
                     .pixel_bytes = 1,
                     .value = {9}};
    fixture_ok(fixture_inner->fill(fixture_inner, 0, other, &work));
    fixture_ok(fixture_inner->event_record(fixture_inner, 0, event, other));
    fixture_ok(fixture_inner->stream_wait(fixture_inner, 0, stream, event));
    cc__copy down = box_of(false, image, at, image, 1);
    const cc__staging staging = staging_of(false, &down, 1);
    bool is_done = false;
    fixture_ok(cc__staging_run(&staging, &is_done));
    size_t wrong = 0;
    for (size_t i = 0; i < bytes; ++i)
        wrong += host[i] != 9;
    ck_assert_uint_eq(wrong, 0);
    fixture_inner->event_destroy(fixture_inner, 0, event);
    fixture_ok(fixture_inner->stream_synchronize(fixture_inner, 0, other));
    fixture_stream_destroy(0, other);
}
END_TEST

START_TEST(one_chunk_is_enough)
{
    const int64_t image[] = {17 * (int64_t)MIB + 1, 1, 1, 1};
    const int64_t at[] = {0, 0, 0, 0};
    NEEDS_A_DEVICE;
    make(17 * MIB + 1);
    cc__page_locking_set_limit(CC__CHUNK_BYTES);
    cc__copy work = box_of(_i == 0, image, at, image, 1);
    move(_i == 0, &work, 1);
    ck_assert_uint_eq(cc__chunks_bytes(), CC__CHUNK_BYTES);
}
END_TEST

START_TEST(without_locked_chunks_nothing_happens_or_it_is_slow)
{
    const int64_t image[] = {5 * (int64_t)MIB, 1, 1, 1};
    const int64_t at[] = {0, 0, 0, 0};
    bool is_done = true;
    NEEDS_A_DEVICE;
    make(5 * MIB);
    cc__page_locking_set_limit(0);
    cc__copy work = box_of(_i == 0, image, at, image, 1);
    cc__staging staging = staging_of(_i == 0, &work, 1);
    start(1, 2);
    fixture_ok(cc__staging_run(&staging, &is_done));
    ck_assert(!is_done);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).calls[FAULTY_COPY], 0);
    staging.is_pageable = true;
    fixture_ok(cc__staging_run(&staging, &is_done));
    ck_assert(is_done);
    expect_all_moved(_i == 0, &work, 1, 1, 2);
    ck_assert_uint_eq(cc__page_locking_bytes(), 0);
}
END_TEST

/* The nth operation fails, in whichever thread; then everything is as if it had not been tried. */
static void fail_nth(bool is_up, cc__copy *works, int32_t count, int64_t nth, bool for_ever, bool *out_failed)
{
    const cc__staging staging = staging_of(is_up, works, count);
    bool is_done = false;
    start(1, 2);
    faulty_backend_fail_nth(fixture_backend, nth, for_ever);
    expect_forget_message();
    const cc_status status = cc__staging_run(&staging, &is_done);
    const faulty_counts counts = faulty_backend_counts(fixture_backend);
    faulty_backend_clear_rules(fixture_backend);
    *out_failed = status != CC_OK;
    if (status != CC_OK) {
        ck_assert_int_eq(status, CC_ERROR_DEVICE);
        ck_assert_int_eq(cc_last_native_error(), FAULTY_NATIVE_ERROR);
        ck_assert_msg(strstr(cc_last_error_message(), "made to fail") != NULL, "%s", cc_last_error_message());
        ck_assert_int_gt(counts.failures, 0);
        if (is_up)
            fill(host, 1);
        fixture_ok(fixture_inner->stream_synchronize(fixture_inner, 0, stream));
        fixture_ok(cc__staging_run(&staging, &is_done));
    } else if (!is_done) {
        return;
    }
    expect_all_moved(is_up, works, count, 1, 2);
}

START_TEST(each_operation_fails_once)
{
    static cc__copy works[70];
    const bool is_up = _i % 2 == 0;
    const bool are_many = _i / 2 % 2 == 1;
    const bool for_ever = _i / 4 == 1;
    const int64_t image[] = {5 * (int64_t)MIB, 1, 1, 1};
    const int64_t at[] = {0, 0, 0, 0};
    int32_t count = 1;
    int32_t failed_count = 0;
    NEEDS_A_DEVICE;
    make(5 * MIB);
    works[0] = box_of(is_up, image, at, image, 1);
    for (int64_t i = 0; are_many && i < 70; ++i) {
        const int64_t small_image[] = {100, 100, 90, 1};
        const int64_t small_at[] = {i % 10 * 10, i / 10 * 10, i, 0};
        const int64_t size[] = {8, 9, 5, 1};
        works[i] = box_of(is_up, small_image, small_at, size, 4);
        count = 70;
    }
    for (int64_t nth = 1; nth < 1000; ++nth) {
        bool failed = false;
        cc__chunks_trim();
        faulty_backend_reset_counts(fixture_backend);
        fail_nth(is_up, works, count, nth, for_ever, &failed);
        failed_count += failed;
        if (faulty_backend_counts(fixture_backend).failures == 0)
            break;
    }
    ck_assert_int_gt(failed_count, 2);
}
END_TEST

START_TEST(memory_runs_out)
{
    const int64_t image[] = {5 * (int64_t)MIB, 1, 1, 1};
    const int64_t at[] = {0, 0, 0, 0};
    bool is_done = true;
    NEEDS_A_DEVICE;
    make(5 * MIB);
    cc__copy work = box_of(_i == 0, image, at, image, 1);
    const cc__staging staging = staging_of(_i == 0, &work, 1);
    start(1, 2);
    for (long nth = 1; nth <= 2; ++nth) {
        expect_allocations_to_fail_from(nth);
        expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY, cc__staging_run(&staging, &is_done));
        ck_assert(!is_done);
    }
    /* One chunk there is; others are not to be had. */
    expect_allocations_to_fail_from(3);
    const cc_status status = cc__staging_run(&staging, &is_done);
    cc__allocate_set_hook(NULL);
    ck_assert(status == CC_OK || status == CC_ERROR_OUT_OF_HOST_MEMORY);
    if (_i == 0)
        fill(host, 1);
    fixture_ok(cc__staging_run(&staging, &is_done));
    expect_all_moved(_i == 0, &work, 1, 1, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("staging");
    TCase *tcase = tcase_create("staging");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 100);
    tcase_add_loop_test(tcase, one_pixel, 0, 2);
    tcase_add_loop_test(tcase, one_long_row_by_several_threads, 0, 2);
    tcase_add_loop_test(tcase, slices_with_gaps, 0, 2);
    tcase_add_loop_test(tcase, many_narrow_boxes, 0, 2);
    tcase_add_loop_test(tcase, the_hosts_axes_in_another_order, 0, 2);
    tcase_add_test(tcase, what_the_stream_waits_for_comes_first);
    tcase_add_loop_test(tcase, one_chunk_is_enough, 0, 2);
    tcase_add_loop_test(tcase, without_locked_chunks_nothing_happens_or_it_is_slow, 0, 2);
    tcase_add_loop_test(tcase, each_operation_fails_once, 0, 8);
    tcase_add_loop_test(tcase, memory_runs_out, 0, 2);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
