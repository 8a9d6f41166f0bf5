/* Gaussian smoothing: against SciPy, against its own formula, slab by slab, in place, refused, failed. */
#include "base/allocate.h"
#include "data/smoothing_reference.h"
#include "memory/crew.h"
#include "ops/smooth.h"
#include "support/byte_pixels.h"
#include "support/expect.h"
#include "support/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STREAM CC_STREAM_DEFAULT
#define COUNT(LIST) ((int32_t)(sizeof(LIST) / sizeof((LIST)[0])))

static cc_image *volume(cc_pixel_type type, int32_t components, int64_t i, int64_t j, int64_t k, const double *values)
{
    cc_image *image = fixture_image(type, components, 3, i, j, k);
    const size_t bytes = cc_image_get_size_bytes(image) / (size_t)numbers_count(image);
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    for (int64_t n = 0; n < numbers_count(image); ++n)
        numbers_store(type, values[n], (unsigned char *)pixels + (size_t)n * bytes);
    fixture_ok(cc_image_unmap_host(image, pixels));
    fixture_bring_to_device(image);
    return image;
}

static cc_image *same_kind(cc_image *image, cc_pixel_type type)
{
    const cc_region region = cc_image_get_region(image);
    return fixture_image(type, cc_image_get_components(image), cc_image_get_dimension(image), region.size[0],
                         region.size[1], region.size[2]);
}

static cc_gaussian_params pixels_of_sigma(double i, double j, double k)
{
    cc_gaussian_params params = CC_GAUSSIAN_PARAMS_INIT;
    params.unit = CC_SIGMA_IN_PIXELS;
    params.sigma[0] = i;
    params.sigma[1] = j;
    params.sigma[2] = k;
    return params;
}

static cc_gaussian_params params_of(const struct smoothing_case *now)
{
    cc_gaussian_params params = pixels_of_sigma(now->sigma[0], now->sigma[1], now->sigma[2]);
    params.truncate = now->truncate;
    params.border = now->border;
    params.border_value = now->border_value;
    return params;
}

static void expect_near(cc_image *image, const double *expected, int64_t stride, double tolerance, const char *what)
{
    double *found = numbers_of(image);
    double worst = 0;
    int64_t at = 0;
    for (int64_t n = 0; n < numbers_count(image); ++n) {
        const double distance = fabs(found[n] - expected[n / stride]);
        if (!(distance <= worst)) {
            worst = distance;
            at = n;
        }
    }
    ck_assert_msg(worst <= tolerance, "%s: number %lld is %.17g, expected %.17g +- %g", what, (long long)at, found[at],
                  expected[at / stride], tolerance);
    free(found);
}

static void expect_equal(cc_image *image, cc_image *expected)
{
    double *numbers = numbers_of(expected);
    numbers_expect(image, numbers);
    free(numbers);
}

/* The bound of the header: for each axis r + 4 units in the last place of the largest magnitude. */
static double bound(const struct smoothing_case *now, double unit)
{
    double all = 0;
    for (int32_t axis = 0; axis < 3; ++axis)
        all += now->sigma[axis] > 0 ? floor(now->truncate * now->sigma[axis] + 0.5) + 4 : 0;
    return all * unit * 128;
}

START_TEST(agrees_with_scipy)
{
    static const struct {
        cc_pixel_type from, to;
        double unit, rounding;
    } types[] = {{CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32, 0x1p-24, 0}, {CC_PIXEL_FLOAT64, CC_PIXEL_FLOAT64, 0x1p-53, 0},
                 {CC_PIXEL_UINT8, CC_PIXEL_FLOAT32, 0x1p-24, 0},   {CC_PIXEL_INT32, CC_PIXEL_FLOAT64, 0x1p-53, 0},
                 {CC_PIXEL_INT16, CC_PIXEL_UINT8, 0x1p-24, 0.5},   {CC_PIXEL_INT64, CC_PIXEL_INT64, 0x1p-53, 0.5}};
    const struct smoothing_case *now = &smoothing_cases[_i];
    const cc_gaussian_params params = params_of(now);
    for (int32_t n = 0; n < COUNT(types); ++n) {
        cc_image *input = volume(types[n].from, 1, 7, 6, 5, smoothing_input), *output = same_kind(input, types[n].to);
        fixture_ok(cc_image_smooth_gaussian(input, &params, output, STREAM));
        expect_near(output, now->result, 1, bound(now, types[n].unit) + types[n].rounding,
                    cc_pixel_type_name(types[n].from));
        cc_image_release(input);
        cc_image_release(output);
    }
}
END_TEST

