/* How rescaling is shared out on the GPU: which kernel does it, and what it works on. Plain C. */
#ifndef CC_KERNELS_RESCALE_PLAN_H
#define CC_KERNELS_RESCALE_PLAN_H

#include "base/rows.h"
#include "base/work.h"
#include "kernels/tiles.h"

#include <stdbool.h>
#include <string.h>

/*
 * In each tile a thread loads 8 components before it needs the first, computes, and stores them. A piece of work is one
 * component, or a pack of 4 side by side when both types have at most 4 bytes: one by one, small ones would take more
 * loads and stores than a multiprocessor can issue.
 */
#define CC__RESCALE_COMPONENTS 8
#define CC__RESCALE_TILE_LOG2 11
#define CC__RESCALE_TILE (CC__RESCALE_COMPONENTS * CC__BLOCK_THREADS)
#define CC__RESCALE_PACK 4
#define CC__RESCALE_PACK_LOG2 2

typedef struct cc__rescale_plan {
    unsigned char *destination; /* the first component of the first row */
    const unsigned char *source;
    int64_t length;  /* components of a row */
    int64_t step[2]; /* bytes to the next component; [0] is the destination's */
    double scale;
    double shift;
    cc_pixel_type destination_type;
    cc_pixel_type source_type;
    int32_t is_cast; /* nothing to compute: see cc__rescale_on_host */
    int32_t before;  /* components that the first pack of each row has too many, so that packs are aligned */
    cc__tiles tiles;
} cc__rescale_plan;

/* Which kernel, and what a piece of work is. */
typedef enum cc__rescale_way {
    CC__RESCALE_PACKS,
    CC__RESCALE_SINGLES,
    CC__RESCALE_COMPLEX,
    CC__RESCALE_TRANSFER /* whole numbers of up to 64 bits, copied or clamped */
} cc__rescale_way;

/* The unsigned integer of as many bytes; for 16 bytes, twice that of 8. */
static inline cc_pixel_type cc__rescale_holder(size_t size_bytes)
{
    switch (size_bytes) {
    case 1:
        return CC_PIXEL_UINT8;
    case 2:
        return CC_PIXEL_UINT16;
    case 4:
        return CC_PIXEL_UINT32;
    default:
        return CC_PIXEL_UINT64;
    }
}

static inline bool cc__rescale_is_complex(cc_pixel_type type)
{
    return type == CC_PIXEL_COMPLEX64 || type == CC_PIXEL_COMPLEX128;
}

/* How many components before the first a pack begins, to be aligned in both spans and all rows; -1: it cannot be. */
static inline int32_t cc__rescale_before_pack(const cc__rescale *work, const cc__rows *rows)
{
    const uintptr_t address[2] = {(uintptr_t)work->destination.data, (uintptr_t)work->source.data};
    const int64_t size[2] = {(int64_t)cc_pixel_type_size_bytes(work->destination_type),
                             (int64_t)cc_pixel_type_size_bytes(work->source_type)};
    for (int32_t span = 0; span < 2; span++) {
        if (size[span] > 4 || rows->step[span] != size[span])
            return -1;
        for (int32_t i = 0; i < rows->axes; i++) {
            if (rows->stride[span][i] % (CC__RESCALE_PACK * size[span]) != 0)
                return -1;
        }
    }
    int32_t before = (int32_t)(address[0] / (uintptr_t)size[0] % CC__RESCALE_PACK);
    return before == (int32_t)(address[1] / (uintptr_t)size[1] % CC__RESCALE_PACK) ? before : -1;
}

/* All but where rows begin and the tiles, which follow when the rows are few enough. */
static inline cc__rescale_way cc__rescale_plan_work(const cc__rescale *work, cc__rescale_plan *plan, cc__rows *rows)
{
    int64_t components = work->components;
    size_t size_bytes = cc_pixel_type_size_bytes(work->source_type);
    bool is_64_bits = (work->destination_type == CC_PIXEL_UINT64 && work->source_type == CC_PIXEL_INT64) ||
                      (work->destination_type == CC_PIXEL_INT64 && work->source_type == CC_PIXEL_UINT64);
    cc__rescale_way way;

    memset(plan, 0, sizeof *plan);
    plan->scale = work->scale;
    plan->shift = work->shift;
    plan->destination_type = work->destination_type;
    plan->source_type = work->source_type;
    plan->is_cast = work->scale == 1.0 && work->shift == 0.0;
    if (plan->is_cast && work->destination_type == work->source_type) {
        plan->destination_type = cc__rescale_holder(size_bytes);
        plan->source_type = plan->destination_type;
        if (size_bytes == 16)
            components *= 2;
        way = CC__RESCALE_TRANSFER;
    } else if (plan->is_cast && is_64_bits) {
        way = CC__RESCALE_TRANSFER;
    } else if (cc__rescale_is_complex(work->destination_type) || cc__rescale_is_complex(work->source_type)) {
        way = CC__RESCALE_COMPLEX;
    } else {
        way = CC__RESCALE_SINGLES;
    }

    cc__rows_plan(CC__ROWS_OF_ELEMENTS, components, (int64_t)cc_pixel_type_size_bytes(plan->destination_type),
                  (int64_t)cc_pixel_type_size_bytes(plan->source_type), work->size, work->destination.stride,
                  work->source.stride, rows);
    if (way == CC__RESCALE_SINGLES) {
        int32_t before = cc__rescale_before_pack(work, rows);
        if (before >= 0) {
            plan->before = before;
            way = CC__RESCALE_PACKS;
        }
    }
    plan->length = rows->length;
    plan->step[0] = rows->step[0];
    plan->step[1] = rows->step[1];
    return way;
}

#endif
