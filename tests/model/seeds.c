#include "seeds.h"

#include "support/share.h"

#include <stdbool.h>
#include <stdlib.h>

static uint64_t number(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text != NULL && text[0] != '\0' ? strtoull(text, NULL, 10) : usual;
}

model_seeds model_seeds_of(uint64_t usual_count, int32_t usual_steps)
{
    const bool has_seed = getenv("CC_MODEL_SEED") != NULL;
    const uint64_t first = number("CC_MODEL_SEED", 1);
    const uint64_t share = 1 + (usual_count - 1) / (uint64_t)share_one_in();
    return (model_seeds){.first = first,
                         .end = first + number("CC_MODEL_SEEDS", has_seed ? 1 : share),
                         .steps = (int32_t)number("CC_MODEL_STEPS", (uint64_t)usual_steps)};
}
