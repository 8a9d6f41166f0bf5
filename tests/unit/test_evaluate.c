/*
 * Expressions: values from plain arithmetic and from tests/data/make_evaluate_reference, for every kind of numbers;
 * what is refused. On the host, the emulated devices and a GPU alike.
 */
#include "base/allocate.h"
#include "base/past_cache.h"
#include "data/evaluate_reference.h"
#include "memory/crew.h"
#include "support/expect.h"
#include "support/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STREAM CC_STREAM_DEFAULT
#define COUNT(LIST) ((int32_t)(sizeof(LIST) / sizeof((LIST)[0])))

/* The steps run where the first input has memory: here, on the first device. */
static cc_status evaluate(const cc_step *steps, int32_t step_count, cc_image *first, cc_image *second, cc_image *output)
{
    cc_image *const inputs[] = {first, second};
    return cc_image_evaluate(steps, step_count, inputs, second != NULL ? 2 : 1, output, STREAM);
}

/* What a double becomes in a type: rounded half to even, clamped; NaN 0. */
static double into(cc_pixel_type type, double value)
{
    double least = 0, greatest = 0;
    switch (type) {
    case CC_PIXEL_BOOL:
        return value != 0;
    case CC_PIXEL_UINT8:
        greatest = UINT8_MAX;
        break;
    case CC_PIXEL_INT16:
        least = INT16_MIN, greatest = INT16_MAX;
        break;
    case CC_PIXEL_UINT16:
        greatest = UINT16_MAX;
        break;
    case CC_PIXEL_INT32:
        least = INT32_MIN, greatest = INT32_MAX;
        break;
    case CC_PIXEL_FLOAT32:
        return (double)(float)value;
    default:
        return value;
    }
    value = isnan(value) ? 0 : nearbyint(value);
    value = value < least ? least : value > greatest ? greatest : value;
    return value + 0.0;
}

static double lesser(double x, double y)
{
    if (isnan(x) || isnan(y))
        return NAN;
    return x < y || (x == y && signbit(x)) ? x : y;
}

static double greater(double x, double y)
{
    if (isnan(x) || isnan(y))
        return NAN;
    return x > y || (x == y && !signbit(x)) ? x : y;
}

static double plain(cc_step_kind kind, double x, double a, double b)
{
    volatile double product = x * a;
    switch (kind) {
    case CC_STEP_LOAD:
        return a;
    case CC_STEP_ADD:
        return x + a;
    case CC_STEP_SUBTRACT:
        return x - a;
    case CC_STEP_MULTIPLY:
        return product;
    case CC_STEP_DIVIDE:
        return x / a;
    case CC_STEP_MINIMUM:
        return lesser(x, a);
    case CC_STEP_MAXIMUM:
        return greater(x, a);
    case CC_STEP_MULTIPLY_ADD:
        return product + b;
    case CC_STEP_CLAMP:
        return lesser(greater(x, a), b);
    case CC_STEP_WITHIN:
        return a <= x && x <= b;
    case CC_STEP_LESS:
        return x < a;
    case CC_STEP_EQUAL:
        return x == a;
    case CC_STEP_SELECT:
        return x != 0 ? a : b;
    case CC_STEP_NEGATE:
        return -x;
    case CC_STEP_ABSOLUTE:
        return fabs(x);
    case CC_STEP_SQUARE:
        return x * x;
    case CC_STEP_SQUARE_ROOT:
        return sqrt(x);
    case CC_STEP_REAL:
    case CC_STEP_CONJUGATE:
        return x;
    case CC_STEP_IMAGINARY:
        return 0;
    case CC_STEP_ARGUMENT:
        return isnan(x) ? x : signbit(x) ? 0x1.921fb54442d18p+1 : 0;
    }
    return 0;
}

static const double specials[] = {0.0,    -0.0,    1.0,   -1.0,   2.5,      -7.0,      3.0,        0.1,  1e-45,
                                  3.0e38, -3.0e38, 1e300, NAN,    INFINITY, -INFINITY, 16777217.0, -2.5, 0.5,
                                  255,    256,     65535, 1e-310, -128,     127,       4.9e-324};
#define SPECIALS COUNT(specials)

static const cc_step_kind kinds[] = {
    CC_STEP_LOAD,         CC_STEP_ADD,       CC_STEP_SUBTRACT, CC_STEP_MULTIPLY, CC_STEP_DIVIDE, CC_STEP_MINIMUM,
    CC_STEP_MAXIMUM,      CC_STEP_CLAMP,     CC_STEP_WITHIN,   CC_STEP_LESS,     CC_STEP_EQUAL,  CC_STEP_SELECT,
    CC_STEP_MULTIPLY_ADD, CC_STEP_REAL,      CC_STEP_NEGATE,   CC_STEP_ABSOLUTE, CC_STEP_SQUARE, CC_STEP_SQUARE_ROOT,
    CC_STEP_IMAGINARY,    CC_STEP_CONJUGATE, CC_STEP_ARGUMENT};

static int32_t operands_of(cc_step_kind kind)
{
    switch (kind) {
    case CC_STEP_MULTIPLY_ADD:
    case CC_STEP_CLAMP:
    case CC_STEP_WITHIN:
    case CC_STEP_SELECT:
        return 2;
    case CC_STEP_LOAD:
    case CC_STEP_ADD:
    case CC_STEP_SUBTRACT:
    case CC_STEP_MULTIPLY:
    case CC_STEP_DIVIDE:
    case CC_STEP_MINIMUM:
    case CC_STEP_MAXIMUM:
    case CC_STEP_LESS:
    case CC_STEP_EQUAL:
        return 1;
    case CC_STEP_NEGATE:
    case CC_STEP_ABSOLUTE:
    case CC_STEP_SQUARE:
    case CC_STEP_SQUARE_ROOT:
    case CC_STEP_REAL:
    case CC_STEP_IMAGINARY:
    case CC_STEP_CONJUGATE:
    case CC_STEP_ARGUMENT:
        break;
    }
    return 0;
}

static cc_step step_of(cc_step_kind kind, cc_operand a, cc_operand b)
{
    const cc_operand none = CC_TAKE_NOTHING;
    return (cc_step){kind, 0, operands_of(kind) > 0 ? a : none, operands_of(kind) > 1 ? b : none};
}

/* Every step on every pair of special values; the values of the types as C has them. */
static void check_steps_between(cc_pixel_type first_type, cc_pixel_type second_type, cc_pixel_type output_type)
{
    const cc_operand second = CC_TAKE_IMAGE(1), value = CC_TAKE_VALUE(2.5);
    double x[SPECIALS * SPECIALS], y[SPECIALS * SPECIALS], expected[SPECIALS * SPECIALS];
    for (int32_t n = 0; n < SPECIALS * SPECIALS; ++n) {
        x[n] = into(first_type, specials[n % SPECIALS]);
        y[n] = into(second_type, specials[n / SPECIALS]);
    }
    cc_image *first = numbers_image(first_type, 1, SPECIALS, SPECIALS, x),
             *other = numbers_image(second_type, 1, SPECIALS, SPECIALS, y),
             *output = fixture_image(output_type, 1, 2, SPECIALS, SPECIALS, 1);
    fixture_bring_to_device(first);
    for (int32_t k = 0; k < COUNT(kinds); ++k) {
        for (int32_t swapped = 0; swapped < 2; ++swapped) {
            const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)),
                                     step_of(kinds[k], swapped ? value : second, swapped ? second : value)};
            for (int32_t n = 0; n < SPECIALS * SPECIALS; ++n)
                expected[n] = into(output_type, plain(kinds[k], x[n], swapped ? 2.5 : y[n], swapped ? y[n] : 2.5));
            fixture_ok(evaluate(steps, 2, first, other, output));
            numbers_expect(output, expected);
        }
    }
    cc_image_release(first);
    cc_image_release(other);
    cc_image_release(output);
}

