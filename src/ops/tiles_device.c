/*
 * Tiles on a device: the caller's thread brings inputs up and calls the function, a second one brings outputs down.
 * Each buffer has three events, for the ends of the three stages; a stage waits in its stream for those of the tile
 * that had the buffer before.
 */
#include "base/error.h"
#include "data_manager/parts.h"
#include "data_manager/report.h"
#include "memory/crew.h"
#include "memory/transfer_streams.h"
#include "ops/tiles.h"
#include "trace/trace.h"

#include <pthread.h>
#include <string.h>

#define MOST_BUFFERS 8
/* The inputs of one more tile than that are on their way up, before the function is called for the one before it. */
#define MOST_TILES (MOST_BUFFERS + 2)
/* Downloads that are queued at once: so that the next is there when one ends. */
#define MOST_QUEUED 2

bool cc__tiles_without_thread;

typedef struct buffer {
    unsigned char *memory;
    cc__event *uploaded;
    cc__event *worked;
    cc__event *downloaded;
} buffer;

typedef struct pipeline {
    cc__tiles_run *run;
    cc__backend *backend;
    int32_t device;
    cc_stream up;
    cc_stream work; /* of this run only: the caller's function may do anything with it */
    cc_stream down;
    buffer buffers[MOST_BUFFERS];
    cc__tile tiles[MOST_TILES]; /* each from its upload until it is written */
    bool shares_buffers;        /* the output is an input */
    bool has_thread;

    pthread_mutex_t lock;   /* guards what follows; never held while anything is copied or waited for */
    pthread_cond_t changed; /* any of it */
    int64_t worked;         /* tiles whose work is queued */
    int64_t begun;          /* tiles whose way down has begun, be it that it failed */
    int64_t queued;         /* tiles whose output is on its way down */
    int64_t written;        /* tiles that are done */
    bool is_ending;         /* no more will be worked on */
    bool is_stuck;          /* what is on its way down cannot be waited for */
    cc_status status;       /* of the way down, with what is said about it */
    cc__error_state error;
} pipeline;

static bool has_shared_buffers(const cc__tiles_run *run)
{
    for (int32_t i = 0; i < run->params.input_count; ++i)
        if (run->job.sources[i].is_output)
            return true;
    return false;
}

static buffer *buffer_of(pipeline *self, int64_t number)
{
    return &self->buffers[number % self->run->plan.buffer_count];
}

static cc__tile *tile_of(pipeline *self, int64_t number)
{
    return &self->tiles[number % (self->run->plan.buffer_count + 2)];
}

/* Between the images' pixels on the host and the tile. */
static cc_status move(pipeline *self, const cc__tiles_image *image, const cc__box *box, const cc_tile_pixels *pixels,
                      bool is_up)
{
    const uint64_t began = cc__report_clock();
    const cc__place_memory host = cc__data_manager_host_memory(image->manager);
    const cc__span there = cc__place_memory_span(&host, box);
    cc__span here = {.data = pixels->pixels};
    memcpy(here.stride, pixels->strides_bytes, sizeof here.stride);
    cc__copy work = {
        .destination = is_up ? here : there, .source = is_up ? there : here, .pixel_bytes = image->pixel_bytes};
    memcpy(work.size, box->size, sizeof work.size);
    cc__movement movement = {.backend = self->backend,
                             .device = self->device,
                             .stream = is_up ? self->up : self->down,
                             .host = is_up ? CC__SIDE_SOURCE : CC__SIDE_DESTINATION,
                             .bytes = host.pixels,
                             .memory = host.host,
                             .works = &work,
                             .count = 1};
    cc_status status = cc__movement_prepare(&movement);
    if (status != CC_OK)
        return status;
    status = cc__movement_run(&movement);
    if (status == CC_OK)
        cc__data_manager_count_part(image->manager, self->run->function, box, &movement, began);
    cc__movement_end(&movement);
    return status;
}

