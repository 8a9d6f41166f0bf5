#include "base/program_text.h"

#include "base/allocate.h"
#include "base/ptx_step.h"

#include <stddef.h>

#define OFFSET(member) ((int32_t)offsetof(cc__program_call, member))

/* Registers that hold what all components have in common. */
typedef struct kernel {
    cc__ptx *ptx;
    const cc__program *program;
    int32_t thread;
    int32_t block;
    int32_t units;
    int32_t to;
    int32_t from[CC__PROGRAM_SOURCES];
    cc__ptx_number single[CC__PROGRAM_SOURCES];
    int32_t value[CC__PROGRAM_VALUES];
    int32_t zero; /* the imaginary part of real numbers; -1 where there are no others */
} kernel;

/* Those of one component. */
typedef struct component {
    int32_t number; /* in each pack */
    cc__ptx_number value;
    cc__ptx_number slot[CC_MAX_STEPS];
    cc__ptx_number source[CC__PROGRAM_SOURCES]; /* -1: not converted yet */
} component;

static int32_t parameter_64(const kernel *k, int32_t offset)
{
    const int32_t l = cc__ptx_register(k->ptx, CC__PTX_64);
    cc__ptx_put(k->ptx, "ld.param.u64 %%l%d, [call+%d];\n", l, offset);
    return l;
}

static int32_t parameter_32(const kernel *k, int32_t offset)
{
    const int32_t r = cc__ptx_register(k->ptx, CC__PTX_32);
    cc__ptx_put(k->ptx, "ld.param.u32 %%r%d, [call+%d];\n", r, offset);
    return r;
}

static int32_t special(const kernel *k, const char *name)
{
    const int32_t r = cc__ptx_register(k->ptx, CC__PTX_32);
    cc__ptx_put(k->ptx, "mov.u32 %%r%d, %s;\n", r, name);
    return r;
}

/* What a component consists of. */
static cc_pixel_type part_type(cc_pixel_type type)
{
    return type == CC_PIXEL_COMPLEX64 ? CC_PIXEL_FLOAT32 : type == CC_PIXEL_COMPLEX128 ? CC_PIXEL_FLOAT64 : type;
}

static int32_t parts_of(cc_pixel_type type)
{
    return type == CC_PIXEL_COMPLEX64 || type == CC_PIXEL_COMPLEX128 ? 2 : 1;
}

static cc__ptx_pack load_components(const kernel *k, cc_pixel_type type, int32_t count, int32_t address, int64_t offset,
                                    int32_t predicate)
{
    return cc__ptx_load(k->ptx, part_type(type), count * parts_of(type), address, offset, predicate);
}

static cc__ptx_number component_of(const kernel *k, cc_pixel_type type, const cc__ptx_pack *pack, int32_t n)
{
    cc__ptx_number number = {.imaginary = k->zero};
    number.real = cc__ptx_component(k->ptx, pack, n * parts_of(type));
    if (parts_of(type) == 2)
        number.imaginary = cc__ptx_component(k->ptx, pack, 2 * n + 1);
    return number;
}

static void begin(kernel *k)
{
    const cc__program *program = k->program;
    k->thread = special(k, "%tid.x");
    k->block = special(k, "%ctaid.x");
    k->units = parameter_64(k, OFFSET(units));
    k->to = parameter_64(k, OFFSET(to));
    k->zero = program->is_complex != 0 ? cc__ptx_constant(k->ptx, 0.0) : -1;
    for (int32_t n = 0; n < program->source_count; n++) {
        k->from[n] = parameter_64(k, OFFSET(from) + 8 * n);
        if (program->is_single[n] != 0) {
            const cc_pixel_type type = (cc_pixel_type)program->from_type[n];
            const cc__ptx_pack one = load_components(k, type, 1, k->from[n], 0, -1);
            k->single[n] = component_of(k, type, &one, 0);
        }
    }
    for (int32_t n = 0; n < program->value_count; n++) {
        k->value[n] = cc__ptx_register(k->ptx, CC__PTX_FLOAT64);
        cc__ptx_put(k->ptx, "ld.param.f64 %%d%d, [call+%d];\n", k->value[n], OFFSET(value) + 8 * n);
    }
}

/* Where the element is that has the number in a 64-bit register. */
static int32_t address_of(const kernel *k, int32_t base, int32_t number, int64_t bytes)
{
    const int32_t l = cc__ptx_register(k->ptx, CC__PTX_64);
    cc__ptx_put(k->ptx, "mad.lo.s64 %%l%d, %%l%d, %lld, %%l%d;\n", l, number, (long long)bytes, base);
    return l;
}

static cc__ptx_number term(const kernel *k, const cc__program_term *taken, const cc__ptx_pack *packs, component *c)
{
    const int32_t n = taken->number;
    switch ((cc__term_kind)taken->kind) {
    case CC__TERM_SOURCE:
        if (k->program->is_single[n] != 0)
            return k->single[n];
        if (c->source[n].real < 0)
            c->source[n] = component_of(k, (cc_pixel_type)k->program->from_type[n], &packs[n], c->number);
        return c->source[n];
    case CC__TERM_VALUE:
        return (cc__ptx_number){k->value[n], k->zero};
    case CC__TERM_SLOT:
        return c->slot[n];
    case CC__TERM_NONE:
    case CC__TERM_MAGNITUDE:
        break;
    }
    return c->value;
}

