#include "data_manager/data_manager.h"

#include "base/allocate.h"
#include "base/error.h"
#include "data_manager/internal.h"
#include "data_manager/lent.h"
#include "data_manager/report.h"
#include "data_manager/textures.h"
#include "memory/transfer_streams.h"
#include "trace/trace.h"

#include <string.h>

/* Each data manager numbers its contents from a start of its own, so that no two ever share a number. */
static _Atomic uint64_t next_generation_range = 1;

static cc_status create(const cc__layout *layout, cc__sources sources, cc__data_manager **out_manager)
{
    cc__data_manager *manager = cc__allocate(sizeof *manager + (size_t)layout->pixel_bytes);
    if (manager == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__data_manager_create: no memory for the handle");
    manager->layout = *layout;
    manager->whole = cc__box_of_size(layout->size);
    cc__validity_init(&manager->validity, &manager->whole, sources);
    atomic_init(&manager->references, 1);
    manager->constant_is_zero = true;
    manager->id = atomic_fetch_add(&next_generation_range, 1);
    manager->generation = manager->id << 32;
    cc__account_open(&manager->account, &manager->lock, &manager->counters);
    *out_manager = manager;
    return CC_OK;
}

cc_status cc__data_manager_create(const cc__layout *layout, bool undefined, cc__data_manager **out_manager)
{
    return create(layout, undefined ? CC__SOURCE_UNDEFINED : CC__SOURCE_CONSTANT, out_manager);
}

/* What the caller has queued in `stream` comes before anything that the library does with the memory. */
static cc_status order_after(cc__data_manager *manager, const char *function, const cc__box *box, int32_t device,
                             cc_stream stream)
{
    cc__site *site = cc__data_manager_site(manager, device);
    cc__fence *fence = NULL;
    cc_status status = cc__data_manager_check_stream(manager, function, device, stream);
    if (status == CC_OK)
        status = cc__timeline_reserve(&site->timeline);
    if (status != CC_OK)
        return status;
    status = cc__fence_create(manager->backend, device, &fence);
    if (status == CC_OK)
        status = cc__fence_record(fence, stream, 0);
    if (status == CC_OK)
        cc__timeline_add(&site->timeline, box, CC__USE_WRITE_PARTS, fence);
    else
        cc__timeline_unreserve(&site->timeline);
    cc__fence_release(fence);
    return status;
}

cc_status cc__data_manager_order_after(cc__data_manager *manager, const char *function, const cc__box *box,
                                       int32_t device, cc_stream stream)
{
    cc__lock_take(&manager->lock);
    const cc_status status = order_after(manager, function, box, device, stream);
    cc__lock_let_go(&manager->lock);
    return status;
}

cc_status cc__data_manager_create_wrapped(const char *function, const cc__layout *layout,
                                          const cc__wrapped_memory *wrapped, cc__data_manager **out_manager)
{
    cc__layout dense = *layout;
    int64_t stride = layout->pixel_bytes;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        dense.stride[axis] = stride;
        stride *= layout->size[axis] > 0 ? layout->size[axis] : 1;
    }
    dense.extent_bytes = layout->extent_bytes == 0 ? 0 : stride;

    cc__data_manager *manager = NULL;
    const cc__sources source = wrapped->undefined ? CC__SOURCE_UNDEFINED : CC__SOURCE(wrapped->place);
    cc_status status = create(&dense, source, &manager);
    if (status == CC_OK && wrapped->place != CC_PLACE_HOST)
        status = cc__data_manager_use_devices(manager);
    if (status == CC_OK && wrapped->place != CC_PLACE_HOST && layout->extent_bytes > 0)
        status = order_after(manager, function, &manager->whole, wrapped->place, wrapped->stream);
    if (status != CC_OK) {
        cc__data_manager_release(manager);
        return status;
    }
    cc__place_memory *memory = &cc__data_manager_site(manager, wrapped->place)->memory;
    memory->pixels = wrapped->pixels;
    memory->size_bytes = wrapped->size_bytes;
    memory->is_wrapped = true;
    memcpy(memory->stride, layout->stride, sizeof memory->stride);
    if (wrapped->reused && wrapped->place == CC_PLACE_HOST && layout->extent_bytes > 0)
        status = cc__host_memory_make_lockable(memory);
    if (status != CC_OK) {
        cc__data_manager_release(manager);
        return status;
    }
    manager->read_only = wrapped->read_only;
    manager->release = wrapped->release;
    manager->release_data = wrapped->pixels;
    manager->release_user_data = wrapped->user_data;
    *out_manager = manager;
    return CC_OK;
}

cc__data_manager *cc__data_manager_retain(cc__data_manager *manager)
{
    atomic_fetch_add(&manager->references, 1);
    return manager;
}

