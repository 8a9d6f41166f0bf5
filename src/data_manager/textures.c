#include "data_manager/textures.h"

#include "base/allocate.h"
#include "base/error.h"
#include "data_manager/report.h"
#include "memory/budget.h"

#include <stdatomic.h>

void cc__textures_age_all(cc__data_manager *manager, const cc__box *box)
{
    for (int32_t device = 0; device < manager->backend->device_count; ++device)
        for (cc__textured *at = manager->devices[device].textures; at != NULL; at = at->next)
            at->is_stale = at->is_stale || cc__box_overlaps(&at->box, box);
}

size_t cc__textures_bytes(const cc__data_manager *manager, cc_place place)
{
    size_t bytes = 0;
    if (place == CC_PLACE_HOST || !manager->has_textures)
        return 0;
    for (const cc__textured *at = manager->devices[place].textures; at != NULL; at = at->next)
        bytes += at->size_bytes;
    return bytes;
}

/* Its texture is not used by anything any more. */
static void destroy(cc__textured *textured)
{
    textured->backend->texture_destroy(textured->backend, textured->device, textured->texture);
    cc__timeline_destroy(&textured->timeline);
    cc__fence_release(textured->spare_fence);
    cc__free(textured);
}

/* A stack that takes no lock, since a child of fork() may find it in any state. */
static _Atomic(cc__textured *) aside;

static void put_aside(cc__textured *textured)
{
    textured->next = atomic_load(&aside);
    while (!atomic_compare_exchange_weak(&aside, &textured->next, textured))
        continue;
}

/* Whether nothing uses it any more. Nobody else has it. */
static bool is_over(cc__textured *textured, bool waits)
{
    cc__fences fences = {0};
    cc__timeline_ask(&textured->timeline, &textured->box, CC__USE_WRITE, &cc__waiter_host);
    if (cc__timeline_is_quiet(&textured->timeline, &textured->box, CC__USE_WRITE, &cc__waiter_host))
        return true;
    if (!waits)
        return false;
    const bool is_over =
        cc__timeline_collect(&textured->timeline, &textured->box, CC__USE_WRITE, &cc__waiter_host, &fences) == CC_OK &&
        cc__fences_synchronize(&fences) == CC_OK;
    cc__fences_destroy(&fences);
    return is_over;
}

static bool free_or_put_aside(cc__textured *textured, bool waits)
{
    const bool goes = is_over(textured, waits);
    if (goes)
        destroy(textured);
    else
        put_aside(textured);
    return goes;
}

size_t cc__textures_free(cc__textured *list, bool waits)
{
    size_t bytes = 0;
    cc__error_state before;
    cc__error_save(&before);
    while (list != NULL) {
        cc__textured *next = list->next;
        bytes += list->size_bytes;
        cc__budget_give_back(list->device, list->size_bytes);
        (void)free_or_put_aside(list, waits);
        list = next;
    }
    cc__error_restore(&before);
    return bytes;
}

bool cc__data_managers_free_textures(bool waits)
{
    cc__error_state before;
    bool any_went = false;
    if (atomic_load_explicit(&aside, memory_order_relaxed) == NULL)
        return false;
    cc__error_save(&before);
    cc__textured *textured = atomic_exchange(&aside, NULL);
    while (textured != NULL) {
        cc__textured *next = textured->next;
        any_went = free_or_put_aside(textured, waits) || any_went;
        textured = next;
    }
    cc__error_restore(&before);
    return any_went;
}

void cc__textures_report_free(const cc__data_manager *manager, cc_place place)
{
    if (place == CC_PLACE_HOST || !manager->has_textures)
        return;
    for (const cc__textured *at = manager->devices[place].textures; at != NULL; at = at->next)
        cc__report_texture(manager, CC_TRACE_FREE, place, at->size_bytes, "");
}

cc__textured *cc__textures_take_unused(cc__data_manager *manager, const char *function, cc_place place)
{
    cc__textured *taken = NULL;
    if (place == CC_PLACE_HOST || !manager->has_textures)
        return NULL;
    cc__site *site = &manager->devices[place];
    for (cc__textured **link = &site->textures; *link != NULL;) {
        cc__textured *at = *link;
        if (at->users > 0) {
            link = &at->next;
            continue;
        }
        *link = at->next;
        at->next = taken;
        taken = at;
        cc__report_texture(manager, CC_TRACE_FREE, place, at->size_bytes, function);
    }
    /* Wrapped memory was there to be found for their sake. */
    if (site->textures == NULL && site->memory.is_wrapped)
        cc__residents_remove(&site->resident);
    return taken;
}
