/* How an expression is computed on the GPU: which kernel does it, and what it works on. Plain C. */
#ifndef CC_KERNELS_EVALUATE_PLAN_H
#define CC_KERNELS_EVALUATE_PLAN_H

#include "base/evaluate.h"
#include "kernels/tiles.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/*
 * One step on rows of float32 without gaps, 16 bytes at a time. A block takes a tile of CC__DIRECT_VECTORS for each
 * thread. The first and last components, which do not fill 16 bytes, come on their own.
 */
#define CC__DIRECT_VECTORS 2
#define CC__DIRECT_TILE (CC__DIRECT_VECTORS * CC__BLOCK_THREADS)
#define CC__DIRECT_MOST_BLOCKS INT32_MAX

typedef struct cc__direct_plan {
    unsigned char *to; /* the first component that is aligned to 16 bytes */
    const unsigned char *x;
    const unsigned char *y;
    int64_t vectors;
    int32_t head; /* components before it, up to 3 */
    int32_t tail; /* after the last vector */
    double a;
    double b;
} cc__direct_plan;

/* Which forms have a kernel of their own. */
typedef enum cc__direct_form {
    CC__DIRECT_NONE = 0,
    CC__DIRECT_TWO = 1,   /* x and y */
    CC__DIRECT_VALUE = 2, /* x and a, also for steps without operand */
    CC__DIRECT_AXPY = 3,  /* x * a + y */
    CC__DIRECT_SCALE = 4  /* x * a + b */
} cc__direct_form;

static inline bool cc__direct_is_multiply_add(const cc__evaluate *work)
{
    const cc__instruction *steps = work->steps;
    if (work->numbers != CC__NUMBERS_REAL || work->step_count != 2 || work->destination_type != CC_PIXEL_FLOAT32 ||
        steps[0].a.kind != CC__TERM_SOURCE || steps[0].a.number != 0 || steps[1].kind != CC_STEP_MULTIPLY_ADD ||
        steps[1].a.kind != CC__TERM_VALUE || steps[1].b.kind == CC__TERM_SLOT || work->source_count > 2)
        return false;
    for (int32_t i = 0; i < work->source_count; i++)
        if (work->sources[i].type != CC_PIXEL_FLOAT32)
            return false;
    return steps[1].b.kind == CC__TERM_VALUE || steps[1].b.kind == CC__TERM_SOURCE;
}

static inline cc__direct_form cc__direct_plan_make(const cc__evaluate *work, const cc__lattice *lattice,
                                                   cc__direct_plan *plan)
{
    const cc__instruction *step = &work->steps[1];
    const cc__term *other = NULL;
    cc__direct_form form = CC__DIRECT_NONE;
    if (lattice->axes > 0 || lattice->step[0] != 4 || work->source_count < 1)
        return CC__DIRECT_NONE;
    for (int32_t i = 0; i < work->source_count; i++)
        if (lattice->step[1 + i] != 4)
            return CC__DIRECT_NONE;
    if (cc__direct_is_multiply_add(work)) {
        form = step->b.kind == CC__TERM_SOURCE ? CC__DIRECT_AXPY : CC__DIRECT_SCALE;
        other = step->b.kind == CC__TERM_SOURCE ? &step->b : NULL;
    } else if (cc__evaluate_is_float32(work)) {
        form = step->a.kind == CC__TERM_SOURCE ? CC__DIRECT_TWO : CC__DIRECT_VALUE;
        other = step->a.kind == CC__TERM_SOURCE ? &step->a : NULL;
    } else {
        return CC__DIRECT_NONE;
    }

    memset(plan, 0, sizeof *plan);
    plan->a = step->a.value;
    plan->b = step->b.value;
    const unsigned char *x = work->sources[0].data;
    const unsigned char *y = other != NULL ? work->sources[other->number].data : x;
    const uintptr_t behind = (uintptr_t)work->destination.data % 16;
    if (behind % 4 != 0 || (uintptr_t)x % 16 != behind || (uintptr_t)y % 16 != behind)
        return CC__DIRECT_NONE;
    int64_t head = behind == 0 ? 0 : (16 - (int64_t)behind) / 4;
    head = head < lattice->length ? head : lattice->length;
    plan->head = (int32_t)head;
    plan->vectors = (lattice->length - head) / 4;
    plan->tail = (int32_t)((lattice->length - head) % 4);
    plan->to = work->destination.data + 4 * head;
    plan->x = x + 4 * head;
    plan->y = y + 4 * head;
    return form;
}

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
