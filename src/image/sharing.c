/* Which pixels a handle stands for: views, grafts, new pixels, and the device it uses. */
#include "backend/backend.h"
#include "base/allocate.h"
#include "base/error.h"
#include "image/image_handle.h"

#include <string.h>

cc_status cc_image_create_view(cc_image *image, const cc_region *region, cc_image **out_view)
{
    static const char *const function = "cc_image_create_view";
    cc__box box;
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK && (region == NULL || out_view == NULL))
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected a pointer", function,
                          region == NULL ? "region" : "out_view");
    if (status == CC_OK)
        status = cc__image_box(function, image, region, &box);
    if (status != CC_OK)
        return status;
    cc_image *view = cc__allocate(sizeof *view);
    if (view == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for the handle", function);
    atomic_init(&view->owner.references, 1);
    atomic_init(&view->device, atomic_load(&image->device));
    view->manager = cc__data_manager_retain(image->manager);
    view->box = box;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        view->region.index[axis] = axis < image->dimension ? region->index[axis] : 0;
        view->region.size[axis] = box.size[axis];
    }
    view->dimension = image->dimension;
    view->pixel_type = image->pixel_type;
    view->components = image->components;
    view->read_only = image->read_only;
    view->geometry = image->geometry;
    cc__image_enlist(view);
    *out_view = view;
    return CC_OK;
}

/* Lets the handle stand for other pixels: those of `source`, or, when it is NULL, new ones of the same kind. */
static void replace_pixels(cc_image *image, const cc_image *source, cc__data_manager *manager, const cc__box *box,
                           const cc_region *region)
{
    cc__data_manager *previous = image->manager;
    char label[CC_LABEL_BYTES];
    if (source == NULL) {
        cc__data_manager_get_label(previous, label);
        cc__data_manager_set_label(manager, label);
    }
    const int32_t locked = cc__image_lock(image);
    if (source != NULL) {
        image->dimension = source->dimension;
        image->pixel_type = source->pixel_type;
        image->components = source->components;
        image->geometry = source->geometry;
    }
    image->read_only = source != NULL && source->read_only;
    image->manager = manager;
    image->box = *box;
    image->region = *region;
    cc__image_unlock(locked);
    cc__data_manager_release(previous);
}

cc_status cc_image_graft(cc_image *image, const cc_image *source)
{
    static const char *const function = "cc_image_graft";
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK && source == NULL)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: source = NULL, expected an image", function);
    if (status == CC_OK)
        status = cc__image_check_unmapped(function, image);
    if (status != CC_OK || image == source)
        return status;
    atomic_store(&image->device, atomic_load(&source->device));
    replace_pixels(image, source, cc__data_manager_retain(source->manager), &source->box, &source->region);
    return CC_OK;
}

cc_status cc_image_resize(cc_image *image, const cc_region *region)
{
    static const char *const function = "cc_image_resize";
    cc_region padded;
    cc__layout layout;
    cc__data_manager *manager = NULL;
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK && region == NULL)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: region = NULL, expected a region", function);
    if (status == CC_OK)
        status = cc__image_check_unmapped(function, image);
    if (status == CC_OK)
        status = cc__region_check(function, "region", image->dimension, region, &padded);
    if (status == CC_OK)
        status = cc__layout_dense(function, padded.size, image->pixel_type, image->components, &layout);
    if (status == CC_OK)
        status = cc__data_manager_create(&layout, false, &manager);
    if (status != CC_OK)
        return status;
    const cc__box whole = cc__box_of_size(layout.size);
    replace_pixels(image, NULL, manager, &whole, &padded);
    return CC_OK;
}

cc_status cc_image_set_index(cc_image *image, const int64_t index[CC_MAX_DIMENSION])
{
    static const char *const function = "cc_image_set_index";
    cc_region moved;
    cc_region padded;
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK && index == NULL)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: index = NULL, expected an array", function);
    if (status == CC_OK)
        status = cc__image_check_unmapped(function, image);
    if (status != CC_OK)
        return status;
    moved = image->region;
    for (int32_t axis = 0; axis < image->dimension; ++axis)
        moved.index[axis] = index[axis];
    status = cc__region_check(function, "region", image->dimension, &moved, &padded);
    if (status != CC_OK)
        return status;
    const int32_t locked = cc__image_lock(image);
    image->region = padded;
    cc__image_unlock(locked);
    return CC_OK;
}

cc_status cc_image_set_device(cc_image *image, int32_t device)
{
    static const char *const function = "cc_image_set_device";
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK)
        status = cc__backend_check_device(cc__backend_get(), function, device);
    if (status == CC_OK)
        atomic_store(&image->device, device);
    return status;
}

