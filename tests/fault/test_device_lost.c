/*
 * A device that fails for good, as after an illegal access: whoever needs it is told so, what is on the host or on
 * other devices is there and stays in use, and everything can be given back. Only the emulated device can be lost
 * without taking the process's others along.
 */
#include "base/allocate.h"
#include "memory/budget.h"
#include "memory/host_pool.h"
#include "support/byte_pixels.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WIDTH 64
#define HEIGHT 35000
#define BYTES ((size_t)WIDTH * HEIGHT)
#define LOST 0
#define HANGS_AFTER_SECONDS 100

/* More than a reading has operations. */
#define MOST_FAULTS 12

static void set_up(void)
{
    alarm(HANGS_AFTER_SECONDS);
    fixture_setup();
}

static void tear_down(void)
{
    for (int32_t device = 0; device < fixture_device_count(); ++device)
        ck_assert_uint_eq(cc__budget_held_bytes(device), 0);
    fixture_teardown();
    alarm(0);
}

/* Queues work that uses memory which another stream has freed before: what a kernel with a stale pointer does. */
static void queue_fatal_work(cc_stream stream)
{
    void *memory = NULL;
    fixture_ok(fixture_inner->allocate(fixture_inner, LOST, stream, 1, &memory));
    fixture_ok(fixture_inner->stream_synchronize(fixture_inner, LOST, stream));
    const cc__fill work = {
        .destination = {.data = memory, .stride = {1, 1, 1, 1}}, .size = {1, 1, 1, 1}, .pixel_bytes = 1};
    fixture_ok(fixture_inner->fill(fixture_inner, LOST, stream, &work));
    cc_stream other = fixture_stream_create(LOST);
    fixture_ok(fixture_inner->free(fixture_inner, LOST, other, memory));
    (void)fixture_inner->stream_synchronize(fixture_inner, LOST, other);
    fixture_stream_destroy(LOST, other);
}

static void lose_device(void)
{
    cc_stream stream = fixture_stream_create(LOST);
    queue_fatal_work(stream);
    fixture_expect(CC_ERROR_DEVICE, fixture_inner->stream_synchronize(fixture_inner, LOST, stream));
    fixture_stream_destroy(LOST, stream);
    ck_assert(fixture_backend->is_lost(fixture_backend, LOST));
}

/* The work runs because another device waits for it, so that nobody is told yet. */
static void lose_device_quietly(void)
{
    cc_stream stream = fixture_stream_create(LOST);
    cc_stream waiting = fixture_stream_create(1);
    cc__event *event = NULL;
    queue_fatal_work(stream);
    fixture_ok(fixture_inner->event_create(fixture_inner, LOST, &event));
    fixture_ok(fixture_inner->event_record(fixture_inner, LOST, event, stream));
    fixture_ok(fixture_inner->stream_wait(fixture_inner, 1, waiting, event));
    fixture_ok(fixture_inner->stream_synchronize(fixture_inner, 1, waiting));
    fixture_inner->event_destroy(fixture_inner, LOST, event);
    fixture_stream_destroy(1, waiting);
    fixture_stream_destroy(LOST, stream);
    ck_assert(!fixture_backend->is_lost(fixture_backend, LOST));
}

static cc_image *make(int32_t device)
{
    cc_image *image = fixture_image(CC_PIXEL_UINT8, 1, 2, WIDTH, HEIGHT, 1);
    fixture_ok(cc_image_set_device(image, device));
    return image;
}

static cc_image *make_clean(unsigned char value)
{
    cc_image *image = make(LOST);
    byte_pixels_write_host(image, NULL, value);
    fixture_ok(cc_image_prefetch(image, NULL, LOST));
    fixture_ok(cc_stream_synchronize(LOST, CC_STREAM_DEFAULT));
    return image;
}

static void expect_lost(cc_status status)
{
    fixture_expect(CC_ERROR_DEVICE, status);
    ck_assert_int_ne(cc_last_native_error(), 0);
    ck_assert_uint_gt(strlen(cc_last_error_message()), 0);
}

