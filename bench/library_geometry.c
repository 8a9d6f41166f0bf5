/* Resampling and derivatives on the device, as parts of what its memory can do. Bytes: each image once. */
#include "bench.h"
#include "pixels.h"

#include <math.h>

#define SIDE 512
#define SLICES 1024
#define PLACE 300 /* the pixel that is checked, along each axis */

typedef struct geometry_work {
    bench *b;
    cc_image *input;
    cc_image *field;
    cc_image *output;
    cc_resample_params params;
    cudaEvent_t begin;
    cudaEvent_t end;
} geometry_work;

static double elapsed_seconds(const geometry_work *w)
{
    float milliseconds = 0;
    CUDA(cudaEventRecord(w->end, w->b->stream));
    CUDA(cudaEventSynchronize(w->end));
    CUDA(cudaEventElapsedTime(&milliseconds, w->begin, w->end));
    return 1e-3 * (double)milliseconds;
}

static double gradient(void *context)
{
    const geometry_work *w = context;
    CUDA(cudaEventRecord(w->begin, w->b->stream));
    CC(cc_image_gradient(w->input, CC_DIFFERENCE_CENTRAL, 0, w->output, w->b->stream));
    return elapsed_seconds(w);
}

static double divergence(void *context)
{
    const geometry_work *w = context;
    CUDA(cudaEventRecord(w->begin, w->b->stream));
    CC(cc_image_divergence(w->input, CC_DIFFERENCE_BACKWARD, 0, w->output, w->b->stream));
    return elapsed_seconds(w);
}

static double laplacian(void *context)
{
    const geometry_work *w = context;
    CUDA(cudaEventRecord(w->begin, w->b->stream));
    CC(cc_image_laplacian(w->input, 0, w->output, w->b->stream));
    return elapsed_seconds(w);
}

static double resample(void *context)
{
    const geometry_work *w = context;
    CUDA(cudaEventRecord(w->begin, w->b->stream));
    CC(cc_image_resample(w->input, &w->params, w->output, w->b->stream));
    return elapsed_seconds(w);
}

static double warp(void *context)
{
    const geometry_work *w = context;
    CUDA(cudaEventRecord(w->begin, w->b->stream));
    CC(cc_image_warp(w->input, w->field, &w->params, w->output, w->b->stream));
    return elapsed_seconds(w);
}

/* A component of a pixel near the place that is checked. */
static double pixel(cc_image *image, int32_t component, int64_t i, int64_t j, int64_t k)
{
    const cc_region region = {.index = {PLACE + i, PLACE + j, PLACE + k}, .size = {1, 1, 1}};
    const float *found = image_map_host(image, &region, CC_ACCESS_READ);
    const double value = (double)found[component];
    image_unmap_host(image, (void *)found);
    return value;
}

static void check(const geometry_work *w, const char *name, int32_t component, double expected)
{
    const double found = pixel(w->output, component, 0, 0, 0);
    if (!(fabs(found - expected) < 1e-4))
        bench_fail("%s: component %d of a pixel is %.9g, expected %.9g", name, component, found, expected);
}

static void check_gradient(const geometry_work *w, const char *name)
{
    for (int32_t axis = 0; axis < 3; ++axis)
        check(w, name, axis,
              (pixel(w->input, 0, axis == 0, axis == 1, axis == 2) -
               pixel(w->input, 0, -(axis == 0), -(axis == 1), -(axis == 2))) /
                  2);
}

static void check_divergence(const geometry_work *w, const char *name)
{
    double sum = 0;
    for (int32_t axis = 0; axis < 3; ++axis)
        sum += pixel(w->input, axis, 0, 0, 0) - pixel(w->input, axis, -(axis == 0), -(axis == 1), -(axis == 2));
    check(w, name, 0, sum);
}

static void check_laplacian(const geometry_work *w, const char *name)
{
    double sum = -6 * pixel(w->input, 0, 0, 0, 0);
    for (int32_t axis = 0; axis < 3; ++axis)
        sum += pixel(w->input, 0, axis == 0, axis == 1, axis == 2) +
               pixel(w->input, 0, -(axis == 0), -(axis == 1), -(axis == 2));
    check(w, name, 0, sum);
}

