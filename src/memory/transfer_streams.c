#include "memory/transfer_streams.h"

#include <pthread.h>
#include <stdatomic.h>

#define STREAMS_PER_DEVICE 4

static struct {
    pthread_mutex_t lock; /* for making streams; finding one takes no lock */
    cc__backend *backend;
    _Atomic(cc_stream) streams[CC__MAX_DEVICES][STREAMS_PER_DEVICE];
    _Atomic uint32_t turn[CC__MAX_DEVICES];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

cc_status cc__transfer_stream_get(cc__backend *backend, int32_t device, cc_stream *out_stream)
{
    const uint32_t slot = atomic_fetch_add(&pool.turn[device], 1) % STREAMS_PER_DEVICE;
    cc_stream stream = atomic_load(&pool.streams[device][slot]);
    if (stream == NULL) {
        cc_status status = CC_OK;
        pthread_mutex_lock(&pool.lock);
        stream = atomic_load(&pool.streams[device][slot]);
        if (stream == NULL)
            status = backend->stream_create(backend, device, &stream);
        if (status == CC_OK) {
            pool.backend = backend;
            atomic_store(&pool.streams[device][slot], stream);
        }
        pthread_mutex_unlock(&pool.lock);
        if (status != CC_OK)
            return status;
    }
    *out_stream = stream;
    return CC_OK;
}

void cc__transfer_streams_synchronize(cc__backend *backend, int32_t device)
{
    for (int32_t slot = 0; slot < STREAMS_PER_DEVICE; ++slot) {
        const cc_stream stream = atomic_load(&pool.streams[device][slot]);
        if (stream != NULL)
            (void)backend->stream_synchronize(backend, device, stream);
    }
}

void cc__transfer_streams_reset(void)
{
    pthread_mutex_lock(&pool.lock);
    for (int32_t device = 0; device < CC__MAX_DEVICES; ++device) {
        for (int32_t slot = 0; slot < STREAMS_PER_DEVICE; ++slot) {
            cc_stream stream = atomic_exchange(&pool.streams[device][slot], NULL);
            if (stream == NULL)
                continue;
            (void)pool.backend->stream_synchronize(pool.backend, device, stream);
            pool.backend->stream_destroy(pool.backend, device, stream);
        }
        atomic_store(&pool.turn[device], 0);
    }
    pool.backend = NULL;
    pthread_mutex_unlock(&pool.lock);
}
