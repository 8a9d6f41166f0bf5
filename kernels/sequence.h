/* The components of images in the order of cudacommon/reductions.h, as the kernels that need all of them read them. */
#ifndef CC_KERNELS_SEQUENCE_H
#define CC_KERNELS_SEQUENCE_H

#include "base/reduce.h"
#include "kernels/any_type.h"
#include "kernels/tiles.h"

#include <string.h>

#define CC__PACK 4 /* lanes of a thread, side by side: CC__REDUCE_LANES / CC__BLOCK_THREADS */
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

/* Packs of components that lie side by side, of several rounds from the one that begins with component `first`. */
#define DEFINE_READ(BITS, ALIGNMENT)                                                                                   \
    typedef struct __align__(ALIGNMENT) cc__pack_##BITS                                                                \
    {                                                                                                                  \
        uint##BITS##_t value[CC__PACK];                                                                                \
    }                                                                                                                  \
    cc__pack_##BITS;                                                                                                   \
                                                                                                                       \
    static __device__ inline void cc__read_##BITS(const cc__packed_sequence *from, int32_t n, int64_t first,           \
                                                  int32_t rounds, cc__pack_##BITS *out)                                \
    {                                                                                                                  \
        if (from->sequence.axes == 0) {                                                                                \
            const unsigned char *data = from->sources[n].data + first * ((BITS) / 8);                                  \
            CC__UNROLL                                                                                                 \
            for (int32_t r = 0; r < rounds; r++)                                                                       \
                out[r] = ((const cc__pack_##BITS *)data)[(int64_t)r * (CC__REDUCE_LANES / CC__PACK)];                  \
            return;                                                                                                    \
        }                                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t r = 0; r < rounds; r++)                                                                           \
            out[r] =                                                                                                   \
                *(const cc__pack_##BITS *)cc__sequence_find_in_rows(from, n, first + (int64_t)r * CC__REDUCE_LANES);   \
    }

DEFINE_READ(8, 4)
DEFINE_READ(16, 8)
DEFINE_READ(32, 16)
DEFINE_READ(64, 16)
#undef DEFINE_READ

/* One component of any type, anywhere. */
static CC__NOT_INLINE __device__ double cc__read_one(const cc__packed_sequence *from, int32_t n, int64_t number)
{
    return cc__load_any((int32_t)from->sources[n].type, cc__sequence_find(from, n, number));
}

/* Packs of so many components, a power of two. */
static inline bool cc__lies_in_packs(const cc__sequence *sequence, const cc__reduced *source, int32_t n, int32_t pack)
{
    const int64_t size_bytes = (int64_t)cc_pixel_type_size_bytes(source->type);
    const int64_t alignment = pack * size_bytes < 16 ? pack * size_bytes : 16;
    if (sequence->step[n] != size_bytes || (uintptr_t)source->data % (uintptr_t)alignment != 0)
        return false;
    for (int32_t i = 0; i < sequence->axes; i++)
        if (sequence->stride[n][i] % alignment != 0)
            return false;
    return sequence->axes == 0 || sequence->length % pack == 0;
}

static inline void cc__packed_sequence_plan(cc__packed_sequence *from, const cc__reduced *sources, int32_t source_count,
                                            int32_t components, const int64_t size[CC_MAX_DIMENSION])
{
    memset(from, 0, sizeof *from);
    cc__sequence_plan(sources, source_count, components, size, &from->sequence);
    from->pieces = cc__reduce_pieces(from->sequence.count);
    for (int32_t n = 0; n < source_count; n++) {
        from->sources[n] = sources[n];
        from->is_packed[n] = cc__lies_in_packs(&from->sequence, &sources[n], n, CC__PACK);
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
