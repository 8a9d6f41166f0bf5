/*
 * The emulated device: what each operation accepts. It refuses what the real driver refuses or leaves undefined, so
 * that such a call fails in every test and not on some machine.
 *
 * Not modelled: a stream that the caller made with plain cudaStreamCreate also waits for the legacy default stream, and
 * that for it. Here, as with the library's own streams, there is no order but what events make.
 *
 * Its memory is the driver's, so it comes from the C library and is not counted or failed as the library's own.
 */
#include "backend/emulated.h"

#include "backend/default_stream.h"
#include "backend/emulated_state.h"

#include <stdlib.h>

/* Handles are numbers that are not used again, so that a destroyed stream is told from its successor. */
#define FIRST_HANDLE 0x1000u
#define HANDLE_STEP 0x10u

static _Thread_local int32_t current_device;

static cc_status check_event_device(const char *operation, int32_t device, const cc__event *event)
{
    if (event->device == device)
        return CC_OK;
    return CC__EMULATED_REFUSE(CC__NATIVE_INVALID_HANDLE, "%s: event is of device %d, must be of %d", operation,
                               (int)event->device, (int)device);
}

static cc_status emulated_current_device(cc__backend *self, int32_t *out_device)
{
    *out_device = current_device < self->device_count ? current_device : 0;
    return CC_OK;
}

static bool emulated_is_lost(cc__backend *self, int32_t device)
{
    cc__emulated *emulated = self->state;
    return atomic_load(&emulated->devices[device].is_found_lost);
}

static bool emulated_has_peer_access(cc__backend *self, int32_t to, int32_t from)
{
    (void)self, (void)to, (void)from;
    return true;
}

static cc_status emulated_stream_create(cc__backend *self, int32_t device, cc_stream *out_stream)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    cc_status status = cc__emulated_check_not_lost(emulated, "stream_create", device);
    if (status != CC_OK)
        return cc__emulated_unlock(emulated, status);
    const uintptr_t number = FIRST_HANDLE + HANDLE_STEP * emulated->next_stream;
    const cc_stream handle = (cc_stream)number; /* NOLINT(performance-no-int-to-ptr): nothing is behind it */
    if (!cc__emulated_add_stream(emulated, device, handle))
        return cc__emulated_unlock(emulated, cc__emulated_no_memory("stream_create"));
    emulated->next_stream++;
    *out_stream = handle;
    return cc__emulated_unlock(emulated, CC_OK);
}

static void emulated_stream_destroy(cc__backend *self, int32_t device, cc_stream handle)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    cc__stream *stream = NULL;
    if ((uintptr_t)handle >= FIRST_HANDLE &&
        cc__emulated_find_stream(emulated, "stream_destroy", device, handle, &stream) == CC_OK)
        cc__emulated_retire_stream(emulated, stream);
    cc__emulated_unlock(emulated, CC_OK);
}

static cc_status synchronize(cc__emulated *emulated, int32_t device, cc_stream handle)
{
    cc__stream *stream = NULL;
    cc_status status = cc__emulated_find_stream(emulated, "stream_synchronize", device, handle, &stream);
    if (status != CC_OK)
        return status;
    if (stream->capturing)
        return cc__emulated_refuse_capture(CC_ERROR_CAPTURE, "stream_synchronize", handle);
    cc__task *task = cc__emulated_create_task(CC__TASK_MARK, true);
    if (!task)
        return cc__emulated_no_memory("stream_synchronize");
    cc__mark *mark = cc__emulated_retain_mark(task->mark);
    cc__emulated_queue(stream, task);
    cc__emulated_wait(emulated, mark);
    cc__emulated_release_mark(mark);
    return cc__emulated_check_not_lost(emulated, "stream_synchronize", device);
}

static cc_status emulated_stream_synchronize(cc__backend *self, int32_t device, cc_stream stream)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    return cc__emulated_unlock(emulated, synchronize(emulated, device, stream));
}

static cc_status emulated_stream_is_capturing(cc__backend *self, int32_t device, cc_stream handle, bool *out_capturing)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    cc__stream *stream = NULL;
    cc_status status = cc__emulated_find_stream(emulated, "stream_is_capturing", device, handle, &stream);
    if (status == CC_OK)
        *out_capturing = stream->capturing;
    return cc__emulated_unlock(emulated, status);
}

