/*
 * More than 2^31 pixels, and more than 2^32 bytes: what operations do at both ends and around those numbers. Needs 7 GB
 * on the device; on the host it reads pixel by pixel.
 */
#include "support/fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIZE INT64_C(1300)
#define PIXELS (SIZE * SIZE * SIZE)
#define TWO_31 (INT64_C(1) << 31)

/* Numbers of pixels as they lie in memory; in uint16 the second half of them is beyond 2^32 bytes. */
static const int64_t places[] = {0,          1,      SIZE - 1,   SIZE,       SIZE *SIZE - 1, TWO_31 / 2,    TWO_31 - 2,
                                 TWO_31 - 1, TWO_31, TWO_31 + 1, TWO_31 + 2, TWO_31 * 2 / 3, PIXELS - SIZE, PIXELS - 2,
                                 PIXELS - 1};
#define PLACES ((int32_t)(sizeof places / sizeof places[0]))

static cc_image *large_image(cc_pixel_type type)
{
    cc_image *image = fixture_image(type, 1, 3, SIZE, SIZE, SIZE);
    fixture_ok(cc_image_set_device(image, 0));
    return image;
}

static cc_region pixel_at(int64_t at)
{
    const cc_region region = {{at % SIZE, at / SIZE % SIZE, at / (SIZE * SIZE), 0}, {1, 1, 1, 1}};
    return region;
}

static uint16_t read_pixel(cc_image *image, int64_t at)
{
    const cc_region region = pixel_at(at);
    uint16_t value = 0;
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, &region, CC_ACCESS_READ, &pixels));
    memcpy(&value, pixels, cc_pixel_type_size_bytes(cc_image_get_pixel_type(image)));
    fixture_ok(cc_image_unmap_host(image, pixels));
    return value;
}

static void expect_pixel(cc_image *image, int64_t at, uint16_t value)
{
    const uint16_t found = read_pixel(image, at);
    ck_assert_msg(found == value, "pixel %lld is %u, expected %u", (long long)at, found, value);
}

/* Makes sure of the memory, so that a device that is too small is told apart from a fault. */
static bool has_room(cc_image *const images[], int32_t count)
{
    for (int32_t i = 0; i < count; ++i) {
        const cc_status status = cc_image_prefetch(images[i], NULL, 0);
        if (status == CC_ERROR_OUT_OF_DEVICE_MEMORY && getenv("CC_TEST_REQUIRE_GPU") == NULL)
            return false;
        fixture_ok(status);
    }
    return true;
}

START_TEST(every_pixel_is_reached)
{
    const unsigned char all = 3;
    cc_image *bytes = large_image(CC_PIXEL_UINT8), *words = large_image(CC_PIXEL_UINT16);
    cc_image *const images[] = {bytes, words};
    fixture_ok(cc_image_fill(bytes, NULL, &all, CC_STREAM_DEFAULT));
    if (has_room(images, 2)) {
        for (int32_t i = 0; i < PLACES; ++i)
            expect_pixel(bytes, places[i], 3);
        /* Single pixels, each of another value, and a slab across 2^31. */
        const cc_region slab = {{0, 0, TWO_31 / (SIZE * SIZE), 0}, {SIZE, SIZE, 1, 1}};
        const unsigned char in_slab = 99;
        fixture_ok(cc_image_fill(bytes, &slab, &in_slab, CC_STREAM_DEFAULT));
        for (int32_t i = 0; i < PLACES; ++i) {
            const unsigned char value = (unsigned char)(10 + i);
            const cc_region pixel = pixel_at(places[i]);
            fixture_ok(cc_image_fill(bytes, &pixel, &value, CC_STREAM_DEFAULT));
        }
        expect_pixel(bytes, TWO_31 + 3, 99);
        expect_pixel(bytes, slab.index[2] * SIZE * SIZE - 1, 3);
        expect_pixel(bytes, slab.index[2] * SIZE * SIZE, 99);
        expect_pixel(bytes, (slab.index[2] + 1) * SIZE * SIZE, 3);

        fixture_ok(cc_image_rescale(bytes, 1000, 7, words, CC_STREAM_DEFAULT));
        fixture_ok(cc_image_rescale(bytes, 2, 1, bytes, CC_STREAM_DEFAULT));
        for (int32_t i = 0; i < PLACES; ++i) {
            expect_pixel(bytes, places[i], (uint16_t)(2 * (10 + i) + 1));
            expect_pixel(words, places[i], (uint16_t)(1000 * (10 + i) + 7));
        }
        expect_pixel(bytes, TWO_31 + 3, 199);
        expect_pixel(words, TWO_31 + 3, UINT16_MAX);
        expect_pixel(words, PIXELS - 3, 3007);
    }
    cc_image_release(bytes);
    cc_image_release(words);
}
END_TEST

