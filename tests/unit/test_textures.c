/* What kernels read from textures: the pixels, what is between them and what is beyond. Expected by arithmetic. */
#include "base/components.h"
#include "support/expect.h"
#include "support/fixture.h"
#include "support/texture_probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_I 7
#define SIZE_J 5
#define SIZE_K 6

static int32_t parts_of(cc_pixel_type type)
{
    return cc__is_complex(type) ? 2 : 1;
}

/* Exact in every type: 0 to 125. The imaginary part is one more. */
static double value_of(int64_t i, int64_t j, int64_t k, int32_t component)
{
    return (double)((i * 5 + j * 11 + k * 17 + component * 29) % 125);
}

static void write_pixels(cc_image *image)
{
    const cc_region region = cc_image_get_region(image);
    const cc_pixel_type type = cc_image_get_pixel_type(image);
    const int32_t components = cc_image_get_components(image);
    const size_t bytes = cc_pixel_type_size_bytes(type);
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    unsigned char *at = pixels;
    for (int64_t k = 0; k < region.size[2]; ++k)
        for (int64_t j = 0; j < region.size[1]; ++j)
            for (int64_t i = 0; i < region.size[0]; ++i)
                for (int32_t c = 0; c < components; ++c, at += bytes) {
                    const double real = value_of(i, j, k, c), imaginary = real + 1;
                    cc__components_store(type, &real, &imaginary, at, (int64_t)bytes, 1);
                }
    fixture_ok(cc_image_unmap_host(image, pixels));
}

/* The value at a point, of one channel. */
static float fetch(const cc_texture *texture, int32_t object, int32_t channel, cc_texture_shape shape,
                   cc_pixel_type type, float x, float y, float z)
{
    float at[1][3] = {{x, y, z}};
    float values[1][4];
    const probe queued = probe_queue(texture, object, shape, type, CC_STREAM_DEFAULT, at, 1);
    probe_read(&queued, values);
    return values[0][channel];
}

static cc_texture map(cc_image *image, const cc_texture_params *params)
{
    cc_texture texture = CC_TEXTURE_INIT;
    fixture_ok(cc_image_map_texture(image, NULL, params, CC_STREAM_DEFAULT, &texture));
    return texture;
}

static void unmap(cc_image *image, cc_texture *texture)
{
    fixture_ok(cc_image_unmap_texture(image, texture, CC_STREAM_DEFAULT));
    ck_assert_int_eq(texture->object_count, 0);
}

