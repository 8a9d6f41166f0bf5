/*
 * Frames: interpolated, splatted and averaged, against plain arithmetic; what is refused. On the host, the emulated
 * device and a GPU alike.
 */
#include "memory/crew.h"
#include "support/expect.h"
#include "support/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STREAM CC_STREAM_DEFAULT
#define I 7
#define J 3
#define FRAME (I * J)
#define FRAMES 4

/* Frames of I x J, the first of which has the index -1; a value for each pixel. */
static cc_image *frames_image(cc_pixel_type type, int32_t components, const double *values)
{
    cc_image *image = fixture_image(type, components, 3, I, J, FRAMES);
    const size_t bytes = cc_image_get_size_bytes(image) / (size_t)numbers_count(image);
    unsigned char *pixels = NULL;
    fixture_ok(cc_image_set_index(image, (const int64_t[]){5, 6, -1, 0}));
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, (void **)&pixels));
    for (int64_t n = 0; n < numbers_count(image); n++)
        numbers_store(type, values[n], pixels + (size_t)n * bytes);
    fixture_ok(cc_image_unmap_host(image, pixels));
    if (fixture_device_count() > 0)
        fixture_ok(cc_image_prefetch(image, NULL, 0));
    return image;
}

static void fill_values(double *values, int64_t count)
{
    for (int64_t n = 0; n < count; n++)
        values[n] = (double)(n * n % 101) - 30;
}

/* As C computes it, rounded into the type. */
static double into(cc_pixel_type type, double value)
{
    switch (type) {
    case CC_PIXEL_UINT8:
        value = nearbyint(value) + 0.0;
        return value < 0 ? 0 : value > 255 ? 255 : value;
    case CC_PIXEL_INT16:
    case CC_PIXEL_UINT16:
        return nearbyint(value) + 0.0;
    case CC_PIXEL_FLOAT32:
    case CC_PIXEL_COMPLEX64:
        return (double)(float)value;
    default:
        return value;
    }
}

typedef struct position_case {
    double position;
    cc_border border;
    int32_t below; /* frames, counted from 0 */
    int32_t above;
    double weight; /* of the one above */
} position_case;

static const position_case positions[] = {
    {-1, CC_BORDER_REPLICATE, 0, 0, 0},         {-0.75, CC_BORDER_REPLICATE, 0, 1, 0.25},
    {0.5, CC_BORDER_REPLICATE, 1, 2, 0.5},      {1.9, CC_BORDER_PERIODIC, 2, 3, 1.9 - (-1) - 2},
    {2, CC_BORDER_REPLICATE, 3, 3, 0},          {2.5, CC_BORDER_REPLICATE, 3, 3, 0},
    {1e300, CC_BORDER_REPLICATE, 3, 3, 0},      {-1e9, CC_BORDER_REPLICATE, 0, 0, 0},
    {2.25, CC_BORDER_PERIODIC, 3, 0, 0.25},     {-1.25, CC_BORDER_PERIODIC, 3, 0, 0.75},
    {3, CC_BORDER_PERIODIC, 0, 0, 0},           {-9, CC_BORDER_PERIODIC, 0, 0, 0},
    {-1 - 1e-300, CC_BORDER_PERIODIC, 0, 0, 0}, {9.5, CC_BORDER_PERIODIC, 2, 3, 0.5},
};
#define POSITIONS ((int32_t)(sizeof positions / sizeof positions[0]))

/* Of the frames, of the volume. */
static const cc_pixel_type types[][2] = {
    {CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32}, {CC_PIXEL_INT16, CC_PIXEL_UINT8},          {CC_PIXEL_FLOAT64, CC_PIXEL_INT16},
    {CC_PIXEL_UINT16, CC_PIXEL_FLOAT64},  {CC_PIXEL_COMPLEX64, CC_PIXEL_COMPLEX128},
};
#define TYPES ((int32_t)(sizeof types / sizeof types[0]))

static int32_t numbers_of_pixel(cc_pixel_type type, int32_t components)
{
    return components * (type == CC_PIXEL_COMPLEX64 || type == CC_PIXEL_COMPLEX128 ? 2 : 1);
}

