/* What every group of measures uses: the run's settings, repeating and recording, giving up. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "samples.h"

#include <cudacommon/cudacommon.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef BENCH_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

#define MEASURE_LIMIT 512
#define NAME_BYTES 64
#define NOTE_LIMIT 64
#define NOTE_BYTES 320

typedef struct measure {
    char name[NAME_BYTES]; /* room.work.size, as in "library.owned.up.64MiB" */
    double bytes;          /* moved by one repetition; 0 when it is the time that counts */
    summary seconds;
} measure;

typedef struct bench {
    bool quick;
    bool is_partial; /* only some groups were asked for */
    int32_t device;
    int32_t device_count;
    int32_t core_count;
    cc_stream stream; /* not the default stream, and not ordered with it */
    uint32_t seed;    /* of the content written last, see bench_next_seed() */
    measure measures[MEASURE_LIMIT];
    int32_t measure_count;
    char notes[NOTE_LIMIT][NOTE_BYTES];
    int32_t note_count;
} bench;

/* What can be asked for by name. A group that fails does not keep the others from running. */
typedef struct bench_group {
    const char *name;
    const char *what;
    const char *needs; /* groups whose measures its ratios refer to, separated by spaces; or NULL */
    bool on_device;
    void (*run)(bench *b); /* NULL: on a device, in a build without CUDA */
} bench_group;

/* Does the work once, and returns the seconds that count: preparation and checks stay out. */
typedef double (*bench_work)(void *context);

/*
 * Repeats the work, without counting the warm-ups, and records it. With bench.quick there are 3 repetitions at most;
 * what takes long is repeated less often, but at least 3 times.
 */
void bench_measure(bench *b, const char *name, double bytes, int32_t warm_ups, int32_t repetitions, bench_work work,
                   void *context);
void bench_record(bench *b, const char *name, double bytes, const samples *taken);

/* NULL when there is none of this name. */
const measure *bench_find(const bench *b, const char *name);

/* Something that the reader of the figures must know. */
void bench_note(bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The name for a measure: a group, a work, and a size as in "64MiB". Valid until the third call after it. */
const char *bench_name_sized(const char *prefix, size_t bytes);

/* Contents that nobody wrote before in this run. */
uint32_t bench_next_seed(bench *b);

/* Runs a group. False when it failed: the reason is printed and noted, and what it held is lost to this run. */
bool bench_run_group(bench *b, const bench_group *group);

/* Ends the group that is running (the whole run, when called on a thread of the group's own). */
_Noreturn void bench_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

void bench_check_cc(cc_status status, const char *call, const char *file, int line);

#define CC(call) bench_check_cc((call), #call, __FILE__, __LINE__)

#ifdef BENCH_WITH_CUDA
void bench_check_cuda(cudaError_t error, const char *call, const char *file, int line);
#define CUDA(call) bench_check_cuda((call), #call, __FILE__, __LINE__)
#endif

/* The groups. */
void limits_cpu(bench *b);
void library_cpu(bench *b);
void limits_link(bench *b);
void limits_pageable(bench *b);
void limits_host_memory(bench *b);
void limits_device_memory(bench *b);
void limits_calls(bench *b);
void limits_hbm(bench *b);
void limits_peer(bench *b);
void library_first_host(bench *b);
void library_owned(bench *b);
void library_pageable(bench *b);
void library_duplex(bench *b);
void library_pixel(bench *b);
void library_boxes(bench *b);
void library_create(bench *b);
void library_fill(bench *b);
void library_access(bench *b);
void library_threads(bench *b);
void library_growth(bench *b);
void library_operations(bench *b);
void library_regions(bench *b);
void library_geometry(bench *b);
void library_filters(bench *b);
void library_textures(bench *b);
void library_tiles(bench *b);
void library_devices(bench *b);
void naive_strategy(bench *b);

#endif
