/* Mapping and unmapping when there is nothing to do, by one thread and by several; and what that many threads can do.
 */
#include "bench.h"
#include "pixels.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define HOST_PAIRS 20000
/* Few enough that the events of a stream do not fill its queue. */
#define DEVICE_PAIRS 500
#define THREADS 8

typedef enum kind {
    HOST = 0,
    DEVICE = 1,
    LOCK = 2,  /* a mutex of the thread's own, taken and let go twice */
    RECORD = 3 /* an event of the thread's own, recorded in its stream */
} kind;
#define KIND_COUNT 4

typedef struct access_work {
    cc_image *image;
    kind what;
    cudaStream_t stream;
    cudaEvent_t event;
    int32_t pairs;
    pthread_barrier_t *start; /* NULL for a thread on its own */
    double begin;
    double end;
} access_work;

static cc_image *create_current(bench *b)
{
    cc_image *image = image_create(b, CC_PIXEL_FLOAT32, 1, 64, 64, 64);
    image_write_device(image, bench_next_seed(b), b->stream);
    image_unmap_host(image, image_map_host(image, NULL, CC_ACCESS_READ));
    return image;
}

static bool uses_device(kind what)
{
    return what == DEVICE || what == RECORD;
}

static void *repeat(void *context)
{
    access_work *w = context;
    cc_status status = CC_OK;
    cudaError_t error = cudaSuccess;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    void *pixels;
    if (w->start != NULL)
        pthread_barrier_wait(w->start);
    w->begin = clock_seconds();
    switch (w->what) {
    case HOST:
        for (int32_t i = 0; i < w->pairs && status == CC_OK; ++i) {
            status = cc_image_map_host(w->image, NULL, CC_ACCESS_READ, &pixels);
            if (status == CC_OK)
                status = cc_image_unmap_host(w->image, pixels);
        }
        break;
    case DEVICE:
        for (int32_t i = 0; i < w->pairs && status == CC_OK; ++i) {
            status = cc_image_map_device(w->image, NULL, CC_ACCESS_READ, w->stream, &pixels);
            if (status == CC_OK)
                status = cc_image_unmap_device(w->image, pixels, w->stream);
        }
        break;
    case LOCK:
        for (int32_t i = 0; i < 2 * w->pairs; ++i) {
            pthread_mutex_lock(&lock);
            pthread_mutex_unlock(&lock);
        }
        break;
    case RECORD:
        for (int32_t i = 0; i < w->pairs && error == cudaSuccess; ++i)
            error = cudaEventRecord(w->event, w->stream);
        break;
    }
    w->end = clock_seconds();
    CC(status);
    CUDA(error);
    if (uses_device(w->what))
        CUDA(cudaStreamSynchronize(w->stream));
    return NULL;
}

static double one_thread(void *context)
{
    access_work *w = context;
    (void)repeat(w);
    return (w->end - w->begin) / w->pairs;
}

void library_access(bench *b)
{
    const struct {
        const char *name;
        kind what;
        cudaStream_t stream;
    } accesses[] = {
        {"library.access.host", HOST, NULL},
        {"library.access.device_default_stream", DEVICE, CC_STREAM_DEFAULT},
        {"library.access.device_per_thread_stream", DEVICE, CC_STREAM_PER_THREAD},
        {"library.access.device_other_stream", DEVICE, b->stream},
    };
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; ++i) {
        access_work w = {.image = create_current(b), .what = accesses[i].what, .stream = accesses[i].stream};
        w.pairs = uses_device(w.what) ? DEVICE_PAIRS : HOST_PAIRS;
        bench_measure(b, accesses[i].name, 0, 2, 21, one_thread, &w);
        cc_image_release(w.image);
    }
}

typedef struct crowd {
    access_work works[THREADS];
    int32_t count;
} crowd;

/* Each thread has an image and a stream of its own. The slowest counts. */
static double several_threads(void *context)
{
    crowd *c = context;
    pthread_t threads[THREADS];
    pthread_barrier_t barrier;
    double slowest = 0;
    pthread_barrier_init(&barrier, NULL, (unsigned)c->count);
    for (int32_t i = 0; i < c->count; ++i) {
        c->works[i].start = &barrier;
        if (pthread_create(&threads[i], NULL, repeat, &c->works[i]) != 0) {
            /* Those who wait at the barrier would wait for ever. */
            fprintf(stderr, "cc_bench: no thread\n");
            exit(1);
        }
    }
    for (int32_t i = 0; i < c->count; ++i) {
        pthread_join(threads[i], NULL);
        const double seconds = (c->works[i].end - c->works[i].begin) / c->works[i].pairs;
        slowest = seconds > slowest ? seconds : slowest;
    }
    pthread_barrier_destroy(&barrier);
    return slowest;
}

void library_threads(bench *b)
{
    static const int32_t counts[] = {1, THREADS};
    static const char *const names[KIND_COUNT] = {
        [HOST] = "library.threads.host",
        [DEVICE] = "library.threads.device",
        [LOCK] = "library.threads.bare_lock",
        [RECORD] = "library.threads.bare_record",
    };
    crowd c = {.count = 0};
    for (int32_t i = 0; i < THREADS; ++i) {
        c.works[i] = (access_work){.image = create_current(b)};
        CUDA(cudaStreamCreateWithFlags(&c.works[i].stream, cudaStreamNonBlocking));
        CUDA(cudaEventCreateWithFlags(&c.works[i].event, cudaEventDisableTiming));
    }
    if (b->core_count < THREADS)
        bench_note(b, "library.threads: %d cores for %d threads", (int)b->core_count, THREADS);
    for (int32_t what = 0; what < KIND_COUNT; ++what) {
        for (int32_t i = 0; i < THREADS; ++i) {
            c.works[i].what = (kind)what;
            c.works[i].pairs = uses_device((kind)what) ? DEVICE_PAIRS : HOST_PAIRS;
        }
        for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
            char name[NAME_BYTES];
            c.count = counts[i];
            snprintf(name, sizeof name, "%s.%d", names[what], (int)c.count);
            bench_measure(b, name, 0, 2, 21, several_threads, &c);
        }
    }
    for (int32_t i = 0; i < THREADS; ++i) {
        cc_image_release(c.works[i].image);
        CUDA(cudaEventDestroy(c.works[i].event));
        CUDA(cudaStreamDestroy(c.works[i].stream));
    }
}
