/* Which rows an expression is computed on, and walking over them. */
#include "base/evaluate.h"

#include "base/components.h"
#include "base/loops.h"
#include "base/past_cache.h"

#include <fenv.h>
#include <string.h>

typedef struct axis {
    int64_t size;
    int64_t stride[CC__MAX_SPANS];
} axis;

/* The next axis goes on where the one before ends, in every span. */
static bool follows(const axis *axes, int32_t spans)
{
    for (int32_t span = 0; span < spans; span++)
        if (axes[1].stride[span] != axes[0].size * axes[0].stride[span])
            return false;
    return true;
}

void cc__evaluate_plan(const cc__evaluate *work, cc__lattice *out_lattice)
{
    const int32_t spans = 1 + work->source_count;
    axis axes[CC_MAX_DIMENSION + 1];
    int32_t last = 0;
    memset(axes, 0, sizeof axes);
    axes[0].size = work->components;
    axes[0].stride[0] = (int64_t)cc_pixel_type_size_bytes(work->destination_type);
    for (int32_t span = 1; span < spans; span++)
        axes[0].stride[span] = work->sources[span - 1].component_stride;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        axis *next = &axes[last + 1];
        if (work->size[i] == 1)
            continue;
        next->size = work->size[i];
        next->stride[0] = work->destination.stride[i];
        for (int32_t span = 1; span < spans; span++)
            next->stride[span] = work->sources[span - 1].stride[i];
        if (axes[last].size == 1)
            axes[last] = *next;
        else if (follows(&axes[last], spans))
            axes[last].size *= next->size;
        else
            last++;
    }
    /* A few components that do not follow each other are better walked over pixel by pixel. */
    if (last > 0 && axes[0].size < axes[1].size && axes[0].size < 64) {
        const axis components = axes[0];
        axes[0] = axes[1];
        axes[1] = components;
    }

    memset(out_lattice, 0, sizeof *out_lattice);
    out_lattice->length = axes[0].size;
    out_lattice->axes = last;
    out_lattice->rows = 1;
    for (int32_t span = 0; span < spans; span++)
        out_lattice->step[span] = axes[0].stride[span];
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        out_lattice->size[i] = i < last ? axes[i + 1].size : 1;
        out_lattice->rows *= out_lattice->size[i];
        for (int32_t span = 0; span < spans && i < last; span++)
            out_lattice->stride[span][i] = axes[i + 1].stride[span];
    }
    out_lattice->segments = (out_lattice->length - 1) / CC__SEGMENT + 1;
}

size_t cc__evaluate_bytes(const cc__evaluate *work, const cc__lattice *lattice)
{
    size_t bytes = cc_pixel_type_size_bytes(work->destination_type);
    for (int32_t i = 0; i < work->source_count; i++)
        bytes += cc_pixel_type_size_bytes(work->sources[i].type);
    return (size_t)(lattice->rows * lattice->length) * bytes;
}

/* A place in the lattice, and how far it is from the first of each span. */
typedef struct walker {
    int64_t segment;
    int64_t at[CC_MAX_DIMENSION];
    int64_t offset[CC__MAX_SPANS];
} walker;

static void begin_walk(const cc__lattice *lattice, int32_t spans, int64_t first, walker *out_walk)
{
    int64_t row = first / lattice->segments;
    out_walk->segment = first % lattice->segments;
    memset(out_walk->offset, 0, sizeof out_walk->offset);
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        out_walk->at[i] = row % lattice->size[i];
        row /= lattice->size[i];
        for (int32_t span = 0; span < spans; span++)
            out_walk->offset[span] += out_walk->at[i] * lattice->stride[span][i];
    }
}

static void next_segment(const cc__lattice *lattice, int32_t spans, walker *walk)
{
    if (++walk->segment < lattice->segments)
        return;
    walk->segment = 0;
    for (int32_t i = 0; i < lattice->axes; i++) {
        const bool ends = ++walk->at[i] == lattice->size[i];
        const int64_t steps = ends ? 1 - lattice->size[i] : 1;
        for (int32_t span = 0; span < spans; span++)
            walk->offset[span] += steps * lattice->stride[span][i];
        if (!ends)
            return;
        walk->at[i] = 0;
    }
}

/* How the components of a row are computed. */
typedef enum method {
    METHOD_COPY = 0,
    METHOD_TABLE = 1, /* one byte into one, of the same pixels: all results are known before */
    METHOD_NARROW = 2,
    METHOD_REAL = 3,
    METHOD_COMPLEX = 4,
    METHOD_WHOLE = 5
} method;

typedef struct evaluation {
    const cc__evaluate *work;
    const cc__lattice *lattice;
    const cc__loops *loops;
    method method;
    bool ends_past_cache; /* by itself */
    unsigned char table[256];
    cc__registers registers;
} evaluation;

static bool has_table(const cc__evaluate *work, const cc__lattice *lattice)
{
    if (work->numbers != CC__NUMBERS_REAL || work->source_count != 1 ||
        cc_pixel_type_size_bytes(work->sources[0].type) != 1 || cc_pixel_type_size_bytes(work->destination_type) != 1 ||
        lattice->step[0] != 1 || lattice->step[1] != 1)
        return false;
    for (int32_t i = 0; i < work->step_count; i++)
        if (work->steps[i].a.kind == CC__TERM_MAGNITUDE || work->steps[i].b.kind == CC__TERM_MAGNITUDE)
            return false;
    return true;
}

