/* Eight pixels, filled, one of them changed on the GPU if there is one, read on the CPU. */
#include <cudacommon/cudacommon.h>
#include <stdio.h>

int main(void)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    params.dimension = 3;
    params.pixel_type = CC_PIXEL_FLOAT32;
    params.region = (cc_region){.size = {2, 2, 2}};

    const float most = 42.3f, first = 42.314f;
    const cc_region first_pixel = {.size = {1, 1, 1}};
    cc_counters counters = CC_COUNTERS_INIT;
    cc_image *image = NULL;
    void *pixels;

    if (cc_image_create(&params, &image) != CC_OK ||
        cc_image_fill(image, NULL, &most, CC_STREAM_DEFAULT) != CC_OK ||          /* keeps the value, no memory yet */
        cc_image_fill(image, &first_pixel, &first, CC_STREAM_DEFAULT) != CC_OK || /* on the device if there is one */
        cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels) != CC_OK) {       /* brings down what is stale */
        fprintf(stderr, "%s\n", cc_last_error_message());
        cc_image_release(image);
        return 1;
    }
    printf("first pixel %.3f, last pixel %.3f\n", ((float *)pixels)[0], ((float *)pixels)[7]);
    cc_image_unmap_host(image, pixels);

    cc_image_get_counters(image, &counters);
    printf("device \"%s\", copies down: %d\n", cc_device_backend_name(), (int)counters.device_to_host_copies);
    cc_image_release(image);
    return 0;
}
