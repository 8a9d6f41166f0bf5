/* Packs of components in any rows: where they are, reading, writing and copying them. For evaluate.cu. */
#ifndef CC_KERNELS_EVALUATE_PACKS_H
#define CC_KERNELS_EVALUATE_PACKS_H

#include "kernels/evaluate_plan.h"

/* Short names for the kernels of any list of steps. */
#define PACK CC__GENERAL_PACK
#define WIDE_PACK CC__GENERAL_WIDE_PACK
#define AHEAD CC__GENERAL_AHEAD

/* Where a thread's pack is: its row's place along each axis, its first component, and how many of the pack exist. */
typedef struct place_of_pack {
    int32_t at[CC_MAX_DIMENSION];
    int64_t first;
    int32_t count;
} place_of_pack;

/* False when the thread has nothing to do in the tile. */
static __device__ inline bool find_position(const cc__general_plan *plan, int64_t tile, int32_t pack,
                                            place_of_pack *out)
{
    const cc__tiles *tiles = &plan->tiles;
    int32_t row;
    int64_t piece;
    int32_t thread = (int32_t)threadIdx.x;
    cc__tiles_begin(tiles, tile, &row, &piece);
    piece += thread & ((1 << tiles->width_log2) - 1);
    row += thread >> tiles->width_log2;
    if (row >= tiles->rows || piece >= tiles->pieces)
        return false;
    out->first = piece * pack;
    out->count = plan->length - out->first < pack ? (int32_t)(plan->length - out->first) : pack;
    CC__UNROLL
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        int32_t next = i + 1 < tiles->axes ? cc__divide(row, &tiles->size[i]) : 0;
        out->at[i] = i < tiles->axes ? row - next * tiles->size[i].value : 0;
        row = next;
    }
    return true;
}

static __device__ inline int64_t offset_of(const cc__general_plan *plan, int32_t span, const place_of_pack *position)
{
    int64_t offset = position->first * plan->step[span];
    CC__UNROLL
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++)
        offset += position->at[i] * plan->stride[span][i];
    return offset;
}

