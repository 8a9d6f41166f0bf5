/* Pixels in another order, along rows: 16 bytes at a time, with borders. */
#include "kernels/border_math.h"
#include "kernels/cast_math.h"
#include "kernels/copy_unit.h"
#include "kernels/launch.h"
#include "kernels/rearrange_plan.h"

#define PIECES CC__REARRANGE_PIECES

/* A row of the destination, and what it comes from. */
typedef struct row_place {
    unsigned char *to;
    const unsigned char *from; /* the source's first pixel along the row; NULL: the row is the border's value */
} row_place;

static __device__ inline row_place find_row(const cc__rearrange_plan *plan, int32_t row)
{
    const cc__tiles *tiles = &plan->tiles;
    const cc__rearrange *work = &plan->work;
    row_place place = {work->to, work->from};
    bool is_inside = true;
    CC__UNROLL
    for (int32_t i = 0; i < CC_MAX_DIMENSION - 1; i++) {
        if (i >= tiles->axes)
            break;
        const cc__rearrange_axis *axis = &work->axes[1 + i];
        int32_t next = i + 1 < tiles->axes ? cc__divide(row, &tiles->size[i]) : 0;
        int32_t at = row - next * tiles->size[i].value;
        int64_t found = cc__border_find((int32_t)axis->border, at - axis->before, axis->from_size);
        place.to += at * axis->to_stride;
        place.from += found * axis->from_stride;
        is_inside = is_inside && found >= 0;
        row = next;
    }
    if (!is_inside)
        place.from = NULL;
    return place;
}

/* The pixel and the unit in it; rows of several units to a pixel may be longer than divisors can tell. */
static __device__ inline void find_unit(const cc__rearrange_plan *plan, int64_t unit, int64_t *out_pixel,
                                        int32_t *out_in_pixel)
{
    int32_t units = plan->of_pixel.value;
    if (units == 1)
        *out_pixel = unit;
    else if (unit <= INT32_MAX)
        *out_pixel = cc__divide((int32_t)unit, &plan->of_pixel);
    else
        *out_pixel = unit / units;
    *out_in_pixel = (int32_t)(unit - *out_pixel * units);
}

/* Where a unit of the row comes from. */
static __device__ inline const unsigned char *find_source(const cc__rearrange_plan *plan, const unsigned char *row_from,
                                                          int64_t pixel, int32_t in_pixel, int32_t unit_bytes)
{
    const cc__rearrange_axis *axis = &plan->work.axes[0];
    int64_t found =
        row_from == NULL ? -1 : cc__border_find((int32_t)axis->border, pixel - axis->before, axis->from_size);
    if (found < 0)
        return plan->work.value + in_pixel * unit_bytes;
    return row_from + found * axis->from_stride + in_pixel * unit_bytes;
}

/* 16 bytes that begin `skip` bytes after the first of 32. */
static __device__ inline cc__copy_unit shift_units(cc__copy_unit low, cc__copy_unit high, int32_t skip)
{
    uint64_t a = skip >= 8 ? low.part[1] : low.part[0];
    uint64_t b = skip >= 8 ? high.part[0] : low.part[1];
    uint64_t c = skip >= 8 ? high.part[1] : high.part[0];
    int32_t shift = (skip & 7) * 8;
    cc__copy_unit unit;
    unit.part[0] = shift == 0 ? a : a >> shift | b << (64 - shift);
    unit.part[1] = shift == 0 ? b : b >> shift | c << (64 - shift);
    return unit;
}

/* The units of 16 bytes the other way round. */
static __device__ inline cc__copy_unit reverse_units(cc__copy_unit unit, int32_t unit_bytes)
{
    cc__copy_unit reversed;
    if (unit_bytes == 16)
        return unit;
    CC__UNROLL
    for (int32_t i = 0; i < 2; i++) {
        uint64_t part = unit.part[1 - i];
        if (unit_bytes <= 4)
            part = part << 32 | part >> 32;
        if (unit_bytes <= 2)
            part = (part & UINT64_C(0x0000ffff0000ffff)) << 16 | (part >> 16 & UINT64_C(0x0000ffff0000ffff));
        if (unit_bytes == 1)
            part = (part & UINT64_C(0x00ff00ff00ff00ff)) << 8 | (part >> 8 & UINT64_C(0x00ff00ff00ff00ff));
        reversed.part[i] = part;
    }
    return reversed;
}

