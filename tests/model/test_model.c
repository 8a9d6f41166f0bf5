/*
 * Random programs against an oracle that works pixel by pixel. CC_MODEL_SEEDS: how many of each kind. CC_MODEL_STEPS:
 * how long each is. CC_MODEL_SEED: only this one; with CC_MODEL_TRACE it prints what it does.
 */
#include "program.h"

#include "data_manager/internal.h"
#include "support/fixture.h"

#include <stdlib.h>

#define USUAL_SEEDS 600
#define USUAL_STEPS 120
#define FEW_CELLS 6

static uint64_t number(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : usual;
}

static void run(const char *test, bool tidies)
{
    const bool has_seed = getenv("CC_MODEL_SEED") != NULL;
    const uint64_t first = number("CC_MODEL_SEED", 1);
    const uint64_t count = number("CC_MODEL_SEEDS", has_seed ? 1 : USUAL_SEEDS);
    for (uint64_t i = 0; i < count; i++)
        program_run(test, first + i, (int32_t)number("CC_MODEL_STEPS", USUAL_STEPS), tidies);
}

START_TEST(random_programs)
{
    run("random_programs", false);
}
END_TEST

/* With few cells allowed, the library forgets what is valid where. No byte may be lost by that. */
START_TEST(random_programs_that_tidy)
{
    const int32_t usual = cc__cells_before_tidying;
    cc__cells_before_tidying = FEW_CELLS;
    run("random_programs_that_tidy", true);
    cc__cells_before_tidying = usual;
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model");
    TCase *tcase = tcase_create("programs");
    tcase_set_timeout(tcase, 0);
    tcase_add_test(tcase, random_programs);
    tcase_add_test(tcase, random_programs_that_tidy);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
