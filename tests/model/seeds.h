/* Which random programs run. CC_MODEL_SEEDS: how many of each kind. CC_MODEL_STEPS: how long each is. CC_MODEL_SEED:
 * only this one. */
#ifndef CC_TESTS_MODEL_SEEDS_H
#define CC_TESTS_MODEL_SEEDS_H

#include <stdint.h>

typedef struct model_seeds {
    uint64_t first;
    uint64_t end;
    int32_t steps;
} model_seeds;

model_seeds model_seeds_of(uint64_t usual_count, int32_t usual_steps);

#endif
