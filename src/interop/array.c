#include "interop/array.h"

#include "base/checked.h"
#include "base/error.h"

#include <inttypes.h>

/* The bytes that the elements span, counted from the first element; backwards where strides are negative. */
typedef struct byte_extent {
    int64_t first;
    int64_t end;
} byte_extent;

bool cc__array_make_contiguous(cc__array *array)
{
    int64_t stride = (int64_t)cc_pixel_type_size_bytes(array->type);
    for (int32_t axis = array->ndim - 1; axis >= 0; --axis) {
        array->strides_bytes[axis] = stride;
        if (array->shape[axis] > 1 && !cc__checked_multiply(stride, array->shape[axis], &stride))
            return false;
    }
    return true;
}

static bool is_empty(const cc__array *array)
{
    for (int32_t axis = 0; axis < array->ndim; ++axis)
        if (array->shape[axis] == 0)
            return true;
    return false;
}

/* Which axis of the array is this one of the image; -1 is the component axis. */
static int32_t axis_of(const cc__array *array, const cc_import_params *params, int32_t image_axis)
{
    const int32_t fastest_first = array->ndim - params->dimension + image_axis;
    return params->order == CC_ORDER_K ? fastest_first : array->ndim - 1 - fastest_first;
}

static cc_status check_shape(const char *function, const cc__array *array, const cc_import_params *params)
{
    if (params->dimension < 1 || params->dimension > CC_MAX_DIMENSION)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.dimension = %" PRId32 ", expected 1 to %d", function,
                        params->dimension, CC_MAX_DIMENSION);
    if (params->order != CC_ORDER_C && params->order != CC_ORDER_K)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.order = %" PRId32 ", expected a cc_order", function,
                        params->order);
    if (array->ndim != params->dimension && array->ndim != params->dimension + 1)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT,
                        "%s: ndim = %" PRId32 ", expected params.dimension = %" PRId32 ", or one more for components",
                        function, array->ndim, params->dimension);
    for (int32_t axis = 0; axis < array->ndim; ++axis)
        if (array->shape[axis] < 0)
            return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: shape[%" PRId32 "] = %" PRId64 ", expected >= 0", function,
                            axis, array->shape[axis]);
    if (array->ndim == params->dimension)
        return CC_OK;
    const int32_t axis = axis_of(array, params, -1);
    if (array->shape[axis] < 1 || array->shape[axis] > CC_MAX_COMPONENTS)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT,
                        "%s: shape[%" PRId32 "] = %" PRId64 ", expected 1 to %d components of a pixel", function, axis,
                        array->shape[axis], CC_MAX_COMPONENTS);
    return CC_OK;
}

static cc_status find_extent(const char *function, const cc__array *array, byte_extent *out_extent)
{
    byte_extent found = {0, (int64_t)cc_pixel_type_size_bytes(array->type)};
    for (int32_t axis = 0; axis < array->ndim; ++axis) {
        const int64_t stride = array->strides_bytes[axis];
        int64_t span = 0;
        if (array->shape[axis] == 1)
            continue;
        /* The last row counts in full, as for whoever multiplies strides by sizes. */
        if (!cc__checked_multiply(stride, array->shape[axis], &span) ||
            !cc__checked_add(stride < 0 ? found.first : found.end, span - stride,
                             stride < 0 ? &found.first : &found.end))
            return cc__fail(CC_ERROR_OVERFLOW,
                            "%s: strides_bytes[%" PRId32 "] = %" PRId64 " with shape[%" PRId32 "] = %" PRId64
                            ", expected within 63 bits of bytes",
                            function, axis, stride, axis, array->shape[axis]);
    }
    *out_extent = found;
    return CC_OK;
}

bool cc__array_extent(const cc__array *array, int64_t *out_bytes)
{
    byte_extent found = {0, 0};
    if (!is_empty(array) && (find_extent("", array, &found) != CC_OK || found.first < 0))
        return false;
    *out_bytes = found.end;
    return true;
}

