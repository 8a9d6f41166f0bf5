/* The components of images in the order of cudacommon/reductions.h, as the kernels that need all of them read them. */
#ifndef CC_KERNELS_SEQUENCE_H
#define CC_KERNELS_SEQUENCE_H

#include "base/reduce.h"
#include "kernels/any_type.h"
#include "kernels/tiles.h"

#include <string.h>

#define CC__PACK 4 /* lanes of a thread, side by side: CC__REDUCE_LANES / CC__BLOCK_THREADS */
/* Rounds whose components are loaded before the first is taken: as many bytes for narrow types as for wide ones. */
#define CC__NARROW_ROUNDS 4
#define CC__WIDE_ROUNDS 2

typedef struct cc__packed_sequence {
    cc__reduced sources[2];
    cc__sequence sequence;
    int64_t pieces;
    int32_t is_packed[2]; /* packs lie side by side, aligned, and no row ends in one */
    int32_t is_short;     /* components have numbers of 31 bits */
    cc__divisor length;
    cc__divisor size[CC_MAX_DIMENSION];
} cc__packed_sequence;

/* Where a component is, when there are several rows. */
static CC__NOT_INLINE __device__ const unsigned char *cc__sequence_find_in_rows(const cc__packed_sequence *from,
                                                                                int32_t n, int64_t number)
{
    const cc__sequence *sequence = &from->sequence;
    const unsigned char *data = from->sources[n].data;
    if (from->is_short != 0) {
        int32_t row = cc__divide((int32_t)number, &from->length);
        data += ((int32_t)number - row * from->length.value) * sequence->step[n];
        CC__UNROLL
        for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
            if (i >= sequence->axes)
                break;
            int32_t next = i + 1 < sequence->axes ? cc__divide(row, &from->size[i]) : 0;
            data += (row - next * from->size[i].value) * sequence->stride[n][i];
            row = next;
        }
        return data;
    }
    int64_t row = number / sequence->length;
    data += (number - row * sequence->length) * sequence->step[n];
    CC__UNROLL
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        if (i >= sequence->axes)
            break;
        int64_t next = i + 1 < sequence->axes ? row / sequence->size[i] : 0;
        data += (row - next * sequence->size[i]) * sequence->stride[n][i];
        row = next;
    }
    return data;
}

static __device__ inline const unsigned char *cc__sequence_find(const cc__packed_sequence *from, int32_t n,
                                                                int64_t number)
{
    if (from->sequence.axes == 0)
        return from->sources[n].data + number * from->sequence.step[n];
    return cc__sequence_find_in_rows(from, n, number);
}

/*
 * Packs of components that lie side by side, of several rounds from the one that begins with component `first`: as
 * bits, those of narrow types in HOLDERs of 32 bits.
 */