START_TEST(interpolation_is_linear)
{
    const cc_pixel_type *type = types[_i % TYPES];
    const int32_t components = 1 + _i / TYPES * 2;
    const int32_t frame = FRAME * numbers_of_pixel(type[0], components);
    double values[FRAME * FRAMES * 6], expected[FRAME * 6];
    fill_values(values, frame * FRAMES);
    if (type[0] == CC_PIXEL_UINT16)
        for (int32_t n = 0; n < frame * FRAMES; n++)
            values[n] = fabs(values[n]);
    cc_image *frames = frames_image(type[0], components, values);
    for (int32_t p = 0; p < POSITIONS; p++) {
        const position_case *at = &positions[p];
        cc_image *volume = fixture_image(type[1], components, 2, I, J, 1);
        for (int32_t n = 0; n < frame; n++) {
            const double below = values[at->below * frame + n], above = values[at->above * frame + n];
            expected[n] = into(type[1], at->weight == 0 ? below : (1 - at->weight) * below + at->weight * above);
        }
        fixture_ok(cc_image_interpolate_frames(frames, at->position, at->border, volume, STREAM));
        numbers_expect(volume, expected);
        cc_image_release(volume);
    }
    cc_image_release(frames);
}
END_TEST

START_TEST(splatting_adds_to_two_frames)
{
    const cc_pixel_type *type = types[_i % TYPES];
    const int32_t components = 1 + _i / TYPES * 2;
    const int32_t frame = FRAME * numbers_of_pixel(type[0], components);
    double values[FRAME * FRAMES * 6], added[FRAME * FRAMES * 6] = {0};
    for (int32_t p = 0; p < POSITIONS; p++) {
        const position_case *at = &positions[p];
        for (int32_t n = 0; n < frame * FRAMES; n++)
            values[n] = n % 57;
        for (int32_t n = 0; n < frame; n++)
            added[n] = n * 3 % 100;
        cc_image *frames = frames_image(type[0], components, values);
        cc_image *whole = frames_image(type[1], components, added), *volume = NULL;
        const cc_region first = {{5, 6, -1, 0}, {I, J, 1, 1}};
        fixture_ok(cc_image_create_view(whole, &first, &volume));
        for (int32_t n = 0; n < frame; n++) {
            double *below = &values[at->below * frame + n], *above = &values[at->above * frame + n];
            *below = into(type[0], *below + (1 - at->weight) * added[n]);
            if (at->weight > 0)
                *above = into(type[0], *above + at->weight * added[n]);
        }
        fixture_ok(cc_image_splat_frames(volume, at->position, at->border, frames, STREAM));
        numbers_expect(frames, values);
        cc_image_release(frames);
        cc_image_release(whole);
        cc_image_release(volume);
    }
}
END_TEST

/* <interpolate(x), y> = <x, splat(y)>, exactly: the numbers are small. */
START_TEST(splatting_is_the_adjoint)
{
    double x[FRAME * FRAMES], y[FRAME * FRAMES], zeros[FRAME * FRAMES] = {0};
    fill_values(x, FRAME * FRAMES);
    for (int32_t n = 0; n < FRAME * FRAMES; n++)
        y[n] = 5 - n % 11;
    for (int32_t p = 0; p < POSITIONS; p++) {
        cc_image *frames = frames_image(CC_PIXEL_FLOAT64, 1, x), *sums = frames_image(CC_PIXEL_FLOAT64, 1, zeros);
        cc_image *volume = numbers_image(CC_PIXEL_FLOAT64, 1, I, J, y),
                 *made = fixture_image(CC_PIXEL_FLOAT64, 1, 2, I, J, 1);
        double left = 0, right = 0;
        fixture_ok(cc_image_interpolate_frames(frames, positions[p].position, positions[p].border, made, STREAM));
        fixture_ok(cc_image_splat_frames(volume, positions[p].position, positions[p].border, sums, STREAM));
        double *interpolated = numbers_of(made), *splatted = numbers_of(sums);
        for (int32_t n = 0; n < FRAME; n++)
            left += interpolated[n] * y[n];
        for (int32_t n = 0; n < FRAME * FRAMES; n++)
            right += splatted[n] * x[n];
        ck_assert_double_eq_tol(left, right, 1e-9);
        free(interpolated);
        free(splatted);
        cc_image_release(frames);
        cc_image_release(sums);
        cc_image_release(volume);
        cc_image_release(made);
    }
}
END_TEST