/* All but the first column: rows with gaps, and still more than 2^31 pixels. */
START_TEST(every_pixel_of_a_crop_is_reached)
{
    const unsigned char outside = 1, inside = 50;
    const cc_region crop = {{1, 0, 0, 0}, {SIZE - 1, SIZE, SIZE, 1}};
    cc_image *bytes = large_image(CC_PIXEL_UINT8), *words = large_image(CC_PIXEL_UINT16);
    cc_image *byte_view = NULL, *word_view = NULL;
    cc_image *const images[] = {bytes, words};
    ck_assert_int_gt(crop.size[0] * crop.size[1] * crop.size[2], TWO_31);
    fixture_ok(cc_image_fill(bytes, NULL, &outside, CC_STREAM_DEFAULT));
    fixture_ok(cc_image_create_view(bytes, &crop, &byte_view));
    fixture_ok(cc_image_create_view(words, &crop, &word_view));
    if (has_room(images, 2)) {
        fixture_ok(cc_image_fill(byte_view, NULL, &inside, CC_STREAM_DEFAULT));
        fixture_ok(cc_image_rescale(byte_view, 100, 0, word_view, CC_STREAM_DEFAULT));
        for (int32_t i = 0; i < PLACES; ++i) {
            const bool is_inside = places[i] % SIZE != 0;
            expect_pixel(bytes, places[i], is_inside ? 50 : 1);
            expect_pixel(words, places[i], is_inside ? 5000 : 0);
        }
        const int64_t first_of_a_row = TWO_31 / SIZE * SIZE;
        expect_pixel(bytes, first_of_a_row, 1);
        expect_pixel(words, first_of_a_row, 0);
    }
    cc_image_release(byte_view);
    cc_image_release(word_view);
    cc_image_release(bytes);
    cc_image_release(words);
}
END_TEST

/* A bright pixel inside and one at either corner, spread along three axes, slab by slab. */
START_TEST(every_pixel_is_smoothed)
{
    const unsigned char all = 100, bright = 255;
    const double sum = 1 + 2 * exp(-2.0) + 2 * exp(-8.0), centre = 1 / sum, corner = (1 + centre) / 2;
    const double inside = 100 + 155 * centre * centre * centre, at_corner = 100 + 155 * corner * corner * corner;
    const int64_t bright_at = TWO_31 + 2 * SIZE - 100, bright_places[] = {0, bright_at, PIXELS - 1};
    cc_gaussian_params params = CC_GAUSSIAN_PARAMS_INIT;
    cc_image *bytes = large_image(CC_PIXEL_UINT8), *words = large_image(CC_PIXEL_UINT16);
    cc_image *const images[] = {bytes, words};
    params.unit = CC_SIGMA_IN_PIXELS;
    params.sigma[0] = params.sigma[1] = params.sigma[2] = 0.5;
    fixture_ok(cc_image_fill(bytes, NULL, &all, CC_STREAM_DEFAULT));
    if (has_room(images, 2)) {
        for (int32_t i = 0; i < 3; ++i) {
            const cc_region pixel = pixel_at(bright_places[i]);
            fixture_ok(cc_image_fill(bytes, &pixel, &bright, CC_STREAM_DEFAULT));
        }
        fixture_ok(cc_image_smooth_gaussian(bytes, &params, words, CC_STREAM_DEFAULT));
        fixture_ok(cc_image_smooth_gaussian(bytes, &params, bytes, CC_STREAM_DEFAULT));
        for (int32_t i = 0; i < 2; ++i) {
            expect_pixel(images[i], 0, (uint16_t)lround(at_corner));
            expect_pixel(images[i], PIXELS - 1, (uint16_t)lround(at_corner));
            expect_pixel(images[i], bright_at, (uint16_t)lround(inside));
            expect_pixel(images[i], bright_at + 3, 100);
            expect_pixel(images[i], bright_at + 3 * SIZE, 100);
            expect_pixel(images[i], bright_at + 3 * SIZE * SIZE, 100);
            expect_pixel(images[i], TWO_31 / 2, 100);
        }
    }
    cc_image_release(bytes);
    cc_image_release(words);
}
END_TEST

