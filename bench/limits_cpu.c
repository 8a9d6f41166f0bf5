/*
 * What the CPU's memory can do with all cores: the best of several ways. Bytes are those that the work reads and
 * writes; the line that an ordinary store reads before it is changed does not count, and stores that read none are
 * among the ways.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define THREAD_LIMIT 256
#define AT_ONCE ((int64_t)1 << 16) /* floats that a thread takes at a time */
#define FACTOR 0.75F

/* One piece: z from x and y. */
typedef void (*piece_function)(const float *x, const float *y, float *z, int64_t count);

typedef struct stream {
    const float *x;
    const float *y;
    float *z;
    int64_t count;
    piece_function piece;
    const cpu_set_t *allowed; /* each thread stays on one of these; NULL: the system decides */
    int32_t thread_count;
    _Atomic int32_t started;
    _Atomic int64_t next;
} stream;

static void copy_by_memcpy(const float *x, const float *y, float *z, int64_t count)
{
    (void)y;
    memcpy(z, x, (size_t)count * sizeof *z);
}

static void fill_by_memset(const float *x, const float *y, float *z, int64_t count)
{
    (void)x, (void)y;
    memset(z, 0x3f, (size_t)count * sizeof *z);
}

static void multiply(const float *x, const float *y, float *z, int64_t count)
{
    (void)y;
    for (int64_t i = 0; i < count; ++i)
        z[i] = x[i] * FACTOR;
}

static void add(const float *x, const float *y, float *z, int64_t count)
{
    for (int64_t i = 0; i < count; ++i)
        z[i] = x[i] + y[i];
}

static void update(const float *x, const float *y, float *z, int64_t count)
{
    (void)y;
    for (int64_t i = 0; i < count; ++i)
        z[i] = x[i] * FACTOR + z[i] * 0.25F;
}

#if defined(__x86_64__)
/* Stores that read no line first. Pieces are whole vectors and begin at one. */
#define PAST_THE_CACHE(NAME, TARGET, VECTOR, LANES, LOAD, SPREAD, MULTIPLY, ADD, STREAM)                               \
    __attribute__((target(TARGET))) static void fill_##NAME(const float *x, const float *y, float *z, int64_t count)   \
    {                                                                                                                  \
        const VECTOR value = SPREAD(FACTOR);                                                                           \
        (void)x, (void)y;                                                                                              \
        for (int64_t i = 0; i < count; i += (LANES))                                                                   \
            STREAM(z + i, value);                                                                                      \
        _mm_sfence();                                                                                                  \
    }                                                                                                                  \
    __attribute__((target(TARGET))) static void multiply_##NAME(const float *x, const float *y, float *z,              \
                                                                int64_t count)                                         \
    {                                                                                                                  \
        const VECTOR factor = SPREAD(FACTOR);                                                                          \
        (void)y;                                                                                                       \
        for (int64_t i = 0; i < count; i += (LANES))                                                                   \
            STREAM(z + i, MULTIPLY(LOAD(x + i), factor));                                                              \
        _mm_sfence();                                                                                                  \
    }                                                                                                                  \
    __attribute__((target(TARGET))) static void add_##NAME(const float *x, const float *y, float *z, int64_t count)    \
    {                                                                                                                  \
        for (int64_t i = 0; i < count; i += (LANES))                                                                   \
            STREAM(z + i, ADD(LOAD(x + i), LOAD(y + i)));                                                              \
        _mm_sfence();                                                                                                  \
    }
PAST_THE_CACHE(16, "sse2", __m128, 4, _mm_load_ps, _mm_set1_ps, _mm_mul_ps, _mm_add_ps, _mm_stream_ps)
PAST_THE_CACHE(64, "avx512f", __m512, 16, _mm512_load_ps, _mm512_set1_ps, _mm512_mul_ps, _mm512_add_ps,
               _mm512_stream_ps)
#endif

static void stay_on_one_core(const cpu_set_t *allowed, int32_t number)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int32_t core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, allowed) && number-- == 0)
            CPU_SET(core, &one);
    }
    if (CPU_COUNT(&one) > 0)
        (void)pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

static void *take_pieces(void *context)
{
    stream *s = context;
    if (s->allowed != NULL)
        stay_on_one_core(s->allowed, atomic_fetch_add(&s->started, 1));
    for (;;) {
        const int64_t first = atomic_fetch_add(&s->next, AT_ONCE);
        if (first >= s->count)
            return NULL;
        s->piece(s->x + first, s->y + first, s->z + first, AT_ONCE);
    }
}

