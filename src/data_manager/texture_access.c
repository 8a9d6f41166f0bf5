/* Lending textures to the application, filling them first where they are not what the pixels are. */
#include "base/allocate.h"
#include "base/error.h"
#include "data_manager/eviction.h"
#include "data_manager/lending.h"
#include "data_manager/lent.h"
#include "data_manager/report.h"
#include "data_manager/textures.h"
#include "memory/budget.h"

/* A texture that somebody has mapped. */
struct cc__texture_use {
    cc__texture_use *next;
    const cc__owner *owner;
    cc__textured *textured;
    cc__mapping *mapping;
};

/* Somebody who may have written pixels of the box since anybody looked, and may again. */
static bool has_writer(const cc__data_manager *manager, const cc__box *box)
{
    for (const cc__lent *lent = manager->loans; lent != NULL; lent = lent->next)
        if (lent->writes && cc__box_overlaps(&lent->box, box))
            return true;
    return false;
}

static cc__textured *find_fresh(const cc__data_manager *manager, const cc__access_request *request,
                                const cc__texture_form *form)
{
    if (has_writer(manager, &request->box))
        return NULL;
    for (cc__textured *at = manager->devices[request->place].textures; at != NULL; at = at->next)
        if (!at->is_stale && cc__box_equal(&at->box, &request->box) && cc__texture_form_equal(&at->form, form))
            return at;
    return NULL;
}

/* One that is of no more use as it is, whatever part of the pixels it was of. */
static cc__textured *find_unused(const cc__data_manager *manager, const cc__access_request *request,
                                 const cc__texture_form *form)
{
    for (cc__textured *at = manager->devices[request->place].textures; at != NULL; at = at->next)
        if (at->is_stale && at->users == 0 && cc__texture_form_equal(&at->form, form))
            return at;
    return NULL;
}

static cc_status allocate(void *context)
{
    cc__textured *textured = context;
    cc__backend *backend = textured->backend;
    cc_status status = cc__budget_take(backend, textured->device, textured->size_bytes);
    if (status != CC_OK)
        return status;
    status = backend->texture_create(backend, textured->device, &textured->form, &textured->texture);
    if (status != CC_OK)
        cc__budget_give_back(textured->device, textured->size_bytes);
    return status;
}

