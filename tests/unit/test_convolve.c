/* Convolution along an axis: against the sums that define it, with and without KissFFT; refusals and failures. */
#include "base/allocate.h"
#include "base/host_fft.h"
#include "memory/crew.h"
#include "support/byte_pixels.h"
#include "support/expect.h"
#include "support/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STREAM CC_STREAM_DEFAULT
#define COUNT(LIST) ((int32_t)(sizeof(LIST) / sizeof((LIST)[0])))
#define TWO_PI 6.283185307179586

static cc_image *lines_image(cc_pixel_type type, int32_t components, int64_t i, int64_t j, const double *values)
{
    cc_image *image = numbers_image(type, components, i, j, values);
    fixture_bring_to_device(image);
    return image;
}

static cc_image *same_kind(cc_image *image, cc_pixel_type type)
{
    const cc_region region = cc_image_get_region(image);
    return fixture_image(type, cc_image_get_components(image), cc_image_get_dimension(image), region.size[0],
                         region.size[1], region.size[2]);
}

/* Whole numbers, so that every type holds them. */
static double *some_numbers(int64_t count, int64_t seed)
{
    double *values = malloc((size_t)count * sizeof *values);
    for (int64_t n = 0; n < count; ++n)
        values[n] = (double)((n * 37 + seed * 11) % 101 % 50);
    return values;
}

static double norm(const double *values, int64_t count, int64_t step)
{
    double sum = 0;
    for (int64_t n = 0; n < count; ++n)
        sum += values[n * step] * values[n * step];
    return sqrt(sum);
}

/* The definition, for a filter of `size` weights of which `centre` is over the pixel itself. */
static double sum_at(const double *line, int64_t count, int64_t step, const double *filter, int64_t size,
                     int64_t centre, int64_t p)
{
    double sum = 0;
    for (int64_t n = 0; n < size; ++n) {
        const int64_t q = p + centre - n;
        if (q >= 0 && q < count)
            sum += filter[n] * line[q * step];
    }
    return sum;
}

static void expect_near(const double *found, const double *expected, int64_t count, double tolerance, const char *what,
                        int32_t number)
{
    for (int64_t n = 0; n < count; ++n)
        ck_assert_msg(fabs(found[n] - expected[n]) <= tolerance, "%s %d: number %lld is %.17g, expected %.17g +- %g",
                      what, number, (long long)n, found[n], expected[n], tolerance);
}

static const struct in_space {
    int64_t i, j;
    int32_t components, axis;
    int64_t size, centre, length;
    cc_pixel_type from, to, filter;
} spaces[] = {
    {37, 5, 1, 0, 9, -1, 0, CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32},
    {37, 5, 1, 0, 9, 0, 0, CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT64, CC_PIXEL_FLOAT64},
    {37, 5, 2, 0, 8, 7, 0, CC_PIXEL_UINT8, CC_PIXEL_FLOAT32, CC_PIXEL_INT16},
    {6, 70, 1, 1, 9, -1, 0, CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32},
    {6, 33, 3, 1, 4, 1, 77, CC_PIXEL_INT16, CC_PIXEL_INT64, CC_PIXEL_FLOAT32},
    {10, 3, 1, 0, 100, -1, 0, CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32},
    {10, 3, 1, 0, 21, 3, 28, CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32},
    {1, 40, 1, 0, 1, -1, 0, CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32},
    {33, 4, 1, 0, 5, 2, 0, CC_PIXEL_FLOAT64, CC_PIXEL_FLOAT64, CC_PIXEL_FLOAT64},
    {33, 4, 1, 0, 5, 2, 35, CC_PIXEL_INT32, CC_PIXEL_FLOAT64, CC_PIXEL_UINT8},
};

