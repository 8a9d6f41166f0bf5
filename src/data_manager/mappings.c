#include "data_manager/mappings.h"

#include "base/allocate.h"

#include <string.h>

void cc__mappings_destroy(cc__mappings *mappings)
{
    for (int32_t i = 0; i < mappings->count; ++i)
        cc__free(mappings->entries[i]);
    cc__free(mappings->spare);
    cc__free(mappings->entries);
    memset(mappings, 0, sizeof *mappings);
}

const cc__mapping *cc__mappings_find_conflict(const cc__mappings *mappings, const cc__box *box, cc_access access)
{
    for (int32_t i = 0; i < mappings->count; ++i) {
        const cc__mapping *mapping = mappings->entries[i];
        if ((access != CC_ACCESS_READ || mapping->access != CC_ACCESS_READ) && cc__box_overlaps(&mapping->box, box))
            return mapping;
    }
    return NULL;
}

cc__mapping *cc__mappings_add(cc__mappings *mappings, const void *owner, cc_place place, cc_access access,
                              const cc__box *box)
{
    if (mappings->count == mappings->capacity) {
        const int32_t capacity = mappings->capacity == 0 ? 4 : mappings->capacity * 2;
        cc__mapping **entries = cc__reallocate(mappings->entries, (size_t)capacity * sizeof *entries);
        if (entries == NULL)
            return NULL;
        mappings->entries = entries;
        mappings->capacity = capacity;
    }
    cc__mapping *mapping = mappings->spare != NULL ? mappings->spare : cc__allocate(sizeof *mapping);
    if (mapping == NULL)
        return NULL;
    if (mapping == mappings->spare) {
        mappings->spare = NULL;
        memset(mapping, 0, sizeof *mapping);
    }
    mapping->owner = owner;
    mapping->place = place;
    mapping->access = access;
    mapping->box = *box;
    mapping->count = 1;
    mapping->reach = *box;
    mappings->entries[mappings->count] = mapping;
    ++mappings->count;
    return mapping;
}

void cc__mappings_remove(cc__mappings *mappings, cc__mapping *mapping)
{
    for (int32_t i = 0; i < mappings->count; ++i) {
        if (mappings->entries[i] != mapping)
            continue;
        --mappings->count;
        mappings->entries[i] = mappings->entries[mappings->count];
        cc__free(mappings->spare);
        mappings->spare = mapping;
        return;
    }
}

cc__mapping *cc__mappings_find(const cc__mappings *mappings, const void *owner, bool on_host, const void *pixels)
{
    for (int32_t i = 0; i < mappings->count; ++i) {
        cc__mapping *mapping = mappings->entries[i];
        if (mapping->owner == owner && (mapping->place == CC_PLACE_HOST) == on_host && mapping->pixels == pixels)
            return mapping;
    }
    return NULL;
}

int32_t cc__mappings_count_at(const cc__mappings *mappings, cc_place place)
{
    int32_t count = 0;
    for (int32_t i = 0; i < mappings->count; ++i)
        if (mappings->entries[i]->place == place)
            count += mappings->entries[i]->count;
    return count;
}

bool cc__mappings_have_writer(const cc__mappings *mappings)
{
    for (int32_t i = 0; i < mappings->count; ++i)
        if (mappings->entries[i]->access != CC_ACCESS_READ)
            return true;
    return false;
}
