/* The job that all began with: a small float image, filled, changed at one pixel on the device, read on the host. */
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

static const float filled = 42.3f, changed = 42.314f;

static cc_image *filled_image(cc_stream stream)
{
    cc_image *image = fixture_image(CC_PIXEL_FLOAT32, 1, 3, 2, 2, 2);
    fixture_ok(cc_image_fill(image, NULL, &filled, stream));
    return image;
}

static void check_on_host(cc_image *image)
{
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    const float *values = pixels;
    ck_assert(memcmp(&values[0], &changed, sizeof changed) == 0);
    for (int32_t at = 1; at < 8; ++at)
        ck_assert(memcmp(&values[at], &filled, sizeof filled) == 0);
    fixture_ok(cc_image_unmap_host(image, pixels));
}

/* As a kernel would: late, in stream order. */
static void change_pixel(int32_t device, cc_stream stream, void *pixel)
{
    cc__fill work = {.destination = {.data = pixel, .stride = {4, 4, 4, 4}}, .size = {1, 1, 1, 1}, .pixel_bytes = 4};
    memcpy(work.value, &changed, sizeof changed);
    fixture_ok(fixture_inner->fill(fixture_inner, device, stream, &work));
}

/* Of the image's, and of all that the backend was asked for. */
static uint64_t count_transfers(cc_image *image)
{
    const cc_counters counters = fixture_counters(image);
    const faulty_counts counts = faulty_backend_counts(fixture_backend);
    const uint64_t copies =
        counters.host_to_device_copies + counters.device_to_host_copies + counters.device_to_device_copies;
    ck_assert_int_eq(counts.host_to_device_copies + counts.device_to_host_copies + counts.device_to_device_copies,
                     (int64_t)copies);
    return copies;
}

START_TEST(without_a_device_on_the_host)
{
    const cc_region first = {.size = {1, 1, 1, 1}};
    void *pixels = NULL;
    cc_image *image = filled_image(CC_STREAM_DEFAULT);
    fixture_ok(cc_image_map_host(image, &first, CC_ACCESS_READ_WRITE, &pixels));
    memcpy(pixels, &changed, sizeof changed);
    fixture_ok(cc_image_unmap_host(image, pixels));
    check_on_host(image);
    ck_assert_uint_eq(count_transfers(image), 0);
    cc_image_release(image);
}
END_TEST

/* The image is made current on the device as a whole, then changed through the device pointer. */
START_TEST(with_a_device_one_transfer)
{
    if (fixture_device_count() == 0)
        return;
    const int32_t device = fixture_device_count() - 1;
    cc_stream stream = fixture_stream_create(device);
    void *pixels = NULL;
    cc_image *image = filled_image(stream);
    fixture_ok(cc_image_set_device(image, device));
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ_WRITE, stream, &pixels));
    change_pixel(device, stream, pixels);
    fixture_ok(cc_image_unmap_device(image, pixels, stream));
    ck_assert_uint_eq(count_transfers(image), 0);
    check_on_host(image);
    ck_assert_uint_eq(count_transfers(image), 1);
    ck_assert_uint_eq(fixture_counters(image).device_to_host_bytes, 8 * sizeof filled);
    check_on_host(image);
    ck_assert_uint_eq(count_transfers(image), 1);
    cc_image_release(image);
    fixture_stream_destroy(device, stream);
}
END_TEST

/* Who asks for the one pixel gets that one, and nothing else comes back. */
START_TEST(with_a_device_one_pixel)
{
    const cc_region first = {.size = {1, 1, 1, 1}};
    if (fixture_device_count() == 0)
        return;
    void *pixels = NULL;
    cc_image *image = filled_image(CC_STREAM_DEFAULT);
    fixture_ok(cc_image_set_device(image, 0));
    fixture_ok(cc_image_prefetch(image, NULL, 0));
    fixture_ok(cc_image_map_device(image, &first, CC_ACCESS_WRITE, CC_STREAM_DEFAULT, &pixels));
    change_pixel(0, CC_STREAM_DEFAULT, pixels);
    fixture_ok(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
    check_on_host(image);
    ck_assert_uint_eq(count_transfers(image), 1);
    ck_assert_uint_eq(fixture_counters(image).device_to_host_bytes, sizeof changed);
    cc_image_release(image);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("seed_job");
    TCase *tcase = tcase_create("seed_job");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_test(tcase, without_a_device_on_the_host);
    tcase_add_test(tcase, with_a_device_one_transfer);
    tcase_add_test(tcase, with_a_device_one_pixel);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