/* 16 bytes of the source from `at` on, which lie in [begin, end). False when they are not worth a whole load. */
static __device__ inline bool load_whole(const unsigned char *at, const unsigned char *begin, const unsigned char *end,
                                         cc__copy_unit *out)
{
    int32_t skip = (int32_t)((uintptr_t)at & 15);
    const unsigned char *aligned = at - skip;
    if (skip == 0) {
        *out = load_unit(at, 16);
        return true;
    }
    if (aligned < begin || aligned + 32 > end)
        return false;
    *out = shift_units(load_unit(aligned, 16), load_unit(aligned + 16, 16), skip);
    return true;
}

/* A piece whose units are all there and all from inside the source. */
static __device__ inline bool load_inner(const cc__rearrange_plan *plan, const unsigned char *row_from, int64_t first,
                                         int32_t unit_bytes, cc__copy_unit *out)
{
    const int32_t count = 16 / unit_bytes;
    int64_t skipped = plan->work.axes[0].before * plan->of_pixel.value;
    if (row_from == NULL || plan->direction == 0 || first < plan->inner || first + count > plan->inner_end)
        return false;
    if (plan->direction > 0) {
        const unsigned char *from = row_from - skipped * unit_bytes;
        return load_whole(from + first * unit_bytes, from + plan->inner * unit_bytes,
                          from + plan->inner_end * unit_bytes, out);
    }
    const unsigned char *from = row_from + skipped * unit_bytes;
    if (!load_whole(from - (first + count - 1) * unit_bytes, from - (plan->inner_end - 1) * unit_bytes,
                    from - (plan->inner - 1) * unit_bytes, out))
        return false;
    *out = reverse_units(*out, unit_bytes);
    return true;
}

/* Unit by unit; those of [low, high) are there. */
static __device__ inline cc__copy_unit load_units(const cc__rearrange_plan *plan, const unsigned char *row_from,
                                                  int64_t first, int32_t low, int32_t high, int32_t unit_bytes)
{
    const int32_t count = 16 / unit_bytes;
    cc__copy_unit piece = {{0, 0}};
    int64_t pixel;
    int32_t in_pixel;
    find_unit(plan, first + low, &pixel, &in_pixel);
    CC__UNROLL
    for (int32_t i = 0; i < count; i++) {
        if (i >= low && i < high) {
            const unsigned char *from = find_source(plan, row_from, pixel, in_pixel, unit_bytes);
            cc__copy_unit unit = load_unit(from, unit_bytes);
            if (unit_bytes == 16)
                piece = unit;
            else
                piece.part[i * unit_bytes / 8] |= unit.part[0] << (i * unit_bytes % 8 * 8);
            in_pixel++;
            if (in_pixel == plan->of_pixel.value) {
                in_pixel = 0;
                pixel++;
            }
        }
    }
    return piece;
}

/* Apart for each number of bytes: one call for all of them would have to choose. */
#define DEFINE_LOAD_UNITS(BYTES)                                                                                       \
    static CC__NOT_INLINE __device__ cc__copy_unit load_units_of_##BYTES(                                              \
        const cc__rearrange_plan *plan, const unsigned char *row_from, int64_t first, int32_t low, int32_t high)       \
    {                                                                                                                  \
        return load_units(plan, row_from, first, low, high, BYTES);                                                    \
    }

DEFINE_LOAD_UNITS(1)
DEFINE_LOAD_UNITS(2)
DEFINE_LOAD_UNITS(4)
DEFINE_LOAD_UNITS(8)
DEFINE_LOAD_UNITS(16)

static __device__ inline cc__copy_unit load_apart(const cc__rearrange_plan *plan, const unsigned char *row_from,
                                                  int64_t first, int32_t low, int32_t high, int32_t unit_bytes)
{
    switch (unit_bytes) {
    case 16:
        return load_units_of_16(plan, row_from, first, low, high);
    case 8:
        return load_units_of_8(plan, row_from, first, low, high);
    case 4:
        return load_units_of_4(plan, row_from, first, low, high);
    case 2:
        return load_units_of_2(plan, row_from, first, low, high);
    default:
        return load_units_of_1(plan, row_from, first, low, high);
    }
}

static __device__ inline void store_units(unsigned char *to, cc__copy_unit piece, int32_t low, int32_t high,
                                          int32_t unit_bytes)
{
    const int32_t count = 16 / unit_bytes;
    if (low == 0 && high == count) {
        store_unit(to, piece, 16);
        return;
    }
    CC__UNROLL
    for (int32_t i = 0; i < count; i++) {
        if (i >= low && i < high) {
            cc__copy_unit unit = piece;
            if (unit_bytes < 16)
                unit.part[0] = piece.part[i * unit_bytes / 8] >> (i * unit_bytes % 8 * 8);
            store_unit(to + i * unit_bytes, unit, unit_bytes);
        }
    }
}

