/* How whole rows are moved on the GPU, with what borders make of them: strips of a row for each thread. Plain C. */
#ifndef CC_KERNELS_STRIPS_PLAN_H
#define CC_KERNELS_STRIPS_PLAN_H

#include "base/rearrange.h"
#include "kernels/tiles.h"

#include <assert.h>
#include <cudacommon/border.h>
#include <stdbool.h>
#include <string.h>

/* A thread takes so many pieces of 16 bytes of one row, all read before the first is written. */
CC__SHARED int32_t cc__strips_pieces(int32_t unit_bytes)
{
    return unit_bytes == 1 ? 2 : 4;
}

/* Which of the source's places stands for place `at` of an axis, 0 to size - 1 those of its own; below 0 for none. */
typedef struct cc__strips_axis {
    int32_t before;
    int32_t size;
    int32_t low[2];  /* found = low[0] + low[1] * at where at < 0, */
    int32_t high[2]; /* and the same from `size` on */
} cc__strips_axis;

typedef struct cc__strips_plan {
    unsigned char *to;
    const unsigned char *from;
    int32_t length; /* units of a row */
    int32_t from_step;
    int32_t rows;
    int32_t axes; /* across rows */
    cc__strips_axis along;
    cc__strips_axis across[CC_MAX_DIMENSION - 1];
    cc__divisor size[CC_MAX_DIMENSION - 1];
    int64_t stride[2][CC_MAX_DIMENSION - 1]; /* destination, source */
    cc__divisor threads;                     /* of a row */
    cc__divisor tiles;                       /* along a row */
    int32_t rows_of_block;
    int32_t unit_bytes; /* 1, 2, 4, 8 or 16 */
    int32_t has_border; /* along rows */
    int32_t misaligned; /* bytes of `to` behind a multiple of 16 */
    int64_t blocks;
    /* Pixels of 1 or 2 bytes that lie side by side, whichever way round: a thread for each piece. Else no pieces. */
    cc__divisor pieces; /* of a row */
    int32_t all_pieces;
    const unsigned char *source[2]; /* the source's first byte, and after its last */
    int32_t inner[2];               /* where pieces begin, at least and at most, that the source has all units of */
    int64_t from_whole;             /* bytes from a row's first unit to the lowest of such a piece, were it the first */
    unsigned char value[16] __attribute__((aligned(16)));
} cc__strips_plan;

static_assert(sizeof(cc__strips_plan) <= 4096, "a plan is passed by value");

/* False when it needs more than one turn at either end, or larger numbers. */
static inline bool cc__strips_axis_plan(const cc__rearrange_axis *axis, cc__strips_axis *out_axis)
{
    const int64_t most = INT64_C(1) << 29;
    const int64_t size = axis->from_size;
    const int64_t after = axis->size - axis->before - size;
    if (axis->size > most || size > most || axis->before > most || axis->before < -most)
        return false;
    memset(out_axis, 0, sizeof *out_axis);
    out_axis->before = (int32_t)axis->before;
    out_axis->size = (int32_t)size;
    if (cc__rearrange_is_inside(axis))
        return true;
    switch ((cc_border)axis->border) {
    case CC_BORDER_CONSTANT:
        out_axis->low[0] = -1;
        out_axis->high[0] = -1;
        return true;
    case CC_BORDER_REPLICATE:
        out_axis->high[0] = (int32_t)(size - 1);
        return true;
    case CC_BORDER_REFLECT:
        out_axis->low[1] = -1;
        out_axis->high[0] = (int32_t)(2 * size - 2);
        out_axis->high[1] = -1;
        return axis->before < size && after < size;
    case CC_BORDER_SYMMETRIC:
        out_axis->low[0] = -1;
        out_axis->low[1] = -1;
        out_axis->high[0] = (int32_t)(2 * size - 1);
        out_axis->high[1] = -1;
        return axis->before <= size && after <= size;
    case CC_BORDER_PERIODIC:
        out_axis->low[0] = (int32_t)size;
        out_axis->low[1] = 1;
        out_axis->high[0] = (int32_t)-size;
        out_axis->high[1] = 1;
        return axis->before <= size && after <= size;
    }
    return false;
}

CC__SHARED int32_t cc__strips_find(const cc__strips_axis *axis, int32_t at)
{
    int32_t low = axis->low[0] + axis->low[1] * at;
    int32_t high = axis->high[0] + axis->high[1] * at;
    int32_t found = at < axis->size ? at : high;
    return at < 0 ? low : found;
}

static inline bool cc__strips_use_value(const cc__rearrange *work)
{
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++)
        if (work->axes[i].border == CC_BORDER_CONSTANT && !cc__rearrange_is_inside(&work->axes[i]))
            return true;
    return false;
}

/* A row as it is may be moved in larger units than its pixels. */
static inline void cc__strips_widen(cc__rearrange *work)
{
    cc__rearrange_axis *row = &work->axes[0];
    const int64_t bytes = (int64_t)work->units * work->unit_bytes;
    const int64_t row_bytes = row->size * bytes;
    if (row->from_stride != bytes || !cc__rearrange_is_inside(row))
        return;
    work->from -= row->before * bytes;
    uint64_t multiples = 16 | (uint64_t)row_bytes | (uint64_t)(uintptr_t)work->to | (uint64_t)(uintptr_t)work->from;
    for (int32_t i = 1; i < CC_MAX_DIMENSION; i++)
        multiples |= (uint64_t)work->axes[i].to_stride | (uint64_t)work->axes[i].from_stride;
    work->unit_bytes = (int32_t)(multiples & (~multiples + 1));
    work->units = 1;
    row->before = 0;
    row->size = row_bytes / work->unit_bytes;
    row->from_size = row->size;
    row->to_stride = work->unit_bytes;
    row->from_stride = work->unit_bytes;
}

