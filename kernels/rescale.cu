#include "kernels/launch.h"
#include "kernels/pixel_math.h"
#include "kernels/rescale_plan.h"

/* Short names for this file. */
#define COMPONENTS CC__RESCALE_COMPONENTS
#define PACK CC__RESCALE_PACK
#define PACK_BYTES(BITS) (PACK * (BITS) / 8)

/* Bit i of `inside` says whether component i of the piece exists. `pack` is a constant: 1 or PACK. */
#define DEFINE_ACCESS(BITS)                                                                                            \
    typedef struct __align__(PACK_BYTES(BITS)) pack_of_##BITS                                                          \
    {                                                                                                                  \
        uint##BITS##_t value[PACK];                                                                                    \
    }                                                                                                                  \
    pack_of_##BITS;                                                                                                    \
                                                                                                                       \
    static __device__ inline void read_##BITS(const unsigned char *from, int32_t pack, uint32_t inside,                \
                                              uint##BITS##_t *out)                                                     \
    {                                                                                                                  \
        if (pack == PACK && (inside & ((1 << PACK) - 1)) == (1 << PACK) - 1) {                                         \
            pack_of_##BITS whole = *(const pack_of_##BITS *)from;                                                      \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < pack; i++)                                                                         \
                out[i] = whole.value[i];                                                                               \
        } else {                                                                                                       \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < pack; i++)                                                                         \
                out[i] = (inside >> i & 1) != 0 ? ((const uint##BITS##_t *)from)[i] : 0;                               \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __device__ inline void write_##BITS(unsigned char *to, int32_t pack, uint32_t inside,                       \
                                               const uint##BITS##_t *values)                                           \
    {                                                                                                                  \
        if (pack == PACK && (inside & ((1 << PACK) - 1)) == (1 << PACK) - 1) {                                         \
            pack_of_##BITS whole;                                                                                      \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < pack; i++)                                                                         \
                whole.value[i] = values[i];                                                                            \
            *(pack_of_##BITS *)to = whole;                                                                             \
        } else {                                                                                                       \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < pack; i++) {                                                                       \
                if ((inside >> i & 1) != 0)                                                                            \
                    ((uint##BITS##_t *)to)[i] = values[i];                                                             \
            }                                                                                                          \
        }                                                                                                              \
    }

DEFINE_ACCESS(8)
DEFINE_ACCESS(16)
DEFINE_ACCESS(32)
DEFINE_ACCESS(64)

/*
 * Finds the pieces that a thread has in a tile: bytes from the first component of a span to each. Returns which of its
 * components exist, a bit for each.
 */
static __device__ inline uint32_t locate(const cc__rescale_plan *plan, int64_t tile, int32_t pack, int32_t span,
                                         int64_t out_offsets[COMPONENTS])
{
    const cc__tiles *tiles = &plan->tiles;
    int32_t first_row;
    int64_t first_piece;
    cc__tiles_begin(tiles, tile, &first_row, &first_piece);
    int64_t first_row_offset = cc__tiles_offset(tiles, span, first_row);
    int64_t step = plan->step[span];
    int32_t thread = (int32_t)threadIdx.x;

    /* Counted from the tile's first component, those of the row begin at `low` and end before `high`. */
    int64_t first = first_piece * pack - plan->before;
    int32_t low = first < 0 ? (int32_t)-first : 0;
    int32_t high = plan->length - first < CC__RESCALE_TILE ? (int32_t)(plan->length - first) : CC__RESCALE_TILE;

    if (tiles->width_log2 == tiles->tile_log2) {
        int64_t offset = first_row_offset + first * step + thread * pack * step;
        CC__UNROLL
        for (int32_t i = 0; i < COMPONENTS / pack; i++)
            out_offsets[i] = offset + i * CC__BLOCK_THREADS * pack * step;
        if (low == 0 && high == CC__RESCALE_TILE)
            return (1u << COMPONENTS) - 1;
    }

    uint32_t inside = 0;
    CC__UNROLL
    for (int32_t i = 0; i < COMPONENTS / pack; i++) {
        int32_t in_tile = i * CC__BLOCK_THREADS + thread;
        int32_t in_row = (in_tile & ((1 << tiles->width_log2) - 1)) * pack;
        int32_t row = first_row + (in_tile >> tiles->width_log2);
        if (tiles->width_log2 != tiles->tile_log2) {
            int64_t row_offset = row == first_row ? first_row_offset : cc__tiles_offset(tiles, span, row);
            out_offsets[i] = row_offset + (first + in_row) * step;
        }
        CC__UNROLL
        for (int32_t j = 0; j < pack; j++) {
            if (row < tiles->rows && in_row + j >= low && in_row + j < high)
                inside |= 1u << (i * pack + j);
        }
    }
    return inside;
}

#define LOAD_REAL(NAME, HOLDER, BITS)                                                                                  \
    case CC_PIXEL_##NAME: {                                                                                            \
        uint##BITS##_t bits[COMPONENTS];                                                                               \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < COMPONENTS / pack; i++)                                                                \
            read_##BITS(plan->source + offsets[i], pack, inside >> (i * pack), bits + i * pack);                       \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < COMPONENTS; i++)                                                                       \
            real[i] = cc__load_##NAME((HOLDER)bits[i]);                                                                \
        break;                                                                                                         \
    }

#define LOAD_COMPLEX(NAME, PART, BITS)                                                                                 \
    case CC_PIXEL_##NAME: {                                                                                            \
        uint##BITS##_t bits[2][COMPONENTS];                                                                            \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < COMPONENTS; i++) {                                                                     \
            read_##BITS(plan->source + offsets[i], 1, inside >> i, &bits[0][i]);                                       \
            read_##BITS(plan->source + offsets[i] + BITS / 8, 1, inside >> i, &bits[1][i]);                            \
        }                                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < COMPONENTS; i++) {                                                                     \
            real[i] = cc__load_##PART(bits[0][i]);                                                                     \
            imaginary[i] = cc__load_##PART(bits[1][i]);                                                                \
        }                                                                                                              \
        break;                                                                                                         \
    }

#define STORE_REAL(NAME, HOLDER, BITS)                                                                                 \
    case CC_PIXEL_##NAME: {                                                                                            \
        uint##BITS##_t bits[COMPONENTS];                                                                               \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < COMPONENTS; i++)                                                                       \
            bits[i] = (uint##BITS##_t)cc__store_##NAME(real[i]);                                                       \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < COMPONENTS / pack; i++)                                                                \
            write_##BITS(plan->destination + offsets[i], pack, inside >> (i * pack), bits + i * pack);                 \
        break;                                                                                                         \
    }

#define STORE_COMPLEX(NAME, PART, BITS)                                                                                \
    case CC_PIXEL_##NAME:                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < COMPONENTS; i++) {                                                                     \
            uint##BITS##_t bits[2] = {cc__store_##PART(real[i]), cc__store_##PART(imaginary[i])};                      \
            write_##BITS(plan->destination + offsets[i], 1, inside >> i, &bits[0]);                                    \
            write_##BITS(plan->destination + offsets[i] + BITS / 8, 1, inside >> i, &bits[1]);                         \
        }                                                                                                              \
        break;

