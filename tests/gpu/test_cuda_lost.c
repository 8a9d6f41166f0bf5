/*
 * A real device that is lost, by a kernel that writes where there is no memory. What follows is true of the process
 * from then on, so it is one test.
 */
#include "support/byte_pixels.h"
#include "support/fixture.h"

#include <unistd.h>

#define WIDTH 64
#define HEIGHT 65536
#define HANGS_AFTER_SECONDS 100

static void set_up(void)
{
    alarm(HANGS_AFTER_SECONDS);
    fixture_setup();
}

static void tear_down(void)
{
    fixture_teardown();
    alarm(0);
}

static cc_image *make(void)
{
    cc_image *image = fixture_image(CC_PIXEL_UINT8, 1, 2, WIDTH, HEIGHT, 1);
    fixture_ok(cc_image_set_device(image, 0));
    return image;
}

static cc_image *make_clean(unsigned char value)
{
    cc_image *image = make();
    byte_pixels_write_host(image, NULL, value);
    fixture_ok(cc_image_prefetch(image, NULL, 0));
    fixture_ok(cc_stream_synchronize(0, CC_STREAM_DEFAULT));
    return image;
}

static void lose_device(void)
{
    unsigned char *nowhere = (unsigned char *)4096; /* NOLINT(performance-no-int-to-ptr): that is the point */
    const cc__fill work = {
        .destination = {.data = nowhere, .stride = {2, 1, 1, 1}}, .size = {64, 1, 1, 1}, .pixel_bytes = 1};
    ck_assert(!fixture_backend->is_lost(fixture_backend, 0));
    fixture_ok(fixture_inner->fill(fixture_inner, 0, CC_STREAM_DEFAULT, &work));
    fixture_expect(CC_ERROR_DEVICE, fixture_inner->stream_synchronize(fixture_inner, 0, CC_STREAM_DEFAULT));
    ck_assert_int_eq(cc_last_native_error(), 700);
    ck_assert(fixture_backend->is_lost(fixture_backend, 0));
    for (int32_t other = 1; other < fixture_device_count(); ++other)
        ck_assert(!fixture_backend->is_lost(fixture_backend, other));
}

START_TEST(an_illegal_access)
{
    const cc_region gone = region_at(0, 0, WIDTH, HEIGHT / 2);
    const cc_region there = region_at(0, HEIGHT / 2, WIDTH, HEIGHT / 2);
    void *pixels = NULL;
    if (fixture_device_count() == 0)
        return;
    cc_image *clean = make_clean(1);
    cc_image *partly = make_clean(1);
    cc_image *dirty = make();
    cc_image *fresh = make();
    byte_pixels_write_device(partly, &gone, 2, CC_STREAM_DEFAULT);
    byte_pixels_write_device(dirty, NULL, 3, CC_STREAM_DEFAULT);
    lose_device();

    for (int32_t i = 0; i < 3; ++i) {
        byte_pixels_expect_host(clean, NULL, 1);
        fixture_expect(CC_ERROR_DEVICE, cc_image_map_device(clean, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
        byte_pixels_expect_host(partly, &there, 1);
        fixture_expect(CC_ERROR_DEVICE, cc_image_map_host(partly, &gone, CC_ACCESS_READ, &pixels));
        fixture_expect(CC_ERROR_DEVICE, cc_image_map_host(partly, NULL, CC_ACCESS_READ, &pixels));
        fixture_expect(CC_ERROR_DEVICE, cc_image_map_host(dirty, NULL, CC_ACCESS_READ, &pixels));
        fixture_expect(CC_ERROR_DEVICE, cc_image_evict(dirty, 0));
    }
    ck_assert_ptr_null(pixels);
    byte_pixels_write_host(clean, NULL, 4);
    byte_pixels_write_host(partly, &gone, 5);
    byte_pixels_write_host(dirty, NULL, 6);
    byte_pixels_write_host(fresh, NULL, 7);
    fixture_ok(cc_image_evict(clean, 0));
    fixture_ok(cc_image_evict(partly, 0));
    fixture_expect(CC_ERROR_DEVICE, cc_image_prefetch(fresh, NULL, 0));
    byte_pixels_expect_host(clean, NULL, 4);
    byte_pixels_expect_host(partly, &gone, 5);
    byte_pixels_expect_host(partly, &there, 1);
    byte_pixels_expect_host(dirty, NULL, 6);
    byte_pixels_expect_host(fresh, NULL, 7);
    cc_image_release(clean);
    cc_image_release(partly);
    cc_image_release(dirty);
    cc_image_release(fresh);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda_lost");
    TCase *tcase = tcase_create("cuda_lost");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 2 * HANGS_AFTER_SECONDS);
    tcase_add_test(tcase, an_illegal_access);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