static cc__ptx_number make_component(const kernel *k, const cc__ptx_pack *packs, int32_t n)
{
    component c = {.number = n, .value = {-1, -1}};
    for (int32_t i = 0; i < CC__PROGRAM_SOURCES; i++)
        c.source[i].real = -1;
    for (int32_t i = 0; i < k->program->step_count; i++) {
        const cc__program_step *step = &k->program->steps[i];
        const cc__ptx_number a = term(k, &step->a, packs, &c);
        const cc__ptx_number b = term(k, &step->b, packs, &c);
        if (k->program->is_complex != 0)
            c.value = cc__ptx_complex_step(k->ptx, step->kind, c.value, a, b, step->reals);
        else
            c.value.real = cc__ptx_real_step(k->ptx, step->kind, c.value.real, a.real, b.real);
        if (step->keeps != 0)
            c.slot[step->keeps - 1] = c.value;
    }
    return c.value;
}

static void make_pack(const kernel *k, const cc__ptx_pack *packs, int32_t count, int32_t to, int64_t offset)
{
    const cc_pixel_type type = (cc_pixel_type)k->program->to_type;
    int32_t values[16];
    for (int32_t i = 0; i < count; i++) {
        const cc__ptx_number made = make_component(k, packs, i);
        values[(size_t)i * (size_t)parts_of(type)] = made.real;
        if (parts_of(type) == 2)
            values[2 * (size_t)i + 1] = made.imaginary;
        else if (type == CC_PIXEL_BOOL && k->program->is_complex != 0)
            values[i] = cc__ptx_is_other_than_zero(k->ptx, made);
    }
    const cc__ptx_pack pack = cc__ptx_pack_of(k->ptx, part_type(type), count * parts_of(type), values);
    cc__ptx_store(k->ptx, &pack, to, offset);
}

/* Loads what the packs of all sources hold that the address registers say. */
static void load_packs(const kernel *k, const int32_t *from, int32_t count, int32_t place, int32_t predicate,
                       cc__ptx_pack *out_packs)
{
    for (int32_t n = 0; n < k->program->source_count; n++) {
        const cc_pixel_type type = (cc_pixel_type)k->program->from_type[n];
        const int64_t bytes = count * (int64_t)cc_pixel_type_size_bytes(type);
        if (k->program->is_single[n] == 0)
            out_packs[n] = load_components(k, type, count, from[n], place * bytes, predicate);
    }
}

/* The addresses of the pack of each image that has the number in a 64-bit register. */
static void find_packs(const kernel *k, int32_t number, int32_t count, int32_t *out_to, int32_t *out_from)
{
    const cc__program *program = k->program;
    *out_to = address_of(k, k->to, number, count * (int64_t)cc_pixel_type_size_bytes((cc_pixel_type)program->to_type));
    for (int32_t n = 0; n < program->source_count; n++) {
        const int64_t bytes = count * (int64_t)cc_pixel_type_size_bytes((cc_pixel_type)program->from_type[n]);
        if (program->is_single[n] == 0)
            out_from[n] = address_of(k, k->from[n], number, bytes);
    }
}

/* All loads come before the first step, so that enough is under way. */
static void make_units(const kernel *k)
{
    cc__ptx *ptx = k->ptx;
    const int32_t count = k->program->unit;
    const int64_t to_bytes = count * (int64_t)cc_pixel_type_size_bytes((cc_pixel_type)k->program->to_type);
    const int32_t first = cc__ptx_register(ptx, CC__PTX_64);
    const int32_t thread = cc__ptx_register(ptx, CC__PTX_64);
    const int32_t number = cc__ptx_register(ptx, CC__PTX_64);
    const int32_t left = cc__ptx_register(ptx, CC__PTX_64);
    int32_t exists[CC__PROGRAM_UNITS] = {0};
    int32_t from[CC__PROGRAM_SOURCES] = {0};
    int32_t to = 0;
    cc__ptx_pack packs[CC__PROGRAM_UNITS][CC__PROGRAM_SOURCES];
    cc__ptx_put(ptx, "mul.wide.u32 %%l%d, %%r%d, %d;\n", first, k->block, k->program->units * CC__PROGRAM_THREADS);
    cc__ptx_put(ptx, "cvt.u64.u32 %%l%d, %%r%d;\n", thread, k->thread);
    cc__ptx_put(ptx, "add.s64 %%l%d, %%l%d, %%l%d;\n", number, first, thread);
    cc__ptx_put(ptx, "sub.s64 %%l%d, %%l%d, %%l%d;\n", left, k->units, number);
    find_packs(k, number, count, &to, from);
    for (int32_t i = 0; i < k->program->units; i++) {
        exists[i] = cc__ptx_register(ptx, CC__PTX_PREDICATE);
        cc__ptx_put(ptx, "setp.gt.s64 %%p%d, %%l%d, %d;\n", exists[i], left, i * CC__PROGRAM_THREADS);
        load_packs(k, from, count, i * CC__PROGRAM_THREADS, exists[i], packs[i]);
    }
    for (int32_t i = 0; i < k->program->units; i++) {
        const int32_t behind = ptx->labels++;
        cc__ptx_put(ptx, "@!%%p%d bra L%d;\n", exists[i], behind);
        make_pack(k, packs[i], count, to, (int64_t)i * CC__PROGRAM_THREADS * to_bytes);
        cc__ptx_put(ptx, "L%d:\n", behind);
    }
}

