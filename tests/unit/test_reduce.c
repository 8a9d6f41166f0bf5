/* Reductions and histograms: against exact sums, plain loops and the order that reductions.h promises; refusals. */
#include "base/allocate.h"
#include "memory/crew.h"
#include "support/expect.h"
#include "support/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STREAM CC_STREAM_DEFAULT
#define COUNT(LIST) ((int32_t)(sizeof(LIST) / sizeof((LIST)[0])))

static double measured(cc_reduction reduction, cc_image *input, cc_image *second)
{
    double value = -1234;
    fixture_ok(cc_image_measure(reduction, input, second, STREAM, &value));
    return value;
}

static bool is_same(double x, double y)
{
    return (isnan(x) && isnan(y)) || memcmp(&x, &y, sizeof x) == 0;
}

/* Whole numbers are added exactly, whatever the order. */
START_TEST(small_images_of_whole_numbers)
{
    static const cc_pixel_type types[] = {CC_PIXEL_UINT8,   CC_PIXEL_INT8,   CC_PIXEL_UINT16, CC_PIXEL_INT16,
                                          CC_PIXEL_UINT32,  CC_PIXEL_INT32,  CC_PIXEL_UINT64, CC_PIXEL_INT64,
                                          CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT64};
    static const int64_t sizes[][2] = {{1, 1},    {3, 1},     {4, 1},     {7, 3},     {1023, 1}, {1024, 1},
                                       {1025, 1}, {163, 101}, {16384, 1}, {16385, 1}, {129, 400}};
    for (int32_t size = 0; size < COUNT(sizes); ++size) {
        const int64_t count = sizes[size][0] * sizes[size][1];
        double *values = malloc((size_t)count * sizeof *values), sum = 0, squares = 0, least = 255, greatest = 0;
        for (int64_t n = 0; n < count; ++n) {
            values[n] = (double)((n * 37 + 11) % 101);
            sum += values[n];
            squares += values[n] * values[n];
            least = fmin(least, values[n]);
            greatest = fmax(greatest, values[n]);
        }
        for (int32_t type = 0; type < COUNT(types); ++type) {
            cc_image *image = numbers_image(types[type], 1, sizes[size][0], sizes[size][1], values);
            fixture_bring_to_device(image);
            ck_assert(measured(CC_REDUCE_SUM, image, NULL) == sum);
            ck_assert(measured(CC_REDUCE_MEAN, image, NULL) == sum / (double)count);
            ck_assert(measured(CC_REDUCE_MINIMUM, image, NULL) == least);
            ck_assert(measured(CC_REDUCE_MAXIMUM, image, NULL) == greatest);
            ck_assert(measured(CC_REDUCE_NORM, image, NULL) == sqrt(squares));
            ck_assert(measured(CC_REDUCE_DOT, image, image) == squares);
            const double variance = squares / (double)count - (sum / (double)count) * (sum / (double)count);
            ck_assert(fabs(measured(CC_REDUCE_VARIANCE, image, NULL) - variance) <= 1e-9);
            cc_image_release(image);
        }
        free(values);
    }
}
END_TEST

/* The order of reductions.h, written down again: lanes in turn, then neighbours in pairs, and so the pieces. */
static double tree(double *parts, int64_t count)
{
    double lanes[1024] = {0};
    for (int64_t n = 0; n < count; ++n)
        lanes[n % 1024] += parts[n];
    for (int32_t left = 1024; left > 1; left /= 2)
        for (int32_t n = 0; n < left / 2; ++n)
            lanes[n] = lanes[2 * n] + lanes[2 * n + 1];
    return lanes[0];
}

static double sum_in_order(double *values, int64_t count)
{
    const int64_t pieces = (count + 16383) / 16384;
    double *sums = malloc((size_t)pieces * sizeof *sums);
    for (int64_t n = 0; n < pieces; ++n)
        sums[n] = tree(values + n * 16384, n < pieces - 1 ? 16384 : count - n * 16384);
    const double sum = pieces > 16384 ? sum_in_order(sums, pieces) : tree(sums, pieces);
    free(sums);
    return sum;
}

