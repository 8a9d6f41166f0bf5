#include "backend/cuda_internal.h"
#include "base/allocate.h"
#include "base/error.h"

struct cc__event {
    CUevent event;
};

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
static cc_status ask_capturing(int32_t device, CUstream stream, bool *out_capturing)
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
    cc_status status = cc__cuda_enter(self, device, &guard);
    if (status != CC_OK)
        return status;
    status = ask_capturing(device, stream, out_capturing);
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
    status = ask_capturing(device, stream, &capturing);
    /* Waiting for a stream that is being captured would not only fail, it would break the capture. */
    if (status == CC_OK && capturing)
        status = cc__fail(CC_ERROR_CAPTURE, "stream = %p of device %d is being captured, expected one that is not",
                          (void *)stream, (int)device);
    if (status == CC_OK)
        status = CC__CU(device, cuStreamSynchronize, stream);
    cc__cuda_leave(&guard);
    return status;
}

cc_status cc__cuda_event_create(cc__backend *self, int32_t device, cc__event **out_event)
{
    cc__event *event = cc__allocate(sizeof *event);
    if (event == NULL)
        return cc__fail(CC_ERROR_DEVICE, "no host memory for an event of device %d", (int)device);
    cc__cuda_guard guard;
    cc_status status = cc__cuda_enter(self, device, &guard);
    if (status == CC_OK) {
        status = CC__CU(device, cuEventCreate, &event->event, CU_EVENT_DISABLE_TIMING);
        cc__cuda_leave(&guard);
    }
    if (status == CC_OK)
        *out_event = event;
    else
        cc__free(event);
    return status;
}

void cc__cuda_event_destroy(cc__backend *self, int32_t device, cc__event *event)
{
    cc__cuda_guard guard;
    if (!cc__cuda_is_over() && cc__cuda_enter_to_free(self, device, &guard) == CUDA_SUCCESS) {
        cc__driver.cuEventDestroy(event->event);
        cc__cuda_leave(&guard);
    }
    cc__free(event);
}

cc_status cc__cuda_event_record(cc__backend *self, int32_t device, cc__event *event, cc_stream stream)
{
    cc__cuda_guard guard;
    cc_status status = cc__cuda_enter(self, device, &guard);
    if (status != CC_OK)
        return status;
    status = CC__CU(device, cuEventRecord, event->event, stream);
    cc__cuda_leave(&guard);
    return status;
}

cc_status cc__cuda_event_is_complete(cc__backend *self, int32_t device, cc__event *event, bool *out_complete)
{
    cc__cuda_guard guard;
    cc_status status = cc__cuda_enter(self, device, &guard);
    if (status != CC_OK)
        return status;
    CUresult result = cc__driver.cuEventQuery(event->event);
    cc__cuda_leave(&guard);
    if (result == CUDA_ERROR_NOT_READY) {
        *out_complete = false;
        return CC_OK;
    }
    if (result == CUDA_SUCCESS)
        *out_complete = true;
    return cc__driver_status(result, "cuEventQuery", device);
}

cc_status cc__cuda_event_synchronize(cc__backend *self, int32_t device, cc__event *event)
{
    cc__cuda_guard guard;
    cc_status status = cc__cuda_enter(self, device, &guard);
    if (status != CC_OK)
        return status;
    status = CC__CU(device, cuEventSynchronize, event->event);
    cc__cuda_leave(&guard);
    return status;
}

cc_status cc__cuda_stream_wait(cc__backend *self, int32_t device, cc_stream stream, cc__event *event)
{
    cc__cuda_guard guard;
    cc_status status = cc__cuda_enter(self, device, &guard);
    if (status != CC_OK)
        return status;
    status = CC__CU(device, cuStreamWaitEvent, stream, event->event, 0);
    cc__cuda_leave(&guard);
    return status;
}
