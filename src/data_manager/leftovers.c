/* Pixels that nobody has any more, whose memory may still be in use, and that came back to a thread that must not wait.
 */
#include "data_manager/internal.h"

/* A stack that takes no lock, since a child of fork() may find it in any state. */
static _Atomic(cc__data_manager *) leftovers;

static bool is_quiet(const cc__data_manager *manager, cc__timeline *timeline)
{
    const cc__waiter anybody = cc__waiter_host;
    cc__timeline_ask(timeline, &manager->whole, CC__USE_WRITE, &anybody);
    return cc__timeline_is_quiet(timeline, &manager->whole, CC__USE_WRITE, &anybody);
}

/* Memory of the library's own on devices is freed in stream order. */
static bool would_wait(cc__data_manager *manager)
{
    if (!is_quiet(manager, &manager->host.timeline))
        return true;
    for (int32_t device = 0; manager->devices != NULL && device < manager->backend->device_count; ++device) {
        cc__site *site = &manager->devices[device];
        if (site->owes_synchronize || (site->memory.is_wrapped && !is_quiet(manager, &site->timeline)))
            return true;
    }
    return false;
}

void cc__data_manager_release_later(cc__data_manager *manager)
{
    if (atomic_fetch_sub(&manager->references, 1) != 1)
        return;
    if (!would_wait(manager)) {
        cc__data_manager_destroy(manager);
        return;
    }
    manager->next_leftover = atomic_load(&leftovers);
    while (!atomic_compare_exchange_weak(&leftovers, &manager->next_leftover, manager))
        continue;
}

void cc__data_managers_free_leftovers(void)
{
    (void)cc__data_managers_free_textures(false);
    if (atomic_load_explicit(&leftovers, memory_order_relaxed) == NULL)
        return;
    cc__data_manager *manager = atomic_exchange(&leftovers, NULL);
    while (manager != NULL) {
        cc__data_manager *next = manager->next_leftover;
        cc__data_manager_destroy(manager);
        manager = next;
    }
}