START_TEST(averages)
{
    const cc_pixel_type *type = types[_i];
    const int32_t frame = FRAME * numbers_of_pixel(type[0], 1);
    double values[FRAME * FRAMES * 2], expected[FRAME * 2];
    for (int32_t n = 0; n < frame * FRAMES; n++)
        values[n] = n * 7 % 250;
    for (int32_t n = 0; n < frame; n++)
        expected[n] =
            into(type[1], (values[n] + values[frame + n] + values[2 * frame + n] + values[3 * frame + n]) / 4);
    cc_image *frames = frames_image(type[0], 1, values), *volume = fixture_image(type[1], 1, 3, I, J, 1), *last = NULL;
    fixture_ok(cc_image_average_frames(frames, volume, STREAM));
    numbers_expect(volume, expected);
    /* One frame is its own average. */
    const cc_region one = {{5, 6, 2, 0}, {I, J, 1, 1}};
    fixture_ok(cc_image_create_view(frames, &one, &last));
    fixture_ok(cc_image_average_frames(last, volume, STREAM));
    for (int32_t n = 0; n < frame; n++)
        expected[n] = into(type[1], values[3 * frame + n]);
    numbers_expect(volume, expected);
    cc_image_release(frames);
    cc_image_release(volume);
    cc_image_release(last);
}
END_TEST

/* A frame that does not count is not looked at, and what is not finite goes its way. */
START_TEST(special_numbers)
{
    double values[FRAME * FRAMES], expected[FRAME];
    for (int32_t n = 0; n < FRAME * FRAMES; n++)
        values[n] = n < FRAME ? 1.5 : NAN;
    values[2] = INFINITY;
    values[3] = -0.0;
    memcpy(expected, values, sizeof expected);
    cc_image *frames = frames_image(CC_PIXEL_FLOAT32, 1, values),
             *volume = fixture_image(CC_PIXEL_FLOAT32, 1, 2, I, J, 1);
    fixture_ok(cc_image_interpolate_frames(frames, -1, CC_BORDER_REPLICATE, volume, STREAM));
    numbers_expect(volume, expected);
    fixture_ok(cc_image_interpolate_frames(frames, -0.5, CC_BORDER_REPLICATE, volume, STREAM));
    for (int32_t n = 0; n < FRAME; n++)
        expected[n] = NAN;
    numbers_expect(volume, expected);
    /* Into whole numbers NaN is 0. */
    cc_image *whole = fixture_image(CC_PIXEL_INT16, 1, 2, I, J, 1);
    fixture_ok(cc_image_interpolate_frames(frames, -0.5, CC_BORDER_REPLICATE, whole, STREAM));
    memset(expected, 0, sizeof expected);
    numbers_expect(whole, expected);
    cc_image_release(frames);
    cc_image_release(volume);
    cc_image_release(whole);
}
END_TEST

/* Between frames of one image into another frame of it, and in place. */
START_TEST(frames_of_the_same_image)
{
    double values[FRAME * FRAMES];
    const cc_region third = {{5, 6, 1, 0}, {I, J, 1, 1}};
    cc_image *volume = NULL;
    fill_values(values, FRAME * FRAMES);
    cc_image *frames = frames_image(CC_PIXEL_FLOAT32, 1, values);
    fixture_ok(cc_image_create_view(frames, &third, &volume));
    fixture_ok(cc_image_interpolate_frames(frames, -0.5, CC_BORDER_REPLICATE, volume, STREAM));
    for (int32_t n = 0; n < FRAME; n++)
        values[2 * FRAME + n] = 0.5 * values[n] + 0.5 * values[FRAME + n];
    numbers_expect(frames, values);
    fixture_ok(cc_image_interpolate_frames(frames, 0.5, CC_BORDER_REPLICATE, volume, STREAM));
    for (int32_t n = 0; n < FRAME; n++)
        values[2 * FRAME + n] = 0.5 * values[FRAME + n] + 0.5 * values[2 * FRAME + n];
    numbers_expect(frames, values);
    fixture_ok(cc_image_splat_frames(volume, -1, CC_BORDER_REPLICATE, frames, STREAM));
    for (int32_t n = 0; n < FRAME; n++)
        values[n] += values[2 * FRAME + n];
    numbers_expect(frames, values);
    expect_failure(CC_ERROR_BUSY, "", cc_image_splat_frames(volume, 0.5, CC_BORDER_REPLICATE, frames, STREAM));
    expect_failure(CC_ERROR_BUSY, "", cc_image_average_frames(frames, volume, STREAM));
    numbers_expect(frames, values);
    cc_image_release(frames);
    cc_image_release(volume);
}
END_TEST

