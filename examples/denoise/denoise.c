/*
 * denoise [WIDTH [STEPS]]: takes the noise out of a volume of WIDTH^3 floats, where the pixels are and with no kernel
 * of its own, and proves how near the result is to the best one.
 *
 * What is looked for is the u with the least energy: total variation of u, plus the sum of (u - f)^2 over 2 * weight. A
 * step is a divergence, a gradient, and two expressions. Any vectors p no longer than 1 give a u and a lower bound of
 * the energy, so the distance of the two says how good both are.
 * Source: Chambolle, "An Algorithm for Total Variation Minimization and Applications", 2004.
 */
#include <cudacommon/cudacommon.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WEIGHT 0.4
#define NOISE 0.4
/* As much as the paper allows along three axes. */
#define STEP_WIDTH (1.0 / 12)
#define FLAGS CC_DERIVATIVE_IGNORE_SPACING
#define STREAM CC_STREAM_PER_THREAD

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const cc_status status_ = (call);                                                                              \
        if (status_ != CC_OK)                                                                                          \
            return status_;                                                                                            \
    } while (0)

typedef struct denoiser {
    cc_image *clean; /* what the noise was added to */
    cc_image *f;     /* with noise */
    cc_image *u;     /* without */
    cc_image *p;     /* vectors */
    cc_image *g;     /* vectors, of a step */
    cc_image *d;     /* numbers, of a step */
} denoiser;

static cc_status create(int32_t components, int64_t width, cc_image **out_image)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    params.dimension = 3;
    params.pixel_type = CC_PIXEL_FLOAT32;
    params.components = components;
    params.region = (cc_region){.size = {width, width, width}};
    return cc_image_create(&params, out_image);
}

static cc_status create_denoiser(int64_t width, denoiser *self)
{
    TRY(create(1, width, &self->clean));
    TRY(create(1, width, &self->f));
    TRY(create(1, width, &self->u));
    TRY(create(3, width, &self->p));
    TRY(create(3, width, &self->g));
    return create(1, width, &self->d);
}

static void release_denoiser(const denoiser *self)
{
    cc_image_release(self->clean);
    cc_image_release(self->f);
    cc_image_release(self->u);
    cc_image_release(self->p);
    cc_image_release(self->g);
    cc_image_release(self->d);
}

/* p = (p + w g) / (1 + w |g|), where g is the gradient of div(p) - f / weight. */
static cc_status step(const denoiser *self)
{
    static const cc_step distance[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)),
                                       CC_STEP2(CC_STEP_MULTIPLY_ADD, CC_TAKE_VALUE(-1 / WEIGHT), CC_TAKE_IMAGE(1))};
    static const cc_step project[] = {
        CC_STEP1(CC_STEP_LOAD, CC_TAKE_MAGNITUDE(0)),
        CC_STEP2(CC_STEP_MULTIPLY_ADD, CC_TAKE_VALUE(STEP_WIDTH), CC_TAKE_VALUE(1)), /* 1: 1 + w |g| */
        CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)),
        CC_STEP2(CC_STEP_MULTIPLY_ADD, CC_TAKE_VALUE(STEP_WIDTH), CC_TAKE_IMAGE(1)),
        CC_STEP1(CC_STEP_DIVIDE, CC_TAKE_STEP(1))};
    cc_image *const of_distance[] = {self->f, self->d}, *const of_project[] = {self->g, self->p};
    TRY(cc_image_divergence(self->p, CC_DIFFERENCE_BACKWARD, FLAGS, self->d, STREAM));
    TRY(cc_image_evaluate(distance, 2, of_distance, 2, self->d, STREAM));
    TRY(cc_image_gradient(self->d, CC_DIFFERENCE_FORWARD, FLAGS, self->g, STREAM));
    return cc_image_evaluate(project, 5, of_project, 2, self->p, STREAM);
}

/* u = f - weight div(p) */
static cc_status finish(const denoiser *self)
{
    TRY(cc_image_divergence(self->p, CC_DIFFERENCE_BACKWARD, FLAGS, self->d, STREAM));
    TRY(cc_image_cast(self->f, self->u, STREAM));
    return cc_image_axpy(-WEIGHT, self->d, self->u, STREAM);
}

