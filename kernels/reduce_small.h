/*
 * Reductions of integers of up to 16 bits. All sums of a piece are whole numbers that nothing is lost of, so that their
 * order is free: a thread takes 16 bytes at once, as words. Bits are flipped first, so that all types are without sign,
 * and the minimum is a maximum; what is absent is 0 after that.
 */
#ifndef CC_KERNELS_REDUCE_SMALL_H
#define CC_KERNELS_REDUCE_SMALL_H

#include "kernels/sequence.h"
#include "kernels/small_integers.h"

/* What kinds have in common: sums and those of squares; sums of two sources and of their products; the largest. */
typedef enum cc__small_group {
    CC__SMALL_SUMS,
    CC__SMALL_PRODUCTS,
    CC__SMALL_EXTREMES
} cc__small_group;

typedef struct cc__small_plan {
    cc__reduce_kind kind;
    int32_t is_row;   /* all components lie side by side, and packs have 16 bytes */
    int32_t has_rows; /* long enough for a warp to take one at a time, wherever they begin */
    int32_t pack;     /* components that are read at once: as many as 16 bytes have, CC__PACK, or more than any */
    int32_t head;     /* of each piece: so many components before its first pack */
    uint32_t flip[2];
    int32_t bias[2]; /* what flipping adds; of extremes without turning them around */
    int32_t is_bool[2];
} cc__small_plan;

/* Of a thread, a warp or a block. */
typedef struct cc__small {
    uint32_t sum[2]; /* or the largest: while bytes are taken, of every other one in the upper half of each half */
    uint64_t products;
} cc__small;

/* What a thread loads before it takes the first: where packs are easily found, all that it has of a piece. */
#define MOST_PACKS 8
#define SOME_PACKS 4
#define SINGLES 4
/* A warp has a row where it has so many bytes, or so many though it lies in packs of 16 bytes. */
#define ROW_THREADS 32
#define ROW_BYTES 128
#define PACKED_ROW_BYTES 1024

static __device__ inline void cc__take_word(cc__small_group group, int32_t bits, cc__small *own, uint32_t x, uint32_t y)
{
    if (group == CC__SMALL_EXTREMES) {
        own->sum[0] = cc__larger_halves(own->sum[0], x);
        if (bits == 8)
            own->sum[1] = cc__larger_halves(own->sum[1], x << 8);
        return;
    }
    own->sum[0] = cc__add_all(bits, x, own->sum[0]);
    if (group == CC__SMALL_PRODUCTS)
        own->sum[1] = cc__add_all(bits, y, own->sum[1]);
    own->products = cc__add_products(bits, x, group == CC__SMALL_PRODUCTS ? y : x, own->products);
}

/* As words are taken: truth values are 0 or 1. */
static __device__ inline void cc__flip_words(const cc__small_plan *plan, int32_t n, int32_t bits, int32_t count,
                                             uint32_t *words)
{
    if (bits == 8 && plan->is_bool[n] != 0) {
        CC__UNROLL
        for (int32_t i = 0; i < count; i++)
            words[i] = cc__not_zero_bytes(words[i]);
    }
    CC__UNROLL
    for (int32_t i = 0; i < count; i++)
        words[i] ^= plan->flip[n];
}

/*
 * What a thread takes of a piece in packs of WORDS words: the pack that begins with component `first`, and every
 * CC__BLOCK_THREADS-th after it, as far as all of it is among the `left` components that the piece still has there. So
 * many `packs` are loaded before the first of them is taken.
 */
