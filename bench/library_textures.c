/* Textures: filling their arrays, as part of what the device's memory can do, and finding one that is there. */
#include "bench.h"
#include "pixels.h"

#define FINDS 1000

typedef struct texturing {
    bench *b;
    cc_image *image;
    cudaEvent_t begin;
    cudaEvent_t end;
} texturing;

static void map_and_unmap(const texturing *t)
{
    cc_texture texture = CC_TEXTURE_INIT;
    CC(cc_image_map_texture(t->image, NULL, NULL, t->b->stream, &texture));
    CC(cc_image_unmap_texture(t->image, &texture, t->b->stream));
}

static double update(void *context)
{
    const texturing *t = context;
    float milliseconds = 0;
    void *pixels = image_map_device(t->image, NULL, CC_ACCESS_READ_WRITE, t->b->stream);
    image_unmap_device(t->image, pixels, t->b->stream);
    CUDA(cudaEventRecord(t->begin, t->b->stream));
    map_and_unmap(t);
    CUDA(cudaEventRecord(t->end, t->b->stream));
    CUDA(cudaEventSynchronize(t->end));
    CUDA(cudaEventElapsedTime(&milliseconds, t->begin, t->end));
    return 1e-3 * (double)milliseconds;
}

static double find(void *context)
{
    const texturing *t = context;
    const double began = clock_seconds();
    for (int32_t n = 0; n < FINDS; n++)
        map_and_unmap(t);
    return (clock_seconds() - began) / FINDS;
}

static void measure_update(texturing *t, const char *name, int32_t components, int64_t slices)
{
    t->image = image_create(t->b, CC_PIXEL_FLOAT32, components, 512, 512, slices);
    void *pixels = image_map_device(t->image, NULL, CC_ACCESS_WRITE, t->b->stream);
    CUDA(cudaMemsetAsync(pixels, 0, cc_image_get_size_bytes(t->image), t->b->stream));
    image_unmap_device(t->image, pixels, t->b->stream);
    bench_measure(t->b, name, 2.0 * (double)cc_image_get_size_bytes(t->image), 3, 15, update, t);
    cc_counters counters = CC_COUNTERS_INIT;
    CC(cc_image_get_counters(t->image, &counters));
    if (counters.texture_updates < 3)
        bench_fail("%s: the texture was filled %d times", name, (int)counters.texture_updates);
    if (components == 1)
        bench_measure(t->b, "library.textures.find", 0, 1, 15, find, t);
    cc_image_release(t->image);
}

void library_textures(bench *b)
{
    texturing t = {.b = b};
    CUDA(cudaEventCreate(&t.begin));
    CUDA(cudaEventCreate(&t.end));
    measure_update(&t, "library.textures.update.f32", 1, 1024);
    measure_update(&t, "library.textures.update.f32x4", 4, 256);
    measure_update(&t, "library.textures.update.f32x3", 3, 340);
    CUDA(cudaEventDestroy(t.begin));
    CUDA(cudaEventDestroy(t.end));
}
