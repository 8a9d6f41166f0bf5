/* Images whose host memory is used again, page-locked, wrapped or short: always the right pixels. */
#include "memory/chunks.h"
#include "memory/crew.h"
#include "memory/host_pool.h"
#include "memory/movement.h"
#include "memory/page_locking.h"
#include "support/byte_pixels.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static size_t locked_limit_before, pool_limit_before, direct_bytes_before;

static void set_up(void)
{
    fixture_setup();
    locked_limit_before = cc__page_locking_limit();
    pool_limit_before = cc__host_pool_limit();
    direct_bytes_before = cc__movement_direct_bytes;
    cc__crew_cores = 3;
}

static void tear_down(void)
{
    cc_host_set_locked_limit(locked_limit_before);
    cc_host_set_pool_limit(pool_limit_before);
    cc__movement_direct_bytes = direct_bytes_before;
    cc__crew_cores = 0;
    fixture_teardown();
}

#define NEEDS_A_DEVICE                                                                                                 \
    if (fixture_device_count() == 0)                                                                                   \
    return

static cc_image *image_of(size_t bytes)
{
    return fixture_image(CC_PIXEL_UINT8, 1, 1, (int64_t)bytes, 1, 1);
}

static void *map_host(cc_image *image, cc_access access)
{
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, access, &pixels));
    return pixels;
}

static uint64_t locked_bytes(cc_image *image)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(image, CC_PLACE_HOST, &state));
    return state.locked_bytes;
}

static void write_on_host(cc_image *image, int value)
{
    unsigned char *pixels = map_host(image, CC_ACCESS_WRITE);
    memset(pixels, value, cc_image_get_size_bytes(image));
    fixture_ok(cc_image_unmap_host(image, pixels));
}

static void expect_on_host(cc_image *image, int value)
{
    unsigned char *pixels = map_host(image, CC_ACCESS_READ);
    size_t wrong = 0;
    for (size_t i = 0; i < cc_image_get_size_bytes(image); ++i)
        wrong += pixels[i] != value;
    ck_assert_uint_eq(wrong, 0);
    fixture_ok(cc_image_unmap_host(image, pixels));
}

/* Late: what is in the image on the device is overwritten in stream order. */
static void write_on_device(cc_image *image, cc_stream stream, unsigned char value)
{
    void *pixels = NULL;
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_WRITE, stream, &pixels));
    const cc__fill work = {.destination = {.data = pixels, .stride = {1, 1, 1, 1}},
                           .size = {(int64_t)cc_image_get_size_bytes(image), 1, 1, 1},
                           .pixel_bytes = 1,
                           .value = {value}};
    fixture_ok(fixture_inner->fill(fixture_inner, cc_image_get_device(image), stream, &work));
    fixture_ok(cc_image_unmap_device(image, pixels, stream));
}

START_TEST(zeros_are_zeros_in_memory_that_was_used_before)
{
    NEEDS_A_DEVICE;
    cc_image *image = image_of(2 * MIB);
    write_on_host(image, 7);
    fixture_ok(cc_image_prefetch(image, NULL, 0));
    cc_image_release(image);
    ck_assert_uint_eq(cc__host_pool_bytes(), 2 * MIB);
    image = image_of(2 * MIB - 5);
    expect_on_host(image, 0);
    ck_assert_uint_eq(cc__host_pool_bytes(), 0);
    cc_image_release(image);

    /* A part of them, and in the stream of a device. */
    image = image_of(2 * MIB);
    const cc_region part = {.index = {MIB}, .size = {MIB / 2}};
    write_on_host(image, 7);
    fixture_ok(cc_image_prefetch(image, NULL, 0));
    cc_image_release(image);
    image = image_of(2 * MIB);
    fixture_ok(cc_image_prefetch(image, &part, CC_PLACE_HOST));
    fixture_ok(cc_image_prefetch(image, NULL, 0));
    expect_on_host(image, 0);
    cc_image_release(image);
}
END_TEST