/* The loop runs over what pixels are. */
START_TEST(every_pixel_is_at_its_centre)
{
    static const struct {
        cc_pixel_type type;
        int32_t components;
        uint32_t flags;
        cc_texture_shape shape;
        int32_t objects, channels;
    } cases[] = {
        {CC_PIXEL_FLOAT32, 1, 0, CC_TEXTURE_VOLUME, 1, 1},
        {CC_PIXEL_FLOAT32, 2, 0, CC_TEXTURE_VOLUME, 1, 2},
        {CC_PIXEL_FLOAT32, 3, 0, CC_TEXTURE_VOLUME, 3, 1},
        {CC_PIXEL_FLOAT32, 4, 0, CC_TEXTURE_LAYERS, 1, 4},
        {CC_PIXEL_FLOAT32, 9, 0, CC_TEXTURE_VOLUME, 9, 1},
        {CC_PIXEL_FLOAT32, 4, CC_TEXTURE_PER_COMPONENT, CC_TEXTURE_VOLUME, 4, 1},
        {CC_PIXEL_FLOAT32, 1, 0, CC_TEXTURE_LAYERS, 1, 1},
        {CC_PIXEL_COMPLEX64, 1, 0, CC_TEXTURE_VOLUME, 1, 2},
        {CC_PIXEL_COMPLEX64, 2, 0, CC_TEXTURE_LAYERS, 1, 4},
        {CC_PIXEL_COMPLEX64, 3, 0, CC_TEXTURE_VOLUME, 3, 2},
        {CC_PIXEL_FLOAT16, 1, 0, CC_TEXTURE_VOLUME, 1, 1},
        {CC_PIXEL_FLOAT16, 3, 0, CC_TEXTURE_LAYERS, 3, 1},
        {CC_PIXEL_UINT8, 1, 0, CC_TEXTURE_VOLUME, 1, 1},
        {CC_PIXEL_INT8, 4, 0, CC_TEXTURE_VOLUME, 1, 4},
        {CC_PIXEL_UINT16, 1, 0, CC_TEXTURE_LAYERS, 1, 1},
        {CC_PIXEL_INT16, 2, 0, CC_TEXTURE_VOLUME, 1, 2},
        {CC_PIXEL_UINT32, 1, 0, CC_TEXTURE_VOLUME, 1, 1},
        {CC_PIXEL_INT32, 3, 0, CC_TEXTURE_VOLUME, 3, 1},
    };
    if (_i >= (int)(sizeof cases / sizeof cases[0]) || fixture_device_count() == 0)
        return;
    const cc_pixel_type type = cases[_i].type == CC_PIXEL_COMPLEX64 ? CC_PIXEL_FLOAT32 : cases[_i].type;
    const int32_t parts = parts_of(cases[_i].type);
    cc_image *image = fixture_image(cases[_i].type, cases[_i].components, 3, SIZE_I, SIZE_J, SIZE_K);
    cc_texture_params params = CC_TEXTURE_PARAMS_INIT;
    params.flags = cases[_i].flags;
    params.shape = (int32_t)cases[_i].shape;
    write_pixels(image);
    cc_texture texture = map(image, &params);
    ck_assert_int_eq(texture.object_count, cases[_i].objects);
    ck_assert_int_eq(texture.channels, cases[_i].channels);
    for (int32_t object = 0; object < texture.object_count; ++object) {
        float at[PROBE_POINTS][3], values[PROBE_POINTS][4];
        int64_t index[PROBE_POINTS][3];
        for (int32_t n = 0; n < PROBE_POINTS; ++n) {
            index[n][0] = n == 0 ? SIZE_I - 1 : n * 3 % SIZE_I;
            index[n][1] = n == 0 ? SIZE_J - 1 : n * 2 % SIZE_J;
            index[n][2] = n == 0 ? SIZE_K - 1 : n * 5 % SIZE_K;
            for (int32_t axis = 0; axis < 3; ++axis)
                at[n][axis] = (float)index[n][axis] + (axis == 2 && params.shape == CC_TEXTURE_LAYERS ? 0 : 0.5f);
        }
        const probe queued = probe_queue(&texture, object, cases[_i].shape, type, CC_STREAM_DEFAULT, at, PROBE_POINTS);
        probe_read(&queued, values);
        for (int32_t n = 0; n < PROBE_POINTS; ++n)
            for (int32_t channel = 0; channel < texture.channels; ++channel) {
                const int32_t part = object * texture.channels + channel;
                const double expected = value_of(index[n][0], index[n][1], index[n][2], part / parts) + part % parts;
                ck_assert_msg((double)values[n][channel] == expected, "object %d, point %d, channel %d: %g, not %g",
                              object, n, channel, (double)values[n][channel], expected);
            }
    }
    unmap(image, &texture);
    cc_image_release(image);
}
END_TEST

/* i + 10 j + 100 k. */
static cc_image *ramp(int64_t size_i, int64_t size_j, int64_t size_k)
{
    cc_image *image = fixture_image(CC_PIXEL_FLOAT32, 1, 3, size_i, size_j, size_k);
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    float *at = pixels;
    for (int64_t k = 0; k < size_k; ++k)
        for (int64_t j = 0; j < size_j; ++j)
            for (int64_t i = 0; i < size_i; ++i)
                *at++ = (float)(i + 10 * j + 100 * k);
    fixture_ok(cc_image_unmap_host(image, pixels));
    return image;
}

static float at(const cc_texture *texture, int32_t shape, float x, float y, float z)
{
    return fetch(texture, 0, 0, (cc_texture_shape)shape, CC_PIXEL_FLOAT32, x, y, z);
}

