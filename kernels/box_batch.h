/*
 * How boxes are put into launches: what a launch takes along, and what fills it. Plain arithmetic, so that it runs on
 * the CPU too.
 */
#ifndef CC_KERNELS_BOX_BATCH_H
#define CC_KERNELS_BOX_BATCH_H

#include "base/rows.h"
#include "base/work.h"
#include "kernels/shared.h"
#include "kernels/tiles.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A tile is CC__BOX_ROUNDS pieces of work for each thread, all read before the first is written. */
#define CC__BOX_TILE_LOG2 10
#define CC__BOX_ROUNDS ((1 << CC__BOX_TILE_LOG2) / CC__BLOCK_THREADS)

/* Axes of rows in a launch, and what is left of 4 KiB, the most that a launch takes along on any GPU. */
#define CC__BOX_AXES 3
#define CC__BOX_WORDS 990

/*
 * A row of at least as many units is worth moving in wider ones, though its ends, short of a whole unit, are then moved
 * byte by byte.
 */
#define CC__BOX_LONG_ROW 128

/* Lengths and distances are counted in grains: so many bytes that those of all boxes are multiples of them. */
typedef struct cc__box_shape {
    uint32_t length; /* of a row */
    uint32_t size[CC__BOX_AXES];
} cc__box_shape;

/*
 * The boxes of a launch have their strides in common. Each has a record of words: where its destination is, counted
 * from that of the first; unless all are equally far apart, where its source is; unless all have one shape, its shape
 * and its first tile. A piece of work is one unit, or, counted after all units of the row, one byte of its ends.
 */
typedef struct cc__boxes_plan {
    unsigned char *destination;
    const unsigned char *source;
    int64_t stride[2][CC__BOX_AXES];
    cc__box_shape shape;
    uint32_t tiles_of_box; /* 0: boxes have shapes of their own */
    uint32_t tiles;
    uint32_t boxes;
    int32_t record_words;
    int32_t has_source;
    int32_t grain_log2;
    int32_t unit_bytes; /* 16, 8, 4, 2 or 1 */
    int32_t has_ends;   /* rows may begin or end inside a unit */
    int32_t width_log2; /* of a tile */
    uint32_t words[CC__BOX_WORDS];
} cc__boxes_plan;

static_assert(sizeof(cc__boxes_plan) <= 4096, "too large for a launch");

/* Words of a record for a shape of its own: that, and the first tile. They are its last. */
#define CC__BOX_SHAPE_WORDS 5

/* The most pieces that a row may need. unit_bytes is the plan's, and a constant in each kernel. */
CC__SHARED uint32_t cc__boxes_pieces(const cc__boxes_plan *plan, uint32_t length, int32_t unit_bytes)
{
    int64_t units = ((int64_t)length << plan->grain_log2) / unit_bytes;
    return (uint32_t)(plan->has_ends ? units + INT64_C(2) * (unit_bytes - 1) : units);
}

/* Tiles along a row. */
CC__SHARED uint32_t cc__boxes_across(const cc__boxes_plan *plan, uint32_t length, int32_t unit_bytes)
{
    return (cc__boxes_pieces(plan, length, unit_bytes) + (1u << plan->width_log2) - 1) >> plan->width_log2;
}

static inline int32_t cc__largest_unit(uintptr_t multiples)
{
    uintptr_t bits = multiples | 16;
    return (int32_t)(bits & -bits);
}

static inline uintptr_t cc__distance(const void *destination, const void *source)
{
    return (uintptr_t)destination - (uintptr_t)source;
}

/* Shape and strides. One test for all of them, since calls may have thousands of boxes. */
static inline bool cc__boxes_alike(const cc__copy *a, const cc__copy *b)
{
    int64_t different = a->pixel_bytes ^ b->pixel_bytes;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++)
        different |= (a->size[i] ^ b->size[i]) | (a->destination.stride[i] ^ b->destination.stride[i]) |
                     (a->source.stride[i] ^ b->source.stride[i]);
    return different == 0;
}