static const cc_pixel_type real_types[] = {CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT64, CC_PIXEL_UINT8, CC_PIXEL_INT16,
                                           CC_PIXEL_INT32,   CC_PIXEL_UINT16,  CC_PIXEL_BOOL};

START_TEST(every_step_between_real_types)
{
    const int32_t count = COUNT(real_types);
    for (int32_t second = 0; second < count; ++second)
        check_steps_between(real_types[_i % count], real_types[second], real_types[_i / count]);
}
END_TEST

/* 64 bits are exact, and what leaves them is clamped. */
START_TEST(whole_numbers_as_python_has_them)
{
    const int32_t count = COUNT(whole_cases);
    cc_image *a = fixture_image(CC_PIXEL_INT64, 1, 1, count, 1, 1),
             *b = fixture_image(CC_PIXEL_UINT64, 1, 1, count, 1, 1);
    uint64_t *values[2] = {NULL, NULL};
    fixture_ok(cc_image_map_host(a, NULL, CC_ACCESS_WRITE, (void **)&values[0]));
    fixture_ok(cc_image_map_host(b, NULL, CC_ACCESS_WRITE, (void **)&values[1]));
    for (int32_t n = 0; n < count; ++n) {
        values[0][n] = whole_cases[n].a;
        values[1][n] = whole_cases[n].b;
    }
    fixture_ok(cc_image_unmap_host(a, values[0]));
    fixture_ok(cc_image_unmap_host(b, values[1]));
    fixture_bring_to_device(a);
    for (int32_t is_signed = 0; is_signed < 2; ++is_signed) {
        cc_image *output = fixture_image(is_signed ? CC_PIXEL_INT64 : CC_PIXEL_UINT64, 1, 1, count, 1, 1);
        for (int32_t n = 0, next = 0; n < count; n = next) {
            const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)),
                                     CC_STEP1(whole_cases[n].kind, CC_TAKE_IMAGE(1))};
            uint64_t *found = NULL;
            fixture_ok(evaluate(steps, 2, a, b, output));
            fixture_ok(cc_image_map_host(output, NULL, CC_ACCESS_READ, (void **)&found));
            for (next = n; next < count && whole_cases[next].kind == whole_cases[n].kind; ++next) {
                const whole_case *one = &whole_cases[next];
                ck_assert_msg(found[next] == (is_signed ? one->as_int64 : one->as_uint64),
                              "step %d of %#llx and %#llx is %#llx", one->kind, (unsigned long long)one->a,
                              (unsigned long long)one->b, (unsigned long long)found[next]);
            }
            fixture_ok(cc_image_unmap_host(output, found));
        }
        cc_image_release(output);
    }
    cc_image_release(a);
    cc_image_release(b);
}
END_TEST

/* The other steps, on small numbers: what float64 gives is exact there. */
START_TEST(whole_numbers_do_every_step)
{
    double x[99], y[99], expected[99];
    for (int32_t n = 0; n < 99; ++n) {
        x[n] = n - 49;
        y[n] = n % 7 - 3;
    }
    cc_image *first = numbers_image(CC_PIXEL_INT64, 1, 33, 3, x), *second = numbers_image(CC_PIXEL_INT8, 1, 33, 3, y);
    const cc_pixel_type types[] = {CC_PIXEL_INT64, CC_PIXEL_INT32, CC_PIXEL_UINT8, CC_PIXEL_BOOL};
    fixture_bring_to_device(first);
    for (int32_t type = 0; type < COUNT(types); ++type) {
        cc_image *output = fixture_image(types[type], 1, 2, 33, 3, 1);
        for (int32_t k = 0; k < COUNT(kinds); ++k) {
            const cc_operand a = CC_TAKE_IMAGE(1), b = CC_TAKE_VALUE(2);
            if (kinds[k] == CC_STEP_SQUARE_ROOT || kinds[k] == CC_STEP_ARGUMENT || kinds[k] == CC_STEP_DIVIDE)
                continue;
            const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)), step_of(kinds[k], a, b)};
            for (int32_t n = 0; n < 99; ++n)
                expected[n] = into(types[type], plain(kinds[k], x[n], y[n], 2)) + 0.0;
            fixture_ok(evaluate(steps, 2, first, second, output));
            numbers_expect(output, expected);
        }
        cc_image_release(output);
    }
    cc_image_release(first);
    cc_image_release(second);
}
END_TEST

/* A value with a fraction makes them float64: 2^53 + 1 is then 2^53. */
START_TEST(a_fraction_ends_whole_numbers)
{
    cc_image *image = fixture_image(CC_PIXEL_INT64, 1, 1, 1, 1, 1);
    const int64_t odd = ((int64_t)1 << 53) + 1;
    const double values[] = {1.0, 1.25};
    for (int32_t n = 0; n < 2; ++n) {
        int64_t *found = NULL;
        fixture_ok(cc_image_fill(image, NULL, &odd, STREAM));
        fixture_ok(cc_image_multiply_value(image, values[n], image, STREAM));
        fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, (void **)&found));
        ck_assert_int_eq(*found, n == 0 ? odd : ((int64_t)1 << 53) / 4 * 5);
        fixture_ok(cc_image_unmap_host(image, found));
    }
    cc_image_release(image);
}
END_TEST

START_TEST(complex_products_and_quotients_as_python_has_them)
{
    const int32_t count = COUNT(complex_cases);
    double *numbers[4];
    for (int32_t part = 0; part < 4; ++part) {
        numbers[part] = malloc((size_t)count * 2 * sizeof(double));
        ck_assert_ptr_nonnull(numbers[part]);
        for (int32_t n = 0; n < count; ++n)
            memcpy(&numbers[part][2 * n], &complex_cases[n][2 * part], 2 * sizeof(double));
    }
    cc_image *a = numbers_image(CC_PIXEL_COMPLEX128, 1, count, 1, numbers[0]),
             *b = numbers_image(CC_PIXEL_COMPLEX128, 1, count, 1, numbers[1]),
             *output = fixture_image(CC_PIXEL_COMPLEX128, 1, 2, count, 1, 1);
    fixture_bring_to_device(b);
    fixture_ok(cc_image_multiply(a, b, output, STREAM));
    numbers_expect(output, numbers[2]);
    fixture_ok(cc_image_divide(a, b, output, STREAM));
    numbers_expect(output, numbers[3]);
    for (int32_t part = 0; part < 4; ++part)
        free(numbers[part]);
    cc_image_release(a);
    cc_image_release(b);
    cc_image_release(output);
}
END_TEST

