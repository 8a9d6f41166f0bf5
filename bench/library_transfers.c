/* Whole images up and down: the library's own memory, the caller's, both directions at once, memory never used before.
 */
#include "bench.h"
#include "content.h"
#include "kernels.h"
#include "pixels.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct transfer {
    bench *b;
    cc_image *image;
    size_t bytes;
    probes look;
    cudaStream_t stream;
    uint32_t seed;
    pthread_barrier_t *start; /* NULL when one direction runs alone */
    double begin;
    double end;
} transfer;

/* The host writes: only what is looked at is new, but all of it is stale on the device. */
static void prepare_up(transfer *t)
{
    t->seed = bench_next_seed(t->b);
    float *pixels = image_map_host(t->image, NULL, CC_ACCESS_WRITE);
    probes_write(&t->look, pixels, t->seed);
    image_unmap_host(t->image, pixels);
}

static void prepare_down(transfer *t)
{
    t->seed = bench_next_seed(t->b);
    image_write_device(t->image, t->seed, t->stream);
    CUDA(cudaStreamSynchronize(t->stream));
}

static void start(transfer *t)
{
    if (t->start != NULL)
        pthread_barrier_wait(t->start);
    t->begin = clock_seconds();
}

static void *go_up(transfer *t)
{
    start(t);
    float *pixels = image_map_device(t->image, NULL, CC_ACCESS_READ, t->stream);
    CUDA(cudaStreamSynchronize(t->stream));
    t->end = clock_seconds();
    return pixels;
}

static void *go_down(transfer *t)
{
    start(t);
    float *pixels = image_map_host(t->image, NULL, CC_ACCESS_READ);
    t->end = clock_seconds();
    return pixels;
}

static void finish_up(transfer *t, float *pixels)
{
    probes_check_device(&t->look, pixels, t->seed, t->stream, "an image brought up");
    image_unmap_device(t->image, pixels, t->stream);
}

static void finish_down(transfer *t, float *pixels)
{
    probes_check_host(&t->look, pixels, t->seed, "an image brought down");
    image_unmap_host(t->image, pixels);
}

static double up(void *context)
{
    transfer *t = context;
    prepare_up(t);
    finish_up(t, go_up(t));
    return t->end - t->begin;
}

static double down(void *context)
{
    transfer *t = context;
    prepare_down(t);
    finish_down(t, go_down(t));
    return t->end - t->begin;
}

/* A new image each time: with the memory of the device, and page-locking where the library does that. */
static double up_new(void *context)
{
    transfer *t = context;
    t->image = image_create_volume(t->b, t->bytes);
    t->seed = bench_next_seed(t->b);
    image_write_host(t->b, t->image, t->seed);
    finish_up(t, go_up(t));
    cc_image_release(t->image);
    return t->end - t->begin;
}

static double down_new(void *context)
{
    transfer *t = context;
    t->image = image_create_volume(t->b, t->bytes);
    const double seconds = down(t);
    cc_image_release(t->image);
    return seconds;
}

void library_owned(bench *b)
{
    static const size_t sizes[] = {64 * MIB, 256 * MIB, 512 * MIB, GIB};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && (!b->quick || sizes[i] < GIB); ++i) {
        transfer t = {.b = b, .bytes = sizes[i], .stream = b->stream};
        const double bytes = (double)t.bytes;
        probes_spread(&t.look, (int64_t)(t.bytes / sizeof(float)));
        bench_measure(b, bench_name_sized("library.owned.up_new", t.bytes), bytes, 0, 3, up_new, &t);
        bench_measure(b, bench_name_sized("library.owned.down_new", t.bytes), bytes, 0, 3, down_new, &t);

        t.image = image_create_volume(b, t.bytes);
        image_write_host(b, t.image, bench_next_seed(b));
        bench_measure(b, bench_name_sized("library.owned.up", t.bytes), bytes, 1, 15, up, &t);
        bench_measure(b, bench_name_sized("library.owned.down", t.bytes), bytes, 1, 15, down, &t);
        cc_image_release(t.image);
        probes_release(&t.look);
    }
}