#define DEFINE_ACCESS(BITS, ALIGNMENT)                                                                                 \
    typedef struct __align__(ALIGNMENT) pack_of_##BITS                                                                 \
    {                                                                                                                  \
        uint##BITS##_t value[PACK];                                                                                    \
    }                                                                                                                  \
    pack_of_##BITS;                                                                                                    \
                                                                                                                       \
    static __device__ inline void read_##BITS(const unsigned char *from, int64_t step, bool packed, int32_t count,     \
                                              uint64_t out[PACK])                                                      \
    {                                                                                                                  \
        if (packed && count == PACK) {                                                                                 \
            pack_of_##BITS whole = *(const pack_of_##BITS *)from;                                                      \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < PACK; i++)                                                                         \
                out[i] = whole.value[i];                                                                               \
        } else {                                                                                                       \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < PACK; i++)                                                                         \
                out[i] = i < count ? *(const uint##BITS##_t *)(from + i * step) : 0;                                   \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __device__ inline void write_##BITS(unsigned char *to, int64_t step, bool packed, int32_t count,            \
                                               const uint##BITS##_t values[PACK])                                      \
    {                                                                                                                  \
        if (packed && count == PACK) {                                                                                 \
            pack_of_##BITS whole;                                                                                      \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < PACK; i++)                                                                         \
                whole.value[i] = values[i];                                                                            \
            *(pack_of_##BITS *)to = whole;                                                                             \
        } else {                                                                                                       \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < PACK; i++) {                                                                       \
                if (i < count)                                                                                         \
                    *(uint##BITS##_t *)(to + i * step) = values[i];                                                    \
            }                                                                                                          \
        }                                                                                                              \
    }

DEFINE_ACCESS(8, 4)
DEFINE_ACCESS(16, 8)
DEFINE_ACCESS(32, 16)
DEFINE_ACCESS(64, 16)

static __device__ inline int32_t bytes_of_real(cc_pixel_type type)
{
    switch ((int32_t)type) {
#define BYTES(NAME, HOLDER, BITS)                                                                                      \
    case CC_PIXEL_##NAME:                                                                                              \
        return (BITS) / 8;
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(BYTES)
        CC__FOR_EACH_TYPE_OF_32_BITS(BYTES)
#undef BYTES
    }
    return 8;
}

/* The bits of a pack of a source, one component in each. */
static __device__ inline void read_source(const cc__general_plan *plan, int32_t n, const place_of_pack *position,
                                          int64_t skip_bytes, uint64_t out[PACK])
{
    const cc__source *source = &plan->work.sources[n];
    const unsigned char *from = source->data + offset_of(plan, 1 + n, position) + skip_bytes;
    int64_t step = plan->step[1 + n];
    bool packed = (plan->packed >> (1 + n) & 1) != 0 && skip_bytes == 0;
    switch (bytes_of_real(source->type)) {
    case 1:
        read_8(from, step, packed, position->count, out);
        break;
    case 2:
        read_16(from, step, packed, position->count, out);
        break;
    case 4:
        read_32(from, step, packed, position->count, out);
        break;
    default:
        read_64(from, step, packed, position->count, out);
        break;
    }
}

/* LOAD alone between equal types: the bits, parts of complex ones each on its own. */
#define COPY_BITS(BITS)                                                                                                \
    {                                                                                                                  \
        uint64_t bits[PACK];                                                                                           \
        uint##BITS##_t narrow[PACK];                                                                                   \
        read_##BITS(from, plan.step[1 + n], packed, position.count, bits);                                             \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < PACK; i++)                                                                             \
            narrow[i] = (uint##BITS##_t)bits[i];                                                                       \
        write_##BITS(to, plan.step[0], packed, position.count, narrow);                                                \
        break;                                                                                                         \
    }

#define COPY_PARTS(BITS)                                                                                               \
    {                                                                                                                  \
        for (int32_t i = 0; i < position.count; i++) {                                                                 \
            const uint##BITS##_t *parts = (const uint##BITS##_t *)(from + i * plan.step[1 + n]);                       \
            uint##BITS##_t real = parts[0];                                                                            \
            uint##BITS##_t imaginary = parts[1];                                                                       \
            ((uint##BITS##_t *)(to + i * plan.step[0]))[0] = real;                                                     \
            ((uint##BITS##_t *)(to + i * plan.step[0]))[1] = imaginary;                                                \
        }                                                                                                              \
        break;                                                                                                         \
    }

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) evaluate_copy(const __grid_constant__ cc__general_plan plan)
{
    const int32_t n = plan.work.steps[0].a.number;
    const bool packed = (plan.packed & 1) != 0 && (plan.packed >> (1 + n) & 1) != 0;
    for (int64_t tile = blockIdx.x; tile < plan.tiles.count; tile += gridDim.x) {
        place_of_pack position;
        if (!find_position(&plan, tile, PACK, &position))
            continue;
        unsigned char *to = plan.work.destination.data + offset_of(&plan, 0, &position);
        const unsigned char *from = plan.work.sources[n].data + offset_of(&plan, 1 + n, &position);
        switch (bytes_of_real(plan.work.destination_type)) {
        case 1:
            COPY_BITS(8)
        case 2:
            COPY_BITS(16)
        case 4:
            COPY_BITS(32)
        default:
            if (plan.work.destination_type == CC_PIXEL_COMPLEX64) {
                COPY_PARTS(32)
            }
            if (plan.work.destination_type == CC_PIXEL_COMPLEX128) {
                COPY_PARTS(64)
            }
            COPY_BITS(64)
        }
    }
}

#undef DEFINE_ACCESS
#undef COPY_BITS
#undef COPY_PARTS

#endif
