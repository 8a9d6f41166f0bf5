#include "base/rows.h"
#include "kernels/launch.h"
#include "kernels/tiles.h"

#include <string.h>

/* A tile is FILL_ROUNDS pieces of work for each thread. */
#define FILL_TILE_LOG2 11
#define FILL_ROUNDS ((1 << FILL_TILE_LOG2) / CC__BLOCK_THREADS)

/* The longest that a value and a unit of 16 bytes take to repeat together: 64 components of 16 bytes. */
#define FILL_PATTERN_BYTES 1024

/*
 * Each row is `head` bytes, then units up to the last whole one, then `tail` bytes. The pattern is what the units of a
 * row repeat. A piece of work is one unit, or, counted after all units of the row, one byte of head or tail.
 */
typedef struct cc__fill_plan {
    unsigned char pattern[FILL_PATTERN_BYTES];
    unsigned char *first_unit; /* of the first row */
    int64_t units;             /* of a row */
    cc__divisor pattern_units;
    int32_t unit_bytes; /* 16, 8, 4, 2 or 1 */
    int32_t head;
    int32_t tail;
    int32_t head_phase; /* where in the pattern the head begins */
    int32_t tail_phase;
    cc__tiles tiles;
} cc__fill_plan;

/* The widest unit that is aligned alike in all rows, unless it would leave little but heads and tails of them. */
static int32_t unit_for(const cc__rows *rows, const unsigned char *destination)
{
    uintptr_t address = (uintptr_t)destination;
    int32_t unit = 16;
    for (int32_t i = 0; i < rows->axes; i++) {
        while (rows->stride[0][i] % unit != 0)
            unit /= 2;
    }
    while (rows->length < 4 * unit && (address % (uintptr_t)unit != 0 || rows->length % unit != 0))
        unit /= 2;
    return unit;
}

/* What depends on one pixel and on where rows begin, alike for all rows. */
static cc__fill_plan plan_fill(const cc__fill *work, const cc__rows *rows)
{
    cc__fill_plan plan;
    memset(&plan, 0, sizeof plan);
    int32_t unit = unit_for(rows, work->destination.data);
    int32_t misaligned = (int32_t)((uintptr_t)work->destination.data % (uintptr_t)unit);
    plan.unit_bytes = unit;
    plan.head = misaligned > 0 ? unit - misaligned : 0;
    plan.units = (rows->length - plan.head) / unit;
    plan.tail = (int32_t)((rows->length - plan.head) % unit);

    int32_t pixel_bytes = (int32_t)work->pixel_bytes;
    int32_t pattern_bytes = pixel_bytes;
    while (pattern_bytes % unit != 0)
        pattern_bytes += pixel_bytes;
    for (int32_t i = 0; i < pattern_bytes; i++)
        plan.pattern[i] = work->value[(i + plan.head) % pixel_bytes];
    plan.pattern_units = cc__divisor_of(pattern_bytes / unit);
    plan.head_phase = pattern_bytes - plan.head;
    plan.tail_phase = (int32_t)(plan.units * unit % pattern_bytes);
    return plan;
}

typedef struct __align__(16) cc__fill_unit
{
    uint64_t part[2];
}
cc__fill_unit;

static __device__ inline void store_unit(unsigned char *at, const unsigned char *pattern, int32_t unit_bytes)
{
    switch (unit_bytes) {
    case 16: {
        cc__fill_unit unit;
        memcpy(&unit, pattern, sizeof unit);
        *(cc__fill_unit *)at = unit;
        break;
    }
    case 8: {
        uint64_t unit;
        memcpy(&unit, pattern, sizeof unit);
        *(uint64_t *)at = unit;
        break;
    }
    case 4: {
        uint32_t unit;
        memcpy(&unit, pattern, sizeof unit);
        *(uint32_t *)at = unit;
        break;
    }
    case 2: {
        uint16_t unit;
        memcpy(&unit, pattern, sizeof unit);
        *(uint16_t *)at = unit;
        break;
    }
    default:
        *at = *pattern;
        break;
    }
}

