#include "memory/chunks.h"

#include "base/allocate.h"
#include "base/error.h"
#include "memory/page_locking.h"

#include <pthread.h>

/* More than this are made only when all are taken, and not kept. Large ones: two for each of the threads that copy, and
 * some for others. */
#define MOST_LARGE 28
#define MOST_SMALL (CC__CHUNK_BYTES / CC__CHUNK_SMALL_BYTES)

/* One piece of page-locked memory and the chunks that it is cut into. */
struct cc__slab {
    cc__slab *next;
    cc__backend *backend;
    unsigned char *bytes;
    int32_t chunk_count;
    int32_t taken_count;
    cc__chunk chunks[];
};

typedef enum kind {
    LARGE = 0,
    SMALL = 1
} kind;

static struct {
    pthread_mutex_t lock; /* guards the lists; never held while waiting or asking the device */
    cc__slab *slabs;
    cc__chunk *free[2]; /* those given back longest ago first */
    int32_t count[2];   /* of all there are */
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static kind kind_of(const cc__chunk *chunk)
{
    return chunk->size_bytes == CC__CHUNK_SMALL_BYTES ? SMALL : LARGE;
}

static void append(cc__chunk *chunk)
{
    cc__chunk **link = &cache.free[kind_of(chunk)];
    while (*link != NULL)
        link = &(*link)->next;
    chunk->next = NULL;
    *link = chunk;
}

static void unlink_chunk(cc__chunk *chunk)
{
    cc__chunk **link = &cache.free[kind_of(chunk)];
    while (*link != chunk)
        link = &(*link)->next;
    *link = chunk->next;
}

/* An idle chunk, best one that has an event of the device; else the one that was given back longest ago; or NULL. */
static cc__chunk *pick(kind wanted, int32_t device)
{
    cc__chunk *best = NULL;
    for (cc__chunk *chunk = cache.free[wanted]; chunk != NULL; chunk = chunk->next) {
        if (chunk->use != CC__CHUNK_IDLE)
            continue;
        best = chunk;
        if (chunk->device == device && chunk->event != NULL)
            break;
    }
    return best != NULL ? best : cache.free[wanted];
}

static void free_slab(cc__slab *slab, bool is_locked)
{
    for (int32_t i = 0; i < slab->chunk_count; ++i)
        if (slab->chunks[i].event != NULL)
            slab->backend->event_destroy(slab->backend, slab->chunks[i].device, slab->chunks[i].event);
    if (is_locked)
        cc__page_unlock(slab->backend, slab->bytes, CC__CHUNK_BYTES);
    cc__pages_free(slab->bytes, CC__CHUNK_BYTES);
    cc__free(slab);
}

/* Its memory is not locked yet. */
static cc_status create_slab(cc__backend *backend, size_t chunk_bytes, cc__slab **out_slab)
{
    const int32_t count = (int32_t)(CC__CHUNK_BYTES / chunk_bytes);
    cc__slab *slab = cc__allocate(sizeof *slab + (size_t)count * sizeof *slab->chunks);
    unsigned char *bytes = slab != NULL ? cc__pages_allocate(CC__CHUNK_BYTES) : NULL;
    if (bytes == NULL) {
        cc__free(slab);
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "host memory: %zu bytes to copy through are not to be had",
                        CC__CHUNK_BYTES);
    }
    slab->backend = backend;
    slab->bytes = bytes;
    slab->chunk_count = count;
    for (int32_t i = 0; i < count; ++i) {
        slab->chunks[i].slab = slab;
        slab->chunks[i].bytes = bytes + (size_t)i * chunk_bytes;
        slab->chunks[i].size_bytes = chunk_bytes;
    }
    *out_slab = slab;
    return CC_OK;
}

