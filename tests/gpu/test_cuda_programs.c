/*
 * Expressions in kernels that the driver compiled for them: the same bits as on the host, made once for all values, and
 * nothing lost where the driver refuses.
 */
#include "gpu/cuda_test.h"
#include "support/plain_work.h"
#include "support/rescale_cases.h"

#include <cudacommon/cudacommon.h>
#include <stdlib.h>
#include <string.h>

#define STREAM CC_STREAM_DEFAULT
#define PIXELS 4099
#define MOST_SOURCES 3

static const cc_pixel_type types[] = {CC_PIXEL_BOOL,     CC_PIXEL_UINT8,   CC_PIXEL_INT8,   CC_PIXEL_UINT16,
                                      CC_PIXEL_INT16,    CC_PIXEL_UINT32,  CC_PIXEL_INT32,  CC_PIXEL_FLOAT16,
                                      CC_PIXEL_BFLOAT16, CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT64};
#define TYPES ((int32_t)(sizeof types / sizeof types[0]))

static __typeof__(cuModuleLoadData) *load;
static int32_t loads;

static CUresult CUDAAPI count_and_load(CUmodule *out_module, const void *image)
{
    loads++;
    return load(out_module, image);
}

static CUresult CUDAAPI refuse(CUmodule *out_module, const void *image)
{
    (void)out_module, (void)image;
    loads++;
    return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
}

static void set_up(void)
{
    load = cc__driver.cuModuleLoadData;
    cc__driver.cuModuleLoadData = count_and_load;
    loads = 0;
}

static void tear_down(void)
{
    cc__driver.cuModuleLoadData = load;
}

static void must(cc_status status)
{
    ck_assert_msg(status == CC_OK, "%s", cc_last_error_message());
}

static cc_image *image_of(cc_pixel_type type, int64_t first, int64_t stride, int32_t place)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *image = NULL;
    unsigned char *pixels = NULL;
    params.dimension = 1;
    params.pixel_type = type;
    params.region = (cc_region){.size = {PIXELS, 1, 1, 1}};
    must(cc_image_create(&params, &image));
    must(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, (void **)&pixels));
    for (int64_t n = 0; n < PIXELS; n++)
        rescale_case_write(type, first + n * stride, pixels + n * (int64_t)cc_pixel_type_size_bytes(type));
    must(cc_image_unmap_host(image, pixels));
    if (place >= 0)
        must(cc_image_prefetch(image, NULL, place));
    return image;
}

/* The expression where the images are put; what comes out is the caller's to free. */
static void *result_of(const cc_step *steps, int32_t count, const cc_pixel_type *from, int32_t sources,
                       cc_pixel_type to, int32_t place)
{
    const size_t bytes = PIXELS * cc_pixel_type_size_bytes(to);
    cc_image *inputs[MOST_SOURCES];
    cc_image *output = image_of(to, 0, 1, place);
    void *pixels = NULL, *result = malloc(bytes);
    for (int32_t n = 0; n < sources; n++)
        inputs[n] = image_of(from[n], 3 * n, 2 * n + 1, place);
    must(cc_image_evaluate(steps, count, inputs, sources, output, STREAM));
    must(cc_image_map_host(output, NULL, CC_ACCESS_READ, &pixels));
    memcpy(result, pixels, bytes);
    must(cc_image_unmap_host(output, pixels));
    for (int32_t n = 0; n < sources; n++)
        cc_image_release(inputs[n]);
    cc_image_release(output);
    return result;
}

static void check(const cc_step *steps, int32_t count, const cc_pixel_type *from, int32_t sources, cc_pixel_type to)
{
    void *expected = result_of(steps, count, from, sources, to, -1);
    void *found = result_of(steps, count, from, sources, to, 0);
    ck_assert_msg(memcmp(expected, found, PIXELS * cc_pixel_type_size_bytes(to)) == 0, "%s of %s, step %d",
                  cc_pixel_type_name(to), cc_pixel_type_name(from[0]), (int)steps[1].kind);
    free(expected);
    free(found);
}

