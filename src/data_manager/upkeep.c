/* What changes where pixels are without lending them: the fill value, prefetch, discarding; and the priority. */
#include "base/allocate.h"
#include "base/error.h"
#include "data_manager/eviction.h"
#include "data_manager/internal.h"
#include "data_manager/lent.h"
#include "data_manager/report.h"
#include "data_manager/textures.h"
#include "data_manager/transfer.h"

#include <string.h>

static bool is_all_zero(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (bytes[i] != 0)
            return false;
    return true;
}

cc_status cc__data_manager_set_constant(cc__data_manager *manager, const char *function, const void *value,
                                        bool *out_noted)
{
    const size_t pixel_bytes = (size_t)manager->layout.pixel_bytes;
    cc_status status = CC_OK;
    cc__lock_take(&manager->lock);
    cc__eviction_wait(manager);
    const cc__mapping *holder = cc__mappings_find_conflict(&manager->mappings, &manager->whole, CC_ACCESS_WRITE);
    if (manager->read_only) {
        status = cc__fail(CC_ERROR_READ_ONLY, "%s: the pixels were wrapped read-only", function);
    } else if (holder != NULL) {
        status = cc__data_manager_fail_busy(manager, function, holder);
    } else if (cc__lent_find(manager->loans, &manager->whole, CC_DEVICE_CURRENT) != NULL) {
        *out_noted = false;
    } else {
        *out_noted = true;
        memcpy(manager->constant, value, pixel_bytes);
        manager->constant_is_zero = is_all_zero(manager->constant, pixel_bytes);
        cc__validity_reset(&manager->validity, CC__SOURCE_CONSTANT);
        cc__eviction_reconsider(manager);
        ++manager->generation;
        cc__textures_age(manager, &manager->whole);
    }
    cc__lock_let_go(&manager->lock);
    return status;
}

cc_status cc__data_manager_prefetch(cc__data_manager *manager, const char *function, const cc__box *box, cc_place place)
{
    cc_status status = CC_OK;
    cc__lock_take(&manager->lock);
    cc__eviction_wait(manager);
    const cc__mapping *holder = cc__mappings_find_conflict(&manager->mappings, box, CC_ACCESS_READ);
    if (holder != NULL)
        status = cc__data_manager_fail_busy(manager, function, holder);
    else if (manager->loans != NULL)
        status = cc__loans_admit(manager, function, box, place, CC_ACCESS_READ);
    if (status == CC_OK && place != CC_PLACE_HOST)
        status = cc__data_manager_use_devices(manager);
    if (status != CC_OK)
        goto unlock;
    cc__mapping *mapping = cc__mappings_add(&manager->mappings, NULL, place, CC_ACCESS_READ, box);
    if (mapping == NULL) {
        status = cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for a mapping", function);
        goto unlock;
    }
    status = cc__data_manager_bring(manager, function, box, place, true, CC__PLAN_STALE, false);
    if (status == CC_OK && place != CC_PLACE_HOST)
        cc__resident_use(&manager->devices[place].resident);
    cc__mappings_remove(&manager->mappings, mapping);
unlock:
    cc__lock_let_go(&manager->lock);
    return status;
}

/* Whether the place has memory of the library's own that nobody uses. */
static bool may_go_from(const cc__data_manager *manager, const cc__site *site, cc_place place)
{
    return site->memory.pixels != NULL && !site->memory.is_wrapped &&
           cc__mappings_count_at(&manager->mappings, place) == 0;
}

cc_status cc__data_manager_discard(cc__data_manager *manager, const char *function, const cc__box *box)
{
    cc__backend *backend = NULL;
    cc__site host = {0};
    cc__site *devices = NULL;
    cc_status status = CC_OK;

    cc__lock_take(&manager->lock);
    while (manager->claim_count > 0 || manager->is_moving_out)
        cc__lock_wait(&manager->lock);
    const cc__mapping *holder = cc__mappings_find_conflict(&manager->mappings, box, CC_ACCESS_WRITE);
    const cc__lent *lent = cc__lent_find(manager->loans, box, CC_DEVICE_CURRENT);
    if (manager->read_only)
        status = cc__fail(CC_ERROR_READ_ONLY, "%s: the pixels were wrapped read-only", function);
    else if (holder != NULL)
        status = cc__data_manager_fail_busy(manager, function, holder);
    else if (lent != NULL)
        status = cc__loans_fail_busy(function, lent);
    else
        status = cc__validity_prepare(&manager->validity, box, 0, CC__SOURCE_UNDEFINED);
    backend = manager->backend;
    if (status == CC_OK && manager->devices != NULL) {
        devices = cc__allocate((size_t)backend->device_count * sizeof *devices);
        if (devices == NULL)
            status =
                cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for %d devices", function, backend->device_count);
    }
    if (status == CC_OK) {
        cc__validity_install(&manager->validity);
        ++manager->generation;
        cc__textures_age(manager, box);
        cc__eviction_reconsider(manager);
        if (cc__validity_has(&manager->validity, &manager->whole, CC__SOURCE_UNDEFINED)) {
            if (may_go_from(manager, &manager->host, CC_PLACE_HOST))
                host = cc__eviction_take_out(manager, CC_PLACE_HOST);
            cc__report_free(manager, CC_PLACE_HOST, &host.memory, function, "discarded");
            for (int32_t device = 0; devices != NULL && device < backend->device_count; ++device) {
                if (may_go_from(manager, &manager->devices[device], device))
                    devices[device] = cc__eviction_take_out(manager, device);
                cc__report_free(manager, device, &devices[device].memory, function, "discarded");
            }
        }
    }
    cc__lock_let_go(&manager->lock);
    cc__data_manager_let_go(backend, CC_PLACE_HOST, &host);
    for (int32_t device = 0; devices != NULL && device < backend->device_count; ++device)
        cc__data_manager_let_go(backend, device, &devices[device]);
    cc__free(devices);
    return status;
}

void cc__data_manager_set_priority(cc__data_manager *manager, int32_t priority)
{
    cc__lock_take(&manager->lock);
    manager->priority = priority;
    for (int32_t device = 0; manager->devices != NULL && device < manager->backend->device_count; ++device)
        cc__residents_set_priority(&manager->devices[device].resident, priority);
    cc__lock_let_go(&manager->lock);
}

int32_t cc__data_manager_priority(cc__data_manager *manager)
{
    cc__lock_take(&manager->lock);
    const int32_t priority = manager->priority;
    cc__lock_let_go(&manager->lock);
    return priority;
}
