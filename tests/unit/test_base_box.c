/* Boxes, against the same questions asked pixel by pixel. */
#include "base/box.h"
#include "support/plain_work.h"

#include <check.h>
#include <stdlib.h>

/* Boxes of the random tests lie in a space this long along each axis. */
#define SPACE 5

static cc__box box_of(int64_t i, int64_t j, int64_t k, int64_t l, int64_t si, int64_t sj, int64_t sk, int64_t sl)
{
    return (cc__box){{i, j, k, l}, {si, sj, sk, sl}};
}

static cc__box random_box(uint32_t *state, int64_t least)
{
    cc__box box;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        box.size[axis] = least + random_below(state, SPACE + 1 - least);
        box.start[axis] = random_below(state, SPACE + 1 - box.size[axis]);
    }
    return box;
}

static bool has(const cc__box *box, const int64_t at[CC_MAX_DIMENSION])
{
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        if (at[axis] < box->start[axis] || at[axis] - box->start[axis] >= box->size[axis])
            return false;
    }
    return true;
}

/* The next pixel of the space; false after the last. */
static bool next(int64_t at[CC_MAX_DIMENSION])
{
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        if (++at[axis] < SPACE)
            return true;
        at[axis] = 0;
    }
    return false;
}

START_TEST(an_empty_box_has_no_pixels_however_long_its_other_axes)
{
    cc__box empty = box_of(0, 0, 0, 0, INT64_MAX, INT64_MAX, 0, INT64_MAX);
    ck_assert(cc__box_is_empty(&empty));
    ck_assert_int_eq(cc__box_pixels(&empty), 0);
    cc__box pieces[CC__BOX_MAX_PIECES];
    cc__box one = box_of(0, 0, 0, 0, 1, 1, 1, 1);
    ck_assert_int_eq(cc__box_subtract(&empty, &one, pieces), 0);
    ck_assert(!cc__box_overlaps(&empty, &one));
    ck_assert(!cc__box_overlaps(&one, &empty));
    ck_assert(cc__box_contains(&one, &empty));
    ck_assert(cc__box_contains(&empty, &empty));
    ck_assert(!cc__box_contains(&empty, &one));
}
END_TEST

START_TEST(boxes_may_end_where_63_bits_end)
{
    cc__box box = box_of(INT64_MAX - 8, 0, 0, 0, 8, 1, 1, 1);
    cc__box hole = box_of(INT64_MAX - 4, 0, 0, 0, 4, 1, 1, 1);
    cc__box pieces[CC__BOX_MAX_PIECES];
    cc__box left = box_of(INT64_MAX - 8, 0, 0, 0, 4, 1, 1, 1);
    ck_assert_int_eq(cc__box_subtract(&box, &hole, pieces), 1);
    ck_assert(cc__box_equal(&pieces[0], &left));
    ck_assert(cc__box_join(&left, &hole, &pieces[0]));
    ck_assert(cc__box_equal(&pieces[0], &box));
    cc__box all = box_of(0, 0, 0, 0, INT64_MAX, 1, 1, 1);
    ck_assert_int_eq(cc__box_pixels(&all), INT64_MAX);
    cc__box bounding = cc__box_bounding(&hole, &(cc__box){{0, 0, 0, 0}, {1, 1, 1, 1}});
    ck_assert(cc__box_equal(&bounding, &all));
}
END_TEST

START_TEST(pieces_keep_rows_and_slices_whole)
{
    cc__box box = box_of(0, 0, 0, 0, 10, 10, 10, 10);
    cc__box hole = box_of(4, 4, 4, 4, 2, 2, 2, 2);
    const cc__box expected[] = {
        box_of(0, 0, 0, 0, 10, 10, 10, 4), box_of(0, 0, 0, 6, 10, 10, 10, 4), box_of(0, 0, 0, 4, 10, 10, 4, 2),
        box_of(0, 0, 6, 4, 10, 10, 4, 2),  box_of(0, 0, 4, 4, 10, 4, 2, 2),   box_of(0, 6, 4, 4, 10, 4, 2, 2),
        box_of(0, 4, 4, 4, 4, 2, 2, 2),    box_of(6, 4, 4, 4, 4, 2, 2, 2),
    };
    cc__box pieces[CC__BOX_MAX_PIECES];
    ck_assert_int_eq(cc__box_subtract(&box, &hole, pieces), CC__BOX_MAX_PIECES);
    for (int32_t i = 0; i < CC__BOX_MAX_PIECES; i++)
        ck_assert(cc__box_equal(&pieces[i], &expected[i]));
    ck_assert_int_eq(cc__box_subtract(&hole, &box, pieces), 0);
}
END_TEST

