/* What allocating costs, how fast device memory is, and what the runtime's small calls take. */
#include "bench.h"
#include "content.h"
#include "kernels.h"
#include "pixels.h"

#include <stdlib.h>

static const size_t allocated_sizes[] = {MIB, 64 * MIB, 512 * MIB, 4 * GIB};
#define ALLOCATED_SIZE_COUNT 4

/*
 * A virtual machine may get its memory from its host only when it is first touched, once and for all. That is no cost
 * of allocating, and whoever comes first would pay it.
 */
static void settle_host_memory(const bench *b, size_t bytes)
{
    float *memory = malloc(bytes);
    if (memory == NULL)
        bench_fail("malloc of %zu bytes", bytes);
    content_write(memory, (int64_t)(bytes / sizeof(float)), 0, b->core_count);
    free(memory);
}

void limits_host_memory(bench *b)
{
    const size_t bytes = b->quick ? 512 * MIB : 4 * GIB;
    samples allocate = {.count = 0}, release = {.count = 0};
    settle_host_memory(b, b->quick ? GIB : 16 * GIB);
    for (int32_t i = 0; i < 3; ++i) {
        void *memory = NULL;
        const double begin = clock_seconds();
        CUDA(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault));
        const double allocated = clock_seconds();
        CUDA(cudaFreeHost(memory));
        samples_add(&allocate, allocated - begin);
        samples_add(&release, clock_seconds() - allocated);
    }
    bench_record(b, bench_name_sized("limits.host_memory.allocate", bytes), 0, &allocate);
    bench_record(b, bench_name_sized("limits.host_memory.free", bytes), 0, &release);
}

typedef struct allocation {
    bench *b;
    size_t bytes;
    cudaMemPool_t pool;
} allocation;

static double allocate_and_free(void *context)
{
    const allocation *a = context;
    void *memory = NULL;
    const double begin = clock_seconds();
    CUDA(cudaMalloc(&memory, a->bytes));
    CUDA(cudaFree(memory));
    return clock_seconds() - begin;
}

static double allocate_and_free_in_stream(void *context)
{
    enum {
        PAIRS = 100
    };
    const allocation *a = context;
    const double begin = clock_seconds();
    for (int32_t i = 0; i < PAIRS; ++i) {
        void *memory = NULL;
        CUDA(cudaMallocFromPoolAsync(&memory, a->bytes, a->pool, a->b->stream));
        CUDA(cudaFreeAsync(memory, a->b->stream));
    }
    const double end = clock_seconds();
    CUDA(cudaStreamSynchronize(a->b->stream));
    return (end - begin) / PAIRS;
}

void limits_device_memory(bench *b)
{
    struct cudaMemPoolProps properties = {.allocType = cudaMemAllocationTypePinned,
                                          .handleTypes = cudaMemHandleTypeNone};
    properties.location.type = cudaMemLocationTypeDevice;
    properties.location.id = b->device;
    uint64_t keep_all = UINT64_MAX;
    allocation a = {.b = b};
    CUDA(cudaMemPoolCreate(&a.pool, &properties));
    CUDA(cudaMemPoolSetAttribute(a.pool, cudaMemPoolAttrReleaseThreshold, &keep_all));
    for (int32_t i = 0; i < ALLOCATED_SIZE_COUNT; ++i) {
        a.bytes = allocated_sizes[i];
        bench_measure(b, bench_name_sized("limits.device_memory.malloc", a.bytes), 0, 2, 20, allocate_and_free, &a);
    }
    for (int32_t i = 0; i < ALLOCATED_SIZE_COUNT; ++i) {
        a.bytes = allocated_sizes[i];
        bench_measure(b, bench_name_sized("limits.device_memory.async", a.bytes), 0, 2, 11, allocate_and_free_in_stream,
                      &a);
    }
    CUDA(cudaMemPoolDestroy(a.pool));
}

typedef struct pass {
    bench *b;
    cudaEvent_t begin;
    cudaEvent_t end;
    float *input;
    float *output;
    size_t bytes;
} pass;

static double elapsed_seconds(const pass *p)
{
    float milliseconds = 0;
    CUDA(cudaEventSynchronize(p->end));
    CUDA(cudaEventElapsedTime(&milliseconds, p->begin, p->end));
    return 1e-3 * (double)milliseconds;
}

static double pass_memset(void *context)
{
    const pass *p = context;
    CUDA(cudaEventRecord(p->begin, p->b->stream));
    CUDA(cudaMemsetAsync(p->output, 0x3f, p->bytes, p->b->stream));
    CUDA(cudaEventRecord(p->end, p->b->stream));
    return elapsed_seconds(p);
}

static double pass_fill(void *context)
{
    const pass *p = context;
    CUDA(cudaEventRecord(p->begin, p->b->stream));
    CUDA(kernel_fill(p->output, (int64_t)(p->bytes / sizeof(float)), 42.3F, p->b->stream));
    CUDA(cudaEventRecord(p->end, p->b->stream));
    return elapsed_seconds(p);
}

