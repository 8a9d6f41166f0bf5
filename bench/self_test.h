/* Whether the benchmark's own arithmetic is right, for machines without a GPU. */
#ifndef BENCH_SELF_TEST_H
#define BENCH_SELF_TEST_H

#include "bench.h"

/* Prints what is wrong. True when nothing is. */
bool self_test(const bench_group *groups, int32_t group_count);

#endif
