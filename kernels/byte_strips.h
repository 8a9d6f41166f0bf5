/* Rows of pixels of 1 or 2 bytes that lie side by side: whole words on both sides, shifted and turned round between. */
#ifndef CC_KERNELS_BYTE_STRIPS_H
#define CC_KERNELS_BYTE_STRIPS_H

#include "kernels/byte_word.h"
#include "kernels/strip_pieces.h"

/* How the units of a piece are got. */
typedef enum byte_way {
    BYTES_NONE,     /* there are none */
    BYTES_FORWARD,  /* side by side in the source, */
    BYTES_BACKWARD, /* or so, the other way round */
    BYTES_ONE,      /* all of them one pixel */
    BYTES_VALUE,
    BYTES_EACH /* of several kinds, or so near the source's ends that a whole word would be too much */
} byte_way;

typedef struct byte_piece {
    unsigned char *to;
    const unsigned char *from; /* the pixel of BYTES_ONE, else of the row's first */
    byte_word low;
    byte_word high;
    int32_t first;
    int32_t skip; /* bytes of `low` before the first that is wanted */
    byte_way way;
} byte_piece;

/* Finds the way, and begins with the loads; units `low` to `high` of the piece are in the row. */
static __device__ inline void load_any_bytes(const cc__strips_plan *plan, int32_t low, int32_t high, int32_t unit_bytes,
                                             byte_piece *piece)
{
    const int32_t count = 16 / unit_bytes;
    const cc__strips_axis *along = &plan->along;
    const int32_t at = piece->first - along->before;
    int32_t base = 0;
    int32_t slope = 1;
    piece->way = BYTES_VALUE;
    if (at + high <= 0) {
        base = along->low[0];
        slope = along->low[1];
    } else if (at + low >= along->size) {
        base = along->high[0];
        slope = along->high[1];
    } else if (at + low < 0 || at + high > along->size) {
        piece->way = BYTES_EACH;
        return;
    }
    if (slope == 0) {
        if (base >= 0) {
            piece->way = BYTES_ONE;
            piece->from += (int64_t)base * plan->from_step;
        }
        return;
    }

    const bool is_forward = slope * plan->from_step > 0;
    const int32_t begin = (is_forward ? low : count - high) * unit_bytes;
    const int32_t end = (is_forward ? high : count - low) * unit_bytes;
    const unsigned char *whole =
        piece->from + (int64_t)(base + slope * at) * plan->from_step - (is_forward ? 0 : 16 - unit_bytes);
    const int32_t skip = (int32_t)((uintptr_t)whole & 15);
    const unsigned char *word = whole - skip;
    const bool has_low = begin < 16 - skip;
    const bool has_high = end > 16 - skip;
    if (word + (has_low ? 0 : 16) < plan->source[0] || word + (has_high ? 32 : 16) > plan->source[1]) {
        piece->way = BYTES_EACH;
        return;
    }
    piece->way = is_forward ? BYTES_FORWARD : BYTES_BACKWARD;
    piece->skip = skip;
    if (has_low)
        piece->low = *(const byte_word *)word;
    if (has_high)
        piece->high = *(const byte_word *)(word + 16);
}

/* The same for most pieces, in few instructions: whole ones from inside the source. False for others. */
static __device__ inline bool load_inner_bytes(const cc__strips_plan *plan, int64_t from, byte_piece *piece)
{
    if (piece->first < plan->inner[0] || piece->first > plan->inner[1])
        return false;
    const unsigned char *whole = plan->from + from + plan->from_whole + (int64_t)piece->first * plan->from_step;
    const int32_t skip = (int32_t)((uintptr_t)whole & 15);
    const unsigned char *word = whole - skip;
    if (skip != 0 && (word < plan->source[0] || word + 32 > plan->source[1]))
        return false;
    piece->way = plan->from_step > 0 ? BYTES_FORWARD : BYTES_BACKWARD;
    piece->skip = skip;
    piece->low = *(const byte_word *)word;
    if (skip != 0)
        piece->high = *(const byte_word *)(word + 16);
    return true;
}

