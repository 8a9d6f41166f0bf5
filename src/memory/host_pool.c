#include "memory/host_pool.h"

#include "base/allocate.h"
#include "memory/machine.h"

#include <pthread.h>

#define HIGHEST_FIRST_LIMIT_BYTES ((size_t)8 << 30)
#define SHARE_OF_MACHINE 8

/* So that finding one takes no time worth speaking of. */
#define MOST_KEPT 256

/* From here on pages are huge, and letting the system have them takes no time. */
#define OFFERED_FROM_BYTES ((size_t)4 << 20)

static struct {
    pthread_once_t once;
    pthread_mutex_t lock; /* guards what follows; never held while memory is freed */
    cc__host_memory *oldest;
    cc__host_memory *aside;
    int32_t count;
    size_t kept_bytes;
    size_t limit_bytes;
} pool = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static void choose_limit(void)
{
    const size_t share = cc__machine_memory_bytes() / SHARE_OF_MACHINE;
    pool.limit_bytes = share < HIGHEST_FIRST_LIMIT_BYTES ? share : HIGHEST_FIRST_LIMIT_BYTES;
}

static void lock(void)
{
    pthread_once(&pool.once, choose_limit);
    pthread_mutex_lock(&pool.lock);
}

/* With the lock held. */
static cc__host_memory *take_out(cc__host_memory **link)
{
    cc__host_memory *memory = *link;
    *link = memory->next;
    memory->next = NULL;
    --pool.count;
    pool.kept_bytes -= memory->capacity_bytes;
    return memory;
}

/* A quarter more than is wanted may lie idle. */
static bool fits(const cc__host_memory *memory, size_t size_bytes)
{
    return memory->capacity_bytes >= size_bytes && memory->capacity_bytes - size_bytes <= size_bytes / 4;
}

static bool is_locked(const cc__host_memory *memory)
{
    return memory->locked_bytes > 0;
}

static bool is_better(const cc__host_memory *a, const cc__host_memory *b)
{
    return is_locked(a) != is_locked(b) ? is_locked(a) : a->capacity_bytes < b->capacity_bytes;
}

cc__host_memory *cc__host_pool_take(size_t size_bytes)
{
    cc__host_memory **best = NULL;
    cc__host_memory *memory = NULL;
    lock();
    for (cc__host_memory **link = &pool.oldest; *link != NULL; link = &(*link)->next)
        if (fits(*link, size_bytes) && (best == NULL || is_better(*link, *best)))
            best = link;
    if (best != NULL)
        memory = take_out(best);
    pthread_mutex_unlock(&pool.lock);
    if (memory != NULL) {
        memory->size_bytes = size_bytes;
        memory->is_zero = false;
        memory->staged_bytes = 0;
        memory->is_refused = false;
    }
    return memory;
}

/* The oldest that is page-locked, or is not; the end of the list when there is none. With the lock held. */
static cc__host_memory **find_oldest(bool locked)
{
    cc__host_memory **link = &pool.oldest;
    while (*link != NULL && is_locked(*link) != locked)
        link = &(*link)->next;
    return link;
}

/* Until no more than this is left. */
static void drop_down_to(size_t keep_bytes)
{
    for (;;) {
        cc__host_memory *memory = NULL;
        lock();
        if (pool.oldest != NULL && (pool.kept_bytes > keep_bytes || pool.count > MOST_KEPT)) {
            cc__host_memory **link = find_oldest(false);
            memory = take_out(*link != NULL ? link : &pool.oldest);
        }
        pthread_mutex_unlock(&pool.lock);
        if (memory == NULL)
            return;
        cc__host_memory_drop(memory);
    }
}

static bool is_worth_keeping(const cc__host_memory *memory)
{
    const size_t bytes = memory->capacity_bytes;
    if (memory->owner != CC__HOST_OWNER_LIBRARY)
        return false;
    if (is_locked(memory))
        return memory->locked_bytes >= (bytes + 1) / 2;
    return bytes >= OFFERED_FROM_BYTES && bytes <= cc__host_pool_limit() && cc__pages_offer(memory->bytes, bytes);
}

bool cc__host_pool_keep(cc__host_memory *memory)
{
    const size_t bytes = memory->capacity_bytes;
    if (!is_worth_keeping(memory))
        return false;
    lock();
    const bool is_kept = bytes <= pool.limit_bytes;
    const size_t limit = pool.limit_bytes;
    if (is_kept) {
        cc__host_memory **link = &pool.oldest;
        while (*link != NULL)
            link = &(*link)->next;
        *link = memory;
        ++pool.count;
        pool.kept_bytes += bytes;
    }
    pthread_mutex_unlock(&pool.lock);
    if (is_kept)
        drop_down_to(limit);
    return is_kept;
}

void cc__host_pool_put_aside(cc__host_memory *memory)
{
    lock();
    memory->next = pool.aside;
    pool.aside = memory;
    pthread_mutex_unlock(&pool.lock);
}

bool cc__host_pool_drop_locked(void)
{
    lock();
    cc__host_memory **link = find_oldest(true);
    cc__host_memory *memory = *link != NULL ? take_out(link) : NULL;
    pthread_mutex_unlock(&pool.lock);
    if (memory != NULL)
        cc__host_memory_drop(memory);
    return memory != NULL;
}

void cc__host_pool_trim(size_t keep_bytes)
{
    cc__host_memory *aside = NULL;
    drop_down_to(keep_bytes);
    if (keep_bytes > 0)
        return;
    lock();
    aside = pool.aside;
    pool.aside = NULL;
    pthread_mutex_unlock(&pool.lock);
    while (aside != NULL) {
        cc__host_memory *memory = aside;
        aside = memory->next;
        cc__host_memory_drop(memory);
    }
}

size_t cc__host_pool_bytes(void)
{
    lock();
    const size_t bytes = pool.kept_bytes;
    pthread_mutex_unlock(&pool.lock);
    return bytes;
}

size_t cc__host_pool_locked_bytes(void)
{
    size_t bytes = 0;
    lock();
    for (const cc__host_memory *memory = pool.oldest; memory != NULL; memory = memory->next)
        bytes += is_locked(memory) ? memory->capacity_bytes : 0;
    pthread_mutex_unlock(&pool.lock);
    return bytes;
}

size_t cc__host_pool_limit(void)
{
    lock();
    const size_t limit = pool.limit_bytes;
    pthread_mutex_unlock(&pool.lock);
    return limit;
}

void cc__host_pool_set_limit(size_t limit_bytes)
{
    lock();
    pool.limit_bytes = limit_bytes;
    pthread_mutex_unlock(&pool.lock);
    cc__host_pool_trim(limit_bytes);
}
