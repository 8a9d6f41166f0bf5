#include "memory/allocators.h"

#include "base/allocate.h"
#include "base/error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct cc__allocator {
    atomic_int references;
    cc_allocator calls;
};

static struct {
    pthread_mutex_t lock;
    cc__allocator *host;
    cc__allocator *device;
} of_process = {.lock = PTHREAD_MUTEX_INITIALIZER};

cc_status cc__allocator_create(const char *function, const cc_allocator *allocator, cc__allocator **out_allocator)
{
    cc_allocator known = CC_ALLOCATOR_INIT;
    if (allocator == NULL) {
        *out_allocator = NULL;
        return CC_OK;
    }
    if (allocator->struct_size < sizeof allocator->struct_size)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: allocator.struct_size = %u, expected CC_ALLOCATOR_INIT",
                        function, (unsigned)allocator->struct_size);
    memcpy(&known, allocator, allocator->struct_size < sizeof known ? allocator->struct_size : sizeof known);
    if (known.allocate == NULL || known.free == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: allocator.%s = NULL, expected a function", function,
                        known.allocate == NULL ? "allocate" : "free");
    cc__allocator *created = cc__allocate(sizeof *created);
    if (created == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for an allocator", function);
    atomic_init(&created->references, 1);
    created->calls = known;
    *out_allocator = created;
    return CC_OK;
}

cc__allocator *cc__allocator_retain(cc__allocator *allocator)
{
    if (allocator != NULL)
        atomic_fetch_add(&allocator->references, 1);
    return allocator;
}

void cc__allocator_release(cc__allocator *allocator)
{
    if (allocator == NULL || atomic_fetch_sub(&allocator->references, 1) != 1)
        return;
    if (allocator->calls.release != NULL)
        allocator->calls.release(allocator->calls.user_data);
    cc__free(allocator);
}

void cc__allocator_discard(cc__allocator *allocator)
{
    cc__free(allocator);
}

static cc_status fail(cc_place place, size_t size_bytes, size_t alignment_bytes, const void *memory)
{
    const cc_status status = place == CC_PLACE_HOST ? CC_ERROR_OUT_OF_HOST_MEMORY : CC_ERROR_OUT_OF_DEVICE_MEMORY;
    if (memory == NULL)
        return cc__fail(status, "allocator: no memory of %zu bytes at place %d", size_bytes, (int)place);
    return cc__fail(status, "allocator: memory = %p of %zu bytes at place %d, expected a multiple of %zu", memory,
                    size_bytes, (int)place, alignment_bytes);
}

cc_status cc__allocator_allocate(cc__allocator *allocator, cc_place place, cc_stream stream, size_t size_bytes,
                                 size_t alignment_bytes, void **out_memory)
{
    const cc_allocator *calls = &allocator->calls;
    void *memory = calls->allocate(size_bytes, alignment_bytes, place, stream, calls->user_data);
    if (memory == NULL || (uintptr_t)memory % alignment_bytes != 0) {
        if (memory != NULL)
            calls->free(memory, size_bytes, place, stream, calls->user_data);
        return fail(place, size_bytes, alignment_bytes, memory);
    }
    *out_memory = memory;
    return CC_OK;
}

void cc__allocator_free(cc__allocator *allocator, cc_place place, cc_stream stream, size_t size_bytes, void *memory)
{
    const cc_allocator *calls = &allocator->calls;
    calls->free(memory, size_bytes, place, stream, calls->user_data);
}

cc__allocator *cc__allocator_of_process(bool on_host)
{
    pthread_mutex_lock(&of_process.lock);
    cc__allocator *allocator = cc__allocator_retain(on_host ? of_process.host : of_process.device);
    pthread_mutex_unlock(&of_process.lock);
    return allocator;
}

static cc_status set_of_process(const char *function, const cc_allocator *allocator, cc__allocator **place)
{
    cc__allocator *created = NULL;
    const cc_status status = cc__allocator_create(function, allocator, &created);
    if (status != CC_OK)
        return status;
    pthread_mutex_lock(&of_process.lock);
    cc__allocator *previous = *place;
    *place = created;
    pthread_mutex_unlock(&of_process.lock);
    cc__allocator_release(previous);
    return CC_OK;
}

cc_status cc_host_set_allocator(const cc_allocator *allocator)
{
    return set_of_process("cc_host_set_allocator", allocator, &of_process.host);
}

cc_status cc_device_set_allocator(const cc_allocator *allocator)
{
    return set_of_process("cc_device_set_allocator", allocator, &of_process.device);
}
