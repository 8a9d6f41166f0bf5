/*
 * Parts of images: pixels against NumPy (tests/data/make_regions_reference) and plain copies, where they are in space,
 * what is refused. On the host, the emulated device and a GPU alike.
 */
#include "base/past_cache.h"
#include "data/regions_reference.h"
#include "memory/crew.h"
#include "support/expect.h"
#include "support/fixture.h"
#include "support/rescale_cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STREAM CC_STREAM_DEFAULT
#define COUNT(LIST) ((int32_t)(sizeof(LIST) / sizeof((LIST)[0])))

/* Whatever was done last is where the pixels are wanted next. */
static void put_bytes(cc_image *image, const void *bytes)
{
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    memcpy(pixels, bytes, cc_image_get_size_bytes(image));
    fixture_ok(cc_image_unmap_host(image, pixels));
    fixture_bring_to_device(image);
}

static void *get_bytes(cc_image *image)
{
    void *bytes = malloc(cc_image_get_size_bytes(image) + 1);
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    memcpy(bytes, pixels, cc_image_get_size_bytes(image));
    fixture_ok(cc_image_unmap_host(image, pixels));
    return bytes;
}

static void expect_int16(cc_image *image, const int16_t *expected)
{
    int16_t *pixels = get_bytes(image);
    ck_assert_mem_eq(pixels, expected, cc_image_get_size_bytes(image));
    free(pixels);
}

static void expect_size(const cc_image *image, const int64_t size[3])
{
    for (int32_t axis = 0; axis < 3; axis++)
        ck_assert_int_eq(cc_image_get_size(image, axis), size[axis]);
}

/* The volume of the reference, somewhere in space. */
static cc_image *numbered_volume(void)
{
    static const double direction[16] = {0.36, 0.48, -0.8, 0, -0.8, 0.6, 0, 0, 0.48, 0.64, 0.6, 0, 0, 0, 0, 1};
    const int64_t index[CC_MAX_DIMENSION] = {-7, 100, 3, 0};
    cc_image *image = fixture_image(CC_PIXEL_INT16, 1, 3, 5, 4, 3);
    int16_t numbers[60];
    for (int16_t n = 0; n < 60; n++)
        numbers[n] = (int16_t)(n + 1);
    fixture_ok(cc_image_set_index(image, index));
    fixture_ok(cc_image_set_spacing(image, (const double[]){0.5, 2, 3.25, 1}));
    fixture_ok(cc_image_set_origin(image, (const double[]){-10, 20.5, 1e3, 0}));
    fixture_ok(cc_image_set_direction(image, direction));
    put_bytes(image, numbers);
    return image;
}

/* An image of float32 of this size, with an index of its own, whose pixels are nowhere yet. */
static cc_image *given_output(const int64_t size[3])
{
    const int64_t index[CC_MAX_DIMENSION] = {2, -1, 1000, 0};
    cc_image *image = fixture_image(CC_PIXEL_FLOAT32, 1, 3, size[0], size[1], size[2]);
    fixture_ok(cc_image_set_index(image, index));
    return image;
}

static void expect_float32(cc_image *image, const int16_t *expected)
{
    float *pixels = get_bytes(image);
    for (size_t n = 0; n < cc_image_get_size_bytes(image) / sizeof *pixels; n++)
        ck_assert_float_eq(pixels[n], (float)expected[n]);
    free(pixels);
}

/* Pixels that come from the numbered volume are where they were; others are 0. */
static void expect_places_kept(cc_image *volume, cc_image *output, const int16_t *pixels)
{
    const cc_region region = cc_image_get_region(output);
    int64_t n = 0;
    for (int64_t k = 0; k < region.size[2]; k++)
        for (int64_t j = 0; j < region.size[1]; j++)
            for (int64_t i = 0; i < region.size[0]; i++, n++) {
                const int64_t index[CC_MAX_DIMENSION] = {region.index[0] + i, region.index[1] + j, region.index[2] + k};
                const int64_t was = pixels[n] - 1;
                int64_t old[CC_MAX_DIMENSION] = {was % 5, was / 5 % 4, was / 20, 0};
                double point[CC_MAX_DIMENSION], old_point[CC_MAX_DIMENSION];
                if (was < 0)
                    continue;
                for (int32_t axis = 0; axis < 3; axis++)
                    old[axis] += cc_image_get_index(volume, axis);
                fixture_ok(cc_image_get_point(output, index, point));
                fixture_ok(cc_image_get_point(volume, old, old_point));
                for (int32_t axis = 0; axis < 3; axis++)
                    ck_assert_double_eq_tol(point[axis], old_point[axis], 1e-9);
            }
}