static __device__ inline void load_bytes(const cc__strips_plan *plan, int32_t number, int32_t unit_bytes,
                                         byte_piece *out)
{
    const int32_t count = 16 / unit_bytes;
    const byte_piece none = {NULL, NULL, {{0, 0, 0, 0}}, {{0, 0, 0, 0}}, 0, 0, BYTES_NONE};
    *out = none;
    if (number >= plan->all_pieces)
        return;
    const int32_t row = cc__divide(number, &plan->pieces);
    int64_t to = 0;
    int64_t from = 0;
    const bool is_there = find_strip(plan, row, &to, &from);
    const int32_t in_row = number - row * plan->pieces.value;
    out->first = in_row * count - ((plan->misaligned + (int32_t)to) & 15) / unit_bytes;
    out->to = plan->to + to + (int64_t)out->first * unit_bytes;
    out->from = plan->from + from;
    if (is_there && load_inner_bytes(plan, from, out))
        return;
    const int32_t low = out->first < 0 ? -out->first : 0;
    const int32_t high = plan->length - out->first < count ? plan->length - out->first : count;
    if (low >= high)
        return;
    if (is_there)
        load_any_bytes(plan, low, high, unit_bytes, out);
    else
        out->way = BYTES_VALUE;
}

static __device__ inline byte_word shift_bytes(const byte_word *low, const byte_word *high, int32_t skip)
{
    const uint32_t all[8] = {low->part[0],  low->part[1],  low->part[2],  low->part[3],
                             high->part[0], high->part[1], high->part[2], high->part[3]};
    uint32_t half[6];
    uint32_t near[5];
    byte_word word;
    CC__UNROLL
    for (int32_t i = 0; i < 6; i++)
        half[i] = (skip & 8) != 0 ? all[i + 2] : all[i];
    CC__UNROLL
    for (int32_t i = 0; i < 5; i++)
        near[i] = (skip & 4) != 0 ? half[i + 1] : half[i];
    CC__UNROLL
    for (int32_t i = 0; i < 4; i++)
        word.part[i] = (uint32_t)(((uint64_t)near[i + 1] << 32 | near[i]) >> ((skip & 3) * 8));
    return word;
}

static __device__ inline cc__copy_unit unit_of_words(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const cc__copy_unit unit = {{(uint64_t)b << 32 | a, (uint64_t)d << 32 | c}};
    return unit;
}

static __device__ inline cc__copy_unit finish_bytes(const cc__strips_plan *plan, const byte_piece *piece,
                                                    int32_t unit_bytes)
{
    switch (piece->way) {
    case BYTES_NONE:
    case BYTES_VALUE:
        break;
    case BYTES_FORWARD: {
        const byte_word word = shift_bytes(&piece->low, &piece->high, piece->skip);
        return unit_of_words(word.part[0], word.part[1], word.part[2], word.part[3]);
    }
    case BYTES_BACKWARD: {
        const byte_word word = shift_bytes(&piece->low, &piece->high, piece->skip);
        const uint32_t turn = unit_bytes == 1 ? 0x0123 : 0x1032;
        return unit_of_words(pick_bytes(word.part[3], 0, turn), pick_bytes(word.part[2], 0, turn),
                             pick_bytes(word.part[1], 0, turn), pick_bytes(word.part[0], 0, turn));
    }
    case BYTES_ONE: {
        const uint32_t one = (uint32_t)load_unit(piece->from, unit_bytes).part[0];
        const uint32_t all = one * (unit_bytes == 1 ? 0x01010101u : 0x00010001u);
        return unit_of_words(all, all, all, all);
    }
    case BYTES_EACH: {
        const row_strip row = {.from = piece->from,
                               .there = plan->length,
                               .step = plan->from_step,
                               .along = plan->along,
                               .value = load_unit(plan->value, unit_bytes)};
        return load_strip_piece(&row, piece->first, true, unit_bytes);
    }
    }
    return load_unit(plan->value, 16);
}

static __device__ inline void move_bytes(const cc__strips_plan *plan, int32_t unit_bytes)
{
    byte_piece piece;
    load_bytes(plan, (int32_t)blockIdx.x * CC__BLOCK_THREADS + (int32_t)threadIdx.x, unit_bytes, &piece);
    if (piece.way == BYTES_NONE)
        return;
    const cc__copy_unit unit = finish_bytes(plan, &piece, unit_bytes);
    store_strip_piece(piece.to, &unit, piece.first, plan->length, unit_bytes);
}

#endif
