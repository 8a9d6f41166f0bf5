#include "ops/smooth.h"

#include "backend/backend.h"
#include "base/components.h"
#include "base/error.h"
#include "base/line_filter.h"
#include "ops/expression.h"
#include "ops/lent_images.h"
#include "ops/line_pass.h"
#include "ops/scratch.h"

#include <cudacommon/smoothing.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Less than this would keep a GPU waiting for the next launch. */
#define LEAST_SLICES 16

/* Small enough that what one pass leaves is still in the cache of a large GPU for the next. */
int64_t cc__smooth_scratch_bytes = INT64_C(64) << 20;

_Static_assert(CC_GAUSSIAN_MAX_RADIUS == CC__LINE_RADIUS, "what the header promises is what the kernels can do");

/*
 * The passes along the axes, the last axis first. The first pass takes a slab of slices after the other, across its
 * axis, from the input into memory for slabs; the others go on there, and the last one of them writes the output. In
 * place a slab is written when the next one has been taken from the input, since that one needs the slices before it.
 */
typedef struct smoothing {
    cc_place place;
    cc_stream stream;
    cc__line_filter passes[CC_MAX_DIMENSION + 1]; /* all but spans, sizes, and which types */
    int32_t pass_count;
    bool in_place;
    cc_pixel_type input_type;
    cc_pixel_type output_type;
    cc_pixel_type number_type;
    int32_t components;
    int32_t reserved;
    int64_t size[CC_MAX_DIMENSION];
    cc__span input;
    cc__span output;
    int64_t slab; /* slices of a slab */
    int32_t slab_count;
    int64_t slab_bytes;
    unsigned char *scratch;
} smoothing;

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
        return fail_value(function, "params.unit", (double)out_params->unit, "a cc_sigma_unit");
    if (out_params->border < CC_BORDER_CONSTANT || out_params->border > CC_BORDER_PERIODIC)
        return fail_value(function, "params.border", (double)out_params->border, "a cc_border");
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
    if (input->components != output->components)
        return cc__fail(CC_ERROR_SIZE, "%s: output has %d components, expected the input's %d", function,
                        output->components, input->components);
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        if (input->box.size[axis] != output->box.size[axis])
            return cc__fail(CC_ERROR_SIZE, "%s: output has size[%d] = %lld, expected the input's %lld", function, axis,
                            (long long)output->box.size[axis], (long long)input->box.size[axis]);
    if (cc__image_is_read_only(output))
        return cc__fail(CC_ERROR_READ_ONLY, "%s: the output's pixels were wrapped read-only", function);
    return CC_OK;
}

/* The sum of all weights is 1 as well as it can be. */
static void set_weights(cc__line_filter *pass, double sigma)
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
                           smoothing *all)
{
    cc__line_filter *pass = &all->passes[all->pass_count];
    const double radius = floor(params->truncate * sigma + 0.5);
    if (!(radius <= CC__LINE_RADIUS))
        return cc__fail(CC_ERROR_UNSUPPORTED,
                        "%s: params.sigma[%d] = %g is %g pixels and reaches %g, expected at most %d", function, axis,
                        params->sigma[axis], sigma, radius, CC__LINE_RADIUS);
    memset(pass, 0, sizeof *pass);
    pass->images.axis = axis;
    pass->radius = (int32_t)radius;
    pass->border = params->border;
    pass->border_value = params->border_value;
    pass->is_wide = all->number_type == CC_PIXEL_FLOAT64;
    set_weights(pass, sigma);
    all->pass_count++;
    return CC_OK;
}

static cc_pixel_type part_type(cc_pixel_type type)
{
    if (type == CC_PIXEL_COMPLEX64)
        return CC_PIXEL_FLOAT32;
    return type == CC_PIXEL_COMPLEX128 ? CC_PIXEL_FLOAT64 : type;
}