static void convolve_in_space(int32_t number)
{
    const struct in_space *now = &spaces[number];
    const int64_t count = now->i * now->j * now->components;
    const int64_t step = (now->axis == 0 ? 1 : now->i) * now->components, size = now->axis == 0 ? now->i : now->j;
    const bool is_wide = now->from == CC_PIXEL_FLOAT64 || now->from == CC_PIXEL_INT32;
    const int64_t centre = now->centre == -1 ? now->size / 2 : now->centre;
    double *values = some_numbers(count, 1), *weights = some_numbers(now->size, 2);
    double *expected = malloc((size_t)count * sizeof *expected), longest = 0;
    for (int64_t n = 0; n < count; ++n) {
        const int64_t p = n / step % size;
        const double *line = values + n - p * step;
        longest = fmax(longest, norm(line, size, step));
        expected[n] = sum_at(line, size, step, weights, now->size, centre, p);
    }
    const double bound = 2 * log2(2.0 * (double)(size + now->size)) * norm(weights, now->size, 1) * longest *
                             (is_wide ? 0x1p-52 : 0x1p-23) +
                         (now->to == CC_PIXEL_INT64 ? 0.5 : 0);
    cc_convolve_params params = CC_CONVOLVE_PARAMS_INIT;
    params.axis = now->axis;
    params.centre = now->centre;
    params.length = now->length;
    cc_image *input = lines_image(now->from, now->components, now->i, now->j, values),
             *filter = lines_image(now->filter, 1, now->size, 1, weights), *output = same_kind(input, now->to);
    fixture_ok(cc_image_convolve_axis(input, filter, &params, output, STREAM));
    double *found = numbers_of(output);
    expect_near(found, expected, count, bound, "in space", number);
    if (now->from == now->to) {
        fixture_ok(cc_image_convolve_axis(input, filter, &params, input, STREAM));
        numbers_expect(input, found);
    }
    free(found);
    cc_image_release(input);
    cc_image_release(filter);
    cc_image_release(output);
    free(values);
    free(weights);
    free(expected);
}

START_TEST(in_space)
{
    convolve_in_space(_i);
    cc__host_fft_is_hidden = true;
    convolve_in_space(_i);
    cc__host_fft_is_hidden = false;
}
END_TEST

static const struct in_frequency {
    int64_t i, j;
    int32_t axis;
    int64_t length;
    cc_pixel_type type, filter;
} frequencies[] = {
    {16, 5, 0, 32, CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32},   {16, 5, 0, 16, CC_PIXEL_FLOAT32, CC_PIXEL_COMPLEX64},
    {7, 20, 1, 45, CC_PIXEL_FLOAT32, CC_PIXEL_COMPLEX64}, {30, 2, 0, 30, CC_PIXEL_FLOAT64, CC_PIXEL_COMPLEX128},
    {9, 3, 0, 22, CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT64},    {1, 3, 0, 1, CC_PIXEL_FLOAT32, CC_PIXEL_COMPLEX64},
    {2, 3, 0, 2, CC_PIXEL_FLOAT32, CC_PIXEL_COMPLEX64},
};

/* What the factors are in space, by the sum over all frequencies, the negative ones with conjugates. */
static double *circle_of(const double *factors, bool is_complex, int64_t length)
{
    double *circle = calloc((size_t)length, sizeof *circle);
    for (int64_t f = 0; f < length; ++f) {
        const int64_t at = f <= length / 2 ? f : length - f, parts = is_complex ? 2 : 1;
        const double real = factors[parts * at];
        double imaginary = is_complex ? factors[2 * at + 1] : 0;
        imaginary = 2 * f % length == 0 ? 0 : f <= length / 2 ? imaginary : -imaginary;
        for (int64_t n = 0; n < length; ++n) {
            const double angle = TWO_PI * (double)(f * n % length) / (double)length;
            circle[n] += (real * cos(angle) - imaginary * sin(angle)) / (double)length;
        }
    }
    return circle;
}