/* The place is where the params leave it, and so is the output's pixel there. */
static void check_same(const geometry_work *w, const char *name)
{
    check(w, name, 0, pixel(w->input, 0, 0, 0, 0));
}

static void measure_work(geometry_work *w, const char *name, int32_t from_components, int32_t to_components,
                         bench_work run, void (*look)(const geometry_work *w, const char *name))
{
    const double spacing[CC_MAX_DIMENSION] = {0.96875, 0.96875, 0.96875, 1};
    double origin[CC_MAX_DIMENSION];
    double images = from_components + to_components;
    bench *b = w->b;
    w->input = image_create(b, CC_PIXEL_FLOAT32, from_components, SIDE, SIDE, SLICES);
    w->output = image_create(b, CC_PIXEL_FLOAT32, to_components, SIDE, SIDE, SLICES);
    image_write_device(w->input, bench_next_seed(b), b->stream);
    if (run == resample) {
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
            origin[axis] = PLACE * (1 - spacing[axis]);
        CC(cc_image_set_spacing(w->output, spacing));
        CC(cc_image_set_origin(w->output, origin));
    }
    if (run == warp) {
        w->field = image_create(b, CC_PIXEL_FLOAT32, 3, SIDE, SIDE, SLICES);
        void *pixels = image_map_device(w->field, NULL, CC_ACCESS_WRITE, b->stream);
        CUDA(cudaMemsetAsync(pixels, 0, cc_image_get_size_bytes(w->field), b->stream));
        image_unmap_device(w->field, pixels, b->stream);
        images += 3;
    }
    bench_measure(b, name, images * (double)SIDE * SIDE * SLICES * sizeof(float), 3, 15, run, w);
    look(w, name);
    cc_image_release(w->field);
    cc_image_release(w->output);
    cc_image_release(w->input);
    w->field = NULL;
}

/* A rotation that leaves the place where it is. */
static void set_rotation(cc_resample_params *params, double angle)
{
    const double c = cos(angle), s = sin(angle);
    const cc_resample_params none = CC_RESAMPLE_PARAMS_INIT;
    *params = none;
    params->matrix[0][0] = params->matrix[1][1] = c;
    params->matrix[0][1] = -s;
    params->matrix[1][0] = s;
    params->offset[0] = PLACE * (1 - c + s);
    params->offset[1] = PLACE * (1 - c - s);
}

void library_geometry(bench *b)
{
    geometry_work w = {.b = b, .params = CC_RESAMPLE_PARAMS_INIT};
    CUDA(cudaEventCreate(&w.begin));
    CUDA(cudaEventCreate(&w.end));
    measure_work(&w, "library.geometry.gradient.f32", 1, 3, gradient, check_gradient);
    measure_work(&w, "library.geometry.divergence.f32", 3, 1, divergence, check_divergence);
    measure_work(&w, "library.geometry.laplacian.f32", 1, 1, laplacian, check_laplacian);
    measure_work(&w, "library.geometry.linear.f32", 1, 1, resample, check_same);
    measure_work(&w, "library.geometry.linear.f32x3", 3, 3, resample, check_same);
    measure_work(&w, "library.geometry.warp.f32", 1, 1, warp, check_same);
    set_rotation(&w.params, 0.05);
    measure_work(&w, "library.geometry.linear_rotated.f32", 1, 1, resample, check_same);
    w.params.interpolation = CC_INTERPOLATION_NEAREST;
    measure_work(&w, "library.geometry.nearest_rotated.f32", 1, 1, resample, check_same);
    w.params.interpolation = CC_INTERPOLATION_CUBIC_BSPLINE;
    measure_work(&w, "library.geometry.cubic_rotated.f32", 1, 1, resample, check_same);
    CUDA(cudaEventDestroy(w.end));
    CUDA(cudaEventDestroy(w.begin));
}
