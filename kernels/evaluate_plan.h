/* How an expression is computed on the GPU: which kernel does it, and what it works on. Plain C. */
#ifndef CC_KERNELS_EVALUATE_PLAN_H
#define CC_KERNELS_EVALUATE_PLAN_H

#include "base/evaluate.h"
#include "kernels/tiles.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/*
 * Everything else: each thread takes a pack of components side by side in a row, loads what it can of the sources
 * before it begins, and then goes through the steps as the CPU does.
 */
#define CC__GENERAL_PACK 4
#define CC__GENERAL_WIDE_PACK 2 /* of complex and whole numbers, which need more registers */
#define CC__GENERAL_AHEAD 3     /* sources loaded before the first step */
#define CC__GENERAL_TILE_LOG2 8

typedef struct cc__general_plan {
    cc__evaluate work; /* data is where the first row of this launch begins */
    int64_t length;
    int64_t step[CC__MAX_SPANS];
    int64_t stride[CC__MAX_SPANS][CC_MAX_DIMENSION];
    uint32_t packed; /* a bit for each span whose packs are aligned */
    cc__tiles tiles; /* of packs */
} cc__general_plan;

/* What all devices take as a kernel's parameters. */
static_assert(sizeof(cc__general_plan) <= 4096, "a plan is passed by value");

/* Whether packs of the span lie side by side, and can be loaded in as few parts as 16 bytes each allow, in every row.
 */
static inline bool cc__general_is_packed(const cc__lattice *lattice, int32_t span, const void *data, int64_t size_bytes)
{
    const int64_t pack_bytes = CC__GENERAL_PACK * size_bytes;
    const int64_t alignment = pack_bytes < 16 ? pack_bytes : 16;
    if (lattice->step[span] != size_bytes || (uintptr_t)data % (uintptr_t)alignment != 0)
        return false;
    for (int32_t i = 0; i < lattice->axes; i++)
        if (lattice->stride[span][i] % alignment != 0)
            return false;
    return true;
}

/* All but where rows begin and the tiles, which follow when the rows are few enough. */
static inline void cc__general_plan_make(const cc__evaluate *work, const cc__lattice *lattice, cc__general_plan *plan,
                                         cc__rows *out_rows)
{
    memset(plan, 0, sizeof *plan);
    plan->work = *work;
    plan->length = lattice->length;
    memcpy(plan->step, lattice->step, sizeof plan->step);
    memcpy(plan->stride, lattice->stride, sizeof plan->stride);
    for (int32_t span = 0; span <= work->source_count; span++) {
        const cc_pixel_type type = span == 0 ? work->destination_type : work->sources[span - 1].type;
        const void *data = span == 0 ? work->destination.data : work->sources[span - 1].data;
        const int64_t size_bytes = (int64_t)cc_pixel_type_size_bytes(type);
        if (work->numbers == CC__NUMBERS_REAL && cc__general_is_packed(lattice, span, data, size_bytes))
            plan->packed |= UINT32_C(1) << span;
    }
    memset(out_rows, 0, sizeof *out_rows);
    out_rows->length = lattice->length;
    out_rows->axes = lattice->axes;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++)
        out_rows->size[i] = lattice->size[i];
}

#endif
