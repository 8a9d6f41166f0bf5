/* Work on pixels, where they are: what is filled, what is refused, and where the work is done. Values are in
 * test_rescale.c. */
#include "backend/emulated.h"
#include "base/allocate.h"
#include "support/byte_pixels.h"
#include "support/dense_work.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static cc_image *image, *other; /* 10 x 8 bytes from (-3, 4), and from (0, 0) */
static const unsigned char seven = 7, nine = 9;

static void set_up(void)
{
    const int64_t index[CC_MAX_DIMENSION] = {-3, 4, 0, 0};
    fixture_setup();
    image = fixture_image(CC_PIXEL_UINT8, 1, 2, 10, 8, 1);
    other = fixture_image(CC_PIXEL_UINT8, 1, 2, 10, 8, 1);
    fixture_ok(cc_image_set_index(image, index));
}

static void tear_down(void)
{
    cc_image_release(image);
    cc_image_release(other);
    fixture_teardown();
}

static cc_place_state state_at(cc_image *of, cc_place place)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(of, place, &state));
    return state;
}

START_TEST(filling_all_only_notes_the_value)
{
    unsigned char value = 7;
    byte_pixels_write_host(image, NULL, 1);
    const faulty_counts before = faulty_backend_counts(fixture_backend);
    fixture_ok(cc_image_fill(image, NULL, &value, CC_STREAM_DEFAULT));
    value = 0;
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).total_calls, before.total_calls);
    ck_assert_int_eq(state_at(image, CC_PLACE_HOST).constant_pixels, 80);
    ck_assert_int_eq(state_at(image, CC_PLACE_HOST).valid_pixels, 0);
    byte_pixels_expect_host(image, NULL, 7);
    if (fixture_device_count() > 0)
        byte_pixels_expect_device(image, NULL, 7, CC_STREAM_DEFAULT);
    /* So does a region that is all of it. */
    const cc_region all = region_at(-3, 4, 10, 8);
    fixture_ok(cc_image_fill(image, &all, &nine, CC_STREAM_DEFAULT));
    ck_assert_int_eq(state_at(image, CC_PLACE_HOST).constant_pixels, 80);
    byte_pixels_expect_host(image, NULL, 9);
}
END_TEST

START_TEST(filling_a_part_leaves_the_rest)
{
    const cc_region part = region_at(-1, 5, 4, 3), above = region_at(-3, 4, 10, 1), left = region_at(-3, 5, 2, 3),
                    right = region_at(3, 5, 4, 3), below = region_at(-3, 8, 10, 4);
    for (int32_t on_device = 0; on_device <= (fixture_device_count() > 0); ++on_device) {
        byte_pixels_write_host(image, NULL, 1);
        if (on_device)
            byte_pixels_write_device(image, NULL, 1, CC_STREAM_DEFAULT);
        fixture_ok(cc_image_fill(image, &part, &seven, CC_STREAM_DEFAULT));
        ck_assert_int_eq(state_at(image, CC_PLACE_HOST).valid_pixels, on_device ? 0 : 80);
        byte_pixels_expect_host(image, &part, 7);
        const cc_region *rest[] = {&above, &left, &right, &below};
        for (int32_t i = 0; i < 4; ++i)
            byte_pixels_expect_host(image, rest[i], 1);
        fixture_ok(cc_image_fill(image, NULL, &seven, CC_STREAM_DEFAULT));
    }
}
END_TEST

