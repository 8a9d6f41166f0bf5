#include "data_manager/validity.h"

#include "base/allocate.h"
#include "base/error.h"

#include <string.h>

void cc__validity_init(cc__validity *validity, const cc__box *whole, cc__sources sources)
{
    memset(validity, 0, sizeof *validity);
    cc__cells_init(&validity->cells);
    validity->whole = *whole;
    cc__validity_reset(validity, sources);
}

void cc__validity_destroy(cc__validity *validity)
{
    cc__cells_destroy(&validity->cells);
    cc__free(validity->removed);
    cc__free(validity->added.items);
    memset(validity, 0, sizeof *validity);
    cc__cells_init(&validity->cells);
}

/* Room for so many is kept when no cell is left. */
#define MOST_SPARE_NODES 4096

static void give_back_room(cc__validity *validity)
{
    if (validity->cells.count == 0 && validity->cells.capacity > MOST_SPARE_NODES)
        cc__cells_destroy(&validity->cells);
}

void cc__validity_reset(cc__validity *validity, cc__sources sources)
{
    cc__cells_clear(&validity->cells);
    give_back_room(validity);
    validity->rest = sources;
    validity->rest_pixels = cc__box_pixels(&validity->whole);
}

static cc__sources changed(cc__sources sources, cc__sources keep, cc__sources add)
{
    const cc__sources left = (sources & keep) | add;
    return left != 0 ? left : CC__SOURCE_UNDEFINED;
}

int64_t cc__validity_count_rest(const cc__validity *validity, const cc__box *box)
{
    cc__cells_walk walk;
    int64_t pixels = cc__box_pixels(box);
    if (cc__box_contains(box, &validity->whole))
        return validity->rest_pixels;
    cc__cells_begin(&walk, &validity->cells, box, 0);
    for (int32_t at = cc__cells_next(&walk); at != CC__NO_CELL; at = cc__cells_next(&walk)) {
        cc__box inside;
        if (cc__box_intersect(&cc__cells_get(&validity->cells, at)->box, box, &inside))
            pixels -= cc__box_pixels(&inside);
    }
    return pixels;
}

bool cc__validity_cells_have(const cc__validity *validity, const cc__box *box, cc__sources source)
{
    cc__cells_walk walk;
    cc__cells_begin(&walk, &validity->cells, box, source);
    return cc__cells_next(&walk) == CC__NO_CELL &&
           ((validity->rest & source) == source || cc__validity_count_rest(validity, box) == 0);
}

/* Whether the change takes a cell apart. Where nothing is kept, the box becomes one cell, whatever was there. */
static bool is_cut(const cc__cell *cell, const cc__box *box, cc__sources keep, cc__sources add)
{
    if (keep == 0 && !cc__box_contains(&cell->box, box))
        return true;
    return changed(cell->sources, keep, add) != cell->sources;
}

bool cc__validity_would_change(const cc__validity *validity, const cc__box *box, cc__sources keep, cc__sources add)
{
    const bool changes_rest = changed(validity->rest, keep, add) != validity->rest;
    int64_t rest_pixels = cc__box_pixels(box);
    cc__cells_walk walk;
    cc__cells_begin(&walk, &validity->cells, box, 0);
    for (int32_t at = cc__cells_next(&walk); at != CC__NO_CELL; at = cc__cells_next(&walk)) {
        const cc__cell *cell = cc__cells_get(&validity->cells, at);
        cc__box inside;
        if (is_cut(cell, box, keep, add))
            return true;
        if (changes_rest && cc__box_intersect(&cell->box, box, &inside))
            rest_pixels -= cc__box_pixels(&inside);
    }
    return changes_rest && rest_pixels > 0;
}

static cc_status fail(int64_t count)
{
    return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__validity_prepare: no memory for %lld cells", (long long)count);
}

