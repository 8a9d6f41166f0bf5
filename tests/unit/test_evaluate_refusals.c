/* Expressions and named operations: what is refused, and that it changes nothing. */
#include "base/allocate.h"
#include "support/byte_pixels.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <string.h>

#define STREAM CC_STREAM_DEFAULT

static cc_image *image, *other; /* 10 x 8 bytes, all 1 and 2 */

static void set_up(void)
{
    fixture_setup();
    image = fixture_image(CC_PIXEL_UINT8, 1, 2, 10, 8, 1);
    other = fixture_image(CC_PIXEL_UINT8, 1, 2, 10, 8, 1);
    byte_pixels_write_host(image, NULL, 1);
    byte_pixels_write_host(other, NULL, 2);
}

static void tear_down(void)
{
    byte_pixels_expect_host(image, NULL, 1);
    byte_pixels_expect_host(other, NULL, 2);
    cc_image_release(image);
    cc_image_release(other);
    fixture_teardown();
}

static const cc_step add[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)), CC_STEP1(CC_STEP_ADD, CC_TAKE_IMAGE(1))};

START_TEST(what_is_missing_or_out_of_range)
{
    cc_image *const inputs[] = {image, other}, *const holes[] = {image, NULL};
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "steps = NULL", cc_image_evaluate(NULL, 2, inputs, 2, other, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "inputs = NULL", cc_image_evaluate(add, 2, NULL, 2, other, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "output = NULL", cc_image_evaluate(add, 2, inputs, 2, NULL, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "inputs[1]", cc_image_evaluate(add, 2, holes, 2, other, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "step_count = 0", cc_image_evaluate(add, 0, inputs, 2, other, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "step_count = 17", cc_image_evaluate(add, 17, inputs, 2, other, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input_count = -1", cc_image_evaluate(add, 2, inputs, -1, other, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input_count = 9", cc_image_evaluate(add, 2, inputs, 9, other, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "steps[1].a.number = 1",
                   cc_image_evaluate(add, 2, inputs, 1, other, STREAM));
}
END_TEST

static const struct wrong_step {
    const char *what;
    cc_step step;
} wrong_steps[] = {
    {"steps[1].kind = -1", CC_STEP0(-1)},
    {"steps[1].kind = 21", CC_STEP0(21)},
    {"steps[1].a.kind = 0", CC_STEP0(CC_STEP_ADD)},
    {"steps[1].a.kind = 6", {CC_STEP_ADD, 0, {0, 6, 0, 0, 0}, CC_TAKE_NOTHING}},
    {"steps[1].a.kind = -1", {CC_STEP_ADD, 0, {0, -1, 0, 0, 0}, CC_TAKE_NOTHING}},
    {"steps[1].a.kind = 4", CC_STEP1(CC_STEP_SQUARE, CC_TAKE_VALUE(1))},
    {"steps[1].b.kind = 4", CC_STEP2(CC_STEP_ADD, CC_TAKE_VALUE(1), CC_TAKE_VALUE(1))},
    {"steps[1].b.kind = 0", CC_STEP1(CC_STEP_CLAMP, CC_TAKE_VALUE(1))},
    {"steps[1].a.number = -1", CC_STEP1(CC_STEP_ADD, CC_TAKE_IMAGE(-1))},
    {"steps[1].a.number = 2", CC_STEP1(CC_STEP_ADD, CC_TAKE_MAGNITUDE(2))},
    {"steps[1].a.number = 1", CC_STEP1(CC_STEP_ADD, CC_TAKE_STEP(1))},
    {"steps[1].a.number = -1", CC_STEP1(CC_STEP_ADD, CC_TAKE_STEP(-1))},
    {"steps[1].a.component = 1", CC_STEP1(CC_STEP_ADD, CC_TAKE_COMPONENT(0, 1))},
    {"steps[1].reserved = 5", {CC_STEP_SQUARE, 5, CC_TAKE_NOTHING, CC_TAKE_NOTHING}},
    {"steps[1].a.reserved = 5", {CC_STEP_ADD, 0, {0, CC_OPERAND_VALUE, 0, 0, 5}, CC_TAKE_NOTHING}},
};

START_TEST(steps_that_are_none)
{
    cc_image *const inputs[] = {image, other};
    const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)), wrong_steps[_i].step};
    const cc_step no_load[] = {CC_STEP0(CC_STEP_SQUARE)};
    expect_failure(CC_ERROR_INVALID_ARGUMENT, wrong_steps[_i].what,
                   cc_image_evaluate(steps, 2, inputs, 2, other, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "steps[0].kind = 15",
                   cc_image_evaluate(no_load, 1, inputs, 2, other, STREAM));
}
END_TEST

START_TEST(null_images_of_named_functions)
{
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input", cc_image_cast(NULL, other, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "output", cc_image_cast(image, NULL, STREAM));
#define EXPECT_TWO(NAME)                                                                                               \
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "first", cc_image_##NAME(NULL, image, other, STREAM));                   \
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "second", cc_image_##NAME(image, NULL, other, STREAM));                  \
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "output", cc_image_##NAME(image, image, NULL, STREAM));                  \
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input", cc_image_##NAME##_value(NULL, 1, other, STREAM));               \
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "output", cc_image_##NAME##_value(image, 1, NULL, STREAM))
    EXPECT_TWO(add);
    EXPECT_TWO(subtract);
    EXPECT_TWO(multiply);
    EXPECT_TWO(divide);
    EXPECT_TWO(minimum);
    EXPECT_TWO(maximum);
#define EXPECT_ONE(NAME)                                                                                               \
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input", cc_image_##NAME(NULL, other, STREAM));                          \
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "output", cc_image_##NAME(image, NULL, STREAM))
    EXPECT_ONE(negate);
    EXPECT_ONE(square);
    EXPECT_ONE(square_root);
    EXPECT_ONE(absolute);
    EXPECT_ONE(real);
    EXPECT_ONE(imaginary);
    EXPECT_ONE(argument);
    EXPECT_ONE(conjugate);
    EXPECT_ONE(magnitude);
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "x", cc_image_axpy(1, NULL, other, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "y", cc_image_axpy(1, image, NULL, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input", cc_image_clamp(NULL, 0, 1, other, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "output", cc_image_clamp(image, 0, 1, NULL, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input", cc_image_threshold(NULL, 0, 1, 1, 0, other, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "output", cc_image_threshold(image, 0, 1, 1, 0, NULL, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input", cc_image_component(NULL, 0, other, STREAM));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "output", cc_image_component(image, 0, NULL, STREAM));
}
END_TEST

/* Each step may take another image or component; there is an end to that. */
START_TEST(too_many_different_components)
{
    cc_image *wide = fixture_image(CC_PIXEL_UINT8, 20, 2, 10, 8, 1);
    cc_step steps[16];
    const cc_step load = CC_STEP1(CC_STEP_LOAD, CC_TAKE_COMPONENT(0, 0));
    steps[0] = load;
    for (int32_t n = 1; n < 16; ++n) {
        const cc_step next =
            CC_STEP2(CC_STEP_MULTIPLY_ADD, CC_TAKE_COMPONENT(0, 0), CC_TAKE_COMPONENT(0, n < 15 ? n + 1 : 1));
        steps[n] = next;
    }
    cc_image *output = fixture_image(CC_PIXEL_UINT8, 1, 2, 10, 8, 1);
    fixture_ok(cc_image_evaluate(steps, 16, &wide, 1, output, STREAM));
    steps[15].a.component = 17;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "more than 16", cc_image_evaluate(steps, 16, &wide, 1, output, STREAM));
    cc_image_release(wide);
    cc_image_release(output);
}
END_TEST

START_TEST(lent_pixels_and_read_only_ones)
{
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(other, NULL, CC_ACCESS_READ, &pixels));
    const cc_counters before = fixture_counters(image);
    expect_failure(CC_ERROR_BUSY, "", cc_image_add(image, image, other, STREAM));
    expect_failure(CC_ERROR_BUSY, "", cc_image_add(image, other, other, STREAM));
    fixture_ok(cc_image_unmap_host(other, pixels));
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ_WRITE, &pixels));
    expect_failure(CC_ERROR_BUSY, "", cc_image_add(image, other, other, STREAM));
    expect_failure(CC_ERROR_BUSY, "", cc_image_add(other, image, other, STREAM));
    fixture_ok(cc_image_unmap_host(image, pixels));
    ck_assert_uint_eq(fixture_counters(image).host_to_device_copies, before.host_to_device_copies);

    unsigned char memory[80];
    memset(memory, 5, sizeof memory);
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    params.flags = CC_WRAP_BORROWED | CC_WRAP_READ_ONLY;
    params.data = memory;
    params.size_bytes = sizeof memory;
    cc_image *wrapped = fixture_image(CC_PIXEL_UINT8, 1, 2, 10, 8, 1),
             *output = fixture_image(CC_PIXEL_UINT8, 1, 2, 10, 8, 1);
    fixture_ok(cc_image_wrap_host(wrapped, &params));
    expect_failure(CC_ERROR_READ_ONLY, "output", cc_image_add(image, other, wrapped, STREAM));
    fixture_ok(cc_image_add(wrapped, image, output, STREAM));
    byte_pixels_expect_host(output, NULL, 6);
    ck_assert_int_eq(memory[79], 5);
    cc_image_release(wrapped);
    cc_image_release(output);
}
END_TEST

START_TEST(empty_images_and_undefined_pixels)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *undefined = NULL, *empty = fixture_image(CC_PIXEL_UINT8, 1, 2, 0, 8, 1);
    params.dimension = 2;
    params.pixel_type = CC_PIXEL_UINT8;
    params.flags = CC_IMAGE_UNINITIALIZED;
    params.region = region_at(0, 0, 10, 8);
    fixture_ok(cc_image_create(&params, &undefined));
    expect_failure(CC_ERROR_UNINITIALIZED, "", cc_image_add(undefined, image, other, STREAM));
    expect_failure(CC_ERROR_UNINITIALIZED, "", cc_image_add(image, undefined, undefined, STREAM));
    fixture_ok(cc_image_add(image, other, undefined, STREAM));
    byte_pixels_expect_host(undefined, NULL, 3);
    fixture_ok(cc_image_add(empty, empty, empty, STREAM));
    fixture_ok(cc_image_add_value(empty, 1, empty, STREAM));
    expect_failure(CC_ERROR_SIZE, "size[0] = 10", cc_image_add(empty, image, empty, STREAM));
    /* An expression needs no image at all. */
    const cc_step seven[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_VALUE(7))};
    fixture_ok(cc_image_evaluate(seven, 1, NULL, 0, undefined, STREAM));
    byte_pixels_expect_host(undefined, NULL, 7);
    cc_image_release(undefined);
    cc_image_release(empty);
}
END_TEST

static const faulty_rule rules[] = {
    {FAULTY_RUN_KERNEL, 1, false, CC_ERROR_DEVICE, 999},
    {FAULTY_RUN_KERNEL, 1, false, CC_ERROR_FORKED, 0},
    {FAULTY_EVENT_CREATE, 1, false, CC_ERROR_DEVICE, 999},
    {FAULTY_ALLOCATE, 1, false, CC_ERROR_OUT_OF_DEVICE_MEMORY, 2},
};

START_TEST(a_failed_operation_changes_nothing)
{
    if (fixture_device_count() == 0)
        return;
    cc_image *output = fixture_image(CC_PIXEL_UINT8, 1, 2, 10, 8, 1);
    byte_pixels_expect_device(image, NULL, 1, STREAM);
    faulty_backend_add_rule(fixture_backend, &rules[_i]);
    expect_passed_on(rules[_i].status, cc_image_add(image, other, output, STREAM));
    ck_assert_int_eq(cc_last_native_error(), rules[_i].native_error);
    byte_pixels_expect_host(output, NULL, 0);
    fixture_ok(cc_image_add(image, other, output, STREAM));
    byte_pixels_expect_host(output, NULL, 3);
    cc_image_release(output);
}
END_TEST

START_TEST(without_memory_nothing_changes)
{
    const unsigned char zero = 0;
    cc_image *output = fixture_image(CC_PIXEL_UINT8, 1, 2, 10, 8, 1);
    cc_status status = CC_ERROR_OUT_OF_HOST_MEMORY;
    for (long nth = 1; status != CC_OK; ++nth) {
        ck_assert(expect_is_out_of_memory(status));
        byte_pixels_expect_host(output, NULL, 0);
        fixture_ok(cc_image_fill(output, NULL, &zero, STREAM));
        expect_allocations_to_fail_from(nth);
        status = cc_image_add(image, other, output, STREAM);
        cc__allocate_set_hook(NULL);
    }
    byte_pixels_expect_host(output, NULL, 3);
    cc_image_release(output);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("evaluate_refusals");
    TCase *tcase = tcase_create("evaluate_refusals");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, what_is_missing_or_out_of_range);
    tcase_add_loop_test(tcase, steps_that_are_none, 0, sizeof wrong_steps / sizeof wrong_steps[0]);
    tcase_add_test(tcase, null_images_of_named_functions);
    tcase_add_test(tcase, too_many_different_components);
    tcase_add_test(tcase, lent_pixels_and_read_only_ones);
    tcase_add_test(tcase, empty_images_and_undefined_pixels);
    tcase_add_loop_test(tcase, a_failed_operation_changes_nothing, 0, sizeof rules / sizeof rules[0]);
    tcase_add_test(tcase, without_memory_nothing_changes);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
