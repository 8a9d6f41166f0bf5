#include "slice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* How to step through the mapped pixels along one axis of the picture. */
typedef struct walk {
    int64_t count;
    int64_t first_bytes;
    int64_t step_bytes;
} walk;

/* `pixels` is in K order with its component axis, which comes first. */
static walk walk_along(const cc_descriptor *pixels, int image_axis, bool backwards)
{
    walk along = {pixels->shape[image_axis + 1], 0, pixels->strides_bytes[image_axis + 1]};
    if (backwards) {
        along.first_bytes = (along.count - 1) * along.step_bytes;
        along.step_bytes = -along.step_bytes;
    }
    return along;
}

/* The grey of a pixel: its value, or the mean of its colours, leaving out an alpha. */
static float grey_of(const float *pixel, int64_t components)
{
    const int64_t colours = components > 3 ? 3 : components;
    double sum = 0.0;
    for (int64_t n = 0; n < colours; n++)
        sum += pixel[n];
    return (float)(sum / (double)colours);
}

bool slice_read(cc_image *image, const orientation *turned, int column_toward, int row_toward, slice *out_slice)
{
    const int column_axis = turned->axis[column_toward];
    const int row_axis = turned->axis[row_toward];
    const int through_axis = 3 - column_axis - row_axis;
    cc_descriptor pixels = CC_DESCRIPTOR_INIT;
    cc_region region = cc_image_get_region(image);
    double spacing[CC_MAX_DIMENSION];

    region.index[through_axis] += region.size[through_axis] / 2;
    region.size[through_axis] = 1;
    region.size[3] = 1;
    if (cc_image_get_spacing(image, spacing) != CC_OK ||
        cc_image_map_descriptor(image, &region, CC_ORDER_K, CC_DESCRIBE_COMPONENT_AXIS, CC_PLACE_HOST, CC_ACCESS_READ,
                                CC_STREAM_DEFAULT, &pixels) != CC_OK) {
        fprintf(stderr, "volume: %s\n", cc_last_error_message());
        return false;
    }

    const walk columns = walk_along(&pixels, column_axis, turned->reversed[column_toward]);
    const walk rows = walk_along(&pixels, row_axis, turned->reversed[row_toward] != (row_toward == TOWARDS_HEAD));
    float *values = malloc((size_t)columns.count * (size_t)rows.count * sizeof(float));
    const char *first = (const char *)pixels.data + columns.first_bytes + rows.first_bytes;
    for (int64_t row = 0; values && row < rows.count; row++)
        for (int64_t column = 0; column < columns.count; column++) {
            const char *pixel = first + row * rows.step_bytes + column * columns.step_bytes;
            values[row * columns.count + column] = grey_of((const float *)(const void *)pixel, pixels.shape[0]);
        }
    cc_image_unmap_descriptor(image, &pixels);
    if (!values) {
        fprintf(stderr, "volume: not enough memory for a slice of %lld x %lld pixels\n", (long long)columns.count,
                (long long)rows.count);
        return false;
    }
    *out_slice = (slice){columns.count, rows.count, spacing[column_axis], spacing[row_axis], values};
    return true;
}

/* The two pixels around a coordinate, the same twice at the border, and how far it is from the first. */
static double neighbours(double coordinate, int64_t count, int64_t *out_before, int64_t *out_after)
{
    const double inside = fmin(fmax(coordinate, 0.0), (double)(count - 1));
    *out_before = (int64_t)inside;
    *out_after = *out_before + 1 < count ? *out_before + 1 : *out_before;
    return inside - (double)*out_before;
}

double slice_sample(const slice *from, double column, double row)
{
    int64_t left, right, above, below;
    const double across = neighbours(column, from->columns, &left, &right);
    const double down = neighbours(row, from->rows, &above, &below);
    const float *upper = from->values + above * from->columns;
    const float *lower = from->values + below * from->columns;
    const double top = upper[left] + across * ((double)upper[right] - upper[left]);
    const double bottom = lower[left] + across * ((double)lower[right] - lower[left]);
    return top + down * (bottom - top);
}
