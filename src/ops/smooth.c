#include "ops/smooth.h"

#include "base/components.h"
#include "base/error.h"
#include "base/smooth.h"
#include "kernels/launch.h"
#include "memory/crew.h"
#include "ops/expression.h"
#include "ops/fit.h"
#include "ops/lent_images.h"
#include "ops/scratch_pixels.h"

#include <cudacommon/smoothing.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

/* Products that a thread is worth starting for. */
#define PRODUCTS_EACH ((size_t)1 << 18)

/* Small enough that what one pass leaves is still in the cache of a large GPU for the next. */
int64_t cc__smooth_scratch_bytes = INT64_C(64) << 20;

_Static_assert(CC_GAUSSIAN_MAX_RADIUS == CC__LINE_RADIUS, "what the header promises is what the kernels can do");

typedef struct passing {
    const cc__line_filter *filter;
    cc__line_pieces pieces;
    _Atomic int64_t next;
} passing;

static void take_pieces(void *context)
{
    passing *all = context;
    for (;;) {
        const int64_t piece = atomic_fetch_add(&all->next, 1);
        if (piece >= all->pieces.count)
            return;
        cc__line_piece(all->filter, &all->pieces, piece);
    }
}

static void smooth_on_host(const void *work)
{
    for (int64_t step = 0; step < cc__smooth_steps(work); step++) {
        cc__line_filter filter;
        passing all = {.filter = &filter};
        cc__smooth_step(work, step, &filter);
        cc__line_pieces_plan(&filter, &all.pieces);
        const size_t pixels = (size_t)all.pieces.lines.count * (size_t)filter.images.size[filter.images.axis];
        cc__crew_run(cc__crew_size(pixels * (size_t)(filter.radius + 1), PRODUCTS_EACH, CC__CREW_MOST), take_pieces,
                     &all);
    }
}

static int32_t list_ranges(const void *argument, cc__kernel_range out_ranges[CC__KERNEL_RANGES])
{
    const cc__smooth *work = argument;
    const int32_t count = cc__line_images_ranges(&work->images, work->images.size[work->images.axis], out_ranges);
    if (work->slab_memories == 0)
        return count;
    out_ranges[count] = (cc__kernel_range){work->scratch, work->slab_memories * work->slab_bytes};
    return count + 1;
}

static const cc__kernel smooth_kernel = {"smooth", sizeof(cc__smooth), smooth_on_host, list_ranges,
                                         CC__LAUNCH(cc__launch_smooth)};

static cc_status fail_value(const char *function, const char *name, double value, const char *expected)
{
    return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = %g, expected %s", function, name, value, expected);
}

