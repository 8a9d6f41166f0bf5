#include "memory/pages.h"

#include "memory/crew.h"
#include "memory/machine.h"

#include <stdatomic.h>
#include <stdint.h>

/* What one thread takes at a time: clearing this much takes it about 1 ms. */
#define SHARE_BYTES ((size_t)8 << 20)

typedef struct commit {
    unsigned char *memory;
    size_t size_bytes;
    size_t page_bytes;
    _Atomic size_t next;
} commit;

/*
 * Adding nothing to a byte changes none, also one that is being written, but it needs a page to be there. (That is no
 * race, though the thread sanitizer would call it one.) The system's own call for it, MADV_POPULATE_WRITE, takes twice
 * the time: its threads wait for each other.
 *
 * The compiler must not know that it is nothing: clang makes a read of it, which needs no page of one's own.
 */
__attribute__((no_sanitize("thread"))) static void touch(unsigned char *memory, size_t size_bytes, size_t page_bytes)
{
    unsigned char nothing = 0;
    __asm__ volatile("" : "+r"(nothing));
    for (size_t at = 0; at < size_bytes; at += page_bytes)
        __atomic_fetch_or(memory + at, nothing, __ATOMIC_RELAXED);
}

static void work(void *context)
{
    commit *self = context;
    for (;;) {
        const size_t at = atomic_fetch_add(&self->next, SHARE_BYTES);
        if (at >= self->size_bytes)
            return;
        const size_t left = self->size_bytes - at;
        touch(self->memory + at, left < SHARE_BYTES ? left : SHARE_BYTES, self->page_bytes);
    }
}

void cc__pages_commit(unsigned char *memory, size_t size_bytes)
{
    commit self = {.memory = memory, .size_bytes = size_bytes, .page_bytes = cc__machine_page_bytes()};
    cc__crew_run(cc__crew_size(size_bytes, 2 * SHARE_BYTES, CC__CREW_MOST), work, &self);
}

static void work_ahead(void *context)
{
    cc__pages_ahead *self = context;
    const size_t page_bytes = cc__machine_page_bytes();
    pthread_mutex_lock(&self->lock);
    const int32_t own = self->entered++;
    while (self->next < self->size_bytes) {
        const size_t at = self->next;
        const size_t left = self->size_bytes - at;
        self->next += SHARE_BYTES;
        self->at[own] = at;
        pthread_cond_signal(&self->changed);
        pthread_mutex_unlock(&self->lock);
        touch(self->memory + at, left < SHARE_BYTES ? left : SHARE_BYTES, page_bytes);
        pthread_mutex_lock(&self->lock);
    }
    self->at[own] = SIZE_MAX;
    pthread_cond_signal(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

void cc__pages_begin_ahead(cc__pages_ahead *ahead, unsigned char *memory, size_t size_bytes)
{
    ahead->memory = memory;
    ahead->size_bytes = size_bytes;
    ahead->committed_bytes = 0;
    ahead->started = 0;
    ahead->next = 0;
    ahead->entered = 0;
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    const int32_t wanted = cc__crew_size(size_bytes, 2 * SHARE_BYTES, CC__CREW_MOST);
    while (wanted > 1 && ahead->started < wanted && cc__crew_start(&ahead->members[ahead->started], work_ahead, ahead))
        ++ahead->started;
}

/* One that has not come in yet has nothing to do. With the lock held. */
static bool is_there(const cc__pages_ahead *ahead, size_t end)
{
    if (ahead->next < end)
        return false;
    for (int32_t i = 0; i < ahead->entered; ++i)
        if (ahead->at[i] < end)
            return false;
    return true;
}

void cc__pages_wait_ahead(cc__pages_ahead *ahead, size_t end)
{
    if (ahead->started == 0) {
        if (end > ahead->committed_bytes)
            cc__pages_commit(ahead->memory + ahead->committed_bytes, end - ahead->committed_bytes);
        ahead->committed_bytes = end > ahead->committed_bytes ? end : ahead->committed_bytes;
        return;
    }
    pthread_mutex_lock(&ahead->lock);
    while (!is_there(ahead, end))
        pthread_cond_wait(&ahead->changed, &ahead->lock);
    pthread_mutex_unlock(&ahead->lock);
}

void cc__pages_end_ahead(cc__pages_ahead *ahead)
{
    for (int32_t i = 0; i < ahead->started; ++i)
        cc__crew_join(&ahead->members[i]);
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->lock);
}