static cc_status check_wrap_params(const char *function, const cc_image *image, const cc_wrap_params *params,
                                   cc__layout *out_layout)
{
    const uint32_t known_flags = CC_WRAP_BORROWED | CC_WRAP_READ_ONLY | CC_WRAP_UNINITIALIZED | CC_WRAP_REUSED;
    bool has_strides = false;
    for (int32_t axis = 0; axis < image->dimension; ++axis)
        has_strides = has_strides || params->strides_bytes[axis] != 0;
    if ((params->flags & ~known_flags) != 0)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.flags = 0x%x, expected CC_WRAP_... values", function,
                        (unsigned)params->flags);
    if ((params->flags & CC_WRAP_READ_ONLY) != 0 && (params->flags & CC_WRAP_UNINITIALIZED) != 0)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.flags = 0x%x, read-only memory cannot be uninitialized",
                        function, (unsigned)params->flags);
    if ((params->release == NULL) != ((params->flags & CC_WRAP_BORROWED) != 0))
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.release = %s CC_WRAP_BORROWED, expected one of the two",
                        function, params->release == NULL ? "NULL without" : "a callback with");
    const cc_status status =
        has_strides ? cc__layout_strided(function, image->region.size, image->pixel_type, image->components,
                                         image->dimension, params->strides_bytes, out_layout)
                    : cc__layout_dense(function, image->region.size, image->pixel_type, image->components, out_layout);
    if (status != CC_OK)
        return status;
    if (params->data == NULL && out_layout->extent_bytes > 0)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.data = NULL, expected the first pixel", function);
    if (params->size_bytes != (size_t)out_layout->extent_bytes)
        return cc__fail(CC_ERROR_SIZE, "%s: params.size_bytes = %zu, expected %lld", function, params->size_bytes,
                        (long long)out_layout->extent_bytes);
    if ((uintptr_t)params->data % (uintptr_t)out_layout->component_bytes != 0)
        return cc__fail(CC_ERROR_LAYOUT, "%s: params.data = %p, expected a multiple of %lld", function, params->data,
                        (long long)out_layout->component_bytes);
    return CC_OK;
}

static cc_status wrap(const char *function, cc_image *image, const cc_wrap_params *params, bool on_device,
                      cc_stream stream)
{
    cc_wrap_params known = CC_WRAP_PARAMS_INIT;
    cc__wrapped_memory wrapped = {.place = CC_PLACE_HOST, .stream = stream};
    cc__data_manager *manager = NULL;
    cc__layout layout;
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK && params == NULL)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params = NULL, expected a pointer", function);
    if (status == CC_OK && params->struct_size < sizeof params->struct_size)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.struct_size = %u, expected CC_WRAP_PARAMS_INIT",
                          function, (unsigned)params->struct_size);
    if (status == CC_OK)
        status = cc__image_check_unmapped(function, image);
    if (status != CC_OK)
        return status;
    memcpy(&known, params, params->struct_size < sizeof known ? params->struct_size : sizeof known);
    status = check_wrap_params(function, image, &known, &layout);
    if (status == CC_OK && on_device && layout.extent_bytes > 0) {
        cc__backend *backend = cc__backend_get();
        status = cc__backend_check_device(backend, function, 0);
        if (status == CC_OK)
            status = cc__fail_for(function, backend->memory_device(backend, known.data, &wrapped.place));
    } else if (status == CC_OK && on_device) {
        status = cc__image_resolve_device(function, image, &wrapped.place);
    }
    if (status != CC_OK)
        return status;
    wrapped.pixels = known.data;
    wrapped.size_bytes = known.size_bytes;
    wrapped.undefined = (known.flags & CC_WRAP_UNINITIALIZED) != 0;
    wrapped.read_only = (known.flags & CC_WRAP_READ_ONLY) != 0;
    wrapped.reused = (known.flags & CC_WRAP_REUSED) != 0;
    wrapped.release = known.release;
    wrapped.user_data = known.user_data;
    status = cc__data_manager_create_wrapped(function, &layout, &wrapped, &manager);
    if (status != CC_OK)
        return status;
    const cc__box whole = cc__box_of_size(layout.size);
    const cc_region region = image->region;
    if (on_device)
        atomic_store(&image->device, wrapped.place);
    replace_pixels(image, NULL, manager, &whole, &region);
    return CC_OK;
}

cc_status cc_image_wrap_host(cc_image *image, const cc_wrap_params *params)
{
    return wrap("cc_image_wrap_host", image, params, false, NULL);
}

cc_status cc_image_wrap_device(cc_image *image, const cc_wrap_params *params, cc_stream stream)
{
    return wrap("cc_image_wrap_device", image, params, true, stream);
}
