#include "support/uniform.h"

#include <stdlib.h>

static size_t count_of(const cc_image *image)
{
    return cc_image_get_size_bytes(image) / sizeof(float);
}

static void set_all(float *pixels, size_t count, float value)
{
    for (size_t i = 0; i < count; ++i)
        pixels[i] = value;
}

static void expect_all(const float *pixels, size_t count, float value)
{
    size_t i = 0;
    while (i < count && pixels[i] == value)
        ++i;
    ck_assert_msg(i == count, "pixel %zu is not %g", i, (double)value);
}

cc_image *uniform_image(int64_t i, int64_t j)
{
    return fixture_image(CC_PIXEL_FLOAT32, 1, 2, i, j, 1);
}

void uniform_write_on_host(cc_image *image, float value)
{
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    set_all(pixels, count_of(image), value);
    fixture_ok(cc_image_unmap_host(image, pixels));
}

void uniform_expect_on_host(cc_image *image, float value)
{
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    expect_all(pixels, count_of(image), value);
    fixture_ok(cc_image_unmap_host(image, pixels));
}

float *uniform_memory(const cc_image *image, float value)
{
    float *memory = malloc(cc_image_get_size_bytes(image));
    ck_assert_ptr_nonnull(memory);
    set_all(memory, count_of(image), value);
    return memory;
}

static void write_device_memory(const cc_image *image, int32_t device, void *memory, float value)
{
    float *pixels = uniform_memory(image, value);
    fixture_device_write(device, CC_STREAM_DEFAULT, memory, pixels, cc_image_get_size_bytes(image));
    fixture_ok(fixture_inner->stream_synchronize(fixture_inner, device, CC_STREAM_DEFAULT));
    free(pixels);
}

void uniform_write_on_device(cc_image *image, float value)
{
    void *pixels = NULL;
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_WRITE, CC_STREAM_DEFAULT, &pixels));
    write_device_memory(image, cc_image_get_device(image), pixels, value);
    fixture_ok(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
}

void uniform_expect_on_device(cc_image *image, float value)
{
    float *seen = uniform_memory(image, value + 1);
    void *pixels = NULL;
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
    const int32_t device = cc_image_get_device(image);
    fixture_device_read(device, CC_STREAM_DEFAULT, seen, pixels, cc_image_get_size_bytes(image));
    fixture_ok(fixture_inner->stream_synchronize(fixture_inner, device, CC_STREAM_DEFAULT));
    expect_all(seen, count_of(image), value);
    fixture_ok(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
    free(seen);
}

void *uniform_device_memory(const cc_image *image, int32_t device, float value)
{
    void *memory = NULL;
    fixture_ok(
        fixture_inner->allocate(fixture_inner, device, CC_STREAM_DEFAULT, cc_image_get_size_bytes(image), &memory));
    write_device_memory(image, device, memory, value);
    return memory;
}

void uniform_free_device_memory(int32_t device, void *memory)
{
    fixture_ok(fixture_inner->free(fixture_inner, device, CC_STREAM_DEFAULT, memory));
}

cc_wrap_params uniform_borrowed(const cc_image *image, void *memory)
{
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    params.flags = CC_WRAP_BORROWED;
    params.data = memory;
    params.size_bytes = cc_image_get_size_bytes(image);
    return params;
}

cc_place_state uniform_state(cc_image *image, cc_place place)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(image, place, &state));
    return state;
}
