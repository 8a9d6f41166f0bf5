/* Parts of images, as arrangements of pixels. */
#include "base/checked.h"
#include "base/error.h"
#include "base/layout.h"
#include "ops/fit.h"
#include "ops/placing.h"
#include "ops/rearrange.h"

#include <cudacommon/operations.h>
#include <cudacommon/regions.h>
#include <string.h>

/* A call that makes all of an output from an input: what is wanted, and what follows from it. */
typedef struct making {
    cc__arrangement all;
    cc__placing placing;
    cc_region region; /* of a new output */
} making;

static cc_status check_images(const char *function, const cc_image *input, const cc_image *output)
{
    if (input == NULL || output == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected an image", function,
                        input == NULL ? "input" : "output");
    const cc_status status = cc__fit_components(function, "output", output, input);
    if (status == CC_OK && cc__image_is_read_only(output))
        return cc__fail(CC_ERROR_READ_ONLY, "%s: the output's pixels were wrapped read-only", function);
    return status;
}

static void begin(const char *function, cc_image *input, cc_image *output, cc_stream stream, cc__arrangement *out_all)
{
    memset(out_all, 0, sizeof *out_all);
    out_all->function = function;
    out_all->stream = stream;
    out_all->input = input;
    out_all->output = output;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        out_all->order[axis] = axis;
}

static cc_status copy_boxes(cc__arrangement *all)
{
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        if (all->from.size[axis] != all->to.size[axis])
            return cc__fail(CC_ERROR_SIZE, "%s: the output's region has size[%d] = %lld, expected the input's %lld",
                            all->function, axis, (long long)all->to.size[axis], (long long)all->from.size[axis]);
    return cc__box_is_empty(&all->to) ? CC_OK : cc__arrange(all);
}

cc_status cc_image_copy_region(cc_image *input, const cc_region *input_region, cc_image *output,
                               const cc_region *output_region, cc_stream stream)
{
    static const char *const function = "cc_image_copy_region";
    cc__arrangement all;
    cc_status status = check_images(function, input, output);
    if (status != CC_OK)
        return status;
    begin(function, input, output, stream, &all);
    status = cc__image_box(function, input, input_region, &all.from);
    if (status == CC_OK)
        status = cc__image_box(function, output, output_region, &all.to);
    return status == CC_OK ? copy_boxes(&all) : status;
}

cc_status cc_image_paste(cc_image *input, cc_image *output, const int64_t index[CC_MAX_DIMENSION], cc_stream stream)
{
    static const char *const function = "cc_image_paste";
    cc__arrangement all;
    cc_status status = check_images(function, input, output);
    if (status != CC_OK)
        return status;
    cc_region region = input->region;
    if (index != NULL)
        memcpy(region.index, index, (size_t)output->dimension * sizeof *index);
    for (int32_t axis = output->dimension; axis < CC_MAX_DIMENSION; axis++)
        if (region.size[axis] != 1)
            return cc__fail(CC_ERROR_REGION, "%s: input has size[%d] = %lld, expected 1, as the output", function, axis,
                            (long long)region.size[axis]);
    begin(function, input, output, stream, &all);
    all.from = input->box;
    status = cc__image_box(function, output, &region, &all.to);
    return status == CC_OK ? copy_boxes(&all) : status;
}

/* A new image of the input's type. */
static cc_status create_output(const making *made, cc_image **out_image)
{
    const cc_image *input = made->all.input;
    const cc__geometry geometry =
        cc__placing_geometry(&made->placing, input->dimension, &input->geometry, made->region.index);
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    params.dimension = input->dimension;
    params.pixel_type = input->pixel_type;
    params.components = input->components;
    params.device = atomic_load(&input->device);
    params.flags = CC_IMAGE_UNINITIALIZED;
    params.region = made->region;
    memcpy(params.spacing, geometry.spacing, sizeof params.spacing);
    memcpy(params.origin, geometry.origin, sizeof params.origin);
    memcpy(params.direction, geometry.direction, sizeof params.direction);
    return cc_image_create(&params, out_image);
}

static cc_status check_output(const making *made)
{
    const cc_image *input = made->all.input;
    const cc_image *output = made->all.output;
    cc_status status = check_images(made->all.function, input, output);
    if (status != CC_OK)
        return status;
    if (output->dimension != input->dimension)
        return cc__fail(CC_ERROR_SIZE, "%s: output has %d dimensions, expected the input's %d", made->all.function,
                        output->dimension, input->dimension);
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        if (output->box.size[axis] != made->region.size[axis])
            return cc__fail(CC_ERROR_SIZE, "%s: output has size[%d] = %lld, expected %lld", made->all.function, axis,
                            (long long)output->box.size[axis], (long long)made->region.size[axis]);
    return CC_OK;
}

