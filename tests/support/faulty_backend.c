#include "support/faulty_backend.h"

#include "memory/pixel_kernels.h"
#include "support/faulty_state.h"

#include <stdlib.h>

static cc_status faulty_current_device(cc__backend *self, int32_t *out_device)
{
    faulty_call now = faulty_begin(self, FAULTY_CURRENT_DEVICE, CC_PLACE_HOST, NULL, 0);
    return faulty_end(&now, faulty_passes(&now) ? now.inner->current_device(now.inner, out_device) : now.entry.status);
}

static cc_status faulty_allocate(cc__backend *self, int32_t device, cc_stream stream, size_t size_bytes,
                                 void **out_memory)
{
    faulty_call now = faulty_begin(self, FAULTY_ALLOCATE, device, stream, (int64_t)size_bytes);
    return faulty_end(&now, faulty_passes(&now) ? now.inner->allocate(now.inner, device, stream, size_bytes, out_memory)
                                                : now.entry.status);
}

static cc_status faulty_free(cc__backend *self, int32_t device, cc_stream stream, void *memory)
{
    faulty_call now = faulty_begin(self, FAULTY_FREE, device, memory, 0);
    return faulty_end(&now,
                      faulty_passes(&now) ? now.inner->free(now.inner, device, stream, memory) : now.entry.status);
}

static cc_status faulty_host_register(cc__backend *self, void *memory, size_t size_bytes)
{
    faulty_call now = faulty_begin(self, FAULTY_HOST_REGISTER, CC_PLACE_HOST, memory, (int64_t)size_bytes);
    return faulty_end(&now,
                      faulty_passes(&now) ? now.inner->host_register(now.inner, memory, size_bytes) : now.entry.status);
}

static cc_status faulty_host_unregister(cc__backend *self, void *memory)
{
    faulty_call now = faulty_begin(self, FAULTY_HOST_UNREGISTER, CC_PLACE_HOST, memory, 0);
    return faulty_end(&now, faulty_passes(&now) ? now.inner->host_unregister(now.inner, memory) : now.entry.status);
}

static bool faulty_host_is_locked(cc__backend *self, const void *memory, size_t size_bytes)
{
    cc__backend *inner = ((faulty *)self->state)->inner;
    return inner->host_is_locked(inner, memory, size_bytes);
}

static bool faulty_is_lost(cc__backend *self, int32_t device)
{
    cc__backend *inner = ((faulty *)self->state)->inner;
    return inner->is_lost(inner, device);
}

static cc_status faulty_memory_device(cc__backend *self, const void *memory, int32_t *out_device)
{
    faulty_call now = faulty_begin(self, FAULTY_MEMORY_DEVICE, CC_PLACE_HOST, memory, 0);
    return faulty_end(&now,
                      faulty_passes(&now) ? now.inner->memory_device(now.inner, memory, out_device) : now.entry.status);
}

static bool faulty_has_peer_access(cc__backend *self, int32_t to, int32_t from)
{
    faulty_call now = faulty_begin(self, FAULTY_HAS_PEER_ACCESS, to, NULL, 0);
    pthread_mutex_lock(&now.self->lock);
    const bool refuses = now.self->refuses_peer_access;
    pthread_mutex_unlock(&now.self->lock);
    faulty_end(&now, CC_OK);
    return !refuses && now.inner->has_peer_access(now.inner, to, from);
}

static cc_status faulty_stream_create(cc__backend *self, int32_t device, cc_stream *out_stream)
{
    faulty_call now = faulty_begin(self, FAULTY_STREAM_CREATE, device, NULL, 0);
    return faulty_end(&now,
                      faulty_passes(&now) ? now.inner->stream_create(now.inner, device, out_stream) : now.entry.status);
}

static void faulty_stream_destroy(cc__backend *self, int32_t device, cc_stream stream)
{
    faulty_call now = faulty_begin(self, FAULTY_STREAM_DESTROY, device, stream, 0);
    now.inner->stream_destroy(now.inner, device, stream);
    faulty_end(&now, CC_OK);
}

static cc_status faulty_stream_synchronize(cc__backend *self, int32_t device, cc_stream stream)
{
    faulty_call now = faulty_begin(self, FAULTY_STREAM_SYNCHRONIZE, device, stream, 0);
    return faulty_end(&now, faulty_passes(&now) ? now.inner->stream_synchronize(now.inner, device, stream)
                                                : now.entry.status);
}

