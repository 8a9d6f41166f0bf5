/* What an image costs as such: creating, device memory, destroying; and one filled with a value. */
#include "bench.h"
#include "pixels.h"

typedef struct creation {
    bench *b;
    size_t bytes;
} creation;

static double create_and_destroy(void *context)
{
    enum {
        IMAGES = 50
    };
    const creation *c = context;
    const double begin = clock_seconds();
    for (int32_t i = 0; i < IMAGES; ++i) {
        cc_image *image = image_create_volume(c->b, c->bytes);
        image_unmap_device(image, image_map_device(image, NULL, CC_ACCESS_WRITE, c->b->stream), c->b->stream);
        cc_image_release(image);
    }
    const double end = clock_seconds();
    CUDA(cudaStreamSynchronize(c->b->stream));
    return (end - begin) / IMAGES;
}

void library_create(bench *b)
{
    static const size_t sizes[] = {MIB, 64 * MIB, 512 * MIB, 4 * GIB};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        creation c = {.b = b, .bytes = sizes[i]};
        bench_measure(b, bench_name_sized("library.create", c.bytes), 0, 3, 21, create_and_destroy, &c);
    }
}

#define FILL_VALUE 42.3F

static double create_filled(void *context)
{
    bench *b = context;
    const float value = FILL_VALUE;
    const double begin = clock_seconds();
    cc_image *image = image_create_volume(b, 512 * MIB);
    CC(cc_image_fill(image, NULL, &value, b->stream));
    float *pixels = image_map_device(image, NULL, CC_ACCESS_READ, b->stream);
    CUDA(cudaStreamSynchronize(b->stream));
    const double seconds = clock_seconds() - begin;

    const int64_t last = (int64_t)(cc_image_get_size_bytes(image) / sizeof(float)) - 1;
    for (int32_t i = 0; i <= 4; ++i) {
        float found;
        CUDA(cudaMemcpyAsync(&found, pixels + last / 4 * i, sizeof found, cudaMemcpyDeviceToHost, b->stream));
        CUDA(cudaStreamSynchronize(b->stream));
        if (found != value)
            bench_fail("a pixel of a filled image is %.9g", (double)found);
    }
    image_unmap_device(image, pixels, b->stream);
    cc_image_release(image);
    return seconds;
}

void library_fill(bench *b)
{
    bench_measure(b, "library.fill.512MiB", 512.0 * (double)MIB, 3, 21, create_filled, b);
}