/* Each component on its own, and both parts of complex pixels; in place the same bits. */
START_TEST(components_parts_and_in_place)
{
    static const struct {
        cc_pixel_type type;
        int32_t components, numbers;
    } kinds[] = {
        {CC_PIXEL_FLOAT32, 3, 3}, {CC_PIXEL_FLOAT64, 2, 2}, {CC_PIXEL_COMPLEX64, 1, 2}, {CC_PIXEL_INT16, 1, 1}};
    const struct smoothing_case *now = &smoothing_cases[_i];
    const cc_gaussian_params params = params_of(now);
    for (int32_t n = 0; n < COUNT(kinds); ++n) {
        cc_image *input = fixture_image(kinds[n].type, kinds[n].components, 3, 7, 6, 5);
        double *values = malloc(sizeof smoothing_input * 3);
        for (int32_t i = 0; i < COUNT(smoothing_input) * kinds[n].numbers; ++i)
            values[i] = smoothing_input[i / kinds[n].numbers];
        cc_image_release(input);
        input = volume(kinds[n].type, kinds[n].components, 7, 6, 5, values);
        cc_image *output = same_kind(input, kinds[n].type);
        fixture_ok(cc_image_smooth_gaussian(input, &params, output, STREAM));
        expect_near(output, now->result, kinds[n].numbers,
                    bound(now, 0x1p-24) + (kinds[n].type == CC_PIXEL_INT16 ? 0.5 : 0), "components");
        fixture_ok(cc_image_smooth_gaussian(input, &params, input, STREAM));
        expect_equal(input, output);
        cc_image_release(input);
        cc_image_release(output);
        free(values);
    }
}
END_TEST

/* Each number, worked out from the formula of the header. */
START_TEST(one_bright_pixel)
{
    static const double sigmas[] = {0.6, 1, 3.5};
    const int64_t count = 61, centre = 30;
    double *values = calloc((size_t)count, sizeof *values), *expected = malloc((size_t)count * sizeof *expected);
    values[centre] = 1;
    for (int32_t n = 0; n < COUNT(sigmas); ++n) {
        const int64_t radius = (int64_t)(4 * sigmas[n] + 0.5);
        double sum = 0;
        for (int64_t d = -radius; d <= radius; ++d)
            sum += exp(-(double)(d * d) / (2 * sigmas[n] * sigmas[n]));
        for (int64_t i = 0; i < count; ++i) {
            const double d = (double)(i - centre);
            expected[i] = fabs(d) > (double)radius ? 0 : exp(-d * d / (2 * sigmas[n] * sigmas[n])) / sum;
        }
        for (int32_t axis = 0; axis < 3; ++axis) {
            cc_gaussian_params params = pixels_of_sigma(0, 0, 0);
            params.sigma[axis] = sigmas[n];
            cc_image *input = volume(CC_PIXEL_FLOAT64, 1, axis == 0 ? count : 1, axis == 1 ? count : 1,
                                     axis == 2 ? count : 1, values),
                     *output = same_kind(input, CC_PIXEL_FLOAT64);
            fixture_ok(cc_image_smooth_gaussian(input, &params, output, STREAM));
            expect_near(output, expected, 1, 1e-16, "one bright pixel");
            cc_image_release(input);
            cc_image_release(output);
        }
    }
    free(values);
    free(expected);
}
END_TEST

static double *waves(int64_t count)
{
    double *values = malloc((size_t)count * sizeof *values);
    for (int64_t n = 0; n < count; ++n)
        values[n] = (double)(float)sin((double)n * 12.9898);
    return values;
}

