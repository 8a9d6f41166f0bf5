/* One pixel of half a gigabyte: no more than that pixel moves. */
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

#define SIZE 512
#define MOST_BYTES 65536

static const cc_region pixel = {{100, 200, 300, 0}, {1, 1, 1, 1}};
static const int64_t pixel_at = (300LL * SIZE + 200) * SIZE + 100;

/* What the image counted and what the backend was asked for agree. */
static void check_moved(cc_image *image, uint64_t up_bytes, uint64_t down_bytes)
{
    const cc_counters counters = fixture_counters(image);
    const faulty_counts counts = faulty_backend_counts(fixture_backend);
    ck_assert_uint_le(counters.device_to_host_bytes, MOST_BYTES);
    ck_assert_uint_le(counters.host_to_device_bytes, MOST_BYTES);
    ck_assert_uint_eq(counters.device_to_host_bytes, down_bytes);
    ck_assert_uint_eq(counters.host_to_device_bytes, up_bytes);
    ck_assert_int_eq(counts.device_to_host_bytes, (int64_t)down_bytes);
    ck_assert_int_eq(counts.host_to_device_bytes, (int64_t)up_bytes);
    ck_assert_uint_eq(counters.device_to_host_copies, down_bytes > 0);
    ck_assert_uint_eq(counters.host_to_device_copies, up_bytes > 0);
}

START_TEST(one_pixel_moves_alone)
{
    static const float from_device[] = {1.5f, 2.5f, 3.5f}, from_host = 7.25f;
    float found[3];
    void *pixels = NULL;
    /* Half a gigabyte for each of several devices would show nothing more. */
    if (fixture_device_count() == 0 || (fixture_is_emulated() && fixture_device_count() > 1))
        return;
    cc_image *image = fixture_image(CC_PIXEL_FLOAT32, 1, 3, SIZE, SIZE, SIZE);
    fixture_ok(cc_image_set_device(image, 0));

    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_WRITE, CC_STREAM_DEFAULT, &pixels));
    fixture_device_write(0, CC_STREAM_DEFAULT, (float *)pixels + pixel_at - 1, from_device, sizeof from_device);
    fixture_ok(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
    check_moved(image, 0, 0);

    fixture_ok(cc_image_map_host(image, &pixel, CC_ACCESS_READ, &pixels));
    ck_assert_float_eq(*(float *)pixels, 2.5f);
    fixture_ok(cc_image_unmap_host(image, pixels));
    check_moved(image, 0, sizeof(float));

    fixture_ok(cc_image_map_host(image, &pixel, CC_ACCESS_WRITE, &pixels));
    *(float *)pixels = from_host;
    fixture_ok(cc_image_unmap_host(image, pixels));
    check_moved(image, 0, sizeof(float));

    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
    fixture_device_read(0, CC_STREAM_DEFAULT, found, (float *)pixels + pixel_at - 1, sizeof found);
    fixture_ok(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
    fixture_ok(cc_stream_synchronize(0, CC_STREAM_DEFAULT));
    ck_assert_float_eq(found[0], 1.5f);
    ck_assert_float_eq(found[1], 7.25f);
    ck_assert_float_eq(found[2], 3.5f);
    check_moved(image, sizeof(float), sizeof(float));
    cc_image_release(image);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("small_moves");
    TCase *tcase = tcase_create("small_moves");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, one_pixel_moves_alone);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
