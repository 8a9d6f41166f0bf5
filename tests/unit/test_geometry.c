/* Where an image is in space, and the index of its first pixel: set without touching a pixel. */
#include "support/expect.h"
#include "support/fixture.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static cc_image *image;

static void set_up(void)
{
    fixture_setup();
    image = fixture_image(CC_PIXEL_FLOAT32, 1, 3, 4, 3, 2);
}

static void tear_down(void)
{
    cc_image_release(image);
    fixture_teardown();
}

START_TEST(what_is_set_is_got)
{
    const double spacing[CC_MAX_DIMENSION] = {0.5, 2.5, DBL_MIN, -1};
    const double origin[CC_MAX_DIMENSION] = {-10, DBL_MAX, 0, NAN};
    const double direction[CC_MAX_DIMENSION][CC_MAX_DIMENSION] = {
        {0, -1, 0, NAN}, {1, 0, 0, NAN}, {0, 0, 2, NAN}, {NAN, NAN, NAN, NAN}};
    double got[CC_MAX_DIMENSION], matrix[CC_MAX_DIMENSION][CC_MAX_DIMENSION];
    fixture_ok(cc_image_set_spacing(image, spacing));
    fixture_ok(cc_image_set_origin(image, origin));
    fixture_ok(cc_image_set_direction(image, direction[0]));
    fixture_ok(cc_image_get_spacing(image, got));
    ck_assert_mem_eq(got, spacing, 3 * sizeof got[0]);
    ck_assert_double_eq(got[3], 1);
    fixture_ok(cc_image_get_origin(image, got));
    ck_assert_mem_eq(got, origin, 3 * sizeof got[0]);
    ck_assert_double_eq(got[3], 0);
    fixture_ok(cc_image_get_direction(image, matrix[0]));
    for (int32_t row = 0; row < CC_MAX_DIMENSION; ++row)
        for (int32_t column = 0; column < CC_MAX_DIMENSION; ++column)
            ck_assert_double_eq(matrix[row][column], row < 3 && column < 3 ? direction[row][column] : row == column);
}
END_TEST

START_TEST(bad_values_are_refused_and_change_nothing)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY, 0, -2};
    double before[3][CC_MAX_DIMENSION * CC_MAX_DIMENSION], after[3][CC_MAX_DIMENSION * CC_MAX_DIMENSION];
    memset(before, 0, sizeof before);
    memset(after, 0, sizeof after);
    const double good_spacing[CC_MAX_DIMENSION] = {1, 2, 3, 0};
    fixture_ok(cc_image_set_spacing(image, good_spacing));
    fixture_ok(cc_image_get_spacing(image, before[0]));
    fixture_ok(cc_image_get_origin(image, before[1]));
    fixture_ok(cc_image_get_direction(image, before[2]));
    for (int32_t i = 0; i < 5; ++i) {
        double spacing[CC_MAX_DIMENSION] = {7, bad[i], 7, 7};
        expect_failure(CC_ERROR_INVALID_ARGUMENT, "spacing[1]", cc_image_set_spacing(image, spacing));
        if (isfinite(bad[i]))
            continue;
        double origin[CC_MAX_DIMENSION] = {7, 7, bad[i], 7};
        expect_failure(CC_ERROR_INVALID_ARGUMENT, "origin[2]", cc_image_set_origin(image, origin));
        const double direction[CC_MAX_DIMENSION][CC_MAX_DIMENSION] = {{7, 0, 0, 0}, {0, 7, 0, 0}, {bad[i], 0, 7, 0}};
        expect_failure(CC_ERROR_INVALID_ARGUMENT, "direction[2][0]", cc_image_set_direction(image, direction[0]));
    }
    fixture_ok(cc_image_get_spacing(image, after[0]));
    fixture_ok(cc_image_get_origin(image, after[1]));
    fixture_ok(cc_image_get_direction(image, after[2]));
    ck_assert_mem_eq(after, before, sizeof before);
}
END_TEST

typedef struct direction_case {
    bool has_inverse;
    double rows[CC_MAX_DIMENSION][CC_MAX_DIMENSION];
} direction_case;

