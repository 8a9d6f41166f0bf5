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
    cc_image *second;
    cc_image *output;
    cc_reduction reduction;
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

static void write_content(operation *o, cc_image *image, cc_pixel_type type)
{
    void *pixels = image_map_device(image, NULL, CC_ACCESS_WRITE, o->b->stream);
    const size_t bytes = cc_image_get_size_bytes(image);
    const uint32_t seed = bench_next_seed(o->b);
    if (type == CC_PIXEL_FLOAT32)
        CUDA(kernel_content(pixels, (int64_t)(bytes / sizeof(float)), seed, o->b->stream));
    else
        CUDA(kernel_content_bits(pixels, (int64_t)(bytes / sizeof(uint32_t)), seed, o->b->stream));
    image_unmap_device(image, pixels, o->b->stream);
}

static void write_input(operation *o, cc_pixel_type type)
{
    write_content(o, o->input, type);
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

static double add(void *context)
{
    const operation *o = context;
    CUDA(cudaEventRecord(o->begin, o->b->stream));
    CC(cc_image_add(o->input, o->second, o->output, o->b->stream));
    return elapsed_seconds(o);
}

static double multiply_value(void *context)
{
    const operation *o = context;
    CUDA(cudaEventRecord(o->begin, o->b->stream));
    CC(cc_image_multiply_value(o->input, SCALE, o->output, o->b->stream));
    return elapsed_seconds(o);
}

static double axpy(void *context)
{
    const operation *o = context;
    CUDA(cudaEventRecord(o->begin, o->b->stream));
    CC(cc_image_axpy(SCALE, o->input, o->output, o->b->stream));
    return elapsed_seconds(o);
}

static double cast(void *context)
{
    const operation *o = context;
    CUDA(cudaEventRecord(o->begin, o->b->stream));
    CC(cc_image_cast(o->input, o->output, o->b->stream));
    return elapsed_seconds(o);
}

/* The square root of x^2 + y^2, clamped: what would be four passes. */
static double fused(void *context)
{
    static const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)),
                                    CC_STEP0(CC_STEP_SQUARE),
                                    CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(1)),
                                    CC_STEP0(CC_STEP_SQUARE),
                                    CC_STEP1(CC_STEP_ADD, CC_TAKE_STEP(1)),
                                    CC_STEP0(CC_STEP_SQUARE_ROOT),
                                    CC_STEP2(CC_STEP_CLAMP, CC_TAKE_VALUE(0.25), CC_TAKE_VALUE(0.75))};
    const operation *o = context;
    cc_image *const inputs[] = {o->input, o->second};
    CUDA(cudaEventRecord(o->begin, o->b->stream));
    CC(cc_image_evaluate(steps, sizeof steps / sizeof *steps, inputs, 2, o->output, o->b->stream));
    return elapsed_seconds(o);
}

static double reduce(void *context)
{
    const operation *o = context;
    CUDA(cudaEventRecord(o->begin, o->b->stream));
    CC(cc_image_reduce(o->reduction, o->input, o->reduction == CC_REDUCE_DOT ? o->second : NULL, o->output,
                       o->b->stream));
    return elapsed_seconds(o);
}

static double histogram(void *context)
{
    const operation *o = context;
    CUDA(cudaEventRecord(o->begin, o->b->stream));
    CC(cc_image_histogram(o->input, 0, 1, o->output, o->b->stream));
    return elapsed_seconds(o);
}

/* The last pixel of float32 images. */
static double last_pixel(cc_image *image, int64_t slices)
{
    const cc_region last = {.index = {511, 511, slices - 1}, .size = {1, 1, 1}};
    const float *pixel = image_map_host(image, &last, CC_ACCESS_READ);
    const double value = (double)*pixel;
    image_unmap_host(image, (void *)pixel);
    return value;
}