static cc_pad_params pad_of(const pad_case *wanted, const void *value)
{
    cc_pad_params params = CC_PAD_PARAMS_INIT;
    for (int32_t axis = 0; axis < 3; axis++) {
        params.border[axis] = (int32_t)wanted->border;
        params.lower[axis] = wanted->lower[axis];
        params.upper[axis] = wanted->upper[axis];
    }
    params.value = value;
    return params;
}

START_TEST(pads_are_numpys)
{
    const pad_case *wanted = &pad_cases[_i];
    cc_image *volume = numbered_volume();
    cc_image *made = NULL;
    cc_image *given = given_output(wanted->size);
    cc_pad_params params = pad_of(wanted, &(int16_t){7});
    fixture_ok(cc_image_create_padded(volume, &params, STREAM, &made));
    expect_size(made, wanted->size);
    expect_int16(made, wanted->pixels);
    for (int32_t axis = 0; axis < 3; axis++)
        ck_assert_int_eq(cc_image_get_index(made, axis), cc_image_get_index(volume, axis) - wanted->lower[axis]);
    ck_assert(cc_image_get_pixel_type(made) == CC_PIXEL_INT16);
    params.value = &(float){7};
    fixture_ok(cc_image_pad(volume, &params, given, STREAM));
    expect_float32(given, wanted->pixels);
    cc_image_release(volume);
    cc_image_release(made);
    cc_image_release(given);
}
END_TEST

START_TEST(flips_are_numpys)
{
    const flip_case *wanted = &flip_cases[_i];
    static const int64_t size[] = {5, 4, 3};
    cc_image *volume = numbered_volume();
    cc_image *made = NULL;
    cc_image *given = given_output(size);
    fixture_ok(cc_image_create_flipped(volume, wanted->axes, STREAM, &made));
    expect_size(made, size);
    expect_int16(made, wanted->pixels);
    expect_places_kept(volume, made, wanted->pixels);
    fixture_ok(cc_image_flip(volume, wanted->axes, given, STREAM));
    expect_float32(given, wanted->pixels);
    expect_places_kept(volume, given, wanted->pixels);
    ck_assert_int_eq(cc_image_get_index(given, 2), 1000);
    cc_image_release(volume);
    cc_image_release(made);
    cc_image_release(given);
}
END_TEST

START_TEST(permutations_are_numpys)
{
    const permute_case *wanted = &permute_cases[_i];
    const int32_t order[CC_MAX_DIMENSION] = {wanted->order[0], wanted->order[1], wanted->order[2], -1};
    cc_image *volume = numbered_volume();
    cc_image *made = NULL;
    cc_image *given = given_output(wanted->size);
    double origin[CC_MAX_DIMENSION], old_origin[CC_MAX_DIMENSION];
    fixture_ok(cc_image_create_permuted(volume, order, STREAM, &made));
    expect_size(made, wanted->size);
    expect_int16(made, wanted->pixels);
    expect_places_kept(volume, made, wanted->pixels);
    fixture_ok(cc_image_get_origin(made, origin));
    fixture_ok(cc_image_get_origin(volume, old_origin));
    ck_assert_mem_eq(origin, old_origin, sizeof origin);
    fixture_ok(cc_image_permute(volume, order, given, STREAM));
    expect_float32(given, wanted->pixels);
    expect_places_kept(volume, given, wanted->pixels);
    cc_image_release(volume);
    cc_image_release(made);
    cc_image_release(given);
}
END_TEST

START_TEST(crops_and_pads_keep_their_place)
{
    const cc_region region = {{-6, 101, 3, 9}, {3, 2, 3, 9}};
    static const int64_t size[] = {3, 2, 3}, padded_size[] = {8, 4, 5};
    cc_pad_params params = CC_PAD_PARAMS_INIT;
    cc_image *volume = numbered_volume();
    cc_image *made[2] = {NULL, NULL};
    cc_image *given[] = {given_output(size), given_output(padded_size)};
    int16_t expected[18];
    for (int32_t n = 0; n < 18; n++)
        expected[n] = (int16_t)(1 + 1 + n % 3 + (1 + n / 3 % 2) * 5 + n / 6 * 20);
    fixture_ok(cc_image_create_cropped(volume, &region, STREAM, &made[0]));
    expect_size(made[0], size);
    expect_int16(made[0], expected);
    expect_places_kept(volume, made[0], expected);
    ck_assert_int_eq(cc_image_get_index(made[0], 0), -6);
    ck_assert_int_eq(cc_image_get_index(made[0], 3), 0);
    fixture_ok(cc_image_crop(volume, &region, given[0], STREAM));
    expect_float32(given[0], expected);
    expect_places_kept(volume, given[0], expected);

    params.lower[0] = 3;
    params.upper[2] = 2;
    fixture_ok(cc_image_create_padded(volume, &params, STREAM, &made[1]));
    int16_t *padded = get_bytes(made[1]);
    expect_places_kept(volume, made[1], padded);
    fixture_ok(cc_image_pad(volume, &params, given[1], STREAM));
    expect_places_kept(volume, given[1], padded);
    free(padded);
    cc_image_release(volume);
    for (int32_t n = 0; n < 2; n++) {
        cc_image_release(made[n]);
        cc_image_release(given[n]);
    }
}
END_TEST