static double pass_read(void *context)
{
    const pass *p = context;
    CUDA(cudaEventRecord(p->begin, p->b->stream));
    CUDA(kernel_read(p->input, p->output, (int64_t)(p->bytes / sizeof(float)), p->b->stream));
    CUDA(cudaEventRecord(p->end, p->b->stream));
    return elapsed_seconds(p);
}

static double pass_square(void *context)
{
    const pass *p = context;
    CUDA(cudaEventRecord(p->begin, p->b->stream));
    CUDA(kernel_square(p->input, p->output, (int64_t)(p->bytes / sizeof(float)), p->b->stream));
    CUDA(cudaEventRecord(p->end, p->b->stream));
    return elapsed_seconds(p);
}

static double pass_copy(void *context)
{
    const pass *p = context;
    CUDA(cudaEventRecord(p->begin, p->b->stream));
    CUDA(cudaMemcpyAsync(p->output, p->input, p->bytes, cudaMemcpyDeviceToDevice, p->b->stream));
    CUDA(cudaEventRecord(p->end, p->b->stream));
    return elapsed_seconds(p);
}

/* As the host sees it, launch and waiting included: what the library's fill is held against. */
static double fill_and_wait(void *context)
{
    const pass *p = context;
    const double begin = clock_seconds();
    CUDA(kernel_fill(p->output, (int64_t)(p->bytes / sizeof(float)), 42.3F, p->b->stream));
    CUDA(cudaStreamSynchronize(p->b->stream));
    return clock_seconds() - begin;
}

void limits_hbm(bench *b)
{
    pass p = {.b = b, .bytes = GIB};
    const int64_t count = (int64_t)(p.bytes / sizeof(float));
    probes look;
    CUDA(cudaMalloc((void **)&p.input, p.bytes));
    CUDA(cudaMalloc((void **)&p.output, p.bytes));
    CUDA(cudaEventCreate(&p.begin));
    CUDA(cudaEventCreate(&p.end));
    const uint32_t seed = bench_next_seed(b);
    CUDA(kernel_content(p.input, count, seed, b->stream));
    bench_measure(b, "limits.hbm.memset.1GiB", (double)p.bytes, 3, 20, pass_memset, &p);
    bench_measure(b, "limits.hbm.fill.1GiB", (double)p.bytes, 3, 20, pass_fill, &p);
    bench_measure(b, "limits.hbm.read.1GiB", (double)p.bytes, 3, 20, pass_read, &p);
    bench_measure(b, "limits.hbm.square.1GiB", 2.0 * (double)p.bytes, 3, 20, pass_square, &p);
    bench_measure(b, "limits.hbm.copy.1GiB", 2.0 * (double)p.bytes, 3, 20, pass_copy, &p);
    probes_spread(&look, count);
    probes_check_device(&look, p.output, seed, b->stream, "limits.hbm.copy");
    probes_release(&look);
    p.bytes = 512 * MIB;
    bench_measure(b, "limits.hbm.fill_and_wait.512MiB", (double)p.bytes, 3, 20, fill_and_wait, &p);
    CUDA(cudaEventDestroy(p.end));
    CUDA(cudaEventDestroy(p.begin));
    CUDA(cudaFree(p.output));
    CUDA(cudaFree(p.input));
}

typedef struct small_call {
    bench *b;
    cudaEvent_t event;
    cudaError_t (*call)(const struct small_call *c);
} small_call;

static cudaError_t record(const small_call *c)
{
    return cudaEventRecord(c->event, c->b->stream);
}

static cudaError_t wait_for(const small_call *c)
{
    return cudaStreamWaitEvent(c->b->stream, c->event, 0);
}

static cudaError_t query(const small_call *c)
{
    return cudaEventQuery(c->event);
}

static cudaError_t get_device(const small_call *c)
{
    (void)c;
    int device;
    return cudaGetDevice(&device);
}

static cudaError_t is_capturing(const small_call *c)
{
    enum cudaStreamCaptureStatus status;
    return cudaStreamIsCapturing(c->b->stream, &status);
}

/* Few enough calls that the stream's queue does not fill up. */
static double call_many_times(void *context)
{
    enum {
        CALLS = 500
    };
    const small_call *c = context;
    cudaError_t error = cudaSuccess;
    CUDA(cudaStreamSynchronize(c->b->stream));
    const double begin = clock_seconds();
    for (int32_t i = 0; i < CALLS && error == cudaSuccess; ++i)
        error = c->call(c);
    const double end = clock_seconds();
    CUDA(error);
    return (end - begin) / CALLS;
}

void limits_calls(bench *b)
{
    static const struct {
        const char *name;
        cudaError_t (*call)(const small_call *c);
    } calls[] = {
        {"limits.calls.event_record", record},       {"limits.calls.stream_wait", wait_for},
        {"limits.calls.event_query", query},         {"limits.calls.get_device", get_device},
        {"limits.calls.is_capturing", is_capturing},
    };
    small_call c = {.b = b};
    CUDA(cudaEventCreateWithFlags(&c.event, cudaEventDisableTiming));
    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
        c.call = calls[i].call;
        bench_measure(b, calls[i].name, 0, 2, 21, call_many_times, &c);
    }
    CUDA(cudaEventDestroy(c.event));
}
