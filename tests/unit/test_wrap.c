/* Images over the caller's host memory: used as it is, given back once. What device memory adds is in
 * test_wrap_device.c. */
#include "base/allocate.h"
#include "support/byte_pixels.h"
#include "support/dense_work.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ROW 12
#define SIZE_I 5
#define SIZE_J 4

static cc_image *image;
static unsigned char memory[ROW * SIZE_J];
static int32_t releases;
static void *released;

static void set_up(void)
{
    fixture_setup();
    image = fixture_image(CC_PIXEL_UINT8, 1, 2, SIZE_I, SIZE_J, 1);
    memset(memory, 3, sizeof memory);
    releases = 0;
    released = NULL;
}

static void tear_down(void)
{
    cc_image_release(image);
    fixture_teardown();
}

static void note_release(void *data, void *user_data)
{
    ck_assert_ptr_eq(user_data, &releases);
    released = data;
    ++releases;
}

static cc_wrap_params dense_params(void)
{
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    params.data = memory;
    params.size_bytes = SIZE_I * SIZE_J;
    params.release = note_release;
    params.user_data = &releases;
    return params;
}

static cc_wrap_params padded_params(void)
{
    cc_wrap_params params = dense_params();
    params.size_bytes = ROW * (SIZE_J - 1) + SIZE_I;
    params.strides_bytes[0] = 1;
    params.strides_bytes[1] = ROW;
    return params;
}

static void drop_image(void)
{
    cc_image_release(image);
    image = NULL;
}

START_TEST(host_access_is_to_the_memory_itself)
{
    const cc_wrap_params params = dense_params();
    void *pixels = NULL;
    fixture_ok(cc_image_wrap_host(image, &params));
    ck_assert_int_eq(cc_image_get_size(image, 0), SIZE_I);
    ck_assert_int_eq(cc_image_get_read_only(image), 0);
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ_WRITE, &pixels));
    ck_assert_ptr_eq(pixels, memory);
    fixture_ok(cc_image_unmap_host(image, pixels));
    byte_pixels_write_host(image, NULL, 7);
    ck_assert(bytes_are(memory, 7, SIZE_I * SIZE_J));
    ck_assert(bytes_are(memory + SIZE_I * SIZE_J, 3, sizeof memory - SIZE_I * SIZE_J));
    ck_assert_uint_eq(fixture_counters(image).host_allocations, 0);
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(image, CC_PLACE_HOST, &state));
    ck_assert_uint_eq(state.memory_bytes, SIZE_I * SIZE_J);
    ck_assert_int_eq(state.valid_pixels, SIZE_I * SIZE_J);
    ck_assert_int_eq(state.constant_pixels, 0);
}
END_TEST

START_TEST(rows_with_a_gap_keep_it)
{
    const cc_wrap_params params = padded_params();
    int64_t strides[CC_MAX_DIMENSION];
    fixture_ok(cc_image_wrap_host(image, &params));
    byte_pixels_strides(image, CC_PLACE_HOST, strides);
    ck_assert_int_eq(strides[1], ROW);
    const cc_region region = region_at(1, 1, 3, 2);
    byte_pixels_write_host(image, &region, 9);
    if (fixture_device_count() > 0) {
        const cc_region last = region_at(0, 3, SIZE_I, 1);
        byte_pixels_expect_device(image, &region, 9, CC_STREAM_DEFAULT);
        byte_pixels_strides(image, 0, strides);
        ck_assert_int_eq(strides[1], SIZE_I);
        byte_pixels_write_device(image, &last, 8, CC_STREAM_DEFAULT);
        byte_pixels_expect_host(image, &last, 8);
        ck_assert(bytes_are(memory + 3 * ROW, 8, SIZE_I));
    }
    for (int32_t j = 0; j < SIZE_J; ++j)
        ck_assert(bytes_are(memory + j * ROW + SIZE_I, 3, ROW - SIZE_I));
    ck_assert(bytes_are(memory + ROW + 1, 9, 3));
    ck_assert_int_eq(memory[ROW], 3);
}
END_TEST