START_TEST(a_fill_value_in_memory_that_was_used_before)
{
    NEEDS_A_DEVICE;
    const unsigned char five = 5;
    for (int32_t round = 0; round < 3; ++round) {
        cc_image *image = image_of(2 * MIB);
        fixture_ok(cc_image_fill(image, NULL, &five, CC_STREAM_DEFAULT));
        expect_on_host(image, 5);
        write_on_device(image, CC_STREAM_DEFAULT, 6);
        expect_on_host(image, 6);
        cc_image_release(image);
    }
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).calls[FAULTY_HOST_REGISTER], 1);
}
END_TEST

START_TEST(evicted_memory_comes_back)
{
    NEEDS_A_DEVICE;
    cc_image *image = image_of(3 * MIB);
    write_on_host(image, 9);
    fixture_ok(cc_image_prefetch(image, NULL, 0));
    fixture_ok(cc_image_evict(image, CC_PLACE_HOST));
    ck_assert_uint_eq(cc__host_pool_bytes(), 3 * MIB);
    expect_on_host(image, 9);
    ck_assert_uint_eq(cc__host_pool_bytes(), 0);
    cc_image_release(image);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).calls[FAULTY_HOST_REGISTER], 1);
}
END_TEST

/* A kernel sees what was there when it was queued, though the host may write again at once. */
START_TEST(the_host_writes_after_what_is_being_uploaded)
{
    NEEDS_A_DEVICE;
    const size_t bytes = 2 * MIB;
    cc_image *image = image_of(bytes);
    unsigned char *found = malloc(bytes);
    void *pixels = NULL;
    write_on_host(image, 0);
    fixture_ok(cc_image_prefetch(image, NULL, 0));
    for (int value = 1; value <= 2; ++value) {
        const cc_stream stream = fixture_stream_create(0);
        void *kept = NULL;
        fixture_ok(fixture_inner->allocate(fixture_inner, 0, stream, bytes, &kept));
        write_on_host(image, value);
        fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ, stream, &pixels));
        const cc__copy work = {.destination = {.data = kept, .stride = {1, 1, 1, 1}},
                               .source = {.data = pixels, .stride = {1, 1, 1, 1}},
                               .size = {(int64_t)bytes, 1, 1, 1},
                               .pixel_bytes = 1};
        fixture_ok(fixture_inner->copy(fixture_inner, 0, stream, &work));
        fixture_ok(cc_image_unmap_device(image, pixels, stream));
        write_on_host(image, 100);
        fixture_device_read(0, stream, found, kept, bytes);
        fixture_ok(cc_stream_synchronize(0, stream));
        for (size_t i = 0; i < bytes; i += 509)
            ck_assert_int_eq(found[i], value);
        fixture_ok(fixture_inner->free(fixture_inner, 0, stream, kept));
        fixture_ok(cc_stream_synchronize(0, stream));
        fixture_stream_destroy(0, stream);
    }
    ck_assert_uint_eq(fixture_counters(image).host_to_device_paths[CC_PATH_ENGINE].bytes, 3 * bytes);
    free(found);
    cc_image_release(image);
}
END_TEST

START_TEST(memory_that_cannot_be_waited_for_is_not_used_again)
{
    const faulty_operation waits[] = {FAULTY_EVENT_SYNCHRONIZE, FAULTY_STREAM_SYNCHRONIZE, FAULTY_STREAM_WAIT};
    NEEDS_A_DEVICE;
    cc_image *image = image_of(2 * MIB);
    write_on_host(image, 1);
    fixture_ok(cc_image_prefetch(image, NULL, 0));
    for (int32_t i = 0; i < 3; ++i) {
        const faulty_rule rule = {waits[i], 1, true, CC_ERROR_DEVICE, FAULTY_NATIVE_ERROR};
        faulty_backend_add_rule(fixture_backend, &rule);
    }
    fixture_ok(cc_image_evict(image, 0));
    cc_image_release(image);
    faulty_backend_clear_rules(fixture_backend);
    ck_assert_uint_eq(cc__host_pool_bytes(), 0);
    ck_assert_uint_ge(cc__page_locking_bytes(), 2 * MIB);
}
END_TEST

