/* The GPU itself, for the program around the groups; nothing in a build without CUDA. */
#ifndef BENCH_DEVICE_H
#define BENCH_DEVICE_H

#include "bench.h"
#include "machine.h"

/* NULL when there is one to measure; then b->device_count is set. */
const char *device_why_none(bench *b);

/* Around all groups: the stream of the run. */
void device_begin(bench *b);
void device_end(bench *b);

/* After a group that failed. */
void device_recover(const bench *b);

void device_describe(machine *m);

#endif