/* The components before the first unit and after the last, which the threads of the first block take. */
static void make_rest(const kernel *k)
{
    cc__ptx *ptx = k->ptx;
    const int32_t head = parameter_32(k, OFFSET(head));
    const int32_t tail = parameter_32(k, OFFSET(tail));
    const int32_t count = cc__ptx_register(ptx, CC__PTX_32);
    const int32_t from_head = cc__ptx_register(ptx, CC__PTX_32);
    const int32_t before = cc__ptx_register(ptx, CC__PTX_64);
    const int32_t after = cc__ptx_register(ptx, CC__PTX_64);
    const int32_t number = cc__ptx_register(ptx, CC__PTX_64);
    const int32_t is_other = cc__ptx_register(ptx, CC__PTX_PREDICATE);
    const int32_t is_none = cc__ptx_register(ptx, CC__PTX_PREDICATE);
    const int32_t is_before = cc__ptx_register(ptx, CC__PTX_PREDICATE);
    int32_t from[CC__PROGRAM_SOURCES] = {0};
    int32_t to = 0;
    cc__ptx_pack packs[CC__PROGRAM_SOURCES];
    cc__ptx_put(ptx, "setp.ne.u32 %%p%d, %%r%d, 0;\n", is_other, k->block);
    cc__ptx_put(ptx, "@%%p%d ret;\n", is_other);
    cc__ptx_put(ptx, "add.u32 %%r%d, %%r%d, %%r%d;\n", count, head, tail);
    cc__ptx_put(ptx, "setp.ge.u32 %%p%d, %%r%d, %%r%d;\n", is_none, k->thread, count);
    cc__ptx_put(ptx, "@%%p%d ret;\n", is_none);
    cc__ptx_put(ptx, "sub.u32 %%r%d, %%r%d, %%r%d;\n", from_head, k->thread, head);
    cc__ptx_put(ptx, "cvt.s64.s32 %%l%d, %%r%d;\n", before, from_head);
    cc__ptx_put(ptx, "mad.lo.s64 %%l%d, %%l%d, %d, %%l%d;\n", after, k->units, k->program->unit, before);
    cc__ptx_put(ptx, "setp.lt.u32 %%p%d, %%r%d, %%r%d;\n", is_before, k->thread, head);
    cc__ptx_put(ptx, "selp.b64 %%l%d, %%l%d, %%l%d, %%p%d;\n", number, before, after, is_before);
    find_packs(k, number, 1, &to, from);
    load_packs(k, from, 1, 0, -1, packs);
    make_pack(k, packs, 1, to, 0);
}

static void make_body(cc__ptx *ptx, const cc__program *program)
{
    kernel k = {.ptx = ptx, .program = program};
    begin(&k);
    make_units(&k);
    make_rest(&k);
    cc__ptx_put(ptx, "ret;\n}\n");
}

/* What every device and every toolkit from CUDA 9 on knows. */
static void make_text(cc__ptx *ptx, const cc__program *program, const int32_t registers[CC__PTX_KINDS])
{
    static const char *const kinds[CC__PTX_KINDS] = {".pred %p", ".b32 %r", ".b64 %l", ".f64 %d", ".f32 %f", ".b16 %h"};
    cc__ptx_put(ptx, ".version 6.0\n.target sm_50\n.address_size 64\n");
    cc__ptx_put(ptx, ".visible .entry " CC__PROGRAM_ENTRY "(.param .align 8 .b8 call[%d])\n",
                (int32_t)sizeof(cc__program_call));
    cc__ptx_put(ptx, ".maxntid %d, 1, 1\n{\n", CC__PROGRAM_THREADS);
    for (int32_t i = 0; i < CC__PTX_KINDS; i++)
        cc__ptx_put(ptx, ".reg %s<%d>;\n", kinds[i], registers[i] + 1);
    make_body(ptx, program);
}

char *cc__program_text(const cc__program *program)
{
    cc__ptx counted = {0};
    cc__ptx measured = {0};
    make_body(&counted, program);
    make_text(&measured, program, counted.registers);
    cc__ptx ptx = {.capacity = measured.length + 1};
    ptx.text = cc__allocate(ptx.capacity);
    if (ptx.text != NULL)
        make_text(&ptx, program, counted.registers);
    return ptx.text;
}