/* Every bit of every type and of several components. */
START_TEST(bits_of_all_types)
{
    const cc_pixel_type type = (cc_pixel_type)_i;
    const size_t bytes = cc_pixel_type_size_bytes(type);
    for (int32_t components = 1; components <= 3; components++) {
        const size_t pixel = bytes * (size_t)components;
        const cc_region part = {{2, 1, 0, 0}, {8, 5, 1, 1}};
        cc_image *image = fixture_image(type, components, 2, 11, 7, 1);
        cc_image *crop = NULL, *flip = NULL, *swap = NULL, *back = NULL;
        unsigned char pixels[11 * 7 * 48], expected[11 * 7 * 48];
        for (int64_t n = 0; n < 77 * components; n++)
            rescale_case_write(type, n, pixels + (size_t)n * bytes);
        put_bytes(image, pixels);
        fixture_ok(cc_image_create_cropped(image, &part, STREAM, &crop));
        fixture_ok(cc_image_create_flipped(crop, 1, STREAM, &flip));
        for (size_t n = 0; n < 40; n++)
            memcpy(expected + n * pixel, pixels + ((n / 8 + 1) * 11 + 2 + 7 - n % 8) * pixel, pixel);
        unsigned char *made = get_bytes(flip);
        ck_assert_mem_eq(made, expected, 40 * pixel);
        free(made);
        fixture_ok(cc_image_create_permuted(image, (const int32_t[]){1, 0, 0, 0}, STREAM, &swap));
        fixture_ok(cc_image_create_permuted(swap, (const int32_t[]){1, 0, 0, 0}, STREAM, &back));
        for (size_t n = 0; n < 77; n++)
            memcpy(expected + n * pixel, pixels + (n % 7 * 11 + n / 7) * pixel, pixel);
        made = get_bytes(swap);
        ck_assert_mem_eq(made, expected, 77 * pixel);
        free(made);
        made = get_bytes(back);
        ck_assert_mem_eq(made, pixels, 77 * pixel);
        free(made);
        cc_image_release(image);
        cc_image_release(crop);
        cc_image_release(flip);
        cc_image_release(swap);
        cc_image_release(back);
    }
}
END_TEST

/* Casts are those of cc_image_rescale(), whichever way the pixels go. */
START_TEST(casts_are_those_of_rescale)
{
    const cc_pixel_type from = (cc_pixel_type)_i;
    for (int32_t step = 1; step < 15; step += 4) {
        const cc_pixel_type to = (cc_pixel_type)((_i + step) % 15);
        cc_image *input = fixture_image(from, 2, 2, 20, 3, 1), *plain = fixture_image(to, 2, 2, 20, 3, 1);
        cc_image *copy = fixture_image(to, 2, 2, 20, 3, 1), *flip = fixture_image(to, 2, 2, 20, 3, 1), *back = NULL;
        unsigned char pixels[120 * 16];
        for (int64_t n = 0; n < 120; n++)
            rescale_case_write(from, n, pixels + (size_t)n * cc_pixel_type_size_bytes(from));
        put_bytes(input, pixels);
        fixture_ok(cc_image_rescale(input, 1, 0, plain, STREAM));
        fixture_ok(cc_image_copy_region(input, NULL, copy, NULL, STREAM));
        fixture_ok(cc_image_flip(input, 3, flip, STREAM));
        fixture_ok(cc_image_create_flipped(flip, 3, STREAM, &back));
        unsigned char *expected = get_bytes(plain), *copied = get_bytes(copy), *turned = get_bytes(back);
        ck_assert_mem_eq(copied, expected, cc_image_get_size_bytes(plain));
        ck_assert_mem_eq(turned, expected, cc_image_get_size_bytes(plain));
        free(expected);
        free(copied);
        free(turned);
        cc_image_release(input);
        cc_image_release(plain);
        cc_image_release(copy);
        cc_image_release(flip);
        cc_image_release(back);
    }
}
END_TEST