/* What boxes have in common besides. */
typedef struct cc__boxes_traits {
    bool is_shifted; /* all sources, and all parts of them, are equally far from their destinations */
    uintptr_t apart; /* how far, if so */
    uintptr_t bits;  /* what all addresses, strides and rows are multiples of */
} cc__boxes_traits;

static inline cc__boxes_traits cc__box_traits(const cc__copy *work)
{
    cc__boxes_traits traits = {true, cc__distance(work->destination.data, work->source.data),
                               (uintptr_t)work->destination.data | (uintptr_t)work->source.data |
                                   (uintptr_t)work->pixel_bytes};
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        if (work->size[i] == 1)
            continue;
        traits.is_shifted = traits.is_shifted && work->destination.stride[i] == work->source.stride[i];
        traits.bits |= (uintptr_t)(work->destination.stride[i] | work->source.stride[i]);
    }
    return traits;
}

static inline void cc__boxes_traits_join(cc__boxes_traits *traits, const cc__boxes_traits *other)
{
    traits->is_shifted = traits->is_shifted && other->is_shifted && other->apart == traits->apart;
    traits->bits |= other->bits;
}

static inline int32_t cc__grain_log2_of(const cc__boxes_traits *traits)
{
    int32_t grain_log2 = 0;
    while (2 << grain_log2 <= cc__largest_unit(traits->bits))
        grain_log2++;
    return grain_log2;
}

/* Boxes of the shape and the layout of one of them, which have these traits. */
typedef struct cc__boxes_kind {
    const cc__copy *model;
    cc__boxes_traits traits;
    uintptr_t grain_mask;
} cc__boxes_kind;

static inline cc__boxes_kind cc__boxes_kind_of(const cc__copy *model, const cc__boxes_traits *traits)
{
    return (cc__boxes_kind){model, *traits, ((uintptr_t)1 << cc__grain_log2_of(traits)) - 1};
}

static inline bool cc__boxes_kind_has(const cc__boxes_kind *kind, const cc__copy *work)
{
    uintptr_t addresses = (uintptr_t)work->destination.data | (uintptr_t)work->source.data;
    return cc__boxes_alike(work, kind->model) && (addresses & kind->grain_mask) == 0 &&
           (!kind->traits.is_shifted || cc__distance(work->destination.data, work->source.data) == kind->traits.apart);
}

static inline int64_t cc__rows_count(const cc__rows *rows)
{
    int64_t count = 1;
    for (int32_t i = 0; i < rows->axes; i++)
        count *= rows->size[i];
    return count;
}

/* Whatever the width of a tile will be; one more for the ends of a row. */
static inline int64_t cc__tiles_at_most(int64_t row_count, int64_t length)
{
    return row_count * (length / CC__BLOCK_THREADS + 2);
}

/* Whether a launch has numbers for so many and so long rows. */
static inline bool cc__rows_fit_launch(const cc__rows *rows, int32_t grain_log2)
{
    const int64_t most = INT64_C(1) << 30;
    int64_t length = rows->length >> grain_log2;
    int64_t count = cc__rows_count(rows);
    return rows->axes <= CC__BOX_AXES && length <= most && count <= most &&
           cc__tiles_at_most(1, length) <= most / count;
}

/* Leaves about half of the rows, or of the only row, in `rows`, and writes the others. */
static inline void cc__rows_halve(cc__rows *rows, cc__rows *out_rest, int64_t out_offset[2])
{
    if (rows->axes > 0) {
        cc__rows_split(rows, out_rest, out_offset);
    } else {
        *out_rest = *rows;
        rows->length = rows->length / 2 / 16 * 16;
        out_rest->length -= rows->length;
        out_offset[0] = rows->length;
        out_offset[1] = rows->length;
    }
}

/* A launch in the making. */
typedef struct cc__box_batch {
    cc__boxes_plan plan;
    bool is_alike;
    int32_t axes;         /* strides that are taken */
    uint32_t most_length; /* of a row */
    uint32_t most_rows;   /* of a box */
    int64_t tiles_at_most;
    /* What they are multiples of, as bits: strides and distances from span to span; also addresses and rows. */
    uintptr_t apart;
    uintptr_t aligned;
} cc__box_batch;