START_TEST(what_the_host_has_is_there)
{
    void *pixels = NULL;
    if (!fixture_is_emulated())
        return;
    cc_image *image = make_clean(1);
    lose_device();
    for (int32_t i = 0; i < 3; ++i) {
        byte_pixels_expect_host(image, NULL, 1);
        expect_lost(cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
    }
    ck_assert_ptr_null(pixels);
    /* What the device may still read of the old pixels is of no use to anybody. */
    byte_pixels_write_host(image, NULL, 2);
    byte_pixels_expect_host(image, NULL, 2);
    fixture_ok(cc_image_evict(image, LOST));
    byte_pixels_expect_host(image, NULL, 2);
    byte_pixels_write_host(image, NULL, 3);
    byte_pixels_expect_host(image, NULL, 3);
    cc_image_release(image);
}
END_TEST

/* Gone is gone, but said every time; and the image is good for new pixels. */
START_TEST(what_only_the_device_has_is_refused)
{
    void *pixels = NULL;
    unsigned char value = 7;
    if (!fixture_is_emulated())
        return;
    cc_image *image = make(LOST);
    byte_pixels_write_device(image, NULL, 1, CC_STREAM_DEFAULT);
    lose_device();
    for (int32_t i = 0; i < 3; ++i) {
        expect_lost(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
        expect_lost(cc_image_prefetch(image, NULL, CC_PLACE_HOST));
        expect_lost(cc_image_evict(image, LOST));
    }
    ck_assert_ptr_null(pixels);
    fixture_ok(cc_image_fill(image, NULL, &value, CC_STREAM_DEFAULT));
    byte_pixels_expect_host(image, NULL, 7);
    fixture_ok(cc_image_discard(image, NULL));
    byte_pixels_write_host(image, NULL, 8);
    byte_pixels_expect_host(image, NULL, 8);
    cc_image_release(image);
}
END_TEST

/* Lost between map and unmap, with a kernel under way. */
START_TEST(a_mapping_ends_on_a_lost_device)
{
    void *pixels = NULL;
    if (!fixture_is_emulated())
        return;
    cc_image *image = make_clean(1);
    cc_stream stream = fixture_stream_create(LOST);
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ, stream, &pixels));
    lose_device();
    /* It may work, for a reader, but it must end somehow. */
    cc_status status = cc_image_unmap_device(image, pixels, stream);
    if (status != CC_OK)
        expect_lost(status);
    byte_pixels_expect_host(image, NULL, 1);
    if (status != CC_OK)
        (void)cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT);
    cc_image_release(image);
    fixture_stream_destroy(LOST, stream);
}
END_TEST

/* What others need room for cannot leave, but stays counted; nobody waits for ever. */
START_TEST(limits_of_a_lost_device)
{
    void *pixels = NULL;
    if (!fixture_is_emulated())
        return;
    cc_image *clean = make_clean(1);
    cc_image *dirty = make(LOST);
    cc_image *other = make(LOST);
    byte_pixels_write_device(dirty, NULL, 2, CC_STREAM_DEFAULT);
    lose_device();
    fixture_ok(cc_device_set_limit(LOST, BYTES, 0));
    ck_assert_uint_eq(cc__budget_held_bytes(LOST), BYTES);
    ck_assert_int_ne(cc_image_map_device(other, NULL, CC_ACCESS_WRITE, CC_STREAM_DEFAULT, &pixels), CC_OK);
    ck_assert_int_ne(cc_image_prefetch(clean, NULL, LOST), CC_OK);
    expect_lost(cc_device_trim(LOST, 0));
    byte_pixels_expect_host(clean, NULL, 1);
    byte_pixels_write_host(other, NULL, 3);
    byte_pixels_expect_host(other, NULL, 3);
    cc_image_release(clean);
    cc_image_release(dirty);
    cc_image_release(other);
    fixture_ok(cc_device_set_limit(LOST, 0, 0));
}
END_TEST