START_TEST(regions_are_copied_and_pasted)
{
    const cc_region slice = {{-7, 100, 4, 0}, {5, 4, 1, 1}}, row = {{-7, 102, 3, 0}, {5, 1, 1, 1}};
    const cc_region other_row = {{-7, 103, 5, 0}, {5, 1, 1, 1}}, near = {{-6, 102, 3, 0}, {4, 1, 1, 1}};
    const cc_region shifted = {{-7, 102, 3, 0}, {4, 1, 1, 1}};
    cc_image *volume = numbered_volume();
    cc_image *flat = fixture_image(CC_PIXEL_UINT8, 1, 2, 5, 4, 1);
    int16_t expected[60];
    for (int16_t n = 0; n < 60; n++)
        expected[n] = (int16_t)(n + 1);

    fixture_ok(cc_image_copy_region(volume, &slice, flat, NULL, STREAM));
    unsigned char *bytes = get_bytes(flat);
    for (int32_t n = 0; n < 20; n++)
        ck_assert_int_eq(bytes[n], 21 + n);
    free(bytes);

    /* Within one image. */
    fixture_ok(cc_image_copy_region(volume, &row, volume, &other_row, STREAM));
    memcpy(expected + 55, expected + 10, 5 * sizeof *expected);
    fixture_ok(cc_image_copy_region(volume, &row, volume, &row, STREAM));
    expect_failure(CC_ERROR_BUSY, "", cc_image_copy_region(volume, &near, volume, &shifted, STREAM));
    expect_int16(volume, expected);

    /* Into a volume: where it is, and at an index. */
    fixture_ok(cc_image_set_index(flat, (const int64_t[]){-7, 100, 0, 0}));
    expect_failure(CC_ERROR_REGION, "", cc_image_paste(flat, volume, NULL, STREAM));
    fixture_ok(cc_image_paste(flat, volume, (const int64_t[]){-7, 100, 3, 77}, STREAM));
    memcpy(expected, expected + 20, 20 * sizeof *expected);
    expect_int16(volume, expected);
    cc_image *small = NULL;
    fixture_ok(cc_image_create_cropped(volume, &near, STREAM, &small));
    fixture_ok(cc_image_fill(small, NULL, &(int16_t){-5}, STREAM));
    fixture_ok(cc_image_paste(small, volume, NULL, STREAM));
    for (int32_t n = 11; n < 15; n++)
        expected[n] = -5;
    expect_int16(volume, expected);
    expect_failure(CC_ERROR_REGION, "index[0] = -5",
                   cc_image_paste(small, volume, (const int64_t[]){-5, 100, 3, 0}, STREAM));
    expect_failure(CC_ERROR_REGION, "size[2] = 3", cc_image_paste(volume, flat, NULL, STREAM));
    expect_int16(volume, expected);
    cc_image_release(volume);
    cc_image_release(flat);
    cc_image_release(small);
}
END_TEST

/* Wrapped memory whose pixels lie apart, as a source and as a destination. */
START_TEST(strided_memory)
{
    int16_t memory[2][8 * 5];
    cc_image *from = fixture_image(CC_PIXEL_INT16, 1, 2, 3, 5, 1), *to = fixture_image(CC_PIXEL_INT16, 1, 2, 5, 3, 1);
    cc_wrap_params wrap = CC_WRAP_PARAMS_INIT;
    for (int32_t n = 0; n < 40; n++) {
        memory[0][n] = (int16_t)n;
        memory[1][n] = -1;
    }
    wrap.flags = CC_WRAP_BORROWED;
    wrap.data = memory[0];
    wrap.strides_bytes[0] = 4;
    wrap.strides_bytes[1] = 16;
    wrap.size_bytes = 4 * 16 + 2 * 4 + 2;
    fixture_ok(cc_image_wrap_host(from, &wrap));
    wrap.data = memory[1];
    wrap.strides_bytes[0] = 6;
    wrap.strides_bytes[1] = 2;
    wrap.size_bytes = 4 * 6 + 2 * 2 + 2;
    fixture_ok(cc_image_wrap_host(to, &wrap));
    fixture_bring_to_device(from);
    fixture_ok(cc_image_permute(from, (const int32_t[]){1, 0, 0, 0}, to, STREAM));
    int16_t *pixels = NULL;
    fixture_ok(cc_image_map_host(to, NULL, CC_ACCESS_READ, (void **)&pixels));
    for (int32_t j = 0; j < 3; j++)
        for (int32_t i = 0; i < 5; i++)
            ck_assert_int_eq(memory[1][i * 3 + j], i * 8 + j * 2);
    ck_assert_int_eq(memory[1][15], -1);
    fixture_ok(cc_image_unmap_host(to, pixels));
    cc_image_release(from);
    cc_image_release(to);
}
END_TEST