static cc_status plan_passes(const char *function, const cc_gaussian_params *params, const cc_image *input,
                             smoothing *all)
{
    cc_status status = CC_OK;
    const bool is_narrow = cc_pixel_type_size_bytes(all->input_type) <= 2 || all->input_type == CC_PIXEL_FLOAT32;
    all->number_type = is_narrow ? CC_PIXEL_FLOAT32 : CC_PIXEL_FLOAT64;
    for (int32_t axis = input->dimension - 1; axis >= 0 && status == CC_OK; axis--) {
        double sigma = params->sigma[axis];
        if (sigma > 0 && params->unit == CC_SIGMA_IN_MILLIMETRES)
            sigma /= input->geometry.spacing[axis];
        if (sigma > 0)
            status = plan_pass(function, params, axis, sigma, all);
    }
    /* What writes the output when the only pass must not. */
    if (status == CC_OK && all->pass_count == 1 && all->in_place)
        status = plan_pass(function, params, 0, 0.0, all);
    return status;
}

/* Slabs in memory of their own: two of the first pass in place, and one more when passes go between slabs. */
static void plan_slabs(smoothing *all)
{
    const cc__line_filter *first = &all->passes[0];
    const int64_t slices = all->size[first->images.axis];
    int64_t slice_bytes = (int64_t)cc_pixel_type_size_bytes(all->number_type) * all->components;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        slice_bytes *= axis == first->images.axis ? 1 : all->size[axis];
    all->slab = slices;
    if (all->pass_count == 1)
        return;
    all->slab_count = (all->in_place ? 2 : 1) + (all->pass_count > 2 ? 1 : 0);
    /* The last slices of a periodic axis need the first ones, which must not be written before. */
    if (!all->in_place || first->border != CC_BORDER_PERIODIC) {
        const int64_t least = 2 * (int64_t)first->radius > LEAST_SLICES ? 2 * (int64_t)first->radius : LEAST_SLICES;
        const int64_t fitting = cc__smooth_scratch_bytes / all->slab_count / slice_bytes;
        all->slab = fitting > least ? fitting : least;
        all->slab = all->slab < slices ? all->slab : slices;
    }
    if (all->in_place && all->slab == slices)
        all->slab_count--;
    all->slab_bytes = all->slab * slice_bytes;
}

static cc__span slab_at(const smoothing *all, int32_t slab, const int64_t size[CC_MAX_DIMENSION])
{
    cc__span span = {.data = all->scratch + (int64_t)slab * all->slab_bytes};
    int64_t stride = (int64_t)cc_pixel_type_size_bytes(all->number_type) * all->components;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        span.stride[axis] = stride;
        stride *= size[axis];
    }
    return span;
}

/* What one pass does for one slab. */
typedef struct stage {
    cc__span source;
    cc__span destination;
    cc_pixel_type source_type;
    cc_pixel_type destination_type;
} stage;

static cc_status run_pass(const smoothing *all, int32_t number, int64_t first, const int64_t size[CC_MAX_DIMENSION],
                          const stage *from_to)
{
    cc__line_filter pass = all->passes[number];
    const int32_t axis = pass.images.axis;
    pass.images.source = from_to->source;
    pass.images.destination = from_to->destination;
    pass.images.source_type = from_to->source_type;
    pass.images.destination_type = from_to->destination_type;
    pass.images.components = all->components;
    memcpy(pass.images.size, size, sizeof pass.images.size);
    pass.length = number == 0 ? all->size[axis] : size[axis];
    pass.first = number == 0 ? first : 0;
    if (all->place == CC_PLACE_HOST) {
        cc__line_pass.on_host(&pass);
        return CC_OK;
    }
    cc__backend *backend = cc__backend_get();
    return backend->run_kernel(backend, all->place, all->stream, &cc__line_pass, &pass);
}

static void set_slab_size(const smoothing *all, int64_t first, int64_t out_size[CC_MAX_DIMENSION])
{
    const int32_t axis = all->passes[0].images.axis;
    const int64_t left = all->size[axis] - first;
    memcpy(out_size, all->size, sizeof all->size);
    out_size[axis] = left < all->slab ? left : all->slab;
}