static cc_image *wrap(unsigned char *memory, size_t bytes, uint32_t flags)
{
    cc_image *image = image_of(bytes);
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    params.flags = CC_WRAP_BORROWED | flags;
    params.data = memory;
    params.size_bytes = bytes;
    fixture_ok(cc_image_wrap_host(image, &params));
    return image;
}

/* Page-locked by its owner, the driver may write it late; the CPU must wait where it reads it for the next device. */
START_TEST(pixels_that_are_still_coming_are_not_staged)
{
    if (fixture_device_count() < 2)
        return;
    static unsigned char memory[3 * 4096];
    const int32_t other = fixture_device_count() - 1;
    unsigned char found[sizeof memory];
    void *pixels = NULL;
    const cc_stream stream = fixture_stream_create(0);
    const cc_stream reader = fixture_stream_create(other);
    faulty_backend_refuse_peer_access(fixture_backend, true);
    fixture_ok(fixture_inner->host_register(fixture_inner, memory, sizeof memory));
    memset(memory, 1, sizeof memory);
    /* One that might unlock it: so it does not count as locked. */
    cc_image *locker = wrap(memory, sizeof memory, CC_WRAP_REUSED);
    cc_image *image = wrap(memory, sizeof memory, 0);
    fixture_ok(cc_image_set_device(image, 0));
    write_on_device(image, stream, 2);
    fixture_ok(cc_image_prefetch(image, NULL, CC_PLACE_HOST));
    ck_assert_uint_eq(fixture_counters(image).device_to_host_paths[CC_PATH_PLAIN].bytes, sizeof memory);
    cc__movement_direct_bytes = 0;
    fixture_ok(cc_image_set_device(image, other));
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ, reader, &pixels));
    ck_assert_uint_eq(fixture_counters(image).host_to_device_paths[CC_PATH_STAGED].bytes, sizeof memory);
    fixture_device_read(other, reader, found, pixels, sizeof found);
    fixture_ok(cc_stream_synchronize(other, reader));
    fixture_ok(cc_image_unmap_device(image, pixels, reader));
    for (size_t i = 0; i < sizeof found; ++i)
        ck_assert_int_eq(found[i], 2);
    cc_image_release(image);
    cc_image_release(locker);
    fixture_ok(cc_stream_synchronize(0, stream));
    fixture_ok(fixture_inner->host_unregister(fixture_inner, memory));
    fixture_stream_destroy(other, reader);
    fixture_stream_destroy(0, stream);
}
END_TEST

static int64_t registrations(void)
{
    return faulty_backend_counts(fixture_backend).calls[FAULTY_HOST_REGISTER];
}

