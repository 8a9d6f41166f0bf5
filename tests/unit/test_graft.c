/* Handles that get other pixels: graft, resize; and the device they use. */
#include "base/allocate.h"
#include "support/byte_pixels.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

static cc_image *image, *source;

/* image: 3 float pairs. source: 6 x 5 bytes from (-2, 7), all 1. */
static void set_up(void)
{
    const double spacing[CC_MAX_DIMENSION] = {0.5, 2, 1, 1};
    const int64_t index[CC_MAX_DIMENSION] = {-2, 7, 0, 0};
    fixture_setup();
    image = fixture_image(CC_PIXEL_FLOAT32, 2, 1, 3, 1, 1);
    source = fixture_image(CC_PIXEL_UINT8, 1, 2, 6, 5, 1);
    fixture_ok(cc_image_set_spacing(source, spacing));
    fixture_ok(cc_image_set_index(source, index));
    byte_pixels_write_host(source, NULL, 1);
}

static void tear_down(void)
{
    cc_image_release(image);
    cc_image_release(source);
    fixture_teardown();
}

static int32_t releases;

static void count_release(void *data, void *user_data)
{
    (void)data;
    ck_assert_ptr_eq(user_data, &releases);
    ++releases;
}

/* What the handle holds from now on tells when it is let go. */
static void hold_wrapped(cc_image *holder, void *data)
{
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    params.data = data;
    params.size_bytes = cc_image_get_size_bytes(holder);
    params.release = count_release;
    params.user_data = &releases;
    releases = 0;
    fixture_ok(cc_image_wrap_host(holder, &params));
}

START_TEST(a_graft_takes_over_all_that_is_about_pixels)
{
    int32_t mine = 0;
    double got[CC_MAX_DIMENSION];
    fixture_ok(cc_image_set_user_pointer(image, &mine));
    if (fixture_device_count() > 1)
        fixture_ok(cc_image_set_device(source, 1));
    fixture_ok(cc_image_graft(image, source));
    const cc_region region = cc_image_get_region(image), expected = {{-2, 7, 0, 0}, {6, 5, 1, 1}};
    ck_assert_mem_eq(&region, &expected, sizeof region);
    ck_assert_int_eq(cc_image_get_dimension(image), 2);
    ck_assert_int_eq(cc_image_get_pixel_type(image), CC_PIXEL_UINT8);
    ck_assert_int_eq(cc_image_get_components(image), 1);
    ck_assert_int_eq(cc_image_get_device(image), cc_image_get_device(source));
    ck_assert_uint_eq(cc_image_get_generation(image), cc_image_get_generation(source));
    fixture_ok(cc_image_get_spacing(image, got));
    ck_assert_double_eq(got[0], 0.5);
    ck_assert_ptr_eq(cc_image_get_user_pointer(image), &mine);
}
END_TEST

START_TEST(both_see_what_either_writes)
{
    fixture_ok(cc_image_graft(image, source));
    byte_pixels_expect_host(image, NULL, 1);
    byte_pixels_write_host(image, NULL, 2);
    byte_pixels_expect_host(source, NULL, 2);
    if (fixture_device_count() == 0)
        return;
    byte_pixels_write_device(source, NULL, 3, CC_STREAM_DEFAULT);
    byte_pixels_expect_host(image, NULL, 3);
    byte_pixels_write_host(image, NULL, 4);
    byte_pixels_expect_device(source, NULL, 4, CC_STREAM_DEFAULT);
}
END_TEST

START_TEST(the_pixels_live_as_long_as_one_of_them)
{
    fixture_ok(cc_image_graft(image, source));
    cc_image_release(source);
    source = NULL;
    byte_pixels_expect_host(image, NULL, 1);
}
END_TEST

START_TEST(each_keeps_its_own_region_and_geometry)
{
    const int64_t index[CC_MAX_DIMENSION] = {100, 200, 0, 0};
    const double origin[CC_MAX_DIMENSION] = {9, 9, 0, 0};
    double got[CC_MAX_DIMENSION];
    fixture_ok(cc_image_graft(image, source));
    fixture_ok(cc_image_set_index(image, index));
    fixture_ok(cc_image_set_origin(image, origin));
    ck_assert_int_eq(cc_image_get_index(source, 0), -2);
    fixture_ok(cc_image_get_origin(source, got));
    ck_assert_double_eq(got[0], 0);
    const cc_region here = region_at(105, 204, 1, 1), there = region_at(3, 11, 1, 1);
    byte_pixels_write_host(image, &here, 7);
    byte_pixels_expect_host(source, &there, 7);
}
END_TEST

