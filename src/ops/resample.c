#include "backend/backend.h"
#include "base/components.h"
#include "base/error.h"
#include "kernels/launch.h"
#include "kernels/number_types.h"
#include "ops/grid_map.h"
#include "ops/lent_images.h"
#include "ops/row_crew.h"

#include <math.h>
#include <string.h>

#define INTERPOLATIONS 3

/* What a pixel is worth to start a thread for, in bytes that could be copied meanwhile. */
#define PIXEL_COST 64

static int64_t pixel_bytes(cc_pixel_type type, int32_t components)
{
    return (int64_t)cc_pixel_type_size_bytes(type) * components;
}

static void resample_on_host(const void *work)
{
    const cc__resample *self = work;
    cc__row_crew_run(cc__resample_rows, work, cc__resample_row_count(self),
                     (size_t)self->size[0] * (size_t)self->components * PIXEL_COST);
}

static int32_t touch_resampled(const void *work, cc__kernel_range out_ranges[CC__KERNEL_RANGES])
{
    const cc__resample *self = work;
    out_ranges[0] =
        cc__kernel_range_of(&self->destination, self->size, pixel_bytes(self->destination_type, self->components));
    out_ranges[1] =
        cc__kernel_range_of(&self->source, self->source_size, pixel_bytes(self->source_type, self->components));
    if (self->field.data == NULL)
        return 2;
    out_ranges[2] = cc__kernel_range_of(&self->field, self->field_size, pixel_bytes(self->field_type, self->axes));
    return 3;
}

static const cc__kernel resample_kernel = {.name = "resample",
                                           .work_bytes = sizeof(cc__resample),
                                           .on_host = resample_on_host,
                                           .touches = touch_resampled,
                                           .launch = CC__LAUNCH(cc__launch_resample)};

static void find_coefficients_on_host(const void *work)
{
    const cc__bspline *self = work;
    cc__row_crew_run(cc__bspline_lines, work, cc__bspline_line_count(self),
                     (size_t)self->size[self->axis] * PIXEL_COST);
}

static int32_t touch_coefficients(const void *work, cc__kernel_range out_ranges[CC__KERNEL_RANGES])
{
    const cc__bspline *self = work;
    const cc_pixel_type type = self->in_float32 ? CC_PIXEL_FLOAT32 : CC_PIXEL_FLOAT64;
    out_ranges[0] = cc__kernel_range_of(&self->destination, self->size, pixel_bytes(type, self->components));
    out_ranges[1] = cc__kernel_range_of(&self->source, self->size, pixel_bytes(self->source_type, self->components));
    return 2;
}

static const cc__kernel bspline_kernel = {.name = "bspline",
                                          .work_bytes = sizeof(cc__bspline),
                                          .on_host = find_coefficients_on_host,
                                          .touches = touch_coefficients,
                                          .launch = CC__LAUNCH(cc__launch_bspline)};

static cc_status read_params(const char *function, const cc_resample_params *params, cc_resample_params *out)
{
    const cc_resample_params defaults = CC_RESAMPLE_PARAMS_INIT;
    *out = defaults;
    if (params == NULL)
        return CC_OK;
    if (params->struct_size < sizeof params->struct_size)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.struct_size = %u, expected CC_RESAMPLE_PARAMS_INIT",
                        function, (unsigned)params->struct_size);
    memcpy(out, params, params->struct_size < sizeof *out ? params->struct_size : sizeof *out);
    if (out->interpolation < 0 || out->interpolation >= INTERPOLATIONS)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.interpolation = %d, expected a cc_interpolation",
                        function, out->interpolation);
    return CC_OK;
}

static cc_status read_transform(const char *function, const cc_resample_params *params, int32_t axes,
                                cc__affine *out_transform)
{
    for (int32_t row = 0; row < axes; row++) {
        for (int32_t column = 0; column < axes; column++)
            if (!isfinite(params->matrix[row][column]))
                return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.matrix[%d][%d] = %g, expected a finite value",
                                function, row, column, params->matrix[row][column]);
        if (!isfinite(params->offset[row]))
            return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.offset[%d] = %g, expected a finite value", function,
                            row, params->offset[row]);
    }
    memcpy(out_transform->matrix, params->matrix, sizeof out_transform->matrix);
    memcpy(out_transform->offset, params->offset, sizeof out_transform->offset);
    return CC_OK;
}

static bool mixes_the_fourth_axis(const cc_image *image)
{
    for (int32_t axis = 0; axis < 3 && image->dimension == 4; axis++)
        if (image->geometry.direction[axis][3] != 0 || image->geometry.direction[3][axis] != 0)
            return true;
    return false;
}

