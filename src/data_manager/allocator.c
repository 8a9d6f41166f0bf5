/* Which allocator the pixels' memory comes from. */
#include "base/error.h"
#include "data_manager/internal.h"

static bool has_memory(const cc__data_manager *manager, bool on_host)
{
    if (on_host)
        return manager->host.memory.pixels != NULL;
    for (int32_t device = 0; manager->devices != NULL && device < manager->backend->device_count; ++device)
        if (manager->devices[device].memory.pixels != NULL)
            return true;
    return false;
}

/* Some thread is making such memory now. */
static bool is_being_made(const cc__data_manager *manager, bool on_host)
{
    for (int32_t i = 0; i < manager->claim_count; ++i)
        if ((manager->claims[i].place == CC_PLACE_HOST) == on_host)
            return true;
    return false;
}

cc_status cc__data_manager_set_allocator(cc__data_manager *manager, const char *function, bool on_host,
                                         cc__allocator *allocator)
{
    cc__allocator **place = on_host ? &manager->host_allocator : &manager->device_allocator;
    cc__allocator *previous = NULL;
    cc_status status = CC_OK;
    cc__lock_take(&manager->lock);
    if (has_memory(manager, on_host) || is_being_made(manager, on_host)) {
        status = cc__fail(CC_ERROR_BUSY, "%s: the image has memory %s already; set the allocator before", function,
                          on_host ? "on the host" : "on a device");
    } else {
        previous = *place;
        *place = allocator;
    }
    cc__lock_let_go(&manager->lock);
    cc__allocator_release(previous);
    return status;
}
