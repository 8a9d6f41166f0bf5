/* Expressions in float64, and single steps in float32 where that gives the same bits. */
#include "base/components.h"
#include "base/evaluate.h"
#include "base/loops.h"
#include "kernels/step_math.h"

#include <math.h>
#include <string.h>

#define BUFFER CC__REGISTER_VALUES

/* The square root of the sum of the squares, added in the order of the components. */
static void load_magnitude(const cc__source *source, const unsigned char *at, int64_t step, int64_t count, double *out)
{
    const int64_t component_bytes = (int64_t)cc_pixel_type_size_bytes(source->type);
    double component[BUFFER];
    memset(out, 0, (size_t)count * sizeof *out);
    for (int32_t k = 0; k < source->components; k++) {
        cc__components_load(source->type, at + k * component_bytes, step, count, component, NULL);
        for (int64_t i = 0; i < count; i++)
            out[i] = out[i] + component[i] * component[i];
    }
    for (int64_t i = 0; i < count; i++)
        out[i] = cc__square_root(out[i]);
}

static void spread(double value, int64_t count, double *out)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = value;
}

/* Where the operand is: in `room`, in the slot that it names, or spread before; `values_seen` counts the last. */
static const double *load_term(const cc__evaluate *work, const cc__term *term, const int64_t *steps,
                               const cc__places *places, int64_t done, int64_t count, cc__registers *values,
                               double *room, int32_t *values_seen)
{
    const int32_t n = term->number;
    switch ((cc__term_kind)term->kind) {
    case CC__TERM_NONE:
        break;
    case CC__TERM_SOURCE:
        cc__components_load(work->sources[n].type, places->source[n] + done * steps[1 + n], steps[1 + n], count, room,
                            NULL);
        break;
    case CC__TERM_MAGNITUDE:
        load_magnitude(&work->sources[n], places->source[n] + done * steps[1 + n], steps[1 + n], count, room);
        break;
    case CC__TERM_VALUE:
        if ((*values_seen)++ < CC__SPREAD_VALUES)
            return values->spread[*values_seen - 1];
        spread(term->value, count, room);
        break;
    case CC__TERM_SLOT:
        return values->slot[n];
    }
    return room;
}

void cc__evaluate_prepare(const cc__evaluate *work, cc__registers *out_registers)
{
    int32_t seen = 0;
    memset(out_registers->value, 0, sizeof out_registers->value);
    memset(out_registers->a, 0, sizeof out_registers->a);
    memset(out_registers->b, 0, sizeof out_registers->b);
    for (int32_t i = 0; i < work->step_count; i++) {
        const cc__term *const terms[] = {&work->steps[i].a, &work->steps[i].b};
        for (int32_t t = 0; t < 2; t++)
            if (terms[t]->kind == CC__TERM_VALUE && seen < CC__SPREAD_VALUES)
                spread(terms[t]->value, BUFFER, out_registers->spread[seen++]);
    }
}

/* The last steps into float32: a square root or not, then no less and no more than two values. */
typedef struct finish {
    int32_t first; /* step */
    bool is_root;
    float lower;
    float upper;
    int32_t square; /* the source whose squares are added to a slot before the root; -1: none */
    int32_t slot;
} finish;

/*
 * Rounding to float32 keeps the order, so that choosing the lesser or greater before or after it is the same. A finish
 * that has nothing to do costs more than a store.
 */
static bool plan_finish(const cc__evaluate *work, const cc__lattice *lattice, finish *out_finish)
{
    const cc__instruction *steps = work->steps;
    *out_finish = (finish){.first = work->step_count, .lower = -INFINITY, .upper = INFINITY};
    if (work->destination_type != CC_PIXEL_FLOAT32 || lattice->step[0] != (int64_t)sizeof(float))
        return false;
    const cc__instruction *last = &steps[work->step_count - 1];
    if (last->kind == CC_STEP_MINIMUM && last->a.kind == CC__TERM_VALUE)
        *out_finish = (finish){.lower = -INFINITY, .upper = (float)last->a.value, .first = out_finish->first - 1};
    else if (last->kind == CC_STEP_MAXIMUM && last->a.kind == CC__TERM_VALUE)
        *out_finish = (finish){.lower = (float)last->a.value, .upper = INFINITY, .first = out_finish->first - 1};
    else if (last->kind == CC_STEP_CLAMP && last->a.kind == CC__TERM_VALUE && last->b.kind == CC__TERM_VALUE)
        *out_finish =
            (finish){.lower = (float)last->a.value, .upper = (float)last->b.value, .first = out_finish->first - 1};
    last = &steps[out_finish->first - 1];
    if (last->kind == CC_STEP_SQUARE_ROOT && last->slot < 0) {
        out_finish->is_root = true;
        out_finish->first--;
    }
    return out_finish->first < work->step_count;
}

