/*
 * larger_than_gpu [SLICES [LIMIT_MIB]]: smooths a volume of 256 x 256 x SLICES floats with no more than LIMIT_MIB of
 * device memory, however large the volume is, and checks the result against that of the host.
 */
#include "smooth.h"

#include <stdio.h>
#include <stdlib.h>

#define WIDTH 256

static int failed(const char *what)
{
    fprintf(stderr, "larger_than_gpu: %s: %s\n", what, cc_last_error_message());
    return 1;
}

static cc_status create(int64_t slices, cc_image **out_image)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    params.dimension = 3;
    params.pixel_type = CC_PIXEL_FLOAT32;
    params.region = (cc_region){.size = {WIDTH, WIDTH, slices}};
    params.flags = CC_IMAGE_UNINITIALIZED;
    return cc_image_create(&params, out_image);
}

static cc_status write_input(cc_image *image)
{
    const int64_t count = (int64_t)(cc_image_get_size_bytes(image) / sizeof(float));
    void *pixels;
    const cc_status status = cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels);
    for (int64_t n = 0; status == CC_OK && n < count; n++)
        ((float *)pixels)[n] = (float)(n * 2654435761 % 65536);
    return status == CC_OK ? cc_image_unmap_host(image, pixels) : status;
}

/* Returning anything but 0 would cancel. */
static int32_t show(int64_t done, int64_t count, void *user_data)
{
    (void)user_data;
    printf("\rtile %d of %d%s", (int)done, (int)count, done == count ? "\n" : "");
    fflush(stdout);
    return 0;
}

static cc_status smooth(cc_image *from, cc_image *to, cc_place place, size_t limit_bytes)
{
    cc_tiles_input input = CC_TILES_INPUT_INIT;
    cc_tiles_params params = CC_TILES_PARAMS_INIT;
    input.image = from;
    for (int32_t axis = 0; axis < 3; axis++)
        input.halo_before[axis] = input.halo_after[axis] = 1;
    params.place = place;
    params.limit_bytes = limit_bytes;
    params.inputs = &input;
    params.input_count = 1;
    params.output = to;
    params.function = smooth_tile;
    params.progress = show;
    return cc_tiles_run(&params);
}

/* -1 when the pixels cannot be had. */
static int64_t count_differences(cc_image *a, cc_image *b)
{
    const int64_t count = (int64_t)(cc_image_get_size_bytes(a) / sizeof(float));
    void *in_a, *in_b;
    int64_t differences = 0;
    if (cc_image_map_host(a, NULL, CC_ACCESS_READ, &in_a) != CC_OK)
        return -1;
    if (cc_image_map_host(b, NULL, CC_ACCESS_READ, &in_b) != CC_OK) {
        cc_image_unmap_host(a, in_a);
        return -1;
    }
    for (int64_t n = 0; n < count; n++)
        differences += ((float *)in_a)[n] != ((float *)in_b)[n];
    cc_image_unmap_host(a, in_a);
    cc_image_unmap_host(b, in_b);
    return differences;
}

int main(int argument_count, char **arguments)
{
    const long slices = argument_count > 1 ? atol(arguments[1]) : 256;
    const long limit_mib = argument_count > 2 ? atol(arguments[2]) : 8;
    cc_image *input = NULL, *smoothed = NULL, *expected = NULL;
    const cc_place place = smooth_place();
    int64_t differences = -1;
    int result = 1;

    if (slices < 1 || limit_mib < 1) {
        fprintf(stderr, "usage: larger_than_gpu [SLICES [LIMIT_MIB]]\n");
        return 1;
    }
    if (create(slices, &input) != CC_OK || create(slices, &smoothed) != CC_OK || create(slices, &expected) != CC_OK ||
        write_input(input) != CC_OK) {
        failed("images");
        goto end;
    }
    printf("%ld MiB on the %s, %ld MiB of it at once\n", slices / 4, place == CC_PLACE_HOST ? "host" : "GPU",
           limit_mib);
    if (smooth(input, smoothed, place, (size_t)limit_mib << 20) != CC_OK ||
        smooth(input, expected, CC_PLACE_HOST, 0) != CC_OK) {
        failed("smoothing");
        goto end;
    }
    differences = count_differences(smoothed, expected);
    printf("pixels that differ from the host's: %d\n", (int)differences);
    result = differences == 0 ? 0 : 1;
end:
    cc_image_release(expected);
    cc_image_release(smoothed);
    cc_image_release(input);
    return result;
}
