/* Numbers that look random and are the same for the same seed, on every machine. */
#ifndef CC_TESTS_MODEL_RANDOM_H
#define CC_TESTS_MODEL_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef struct random_source {
    uint64_t state;
} random_source;

/* splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014. */
static inline uint64_t random_next(random_source *source)
{
    uint64_t z = source->state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* 0 to limit - 1; limit > 0. */
static inline int64_t random_below(random_source *source, int64_t limit)
{
    return (int64_t)(random_next(source) % (uint64_t)limit);
}

static inline bool random_chance(random_source *source, int32_t percent)
{
    return random_below(source, 100) < percent;
}

#endif