/* Little memory means many slabs, which change nothing; nor do they in place. */
START_TEST(slab_by_slab)
{
    const int64_t usual = cc__smooth_scratch_bytes;
    double *values = waves(INT64_C(5) * 4 * 75);
    for (int32_t axes = 1; axes < 8; axes += axes == 1 ? 3 : 1) {
        cc_gaussian_params params = pixels_of_sigma(axes & 1 ? 1.5 : 0, axes & 2 ? 0.8 : 0, axes & 4 ? 1.7 : 0);
        params.border = _i;
        params.border_value = -3;
        cc_image *input = volume(CC_PIXEL_FLOAT32, 1, 5, 4, 75, values), *whole = same_kind(input, CC_PIXEL_FLOAT32),
                 *parts = same_kind(input, CC_PIXEL_FLOAT32);
        fixture_ok(cc_image_smooth_gaussian(input, &params, whole, STREAM));
        cc__smooth_scratch_bytes = 1;
        fixture_ok(cc_image_smooth_gaussian(input, &params, parts, STREAM));
        expect_equal(parts, whole);
        fixture_ok(cc_image_smooth_gaussian(input, &params, input, STREAM));
        cc__smooth_scratch_bytes = usual;
        expect_equal(input, whole);
        cc_image_release(input);
        cc_image_release(whole);
        cc_image_release(parts);
    }
    free(values);
}
END_TEST

/* Lines long enough for any way to go along them: float32 is as near to float64 as its sums let it. */
START_TEST(long_lines_in_float32)
{
    static const double sigmas[] = {1.2, 3.4, 6.9};
    double *values = waves(INT64_C(68) * 65 * 3);
    for (int32_t n = 0; n < COUNT(sigmas); ++n) {
        cc_gaussian_params params = pixels_of_sigma(sigmas[n], sigmas[n], 0);
        params.border = _i;
        params.border_value = -0.5;
        cc_image *input = volume(CC_PIXEL_FLOAT32, 1, 68, 65, 3, values), *output = same_kind(input, CC_PIXEL_FLOAT32),
                 *exact = volume(CC_PIXEL_FLOAT64, 1, 68, 65, 3, values), *wide = same_kind(exact, CC_PIXEL_FLOAT64);
        fixture_ok(cc_image_smooth_gaussian(input, &params, output, STREAM));
        fixture_ok(cc_image_smooth_gaussian(exact, &params, wide, STREAM));
        double *expected = numbers_of(wide);
        /* Which is held against others above; not twice nothing. */
        ck_assert_double_ne(expected[0], 0);
        ck_assert_double_ne(expected[0], values[0]);
        expect_near(output, expected, 1, 2 * (4 * sigmas[n] + 3) * 0x1p-24, "long lines");
        free(expected);
        cc_image_release(input);
        cc_image_release(output);
        cc_image_release(exact);
        cc_image_release(wide);
    }
    free(values);
}
END_TEST

