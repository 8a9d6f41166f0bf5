/* The public face of lending pixels: checks arguments, then asks the data manager. */
#include "backend/backend.h"
#include "base/error.h"
#include "image/image_handle.h"
#include "trace/trace.h"

static cc_status map(const char *function, cc_image *image, const cc_region *region, cc_access access, bool on_device,
                     cc_stream stream, void **out_pixels)
{
    cc__access_request request;
    request.function = function;
    request.place = CC_PLACE_HOST;
    request.access = access;
    request.stream = stream;
    void *pixels = NULL;
    bool is_gone = false;
    cc_status status = CC_OK;
    if (image == NULL)
        return cc__image_check(function, image);
    if (out_pixels == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_pixels = NULL, expected a pointer", function);
    if (access != CC_ACCESS_READ)
        status = cc__image_check_access(function, access);
    if (region == NULL)
        request.box = image->box;
    else if (status == CC_OK)
        status = cc__image_box(function, image, region, &request.box);
    if (status != CC_OK)
        return status;
    if (access != CC_ACCESS_READ && cc__image_is_read_only(image))
        return cc__fail(CC_ERROR_READ_ONLY, "%s: the pixels were wrapped read-only", function);
    if (cc__box_is_empty(&request.box)) {
        *out_pixels = NULL;
        return CC_OK;
    }
    if (on_device)
        status = cc__image_resolve_device(function, image, &request.place);
    if (status != CC_OK)
        return status;
    request.owner = &image->owner;
    status = cc__data_manager_map(image->manager, &request, &pixels, &is_gone);
    cc__trace_tell();
    if (status == CC_OK)
        *out_pixels = pixels;
    if (is_gone)
        cc__image_destroy(image);
    return status;
}

static cc_status unmap(const char *function, cc_image *image, void *pixels, bool on_host, cc_stream stream)
{
    bool is_gone = false;
    if (image == NULL || pixels == NULL)
        return cc__image_check(function, image);
    const cc_status status =
        cc__data_manager_unmap(image->manager, function, &image->owner, on_host, pixels, stream, &is_gone);
    cc__trace_tell();
    if (is_gone)
        cc__image_destroy(image);
    return status;
}

cc_status cc_image_map_host(cc_image *image, const cc_region *region, cc_access access, void **out_pixels)
{
    return map("cc_image_map_host", image, region, access, false, NULL, out_pixels);
}

cc_status cc_image_unmap_host(cc_image *image, void *pixels)
{
    return unmap("cc_image_unmap_host", image, pixels, true, NULL);
}

cc_status cc_image_map_device(cc_image *image, const cc_region *region, cc_access access, cc_stream stream,
                              void **out_pixels)
{
    return map("cc_image_map_device", image, region, access, true, stream, out_pixels);
}

cc_status cc_image_unmap_device(cc_image *image, void *pixels, cc_stream stream)
{
    return unmap("cc_image_unmap_device", image, pixels, false, stream);
}

cc_status cc_image_prefetch(cc_image *image, const cc_region *region, cc_place place)
{
    static const char *const function = "cc_image_prefetch";
    cc__box box;
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK)
        status = cc__image_box(function, image, region, &box);
    if (status == CC_OK && place != CC_PLACE_HOST)
        status = cc__backend_check_device(cc__backend_get(), function, place);
    if (status != CC_OK || cc__box_is_empty(&box))
        return status;
    status = cc__data_manager_prefetch(image->manager, function, &box, place);
    cc__trace_tell();
    return status;
}

cc_status cc_image_evict(cc_image *image, cc_place place)
{
    static const char *const function = "cc_image_evict";
    int32_t fallback = -1;
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK && place != CC_PLACE_HOST)
        status = cc__backend_check_device(cc__backend_get(), function, place);
    if (status != CC_OK || !cc__data_manager_has_memory(image->manager, place))
        return status;
    if (place == CC_PLACE_HOST && cc_device_count() > 0) {
        status = cc__image_resolve_device(function, image, &fallback);
        if (status != CC_OK)
            return status;
    }
    status = cc__data_manager_evict(image->manager, function, place, fallback);
    cc__trace_tell();
    return status;
}
