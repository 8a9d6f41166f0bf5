/* The public face of lending pixels: checks arguments, then asks the data manager. */
#include "backend/backend.h"
#include "base/error.h"
#include "image/image_handle.h"
#include "trace/trace.h"

static cc_status map(const char *function, cc_image *image, const cc_region *region, cc_access access, bool on_device,
                     cc_stream stream, void **out_pixels)
{
    cc__access_request request = {.function = function, .owner = image, .place = CC_PLACE_HOST, .access = access};
    void *pixels = NULL;
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK && out_pixels == NULL)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_pixels = NULL, expected a pointer", function);
    if (status == CC_OK)
        status = cc__image_check_access(function, access);
    if (status == CC_OK)
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
    request.stream = stream;

    /* Counted before it is there, so that no other thread's unmap can find the image gone. */
    atomic_fetch_add(&image->owners, CC__IMAGE_MAPPING);
    status = cc__data_manager_map(image->manager, &request, &pixels);
    cc__trace_tell();
    if (status == CC_OK)
        *out_pixels = pixels;
    else
        cc__image_disown(image, CC__IMAGE_MAPPING);
    return status;
}

static cc_status unmap(const char *function, cc_image *image, void *pixels, bool on_host, cc_stream stream)
{
    cc_status status = cc__image_check(function, image);
    if (status != CC_OK || pixels == NULL)
        return status;
    status = cc__data_manager_unmap(image->manager, function, image, on_host, pixels, stream);
    cc__trace_tell();
    if (status == CC_OK)
        cc__image_disown(image, CC__IMAGE_MAPPING);
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
