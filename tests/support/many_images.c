#include "support/many_images.h"

#include "memory/budget.h"

cc_image *images[IMAGES];

static unsigned char value_of(int32_t image)
{
    return (unsigned char)(image + 1);
}

void many_images_set_up(void)
{
    fixture_setup();
    for (int32_t i = 0; i < IMAGES; ++i) {
        images[i] = fixture_image(CC_PIXEL_UINT8, 1, 2, SIZE, SIZE, 1);
        if (fixture_device_count() > 0)
            fixture_ok(cc_image_set_device(images[i], 0));
    }
}

void many_images_tear_down(void)
{
    for (int32_t i = 0; i < IMAGES; ++i)
        cc_image_release(images[i]);
    for (int32_t device = 0; device < fixture_device_count(); ++device) {
        fixture_ok(cc_device_set_limit(device, 0, 0));
        ck_assert_uint_eq(cc__budget_held_bytes(device), 0);
    }
    fixture_teardown();
}

void set_limit(size_t image_count)
{
    fixture_ok(cc_device_set_limit(0, image_count * BYTES, 0));
}

bool is_on(cc_image *image, int32_t device)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(image, device, &state));
    return state.memory_bytes > 0;
}

void expect_on_device(const char *expected)
{
    for (int32_t i = 0; expected[i] != '\0'; ++i)
        ck_assert_msg(is_on(images[i], 0) == (expected[i] == 'x'), "image %d of %s", i, expected);
}

void make_dirty(int32_t image)
{
    byte_pixels_write_device(images[image], NULL, value_of(image), CC_STREAM_DEFAULT);
}

void make_clean(int32_t image)
{
    byte_pixels_write_host(images[image], NULL, value_of(image));
    fixture_ok(cc_image_prefetch(images[image], NULL, 0));
}

void expect_value(int32_t image)
{
    byte_pixels_expect_host(images[image], NULL, value_of(image));
}
