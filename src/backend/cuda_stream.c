#include "backend/cuda_internal.h"
#include "backend/default_stream.h"
#include "base/error.h"

cc_status cc__cuda_stream_create(cc__backend *self, int32_t device, cc_stream *out_stream)
{
    cc__cuda_guard guard;
    cc_status status = cc__cuda_enter(self, device, &guard);
    if (status != CC_OK)
        return status;
    CUstream stream = NULL;
    status = CC__CU(device, cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
    cc__cuda_leave(&guard);
    if (status == CC_OK)
        *out_stream = stream;
    return status;
}

void cc__cuda_stream_destroy(cc__backend *self, int32_t device, cc_stream stream)
{
    cc__cuda_guard guard;
    if (cc__cuda_is_over() || cc__cuda_enter_to_free(self, device, &guard) != CUDA_SUCCESS)
        return;
    cc__driver.cuStreamDestroy(stream);
    cc__cuda_leave(&guard);
}

/*
 * The legacy stream cannot be captured, but while another stream of the device is, using it would break that capture:
 * IMPLICIT. A capture that has already failed still occupies its stream.
 */
cc_status cc__cuda_ask_capturing(int32_t device, CUstream stream, bool *out_capturing)
{
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result = cc__driver.cuStreamIsCapturing(stream, &capture);
    if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) {
        *out_capturing = true;
        return CC_OK;
    }
    if (result == CUDA_SUCCESS)
        *out_capturing = capture != CU_STREAM_CAPTURE_STATUS_NONE;
    return cc__driver_status(result, "cuStreamIsCapturing", device);
}

cc_status cc__cuda_stream_is_capturing(cc__backend *self, int32_t device, cc_stream stream, bool *out_capturing)
{
    cc__cuda_guard guard;
    cc_status status = cc__cuda_enter_stream(self, device, stream, &guard);
    if (status != CC_OK)
        return status;
    status = cc__cuda_ask_capturing(device, stream, out_capturing);
    cc__cuda_leave(&guard);
    return status;
}

cc_status cc__cuda_stream_synchronize(cc__backend *self, int32_t device, cc_stream stream)
{
    cc__cuda_guard guard;
    cc_status status = cc__cuda_enter(self, device, &guard);
    if (status != CC_OK)
        return status;
    bool capturing = false;
    status = cc__cuda_ask_capturing(device, stream, &capturing);
    /* Waiting for a stream that is being captured would not only fail, it would break the capture. */
    if (status == CC_OK && capturing)
        status = cc__fail(CC_ERROR_CAPTURE, "stream = %p of device %d is being captured, expected one that is not",
                          (void *)stream, (int)device);
    if (status == CC_OK)
        status = CC__CU(device, cuStreamSynchronize, stream);
    cc__cuda_leave(&guard);
    return status;
}

/* Asking needs no event, and sends nothing to the device, which an event that it has just got would keep busy. */
cc_status cc__cuda_stream_is_idle(cc__backend *self, int32_t device, cc_stream stream, bool *out_idle)
{
    cc__cuda_guard guard;
    cc_status status = cc__cuda_enter(self, device, &guard);
    if (status != CC_OK)
        return status;
    bool capturing = false;
    status = cc__cuda_ask_capturing(device, stream, &capturing);
    /* As with waiting. */
    if (status == CC_OK && capturing)
        status = cc__fail(CC_ERROR_CAPTURE, "stream = %p of device %d is being captured, expected one that is not",
                          (void *)stream, (int)device);
    if (status == CC_OK) {
        const CUresult result = cc__driver.cuStreamQuery(stream);
        *out_idle = result == CUDA_SUCCESS;
        status = result == CUDA_ERROR_NOT_READY ? CC_OK : cc__driver_status(result, "cuStreamQuery", device);
    }
    cc__cuda_leave(&guard);
    return status;
}

/* A capture that the legacy stream does not know of is only found by trying. */
cc_status cc__cuda_synchronize(cc__backend *self, int32_t device)
{
    cc__cuda_guard guard;
    cc_status status = cc__cuda_enter(self, device, &guard);
    if (status != CC_OK)
        return status;
    bool capturing = false;
    status = cc__cuda_ask_capturing(device, NULL, &capturing);
    if (status == CC_OK && capturing)
        status = cc__fail(CC_ERROR_CAPTURE, "a stream of device %d is being captured, expected none", (int)device);
    if (status == CC_OK)
        status = cc__driver_status(cc__driver.cuCtxSynchronize(), "cuCtxSynchronize", device);
    cc__cuda_leave(&guard);
    return status;
}

/*
 * Those of the default streams are ours, since the driver has no number for them before they are used. Asking the
 * driver about a stream that is being captured would break the capture.
 */
uint64_t cc__cuda_stream_id(cc__backend *self, int32_t device, cc_stream stream)
{
    unsigned long long id = 0;
    bool capturing = true;
    cc__cuda_guard guard;
    if (cc__is_default_stream(stream))
        return cc__default_stream_id(device, stream);
    if (cc__cuda_is_over() || cc__driver_more.stream_get_id == NULL ||
        cc__cuda_enter_stream(self, device, stream, &guard) != CC_OK)
        return 0;
    if (cc__cuda_ask_capturing(device, stream, &capturing) == CC_OK && !capturing &&
        cc__driver_more.stream_get_id(stream, &id) != CUDA_SUCCESS)
        id = 0;
    cc__cuda_leave(&guard);
    return id;
}
