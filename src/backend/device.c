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

cc_status cc_stream_wait(int32_t device, cc_stream stream, cc_stream awaited)
{
    static const char *const function = "cc_stream_wait";
    cc__backend *backend = cc__backend_get();
    const cc_stream streams[] = {stream, awaited};
    cc__event *event = NULL;
    cc_status status = cc__backend_check_device(backend, function, device);
    for (int32_t i = 0; status == CC_OK && i < 2; ++i) {
        bool capturing = false;
        status = backend->stream_is_capturing(backend, device, streams[i], &capturing);
        if (status == CC_OK && capturing)
            status = cc__fail(CC_ERROR_CAPTURE, "%s: %s = %p is being captured into a graph", function,
                              i == 0 ? "stream" : "awaited", (void *)streams[i]);
    }
    if (status != CC_OK || stream == awaited)
        return status;
    status = backend->event_create(backend, device, &event);
    if (status != CC_OK)
        return status;
    status = backend->event_record(backend, device, event, awaited);
    if (status == CC_OK)
        status = backend->stream_wait(backend, device, stream, event);
    backend->event_destroy(backend, device, event);
    return status;
}

cc_status cc_stream_synchronize(int32_t device, cc_stream stream)
{
    cc__backend *backend = cc__backend_get();
    cc_status status = cc__backend_check_device(backend, "cc_stream_synchronize", device);
    return status == CC_OK ? backend->stream_synchronize(backend, device, stream) : status;
}