static cc_status begin_download(pipeline *self, int64_t number)
{
    const cc__tile *tile = tile_of(self, number);
    const buffer *of = buffer_of(self, number);
    cc__backend *backend = self->backend;
    cc_status status = backend->stream_wait(backend, self->device, self->down, of->worked);
    if (status == CC_OK)
        status = move(self, &self->run->output, &tile->boxes[CC_TILES_MAX_INPUTS], &tile->public.output, false);
    if (status == CC_OK)
        status = backend->event_record(backend, self->device, of->downloaded, self->down);
    return status;
}

static cc_status end_download(pipeline *self, int64_t number, bool *out_is_stuck)
{
    cc__tile *tile = tile_of(self, number);
    cc__backend *backend = self->backend;
    const cc_status status = backend->event_synchronize(backend, self->device, buffer_of(self, number)->downloaded);
    *out_is_stuck = status != CC_OK;
    if (status != CC_OK)
        return status;
    cc__tile_release_images(tile);
    return cc__data_manager_commit_part(self->run->output.manager, &tile->boxes[CC_TILES_MAX_INPUTS]);
}

/* The next thing to do for what goes down; false when there is none now. With the lock, which is given up meanwhile. */
static bool drain_once(pipeline *self)
{
    const bool begins =
        self->status == CC_OK && self->queued < self->worked && self->queued - self->written < MOST_QUEUED;
    const bool ends = !begins && !self->is_stuck && self->written < self->queued;
    const int64_t number = begins ? self->queued : self->written;
    bool is_stuck = false;
    if (!begins && !ends)
        return false;
    self->begun += begins;
    pthread_mutex_unlock(&self->lock);
    const cc_status status = begins ? begin_download(self, number) : end_download(self, number, &is_stuck);
    cc__trace_tell();
    pthread_mutex_lock(&self->lock);
    if (status == CC_OK) {
        self->queued += begins;
        self->written += ends;
    } else if (self->status == CC_OK) {
        self->status = status;
        cc__error_save(&self->error);
    }
    self->is_stuck = self->is_stuck || (ends && status != CC_OK);
    pthread_cond_broadcast(&self->changed);
    return true;
}

/* Until no more will be worked on, and all that was is written; or as far as that goes, when something fails. */
static void drain(void *context)
{
    pipeline *self = context;
    pthread_mutex_lock(&self->lock);
    for (;;) {
        if (drain_once(self))
            continue;
        if (self->is_ending || self->status != CC_OK)
            break;
        pthread_cond_wait(&self->changed, &self->lock);
    }
    pthread_mutex_unlock(&self->lock);
}

/* Waits until so many tiles are there, by this counter; false when that will never be. */
static bool wait_for(pipeline *self, const int64_t *counter, int64_t least)
{
    pthread_mutex_lock(&self->lock);
    while (*counter < least && self->status == CC_OK) {
        if (self->has_thread)
            pthread_cond_wait(&self->changed, &self->lock);
        else if (!drain_once(self))
            break;
    }
    const bool is_there = *counter >= least;
    pthread_mutex_unlock(&self->lock);
    return is_there;
}

static void tell(pipeline *self)
{
    pthread_mutex_lock(&self->lock);
    const int64_t written = self->written;
    pthread_mutex_unlock(&self->lock);
    cc__tiles_tell(self->run, written);
}

static cc_status bring_up(pipeline *self, cc__tile *tile, const buffer *of)
{
    const cc__tiles_run *run = self->run;
    cc_status status = CC_OK;
    cc__tile_set_dense(tile, CC_TILE_OUTPUT, of->memory + run->plan.output_offset);
    for (int32_t i = 0; status == CC_OK && i < run->params.input_count; ++i) {
        bool is_there = cc__box_is_empty(&tile->boxes[i]);
        cc__tile_set_dense(tile, i, of->memory + run->plan.source_offset[i]);
        for (int32_t other = 0; other < i; ++other)
            is_there = is_there || (run->job.sources[i].is_output && run->job.sources[other].is_output);
        if (is_there)
            continue;
        status = cc__tiles_bring(run, i, &tile->boxes[i]);
        if (status == CC_OK)
            status = move(self, &run->sources[i], &tile->boxes[i], &tile->inputs[i], true);
    }
    return status;
}

