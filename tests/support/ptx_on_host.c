#include "support/ptx_on_host.h"

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPERANDS 8
#define MOST_LABELS 64
#define KINDS "prldfh"

typedef struct operand {
    char kind; /* of KINDS; '#': a number, 'L': a label, '[': a parameter or an address, 't', 'b': thread, block */
    int32_t number;
    uint64_t bits; /* of a number; of an address what is added */
} operand;

typedef struct context context;
typedef void (*action)(context *c, const operand *x);

typedef struct instruction {
    action run;
    operand x[MOST_OPERANDS];
    int32_t guard; /* a predicate; -1: none */
    bool is_guard_negated;
} instruction;

struct ptx_kernel {
    instruction *instructions;
    int32_t count;
    int32_t registers[6];
    int32_t label[MOST_LABELS];
};

struct context {
    const ptx_kernel *kernel;
    const unsigned char *parameter;
    uint64_t *file[6];
    uint32_t thread;
    uint32_t block;
    int32_t next;
};

static uint64_t *place(context *c, const operand *x)
{
    const char *kind = strchr(KINDS, x->kind);
    ck_assert_msg(x->kind != '\0' && kind != NULL, "not a register");
    return &c->file[kind - KINDS][x->number];
}

static uint64_t get(context *c, const operand *x)
{
    if (x->kind == '#')
        return x->bits;
    if (x->kind == 't')
        return c->thread;
    if (x->kind == 'b')
        return c->block;
    return *place(c, x);
}

static uint32_t get32(context *c, const operand *x)
{
    return (uint32_t)get(c, x);
}