/* Pageable memory of the caller's goes through chunks that the lost device used last. */
START_TEST(other_devices_go_on)
{
    if (!fixture_is_emulated() || fixture_device_count() < 3)
        return;
    unsigned char *memory = malloc(BYTES);
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    cc_image *wrapped = make(LOST);
    cc_image *shared = make_clean(4);
    cc_image *own = make(1);
    ck_assert_ptr_nonnull(memory);
    memset(memory, 5, BYTES);
    params.flags = CC_WRAP_BORROWED;
    params.data = memory;
    params.size_bytes = BYTES;
    fixture_ok(cc_image_wrap_host(wrapped, &params));
    fixture_ok(cc_image_prefetch(wrapped, NULL, LOST));
    fixture_ok(cc_image_set_device(shared, 2));
    byte_pixels_expect_device(shared, NULL, 4, CC_STREAM_DEFAULT);
    byte_pixels_write_device(own, NULL, 6, CC_STREAM_DEFAULT);
    lose_device();
    byte_pixels_expect_host(wrapped, NULL, 5);
    for (int32_t i = 0; i < 3; ++i) {
        const unsigned char value = (unsigned char)(10 + i);
        for (int32_t device = 1; device < 3; ++device) {
            fixture_ok(cc_image_set_device(wrapped, device));
            byte_pixels_expect_device(wrapped, NULL, (unsigned char)(i == 0 ? 5 : value - 1), CC_STREAM_DEFAULT);
            byte_pixels_expect_device(own, NULL, 6, CC_STREAM_DEFAULT);
        }
        byte_pixels_write_device(wrapped, NULL, value, CC_STREAM_DEFAULT);
        byte_pixels_expect_host(wrapped, NULL, value);
        byte_pixels_expect_host(shared, NULL, 4);
        cc_host_trim(0);
    }
    byte_pixels_expect_device(shared, NULL, 4, CC_STREAM_DEFAULT);
    byte_pixels_write_device(shared, NULL, 9, CC_STREAM_DEFAULT);
    fixture_ok(cc_image_prefetch(shared, NULL, 1));
    fixture_ok(cc_image_prefetch(shared, NULL, CC_PLACE_HOST));
    byte_pixels_expect_host(shared, NULL, 9);
    expect_lost(cc_image_prefetch(own, NULL, LOST));
    byte_pixels_expect_host(own, NULL, 6);
    cc_image_release(wrapped);
    cc_image_release(shared);
    cc_image_release(own);
    free(memory);
}
END_TEST

/* Written on the device that is lost, and copied to another one. */
static cc_image *make_on_two(unsigned char value)
{
    cc_image *image = make(LOST);
    byte_pixels_write_device(image, NULL, value, CC_STREAM_DEFAULT);
    fixture_ok(cc_stream_synchronize(LOST, CC_STREAM_DEFAULT));
    fixture_ok(cc_image_set_device(image, 1));
    byte_pixels_expect_device(image, NULL, value, CC_STREAM_DEFAULT);
    fixture_ok(cc_stream_synchronize(1, CC_STREAM_DEFAULT));
    return image;
}

static cc_place_state state_of(cc_image *image, cc_place place)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(image, place, &state));
    return state;
}

/* Two devices have the only copies. Odd: who asks for the pixels finds out; from 2 on a third device does. */
START_TEST(a_copy_elsewhere_is_reached)
{
    if (!fixture_is_emulated() || fixture_device_count() < 3)
        return;
    cc_image *image = make_on_two(3);
    const cc_counters before = fixture_counters(image);
    if (_i % 2 == 0)
        lose_device();
    else
        lose_device_quietly();
    expect_forget_message();
    if (_i % 2 == 1)
        fixture_ok(cc_image_prefetch(image, NULL, _i < 2 ? CC_PLACE_HOST : 2));
    if (_i < 2) {
        byte_pixels_expect_host(image, NULL, 3);
    } else {
        fixture_ok(cc_image_set_device(image, 2));
        byte_pixels_expect_device(image, NULL, 3, CC_STREAM_DEFAULT);
    }
    ck_assert_str_eq(cc_last_error_message(), "no message since");
    const cc_counters after = fixture_counters(image);
    ck_assert_uint_eq(after.device_to_host_copies - before.device_to_host_copies, _i < 2);
    ck_assert_uint_eq(after.device_to_device_copies - before.device_to_device_copies, _i >= 2);
    ck_assert_int_eq(state_of(image, LOST).valid_pixels, 0);
    ck_assert_uint_eq(state_of(image, LOST).memory_bytes, BYTES);
    ck_assert_int_eq(state_of(image, 1).valid_pixels, BYTES);
    fixture_ok(cc_image_evict(image, LOST));
    ck_assert_uint_eq(cc__budget_held_bytes(LOST), 0);
    byte_pixels_write_host(image, NULL, 4);
    fixture_ok(cc_image_set_device(image, 1));
    byte_pixels_expect_device(image, NULL, 4, CC_STREAM_DEFAULT);
    cc_image_release(image);
}
END_TEST

