/*
 * Operations that fail on a device when they have begun to write: what the output held is what it holds where another
 * place, or the fill value, has it; where none has, reading says so. No pixel that is partly new counts.
 */
#include "support/fault_sequence.h"
#include "support/fixture.h"
#include "support/numbers.h"

#include <stdlib.h>
#include <string.h>

#define SIDE INT64_C(6)

typedef struct images {
    cc_image *input;
    cc_image *filter; /* a line of three */
    cc_image *frame;  /* a slice */
    cc_image *output;
} images;

static cc_status fill(const images *all)
{
    const cc_region part = {.index = {1, 2, 0}, .size = {3, 2, SIDE}};
    return cc_image_fill(all->output, &part, &(float){42}, CC_STREAM_DEFAULT);
}

static cc_status rescale(const images *all)
{
    return cc_image_rescale(all->input, 3, 1, all->output, CC_STREAM_DEFAULT);
}

static cc_status square(const images *all)
{
    static const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)), {.kind = CC_STEP_SQUARE}};
    return cc_image_evaluate(steps, 2, &all->input, 1, all->output, CC_STREAM_DEFAULT);
}

static cc_status copy_region(const images *all)
{
    return cc_image_copy_region(all->input, NULL, all->output, NULL, CC_STREAM_DEFAULT);
}

static cc_status flip(const images *all)
{
    return cc_image_flip(all->input, 3, all->output, CC_STREAM_DEFAULT);
}

static cc_status permute(const images *all)
{
    static const int32_t order[CC_MAX_DIMENSION] = {2, 0, 1, 3};
    return cc_image_permute(all->input, order, all->output, CC_STREAM_DEFAULT);
}

static cc_status gradient(const images *all)
{
    return cc_image_gradient(all->input, CC_DIFFERENCE_FORWARD, 0, all->output, CC_STREAM_DEFAULT);
}

static cc_status divergence(const images *all)
{
    return cc_image_divergence(all->input, CC_DIFFERENCE_BACKWARD, 0, all->output, CC_STREAM_DEFAULT);
}

static cc_status laplacian(const images *all)
{
    return cc_image_laplacian(all->input, 0, all->output, CC_STREAM_DEFAULT);
}

static cc_status resample(const images *all)
{
    cc_resample_params params = CC_RESAMPLE_PARAMS_INIT;
    params.interpolation = CC_INTERPOLATION_CUBIC_BSPLINE;
    params.offset[0] = 0.25;
    return cc_image_resample(all->input, &params, all->output, CC_STREAM_DEFAULT);
}

static cc_status smooth(const images *all)
{
    cc_gaussian_params params = CC_GAUSSIAN_PARAMS_INIT;
    params.sigma[0] = params.sigma[1] = params.sigma[2] = 0.75;
    return cc_image_smooth_gaussian(all->input, &params, all->output, CC_STREAM_DEFAULT);
}

static cc_status convolve(const images *all)
{
    const cc_convolve_params params = CC_CONVOLVE_PARAMS_INIT;
    return cc_image_convolve_axis(all->input, all->filter, &params, all->output, CC_STREAM_DEFAULT);
}

static cc_status average_frames(const images *all)
{
    return cc_image_average_frames(all->input, all->output, CC_STREAM_DEFAULT);
}

static cc_status splat_frames(const images *all)
{
    return cc_image_splat_frames(all->frame, 2.5, CC_BORDER_REPLICATE, all->output, CC_STREAM_DEFAULT);
}

static cc_status sums(const images *all)
{
    return cc_image_reduce(CC_REDUCE_SUM, all->input, NULL, all->output, CC_STREAM_DEFAULT);
}

static cc_status histogram(const images *all)
{
    return cc_image_histogram(all->input, 0, 16, all->output, CC_STREAM_DEFAULT);
}

