/* The library beside what the machine can do and beside the naive strategy, in one run. See docs/benchmarks.md. */
#include "bench.h"
#include "device.h"
#include "machine.h"
#include "report.h"
#include "self_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef BENCH_WITH_CUDA
#define ON_DEVICE(function) true, function
#else
#define ON_DEVICE(function) true, NULL
#endif

/* In the order of a complete run: what asks for host memory that nobody used before comes first, and device memory is
 * measured before it is allocated in every size, after which the same copies are a tenth slower. */
static const bench_group groups[] = {
    {"limits.link", "pinned memory up, down, both ways; latency", NULL, ON_DEVICE(limits_link)},
    {"limits.pageable", "cudaMemcpy of pageable memory", NULL, ON_DEVICE(limits_pageable)},
    {"limits.host_memory", "cudaHostAlloc of 4 GiB", NULL, ON_DEVICE(limits_host_memory)},
    {"limits.hbm", "device memory: memset, fill, square, copy", NULL, ON_DEVICE(limits_hbm)},
    {"limits.device_memory", "cudaMalloc, and a stream-ordered pool, 1 MiB to 4 GiB", NULL,
     ON_DEVICE(limits_device_memory)},
    {"limits.calls", "events and other small calls of the runtime", NULL, ON_DEVICE(limits_calls)},
    {"limits.peer", "a copy between two GPUs", NULL, ON_DEVICE(limits_peer)},
    {"library.first_host", "4 GiB brought down to host memory never used before", "limits.host_memory",
     ON_DEVICE(library_first_host)},
    {"library.owned", "whole images up and down, memory of the library's own", "limits.link", ON_DEVICE(library_owned)},
    {"library.pageable", "whole images up and down, the caller's pageable memory", "limits.link",
     ON_DEVICE(library_pageable)},
    {"library.duplex", "one image up and another down at once", "limits.link", ON_DEVICE(library_duplex)},
    {"library.pixel", "one pixel of 512^3 read, written", "limits.link", ON_DEVICE(library_pixel)},
    {"library.boxes", "512 boxes scattered in 512^3, up and down", "limits.link", ON_DEVICE(library_boxes)},
    {"library.create", "create, device memory, destroy, 1 MiB to 4 GiB", "limits.device_memory",
     ON_DEVICE(library_create)},
    {"library.fill", "create 512^3, fill with a value, current on the device", "limits.hbm", ON_DEVICE(library_fill)},
    {"library.access", "map and unmap with nothing to do", "limits.calls", ON_DEVICE(library_access)},
    {"library.threads", "the same by 8 threads on 8 images, and what 8 threads can do", NULL,
     ON_DEVICE(library_threads)},
    {"library.operations", "rescale and fill on the device", "limits.hbm", ON_DEVICE(library_operations)},
    {"library.regions", "crop, pad, flip, permute and frames on the device", "limits.hbm", ON_DEVICE(library_regions)},
    {"library.geometry", "resampling and derivatives on the device", "limits.hbm", ON_DEVICE(library_geometry)},
    {"library.filters", "Gaussian smoothing, and a ramp for every row", "limits.hbm", ON_DEVICE(library_filters)},
    {"library.textures", "textures: filling them, finding them again", "limits.hbm", ON_DEVICE(library_textures)},
    {"library.tiles", "a volume of ten times the device memory it may have, through a point operation", "limits.link",
     ON_DEVICE(library_tiles)},
    {"library.devices", "one image brought from one GPU to another", "limits.peer", ON_DEVICE(library_devices)},
    {"library.growth", "one image's cost beside 1 to 100,000 others", NULL, ON_DEVICE(library_growth)},
    {"limits.cpu", "the machine's memory, all cores: writing, copying, adding", NULL, false, limits_cpu},
    {"library.cpu", "operations on pixels that are on the host only", "limits.cpu", false, library_cpu},
    {"naive", "pageable memory, cudaMalloc, blocking copies of whole images", NULL, ON_DEVICE(naive_strategy)},
};
#define GROUP_COUNT ((int32_t)(sizeof groups / sizeof *groups))

static const char usage[] =
    "usage: cc_bench [--quick] [--only GROUP]... [--output FILE] [--commit HASH] [--require]\n"
    "       cc_bench --list | --self-test | --help\n"
    "  --quick    few repetitions, and nothing larger than needed to see that it works\n"
    "  --only     this group and the limits its ratios need; \"library\" means all that begin with it\n"
    "  --output   writes the figures as JSON; bench/plot.py draws them\n"
    "  --commit   for the JSON; else CC_COMMIT from the environment, else git is asked\n"
    "  --require  exit status 1 when something to reach is not reached\n"
    "  --list     what is measured\n"
    "Without a GPU it measures what the CPU does.\n";

typedef struct options {
    bool quick;
    bool require;
    bool list;
    bool self_test;
    bool help;
    const char *output;
    const char *commit;
    bool is_partial;
    bool chosen[GROUP_COUNT];
} options;

