/* Regions and layouts: what is refused, and the exact numbers of what is not. */
#include "base/layout.h"
#include "support/expect.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define expect_numbers(numbers, a, b, c, d)                                                                            \
    do {                                                                                                               \
        ck_assert_int_eq((numbers)[0], (a));                                                                           \
        ck_assert_int_eq((numbers)[1], (b));                                                                           \
        ck_assert_int_eq((numbers)[2], (c));                                                                           \
        ck_assert_int_eq((numbers)[3], (d));                                                                           \
    } while (0)

/* The message names the function that the caller names. */
static cc_status region_check(int32_t dimension, const cc_region *region, cc_region *out)
{
    return cc__region_check("region_check", "region", dimension, region, out);
}

static cc_status layout_dense(const int64_t *size, cc_pixel_type type, int32_t components, cc__layout *out)
{
    return cc__layout_dense("layout_dense", size, type, components, out);
}

static cc_status layout_strided(const int64_t *size, int32_t dimension, const int64_t *strides, cc__layout *out)
{
    return cc__layout_strided("layout_strided", size, CC_PIXEL_FLOAT32, 1, dimension, strides, out);
}

START_TEST(a_refused_region_writes_nothing)
{
    const cc_region untouched = {{7, 7, 7, 7}, {7, 7, 7, 7}};
    cc_region out = untouched;
    cc_region region = {{0, 0, 0, 0}, {4, 4, 4, 4}};
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "dimension = 0", region_check(0, &region, &out));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "dimension = 5", region_check(5, &region, &out));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "dimension = -1", region_check(-1, &region, &out));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "region is NULL", region_check(2, NULL, &out));
    region.size[1] = -3;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "region.size[1] = -3, must be >= 0", region_check(2, &region, &out));
    region.size[1] = INT64_MIN;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "region.size[1]", region_check(2, &region, &out));
    region.size[1] = 5;
    region.index[1] = INT64_MAX - 4;
    expect_failure(CC_ERROR_OVERFLOW, "region.index[1]", region_check(2, &region, &out));
    region.index[1] = 1;
    region.size[1] = INT64_MAX;
    expect_failure(CC_ERROR_OVERFLOW, "region.index[1]", region_check(4, &region, &out));
    ck_assert_mem_eq(&out, &untouched, sizeof out);
}
END_TEST

START_TEST(a_region_reaches_to_the_end_of_63_bits)
{
    cc_region region = {{INT64_MAX - 4, INT64_MIN, INT64_MAX, -7}, {4, INT64_MAX, 0, 0}};
    cc_region out;
    ck_assert_int_eq(region_check(4, &region, &out), CC_OK);
    ck_assert_mem_eq(&out, &region, sizeof out);
    /* What lies past the dimension is not looked at. */
    region.size[1] = -1;
    region.index[2] = INT64_MAX;
    region.size[2] = INT64_MAX;
    ck_assert_int_eq(region_check(1, &region, &region), CC_OK);
    expect_numbers(region.index, INT64_MAX - 4, 0, 0, 0);
    expect_numbers(region.size, 4, 1, 1, 1);
}
END_TEST