static const struct operation {
    const char *name;
    cc_status (*run)(const images *all);
    cc_pixel_type type;
    int32_t components; /* of input and output */
    int32_t output_components;
    int32_t dimension; /* of the output, with this size */
    int64_t size[3];
    bool in_place;
} operations[] = {
    {"fill", fill, CC_PIXEL_FLOAT32, 1, 1, 3, {SIDE, SIDE, SIDE}, false},
    {"rescale", rescale, CC_PIXEL_FLOAT32, 2, 2, 3, {SIDE, SIDE, SIDE}, false},
    {"rescale in place", rescale, CC_PIXEL_FLOAT32, 1, 1, 3, {SIDE, SIDE, SIDE}, true},
    {"evaluate", square, CC_PIXEL_INT32, 1, 1, 3, {SIDE, SIDE, SIDE}, false},
    {"evaluate in place", square, CC_PIXEL_FLOAT32, 1, 1, 3, {SIDE, SIDE, SIDE}, true},
    {"copy", copy_region, CC_PIXEL_FLOAT32, 1, 1, 3, {SIDE, SIDE, SIDE}, false},
    {"cast", copy_region, CC_PIXEL_FLOAT64, 1, 1, 3, {SIDE, SIDE, SIDE}, false},
    {"flip", flip, CC_PIXEL_FLOAT32, 1, 1, 3, {SIDE, SIDE, SIDE}, false},
    {"permute", permute, CC_PIXEL_FLOAT32, 1, 1, 3, {SIDE, SIDE, SIDE}, false},
    {"gradient", gradient, CC_PIXEL_FLOAT32, 1, 3, 3, {SIDE, SIDE, SIDE}, false},
    {"divergence", divergence, CC_PIXEL_FLOAT32, 3, 1, 3, {SIDE, SIDE, SIDE}, false},
    {"Laplacian", laplacian, CC_PIXEL_FLOAT32, 1, 1, 3, {SIDE, SIDE, SIDE}, false},
    {"cubic", resample, CC_PIXEL_FLOAT32, 1, 1, 3, {SIDE, SIDE, SIDE}, false},
    {"smooth", smooth, CC_PIXEL_FLOAT32, 1, 1, 3, {SIDE, SIDE, SIDE}, false},
    {"smooth in place", smooth, CC_PIXEL_FLOAT32, 1, 1, 3, {SIDE, SIDE, SIDE}, true},
    {"convolve", convolve, CC_PIXEL_FLOAT32, 1, 1, 3, {SIDE, SIDE, SIDE}, false},
    {"convolve in place", convolve, CC_PIXEL_FLOAT32, 1, 1, 3, {SIDE, SIDE, SIDE}, true},
    {"splatted frames", splat_frames, CC_PIXEL_FLOAT32, 1, 1, 3, {SIDE, SIDE, SIDE}, true},
    {"average of frames", average_frames, CC_PIXEL_FLOAT32, 1, 1, 2, {SIDE, SIDE, 1}, false},
    {"sums by component", sums, CC_PIXEL_FLOAT64, 3, 3, 1, {1, 1, 1}, false},
    {"histogram", histogram, CC_PIXEL_UINT64, 1, 1, 1, {16, 1, 1}, false},
};
#define OPERATIONS ((int32_t)(sizeof operations / sizeof operations[0]))

/* Who has the output's pixels beside the device. */
typedef enum holder {
    HOST = 0,
    FILL_VALUE = 1,
    NOBODY = 2,
    HOLDERS = 3
} holder;

static void write_all(cc_image *image, bool on_device, double first)
{
    const int64_t count = numbers_count(image);
    const size_t bytes = cc_image_get_size_bytes(image);
    const cc_pixel_type type = cc_image_get_pixel_type(image);
    unsigned char *values = malloc(bytes);
    void *pixels = NULL;
    for (int64_t n = 0; n < count; n++)
        numbers_store(type, first + (double)(n * n % 11), values + n * (int64_t)cc_pixel_type_size_bytes(type));
    if (on_device) {
        fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_WRITE, CC_STREAM_DEFAULT, &pixels));
        fixture_device_write(0, CC_STREAM_DEFAULT, pixels, values, bytes);
        fixture_ok(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
        fixture_ok(cc_stream_synchronize(0, CC_STREAM_DEFAULT));
    } else {
        fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
        memcpy(pixels, values, bytes);
        fixture_ok(cc_image_unmap_host(image, pixels));
    }
    free(values);
}

static void put(cc_image *image, holder others, double first)
{
    const cc_pixel_type type = cc_image_get_pixel_type(image);
    unsigned char pixel[64];
    for (int32_t n = 0; n < cc_image_get_components(image); n++)
        numbers_store(type, first, pixel + n * (int64_t)cc_pixel_type_size_bytes(type));
    if (others == FILL_VALUE)
        fixture_ok(cc_image_fill(image, NULL, pixel, CC_STREAM_DEFAULT));
    else
        write_all(image, others == NOBODY, first);
    fixture_ok(cc_image_prefetch(image, NULL, 0));
}

