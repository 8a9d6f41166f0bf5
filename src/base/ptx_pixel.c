/* Pixel types in PTX: kernels/pixel_math.h, operation by operation. */
#include "base/ptx.h"

#include <stdbool.h>

/* Part of a word, which prmt takes out: four bytes, each named by a digit; 4: a zero, 8 more: the sign of that byte. */
static int32_t take_bytes(cc__ptx *ptx, int32_t word, int32_t selector)
{
    const int32_t r = cc__ptx_register(ptx, CC__PTX_32);
    cc__ptx_put(ptx, "prmt.b32 %%r%d, %%r%d, 0, 0x%x;\n", r, word, (unsigned)selector);
    return r;
}

static int32_t unsigned_part(cc__ptx *ptx, const cc__ptx_pack *pack, int32_t n, int32_t bytes)
{
    const int32_t at = n * bytes % 4;
    const int32_t word = pack->word[n * bytes / 4];
    if (bytes == 4)
        return word;
    return take_bytes(ptx, word, bytes == 1 ? 0x4440 | at : 0x4400 | (at + 1) << 4 | at);
}

static int32_t signed_part(cc__ptx *ptx, const cc__ptx_pack *pack, int32_t n, int32_t bytes)
{
    const int32_t at = n * bytes % 4;
    const int32_t word = pack->word[n * bytes / 4];
    const int32_t sign = 8 | (at + bytes - 1);
    if (bytes == 4)
        return word;
    return take_bytes(ptx, word, sign << 12 | sign << 8 | (bytes == 1 ? sign << 4 : (at + 1) << 4) | at);
}

/* A float64 whose upper half is given, less a number: cc__float64_of_uint32() and cc__float64_of_int32(). */
static int32_t less_bias(cc__ptx *ptx, int32_t lower, double bias)
{
    const int32_t joined = cc__ptx_register(ptx, CC__PTX_FLOAT64);
    const int32_t d = cc__ptx_register(ptx, CC__PTX_FLOAT64);
    const int32_t upper = cc__ptx_register(ptx, CC__PTX_32);
    cc__ptx_put(ptx, "mov.u32 %%r%d, 0x43300000;\n", upper);
    cc__ptx_put(ptx, "mov.b64 %%d%d, {%%r%d, %%r%d};\n", joined, lower, upper);
    cc__ptx_put(ptx, "sub.rn.f64 %%d%d, %%d%d, %s;\n", d, joined, cc__ptx_float64(bias).text);
    return d;
}

static int32_t of_unsigned(cc__ptx *ptx, int32_t whole)
{
    return less_bias(ptx, whole, 0x1p52);
}

static int32_t of_signed(cc__ptx *ptx, int32_t whole)
{
    const int32_t turned = cc__ptx_register(ptx, CC__PTX_32);
    cc__ptx_put(ptx, "xor.b32 %%r%d, %%r%d, 0x80000000;\n", turned, whole);
    return less_bias(ptx, turned, 0x1.000008p52);
}

static int32_t of_float32(cc__ptx *ptx, int32_t bits)
{
    const int32_t f = cc__ptx_register(ptx, CC__PTX_FLOAT32);
    const int32_t d = cc__ptx_register(ptx, CC__PTX_FLOAT64);
    cc__ptx_put(ptx, "mov.b32 %%f%d, %%r%d;\n", f, bits);
    cc__ptx_put(ptx, "cvt.f64.f32 %%d%d, %%f%d;\n", d, f);
    return d;
}

static int32_t of_float16(cc__ptx *ptx, int32_t bits)
{
    const int32_t h = cc__ptx_register(ptx, CC__PTX_16);
    const int32_t f = cc__ptx_register(ptx, CC__PTX_FLOAT32);
    const int32_t d = cc__ptx_register(ptx, CC__PTX_FLOAT64);
    cc__ptx_put(ptx, "cvt.u16.u32 %%h%d, %%r%d;\n", h, bits);
    cc__ptx_put(ptx, "cvt.f32.f16 %%f%d, %%h%d;\n", f, h);
    cc__ptx_put(ptx, "cvt.f64.f32 %%d%d, %%f%d;\n", d, f);
    return d;
}

