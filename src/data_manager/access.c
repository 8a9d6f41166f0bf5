/* Lending pixels to the application, and taking them back. */
#include "base/error.h"
#include "data_manager/eviction.h"
#include "data_manager/lending.h"
#include "data_manager/lent.h"

#include <string.h>

/* A further reader of an owner that starts where another one does joins its mapping; see cc_image_unmap_host(). */
static cc__mapping *share_reading(cc__data_manager *manager, cc__mapping *mapping)
{
    for (int32_t i = 0; i < manager->mappings.count; ++i) {
        cc__mapping *other = manager->mappings.entries[i];
        if (other == mapping || other->owner != mapping->owner || other->place != mapping->place ||
            other->pixels == NULL || other->access != CC_ACCESS_READ || mapping->access != CC_ACCESS_READ ||
            memcmp(other->box.start, mapping->box.start, sizeof other->box.start) != 0)
            continue;
        ++other->count;
        other->further = cc__box_bounding(cc__mapping_reach(other), &mapping->box);
        other->has_further = true;
        cc__data_manager_drop_fence(manager, mapping);
        if (cc__box_contains(&mapping->box, &other->box))
            other->box = mapping->box;
        if (cc__box_contains(&other->box, &mapping->box))
            cc__mappings_remove(&manager->mappings, mapping);
        else
            mapping->count = 0;
        return other;
    }
    return mapping;
}

/* With the lock held, after the owner's last mapping may have ended. */
static bool is_gone(const cc__data_manager *manager, const cc__owner *owner)
{
    return atomic_load(&owner->references) == 0 && cc__mappings_count_of(&manager->mappings, owner) == 0;
}

static const unsigned char *find_pixels(const cc__place_memory *memory, const cc__box *box)
{
    int64_t offset = 0;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        offset += box->start[axis] * memory->stride[axis];
    return memory->pixels + offset;
}

cc_status cc__data_manager_map(cc__data_manager *manager, const cc__access_request *request, void **out_pixels,
                               bool *out_is_gone)
{
    cc__mapping *mapping = NULL;
    bool changes = false;
    cc_status status = CC_OK;
    cc__lock_take(&manager->lock);
    mapping = cc__lending_begin_at_once(manager, request);
    if (mapping == NULL)
        status = cc__lending_begin(manager, request, &mapping);
    if (status != CC_OK)
        goto unlock;
    if (request->access != CC_ACCESS_READ)
        status = cc__lending_prepare_write(manager, mapping, &changes);
    if (status != CC_OK) {
        cc__lending_cancel(manager, mapping);
        goto unlock;
    }
    if (changes) {
        cc__validity_install(&manager->validity);
        cc__eviction_reconsider(manager);
    }
    if (request->access == CC_ACCESS_READ && manager->mappings.count > 1)
        mapping = share_reading(manager, mapping);
    mapping->pixels = find_pixels(&cc__data_manager_site(manager, request->place)->memory, &request->box);
    *out_pixels = (void *)mapping->pixels;
unlock:
    if (status != CC_OK)
        *out_is_gone = is_gone(manager, request->owner);
    cc__lock_let_go(&manager->lock);
    return status;
}

cc_status cc__data_manager_unmap(cc__data_manager *manager, const char *function, const cc__owner *owner, bool on_host,
                                 void *pixels, cc_stream stream, bool *out_is_gone)
{
    cc_status status = CC_OK;
    cc__lock_take(&manager->lock);
    cc__mapping *mapping = cc__mappings_find(&manager->mappings, owner, on_host, pixels);
    if (mapping == NULL) {
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: pixels = %p is not mapped by this image on %s", function,
                          pixels, on_host ? "the host" : "a device");
        goto unlock;
    }
    if (manager->loans != NULL)
        status = cc__loans_end_use(manager, function, mapping, stream);
    else if (!on_host)
        status = cc__lending_note_use(manager, mapping, stream);
    if (status != CC_OK)
        goto unlock;
    --mapping->count;
    if (mapping->count == 0 && (mapping->access != CC_ACCESS_READ || manager->mappings.count > 1)) {
        cc__lending_end(manager, mapping);
    } else {
        /* Other readers' use ends at another point. */
        cc__data_manager_drop_fence(manager, mapping);
        if (mapping->count == 0)
            cc__mappings_remove(&manager->mappings, mapping);
    }
    *out_is_gone = is_gone(manager, owner);
unlock:
    cc__lock_let_go(&manager->lock);
    return status;
}

bool cc__data_manager_disown(cc__data_manager *manager, cc__owner *owner)
{
    cc__lock_take(&manager->lock);
    atomic_fetch_sub(&owner->references, 1);
    const bool gone = is_gone(manager, owner);
    cc__lock_let_go(&manager->lock);
    return gone;
}

int32_t cc__data_manager_count_mappings(cc__data_manager *manager, const cc__owner *owner)
{
    cc__lock_take(&manager->lock);
    const int32_t count = cc__mappings_count_of(&manager->mappings, owner);
    cc__lock_let_go(&manager->lock);
    return count;
}
