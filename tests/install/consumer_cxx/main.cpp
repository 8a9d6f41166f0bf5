// The library from C++11, with an owner that lets go by itself.
#include <cudacommon/cudacommon.h>
#include <iostream>
#include <memory>

int main()
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    params.dimension = 3;
    params.pixel_type = CC_PIXEL_FLOAT32;
    params.region.size[0] = params.region.size[1] = params.region.size[2] = 4;

    cc_image *created = nullptr;
    if (cc_image_create(&params, &created) != CC_OK) {
        std::cerr << cc_last_error_message() << '\n';
        return 1;
    }
    std::unique_ptr<cc_image, decltype(&cc_image_release)> image(created, cc_image_release);

    void *pixels = nullptr;
    if (cc_image_map_host(image.get(), nullptr, CC_ACCESS_READ_WRITE, &pixels) != CC_OK) {
        std::cerr << cc_last_error_message() << '\n';
        return 1;
    }
    float *values = static_cast<float *>(pixels);
    const bool zero = values[0] == 0.0f && values[63] == 0.0f;
    values[63] = 1.5f;
    return zero && cc_image_unmap_host(image.get(), pixels) == CC_OK ? 0 : 1;
}
