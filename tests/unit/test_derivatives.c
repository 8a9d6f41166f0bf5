/*
 * Gradient, divergence and Laplacian against NumPy, SciPy and SimpleITK (tests/data/make_derivative_reference) and
 * plain arithmetic; what is refused. On the host, the emulated devices and a GPU alike.
 */
#include "base/allocate.h"
#include "data/derivative_reference.h"
#include "support/expect.h"
#include "support/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STREAM CC_STREAM_DEFAULT
#define PIXELS (DERIVATIVE_I * DERIVATIVE_J * DERIVATIVE_K)

/* The reference's image, or one of its size; its first pixel has a negative index, which changes nothing. */
static cc_image *reference_image(cc_pixel_type type, int32_t components, const double *values)
{
    static const int64_t index[] = {-7, 3, -2, 0};
    cc_image *image = fixture_image(type, components, 3, DERIVATIVE_I, DERIVATIVE_J, DERIVATIVE_K);
    double direction[CC_MAX_DIMENSION][CC_MAX_DIMENSION] = {{0}};
    for (int32_t row = 0; row < 3; row++)
        memcpy(direction[row], derivative_direction + 3 * row, 3 * sizeof(double));
    fixture_ok(cc_image_set_index(image, index));
    fixture_ok(cc_image_set_spacing(image, derivative_spacing));
    fixture_ok(cc_image_set_direction(image, direction[0]));
    if (values != NULL)
        numbers_put(image, values);
    return image;
}

static void expect_near(cc_image *image, const double *expected, double bound, const char *what)
{
    double *found = numbers_of(image);
    for (int64_t n = 0; n < numbers_count(image); n++)
        ck_assert_msg(fabs(found[n] - expected[n]) <= bound, "%s: number %lld is %.17g, expected %.17g", what,
                      (long long)n, found[n], expected[n]);
    free(found);
}

/* The greatest pixel is below 300, the least spacing 0.7: the bounds of derivatives.h, and float32's of SimpleITK. */
#define GRADIENT_BOUND(EPSILON) (4 * 3 * (EPSILON)*300 / 0.7)
#define LAPLACIAN_BOUND(EPSILON) (4 * 3 * (EPSILON)*300 / 0.49)
#define EPSILON32 0x1p-23
#define EPSILON64 0x1p-52

static const struct gradient_case {
    const char *what;
    cc_difference difference;
    uint32_t flags;
    const double *expected;
    double least_epsilon; /* of the reference */
} gradient_cases[] = {
    {"ITK", CC_DIFFERENCE_CENTRAL, 0, itk_gradient, EPSILON32},
    {"ITK, turned", CC_DIFFERENCE_CENTRAL, CC_DERIVATIVE_USE_DIRECTION, itk_turned_gradient, EPSILON32},
    {"NumPy", CC_DIFFERENCE_CENTRAL_ONE_SIDED, 0, numpy_gradient, EPSILON64},
    {"NumPy, forward", CC_DIFFERENCE_FORWARD, 0, numpy_forward_gradient, EPSILON64},
};

static const struct divergence_case {
    const char *what;
    cc_difference difference;
    uint32_t flags;
    const double *expected;
} divergence_cases[] = {
    {"NumPy, one-sided", CC_DIFFERENCE_CENTRAL_ONE_SIDED, 0, numpy_divergence},
    {"NumPy, backward", CC_DIFFERENCE_BACKWARD, 0, numpy_backward_divergence},
    {"NumPy, turned", CC_DIFFERENCE_BACKWARD, CC_DERIVATIVE_USE_DIRECTION, numpy_turned_divergence},
};
#define COUNT(LIST) ((int32_t)(sizeof(LIST) / sizeof((LIST)[0])))

