/* Copies and fills on the host against the same done pixel by pixel, and the rows that boxes are cut into. */
#include "base/rows.h"
#include "base/work.h"
#include "support/plain_work.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES ((int64_t)1 << 20)

#define expect_numbers(numbers, a, b, c, d)                                                                            \
    do {                                                                                                               \
        ck_assert_int_eq((numbers)[0], (a));                                                                           \
        ck_assert_int_eq((numbers)[1], (b));                                                                           \
        ck_assert_int_eq((numbers)[2], (c));                                                                           \
        ck_assert_int_eq((numbers)[3], (d));                                                                           \
    } while (0)

START_TEST(a_dense_box_becomes_one_row)
{
    int64_t size[] = {5, 3, 4, 2};
    int64_t a[] = {4, 20, 60, 240};
    int64_t b[] = {4, 20, 60, 240};
    cc__work_collapse(size, a, b);
    expect_numbers(size, 120, 1, 1, 1);
    ck_assert_int_eq(a[0], 4);
    ck_assert_int_eq(b[0], 4);
}
END_TEST

START_TEST(axes_merge_only_without_a_gap_in_either_span)
{
    int64_t size[] = {5, 3, 4, 2};
    int64_t a[] = {4, 20, 60, 240};
    int64_t b[] = {4, 32, 96, 384};
    cc__work_collapse(size, a, b);
    expect_numbers(size, 5, 24, 1, 1);
    ck_assert_int_eq(a[1], 20);
    ck_assert_int_eq(b[1], 32);

    int64_t size_two[] = {5, 3, 4, 2};
    int64_t a_two[] = {4, 20, 64, 256};
    int64_t b_two[] = {4, 20, 60, 300};
    cc__work_collapse(size_two, a_two, b_two);
    expect_numbers(size_two, 15, 4, 2, 1);
    expect_numbers(a_two, 4, 64, 256, 512);
    expect_numbers(b_two, 4, 60, 300, 600);
}
END_TEST

START_TEST(the_first_axis_stays_the_first)
{
    /* A column: one pixel wide. Its rows must not become the row. */
    int64_t size[] = {1, 3, 1, 2};
    int64_t a[] = {4, 20, 7777, 60};
    cc__work_collapse(size, a, NULL);
    expect_numbers(size, 1, 6, 1, 1);
    expect_numbers(a, 4, 20, 120, 120);
    /* Unless its pixels lie side by side. */
    int64_t size_two[] = {1, 3, 1, 2};
    int64_t a_two[] = {4, 4, 12, 12};
    cc__work_collapse(size_two, a_two, NULL);
    expect_numbers(size_two, 6, 1, 1, 1);
}
END_TEST

START_TEST(strides_that_only_one_pixel_has_are_not_multiplied)
{
    int64_t size[] = {1, 1, 1, 3};
    int64_t a[] = {INT64_MAX, INT64_MAX, INT64_MIN, 8};
    cc__work_collapse(size, a, NULL);
    expect_numbers(size, 1, 3, 1, 1);
    ck_assert_int_eq(a[1], 8);
}
END_TEST

START_TEST(rows_are_elements_in_the_order_of_memory)
{
    cc__rows rows;
    /* Last axis fastest in both: still one row. */
    const int64_t size[] = {2, 3, 4, 1};
    const int64_t a[] = {96, 32, 8, 0};
    const int64_t b[] = {48, 16, 4, 0};
    cc__rows_plan(CC__ROWS_OF_ELEMENTS, 1, 8, 4, size, a, b, &rows);
    ck_assert_int_eq(rows.length, 24);
    ck_assert_int_eq(rows.step[0], 8);
    ck_assert_int_eq(rows.step[1], 4);
    ck_assert_int_eq(rows.axes, 0);
    expect_numbers(rows.size, 1, 1, 1, 1);

    /* Pixels of three components with room for a fourth: rows of three. */
    const int64_t c[] = {4, 8, 24, 0};
    const int64_t d[] = {3, 6, 18, 0};
    cc__rows_plan(CC__ROWS_OF_ELEMENTS, 3, 1, 1, size, c, d, &rows);
    ck_assert_int_eq(rows.length, 3);
    ck_assert_int_eq(rows.axes, 1);
    expect_numbers(rows.size, 24, 1, 1, 1);
    ck_assert_int_eq(rows.stride[0][0], 4);
    ck_assert_int_eq(rows.stride[1][0], 3);

    /* A column of single components is one row whose elements lie apart, but as bytes it is many. */
    const int64_t column[] = {1, 5, 1, 1};
    const int64_t e[] = {2, 64, 0, 0};
    cc__rows_plan(CC__ROWS_OF_ELEMENTS, 1, 2, 2, column, e, NULL, &rows);
    ck_assert_int_eq(rows.length, 5);
    ck_assert_int_eq(rows.step[0], 64);
    ck_assert_int_eq(rows.axes, 0);
    cc__rows_plan(CC__ROWS_OF_BYTES, 2, 1, 1, column, e, NULL, &rows);
    ck_assert_int_eq(rows.length, 2);
    ck_assert_int_eq(rows.step[0], 1);
    ck_assert_int_eq(rows.axes, 1);
    ck_assert_int_eq(rows.size[0], 5);
    ck_assert_int_eq(rows.stride[0][0], 64);

    /* One byte is a row too. */
    const int64_t one[] = {1, 1, 1, 1};
    cc__rows_plan(CC__ROWS_OF_BYTES, 1, 1, 1, one, e, NULL, &rows);
    ck_assert_int_eq(rows.length, 1);
    ck_assert_int_eq(rows.axes, 0);
    cc__rows_plan(CC__ROWS_OF_ELEMENTS, 1, 8, 2, one, e, NULL, &rows);
    ck_assert_int_eq(rows.length, 1);
    ck_assert_int_eq(rows.step[0], 8);
    ck_assert_int_eq(rows.step[1], 2);
}
END_TEST

