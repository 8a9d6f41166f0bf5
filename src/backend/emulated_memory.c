/* Memory of the emulated device, and host memory that is registered with it. */
#include "backend/emulated_state.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* CUDA promises this much to every allocation. */
#define ALIGNMENT 256

/* Freed memory that waits for its stream is worth keeping, to catch who still uses it, but only up to here. */
#define MAX_WAITING_BYTES ((size_t)64 << 20)

static cc__block *add_block(cc__emulated *emulated, unsigned char *data, size_t size_bytes, int32_t device)
{
    cc__block *block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    block->data = data;
    block->size_bytes = size_bytes;
    block->id = ++emulated->next_block;
    block->device = device;
    cc__block **link = &emulated->blocks;
    while (*link)
        link = &(*link)->next;
    *link = block;
    return block;
}

cc__block *cc__emulated_register_block(cc__emulated *emulated, unsigned char *data, size_t size_bytes)
{
    return add_block(emulated, data, size_bytes, CC_PLACE_HOST);
}

cc__block *cc__emulated_block_by_id(cc__emulated *emulated, uint64_t id)
{
    cc__block *block = emulated->blocks;
    while (block && block->id != id)
        block = block->next;
    return block;
}

cc__block *cc__emulated_block_at(cc__emulated *emulated, const unsigned char *first, size_t size_bytes)
{
    const uintptr_t begin = (uintptr_t)first;
    for (cc__block *block = emulated->blocks; block; block = block->next) {
        const uintptr_t block_begin = (uintptr_t)block->data;
        if (begin < block_begin + block->size_bytes && block_begin < begin + size_bytes)
            return block;
    }
    return NULL;
}

void cc__emulated_remove_block(cc__emulated *emulated, cc__block *block)
{
    cc__block **link = &emulated->blocks;
    while (*link != block)
        link = &(*link)->next;
    *link = block->next;
    if (block->device != CC_PLACE_HOST) {
        memset(block->data, CC__EMULATED_FREED, block->size_bytes);
        free(block->data);
        emulated->devices[block->device].present_bytes -= block->size_bytes;
    }
    cc__emulated_release_mark(block->freed_at);
    free(block);
}

/* More than the machine has is never there: filling it with poison would end the process. */
static size_t capacity(const cc__emulated *emulated)
{
    if (emulated->limit_bytes != 0)
        return emulated->limit_bytes;
    long pages = sysconf(_SC_PHYS_PAGES);
    long page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (size_t)pages * (size_t)page_bytes : SIZE_MAX;
}

/* What was freed and is still there has a free that waits: runs the oldest. */
static void run_oldest_free(cc__emulated *emulated, int32_t device)
{
    cc__block *block = emulated->blocks;
    while (block->device != device || !block->freed_at)
        block = block->next;
    cc__emulated_wait(emulated, block->freed_at);
}

cc_status cc__emulated_allocate_block(cc__emulated *emulated, int32_t device, size_t size_bytes, cc__block **out_block)
{
    cc__emulated_device *at = &emulated->devices[device];
    const size_t most_bytes = capacity(emulated);
    void *data = NULL;
    cc__block *block = NULL;
    if (size_bytes == 0)
        return CC__EMULATED_REFUSE(CC__NATIVE_INVALID_VALUE, "allocate: size_bytes = 0, must be > 0");
    for (;;) {
        if (size_bytes > most_bytes || at->held_bytes > most_bytes - size_bytes)
            goto no_memory;
        if (at->present_bytes <= most_bytes - size_bytes && at->present_bytes - at->held_bytes <= MAX_WAITING_BYTES)
            break;
        run_oldest_free(emulated, device);
    }

    if (posix_memalign(&data, ALIGNMENT, size_bytes) != 0)
        goto no_memory;
    block = add_block(emulated, data, size_bytes, device);
    if (!block) {
        free(data);
        goto no_memory;
    }
    memset(data, CC__EMULATED_FRESH, size_bytes);
    at->held_bytes += size_bytes;
    at->present_bytes += size_bytes;
    *out_block = block;
    return CC_OK;

no_memory:
    cc__fail_native(CC_ERROR_OUT_OF_DEVICE_MEMORY, CC__NATIVE_OUT_OF_MEMORY,
                    "allocate: size_bytes = %zu, but device %d holds %zu of at most %zu", size_bytes, (int)device,
                    at->held_bytes, most_bytes);
    return CC_ERROR_OUT_OF_DEVICE_MEMORY;
}

cc_status cc__emulated_allocate(cc__backend *self, int32_t device, cc_stream handle, size_t size_bytes,
                                void **out_memory)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    cc__stream *stream = NULL;
    cc__block *block = NULL;
    cc__task *task = NULL;
    cc_status status = cc__emulated_allocate_block(emulated, device, size_bytes, &block);
    if (status != CC_OK)
        return cc__emulated_unlock(emulated, status);
    task = cc__emulated_create_task(CC__TASK_POISON, false);
    if (!task) {
        status = cc__emulated_no_memory("allocate");
        goto failed;
    }
    /* The stream is looked up last, because making room may let go of the lock. */
    status = cc__emulated_find_open_stream(emulated, "allocate", device, handle, &stream);
    if (status != CC_OK)
        goto failed;

    /* Another stream must not use the memory before this one has got here: then it finds poison. */
    task->block_ids[0] = block->id;
    cc__emulated_queue(stream, task);
    *out_memory = block->data;
    return cc__emulated_unlock(emulated, CC_OK);

