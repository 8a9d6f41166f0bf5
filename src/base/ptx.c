#include "base/ptx.h"

#include "kernels/pixel_math.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

void cc__ptx_put(cc__ptx *ptx, const char *format, ...)
{
    const size_t at = ptx->length < ptx->capacity ? ptx->length : ptx->capacity;
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf(at < ptx->capacity ? ptx->text + at : NULL, ptx->capacity - at, format, arguments);
    va_end(arguments);
    ptx->length += written > 0 ? (size_t)written : 0;
}

int32_t cc__ptx_register(cc__ptx *ptx, cc__ptx_kind kind)
{
    return ptx->registers[kind]++;
}

cc__ptx_literal cc__ptx_float64(double value)
{
    cc__ptx_literal literal;
    (void)snprintf(literal.text, sizeof literal.text, "0d%016" PRIX64, cc__bits_of_float64(value));
    return literal;
}

int32_t cc__ptx_compare(cc__ptx *ptx, const char *test, int32_t x, int32_t y)
{
    const int32_t p = cc__ptx_register(ptx, CC__PTX_PREDICATE);
    cc__ptx_put(ptx, "setp.%s.f64 %%p%d, %%d%d, %%d%d;\n", test, p, x, y);
    return p;
}

int32_t cc__ptx_compare_number(cc__ptx *ptx, const char *test, int32_t x, double y)
{
    const int32_t p = cc__ptx_register(ptx, CC__PTX_PREDICATE);
    cc__ptx_put(ptx, "setp.%s.f64 %%p%d, %%d%d, %s;\n", test, p, x, cc__ptx_float64(y).text);
    return p;
}

int32_t cc__ptx_select(cc__ptx *ptx, int32_t predicate, int32_t x, int32_t y)
{
    const int32_t d = cc__ptx_register(ptx, CC__PTX_FLOAT64);
    cc__ptx_put(ptx, "selp.f64 %%d%d, %%d%d, %%d%d, %%p%d;\n", d, x, y, predicate);
    return d;
}

int32_t cc__ptx_select_numbers(cc__ptx *ptx, int32_t predicate, double x, double y)
{
    const int32_t d = cc__ptx_register(ptx, CC__PTX_FLOAT64);
    cc__ptx_put(ptx, "selp.f64 %%d%d, %s, %s, %%p%d;\n", d, cc__ptx_float64(x).text, cc__ptx_float64(y).text,
                predicate);
    return d;
}

static bool is_float64(cc_pixel_type type)
{
    return type == CC_PIXEL_FLOAT64;
}

static int32_t bytes_of(const cc__ptx_pack *pack)
{
    return pack->count * (int32_t)cc_pixel_type_size_bytes(pack->type);
}

static int32_t words_of(const cc__ptx_pack *pack)
{
    const int32_t word_bytes = is_float64(pack->type) ? 8 : 4;
    return bytes_of(pack) < word_bytes ? 1 : bytes_of(pack) / word_bytes;
}

/* The type of an access: of float64, words, or what is less than a word. */
static const char *access_of(const cc__ptx_pack *pack)
{
    if (is_float64(pack->type))
        return words_of(pack) == 2 ? "v2.f64" : "f64";
    switch (bytes_of(pack)) {
    case 1:
        return "u8";
    case 2:
        return "u16";
    case 4:
        return "u32";
    case 8:
        return "v2.u32";
    }
    return "v4.u32";
}

/* %r1 or {%r1, %r2}. */
static void put_words(cc__ptx *ptx, const cc__ptx_pack *pack)
{
    const int32_t words = words_of(pack);
    const char kind = is_float64(pack->type) ? 'd' : 'r';
    for (int32_t i = 0; i < words; i++)
        cc__ptx_put(ptx, "%s%%%c%d", i > 0 ? ", " : words > 1 ? "{" : "", kind, pack->word[i]);
    cc__ptx_put(ptx, "%s", words > 1 ? "}" : "");
}

cc__ptx_pack cc__ptx_load(cc__ptx *ptx, cc_pixel_type type, int32_t count, int32_t address, int64_t offset,
                          int32_t predicate)
{
    cc__ptx_pack pack = {.type = type, .count = count};
    for (int32_t i = 0; i < words_of(&pack); i++)
        pack.word[i] = cc__ptx_register(ptx, is_float64(type) ? CC__PTX_FLOAT64 : CC__PTX_32);
    if (predicate >= 0)
        cc__ptx_put(ptx, "@%%p%d ", predicate);
    cc__ptx_put(ptx, "ld.global.%s ", access_of(&pack));
    put_words(ptx, &pack);
    cc__ptx_put(ptx, ", [%%l%d+%" PRId64 "];\n", address, offset);
    return pack;
}

void cc__ptx_store(cc__ptx *ptx, const cc__ptx_pack *pack, int32_t address, int64_t offset)
{
    cc__ptx_put(ptx, "st.global.%s [%%l%d+%" PRId64 "], ", access_of(pack), address, offset);
    put_words(ptx, pack);
    cc__ptx_put(ptx, ";\n");
}