/* A piece of a thread: which units of which row. */
typedef struct piece_place {
    row_place row;
    int32_t row_number;
    int64_t first;
    int32_t low;
    int32_t high; /* 0 when there are none */
} piece_place;

static __device__ inline piece_place no_place(void)
{
    piece_place place = {{NULL, NULL}, -1, 0, 0, 0};
    return place;
}

/* Moves a place to another piece, often of the same row. is_packed is a constant: 16 bytes, else one unit. */
static __device__ inline void find_piece(const cc__rearrange_plan *plan, int32_t tile_row, int64_t tile_piece,
                                         int32_t number, bool is_packed, int32_t unit_bytes, piece_place *place)
{
    const cc__tiles *tiles = &plan->tiles;
    const int32_t count = is_packed ? 16 / unit_bytes : 1;
    int32_t in_tile = number * CC__BLOCK_THREADS + (int32_t)threadIdx.x;
    int32_t row = tile_row + (in_tile >> tiles->width_log2);
    int64_t piece = tile_piece + (in_tile & ((1 << tiles->width_log2) - 1));
    place->low = 0;
    place->high = 0;
    if (row >= tiles->rows || piece >= tiles->pieces)
        return;
    if (row != place->row_number) {
        place->row = find_row(plan, row);
        place->row_number = row;
    }
    int32_t skew = is_packed ? (int32_t)((uintptr_t)place->row.to & 15) / unit_bytes : 0;
    place->first = piece * count - skew;
    int64_t left = plan->length - place->first;
    if (left <= 0)
        return;
    place->low = place->first < 0 ? (int32_t)-place->first : 0;
    place->high = left < count ? (int32_t)left : count;
}

static __device__ inline void move_packed(const cc__rearrange_plan *plan, int32_t unit_bytes)
{
    const int32_t count = 16 / unit_bytes;
    for (int64_t tile = blockIdx.x; tile < plan->tiles.count; tile += gridDim.x) {
        cc__copy_unit pieces[PIECES];
        piece_place places[PIECES];
        int32_t row;
        int64_t piece;
        cc__tiles_begin(&plan->tiles, tile, &row, &piece);
        CC__UNROLL
        for (int32_t i = 0; i < PIECES; i++) {
            if (i == 0)
                places[0] = no_place();
            else
                places[i] = places[i - 1];
            find_piece(plan, row, piece, i, true, unit_bytes, &places[i]);
            const piece_place *at = &places[i];
            bool is_whole = at->low == 0 && at->high == count;
            if (!is_whole || !load_inner(plan, at->row.from, at->first, unit_bytes, &pieces[i]))
                pieces[i] = load_apart(plan, at->row.from, at->first, at->low, at->high, unit_bytes);
        }
        CC__UNROLL
        for (int32_t i = 0; i < PIECES; i++)
            store_units(places[i].row.to + places[i].first * unit_bytes, pieces[i], places[i].low, places[i].high,
                        unit_bytes);
    }
}

static __device__ inline void move_single(const cc__rearrange_plan *plan, int32_t unit_bytes)
{
    for (int64_t tile = blockIdx.x; tile < plan->tiles.count; tile += gridDim.x) {
        cc__copy_unit units[PIECES] = {};
        unsigned char *to[PIECES];
        piece_place at = no_place();
        int32_t row;
        int64_t piece;
        cc__tiles_begin(&plan->tiles, tile, &row, &piece);
        CC__UNROLL
        for (int32_t i = 0; i < PIECES; i++) {
            find_piece(plan, row, piece, i, false, unit_bytes, &at);
            int64_t pixel;
            int32_t in_pixel;
            to[i] = NULL;
            if (at.high == 0)
                continue;
            find_unit(plan, at.first, &pixel, &in_pixel);
            units[i] = load_unit(find_source(plan, at.row.from, pixel, in_pixel, unit_bytes), unit_bytes);
            to[i] = at.row.to + pixel * plan->work.axes[0].to_stride + in_pixel * unit_bytes;
        }
        CC__UNROLL
        for (int32_t i = 0; i < PIECES; i++) {
            if (to[i] != NULL)
                store_unit(to[i], units[i], unit_bytes);
        }
    }
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS)
    rearrange_cast(const __grid_constant__ cc__rearrange_plan plan, int32_t to_bytes, int32_t from_bytes)
{
    const cc__rearrange *work = &plan.work;
    for (int64_t tile = blockIdx.x; tile < plan.tiles.count; tile += gridDim.x) {
        piece_place at = no_place();
        int32_t row;
        int64_t piece;
        cc__tiles_begin(&plan.tiles, tile, &row, &piece);
        for (int32_t i = 0; i < PIECES; i++) {
            find_piece(&plan, row, piece, i, false, 1, &at);
            int64_t pixel;
            int32_t component;
            if (at.high == 0)
                continue;
            find_unit(&plan, at.first, &pixel, &component);
            const cc__rearrange_axis *axis = &work->axes[0];
            int64_t found = at.row.from == NULL
                                ? -1
                                : cc__border_find((int32_t)axis->border, pixel - axis->before, axis->from_size);
            unsigned char *to = at.row.to + pixel * axis->to_stride + component * to_bytes;
            if (found < 0) {
                for (int32_t byte = 0; byte < to_bytes; byte++)
                    to[byte] = work->value[component * to_bytes + byte];
                continue;
            }
            cc__cast_component(work->from_type, at.row.from + found * axis->from_stride + component * from_bytes,
                               work->to_type, to);
        }
    }
}