#define DEFINE_TAKE(WORDS, ALIGNMENT)                                                                                  \
    typedef struct __align__(ALIGNMENT) cc__words_##WORDS                                                              \
    {                                                                                                                  \
        uint32_t word[WORDS];                                                                                          \
    }                                                                                                                  \
    cc__words_##WORDS;                                                                                                 \
                                                                                                                       \
    static __device__ inline void cc__load_words_##WORDS(const cc__packed_sequence *from, const cc__small_plan *plan,  \
                                                         int32_t n, int32_t bits, bool is_row, int64_t first,          \
                                                         int32_t left, int32_t packs, uint32_t *out)                   \
    {                                                                                                                  \
        const int32_t pack = (WORDS)*32 / bits;                                                                        \
        const unsigned char *at[MOST_PACKS];                                                                           \
        CC__UNROLL                                                                                                     \
        for (int32_t r = 0; r < packs; r++) {                                                                          \
            const int32_t skip = r * CC__BLOCK_THREADS * pack;                                                         \
            at[r] = NULL;                                                                                              \
            if (!is_row && skip + pack <= left)                                                                        \
                at[r] = cc__sequence_find(from, n, first + skip);                                                      \
        }                                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t r = 0; r < packs; r++) {                                                                          \
            const int32_t skip = r * CC__BLOCK_THREADS * pack;                                                         \
            cc__words_##WORDS next;                                                                                    \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < (WORDS); i++)                                                                      \
                next.word[i] = plan->flip[n];                                                                          \
            if (is_row ? skip + pack <= left : at[r] != NULL)                                                          \
                next = *(const cc__words_##WORDS *)(is_row ? from->sources[n].data + (first + skip) * (bits / 8)       \
                                                           : at[r]);                                                   \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < (WORDS); i++)                                                                      \
                out[r * (WORDS) + i] = next.word[i];                                                                   \
        }                                                                                                              \
        cc__flip_words(plan, n, bits, packs *(WORDS), out);                                                            \
    }                                                                                                                  \
                                                                                                                       \
    static __device__ inline void cc__take_words_##WORDS(const cc__packed_sequence *from, const cc__small_plan *plan,  \
                                                         cc__small_group group, int32_t bits, bool is_row,             \
                                                         int64_t first, int32_t left, int32_t packs, cc__small *own)   \
    {                                                                                                                  \
        const int32_t pack = (WORDS)*32 / bits;                                                                        \
        for (int32_t done = 0; done < CC__REDUCE_PIECE / CC__BLOCK_THREADS; done += packs * pack) {                    \
            uint32_t x[MOST_PACKS * (WORDS)], y[MOST_PACKS * (WORDS)];                                                 \
            const int32_t skip = done * CC__BLOCK_THREADS;                                                             \
            cc__load_words_##WORDS(from, plan, 0, bits, is_row, first + skip, left - skip, packs, x);                  \
            if (group == CC__SMALL_PRODUCTS)                                                                           \
                cc__load_words_##WORDS(from, plan, 1, bits, is_row, first + skip, left - skip, packs, y);              \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < packs * (WORDS); i++)                                                              \
                cc__take_word(group, bits, own, x[i], group == CC__SMALL_PRODUCTS ? y[i] : 0);                         \
        }                                                                                                              \
    }

DEFINE_TAKE(1, 4)
DEFINE_TAKE(2, 8)
DEFINE_TAKE(4, 16)

/* One component, flipped, in the lowest bits of a word. */
static __device__ inline uint32_t cc__flipped(const cc__small_plan *plan, int32_t n, int32_t bits,
                                              const unsigned char *at)
{
    if (bits == 16)
        return *(const uint16_t *)at ^ (plan->flip[n] & 0xffff);
    return (plan->is_bool[n] != 0 ? *at != 0 : (uint32_t)*at) ^ (plan->flip[n] & 0xff);
}

static __device__ inline uint32_t cc__read_single(const cc__packed_sequence *from, const cc__small_plan *plan,
                                                  int32_t n, int32_t bits, bool is_row, int64_t number)
{
    return cc__flipped(plan, n, bits,
                       is_row ? from->sources[n].data + number * (bits / 8) : cc__sequence_find(from, n, number));
}

/* `length` components from the one numbered `first` on, those that are not in packs. */
static __device__ inline void cc__take_singles(const cc__packed_sequence *from, const cc__small_plan *plan,
                                               cc__small_group group, int32_t bits, bool is_row, int64_t first,
                                               int32_t length, cc__small *own)
{
    for (int32_t n = (int32_t)threadIdx.x; n < length; n += SINGLES * CC__BLOCK_THREADS) {
        uint32_t x[SINGLES], y[SINGLES];
        CC__UNROLL
        for (int32_t i = 0; i < SINGLES; i++) {
            const int32_t next = n + i * CC__BLOCK_THREADS;
            x[i] = next < length ? cc__read_single(from, plan, 0, bits, is_row, first + next) : 0;
            y[i] = group == CC__SMALL_PRODUCTS && next < length
                       ? cc__read_single(from, plan, 1, bits, is_row, first + next)
                       : 0;
        }
        CC__UNROLL
        for (int32_t i = 0; i < SINGLES; i++)
            cc__take_word(group, bits, own, x[i], y[i]);
    }
}

