/* What a run says in the end: tables for people, JSON for bench/plot.py and for the record. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "machine.h"
#include "targets.h"

#include <stdio.h>

/* Returns how many targets are not reached, those not measured among them, unless only some groups were asked for. */
int32_t report_targets(const bench *b, FILE *out);
void report_comparisons(const bench *b, FILE *out);
void report_notes(const bench *b, FILE *out);

/* What would be measured and reached, on a machine that can do neither. */
void report_plan(const bench_group *groups, int32_t group_count, FILE *out);

void report_json(const bench *b, const machine *m, double run_seconds, FILE *out);

#endif