/* Some pixels are gone, and the others are not. */
START_TEST(each_pixel_for_itself)
{
    const cc_region gone = region_at(0, 0, WIDTH, HEIGHT / 2);
    const cc_region there = region_at(0, HEIGHT / 2, WIDTH, HEIGHT - HEIGHT / 2);
    void *pixels = NULL;
    if (!fixture_is_emulated())
        return;
    cc_image *image = make_clean(1);
    byte_pixels_write_device(image, &gone, 2, CC_STREAM_DEFAULT);
    lose_device();
    for (int32_t i = 0; i < 3; ++i) {
        byte_pixels_expect_host(image, &there, 1);
        expect_lost(cc_image_map_host(image, &gone, CC_ACCESS_READ, &pixels));
        expect_lost(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
        expect_lost(cc_image_map_host(image, NULL, CC_ACCESS_READ_WRITE, &pixels));
        expect_lost(cc_image_evict(image, LOST));
    }
    ck_assert_ptr_null(pixels);
    byte_pixels_write_host(image, &gone, 3);
    byte_pixels_write_host(image, &there, 4);
    byte_pixels_expect_host(image, &gone, 3);
    fixture_ok(cc_image_evict(image, LOST));
    byte_pixels_expect_host(image, &there, 4);
    cc_image_release(image);
}
END_TEST

/* What came down when the device was lost may never have arrived, and may still be arriving. */
START_TEST(pixels_that_were_on_their_way)
{
    void *pixels = NULL;
    unsigned char value = 8;
    if (!fixture_is_emulated() || fixture_device_count() < 3)
        return;
    cc_image *image = make_on_two(5);
    cc_image *only = make(LOST);
    byte_pixels_write_device(only, NULL, 6, CC_STREAM_DEFAULT);
    fixture_ok(cc_stream_synchronize(LOST, CC_STREAM_DEFAULT));
    fixture_ok(cc_image_prefetch(image, NULL, CC_PLACE_HOST));
    fixture_ok(cc_image_prefetch(only, NULL, CC_PLACE_HOST));
    if (_i == 0)
        lose_device();
    else
        lose_device_quietly();
    expect_forget_message();
    byte_pixels_expect_host(image, NULL, 5);
    ck_assert_str_eq(cc_last_error_message(), "no message since");
    ck_assert_uint_eq(state_of(image, CC_PLACE_HOST).memory_bytes, BYTES);
    byte_pixels_write_host(image, NULL, 7);
    fixture_ok(cc_image_evict(image, LOST));
    byte_pixels_expect_device(image, NULL, 7, CC_STREAM_DEFAULT);
    expect_lost(cc_image_map_host(only, NULL, CC_ACCESS_READ, &pixels));
    ck_assert_ptr_null(pixels);
    fixture_ok(cc_image_fill(only, NULL, &value, CC_STREAM_DEFAULT));
    byte_pixels_expect_host(only, NULL, 8);
    byte_pixels_write_host(only, NULL, 9);
    byte_pixels_expect_host(only, NULL, 9);
    cc_image_release(image);
    cc_image_release(only);
    cc_host_trim(0);
}
END_TEST

/* Who cannot read from the other device takes the way through the host, and not what the host may not have. */
START_TEST(pixels_on_their_way_are_no_source)
{
    if (!fixture_is_emulated() || fixture_device_count() < 3)
        return;
    cc_image *image = make_on_two(5);
    fixture_ok(cc_image_prefetch(image, NULL, CC_PLACE_HOST));
    lose_device();
    faulty_backend_refuse_peer_access(fixture_backend, true);
    fixture_ok(cc_image_set_device(image, 2));
    byte_pixels_expect_device(image, NULL, 5, CC_STREAM_DEFAULT);
    faulty_backend_refuse_peer_access(fixture_backend, false);
    cc_image_release(image);
    cc_host_trim(0);
}
END_TEST

/* The device is lost while it brings the pixels; they may be written anew, on the host and elsewhere. */
START_TEST(lost_under_way)
{
    void *pixels = NULL;
    if (!fixture_is_emulated())
        return;
    cc_image *image = make(LOST);
    cc_stream stream = fixture_stream_create(LOST);
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_WRITE, stream, &pixels));
    queue_fatal_work(stream);
    fixture_ok(cc_image_unmap_device(image, pixels, stream));
    pixels = NULL;
    ck_assert(!fixture_backend->is_lost(fixture_backend, LOST));
    for (int32_t i = 0; i < 3; ++i)
        expect_lost(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    ck_assert_ptr_null(pixels);
    byte_pixels_write_host(image, NULL, 2);
    byte_pixels_expect_host(image, NULL, 2);
    fixture_ok(cc_image_evict(image, LOST));
    byte_pixels_expect_host(image, NULL, 2);
    cc_image_release(image);
    fixture_stream_destroy(LOST, stream);
    cc_host_trim(0);
}
END_TEST

