/* How magnitudes of float32 vectors are computed over rows without gaps. Plain C. */
#ifndef CC_KERNELS_MAGNITUDE_PLAN_H
#define CC_KERNELS_MAGNITUDE_PLAN_H

#include "kernels/evaluate_shallow_plan.h"

/* A thread takes units of 4 pixels, whose components come in 16 bytes at a time. */
#define CC__MAGNITUDE_UNIT 4
#define CC__MAGNITUDE_UNITS 2
#define CC__MAGNITUDE_MOST 4 /* components */

typedef struct cc__magnitude_plan {
    unsigned char *to; /* the first unit, also in `from` */
    const unsigned char *from;
    int64_t units;
    int32_t head; /* pixels before it, and after the last unit */
    int32_t tail;
    int32_t components;
} cc__magnitude_plan;

/* False when the work is not of this kind. */
static inline bool cc__magnitude_plan_make(const cc__evaluate *work, const cc__lattice *lattice,
                                           cc__magnitude_plan *plan)
{
    const cc__source *source = &work->sources[0];
    if (work->numbers != CC__NUMBERS_REAL || work->step_count != 1 || work->source_count != 1 || lattice->axes > 0 ||
        work->steps[0].a.kind != CC__TERM_MAGNITUDE || source->components < 2 ||
        source->components > CC__MAGNITUDE_MOST || source->type != CC_PIXEL_FLOAT32 ||
        work->destination_type != CC_PIXEL_FLOAT32 || lattice->step[0] != 4 ||
        lattice->step[1] != (int64_t)4 * source->components)
        return false;
    const uintptr_t to = (uintptr_t)work->destination.data;
    const uintptr_t from = (uintptr_t)source->data;
    const uintptr_t pixel = (uintptr_t)lattice->step[1];
    uintptr_t head = 0;
    while (head < CC__MAGNITUDE_UNIT && ((to + 4 * head) % 16 != 0 || (from + pixel * head) % 16 != 0))
        head++;
    if (head == CC__MAGNITUDE_UNIT || lattice->length < (int64_t)head)
        return false;
    memset(plan, 0, sizeof *plan);
    plan->head = (int32_t)head;
    plan->units = (lattice->length - plan->head) / CC__MAGNITUDE_UNIT;
    plan->tail = (int32_t)((lattice->length - plan->head) % CC__MAGNITUDE_UNIT);
    plan->to = work->destination.data + 4 * head;
    plan->from = source->data + pixel * head;
    plan->components = source->components;
    return true;
}

#endif