/* Each step with special values of each type, into each type; the values are other ones each time. */
START_TEST(every_step_and_type)
{
    static const cc_step_kind kinds[] = {CC_STEP_ADD,          CC_STEP_SUBTRACT, CC_STEP_MULTIPLY, CC_STEP_DIVIDE,
                                         CC_STEP_MINIMUM,      CC_STEP_MAXIMUM,  CC_STEP_LESS,     CC_STEP_EQUAL,
                                         CC_STEP_NEGATE,       CC_STEP_ABSOLUTE, CC_STEP_SQUARE,   CC_STEP_SQUARE_ROOT,
                                         CC_STEP_MULTIPLY_ADD, CC_STEP_CLAMP,    CC_STEP_WITHIN,   CC_STEP_SELECT};
    static const double values[] = {0.0, -0.0, 1.0, -2.5, 255.0, 1e300};
    uint32_t state = 9;
    for (int32_t n = 0; n < 48; n++) {
        const cc_step_kind kind = kinds[n % 16];
        const cc_pixel_type from[] = {types[n % TYPES], types[(n * 3 + n / TYPES) % TYPES], types[(n * 5 + 2) % TYPES]};
        const cc_operand image = CC_TAKE_IMAGE(1), nothing = CC_TAKE_NOTHING,
                         value = CC_TAKE_VALUE(values[random_below(&state, 6)]);
        const cc_operand a = n / 16 == 1 ? value : image;
        const bool has_a = kind < CC_STEP_NEGATE, has_b = kind == CC_STEP_MULTIPLY_ADD || kind == CC_STEP_CLAMP ||
                                                          kind == CC_STEP_WITHIN || kind == CC_STEP_SELECT;
        const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)),
                                 {(int32_t)kind, 0, has_a ? a : nothing, has_b ? value : nothing},
                                 CC_STEP1(CC_STEP_MAXIMUM, CC_TAKE_IMAGE(2)),
                                 CC_STEP1(CC_STEP_SUBTRACT, CC_TAKE_STEP(1))};
        check(steps, 4, from, 3, types[(n * 7 + 1) % TYPES]);
    }
    ck_assert_int_gt(loads, 20);
}
END_TEST

START_TEST(chains_of_complex_numbers)
{
    static const cc_step_kind kinds[] = {CC_STEP_ADD,   CC_STEP_SUBTRACT,  CC_STEP_MULTIPLY, CC_STEP_DIVIDE,
                                         CC_STEP_EQUAL, CC_STEP_NEGATE,    CC_STEP_ABSOLUTE, CC_STEP_SQUARE,
                                         CC_STEP_REAL,  CC_STEP_IMAGINARY, CC_STEP_CONJUGATE};
    static const cc_pixel_type some[] = {CC_PIXEL_COMPLEX64, CC_PIXEL_COMPLEX128, CC_PIXEL_FLOAT32, CC_PIXEL_INT16};
    for (int32_t n = 0; n < 33; n++) {
        const cc_step_kind kind = kinds[n % 11];
        const cc_pixel_type from[] = {some[n % 2], some[(n / 11 + n) % 4], some[(n + 1) % 2]};
        const cc_operand image = CC_TAKE_IMAGE(1), nothing = CC_TAKE_NOTHING;
        const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)),
                                 {(int32_t)kind, 0, kind < CC_STEP_NEGATE ? image : nothing, CC_TAKE_NOTHING},
                                 CC_STEP1(CC_STEP_MULTIPLY, CC_TAKE_IMAGE(2)),
                                 CC_STEP1(CC_STEP_SUBTRACT, CC_TAKE_STEP(1))};
        check(steps, 4, from, 3, some[n % 3]);
    }
    ck_assert_int_gt(loads, 20);
}
END_TEST

START_TEST(a_program_is_made_once_for_all_values)
{
    const cc_pixel_type from[] = {CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32};
    for (int32_t n = 1; n < 6; n++) {
        const cc_step steps[] = {
            CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)), CC_STEP1(CC_STEP_MULTIPLY, CC_TAKE_VALUE(0.125 * n)),
            CC_STEP1(CC_STEP_SUBTRACT, CC_TAKE_IMAGE(1)), CC_STEP1(CC_STEP_DIVIDE, CC_TAKE_VALUE(3.0 * n))};
        check(steps, 4, from, 2, CC_PIXEL_FLOAT32);
        ck_assert_int_eq(loads, 1);
    }
}
END_TEST

START_TEST(a_driver_that_refuses_costs_nothing_but_time)
{
    const cc_pixel_type from[] = {CC_PIXEL_INT16, CC_PIXEL_FLOAT32};
    const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)), CC_STEP1(CC_STEP_DIVIDE, CC_TAKE_IMAGE(1)),
                             CC_STEP0(CC_STEP_SQUARE_ROOT), CC_STEP1(CC_STEP_MINIMUM, CC_TAKE_VALUE(8.0))};
    cc__driver.cuModuleLoadData = refuse;
    for (int32_t n = 0; n < 3; n++)
        check(steps, 4, from, 2, CC_PIXEL_INT16);
    ck_assert_int_eq(loads, 1);
}
END_TEST

int main(void)
{
    (void)setenv("CUDACOMMON_COMPILE", "always", 1);
    const int exit_code = cuda_test_start();
    if (exit_code != 0)
        return exit_code;
    Suite *suite = suite_create("cuda_programs");
    TCase *tcase = tcase_create("cuda_programs");
    tcase_set_timeout(tcase, 100);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, every_step_and_type);
    tcase_add_test(tcase, chains_of_complex_numbers);
    tcase_add_test(tcase, a_program_is_made_once_for_all_values);
    tcase_add_test(tcase, a_driver_that_refuses_costs_nothing_but_time);
    suite_add_tcase(suite, tcase);
    return cuda_test_run(suite);
}