START_TEST(a_graft_of_a_view_is_that_part)
{
    const cc_region region = region_at(0, 8, 2, 3);
    cc_image *view = NULL;
    fixture_ok(cc_image_create_view(source, &region, &view));
    fixture_ok(cc_image_graft(image, view));
    cc_image_release(view);
    byte_pixels_write_host(image, NULL, 9);
    byte_pixels_expect_host(source, &region, 9);
    const cc_region before = region_at(-2, 7, 6, 1);
    byte_pixels_expect_host(source, &before, 1);
}
END_TEST

START_TEST(what_was_there_is_let_go)
{
    float pixels[6] = {0};
    hold_wrapped(image, pixels);
    fixture_ok(cc_image_graft(image, source));
    ck_assert_int_eq(releases, 1);
}
END_TEST

START_TEST(what_a_view_uses_is_kept)
{
    float pixels[6] = {0};
    cc_image *view = NULL;
    const cc_region all = {.size = {3, 0, 0, 0}};
    hold_wrapped(image, pixels);
    fixture_ok(cc_image_create_view(image, &all, &view));
    fixture_ok(cc_image_graft(image, source));
    ck_assert_int_eq(releases, 0);
    cc_image_release(view);
    ck_assert_int_eq(releases, 1);
}
END_TEST

START_TEST(a_graft_of_itself_changes_nothing)
{
    const long live = cc__allocations_live();
    fixture_ok(cc_image_graft(source, source));
    byte_pixels_expect_host(source, NULL, 1);
    ck_assert_int_eq(cc__allocations_live(), live);
    fixture_ok(cc_image_graft(image, source));
    fixture_ok(cc_image_graft(source, image));
    byte_pixels_expect_host(source, NULL, 1);
}
END_TEST

START_TEST(bad_grafts_are_refused)
{
    void *pixels = NULL;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_graft(NULL, source));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "source", cc_image_graft(image, NULL));
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_BUSY, "image", cc_image_graft(image, source));
    ck_assert_int_eq(cc_image_get_pixel_type(image), CC_PIXEL_FLOAT32);
    fixture_ok(cc_image_unmap_host(image, pixels));
    /* What is lent of the source does not matter. */
    fixture_ok(cc_image_map_host(source, NULL, CC_ACCESS_WRITE, &pixels));
    fixture_ok(cc_image_graft(image, source));
    fixture_ok(cc_image_unmap_host(source, pixels));
}
END_TEST

START_TEST(a_resized_image_is_all_zero)
{
    const cc_region region = {{5, -5, 99, 99}, {8, 4, -1, -1}}, expected = {{5, -5, 0, 0}, {8, 4, 1, 1}};
    const uint64_t generation = cc_image_get_generation(source);
    const faulty_counts before = faulty_backend_counts(fixture_backend);
    fixture_ok(cc_image_resize(source, &region));
    const cc_region got = cc_image_get_region(source);
    ck_assert_mem_eq(&got, &expected, sizeof got);
    ck_assert_uint_ne(cc_image_get_generation(source), generation);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).total_calls, before.total_calls);
    ck_assert_uint_eq(fixture_counters(source).host_allocations, 0);
    byte_pixels_expect_host(source, NULL, 0);
}
END_TEST

START_TEST(resizing_defines_what_was_undefined)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *undefined = NULL;
    params.dimension = 2;
    params.pixel_type = CC_PIXEL_UINT8;
    params.flags = CC_IMAGE_UNINITIALIZED;
    params.region.size[0] = params.region.size[1] = 4;
    fixture_ok(cc_image_create(&params, &undefined));
    fixture_ok(cc_image_resize(undefined, &params.region));
    byte_pixels_expect_host(undefined, NULL, 0);
    cc_image_release(undefined);
}
END_TEST

START_TEST(views_and_grafts_keep_the_old_pixels)
{
    const cc_region region = region_at(-2, 7, 2, 2), larger = region_at(0, 0, 9, 9);
    cc_image *view = NULL;
    fixture_ok(cc_image_graft(image, source));
    fixture_ok(cc_image_create_view(source, &region, &view));
    fixture_ok(cc_image_resize(source, &larger));
    byte_pixels_expect_host(view, NULL, 1);
    byte_pixels_expect_host(image, NULL, 1);
    byte_pixels_write_host(view, NULL, 2);
    byte_pixels_expect_host(image, &region, 2);
    byte_pixels_expect_host(source, NULL, 0);
    cc_image_release(view);
}
END_TEST

