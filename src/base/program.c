#include "base/program.h"

#include "kernels/evaluate_shallow_plan.h"

#include <assert.h>
#include <string.h>

/* Of all components together: longer texts take longer to compile. */
#define MOST_STEPS 128

static_assert(sizeof(cc__program) % sizeof(uint64_t) == 0, "hashed by words");

static bool has_type(cc_pixel_type type)
{
    return type != CC_PIXEL_UINT64 && type != CC_PIXEL_INT64;
}

static bool take_sources(const cc__evaluate *work, const cc__lattice *lattice, cc__program *program)
{
    if (work->source_count > CC__PROGRAM_SOURCES)
        return false;
    for (int32_t n = 0; n < work->source_count; n++) {
        const cc_pixel_type type = work->sources[n].type;
        const int64_t step = lattice->step[1 + n];
        if (!has_type(type) || (step != 0 && step != (int64_t)cc_pixel_type_size_bytes(type)))
            return false;
        program->from_type[n] = (uint8_t)type;
        program->is_single[n] = step == 0;
    }
    program->source_count = (uint8_t)work->source_count;
    return true;
}

static bool take_term(const cc__term *term, bool is_used, cc__program *program, double *values, cc__program_term *out)
{
    if (!is_used)
        return true;
    out->kind = (uint8_t)term->kind;
    switch ((cc__term_kind)term->kind) {
    case CC__TERM_SOURCE:
    case CC__TERM_SLOT:
        out->number = (uint8_t)term->number;
        return true;
    case CC__TERM_VALUE:
        out->number = program->value_count;
        values[program->value_count++] = term->value;
        return true;
    case CC__TERM_NONE:
    case CC__TERM_MAGNITUDE:
        break;
    }
    return false;
}

static bool take_steps(const cc__evaluate *work, cc__program *program, double *values)
{
    for (int32_t i = 0; i < work->step_count; i++) {
        const cc__instruction *step = &work->steps[i];
        cc__program_step *made = &program->steps[i];
        const bool is_limited =
            (step->a.kind == CC__TERM_VALUE) && (step->kind != CC_STEP_CLAMP || step->b.kind == CC__TERM_VALUE);
        if (step->kind == CC_STEP_ARGUMENT ||
            !take_term(&step->a, cc__dense_uses_a(step->kind), program, values, &made->a) ||
            !take_term(&step->b, cc__dense_uses_b(step->kind), program, values, &made->b))
            return false;
        made->kind = (uint8_t)(is_limited ? cc__dense_kind(step) : step->kind);
        made->keeps = (uint8_t)(step->slot + 1);
        made->reals = (uint8_t)(program->is_complex != 0 ? step->reals : 0);
    }
    program->step_count = (uint8_t)work->step_count;
    return true;
}

static void choose_units(cc__program *program)
{
    size_t largest = cc_pixel_type_size_bytes((cc_pixel_type)program->to_type);
    int32_t read = 0;
    for (int32_t n = 0; n < program->source_count; n++) {
        const size_t bytes = cc_pixel_type_size_bytes((cc_pixel_type)program->from_type[n]);
        if (program->is_single[n])
            continue;
        read++;
        largest = bytes > largest ? bytes : largest;
    }
    program->unit = (uint8_t)(16 / largest);
    while (program->unit > 4 && program->unit * program->step_count > MOST_STEPS)
        program->unit /= 2;
    /* Two sources keep the memory busy as they are. */
    program->units = read < 2 && 2 * program->unit * program->step_count <= MOST_STEPS ? 2 : 1;
}

bool cc__program_make(const cc__evaluate *work, const cc__lattice *lattice, cc__program *out_program,
                      cc__program_call *out_call)
{
    const void *data[1 + CC__PROGRAM_SOURCES] = {work->destination.data};
    cc_pixel_type types[1 + CC__PROGRAM_SOURCES] = {work->destination_type};
    int32_t count = 1;
    cc__units units;
    const int64_t bytes = (int64_t)cc_pixel_type_size_bytes(work->destination_type);
    if (work->numbers == CC__NUMBERS_WHOLE || lattice->axes > 0 || !has_type(work->destination_type) ||
        lattice->step[0] != bytes || cc__evaluate_is_copy(work))
        return false;
    memset(out_program, 0, sizeof *out_program);
    memset(out_call, 0, sizeof *out_call);
    out_program->to_type = (uint8_t)work->destination_type;
    out_program->is_complex = work->numbers == CC__NUMBERS_COMPLEX;
    if (!take_sources(work, lattice, out_program) || !take_steps(work, out_program, out_call->value))
        return false;
    choose_units(out_program);
    for (int32_t n = 0; n < work->source_count; n++) {
        out_call->from[n] = work->sources[n].data;
        if (out_program->is_single[n])
            continue;
        data[count] = work->sources[n].data;
        types[count++] = work->sources[n].type;
    }
    if (!cc__units_find(data, types, count, out_program->unit, lattice->length, &units))
        return false;
    out_call->units = units.count;
    out_call->head = units.head;
    out_call->tail = units.tail;
    out_call->to = work->destination.data + units.head * bytes;
    for (int32_t n = 0; n < work->source_count; n++)
        if (!out_program->is_single[n])
            out_call->from[n] += units.head * (int64_t)cc_pixel_type_size_bytes(work->sources[n].type);
    return true;
}

bool cc__program_is_same(const cc__program *a, const cc__program *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

uint64_t cc__program_hash(const cc__program *program)
{
    uint64_t words[sizeof *program / sizeof(uint64_t)];
    uint64_t hash = 0;
    memcpy(words, program, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return hash;
}

uint32_t cc__program_blocks(const cc__program *program, const cc__program_call *call)
{
    return (uint32_t)(call->units / ((int64_t)program->units * CC__PROGRAM_THREADS) + 1);
}

int64_t cc__program_bytes(const cc__program *program, const cc__program_call *call)
{
    int64_t bytes = (int64_t)cc_pixel_type_size_bytes((cc_pixel_type)program->to_type);
    for (int32_t n = 0; n < program->source_count; n++)
        if (!program->is_single[n])
            bytes += (int64_t)cc_pixel_type_size_bytes((cc_pixel_type)program->from_type[n]);
    return bytes * (call->units * program->unit + call->head + call->tail);
}
