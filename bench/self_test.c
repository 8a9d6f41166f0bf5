#include "self_test.h"

#include "content.h"
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int32_t failures;

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "cc_bench: self-test, line %d: not so: %s\n", __LINE__, #condition);                       \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

static bool is_near(double value, double expected)
{
    return fabs(value - expected) <= 1e-9 * fabs(expected);
}

static void test_summary(void)
{
    samples s = {.count = 0};
    EXPECT(samples_summary(&s).count == 0 && samples_summary(&s).median == 0);
    samples_add(&s, 4);
    EXPECT(samples_summary(&s).median == 4 && samples_summary(&s).min == 4 && samples_summary(&s).spread == 0);
    samples_add(&s, 1);
    samples_add(&s, 3);
    samples_add(&s, 100);
    /* 1 3 4 100: halfway between 3 and 4; quartiles at 2.5 and 28. */
    EXPECT(is_near(samples_summary(&s).median, 3.5));
    EXPECT(is_near(samples_summary(&s).spread, 25.5));
    EXPECT(samples_summary(&s).min == 1 && samples_summary(&s).count == 4);
    for (int32_t i = 0; i < SAMPLES_LIMIT + 10; ++i)
        samples_add(&s, 5);
    EXPECT(s.count == SAMPLES_LIMIT);
}

static void add(bench *b, const char *name, double bytes, double seconds)
{
    measure *m = &b->measures[b->measure_count++];
    *m = (measure){.bytes = bytes, .seconds = {.median = seconds, .min = seconds, .spread = 0, .count = 1}};
    snprintf(m->name, sizeof m->name, "%s", name);
}

static void test_verdicts(bench *b)
{
    const target rate = {"", "fast", "link", RATE_AT_LEAST, 0.9};
    const target per_thread = {"", "eight", "one", RATE_AT_LEAST, 0.8};
    const target time = {"", "one", "eight", TIME_AT_MOST, 0.5};
    const target seconds = {"", "eight", NULL, SECONDS_AT_MOST, 3.9};
    const target missing = {"", "eight", "nobody", TIME_AT_MOST, 9};
    const comparison compared = {"", "one", "eight"}, not_compared = {"", "one", "nobody"};
    b->measure_count = 0;
    add(b, "fast", 18, 2);
    add(b, "link", 30, 3);
    add(b, "one", 0, 2);
    add(b, "eight", 0, 4);
    verdict v = target_judge(b, &rate);
    EXPECT(v.is_measured && v.is_rate && is_near(v.value, 9) && is_near(v.limit, 10) && is_near(v.ratio, 0.9));
    EXPECT(v.is_reached);
    v = target_judge(b, &per_thread);
    EXPECT(v.is_measured && !v.is_rate && is_near(v.ratio, 0.5) && !v.is_reached);
    v = target_judge(b, &time);
    EXPECT(is_near(v.ratio, 0.5) && v.is_reached);
    v = target_judge(b, &seconds);
    EXPECT(v.value == 4 && v.ratio == 0 && !v.is_reached);
    EXPECT(!target_judge(b, &missing).is_measured);
    EXPECT(is_near(comparison_speedup(b, &compared), 2) && comparison_speedup(b, &not_compared) == 0);
}

static bool starts_with_a_group(const char *name, const bench_group *groups, int32_t group_count)
{
    for (int32_t i = 0; i < group_count; ++i) {
        if (strncmp(name, groups[i].name, strlen(groups[i].name)) == 0 && name[strlen(groups[i].name)] == '.')
            return true;
    }
    return false;
}

static bool has_group(const char *name, size_t length, const bench_group *groups, int32_t group_count)
{
    for (int32_t i = 0; i < group_count; ++i) {
        if (strlen(groups[i].name) == length && memcmp(groups[i].name, name, length) == 0)
            return true;
    }
    return false;
}

static void test_names(const bench_group *groups, int32_t group_count)
{
    for (int32_t i = 0; i < target_count; ++i) {
        EXPECT(starts_with_a_group(targets[i].measure, groups, group_count));
        EXPECT(targets[i].limit == NULL || starts_with_a_group(targets[i].limit, groups, group_count));
        EXPECT(strlen(targets[i].measure) < NAME_BYTES && strlen(targets[i].work) <= 45);
    }
    for (int32_t i = 0; i < comparison_count; ++i)
        EXPECT(starts_with_a_group(comparisons[i].measure, groups, group_count) &&
               starts_with_a_group(comparisons[i].naive, groups, group_count));
    for (int32_t i = 0; i < group_count; ++i) {
        const char *name = groups[i].needs;
        while (name != NULL && *name != '\0') {
            const size_t length = strcspn(name, " ");
            EXPECT(has_group(name, length, groups, group_count));
            name += length + strspn(name + length, " ");
        }
    }
    EXPECT(strcmp(bench_name_sized("a", 64 * KIB), "a.64KiB") == 0);
    EXPECT(strcmp(bench_name_sized("a", 4 * GIB), "a.4GiB") == 0);
    EXPECT(strcmp(bench_name_sized("a", 4), "a.4B") == 0);
}

static void test_content(void)
{
    enum {
        COUNT = 1000
    };
    float pixels[COUNT + 1] = {0};
    int32_t same = 0, high = 0;
    pixels[COUNT] = -1;
    content_write(pixels, COUNT, 5, 3);
    EXPECT(pixels[COUNT] == -1);
    for (int32_t i = 0; i < COUNT; ++i) {
        EXPECT(pixels[i] == content_pixel(5, i) && pixels[i] >= 0 && pixels[i] < 1);
        same += pixels[i] == content_pixel(6, i);
        high += pixels[i] >= 0.5F;
    }
    EXPECT(same < 3);
    EXPECT(high > 400 && high < 600);
}

/* A program with a GPU's figures would do the same; here it is only read back by eye and by bench/plot.py. */
static void test_json(bench *b)
{
    char text[1 << 16] = {0};
    machine m = {.gpu = "a \"quoted\" \\ name\t", .core_count = 2};
    FILE *out = fmemopen(text, sizeof text - 1, "w");
    EXPECT(out != NULL);
    if (out == NULL)
        return;
    bench_note(b, "%s", "two\nlines");
    report_json(b, &m, 1.5, out);
    fclose(out);
    EXPECT(strstr(text, "\"a \\\"quoted\\\" \\\\ name\\u0009\"") != NULL);
    EXPECT(strstr(text, "\"two\\u000alines\"") != NULL);
    EXPECT(strstr(text, "\"median_s\": 4, ") != NULL);
    EXPECT(strcmp(text + strlen(text) - 4, "]\n}\n") == 0);
}

bool self_test(const bench_group *groups, int32_t group_count)
{
    bench *b = calloc(1, sizeof *b);
    if (b == NULL)
        return false;
    test_summary();
    test_verdicts(b);
    test_names(groups, group_count);
    test_content();
    test_json(b);
    free(b);
    printf("self-test: %s\n", failures == 0 ? "passed" : "FAILED");
    return failures == 0;
}
