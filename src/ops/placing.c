#include "ops/placing.h"

cc__geometry cc__placing_geometry(const cc__placing *placing, int32_t dimension, const cc__geometry *input,
                                  const int64_t index[CC_MAX_DIMENSION])
{
    cc__geometry made = *input;
    for (int32_t row = 0; row < dimension; row++) {
        double sum = 0;
        for (int32_t axis = 0; axis < dimension; axis++) {
            const int32_t source = placing->source[axis];
            const double along = input->direction[row][source];
            const double first = (double)placing->first[axis];
            const double at = placing->is_flipped[axis] ? first + (double)index[axis] : first - (double)index[axis];
            sum += along * (input->spacing[source] * at);
            made.direction[row][axis] = placing->is_flipped[axis] ? 0.0 - along : along;
        }
        made.origin[row] = input->origin[row] + sum;
    }
    for (int32_t axis = 0; axis < dimension; axis++)
        made.spacing[axis] = input->spacing[placing->source[axis]];
    return made;
}

void cc__placing_set(const cc__placing *placing, const cc_image *input, cc_image *output)
{
    const cc__geometry made = cc__placing_geometry(placing, output->dimension, &input->geometry, output->region.index);
    const int32_t locked = cc__image_lock(output);
    output->geometry = made;
    cc__image_unlock(locked);
}
