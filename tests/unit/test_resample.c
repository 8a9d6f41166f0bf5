/*
 * Resampling and warping against SimpleITK and SciPy (tests/data/make_resample_reference) and plain arithmetic; what is
 * refused. On the host, the emulated devices and a GPU alike.
 */
#include "data/resample_reference.h"
#include "memory/crew.h"
#include "support/expect.h"
#include "support/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STREAM CC_STREAM_DEFAULT
#define COUNT(LIST) ((int32_t)(sizeof(LIST) / sizeof((LIST)[0])))

/* With an index, and an origin such that the first pixel is where the reference has it. */
static cc_image *image_on(const resample_grid *grid, cc_pixel_type type, int32_t components, const double *values)
{
    static const int64_t index[] = {-4, 7, -1, 0};
    double origin[CC_MAX_DIMENSION] = {0};
    cc_image *image = fixture_image(type, components, 3, grid->size[0], grid->size[1], grid->size[2]);
    for (int32_t row = 0; row < 3; row++) {
        origin[row] = grid->origin[row];
        for (int32_t axis = 0; axis < 3; axis++)
            origin[row] -= grid->direction[row][axis] * grid->spacing[axis] * (double)index[axis];
    }
    fixture_ok(cc_image_set_index(image, index));
    fixture_ok(cc_image_set_spacing(image, grid->spacing));
    fixture_ok(cc_image_set_origin(image, origin));
    fixture_ok(cc_image_set_direction(image, grid->direction[0]));
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

static cc_resample_params params_of(cc_interpolation interpolation, bool moves)
{
    cc_resample_params params = CC_RESAMPLE_PARAMS_INIT;
    params.interpolation = (int32_t)interpolation;
    params.outside = RESAMPLE_OUTSIDE;
    if (moves) {
        memcpy(params.matrix, resample_matrix, sizeof params.matrix);
        memcpy(params.offset, resample_offset, sizeof params.offset);
    }
    return params;
}

enum {
    MOVED,
    PARALLEL,
    WARPED
};

static const struct reference_case {
    const char *what;
    int32_t kind;
    cc_interpolation interpolation;
    const double *expected;
} reference_cases[] = {
    {"ITK, moved, nearest", MOVED, CC_INTERPOLATION_NEAREST, itk_moved_nearest},
    {"ITK, moved, linear", MOVED, CC_INTERPOLATION_LINEAR, itk_moved_linear},
    {"ITK, moved, cubic", MOVED, CC_INTERPOLATION_CUBIC_BSPLINE, itk_moved_cubic},
    {"ITK, parallel, nearest", PARALLEL, CC_INTERPOLATION_NEAREST, itk_parallel_nearest},
    {"ITK, parallel, linear", PARALLEL, CC_INTERPOLATION_LINEAR, itk_parallel_linear},
    {"ITK, parallel, cubic", PARALLEL, CC_INTERPOLATION_CUBIC_BSPLINE, itk_parallel_cubic},
    {"ITK, warped, nearest", WARPED, CC_INTERPOLATION_NEAREST, itk_warped_nearest},
    {"ITK, warped, linear", WARPED, CC_INTERPOLATION_LINEAR, itk_warped_linear},
    {"ITK, warped, cubic", WARPED, CC_INTERPOLATION_CUBIC_BSPLINE, itk_warped_cubic},
    {"SciPy, moved, linear", MOVED, CC_INTERPOLATION_LINEAR, scipy_moved_linear},
    {"SciPy, moved, cubic", MOVED, CC_INTERPOLATION_CUBIC_BSPLINE, scipy_moved_cubic},
};

/* The bounds of resample.h: pixels up to 300, differences up to 500; and the rounding of what leads to a position. */
static double bound_of(const struct reference_case *c, bool is_float32)
{
    const double e = is_float32 ? 0x1p-24 : 0x1p-53, step = is_float32 ? 0x1p-24 : 0;
    const double position = step + 1e-13;
    if (c->interpolation == CC_INTERPOLATION_NEAREST)
        return is_float32 ? 300 * e : 0;
    return c->interpolation == CC_INTERPOLATION_LINEAR ? 12 * e * 300 + 3 * 500 * position
                                                       : 200 * e * 300 + 6 * 500 * position;
}

START_TEST(as_other_programs_have_it)
{
    const struct reference_case *c = &reference_cases[_i / 2];
    const bool is_float32 = _i % 2 != 0;
    const cc_pixel_type type = is_float32 ? CC_PIXEL_FLOAT32 : CC_PIXEL_FLOAT64;
    const cc_resample_params params = params_of(c->interpolation, c->kind == MOVED);
    cc_image *input = image_on(&input_grid, type, 1, resample_image),
             *output = image_on(c->kind == PARALLEL ? &parallel_grid : &output_grid, type, 1, NULL),
             *field = image_on(&field_grid, type, 3, resample_displacements);
    fixture_bring_to_device(input);
    if (c->kind == WARPED)
        fixture_ok(cc_image_warp(input, field, &params, output, STREAM));
    else
        fixture_ok(cc_image_resample(input, &params, output, STREAM));
    expect_near(output, c->expected, bound_of(c, is_float32), c->what);
    cc_image_release(input);
    cc_image_release(output);
    cc_image_release(field);
}
END_TEST

/* The same grid: the pixels as they are, whatever the direction; each component for itself. */
START_TEST(the_same_grid_changes_nothing)
{
    const cc_pixel_type types[] = {CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT64, CC_PIXEL_INT16, CC_PIXEL_UINT8};
    double values[360];
    for (int32_t n = 0; n < 360; n++)
        values[n] = n % 251;
    for (int32_t t = 0; t < COUNT(types); t++) {
        cc_image *input = image_on(&input_grid, types[t], 3, values),
                 *output = image_on(&input_grid, types[t], 3, NULL);
        for (int32_t interpolation = 0; interpolation < 2; interpolation++) {
            const cc_resample_params params = params_of((cc_interpolation)interpolation, false);
            fixture_bring_to_device(input);
            fixture_ok(cc_image_resample(input, &params, output, STREAM));
            numbers_expect(output, values);
        }
        cc_image_release(input);
        cc_image_release(output);
    }
}
END_TEST

static void set_line(cc_image *image, double spacing, double origin)
{
    const double spacings[] = {spacing, 1, 1, 1}, origins[] = {origin, 0, 0, 0};
    fixture_ok(cc_image_set_spacing(image, spacings));
    fixture_ok(cc_image_set_origin(image, origins));
}

/* One axis, by hand: where the input begins and ends, halves, and how results go into the output's type. */
START_TEST(along_one_axis)
{
    static const double values[] = {10, 20, 40, 41};
    /* Positions -1, -0.5, 0, 0.5 ... 4. */
    static const double linear[] = {-7, 10, 10, 15, 20, 30, 40, 40.5, 41, -7, -7};
    static const double rounded[] = {0, 10, 10, 15, 20, 30, 40, 40, 41, 0, 0};
    static const double nearest[] = {-7, 10, 10, 20, 20, 40, 40, 41, 41, -7, -7};
    cc_resample_params params = CC_RESAMPLE_PARAMS_INIT;
    cc_image *input = fixture_image(CC_PIXEL_UINT8, 1, 1, 4, 1, 1),
             *output = fixture_image(CC_PIXEL_FLOAT32, 1, 1, 11, 1, 1),
             *bytes = fixture_image(CC_PIXEL_UINT8, 1, 1, 11, 1, 1);
    params.outside = -7;
    numbers_put(input, values);
    set_line(input, 0.3, 5);
    set_line(output, 0.15, 5 - 0.3);
    set_line(bytes, 0.15, 5 - 0.3);
    fixture_bring_to_device(input);
    fixture_ok(cc_image_resample(input, &params, output, STREAM));
    numbers_expect(output, linear);
    fixture_ok(cc_image_resample(input, &params, bytes, STREAM));
    numbers_expect(bytes, rounded);
    params.interpolation = CC_INTERPOLATION_NEAREST;
    fixture_ok(cc_image_resample(input, &params, output, STREAM));
    numbers_expect(output, nearest);
    cc_image_release(input);
    cc_image_release(output);
    cc_image_release(bytes);
}
END_TEST

/* A cubic B-spline goes through the pixels, also where the lines are short. */
START_TEST(cubic_lines_go_through_the_pixels)
{
    static const int64_t lengths[] = {1, 2, 3, 5, 30, 31, 200};
    double values[200];
    cc_resample_params params = params_of(CC_INTERPOLATION_CUBIC_BSPLINE, false);
    for (int32_t n = 0; n < 200; n++)
        values[n] = 100 * sin(n * n);
    for (int32_t n = 0; n < COUNT(lengths); n++) {
        cc_image *input = fixture_image(CC_PIXEL_FLOAT64, 1, 2, 1, lengths[n], 1),
                 *output = fixture_image(CC_PIXEL_FLOAT64, 1, 2, 1, lengths[n], 1);
        numbers_put(input, values);
        fixture_bring_to_device(input);
        fixture_ok(cc_image_resample(input, &params, output, STREAM));
        expect_near(output, values, 200 * 0x1p-53 * 100, "cubic");
        cc_image_release(input);
        cc_image_release(output);
    }
}
END_TEST

/* The same in float32, where long lines go by groups, along each axis and where rows can be packed or not. */
START_TEST(long_cubic_lines_go_through_the_pixels)
{
    static const int64_t lengths[] = {33, 36, 47, 48, 64, 100};
    static double values[100 * 5 * 7];
    const int64_t length = lengths[_i / 3];
    const cc_resample_params params = params_of(CC_INTERPOLATION_CUBIC_BSPLINE, false);
    for (int32_t n = 0; n < COUNT(values); n++)
        values[n] = (double)(float)(100 * sin(n * (double)n));
    const int64_t i = _i % 3 == 0 ? length : 5, j = _i % 3 == 1 ? length : 7,
                  k = _i % 3 == 2 ? length : 12 - (_i % 3 == 0 ? 7 : 5);
    cc_image *input = fixture_image(CC_PIXEL_FLOAT32, 1, 3, i, j, k),
             *output = fixture_image(CC_PIXEL_FLOAT32, 1, 3, i, j, k);
    numbers_put(input, values);
    fixture_bring_to_device(input);
    fixture_ok(cc_image_resample(input, &params, output, STREAM));
    expect_near(output, values, 200 * 0x1p-24 * 100, "long cubic");
    cc_image_release(input);
    cc_image_release(output);
}
END_TEST

/* Beyond the outermost centres it is as before them, also where two pixels are all there are. */
START_TEST(cubic_lines_mirror_at_their_ends)
{
    static const int64_t lengths[] = {2, 3, 9};
    static const double values[] = {3, -8, 20, 5, -1, 7, 40, -6, 11};
    cc_resample_params params = params_of(CC_INTERPOLATION_CUBIC_BSPLINE, false);
    for (int32_t n = 0; n < COUNT(lengths); n++) {
        double found[4];
        cc_image *input = fixture_image(CC_PIXEL_FLOAT64, 1, 1, lengths[n], 1, 1),
                 *output = fixture_image(CC_PIXEL_FLOAT64, 1, 1, 1, 1, 1);
        numbers_put(input, values);
        fixture_bring_to_device(input);
        for (int32_t i = 0; i < 4; i++) {
            const double last = (double)lengths[n] - 1, places[] = {-0.25, 0.25, last - 0.375, last + 0.375};
            params.offset[0] = places[i];
            fixture_ok(cc_image_resample(input, &params, output, STREAM));
            double *numbers = numbers_of(output);
            found[i] = numbers[0];
            free(numbers);
        }
        ck_assert_double_le(fabs(found[0] - found[1]), 1e-12);
        ck_assert_double_le(fabs(found[2] - found[3]), 1e-12);
        cc_image_release(input);
        cc_image_release(output);
    }
}
END_TEST

/* Steps in eighths through an image that has the same slope everywhere, from before its first pixel to behind its last
 * one, on planes that are parallel: wide enough for what a GPU does with whole patches. */
START_TEST(parallel_planes)
{
    enum {
        I = 96,
        J = 20,
        K = 13,
        MOST = 150 * 40 * 16
    };
    static const cc_pixel_type types[] = {CC_PIXEL_FLOAT32, CC_PIXEL_UINT16, CC_PIXEL_FLOAT32};
    static const double steps[][3] = {{0.875, 0.875, 0.875}, {0.75, 0.5, 1.25}, {-1, 1, 2}};
    static const double sizes[3] = {I, J, K}, slopes[3] = {8, 1024, 32768};
    static double values[2 * I * J * K], expected[2 * MOST];
    const int64_t count[3] = {(int64_t)((I + 3) / fabs(steps[_i][0])), (int64_t)((J + 3) / steps[_i][1]),
                              (int64_t)((K + 3) / steps[_i][2])};
    const int32_t components = _i == 2 ? 2 : 1;
    const double scale = types[_i] == CC_PIXEL_UINT16 ? 0.125 : 1;
    cc_resample_params params = params_of(CC_INTERPOLATION_LINEAR, false);
    params.outside = -1;
    for (int32_t axis = 0; axis < 3; axis++) {
        params.matrix[axis][axis] = steps[_i][axis];
        params.offset[axis] = steps[_i][axis] < 0 ? I + 0.5 : -1.5;
    }
    for (int64_t n = 0; n < (int64_t)components * I * J * K; n++) {
        const int64_t pixel = n / components, row = pixel / I;
        const double index[3] = {(double)(pixel % I), (double)(row % J), (double)(row / J)};
        values[n] = (double)(n % components);
        for (int32_t axis = 0; axis < 3; axis++)
            values[n] += scale * slopes[axis] * index[axis];
    }
    for (int64_t n = 0; n < components * count[0] * count[1] * count[2]; n++) {
        const int64_t pixel = n / components, row = pixel / count[0];
        const double index[3] = {(double)(pixel % count[0]), (double)(row % count[1]), (double)(row / count[1])};
        bool is_inside = true;
        expected[n] = (double)(n % components);
        for (int32_t axis = 0; axis < 3; axis++) {
            const double at = params.matrix[axis][axis] * index[axis] + params.offset[axis];
            is_inside = is_inside && at >= -0.5 && at < sizes[axis] - 0.5;
            expected[n] += scale * slopes[axis] * fmin(fmax(at, 0), sizes[axis] - 1);
        }
        expected[n] = is_inside ? expected[n] : -1;
    }
    cc_image *input = fixture_image(types[_i], components, 3, I, J, K),
             *output = fixture_image(CC_PIXEL_FLOAT32, components, 3, count[0], count[1], count[2]);
    numbers_put(input, values);
    fixture_bring_to_device(input);
    fixture_ok(cc_image_resample(input, &params, output, STREAM));
    numbers_expect(output, expected);
    cc_image_release(input);
    cc_image_release(output);
}
END_TEST

/* What has no weight does not matter: not NaN beside the pixel, not infinity at the edge. */
START_TEST(values_that_are_not_finite)
{
    static const double values[] = {INFINITY, 2, NAN, 4};
    static const double expected[] = {INFINITY, INFINITY, INFINITY, 2, NAN, NAN, NAN, 4, 4};
    cc_image *input = fixture_image(CC_PIXEL_FLOAT32, 1, 1, 4, 1, 1),
             *output = fixture_image(CC_PIXEL_FLOAT32, 1, 1, 9, 1, 1);
    numbers_put(input, values);
    set_line(output, 0.5, -0.5);
    fixture_bring_to_device(input);
    fixture_ok(cc_image_resample(input, NULL, output, STREAM));
    double *found = numbers_of(output);
    for (int32_t n = 0; n < 8; n++)
        ck_assert_msg(n == 2 || (isnan(expected[n]) ? isnan(found[n]) : found[n] == expected[n]), "%d: %g", n,
                      found[n]);
    free(found);
    cc_image_release(input);
    cc_image_release(output);
}
END_TEST

/* A field on the output's own grid, constant: a shift; NaN in it: outside. Of another type than the images'. */
START_TEST(displacements_are_in_space)
{
    static const double values[] = {1, 2, 3, 4, 5, 6, 7, 8};
    double shifts[16];
    static const double expected[] = {2, 3, 4, -1, 6, -1, 8, -1};
    cc_resample_params params = CC_RESAMPLE_PARAMS_INIT;
    static const double direction[] = {0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, spacing[] = {2, 3, 1, 1};
    cc_image *input = numbers_image(CC_PIXEL_INT16, 1, 4, 2, values),
             *output = fixture_image(CC_PIXEL_FLOAT32, 1, 2, 4, 2, 1);
    for (int32_t n = 0; n < 8; n++)
        shifts[2 * n] = 0, shifts[2 * n + 1] = 2; /* i goes along the second axis of space */
    shifts[2 * 5] = NAN;
    cc_image *field = numbers_image(CC_PIXEL_FLOAT64, 2, 4, 2, shifts), *all[] = {input, output, field};
    for (int32_t n = 0; n < 3; n++) {
        fixture_ok(cc_image_set_direction(all[n], direction));
        fixture_ok(cc_image_set_spacing(all[n], spacing));
    }
    params.outside = -1;
    fixture_bring_to_device(input);
    fixture_ok(cc_image_warp(input, field, &params, output, STREAM));
    numbers_expect(output, expected);
    cc_image_release(input);
    cc_image_release(output);
    cc_image_release(field);
}
END_TEST

/* The field on the output's grid, in eighths, in an image that has the same slope everywhere. */
START_TEST(a_field_on_the_same_grid)
{
    enum {
        I = 40,
        J = 9,
        K = 11
    };
    static double values[I * J * K], shifts[3 * I * J * K], expected[I * J * K];
    static const double sizes[3] = {I, J, K}, slopes[3] = {1, 8, 64};
    cc_resample_params params = params_of(CC_INTERPOLATION_LINEAR, false);
    for (int64_t n = 0; n < I * J * K; n++) {
        const int64_t row = n / I, slice = row / J;
        const double index[3] = {(double)(n % I), (double)(row % J), (double)slice};
        bool is_inside = true;
        expected[n] = 0;
        for (int32_t axis = 0; axis < 3; axis++) {
            const double shift = (double)(n * (axis + 5) % 23 - 11) / 8, at = index[axis] + shift;
            values[n] += slopes[axis] * index[axis];
            shifts[3 * n + axis] = shift;
            is_inside = is_inside && at >= -0.5 && at < sizes[axis] - 0.5;
            expected[n] += slopes[axis] * fmin(fmax(at, 0), sizes[axis] - 1);
        }
        expected[n] = is_inside ? expected[n] : -1;
    }
    cc_image *input = fixture_image(CC_PIXEL_FLOAT32, 1, 3, I, J, K),
             *output = fixture_image(CC_PIXEL_FLOAT32, 1, 3, I, J, K),
             *field = fixture_image(CC_PIXEL_FLOAT32, 3, 3, I, J, K);
    numbers_put(input, values);
    numbers_put(field, shifts);
    fixture_bring_to_device(input);
    params.outside = -1;
    fixture_ok(cc_image_warp(input, field, &params, output, STREAM));
    numbers_expect(output, expected);
    cc_image_release(input);
    cc_image_release(output);
    cc_image_release(field);
}
END_TEST

/* As long as what float32 cannot tell from its neighbour, for images that are float32. */
START_TEST(float64_displacements_stay_so)
{
    static const double values[] = {1, 2, 3}, shifts[] = {0x1p24 + 1.25, 0x1p24 + 1.25}, expected[] = {1.25, 2.25};
    cc_resample_params params = CC_RESAMPLE_PARAMS_INIT;
    cc_image *input = fixture_image(CC_PIXEL_FLOAT32, 1, 1, 3, 1, 1),
             *output = fixture_image(CC_PIXEL_FLOAT32, 1, 1, 2, 1, 1),
             *field = fixture_image(CC_PIXEL_FLOAT64, 1, 1, 2, 1, 1);
    numbers_put(input, values);
    numbers_put(field, shifts);
    fixture_bring_to_device(input);
    params.offset[0] = -0x1p24 - 1;
    fixture_ok(cc_image_warp(input, field, &params, output, STREAM));
    numbers_expect(output, expected);
    cc_image_release(input);
    cc_image_release(output);
    cc_image_release(field);
}
END_TEST

static cc_image *series_image(int64_t i, int64_t volumes, const double *values)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *image = NULL;
    params.dimension = 4;
    params.pixel_type = CC_PIXEL_FLOAT32;
    params.region = (cc_region){.size = {i, 1, 1, volumes}};
    fixture_ok(cc_image_create(&params, &image));
    if (values != NULL)
        numbers_put(image, values);
    return image;
}

/* A series, volume by volume; also by one field for all. Views are images, whose outside is outside. */
START_TEST(series_and_views)
{
    static const double values[] = {1, 3, 5, 10, 30, 50}, between[] = {2, 4, 20, 40}, third[] = {0, 0, 0};
    static const double of_view[] = {4, 5, 40, 50};
    static const double half[] = {0.5, 0, 0, 0};
    cc_image *input = series_image(3, 2, values), *output = series_image(2, 2, NULL), *view = NULL, *field = NULL;
    const cc_region part = {.index = {1, 0, 0, 0}, .size = {2, 1, 1, 2}};
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    params.dimension = 4;
    params.pixel_type = CC_PIXEL_FLOAT32;
    params.components = 3;
    params.region = (cc_region){.size = {1, 1, 1, 1}};
    fixture_ok(cc_image_create(&params, &field));
    numbers_put(field, third);
    fixture_bring_to_device(input);
    fixture_ok(cc_image_set_origin(output, half));
    fixture_ok(cc_image_resample(input, NULL, output, STREAM));
    numbers_expect(output, between);
    fixture_ok(cc_image_warp(input, field, NULL, output, STREAM));
    numbers_expect(output, between);
    fixture_ok(cc_image_create_view(input, &part, &view));
    static const double later[] = {1.5, 0, 0, 0};
    fixture_ok(cc_image_set_origin(output, later));
    fixture_ok(cc_image_resample(view, NULL, output, STREAM));
    double *found = numbers_of(output);
    for (int32_t n = 0; n < 4; n += 2)
        ck_assert_double_eq(found[n], of_view[n]);
    ck_assert_double_eq(found[1], 0); /* at 2.5, where the view ends */
    free(found);
    cc_image_release(view);
    cc_image_release(field);
    cc_image_release(input);
    cc_image_release(output);
}
END_TEST

/* Large enough for several threads on the host, which find what one finds. */
START_TEST(large_images_are_shared_out)
{
    const int64_t i = 61, j = 90, k = 9, count = i * j * k;
    double *values = malloc((size_t)count * sizeof *values), *found[2];
    cc_image *input = fixture_image(CC_PIXEL_FLOAT32, 1, 3, i, j, k),
             *output = fixture_image(CC_PIXEL_FLOAT32, 1, 3, i, j, k),
             *vectors = fixture_image(CC_PIXEL_FLOAT32, 3, 3, i, j, k);
    cc_resample_params params = params_of(CC_INTERPOLATION_CUBIC_BSPLINE, true);
    for (int64_t n = 0; n < count; n++)
        values[n] = (double)(n * n % 1013);
    numbers_put(input, values);
    for (int32_t operation = 0; operation < 2; operation++) {
        cc_image *result = operation == 0 ? output : vectors;
        for (int32_t n = 0; n < 2; n++) {
            cc__crew_cores = n == 0 ? 1 : 5;
            fixture_ok(operation == 0 ? cc_image_resample(input, &params, output, STREAM)
                                      : cc_image_gradient(input, CC_DIFFERENCE_FORWARD, 0, vectors, STREAM));
            found[n] = numbers_of(result);
        }
        ck_assert_mem_eq(found[0], found[1], (size_t)numbers_count(result) * sizeof(double));
        free(found[0]);
        free(found[1]);
    }
    cc__crew_cores = 0;
    free(values);
    cc_image_release(input);
    cc_image_release(output);
    cc_image_release(vectors);
}
END_TEST

START_TEST(what_is_refused)
{
    cc_image *image = fixture_image(CC_PIXEL_FLOAT32, 1, 2, 4, 3, 1),
             *output = fixture_image(CC_PIXEL_FLOAT32, 1, 2, 5, 5, 1),
             *vectors = fixture_image(CC_PIXEL_FLOAT32, 2, 2, 4, 3, 1),
             *solid = fixture_image(CC_PIXEL_FLOAT32, 1, 3, 4, 3, 1),
             *complex = fixture_image(CC_PIXEL_COMPLEX64, 1, 2, 4, 3, 1),
             *empty = fixture_image(CC_PIXEL_FLOAT32, 1, 2, 0, 3, 1), *series = series_image(2, 2, NULL),
             *longer = series_image(2, 3, NULL), *view = NULL;
    const cc_region part = {.size = {2, 3, 1, 1}};
    cc_resample_params params = CC_RESAMPLE_PARAMS_INIT;
    fixture_ok(cc_image_create_view(image, &part, &view));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input = NULL", cc_image_resample(NULL, NULL, output, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "output = NULL", cc_image_resample(image, NULL, NULL, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input = NULL", cc_image_warp(NULL, vectors, NULL, output, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "output = NULL", cc_image_warp(image, vectors, NULL, NULL, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "displacement = NULL", cc_image_warp(image, NULL, NULL, output, STREAM));
    params.struct_size = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size = 0", cc_image_resample(image, &params, output, STREAM));
    params.struct_size = sizeof params;
    params.interpolation = 3;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "interpolation = 3", cc_image_resample(image, &params, output, STREAM));
    params.interpolation = -1;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "interpolation = -1", cc_image_resample(image, &params, output, STREAM));
    params.interpolation = CC_INTERPOLATION_LINEAR;
    params.matrix[1][0] = NAN;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "matrix[1][0]", cc_image_resample(image, &params, output, STREAM));
    params.matrix[1][0] = 1e308;
    const double huge[] = {1e10, 1e10, 1, 1};
    fixture_ok(cc_image_set_spacing(output, huge));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "not finite", cc_image_resample(image, &params, output, STREAM));
    params.matrix[1][0] = 0;
    params.offset[1] = INFINITY;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "offset[1]", cc_image_resample(image, &params, output, STREAM));
    params.offset[1] = 0;
    params.offset[2] = NAN; /* past the dimension */
    fixture_ok(cc_image_resample(image, &params, output, STREAM));
    expect_failure(CC_ERROR_SIZE, "dimension 3", cc_image_resample(solid, NULL, output, STREAM));
    expect_failure(CC_ERROR_SIZE, "output has 1 components", cc_image_resample(vectors, NULL, output, STREAM));
    expect_failure(CC_ERROR_SIZE, "input has no pixels", cc_image_resample(empty, NULL, output, STREAM));
    expect_failure(CC_ERROR_SIZE, "size[3] = 2", cc_image_resample(series, NULL, longer, STREAM));
    expect_failure(CC_ERROR_SIZE, "displacement has 1 components", cc_image_warp(image, image, NULL, output, STREAM));
    expect_failure(CC_ERROR_SIZE, "displacement has dimension 3", cc_image_warp(image, solid, NULL, output, STREAM));
    expect_failure(CC_ERROR_PIXEL_TYPE, "input has type c64", cc_image_resample(complex, NULL, output, STREAM));
    expect_failure(CC_ERROR_PIXEL_TYPE, "output has type c64", cc_image_resample(image, NULL, complex, STREAM));
    expect_failure(CC_ERROR_PIXEL_TYPE, "displacement has type c64",
                   cc_image_warp(image, complex, NULL, output, STREAM));
    expect_failure(CC_ERROR_BUSY, "overlaps the input", cc_image_resample(image, NULL, image, STREAM));
    expect_failure(CC_ERROR_BUSY, "overlaps the input", cc_image_resample(image, NULL, view, STREAM));
    const double mixed[] = {0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0};
    fixture_ok(cc_image_set_direction(series, mixed));
    cc_image *mixes = series_image(2, 2, NULL);
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input has a direction that mixes the fourth axis",
                   cc_image_resample(series, NULL, mixes, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "output has a direction that mixes the fourth axis",
                   cc_image_resample(mixes, NULL, series, STREAM));
    cc_image *const all[] = {view, image, output, vectors, solid, complex, empty, series, longer, mixes};
    for (int32_t n = 0; n < COUNT(all); n++)
        cc_image_release(all[n]);
}
END_TEST