static double fraction(int64_t n)
{
    return sin((double)n * 12.9898) * 43758.5453 + 1e-3 * (double)(n % 7);
}

START_TEST(the_order_of_adding_is_kept)
{
    const int64_t width = 1031, height = 211, count = width * height;
    double *values = malloc((size_t)count * sizeof *values), *inner = malloc((size_t)count * sizeof *inner);
    double *products = malloc((size_t)count * sizeof *products);
    int64_t inner_count = 0;
    for (int64_t n = 0; n < count; ++n) {
        values[n] = fraction(n);
        products[n] = values[n] * values[n];
        if (n % width >= 3 && n % width < width - 2 && n / width >= 1)
            inner[inner_count++] = values[n];
    }
    cc_image *image = numbers_image(CC_PIXEL_FLOAT64, 1, width, height, values), *view = NULL;
    const cc_region part = {{3, 1, 0, 0}, {width - 5, height - 1, 1, 1}};
    fixture_ok(cc_image_create_view(image, &part, &view));
    fixture_bring_to_device(image);
    for (int32_t cores = 1; cores < 8; cores += 3) {
        cc__crew_cores = cores;
        ck_assert(is_same(measured(CC_REDUCE_SUM, image, NULL), sum_in_order(values, count)));
        ck_assert(is_same(measured(CC_REDUCE_SUM, view, NULL), sum_in_order(inner, inner_count)));
        ck_assert(is_same(measured(CC_REDUCE_DOT, image, image), sum_in_order(products, count)));
        cc__crew_cores = 0;
    }
    free(values);
    free(inner);
    free(products);
    cc_image_release(view);
    cc_image_release(image);
}
END_TEST

/* Far from zero, where the difference of sums of squares would be lost. */
START_TEST(variance_keeps_its_digits)
{
    static const double offsets[] = {0, 1e6, -1e9, 1e12};
    const int64_t count = 50021;
    double *values = malloc((size_t)count * sizeof *values);
    for (int32_t offset = 0; offset < COUNT(offsets); ++offset) {
        long double mean = 0, squares = 0;
        for (int64_t n = 0; n < count; ++n)
            values[n] = offsets[offset] + (double)(n * 7919 % 1009) / 64;
        for (int64_t n = 0; n < count; ++n)
            mean += (long double)values[n] / (long double)count;
        for (int64_t n = 0; n < count; ++n)
            squares += ((long double)values[n] - mean) * ((long double)values[n] - mean);
        cc_image *image = numbers_image(CC_PIXEL_FLOAT64, 1, count, 1, values);
        fixture_bring_to_device(image);
        const double expected = (double)(squares / (long double)count);
        const double found = measured(CC_REDUCE_VARIANCE, image, NULL);
        ck_assert_msg(fabs(found - expected) <= 1e-10 * expected + 1e-16 * fabs(offsets[offset]),
                      "%.17g, expected %.17g", found, expected);
        cc_image_release(image);
    }
    free(values);
}
END_TEST

START_TEST(special_values)
{
    const double values[] = {3, -0.0, 0, -5, 2}, with_nan[] = {1, NAN, 2}, with_infinity[] = {1, INFINITY, -2},
                 one[] = {7}, zeros[] = {0, -0.0};
    cc_image *image = numbers_image(CC_PIXEL_FLOAT32, 1, 5, 1, values),
             *nan = numbers_image(CC_PIXEL_FLOAT32, 1, 3, 1, with_nan),
             *infinite = numbers_image(CC_PIXEL_FLOAT32, 1, 3, 1, with_infinity),
             *single = numbers_image(CC_PIXEL_FLOAT32, 1, 1, 1, one),
             *zero = numbers_image(CC_PIXEL_FLOAT32, 1, 2, 1, zeros);
    ck_assert(is_same(measured(CC_REDUCE_MINIMUM, image, NULL), -5));
    ck_assert(is_same(measured(CC_REDUCE_MAXIMUM, image, NULL), 3));
    ck_assert(is_same(measured(CC_REDUCE_MINIMUM, zero, NULL), -0.0));
    ck_assert(is_same(measured(CC_REDUCE_MAXIMUM, zero, NULL), 0.0));
    for (int32_t kind = CC_REDUCE_SUM; kind <= CC_REDUCE_NORM; ++kind)
        ck_assert(isnan(measured((cc_reduction)kind, nan, NULL)));
    ck_assert(is_same(measured(CC_REDUCE_SUM, infinite, NULL), INFINITY));
    ck_assert(is_same(measured(CC_REDUCE_MAXIMUM, infinite, NULL), INFINITY));
    ck_assert(is_same(measured(CC_REDUCE_MINIMUM, infinite, NULL), -2));
    ck_assert(isnan(measured(CC_REDUCE_VARIANCE, infinite, NULL)));
    ck_assert(is_same(measured(CC_REDUCE_VARIANCE, single, NULL), 0));
    ck_assert(is_same(measured(CC_REDUCE_MEAN, single, NULL), 7));
    cc_image *const all[] = {image, nan, infinite, single, zero};
    for (int32_t n = 0; n < COUNT(all); ++n)
        cc_image_release(all[n]);
}
END_TEST