/* Four axes, all of them smoothed: two slabs hand on to each other. */
START_TEST(four_axes)
{
    const int64_t usual = cc__smooth_scratch_bytes;
    cc_image_params kind = CC_IMAGE_PARAMS_INIT;
    cc_image *images[3] = {NULL, NULL, NULL};
    void *pixels = NULL;
    kind.dimension = 4;
    kind.pixel_type = CC_PIXEL_FLOAT32;
    kind.region = (cc_region){{-4, 7, 0, -9}, {6, 3, 2, 40}};
    double *values = waves(INT64_C(6) * 3 * 2 * 40);
    for (int32_t n = 0; n < 3; ++n)
        fixture_ok(cc_image_create(&kind, &images[n]));
    fixture_ok(cc_image_map_host(images[0], NULL, CC_ACCESS_WRITE, &pixels));
    for (int32_t n = 0; n < 6 * 3 * 2 * 40; ++n)
        ((float *)pixels)[n] = (float)values[n];
    fixture_ok(cc_image_unmap_host(images[0], pixels));
    fixture_bring_to_device(images[0]);
    cc_gaussian_params params = pixels_of_sigma(1, 0.7, 0.5);
    params.sigma[3] = 1.2;
    fixture_ok(cc_image_smooth_gaussian(images[0], &params, images[1], STREAM));
    /* One axis at a time, in the order of the header, gives the same, since nothing is rounded in between. */
    for (int32_t axis = 3; axis >= 0; --axis) {
        cc_gaussian_params one = pixels_of_sigma(0, 0, 0);
        one.sigma[axis] = params.sigma[axis];
        fixture_ok(cc_image_smooth_gaussian(axis == 3 ? images[0] : images[2], &one, images[2], STREAM));
    }
    expect_equal(images[2], images[1]);
    cc__smooth_scratch_bytes = 1;
    fixture_ok(cc_image_smooth_gaussian(images[0], &params, images[0], STREAM));
    cc__smooth_scratch_bytes = usual;
    expect_equal(images[0], images[1]);
    for (int32_t n = 0; n < 3; ++n)
        cc_image_release(images[n]);
    free(values);
}
END_TEST

/* So much work that it is shared out. */
START_TEST(threads_change_nothing)
{
    double *values = waves(INT64_C(64) * 48 * 40);
    const cc_gaussian_params params = pixels_of_sigma(1.5, 2, 1.5);
    cc_image *input = volume(CC_PIXEL_FLOAT32, 1, 64, 48, 40, values), *alone = same_kind(input, CC_PIXEL_FLOAT32),
             *together = same_kind(input, CC_PIXEL_FLOAT32);
    cc__crew_cores = 1;
    fixture_ok(cc_image_smooth_gaussian(input, &params, alone, STREAM));
    if (fixture_device_count() > 0)
        fixture_ok(cc_stream_synchronize(0, STREAM));
    cc__crew_cores = 4;
    fixture_ok(cc_image_smooth_gaussian(input, &params, together, STREAM));
    expect_equal(together, alone);
    cc__crew_cores = 0;
    cc_image_release(input);
    cc_image_release(alone);
    cc_image_release(together);
    free(values);
}
END_TEST

START_TEST(millimetres_are_pixels_of_the_spacing)
{
    static const double spacing[CC_MAX_DIMENSION] = {2, 0.5, 3, 1};
    cc_gaussian_params params = pixels_of_sigma(1.5, 0.8, 1);
    cc_image *input = volume(CC_PIXEL_FLOAT32, 1, 7, 6, 5, smoothing_input),
             *in_pixels = same_kind(input, CC_PIXEL_FLOAT32), *output = same_kind(input, CC_PIXEL_FLOAT32);
    fixture_ok(cc_image_set_spacing(input, spacing));
    fixture_ok(cc_image_smooth_gaussian(input, &params, in_pixels, STREAM));
    params.unit = CC_SIGMA_IN_MILLIMETRES;
    for (int32_t axis = 0; axis < 3; ++axis)
        params.sigma[axis] *= spacing[axis];
    params.sigma[3] = NAN;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params.sigma[3]",
                   cc_image_smooth_gaussian(input, &params, output, STREAM));
    params.sigma[3] = 7; /* there is no such axis */
    fixture_ok(cc_image_smooth_gaussian(input, &params, output, STREAM));
    expect_equal(output, in_pixels);
    cc_image_release(input);
    cc_image_release(in_pixels);
    cc_image_release(output);
}
END_TEST

