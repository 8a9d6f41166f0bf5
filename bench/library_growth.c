/* Whether the cost of one image depends on how many others live: 1 to 100,000 with memory on the host and the device.
 */
#include "bench.h"
#include "content.h"
#include "kernels.h"
#include "pixels.h"

#include <stdio.h>
#include <stdlib.h>

#define SIDE 32
#define PROBES 200
#define WARM_UPS 5
/* Of adding images, and of releasing them: enough unless the cost does grow. */
#define MOST_SECONDS 30.0

/*
 * What happens to an image in its life. map_device allocates there and queues a small kernel; map_host allocates there,
 * waits and brings the pixels down; both with unmap. evict frees the device's memory while the host is up to date.
 */
#define STEP_COUNT 5
static const char *const step_names[STEP_COUNT] = {"create", "map_device", "map_host", "evict", "release"};

/* Two-dimensional, 4 KiB. Errors are the caller's: here running out is a result. */
static cc_status create_small(const bench *b, cc_image **out_image)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    params.dimension = 2;
    params.pixel_type = CC_PIXEL_FLOAT32;
    params.device = b->device;
    params.flags = CC_IMAGE_UNINITIALIZED;
    params.region = (cc_region){.size = {SIDE, SIDE}};
    return cc_image_create(&params, out_image);
}

static cc_status write_on_device(const bench *b, cc_image *image, uint32_t seed)
{
    void *pixels;
    const cc_status status = cc_image_map_device(image, NULL, CC_ACCESS_WRITE, b->stream, &pixels);
    if (status != CC_OK)
        return status;
    CUDA(kernel_content(pixels, (int64_t)SIDE * SIDE, seed, b->stream));
    return cc_image_unmap_device(image, pixels, b->stream);
}

static cc_status read_on_host(cc_image *image, uint32_t seed)
{
    void *pixels;
    const cc_status status = cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels);
    if (status != CC_OK)
        return status;
    const int64_t last = (int64_t)SIDE * SIDE - 1;
    if (((const float *)pixels)[last] != content_pixel(seed, last))
        bench_fail("a small image's pixel is wrong");
    return cc_image_unmap_host(image, pixels);
}

/* One image comes, is used and goes, beside those that live. */
static void probe(bench *b, samples steps[STEP_COUNT])
{
    cc_image *image = NULL;
    const uint32_t seed = bench_next_seed(b);
    double at[STEP_COUNT + 1];
    at[0] = clock_seconds();
    CC(create_small(b, &image));
    at[1] = clock_seconds();
    CC(write_on_device(b, image, seed));
    at[2] = clock_seconds();
    CC(read_on_host(image, seed));
    at[3] = clock_seconds();
    CC(cc_image_evict(image, b->device));
    at[4] = clock_seconds();
    cc_image_release(image);
    at[5] = clock_seconds();
    for (int32_t i = 0; i < STEP_COUNT; ++i)
        samples_add(&steps[i], at[i + 1] - at[i]);
}

static void probe_often(bench *b, int32_t live)
{
    samples warm_up[STEP_COUNT] = {{.count = 0}}, steps[STEP_COUNT] = {{.count = 0}};
    for (int32_t i = 0; i < WARM_UPS; ++i)
        probe(b, warm_up);
    for (int32_t i = 0; i < (b->quick ? 20 : PROBES); ++i)
        probe(b, steps);
    for (int32_t i = 0; i < STEP_COUNT; ++i) {
        char name[NAME_BYTES];
        snprintf(name, sizeof name, "library.growth.%s.%d", step_names[i], (int)live);
        bench_record(b, name, 0, &steps[i]);
    }
}

static cc_status add_image(bench *b, cc_image **out_image)
{
    cc_image *image = NULL;
    const uint32_t seed = bench_next_seed(b);
    cc_status status = create_small(b, &image);
    if (status == CC_OK)
        status = write_on_device(b, image, seed);
    if (status == CC_OK)
        status = read_on_host(image, seed);
    if (status == CC_OK)
        *out_image = image;
    else
        cc_image_release(image);
    return status;
}

void library_growth(bench *b)
{
    static const int32_t counts[] = {1, 10, 100, 1000, 10000, 100000};
    const int32_t most = b->quick ? 1000 : 100000;
    cc_image **images = calloc((size_t)most, sizeof(cc_image *));
    int32_t live = 0;
    const double begin = clock_seconds();
    if (images == NULL)
        bench_fail("calloc");
    for (size_t i = 0; i < sizeof counts / sizeof *counts && counts[i] <= most; ++i) {
        cc_status status = CC_OK;
        while (live < counts[i] && status == CC_OK && clock_seconds() - begin < MOST_SECONDS) {
            status = add_image(b, &images[live]);
            live += status == CC_OK;
        }
        if (live < counts[i]) {
            bench_note(b, "library.growth: ended at %d live images, %s", (int)live,
                       status == CC_OK ? "it took too long" : cc_last_error_message());
            break;
        }
        probe_often(b, live);
    }
    if (live == 0)
        bench_fail("not one image");

    samples one = {.count = 0};
    int32_t released = 0;
    const double release_begin = clock_seconds();
    while (released < live && clock_seconds() - release_begin < MOST_SECONDS)
        cc_image_release(images[released++]);
    samples_add(&one, (clock_seconds() - release_begin) / released);
    bench_record(b, "library.growth.release_each", 0, &one);
    if (released < live)
        bench_note(b, "library.growth: only %d of %d images were released, it took too long", (int)released, (int)live);
    free(images);
}
