/* A working set larger than the device may hold: nobody loses a pixel, whatever fails, and whoever else is at it. */
#include "backend/emulated.h"
#include "base/allocate.h"
#include "memory/budget.h"
#include "support/expect.h"
#include "support/many_images.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

static bool refuse_pixels(size_t size_bytes)
{
    return size_bytes >= BYTES;
}

START_TEST(without_host_memory_nothing_is_lost)
{
    if (fixture_device_count() == 0)
        return;
    set_limit(2);
    make_dirty(0);
    make_dirty(1);
    cc__allocate_set_hook(refuse_pixels);
    expect_failure(CC_ERROR_OUT_OF_DEVICE_MEMORY, "", cc_image_prefetch(images[2], NULL, 0));
    expect_on_device("xx.");
    byte_pixels_expect_device(images[0], NULL, 1, CC_STREAM_DEFAULT);
    /* One that needs no host memory leaves instead. */
    cc__allocate_set_hook(NULL);
    byte_pixels_expect_host(images[1], NULL, 2);
    cc__allocate_set_hook(refuse_pixels);
    fixture_ok(cc_image_prefetch(images[2], NULL, 0));
    expect_on_device("x.x");
    cc__allocate_set_hook(NULL);
    expect_value(0);
    expect_value(1);
}
END_TEST

START_TEST(whatever_fails_nothing_is_lost)
{
    cc_status status = CC_ERROR_DEVICE;
    if (fixture_device_count() == 0)
        return;
    for (int64_t nth = 1; status != CC_OK; ++nth) {
        ck_assert_int_lt(nth, 1000);
        set_limit(0);
        make_dirty(0);
        make_dirty(1);
        fixture_ok(cc_image_evict(images[2], 0));
        fixture_ok(cc_image_evict(images[0], CC_PLACE_HOST));
        set_limit(2);
        faulty_backend_fail_nth(fixture_backend, nth, nth % 2 == 0);
        status = cc_image_prefetch(images[2], NULL, 0);
        /* Another may have left in place of one that could not: then the call has worked in spite of the fault. */
        const bool failed = faulty_backend_counts(fixture_backend).failures > 0;
        faulty_backend_clear_rules(fixture_backend);
        faulty_backend_reset_counts(fixture_backend);
        if (status == CC_OK && failed)
            status = CC_ERROR_DEVICE;
        expect_value(0);
        expect_value(1);
        byte_pixels_expect_device(images[0], NULL, 1, CC_STREAM_DEFAULT);
        ck_assert_uint_le(cc__budget_held_bytes(0), 2 * BYTES);
    }
    status = CC_ERROR_OUT_OF_HOST_MEMORY;
    for (long nth = 1; status != CC_OK; ++nth) {
        ck_assert_int_lt(nth, 1000);
        set_limit(0);
        make_dirty(0);
        make_dirty(1);
        fixture_ok(cc_image_evict(images[2], 0));
        set_limit(2);
        expect_allocations_to_fail_from(nth);
        status = cc_image_prefetch(images[2], NULL, 0);
        cc__allocate_set_hook(NULL);
        if (status != CC_OK)
            ck_assert(status == CC_ERROR_OUT_OF_HOST_MEMORY || status == CC_ERROR_OUT_OF_DEVICE_MEMORY);
        expect_value(0);
        expect_value(1);
    }
}
END_TEST

typedef struct caller {
    pthread_t thread;
    cc_status status;
} caller;
static caller other;
static bool is_started;

static void *write_the_first(void *argument)
{
    void *pixels = NULL;
    caller *self = argument;
    self->status = cc_image_map_host(images[0], NULL, CC_ACCESS_READ_WRITE, &pixels);
    if (self->status == CC_OK) {
        memset(pixels, 77, BYTES);
        self->status = cc_image_unmap_host(images[0], pixels);
    }
    return NULL;
}

static void *fill_the_first(void *argument)
{
    const unsigned char value = 77;
    caller *self = argument;
    self->status = cc_image_fill(images[0], NULL, &value, CC_STREAM_DEFAULT);
    return NULL;
}

static void *(*call_of_other)(void *argument);

/* While the first is copied to the host, another thread wants it, and has time to come across. */
static bool start_other(faulty_operation operation)
{
    const struct timespec moment = {.tv_nsec = 20000000};
    if (operation == FAULTY_COPY && !is_started) {
        is_started = true;
        ck_assert_int_eq(pthread_create(&other.thread, NULL, call_of_other, &other), 0);
        nanosleep(&moment, NULL);
    }
    return false;
}