/* What holds for each image that is sampled. */
static cc_status check_grid(const char *function, const char *name, const cc_image *image, const cc_image *output,
                            bool may_be_single)
{
    if (image->dimension != output->dimension)
        return cc__fail(CC_ERROR_SIZE, "%s: %s has dimension %d, expected the output's %d", function, name,
                        image->dimension, output->dimension);
    if (image->box.size[3] != output->box.size[3] && !(may_be_single && image->box.size[3] == 1))
        return cc__fail(CC_ERROR_SIZE, "%s: %s has size[3] = %lld, expected the output's %lld", function, name,
                        (long long)image->box.size[3], (long long)output->box.size[3]);
    if (cc__box_is_empty(&image->box))
        return cc__fail(CC_ERROR_SIZE, "%s: %s has no pixels", function, name);
    if (cc__is_complex(image->pixel_type))
        return cc__fail(CC_ERROR_PIXEL_TYPE, "%s: %s has type %s, expected a real type", function, name,
                        cc_pixel_type_name(image->pixel_type));
    if (mixes_the_fourth_axis(image))
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s has a direction that mixes the fourth axis with others",
                        function, name);
    if (image->manager == output->manager && cc__box_overlaps(&image->box, &output->box))
        return cc__fail(CC_ERROR_BUSY, "%s: output overlaps the %s, expected other pixels", function, name);
    return CC_OK;
}

static cc_status check_output(const char *function, const cc_image *input, const cc_image *output)
{
    if (cc__is_complex(output->pixel_type))
        return cc__fail(CC_ERROR_PIXEL_TYPE, "%s: output has type %s, expected a real type", function,
                        cc_pixel_type_name(output->pixel_type));
    if (output->components != input->components)
        return cc__fail(CC_ERROR_SIZE, "%s: output has %d components, expected the input's %d", function,
                        output->components, input->components);
    if (mixes_the_fourth_axis(output))
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: output has a direction that mixes the fourth axis with others",
                        function);
    if (cc__image_is_read_only(output))
        return cc__fail(CC_ERROR_READ_ONLY, "%s: the output's pixels were wrapped read-only", function);
    return CC_OK;
}

static bool is_short(const int64_t size[CC_MAX_DIMENSION])
{
    return size[0] < CC__RESAMPLE_MOST_FIXED && size[1] < CC__RESAMPLE_MOST_FIXED && size[2] < CC__RESAMPLE_MOST_FIXED;
}

/* All but where the pixels are. */
static cc_status plan_work(const char *function, const cc_resample_params *params, const cc_image *input,
                           const cc_image *field, const cc_image *output, cc__resample *work)
{
    const cc__affine nowhere = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0}};
    cc__affine transform;
    work->axes = output->dimension < 3 ? output->dimension : 3;
    cc_status status = read_transform(function, params, work->axes, &transform);
    if (status != CC_OK)
        return status;
    if (!cc__grid_map(output, input, &transform, work->axes, &work->map) ||
        (field != NULL && !(cc__grid_map(output, field, &nowhere, work->axes, &work->field_map) &&
                            cc__grid_pull(input, &transform, work->axes, work->pull))))
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: positions in the input are not finite", function);
    work->destination_type = output->pixel_type;
    work->source_type = input->pixel_type;
    work->interpolation = params->interpolation;
    work->components = output->components;
    work->outside = params->outside;
    work->is_fixed = is_short(input->box.size);
    work->in_float32 = work->is_fixed && cc__fits_float32(input->pixel_type) && cc__fits_float32(output->pixel_type);
    memcpy(work->size, output->box.size, sizeof work->size);
    memcpy(work->source_size, input->box.size, sizeof work->source_size);
    if (field != NULL) {
        work->field_type = field->pixel_type;
        work->in_float32 = work->in_float32 && cc__fits_float32(field->pixel_type) && is_short(field->box.size);
        memcpy(work->field_size, field->box.size, sizeof work->field_size);
    }
    return CC_OK;
}

/* Pixels that the library needs while it works. */
typedef struct scratch {
    cc_image *image;
    cc__mapping *mapping;
} scratch;

typedef struct resampling {
    const cc__lent_images *images;
    cc__resample work;
    cc__span input;
    cc_pixel_type input_type;
} resampling;

static cc_status run_kernel(const cc__lent_images *images, const cc__kernel *kernel, const void *work)
{
    if (images->place == CC_PLACE_HOST) {
        kernel->on_host(work);
        return CC_OK;
    }
    cc__backend *backend = cc__backend_get();
    return backend->run_kernel(backend, images->place, images->stream, kernel, work);
}