static const direction_case directions[] = {
    {true, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {true, {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}},   /* no pivot on the diagonal */
    {true, {{-1, 0, 0}, {0, -1, 0}, {0, 0, 1}}}, /* LPS to RAS */
    {true, {{0.8, -0.6, 0}, {0.6, 0.8, 0}, {0, 0, 1}}},
    {true, {{1, 1, 1}, {0, 1, 1}, {0, 0, 1}}},                /* sheared */
    {true, {{1e-200, 0, 0}, {0, 1e-200, 0}, {0, 0, 1e-200}}}, /* the determinant is less than a double can be */
    {true, {{0, 1e200, 0}, {1e200, 0, 0}, {0, 0, 1e-200}}},
    {false, {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}},
    {false, {{1, 1, 0}, {1, 1, 0}, {0, 0, 1}}},
    {false, {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}}, /* elimination leaves 1e-16 or so */
    {false, {{0.1, 0.3, 0}, {0.2, 0.6, 0}, {0, 0, 1}}},
    {false, {{1, 0, 0}, {0, 0, 0}, {0, 0, 1}}},
};

START_TEST(a_direction_must_have_an_inverse)
{
    const direction_case *that = &directions[_i];
    if (that->has_inverse)
        fixture_ok(cc_image_set_direction(image, that->rows[0]));
    else
        expect_failure(CC_ERROR_INVALID_ARGUMENT, "direction", cc_image_set_direction(image, that->rows[0]));
}
END_TEST

START_TEST(null_is_refused_by_name)
{
    double values[CC_MAX_DIMENSION] = {1, 1, 1, 1};
    const double matrix[CC_MAX_DIMENSION][CC_MAX_DIMENSION] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    double out_matrix[CC_MAX_DIMENSION][CC_MAX_DIMENSION];
    int64_t index[CC_MAX_DIMENSION] = {0, 0, 0, 0};
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_set_spacing(NULL, values));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "spacing", cc_image_set_spacing(image, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_set_origin(NULL, values));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "origin", cc_image_set_origin(image, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_set_direction(NULL, matrix[0]));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "direction", cc_image_set_direction(image, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_get_spacing(NULL, values));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_spacing", cc_image_get_spacing(image, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_get_origin(NULL, values));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_origin", cc_image_get_origin(image, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_get_direction(NULL, out_matrix[0]));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_direction", cc_image_get_direction(image, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_get_point(NULL, index, values));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "index", cc_image_get_point(image, NULL, values));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_point", cc_image_get_point(image, index, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_set_index(NULL, index));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "index", cc_image_set_index(image, NULL));
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        ck_assert_double_eq(values[axis], 1);
}
END_TEST

START_TEST(a_point_is_origin_and_direction_times_spaced_index)
{
    const double spacing[CC_MAX_DIMENSION] = {0.5, 2, 4, 0};
    const double origin[CC_MAX_DIMENSION] = {100, 200, 300, 0};
    /* Columns are the axes of the image: i goes along y, j along -x. */
    const double direction[CC_MAX_DIMENSION][CC_MAX_DIMENSION] = {{0, -1, 0, 0}, {1, 0, 0, 0}, {0, 0, 1, 0}};
    const int64_t index[CC_MAX_DIMENSION] = {3, -5, 7, 1234};
    double point[CC_MAX_DIMENSION] = {9, 9, 9, 9};
    fixture_ok(cc_image_set_spacing(image, spacing));
    fixture_ok(cc_image_set_origin(image, origin));
    fixture_ok(cc_image_set_direction(image, direction[0]));
    fixture_ok(cc_image_get_point(image, index, point));
    ck_assert_double_eq(point[0], 110);   /* 100 - 1 * (2 * -5) */
    ck_assert_double_eq(point[1], 201.5); /* 200 + 1 * (0.5 * 3) */
    ck_assert_double_eq(point[2], 328);   /* 300 + 4 * 7 */
    ck_assert_double_eq(point[3], 0);
    /* The index is absolute: where the image starts makes no difference. */
    const int64_t start[CC_MAX_DIMENSION] = {1000, 1000, 1000, 0};
    fixture_ok(cc_image_set_index(image, start));
    fixture_ok(cc_image_get_point(image, index, point));
    ck_assert_double_eq(point[0], 110);
}
END_TEST

START_TEST(the_index_moves_no_pixel)
{
    const int64_t index[CC_MAX_DIMENSION] = {-7, INT64_MIN, INT64_MAX - 2, 99};
    const cc_region region = {{-5, INT64_MIN + 1, INT64_MAX - 1, 0}, {1, 1, 1, 0}};
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    for (int32_t i = 0; i < 24; ++i)
        ((float *)pixels)[i] = (float)i;
    fixture_ok(cc_image_unmap_host(image, pixels));
    const uint64_t generation = cc_image_get_generation(image);
    fixture_ok(cc_image_set_index(image, index));
    ck_assert_int_eq(cc_image_get_index(image, 0), -7);
    ck_assert_int_eq(cc_image_get_index(image, 1), INT64_MIN);
    ck_assert_int_eq(cc_image_get_index(image, 2), INT64_MAX - 2);
    ck_assert_int_eq(cc_image_get_index(image, 3), 0);
    ck_assert_int_eq(cc_image_get_size(image, 2), 2);
    ck_assert_uint_eq(cc_image_get_generation(image), generation);
    fixture_ok(cc_image_map_host(image, &region, CC_ACCESS_READ, &pixels));
    ck_assert_float_eq(*(float *)pixels, 2 + 4 * 1 + 12 * 1);
    fixture_ok(cc_image_unmap_host(image, pixels));
}
END_TEST