/* The caller only waits: it is to stay on no core. */
static double run(void *context)
{
    pthread_t threads[THREAD_LIMIT];
    int32_t started = 0;
    stream *s = context;
    atomic_store(&s->next, 0);
    atomic_store(&s->started, 0);
    const double begin = clock_seconds();
    while (started < s->thread_count && pthread_create(&threads[started], NULL, take_pieces, s) == 0)
        ++started;
    if (started == 0)
        (void)take_pieces(s);
    for (int32_t i = 0; i < started; ++i)
        pthread_join(threads[i], NULL);
    return clock_seconds() - begin;
}

typedef struct way {
    const char *name;
    piece_function piece;
    bool needs_avx512;
} way;

static bool can(const way *w)
{
#if defined(__x86_64__)
    return !w->needs_avx512 || __builtin_cpu_supports("avx512f");
#else
    return !w->needs_avx512;
#endif
}

#define WAY_LIMIT 4

/* `arrays` of the work are read or written. */
static void measure_best(bench *b, stream *s, const char *name, double arrays, const way ways[WAY_LIMIT])
{
    const double bytes = arrays * (double)s->count * (double)sizeof(float);
    const char *best_name = "none";
    samples best = {.count = 0};
    cpu_set_t allowed;
    const bool is_known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    for (int32_t i = 0; i < WAY_LIMIT && ways[i].name != NULL; ++i) {
        for (int32_t pinned = 0; pinned <= (is_known ? 1 : 0); ++pinned) {
            samples taken = {.count = 0};
            if (!can(&ways[i]))
                continue;
            s->piece = ways[i].piece;
            s->allowed = pinned ? &allowed : NULL;
            (void)run(s);
            for (int32_t n = 0; n < (b->quick ? 3 : 7); ++n)
                samples_add(&taken, run(s));
            if (best.count == 0 || samples_summary(&taken).median < samples_summary(&best).median) {
                best = taken;
                best_name = ways[i].name;
            }
        }
    }
    printf("  %s: %s\n", name, best_name);
    bench_record(b, name, bytes, &best);
}

static float *allocate(size_t bytes)
{
    float *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        bench_fail("mmap of %zu bytes", bytes);
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

#if defined(__x86_64__)
#define PAST_THE_CACHE_16(work)                                                                                        \
    {                                                                                                                  \
        "stores past the cache, 16 bytes", work##_16, false                                                            \
    }
#define PAST_THE_CACHE_64(work)                                                                                        \
    {                                                                                                                  \
        "stores past the cache, 64 bytes", work##_64, true                                                             \
    }
#else
#define PAST_THE_CACHE_16(work)                                                                                        \
    {                                                                                                                  \
        NULL, NULL, false                                                                                              \
    }
#define PAST_THE_CACHE_64(work)                                                                                        \
    {                                                                                                                  \
        NULL, NULL, false                                                                                              \
    }
#endif

void limits_cpu(bench *b)
{
    static const way writing[WAY_LIMIT] = {
        {"memset", fill_by_memset, false}, PAST_THE_CACHE_16(fill), PAST_THE_CACHE_64(fill)};
    static const way copying[WAY_LIMIT] = {{"memcpy", copy_by_memcpy, false},
                                           {"a loop", multiply, false},
                                           PAST_THE_CACHE_16(multiply),
                                           PAST_THE_CACHE_64(multiply)};
    static const way adding[WAY_LIMIT] = {{"a loop", add, false}, PAST_THE_CACHE_16(add), PAST_THE_CACHE_64(add)};
    static const way updating[WAY_LIMIT] = {{"a loop", update, false}};
    const size_t bytes = b->quick ? 16 * MIB : GIB;
    float *x = allocate(bytes), *y = allocate(bytes), *z = allocate(bytes);
    stream s = {.x = x, .y = y, .z = z, .count = (int64_t)(bytes / sizeof *x)};
    s.thread_count = b->core_count < THREAD_LIMIT ? b->core_count : THREAD_LIMIT;
    for (int64_t i = 0; i < s.count; ++i) {
        x[i] = 1.5F;
        y[i] = 2.5F;
        z[i] = 0.5F;
    }
    measure_best(b, &s, "limits.cpu.update", 3, updating);
    measure_best(b, &s, "limits.cpu.read_read_write", 3, adding);
    measure_best(b, &s, "limits.cpu.read_write", 2, copying);
    measure_best(b, &s, "limits.cpu.write", 1, writing);
    munmap(z, bytes);
    munmap(y, bytes);
    munmap(x, bytes);
}
