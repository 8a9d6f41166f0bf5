/* How rows are shared out among blocks and threads of the GPU. Plain arithmetic, so that it runs on the CPU too. */
#ifndef CC_KERNELS_TILES_H
#define CC_KERNELS_TILES_H

#include "base/rows.h"
#include "kernels/shared.h"

#include <stdbool.h>
#include <stdint.h>

/* Threads of a block, and blocks for each multiprocessor: four times what can be resident, so that all end together. */
#define CC__BLOCK_THREADS 256
#define CC__BLOCKS_PER_MULTIPROCESSOR 32

/*
 * A divisor made ready: a quotient of 31 bits then costs a multiplication and a shift, where division would cost dozens
 * of instructions. With 2^(shift-1) < value <= 2^shift and multiplier = floor(2^32 * (2^shift - value) / value) + 1,
 * n / value is (floor(n * multiplier / 2^32) + n) / 2^shift for n < 2^31.
 * Source: Granlund and Montgomery, "Division by Invariant Integers using Multiplication", 1994, figure 4.1.
 */
typedef struct cc__divisor {
    int32_t value;
    uint32_t multiplier;
    int32_t shift;
} cc__divisor;

static inline cc__divisor cc__divisor_of(int32_t value)
{
    cc__divisor divisor = {value, 0, 0};
    while ((INT64_C(1) << divisor.shift) < value)
        divisor.shift++;
    uint64_t missing = (UINT64_C(1) << divisor.shift) - (uint64_t)value;
    divisor.multiplier = (uint32_t)((missing << 32) / (uint64_t)value) + 1;
    return divisor;
}

CC__SHARED int32_t cc__divide(int32_t n, const cc__divisor *divisor)
{
    uint32_t dividend = (uint32_t)n;
    uint32_t upper = (uint32_t)(((uint64_t)dividend * divisor->multiplier) >> 32);
    return (int32_t)((upper + dividend) >> divisor->shift);
}

/*
 * A tile is 2^tile_log2 pieces of work, a whole number for each thread of a block: 2^width_log2 side by side, in each
 * of 2^(tile_log2 - width_log2) rows. Long rows are cut into tiles of one row, short rows share a tile.
 */
typedef struct cc__tiles {
    int64_t pieces; /* of a row */
    int64_t count;  /* tiles; more than 31 bits only when there is one row */
    int32_t rows;
    int32_t tile_log2;
    int32_t width_log2;
    int32_t axes;       /* as in cc__rows, with its sizes and strides */
    cc__divisor across; /* tiles along a row, when there are several rows */
    cc__divisor size[CC_MAX_DIMENSION];
    int64_t stride[2][CC_MAX_DIMENSION];
} cc__tiles;

/* False when there are too many rows or tiles; then the rows must be split. `pieces` are those of one row. */
static inline bool cc__tiles_plan(const cc__rows *rows, int64_t pieces, int32_t tile_log2, cc__tiles *out_tiles)
{
    const int32_t block_log2 = 8;
    int64_t row_count = 1;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++)
        row_count *= rows->size[i];

    /* Full width where little of it is lost at the end of a row. */
    int32_t width_log2 = tile_log2;
    if (row_count > 1 && pieces < INT64_C(4) << tile_log2) {
        width_log2 = 0;
        while (width_log2 < block_log2 && (INT64_C(1) << width_log2) < pieces)
            width_log2++;
    }
    int64_t width = INT64_C(1) << width_log2;
    int64_t height = INT64_C(1) << (tile_log2 - width_log2);
    int64_t across = pieces / width + (pieces % width != 0);
    int64_t count = across * (row_count / height + (row_count % height != 0));
    if (row_count > 1 && (row_count > INT32_MAX - height || count > INT32_MAX))
        return false;

    out_tiles->pieces = pieces;
    out_tiles->count = count;
    out_tiles->rows = (int32_t)row_count;
    out_tiles->tile_log2 = tile_log2;
    out_tiles->width_log2 = width_log2;
    out_tiles->axes = rows->axes;
    out_tiles->across = cc__divisor_of(row_count > 1 ? (int32_t)across : 1);
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        out_tiles->size[i] = cc__divisor_of((int32_t)rows->size[i]);
        out_tiles->stride[0][i] = rows->stride[0][i];
        out_tiles->stride[1][i] = rows->stride[1][i];
    }
    return true;
}

/* Leaves the first half of the rows in `rows`, and writes the others, whose spans begin at out_offset. */
static inline void cc__rows_split(cc__rows *rows, cc__rows *out_rest, int64_t out_offset[2])
{
    int32_t axis = rows->axes - 1;
    while (rows->size[axis] == 1)
        axis--;
    int64_t half = rows->size[axis] / 2;
    *out_rest = *rows;
    out_rest->size[axis] -= half;
    rows->size[axis] = half;
    out_offset[0] = half * rows->stride[0][axis];
    out_offset[1] = half * rows->stride[1][axis];
}

static inline uint32_t cc__tiles_blocks(const cc__tiles *tiles, int32_t multiprocessor_count)
{
    int64_t most = (int64_t)multiprocessor_count * CC__BLOCKS_PER_MULTIPROCESSOR;
    return (uint32_t)(tiles->count < most ? tiles->count : most);
}

/* The row, and the piece of it, where a tile begins. */
CC__SHARED void cc__tiles_begin(const cc__tiles *tiles, int64_t tile, int32_t *out_row, int64_t *out_piece)
{
    int32_t down = tiles->rows == 1 ? 0 : cc__divide((int32_t)tile, &tiles->across);
    *out_row = down << (tiles->tile_log2 - tiles->width_log2);
    *out_piece = (tile - (int64_t)down * tiles->across.value) << tiles->width_log2;
}

/* Bytes from the first row to another. */
CC__SHARED int64_t cc__tiles_offset(const cc__tiles *tiles, int32_t span, int32_t row)
{
    int64_t offset = 0;
    CC__UNROLL
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        if (i >= tiles->axes)
            break;
        int32_t next = i + 1 < tiles->axes ? cc__divide(row, &tiles->size[i]) : 0;
        offset += (row - next * tiles->size[i].value) * tiles->stride[span][i];
        row = next;
    }
    return offset;
}

#endif