static images begin(const struct operation *operation, holder others)
{
    images all;
    all.input = fixture_image(CC_PIXEL_FLOAT32, operation->components, 3, SIDE, SIDE, SIDE);
    all.output = operation->in_place
                     ? cc_image_retain(all.input)
                     : fixture_image(operation->type, operation->output_components, operation->dimension,
                                     operation->size[0], operation->size[1], operation->size[2]);
    all.filter = fixture_image(CC_PIXEL_FLOAT32, 1, 1, 3, 1, 1);
    all.frame = fixture_image(CC_PIXEL_FLOAT32, 1, 2, SIDE, SIDE, 1);
    put(all.filter, HOST, 1);
    put(all.frame, HOST, 5);
    if (!operation->in_place)
        put(all.input, HOST, 3);
    put(all.output, others, 2);
    return all;
}

static void end(images *all)
{
    cc_image_release(all->input);
    cc_image_release(all->filter);
    cc_image_release(all->frame);
    cc_image_release(all->output);
}

static void fail_once_late(cc_status status)
{
    static const faulty_operation writing[] = {FAULTY_RUN_KERNEL, FAULTY_COPY, FAULTY_FILL};
    for (size_t n = 0; n < sizeof writing / sizeof writing[0]; n++) {
        const faulty_rule rule = {writing[n], 1, false, status, FAULTY_NATIVE_ERROR};
        faulty_backend_add_rule(fixture_backend, &rule);
    }
    faulty_backend_fail_late(fixture_backend, true);
}

static void fail_no_more(void)
{
    faulty_backend_clear_rules(fixture_backend);
    faulty_backend_fail_late(fixture_backend, false);
}

/* What the operation makes of the output when nothing fails, and what was there before. */
static void learn(const struct operation *operation, holder others, double **out_before, double **out_expected)
{
    images all = begin(operation, others);
    *out_before = numbers_of(all.output);
    fixture_ok(operation->run(&all));
    *out_expected = numbers_of(all.output);
    /* A smoothed fill value is what it is. */
    if (others != FILL_VALUE)
        ck_assert(memcmp(*out_before, *out_expected, (size_t)numbers_count(all.output) * sizeof **out_before) != 0);
    end(&all);
}

/* Through the device's memory. */
static void expect_on_device(cc_image *image, const double *expected)
{
    fixture_ok(cc_image_prefetch(image, NULL, 0));
    fixture_ok(cc_image_evict(image, CC_PLACE_HOST));
    numbers_expect(image, expected);
}

START_TEST(what_is_partly_written_does_not_count)
{
    const struct operation *operation = &operations[_i / HOLDERS];
    const holder others = (holder)(_i % HOLDERS);
    double *before = NULL, *expected = NULL;
    void *pixels = NULL;
    if (fixture_device_count() == 0)
        return;
    learn(operation, others, &before, &expected);
    images all = begin(operation, others);
    fail_once_late(CC_ERROR_DEVICE);
    fixture_expect(CC_ERROR_DEVICE, operation->run(&all));
    ck_assert_int_eq(cc_last_native_error(), FAULTY_NATIVE_ERROR);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).failures, 1);
    fail_no_more();
    if (others == NOBODY) {
        fixture_expect(CC_ERROR_UNINITIALIZED, cc_image_map_host(all.output, NULL, CC_ACCESS_READ, &pixels));
        fixture_expect(CC_ERROR_UNINITIALIZED,
                       cc_image_map_device(all.output, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
    } else {
        numbers_expect(all.output, before);
        expect_on_device(all.output, before);
    }
    if (others == NOBODY && operation->run != fill && !operation->in_place)
        fixture_ok(operation->run(&all));
    else if (others == NOBODY)
        put(all.output, NOBODY, 2);
    if (others != NOBODY || operation->run == fill || operation->in_place)
        fixture_ok(operation->run(&all));
    numbers_expect(all.output, expected);
    expect_on_device(all.output, expected);
    end(&all);
    free(before);
    free(expected);
}
END_TEST

/* What is not written is what it was, also where only the device has it. */
START_TEST(pixels_around_are_not_lost)
{
    const cc_region row = {.index = {0, 2, 0}, .size = {SIDE, 1, SIDE}};
    const cc_region below = {.index = {0, 0, 0}, .size = {SIDE, 2, SIDE}};
    void *pixels = NULL;
    float value = 0;
    if (fixture_device_count() == 0)
        return;
    images all = begin(&operations[0], NOBODY);
    fail_once_late(CC_ERROR_DEVICE);
    fixture_expect(CC_ERROR_DEVICE, fill(&all));
    fail_no_more();
    fixture_expect(CC_ERROR_UNINITIALIZED, cc_image_map_host(all.output, &row, CC_ACCESS_READ, &pixels));
    fixture_ok(cc_image_map_host(all.output, &below, CC_ACCESS_READ, &pixels));
    for (int64_t n = 0; n < 2 * SIDE; n++) {
        memcpy(&value, (char *)pixels + n * (int64_t)sizeof value, sizeof value);
        ck_assert(value == 2 + (float)(n * n % 11));
    }
    fixture_ok(cc_image_unmap_host(all.output, pixels));
    const int64_t lost = INT64_C(3) * 2 * SIDE;
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(all.output, 0, &state));
    ck_assert_int_eq(state.valid_pixels, SIDE * SIDE * SIDE - lost);
    end(&all);
}
END_TEST