/* Without pixels to read, all are the border's. */
static cc_status fill_output(const cc__arrangement *all)
{
    static const unsigned char zero[CC__MAX_PIXEL_BYTES];
    return cc_image_fill(all->output, NULL, all->value != NULL ? all->value : zero, all->stream);
}

static cc_status write_output(making *made)
{
    cc__arrangement *all = &made->all;
    all->to = all->output->box;
    if (cc__box_is_empty(&all->to))
        return CC_OK;
    return cc__box_is_empty(&all->from) ? fill_output(all) : cc__arrange(all);
}

static cc_status make_given(making *made)
{
    cc_status status = check_output(made);
    if (status == CC_OK)
        status = write_output(made);
    if (status == CC_OK)
        cc__placing_set(&made->placing, made->all.input, made->all.output);
    return status;
}

static cc_status make_new(making *made, cc_image **out_image)
{
    cc_status status = create_output(made, &made->all.output);
    if (status != CC_OK)
        return status;
    status = write_output(made);
    if (status == CC_OK)
        *out_image = made->all.output;
    else
        cc_image_release(made->all.output);
    return status;
}

/* The whole input as it is, to be changed by what follows. */
static cc_status begin_making(const char *function, cc_image *input, cc_image *output, cc_stream stream,
                              making *out_made)
{
    if (input == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: input = NULL, expected an image", function);
    memset(out_made, 0, sizeof *out_made);
    begin(function, input, output, stream, &out_made->all);
    out_made->all.from = input->box;
    out_made->region = input->region;
    memcpy(out_made->placing.first, input->region.index, sizeof out_made->placing.first);
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        out_made->placing.source[axis] = axis;
    return CC_OK;
}

static cc_status check_out(const char *function, cc_image **out_image)
{
    return out_image != NULL
               ? CC_OK
               : cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_image = NULL, expected a pointer", function);
}

static cc_status plan_crop(making *made, const cc_region *region)
{
    const char *const function = made->all.function;
    if (region == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: region = NULL, expected a region", function);
    const cc_status status = cc__image_box(function, made->all.input, region, &made->all.from);
    if (status != CC_OK)
        return status;
    memcpy(made->region.size, made->all.from.size, sizeof made->region.size);
    memcpy(made->region.index, region->index, (size_t)made->all.input->dimension * sizeof *region->index);
    memcpy(made->placing.first, made->region.index, sizeof made->placing.first);
    return CC_OK;
}

cc_status cc_image_crop(cc_image *input, const cc_region *region, cc_image *output, cc_stream stream)
{
    making made;
    cc_status status = begin_making("cc_image_crop", input, output, stream, &made);
    if (status == CC_OK)
        status = plan_crop(&made, region);
    return status == CC_OK ? make_given(&made) : status;
}

cc_status cc_image_create_cropped(cc_image *input, const cc_region *region, cc_stream stream, cc_image **out_image)
{
    static const char *const function = "cc_image_create_cropped";
    making made;
    cc_status status = begin_making(function, input, NULL, stream, &made);
    if (status == CC_OK)
        status = check_out(function, out_image);
    if (status == CC_OK)
        status = plan_crop(&made, region);
    return status == CC_OK ? make_new(&made, out_image) : status;
}

/* One axis of it. */
static cc_status plan_border(making *made, const cc_pad_params *params, int32_t axis)
{
    const char *const function = made->all.function;
    const int64_t lower = params->lower[axis];
    const int64_t upper = params->upper[axis];
    int64_t size = made->region.size[axis];
    int64_t index = made->region.index[axis];
    int64_t end = 0;
    if (params->border[axis] < CC_BORDER_CONSTANT || params->border[axis] > CC_BORDER_PERIODIC)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.border[%d] = %d, expected a cc_border", function, axis,
                        params->border[axis]);
    if (lower < 0 || upper < 0)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.%s[%d] = %lld, expected >= 0", function,
                        lower < 0 ? "lower" : "upper", axis, (long long)(lower < 0 ? lower : upper));
    if (!cc__checked_add(size, lower, &size) || !cc__checked_add(size, upper, &size) ||
        !cc__checked_add(index, -lower, &index) || !cc__checked_add(index, size, &end))
        return cc__fail(CC_ERROR_OVERFLOW,
                        "%s: params.lower[%d] = %lld, params.upper[%d] = %lld, expected index and size within 63 bits",
                        function, axis, (long long)lower, axis, (long long)upper);
    if (params->border[axis] != CC_BORDER_CONSTANT && size > 0 && cc__box_is_empty(&made->all.from))
        return cc__fail(CC_ERROR_INVALID_ARGUMENT,
                        "%s: params.border[%d] = %d, expected CC_BORDER_CONSTANT for an image without pixels", function,
                        axis, params->border[axis]);
    made->region.size[axis] = size;
    made->region.index[axis] = index;
    made->placing.first[axis] = index;
    made->all.before[axis] = lower;
    made->all.border[axis] = params->border[axis];
    return CC_OK;
}