/* Within a bound of the C library's, which rounds otherwise. */
static void expect_near(const double *found, const double *expected, int64_t count, double bound)
{
    for (int64_t n = 0; n < count; ++n) {
        const double most = bound * fabs(expected[n]);
        if (isnan(expected[n]) || isinf(expected[n]))
            ck_assert(memcmp(&found[n], &expected[n], sizeof found[n]) == 0 || (isnan(found[n]) && isnan(expected[n])));
        else
            ck_assert_msg(fabs(found[n] - expected[n]) <= most && signbit(found[n]) == signbit(expected[n]),
                          "number %lld is %.17g, expected %.17g", (long long)n, found[n], expected[n]);
    }
}

START_TEST(magnitude_and_angle_of_complex_values)
{
    enum {
        COUNT = SPECIALS * SPECIALS + 4000
    };
    double *z = malloc(2 * COUNT * sizeof *z), *expected = malloc(COUNT * sizeof *expected);
    ck_assert(z != NULL && expected != NULL);
    for (int32_t n = 0; n < COUNT; ++n) {
        const int32_t turn = n - SPECIALS * SPECIALS;
        z[2 * n] = turn < 0 ? specials[n % SPECIALS] : 3 * cos(turn * 0.00157);
        z[2 * n + 1] = turn < 0 ? specials[n / SPECIALS] : 0.7 * sin(turn * 0.00157);
    }
    cc_image *image = numbers_image(CC_PIXEL_COMPLEX128, 1, COUNT, 1, z),
             *output = fixture_image(CC_PIXEL_FLOAT64, 1, 2, COUNT, 1, 1);
    fixture_bring_to_device(image);
    fixture_ok(cc_image_absolute(image, output, STREAM));
    double *found = numbers_of(output);
    for (int32_t n = 0; n < COUNT; ++n)
        expected[n] = hypot(z[2 * n], z[2 * n + 1]);
    expect_near(found, expected, COUNT, 0x1p-51);
    free(found);
    fixture_ok(cc_image_argument(image, output, STREAM));
    found = numbers_of(output);
    for (int32_t n = 0; n < COUNT; ++n)
        expected[n] = atan2(z[2 * n + 1], z[2 * n]);
    expect_near(found, expected, COUNT, 0x1p-51);
    free(found);
    free(z);
    free(expected);
    cc_image_release(image);
    cc_image_release(output);
}
END_TEST

START_TEST(parts_of_complex_values_and_real_operands)
{
    const double z[] = {1, 2, -3, 0.5, 0, -4}, real[] = {2, -1, 0};
    cc_image *image = numbers_image(CC_PIXEL_COMPLEX64, 1, 3, 1, z),
             *factor = numbers_image(CC_PIXEL_INT16, 1, 3, 1, real),
             *output = fixture_image(CC_PIXEL_FLOAT32, 1, 2, 3, 1, 1),
             *both = fixture_image(CC_PIXEL_COMPLEX64, 1, 2, 3, 1, 1),
             *truth = fixture_image(CC_PIXEL_BOOL, 1, 2, 3, 1, 1);
    fixture_bring_to_device(image);
    fixture_ok(cc_image_real(image, output, STREAM));
    numbers_expect(output, (const double[]){1, -3, 0});
    fixture_ok(cc_image_imaginary(image, output, STREAM));
    numbers_expect(output, (const double[]){2, 0.5, -4});
    fixture_ok(cc_image_conjugate(image, both, STREAM));
    numbers_expect(both, (const double[]){1, -2, -3, -0.5, 0, 4});
    fixture_ok(cc_image_square(image, both, STREAM));
    numbers_expect(both, (const double[]){-3, 4, 8.75, -3, -16, -0.0});
    fixture_ok(cc_image_multiply(image, factor, both, STREAM));
    numbers_expect(both, (const double[]){2, 4, 3, -0.5, 0, -0.0});
    fixture_ok(cc_image_add(factor, image, both, STREAM));
    numbers_expect(both, (const double[]){3, 2, -4, 0.5, 0, -4});
    fixture_ok(cc_image_divide(image, factor, both, STREAM));
    numbers_expect(both, (const double[]){0.5, 1, 3, -0.5, NAN, -INFINITY});
    fixture_ok(cc_image_subtract_value(image, 1, both, STREAM));
    numbers_expect(both, (const double[]){0, 2, -4, 0.5, -1, -4});
    fixture_ok(cc_image_cast(factor, both, STREAM));
    numbers_expect(both, (const double[]){2, 0, -1, 0, 0, 0});
    /* A complex value is 0 when both parts are. */
    fixture_ok(cc_image_multiply_value(image, 1, truth, STREAM));
    numbers_expect(truth, (const double[]){1, 1, 1});
    /* A magnitude is real, and may be ordered. */
    const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)), CC_STEP0(CC_STEP_SQUARE),
                             CC_STEP0(CC_STEP_ABSOLUTE), CC_STEP1(CC_STEP_MINIMUM, CC_TAKE_VALUE(9))};
    fixture_ok(evaluate(steps, 4, image, NULL, output));
    numbers_expect(output, (const double[]){5, 9, 9});
    expect_failure(CC_ERROR_PIXEL_TYPE, "", cc_image_minimum_value(image, 1, both, STREAM));
    expect_failure(CC_ERROR_PIXEL_TYPE, "", cc_image_square_root(image, both, STREAM));
    expect_failure(CC_ERROR_PIXEL_TYPE, "", cc_image_maximum(factor, image, output, STREAM));
    expect_failure(CC_ERROR_PIXEL_TYPE, "", cc_image_clamp(image, 0, 1, output, STREAM));
    expect_failure(CC_ERROR_PIXEL_TYPE, "", cc_image_threshold(image, 0, 1, 1, 0, output, STREAM));
    cc_image_release(image);
    cc_image_release(factor);
    cc_image_release(output);
    cc_image_release(both);
    cc_image_release(truth);
}
END_TEST

