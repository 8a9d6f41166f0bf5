/* The operations on pixels that are on the host and nowhere else, as parts of what its memory can do. */
#include "bench.h"
#include "content.h"

#include <math.h>
#include <string.h>

#define SCALE 0.75
#define SHIFT 3.0
#define SIDE 512
#define CHECKED 64

typedef struct work {
    bench *b;
    cc_image *x;
    cc_image *y;
    cc_image *z;
    cc_region region;
} work;

static int64_t slices_of(const bench *b, size_t pixel_bytes)
{
    return (int64_t)((b->quick ? 16 * MIB : GIB) / ((size_t)SIDE * SIDE) / pixel_bytes);
}

static cc_image *create(int64_t slices, cc_pixel_type type)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *image = NULL;
    params.dimension = 3;
    params.pixel_type = type;
    params.flags = CC_IMAGE_UNINITIALIZED;
    params.region = (cc_region){.size = {SIDE, SIDE, slices}};
    CC(cc_image_create(&params, &image));
    return image;
}

/* On the host alone, every page there. */
static cc_image *create_written(bench *b, int64_t slices, cc_pixel_type type)
{
    cc_image *image = create(slices, type);
    const int64_t bytes = (int64_t)cc_image_get_size_bytes(image);
    void *pixels = NULL;
    const uint32_t seed = bench_next_seed(b);
    CC(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    content_write(pixels, bytes / (int64_t)sizeof(float), seed, b->core_count);
    if (type != CC_PIXEL_FLOAT32) {
        /* The bits of floats from 0 to 1 would leave half of the bytes alike. */
        uint32_t *bits = pixels;
        for (int64_t i = 0; i < bytes / 4; ++i)
            bits[i] = bits[i] * UINT32_C(0x9E3779B1) ^ bits[i] >> 11;
    }
    CC(cc_image_unmap_host(image, pixels));
    return image;
}

static double element(const void *pixels, cc_pixel_type type, int64_t n)
{
    if (type == CC_PIXEL_FLOAT32)
        return (double)((const float *)pixels)[n];
    return type == CC_PIXEL_UINT16 ? ((const uint16_t *)pixels)[n] : ((const uint8_t *)pixels)[n];
}

/* As operations.h has it, for finite values: in float64, rounded half to even and clamped for integers. */
static double stored(double value, cc_pixel_type type)
{
    if (type == CC_PIXEL_FLOAT32)
        return (double)(float)value;
    return fmin(fmax(nearbyint(value), 0), 255);
}

typedef double (*formula)(double x, double y);

/* Pixels all over the image. */
static void check(const work *w, const char *name, formula expected)
{
    const void *x = NULL, *y = NULL, *z = NULL;
    const cc_pixel_type from = cc_image_get_pixel_type(w->x), to = cc_image_get_pixel_type(w->z);
    const int64_t count = (int64_t)(cc_image_get_size_bytes(w->z) / cc_pixel_type_size_bytes(to));
    CC(cc_image_map_host(w->x, NULL, CC_ACCESS_READ, (void **)&x));
    CC(cc_image_map_host(w->y, NULL, CC_ACCESS_READ, (void **)&y));
    CC(cc_image_map_host(w->z, NULL, CC_ACCESS_READ, (void **)&z));
    for (int64_t i = 0; i < CHECKED; ++i) {
        const int64_t n = (count - 1) / (CHECKED - 1) * i;
        const double found = element(z, to, n);
        const double right = stored(expected(element(x, from, n), element(y, from, n)), to);
        if (found != right)
            bench_fail("%s: pixel %lld is %.9g, expected %.9g", name, (long long)n, found, right);
    }
    CC(cc_image_unmap_host(w->z, (void *)z));
    CC(cc_image_unmap_host(w->y, (void *)y));
    CC(cc_image_unmap_host(w->x, (void *)x));
}

static double rescale(void *context)
{
    const work *w = context;
    const double begin = clock_seconds();
    CC(cc_image_rescale(w->x, SCALE, SHIFT, w->z, NULL));
    return clock_seconds() - begin;
}

static double cast(void *context)
{
    const work *w = context;
    const double begin = clock_seconds();
    CC(cc_image_cast(w->x, w->z, NULL));
    return clock_seconds() - begin;
}

static double add(void *context)
{
    const work *w = context;
    const double begin = clock_seconds();
    CC(cc_image_add(w->x, w->y, w->z, NULL));
    return clock_seconds() - begin;
}

static double add_new(void *context)
{
    const work *w = context;
    const double begin = clock_seconds();
    cc_image *made = create(slices_of(w->b, sizeof(float)), CC_PIXEL_FLOAT32);
    CC(cc_image_add(w->x, w->y, made, NULL));
    const double seconds = clock_seconds() - begin;
    cc_image_release(made);
    return seconds;
}

static double multiply_value(void *context)
{
    const work *w = context;
    const double begin = clock_seconds();
    CC(cc_image_multiply_value(w->x, SCALE, w->z, NULL));
    return clock_seconds() - begin;
}

static double axpy(void *context)
{
    const work *w = context;
    const double begin = clock_seconds();
    CC(cc_image_axpy(1e-3, w->x, w->z, NULL));
    return clock_seconds() - begin;
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
    const work *w = context;
    cc_image *const inputs[] = {w->x, w->y};
    const double begin = clock_seconds();
    CC(cc_image_evaluate(steps, sizeof steps / sizeof *steps, inputs, 2, w->z, NULL));
    return clock_seconds() - begin;
}

/* Of all but the first slice: a whole image would only keep the value. */
static double fill(void *context)
{
    const float value = 42.3F;
    const work *w = context;
    const double begin = clock_seconds();
    CC(cc_image_fill(w->z, &w->region, &value, NULL));
    return clock_seconds() - begin;
}

static double crop(void *context)
{
    const work *w = context;
    const double begin = clock_seconds();
    CC(cc_image_crop(w->x, &w->region, w->z, NULL));
    return clock_seconds() - begin;
}

static double flip_rows(void *context)
{
    const work *w = context;
    const double begin = clock_seconds();
    CC(cc_image_flip(w->x, 1, w->z, NULL));
    return clock_seconds() - begin;
}

static double flip_slices(void *context)
{
    const work *w = context;
    const double begin = clock_seconds();
    CC(cc_image_flip(w->x, 4, w->z, NULL));
    return clock_seconds() - begin;
}

static double x_plus_y(double x, double y)
{
    return x + y;
}

static double x_alone(double x, double y)
{
    (void)y;
    return x;
}

static double x_scaled(double x, double y)
{
    (void)y;
    return x * SCALE;
}

static double x_rescaled(double x, double y)
{
    (void)y;
    return x * SCALE + SHIFT;
}

static double x_y_clamped(double x, double y)
{
    return fmin(fmax(sqrt(x * x + y * y), 0.25), 0.75);
}

static double value_of_fill(double x, double y)
{
    (void)x, (void)y;
    return (double)42.3F;
}

/* x and y of one type, z of another, all with as many pixels; the work reads `reads` of x and y and writes z. */
static void measure_work(work *w, const char *name, cc_pixel_type from, cc_pixel_type to, int32_t reads,
                         double (*run)(void *context), formula expected)
{
    bench *b = w->b;
    const size_t from_bytes = cc_pixel_type_size_bytes(from), to_bytes = cc_pixel_type_size_bytes(to);
    const int64_t slices = slices_of(b, from_bytes > to_bytes ? from_bytes : to_bytes);
    w->x = create_written(b, slices, from);
    w->y = create_written(b, slices, from);
    w->z = create_written(b, slices, to);
    const double bytes = (double)reads * (double)cc_image_get_size_bytes(w->x) + (double)cc_image_get_size_bytes(w->z);
    bench_measure(b, name, bytes, 1, 7, run, w);
    if (expected != NULL)
        check(w, name, expected);
    cc_image_release(w->z);
    cc_image_release(w->y);
    cc_image_release(w->x);
}

static void measure_fill(work *w, const char *name)
{
    bench *b = w->b;
    const int64_t slices = slices_of(b, sizeof(float));
    w->z = create_written(b, slices, CC_PIXEL_FLOAT32);
    w->region = (cc_region){.index = {0, 0, 1}, .size = {SIDE, SIDE, slices - 1}};
    bench_measure(b, name, (double)cc_image_get_size_bytes(w->z) * (double)(slices - 1) / (double)slices, 1, 7, fill,
                  w);
    const void *pixel = NULL;
    const cc_region last = {.index = {SIDE - 1, SIDE - 1, slices - 1}, .size = {1, 1, 1}};
    CC(cc_image_map_host(w->z, &last, CC_ACCESS_READ, (void **)&pixel));
    const double found = element(pixel, CC_PIXEL_FLOAT32, 0);
    CC(cc_image_unmap_host(w->z, (void *)pixel));
    if (found != value_of_fill(0, 0))
        bench_fail("%s: the last pixel is %.9g", name, found);
    cc_image_release(w->z);
}

/* Without a border of 32 pixels along rows and columns. */
static void measure_crop(work *w, const char *name)
{
    bench *b = w->b;
    const int64_t slices = slices_of(b, sizeof(float)), border = 32;
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    w->x = create_written(b, slices, CC_PIXEL_FLOAT32);
    w->region = (cc_region){.index = {border, border, 0}, .size = {SIDE - 2 * border, SIDE - 2 * border, slices}};
    params.dimension = 3;
    params.pixel_type = CC_PIXEL_FLOAT32;
    params.region = w->region;
    CC(cc_image_create(&params, &w->z));
    void *pixels = NULL;
    CC(cc_image_map_host(w->z, NULL, CC_ACCESS_READ_WRITE, &pixels));
    CC(cc_image_unmap_host(w->z, pixels));
    bench_measure(b, name, 2.0 * (double)cc_image_get_size_bytes(w->z), 1, 7, crop, w);
    cc_image_release(w->z);
    cc_image_release(w->x);
}

void library_cpu(bench *b)
{
    static const cc_pixel_type f32 = CC_PIXEL_FLOAT32, u16 = CC_PIXEL_UINT16, u8 = CC_PIXEL_UINT8;
    work w = {.b = b};
    measure_work(&w, "library.cpu.add.f32", f32, f32, 2, add, x_plus_y);
    measure_work(&w, "library.cpu.multiply_value.f32", f32, f32, 1, multiply_value, x_scaled);
    measure_work(&w, "library.cpu.axpy.f32", f32, f32, 2, axpy, NULL);
    measure_work(&w, "library.cpu.fused.f32", f32, f32, 2, fused, x_y_clamped);
    measure_work(&w, "library.cpu.rescale.f32_f32", f32, f32, 1, rescale, x_rescaled);
    measure_work(&w, "library.cpu.rescale.u16_f32", u16, f32, 1, rescale, x_rescaled);
    measure_work(&w, "library.cpu.rescale.u8_u8", u8, u8, 1, rescale, x_rescaled);
    measure_work(&w, "library.cpu.cast.u16_f32", u16, f32, 1, cast, x_alone);
    measure_work(&w, "library.cpu.cast.f32_u8", f32, u8, 1, cast, x_alone);
    measure_work(&w, "library.cpu.copy.f32", f32, f32, 1, cast, x_alone);
    measure_work(&w, "library.cpu.flip.i", f32, f32, 1, flip_rows, NULL);
    measure_work(&w, "library.cpu.flip.k", f32, f32, 1, flip_slices, NULL);
    measure_work(&w, "library.cpu.add.u8", u8, u8, 2, add, x_plus_y);
    measure_work(&w, "library.cpu.add_new.f32", f32, f32, 2, add_new, NULL);
    measure_crop(&w, "library.cpu.crop.f32");
    measure_fill(&w, "library.cpu.fill.f32");
}
