#include "data_manager/lost.h"

#include "data_manager/eviction.h"
#include "data_manager/report.h"

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

bool cc__lost_leave_host(cc__data_manager *manager, const char *function, const cc__box *box)
{
    const cc__sources host = CC__SOURCE(CC_PLACE_HOST);
    const cc__sources lost = cc__lost_devices(manager);
    const cc__timeline *timeline = &manager->host.timeline;
    bool is_doubtful = false;
    for (int32_t i = 0; lost != 0 && i < timeline->count && !is_doubtful; ++i)
        is_doubtful = may_be_written(&timeline->entries[i], lost) && cc__box_overlaps(&timeline->entries[i].box, box);
    if (!is_doubtful || manager->host.memory.is_wrapped || manager->mappings.count > 1 || manager->claim_count > 0 ||
        manager->loans != NULL || cc__validity_has_exactly(&manager->validity, host))
        return false;
    cc__validity_drop(&manager->validity, host);
    cc__site gone = cc__eviction_take_out(manager, CC_PLACE_HOST);
    cc__report_eviction(manager, CC_PLACE_HOST, &gone.memory, function, "a lost device may still be writing there");
    cc__lock_let_go(&manager->lock);
    cc__data_manager_let_go(manager->backend, CC_PLACE_HOST, &gone);
    cc__lock_take(&manager->lock);
    return true;
}
