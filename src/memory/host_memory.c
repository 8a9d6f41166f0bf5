#include "memory/host_memory.h"

#include "base/allocate.h"
#include "base/error.h"
#include "memory/host_pool.h"
#include "memory/machine.h"
#include "memory/page_locking.h"

#include <string.h>

/* What huge pages are, where there are any; memory that has them gets RAM in these pieces. */
#define HUGE_BYTES ((size_t)2 << 20)
#define HUGE_FROM_BYTES ((size_t)4 << 20)

/* Alignment that is asked of a caller's allocator: a cache line, and whatever the CPU's widest registers want. */
#define ALIGNMENT 64

/* All wrapped memory that images may lock. */
static pthread_mutex_t wrapped_lock = PTHREAD_MUTEX_INITIALIZER;
static cc__host_memory *wrapped;

static cc__host_memory *create(unsigned char *bytes, size_t size_bytes, cc__host_owner owner)
{
    cc__host_memory *memory = cc__allocate(sizeof *memory);
    if (memory == NULL)
        return NULL;
    const size_t page_bytes = cc__machine_page_bytes();
    memory->bytes = bytes;
    memory->size_bytes = size_bytes;
    memory->capacity_bytes = size_bytes;
    memory->owner = owner;
    memory->grain_bytes = page_bytes;
    memory->ranges = memory->first_ranges;
    memory->range_capacity = CC__HOST_FIRST_RANGES;
    pthread_mutex_init(&memory->lock, NULL);
    pthread_cond_init(&memory->changed, NULL);
    if (owner == CC__HOST_OWNER_LIBRARY) {
        memory->is_zero = true;
        memory->lockable.end = (size_bytes + page_bytes - 1) / page_bytes * page_bytes;
        if (size_bytes >= HUGE_FROM_BYTES)
            memory->grain_bytes = HUGE_BYTES;
    } else {
        const size_t before = (size_t)(-(uintptr_t)bytes % page_bytes);
        const size_t after = ((uintptr_t)bytes + size_bytes) % page_bytes;
        if (before + after < size_bytes)
            memory->lockable = (cc__range){before, size_bytes - after};
    }
    return memory;
}

static cc_status fail(size_t size_bytes)
{
    return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "host memory: %zu bytes are not to be had", size_bytes);
}

static cc_status create_from_allocator(size_t size_bytes, cc__allocator *allocator, cc__host_memory **out_memory)
{
    void *bytes = NULL;
    cc_status status = cc__allocator_allocate(allocator, CC_PLACE_HOST, NULL, size_bytes, ALIGNMENT, &bytes);
    if (status != CC_OK)
        return status;
    cc__host_memory *memory = create(bytes, size_bytes, CC__HOST_OWNER_ALLOCATOR);
    if (memory == NULL) {
        cc__allocator_free(allocator, CC_PLACE_HOST, NULL, size_bytes, bytes);
        return fail(size_bytes);
    }
    memory->allocator = cc__allocator_retain(allocator);
    *out_memory = memory;
    return CC_OK;
}

cc_status cc__host_memory_create(size_t size_bytes, cc__allocator *allocator, cc__host_memory **out_memory)
{
    if (allocator != NULL)
        return create_from_allocator(size_bytes, allocator, out_memory);
    cc__host_memory *memory = cc__host_pool_take(size_bytes);
    if (memory == NULL) {
        unsigned char *bytes = cc__pages_allocate(size_bytes);
        if (bytes == NULL)
            return fail(size_bytes);
        memory = create(bytes, size_bytes, CC__HOST_OWNER_LIBRARY);
        if (memory == NULL) {
            cc__pages_free(bytes, size_bytes);
            return fail(size_bytes);
        }
    }
    *out_memory = memory;
    return CC_OK;
}

cc_status cc__host_memory_wrap(unsigned char *bytes, size_t size_bytes, cc__host_memory **out_memory)
{
    cc__host_memory *memory = create(bytes, size_bytes, CC__HOST_OWNER_CALLER);
    if (memory == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "host memory: no memory for what is known of wrapped memory");
    pthread_mutex_lock(&wrapped_lock);
    memory->next = wrapped;
    wrapped = memory;
    pthread_mutex_unlock(&wrapped_lock);
    *out_memory = memory;
    return CC_OK;
}

static void forget_wrapped(cc__host_memory *memory)
{
    pthread_mutex_lock(&wrapped_lock);
    cc__host_memory **link = &wrapped;
    while (*link != memory)
        link = &(*link)->next;
    *link = memory->next;
    pthread_mutex_unlock(&wrapped_lock);
}

bool cc__host_memory_may_lock(const unsigned char *bytes, size_t size_bytes)
{
    bool may = false;
    pthread_mutex_lock(&wrapped_lock);
    for (const cc__host_memory *memory = wrapped; memory != NULL && !may; memory = memory->next)
        may = bytes < memory->bytes + memory->size_bytes && memory->bytes < bytes + size_bytes;
    pthread_mutex_unlock(&wrapped_lock);
    return may;
}

void cc__host_memory_drop(cc__host_memory *memory)
{
    for (int32_t i = 0; i < memory->range_count; ++i) {
        const cc__range *range = &memory->ranges[i].bytes;
        cc__page_unlock(memory->backend, memory->bytes + range->first, range->end - range->first);
    }
    switch (memory->owner) {
    case CC__HOST_OWNER_LIBRARY:
        cc__pages_free(memory->bytes, memory->capacity_bytes);
        break;
    case CC__HOST_OWNER_ALLOCATOR:
        cc__allocator_free(memory->allocator, CC_PLACE_HOST, NULL, memory->capacity_bytes, memory->bytes);
        cc__allocator_release(memory->allocator);
        break;
    case CC__HOST_OWNER_CALLER:
        forget_wrapped(memory);
        break;
    }
    if (memory->ranges != memory->first_ranges)
        cc__free(memory->ranges);
    pthread_cond_destroy(&memory->changed);
    pthread_mutex_destroy(&memory->lock);
    cc__free(memory);
}

void cc__host_memory_destroy(cc__host_memory *memory, bool is_settled)
{
    if (!is_settled && memory->range_count > 0 && memory->owner != CC__HOST_OWNER_CALLER)
        cc__host_pool_put_aside(memory);
    else if (!is_settled || !cc__host_pool_keep(memory))
        cc__host_memory_drop(memory);
}