START_TEST(as_other_programs_have_it)
{
    const cc_pixel_type type = _i == 0 ? CC_PIXEL_FLOAT64 : CC_PIXEL_FLOAT32;
    const double epsilon = _i == 0 ? EPSILON64 : EPSILON32;
    cc_image *image = reference_image(type, 1, derivative_image),
             *vectors = reference_image(type, 3, derivative_vectors), *gradient = reference_image(type, 3, NULL),
             *scalar = reference_image(type, 1, NULL);
    fixture_bring_to_device(image);
    fixture_bring_to_device(vectors);
    for (int32_t n = 0; n < COUNT(gradient_cases); n++) {
        const struct gradient_case *c = &gradient_cases[n];
        fixture_ok(cc_image_gradient(image, c->difference, c->flags, gradient, STREAM));
        expect_near(gradient, c->expected, 2 * GRADIENT_BOUND(fmax(epsilon, c->least_epsilon)), c->what);
    }
    for (int32_t n = 0; n < COUNT(divergence_cases); n++) {
        const struct divergence_case *c = &divergence_cases[n];
        fixture_ok(cc_image_divergence(vectors, c->difference, c->flags, scalar, STREAM));
        expect_near(scalar, c->expected, 2 * GRADIENT_BOUND(epsilon), c->what);
    }
    fixture_ok(cc_image_laplacian(image, 0, scalar, STREAM));
    expect_near(scalar, itk_laplacian, 2 * LAPLACIAN_BOUND(EPSILON32), "ITK");
    fixture_ok(cc_image_laplacian(image, CC_DERIVATIVE_IGNORE_SPACING, scalar, STREAM));
    expect_near(scalar, scipy_laplacian, 2 * LAPLACIAN_BOUND(epsilon), "SciPy");
    cc_image_release(image);
    cc_image_release(vectors);
    cc_image_release(gradient);
    cc_image_release(scalar);
}
END_TEST

static double *gradient_numbers(cc_image *image, cc_difference difference, uint32_t flags)
{
    cc_image *gradient = reference_image(CC_PIXEL_FLOAT64, 3, NULL);
    fixture_ok(cc_image_gradient(image, difference, flags, gradient, STREAM));
    double *numbers = numbers_of(gradient);
    cc_image_release(gradient);
    return numbers;
}

/* sum(gradient(f) . v) = -sum(f * divergence(v)), for both pairs, with and without the direction. */
START_TEST(divergence_is_the_negative_adjoint_of_the_gradient)
{
    const cc_difference of_gradient = _i & 1 ? CC_DIFFERENCE_BACKWARD : CC_DIFFERENCE_FORWARD,
                        of_divergence = _i & 1 ? CC_DIFFERENCE_FORWARD : CC_DIFFERENCE_BACKWARD;
    const uint32_t flags = _i & 2 ? CC_DERIVATIVE_USE_DIRECTION : 0;
    cc_image *image = reference_image(CC_PIXEL_FLOAT64, 1, derivative_image),
             *vectors = reference_image(CC_PIXEL_FLOAT64, 3, derivative_vectors),
             *divergence = reference_image(CC_PIXEL_FLOAT64, 1, NULL);
    fixture_bring_to_device(vectors);
    double *gradient = gradient_numbers(image, of_gradient, flags);
    fixture_ok(cc_image_divergence(vectors, of_divergence, flags, divergence, STREAM));
    double *numbers = numbers_of(divergence), left = 0, right = 0;
    for (int32_t n = 0; n < 3 * PIXELS; n++)
        left += gradient[n] * derivative_vectors[n];
    for (int32_t n = 0; n < PIXELS; n++)
        right += derivative_image[n] * numbers[n];
    ck_assert_double_gt(fabs(left), 1);
    ck_assert_double_le(fabs(left + right), 1e-12 * fabs(left) * PIXELS);
    free(gradient);
    free(numbers);
    cc_image_release(image);
    cc_image_release(vectors);
    cc_image_release(divergence);
}
END_TEST

