/* Reductions and histograms of integers of up to 16 bits, where the pixels are, against sums in 64 bits. */
#include "memory/crew.h"
#include "support/expect.h"
#include "support/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STREAM CC_STREAM_DEFAULT
#define COUNT(LIST) ((int32_t)(sizeof(LIST) / sizeof((LIST)[0])))
#define PIECE INT64_C(16384)

typedef struct small_type {
    cc_pixel_type type;
    int32_t least;
    int32_t greatest;
} small_type;

static const small_type types[] = {{CC_PIXEL_BOOL, 0, 1},
                                   {CC_PIXEL_UINT8, 0, 255},
                                   {CC_PIXEL_INT8, -128, 127},
                                   {CC_PIXEL_UINT16, 0, 65535},
                                   {CC_PIXEL_INT16, -32768, 32767}};

static double measured(cc_reduction reduction, cc_image *input, cc_image *second)
{
    double value = -1234;
    fixture_ok(cc_image_measure(reduction, input, second, STREAM, &value));
    return value;
}

/* The sums stay under 2^53 and are exact; a variance of several pieces is joined in float64. */
static void expect_measures(cc_image *image, const double *values, int64_t count)
{
    int64_t sum = 0, squares = 0;
    double least = values[0], greatest = values[0];
    for (int64_t n = 0; n < count; ++n) {
        sum += (int64_t)values[n];
        squares += (int64_t)values[n] * (int64_t)values[n];
        least = fmin(least, values[n]);
        greatest = fmax(greatest, values[n]);
    }
    ck_assert(measured(CC_REDUCE_SUM, image, NULL) == (double)sum);
    ck_assert(measured(CC_REDUCE_MEAN, image, NULL) == (double)sum / (double)count);
    ck_assert(measured(CC_REDUCE_MINIMUM, image, NULL) == least);
    ck_assert(measured(CC_REDUCE_MAXIMUM, image, NULL) == greatest);
    ck_assert(measured(CC_REDUCE_NORM, image, NULL) == sqrt((double)squares));
    ck_assert(measured(CC_REDUCE_DOT, image, image) == (double)squares);
    const long double mean = (long double)sum / (long double)count;
    const double expected = (double)((long double)squares / (long double)count - mean * mean);
    const double found = measured(CC_REDUCE_VARIANCE, image, NULL);
    ck_assert_msg(fabs(found - expected) <= 1e-14 * expected, "%.17g, expected %.17g", found, expected);
    if (least == greatest)
        ck_assert(found == 0);
}

/* What all pixels are, or every other one: the greatest sums there can be, and none. */
START_TEST(extremes)
{
    static const int64_t counts[] = {1, 17, PIECE - 1, PIECE, 2 * PIECE + 33};
    static double values[2 * PIECE + 33];
    const small_type *type = &types[_i];
    for (int32_t size = 0; size < COUNT(counts); ++size) {
        for (int32_t which = 0; which < 4; ++which) {
            const double even = which % 2 == 0 ? type->least : type->greatest;
            const double odd = which < 2 ? even : type->least + type->greatest - even;
            for (int64_t n = 0; n < counts[size]; ++n)
                values[n] = n % 2 == 0 ? even : odd;
            cc_image *image = numbers_image(type->type, 1, counts[size], 1, values);
            fixture_bring_to_device(image);
            expect_measures(image, values, counts[size]);
            /* One piece has nothing to join. */
            const double distance = (even - odd) / 2;
            if (counts[size] == PIECE)
                ck_assert(measured(CC_REDUCE_VARIANCE, image, NULL) == distance * distance);
            cc_image_release(image);
        }
    }
}
END_TEST

