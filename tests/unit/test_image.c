/* Making images: what is accepted, what an image then says of itself, and who owns it. */
#include "base/allocate.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static cc_image *const untouched = (cc_image *)(uintptr_t)0x5eed;

static cc_image_params good_params(void)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    params.dimension = 3;
    params.pixel_type = CC_PIXEL_FLOAT32;
    params.components = 2;
    params.region = (cc_region){{-4, 5, 600, 0}, {7, 5, 3, 0}};
    return params;
}

static cc_image *must_create(const cc_image_params *params)
{
    cc_image *image = NULL;
    fixture_ok(cc_image_create(params, &image));
    ck_assert_ptr_nonnull(image);
    return image;
}

START_TEST(an_image_says_what_it_was_made_of)
{
    cc_image_params params = good_params();
    params.device = 0;
    cc_image *image = must_create(&params);
    ck_assert_int_eq(cc_image_get_dimension(image), 3);
    ck_assert_int_eq(cc_image_get_pixel_type(image), CC_PIXEL_FLOAT32);
    ck_assert_int_eq(cc_image_get_components(image), 2);
    ck_assert_int_eq(cc_image_get_device(image), 0);
    ck_assert_uint_eq(cc_image_get_size_bytes(image), 7 * 5 * 3 * 8);
    ck_assert_int_eq(cc_image_get_read_only(image), 0);
    const cc_region region = cc_image_get_region(image);
    const cc_region expected = {{-4, 5, 600, 0}, {7, 5, 3, 1}};
    ck_assert_mem_eq(&region, &expected, sizeof region);
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        ck_assert_int_eq(cc_image_get_size(image, axis), expected.size[axis]);
        ck_assert_int_eq(cc_image_get_index(image, axis), expected.index[axis]);
    }
    ck_assert_int_eq(cc_image_get_size(image, -1), 0);
    ck_assert_int_eq(cc_image_get_size(image, CC_MAX_DIMENSION), 0);
    ck_assert_int_eq(cc_image_get_index(image, -1), 0);
    ck_assert_int_eq(cc_image_get_index(image, CC_MAX_DIMENSION), 0);
    cc_image_release(image);
}
END_TEST

START_TEST(no_image_says_nothing)
{
    const cc_region region = cc_image_get_region(NULL);
    const cc_region none = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    ck_assert_mem_eq(&region, &none, sizeof region);
    ck_assert_int_eq(cc_image_get_dimension(NULL), 0);
    ck_assert_int_eq(cc_image_get_pixel_type(NULL), CC_PIXEL_BOOL);
    ck_assert_int_eq(cc_image_get_components(NULL), 0);
    ck_assert_int_eq(cc_image_get_device(NULL), CC_DEVICE_CURRENT);
    ck_assert_int_eq(cc_image_get_size(NULL, 0), 0);
    ck_assert_int_eq(cc_image_get_index(NULL, 0), 0);
    ck_assert_uint_eq(cc_image_get_size_bytes(NULL), 0);
    ck_assert_int_eq(cc_image_get_read_only(NULL), 0);
    ck_assert_uint_eq(cc_image_get_generation(NULL), 0);
    ck_assert_ptr_null(cc_image_get_user_pointer(NULL));
    ck_assert_ptr_null(cc_image_retain(NULL));
    cc_image_release(NULL);
}
END_TEST