/* What a warp takes of `length` components side by side: packs of 16 bytes, and a component each around them. */
static __device__ inline void cc__take_run(const cc__small_plan *plan, cc__small_group group, int32_t bits,
                                           const unsigned char *at, int32_t length, cc__small *own)
{
    const int32_t pack = 128 / bits;
    const int32_t thread = (int32_t)threadIdx.x % ROW_THREADS;
    const int32_t before = (int32_t)(-(uintptr_t)at % 16) * 8 / bits;
    const int32_t head = before < length ? before : length;
    const int32_t packs = (length - head) / pack;
    const int32_t rest = head + packs * pack;
    const cc__words_4 *from = (const cc__words_4 *)(at + head * (bits / 8));
    for (int32_t first = 0; first < packs; first += SOME_PACKS * ROW_THREADS) {
        uint32_t x[4 * SOME_PACKS];
        CC__UNROLL
        for (int32_t r = 0; r < SOME_PACKS; r++) {
            const int32_t n = first + r * ROW_THREADS + thread;
            cc__words_4 next = {{plan->flip[0], plan->flip[0], plan->flip[0], plan->flip[0]}};
            if (n < packs)
                next = from[n];
            CC__UNROLL
            for (int32_t i = 0; i < 4; i++)
                x[4 * r + i] = next.word[i];
        }
        cc__flip_words(plan, 0, bits, 4 * SOME_PACKS, x);
        CC__UNROLL
        for (int32_t r = 0; r < SOME_PACKS; r++) {
            /* The same for all threads of the warp. */
            if (first + r * ROW_THREADS >= packs)
                break;
            CC__UNROLL
            for (int32_t i = 0; i < 4; i++)
                cc__take_word(group, bits, own, x[4 * r + i], 0);
        }
    }
    /* Fewer than a pack on either side. */
    const int32_t single = thread < head               ? thread
                           : thread >= ROW_THREADS / 2 ? rest + thread - ROW_THREADS / 2
                                                       : length;
    if (single < length)
        cc__take_word(group, bits, own, cc__flipped(plan, 0, bits, at + single * (bits / 8)), 0);
}

/* Each warp takes rows of its own, or what the piece has of them. */
static __device__ inline void cc__take_rows(const cc__packed_sequence *from, const cc__small_plan *plan,
                                            cc__small_group group, int32_t bits, int64_t first, int32_t length,
                                            cc__small *own)
{
    const int64_t row_length = from->sequence.length;
    const int64_t row = from->is_short != 0 ? cc__divide((int32_t)first, &from->length) : first / row_length;
    const int64_t end = first + length;
    int64_t begin = (row + (int32_t)threadIdx.x / ROW_THREADS) * row_length;
    for (; begin < end; begin += CC__BLOCK_THREADS / ROW_THREADS * row_length) {
        const int64_t from_here = begin > first ? begin : first;
        const int64_t to_here = begin + row_length < end ? begin + row_length : end;
        cc__take_run(plan, group, bits, cc__sequence_find(from, 0, from_here), (int32_t)(to_here - from_here), own);
    }
}

/* What a thread takes of the `length` components of a piece. is_row: as in the plan. */
static __device__ inline cc__small cc__take_small(const cc__packed_sequence *from, const cc__small_plan *plan,
                                                  cc__small_group group, int32_t bits, bool is_row, int64_t first,
                                                  int32_t length)
{
    cc__small own = {{0, 0}, 0};
    const int32_t pack = is_row ? 128 / bits : plan->pack;
    const int32_t head = plan->head < length ? plan->head : length;
    const int32_t packed = (length - head) / pack * pack;
    const int32_t skip = head + (int32_t)threadIdx.x * pack;
    if (is_row)
        cc__take_words_4(from, plan, group, bits, true, first + skip, length - skip,
                         group == CC__SMALL_PRODUCTS ? SOME_PACKS : bits / 2, &own);
    else if (pack == 128 / bits)
        cc__take_words_4(from, plan, group, bits, false, first + skip, length - skip, SOME_PACKS, &own);
    else if (pack == CC__PACK && bits == 8)
        cc__take_words_1(from, plan, group, bits, false, first + skip, length - skip, SOME_PACKS, &own);
    else if (pack == CC__PACK)
        cc__take_words_2(from, plan, group, bits, false, first + skip, length - skip, SOME_PACKS, &own);
    if (!is_row && group != CC__SMALL_PRODUCTS && plan->has_rows != 0) {
        cc__take_rows(from, plan, group, bits, first, length, &own);
    } else {
        cc__take_singles(from, plan, group, bits, is_row, first, head, &own);
        cc__take_singles(from, plan, group, bits, is_row, first + head + packed, length - head - packed, &own);
    }
    if (group == CC__SMALL_EXTREMES) {
        uint32_t largest = bits == 8 ? cc__larger_halves(own.sum[0], own.sum[1]) >> 8 & 0x00ff00ff : own.sum[0];
        largest = cc__larger_halves(largest, largest >> 16);
        own.sum[0] = largest & 0xffff;
        own.sum[1] = 0;
    }
    return own;
}

static __device__ inline cc__small cc__join_small(cc__small_group group, cc__small x, cc__small y)
{
    if (group == CC__SMALL_EXTREMES) {
        x.sum[0] = x.sum[0] > y.sum[0] ? x.sum[0] : y.sum[0];
        return x;
    }
    x.sum[0] += y.sum[0];
    x.sum[1] += y.sum[1];
    x.products += y.products;
    return x;
}

