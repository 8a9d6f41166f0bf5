/* What loans mean for others, as pure decisions. */
#include "data_manager/lent.h"

#include <check.h>

/* Six pixels in a row. */
static cc__box row(int64_t start, int64_t size)
{
    const cc__box box = {{start, 0, 0, 0}, {size, 1, 1, 1}};
    return box;
}

static cc__lent loan(cc_place place, int64_t start, int64_t size, bool writes, cc__lent *next)
{
    const cc__lent lent = {.place = place, .box = row(start, size), .writes = writes, .next = next};
    return lent;
}

START_TEST(rivals)
{
    cc__lent reading = loan(0, 0, 3, false, NULL);
    cc__lent writing = loan(CC_PLACE_HOST, 4, 2, true, &reading);
    const cc__box left = row(0, 3), middle = row(3, 1), right = row(5, 1);
    ck_assert_ptr_null(cc__lent_find_rival(NULL, &left, 0, true));
    ck_assert_ptr_null(cc__lent_find_rival(&writing, &middle, 1, true));
    ck_assert_ptr_null(cc__lent_find_rival(&writing, &left, 1, false));
    ck_assert_ptr_null(cc__lent_find_rival(&writing, &left, 0, true));
    ck_assert_ptr_eq(cc__lent_find_rival(&writing, &left, 1, true), &reading);
    ck_assert_ptr_eq(cc__lent_find_rival(&writing, &right, 0, false), &writing);
    ck_assert_ptr_null(cc__lent_find_rival(&writing, &right, CC_PLACE_HOST, true));
    writing.has_ended = true;
    ck_assert_ptr_null(cc__lent_find_rival(&writing, &right, 0, true));
}
END_TEST

START_TEST(unreachable)
{
    cc__lent on_device = loan(0, 0, 6, true, NULL);
    cc__lent on_host = loan(CC_PLACE_HOST, 4, 2, false, &on_device);
    const cc__box left = row(0, 4), all = row(0, 6);
    ck_assert_ptr_null(cc__lent_find_unreachable(&on_host, &left, 1));
    ck_assert_ptr_null(cc__lent_find_unreachable(&on_host, &all, CC_PLACE_HOST));
    ck_assert_ptr_eq(cc__lent_find_unreachable(&on_host, &all, 1), &on_host);
    on_host.has_ended = true;
    ck_assert_ptr_null(cc__lent_find_unreachable(&on_host, &all, 1));
}
END_TEST

START_TEST(onlookers)
{
    cc__mappings mappings = {0};
    cc__lent lent = loan(0, 2, 2, true, NULL);
    const cc__box all = row(0, 6), left = row(0, 2), looked_at = row(3, 3);
    ck_assert_ptr_null(cc__lent_find_onlooker(&lent, &mappings, &all, CC_PLACE_HOST));
    const cc__mapping *mapping = cc__mappings_add(&mappings, NULL, CC_PLACE_HOST, CC_ACCESS_READ, &looked_at);
    ck_assert_ptr_eq(cc__lent_find_onlooker(&lent, &mappings, &all, CC_PLACE_HOST), mapping);
    ck_assert_ptr_null(cc__lent_find_onlooker(&lent, &mappings, &left, CC_PLACE_HOST));
    ck_assert_ptr_null(cc__lent_find_onlooker(&lent, &mappings, &all, 1));
    ck_assert_ptr_null(cc__lent_find_onlooker(&lent, &mappings, &all, 0));
    /* Not over by the end of the loan. */
    lent.has_ended = true;
    ck_assert_ptr_eq(cc__lent_find_onlooker(&lent, &mappings, &all, CC_PLACE_HOST), mapping);
    lent.writes = false;
    ck_assert_ptr_null(cc__lent_find_onlooker(&lent, &mappings, &all, CC_PLACE_HOST));
    cc__mappings_destroy(&mappings);
}
END_TEST

static bool has(const cc__validity *validity, int64_t start, int64_t size, cc__sources sources)
{
    const cc__box box = row(start, size);
    return cc__validity_count_pixels(validity, &box, sources) == size && cc__validity_has(validity, &box, sources);
}

static void add(cc__validity *validity, int64_t start, int64_t size, cc__sources keep, cc__sources sources)
{
    const cc__box box = row(start, size);
    ck_assert_int_eq(cc__validity_prepare(validity, &box, keep, sources), CC_OK);
    cc__validity_install(validity);
}

#define HOST CC__SOURCE(CC_PLACE_HOST)
#define DEVICE0 CC__SOURCE(0)
#define DEVICE1 CC__SOURCE(1)

START_TEST(what_may_have_been_written_is_valid_with_the_borrower_alone)
{
    cc__validity validity;
    cc__lent lent = loan(0, 1, 4, true, NULL);
    const cc__box all = row(0, 6), part = row(0, 3);
    cc__validity_init(&validity, &all, DEVICE0 | HOST);
    add(&validity, 4, 1, 0, DEVICE1); /* the borrower has been overtaken here */
    ck_assert_int_eq(cc__lent_age(&validity, &lent, &part), CC_OK);
    ck_assert(has(&validity, 0, 1, HOST));
    ck_assert(has(&validity, 1, 2, DEVICE0));
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &part, HOST), 1);
    ck_assert(has(&validity, 3, 1, HOST));
    ck_assert_int_eq(cc__lent_age(&validity, &lent, &all), CC_OK);
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &all, HOST), 2); /* 0 and 5 */
    ck_assert(has(&validity, 4, 1, DEVICE1));
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &all, DEVICE0), 5);

    /* One who had the pixels before does not take them back from one who has them now. */
    cc__lent now = loan(1, 0, 6, true, NULL);
    lent.has_ended = true;
    lent.next = &now;
    add(&validity, 0, 6, 0, DEVICE1);
    add(&validity, 0, 6, ~(cc__sources)0, DEVICE0);
    ck_assert_int_eq(cc__lent_age(&validity, &lent, &all), CC_OK);
    ck_assert(has(&validity, 0, 6, DEVICE1));
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &all, DEVICE0), 0);
    cc__validity_destroy(&validity);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lent");
    TCase *tcase = tcase_create("lent");
    tcase_add_test(tcase, rivals);
    tcase_add_test(tcase, unreachable);
    tcase_add_test(tcase, onlookers);
    tcase_add_test(tcase, what_may_have_been_written_is_valid_with_the_borrower_alone);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