/* A pixel of any size, on both sides. */
START_TEST(a_pixel_of_every_type_and_many_components)
{
    static const int32_t component_counts[] = {1, 2, 3, 7, 64};
    unsigned char value[64 * 16];
    for (size_t i = 0; i < sizeof value; ++i)
        value[i] = (unsigned char)(i * 37 + 11);
    for (int32_t type = CC_PIXEL_BOOL; type <= CC_PIXEL_COMPLEX128; ++type) {
        for (int32_t count = 0; count < 5; ++count) {
            cc_image *wide = fixture_image((cc_pixel_type)type, component_counts[count], 2, 5, 3, 1);
            const size_t pixel_bytes = cc_image_get_size_bytes(wide) / 15;
            const cc_region middle = region_at(1, 1, 3, 1);
            void *pixels = NULL;
            if (count % 2 == 0 && fixture_device_count() > 0) {
                fixture_ok(cc_image_map_device(wide, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
                fixture_ok(cc_image_unmap_device(wide, pixels, CC_STREAM_DEFAULT));
            }
            fixture_ok(cc_image_fill(wide, &middle, value, CC_STREAM_DEFAULT));
            fixture_ok(cc_image_map_host(wide, NULL, CC_ACCESS_READ, &pixels));
            const unsigned char *bytes = pixels;
            for (int32_t at = 0; at < 15; ++at) {
                if (at >= 6 && at < 9)
                    ck_assert_mem_eq(bytes + (size_t)at * pixel_bytes, value, pixel_bytes);
                else
                    ck_assert(bytes_are(bytes + (size_t)at * pixel_bytes, 0, pixel_bytes));
            }
            fixture_ok(cc_image_unmap_host(wide, pixels));
            cc_image_release(wide);
        }
    }
}
END_TEST

START_TEST(filling_a_view)
{
    const cc_region part = region_at(0, 6, 5, 2), rest = region_at(-3, 4, 10, 2);
    cc_image *view = NULL;
    fixture_ok(cc_image_create_view(image, &part, &view));
    byte_pixels_write_host(image, NULL, 1);
    fixture_ok(cc_image_fill(view, NULL, &seven, CC_STREAM_DEFAULT));
    byte_pixels_expect_host(image, &part, 7);
    byte_pixels_expect_host(image, &rest, 1);
    cc_image_release(view);
}
END_TEST

START_TEST(filling_memory_with_gaps)
{
    unsigned char memory[8 * 16];
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    const cc_region part = region_at(-2, 4, 8, 8);
    memset(memory, 1, sizeof memory);
    params.flags = CC_WRAP_BORROWED;
    params.data = memory;
    params.size_bytes = 7 * 16 + 10;
    params.strides_bytes[0] = 1;
    params.strides_bytes[1] = 16;
    fixture_ok(cc_image_wrap_host(image, &params));
    fixture_ok(cc_image_fill(image, &part, &seven, CC_STREAM_DEFAULT));
    for (int32_t j = 0; j < 8; ++j) {
        ck_assert_int_eq(memory[j * 16], 1);
        ck_assert(bytes_are(memory + j * 16 + 1, 7, 8));
        ck_assert(bytes_are(memory + j * 16 + 9, 1, 7));
    }
}
END_TEST

START_TEST(bad_fills_are_refused)
{
    const cc_region negative = region_at(-3, 4, 1, -1), outside = region_at(-3, 4, 11, 1), part = region_at(0, 5, 1, 1),
                    elsewhere = region_at(5, 5, 1, 1), empty = region_at(0, 5, 0, 1);
    void *pixels = NULL;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_fill(NULL, NULL, &seven, CC_STREAM_DEFAULT));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "value", cc_image_fill(image, NULL, NULL, CC_STREAM_DEFAULT));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "size[1] = -1",
                   cc_image_fill(image, &negative, &seven, CC_STREAM_DEFAULT));
    expect_failure(CC_ERROR_REGION, "size[0] = 11", cc_image_fill(image, &outside, &seven, CC_STREAM_DEFAULT));
    fixture_ok(cc_image_fill(image, &empty, &seven, CC_STREAM_DEFAULT));
    for (int32_t access = CC_ACCESS_READ; access <= CC_ACCESS_READ_WRITE; ++access) {
        fixture_ok(cc_image_map_host(image, &part, (cc_access)access, &pixels));
        *(unsigned char *)pixels = 0;
        expect_failure(CC_ERROR_BUSY, "", cc_image_fill(image, NULL, &seven, CC_STREAM_DEFAULT));
        expect_failure(CC_ERROR_BUSY, "", cc_image_fill(image, &part, &seven, CC_STREAM_DEFAULT));
        fixture_ok(cc_image_fill(image, &elsewhere, &seven, CC_STREAM_DEFAULT));
        fixture_ok(cc_image_unmap_host(image, pixels));
    }
    byte_pixels_expect_host(image, &part, 0);
    byte_pixels_expect_host(image, &elsewhere, 7);
}
END_TEST