static int32_t of_bool(cc__ptx *ptx, int32_t whole)
{
    const int32_t p = cc__ptx_register(ptx, CC__PTX_PREDICATE);
    cc__ptx_put(ptx, "setp.ne.u32 %%p%d, %%r%d, 0;\n", p, whole);
    return cc__ptx_select_numbers(ptx, p, 1.0, 0.0);
}

int32_t cc__ptx_component(cc__ptx *ptx, const cc__ptx_pack *pack, int32_t n)
{
    const int32_t bytes = (int32_t)cc_pixel_type_size_bytes(pack->type);
    switch (pack->type) {
    case CC_PIXEL_BOOL:
        return of_bool(ptx, unsigned_part(ptx, pack, n, bytes));
    case CC_PIXEL_UINT8:
    case CC_PIXEL_UINT16:
    case CC_PIXEL_UINT32:
        return of_unsigned(ptx, unsigned_part(ptx, pack, n, bytes));
    case CC_PIXEL_INT8:
    case CC_PIXEL_INT16:
    case CC_PIXEL_INT32:
        return of_signed(ptx, signed_part(ptx, pack, n, bytes));
    case CC_PIXEL_FLOAT16:
        return of_float16(ptx, unsigned_part(ptx, pack, n, bytes));
    case CC_PIXEL_BFLOAT16:
        /* The upper half of a float32. */
        return of_float32(ptx, take_bytes(ptx, pack->word[n / 2], n % 2 == 0 ? 0x1044 : 0x3244));
    case CC_PIXEL_FLOAT32:
        return of_float32(ptx, pack->word[n]);
    case CC_PIXEL_UINT64:
    case CC_PIXEL_INT64:
    case CC_PIXEL_FLOAT64:
    case CC_PIXEL_COMPLEX64:
    case CC_PIXEL_COMPLEX128:
        break;
    }
    return pack->word[n];
}

/* The halves of a float64. */
static void split(cc__ptx *ptx, int32_t value, int32_t *out_lower, int32_t *out_upper)
{
    *out_lower = cc__ptx_register(ptx, CC__PTX_32);
    *out_upper = cc__ptx_register(ptx, CC__PTX_32);
    cc__ptx_put(ptx, "mov.b64 {%%r%d, %%r%d}, %%d%d;\n", *out_lower, *out_upper, value);
}

static int32_t add_number(cc__ptx *ptx, int32_t value, double number)
{
    const int32_t d = cc__ptx_register(ptx, CC__PTX_FLOAT64);
    cc__ptx_put(ptx, "add.rn.f64 %%d%d, %%d%d, %s;\n", d, value, cc__ptx_float64(number).text);
    return d;
}

/* `value` where the predicate holds, else the number. */
static int32_t or_number(cc__ptx *ptx, int32_t predicate, int32_t value, double number)
{
    const int32_t d = cc__ptx_register(ptx, CC__PTX_FLOAT64);
    cc__ptx_put(ptx, "selp.f64 %%d%d, %%d%d, %s, %%p%d;\n", d, value, cc__ptx_float64(number).text, predicate);
    return d;
}

/* cc__round_into(), after cc__zero_for_nan() where the least value is not 0. */
static int32_t into_whole(cc__ptx *ptx, int32_t value, double least, double greatest)
{
    int32_t lower, upper;
    if (least < 0.0)
        value = or_number(ptx, cc__ptx_compare(ptx, "eq", value, value), value, 0.0);
    value = or_number(ptx, cc__ptx_compare_number(ptx, "gt", value, least), value, least);
    value = or_number(ptx, cc__ptx_compare_number(ptx, "lt", value, greatest), value, greatest);
    split(ptx, add_number(ptx, value, 0x1.8p52), &lower, &upper);
    return lower;
}

static int32_t into_bool(cc__ptx *ptx, int32_t value)
{
    const int32_t p = cc__ptx_compare_number(ptx, "neu", value, 0.0);
    const int32_t r = cc__ptx_register(ptx, CC__PTX_32);
    cc__ptx_put(ptx, "selp.u32 %%r%d, 1, 0, %%p%d;\n", r, p);
    return r;
}

