/* How copies of strided boxes are cut for the driver: what a plan does to bytes, and which calls it makes of a box. */
#include "backend/copy_plan.h"
#include "support/plain_work.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PITCH 0x7FFFFFFF

static cc__copy make_copy(const int64_t size[4], int64_t pixel_bytes, const int64_t to[4], const int64_t from[4])
{
    cc__copy work = {.pixel_bytes = pixel_bytes};
    memcpy(work.size, size, sizeof work.size);
    memcpy(work.destination.stride, to, sizeof work.destination.stride);
    memcpy(work.source.stride, from, sizeof work.source.stride);
    return work;
}

/* What the driver would do with one block; also that it would accept it. */
static void run_block(const cc__copy_plan *plan, int64_t max_pitch, unsigned char *to, const unsigned char *from)
{
    if (plan->rows > 1) {
        for (int32_t side = 0; side < 2; side++) {
            ck_assert_int_ge(plan->pitch[side], plan->width_bytes);
            ck_assert_int_le(plan->pitch[side], max_pitch);
            ck_assert_int_ge(plan->slice_rows[side], plan->rows);
        }
    } else {
        ck_assert_int_eq(plan->slices, 1);
    }
    for (int64_t slice = 0; slice < plan->slices; slice++) {
        for (int64_t row = 0; row < plan->rows; row++)
            memcpy(to + (slice * plan->slice_rows[0] + row) * plan->pitch[0],
                   from + (slice * plan->slice_rows[1] + row) * plan->pitch[1], (size_t)plan->width_bytes);
    }
}

static int64_t run_plan(const cc__copy *work, int64_t max_pitch)
{
    cc__copy_plan plan = cc__copy_plan_make(work, max_pitch);
    int64_t step[CC_MAX_DIMENSION] = {0};
    int64_t blocks = 0;
    bool more = true;
    while (more) {
        int64_t offset[2];
        more = cc__copy_plan_next(&plan, step, offset);
        run_block(&plan, max_pitch, work->destination.data + offset[0], work->source.data + offset[1]);
        blocks++;
    }
    return blocks;
}

START_TEST(random_boxes_arrive)
{
    uint32_t state = (uint32_t)_i + 1;
    for (int32_t run = 0; run < 400; run++) {
        static const int64_t widths[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 48};
        const int64_t pixel_bytes = widths[random_below(&state, 10)];
        int64_t size[4], to[4], from[4];
        for (int32_t axis = 0; axis < 4; axis++)
            size[axis] = random_below(&state, 3) == 0 ? 1 : 1 + random_below(&state, 5);
        size_t to_bytes = (size_t)random_strides(&state, size, pixel_bytes, 1, to);
        size_t from_bytes = (size_t)random_strides(&state, size, pixel_bytes, 1, from);
        unsigned char *source = malloc(from_bytes);
        unsigned char *planned = malloc(to_bytes);
        unsigned char *expected = malloc(to_bytes);
        random_bytes(&state, source, (int64_t)from_bytes);
        memset(planned, 0xEE, to_bytes);
        memset(expected, 0xEE, to_bytes);

        cc__copy work = make_copy(size, pixel_bytes, to, from);
        work.source.data = source;
        work.destination.data = expected;
        plain_copy(&work);
        work.destination.data = planned;
        run_plan(&work, random_below(&state, 2) == 0 ? MAX_PITCH : 64);
        ck_assert_mem_eq(planned, expected, to_bytes);
        free(source);
        free(planned);
        free(expected);
    }
}
END_TEST

START_TEST(dense_box_is_one_row)
{
    const int64_t size[4] = {512, 512, 512, 3};
    const int64_t stride[4] = {4, 2048, 1048576, 536870912};
    cc__copy work = make_copy(size, 4, stride, stride);
    cc__copy_plan plan = cc__copy_plan_make(&work, MAX_PITCH);
    ck_assert_int_eq(plan.width_bytes, 1610612736);
    ck_assert_int_eq(plan.rows, 1);
    ck_assert_int_eq(plan.slices, 1);
    ck_assert_int_eq(plan.outer_count, 0);
}
END_TEST

START_TEST(box_of_a_volume_is_one_block)
{
    /* 10 x 20 x 30 float pixels of a 512^3 volume into a dense box. */
    const int64_t size[4] = {10, 20, 30, 1};
    const int64_t to[4] = {4, 40, 800, 24000};
    const int64_t from[4] = {4, 2048, 1048576, 536870912};
    cc__copy work = make_copy(size, 4, to, from);
    cc__copy_plan plan = cc__copy_plan_make(&work, MAX_PITCH);
    ck_assert_int_eq(plan.width_bytes, 40);
    ck_assert_int_eq(plan.rows, 20);
    ck_assert_int_eq(plan.slices, 30);
    ck_assert_int_eq(plan.pitch[0], 40);
    ck_assert_int_eq(plan.pitch[1], 2048);
    ck_assert_int_eq(plan.slice_rows[0], 20);
    ck_assert_int_eq(plan.slice_rows[1], 512);
    ck_assert_int_eq(plan.outer_count, 0);
}
END_TEST