/* Sums, differences, casts and what values scale, which are done as if the parts were pixels; and what must not be. */
START_TEST(complex_steps_that_leave_the_parts_apart)
{
    const double x[] = {1, 2, -3, 0.5, INFINITY, -4, NAN, 0, -0.0, 7, 1e30, -1e-30},
                 y[] = {4, -2, 3, -0.5, 1, INFINITY, 2, 0, -0.0, -7, 1, 1}, one[] = {10, 20, 30, 40};
    cc_image *a = numbers_image(CC_PIXEL_COMPLEX64, 2, 3, 1, x), *b = numbers_image(CC_PIXEL_COMPLEX128, 2, 3, 1, y),
             *pixel = numbers_image(CC_PIXEL_COMPLEX128, 2, 1, 1, one),
             *single = numbers_image(CC_PIXEL_COMPLEX128, 1, 1, 1, one),
             *column = numbers_image(CC_PIXEL_COMPLEX64, 1, 3, 1, x),
             *output = fixture_image(CC_PIXEL_COMPLEX128, 2, 2, 3, 1, 1);
    fixture_bring_to_device(a);
    fixture_ok(cc_image_add(a, b, output, STREAM));
    numbers_expect(output, (const double[]){5, 0, 0, 0, INFINITY, INFINITY, NAN, 0, -0.0, 0, (float)1e30 + 1.0, 1});
    fixture_ok(cc_image_cast(a, output, STREAM));
    fixture_ok(cc_image_subtract(output, b, output, STREAM));
    numbers_expect(output, (const double[]){-3, 4, -6, 1, INFINITY, -INFINITY, NAN, 0, 0, 14, (float)1e30 - 1.0, -1});
    fixture_ok(cc_image_multiply_value(b, -2, output, STREAM));
    numbers_expect(output, (const double[]){-8, 4, -6, 1, -2, -INFINITY, -4, -0.0, 0, 14, -2, -2});
    fixture_ok(cc_image_divide_value(b, 0, output, STREAM));
    numbers_expect(output, (const double[]){INFINITY, -INFINITY, INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY, NAN,
                                            NAN, -INFINITY, INFINITY, INFINITY});
    fixture_ok(cc_image_add_value(b, 1, output, STREAM));
    numbers_expect(output, (const double[]){5, -2, 4, -0.5, 2, INFINITY, 3, 0, 1, -7, 2, 1});
    /* One pixel or component for all, which has a real and an imaginary part all the same. */
    fixture_ok(cc_image_add(b, pixel, output, STREAM));
    numbers_expect(output, (const double[]){14, 18, 33, 39.5, 11, INFINITY, 32, 40, 10, 13, 31, 41});
    fixture_ok(cc_image_subtract(b, single, output, STREAM));
    numbers_expect(output, (const double[]){-6, -22, -7, -20.5, -9, INFINITY, -8, -20, -10, -27, -9, -19});
    fixture_ok(cc_image_subtract(b, column, output, STREAM));
    numbers_expect(output, (const double[]){3, -4, 2, -2.5, 4, INFINITY, 5, -0.5, -INFINITY, -3, -INFINITY, 5});
    fixture_ok(cc_image_subtract(b, single, output, STREAM));
    fixture_ok(cc_image_axpy(0.5, b, output, STREAM));
    numbers_expect(output, (const double[]){-4, -23, -5.5, -20.75, -8.5, INFINITY, -7, -20, -10, -30.5, -8.5, -18.5});
    cc_image *const all[] = {a, b, pixel, single, column, output};
    for (int32_t n = 0; n < COUNT(all); ++n)
        cc_image_release(all[n]);
}
END_TEST

START_TEST(one_pixel_or_component_counts_for_all)
{
    const double pixels[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, column[] = {10, 20}, row[] = {1, 2, 3},
                 mask[] = {0, 1, 1, 1, 0, 1};
    cc_image *image = numbers_image(CC_PIXEL_FLOAT32, 2, 3, 2, pixels),
             *per_row = numbers_image(CC_PIXEL_INT16, 1, 1, 2, column),
             *per_column = numbers_image(CC_PIXEL_UINT8, 1, 3, 1, row),
             *masked = numbers_image(CC_PIXEL_BOOL, 1, 3, 2, mask),
             *pixel = numbers_image(CC_PIXEL_FLOAT64, 2, 1, 1, column),
             *output = fixture_image(CC_PIXEL_FLOAT32, 2, 2, 3, 2, 1),
             *small = fixture_image(CC_PIXEL_FLOAT32, 2, 2, 1, 1, 1);
    fixture_bring_to_device(image);
    fixture_ok(cc_image_add(image, per_row, output, STREAM));
    numbers_expect(output, (const double[]){11, 12, 13, 14, 15, 16, 27, 28, 29, 30, 31, 32});
    fixture_ok(cc_image_multiply(per_column, image, output, STREAM));
    numbers_expect(output, (const double[]){1, 2, 6, 8, 15, 18, 7, 8, 18, 20, 33, 36});
    fixture_ok(cc_image_multiply(image, masked, output, STREAM));
    numbers_expect(output, (const double[]){0, 0, 3, 4, 5, 6, 7, 8, 0, 0, 11, 12});
    fixture_ok(cc_image_subtract(image, pixel, output, STREAM));
    numbers_expect(output, (const double[]){-9, -18, -7, -16, -5, -14, -3, -12, -1, -10, 1, -8});
    fixture_ok(cc_image_cast(per_column, output, STREAM));
    numbers_expect(output, (const double[]){1, 1, 2, 2, 3, 3, 1, 1, 2, 2, 3, 3});
    expect_failure(CC_ERROR_SIZE, "size[0] = 3", cc_image_add(image, pixel, small, STREAM));
    expect_failure(CC_ERROR_SIZE, "components", cc_image_add(image, image, masked, STREAM));
    cc_image *const all[] = {image, per_row, per_column, masked, pixel, output, small};
    for (int32_t n = 0; n < COUNT(all); ++n)
        cc_image_release(all[n]);
}
END_TEST

START_TEST(components_and_magnitudes_of_vectors)
{
    const double pixels[] = {3, 4, 0, 0, 0, 0, -1, 2, 2, 2, 3, 6}, z[] = {3, 0, 0, 4, 1, 1, 1, 1};
    cc_image *image = numbers_image(CC_PIXEL_FLOAT32, 3, 2, 2, pixels),
             *single = fixture_image(CC_PIXEL_FLOAT64, 1, 2, 2, 2, 1),
             *output = fixture_image(CC_PIXEL_FLOAT32, 3, 2, 2, 2, 1),
             *complexes = numbers_image(CC_PIXEL_COMPLEX64, 2, 1, 2, z),
             *pair = fixture_image(CC_PIXEL_FLOAT32, 1, 2, 1, 2, 1);
    fixture_bring_to_device(image);
    fixture_ok(cc_image_magnitude(image, single, STREAM));
    numbers_expect(single, (const double[]){5, 0, 3, 7});
    fixture_ok(cc_image_magnitude(complexes, pair, STREAM));
    numbers_expect(pair, (const double[]){5, 2});
    fixture_ok(cc_image_component(image, 2, single, STREAM));
    numbers_expect(single, (const double[]){0, 0, 2, 6});
    /* Unit vectors, and one component taken from all. */
    const cc_step normalise[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)),
                                 CC_STEP1(CC_STEP_DIVIDE, CC_TAKE_MAGNITUDE(0))};
    fixture_ok(evaluate(normalise, 2, image, NULL, output));
    numbers_expect(output,
                   (const double[]){(double)0.6F, (double)0.8F, 0, NAN, NAN, NAN, (double)(-1 / 3.F), (double)(2 / 3.F),
                                    (double)(2 / 3.F), (double)(2 / 7.F), (double)(3 / 7.F), (double)(6 / 7.F)});
    const cc_step relative[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)),
                                CC_STEP1(CC_STEP_SUBTRACT, CC_TAKE_COMPONENT(0, 1))};
    fixture_ok(evaluate(relative, 2, image, NULL, output));
    numbers_expect(output, (const double[]){-1, 0, -4, 0, 0, 0, -3, 0, 0, -1, 0, 3});
    /* In place other components may be gone already. */
    expect_failure(CC_ERROR_BUSY, "inputs[0]", cc_image_evaluate(relative, 2, &image, 1, image, STREAM));
    expect_failure(CC_ERROR_BUSY, "inputs[0]", cc_image_evaluate(normalise, 2, &image, 1, image, STREAM));
    expect_failure(CC_ERROR_SIZE, "3 components", cc_image_magnitude(image, output, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "component = 3", cc_image_component(image, 3, single, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "component = -1", cc_image_component(image, -1, single, STREAM));
    fixture_ok(cc_image_magnitude(single, single, STREAM));
    numbers_expect(single, (const double[]){0, 0, 2, 6});
    cc_image *const all[] = {image, single, output, complexes, pair};
    for (int32_t n = 0; n < COUNT(all); ++n)
        cc_image_release(all[n]);
}
END_TEST

/* Earlier values are there as often as they are asked for, after others have taken the running value's place. */
START_TEST(long_lists_of_steps)
{
    const double x[] = {1, 2, 3, 4, 5}, y[] = {2, 0, -1, 5, 7};
    const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)),                         /* x */
                             CC_STEP0(CC_STEP_SQUARE),                                         /* x^2 */
                             CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(1)),                         /* y */
                             CC_STEP2(CC_STEP_MULTIPLY_ADD, CC_TAKE_STEP(0), CC_TAKE_STEP(1)), /* xy + x^2 */
                             CC_STEP1(CC_STEP_SUBTRACT, CC_TAKE_STEP(2)),                      /* xy + x^2 - y */
                             CC_STEP1(CC_STEP_MULTIPLY, CC_TAKE_STEP(4)),
                             CC_STEP1(CC_STEP_ADD, CC_TAKE_IMAGE(0)),
                             CC_STEP1(CC_STEP_ADD, CC_TAKE_STEP(3)),
                             CC_STEP2(CC_STEP_CLAMP, CC_TAKE_VALUE(-50), CC_TAKE_VALUE(2000)),
                             CC_STEP1(CC_STEP_LESS, CC_TAKE_VALUE(100)),
                             CC_STEP2(CC_STEP_SELECT, CC_TAKE_STEP(8), CC_TAKE_STEP(7)),
                             CC_STEP0(CC_STEP_NEGATE),
                             CC_STEP1(CC_STEP_SUBTRACT, CC_TAKE_VALUE(0.5)),
                             CC_STEP0(CC_STEP_ABSOLUTE),
                             CC_STEP1(CC_STEP_ADD, CC_TAKE_STEP(13)),
                             CC_STEP1(CC_STEP_DIVIDE, CC_TAKE_VALUE(2))};
    double expected[5];
    const cc_pixel_type types[] = {CC_PIXEL_FLOAT64, CC_PIXEL_FLOAT32, CC_PIXEL_COMPLEX128};
    for (int32_t n = 0; n < 5; ++n) {
        const double before = x[n] * y[n] + x[n] * x[n], less = before - y[n], sum = less * less + x[n] + before;
        const double clamped = fmin(fmax(sum, -50), 2000);
        expected[n] = fabs(-(clamped < 100 ? clamped : sum) - 0.5);
    }
    for (int32_t type = 0; type < COUNT(types); ++type) {
        cc_image *first = numbers_image(CC_PIXEL_INT16, 1, 5, 1, x),
                 *second = numbers_image(CC_PIXEL_FLOAT32, 1, 5, 1, y),
                 *output = fixture_image(types[type], 1, 2, 5, 1, 1),
                 *real = fixture_image(CC_PIXEL_FLOAT64, 1, 2, 5, 1, 1);
        fixture_bring_to_device(first);
        fixture_ok(evaluate(steps, 16, first, second, output));
        fixture_ok(cc_image_real(output, real, STREAM));
        numbers_expect(real, expected);
        cc_image_release(first);
        cc_image_release(second);
        cc_image_release(output);
        cc_image_release(real);
    }
}
END_TEST