START_TEST(axes_in_another_order)
{
    cc_wrap_params params = dense_params();
    void *pixels = NULL;
    params.strides_bytes[0] = SIZE_J;
    params.strides_bytes[1] = 1;
    for (int32_t at = 0; at < SIZE_I * SIZE_J; ++at)
        memory[at] = (unsigned char)at;
    fixture_ok(cc_image_wrap_host(image, &params));
    const cc_region pixel = region_at(3, 2, 1, 1);
    fixture_ok(cc_image_map_host(image, &pixel, CC_ACCESS_READ, &pixels));
    ck_assert_int_eq(*(unsigned char *)pixels, 3 * SIZE_J + 2);
    fixture_ok(cc_image_unmap_host(image, pixels));
    if (fixture_device_count() > 0)
        byte_pixels_expect_device(image, &pixel, 3 * SIZE_J + 2, CC_STREAM_DEFAULT);
}
END_TEST

START_TEST(it_counts_as_the_newest_copy)
{
    byte_pixels_write_host(image, NULL, 1);
    if (fixture_device_count() > 0)
        byte_pixels_expect_device(image, NULL, 1, CC_STREAM_DEFAULT);
    const uint64_t generation = cc_image_get_generation(image);
    const cc_wrap_params params = dense_params();
    fixture_ok(cc_image_wrap_host(image, &params));
    ck_assert_uint_ne(cc_image_get_generation(image), generation);
    byte_pixels_expect_host(image, NULL, 3);
    if (fixture_device_count() == 0)
        return;
    byte_pixels_expect_device(image, NULL, 3, CC_STREAM_DEFAULT);
    ck_assert_uint_eq(fixture_counters(image).host_to_device_copies, 1);
    ck_assert_uint_eq(fixture_counters(image).host_to_device_bytes, SIZE_I * SIZE_J);
}
END_TEST

