/* Making pixels valid at a place: plan, execute, commit. */
#include "base/error.h"
#include "data_manager/internal.h"
#include "data_manager/lent.h"
#include "data_manager/lost.h"
#include "data_manager/report.h"
#include "data_manager/transfer.h"
#include "trace/trace.h"

static cc__plan_topology topology_of(const cc__data_manager *manager, cc_place place)
{
    cc__plan_topology topology = {0};
    cc__backend *backend = manager->backend;
    if (place == CC_PLACE_HOST)
        return topology;
    for (int32_t device = 0; device < backend->device_count; ++device)
        if (device != place && manager->devices[device].memory.pixels != NULL &&
            backend->has_peer_access(backend, place, device))
            topology.peers |= CC__SOURCE(device);
    return topology;
}

cc_status cc__data_manager_execute(cc__data_manager *manager, const cc__plan *plan, const cc__box *box, cc_place place,
                                   bool synchronizes)
{
    cc__transfer transfer;
    cc_status status = cc__transfer_prepare(&transfer, manager, plan, box, place, synchronizes);
    if (status != CC_OK)
        return status;
    cc__lock_let_go(&manager->lock);
    const uint64_t began = cc__report_clock();
    cc__trace_hold();
    if (transfer.backend != NULL)
        transfer.backend->range_push(transfer.backend, plan->asked_by != NULL ? plan->asked_by : "cudacommon");
    status = cc__transfer_run(&transfer);
    if (transfer.backend != NULL)
        transfer.backend->range_pop(transfer.backend);
    cc__lock_take(&manager->lock);
    status = cc__transfer_finish(&transfer, status);
    cc__trace_let_go();
    if (status == CC_OK)
        cc__report_transfer(&transfer, began);
    return status;
}

cc_status cc__data_manager_bring(cc__data_manager *manager, const char *function, const cc__box *box, cc_place place,
                                 bool reads, cc__plan_scope scope, bool synchronizes)
{
    const cc__site *site = cc__data_manager_site(manager, place);
    const uint64_t box_bytes = (uint64_t)(cc__box_pixels(box) * manager->layout.pixel_bytes);
    cc__plan plan;
    cc__error_state before;
    cc_status status = CC_OK;
    cc__error_save(&before);
    for (;;) {
        const cc__sources lost = cc__lost_devices(manager);
        cc__plan_init(&plan);
        if (lost != 0)
            cc__lost_forget(manager, lost);
        if (place == CC_PLACE_HOST && cc__lost_leave_host(manager, function, box))
            continue;
        if (reads) {
            const cc__plan_topology topology = topology_of(manager, place);
            status =
                cc__plan_make_in(&manager->spare_steps, &manager->validity, box, place, scope, place, &topology, &plan);
        }
        if (status == CC_OK && plan.reads_undefined && scope == CC__PLAN_STALE)
            status = cc__data_manager_fail_undefined(manager, function);
        if (status != CC_OK || (plan.count == 0 && site->memory.pixels != NULL))
            break;
        plan.asked_by = function;
        /* The borrower may write as soon as the caller is back, and nobody can make it wait. */
        if (place != CC_PLACE_HOST && cc__lent_find_writer(manager->loans, box, CC_PLACE_HOST) != NULL)
            synchronizes = true;
        const cc__box *filled = site->memory.pixels == NULL ? &manager->whole : box;
        if (!cc__transfer_has_claim(manager, place, filled)) {
            status = cc__data_manager_execute(manager, &plan, box, place, synchronizes);
            /* What has been found out by failing is planned with; each time there is one device less. */
            if (status != CC_ERROR_DEVICE || cc__lost_devices(manager) == lost)
                break;
            cc__error_restore(&before);
            cc__plan_destroy(&plan);
            continue;
        }
        cc__plan_destroy(&plan);
        cc__transfer_wait_for_claims(manager, place, filled);
    }
    if (status == CC_OK) {
        uint64_t copied_bytes = 0;
        for (int32_t i = 0, end = 0; i < plan.count; i = end) {
            end = cc__plan_end_of_origin(&plan, i);
            if (plan.steps[i].kind == CC__STEP_COPY)
                copied_bytes += (uint64_t)(cc__plan_pixels(&plan, i, end) * manager->layout.pixel_bytes);
        }
        manager->counters.avoided_copies += copied_bytes == 0;
        manager->counters.avoided_bytes += box_bytes - copied_bytes;
    }
    cc__plan_leave(&plan, &manager->spare_steps);
    if (status == CC_OK && manager->loans != NULL)
        status = cc__loans_follow(manager, box);
    return status;
}