START_TEST(in_place_and_views)
{
    double x[35];
    for (int32_t n = 0; n < 35; ++n)
        x[n] = n;
    cc_image *image = numbers_image(CC_PIXEL_INT16, 1, 7, 5, x), *views[3];
    const int64_t index[CC_MAX_DIMENSION] = {-3, 4, 0, 0};
    fixture_ok(cc_image_set_index(image, index));
    const cc_region regions[] = {
        {{-3, 4, 0, 0}, {3, 5, 1, 1}}, {{1, 4, 0, 0}, {3, 5, 1, 1}}, {{0, 4, 0, 0}, {3, 5, 1, 1}}};
    for (int32_t n = 0; n < 3; ++n)
        fixture_ok(cc_image_create_view(image, &regions[n], &views[n]));
    fixture_bring_to_device(image);
    fixture_ok(cc_image_add(image, image, image, STREAM));
    fixture_ok(cc_image_axpy(2, views[0], views[0], STREAM));
    fixture_ok(cc_image_subtract(views[1], views[0], views[1], STREAM));
    double expected[35];
    for (int32_t n = 0; n < 35; ++n) {
        const int32_t i = n % 7;
        expected[n] = i < 3 ? 6 * n : i == 3 ? 2 * n : 2 * n - 6 * (n - 4);
    }
    numbers_expect(image, expected);
    expect_failure(CC_ERROR_BUSY, "overlaps", cc_image_add(views[0], views[1], views[2], STREAM));
    expect_failure(CC_ERROR_BUSY, "overlaps", cc_image_add(views[2], views[0], views[1], STREAM));
    numbers_expect(image, expected);
    for (int32_t n = 0; n < 3; ++n)
        cc_image_release(views[n]);
    cc_image_release(image);
}
END_TEST

/* As what no cache holds: in parts, which begin where lines do but for the first. */
START_TEST(in_place_in_parts)
{
    enum {
        MOST = 3001
    };
    static double x[MOST], y[MOST], expected[MOST];
    for (int32_t n = 0; n < MOST; n++) {
        x[n] = n % 173 - 50;
        y[n] = n % 61;
        expected[n] = n == 0 ? y[n] : (0.25 * x[n] + y[n]) * 2;
    }
    cc_image *first = numbers_image(CC_PIXEL_FLOAT32, 1, MOST, 1, x),
             *second = numbers_image(CC_PIXEL_FLOAT32, 1, MOST, 1, y), *views[2];
    const cc_region region = {{1, 0, 0, 0}, {MOST - 1, 1, 1, 1}};
    fixture_ok(cc_image_create_view(first, &region, &views[0]));
    fixture_ok(cc_image_create_view(second, &region, &views[1]));
    fixture_bring_to_device(first);
    cc__past_cache_from_bytes = 1;
    fixture_ok(cc_image_axpy(0.25, views[0], views[1], STREAM));
    fixture_ok(cc_image_cast(views[1], views[1], STREAM));
    fixture_ok(cc_image_add(views[1], views[1], views[1], STREAM));
    cc__past_cache_from_bytes = 0;
    numbers_expect(second, expected);
    for (int32_t n = 0; n < 2; ++n)
        cc_image_release(views[n]);
    cc_image_release(first);
    cc_image_release(second);
}
END_TEST

