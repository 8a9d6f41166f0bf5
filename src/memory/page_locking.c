#include "memory/page_locking.h"

#include "base/error.h"
#include "memory/host_pool.h"
#include "memory/machine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic size_t limit;
static _Atomic size_t locked;

static void choose_limit(void)
{
    atomic_store(&limit, cc__machine_bytes_from_environment("CUDACOMMON_PINNED_LIMIT", cc__machine_memory_bytes() / 2));
}

size_t cc__page_locking_limit(void)
{
    pthread_once(&once, choose_limit);
    return atomic_load(&limit);
}

void cc__page_locking_set_limit(size_t limit_bytes)
{
    pthread_once(&once, choose_limit);
    atomic_store(&limit, limit_bytes);
}

size_t cc__page_locking_bytes(void)
{
    return atomic_load(&locked);
}

bool cc__page_locking_fits(size_t size_bytes)
{
    const size_t most = cc__page_locking_limit();
    const size_t now = cc__page_locking_bytes();
    const size_t kept = cc__host_pool_locked_bytes();
    return size_bytes <= most && (now > kept ? now - kept : 0) <= most - size_bytes;
}

static bool reserve(size_t size_bytes)
{
    const size_t most = cc__page_locking_limit();
    size_t now = atomic_load(&locked);
    do {
        if (size_bytes > most || now > most - size_bytes)
            return false;
    } while (!atomic_compare_exchange_weak(&locked, &now, now + size_bytes));
    return true;
}

/* Memory that is kept for reuse counts too, and is worth less than what is wanted now. */
static bool make_room(size_t size_bytes)
{
    const size_t most = cc__page_locking_limit();
    if (size_bytes > most)
        return false;
    while (cc__host_pool_drop_locked())
        if (reserve(size_bytes))
            return true;
    return false;
}

bool cc__page_lock(cc__backend *backend, void *memory, size_t size_bytes, bool *out_is_refused)
{
    cc__error_state before;
    if (!reserve(size_bytes) && !make_room(size_bytes)) {
        if (out_is_refused != NULL)
            *out_is_refused = false;
        return false;
    }
    cc__error_save(&before);
    const bool is_locked = backend->host_register(backend, memory, size_bytes) == CC_OK;
    if (!is_locked) {
        cc__error_restore(&before);
        atomic_fetch_sub(&locked, size_bytes);
    }
    if (out_is_refused != NULL)
        *out_is_refused = !is_locked;
    return is_locked;
}

void cc__page_unlock(cc__backend *backend, void *memory, size_t size_bytes)
{
    cc__error_state before;
    cc__error_save(&before);
    if (backend->host_unregister(backend, memory) != CC_OK)
        cc__error_restore(&before);
    atomic_fetch_sub(&locked, size_bytes);
}
