/* The public face of the budget: limits of devices, priorities and discarding of images. */
#include "memory/budget.h"
#include "memory/aside.h"

#include "backend/backend.h"
#include "base/error.h"
#include "image/image_handle.h"
#include "trace/trace.h"

#include <cudacommon/budget.h>

cc_status cc_device_set_limit(int32_t device, size_t limit_bytes, size_t headroom_bytes)
{
    const cc_status status = cc__backend_check_device(cc__backend_get(), "cc_device_set_limit", device);
    if (status != CC_OK)
        return status;
    cc__budget_set(device, &(cc__budget){.limit_bytes = limit_bytes, .headroom_bytes = headroom_bytes});
    cc__data_managers_keep_limit(device);
    cc__trace_tell();
    return CC_OK;
}

cc_status cc_device_get_limit(int32_t device, size_t *out_limit_bytes, size_t *out_headroom_bytes)
{
    const cc_status status = cc__backend_check_device(cc__backend_get(), "cc_device_get_limit", device);
    if (status != CC_OK)
        return status;
    const cc__budget budget = cc__budget_get(device);
    if (out_limit_bytes != NULL)
        *out_limit_bytes = budget.limit_bytes;
    if (out_headroom_bytes != NULL)
        *out_headroom_bytes = budget.headroom_bytes;
    return CC_OK;
}

cc_status cc_device_trim(int32_t device, size_t keep_bytes)
{
    cc__backend *backend = cc__backend_get();
    const cc_status status = cc__backend_check_device(backend, "cc_device_trim", device);
    if (status != CC_OK)
        return status;
    cc__data_managers_free_leftovers();
    cc__aside_try_again();
    return backend->trim(backend, device, keep_bytes);
}

cc_status cc_image_set_priority(cc_image *image, int32_t priority)
{
    const cc_status status = cc__image_check("cc_image_set_priority", image);
    if (status == CC_OK)
        cc__data_manager_set_priority(image->manager, priority);
    return status;
}

cc_status cc_image_get_priority(cc_image *image, int32_t *out_priority)
{
    const cc_status status = cc__image_check("cc_image_get_priority", image);
    if (status != CC_OK)
        return status;
    if (out_priority == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "cc_image_get_priority: out_priority = NULL, expected a pointer");
    *out_priority = cc__data_manager_priority(image->manager);
    return CC_OK;
}

cc_status cc_image_discard(cc_image *image, const cc_region *region)
{
    static const char *const function = "cc_image_discard";
    cc__box box;
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK)
        status = cc__image_box(function, image, region, &box);
    if (status == CC_OK && image->read_only)
        status = cc__fail(CC_ERROR_READ_ONLY, "%s: the image is read-only", function);
    if (status != CC_OK || cc__box_is_empty(&box))
        return status;
    status = cc__data_manager_discard(image->manager, function, &box);
    cc__trace_tell();
    return status;
}