static int32_t into_float32(cc__ptx *ptx, int32_t value)
{
    const int32_t f = cc__ptx_register(ptx, CC__PTX_FLOAT32);
    const int32_t p = cc__ptx_register(ptx, CC__PTX_PREDICATE);
    const int32_t bits = cc__ptx_register(ptx, CC__PTX_32);
    const int32_t r = cc__ptx_register(ptx, CC__PTX_32);
    cc__ptx_put(ptx, "cvt.rn.f32.f64 %%f%d, %%d%d;\n", f, value);
    cc__ptx_put(ptx, "setp.eq.f32 %%p%d, %%f%d, %%f%d;\n", p, f, f);
    cc__ptx_put(ptx, "mov.b32 %%r%d, %%f%d;\n", bits, f);
    cc__ptx_put(ptx, "selp.b32 %%r%d, %%r%d, 0x7fc00000, %%p%d;\n", r, bits, p);
    return r;
}

/* One of the 16-bit floats, as cc__store_FLOAT16() and cc__store_BFLOAT16() say. */
typedef struct short_float {
    int32_t least_exponent; /* of a normal number, and of zero */
    int32_t dropped;        /* bits of the upper half of a float64 */
    uint32_t infinity;
    uint32_t nan;
    double subnormal; /* whose last bit is worth the least of them */
} short_float;

static const short_float float16 = {1023 - 14, 10, 0x7c00, 0x7e00, 0x1p28};
static const short_float bfloat16 = {1023 - 126, 13, 0x7f80, 0x7fc0, 0x1p-81};

static int32_t operate(cc__ptx *ptx, const char *operation, int32_t x, int64_t number)
{
    const int32_t r = cc__ptx_register(ptx, CC__PTX_32);
    cc__ptx_put(ptx, "%s %%r%d, %%r%d, %lld;\n", operation, r, x, (long long)number);
    return r;
}

static int32_t join(cc__ptx *ptx, const char *operation, int32_t x, int32_t y)
{
    const int32_t r = cc__ptx_register(ptx, CC__PTX_32);
    cc__ptx_put(ptx, "%s %%r%d, %%r%d, %%r%d;\n", operation, r, x, y);
    return r;
}

static int32_t choose(cc__ptx *ptx, int32_t predicate, int32_t x, int32_t y)
{
    const int32_t r = cc__ptx_register(ptx, CC__PTX_32);
    cc__ptx_put(ptx, "selp.b32 %%r%d, %%r%d, %%r%d, %%p%d;\n", r, x, y, predicate);
    return r;
}

static int32_t into_short_float(cc__ptx *ptx, int32_t value, const short_float *type)
{
    int32_t lower, upper, subnormal, unused;
    const int32_t is_cut = cc__ptx_register(ptx, CC__PTX_PREDICATE);
    const int32_t is_normal = cc__ptx_register(ptx, CC__PTX_PREDICATE);
    const int32_t rest = cc__ptx_register(ptx, CC__PTX_32);
    const int32_t nan = cc__ptx_register(ptx, CC__PTX_32);
    const int32_t positive = cc__ptx_register(ptx, CC__PTX_FLOAT64);
    split(ptx, value, &lower, &upper);
    cc__ptx_put(ptx, "setp.ne.u32 %%p%d, %%r%d, 0;\n", is_cut, lower);
    cc__ptx_put(ptx, "selp.u32 %%r%d, 1, 0, %%p%d;\n", rest, is_cut);
    const int32_t sign = operate(ptx, "and.b32", operate(ptx, "shr.u32", upper, 16), 0x8000);
    const int32_t magnitude = join(ptx, "or.b32", operate(ptx, "and.b32", upper, 0x7fffffff), rest);

    const int32_t biased = operate(ptx, "sub.u32", magnitude, (int64_t)(type->least_exponent - 1) << 20);
    const int32_t last = operate(ptx, "and.b32", operate(ptx, "shr.u32", biased, type->dropped), 1);
    const int32_t half = operate(ptx, "add.u32", biased, (1 << (type->dropped - 1)) - 1);
    const int32_t rounded = operate(ptx, "shr.u32", join(ptx, "add.u32", half, last), type->dropped);
    const int32_t normal = operate(ptx, "min.u32", rounded, type->infinity);

    cc__ptx_put(ptx, "abs.f64 %%d%d, %%d%d;\n", positive, value);
    split(ptx, add_number(ptx, positive, type->subnormal), &subnormal, &unused);
    cc__ptx_put(ptx, "setp.ge.u32 %%p%d, %%r%d, %lld;\n", is_normal, magnitude, (long long)type->least_exponent << 20);
    const int32_t made = join(ptx, "or.b32", sign, choose(ptx, is_normal, normal, subnormal));
    cc__ptx_put(ptx, "mov.u32 %%r%d, %u;\n", nan, (unsigned)type->nan);
    return choose(ptx, cc__ptx_compare(ptx, "eq", value, value), made, nan);
}

