/*
 * Streams of the emulated device. A task runs only when something waits for it, so that work whose order was left to
 * luck is in the wrong order every time. What a wait needs is found by following waits from stream to stream; that
 * ends, since a wait is always for a mark that was queued before it.
 */
#include "backend/default_stream.h"
#include "backend/emulated_state.h"
#include "base/error.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* As in a real stream, only so much work is held back; a program that never waits does not grow without end. */
#define MAX_QUEUED 1024

cc__mark *cc__emulated_retain_mark(cc__mark *mark)
{
    if (mark)
        mark->references++;
    return mark;
}

void cc__emulated_release_mark(cc__mark *mark)
{
    if (mark && --mark->references == 0)
        free(mark);
}

cc__task *cc__emulated_create_task(cc__task_kind kind, bool marked)
{
    cc__task *task = calloc(1, sizeof *task);
    cc__mark *mark = marked ? calloc(1, sizeof *mark) : NULL;
    if (!task || (marked && !mark)) {
        free(mark);
        free(task);
        return NULL;
    }
    task->kind = kind;
    task->mark = cc__emulated_retain_mark(mark);
    return task;
}

void cc__emulated_destroy_task(cc__task *task)
{
    if (!task)
        return;
    cc__emulated_release_mark(task->mark);
    cc__emulated_release_mark(task->awaited);
    if (task->kind == CC__TASK_KERNEL)
        free(task->work.run.work);
    free(task);
}

void cc__emulated_queue(cc__stream *stream, cc__task *task)
{
    if (task->mark)
        task->mark->stream = stream;
    *stream->last = task;
    stream->last = &task->next;
    stream->queued++;
}

cc__stream *cc__emulated_add_stream(cc__emulated *emulated, int32_t device, cc_stream handle)
{
    cc__stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    static _Atomic uint64_t latest_id;
    stream->id = atomic_fetch_add(&latest_id, 1) + 1;
    stream->handle = handle;
    stream->thread_id = cc__thread_number();
    stream->device = device;
    stream->last = &stream->first;
    cc__stream **link = &emulated->streams;
    while (*link)
        link = &(*link)->next;
    *link = stream;
    return stream;
}

static void remove_stream(cc__emulated *emulated, cc__stream *stream)
{
    cc__stream **link = &emulated->streams;
    while (*link != stream)
        link = &(*link)->next;
    *link = stream->next;
    free(stream);
}

void cc__emulated_retire_stream(cc__emulated *emulated, cc__stream *stream)
{
    stream->destroyed = true;
    if (!stream->first)
        remove_stream(emulated, stream);
}

void cc__emulated_drop_streams(cc__emulated *emulated)
{
    while (emulated->streams) {
        cc__stream *stream = emulated->streams;
        while (stream->first) {
            cc__task *task = stream->first;
            stream->first = task->next;
            cc__emulated_destroy_task(task);
        }
        remove_stream(emulated, stream);
    }
}

/* A thread may be gone: its empty stream is like a new one, and is not kept. */
static void drop_idle_thread_streams(cc__emulated *emulated)
{
    for (cc__stream *stream = emulated->streams, *next; stream; stream = next) {
        next = stream->next;
        if (stream->handle == CC_STREAM_PER_THREAD && !stream->first && !stream->capturing)
            remove_stream(emulated, stream);
    }
}

static cc__stream *look_up(cc__emulated *emulated, int32_t device, cc_stream handle)
{
    const cc_stream legacy = (cc_stream)1;
    if (handle == legacy)
        handle = CC_STREAM_DEFAULT;
    for (cc__stream *stream = emulated->streams; stream; stream = stream->next)
        if (stream->device == device && stream->handle == handle && !stream->destroyed &&
            (handle != CC_STREAM_PER_THREAD || stream->thread_id == cc__thread_number()))
            return stream;
    if (handle != CC_STREAM_PER_THREAD)
        return NULL;
    drop_idle_thread_streams(emulated);
    return cc__emulated_add_stream(emulated, device, handle);
}

/* The task that must run before any other task of the stream can: the first of the stream it returns. */
static cc__stream *follow_waits(cc__stream *stream)
{
    while (stream->first->kind == CC__TASK_WAIT && !stream->first->awaited->done)
        stream = stream->first->awaited->stream;
    return stream;
}

static bool blocks_present(cc__emulated *emulated, const cc__task *task)
{
    for (int i = 0; i < CC__TASK_BLOCKS; i++)
        if (task->block_ids[i] != 0 && !cc__emulated_block_by_id(emulated, task->block_ids[i]))
            return false;
    return true;
}

static void call_function(cc__emulated *emulated, cc__stream *stream, const cc__task *task)
{
    stream->running = true;
    pthread_mutex_unlock(&emulated->lock);
    task->work.function.call(task->work.function.argument);
    pthread_mutex_lock(&emulated->lock);
    stream->running = false;
    pthread_cond_broadcast(&emulated->function_ended);
}

static void do_work(cc__emulated *emulated, cc__stream *stream, const cc__task *task)
{
    cc__block *block = NULL;
    switch (task->kind) {
    case CC__TASK_MARK:
    case CC__TASK_WAIT:
        break;
    case CC__TASK_COPY:
        cc__copy_on_host(&task->work.copy);
        break;
    case CC__TASK_FILL:
        cc__fill_on_host(&task->work.fill);
        break;
    case CC__TASK_KERNEL:
        task->work.run.kernel->on_host(task->work.run.work);
        break;
    case CC__TASK_POISON:
        block = cc__emulated_block_by_id(emulated, task->block_ids[0]);
        memset(block->data, CC__EMULATED_FRESH, block->size_bytes);
        break;
    case CC__TASK_FREE:
        cc__emulated_remove_block(emulated, cc__emulated_block_by_id(emulated, task->block_ids[0]));
        break;
    case CC__TASK_FUNCTION:
        call_function(emulated, stream, task);
        break;
    }
}