START_TEST(two_boxes_are_one_only_when_nothing_is_missing)
{
    cc__box a = box_of(0, 0, 2, 0, 4, 4, 2, 1);
    cc__box out = a;
    const cc__box apart = box_of(0, 0, 5, 0, 4, 4, 2, 1);
    const cc__box shorter = box_of(0, 0, 4, 0, 3, 4, 2, 1);
    const cc__box shifted = box_of(1, 0, 4, 0, 4, 4, 2, 1);
    const cc__box diagonal = box_of(4, 4, 2, 0, 4, 4, 2, 1);
    ck_assert(!cc__box_join(&a, &apart, &out));
    ck_assert(!cc__box_join(&a, &shorter, &out));
    ck_assert(!cc__box_join(&a, &shifted, &out));
    ck_assert(!cc__box_join(&a, &diagonal, &out));
    ck_assert(cc__box_equal(&out, &a));
    const cc__box before = box_of(0, 0, 0, 0, 4, 4, 2, 1);
    const cc__box both = box_of(0, 0, 0, 0, 4, 4, 4, 1);
    ck_assert(cc__box_join(&a, &before, &out));
    ck_assert(cc__box_equal(&out, &both));
    ck_assert(cc__box_join(&before, &a, &out));
    ck_assert(cc__box_equal(&out, &both));
    const cc__box nothing = box_of(9, 9, 9, 9, 1, 0, 1, 1);
    ck_assert(cc__box_join(&nothing, &a, &out));
    ck_assert(cc__box_equal(&out, &a));
}
END_TEST

START_TEST(random_boxes_agree_with_their_pixels)
{
    uint32_t state = 1;
    for (int32_t round = 0; round < 2000; round++) {
        cc__box a = random_box(&state, random_below(&state, 2));
        cc__box b = random_box(&state, random_below(&state, 2));
        cc__box shared = a;
        cc__box pieces[CC__BOX_MAX_PIECES];
        bool overlaps = cc__box_intersect(&a, &b, &shared);
        int32_t count = cc__box_subtract(&a, &b, pieces);
        cc__box bounding = cc__box_bounding(&a, &b);
        int64_t in_a = 0;
        int64_t in_b_too = 0;
        int64_t only_in_b = 0;
        int32_t wrong = 0;
        int64_t at[CC_MAX_DIMENSION] = {0, 0, 0, 0};
        do {
            bool is_in_a = has(&a, at);
            bool is_in_b = has(&b, at);
            int32_t covers = 0;
            for (int32_t i = 0; i < count; i++)
                covers += has(&pieces[i], at);
            wrong += covers != (is_in_a && !is_in_b);
            wrong += (overlaps && has(&shared, at)) != (is_in_a && is_in_b);
            if (!cc__box_is_empty(&a) && !cc__box_is_empty(&b) && (is_in_a || is_in_b))
                wrong += !has(&bounding, at);
            in_a += is_in_a;
            in_b_too += is_in_a && is_in_b;
            only_in_b += is_in_b && !is_in_a;
        } while (next(at));
        ck_assert_int_eq(wrong, 0);
        ck_assert_int_eq(cc__box_pixels(&a), in_a);
        ck_assert_int_eq(cc__box_is_empty(&a), in_a == 0);
        ck_assert_int_eq(overlaps, in_b_too > 0);
        ck_assert_int_eq(cc__box_overlaps(&a, &b), in_b_too > 0);
        ck_assert_int_eq(cc__box_contains(&a, &b), only_in_b == 0);
        for (int32_t i = 0; i < count; i++)
            ck_assert(!cc__box_is_empty(&pieces[i]));

        /* Disjoint boxes make one box exactly when their bounding box has no other pixels. */
        cc__box joined;
        for (int32_t i = 0; i < count; i++) {
            for (int32_t j = 0; j < count; j++) {
                if (i == j)
                    continue;
                bounding = cc__box_bounding(&pieces[i], &pieces[j]);
                bool is_one = cc__box_pixels(&bounding) == cc__box_pixels(&pieces[i]) + cc__box_pixels(&pieces[j]);
                ck_assert_int_eq(cc__box_join(&pieces[i], &pieces[j], &joined), is_one);
                if (is_one)
                    ck_assert(cc__box_equal(&joined, &bounding));
            }
        }
    }
}
END_TEST

START_TEST(a_box_of_a_size_is_at_the_start)
{
    const int64_t size[CC_MAX_DIMENSION] = {3, 0, 5, 7};
    cc__box box = cc__box_of_size(size);
    cc__box expected = box_of(0, 0, 0, 0, 3, 0, 5, 7);
    ck_assert(cc__box_equal(&box, &expected));
    expected.start[3] = 1;
    ck_assert(!cc__box_equal(&box, &expected));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("box");
    TCase *cases = tcase_create("box");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, an_empty_box_has_no_pixels_however_long_its_other_axes);
    tcase_add_test(cases, boxes_may_end_where_63_bits_end);
    tcase_add_test(cases, pieces_keep_rows_and_slices_whole);
    tcase_add_test(cases, two_boxes_are_one_only_when_nothing_is_missing);
    tcase_add_test(cases, random_boxes_agree_with_their_pixels);
    tcase_add_test(cases, a_box_of_a_size_is_at_the_start);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