START_TEST(between_pixels)
{
    if (fixture_device_count() == 0)
        return;
    cc_image *image = ramp(SIZE_I, SIZE_J, SIZE_K);
    cc_texture_params params = CC_TEXTURE_PARAMS_INIT;
    params.filter = CC_TEXTURE_LINEAR;
    cc_texture texture = map(image, &params);
    ck_assert_float_eq(at(&texture, CC_TEXTURE_VOLUME, 2.5f + 0.25f, 1.5f, 3.5f), 2.25f + 10 + 300);
    ck_assert_float_eq(at(&texture, CC_TEXTURE_VOLUME, 2.5f, 1.5f + 0.75f, 3.5f), 2 + 17.5f + 300);
    ck_assert_float_eq(at(&texture, CC_TEXTURE_VOLUME, 1.0f, 2.0f, 3.0f), 0.5f + 15 + 250);
    /* Half of the border's zeros, half of the corner. */
    ck_assert_float_eq(at(&texture, CC_TEXTURE_VOLUME, 7.0f, 1.5f, 0.5f), 8);
    unmap(image, &texture);

    /* No mean of two layers. */
    params.shape = CC_TEXTURE_LAYERS;
    texture = map(image, &params);
    ck_assert_float_eq(at(&texture, CC_TEXTURE_LAYERS, 2.75f, 1.5f, 3), 2.25f + 10 + 300);
    unmap(image, &texture);
    params.filter = CC_TEXTURE_POINT;
    texture = map(image, &params);
    ck_assert_float_eq(at(&texture, CC_TEXTURE_LAYERS, 2.75f, 1.0f, 5), 2 + 10 + 500);
    unmap(image, &texture);
    cc_image_release(image);
}
END_TEST

/* Along i: a row of 0, 1, 2, 3, and one pixel along the others. */
START_TEST(beyond_the_border)
{
    static const struct {
        cc_texture_address address;
        float x, expected;
    } cases[] = {
        {CC_TEXTURE_BORDER, -0.5f, 0}, {CC_TEXTURE_BORDER, 3.5f, 3}, {CC_TEXTURE_BORDER, 4.5f, 0},
        {CC_TEXTURE_CLAMP, -7, 0},     {CC_TEXTURE_CLAMP, 9, 3},     {CC_TEXTURE_WRAP, 4.5f, 0},
        {CC_TEXTURE_WRAP, 6.5f, 2},    {CC_TEXTURE_WRAP, -0.5f, 3},  {CC_TEXTURE_WRAP, -3.5f, 0},
        {CC_TEXTURE_MIRROR, 4.5f, 3},  {CC_TEXTURE_MIRROR, 6.5f, 1}, {CC_TEXTURE_MIRROR, -0.5f, 0},
        {CC_TEXTURE_MIRROR, -2.5f, 2}, {CC_TEXTURE_MIRROR, 8.5f, 0},
    };
    if (fixture_device_count() == 0)
        return;
    cc_image *image = ramp(4, 1, 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const bool is_normalized = cases[i].address >= CC_TEXTURE_WRAP;
        cc_texture_params params = CC_TEXTURE_PARAMS_INIT;
        params.flags = is_normalized ? CC_TEXTURE_NORMALIZED_COORDINATES : 0;
        for (int32_t axis = 0; axis < 3; ++axis)
            params.address[axis] = (int32_t)cases[i].address;
        cc_texture texture = map(image, &params);
        const float found = at(&texture, CC_TEXTURE_VOLUME, is_normalized ? cases[i].x / 4 : cases[i].x, 0.5f, 0.5f);
        ck_assert_msg(found == cases[i].expected, "case %d: %g, not %g", (int)i, (double)found,
                      (double)cases[i].expected);
        unmap(image, &texture);
    }
    cc_image_release(image);
}
END_TEST

