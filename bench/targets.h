/* What is to be reached, as data, and how one run's measures compare with it. */
#ifndef BENCH_TARGETS_H
#define BENCH_TARGETS_H

#include "bench.h"

typedef enum target_rule {
    RATE_AT_LEAST = 0,   /* reach: a part of the limit's rate */
    TIME_AT_MOST = 1,    /* reach: a multiple of the limit's time */
    SECONDS_AT_MOST = 2, /* reach: seconds; the limit, if any, is for comparison */
} target_rule;

typedef struct target {
    const char *work;
    const char *measure;
    const char *limit; /* the name of another measure of the same run, or NULL */
    target_rule rule;
    double reach; /* 0: nothing was asked for, the ratio is only reported */
} target;

typedef struct verdict {
    bool is_measured; /* else nothing below holds */
    bool is_rate;     /* value and limit are bytes a second, else seconds */
    double value;
    double limit; /* 0 without a limit */
    double ratio; /* of rates (for RATE_AT_LEAST), else of times, to the limit; 0 without one */
    bool is_reached;
} verdict;

/* The naive strategy's measure for the same work. */
typedef struct comparison {
    const char *work;
    const char *measure;
    const char *naive;
} comparison;

extern const target targets[];
extern const int32_t target_count;
extern const comparison comparisons[];
extern const int32_t comparison_count;

verdict target_judge(const bench *b, const target *t);

/* How many times faster than the naive strategy; 0 when one of the two is not measured. */
double comparison_speedup(const bench *b, const comparison *c);

#endif
