/* Random programs against an oracle that works pixel by pixel; with CC_MODEL_TRACE they print what they do. */
#include "program.h"
#include "seeds.h"

#include "data_manager/internal.h"
#include "support/fixture.h"

#define USUAL_SEEDS 600
#define USUAL_STEPS 150
#define FEW_CELLS 6

static void run(const char *test, bool tidies)
{
    const model_seeds seeds = model_seeds_of(USUAL_SEEDS, USUAL_STEPS);
    for (uint64_t seed = seeds.first; seed < seeds.end; seed++)
        program_run(test, seed, seeds.steps, tidies);
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
