#include "memory/pages.h"

#include "memory/crew.h"
#include "memory/machine.h"

#include <stdatomic.h>

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
