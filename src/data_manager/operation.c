/* Lending pixels to an operation of the library: begin, commit, end. */
#include "base/error.h"
#include "data_manager/eviction.h"
#include "data_manager/lending.h"
#include "data_manager/lent.h"
#include "trace/trace.h"

cc_status cc__data_manager_begin(cc__data_manager *manager, const cc__access_request *request,
                                 cc__mapping **out_mapping)
{
    cc__lock_take(&manager->lock);
    const cc_status status = cc__lending_begin(manager, request, out_mapping);
    cc__lock_let_go(&manager->lock);
    cc__trace_tell();
    return status;
}

cc_status cc__data_manager_check_free(cc__data_manager *manager, const cc__access_request *request)
{
    cc_status status = CC_OK;
    cc__lock_take(&manager->lock);
    cc__eviction_wait(manager);
    const cc__mapping *holder = cc__mappings_find_conflict(&manager->mappings, &request->box, request->access);
    if (holder != NULL)
        status = cc__data_manager_fail_busy(manager, request->function, holder);
    else if (request->access != CC_ACCESS_WRITE &&
             cc__validity_count_pixels(&manager->validity, &request->box, CC__SOURCE_UNDEFINED) > 0)
        status = cc__data_manager_fail_undefined(manager, request->function);
    else if (manager->loans != NULL)
        status = cc__loans_admit(manager, request->function, &request->box, request->place, request->access);
    cc__lock_let_go(&manager->lock);
    return status;
}

cc__span cc__data_manager_span(cc__data_manager *manager, const cc__mapping *mapping)
{
    cc__lock_take(&manager->lock);
    const cc__span span = cc__place_memory_span(&cc__data_manager_site(manager, mapping->place)->memory, &mapping->box);
    cc__lock_let_go(&manager->lock);
    return span;
}

static cc_status queue_work(cc__data_manager *manager, const cc__mapping *mapping, cc_stream stream,
                            const cc__kernel *kernel, const void *work, bool *out_has_written)
{
    cc__backend *backend = manager->backend;
    *out_has_written = false;
    if (kernel == NULL)
        return CC_OK;
    return backend->run_kernel(backend, mapping->place, stream, kernel, work, out_has_written);
}

/* A borrower who may write the pixels is asked for them whatever they are: they are his. */
static void leave_to_borrowers(cc__data_manager *manager, const cc__mapping *mapping)
{
    const cc__sources place = CC__SOURCE(mapping->place);
    for (const cc__lent *lent = manager->loans; lent != NULL; lent = lent->next) {
        cc__box shared;
        if (lent->writes && !lent->has_ended && lent->place == mapping->place &&
            cc__box_intersect(&lent->box, &mapping->box, &shared) &&
            cc__validity_prepare(&manager->validity, &shared, 0, place) == CC_OK)
            cc__validity_install(&manager->validity);
    }
}

/* What is at the place now is neither the old pixels nor the new ones. */
static void lose_output(cc__data_manager *manager, const cc__mapping *mapping)
{
    cc__error_state before;
    cc__error_save(&before);
    cc__validity_lose(&manager->validity, &mapping->box, CC__SOURCE(mapping->place));
    leave_to_borrowers(manager, mapping);
    cc__eviction_reconsider(manager);
    cc__error_restore(&before);
}

static cc_status work_on_device(cc__data_manager *manager, cc__mapping *mapping, cc_stream stream,
                                const cc__kernel *kernel, const void *work)
{
    cc__error_state before;
    bool has_written = false;
    cc_status status = queue_work(manager, mapping, stream, kernel, work, &has_written);
    if (status == CC_OK) {
        status = cc__lending_note_use(manager, mapping, stream);
        mapping->is_noted = status == CC_OK;
        /* What others have of these pixels counts then. When nobody has any, the new ones are all that there is. */
        if (status != CC_OK)
            cc__validity_forget(&manager->validity, &mapping->box, CC__SOURCE(mapping->place));
        return status;
    }
    /* Of several launches some may be queued: whoever comes next waits for them. */
    cc__error_save(&before);
    mapping->is_noted = cc__lending_note_use(manager, mapping, stream) == CC_OK;
    if (has_written)
        lose_output(manager, mapping);
    cc__error_restore(&before);
    return status;
}

