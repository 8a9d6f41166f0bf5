/* What can be queued in a stream of the emulated device: copies, fills, kernels and host functions. */
#include "backend/emulated_state.h"
#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/* The bytes from the first of the box to the last. False when there are none, or they are not in the address space. */
static bool span_bytes(const cc__span *span, const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes,
                       size_t *out_bytes)
{
    int64_t bytes = pixel_bytes;
    if (!span->data || pixel_bytes <= 0)
        return false;
    for (int axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        int64_t reach = 0;
        if (size[axis] <= 0 || (size[axis] > 1 && span->stride[axis] < 0))
            return false;
        if (!cc__checked_multiply(size[axis] - 1, span->stride[axis], &reach))
            return false;
        if (!cc__checked_add(bytes, reach, &bytes))
            return false;
    }
    if ((uint64_t)bytes > UINTPTR_MAX - (uintptr_t)span->data)
        return false;
    *out_bytes = (size_t)bytes;
    return true;
}

/* The block that holds the whole box; NULL: host memory that is not registered. */
static cc_status find_block(cc__emulated *emulated, const char *operation, const char *side, const cc__span *span,
                            const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes, cc__block **out_block)
{
    size_t bytes = 0;
    if (!span_bytes(span, size, pixel_bytes, &bytes))
        return CC__EMULATED_REFUSE(CC__NATIVE_INVALID_VALUE,
                                   "%s: %s = %p, must be a box of memory with sizes > 0 and strides >= 0", operation,
                                   side, (void *)span->data);
    cc__block *block = cc__emulated_block_at(emulated, span->data, bytes);
    if (block) {
        const uintptr_t first = (uintptr_t)span->data - (uintptr_t)block->data;
        if (span->data < block->data || bytes > block->size_bytes - first)
            return CC__EMULATED_REFUSE(
                CC__NATIVE_INVALID_VALUE, "%s: %s = %p of %zu bytes, must not cross the border of %s", operation, side,
                (void *)span->data, bytes, block->device == CC_PLACE_HOST ? "registered memory" : "an allocation");
        if (block->freed_at)
            return CC__EMULATED_REFUSE(CC__NATIVE_INVALID_VALUE, "%s: %s = %p, must not be freed already", operation,
                                       side, (void *)span->data);
    }
    *out_block = block;
    return CC_OK;
}

cc_status cc__emulated_find_block(cc__emulated *emulated, const char *operation, const char *side, int32_t device,
                                  const cc__span *span, const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes,
                                  cc__block **out_block)
{
    cc_status status = find_block(emulated, operation, side, span, size, pixel_bytes, out_block);
    if (status == CC_OK && (!*out_block || (*out_block)->device != device))
        status = CC__EMULATED_REFUSE(CC__NATIVE_INVALID_VALUE, "%s: %s = %p, must be memory of device %d", operation,
                                     side, (void *)span->data, (int)device);
    return status;
}

/* Of two devices, the other one may be lost. */
static cc_status check_side_not_lost(cc__emulated *emulated, const cc__block *block)
{
    if (!block || block->device == CC_PLACE_HOST)
        return CC_OK;
    return cc__emulated_check_not_lost(emulated, "copy", block->device);
}