START_TEST(bad_rescales_are_refused)
{
    cc_image *wide = fixture_image(CC_PIXEL_UINT8, 2, 2, 10, 8, 1),
             *long_one = fixture_image(CC_PIXEL_UINT8, 1, 2, 10, 9, 1);
    cc_image *thick = fixture_image(CC_PIXEL_UINT8, 1, 3, 10, 8, 2);
    const double not_finite[] = {NAN, INFINITY, -INFINITY};
    const cc_stream stream = CC_STREAM_DEFAULT;
    byte_pixels_write_host(other, NULL, 1);
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "input", cc_image_rescale(NULL, 1, 0, other, stream));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "output", cc_image_rescale(image, 1, 0, NULL, stream));
    for (int32_t i = 0; i < 3; ++i) {
        expect_failure(CC_ERROR_INVALID_ARGUMENT, "scale", cc_image_rescale(image, not_finite[i], 0, other, stream));
        expect_failure(CC_ERROR_INVALID_ARGUMENT, "shift", cc_image_rescale(image, 1, not_finite[i], other, stream));
    }
    expect_failure(CC_ERROR_SIZE, "components", cc_image_rescale(image, 1, 0, wide, stream));
    expect_failure(CC_ERROR_SIZE, "size[1] = 9", cc_image_rescale(image, 1, 0, long_one, stream));
    expect_failure(CC_ERROR_SIZE, "size[2] = 2", cc_image_rescale(image, 1, 0, thick, stream));
    byte_pixels_expect_host(other, NULL, 1);
    cc_image_release(wide);
    cc_image_release(long_one);
    cc_image_release(thick);
}
END_TEST

START_TEST(lent_pixels_are_not_rescaled)
{
    void *pixels = NULL;
    byte_pixels_write_host(image, NULL, 1);
    byte_pixels_write_host(other, NULL, 2);
    const cc_counters before = fixture_counters(image);
    fixture_ok(cc_image_map_host(other, NULL, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_BUSY, "", cc_image_rescale(image, 1, 0, other, CC_STREAM_DEFAULT));
    fixture_ok(cc_image_unmap_host(other, pixels));
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    memset(pixels, 1, 80);
    expect_failure(CC_ERROR_BUSY, "", cc_image_rescale(image, 1, 0, other, CC_STREAM_DEFAULT));
    fixture_ok(cc_image_unmap_host(image, pixels));
    byte_pixels_expect_host(other, NULL, 2);
    ck_assert_uint_eq(fixture_counters(image).host_to_device_copies, before.host_to_device_copies);
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    fixture_ok(cc_image_rescale(image, 1, 0, other, CC_STREAM_DEFAULT));
    fixture_ok(cc_image_unmap_host(image, pixels));
    byte_pixels_expect_host(other, NULL, 1);
}
END_TEST

START_TEST(what_nobody_wrote_is_not_rescaled)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *undefined = NULL;
    params.dimension = 2;
    params.pixel_type = CC_PIXEL_UINT8;
    params.flags = CC_IMAGE_UNINITIALIZED;
    params.region = region_at(0, 0, 10, 8);
    fixture_ok(cc_image_create(&params, &undefined));
    byte_pixels_write_host(other, NULL, 1);
    expect_failure(CC_ERROR_UNINITIALIZED, "", cc_image_rescale(undefined, 1, 0, other, CC_STREAM_DEFAULT));
    expect_failure(CC_ERROR_UNINITIALIZED, "", cc_image_rescale(undefined, 2, 0, undefined, CC_STREAM_DEFAULT));
    byte_pixels_expect_host(other, NULL, 1);
    fixture_ok(cc_image_rescale(other, 3, 0, undefined, CC_STREAM_DEFAULT));
    byte_pixels_expect_host(undefined, NULL, 3);
    cc_image_release(undefined);
}
END_TEST