/* New chunks, the first of them taken; NULL when they cannot be page-locked. */
static cc_status grow(cc__backend *backend, kind wanted, cc__chunk **out_chunk)
{
    cc__slab *slab = NULL;
    *out_chunk = NULL;
    if (cc__page_locking_limit() < CC__CHUNK_BYTES)
        return CC_OK;
    const cc_status status = create_slab(backend, wanted == SMALL ? CC__CHUNK_SMALL_BYTES : CC__CHUNK_BYTES, &slab);
    if (status != CC_OK)
        return status;
    if (!cc__page_lock(backend, slab->bytes, CC__CHUNK_BYTES, NULL)) {
        free_slab(slab, false);
        return CC_OK;
    }
    slab->taken_count = 1;
    pthread_mutex_lock(&cache.lock);
    slab->next = cache.slabs;
    cache.slabs = slab;
    cache.count[wanted] += slab->chunk_count;
    for (int32_t i = 0; i < slab->chunk_count; ++i) {
        slab->chunks[i].is_locked = true;
        if (i > 0)
            append(&slab->chunks[i]);
    }
    pthread_mutex_unlock(&cache.lock);
    *out_chunk = &slab->chunks[0];
    return CC_OK;
}

/* A chunk that may still be in use, and whether there are so many that waiting for it is better than making more. */
static cc__chunk *take_free(kind wanted, int32_t device, bool *out_are_enough)
{
    pthread_mutex_lock(&cache.lock);
    cc__chunk *chunk = pick(wanted, device);
    if (chunk != NULL) {
        unlink_chunk(chunk);
        ++chunk->slab->taken_count;
    }
    *out_are_enough = cache.count[wanted] >= (wanted == SMALL ? (int32_t)MOST_SMALL : MOST_LARGE);
    pthread_mutex_unlock(&cache.lock);
    return chunk;
}

/* Asks without waiting; an error shows where the copies are waited for. */
static bool is_idle(cc__chunk *chunk)
{
    cc__backend *backend = chunk->slab->backend;
    bool is_complete = false;
    if (chunk->use == CC__CHUNK_QUEUED) {
        cc__error_state before;
        cc__error_save(&before);
        if (backend->event_is_complete(backend, chunk->device, chunk->event, &is_complete) != CC_OK) {
            cc__error_restore(&before);
            is_complete = false;
        }
        if (is_complete)
            chunk->use = CC__CHUNK_IDLE;
    }
    return chunk->use == CC__CHUNK_IDLE;
}

/* An event belongs to one device. */
static cc_status prepare_event(cc__chunk *chunk, int32_t device)
{
    cc__backend *backend = chunk->slab->backend;
    cc__event *event = NULL;
    if (chunk->event != NULL && chunk->device == device)
        return CC_OK;
    const cc_status status = backend->event_create(backend, device, &event);
    if (status != CC_OK)
        return status;
    if (chunk->event != NULL)
        backend->event_destroy(backend, chunk->device, chunk->event);
    chunk->event = event;
    chunk->device = device;
    return CC_OK;
}

/* A chunk that never settles (its device may be lost) is left alone: others are as good. */
static bool settles(cc__chunk *chunk)
{
    cc__error_state before;
    cc__error_save(&before);
    const bool is_settled = cc__chunk_settle(chunk) == CC_OK;
    if (!is_settled)
        cc__error_restore(&before);
    return is_settled;
}

cc_status cc__chunk_take(cc__backend *backend, int32_t device, size_t size_bytes, cc__chunk **out_chunk)
{
    const kind wanted = size_bytes <= CC__CHUNK_SMALL_BYTES ? SMALL : LARGE;
    bool are_enough = false;
    cc__chunk *chunk = take_free(wanted, device, &are_enough);
    cc__chunk *more = NULL;
    cc_status status = CC_OK;
    bool is_usable = chunk != NULL && (is_idle(chunk) || (are_enough && settles(chunk)));
    if (!is_usable) {
        status = grow(backend, wanted, &more);
        is_usable = status == CC_OK && more == NULL && chunk != NULL && settles(chunk);
    }
    if (!is_usable) {
        if (chunk != NULL)
            cc__chunk_give(chunk);
        chunk = more;
    }
    if (chunk != NULL && status == CC_OK)
        status = prepare_event(chunk, device);
    if (status == CC_OK)
        *out_chunk = chunk;
    else if (chunk != NULL)
        cc__chunk_give(chunk);
    return status;
}

cc_status cc__chunk_take_pageable(cc__backend *backend, cc__chunk **out_chunk)
{
    cc__slab *slab = NULL;
    const cc_status status = create_slab(backend, CC__CHUNK_BYTES, &slab);
    if (status == CC_OK)
        *out_chunk = &slab->chunks[0];
    return status;
}