static void random_size(uint32_t *state, int64_t longest, int64_t out_size[CC_MAX_DIMENSION])
{
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        out_size[axis] = random_below(state, 3) == 0 ? 1 : 1 + random_below(state, longest);
}

START_TEST(random_copies_agree_with_plain_ones)
{
    unsigned char *expected = malloc(BUFFER_BYTES);
    unsigned char *found = malloc(BUFFER_BYTES);
    unsigned char *source = malloc(BUFFER_BYTES);
    uint32_t state = 7;
    random_bytes(&state, source, BUFFER_BYTES);
    random_bytes(&state, expected, BUFFER_BYTES);
    memcpy(found, expected, BUFFER_BYTES);
    for (int32_t round = 0; round < 1500; round++) {
        static const int64_t pixels[] = {1, 2, 3, 4, 6, 8, 12, 16, 48, 1024};
        cc__copy work = {.pixel_bytes = pixels[random_below(&state, 10)]};
        random_size(&state, work.pixel_bytes > 16 ? 3 : 6, work.size);
        int64_t to = random_strides(&state, work.size, work.pixel_bytes, 1, work.destination.stride);
        int64_t from = random_strides(&state, work.size, work.pixel_bytes, 1, work.source.stride);
        if (to > BUFFER_BYTES / 2 || from > BUFFER_BYTES / 2)
            continue;
        int64_t offset = random_below(&state, 64);
        work.source.data = source + random_below(&state, 64);
        work.destination.data = expected + offset;
        plain_copy(&work);
        work.destination.data = found + offset;
        cc__copy_on_host(&work);
        ck_assert_mem_eq(found, expected, (size_t)(to + 64));
    }
    free(expected);
    free(found);
    free(source);
}
END_TEST

START_TEST(random_fills_agree_with_plain_ones)
{
    unsigned char *expected = malloc(BUFFER_BYTES);
    unsigned char *found = malloc(BUFFER_BYTES);
    uint32_t state = 11;
    random_bytes(&state, expected, BUFFER_BYTES);
    memcpy(found, expected, BUFFER_BYTES);
    for (int32_t round = 0; round < 1500; round++) {
        static const int64_t pixels[] = {1, 2, 3, 4, 5, 8, 12, 16, 63, 1008, 1024};
        cc__fill work = {.pixel_bytes = pixels[random_below(&state, 11)]};
        random_size(&state, work.pixel_bytes > 16 ? 3 : 6, work.size);
        if (round % 10 == 0)
            work.size[0] = 1 + random_below(&state, 20000 / work.pixel_bytes);
        int64_t to = random_strides(&state, work.size, work.pixel_bytes, 1, work.destination.stride);
        if (to > BUFFER_BYTES / 2)
            continue;
        random_bytes(&state, work.value, work.pixel_bytes);
        if (round % 3 == 0)
            memset(work.value, round % 256, sizeof work.value);
        int64_t offset = random_below(&state, 64);
        work.destination.data = expected + offset;
        plain_fill(&work);
        work.destination.data = found + offset;
        cc__fill_on_host(&work);
        ck_assert_mem_eq(found, expected, (size_t)(to + 64));
    }
    free(expected);
    free(found);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("work");
    TCase *cases = tcase_create("work");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, a_dense_box_becomes_one_row);
    tcase_add_test(cases, axes_merge_only_without_a_gap_in_either_span);
    tcase_add_test(cases, the_first_axis_stays_the_first);
    tcase_add_test(cases, strides_that_only_one_pixel_has_are_not_multiplied);
    tcase_add_test(cases, rows_are_elements_in_the_order_of_memory);
    tcase_add_test(cases, random_copies_agree_with_plain_ones);
    tcase_add_test(cases, random_fills_agree_with_plain_ones);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