static inline void cc__batch_clear(cc__box_batch *batch)
{
    batch->plan.boxes = 0;
    memset(batch->plan.stride, 0, sizeof batch->plan.stride);
    batch->axes = 0;
    batch->most_length = 0;
    batch->most_rows = 0;
    batch->tiles_at_most = 0;
    batch->apart = 0;
    batch->aligned = 0;
}

static inline void cc__batch_start(cc__box_batch *batch, const cc__boxes_traits *traits, bool is_alike)
{
    cc__batch_clear(batch);
    batch->is_alike = is_alike;
    batch->plan.grain_log2 = cc__grain_log2_of(traits);
    batch->plan.has_source = traits->is_shifted ? 0 : 1;
    batch->plan.record_words = 1 + batch->plan.has_source + (is_alike ? 0 : CC__BOX_SHAPE_WORDS);
}

/* Finds each axis of the rows among the strides of the launch, or adds it. False when there is no room. */
static inline bool cc__batch_find_shape(cc__box_batch *batch, const cc__rows *rows, cc__box_shape *out_shape)
{
    cc__boxes_plan *plan = &batch->plan;
    out_shape->length = (uint32_t)(rows->length >> plan->grain_log2);
    for (int32_t i = 0; i < CC__BOX_AXES; i++)
        out_shape->size[i] = 1;
    for (int32_t i = 0; i < rows->axes; i++) {
        int32_t axis = 0;
        while (axis < batch->axes &&
               (plan->stride[0][axis] != rows->stride[0][i] || plan->stride[1][axis] != rows->stride[1][i]))
            axis++;
        if (axis == CC__BOX_AXES)
            return false;
        if (axis == batch->axes) {
            plan->stride[0][axis] = rows->stride[0][i];
            plan->stride[1][axis] = rows->stride[1][i];
            batch->apart |= (uintptr_t)(rows->stride[0][i] | rows->stride[1][i]);
            batch->axes++;
        }
        out_shape->size[axis] = (uint32_t)rows->size[i];
    }
    return true;
}

/* The distance in grains; false when it does not fit a word. */
static inline bool cc__find_offset(const unsigned char *at, const unsigned char *first, int32_t grain_log2,
                                   uint32_t *out_offset)
{
    int64_t offset = (int64_t)cc__distance(at, first) >> grain_log2;
    *out_offset = (uint32_t)offset;
    return offset >= INT32_MIN && offset <= INT32_MAX;
}

/* False when the launch cannot take the box along; an empty one always can, when the rows fit a launch. */
static inline bool cc__batch_add(cc__box_batch *batch, const cc__rows *rows, unsigned char *destination,
                                 const unsigned char *source)
{
    cc__boxes_plan *plan = &batch->plan;
    cc__box_shape shape;
    if (!cc__batch_find_shape(batch, rows, &shape))
        return false;
    uint32_t *record = plan->words + (size_t)plan->boxes * (size_t)plan->record_words;
    uint32_t count = shape.size[0] * shape.size[1] * shape.size[2];
    uint32_t offset[2];
    if (plan->boxes == 0) {
        plan->destination = destination;
        plan->source = source;
        plan->shape = shape;
    }
    int64_t tiles = batch->tiles_at_most + cc__tiles_at_most(count, shape.length);
    if ((plan->boxes + 1) * (uint32_t)plan->record_words > CC__BOX_WORDS || tiles > INT32_MAX ||
        !cc__find_offset(destination, plan->destination, plan->grain_log2, &offset[0]) ||
        !cc__find_offset(source, plan->source, plan->grain_log2, &offset[1]))
        return false;
    record[0] = offset[0];
    if (plan->has_source)
        record[1] = offset[1];
    if (!batch->is_alike)
        memcpy(record + 1 + plan->has_source, &shape, sizeof shape);
    plan->boxes++;
    batch->tiles_at_most = tiles;
    batch->apart |= cc__distance(destination, source);
    batch->aligned |= (uintptr_t)destination | (uintptr_t)shape.length << plan->grain_log2;
    if (shape.length > batch->most_length)
        batch->most_length = shape.length;
    if (count > batch->most_rows)
        batch->most_rows = count;
    return true;
}

