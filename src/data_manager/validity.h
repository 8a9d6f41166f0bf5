/*
 * Where the newest value of every pixel is. Pure bookkeeping: no memory of pixels, no device, no lock.
 *
 * Some pixels are in disjoint cells, each with the set of sources that hold its newest value; all others have one such
 * set, `rest`, in common, so that scattered boxes do not cut up what is around them. Each pixel has one set, with at
 * least one source: "newest on two places with different values" and "newest nowhere" cannot be written down.
 */
#ifndef CC_DATA_MANAGER_VALIDITY_H
#define CC_DATA_MANAGER_VALIDITY_H

#include "data_manager/cells.h"

typedef struct cc__cell_list {
    cc__cell *items;
    int32_t count;
    int32_t capacity;
} cc__cell_list;

typedef struct cc__validity {
    cc__box whole;
    cc__sources rest;
    int64_t rest_pixels; /* how many are in no cell */
    cc__cells cells;

    /* A change that is prepared: of all pixels, or of some cells. The lists are kept for the next. */
    bool changes_all;
    cc__sources keep;
    cc__sources add;
    int32_t *removed;
    int32_t removed_count;
    int32_t removed_capacity;
    cc__cell_list added;
} cc__validity;

/* The same sources everywhere. */
void cc__validity_init(cc__validity *validity, const cc__box *whole, cc__sources sources);
void cc__validity_destroy(cc__validity *validity);

/* Whether that (see cc__validity_prepare) would change anything. */
bool cc__validity_would_change(const cc__validity *validity, const cc__box *box, cc__sources keep, cc__sources add);

bool cc__validity_cells_have(const cc__validity *validity, const cc__box *box, cc__sources source);

/* Whether all of the box has this source. In every access, and mostly answered at once. */
static inline bool cc__validity_has(const cc__validity *validity, const cc__box *box, cc__sources source)
{
    if (validity->cells.count == 0)
        return (validity->rest & source) == source || cc__box_is_empty(box);
    return cc__validity_cells_have(validity, box, source);
}

/*
 * Gets ready to make each pixel's sources (sources & keep) | add inside the box, and undefined where that is none:
 * everything that can fail of it. Until
 * cc__validity_install() makes the change nothing is different, and it need not be made; only asking is allowed in
 * between. Costs the logarithm of the number of cells, and what it changes. OUT_OF_HOST_MEMORY.
 */
cc_status cc__validity_prepare(cc__validity *validity, const cc__box *box, cc__sources keep, cc__sources add);
void cc__validity_install(cc__validity *validity);

/* The same as another, in memory of its own. OUT_OF_HOST_MEMORY. */
cc_status cc__validity_copy(const cc__validity *validity, cc__validity *out_copy);

/* Everywhere at once; these cannot fail. drop: each pixel has another source. reset: the same sources everywhere. */
void cc__validity_drop(cc__validity *validity, cc__sources sources);
void cc__validity_reset(cc__validity *validity, cc__sources sources);

/* Where others have the pixels too: the box, and what shares a cell with it, loses these sources. Cannot fail. */
void cc__validity_forget(cc__validity *validity, const cc__box *box, cc__sources sources);

/*
 * The box's pixels are not with these sources any more, and undefined where they were with no others. Cannot fail: what
 * shares a cell with the box has the same fate when there is no memory for a new one.
 */
void cc__validity_lose(cc__validity *validity, const cc__box *box, cc__sources sources);

/* Pixels of the box that have all of these sources. */
int64_t cc__validity_count_pixels(const cc__validity *validity, const cc__box *box, cc__sources sources);

/* How many pixels of the box are in no cell. */
int64_t cc__validity_count_rest(const cc__validity *validity, const cc__box *box);

/*
 * Gives `take` what of the box is in no cell, as disjoint boxes, about as many as if the cells were cut out of it one
 * by one. Ends early when `take` fails, with its status. OUT_OF_HOST_MEMORY.
 */
typedef cc_status (*cc__take_part)(void *context, const cc__box *part);
cc_status cc__validity_rest_parts(const cc__validity *validity, const cc__box *box, cc__take_part take, void *context);

/* Whether there is a pixel with just these sources. */
bool cc__validity_has_exactly(const cc__validity *validity, cc__sources sources);

/* What all pixels have in common. */
cc__sources cc__validity_everywhere(const cc__validity *validity);

#endif