/* A struct of a caller that knows less: what it leaves out is as in CC_RESAMPLE_PARAMS_INIT. */
START_TEST(shorter_params)
{
    static const double values[] = {1, 2};
    const size_t size = offsetof(cc_resample_params, matrix);
    cc_resample_params *params = expect_short_struct(size);
    cc_image *input = numbers_image(CC_PIXEL_FLOAT32, 1, 2, 1, values),
             *output = fixture_image(CC_PIXEL_FLOAT32, 1, 2, 2, 1, 1),
             *nothing = fixture_image(CC_PIXEL_FLOAT32, 1, 2, 0, 1, 1);
    const cc_resample_params defaults = CC_RESAMPLE_PARAMS_INIT;
    memcpy(params, &defaults, size);
    params->struct_size = (uint32_t)size;
    fixture_ok(cc_image_resample(input, params, output, STREAM));
    numbers_expect(output, values);
    fixture_ok(cc_image_resample(input, params, nothing, STREAM));
    free(params);
    cc_image_release(nothing);
    cc_image_release(input);
    cc_image_release(output);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("resample");
    TCase *tcase = tcase_create("resample");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_loop_test(tcase, as_other_programs_have_it, 0, 2 * COUNT(reference_cases));
    tcase_add_test(tcase, the_same_grid_changes_nothing);
    tcase_add_test(tcase, along_one_axis);
    tcase_add_test(tcase, cubic_lines_go_through_the_pixels);
    tcase_add_loop_test(tcase, long_cubic_lines_go_through_the_pixels, 0, 18);
    tcase_add_test(tcase, cubic_lines_mirror_at_their_ends);
    tcase_add_test(tcase, a_field_on_the_same_grid);
    tcase_add_loop_test(tcase, parallel_planes, 0, 3);
    tcase_add_test(tcase, float64_displacements_stay_so);
    tcase_add_test(tcase, values_that_are_not_finite);
    tcase_add_test(tcase, displacements_are_in_space);
    tcase_add_test(tcase, series_and_views);
    tcase_add_test(tcase, large_images_are_shared_out);
    tcase_add_test(tcase, what_is_refused);
    tcase_add_test(tcase, shorter_params);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
