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

cc__mapping *cc__mappings_make_room(cc__mappings *mappings)
{
    if (mappings->count == mappings->capacity) {
        const int32_t capacity = mappings->capacity == 0 ? 4 : mappings->capacity * 2;
        cc__mapping **entries = cc__reallocate(mappings->entries, (size_t)capacity * sizeof *entries);
        if (entries == NULL)
            return NULL;
        mappings->entries = entries;
        mappings->capacity = capacity;
    }
    return mappings->spare != NULL ? mappings->spare : cc__allocate(sizeof *mappings->spare);
}

void cc__mappings_remove_any(cc__mappings *mappings, cc__mapping *mapping)
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

int32_t cc__mappings_count_of(const cc__mappings *mappings, const void *owner)
{
    int32_t count = 0;
    for (int32_t i = 0; i < mappings->count; ++i)
        if (mappings->entries[i]->owner == owner)
            count += mappings->entries[i]->count;
    return count;
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
