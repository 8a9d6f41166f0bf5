/* An image leaves as a DLPack tensor, is changed by somebody who knows nothing of images, and comes back. */
#include <cudacommon/cudacommon.h>
#include <dlpack/dlpack.h>
#include <stdio.h>

/* The other library: doubles every element, wherever its strides put it. It has no idea of spacing or origin. */
static void double_elements(const DLTensor *tensor)
{
    char *data = (char *)tensor->data + tensor->byte_offset;
    for (int64_t j = 0; j < tensor->shape[0]; ++j)
        for (int64_t i = 0; i < tensor->shape[1]; ++i)
            ((float *)(void *)data)[j * tensor->strides[0] + i * tensor->strides[1]] *= 2;
}

static int fail(void)
{
    fprintf(stderr, "%s\n", cc_last_error_message());
    return 1;
}

int main(void)
{
    const float value = 21;
    const cc_region right_half = {.index = {12, -5}, .size = {2, 3}};
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_export_params export_params = CC_EXPORT_PARAMS_INIT;
    cc_import_params import_params = CC_IMPORT_PARAMS_INIT;
    struct DLManagedTensorVersioned *tensor = NULL;
    cc_image *image = NULL, *returned = NULL;
    double point[CC_MAX_DIMENSION];
    void *pixels;

    params.dimension = 2;
    params.pixel_type = CC_PIXEL_FLOAT32;
    params.region = (cc_region){.index = {10, -5}, .size = {4, 3}};
    params.spacing[0] = 0.5;
    params.origin[1] = 100;
    if (cc_image_create(&params, &image) != CC_OK || cc_image_fill(image, NULL, &value, CC_STREAM_DEFAULT) != CC_OK)
        return fail();

    /* Lend half of it, on the host. The tensor keeps the pixels, so that the image may go. */
    export_params.region = &right_half;
    export_params.place = CC_PLACE_HOST;
    if (cc_image_export_dlpack(image, &export_params, 0, &tensor) != CC_OK)
        return fail();
    cc_image_release(image);
    double_elements(&tensor->dl_tensor);

    /* The same memory comes back as the same pixels: a view, with the index, spacing and origin that it left with. */
    import_params.dimension = 2;
    import_params.flags = CC_IMPORT_STRIDED;
    if (cc_image_import_dlpack(tensor, &import_params, CC_STREAM_DEFAULT, &returned) != CC_OK) {
        tensor->deleter(tensor);
        return fail();
    }
    const cc_region region = cc_image_get_region(returned);
    if (cc_image_map_host(returned, NULL, CC_ACCESS_READ, &pixels) != CC_OK ||
        cc_image_get_point(returned, region.index, point) != CC_OK)
        return fail();
    printf("first pixel %g, index (%d, %d), at (%g, %g)\n", *(float *)pixels, (int)region.index[0],
           (int)region.index[1], point[0], point[1]);
    cc_image_unmap_host(returned, pixels);
    cc_image_release(returned);
    return 0;
}