/* With the lock held. */
static void unlink_slab(cc__slab *slab)
{
    cc__slab **link = &cache.slabs;
    while (*link != slab)
        link = &(*link)->next;
    *link = slab->next;
    cache.count[kind_of(&slab->chunks[0])] -= slab->chunk_count;
}

void cc__chunk_give(cc__chunk *chunk)
{
    cc__slab *slab = chunk->slab;
    bool is_surplus = false;
    if (!chunk->is_locked) {
        free_slab(slab, false);
        return;
    }
    pthread_mutex_lock(&cache.lock);
    if (chunk->use == CC__CHUNK_IDLE && kind_of(chunk) == LARGE && cache.count[LARGE] > MOST_LARGE) {
        is_surplus = true;
        unlink_slab(slab);
    } else {
        --slab->taken_count;
        append(chunk);
    }
    pthread_mutex_unlock(&cache.lock);
    if (is_surplus)
        free_slab(slab, true);
}

cc_status cc__chunk_mark(cc__chunk *chunk, cc_stream stream)
{
    cc__backend *backend = chunk->slab->backend;
    if (!chunk->is_locked)
        return CC_OK;
    const cc_status status = backend->event_record(backend, chunk->device, chunk->event, stream);
    chunk->use = status == CC_OK ? CC__CHUNK_QUEUED : CC__CHUNK_UNKNOWN;
    chunk->stream = stream;
    return status;
}

cc_status cc__chunk_settle(cc__chunk *chunk)
{
    cc__backend *backend = chunk->slab->backend;
    cc_status status = CC_OK;
    switch (chunk->use) {
    case CC__CHUNK_IDLE:
        break;
    case CC__CHUNK_QUEUED:
        status = backend->event_synchronize(backend, chunk->device, chunk->event);
        break;
    case CC__CHUNK_UNKNOWN:
        status = backend->stream_synchronize(backend, chunk->device, chunk->stream);
        break;
    }
    if (status == CC_OK)
        chunk->use = CC__CHUNK_IDLE;
    return status;
}

size_t cc__chunks_bytes(void)
{
    size_t bytes = 0;
    pthread_mutex_lock(&cache.lock);
    for (const cc__slab *slab = cache.slabs; slab != NULL; slab = slab->next)
        bytes += CC__CHUNK_BYTES;
    pthread_mutex_unlock(&cache.lock);
    return bytes;
}

/* A slab of which nobody has a chunk; from now on it is not in the cache. NULL when there is none. */
static cc__slab *take_untaken(void)
{
    pthread_mutex_lock(&cache.lock);
    cc__slab *slab = cache.slabs;
    while (slab != NULL && slab->taken_count > 0)
        slab = slab->next;
    if (slab != NULL) {
        unlink_slab(slab);
        for (int32_t i = 0; i < slab->chunk_count; ++i)
            unlink_chunk(&slab->chunks[i]);
    }
    pthread_mutex_unlock(&cache.lock);
    return slab;
}

static void trim(bool even_stuck)
{
    cc__slab *stuck = NULL;
    cc__error_state before;
    cc__error_save(&before);
    for (cc__slab *slab = take_untaken(); slab != NULL; slab = take_untaken()) {
        cc_status status = CC_OK;
        for (int32_t i = 0; i < slab->chunk_count && status == CC_OK; ++i)
            status = cc__chunk_settle(&slab->chunks[i]);
        if (status == CC_OK || even_stuck) {
            free_slab(slab, true);
        } else {
            slab->next = stuck;
            stuck = slab;
        }
    }
    cc__error_restore(&before);

    pthread_mutex_lock(&cache.lock);
    while (stuck != NULL) {
        cc__slab *slab = stuck;
        stuck = slab->next;
        slab->next = cache.slabs;
        cache.slabs = slab;
        cache.count[kind_of(&slab->chunks[0])] += slab->chunk_count;
        for (int32_t i = 0; i < slab->chunk_count; ++i)
            append(&slab->chunks[i]);
    }
    pthread_mutex_unlock(&cache.lock);
}

void cc__chunks_trim(void)
{
    trim(false);
}

void cc__chunks_reset(void)
{
    trim(true);
}
