/* Views: part of the same pixels, coherent with the whole in both directions. */
#include "base/allocate.h"
#include "support/byte_pixels.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

static cc_image *image;
static const cc_region inside = {{12, 23, 0, 0}, {4, 3, 1, 1}};

/* 10 x 8 pixels, the first at (10, 20). */
static void set_up(void)
{
    const int64_t index[CC_MAX_DIMENSION] = {10, 20, 0, 0};
    fixture_setup();
    image = fixture_image(CC_PIXEL_UINT8, 1, 2, 10, 8, 1);
    fixture_ok(cc_image_set_index(image, index));
}

static void tear_down(void)
{
    cc_image_release(image);
    fixture_teardown();
}

static cc_image *must_view(cc_image *of, cc_region region)
{
    cc_image *view = NULL;
    fixture_ok(cc_image_create_view(of, &region, &view));
    ck_assert_ptr_nonnull(view);
    return view;
}

START_TEST(a_view_is_an_image_of_its_region)
{
    const double spacing[CC_MAX_DIMENSION] = {0.5, 2, 1, 1};
    double got[CC_MAX_DIMENSION], point[2][CC_MAX_DIMENSION];
    fixture_ok(cc_image_set_spacing(image, spacing));
    cc_image *view = must_view(image, inside);
    const cc_region region = cc_image_get_region(view);
    ck_assert_mem_eq(&region, &inside, sizeof region);
    ck_assert_int_eq(cc_image_get_dimension(view), 2);
    ck_assert_int_eq(cc_image_get_pixel_type(view), CC_PIXEL_UINT8);
    ck_assert_int_eq(cc_image_get_components(view), 1);
    ck_assert_uint_eq(cc_image_get_size_bytes(view), 12);
    ck_assert_int_eq(cc_image_get_device(view), cc_image_get_device(image));
    fixture_ok(cc_image_get_spacing(view, got));
    ck_assert_mem_eq(got, spacing, sizeof got);
    /* Each pixel keeps its place in space. */
    fixture_ok(cc_image_get_point(image, inside.index, point[0]));
    fixture_ok(cc_image_get_point(view, inside.index, point[1]));
    ck_assert_mem_eq(point[0], point[1], sizeof point[0]);
    cc_image_release(view);
}
END_TEST

START_TEST(arguments_are_checked)
{
    cc_image *const untouched = (cc_image *)(uintptr_t)0x5eed;
    cc_image *view = untouched;
    cc_region region = inside;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_create_view(NULL, &inside, &view));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "region", cc_image_create_view(image, NULL, &view));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_view", cc_image_create_view(image, &inside, NULL));
    region.size[1] = -1;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "region.size[1] = -1", cc_image_create_view(image, &region, &view));
    expect_allocations_to_fail_from(1);
    expect_failure(CC_ERROR_OUT_OF_HOST_MEMORY, "", cc_image_create_view(image, &inside, &view));
    cc__allocate_set_hook(NULL);
    ck_assert_ptr_eq(view, untouched);
}
END_TEST

static const cc_region outside[] = {
    {{9, 20, 0, 0}, {1, 1, 1, 1}},
    {{10, 28, 0, 0}, {1, 1, 1, 1}},
    {{10, 20, 0, 0}, {11, 8, 1, 1}},
    {{19, 27, 0, 0}, {1, 2, 1, 1}},
    {{0, 0, 0, 0}, {10, 8, 1, 1}},
    {{INT64_MAX, 20, 0, 0}, {1, 1, 1, 1}},
    {{INT64_MIN, 20, 0, 0}, {INT64_MAX, 1, 1, 1}},
    {{10, 20, 0, 0}, {1, INT64_MAX, 1, 1}},
    {{INT64_MAX, INT64_MAX, 0, 0}, {INT64_MAX, INT64_MAX, 1, 1}},
    {{21, 20, 0, 0}, {0, 1, 1, 1}},
    {{9, 20, 0, 0}, {0, 1, 1, 1}},
};

START_TEST(a_region_outside_is_refused)
{
    cc_image *view = NULL;
    expect_failure(CC_ERROR_REGION, "region", cc_image_create_view(image, &outside[_i], &view));
    ck_assert_ptr_null(view);
}
END_TEST

START_TEST(an_empty_view_inside_or_at_the_end)
{
    cc_region regions[] = {region_at(14, 24, 0, 2), region_at(20, 20, 0, 8), region_at(10, 28, 10, 0)};
    for (int32_t i = 0; i < 3; ++i) {
        void *pixels = &regions;
        cc_image *view = must_view(image, regions[i]);
        ck_assert_uint_eq(cc_image_get_size_bytes(view), 0);
        fixture_ok(cc_image_map_host(view, NULL, CC_ACCESS_READ_WRITE, &pixels));
        ck_assert_ptr_null(pixels);
        fixture_ok(cc_image_unmap_host(view, pixels));
        cc_image_release(view);
    }
}
END_TEST

START_TEST(both_see_what_either_writes_on_the_host)
{
    cc_image *view = must_view(image, inside);
    byte_pixels_write_host(image, NULL, 1);
    byte_pixels_expect_host(view, NULL, 1);
    byte_pixels_write_host(view, NULL, 2);
    byte_pixels_expect_host(image, &inside, 2);
    const cc_region before = region_at(10, 20, 10, 3), left = region_at(10, 23, 2, 3), right = region_at(16, 23, 4, 3);
    byte_pixels_expect_host(image, &before, 1);
    byte_pixels_expect_host(image, &left, 1);
    byte_pixels_expect_host(image, &right, 1);
    cc_image_release(view);
}
END_TEST