/* Large enough for several threads on the host. */
START_TEST(large_frames)
{
    enum {
        WIDE = 1000,
        HIGH = 1000
    };
    cc_image *frames = fixture_image(CC_PIXEL_FLOAT32, 1, 3, WIDE, HIGH, 2);
    cc_image *volume = fixture_image(CC_PIXEL_FLOAT32, 1, 2, WIDE, HIGH, 1);
    float *pixels = NULL;
    int32_t wrong = 0;
    cc__crew_cores = 3;
    fixture_ok(cc_image_map_host(frames, NULL, CC_ACCESS_WRITE, (void **)&pixels));
    for (int32_t n = 0; n < 2 * WIDE * HIGH; n++)
        pixels[n] = (float)n;
    fixture_ok(cc_image_unmap_host(frames, pixels));
    fixture_ok(cc_image_interpolate_frames(frames, 0.25, CC_BORDER_REPLICATE, volume, STREAM));
    fixture_ok(cc_image_map_host(volume, NULL, CC_ACCESS_READ, (void **)&pixels));
    for (int32_t n = 0; n < WIDE * HIGH; n++)
        wrong += pixels[n] != (float)(0.75 * n + 0.25 * (n + WIDE * HIGH));
    fixture_ok(cc_image_unmap_host(volume, pixels));
    fixture_ok(cc_image_average_frames(frames, volume, STREAM));
    fixture_ok(cc_image_map_host(volume, NULL, CC_ACCESS_READ, (void **)&pixels));
    for (int32_t n = 0; n < WIDE * HIGH; n++)
        wrong += pixels[n] != (float)(n + 0.5 * WIDE * HIGH);
    fixture_ok(cc_image_unmap_host(volume, pixels));
    ck_assert_int_eq(wrong, 0);
    cc__crew_cores = 0;
    cc_image_release(frames);
    cc_image_release(volume);
}
END_TEST

/* Only the frames that count are brought to the device. */
START_TEST(only_two_frames_move)
{
    double values[FRAME * FRAMES] = {0};
    if (fixture_device_count() == 0)
        return;
    cc_image *frames = frames_image(CC_PIXEL_UINT8, 1, values), *volume = fixture_image(CC_PIXEL_UINT8, 1, 2, I, J, 1);
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(frames, NULL, CC_ACCESS_WRITE, &pixels));
    memset(pixels, 1, FRAME * FRAMES);
    fixture_ok(cc_image_unmap_host(frames, pixels));
    fixture_ok(cc_image_reset_counters(frames));
    fixture_ok(cc_image_interpolate_frames(frames, 0.5, CC_BORDER_REPLICATE, volume, STREAM));
    ck_assert_int_eq((int64_t)fixture_counters(frames).host_to_device_bytes, 2 * FRAME);
    fixture_ok(cc_image_splat_frames(volume, 2, CC_BORDER_REPLICATE, frames, STREAM));
    ck_assert_int_eq((int64_t)fixture_counters(frames).host_to_device_bytes, 3 * FRAME);
    cc_image_release(frames);
    cc_image_release(volume);
}
END_TEST

