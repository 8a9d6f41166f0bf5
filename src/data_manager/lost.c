#include "data_manager/lost.h"

#include "base/error.h"
#include "data_manager/eviction.h"
#include "data_manager/report.h"

#include <string.h>

cc__sources cc__lost_devices(const cc__data_manager *manager)
{
    cc__backend *backend = manager->backend;
    cc__sources lost = 0;
    for (int32_t device = 0; manager->devices != NULL && device < backend->device_count; ++device)
        if (backend->is_lost(backend, device))
            lost |= CC__SOURCE(device);
    return lost;
}

/* What it only reads for itself does not matter. */
static bool may_be_written(const cc__timeline_entry *entry, cc__sources lost)
{
    const cc__fence *fence = entry->fence;
    return entry->use != CC__USE_READ && !fence->is_standing && !fence->is_complete &&
           (lost & CC__SOURCE(fence->device)) != 0;
}

void cc__lost_forget(cc__data_manager *manager, cc__sources lost)
{
    const cc__timeline *timeline = &manager->host.timeline;
    for (int32_t i = 0; i < timeline->count; ++i)
        if (may_be_written(&timeline->entries[i], lost))
            cc__validity_forget(&manager->validity, &timeline->entries[i].box, lost | CC__SOURCE(CC_PLACE_HOST));
    cc__validity_forget(&manager->validity, &manager->whole, lost);
    cc__eviction_reconsider(manager);
}

/* Whether pixels of the box are where a lost device may still be writing. */
static bool is_doubtful(const cc__data_manager *manager, cc__sources lost, const cc__box *box)
{
    const cc__timeline *timeline = &manager->host.timeline;
    for (int32_t i = 0; lost != 0 && i < timeline->count; ++i)
        if (may_be_written(&timeline->entries[i], lost) && cc__box_overlaps(&timeline->entries[i].box, box))
            return true;
    return false;
}

/* Whether nobody else writes the host's memory, and what is only there is not what may be overwritten. */
static bool may_copy(const cc__data_manager *manager, cc__sources lost)
{
    const cc__timeline *timeline = &manager->host.timeline;
    for (int32_t i = 0; i < timeline->count; ++i) {
        const cc__timeline_entry *entry = &timeline->entries[i];
        if (entry->use == CC__USE_READ || entry->fence->is_complete)
            continue;
        if (!may_be_written(entry, lost) ||
            cc__validity_count_pixels(&manager->validity, &entry->box, CC__SOURCE(CC_PLACE_HOST)) > 0)
            return false;
    }
    return true;
}

/* Other memory with the same pixels. The lock is given up meanwhile. */
static bool copy_host(cc__data_manager *manager, cc__place_memory *out_memory)
{
    cc__error_state before;
    cc__error_save(&before);
    manager->is_moving_out = true;
    cc__lock_let_go(&manager->lock);
    const bool is_there = cc__host_memory_allocate(&manager->layout, manager->host_allocator, out_memory) == CC_OK;
    if (is_there)
        memcpy(out_memory->pixels, manager->host.memory.pixels, out_memory->size_bytes);
    else
        cc__error_restore(&before);
    cc__lock_take(&manager->lock);
    manager->is_moving_out = false;
    cc__lock_tell(&manager->lock);
    return is_there;
}

bool cc__lost_leave_host(cc__data_manager *manager, const char *function, const cc__box *box)
{
    const cc__sources host = CC__SOURCE(CC_PLACE_HOST);
    const cc__sources lost = cc__lost_devices(manager);
    cc__place_memory memory = {0};
    if (!is_doubtful(manager, lost, box) || manager->host.memory.is_wrapped || manager->mappings.count > 1 ||
        manager->claim_count > 0 || manager->loans != NULL)
        return false;
    if (!cc__validity_has_exactly(&manager->validity, host))
        cc__validity_drop(&manager->validity, host);
    else if (!may_copy(manager, lost) || !copy_host(manager, &memory))
        return false;
    cc__site gone = cc__eviction_take_out(manager, CC_PLACE_HOST);
    cc__report_eviction(manager, CC_PLACE_HOST, &gone.memory, function, "a lost device may still be writing there");
    if (memory.pixels != NULL) {
        manager->host.memory = memory;
        ++manager->counters.host_allocations;
        cc__report_allocation(manager, CC_PLACE_HOST, &memory, function, "pixels that are nowhere else");
    }
    cc__lock_let_go(&manager->lock);
    cc__data_manager_let_go(manager->backend, CC_PLACE_HOST, &gone);
    cc__lock_take(&manager->lock);
    return true;
}