/* Of u: total variation, and the distance from f. Overwrites g and d. */
static cc_status measure_energy(const denoiser *self, cc_image *u, double *out_energy)
{
    double variation = 0, distance = 0;
    TRY(cc_image_gradient(u, CC_DIFFERENCE_FORWARD, FLAGS, self->g, STREAM));
    TRY(cc_image_magnitude(self->g, self->d, STREAM));
    TRY(cc_image_measure(CC_REDUCE_SUM, self->d, NULL, STREAM, &variation));
    TRY(cc_image_subtract(u, self->f, self->d, STREAM));
    TRY(cc_image_measure(CC_REDUCE_NORM, self->d, NULL, STREAM, &distance));
    *out_energy = variation + distance * distance / (2 * WEIGHT);
    return CC_OK;
}

/* No u has less: f . div(p) - weight / 2 |div(p)|^2. Overwrites d. */
static cc_status measure_bound(const denoiser *self, double *out_bound)
{
    double product = 0, norm = 0;
    TRY(cc_image_divergence(self->p, CC_DIFFERENCE_BACKWARD, FLAGS, self->d, STREAM));
    TRY(cc_image_measure(CC_REDUCE_DOT, self->f, self->d, STREAM, &product));
    TRY(cc_image_measure(CC_REDUCE_NORM, self->d, NULL, STREAM, &norm));
    *out_bound = product - WEIGHT / 2 * norm * norm;
    return CC_OK;
}

/* The root of the mean square of the difference from the clean volume. Overwrites d. */
static cc_status measure_error(const denoiser *self, cc_image *image, double *out_error)
{
    const double pixels = (double)cc_image_get_size_bytes(image) / sizeof(float);
    double norm = 0;
    TRY(cc_image_subtract(image, self->clean, self->d, STREAM));
    TRY(cc_image_measure(CC_REDUCE_NORM, self->d, NULL, STREAM, &norm));
    *out_error = norm / sqrt(pixels);
    return CC_OK;
}

/* A box and a ball. The noise is the same each time: evenly from -NOISE to NOISE. */
static cc_status write_volumes(const denoiser *self, int64_t width)
{
    void *clean, *noisy;
    uint32_t random = 12345;
    TRY(cc_image_map_host(self->clean, NULL, CC_ACCESS_WRITE, &clean));
    TRY(cc_image_map_host(self->f, NULL, CC_ACCESS_WRITE, &noisy));
    for (int64_t n = 0; n < width * width * width; n++) {
        const double i = (double)(n % width) / (double)width, j = (double)(n / width % width) / (double)width,
                     k = (double)(n / width / width) / (double)width;
        const double value = (i > 0.2 && i < 0.8 && j > 0.3 && j < 0.7 && k > 0.25 && k < 0.75 ? 1 : 0) +
                             (hypot(hypot(i - 0.5, j - 0.5), k - 0.5) < 0.2 ? 1 : 0);
        random = random * 1664525u + 1013904223u;
        ((float *)clean)[n] = (float)value;
        ((float *)noisy)[n] = (float)(value + NOISE * ((double)random / 2147483648.0 - 1));
    }
    TRY(cc_image_unmap_host(self->f, noisy));
    return cc_image_unmap_host(self->clean, clean);
}

/* *out_is_good: the energy is within two hundredths of the least there is, and half of the noise is gone. */
static cc_status run(denoiser *self, int64_t width, int steps, int *out_is_good)
{
    double energy = 0, bound = 0, error_before = 0, error = 0;
    TRY(create_denoiser(width, self));
    TRY(write_volumes(self, width));
    TRY(measure_error(self, self->f, &error_before));
    for (int n = 0; n < steps; n++)
        TRY(step(self));
    TRY(finish(self));
    TRY(measure_energy(self, self->u, &energy));
    TRY(measure_bound(self, &bound));
    TRY(measure_error(self, self->u, &error));
    printf("device \"%s\": energy %.6g, at least %.6g is needed; noise %.3f before, %.3f after\n",
           cc_device_backend_name(), energy, bound, error_before, error);
    *out_is_good = energy >= bound * (1 - 1e-6) && energy <= 1.02 * bound && error < error_before / 2;
    return CC_OK;
}

int main(int argument_count, char **arguments)
{
    const int64_t width = argument_count > 1 ? atol(arguments[1]) : 128;
    const int steps = argument_count > 2 ? atoi(arguments[2]) : 300;
    denoiser self = {0};
    int is_good = 0;
    if (width < 2 || width > 2048 || steps < 1) {
        fprintf(stderr, "usage: denoise [WIDTH [STEPS]]\n");
        return 1;
    }
    const cc_status status = run(&self, width, steps, &is_good);
    if (status != CC_OK)
        fprintf(stderr, "denoise: %s: %s\n", cc_status_name(status), cc_last_error_message());
    release_denoiser(&self);
    return status == CC_OK && is_good ? 0 : 1;
}
