/* Lending pixels to the application, and taking them back. */
#include "base/error.h"
#include "data_manager/eviction.h"
#include "data_manager/lending.h"

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
        other->reach = cc__box_bounding(&other->reach, &mapping->box);
        cc__fence_release(mapping->fence);
        mapping->fence = NULL;
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

static const unsigned char *find_pixels(const cc__place_memory *memory, const cc__box *box)
{
    int64_t offset = 0;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        offset += box->start[axis] * memory->stride[axis];
    return memory->pixels + offset;
}

cc_status cc__data_manager_map(cc__data_manager *manager, const cc__access_request *request, void **out_pixels)
{
    cc__mapping *mapping = NULL;
    bool changes = false;
    pthread_mutex_lock(&manager->lock);
    cc_status status = cc__lending_begin(manager, request, &mapping);
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
    if (request->access == CC_ACCESS_READ)
        mapping = share_reading(manager, mapping);
    mapping->pixels = find_pixels(&cc__data_manager_site(manager, request->place)->memory, &request->box);
    *out_pixels = (void *)mapping->pixels;
unlock:
    pthread_mutex_unlock(&manager->lock);
    return status;
}

cc_status cc__data_manager_unmap(cc__data_manager *manager, const char *function, const void *owner, bool on_host,
                                 void *pixels, cc_stream stream)
{
    cc_status status = CC_OK;
    pthread_mutex_lock(&manager->lock);
    cc__mapping *mapping = cc__mappings_find(&manager->mappings, owner, on_host, pixels);
    if (mapping == NULL)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: pixels = %p is not mapped by this image on %s", function,
                          pixels, on_host ? "the host" : "a device");
    else if (!on_host)
        status = cc__lending_note_use(manager, mapping, stream);
    if (status == CC_OK && --mapping->count == 0) {
        cc__lending_end(manager, mapping);
    } else if (status == CC_OK) {
        /* The other readers' use ends at another point. */
        cc__fence_release(mapping->fence);
        mapping->fence = NULL;
    }
    pthread_mutex_unlock(&manager->lock);
    return status;
}