static cc_status check_alignment(const char *function, const cc__array *array)
{
    const int64_t itemsize = (int64_t)cc_pixel_type_size_bytes(array->type);
    if ((uintptr_t)array->data % (uintptr_t)itemsize != 0)
        return cc__fail(CC_ERROR_LAYOUT, "%s: data = %p, expected a multiple of %" PRId64, function,
                        (const void *)array->data, itemsize);
    for (int32_t axis = 0; axis < array->ndim; ++axis)
        if (array->shape[axis] > 1 && array->strides_bytes[axis] % itemsize != 0)
            return cc__fail(CC_ERROR_LAYOUT,
                            "%s: strides_bytes[%" PRId32 "] = %" PRId64 ", expected a multiple of %" PRId64, function,
                            axis, array->strides_bytes[axis], itemsize);
    return CC_OK;
}

/* In numbers, not pointers: what is outside of the allocation must not even be pointed at. */
static cc_status check_memory(const char *function, const cc__array *array, const byte_extent *extent,
                              const cc_import_params *params)
{
    const uint64_t begin = (uint64_t)(uintptr_t)params->memory;
    const uint64_t first = (uint64_t)(uintptr_t)array->data;
    const uint64_t before = first - begin; /* bytes of the allocation before the first element */
    if (params->memory == NULL)
        return CC_OK;
    if (first < begin || before > params->memory_bytes || 0 - (uint64_t)extent->first > before ||
        (uint64_t)extent->end > params->memory_bytes - before)
        return cc__fail(CC_ERROR_SIZE,
                        "%s: elements at %p reach from byte %" PRId64 " to %" PRId64
                        ", expected inside params.memory = %p of %zu bytes",
                        function, (const void *)array->data, extent->first, extent->end, params->memory,
                        params->memory_bytes);
    return CC_OK;
}

static bool is_dense(const cc__layout *layout)
{
    int64_t stride = layout->pixel_bytes;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        if (layout->size[axis] != 1 && layout->stride[axis] != stride)
            return false;
        stride *= layout->size[axis];
    }
    return true;
}

cc_status cc__array_to_image(const char *function, const cc__array *array, const cc_import_params *params,
                             cc__array_image *out_image)
{
    cc__array_image image = {.dimension = params->dimension, .type = array->type, .components = 1};
    int64_t size[CC_MAX_DIMENSION] = {1, 1, 1, 1};
    int64_t stride[CC_MAX_DIMENSION] = {0, 0, 0, 0};
    byte_extent extent = {0, 0};
    cc_status status = check_shape(function, array, params);
    if (status != CC_OK)
        return status;
    for (int32_t axis = 0; axis < params->dimension; ++axis) {
        size[axis] = array->shape[axis_of(array, params, axis)];
        stride[axis] = array->strides_bytes[axis_of(array, params, axis)];
    }
    if (array->ndim > params->dimension)
        image.components = (int32_t)array->shape[axis_of(array, params, -1)];
    if (is_empty(array))
        status = cc__layout_dense(function, size, array->type, image.components, &image.layout);
    if (is_empty(array) && status == CC_OK)
        *out_image = image;
    if (status != CC_OK || is_empty(array))
        return status;

    status = find_extent(function, array, &extent);
    if (status == CC_OK && array->data == NULL)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: data = NULL, expected the first element", function);
    if (status == CC_OK)
        status = check_alignment(function, array);
    if (status == CC_OK)
        status = check_memory(function, array, &extent, params);
    if (status == CC_OK && image.components > 1) {
        const int32_t axis = axis_of(array, params, -1);
        const int64_t itemsize = (int64_t)cc_pixel_type_size_bytes(array->type);
        if (array->strides_bytes[axis] != itemsize)
            status = cc__fail(CC_ERROR_LAYOUT,
                              "%s: strides_bytes[%" PRId32 "] = %" PRId64
                              ", expected the components of a pixel side by side, %" PRId64 " bytes apart",
                              function, axis, array->strides_bytes[axis], itemsize);
    }
    if (status == CC_OK)
        status =
            cc__layout_strided(function, size, array->type, image.components, params->dimension, stride, &image.layout);
    if (status == CC_OK && (params->flags & CC_IMPORT_STRIDED) == 0 && !is_dense(&image.layout))
        status = cc__fail(CC_ERROR_LAYOUT, "%s: the pixels are not dense with i fastest, expected CC_IMPORT_STRIDED",
                          function);
    if (status == CC_OK)
        *out_image = image;
    return status;
}
