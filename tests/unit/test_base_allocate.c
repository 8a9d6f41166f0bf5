/* Memory: what cannot be had is NULL, what is had is counted. */
#include "base/allocate.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static atomic_int asked;
static _Atomic size_t asked_size;
static int refuse_nth;

static bool refuse(size_t size_bytes)
{
    asked_size = size_bytes;
    return atomic_fetch_add(&asked, 1) + 1 == refuse_nth;
}

static void set_up(void)
{
    atomic_store(&asked, 0);
    refuse_nth = 0;
    ck_assert_int_eq(cc__allocations_live(), 0);
}

static void tear_down(void)
{
    cc__allocate_set_hook(NULL);
    ck_assert_int_eq(cc__allocations_live(), 0);
}

START_TEST(sizes_that_no_pointer_can_span_are_refused)
{
    const size_t too_much[] = {SIZE_MAX, SIZE_MAX - 4095, (size_t)PTRDIFF_MAX + 1};
    unsigned char *kept = cc__allocate(3);
    memset(kept, 7, 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_ptr_null(cc__allocate(too_much[i]));
        ck_assert_ptr_null(cc__pages_allocate(too_much[i]));
        ck_assert_ptr_null(cc__reallocate(NULL, too_much[i]));
        ck_assert_ptr_null(cc__reallocate(kept, too_much[i]));
    }
    /* More than any address space has. */
    ck_assert_ptr_null(cc__pages_allocate(PTRDIFF_MAX));
    ck_assert_int_eq(cc__allocations_live(), 1);
    ck_assert_int_eq(kept[2], 7);
    cc__free(kept);
}
END_TEST

START_TEST(no_bytes_are_still_an_allocation)
{
    void *a = cc__allocate(0);
    void *b = cc__reallocate(NULL, 0);
    void *pages = cc__pages_allocate(0);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_nonnull(b);
    ck_assert_ptr_nonnull(pages);
    ck_assert_int_eq(cc__allocations_live(), 3);
    a = cc__reallocate(a, 0);
    ck_assert_ptr_nonnull(a);
    ck_assert_int_eq(cc__allocations_live(), 3);
    cc__free(a);
    cc__free(b);
    cc__pages_free(pages, 0);
    cc__free(NULL);
    cc__pages_free(NULL, 100);
}
END_TEST

START_TEST(memory_is_zero)
{
    unsigned char *memory = cc__allocate(1000);
    for (size_t i = 0; i < 1000; i++)
        ck_assert_int_eq(memory[i], 0);
    memset(memory, 1, 1000);
    memory = cc__reallocate(memory, 5000);
    ck_assert_int_eq(memory[999], 1);
    cc__free(memory);

    /* Below and above where huge pages are asked for, no multiple of a page. */
    const size_t sizes[] = {1, 4097, ((size_t)6 << 20) + 1};
    for (size_t i = 0; i < 3; i++) {
        unsigned char *pages = cc__pages_allocate(sizes[i]);
        ck_assert_ptr_nonnull(pages);
        ck_assert_uint_eq((uintptr_t)pages % 4096, 0);
        for (size_t at = 0; at < sizes[i]; at += 511)
            ck_assert_int_eq(pages[at], 0);
        pages[sizes[i] - 1] = 1;
        cc__pages_free(pages, sizes[i]);
    }
}
END_TEST

START_TEST(pages_that_nobody_touches_cost_nothing)
{
    /* 256 GiB: more than most machines have, and to be had all the same. */
    const size_t size = (size_t)1 << 38;
    unsigned char *pages = cc__pages_allocate(size);
    ck_assert_ptr_nonnull(pages);
    pages[size - 1] = 1;
    ck_assert_int_eq(pages[size / 2], 0);
    cc__pages_free(pages, size);
}
END_TEST

START_TEST(the_hook_is_asked_before_each_allocation)
{
    cc__allocate_set_hook(refuse);
    for (refuse_nth = 1; refuse_nth <= 5; refuse_nth++) {
        atomic_store(&asked, 0);
        void *a = cc__allocate(11);
        ck_assert_uint_eq(asked_size, 11);
        void *b = cc__reallocate(NULL, 12);
        ck_assert_uint_eq(asked_size, 12);
        void *grown = b != NULL ? cc__reallocate(b, 13) : cc__allocate(13);
        ck_assert_uint_eq(asked_size, 13);
        void *pages = cc__pages_allocate(14);
        ck_assert_uint_eq(asked_size, 14);
        ck_assert_int_eq(atomic_load(&asked), 4);
        ck_assert_int_eq(a == NULL, refuse_nth == 1);
        ck_assert_int_eq(b == NULL, refuse_nth == 2);
        ck_assert_int_eq(grown == NULL, refuse_nth == 3);
        ck_assert_int_eq(pages == NULL, refuse_nth == 4);
        /* What could not grow is still there. */
        ck_assert_int_eq(cc__allocations_live(), (a != NULL) + (b != NULL || grown != NULL) + (pages != NULL));
        cc__free(a);
        cc__free(grown != NULL ? grown : b);
        cc__pages_free(pages, 14);
    }
}
END_TEST

#define ROUNDS 2000

static void *allocate_and_free(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        void *a = cc__allocate(16);
        void *pages = cc__pages_allocate(16);
        ck_assert(a != NULL && pages != NULL);
        cc__free(a);
        cc__pages_free(pages, 16);
    }
    return NULL;
}

START_TEST(two_threads_are_counted_together)
{
    cc__allocate_set_hook(refuse);
    void *kept = cc__allocate(1);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, allocate_and_free, NULL), 0);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(cc__allocations_live(), 1);
    ck_assert_int_eq(atomic_load(&asked), 1 + 2 * 2 * ROUNDS);
    cc__free(kept);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("allocate");
    TCase *cases = tcase_create("allocate");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, sizes_that_no_pointer_can_span_are_refused);
    tcase_add_test(cases, no_bytes_are_still_an_allocation);
    tcase_add_test(cases, memory_is_zero);
    tcase_add_test(cases, pages_that_nobody_touches_cost_nothing);
    tcase_add_test(cases, the_hook_is_asked_before_each_allocation);
    tcase_add_test(cases, two_threads_are_counted_together);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