static void convolve_in_frequency(int32_t number)
{
    const struct in_frequency *now = &frequencies[number];
    const bool is_complex = now->filter == CC_PIXEL_COMPLEX64 || now->filter == CC_PIXEL_COMPLEX128;
    const int64_t count = now->i * now->j, step = now->axis == 0 ? 1 : now->i;
    const int64_t size = now->axis == 0 ? now->i : now->j, frequency_count = now->length / 2 + 1;
    double *values = some_numbers(count, 3), *factors = some_numbers(2 * frequency_count, 4);
    double *circle = circle_of(factors, is_complex, now->length), *expected = calloc((size_t)count, sizeof *expected);
    double longest = 0;
    for (int64_t n = 0; n < count; ++n) {
        const int64_t p = n / step % size;
        const double *line = values + n - p * step;
        longest = fmax(longest, norm(line, size, step));
        for (int64_t q = 0; q < size; ++q)
            expected[n] += line[q * step] * circle[(p - q + now->length) % now->length];
    }
    const double bound = 2 * log2(2.0 * (double)now->length) * norm(circle, now->length, 1) * longest *
                         (now->type == CC_PIXEL_FLOAT64 ? 0x1p-52 : 0x1p-23);
    /* What counts as 0 may be anything. */
    if (is_complex)
        factors[1] = NAN;
    if (is_complex && now->length % 2 == 0)
        factors[2 * frequency_count - 1] = INFINITY;
    cc_convolve_params params = CC_CONVOLVE_PARAMS_INIT;
    params.axis = now->axis;
    params.domain = CC_FILTER_IN_FREQUENCY;
    params.length = now->length;
    cc_image *input = lines_image(now->type, 1, now->i, now->j, values),
             *filter = lines_image(now->filter, 1, frequency_count, 1, factors), *output = same_kind(input, now->type);
    fixture_ok(cc_image_convolve_axis(input, filter, &params, output, STREAM));
    double *found = numbers_of(output);
    expect_near(found, expected, count, bound, "in frequency", number);
    if (now->length % 2 == 0) {
        params.length = 0;
        fixture_ok(cc_image_convolve_axis(input, filter, &params, input, STREAM));
        numbers_expect(input, found);
    }
    free(found);
    cc_image_release(input);
    cc_image_release(filter);
    cc_image_release(output);
    free(values);
    free(factors);
    free(circle);
    free(expected);
}

START_TEST(in_frequency)
{
    convolve_in_frequency(_i);
    cc__host_fft_is_hidden = true;
    convolve_in_frequency(_i);
    cc__host_fft_is_hidden = false;
}
END_TEST

/* So much work that it is shared out. */
START_TEST(threads_change_nothing)
{
    const int64_t width = 100, height = 500;
    double *values = some_numbers(width * height, 6), *weights = some_numbers(9, 7);
    const cc_convolve_params params = CC_CONVOLVE_PARAMS_INIT;
    cc_image *input = lines_image(CC_PIXEL_FLOAT32, 1, width, height, values),
             *filter = lines_image(CC_PIXEL_FLOAT32, 1, 9, 1, weights), *alone = same_kind(input, CC_PIXEL_FLOAT32),
             *together = same_kind(input, CC_PIXEL_FLOAT32);
    cc__host_fft_is_hidden = _i != 0;
    cc__crew_cores = 1;
    fixture_ok(cc_image_convolve_axis(input, filter, &params, alone, STREAM));
    if (fixture_device_count() > 0)
        fixture_ok(cc_stream_synchronize(0, STREAM));
    cc__crew_cores = 4;
    fixture_ok(cc_image_convolve_axis(input, filter, &params, together, STREAM));
    double *expected = numbers_of(alone);
    numbers_expect(together, expected);
    cc__crew_cores = 0;
    cc__host_fft_is_hidden = false;
    cc_image_release(input);
    cc_image_release(filter);
    cc_image_release(alone);
    cc_image_release(together);
    free(values);
    free(weights);
    free(expected);
}
END_TEST

/* Lines of a view are shorter than those of its image, which keeps what is around them. */
START_TEST(views)
{
    const cc_region part = {{3, 1, 0, 0}, {12, 4, 1, 1}};
    double *values = some_numbers(20 * 6, 5), *inner = malloc(sizeof(double) * 12 * 4);
    const double weights[] = {1, 2, 3};
    cc_convolve_params params = CC_CONVOLVE_PARAMS_INIT;
    cc_image *image = lines_image(CC_PIXEL_INT32, 1, 20, 6, values), *view = NULL,
             *filter = lines_image(CC_PIXEL_FLOAT32, 1, 3, 1, weights);
    for (int64_t j = 0; j < 4; ++j)
        for (int64_t i = 0; i < 12; ++i)
            inner[j * 12 + i] = sum_at(values + (j + 1) * 20 + 3, 12, 1, weights, 3, 1, i);
    for (int64_t j = 0; j < 4; ++j)
        memcpy(values + (j + 1) * 20 + 3, inner + j * 12, 12 * sizeof(double));
    fixture_ok(cc_image_create_view(image, &part, &view));
    fixture_ok(cc_image_convolve_axis(view, filter, &params, view, STREAM));
    numbers_expect(image, values);
    cc_image_release(view);
    cc_image_release(image);
    cc_image_release(filter);
    free(values);
    free(inner);
}
END_TEST