/* Rows that lie apart, in three and four dimensions, with odd sizes. */
START_TEST(parts_of_large_images)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *image = NULL, *view = NULL, *output = NULL;
    params.dimension = 4;
    params.pixel_type = CC_PIXEL_FLOAT32;
    params.components = 2;
    params.region = (cc_region){{-5, 7, 0, 100}, {9, 5, 4, 3}};
    fixture_ok(cc_image_create(&params, &image));
    const cc_region part = {{-4, 8, 1, 101}, {7, 3, 2, 2}};
    fixture_ok(cc_image_create_view(image, &part, &view));
    params.region = (cc_region){{0, 0, 0, 0}, {7, 3, 2, 2}};
    params.pixel_type = CC_PIXEL_UINT16;
    fixture_ok(cc_image_create(&params, &output));
    float *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, (void **)&pixels));
    for (int32_t n = 0; n < 9 * 5 * 4 * 3 * 2; ++n)
        pixels[n] = (float)n;
    fixture_ok(cc_image_unmap_host(image, pixels));
    fixture_bring_to_device(image);
    fixture_ok(cc_image_add_value(view, 0.75, output, STREAM));
    double expected[7 * 3 * 2 * 2 * 2], *next = expected;
    for (int32_t l = 1; l < 3; ++l)
        for (int32_t k = 1; k < 3; ++k)
            for (int32_t j = 1; j < 4; ++j)
                for (int32_t c = 2; c < 16; ++c)
                    *next++ = ((l * 4 + k) * 5 + j) * 18 + c + 1;
    numbers_expect(output, expected);
    cc_image_release(image);
    cc_image_release(view);
    cc_image_release(output);
}
END_TEST

/* As many threads as there are cores, or believed to be: the same result, and nothing left out. */
START_TEST(large_images_are_shared_out)
{
    const int64_t side = 1501;
    cc_image *image = fixture_image(CC_PIXEL_FLOAT32, 1, 2, side, side, 1), *view = NULL,
             *output = fixture_image(CC_PIXEL_INT32, 1, 2, side - 2, side, 1);
    const cc_region part = {{1, 0, 0, 0}, {side - 2, side, 1, 1}};
    fixture_ok(cc_image_create_view(image, &part, &view));
    for (int32_t cores = 1; cores < 8; cores += 3) {
        float *pixels = NULL;
        fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, (void **)&pixels));
        for (int64_t n = 0; n < side * side; ++n)
            pixels[n] = (float)n;
        fixture_ok(cc_image_unmap_host(image, pixels));
        cc__crew_cores = cores;
        fixture_ok(cc_image_subtract_value(view, 3, output, STREAM));
        cc__crew_cores = 0;
        int32_t *found = NULL;
        fixture_ok(cc_image_map_host(output, NULL, CC_ACCESS_READ, (void **)&found));
        for (int64_t n = 0; n < (side - 2) * side; ++n)
            ck_assert_int_eq(found[n], n / (side - 2) * side + n % (side - 2) + 1 - 3);
        fixture_ok(cc_image_unmap_host(output, found));
    }
    cc_image_release(image);
    cc_image_release(view);
    cc_image_release(output);
}
END_TEST

/* Every pair of bytes, as other integers too, by a step and with a value: as double arithmetic has it. */
START_TEST(small_integers_in_every_pair)
{
    static const cc_pixel_type types[] = {CC_PIXEL_UINT8, CC_PIXEL_UINT16, CC_PIXEL_INT16, CC_PIXEL_FLOAT32};
    static const int32_t simple[] = {CC_STEP_ADD,    CC_STEP_SUBTRACT, CC_STEP_MULTIPLY,
                                     CC_STEP_DIVIDE, CC_STEP_MINIMUM,  CC_STEP_MAXIMUM};
    static const double values[] = {3, 0.49999997, -2.5, 65536, 0.1, 300};
    const cc_pixel_type from = types[_i / COUNT(types)], to = types[_i % COUNT(types)];
    cc_image *x = fixture_image(from, 1, 2, 257, 256, 1), *y = fixture_image(CC_PIXEL_UINT8, 1, 2, 257, 256, 1),
             *output = fixture_image(to, 1, 2, 257, 256, 1);
    /* With a value a few rows have all. */
    const cc_region few = {{0, 0, 0, 0}, {257, 3, 1, 1}};
    cc_image *some_x = NULL, *some_output = NULL;
    fixture_ok(cc_image_create_view(x, &few, &some_x));
    fixture_ok(cc_image_create_view(output, &few, &some_output));
    void *pixels = NULL, *bytes = NULL;
    const size_t from_bytes = cc_pixel_type_size_bytes(from);
    const double shift = from == CC_PIXEL_INT16 ? -128 : 0, factor = from == CC_PIXEL_UINT16 ? 257 : 1;
    fixture_ok(cc_image_map_host(x, NULL, CC_ACCESS_WRITE, &pixels));
    fixture_ok(cc_image_map_host(y, NULL, CC_ACCESS_WRITE, &bytes));
    for (int64_t n = 0; n < 257 * 256; n++) {
        numbers_store(from, (double)(n % 256) * factor + shift, (char *)pixels + (size_t)n * from_bytes);
        ((uint8_t *)bytes)[n] = (uint8_t)(n / 256);
    }
    fixture_ok(cc_image_unmap_host(x, pixels));
    fixture_ok(cc_image_unmap_host(y, bytes));
    for (int32_t k = 0; k < COUNT(simple); k++)
        for (int32_t v = -1; v < COUNT(values); v++) {
            const cc_step with_image[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)),
                                          CC_STEP1(simple[k], CC_TAKE_IMAGE(1))};
            const cc_step with_value[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)),
                                          CC_STEP1(simple[k], CC_TAKE_VALUE(values[v < 0 ? 0 : v]))};
            cc__past_cache_from_bytes = v % 2 == 0 ? 1 : 0;
            if (v < 0)
                fixture_ok(evaluate(with_image, 2, x, y, output));
            else
                fixture_ok(evaluate(with_value, 2, some_x, NULL, some_output));
            cc__past_cache_from_bytes = 0;
            fixture_ok(cc_image_map_host(output, NULL, CC_ACCESS_READ, &pixels));
            for (int64_t n = 0; n < 257 * (v < 0 ? 256 : 3); n++) {
                const double a = (double)(n % 256) * factor + shift, b = v < 0 ? (double)(n / 256 % 256) : values[v];
                const double right = into(to, simple[k] == CC_STEP_ADD        ? a + b
                                              : simple[k] == CC_STEP_SUBTRACT ? a - b
                                              : simple[k] == CC_STEP_MULTIPLY ? a * b
                                              : simple[k] == CC_STEP_DIVIDE   ? a / b
                                              : simple[k] == CC_STEP_MINIMUM  ? fmin(a, b)
                                                                              : fmax(a, b));
                const double found = numbers_load(to, (char *)pixels + (size_t)n * cc_pixel_type_size_bytes(to));
                if (found != right && !(isnan(found) && isnan(right)))
                    ck_abort_msg("%s, step %d of %g and %g into %s: %.9g, expected %.9g", cc_pixel_type_name(from),
                                 (int)simple[k], a, b, cc_pixel_type_name(to), found, right);
            }
            fixture_ok(cc_image_unmap_host(output, pixels));
        }
    cc_image_release(some_x);
    cc_image_release(some_output);
    cc_image_release(x);
    cc_image_release(y);
    cc_image_release(output);
}
END_TEST

