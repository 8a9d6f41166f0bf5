#include "base/reduce.h"

#include "base/components.h"

#include <fenv.h>
#include <string.h>

#define LANES CC__REDUCE_LANES

void cc__sequence_plan(const cc__reduced *sources, int32_t source_count, int32_t components,
                       const int64_t size[CC_MAX_DIMENSION], cc__sequence *out_sequence)
{
    int64_t sizes[CC_MAX_DIMENSION + 1] = {components};
    int64_t strides[2][CC_MAX_DIMENSION + 1] = {{0}};
    int32_t last = 0;
    for (int32_t n = 0; n < source_count; n++)
        strides[n][0] = sources[n].component_stride;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        if (size[i] == 1)
            continue;
        bool follows = true;
        for (int32_t n = 0; n < source_count; n++)
            follows = follows && sources[n].stride[i] == sizes[last] * strides[n][last];
        if (sizes[last] == 1 || !follows) {
            last += sizes[last] == 1 ? 0 : 1;
            sizes[last] = size[i];
            for (int32_t n = 0; n < source_count; n++)
                strides[n][last] = sources[n].stride[i];
        } else {
            sizes[last] *= size[i];
        }
    }
    memset(out_sequence, 0, sizeof *out_sequence);
    out_sequence->length = sizes[0];
    out_sequence->count = sizes[0];
    out_sequence->axes = last;
    out_sequence->step[0] = strides[0][0];
    out_sequence->step[1] = strides[1][0];
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        out_sequence->size[i] = i < last ? sizes[i + 1] : 1;
        out_sequence->count *= out_sequence->size[i];
        for (int32_t n = 0; n < 2 && i < last; n++)
            out_sequence->stride[n][i] = strides[n][i + 1];
    }
}

int64_t cc__reduce_pieces(int64_t count)
{
    return (count - 1) / CC__REDUCE_PIECE + 1;
}

int64_t cc__reduce_scratch(int64_t count)
{
    const int64_t pieces = cc__reduce_pieces(count);
    return pieces + CC__REDUCE_PARTS * cc__reduce_pieces(pieces) + 1;
}

int64_t cc__reduce_count(const cc__reduce *work)
{
    int64_t count = work->components;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        count *= work->size[axis];
    return count;
}

cc__reduce cc__reduce_part(const cc__reduce *work, int32_t number)
{
    cc__reduce part = *work;
    for (int32_t n = 0; n < work->source_count; n++)
        part.sources[n].data += number * work->between_bytes[n];
    part.results += number;
    part.scratch += number * cc__reduce_scratch(cc__reduce_count(work));
    part.result_count = 1;
    return part;
}

const unsigned char *cc__sequence_run(const cc__sequence *sequence, const cc__reduced *source, int32_t n, int64_t first,
                                      int64_t most, int64_t *out_length)
{
    int64_t row = first / sequence->length;
    const int64_t in_row = first % sequence->length;
    const int64_t left = sequence->length - in_row;
    const unsigned char *at = source->data + in_row * sequence->step[n];
    for (int32_t i = 0; i < sequence->axes; i++) {
        at += row % sequence->size[i] * sequence->stride[n][i];
        row /= sequence->size[i];
    }
    *out_length = most < left ? most : left;
    return at;
}

/* `count` components from the one numbered `first` on, as float64. */
static void load_sequence(const cc__sequence *sequence, const cc__reduced *source, int32_t n, int64_t first,
                          int64_t count, double *out)
{
    for (int64_t done = 0, length = 0; done < count; done += length) {
        const unsigned char *at = cc__sequence_run(sequence, source, n, first + done, count - done, &length);
        cc__components_load(source->type, at, sequence->step[n], length, out + done, NULL);
    }
}

typedef struct lanes {
    double value[LANES];
    double squares[LANES];
    double first[LANES];
    double x[LANES];
    double y[LANES];
    cc__partial partial[LANES];
} lanes;

static void take(cc__reduce_kind kind, bool is_first, int64_t count, lanes *l)
{
    switch (kind) {
    case CC__REDUCE_SUM:
        for (int64_t i = 0; i < count; i++)
            l->value[i] = l->value[i] + l->x[i];
        break;
    case CC__REDUCE_MINIMUM:
        for (int64_t i = 0; i < count; i++)
            l->value[i] = cc__minimum(l->value[i], l->x[i]);
        break;
    case CC__REDUCE_MAXIMUM:
        for (int64_t i = 0; i < count; i++)
            l->value[i] = cc__maximum(l->value[i], l->x[i]);
        break;
    case CC__REDUCE_SQUARES:
        for (int64_t i = 0; i < count; i++)
            l->value[i] = l->value[i] + l->x[i] * l->x[i];
        break;
    case CC__REDUCE_DOT:
        for (int64_t i = 0; i < count; i++)
            l->value[i] = l->value[i] + l->x[i] * l->y[i];
        break;
    case CC__REDUCE_MOMENTS:
        if (is_first)
            memcpy(l->first, l->x, sizeof l->first);
        for (int64_t i = 0; i < count; i++) {
            const double distance = l->x[i] - l->first[i];
            l->value[i] = l->value[i] + distance;
            l->squares[i] = l->squares[i] + distance * distance;
        }
        break;
    }
}