static cc_status emulated_stream_is_idle(cc__backend *self, int32_t device, cc_stream handle, bool *out_idle)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    cc__stream *stream = NULL;
    cc_status status = cc__emulated_find_stream(emulated, "stream_is_idle", device, handle, &stream);
    if (status == CC_OK)
        status = cc__emulated_check_not_lost(emulated, "stream_is_idle", device);
    if (status == CC_OK && stream->capturing)
        status = cc__emulated_refuse_capture(CC_ERROR_CAPTURE, "stream_is_idle", handle);
    if (status == CC_OK)
        *out_idle = stream->first == NULL;
    return cc__emulated_unlock(emulated, status);
}

/* A mark at the end of each stream of the device, then all of them; those that come later do not count. */
static cc_status synchronize_device(cc__emulated *emulated, int32_t device)
{
    cc__mark *marks = NULL;
    cc_status status = CC_OK;
    for (cc__stream *stream = emulated->streams; stream; stream = stream->next)
        if (stream->device == device && stream->capturing)
            return cc__emulated_refuse_capture(CC_ERROR_CAPTURE, "synchronize", stream->handle);
    for (cc__stream *stream = emulated->streams; stream && status == CC_OK; stream = stream->next) {
        if (stream->device != device || !stream->first)
            continue;
        cc__task *task = cc__emulated_create_task(CC__TASK_MARK, true);
        if (!task) {
            status = cc__emulated_no_memory("synchronize");
            continue;
        }
        task->mark->next = marks;
        marks = cc__emulated_retain_mark(task->mark);
        cc__emulated_queue(stream, task);
    }
    for (cc__mark *mark = marks, *next; mark; mark = next) {
        next = mark->next;
        if (status == CC_OK)
            cc__emulated_wait(emulated, mark);
        cc__emulated_release_mark(mark);
    }
    return status == CC_OK ? cc__emulated_check_not_lost(emulated, "synchronize", device) : status;
}

static cc_status emulated_synchronize(cc__backend *self, int32_t device)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    return cc__emulated_unlock(emulated, synchronize_device(emulated, device));
}

static cc_status emulated_event_create(cc__backend *self, int32_t device, cc__event **out_event)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    cc_status status = cc__emulated_check_not_lost(emulated, "event_create", device);
    if (status != CC_OK)
        return cc__emulated_unlock(emulated, status);
    cc__event *event = calloc(1, sizeof *event);
    if (!event)
        return cc__emulated_unlock(emulated, cc__emulated_no_memory("event_create"));
    event->device = device;
    event->next = emulated->events;
    event->link = &emulated->events;
    if (event->next)
        event->next->link = &event->next;
    emulated->events = event;
    *out_event = event;
    return cc__emulated_unlock(emulated, CC_OK);
}

static void emulated_event_destroy(cc__backend *self, int32_t device, cc__event *event)
{
    (void)device;
    cc__emulated *emulated = cc__emulated_lock(self);
    *event->link = event->next;
    if (event->next)
        event->next->link = event->link;
    cc__emulated_release_mark(event->latest);
    free(event);
    cc__emulated_unlock(emulated, CC_OK);
}

static cc_status queue_record(cc__emulated *emulated, int32_t device, cc__event *event, cc_stream handle)
{
    cc__stream *stream = NULL;
    cc_status status = check_event_device("event_record", device, event);
    if (status == CC_OK)
        status = cc__emulated_find_open_stream(emulated, "event_record", device, handle, &stream);
    if (status != CC_OK)
        return status;
    cc__task *task = cc__emulated_create_task(CC__TASK_MARK, true);
    if (!task)
        return cc__emulated_no_memory("event_record");
    cc__emulated_release_mark(event->latest);
    event->latest = cc__emulated_retain_mark(task->mark);
    cc__emulated_queue(stream, task);
    return CC_OK;
}

static cc_status emulated_event_record(cc__backend *self, int32_t device, cc__event *event, cc_stream stream)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    return cc__emulated_unlock(emulated, queue_record(emulated, device, event, stream));
}