/* The border of a view is a border, and what is around its output stays. */
START_TEST(views)
{
    const cc_region part = {{1, 1, 0, 0}, {4, 3, 5, 1}};
    cc_gaussian_params params = pixels_of_sigma(1, 1.2, 0.7);
    cc_image *image = volume(CC_PIXEL_FLOAT32, 1, 7, 6, 5, smoothing_input), *view = NULL,
             *copy = fixture_image(CC_PIXEL_FLOAT32, 1, 3, 4, 3, 5), *output = same_kind(copy, CC_PIXEL_FLOAT32);
    fixture_ok(cc_image_create_view(image, &part, &view));
    fixture_ok(cc_image_rescale(view, 1, 0, copy, STREAM));
    fixture_ok(cc_image_smooth_gaussian(copy, &params, output, STREAM));
    fixture_ok(cc_image_smooth_gaussian(view, &params, copy, STREAM));
    expect_equal(copy, output);
    fixture_ok(cc_image_smooth_gaussian(view, &params, view, STREAM));
    double *inner = numbers_of(output), expected[COUNT(smoothing_input)];
    memcpy(expected, smoothing_input, sizeof expected);
    for (int32_t k = 0; k < 5; ++k)
        for (int32_t j = 0; j < 3; ++j)
            for (int32_t i = 0; i < 4; ++i)
                expected[(k * 6 + j + 1) * 7 + i + 1] = inner[(k * 3 + j) * 4 + i];
    numbers_expect(image, expected);
    free(inner);
    cc_image_release(view);
    cc_image_release(image);
    cc_image_release(copy);
    cc_image_release(output);
}
END_TEST

START_TEST(special_values_reach_as_far_as_the_filter)
{
    double values[21] = {0}, expected[21];
    cc_gaussian_params params = pixels_of_sigma(0.5, 0, 0); /* reaches 2 */
    values[3] = NAN;
    values[10] = INFINITY;
    values[15] = -INFINITY;
    values[18] = INFINITY;
    for (int32_t n = 0; n < 21; ++n)
        expected[n] = n < 1     ? 0
                      : n <= 5  ? NAN
                      : n < 8   ? 0
                      : n <= 12 ? INFINITY
                      : n < 16  ? -INFINITY
                      : n <= 17 ? NAN
                                : INFINITY;
    cc_image *input = volume(CC_PIXEL_FLOAT32, 1, 21, 1, 1, values), *output = same_kind(input, CC_PIXEL_FLOAT32);
    fixture_ok(cc_image_smooth_gaussian(input, &params, output, STREAM));
    numbers_expect(output, expected);
    cc_image_release(input);
    cc_image_release(output);
}
END_TEST

/* Without a sigma it is a cast, exact for the largest integers; nothing is done to nothing. */
START_TEST(nothing_to_smooth)
{
    cc_gaussian_params params = CC_GAUSSIAN_PARAMS_INIT;
    cc_image *input = fixture_image(CC_PIXEL_INT64, 1, 1, 1, 1, 1), *output = same_kind(input, CC_PIXEL_INT64);
    const int64_t value = INT64_MAX - 2;
    void *pixel = NULL;
    fixture_ok(cc_image_fill(input, NULL, &value, STREAM));
    fixture_bring_to_device(input);
    fixture_ok(cc_image_smooth_gaussian(input, &params, output, STREAM));
    fixture_ok(cc_image_map_host(output, NULL, CC_ACCESS_READ, &pixel));
    ck_assert(memcmp(pixel, &value, sizeof value) == 0);
    fixture_ok(cc_image_unmap_host(output, pixel));
    cc_image_release(input);
    cc_image_release(output);
    input = fixture_image(CC_PIXEL_FLOAT32, 1, 2, 3, 0, 1);
    params.sigma[0] = 2;
    fixture_ok(cc_image_smooth_gaussian(input, &params, input, STREAM));
    cc_image_release(input);
}
END_TEST

