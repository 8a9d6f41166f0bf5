/* Lending pixels out without a mapping, and taking them back. */
#include "data_manager/loans.h"

#include "base/allocate.h"
#include "base/error.h"
#include "data_manager/eviction.h"
#include "data_manager/lent.h"
#include "data_manager/textures.h"
#include "data_manager/transfer.h"

#include <string.h>

static cc_status fail_rival(const char *function, const cc__lent *rival)
{
    if (rival->place == CC_PLACE_HOST)
        return cc__fail(CC_ERROR_BUSY,
                        "%s: pixels are lent on the host, and one of the borrowers may write; end that loan first",
                        function);
    return cc__fail(CC_ERROR_BUSY,
                    "%s: pixels are lent on device %d, and one of the borrowers may write; end that loan first",
                    function, rival->place);
}

static cc_status check(cc__data_manager *manager, const cc__loan_request *request)
{
    const bool writes = request->access != CC_ACCESS_READ;
    if (writes && manager->read_only)
        return cc__fail(CC_ERROR_READ_ONLY, "%s: the pixels were wrapped read-only", request->function);
    cc__eviction_wait(manager);
    const cc__mapping *holder = cc__mappings_find_conflict(&manager->mappings, &request->box, CC_ACCESS_READ);
    if (holder != NULL)
        return cc__data_manager_fail_busy(manager, request->function, holder);
    const cc__lent *rival = cc__lent_find_rival(manager->loans, &request->box, request->place, writes);
    if (rival != NULL)
        return fail_rival(request->function, rival);
    if (manager->loans == NULL)
        return CC_OK;
    return cc__loans_admit(manager, request->function, &request->box, request->place,
                           request->access == CC_ACCESS_WRITE ? CC_ACCESS_WRITE : CC_ACCESS_READ);
}

static cc_status use_device(cc__data_manager *manager, const cc__loan_request *request)
{
    cc_status status = cc__data_manager_use_devices(manager);
    if (status == CC_OK)
        status = manager->backend->check_usable(manager->backend);
    if (status == CC_OK)
        status = cc__data_manager_check_stream(manager, request->function, request->place, request->stream);
    return status;
}

/* Whether all that has been queued in the legacy default stream is done. False when that cannot be asked. */
static bool default_stream_is_idle(cc__backend *backend, int32_t device)
{
    cc__error_state before;
    bool is_idle = false;
    cc__error_save(&before);
    if (backend->stream_is_idle(backend, device, CC_STREAM_DEFAULT, &is_idle) != CC_OK) {
        is_idle = false;
        cc__error_restore(&before);
    }
    return is_idle;
}

/*
 * Whether whoever gets the pixels must wait, in whatever stream it works. Where somebody unknown works with them, it is
 * the default stream that has to be waited for, and nothing has to be if that is idle: asks is false when that is not
 * to be asked for, which costs most of all.
 */
static bool is_pending(cc__data_manager *manager, const cc__loan_request *request, cc__use use, bool asks)
{
    cc__site *site = cc__data_manager_site(manager, request->place);
    const cc__waiter anybody = cc__waiter_of_library(request->place);
    cc__timeline_ask_now(&site->timeline, &request->box, use, &anybody);
    if (cc__timeline_is_quiet(&site->timeline, &request->box, use, &anybody))
        return false;
    return !cc__timeline_waits_device_wide(&site->timeline, &request->box, use, &anybody) || !asks ||
           !default_stream_is_idle(manager->backend, request->place);
}

/* The lock is given up while the host waits. */
static cc_status wait_for_others(cc__data_manager *manager, const cc__loan_request *request, const cc__waiter *waiter,
                                 bool *out_pending)
{
    cc__timeline *timeline = &cc__data_manager_site(manager, request->place)->timeline;
    const cc__use use = request->access == CC_ACCESS_READ ? CC__USE_READ : CC__USE_WRITE;
    cc__fences fences = {0};
    if (out_pending != NULL)
        *out_pending = request->place != CC_PLACE_HOST && is_pending(manager, request, use, true);
    else if (request->place != CC_PLACE_HOST)
        cc__timeline_ask(timeline, &request->box, use, waiter);
    cc_status status = cc__timeline_collect(timeline, &request->box, use, waiter, &fences);
    if (status == CC_OK && request->place != CC_PLACE_HOST) {
        status = cc__fences_wait_in_stream(&fences, manager->backend, request->place, request->stream);
    } else if (status == CC_OK) {
        cc__lock_let_go(&manager->lock);
        status = cc__fences_synchronize(&fences);
        cc__lock_take(&manager->lock);
        if (status == CC_OK)
            cc__fences_mark_complete(&fences);
    }
    cc__fences_destroy(&fences);
    return status;
}

