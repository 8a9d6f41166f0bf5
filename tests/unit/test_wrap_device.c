/* Images over the caller's device memory: used in stream order, given back when the device has finished with it. */
#include "backend/emulated.h"
#include "base/allocate.h"
#include "support/byte_pixels.h"
#include "support/dense_work.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

#define SIZE_I 6
#define SIZE_J 4
#define BYTES (SIZE_I * SIZE_J)
#define PITCH 16

static cc_image *image;
static int32_t device; /* the last there is */
static cc_stream stream;
static void *memory;
static unsigned char host[PITCH * SIZE_J];
static int32_t releases;

/* The memory is all 3. */
static void set_up(void)
{
    fixture_setup();
    image = fixture_image(CC_PIXEL_UINT8, 1, 2, SIZE_I, SIZE_J, 1);
    releases = 0;
    if (fixture_device_count() == 0)
        return;
    device = fixture_device_count() - 1;
    stream = fixture_stream_create(device);
    fixture_ok(fixture_inner->allocate(fixture_inner, device, stream, sizeof host, &memory));
    memset(host, 3, sizeof host);
    fixture_device_write(device, stream, memory, host, sizeof host);
    fixture_ok(cc_stream_synchronize(device, stream));
}

static void tear_down(void)
{
    cc_image_release(image);
    if (fixture_device_count() > 0) {
        fixture_ok(fixture_inner->free(fixture_inner, device, stream, memory));
        fixture_ok(fixture_inner->stream_synchronize(fixture_inner, device, stream));
        fixture_stream_destroy(device, stream);
    }
    fixture_teardown();
}

static void count_release(void *data, void *user_data)
{
    ck_assert_ptr_eq(data, memory);
    ck_assert_ptr_eq(user_data, &releases);
    ++releases;
}

static cc_wrap_params dense_params(void)
{
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    params.data = memory;
    params.size_bytes = BYTES;
    params.release = count_release;
    params.user_data = &releases;
    return params;
}

static void drop_image(void)
{
    cc_image_release(image);
    image = NULL;
}

START_TEST(no_device_no_device_memory)
{
    cc_wrap_params params = dense_params();
    params.data = host;
    if (fixture_device_count() == 0)
        expect_failure(CC_ERROR_NO_DEVICE, "", cc_image_wrap_device(image, &params, CC_STREAM_DEFAULT));
    else
        expect_passed_on(CC_ERROR_POINTER, cc_image_wrap_device(image, &params, CC_STREAM_DEFAULT));
    ck_assert_int_eq(releases, 0);
    ck_assert_int_eq(cc_image_get_device(image), CC_DEVICE_CURRENT);
}
END_TEST

START_TEST(the_device_is_the_memorys)
{
    const cc_wrap_params params = dense_params();
    void *pixels = NULL;
    if (fixture_device_count() == 0)
        return;
    fixture_ok(cc_image_set_device(image, 0));
    fixture_ok(cc_image_wrap_device(image, &params, stream));
    ck_assert_int_eq(cc_image_get_device(image), device);
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ_WRITE, stream, &pixels));
    ck_assert_ptr_eq(pixels, memory);
    fixture_ok(cc_image_unmap_device(image, pixels, stream));
    ck_assert_uint_eq(fixture_counters(image).device_allocations, 0);
    ck_assert_uint_eq(fixture_counters(image).host_to_device_copies, 0);
    byte_pixels_expect_host(image, NULL, 3);
    ck_assert_uint_eq(fixture_counters(image).device_to_host_bytes, BYTES);
    byte_pixels_write_device(image, NULL, 4, stream);
    byte_pixels_expect_host(image, NULL, 4);
    drop_image();
    ck_assert_int_eq(releases, 1);
    fixture_device_read(device, stream, host, memory, sizeof host);
    fixture_ok(cc_stream_synchronize(device, stream));
    ck_assert(bytes_are(host, 4, BYTES));
    ck_assert(bytes_are(host + BYTES, 3, sizeof host - BYTES));
}
END_TEST