/* Of images of 1 GiB of float32; bytes that the work must move are `images` times that. */
static void measure_point(operation *o, const char *name, double (*run)(void *context), double images)
{
    const int64_t slices = 1024;
    bench *b = o->b;
    o->input = image_create(b, CC_PIXEL_FLOAT32, 1, 512, 512, slices);
    o->output = image_create(b, CC_PIXEL_FLOAT32, 1, 512, 512, slices);
    write_input(o, CC_PIXEL_FLOAT32);
    o->second = o->input;
    o->input = image_create(b, CC_PIXEL_FLOAT32, 1, 512, 512, slices);
    write_input(o, CC_PIXEL_FLOAT32);
    write_content(o, o->output, CC_PIXEL_FLOAT32);
    /* Expressions are compiled when they have moved 16 GiB. */
    bench_measure(b, name, images * (double)cc_image_get_size_bytes(o->input), run == fused ? 6 : 3, 15, run, o);
    const double x = last_pixel(o->input, slices), y = last_pixel(o->second, slices),
                 found = last_pixel(o->output, slices), root = sqrt(x * x + y * y);
    const double expected = run == add              ? (double)(float)(x + y)
                            : run == multiply_value ? (double)(float)(x * SCALE)
                            : run == fused          ? (double)(float)fmin(fmax(root, 0.25), 0.75)
                                                    : found;
    if (found != expected)
        bench_fail("%s: the last pixel is %.9g, expected %.9g", name, found, expected);
    cc_image_release(o->output);
    cc_image_release(o->second);
    cc_image_release(o->input);
    o->second = NULL;
}

static void measure_cast(operation *o, const char *name, cc_pixel_type from, cc_pixel_type to)
{
    bench *b = o->b;
    o->input = image_create(b, from, 1, 512, 512, 1024);
    o->output = image_create(b, to, 1, 512, 512, 1024);
    write_input(o, from);
    bench_measure(b, name, (double)cc_image_get_size_bytes(o->input) + (double)cc_image_get_size_bytes(o->output), 3,
                  15, cast, o);
    cc_image_release(o->output);
    cc_image_release(o->input);
}

static void measure_reduce(operation *o, const char *name, cc_reduction reduction)
{
    bench *b = o->b;
    o->reduction = reduction;
    o->input = image_create(b, CC_PIXEL_FLOAT32, 1, 512, 512, 1024);
    write_input(o, CC_PIXEL_FLOAT32);
    o->second = o->input;
    o->input = image_create(b, CC_PIXEL_FLOAT32, 1, 512, 512, 1024);
    write_input(o, CC_PIXEL_FLOAT32);
    o->output = image_create(b, CC_PIXEL_FLOAT64, 1, 1, 1, 1);
    bench_measure(b, name, (reduction == CC_REDUCE_DOT ? 2 : 1) * (double)cc_image_get_size_bytes(o->input), 3, 15,
                  reduce, o);
    cc_image_release(o->output);
    cc_image_release(o->second);
    cc_image_release(o->input);
    o->second = NULL;
}

static void measure_histogram(operation *o, const char *name)
{
    bench *b = o->b;
    o->input = image_create(b, CC_PIXEL_FLOAT32, 1, 512, 512, 1024);
    write_input(o, CC_PIXEL_FLOAT32);
    o->output = image_create(b, CC_PIXEL_UINT64, 1, 256, 1, 1);
    bench_measure(b, name, (double)cc_image_get_size_bytes(o->input), 3, 15, histogram, o);
    cc_image_release(o->output);
    cc_image_release(o->input);
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
    measure_point(&o, "library.operations.add.f32", add, 3);
    measure_point(&o, "library.operations.multiply_value.f32", multiply_value, 2);
    measure_point(&o, "library.operations.axpy.f32", axpy, 3);
    measure_point(&o, "library.operations.fused.f32", fused, 3);
    measure_cast(&o, "library.operations.cast.u16_f32", CC_PIXEL_UINT16, CC_PIXEL_FLOAT32);
    measure_cast(&o, "library.operations.cast.f32_u8", CC_PIXEL_FLOAT32, CC_PIXEL_UINT8);
    measure_reduce(&o, "library.operations.sum.f32", CC_REDUCE_SUM);
    measure_reduce(&o, "library.operations.minimum.f32", CC_REDUCE_MINIMUM);
    measure_reduce(&o, "library.operations.variance.f32", CC_REDUCE_VARIANCE);
    measure_reduce(&o, "library.operations.dot.f32", CC_REDUCE_DOT);
    measure_reduce(&o, "library.operations.norm.f32", CC_REDUCE_NORM);
    measure_histogram(&o, "library.operations.histogram.f32");
    measure_fill(&o, "library.operations.fill.f32", CC_PIXEL_FLOAT32, 1, 1024);
    measure_fill(&o, "library.operations.fill.u8", CC_PIXEL_UINT8, 1, 4096);
    measure_fill(&o, "library.operations.fill.f32x3", CC_PIXEL_FLOAT32, 3, 342);
    CUDA(cudaEventDestroy(o.end));
    CUDA(cudaEventDestroy(o.begin));
}
