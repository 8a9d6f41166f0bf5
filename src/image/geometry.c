/* Where an image is in space. */
#include "base/error.h"
#include "image/image_handle.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/*
 * By elimination with the largest pivot. One that is only rounding, compared with the column it comes from, is none:
 * the columns depend on each other as far as a double can tell.
 */
static bool has_inverse(int32_t dimension, const double matrix[CC_MAX_DIMENSION][CC_MAX_DIMENSION])
{
    double rest[CC_MAX_DIMENSION][CC_MAX_DIMENSION];
    memcpy(rest, matrix, sizeof rest);
    for (int32_t column = 0; column < dimension; ++column) {
        int32_t pivot = column;
        double largest = 0;
        for (int32_t row = 0; row < dimension; ++row)
            largest = fabs(matrix[row][column]) > largest ? fabs(matrix[row][column]) : largest;
        for (int32_t row = column + 1; row < dimension; ++row)
            if (fabs(rest[row][column]) > fabs(rest[pivot][column]))
                pivot = row;
        if (fabs(rest[pivot][column]) <= CC_MAX_DIMENSION * DBL_EPSILON * largest)
            return false;
        for (int32_t k = 0; k < dimension; ++k) {
            const double swapped = rest[column][k];
            rest[column][k] = rest[pivot][k];
            rest[pivot][k] = swapped;
        }
        for (int32_t row = column + 1; row < dimension; ++row) {
            const double factor = rest[row][column] / rest[column][column];
            for (int32_t k = column; k < dimension; ++k)
                rest[row][k] -= factor * rest[column][k];
        }
    }
    return true;
}

static cc_status check_spacing(const char *function, int32_t dimension, const double *spacing)
{
    for (int32_t axis = 0; axis < dimension; ++axis)
        if (!isfinite(spacing[axis]) || spacing[axis] <= 0)
            return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: spacing[%d] = %g, expected a finite value > 0", function,
                            axis, spacing[axis]);
    return CC_OK;
}

static cc_status check_origin(const char *function, int32_t dimension, const double *origin)
{
    for (int32_t axis = 0; axis < dimension; ++axis)
        if (!isfinite(origin[axis]))
            return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: origin[%d] = %g, expected a finite value", function, axis,
                            origin[axis]);
    return CC_OK;
}

static cc_status check_direction(const char *function, int32_t dimension,
                                 const double direction[CC_MAX_DIMENSION][CC_MAX_DIMENSION])
{
    for (int32_t row = 0; row < dimension; ++row)
        for (int32_t column = 0; column < dimension; ++column)
            if (!isfinite(direction[row][column]))
                return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: direction[%d][%d] = %g, expected a finite value",
                                function, row, column, direction[row][column]);
    if (!has_inverse(dimension, direction))
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: direction has no inverse, expected independent columns",
                        function);
    return CC_OK;
}

cc_status cc__geometry_check(const char *function, int32_t dimension, const cc__geometry *geometry)
{
    cc_status status = check_spacing(function, dimension, geometry->spacing);
    if (status == CC_OK)
        status = check_origin(function, dimension, geometry->origin);
    if (status == CC_OK)
        status = check_direction(function, dimension, geometry->direction);
    return status;
}

cc__geometry cc__geometry_pad(int32_t dimension, const cc__geometry *geometry)
{
    cc__geometry padded;
    for (int32_t row = 0; row < CC_MAX_DIMENSION; ++row) {
        padded.spacing[row] = row < dimension ? geometry->spacing[row] : 1;
        padded.origin[row] = row < dimension ? geometry->origin[row] : 0;
        for (int32_t column = 0; column < CC_MAX_DIMENSION; ++column)
            padded.direction[row][column] =
                row < dimension && column < dimension ? geometry->direction[row][column] : row == column;
    }
    return padded;
}

