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
            if (mappings->entries[i]->place == place && cc__box_overlaps(&mappings->entries[i]->reach, &shared))
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

/* A part of the box that the keeper has, and another place too. */
static bool find_shared(const cc__validity *validity, const cc__box *box, cc__sources kept, cc__box *out_part)
{
    for (int32_t i = 0; i < validity->count; ++i) {
        const cc__cell *cell = &validity->cells[i];
        if ((cell->sources & kept) != 0 && cell->sources != kept && cc__box_intersect(&cell->box, box, out_part))
            return true;
    }
    return false;
}

/* Where the keeper has pixels of the box, the other places do not have them any more. */
static cc_status drop_copies(cc__validity *validity, const cc__box *box, cc_place keeper)
{
    const cc__sources kept = CC__SOURCE(keeper);
    const bool has_all = cc__validity_has(validity, box, kept);
    cc__box part;
    while (find_shared(validity, box, kept, &part)) {
        cc__validity next = {0};
        const cc_status status = cc__validity_prepare(validity, has_all ? box : &part, kept, 0, &next);
        if (status != CC_OK)
            return status;
        cc__validity_install(validity, &next);
    }
    return CC_OK;
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
