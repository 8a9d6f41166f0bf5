#include "interop/private_copy.h"

#include "backend/backend.h"
#include "base/error.h"
#include "image/image_handle.h"
#include "memory/pixel_kernels.h"
#include "trace/trace.h"

#include <string.h>

static cc_status copy_pixels(const char *function, cc_image *image, const cc__box *box, cc_place place,
                             cc_stream stream, cc_image *target)
{
    cc__access_request request = {
        .function = function, .box = *box, .place = place, .access = CC_ACCESS_READ, .stream = stream};
    cc__copy copy;
    cc__mapping *source = NULL;
    cc__mapping *destination = NULL;
    cc_status status = cc__data_manager_begin(image->manager, &request, &source);
    if (status != CC_OK)
        return status;
    request.box = target->box;
    request.access = CC_ACCESS_WRITE;
    status = cc__data_manager_begin(target->manager, &request, &destination);
    if (status != CC_OK)
        goto end;
    copy.destination = cc__data_manager_span(target->manager, destination);
    copy.source = cc__data_manager_span(image->manager, source);
    copy.pixel_bytes = (int64_t)cc_pixel_type_size_bytes(image->pixel_type) * image->components;
    memcpy(copy.size, box->size, sizeof copy.size);
    status = cc__data_manager_commit(target->manager, destination, stream, &cc__copy_kernel, &copy);
end:
    cc__data_manager_end(image->manager, source, destination != NULL ? destination : source);
    if (destination != NULL)
        cc__data_manager_end(target->manager, destination, destination);
    return status;
}

static cc_status find_place(const char *function, cc_image *image, const cc_export_params *params, bool is_empty,
                            cc_place *out_place)
{
    if (params->place < CC_PLACE_HOST && params->place != CC_DEVICE_CURRENT)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.place = %d, expected CC_PLACE_HOST or a device",
                        function, params->place);
    *out_place = params->place;
    if (params->place == CC_DEVICE_CURRENT)
        return cc__image_resolve_device(function, image, out_place);
    if (params->place == CC_PLACE_HOST || is_empty)
        return CC_OK;
    return cc__backend_check_device(cc__backend_get(), function, params->place);
}

cc_status cc__private_copy_create(const char *function, cc_image *image, const cc_export_params *params,
                                  cc_image **out_copy)
{
    cc_image_params copy_params = CC_IMAGE_PARAMS_INIT;
    cc_image *copy = NULL;
    cc__box box;
    cc_place place = CC_PLACE_HOST;
    cc_status status = cc__image_box(function, image, params->region, &box);
    if (status == CC_OK)
        status = find_place(function, image, params, cc__box_is_empty(&box), &place);
    if (status != CC_OK)
        return status;
    copy_params.dimension = image->dimension;
    copy_params.pixel_type = (int32_t)image->pixel_type;
    copy_params.components = image->components;
    copy_params.device = place == CC_PLACE_HOST ? cc_image_get_device(image) : place;
    copy_params.flags = CC_IMAGE_UNINITIALIZED;
    copy_params.region = params->region != NULL ? *params->region : image->region;
    memcpy(copy_params.spacing, image->geometry.spacing, sizeof copy_params.spacing);
    memcpy(copy_params.origin, image->geometry.origin, sizeof copy_params.origin);
    memcpy(copy_params.direction, image->geometry.direction, sizeof copy_params.direction);
    status = cc_image_create(&copy_params, &copy);
    if (status == CC_OK && !cc__box_is_empty(&box))
        status = copy_pixels(function, image, &box, place, params->stream, copy);
    cc__trace_tell();
    if (status == CC_OK)
        *out_copy = copy;
    else
        cc_image_release(copy);
    return status;
}