START_TEST(large_volumes_need_64_bits)
{
    /* cases.md T5: sizes whose bytes leave 32 bits. */
    cc__layout layout;
    const int64_t scan[] = {1264, 1356, 1356, 1};
    ck_assert_int_eq(layout_dense(scan, CC_PIXEL_FLOAT32, 1, &layout), CC_OK);
    expect_numbers(layout.stride, 4, 5056, 6855936, INT64_C(9296649216));
    ck_assert_int_eq(layout.extent_bytes, INT64_C(9296649216));
    const int64_t cube[] = {2048, 2048, 2048, 1};
    ck_assert_int_eq(layout_dense(cube, CC_PIXEL_FLOAT32, 1, &layout), CC_OK);
    ck_assert_int_eq(layout.extent_bytes, INT64_C(34359738368));
    const int64_t plane[] = {70000, 70000, 1, 1};
    ck_assert_int_eq(layout_dense(plane, CC_PIXEL_UINT8, 1, &layout), CC_OK);
    ck_assert_int_eq(layout.extent_bytes, INT64_C(4900000000));
    /* cases.md T27: 5 x 3 x 4 of three floats. */
    const int64_t vectors[] = {5, 3, 4, 1};
    ck_assert_int_eq(layout_dense(vectors, CC_PIXEL_FLOAT32, 3, &layout), CC_OK);
    expect_numbers(layout.stride, 12, 60, 180, 720);
    expect_numbers(layout.size, 5, 3, 4, 1);
    ck_assert_int_eq(layout.pixel_bytes, 12);
    ck_assert_int_eq(layout.component_bytes, 4);
}
END_TEST

START_TEST(bytes_that_leave_63_bits_are_refused)
{
    const cc__layout untouched = {.extent_bytes = 7};
    cc__layout layout = untouched;
    const int64_t one_too_many[] = {INT64_C(1) << 60, 1, 1, 1};
    const int64_t product[] = {INT64_C(1) << 21, INT64_C(1) << 21, INT64_C(1) << 21, 1};
    const int64_t bytes[] = {INT64_MAX / 4 + 1, 1, 1, 1};
    expect_failure(CC_ERROR_OVERFLOW, "size", layout_dense(one_too_many, CC_PIXEL_FLOAT64, 1, &layout));
    expect_failure(CC_ERROR_OVERFLOW, "size", layout_dense(product, CC_PIXEL_UINT8, 1, &layout));
    expect_failure(CC_ERROR_OVERFLOW, "size", layout_dense(bytes, CC_PIXEL_FLOAT32, 1, &layout));
    /* The strides of an image without pixels are numbers too. */
    const int64_t empty[] = {INT64_C(1) << 40, INT64_C(1) << 40, 0, 1};
    expect_failure(CC_ERROR_OVERFLOW, "size", layout_dense(empty, CC_PIXEL_UINT8, 1, &layout));
    ck_assert_int_eq(layout.extent_bytes, 7);

    const int64_t most[] = {INT64_MAX, 1, 1, 1};
    ck_assert_int_eq(layout_dense(most, CC_PIXEL_UINT8, 1, &layout), CC_OK);
    ck_assert_int_eq(layout.extent_bytes, INT64_MAX);
}
END_TEST

START_TEST(pixels_must_be_of_a_known_kind)
{
    cc__layout layout;
    const int64_t size[] = {1, 1, 1, 1};
    expect_failure(CC_ERROR_PIXEL_TYPE, "pixel_type = 15", layout_dense(size, (cc_pixel_type)15, 1, &layout));
    expect_failure(CC_ERROR_PIXEL_TYPE, "pixel_type = -1", layout_dense(size, (cc_pixel_type)-1, 1, &layout));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "components = 0", layout_dense(size, CC_PIXEL_UINT8, 0, &layout));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "components = 65", layout_dense(size, CC_PIXEL_UINT8, 65, &layout));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "components", layout_dense(size, CC_PIXEL_UINT8, INT32_MIN, &layout));
    ck_assert_int_eq(layout_dense(size, CC_PIXEL_COMPLEX128, 64, &layout), CC_OK);
    ck_assert_int_eq(layout.pixel_bytes, 1024);
    ck_assert_int_eq(layout.extent_bytes, 1024);
}
END_TEST

START_TEST(an_axis_without_pixels_keeps_the_strides)
{
    cc__layout layout;
    const int64_t size[] = {3, 0, 4, 1};
    ck_assert_int_eq(layout_dense(size, CC_PIXEL_FLOAT32, 1, &layout), CC_OK);
    expect_numbers(layout.stride, 4, 12, 12, 48);
    ck_assert_int_eq(layout.extent_bytes, 0);
    /* The caller's strides mean nothing then. */
    const int64_t strides[] = {-8, 0, 3, 1};
    ck_assert_int_eq(layout_strided(size, 3, strides, &layout), CC_OK);
    expect_numbers(layout.stride, 4, 12, 12, 48);
    ck_assert_int_eq(layout.extent_bytes, 0);
}
END_TEST

