#include "data_manager/cells.h"

#include "base/allocate.h"
#include "base/error.h"

#include <string.h>

#define FIRST_CAPACITY 8

void cc__cells_init(cc__cells *cells)
{
    memset(cells, 0, sizeof *cells);
    cc__cells_clear(cells);
}

void cc__cells_destroy(cc__cells *cells)
{
    cc__free(cells->nodes);
    cc__cells_init(cells);
}

void cc__cells_clear(cc__cells *cells)
{
    cells->count = 0;
    cells->root = CC__NO_CELL;
    cells->used = 0;
    cells->free = CC__NO_CELL;
}

cc_status cc__cells_reserve(cc__cells *cells, int64_t more)
{
    /* A tree of n leaves has n - 1 other nodes. */
    const int64_t needed = 2 * (cells->count + more);
    int64_t capacity = cells->capacity < FIRST_CAPACITY ? FIRST_CAPACITY : cells->capacity;
    if (needed <= cells->capacity)
        return CC_OK;
    while (capacity < needed)
        capacity *= 2;
    cc__cell_node *nodes =
        capacity <= INT32_MAX ? cc__reallocate(cells->nodes, (size_t)capacity * sizeof *nodes) : NULL;
    if (nodes == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__cells_reserve: no memory for %lld cells",
                        (long long)cells->count + (long long)more);
    cells->nodes = nodes;
    cells->capacity = (int32_t)capacity;
    return CC_OK;
}

static int32_t take_node(cc__cells *cells)
{
    const int32_t at = cells->free;
    if (at == CC__NO_CELL)
        return cells->used++;
    cells->free = cells->nodes[at].parent;
    return at;
}

static void give_node(cc__cells *cells, int32_t at)
{
    cells->nodes[at].parent = cells->free;
    cells->nodes[at].height = -1;
    cells->free = at;
}

static bool is_leaf(const cc__cell_node *node)
{
    return node->child[0] == CC__NO_CELL;
}

static void refit(cc__cells *cells, int32_t at)
{
    cc__cell_node *node = &cells->nodes[at];
    const cc__cell_node *left = &cells->nodes[node->child[0]];
    const cc__cell_node *right = &cells->nodes[node->child[1]];
    node->cell.box = cc__box_bounding(&left->cell.box, &right->cell.box);
    node->cell.sources = left->cell.sources & right->cell.sources;
    node->height = 1 + (left->height > right->height ? left->height : right->height);
}

static void set_child(cc__cells *cells, int32_t parent, int32_t was, int32_t becomes)
{
    cells->nodes[becomes].parent = parent;
    if (parent == CC__NO_CELL)
        cells->root = becomes;
    else
        cells->nodes[parent].child[cells->nodes[parent].child[1] == was] = becomes;
}

/* Puts the child in its parent's place, and the parent beside the taller of the child's children. */
static int32_t rotate(cc__cells *cells, int32_t at, int32_t side)
{
    cc__cell_node *node = &cells->nodes[at];
    const int32_t up = node->child[side];
    cc__cell_node *top = &cells->nodes[up];
    const int32_t taller = cells->nodes[top->child[1]].height > cells->nodes[top->child[0]].height;
    const int32_t other = top->child[1 - taller];
    set_child(cells, node->parent, at, up);
    top->child[1 - taller] = at;
    node->parent = up;
    node->child[side] = other;
    cells->nodes[other].parent = at;
    refit(cells, at);
    return up;
}

/* Puts the boxes, sources and heights right from here up, and the balance with them. */
static void fix_up(cc__cells *cells, int32_t at)
{
    while (at != CC__NO_CELL) {
        const cc__cell_node *node = &cells->nodes[at];
        const int32_t lean = cells->nodes[node->child[1]].height - cells->nodes[node->child[0]].height;
        if (lean < -1 || lean > 1)
            at = rotate(cells, at, lean > 1);
        refit(cells, at);
        at = cells->nodes[at].parent;
    }
}

static int64_t girth(const cc__box *box)
{
    return box->size[0] + box->size[1] + box->size[2] + box->size[3];
}

static int64_t growth(const cc__box *around, const cc__box *box)
{
    const cc__box larger = cc__box_bounding(around, box);
    return girth(&larger) - girth(around);
}

/* The leaf beside which a box makes the boxes around it grow least. */
static int32_t find_sibling(const cc__cells *cells, const cc__box *box)
{
    int32_t at = cells->root;
    while (!is_leaf(&cells->nodes[at])) {
        const cc__cell_node *node = &cells->nodes[at];
        const int64_t left = growth(&cells->nodes[node->child[0]].cell.box, box);
        const int64_t right = growth(&cells->nodes[node->child[1]].cell.box, box);
        at = node->child[right < left];
    }
    return at;
}