/* Large enough for several threads on the host, in one row and in many. */
START_TEST(large_images)
{
    enum {
        WIDE = 2100,
        HIGH = 1100
    };
    const int64_t sizes[][2] = {{WIDE, HIGH}, {(int64_t)WIDE * HIGH, 1}, {1, (int64_t)WIDE * HIGH}};
    cc__crew_cores = 3;
    for (int32_t n = 0; n < COUNT(sizes); n++) {
        const int64_t i = sizes[n][0], j = sizes[n][1];
        cc_image *image = fixture_image(CC_PIXEL_UINT32, 1, 2, i, j, 1), *flip = NULL, *swap = NULL;
        uint32_t *numbers = malloc((size_t)(i * j) * sizeof *numbers);
        for (int64_t at = 0; at < i * j; at++)
            numbers[at] = (uint32_t)at;
        put_bytes(image, numbers);
        fixture_ok(cc_image_create_flipped(image, 3, STREAM, &flip));
        fixture_ok(cc_image_create_permuted(image, (const int32_t[]){1, 0, 0, 0}, STREAM, &swap));
        uint32_t *flipped = get_bytes(flip), *swapped = get_bytes(swap);
        int64_t wrong = 0;
        for (int64_t at = 0; at < i * j; at++)
            wrong += (flipped[at] != i * j - 1 - at) + (swapped[at] != at % j * i + at / j);
        ck_assert_int_eq(wrong, 0);
        free(numbers);
        free(flipped);
        free(swapped);
        cc_image_release(image);
        cc_image_release(flip);
        cc_image_release(swap);
    }
    cc__crew_cores = 0;
}
END_TEST

/* Rows turned round and cut out, of every width of pixels, written past the caches. */
START_TEST(large_images_past_the_caches)
{
    enum {
        WIDE = 1501,
        HIGH = 37
    };
    static const int32_t components[] = {1, 2, 3, 4, 8};
    const int32_t bytes = components[_i];
    const cc_region part = {{5, 2, 0, 0}, {WIDE - 9, HIGH - 3, 1, 1}};
    cc_image *image = fixture_image(CC_PIXEL_UINT8, bytes, 2, WIDE, HIGH, 1), *flip = NULL, *crop = NULL;
    uint8_t *pixels = malloc((size_t)WIDE * HIGH * (size_t)bytes);
    for (int64_t at = 0; at < (int64_t)WIDE * HIGH * bytes; at++)
        pixels[at] = (uint8_t)(at * 2654435761U >> 15);
    put_bytes(image, pixels);
    cc__past_cache_from_bytes = 1;
    fixture_ok(cc_image_create_flipped(image, 1, STREAM, &flip));
    fixture_ok(cc_image_create_cropped(image, &part, STREAM, &crop));
    cc__past_cache_from_bytes = 0;
    uint8_t *flipped = get_bytes(flip), *cropped = get_bytes(crop);
    for (int64_t j = 0; j < HIGH; j++)
        for (int64_t i = 0; i < WIDE; i++)
            ck_assert(memcmp(flipped + (j * WIDE + i) * bytes, pixels + (j * WIDE + WIDE - 1 - i) * bytes,
                             (size_t)bytes) == 0);
    for (int64_t j = 0; j < HIGH - 3; j++)
        ck_assert_mem_eq(cropped + j * (WIDE - 9) * bytes, pixels + ((j + 2) * WIDE + 5) * bytes,
                         (size_t)((WIDE - 9) * bytes));
    free(pixels);
    free(flipped);
    free(cropped);
    cc_image_release(image);
    cc_image_release(flip);
    cc_image_release(crop);
}
END_TEST

/* Only what is read moves, and only what is written is new. */
START_TEST(only_the_part_moves)
{
    const cc_region part = {{0, 8, 0, 0}, {16, 4, 1, 1}};
    static unsigned char pixels[16 * 16];
    if (fixture_device_count() == 0)
        return;
    cc_image *image = fixture_image(CC_PIXEL_UINT8, 1, 2, 16, 16, 1), *crop = NULL;
    void *memory = NULL;
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ, STREAM, &memory));
    fixture_ok(cc_image_unmap_device(image, memory, STREAM));
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &memory));
    memset(memory, 3, sizeof pixels);
    fixture_ok(cc_image_unmap_host(image, memory));
    fixture_ok(cc_image_reset_counters(image));
    fixture_ok(cc_image_create_cropped(image, &part, STREAM, &crop));
    ck_assert_int_eq((int64_t)fixture_counters(image).host_to_device_bytes, 64);
    ck_assert_int_eq((int64_t)fixture_counters(crop).host_to_device_bytes, 0);
    cc_image_release(image);
    cc_image_release(crop);
}
END_TEST

