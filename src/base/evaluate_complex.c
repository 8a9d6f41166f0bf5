/* Expressions in complex numbers. */
#include "base/components.h"
#include "base/evaluate.h"
#include "kernels/step_math.h"

#include <string.h>

#define BUFFER 128

typedef struct parts {
    double real[BUFFER];
    double imaginary[BUFFER];
} parts;

typedef struct registers {
    parts value;
    parts a;
    parts b;
    parts slot[CC_MAX_STEPS];
} registers;

static void load(const cc__source *source, const unsigned char *at, int64_t step, int64_t count, parts *out)
{
    if (!cc__is_complex(source->type))
        memset(out->imaginary, 0, (size_t)count * sizeof out->imaginary[0]);
    cc__components_load(source->type, at, step, count, out->real, out->imaginary);
}

static void load_magnitude(const cc__source *source, const unsigned char *at, int64_t step, int64_t count, parts *out)
{
    const int64_t component_bytes = (int64_t)cc_pixel_type_size_bytes(source->type);
    parts component;
    memset(out, 0, sizeof *out);
    for (int32_t k = 0; k < source->components; k++) {
        load(source, at + k * component_bytes, step, count, &component);
        for (int64_t i = 0; i < count; i++)
            out->real[i] = out->real[i] +
                           (component.real[i] * component.real[i] + component.imaginary[i] * component.imaginary[i]);
    }
    for (int64_t i = 0; i < count; i++)
        out->real[i] = cc__square_root(out->real[i]);
}

static const parts *load_term(const cc__evaluate *work, const cc__term *term, const int64_t *steps,
                              const cc__places *places, int64_t done, int64_t count, registers *values, parts *room)
{
    const int32_t n = term->number;
    switch ((cc__term_kind)term->kind) {
    case CC__TERM_NONE:
        break;
    case CC__TERM_SOURCE:
        load(&work->sources[n], places->source[n] + done * steps[1 + n], steps[1 + n], count, room);
        break;
    case CC__TERM_MAGNITUDE:
        load_magnitude(&work->sources[n], places->source[n] + done * steps[1 + n], steps[1 + n], count, room);
        break;
    case CC__TERM_VALUE:
        for (int64_t i = 0; i < count; i++)
            room->real[i] = term->value;
        memset(room->imaginary, 0, sizeof room->imaginary);
        break;
    case CC__TERM_SLOT:
        return &values->slot[n];
    }
    return room;
}

static cc__complex part_at(const parts *of, int64_t i)
{
    return cc__complex_of(of->real[i], of->imaginary[i]);
}

#define COMPLEX_STEP(NAME)                                                                                             \
    case CC_STEP_##NAME:                                                                                               \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            const cc__complex made = cc__complex_##NAME(part_at(value, i), part_at(a, i), part_at(b, i), step->reals); \
            value->real[i] = made.real;                                                                                \
            value->imaginary[i] = made.imaginary;                                                                      \
        }                                                                                                              \
        break;

/* Steps on values that are real although others of the expression are not. */
#define REAL_STEP(NAME)                                                                                                \
    case CC_STEP_##NAME:                                                                                               \
        for (int64_t i = 0; i < count; i++)                                                                            \
            value->real[i] = cc__real_##NAME(value->real[i], a->real[i], b->real[i]);                                  \
        break;

static void make_step(const cc__instruction *step, parts *value, const parts *a, const parts *b, int64_t count)
{
    switch ((cc_step_kind)step->kind) {
    case CC_STEP_LOAD:
        *value = *a;
        break;
        CC__FOR_EACH_COMPLEX_STEP(COMPLEX_STEP)
        REAL_STEP(MINIMUM)
        REAL_STEP(MAXIMUM)
        REAL_STEP(CLAMP)
        REAL_STEP(WITHIN)
        REAL_STEP(LESS)
        REAL_STEP(SQUARE_ROOT)
    }
}

static void store(const cc__evaluate *work, parts *value, unsigned char *destination, int64_t step, int64_t count)
{
    /* A complex value is 0 when both parts are. */
    if (work->destination_type == CC_PIXEL_BOOL)
        for (int64_t i = 0; i < count; i++)
            value->real[i] = value->real[i] != 0.0 || value->imaginary[i] != 0.0 ? 1.0 : 0.0;
    cc__components_store(work->destination_type, value->real, value->imaginary, destination, step, count);
}

void cc__evaluate_complex(const cc__evaluate *work, const cc__lattice *lattice, const cc__places *places, int64_t count)
{
    registers values;
    memset(&values.value, 0, sizeof values.value);
    memset(&values.a, 0, sizeof values.a);
    memset(&values.b, 0, sizeof values.b);
    for (int64_t done = 0; done < count; done += BUFFER) {
        const int64_t length = count - done < BUFFER ? count - done : BUFFER;
        for (int32_t i = 0; i < work->step_count; i++) {
            const cc__instruction *step = &work->steps[i];
            const parts *a = load_term(work, &step->a, lattice->step, places, done, length, &values, &values.a);
            const parts *b = load_term(work, &step->b, lattice->step, places, done, length, &values, &values.b);
            make_step(step, &values.value, a, b, length);
            if (step->slot >= 0)
                values.slot[step->slot] = values.value;
        }
        store(work, &values.value, places->destination + done * lattice->step[0], lattice->step[0], length);
    }
}
