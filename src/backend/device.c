/* The public questions about devices. */
#include "backend/backend.h"
#include "base/error.h"

#include <cudacommon/device.h>

int32_t cc_device_count(void)
{
    return cc__backend_get()->device_count;
}

const char *cc_device_backend_name(void)
{
    return cc__backend_get()->name;
}

cc_status cc_device_get_current(int32_t *out_device)
{
    static const char *const function = "cc_device_get_current";
    cc__backend *backend = cc__backend_get();
    int32_t current = 0;
    if (out_device == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_device = NULL, expected a pointer", function);
    cc_status status = cc__backend_check_device(backend, function, 0);
    if (status == CC_OK)
        status = backend->current_device(backend, &current);
    if (status == CC_OK)
        *out_device = current;
    return status;
}

cc_status cc_stream_synchronize(int32_t device, cc_stream stream)
{
    cc__backend *backend = cc__backend_get();
    cc_status status = cc__backend_check_device(backend, "cc_stream_synchronize", device);
    return status == CC_OK ? backend->stream_synchronize(backend, device, stream) : status;
}
