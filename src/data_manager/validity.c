#include "data_manager/validity.h"

#include "base/allocate.h"
#include "base/error.h"

#include <string.h>

cc_status cc__validity_init(cc__validity *validity, const cc__box *whole, cc__sources sources)
{
    memset(validity, 0, sizeof *validity);
    if (cc__box_is_empty(whole))
        return CC_OK;
    validity->cells = cc__allocate(sizeof *validity->cells);
    if (validity->cells == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__validity_init: no memory for the first cell");
    validity->capacity = 1;
    cc__validity_reset(validity, whole, sources);
    return CC_OK;
}

void cc__validity_destroy(cc__validity *validity)
{
    cc__free(validity->cells);
    memset(validity, 0, sizeof *validity);
}

/* Joins cells[at] with equal neighbours until none is left. The order of cells carries no meaning. */
static void join_neighbours(cc__validity *validity, int32_t at)
{
    for (int32_t other = 0; other < validity->count; ++other) {
        cc__box joined;
        if (other == at || validity->cells[other].sources != validity->cells[at].sources ||
            !cc__box_join(&validity->cells[at].box, &validity->cells[other].box, &joined))
            continue;
        validity->cells[at].box = joined;
        --validity->count;
        validity->cells[other] = validity->cells[validity->count];
        if (at == validity->count)
            at = other;
        other = -1;
    }
}

static void append(cc__validity *validity, const cc__box *box, cc__sources sources)
{
    validity->cells[validity->count].box = *box;
    validity->cells[validity->count].sources = sources;
    ++validity->count;
}

/* Neighbours alone would leave cells that are alike but meet like the bricks of a wall. */
static void join_all_if_alike(cc__validity *validity)
{
    if (validity->count == 0)
        return;
    cc__box whole = validity->cells[0].box;
    for (int32_t i = 1; i < validity->count; ++i) {
        if (validity->cells[i].sources != validity->cells[0].sources)
            return;
        whole = cc__box_bounding(&whole, &validity->cells[i].box);
    }
    validity->cells[0].box = whole;
    validity->count = 1;
}

/* Whether the change takes a cell apart. Where nothing is kept, the box becomes one cell, whatever was there. */
static bool is_cut(const cc__cell *cell, const cc__box *box, cc__sources keep, cc__sources add)
{
    if (!cc__box_overlaps(&cell->box, box))
        return false;
    if (keep == 0 && !cc__box_contains(&cell->box, box))
        return true;
    return ((cell->sources & keep) | add) != cell->sources;
}

static int32_t count_cut(const cc__validity *validity, const cc__box *box, cc__sources keep, cc__sources add)
{
    int32_t count = 0;
    for (int32_t i = 0; i < validity->count; ++i)
        count += is_cut(&validity->cells[i], box, keep, add);
    return count;
}

bool cc__validity_would_change(const cc__validity *validity, const cc__box *box, cc__sources keep, cc__sources add)
{
    for (int32_t i = 0; i < validity->count; ++i)
        if (is_cut(&validity->cells[i], box, keep, add))
            return true;
    return false;
}

cc_status cc__validity_prepare(const cc__validity *validity, const cc__box *box, cc__sources keep, cc__sources add,
                               cc__validity *out_next)
{
    const int32_t cut_count = count_cut(validity, box, keep, add);
    const int64_t capacity = (int64_t)validity->count + (int64_t)cut_count * (int64_t)CC__BOX_MAX_PIECES;
    cc__validity next = {0};

    if (capacity > INT32_MAX)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__validity_prepare: %d cells are too many", validity->count);
    next.capacity = (int32_t)capacity;
    if (capacity > 0) {
        next.cells = cc__allocate((size_t)capacity * sizeof *next.cells);
        if (next.cells == NULL)
            return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__validity_prepare: no memory for %d cells", next.capacity);
    }

    /* Cells that stay come first and have been joined before, so only what follows needs to look for neighbours. */
    for (int32_t i = 0; i < validity->count; ++i) {
        const cc__cell *cell = &validity->cells[i];
        if (!is_cut(cell, box, keep, add))
            append(&next, &cell->box, cell->sources);
    }
    const int32_t unchanged = next.count;
    if (keep == 0 && cut_count > 0)
        append(&next, box, add);
    for (int32_t i = 0; i < validity->count; ++i) {
        const cc__cell *cell = &validity->cells[i];
        cc__box inside;
        cc__box pieces[CC__BOX_MAX_PIECES];
        if (!is_cut(cell, box, keep, add))
            continue;
        if (keep != 0 && cc__box_intersect(&cell->box, box, &inside))
            append(&next, &inside, (cell->sources & keep) | add);
        const int32_t piece_count = cc__box_subtract(&cell->box, box, pieces);
        for (int32_t piece = 0; piece < piece_count; ++piece)
            append(&next, &pieces[piece], cell->sources);
    }
    join_all_if_alike(&next);
    for (int32_t i = next.count - 1; i >= unchanged; --i)
        if (i < next.count)
            join_neighbours(&next, i);
    *out_next = next;
    return CC_OK;
}

void cc__validity_install(cc__validity *validity, cc__validity *next)
{
    cc__free(validity->cells);
    *validity = *next;
    memset(next, 0, sizeof *next);
}

void cc__validity_drop(cc__validity *validity, cc__sources sources)
{
    for (int32_t i = 0; i < validity->count; ++i)
        validity->cells[i].sources &= ~sources;
    join_all_if_alike(validity);
    for (int32_t i = validity->count - 1; i >= 0; --i)
        if (i < validity->count)
            join_neighbours(validity, i);
}

void cc__validity_reset(cc__validity *validity, const cc__box *whole, cc__sources sources)
{
    validity->count = 0;
    if (validity->capacity > 0)
        append(validity, whole, sources);
}

void cc__validity_forget(cc__validity *validity, const cc__box *box, cc__sources sources)
{
    for (int32_t i = 0; i < validity->count; ++i)
        if (cc__box_overlaps(&validity->cells[i].box, box) && (validity->cells[i].sources & ~sources) != 0)
            validity->cells[i].sources &= ~sources;
}

int64_t cc__validity_count_pixels(const cc__validity *validity, const cc__box *box, cc__sources sources)
{
    int64_t pixels = 0;
    for (int32_t i = 0; i < validity->count; ++i) {
        cc__box inside;
        if ((validity->cells[i].sources & sources) == sources &&
            cc__box_intersect(&validity->cells[i].box, box, &inside))
            pixels += cc__box_pixels(&inside);
    }
    return pixels;
}