START_TEST(nobody_is_refused_while_an_image_leaves)
{
    static void *(*const calls[])(void *) = {write_the_first, fill_the_first};
    if (fixture_device_count() == 0)
        return;
    call_of_other = calls[_i];
    is_started = false;
    set_limit(1);
    make_dirty(0);
    faulty_backend_set_hook(fixture_backend, start_other);
    make_dirty(1);
    faulty_backend_set_hook(fixture_backend, NULL);
    ck_assert(is_started);
    pthread_join(other.thread, NULL);
    fixture_ok(other.status);
    byte_pixels_expect_host(images[0], NULL, 77);
    byte_pixels_expect_device(images[0], NULL, 77, CC_STREAM_DEFAULT);
    expect_value(1);
}
END_TEST

static void *bring_the_second(void *argument)
{
    caller *self = argument;
    self->status = cc_image_prefetch(images[1], NULL, 0);
    return NULL;
}

static bool bring_second_meanwhile(faulty_operation operation)
{
    if (operation == FAULTY_COPY && !is_started) {
        is_started = true;
        ck_assert_int_eq(pthread_create(&other.thread, NULL, bring_the_second, &other), 0);
        pthread_join(other.thread, NULL);
    }
    return false;
}

START_TEST(what_is_being_copied_stays)
{
    if (fixture_device_count() < 2)
        return;
    is_started = false;
    set_limit(1);
    make_dirty(0);
    faulty_backend_set_hook(fixture_backend, bring_second_meanwhile);
    fixture_ok(cc_image_prefetch(images[0], NULL, 1));
    faulty_backend_set_hook(fixture_backend, NULL);
    ck_assert(is_started);
    ck_assert_int_eq(other.status, CC_ERROR_OUT_OF_DEVICE_MEMORY);
    expect_on_device("x.");
    fixture_ok(cc_image_prefetch(images[1], NULL, 0));
    expect_on_device(".x");
    expect_value(0);
}
END_TEST

#define THREADS 4
#define ROUNDS 60

typedef struct worker {
    pthread_t thread;
    uint32_t state;
    int32_t first;
    const char *failure;
} worker;

static uint32_t draw(worker *self, uint32_t below)
{
    self->state = self->state * 1664525u + 1013904223u;
    return (self->state >> 16) % below;
}

/* Check's assertions are for the main thread. */
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            self->failure = #condition;                                                                                \
            return NULL;                                                                                               \
        }                                                                                                              \
    } while (0)

/* Each thread has three images, and adds one to the first byte of each pixel row, here or there. */
static void *add_and_look(void *argument)
{
    worker *self = argument;
    unsigned char counts[3] = {0};
    for (int32_t round = 0; round < ROUNDS; ++round) {
        const uint32_t which = draw(self, 3);
        cc_image *image = images[self->first + (int32_t)which];
        unsigned char *pixels = NULL;
        if (draw(self, 3) == 0) {
            CHECK(cc_image_map_host(image, NULL, CC_ACCESS_READ_WRITE, (void **)&pixels) == CC_OK);
            for (size_t i = 0; i < BYTES; ++i)
                CHECK(pixels[i] == counts[which]);
            ++counts[which];
            memset(pixels, counts[which], BYTES);
            CHECK(cc_image_unmap_host(image, pixels) == CC_OK);
        } else {
            CHECK(cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_PER_THREAD, (void **)&pixels) == CC_OK);
            CHECK(cc_image_unmap_device(image, pixels, CC_STREAM_PER_THREAD) == CC_OK);
            ++counts[which];
            CHECK(cc_image_rescale(image, 1.0, 1.0, image, CC_STREAM_PER_THREAD) == CC_OK);
        }
    }
    for (int32_t which = 0; which < 3; ++which) {
        cc_image *image = images[self->first + which];
        unsigned char *pixels = NULL;
        CHECK(cc_image_map_host(image, NULL, CC_ACCESS_READ, (void **)&pixels) == CC_OK);
        for (size_t i = 0; i < BYTES; ++i)
            CHECK(pixels[i] == counts[which]);
        CHECK(cc_image_unmap_host(image, pixels) == CC_OK);
    }
    return NULL;
}

START_TEST(several_threads_share_a_third_of_what_they_need)
{
    worker workers[THREADS] = {0};
    if (fixture_device_count() == 0)
        return;
    /* A thread has at most one image in use at a time, so that there is always one to leave. */
    set_limit(IMAGES / 3);
    for (int32_t i = 0; i < THREADS; ++i) {
        workers[i].state = (uint32_t)(_i * THREADS + i);
        workers[i].first = 3 * i;
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, add_and_look, &workers[i]), 0);
    }
    for (int32_t i = 0; i < THREADS; ++i)
        pthread_join(workers[i].thread, NULL);
    for (int32_t i = 0; i < THREADS; ++i)
        ck_assert_msg(workers[i].failure == NULL, "%s", workers[i].failure);
    ck_assert_uint_le(cc__budget_held_bytes(0), IMAGES / 3 * BYTES);
}
END_TEST

