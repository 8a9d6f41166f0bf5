/* No devices at all. Callers check the device first, so these are reached only where no device is asked for. */
#include "backend/backend.h"
#include "base/error.h"

static cc_status no_device(const char *operation)
{
    return cc__fail(CC_ERROR_NO_DEVICE, "%s: there are no devices", operation);
}

static cc_status none_current_device(cc__backend *self, int32_t *out_device)
{
    (void)self, (void)out_device;
    return no_device("current_device");
}

static cc_status none_allocate(cc__backend *self, int32_t device, cc_stream stream, size_t size_bytes,
                               void **out_memory)
{
    (void)self, (void)device, (void)stream, (void)size_bytes, (void)out_memory;
    return no_device("allocate");
}

static cc_status none_free(cc__backend *self, int32_t device, cc_stream stream, void *memory)
{
    (void)self, (void)device, (void)stream, (void)memory;
    return no_device("free");
}

static cc_status none_host_register(cc__backend *self, void *memory, size_t size_bytes)
{
    (void)self, (void)memory, (void)size_bytes;
    return no_device("host_register");
}

static cc_status none_host_unregister(cc__backend *self, void *memory)
{
    (void)self, (void)memory;
    return no_device("host_unregister");
}

static bool none_host_is_locked(cc__backend *self, const void *memory, size_t size_bytes)
{
    (void)self, (void)memory, (void)size_bytes;
    return false;
}

static cc_status none_memory_device(cc__backend *self, const void *memory, int32_t *out_device)
{
    (void)self, (void)memory, (void)out_device;
    return no_device("memory_device");
}

static bool none_is_lost(cc__backend *self, int32_t device)
{
    (void)self, (void)device;
    return false;
}

static bool none_has_peer_access(cc__backend *self, int32_t to, int32_t from)
{
    (void)self, (void)to, (void)from;
    return false;
}

static cc_status none_stream_create(cc__backend *self, int32_t device, cc_stream *out_stream)
{
    (void)self, (void)device, (void)out_stream;
    return no_device("stream_create");
}

static void none_stream_destroy(cc__backend *self, int32_t device, cc_stream stream)
{
    (void)self, (void)device, (void)stream;
}

static cc_status none_stream_synchronize(cc__backend *self, int32_t device, cc_stream stream)
{
    (void)self, (void)device, (void)stream;
    return no_device("stream_synchronize");
}

static cc_status none_stream_is_capturing(cc__backend *self, int32_t device, cc_stream stream, bool *out_capturing)
{
    (void)self, (void)device, (void)stream, (void)out_capturing;
    return no_device("stream_is_capturing");
}

static cc_status none_stream_is_idle(cc__backend *self, int32_t device, cc_stream stream, bool *out_idle)
{
    (void)self, (void)device, (void)stream, (void)out_idle;
    return no_device("stream_is_idle");
}

static cc_status none_synchronize(cc__backend *self, int32_t device)
{
    (void)self, (void)device;
    return no_device("synchronize");
}

static cc_status none_event_create(cc__backend *self, int32_t device, cc__event **out_event)
{
    (void)self, (void)device, (void)out_event;
    return no_device("event_create");
}

static void none_event_destroy(cc__backend *self, int32_t device, cc__event *event)
{
    (void)self, (void)device, (void)event;
}

static cc_status none_event_record(cc__backend *self, int32_t device, cc__event *event, cc_stream stream)
{
    (void)self, (void)device, (void)event, (void)stream;
    return no_device("event_record");
}

static cc_status none_event_is_complete(cc__backend *self, int32_t device, cc__event *event, bool *out_complete)
{
    (void)self, (void)device, (void)event, (void)out_complete;
    return no_device("event_is_complete");
}

static cc_status none_event_synchronize(cc__backend *self, int32_t device, cc__event *event)
{
    (void)self, (void)device, (void)event;
    return no_device("event_synchronize");
}

static cc_status none_stream_wait(cc__backend *self, int32_t device, cc_stream stream, cc__event *event)
{
    (void)self, (void)device, (void)stream, (void)event;
    return no_device("stream_wait");
}

static cc_status none_copy(cc__backend *self, int32_t device, cc_stream stream, const cc__copy *work)
{
    (void)self, (void)device, (void)stream, (void)work;
    return no_device("copy");
}

