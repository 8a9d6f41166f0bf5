#include "base/components.h"
#include "base/error.h"
#include "kernels/launch.h"
#include "kernels/number_types.h"
#include "ops/fit.h"
#include "ops/grid_map.h"
#include "ops/lent_images.h"
#include "ops/row_crew.h"
#include "ops/scratch_pixels.h"

#include <math.h>
#include <string.h>

#define INTERPOLATIONS 3

/* What a pixel is worth to start a thread for, in bytes that could be copied meanwhile. */
#define PIXEL_COST 64

static int64_t pixel_bytes(cc_pixel_type type, int32_t components)
{
    return (int64_t)cc_pixel_type_size_bytes(type) * components;
}

static void find_coefficients(const cc__resample *work)
{
    cc__bspline bspline;
    for (int32_t axis = 0; axis < work->axes; axis++)
        if (cc__bspline_plan(work, axis, &bspline))
            cc__row_crew_run(cc__bspline_lines, &bspline, cc__bspline_line_count(&bspline),
                             (size_t)bspline.size[axis] * PIXEL_COST);
}

static void resample_on_host(const void *work)
{
    const cc__resample *self = work;
    if (self->interpolation == CC_INTERPOLATION_CUBIC_BSPLINE)
        find_coefficients(self);
    cc__row_crew_run(cc__resample_rows, work, cc__resample_row_count(self),
                     (size_t)self->size[0] * (size_t)self->components * PIXEL_COST);
}

static int32_t touch(const void *work, cc__kernel_range out_ranges[CC__KERNEL_RANGES])
{
    const cc__resample *self = work;
    int32_t count = 0;
    out_ranges[count++] =
        cc__kernel_range_of(&self->destination, self->size, pixel_bytes(self->destination_type, self->components));
    out_ranges[count++] =
        cc__kernel_range_of(&self->source, self->source_size, pixel_bytes(self->source_type, self->components));
    if (self->pixels.data != NULL)
        out_ranges[count++] =
            cc__kernel_range_of(&self->pixels, self->source_size, pixel_bytes(self->pixels_type, self->components));
    if (self->field.data != NULL)
        out_ranges[count++] =
            cc__kernel_range_of(&self->field, self->field_size, pixel_bytes(self->field_type, self->axes));
    return count;
}

/* One kernel, coefficients and all: what has begun and cannot go on would still be using the images. */
static const cc__kernel resample_kernel = {.name = "resample",
                                           .work_bytes = sizeof(cc__resample),
                                           .on_host = resample_on_host,
                                           .touches = touch,
                                           .launch = CC__LAUNCH(cc__launch_resample)};

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
    for (int32_t row = 0; row < 3; row++) {
        for (int32_t column = 0; column < 3; column++) {
            const bool is_used = row < axes && column < axes;
            if (is_used && !isfinite(params->matrix[row][column]))
                return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.matrix[%d][%d] = %g, expected a finite value",
                                function, row, column, params->matrix[row][column]);
            out_transform->matrix[row][column] = is_used ? params->matrix[row][column] : row == column;
        }
        if (row < axes && !isfinite(params->offset[row]))
            return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.offset[%d] = %g, expected a finite value", function,
                            row, params->offset[row]);
        out_transform->offset[row] = row < axes ? params->offset[row] : 0;
    }
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
    const cc_status status = cc__fit_components(function, "output", output, input);
    if (status != CC_OK)
        return status;
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

static cc_status resample(const char *function, cc_image *input, cc_image *field,
                          const cc_resample_params *caller_params, cc_image *output, cc_stream stream)
{
    cc__lent_images images = {.function = function,
                              .stream = stream,
                              .inputs = {input, field},
                              .input_count = field != NULL ? 2 : 1,
                              .output = output};
    cc__resample work = {.interpolation = CC_INTERPOLATION_LINEAR};
    cc__place_memory coefficients = {.pixels = NULL};
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
        status = plan_work(function, &params, input, field, output, &work);
    if (status == CC_OK && field != NULL && field->components != work.axes)
        status = cc__fail(CC_ERROR_SIZE, "%s: displacement has %d components, expected %d", function, field->components,
                          work.axes);
    if (status == CC_OK)
        status = cc__lend_images(&images);
    if (status != CC_OK)
        return status;

    work.destination = cc__lent_output(&images);
    work.source = cc__lent_input(&images, 0);
    if (field != NULL)
        work.field = cc__lent_input(&images, 1);
    if (params.interpolation == CC_INTERPOLATION_CUBIC_BSPLINE) {
        work.pixels = work.source;
        work.pixels_type = work.source_type;
        work.source_type = work.in_float32 ? CC_PIXEL_FLOAT32 : CC_PIXEL_FLOAT64;
        status =
            cc__scratch_pixels_allocate(&images, work.source_size, work.source_type, work.components, &coefficients);
        work.source = cc__scratch_pixels_span(&coefficients);
    }
    if (status == CC_OK)
        status = cc__lent_images_run(&images, &resample_kernel, &work);
    cc__scratch_pixels_free(&images, &coefficients);
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
