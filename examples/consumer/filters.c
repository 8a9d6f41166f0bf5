#include "filters.h"

#include "filter_pixels.h"

#include <string.h>

#ifdef CONSUMER_HAS_CUDA
#define KERNEL(function) (function)
#else
#define KERNEL(function) NULL
#endif

static cc_status square_on_host(const cc_tile *tile, void *user_data)
{
    const int64_t count = count_pixels(&tile->output);
    (void)user_data;
    for (int64_t n = 0; n < count; n++)
        square_pixel(&tile->output, n);
    return CC_OK;
}

static cc_status smooth_rows_on_host(const cc_tile *tile, void *user_data)
{
    const int64_t count = count_pixels(&tile->output);
    (void)user_data;
    for (int64_t n = 0; n < count; n++)
        smooth_pixel(&tile->inputs[0], &tile->output, n);
    return CC_OK;
}

/* The output is the input: whatever is newer elsewhere comes first, and what is elsewhere is stale afterwards. */
cc_status square(cc_image *image, cc_stream stream)
{
    cc_filter filter = CC_FILTER_INIT;
    if (cc_image_get_pixel_type(image) != CC_PIXEL_FLOAT32 || cc_image_get_components(image) != 1)
        return CC_ERROR_PIXEL_TYPE;
    filter.inputs = &image;
    filter.input_count = 1;
    filter.output = image;
    filter.on_device = KERNEL(square_on_device);
    filter.on_host = square_on_host;
    filter.stream = stream;
    return cc_filter_run(&filter);
}

cc_status smooth_rows(cc_image *input, cc_image *output, cc_stream stream)
{
    const cc_region from = cc_image_get_region(input), to = cc_image_get_region(output);
    cc_filter filter = CC_FILTER_INIT;
    if (cc_image_get_pixel_type(input) != CC_PIXEL_UINT16 || cc_image_get_pixel_type(output) != CC_PIXEL_FLOAT32 ||
        cc_image_get_components(input) != 1 || cc_image_get_components(output) != 1)
        return CC_ERROR_PIXEL_TYPE;
    if (memcmp(from.size, to.size, sizeof from.size) != 0)
        return CC_ERROR_SIZE;
    filter.inputs = &input;
    filter.input_count = 1;
    filter.output = output;
    filter.on_device = KERNEL(smooth_rows_on_device);
    filter.on_host = smooth_rows_on_host;
    filter.stream = stream;
    return cc_filter_run(&filter);
}

const char *filters_place(void)
{
#ifdef CONSUMER_HAS_CUDA
    if (cc_device_count() > 0 && strcmp(cc_device_backend_name(), "cuda") == 0)
        return "GPU";
#endif
    return "host";
}