static cc_status faulty_stream_is_capturing(cc__backend *self, int32_t device, cc_stream stream, bool *out_capturing)
{
    faulty_call now = faulty_begin(self, FAULTY_STREAM_IS_CAPTURING, device, stream, 0);
    return faulty_end(&now, faulty_passes(&now)
                                ? now.inner->stream_is_capturing(now.inner, device, stream, out_capturing)
                                : now.entry.status);
}

static cc_status faulty_stream_is_idle(cc__backend *self, int32_t device, cc_stream stream, bool *out_idle)
{
    faulty_call now = faulty_begin(self, FAULTY_STREAM_IS_IDLE, device, stream, 0);
    return faulty_end(&now, faulty_passes(&now) ? now.inner->stream_is_idle(now.inner, device, stream, out_idle)
                                                : now.entry.status);
}

static cc_status faulty_synchronize(cc__backend *self, int32_t device)
{
    faulty_call now = faulty_begin(self, FAULTY_SYNCHRONIZE, device, NULL, 0);
    return faulty_end(&now, faulty_passes(&now) ? now.inner->synchronize(now.inner, device) : now.entry.status);
}

static cc_status faulty_event_create(cc__backend *self, int32_t device, cc__event **out_event)
{
    faulty_call now = faulty_begin(self, FAULTY_EVENT_CREATE, device, NULL, 0);
    return faulty_end(&now,
                      faulty_passes(&now) ? now.inner->event_create(now.inner, device, out_event) : now.entry.status);
}

static void faulty_event_destroy(cc__backend *self, int32_t device, cc__event *event)
{
    faulty_call now = faulty_begin(self, FAULTY_EVENT_DESTROY, device, event, 0);
    now.inner->event_destroy(now.inner, device, event);
    faulty_end(&now, CC_OK);
}

static cc_status faulty_event_record(cc__backend *self, int32_t device, cc__event *event, cc_stream stream)
{
    faulty_call now = faulty_begin(self, FAULTY_EVENT_RECORD, device, stream, 0);
    return faulty_end(&now, faulty_passes(&now) ? now.inner->event_record(now.inner, device, event, stream)
                                                : now.entry.status);
}

static cc_status faulty_event_is_complete(cc__backend *self, int32_t device, cc__event *event, bool *out_complete)
{
    faulty_call now = faulty_begin(self, FAULTY_EVENT_IS_COMPLETE, device, event, 0);
    return faulty_end(&now, faulty_passes(&now) ? now.inner->event_is_complete(now.inner, device, event, out_complete)
                                                : now.entry.status);
}

static cc_status faulty_event_synchronize(cc__backend *self, int32_t device, cc__event *event)
{
    faulty_call now = faulty_begin(self, FAULTY_EVENT_SYNCHRONIZE, device, event, 0);
    return faulty_end(&now,
                      faulty_passes(&now) ? now.inner->event_synchronize(now.inner, device, event) : now.entry.status);
}

static cc_status faulty_stream_wait(cc__backend *self, int32_t device, cc_stream stream, cc__event *event)
{
    faulty_call now = faulty_begin(self, FAULTY_STREAM_WAIT, device, stream, 0);
    return faulty_end(&now, faulty_passes(&now) ? now.inner->stream_wait(now.inner, device, stream, event)
                                                : now.entry.status);
}

static int64_t box_bytes(const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes)
{
    return size[0] * size[1] * size[2] * size[3] * pixel_bytes;
}

static cc_status faulty_copy(cc__backend *self, int32_t device, cc_stream stream, const cc__copy *work)
{
    faulty_call now = faulty_begin(self, FAULTY_COPY, device, stream, box_bytes(work->size, work->pixel_bytes));
    if (!faulty_passes(&now))
        return faulty_end(&now, now.entry.status);
    cc_status status = now.inner->copy(now.inner, device, stream, work);
    if (status == CC_OK)
        faulty_count_copy(now.self, work->destination.data, work->source.data, now.entry.bytes);
    return faulty_end(&now, status);
}

static int64_t boxes_bytes(const cc__copy *works, int32_t count)
{
    int64_t bytes = 0;
    for (int32_t i = 0; i < count; i++)
        bytes += box_bytes(works[i].size, works[i].pixel_bytes);
    return bytes;
}