#define DEFINE_MOVES(BYTES)                                                                                            \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        rearrange_packed_##BYTES(const __grid_constant__ cc__rearrange_plan plan)                                      \
    {                                                                                                                  \
        move_packed(&plan, BYTES);                                                                                     \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        rearrange_single_##BYTES(const __grid_constant__ cc__rearrange_plan plan)                                      \
    {                                                                                                                  \
        move_single(&plan, BYTES);                                                                                     \
    }

DEFINE_MOVES(1)
DEFINE_MOVES(2)
DEFINE_MOVES(4)
DEFINE_MOVES(8)
DEFINE_MOVES(16)

#define CHOOSE_KERNEL(NAME)                                                                                            \
    static const void *NAME##_kernel(int32_t unit_bytes)                                                               \
    {                                                                                                                  \
        switch (unit_bytes) {                                                                                          \
        case 16:                                                                                                       \
            return (const void *)rearrange_##NAME##_16;                                                                \
        case 8:                                                                                                        \
            return (const void *)rearrange_##NAME##_8;                                                                 \
        case 4:                                                                                                        \
            return (const void *)rearrange_##NAME##_4;                                                                 \
        case 2:                                                                                                        \
            return (const void *)rearrange_##NAME##_2;                                                                 \
        default:                                                                                                       \
            return (const void *)rearrange_##NAME##_1;                                                                 \
        }                                                                                                              \
    }

CHOOSE_KERNEL(packed)
CHOOSE_KERNEL(single)

static cc_status launch_rows(cc__rearrange_plan *plan, cc__rows rows, const cc__launcher *launcher)
{
    const bool is_cast = plan->work.to_type != plan->work.from_type;
    const int32_t log2 = is_cast ? 0 : cc__rearrange_pieces_log2(plan);
    const int64_t pieces = plan->is_dense ? ((plan->length + (1 << log2) - 2) >> log2) + 1 : plan->length;
    int32_t bytes[2] = {(int32_t)cc_pixel_type_size_bytes(plan->work.to_type),
                        (int32_t)cc_pixel_type_size_bytes(plan->work.from_type)};
    if (!cc__tiles_plan(&rows, pieces, CC__REARRANGE_TILE_LOG2, &plan->tiles)) {
        cc__rows rest;
        cc__rearrange_plan second;
        cc__rearrange_split(plan, &rows, &second, &rest);
        cc_status status = launch_rows(plan, rows, launcher);
        return status == CC_OK ? launch_rows(&second, rest, launcher) : status;
    }
    void *arguments[] = {plan, &bytes[0], &bytes[1]};
    const void *kernel = is_cast          ? (const void *)rearrange_cast
                         : plan->is_dense ? packed_kernel(plan->work.unit_bytes)
                                          : single_kernel(plan->work.unit_bytes);
    return launcher->launch(launcher, kernel, cc__tiles_blocks(&plan->tiles, launcher->multiprocessor_count),
                            CC__BLOCK_THREADS, arguments);
}

cc_status cc__launch_rearrange(const void *work, const cc__launcher *launcher)
{
    const cc__rearrange *rearrange = (const cc__rearrange *)work;
    cc__rearrange_plan plan;
    cc__rows rows;
    if (cc__rearrange_choose(rearrange) == CC__REARRANGE_SQUARES)
        return cc__launch_squares(rearrange, launcher);
    bool is_done = false;
    const cc_status status = cc__launch_strips(rearrange, launcher, &is_done);
    if (status != CC_OK || is_done)
        return status;
    cc__rearrange_plan_rows(rearrange, &plan, &rows);
    return launch_rows(&plan, rows, launcher);
}