START_TEST(what_is_queued_comes_first)
{
    const cc_wrap_params params = dense_params();
    if (fixture_device_count() == 0)
        return;
    fixture_ok(fill_bytes(fixture_inner, device, stream, memory, 8, BYTES));
    fixture_ok(cc_image_wrap_device(image, &params, stream));
    byte_pixels_expect_host(image, NULL, 8);
    /* And in another stream. */
    cc_stream other = fixture_stream_create(device);
    fixture_ok(fill_bytes(fixture_inner, device, stream, memory, 9, BYTES));
    fixture_ok(cc_image_wrap_device(image, &params, stream));
    ck_assert_int_eq(releases, 1);
    byte_pixels_expect_device(image, NULL, 9, other);
    drop_image();
    fixture_stream_destroy(device, other);
}
END_TEST

START_TEST(rows_with_a_gap_keep_it)
{
    cc_wrap_params params = dense_params();
    int64_t strides[CC_MAX_DIMENSION];
    if (fixture_device_count() == 0)
        return;
    params.size_bytes = PITCH * (SIZE_J - 1) + SIZE_I;
    params.strides_bytes[0] = 1;
    params.strides_bytes[1] = PITCH;
    fixture_ok(cc_image_wrap_device(image, &params, stream));
    byte_pixels_strides(image, device, strides);
    ck_assert_int_eq(strides[1], PITCH);
    byte_pixels_strides(image, CC_PLACE_HOST, strides);
    ck_assert_int_eq(strides[1], SIZE_I);
    byte_pixels_write_host(image, NULL, 5);
    byte_pixels_expect_device(image, NULL, 5, stream);
    fixture_device_read(device, stream, host, memory, sizeof host);
    fixture_ok(cc_stream_synchronize(device, stream));
    for (int32_t j = 0; j < SIZE_J; ++j) {
        ck_assert(bytes_are(host + j * PITCH, 5, SIZE_I));
        ck_assert(bytes_are(host + j * PITCH + SIZE_I, 3, PITCH - SIZE_I));
    }
}
END_TEST

START_TEST(read_only_memory_is_only_read)
{
    cc_wrap_params params = dense_params();
    void *pixels = NULL;
    const unsigned char value = 1;
    if (fixture_device_count() == 0)
        return;
    params.flags = CC_WRAP_READ_ONLY;
    fixture_ok(cc_image_wrap_device(image, &params, stream));
    ck_assert_int_eq(cc_image_get_read_only(image), 1);
    expect_failure(CC_ERROR_READ_ONLY, "", cc_image_map_device(image, NULL, CC_ACCESS_READ_WRITE, stream, &pixels));
    expect_failure(CC_ERROR_READ_ONLY, "", cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    expect_failure(CC_ERROR_READ_ONLY, "", cc_image_fill(image, NULL, &value, stream));
    byte_pixels_expect_host(image, NULL, 3);
    byte_pixels_expect_device(image, NULL, 3, stream);
}
END_TEST

START_TEST(uninitialized_memory_is_not_read)
{
    cc_wrap_params params = dense_params();
    void *pixels = NULL;
    if (fixture_device_count() == 0)
        return;
    params.flags = CC_WRAP_UNINITIALIZED | CC_WRAP_BORROWED;
    params.release = NULL;
    fixture_ok(cc_image_wrap_device(image, &params, stream));
    expect_failure(CC_ERROR_UNINITIALIZED, "", cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_UNINITIALIZED, "", cc_image_map_device(image, NULL, CC_ACCESS_READ, stream, &pixels));
    byte_pixels_write_host(image, NULL, 7);
    byte_pixels_expect_device(image, NULL, 7, stream);
}
END_TEST

START_TEST(bad_params_are_refused_by_name)
{
    cc_wrap_params params = dense_params();
    if (fixture_device_count() == 0)
        return;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_wrap_device(NULL, &params, stream));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params", cc_image_wrap_device(image, NULL, stream));
    params.struct_size = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size", cc_image_wrap_device(image, &params, stream));
    params = dense_params();
    params.flags = 16;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "flags", cc_image_wrap_device(image, &params, stream));
    params = dense_params();
    params.release = NULL;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "release", cc_image_wrap_device(image, &params, stream));
    params = dense_params();
    params.data = NULL;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "data", cc_image_wrap_device(image, &params, stream));
    params = dense_params();
    params.size_bytes = BYTES + 1;
    expect_failure(CC_ERROR_SIZE, "size_bytes = 25", cc_image_wrap_device(image, &params, stream));
    params = dense_params();
    params.strides_bytes[0] = 1;
    params.strides_bytes[1] = 2;
    expect_failure(CC_ERROR_LAYOUT, "strides_bytes[1]", cc_image_wrap_device(image, &params, stream));
    ck_assert_int_eq(releases, 0);
    byte_pixels_expect_host(image, NULL, 0);
}
END_TEST