START_TEST(wrapped_memory_is_staged_or_locked_in_place)
{
    const bool is_reused = _i == 1;
    const size_t bytes = 5 * MIB;
    NEEDS_A_DEVICE;
    unsigned char *memory = malloc(bytes + 100);
    ck_assert_ptr_nonnull(memory);
    memset(memory, 3, bytes + 100);
    cc_image *image = wrap(memory + 50, bytes, is_reused ? CC_WRAP_REUSED : 0);
    const size_t locked_before = cc__page_locking_bytes();
    for (unsigned char round = 0; round < 3; ++round) {
        const cc_stream stream = fixture_stream_create(0);
        memset(map_host(image, CC_ACCESS_READ_WRITE), 10 + round, bytes);
        fixture_ok(cc_image_unmap_host(image, memory + 50));
        fixture_ok(cc_image_prefetch(image, NULL, 0));
        void *pixels = NULL;
        fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ, stream, &pixels));
        unsigned char *found = malloc(bytes);
        fixture_device_read(0, stream, found, pixels, bytes);
        fixture_ok(cc_stream_synchronize(0, stream));
        for (size_t i = 0; i < bytes; i += 17)
            ck_assert_int_eq(found[i], 10 + round);
        free(found);
        fixture_ok(cc_image_unmap_device(image, pixels, stream));
        write_on_device(image, stream, 20 + round);
        expect_on_host(image, 20 + round);
        fixture_ok(cc_stream_synchronize(0, stream));
        fixture_stream_destroy(0, stream);
    }
    for (size_t i = 0; i < 50; ++i)
        ck_assert(memory[i] == 3 && memory[bytes + 50 + i] == 3);
    /* The whole pages of it, once; or none of it, but chunks. */
    const size_t locked = cc__page_locking_bytes() - locked_before - cc__chunks_bytes();
    const cc_counters counters = fixture_counters(image);
    if (is_reused) {
        ck_assert_uint_le(locked, bytes);
        ck_assert_uint_ge(locked, bytes - 2 * 4096);
        ck_assert_uint_gt(counters.host_to_device_paths[CC_PATH_ENGINE].bytes, 14 * MIB);
    } else {
        ck_assert_uint_eq(locked, 0);
        ck_assert_uint_eq(counters.host_to_device_paths[CC_PATH_STAGED].bytes, 3 * bytes);
        ck_assert_uint_eq(counters.device_to_host_paths[CC_PATH_STAGED].bytes, 3 * bytes);
    }
    cc_image_release(image);
    /* Nothing of the caller's is kept. */
    ck_assert_uint_eq(cc__host_pool_bytes(), 0);
    ck_assert_uint_eq(cc__page_locking_bytes(), cc__chunks_bytes());
    free(memory);
}
END_TEST

static void note_registrations(void *data, void *user_data)
{
    (void)data;
    *(size_t *)user_data = cc__page_locking_bytes();
}

START_TEST(wrapped_memory_is_unlocked_before_it_is_released)
{
    size_t locked_at_release = 12345;
    unsigned char *memory = malloc(3 * MIB);
    cc_image *image = image_of(3 * MIB);
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    params.flags = CC_WRAP_REUSED;
    params.data = memory;
    params.size_bytes = 3 * MIB;
    params.release = note_registrations;
    params.user_data = &locked_at_release;
    memset(memory, 1, 3 * MIB);
    fixture_ok(cc_image_wrap_host(image, &params));
    if (fixture_device_count() > 0) {
        fixture_ok(cc_image_prefetch(image, NULL, 0));
        ck_assert_uint_gt(cc__page_locking_bytes(), 2 * MIB);
    }
    cc_image_release(image);
    ck_assert_uint_eq(locked_at_release, cc__chunks_bytes());
    free(memory);
}
END_TEST

/* The second image's memory overlaps what is locked for the first. */
START_TEST(two_images_over_the_same_memory)
{
    NEEDS_A_DEVICE;
    const size_t bytes = 4 * MIB;
    unsigned char *memory = malloc(bytes);
    memset(memory, 4, bytes);
    cc_image *first = wrap(memory, 3 * MIB, CC_WRAP_REUSED);
    cc_image *second = wrap(memory + MIB, 3 * MIB, CC_WRAP_REUSED);
    fixture_ok(cc_image_prefetch(first, NULL, 0));
    fixture_ok(cc_image_prefetch(second, NULL, 0));
    write_on_device(second, CC_STREAM_DEFAULT, 5);
    expect_on_host(second, 5);
    cc_image_release(first);
    write_on_device(second, CC_STREAM_DEFAULT, 6);
    expect_on_host(second, 6);
    cc_image_release(second);
    ck_assert_int_eq(memory[MIB - 1], 4);
    ck_assert_int_eq(memory[MIB], 6);
    free(memory);
}
END_TEST