/* The pixels are there and in order; from here on the borrower has them. */
static cc_status hand_over(cc__data_manager *manager, const cc__loan_request *request, cc__lent *lent)
{
    if (lent->writes && cc__validity_would_change(&manager->validity, &lent->box, 0, CC__SOURCE(lent->place))) {
        const cc_status status = cc__validity_prepare(&manager->validity, &lent->box, 0, CC__SOURCE(lent->place));
        if (status != CC_OK)
            return status;
        cc__validity_install(&manager->validity);
        cc__eviction_reconsider(manager);
    }
    if (lent->writes) {
        ++manager->generation;
        cc__textures_age(manager, &lent->box);
    }
    if (lent->fence != NULL) {
        cc__site *site = cc__data_manager_site(manager, lent->place);
        cc__timeline_add(&site->timeline, &lent->box, lent->writes ? CC__USE_WRITE_PARTS : CC__USE_READ, lent->fence);
        site->owes_synchronize = site->owes_synchronize || !request->is_stream_known;
        cc__resident_use(&site->resident);
    }
    return CC_OK;
}

/* The last one that has gone is kept for the next. */
static cc__lent *new_lent(cc__data_manager *manager)
{
    cc__lent *lent = manager->spare_lent;
    if (lent == NULL)
        return cc__allocate(sizeof *lent);
    manager->spare_lent = NULL;
    *lent = (cc__lent){0};
    return lent;
}

static void forget_lent(cc__data_manager *manager, cc__lent *lent)
{
    if (manager->spare_lent == NULL)
        manager->spare_lent = lent;
    else
        cc__free(lent);
}

static void unlink_lent(cc__data_manager *manager, const cc__lent *lent)
{
    cc__lent **link = &manager->loans;
    while (*link != lent)
        link = &(*link)->next;
    *link = lent->next;
}

