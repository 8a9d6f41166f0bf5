#include "support/image_pixels.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

image_pixels *image_pixels_create(const int64_t size[3], cc_pixel_type type)
{
    const size_t count = (size_t)(size[0] * size[1] * size[2]);
    image_pixels *pixels = calloc(1, sizeof *pixels + count * sizeof pixels->values[0]);
    ck_assert_ptr_nonnull(pixels);
    memcpy(pixels->size, size, sizeof pixels->size);
    pixels->type = type;
    return pixels;
}

double *image_pixels_at(image_pixels *pixels, int64_t i, int64_t j, int64_t k)
{
    return &pixels->values[i + pixels->size[0] * (j + pixels->size[1] * k)];
}

size_t image_pixels_value_bytes(cc_pixel_type type)
{
    return type == CC_PIXEL_INT16 ? sizeof(int16_t) : sizeof(float);
}

int64_t image_pixels_stride_bytes(const image_pixels *pixels, int32_t axis)
{
    int64_t stride = (int64_t)image_pixels_value_bytes(pixels->type);
    for (int32_t faster = 0; faster < axis; ++faster)
        stride *= pixels->size[faster];
    return stride;
}

size_t image_pixels_size_bytes(const image_pixels *pixels)
{
    return (size_t)image_pixels_stride_bytes(pixels, 3);
}

void image_pixels_store_value(cc_pixel_type type, double value, unsigned char *memory)
{
    const int16_t as_int16 = (int16_t)value;
    const float as_float32 = (float)value;
    if (type == CC_PIXEL_INT16)
        memcpy(memory, &as_int16, sizeof as_int16);
    else
        memcpy(memory, &as_float32, sizeof as_float32);
}

static double load_value(cc_pixel_type type, const unsigned char *memory)
{
    int16_t as_int16 = 0;
    float as_float32 = 0;
    if (type == CC_PIXEL_INT16) {
        memcpy(&as_int16, memory, sizeof as_int16);
        return as_int16;
    }
    memcpy(&as_float32, memory, sizeof as_float32);
    return (double)as_float32;
}

void image_pixels_store(const image_pixels *pixels, unsigned char *memory)
{
    const size_t value_bytes = image_pixels_value_bytes(pixels->type);
    const size_t count = image_pixels_size_bytes(pixels) / value_bytes;
    for (size_t i = 0; i < count; ++i)
        image_pixels_store_value(pixels->type, pixels->values[i], memory + i * value_bytes);
}

/* A reader who writes keeps what was there, so that a wrong value shows in the end too. */
static double written(cc_access access, double seed, double old, int64_t i, int64_t j, int64_t k)
{
    if (access == CC_ACCESS_READ_WRITE)
        return old + 1 + (double)((i ^ j ^ k) & 1);
    return seed + (double)((i ^ (2 * j) ^ (3 * k)) & 15);
}

pixel_touch *pixel_touch_create(image_pixels *pixels, const cc_region *region, cc_access access, double seed,
                                void *memory)
{
    const size_t count = (size_t)(region->size[0] * region->size[1] * region->size[2]);
    pixel_touch *touch = calloc(1, sizeof *touch + count * sizeof touch->expected[0]);
    ck_assert_ptr_nonnull(touch);
    touch->memory = memory;
    touch->type = pixels->type;
    touch->access = access;
    touch->seed = seed;
    for (int32_t axis = 0; axis < 3; ++axis) {
        touch->stride[axis] = image_pixels_stride_bytes(pixels, axis);
        touch->size[axis] = region->size[axis];
    }
    double *expected = touch->expected;
    for (int64_t k = 0; k < region->size[2]; ++k)
        for (int64_t j = 0; j < region->size[1]; ++j)
            for (int64_t i = 0; i < region->size[0]; ++i) {
                double *value =
                    image_pixels_at(pixels, region->index[0] + i, region->index[1] + j, region->index[2] + k);
                *expected++ = *value;
                if (access != CC_ACCESS_READ)
                    *value = written(access, seed, *value, i, j, k);
            }
    return touch;
}

void pixel_touch_run(void *argument)
{
    pixel_touch *touch = argument;
    const double *expected = touch->expected;
    for (int64_t k = 0; k < touch->size[2]; ++k)
        for (int64_t j = 0; j < touch->size[1]; ++j)
            for (int64_t i = 0; i < touch->size[0]; ++i) {
                unsigned char *at = touch->memory + i * touch->stride[0] + j * touch->stride[1] + k * touch->stride[2];
                const double found = touch->access == CC_ACCESS_WRITE ? 0 : load_value(touch->type, at);
                touch->wrong += touch->access != CC_ACCESS_WRITE && found != *expected;
                ++expected;
                if (touch->access != CC_ACCESS_READ)
                    image_pixels_store_value(touch->type, written(touch->access, touch->seed, found, i, j, k), at);
            }
}

size_t pixel_touch_extent_bytes(const pixel_touch *touch)
{
    int64_t bytes = (int64_t)image_pixels_value_bytes(touch->type);
    for (int32_t axis = 0; axis < 3; ++axis)
        bytes += (touch->size[axis] - 1) * touch->stride[axis];
    return (size_t)bytes;
}