static cc_status emulated_event_is_complete(cc__backend *self, int32_t device, cc__event *event, bool *out_complete)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    cc_status status = check_event_device("event_is_complete", device, event);
    if (status == CC_OK)
        status = cc__emulated_check_not_lost(emulated, "event_is_complete", device);
    if (status == CC_OK)
        *out_complete = !event->latest || event->latest->done;
    return cc__emulated_unlock(emulated, status);
}

static cc_status emulated_event_synchronize(cc__backend *self, int32_t device, cc__event *event)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    cc_status status = check_event_device("event_synchronize", device, event);
    if (status == CC_OK && event->latest)
        cc__emulated_wait(emulated, event->latest);
    if (status == CC_OK)
        status = cc__emulated_check_not_lost(emulated, "event_synchronize", device);
    return cc__emulated_unlock(emulated, status);
}

static cc_status queue_wait(cc__emulated *emulated, int32_t device, cc_stream handle, cc__event *event)
{
    cc__stream *stream = NULL;
    cc_status status = cc__emulated_find_open_stream(emulated, "stream_wait", device, handle, &stream);
    if (status == CC_OK)
        status = cc__emulated_check_not_lost(emulated, "stream_wait", event->device);
    if (status != CC_OK || !event->latest || event->latest->done)
        return status;
    cc__task *task = cc__emulated_create_task(CC__TASK_WAIT, false);
    if (!task)
        return cc__emulated_no_memory("stream_wait");
    task->awaited = cc__emulated_retain_mark(event->latest);
    cc__emulated_queue(stream, task);
    return CC_OK;
}

static cc_status emulated_stream_wait(cc__backend *self, int32_t device, cc_stream stream, cc__event *event)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    return cc__emulated_unlock(emulated, queue_wait(emulated, device, stream, event));
}

static uint64_t emulated_stream_id(cc__backend *self, int32_t device, cc_stream handle)
{
    if (cc__is_default_stream(handle))
        return cc__default_stream_id(device, handle);
    cc__emulated *emulated = cc__emulated_lock(self);
    const cc__stream *stream = emulated->streams;
    while (stream && (stream->device != device || stream->handle != handle || stream->destroyed))
        stream = stream->next;
    const uint64_t id = stream && !stream->capturing ? stream->id : 0;
    cc__emulated_unlock(emulated, CC_OK);
    return id;
}

static void emulated_range_push(cc__backend *self, const char *name)
{
    (void)self, (void)name;
}

static cc_status emulated_check_usable(cc__backend *self)
{
    (void)self;
    return CC_OK;
}

static cc_status emulated_call(cc__backend *self, int32_t device, cc_status (*function)(void *context), void *context)
{
    const int32_t before = current_device;
    (void)self;
    current_device = device;
    const cc_status status = function(context);
    current_device = before;
    return status;
}

static void emulated_range_pop(cc__backend *self)
{
    (void)self;
}

static const cc__backend table = {.name = "emulated",
                                  .current_device = emulated_current_device,
                                  .allocate = cc__emulated_allocate,
                                  .free = cc__emulated_free,
                                  .host_register = cc__emulated_host_register,
                                  .host_unregister = cc__emulated_host_unregister,
                                  .host_is_locked = cc__emulated_host_is_locked,
                                  .memory_device = cc__emulated_memory_device,
                                  .is_lost = emulated_is_lost,
                                  .has_peer_access = emulated_has_peer_access,
                                  .stream_create = emulated_stream_create,
                                  .stream_destroy = emulated_stream_destroy,
                                  .stream_synchronize = emulated_stream_synchronize,
                                  .stream_is_capturing = emulated_stream_is_capturing,
                                  .stream_is_idle = emulated_stream_is_idle,
                                  .synchronize = emulated_synchronize,
                                  .event_create = emulated_event_create,
                                  .event_destroy = emulated_event_destroy,
                                  .event_record = emulated_event_record,
                                  .event_is_complete = emulated_event_is_complete,
                                  .event_synchronize = emulated_event_synchronize,
                                  .stream_wait = emulated_stream_wait,
                                  .copy = cc__emulated_copy,
                                  .fill = cc__emulated_fill,
                                  .run_kernel = cc__emulated_run_kernel,
                                  .call = emulated_call,
                                  .copy_boxes = cc__emulated_copy_boxes,
                                  .texture_create = cc__emulated_texture_create,
                                  .texture_update = cc__emulated_texture_update,
                                  .texture_objects = cc__emulated_texture_objects,
                                  .texture_destroy = cc__emulated_texture_destroy,
                                  .stream_id = emulated_stream_id,
                                  .memory_info = cc__emulated_memory_info,
                                  .trim = cc__emulated_trim,
                                  .range_push = emulated_range_push,
                                  .range_pop = emulated_range_pop,
                                  .check_usable = emulated_check_usable};