#ifdef __CUDACC__
/* What the threads of a warp have together. */
static __device__ inline cc__small cc__join_small_warp(cc__small_group group, int32_t bits, cc__small own)
{
    if (group == CC__SMALL_EXTREMES) {
        own.sum[0] = cc__largest_of_warp(own.sum[0]);
        return own;
    }
    own.sum[0] = cc__sum_of_warp(own.sum[0]);
    if (group == CC__SMALL_PRODUCTS)
        own.sum[1] = cc__sum_of_warp(own.sum[1]);
    /* Those of bytes fit into 32 bits, others into 46. */
    const uint32_t low = cc__sum_of_warp((uint32_t)own.products & (bits == 8 ? UINT32_MAX : 0xffffff));
    own.products = low + (bits == 8 ? 0 : (uint64_t)cc__sum_of_warp((uint32_t)(own.products >> 24)) << 24);
    return own;
}
#endif

/* The end of a piece with `count` components: their own sums, without what flipping did. */
static __device__ inline cc__partial cc__end_small(const cc__small_plan *plan, int32_t bits, int64_t count,
                                                   cc__small all)
{
    const int64_t x = plan->bias[0], y = plan->bias[1];
    const uint32_t mask = bits == 8 ? 0xff : 0xffff;
    switch (plan->kind) {
    case CC__REDUCE_MINIMUM:
    case CC__REDUCE_MAXIMUM:
        /* The sign, too, is where flipping puts it. */
        return cc__reduce_small(plan->kind, count,
                                (int64_t)(((all.sum[0] ^ plan->flip[0]) & mask) ^ (uint32_t)plan->bias[0]) - x, 0);
    case CC__REDUCE_DOT:
        return cc__reduce_small(plan->kind, count, 0,
                                (int64_t)all.products - y * all.sum[0] - x * all.sum[1] + x * y * count);
    case CC__REDUCE_SUM:
    case CC__REDUCE_SQUARES:
    case CC__REDUCE_MOMENTS:
        break;
    }
    return cc__reduce_small(plan->kind, count, all.sum[0] - x * count,
                            (int64_t)all.products - 2 * x * all.sum[0] + x * x * count);
}

static inline cc__small_plan cc__small_plan_of(const cc__reduce *work, const cc__packed_sequence *from)
{
    const int32_t size_bytes = (int32_t)cc_pixel_type_size_bytes(work->sources[0].type);
    const uint32_t ones = size_bytes == 1 ? UINT32_C(0x01010101) : UINT32_C(0x00010001);
    const bool is_row = from->sequence.axes == 0;
    bool is_wide = true, is_packed = true;
    int32_t head[2] = {0, 0};
    cc__small_plan plan;
    memset(&plan, 0, sizeof plan);
    plan.kind = work->kind;
    for (int32_t n = 0; n < work->source_count; n++) {
        const cc_pixel_type type = work->sources[n].type;
        plan.bias[n] = type == CC_PIXEL_INT8 ? 0x80 : type == CC_PIXEL_INT16 ? 0x8000 : 0;
        plan.is_bool[n] = type == CC_PIXEL_BOOL;
        plan.flip[n] = (uint32_t)plan.bias[n] * ones;
        if (work->kind == CC__REDUCE_MINIMUM)
            plan.flip[n] ^= type == CC_PIXEL_BOOL ? ones : UINT32_MAX;
        /* In one row packs may begin anywhere. */
        head[n] = (int32_t)(-(uintptr_t)work->sources[n].data % 16) / size_bytes;
        is_wide = is_wide && (is_row ? from->sequence.step[n] == size_bytes && head[n] == head[0]
                                     : cc__lies_in_packs(&from->sequence, &work->sources[n], n, 16 / size_bytes));
        is_packed = is_packed && from->is_packed[n] != 0;
    }
    plan.is_row = is_wide && is_row;
    plan.has_rows = !is_row && work->source_count == 1 && from->sequence.step[0] == size_bytes &&
                    from->sequence.length >= (is_wide ? PACKED_ROW_BYTES : ROW_BYTES) / size_bytes;
    is_wide = is_wide && !plan.has_rows;
    is_packed = is_packed && !plan.has_rows;
    plan.pack = is_wide ? 16 / size_bytes : is_packed ? CC__PACK : (int32_t)CC__REDUCE_PIECE + 1;
    plan.head = plan.is_row ? head[0] : 0;
    return plan;
}

#undef MOST_PACKS
#undef SOME_PACKS
#undef SINGLES
#undef ROW_THREADS
#undef ROW_BYTES
#undef PACKED_ROW_BYTES
#undef DEFINE_TAKE

#endif
