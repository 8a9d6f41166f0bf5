#include "memory/transfer_streams.h"

#include "memory/aside.h"
#include "memory/chunks.h"
#include "memory/host_pool.h"

#include <pthread.h>
#include <stdatomic.h>

#define STREAMS_PER_DEVICE 4

static struct {
    pthread_mutex_t lock; /* for making streams; finding one takes no lock */
    cc__backend *backend;
    _Atomic(cc_stream) streams[CC__MAX_DEVICES][CC__TRAFFIC_COUNT][STREAMS_PER_DEVICE];
    _Atomic uint32_t turn[CC__MAX_DEVICES][CC__TRAFFIC_COUNT];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

cc_status cc__transfer_stream_get_for(cc__backend *backend, int32_t device, cc__traffic traffic, cc_stream *out_stream)
{
    const uint32_t slot = atomic_fetch_add(&pool.turn[device][traffic], 1) % STREAMS_PER_DEVICE;
    _Atomic(cc_stream) *place = &pool.streams[device][traffic][slot];
    cc_stream stream = atomic_load(place);
    if (stream == NULL) {
        cc_status status = CC_OK;
        pthread_mutex_lock(&pool.lock);
        stream = atomic_load(place);
        if (stream == NULL)
            status = backend->stream_create(backend, device, &stream);
        if (status == CC_OK) {
            pool.backend = backend;
            atomic_store(place, stream);
        }
        pthread_mutex_unlock(&pool.lock);
        if (status != CC_OK)
            return status;
    }
    *out_stream = stream;
    return CC_OK;
}

cc_status cc__transfer_stream_get(cc__backend *backend, int32_t device, cc_stream *out_stream)
{
    return cc__transfer_stream_get_for(backend, device, CC__TRAFFIC_OTHER, out_stream);
}

void cc__transfer_streams_synchronize(cc__backend *backend, int32_t device)
{
    for (int32_t traffic = 0; traffic < CC__TRAFFIC_COUNT; ++traffic) {
        for (int32_t slot = 0; slot < STREAMS_PER_DEVICE; ++slot) {
            const cc_stream stream = atomic_load(&pool.streams[device][traffic][slot]);
            if (stream != NULL)
                (void)backend->stream_synchronize(backend, device, stream);
        }
    }
}

static void destroy(int32_t device, _Atomic(cc_stream) *place)
{
    cc_stream stream = atomic_exchange(place, NULL);
    if (stream == NULL)
        return;
    (void)pool.backend->stream_synchronize(pool.backend, device, stream);
    pool.backend->stream_destroy(pool.backend, device, stream);
}

void cc__transfer_streams_reset(void)
{
    for (int32_t device = 0; pool.backend != NULL && device < pool.backend->device_count; ++device)
        cc__transfer_streams_synchronize(pool.backend, device);
    cc__aside_try_again();
    cc__chunks_reset();
    cc__host_pool_trim(0);
    pthread_mutex_lock(&pool.lock);
    for (int32_t device = 0; device < CC__MAX_DEVICES; ++device) {
        for (int32_t traffic = 0; traffic < CC__TRAFFIC_COUNT; ++traffic) {
            for (int32_t slot = 0; slot < STREAMS_PER_DEVICE; ++slot)
                destroy(device, &pool.streams[device][traffic][slot]);
            atomic_store(&pool.turn[device][traffic], 0);
        }
    }
    pool.backend = NULL;
    pthread_mutex_unlock(&pool.lock);
}