/* Far from 0 for the distances that the numbers have. */
START_TEST(variance_of_what_is_far_from_zero)
{
    static double values[PIECE];
    static const small_type wide[] = {{CC_PIXEL_UINT16, 0, 65535}, {CC_PIXEL_INT16, -32768, 32767}};
    for (int32_t n = 0; n < 2; ++n) {
        for (int64_t i = 0; i < PIECE; ++i)
            values[i] = wide[n].greatest - (i == 77 ? 1 : 0);
        cc_image *image = numbers_image(wide[n].type, 1, PIECE, 1, values);
        fixture_bring_to_device(image);
        /* p (1 - p) of one in so many. */
        ck_assert(measured(CC_REDUCE_VARIANCE, image, NULL) == (double)(PIECE - 1) / (double)(PIECE * PIECE));
        cc_image_release(image);
    }
}
END_TEST

/* Views begin anywhere and have gaps between their rows; with two components, and for each. */
START_TEST(views)
{
    static const cc_region parts[] = {{{0, 0, 0, 0}, {211, 190, 1, 1}},  {{3, 1, 0, 0}, {200, 189, 1, 1}},
                                      {{16, 0, 0, 0}, {192, 190, 1, 1}}, {{0, 5, 0, 0}, {211, 170, 1, 1}},
                                      {{8, 2, 0, 0}, {100, 180, 1, 1}},  {{1, 0, 0, 0}, {1, 190, 1, 1}}};
    const int64_t width = 211, height = 190;
    const small_type *type = &types[_i];
    double *values = malloc((size_t)(2 * width * height) * sizeof *values);
    double *inner = malloc((size_t)(2 * width * height) * sizeof *inner);
    for (int64_t n = 0; n < 2 * width * height; ++n)
        values[n] = type->least + (double)(n * 7919 % 65537 % (type->greatest - type->least + 1));
    for (int32_t components = 1; components <= 2; ++components) {
        cc_image *image = numbers_image(type->type, components, width, height, values);
        cc_image *each = fixture_image(CC_PIXEL_FLOAT64, components, 1, 1, 1, 1);
        fixture_bring_to_device(image);
        for (int32_t n = 0; n < COUNT(parts); ++n) {
            const int64_t *index = parts[n].index, *size = parts[n].size;
            double sums[2] = {0, 0};
            int64_t count = 0;
            cc_image *view = NULL;
            for (int64_t j = index[1]; j < index[1] + size[1]; ++j) {
                for (int64_t i = components * index[0]; i < components * (index[0] + size[0]); ++i) {
                    inner[count++] = values[j * width * components + i];
                    sums[i % components] += values[j * width * components + i];
                }
            }
            fixture_ok(cc_image_create_view(image, &parts[n], &view));
            for (int32_t cores = 1; cores < 5; cores += 3) {
                cc__crew_cores = cores;
                expect_measures(view, inner, count);
                cc__crew_cores = 0;
            }
            fixture_ok(cc_image_reduce(CC_REDUCE_SUM, view, NULL, each, STREAM));
            numbers_expect(each, sums);
            cc_image_release(view);
        }
        cc_image_release(each);
        cc_image_release(image);
    }
    free(inner);
    free(values);
}
END_TEST

/* Products of two types, of one size and of two. */
START_TEST(products)
{
    const int64_t count = PIECE + 1000;
    double *values[2] = {malloc((size_t)count * sizeof(double)), malloc((size_t)count * sizeof(double))};
    for (int32_t x = 0; x < COUNT(types); ++x) {
        for (int32_t y = 0; y < COUNT(types); ++y) {
            const small_type *both[2] = {&types[x], &types[y]};
            cc_image *images[2];
            int64_t expected = 0;
            for (int32_t n = 0; n < 2; ++n) {
                for (int64_t i = 0; i < count; ++i)
                    values[n][i] = i % 3 == 0 ? both[n]->least : both[n]->greatest - (double)(i * (n + 3) % 2);
                images[n] = numbers_image(both[n]->type, 1, count, 1, values[n]);
                fixture_bring_to_device(images[n]);
            }
            for (int64_t i = 0; i < count; ++i)
                expected += (int64_t)values[0][i] * (int64_t)values[1][i];
            ck_assert(measured(CC_REDUCE_DOT, images[0], images[1]) == (double)expected);
            cc_image_release(images[0]);
            cc_image_release(images[1]);
        }
    }
    free(values[0]);
    free(values[1]);
}
END_TEST