/* One bad pixel takes its line with it, and no other. */
START_TEST(special_values)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    const double weights[] = {0.25, 0.5, 0.25};
    double values[3 * 8] = {0}, expected[3 * 8];
    cc_convolve_params params = CC_CONVOLVE_PARAMS_INIT;
    values[8 + 5] = bad[_i];
    for (int32_t n = 0; n < 24; ++n)
        expected[n] = n >= 8 && n < 16 ? NAN : 0;
    cc_image *input = lines_image(CC_PIXEL_FLOAT32, 1, 8, 3, values),
             *filter = lines_image(CC_PIXEL_FLOAT32, 1, 3, 1, weights), *output = same_kind(input, CC_PIXEL_FLOAT32);
    for (int32_t hidden = 0; hidden < 2; ++hidden) {
        cc__host_fft_is_hidden = hidden != 0;
        fixture_ok(cc_image_convolve_axis(input, filter, &params, output, STREAM));
        double *found = numbers_of(output);
        for (int32_t n = 0; n < 24; ++n)
            ck_assert_msg(isnan(expected[n]) ? isnan(found[n]) : found[n] == 0, "number %d is %g", n, found[n]);
        free(found);
    }
    cc__host_fft_is_hidden = false;
    cc_image_release(input);
    cc_image_release(filter);
    cc_image_release(output);
}
END_TEST

START_TEST(nothing_to_filter)
{
    const double weights[] = {1};
    cc_convolve_params params = CC_CONVOLVE_PARAMS_INIT;
    cc_image *input = fixture_image(CC_PIXEL_FLOAT32, 1, 2, 5, 0, 1),
             *filter = lines_image(CC_PIXEL_FLOAT32, 1, 1, 1, weights);
    fixture_ok(cc_image_convolve_axis(input, filter, &params, input, STREAM));
    cc_image_release(input);
    cc_image_release(filter);
}
END_TEST

