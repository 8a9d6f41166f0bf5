#include "report.h"

#include <cudacommon/cudacommon.h>
#include <string.h>

#define TEXT_BYTES 32

static void format_seconds(double seconds, char text[TEXT_BYTES])
{
    if (seconds < 1e-6)
        snprintf(text, TEXT_BYTES, "%.0f ns", 1e9 * seconds);
    else if (seconds < 1e-3)
        snprintf(text, TEXT_BYTES, "%.2f us", 1e6 * seconds);
    else
        snprintf(text, TEXT_BYTES, "%.2f ms", 1e3 * seconds);
}

static void format_value(const verdict *v, double value, char text[TEXT_BYTES])
{
    if (value == 0)
        snprintf(text, TEXT_BYTES, "-");
    else if (v->is_rate)
        snprintf(text, TEXT_BYTES, "%.1f GB/s", 1e-9 * value);
    else
        format_seconds(value, text);
}

static void format_reach(const target *t, char text[TEXT_BYTES])
{
    char seconds[TEXT_BYTES];
    if (t->reach == 0) {
        snprintf(text, TEXT_BYTES, "-");
        return;
    }
    switch (t->rule) {
    case RATE_AT_LEAST:
        snprintf(text, TEXT_BYTES, ">= %.2f", t->reach);
        break;
    case TIME_AT_MOST:
        snprintf(text, TEXT_BYTES, "<= %.2f", t->reach);
        break;
    case SECONDS_AT_MOST:
        if (t->reach < 1e-6)
            snprintf(seconds, sizeof seconds, "%.0f ns", 1e9 * t->reach);
        else
            snprintf(seconds, sizeof seconds, "%.0f us", 1e6 * t->reach);
        snprintf(text, TEXT_BYTES, "<= %.20s", seconds);
        break;
    }
}

static const char *verdict_word(const target *t, const verdict *v)
{
    if (!v->is_measured)
        return "not measured";
    if (t->reach == 0)
        return "";
    return v->is_reached ? "reached" : "NOT REACHED";
}

int32_t report_targets(const bench *b, FILE *out)
{
    int32_t missed = 0, asked = 0;
    fprintf(out, "\n%-45s %12s %12s %7s %10s\n", "work", "measured", "limit", "ratio", "to reach");
    for (int32_t i = 0; i < target_count; ++i) {
        const target *t = &targets[i];
        const verdict v = target_judge(b, t);
        if (b->is_partial && !v.is_measured)
            continue;
        char value[TEXT_BYTES], limit[TEXT_BYTES], ratio[TEXT_BYTES] = "-", reach[TEXT_BYTES];
        format_value(&v, v.value, value);
        format_value(&v, v.limit, limit);
        format_reach(t, reach);
        if (v.ratio > 0)
            snprintf(ratio, sizeof ratio, v.ratio < 10 ? "%.3f" : "%.1f", v.ratio);
        fprintf(out, "%-45s %12s %12s %7s %10s  %s\n", t->work, value, limit, ratio, reach, verdict_word(t, &v));
        asked += t->reach > 0;
        missed += t->reach > 0 && !v.is_reached;
    }
    fprintf(out, "%d of %d reached\n", (int)(asked - missed), (int)asked);
    return missed;
}

void report_comparisons(const bench *b, FILE *out)
{
    fprintf(out, "\n%-45s %12s %12s %9s\n", "work", "library", "naive", "faster by");
    for (int32_t i = 0; i < comparison_count; ++i) {
        const comparison *c = &comparisons[i];
        const double speedup = comparison_speedup(b, c);
        char fast[TEXT_BYTES], slow[TEXT_BYTES];
        if (speedup == 0)
            continue;
        format_seconds(bench_find(b, c->measure)->seconds.median, fast);
        format_seconds(bench_find(b, c->naive)->seconds.median, slow);
        fprintf(out, "%-45s %12s %12s %9.*f\n", c->work, fast, slow, speedup < 10 ? 1 : 0, speedup);
    }
}

void report_notes(const bench *b, FILE *out)
{
    for (int32_t i = 0; i < b->note_count; ++i)
        fprintf(out, "note: %s\n", b->notes[i]);
}

void report_plan(const bench_group *groups, int32_t group_count, FILE *out)
{
    fprintf(out, "\ngroups (--only):\n");
    for (int32_t i = 0; i < group_count; ++i)
        fprintf(out, "  %-24s %s\n", groups[i].name, groups[i].what);
    fprintf(out, "\nratios:\n");
    for (int32_t i = 0; i < target_count; ++i) {
        char reach[TEXT_BYTES];
        format_reach(&targets[i], reach);
        fprintf(out, "  %-45s %10s  against %s\n", targets[i].work, reach,
                targets[i].limit != NULL ? targets[i].limit : "nothing");
    }
}

