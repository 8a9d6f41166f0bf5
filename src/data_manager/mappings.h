/* Who has pixels now: a table of what is lent, and the rule of many readers or one writer. Pure bookkeeping. */
#ifndef CC_DATA_MANAGER_MAPPINGS_H
#define CC_DATA_MANAGER_MAPPINGS_H

#include "base/box.h"

#include <cudacommon/access.h>
#include <stdbool.h>

typedef struct cc__fence cc__fence;

typedef struct cc__mapping {
    const void *owner; /* whose unmap call ends it: an image, or NULL for the library's own use */
    cc_place place;
    cc_access access;
    cc__box box;
    const void *pixels; /* as lent; NULL until then */
    int32_t count;      /* readers of one owner that start at the same pixel share a mapping, and end together; 0: a
                           further box of such readers, lent as long as the mapping that has the pixels */
    bool has_further;   /* else there is nothing in the next */
    cc__box further;    /* the box, and all further ones */
    cc_stream stream;   /* on a device: where the pixels were asked for */
    uint64_t stream_id;
    cc__fence *fence;     /* on a device: for the event of the unmap call, unless that is marked late */
    const char *function; /* who asked for it, for messages and traces */
    bool is_noted;        /* an operation's work is done, and the fence says when */
} cc__mapping;

/* The box, and all further ones. */
static inline const cc__box *cc__mapping_reach(const cc__mapping *mapping)
{
    return mapping->has_further ? &mapping->further : &mapping->box;
}

typedef struct cc__mappings {
    cc__mapping **entries;
    int32_t count;
    int32_t capacity;
    cc__mapping *spare; /* the last that was removed, for the next */
} cc__mappings;

void cc__mappings_destroy(cc__mappings *mappings);

/* Room for one more, and what to put there, with anything in it. NULL when there is no memory. */
cc__mapping *cc__mappings_make_room(cc__mappings *mappings);

/* Adds a mapping that conflicts with none. NULL when there is no memory. */
static inline cc__mapping *cc__mappings_add(cc__mappings *mappings, const void *owner, cc_place place, cc_access access,
                                            const cc__box *box)
{
    cc__mapping *mapping = mappings->spare;
    if (mapping == NULL || mappings->count == mappings->capacity)
        mapping = cc__mappings_make_room(mappings);
    if (mapping == NULL)
        return NULL;
    mappings->spare = NULL;
    mapping->owner = owner;
    mapping->place = place;
    mapping->access = access;
    mapping->box = *box;
    mapping->pixels = NULL;
    mapping->count = 1;
    mapping->has_further = false;
    mapping->stream = NULL;
    mapping->stream_id = 0;
    mapping->fence = NULL;
    mapping->is_noted = false;
    mappings->entries[mappings->count] = mapping;
    ++mappings->count;
    return mapping;
}

void cc__mappings_remove_any(cc__mappings *mappings, cc__mapping *mapping);
static inline void cc__mappings_remove(cc__mappings *mappings, cc__mapping *mapping)
{
    if (mappings->spare != NULL || mappings->count == 0 || mappings->entries[mappings->count - 1] != mapping) {
        cc__mappings_remove_any(mappings, mapping);
        return;
    }
    --mappings->count;
    mappings->spare = mapping;
}

/* A mapping that excludes this access: one of the two writes and the boxes overlap. NULL when there is none. */
static inline const cc__mapping *cc__mappings_find_conflict(const cc__mappings *mappings, const cc__box *box,
                                                            cc_access access)
{
    for (int32_t i = 0; i < mappings->count; ++i) {
        const cc__mapping *mapping = mappings->entries[i];
        if ((access != CC_ACCESS_READ || mapping->access != CC_ACCESS_READ) && cc__box_overlaps(&mapping->box, box))
            return mapping;
    }
    return NULL;
}

/* What an owner has lent at these pixels, on the host or on a device. NULL when there is nothing. */
static inline cc__mapping *cc__mappings_find(const cc__mappings *mappings, const void *owner, bool on_host,
                                             const void *pixels)
{
    for (int32_t i = 0; i < mappings->count; ++i) {
        cc__mapping *mapping = mappings->entries[i];
        if (mapping->owner == owner && (mapping->place == CC_PLACE_HOST) == on_host && mapping->pixels == pixels)
            return mapping;
    }
    return NULL;
}

/* How often an owner has mapped pixels that it has not given back. */
int32_t cc__mappings_count_of(const cc__mappings *mappings, const void *owner);
int32_t cc__mappings_count_at(const cc__mappings *mappings, cc_place place);
bool cc__mappings_have_writer(const cc__mappings *mappings);

#endif