void cc__data_manager_release(cc__data_manager *manager)
{
    if (manager != NULL && atomic_fetch_sub(&manager->references, 1) == 1)
        cc__data_manager_destroy(manager);
}

/* Nobody can be told that a wait failed, and memory must not go while work on it is under way: so there is a second
 * way. */
static bool wait_for(cc__fence *fence)
{
    cc__backend *backend = fence->backend;
    cc_stream stream = NULL;
    if (cc__fence_settle(fence) != CC_OK)
        return backend->stream_synchronize(backend, fence->device, fence->stream) == CC_OK;
    if (backend->event_synchronize(backend, fence->device, fence->event) == CC_OK)
        return true;
    return cc__transfer_stream_get(backend, fence->device, &stream) == CC_OK &&
           backend->stream_wait(backend, fence->device, stream, fence->event) == CC_OK &&
           backend->stream_synchronize(backend, fence->device, stream) == CC_OK;
}

static bool wait_for_all(const cc__timeline *timeline)
{
    bool is_settled = true;
    for (int32_t i = 0; i < timeline->count; ++i)
        if (!timeline->entries[i].fence->is_complete && !cc__timeline_entry_is_void(&timeline->entries[i]) &&
            !wait_for(timeline->entries[i].fence))
            is_settled = false;
    return is_settled;
}

/* A stream of the device that comes after all work of the timeline. */
static cc_status find_stream_after(cc__backend *backend, int32_t device, const cc__timeline *timeline,
                                   cc_stream *out_stream)
{
    cc_status status = cc__transfer_stream_get(backend, device, out_stream);
    for (int32_t i = 0; status == CC_OK && i < timeline->count; ++i) {
        cc__fence *fence = timeline->entries[i].fence;
        status = cc__fence_settle(fence);
        if (status == CC_OK)
            status = backend->stream_wait(backend, device, *out_stream, fence->event);
    }
    return status;
}

void cc__data_manager_let_go(cc__backend *backend, cc_place place, cc__site *site)
{
    cc_stream stream = NULL;
    bool is_settled = true;
    cc__error_state before;
    cc__error_save(&before);
    if (site->owes_synchronize && backend->synchronize(backend, place) != CC_OK && !site->memory.is_wrapped) {
        /* Rather lost than given to somebody else while it is in use. */
        memset(&site->memory, 0, sizeof site->memory);
    }
    if (place == CC_PLACE_HOST || site->memory.is_wrapped) {
        is_settled = wait_for_all(&site->timeline);
    } else if (site->memory.pixels != NULL && find_stream_after(backend, place, &site->timeline, &stream) != CC_OK) {
        (void)wait_for_all(&site->timeline);
        stream = NULL;
    }
    (void)cc__textures_free(site->textures, false);
    if (place == CC_PLACE_HOST)
        cc__host_memory_free(&site->memory, is_settled);
    else
        cc__device_memory_free(backend, place, stream, &site->memory);
    cc__timeline_destroy(&site->timeline);
    cc__fence_release(site->default_fence);
    cc__fence_release(site->spare_fence);
    cc__error_restore(&before);
}

void cc__data_manager_destroy(cc__data_manager *manager)
{
    const cc_release_fn release = manager->release;
    void *data = manager->release_data;
    void *user_data = manager->release_user_data;

    for (int32_t device = 0; manager->devices != NULL && device < manager->backend->device_count; ++device)
        cc__residents_remove(&manager->devices[device].resident);
    cc__account_close(&manager->account);
    cc__report_free(manager, CC_PLACE_HOST, &manager->host.memory, "", "no image uses the pixels any more");
    cc__data_manager_let_go(manager->backend, CC_PLACE_HOST, &manager->host);
    for (int32_t device = 0; manager->devices != NULL && device < manager->backend->device_count; ++device) {
        cc__textures_report_free(manager, device);
        cc__report_free(manager, device, &manager->devices[device].memory, "", "no image uses the pixels any more");
        cc__data_manager_let_go(manager->backend, device, &manager->devices[device]);
    }
    cc__allocator_release(manager->host_allocator);
    cc__allocator_release(manager->device_allocator);
    cc__free(manager->devices);
    cc__free(manager->claims);
    cc__free(manager->spare_works);
    cc__free(manager->spare_steps.steps);
    cc__mappings_destroy(&manager->mappings);
    cc__loans_destroy(manager);
    cc__validity_destroy(&manager->validity);
    cc__free(manager);
    if (release != NULL)
        release(data, user_data);
    cc__trace_tell();
}

cc_status cc__data_manager_make_devices(cc__data_manager *manager)
{
    cc__backend *backend = cc__backend_get();
    cc__site *devices = cc__allocate((size_t)backend->device_count * sizeof *devices);
    if (devices == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__data_manager_use_devices: no memory for %d devices",
                        backend->device_count);
    manager->backend = backend;
    manager->devices = devices;
    return CC_OK;
}

