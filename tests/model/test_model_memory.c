/* Random programs that are short of memory, as test_model.c runs those that are not. */
#include "program.h"
#include "seeds.h"

#include "support/fixture.h"

#define USUAL_SEEDS 800
#define USUAL_STEPS 260

START_TEST(random_programs_short_of_memory)
{
    const model_seeds seeds = model_seeds_of(USUAL_SEEDS, USUAL_STEPS);
    for (uint64_t seed = seeds.first; seed < seeds.end; seed++)
        program_run_short_of_memory("random_programs_short_of_memory", seed, seeds.steps);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("model");
    TCase *tcase = tcase_create("memory");
    tcase_set_timeout(tcase, 0);
    tcase_add_test(tcase, random_programs_short_of_memory);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
