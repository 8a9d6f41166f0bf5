/* What changes where pixels are without lending them: the fill value, prefetch, eviction. */
#include "base/error.h"
#include "data_manager/internal.h"
#include "data_manager/transfer.h"

#include <string.h>

static bool is_all_zero(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (bytes[i] != 0)
            return false;
    return true;
}

cc_status cc__data_manager_set_constant(cc__data_manager *manager, const char *function, const void *value)
{
    const size_t pixel_bytes = (size_t)manager->layout.pixel_bytes;
    cc_status status = CC_OK;
    pthread_mutex_lock(&manager->lock);
    const cc__mapping *holder = cc__mappings_find_conflict(&manager->mappings, &manager->whole, CC_ACCESS_WRITE);
    if (manager->read_only) {
        status = cc__fail(CC_ERROR_READ_ONLY, "%s: the pixels were wrapped read-only", function);
    } else if (holder != NULL) {
        status = cc__data_manager_fail_busy(function, holder);
    } else {
        memcpy(manager->constant, value, pixel_bytes);
        manager->constant_is_zero = is_all_zero(manager->constant, pixel_bytes);
        cc__validity_reset(&manager->validity, &manager->whole, CC__SOURCE_CONSTANT);
        ++manager->generation;
    }
    pthread_mutex_unlock(&manager->lock);
    return status;
}

cc_status cc__data_manager_prefetch(cc__data_manager *manager, const char *function, const cc__box *box, cc_place place)
{
    cc_status status = CC_OK;
    pthread_mutex_lock(&manager->lock);
    const cc__mapping *holder = cc__mappings_find_conflict(&manager->mappings, box, CC_ACCESS_READ);
    if (holder != NULL)
        status = cc__data_manager_fail_busy(function, holder);
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
    cc__mappings_remove(&manager->mappings, mapping);
unlock:
    pthread_mutex_unlock(&manager->lock);
    return status;
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
    if (mapping == NULL)
        status = cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for a mapping", function);
    else
        status = cc__data_manager_execute(manager, &plan, NULL, target, target == CC_PLACE_HOST);
    if (mapping != NULL)
        cc__mappings_remove(&manager->mappings, mapping);
done:
    cc__plan_destroy(&plan);
    return status;
}

cc_status cc__data_manager_evict(cc__data_manager *manager, const char *function, cc_place place,
                                 int32_t fallback_device)
{
    const cc_place target = place == CC_PLACE_HOST && fallback_device >= 0 ? fallback_device : CC_PLACE_HOST;
    cc__site *site = NULL;
    cc__site gone = {0};
    cc_status status = CC_OK;
    bool moved = true;

    pthread_mutex_lock(&manager->lock);
    while (status == CC_OK && moved) {
        /* A thread that is copying without the lock may be using the place's memory. */
        while (manager->claim_count > 0)
            pthread_cond_wait(&manager->changed, &manager->lock);
        site = cc__data_manager_site(manager, place);
        if (site == NULL || site->memory.pixels == NULL || site->memory.is_wrapped)
            goto unlock;
        if (cc__mappings_count_at(&manager->mappings, place) > 0 || cc__mappings_have_writer(&manager->mappings)) {
            status =
                cc__fail(CC_ERROR_BUSY, "%s: place = %d has pixels that are mapped; unmap them first", function, place);
            goto unlock;
        }
        status = move_out(manager, function, place, target, &moved);
    }
    if (status == CC_OK) {
        cc__validity_drop(&manager->validity, CC__SOURCE(place));
        gone = *site;
        memset(site, 0, sizeof *site);
    }
unlock:
    pthread_mutex_unlock(&manager->lock);
    cc__data_manager_let_go(manager->backend, place, &gone);
    return status;
}
