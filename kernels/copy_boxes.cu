#include "base/rows.h"
#include "kernels/box_batch.h"
#include "kernels/copy_unit.h"
#include "kernels/launch.h"
#include "kernels/tiles.h"

/* The part of a box that is in a tile. */
typedef struct cc__box_tile {
    unsigned char *destination; /* of the box */
    const unsigned char *source;
    cc__box_shape shape;
    int64_t units; /* of a row */
    int32_t head;  /* bytes before the first unit */
    int32_t tail;
    uint32_t first_row;
    uint32_t first_piece;
} cc__box_tile;

/* The last box whose first tile is not after this one. */
static __device__ inline uint32_t find_box(const cc__boxes_plan *plan, uint32_t tile)
{
    uint32_t box = 0;
    uint32_t end = plan->boxes;
    while (end - box > 1) {
        uint32_t middle = box + (end - box) / 2;
        if (plan->words[(middle + 1) * plan->record_words - 1] <= tile)
            box = middle;
        else
            end = middle;
    }
    return box;
}

static __device__ inline void find_tile(const cc__boxes_plan *plan, uint32_t tile, int32_t unit_bytes,
                                        cc__box_tile *out_at)
{
    uint32_t box;
    uint32_t tile_of_box;
    uint32_t word;
    if (plan->tiles_of_box != 0) {
        box = tile / plan->tiles_of_box;
        tile_of_box = tile - box * plan->tiles_of_box;
        word = box * plan->record_words;
        out_at->shape = plan->shape;
    } else {
        box = find_box(plan, tile);
        word = box * plan->record_words;
        uint32_t shape = word + 1 + plan->has_source;
        out_at->shape.length = plan->words[shape];
        CC__UNROLL
        for (int32_t i = 0; i < CC__BOX_AXES; i++)
            out_at->shape.size[i] = plan->words[shape + 1 + i];
        tile_of_box = tile - plan->words[shape + CC__BOX_SHAPE_WORDS - 1];
    }
    int64_t grain_bytes = INT64_C(1) << plan->grain_log2;
    out_at->destination = plan->destination + (int32_t)plan->words[word] * grain_bytes;
    out_at->source = plan->source + (int32_t)plan->words[word + plan->has_source] * grain_bytes;

    int64_t length = out_at->shape.length * grain_bytes;
    int32_t head = (int32_t)(-(uintptr_t)out_at->destination & (uintptr_t)(unit_bytes - 1));
    if (head > length)
        head = (int32_t)length;
    out_at->head = head;
    out_at->units = (length - head) / unit_bytes;
    out_at->tail = (int32_t)((length - head) % unit_bytes);

    uint32_t across = cc__boxes_across(plan, out_at->shape.length, unit_bytes);
    uint32_t down = tile_of_box / across;
    out_at->first_row = down << (CC__BOX_TILE_LOG2 - plan->width_log2);
    out_at->first_piece = (tile_of_box - down * across) << plan->width_log2;
}

/* Where a row begins, counted from the first of its box. */
static __device__ inline void find_row(const cc__boxes_plan *plan, const cc__box_shape *shape, uint32_t row,
                                       int64_t *out_destination, int64_t *out_source)
{
    uint32_t next = row / shape->size[0];
    int64_t at = row - next * shape->size[0];
    int64_t destination = at * plan->stride[0][0];
    int64_t source = at * plan->stride[1][0];
    uint32_t last = next / shape->size[1];
    at = next - last * shape->size[1];
    destination += at * plan->stride[0][1] + last * plan->stride[0][2];
    source += at * plan->stride[1][1] + last * plan->stride[1][2];
    *out_destination = destination;
    *out_source = source;
}