START_TEST(uninitialized_memory_is_not_read)
{
    cc_wrap_params params = dense_params();
    void *pixels = &params;
    params.flags = CC_WRAP_UNINITIALIZED;
    fixture_ok(cc_image_wrap_host(image, &params));
    expect_failure(CC_ERROR_UNINITIALIZED, "", cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    ck_assert_ptr_eq(pixels, &params);
    if (fixture_device_count() > 0) {
        byte_pixels_write_device(image, NULL, 6, CC_STREAM_DEFAULT);
        ck_assert_uint_eq(fixture_counters(image).host_to_device_copies, 0);
        byte_pixels_expect_host(image, NULL, 6);
        ck_assert(bytes_are(memory, 6, SIZE_I * SIZE_J));
    } else {
        byte_pixels_write_host(image, NULL, 6);
        byte_pixels_expect_host(image, NULL, 6);
    }
}
END_TEST

START_TEST(read_only_memory_is_only_read)
{
    const cc_region all = region_at(0, 0, SIZE_I, SIZE_J), part = region_at(1, 1, 1, 1);
    const unsigned char value = 9;
    cc_wrap_params params = dense_params();
    cc_image *other = fixture_image(CC_PIXEL_UINT8, 1, 2, SIZE_I, SIZE_J, 1), *view = NULL;
    void *pixels = &params;
    params.flags = CC_WRAP_READ_ONLY;
    fixture_ok(cc_image_wrap_host(image, &params));
    fixture_ok(cc_image_create_view(image, &all, &view));
    cc_image *const handles[] = {image, view};
    for (int32_t i = 0; i < 2; ++i) {
        ck_assert_int_eq(cc_image_get_read_only(handles[i]), 1);
        expect_failure(CC_ERROR_READ_ONLY, "", cc_image_map_host(handles[i], NULL, CC_ACCESS_WRITE, &pixels));
        expect_failure(CC_ERROR_READ_ONLY, "", cc_image_map_host(handles[i], &part, CC_ACCESS_READ_WRITE, &pixels));
        expect_failure(CC_ERROR_READ_ONLY, "",
                       cc_image_map_device(handles[i], NULL, CC_ACCESS_WRITE, CC_STREAM_DEFAULT, &pixels));
        expect_failure(CC_ERROR_READ_ONLY, "", cc_image_fill(handles[i], NULL, &value, CC_STREAM_DEFAULT));
        expect_failure(CC_ERROR_READ_ONLY, "", cc_image_fill(handles[i], &part, &value, CC_STREAM_DEFAULT));
        expect_failure(CC_ERROR_READ_ONLY, "", cc_image_rescale(other, 1, 0, handles[i], CC_STREAM_DEFAULT));
        expect_failure(CC_ERROR_READ_ONLY, "", cc_image_rescale(handles[i], 1, 0, handles[i], CC_STREAM_DEFAULT));
    }
    ck_assert_ptr_eq(pixels, &params);
    fixture_ok(cc_image_rescale(image, 1, 1, other, CC_STREAM_DEFAULT));
    byte_pixels_expect_host(other, NULL, 4);
    if (fixture_device_count() > 0)
        byte_pixels_expect_device(view, &part, 3, CC_STREAM_DEFAULT);
    ck_assert(bytes_are(memory, 3, sizeof memory));
    cc_image_release(view);
    cc_image_release(other);
}
END_TEST

#define expect_refused(expected, argument)                                                                             \
    do {                                                                                                               \
        expect_failure(expected, argument, cc_image_wrap_host(image, &params));                                        \
        params = dense_params();                                                                                       \
    } while (0)

START_TEST(bad_params_are_refused_by_name)
{
    cc_wrap_params params = dense_params();
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_wrap_host(NULL, &params));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params", cc_image_wrap_host(image, NULL));
    params.struct_size = 0;
    expect_refused(CC_ERROR_INVALID_ARGUMENT, "struct_size = 0");
    params.flags = 16;
    expect_refused(CC_ERROR_INVALID_ARGUMENT, "flags = 0x10");
    params.flags = CC_WRAP_READ_ONLY | CC_WRAP_UNINITIALIZED;
    expect_refused(CC_ERROR_INVALID_ARGUMENT, "flags");
    params.release = NULL;
    expect_refused(CC_ERROR_INVALID_ARGUMENT, "release");
    params.flags = CC_WRAP_BORROWED;
    expect_refused(CC_ERROR_INVALID_ARGUMENT, "release");
    params.data = NULL;
    expect_refused(CC_ERROR_INVALID_ARGUMENT, "data");
    params.size_bytes = SIZE_I * SIZE_J - 1;
    expect_refused(CC_ERROR_SIZE, "size_bytes = 19, expected 20");
    params.size_bytes = SIZE_I * SIZE_J + 1;
    expect_refused(CC_ERROR_SIZE, "size_bytes = 21");
    params.size_bytes = SIZE_MAX;
    expect_refused(CC_ERROR_SIZE, "size_bytes");
    params = padded_params();
    params.size_bytes = ROW * SIZE_J;
    expect_refused(CC_ERROR_SIZE, "expected 41");
    params.strides_bytes[1] = SIZE_I; /* the stride of i is 0 */
    expect_refused(CC_ERROR_LAYOUT, "strides_bytes[0] = 0");
    params.strides_bytes[0] = 1;
    params.strides_bytes[1] = SIZE_I - 1;
    expect_refused(CC_ERROR_LAYOUT, "strides_bytes[1] = 4");
    params.strides_bytes[0] = 1;
    params.strides_bytes[1] = -ROW;
    expect_refused(CC_ERROR_LAYOUT, "strides_bytes[1] = -12");
    params.strides_bytes[0] = INT64_MAX;
    params.strides_bytes[1] = 1;
    expect_refused(CC_ERROR_OVERFLOW, "strides_bytes[0]");
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    expect_refused(CC_ERROR_BUSY, "image");
    fixture_ok(cc_image_unmap_host(image, pixels));
    expect_allocations_to_fail_from(1);
    expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY, cc_image_wrap_host(image, &params));
    cc__allocate_set_hook(NULL);
    ck_assert_int_eq(releases, 0);
    byte_pixels_expect_host(image, NULL, 0);
}
END_TEST