/* The compiler drops the types that the constants `pack` and `has_imaginary` rule out. */
static __device__ inline void load(const cc__rescale_plan *plan, int32_t pack, bool has_imaginary, uint32_t inside,
                                   const int64_t *offsets, double *real, double *imaginary)
{
    switch ((int32_t)plan->source_type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(LOAD_REAL)
        CC__FOR_EACH_TYPE_OF_32_BITS(LOAD_REAL)
    }
    if (pack == 1) {
        switch ((int32_t)plan->source_type) {
            CC__FOR_EACH_TYPE_OF_64_BITS(LOAD_REAL)
        }
    }
    if (has_imaginary) {
        switch ((int32_t)plan->source_type) {
            LOAD_COMPLEX(COMPLEX64, FLOAT32, 32)
            LOAD_COMPLEX(COMPLEX128, FLOAT64, 64)
        }
    }
}

static __device__ inline void store(const cc__rescale_plan *plan, int32_t pack, bool has_imaginary, uint32_t inside,
                                    const int64_t *offsets, const double *real, const double *imaginary)
{
    switch ((int32_t)plan->destination_type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(STORE_REAL)
        CC__FOR_EACH_TYPE_OF_32_BITS(STORE_REAL)
    }
    if (pack == 1) {
        switch ((int32_t)plan->destination_type) {
            CC__FOR_EACH_TYPE_OF_64_BITS(STORE_REAL)
        }
    }
    if (has_imaginary) {
        switch ((int32_t)plan->destination_type) {
            STORE_COMPLEX(COMPLEX64, FLOAT32, 32)
            STORE_COMPLEX(COMPLEX128, FLOAT64, 64)
        }
    }
}