bool cc__data_manager_is_whole(const cc__data_manager *manager, const cc__box *box)
{
    return cc__box_equal(&manager->whole, box);
}

bool cc__data_manager_is_read_only(const cc__data_manager *manager)
{
    return manager->read_only;
}

void cc__data_manager_get_strides(cc__data_manager *manager, cc_place place, int64_t out_stride[CC_MAX_DIMENSION])
{
    cc__lock_take(&manager->lock);
    const cc__site *site = cc__data_manager_site(manager, place);
    memcpy(out_stride, manager->layout.stride, sizeof manager->layout.stride);
    if (site != NULL && site->memory.is_wrapped)
        memcpy(out_stride, site->memory.stride, sizeof site->memory.stride);
    cc__lock_let_go(&manager->lock);
}

uint64_t cc__data_manager_generation(cc__data_manager *manager)
{
    cc__lock_take(&manager->lock);
    /* A borrower may have written since somebody asked last. */
    if (cc__loans_may_write(manager))
        ++manager->generation;
    const uint64_t generation = manager->generation;
    cc__lock_let_go(&manager->lock);
    return generation;
}

cc_counters cc__data_manager_counters(cc__data_manager *manager)
{
    cc__lock_take(&manager->lock);
    const cc_counters counters = manager->counters;
    cc__lock_let_go(&manager->lock);
    return counters;
}

cc_place_state cc__data_manager_place_state(cc__data_manager *manager, cc_place place, const cc__box *box)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    cc__lock_take(&manager->lock);
    if (manager->loans != NULL)
        cc__loans_forget_copies(manager);
    const cc__site *site = cc__data_manager_site(manager, place);
    if (site != NULL) {
        state.memory_bytes = site->memory.size_bytes;
        state.locked_bytes = cc__place_memory_locked_bytes(&site->memory);
        state.texture_bytes = cc__textures_bytes(manager, place);
    }
    for (const cc__lent *lent = manager->loans; lent != NULL; lent = lent->next)
        state.loan_count += !lent->has_ended && lent->place == place;
    state.mapping_count = cc__mappings_count_at(&manager->mappings, place);
    if (place < CC__MAX_DEVICES)
        state.valid_pixels = cc__validity_count_pixels(&manager->validity, box, CC__SOURCE(place));
    state.constant_pixels = cc__validity_count_pixels(&manager->validity, box, CC__SOURCE_CONSTANT);
    cc__lock_let_go(&manager->lock);
    return state;
}

typedef struct box_array {
    cc__box *boxes;
    int32_t count;
    int32_t capacity;
} box_array;

static cc_status add_box(void *context, const cc__box *box)
{
    box_array *array = context;
    if (array->count < array->capacity)
        array->boxes[array->count] = *box;
    ++array->count;
    return CC_OK;
}

cc_status cc__data_manager_valid_boxes(cc__data_manager *manager, cc_place place, const cc__box *box, int32_t capacity,
                                       cc__box *out_boxes, int32_t *out_count)
{
    const cc__validity *validity = &manager->validity;
    box_array array = {.boxes = out_boxes, .capacity = capacity};
    cc__cells_walk walk;
    cc_status status = CC_OK;
    *out_count = 0;
    if (place >= CC__MAX_DEVICES)
        return CC_OK;
    cc__lock_take(&manager->lock);
    if (manager->loans != NULL)
        cc__loans_forget_copies(manager);
    cc__cells_begin(&walk, &validity->cells, box, 0);
    for (int32_t at = cc__cells_next(&walk); at != CC__NO_CELL; at = cc__cells_next(&walk)) {
        const cc__cell *cell = cc__cells_get(&validity->cells, at);
        cc__box inside;
        if ((cell->sources & CC__SOURCE(place)) != 0 && cc__box_intersect(&cell->box, box, &inside))
            (void)add_box(&array, &inside);
    }
    if ((validity->rest & CC__SOURCE(place)) != 0)
        status = cc__validity_rest_parts(validity, box, add_box, &array);
    cc__lock_let_go(&manager->lock);
    *out_count = array.count;
    return status;
}

bool cc__data_manager_has_memory(cc__data_manager *manager, cc_place place)
{
    cc__lock_take(&manager->lock);
    const cc__site *site = cc__data_manager_site(manager, place);
    const bool has = site != NULL && site->memory.pixels != NULL;
    cc__lock_let_go(&manager->lock);
    return has;
}

bool cc__data_manager_has_device_memory(cc__data_manager *manager)
{
    bool has = false;
    cc__lock_take(&manager->lock);
    for (int32_t device = 0; manager->devices != NULL && device < manager->backend->device_count; ++device)
        has = has || manager->devices[device].memory.pixels != NULL;
    cc__lock_let_go(&manager->lock);
    return has;
}
