/* Smoothing and convolution on the device, as parts of what its memory can do. Bytes: each image once. */
#include "bench.h"
#include "pixels.h"

#include <math.h>

typedef struct filter_work {
    bench *b;
    cc_image *input;
    cc_image *filter;
    cc_image *output;
    cc_gaussian_params gaussian;
    cc_convolve_params convolve;
    cudaEvent_t begin;
    cudaEvent_t end;
} filter_work;

static double elapsed_seconds(const filter_work *w)
{
    float milliseconds = 0;
    CUDA(cudaEventRecord(w->end, w->b->stream));
    CUDA(cudaEventSynchronize(w->end));
    CUDA(cudaEventElapsedTime(&milliseconds, w->begin, w->end));
    return 1e-3 * (double)milliseconds;
}

static double smooth(void *context)
{
    const filter_work *w = context;
    CUDA(cudaEventRecord(w->begin, w->b->stream));
    CC(cc_image_smooth_gaussian(w->input, &w->gaussian, w->output, w->b->stream));
    return elapsed_seconds(w);
}

static double convolve(void *context)
{
    const filter_work *w = context;
    CUDA(cudaEventRecord(w->begin, w->b->stream));
    CC(cc_image_convolve_axis(w->input, w->filter, &w->convolve, w->output, w->b->stream));
    return elapsed_seconds(w);
}

static void fill(cc_image *image, float value)
{
    CC(cc_image_fill(image, NULL, &value, CC_STREAM_DEFAULT));
}

static void set_pixel(cc_image *image, int64_t i, int64_t j, int64_t k, float value)
{
    const cc_region region = {.index = {i, j, k}, .size = {1, 1, 1}};
    CC(cc_image_fill(image, &region, &value, CC_STREAM_DEFAULT));
}

static double pixel(cc_image *image, int64_t i, int64_t j, int64_t k)
{
    const cc_region region = {.index = {i, j, k}, .size = {1, 1, 1}};
    const float *found = image_map_host(image, &region, CC_ACCESS_READ);
    const double value = (double)*found;
    image_unmap_host(image, (void *)found);
    return value;
}

/* One bright pixel in the middle becomes the product of three Gaussians. */
static void measure_gaussian(filter_work *w, const char *name, int64_t side, double sigma)
{
    const int64_t middle = side / 2, radius = (int64_t)(4 * sigma + 0.5);
    double sum = 0;
    for (int64_t d = -radius; d <= radius; ++d)
        sum += exp(-(double)(d * d) / (2 * sigma * sigma));
    w->gaussian = (cc_gaussian_params)CC_GAUSSIAN_PARAMS_INIT;
    w->gaussian.unit = CC_SIGMA_IN_PIXELS;
    for (int32_t axis = 0; axis < 3; ++axis)
        w->gaussian.sigma[axis] = sigma;
    w->input = image_create(w->b, CC_PIXEL_FLOAT32, 1, side, side, side);
    w->output = image_create(w->b, CC_PIXEL_FLOAT32, 1, side, side, side);
    fill(w->input, 0);
    CC(cc_image_prefetch(w->input, NULL, w->b->device));
    set_pixel(w->input, middle, middle, middle, 1000);
    bench_measure(w->b, name, 2 * (double)cc_image_get_size_bytes(w->input), 3, 15, smooth, w);
    for (int64_t d = 0; d < 3; ++d) {
        const double expected = 1000 * exp(-(double)(d * d) * 1.5 / (sigma * sigma)) / (sum * sum * sum);
        const double found = pixel(w->output, middle + d, middle - d, middle + d);
        if (!(fabs(found - expected) < 1e-5 * expected + 1e-9))
            bench_fail("%s: a pixel is %.9g, expected %.9g", name, found, expected);
    }
    cc_image_release(w->output);
    cc_image_release(w->input);
}

/* Rows of 1024 pixels of a detector with a ramp, so that one bright pixel becomes the filter in space. */
static void measure_ramp(filter_work *w, const char *name)
{
    const int64_t size = 1024, length = 2048;
    w->convolve = (cc_convolve_params)CC_CONVOLVE_PARAMS_INIT;
    w->convolve.domain = CC_FILTER_IN_FREQUENCY;
    w->convolve.length = length;
    w->input = image_create(w->b, CC_PIXEL_FLOAT32, 1, size, 512, 512);
    w->output = image_create(w->b, CC_PIXEL_FLOAT32, 1, size, 512, 512);
    w->filter = image_create(w->b, CC_PIXEL_FLOAT32, 1, length / 2 + 1, 1, 1);
    float *factors = image_map_host(w->filter, NULL, CC_ACCESS_WRITE);
    for (int64_t f = 0; f <= length / 2; ++f)
        factors[f] = (float)f / (float)length;
    image_unmap_host(w->filter, factors);
    fill(w->input, 0);
    CC(cc_image_prefetch(w->input, NULL, w->b->device));
    set_pixel(w->input, 300, 511, 511, 1000);
    bench_measure(w->b, name, 2 * (double)cc_image_get_size_bytes(w->input), 3, 15, convolve, w);
    for (int64_t d = 0; d < 4; ++d) {
        double expected = 1000.0 / (2 * (double)length) * (d % 2 == 0 ? 1 : -1);
        for (int64_t f = 1; f < length / 2; ++f)
            expected += 1000.0 * 2 * (double)f / ((double)length * (double)length) *
                        cos(6.283185307179586 * (double)(f * d) / (double)length);
        const double found = pixel(w->output, 300 + d, 511, 511);
        if (!(fabs(found - expected) < 1e-3))
            bench_fail("%s: a pixel is %.9g, expected %.9g", name, found, expected);
    }
    cc_image_release(w->filter);
    cc_image_release(w->output);
    cc_image_release(w->input);
}

void library_filters(bench *b)
{
    filter_work w = {.b = b};
    CUDA(cudaEventCreate(&w.begin));
    CUDA(cudaEventCreate(&w.end));
    measure_gaussian(&w, "library.filters.gaussian_2.256", 256, 2);
    measure_gaussian(&w, "library.filters.gaussian_1.512", 512, 1);
    measure_gaussian(&w, "library.filters.gaussian_2.512", 512, 2);
    measure_gaussian(&w, "library.filters.gaussian_8.512", 512, 8);
    measure_ramp(&w, "library.filters.ramp.1GiB");
    CUDA(cudaEventDestroy(w.end));
    CUDA(cudaEventDestroy(w.begin));
}
