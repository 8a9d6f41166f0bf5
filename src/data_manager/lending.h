/* What lending pixels is made of; for access.c and operation.c. All with the lock held. */
#ifndef CC_DATA_MANAGER_LENDING_H
#define CC_DATA_MANAGER_LENDING_H

#include "data_manager/internal.h"

/*
 * Everything but the write: conflicts, memory, what is stale, what must be waited for. The lock is given up meanwhile;
 * the mapping, which is there on success, excludes others from the first moment on.
 */
cc_status cc__lending_begin(cc__data_manager *manager, const cc__access_request *request, cc__mapping **out_mapping);
/* Counts an access for which there was nothing to bring. */
static inline void cc__lending_count_ready(cc__data_manager *manager, const cc__box *box)
{
    ++manager->counters.avoided_copies;
    manager->counters.avoided_bytes += (uint64_t)(cc__box_pixels(box) * manager->layout.pixel_bytes);
}

/*
 * What cc__lending_begin comes to when pixels are read on the host that are all there, and nobody has any: nearly
 * always. NULL, and nothing is changed, when it is not so.
 */
static inline cc__mapping *cc__lending_begin_at_once(cc__data_manager *manager, const cc__access_request *request)
{
    const cc__site *host = &manager->host;
    if (request->place != CC_PLACE_HOST || request->access != CC_ACCESS_READ || manager->mappings.count > 0 ||
        manager->mappings.spare == NULL || manager->is_moving_out || manager->loans != NULL ||
        host->memory.pixels == NULL || manager->validity.cells.count > 0 ||
        (manager->validity.rest & CC__SOURCE(CC_PLACE_HOST)) == 0 ||
        !cc__timeline_is_quiet(&host->timeline, &request->box, CC__USE_READ, &cc__waiter_host))
        return NULL;
    cc__mapping *mapping =
        cc__mappings_add(&manager->mappings, request->owner, CC_PLACE_HOST, CC_ACCESS_READ, &request->box);
    mapping->function = request->function;
    cc__lending_count_ready(manager, &request->box);
    return mapping;
}

/* Takes back a mapping that came to nothing. */
void cc__lending_cancel(cc__data_manager *manager, cc__mapping *mapping);
/* Ends a mapping whose use is noted, with the further boxes of readers that shared it. */
void cc__lending_end(cc__data_manager *manager, cc__mapping *mapping);

/* Prepares what the mapping's write makes of the validity; *out_changes is false when it stays as it is. */
cc_status cc__lending_prepare_write(cc__data_manager *manager, const cc__mapping *mapping, bool *out_changes);

/* Notes what was queued on a device for others to wait for; takes up the room that the mapping has in the timeline. */
cc_status cc__lending_note_use(cc__data_manager *manager, cc__mapping *mapping, cc_stream stream);

#endif