/* The same for a part, beside pixels that are on the host alone and that the device may not have left in peace. */
START_TEST(a_part_lost_under_way)
{
    const cc_region gone = region_at(0, 0, WIDTH, HEIGHT / 2);
    const cc_region there = region_at(0, HEIGHT / 2, WIDTH, HEIGHT - HEIGHT / 2);
    void *pixels = NULL;
    if (!fixture_is_emulated())
        return;
    cc_image *image = make_clean(1);
    cc_stream stream = fixture_stream_create(LOST);
    byte_pixels_write_host(image, &there, 2);
    fixture_ok(cc_image_map_device(image, &gone, CC_ACCESS_WRITE, stream, &pixels));
    queue_fatal_work(stream);
    fixture_ok(cc_image_unmap_device(image, pixels, stream));
    pixels = NULL;
    const cc_counters before = fixture_counters(image);
    for (int32_t i = 0; i < 3; ++i) {
        expect_lost(cc_image_map_host(image, &gone, CC_ACCESS_READ, &pixels));
        byte_pixels_expect_host(image, &there, 2);
    }
    ck_assert_ptr_null(pixels);
    if (_i == 1) {
        /* Where there is no memory for others, nothing has changed. */
        expect_allocations_to_fail_from(1);
        ck_assert_int_ne(cc_image_map_host(image, &gone, CC_ACCESS_WRITE, &pixels), CC_OK);
        cc__allocate_set_hook(NULL);
        byte_pixels_expect_host(image, &there, 2);
    }
    byte_pixels_write_host(image, &gone, 3);
    byte_pixels_expect_host(image, &gone, 3);
    byte_pixels_expect_host(image, &there, 2);
    const cc_counters after = fixture_counters(image);
    ck_assert_uint_eq(after.host_allocations - before.host_allocations, 1);
    ck_assert_uint_eq(after.evictions - before.evictions, 1);
    ck_assert_uint_eq(state_of(image, CC_PLACE_HOST).memory_bytes, BYTES);
    fixture_ok(cc_image_evict(image, LOST));
    byte_pixels_expect_host(image, &there, 2);
    cc_image_release(image);
    fixture_stream_destroy(LOST, stream);
    cc_host_trim(0);
}
END_TEST

