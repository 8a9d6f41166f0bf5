#include "base/lines.h"

#include <string.h>

void cc__lines_plan(const cc__line_images *images, cc__lines *out_lines)
{
    const int64_t from_bytes = (int64_t)cc_pixel_type_size_bytes(images->source_type);
    const int64_t to_bytes = (int64_t)cc_pixel_type_size_bytes(images->destination_type);
    int32_t last = 0;
    memset(out_lines, 0, sizeof *out_lines);
    out_lines->step[0] = images->source.stride[images->axis];
    out_lines->step[1] = images->destination.stride[images->axis];
    out_lines->size[0] = images->components;
    out_lines->stride[0][0] = from_bytes;
    out_lines->stride[1][0] = to_bytes;
    out_lines->count = images->components;
    out_lines->is_along_rows = 1;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        const int64_t from = images->source.stride[axis];
        const int64_t to = images->destination.stride[axis];
        if (axis == images->axis || images->size[axis] == 1)
            continue;
        if (from <= out_lines->step[0])
            out_lines->is_along_rows = 0;
        if (out_lines->size[last] == 1 || from != out_lines->size[last] * out_lines->stride[0][last] ||
            to != out_lines->size[last] * out_lines->stride[1][last]) {
            last += out_lines->size[last] == 1 ? 0 : 1;
            out_lines->size[last] = images->size[axis];
            out_lines->stride[0][last] = from;
            out_lines->stride[1][last] = to;
        } else {
            out_lines->size[last] *= images->size[axis];
        }
        out_lines->count *= images->size[axis];
    }
    out_lines->axes = last + 1;
    for (int32_t axis = last + 1; axis < CC_MAX_DIMENSION; axis++)
        out_lines->size[axis] = 1;
}

int64_t cc__lines_offset(const cc__lines *lines, int32_t side, int64_t line)
{
    int64_t offset = 0;
    for (int32_t axis = 0; axis < lines->axes; axis++) {
        offset += line % lines->size[axis] * lines->stride[side][axis];
        line /= lines->size[axis];
    }
    return offset;
}

cc__line_images cc__line_images_split(cc__line_images *images, int64_t *out_first)
{
    int32_t axis = images->axis;
    for (int32_t i = CC_MAX_DIMENSION - 1; i >= 0; i--)
        if (i != images->axis && images->size[i] > (axis == images->axis ? 1 : images->size[axis]))
            axis = i;
    cc__line_images rest = *images;
    const int64_t half = images->size[axis] / 2;
    rest.size[axis] -= half;
    images->size[axis] = half;
    rest.destination.data += half * images->destination.stride[axis];
    *out_first = axis == images->axis ? half : 0;
    if (axis != images->axis)
        rest.source.data += half * images->source.stride[axis];
    return rest;
}

int32_t cc__line_images_ranges(const cc__line_images *images, int64_t length, cc__kernel_range out_ranges[2])
{
    const int64_t to_bytes = (int64_t)cc_pixel_type_size_bytes(images->destination_type) * images->components;
    const int64_t from_bytes = (int64_t)cc_pixel_type_size_bytes(images->source_type) * images->components;
    int64_t size[CC_MAX_DIMENSION];
    memcpy(size, images->size, sizeof size);
    out_ranges[0] = cc__kernel_range_of(&images->destination, size, to_bytes);
    size[images->axis] = length;
    out_ranges[1] = cc__kernel_range_of(&images->source, size, from_bytes);
    return 2;
}
