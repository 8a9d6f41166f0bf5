/* A device whose memory is really used up: others make room, and the driver gives what they left. */
#include "memory/transfer_streams.h"
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

#define IMAGES 6
#define SIZE 512
#define BYTES ((size_t)SIZE * SIZE * SIZE)
#define FIT 3

static cc_image *images[IMAGES];
static unsigned char *expected;

static void set_up(void)
{
    fixture_setup();
    expected = malloc(BYTES);
    ck_assert_ptr_nonnull(expected);
    for (int32_t i = 0; i < IMAGES; ++i) {
        images[i] = fixture_image(CC_PIXEL_UINT8, 1, 3, SIZE, SIZE, SIZE);
        fixture_ok(cc_image_set_device(images[i], 0));
    }
}

static void tear_down(void)
{
    for (int32_t i = 0; i < IMAGES; ++i)
        cc_image_release(images[i]);
    fixture_ok(cc_device_set_limit(0, 0, 0));
    free(expected);
    fixture_teardown();
}

static size_t free_bytes(void)
{
    size_t now_free = 0;
    size_t total = 0;
    /* What the last images left may still be queued to be freed. */
    cc__transfer_streams_synchronize(fixture_backend, 0);
    fixture_ok(cc_device_trim(0, 0));
    fixture_ok(fixture_inner->memory_info(fixture_inner, 0, &now_free, &total));
    return now_free;
}

/* Adds one to every pixel on the device, several times around, and looks at them in the end. */
static void use_all(void)
{
    for (int32_t round = 0; round < 3; ++round)
        for (int32_t i = 0; i < IMAGES; ++i)
            fixture_ok(cc_image_rescale(images[i], 1.0, i + 1.0, images[i], CC_STREAM_DEFAULT));
    for (int32_t i = 0; i < IMAGES; ++i) {
        void *pixels = NULL;
        memset(expected, 3 * (i + 1), BYTES);
        fixture_ok(cc_image_map_host(images[i], NULL, CC_ACCESS_READ, &pixels));
        ck_assert_int_eq(memcmp(pixels, expected, BYTES), 0);
        fixture_ok(cc_image_unmap_host(images[i], pixels));
    }
}

static void put_all_on_the_device(void)
{
    for (int32_t i = 0; i < IMAGES; ++i)
        fixture_ok(cc_image_prefetch(images[i], NULL, 0));
}

static int32_t count_on_the_device(void)
{
    int32_t count = 0;
    for (int32_t i = 0; i < IMAGES; ++i) {
        cc_place_state state = CC_PLACE_STATE_INIT;
        fixture_ok(cc_image_get_place_state(images[i], 0, &state));
        count += state.memory_bytes > 0;
    }
    return count;
}

START_TEST(the_driver_has_no_more)
{
    void *hog = NULL;
    put_all_on_the_device();
    for (int32_t i = 0; i < IMAGES; ++i)
        fixture_ok(cc_image_evict(images[i], 0));
    const size_t hog_bytes = free_bytes() - (FIT * BYTES + BYTES / 2);
    fixture_ok(fixture_inner->allocate(fixture_inner, 0, CC_STREAM_DEFAULT, hog_bytes, &hog));
    put_all_on_the_device();
    use_all();
    fixture_ok(fixture_inner->free(fixture_inner, 0, CC_STREAM_DEFAULT, hog));
    fixture_ok(cc_stream_synchronize(0, CC_STREAM_DEFAULT));
    ck_assert_int_gt(count_on_the_device(), 0);
    ck_assert_int_le(count_on_the_device(), FIT);
}
END_TEST

START_TEST(the_headroom_is_left)
{
    put_all_on_the_device();
    for (int32_t i = 0; i < IMAGES; ++i)
        fixture_ok(cc_image_evict(images[i], 0));
    const size_t headroom = free_bytes() - (FIT * BYTES + BYTES / 2);
    fixture_ok(cc_device_set_limit(0, 0, headroom));
    put_all_on_the_device();
    use_all();
    ck_assert_int_gt(count_on_the_device(), 0);
    ck_assert_int_le(count_on_the_device(), FIT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("full_device");
    TCase *tcase = tcase_create("full_device");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, the_driver_has_no_more);
    tcase_add_test(tcase, the_headroom_is_left);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
