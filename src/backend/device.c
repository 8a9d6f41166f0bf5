/* The public questions about devices. */
#include "backend/backend.h"

#include <cudacommon/device.h>

int32_t cc_device_count(void)
{
    return cc__backend_get()->device_count;
}

const char *cc_device_backend_name(void)
{
    return cc__backend_get()->name;
}

cc_status cc_stream_synchronize(int32_t device, cc_stream stream)
{
    cc__backend *backend = cc__backend_get();
    cc_status status = cc__backend_check_device(backend, "cc_stream_synchronize", device);
    return status == CC_OK ? backend->stream_synchronize(backend, device, stream) : status;
}