static bool has_no_value(const cc__instruction *step)
{
    return step->a.kind != CC__TERM_VALUE && step->b.kind != CC__TERM_VALUE;
}

static bool is_square_of_float32(const cc__evaluate *work, int32_t step, int32_t step_count, const int64_t *steps)
{
    const cc__instruction *load = &work->steps[step];
    return step + 1 < step_count && load->kind == CC_STEP_LOAD && load->a.kind == CC__TERM_SOURCE && load->slot < 0 &&
           load[1].kind == CC_STEP_SQUARE && has_no_value(load) && has_no_value(load + 1) &&
           work->sources[load->a.number].type == CC_PIXEL_FLOAT32 &&
           steps[1 + load->a.number] == (int64_t)sizeof(float);
}

/* After a square of which nothing else is made. */
static bool is_sum_with_slot(const cc__instruction *square)
{
    return square->slot < 0 && square[1].kind == CC_STEP_ADD && square[1].a.kind == CC__TERM_SLOT;
}

/* The running value after the first steps. */
static const double *make_steps(const cc__evaluate *work, int32_t step_count, const int64_t *steps,
                                const cc__places *places, int64_t done, int64_t length, cc__registers *registers)
{
    const cc__loops *loops = cc__loops_get();
    const double *value = registers->value;
    int32_t values_seen = 0;
    for (int32_t i = 0; i < step_count; i++) {
        const bool is_square = is_square_of_float32(work, i, step_count, steps);
        const bool is_sum = is_square && i + 2 < step_count && is_sum_with_slot(&work->steps[i + 1]);
        const int32_t source = is_square ? work->steps[i].a.number : 0;
        i += is_sum ? 2 : is_square ? 1 : 0;
        const cc__instruction *step = &work->steps[i];
        /* What is kept is made where it is kept. */
        double *out = step->slot >= 0 ? registers->slot[step->slot] : registers->value;
        double *room = step->kind == CC_STEP_LOAD ? out : registers->a;
        if (is_square) {
            loops->load_squares(places->source[source] + done * (int64_t)sizeof(float),
                                is_sum ? registers->slot[step->a.number] : NULL, length, out);
        } else {
            const double *a = load_term(work, &step->a, steps, places, done, length, registers, room, &values_seen);
            const double *b =
                load_term(work, &step->b, steps, places, done, length, registers, registers->b, &values_seen);
            if (a != out || step->kind != CC_STEP_LOAD)
                loops->step((cc_step_kind)step->kind, value, a, b, out, length);
        }
        value = out;
    }
    return value;
}

/* A sum with squares may be made together with its root. */
static void plan_square(const cc__evaluate *work, const int64_t *steps, finish *last)
{
    const int32_t load = last->first - 3;
    if (!last->is_root || load < 0 || !is_square_of_float32(work, load, work->step_count, steps) ||
        !is_sum_with_slot(&work->steps[load + 1]) || work->steps[load + 2].slot >= 0)
        return;
    last->square = work->steps[load].a.number;
    last->slot = work->steps[load + 2].a.number;
    last->first = load;
}

