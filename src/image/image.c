#include "image/image_handle.h"

#include "backend/backend.h"
#include "base/allocate.h"
#include "base/error.h"

#include <stdbool.h>
#include <string.h>

cc_status cc__image_check(const char *function, const cc_image *image)
{
    return image != NULL ? CC_OK : cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: image = NULL, expected an image", function);
}

cc_status cc__image_check_access(const char *function, cc_access access)
{
    switch (access) {
    case CC_ACCESS_READ:
    case CC_ACCESS_WRITE:
    case CC_ACCESS_READ_WRITE:
        return CC_OK;
    }
    return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: access = %d, expected a cc_access", function, (int)access);
}

cc_status cc__image_check_unmapped(const char *function, cc_image *image)
{
    const int32_t count = cc__data_manager_count_mappings(image->manager, &image->owner);
    if (count == 0)
        return CC_OK;
    return cc__fail(CC_ERROR_BUSY, "%s: image has %d live mappings; unmap them first", function, (int)count);
}

bool cc__image_is_read_only(const cc_image *image)
{
    return image->read_only || cc__data_manager_is_read_only(image->manager);
}

static bool is_inside(const cc_region *outer, const cc_region *inner, int32_t axis)
{
    const uint64_t distance = (uint64_t)inner->index[axis] - (uint64_t)outer->index[axis];
    return inner->index[axis] >= outer->index[axis] && inner->size[axis] <= outer->size[axis] &&
           distance <= (uint64_t)(outer->size[axis] - inner->size[axis]);
}

cc_status cc__image_box(const char *function, const cc_image *image, const cc_region *region, cc__box *out_box)
{
    cc__box inside;
    if (region == NULL) {
        *out_box = image->box;
        return CC_OK;
    }
    cc_region padded = {{0, 0, 0, 0}, {1, 1, 1, 1}};
    for (int32_t axis = 0; axis < image->dimension; ++axis) {
        if (region->size[axis] < 0)
            return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: region.size[%d] = %lld, expected >= 0", function, axis,
                            (long long)region->size[axis]);
        padded.index[axis] = region->index[axis];
        padded.size[axis] = region->size[axis];
    }
    if (!cc__region_to_box(&image->region, &padded, &inside)) {
        int32_t axis = 0;
        while (axis + 1 < image->dimension && is_inside(&image->region, region, axis))
            ++axis;
        return cc__fail(CC_ERROR_REGION,
                        "%s: region has index[%d] = %lld, size[%d] = %lld, expected inside the image's %lld, %lld",
                        function, axis, (long long)region->index[axis], axis, (long long)region->size[axis],
                        (long long)image->region.index[axis], (long long)image->region.size[axis]);
    }
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        out_box->start[axis] = image->box.start[axis] + inside.start[axis];
        out_box->size[axis] = inside.size[axis];
    }
    return CC_OK;
}

cc_status cc__image_resolve_device(const char *function, cc_image *image, int32_t *out_device)
{
    cc__backend *backend = cc__backend_get();
    int32_t device = atomic_load(&image->device);
    if (device == CC_DEVICE_CURRENT) {
        if (backend->device_count == 0)
            return cc__backend_check_device(backend, function, 0);
        int32_t current = 0;
        const cc_status status = backend->current_device(backend, &current);
        if (status != CC_OK)
            return status;
        if (atomic_compare_exchange_strong(&image->device, &device, current))
            device = current;
    }
    if (device < 0 || device >= backend->device_count)
        return cc__backend_check_device(backend, function, device);
    *out_device = device;
    return CC_OK;
}

static cc_status check_params(const cc_image_params *params, cc_region *out_region, cc__layout *out_layout)
{
    static const char *const function = "cc_image_create";
    cc_status status = cc__region_check(function, "region", params->dimension, &params->region, out_region);
    if (status == CC_OK && (params->components < 1 || params->components > CC_MAX_COMPONENTS))
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: components = %d, expected 1 to %d", function,
                          params->components, CC_MAX_COMPONENTS);
    if (status == CC_OK && cc_pixel_type_size_bytes((cc_pixel_type)params->pixel_type) == 0)
        status = cc__fail(CC_ERROR_PIXEL_TYPE, "%s: pixel_type = %d, expected a cc_pixel_type", function,
                          params->pixel_type);
    if (status == CC_OK && params->device < 0 && params->device != CC_DEVICE_CURRENT)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: device = %d, expected >= 0 or CC_DEVICE_CURRENT", function,
                          params->device);
    if (status == CC_OK && (params->flags & ~CC_IMAGE_UNINITIALIZED) != 0)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: flags = 0x%x, expected 0 or CC_IMAGE_UNINITIALIZED", function,
                          (unsigned)params->flags);
    if (status == CC_OK)
        status = cc__layout_dense(function, out_region->size, (cc_pixel_type)params->pixel_type, params->components,
                                  out_layout);
    return status;
}