/* Past the image's dimension, entries are ignored on the way in and plain on the way out. */
START_TEST(unused_axes_are_ignored)
{
    for (int32_t dimension = 1; dimension <= CC_MAX_DIMENSION; ++dimension) {
        cc_image_params params = CC_IMAGE_PARAMS_INIT;
        params.dimension = dimension;
        params.pixel_type = CC_PIXEL_UINT16;
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
            const bool used = axis < dimension;
            params.region.index[axis] = used ? -axis : INT64_MAX;
            params.region.size[axis] = used ? 2 + axis : -77;
            params.spacing[axis] = used ? 0.5 : -1;
            params.origin[axis] = used ? 3 : NAN;
            for (int32_t column = 0; column < CC_MAX_DIMENSION; ++column)
                if (!used || column >= dimension)
                    params.direction[axis][column] = INFINITY;
        }
        cc_image *image = must_create(&params);
        double spacing[CC_MAX_DIMENSION], origin[CC_MAX_DIMENSION], direction[CC_MAX_DIMENSION][CC_MAX_DIMENSION];
        fixture_ok(cc_image_get_spacing(image, spacing));
        fixture_ok(cc_image_get_origin(image, origin));
        fixture_ok(cc_image_get_direction(image, direction[0]));
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
            const bool used = axis < dimension;
            ck_assert_int_eq(cc_image_get_index(image, axis), used ? -axis : 0);
            ck_assert_int_eq(cc_image_get_size(image, axis), used ? 2 + axis : 1);
            ck_assert_double_eq(spacing[axis], used ? 0.5 : 1);
            ck_assert_double_eq(origin[axis], used ? 3 : 0);
            for (int32_t column = 0; column < CC_MAX_DIMENSION; ++column)
                ck_assert_double_eq(direction[axis][column], axis == column);
        }
        cc_image_release(image);
    }
}
END_TEST

#define expect_refused(expected, argument)                                                                             \
    do {                                                                                                               \
        expect_failure(expected, argument, cc_image_create(&params, &image));                                          \
        ck_assert_ptr_eq(image, untouched);                                                                            \
        params = good_params();                                                                                        \
    } while (0)

START_TEST(bad_params_are_refused_by_name)
{
    cc_image_params params = good_params();
    cc_image *image = untouched;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params", cc_image_create(NULL, &image));
    ck_assert_ptr_eq(image, untouched);
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_image", cc_image_create(&params, NULL));
    for (params.dimension = -1; params.dimension <= 0; ++params.dimension)
        expect_failure(CC_ERROR_INVALID_ARGUMENT, "dimension", cc_image_create(&params, &image));
    params.dimension = 5;
    expect_refused(CC_ERROR_INVALID_ARGUMENT, "dimension = 5");
    params.pixel_type = -1;
    expect_refused(CC_ERROR_PIXEL_TYPE, "pixel_type = -1");
    params.pixel_type = CC_PIXEL_COMPLEX128 + 1;
    expect_refused(CC_ERROR_PIXEL_TYPE, "pixel_type = 15");
    params.components = 0;
    expect_refused(CC_ERROR_INVALID_ARGUMENT, "components = 0");
    params.components = -3;
    expect_refused(CC_ERROR_INVALID_ARGUMENT, "components = -3");
    params.components = CC_MAX_COMPONENTS + 1;
    expect_refused(CC_ERROR_INVALID_ARGUMENT, "components = 65");
    params.device = -3;
    expect_refused(CC_ERROR_INVALID_ARGUMENT, "device = -3");
    params.device = CC_PLACE_HOST;
    expect_refused(CC_ERROR_INVALID_ARGUMENT, "device = -1");
    params.flags = 2;
    expect_refused(CC_ERROR_INVALID_ARGUMENT, "flags = 0x2");
    params.flags = UINT32_MAX;
    expect_refused(CC_ERROR_INVALID_ARGUMENT, "flags");
    params.region.size[1] = -1;
    expect_refused(CC_ERROR_INVALID_ARGUMENT, "size[1] = -1");
    params.region.size[0] = INT64_MIN;
    expect_refused(CC_ERROR_INVALID_ARGUMENT, "size[0]");
}
END_TEST

START_TEST(bad_geometry_is_refused_by_name)
{
    static const double bad_spacings[] = {0, -1, -0.0, NAN, INFINITY, -INFINITY};
    static const double not_finite[] = {NAN, INFINITY, -INFINITY};
    cc_image_params params = good_params();
    cc_image *image = untouched;
    for (size_t i = 0; i < sizeof bad_spacings / sizeof bad_spacings[0]; ++i) {
        params.spacing[2] = bad_spacings[i];
        expect_refused(CC_ERROR_INVALID_ARGUMENT, "spacing[2]");
    }
    for (size_t i = 0; i < sizeof not_finite / sizeof not_finite[0]; ++i) {
        params.origin[1] = not_finite[i];
        expect_refused(CC_ERROR_INVALID_ARGUMENT, "origin[1]");
        params.direction[1][2] = not_finite[i];
        expect_refused(CC_ERROR_INVALID_ARGUMENT, "direction[1][2]");
    }
    params.direction[2][2] = 0;
    expect_refused(CC_ERROR_INVALID_ARGUMENT, "direction");
}
END_TEST

