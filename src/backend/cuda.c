#include "backend/cuda_internal.h"

#include <pthread.h>

static cc_status check_usable(cc__backend *self)
{
    (void)self;
    return cc__cuda_usable();
}

static cc__backend backend = {
    .name = "cuda",
    .check_usable = check_usable,
    .current_device = cc__cuda_current_device,
    .allocate = cc__cuda_allocate,
    .free = cc__cuda_free,
    .host_register = cc__cuda_host_register,
    .host_unregister = cc__cuda_host_unregister,
    .host_is_locked = cc__cuda_host_is_locked,
    .memory_device = cc__cuda_memory_device,
    .is_lost = cc__cuda_is_lost,
    .has_peer_access = cc__cuda_has_peer_access,
    .stream_create = cc__cuda_stream_create,
    .stream_destroy = cc__cuda_stream_destroy,
    .stream_synchronize = cc__cuda_stream_synchronize,
    .stream_is_capturing = cc__cuda_stream_is_capturing,
    .stream_is_idle = cc__cuda_stream_is_idle,
    .synchronize = cc__cuda_synchronize,
    .event_create = cc__cuda_event_create,
    .event_destroy = cc__cuda_event_destroy,
    .event_record = cc__cuda_event_record,
    .event_is_complete = cc__cuda_event_is_complete,
    .event_synchronize = cc__cuda_event_synchronize,
    .stream_wait = cc__cuda_stream_wait,
    .copy = cc__cuda_copy,
    .fill = cc__cuda_fill,
    .run_kernel = cc__cuda_run_kernel,
    .call = cc__cuda_call,
    .copy_boxes = cc__cuda_copy_boxes,
    .texture_create = cc__cuda_texture_create,
    .texture_update = cc__cuda_texture_update,
    .texture_objects = cc__cuda_texture_objects,
    .texture_destroy = cc__cuda_texture_destroy,
    .stream_id = cc__cuda_stream_id,
    .memory_info = cc__cuda_memory_info,
    .trim = cc__cuda_trim,
    .range_push = cc__cuda_range_push,
    .range_pop = cc__cuda_range_pop,
};

static void start(void)
{
    cc__cuda_start(&backend);
}

cc__backend *cc__backend_cuda(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
    return &backend;
}