/* *out_goes_on is false, with CC_OK, when the way down has failed. */
static cc_status upload(pipeline *self, int64_t number, bool *out_goes_on)
{
    const int64_t before = number - self->run->plan.buffer_count;
    const buffer *of = buffer_of(self, number);
    cc__tile *tile = tile_of(self, number);
    cc__backend *backend = self->backend;
    cc_status status = CC_OK;
    *out_goes_on = !self->shares_buffers || before < 0 || wait_for(self, &self->queued, before + 1);
    if (!*out_goes_on)
        return CC_OK;
    status = cc__tile_begin(tile, self->run, number);
    tile->public.stream = self->work;
    if (status == CC_OK && before >= 0)
        status =
            backend->stream_wait(backend, self->device, self->up, self->shares_buffers ? of->downloaded : of->worked);
    if (status == CC_OK)
        status = bring_up(self, tile, of);
    if (status == CC_OK)
        status = backend->event_record(backend, self->device, of->uploaded, self->up);
    return status;
}

static cc_status work_on(pipeline *self, int64_t number, bool *out_goes_on)
{
    const buffer *of = buffer_of(self, number);
    cc__backend *backend = self->backend;
    /* What the buffer's last tile was is written by then: its output's memory is free. */
    *out_goes_on = wait_for(self, &self->written, number - self->run->plan.buffer_count + 1);
    tell(self);
    if (!*out_goes_on || self->run->is_cancelled)
        return CC_OK;
    cc_status status = backend->stream_wait(backend, self->device, self->work, of->uploaded);
    if (status == CC_OK)
        status = cc__tile_work(tile_of(self, number));
    if (status == CC_OK)
        status = backend->event_record(backend, self->device, of->worked, self->work);
    if (status != CC_OK)
        return status;
    pthread_mutex_lock(&self->lock);
    self->worked = number + 1;
    pthread_cond_broadcast(&self->changed);
    /* Without a second thread it is this one that sends the tile on its way. */
    while (!self->has_thread && self->status == CC_OK && self->queued < self->worked &&
           self->queued - self->written < MOST_QUEUED)
        (void)drain_once(self);
    pthread_mutex_unlock(&self->lock);
    return CC_OK;
}

/* The next tile's inputs are on their way before the function is called, however long that takes. */
static cc_status feed(pipeline *self)
{
    const cc__tiles_plan *plan = &self->run->plan;
    const int64_t ahead = plan->buffer_count > 1 ? 1 : 0;
    int64_t uploaded = 0;
    bool goes_on = true;
    cc_status status = CC_OK;
    for (int64_t number = 0; number < plan->tile_count; ++number) {
        while (status == CC_OK && goes_on && uploaded < plan->tile_count && uploaded <= number + ahead)
            status = upload(self, uploaded++, &goes_on);
        if (status == CC_OK && goes_on)
            status = work_on(self, number, &goes_on);
        cc__trace_tell();
        if (status != CC_OK || !goes_on)
            return status;
        if (self->run->is_cancelled)
            return cc__tiles_fail_cancelled(self->run);
    }
    return CC_OK;
}

static cc_status open(pipeline *self)
{
    cc__backend *backend = self->backend;
    const cc__tiles_plan *plan = &self->run->plan;
    cc_status status = cc__transfer_stream_get_for(backend, self->device, CC__TRAFFIC_DOWN, &self->down);
    if (status == CC_OK)
        status = backend->stream_create(backend, self->device, &self->work);
    for (int32_t i = 0; status == CC_OK && i < plan->buffer_count; ++i) {
        buffer *of = &self->buffers[i];
        of->memory = self->run->memory.pixels + i * plan->buffer_bytes;
        status = backend->event_create(backend, self->device, &of->uploaded);
        if (status == CC_OK)
            status = backend->event_create(backend, self->device, &of->worked);
        if (status == CC_OK)
            status = backend->event_create(backend, self->device, &of->downloaded);
    }
    return status;
}