/* A further one, stale; the lock is given up meanwhile. */
static cc_status create(cc__data_manager *manager, const cc__access_request *request, const cc__texture_form *form,
                        cc__textured **out_textured)
{
    cc__site *site = &manager->devices[request->place];
    cc__textured *textured = cc__allocate(sizeof *textured);
    if (textured == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for a texture", request->function);
    textured->backend = manager->backend;
    textured->device = request->place;
    textured->box = request->box;
    textured->form = *form;
    textured->size_bytes = cc__texture_form_bytes(form);
    textured->is_stale = true;
    cc__lock_let_go(&manager->lock);
    (void)cc__data_managers_free_textures(false);
    const cc_status status =
        cc__eviction_make(manager->backend, request->place, textured->size_bytes, allocate, textured);
    cc__lock_take(&manager->lock);
    if (status != CC_OK) {
        cc__free(textured);
        return cc__fail_for(request->function, status);
    }
    textured->next = site->textures;
    site->textures = textured;
    manager->has_textures = true;
    if (site->memory.is_wrapped && site->resident.manager == NULL)
        cc__residents_add(&site->resident, manager, request->place, manager->priority);
    cc__report_texture(manager, CC_TRACE_ALLOCATE, request->place, textured->size_bytes, request->function);
    *out_textured = textured;
    return CC_OK;
}

/* Lets the stream wait for what others do with the arrays. */
static cc_status wait_in_stream(const cc__textured *textured, const cc__access_request *request, cc__use use,
                                const cc__waiter *waiter)
{
    cc__fences fences = {0};
    cc_status status = cc__timeline_collect(&textured->timeline, &textured->box, use, waiter, &fences);
    if (status == CC_OK)
        status = cc__fences_wait_in_stream(&fences, textured->backend, request->place, request->stream);
    cc__fences_destroy(&fences);
    return status;
}

static cc_status get_fence(cc__textured *textured, cc__fence **out_fence)
{
    if (textured->spare_fence == NULL)
        return cc__fence_create(textured->backend, textured->device, out_fence);
    *out_fence = textured->spare_fence;
    textured->spare_fence = NULL;
    return CC_OK;
}

/* Without an event the work can still be waited for. */
static cc_status record(const cc__textured *textured, cc__fence *fence, cc_stream stream, uint64_t stream_id)
{
    cc__backend *backend = textured->backend;
    cc__error_state before;
    cc__error_save(&before);
    cc_status status = cc__fence_record(fence, stream, stream_id);
    if (status != CC_OK && status != CC_ERROR_CAPTURE) {
        status = backend->stream_synchronize(backend, textured->device, stream);
        fence->is_complete = status == CC_OK;
        if (status == CC_OK)
            cc__error_restore(&before);
    }
    return status;
}

static uint64_t id_of(const cc__textured *textured, cc_stream stream)
{
    return cc__stream_is_legacy_default(stream)
               ? 0
               : textured->backend->stream_id(textured->backend, textured->device, stream);
}

/* Fills the arrays. The mapping's place in the pixels' timeline is taken up once something is queued. */
static cc_status fill(cc__data_manager *manager, const cc__access_request *request, cc__textured *textured,
                      cc__mapping *mapping, const cc__waiter *waiter)
{
    cc__site *site = &manager->devices[request->place];
    cc__backend *backend = manager->backend;
    const cc__span source = cc__place_memory_span(&site->memory, &request->box);
    cc__fence *fence = NULL;
    cc_status status = CC_OK;
    textured->is_stale = true;
    if (mapping->is_noted)
        status = cc__timeline_reserve(&site->timeline);
    if (status != CC_OK)
        return status;
    mapping->is_noted = false;
    status = cc__timeline_reserve(&textured->timeline);
    if (status != CC_OK)
        return status;
    status = get_fence(textured, &fence);
    if (status == CC_OK)
        status = wait_in_stream(textured, request, CC__USE_WRITE, waiter);
    if (status != CC_OK) {
        cc__timeline_unreserve(&textured->timeline);
        cc__fence_release(fence);
        return status;
    }
    textured->box = request->box;
    status = backend->texture_update(backend, request->place, request->stream, textured->texture, &source);
    /* Also when it has failed: some of it may be queued. */
    const cc_status noted = record(textured, fence, request->stream, waiter->stream_id);
    cc__timeline_add(&site->timeline, cc__mapping_reach(mapping), CC__USE_READ, fence);
    mapping->is_noted = true;
    cc__timeline_take(&textured->timeline, &textured->box, CC__USE_WRITE, fence, &textured->spare_fence);
    if (status == CC_OK)
        status = noted;
    if (status == CC_OK) {
        ++manager->counters.texture_updates;
        textured->is_stale = has_writer(manager, &request->box);
    }
    return status;
}

/* The borrowers' streams wait for what reads their pixels; if they cannot, that is the device's last error anyway. */
static void let_borrowers_follow(cc__data_manager *manager, const cc__mapping *mapping)
{
    cc__error_state before;
    cc__error_save(&before);
    if (manager->loans != NULL && cc__loans_follow(manager, cc__mapping_reach(mapping)) != CC_OK)
        cc__error_restore(&before);
}

typedef struct passage {
    cc__backend *backend;
    const cc__access_request *request;
} passage;

/* The backend keeps it for what comes next in the stream. */
static cc_status try_passage(void *context)
{
    const passage *self = context;
    void *memory = NULL;
    const cc_status status = self->backend->allocate(self->backend, self->request->place, self->request->stream,
                                                     CC__TEXTURE_PASSAGE_BYTES, &memory);
    if (status != CC_OK)
        return status;
    return self->backend->free(self->backend, self->request->place, self->request->stream, memory);
}

/* What the pixels pass through is asked for with the lock held, so that nobody can leave for it; then once more. */
static cc_status fill_with_room(cc__data_manager *manager, const cc__access_request *request, cc__textured *textured,
                                cc__mapping *mapping, const cc__waiter *waiter)
{
    passage of = {manager->backend, request};
    cc_status status = fill(manager, request, textured, mapping, waiter);
    if (status == CC_ERROR_OUT_OF_DEVICE_MEMORY) {
        ++textured->users;
        cc__lock_let_go(&manager->lock);
        status = cc__eviction_make(of.backend, request->place, CC__TEXTURE_PASSAGE_BYTES, try_passage, &of);
        cc__lock_take(&manager->lock);
        --textured->users;
        if (status == CC_OK)
            status = fill(manager, request, textured, mapping, waiter);
    }
    let_borrowers_follow(manager, mapping);
    return status;
}

static cc_status find_or_make(cc__data_manager *manager, const cc__access_request *request,
                              const cc__texture_form *form, cc__mapping *mapping, cc__textured **out_textured)
{
    cc__waiter waiter = {.device = request->place, .stream = request->stream, .stream_id = mapping->stream_id};
    cc__textured *textured = find_fresh(manager, request, form);
    cc_status status = CC_OK;
    if (textured == NULL) {
        textured = find_unused(manager, request, form);
        if (textured == NULL)
            status = create(manager, request, form, &textured);
        if (status != CC_OK)
            return status;
        /* Another thread may have made the same meanwhile. */
        cc__textured *fresh = find_fresh(manager, request, form);
        if (fresh == NULL) {
            *out_textured = textured;
            return fill_with_room(manager, request, textured, mapping, &waiter);
        }
        textured = fresh;
    }
    *out_textured = textured;
    return wait_in_stream(textured, request, CC__USE_READ, &waiter);
}

static bool is_gone(const cc__data_manager *manager, const cc__owner *owner)
{
    return atomic_load(&owner->references) == 0 && cc__mappings_count_of(&manager->mappings, owner) == 0;
}

/* Not as other mappings end: it shares nothing with readers that begin at the same pixel. */
static void end_mapping(cc__data_manager *manager, cc__mapping *mapping)
{
    if (!mapping->is_noted)
        cc__timeline_unreserve(&manager->devices[mapping->place].timeline);
    cc__data_manager_drop_fence(manager, mapping);
    cc__mappings_remove(&manager->mappings, mapping);
}

cc_status cc__data_manager_map_texture(cc__data_manager *manager, const cc__access_request *request,
                                       const cc__texture_form *form, const cc__sampling *sampling,
                                       cc__texture_use **out_use, uint64_t out_objects[CC_TEXTURE_MAX_OBJECTS],
                                       bool *out_is_gone)
{
    cc__mapping *mapping = NULL;
    cc__textured *textured = NULL;
    cc__texture_use *use = cc__allocate(sizeof *use);
    if (use == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for a mapping", request->function);
    cc__lock_take(&manager->lock);
    cc_status status = cc__lending_begin(manager, request, &mapping);
    if (status == CC_OK)
        status = find_or_make(manager, request, form, mapping, &textured);
    if (status == CC_OK)
        status = manager->backend->texture_objects(manager->backend, request->place, textured->texture, sampling,
                                                   out_objects);
    /* So that giving it back does not fail for want of room. */
    if (status == CC_OK)
        status = cc__timeline_reserve(&textured->timeline);
    if (status == CC_OK) {
        ++textured->users;
        *use = (cc__texture_use){manager->texture_uses, request->owner, textured, mapping};
        manager->texture_uses = use;
        *out_use = use;
    } else {
        if (mapping != NULL)
            end_mapping(manager, mapping);
        *out_is_gone = is_gone(manager, request->owner);
        cc__free(use);
    }
    cc__lock_let_go(&manager->lock);
    return status;
}

static cc_status end_use(cc__data_manager *manager, cc__texture_use *use, cc_stream stream)
{
    cc__textured *textured = use->textured;
    cc__fence *fence = NULL;
    cc_status status = get_fence(textured, &fence);
    if (status == CC_OK)
        status = record(textured, fence, stream, id_of(textured, stream));
    if (status != CC_OK) {
        cc__fence_release(fence);
        return status;
    }
    cc__timeline_take(&textured->timeline, &textured->box, CC__USE_READ, fence, &textured->spare_fence);
    --textured->users;
    end_mapping(manager, use->mapping);
    return CC_OK;
}

cc_status cc__data_manager_unmap_texture(cc__data_manager *manager, const char *function, const cc__owner *owner,
                                         const cc__texture_use *use, cc_stream stream, bool *out_is_gone)
{
    cc__texture_use **link = &manager->texture_uses;
    cc_status status = CC_OK;
    cc__lock_take(&manager->lock);
    while (*link != NULL && *link != use)
        link = &(*link)->next;
    cc__texture_use *found = *link;
    if (found == NULL || found->owner != owner)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: texture is not mapped by this image", function);
    else
        status = end_use(manager, found, stream);
    if (status == CC_OK) {
        *link = found->next;
        cc__free(found);
        *out_is_gone = is_gone(manager, owner);
    }
    cc__lock_let_go(&manager->lock);
    return status;
}