static __device__ inline void copy_tiles(const cc__boxes_plan *plan, int32_t unit_bytes)
{
    for (uint32_t tile = blockIdx.x; tile < plan->tiles; tile += gridDim.x) {
        cc__box_tile at;
        find_tile(plan, tile, unit_bytes, &at);
        uint32_t rows = at.shape.size[0] * at.shape.size[1] * at.shape.size[2];
        int64_t pieces = at.units + at.head + at.tail;

        cc__copy_unit units[CC__BOX_ROUNDS] = {};
        unsigned char *to[CC__BOX_ROUNDS];
        int32_t bytes[CC__BOX_ROUNDS];
        CC__UNROLL
        for (int32_t round = 0; round < CC__BOX_ROUNDS; round++) {
            uint32_t in_tile = round * CC__BLOCK_THREADS + threadIdx.x;
            uint32_t row = at.first_row + (in_tile >> plan->width_log2);
            int64_t piece = (int64_t)at.first_piece + (in_tile & ((1u << plan->width_log2) - 1));
            bytes[round] = 0;
            if (row >= rows || piece >= pieces)
                continue;
            int64_t destination;
            int64_t source;
            find_row(plan, &at.shape, row, &destination, &source);
            int64_t in_row;
            if (piece < at.units) {
                in_row = at.head + piece * unit_bytes;
                bytes[round] = unit_bytes;
                units[round] = load_unit(at.source + source + in_row, unit_bytes);
            } else {
                in_row = piece - at.units;
                if (in_row >= at.head)
                    in_row += at.units * unit_bytes;
                bytes[round] = 1;
                units[round] = load_unit(at.source + source + in_row, 1);
            }
            to[round] = at.destination + destination + in_row;
        }
        CC__UNROLL
        for (int32_t round = 0; round < CC__BOX_ROUNDS; round++) {
            if (bytes[round] == unit_bytes)
                store_unit(to[round], units[round], unit_bytes);
            else if (bytes[round] == 1)
                store_unit(to[round], units[round], 1);
        }
    }
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) copy_by_16(const cc__boxes_plan plan)
{
    copy_tiles(&plan, 16);
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) copy_by_8(const cc__boxes_plan plan)
{
    copy_tiles(&plan, 8);
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) copy_by_4(const cc__boxes_plan plan)
{
    copy_tiles(&plan, 4);
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) copy_by_2(const cc__boxes_plan plan)
{
    copy_tiles(&plan, 2);
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) copy_by_1(const cc__boxes_plan plan)
{
    copy_tiles(&plan, 1);
}

static const void *copy_kernel(int32_t unit_bytes)
{
    switch (unit_bytes) {
    case 16:
        return (const void *)copy_by_16;
    case 8:
        return (const void *)copy_by_8;
    case 4:
        return (const void *)copy_by_4;
    case 2:
        return (const void *)copy_by_2;
    default:
        return (const void *)copy_by_1;
    }
}

typedef struct cc__box_copier {
    cc__box_batch batch;
    const cc__launcher *launcher;
    uint32_t most_blocks;
} cc__box_copier;

static cc_status launch_batch(cc__box_copier *copier)
{
    cc__boxes_plan *plan = &copier->batch.plan;
    if (plan->boxes == 0)
        return CC_OK;
    cc__batch_finish(&copier->batch);
    void *arguments[] = {plan};
    uint32_t blocks = plan->tiles < copier->most_blocks ? plan->tiles : copier->most_blocks;
    cc_status status =
        copier->launcher->launch(copier->launcher, copy_kernel(plan->unit_bytes), blocks, CC__BLOCK_THREADS, arguments);
    cc__batch_clear(&copier->batch);
    return status;
}

static cc_status copy_rows(cc__box_copier *copier, cc__rows rows, unsigned char *destination,
                           const unsigned char *source)
{
    cc__box_batch *batch = &copier->batch;
    while (rows.axes > 0 && rows.size[rows.axes - 1] == 1)
        rows.axes--;
    if (!cc__rows_fit_launch(&rows, batch->plan.grain_log2)) {
        cc__rows rest;
        int64_t offset[2];
        cc__rows_halve(&rows, &rest, offset);
        cc_status status = copy_rows(copier, rows, destination, source);
        return status == CC_OK ? copy_rows(copier, rest, destination + offset[0], source + offset[1]) : status;
    }
    if (cc__batch_add(batch, &rows, destination, source))
        return CC_OK;
    cc_status status = launch_batch(copier);
    if (status == CC_OK)
        cc__batch_add(batch, &rows, destination, source);
    return status;
}

static void plan_rows(const cc__copy *work, cc__rows *out_rows)
{
    cc__rows_plan(CC__ROWS_OF_BYTES, work->pixel_bytes, 1, 1, work->size, work->destination.stride, work->source.stride,
                  out_rows);
}