void cc__evaluate_real(const cc__evaluate *work, const cc__lattice *lattice, const cc__places *places, int64_t count,
                       cc__registers *registers)
{
    const cc__loops *loops = cc__loops_get();
    finish last;
    const bool has_finish = plan_finish(work, lattice, &last);
    last.square = -1;
    plan_square(work, lattice->step, &last);
    for (int64_t done = 0; done < count; done += BUFFER) {
        const int64_t length = count - done < BUFFER ? count - done : BUFFER;
        unsigned char *to = places->destination + done * lattice->step[0];
        const double *value = make_steps(work, last.first, lattice->step, places, done, length, registers);
        if (last.square >= 0)
            loops->finish_squares(places->source[last.square] + done * (int64_t)sizeof(float),
                                  registers->slot[last.slot], last.lower, last.upper, to, length);
        else if (has_finish)
            loops->finish_float32(last.is_root, value, last.lower, last.upper, to, length);
        else
            cc__components_store(work->destination_type, value, NULL, to, lattice->step[0], length);
    }
}

bool cc__evaluate_is_float32(const cc__evaluate *work)
{
    const cc__instruction *load = &work->steps[0];
    const cc__instruction *step = &work->steps[1];
    if (work->numbers != CC__NUMBERS_REAL || work->step_count != 2 || work->destination_type != CC_PIXEL_FLOAT32 ||
        load->a.kind != CC__TERM_SOURCE || load->a.number != 0 || work->source_count > 2 ||
        work->sources[0].type != CC_PIXEL_FLOAT32)
        return false;
    switch ((cc_step_kind)step->kind) {
    case CC_STEP_ADD:
    case CC_STEP_SUBTRACT:
    case CC_STEP_MULTIPLY:
    case CC_STEP_DIVIDE:
    case CC_STEP_MINIMUM:
    case CC_STEP_MAXIMUM:
        if (step->a.kind == CC__TERM_VALUE)
            return (double)(float)step->a.value == step->a.value;
        return step->a.kind == CC__TERM_SOURCE && work->sources[step->a.number].type == CC_PIXEL_FLOAT32;
    case CC_STEP_NEGATE:
    case CC_STEP_ABSOLUTE:
    case CC_STEP_SQUARE:
    case CC_STEP_SQUARE_ROOT:
        return true;
    case CC_STEP_LOAD:
    case CC_STEP_MULTIPLY_ADD:
    case CC_STEP_CLAMP:
    case CC_STEP_WITHIN:
    case CC_STEP_LESS:
    case CC_STEP_EQUAL:
    case CC_STEP_SELECT:
    case CC_STEP_REAL:
    case CC_STEP_IMAGINARY:
    case CC_STEP_CONJUGATE:
    case CC_STEP_ARGUMENT:
        break;
    }
    return false;
}

static bool has_float32_step(cc_step_kind kind)
{
    switch ((int32_t)kind) {
#define KNOWN(NAME) case CC_STEP_##NAME:
        CC__FOR_EACH_FLOAT32_STEP(KNOWN)
        return true;
    }
    return false;
}

static bool is_small_integer(cc_pixel_type type)
{
    return type == CC_PIXEL_BOOL || type == CC_PIXEL_UINT8 || type == CC_PIXEL_INT8 || type == CC_PIXEL_UINT16 ||
           type == CC_PIXEL_INT16;
}

/*
 * Into an integer the value is rounded again, so that the step must be exact. Sums of integers of up to 17 bits are,
 * and products as far as they fit 24 bits: larger ones are clamped to no more than 16, rounded or not.
 */
static bool is_exact(const cc__evaluate *work)
{
    const cc__instruction *step = &work->steps[1];
    const bool is_value = step->a.kind == CC__TERM_VALUE;
    const double value = is_value ? step->a.value : 0.0;
    if (!is_small_integer(work->sources[0].type) ||
        (step->a.kind == CC__TERM_SOURCE && !is_small_integer(work->sources[step->a.number].type)) ||
        !(value >= -65536.0 && value <= 65536.0) || value != (double)(int32_t)value)
        return false;
    switch ((int32_t)step->kind) {
    case CC_STEP_ADD:
    case CC_STEP_SUBTRACT:
    case CC_STEP_MULTIPLY:
    case CC_STEP_MINIMUM:
    case CC_STEP_MAXIMUM:
    case CC_STEP_NEGATE:
    case CC_STEP_ABSOLUTE:
    case CC_STEP_SQUARE:
        return true;
    }
    return false;
}