START_TEST(components_and_complex_parts)
{
    const double pixels[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, z[] = {1, 2, 3, -4, -5, 6, 7, 8};
    cc_image *image = numbers_image(CC_PIXEL_INT16, 3, 2, 2, pixels),
             *each = fixture_image(CC_PIXEL_FLOAT64, 3, 1, 1, 1, 1),
             *all = fixture_image(CC_PIXEL_FLOAT64, 1, 1, 1, 1, 1),
             *complexes = numbers_image(CC_PIXEL_COMPLEX64, 2, 2, 1, z),
             *sum = fixture_image(CC_PIXEL_COMPLEX128, 1, 1, 1, 1, 1),
             *sums = fixture_image(CC_PIXEL_COMPLEX128, 2, 1, 1, 1, 1),
             *norms = fixture_image(CC_PIXEL_FLOAT64, 2, 1, 1, 1, 1),
             *floats = numbers_image(CC_PIXEL_FLOAT32, 3, 2, 2, pixels);
    fixture_bring_to_device(image);
    fixture_bring_to_device(complexes);
    fixture_ok(cc_image_reduce(CC_REDUCE_SUM, image, NULL, each, STREAM));
    numbers_expect(each, (const double[]){22, 26, 30});
    fixture_ok(cc_image_reduce(CC_REDUCE_MAXIMUM, image, NULL, each, STREAM));
    numbers_expect(each, (const double[]){10, 11, 12});
    fixture_ok(cc_image_reduce(CC_REDUCE_MEAN, image, NULL, each, STREAM));
    numbers_expect(each, (const double[]){5.5, 6.5, 7.5});
    fixture_ok(cc_image_reduce(CC_REDUCE_DOT, image, floats, each, STREAM));
    numbers_expect(each, (const double[]){166, 214, 270});
    fixture_ok(cc_image_reduce(CC_REDUCE_DOT, floats, image, all, STREAM));
    numbers_expect(all, (const double[]){650});
    fixture_ok(cc_image_reduce(CC_REDUCE_SUM, image, NULL, all, STREAM));
    numbers_expect(all, (const double[]){78});
    fixture_ok(cc_image_reduce(CC_REDUCE_SUM, complexes, NULL, sum, STREAM));
    numbers_expect(sum, (const double[]){6, 12});
    fixture_ok(cc_image_reduce(CC_REDUCE_MEAN, complexes, NULL, sums, STREAM));
    numbers_expect(sums, (const double[]){-2, 4, 5, 2});
    fixture_ok(cc_image_reduce(CC_REDUCE_NORM, complexes, NULL, norms, STREAM));
    numbers_expect(norms, (const double[]){sqrt(66), sqrt(138)});
    ck_assert(measured(CC_REDUCE_NORM, complexes, NULL) == sqrt(204));
    expect_failure(CC_ERROR_PIXEL_TYPE, "complex", cc_image_reduce(CC_REDUCE_MINIMUM, complexes, NULL, all, STREAM));
    expect_failure(CC_ERROR_PIXEL_TYPE, "complex", cc_image_reduce(CC_REDUCE_DOT, complexes, complexes, all, STREAM));
    expect_failure(CC_ERROR_PIXEL_TYPE, "c128", cc_image_reduce(CC_REDUCE_SUM, complexes, NULL, all, STREAM));
    expect_failure(CC_ERROR_PIXEL_TYPE, "f64", cc_image_reduce(CC_REDUCE_SUM, image, NULL, sum, STREAM));
    double value = 3;
    expect_failure(CC_ERROR_PIXEL_TYPE, "complex", cc_image_measure(CC_REDUCE_SUM, complexes, NULL, STREAM, &value));
    ck_assert(value == 3);
    cc_image *const images[] = {image, each, all, complexes, sum, sums, norms, floats};
    for (int32_t n = 0; n < COUNT(images); ++n)
        cc_image_release(images[n]);
}
END_TEST

/* The result stays where it was made, and goes into the next step without a copy to the host. */
START_TEST(results_are_operands)
{
    const double values[] = {3, 4, 12, 0};
    cc_image *image = numbers_image(CC_PIXEL_FLOAT32, 1, 2, 2, values),
             *norm = fixture_image(CC_PIXEL_FLOAT64, 1, 1, 1, 1, 1);
    fixture_bring_to_device(image);
    fixture_ok(cc_image_reduce(CC_REDUCE_NORM, image, NULL, norm, STREAM));
    fixture_ok(cc_image_divide(image, norm, image, STREAM));
    if (fixture_device_count() > 0)
        ck_assert_uint_eq(fixture_counters(norm).device_to_host_copies, 0);
    numbers_expect(image, (const double[]){(double)(3 / 13.F), (double)(4 / 13.F), (double)(12 / 13.F), 0});
    numbers_expect(norm, (const double[]){13});
    cc_image_release(image);
    cc_image_release(norm);
}
END_TEST

START_TEST(histograms)
{
    const int64_t width = 701, height = 599;
    static const int64_t bins[] = {1, 10, 256, 5000};
    double *values = malloc((size_t)(width * height) * sizeof *values);
    for (int64_t n = 0; n < width * height; ++n)
        values[n] = n % 1000 == 0 ? NAN : n % 3 == 0 ? 0 : (double)(n * 7919 % 3001) / 8 - 50;
    cc_image *image = numbers_image(CC_PIXEL_FLOAT32, 1, width, height, values), *view = NULL;
    const cc_region part = {{1, 2, 0, 0}, {width - 3, height - 2, 1, 1}};
    fixture_ok(cc_image_create_view(image, &part, &view));
    fixture_bring_to_device(image);
    for (int32_t n = 0; n < COUNT(bins); ++n) {
        uint64_t *found = NULL, *expected = calloc((size_t)bins[n], sizeof *expected);
        cc_image *output = fixture_image(CC_PIXEL_UINT64, 1, 1, bins[n], 1, 1);
        for (int64_t j = 2; j < height; ++j)
            for (int64_t i = 1; i < width - 2; ++i) {
                const double x = values[j * width + i], place = (x - -25.0) * ((double)bins[n] / (250.0 - -25.0));
                if (x >= -25 && x <= 250)
                    ++expected[(int64_t)fmin(floor(place), (double)(bins[n] - 1))];
            }
        for (int32_t cores = 1; cores < 5; cores += 3) {
            cc__crew_cores = cores;
            fixture_ok(cc_image_histogram(view, -25, 250, output, STREAM));
            cc__crew_cores = 0;
            fixture_ok(cc_image_map_host(output, NULL, CC_ACCESS_READ, (void **)&found));
            ck_assert_mem_eq(found, expected, (size_t)bins[n] * sizeof *expected);
            fixture_ok(cc_image_unmap_host(output, found));
        }
        cc_image_release(output);
        free(expected);
    }
    free(values);
    cc_image_release(view);
    cc_image_release(image);
}
END_TEST

START_TEST(the_borders_of_bins)
{
    const double values[] = {0, 0.999, 1, 4, 3.999, -0.001, 4.001, INFINITY, -INFINITY, NAN};
    cc_image *image = numbers_image(CC_PIXEL_FLOAT64, 1, 10, 1, values),
             *output = fixture_image(CC_PIXEL_UINT64, 1, 1, 4, 1, 1);
    fixture_ok(cc_image_histogram(image, 0, 4, output, STREAM));
    numbers_expect(output, (const double[]){2, 1, 0, 2});
    cc_image_release(image);
    cc_image_release(output);
}
END_TEST

START_TEST(what_is_refused)
{
    cc_image *image = fixture_image(CC_PIXEL_FLOAT32, 2, 2, 4, 3, 1),
             *other = fixture_image(CC_PIXEL_FLOAT32, 2, 2, 4, 2, 1),
             *narrow = fixture_image(CC_PIXEL_FLOAT32, 1, 2, 4, 3, 1),
             *one = fixture_image(CC_PIXEL_FLOAT64, 1, 1, 1, 1, 1),
             *three = fixture_image(CC_PIXEL_FLOAT64, 3, 1, 1, 1, 1),
             *many = fixture_image(CC_PIXEL_FLOAT64, 1, 1, 2, 1, 1),
             *bins = fixture_image(CC_PIXEL_UINT64, 1, 1, 5, 1, 1),
             *square = fixture_image(CC_PIXEL_UINT64, 1, 2, 5, 2, 1),
             *empty = fixture_image(CC_PIXEL_FLOAT32, 1, 1, 0, 1, 1),
             *none = fixture_image(CC_PIXEL_UINT64, 1, 1, 0, 1, 1),
             *numbers = fixture_image(CC_PIXEL_FLOAT64, 1, 1, 4, 1, 1),
             *complexes = fixture_image(CC_PIXEL_COMPLEX64, 1, 1, 4, 1, 1);
    double value = 3;
    void *pixels = NULL;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input", cc_image_reduce(CC_REDUCE_SUM, NULL, NULL, one, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "output", cc_image_reduce(CC_REDUCE_SUM, image, NULL, NULL, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "second", cc_image_reduce(CC_REDUCE_SUM, image, image, one, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "second", cc_image_reduce(CC_REDUCE_DOT, image, NULL, one, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "reduction = 7",
                   cc_image_reduce((cc_reduction)7, image, NULL, one, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "reduction = -1",
                   cc_image_reduce((cc_reduction)-1, image, NULL, one, STREAM));
    expect_failure(CC_ERROR_SIZE, "size[1] = 2", cc_image_reduce(CC_REDUCE_DOT, image, other, one, STREAM));
    expect_failure(CC_ERROR_SIZE, "1 components", cc_image_reduce(CC_REDUCE_DOT, image, narrow, one, STREAM));
    expect_failure(CC_ERROR_SIZE, "3 components", cc_image_reduce(CC_REDUCE_SUM, image, NULL, three, STREAM));
    expect_failure(CC_ERROR_SIZE, "2 pixels", cc_image_reduce(CC_REDUCE_SUM, image, NULL, many, STREAM));
    expect_failure(CC_ERROR_SIZE, "no pixels", cc_image_reduce(CC_REDUCE_SUM, empty, NULL, one, STREAM));
    expect_failure(CC_ERROR_PIXEL_TYPE, "f32", cc_image_reduce(CC_REDUCE_SUM, image, NULL, narrow, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input", cc_image_measure(CC_REDUCE_SUM, NULL, NULL, STREAM, &value));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_value", cc_image_measure(CC_REDUCE_SUM, image, NULL, STREAM, NULL));
    expect_failure(CC_ERROR_SIZE, "no pixels", cc_image_measure(CC_REDUCE_SUM, empty, NULL, STREAM, &value));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input", cc_image_histogram(NULL, 0, 1, bins, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "output", cc_image_histogram(image, 0, 1, NULL, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "lower", cc_image_histogram(image, 1, 1, bins, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "lower", cc_image_histogram(image, NAN, 1, bins, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "upper", cc_image_histogram(image, 0, INFINITY, bins, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "upper", cc_image_histogram(image, -1e308, 1e308, bins, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "upper - lower", cc_image_histogram(image, 0, 0x1p-1074, bins, STREAM));
    expect_failure(CC_ERROR_PIXEL_TYPE, "f64", cc_image_histogram(image, 0, 1, one, STREAM));
    expect_failure(CC_ERROR_PIXEL_TYPE, "complex", cc_image_histogram(complexes, 0, 1, bins, STREAM));
    expect_failure(CC_ERROR_SIZE, "10 pixels", cc_image_histogram(image, 0, 1, square, STREAM));
    expect_failure(CC_ERROR_SIZE, "0 pixels", cc_image_histogram(image, 0, 1, none, STREAM));
    expect_failure(CC_ERROR_SIZE, "no pixels", cc_image_histogram(empty, 0, 1, bins, STREAM));

    const cc_region pixel = {{2, 0, 0, 0}, {1, 1, 1, 1}};
    cc_image *view = NULL;
    fixture_ok(cc_image_create_view(numbers, &pixel, &view));
    expect_failure(CC_ERROR_BUSY, "overlaps", cc_image_reduce(CC_REDUCE_SUM, numbers, NULL, view, STREAM));
    expect_failure(CC_ERROR_BUSY, "overlaps", cc_image_reduce(CC_REDUCE_SUM, view, NULL, view, STREAM));
    expect_failure(CC_ERROR_BUSY, "overlaps", cc_image_reduce(CC_REDUCE_DOT, one, view, view, STREAM));
    expect_failure(CC_ERROR_BUSY, "overlaps", cc_image_histogram(bins, 0, 1, bins, STREAM));
    fixture_ok(cc_image_map_host(one, NULL, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_BUSY, "", cc_image_reduce(CC_REDUCE_SUM, image, NULL, one, STREAM));
    fixture_ok(cc_image_unmap_host(one, pixels));
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ_WRITE, &pixels));
    expect_failure(CC_ERROR_BUSY, "", cc_image_reduce(CC_REDUCE_SUM, image, NULL, one, STREAM));
    expect_failure(CC_ERROR_BUSY, "", cc_image_measure(CC_REDUCE_SUM, image, NULL, STREAM, &value));
    expect_failure(CC_ERROR_BUSY, "", cc_image_histogram(image, 0, 1, bins, STREAM));
    fixture_ok(cc_image_unmap_host(image, pixels));
    ck_assert(value == 3);
    cc_image *const all[] = {image,  other, narrow, one,  three,   many,     bins,
                             square, empty, none,   view, numbers, complexes};
    for (int32_t n = 0; n < COUNT(all); ++n)
        cc_image_release(all[n]);
}
END_TEST

static const faulty_rule rules[] = {
    {FAULTY_RUN_KERNEL, 1, false, CC_ERROR_DEVICE, 999},
    {FAULTY_ALLOCATE, 1, false, CC_ERROR_OUT_OF_DEVICE_MEMORY, 2},
    {FAULTY_ALLOCATE, 2, false, CC_ERROR_OUT_OF_DEVICE_MEMORY, 2},
};

START_TEST(a_failed_reduction_changes_nothing)
{
    const double values[] = {1, 2, 3, 4, 5, 6}, seven[] = {7};
    if (fixture_device_count() == 0)
        return;
    cc_image *image = numbers_image(CC_PIXEL_FLOAT32, 1, 3, 2, values),
             *output = numbers_image(CC_PIXEL_FLOAT64, 1, 1, 1, seven),
             *bins = fixture_image(CC_PIXEL_UINT64, 1, 1, 2, 1, 1);
    fixture_bring_to_device(image);
    const bool counts = _i >= COUNT(rules);
    const faulty_rule *rule = &rules[_i % COUNT(rules)];
    faulty_backend_add_rule(fixture_backend, rule);
    expect_passed_on(rule->status, counts ? cc_image_histogram(image, 0, 4, bins, STREAM)
                                          : cc_image_reduce(CC_REDUCE_SUM, image, NULL, output, STREAM));
    ck_assert_int_eq(cc_last_native_error(), rule->native_error);
    numbers_expect(output, seven);
    numbers_expect(bins, (const double[]){0, 0});
    fixture_ok(cc_image_reduce(CC_REDUCE_SUM, image, NULL, output, STREAM));
    fixture_ok(cc_image_histogram(image, 0, 4, bins, STREAM));
    numbers_expect(output, (const double[]){21});
    numbers_expect(bins, (const double[]){1, 3});
    cc_image_release(image);
    cc_image_release(output);
    cc_image_release(bins);
}
END_TEST

START_TEST(without_memory_nothing_changes)
{
    const double values[] = {1, 2, 3, 4, 5, 6};
    cc_image *image = numbers_image(CC_PIXEL_FLOAT32, 1, 3, 2, values);
    cc_status status = CC_ERROR_OUT_OF_HOST_MEMORY;
    double value = 3;
    for (long nth = 1; status != CC_OK; ++nth) {
        ck_assert(expect_is_out_of_memory(status));
        ck_assert(value == 3);
        expect_allocations_to_fail_from(nth);
        status = cc_image_measure(CC_REDUCE_SUM, image, NULL, STREAM, &value);
        cc__allocate_set_hook(NULL);
    }
    ck_assert(value == 21);
    cc_image_release(image);
}
END_TEST

START_TEST(what_was_queued_before_a_failure_is_waited_for)
{
    static const double values[] = {1, 2, 3, 4};
    const faulty_rule rule = {FAULTY_RUN_KERNEL, 1, false, CC_ERROR_DEVICE, 999};
    void *pixels = NULL;
    if (fixture_device_count() == 0)
        return;
    cc_image *image = numbers_image(CC_PIXEL_FLOAT32, 2, 2, 1, values);
    cc_image *sums = numbers_image(CC_PIXEL_FLOAT64, 2, 1, 1, values);
    const cc_stream stream = fixture_stream_create(0), other = fixture_stream_create(0);
    fixture_ok(cc_image_prefetch(image, NULL, 0));
    fixture_ok(cc_image_prefetch(sums, NULL, 0));
    cc_image *const both[] = {image, sums};
    for (int32_t i = 0; i < 2; ++i) { /* so that there is nothing else to wait for */
        fixture_ok(cc_image_map_device(both[i], NULL, CC_ACCESS_READ_WRITE, other, &pixels));
        fixture_ok(cc_image_unmap_device(both[i], pixels, other));
    }
    faulty_backend_add_rule(fixture_backend, &rule);
    faulty_backend_fail_late(fixture_backend, true);
    fixture_expect(CC_ERROR_DEVICE, cc_image_reduce(CC_REDUCE_SUM, image, NULL, sums, stream));
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).failures, 1);
    for (int32_t i = 0; i < 2; ++i) {
        const int64_t waits = faulty_backend_counts(fixture_backend).calls[FAULTY_STREAM_WAIT];
        fixture_ok(cc_image_map_device(both[i], NULL, CC_ACCESS_WRITE, other, &pixels));
        if (fixture_is_emulated())
            ck_assert_int_gt(faulty_backend_counts(fixture_backend).calls[FAULTY_STREAM_WAIT], waits);
        fixture_ok(cc_image_unmap_device(both[i], pixels, other));
    }
    fixture_ok(cc_stream_synchronize(0, stream));
    fixture_ok(cc_stream_synchronize(0, other));
    fixture_stream_destroy(0, stream);
    fixture_stream_destroy(0, other);
    cc_image_release(image);
    cc_image_release(sums);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("reduce");
    TCase *tcase = tcase_create("reduce");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_test(tcase, small_images_of_whole_numbers);
    tcase_add_test(tcase, the_order_of_adding_is_kept);
    tcase_add_test(tcase, variance_keeps_its_digits);
    tcase_add_test(tcase, special_values);
    tcase_add_test(tcase, components_and_complex_parts);
    tcase_add_test(tcase, results_are_operands);
    tcase_add_test(tcase, histograms);
    tcase_add_test(tcase, the_borders_of_bins);
    tcase_add_test(tcase, what_is_refused);
    tcase_add_loop_test(tcase, a_failed_reduction_changes_nothing, 0, 2 * COUNT(rules));
    tcase_add_test(tcase, without_memory_nothing_changes);
    tcase_add_test(tcase, what_was_queued_before_a_failure_is_waited_for);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
