#include "work.h"

#include "report.h"
#include "support/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES ((size_t)8 << 20)
#define BALLAST_BYTES ((size_t)4 << 20)

struct work_pending {
    int32_t device;
    cc_stream stream; /* NULL is the default stream */
    bool is_orphan;   /* the stream is gone */
    cc__event *done;
    unsigned char *read; /* NULL: a write */
    unsigned char *expected;
    bool *known;
    int64_t count;
    int64_t pixel_bytes;
    char what[160];
};

static unsigned char *arena;
static bool is_registered; /* also after a test that failed, where tests share a process */

void work_begin(device_work *work, random_source *random)
{
    memset(work, 0, sizeof *work);
    work->random = random;
    if (fixture_device_count() == 0)
        return;
    if (arena == NULL)
        model_check(posix_memalign((void **)&arena, 4096, ARENA_BYTES) == 0, "no memory for the test");
    if (is_registered)
        (void)fixture_inner->host_unregister(fixture_inner, arena);
    model_ok(fixture_inner->host_register(fixture_inner, arena, ARENA_BYTES));
    is_registered = true;
}

void work_end(device_work *work)
{
    work_settle(work);
    for (int32_t device = 0; device < fixture_device_count() && device + 1 < ORACLE_MAX_PLACES; device++) {
        for (int32_t i = 0; i < WORK_STREAMS; i++)
            if (work->streams[device][i] != NULL)
                fixture_inner->stream_destroy(fixture_inner, device, work->streams[device][i]);
        if (work->ballast[device] != NULL) {
            model_ok(fixture_inner->free(fixture_inner, device, CC_STREAM_DEFAULT, work->ballast[device]));
            model_ok(fixture_inner->stream_synchronize(fixture_inner, device, CC_STREAM_DEFAULT));
        }
    }
    if (fixture_device_count() > 0)
        model_ok(fixture_inner->host_unregister(fixture_inner, arena));
    is_registered = false;
    free(work->pending);
}

cc_stream work_stream(device_work *work, int32_t device)
{
    const cc_stream given[] = {CC_STREAM_DEFAULT, (cc_stream)1 /* its other name */, CC_STREAM_PER_THREAD};
    const int64_t choice = random_below(work->random, WORK_STREAMS + 3);
    if (choice >= WORK_STREAMS)
        return given[choice - WORK_STREAMS];
    cc_stream *stream = &work->streams[device][choice];
    if (*stream == NULL)
        model_ok(fixture_inner->stream_create(fixture_inner, device, stream));
    return *stream;
}

void work_forget_stream(device_work *work, int32_t device, cc_stream stream)
{
    for (int32_t k = 0; k < work->pending_count; k++)
        if (work->pending[k].device == device && work->pending[k].stream == stream)
            work->pending[k].is_orphan = true;
}

void work_drop_stream(device_work *work, int32_t device, cc_stream stream)
{
    for (int32_t i = 0; i < WORK_STREAMS; i++) {
        if (work->streams[device][i] == NULL || work->streams[device][i] != stream)
            continue;
        work->streams[device][i] = NULL;
        work_forget_stream(work, device, stream);
        fixture_inner->stream_destroy(fixture_inner, device, stream);
        report_note("stream %p of device %d destroyed", (void *)stream, (int)device);
    }
}

cc__event *work_mark(int32_t device, cc_stream stream)
{
    cc__event *event = NULL;
    model_ok(fixture_inner->event_create(fixture_inner, device, &event));
    model_ok(fixture_inner->event_record(fixture_inner, device, event, stream));
    return event;
}

void work_follow(int32_t device, cc_stream stream, cc__event *event)
{
    model_ok(fixture_inner->stream_wait(fixture_inner, device, stream, event));
}

void work_each_run(const work_box *box, work_run_function function, void *context)
{
    const int64_t count = box->size[0] * box->size[1] * box->size[2] * box->size[3];
    int64_t first = 0;
    int64_t dense = 0;
    int64_t bytes = 0;
    for (int64_t pixel = 0; pixel < count; pixel++) {
        int64_t rest = pixel;
        int64_t memory = 0;
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
            memory += rest % box->size[axis] * box->stride[axis];
            rest /= box->size[axis];
        }
        if (bytes > 0 && memory != first + bytes) {
            function(context, first, dense, bytes);
            dense += bytes;
            bytes = 0;
        }
        if (bytes == 0)
            first = memory;
        bytes += box->pixel_bytes;
    }
    if (bytes > 0)
        function(context, first, dense, bytes);
}

/* Page-locked bytes that stay until the program has waited for everything. */
static unsigned char *reserve(device_work *work, size_t bytes)
{
    model_check(bytes <= ARENA_BYTES, "an image of the test is too large");
    if (work->used_bytes + bytes > ARENA_BYTES)
        work_settle(work);
    unsigned char *memory = arena + work->used_bytes;
    work->used_bytes += bytes;
    return memory;
}

static work_pending *add_pending(device_work *work, int32_t device, cc_stream stream)
{
    if (work->pending_count == work->pending_capacity) {
        work->pending_capacity = work->pending_capacity == 0 ? 16 : work->pending_capacity * 2;
        work->pending = realloc(work->pending, (size_t)work->pending_capacity * sizeof *work->pending);
    }
    work_pending *pending = &work->pending[work->pending_count++];
    memset(pending, 0, sizeof *pending);
    pending->device = device;
    pending->stream = stream;
    return pending;
}