START_TEST(fourth_axis_repeats_along_the_shortest)
{
    const int64_t size[4] = {10, 20, 30, 2};
    const int64_t to[4] = {4, 40, 800, 24000};
    const int64_t from[4] = {4, 2048, 1048576, 536870912};
    cc__copy work = make_copy(size, 4, to, from);
    cc__copy_plan plan = cc__copy_plan_make(&work, MAX_PITCH);
    ck_assert_int_eq(plan.rows * plan.slices, 600);
    ck_assert_int_eq(plan.outer_count, 1);
    ck_assert_int_eq(plan.outer_size[0], 2);
    ck_assert_int_eq(plan.outer_stride[0][0], 24000);
    ck_assert_int_eq(plan.outer_stride[1][0], 536870912);
}
END_TEST

START_TEST(one_channel_of_three_has_pixels_as_rows)
{
    const int64_t size[4] = {100, 50, 1, 1};
    const int64_t to[4] = {1, 100, 5000, 5000};
    const int64_t from[4] = {3, 300, 15000, 15000};
    cc__copy work = make_copy(size, 1, to, from);
    cc__copy_plan plan = cc__copy_plan_make(&work, MAX_PITCH);
    ck_assert_int_eq(plan.width_bytes, 1);
    ck_assert_int_eq(plan.rows, 5000);
    ck_assert_int_eq(plan.pitch[0], 1);
    ck_assert_int_eq(plan.pitch[1], 3);
    ck_assert_int_eq(plan.outer_count, 0);
}
END_TEST

START_TEST(slices_that_are_no_whole_pitches_repeat)
{
    const int64_t size[4] = {10, 20, 30, 1};
    const int64_t to[4] = {4, 40, 3204, 0};
    const int64_t from[4] = {4, 2048, 1048576, 0};
    cc__copy work = make_copy(size, 4, to, from);
    cc__copy_plan plan = cc__copy_plan_make(&work, MAX_PITCH);
    ck_assert_int_eq(plan.slices, 1);
    ck_assert_int_eq(plan.rows, 30);
    ck_assert_int_eq(plan.pitch[0], 3204);
    ck_assert_int_eq(plan.outer_count, 1);
    ck_assert_int_eq(plan.outer_size[0], 20);
}
END_TEST

START_TEST(pitch_past_the_limit_repeats)
{
    /* Rows of 1 GiB, 3 GiB apart: no 32-bit number holds the pitch, nor the bytes of all. */
    const int64_t size[4] = {268435456, 4, 1, 1};
    const int64_t stride[4] = {4, 3221225472, 12884901888, 12884901888};
    cc__copy work = make_copy(size, 4, stride, stride);
    cc__copy_plan plan = cc__copy_plan_make(&work, MAX_PITCH);
    ck_assert_int_eq(plan.width_bytes, 1073741824);
    ck_assert_int_eq(plan.rows, 1);
    ck_assert_int_eq(plan.outer_count, 1);

    int64_t step[CC_MAX_DIMENSION] = {0};
    int64_t offset[2];
    for (int64_t row = 0; row < 4; row++) {
        ck_assert_int_eq(cc__copy_plan_next(&plan, step, offset), row < 3);
        ck_assert_int_eq(offset[0], row * 3221225472);
        ck_assert_int_eq(offset[1], row * 3221225472);
    }
}
END_TEST

START_TEST(single_pixel_is_one_row)
{
    const int64_t size[4] = {1, 1, 1, 1};
    const int64_t stride[4] = {16, 16, 16, 16};
    cc__copy work = make_copy(size, 16, stride, stride);
    cc__copy_plan plan = cc__copy_plan_make(&work, MAX_PITCH);
    ck_assert_int_eq(plan.width_bytes, 16);
    ck_assert_int_eq(plan.rows, 1);
    ck_assert_int_eq(plan.outer_count, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("copy_plan");
    TCase *cases = tcase_create("copy_plan");
    tcase_add_loop_test(cases, random_boxes_arrive, 0, 8);
    tcase_add_test(cases, dense_box_is_one_row);
    tcase_add_test(cases, box_of_a_volume_is_one_block);
    tcase_add_test(cases, fourth_axis_repeats_along_the_shortest);
    tcase_add_test(cases, one_channel_of_three_has_pixels_as_rows);
    tcase_add_test(cases, slices_that_are_no_whole_pitches_repeat);
    tcase_add_test(cases, pitch_past_the_limit_repeats);
    tcase_add_test(cases, single_pixel_is_one_row);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