START_TEST(sizes_past_63_bits_are_refused)
{
    cc_image_params params = good_params();
    cc_image *image = untouched;
    params.region.size[0] = params.region.size[1] = (int64_t)1 << 32;
    expect_refused(CC_ERROR_OVERFLOW, "size");
    params.region.index[0] = INT64_MAX - 6;
    expect_refused(CC_ERROR_OVERFLOW, "index[0]");
    params.components = 1;
    params.pixel_type = CC_PIXEL_COMPLEX128;
    params.region.size[0] = (int64_t)1 << 59;
    params.region.size[1] = params.region.size[2] = 1;
    expect_refused(CC_ERROR_OVERFLOW, "16 bytes");
    /* One axis without pixels does not make the others right. */
    params.region.size[0] = INT64_MAX;
    params.region.size[1] = INT64_MAX;
    params.region.size[2] = 0;
    expect_refused(CC_ERROR_OVERFLOW, "size");
}
END_TEST

START_TEST(the_largest_there_can_be)
{
    cc_image_params params = good_params();
    params.components = 1;
    params.pixel_type = CC_PIXEL_INT8;
    params.region = (cc_region){{INT64_MIN, INT64_MAX - 1, INT64_MIN, 0}, {INT64_MAX, 1, 1, 0}};
    params.spacing[0] = DBL_MIN;
    params.spacing[1] = DBL_MAX;
    params.origin[0] = -DBL_MAX;
    cc_image *image = must_create(&params);
    ck_assert_uint_eq(cc_image_get_size_bytes(image), INT64_MAX);
    void *pixels = untouched;
    fixture_expect(CC_ERROR_OUT_OF_HOST_MEMORY, cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    ck_assert_ptr_eq(pixels, untouched);
    cc_image_release(image);
}
END_TEST

/* Every size a program compiled against another version could have. The memory ends where the struct does. */
START_TEST(shorter_and_longer_params)
{
    const cc_image_params known = good_params();
    const size_t enough = offsetof(cc_image_params, spacing);
    cc_image *image = untouched;
    for (size_t size = 0; size <= sizeof known; ++size) {
        unsigned char *bytes = expect_short_struct(size < sizeof known.struct_size ? sizeof known.struct_size : size);
        const uint32_t struct_size = (uint32_t)size;
        memcpy(bytes, &known, size);
        memcpy(bytes, &struct_size, sizeof struct_size);
        const cc_image_params *params = (const cc_image_params *)(const void *)bytes;
        if (size < sizeof struct_size) {
            expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size", cc_image_create(params, &image));
            ck_assert_ptr_eq(image, untouched);
        } else if (size >= enough && size % sizeof(double) == 0) {
            double spacing[CC_MAX_DIMENSION];
            fixture_ok(cc_image_create(params, &image));
            fixture_ok(cc_image_get_spacing(image, spacing));
            ck_assert_double_eq(spacing[2], 1);
            cc_image_release(image);
            image = untouched;
        } else if (size <= offsetof(cc_image_params, dimension)) {
            expect_failure(CC_ERROR_INVALID_ARGUMENT, "dimension", cc_image_create(params, &image));
        }
        free(bytes);
    }

    struct {
        cc_image_params known;
        unsigned char later[64];
    } longer;
    memset(&longer, 0xff, sizeof longer);
    longer.known = known;
    longer.known.struct_size = sizeof longer;
    fixture_ok(cc_image_create(&longer.known, &image));
    cc_image_release(image);
    longer.known.struct_size = UINT32_MAX;
    fixture_ok(cc_image_create(&longer.known, &image));
    cc_image_release(image);
}
END_TEST

START_TEST(params_make_another_image_like_it)
{
    const cc_region region = {{1, 6, 601, 0}, {3, 2, 1, 0}};
    cc_image_params params = good_params();
    params.direction[0][1] = 0.25;
    params.spacing[2] = 2.5;
    params.origin[1] = -7;
    params.device = 1;
    cc_image *image = must_create(&params), *view = NULL;
    fixture_ok(cc_image_create_view(image, &(cc_region){{-4, 6, 601, 0}, {3, 2, 1, 0}}, &view));
    fixture_ok(cc_image_set_index(view, region.index));
    cc_image_release(image);

    cc_image_params got = CC_IMAGE_PARAMS_INIT;
    got.flags = CC_IMAGE_UNINITIALIZED;
    fixture_ok(cc_image_get_params(view, &got));
    ck_assert_uint_eq(got.struct_size, sizeof got);
    ck_assert_uint_eq(got.flags, 0);
    cc_image *other = must_create(&got);
    cc_region of_other = cc_image_get_region(other);
    ck_assert_mem_eq(of_other.index, region.index, sizeof region.index);
    ck_assert_mem_eq(of_other.size, ((int64_t[]){3, 2, 1, 1}), sizeof region.size);
    ck_assert_int_eq(cc_image_get_pixel_type(other), CC_PIXEL_FLOAT32);
    ck_assert_int_eq(cc_image_get_components(other), 2);
    ck_assert_int_eq(cc_image_get_dimension(other), 3);
    ck_assert_int_eq(cc_image_get_device(other), 1);
    double spacing[CC_MAX_DIMENSION], origin[CC_MAX_DIMENSION], direction[CC_MAX_DIMENSION][CC_MAX_DIMENSION];
    fixture_ok(cc_image_get_spacing(other, spacing));
    fixture_ok(cc_image_get_origin(other, origin));
    fixture_ok(cc_image_get_direction(other, direction[0]));
    ck_assert_double_eq(spacing[2], 2.5);
    ck_assert_double_eq(origin[1], -7);
    ck_assert_double_eq(direction[0][1], 0.25);
    ck_assert_double_eq(direction[3][3], 1);
    cc_image_release(other);
    cc_image_release(view);
}
END_TEST

START_TEST(params_are_written_as_far_as_they_go)
{
    const cc_image_params params = good_params();
    cc_image *image = must_create(&params);
    for (uint32_t size = sizeof size; size <= sizeof params; size += 4) {
        unsigned char *bytes = expect_short_struct(size);
        cc_image_params *shorter = (cc_image_params *)(void *)bytes;
        memcpy(bytes, &size, sizeof size);
        fixture_ok(cc_image_get_params(image, shorter));
        ck_assert_mem_eq(bytes, &size, sizeof size);
        free(bytes);
    }
    struct {
        cc_image_params known;
        unsigned char later[16];
    } longer;
    memset(&longer, 0xff, sizeof longer);
    longer.known.struct_size = sizeof longer;
    fixture_ok(cc_image_get_params(image, &longer.known));
    ck_assert_uint_eq(longer.known.struct_size, sizeof longer);
    ck_assert_int_eq(longer.known.device, CC_DEVICE_CURRENT);
    ck_assert_uint_eq(longer.later[0], 0xff);

    longer.known.struct_size = 0;
    longer.known.dimension = 77;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_params.struct_size = 0", cc_image_get_params(image, &longer.known));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_params = NULL", cc_image_get_params(image, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image = NULL", cc_image_get_params(NULL, &longer.known));
    ck_assert_int_eq(longer.known.dimension, 77);
    cc_image_release(image);
}
END_TEST

START_TEST(no_memory_makes_no_image)
{
    const cc_image_params params = good_params();
    cc_image *image = untouched;
    cc_status status = CC_ERROR_OUT_OF_HOST_MEMORY;
    long nth = 0;
    while (status != CC_OK) {
        expect_allocations_to_fail_from(++nth);
        status = cc_image_create(&params, &image);
        if (status != CC_OK) {
            ck_assert_int_eq(status, CC_ERROR_OUT_OF_HOST_MEMORY);
            ck_assert_ptr_eq(image, untouched);
        }
    }
    ck_assert_int_gt(nth, 2);
    cc_image_release(image);
}
END_TEST

START_TEST(making_an_image_touches_no_device_and_no_pixels)
{
    cc_image_params params = good_params();
    params.region.size[0] = (int64_t)1 << 40;
    cc_image *image = must_create(&params);
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(image, CC_PLACE_HOST, &state));
    ck_assert_uint_eq(state.memory_bytes, 0);
    ck_assert_int_eq(state.constant_pixels, ((int64_t)1 << 40) * 15);
    cc_image_release(image);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).total_calls, 0);
}
END_TEST