START_TEST(alignment_is_that_of_a_component)
{
    cc_image *floats = fixture_image(CC_PIXEL_COMPLEX64, 2, 2, 1, 2, 1);
    double aligned[8];
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    params.flags = CC_WRAP_BORROWED;
    params.data = (unsigned char *)aligned + 4;
    params.size_bytes = 32;
    expect_failure(CC_ERROR_LAYOUT, "data", cc_image_wrap_host(floats, &params));
    params.data = aligned;
    params.strides_bytes[0] = 8;
    params.strides_bytes[1] = 20;
    params.size_bytes = 36;
    expect_failure(CC_ERROR_LAYOUT, "strides_bytes[1] = 20", cc_image_wrap_host(floats, &params));
    params.strides_bytes[1] = 24;
    params.size_bytes = 40;
    fixture_ok(cc_image_wrap_host(floats, &params));
    cc_image_release(floats);
}
END_TEST

/* What a program compiled against another version passes. The memory ends where its struct does. */
START_TEST(shorter_and_longer_params)
{
    struct {
        cc_wrap_params known;
        unsigned char later[32];
    } longer;
    memset(&longer, 0xff, sizeof longer);
    longer.known = dense_params();
    longer.known.struct_size = sizeof longer;
    fixture_ok(cc_image_wrap_host(image, &longer.known));
    const uint32_t short_size = offsetof(cc_wrap_params, strides_bytes);
    cc_wrap_params *shorter = expect_short_struct(short_size);
    longer.known.struct_size = short_size;
    longer.known.flags = CC_WRAP_BORROWED;
    memcpy(shorter, &longer.known, short_size);
    fixture_ok(cc_image_wrap_host(image, shorter));
    free(shorter);
    ck_assert_int_eq(releases, 1);
    byte_pixels_expect_host(image, NULL, 3);
    ck_assert_uint_eq(longer.known.struct_size, short_size);
}
END_TEST

START_TEST(given_back_once_when_nobody_uses_it)
{
    const cc_wrap_params params = dense_params();
    const cc_region part = region_at(0, 0, 1, 1);
    cc_image *view = NULL, *graft = fixture_image(CC_PIXEL_UINT8, 1, 1, 1, 1, 1);
    void *pixels = NULL;
    fixture_ok(cc_image_wrap_host(image, &params));
    fixture_ok(cc_image_create_view(image, &part, &view));
    fixture_ok(cc_image_graft(graft, image));
    drop_image();
    cc_image_release(view);
    fixture_ok(cc_image_map_host(graft, NULL, CC_ACCESS_READ, &pixels));
    cc_image_release(graft);
    ck_assert_int_eq(releases, 0);
    fixture_ok(cc_image_unmap_host(graft, pixels));
    ck_assert_int_eq(releases, 1);
    ck_assert_ptr_eq(released, memory);
}
END_TEST

START_TEST(wrapping_again_gives_the_first_back)
{
    unsigned char other[SIZE_I * SIZE_J];
    cc_wrap_params params = dense_params();
    fixture_ok(cc_image_wrap_host(image, &params));
    params.data = other;
    memset(other, 5, sizeof other);
    fixture_ok(cc_image_wrap_host(image, &params));
    ck_assert_int_eq(releases, 1);
    ck_assert_ptr_eq(released, memory);
    byte_pixels_expect_host(image, NULL, 5);
    drop_image();
    ck_assert_int_eq(releases, 2);
    ck_assert_ptr_eq(released, other);
}
END_TEST

static void *drop_elsewhere(void *argument)
{
    cc_image_release(argument);
    return NULL;
}

