#include "ops/grid_map.h"

#include <math.h>
#include <string.h>

/* direction * x = vector, by elimination with the largest pivot; directions have inverses. */
static void solve(int32_t axes, const double direction[CC_MAX_DIMENSION][CC_MAX_DIMENSION], double vector[3])
{
    double rest[3][4];
    for (int32_t row = 0; row < axes; row++) {
        for (int32_t column = 0; column < axes; column++)
            rest[row][column] = direction[row][column];
        rest[row][axes] = vector[row];
    }
    for (int32_t column = 0; column < axes; column++) {
        int32_t pivot = column;
        for (int32_t row = column + 1; row < axes; row++)
            if (fabs(rest[row][column]) > fabs(rest[pivot][column]))
                pivot = row;
        for (int32_t k = 0; k <= axes && pivot != column; k++) {
            const double swapped = rest[column][k];
            rest[column][k] = rest[pivot][k];
            rest[pivot][k] = swapped;
        }
        for (int32_t row = column + 1; row < axes; row++) {
            const double factor = rest[row][column] / rest[column][column];
            for (int32_t k = column; k <= axes; k++)
                rest[row][k] -= factor * rest[column][k];
        }
    }
    for (int32_t row = axes - 1; row >= 0; row--) {
        double sum = rest[row][axes];
        for (int32_t column = row + 1; column < axes; column++)
            sum -= rest[row][column] * vector[column];
        vector[row] = sum / rest[row][row];
    }
}

/* A vector in space as pixels of `to`. */
static void to_pixels(const cc_image *to, int32_t axes, double vector[3])
{
    solve(axes, to->geometry.direction, vector);
    for (int32_t axis = 0; axis < axes; axis++)
        vector[axis] /= to->geometry.spacing[axis];
}

static void transform_vector(const cc__affine *transform, double vector[3])
{
    double turned[3] = {0, 0, 0};
    for (int32_t row = 0; row < 3; row++)
        for (int32_t column = 0; column < 3; column++)
            turned[row] += transform->matrix[row][column] * vector[column];
    memcpy(vector, turned, sizeof turned);
}

static bool only_moves(const cc_image *from, const cc_image *to, const cc__affine *transform, int32_t axes)
{
    for (int32_t row = 0; row < axes; row++)
        for (int32_t column = 0; column < axes; column++)
            if (transform->matrix[row][column] != (row == column) ||
                from->geometry.direction[row][column] != to->geometry.direction[row][column])
                return false;
    return true;
}

static bool is_finite(const double *values, int32_t count)
{
    for (int32_t n = 0; n < count; n++)
        if (!isfinite(values[n]))
            return false;
    return true;
}

bool cc__grid_map(const cc_image *from, const cc_image *to, const cc__affine *transform, int32_t axes, cc__map *out_map)
{
    const bool is_scale = only_moves(from, to, transform, axes);
    const cc__geometry *geometry = &from->geometry;
    double origin[3] = {0, 0, 0};
    memset(out_map, 0, sizeof *out_map);
    for (int32_t axis = 0; axis < axes; axis++)
        origin[axis] = geometry->origin[axis];
    for (int32_t axis = 0; axis < axes; axis++) {
        double step[3] = {0, 0, 0};
        for (int32_t row = 0; row < axes; row++)
            step[row] = geometry->direction[row][axis] * geometry->spacing[axis];
        for (int32_t row = 0; row < axes && !is_scale; row++)
            origin[row] += step[row] * (double)from->region.index[axis];
        transform_vector(transform, step);
        to_pixels(to, axes, step);
        for (int32_t row = 0; row < axes; row++)
            out_map->row[row][axis] = is_scale ? row == axis : step[row];
        if (is_scale)
            out_map->row[axis][axis] = geometry->spacing[axis] / to->geometry.spacing[axis];
    }
    transform_vector(transform, origin);
    for (int32_t axis = 0; axis < axes; axis++)
        origin[axis] = (origin[axis] - to->geometry.origin[axis]) + transform->offset[axis];
    to_pixels(to, axes, origin);
    for (int32_t axis = 0; axis < axes; axis++) {
        const double start = is_scale ? out_map->row[axis][axis] * (double)from->region.index[axis] : 0;
        out_map->row[axis][3] = origin[axis] + (start - (double)to->region.index[axis]);
    }
    return is_finite(out_map->row[0], 12);
}

bool cc__grid_pull(const cc_image *to, const cc__affine *transform, int32_t axes, double out_pull[3][3])
{
    memset(out_pull, 0, 9 * sizeof(double));
    for (int32_t axis = 0; axis < axes; axis++) {
        double step[3] = {0, 0, 0};
        step[axis] = 1;
        transform_vector(transform, step);
        to_pixels(to, axes, step);
        for (int32_t row = 0; row < axes; row++)
            out_pull[row][axis] = step[row];
    }
    return is_finite(out_pull[0], 9);
}