static void json_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; ++text) {
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            fputc(*text, out);
    }
    fputc('"', out);
}

static void json_field(FILE *out, const char *name, const char *text, const char *end)
{
    fprintf(out, "\"%s\": ", name);
    if (text != NULL)
        json_string(out, text);
    else
        fprintf(out, "null");
    fprintf(out, "%s", end);
}

static void json_machine(FILE *out, const machine *m)
{
    fprintf(out, "  \"machine\": {\n    ");
    json_field(out, "gpu", m->gpu, ",\n    ");
    fprintf(out, "\"gpu_count\": %d,\n    \"gpu_memory_bytes\": %.0f,\n    ", (int)m->gpu_count, m->gpu_memory_bytes);
    json_field(out, "driver", m->driver, ",\n    ");
    json_field(out, "cuda", m->cuda, ",\n    ");
    json_field(out, "cpu", m->cpu, ",\n    ");
    fprintf(out, "\"core_count\": %d,\n    \"memory_bytes\": %.0f,\n    ", (int)m->core_count, m->memory_bytes);
    json_field(out, "system", m->system, "\n  },\n");
}

static void json_measure(FILE *out, const measure *measured)
{
    const summary *s = &measured->seconds;
    fprintf(out, "{");
    json_field(out, "name", measured->name, ", ");
    fprintf(out, "\"median_s\": %.6g, \"min_s\": %.6g, \"spread_s\": %.6g, \"count\": %d, \"bytes\": %.0f}", s->median,
            s->min, s->spread, (int)s->count, measured->bytes);
}

static void json_target(FILE *out, const bench *b, const target *t)
{
    static const char *const rules[] = {"rate at least", "time at most", "seconds at most"};
    const verdict v = target_judge(b, t);
    fprintf(out, "{");
    json_field(out, "work", t->work, ", ");
    json_field(out, "measure", t->measure, ", ");
    json_field(out, "limit", t->limit, ", ");
    json_field(out, "rule", rules[t->rule], ", ");
    if (t->reach > 0)
        fprintf(out, "\"reach\": %.6g, ", t->reach);
    else
        fprintf(out, "\"reach\": null, ");
    if (v.ratio > 0)
        fprintf(out, "\"ratio\": %.6g, ", v.ratio);
    else
        fprintf(out, "\"ratio\": null, ");
    fprintf(out, "\"reached\": %s}", !v.is_measured || t->reach == 0 ? "null" : v.is_reached ? "true" : "false");
}

static void json_comparison(FILE *out, const bench *b, const comparison *c)
{
    const double speedup = comparison_speedup(b, c);
    fprintf(out, "{");
    json_field(out, "work", c->work, ", ");
    json_field(out, "measure", c->measure, ", ");
    json_field(out, "naive", c->naive, ", ");
    if (speedup > 0)
        fprintf(out, "\"speedup\": %.6g}", speedup);
    else
        fprintf(out, "\"speedup\": null}");
}

void report_json(const bench *b, const machine *m, double run_seconds, FILE *out)
{
    fprintf(out, "{\n  \"format\": \"cc_bench 1\",\n  ");
    json_field(out, "library", cc_version_string(), ",\n  ");
    json_field(out, "commit", m->commit, ",\n  ");
    json_field(out, "date", m->date, ",\n");
    fprintf(out, "  \"quick\": %s,\n  \"run_s\": %.1f,\n", b->quick ? "true" : "false", run_seconds);
    json_machine(out, m);
    fprintf(out, "  \"notes\": [");
    for (int32_t i = 0; i < b->note_count; ++i) {
        fprintf(out, "%s\n    ", i > 0 ? "," : "");
        json_string(out, b->notes[i]);
    }
    fprintf(out, "],\n  \"measures\": [");
    for (int32_t i = 0; i < b->measure_count; ++i) {
        fprintf(out, "%s\n    ", i > 0 ? "," : "");
        json_measure(out, &b->measures[i]);
    }
    fprintf(out, "],\n  \"targets\": [");
    for (int32_t i = 0; i < target_count; ++i) {
        fprintf(out, "%s\n    ", i > 0 ? "," : "");
        json_target(out, b, &targets[i]);
    }
    fprintf(out, "],\n  \"comparisons\": [");
    for (int32_t i = 0; i < comparison_count; ++i) {
        fprintf(out, "%s\n    ", i > 0 ? "," : "");
        json_comparison(out, b, &comparisons[i]);
    }
    fprintf(out, "]\n}\n");
}