static int32_t into_word(cc__ptx *ptx, cc_pixel_type type, int32_t value)
{
    switch (type) {
    case CC_PIXEL_BOOL:
        return into_bool(ptx, value);
    case CC_PIXEL_UINT8:
        return into_whole(ptx, value, 0.0, UINT8_MAX);
    case CC_PIXEL_INT8:
        return into_whole(ptx, value, INT8_MIN, INT8_MAX);
    case CC_PIXEL_UINT16:
        return into_whole(ptx, value, 0.0, UINT16_MAX);
    case CC_PIXEL_INT16:
        return into_whole(ptx, value, INT16_MIN, INT16_MAX);
    case CC_PIXEL_UINT32:
        return into_whole(ptx, value, 0.0, UINT32_MAX);
    case CC_PIXEL_INT32:
        return into_whole(ptx, value, INT32_MIN, INT32_MAX);
    case CC_PIXEL_FLOAT16:
        return into_short_float(ptx, value, &float16);
    case CC_PIXEL_BFLOAT16:
        return into_short_float(ptx, value, &bfloat16);
    case CC_PIXEL_FLOAT32:
        return into_float32(ptx, value);
    case CC_PIXEL_FLOAT64:
        /* There the word is a float64. */
        return or_number(ptx, cc__ptx_compare(ptx, "eq", value, value), value, __builtin_nan(""));
    case CC_PIXEL_UINT64:
    case CC_PIXEL_INT64:
    case CC_PIXEL_COMPLEX64:
    case CC_PIXEL_COMPLEX128:
        break;
    }
    return value;
}

/* Two words' lower bytes, side by side. */
static int32_t beside(cc__ptx *ptx, int32_t x, int32_t y, int32_t selector)
{
    const int32_t r = cc__ptx_register(ptx, CC__PTX_32);
    cc__ptx_put(ptx, "prmt.b32 %%r%d, %%r%d, %%r%d, 0x%x;\n", r, x, y, (unsigned)selector);
    return r;
}

cc__ptx_pack cc__ptx_pack_of(cc__ptx *ptx, cc_pixel_type type, int32_t count, const int32_t *values)
{
    const int32_t bytes = (int32_t)cc_pixel_type_size_bytes(type);
    cc__ptx_pack pack = {.type = type, .count = count};
    for (int32_t i = 0; i < count; i++) {
        const int32_t word = into_word(ptx, type, values[i]);
        /* The first of each word lies there as it is, the others are put in behind it. */
        const int32_t at = bytes < 4 ? i * bytes / 4 : i;
        const int32_t behind = bytes < 4 ? i * bytes % 4 : 0;
        pack.word[at] = behind == 0   ? word
                        : bytes == 2  ? beside(ptx, pack.word[at], word, 0x5410)
                        : behind == 1 ? beside(ptx, pack.word[at], word, 0x3240)
                        : behind == 2 ? beside(ptx, pack.word[at], word, 0x3410)
                                      : beside(ptx, pack.word[at], word, 0x4210);
    }
    return pack;
}