START_TEST(lent_pixels_are_not_replaced)
{
    const cc_wrap_params params = dense_params();
    void *pixels = NULL;
    if (fixture_device_count() == 0)
        return;
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
    const int32_t before = cc_image_get_device(image);
    expect_failure(CC_ERROR_BUSY, "image", cc_image_wrap_device(image, &params, stream));
    ck_assert_int_eq(cc_image_get_device(image), before);
    fixture_ok(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
}
END_TEST

START_TEST(a_captured_stream_is_refused)
{
    const cc_wrap_params params = dense_params();
    if (!fixture_is_emulated())
        return;
    cc__emulated_set_capturing(fixture_inner, device, stream, true);
    expect_failure(CC_ERROR_CAPTURE, "stream", cc_image_wrap_device(image, &params, stream));
    cc__emulated_set_capturing(fixture_inner, device, stream, false);
    ck_assert_int_eq(releases, 0);
    fixture_ok(cc_image_wrap_device(image, &params, stream));
}
END_TEST

static const faulty_rule rules[] = {
    {FAULTY_MEMORY_DEVICE, 1, false, CC_ERROR_DEVICE, 999},
    {FAULTY_MEMORY_DEVICE, 1, false, CC_ERROR_FORKED, 0},
    {FAULTY_STREAM_IS_CAPTURING, 1, false, CC_ERROR_FORKED, 0},
    {FAULTY_STREAM_IS_CAPTURING, 1, false, CC_ERROR_DEVICE, 999},
    {FAULTY_EVENT_CREATE, 1, false, CC_ERROR_DEVICE, 999},
    {FAULTY_EVENT_RECORD, 1, false, CC_ERROR_DEVICE, 999},
};

START_TEST(a_failure_below_leaves_the_memory_with_the_caller)
{
    const cc_wrap_params params = dense_params();
    if (fixture_device_count() == 0)
        return;
    byte_pixels_write_host(image, NULL, 1);
    faulty_backend_add_rule(fixture_backend, &rules[_i]);
    expect_passed_on(rules[_i].status, cc_image_wrap_device(image, &params, stream));
    ck_assert_int_eq(cc_last_native_error(), rules[_i].native_error);
    ck_assert_int_eq(releases, 0);
    ck_assert_int_eq(cc_image_get_device(image), CC_DEVICE_CURRENT);
    byte_pixels_expect_host(image, NULL, 1);
    fixture_ok(cc_image_wrap_device(image, &params, stream));
}
END_TEST

START_TEST(no_memory_leaves_the_memory_with_the_caller)
{
    const cc_wrap_params params = dense_params();
    cc_status status = CC_ERROR_OUT_OF_HOST_MEMORY;
    if (fixture_device_count() == 0)
        return;
    for (long nth = 1; status != CC_OK; ++nth) {
        ck_assert(expect_is_out_of_memory(status));
        ck_assert_int_eq(releases, 0);
        expect_allocations_to_fail_from(nth);
        status = cc_image_wrap_device(image, &params, stream);
        cc__allocate_set_hook(NULL);
    }
    byte_pixels_expect_host(image, NULL, 3);
}
END_TEST

static int32_t finished;

static void finish(void *argument)
{
    (void)argument;
    ck_assert_int_eq(releases, 0);
    ++finished;
}

/* Work that the library knows of is done before the memory goes back; what is lent is still in use. */
START_TEST(given_back_after_the_work_on_it)
{
    const cc_wrap_params params = dense_params();
    void *pixels = NULL;
    if (!fixture_is_emulated())
        return;
    cc_stream streams[] = {fixture_stream_create(device), fixture_stream_create(device)};
    finished = 0;
    fixture_ok(cc_image_wrap_device(image, &params, stream));
    for (int32_t i = 0; i < 2; ++i) {
        fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ, streams[i], &pixels));
        fixture_ok(cc__emulated_launch(fixture_inner, device, streams[i], finish, NULL));
        fixture_ok(cc_image_unmap_device(image, pixels, streams[i]));
    }
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ, streams[1], &pixels));
    cc_image_release(image);
    ck_assert_int_eq(releases, 0);
    fixture_ok(cc_image_unmap_device(image, pixels, streams[1]));
    image = NULL;
    ck_assert_int_eq(finished, 2);
    ck_assert_int_eq(releases, 1);
    for (int32_t i = 0; i < 2; ++i)
        fixture_stream_destroy(device, streams[i]);
}
END_TEST

