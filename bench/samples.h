/* Repeated times of one piece of work, and what they come to. */
#ifndef BENCH_SAMPLES_H
#define BENCH_SAMPLES_H

#include <stdint.h>

#define SAMPLES_LIMIT 512

typedef struct samples {
    double seconds[SAMPLES_LIMIT];
    int32_t count;
} samples;

typedef struct summary {
    double median;
    double min;
    double spread; /* the interquartile range */
    int32_t count;
} summary;

/* A clock that never goes back; only differences mean something. */
double clock_seconds(void);

/* What is added past SAMPLES_LIMIT is let go. */
void samples_add(samples *s, double seconds);

/* All 0 without samples. */
summary samples_summary(const samples *s);

#endif
