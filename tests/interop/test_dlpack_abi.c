/* Our words for DLPack's ABI against a dlpack.h of version 1. */
#include "dlpack_facts.h"
#include "support/fixture.h"

#include <string.h>

START_TEST(every_offset_and_number_is_the_same)
{
    ck_assert_int_eq(dlpack_our_fact_count, dlpack_their_fact_count);
    for (int32_t i = 0; i < dlpack_our_fact_count; ++i) {
        ck_assert_str_eq(dlpack_our_facts[i].name, dlpack_their_facts[i].name);
        ck_assert_msg(dlpack_our_facts[i].value == dlpack_their_facts[i].value, "%s: %llu, expected %llu",
                      dlpack_our_facts[i].name, (unsigned long long)dlpack_our_facts[i].value,
                      (unsigned long long)dlpack_their_facts[i].value);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dlpack_abi");
    TCase *tcase = tcase_create("dlpack_abi");
    tcase_add_test(tcase, every_offset_and_number_is_the_same);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