static void make_table(evaluation *all)
{
    unsigned char bytes[256];
    cc__places places = {.destination = NULL};
    for (int32_t i = 0; i < 256; i++)
        bytes[i] = (unsigned char)i;
    places.destination = all->table;
    places.source[0] = bytes;
    cc__evaluate_real(all->work, all->lattice, &places, 256, &all->registers);
}

static method choose_method(const cc__evaluate *work, const cc__lattice *lattice)
{
    if (cc__evaluate_is_copy(work))
        return METHOD_COPY;
    if (has_table(work, lattice))
        return METHOD_TABLE;
    switch (work->numbers) {
    case CC__NUMBERS_REAL:
        return cc__evaluate_is_narrow(work, lattice) ? METHOD_NARROW : METHOD_REAL;
    case CC__NUMBERS_COMPLEX:
        return METHOD_COMPLEX;
    case CC__NUMBERS_WHOLE:
        return METHOD_WHOLE;
    }
    return METHOD_REAL;
}

static void evaluate(evaluation *all, const cc__places *places, int64_t count)
{
    switch (all->method) {
    case METHOD_COPY:
        cc__evaluate_copy(all->work, all->lattice, places, count);
        break;
    case METHOD_TABLE:
        all->loops->look_up(all->table, places->source[0], places->destination, count);
        break;
    case METHOD_NARROW:
        cc__evaluate_narrow(all->work, all->lattice, places, count);
        break;
    case METHOD_REAL:
        cc__evaluate_real(all->work, all->lattice, places, count, &all->registers);
        break;
    case METHOD_COMPLEX:
        cc__evaluate_complex(all->work, all->lattice, places, count);
        break;
    case METHOD_WHOLE:
        cc__evaluate_whole(all->work, all->lattice, places, count);
        break;
    }
}

/* The destination's components lie side by side. In place their lines are read anyway. */
static void evaluate_far(evaluation *all, const cc__places *places, int64_t count)
{
    unsigned char block[CC__PAST_CACHE_BLOCK] __attribute__((aligned(64)));
    const int64_t *step = all->lattice->step;
    const bool is_in_place = all->lattice->is_in_place;
    const bool is_direct = is_in_place || all->ends_past_cache;
    cc__places part = *places;
    if (all->method == METHOD_COPY && !is_in_place && step[1 + all->work->steps[0].a.number] == step[0]) {
        cc__past_cache_move(places->destination, places->source[all->work->steps[0].a.number],
                            (size_t)(count * step[0]));
        return;
    }
    for (int64_t done = 0; done < count;) {
        unsigned char *to = places->destination + done * step[0];
        const int64_t some = cc__past_cache_part(to, step[0], count - done);
        part.destination = is_direct ? to : block;
        for (int32_t i = 0; i < all->work->source_count; i++) {
            part.source[i] = places->source[i] + done * step[1 + i];
            cc__past_cache_foresee(part.source[i], some * step[1 + i]);
        }
        evaluate(all, &part, some);
        if (!is_direct)
            cc__past_cache_copy(to, block, (size_t)(some * step[0]));
        done += some;
    }
}

void cc__evaluate_segments(const cc__evaluate *work, const cc__lattice *lattice, int64_t first, int64_t count)
{
    const int32_t spans = 1 + work->source_count;
    const bool is_far =
        lattice->is_far && lattice->step[0] == (int64_t)cc_pixel_type_size_bytes(work->destination_type);
    evaluation all;
    walker walk;
    cc__places places = {.destination = NULL};
    /* The caller's rounding mode, flushing of subnormals or trapping must neither change results nor be changed. */
    fenv_t environment;
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    all.work = work;
    all.lattice = lattice;
    all.loops = cc__loops_get();
    all.method = choose_method(work, lattice);
    all.ends_past_cache = all.method == METHOD_REAL && cc__evaluate_ends_past_cache(work, lattice);
    if (all.method == METHOD_REAL || all.method == METHOD_TABLE)
        cc__evaluate_prepare(work, &all.registers);
    if (all.method == METHOD_TABLE)
        make_table(&all);
    begin_walk(lattice, spans, first, &walk);
    for (int64_t done = 0; done < count; done++) {
        const int64_t skipped = walk.segment * CC__SEGMENT;
        const int64_t left = lattice->length - skipped;
        const int64_t length = left < CC__SEGMENT ? left : CC__SEGMENT;
        places.destination = work->destination.data + walk.offset[0] + skipped * lattice->step[0];
        for (int32_t i = 0; i < work->source_count; i++)
            places.source[i] = work->sources[i].data + walk.offset[1 + i] + skipped * lattice->step[1 + i];
        if (is_far)
            evaluate_far(&all, &places, length);
        else
            evaluate(&all, &places, length);
        next_segment(lattice, spans, &walk);
    }
    if (is_far)
        cc__past_cache_end();
    fesetenv(&environment);
}

void cc__evaluate_on_host(const cc__evaluate *work)
{
    cc__lattice lattice;
    cc__evaluate_plan(work, &lattice);
    cc__evaluate_segments(work, &lattice, 0, lattice.rows * lattice.segments);
}