static __device__ inline void rescale_tiles(const cc__rescale_plan *plan, int32_t pack, bool has_imaginary)
{
    for (int64_t tile = blockIdx.x; tile < plan->tiles.count; tile += gridDim.x) {
        double real[COMPONENTS];
        double imaginary[COMPONENTS];
        int64_t offsets[COMPONENTS];
        CC__UNROLL
        for (int32_t i = 0; i < COMPONENTS; i++) {
            real[i] = 0.0;
            imaginary[i] = 0.0;
        }
        uint32_t inside = locate(plan, tile, pack, 1, offsets);
        load(plan, pack, has_imaginary, inside, offsets, real, imaginary);
        if (!plan->is_cast) {
            CC__UNROLL
            for (int32_t i = 0; i < COMPONENTS; i++) {
                real[i] = cc__scale_and_shift(real[i], plan->scale, plan->shift);
                /* That of a real value stays 0, not -0. */
                if (plan->source_type == CC_PIXEL_COMPLEX64 || plan->source_type == CC_PIXEL_COMPLEX128)
                    imaginary[i] *= plan->scale;
            }
        }
        /* A complex value is 0 when both parts are. */
        if (has_imaginary && plan->destination_type == CC_PIXEL_BOOL) {
            CC__UNROLL
            for (int32_t i = 0; i < COMPONENTS; i++)
                real[i] = real[i] != 0.0 || imaginary[i] != 0.0 ? 1.0 : 0.0;
        }
        locate(plan, tile, pack, 0, offsets);
        store(plan, pack, has_imaginary, inside, offsets, real, imaginary);
    }
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) rescale_packs(const cc__rescale_plan plan)
{
    rescale_tiles(&plan, PACK, false);
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) rescale_singles(const cc__rescale_plan plan)
{
    rescale_tiles(&plan, 1, false);
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) rescale_complex(const cc__rescale_plan plan)
{
    rescale_tiles(&plan, 1, true);
}

#define TRANSFER(BITS, CONVERT)                                                                                        \
    {                                                                                                                  \
        uint##BITS##_t bits[COMPONENTS];                                                                               \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < COMPONENTS; i++)                                                                       \
            read_##BITS(plan.source + from[i], 1, inside >> i, &bits[i]);                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < COMPONENTS; i++) {                                                                     \
            uint##BITS##_t converted = (uint##BITS##_t)(CONVERT);                                                      \
            write_##BITS(plan.destination + to[i], 1, inside >> i, &converted);                                        \
        }                                                                                                              \
        break;                                                                                                         \
    }

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) transfer_whole_numbers(const cc__rescale_plan plan)
{
    for (int64_t tile = blockIdx.x; tile < plan.tiles.count; tile += gridDim.x) {
        int64_t from[COMPONENTS];
        int64_t to[COMPONENTS];
        uint32_t inside = locate(&plan, tile, 1, 1, from);
        locate(&plan, tile, 1, 0, to);
        switch ((int32_t)plan.destination_type) {
        case CC_PIXEL_UINT8:
            TRANSFER(8, bits[i])
        case CC_PIXEL_UINT16:
            TRANSFER(16, bits[i])
        case CC_PIXEL_UINT32:
            TRANSFER(32, bits[i])
        case CC_PIXEL_UINT64:
            TRANSFER(64, plan.source_type == CC_PIXEL_INT64 ? cc__clamp_INT64_to_UINT64((int64_t)bits[i]) : bits[i])
        case CC_PIXEL_INT64:
            TRANSFER(64, cc__clamp_UINT64_to_INT64(bits[i]))
        }
    }
}

