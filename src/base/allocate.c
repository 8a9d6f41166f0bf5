#include "base/allocate.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* From here on huge pages are worth asking for: below, the part of one that is not used would weigh too much. */
#define HUGE_FROM_BYTES ((size_t)4 << 20)
#define HUGE_BYTES ((size_t)2 << 20)

/* Handles share no cache line with a neighbour that another thread may be using. */
#define CACHE_LINE_BYTES ((size_t)64)
#define OWN_LINES_FROM_BYTES ((size_t)128)

static _Atomic(cc__allocate_hook) hook;
static atomic_long live;

/* More than PTRDIFF_MAX bytes cannot be had: pointers into them would not subtract. */
static bool is_refused(size_t size_bytes)
{
    cc__allocate_hook ask = atomic_load(&hook);
    return size_bytes > PTRDIFF_MAX || (ask != NULL && ask(size_bytes));
}

static void *counted(void *memory)
{
    if (memory != NULL)
        atomic_fetch_add(&live, 1);
    return memory;
}

void *cc__allocate(size_t size_bytes)
{
    if (is_refused(size_bytes))
        return NULL;
    if (size_bytes < OWN_LINES_FROM_BYTES)
        return counted(calloc(1, size_bytes > 0 ? size_bytes : 1));
    void *memory = NULL;
    if (posix_memalign(&memory, CACHE_LINE_BYTES, (size_bytes + CACHE_LINE_BYTES - 1) & ~(CACHE_LINE_BYTES - 1)) != 0)
        return NULL;
    return counted(memset(memory, 0, size_bytes));
}

void *cc__reallocate(void *memory, size_t size_bytes)
{
    if (memory == NULL)
        return cc__allocate(size_bytes);
    if (is_refused(size_bytes))
        return NULL;
    return realloc(memory, size_bytes > 0 ? size_bytes : 1);
}

void cc__free(void *memory)
{
    if (memory == NULL)
        return;
    free(memory);
    atomic_fetch_sub(&live, 1);
}

static void *map(size_t size_bytes)
{
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

/* Begins where a huge page does: more address space than is wanted, less what lies before and after. */
static void *map_for_huge_pages(size_t size_bytes)
{
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    const size_t used_bytes = (size_bytes + page_bytes - 1) / page_bytes * page_bytes;
    unsigned char *memory = map(used_bytes + HUGE_BYTES);
    if (memory == NULL)
        return NULL;
    const size_t before = (size_t)(-(uintptr_t)memory % HUGE_BYTES);
    if (before > 0)
        (void)munmap(memory, before);
    (void)munmap(memory + before + used_bytes, HUGE_BYTES - before);
#ifdef MADV_HUGEPAGE
    /* A hint: refused where the kernel has no huge pages, and nothing is lost then. */
    (void)madvise(memory + before, size_bytes, MADV_HUGEPAGE);
#endif
    return memory + before;
}

void *cc__pages_allocate(size_t size_bytes)
{
    if (is_refused(size_bytes))
        return NULL;
    return counted(size_bytes >= HUGE_FROM_BYTES ? map_for_huge_pages(size_bytes)
                                                 : map(size_bytes > 0 ? size_bytes : 1));
}

void cc__pages_free(void *memory, size_t size_bytes)
{
    if (memory == NULL)
        return;
    (void)munmap(memory, size_bytes > 0 ? size_bytes : 1);
    atomic_fetch_sub(&live, 1);
}

bool cc__pages_offer(void *memory, size_t size_bytes)
{
#ifdef MADV_FREE
    return madvise(memory, size_bytes, MADV_FREE) == 0;
#else
    (void)memory, (void)size_bytes;
    return false;
#endif
}

void cc__allocate_set_hook(cc__allocate_hook new_hook)
{
    atomic_store(&hook, new_hook);
}

long cc__allocations_live(void)
{
    return atomic_load(&live);
}
