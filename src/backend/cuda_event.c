#include "backend/cuda_internal.h"
#include "backend/default_stream.h"
#include "base/error.h"

#include <stdlib.h>

struct cc__event {
    CUevent event;
    atomic_bool is_recorded; /* since it was created: what the driver knows may be from an earlier use */
    cc__event *next;         /* on the shelf */
};

static cc__cuda_event_shelf *my_shelf(cc__cuda_device *device)
{
    return &device->events[cc__thread_number() % CC__CUDA_EVENT_SHELVES];
}

/* NULL when there is none, or another thread is at the shelf. */
static cc__event *take_event(cc__cuda_event_shelf *shelf)
{
    cc__event *event = NULL;
    if (atomic_exchange_explicit(&shelf->is_busy, true, memory_order_acquire))
        return NULL;
    if (shelf->first != NULL) {
        event = shelf->first;
        shelf->first = event->next;
        shelf->count--;
    }
    atomic_store_explicit(&shelf->is_busy, false, memory_order_release);
    return event;
}

/* False when there is no room, or another thread is at the shelf. */
static bool keep_event(cc__cuda_event_shelf *shelf, cc__event *event)
{
    bool has_room = false;
    if (atomic_exchange_explicit(&shelf->is_busy, true, memory_order_acquire))
        return false;
    if (shelf->count < CC__CUDA_EVENTS_PER_SHELF) {
        has_room = true;
        event->next = shelf->first;
        shelf->first = event;
        shelf->count++;
    }
    atomic_store_explicit(&shelf->is_busy, false, memory_order_release);
    return has_room;
}

/* Kept until the process ends, so it is not of the memory that the library counts. */
static cc_status make_event(cc__backend *self, int32_t device, cc__event **out_event)
{
    cc__event *event = calloc(1, sizeof *event);
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
        free(event);
    return status;
}

cc_status cc__cuda_event_create(cc__backend *self, int32_t device, cc__event **out_event)
{
    cc_status status = cc__cuda_usable();
    if (status != CC_OK)
        return status;
    cc__event *event = take_event(my_shelf(cc__cuda_device_at(self, device)));
    if (event == NULL)
        return make_event(self, device, out_event);
    atomic_store_explicit(&event->is_recorded, false, memory_order_relaxed);
    *out_event = event;
    return CC_OK;
}

void cc__cuda_event_destroy(cc__backend *self, int32_t device, cc__event *event)
{
    cc__cuda_guard guard;
    if (!cc__cuda_is_over()) {
        if (keep_event(my_shelf(cc__cuda_device_at(self, device)), event))
            return;
        if (cc__cuda_enter_to_free(self, device, &guard) == CUDA_SUCCESS) {
            cc__driver.cuEventDestroy(event->event);
            cc__cuda_leave(&guard);
        }
    }
    free(event);
}

cc_status cc__cuda_event_record(cc__backend *self, int32_t device, cc__event *event, cc_stream stream)
{
    cc__cuda_guard guard;
    cc_status status = cc__cuda_enter_stream(self, device, stream, &guard);
    if (status != CC_OK)
        return status;
    /* In a stream that is being captured it would succeed, and say nothing of the stream's work. */
    bool capturing = false;
    status = cc__cuda_ask_capturing(device, stream, &capturing);
    if (status == CC_OK && capturing)
        status = cc__fail(CC_ERROR_CAPTURE, "stream = %p of device %d is being captured, expected one that is not",
                          (void *)stream, (int)device);
    if (status == CC_OK)
        status = CC__CU(device, cuEventRecord, event->event, stream);
    cc__cuda_leave(&guard);
    if (status == CC_OK)
        atomic_store_explicit(&event->is_recorded, true, memory_order_release);
    return status;
}

static bool is_recorded(cc__event *event)
{
    return atomic_load_explicit(&event->is_recorded, memory_order_acquire);
}

cc_status cc__cuda_event_is_complete(cc__backend *self, int32_t device, cc__event *event, bool *out_complete)
{
    cc__cuda_guard guard;
    cc_status status = cc__cuda_enter_event(self, device, &guard);
    if (status != CC_OK)
        return status;
    CUresult result = is_recorded(event) ? cc__driver.cuEventQuery(event->event) : CUDA_SUCCESS;
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
    cc_status status = cc__cuda_enter_event(self, device, &guard);
    if (status != CC_OK)
        return status;
    if (is_recorded(event))
        status = CC__CU(device, cuEventSynchronize, event->event);
    cc__cuda_leave(&guard);
    return status;
}

cc_status cc__cuda_stream_wait(cc__backend *self, int32_t device, cc_stream stream, cc__event *event)
{
    cc__cuda_guard guard;
    cc_status status = cc__cuda_enter_stream(self, device, stream, &guard);
    if (status != CC_OK)
        return status;
    if (is_recorded(event))
        status = CC__CU(device, cuStreamWaitEvent, stream, event->event, 0);
    cc__cuda_leave(&guard);
    return status;
}
