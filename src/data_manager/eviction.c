#include "data_manager/eviction.h"

#include "base/error.h"
#include "data_manager/lent.h"
#include "data_manager/lost.h"
#include "data_manager/report.h"
#include "data_manager/textures.h"
#include "data_manager/transfer.h"
#include "memory/budget.h"
#include "memory/transfer_streams.h"
#include "trace/trace.h"

#include <string.h>

void cc__eviction_forget_dirty(cc__data_manager *manager)
{
    for (int32_t device = 0; device < manager->backend->device_count; ++device)
        cc__residents_set_dirty(&manager->devices[device].resident, false);
    manager->has_dirty_residents = false;
}

cc__site cc__eviction_take_out(cc__data_manager *manager, cc_place place)
{
    cc__site *site = cc__data_manager_site(manager, place);
    cc__residents_remove(&site->resident);
    cc__textures_report_free(manager, place);
    const cc__site gone = *site;
    memset(site, 0, sizeof *site);
    return gone;
}

/* Copies what only `place` has to `target`. With the lock held; *out_moved tells whether there was anything. */
static cc_status move_out(cc__data_manager *manager, const char *function, cc_place place, cc_place target,
                          bool *out_moved)
{
    const cc__plan_topology topology = {0};
    cc__plan plan;
    cc__mapping *mapping = NULL;
    cc_status status =
        cc__plan_make(&manager->validity, &manager->whole, target, CC__PLAN_ONLY_AT, place, &topology, &plan);
    if (status != CC_OK)
        return status;
    plan.asked_by = function;
    *out_moved = plan.count > 0;
    if (plan.count == 0)
        goto done;
    if (place == CC_PLACE_HOST && target == CC_PLACE_HOST)
        status = cc__fail(CC_ERROR_NO_DEVICE, "%s: place = host, and no device to keep the pixels on", function);
    else if (target != CC_PLACE_HOST)
        status = cc__data_manager_use_devices(manager);
    if (status != CC_OK)
        goto done;
    mapping = cc__mappings_add(&manager->mappings, NULL, target, CC_ACCESS_READ, &manager->whole);
    if (mapping == NULL) {
        status = cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for a mapping", function);
        goto done;
    }
    manager->is_moving_out = true;
    status = cc__data_manager_execute(manager, &plan, NULL, target, target == CC_PLACE_HOST);
    manager->is_moving_out = false;
    cc__lock_tell(&manager->lock);
    cc__mappings_remove(&manager->mappings, mapping);
done:
    cc__plan_destroy(&plan);
    return status;
}

/* Also by a loan that has ended, of which somebody has an older copy: that would be copied over. */
static bool is_lent(const cc__data_manager *manager, cc_place place)
{
    for (const cc__lent *lent = manager->loans; lent != NULL; lent = lent->next)
        if (lent->place == place)
            return true;
    return false;
}

static bool is_mapped(const cc__data_manager *manager, cc_place place)
{
    return cc__mappings_count_at(&manager->mappings, place) > 0 || cc__mappings_have_writer(&manager->mappings);
}

static bool is_in_use(const cc__data_manager *manager, cc_place place)
{
    return is_mapped(manager, place) || is_lent(manager, place);
}

cc_status cc__data_manager_evict(cc__data_manager *manager, const char *function, cc_place place,
                                 int32_t fallback_device)
{
    const cc_place target = place == CC_PLACE_HOST && fallback_device >= 0 ? fallback_device : CC_PLACE_HOST;
    cc__backend *backend = NULL;
    cc__site *site = NULL;
    cc__textured *unused = NULL;
    cc__site gone = {0};
    cc_status status = CC_OK;
    bool moved = true;

    cc__lock_take(&manager->lock);
    while (status == CC_OK && moved) {
        /* A thread that is copying without the lock may be using the place's memory. */
        while (manager->claim_count > 0 || manager->is_moving_out)
            cc__lock_wait(&manager->lock);
        if (cc__loans_owe(manager, place)) {
            status = cc__loans_pay(manager, place);
            continue;
        }
        cc__loans_forget_ended(manager, NULL);
        site = cc__data_manager_site(manager, place);
        if (site != NULL && site->memory.is_wrapped && unused == NULL)
            unused = cc__textures_take_unused(manager, function, place);
        if (site == NULL || site->memory.pixels == NULL || site->memory.is_wrapped)
            goto unlock;
        if (is_lent(manager, place)) {
            status =
                cc__fail(CC_ERROR_BUSY, "%s: place = %d has pixels that are lent; end the loan first", function, place);
            goto unlock;
        }
        if (is_in_use(manager, place)) {
            status =
                cc__fail(CC_ERROR_BUSY, "%s: place = %d has pixels that are mapped; unmap them first", function, place);
            goto unlock;
        }
        cc__lost_forget_all(manager);
        status = move_out(manager, function, place, target, &moved);
    }
    if (status == CC_OK) {
        cc__validity_drop(&manager->validity, CC__SOURCE(place));
        gone = cc__eviction_take_out(manager, place);
        cc__report_eviction(manager, place, &gone.memory, function, "asked for");
    }
unlock:
    backend = manager->backend;
    cc__lock_let_go(&manager->lock);
    cc__data_manager_let_go(backend, place, &gone);
    (void)cc__textures_free(unused, false);
    return status;
}

