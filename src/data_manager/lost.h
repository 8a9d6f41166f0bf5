/*
 * What a lost device leaves behind: copies that nobody can reach, work that is never done, and host memory that such
 * work may still be writing. With the data manager's lock held.
 */
#ifndef CC_DATA_MANAGER_LOST_H
#define CC_DATA_MANAGER_LOST_H

#include "data_manager/internal.h"

/* The devices of which that is known, as sources. */
cc__sources cc__lost_devices(const cc__data_manager *manager);

/*
 * Forgets what these devices have, and what the host has only if their work has been done, as far as another place has
 * the pixels. Whatever asks where the newest pixels are begins with this.
 */
void cc__lost_forget(cc__data_manager *manager, cc__sources lost);
static inline void cc__lost_forget_all(cc__data_manager *manager)
{
    const cc__sources lost = manager->devices != NULL ? cc__lost_devices(manager) : 0;
    if (lost != 0)
        cc__lost_forget(manager, lost);
}

/*
 * Gives up the host's memory when a lost device may still be writing to this box of it, and the caller's is the only
 * use of the pixels: then there is other memory, or will be. Pixels that are on the host alone are copied to it, unless
 * they are the ones in doubt. The lock is given up meanwhile. Returns whether that was done.
 */
bool cc__lost_leave_host(cc__data_manager *manager, const char *function, const cc__box *box);

#endif
