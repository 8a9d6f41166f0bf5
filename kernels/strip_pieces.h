/* Rows of the destination, and pieces of 16 bytes of one: found, read unit by unit and written. */
#ifndef CC_KERNELS_STRIP_PIECES_H
#define CC_KERNELS_STRIP_PIECES_H

#include "kernels/copy_unit.h"
#include "kernels/strips_plan.h"

/* Bytes from the first row to another, of both. False when it is the border's value. */
static __device__ inline bool find_strip(const cc__strips_plan *plan, int32_t row, int64_t *out_to, int64_t *out_from)
{
    bool is_there = true;
    CC__UNROLL
    for (int32_t i = 0; i < CC_MAX_DIMENSION - 1; i++) {
        if (i >= plan->axes)
            break;
        int32_t next = i + 1 < plan->axes ? cc__divide(row, &plan->size[i]) : 0;
        int32_t at = row - next * plan->size[i].value;
        const cc__strips_axis axis = plan->across[i];
        int32_t found = cc__strips_find(&axis, at - axis.before);
        *out_to += at * plan->stride[0][i];
        *out_from += found * plan->stride[1][i];
        is_there = is_there && found >= 0;
        row = next;
    }
    return is_there;
}

/* What a thread needs to know of its row, in registers. */
typedef struct row_strip {
    unsigned char *to;
    const unsigned char *from;
    int32_t length;
    int32_t there; /* units to read: none where the row is the border's value */
    int32_t step;
    cc__strips_axis along;
    cc__copy_unit value;
} row_strip;

/* has_border is a constant: places outside the source. */
static __device__ inline cc__copy_unit load_strip_piece(const row_strip *row, int32_t first, bool has_border,
                                                        int32_t unit_bytes)
{
    const int32_t count = 16 / unit_bytes;
    cc__copy_unit piece = {{0, 0}};
    CC__UNROLL
    for (int32_t i = 0; i < count; i++) {
        int32_t found = first + i - row->along.before;
        bool is_there = (uint32_t)(first + i) < (uint32_t)row->there;
        if (has_border) {
            found = cc__strips_find(&row->along, found);
            is_there = is_there && found >= 0;
        }
        cc__copy_unit unit = row->value;
        if (is_there)
            unit = load_unit(row->from + (int64_t)found * row->step, unit_bytes);
        if (unit_bytes == 16)
            piece = unit;
        else
            piece.part[i * unit_bytes / 8] |= unit.part[0] << (i * unit_bytes % 8 * 8);
    }
    return piece;
}

static __device__ inline void store_strip_piece(unsigned char *to, const cc__copy_unit *piece, int32_t first,
                                                int32_t length, int32_t unit_bytes)
{
    const int32_t count = 16 / unit_bytes;
    if (first >= 0 && first + count <= length) {
        store_unit(to, *piece, 16);
        return;
    }
    if (unit_bytes == 16)
        return;
    CC__UNROLL
    for (int32_t i = 0; i < count; i++) {
        cc__copy_unit unit = *piece;
        if (unit_bytes < 16)
            unit.part[0] = piece->part[i * unit_bytes / 8] >> (i * unit_bytes % 8 * 8);
        if ((uint32_t)(first + i) < (uint32_t)length)
            store_unit(to + (int64_t)i * unit_bytes, unit, unit_bytes);
    }
}

#endif
