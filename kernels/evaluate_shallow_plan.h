/* How at most one step after LOAD, or any steps of an 8-bit source, are computed over rows without gaps. Plain C. */
#ifndef CC_KERNELS_EVALUATE_SHALLOW_PLAN_H
#define CC_KERNELS_EVALUATE_SHALLOW_PLAN_H

#include "kernels/evaluate_dense_plan.h"
#include "kernels/number_types.h"
#include "kernels/tiles.h"

/*
 * Threads take units whose components fill at most 16 bytes in every image, so that what the threads of a warp access
 * at once lies side by side. The components before the first and after the last unit come on their own.
 */
#define CC__SHALLOW_NARROW_UNIT 4
#define CC__SHALLOW_WIDE_UNIT 2     /* where a type has 64 bits */
#define CC__SHALLOW_UNITS 4         /* of a thread, loaded before it goes on */
#define CC__SHALLOW_WIDE_UNITS 3    /* the same where a type has 64 bits */
#define CC__SHALLOW_UNITS_OF_CAST 2 /* the same without a step */
#define CC__SHALLOW_UNITS_OF_TWO 2  /* the same with two sources */
#define CC__TABLE_LEAST (1 << 14)   /* components for which it is worth making a table */
#define CC__TABLE_NARROW_BLOCKS 48  /* for each multiprocessor, of which 2 fit at once, with results of 8 bits */
#define CC__TABLE_BLOCKS 24         /* and with larger ones */

/* Where units begin in the row, and how many there are. */
typedef struct cc__units {
    int64_t count;
    int32_t head; /* components before them */
    int32_t tail; /* and after */
} cc__units;

typedef struct cc__shallow_plan {
    unsigned char *to; /* the first unit, also in `from` */
    const unsigned char *from[2];
    cc__units units;
    double a;
    double b;
    cc_pixel_type to_type;
    cc_pixel_type from_type[2];
    int32_t to_bytes;
    int32_t from_bytes[2];
    int32_t kind;   /* of the step; LOAD: none */
    int32_t a_is_y; /* operands are `a` and `b` or the second source */
    int32_t b_is_y;
    int32_t source_count;
    int32_t is_wide;
} cc__shallow_plan;

typedef struct cc__table_plan {
    unsigned char *to;
    const unsigned char *from;
    cc__units units;
    uint32_t result[256]; /* bits of the result of each value of the source */
} cc__table_plan;

/* False when no unit is aligned in all images. */
static inline bool cc__units_find(const void *const *data, const cc_pixel_type *types, int32_t count, int64_t unit,
                                  int64_t length, cc__units *out)
{
    for (int64_t head = 0; head < unit; head++) {
        bool is_aligned = true;
        for (int32_t n = 0; n < count; n++)
            is_aligned = is_aligned && cc__dense_is_aligned(data[n], types[n], unit, head);
        if (is_aligned) {
            const int64_t before = head < length ? head : length;
            out->head = (int32_t)before;
            out->count = (length - before) / unit;
            out->tail = (int32_t)((length - before) % unit);
            return true;
        }
    }
    return false;
}

static inline bool cc__shallow_is_row(const cc__evaluate *work, const cc__lattice *lattice)
{
    return lattice->axes == 0 && work->source_count > 0 &&
           lattice->step[0] == (int64_t)cc_pixel_type_size_bytes(work->destination_type);
}

static inline bool cc__shallow_is_dense(const cc__evaluate *work, const cc__lattice *lattice, int32_t source)
{
    return lattice->step[1 + source] == (int64_t)cc_pixel_type_size_bytes(work->sources[source].type);
}

/* What an operand is. *y is the only source that may be one; -1: none was one yet. */
static inline bool cc__shallow_take(const cc__term *term, bool is_used, int32_t *y, double *out_value,
                                    int32_t *out_is_y)
{
    if (!is_used)
        return true;
    if (term->kind == CC__TERM_VALUE) {
        *out_value = term->value;
        return true;
    }
    if (term->kind != CC__TERM_SOURCE || (*y >= 0 && *y != term->number))
        return false;
    *y = term->number;
    *out_is_y = 1;
    return true;
}

/* The destination, then these sources, if they are dense. */
static inline bool cc__shallow_find(const cc__evaluate *work, const cc__lattice *lattice, const int32_t number[2],
                                    int32_t source_count, const void *out_data[3], cc_pixel_type out_types[3])
{
    out_data[0] = work->destination.data;
    out_types[0] = work->destination_type;
    for (int32_t n = 0; n < source_count; n++) {
        if (!cc__shallow_is_dense(work, lattice, number[n]))
            return false;
        out_data[1 + n] = work->sources[number[n]].data;
        out_types[1 + n] = work->sources[number[n]].type;
    }
    return true;
}