/* A copy that the emulated device does when it must, and a real one after what is queued before it. */
static void queue_bytes(int32_t device, cc_stream stream, void *destination, void *source, int64_t bytes)
{
    cc__copy copy = {.size = {bytes, 1, 1, 1}, .pixel_bytes = 1};
    copy.destination.data = destination;
    copy.source.data = source;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        copy.destination.stride[axis] = copy.source.stride[axis] = axis == 0 ? 1 : bytes;
    model_ok(fixture_inner->copy(fixture_inner, device, stream, &copy));
}

/* Sometimes a real device gets enough to do that whoever does not wait is early. */
static void make_late(device_work *work, int32_t device, cc_stream stream)
{
    if (fixture_is_emulated() || !random_chance(work->random, 30))
        return;
    if (work->ballast[device] == NULL) {
        model_ok(
            fixture_inner->allocate(fixture_inner, device, CC_STREAM_DEFAULT, BALLAST_BYTES, &work->ballast[device]));
        model_ok(fixture_inner->stream_synchronize(fixture_inner, device, CC_STREAM_DEFAULT));
    }
    for (int32_t i = 0; i < 4; i++)
        queue_bytes(device, stream, work->ballast[device], arena, (int64_t)BALLAST_BYTES);
}

typedef struct run_context {
    int32_t device;
    cc_stream stream;
    unsigned char *memory;
    unsigned char *dense;
} run_context;

static void write_run(void *context, int64_t memory, int64_t dense, int64_t bytes)
{
    const run_context *run = context;
    queue_bytes(run->device, run->stream, run->memory + memory, run->dense + dense, bytes);
}

static void read_run(void *context, int64_t memory, int64_t dense, int64_t bytes)
{
    const run_context *run = context;
    queue_bytes(run->device, run->stream, run->dense + dense, run->memory + memory, bytes);
}

void work_write(device_work *work, int32_t device, cc_stream stream, const work_box *box, const unsigned char *bytes)
{
    const size_t size_bytes = (size_t)(box->size[0] * box->size[1] * box->size[2] * box->size[3] * box->pixel_bytes);
    run_context run = {device, stream, box->memory, reserve(work, size_bytes)};
    memcpy(run.dense, bytes, size_bytes);
    make_late(work, device, stream);
    work_each_run(box, write_run, &run);
    add_pending(work, device, stream)->done = work_mark(device, stream);
}

void work_read(device_work *work, int32_t device, cc_stream stream, const work_box *box, const unsigned char *expected,
               const bool *known, const char *what)
{
    const int64_t count = box->size[0] * box->size[1] * box->size[2] * box->size[3];
    const size_t size_bytes = (size_t)(count * box->pixel_bytes);
    run_context run = {device, stream, box->memory, reserve(work, size_bytes)};
    memset(run.dense, 0xEE, size_bytes);
    make_late(work, device, stream);
    work_each_run(box, read_run, &run);

    work_pending *pending = add_pending(work, device, stream);
    pending->done = work_mark(device, stream);
    pending->read = run.dense;
    pending->expected = malloc(size_bytes);
    memcpy(pending->expected, expected, size_bytes);
    pending->known = malloc((size_t)count * sizeof *known);
    memcpy(pending->known, known, (size_t)count * sizeof *known);
    pending->count = count;
    pending->pixel_bytes = box->pixel_bytes;
    snprintf(pending->what, sizeof pending->what, "%s", what);
}

/* The work is done: what was read must be right. */
static void finish(device_work *work, int32_t at)
{
    work_pending *pending = &work->pending[at];
    const size_t pixel_bytes = (size_t)pending->pixel_bytes;
    for (int64_t i = 0; i < pending->count; i++) {
        const size_t offset = (size_t)i * pixel_bytes;
        model_check(!pending->known[i] || memcmp(pending->read + offset, pending->expected + offset, pixel_bytes) == 0,
                    "device %d read pixel %lld of its box wrong: byte 0x%02x, expected 0x%02x; read in: %s",
                    (int)pending->device, (long long)i, pending->read[offset], pending->expected[offset],
                    pending->what);
    }
    fixture_inner->event_destroy(fixture_inner, pending->device, pending->done);
    free(pending->expected);
    free(pending->known);
    work->pending[at] = work->pending[--work->pending_count];
}

void work_synchronize(device_work *work, int32_t device, cc_stream stream)
{
    model_ok(cc_stream_synchronize(device, stream));
    for (int32_t i = work->pending_count - 1; i >= 0; i--) {
        const work_pending *pending = &work->pending[i];
        if (pending->device == device && pending->stream == stream && !pending->is_orphan)
            finish(work, i);
    }
}

void work_settle(device_work *work)
{
    /* In any order, which on the emulated device is the order in which the work runs. */
    while (work->pending_count > 0) {
        const int32_t at = (int32_t)random_below(work->random, work->pending_count);
        const work_pending *pending = &work->pending[at];
        model_ok(fixture_inner->event_synchronize(fixture_inner, pending->device, pending->done));
        finish(work, at);
    }
    work->used_bytes = 0;
}
