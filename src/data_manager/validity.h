/*
 * Where the newest value of every pixel is. Pure bookkeeping: no memory of pixels, no device, no lock.
 *
 * The image is cut into disjoint cells that cover it, each with the set of sources that hold its newest value. A pixel
 * is in exactly one cell and a cell has at least one source, so "newest on two places with different values" and
 * "newest nowhere" cannot be written down.
 */
#ifndef CC_DATA_MANAGER_VALIDITY_H
#define CC_DATA_MANAGER_VALIDITY_H

#include "backend/backend.h"
#include "base/box.h"

#include <cudacommon/device.h>
#include <cudacommon/status.h>
#include <stdbool.h>

/* A set of sources: the host, each device, and two that need no memory. */
typedef uint64_t cc__sources;
#define CC__SOURCE(place) ((cc__sources)1 << ((place) + 1))
#define CC__SOURCE_CONSTANT ((cc__sources)1 << 62)  /* equal to the data manager's fill value */
#define CC__SOURCE_UNDEFINED ((cc__sources)1 << 63) /* never written; alone in its set */

typedef struct cc__cell {
    cc__box box;
    cc__sources sources;
} cc__cell;

typedef struct cc__validity {
    cc__cell *cells; /* none for an image without pixels */
    int32_t count;
    int32_t capacity;
} cc__validity;

/* One cell with these sources. OUT_OF_HOST_MEMORY. */
cc_status cc__validity_init(cc__validity *validity, const cc__box *whole, cc__sources sources);
void cc__validity_destroy(cc__validity *validity);

/* Whether that (see cc__validity_prepare) would change anything. */
bool cc__validity_would_change(const cc__validity *validity, const cc__box *box, cc__sources keep, cc__sources add);

/* Whether all of the box has this source. */
static inline bool cc__validity_has(const cc__validity *validity, const cc__box *box, cc__sources source)
{
    for (int32_t i = 0; i < validity->count; ++i)
        if ((validity->cells[i].sources & source) == 0 && cc__box_overlaps(&validity->cells[i].box, box))
            return false;
    return true;
}

/*
 * What `validity` becomes when, inside the box, each cell's sources become (sources & keep) | add. Leaves `validity` as
 * it is and makes a new one, so that a caller can install it once everything else has succeeded. OUT_OF_HOST_MEMORY.
 */
cc_status cc__validity_prepare(const cc__validity *validity, const cc__box *box, cc__sources keep, cc__sources add,
                               cc__validity *out_next);
void cc__validity_install(cc__validity *validity, cc__validity *next); /* takes over next's cells */

/* Everywhere at once; these cannot fail. drop: each cell has another source. reset: one cell again. */
void cc__validity_drop(cc__validity *validity, cc__sources sources);
void cc__validity_reset(cc__validity *validity, const cc__box *whole, cc__sources sources);

/* Where others have the pixels too: cells that touch the box lose these sources. Cannot fail. */
void cc__validity_forget(cc__validity *validity, const cc__box *box, cc__sources sources);

/* Pixels of the box whose cells have all of these sources. */
int64_t cc__validity_count_pixels(const cc__validity *validity, const cc__box *box, cc__sources sources);

#endif