START_TEST(the_last_owner_ends_an_image)
{
    cc_image *image = fixture_image(CC_PIXEL_UINT8, 1, 2, 4, 4, 1);
    const long live = cc__allocations_live();
    ck_assert_ptr_eq(cc_image_retain(image), image);
    cc_image_release(image);
    ck_assert_int_eq(cc__allocations_live(), live);
    ck_assert_int_eq(cc_image_get_size(image, 0), 4);
    cc_image_release(image);
    ck_assert_int_lt(cc__allocations_live(), live);
}
END_TEST

START_TEST(a_live_mapping_is_an_owner)
{
    cc_image *image = fixture_image(CC_PIXEL_UINT8, 1, 2, 4, 4, 1);
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ_WRITE, &pixels));
    cc_image_release(image);
    memset(pixels, 3, 16);
    fixture_ok(cc_image_unmap_host(image, pixels));
}
END_TEST

START_TEST(the_user_pointer_is_the_callers)
{
    int32_t mine = 0;
    cc_image *image = fixture_image(CC_PIXEL_UINT8, 1, 1, 4, 1, 1);
    cc_image *view = NULL;
    ck_assert_ptr_null(cc_image_get_user_pointer(image));
    fixture_ok(cc_image_set_user_pointer(image, &mine));
    ck_assert_ptr_eq(cc_image_get_user_pointer(image), &mine);
    const cc_region region = {.size = {2, 0, 0, 0}};
    fixture_ok(cc_image_create_view(image, &region, &view));
    ck_assert_ptr_null(cc_image_get_user_pointer(view));
    fixture_ok(cc_image_graft(view, image));
    ck_assert_ptr_null(cc_image_get_user_pointer(view));
    fixture_ok(cc_image_set_user_pointer(image, NULL));
    ck_assert_ptr_null(cc_image_get_user_pointer(image));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_set_user_pointer(NULL, &mine));
    cc_image_release(view);
    cc_image_release(image);
}
END_TEST