/* Along one axis, by hand: h = 0.5. */
START_TEST(at_the_edges)
{
    static const double values[] = {1, 2, 4, 8}, spacing[] = {0.5, 1, 1, 1};
    static const double central[] = {1, 3, 6, 4}, one_sided[] = {2, 3, 6, 8}, forward[] = {2, 4, 8, 0},
                        backward[] = {0, 2, 4, 8}, laplacian[] = {4, 4, 8, -16}, adjoint_backward[] = {2, 2, 4, -8},
                        adjoint_forward[] = {4, 4, 8, -16}, nothing[] = {0, 0, 0, 0};
    const double *const gradients[] = {central, one_sided, forward, backward};
    const double *const divergences[] = {central, one_sided, adjoint_forward, adjoint_backward};
    cc_image *image = fixture_image(CC_PIXEL_INT16, 1, 1, 4, 1, 1),
             *output = fixture_image(CC_PIXEL_INT32, 1, 1, 4, 1, 1),
             *one = fixture_image(CC_PIXEL_FLOAT32, 1, 1, 1, 1, 1),
             *from_one = fixture_image(CC_PIXEL_FLOAT32, 1, 1, 1, 1, 1);
    numbers_put(image, values);
    numbers_put(one, values + 2);
    fixture_ok(cc_image_set_spacing(image, spacing));
    fixture_bring_to_device(image);
    fixture_bring_to_device(one);
    for (int32_t difference = 0; difference < 4; difference++) {
        fixture_ok(cc_image_gradient(image, (cc_difference)difference, 0, output, STREAM));
        numbers_expect(output, gradients[difference]);
        fixture_ok(cc_image_divergence(image, (cc_difference)difference, 0, output, STREAM));
        numbers_expect(output, divergences[difference]);
        fixture_ok(cc_image_gradient(one, (cc_difference)difference, 0, from_one, STREAM));
        numbers_expect(from_one, nothing);
        fixture_ok(cc_image_divergence(one, (cc_difference)difference, 0, from_one, STREAM));
        numbers_expect(from_one, nothing);
    }
    fixture_ok(cc_image_laplacian(image, 0, output, STREAM));
    numbers_expect(output, laplacian);
    fixture_ok(cc_image_laplacian(one, 0, from_one, STREAM));
    numbers_expect(from_one, nothing);
    cc_image_release(image);
    cc_image_release(output);
    cc_image_release(one);
    cc_image_release(from_one);
}
END_TEST

/* A series of images of 4 dimensions is derived volume by volume; a view has the pixels around it outside. */
START_TEST(series_and_views)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    params.dimension = 4;
    params.pixel_type = CC_PIXEL_FLOAT32;
    params.region = (cc_region){.index = {5, 5, 5, -3}, .size = {3, 2, 2, 2}};
    cc_image *series = NULL, *output = NULL, *view = NULL;
    double values[24], expected[72];
    fixture_ok(cc_image_create(&params, &series));
    params.components = 3;
    fixture_ok(cc_image_create(&params, &output));
    for (int32_t n = 0; n < 24; n++)
        values[n] = (n % 3) + 10 * (n / 3 % 2) + 100 * (n / 6 % 2) + 1000 * (n / 12);
    for (int32_t n = 0; n < 24; n++) {
        expected[3 * n] = n % 3 == 1 ? 1 : 0.5;
        expected[3 * n + 1] = 5;
        expected[3 * n + 2] = 50;
    }
    numbers_put(series, values);
    fixture_bring_to_device(series);
    fixture_ok(cc_image_gradient(series, CC_DIFFERENCE_CENTRAL, 0, output, STREAM));
    numbers_expect(output, expected);

    const cc_region part = {.index = {6, 5, 6, -3}, .size = {2, 1, 1, 2}};
    fixture_ok(cc_image_create_view(series, &part, &view));
    params.components = 1;
    params.region.size[0] = 2, params.region.size[1] = 1, params.region.size[2] = 1;
    cc_image_release(output);
    output = NULL;
    fixture_ok(cc_image_create(&params, &output));
    static const double bends[] = {1, -1, 1, -1};
    fixture_ok(cc_image_laplacian(view, 0, output, STREAM));
    numbers_expect(output, bends);
    cc_image_release(view);
    cc_image_release(output);
    cc_image_release(series);
}
END_TEST

/* Only the neighbours of what is not finite have it; an integer takes NaN as 0 and what is too much as its limit. */
START_TEST(values_that_are_not_finite)
{
    static const double values[] = {0, 0, NAN, 0, 0, INFINITY, 0, 0};
    static const double central[] = {0, NAN, 0, NAN, INFINITY, 0, -INFINITY, 0};
    static const double clamped[] = {0, 0, 0, 0, 127, 0, -128, 0};
    cc_image *image = fixture_image(CC_PIXEL_FLOAT32, 1, 1, 8, 1, 1),
             *floats = fixture_image(CC_PIXEL_FLOAT64, 1, 1, 8, 1, 1),
             *bytes = fixture_image(CC_PIXEL_INT8, 1, 1, 8, 1, 1);
    numbers_put(image, values);
    fixture_bring_to_device(image);
    fixture_ok(cc_image_gradient(image, CC_DIFFERENCE_CENTRAL, 0, floats, STREAM));
    numbers_expect(floats, central);
    fixture_ok(cc_image_gradient(image, CC_DIFFERENCE_CENTRAL, 0, bytes, STREAM));
    numbers_expect(bytes, clamped);
    cc_image_release(image);
    cc_image_release(floats);
    cc_image_release(bytes);
}
END_TEST