/* Everybody reads everything, here and there: no reader is ever refused, or finds another value. */
static void *look_at_all(void *argument)
{
    worker *self = argument;
    for (int32_t round = 0; round < ROUNDS; ++round) {
        const uint32_t which = draw(self, IMAGES);
        unsigned char *pixels = NULL;
        if (draw(self, 2) == 0) {
            CHECK(cc_image_map_host(images[which], NULL, CC_ACCESS_READ, (void **)&pixels) == CC_OK);
            for (size_t i = 0; i < BYTES; ++i)
                CHECK(pixels[i] == which + 1);
            CHECK(cc_image_unmap_host(images[which], pixels) == CC_OK);
            CHECK(cc_image_evict(images[which], CC_PLACE_HOST) != CC_ERROR_INVALID_ARGUMENT);
        } else {
            unsigned char copy[BYTES];
            CHECK(cc_image_map_device(images[which], NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, (void **)&pixels) ==
                  CC_OK);
            fixture_device_read(0, CC_STREAM_DEFAULT, copy, pixels, BYTES);
            CHECK(cc_image_unmap_device(images[which], pixels, CC_STREAM_DEFAULT) == CC_OK);
            CHECK(cc_stream_synchronize(0, CC_STREAM_DEFAULT) == CC_OK);
            for (size_t i = 0; i < BYTES; ++i)
                CHECK(copy[i] == which + 1);
        }
    }
    return NULL;
}

START_TEST(several_threads_read_the_same_images)
{
    worker workers[THREADS] = {0};
    if (fixture_device_count() == 0)
        return;
    set_limit(2 * THREADS);
    for (int32_t i = 0; i < IMAGES; ++i)
        make_dirty(i);
    for (int32_t i = 0; i < THREADS; ++i) {
        workers[i].state = (uint32_t)(_i * THREADS + i);
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, look_at_all, &workers[i]), 0);
    }
    for (int32_t i = 0; i < THREADS; ++i)
        pthread_join(workers[i].thread, NULL);
    for (int32_t i = 0; i < THREADS; ++i)
        ck_assert_msg(workers[i].failure == NULL, "%s", workers[i].failure);
    for (int32_t i = 0; i < IMAGES; ++i)
        expect_value(i);
}
END_TEST

START_TEST(a_working_set_of_three_times_the_limit_is_right)
{
    unsigned char counts[IMAGES] = {0};
    worker self = {.state = (uint32_t)_i};
    if (fixture_device_count() == 0)
        return;
    if (fixture_is_emulated())
        cc__emulated_set_seed(fixture_inner, (uint64_t)_i);
    set_limit(IMAGES / 3);
    for (int32_t round = 0; round < 150; ++round) {
        const uint32_t image = draw(&self, IMAGES);
        const cc_region part = region_at(0, (int64_t)draw(&self, SIZE / 2), SIZE, 1 + (int64_t)draw(&self, SIZE / 2));
        switch (draw(&self, 4)) {
        case 0:
            byte_pixels_expect_host(images[image], &part, counts[image]);
            break;
        case 1:
            byte_pixels_expect_device(images[image], &part, counts[image], CC_STREAM_DEFAULT);
            break;
        case 2:
            byte_pixels_write_device(images[image], NULL, ++counts[image], CC_STREAM_DEFAULT);
            break;
        default:
            fixture_ok(cc_image_rescale(images[image], 1.0, 1.0, images[image], CC_STREAM_DEFAULT));
            ++counts[image];
            break;
        }
        ck_assert_uint_le(cc__budget_held_bytes(0), IMAGES / 3 * BYTES);
    }
    for (int32_t i = 0; i < IMAGES; ++i)
        byte_pixels_expect_host(images[i], NULL, counts[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("working_set");
    TCase *tcase = tcase_create("working_set");
    tcase_add_checked_fixture(tcase, many_images_set_up, many_images_tear_down);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, without_host_memory_nothing_is_lost);
    tcase_add_test(tcase, whatever_fails_nothing_is_lost);
    tcase_add_loop_test(tcase, nobody_is_refused_while_an_image_leaves, 0, 2);
    tcase_add_test(tcase, what_is_being_copied_stays);
    tcase_add_loop_test(tcase, several_threads_share_a_third_of_what_they_need, 0, 3);
    tcase_add_loop_test(tcase, several_threads_read_the_same_images, 0, 3);
    tcase_add_loop_test(tcase, a_working_set_of_three_times_the_limit_is_right, 0, 6);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