/* After a failure: nothing is under way any more. A wait that fails for a passing reason is tried once more. */
static bool settle(pipeline *self, cc_stream stream)
{
    cc__backend *backend = self->backend;
    return stream == NULL || backend->stream_synchronize(backend, self->device, stream) == CC_OK ||
           backend->stream_synchronize(backend, self->device, stream) == CC_OK;
}

static void hand_on(cc__fence **fence, cc_stream stream)
{
    if (*fence != NULL)
        (*fence)->stream = stream;
}

/* Nobody can say when the device is done with the memory: it goes when somebody can. */
static void put_aside(pipeline *self)
{
    cc__tiles_run *run = self->run;
    cc__aside *aside = run->aside;
    *aside = (cc__aside){.backend = self->backend,
                         .device = self->device,
                         .memory = run->memory,
                         .streams = {self->up, self->work, self->down},
                         .own = self->work};
    self->work = NULL;
    run->aside = NULL;
    memset(&run->memory, 0, sizeof run->memory);
    cc__aside_put(aside);
}

static void clean_up_after_failure(pipeline *self)
{
    cc__tiles_run *run = self->run;
    cc__error_state before;
    cc__error_save(&before);
    const bool is_worked = settle(self, self->work);
    run->is_read = settle(self, self->up);
    run->is_written = settle(self, self->down);
    for (int32_t i = 0; i < run->params.input_count; ++i)
        hand_on(&run->sources[i].fence, self->up);
    hand_on(&run->output.fence, run->is_written ? self->up : self->down);
    for (int64_t number = self->written; number < self->begun; ++number)
        cc__data_manager_give_up_part(run->output.manager, &tile_of(self, number)->boxes[CC_TILES_MAX_INPUTS]);
    for (int32_t i = 0; i < MOST_TILES; ++i)
        cc__tile_release_images(&self->tiles[i]);
    if (self->work != NULL && !(is_worked && run->is_read && run->is_written))
        put_aside(self);
    cc__error_restore(&before);
}

static void close(pipeline *self)
{
    cc__backend *backend = self->backend;
    for (int32_t i = 0; i < MOST_BUFFERS; ++i) {
        cc__event *const events[] = {self->buffers[i].uploaded, self->buffers[i].worked, self->buffers[i].downloaded};
        for (int32_t event = 0; event < 3; ++event)
            if (events[event] != NULL)
                backend->event_destroy(backend, self->device, events[event]);
    }
    if (self->work != NULL)
        backend->stream_destroy(backend, self->device, self->work);
}

cc_status cc__tiles_run_on_device(cc__tiles_run *run)
{
    pipeline self = {.run = run,
                     .backend = run->backend,
                     .device = run->place,
                     .up = run->up,
                     .shares_buffers = has_shared_buffers(run),
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .changed = PTHREAD_COND_INITIALIZER};
    cc__crew_member second;
    cc_status status = open(&self);
    if (status == CC_OK) {
        self.has_thread = !cc__tiles_without_thread && cc__crew_start(&second, drain, &self);
        status = feed(&self);
        pthread_mutex_lock(&self.lock);
        self.is_ending = true;
        pthread_cond_broadcast(&self.changed);
        pthread_mutex_unlock(&self.lock);
        if (self.has_thread)
            cc__crew_join(&second);
        else
            drain(&self);
    }
    if (status == CC_OK && self.status != CC_OK) {
        status = self.status;
        cc__error_restore(&self.error);
    }
    tell(&self);
    if (status != CC_OK)
        clean_up_after_failure(&self);
    close(&self);
    pthread_cond_destroy(&self.changed);
    pthread_mutex_destroy(&self.lock);
    return status;
}
