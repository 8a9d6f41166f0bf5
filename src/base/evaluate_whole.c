/* Expressions in whole numbers, for what float64 cannot hold, and copies of what no arithmetic may touch. */
#include "base/evaluate.h"
#include "kernels/step_math.h"

#include <string.h>

#define BUFFER 128

typedef struct registers {
    cc__whole value[BUFFER];
    cc__whole a[BUFFER];
    cc__whole b[BUFFER];
    cc__whole slot[CC_MAX_STEPS][BUFFER];
} registers;

#define LOAD(NAME, HOLDER, LEAST, GREATEST)                                                                            \
    case CC_PIXEL_##NAME:                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            HOLDER held;                                                                                               \
            memcpy(&held, at + i * step, sizeof held);                                                                 \
            out[i] = +held;                                                                                            \
        }                                                                                                              \
        break;

static void load(cc_pixel_type type, const unsigned char *at, int64_t step, int64_t count, cc__whole *out)
{
    switch ((int32_t)type) {
        CC__FOR_EACH_WHOLE_TYPE(LOAD)
    case CC_PIXEL_BOOL:
        for (int64_t i = 0; i < count; i++)
            out[i] = at[i * step] != 0;
        break;
    }
}

#define STORE(NAME, HOLDER, LEAST, GREATEST)                                                                           \
    case CC_PIXEL_##NAME:                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            const HOLDER held = cc__store_whole_##NAME(values[i]);                                                     \
            memcpy(at + i * step, &held, sizeof held);                                                                 \
        }                                                                                                              \
        break;

static void store(cc_pixel_type type, const cc__whole *values, unsigned char *at, int64_t step, int64_t count)
{
    switch ((int32_t)type) {
        CC__FOR_EACH_WHOLE_TYPE(STORE)
    case CC_PIXEL_BOOL:
        for (int64_t i = 0; i < count; i++)
            at[i * step] = values[i] != 0;
        break;
    }
}

static const cc__whole *load_term(const cc__evaluate *work, const cc__term *term, const int64_t *steps,
                                  const cc__places *places, int64_t done, int64_t count, registers *values,
                                  cc__whole *room)
{
    const int32_t n = term->number;
    switch ((cc__term_kind)term->kind) {
    case CC__TERM_NONE:
    case CC__TERM_MAGNITUDE:
        break;
    case CC__TERM_SOURCE:
        load(work->sources[n].type, places->source[n] + done * steps[1 + n], steps[1 + n], count, room);
        break;
    case CC__TERM_VALUE:
        for (int64_t i = 0; i < count; i++)
            room[i] = cc__whole_of_float64(term->value);
        break;
    case CC__TERM_SLOT:
        return values->slot[n];
    }
    return room;
}

#define WHOLE_STEP(NAME)                                                                                               \
    case CC_STEP_##NAME:                                                                                               \
        for (int64_t i = 0; i < count; i++)                                                                            \
            value[i] = cc__whole_##NAME(value[i], a[i], b[i]);                                                         \
        break;

static void make_step(cc_step_kind kind, cc__whole *value, const cc__whole *a, const cc__whole *b, int64_t count)
{
    switch (kind) {
    case CC_STEP_LOAD:
        memcpy(value, a, (size_t)count * sizeof *value);
        break;
        CC__FOR_EACH_WHOLE_STEP(WHOLE_STEP)
    case CC_STEP_REAL:
    case CC_STEP_CONJUGATE:
    case CC_STEP_SQUARE_ROOT:
    case CC_STEP_ARGUMENT:
        break;
    }
}

void cc__evaluate_whole(const cc__evaluate *work, const cc__lattice *lattice, const cc__places *places, int64_t count)
{
    registers values;
    memset(values.value, 0, sizeof values.value);
    memset(values.a, 0, sizeof values.a);
    memset(values.b, 0, sizeof values.b);
    for (int64_t done = 0; done < count; done += BUFFER) {
        const int64_t length = count - done < BUFFER ? count - done : BUFFER;
        for (int32_t i = 0; i < work->step_count; i++) {
            const cc__instruction *step = &work->steps[i];
            const cc__whole *a = load_term(work, &step->a, lattice->step, places, done, length, &values, values.a);
            const cc__whole *b = load_term(work, &step->b, lattice->step, places, done, length, &values, values.b);
            make_step((cc_step_kind)step->kind, values.value, a, b, length);
            if (step->slot >= 0)
                memcpy(values.slot[step->slot], values.value, (size_t)length * sizeof values.value[0]);
        }
        store(work->destination_type, values.value, places->destination + done * lattice->step[0], lattice->step[0],
              length);
    }
}

bool cc__evaluate_is_copy(const cc__evaluate *work)
{
    return work->step_count == 1 && work->steps[0].a.kind == CC__TERM_SOURCE &&
           work->sources[work->steps[0].a.number].type == work->destination_type;
}

static inline void copy_each(unsigned char *to, int64_t to_step, const unsigned char *from, int64_t from_step,
                             int64_t count, size_t bytes)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(to + i * to_step, from + i * from_step, bytes);
}

void cc__evaluate_copy(const cc__evaluate *work, const cc__lattice *lattice, const cc__places *places, int64_t count)
{
    const size_t bytes = cc_pixel_type_size_bytes(work->destination_type);
    const int32_t n = work->steps[0].a.number;
    const int64_t to_step = lattice->step[0], from_step = lattice->step[1 + n];
    unsigned char *to = places->destination;
    const unsigned char *from = places->source[n];
    if (to == from)
        return;
    if (to_step == (int64_t)bytes && from_step == (int64_t)bytes) {
        memcpy(to, from, (size_t)count * bytes);
        return;
    }
    switch (bytes) {
    case 1:
        copy_each(to, to_step, from, from_step, count, 1);
        break;
    case 2:
        copy_each(to, to_step, from, from_step, count, 2);
        break;
    case 4:
        copy_each(to, to_step, from, from_step, count, 4);
        break;
    case 8:
        copy_each(to, to_step, from, from_step, count, 8);
        break;
    default:
        copy_each(to, to_step, from, from_step, count, 16);
        break;
    }
}
