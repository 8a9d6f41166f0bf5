#include "memory/aside.h"

#include "base/allocate.h"
#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>

static struct {
    pthread_mutex_t lock; /* guards the list; never held while waiting */
    _Atomic(cc__aside *) first;
} list = {.lock = PTHREAD_MUTEX_INITIALIZER};

cc__aside *cc__aside_create(void)
{
    return cc__allocate(sizeof(cc__aside));
}

void cc__aside_put(cc__aside *aside)
{
    pthread_mutex_lock(&list.lock);
    aside->next = atomic_load(&list.first);
    atomic_store(&list.first, aside);
    pthread_mutex_unlock(&list.lock);
}

static bool is_over(const cc__aside *aside)
{
    bool over = true;
    for (int32_t i = 0; i < CC__ASIDE_STREAMS; ++i)
        over = over && aside->backend->stream_synchronize(aside->backend, aside->device, aside->streams[i]) == CC_OK;
    return over;
}

void cc__aside_try_again(void)
{
    cc__error_state before;
    if (atomic_load(&list.first) == NULL)
        return;
    pthread_mutex_lock(&list.lock);
    cc__aside *aside = atomic_exchange(&list.first, NULL);
    pthread_mutex_unlock(&list.lock);
    cc__error_save(&before);
    while (aside != NULL) {
        cc__aside *next = aside->next;
        if (is_over(aside)) {
            cc__device_memory_free(aside->backend, aside->device, aside->streams[0], &aside->memory);
            if (aside->own != NULL)
                aside->backend->stream_destroy(aside->backend, aside->device, aside->own);
            cc__free(aside);
        } else {
            cc__aside_put(aside);
        }
        aside = next;
    }
    cc__error_restore(&before);
}