/* So many boxes are compared to find out what most are like. */
#define SAMPLES 8

/* The kind of two that are alike, from a few all over the list. False when there are none. */
static bool find_kind(const cc__copy *works, int32_t count, cc__boxes_kind *out_kind)
{
    const cc__copy *sample[SAMPLES];
    int32_t samples = count < SAMPLES ? count : SAMPLES;
    for (int32_t i = 0; i < samples; i++)
        sample[i] = &works[samples == 1 ? 0 : (int64_t)(count - 1) * i / (samples - 1)];
    for (int32_t i = 0; i < samples; i++) {
        const cc__copy *model = sample[i];
        for (int32_t k = samples - 1; k > i || (k == i && count == 1); k--) {
            if (!cc__boxes_alike(sample[k], model))
                continue;
            cc__boxes_traits traits = cc__box_traits(model);
            traits.is_shifted =
                traits.is_shifted && cc__distance(sample[k]->destination.data, sample[k]->source.data) == traits.apart;
            *out_kind = cc__boxes_kind_of(model, &traits);
            return true;
        }
    }
    return false;
}

/* Copies the boxes of a kind, wherever they are among the others. Sets how many they are. */
static cc_status copy_alike(cc__box_copier *copier, const cc__boxes_kind *kind, const cc__copy *works, int32_t count,
                            int32_t *out_taken)
{
    cc__box_batch *batch = &copier->batch;
    cc__rows rows;
    plan_rows(kind->model, &rows);
    cc_status status = CC_OK;
    int32_t taken = 0;
    int32_t i = 0;
    cc__batch_start(batch, &kind->traits, true);
    if (!cc__rows_fit_launch(&rows, batch->plan.grain_log2))
        return CC_OK;
    while (i < count && status == CC_OK) {
        bool is_one = cc__boxes_kind_has(kind, &works[i]);
        int32_t added = 0;
        if (batch->plan.boxes > 0)
            added = cc__batch_add_alike(batch, kind, &works[i], count - i);
        else if (is_one && cc__batch_add(batch, &rows, works[i].destination.data, works[i].source.data))
            added = 1;
        taken += added;
        i += added;
        if (added == 0 && is_one)
            status = launch_batch(copier);
        else if (added == 0)
            i++;
    }
    *out_taken = taken;
    return status == CC_OK ? launch_batch(copier) : status;
}

/* Copies boxes that may differ, but for those of a kind when there is one. */
static cc_status copy_others(cc__box_copier *copier, const cc__boxes_kind *kind, const cc__copy *works, int32_t count)
{
    cc__boxes_traits traits = {true, 0, 0};
    bool has_traits = false;
    cc_status status = CC_OK;
    for (int32_t i = 0; i < count; i++) {
        cc__boxes_traits one = cc__box_traits(&works[i]);
        if (kind != NULL && cc__boxes_kind_has(kind, &works[i]))
            continue;
        if (has_traits)
            cc__boxes_traits_join(&traits, &one);
        else
            traits = one;
        has_traits = true;
    }
    cc__batch_start(&copier->batch, &traits, false);
    for (int32_t i = 0; i < count && status == CC_OK; i++) {
        cc__rows rows;
        if (kind != NULL && cc__boxes_kind_has(kind, &works[i]))
            continue;
        plan_rows(&works[i], &rows);
        status = copy_rows(copier, rows, works[i].destination.data, works[i].source.data);
    }
    return status == CC_OK ? launch_batch(copier) : status;
}

cc_status cc__launch_copy_boxes(const cc__copy *works, int32_t count, int32_t most_blocks, const cc__launcher *launcher)
{
    cc_status status = CC_OK;
    int32_t taken = 0;
    cc__boxes_kind kind;
    cc__box_copier copier;
    copier.launcher = launcher;
    copier.most_blocks = (uint32_t)most_blocks;
    if (find_kind(works, count, &kind))
        status = copy_alike(&copier, &kind, works, count, &taken);
    if (status == CC_OK && taken < count)
        status = copy_others(&copier, taken > 0 ? &kind : NULL, works, count);
    return status;
}
