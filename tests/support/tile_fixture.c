#include "support/tile_fixture.h"

#include "memory/budget.h"
#include "ops/tiles.h"
#include "support/fixture.h"

#include <string.h>

cc_image *input, *output;
unsigned char numbered[TILE_FIXTURE_BYTES], expected[TILE_FIXTURE_BYTES], before[TILE_FIXTURE_BYTES];

void tile_fixture_setup(void)
{
    fixture_setup();
    input = output = NULL;
}

void tile_fixture_teardown(void)
{
    cc_image_release(input);
    cc_image_release(output);
    cc__tiles_without_thread = false;
    for (int32_t device = 0; device < fixture_device_count(); ++device)
        ck_assert_uint_eq(cc__budget_held_bytes(device), 0);
    fixture_teardown();
}

cc_image *image_of(cc_pixel_type type, int32_t components, int32_t dimension, const int64_t size[4])
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *image = NULL;
    params.dimension = dimension;
    params.pixel_type = (int32_t)type;
    params.components = components;
    params.device = fixture_device_count() > 0 ? fixture_device_count() - 1 : CC_DEVICE_CURRENT;
    memcpy(params.region.size, size, sizeof params.region.size);
    fixture_ok(cc_image_create(&params, &image));
    return image;
}

void make_images(cc_pixel_type type, int32_t components, int32_t dimension, int64_t i, int64_t j, int64_t k, int64_t l)
{
    const int64_t size[4] = {i, j, k, l};
    cc_image_release(input);
    cc_image_release(output);
    input = image_of(type, components, dimension, size);
    output = image_of(type, components, dimension, size);
    ck_assert_uint_le(cc_image_get_size_bytes(output), TILE_FIXTURE_BYTES);
}

cc_tiles_params params_of(tile_work *work, const cc_tiles_input *in, size_t limit)
{
    cc_tiles_params params = CC_TILES_PARAMS_INIT;
    params.limit_bytes = limit;
    params.input_count = 1;
    params.inputs = in;
    params.output = output;
    params.function = tile_work_function;
    params.progress = tile_work_progress;
    params.user_data = work;
    return params;
}

void expect_pixels(cc_image *image, const void *bytes)
{
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    const size_t count = cc_image_get_size_bytes(image);
    for (size_t i = 0; memcmp(pixels, bytes, count) != 0 && i < count; ++i)
        ck_assert_msg(((unsigned char *)pixels)[i] == ((const unsigned char *)bytes)[i], "byte %zu is %d, expected %d",
                      i, ((unsigned char *)pixels)[i], ((const unsigned char *)bytes)[i]);
    fixture_ok(cc_image_unmap_host(image, pixels));
}

void run_and_compare(tile_work *work, const cc_tiles_params *params)
{
    fixture_ok(cc_tiles_run(params));
    ck_assert_int_eq(work->told, work->tile_count);
    tile_work_expect(work, numbered, expected);
    expect_pixels(output, expected);
}