START_TEST(integers_as_fractions)
{
    static const struct {
        cc_pixel_type type;
        double stored;
        float expected;
    } cases[] = {
        {CC_PIXEL_UINT8, 255, 1},        {CC_PIXEL_UINT8, 51, 51.0f / 255}, {CC_PIXEL_INT8, -128, -1},
        {CC_PIXEL_INT8, 127, 1},         {CC_PIXEL_UINT16, 65535, 1},       {CC_PIXEL_UINT16, 13107, 0.2f},
        {CC_PIXEL_INT16, -32768, -1},    {CC_PIXEL_INT16, 32767, 1},        {CC_PIXEL_BOOL, 1, 1.0f / 255},
        {CC_PIXEL_FLOAT32, -7.5, -7.5f},
    };
    if (fixture_device_count() == 0)
        return;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        cc_image *image = fixture_image(cases[i].type, 1, 2, 4, 4, 1);
        unsigned char pixel[16];
        cc_texture_params params = CC_TEXTURE_PARAMS_INIT;
        cc__components_store(cases[i].type, &cases[i].stored, NULL, pixel, 0, 1);
        fixture_ok(cc_image_fill(image, NULL, pixel, CC_STREAM_DEFAULT));
        params.shape = CC_TEXTURE_PLANE;
        params.read = CC_TEXTURE_NORMALIZED;
        for (int32_t filter = CC_TEXTURE_POINT; filter <= CC_TEXTURE_LINEAR; ++filter) {
            /* Nobody says in how many bits the hardware has the mean of four numbers. */
            const float bound = filter == CC_TEXTURE_POINT ? 1e-6f : 1e-3f;
            params.filter = filter;
            cc_texture texture = map(image, &params);
            const float found = at(&texture, CC_TEXTURE_PLANE, 1.5f, 2.25f, 0);
            ck_assert_msg(fabsf(found - cases[i].expected) <= bound, "case %d: %.9g, not %.9g", (int)i, (double)found,
                          (double)cases[i].expected);
            unmap(image, &texture);
        }
        cc_image_release(image);
    }
}
END_TEST

/* A view's rows are its parent's; the texture begins where the region does, whatever its index. */
START_TEST(parts_of_images)
{
    const int64_t index[4] = {-3, 40, 7, 0};
    const cc_region inside = {{-1, 41, 9, 0}, {4, 3, 2, 1}}, slice = {{-3, 40, 10, 0}, {SIZE_I, SIZE_J, 1, 1}},
                    corner = {{0, 42, 10, 0}, {2, 1, 1, 1}};
    cc_texture_params params = CC_TEXTURE_PARAMS_INIT;
    cc_texture texture = CC_TEXTURE_INIT;
    cc_image *view = NULL;
    if (fixture_device_count() == 0)
        return;
    cc_image *image = ramp(SIZE_I, SIZE_J, SIZE_K);
    fixture_ok(cc_image_set_index(image, index));
    fixture_ok(cc_image_create_view(image, &inside, &view));
    fixture_ok(cc_image_map_texture(view, NULL, &params, CC_STREAM_DEFAULT, &texture));
    ck_assert_mem_eq(&texture.region, &inside, sizeof inside);
    ck_assert_float_eq(at(&texture, CC_TEXTURE_VOLUME, 0.5f, 0.5f, 0.5f), 2 + 10 + 200);
    ck_assert_float_eq(at(&texture, CC_TEXTURE_VOLUME, 3.5f, 2.5f, 1.5f), 5 + 30 + 300);
    ck_assert_float_eq(at(&texture, CC_TEXTURE_VOLUME, 4.5f, 2.5f, 1.5f), 0);
    unmap(view, &texture);
    fixture_ok(cc_image_map_texture(view, &corner, &params, CC_STREAM_DEFAULT, &texture));
    ck_assert_mem_eq(&texture.region, &corner, sizeof corner);
    ck_assert_float_eq(at(&texture, CC_TEXTURE_VOLUME, 1.5f, 0.5f, 0.5f), 4 + 20 + 300);
    unmap(view, &texture);
    params.shape = CC_TEXTURE_PLANE;
    fixture_ok(cc_image_map_texture(image, &slice, &params, CC_STREAM_DEFAULT, &texture));
    ck_assert_float_eq(at(&texture, CC_TEXTURE_PLANE, 6.5f, 4.5f, 0), 6 + 40 + 300);
    unmap(image, &texture);
    cc_image_release(view);
    cc_image_release(image);
}
END_TEST

