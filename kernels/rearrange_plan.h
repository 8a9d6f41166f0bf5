/* How pixels are put in another order on the GPU: which kernel does it, and what it works on. Plain C. */
#ifndef CC_KERNELS_REARRANGE_PLAN_H
#define CC_KERNELS_REARRANGE_PLAN_H

#include "base/rearrange.h"
#include "base/rows.h"
#include "kernels/tiles.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

/*
 * Along rows: a piece of work is 16 bytes of the destination that are aligned, however the row begins, or one unit when
 * its pixels do not lie side by side; in each tile a thread loads all its pieces before it stores the first.
 */
#define CC__REARRANGE_PIECES 4
#define CC__REARRANGE_TILE_LOG2 10

/* Across rows: squares of pixels go through shared memory, so that both sides see whole lines. */
#define CC__REARRANGE_SIDE 32
#define CC__REARRANGE_SMALL_SIDE 64 /* of pixels of up to 4 bytes */
#define CC__REARRANGE_BYTE_SIDE 128 /* bytes, of pixels of 1 or 2 bytes */
#define CC__REARRANGE_MOST_PASSES (CC__REARRANGE_SMALL_SIDE * CC__REARRANGE_SMALL_SIDE / CC__BLOCK_THREADS)
#define CC__REARRANGE_SQUARE_BYTES (CC__REARRANGE_SIDE * (CC__REARRANGE_SIDE * 16 + 16))

typedef enum cc__rearrange_way {
    CC__REARRANGE_ROWS,
    CC__REARRANGE_CAST,
    CC__REARRANGE_SQUARES
} cc__rearrange_way;

typedef struct cc__rearrange_plan {
    cc__rearrange work;   /* `to` is where the first row of this launch begins */
    int64_t length;       /* units of a row; of a cast components */
    int64_t inner;        /* the first of them that the source has itself, */
    int64_t inner_end;    /* and the first after those */
    int32_t is_dense;     /* pixels of the destination lie side by side along a row */
    int32_t direction;    /* where pixels of the source lie side by side too: 1, or -1 the other way round; else 0 */
    cc__divisor of_pixel; /* units */
    cc__tiles tiles;
    cc__divisor squares[2]; /* along the first two axes */
    int64_t square_count;
    int32_t side;
    int32_t pitch_bytes;
} cc__rearrange_plan;

/* What all devices take as a kernel's parameters. */
static_assert(sizeof(cc__rearrange_plan) <= 4096, "a plan is passed by value");

static inline bool cc__rearrange_can_be_squares(const cc__rearrange *work)
{
    const cc__rearrange_axis *axes = work->axes;
    const int64_t bytes = (int64_t)work->units * work->unit_bytes;
    int64_t count = 1;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++)
        if (!cc__rearrange_is_inside(&axes[i]))
            return false;
    if (bytes > 16 || axes[0].to_stride != bytes || (axes[1].from_stride != bytes && axes[1].from_stride != -bytes) ||
        axes[0].from_stride == bytes || axes[0].from_stride == -bytes || axes[0].size < 8 || axes[1].size < 8)
        return false;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        const int64_t squares = i < 2 ? (axes[i].size - 1) / CC__REARRANGE_SIDE + 1 : axes[i].size;
        if (squares > INT32_MAX / count)
            return false;
        count *= squares;
    }
    return true;
}

static inline cc__rearrange_way cc__rearrange_choose(const cc__rearrange *work)
{
    if (work->to_type != work->from_type)
        return CC__REARRANGE_CAST;
    return cc__rearrange_can_be_squares(work) ? CC__REARRANGE_SQUARES : CC__REARRANGE_ROWS;
}

static inline int32_t cc__rearrange_pieces_log2(const cc__rearrange_plan *plan)
{
    int32_t log2 = 0;
    if (plan->is_dense)
        while (plan->work.unit_bytes << log2 < 16)
            log2++;
    return log2;
}