START_TEST(nothing_to_do)
{
    const cc_region none = {{-7, 104, 3, 0}, {5, 0, 3, 1}};
    static const int64_t size[] = {5, 0, 3}, padded[] = {5, 2, 4};
    cc_image *volume = numbered_volume(), *made = NULL, *empty = NULL, *given = given_output(size);
    cc_pad_params params = CC_PAD_PARAMS_INIT;
    fixture_ok(cc_image_create_cropped(volume, &none, STREAM, &empty));
    expect_size(empty, size);
    fixture_ok(cc_image_crop(volume, &none, given, STREAM));
    fixture_ok(cc_image_copy_region(volume, &none, volume, &none, STREAM));
    fixture_ok(cc_image_paste(empty, volume, NULL, STREAM));
    fixture_ok(cc_image_create_flipped(empty, 7, STREAM, &made));
    expect_size(made, size);
    cc_image_release(made);
    /* The constant is all that there is. */
    params.upper[1] = 2;
    params.lower[2] = 1;
    params.value = &(int16_t){-3};
    fixture_ok(cc_image_create_padded(empty, &params, STREAM, &made));
    expect_size(made, padded);
    int16_t *pixels = get_bytes(made);
    for (int32_t n = 0; n < 40; n++)
        ck_assert_int_eq(pixels[n], -3);
    free(pixels);
    params.border[1] = CC_BORDER_REPLICATE;
    cc_image *untouched = made;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "border[1]", cc_image_create_padded(empty, &params, STREAM, &untouched));
    ck_assert_ptr_eq(untouched, made);
    /* A pixel by itself, and an image that is only its fill value. */
    cc_image *constant = fixture_image(CC_PIXEL_UINT8, 1, 1, 1, 1, 1), *wide = NULL;
    cc_pad_params around = CC_PAD_PARAMS_INIT;
    fixture_ok(cc_image_fill(constant, NULL, &(uint8_t){9}, STREAM));
    around.border[0] = CC_BORDER_REFLECT;
    around.lower[0] = 20;
    fixture_ok(cc_image_create_padded(constant, &around, STREAM, &wide));
    uint8_t *bytes = get_bytes(wide);
    for (int32_t n = 0; n < 21; n++)
        ck_assert_int_eq(bytes[n], 9);
    free(bytes);
    cc_image_release(volume);
    cc_image_release(made);
    cc_image_release(empty);
    cc_image_release(given);
    cc_image_release(constant);
    cc_image_release(wide);
}
END_TEST