START_TEST(an_index_whose_end_does_not_fit_is_refused)
{
    const int64_t too_far[CC_MAX_DIMENSION] = {5, 5, INT64_MAX - 1, 0};
    expect_failure(CC_ERROR_OVERFLOW, "index[2]", cc_image_set_index(image, too_far));
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        ck_assert_int_eq(cc_image_get_index(image, axis), 0);
}
END_TEST

START_TEST(the_index_stays_while_pixels_are_lent)
{
    const int64_t index[CC_MAX_DIMENSION] = {1, 1, 1, 0};
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_BUSY, "image", cc_image_set_index(image, index));
    ck_assert_int_eq(cc_image_get_index(image, 0), 0);
    /* The geometry is not about pixels. */
    const double spacing[CC_MAX_DIMENSION] = {3, 3, 3, 0};
    fixture_ok(cc_image_set_spacing(image, spacing));
    fixture_ok(cc_image_unmap_host(image, pixels));
    fixture_ok(cc_image_set_index(image, index));
}
END_TEST

START_TEST(views_and_grafts_keep_their_own)
{
    const cc_region region = {{1, 1, 1, 0}, {2, 2, 1, 0}};
    const double spacing[CC_MAX_DIMENSION] = {3, 3, 3, 0};
    const double origin[CC_MAX_DIMENSION] = {30, 30, 30, 0};
    const int64_t index[CC_MAX_DIMENSION] = {-1, -1, -1, 0};
    double got[CC_MAX_DIMENSION];
    cc_image *view = NULL;
    cc_image *graft = fixture_image(CC_PIXEL_UINT8, 3, 1, 1, 1, 1);
    fixture_ok(cc_image_create_view(image, &region, &view));
    fixture_ok(cc_image_graft(graft, image));
    fixture_ok(cc_image_set_spacing(image, spacing));
    fixture_ok(cc_image_set_origin(image, origin));
    fixture_ok(cc_image_set_index(image, index));
    cc_image *const others[] = {view, graft};
    for (int32_t i = 0; i < 2; ++i) {
        fixture_ok(cc_image_get_spacing(others[i], got));
        ck_assert_double_eq(got[0], 1);
        fixture_ok(cc_image_get_origin(others[i], got));
        ck_assert_double_eq(got[0], 0);
        ck_assert_int_eq(cc_image_get_index(others[i], 0), i == 0 ? 1 : 0);
        cc_image_release(others[i]);
    }
}
END_TEST

/* Everything at once: a rotated image, a negative index, four numbers that are none past its dimension. */
static const cc_geometry turned = {
    .struct_size = sizeof(cc_geometry),
    .dimension = 3,
    .index = {-7, 5, INT64_MAX - 2, 99},
    .spacing = {0.5, 2, 3, -1},
    .origin = {-10, 20, 30, NAN},
    .direction = {{0, -1, 0, NAN}, {1, 0, 0, NAN}, {0, 0, 1, NAN}, {NAN, NAN, NAN, NAN}},
};

START_TEST(all_of_it_is_set_and_got_at_once)
{
    cc_geometry got = CC_GEOMETRY_INIT;
    double values[CC_MAX_DIMENSION];
    fixture_ok(cc_image_set_geometry(image, &turned));
    fixture_ok(cc_image_get_spacing(image, values));
    ck_assert_mem_eq(values, turned.spacing, 3 * sizeof values[0]);
    ck_assert_int_eq(cc_image_get_index(image, 2), INT64_MAX - 2);
    fixture_ok(cc_image_get_geometry(image, &got));
    ck_assert_uint_eq(got.struct_size, sizeof got);
    ck_assert_int_eq(got.dimension, 3);
    for (int32_t i = 0; i < CC_MAX_DIMENSION; ++i) {
        ck_assert_int_eq(got.index[i], i < 3 ? turned.index[i] : 0);
        ck_assert_double_eq(got.spacing[i], i < 3 ? turned.spacing[i] : 1);
        ck_assert_double_eq(got.origin[i], i < 3 ? turned.origin[i] : 0);
        for (int32_t j = 0; j < CC_MAX_DIMENSION; ++j)
            ck_assert_double_eq(got.direction[i][j], i < 3 && j < 3 ? turned.direction[i][j] : i == j);
    }
}
END_TEST