static cc_status none_fill(cc__backend *self, int32_t device, cc_stream stream, const cc__fill *work)
{
    (void)self, (void)device, (void)stream, (void)work;
    return no_device("fill");
}

static cc_status none_run_kernel(cc__backend *self, int32_t device, cc_stream stream, const cc__kernel *kernel,
                                 const void *work, bool *out_has_written)
{
    (void)self, (void)device, (void)stream, (void)work;
    *out_has_written = false;
    return no_device(kernel->name);
}

static cc_status none_call(cc__backend *self, int32_t device, cc_status (*function)(void *context), void *context)
{
    (void)self, (void)device, (void)function, (void)context;
    return no_device("call");
}

static cc_status none_copy_boxes(cc__backend *self, int32_t device, cc_stream stream, const cc__copy *works,
                                 int32_t count)
{
    (void)self, (void)device, (void)stream, (void)works, (void)count;
    return no_device("copy_boxes");
}

static cc_status none_texture_create(cc__backend *self, int32_t device, const cc__texture_form *form,
                                     cc__texture **out_texture)
{
    (void)self, (void)device, (void)form, (void)out_texture;
    return no_device("texture_create");
}

static cc_status none_texture_update(cc__backend *self, int32_t device, cc_stream stream, cc__texture *texture,
                                     const cc__span *source)
{
    (void)self, (void)device, (void)stream, (void)texture, (void)source;
    return no_device("texture_update");
}

static cc_status none_texture_objects(cc__backend *self, int32_t device, cc__texture *texture,
                                      const cc__sampling *sampling, uint64_t out_objects[CC_TEXTURE_MAX_OBJECTS])
{
    (void)self, (void)device, (void)texture, (void)sampling, (void)out_objects;
    return no_device("texture_objects");
}

static void none_texture_destroy(cc__backend *self, int32_t device, cc__texture *texture)
{
    (void)self, (void)device, (void)texture;
}

static uint64_t none_stream_id(cc__backend *self, int32_t device, cc_stream stream)
{
    (void)self, (void)device, (void)stream;
    return 0;
}

static cc_status none_memory_info(cc__backend *self, int32_t device, size_t *out_free_bytes, size_t *out_total_bytes)
{
    (void)self, (void)device, (void)out_free_bytes, (void)out_total_bytes;
    return no_device("memory_info");
}

static cc_status none_trim(cc__backend *self, int32_t device, size_t keep_bytes)
{
    (void)self, (void)device, (void)keep_bytes;
    return no_device("trim");
}

static void none_range_push(cc__backend *self, const char *name)
{
    (void)self, (void)name;
}

static cc_status none_check_usable(cc__backend *self)
{
    (void)self;
    return CC_OK;
}

static void none_range_pop(cc__backend *self)
{
    (void)self;
}

cc__backend *cc__backend_none(void)
{
    static cc__backend none = {.name = "none",
                               .state = NULL,
                               .device_count = 0,
                               .current_device = none_current_device,
                               .allocate = none_allocate,
                               .free = none_free,
                               .host_register = none_host_register,
                               .host_unregister = none_host_unregister,
                               .host_is_locked = none_host_is_locked,
                               .memory_device = none_memory_device,
                               .is_lost = none_is_lost,
                               .has_peer_access = none_has_peer_access,
                               .stream_create = none_stream_create,
                               .stream_destroy = none_stream_destroy,
                               .stream_synchronize = none_stream_synchronize,
                               .stream_is_capturing = none_stream_is_capturing,
                               .stream_is_idle = none_stream_is_idle,
                               .synchronize = none_synchronize,
                               .event_create = none_event_create,
                               .event_destroy = none_event_destroy,
                               .event_record = none_event_record,
                               .event_is_complete = none_event_is_complete,
                               .event_synchronize = none_event_synchronize,
                               .stream_wait = none_stream_wait,
                               .copy = none_copy,
                               .fill = none_fill,
                               .run_kernel = none_run_kernel,
                               .call = none_call,
                               .copy_boxes = none_copy_boxes,
                               .texture_create = none_texture_create,
                               .texture_update = none_texture_update,
                               .texture_objects = none_texture_objects,
                               .texture_destroy = none_texture_destroy,
                               .stream_id = none_stream_id,
                               .memory_info = none_memory_info,
                               .trim = none_trim,
                               .range_push = none_range_push,
                               .range_pop = none_range_pop,
                               .check_usable = none_check_usable};
    return &none;
}