static cc_status queue_copy(cc__emulated *emulated, int32_t device, cc_stream handle, const cc__copy *work)
{
    cc__stream *stream = NULL;
    cc__block *to = NULL;
    cc__block *from = NULL;
    cc_status status = cc__emulated_find_open_stream(emulated, "copy", device, handle, &stream);
    if (status == CC_OK)
        status = find_block(emulated, "copy", "destination", &work->destination, work->size, work->pixel_bytes, &to);
    if (status == CC_OK)
        status = find_block(emulated, "copy", "source", &work->source, work->size, work->pixel_bytes, &from);
    if (status != CC_OK)
        return status;
    if ((!to || to->device == CC_PLACE_HOST) && (!from || from->device == CC_PLACE_HOST))
        return CC__EMULATED_REFUSE(CC__NATIVE_INVALID_VALUE,
                                   "copy: destination = %p and source = %p, one must be device memory",
                                   (void *)work->destination.data, (void *)work->source.data);
    status = check_side_not_lost(emulated, to);
    if (status == CC_OK)
        status = check_side_not_lost(emulated, from);
    if (status != CC_OK)
        return status;

    const bool is_late = to && from;
    cc__task *task = cc__emulated_create_task(CC__TASK_COPY, !is_late);
    if (!task)
        return cc__emulated_no_memory("copy");
    task->work.copy = *work;
    task->block_ids[0] = to ? to->id : 0;
    task->block_ids[1] = from ? from->id : 0;
    cc__mark *mark = cc__emulated_retain_mark(task->mark);
    cc__emulated_queue(stream, task);
    if (is_late)
        return CC_OK;
    cc__emulated_wait(emulated, mark);
    cc__emulated_release_mark(mark);
    return cc__emulated_check_not_lost(emulated, "copy", device);
}

cc_status cc__emulated_copy(cc__backend *self, int32_t device, cc_stream stream, const cc__copy *work)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    return cc__emulated_unlock(emulated, queue_copy(emulated, device, stream, work));
}

/* What a kernel of the device reaches: its own memory, and host memory that is registered. */
static cc_status find_reachable_block(cc__emulated *emulated, const char *side, int32_t device, const cc__span *span,
                                      const cc__copy *work, cc__block **out_block)
{
    cc_status status = find_block(emulated, "copy_boxes", side, span, work->size, work->pixel_bytes, out_block);
    if (status == CC_OK && (!*out_block || ((*out_block)->device != device && (*out_block)->device != CC_PLACE_HOST)))
        status = CC__EMULATED_REFUSE(CC__NATIVE_INVALID_VALUE,
                                     "copy_boxes: %s = %p, must be memory of device %d or registered host memory", side,
                                     (void *)span->data, (int)device);
    return status;
}

static cc_status create_box_task(cc__emulated *emulated, int32_t device, const cc__copy *work, cc__task **out_task)
{
    cc__block *to = NULL;
    cc__block *from = NULL;
    cc_status status = find_reachable_block(emulated, "destination", device, &work->destination, work, &to);
    if (status == CC_OK)
        status = find_reachable_block(emulated, "source", device, &work->source, work, &from);
    if (status != CC_OK)
        return status;
    cc__task *task = cc__emulated_create_task(CC__TASK_COPY, false);
    if (!task)
        return cc__emulated_no_memory("copy_boxes");
    task->work.copy = *work;
    task->block_ids[0] = to->id;
    task->block_ids[1] = from->id;
    *out_task = task;
    return CC_OK;
}

/* All boxes or none: the first that is refused leaves the stream as it was. */
static cc_status queue_boxes(cc__emulated *emulated, int32_t device, cc_stream handle, const cc__copy *works,
                             int32_t count)
{
    cc__stream *stream = NULL;
    cc__task *first = NULL;
    cc__task **last = &first;
    cc_status status = cc__emulated_find_open_stream(emulated, "copy_boxes", device, handle, &stream);
    for (int32_t i = 0; i < count && status == CC_OK; i++) {
        cc__task *task = NULL;
        status = create_box_task(emulated, device, &works[i], &task);
        if (task) {
            *last = task;
            last = &task->next;
        }
    }
    while (first) {
        cc__task *task = first;
        first = task->next;
        task->next = NULL;
        if (status == CC_OK)
            cc__emulated_queue(stream, task);
        else
            cc__emulated_destroy_task(task);
    }
    return status;
}

cc_status cc__emulated_copy_boxes(cc__backend *self, int32_t device, cc_stream stream, const cc__copy *works,
                                  int32_t count)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    return cc__emulated_unlock(emulated, queue_boxes(emulated, device, stream, works, count));
}