START_TEST(refusals)
{
    static const int64_t size[] = {5, 4, 3};
    const cc_region outside = {{-7, 100, 3, 0}, {5, 5, 3, 1}}, negative = {{-7, 100, 3, 0}, {5, -1, 3, 1}};
    const cc_region inside = {{-7, 100, 3, 0}, {2, 2, 2, 1}};
    const int32_t order[] = {2, 1, 0, 0}, twice[] = {1, 1, 0, 0}, far[] = {0, 1, 3, 0};
    cc_image *volume = numbered_volume(), *output = given_output(size),
             *flat = fixture_image(CC_PIXEL_INT16, 1, 2, 5, 4, 1);
    cc_image *colour = fixture_image(CC_PIXEL_INT16, 3, 3, 5, 4, 3), *none = NULL;
    cc_pad_params params = CC_PAD_PARAMS_INIT, wrong = CC_PAD_PARAMS_INIT;
    const cc_status invalid = CC_ERROR_INVALID_ARGUMENT;

    expect_failure(invalid, "input", cc_image_copy_region(NULL, NULL, output, NULL, STREAM));
    expect_failure(invalid, "output", cc_image_copy_region(volume, NULL, NULL, NULL, STREAM));
    expect_failure(CC_ERROR_REGION, "", cc_image_copy_region(volume, &outside, output, NULL, STREAM));
    expect_failure(CC_ERROR_REGION, "", cc_image_copy_region(volume, NULL, output, &inside, STREAM));
    expect_failure(invalid, "size[1]", cc_image_copy_region(volume, &negative, output, NULL, STREAM));
    expect_failure(CC_ERROR_SIZE, "size[0] = 5", cc_image_copy_region(volume, &inside, output, NULL, STREAM));
    expect_failure(CC_ERROR_SIZE, "components", cc_image_copy_region(volume, NULL, colour, NULL, STREAM));
    expect_failure(invalid, "input", cc_image_paste(NULL, output, NULL, STREAM));
    expect_failure(invalid, "output", cc_image_paste(volume, NULL, NULL, STREAM));
    expect_failure(CC_ERROR_SIZE, "components", cc_image_paste(volume, colour, NULL, STREAM));

    expect_failure(invalid, "input", cc_image_crop(NULL, &inside, output, STREAM));
    expect_failure(invalid, "region", cc_image_crop(volume, NULL, output, STREAM));
    expect_failure(invalid, "output", cc_image_crop(volume, &inside, NULL, STREAM));
    expect_failure(CC_ERROR_SIZE, "size[0]", cc_image_crop(volume, &inside, output, STREAM));
    expect_failure(CC_ERROR_REGION, "", cc_image_crop(volume, &outside, output, STREAM));
    expect_failure(invalid, "input", cc_image_create_cropped(NULL, &inside, STREAM, &none));
    expect_failure(invalid, "region", cc_image_create_cropped(volume, NULL, STREAM, &none));
    expect_failure(invalid, "out_image", cc_image_create_cropped(volume, &inside, STREAM, NULL));

    expect_failure(invalid, "input", cc_image_flip(NULL, 1, output, STREAM));
    expect_failure(invalid, "output", cc_image_flip(volume, 1, NULL, STREAM));
    expect_failure(invalid, "axes = 0x8", cc_image_flip(volume, 8, output, STREAM));
    expect_failure(CC_ERROR_SIZE, "dimensions", cc_image_flip(volume, 1, flat, STREAM));
    expect_failure(CC_ERROR_SIZE, "components", cc_image_flip(volume, 1, colour, STREAM));
    expect_failure(CC_ERROR_BUSY, "", cc_image_flip(volume, 1, volume, STREAM));
    expect_failure(invalid, "input", cc_image_create_flipped(NULL, 1, STREAM, &none));
    expect_failure(invalid, "out_image", cc_image_create_flipped(volume, 1, STREAM, NULL));
    expect_failure(invalid, "axes", cc_image_create_flipped(volume, UINT32_MAX, STREAM, &none));

    expect_failure(invalid, "input", cc_image_permute(NULL, order, output, STREAM));
    expect_failure(invalid, "order", cc_image_permute(volume, NULL, output, STREAM));
    expect_failure(invalid, "output", cc_image_permute(volume, order, NULL, STREAM));
    expect_failure(invalid, "order[1] = 1", cc_image_permute(volume, twice, output, STREAM));
    expect_failure(invalid, "order[2] = 3", cc_image_permute(volume, far, output, STREAM));
    expect_failure(CC_ERROR_SIZE, "size[0] = 5", cc_image_permute(volume, order, output, STREAM));
    expect_failure(invalid, "input", cc_image_create_permuted(NULL, order, STREAM, &none));
    expect_failure(invalid, "order", cc_image_create_permuted(volume, NULL, STREAM, &none));
    expect_failure(invalid, "out_image", cc_image_create_permuted(volume, order, STREAM, NULL));

    expect_failure(invalid, "input", cc_image_pad(NULL, &params, output, STREAM));
    expect_failure(invalid, "params", cc_image_pad(volume, NULL, output, STREAM));
    expect_failure(invalid, "output", cc_image_pad(volume, &params, NULL, STREAM));
    expect_failure(invalid, "input", cc_image_create_padded(NULL, &params, STREAM, &none));
    expect_failure(invalid, "params", cc_image_create_padded(volume, NULL, STREAM, &none));
    expect_failure(invalid, "out_image", cc_image_create_padded(volume, &params, STREAM, NULL));
    wrong.struct_size = 0;
    expect_failure(invalid, "struct_size", cc_image_pad(volume, &wrong, output, STREAM));
    wrong = params, wrong.flags = 1;
    expect_failure(invalid, "flags", cc_image_pad(volume, &wrong, output, STREAM));
    wrong = params, wrong.border[2] = 5;
    expect_failure(invalid, "border[2] = 5", cc_image_pad(volume, &wrong, output, STREAM));
    wrong = params, wrong.lower[1] = -1;
    expect_failure(invalid, "lower[1] = -1", cc_image_pad(volume, &wrong, output, STREAM));
    wrong = params, wrong.upper[0] = -4;
    expect_failure(invalid, "upper[0] = -4", cc_image_pad(volume, &wrong, output, STREAM));
    wrong = params, wrong.upper[0] = INT64_MAX - 4;
    expect_failure(CC_ERROR_OVERFLOW, "upper[0]", cc_image_pad(volume, &wrong, output, STREAM));
    wrong = params, wrong.upper[0] = INT64_MAX / 8;
    expect_passed_on(CC_ERROR_OVERFLOW, cc_image_create_padded(volume, &wrong, STREAM, &none));
    wrong = params, wrong.upper[0] = 1;
    expect_failure(CC_ERROR_SIZE, "size[0]", cc_image_pad(volume, &wrong, output, STREAM));
    ck_assert_ptr_null(none);

    /* A struct from an older program ends early: what it does not have is as in CC_PAD_PARAMS_INIT. */
    cc_pad_params *short_params = expect_short_struct(sizeof(uint32_t));
    short_params->struct_size = sizeof(uint32_t);
    fixture_ok(cc_image_pad(volume, short_params, output, STREAM));
    free(short_params);

    /* A failure leaves the output's place in space. */
    double before[CC_MAX_DIMENSION], after[CC_MAX_DIMENSION];
    void *pixels = NULL;
    fixture_ok(cc_image_get_origin(output, before));
    fixture_ok(cc_image_map_host(output, NULL, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_BUSY, "", cc_image_flip(volume, 5, output, STREAM));
    fixture_ok(cc_image_unmap_host(output, pixels));
    fixture_ok(cc_image_get_origin(output, after));
    ck_assert_mem_eq(before, after, sizeof before);
    cc_image_release(volume);
    cc_image_release(output);
    cc_image_release(flat);
    cc_image_release(colour);
}
END_TEST

START_TEST(pixels_that_may_not_be_read_or_written)
{
    static unsigned char memory[20];
    cc_image *fixed = fixture_image(CC_PIXEL_UINT8, 1, 2, 5, 4, 1),
             *output = fixture_image(CC_PIXEL_UINT8, 1, 2, 5, 4, 1);
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *fresh = NULL;
    cc_wrap_params wrap = CC_WRAP_PARAMS_INIT;
    wrap.flags = CC_WRAP_BORROWED | CC_WRAP_READ_ONLY;
    wrap.data = memory;
    wrap.size_bytes = sizeof memory;
    fixture_ok(cc_image_wrap_host(fixed, &wrap));
    expect_failure(CC_ERROR_READ_ONLY, "", cc_image_flip(output, 1, fixed, STREAM));
    expect_failure(CC_ERROR_READ_ONLY, "", cc_image_paste(output, fixed, NULL, STREAM));
    expect_failure(CC_ERROR_READ_ONLY, "", cc_image_copy_region(output, NULL, fixed, NULL, STREAM));
    fixture_ok(cc_image_flip(fixed, 1, output, STREAM));
    params.dimension = 2;
    params.pixel_type = CC_PIXEL_UINT8;
    params.flags = CC_IMAGE_UNINITIALIZED;
    params.region.size[0] = 5;
    params.region.size[1] = 4;
    fixture_ok(cc_image_create(&params, &fresh));
    expect_passed_on(CC_ERROR_UNINITIALIZED, cc_image_flip(fresh, 1, output, STREAM));
    expect_passed_on(CC_ERROR_UNINITIALIZED, cc_image_copy_region(fresh, NULL, output, NULL, STREAM));
    fixture_ok(cc_image_flip(output, 1, fresh, STREAM));
    cc_image_release(fixed);
    cc_image_release(output);
    cc_image_release(fresh);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("regions");
    TCase *tcase = tcase_create("regions");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_loop_test(tcase, pads_are_numpys, 0, COUNT(pad_cases));
    tcase_add_loop_test(tcase, flips_are_numpys, 0, COUNT(flip_cases));
    tcase_add_loop_test(tcase, permutations_are_numpys, 0, COUNT(permute_cases));
    tcase_add_test(tcase, crops_and_pads_keep_their_place);
    tcase_add_loop_test(tcase, bits_of_all_types, 0, 15);
    tcase_add_loop_test(tcase, casts_are_those_of_rescale, 0, 15);
    tcase_add_test(tcase, regions_are_copied_and_pasted);
    tcase_add_test(tcase, strided_memory);
    tcase_add_test(tcase, large_images);
    tcase_add_loop_test(tcase, large_images_past_the_caches, 0, 5);
    tcase_add_test(tcase, only_the_part_moves);
    tcase_add_test(tcase, nothing_to_do);
    tcase_add_test(tcase, refusals);
    tcase_add_test(tcase, pixels_that_may_not_be_read_or_written);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