static cc_status read_params(const char *function, const cc_gaussian_params *params, cc_gaussian_params *out_params)
{
    static const char *const names[] = {"params.sigma[0]", "params.sigma[1]", "params.sigma[2]", "params.sigma[3]"};
    const cc_gaussian_params defaults = CC_GAUSSIAN_PARAMS_INIT;
    if (params == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params = NULL, expected a pointer", function);
    if (params->struct_size < sizeof params->struct_size)
        return fail_value(function, "params.struct_size", params->struct_size, "CC_GAUSSIAN_PARAMS_INIT");
    *out_params = defaults;
    memcpy(out_params, params, params->struct_size < sizeof *params ? params->struct_size : sizeof *params);
    if (out_params->unit != CC_SIGMA_IN_MILLIMETRES && out_params->unit != CC_SIGMA_IN_PIXELS)
        return fail_value(function, "params.unit", out_params->unit, "a cc_sigma_unit");
    if (out_params->border < CC_BORDER_CONSTANT || out_params->border > CC_BORDER_PERIODIC)
        return fail_value(function, "params.border", out_params->border, "a cc_border");
    if (!isfinite(out_params->truncate) || out_params->truncate <= 0)
        return fail_value(function, "params.truncate", out_params->truncate, "a finite value > 0");
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        if (!isfinite(out_params->sigma[axis]) || out_params->sigma[axis] < 0)
            return fail_value(function, names[axis], out_params->sigma[axis], "a finite value >= 0");
    return CC_OK;
}

static cc_status check_images(const char *function, const cc_image *input, const cc_image *output)
{
    if (input == NULL || output == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected an image", function,
                        input == NULL ? "input" : "output");
    if (cc__is_complex(input->pixel_type) != cc__is_complex(output->pixel_type))
        return cc__fail(CC_ERROR_PIXEL_TYPE, "%s: output has type %s, expected a %s one as the input's %s", function,
                        cc_pixel_type_name(output->pixel_type), cc__is_complex(input->pixel_type) ? "complex" : "real",
                        cc_pixel_type_name(input->pixel_type));
    const cc_status status = cc__fit_output(function, input, output);
    if (status == CC_OK && cc__image_is_read_only(output))
        return cc__fail(CC_ERROR_READ_ONLY, "%s: the output's pixels were wrapped read-only", function);
    return status;
}

/* The sum of all weights is 1 as well as it can be. */
static void set_weights(cc__smooth_pass *pass, double sigma)
{
    double sum = 0;
    for (int32_t d = pass->radius; d >= 0; d--) {
        pass->weight[d] = sigma > 0 ? exp(-0.5 * ((double)d / sigma) * ((double)d / sigma)) : 1.0;
        sum += d > 0 ? 2 * pass->weight[d] : pass->weight[d];
    }
    for (int32_t d = 0; d <= pass->radius; d++)
        pass->weight[d] /= sum;
}

static cc_status plan_pass(const char *function, const cc_gaussian_params *params, int32_t axis, double sigma,
                           cc__smooth *work)
{
    cc__smooth_pass *pass = &work->passes[work->pass_count];
    const double radius = floor(params->truncate * sigma + 0.5);
    if (!(radius <= CC__LINE_RADIUS))
        return cc__fail(CC_ERROR_UNSUPPORTED,
                        "%s: params.sigma[%d] = %g is %g pixels and reaches %g, expected at most %d", function, axis,
                        params->sigma[axis], sigma, radius, CC__LINE_RADIUS);
    pass->axis = axis;
    pass->radius = (int32_t)radius;
    set_weights(pass, sigma);
    work->pass_count++;
    return CC_OK;
}

static cc_pixel_type part_type(cc_pixel_type type)
{
    if (type == CC_PIXEL_COMPLEX64)
        return CC_PIXEL_FLOAT32;
    return type == CC_PIXEL_COMPLEX128 ? CC_PIXEL_FLOAT64 : type;
}

static cc_status plan_work(const char *function, const cc_gaussian_params *params, const cc_image *input,
                           const cc_image *output, cc__smooth *work)
{
    cc_status status = CC_OK;
    memset(work, 0, sizeof *work);
    work->images.source_type = part_type(input->pixel_type);
    work->images.destination_type = part_type(output->pixel_type);
    work->images.components = input->components * (cc__is_complex(input->pixel_type) ? 2 : 1);
    memcpy(work->images.size, input->box.size, sizeof work->images.size);
    work->in_place = input->manager == output->manager && cc__box_equal(&input->box, &output->box);
    work->is_wide =
        cc_pixel_type_size_bytes(work->images.source_type) > 2 && work->images.source_type != CC_PIXEL_FLOAT32;
    work->border = params->border;
    work->border_value = params->border_value;
    for (int32_t axis = input->dimension - 1; axis >= 0 && status == CC_OK; axis--) {
        double sigma = params->sigma[axis];
        if (sigma > 0 && params->unit == CC_SIGMA_IN_MILLIMETRES)
            sigma /= input->geometry.spacing[axis];
        if (sigma > 0)
            status = plan_pass(function, params, axis, sigma, work);
    }
    /* What writes the output when the only pass must not. */
    if (status == CC_OK && work->pass_count == 1 && work->in_place)
        status = plan_pass(function, params, 0, 0.0, work);
    return status;
}

cc_status cc_image_smooth_gaussian(cc_image *input, const cc_gaussian_params *params, cc_image *output,
                                   cc_stream stream)
{
    static const char *const function = "cc_image_smooth_gaussian";
    static const cc_step cast = CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0));
    cc__lent_images images = {
        .function = function, .stream = stream, .inputs = {input}, .input_count = 1, .output = output};
    cc__smooth work;
    cc_gaussian_params known;
    cc__place_memory scratch = {0};
    cc_status status = check_images(function, input, output);
    if (status == CC_OK)
        status = read_params(function, params, &known);
    if (status == CC_OK)
        status = plan_work(function, &known, input, output, &work);
    if (status != CC_OK || cc__box_is_empty(&output->box))
        return status;
    if (work.pass_count == 0)
        return cc__evaluate_images(function, &cast, 1, &input, 1, output, stream);
    cc__smooth_plan_slabs(&work, cc__smooth_scratch_bytes);
    status = cc__lend_images(&images);
    if (status != CC_OK)
        return status;
    work.images.source = cc__lent_input(&images, 0);
    work.images.destination = cc__lent_output(&images);
    if (work.slab_memories > 0)
        status = cc__scratch_pixels_allocate(
            &images, (const int64_t[CC_MAX_DIMENSION]){work.slab_memories * work.slab_bytes, 1, 1, 1}, CC_PIXEL_UINT8,
            1, &scratch);
    work.scratch = scratch.pixels;
    if (status == CC_OK)
        status = cc__lent_images_run(&images, &smooth_kernel, &work);
    cc__scratch_pixels_free(&images, &scratch);
    cc__lent_images_end(&images);
    return status;
}