/* Whether the pixels of the output are valid on the host after rescaling input to output. */
static bool ran_on_host(cc_image *input, cc_image *output)
{
    fixture_ok(cc_image_rescale(input, 1, 1, output, CC_STREAM_DEFAULT));
    return state_at(output, CC_PLACE_HOST).valid_pixels > 0;
}

START_TEST(the_place_of_an_operation)
{
    const bool has_device = fixture_device_count() > 0;
    const cc_region part = region_at(0, 5, 1, 1);
    fixture_ok(cc_image_fill(image, &part, &seven, CC_STREAM_DEFAULT));
    ck_assert_int_eq(state_at(image, CC_PLACE_HOST).valid_pixels, has_device ? 0 : 1);
    for (int32_t combination = 0; combination < 16; ++combination) {
        cc_image *images[2];
        for (int32_t i = 0; i < 2; ++i) {
            images[i] = fixture_image(CC_PIXEL_UINT8, 1, 2, 10, 8, 1);
            if (combination >> i & 1)
                byte_pixels_write_host(images[i], NULL, 4);
            if (has_device && combination >> (2 + i) & 1)
                byte_pixels_expect_device(images[i], NULL, combination >> i & 1 ? 4 : 0, CC_STREAM_DEFAULT);
        }
        /* A device when one of them has memory there, or none has any and there is one; else the host. */
        const bool expects_host = !has_device || ((combination & 12) == 0 && (combination & 3) != 0);
        ck_assert_msg(ran_on_host(images[0], images[1]) == expects_host, "combination %d", combination);
        byte_pixels_expect_host(images[1], NULL, combination & 1 ? 5 : 1);
        cc_image_release(images[0]);
        cc_image_release(images[1]);
    }
}
END_TEST

START_TEST(the_device_of_an_operation)
{
    if (fixture_device_count() < 3)
        return;
    fixture_ok(cc_image_set_device(image, 1));
    fixture_ok(cc_image_set_device(other, 2));
    /* The output's, when no image has memory. */
    fixture_ok(cc_image_rescale(image, 1, 1, other, CC_STREAM_DEFAULT));
    ck_assert_int_eq(state_at(other, 2).valid_pixels, 80);
    /* The device of the first that has some. */
    byte_pixels_write_device(image, NULL, 5, CC_STREAM_DEFAULT);
    fixture_ok(cc_image_rescale(image, 1, 1, other, CC_STREAM_DEFAULT));
    ck_assert_int_eq(state_at(other, 1).valid_pixels, 80);
    ck_assert_int_eq(state_at(other, 2).valid_pixels, 0);
    byte_pixels_expect_host(other, NULL, 6);
}
END_TEST

static const faulty_rule rules[] = {
    {FAULTY_FILL, 1, false, CC_ERROR_DEVICE, 999},
    {FAULTY_FILL, 1, false, CC_ERROR_FORKED, 0},
    {FAULTY_EVENT_CREATE, 1, false, CC_ERROR_DEVICE, 999},
    {FAULTY_RUN_KERNEL, 1, false, CC_ERROR_DEVICE, 999},
    {FAULTY_RUN_KERNEL, 1, false, CC_ERROR_FORKED, 0},
    {FAULTY_ALLOCATE, 1, false, CC_ERROR_OUT_OF_DEVICE_MEMORY, 2},
};

