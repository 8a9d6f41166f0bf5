/* Operations on pixels in a stream of the emulated device. */
#include "backend/emulated_state.h"

#include <cudacommon/pixel.h>
#include <stdlib.h>
#include <string.h>

/* From the first byte of the first component to the last that a result is made of. */
static int64_t source_bytes(const cc__evaluate *work, const cc__source *source)
{
    const int64_t component = (int64_t)cc_pixel_type_size_bytes(source->type);
    const int64_t across = (work->components - 1) * source->component_stride;
    const int64_t within = (source->components - 1) * component;
    return (across > within ? across : within) + component;
}

static cc_status find_evaluated_blocks(cc__emulated *emulated, int32_t device, const cc__evaluate *work,
                                       uint64_t out_ids[CC__TASK_BLOCKS])
{
    cc__block *block = NULL;
    const int64_t to_bytes = work->components * (int64_t)cc_pixel_type_size_bytes(work->destination_type);
    cc_status status = cc__emulated_find_block(emulated, "evaluate", "destination", device, &work->destination,
                                               work->size, to_bytes, &block);
    if (status == CC_OK)
        out_ids[0] = block->id;
    for (int32_t i = 0; i < work->source_count && status == CC_OK; i++) {
        const cc__source *source = &work->sources[i];
        cc__span span;
        memcpy(&span.data, &source->data, sizeof span.data);
        memcpy(span.stride, source->stride, sizeof span.stride);
        status = cc__emulated_find_block(emulated, "evaluate", "a source", device, &span, work->size,
                                         source_bytes(work, source), &block);
        if (status == CC_OK)
            out_ids[1 + i] = block->id;
    }
    return status;
}

static cc_status queue_evaluate(cc__emulated *emulated, int32_t device, cc_stream handle, const cc__evaluate *work)
{
    cc__stream *stream = NULL;
    uint64_t ids[CC__TASK_BLOCKS] = {0};
    cc_status status = cc__emulated_find_open_stream(emulated, "evaluate", device, handle, &stream);
    if (status == CC_OK)
        status = find_evaluated_blocks(emulated, device, work, ids);
    if (status != CC_OK)
        return status;
    cc__task *task = cc__emulated_create_task(CC__TASK_EVALUATE, false);
    if (task)
        task->work.evaluate = malloc(sizeof *work);
    if (!task || !task->work.evaluate) {
        cc__emulated_destroy_task(task);
        return cc__emulated_no_memory("evaluate");
    }
    *task->work.evaluate = *work;
    memcpy(task->block_ids, ids, sizeof ids);
    cc__emulated_queue(stream, task);
    return CC_OK;
}

cc_status cc__emulated_evaluate(cc__backend *self, int32_t device, cc_stream stream, const cc__evaluate *work)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    return cc__emulated_unlock(emulated, queue_evaluate(emulated, device, stream, work));
}

static cc_status find_source(cc__emulated *emulated, const char *operation, int32_t device, const cc__reduced *source,
                             int32_t components, const int64_t size[CC_MAX_DIMENSION], uint64_t *out_id)
{
    cc__block *block = NULL;
    cc__span span;
    memcpy(&span.data, &source->data, sizeof span.data);
    memcpy(span.stride, source->stride, sizeof span.stride);
    const int64_t bytes = (components - 1) * source->component_stride + (int64_t)cc_pixel_type_size_bytes(source->type);
    const cc_status status =
        cc__emulated_find_block(emulated, operation, "a source", device, &span, size, bytes, &block);
    if (status == CC_OK)
        *out_id = block->id;
    return status;
}

/* A run of bytes that the work writes. */
static cc_status find_run(cc__emulated *emulated, const char *operation, const char *side, int32_t device, void *memory,
                          int64_t bytes, uint64_t *out_id)
{
    cc__block *block = NULL;
    const int64_t size[CC_MAX_DIMENSION] = {1, 1, 1, 1};
    const cc__span span = {.data = memory};
    const cc_status status = cc__emulated_find_block(emulated, operation, side, device, &span, size, bytes, &block);
    if (status == CC_OK)
        *out_id = block->id;
    return status;
}

static cc_status queue_reduce(cc__emulated *emulated, int32_t device, cc_stream handle, const cc__reduce *work)
{
    static const char *const operation = "reduce";
    cc__stream *stream = NULL;
    uint64_t ids[CC__TASK_BLOCKS] = {0};
    int64_t count = work->components;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        count *= work->size[axis];
    cc_status status = cc__emulated_find_open_stream(emulated, operation, device, handle, &stream);
    for (int32_t n = 0; n < work->source_count && status == CC_OK; n++)
        status = find_source(emulated, operation, device, &work->sources[n], work->components, work->size, &ids[n]);
    if (status == CC_OK)
        status = find_run(emulated, operation, "result", device, work->result, sizeof *work->result, &ids[2]);
    if (status == CC_OK)
        status = find_run(emulated, operation, "scratch", device, work->scratch,
                          cc__reduce_scratch(count) * (int64_t)sizeof *work->scratch, &ids[3]);
    if (status != CC_OK)
        return status;
    cc__task *task = cc__emulated_create_task(CC__TASK_REDUCE, false);
    if (!task)
        return cc__emulated_no_memory(operation);
    task->work.reduce = *work;
    memcpy(task->block_ids, ids, sizeof ids);
    cc__emulated_queue(stream, task);
    return CC_OK;
}

cc_status cc__emulated_reduce(cc__backend *self, int32_t device, cc_stream stream, const cc__reduce *work)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    return cc__emulated_unlock(emulated, queue_reduce(emulated, device, stream, work));
}

static cc_status queue_histogram(cc__emulated *emulated, int32_t device, cc_stream handle, const cc__histogram *work)
{
    static const char *const operation = "histogram";
    cc__stream *stream = NULL;
    uint64_t ids[CC__TASK_BLOCKS] = {0};
    cc_status status = cc__emulated_find_open_stream(emulated, operation, device, handle, &stream);
    if (status == CC_OK)
        status = find_source(emulated, operation, device, &work->source, work->components, work->size, &ids[0]);
    if (status == CC_OK)
        status = find_run(emulated, operation, "counts", device, work->counts,
                          work->bins * (int64_t)sizeof *work->counts, &ids[1]);
    if (status != CC_OK)
        return status;
    cc__task *task = cc__emulated_create_task(CC__TASK_HISTOGRAM, false);
    if (!task)
        return cc__emulated_no_memory(operation);
    task->work.histogram = *work;
    memcpy(task->block_ids, ids, sizeof ids);
    cc__emulated_queue(stream, task);
    return CC_OK;
}

cc_status cc__emulated_histogram(cc__backend *self, int32_t device, cc_stream stream, const cc__histogram *work)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    return cc__emulated_unlock(emulated, queue_histogram(emulated, device, stream, work));
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
                                  const void *work)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    return cc__emulated_unlock(emulated, queue_kernel(emulated, device, stream, kernel, work));
}
