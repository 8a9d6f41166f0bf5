/* Giving up the memory at a place without losing a pixel: because somebody asks, or to make room for other images. */
#ifndef CC_DATA_MANAGER_EVICTION_H
#define CC_DATA_MANAGER_EVICTION_H

#include "data_manager/internal.h"

/*
 * With the lock held: waits until no pixels are being moved out. Whoever starts to use a data manager's pixels begins
 * with this, so that a caller never meets a conflict that is not of the application's making.
 */
static inline void cc__eviction_wait(cc__data_manager *manager)
{
    while (manager->is_moving_out)
        cc__lock_wait(&manager->lock);
}

/* With the lock held, after the validity has changed: what is the only copy of something may be another place now. */
void cc__eviction_forget_dirty(cc__data_manager *manager);
static inline void cc__eviction_reconsider(cc__data_manager *manager)
{
    if (manager->has_dirty_residents)
        cc__eviction_forget_dirty(manager);
}

/* With the lock held: memory that nobody uses any more leaves the place, for cc__data_manager_let_go(). */
cc__site cc__eviction_take_out(cc__data_manager *manager, cc_place place);

/*
 * Memory on a device, for which that of other images is given up where the budget or the device needs it. No lock is
 * held. OUT_OF_DEVICE_MEMORY, and whatever the backend's allocation returns.
 */
cc_status cc__eviction_allocate(cc__backend *backend, int32_t device, cc_stream stream, const cc__layout *layout,
                                cc__allocator *allocator, cc__place_memory *out_memory);

/*
 * The same for whatever `allocate` takes from the budget and the device. It is called until it returns something else
 * than OUT_OF_DEVICE_MEMORY, or no room can be made.
 */
cc_status cc__eviction_make(cc__backend *backend, int32_t device, size_t size_bytes,
                            cc_status (*allocate)(void *context), void *context);

#endif