static cc_status faulty_copy_boxes(cc__backend *self, int32_t device, cc_stream stream, const cc__copy *works,
                                   int32_t count)
{
    faulty_call now = faulty_begin(self, FAULTY_COPY_BOXES, device, stream, boxes_bytes(works, count));
    if (!faulty_passes(&now))
        return faulty_end(&now, now.entry.status);
    cc_status status = now.inner->copy_boxes(now.inner, device, stream, works, count);
    for (int32_t i = 0; i < count && status == CC_OK; i++)
        faulty_count_copy(now.self, works[i].destination.data, works[i].source.data, boxes_bytes(&works[i], 1));
    return faulty_end(&now, status);
}

static uint64_t faulty_stream_id(cc__backend *self, int32_t device, cc_stream stream)
{
    faulty_call now = faulty_begin(self, FAULTY_STREAM_ID, device, stream, 0);
    faulty_end(&now, CC_OK);
    return now.inner->stream_id(now.inner, device, stream);
}

static cc_status faulty_memory_info(cc__backend *self, int32_t device, size_t *out_free_bytes, size_t *out_total_bytes)
{
    faulty_call now = faulty_begin(self, FAULTY_MEMORY_INFO, device, NULL, 0);
    return faulty_end(&now, faulty_passes(&now)
                                ? now.inner->memory_info(now.inner, device, out_free_bytes, out_total_bytes)
                                : now.entry.status);
}

static cc_status faulty_trim(cc__backend *self, int32_t device, size_t keep_bytes)
{
    faulty_call now = faulty_begin(self, FAULTY_TRIM, device, NULL, (int64_t)keep_bytes);
    return faulty_end(&now, faulty_passes(&now) ? now.inner->trim(now.inner, device, keep_bytes) : now.entry.status);
}

static void faulty_range_push(cc__backend *self, const char *name)
{
    faulty *own = self->state;
    faulty_count_range(own, FAULTY_RANGE_PUSH);
    own->inner->range_push(own->inner, name);
}

/* Costs nothing and cannot fail on its own: neither counted nor made to. */
static cc_status faulty_check_usable(cc__backend *self)
{
    const faulty *own = self->state;
    return own->inner->check_usable(own->inner);
}

static void faulty_range_pop(cc__backend *self)
{
    faulty *own = self->state;
    faulty_count_range(own, FAULTY_RANGE_POP);
    own->inner->range_pop(own->inner);
}

static cc_status faulty_fill(cc__backend *self, int32_t device, cc_stream stream, const cc__fill *work)
{
    faulty_call now = faulty_begin(self, FAULTY_FILL, device, stream, box_bytes(work->size, work->pixel_bytes));
    return faulty_end(&now, faulty_passes(&now) ? now.inner->fill(now.inner, device, stream, work) : now.entry.status);
}

/* Copies and fills are what they are, in whatever way they are asked for. */
static faulty_operation operation_of(const cc__kernel *kernel)
{
    if (kernel == &cc__copy_kernel)
        return FAULTY_COPY;
    return kernel == &cc__fill_kernel ? FAULTY_FILL : FAULTY_RUN_KERNEL;
}

static cc_status faulty_run_kernel(cc__backend *self, int32_t device, cc_stream stream, const cc__kernel *kernel,
                                   const void *work, bool *out_has_written)
{
    const faulty_operation operation = operation_of(kernel);
    const cc__copy *copy = work;
    const int64_t bytes = operation == FAULTY_COPY ? box_bytes(copy->size, copy->pixel_bytes) : 0;
    faulty_call now = faulty_begin(self, operation, device, stream, bytes);
    *out_has_written = false;
    if (!faulty_passes(&now)) {
        pthread_mutex_lock(&now.self->lock);
        const bool is_late = now.self->fails_late;
        pthread_mutex_unlock(&now.self->lock);
        if (is_late)
            (void)now.inner->run_kernel(now.inner, device, stream, kernel, work, out_has_written);
        return faulty_end(&now, now.entry.status);
    }
    const cc_status status = now.inner->run_kernel(now.inner, device, stream, kernel, work, out_has_written);
    if (status == CC_OK && operation == FAULTY_COPY)
        faulty_count_copy(now.self, copy->destination.data, copy->source.data, bytes);
    return faulty_end(&now, status);
}

