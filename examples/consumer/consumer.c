/* A module that uses CudaCommon: checks versions, fills an image, runs its own kernel, checks the result. */
#include "square.h"

#include <inttypes.h>
#include <stdio.h>

/* At build time: are the headers new enough? */
#if !CUDACOMMON_VERSION_AT_LEAST(2, 0)
#error "this module needs CudaCommon 2.0 or later"
#endif

static int failed(const char *what, cc_status status)
{
    fprintf(stderr, "consumer: %s: %s, last message: %s\n", what, cc_status_name(status), cc_last_error_message());
    return 1;
}

int main(void)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *image = NULL;
    void *mapped;
    cc_status status;
    int result = 1;

    /* At run time: the library that is loaded may be newer than the headers, not older. */
    printf("headers %s, library %s, square() runs on the %s (backend \"%s\")\n", CUDACOMMON_VERSION_STRING,
           cc_version_string(), square_place(), cc_device_backend_name());
    if (cc_version() < CUDACOMMON_VERSION) {
        fprintf(stderr, "consumer: the library is older than the headers this was built with\n");
        return 1;
    }

    params.dimension = 3;
    params.pixel_type = CC_PIXEL_FLOAT32;
    params.region = (cc_region){.size = {64, 48, 32}};
    params.flags = CC_IMAGE_UNINITIALIZED;
    status = cc_image_create(&params, &image);
    if (status != CC_OK)
        return failed("create", status);

    const int64_t count = (int64_t)(cc_image_get_size_bytes(image) / sizeof(float));
    status = cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &mapped);
    if (status != CC_OK) {
        failed("write", status);
        goto end;
    }
    for (int64_t n = 0; n < count; n++)
        ((float *)mapped)[n] = (float)n;
    cc_image_unmap_host(image, mapped);

    status = square(image, CC_STREAM_PER_THREAD);
    if (status != CC_OK) {
        failed("square", status);
        goto end;
    }

    status = cc_image_map_host(image, NULL, CC_ACCESS_READ, &mapped); /* waits for the kernel */
    if (status != CC_OK) {
        failed("read", status);
        goto end;
    }
    int64_t wrong = 0;
    for (int64_t n = 0; n < count; n++)
        wrong += ((const float *)mapped)[n] != (float)n * (float)n;
    cc_image_unmap_host(image, mapped);

    printf("%" PRId64 " pixels squared, %" PRId64 " wrong\n", count, wrong);
    result = wrong == 0 ? 0 : 1;

end:
    cc_image_release(image);
    return result;
}
