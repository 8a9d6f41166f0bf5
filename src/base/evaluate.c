/* Which rows an expression is computed on, and walking over them. */
#include "base/evaluate.h"

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

void cc__evaluate_segments(const cc__evaluate *work, const cc__lattice *lattice, int64_t first, int64_t count)
{
    const int32_t spans = 1 + work->source_count;
    const bool is_copy = cc__evaluate_is_copy(work);
    walker walk;
    cc__places places;
    /* The caller's rounding mode, flushing of subnormals or trapping must neither change results nor be changed. */
    fenv_t environment;
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    begin_walk(lattice, spans, first, &walk);
    for (int64_t done = 0; done < count; done++) {
        const int64_t skipped = walk.segment * CC__SEGMENT;
        const int64_t left = lattice->length - skipped;
        const int64_t length = left < CC__SEGMENT ? left : CC__SEGMENT;
        places.destination = work->destination.data + walk.offset[0] + skipped * lattice->step[0];
        for (int32_t i = 0; i < work->source_count; i++)
            places.source[i] = work->sources[i].data + walk.offset[1 + i] + skipped * lattice->step[1 + i];
        if (is_copy) {
            cc__evaluate_copy(work, lattice, &places, length);
            next_segment(lattice, spans, &walk);
            continue;
        }
        switch (work->numbers) {
        case CC__NUMBERS_REAL:
            if (!cc__evaluate_float32(work, lattice, &places, length))
                cc__evaluate_real(work, lattice, &places, length);
            break;
        case CC__NUMBERS_COMPLEX:
            cc__evaluate_complex(work, lattice, &places, length);
            break;
        case CC__NUMBERS_WHOLE:
            cc__evaluate_whole(work, lattice, &places, length);
            break;
        }
        next_segment(lattice, spans, &walk);
    }
    fesetenv(&environment);
}

void cc__evaluate_on_host(const cc__evaluate *work)
{
    cc__lattice lattice;
    cc__evaluate_plan(work, &lattice);
    cc__evaluate_segments(work, &lattice, 0, lattice.rows * lattice.segments);
}
