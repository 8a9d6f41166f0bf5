/* Which programs get a kernel and when, with a maker that only counts. */
#include "backend/program_table.h"
#include "base/allocate.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 6

static cc__program_table *table;
static atomic_int calls;
static cc__program_outcome outcome;

static void set_up(void)
{
    table = cc__allocate(sizeof *table);
    ck_assert_ptr_nonnull(table);
    atomic_store(&calls, 0);
    outcome = CC__PROGRAM_MADE;
}

static void tear_down(void)
{
    cc__free(table);
    ck_assert_int_eq(cc__allocations_live(), 0);
}

static cc__program program_of(int32_t number)
{
    cc__program program;
    memset(&program, 0, sizeof program);
    program.to_type = CC_PIXEL_FLOAT32;
    program.step_count = (uint8_t)(1 + number % 16);
    program.steps[15].a.number = (uint8_t)(number / 16 % 256);
    program.steps[15].b.number = (uint8_t)(number / 4096);
    return program;
}

/* A kernel is its program's first numbers, so that one of another program is found out. */
static void *kernel_of(const cc__program *program)
{
    return &((unsigned char *)table)[program->step_count + 16 * program->steps[15].a.number];
}

static cc__program_outcome make(void *context, const cc__program *program, void **out_kernel)
{
    ck_assert_ptr_eq(context, &calls);
    atomic_fetch_add(&calls, 1);
    if (outcome == CC__PROGRAM_MADE)
        *out_kernel = kernel_of(program);
    return outcome;
}

static void *find(int32_t number, int64_t bytes, int64_t worth_bytes)
{
    const cc__program program = program_of(number);
    return cc__program_table_find(table, &program, bytes, worth_bytes, make, &calls);
}

START_TEST(a_kernel_is_made_when_it_is_worth_it)
{
    const cc__program first = program_of(0), second = program_of(1);
    for (int32_t n = 0; n < 9; n++)
        ck_assert_ptr_null(find(0, 100, 1000));
    for (int32_t n = 0; n < 9; n++)
        ck_assert_ptr_null(find(1, 100, 1000));
    ck_assert_int_eq(atomic_load(&calls), 0);
    ck_assert_ptr_eq(find(0, 100, 1000), kernel_of(&first));
    ck_assert_int_eq(atomic_load(&calls), 1);
    ck_assert_ptr_eq(find(0, 1, 1000), kernel_of(&first));
    ck_assert_int_eq(atomic_load(&calls), 1);
    ck_assert_ptr_eq(find(1, 5000, 1000), kernel_of(&second));
    ck_assert_int_eq(atomic_load(&calls), 2);
}
END_TEST

START_TEST(what_the_environment_says)
{
    const cc__program program = program_of(0);
    ck_assert_int_eq(cc__program_worth_bytes("always"), 0);
    ck_assert_int_eq(cc__program_worth_bytes("never"), INT64_MAX);
    ck_assert_int_gt(cc__program_worth_bytes(NULL), (int64_t)1 << 30);
    ck_assert_int_eq(cc__program_worth_bytes("sometimes"), cc__program_worth_bytes(NULL));
    ck_assert_int_eq(cc__program_worth_bytes(""), cc__program_worth_bytes(NULL));
    ck_assert_ptr_eq(find(0, 1, cc__program_worth_bytes("always")), kernel_of(&program));
}
END_TEST

START_TEST(what_is_refused_is_not_asked_for_again)
{
    outcome = CC__PROGRAM_REFUSED;
    ck_assert_ptr_null(find(3, 1, 0));
    outcome = CC__PROGRAM_MADE;
    for (int32_t n = 0; n < 10; n++)
        ck_assert_ptr_null(find(3, 1000, 0));
    ck_assert_int_eq(atomic_load(&calls), 1);
}
END_TEST

START_TEST(what_cannot_be_now_is_counted_again)
{
    const cc__program program = program_of(3);
    outcome = CC__PROGRAM_LATER;
    ck_assert_ptr_null(find(3, 1000, 1000));
    outcome = CC__PROGRAM_MADE;
    ck_assert_ptr_null(find(3, 999, 1000));
    ck_assert_ptr_eq(find(3, 1, 1000), kernel_of(&program));
    ck_assert_int_eq(atomic_load(&calls), 2);
}
END_TEST

START_TEST(a_full_table_has_no_room_and_keeps_what_it_has)
{
    for (int32_t n = 0; n < CC__PROGRAM_SLOTS; n++) {
        const cc__program program = program_of(n);
        ck_assert_ptr_eq(find(n, 1, 0), kernel_of(&program));
    }
    for (int32_t n = CC__PROGRAM_SLOTS; n < CC__PROGRAM_SLOTS + 20; n++)
        ck_assert_ptr_null(find(n, 1, 0));
    for (int32_t n = 0; n < CC__PROGRAM_SLOTS; n++) {
        const cc__program program = program_of(n);
        ck_assert_ptr_eq(find(n, 1, INT64_MAX), kernel_of(&program));
    }
    ck_assert_int_eq(atomic_load(&calls), CC__PROGRAM_SLOTS);
}
END_TEST

static void *find_all(void *argument)
{
    const int32_t first = *(const int32_t *)argument;
    for (int32_t n = 0; n < 4000; n++) {
        const int32_t number = (first * 7 + n) % 40;
        const cc__program program = program_of(number);
        const void *kernel = find(number, 10, 300);
        if (kernel != NULL && kernel != kernel_of(&program))
            return argument;
    }
    return NULL;
}

START_TEST(threads_make_each_kernel_once)
{
    pthread_t threads[THREADS];
    int32_t numbers[THREADS];
    for (int32_t n = 0; n < THREADS; n++) {
        numbers[n] = n;
        ck_assert_int_eq(pthread_create(&threads[n], NULL, find_all, &numbers[n]), 0);
    }
    for (int32_t n = 0; n < THREADS; n++) {
        void *wrong = NULL;
        ck_assert_int_eq(pthread_join(threads[n], &wrong), 0);
        ck_assert_ptr_null(wrong);
    }
    for (int32_t n = 0; n < 40; n++) {
        const cc__program program = program_of(n);
        ck_assert_ptr_eq(find(n, 1, 300), kernel_of(&program));
    }
    ck_assert_int_eq(atomic_load(&calls), 40);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("program_table");
    TCase *tcase = tcase_create("program_table");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_kernel_is_made_when_it_is_worth_it);
    tcase_add_test(tcase, what_the_environment_says);
    tcase_add_test(tcase, what_is_refused_is_not_asked_for_again);
    tcase_add_test(tcase, what_cannot_be_now_is_counted_again);
    tcase_add_test(tcase, a_full_table_has_no_room_and_keeps_what_it_has);
    tcase_add_test(tcase, threads_make_each_kernel_once);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
