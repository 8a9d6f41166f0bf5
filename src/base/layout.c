#include "base/layout.h"

#include "base/checked.h"
#include "base/error.h"

#include <inttypes.h>

cc_status cc__region_check(const char *function, const char *name, int32_t dimension, const cc_region *region,
                           cc_region *out_region)
{
    if (dimension < 1 || dimension > CC_MAX_DIMENSION)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: dimension = %" PRId32 ", must be 1 to %d", function, dimension,
                        CC_MAX_DIMENSION);
    if (region == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s is NULL, must be a region", function, name);
    cc_region checked = {{0, 0, 0, 0}, {1, 1, 1, 1}};
    for (int32_t axis = 0; axis < dimension; axis++) {
        int64_t index = region->index[axis];
        int64_t size = region->size[axis];
        int64_t end;
        if (size < 0)
            return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s.size[%" PRId32 "] = %" PRId64 ", must be >= 0", function,
                            name, axis, size);
        if (!cc__checked_add(index, size, &end))
            return cc__fail(CC_ERROR_OVERFLOW,
                            "%s: %s.index[%" PRId32 "] = %" PRId64 " and size[%" PRId32 "] = %" PRId64
                            ", must have a sum within 63 bits",
                            function, name, axis, index, axis, size);
        checked.index[axis] = index;
        checked.size[axis] = size;
    }
    *out_region = checked;
    return CC_OK;
}

static cc_status pixel_size(const char *function, cc_pixel_type type, int32_t components, cc__layout *out_layout)
{
    out_layout->component_bytes = (int64_t)cc_pixel_type_size_bytes(type);
    if (out_layout->component_bytes == 0)
        return cc__fail(CC_ERROR_PIXEL_TYPE, "%s: pixel_type = %d, must be a cc_pixel_type", function, (int)type);
    if (components < 1 || components > CC_MAX_COMPONENTS)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: components = %" PRId32 ", must be 1 to %d", function,
                        components, CC_MAX_COMPONENTS);
    out_layout->pixel_bytes = out_layout->component_bytes * components;
    return CC_OK;
}

cc_status cc__layout_dense(const char *function, const int64_t size[CC_MAX_DIMENSION], cc_pixel_type type,
                           int32_t components, cc__layout *out_layout)
{
    cc__layout layout;
    cc_status status = pixel_size(function, type, components, &layout);
    if (status != CC_OK)
        return status;
    bool empty = false;
    int64_t bytes = layout.pixel_bytes;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        layout.size[axis] = size[axis];
        layout.stride[axis] = bytes;
        if (size[axis] == 0)
            empty = true;
        else if (!cc__checked_multiply(bytes, size[axis], &bytes))
            return cc__fail(CC_ERROR_OVERFLOW,
                            "%s: size = %" PRId64 " x %" PRId64 " x %" PRId64 " x %" PRId64 " pixels of %" PRId64
                            " bytes, must be within 63 bits of bytes",
                            function, size[0], size[1], size[2], size[3], layout.pixel_bytes);
    }
    layout.extent_bytes = empty ? 0 : bytes;
    *out_layout = layout;
    return CC_OK;
}

/* Writes the axes with more than one pixel, smallest stride first, and returns how many. */
static int32_t axes_by_stride(const cc__layout *layout, int32_t out_axes[CC_MAX_DIMENSION])
{
    int32_t count = 0;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        if (layout->size[axis] == 1)
            continue;
        int32_t at = count++;
        for (; at > 0 && layout->stride[out_axes[at - 1]] > layout->stride[axis]; at--)
            out_axes[at] = out_axes[at - 1];
        out_axes[at] = axis;
    }
    return count;
}

cc_status cc__layout_strided(const char *function, const int64_t size[CC_MAX_DIMENSION], cc_pixel_type type,
                             int32_t components, int32_t dimension, const int64_t strides_bytes[CC_MAX_DIMENSION],
                             cc__layout *out_layout)
{
    cc__layout layout;
    cc_status status = cc__layout_dense(function, size, type, components, &layout);
    if (status != CC_OK)
        return status;
    if (layout.extent_bytes == 0) {
        *out_layout = layout;
        return CC_OK;
    }
    /* Where there is one pixel the caller's stride means nothing, and the dense one stays: users read strides. */
    for (int32_t axis = 0; axis < dimension; axis++) {
        int64_t stride = strides_bytes[axis];
        if (size[axis] == 1)
            continue;
        if (stride <= 0 || stride % layout.component_bytes != 0)
            return cc__fail(CC_ERROR_LAYOUT,
                            "%s: strides_bytes[%" PRId32 "] = %" PRId64 ", must be a positive multiple of %" PRId64,
                            function, axis, stride, layout.component_bytes);
        layout.stride[axis] = stride;
    }
    /* From the fastest axis to the slowest, each step must reach past all that the faster axes span. */
    int32_t axes[CC_MAX_DIMENSION];
    int32_t count = axes_by_stride(&layout, axes);
    int64_t extent = layout.pixel_bytes;
    for (int32_t i = 0; i < count; i++) {
        int32_t axis = axes[i];
        int64_t span;
        if (layout.stride[axis] < extent)
            return cc__fail(CC_ERROR_LAYOUT,
                            "%s: strides_bytes[%" PRId32 "] = %" PRId64 ", must be at least %" PRId64
                            ", or pixels overlap",
                            function, axis, layout.stride[axis], extent);
        /* The last row counts in full, as for whoever multiplies strides by sizes. */
        if (!cc__checked_multiply(layout.stride[axis], size[axis], &span) ||
            !cc__checked_add(extent, span - layout.stride[axis], &extent))
            return cc__fail(CC_ERROR_OVERFLOW,
                            "%s: strides_bytes[%" PRId32 "] = %" PRId64 " with size %" PRId64
                            ", must be within 63 bits of bytes",
                            function, axis, layout.stride[axis], size[axis]);
    }
    layout.extent_bytes = extent;
    *out_layout = layout;
    return CC_OK;
}

int64_t cc__layout_offset(const cc__layout *layout, const int64_t start[CC_MAX_DIMENSION])
{
    int64_t offset = 0;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        offset += start[axis] * layout->stride[axis];
    return offset;
}

bool cc__region_to_box(const cc_region *outer, const cc_region *inner, cc__box *out_box)
{
    cc__box box;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        /* In this order no difference or sum can leave 63 bits: each lies between 0 and the outer size. */
        if (inner->index[axis] < outer->index[axis] || inner->index[axis] > outer->index[axis] + outer->size[axis])
            return false;
        int64_t start = inner->index[axis] - outer->index[axis];
        if (inner->size[axis] > outer->size[axis] - start)
            return false;
        box.start[axis] = start;
        box.size[axis] = inner->size[axis];
    }
    *out_box = box;
    return true;
}
