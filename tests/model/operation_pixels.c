/* Pixels of images as the oracle has them, and as the library makes them where nothing can be stale. */
#include "operation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SIXTEENTHS 524288.0

unsigned char *pixels_at(const operation_pixels *pixels, const int64_t at[CC_MAX_DIMENSION])
{
    int64_t pixel = 0;
    for (int32_t axis = CC_MAX_DIMENSION - 1; axis >= 0; axis--)
        pixel = pixel * pixels->size[axis] + at[axis];
    return pixels->bytes + pixel * pixels->pixel_bytes;
}

double pixels_get(const operation_pixels *pixels, const int64_t at[CC_MAX_DIMENSION], int32_t component)
{
    const size_t bytes = cc_pixel_type_size_bytes(pixels->kind.type);
    return value_get(pixels->kind.type, pixels_at(pixels, at) + (size_t)component * bytes);
}

void pixels_set(operation_pixels *pixels, const int64_t at[CC_MAX_DIMENSION], int32_t component, double value)
{
    const size_t bytes = cc_pixel_type_size_bytes(pixels->kind.type);
    value_set(pixels->kind.type, value, pixels_at(pixels, at) + (size_t)component * bytes);
}

void pixels_locate(const operation_pixels *pixels, int64_t pixel, int64_t out_at[CC_MAX_DIMENSION])
{
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        out_at[axis] = pixel % pixels->size[axis];
        pixel /= pixels->size[axis];
    }
}

bool pixels_are_simple(const operation_pixels *pixels)
{
    const size_t bytes = cc_pixel_type_size_bytes(pixels->kind.type);
    for (int64_t i = 0; i < pixels->count * pixels->kind.components; i++) {
        const double sixteenths = value_get(pixels->kind.type, pixels->bytes + (size_t)i * bytes) * 16;
        if (sixteenths != floor(sixteenths) || fabs(sixteenths) > MOST_SIXTEENTHS ||
            (sixteenths == 0 && signbit(sixteenths) != 0))
            return false;
    }
    return !value_is_complex(pixels->kind.type);
}

operation_pixels pixels_take(const model_image *image)
{
    operation_pixels pixels = {
        .kind = image->kind, .count = oracle_box_count(&image->box), .pixel_bytes = image->pixels->oracle->pixel_bytes};
    bool *known = malloc((size_t)pixels.count + 1);
    memcpy(pixels.size, image->box.size, sizeof pixels.size);
    pixels.bytes = malloc((size_t)(pixels.count * pixels.pixel_bytes) + 1);
    oracle_take(image->pixels->oracle, &image->box, pixels.bytes, known);
    free(known);
    return pixels;
}

/* An image like the program's, that only ever is on the host, in these bytes. */
static cc_image *host_image(const model_image *like, const operation_pixels *pixels)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_wrap_params wrap = CC_WRAP_PARAMS_INIT;
    cc_geometry geometry = CC_GEOMETRY_INIT;
    cc_image *image = NULL;
    params.dimension = like->dimension;
    params.pixel_type = like->kind.type;
    params.components = like->kind.components;
    params.region = like->region;
    wrap.flags = CC_WRAP_BORROWED;
    wrap.data = pixels->bytes;
    wrap.size_bytes = (size_t)(pixels->count * pixels->pixel_bytes);
    model_ok(cc_image_get_geometry(like->handle, &geometry));
    model_ok(cc_image_create(&params, &image));
    model_ok(cc_image_set_geometry(image, &geometry));
    model_ok(cc_image_wrap_host(image, &wrap));
    return image;
}

/* Output and inputs that are one image stay one. */
void operation_compute_on_host(const operation_kind *kind, model_operation *operation, const operation_pixels inputs[],
                               const operation_pixels *output)
{
    cc_image *handles[OPERATION_INPUTS] = {NULL};
    cc_image *made = operation->output != NULL ? host_image(operation->output, output) : NULL;
    for (int32_t i = 0; i < operation->input_count; i++) {
        const model_image *input = operation->inputs[i];
        const bool is_made = made != NULL && input->pixels == operation->output->pixels &&
                             memcmp(&input->box, &operation->output->box, sizeof input->box) == 0;
        handles[i] = is_made ? cc_image_retain(made) : host_image(input, &inputs[i]);
    }
    model_ok(kind->run(operation, handles, made, CC_STREAM_DEFAULT));
    for (int32_t i = 0; i < operation->input_count; i++)
        cc_image_release(handles[i]);
    cc_image_release(made);
}