static cc_status lend(cc__data_manager *manager, const cc__loan_request *request, cc__lent *lent, bool *out_pending)
{
    const bool on_host = request->place == CC_PLACE_HOST;
    cc__waiter waiter = {.device = request->place, .stream = request->stream};
    cc__timeline *timeline = NULL;
    cc_status status = check(manager, request);
    if (status == CC_OK && !on_host)
        status = use_device(manager, request);
    if (status != CC_OK)
        return status;
    if (!on_host && !cc__stream_is_legacy_default(request->stream))
        waiter.stream_id = manager->backend->stream_id(manager->backend, request->place, request->stream);
    cc__mapping *mapping = cc__mappings_add(&manager->mappings, NULL, request->place, CC_ACCESS_READ, &request->box);
    if (mapping == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for a mapping", request->function);
    lent->place = request->place;
    lent->box = request->box;
    lent->writes = request->access != CC_ACCESS_READ;
    lent->is_stream_known = request->is_stream_known;
    lent->stream = request->is_stream_known ? request->stream : CC_STREAM_DEFAULT;
    lent->stream_id = request->is_stream_known ? waiter.stream_id : 0;
    /* From here on others are refused what they would be refused later; nobody has to follow the borrower yet. */
    lent->next = manager->loans;
    manager->loans = lent;

    if (!on_host) {
        timeline = &cc__data_manager_site(manager, request->place)->timeline;
        status = cc__fence_create_standing(manager->backend, request->place, request->stream, waiter.stream_id,
                                           request->is_stream_known, &lent->fence);
        if (status == CC_OK)
            status = cc__timeline_reserve(timeline);
        if (status != CC_OK)
            timeline = NULL;
    } else if (request->access != CC_ACCESS_WRITE) {
        status = cc__loans_wait_for_devices(manager, mapping);
    }
    if (status == CC_OK)
        status = cc__data_manager_bring(manager, request->function, &request->box, request->place,
                                        request->access != CC_ACCESS_WRITE, CC__PLAN_STALE, on_host);
    if (status == CC_OK)
        status = wait_for_others(manager, request, &waiter, out_pending);
    if (status == CC_OK)
        status = hand_over(manager, request, lent);
    if (status != CC_OK) {
        if (timeline != NULL)
            cc__timeline_unreserve(timeline);
        cc__fence_release(lent->fence);
        unlink_lent(manager, lent);
    }
    cc__mappings_remove(&manager->mappings, mapping);
    return status;
}

cc_status cc__data_manager_lend(cc__data_manager *manager, const cc__loan_request *request, cc__lent **out_lent,
                                unsigned char **out_pixels, int64_t out_stride[CC_MAX_DIMENSION], bool *out_pending)
{
    cc__lock_take(&manager->lock);
    cc__lent *lent = new_lent(manager);
    if (lent == NULL) {
        cc__lock_let_go(&manager->lock);
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for a loan", request->function);
    }
    const cc_status status = lend(manager, request, lent, out_pending);
    const cc__site *site = cc__data_manager_site(manager, request->place);
    /* There is one where pixels have been lent. */
    if (status == CC_OK && site != NULL) {
        const cc__span span = cc__place_memory_span(&site->memory, &request->box);
        *out_lent = lent;
        *out_pixels = span.data;
        memcpy(out_stride, site->memory.stride, sizeof site->memory.stride);
    }
    if (status != CC_OK)
        forget_lent(manager, lent);
    cc__lock_let_go(&manager->lock);
    return status;
}

/* Whether a new loan would be refused, or would have to forget what is there. */
static bool has_rival(const cc__data_manager *manager, const cc__lent *lent)
{
    if (cc__mappings_find_conflict(&manager->mappings, &lent->box, CC_ACCESS_READ) != NULL)
        return true;
    for (const cc__lent *other = manager->loans; other != NULL; other = other->next)
        if (other->place != lent->place && (other->writes || (lent->writes && !other->has_ended)) &&
            cc__box_overlaps(&other->box, &lent->box))
            return true;
    return false;
}

static bool is_usable(const cc__data_manager *manager)
{
    cc__error_state before;
    cc__error_save(&before);
    const bool is_usable = manager->backend->check_usable(manager->backend) == CC_OK;
    if (!is_usable)
        cc__error_restore(&before);
    return is_usable;
}

bool cc__data_manager_renew(cc__data_manager *manager, const cc__lent *lent, bool asks, bool *out_pending)
{
    const bool on_host = lent->place == CC_PLACE_HOST;
    const cc__use use = lent->writes ? CC__USE_WRITE : CC__USE_READ;
    const cc__waiter waiter = {.device = lent->place, .stream = CC_STREAM_DEFAULT};
    if (!on_host && !is_usable(manager))
        return false;
    cc__lock_take(&manager->lock);
    cc__site *site = cc__data_manager_site(manager, lent->place);
    const bool stands = !manager->is_moving_out && !has_rival(manager, lent) &&
                        cc__validity_has(&manager->validity, &lent->box, CC__SOURCE(lent->place)) &&
                        cc__timeline_is_quiet(&site->timeline, &lent->box, use, &waiter);
    if (stands && !on_host) {
        const cc__loan_request request = {.box = lent->box, .place = lent->place};
        *out_pending = is_pending(manager, &request, use, asks);
        cc__resident_use(&site->resident);
    }
    cc__lock_let_go(&manager->lock);
    return stands;
}

static bool lent_is_listed(const cc__data_manager *manager, const cc__lent *lent)
{
    const cc__lent *at = manager->loans;
    while (at != NULL && at != lent)
        at = at->next;
    return at != NULL;
}

/* More than this that have ended at one place become one, for a larger box. */
#define MOST_ENDED 16

/* So that loans that come and go without anybody looking do not grow into a long list. */
static void join_ended(cc__data_manager *manager, cc__lent *lent)
{
    int32_t count = 0;
    for (const cc__lent *other = manager->loans; other != NULL; other = other->next)
        count += other->has_ended && other->place == lent->place;
    for (cc__lent **link = &manager->loans; *link != NULL;) {
        cc__lent *other = *link;
        if (other == lent || !other->has_ended || other->place != lent->place ||
            (count <= MOST_ENDED && !cc__box_contains(&lent->box, &other->box) &&
             !cc__box_contains(&other->box, &lent->box))) {
            link = &other->next;
            continue;
        }
        lent->box = cc__box_bounding(&lent->box, &other->box);
        lent->owes = lent->owes || other->owes;
        *link = other->next;
        forget_lent(manager, other);
    }
}

void cc__data_manager_take_back(cc__data_manager *manager, cc__lent *lent, bool in_stream, cc_stream stream)
{
    cc__lock_take(&manager->lock);
    lent->has_ended = true;
    if (lent->writes)
        ++manager->generation;
    if (lent->fence != NULL) {
        cc__site *site = cc__data_manager_site(manager, lent->place);
        cc__fence_end_standing(lent->fence, in_stream || lent->is_stream_known, in_stream ? stream : lent->stream);
        lent->owes = lent->fence->is_device_wide;
        cc__timeline_settle_standing(&site->timeline, lent->fence);
        site->owes_synchronize = cc__timeline_has_device_wide(&site->timeline);
        cc__fence_release(lent->fence);
        lent->fence = NULL;
    }
    cc__loans_forget_ended(manager, NULL);
    if (lent_is_listed(manager, lent))
        join_ended(manager, lent);
    cc__lock_let_go(&manager->lock);
}

/* Whether somebody elsewhere has pixels of it that are not to be copied under his eyes. */
static bool has_onlookers(const cc__data_manager *manager, const cc__lent *lent, const cc__mapping *except)
{
    for (int32_t i = 0; i < manager->mappings.count; ++i) {
        const cc__mapping *mapping = manager->mappings.entries[i];
        if (mapping != except && mapping->place != lent->place &&
            cc__box_overlaps(cc__mapping_reach(mapping), &lent->box))
            return true;
    }
    return false;
}

/* Where there is no memory to do it exactly, some copies more are forgotten: never the last one. */
static void forget_copies(cc__data_manager *manager, const cc__box *box)
{
    cc__error_state before;
    cc__error_save(&before);
    if (cc__lent_age(&manager->validity, manager->loans, box) != CC_OK) {
        for (int32_t ended = 0; ended < 2; ++ended)
            for (const cc__lent *lent = manager->loans; lent != NULL; lent = lent->next)
                if (lent->writes && lent->has_ended == (ended == 1) && cc__box_overlaps(&lent->box, box))
                    cc__validity_forget(&manager->validity, &lent->box, ~CC__SOURCE(lent->place));
        cc__error_restore(&before);
    }
}

void cc__loans_forget_copies(cc__data_manager *manager)
{
    cc__loans_forget_ended(manager, NULL);
    forget_copies(manager, &manager->whole);
}

void cc__loans_forget_ended(cc__data_manager *manager, const cc__mapping *except)
{
    for (cc__lent **link = &manager->loans; *link != NULL;) {
        cc__lent *lent = *link;
        const bool is_unsettled = lent->owes && cc__loans_owe(manager, lent->place);
        if (!lent->has_ended || (lent->writes && (is_unsettled || has_onlookers(manager, lent, except)))) {
            link = &lent->next;
            continue;
        }
        if (lent->writes)
            forget_copies(manager, &lent->box);
        *link = lent->next;
        forget_lent(manager, lent);
    }
}

bool cc__loans_may_write(const cc__data_manager *manager)
{
    for (const cc__lent *lent = manager->loans; lent != NULL; lent = lent->next)
        if (lent->writes)
            return true;
    return false;
}

void cc__loans_destroy(cc__data_manager *manager)
{
    while (manager->loans != NULL) {
        cc__lent *lent = manager->loans;
        manager->loans = lent->next;
        cc__fence_release(lent->fence);
        cc__free(lent);
    }
    cc__free(manager->spare_lent);
    manager->spare_lent = NULL;
}

bool cc__data_manager_is_lent(cc__data_manager *manager, cc_place place, const cc__box *box)
{
    cc__lock_take(&manager->lock);
    const bool is_lent = cc__lent_find(manager->loans, box, place) != NULL;
    cc__lock_let_go(&manager->lock);
    return is_lent;
}