START_TEST(what_is_refused)
{
    cc_image *image = fixture_image(CC_PIXEL_UINT8, 1, 2, 10, 8, 1), *other = same_kind(image, CC_PIXEL_UINT8),
             *smaller = fixture_image(CC_PIXEL_UINT8, 1, 2, 10, 7, 1),
             *vectors = fixture_image(CC_PIXEL_UINT8, 2, 2, 10, 8, 1),
             *complex_image = same_kind(image, CC_PIXEL_COMPLEX64),
             *filter = fixture_image(CC_PIXEL_FLOAT32, 1, 1, 5, 1, 1),
             *complex_filter = fixture_image(CC_PIXEL_COMPLEX64, 1, 1, 9, 1, 1),
             *flat = fixture_image(CC_PIXEL_FLOAT32, 1, 2, 5, 2, 1),
             *empty = fixture_image(CC_PIXEL_FLOAT32, 1, 1, 0, 1, 1),
             *pairs = fixture_image(CC_PIXEL_FLOAT32, 2, 1, 5, 1, 1), *view = NULL, *overlapping = NULL;
    const cc_convolve_params params = CC_CONVOLVE_PARAMS_INIT;
    cc_convolve_params wrong;
    byte_pixels_write_host(image, NULL, 1);
    byte_pixels_write_host(other, NULL, 2);
#define REFUSED(STATUS, ARGUMENT, INPUT, FILTER, PARAMS, OUTPUT)                                                       \
    expect_failure(STATUS, ARGUMENT, cc_image_convolve_axis(INPUT, FILTER, PARAMS, OUTPUT, STREAM))
    REFUSED(CC_ERROR_INVALID_ARGUMENT, "input = NULL", NULL, filter, &params, other);
    REFUSED(CC_ERROR_INVALID_ARGUMENT, "filter = NULL", image, NULL, &params, other);
    REFUSED(CC_ERROR_INVALID_ARGUMENT, "output = NULL", image, filter, &params, NULL);
    REFUSED(CC_ERROR_INVALID_ARGUMENT, "params = NULL", image, filter, NULL, other);
    REFUSED(CC_ERROR_SIZE, "size[1] = 7", image, filter, &params, smaller);
    REFUSED(CC_ERROR_SIZE, "2 components", image, filter, &params, vectors);
    REFUSED(CC_ERROR_PIXEL_TYPE, "output has complex", image, filter, &params, complex_image);
    REFUSED(CC_ERROR_PIXEL_TYPE, "input has complex", complex_image, filter, &params, other);
    REFUSED(CC_ERROR_PIXEL_TYPE, "filter has complex", image, complex_filter, &params, other);
    REFUSED(CC_ERROR_SIZE, "filter has size[1] = 2", image, flat, &params, other);
    REFUSED(CC_ERROR_SIZE, "filter has 0 pixels", image, empty, &params, other);
    REFUSED(CC_ERROR_SIZE, "of 2 components", image, pairs, &params, other);
#define WRONG(STATUS, ARGUMENT, FILTER, CHANGE)                                                                        \
    wrong = params;                                                                                                    \
    wrong.CHANGE;                                                                                                      \
    REFUSED(STATUS, ARGUMENT, image, FILTER, &wrong, other)
    WRONG(CC_ERROR_INVALID_ARGUMENT, "params.struct_size", filter, struct_size = 3);
    WRONG(CC_ERROR_INVALID_ARGUMENT, "params.axis = -1", filter, axis = -1);
    WRONG(CC_ERROR_INVALID_ARGUMENT, "params.axis = 2", filter, axis = 2);
    WRONG(CC_ERROR_INVALID_ARGUMENT, "params.domain = 2", filter, domain = 2);
    WRONG(CC_ERROR_INVALID_ARGUMENT, "params.domain = -1", filter, domain = -1);
    WRONG(CC_ERROR_INVALID_ARGUMENT, "params.centre = 5", filter, centre = 5);
    WRONG(CC_ERROR_INVALID_ARGUMENT, "params.centre = -2", filter, centre = -2);
    WRONG(CC_ERROR_INVALID_ARGUMENT, "expected at least 12", filter, length = 11);
    WRONG(CC_ERROR_INVALID_ARGUMENT, "params.length = -4", filter, length = -4);
    WRONG(CC_ERROR_UNSUPPORTED, "16777217", filter, length = CC_CONVOLVE_MAX_LENGTH + 1);
    WRONG(CC_ERROR_INVALID_ARGUMENT, "at least 10", filter, domain = CC_FILTER_IN_FREQUENCY);
    wrong.length = 10;
    REFUSED(CC_ERROR_INVALID_ARGUMENT, "9 pixels", image, complex_filter, &wrong, other);
    const cc_region part = {{0, 0, 0, 0}, {9, 8, 1, 1}}, next = {{1, 0, 0, 0}, {9, 8, 1, 1}};
    fixture_ok(cc_image_create_view(image, &part, &view));
    fixture_ok(cc_image_create_view(image, &next, &overlapping));
    REFUSED(CC_ERROR_BUSY, "overlaps", view, filter, &params, overlapping);
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(filter, NULL, CC_ACCESS_WRITE, &pixels));
    REFUSED(CC_ERROR_BUSY, "", image, filter, &params, other);
    fixture_ok(cc_image_unmap_host(filter, pixels));
    byte_pixels_expect_host(image, NULL, 1);
    byte_pixels_expect_host(other, NULL, 2);
    cc_image *const all[] = {image,          other, smaller, vectors, complex_image, filter,
                             complex_filter, flat,  empty,   pairs,   view,          overlapping};
    for (int32_t n = 0; n < COUNT(all); ++n)
        cc_image_release(all[n]);
}
END_TEST

