/*
 * conjugate_gradient [WIDTH [TOLERANCE]]: solves x - 10 * laplacian(x) = b for a volume of WIDTH^3 floats, where the
 * pixels are and with no kernel of its own, and compares x with what b was made from.
 *
 * A step is three reductions and four expressions. Its numbers stay on the device, in images of one pixel; the host
 * looks at one of them every tenth step. Source: Hestenes and Stiefel, "Methods of Conjugate Gradients", 1952.
 */
#include <cudacommon/cudacommon.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WEIGHT 10.0
#define MOST_STEPS 1000
#define STEPS_AT_ONCE 10
#define STREAM CC_STREAM_PER_THREAD

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const cc_status status_ = (call);                                                                              \
        if (status_ != CC_OK)                                                                                          \
            return status_;                                                                                            \
    } while (0)

typedef struct solver {
    cc_image *x;       /* the solution */
    cc_image *r;       /* what is missing: b - A x */
    cc_image *p;       /* the direction of the step */
    cc_image *ap;      /* A p */
    cc_image *rr;      /* r . r, one pixel, as all that follow */
    cc_image *next_rr; /* the same after the step */
    cc_image *pap;     /* p . A p */
    cc_image *ratio;   /* of two of them */
} solver;

static cc_status create(cc_pixel_type type, int64_t width, cc_image **out_image)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    params.dimension = 3;
    params.pixel_type = (int32_t)type;
    params.region = (cc_region){.size = {width, width, width}};
    return cc_image_create(&params, out_image);
}

static cc_status create_solver(int64_t width, solver *self)
{
    TRY(create(CC_PIXEL_FLOAT32, width, &self->x));
    TRY(create(CC_PIXEL_FLOAT32, width, &self->r));
    TRY(create(CC_PIXEL_FLOAT32, width, &self->p));
    TRY(create(CC_PIXEL_FLOAT32, width, &self->ap));
    TRY(create(CC_PIXEL_FLOAT64, 1, &self->rr));
    TRY(create(CC_PIXEL_FLOAT64, 1, &self->next_rr));
    TRY(create(CC_PIXEL_FLOAT64, 1, &self->pap));
    return create(CC_PIXEL_FLOAT64, 1, &self->ratio);
}

static void release_solver(const solver *self)
{
    cc_image_release(self->x);
    cc_image_release(self->r);
    cc_image_release(self->p);
    cc_image_release(self->ap);
    cc_image_release(self->rr);
    cc_image_release(self->next_rr);
    cc_image_release(self->pap);
    cc_image_release(self->ratio);
}

/* output = input - WEIGHT * laplacian(input). With nothing crossing the border this is symmetric, and so positive. */
static cc_status apply(cc_image *input, cc_image *output)
{
    static const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(1)),
                                    CC_STEP2(CC_STEP_MULTIPLY_ADD, CC_TAKE_VALUE(-WEIGHT), CC_TAKE_IMAGE(0))};
    cc_image *const inputs[] = {input, output};
    TRY(cc_image_laplacian(input, 0, output, STREAM));
    return cc_image_evaluate(steps, 2, inputs, 2, output, STREAM);
}

/* output = a * number + b, where the number is an image of one pixel. */
static cc_status add_scaled(cc_image *a, cc_image *number, cc_image *b, cc_image *output)
{
    static const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)),
                                    CC_STEP2(CC_STEP_MULTIPLY_ADD, CC_TAKE_IMAGE(1), CC_TAKE_IMAGE(2))};
    cc_image *const inputs[] = {a, number, b};
    return cc_image_evaluate(steps, 2, inputs, 3, output, STREAM);
}

/* output = b - a * number */
static cc_status subtract_scaled(cc_image *a, cc_image *number, cc_image *b, cc_image *output)
{
    static const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)), CC_STEP0(CC_STEP_NEGATE),
                                    CC_STEP2(CC_STEP_MULTIPLY_ADD, CC_TAKE_IMAGE(1), CC_TAKE_IMAGE(2))};
    cc_image *const inputs[] = {a, number, b};
    return cc_image_evaluate(steps, 3, inputs, 3, output, STREAM);
}

/* x is 0, so b is what is missing. */
static cc_status begin(solver *self, cc_image *b)
{
    TRY(cc_image_cast(b, self->r, STREAM));
    TRY(cc_image_cast(b, self->p, STREAM));
    return cc_image_reduce(CC_REDUCE_DOT, self->r, self->r, self->rr, STREAM);
}