#define DEFINE_READ(BITS, ALIGNMENT, HOLDER)                                                                           \
    typedef struct __align__(ALIGNMENT) cc__pack_##BITS                                                                \
    {                                                                                                                  \
        uint##BITS##_t value[CC__PACK];                                                                                \
    }                                                                                                                  \
    cc__pack_##BITS;                                                                                                   \
                                                                                                                       \
    static __device__ inline void cc__read_##BITS(const cc__packed_sequence *from, int32_t n, int64_t first,           \
                                                  int32_t rounds, HOLDER out[][CC__PACK])                              \
    {                                                                                                                  \
        cc__pack_##BITS whole;                                                                                         \
        if (from->sequence.axes == 0) {                                                                                \
            const unsigned char *data = from->sources[n].data + first * ((BITS) / 8);                                  \
            CC__UNROLL                                                                                                 \
            for (int32_t r = 0; r < rounds; r++) {                                                                     \
                whole = ((const cc__pack_##BITS *)data)[r * (CC__REDUCE_LANES / CC__PACK)];                            \
                CC__UNROLL                                                                                             \
                for (int32_t i = 0; i < CC__PACK; i++)                                                                 \
                    out[r][i] = whole.value[i];                                                                        \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t r = 0; r < rounds; r++) {                                                                         \
            whole = *(const cc__pack_##BITS *)cc__sequence_find_in_rows(from, n, first + r * CC__REDUCE_LANES);        \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < CC__PACK; i++)                                                                     \
                out[r][i] = whole.value[i];                                                                            \
        }                                                                                                              \
    }

DEFINE_READ(8, 4, uint32_t)
DEFINE_READ(16, 8, uint32_t)
DEFINE_READ(32, 16, uint32_t)
DEFINE_READ(64, 16, uint64_t)
#undef DEFINE_READ

/* The compiler cannot know that there are no other types. */
#define CLEAR(ROUNDS_AT_ONCE)                                                                                          \
    CC__UNROLL                                                                                                         \
    for (int32_t r = 0; r < (ROUNDS_AT_ONCE); r++) {                                                                   \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < CC__PACK; i++)                                                                         \
            out[r][i] = 0.0;                                                                                           \
    }

static __device__ inline void cc__read_narrow(const cc__packed_sequence *from, int32_t n, int64_t first, int32_t rounds,
                                              uint32_t bits[][CC__PACK])
{
    switch (cc__bytes_of_real((int32_t)from->sources[n].type)) {
    case 1:
        cc__read_8(from, n, first, rounds, bits);
        break;
    case 2:
        cc__read_16(from, n, first, rounds, bits);
        break;
    default:
        cc__read_32(from, n, first, rounds, bits);
        break;
    }
}

static __device__ inline void cc__convert_narrow(cc_pixel_type type, const uint32_t bits[CC__NARROW_ROUNDS][CC__PACK],
                                                 double out[CC__NARROW_ROUNDS][CC__PACK])
{
    CLEAR(CC__NARROW_ROUNDS)
#define CONVERT(NAME, HOLDER, BITS)                                                                                    \
    case CC_PIXEL_##NAME:                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t r = 0; r < CC__NARROW_ROUNDS; r++) {                                                              \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < CC__PACK; i++)                                                                     \
                out[r][i] = cc__load_##NAME((HOLDER)bits[r][i]);                                                       \
        }                                                                                                              \
        break;
    switch ((int32_t)type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(CONVERT)
        CC__FOR_EACH_TYPE_OF_32_BITS(CONVERT)
    }
#undef CONVERT
}

static __device__ inline void cc__convert_wide(cc_pixel_type type, const uint64_t bits[CC__WIDE_ROUNDS][CC__PACK],
                                               double out[CC__WIDE_ROUNDS][CC__PACK])
{
    CLEAR(CC__WIDE_ROUNDS)
#define CONVERT(NAME, HOLDER, BITS)                                                                                    \
    case CC_PIXEL_##NAME:                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t r = 0; r < CC__WIDE_ROUNDS; r++) {                                                                \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < CC__PACK; i++)                                                                     \
                out[r][i] = cc__load_##NAME((HOLDER)bits[r][i]);                                                       \
        }                                                                                                              \
        break;
    switch ((int32_t)type) {
        CC__FOR_EACH_TYPE_OF_64_BITS(CONVERT)
    }
#undef CONVERT
}

#undef CLEAR

/* One component of any type, anywhere. */
static CC__NOT_INLINE __device__ double cc__read_one(const cc__packed_sequence *from, int32_t n, int64_t number)
{
    return cc__load_any((int32_t)from->sources[n].type, cc__sequence_find(from, n, number));
}

static inline bool cc__lies_in_packs(const cc__sequence *sequence, const cc__reduced *source, int32_t n)
{
    const int64_t size_bytes = (int64_t)cc_pixel_type_size_bytes(source->type);
    const int64_t alignment = CC__PACK * size_bytes < 16 ? CC__PACK * size_bytes : 16;
    if (sequence->step[n] != size_bytes || (uintptr_t)source->data % (uintptr_t)alignment != 0)
        return false;
    for (int32_t i = 0; i < sequence->axes; i++)
        if (sequence->stride[n][i] % alignment != 0)
            return false;
    return sequence->axes == 0 || sequence->length % CC__PACK == 0;
}

static inline void cc__packed_sequence_plan(cc__packed_sequence *from, const cc__reduced *sources, int32_t source_count,
                                            int32_t components, const int64_t size[CC_MAX_DIMENSION])
{
    memset(from, 0, sizeof *from);
    cc__sequence_plan(sources, source_count, components, size, &from->sequence);
    from->pieces = cc__reduce_pieces(from->sequence.count);
    for (int32_t n = 0; n < source_count; n++) {
        from->sources[n] = sources[n];
        from->is_packed[n] = cc__lies_in_packs(&from->sequence, &sources[n], n);
    }
    from->is_short = from->sequence.count <= INT32_MAX;
    if (from->is_short) {
        from->length = cc__divisor_of((int32_t)from->sequence.length);
        for (int32_t i = 0; i < CC_MAX_DIMENSION; i++)
            from->size[i] = cc__divisor_of((int32_t)from->sequence.size[i]);
    }
}

static inline uint32_t cc__sequence_blocks(int64_t pieces, int32_t per_multiprocessor, int32_t multiprocessors)
{
    const int64_t most = (int64_t)multiprocessors * per_multiprocessor;
    return (uint32_t)(pieces < most ? pieces : most);
}

#endif