failed:
    cc__emulated_destroy_task(task);
    emulated->devices[device].held_bytes -= block->size_bytes;
    cc__emulated_remove_block(emulated, block);
    return cc__emulated_unlock(emulated, status);
}

static cc_status queue_free(cc__emulated *emulated, int32_t device, cc_stream handle, void *memory)
{
    cc__stream *stream = NULL;
    cc_status status = cc__emulated_find_stream(emulated, "free", device, handle, &stream);
    if (status != CC_OK)
        return status;
    if (stream->capturing)
        return cc__emulated_refuse_capture(CC_ERROR_DEVICE, "free", handle);
    cc__block *block = memory ? cc__emulated_block_at(emulated, memory, 1) : NULL;
    if (!block || block->data != memory || block->device != device || block->freed_at)
        return CC__EMULATED_REFUSE(CC__NATIVE_INVALID_VALUE,
                                   "free: memory = %p, must be allocated on device %d and not freed", memory,
                                   (int)device);
    cc__task *task = cc__emulated_create_task(CC__TASK_FREE, true);
    if (!task)
        return cc__emulated_no_memory("free");
    task->block_ids[0] = block->id;
    block->freed_at = cc__emulated_retain_mark(task->mark);
    emulated->devices[device].held_bytes -= block->size_bytes;
    cc__emulated_queue(stream, task);
    return CC_OK;
}

cc_status cc__emulated_free(cc__backend *self, int32_t device, cc_stream stream, void *memory)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    return cc__emulated_unlock(emulated, queue_free(emulated, device, stream, memory));
}

cc_status cc__emulated_host_register(cc__backend *self, void *memory, size_t size_bytes)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    cc_status status = CC_OK;
    if (!memory || size_bytes == 0 || size_bytes > UINTPTR_MAX - (uintptr_t)memory)
        status = CC__EMULATED_REFUSE(CC__NATIVE_INVALID_VALUE,
                                     "host_register: memory = %p of %zu bytes, must be memory", memory, size_bytes);
    else if (cc__emulated_block_at(emulated, memory, size_bytes))
        status = CC__EMULATED_REFUSE(CC__NATIVE_ALREADY_REGISTERED,
                                     "host_register: memory = %p of %zu bytes, must not overlap what is registered",
                                     memory, size_bytes);
    else if (!cc__emulated_register_block(emulated, memory, size_bytes))
        status = cc__emulated_no_memory("host_register");
    return cc__emulated_unlock(emulated, status);
}

cc_status cc__emulated_host_unregister(cc__backend *self, void *memory)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    cc__block *block = memory ? cc__emulated_block_at(emulated, memory, 1) : NULL;
    if (!block || block->data != memory || block->device != CC_PLACE_HOST)
        return cc__emulated_unlock(
            emulated,
            CC__EMULATED_REFUSE(CC__NATIVE_NOT_REGISTERED, "host_unregister: memory = %p, must be registered", memory));
    cc__emulated_remove_block(emulated, block);
    return cc__emulated_unlock(emulated, CC_OK);
}

bool cc__emulated_host_is_locked(cc__backend *self, const void *memory, size_t size_bytes)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    const cc__block *block = cc__emulated_block_at(emulated, memory, 1);
    const bool is_locked =
        block && block->device == CC_PLACE_HOST &&
        (size_t)((const unsigned char *)memory - (const unsigned char *)block->data) + size_bytes <= block->size_bytes;
    (void)cc__emulated_unlock(emulated, CC_OK);
    return is_locked;
}

cc_status cc__emulated_memory_device(cc__backend *self, const void *memory, int32_t *out_device)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    cc__block *block = memory ? cc__emulated_block_at(emulated, memory, 1) : NULL;
    if (!block || block->device == CC_PLACE_HOST || block->freed_at)
        return cc__emulated_unlock(
            emulated, cc__fail(CC_ERROR_POINTER,
                               "memory = %p is not memory of an emulated device, expected device memory", memory));
    *out_device = block->device;
    return cc__emulated_unlock(emulated, CC_OK);
}

/* As of a real device, what was freed is there until its free has run. */
cc_status cc__emulated_memory_info(cc__backend *self, int32_t device, size_t *out_free_bytes, size_t *out_total_bytes)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    const size_t total = capacity(emulated);
    const size_t used = emulated->devices[device].present_bytes;
    *out_free_bytes = used < total ? total - used : 0;
    *out_total_bytes = total;
    return cc__emulated_unlock(emulated, CC_OK);
}

/* Nothing is ever kept for reuse. */
cc_status cc__emulated_trim(cc__backend *self, int32_t device, size_t keep_bytes)
{
    (void)keep_bytes;
    cc__emulated *emulated = cc__emulated_lock(self);
    return cc__emulated_unlock(emulated, cc__emulated_check_not_lost(emulated, "trim", device));
}