/* One pixel that is another, where the numbers of pixels and bytes leave 31 and 32 bits, in other grids and among its
 * neighbours. */
START_TEST(grids_and_neighbours)
{
    const int64_t slice = SIZE * SIZE;
    const int64_t marked[] = {TWO_31, TWO_31 - 5 * SIZE - 7, PIXELS - slice - SIZE - 2, slice + SIZE + 1};
    const unsigned char all = 3, mark = 20;
    cc_resample_params params = CC_RESAMPLE_PARAMS_INIT;
    cc_image *bytes = large_image(CC_PIXEL_UINT8), *words = large_image(CC_PIXEL_INT16);
    cc_image *const images[] = {bytes, words};
    fixture_ok(cc_image_fill(bytes, NULL, &all, CC_STREAM_DEFAULT));
    if (has_room(images, 2)) {
        for (int32_t i = 0; i < 4; ++i) {
            const cc_region pixel = pixel_at(marked[i]);
            fixture_ok(cc_image_fill(bytes, &pixel, &mark, CC_STREAM_DEFAULT));
        }
        fixture_ok(cc_image_laplacian(bytes, 0, words, CC_STREAM_DEFAULT));
        for (int32_t i = 0; i < 4; ++i) {
            expect_pixel(words, marked[i], (uint16_t)(6 * 3 - 6 * 20));
            expect_pixel(words, marked[i] + 1, 17);
            expect_pixel(words, marked[i] - SIZE, 17);
            expect_pixel(words, marked[i] + slice, 17);
        }
        expect_pixel(words, TWO_31 + 5, 0);
        params.outside = 9;
        params.offset[2] = 1;
        for (int32_t interpolation = 0; interpolation < 2; ++interpolation) {
            params.interpolation = interpolation;
            fixture_ok(cc_image_resample(bytes, &params, words, CC_STREAM_DEFAULT));
            for (int32_t i = 0; i < 4; ++i) {
                expect_pixel(words, marked[i] - slice, 20);
                expect_pixel(words, marked[i], 3);
            }
            expect_pixel(words, PIXELS - 1, 9);
        }
    }
    cc_image_release(bytes);
    cc_image_release(words);
}
END_TEST

/* Bytes that are 3, but for one of its own at each of the places. */
static int32_t value_at_place(int32_t i)
{
    return 10 + i;
}

static void mark_places(cc_image *bytes)
{
    const unsigned char all = 3;
    fixture_ok(cc_image_fill(bytes, NULL, &all, CC_STREAM_DEFAULT));
    for (int32_t i = 0; i < PLACES; ++i) {
        const unsigned char value = (unsigned char)value_at_place(i);
        const cc_region pixel = pixel_at(places[i]);
        fixture_ok(cc_image_fill(bytes, &pixel, &value, CC_STREAM_DEFAULT));
    }
}

/* words = factor * bytes + summand. */
static void expect_words(cc_image *words, int32_t factor, int32_t summand)
{
    for (int32_t i = 0; i < PLACES; ++i)
        expect_pixel(words, places[i], (uint16_t)(factor * value_at_place(i) + summand));
    expect_pixel(words, TWO_31 + 3, (uint16_t)(factor * 3 + summand));
    expect_pixel(words, PIXELS - 3, (uint16_t)(factor * 3 + summand));
}

/* By the kernels of single steps, by the one for any list, and by the list's own after so many bytes. */
START_TEST(every_pixel_is_computed)
{
    static const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)),
                                    CC_STEP2(CC_STEP_MULTIPLY_ADD, CC_TAKE_VALUE(2), CC_TAKE_IMAGE(1)),
                                    CC_STEP2(CC_STEP_CLAMP, CC_TAKE_VALUE(0), CC_TAKE_VALUE(5000))};
    cc_image *bytes = large_image(CC_PIXEL_UINT8), *words = large_image(CC_PIXEL_UINT16);
    cc_image *const images[] = {bytes, words};
    mark_places(bytes);
    if (has_room(images, 2)) {
        fixture_ok(cc_image_add_value(bytes, 1000, words, CC_STREAM_DEFAULT));
        expect_words(words, 1, 1000);
        fixture_ok(cc_image_subtract(words, bytes, words, CC_STREAM_DEFAULT));
        expect_words(words, 0, 1000);
        for (int32_t n = 1; n <= 5; ++n) {
            fixture_ok(cc_image_evaluate(steps, 3, images, 2, words, CC_STREAM_DEFAULT));
            expect_words(words, 2 * n, 1000);
        }
    }
    cc_image_release(bytes);
    cc_image_release(words);
}
END_TEST