static cc_status tell_borrowers(cc__data_manager *manager, cc__mapping *mapping)
{
    cc__lock_take(&manager->lock);
    cc_status status = cc__loans_bring_back(manager, mapping->function, mapping);
    if (status == CC_OK && mapping->place != CC_PLACE_HOST)
        status = cc__loans_follow(manager, cc__mapping_reach(mapping));
    cc__lock_let_go(&manager->lock);
    return status;
}

cc_status cc__data_manager_commit(cc__data_manager *manager, cc__mapping *mapping, cc_stream stream,
                                  const cc__kernel *kernel, const void *work)
{
    bool changes = false;
    cc__lock_take(&manager->lock);
    const bool is_lent = manager->loans != NULL;
    cc_status status = cc__lending_prepare_write(manager, mapping, &changes);
    if (status == CC_OK && mapping->place != CC_PLACE_HOST)
        status = work_on_device(manager, mapping, stream, kernel, work);
    if (status == CC_OK && changes) {
        cc__validity_install(&manager->validity);
        cc__eviction_reconsider(manager);
    }
    cc__lock_let_go(&manager->lock);
    if (status == CC_OK && mapping->place == CC_PLACE_HOST && kernel != NULL)
        kernel->on_host(work);
    return status == CC_OK && is_lent ? tell_borrowers(manager, mapping) : status;
}

/* With the lock held. */
static cc_status settle(cc__data_manager *manager, cc__mapping *mapping, cc_stream stream, cc_status work_status)
{
    cc__error_state before;
    bool changes = false;
    cc_status status = work_status;
    cc__error_save(&before);
    if (mapping->place != CC_PLACE_HOST) {
        /* Also after a failure: some of it may be queued. */
        const cc_status noted = cc__lending_note_use(manager, mapping, stream);
        mapping->is_noted = noted == CC_OK;
        if (status == CC_OK)
            status = noted;
    }
    if (status == CC_OK)
        status = cc__lending_prepare_write(manager, mapping, &changes);
    if (status != CC_OK)
        cc__validity_forget(&manager->validity, &mapping->box, CC__SOURCE(mapping->place));
    else if (changes)
        cc__validity_install(&manager->validity);
    if (work_status != CC_OK)
        cc__error_restore(&before);
    cc__eviction_reconsider(manager);
    return status;
}

cc_status cc__data_manager_settle(cc__data_manager *manager, cc__mapping *mapping, cc_stream stream,
                                  cc_status work_status)
{
    cc__lock_take(&manager->lock);
    const bool is_lent = manager->loans != NULL;
    const cc_status status = settle(manager, mapping, stream, work_status);
    cc__lock_let_go(&manager->lock);
    return status == CC_OK && is_lent ? tell_borrowers(manager, mapping) : status;
}

/* The work is queued and cannot be taken back; what cannot be waited for then is the device's last error anyway. */
static void follow_reading(cc__data_manager *manager, const cc__mapping *mapping)
{
    cc__error_state before;
    cc__error_save(&before);
    if (cc__loans_follow(manager, cc__mapping_reach(mapping)) != CC_OK)
        cc__error_restore(&before);
}

void cc__data_manager_end(cc__data_manager *manager, cc__mapping *mapping, const cc__mapping *worker)
{
    cc__lock_take(&manager->lock);
    if (mapping->place != CC_PLACE_HOST && !mapping->is_noted) {
        cc__timeline *timeline = &cc__data_manager_site(manager, mapping->place)->timeline;
        if (worker->is_noted)
            cc__timeline_add(timeline, cc__mapping_reach(mapping), CC__USE_READ, worker->fence);
        else
            cc__timeline_unreserve(timeline);
        if (worker->is_noted && manager->loans != NULL)
            follow_reading(manager, mapping);
    }
    cc__lending_end(manager, mapping);
    cc__lock_let_go(&manager->lock);
}
