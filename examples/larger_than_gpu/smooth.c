#include "smooth.h"

#include "smooth_pixel.h"

#include <string.h>

#ifndef SMOOTH_HAS_CUDA
int smooth_launch(const cc_tile *tile)
{
    (void)tile;
    return -1;
}
#endif

cc_place smooth_place(void)
{
#ifdef SMOOTH_HAS_CUDA
    /* An emulated device is host memory: a kernel cannot run there. */
    if (cc_device_count() > 0 && strcmp(cc_device_backend_name(), "cuda") == 0)
        return 0;
#endif
    return CC_PLACE_HOST;
}

cc_status smooth_tile(const cc_tile *tile, void *user_data)
{
    int64_t count = 1;
    (void)user_data;
    if (tile->place != CC_PLACE_HOST)
        return smooth_launch(tile) == 0 ? CC_OK : CC_ERROR_DEVICE;
    for (int32_t axis = 0; axis < 3; axis++)
        count *= tile->output.region.size[axis];
    for (int64_t n = 0; n < count; n++)
        smooth_pixel(&tile->inputs[0], &tile->output, n);
    return CC_OK;
}
