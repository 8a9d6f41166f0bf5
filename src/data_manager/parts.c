#include "data_manager/parts.h"

#include "base/error.h"
#include "data_manager/eviction.h"
#include "data_manager/lent.h"
#include "data_manager/report.h"
#include "data_manager/textures.h"
#include "data_manager/transfer.h"

static cc_status wait_for_others(cc__data_manager *manager, const cc__box *box, cc__use use)
{
    cc__fences fences = {0};
    cc_status status = cc__timeline_collect(&manager->host.timeline, box, use, &cc__waiter_host, &fences);
    if (status == CC_OK && fences.count > 0) {
        cc__lock_let_go(&manager->lock);
        status = cc__fences_synchronize(&fences);
        cc__lock_take(&manager->lock);
        if (status == CC_OK)
            cc__fences_mark_complete(&fences);
    }
    cc__fences_destroy(&fences);
    return status;
}

static cc_status begin(cc__data_manager *manager, const cc__access_request *request, cc__mapping **out_mapping)
{
    const bool writes = request->access != CC_ACCESS_READ;
    cc_status status = CC_OK;
    if (writes && manager->read_only)
        return cc__fail(CC_ERROR_READ_ONLY, "%s: the pixels were wrapped read-only", request->function);
    cc__eviction_wait(manager);
    const cc__mapping *holder = cc__mappings_find_conflict(&manager->mappings, &request->box, request->access);
    if (holder != NULL)
        return cc__data_manager_fail_busy(manager, request->function, holder);
    if (manager->loans != NULL)
        status = cc__loans_admit(manager, request->function, &request->box, CC_PLACE_HOST, request->access);
    if (status == CC_OK)
        status = cc__timeline_reserve(&manager->host.timeline);
    if (status != CC_OK)
        return status;
    cc__mapping *mapping =
        cc__mappings_add(&manager->mappings, request->owner, CC_PLACE_HOST, request->access, &request->box);
    if (mapping == NULL) {
        cc__timeline_unreserve(&manager->host.timeline);
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for a mapping", request->function);
    }
    mapping->function = request->function;
    if (writes && manager->host.memory.pixels == NULL)
        status = cc__data_manager_bring(manager, request->function, &request->box, CC_PLACE_HOST, false, CC__PLAN_STALE,
                                        true);
    if (status == CC_OK && writes)
        status = wait_for_others(manager, &request->box, CC__USE_WRITE);
    if (status == CC_OK) {
        *out_mapping = mapping;
    } else {
        cc__timeline_unreserve(&manager->host.timeline);
        cc__mappings_remove(&manager->mappings, mapping);
    }
    return status;
}

cc_status cc__data_manager_begin_parts(cc__data_manager *manager, const cc__access_request *request,
                                       cc__mapping **out_mapping)
{
    cc__lock_take(&manager->lock);
    const cc_status status = begin(manager, request, out_mapping);
    cc__lock_let_go(&manager->lock);
    return status;
}

cc_status cc__data_manager_bring_part(cc__data_manager *manager, const cc__mapping *mapping, const cc__box *box)
{
    cc_status status = CC_OK;
    cc__lock_take(&manager->lock);
    cc__eviction_wait(manager);
    if (manager->host.memory.pixels == NULL || !cc__validity_has(&manager->validity, box, CC__SOURCE(CC_PLACE_HOST))) {
        status = cc__loans_wait_for_devices(manager, mapping);
        if (status == CC_OK)
            status = cc__data_manager_bring(manager, mapping->function, box, CC_PLACE_HOST, true, CC__PLAN_STALE, true);
    }
    if (status == CC_OK)
        status = wait_for_others(manager, box, CC__USE_READ);
    cc__lock_let_go(&manager->lock);
    return status;
}

cc_status cc__data_manager_commit_part(cc__data_manager *manager, const cc__box *box)
{
    const cc__sources host = CC__SOURCE(CC_PLACE_HOST);
    cc_status status = CC_OK;
    cc__lock_take(&manager->lock);
    if (cc__validity_would_change(&manager->validity, box, 0, host)) {
        status = cc__validity_prepare(&manager->validity, box, 0, host);
        if (status == CC_OK) {
            cc__validity_install(&manager->validity);
            cc__eviction_reconsider(manager);
        } else {
            cc__validity_forget(&manager->validity, box, host);
        }
    }
    ++manager->generation;
    cc__textures_age(manager, box);
    cc__lock_let_go(&manager->lock);
    return status;
}

void cc__data_manager_give_up_part(cc__data_manager *manager, const cc__box *box)
{
    cc__lock_take(&manager->lock);
    cc__validity_forget(&manager->validity, box, CC__SOURCE(CC_PLACE_HOST));
    cc__eviction_reconsider(manager);
    ++manager->generation;
    cc__textures_age(manager, box);
    cc__lock_let_go(&manager->lock);
}

cc__place_memory cc__data_manager_host_memory(cc__data_manager *manager)
{
    cc__lock_take(&manager->lock);
    const cc__place_memory memory = manager->host.memory;
    cc__lock_let_go(&manager->lock);
    return memory;
}

void cc__data_manager_count_part(cc__data_manager *manager, const char *function, const cc__box *box,
                                 const cc__movement *movement, uint64_t began)
{
    const cc__report_tile tile = {.function = function,
                                  .device = movement->device,
                                  .is_up = movement->host == CC__SIDE_SOURCE,
                                  .box = *box,
                                  .moved = &movement->tally,
                                  .locked_bytes = movement->locked_bytes,
                                  .began = began};
    cc__lock_take(&manager->lock);
    cc__report_tile_moved(manager, &tile);
    cc__lock_let_go(&manager->lock);
}

cc_status cc__data_manager_finish_parts(cc__data_manager *manager, const cc__mapping *mapping)
{
    cc_status status = CC_OK;
    cc__lock_take(&manager->lock);
    if (manager->loans != NULL)
        status = cc__loans_bring_back(manager, mapping->function, mapping);
    cc__lock_let_go(&manager->lock);
    return status;
}

/* Not as a mapping of the application's: what its own readers share with others that begin at the same pixel stays. */
void cc__data_manager_end_parts(cc__data_manager *manager, cc__mapping *mapping, cc__fence *fence)
{
    const bool writes = mapping->access != CC_ACCESS_READ;
    cc__lock_take(&manager->lock);
    if (fence != NULL)
        cc__timeline_add(&manager->host.timeline, &mapping->box, writes ? CC__USE_WRITE : CC__USE_READ, fence);
    else
        cc__timeline_unreserve(&manager->host.timeline);
    manager->generation += writes;
    if (writes)
        cc__textures_age(manager, &mapping->box);
    cc__mappings_remove(&manager->mappings, mapping);
    cc__lock_let_go(&manager->lock);
}
