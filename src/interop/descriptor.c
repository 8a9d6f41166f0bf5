/* Pixels as other array libraries describe them. */
#include "backend/backend.h"
#include "base/error.h"
#include "image/image_handle.h"
#include "interop/describe.h"

#include <cudacommon/descriptor.h>
#include <stddef.h>
#include <string.h>

/* NumPy's rule: an array without elements is contiguous both ways, and the stride of an axis of length 1 does not
 * matter. */
static int32_t is_contiguous(const cc_descriptor *descriptor, bool last_axis_fastest)
{
    int64_t expected = descriptor->itemsize_bytes;
    for (int32_t i = 0; i < descriptor->ndim; ++i)
        if (descriptor->shape[i] == 0)
            return 1;
    for (int32_t i = 0; i < descriptor->ndim; ++i) {
        const int32_t axis = last_axis_fastest ? descriptor->ndim - 1 - i : i;
        if (descriptor->shape[axis] == 1)
            continue;
        if (descriptor->strides_bytes[axis] != expected)
            return 0;
        expected *= descriptor->shape[axis];
    }
    return 1;
}

/* The descriptor is listed fastest axis first, then turned round for C order. */
cc_descriptor cc__describe(cc_image *image, const cc__box *box, cc_order order, uint32_t flags, cc_place place)
{
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    int64_t stride[CC_MAX_DIMENSION];
    cc__data_manager_get_strides(image->manager, place, stride);
    descriptor.version = 3;
    descriptor.place = place;
    descriptor.pixel_type = image->pixel_type;
    descriptor.itemsize_bytes = (int32_t)cc_pixel_type_size_bytes(image->pixel_type);
    descriptor.read_only = cc__image_is_read_only(image);
    memcpy(descriptor.typestr, cc_pixel_type_typestr(image->pixel_type),
           strlen(cc_pixel_type_typestr(image->pixel_type)) + 1);
    if (image->components > 1 || (flags & CC_DESCRIBE_COMPONENT_AXIS) != 0) {
        descriptor.shape[0] = image->components;
        descriptor.strides_bytes[0] = descriptor.itemsize_bytes;
        descriptor.ndim = 1;
    }
    for (int32_t axis = 0; axis < image->dimension; ++axis) {
        descriptor.shape[descriptor.ndim] = box->size[axis];
        descriptor.strides_bytes[descriptor.ndim] = stride[axis];
        ++descriptor.ndim;
    }
    if (order == CC_ORDER_C) {
        const cc_descriptor kept = descriptor;
        for (int32_t i = 0; i < descriptor.ndim; ++i) {
            descriptor.shape[i] = kept.shape[descriptor.ndim - 1 - i];
            descriptor.strides_bytes[i] = kept.strides_bytes[descriptor.ndim - 1 - i];
        }
    }
    descriptor.c_contiguous = is_contiguous(&descriptor, true);
    descriptor.f_contiguous = is_contiguous(&descriptor, false);
    return descriptor;
}

cc_status cc__describe_check_order(const char *function, cc_order order)
{
    switch (order) {
    case CC_ORDER_C:
    case CC_ORDER_K:
        return CC_OK;
    }
    return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: order = %d, expected a cc_order", function, (int)order);
}

cc_status cc__describe_check_out(const char *function, const char *name, const cc_descriptor *descriptor)
{
    if (descriptor == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected a pointer", function, name);
    if (descriptor->struct_size < sizeof descriptor->struct_size)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s.struct_size = %u, expected CC_DESCRIPTOR_INIT", function,
                        name, (unsigned)descriptor->struct_size);
    return CC_OK;
}

