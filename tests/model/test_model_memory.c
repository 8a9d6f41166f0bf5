/* Random programs that are short of memory, as test_model.c runs those that are not; by the same variables. */
#include "program.h"

#include "support/fixture.h"

#include <stdlib.h>

#define USUAL_SEEDS 800
#define USUAL_STEPS 200

static uint64_t number(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : usual;
}

START_TEST(random_programs_short_of_memory)
{
    const bool has_seed = getenv("CC_MODEL_SEED") != NULL;
    const uint64_t first = number("CC_MODEL_SEED", 1);
    const uint64_t count = number("CC_MODEL_SEEDS", has_seed ? 1 : USUAL_SEEDS);
    for (uint64_t i = 0; i < count; i++)
        program_run_short_of_memory("random_programs_short_of_memory", first + i,
                                    (int32_t)number("CC_MODEL_STEPS", USUAL_STEPS));
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
