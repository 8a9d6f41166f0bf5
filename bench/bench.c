#include "bench.h"

#include "device.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More repetitions than these are not begun after that many seconds. */
#define FEWEST_REPETITIONS 3
#define LONG_ENOUGH_S 3.0

static jmp_buf group_end;
static pthread_t group_thread;
static bool in_group;
static char failure[NOTE_BYTES];

static void print_measure(const measure *measured)
{
    const summary *s = &measured->seconds;
    printf("  %-44s %12.3f us", measured->name, 1e6 * s->median);
    if (measured->bytes > 0)
        printf(" %9.2f GB/s", 1e-9 * measured->bytes / s->median);
    else
        printf(" %14s", "");
    printf("   min %.3f, spread %.3f, n %d\n", 1e6 * s->min, 1e6 * s->spread, (int)s->count);
    fflush(stdout);
}

void bench_record(bench *b, const char *name, double bytes, const samples *taken)
{
    if (bench_find(b, name) != NULL || strlen(name) >= NAME_BYTES || b->measure_count == MEASURE_LIMIT)
        bench_fail("the measure %s: twice, too long, or one too many", name);
    measure *measured = &b->measures[b->measure_count++];
    *measured = (measure){.bytes = bytes, .seconds = samples_summary(taken)};
    snprintf(measured->name, sizeof measured->name, "%s", name);
    print_measure(measured);
}

void bench_measure(bench *b, const char *name, double bytes, int32_t warm_ups, int32_t repetitions, bench_work work,
                   void *context)
{
    samples taken = {.count = 0};
    for (int32_t i = 0; i < warm_ups; ++i)
        (void)work(context);
    const double begin = clock_seconds();
    for (int32_t i = 0; i < repetitions; ++i) {
        if (i >= FEWEST_REPETITIONS && (b->quick || clock_seconds() - begin > LONG_ENOUGH_S))
            break;
        samples_add(&taken, work(context));
    }
    bench_record(b, name, bytes, &taken);
}

const measure *bench_find(const bench *b, const char *name)
{
    for (int32_t i = 0; i < b->measure_count; ++i) {
        if (strcmp(b->measures[i].name, name) == 0)
            return &b->measures[i];
    }
    return NULL;
}

void bench_note(bench *b, const char *format, ...)
{
    if (b->note_count == NOTE_LIMIT)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(b->notes[b->note_count++], NOTE_BYTES, format, arguments);
    va_end(arguments);
}

const char *bench_name_sized(const char *prefix, size_t bytes)
{
    static char names[3][NAME_BYTES];
    static int32_t next;
    char *name = names[next];
    next = (next + 1) % 3;
    if (bytes % GIB == 0)
        snprintf(name, NAME_BYTES, "%s.%zuGiB", prefix, bytes / GIB);
    else if (bytes % MIB == 0)
        snprintf(name, NAME_BYTES, "%s.%zuMiB", prefix, bytes / MIB);
    else if (bytes % KIB == 0)
        snprintf(name, NAME_BYTES, "%s.%zuKiB", prefix, bytes / KIB);
    else
        snprintf(name, NAME_BYTES, "%s.%zuB", prefix, bytes);
    return name;
}

uint32_t bench_next_seed(bench *b)
{
    return ++b->seed;
}

bool bench_run_group(bench *b, const bench_group *group)
{
    printf("%s: %s\n", group->name, group->what);
    fflush(stdout);
    group_thread = pthread_self();
    in_group = true;
    if (setjmp(group_end) == 0) {
        group->run(b);
        in_group = false;
        return true;
    }
    in_group = false;
    fprintf(stderr, "cc_bench: %s failed: %s\n", group->name, failure);
    bench_note(b, "%s failed: %s", group->name, failure);
    device_recover(b);
    return false;
}

void bench_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (in_group && pthread_equal(pthread_self(), group_thread)) {
        vsnprintf(failure, sizeof failure, format, arguments);
        va_end(arguments);
        longjmp(group_end, 1);
    }
    fprintf(stderr, "cc_bench: ");
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(1);
}

void bench_check_cc(cc_status status, const char *call, const char *file, int line)
{
    if (status != CC_OK)
        bench_fail("%s:%d: %s: %s, %s", file, line, call, cc_status_name(status), cc_last_error_message());
}