static cc_status step(solver *self)
{
    TRY(apply(self->p, self->ap));
    TRY(cc_image_reduce(CC_REDUCE_DOT, self->p, self->ap, self->pap, STREAM));
    TRY(cc_image_divide(self->rr, self->pap, self->ratio, STREAM));
    TRY(add_scaled(self->p, self->ratio, self->x, self->x));
    TRY(subtract_scaled(self->ap, self->ratio, self->r, self->r));
    TRY(cc_image_reduce(CC_REDUCE_DOT, self->r, self->r, self->next_rr, STREAM));
    TRY(cc_image_divide(self->next_rr, self->rr, self->ratio, STREAM));
    TRY(add_scaled(self->p, self->ratio, self->r, self->p));

    cc_image *const before = self->rr;
    self->rr = self->next_rr;
    self->next_rr = before;
    return CC_OK;
}

/* Until the norm of what is missing is `tolerance` of that of b. */
static cc_status solve(solver *self, cc_image *b, double tolerance, int *out_steps, double *out_missing)
{
    double squared_norm = 0, squared = 0;
    TRY(begin(self, b));
    TRY(cc_image_measure(CC_REDUCE_SUM, self->rr, NULL, STREAM, &squared_norm));
    *out_steps = 0;
    do {
        for (int n = 0; n < STEPS_AT_ONCE; n++)
            TRY(step(self));
        *out_steps += STEPS_AT_ONCE;
        TRY(cc_image_measure(CC_REDUCE_SUM, self->rr, NULL, STREAM, &squared));
        *out_missing = sqrt(squared / squared_norm);
    } while (*out_missing > tolerance && *out_steps < MOST_STEPS);
    return CC_OK;
}

/* Smooth hills, and a sharp box in the middle. */
static float wanted(int64_t i, int64_t j, int64_t k, int64_t width)
{
    const double hills = sin(0.2 * (double)i) * cos(0.15 * (double)j) + sin(0.1 * (double)(i + k));
    const int64_t low = width / 4, high = 3 * width / 4;
    const int is_inside = i >= low && i < high && j >= low && j < high && k >= low && k < high;
    return (float)(hills + (is_inside ? 2 : 0));
}

static int64_t nearest(int64_t index, int64_t width)
{
    return index < 0 ? 0 : index >= width ? width - 1 : index;
}

/* A x by hand, in double, so that the example does not ask the library whether the library is right. */
static cc_status write_right_side(cc_image *b, int64_t width)
{
    static const int sides[6][3] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
    void *pixels;
    TRY(cc_image_map_host(b, NULL, CC_ACCESS_WRITE, &pixels));
    for (int64_t n = 0; n < width * width * width; n++) {
        const int64_t i = n % width, j = n / width % width, k = n / width / width;
        const double here = wanted(i, j, k, width);
        double laplacian = 0;
        for (int side = 0; side < 6; side++)
            laplacian += wanted(nearest(i + sides[side][0], width), nearest(j + sides[side][1], width),
                                nearest(k + sides[side][2], width), width) -
                         here;
        ((float *)pixels)[n] = (float)(here - WEIGHT * laplacian);
    }
    return cc_image_unmap_host(b, pixels);
}

static cc_status find_error(cc_image *x, int64_t width, double *out_greatest)
{
    void *pixels;
    *out_greatest = 0;
    TRY(cc_image_map_host(x, NULL, CC_ACCESS_READ, &pixels));
    for (int64_t n = 0; n < width * width * width; n++) {
        const double error =
            ((const float *)pixels)[n] - (double)wanted(n % width, n / width % width, n / width / width, width);
        *out_greatest = fmax(*out_greatest, fabs(error));
    }
    return cc_image_unmap_host(x, pixels);
}

static cc_status run(solver *self, cc_image **b, int64_t width, double tolerance, double *out_error)
{
    double missing = 0;
    int steps = 0;
    TRY(create_solver(width, self));
    TRY(create(CC_PIXEL_FLOAT32, width, b));
    TRY(write_right_side(*b, width));
    TRY(solve(self, *b, tolerance, &steps, &missing));
    TRY(find_error(self->x, width, out_error));
    printf("device \"%s\": %d steps, %.1e of the right side is missing, greatest error %.1e\n",
           cc_device_backend_name(), steps, missing, *out_error);
    return CC_OK;
}

int main(int argument_count, char **arguments)
{
    const int64_t width = argument_count > 1 ? atol(arguments[1]) : 128;
    const double tolerance = argument_count > 2 ? atof(arguments[2]) : 1e-6;
    solver self = {0};
    cc_image *b = NULL;
    double error = 0;
    if (width < 2 || width > 2048 || !(tolerance > 0)) {
        fprintf(stderr, "usage: conjugate_gradient [WIDTH [TOLERANCE]]\n");
        return 1;
    }
    const cc_status status = run(&self, &b, width, tolerance, &error);
    if (status != CC_OK)
        fprintf(stderr, "conjugate_gradient: %s: %s\n", cc_status_name(status), cc_last_error_message());
    cc_image_release(b);
    release_solver(&self);
    /* The least eigenvalue of A is 1, so the error is not much larger than what is missing. */
    return status == CC_OK && error <= 1000 * tolerance ? 0 : 1;
}