/* False when the work is not of this kind. */
static inline bool cc__shallow_plan_make(const cc__evaluate *work, const cc__lattice *lattice, cc__shallow_plan *plan)
{
    const cc__instruction *step = &work->steps[1];
    const cc__term *loaded = &work->steps[0].a;
    int32_t y = -1;
    if (work->numbers != CC__NUMBERS_REAL || !cc__shallow_is_row(work, lattice) || work->step_count > 2 ||
        work->steps[0].kind != CC_STEP_LOAD || loaded->kind != CC__TERM_SOURCE)
        return false;
    memset(plan, 0, sizeof *plan);
    plan->kind = work->step_count > 1 ? step->kind : CC_STEP_LOAD;
    if (plan->kind == CC_STEP_ARGUMENT || (work->step_count > 1 && plan->kind == CC_STEP_LOAD))
        return false;
    if (plan->kind != CC_STEP_LOAD &&
        (!cc__shallow_take(&step->a, cc__dense_uses_a(step->kind), &y, &plan->a, &plan->a_is_y) ||
         !cc__shallow_take(&step->b, cc__dense_uses_b(step->kind), &y, &plan->b, &plan->b_is_y)))
        return false;

    const int32_t number[2] = {loaded->number, y};
    const void *data[3];
    cc_pixel_type types[3];
    plan->source_count = y >= 0 ? 2 : 1;
    if (!cc__shallow_find(work, lattice, number, plan->source_count, data, types))
        return false;
    for (int32_t n = 0; n <= plan->source_count; n++)
        plan->is_wide |= !cc__dense_is_narrow(types[n]);
    const int64_t unit = plan->is_wide != 0 ? CC__SHALLOW_WIDE_UNIT : CC__SHALLOW_NARROW_UNIT;
    if (!cc__units_find(data, types, 1 + plan->source_count, unit, lattice->length, &plan->units))
        return false;
    plan->to_type = types[0];
    plan->to_bytes = (int32_t)cc_pixel_type_size_bytes(types[0]);
    plan->to = work->destination.data + (int64_t)plan->units.head * plan->to_bytes;
    for (int32_t n = 0; n < plan->source_count; n++) {
        plan->from_type[n] = types[1 + n];
        plan->from_bytes[n] = (int32_t)cc_pixel_type_size_bytes(types[1 + n]);
        plan->from[n] = work->sources[number[n]].data + (int64_t)plan->units.head * plan->from_bytes[n];
    }
    return true;
}

/* Whether float32 does the same as float64. */
static inline bool cc__shallow_is_float32_cast(const cc__shallow_plan *plan)
{
    return plan->kind == CC_STEP_LOAD && cc__fits_float32(plan->from_type[0]) && cc__fits_float32(plan->to_type);
}

/* Whether conversions take longer than the memory does: those into small types, and those of two sources. */
static inline bool cc__shallow_is_slow(const cc__shallow_plan *plan)
{
    bool is_slow = plan->to_type != CC_PIXEL_FLOAT32 && plan->to_type != CC_PIXEL_FLOAT64;
    for (int32_t n = 0; n < plan->source_count && plan->source_count == 2; n++)
        is_slow = is_slow || (plan->from_type[n] != CC_PIXEL_FLOAT32 && plan->from_type[n] != CC_PIXEL_FLOAT64);
    return is_slow && plan->kind != CC_STEP_LOAD;
}

/* False when the work is not of this kind. The CPU computes the results, so that all expressions are. */
static inline bool cc__table_plan_make(const cc__evaluate *work, const cc__lattice *lattice, cc__table_plan *plan)
{
    unsigned char values[256];
    unsigned char results[256 * 4];
    if (!cc__shallow_is_row(work, lattice) || work->source_count != 1 || lattice->length < CC__TABLE_LEAST ||
        work->sources[0].components != 1 || cc_pixel_type_size_bytes(work->sources[0].type) != 1 ||
        !cc__dense_is_narrow(work->destination_type) || !cc__shallow_is_dense(work, lattice, 0))
        return false;
    const int64_t bytes = (int64_t)cc_pixel_type_size_bytes(work->destination_type);
    const void *const data[] = {work->destination.data, work->sources[0].data};
    const cc_pixel_type types[] = {work->destination_type, work->sources[0].type};
    memset(plan, 0, sizeof *plan);
    if (!cc__units_find(data, types, 2, 16 / bytes, lattice->length, &plan->units))
        return false;
    plan->to = work->destination.data + plan->units.head * bytes;
    plan->from = work->sources[0].data + plan->units.head;

    cc__evaluate small = *work;
    small.components = 1;
    small.destination.data = results;
    small.sources[0].data = values;
    small.sources[0].component_stride = 1;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        small.size[axis] = axis == 0 ? 256 : 1;
        small.destination.stride[axis] = axis == 0 ? bytes : 256 * bytes;
        small.sources[0].stride[axis] = axis == 0 ? 1 : 256;
    }
    for (int32_t n = 0; n < 256; n++)
        values[n] = (unsigned char)n;
    cc__evaluate_on_host(&small);
    for (int32_t n = 0; n < 256; n++)
        memcpy(&plan->result[n], results + n * bytes, (size_t)bytes);
    return true;
}

#endif
