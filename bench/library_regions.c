/* Parts of images that are on the device, and frames, as parts of the rate at which its memory is copied. */
#include "bench.h"
#include "kernels.h"
#include "pixels.h"

#define WIDTH 512
#define SLICES 1024
#define MARGIN 16
#define FRAME 16384 /* squared: 1 GiB of float32 */

typedef struct arrangement {
    bench *b;
    cc_image *input;
    cc_image *output;
    cc_region region;
    cc_pad_params pad;
    uint32_t axes;
    int32_t order[CC_MAX_DIMENSION];
    cudaEvent_t begin;
    cudaEvent_t end;
} arrangement;

static void begin(const arrangement *a)
{
    CUDA(cudaEventRecord(a->begin, a->b->stream));
}

static double end(const arrangement *a)
{
    float milliseconds = 0;
    CUDA(cudaEventRecord(a->end, a->b->stream));
    CUDA(cudaEventSynchronize(a->end));
    CUDA(cudaEventElapsedTime(&milliseconds, a->begin, a->end));
    return 1e-3 * (double)milliseconds;
}

static double crop(void *context)
{
    const arrangement *a = context;
    begin(a);
    CC(cc_image_crop(a->input, &a->region, a->output, a->b->stream));
    return end(a);
}

static double pad(void *context)
{
    const arrangement *a = context;
    begin(a);
    CC(cc_image_pad(a->input, &a->pad, a->output, a->b->stream));
    return end(a);
}

static double flip(void *context)
{
    const arrangement *a = context;
    begin(a);
    CC(cc_image_flip(a->input, a->axes, a->output, a->b->stream));
    return end(a);
}

static double permute(void *context)
{
    const arrangement *a = context;
    begin(a);
    CC(cc_image_permute(a->input, a->order, a->output, a->b->stream));
    return end(a);
}

static double interpolate(void *context)
{
    const arrangement *a = context;
    begin(a);
    CC(cc_image_interpolate_frames(a->input, 0.25, CC_BORDER_REPLICATE, a->output, a->b->stream));
    return end(a);
}

static double splat(void *context)
{
    const arrangement *a = context;
    begin(a);
    CC(cc_image_splat_frames(a->output, 0.25, CC_BORDER_REPLICATE, a->input, a->b->stream));
    return end(a);
}

static double average(void *context)
{
    const arrangement *a = context;
    begin(a);
    CC(cc_image_average_frames(a->input, a->output, a->b->stream));
    return end(a);
}

static void write_content(const arrangement *a, cc_image *image)
{
    void *pixels = image_map_device(image, NULL, CC_ACCESS_WRITE, a->b->stream);
    CUDA(kernel_content(pixels, (int64_t)(cc_image_get_size_bytes(image) / sizeof(float)), bench_next_seed(a->b),
                        a->b->stream));
    image_unmap_device(image, pixels, a->b->stream);
}

static float pixel_at(cc_image *image, int64_t i, int64_t j, int64_t k)
{
    const cc_region one = {.index = {i, j, k}, .size = {1, 1, 1}};
    const float *pixel = image_map_host(image, &one, CC_ACCESS_READ);
    const float value = *pixel;
    image_unmap_host(image, (void *)pixel);
    return value;
}

static void begin_images(arrangement *a, int64_t i, int64_t j, int64_t k)
{
    a->input = image_create(a->b, CC_PIXEL_FLOAT32, 1, WIDTH, WIDTH, SLICES);
    a->output = image_create(a->b, CC_PIXEL_FLOAT32, 1, i, j, k);
    write_content(a, a->input);
}

/* One pixel of the result must be one of the input. */
static void end_images(arrangement *a, const char *name, const int64_t at[3], const int64_t from[3])
{
    const float found = pixel_at(a->output, at[0], at[1], at[2]);
    const float expected = pixel_at(a->input, from[0], from[1], from[2]);
    if (found != expected)
        bench_fail("%s: a pixel is %.9g, expected %.9g", name, (double)found, (double)expected);
    cc_image_release(a->output);
    cc_image_release(a->input);
}

/* Read once and written once. */
static double moved(const arrangement *a)
{
    return 2 * (double)cc_image_get_size_bytes(a->output);
}