static cc_status check(const char *function, cc_image *image, const cc_region *region, cc_order order, uint32_t flags,
                       cc_place place, const cc_descriptor *out_descriptor, cc__box *out_box)
{
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK)
        status = cc__describe_check_out(function, "out_descriptor", out_descriptor);
    if (status == CC_OK)
        status = cc__describe_check_order(function, order);
    if (status == CC_OK && (flags & ~CC_DESCRIBE_COMPONENT_AXIS) != 0)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: flags = 0x%x, expected 0 or CC_DESCRIBE_COMPONENT_AXIS",
                          function, (unsigned)flags);
    if (status == CC_OK && place < CC_PLACE_HOST && place != CC_DEVICE_CURRENT)
        status =
            cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: place = %d, expected CC_PLACE_HOST or a device", function, place);
    if (status == CC_OK)
        status = cc__image_box(function, image, region, out_box);
    return status;
}

/* As much as the caller's struct has room for; its struct_size stays. */
void cc__describe_copy_out(cc_descriptor *out_descriptor, const cc_descriptor *descriptor)
{
    const uint32_t struct_size = out_descriptor->struct_size;
    memcpy(out_descriptor, descriptor, struct_size < sizeof *descriptor ? struct_size : sizeof *descriptor);
    out_descriptor->struct_size = struct_size;
}

cc_status cc_image_describe(cc_image *image, const cc_region *region, cc_order order, uint32_t flags, cc_place place,
                            cc_descriptor *out_descriptor)
{
    cc__box box;
    const cc_status status = check("cc_image_describe", image, region, order, flags, place, out_descriptor, &box);
    if (status != CC_OK)
        return status;
    if (place == CC_DEVICE_CURRENT)
        place = cc_image_get_device(image);
    const cc_descriptor descriptor = cc__describe(image, &box, order, flags, place);
    cc__describe_copy_out(out_descriptor, &descriptor);
    return CC_OK;
}

cc_status cc_image_map_descriptor(cc_image *image, const cc_region *region, cc_order order, uint32_t flags,
                                  cc_place place, cc_access access, cc_stream stream, cc_descriptor *out_descriptor)
{
    static const char *const function = "cc_image_map_descriptor";
    cc__box box;
    void *pixels = NULL;
    cc_status status = check(function, image, region, order, flags, place, out_descriptor, &box);
    /* Without room for the pointer nobody could give the pixels back. */
    if (status == CC_OK && out_descriptor->struct_size < offsetof(cc_descriptor, shape))
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_descriptor.struct_size = %u, expected at least %zu",
                          function, (unsigned)out_descriptor->struct_size, offsetof(cc_descriptor, shape));
    if (status != CC_OK)
        return status;
    if (place == CC_PLACE_HOST) {
        status = cc_image_map_host(image, region, access, &pixels);
    } else {
        int32_t device = place;
        if (!cc__box_is_empty(&box)) {
            status = cc__image_resolve_device(function, image, &device);
            if (status == CC_OK && place >= 0 && place != device)
                status = cc__fail(CC_ERROR_INVALID_DEVICE, "%s: place = %d, expected the image's device %d", function,
                                  place, device);
        }
        place = device;
        if (status == CC_OK)
            status = cc_image_map_device(image, region, access, stream, &pixels);
    }
    if (status != CC_OK)
        return status;
    cc_descriptor descriptor = cc__describe(image, &box, order, flags, place);
    descriptor.data = pixels;
    descriptor.stream = place == CC_PLACE_HOST ? NULL : stream;
    descriptor.read_only = descriptor.read_only || access == CC_ACCESS_READ;
    cc__describe_copy_out(out_descriptor, &descriptor);
    return CC_OK;
}

cc_status cc_image_unmap_descriptor(cc_image *image, const cc_descriptor *descriptor)
{
    static const char *const function = "cc_image_unmap_descriptor";
    cc_descriptor known = CC_DESCRIPTOR_INIT;
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK)
        status = cc__describe_check_out(function, "descriptor", descriptor);
    if (status != CC_OK)
        return status;
    memcpy(&known, descriptor, descriptor->struct_size < sizeof known ? descriptor->struct_size : sizeof known);
    if (known.place == CC_PLACE_HOST)
        return cc_image_unmap_host(image, known.data);
    return cc_image_unmap_device(image, known.data, known.stream);
}