START_TEST(strides_that_overlap_or_misalign_are_refused)
{
    cc__layout layout = {.extent_bytes = 7};
    const int64_t size[] = {5, 3, 1, 1};
    const struct {
        int64_t strides[CC_MAX_DIMENSION];
        const char *named;
    } cases[] = {
        {{0, 20, 0, 0}, "strides_bytes[0] = 0"},   {{4, 0, 0, 0}, "strides_bytes[1] = 0"},
        {{-4, 20, 0, 0}, "strides_bytes[0] = -4"}, {{4, INT64_MIN, 0, 0}, "strides_bytes[1]"},
        {{6, 32, 0, 0}, "strides_bytes[0] = 6"},   {{4, 21, 0, 0}, "strides_bytes[1] = 21"},
        {{2, 20, 0, 0}, "strides_bytes[0] = 2"},   {{4, 16, 0, 0}, "strides_bytes[1] = 16, must be at least 20"},
        {{8, 4, 0, 0}, "strides_bytes[0] = 8"},    {{4, 4, 0, 0}, "strides_bytes[1] = 4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_failure(CC_ERROR_LAYOUT, cases[i].named, layout_strided(size, 2, cases[i].strides, &layout));
    const int64_t too_far[] = {4, INT64_MAX - 3, 0, 0};
    expect_failure(CC_ERROR_OVERFLOW, "strides_bytes[1]", layout_strided(size, 2, too_far, &layout));
    const int64_t just_too_far[] = {4, INT64_C(1) << 62, 0, 0};
    expect_failure(CC_ERROR_OVERFLOW, "strides_bytes[1]", layout_strided(size, 2, just_too_far, &layout));
    ck_assert_int_eq(layout.extent_bytes, 7);
    /* Three floats per pixel: the next pixel is three floats on at least. */
    const int64_t strides[] = {8, 60, 0, 0};
    ck_assert_int_eq(cc__layout_strided("f", size, CC_PIXEL_FLOAT32, 3, 2, strides, &layout), CC_ERROR_LAYOUT);
}
END_TEST

START_TEST(strides_with_gaps_or_in_any_order_are_kept)
{
    cc__layout layout;
    const int64_t size[] = {5, 3, 2, 1};
    const int64_t pitched[] = {8, 64, 256, -1};
    ck_assert_int_eq(layout_strided(size, 3, pitched, &layout), CC_OK);
    expect_numbers(layout.stride, 8, 64, 256, 120);
    ck_assert_int_eq(layout.extent_bytes, 4 * 8 + 2 * 64 + 256 + 4);
    const int64_t last_axis_fastest[] = {24, 8, 4, -1};
    ck_assert_int_eq(layout_strided(size, 3, last_axis_fastest, &layout), CC_OK);
    expect_numbers(layout.stride, 24, 8, 4, 120);
    ck_assert_int_eq(layout.extent_bytes, 120);
}
END_TEST

START_TEST(an_axis_of_one_pixel_may_have_any_stride)
{
    cc__layout layout;
    const int64_t size[] = {1, 3, 1, 1};
    const int64_t strides[] = {-5, 4, 0, INT64_MAX};
    ck_assert_int_eq(layout_strided(size, 4, strides, &layout), CC_OK);
    expect_numbers(layout.stride, 4, 4, 12, 12);
    ck_assert_int_eq(layout.extent_bytes, 12);
}
END_TEST

START_TEST(offsets_count_every_axis)
{
    cc__layout layout;
    const int64_t size[] = {64, 64, 10, 2};
    ck_assert_int_eq(layout_dense(size, CC_PIXEL_FLOAT32, 1, &layout), CC_OK);
    /* cases.md T24: the fifth slice. */
    ck_assert_int_eq(cc__layout_offset(&layout, (const int64_t[]){0, 0, 4, 0}), 65536);
    ck_assert_int_eq(cc__layout_offset(&layout, (const int64_t[]){3, 2, 1, 1}), 12 + 512 + 16384 + 163840);
}
END_TEST

static cc_region line(int64_t index, int64_t size)
{
    return (cc_region){{index, 0, 0, 0}, {size, 1, 1, 1}};
}

START_TEST(a_region_inside_another_becomes_its_box)
{
    const cc_region outer = {{-5, 10, 0, 0}, {10, 20, 1, 1}};
    const cc_region inner = {{-2, 25, 0, 0}, {7, 5, 1, 1}};
    cc__box box;
    ck_assert(cc__region_to_box(&outer, &inner, &box));
    expect_numbers(box.start, 3, 15, 0, 0);
    expect_numbers(box.size, 7, 5, 1, 1);
    ck_assert(cc__region_to_box(&outer, &outer, &box));
    expect_numbers(box.start, 0, 0, 0, 0);
    expect_numbers(box.size, 10, 20, 1, 1);
}
END_TEST

START_TEST(a_region_that_leaves_another_is_no_box)
{
    static const struct {
        int64_t outer_index, outer_size, index, size;
        bool inside;
    } cases[] = {
        {0, 10, -1, 5, false},
        {0, 10, 6, 5, false},
        {0, 10, 11, 0, false},
        {0, 10, 10, 0, true},
        {0, 10, 10, 1, false},
        {0, 10, -1, 0, false},
        {0, 0, 0, 0, true},
        {0, 0, 0, 1, false},
        {INT64_MIN, INT64_MAX, INT64_MIN, INT64_MAX, true},
        {INT64_MIN, INT64_MAX, -1, 0, true},
        {INT64_MIN, INT64_MAX, 0, 0, false},
        {INT64_MIN, 5, INT64_MAX, 0, false},
        {INT64_MAX - 5, 5, INT64_MIN, 5, false},
        {INT64_MAX - 5, 5, INT64_MAX - 1, 1, true},
        {INT64_MAX - 5, 5, INT64_MAX, 0, true},
        {0, INT64_MAX, 1, INT64_MAX, false},
        {0, INT64_MAX, INT64_MAX, INT64_MAX, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const cc_region outer = line(cases[i].outer_index, cases[i].outer_size);
        const cc_region inner = line(cases[i].index, cases[i].size);
        cc__box box = {{-9, -9, -9, -9}, {-9, -9, -9, -9}};
        ck_assert_msg(cc__region_to_box(&outer, &inner, &box) == cases[i].inside, "case %zu", i);
        ck_assert_int_eq(box.start[1], cases[i].inside ? 0 : -9);
        if (cases[i].inside)
            ck_assert_int_eq(box.start[0], cases[i].index - cases[i].outer_index);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layout");
    TCase *cases = tcase_create("layout");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, a_refused_region_writes_nothing);
    tcase_add_test(cases, a_region_reaches_to_the_end_of_63_bits);
    tcase_add_test(cases, large_volumes_need_64_bits);
    tcase_add_test(cases, bytes_that_leave_63_bits_are_refused);
    tcase_add_test(cases, pixels_must_be_of_a_known_kind);
    tcase_add_test(cases, an_axis_without_pixels_keeps_the_strides);
    tcase_add_test(cases, strides_that_overlap_or_misalign_are_refused);
    tcase_add_test(cases, strides_with_gaps_or_in_any_order_are_kept);
    tcase_add_test(cases, an_axis_of_one_pixel_may_have_any_stride);
    tcase_add_test(cases, offsets_count_every_axis);
    tcase_add_test(cases, a_region_inside_another_becomes_its_box);
    tcase_add_test(cases, a_region_that_leaves_another_is_no_box);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