START_TEST(what_is_refused)
{
    cc_image *image = fixture_image(CC_PIXEL_UINT8, 1, 2, 10, 8, 1), *other = same_kind(image, CC_PIXEL_UINT8),
             *smaller = fixture_image(CC_PIXEL_UINT8, 1, 2, 10, 7, 1),
             *vectors = fixture_image(CC_PIXEL_UINT8, 2, 2, 10, 8, 1), *view = NULL, *overlapping = NULL,
             *complex_image = same_kind(image, CC_PIXEL_COMPLEX64);
    cc_gaussian_params params = pixels_of_sigma(1, 1, 0), wrong;
    byte_pixels_write_host(image, NULL, 1);
    byte_pixels_write_host(other, NULL, 2);
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input = NULL", cc_image_smooth_gaussian(NULL, &params, other, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "output = NULL", cc_image_smooth_gaussian(image, &params, NULL, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params = NULL", cc_image_smooth_gaussian(image, NULL, other, STREAM));
    expect_failure(CC_ERROR_SIZE, "size[1] = 7", cc_image_smooth_gaussian(image, &params, smaller, STREAM));
    expect_failure(CC_ERROR_SIZE, "2 components", cc_image_smooth_gaussian(image, &params, vectors, STREAM));
    expect_failure(CC_ERROR_PIXEL_TYPE, "output has type",
                   cc_image_smooth_gaussian(image, &params, complex_image, STREAM));
    expect_failure(CC_ERROR_PIXEL_TYPE, "output has type",
                   cc_image_smooth_gaussian(complex_image, &params, image, STREAM));
    wrong = params;
    wrong.struct_size = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params.struct_size",
                   cc_image_smooth_gaussian(image, &wrong, other, STREAM));
    wrong = params;
    wrong.unit = 2;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params.unit = 2",
                   cc_image_smooth_gaussian(image, &wrong, other, STREAM));
    wrong = params;
    wrong.border = 5;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params.border = 5",
                   cc_image_smooth_gaussian(image, &wrong, other, STREAM));
    wrong.border = -1;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params.border = -1",
                   cc_image_smooth_gaussian(image, &wrong, other, STREAM));
    static const double sigmas[] = {-1, NAN, INFINITY};
    for (int32_t n = 0; n < COUNT(sigmas); ++n) {
        wrong = params;
        wrong.sigma[1] = sigmas[n];
        expect_failure(CC_ERROR_INVALID_ARGUMENT, "params.sigma[1]",
                       cc_image_smooth_gaussian(image, &wrong, other, STREAM));
    }
    static const double truncates[] = {0, -1, NAN, INFINITY};
    for (int32_t n = 0; n < COUNT(truncates); ++n) {
        wrong = params;
        wrong.truncate = truncates[n];
        expect_failure(CC_ERROR_INVALID_ARGUMENT, "params.truncate",
                       cc_image_smooth_gaussian(image, &wrong, other, STREAM));
    }
    wrong = params;
    wrong.sigma[0] = 64.2;
    expect_failure(CC_ERROR_UNSUPPORTED, "reaches 257", cc_image_smooth_gaussian(image, &wrong, other, STREAM));
    wrong.sigma[0] = 1e300;
    expect_failure(CC_ERROR_UNSUPPORTED, "params.sigma[0]", cc_image_smooth_gaussian(image, &wrong, other, STREAM));
    const cc_region part = {{0, 0, 0, 0}, {9, 8, 1, 1}}, next = {{1, 0, 0, 0}, {9, 8, 1, 1}};
    fixture_ok(cc_image_create_view(image, &part, &view));
    fixture_ok(cc_image_create_view(image, &next, &overlapping));
    expect_failure(CC_ERROR_BUSY, "overlaps", cc_image_smooth_gaussian(view, &params, overlapping, STREAM));
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(other, NULL, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_BUSY, "", cc_image_smooth_gaussian(image, &params, other, STREAM));
    fixture_ok(cc_image_unmap_host(other, pixels));
    byte_pixels_expect_host(image, NULL, 1);
    byte_pixels_expect_host(other, NULL, 2);
    cc_image_release(view);
    cc_image_release(overlapping);
    cc_image_release(image);
    cc_image_release(other);
    cc_image_release(smaller);
    cc_image_release(vectors);
    cc_image_release(complex_image);
}
END_TEST