START_TEST(a_failed_operation_changes_nothing)
{
    const cc_region part = region_at(0, 5, 2, 2);
    if (fixture_device_count() == 0)
        return;
    const bool fills = rules[_i].operation != FAULTY_RUN_KERNEL && rules[_i].operation != FAULTY_ALLOCATE;
    byte_pixels_write_device(image, NULL, 1, CC_STREAM_DEFAULT);
    byte_pixels_write_host(other, NULL, 2);
    faulty_backend_add_rule(fixture_backend, &rules[_i]);
    expect_passed_on(rules[_i].status, fills ? cc_image_fill(image, &part, &seven, CC_STREAM_DEFAULT)
                                             : cc_image_rescale(image, 3, 0, other, CC_STREAM_DEFAULT));
    ck_assert_int_eq(cc_last_native_error(), rules[_i].native_error);
    byte_pixels_expect_host(image, NULL, 1);
    byte_pixels_expect_host(other, NULL, 2);
    ck_assert_int_eq(state_at(image, 0).mapping_count, 0);
    if (fills) {
        fixture_ok(cc_image_fill(image, &part, &seven, CC_STREAM_DEFAULT));
        byte_pixels_expect_host(image, &part, 7);
    } else {
        fixture_ok(cc_image_rescale(image, 3, 0, other, CC_STREAM_DEFAULT));
        byte_pixels_expect_host(other, NULL, 3);
    }
}
END_TEST

START_TEST(without_memory_nothing_changes)
{
    const cc_region part = region_at(0, 5, 2, 2), above = region_at(-3, 4, 10, 1), same_part = region_at(3, 1, 2, 2);
    const unsigned char zero = 0;
    cc_status status = CC_ERROR_OUT_OF_HOST_MEMORY;
    byte_pixels_write_host(image, NULL, 1);
    for (long nth = 1; status != CC_OK; ++nth) {
        ck_assert(expect_is_out_of_memory(status));
        byte_pixels_expect_host(image, NULL, 1);
        expect_allocations_to_fail_from(nth);
        status = cc_image_fill(image, &part, &seven, CC_STREAM_DEFAULT);
        cc__allocate_set_hook(NULL);
    }
    byte_pixels_expect_host(image, &part, 7);
    byte_pixels_expect_host(image, &above, 1);
    status = CC_ERROR_OUT_OF_HOST_MEMORY;
    for (long nth = 1; status != CC_OK; ++nth) {
        ck_assert(expect_is_out_of_memory(status));
        byte_pixels_expect_host(other, NULL, 0);
        fixture_ok(cc_image_fill(other, NULL, &zero, CC_STREAM_DEFAULT));
        expect_allocations_to_fail_from(nth);
        status = cc_image_rescale(image, 2, 0, other, CC_STREAM_DEFAULT);
        cc__allocate_set_hook(NULL);
    }
    byte_pixels_expect_host(other, &same_part, 14);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("operations");
    TCase *tcase = tcase_create("operations");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, filling_all_only_notes_the_value);
    tcase_add_test(tcase, filling_a_part_leaves_the_rest);
    tcase_add_test(tcase, a_pixel_of_every_type_and_many_components);
    tcase_add_test(tcase, filling_a_view);
    tcase_add_test(tcase, filling_memory_with_gaps);
    tcase_add_test(tcase, bad_fills_are_refused);
    tcase_add_test(tcase, bad_rescales_are_refused);
    tcase_add_test(tcase, lent_pixels_are_not_rescaled);
    tcase_add_test(tcase, what_nobody_wrote_is_not_rescaled);
    tcase_add_test(tcase, the_place_of_an_operation);
    tcase_add_test(tcase, the_device_of_an_operation);
    tcase_add_loop_test(tcase, a_failed_operation_changes_nothing, 0, sizeof rules / sizeof rules[0]);
    tcase_add_test(tcase, without_memory_nothing_changes);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