/* unit_bytes is a constant in each kernel. */
static __device__ inline void fill_tiles(const cc__fill_plan *plan, int32_t unit_bytes)
{
    const cc__tiles *tiles = &plan->tiles;
    for (int64_t tile = blockIdx.x; tile < tiles->count; tile += gridDim.x) {
        int32_t first_row;
        int64_t first_piece;
        int32_t first_phase = 0;
        cc__tiles_begin(tiles, tile, &first_row, &first_piece);
        if (plan->pattern_units.value > 1)
            first_phase = (int32_t)(first_piece % plan->pattern_units.value);
        for (int32_t round = 0; round < FILL_ROUNDS; round++) {
            int32_t in_tile = round * CC__BLOCK_THREADS + (int32_t)threadIdx.x;
            int32_t in_row = in_tile & ((1 << tiles->width_log2) - 1);
            int32_t row = first_row + (in_tile >> tiles->width_log2);
            int64_t piece = first_piece + in_row;
            if (row >= tiles->rows || piece >= tiles->pieces)
                continue;
            unsigned char *first_unit = plan->first_unit + cc__tiles_offset(tiles, 0, row);
            if (piece < plan->units) {
                int32_t phase = 0;
                if (plan->pattern_units.value > 1) {
                    phase = first_phase + in_row;
                    phase -= cc__divide(phase, &plan->pattern_units) * plan->pattern_units.value;
                }
                store_unit(first_unit + piece * unit_bytes, plan->pattern + phase * unit_bytes, unit_bytes);
            } else {
                int32_t byte = (int32_t)(piece - plan->units);
                if (byte < plan->head)
                    first_unit[byte - plan->head] = plan->pattern[plan->head_phase + byte];
                else
                    first_unit[plan->units * unit_bytes + byte - plan->head] =
                        plan->pattern[plan->tail_phase + byte - plan->head];
            }
        }
    }
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) fill_by_16(const cc__fill_plan plan)
{
    fill_tiles(&plan, 16);
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) fill_by_8(const cc__fill_plan plan)
{
    fill_tiles(&plan, 8);
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) fill_by_4(const cc__fill_plan plan)
{
    fill_tiles(&plan, 4);
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) fill_by_2(const cc__fill_plan plan)
{
    fill_tiles(&plan, 2);
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) fill_by_1(const cc__fill_plan plan)
{
    fill_tiles(&plan, 1);
}

static const void *fill_kernel(int32_t unit_bytes)
{
    switch (unit_bytes) {
    case 16:
        return (const void *)fill_by_16;
    case 8:
        return (const void *)fill_by_8;
    case 4:
        return (const void *)fill_by_4;
    case 2:
        return (const void *)fill_by_2;
    default:
        return (const void *)fill_by_1;
    }
}

static cc_status launch_rows(cc__fill_plan *plan, cc__rows rows, unsigned char *first_unit,
                             const cc__launcher *launcher)
{
    if (!cc__tiles_plan(&rows, plan->units + plan->head + plan->tail, FILL_TILE_LOG2, &plan->tiles)) {
        cc__rows rest;
        int64_t offset[2];
        cc__rows_split(&rows, &rest, offset);
        cc_status status = launch_rows(plan, rows, first_unit, launcher);
        return status == CC_OK ? launch_rows(plan, rest, first_unit + offset[0], launcher) : status;
    }
    plan->first_unit = first_unit;
    void *arguments[] = {plan};
    return launcher->launch(launcher, fill_kernel(plan->unit_bytes),
                            cc__tiles_blocks(&plan->tiles, launcher->multiprocessor_count), CC__BLOCK_THREADS,
                            arguments);
}

cc_status cc__launch_fill(const void *argument, const cc__launcher *launcher)
{
    const cc__fill *work = (const cc__fill *)argument;
    cc__rows rows;
    cc__rows_plan(CC__ROWS_OF_BYTES, work->pixel_bytes, 1, 1, work->size, work->destination.stride, NULL, &rows);
    cc__fill_plan plan = plan_fill(work, &rows);
    return launch_rows(&plan, rows, work->destination.data + plan.head, launcher);
}