static void measure_crop(arrangement *a, const char *name, int64_t margin)
{
    const int64_t size[] = {WIDTH - 2 * MARGIN, WIDTH - 2 * MARGIN, SLICES - 2 * MARGIN};
    begin_images(a, size[0], size[1], size[2]);
    a->region = (cc_region){.index = {margin, margin, margin}, .size = {size[0], size[1], size[2]}};
    bench_measure(a->b, name, moved(a), 3, 15, crop, a);
    end_images(a, name, (const int64_t[]){size[0] - 1, 5, size[2] - 1},
               (const int64_t[]){margin + size[0] - 1, margin + 5, margin + size[2] - 1});
}

static void measure_pad(arrangement *a, const char *name, cc_border border, int64_t margin)
{
    begin_images(a, WIDTH + 2 * margin, WIDTH, SLICES);
    a->pad = (cc_pad_params)CC_PAD_PARAMS_INIT;
    a->pad.border[0] = (int32_t)border;
    a->pad.lower[0] = margin;
    a->pad.upper[0] = margin;
    bench_measure(a->b, name, (double)cc_image_get_size_bytes(a->input) + (double)cc_image_get_size_bytes(a->output), 3,
                  15, pad, a);
    end_images(a, name, (const int64_t[]){margin + 7, 9, SLICES - 1}, (const int64_t[]){7, 9, SLICES - 1});
}

static void measure_flip(arrangement *a, const char *name, uint32_t axes)
{
    begin_images(a, WIDTH, WIDTH, SLICES);
    a->axes = axes;
    bench_measure(a->b, name, moved(a), 3, 15, flip, a);
    end_images(a, name, (const int64_t[]){3, 4, 5},
               (const int64_t[]){(axes & 1) != 0 ? WIDTH - 4 : 3, (axes & 2) != 0 ? WIDTH - 5 : 4,
                                 (axes & 4) != 0 ? SLICES - 6 : 5});
}

static void measure_permute(arrangement *a, const char *name, int32_t i, int32_t j, int32_t k)
{
    const int64_t size[] = {WIDTH, WIDTH, SLICES}, at[] = {3, 4, 5};
    const int32_t order[CC_MAX_DIMENSION] = {i, j, k, 3};
    int64_t from[3] = {0, 0, 0};
    begin_images(a, size[i], size[j], size[k]);
    for (int32_t axis = 0; axis < 3; ++axis)
        from[order[axis]] = at[axis];
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        a->order[axis] = order[axis];
    bench_measure(a->b, name, moved(a), 3, 15, permute, a);
    end_images(a, name, at, from);
}

static void measure_frames(arrangement *a)
{
    a->input = image_create(a->b, CC_PIXEL_FLOAT32, 1, FRAME, FRAME, 3);
    a->output = image_create(a->b, CC_PIXEL_FLOAT32, 1, FRAME, FRAME, 1);
    write_content(a, a->input);
    const double frame = (double)cc_image_get_size_bytes(a->output);
    bench_measure(a->b, "library.regions.interpolate.f32", 3 * frame, 3, 15, interpolate, a);
    const double x = (double)pixel_at(a->input, 8, 9, 0), y = (double)pixel_at(a->input, 8, 9, 1);
    const float found = pixel_at(a->output, 8, 9, 0), expected = (float)(0.75 * x + 0.25 * y);
    if (found != expected)
        bench_fail("interpolate: a pixel is %.9g, expected %.9g", (double)found, (double)expected);
    bench_measure(a->b, "library.regions.average.f32", 4 * frame, 3, 15, average, a);
    bench_measure(a->b, "library.regions.splat.f32", 5 * frame, 3, 15, splat, a);
    cc_image_release(a->output);
    cc_image_release(a->input);
}

void library_regions(bench *b)
{
    arrangement a = {.b = b};
    CUDA(cudaEventCreate(&a.begin));
    CUDA(cudaEventCreate(&a.end));
    measure_crop(&a, "library.regions.crop.aligned", MARGIN);
    measure_crop(&a, "library.regions.crop.unaligned", MARGIN - 1);
    measure_pad(&a, "library.regions.pad.symmetric", CC_BORDER_SYMMETRIC, MARGIN);
    measure_pad(&a, "library.regions.pad.unaligned", CC_BORDER_REPLICATE, 1);
    measure_flip(&a, "library.regions.flip.i", 1);
    measure_flip(&a, "library.regions.flip.k", 4);
    measure_permute(&a, "library.regions.permute.jik", 1, 0, 2);
    measure_permute(&a, "library.regions.permute.kji", 2, 1, 0);
    measure_permute(&a, "library.regions.permute.ikj", 0, 2, 1);
    measure_frames(&a);
    CUDA(cudaEventDestroy(a.end));
    CUDA(cudaEventDestroy(a.begin));
}
