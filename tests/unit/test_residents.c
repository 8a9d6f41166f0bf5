/* The order in which memory is given up, against one that is sorted anew each time. */
#include "data_manager/internal.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>

#define COUNT 300
#define DEVICE 3

static cc__data_manager *managers[COUNT];
static cc__resident residents[COUNT];

static void set_up(void)
{
    for (int32_t i = 0; i < COUNT; ++i) {
        managers[i] = calloc(1, sizeof *managers[i]);
        ck_assert_ptr_nonnull(managers[i]);
        atomic_init(&managers[i]->references, 1);
        residents[i] = (cc__resident){0};
    }
}

static void tear_down(void)
{
    for (int32_t i = 0; i < COUNT; ++i) {
        cc__residents_remove(&residents[i]);
        ck_assert_int_eq(managers[i]->references, 1);
        free(managers[i]);
    }
}

static cc__resident *next(cc__residents_round *round)
{
    cc__data_manager *manager = NULL;
    bool is_dirty = false;
    cc__resident *resident = cc__residents_next(round, &manager, &is_dirty);
    if (resident == NULL)
        return NULL;
    ck_assert_ptr_eq(manager, managers[resident - residents]);
    ck_assert_int_eq(manager->references, 2);
    ck_assert_int_eq(is_dirty, resident->is_dirty);
    manager->references = 1;
    return resident;
}

static int compare(const void *left, const void *right)
{
    const cc__resident *a = *(cc__resident *const *)left;
    const cc__resident *b = *(cc__resident *const *)right;
    if (a->priority != b->priority)
        return a->priority < b->priority ? -1 : 1;
    if (a->is_dirty != b->is_dirty)
        return a->is_dirty ? 1 : -1;
    ck_assert_uint_ne(a->last_used, b->last_used);
    return a->last_used < b->last_used ? -1 : 1;
}

static void expect_sorted(void)
{
    cc__resident *expected[COUNT];
    cc__residents_round round;
    size_t count = 0;
    for (int32_t i = 0; i < COUNT; ++i)
        if (residents[i].manager != NULL)
            expected[count++] = &residents[i];
    qsort(expected, count, sizeof expected[0], compare);
    cc__residents_begin(&round, DEVICE);
    for (size_t i = 0; i < count; ++i)
        ck_assert_ptr_eq(next(&round), expected[i]);
    ck_assert_ptr_null(next(&round));
    ck_assert(!cc__residents_end(&round, false));
}

START_TEST(the_order_is_that_of_sorting)
{
    srand((unsigned)_i);
    for (int32_t round = 0; round < 40; ++round) {
        for (int32_t change = 0; change < COUNT; ++change) {
            cc__resident *resident = &residents[rand() % COUNT];
            if (resident->manager == NULL) {
                cc__residents_add(resident, managers[resident - residents], DEVICE, rand() % 3 - 1);
                continue;
            }
            switch (rand() % 6) {
            case 0:
                cc__residents_remove(resident);
                break;
            case 1:
                cc__residents_set_priority(resident, rand() % 3 - 1);
                break;
            case 2:
                cc__residents_set_dirty(resident, rand() % 2 == 0);
                break;
            default:
                cc__resident_use(resident);
                break;
            }
        }
        expect_sorted();
    }
}
END_TEST

START_TEST(what_changes_during_a_round_is_found_again)
{
    cc__residents_round first;
    cc__residents_round second;
    for (int32_t i = 0; i < 6; ++i)
        cc__residents_add(&residents[i], managers[i], DEVICE, 0);
    cc__residents_begin(&first, DEVICE);
    for (int32_t i = 0; i < 5; ++i)
        ck_assert_ptr_eq(next(&first), &residents[i]);
    /* Out of the middle, the end and the beginning of what was set aside. */
    cc__residents_remove(&residents[2]);
    cc__residents_set_dirty(&residents[0], true);
    cc__residents_set_dirty(&residents[4], true);
    cc__residents_set_priority(&residents[3], 1);
    /* Another round sees what the first has not set aside. */
    cc__residents_begin(&second, DEVICE);
    ck_assert_ptr_eq(next(&second), &residents[5]);
    ck_assert(cc__residents_end(&second, true));
    ck_assert_ptr_eq(next(&first), &residents[5]);
    ck_assert_ptr_eq(next(&first), &residents[0]);
    ck_assert_ptr_eq(next(&first), &residents[4]);
    ck_assert_ptr_null(next(&first));
    ck_assert(cc__residents_end(&first, false)); /* the second has freed something meanwhile */
    expect_sorted();
}
END_TEST

START_TEST(one_without_owners_is_not_offered)
{
    cc__residents_round round;
    for (int32_t i = 0; i < 3; ++i)
        cc__residents_add(&residents[i], managers[i], DEVICE, 0);
    managers[1]->references = 0;
    cc__residents_begin(&round, DEVICE);
    ck_assert_ptr_eq(next(&round), &residents[0]);
    ck_assert_ptr_eq(next(&round), &residents[2]);
    ck_assert_ptr_null(next(&round));
    ck_assert(!cc__residents_end(&round, false));
    managers[1]->references = 1;
    expect_sorted();
}
END_TEST

static void *walk_in_vain(void *argument)
{
    cc__residents_round round;
    cc__residents_begin(&round, DEVICE);
    while (next(&round) != NULL)
        continue;
    *(_Atomic int *)argument = 1;
    *(_Atomic int *)argument = cc__residents_end(&round, false) ? 2 : 3;
    return NULL;
}

START_TEST(a_vain_round_waits_for_another)
{
    pthread_t thread;
    _Atomic int state = 0;
    cc__residents_round round;
    cc__residents_add(&residents[0], managers[0], DEVICE, 0);
    cc__residents_begin(&round, DEVICE);
    ck_assert_ptr_eq(next(&round), &residents[0]);
    ck_assert_int_eq(pthread_create(&thread, NULL, walk_in_vain, &state), 0);
    while (state == 0)
        continue;
    ck_assert(cc__residents_end(&round, true));
    pthread_join(thread, NULL);
    ck_assert_int_eq(state, 2);
}
END_TEST

START_TEST(a_round_within_a_round_does_not_wait)
{
    cc__residents_round outer;
    _Atomic int state = 0;
    cc__residents_begin(&outer, DEVICE);
    walk_in_vain(&state);
    ck_assert_int_eq(state, 3);
    ck_assert(!cc__residents_end(&outer, false));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("residents");
    TCase *tcase = tcase_create("residents");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, the_order_is_that_of_sorting, 0, 5);
    tcase_add_test(tcase, what_changes_during_a_round_is_found_again);
    tcase_add_test(tcase, one_without_owners_is_not_offered);
    tcase_add_test(tcase, a_vain_round_waits_for_another);
    tcase_add_test(tcase, a_round_within_a_round_does_not_wait);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