static double get_double(context *c, const operand *x)
{
    const uint64_t bits = get(c, x);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float get_float(context *c, const operand *x)
{
    const uint32_t bits = get32(c, x);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void set_double(context *c, const operand *x, double value)
{
    memcpy(place(c, x), &value, sizeof value);
}

static void set_float(context *c, const operand *x, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    *place(c, x) = bits;
}

#define WHOLE(NAME, TYPE, RESULT)                                                                                      \
    static void NAME(context *c, const operand *o)                                                                     \
    {                                                                                                                  \
        const TYPE x = (TYPE)get(c, &o[1]), y = (TYPE)get(c, &o[2]);                                                   \
        (void)y;                                                                                                       \
        *place(c, &o[0]) = (RESULT);                                                                                   \
    }
#define SIGNED64(NAME, OPERATOR) WHOLE(NAME, uint64_t, x OPERATOR y)
SIGNED64(add_64, +)
SIGNED64(subtract_64, -)
SIGNED64(or_64, |)
SIGNED64(and_64, &)
WHOLE(add_32, uint32_t, (uint32_t)(x + y))
WHOLE(subtract_32, uint32_t, (uint32_t)(x - y))
WHOLE(minimum_32, uint32_t, x < y ? x : y)
WHOLE(maximum_32, uint32_t, x > y ? x : y)
WHOLE(minimum_signed_32, int32_t, (uint32_t)(x < y ? x : y))
WHOLE(maximum_signed_32, int32_t, (uint32_t)(x > y ? x : y))
WHOLE(shift_left_32, uint32_t, (uint32_t)(y < 32 ? x << y : 0))
WHOLE(equal_32, uint32_t, x == y)
WHOLE(shift_right_32, uint32_t, y < 32 ? x >> y : 0)
WHOLE(and_32, uint32_t, x &y)
WHOLE(or_32, uint32_t, x | y)
WHOLE(xor_32, uint32_t, x ^ y)
WHOLE(multiply_wide_32, uint32_t, (uint64_t)x *y)
WHOLE(less_64, int64_t, x < y)
WHOLE(greater_64, int64_t, x > y)
WHOLE(not_equal_32, uint32_t, x != y)
WHOLE(at_least_32, uint32_t, x >= y)
WHOLE(less_32, uint32_t, x < y)

static void multiply_add_64(context *c, const operand *o)
{
    *place(c, &o[0]) = get(c, &o[1]) * get(c, &o[2]) + get(c, &o[3]);
}

#define REAL(NAME, RESULT)                                                                                             \
    static void NAME(context *c, const operand *o)                                                                     \
    {                                                                                                                  \
        const double x = get_double(c, &o[1]), y = o[2].kind != '\0' ? get_double(c, &o[2]) : 0.0;                     \
        (void)y;                                                                                                       \
        set_double(c, &o[0], (RESULT));                                                                                \
    }
#define TEST(NAME, RESULT)                                                                                             \
    static void NAME(context *c, const operand *o)                                                                     \
    {                                                                                                                  \
        const double x = get_double(c, &o[1]), y = get_double(c, &o[2]);                                               \
        *place(c, &o[0]) = (RESULT);                                                                                   \
    }
REAL(add, x + y)
REAL(subtract, x - y)
REAL(multiply, x *y)
REAL(divide, x / y)
REAL(square_root, sqrt(x))
REAL(negate, -x)
REAL(absolute, fabs(x))
TEST(equal, x == y)
TEST(less, x < y)
TEST(greater, x > y)
TEST(at_most, x <= y)
TEST(not_equal, !(x == y))

static void at_most_and(context *c, const operand *o)
{
    *place(c, &o[0]) = get_double(c, &o[1]) <= get_double(c, &o[2]) && get(c, &o[3]) != 0;
}

static void equal_float(context *c, const operand *o)
{
    *place(c, &o[0]) = get_float(c, &o[1]) == get_float(c, &o[2]);
}

static void choose(context *c, const operand *o)
{
    *place(c, &o[0]) = get(c, get(c, &o[3]) != 0 ? &o[1] : &o[2]);
}

static void choose_32(context *c, const operand *o)
{
    *place(c, &o[0]) = get32(c, get(c, &o[3]) != 0 ? &o[1] : &o[2]);
}

/* Bytes of two words side by side, each named by a digit; 8 more: only its sign. */
static void permute(context *c, const operand *o)
{
    const uint64_t bytes = get32(c, &o[1]) | (uint64_t)get32(c, &o[2]) << 32;
    const uint32_t selector = get32(c, &o[3]);
    uint32_t made = 0;
    for (int32_t i = 0; i < 4; i++) {
        const uint32_t digit = selector >> (4 * i) & 15;
        uint32_t byte = (uint32_t)(bytes >> (8 * (digit & 7))) & 0xff;
        if ((digit & 8) != 0)
            byte = (byte & 0x80) != 0 ? 0xff : 0;
        made |= byte << (8 * i);
    }
    *place(c, &o[0]) = made;
}

static void move(context *c, const operand *o)
{
    *place(c, &o[0]) = get(c, &o[1]);
}

static void move_32(context *c, const operand *o)
{
    *place(c, &o[0]) = get32(c, &o[1]);
}

static void join(context *c, const operand *o)
{
    *place(c, &o[0]) = get32(c, &o[1]) | (uint64_t)get32(c, &o[2]) << 32;
}

static void split(context *c, const operand *o)
{
    const uint64_t bits = get(c, &o[2]);
    *place(c, &o[0]) = (uint32_t)bits;
    *place(c, &o[1]) = bits >> 32;
}

static void widen_32(context *c, const operand *o)
{
    *place(c, &o[0]) = get32(c, &o[1]);
}

static void widen_signed_32(context *c, const operand *o)
{
    *place(c, &o[0]) = (uint64_t)(int64_t)(int32_t)get32(c, &o[1]);
}

static void narrow_16(context *c, const operand *o)
{
    *place(c, &o[0]) = (uint16_t)get(c, &o[1]);
}

static void float64_of_float32(context *c, const operand *o)
{
    set_double(c, &o[0], (double)get_float(c, &o[1]));
}

static void float32_of_float64(context *c, const operand *o)
{
    set_float(c, &o[0], (float)get_double(c, &o[1]));
}

static void float32_of_float16(context *c, const operand *o)
{
    const uint32_t bits = get32(c, &o[1]);
    const int exponent = (int)(bits >> 10 & 31);
    const float fraction = (float)(bits & 0x3ff);
    float value = exponent == 0 ? ldexpf(fraction, -24) : ldexpf(1024.0F + fraction, exponent - 25);
    if (exponent == 31)
        value = fraction == 0.0F ? INFINITY : NAN;
    set_float(c, &o[0], (bits & 0x8000) != 0 ? -value : value);
}

static void branch(context *c, const operand *o)
{
    c->next = c->kernel->label[o[0].number];
    ck_assert_int_ge(c->next, 0);
}

static void stop(context *c, const operand *o)
{
    (void)o;
    c->next = c->kernel->count;
}

/* `count` elements into registers or out of them; all of an access is aligned. */
static unsigned char *address(context *c, const operand *x, uint64_t bytes)
{
    const uint64_t at = get(c, &(operand){.kind = 'l', .number = x->number}) + x->bits;
    unsigned char *memory;
    ck_assert_msg(x->kind == '[' && at % bytes == 0, "misaligned access");
    memcpy(&memory, &at, sizeof memory);
    return memory;
}

#define ACCESS(BYTES, COUNT)                                                                                           \
    static void load_##BYTES##_##COUNT(context *c, const operand *o)                                                   \
    {                                                                                                                  \
        const unsigned char *from = address(c, &o[COUNT], BYTES * COUNT);                                              \
        for (int32_t i = 0; i < COUNT; i++) {                                                                          \
            uint64_t *to = place(c, &o[i]);                                                                            \
            *to = 0;                                                                                                   \
            memcpy(to, from + i * BYTES, BYTES);                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    static void store_##BYTES##_##COUNT(context *c, const operand *o)                                                  \
    {                                                                                                                  \
        unsigned char *to = address(c, &o[0], BYTES * COUNT);                                                          \
        for (int32_t i = 0; i < COUNT; i++) {                                                                          \
            const uint64_t bits = get(c, &o[1 + i]);                                                                   \
            memcpy(to + i * BYTES, &bits, BYTES);                                                                      \
        }                                                                                                              \
    }
ACCESS(1, 1)
ACCESS(2, 1)
ACCESS(4, 1)
ACCESS(4, 2)
ACCESS(4, 4)
ACCESS(8, 1)
ACCESS(8, 2)

static void load_parameter_64(context *c, const operand *o)
{
    memcpy(place(c, &o[0]), c->parameter + o[1].bits, 8);
}

static void load_parameter_32(context *c, const operand *o)
{
    uint32_t bits;
    memcpy(&bits, c->parameter + o[1].bits, sizeof bits);
    *place(c, &o[0]) = bits;
}

static const struct {
    const char *name;
    int32_t operands;
    action run;
} actions[] = {
    {"add.s64", 3, add_64},
    {"sub.s64", 3, subtract_64},
    {"or.b64", 3, or_64},
    {"and.b64", 3, and_64},
    {"mad.lo.s64", 4, multiply_add_64},
    {"add.u32", 3, add_32},
    {"sub.u32", 3, subtract_32},
    {"min.u32", 3, minimum_32},
    {"max.u32", 3, maximum_32},
    {"min.s32", 3, minimum_signed_32},
    {"max.s32", 3, maximum_signed_32},
    {"shl.b32", 3, shift_left_32},
    {"setp.eq.u32", 3, equal_32},
    {"shr.u32", 3, shift_right_32},
    {"and.b32", 3, and_32},
    {"or.b32", 3, or_32},
    {"xor.b32", 3, xor_32},
    {"mul.wide.u32", 3, multiply_wide_32},
    {"setp.lt.s64", 3, less_64},
    {"setp.gt.s64", 3, greater_64},
    {"setp.ne.u32", 3, not_equal_32},
    {"setp.ge.u32", 3, at_least_32},
    {"setp.lt.u32", 3, less_32},
    {"add.rn.f64", 3, add},
    {"sub.rn.f64", 3, subtract},
    {"mul.rn.f64", 3, multiply},
    {"div.rn.f64", 3, divide},
    {"sqrt.rn.f64", 2, square_root},
    {"neg.f64", 2, negate},
    {"abs.f64", 2, absolute},
    {"setp.eq.f64", 3, equal},
    {"setp.lt.f64", 3, less},
    {"setp.gt.f64", 3, greater},
    {"setp.le.f64", 3, at_most},
    {"setp.neu.f64", 3, not_equal},
    {"setp.le.and.f64", 4, at_most_and},
    {"setp.eq.f32", 3, equal_float},
    {"selp.f64", 4, choose},
    {"selp.b64", 4, choose},
    {"selp.b32", 4, choose_32},
    {"selp.u32", 4, choose_32},
    {"prmt.b32", 4, permute},
    {"mov.u32", 2, move_32},
    {"mov.b32", 2, move_32},
    {"mov.f64", 2, move},
    {"mov.b64", 2, move},
    {"cvt.u64.u32", 2, widen_32},
    {"cvt.s64.s32", 2, widen_signed_32},
    {"cvt.u16.u32", 2, narrow_16},
    {"cvt.f64.f32", 2, float64_of_float32},
    {"cvt.rn.f32.f64", 2, float32_of_float64},
    {"cvt.f32.f16", 2, float32_of_float16},
    {"bra", 1, branch},
    {"ret", 0, stop},
    {"ld.param.u64", 2, load_parameter_64},
    {"ld.param.f64", 2, load_parameter_64},
    {"ld.param.u32", 2, load_parameter_32},
    {"ld.global.u8", 2, load_1_1},
    {"ld.global.u16", 2, load_2_1},
    {"ld.global.u32", 2, load_4_1},
    {"ld.global.v2.u32", 3, load_4_2},
    {"ld.global.v4.u32", 5, load_4_4},
    {"ld.global.f64", 2, load_8_1},
    {"ld.global.v2.f64", 3, load_8_2},
    {"st.global.u8", 2, store_1_1},
    {"st.global.u16", 2, store_2_1},
    {"st.global.u32", 2, store_4_1},
    {"st.global.v2.u32", 3, store_4_2},
    {"st.global.v4.u32", 5, store_4_4},
    {"st.global.f64", 2, store_8_1},
    {"st.global.v2.f64", 3, store_8_2},
};

static const char *skip(const char *at, const char *what)
{
    return at + strspn(at, what);
}

static const char *parse_operand(const char *at, operand *out)
{
    char *end = NULL;
    if (strncmp(at, "%tid.x", 6) == 0 || strncmp(at, "%ctaid.x", 8) == 0) {
        out->kind = at[1] == 't' ? 't' : 'b';
        return at + strcspn(at, ",; ");
    }
    out->kind = *at;
    if (*at == '%' || *at == 'L') {
        at += *at == '%';
        out->kind = *at;
        out->number = (int32_t)strtol(at + 1, &end, 10);
    } else if (strncmp(at, "[call+", 6) == 0) {
        out->bits = strtoull(at + 6, &end, 10);
        end++;
    } else if (strncmp(at, "[%l", 3) == 0) {
        out->number = (int32_t)strtol(at + 3, &end, 10);
        out->bits = strtoull(end + 1, &end, 10);
        end++;
    } else {
        out->kind = '#';
        out->bits = strncmp(at, "0d", 2) == 0 ? strtoull(at + 2, &end, 16) : strtoull(at, &end, 0);
    }
    ck_assert_msg(end != NULL && end > at, "%.20s", at);
    return end;
}

static void parse_instruction(const char *at, instruction *out)
{
    int32_t count = 0;
    char name[32] = "";
    out->guard = -1;
    if (*at == '@') {
        out->is_guard_negated = at[1] == '!';
        out->guard = (int32_t)strtol(at + 3 + out->is_guard_negated, (char **)&at, 10);
        at = skip(at, " ");
    }
    const size_t length = strcspn(at, " ;");
    ck_assert_uint_lt(length, sizeof name);
    memcpy(name, at, length);
    const char *operands = skip(at + length, " ");
    const bool is_list = *operands == '{';
    for (at = skip(operands, "{"); *at != ';'; at = skip(at, "{}, "))
        at = parse_operand(at, &out->x[count++]);
    if (strcmp(name, "mov.b64") == 0 && count == 3) {
        out->run = is_list ? split : join;
        return;
    }
    for (size_t n = 0; n < sizeof actions / sizeof actions[0]; n++) {
        if (strcmp(actions[n].name, name) == 0 && actions[n].operands == count) {
            out->run = actions[n].run;
            return;
        }
    }
    ck_abort_msg("%s with %d operands", name, count);
}

ptx_kernel *ptx_parse(const char *text)
{
    ptx_kernel *kernel = calloc(1, sizeof *kernel);
    int32_t lines = 0;
    for (const char *at = text; *at != '\0'; at++)
        lines += *at == '\n';
    kernel->instructions = calloc((size_t)lines + 1, sizeof *kernel->instructions);
    for (int32_t n = 0; n < MOST_LABELS; n++)
        kernel->label[n] = -1;
    ck_assert_msg(strncmp(text, ".version ", 9) == 0, "no version");
    for (const char *at = text; *at != '\0'; at = skip(at + strcspn(at, "\n"), "\n")) {
        if (strncmp(at, ".reg ", 5) == 0) {
            const char *name = strchr(at, '%') + 1;
            kernel->registers[strchr(KINDS, *name) - KINDS] = (int32_t)strtol(name + 2, NULL, 10);
        } else if (*at == 'L') {
            const int32_t number = (int32_t)strtol(at + 1, NULL, 10);
            ck_assert_int_lt(number, MOST_LABELS);
            kernel->label[number] = kernel->count;
        } else if (*at != '.' && *at != '{' && *at != '}') {
            parse_instruction(at, &kernel->instructions[kernel->count++]);
        }
    }
    return kernel;
}

void ptx_free(ptx_kernel *kernel)
{
    free(kernel->instructions);
    free(kernel);
}

static void run_thread(context *c)
{
    const ptx_kernel *kernel = c->kernel;
    c->next = 0;
    while (c->next < kernel->count) {
        const instruction *now = &kernel->instructions[c->next++];
        if (now->guard < 0 || (c->file[0][now->guard] != 0) != now->is_guard_negated)
            now->run(c, now->x);
    }
}

void ptx_run(const ptx_kernel *kernel, uint32_t blocks, uint32_t block_threads, const void *parameter)
{
    context c = {.kernel = kernel, .parameter = parameter};
    for (int32_t n = 0; n < 6; n++)
        c.file[n] = calloc((size_t)kernel->registers[n] + 1, sizeof(uint64_t));
    for (c.block = 0; c.block < blocks; c.block++)
        for (c.thread = 0; c.thread < block_threads; c.thread++)
            run_thread(&c);
    for (int32_t n = 0; n < 6; n++)
        free(c.file[n]);
}