/* Memory with gaps between pixels, rows and slices, and, on the second round, slices that are no whole rows apart. */
START_TEST(memory_with_strides_of_its_own)
{
    static float memory[4096];
    const int64_t strides[2][4] = {{8, 8 * 9, 8 * 9 * 8, 4}, {4, 4 * 11, 4 * 61, 4}};
    if (fixture_device_count() == 0)
        return;
    for (int32_t round = 0; round < 2; ++round) {
        cc_image *image = fixture_image(CC_PIXEL_FLOAT32, 1, 3, SIZE_I, SIZE_J, SIZE_K);
        cc_wrap_params wrap = CC_WRAP_PARAMS_INIT;
        void *device_memory = NULL;
        for (int64_t k = 0; k < SIZE_K; ++k)
            for (int64_t j = 0; j < SIZE_J; ++j)
                for (int64_t i = 0; i < SIZE_I; ++i)
                    memory[(i * strides[round][0] + j * strides[round][1] + k * strides[round][2]) / 4] =
                        (float)(i + 10 * j + 100 * k);
        fixture_ok(fixture_inner->allocate(fixture_inner, 0, CC_STREAM_DEFAULT, sizeof memory, &device_memory));
        fixture_device_write(0, CC_STREAM_DEFAULT, device_memory, memory, sizeof memory);
        wrap.flags = CC_WRAP_BORROWED;
        wrap.data = device_memory;
        wrap.size_bytes = (size_t)(4 + 6 * strides[round][0] + 4 * strides[round][1] + 5 * strides[round][2]);
        memcpy(wrap.strides_bytes, strides[round], sizeof wrap.strides_bytes);
        fixture_ok(cc_image_wrap_device(image, &wrap, CC_STREAM_DEFAULT));
        cc_texture texture = map(image, NULL);
        ck_assert_float_eq(at(&texture, CC_TEXTURE_VOLUME, 6.5f, 4.5f, 5.5f), 6 + 40 + 500);
        ck_assert_float_eq(at(&texture, CC_TEXTURE_VOLUME, 1.5f, 2.5f, 3.5f), 1 + 20 + 300);
        unmap(image, &texture);
        cc_image_release(image);
        fixture_ok(fixture_inner->free(fixture_inner, 0, CC_STREAM_DEFAULT, device_memory));
    }
}
END_TEST

START_TEST(what_is_refused)
{
    cc_image *image = fixture_image(CC_PIXEL_FLOAT32, 1, 3, 4, 4, 4), *wide = NULL, *other = NULL;
    cc_texture texture = CC_TEXTURE_INIT, short_texture = CC_TEXTURE_INIT;
    cc_texture_params params = CC_TEXTURE_PARAMS_INIT;
    const cc_region outside = {{0, 0, 0, 0}, {5, 1, 1, 1}}, negative = {{0, 0, 0, 0}, {-1, 1, 1, 1}};
    const cc_stream stream = CC_STREAM_DEFAULT;

    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_map_texture(NULL, NULL, &params, stream, &texture));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_texture", cc_image_map_texture(image, NULL, &params, stream, NULL));
    short_texture.struct_size = (uint32_t)offsetof(cc_texture, objects);
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_texture.struct_size",
                   cc_image_map_texture(image, NULL, &params, stream, &short_texture));
    params.struct_size = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params.struct_size",
                   cc_image_map_texture(image, NULL, &params, stream, &texture));