/* A struct of a program that knows less: the rest is as the header says. */
START_TEST(a_shorter_struct)
{
    cc_gaussian_params params = pixels_of_sigma(1, 0, 0),
                       *shorter = expect_short_struct(offsetof(cc_gaussian_params, truncate));
    cc_image *input = volume(CC_PIXEL_FLOAT32, 1, 7, 6, 5, smoothing_input),
             *output = same_kind(input, CC_PIXEL_FLOAT32), *expected = same_kind(input, CC_PIXEL_FLOAT32);
    memcpy(shorter, &params, offsetof(cc_gaussian_params, truncate));
    shorter->struct_size = offsetof(cc_gaussian_params, truncate);
    fixture_ok(cc_image_smooth_gaussian(input, shorter, output, STREAM));
    fixture_ok(cc_image_smooth_gaussian(input, &params, expected, STREAM));
    expect_equal(output, expected);
    cc_image_release(input);
    cc_image_release(output);
    cc_image_release(expected);
    free(shorter);
}
END_TEST

static const faulty_rule rules[] = {
    {FAULTY_RUN_KERNEL, 1, false, CC_ERROR_DEVICE, 999},
    {FAULTY_ALLOCATE, 1, false, CC_ERROR_OUT_OF_DEVICE_MEMORY, 2},
    {FAULTY_ALLOCATE, 2, false, CC_ERROR_OUT_OF_DEVICE_MEMORY, 2},
};

START_TEST(a_failed_smoothing_changes_nothing)
{
    if (fixture_device_count() == 0)
        return;
    const cc_gaussian_params params = pixels_of_sigma(1, 1, 1);
    cc_image *input = volume(CC_PIXEL_FLOAT32, 1, 7, 6, 5, smoothing_input),
             *output = same_kind(input, CC_PIXEL_FLOAT32);
    double zeros[COUNT(smoothing_input)] = {0};
    faulty_backend_add_rule(fixture_backend, &rules[_i]);
    expect_passed_on(rules[_i].status, cc_image_smooth_gaussian(input, &params, output, STREAM));
    ck_assert_int_eq(cc_last_native_error(), rules[_i].native_error);
    numbers_expect(output, zeros);
    numbers_expect(input, smoothing_input);
    fixture_ok(cc_image_smooth_gaussian(input, &params, output, STREAM));
    expect_near(output, smoothing_cases[0].result, 1, 1e-3, "again");
    cc_image_release(input);
    cc_image_release(output);
}
END_TEST

START_TEST(without_memory_nothing_changes)
{
    const cc_gaussian_params params = pixels_of_sigma(1, 1, 1);
    cc_image *image = volume(CC_PIXEL_FLOAT32, 1, 7, 6, 5, smoothing_input);
    cc_status status = CC_ERROR_OUT_OF_HOST_MEMORY;
    for (long nth = 1; status != CC_OK; ++nth) {
        ck_assert(expect_is_out_of_memory(status));
        numbers_expect(image, smoothing_input);
        fixture_bring_to_device(image);
        expect_allocations_to_fail_from(nth);
        status = cc_image_smooth_gaussian(image, &params, image, STREAM);
        cc__allocate_set_hook(NULL);
    }
    expect_near(image, smoothing_cases[0].result, 1, 1e-3, "in the end");
    cc_image_release(image);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("smoothing");
    TCase *tcase = tcase_create("smoothing");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_loop_test(tcase, agrees_with_scipy, 0, COUNT(smoothing_cases));
    tcase_add_loop_test(tcase, components_parts_and_in_place, 0, COUNT(smoothing_cases));
    tcase_add_test(tcase, one_bright_pixel);
    tcase_add_loop_test(tcase, slab_by_slab, 0, 5);
    tcase_add_loop_test(tcase, long_lines_in_float32, 0, 5);
    tcase_add_test(tcase, four_axes);
    tcase_add_test(tcase, threads_change_nothing);
    tcase_add_test(tcase, millimetres_are_pixels_of_the_spacing);
    tcase_add_test(tcase, views);
    tcase_add_test(tcase, special_values_reach_as_far_as_the_filter);
    tcase_add_test(tcase, nothing_to_smooth);
    tcase_add_test(tcase, what_is_refused);
    tcase_add_test(tcase, a_shorter_struct);
    tcase_add_loop_test(tcase, a_failed_smoothing_changes_nothing, 0, COUNT(rules));
    tcase_add_test(tcase, without_memory_nothing_changes);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