void library_pageable(bench *b)
{
    transfer t = {.b = b, .bytes = 512 * MIB, .stream = b->stream};
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    params.flags = CC_WRAP_BORROWED;
    params.size_bytes = t.bytes;
    params.data = malloc(t.bytes);
    if (params.data == NULL)
        bench_fail("malloc of %zu bytes", t.bytes);
    content_write(params.data, (int64_t)(t.bytes / sizeof(float)), bench_next_seed(b), b->core_count);

    t.image = image_create_volume(b, t.bytes);
    CC(cc_image_wrap_host(t.image, &params));
    probes_spread(&t.look, (int64_t)(t.bytes / sizeof(float)));
    bench_measure(b, "library.pageable.up.512MiB", (double)t.bytes, 1, 10, up, &t);
    bench_measure(b, "library.pageable.down.512MiB", (double)t.bytes, 1, 10, down, &t);
    cc_image_release(t.image);
    probes_release(&t.look);
    free(params.data);
}

typedef struct both_ways {
    transfer up;
    transfer down;
} both_ways;

static void *down_thread(void *context)
{
    both_ways *w = context;
    return go_down(&w->down);
}

static double both_at_once(void *context)
{
    both_ways *w = context;
    pthread_t thread;
    pthread_barrier_t barrier;
    void *down_pixels = NULL;
    prepare_up(&w->up);
    prepare_down(&w->down);
    pthread_barrier_init(&barrier, NULL, 2);
    w->up.start = w->down.start = &barrier;
    if (pthread_create(&thread, NULL, down_thread, w) != 0)
        bench_fail("no thread");
    void *up_pixels = go_up(&w->up);
    pthread_join(thread, &down_pixels);
    pthread_barrier_destroy(&barrier);
    finish_up(&w->up, up_pixels);
    finish_down(&w->down, down_pixels);
    const double begin = w->up.begin < w->down.begin ? w->up.begin : w->down.begin;
    const double end = w->up.end > w->down.end ? w->up.end : w->down.end;
    return end - begin;
}

void library_duplex(bench *b)
{
    both_ways w = {.up = {.b = b, .bytes = 512 * MIB, .stream = b->stream}};
    w.down = w.up;
    CUDA(cudaStreamCreateWithFlags(&w.down.stream, cudaStreamNonBlocking));
    probes_spread(&w.up.look, (int64_t)(w.up.bytes / sizeof(float)));
    probes_spread(&w.down.look, (int64_t)(w.down.bytes / sizeof(float)));
    w.up.image = image_create_volume(b, w.up.bytes);
    w.down.image = image_create_volume(b, w.down.bytes);
    image_write_host(b, w.up.image, bench_next_seed(b));
    bench_measure(b, "library.duplex.512MiB", 2.0 * (double)w.up.bytes, 2, 10, both_at_once, &w);
    cc_image_release(w.down.image);
    cc_image_release(w.up.image);
    probes_release(&w.down.look);
    probes_release(&w.up.look);
    CUDA(cudaStreamDestroy(w.down.stream));
}

void library_first_host(bench *b)
{
    enum {
        IMAGES = 3
    };
    const size_t bytes = b->quick ? 512 * MIB : 4 * GIB;
    samples total = {.count = 0}, again = {.count = 0}, allocation = {.count = 0};
    cc_image *images[IMAGES] = {NULL};
    probes look;
    probes_spread(&look, (int64_t)(bytes / sizeof(float)));
    /* All are kept until the end: what one gives back could be the next one's at no cost. */
    for (int32_t i = 0; i < IMAGES; ++i) {
        double seconds[2];
        images[i] = image_create_volume(b, bytes);
        for (int32_t turn = 0; turn < 2; ++turn) {
            const uint32_t seed = bench_next_seed(b);
            image_write_device(images[i], seed, b->stream);
            CUDA(cudaStreamSynchronize(b->stream));
            const double begin = clock_seconds();
            CC(cc_image_prefetch(images[i], NULL, CC_PLACE_HOST));
            float *pixels = image_map_host(images[i], NULL, CC_ACCESS_READ);
            seconds[turn] = clock_seconds() - begin;
            probes_check_host(&look, pixels, seed, "a first image brought down");
            image_unmap_host(images[i], pixels);
        }
        samples_add(&total, seconds[0]);
        samples_add(&again, seconds[1]);
        samples_add(&allocation, seconds[0] - seconds[1]);
    }
    bench_record(b, bench_name_sized("library.first_host.total", bytes), (double)bytes, &total);
    bench_record(b, bench_name_sized("library.first_host.again", bytes), (double)bytes, &again);
    bench_record(b, bench_name_sized("library.first_host.allocation", bytes), 0, &allocation);
    for (int32_t i = 0; i < IMAGES; ++i)
        cc_image_release(images[i]);
    probes_release(&look);
}
