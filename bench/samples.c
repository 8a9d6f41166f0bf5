#include "samples.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void samples_add(samples *s, double seconds)
{
    if (s->count < SAMPLES_LIMIT)
        s->seconds[s->count++] = seconds;
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Between two samples: in proportion. */
static double quantile(const double *sorted, int32_t count, double fraction)
{
    const double position = fraction * (count - 1);
    const int32_t below = (int32_t)position;
    const int32_t above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
}

summary samples_summary(const samples *s)
{
    double sorted[SAMPLES_LIMIT];
    const int32_t count = s->count;
    if (count == 0)
        return (summary){0};
    memcpy(sorted, s->seconds, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare);
    return (summary){
        .median = quantile(sorted, count, 0.5),
        .min = sorted[0],
        .spread = quantile(sorted, count, 0.75) - quantile(sorted, count, 0.25),
        .count = count,
    };
}