/* Any byte that is not 0 is 1. */
START_TEST(truth_values)
{
    const int64_t count = PIECE + 5;
    unsigned char *pixels = NULL;
    double ones = 0;
    cc_image *image = fixture_image(CC_PIXEL_BOOL, 1, 1, count, 1, 1),
             *bins = fixture_image(CC_PIXEL_UINT64, 1, 1, 2, 1, 1);
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, (void **)&pixels));
    for (int64_t n = 0; n < count; ++n) {
        pixels[n] = (unsigned char)(n % 3 == 0 ? 0 : n % 256);
        ones += pixels[n] != 0;
    }
    fixture_ok(cc_image_unmap_host(image, pixels));
    fixture_bring_to_device(image);
    ck_assert(measured(CC_REDUCE_SUM, image, NULL) == ones);
    ck_assert(measured(CC_REDUCE_DOT, image, image) == ones);
    ck_assert(measured(CC_REDUCE_MINIMUM, image, NULL) == 0);
    ck_assert(measured(CC_REDUCE_MAXIMUM, image, NULL) == 1);
    fixture_ok(cc_image_histogram(image, 0, 2, bins, STREAM));
    numbers_expect(bins, (const double[]){(double)count - ones, ones});
    cc_image_release(bins);
    cc_image_release(image);
}
END_TEST

/* So many pixels that the bins are found in integers, in images and in a view that begins anywhere. */
START_TEST(many_pixels_in_bins)
{
    static const struct {
        double lower, upper;
        int64_t bins;
    } ranges[] = {{-32768, 65536, 3}, {0, 65535, 4}, {-1000.5, 3000.25, 4}, {-100, 100, 2}, {0.1, 0.7, 2}};
    const int64_t width = 1023, height = 260;
    for (int32_t type = 0; type < 2; ++type) {
        cc_image *image = fixture_image(type == 0 ? CC_PIXEL_UINT16 : CC_PIXEL_INT16, 1, 2, width, height, 1);
        uint16_t *pixels = NULL;
        fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, (void **)&pixels));
        uint16_t *copy = malloc((size_t)(width * height) * sizeof *copy);
        for (int64_t n = 0; n < width * height; ++n)
            pixels[n] = copy[n] = (uint16_t)(n % 2 == 0 ? n * 40503 >> 3 : n % 5000 - 1200);
        fixture_ok(cc_image_unmap_host(image, pixels));
        fixture_bring_to_device(image);
        for (int32_t first = 0; first < 2; ++first) {
            const cc_region rows = {{0, first, 0, 0}, {width, height - first, 1, 1}};
            cc_image *view = NULL;
            fixture_ok(cc_image_create_view(image, &rows, &view));
            for (int32_t n = 0; n < COUNT(ranges); ++n) {
                const double scale = (double)ranges[n].bins / (ranges[n].upper - ranges[n].lower);
                double expected[4] = {0};
                for (int64_t i = first * width; i < width * height; ++i) {
                    const double x = type == 0 ? (double)copy[i] : (double)(int16_t)copy[i];
                    if (x >= ranges[n].lower && x <= ranges[n].upper)
                        expected[(int32_t)fmin((x - ranges[n].lower) * scale, (double)(ranges[n].bins - 1))]++;
                }
                cc_image *output = fixture_image(CC_PIXEL_UINT64, 1, 1, ranges[n].bins, 1, 1);
                fixture_ok(cc_image_histogram(view, ranges[n].lower, ranges[n].upper, output, STREAM));
                numbers_expect(output, expected);
                cc_image_release(output);
            }
            cc_image_release(view);
        }
        free(copy);
        cc_image_release(image);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reduce_integers");
    TCase *tcase = tcase_create("reduce_integers");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_loop_test(tcase, extremes, 0, COUNT(types));
    tcase_add_test(tcase, variance_of_what_is_far_from_zero);
    tcase_add_loop_test(tcase, views, 0, COUNT(types));
    tcase_add_test(tcase, products);
    tcase_add_test(tcase, truth_values);
    tcase_add_test(tcase, many_pixels_in_bins);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
