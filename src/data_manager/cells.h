/*
 * Disjoint boxes of pixels, each with its sources, found by where they are in the time of the logarithm of their
 * number: a balanced tree, whose inner nodes hold the box around all cells below. Pure bookkeeping.
 */
#ifndef CC_DATA_MANAGER_CELLS_H
#define CC_DATA_MANAGER_CELLS_H

#include "backend/backend.h"
#include "base/box.h"

#include <cudacommon/device.h>
#include <cudacommon/status.h>

/* A set of sources: the host, each device, and two that need no memory. */
typedef uint64_t cc__sources;
#define CC__SOURCE(place) ((cc__sources)1 << ((place) + 1))
#define CC__SOURCE_CONSTANT ((cc__sources)1 << 62)  /* equal to the data manager's fill value */
#define CC__SOURCE_UNDEFINED ((cc__sources)1 << 63) /* never written, or lost; alone in its set */

typedef struct cc__cell {
    cc__box box;
    cc__sources sources;
} cc__cell;

typedef struct cc__cell_node {
    cc__cell cell;    /* of a leaf; else the box around all below, and the sources that all of them have */
    int32_t parent;   /* CC__NO_CELL for the root; of a node that is free, the next one */
    int32_t child[2]; /* both CC__NO_CELL in a leaf */
    int32_t height;   /* 0 for a leaf */
} cc__cell_node;

#define CC__NO_CELL (-1)

typedef struct cc__cells {
    cc__cell_node *nodes;
    int32_t count; /* of cells */
    int32_t root;
    int32_t used; /* nodes from here on were never taken */
    int32_t free; /* the first that was given back */
    int32_t capacity;
} cc__cells;

void cc__cells_init(cc__cells *cells);
void cc__cells_destroy(cc__cells *cells);

/* Room for so many more, so that adding them cannot fail. OUT_OF_HOST_MEMORY. */
cc_status cc__cells_reserve(cc__cells *cells, int64_t more);

/* A cell has a number, which stays until it is removed. */
int32_t cc__cells_add(cc__cells *cells, const cc__cell *cell);
void cc__cells_remove(cc__cells *cells, int32_t at);
void cc__cells_clear(cc__cells *cells);

static inline const cc__cell *cc__cells_get(const cc__cells *cells, int32_t at)
{
    return &cells->nodes[at].cell;
}

/* Joins the cell with equal neighbours until none is left; its number ends. Needs no room. */
void cc__cells_join(cc__cells *cells, int32_t at);

/* Joins all that can be. Needs no room. */
void cc__cells_join_all(cc__cells *cells);

/* Makes each cell's sources (sources & keep) | add, and removes those that become `gone`. Needs no room. */
void cc__cells_change_all(cc__cells *cells, cc__sources keep, cc__sources add, cc__sources gone);
void cc__cells_set_sources(cc__cells *cells, int32_t at, cc__sources sources);

/* The cells that overlap a box, but for those that have all of `skip`, when that is not 0. The tree stays as it is. */
#define CC__CELLS_MAX_DEPTH 64
/* So many nodes are looked at faster as they lie in memory than down the tree, though none is left out. */
#define CC__CELLS_NODES_IN_ORDER 2048
typedef struct cc__cells_walk {
    const cc__cells *cells;
    const cc__box *box;
    cc__sources skip;
    bool takes_all;   /* the box contains all cells */
    int32_t in_order; /* the next node, when they are looked at as they lie in memory */
    int32_t depth;
    int32_t stack[CC__CELLS_MAX_DEPTH];
} cc__cells_walk;
static inline void cc__cells_begin(cc__cells_walk *walk, const cc__cells *cells, const cc__box *box, cc__sources skip)
{
    walk->depth = 0;
    walk->in_order = CC__NO_CELL;
    if (cells->count == 0)
        return;
    walk->cells = cells;
    walk->box = box;
    walk->skip = skip;
    walk->takes_all = cc__box_contains(box, &cells->nodes[cells->root].cell.box);
    if (walk->takes_all && (skip == 0 || cells->used <= CC__CELLS_NODES_IN_ORDER))
        walk->in_order = 0;
    else
        walk->stack[walk->depth++] = cells->root;
}
int32_t cc__cells_next_below(cc__cells_walk *walk); /* not for use outside of what follows */

/* CC__NO_CELL at the end. */
static inline int32_t cc__cells_next(cc__cells_walk *walk)
{
    if (walk->in_order == CC__NO_CELL)
        return cc__cells_next_below(walk);
    const cc__cells *cells = walk->cells;
    for (int32_t at = walk->in_order; at < cells->used; ++at) {
        const cc__cell_node *node = &cells->nodes[at];
        if (node->height != 0 || (walk->skip != 0 && (node->cell.sources & walk->skip) == walk->skip))
            continue;
        walk->in_order = at + 1;
        return at;
    }
    walk->in_order = cells->used;
    return CC__NO_CELL;
}

#endif