static const void *rescale_kernel(cc__rescale_way way)
{
    switch (way) {
    case CC__RESCALE_PACKS:
        return (const void *)rescale_packs;
    case CC__RESCALE_SINGLES:
        return (const void *)rescale_singles;
    case CC__RESCALE_COMPLEX:
        return (const void *)rescale_complex;
    case CC__RESCALE_TRANSFER:
        return (const void *)transfer_whole_numbers;
    }
    return NULL;
}

static cc_status launch_rows(cc__rescale_plan *plan, cc__rescale_way way, cc__rows rows, unsigned char *destination,
                             const unsigned char *source, const cc__launcher *launcher)
{
    int32_t pack_log2 = way == CC__RESCALE_PACKS ? CC__RESCALE_PACK_LOG2 : 0;
    int64_t pieces = ((rows.length + plan->before - 1) >> pack_log2) + 1;
    if (!cc__tiles_plan(&rows, pieces, CC__RESCALE_TILE_LOG2 - pack_log2, &plan->tiles)) {
        cc__rows rest;
        int64_t offset[2];
        cc__rows_split(&rows, &rest, offset);
        cc_status status = launch_rows(plan, way, rows, destination, source, launcher);
        return status == CC_OK ? launch_rows(plan, way, rest, destination + offset[0], source + offset[1], launcher)
                               : status;
    }
    plan->destination = destination;
    plan->source = source;
    void *arguments[] = {plan};
    return launcher->launch(launcher, rescale_kernel(way),
                            cc__tiles_blocks(&plan->tiles, launcher->multiprocessor_count), CC__BLOCK_THREADS,
                            arguments);
}

/* The same as an expression, whose kernels are faster where images are one row. */
static void make_expression(const cc__rescale *work, bool is_cast, cc__evaluate *out)
{
    memset(out, 0, sizeof *out);
    out->destination = work->destination;
    out->destination_type = work->destination_type;
    out->components = work->components;
    memcpy(out->size, work->size, sizeof out->size);
    out->numbers = CC__NUMBERS_REAL;
    out->source_count = 1;
    out->sources[0].data = work->source.data;
    memcpy(out->sources[0].stride, work->source.stride, sizeof out->sources[0].stride);
    out->sources[0].type = work->source_type;
    out->sources[0].component_stride = (int64_t)cc_pixel_type_size_bytes(work->source_type);
    out->sources[0].components = 1;
    out->step_count = is_cast ? 1 : 2;
    out->steps[0].kind = CC_STEP_LOAD;
    out->steps[0].a.kind = CC__TERM_SOURCE;
    out->steps[0].slot = -1;
    out->steps[1].kind = CC_STEP_MULTIPLY_ADD;
    out->steps[1].a.kind = CC__TERM_VALUE;
    out->steps[1].a.value = work->scale;
    out->steps[1].b.kind = CC__TERM_VALUE;
    out->steps[1].b.value = work->shift;
    out->steps[1].slot = -1;
}

cc_status cc__launch_rescale(const void *argument, const cc__launcher *launcher)
{
    const cc__rescale *work = (const cc__rescale *)argument;
    cc__rescale_plan plan;
    cc__rows rows;
    cc__rescale_way way = cc__rescale_plan_work(work, &plan, &rows);
    if (plan.is_cast && work->destination.data == work->source.data)
        return CC_OK;
    if (way == CC__RESCALE_PACKS || way == CC__RESCALE_SINGLES) {
        cc__evaluate expression;
        bool is_done = false;
        make_expression(work, plan.is_cast != 0, &expression);
        cc_status status = cc__launch_evaluate_row(&expression, launcher, &is_done);
        if (is_done)
            return status;
    }
    return launch_rows(&plan, way, rows, work->destination.data, work->source.data, launcher);
}