static double measured(cc_reduction reduction, cc_image *image, cc_image *second)
{
    double value = 0;
    fixture_ok(cc_image_measure(reduction, image, second, CC_STREAM_DEFAULT, &value));
    return value;
}

/* All of these are whole numbers that float64 has, whatever the order of adding. */
START_TEST(every_pixel_counts)
{
    const uint16_t other = 7;
    double sum = 3.0 * (double)(PIXELS - PLACES);
    cc_image *bytes = large_image(CC_PIXEL_UINT8), *words = large_image(CC_PIXEL_UINT16);
    cc_image *bins = fixture_image(CC_PIXEL_UINT64, 1, 1, 256, 1, 1);
    cc_image *const images[] = {bytes, words};
    void *pixels = NULL;
    for (int32_t i = 0; i < PLACES; ++i)
        sum += value_at_place(i);
    mark_places(bytes);
    fixture_ok(cc_image_fill(words, NULL, &other, CC_STREAM_DEFAULT));
    if (has_room(images, 2)) {
        ck_assert_double_eq(measured(CC_REDUCE_SUM, bytes, NULL), sum);
        ck_assert_double_eq(measured(CC_REDUCE_MAXIMUM, bytes, NULL), value_at_place(PLACES - 1));
        ck_assert_double_eq(measured(CC_REDUCE_MINIMUM, bytes, NULL), 3);
        ck_assert_double_eq(measured(CC_REDUCE_DOT, bytes, words), 7 * sum);
        fixture_ok(cc_image_set_device(bins, 0));
        fixture_ok(cc_image_histogram(bytes, 0, 256, bins, CC_STREAM_DEFAULT));
        fixture_ok(cc_image_map_host(bins, NULL, CC_ACCESS_READ, &pixels));
        for (int32_t bin = 0; bin < 256; ++bin) {
            const bool is_marked = bin >= value_at_place(0) && bin <= value_at_place(PLACES - 1);
            const uint64_t count = ((const uint64_t *)pixels)[bin];
            ck_assert_msg(count == (uint64_t)(bin == 3 ? PIXELS - PLACES : is_marked), "bin %d has %llu", (int)bin,
                          (unsigned long long)count);
        }
        fixture_ok(cc_image_unmap_host(bins, pixels));
    }
    cc_image_release(bins);
    cc_image_release(bytes);
    cc_image_release(words);
}
END_TEST

/* Twice the pixel before, along rows. */
START_TEST(every_line_is_convolved)
{
    cc_convolve_params params = CC_CONVOLVE_PARAMS_INIT;
    cc_image *bytes = large_image(CC_PIXEL_UINT8), *words = large_image(CC_PIXEL_UINT16);
    cc_image *filter = fixture_image(CC_PIXEL_FLOAT32, 1, 1, 2, 1, 1);
    cc_image *const images[] = {bytes, words};
    const cc_region second = {{1, 0, 0, 0}, {1, 1, 1, 1}};
    params.centre = 0;
    mark_places(bytes);
    fixture_ok(cc_image_fill(filter, &second, &(float){2}, CC_STREAM_DEFAULT));
    if (has_room(images, 2)) {
        const cc_status status = cc_image_convolve_axis(bytes, filter, &params, words, CC_STREAM_DEFAULT);
        if (status != CC_ERROR_UNSUPPORTED || getenv("CC_TEST_REQUIRE_GPU") != NULL) {
            fixture_ok(status);
            for (int32_t i = 0; i < PLACES; ++i)
                if ((places[i] + 1) % SIZE != 0)
                    expect_pixel(words, places[i] + 1, (uint16_t)(2 * value_at_place(i)));
            expect_pixel(words, PIXELS - SIZE / 2, 6);
            expect_pixel(words, TWO_31 / SIZE * SIZE, 0);
        }
    }
    cc_image_release(filter);
    cc_image_release(bytes);
    cc_image_release(words);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("large");
    TCase *tcase = tcase_create("large");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_set_timeout(tcase, 100);
    tcase_add_test(tcase, every_pixel_is_reached);
    tcase_add_test(tcase, every_pixel_of_a_crop_is_reached);
    tcase_add_test(tcase, every_pixel_is_smoothed);
    tcase_add_test(tcase, grids_and_neighbours);
    tcase_add_test(tcase, every_pixel_is_computed);
    tcase_add_test(tcase, every_pixel_counts);
    tcase_add_test(tcase, every_line_is_convolved);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