/* Squares that are kept, added, added again, or asked for by their own step; with roots and limits after them. */
START_TEST(sums_of_squares)
{
    enum {
        MOST = 603
    };
    static const cc_step lists[][8] = {
        {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)), CC_STEP0(CC_STEP_SQUARE), CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(1)),
         CC_STEP0(CC_STEP_SQUARE), CC_STEP1(CC_STEP_ADD, CC_TAKE_STEP(1)), CC_STEP0(CC_STEP_SQUARE_ROOT),
         CC_STEP2(CC_STEP_CLAMP, CC_TAKE_VALUE(0.25), CC_TAKE_VALUE(90))},
        {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)), CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(1)), CC_STEP0(CC_STEP_SQUARE),
         CC_STEP1(CC_STEP_ADD, CC_TAKE_STEP(0)), CC_STEP0(CC_STEP_ABSOLUTE), CC_STEP0(CC_STEP_SQUARE_ROOT)},
        {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)), CC_STEP0(CC_STEP_SQUARE), CC_STEP1(CC_STEP_ADD, CC_TAKE_STEP(1))},
        {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)), CC_STEP0(CC_STEP_SQUARE), CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(1)),
         CC_STEP0(CC_STEP_SQUARE), CC_STEP1(CC_STEP_ADD, CC_TAKE_STEP(1)), CC_STEP1(CC_STEP_MULTIPLY, CC_TAKE_STEP(3)),
         CC_STEP1(CC_STEP_ADD, CC_TAKE_STEP(4)), CC_STEP0(CC_STEP_SQUARE_ROOT)},
        {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)), CC_STEP0(CC_STEP_SQUARE), CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(1)),
         CC_STEP0(CC_STEP_SQUARE), CC_STEP1(CC_STEP_ADD, CC_TAKE_STEP(1)), CC_STEP1(CC_STEP_MULTIPLY, CC_TAKE_STEP(0)),
         CC_STEP0(CC_STEP_ABSOLUTE), CC_STEP0(CC_STEP_SQUARE_ROOT)},
        {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)), CC_STEP0(CC_STEP_SQUARE), CC_STEP1(CC_STEP_ADD, CC_TAKE_IMAGE(1)),
         CC_STEP0(CC_STEP_ABSOLUTE), CC_STEP0(CC_STEP_SQUARE_ROOT)},
        {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)), CC_STEP0(CC_STEP_SQUARE),
         CC_STEP1(CC_STEP_MULTIPLY, CC_TAKE_STEP(0)), CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(1)),
         CC_STEP0(CC_STEP_SQUARE), CC_STEP1(CC_STEP_ADD, CC_TAKE_STEP(1)), CC_STEP1(CC_STEP_ADD, CC_TAKE_STEP(2)),
         CC_STEP0(CC_STEP_ABSOLUTE)},
    };
    static const int32_t counts[] = {7, 6, 3, 8, 8, 5, 8};
    static double x[MOST], y[MOST], expected[MOST];
    const cc_pixel_type type = _i % 2 == 0 ? CC_PIXEL_FLOAT32 : CC_PIXEL_FLOAT64;
    for (int32_t n = 0; n < MOST; n++) {
        x[n] = (double)((float)(n % 211) * 0.37F - 20);
        y[n] = (double)((float)(n % 97) * -0.73F + 3);
        const double a = x[n] * x[n], b = y[n] * y[n], sum = b + a;
        const double values[] = {fmin(fmax(sqrt(sum), 0.25), 90),
                                 sqrt(fabs(b + x[n])),
                                 a + a,
                                 sqrt(sum * b + sum),
                                 sqrt(fabs(sum * x[n])),
                                 sqrt(fabs(a + y[n])),
                                 fabs(sum + a * x[n])};
        expected[n] = into(type, values[_i / 2]);
    }
    cc_image *first = numbers_image(CC_PIXEL_FLOAT32, 1, MOST, 1, x),
             *second = numbers_image(CC_PIXEL_FLOAT32, 1, MOST, 1, y), *output = fixture_image(type, 1, 2, MOST, 1, 1);
    fixture_bring_to_device(first);
    for (int32_t round = 0; round < 2; round++) {
        cc__past_cache_from_bytes = (size_t)round;
        fixture_ok(evaluate(lists[_i / 2], counts[_i / 2], first, second, output));
        cc__past_cache_from_bytes = 0;
        numbers_expect(output, expected);
    }
    cc_image_release(first);
    cc_image_release(second);
    cc_image_release(output);
}
END_TEST

/* A list of steps with more values than are kept spread, odd rows at odd places, written past the caches. */
START_TEST(long_lists_past_the_caches)
{
    static const cc_step steps[] = {
        CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)),
        CC_STEP0(CC_STEP_SQUARE),
        CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(1)),
        CC_STEP1(CC_STEP_ADD, CC_TAKE_VALUE(0.5)),
        CC_STEP1(CC_STEP_MULTIPLY, CC_TAKE_VALUE(2)),
        CC_STEP2(CC_STEP_MULTIPLY_ADD, CC_TAKE_VALUE(3), CC_TAKE_STEP(1)),
        CC_STEP1(CC_STEP_SUBTRACT, CC_TAKE_VALUE(0.25)),
        CC_STEP2(CC_STEP_CLAMP, CC_TAKE_VALUE(-7), CC_TAKE_VALUE(1e5)),
        CC_STEP1(CC_STEP_DIVIDE, CC_TAKE_VALUE(7)),
    };
    const int64_t wide = 5003, high = 7;
    cc_image *x = fixture_image(CC_PIXEL_FLOAT32, 1, 2, wide, high, 1),
             *y = fixture_image(CC_PIXEL_INT16, 1, 2, wide, high, 1),
             *output = fixture_image(CC_PIXEL_FLOAT32, 1, 2, wide, high, 1), *part = NULL;
    const cc_region all_but_one = {{1, 0, 0, 0}, {wide - 1, high, 1, 1}};
    cc_image *views[2] = {NULL, NULL};
    float *a = NULL, *found = NULL;
    int16_t *b = NULL;
    fixture_ok(cc_image_map_host(x, NULL, CC_ACCESS_WRITE, (void **)&a));
    fixture_ok(cc_image_map_host(y, NULL, CC_ACCESS_WRITE, (void **)&b));
    for (int64_t n = 0; n < wide * high; n++) {
        a[n] = (float)(n % 1000) * 0.37F - 100;
        b[n] = (int16_t)(n * 31 % 4001 - 2000);
    }
    fixture_ok(cc_image_unmap_host(x, a));
    fixture_ok(cc_image_unmap_host(y, b));
    fixture_ok(cc_image_create_view(x, &all_but_one, &views[0]));
    fixture_ok(cc_image_create_view(y, &all_but_one, &views[1]));
    fixture_ok(cc_image_create_view(output, &all_but_one, &part));
    cc__past_cache_from_bytes = 1;
    fixture_ok(evaluate(steps, COUNT(steps), views[0], views[1], part));
    cc__past_cache_from_bytes = 0;
    fixture_ok(cc_image_map_host(x, NULL, CC_ACCESS_READ, (void **)&a));
    fixture_ok(cc_image_map_host(y, NULL, CC_ACCESS_READ, (void **)&b));
    fixture_ok(cc_image_map_host(output, NULL, CC_ACCESS_READ, (void **)&found));
    for (int64_t n = 0; n < wide * high; n++) {
        const double square = (double)a[n] * (double)a[n];
        double right = ((double)b[n] + 0.5) * 2 * 3;
        right = right + square - 0.25;
        right = right < -7 ? -7 : right > 1e5 ? 1e5 : right;
        right = n % wide == 0 ? 0 : (double)(float)(right / 7);
        if ((double)found[n] != right)
            ck_abort_msg("pixel %lld is %.9g, expected %.9g", (long long)n, (double)found[n], right);
    }
    fixture_ok(cc_image_unmap_host(output, found));
    fixture_ok(cc_image_unmap_host(y, b));
    fixture_ok(cc_image_unmap_host(x, a));
    cc_image_release(part);
    cc_image_release(views[0]);
    cc_image_release(views[1]);
    cc_image_release(x);
    cc_image_release(y);
    cc_image_release(output);
}
END_TEST

