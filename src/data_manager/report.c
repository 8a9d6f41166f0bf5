#include "data_manager/report.h"

#include "data_manager/lent.h"
#include "trace/trace.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

uint64_t cc__report_clock(void)
{
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* What went between the host and devices, by path. */
typedef struct movement {
    cc_path_counters by[CC_PATH_CAPACITY];
} movement;

static bool is_copy_with_host(const cc__transfer *transfer, const cc__step *step)
{
    return step->kind == CC__STEP_COPY && (transfer->place == CC_PLACE_HOST || step->source == CC_PLACE_HOST);
}

static uint64_t bytes_of(const cc__transfer *transfer, const cc__step *step)
{
    return (uint64_t)(cc__box_pixels(&step->box) * transfer->manager->layout.pixel_bytes);
}

static movement movement_of(const cc__tally *tally)
{
    _Static_assert((int)CC__PATH_KERNEL == (int)CC_PATH_KERNEL && (int)CC__PATH_STAGED == (int)CC_PATH_STAGED &&
                       (int)CC__PATH_PLAIN == (int)CC_PATH_PLAIN && CC__PATH_COUNT <= CC_PATH_CAPACITY,
                   "paths have the numbers that callers know");
    movement moved = {{{0, 0}}};
    for (int32_t path = 0; path < CC__PATH_COUNT; ++path)
        moved.by[path] = (cc_path_counters){tally->boxes[path], tally->bytes[path]};
    return moved;
}

static void count(cc_counters *counters, bool to_host, const movement *moved, uint64_t began)
{
    cc_path_counters *paths = to_host ? counters->device_to_host_paths : counters->host_to_device_paths;
    for (int32_t path = 0; path < CC_PATH_CAPACITY; ++path) {
        paths[path].copies += moved->by[path].copies;
        paths[path].bytes += moved->by[path].bytes;
    }
    counters->transfer_nanoseconds += cc__report_clock() - began;
}

/* What all events about the same pixels have in common. Noting it copies the label. */
static cc_trace_event event_about(const cc__data_manager *manager, cc_trace_kind kind, cc_place from, cc_place to,
                                  const char *function)
{
    return (cc_trace_event){.struct_size = sizeof(cc_trace_event),
                            .kind = (int32_t)kind,
                            .from = from,
                            .to = to,
                            .pixels_id = manager->id,
                            .label = manager->label,
                            .function = function != NULL ? function : "",
                            .reason = ""};
}

static void note_memory(const cc__data_manager *manager, cc_trace_kind kind, cc_place place, uint64_t bytes,
                        const char *function, const char *reason)
{
    cc_trace_event event = event_about(manager, kind, place, place, function);
    event.bytes = bytes;
    event.reason = reason;
    cc__trace_note(&event);
}

/* Why a place that may have had the pixels has to get them: somebody uses them without telling. */
static const char *name_state(const cc__transfer *transfer, const cc__step *step)
{
    const cc__lent *loans = transfer->manager->loans;
    if (loans != NULL && cc__lent_find(loans, &step->box, transfer->place) != NULL)
        return "out of date in memory that is lent";
    if (transfer->allocates)
        return "nothing at this place yet";
    if (loans != NULL && step->kind == CC__STEP_COPY && cc__lent_find_writer(loans, &step->box, step->source) != NULL)
        return "lent, so that it may have been written since";
    return "out of date at this place";
}

static void explain(char reason[CC__TRACE_REASON_BYTES], const cc__transfer *transfer, const cc__step *step)
{
    const char *here = name_state(transfer, step);
    switch (step->kind) {
    case CC__STEP_COPY:
        if (step->source == CC_PLACE_HOST)
            (void)snprintf(reason, CC__TRACE_REASON_BYTES, "%s, newest on the host", here);
        else
            (void)snprintf(reason, CC__TRACE_REASON_BYTES, "%s, newest on device %d", here, (int)step->source);
        break;
    case CC__STEP_CONSTANT:
        (void)snprintf(reason, CC__TRACE_REASON_BYTES, "%s, known as the fill value", here);
        break;
    case CC__STEP_ZERO:
        (void)snprintf(reason, CC__TRACE_REASON_BYTES, "%s, never written", here);
        break;
    }
}

static cc_trace_kind kind_of(const cc__transfer *transfer, const cc__step *step)
{
    if (step->kind != CC__STEP_COPY)
        return CC_TRACE_FILL;
    if (transfer->place == CC_PLACE_HOST)
        return CC_TRACE_COPY_TO_HOST;
    return step->source == CC_PLACE_HOST ? CC_TRACE_COPY_TO_DEVICE : CC_TRACE_COPY_BETWEEN_DEVICES;
}

/* Steps are told together when they have kind and source in common. */
static cc__sources group_of(const cc__step *step)
{
    switch (step->kind) {
    case CC__STEP_COPY:
        return CC__SOURCE(step->source);
    case CC__STEP_CONSTANT:
        return CC__SOURCE_CONSTANT;
    case CC__STEP_ZERO:
        return CC__SOURCE_UNDEFINED;
    }
    return CC__SOURCE_UNDEFINED;
}

/* One event for each path, when the movement is all this group's; else one that names the path of the most bytes. */
static void note_copies(cc_trace_event *event, const movement *moved)
{
    uint64_t all_bytes = 0;
    int32_t most = 0;
    for (int32_t path = 0; path < CC_PATH_CAPACITY; ++path) {
        all_bytes += moved->by[path].bytes;
        if (moved->by[path].bytes > moved->by[most].bytes)
            most = path;
    }
    if (all_bytes != event->bytes) {
        event->path = most;
        cc__trace_note(event);
        return;
    }
    for (int32_t path = 0; path < CC_PATH_CAPACITY; ++path) {
        if (moved->by[path].copies == 0)
            continue;
        event->path = path;
        event->box_count = (int32_t)moved->by[path].copies;
        event->bytes = moved->by[path].bytes;
        cc__trace_note(event);
    }
}

static void note_group(const cc__transfer *transfer, const movement *moved, const cc__step *first)
{
    const cc_place from = first->kind == CC__STEP_COPY ? first->source : transfer->place;
    char reason[CC__TRACE_REASON_BYTES] = "";
    cc__box box = first->box;
    cc_trace_event event =
        event_about(transfer->manager, kind_of(transfer, first), from, transfer->place, transfer->plan->asked_by);
    for (int32_t i = 0; i < transfer->plan->count; ++i) {
        const cc__step *step = &transfer->plan->steps[i];
        if (group_of(step) != group_of(first))
            continue;
        ++event.box_count;
        event.bytes += bytes_of(transfer, step);
        box = cc__box_bounding(&box, &step->box);
    }
    memcpy(event.box.index, box.start, sizeof event.box.index);
    memcpy(event.box.size, box.size, sizeof event.box.size);
    explain(reason, transfer, first);
    event.reason = reason;
    if (is_copy_with_host(transfer, first))
        note_copies(&event, moved);
    else
        cc__trace_note(&event);
}

void cc__report_transfer(const cc__transfer *transfer, uint64_t began)
{
    const cc__data_manager *manager = transfer->manager;
    const cc__plan *plan = transfer->plan;
    const movement moved = movement_of(&transfer->moved);
    cc__sources told = 0;
    count(&transfer->manager->counters, transfer->place == CC_PLACE_HOST, &moved, began);
    if (!cc__trace_is_on())
        return;
    if (transfer->allocates)
        note_memory(manager, CC_TRACE_ALLOCATE, transfer->place, transfer->target.size_bytes, plan->asked_by,
                    "nothing at this place yet");
    if (transfer->locked_bytes > 0)
        note_memory(manager, CC_TRACE_REGISTER, CC_PLACE_HOST, transfer->locked_bytes, plan->asked_by,
                    "pixels move between it and a device");
    for (int32_t i = 0; i < plan->count; ++i) {
        if ((told & group_of(&plan->steps[i])) != 0)
            continue;
        told |= group_of(&plan->steps[i]);
        note_group(transfer, &moved, &plan->steps[i]);
    }
}

void cc__report_allocation(const cc__data_manager *manager, cc_place place, const cc__place_memory *memory,
                           const char *function, const char *reason)
{
    if (cc__trace_is_on())
        note_memory(manager, CC_TRACE_ALLOCATE, place, memory->size_bytes, function, reason);
}

void cc__report_free(const cc__data_manager *manager, cc_place place, const cc__place_memory *memory,
                     const char *function, const char *reason)
{
    if (memory->pixels != NULL && !memory->is_wrapped && cc__trace_is_on())
        note_memory(manager, CC_TRACE_FREE, place, memory->size_bytes, function, reason);
}

void cc__report_eviction(cc__data_manager *manager, cc_place place, const cc__place_memory *memory,
                         const char *function, const char *reason)
{
    ++manager->counters.evictions;
    if (!cc__trace_is_on())
        return;
    note_memory(manager, CC_TRACE_EVICT, place, memory->size_bytes, function, reason);
    cc__report_free(manager, place, memory, function, "evicted");
}

void cc__report_tile_moved(cc__data_manager *manager, const cc__report_tile *tile)
{
    const uint64_t bytes = (uint64_t)(cc__box_pixels(&tile->box) * manager->layout.pixel_bytes);
    const movement moved = movement_of(tile->moved);
    cc_counters *counters = &manager->counters;
    if (tile->is_up) {
        ++counters->host_to_device_copies;
        counters->host_to_device_bytes += bytes;
    } else {
        ++counters->device_to_host_copies;
        counters->device_to_host_bytes += bytes;
    }
    count(counters, !tile->is_up, &moved, tile->began);
    if (!cc__trace_is_on())
        return;
    if (tile->locked_bytes > 0)
        note_memory(manager, CC_TRACE_REGISTER, CC_PLACE_HOST, tile->locked_bytes, tile->function,
                    "pixels move between it and a device");
    const cc_place from = tile->is_up ? CC_PLACE_HOST : tile->device;
    const cc_place to = tile->is_up ? tile->device : CC_PLACE_HOST;
    cc_trace_event event =
        event_about(manager, tile->is_up ? CC_TRACE_COPY_TO_DEVICE : CC_TRACE_COPY_TO_HOST, from, to, tile->function);
    event.box_count = 1;
    event.bytes = bytes;
    memcpy(event.box.index, tile->box.start, sizeof event.box.index);
    memcpy(event.box.size, tile->box.size, sizeof event.box.size);
    event.reason = tile->is_up ? "a tile of them is needed" : "a tile of them was computed";
    note_copies(&event, &moved);
}

void cc__report_tile_memory(const cc__data_manager *manager, cc_trace_kind kind, int32_t device, uint64_t bytes,
                            const char *function)
{
    if (cc__trace_is_on())
        note_memory(manager, kind, device, bytes, function,
                    kind == CC_TRACE_ALLOCATE ? "tiles, through which they move" : "the last tile is done");
}

void cc__report_texture(const cc__data_manager *manager, cc_trace_kind kind, int32_t device, uint64_t bytes,
                        const char *function)
{
    if (cc__trace_is_on())
        note_memory(manager, kind, device, bytes, function,
                    kind == CC_TRACE_ALLOCATE ? "a texture of them" : "a texture of them, not mapped any more");
}
