/* A module that uses CudaCommon: checks versions, runs its own filters on images, checks the results. */
#include "filters.h"

#include <inttypes.h>
#include <stdio.h>

/* At build time: are the headers new enough? */
#if !CUDACOMMON_VERSION_AT_LEAST(2, 0)
#error "this module needs CudaCommon 2.0 or later"
#endif

#define WIDTH 64

static int failed(const char *what, cc_status status)
{
    fprintf(stderr, "consumer: %s: %s, last message: %s\n", what, cc_status_name(status), cc_last_error_message());
    return 1;
}

static cc_status create(cc_pixel_type type, cc_image **out_image)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    params.dimension = 3;
    params.pixel_type = type;
    params.region = (cc_region){.size = {WIDTH, 48, 32}};
    params.flags = CC_IMAGE_UNINITIALIZED;
    return cc_image_create(&params, out_image);
}

static uint16_t value_of(int64_t n)
{
    return (uint16_t)(n * 40503 % 4096);
}

static cc_status write_input(cc_image *image)
{
    const int64_t count = (int64_t)(cc_image_get_size_bytes(image) / sizeof(uint16_t));
    void *pixels;
    const cc_status status = cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels);
    for (int64_t n = 0; status == CC_OK && n < count; n++)
        ((uint16_t *)pixels)[n] = value_of(n);
    return status == CC_OK ? cc_image_unmap_host(image, pixels) : status;
}

/* What the two filters must make of the n-th pixel. */
static float expected(int64_t n)
{
    const int64_t i = n % WIDTH;
    const int sum = value_of(i > 0 ? n - 1 : n) + value_of(n) + value_of(i + 1 < WIDTH ? n + 1 : n);
    const float mean = (float)sum / 3.0f;
    return mean * mean;
}

static cc_status count_wrong(cc_image *image, int64_t *out_wrong)
{
    const int64_t count = (int64_t)(cc_image_get_size_bytes(image) / sizeof(float));
    void *pixels;
    const cc_status status = cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels); /* waits for the kernels */
    *out_wrong = 0;
    for (int64_t n = 0; status == CC_OK && n < count; n++)
        *out_wrong += ((const float *)pixels)[n] != expected(n);
    return status == CC_OK ? cc_image_unmap_host(image, pixels) : status;
}

int main(void)
{
    cc_image *input = NULL, *output = NULL;
    int64_t wrong = -1;

    /* At run time: the library that is loaded may be newer than the headers, not older. */
    printf("headers %s, library %s, the filters run on the %s (backend \"%s\")\n", CUDACOMMON_VERSION_STRING,
           cc_version_string(), filters_place(), cc_device_backend_name());
    if (cc_version() < CUDACOMMON_VERSION) {
        fprintf(stderr, "consumer: the library is older than the headers this was built with\n");
        return 1;
    }

    cc_status status = create(CC_PIXEL_UINT16, &input);
    if (status == CC_OK)
        status = create(CC_PIXEL_FLOAT32, &output);
    if (status == CC_OK)
        status = write_input(input);
    if (status == CC_OK)
        status = smooth_rows(input, output, CC_STREAM_PER_THREAD);
    if (status == CC_OK)
        status = square(output, CC_STREAM_PER_THREAD);
    if (status == CC_OK)
        status = count_wrong(output, &wrong);
    if (status != CC_OK)
        failed("smooth and square", status);
    else
        printf("%d pixels smoothed and squared, %" PRId64 " wrong\n", WIDTH * 48 * 32, wrong);
    cc_image_release(output);
    cc_image_release(input);
    return wrong == 0 ? 0 : 1;
}
