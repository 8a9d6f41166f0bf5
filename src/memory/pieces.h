/* Copies cut into smaller ones: at the borders of page-locked memory, and into parts that fit a chunk. Pure arithmetic.
 */
#ifndef CC_MEMORY_PIECES_H
#define CC_MEMORY_PIECES_H

#include "base/work.h"

#include <cudacommon/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which side of a copy the host's memory is. */
typedef enum cc__side {
    CC__SIDE_DESTINATION = 0,
    CC__SIDE_SOURCE = 1
} cc__side;

/* Bytes of some memory, counted from its first. */
typedef struct cc__range {
    size_t first;
    size_t end;
} cc__range;

cc__span *cc__copy_side(cc__copy *work, cc__side side);
const cc__span *cc__copy_side_of(const cc__copy *work, cc__side side);
int64_t cc__copy_bytes(const cc__copy *work);                 /* that move */
int64_t cc__copy_extent(const cc__copy *work, cc__side side); /* from the first byte of that side to the last */

/*
 * Gives `take` the pieces of `work` whose side lies inside one of the ranges, or in one gap between them, all of it.
 * base: the byte that the ranges count from, at or before that side. The ranges are disjoint and in order. A pixel that
 * a border goes through is cut into bytes. Ends early when `take` fails, with its status.
 */
typedef cc_status (*cc__take_piece)(void *context, const cc__copy *piece, bool is_in_range);
cc_status cc__pieces_at_borders(const cc__copy *work, cc__side side, const unsigned char *base, const cc__range *ranges,
                                int32_t count, cc__take_piece take, void *context);

/* A copy as equal parts of at most so many bytes (the last one along an axis may be smaller), each a box. */
typedef struct cc__parts {
    int32_t axis;  /* along which it is cut; later axes are cut into single steps */
    int64_t step;  /* pixels of a part along it */
    int64_t count; /* parts in all */
} cc__parts;

/* most_bytes: at least a pixel. */
cc__parts cc__parts_plan(const cc__copy *work, int64_t most_bytes);
cc__copy cc__parts_get(const cc__copy *work, const cc__parts *parts, int64_t at);

#endif
