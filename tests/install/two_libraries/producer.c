#include <cudacommon/cudacommon.h>

cc_image *produce(int32_t value);

cc_image *produce(int32_t value)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *image = 0;
    params.dimension = 1;
    params.pixel_type = CC_PIXEL_INT32;
    params.region.size[0] = 1;
    if (cc_image_create(&params, &image) != CC_OK)
        return 0;
    if (cc_image_fill(image, 0, &value, CC_STREAM_DEFAULT) != CC_OK) {
        cc_image_release(image);
        return 0;
    }
    return image;
}