START_TEST(given_back_in_whichever_thread_drops_the_last)
{
    const cc_wrap_params params = dense_params();
    pthread_t thread;
    fixture_ok(cc_image_wrap_host(image, &params));
    ck_assert_int_eq(pthread_create(&thread, NULL, drop_elsewhere, image), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    image = NULL;
    ck_assert_int_eq(releases, 1);
}
END_TEST

/* A callback may use the library, also the handle that lets go of the memory: no lock is held. */
static void use_the_library(void *data, void *user_data)
{
    void *pixels = NULL;
    (void)data;
    fixture_ok(cc_image_map_host(user_data, NULL, CC_ACCESS_READ_WRITE, &pixels));
    fixture_ok(cc_image_unmap_host(user_data, pixels));
    ++releases;
}

START_TEST(the_callback_may_use_the_library)
{
    cc_wrap_params params = dense_params();
    params.release = use_the_library;
    params.user_data = image;
    fixture_ok(cc_image_wrap_host(image, &params));
    const cc_region region = region_at(0, 0, 2, 2);
    fixture_ok(cc_image_resize(image, &region));
    ck_assert_int_eq(releases, 1);
}
END_TEST

START_TEST(an_empty_image_needs_no_memory)
{
    cc_image *empty = fixture_image(CC_PIXEL_FLOAT64, 3, 3, 4, 0, 2);
    cc_wrap_params params = dense_params();
    params.data = NULL;
    expect_failure(CC_ERROR_SIZE, "size_bytes = 20, expected 0", cc_image_wrap_host(empty, &params));
    params.size_bytes = 0;
    fixture_ok(cc_image_wrap_host(empty, &params));
    void *pixels = &params;
    fixture_ok(cc_image_map_host(empty, NULL, CC_ACCESS_READ_WRITE, &pixels));
    ck_assert_ptr_null(pixels);
    cc_image_release(empty);
    ck_assert_int_eq(releases, 1);
    ck_assert_ptr_null(released);
}
END_TEST

START_TEST(views_keep_the_pixels_from_before)
{
    const cc_wrap_params params = dense_params();
    const cc_region part = region_at(1, 1, 2, 2);
    cc_image *view = NULL;
    byte_pixels_write_host(image, NULL, 1);
    fixture_ok(cc_image_create_view(image, &part, &view));
    fixture_ok(cc_image_wrap_host(image, &params));
    byte_pixels_expect_host(view, NULL, 1);
    byte_pixels_write_host(view, NULL, 2);
    byte_pixels_expect_host(image, NULL, 3);
    /* A view can be wrapped too, and keeps its region. */
    cc_wrap_params small = dense_params();
    small.size_bytes = 4;
    fixture_ok(cc_image_wrap_host(view, &small));
    ck_assert_int_eq(cc_image_get_index(view, 0), 1);
    byte_pixels_expect_host(view, &part, 3);
    cc_image_release(view);
    ck_assert_int_eq(releases, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wrap");
    TCase *tcase = tcase_create("wrap");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, host_access_is_to_the_memory_itself);
    tcase_add_test(tcase, rows_with_a_gap_keep_it);
    tcase_add_test(tcase, axes_in_another_order);
    tcase_add_test(tcase, it_counts_as_the_newest_copy);
    tcase_add_test(tcase, uninitialized_memory_is_not_read);
    tcase_add_test(tcase, read_only_memory_is_only_read);
    tcase_add_test(tcase, bad_params_are_refused_by_name);
    tcase_add_test(tcase, alignment_is_that_of_a_component);
    tcase_add_test(tcase, shorter_and_longer_params);
    tcase_add_test(tcase, given_back_once_when_nobody_uses_it);
    tcase_add_test(tcase, wrapping_again_gives_the_first_back);
    tcase_add_test(tcase, given_back_in_whichever_thread_drops_the_last);
    tcase_add_test(tcase, the_callback_may_use_the_library);
    tcase_add_test(tcase, an_empty_image_needs_no_memory);
    tcase_add_test(tcase, views_keep_the_pixels_from_before);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
