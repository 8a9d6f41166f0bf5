/* An image's own allocators. */
#include "base/error.h"
#include "image/image_handle.h"
#include "memory/allocators.h"

static cc_status set_allocator(const char *function, cc_image *image, bool on_host, const cc_allocator *allocator)
{
    cc__allocator *created = NULL;
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK)
        status = cc__allocator_create(function, allocator, &created);
    if (status != CC_OK)
        return status;
    status = cc__data_manager_set_allocator(image->manager, function, on_host, created);
    if (status != CC_OK)
        cc__allocator_discard(created);
    return status;
}

cc_status cc_image_set_host_allocator(cc_image *image, const cc_allocator *allocator)
{
    return set_allocator("cc_image_set_host_allocator", image, true, allocator);
}

cc_status cc_image_set_device_allocator(cc_image *image, const cc_allocator *allocator)
{
    return set_allocator("cc_image_set_device_allocator", image, false, allocator);
}