/* On a lost device nothing is computed any more, but marks are still reached and memory is still freed. */
static void run_first(cc__emulated *emulated, cc__stream *stream)
{
    cc__task *task = stream->first;
    const char **lost = &emulated->devices[stream->device].lost;
    if (!blocks_present(emulated, task))
        *lost = "work in a stream ran after memory it uses was freed or unregistered in another";
    if (!*lost || task->kind == CC__TASK_FREE)
        do_work(emulated, stream, task);

    if (task->mark)
        task->mark->done = true;
    stream->first = task->next;
    stream->queued--;
    if (!stream->first)
        stream->last = &stream->first;
    cc__emulated_destroy_task(task);
    if (!stream->first && stream->destroyed)
        remove_stream(emulated, stream);
}

/* Runs one task that the stream's first needs, or waits while another thread runs it. */
static void advance(cc__emulated *emulated, cc__stream *stream)
{
    cc__stream *needed = follow_waits(stream);
    if (needed->running)
        pthread_cond_wait(&emulated->function_ended, &emulated->lock);
    else
        run_first(emulated, needed);
}

void cc__emulated_wait(cc__emulated *emulated, cc__mark *mark)
{
    cc__emulated_retain_mark(mark);
    while (!mark->done)
        advance(emulated, mark->stream);
    cc__emulated_release_mark(mark);
}

cc_status cc__emulated_find_stream(cc__emulated *emulated, const char *operation, int32_t device, cc_stream handle,
                                   cc__stream **out_stream)
{
    for (;;) {
        cc__stream *stream = look_up(emulated, device, handle);
        if (!stream)
            return cc__fail_native(CC_ERROR_STREAM, CC__NATIVE_INVALID_HANDLE,
                                   "%s: stream = %p, must be a stream of device %d", operation, (void *)handle,
                                   (int)device);
        if (stream->queued < MAX_QUEUED) {
            *out_stream = stream;
            return CC_OK;
        }
        advance(emulated, stream);
    }
}

/* xorshift64, Marsaglia 2003: not 0 as long as it did not start there. */
static uint64_t draw(cc__emulated *emulated)
{
    uint64_t x = emulated->random;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return emulated->random = x;
}

static bool can_run(const cc__stream *stream)
{
    return stream->first && !stream->running && (stream->first->kind != CC__TASK_WAIT || stream->first->awaited->done);
}

void cc__emulated_drift(cc__emulated *emulated)
{
    /* Less than one for each call on average, or nothing would ever be late. */
    if (emulated->random == 0 || draw(emulated) >> 62 != 0)
        return;
    for (uint64_t left = draw(emulated) >> 62; left > 0; left--) {
        cc__stream *chosen = NULL;
        uint64_t candidates = 0;
        for (cc__stream *stream = emulated->streams; stream; stream = stream->next)
            if (can_run(stream) && (draw(emulated) >> 32) % ++candidates == 0)
                chosen = stream;
        if (!chosen)
            return;
        run_first(emulated, chosen);
    }
}

cc__emulated *cc__emulated_lock(cc__backend *self)
{
    cc__emulated *emulated = self->state;
    pthread_mutex_lock(&emulated->lock);
    cc__emulated_drift(emulated);
    return emulated;
}

cc_status cc__emulated_unlock(cc__emulated *emulated, cc_status status)
{
    pthread_mutex_unlock(&emulated->lock);
    return status;
}

cc_status cc__emulated_no_memory(const char *operation)
{
    return CC__EMULATED_REFUSE(CC__NATIVE_OUT_OF_MEMORY, "%s: no host memory for bookkeeping", operation);
}

cc_status cc__emulated_refuse_capture(cc_status status, const char *operation, cc_stream handle)
{
    return cc__fail_native(status, CC__NATIVE_CAPTURE_UNSUPPORTED, "%s: stream = %p is being captured, must not be",
                           operation, (void *)handle);
}

cc_status cc__emulated_check_not_lost(cc__emulated *emulated, const char *operation, int32_t device)
{
    const char *lost = emulated->devices[device].lost;
    if (!lost)
        return CC_OK;
    atomic_store(&emulated->devices[device].is_found_lost, true);
    return CC__EMULATED_REFUSE(CC__NATIVE_ILLEGAL_ADDRESS, "%s: device %d is lost: %s", operation, (int)device, lost);
}

cc_status cc__emulated_find_open_stream(cc__emulated *emulated, const char *operation, int32_t device, cc_stream handle,
                                        cc__stream **out_stream)
{
    cc__stream *stream = NULL;
    cc_status status = cc__emulated_find_stream(emulated, operation, device, handle, &stream);
    if (status == CC_OK)
        status = cc__emulated_check_not_lost(emulated, operation, device);
    if (status == CC_OK && stream->capturing)
        status = cc__emulated_refuse_capture(CC_ERROR_DEVICE, operation, handle);
    if (status == CC_OK)
        *out_stream = stream;
    return status;
}