static bool choose(options *o, const char *name, size_t length)
{
    bool found = false;
    for (int32_t i = 0; i < GROUP_COUNT; ++i) {
        const char *group = groups[i].name;
        if (strncmp(group, name, length) != 0 || (group[length] != '\0' && group[length] != '.'))
            continue;
        found = true;
        if (o->chosen[i])
            continue;
        o->chosen[i] = true;
        if (groups[i].needs != NULL)
            (void)choose(o, groups[i].needs, strlen(groups[i].needs));
    }
    return found;
}

static bool parse(int count, char **arguments, options *o)
{
    *o = (options){.quick = false};
    for (int n = 1; n < count; n++) {
        const char *argument = arguments[n], *value = n + 1 < count ? arguments[n + 1] : NULL;
        if (strcmp(argument, "--quick") == 0) {
            o->quick = true;
        } else if (strcmp(argument, "--require") == 0) {
            o->require = true;
        } else if (strcmp(argument, "--list") == 0) {
            o->list = true;
        } else if (strcmp(argument, "--self-test") == 0) {
            o->self_test = true;
        } else if (strcmp(argument, "--help") == 0) {
            o->help = true;
        } else if (value != NULL && strcmp(argument, "--output") == 0) {
            o->output = arguments[++n];
        } else if (value != NULL && strcmp(argument, "--commit") == 0) {
            o->commit = arguments[++n];
        } else if (value != NULL && strcmp(argument, "--only") == 0 && choose(o, value, strlen(value))) {
            o->is_partial = true;
            n++;
        } else {
            return false;
        }
    }
    for (int32_t i = 0; i < GROUP_COUNT && !o->is_partial; ++i)
        o->chosen[i] = true;
    return true;
}

/* How many groups failed. */
static int32_t run(bench *b, const options *o, bool has_device)
{
    int32_t failed = 0;
    if (has_device)
        device_begin(b);
    for (int32_t i = 0; i < GROUP_COUNT; ++i) {
        if (o->chosen[i] && (has_device || !groups[i].on_device))
            failed += !bench_run_group(b, &groups[i]);
    }
    if (has_device)
        device_end(b);
    return failed;
}

/* Of the chosen groups. */
static int32_t count_groups(const options *o, bool on_device)
{
    int32_t count = 0;
    for (int32_t i = 0; i < GROUP_COUNT; ++i)
        count += o->chosen[i] && groups[i].on_device == on_device;
    return count;
}

static bool write_json(const bench *b, const machine *m, double run_seconds, const char *path)
{
    FILE *out = fopen(path, "w");
    bool written = out != NULL;
    if (written) {
        report_json(b, m, run_seconds, out);
        written = ferror(out) == 0;
        written = fclose(out) == 0 && written;
    }
    if (!written)
        fprintf(stderr, "cc_bench: %s: %s\n", path, strerror(errno));
    return written;
}

int main(int count, char **arguments)
{
    options o;
    if (!parse(count, arguments, &o)) {
        fputs(usage, stderr);
        return 2;
    }
    if (o.help) {
        fputs(usage, stdout);
        return 0;
    }
    if (o.self_test)
        return self_test(groups, GROUP_COUNT) ? 0 : 1;
    if (o.list) {
        report_plan(groups, GROUP_COUNT, stdout);
        return 0;
    }

    bench *b = calloc(1, sizeof *b);
    if (b == NULL)
        return 1;
    b->quick = o.quick;
    b->is_partial = o.is_partial;
    b->core_count = machine_core_count();
    const char *reason = device_why_none(b);
    const int32_t left_out = reason != NULL ? count_groups(&o, true) : 0;
    if (reason != NULL && count_groups(&o, false) == 0) {
        printf("no CUDA device (%s); with one, this would be measured:\n", reason);
        report_plan(groups, GROUP_COUNT, stdout);
        free(b);
        return o.require ? 1 : 0;
    }
    if (left_out > 0) {
        printf("no CUDA device (%s): %d groups are left out, see --list\n", reason, (int)left_out);
        b->is_partial = true;
    }

    machine m;
    machine_describe(&m, o.commit);
    printf("CudaCommon %s, commit %s, %s\n%s, driver %s (CUDA %s); %s, %d cores\n", cc_version_string(), m.commit,
           m.date, m.gpu, m.driver, m.cuda, m.cpu, (int)m.core_count);
    const double begin = clock_seconds();
    const int32_t failed = run(b, &o, reason == NULL);
    const double run_seconds = clock_seconds() - begin;
    report_comparisons(b, stdout);
    const int32_t missed = report_targets(b, stdout);
    report_notes(b, stdout);
    printf("%d measures in %.0f s\n", (int)b->measure_count, run_seconds);
    const bool written = o.output == NULL || write_json(b, &m, run_seconds, o.output);
    free(b);
    return failed > 0 || !written || (o.require && (missed > 0 || left_out > 0)) ? 1 : 0;
}