START_TEST(refusals)
{
    double values[FRAME * FRAMES];
    const cc_status invalid = CC_ERROR_INVALID_ARGUMENT;
    const cc_border border = CC_BORDER_REPLICATE;
    fill_values(values, FRAME * FRAMES);
    cc_image *frames = frames_image(CC_PIXEL_FLOAT32, 1, values),
             *volume = fixture_image(CC_PIXEL_FLOAT32, 1, 2, I, J, 1);
    cc_image *line = fixture_image(CC_PIXEL_FLOAT32, 1, 1, I, 1, 1),
             *point = fixture_image(CC_PIXEL_FLOAT32, 1, 1, 1, 1, 1);
    cc_image *wide = fixture_image(CC_PIXEL_FLOAT32, 1, 2, I + 1, J, 1),
             *pair = fixture_image(CC_PIXEL_FLOAT32, 2, 2, I, J, 1);
    cc_image *complex = fixture_image(CC_PIXEL_COMPLEX64, 1, 2, I, J, 1);
    cc_image *none = fixture_image(CC_PIXEL_FLOAT32, 1, 3, I, J, 0),
             *empty = fixture_image(CC_PIXEL_FLOAT32, 1, 3, 0, J, 2);
    cc_image *no_pixels = fixture_image(CC_PIXEL_FLOAT32, 1, 2, 0, J, 1);

    expect_failure(invalid, "input", cc_image_interpolate_frames(NULL, 0, border, volume, STREAM));
    expect_failure(invalid, "output", cc_image_interpolate_frames(frames, 0, border, NULL, STREAM));
    expect_failure(invalid, "position", cc_image_interpolate_frames(frames, NAN, border, volume, STREAM));
    expect_failure(invalid, "position", cc_image_interpolate_frames(frames, INFINITY, border, volume, STREAM));
    expect_failure(invalid, "border = 0", cc_image_interpolate_frames(frames, 0, CC_BORDER_CONSTANT, volume, STREAM));
    expect_failure(invalid, "border = 3", cc_image_interpolate_frames(frames, 0, CC_BORDER_SYMMETRIC, volume, STREAM));
    expect_failure(invalid, "1 dimension", cc_image_interpolate_frames(line, 0, border, point, STREAM));
    expect_failure(CC_ERROR_SIZE, "size[0] = 8", cc_image_interpolate_frames(frames, 0, border, wide, STREAM));
    expect_failure(CC_ERROR_SIZE, "size[2] = 4", cc_image_interpolate_frames(frames, 0, border, frames, STREAM));
    expect_failure(CC_ERROR_SIZE, "components", cc_image_interpolate_frames(frames, 0, border, pair, STREAM));
    expect_failure(CC_ERROR_SIZE, "no frame", cc_image_interpolate_frames(none, 0, border, volume, STREAM));
    expect_failure(CC_ERROR_PIXEL_TYPE, "c64", cc_image_interpolate_frames(frames, 0, border, complex, STREAM));

    expect_failure(invalid, "input", cc_image_splat_frames(NULL, 0, border, frames, STREAM));
    expect_failure(invalid, "output", cc_image_splat_frames(volume, 0, border, NULL, STREAM));
    expect_failure(invalid, "position", cc_image_splat_frames(volume, NAN, border, frames, STREAM));
    expect_failure(invalid, "border", cc_image_splat_frames(volume, 0, (cc_border)7, frames, STREAM));
    expect_failure(CC_ERROR_SIZE, "size[0] = 8", cc_image_splat_frames(wide, 0, border, frames, STREAM));
    expect_failure(CC_ERROR_PIXEL_TYPE, "c64", cc_image_splat_frames(complex, 0, border, frames, STREAM));

    expect_failure(invalid, "input", cc_image_average_frames(NULL, volume, STREAM));
    expect_failure(invalid, "output", cc_image_average_frames(frames, NULL, STREAM));
    expect_failure(CC_ERROR_SIZE, "size[0] = 8", cc_image_average_frames(frames, wide, STREAM));
    expect_failure(CC_ERROR_SIZE, "no frame", cc_image_average_frames(none, volume, STREAM));

    fixture_ok(cc_image_interpolate_frames(empty, 0.5, border, no_pixels, STREAM));
    fixture_ok(cc_image_splat_frames(no_pixels, 0.5, border, empty, STREAM));
    fixture_ok(cc_image_average_frames(empty, no_pixels, STREAM));

    void *pixels = NULL;
    fixture_ok(cc_image_map_host(frames, NULL, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_BUSY, "", cc_image_splat_frames(volume, 0.5, border, frames, STREAM));
    fixture_ok(cc_image_unmap_host(frames, pixels));
    numbers_expect(frames, values);
    cc_image_release(frames);
    cc_image_release(volume);
    cc_image_release(line);
    cc_image_release(point);
    cc_image_release(wide);
    cc_image_release(pair);
    cc_image_release(complex);
    cc_image_release(none);
    cc_image_release(empty);
    cc_image_release(no_pixels);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("frames");
    TCase *tcase = tcase_create("frames");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_loop_test(tcase, interpolation_is_linear, 0, 2 * TYPES);
    tcase_add_loop_test(tcase, splatting_adds_to_two_frames, 0, 2 * TYPES);
    tcase_add_test(tcase, splatting_is_the_adjoint);
    tcase_add_loop_test(tcase, averages, 0, TYPES);
    tcase_add_test(tcase, special_numbers);
    tcase_add_test(tcase, frames_of_the_same_image);
    tcase_add_test(tcase, large_frames);
    tcase_add_test(tcase, only_two_frames_move);
    tcase_add_test(tcase, refusals);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
