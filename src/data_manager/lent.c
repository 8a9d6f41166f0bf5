#include "data_manager/lent.h"

#include "base/allocate.h"

static bool concerns(const cc__lent *lent, const cc__box *box, cc_place elsewhere)
{
    return lent->place != elsewhere && cc__box_overlaps(&lent->box, box);
}

const cc__lent *cc__lent_find_rival(const cc__lent *list, const cc__box *box, cc_place place, bool writes)
{
    for (const cc__lent *lent = list; lent != NULL; lent = lent->next)
        if (!lent->has_ended && (writes || lent->writes) && concerns(lent, box, place))
            return lent;
    return NULL;
}

const cc__lent *cc__lent_find_unreachable(const cc__lent *list, const cc__box *box, cc_place place)
{
    for (const cc__lent *lent = list; lent != NULL; lent = lent->next)
        if (!lent->has_ended && lent->place == CC_PLACE_HOST && concerns(lent, box, place))
            return lent;
    return NULL;
}

const cc__mapping *cc__lent_find_onlooker(const cc__lent *list, const cc__mappings *mappings, const cc__box *box,
                                          cc_place place)
{
    for (const cc__lent *lent = list; lent != NULL; lent = lent->next) {
        cc__box shared;
        if (!lent->writes || lent->place == place || !cc__box_intersect(&lent->box, box, &shared))
            continue;
        for (int32_t i = 0; i < mappings->count; ++i)
            if (mappings->entries[i]->place == place &&
                cc__box_overlaps(cc__mapping_reach(mappings->entries[i]), &shared))
                return mappings->entries[i];
    }
    return NULL;
}

const cc__lent *cc__lent_find(const cc__lent *list, const cc__box *box, cc_place place)
{
    for (const cc__lent *lent = list; lent != NULL; lent = lent->next)
        if (!lent->has_ended && (place == CC_DEVICE_CURRENT || lent->place == place) &&
            cc__box_overlaps(&lent->box, box))
            return lent;
    return NULL;
}

const cc__lent *cc__lent_find_writer(const cc__lent *list, const cc__box *box, cc_place place)
{
    for (const cc__lent *lent = list; lent != NULL; lent = lent->next)
        if (lent->writes && lent->place == place && cc__box_overlaps(&lent->box, box))
            return lent;
    return NULL;
}

typedef struct found_part {
    bool is_found;
    cc__box box;
} found_part;

/* One is enough: the status only ends the walk. */
static cc_status take_first(void *context, const cc__box *part)
{
    found_part *found = context;
    found->is_found = true;
    found->box = *part;
    return CC_ERROR_BUSY;
}

/* A part of the box that the keeper has, and another place too. OUT_OF_HOST_MEMORY. */
static cc_status find_shared(const cc__validity *validity, const cc__box *box, cc__sources kept, found_part *out_part)
{
    cc__cells_walk walk;
    out_part->is_found = false;
    cc__cells_begin(&walk, &validity->cells, box, 0);
    for (int32_t at = cc__cells_next(&walk); at != CC__NO_CELL && !out_part->is_found; at = cc__cells_next(&walk)) {
        const cc__cell *cell = cc__cells_get(&validity->cells, at);
        if ((cell->sources & kept) != 0 && cell->sources != kept)
            out_part->is_found = cc__box_intersect(&cell->box, box, &out_part->box);
    }
    if (out_part->is_found || (validity->rest & kept) == 0 || validity->rest == kept)
        return CC_OK;
    const cc_status status = cc__validity_rest_parts(validity, box, take_first, out_part);
    return out_part->is_found ? CC_OK : status;
}

/* Where the keeper has pixels of the box, the other places do not have them any more. */
static cc_status drop_copies(cc__validity *validity, const cc__box *box, cc_place keeper)
{
    const cc__sources kept = CC__SOURCE(keeper);
    const bool has_all = cc__validity_has(validity, box, kept);
    found_part part;
    cc_status status = find_shared(validity, box, kept, &part);
    while (status == CC_OK && part.is_found) {
        status = cc__validity_prepare(validity, has_all ? box : &part.box, kept, 0);
        if (status != CC_OK)
            return status;
        cc__validity_install(validity);
        status = find_shared(validity, box, kept, &part);
    }
    return status;
}

/* Whoever has the pixels now comes before one who had them: he may have got them from him. */
cc_status cc__lent_age(cc__validity *validity, const cc__lent *list, const cc__box *box)
{
    for (int32_t ended = 0; ended < 2; ++ended) {
        for (const cc__lent *lent = list; lent != NULL; lent = lent->next) {
            cc__box shared;
            if (!lent->writes || lent->has_ended != (ended == 1) || !cc__box_intersect(&lent->box, box, &shared))
                continue;
            const cc_status status = drop_copies(validity, &shared, lent->place);
            if (status != CC_OK)
                return status;
        }
    }
    return CC_OK;
}