START_TEST(casts_and_named_functions)
{
    const double x[] = {-1.5, 0.5, 2.5, 300, NAN, -0.0}, y[] = {2, 2, 4, -1, 1, 3};
    cc_image *image = numbers_image(CC_PIXEL_FLOAT32, 1, 3, 2, x), *other = numbers_image(CC_PIXEL_FLOAT32, 1, 3, 2, y),
             *bytes = fixture_image(CC_PIXEL_UINT8, 1, 2, 3, 2, 1),
             *output = fixture_image(CC_PIXEL_FLOAT64, 1, 2, 3, 2, 1);
    fixture_bring_to_device(image);
    fixture_ok(cc_image_cast(image, bytes, STREAM));
    numbers_expect(bytes, (const double[]){0, 0, 2, 255, 0, 0});
    fixture_ok(cc_image_cast(image, output, STREAM));
    numbers_expect(output, x);
    fixture_ok(cc_image_add(image, other, output, STREAM));
    numbers_expect(output, (const double[]){0.5, 2.5, 6.5, 299, NAN, 3});
    fixture_ok(cc_image_subtract(image, other, output, STREAM));
    numbers_expect(output, (const double[]){-3.5, -1.5, -1.5, 301, NAN, -3});
    fixture_ok(cc_image_multiply(image, other, output, STREAM));
    numbers_expect(output, (const double[]){-3, 1, 10, -300, NAN, -0.0});
    fixture_ok(cc_image_divide(image, other, output, STREAM));
    numbers_expect(output, (const double[]){-0.75, 0.25, 0.625, -300, NAN, -0.0});
    fixture_ok(cc_image_minimum(image, other, output, STREAM));
    numbers_expect(output, (const double[]){-1.5, 0.5, 2.5, -1, NAN, -0.0});
    fixture_ok(cc_image_maximum(image, other, output, STREAM));
    numbers_expect(output, (const double[]){2, 2, 4, 300, NAN, 3});
    fixture_ok(cc_image_add_value(image, 1, output, STREAM));
    numbers_expect(output, (const double[]){-0.5, 1.5, 3.5, 301, NAN, 1});
    fixture_ok(cc_image_subtract_value(image, 1, output, STREAM));
    numbers_expect(output, (const double[]){-2.5, -0.5, 1.5, 299, NAN, -1});
    fixture_ok(cc_image_multiply_value(image, 2, output, STREAM));
    numbers_expect(output, (const double[]){-3, 1, 5, 600, NAN, -0.0});
    fixture_ok(cc_image_divide_value(image, 2, output, STREAM));
    numbers_expect(output, (const double[]){-0.75, 0.25, 1.25, 150, NAN, -0.0});
    fixture_ok(cc_image_minimum_value(image, 0, output, STREAM));
    numbers_expect(output, (const double[]){-1.5, 0, 0, 0, NAN, -0.0});
    fixture_ok(cc_image_maximum_value(image, 0, output, STREAM));
    numbers_expect(output, (const double[]){0, 0.5, 2.5, 300, NAN, 0});
    fixture_ok(cc_image_clamp(image, 0, 2, output, STREAM));
    numbers_expect(output, (const double[]){0, 0.5, 2, 2, NAN, 0});
    fixture_ok(cc_image_threshold(image, -0.5, 2.5, 7, 9, output, STREAM));
    numbers_expect(output, (const double[]){9, 7, 7, 9, 9, 7});
    fixture_ok(cc_image_negate(image, output, STREAM));
    numbers_expect(output, (const double[]){1.5, -0.5, -2.5, -300, NAN, 0});
    fixture_ok(cc_image_absolute(image, output, STREAM));
    numbers_expect(output, (const double[]){1.5, 0.5, 2.5, 300, NAN, 0});
    fixture_ok(cc_image_square(image, output, STREAM));
    numbers_expect(output, (const double[]){2.25, 0.25, 6.25, 90000, NAN, 0});
    fixture_ok(cc_image_square_root(output, output, STREAM));
    numbers_expect(output, (const double[]){1.5, 0.5, 2.5, 300, NAN, 0});
    fixture_ok(cc_image_axpy(-2, image, other, STREAM));
    numbers_expect(other, (const double[]){5, 1, -1, -601, NAN, 3});
    cc_image *const all[] = {image, other, bytes, output};
    for (int32_t n = 0; n < COUNT(all); ++n)
        cc_image_release(all[n]);
}
END_TEST

static void add_tests_of_values(TCase *tcase)
{
    tcase_add_loop_test(tcase, every_step_between_real_types, 0, COUNT(real_types) * COUNT(real_types));
    tcase_add_test(tcase, whole_numbers_as_python_has_them);
    tcase_add_test(tcase, whole_numbers_do_every_step);
    tcase_add_test(tcase, a_fraction_ends_whole_numbers);
    tcase_add_test(tcase, complex_products_and_quotients_as_python_has_them);
    tcase_add_test(tcase, magnitude_and_angle_of_complex_values);
    tcase_add_test(tcase, parts_of_complex_values_and_real_operands);
    tcase_add_test(tcase, complex_steps_that_leave_the_parts_apart);
    tcase_add_test(tcase, one_pixel_or_component_counts_for_all);
    tcase_add_test(tcase, components_and_magnitudes_of_vectors);
    tcase_add_test(tcase, long_lists_of_steps);
    tcase_add_test(tcase, in_place_and_views);
    tcase_add_test(tcase, in_place_in_parts);
    tcase_add_test(tcase, parts_of_large_images);
    tcase_add_test(tcase, large_images_are_shared_out);
    tcase_add_loop_test(tcase, small_integers_in_every_pair, 0, 16);
    tcase_add_loop_test(tcase, sums_of_squares, 0, 14);
    tcase_add_test(tcase, long_lists_past_the_caches);
    tcase_add_test(tcase, casts_and_named_functions);
}

int main(void)
{
    Suite *suite = suite_create("evaluate");
    TCase *tcase = tcase_create("evaluate");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    add_tests_of_values(tcase);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