START_TEST(both_see_what_either_writes_on_a_device)
{
    if (fixture_device_count() == 0)
        return;
    cc_image *view = must_view(image, inside);
    byte_pixels_write_host(image, NULL, 1);
    byte_pixels_write_device(view, NULL, 2, CC_STREAM_DEFAULT);
    byte_pixels_expect_host(image, &inside, 2);
    const cc_region left = region_at(10, 23, 2, 3);
    byte_pixels_expect_host(image, &left, 1);
    byte_pixels_write_device(image, NULL, 3, CC_STREAM_DEFAULT);
    byte_pixels_expect_host(view, NULL, 3);
    cc_image_release(view);
}
END_TEST

START_TEST(a_view_has_the_strides_of_the_whole)
{
    void *whole = NULL, *part = NULL;
    int64_t strides[CC_MAX_DIMENSION];
    cc_image *view = must_view(image, inside);
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &whole));
    fixture_ok(cc_image_map_host(view, NULL, CC_ACCESS_READ, &part));
    ck_assert_int_eq((char *)part - (char *)whole, 3 * 10 + 2);
    byte_pixels_strides(view, CC_PLACE_HOST, strides);
    ck_assert_int_eq(strides[1], 10);
    fixture_ok(cc_image_unmap_host(view, part));
    fixture_ok(cc_image_unmap_host(image, whole));
    cc_image_release(view);
}
END_TEST

START_TEST(a_view_of_a_view)
{
    cc_image *view = must_view(image, inside);
    cc_image *pixel = must_view(view, region_at(15, 25, 1, 1));
    const cc_region last = region_at(15, 25, 1, 1);
    cc_image *too_far = NULL;
    const cc_region of_the_image_only = region_at(10, 20, 1, 1);
    expect_failure(CC_ERROR_REGION, "region", cc_image_create_view(view, &of_the_image_only, &too_far));
    byte_pixels_write_host(pixel, NULL, 9);
    byte_pixels_expect_host(image, &last, 9);
    byte_pixels_expect_host(view, &last, 9);
    cc_image_release(view);
    byte_pixels_write_host(pixel, NULL, 8);
    byte_pixels_expect_host(image, &last, 8);
    cc_image_release(pixel);
}
END_TEST

START_TEST(a_view_keeps_the_pixels_alive)
{
    cc_image *view = must_view(image, inside);
    byte_pixels_write_host(image, NULL, 5);
    cc_image_release(image);
    byte_pixels_expect_host(view, NULL, 5);
    image = view;
}
END_TEST

START_TEST(a_view_with_an_index_of_its_own)
{
    const int64_t index[CC_MAX_DIMENSION] = {-100, 0, 0, 0};
    cc_image *view = must_view(image, inside);
    fixture_ok(cc_image_set_index(view, index));
    const cc_region corner = region_at(-97, 2, 1, 1), same = region_at(15, 25, 1, 1);
    byte_pixels_write_host(view, &corner, 4);
    byte_pixels_expect_host(image, &same, 4);
    expect_failure(CC_ERROR_REGION, "region", cc_image_prefetch(view, &same, CC_PLACE_HOST));
    cc_image_release(view);
}
END_TEST

/* What excludes what is decided by pixels, not by handles. */
START_TEST(handles_exclude_each_other_by_pixels)
{
    void *whole = NULL, *part = NULL, *refused = &whole;
    cc_image *view = must_view(image, inside);
    fixture_ok(cc_image_map_host(view, NULL, CC_ACCESS_WRITE, &part));
    expect_failure(CC_ERROR_BUSY, "", cc_image_map_host(image, NULL, CC_ACCESS_READ, &refused));
    ck_assert_ptr_eq(refused, &whole);
    const cc_region elsewhere = region_at(10, 20, 10, 3);
    fixture_ok(cc_image_map_host(image, &elsewhere, CC_ACCESS_WRITE, &whole));
    /* A pointer belongs to the handle that mapped it. */
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "pixels", cc_image_unmap_host(image, part));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "pixels", cc_image_unmap_host(view, whole));
    fixture_ok(cc_image_unmap_host(image, whole));
    fixture_ok(cc_image_unmap_host(view, part));
    cc_image_release(view);
}
END_TEST

START_TEST(a_view_goes_to_a_device_of_its_own)
{
    if (fixture_device_count() < 2)
        return;
    cc_image *view = must_view(image, inside);
    fixture_ok(cc_image_set_device(image, 0));
    fixture_ok(cc_image_set_device(view, 1));
    byte_pixels_write_device(image, NULL, 1, CC_STREAM_DEFAULT);
    byte_pixels_write_device(view, NULL, 2, CC_STREAM_DEFAULT);
    byte_pixels_expect_device(image, &inside, 2, CC_STREAM_DEFAULT);
    ck_assert_int_eq(cc_image_get_device(image), 0);
    ck_assert_uint_eq(fixture_counters(image).device_to_device_bytes, 12);
    cc_image_release(view);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("view");
    TCase *tcase = tcase_create("view");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_view_is_an_image_of_its_region);
    tcase_add_test(tcase, arguments_are_checked);
    tcase_add_loop_test(tcase, a_region_outside_is_refused, 0, sizeof outside / sizeof outside[0]);
    tcase_add_test(tcase, an_empty_view_inside_or_at_the_end);
    tcase_add_test(tcase, both_see_what_either_writes_on_the_host);
    tcase_add_test(tcase, both_see_what_either_writes_on_a_device);
    tcase_add_test(tcase, a_view_has_the_strides_of_the_whole);
    tcase_add_test(tcase, a_view_of_a_view);
    tcase_add_test(tcase, a_view_keeps_the_pixels_alive);
    tcase_add_test(tcase, a_view_with_an_index_of_its_own);
    tcase_add_test(tcase, handles_exclude_each_other_by_pixels);
    tcase_add_test(tcase, a_view_goes_to_a_device_of_its_own);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