#define REFUSE(status, member, value, name)                                                                            \
    do {                                                                                                               \
        const cc_texture_params defaults = CC_TEXTURE_PARAMS_INIT;                                                     \
        params = defaults;                                                                                             \
        params.member = (value);                                                                                       \
        expect_failure(status, name, cc_image_map_texture(image, NULL, &params, stream, &texture));                    \
    } while (0)
    REFUSE(CC_ERROR_INVALID_ARGUMENT, flags, 4, "params.flags");
    REFUSE(CC_ERROR_INVALID_ARGUMENT, shape, 3, "params.shape = 3");
    REFUSE(CC_ERROR_INVALID_ARGUMENT, shape, -1, "params.shape = -1");
    REFUSE(CC_ERROR_INVALID_ARGUMENT, filter, 2, "params.filter = 2");
    REFUSE(CC_ERROR_INVALID_ARGUMENT, read, -1, "params.read = -1");
    REFUSE(CC_ERROR_INVALID_ARGUMENT, address[1], 4, "params.address[1] = 4");
    REFUSE(CC_ERROR_INVALID_ARGUMENT, address[2], CC_TEXTURE_WRAP, "params.address[2] = 2");
    REFUSE(CC_ERROR_INVALID_ARGUMENT, address[0], CC_TEXTURE_MIRROR, "params.address[0] = 3");
    REFUSE(CC_ERROR_SIZE, shape, CC_TEXTURE_PLANE, "size[2] = 4");
    expect_failure(CC_ERROR_REGION, "", cc_image_map_texture(image, &outside, NULL, stream, &texture));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "", cc_image_map_texture(image, &negative, NULL, stream, &texture));
    cc_image_release(image);

    static const cc_pixel_type types[] = {CC_PIXEL_UINT64, CC_PIXEL_INT64, CC_PIXEL_BFLOAT16, CC_PIXEL_FLOAT64,
                                          CC_PIXEL_COMPLEX128};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
        image = fixture_image(types[i], 1, 2, 4, 4, 1);
        expect_failure(CC_ERROR_PIXEL_TYPE, cc_pixel_type_name(types[i]),
                       cc_image_map_texture(image, NULL, NULL, stream, &texture));
        cc_image_release(image);
    }
    image = fixture_image(CC_PIXEL_UINT32, 1, 2, 4, 4, 1);
    REFUSE(CC_ERROR_PIXEL_TYPE, filter, CC_TEXTURE_LINEAR, "linear");
    REFUSE(CC_ERROR_PIXEL_TYPE, read, CC_TEXTURE_NORMALIZED, "normalized");
    cc_image_release(image);
    image = fixture_image(CC_PIXEL_INT8, 17, 2, 4, 4, 1);
    expect_failure(CC_ERROR_UNSUPPORTED, "17 components", cc_image_map_texture(image, NULL, NULL, stream, &texture));
    cc_image_release(image);

    wide = fixture_image(CC_PIXEL_UINT8, 1, 1, 40000, 1, 1);
    other = fixture_image(CC_PIXEL_UINT8, 1, 3, 2, 2, 2);
    if (fixture_device_count() == 0) {
        expect_failure(CC_ERROR_NO_DEVICE, "", cc_image_map_texture(wide, NULL, NULL, stream, &texture));
    } else {
        expect_passed_on(CC_ERROR_UNSUPPORTED, cc_image_map_texture(wide, NULL, NULL, stream, &texture));
        fixture_ok(cc_image_map_texture(other, NULL, NULL, stream, &texture));
        expect_failure(CC_ERROR_INVALID_ARGUMENT, "not mapped by this image",
                       cc_image_unmap_texture(wide, &texture, stream));
        fixture_ok(cc_image_unmap_texture(other, &texture, stream));
    }
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_unmap_texture(NULL, &texture, stream));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "texture = NULL", cc_image_unmap_texture(other, NULL, stream));
    fixture_ok(cc_image_unmap_texture(other, &texture, stream)); /* it has none any more */
    cc_image_release(wide);
    cc_image_release(other);
}
END_TEST

START_TEST(a_region_without_pixels)
{
    cc_image *image = fixture_image(CC_PIXEL_FLOAT32, 3, 3, 4, 0, 4);
    cc_texture texture = CC_TEXTURE_INIT;
    fixture_ok(cc_image_map_texture(image, NULL, NULL, CC_STREAM_DEFAULT, &texture));
    ck_assert_int_eq(texture.object_count, 0);
    ck_assert_int_eq(texture.region.size[1], 0);
    fixture_ok(cc_image_unmap_texture(image, &texture, CC_STREAM_DEFAULT));
    cc_image_release(image);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("textures");
    TCase *cases = tcase_create("textures");
    tcase_add_checked_fixture(cases, fixture_setup, fixture_teardown);
    tcase_add_loop_test(cases, every_pixel_is_at_its_centre, 0, 18);
    tcase_add_test(cases, between_pixels);
    tcase_add_test(cases, beyond_the_border);
    tcase_add_test(cases, integers_as_fractions);
    tcase_add_test(cases, parts_of_images);
    tcase_add_test(cases, memory_with_strides_of_its_own);
    tcase_add_test(cases, what_is_refused);
    tcase_add_test(cases, a_region_without_pixels);
    suite_add_tcase(suite, cases);
    return fixture_run(suite);
}