int32_t cc__cells_add(cc__cells *cells, const cc__cell *cell)
{
    const int32_t at = take_node(cells);
    cc__cell_node *leaf = &cells->nodes[at];
    *leaf = (cc__cell_node){.cell = *cell, .parent = CC__NO_CELL, .child = {CC__NO_CELL, CC__NO_CELL}};
    if (cells->count++ == 0) {
        cells->root = at;
        return at;
    }
    const int32_t sibling = find_sibling(cells, &cell->box);
    const int32_t between = take_node(cells);
    cc__cell_node *parent = &cells->nodes[between];
    set_child(cells, cells->nodes[sibling].parent, sibling, between);
    parent->child[0] = sibling;
    parent->child[1] = at;
    cells->nodes[sibling].parent = between;
    leaf->parent = between;
    fix_up(cells, between);
    return at;
}

void cc__cells_remove(cc__cells *cells, int32_t at)
{
    const int32_t parent = cells->nodes[at].parent;
    --cells->count;
    if (parent == CC__NO_CELL) {
        cc__cells_clear(cells);
        return;
    }
    const cc__cell_node *node = &cells->nodes[parent];
    const int32_t sibling = node->child[node->child[0] == at];
    const int32_t above = node->parent;
    set_child(cells, above, parent, sibling);
    give_node(cells, parent);
    give_node(cells, at);
    fix_up(cells, above);
}

void cc__cells_set_sources(cc__cells *cells, int32_t at, cc__sources sources)
{
    cells->nodes[at].cell.sources = sources;
    for (at = cells->nodes[at].parent; at != CC__NO_CELL; at = cells->nodes[at].parent) {
        cc__cell_node *node = &cells->nodes[at];
        node->cell.sources = cells->nodes[node->child[0]].cell.sources & cells->nodes[node->child[1]].cell.sources;
    }
}

/* A cell that touches this one, is alike, and makes a box with it. */
static int32_t find_partner(const cc__cells *cells, const cc__cell *cell, cc__box *out_joined)
{
    cc__box around = cell->box;
    cc__cells_walk walk;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        around.start[axis] -= 1;
        around.size[axis] += 2;
    }
    cc__cells_begin(&walk, cells, &around, 0);
    for (int32_t at = cc__cells_next(&walk); at != CC__NO_CELL; at = cc__cells_next(&walk)) {
        const cc__cell *other = cc__cells_get(cells, at);
        if (other != cell && other->sources == cell->sources && cc__box_join(&cell->box, &other->box, out_joined))
            return at;
    }
    return CC__NO_CELL;
}

void cc__cells_join(cc__cells *cells, int32_t at)
{
    cc__cell joined = *cc__cells_get(cells, at);
    int32_t other = find_partner(cells, cc__cells_get(cells, at), &joined.box);
    while (other != CC__NO_CELL) {
        cc__cells_remove(cells, other);
        cc__cells_remove(cells, at);
        at = cc__cells_add(cells, &joined);
        other = find_partner(cells, cc__cells_get(cells, at), &joined.box);
    }
}

static bool is_cell(const cc__cells *cells, int32_t at)
{
    return at < cells->used && cells->nodes[at].height == 0;
}

void cc__cells_join_all(cc__cells *cells)
{
    for (int32_t at = 0; at < cells->used; ++at)
        if (is_cell(cells, at))
            cc__cells_join(cells, at);
}

void cc__cells_change_all(cc__cells *cells, cc__sources keep, cc__sources add, cc__sources gone)
{
    int32_t staying = 0;
    for (int32_t at = 0; at < cells->used; ++at) {
        cc__cell_node *node = &cells->nodes[at];
        if (node->height < 0)
            continue;
        /* What all below have in common changes as they do. */
        node->cell.sources = (node->cell.sources & keep) | add;
        staying += node->height == 0 && node->cell.sources != gone;
    }
    if (staying == 0) {
        cc__cells_clear(cells);
        return;
    }
    for (int32_t at = 0; at < cells->used; ++at)
        if (is_cell(cells, at) && cells->nodes[at].cell.sources == gone)
            cc__cells_remove(cells, at);
    cc__cells_join_all(cells);
}

int32_t cc__cells_next_below(cc__cells_walk *walk)
{
    while (walk->depth > 0) {
        const int32_t at = walk->stack[--walk->depth];
        const cc__cell_node *node = &walk->cells->nodes[at];
        if ((walk->skip != 0 && (node->cell.sources & walk->skip) == walk->skip) ||
            (!walk->takes_all && !cc__box_overlaps(&node->cell.box, walk->box)))
            continue;
        if (is_leaf(node))
            return at;
        walk->stack[walk->depth++] = node->child[1];
        walk->stack[walk->depth++] = node->child[0];
    }
    return CC__NO_CELL;
}
