/* The operations on pixels that are on the device, as parts of what its memory can do. */
#include "bench.h"
#include "kernels.h"
#include "pixels.h"

#include <math.h>
#include <stdlib.h>

#define SCALE 0.75
#define SHIFT 3.0
#define CHECKED_BYTES (64 * KIB)

typedef struct operation {
    bench *b;
    cc_image *input;
    cc_image *output;
    cc_region region;
    cudaEvent_t begin;
    cudaEvent_t end;
} operation;

static double elapsed_seconds(const operation *o)
{
    float milliseconds = 0;
    CUDA(cudaEventRecord(o->end, o->b->stream));
    CUDA(cudaEventSynchronize(o->end));
    CUDA(cudaEventElapsedTime(&milliseconds, o->begin, o->end));
    return 1e-3 * (double)milliseconds;
}

static double rescale(void *context)
{
    const operation *o = context;
    CUDA(cudaEventRecord(o->begin, o->b->stream));
    CC(cc_image_rescale(o->input, SCALE, SHIFT, o->output, o->b->stream));
    return elapsed_seconds(o);
}

static double fill(void *context)
{
    static const float value[3] = {42.3F, -1.5F, 7.25F};
    const operation *o = context;
    CUDA(cudaEventRecord(o->begin, o->b->stream));
    CC(cc_image_fill(o->output, &o->region, value, o->b->stream));
    return elapsed_seconds(o);
}

/* For finite values, as operations.h has it: in float64, rounded half to even and clamped for integers. */
static double rescaled(double value, cc_pixel_type to)
{
    const double result = value * SCALE + SHIFT;
    if (to == CC_PIXEL_FLOAT32)
        return (float)result;
    const double rounded = nearbyint(result);
    return rounded < 0 ? 0 : rounded > 255 ? 255 : rounded;
}

static double element(const void *pixels, cc_pixel_type type, size_t n)
{
    if (type == CC_PIXEL_FLOAT32)
        return ((const float *)pixels)[n];
    return type == CC_PIXEL_UINT16 ? ((const uint16_t *)pixels)[n] : ((const uint8_t *)pixels)[n];
}

/* The last elements of both; `count` of them. */
static void check_rescale(operation *o, cc_pixel_type from, cc_pixel_type to)
{
    const size_t from_bytes = cc_pixel_type_size_bytes(from), to_bytes = cc_pixel_type_size_bytes(to);
    const size_t count = CHECKED_BYTES / (from_bytes > to_bytes ? from_bytes : to_bytes);
    void *input = malloc(CHECKED_BYTES), *output = malloc(CHECKED_BYTES);
    if (input == NULL || output == NULL)
        bench_fail("malloc");
    char *input_pixels = image_map_device(o->input, NULL, CC_ACCESS_READ, o->b->stream);
    char *output_pixels = image_map_device(o->output, NULL, CC_ACCESS_READ, o->b->stream);
    CUDA(cudaStreamSynchronize(o->b->stream));
    CUDA(cudaMemcpy(input, input_pixels + cc_image_get_size_bytes(o->input) - count * from_bytes, count * from_bytes,
                    cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(output, output_pixels + cc_image_get_size_bytes(o->output) - count * to_bytes, count * to_bytes,
                    cudaMemcpyDeviceToHost));
    image_unmap_device(o->output, output_pixels, o->b->stream);
    image_unmap_device(o->input, input_pixels, o->b->stream);
    for (size_t n = 0; n < count; ++n) {
        const double expected = rescaled(element(input, from, n), to), found = element(output, to, n);
        if (found != expected)
            bench_fail("rescale %s to %s: element %zu of the last %zu is %.9g, expected %.9g", cc_pixel_type_name(from),
                       cc_pixel_type_name(to), n, count, found, expected);
    }
    free(output);
    free(input);
}

static void write_input(operation *o, cc_pixel_type type)
{
    void *pixels = image_map_device(o->input, NULL, CC_ACCESS_WRITE, o->b->stream);
    const size_t bytes = cc_image_get_size_bytes(o->input);
    const uint32_t seed = bench_next_seed(o->b);
    if (type == CC_PIXEL_FLOAT32)
        CUDA(kernel_content(pixels, (int64_t)(bytes / sizeof(float)), seed, o->b->stream));
    else
        CUDA(kernel_content_bits(pixels, (int64_t)(bytes / sizeof(uint32_t)), seed, o->b->stream));
    image_unmap_device(o->input, pixels, o->b->stream);
}

static void measure_rescale(operation *o, const char *name, cc_pixel_type from, cc_pixel_type to, int32_t components,
                            int64_t slices)
{
    bench *b = o->b;
    o->input = image_create(b, from, components, 512, 512, slices);
    o->output = image_create(b, to, components, 512, 512, slices);
    write_input(o, from);
    const double bytes = (double)cc_image_get_size_bytes(o->input) + (double)cc_image_get_size_bytes(o->output);
    bench_measure(b, name, bytes, 3, 15, rescale, o);
    check_rescale(o, from, to);
    cc_image_release(o->output);
    cc_image_release(o->input);
}

/* Of all but the first slice: a whole image would only keep the value. */
static void measure_fill(operation *o, const char *name, cc_pixel_type type, int32_t components, int64_t slices)
{
    bench *b = o->b;
    o->output = image_create(b, type, components, 512, 512, slices);
    o->region = (cc_region){.index = {0, 0, 1}, .size = {512, 512, slices - 1}};
    const double bytes = (double)cc_image_get_size_bytes(o->output) / (double)slices * (double)(slices - 1);
    bench_measure(b, name, bytes, 3, 15, fill, o);

    const cc_region last = {.index = {511, 511, slices - 1}, .size = {1, 1, 1}};
    const float *pixel = image_map_host(o->output, &last, CC_ACCESS_READ);
    const bool right =
        type != CC_PIXEL_FLOAT32 || (pixel[0] == 42.3F && pixel[components - 1] == (components == 3 ? 7.25F : 42.3F));
    image_unmap_host(o->output, (void *)pixel);
    if (!right)
        bench_fail("%s: the last pixel is wrong", name);
    cc_image_release(o->output);
}

void library_operations(bench *b)
{
    operation o = {.b = b};
    CUDA(cudaEventCreate(&o.begin));
    CUDA(cudaEventCreate(&o.end));
    measure_rescale(&o, "library.operations.rescale.f32_f32", CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32, 1, 1024);
    measure_rescale(&o, "library.operations.rescale.u16_f32", CC_PIXEL_UINT16, CC_PIXEL_FLOAT32, 1, 1024);
    measure_rescale(&o, "library.operations.rescale.u8_u8", CC_PIXEL_UINT8, CC_PIXEL_UINT8, 1, 4096);
    measure_rescale(&o, "library.operations.rescale.f32x3_f32x3", CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32, 3, 342);
    measure_fill(&o, "library.operations.fill.f32", CC_PIXEL_FLOAT32, 1, 1024);
    measure_fill(&o, "library.operations.fill.u8", CC_PIXEL_UINT8, 1, 4096);
    measure_fill(&o, "library.operations.fill.f32x3", CC_PIXEL_FLOAT32, 3, 342);
    CUDA(cudaEventDestroy(o.end));
    CUDA(cudaEventDestroy(o.begin));
}
