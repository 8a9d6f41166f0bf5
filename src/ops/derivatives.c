#include "base/components.h"
#include "base/derivative.h"
#include "base/error.h"
#include "kernels/launch.h"
#include "kernels/number_types.h"
#include "ops/fit.h"
#include "ops/lent_images.h"
#include "ops/row_crew.h"

#include <string.h>

#define DIFFERENCES 4

static int32_t space_axes(const cc_image *image)
{
    return image->dimension < CC__SPACE_AXES ? image->dimension : CC__SPACE_AXES;
}

static int32_t components_of_input(const cc__derivative *work)
{
    return work->kind == CC__DERIVATIVE_DIVERGENCE ? work->axes : work->components;
}

static int32_t components_of_output(const cc__derivative *work)
{
    return work->kind == CC__DERIVATIVE_GRADIENT ? work->axes : work->components;
}

static void derive_on_host(const void *work)
{
    const cc__derivative *self = work;
    const size_t pixel_bytes = (size_t)components_of_input(self) * cc_pixel_type_size_bytes(self->source_type) +
                               (size_t)components_of_output(self) * cc_pixel_type_size_bytes(self->destination_type);
    cc__row_crew_run(cc__derivative_rows, work, cc__derivative_row_count(self), (size_t)self->size[0] * pixel_bytes);
}

static int32_t touch(const void *work, cc__kernel_range out_ranges[CC__KERNEL_RANGES])
{
    const cc__derivative *self = work;
    out_ranges[0] =
        cc__kernel_range_of(&self->destination, self->size,
                            components_of_output(self) * (int64_t)cc_pixel_type_size_bytes(self->destination_type));
    out_ranges[1] = cc__kernel_range_of(
        &self->source, self->size, components_of_input(self) * (int64_t)cc_pixel_type_size_bytes(self->source_type));
    return 2;
}

static const cc__kernel derivative_kernel = {.name = "derivative",
                                             .work_bytes = sizeof(cc__derivative),
                                             .on_host = derive_on_host,
                                             .touches = touch,
                                             .launch = CC__LAUNCH(cc__launch_derivative)};

static cc_status check_arguments(const char *function, const cc__derivative *work, const cc_image *input,
                                 uint32_t flags, const cc_image *output)
{
    const uint32_t known =
        CC_DERIVATIVE_IGNORE_SPACING | (work->kind == CC__DERIVATIVE_LAPLACIAN ? 0 : CC_DERIVATIVE_USE_DIRECTION);
    if (input == NULL || output == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected an image", function,
                        input == NULL ? "input" : "output");
    if (work->difference < 0 || work->difference >= DIFFERENCES)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: difference = %d, expected a cc_difference", function,
                        work->difference);
    if ((flags & ~known) != 0)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: flags = %#x, expected some of %#x", function, (unsigned)flags,
                        (unsigned)known);
    if (cc__is_complex(input->pixel_type) || cc__is_complex(output->pixel_type))
        return cc__fail(CC_ERROR_PIXEL_TYPE, "%s: %s has type %s, expected a real type", function,
                        cc__is_complex(input->pixel_type) ? "input" : "output",
                        cc_pixel_type_name(cc__is_complex(input->pixel_type) ? input->pixel_type : output->pixel_type));
    return CC_OK;
}

static cc_status check_fit(const char *function, const cc__derivative *work, const cc_image *input,
                           const cc_image *output)
{
    if (output->dimension != input->dimension)
        return cc__fail(CC_ERROR_SIZE, "%s: output has dimension %d, expected the input's %d", function,
                        output->dimension, input->dimension);
    const cc_status status = cc__fit_size(function, "output", output, input);
    if (status != CC_OK)
        return status;
    if (input->components != components_of_input(work))
        return cc__fail(CC_ERROR_SIZE, "%s: input has %d components, expected %d", function, input->components,
                        components_of_input(work));
    if (output->components != components_of_output(work))
        return cc__fail(CC_ERROR_SIZE, "%s: output has %d components, expected %d", function, output->components,
                        components_of_output(work));
    if (cc__image_is_read_only(output))
        return cc__fail(CC_ERROR_READ_ONLY, "%s: the output's pixels were wrapped read-only", function);
    if (input->manager == output->manager && cc__box_overlaps(&input->box, &output->box))
        return cc__fail(CC_ERROR_BUSY, "%s: output overlaps the input, expected other pixels", function);
    return CC_OK;
}