static void *fail_elsewhere(void *argument)
{
    cc_image *image = NULL;
    *(bool *)argument = cc_last_error_message()[0] == '\0' && cc_last_native_error() == 0 &&
                        cc_image_create(NULL, &image) == CC_ERROR_INVALID_ARGUMENT &&
                        strstr(cc_last_error_message(), "params") != NULL;
    return NULL;
}

START_TEST(each_thread_has_its_own_message)
{
    char before[512];
    pthread_t thread;
    bool as_expected = false;
    fixture_expect(CC_ERROR_INVALID_ARGUMENT, cc_image_set_user_pointer(NULL, NULL));
    strcpy(before, cc_last_error_message());
    ck_assert_int_eq(pthread_create(&thread, NULL, fail_elsewhere, &as_expected), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert(as_expected);
    ck_assert_str_eq(cc_last_error_message(), before);
    /* And a call that succeeds leaves it. */
    cc_image_release(fixture_image(CC_PIXEL_UINT8, 1, 1, 4, 1, 1));
    ck_assert_str_eq(cc_last_error_message(), before);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("image");
    TCase *tcase = tcase_create("image");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_test(tcase, an_image_says_what_it_was_made_of);
    tcase_add_test(tcase, no_image_says_nothing);
    tcase_add_test(tcase, unused_axes_are_ignored);
    tcase_add_test(tcase, bad_params_are_refused_by_name);
    tcase_add_test(tcase, bad_geometry_is_refused_by_name);
    tcase_add_test(tcase, sizes_past_63_bits_are_refused);
    tcase_add_test(tcase, the_largest_there_can_be);
    tcase_add_test(tcase, shorter_and_longer_params);
    tcase_add_test(tcase, params_make_another_image_like_it);
    tcase_add_test(tcase, params_are_written_as_far_as_they_go);
    tcase_add_test(tcase, no_memory_makes_no_image);
    tcase_add_test(tcase, making_an_image_touches_no_device_and_no_pixels);
    tcase_add_test(tcase, the_last_owner_ends_an_image);
    tcase_add_test(tcase, a_live_mapping_is_an_owner);
    tcase_add_test(tcase, the_user_pointer_is_the_callers);
    tcase_add_test(tcase, each_thread_has_its_own_message);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