static cc_status check_arguments(const char *function, const cc_image *image, const char *name, const void *values)
{
    const cc_status status = cc__image_check(function, image);
    if (status == CC_OK && values == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected an array", function, name);
    return status;
}

cc_status cc_image_set_spacing(cc_image *image, const double spacing[CC_MAX_DIMENSION])
{
    cc_status status = check_arguments("cc_image_set_spacing", image, "spacing", spacing);
    if (status == CC_OK)
        status = check_spacing("cc_image_set_spacing", image->dimension, spacing);
    if (status == CC_OK)
        memcpy(image->geometry.spacing, spacing, (size_t)image->dimension * sizeof *spacing);
    return status;
}

cc_status cc_image_set_origin(cc_image *image, const double origin[CC_MAX_DIMENSION])
{
    cc_status status = check_arguments("cc_image_set_origin", image, "origin", origin);
    if (status == CC_OK)
        status = check_origin("cc_image_set_origin", image->dimension, origin);
    if (status == CC_OK)
        memcpy(image->geometry.origin, origin, (size_t)image->dimension * sizeof *origin);
    return status;
}

cc_status cc_image_set_direction(cc_image *image, const double *direction)
{
    double rows[CC_MAX_DIMENSION][CC_MAX_DIMENSION];
    cc_status status = check_arguments("cc_image_set_direction", image, "direction", direction);
    if (status != CC_OK)
        return status;
    memcpy(rows, direction, sizeof rows);
    status = check_direction("cc_image_set_direction", image->dimension, (const double(*)[CC_MAX_DIMENSION])rows);
    for (int32_t row = 0; status == CC_OK && row < image->dimension; ++row)
        memcpy(image->geometry.direction[row], rows[row], (size_t)image->dimension * sizeof rows[row][0]);
    return status;
}

cc_status cc_image_get_spacing(const cc_image *image, double out_spacing[CC_MAX_DIMENSION])
{
    const cc_status status = check_arguments("cc_image_get_spacing", image, "out_spacing", out_spacing);
    if (status == CC_OK)
        memcpy(out_spacing, image->geometry.spacing, sizeof image->geometry.spacing);
    return status;
}

cc_status cc_image_get_origin(const cc_image *image, double out_origin[CC_MAX_DIMENSION])
{
    const cc_status status = check_arguments("cc_image_get_origin", image, "out_origin", out_origin);
    if (status == CC_OK)
        memcpy(out_origin, image->geometry.origin, sizeof image->geometry.origin);
    return status;
}

cc_status cc_image_get_direction(const cc_image *image, double *out_direction)
{
    const cc_status status = check_arguments("cc_image_get_direction", image, "out_direction", out_direction);
    if (status == CC_OK)
        memcpy(out_direction, image->geometry.direction, sizeof image->geometry.direction);
    return status;
}

cc_status cc_image_get_point(const cc_image *image, const int64_t index[CC_MAX_DIMENSION],
                             double out_point[CC_MAX_DIMENSION])
{
    cc_status status = check_arguments("cc_image_get_point", image, "index", index);
    if (status == CC_OK)
        status = check_arguments("cc_image_get_point", image, "out_point", out_point);
    if (status != CC_OK)
        return status;
    for (int32_t row = 0; row < CC_MAX_DIMENSION; ++row) {
        double sum = 0;
        for (int32_t axis = 0; row < image->dimension && axis < image->dimension; ++axis)
            sum += image->geometry.direction[row][axis] * (image->geometry.spacing[axis] * (double)index[axis]);
        out_point[row] = row < image->dimension ? image->geometry.origin[row] + sum : 0;
    }
    return CC_OK;
}

cc_status cc__geometry_read(const char *function, const char *name, int32_t dimension, const cc_geometry *geometry,
                            cc_geometry *out_geometry)
{
    cc_geometry known = CC_GEOMETRY_INIT;
    cc__geometry values;
    if (geometry->struct_size < sizeof geometry->struct_size)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s.struct_size = %u, expected CC_GEOMETRY_INIT", function, name,
                        (unsigned)geometry->struct_size);
    memcpy(&known, geometry, geometry->struct_size < sizeof known ? geometry->struct_size : sizeof known);
    if (known.dimension != dimension)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s.dimension = %d, expected the image's %d", function, name,
                        known.dimension, dimension);
    memcpy(values.spacing, known.spacing, sizeof values.spacing);
    memcpy(values.origin, known.origin, sizeof values.origin);
    memcpy(values.direction, known.direction, sizeof values.direction);
    const cc_status status = cc__geometry_check(function, dimension, &values);
    if (status == CC_OK)
        *out_geometry = known;
    return status;
}

void cc__geometry_write(const cc_geometry *geometry, cc_geometry *out_geometry)
{
    const uint32_t struct_size = out_geometry->struct_size;
    memcpy(out_geometry, geometry, struct_size < sizeof *geometry ? struct_size : sizeof *geometry);
    out_geometry->struct_size = struct_size;
}

cc_geometry cc__geometry_of(int32_t dimension, const cc_region *region, const cc__geometry *geometry)
{
    cc_geometry whole = CC_GEOMETRY_INIT;
    whole.dimension = dimension;
    memcpy(whole.index, region->index, sizeof whole.index);
    memcpy(whole.spacing, geometry->spacing, sizeof whole.spacing);
    memcpy(whole.origin, geometry->origin, sizeof whole.origin);
    memcpy(whole.direction, geometry->direction, sizeof whole.direction);
    return whole;
}

cc_status cc_image_get_geometry(const cc_image *image, cc_geometry *out_geometry)
{
    static const char *const function = "cc_image_get_geometry";
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK && out_geometry == NULL)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_geometry = NULL, expected a pointer", function);
    if (status == CC_OK && out_geometry->struct_size < sizeof out_geometry->struct_size)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_geometry.struct_size = %u, expected CC_GEOMETRY_INIT",
                          function, (unsigned)out_geometry->struct_size);
    if (status != CC_OK)
        return status;
    const cc_geometry geometry = cc__geometry_of(image->dimension, &image->region, &image->geometry);
    cc__geometry_write(&geometry, out_geometry);
    return CC_OK;
}

cc_status cc_image_set_geometry(cc_image *image, const cc_geometry *geometry)
{
    static const char *const function = "cc_image_set_geometry";
    cc_geometry known;
    cc__geometry values;
    cc_region region;
    cc_region padded;
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK && geometry == NULL)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: geometry = NULL, expected a pointer", function);
    if (status == CC_OK)
        status = cc__geometry_read(function, "geometry", image->dimension, geometry, &known);
    if (status != CC_OK)
        return status;
    region = image->region;
    memcpy(region.index, known.index, sizeof region.index);
    status = cc__region_check(function, "geometry", image->dimension, &region, &padded);
    if (status == CC_OK && memcmp(padded.index, image->region.index, sizeof padded.index) != 0)
        status = cc__image_check_unmapped(function, image);
    if (status != CC_OK)
        return status;
    memcpy(values.spacing, known.spacing, sizeof values.spacing);
    memcpy(values.origin, known.origin, sizeof values.origin);
    memcpy(values.direction, known.direction, sizeof values.direction);
    const int32_t locked = cc__image_lock(image);
    image->region = padded;
    image->geometry = cc__geometry_pad(image->dimension, &values);
    cc__image_unlock(locked);
    return CC_OK;
}