/* From the input into a slab. */
static cc_status take_slab(const smoothing *all, int64_t first, int32_t slab)
{
    int64_t size[CC_MAX_DIMENSION];
    set_slab_size(all, first, size);
    const stage taking = {all->input, slab_at(all, slab, size), all->input_type, all->number_type};
    return run_pass(all, 0, first, size, &taking);
}

/* The other passes, between the slab and the one for all, the last of them into the output. */
static cc_status finish_slab(const smoothing *all, int64_t first, int32_t slab)
{
    int64_t size[CC_MAX_DIMENSION];
    cc_status status = CC_OK;
    set_slab_size(all, first, size);
    const cc__span slabs[2] = {slab_at(all, slab, size), slab_at(all, all->slab_count - 1, size)};
    for (int32_t number = 1; number < all->pass_count && status == CC_OK; number++) {
        stage between = {slabs[(number + 1) % 2], slabs[number % 2], all->number_type, all->number_type};
        if (number == all->pass_count - 1) {
            const int32_t axis = all->passes[0].images.axis;
            between.destination = all->output;
            between.destination.data += first * all->output.stride[axis];
            between.destination_type = all->output_type;
        }
        status = run_pass(all, number, first, size, &between);
    }
    return status;
}

static cc_status run_smoothing(void *context)
{
    const smoothing *all = context;
    const int64_t slices = all->size[all->passes[0].images.axis];
    if (all->pass_count == 1) {
        const stage whole = {all->input, all->output, all->input_type, all->output_type};
        return run_pass(all, 0, 0, all->size, &whole);
    }
    const bool is_delayed = all->in_place && all->slab < slices;
    int32_t slab = 0;
    cc_status status = CC_OK;
    for (int64_t first = 0; first < slices && status == CC_OK; first += all->slab) {
        status = take_slab(all, first, slab);
        if (status == CC_OK && is_delayed) {
            if (first > 0)
                status = finish_slab(all, first - all->slab, 1 - slab);
            if (status == CC_OK && first + all->slab >= slices)
                status = finish_slab(all, first, slab);
            slab = 1 - slab;
        } else if (status == CC_OK) {
            status = finish_slab(all, first, slab);
        }
    }
    return status;
}

cc_status cc_image_smooth_gaussian(cc_image *input, const cc_gaussian_params *params, cc_image *output,
                                   cc_stream stream)
{
    static const char *const function = "cc_image_smooth_gaussian";
    static const cc_step cast = CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0));
    cc__lent_images images = {
        .function = function, .stream = stream, .inputs = {input}, .input_count = 1, .output = output};
    smoothing all = {.stream = stream};
    cc_gaussian_params known;
    void *scratch = NULL;
    cc_status status = check_images(function, input, output);
    if (status == CC_OK)
        status = read_params(function, params, &known);
    if (status != CC_OK)
        return status;
    all.in_place = input->manager == output->manager && cc__box_equal(&input->box, &output->box);
    all.input_type = part_type(input->pixel_type);
    all.output_type = part_type(output->pixel_type);
    all.components = input->components * (cc__is_complex(input->pixel_type) ? 2 : 1);
    memcpy(all.size, input->box.size, sizeof all.size);
    status = plan_passes(function, &known, input, &all);
    if (status != CC_OK || cc__box_is_empty(&output->box))
        return status;
    if (all.pass_count == 0)
        return cc__evaluate_images(function, &cast, 1, &input, 1, output, stream);
    plan_slabs(&all);
    status = cc__lend_images(&images);
    if (status != CC_OK)
        return status;
    all.place = images.place;
    all.input = cc__lent_input(&images, 0);
    all.output = cc__lent_output(&images);
    if (all.slab_count > 0)
        status = cc__scratch_allocate(function, all.place, stream, (size_t)(all.slab_count * all.slab_bytes), &scratch);
    all.scratch = scratch;
    if (status == CC_OK)
        status = cc__lent_images_commit(&images, run_smoothing, &all);
    cc__scratch_free(all.place, stream, scratch);
    cc__lent_images_end(&images);
    return status;
}
