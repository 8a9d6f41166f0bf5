/* A program that knows the library only by its package. Prints nothing when all is well. */
#include <cudacommon/cudacommon.h>
#include <stdio.h>

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "line %d: %s; %s\n", __LINE__, #condition, cc_last_error_message());                       \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

int main(void)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *image = NULL;
    const int16_t value = -7;
    void *pixels = NULL;

    EXPECT(cc_version() == CUDACOMMON_VERSION);

    params.dimension = 2;
    params.pixel_type = CC_PIXEL_INT16;
    params.region.size[0] = 3;
    params.region.size[1] = 2;
    EXPECT(cc_image_create(&params, &image) == CC_OK);
    EXPECT(cc_image_fill(image, NULL, &value, CC_STREAM_DEFAULT) == CC_OK);
    EXPECT(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels) == CC_OK);
    EXPECT(((const int16_t *)pixels)[0] == value && ((const int16_t *)pixels)[5] == value);
    EXPECT(cc_image_unmap_host(image, pixels) == CC_OK);
    cc_image_release(image);
    return 0;
}