/* What only a lost device has beside this one is not clean. */
START_TEST(a_copy_that_is_the_last_is_kept)
{
    if (!fixture_is_emulated() || fixture_device_count() < 3)
        return;
    cc_image *image = make_on_two(3);
    cc_image *other = make(1);
    lose_device();
    fixture_ok(cc_device_set_limit(1, BYTES, 0));
    if (_i == 0)
        fixture_ok(cc_image_evict(image, 1));
    byte_pixels_write_device(other, NULL, 4, CC_STREAM_DEFAULT);
    ck_assert_int_eq(state_of(image, 1).memory_bytes, 0);
    byte_pixels_expect_host(image, NULL, 3);
    byte_pixels_expect_host(other, NULL, 4);
    fixture_ok(cc_device_set_limit(1, 0, 0));
    cc_image_release(image);
    cc_image_release(other);
}
END_TEST

/* What the lost device was to read from another one does not hold that up. */
START_TEST(nobody_waits_for_a_lost_reader)
{
    if (!fixture_is_emulated() || fixture_device_count() < 3)
        return;
    cc_image *image = make(1);
    byte_pixels_write_device(image, NULL, 1, CC_STREAM_DEFAULT);
    fixture_ok(cc_image_prefetch(image, NULL, LOST));
    cc_image *on_host = make(1);
    byte_pixels_write_host(on_host, NULL, 2);
    fixture_ok(cc_image_prefetch(on_host, NULL, LOST));
    cc_image *released = make(1);
    byte_pixels_write_host(released, NULL, 2);
    fixture_ok(cc_image_prefetch(released, NULL, LOST));
    lose_device();
    cc_image_release(released);
    ck_assert_uint_ge(cc__host_pool_bytes(), BYTES);
    byte_pixels_write_device(image, NULL, 3, CC_STREAM_DEFAULT);
    byte_pixels_expect_host(image, NULL, 3);
    byte_pixels_write_device(on_host, NULL, 4, CC_STREAM_DEFAULT);
    byte_pixels_expect_host(on_host, NULL, 4);
    cc_image_release(image);
    cc_image_release(on_host);
}
END_TEST

/* The n-th operation after the loss fails too. What is told is a status, and the next attempt is right. */
START_TEST(a_fault_beside_a_loss)
{
    void *pixels = NULL;
    if (!fixture_is_emulated() || fixture_device_count() < 3)
        return;
    cc_image *image = make_on_two(5);
    fixture_ok(cc_image_prefetch(image, NULL, CC_PLACE_HOST));
    lose_device_quietly();
    faulty_backend_fail_nth(fixture_backend, _i + 1, false);
    const cc_status status = cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels);
    const int64_t failures = faulty_backend_counts(fixture_backend).failures;
    ck_assert_int_eq(failures, _i < MOST_FAULTS - 1 ? failures : 0);
    faulty_backend_clear_rules(fixture_backend);
    if (status == CC_OK)
        fixture_ok(cc_image_unmap_host(image, pixels));
    else
        expect_lost(status);
    byte_pixels_expect_host(image, NULL, 5);
    byte_pixels_write_host(image, NULL, 6);
    byte_pixels_expect_device(image, NULL, 6, CC_STREAM_DEFAULT);
    cc_image_release(image);
    cc_host_trim(0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("device_lost");
    TCase *tcase = tcase_create("device_lost");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 2 * HANGS_AFTER_SECONDS);
    tcase_add_test(tcase, what_the_host_has_is_there);
    tcase_add_test(tcase, what_only_the_device_has_is_refused);
    tcase_add_test(tcase, a_mapping_ends_on_a_lost_device);
    tcase_add_test(tcase, limits_of_a_lost_device);
    tcase_add_test(tcase, other_devices_go_on);
    tcase_add_loop_test(tcase, a_copy_elsewhere_is_reached, 0, 4);
    tcase_add_test(tcase, each_pixel_for_itself);
    tcase_add_loop_test(tcase, pixels_that_were_on_their_way, 0, 2);
    tcase_add_test(tcase, pixels_on_their_way_are_no_source);
    tcase_add_test(tcase, lost_under_way);
    tcase_add_loop_test(tcase, a_part_lost_under_way, 0, 2);
    tcase_add_loop_test(tcase, a_copy_that_is_the_last_is_kept, 0, 2);
    tcase_add_test(tcase, nobody_waits_for_a_lost_reader);
    tcase_add_loop_test(tcase, a_fault_beside_a_loss, 0, MOST_FAULTS);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
