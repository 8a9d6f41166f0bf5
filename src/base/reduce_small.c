/* Integers of up to 16 bits on the CPU: whole numbers, which the compiler makes vectors of. */
#include "base/reduce.h"

#include <string.h>

typedef struct totals {
    int64_t sum;
    int64_t squares;
    int32_t least;
    int32_t greatest;
} totals;

/* A loop of its own where components lie side by side. */
#define FOR_EACH(HOLDER, BODY)                                                                                         \
    if (step == (int64_t)sizeof(HOLDER)) {                                                                             \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            HOLDER held;                                                                                               \
            memcpy(&held, at + i * (int64_t)sizeof held, sizeof held);                                                 \
            BODY                                                                                                       \
        }                                                                                                              \
    } else {                                                                                                           \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            HOLDER held;                                                                                               \
            memcpy(&held, at + i * step, sizeof held);                                                                 \
            BODY                                                                                                       \
        }                                                                                                              \
    }

/* At most a piece: its sum has 31 bits; SQUARES is what holds the sum of its squares. */
#define DEFINE_TAKE(NAME, HOLDER, SQUARES, VALUE)                                                                      \
    static void take_##NAME(cc__reduce_kind kind, const unsigned char *at, int64_t step, int64_t count, totals *all)   \
    {                                                                                                                  \
        int32_t sum = 0;                                                                                               \
        SQUARES squares = 0;                                                                                           \
        HOLDER least = (HOLDER)all->least, greatest = (HOLDER)all->greatest;                                           \
        if (kind == CC__REDUCE_MINIMUM) {                                                                              \
            FOR_EACH(HOLDER, least = (VALUE) < least ? (VALUE) : least;)                                               \
        } else if (kind == CC__REDUCE_MAXIMUM) {                                                                       \
            FOR_EACH(HOLDER, greatest = (VALUE) > greatest ? (VALUE) : greatest;)                                      \
        } else if (kind == CC__REDUCE_SUM) {                                                                           \
            FOR_EACH(HOLDER, sum += (VALUE);)                                                                          \
        } else {                                                                                                       \
            FOR_EACH(HOLDER, sum += (VALUE); squares += (SQUARES)(VALUE) * (SQUARES)(VALUE);)                          \
        }                                                                                                              \
        all->sum += sum;                                                                                               \
        all->squares += (int64_t)squares;                                                                              \
        all->least = (int32_t)least;                                                                                   \
        all->greatest = (int32_t)greatest;                                                                             \
    }

DEFINE_TAKE(BOOL, uint8_t, uint32_t, held != 0)
DEFINE_TAKE(UINT8, uint8_t, uint32_t, held)
DEFINE_TAKE(INT8, int8_t, int32_t, held)
DEFINE_TAKE(UINT16, uint16_t, uint64_t, held)
DEFINE_TAKE(INT16, int16_t, int64_t, held)

cc__partial cc__reduce_small_piece(const cc__reduce *work, const cc__sequence *sequence, int64_t piece)
{
    const cc__reduced *source = &work->sources[0];
    const bool has_sign = source->type == CC_PIXEL_INT8 || source->type == CC_PIXEL_INT16;
    const bool is_extreme = work->kind == CC__REDUCE_MINIMUM || work->kind == CC__REDUCE_MAXIMUM;
    /* The extremes of truth values are those of their bytes, which are vectors sooner. */
    const cc_pixel_type type = is_extreme && source->type == CC_PIXEL_BOOL ? CC_PIXEL_UINT8 : source->type;
    const int32_t bits = 8 * (int32_t)cc_pixel_type_size_bytes(source->type);
    const int64_t first = piece * CC__REDUCE_PIECE;
    const int64_t left = sequence->count - first;
    const int64_t count = left < CC__REDUCE_PIECE ? left : CC__REDUCE_PIECE;
    totals all = {0, 0, (1 << (has_sign ? bits - 1 : bits)) - 1, has_sign ? -(1 << (bits - 1)) : 0};
    for (int64_t done = 0, length = 0; done < count; done += length) {
        const unsigned char *at = cc__sequence_run(sequence, source, 0, first + done, count - done, &length);
        switch ((int32_t)type) {
        case CC_PIXEL_BOOL:
            take_BOOL(work->kind, at, sequence->step[0], length, &all);
            break;
        case CC_PIXEL_UINT8:
            take_UINT8(work->kind, at, sequence->step[0], length, &all);
            break;
        case CC_PIXEL_INT8:
            take_INT8(work->kind, at, sequence->step[0], length, &all);
            break;
        case CC_PIXEL_UINT16:
            take_UINT16(work->kind, at, sequence->step[0], length, &all);
            break;
        case CC_PIXEL_INT16:
            take_INT16(work->kind, at, sequence->step[0], length, &all);
            break;
        }
    }
    if (is_extreme) {
        all.sum = work->kind == CC__REDUCE_MINIMUM ? all.least : all.greatest;
        if (source->type == CC_PIXEL_BOOL)
            all.sum = all.sum != 0;
    }
    return cc__reduce_small(work->kind, count, all.sum, all.squares);
}