static cc__partial join_lanes(cc__reduce_kind kind, lanes *l)
{
    for (int32_t apart = 1; apart < LANES; apart *= 2)
        for (int32_t i = 0; i < LANES; i += 2 * apart)
            l->partial[i] = cc__reduce_join(kind, l->partial[i], l->partial[i + apart]);
    return l->partial[0];
}

static cc__partial reduce_lanes(const cc__reduce *work, const cc__sequence *sequence, int64_t piece)
{
    lanes l;
    const int64_t first = piece * CC__REDUCE_PIECE;
    const int64_t left = sequence->count - first;
    const int64_t count = left < CC__REDUCE_PIECE ? left : CC__REDUCE_PIECE;
    memset(l.squares, 0, sizeof l.squares);
    memset(l.x, 0, sizeof l.x);
    for (int32_t i = 0; i < LANES; i++)
        l.value[i] = cc__reduce_nothing(work->kind);
    for (int64_t done = 0; done < count; done += LANES) {
        const int64_t length = count - done < LANES ? count - done : LANES;
        load_sequence(sequence, &work->sources[0], 0, first + done, length, l.x);
        if (work->source_count > 1)
            load_sequence(sequence, &work->sources[1], 1, first + done, length, l.y);
        take(work->kind, done == 0, length, &l);
    }
    for (int32_t i = 0; i < LANES; i++) {
        const cc__reduce_lane lane = {l.value[i], l.squares[i], work->kind == CC__REDUCE_MOMENTS ? l.first[i] : 0.0};
        const int64_t taken = i < count ? (count - i - 1) / LANES + 1 : 0;
        l.partial[i] = cc__reduce_lane_end(work->kind, lane, (int32_t)taken);
    }
    return join_lanes(work->kind, &l);
}

cc__partial cc__reduce_piece(const cc__reduce *work, const cc__sequence *sequence, int64_t piece)
{
    if (work->source_count == 1 && cc__is_small_integer(work->sources[0].type))
        return cc__reduce_small_piece(work, sequence, piece);
    return reduce_lanes(work, sequence, piece);
}

/* The same for results of pieces. */
static cc__partial join_piece(cc__reduce_kind kind, const cc__partial *partials, int64_t count)
{
    lanes l;
    for (int32_t i = 0; i < LANES; i++)
        l.partial[i] = (cc__partial){cc__reduce_nothing(kind), 0.0, 0.0};
    for (int64_t n = 0; n < count; n++)
        l.partial[n % LANES] = cc__reduce_join(kind, l.partial[n % LANES], partials[n]);
    return join_lanes(kind, &l);
}

void cc__reduce_finish(const cc__reduce *work, const cc__sequence *sequence)
{
    cc__partial *level = work->scratch;
    int64_t count = cc__reduce_pieces(sequence->count);
    fenv_t environment;
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    do {
        cc__partial *next = level + count;
        const int64_t pieces = cc__reduce_pieces(count);
        for (int64_t piece = 0; piece < pieces; piece++) {
            const int64_t first = piece * CC__REDUCE_PIECE;
            const int64_t left = count - first;
            const cc__partial joined =
                join_piece(work->kind, level + first, left < CC__REDUCE_PIECE ? left : CC__REDUCE_PIECE);
            if (pieces == 1)
                *work->results = cc__reduce_result(work->end, joined, sequence->count);
            else
                next[piece] = joined;
        }
        level = next;
        count = pieces;
    } while (count > 1);
    fesetenv(&environment);
}

static void reduce_part(const cc__reduce *work)
{
    cc__sequence sequence;
    cc__sequence_plan(work->sources, work->source_count, work->components, work->size, &sequence);
    fenv_t environment;
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    for (int64_t piece = 0; piece < cc__reduce_pieces(sequence.count); piece++)
        work->scratch[piece] = cc__reduce_piece(work, &sequence, piece);
    fesetenv(&environment);
    cc__reduce_finish(work, &sequence);
}

void cc__reduce_on_host(const cc__reduce *work)
{
    for (int32_t n = 0; n < work->result_count; n++) {
        const cc__reduce part = cc__reduce_part(work, n);
        reduce_part(&part);
    }
}

void cc__histogram_add(const cc__histogram *work, const cc__sequence *sequence, int64_t first, int64_t count,
                       uint64_t *counts)
{
    double x[LANES];
    fenv_t environment;
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    const double scale = (double)work->bins / (work->upper - work->lower);
    for (int64_t done = 0; done < count; done += LANES) {
        const int64_t length = count - done < LANES ? count - done : LANES;
        load_sequence(sequence, &work->source, 0, first + done, length, x);
        for (int64_t i = 0; i < length; i++) {
            const int64_t bin = cc__histogram_bin(x[i], work->lower, work->upper, scale, work->bins);
            if (bin >= 0)
                counts[bin]++;
        }
    }
    fesetenv(&environment);
}

void cc__histogram_on_host(const cc__histogram *work)
{
    cc__sequence sequence;
    cc__sequence_plan(&work->source, 1, work->components, work->size, &sequence);
    memset(work->counts, 0, (size_t)work->bins * sizeof *work->counts);
    cc__histogram_add(work, &sequence, 0, sequence.count, work->counts);
}