START_TEST(wrapped_memory_stays_in_use_when_evicted)
{
    const cc_wrap_params params = dense_params();
    if (fixture_device_count() == 0)
        return;
    fixture_ok(cc_image_wrap_device(image, &params, stream));
    fixture_ok(cc_image_evict(image, device));
    ck_assert_int_eq(releases, 0);
    ck_assert_uint_eq(fixture_counters(image).device_to_host_copies, 0);
    byte_pixels_write_device(image, NULL, 6, stream);
    byte_pixels_expect_host(image, NULL, 6);
}
END_TEST

START_TEST(an_empty_image_needs_no_memory)
{
    cc_image *empty = fixture_image(CC_PIXEL_FLOAT32, 1, 2, 0, 4, 1);
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    params.flags = CC_WRAP_BORROWED;
    const cc_status expected = fixture_device_count() > 0 ? CC_OK : CC_ERROR_NO_DEVICE;
    fixture_expect(expected, cc_image_wrap_device(empty, &params, CC_STREAM_DEFAULT));
    cc_image_release(empty);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wrap_device");
    TCase *tcase = tcase_create("wrap_device");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, no_device_no_device_memory);
    tcase_add_test(tcase, the_device_is_the_memorys);
    tcase_add_test(tcase, what_is_queued_comes_first);
    tcase_add_test(tcase, rows_with_a_gap_keep_it);
    tcase_add_test(tcase, read_only_memory_is_only_read);
    tcase_add_test(tcase, uninitialized_memory_is_not_read);
    tcase_add_test(tcase, bad_params_are_refused_by_name);
    tcase_add_test(tcase, lent_pixels_are_not_replaced);
    tcase_add_test(tcase, a_captured_stream_is_refused);
    tcase_add_loop_test(tcase, a_failure_below_leaves_the_memory_with_the_caller, 0, sizeof rules / sizeof rules[0]);
    tcase_add_test(tcase, no_memory_leaves_the_memory_with_the_caller);
    tcase_add_test(tcase, given_back_after_the_work_on_it);
    tcase_add_test(tcase, wrapped_memory_stays_in_use_when_evicted);
    tcase_add_test(tcase, an_empty_image_needs_no_memory);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