START_TEST(a_bad_part_of_it_changes_nothing)
{
    cc_geometry before = CC_GEOMETRY_INIT, after = CC_GEOMETRY_INIT;
    fixture_ok(cc_image_get_geometry(image, &before));
    cc_geometry bad = turned;
    bad.direction[0][1] = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "direction", cc_image_set_geometry(image, &bad));
    bad = turned;
    bad.spacing[2] = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "spacing[2]", cc_image_set_geometry(image, &bad));
    bad = turned;
    bad.origin[0] = INFINITY;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "origin[0]", cc_image_set_geometry(image, &bad));
    bad = turned;
    bad.index[2] = INT64_MAX - 1;
    expect_failure(CC_ERROR_OVERFLOW, "index[2]", cc_image_set_geometry(image, &bad));
    bad = turned;
    bad.dimension = 2;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "geometry.dimension = 2", cc_image_set_geometry(image, &bad));
    bad.struct_size = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size", cc_image_set_geometry(image, &bad));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size", cc_image_get_geometry(image, &bad));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "geometry = NULL", cc_image_set_geometry(image, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_geometry = NULL", cc_image_get_geometry(image, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image = NULL", cc_image_set_geometry(NULL, &turned));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image = NULL", cc_image_get_geometry(NULL, &after));
    fixture_ok(cc_image_get_geometry(image, &after));
    ck_assert_mem_eq(&after, &before, sizeof before);
}
END_TEST

START_TEST(a_struct_of_another_version_is_read_as_far_as_it_goes)
{
    struct {
        cc_geometry geometry;
        unsigned char later[16];
    } longer = {.geometry = turned};
    cc_geometry shorter = turned;
    cc_geometry got = CC_GEOMETRY_INIT;
    longer.geometry.struct_size = sizeof longer;
    memset(longer.later, 0xa5, sizeof longer.later);
    fixture_ok(cc_image_set_geometry(image, &longer.geometry));
    fixture_ok(cc_image_get_geometry(image, &longer.geometry));
    ck_assert_uint_eq(longer.geometry.struct_size, sizeof longer);
    ck_assert_double_eq(longer.geometry.spacing[1], 2);
    ck_assert_uint_eq(longer.later[0], 0xa5);
    shorter.struct_size = offsetof(cc_geometry, origin);
    fixture_ok(cc_image_set_geometry(image, &shorter));
    fixture_ok(cc_image_get_geometry(image, &got));
    ck_assert_double_eq(got.spacing[1], 2);
    ck_assert_double_eq(got.origin[1], 0);
    ck_assert_double_eq(got.direction[0][0], 1);
    got.origin[0] = 77;
    got.struct_size = offsetof(cc_geometry, origin);
    fixture_ok(cc_image_get_geometry(image, &got));
    ck_assert_double_eq(got.origin[0], 77);
}
END_TEST

START_TEST(with_pixels_lent_all_but_the_index_is_set)
{
    cc_geometry moved = turned;
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_BUSY, "image", cc_image_set_geometry(image, &moved));
    ck_assert_int_eq(cc_image_get_index(image, 0), 0);
    memset(moved.index, 0, sizeof moved.index);
    fixture_ok(cc_image_set_geometry(image, &moved));
    fixture_ok(cc_image_unmap_host(image, pixels));
    fixture_ok(cc_image_set_geometry(image, &turned));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("geometry");
    TCase *tcase = tcase_create("geometry");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, what_is_set_is_got);
    tcase_add_test(tcase, bad_values_are_refused_and_change_nothing);
    tcase_add_loop_test(tcase, a_direction_must_have_an_inverse, 0, sizeof directions / sizeof directions[0]);
    tcase_add_test(tcase, null_is_refused_by_name);
    tcase_add_test(tcase, a_point_is_origin_and_direction_times_spaced_index);
    tcase_add_test(tcase, the_index_moves_no_pixel);
    tcase_add_test(tcase, an_index_whose_end_does_not_fit_is_refused);
    tcase_add_test(tcase, the_index_stays_while_pixels_are_lent);
    tcase_add_test(tcase, views_and_grafts_keep_their_own);
    tcase_add_test(tcase, all_of_it_is_set_and_got_at_once);
    tcase_add_test(tcase, a_bad_part_of_it_changes_nothing);
    tcase_add_test(tcase, a_struct_of_another_version_is_read_as_far_as_it_goes);
    tcase_add_test(tcase, with_pixels_lent_all_but_the_index_is_set);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