bool cc__evaluate_is_narrow(const cc__evaluate *work, const cc__lattice *lattice)
{
    const cc__term *term = &work->steps[1].a;
    if (work->numbers != CC__NUMBERS_REAL || work->step_count > 2 || work->steps[0].a.kind != CC__TERM_SOURCE ||
        work->steps[0].a.number != 0 || work->source_count > work->step_count ||
        !cc__loops_is_float32(work->destination_type) ||
        lattice->step[0] != (int64_t)cc_pixel_type_size_bytes(work->destination_type))
        return false;
    for (int32_t i = 0; i < work->source_count; i++)
        if (!cc__loops_is_float32(work->sources[i].type) ||
            lattice->step[1 + i] != (int64_t)cc_pixel_type_size_bytes(work->sources[i].type))
            return false;
    if (work->step_count == 1)
        return true;
    if (!has_float32_step((cc_step_kind)work->steps[1].kind) || term->kind == CC__TERM_MAGNITUDE ||
        term->kind == CC__TERM_SLOT || (term->kind == CC__TERM_VALUE && (double)(float)term->value != term->value))
        return false;
    return work->destination_type == CC_PIXEL_FLOAT32 || (is_small_integer(work->destination_type) && is_exact(work));
}

/* Two images of one integer type into a third of it. */
static bool is_integer_step(const cc__evaluate *work)
{
    const cc__term *term = &work->steps[1].a;
    const cc_pixel_type type = work->destination_type;
    if (work->step_count != 2 || term->kind != CC__TERM_SOURCE || !is_small_integer(type) || type == CC_PIXEL_BOOL ||
        work->sources[0].type != type || work->sources[term->number].type != type)
        return false;
    switch (work->steps[1].kind) {
    case CC_STEP_ADD:
    case CC_STEP_SUBTRACT:
    case CC_STEP_MINIMUM:
    case CC_STEP_MAXIMUM:
        return true;
    }
    return false;
}

typedef struct narrow_registers {
    float x[BUFFER];
    float y[BUFFER];
    float out[BUFFER];
} narrow_registers;

/* The source's components as they are, where they are float32. */
static const unsigned char *load_narrow(const cc__loops *loops, const cc__source *source, const unsigned char *at,
                                        int64_t count, float *room)
{
    if (source->type == CC_PIXEL_FLOAT32)
        return at;
    loops->load_float32(source->type, at, count, room);
    return (const unsigned char *)room;
}

void cc__evaluate_narrow(const cc__evaluate *work, const cc__lattice *lattice, const cc__places *places, int64_t count)
{
    const cc__loops *loops = cc__loops_get();
    const cc__term *term = &work->steps[1].a;
    const bool is_cast = work->step_count == 1;
    const bool is_direct = work->destination_type == CC_PIXEL_FLOAT32;
    const float constant = !is_cast && term->kind == CC__TERM_VALUE ? (float)term->value : 0.0F;
    narrow_registers values;
    if (is_integer_step(work)) {
        loops->step_integer((cc_step_kind)work->steps[1].kind, work->destination_type, places->source[0],
                            places->source[term->number], places->destination, count);
        return;
    }
    for (int64_t done = 0; done < count; done += BUFFER) {
        const int64_t length = count - done < BUFFER ? count - done : BUFFER;
        unsigned char *to = places->destination + done * lattice->step[0];
        unsigned char *out = is_direct ? to : (unsigned char *)values.out;
        if (is_cast) {
            const unsigned char *x =
                load_narrow(loops, &work->sources[0], places->source[0] + done * lattice->step[1], length, values.x);
            loops->store_float32(work->destination_type, x, to, length);
            continue;
        }
        const unsigned char *x =
            load_narrow(loops, &work->sources[0], places->source[0] + done * lattice->step[1], length, values.x);
        const unsigned char *y = NULL;
        if (term->kind == CC__TERM_SOURCE)
            y = load_narrow(loops, &work->sources[term->number],
                            places->source[term->number] + done * lattice->step[1 + term->number], length, values.y);
        loops->step_float32((cc_step_kind)work->steps[1].kind, x, y, constant, out, length);
        if (!is_direct)
            loops->store_float32(work->destination_type, (const unsigned char *)values.out, to, length);
    }
}
