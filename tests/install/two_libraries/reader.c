#include <cudacommon/cudacommon.h>

int32_t read_and_release(cc_image *image);

int32_t read_and_release(cc_image *image)
{
    void *pixels = 0;
    int32_t value = -1;
    if (cc_image_map_host(image, 0, CC_ACCESS_READ, &pixels) == CC_OK) {
        value = *(const int32_t *)pixels;
        (void)cc_image_unmap_host(image, pixels);
    }
    cc_image_release(image);
    return value;
}
