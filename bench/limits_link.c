/* What the link between host and device can do at most, and what cudaMemcpy makes of pageable memory. */
#include "bench.h"
#include "content.h"
#include "kernels.h"
#include "pixels.h"

#include <stdlib.h>

typedef struct transfer {
    bench *b;
    float *host;
    float *device;
    size_t bytes;
    enum cudaMemcpyKind kind;
} transfer;

static double copy_pinned(void *context)
{
    const transfer *t = context;
    const bool up = t->kind == cudaMemcpyHostToDevice;
    const double begin = clock_seconds();
    CUDA(cudaMemcpyAsync(up ? t->device : t->host, up ? t->host : t->device, t->bytes, t->kind, t->b->stream));
    CUDA(cudaStreamSynchronize(t->b->stream));
    return clock_seconds() - begin;
}

static double copy_pageable(void *context)
{
    const transfer *t = context;
    const bool up = t->kind == cudaMemcpyHostToDevice;
    const double begin = clock_seconds();
    CUDA(cudaMemcpy(up ? t->device : t->host, up ? t->host : t->device, t->bytes, t->kind));
    const double seconds = clock_seconds() - begin;
    CUDA(cudaDeviceSynchronize()); /* the last part may still be on its way up */
    return seconds;
}

/* Up, then down, each with a content that the other side did not have. */
static void measure_both(transfer *t, const char *up, const char *down, bench_work work, int32_t repetitions)
{
    bench *b = t->b;
    const int64_t count = (int64_t)(t->bytes / sizeof(float));
    probes p;
    probes_spread(&p, count);
    uint32_t seed = bench_next_seed(b);
    probes_write(&p, t->host, seed);
    t->kind = cudaMemcpyHostToDevice;
    bench_measure(b, bench_name_sized(up, t->bytes), (double)t->bytes, 1, repetitions, work, t);
    probes_check_device(&p, t->device, seed, b->stream, up);

    seed = bench_next_seed(b);
    CUDA(kernel_content(t->device, count, seed, b->stream));
    CUDA(cudaStreamSynchronize(b->stream));
    t->kind = cudaMemcpyDeviceToHost;
    bench_measure(b, bench_name_sized(down, t->bytes), (double)t->bytes, 1, repetitions, work, t);
    probes_check_host(&p, t->host, seed, down);
    probes_release(&p);
}

static void measure_latency(bench *b, transfer t, const char *name, enum cudaMemcpyKind kind, size_t bytes)
{
    t.kind = kind;
    t.bytes = bytes;
    bench_measure(b, bench_name_sized(name, bytes), 0, 20, 200, copy_pinned, &t);
}

typedef struct both_ways {
    transfer up;
    transfer down;
    cudaStream_t second;
} both_ways;

static double copy_both_ways(void *context)
{
    const both_ways *w = context;
    const cudaStream_t first = w->up.b->stream;
    const double begin = clock_seconds();
    CUDA(cudaMemcpyAsync(w->up.device, w->up.host, w->up.bytes, cudaMemcpyHostToDevice, first));
    CUDA(cudaMemcpyAsync(w->down.host, w->down.device, w->down.bytes, cudaMemcpyDeviceToHost, w->second));
    CUDA(cudaStreamSynchronize(first));
    CUDA(cudaStreamSynchronize(w->second));
    return clock_seconds() - begin;
}

static void measure_both_ways(bench *b, const transfer *t)
{
    both_ways w = {.up = *t, .down = *t};
    w.up.bytes = w.down.bytes = 512 * MIB;
    CUDA(cudaHostAlloc((void **)&w.down.host, w.down.bytes, cudaHostAllocDefault));
    CUDA(cudaMalloc((void **)&w.down.device, w.down.bytes));
    CUDA(cudaStreamCreateWithFlags(&w.second, cudaStreamNonBlocking));
    CUDA(kernel_content(w.down.device, (int64_t)(w.down.bytes / sizeof(float)), bench_next_seed(b), w.second));
    CUDA(cudaStreamSynchronize(w.second));
    bench_measure(b, "limits.link.duplex.512MiB", 2.0 * (double)w.up.bytes, 1, 10, copy_both_ways, &w);
    CUDA(cudaStreamDestroy(w.second));
    CUDA(cudaFree(w.down.device));
    CUDA(cudaFreeHost(w.down.host));
}

void limits_link(bench *b)
{
    static const size_t sizes[] = {64 * KIB, MIB, 16 * MIB, 64 * MIB, 256 * MIB, 512 * MIB, GIB};
    const size_t largest = b->quick ? 512 * MIB : GIB;
    transfer t = {.b = b};
    CUDA(cudaHostAlloc((void **)&t.host, largest, cudaHostAllocDefault));
    CUDA(cudaMalloc((void **)&t.device, largest));
    content_write(t.host, (int64_t)(largest / sizeof(float)), bench_next_seed(b), b->core_count);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= largest; ++i) {
        t.bytes = sizes[i];
        measure_both(&t, "limits.link.up", "limits.link.down", copy_pinned, sizes[i] <= 16 * MIB ? 30 : 10);
    }
    measure_latency(b, t, "limits.link.latency_up", cudaMemcpyHostToDevice, sizeof(float));
    measure_latency(b, t, "limits.link.latency_down", cudaMemcpyDeviceToHost, sizeof(float));
    measure_latency(b, t, "limits.link.latency_down", cudaMemcpyDeviceToHost, 64 * KIB);
    measure_both_ways(b, &t);
    CUDA(cudaFree(t.device));
    CUDA(cudaFreeHost(t.host));
}

void limits_pageable(bench *b)
{
    transfer t = {.b = b, .bytes = 512 * MIB};
    t.host = malloc(t.bytes);
    if (t.host == NULL)
        bench_fail("malloc of %zu bytes", t.bytes);
    CUDA(cudaMalloc((void **)&t.device, t.bytes));
    content_write(t.host, (int64_t)(t.bytes / sizeof(float)), bench_next_seed(b), b->core_count);
    measure_both(&t, "limits.pageable.up", "limits.pageable.down", copy_pageable, 5);
    CUDA(cudaFree(t.device));
    free(t.host);
}