cc_status cc_image_create(const cc_image_params *params, cc_image **out_image)
{
    static const char *const function = "cc_image_create";
    cc_image_params known = CC_IMAGE_PARAMS_INIT;
    cc_region region;
    cc__layout layout;
    cc__geometry geometry;
    cc_image *image = NULL;
    cc_status status = CC_OK;

    if (params == NULL || out_image == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected a pointer", function,
                        params == NULL ? "params" : "out_image");
    if (params->struct_size < sizeof params->struct_size)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.struct_size = %u, expected CC_IMAGE_PARAMS_INIT",
                        function, (unsigned)params->struct_size);
    memcpy(&known, params, params->struct_size < sizeof known ? params->struct_size : sizeof known);
    status = check_params(&known, &region, &layout);
    if (status != CC_OK)
        return status;
    memcpy(geometry.spacing, known.spacing, sizeof geometry.spacing);
    memcpy(geometry.origin, known.origin, sizeof geometry.origin);
    memcpy(geometry.direction, known.direction, sizeof geometry.direction);
    status = cc__geometry_check(function, known.dimension, &geometry);
    if (status != CC_OK)
        return status;

    image = cc__allocate(sizeof *image);
    if (image == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for the handle", function);
    status = cc__data_manager_create(&layout, (known.flags & CC_IMAGE_UNINITIALIZED) != 0, &image->manager);
    if (status != CC_OK) {
        cc__free(image);
        return status;
    }
    atomic_init(&image->owner.references, 1);
    atomic_init(&image->device, known.device);
    image->box = cc__box_of_size(layout.size);
    image->region = region;
    image->dimension = known.dimension;
    image->pixel_type = (cc_pixel_type)known.pixel_type;
    image->components = known.components;
    image->geometry = cc__geometry_pad(known.dimension, &geometry);
    cc__image_enlist(image);
    *out_image = image;
    return CC_OK;
}

cc_status cc_image_get_params(const cc_image *image, cc_image_params *out_params)
{
    static const char *const function = "cc_image_get_params";
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK && out_params == NULL)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_params = NULL, expected a pointer", function);
    if (status == CC_OK && out_params->struct_size < sizeof out_params->struct_size)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_params.struct_size = %u, expected CC_IMAGE_PARAMS_INIT",
                          function, (unsigned)out_params->struct_size);
    if (status != CC_OK)
        return status;
    params.struct_size = out_params->struct_size;
    params.dimension = image->dimension;
    params.pixel_type = (int32_t)image->pixel_type;
    params.components = image->components;
    params.device = atomic_load(&image->device);
    params.region = image->region;
    memcpy(params.spacing, image->geometry.spacing, sizeof params.spacing);
    memcpy(params.origin, image->geometry.origin, sizeof params.origin);
    memcpy(params.direction, image->geometry.direction, sizeof params.direction);
    memcpy(out_params, &params, params.struct_size < sizeof params ? params.struct_size : sizeof params);
    return CC_OK;
}

cc_image *cc_image_retain(cc_image *image)
{
    if (image != NULL)
        atomic_fetch_add(&image->owner.references, 1);
    return image;
}

static void free_handle(cc_image *image)
{
    cc__data_manager_release(image->manager);
    cc__free(image);
}

void cc__image_destroy(cc_image *image)
{
    const int32_t locked = cc__image_lock(image);
    cc__image_strike(image, locked);
    cc__image_unlock(locked);
    free_handle(image);
}

void cc_image_release(cc_image *image)
{
    if (image == NULL)
        return;
    uint32_t references = atomic_load(&image->owner.references);
    while (references > 1)
        if (atomic_compare_exchange_weak(&image->owner.references, &references, references - 1))
            return;
    /* Whoever still has a mapping may retain the image, and give it other pixels, but not while it is locked. */
    const int32_t locked = cc__image_lock(image);
    const bool is_gone = cc__data_manager_disown(image->manager, &image->owner);
    if (is_gone)
        cc__image_strike(image, locked);
    cc__image_unlock(locked);
    if (is_gone)
        free_handle(image);
}

int32_t cc_image_get_device(const cc_image *image)
{
    return image != NULL ? atomic_load(&image->device) : CC_DEVICE_CURRENT;
}

int32_t cc_image_get_dimension(const cc_image *image)
{
    return image != NULL ? image->dimension : 0;
}

cc_pixel_type cc_image_get_pixel_type(const cc_image *image)
{
    return image != NULL ? image->pixel_type : CC_PIXEL_BOOL;
}

int32_t cc_image_get_components(const cc_image *image)
{
    return image != NULL ? image->components : 0;
}

cc_region cc_image_get_region(const cc_image *image)
{
    const cc_region none = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    return image != NULL ? image->region : none;
}

int64_t cc_image_get_size(const cc_image *image, int32_t axis)
{
    return image != NULL && axis >= 0 && axis < CC_MAX_DIMENSION ? image->region.size[axis] : 0;
}

int64_t cc_image_get_index(const cc_image *image, int32_t axis)
{
    return image != NULL && axis >= 0 && axis < CC_MAX_DIMENSION ? image->region.index[axis] : 0;
}

size_t cc_image_get_size_bytes(const cc_image *image)
{
    if (image == NULL)
        return 0;
    return (size_t)cc__box_pixels(&image->box) * (size_t)image->components *
           cc_pixel_type_size_bytes(image->pixel_type);
}

int32_t cc_image_get_read_only(const cc_image *image)
{
    return image != NULL && cc__image_is_read_only(image);
}

uint64_t cc_image_get_generation(cc_image *image)
{
    return image != NULL ? cc__data_manager_generation(image->manager) : 0;
}

cc_status cc_image_set_user_pointer(cc_image *image, void *user_pointer)
{
    const cc_status status = cc__image_check("cc_image_set_user_pointer", image);
    if (status == CC_OK)
        image->user_pointer = user_pointer;
    return status;
}

void *cc_image_get_user_pointer(const cc_image *image)
{
    return image != NULL ? image->user_pointer : NULL;
}