START_TEST(read_only_and_reused)
{
    NEEDS_A_DEVICE;
    unsigned char *memory = malloc(2 * MIB);
    memset(memory, 4, 2 * MIB);
    cc_image *image = wrap(memory, 2 * MIB, CC_WRAP_REUSED | CC_WRAP_READ_ONLY);
    fixture_ok(cc_image_prefetch(image, NULL, 0));
    expect_on_host(image, 4);
    cc_image_release(image);
    free(memory);
}
END_TEST

START_TEST(with_a_limit_of_0_nothing_is_locked)
{
    NEEDS_A_DEVICE;
    cc_host_set_locked_limit(0);
    cc_image *image = image_of(5 * MIB);
    write_on_host(image, 1);
    fixture_ok(cc_image_prefetch(image, NULL, 0));
    write_on_device(image, CC_STREAM_DEFAULT, 2);
    expect_on_host(image, 2);
    const cc_counters counters = fixture_counters(image);
    ck_assert_uint_eq(counters.host_to_device_paths[CC_PATH_PLAIN].bytes, 5 * MIB);
    ck_assert_uint_eq(counters.device_to_host_paths[CC_PATH_PLAIN].bytes, 5 * MIB);
    ck_assert_uint_eq(locked_bytes(image), 0);
    cc_image_release(image);
    ck_assert_int_eq(registrations(), 0);
    ck_assert_uint_eq(cc__page_locking_bytes(), 0);
}
END_TEST

START_TEST(short_of_lockable_memory_the_next_image_is_slower)
{
    NEEDS_A_DEVICE;
    cc_host_set_locked_limit(8 * MIB);
    cc_image *first = image_of(5 * MIB);
    cc_image *second = image_of(4 * MIB);
    write_on_host(first, 1);
    write_on_host(second, 2);
    fixture_ok(cc_image_prefetch(first, NULL, 0));
    fixture_ok(cc_image_prefetch(second, NULL, 0));
    ck_assert_uint_eq(locked_bytes(first), 5 * MIB);
    ck_assert_uint_eq(locked_bytes(second), 0);
    ck_assert_uint_eq(fixture_counters(first).host_to_device_paths[CC_PATH_ENGINE].bytes, 5 * MIB);
    ck_assert_uint_eq(fixture_counters(second).host_to_device_paths[CC_PATH_STAGED].bytes, 4 * MIB);
    /* When the first has gone, its memory makes room. */
    cc_image_release(first);
    write_on_host(second, 3);
    fixture_ok(cc_image_prefetch(second, NULL, 0));
    write_on_device(second, CC_STREAM_DEFAULT, 4);
    expect_on_host(second, 4);
    ck_assert_uint_eq(fixture_counters(second).host_to_device_paths[CC_PATH_ENGINE].bytes, 4 * MIB);
    cc_image_release(second);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("image_memory");
    TCase *tcase = tcase_create("image_memory");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, zeros_are_zeros_in_memory_that_was_used_before);
    tcase_add_test(tcase, a_fill_value_in_memory_that_was_used_before);
    tcase_add_test(tcase, evicted_memory_comes_back);
    tcase_add_test(tcase, the_host_writes_after_what_is_being_uploaded);
    tcase_add_test(tcase, memory_that_cannot_be_waited_for_is_not_used_again);
    tcase_add_test(tcase, pixels_that_are_still_coming_are_not_staged);
    tcase_add_loop_test(tcase, wrapped_memory_is_staged_or_locked_in_place, 0, 2);
    tcase_add_test(tcase, wrapped_memory_is_unlocked_before_it_is_released);
    tcase_add_test(tcase, two_images_over_the_same_memory);
    tcase_add_test(tcase, read_only_and_reused);
    tcase_add_test(tcase, with_a_limit_of_0_nothing_is_locked);
    tcase_add_test(tcase, short_of_lockable_memory_the_next_image_is_slower);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