static void destroy(cc__emulated *emulated)
{
    cc__emulated_drop_streams(emulated);
    for (cc__event *event = emulated->events, *next; event; event = next) {
        next = event->next;
        cc__emulated_release_mark(event->latest);
        free(event);
    }
    while (emulated->textures)
        cc__emulated_texture_destroy(&emulated->table, 0, emulated->textures);
    while (emulated->blocks)
        cc__emulated_remove_block(emulated, emulated->blocks);
    pthread_cond_destroy(&emulated->function_ended);
    pthread_mutex_destroy(&emulated->lock);
    free(emulated);
}

cc__backend *cc__backend_emulated_create(int32_t device_count)
{
    if (device_count < 1 || device_count > CC__EMULATED_MAX_DEVICES)
        return NULL;
    cc__emulated *emulated = calloc(1, sizeof *emulated);
    if (!emulated)
        return NULL;
    pthread_mutex_init(&emulated->lock, NULL);
    pthread_cond_init(&emulated->function_ended, NULL);
    emulated->table = table;
    emulated->table.state = emulated;
    emulated->table.device_count = device_count;
    for (int32_t device = 0; device < device_count; device++)
        if (!cc__emulated_add_stream(emulated, device, CC_STREAM_DEFAULT)) {
            destroy(emulated);
            return NULL;
        }
    return &emulated->table;
}

void cc__backend_emulated_destroy(cc__backend *backend)
{
    if (backend)
        destroy(backend->state);
}

void cc__emulated_set_seed(cc__backend *backend, uint64_t seed)
{
    cc__emulated *emulated = backend->state;
    pthread_mutex_lock(&emulated->lock);
    emulated->random = seed * 0x9E3779B97F4A7C15u; /* spreads the bits of small seeds; 0 stays 0, and only that */
    pthread_mutex_unlock(&emulated->lock);
}

void cc__emulated_set_current_device(cc__backend *backend, int32_t device)
{
    (void)backend;
    current_device = device;
}

void cc__emulated_set_capturing(cc__backend *backend, int32_t device, cc_stream handle, bool capturing)
{
    cc__emulated *emulated = cc__emulated_lock(backend);
    cc__stream *stream = NULL;
    if (cc__emulated_find_stream(emulated, "set_capturing", device, handle, &stream) == CC_OK)
        stream->capturing = capturing;
    cc__emulated_unlock(emulated, CC_OK);
}

void cc__emulated_set_memory_limit(cc__backend *backend, size_t limit_bytes)
{
    cc__emulated *emulated = backend->state;
    pthread_mutex_lock(&emulated->lock);
    emulated->limit_bytes = limit_bytes;
    pthread_mutex_unlock(&emulated->lock);
}

/* What the caller has given back is not alive, though it may be kept for work that is queued. */
cc__emulated_live cc__emulated_count_live(cc__backend *backend)
{
    cc__emulated *emulated = backend->state;
    cc__emulated_live live = {0};
    pthread_mutex_lock(&emulated->lock);
    for (const cc__block *block = emulated->blocks; block; block = block->next) {
        const bool is_registered = block->device == CC_PLACE_HOST;
        const bool is_allocated = !is_registered && !block->freed_at;
        live.registrations += is_registered;
        live.allocations += is_allocated;
        live.allocated_bytes += is_allocated ? (int64_t)block->size_bytes : 0;
    }
    for (const cc__stream *stream = emulated->streams; stream; stream = stream->next) {
        live.streams += (uintptr_t)stream->handle >= FIRST_HANDLE && !stream->destroyed;
        live.queued += stream->queued;
    }
    for (const cc__event *event = emulated->events; event; event = event->next)
        live.events++;
    pthread_mutex_unlock(&emulated->lock);
    return live;
}