START_TEST(what_is_refused)
{
    cc_image *image = fixture_image(CC_PIXEL_FLOAT32, 1, 2, 4, 3, 1),
             *vectors = fixture_image(CC_PIXEL_FLOAT32, 2, 2, 4, 3, 1),
             *other = fixture_image(CC_PIXEL_FLOAT32, 1, 2, 4, 4, 1),
             *flat = fixture_image(CC_PIXEL_FLOAT32, 2, 3, 4, 3, 1),
             *complex = fixture_image(CC_PIXEL_COMPLEX64, 1, 2, 4, 3, 1), *same = NULL;
    const cc_difference central = CC_DIFFERENCE_CENTRAL;
    const cc_region all = {.size = {4, 3, 1, 1}};
    void *pixels = NULL;
    fixture_ok(cc_image_create_view(image, &all, &same));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input = NULL", cc_image_gradient(NULL, central, 0, vectors, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "output = NULL", cc_image_gradient(image, central, 0, NULL, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input = NULL", cc_image_divergence(NULL, central, 0, image, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "output = NULL", cc_image_divergence(vectors, central, 0, NULL, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input = NULL", cc_image_laplacian(NULL, 0, image, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "output = NULL", cc_image_laplacian(image, 0, NULL, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "difference = 4",
                   cc_image_gradient(image, (cc_difference)4, 0, vectors, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "difference = -1",
                   cc_image_divergence(vectors, (cc_difference)-1, 0, image, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "flags = 0x4", cc_image_gradient(image, central, 4, vectors, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "flags = 0x1", cc_image_laplacian(image, 1, image, STREAM));
    expect_failure(CC_ERROR_SIZE, "size[1] = 4", cc_image_laplacian(image, 0, other, STREAM));
    expect_failure(CC_ERROR_SIZE, "dimension 3", cc_image_gradient(image, central, 0, flat, STREAM));
    expect_failure(CC_ERROR_SIZE, "output has 1 component", cc_image_gradient(image, central, 0, same, STREAM));
    expect_failure(CC_ERROR_SIZE, "input has 2 components", cc_image_gradient(vectors, central, 0, vectors, STREAM));
    expect_failure(CC_ERROR_SIZE, "input has 1 components", cc_image_divergence(image, central, 0, same, STREAM));
    expect_failure(CC_ERROR_PIXEL_TYPE, "c64", cc_image_laplacian(complex, 0, image, STREAM));
    expect_failure(CC_ERROR_PIXEL_TYPE, "c64", cc_image_laplacian(image, 0, complex, STREAM));
    expect_failure(CC_ERROR_BUSY, "overlaps", cc_image_laplacian(image, 0, image, STREAM));
    expect_failure(CC_ERROR_BUSY, "overlaps", cc_image_laplacian(image, 0, same, STREAM));
    fixture_ok(cc_image_map_host(vectors, NULL, CC_ACCESS_READ, &pixels));
    expect_passed_on(CC_ERROR_BUSY, cc_image_gradient(image, central, 0, vectors, STREAM));
    fixture_ok(cc_image_unmap_host(vectors, pixels));
    fixture_ok(cc_image_gradient(image, central, 0, vectors, STREAM));
    cc_image_release(same);
    cc_image_release(image);
    cc_image_release(vectors);
    cc_image_release(other);
    cc_image_release(flat);
    cc_image_release(complex);
}
END_TEST

START_TEST(nothing_of_nothing)
{
    cc_image *image = fixture_image(CC_PIXEL_FLOAT32, 1, 2, 0, 3, 1),
             *output = fixture_image(CC_PIXEL_FLOAT32, 2, 2, 0, 3, 1);
    fixture_ok(cc_image_gradient(image, CC_DIFFERENCE_CENTRAL, 0, output, STREAM));
    cc_image_release(image);
    cc_image_release(output);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("derivatives");
    TCase *tcase = tcase_create("derivatives");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_loop_test(tcase, as_other_programs_have_it, 0, 2);
    tcase_add_loop_test(tcase, divergence_is_the_negative_adjoint_of_the_gradient, 0, 4);
    tcase_add_test(tcase, at_the_edges);
    tcase_add_test(tcase, series_and_views);
    tcase_add_test(tcase, values_that_are_not_finite);
    tcase_add_test(tcase, what_is_refused);
    tcase_add_test(tcase, nothing_of_nothing);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
