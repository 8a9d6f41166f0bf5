/*
 * The stand-in for today's practice: pageable memory, cudaMalloc, whole images copied by blocking calls, and every
 * access counts as a write, so that each side's copy is stale once the other side has looked.
 */
#include "bench.h"
#include "content.h"
#include "kernels.h"
#include "pixels.h"

#include <stdlib.h>

typedef struct naive_image {
    float *host;
    float *device;
    size_t bytes;
    bool host_is_newer;
    bool device_is_newer;
} naive_image;

static naive_image naive_create(size_t bytes)
{
    naive_image image = {.bytes = bytes, .host = malloc(bytes)};
    if (image.host == NULL)
        bench_fail("malloc of %zu bytes", bytes);
    return image;
}

static void naive_release(naive_image *image)
{
    CUDA(cudaFree(image->device));
    free(image->host);
}

static float *naive_on_host(naive_image *image)
{
    if (image->device_is_newer)
        CUDA(cudaMemcpy(image->host, image->device, image->bytes, cudaMemcpyDeviceToHost));
    image->device_is_newer = false;
    image->host_is_newer = true;
    return image->host;
}

static float *naive_on_device(naive_image *image)
{
    if (image->device == NULL)
        CUDA(cudaMalloc((void **)&image->device, image->bytes));
    if (image->host_is_newer)
        CUDA(cudaMemcpy(image->device, image->host, image->bytes, cudaMemcpyHostToDevice));
    image->host_is_newer = false;
    image->device_is_newer = true;
    return image->device;
}

typedef struct naive_work {
    bench *b;
    naive_image image;
    probes look;
    uint32_t seed;
} naive_work;

static int64_t naive_pixel_count(const naive_work *w)
{
    return (int64_t)(w->image.bytes / sizeof(float));
}

static void write_on_device(naive_work *w)
{
    w->seed = bench_next_seed(w->b);
    CUDA(kernel_content(naive_on_device(&w->image), naive_pixel_count(w), w->seed, NULL));
    CUDA(cudaDeviceSynchronize());
}

static double naive_up(void *context)
{
    naive_work *w = context;
    w->seed = bench_next_seed(w->b);
    probes_write(&w->look, naive_on_host(&w->image), w->seed);
    const double begin = clock_seconds();
    const float *pixels = naive_on_device(&w->image);
    const double seconds = clock_seconds() - begin;
    probes_check_device(&w->look, pixels, w->seed, NULL, "the naive image brought up");
    return seconds;
}

static double naive_down(void *context)
{
    naive_work *w = context;
    write_on_device(w);
    const double begin = clock_seconds();
    const float *pixels = naive_on_host(&w->image);
    const double seconds = clock_seconds() - begin;
    probes_check_host(&w->look, pixels, w->seed, "the naive image brought down");
    return seconds;
}

static double naive_pixel_read(void *context)
{
    naive_work *w = context;
    write_on_device(w);
    const int64_t position = naive_pixel_count(w) / 3;
    const double begin = clock_seconds();
    const float value = *(volatile float *)(naive_on_host(&w->image) + position);
    const double seconds = clock_seconds() - begin;
    if (value != content_pixel(w->seed, position))
        bench_fail("the naive image's pixel is wrong");
    return seconds;
}

static double naive_pixel_read_then_device(void *context)
{
    naive_work *w = context;
    double seconds = naive_pixel_read(w);
    const double begin = clock_seconds();
    (void)naive_on_device(&w->image);
    seconds += clock_seconds() - begin;
    return seconds;
}

static double naive_pixel_write_then_device(void *context)
{
    naive_work *w = context;
    write_on_device(w);
    const double begin = clock_seconds();
    naive_on_host(&w->image)[naive_pixel_count(w) / 3] = 1.5F;
    (void)naive_on_device(&w->image);
    return clock_seconds() - begin;
}

static double naive_create_and_destroy(void *context)
{
    const naive_work *w = context;
    const double begin = clock_seconds();
    naive_image image = naive_create(w->image.bytes);
    (void)naive_on_device(&image);
    naive_release(&image);
    return clock_seconds() - begin;
}

static double naive_fill(void *context)
{
    const naive_work *w = context;
    const double begin = clock_seconds();
    naive_image image = naive_create(w->image.bytes);
    float *pixels = naive_on_host(&image);
    for (int64_t n = 0; n < naive_pixel_count(w); ++n)
        pixels[n] = 42.3F;
    (void)naive_on_device(&image);
    const double seconds = clock_seconds() - begin;
    naive_release(&image);
    return seconds;
}

void naive_strategy(bench *b)
{
    static const size_t moved[] = {64 * MIB, 512 * MIB, GIB};
    static const size_t created[] = {MIB, 64 * MIB, 512 * MIB, 4 * GIB};
    for (size_t i = 0; i < sizeof moved / sizeof *moved && (!b->quick || moved[i] < GIB); ++i) {
        naive_work w = {.b = b, .image = naive_create(moved[i])};
        probes_spread(&w.look, naive_pixel_count(&w));
        content_write(naive_on_host(&w.image), naive_pixel_count(&w), bench_next_seed(b), b->core_count);
        bench_measure(b, bench_name_sized("naive.up", moved[i]), (double)moved[i], 1, 5, naive_up, &w);
        bench_measure(b, bench_name_sized("naive.down", moved[i]), (double)moved[i], 1, 5, naive_down, &w);
        if (moved[i] == 512 * MIB) {
            bench_measure(b, "naive.pixel.read", 0, 1, 5, naive_pixel_read, &w);
            bench_measure(b, "naive.pixel.read_then_device", 0, 1, 5, naive_pixel_read_then_device, &w);
            bench_measure(b, "naive.pixel.write_then_device", 0, 1, 5, naive_pixel_write_then_device, &w);
        }
        naive_release(&w.image);
        probes_release(&w.look);
    }
    for (size_t i = 0; i < sizeof created / sizeof *created; ++i) {
        naive_work w = {.b = b, .image = {.bytes = created[i]}};
        bench_measure(b, bench_name_sized("naive.create", created[i]), 0, 1, 11, naive_create_and_destroy, &w);
    }
    naive_work filled = {.b = b, .image = {.bytes = 512 * MIB}};
    bench_measure(b, "naive.fill.512MiB", (double)filled.image.bytes, 1, 5, naive_fill, &filled);
}
