#include "square.h"

#include "square_pixel.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#ifdef CONSUMER_HAS_CUDA
/* An emulated device is host memory: a kernel cannot run there. */
static bool runs_on_gpu(void)
{
    return cc_device_count() > 0 && strcmp(cc_device_backend_name(), "cuda") == 0;
}
#else
static bool runs_on_gpu(void)
{
    return false;
}

int square_launch(const cc_descriptor *pixels, int64_t count, int32_t device, cc_stream stream)
{
    (void)pixels, (void)count, (void)device, (void)stream;
    return -1;
}
#endif

const char *square_place(void)
{
    return runs_on_gpu() ? "GPU" : "host";
}

cc_status square(cc_image *image, cc_stream stream)
{
    const bool on_gpu = runs_on_gpu();
    cc_descriptor pixels = CC_DESCRIPTOR_INIT;
    int64_t count = 1;

    if (cc_image_get_pixel_type(image) != CC_PIXEL_FLOAT32)
        return CC_ERROR_PIXEL_TYPE;

    /* READ_WRITE: whatever is newer elsewhere comes here first, and what is elsewhere is stale afterwards. */
    cc_status status = cc_image_map_descriptor(image, NULL, CC_ORDER_K, 0, on_gpu ? CC_DEVICE_CURRENT : CC_PLACE_HOST,
                                               CC_ACCESS_READ_WRITE, on_gpu ? stream : CC_STREAM_DEFAULT, &pixels);
    if (status != CC_OK)
        return status;
    for (int32_t axis = 0; axis < pixels.ndim; axis++)
        count *= pixels.shape[axis];

    if (!on_gpu) {
        for (int64_t n = 0; n < count; n++)
            square_pixel(&pixels, n);
    } else if (square_launch(&pixels, count, pixels.place, stream) != 0) {
        status = CC_ERROR_DEVICE;
    }

    /* Given back in any case; an image whose mapping was forgotten stays busy. */
    const cc_status unmapped = cc_image_unmap_descriptor(image, &pixels);
    return status != CC_OK ? status : unmapped;
}
