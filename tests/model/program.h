/* One random program, from its seed. */
#ifndef CC_TESTS_MODEL_PROGRAM_H
#define CC_TESTS_MODEL_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

/* Fails the test, saying how to run it again, when the library and the oracle disagree. */
void program_run(const char *test, uint64_t seed, int32_t steps, bool tidies);

/* The same, short of memory. */
void program_run_short_of_memory(const char *test, uint64_t seed, int32_t steps);

#endif