static bool is_only_place_of_some(const cc__data_manager *manager, cc_place place)
{
    return cc__validity_has_exactly(&manager->validity, CC__SOURCE(place));
}

/*
 * What cc__data_manager_evict() does, for a data manager that somebody else may be using: then, or when its pixels
 * cannot be copied, it stays. The first time that it turns out to be the only place of some pixels, it is put behind
 * those that need no copy. Returns the bytes freed.
 */
static size_t try_to_evict(cc__data_manager *manager, cc_place device, bool may_copy)
{
    cc__backend *backend = NULL;
    cc__textured *unused = NULL;
    cc__site gone = {0};
    size_t freed_bytes = 0;
    bool is_dirty = false;
    bool moved = true;
    cc_status status = CC_OK;

    cc__lock_take(&manager->lock);
    /* What can be made again from pixels that are here goes before these, and also while somebody uses them. */
    unused = cc__textures_take_unused(manager, "eviction", device);
    if (unused != NULL)
        goto unlock;
    do {
        if (is_mapped(manager, device) || (cc__loans_owe(manager, device) && cc__loans_pay(manager, device) != CC_OK))
            goto unlock;
        cc__loans_forget_ended(manager, NULL);
        const cc__site *site = cc__data_manager_site(manager, device);
        if (site->memory.pixels == NULL || site->memory.is_wrapped || manager->claim_count > 0 ||
            manager->is_moving_out || is_in_use(manager, device))
            goto unlock;
        cc__lost_forget_all(manager);
        is_dirty = is_only_place_of_some(manager, device);
        if (is_dirty && !may_copy) {
            manager->has_dirty_residents = true;
            cc__residents_set_dirty(&manager->devices[device].resident, true);
            goto unlock;
        }
        if (is_dirty)
            status = move_out(manager, "eviction", device, CC_PLACE_HOST, &moved);
    } while (is_dirty && moved && status == CC_OK);
    if (status == CC_OK) {
        cc__validity_drop(&manager->validity, CC__SOURCE(device));
        gone = cc__eviction_take_out(manager, device);
        cc__report_eviction(manager, device, &gone.memory, "eviction", "others need room on the device");
        freed_bytes = gone.memory.size_bytes;
    }
unlock:
    backend = manager->backend;
    cc__lock_let_go(&manager->lock);
    cc__data_manager_let_go(backend, device, &gone);
    return freed_bytes + cc__textures_free(unused, true);
}

/* Whether there may be more room than before. */
static bool make_room(int32_t device, size_t needed_bytes)
{
    cc__residents_round round;
    cc__data_manager *manager = NULL;
    size_t freed_bytes = 0;
    bool is_dirty = false;
    cc__error_state before;
    cc__error_save(&before);
    cc__trace_hold();
    cc__residents_begin(&round, device);
    while (freed_bytes < needed_bytes && cc__residents_next(&round, &manager, &is_dirty) != NULL) {
        freed_bytes += try_to_evict(manager, device, is_dirty);
        cc__data_manager_release(manager);
    }
    const bool changed = cc__residents_end(&round, freed_bytes > 0);
    cc__trace_let_go();
    cc__error_restore(&before);
    return changed;
}

/* Others may take what was freed; that many times in a row it is given up. */
#define MOST_ATTEMPTS 100

cc_status cc__eviction_make(cc__backend *backend, int32_t device, size_t size_bytes,
                            cc_status (*allocate)(void *context), void *context)
{
    cc_status status = CC_OK;
    cc__data_managers_free_leftovers();
    for (int32_t attempt = 0; attempt < MOST_ATTEMPTS; ++attempt) {
        status = allocate(context);
        if (status != CC_ERROR_OUT_OF_DEVICE_MEMORY || !cc__budget_could_hold(backend, device, size_bytes))
            return status;
        if (cc__data_managers_free_textures(true))
            continue;
        /* Within the limit it is the device that is full; then the image's own size is the best guess. */
        const size_t excess_bytes = cc__budget_excess(device, size_bytes);
        if (!make_room(device, excess_bytes > 0 ? excess_bytes : size_bytes))
            return status;
        /* The device counts memory as free when its free has run. */
        if (cc__budget_get(device).headroom_bytes > 0)
            cc__transfer_streams_synchronize(backend, device);
    }
    return status;
}

typedef struct pixel_memory {
    cc__backend *backend;
    int32_t device;
    cc_stream stream;
    const cc__layout *layout;
    cc__allocator *allocator;
    cc__place_memory *memory;
} pixel_memory;

static cc_status allocate_pixels(void *context)
{
    const pixel_memory *of = context;
    return cc__device_memory_allocate(of->backend, of->device, of->stream, of->layout, of->allocator, of->memory);
}

cc_status cc__eviction_allocate(cc__backend *backend, int32_t device, cc_stream stream, const cc__layout *layout,
                                cc__allocator *allocator, cc__place_memory *out_memory)
{
    pixel_memory of = {backend, device, stream, layout, allocator, out_memory};
    return cc__eviction_make(backend, device, (size_t)layout->extent_bytes, allocate_pixels, &of);
}

void cc__data_managers_keep_limit(int32_t device)
{
    size_t excess_bytes = 0;
    cc__data_managers_free_leftovers();
    while (cc__budget_get(device).limit_bytes > 0 && (excess_bytes = cc__budget_excess(device, 0)) > 0)
        if (!make_room(device, excess_bytes))
            return;
}