/*
 * Adds boxes after the first of the batch, which is of the kind, up to one that is not or for which there is no room.
 * Returns how many.
 */
static inline int32_t cc__batch_add_alike(cc__box_batch *batch, const cc__boxes_kind *kind, const cc__copy *works,
                                          int32_t count)
{
    cc__boxes_plan *plan = &batch->plan;
    int64_t most = INT32_MAX / batch->tiles_at_most;
    if (most > CC__BOX_WORDS / plan->record_words)
        most = CC__BOX_WORDS / plan->record_words;
    if (count > most - plan->boxes)
        count = (int32_t)(most - plan->boxes);
    uint32_t *record = plan->words + (size_t)plan->boxes * (size_t)plan->record_words;
    int32_t added = 0;
    for (; added < count; added++) {
        const cc__copy *work = &works[added];
        uint32_t offset[2];
        if (!cc__boxes_kind_has(kind, work) ||
            !cc__find_offset(work->destination.data, plan->destination, plan->grain_log2, &offset[0]) ||
            !cc__find_offset(work->source.data, plan->source, plan->grain_log2, &offset[1]))
            break;
        *record++ = offset[0];
        if (plan->has_source)
            *record++ = offset[1];
        batch->aligned |= (uintptr_t)work->destination.data;
        batch->apart |= cc__distance(work->destination.data, work->source.data);
    }
    plan->boxes += (uint32_t)added;
    return added;
}

static inline uint32_t cc__boxes_tiles_of(const cc__boxes_plan *plan, const cc__box_shape *shape)
{
    uint32_t rows = shape->size[0] * shape->size[1] * shape->size[2];
    uint32_t height_log2 = (uint32_t)(CC__BOX_TILE_LOG2 - plan->width_log2);
    return cc__boxes_across(plan, shape->length, plan->unit_bytes) * ((rows + (1u << height_log2) - 1) >> height_log2);
}

static inline void cc__boxes_number_tiles(cc__boxes_plan *plan)
{
    plan->tiles = 0;
    for (uint32_t box = 0; box < plan->boxes; box++) {
        uint32_t end = (box + 1) * (uint32_t)plan->record_words;
        cc__box_shape shape;
        memcpy(&shape, &plan->words[end - CC__BOX_SHAPE_WORDS], sizeof shape);
        plan->words[end - 1] = plan->tiles;
        plan->tiles += cc__boxes_tiles_of(plan, &shape);
    }
}

/* Completes the plan, of one box at least. */
static inline void cc__batch_finish(cc__box_batch *batch)
{
    cc__boxes_plan *plan = &batch->plan;
    int32_t widest = cc__largest_unit(batch->apart);
    plan->unit_bytes = cc__largest_unit(batch->aligned | batch->apart);
    plan->has_ends = 0;
    if (plan->unit_bytes < widest &&
        (int64_t)batch->most_length << plan->grain_log2 >= CC__BOX_LONG_ROW * plan->unit_bytes) {
        plan->unit_bytes = widest;
        plan->has_ends = 1;
    }
    /* Full width where little of it is lost at the end of a row. */
    int64_t pieces = cc__boxes_pieces(plan, batch->most_length, plan->unit_bytes);
    plan->width_log2 = CC__BOX_TILE_LOG2;
    if (batch->most_rows > 1 && pieces < INT64_C(4) << CC__BOX_TILE_LOG2) {
        plan->width_log2 = 0;
        while (plan->width_log2 < 8 && (INT64_C(1) << plan->width_log2) < pieces)
            plan->width_log2++;
    }
    if (batch->is_alike) {
        plan->tiles_of_box = cc__boxes_tiles_of(plan, &plan->shape);
        plan->tiles = plan->boxes * plan->tiles_of_box;
    } else {
        plan->tiles_of_box = 0;
        cc__boxes_number_tiles(plan);
    }
}

#endif