/* Axis after axis; those of one pixel change nothing, but the first one also brings the pixels over. */
static cc_status find_coefficients(const resampling *all)
{
    const cc__resample *work = &all->work;
    cc__bspline bspline = {.destination = work->source,
                           .source = all->input,
                           .source_type = all->input_type,
                           .in_float32 = work->in_float32,
                           .components = work->components};
    cc_status status = CC_OK;
    memcpy(bspline.size, work->source_size, sizeof bspline.size);
    for (int32_t axis = 0; axis < work->axes && status == CC_OK; axis++) {
        if (axis > 0 && bspline.size[axis] == 1)
            continue;
        bspline.axis = axis;
        status = run_kernel(all->images, &bspline_kernel, &bspline);
        bspline.source = bspline.destination;
        bspline.source_type = work->source_type;
    }
    return status;
}

static cc_status run(void *context)
{
    const resampling *all = context;
    cc_status status = CC_OK;
    if (all->work.interpolation == CC_INTERPOLATION_CUBIC_BSPLINE)
        status = find_coefficients(all);
    return status == CC_OK ? run_kernel(all->images, &resample_kernel, &all->work) : status;
}

/* An image like the others, so that it may take the place of such as are not in use. */
static cc_status make_scratch(const cc__lent_images *images, cc_pixel_type type, scratch *out)
{
    const cc_image *input = images->inputs[0];
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    params.dimension = CC_MAX_DIMENSION;
    params.pixel_type = (int32_t)type;
    params.components = input->components;
    params.flags = CC_IMAGE_UNINITIALIZED;
    memcpy(params.region.size, input->box.size, sizeof params.region.size);
    cc_status status = cc_image_create(&params, &out->image);
    if (status != CC_OK)
        return status;
    const cc__access_request request = {.function = images->function,
                                        .box = out->image->box,
                                        .place = images->place,
                                        .access = CC_ACCESS_WRITE,
                                        .stream = images->stream};
    return cc__data_manager_begin(out->image->manager, &request, &out->mapping);
}

static void end_scratch(const cc__lent_images *images, scratch *used)
{
    if (used->mapping != NULL)
        cc__data_manager_end(used->image->manager, used->mapping, images->output_mapping);
    cc_image_release(used->image);
}

static cc_status resample(const char *function, cc_image *input, cc_image *field,
                          const cc_resample_params *caller_params, cc_image *output, cc_stream stream)
{
    cc__lent_images images = {.function = function,
                              .stream = stream,
                              .inputs = {input, field},
                              .input_count = field != NULL ? 2 : 1,
                              .output = output};
    resampling all = {.images = &images};
    cc__resample *work = &all.work;
    scratch coefficients = {NULL, NULL};
    cc_resample_params params;
    cc_status status = read_params(function, caller_params, &params);
    if (status == CC_OK)
        status = check_output(function, input, output);
    if (status != CC_OK || cc__box_is_empty(&output->box))
        return status;
    status = check_grid(function, "input", input, output, false);
    if (status == CC_OK && field != NULL)
        status = check_grid(function, "displacement", field, output, true);
    if (status == CC_OK)
        status = plan_work(function, &params, input, field, output, work);
    if (status == CC_OK && field != NULL && field->components != work->axes)
        status = cc__fail(CC_ERROR_SIZE, "%s: displacement has %d components, expected %d", function, field->components,
                          work->axes);
    if (status == CC_OK)
        status = cc__lend_images(&images);
    if (status != CC_OK)
        return status;

    work->destination = cc__lent_output(&images);
    work->source = cc__lent_input(&images, 0);
    if (field != NULL)
        work->field = cc__lent_input(&images, 1);
    if (params.interpolation == CC_INTERPOLATION_CUBIC_BSPLINE) {
        all.input = work->source;
        all.input_type = work->source_type;
        work->source_type = work->in_float32 ? CC_PIXEL_FLOAT32 : CC_PIXEL_FLOAT64;
        status = make_scratch(&images, work->source_type, &coefficients);
        if (status == CC_OK)
            work->source = cc__data_manager_span(coefficients.image->manager, coefficients.mapping);
    }
    if (status == CC_OK)
        status = cc__lent_images_commit(&images, run, &all);
    end_scratch(&images, &coefficients);
    cc__lent_images_end(&images);
    return status;
}

static cc_status check_images(const char *function, const cc_image *input, const cc_image *output)
{
    if (input == NULL || output == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected an image", function,
                        input == NULL ? "input" : "output");
    return CC_OK;
}

cc_status cc_image_resample(cc_image *input, const cc_resample_params *params, cc_image *output, cc_stream stream)
{
    static const char *const function = "cc_image_resample";
    const cc_status status = check_images(function, input, output);
    return status == CC_OK ? resample(function, input, NULL, params, output, stream) : status;
}

cc_status cc_image_warp(cc_image *input, cc_image *displacement, const cc_resample_params *params, cc_image *output,
                        cc_stream stream)
{
    static const char *const function = "cc_image_warp";
    const cc_status status = check_images(function, input, output);
    if (status != CC_OK)
        return status;
    if (displacement == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: displacement = NULL, expected an image", function);
    return resample(function, input, displacement, params, output, stream);
}
