/* Pixels that nobody needs any more. */
#include "support/byte_pixels.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <string.h>

#define SIZE 64
#define BYTES ((size_t)SIZE * SIZE)

static cc_image *image;

static void set_up(void)
{
    fixture_setup();
    image = fixture_image(CC_PIXEL_UINT8, 1, 2, SIZE, SIZE, 1);
    if (fixture_device_count() > 0)
        fixture_ok(cc_image_set_device(image, 0));
}

static void tear_down(void)
{
    cc_image_release(image);
    fixture_teardown();
}

static bool is_on(cc_place place)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(image, place, &state));
    return state.memory_bytes > 0;
}

START_TEST(discarded_pixels_are_undefined)
{
    void *pixels = NULL;
    const cc_region top = region_at(0, 0, SIZE, 8), rest = region_at(0, 8, SIZE, SIZE - 8);
    const int32_t place = fixture_device_count() > 0 ? 0 : CC_PLACE_HOST;
    cc_image *view = NULL;
    fixture_ok(cc_image_create_view(image, &top, &view));
    byte_pixels_write_host(image, NULL, 1);
    fixture_ok(cc_image_prefetch(image, NULL, place));
    const cc_counters before = fixture_counters(image);
    uint64_t generation = cc_image_get_generation(image);
    fixture_ok(cc_image_discard(view, NULL));
    ck_assert_uint_ne(cc_image_get_generation(image), generation);
    expect_failure(CC_ERROR_UNINITIALIZED, "", cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_UNINITIALIZED, "", cc_image_map_host(view, NULL, CC_ACCESS_READ_WRITE, &pixels));
    byte_pixels_expect_host(image, &rest, 1);
    ck_assert(is_on(place));

    fixture_ok(cc_image_map_host(image, &rest, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_BUSY, "read on the host", cc_image_discard(image, NULL));
    fixture_ok(cc_image_discard(view, NULL));
    fixture_ok(cc_image_unmap_host(image, pixels));
    byte_pixels_expect_host(image, &rest, 1);

    /* Memory goes with the last pixel, without a copy. */
    if (fixture_device_count() > 0)
        byte_pixels_write_device(image, &rest, 3, CC_STREAM_DEFAULT);
    fixture_ok(cc_image_discard(image, NULL));
    ck_assert(!is_on(place));
    ck_assert(!is_on(CC_PLACE_HOST));
    ck_assert_uint_eq(fixture_counters(image).device_to_host_copies, before.device_to_host_copies);
    byte_pixels_write_host(image, NULL, 4);
    byte_pixels_expect_host(view, NULL, 4);
    cc_image_release(view);
}
END_TEST

START_TEST(discarding_leaves_read_only_memory_alone)
{
    static unsigned char memory[BYTES];
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    memset(memory, 7, sizeof memory);
    params.flags = CC_WRAP_BORROWED | CC_WRAP_READ_ONLY;
    params.data = memory;
    params.size_bytes = sizeof memory;
    fixture_ok(cc_image_wrap_host(image, &params));
    expect_failure(CC_ERROR_READ_ONLY, "read-only", cc_image_discard(image, NULL));
    byte_pixels_expect_host(image, NULL, 7);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("discard");
    TCase *tcase = tcase_create("discard");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, discarded_pixels_are_undefined);
    tcase_add_test(tcase, discarding_leaves_read_only_memory_alone);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