/* Where the source's pixels begin and end. */
static inline void cc__strips_find_source(const cc__rearrange *work, const unsigned char *out_source[2])
{
    out_source[0] = work->from;
    out_source[1] = work->from + work->unit_bytes;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        const int64_t last = (work->axes[i].from_size - 1) * work->axes[i].from_stride;
        out_source[last > 0] += last;
    }
}

/*
 * Of much work, rows with borders that have few pieces: in each warp some pieces are of several kinds, or near an end,
 * and got byte by byte, while all wait. The other kernels are sooner then, of bytes only where borders end within
 * pieces.
 */
#define CC__STRIPS_MUCH ((int64_t)1 << 16)
static inline bool cc__strips_wait_for_borders(const cc__strips_plan *plan, int32_t skewed, int64_t pieces)
{
    const int32_t end = plan->along.before + plan->along.size;
    if (plan->has_border == 0 || pieces * plan->rows < CC__STRIPS_MUCH)
        return false;
    if (plan->unit_bytes == 2)
        return pieces < 192;
    return pieces < 80 && (skewed != 0 || plan->along.before % 16 != 0 || end % 16 != 0);
}

/* False when others do it sooner. `skewed` is what a row may have before its first whole piece, in units. */
static inline bool cc__strips_plan_bytes(const cc__rearrange *work, int32_t skewed, cc__strips_plan *plan)
{
    const int32_t count = 16 / work->unit_bytes;
    const int64_t pieces = (plan->length + skewed + count - 1) / count;
    const int64_t all = pieces * plan->rows;
    if (work->unit_bytes > 2 || (plan->from_step != work->unit_bytes && plan->from_step != -work->unit_bytes) ||
        all > INT32_MAX - CC__BLOCK_THREADS || cc__strips_wait_for_borders(plan, skewed, pieces))
        return false;
    cc__strips_find_source(work, plan->source);
    const cc__strips_axis *along = &plan->along;
    const int32_t end = along->before + along->size < plan->length ? along->before + along->size : plan->length;
    plan->inner[0] = along->before > 0 ? along->before : 0;
    plan->inner[1] = end - count;
    plan->from_whole = (int64_t)-along->before * plan->from_step - (plan->from_step > 0 ? 0 : 16 - work->unit_bytes);
    plan->pieces = cc__divisor_of((int32_t)pieces);
    plan->all_pieces = (int32_t)all;
    plan->blocks = (all - 1) / CC__BLOCK_THREADS + 1;
    return true;
}

/* The work is one of cc__rearrange_normalize(). False when it is not for these kernels. */
static inline bool cc__strips_plan_make(const cc__rearrange *rearrange, cc__strips_plan *plan)
{
    cc__rearrange work = *rearrange;
    const bool uses_value = cc__strips_use_value(&work);
    const int32_t value_bytes = work.unit_bytes;
    cc__rearrange_axis *row = &work.axes[0];
    if (work.to_type != work.from_type || row->to_stride != (int64_t)work.units * work.unit_bytes ||
        (uses_value && work.units != 1))
        return false;
    cc__strips_widen(&work);
    if (work.units != 1 || row->from_stride > INT32_MAX || row->from_stride < -INT32_MAX ||
        !cc__strips_axis_plan(row, &plan->along))
        return false;

    plan->has_border = !cc__rearrange_is_inside(row);
    plan->to = work.to;
    plan->from = work.from;
    plan->length = (int32_t)row->size;
    plan->from_step = (int32_t)row->from_stride;
    plan->unit_bytes = work.unit_bytes;
    plan->misaligned = (int32_t)((uintptr_t)work.to & 15);
    plan->axes = 0;
    int64_t rows = 1;
    uint64_t multiples = (uint64_t)(uintptr_t)work.to;
    for (int32_t i = 0; i < CC_MAX_DIMENSION - 1; i++) {
        const cc__rearrange_axis *axis = &work.axes[1 + i];
        if (!cc__strips_axis_plan(axis, &plan->across[i]))
            return false;
        plan->size[i] = cc__divisor_of((int32_t)axis->size);
        plan->stride[0][i] = axis->to_stride;
        plan->stride[1][i] = axis->from_stride;
        multiples |= axis->size > 1 ? (uint64_t)axis->to_stride : 0;
        if (axis->size > 1 || !cc__rearrange_is_inside(axis))
            plan->axes = 1 + i;
        rows *= axis->size;
        if (rows > INT32_MAX - CC__BLOCK_THREADS)
            return false;
    }
    plan->rows = (int32_t)rows;
    for (int32_t byte = 0; byte < 16; byte++)
        plan->value[byte] = work.value[byte % value_bytes];

    const int32_t count = 16 / work.unit_bytes;
    const int32_t skewed = multiples % 16 != 0 ? count - 1 : 0;
    plan->all_pieces = 0;
    if (cc__strips_plan_bytes(&work, skewed, plan))
        return true;

    /* Single bytes in order go 16 at a time in another kernel. */
    if (work.unit_bytes == 1 && plan->has_border == 0 && row->from_stride == 1)
        return false;
    const int32_t pieces = (plan->length + skewed + count - 1) / count;
    const int32_t of_thread = cc__strips_pieces(work.unit_bytes);
    const int32_t tiles = (pieces - 1) / (of_thread * CC__BLOCK_THREADS) + 1;
    const int32_t threads = (pieces - 1) / (tiles * of_thread) + 1;
    plan->tiles = cc__divisor_of(tiles);
    plan->threads = cc__divisor_of(threads);
    plan->rows_of_block = CC__BLOCK_THREADS / threads;
    plan->blocks = tiles * ((rows - 1) / plan->rows_of_block + 1);
    return plan->blocks <= INT32_MAX;
}

#endif
