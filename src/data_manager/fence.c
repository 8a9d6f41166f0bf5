#include "data_manager/fence.h"

#include "base/allocate.h"
#include "base/error.h"

cc_status cc__fence_create(cc__backend *backend, int32_t device, cc__fence **out_fence)
{
    cc__fence *fence = cc__allocate(sizeof *fence);
    if (fence == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__fence_create: no memory for a fence");
    const cc_status status = backend->event_create(backend, device, &fence->event);
    if (status != CC_OK) {
        cc__free(fence);
        return status;
    }
    fence->backend = backend;
    fence->device = device;
    atomic_init(&fence->references, 1);
    *out_fence = fence;
    return CC_OK;
}

cc_status cc__fence_create_for_default_stream(cc__backend *backend, int32_t device, cc__fence **out_fence)
{
    cc__fence *fence = cc__allocate(sizeof *fence);
    if (fence == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__fence_create_for_default_stream: no memory for a fence");
    fence->backend = backend;
    fence->device = device;
    atomic_init(&fence->references, 1);
    *out_fence = fence;
    return CC_OK;
}

cc_status cc__fence_create_standing(cc__backend *backend, int32_t device, cc_stream stream, uint64_t stream_id,
                                    bool stream_is_known, cc__fence **out_fence)
{
    cc__fence *fence = NULL;
    const cc_status status = cc__fence_create(backend, device, &fence);
    if (fence == NULL)
        return status;
    fence->is_standing = true;
    fence->is_device_wide = !stream_is_known;
    fence->stream = stream_is_known ? stream : CC_STREAM_DEFAULT;
    fence->stream_id = stream_is_known ? stream_id : 0;
    *out_fence = fence;
    return CC_OK;
}

static bool mark_stream(cc__fence *fence, cc_stream stream)
{
    cc__backend *backend = fence->backend;
    bool capturing = false;
    const uint64_t id = cc__stream_is_legacy_default(stream) ? 0 : backend->stream_id(backend, fence->device, stream);
    return backend->stream_is_capturing(backend, fence->device, stream, &capturing) == CC_OK && !capturing &&
           cc__fence_record(fence, stream, id) == CC_OK;
}

void cc__fence_end_standing(cc__fence *fence, bool has_stream, cc_stream stream)
{
    cc__error_state before;
    cc__error_save(&before);
    fence->is_standing = false;
    fence->is_device_wide = !has_stream || !mark_stream(fence, stream);
    cc__error_restore(&before);
    if (fence->is_device_wide)
        cc__fence_defer(fence, CC_STREAM_DEFAULT);
}

cc_status cc__fence_settle(cc__fence *fence)
{
    cc__backend *backend = fence->backend;
    cc__event *event = NULL;
    bool capturing = false;
    if (fence->event != NULL)
        return CC_OK;
    cc_status status = backend->stream_is_capturing(backend, fence->device, fence->stream, &capturing);
    if (status == CC_OK && capturing)
        status = cc__fail(CC_ERROR_CAPTURE, "stream = %p of device %d cannot be waited for during a capture",
                          (void *)fence->stream, fence->device);
    if (status == CC_OK)
        status = backend->event_create(backend, fence->device, &event);
    if (status != CC_OK)
        return status;
    status = backend->event_record(backend, fence->device, event, fence->stream);
    if (status != CC_OK && status != CC_ERROR_CAPTURE) {
        /* Without an event the work can still be waited for; one that was never recorded counts as complete. */
        status = backend->stream_synchronize(backend, fence->device, fence->stream);
    }
    if (status == CC_OK)
        fence->event = event;
    else
        backend->event_destroy(backend, fence->device, event);
    return status;
}

void cc__fence_defer(cc__fence *fence, cc_stream stream)
{
    fence->backend->event_destroy(fence->backend, fence->device, fence->event);
    fence->event = NULL;
    fence->stream = stream;
    fence->stream_id = 0;
}

cc__fence *cc__fence_retain(cc__fence *fence)
{
    atomic_fetch_add(&fence->references, 1);
    return fence;
}

void cc__fence_let_go(cc__fence *fence)
{
    if (atomic_fetch_sub(&fence->references, 1) > 1)
        return;
    if (fence->event != NULL)
        fence->backend->event_destroy(fence->backend, fence->device, fence->event);
    cc__free(fence);
}

void cc__fence_recycle(cc__fence *fence, cc__fence **spare)
{
    /* Only who has a fence can give it to others, so one reference is nobody else's; and others are through with it. */
    if (*spare != NULL || fence->event == NULL || fence->is_standing || fence->is_device_wide ||
        atomic_load(&fence->references) != 1) {
        cc__fence_let_go(fence);
        return;
    }
    atomic_store_explicit(&fence->is_complete, false, memory_order_relaxed);
    fence->moment_of = NULL;
    *spare = fence;
}

cc_status cc__fence_record(cc__fence *fence, cc_stream stream, uint64_t stream_id)
{
    fence->stream = stream;
    fence->stream_id = stream_id;
    return fence->backend->event_record(fence->backend, fence->device, fence->event, stream);
}