/* Everything about a row, for the rows' kernels; the tiles follow when the rows are few enough. */
static inline void cc__rearrange_plan_rows(const cc__rearrange *work, cc__rearrange_plan *plan, cc__rows *out_rows)
{
    const cc__rearrange_axis *row = &work->axes[0];
    const bool is_cast = work->to_type != work->from_type;
    const int32_t units = is_cast ? work->components : work->units;
    const int64_t bytes = (int64_t)work->units * work->unit_bytes;
    memset(plan, 0, sizeof *plan);
    plan->work = *work;
    plan->length = row->size * units;
    const int64_t inner = row->before > 0 ? row->before : 0;
    const int64_t end = row->before + row->from_size < row->size ? row->before + row->from_size : row->size;
    plan->inner = inner < end ? inner * units : 0;
    plan->inner_end = inner < end ? end * units : 0;
    plan->is_dense = !is_cast && row->to_stride == bytes;
    if (plan->is_dense && row->from_stride == bytes)
        plan->direction = 1;
    if (plan->is_dense && row->from_stride == -bytes && units == 1)
        plan->direction = -1;
    plan->of_pixel = cc__divisor_of(units);

    memset(out_rows, 0, sizeof *out_rows);
    out_rows->length = plan->length;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++)
        out_rows->size[i] = 1;
    for (int32_t i = 1; i < CC_MAX_DIMENSION; i++) {
        out_rows->size[i - 1] = work->axes[i].size;
        if (work->axes[i].size > 1 || !cc__rearrange_is_inside(&work->axes[i]))
            out_rows->axes = i;
    }
}

/* The most bytes, 16, 4 or fewer, at whose multiples all rows of both sides begin and end. */
static inline int32_t cc__rearrange_square_grain(const cc__rearrange_plan *plan)
{
    const cc__rearrange_axis *axes = plan->work.axes;
    uint64_t multiples = (uint64_t)(uintptr_t)plan->work.to | (uint64_t)(uintptr_t)plan->work.from;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        if (i < 2)
            multiples |= (uint64_t)(axes[i].size * plan->work.unit_bytes);
        if (i != 0)
            multiples |= (uint64_t)axes[i].to_stride;
        if (i != 1)
            multiples |= (uint64_t)axes[i].from_stride;
    }
    return multiples % 16 == 0 ? 16 : multiples % 4 == 0 ? 4 : 1;
}

/* Leaves the first half of the rows in `plan`, and begins another with the others. */
static inline void cc__rearrange_split(cc__rearrange_plan *plan, cc__rows *rows, cc__rearrange_plan *out_second,
                                       cc__rows *out_rest)
{
    int64_t unused[2];
    int32_t split = rows->axes - 1;
    while (rows->size[split] == 1)
        split--;
    cc__rows_split(rows, out_rest, unused);
    *out_second = *plan;
    cc__rearrange_axis *axis = &out_second->work.axes[1 + split];
    out_second->work.to += rows->size[split] * axis->to_stride;
    axis->before -= rows->size[split];
    axis->size -= rows->size[split];
    plan->work.axes[1 + split].size = rows->size[split];
}

static inline void cc__rearrange_plan_sides(cc__rearrange_plan *plan, int32_t side)
{
    const cc__rearrange_axis *axes = plan->work.axes;
    plan->side = side;
    plan->square_count = axes[2].size * axes[3].size;
    for (int32_t i = 0; i < 2; i++) {
        const int64_t squares = (axes[i].size - 1) / side + 1;
        plan->squares[i] = cc__divisor_of((int32_t)squares);
        plan->square_count *= squares;
    }
}

static inline void cc__rearrange_plan_squares(const cc__rearrange *work, cc__rearrange_plan *plan)
{
    const int32_t bytes = work->units * work->unit_bytes;
    memset(plan, 0, sizeof *plan);
    plan->work = *work;
    /* Both sides go forwards along the source's nearest axis. */
    cc__rearrange_axis *across = &plan->work.axes[1];
    if (across->from_stride < 0) {
        plan->work.to += (across->size - 1) * across->to_stride;
        plan->work.from += (across->size - 1) * across->from_stride;
        across->to_stride = -across->to_stride;
        across->from_stride = -across->from_stride;
    }
    cc__rearrange_plan_sides(plan, bytes <= 4 ? CC__REARRANGE_SMALL_SIDE : CC__REARRANGE_SIDE);
    /* An odd number of banks, so that columns are in different ones. */
    plan->pitch_bytes = plan->side * bytes + (work->unit_bytes > 4 ? work->unit_bytes : 4);
    plan->of_pixel = cc__divisor_of(work->units);
    plan->tiles.size[0] = cc__divisor_of((int32_t)work->axes[2].size);
}

#endif