static cc_status plan_pad(making *made, const cc_pad_params *params)
{
    const char *const function = made->all.function;
    cc_pad_params known = CC_PAD_PARAMS_INIT;
    if (params == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params = NULL, expected a pointer", function);
    if (params->struct_size < sizeof params->struct_size)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.struct_size = %u, expected CC_PAD_PARAMS_INIT", function,
                        (unsigned)params->struct_size);
    memcpy(&known, params, params->struct_size < sizeof known ? params->struct_size : sizeof known);
    if (known.flags != 0)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.flags = 0x%x, expected 0", function,
                        (unsigned)known.flags);
    made->all.value = known.value;
    cc_status status = CC_OK;
    for (int32_t axis = 0; axis < made->all.input->dimension && status == CC_OK; axis++)
        status = plan_border(made, &known, axis);
    return status;
}

cc_status cc_image_pad(cc_image *input, const cc_pad_params *params, cc_image *output, cc_stream stream)
{
    making made;
    cc_status status = begin_making("cc_image_pad", input, output, stream, &made);
    if (status == CC_OK)
        status = plan_pad(&made, params);
    return status == CC_OK ? make_given(&made) : status;
}

cc_status cc_image_create_padded(cc_image *input, const cc_pad_params *params, cc_stream stream, cc_image **out_image)
{
    static const char *const function = "cc_image_create_padded";
    making made;
    cc_status status = begin_making(function, input, NULL, stream, &made);
    if (status == CC_OK)
        status = check_out(function, out_image);
    if (status == CC_OK)
        status = plan_pad(&made, params);
    return status == CC_OK ? make_new(&made, out_image) : status;
}

static cc_status plan_flip(making *made, uint32_t axes)
{
    const cc_image *input = made->all.input;
    if (axes >> input->dimension != 0)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: axes = 0x%x, expected bits 0 to %d", made->all.function,
                        (unsigned)axes, input->dimension - 1);
    made->all.flipped = axes;
    for (int32_t axis = 0; axis < input->dimension; axis++) {
        if ((axes >> axis & 1) == 0)
            continue;
        made->placing.is_flipped[axis] = true;
        if (input->region.size[axis] > 0)
            made->placing.first[axis] += input->region.size[axis] - 1;
    }
    return CC_OK;
}

cc_status cc_image_flip(cc_image *input, uint32_t axes, cc_image *output, cc_stream stream)
{
    making made;
    cc_status status = begin_making("cc_image_flip", input, output, stream, &made);
    if (status == CC_OK)
        status = plan_flip(&made, axes);
    return status == CC_OK ? make_given(&made) : status;
}

cc_status cc_image_create_flipped(cc_image *input, uint32_t axes, cc_stream stream, cc_image **out_image)
{
    static const char *const function = "cc_image_create_flipped";
    making made;
    cc_status status = begin_making(function, input, NULL, stream, &made);
    if (status == CC_OK)
        status = check_out(function, out_image);
    if (status == CC_OK)
        status = plan_flip(&made, axes);
    return status == CC_OK ? make_new(&made, out_image) : status;
}

static cc_status plan_permute(making *made, const int32_t order[CC_MAX_DIMENSION])
{
    const cc_image *input = made->all.input;
    uint32_t used = 0;
    if (order == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: order = NULL, expected an array", made->all.function);
    for (int32_t axis = 0; axis < input->dimension; axis++) {
        const int32_t source = order[axis];
        if (source < 0 || source >= input->dimension || (used >> source & 1) != 0)
            return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: order[%d] = %d, expected each of 0 to %d once",
                            made->all.function, axis, source, input->dimension - 1);
        used |= 1u << source;
        made->all.order[axis] = source;
        made->placing.source[axis] = source;
        made->placing.first[axis] = input->region.index[source];
        made->region.index[axis] = input->region.index[source];
        made->region.size[axis] = input->region.size[source];
    }
    return CC_OK;
}

cc_status cc_image_permute(cc_image *input, const int32_t order[CC_MAX_DIMENSION], cc_image *output, cc_stream stream)
{
    making made;
    cc_status status = begin_making("cc_image_permute", input, output, stream, &made);
    if (status == CC_OK)
        status = plan_permute(&made, order);
    return status == CC_OK ? make_given(&made) : status;
}

cc_status cc_image_create_permuted(cc_image *input, const int32_t order[CC_MAX_DIMENSION], cc_stream stream,
                                   cc_image **out_image)
{
    static const char *const function = "cc_image_create_permuted";
    making made;
    cc_status status = begin_making(function, input, NULL, stream, &made);
    if (status == CC_OK)
        status = check_out(function, out_image);
    if (status == CC_OK)
        status = plan_permute(&made, order);
    return status == CC_OK ? make_new(&made, out_image) : status;
}