START_TEST(a_shorter_struct)
{
    const double values[] = {0, 0, 1, 0, 0, 0}, weights[] = {1, 2, 3, 4}, expected[] = {1, 2, 3, 4, 0, 0};
    cc_convolve_params params = CC_CONVOLVE_PARAMS_INIT,
                       *shorter = expect_short_struct(offsetof(cc_convolve_params, centre));
    cc_image *input = lines_image(CC_PIXEL_INT16, 1, 6, 1, values),
             *filter = lines_image(CC_PIXEL_FLOAT32, 1, 4, 1, weights), *output = same_kind(input, CC_PIXEL_INT16);
    memcpy(shorter, &params, offsetof(cc_convolve_params, centre));
    shorter->struct_size = offsetof(cc_convolve_params, centre);
    fixture_ok(cc_image_convolve_axis(input, filter, shorter, output, STREAM));
    numbers_expect(output, expected);
    cc_image_release(input);
    cc_image_release(filter);
    cc_image_release(output);
    free(shorter);
}
END_TEST

static const faulty_rule rules[] = {
    {FAULTY_RUN_KERNEL, 1, false, CC_ERROR_DEVICE, 999},
    {FAULTY_ALLOCATE, 1, false, CC_ERROR_OUT_OF_DEVICE_MEMORY, 2},
    {FAULTY_ALLOCATE, 2, false, CC_ERROR_OUT_OF_DEVICE_MEMORY, 2},
};

START_TEST(a_failed_convolution_changes_nothing)
{
    const double values[] = {0, 0, 1, 0, 0, 0}, weights[] = {1, 2, 3}, expected[] = {0, 1, 2, 3, 0, 0}, zeros[6] = {0};
    if (fixture_device_count() == 0)
        return;
    const cc_convolve_params params = CC_CONVOLVE_PARAMS_INIT;
    cc_image *input = lines_image(CC_PIXEL_INT16, 1, 6, 1, values),
             *filter = lines_image(CC_PIXEL_FLOAT32, 1, 3, 1, weights), *output = same_kind(input, CC_PIXEL_INT16);
    faulty_backend_add_rule(fixture_backend, &rules[_i]);
    expect_passed_on(rules[_i].status, cc_image_convolve_axis(input, filter, &params, output, STREAM));
    ck_assert_int_eq(cc_last_native_error(), rules[_i].native_error);
    numbers_expect(output, zeros);
    fixture_ok(cc_image_convolve_axis(input, filter, &params, output, STREAM));
    numbers_expect(output, expected);
    cc_image_release(input);
    cc_image_release(filter);
    cc_image_release(output);
}
END_TEST

START_TEST(without_memory_nothing_changes)
{
    const double values[] = {0, 0, 1, 0, 0, 0}, weights[] = {1, 2, 3}, expected[] = {0, 1, 2, 3, 0, 0};
    const cc_convolve_params params = CC_CONVOLVE_PARAMS_INIT;
    cc_image *image = lines_image(CC_PIXEL_INT16, 1, 6, 1, values),
             *filter = lines_image(CC_PIXEL_FLOAT32, 1, 3, 1, weights);
    cc_status status = CC_ERROR_OUT_OF_HOST_MEMORY;
    for (long nth = 1; status != CC_OK; ++nth) {
        ck_assert(expect_is_out_of_memory(status));
        numbers_expect(image, values);
        fixture_bring_to_device(image);
        expect_allocations_to_fail_from(nth);
        status = cc_image_convolve_axis(image, filter, &params, image, STREAM);
        cc__allocate_set_hook(NULL);
    }
    numbers_expect(image, expected);
    cc_image_release(image);
    cc_image_release(filter);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("convolve");
    TCase *tcase = tcase_create("convolve");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_loop_test(tcase, in_space, 0, COUNT(spaces));
    tcase_add_loop_test(tcase, in_frequency, 0, COUNT(frequencies));
    tcase_add_loop_test(tcase, threads_change_nothing, 0, 2);
    tcase_add_test(tcase, views);
    tcase_add_loop_test(tcase, special_values, 0, 3);
    tcase_add_test(tcase, nothing_to_filter);
    tcase_add_test(tcase, what_is_refused);
    tcase_add_test(tcase, a_shorter_struct);
    tcase_add_loop_test(tcase, a_failed_convolution_changes_nothing, 0, COUNT(rules));
    tcase_add_test(tcase, without_memory_nothing_changes);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