START_TEST(bad_sizes_are_refused_and_change_nothing)
{
    cc_region region = region_at(0, 0, 4, -1);
    void *pixels = NULL;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_resize(NULL, &region));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "region", cc_image_resize(source, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "size[1] = -1", cc_image_resize(source, &region));
    region = region_at(INT64_MAX, 0, 1, 1);
    expect_failure(CC_ERROR_OVERFLOW, "index[0]", cc_image_resize(source, &region));
    region = region_at(0, 0, (int64_t)1 << 32, (int64_t)1 << 31);
    expect_failure(CC_ERROR_OVERFLOW, "size", cc_image_resize(source, &region));
    region = region_at(0, 0, 4, 4);
    expect_allocations_to_fail_from(1);
    expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY, cc_image_resize(source, &region));
    cc__allocate_set_hook(NULL);
    fixture_ok(cc_image_map_host(source, NULL, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_BUSY, "image", cc_image_resize(source, &region));
    fixture_ok(cc_image_unmap_host(source, pixels));
    ck_assert_int_eq(cc_image_get_size(source, 0), 6);
    byte_pixels_expect_host(source, NULL, 1);
}
END_TEST

START_TEST(resizing_lets_go_of_wrapped_memory)
{
    unsigned char pixels[30] = {0};
    const cc_region region = region_at(0, 0, 1, 1);
    hold_wrapped(source, pixels);
    fixture_ok(cc_image_resize(source, &region));
    ck_assert_int_eq(releases, 1);
    fixture_ok(cc_image_resize(source, &region));
    ck_assert_int_eq(releases, 1);
}
END_TEST

START_TEST(only_a_device_there_is_can_be_set)
{
    const int32_t count = fixture_device_count();
    const cc_status beyond = count == 0 ? CC_ERROR_NO_DEVICE : CC_ERROR_INVALID_DEVICE;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_set_device(NULL, 0));
    expect_failure(beyond, "device = -1", cc_image_set_device(source, CC_PLACE_HOST));
    expect_failure(beyond, "device = -2", cc_image_set_device(source, CC_DEVICE_CURRENT));
    expect_failure(beyond, "device = 99", cc_image_set_device(source, 99));
    ck_assert_int_eq(cc_image_get_device(source), CC_DEVICE_CURRENT);
    for (int32_t device = 0; device < count; ++device) {
        fixture_ok(cc_image_set_device(source, device));
        ck_assert_int_eq(cc_image_get_device(source), device);
    }
}
END_TEST

START_TEST(another_device_gets_what_it_needs)
{
    const int32_t count = fixture_device_count();
    for (int32_t device = 0; device < count; ++device) {
        fixture_ok(cc_image_set_device(source, device));
        byte_pixels_expect_device(source, NULL, 1, CC_STREAM_DEFAULT);
    }
    const cc_counters counters = fixture_counters(source);
    ck_assert_uint_eq(counters.host_to_device_copies + counters.device_to_device_copies, (uint64_t)count);
    ck_assert_uint_eq(counters.device_to_host_copies, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graft");
    TCase *tcase = tcase_create("graft");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_graft_takes_over_all_that_is_about_pixels);
    tcase_add_test(tcase, both_see_what_either_writes);
    tcase_add_test(tcase, the_pixels_live_as_long_as_one_of_them);
    tcase_add_test(tcase, each_keeps_its_own_region_and_geometry);
    tcase_add_test(tcase, a_graft_of_a_view_is_that_part);
    tcase_add_test(tcase, what_was_there_is_let_go);
    tcase_add_test(tcase, what_a_view_uses_is_kept);
    tcase_add_test(tcase, a_graft_of_itself_changes_nothing);
    tcase_add_test(tcase, bad_grafts_are_refused);
    tcase_add_test(tcase, a_resized_image_is_all_zero);
    tcase_add_test(tcase, resizing_defines_what_was_undefined);
    tcase_add_test(tcase, views_and_grafts_keep_the_old_pixels);
    tcase_add_test(tcase, bad_sizes_are_refused_and_change_nothing);
    tcase_add_test(tcase, resizing_lets_go_of_wrapped_memory);
    tcase_add_test(tcase, only_a_device_there_is_can_be_set);
    tcase_add_test(tcase, another_device_gets_what_it_needs);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
