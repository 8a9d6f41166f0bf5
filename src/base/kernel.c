#include "base/kernel.h"

cc__kernel_range cc__kernel_range_of(const cc__span *span, const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes)
{
    cc__kernel_range range = {span->data, pixel_bytes};
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        const int64_t reach = (size[axis] - 1) * span->stride[axis];
        if (reach < 0)
            range.first += reach;
        range.size_bytes += reach < 0 ? -reach : reach;
    }
    return range;
}