static void plan_weights(const cc_image *input, uint32_t flags, cc__derivative *work)
{
    const bool is_central =
        work->difference == CC_DIFFERENCE_CENTRAL || work->difference == CC_DIFFERENCE_CENTRAL_ONE_SIDED;
    for (int32_t axis = 0; axis < work->axes; axis++) {
        const double h = (flags & CC_DERIVATIVE_IGNORE_SPACING) != 0 ? 1 : input->geometry.spacing[axis];
        work->weight[axis] = work->kind == CC__DERIVATIVE_LAPLACIAN ? 1 / (h * h) : is_central ? 1 / (2 * h) : 1 / h;
        work->edge_weight[axis] = work->difference == CC_DIFFERENCE_CENTRAL_ONE_SIDED ? 1 / h : work->weight[axis];
    }
    for (int32_t row = 0; row < CC__SPACE_AXES; row++)
        for (int32_t axis = 0; axis < CC__SPACE_AXES; axis++)
            work->direction[row][axis] =
                row < work->axes && axis < work->axes ? input->geometry.direction[row][axis] : row == axis;
    work->is_turned = 0;
    for (int32_t row = 0; row < CC__SPACE_AXES && (flags & CC_DERIVATIVE_USE_DIRECTION) != 0; row++)
        for (int32_t axis = 0; axis < CC__SPACE_AXES; axis++)
            if (work->direction[row][axis] != (row == axis))
                work->is_turned = 1;
}

static cc_status derive(const char *function, cc__derivative *work, cc_image *input, uint32_t flags, cc_image *output,
                        cc_stream stream)
{
    cc__lent_images images = {
        .function = function, .stream = stream, .inputs = {input}, .input_count = 1, .output = output};
    cc_status status = check_arguments(function, work, input, flags, output);
    if (status != CC_OK)
        return status;
    work->axes = space_axes(input);
    work->components = work->kind == CC__DERIVATIVE_LAPLACIAN ? input->components : 1;
    status = check_fit(function, work, input, output);
    if (status != CC_OK || cc__box_is_empty(&output->box))
        return status;
    plan_weights(input, flags, work);
    work->destination_type = output->pixel_type;
    work->source_type = input->pixel_type;
    work->in_float32 = cc__fits_float32(input->pixel_type) && cc__fits_float32(output->pixel_type);
    memcpy(work->size, output->box.size, sizeof work->size);
    status = cc__lend_images(&images);
    if (status != CC_OK)
        return status;
    work->destination = cc__lent_output(&images);
    work->source = cc__lent_input(&images, 0);
    status = cc__lent_images_run(&images, &derivative_kernel, work);
    cc__lent_images_end(&images);
    return status;
}

cc_status cc_image_gradient(cc_image *input, cc_difference difference, uint32_t flags, cc_image *output,
                            cc_stream stream)
{
    cc__derivative work = {.kind = CC__DERIVATIVE_GRADIENT, .difference = (int32_t)difference};
    return derive("cc_image_gradient", &work, input, flags, output, stream);
}

cc_status cc_image_divergence(cc_image *input, cc_difference difference, uint32_t flags, cc_image *output,
                              cc_stream stream)
{
    cc__derivative work = {.kind = CC__DERIVATIVE_DIVERGENCE, .difference = (int32_t)difference};
    return derive("cc_image_divergence", &work, input, flags, output, stream);
}

cc_status cc_image_laplacian(cc_image *input, uint32_t flags, cc_image *output, cc_stream stream)
{
    cc__derivative work = {.kind = CC__DERIVATIVE_LAPLACIAN};
    return derive("cc_image_laplacian", &work, input, flags, output, stream);
}