static cc_status note_added(cc__validity *validity, const cc__box *box, cc__sources sources)
{
    cc__cell_list *list = &validity->added;
    if (sources == validity->rest)
        return CC_OK;
    if (list->count == list->capacity) {
        const int32_t capacity = list->capacity < CC__BOX_MAX_PIECES ? CC__BOX_MAX_PIECES : 2 * list->capacity;
        cc__cell *items = cc__reallocate(list->items, (size_t)capacity * sizeof *items);
        if (items == NULL)
            return fail(capacity);
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = (cc__cell){*box, sources};
    return CC_OK;
}

static cc_status note_removed(cc__validity *validity, int32_t at)
{
    if (validity->removed_count == validity->removed_capacity) {
        const int32_t capacity = validity->removed_capacity < 8 ? 8 : 2 * validity->removed_capacity;
        int32_t *removed = cc__reallocate(validity->removed, (size_t)capacity * sizeof *removed);
        if (removed == NULL)
            return fail(capacity);
        validity->removed = removed;
        validity->removed_capacity = capacity;
    }
    validity->removed[validity->removed_count++] = at;
    return CC_OK;
}

/* What of a cell is outside the box stays what it is. */
static cc_status note_outside(cc__validity *validity, const cc__cell *cell, const cc__box *box)
{
    cc__box pieces[CC__BOX_MAX_PIECES];
    cc_status status = CC_OK;
    const int32_t count = cc__box_subtract(&cell->box, box, pieces);
    for (int32_t i = 0; status == CC_OK && i < count; ++i)
        status = note_added(validity, &pieces[i], cell->sources);
    return status;
}

/* What a change meets inside its box. */
typedef struct survey {
    bool changes;      /* anything */
    bool is_alike;     /* all of the box has the same sources afterwards */
    cc__sources alike; /* which, if so */
    bool has_rest;
} survey;

static void note_sources(survey *found, cc__sources sources, bool is_first)
{
    if (is_first)
        found->alike = sources;
    else
        found->is_alike = found->is_alike && sources == found->alike;
}

/* Lists all cells that the box overlaps as those to be removed. */
static cc_status survey_cells(cc__validity *validity, const cc__box *box, survey *out_found)
{
    const cc__sources rest = changed(validity->rest, validity->keep, validity->add);
    survey found = {.is_alike = true};
    int64_t rest_pixels = cc__box_pixels(box);
    cc_status status = CC_OK;
    cc__cells_walk walk;
    cc__cells_begin(&walk, &validity->cells, box, 0);
    for (int32_t at = cc__cells_next(&walk); status == CC_OK && at != CC__NO_CELL; at = cc__cells_next(&walk)) {
        const cc__cell *cell = cc__cells_get(&validity->cells, at);
        cc__box inside;
        found.changes = found.changes || is_cut(cell, box, validity->keep, validity->add);
        note_sources(&found, changed(cell->sources, validity->keep, validity->add), validity->removed_count == 0);
        if (cc__box_intersect(&cell->box, box, &inside))
            rest_pixels -= cc__box_pixels(&inside);
        status = note_removed(validity, at);
    }
    found.has_rest = rest_pixels > 0;
    if (found.has_rest) {
        found.changes = found.changes || rest != validity->rest;
        note_sources(&found, rest, validity->removed_count == 0);
    }
    *out_found = found;
    return status;
}

/* The box becomes one cell, or none. */
static cc_status prepare_alike(cc__validity *validity, const cc__box *box, cc__sources sources)
{
    cc_status status = note_added(validity, box, sources);
    for (int32_t i = 0; status == CC_OK && i < validity->removed_count; ++i)
        status = note_outside(validity, cc__cells_get(&validity->cells, validity->removed[i]), box);
    return status;
}

static cc_status take_changed_rest(void *context, const cc__box *part)
{
    cc__validity *validity = context;
    return note_added(validity, part, changed(validity->rest, validity->keep, validity->add));
}

static cc_status prepare_each(cc__validity *validity, const cc__box *box, bool has_rest)
{
    const int32_t count = validity->removed_count;
    cc_status status = CC_OK;
    validity->removed_count = 0;
    for (int32_t i = 0; status == CC_OK && i < count; ++i) {
        const int32_t at = validity->removed[i];
        const cc__cell *cell = cc__cells_get(&validity->cells, at);
        const cc__sources sources = changed(cell->sources, validity->keep, validity->add);
        cc__box inside;
        if (sources == cell->sources || !cc__box_intersect(&cell->box, box, &inside))
            continue;
        validity->removed[validity->removed_count++] = at;
        status = note_added(validity, &inside, sources);
        if (status == CC_OK)
            status = note_outside(validity, cell, box);
    }
    if (status == CC_OK && has_rest && changed(validity->rest, validity->keep, validity->add) != validity->rest)
        status = cc__validity_rest_parts(validity, box, take_changed_rest, validity);
    return status;
}

cc_status cc__validity_prepare(cc__validity *validity, const cc__box *box, cc__sources keep, cc__sources add)
{
    survey found;
    validity->keep = keep;
    validity->add = add;
    validity->changes_all = !cc__box_is_empty(box) && cc__box_contains(box, &validity->whole);
    validity->removed_count = 0;
    validity->added.count = 0;
    if (validity->changes_all)
        return CC_OK;
    cc_status status = survey_cells(validity, box, &found);
    if (status != CC_OK)
        return status;
    if (!found.changes) {
        validity->removed_count = 0;
        return CC_OK;
    }
    if (found.is_alike)
        status = prepare_alike(validity, box, found.alike);
    else
        status = prepare_each(validity, box, found.has_rest);
    if (status == CC_OK)
        status = cc__cells_reserve(&validity->cells, (int64_t)validity->added.count - validity->removed_count);
    return status;
}

static void count_rest(cc__validity *validity)
{
    cc__cells_walk walk;
    validity->rest_pixels = cc__box_pixels(&validity->whole);
    cc__cells_begin(&walk, &validity->cells, &validity->whole, 0);
    for (int32_t at = cc__cells_next(&walk); at != CC__NO_CELL; at = cc__cells_next(&walk))
        validity->rest_pixels -= cc__box_pixels(&cc__cells_get(&validity->cells, at)->box);
}

/* When all pixels are in cells, the sources of the largest become those of the rest. */
static void choose_rest(cc__validity *validity)
{
    cc__cells *cells = &validity->cells;
    cc__cells_walk walk;
    int64_t most = 0;
    if (validity->rest_pixels > 0 || cells->count == 0)
        return;
    cc__cells_begin(&walk, cells, &validity->whole, 0);
    for (int32_t at = cc__cells_next(&walk); at != CC__NO_CELL; at = cc__cells_next(&walk)) {
        const int64_t pixels = cc__box_pixels(&cc__cells_get(cells, at)->box);
        if (pixels > most)
            validity->rest = cc__cells_get(cells, at)->sources;
        most = pixels > most ? pixels : most;
    }
    cc__cells_change_all(cells, ~(cc__sources)0, 0, validity->rest);
    count_rest(validity);
}

/* Cells of the box that would be left without a source. */
static void undefine_cells(cc__validity *validity, const cc__box *box, cc__sources keep)
{
    cc__cells_walk walk;
    cc__cells_begin(&walk, &validity->cells, box, 0);
    for (int32_t at = cc__cells_next(&walk); at != CC__NO_CELL; at = cc__cells_next(&walk))
        if ((cc__cells_get(&validity->cells, at)->sources & keep) == 0)
            cc__cells_set_sources(&validity->cells, at, CC__SOURCE_UNDEFINED);
}

static void change_all(cc__validity *validity, cc__sources keep, cc__sources add)
{
    validity->rest = changed(validity->rest, keep, add);
    if (add == 0)
        undefine_cells(validity, &validity->whole, keep);
    cc__cells_change_all(&validity->cells, add == 0 ? keep | CC__SOURCE_UNDEFINED : keep, add, validity->rest);
    give_back_room(validity);
    count_rest(validity);
}

void cc__validity_install(cc__validity *validity)
{
    cc__cells *cells = &validity->cells;
    if (validity->changes_all) {
        change_all(validity, validity->keep, validity->add);
        validity->changes_all = false;
        return;
    }
    for (int32_t i = 0; i < validity->removed_count; ++i) {
        const int32_t at = validity->removed[i];
        validity->rest_pixels += cc__box_pixels(&cc__cells_get(cells, at)->box);
        cc__cells_remove(cells, at);
    }
    for (int32_t i = 0; i < validity->added.count; ++i) {
        validity->rest_pixels -= cc__box_pixels(&validity->added.items[i].box);
        cc__cells_join(cells, cc__cells_add(cells, &validity->added.items[i]));
    }
    validity->removed_count = 0;
    validity->added.count = 0;
    choose_rest(validity);
}

cc_status cc__validity_copy(const cc__validity *validity, cc__validity *out_copy)
{
    cc__validity copy;
    cc__cells_walk walk;
    cc__validity_init(&copy, &validity->whole, validity->rest);
    copy.rest_pixels = validity->rest_pixels;
    const cc_status status = cc__cells_reserve(&copy.cells, validity->cells.count);
    if (status != CC_OK)
        return status;
    cc__cells_begin(&walk, &validity->cells, &validity->whole, 0);
    for (int32_t at = cc__cells_next(&walk); at != CC__NO_CELL; at = cc__cells_next(&walk))
        (void)cc__cells_add(&copy.cells, cc__cells_get(&validity->cells, at));
    *out_copy = copy;
    return CC_OK;
}

void cc__validity_drop(cc__validity *validity, cc__sources sources)
{
    change_all(validity, ~sources, 0);
}

void cc__validity_forget(cc__validity *validity, const cc__box *box, cc__sources sources)
{
    cc__cells_walk walk;
    cc__cells_begin(&walk, &validity->cells, box, 0);
    for (int32_t at = cc__cells_next(&walk); at != CC__NO_CELL; at = cc__cells_next(&walk)) {
        const cc__sources others = cc__cells_get(&validity->cells, at)->sources & ~sources;
        if (others != 0)
            cc__cells_set_sources(&validity->cells, at, others);
    }
    if ((validity->rest & ~sources) != 0 && cc__validity_count_rest(validity, box) > 0)
        validity->rest &= ~sources;
    cc__cells_change_all(&validity->cells, ~(cc__sources)0, 0, validity->rest);
    count_rest(validity);
}

void cc__validity_lose(cc__validity *validity, const cc__box *box, cc__sources sources)
{
    if (cc__validity_prepare(validity, box, ~sources, 0) == CC_OK) {
        cc__validity_install(validity);
        return;
    }
    cc__validity_forget(validity, box, sources);
    undefine_cells(validity, box, ~sources);
    if ((validity->rest & ~sources) == 0 && cc__validity_count_rest(validity, box) > 0)
        validity->rest = CC__SOURCE_UNDEFINED;
    cc__cells_change_all(&validity->cells, ~(cc__sources)0, 0, validity->rest);
    count_rest(validity);
}

int64_t cc__validity_count_pixels(const cc__validity *validity, const cc__box *box, cc__sources sources)
{
    cc__cells_walk walk;
    int64_t pixels = (validity->rest & sources) == sources ? cc__validity_count_rest(validity, box) : 0;
    cc__cells_begin(&walk, &validity->cells, box, 0);
    for (int32_t at = cc__cells_next(&walk); at != CC__NO_CELL; at = cc__cells_next(&walk)) {
        const cc__cell *cell = cc__cells_get(&validity->cells, at);
        cc__box inside;
        if ((cell->sources & sources) == sources && cc__box_intersect(&cell->box, box, &inside))
            pixels += cc__box_pixels(&inside);
    }
    return pixels;
}

/* Boxes that are still to be looked at. */
typedef struct box_stack {
    cc__box *items;
    int32_t count;
    int32_t capacity;
} box_stack;

static bool make_room(box_stack *stack, int32_t more)
{
    if (stack->capacity - stack->count >= more)
        return true;
    const int32_t capacity = stack->capacity < 64 ? 64 : 2 * stack->capacity;
    cc__box *items = cc__reallocate(stack->items, (size_t)capacity * sizeof *items);
    if (items == NULL)
        return false;
    stack->items = items;
    stack->capacity = capacity;
    return true;
}

cc_status cc__validity_rest_parts(const cc__validity *validity, const cc__box *box, cc__take_part take, void *context)
{
    box_stack stack = {0};
    cc__box part = *box;
    cc_status status = CC_OK;
    bool has_part = !cc__box_is_empty(box) && validity->rest_pixels > 0;
    while (has_part) {
        cc__cells_walk walk;
        cc__cells_begin(&walk, &validity->cells, &part, 0);
        const int32_t at = cc__cells_next(&walk);
        if (at == CC__NO_CELL) {
            status = take(context, &part);
        } else if (make_room(&stack, CC__BOX_MAX_PIECES)) {
            const cc__box *cell = &cc__cells_get(&validity->cells, at)->box;
            stack.count += cc__box_subtract(&part, cell, &stack.items[stack.count]);
        } else {
            status = cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__validity_rest_parts: no memory for more than %d boxes",
                              (int)stack.capacity);
        }
        has_part = status == CC_OK && stack.count > 0;
        if (has_part)
            part = stack.items[--stack.count];
    }
    cc__free(stack.items);
    return status;
}

bool cc__validity_has_exactly(const cc__validity *validity, cc__sources sources)
{
    cc__cells_walk walk;
    if (validity->rest == sources && validity->rest_pixels > 0)
        return true;
    cc__cells_begin(&walk, &validity->cells, &validity->whole, 0);
    for (int32_t at = cc__cells_next(&walk); at != CC__NO_CELL; at = cc__cells_next(&walk))
        if (cc__cells_get(&validity->cells, at)->sources == sources)
            return true;
    return false;
}

cc__sources cc__validity_everywhere(const cc__validity *validity)
{
    cc__sources everywhere =
        validity->cells.count > 0 ? validity->cells.nodes[validity->cells.root].cell.sources : ~(cc__sources)0;
    return validity->rest_pixels > 0 ? everywhere & validity->rest : everywhere;
}
