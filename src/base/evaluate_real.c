/* Expressions in float64, and single steps in float32 where that gives the same bits. */
#include "base/components.h"
#include "base/evaluate.h"
#include "kernels/step_math.h"

#include <string.h>

/* Small enough that the running value and what is kept stay in the nearest cache. */
#define BUFFER 256

typedef struct registers {
    double value[BUFFER];
    double a[BUFFER];
    double b[BUFFER];
    double slot[CC_MAX_STEPS][BUFFER];
} registers;

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

/* Where the operand is: in `room`, or in the slot that it names. */
static const double *load_term(const cc__evaluate *work, const cc__term *term, const int64_t *steps,
                               const cc__places *places, int64_t done, int64_t count, registers *values, double *room)
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
        for (int64_t i = 0; i < count; i++)
            room[i] = term->value;
        break;
    case CC__TERM_SLOT:
        return values->slot[n];
    }
    return room;
}

#define REAL_STEP(NAME)                                                                                                \
    case CC_STEP_##NAME:                                                                                               \
        for (int64_t i = 0; i < count; i++)                                                                            \
            value[i] = cc__real_##NAME(value[i], a[i], b[i]);                                                          \
        break;

static void make_step(cc_step_kind kind, double *restrict value, const double *a, const double *b, int64_t count)
{
    switch (kind) {
    case CC_STEP_LOAD:
        memcpy(value, a, (size_t)count * sizeof *value);
        break;
        CC__FOR_EACH_REAL_STEP(REAL_STEP)
    case CC_STEP_REAL:
    case CC_STEP_CONJUGATE:
        break;
    }
}

void cc__evaluate_real(const cc__evaluate *work, const cc__lattice *lattice, const cc__places *places, int64_t count)
{
    registers values;
    memset(values.value, 0, sizeof values.value);
    memset(values.a, 0, sizeof values.a);
    memset(values.b, 0, sizeof values.b);
    for (int64_t done = 0; done < count; done += BUFFER) {
        const int64_t length = count - done < BUFFER ? count - done : BUFFER;
        for (int32_t i = 0; i < work->step_count; i++) {
            const cc__instruction *step = &work->steps[i];
            double *room = step->kind == CC_STEP_LOAD ? values.value : values.a;
            const double *a = load_term(work, &step->a, lattice->step, places, done, length, &values, room);
            const double *b = load_term(work, &step->b, lattice->step, places, done, length, &values, values.b);
            if (a != values.value)
                make_step((cc_step_kind)step->kind, values.value, a, b, length);
            if (step->slot >= 0)
                memcpy(values.slot[step->slot], values.value, (size_t)length * sizeof values.value[0]);
        }
        cc__components_store(work->destination_type, values.value, NULL, places->destination + done * lattice->step[0],
                             lattice->step[0], length);
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

/* `other` is x for a step without operand, and does not move for one value. */
#define FLOAT32_STEP(NAME)                                                                                             \
    case CC_STEP_##NAME:                                                                                               \
        if (is_value) {                                                                                                \
            for (int64_t i = 0; i < count; i++) {                                                                      \
                float x;                                                                                               \
                memcpy(&x, from + 4 * i, sizeof x);                                                                    \
                uint32_t bits = cc__store_float32(cc__float32_##NAME(x, constant));                                    \
                memcpy(to + 4 * i, &bits, sizeof bits);                                                                \
            }                                                                                                          \
        } else {                                                                                                       \
            for (int64_t i = 0; i < count; i++) {                                                                      \
                float x, y;                                                                                            \
                memcpy(&x, from + 4 * i, sizeof x);                                                                    \
                memcpy(&y, other + 4 * i, sizeof y);                                                                   \
                uint32_t bits = cc__store_float32(cc__float32_##NAME(x, y));                                           \
                memcpy(to + 4 * i, &bits, sizeof bits);                                                                \
            }                                                                                                          \
        }                                                                                                              \
        return true;

bool cc__evaluate_float32(const cc__evaluate *work, const cc__lattice *lattice, const cc__places *places, int64_t count)
{
    if (!cc__evaluate_is_float32(work))
        return false;
    const cc__term *term = &work->steps[1].a;
    const bool is_value = term->kind != CC__TERM_SOURCE;
    const float constant = (float)term->value;
    unsigned char *to = places->destination;
    const unsigned char *from = places->source[0];
    const unsigned char *other = is_value ? from : places->source[term->number];
    if (lattice->step[0] != 4 || lattice->step[1] != 4 || (!is_value && lattice->step[1 + term->number] != 4))
        return false;
    switch (work->steps[1].kind) {
        CC__FOR_EACH_FLOAT32_STEP(FLOAT32_STEP)
    }
    return false;
}