/* All of it is queued, but nobody can say when it is done: others have the old pixels, and these are what counts. */
START_TEST(what_cannot_be_waited_for_does_not_count)
{
    static const faulty_operation waiting[] = {FAULTY_EVENT_RECORD, FAULTY_STREAM_SYNCHRONIZE};
    if (fixture_device_count() == 0)
        return;
    images all = begin(&operations[0], (holder)_i);
    double *before = numbers_of(all.output);
    for (size_t n = 0; n < sizeof waiting / sizeof waiting[0]; n++) {
        const faulty_rule rule = {waiting[n], 1, true, CC_ERROR_DEVICE, FAULTY_NATIVE_ERROR};
        faulty_backend_add_rule(fixture_backend, &rule);
    }
    fixture_expect(CC_ERROR_DEVICE, fill(&all));
    fail_no_more();
    fixture_ok(cc_stream_synchronize(0, CC_STREAM_DEFAULT));
    numbers_expect(all.output, before);
    expect_on_device(all.output, before);
    free(before);
    end(&all);
}
END_TEST

/* What failed before anything was queued has lost nothing. */
START_TEST(a_failure_at_once_loses_nothing)
{
    const struct operation *operation = &operations[_i];
    double *before = NULL, *expected = NULL;
    if (fixture_device_count() == 0)
        return;
    learn(operation, NOBODY, &before, &expected);
    images all = begin(operation, NOBODY);
    fail_once_late(CC_ERROR_DEVICE);
    faulty_backend_fail_late(fixture_backend, false);
    fixture_expect(CC_ERROR_DEVICE, operation->run(&all));
    fail_no_more();
    numbers_expect(all.output, before);
    fixture_ok(operation->run(&all));
    numbers_expect(all.output, expected);
    end(&all);
    free(before);
    free(expected);
}
END_TEST

/* A borrower's pixels are his, whatever an operation leaves there: what he writes afterwards is what is read. */
START_TEST(borrowed_pixels_are_the_borrowers)
{
    cc_export_params params = CC_EXPORT_PARAMS_INIT;
    cc_loan *loan = NULL;
    static const float sevens[SIDE * SIDE * SIDE] = {7};
    const float *pixels = NULL;
    if (fixture_device_count() == 0)
        return;
    images all = begin(&operations[2], HOST);
    params.place = 0;
    params.access = CC_ACCESS_READ_WRITE;
    params.stream = CC_STREAM_DEFAULT;
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    fixture_ok(cc_image_export(all.output, &params, &descriptor, &loan));
    fail_once_late(CC_ERROR_DEVICE);
    fixture_expect(CC_ERROR_DEVICE, rescale(&all));
    fail_no_more();
    fixture_device_write(0, CC_STREAM_DEFAULT, descriptor.data, sevens, sizeof sevens);
    fixture_ok(cc_image_map_host(all.output, NULL, CC_ACCESS_READ, (void **)&pixels));
    ck_assert_mem_eq(pixels, sevens, sizeof sevens);
    fixture_ok(cc_image_unmap_host(all.output, (void *)pixels));
    cc_loan_release(loan);
    end(&all);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("torn_output");
    TCase *cases = tcase_create("torn_output");
    tcase_add_checked_fixture(cases, fixture_setup, fixture_teardown);
    tcase_add_loop_test(cases, what_is_partly_written_does_not_count, 0, OPERATIONS * HOLDERS);
    tcase_add_test(cases, pixels_around_are_not_lost);
    tcase_add_loop_test(cases, what_cannot_be_waited_for_does_not_count, 0, NOBODY);
    tcase_add_loop_test(cases, a_failure_at_once_loses_nothing, 0, OPERATIONS);
    tcase_add_test(cases, borrowed_pixels_are_the_borrowers);
    suite_add_tcase(suite, cases);
    return fixture_run(suite);
}
