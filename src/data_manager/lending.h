/* What lending pixels is made of; for access.c and operation.c. All with the lock held. */
#ifndef CC_DATA_MANAGER_LENDING_H
#define CC_DATA_MANAGER_LENDING_H

#include "data_manager/internal.h"

/*
 * Everything but the write: conflicts, memory, what is stale, what must be waited for. The lock is given up meanwhile;
 * the mapping, which is there on success, excludes others from the first moment on.
 */
cc_status cc__lending_begin(cc__data_manager *manager, const cc__access_request *request, cc__mapping **out_mapping);
/* Takes back a mapping that came to nothing. */
void cc__lending_cancel(cc__data_manager *manager, cc__mapping *mapping);
/* Ends a mapping whose use is noted, with the further boxes of readers that shared it. */
void cc__lending_end(cc__data_manager *manager, cc__mapping *mapping);

/* Prepares what the mapping's write makes of the validity; *out_changes is false when it stays as it is. */
cc_status cc__lending_prepare_write(cc__data_manager *manager, const cc__mapping *mapping, bool *out_changes);

/* Notes what was queued on a device for others to wait for; takes up the room that the mapping has in the timeline. */
cc_status cc__lending_note_use(cc__data_manager *manager, cc__mapping *mapping, cc_stream stream);

#endif