static cc_status queue_fill(cc__emulated *emulated, int32_t device, cc_stream handle, const cc__fill *work)
{
    cc__stream *stream = NULL;
    cc__block *to = NULL;
    cc_status status = cc__emulated_find_open_stream(emulated, "fill", device, handle, &stream);
    if (status == CC_OK)
        status = cc__emulated_find_block(emulated, "fill", "destination", device, &work->destination, work->size,
                                         work->pixel_bytes, &to);
    if (status != CC_OK)
        return status;
    cc__task *task = cc__emulated_create_task(CC__TASK_FILL, false);
    if (!task)
        return cc__emulated_no_memory("fill");
    task->work.fill = *work;
    task->block_ids[0] = to->id;
    cc__emulated_queue(stream, task);
    return CC_OK;
}

cc_status cc__emulated_fill(cc__backend *self, int32_t device, cc_stream stream, const cc__fill *work)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    return cc__emulated_unlock(emulated, queue_fill(emulated, device, stream, work));
}

static cc_status queue_kernel(cc__emulated *emulated, int32_t device, cc_stream handle, const cc__kernel *kernel,
                              const void *work)
{
    cc__stream *stream = NULL;
    cc__block *block = NULL;
    const int64_t size[CC_MAX_DIMENSION] = {1, 1, 1, 1};
    cc__kernel_range ranges[CC__KERNEL_RANGES];
    uint64_t ids[CC__TASK_BLOCKS] = {0};
    const int32_t count = kernel->touches(work, ranges);
    cc_status status = cc__emulated_find_open_stream(emulated, kernel->name, device, handle, &stream);
    for (int32_t i = 0; i < count && status == CC_OK; i++) {
        cc__span span = {.stride = {0}};
        memcpy(&span.data, &ranges[i].first, sizeof span.data);
        status = cc__emulated_find_block(emulated, kernel->name, "pixels", device, &span, size, ranges[i].size_bytes,
                                         &block);
        if (status == CC_OK)
            ids[i] = block->id;
    }
    if (status != CC_OK)
        return status;
    cc__task *task = cc__emulated_create_task(CC__TASK_KERNEL, false);
    if (task)
        task->work.run.work = malloc(kernel->work_bytes);
    if (!task || !task->work.run.work) {
        cc__emulated_destroy_task(task);
        return cc__emulated_no_memory(kernel->name);
    }
    task->work.run.kernel = kernel;
    memcpy(task->work.run.work, work, kernel->work_bytes);
    memcpy(task->block_ids, ids, sizeof ids);
    cc__emulated_queue(stream, task);
    return CC_OK;
}

cc_status cc__emulated_run_kernel(cc__backend *self, int32_t device, cc_stream stream, const cc__kernel *kernel,
                                  const void *work, bool *out_has_written)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    const cc_status status = queue_kernel(emulated, device, stream, kernel, work);
    *out_has_written = status == CC_OK;
    return cc__emulated_unlock(emulated, status);
}

static cc_status queue_function(cc__emulated *emulated, int32_t device, cc_stream handle,
                                cc__emulated_function function, void *argument)
{
    cc__stream *stream = NULL;
    cc_status status = cc__emulated_find_open_stream(emulated, "launch", device, handle, &stream);
    if (status != CC_OK)
        return status;
    cc__task *task = cc__emulated_create_task(CC__TASK_FUNCTION, false);
    if (!task)
        return cc__emulated_no_memory("launch");
    task->work.function.call = function;
    task->work.function.argument = argument;
    cc__emulated_queue(stream, task);
    return CC_OK;
}

cc_status cc__emulated_launch(cc__backend *backend, int32_t device, cc_stream stream, cc__emulated_function function,
                              void *argument)
{
    cc__emulated *emulated = cc__emulated_lock(backend);
    return cc__emulated_unlock(emulated, queue_function(emulated, device, stream, function, argument));
}