static cc_status faulty_call_function(cc__backend *self, int32_t device, cc_status (*function)(void *context),
                                      void *context)
{
    faulty_call now = faulty_begin(self, FAULTY_CALL, device, NULL, 0);
    return faulty_end(&now,
                      faulty_passes(&now) ? now.inner->call(now.inner, device, function, context) : now.entry.status);
}

static cc_status faulty_texture_create(cc__backend *self, int32_t device, const cc__texture_form *form,
                                       cc__texture **out_texture)
{
    faulty_call now = faulty_begin(self, FAULTY_TEXTURE_CREATE, device, NULL, (int64_t)cc__texture_form_bytes(form));
    return faulty_end(&now, faulty_passes(&now) ? now.inner->texture_create(now.inner, device, form, out_texture)
                                                : now.entry.status);
}

static cc_status faulty_texture_update(cc__backend *self, int32_t device, cc_stream stream, cc__texture *texture,
                                       const cc__span *source)
{
    faulty_call now = faulty_begin(self, FAULTY_TEXTURE_UPDATE, device, stream, 0);
    return faulty_end(&now, faulty_passes(&now) ? now.inner->texture_update(now.inner, device, stream, texture, source)
                                                : now.entry.status);
}

static cc_status faulty_texture_objects(cc__backend *self, int32_t device, cc__texture *texture,
                                        const cc__sampling *sampling, uint64_t out_objects[CC_TEXTURE_MAX_OBJECTS])
{
    faulty_call now = faulty_begin(self, FAULTY_TEXTURE_OBJECTS, device, texture, 0);
    return faulty_end(&now, faulty_passes(&now)
                                ? now.inner->texture_objects(now.inner, device, texture, sampling, out_objects)
                                : now.entry.status);
}

static void faulty_texture_destroy(cc__backend *self, int32_t device, cc__texture *texture)
{
    faulty_call now = faulty_begin(self, FAULTY_TEXTURE_DESTROY, device, texture, 0);
    now.inner->texture_destroy(now.inner, device, texture);
    faulty_end(&now, CC_OK);
}

cc__backend *faulty_backend_create(cc__backend *inner)
{
    faulty *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->inner = inner;
    self->table = (cc__backend){.name = inner->name,
                                .state = self,
                                .device_count = inner->device_count,
                                .current_device = faulty_current_device,
                                .allocate = faulty_allocate,
                                .free = faulty_free,
                                .host_register = faulty_host_register,
                                .host_unregister = faulty_host_unregister,
                                .host_is_locked = faulty_host_is_locked,
                                .memory_device = faulty_memory_device,
                                .is_lost = faulty_is_lost,
                                .has_peer_access = faulty_has_peer_access,
                                .stream_create = faulty_stream_create,
                                .stream_destroy = faulty_stream_destroy,
                                .stream_synchronize = faulty_stream_synchronize,
                                .stream_is_capturing = faulty_stream_is_capturing,
                                .stream_is_idle = faulty_stream_is_idle,
                                .synchronize = faulty_synchronize,
                                .event_create = faulty_event_create,
                                .event_destroy = faulty_event_destroy,
                                .event_record = faulty_event_record,
                                .event_is_complete = faulty_event_is_complete,
                                .event_synchronize = faulty_event_synchronize,
                                .stream_wait = faulty_stream_wait,
                                .copy = faulty_copy,
                                .fill = faulty_fill,
                                .run_kernel = faulty_run_kernel,
                                .call = faulty_call_function,
                                .copy_boxes = faulty_copy_boxes,
                                .texture_create = faulty_texture_create,
                                .texture_update = faulty_texture_update,
                                .texture_objects = faulty_texture_objects,
                                .texture_destroy = faulty_texture_destroy,
                                .stream_id = faulty_stream_id,
                                .memory_info = faulty_memory_info,
                                .trim = faulty_trim,
                                .range_push = faulty_range_push,
                                .range_pop = faulty_range_pop,
                                .check_usable = faulty_check_usable};
    pthread_mutex_init(&self->lock, NULL);
    return &self->table;
}

void faulty_backend_destroy(cc__backend *backend)
{
    if (!backend)
        return;
    faulty *self = backend->state;
    pthread_mutex_destroy(&self->lock);
    free(self);
}
