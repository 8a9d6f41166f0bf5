/* What is asked of a data manager from outside: its label, and what it weighs. */
#include "data_manager/textures.h"

#include <string.h>

void cc__data_manager_set_label(cc__data_manager *manager, const char *label)
{
    cc__lock_take(&manager->lock);
    memset(manager->label, 0, sizeof manager->label);
    memcpy(manager->label, label, strlen(label));
    cc__lock_let_go(&manager->lock);
}

void cc__data_manager_get_label(cc__data_manager *manager, char out_label[CC_LABEL_BYTES])
{
    cc__lock_take(&manager->lock);
    memcpy(out_label, manager->label, sizeof manager->label);
    cc__lock_let_go(&manager->lock);
}

void cc__data_manager_reset_counters(cc__data_manager *manager)
{
    cc__account_reset(&manager->account);
}

void cc__data_manager_survey(cc__data_manager *manager, const cc__owner *owner, cc_live_image *out_image)
{
    cc__lock_take(&manager->lock);
    out_image->pixels_id = manager->id;
    out_image->mapping_count = cc__mappings_count_of(&manager->mappings, owner);
    out_image->host_bytes = manager->host.memory.size_bytes;
    out_image->device_bytes = 0;
    for (int32_t device = 0; manager->devices != NULL && device < manager->backend->device_count; ++device)
        out_image->device_bytes += manager->devices[device].memory.size_bytes + cc__textures_bytes(manager, device);
    memcpy(out_image->label, manager->label, sizeof manager->label);
    cc__lock_let_go(&manager->lock);
}
