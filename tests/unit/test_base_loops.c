/* The loops in every version that this CPU can run: the bits of one component at a time, whatever the length. */
#include "base/loops.h"
#include "kernels/step_math.h"
#include "support/rescale_cases.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More than the widest vectors hold, and not a multiple of them. */
#define MOST 331
#define ROOM (MOST * 8 + 64)

static const cc_pixel_type types[] = {CC_PIXEL_BOOL,   CC_PIXEL_UINT8,   CC_PIXEL_INT8,     CC_PIXEL_UINT16,
                                      CC_PIXEL_INT16,  CC_PIXEL_FLOAT16, CC_PIXEL_BFLOAT16, CC_PIXEL_UINT32,
                                      CC_PIXEL_INT32,  CC_PIXEL_FLOAT32, CC_PIXEL_UINT64,   CC_PIXEL_INT64,
                                      CC_PIXEL_FLOAT64};
#define TYPES ((int32_t)(sizeof types / sizeof types[0]))

static const int64_t counts[] = {0, 1, 3, 7, 8, 15, 16, 17, 31, 33, 64, 65, 255, 256, MOST};
#define COUNTS ((int32_t)(sizeof counts / sizeof counts[0]))

#define LOAD_ONE(NAME, HOLDER, BITS)                                                                                   \
    case CC_PIXEL_##NAME: {                                                                                            \
        HOLDER held;                                                                                                   \
        memcpy(&held, at, sizeof held);                                                                                \
        return cc__load_##NAME(held);                                                                                  \
    }

static double load_one(cc_pixel_type type, const unsigned char *at)
{
    switch ((int32_t)type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(LOAD_ONE)
        CC__FOR_EACH_TYPE_OF_32_BITS(LOAD_ONE)
        CC__FOR_EACH_TYPE_OF_64_BITS(LOAD_ONE)
    }
    return 0;
}

#define STORE_ONE(NAME, HOLDER, BITS)                                                                                  \
    case CC_PIXEL_##NAME: {                                                                                            \
        const HOLDER held = cc__store_##NAME(value);                                                                   \
        memcpy(at, &held, sizeof held);                                                                                \
        break;                                                                                                         \
    }

static void store_one(cc_pixel_type type, double value, unsigned char *at)
{
    switch ((int32_t)type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(STORE_ONE)
        CC__FOR_EACH_TYPE_OF_32_BITS(STORE_ONE)
        CC__FOR_EACH_TYPE_OF_64_BITS(STORE_ONE)
    }
}

static void write_cases(cc_pixel_type type, int64_t first, unsigned char *out)
{
    const size_t bytes = cc_pixel_type_size_bytes(type);
    for (int64_t i = 0; i < MOST; i++)
        rescale_case_write(type, first + i, out + (size_t)i * bytes);
}

static bool is_same(double a, double b)
{
    return a == a ? cc__bits_of_float64(a) == cc__bits_of_float64(b) : b != b;
}

/* `bytes` of both, and nothing written after them. */
static void expect_bytes(const cc__loops *loops, const char *what, const char *type, const unsigned char *found,
                         const unsigned char *expected, int64_t bytes)
{
    if (memcmp(found, expected, (size_t)bytes + 16) != 0)
        ck_abort_msg("%s, %s, %s: %lld bytes are not as expected", loops->name, what, type, (long long)bytes);
}

typedef void (*one_version)(const cc__loops *loops);

static void each_version(one_version check)
{
    const cc__loops *all[3];
    const int32_t count = cc__loops_all(all);
    ck_assert_int_ge(count, 1);
    ck_assert_ptr_eq(cc__loops_get(), all[count - 1]);
    for (int32_t i = 0; i < count; i++)
        check(all[i]);
}

static void check_loads(const cc__loops *loops)
{
    static unsigned char source[ROOM];
    double found[MOST + 1];
    for (int32_t t = 0; t < TYPES; t++) {
        const int64_t bytes = (int64_t)cc_pixel_type_size_bytes(types[t]);
        write_cases(types[t], 0, source + 1);
        for (int32_t c = 0; c < COUNTS; c++) {
            found[counts[c]] = 12345;
            loops->load(types[t], source + 1, counts[c], found);
            ck_assert(found[counts[c]] == 12345);
            for (int64_t i = 0; i < counts[c]; i++)
                if (!is_same(found[i], load_one(types[t], source + 1 + i * bytes)))
                    ck_abort_msg("%s, load %s: component %lld", loops->name, cc_pixel_type_name(types[t]),
                                 (long long)i);
        }
    }
}

START_TEST(loads)
{
    each_version(check_loads);
}
END_TEST

static void check_stores(const cc__loops *loops)
{
    static unsigned char found[ROOM];
    static unsigned char expected[ROOM];
    double values[MOST];
    for (int32_t t = 0; t < TYPES; t++) {
        const int64_t bytes = (int64_t)cc_pixel_type_size_bytes(types[t]);
        write_cases(CC_PIXEL_FLOAT64, (int64_t)t * 7, (unsigned char *)values);
        for (int32_t c = 0; c < COUNTS; c++) {
            memset(found, 0xa5, sizeof found);
            memset(expected, 0xa5, sizeof expected);
            for (int64_t i = 0; i < counts[c]; i++)
                store_one(types[t], values[i], expected + 3 + i * bytes);
            loops->store(types[t], values, found + 3, counts[c]);
            expect_bytes(loops, "store", cc_pixel_type_name(types[t]), found + 3, expected + 3, counts[c] * bytes);
        }
    }
}

START_TEST(stores)
{
    each_version(check_stores);
}
END_TEST

/* By way of float32: all 16-bit values, and what float32 has of cases, are what float64 makes of them. */
static void check_float32(const cc__loops *loops)
{
    static unsigned char source[65536 * 4];
    static unsigned char expected[65536 * 8 + 16];
    static unsigned char found[65536 * 8 + 16];
    static float values[65536];
    for (int32_t from = 0; from < TYPES; from++) {
        const int64_t from_bytes = (int64_t)cc_pixel_type_size_bytes(types[from]);
        const int64_t count = from_bytes == 2 ? 65536 : from_bytes == 1 ? 256 : MOST;
        if (!cc__loops_is_float32(types[from]))
            continue;
        for (uint32_t i = 0; i < 65536 && from_bytes < 4; i++)
            memcpy(source + i * from_bytes, &i, (size_t)from_bytes);
        if (from_bytes == 4)
            write_cases(types[from], 0, source);
        loops->load_float32(types[from], source, count, values);
        for (int32_t to = 0; to < TYPES; to++) {
            const int64_t to_bytes = (int64_t)cc_pixel_type_size_bytes(types[to]);
            if (!cc__loops_is_float32(types[to]))
                continue;
            memset(found, 0, sizeof found);
            memset(expected, 0, sizeof expected);
            for (int64_t i = 0; i < count; i++)
                store_one(types[to], load_one(types[from], source + i * from_bytes), expected + i * to_bytes);
            loops->store_float32(types[to], (const unsigned char *)values, found, count);
            expect_bytes(loops, cc_pixel_type_name(types[from]), cc_pixel_type_name(types[to]), found, expected,
                         count * to_bytes);
        }
    }
}

START_TEST(casts_by_way_of_float32)
{
    each_version(check_float32);
}
END_TEST

#define STEP_ONE(NAME)                                                                                                 \
    case CC_STEP_##NAME:                                                                                               \
        return cc__real_##NAME(value, a, b);

static double step_one(cc_step_kind kind, double value, double a, double b)
{
    switch ((int32_t)kind) {
        CC__FOR_EACH_REAL_STEP(STEP_ONE)
    case CC_STEP_LOAD:
        return a;
    }
    return value;
}

static void check_steps(const cc__loops *loops)
{
    double value[MOST];
    double a[MOST];
    double b[MOST];
    double found[MOST + 1];
    for (int32_t kind = CC_STEP_LOAD; kind <= CC_STEP_ARGUMENT; kind++)
        for (int32_t c = 0; c < COUNTS; c++) {
            write_cases(CC_PIXEL_FLOAT64, (int64_t)c * 11, (unsigned char *)value);
            write_cases(CC_PIXEL_FLOAT64, (int64_t)c * 29 + 5, (unsigned char *)a);
            write_cases(CC_PIXEL_FLOAT64, (int64_t)c * 53 + 17, (unsigned char *)b);
            found[counts[c]] = 12345;
            loops->step((cc_step_kind)kind, value, a, b, found, counts[c]);
            ck_assert(found[counts[c]] == 12345);
            for (int64_t i = 0; i < counts[c]; i++)
                if (!is_same(step_one((cc_step_kind)kind, value[i], a[i], b[i]), found[i]))
                    ck_abort_msg("%s, step %d, %a, %a, %a: %a", loops->name, (int)kind, value[i], a[i], b[i], found[i]);
            /* Into the value itself. */
            loops->step((cc_step_kind)kind, value, a, b, value, counts[c]);
            for (int64_t i = 0; i < counts[c]; i++)
                ck_assert(is_same(value[i], found[i]));
        }
}

START_TEST(steps_in_float64)
{
    each_version(check_steps);
}
END_TEST

/* By way of float64, in one pass: every 16-bit value, and all cases of float32, with all factors. */
static void check_scaling(const cc__loops *loops)
{
    static unsigned char source[65536 * 4 + 1];
    static unsigned char expected[65536 * 4 + 32];
    static unsigned char found[65536 * 4 + 32];
    for (int32_t t = 0; t < TYPES; t++)
        for (int32_t f = 0; f < RESCALE_FACTORS && cc__loops_is_float32(types[t]); f++) {
            const int64_t bytes = (int64_t)cc_pixel_type_size_bytes(types[t]);
            const int64_t most = bytes == 2 && f % 4 == 0 ? 65536 : bytes == 1 ? 256 : MOST;
            const int64_t count = most - f;
            const double scale = rescale_factors[f][0], shift = rescale_factors[f][1];
            for (uint32_t i = 0; i < most && bytes < 4; i++) {
                const uint32_t bits = i * (most == MOST ? 197 : 1);
                memcpy(source + 1 + i * bytes, &bits, (size_t)bytes);
            }
            if (bytes == 4)
                write_cases(types[t], f, source + 1);
            memset(found, 0, sizeof found);
            memset(expected, 0, sizeof expected);
            for (int64_t i = 0; i < count; i++)
                store_one(CC_PIXEL_FLOAT32,
                          cc__scale_and_shift(load_one(types[t], source + 1 + i * bytes), scale, shift),
                          expected + 3 + 4 * i);
            loops->scale_into_float32(types[t], source + 1, scale, shift, found + 3, count);
            expect_bytes(loops, "scale", cc_pixel_type_name(types[t]), found + 3, expected + 3, 4 * count);
        }
}

START_TEST(scaling_into_float32)
{
    each_version(check_scaling);
}
END_TEST

/* Every pair of bytes; of 16 bits those around the limits, with every second number. */
static void check_integer_steps(const cc__loops *loops)
{
    static const cc_pixel_type integers[] = {CC_PIXEL_UINT8, CC_PIXEL_INT8, CC_PIXEL_UINT16, CC_PIXEL_INT16};
    static const int32_t kinds[] = {CC_STEP_ADD, CC_STEP_SUBTRACT, CC_STEP_MINIMUM, CC_STEP_MAXIMUM};
    static const uint16_t others[] = {0, 1, 2, 255, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xfffe, 0xffff, 12345};
    static unsigned char x[65536 * 2 + 1];
    static unsigned char y[65536 * 2 + 2];
    static unsigned char expected[65536 * 2 + 32];
    static unsigned char found[65536 * 2 + 32];
    for (int32_t t = 0; t < 4; t++) {
        const int64_t bytes = (int64_t)cc_pixel_type_size_bytes(integers[t]);
        for (uint32_t i = 0; i < 65536; i++) {
            const uint16_t other = bytes == 1 ? (uint16_t)(i / 256) : others[i % 11];
            memcpy(x + 1 + i * bytes, &i, (size_t)bytes);
            memcpy(y + 2 + i * bytes, &other, (size_t)bytes);
        }
        for (int32_t k = 0; k < 4; k++) {
            const cc_step_kind kind = (cc_step_kind)kinds[k];
            memset(expected, 0, sizeof expected);
            for (int64_t i = 0; i < 65536; i++)
                store_one(integers[t],
                          step_one(kind, load_one(integers[t], x + 1 + i * bytes),
                                   load_one(integers[t], y + 2 + i * bytes), 0),
                          expected + 3 + i * bytes);
            loops->step_integer(kind, integers[t], x + 1, y + 2, found + 3, 65536);
            expect_bytes(loops, "integer step", cc_pixel_type_name(integers[t]), found + 3, expected + 3,
                         65536 * bytes);
            for (int32_t c = 0; c < COUNTS; c++) {
                const int64_t length = counts[c] * bytes;
                memset(found, 0xa5, sizeof found);
                loops->step_integer(kind, integers[t], x + 1, y + 2, found, counts[c]);
                ck_assert_mem_eq(found, expected + 3, (size_t)length);
                ck_assert_uint_eq(found[length], 0xa5);
                /* Into either operand. */
                for (int32_t second = 0; second < 2; second++) {
                    memcpy(found, second ? y + 2 : x + 1, (size_t)length);
                    loops->step_integer(kind, integers[t], second ? x + 1 : found, second ? found : y + 2, found,
                                        counts[c]);
                    ck_assert_mem_eq(found, expected + 3, (size_t)length);
                    ck_assert_uint_eq(found[length], 0xa5);
                }
            }
            memset(found, 0, sizeof found);
        }
    }
}

START_TEST(integers_end_at_their_limits)
{
    each_version(check_integer_steps);
}
END_TEST

/* Each float32 step is the float64 step rounded to float32, and a NaN is the one that all results have. */
static void check_float32_steps(const cc__loops *loops)
{
    static const int32_t kinds[] = {CC_STEP_ADD,     CC_STEP_SUBTRACT,   CC_STEP_MULTIPLY, CC_STEP_DIVIDE,
                                    CC_STEP_MINIMUM, CC_STEP_MAXIMUM,    CC_STEP_NEGATE,   CC_STEP_ABSOLUTE,
                                    CC_STEP_SQUARE,  CC_STEP_SQUARE_ROOT};
    unsigned char x[ROOM];
    unsigned char y[ROOM];
    unsigned char expected[ROOM];
    unsigned char found[ROOM];
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (int32_t c = 0; c < COUNTS; c++)
            for (int32_t has_constant = 0; has_constant < 2; has_constant++) {
                float constant;
                write_cases(CC_PIXEL_FLOAT32, c, x + 1);
                write_cases(CC_PIXEL_FLOAT32, (int64_t)c * 13 + 2, y + 2);
                memcpy(&constant, y + 2, sizeof constant);
                memset(found, 0, sizeof found);
                memset(expected, 0, sizeof expected);
                for (int64_t i = 0; i < counts[c]; i++) {
                    const double a = load_one(CC_PIXEL_FLOAT32, y + 2 + (has_constant ? 0 : 4 * i));
                    store_one(CC_PIXEL_FLOAT32,
                              step_one((cc_step_kind)kinds[k], load_one(CC_PIXEL_FLOAT32, x + 1 + 4 * i), a, a),
                              expected + 3 + 4 * i);
                }
                loops->step_float32((cc_step_kind)kinds[k], x + 1, has_constant ? NULL : y + 2, constant, found + 3,
                                    counts[c]);
                expect_bytes(loops, "float32 step", has_constant ? "value" : "array", found + 3, expected + 3,
                             4 * counts[c]);
                /* Into either operand. */
                loops->step_float32((cc_step_kind)kinds[k], x + 1, has_constant ? NULL : y + 2, constant, x + 1,
                                    counts[c]);
                ck_assert_mem_eq(x + 1, expected + 3, 4 * (size_t)counts[c]);
                write_cases(CC_PIXEL_FLOAT32, c, x + 1);
                loops->step_float32((cc_step_kind)kinds[k], x + 1, has_constant ? NULL : y + 2, constant, y + 2,
                                    counts[c]);
                ck_assert_mem_eq(y + 2, expected + 3, 4 * (size_t)counts[c]);
            }
}

START_TEST(steps_in_float32)
{
    each_version(check_float32_steps);
}
END_TEST

/* The root in float64, rounded to float32, then the limits. */
static void check_finish(const cc__loops *loops)
{
    static const float limits[][2] = {{-INFINITY, INFINITY}, {0.25F, 0.75F}, {-0.0F, 0.0F}, {0.0F, -1.0F}, {NAN, 1.0F}};
    double values[MOST];
    double squares[MOST + 1];
    unsigned char x[ROOM];
    unsigned char expected[ROOM];
    unsigned char found[ROOM];
    for (int32_t c = 0; c < COUNTS; c++) {
        const int64_t count = counts[c];
        for (size_t n = 0; n < 2 * sizeof limits / sizeof limits[0]; n++) {
            const float lower = limits[n / 2][0], upper = limits[n / 2][1];
            write_cases(CC_PIXEL_FLOAT64, c + (int64_t)n * 19, (unsigned char *)values);
            memset(found, 0, sizeof found);
            memset(expected, 0, sizeof expected);
            for (int64_t i = 0; i < count; i++) {
                const double value = n % 2 == 1 ? sqrt(values[i]) : values[i];
                store_one(CC_PIXEL_FLOAT32, cc__minimum(cc__maximum(value, (double)lower), (double)upper),
                          expected + 3 + 4 * i);
            }
            loops->finish_float32(n % 2 == 1, values, lower, upper, found + 3, count);
            expect_bytes(loops, "finish", "float32", found + 3, expected + 3, 4 * count);
        }
        write_cases(CC_PIXEL_FLOAT32, c, x + 1);
        squares[count] = 12345;
        for (int32_t is_sum = 0; is_sum < 2; is_sum++) {
            loops->load_squares(x + 1, is_sum ? values : NULL, count, squares);
            ck_assert(squares[count] == 12345);
            for (int64_t i = 0; i < count; i++) {
                const double value = load_one(CC_PIXEL_FLOAT32, x + 1 + 4 * i);
                const double square = value * value;
                ck_assert(is_same(is_sum ? square + values[i] : square, squares[i]));
            }
        }
        loops->load_squares(x + 1, values, count, values);
        ck_assert_mem_eq(values, squares, (size_t)count * sizeof *values);
    }
}

START_TEST(squares_roots_and_limits)
{
    each_version(check_finish);
}
END_TEST

/* Random bits, of which one in 256 is everything that is no positive number. */
static uint64_t next_bits(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state ^ *state >> 29;
}

static double from_bits(uint64_t bits)
{
    return cc__float64_of_bits(bits);
}

static void expect_roots(const cc__loops *loops, const double *values, float lower, float upper, int64_t count)
{
    unsigned char expected[ROOM];
    unsigned char found[ROOM];
    memset(found, 0, sizeof found);
    memset(expected, 0, sizeof expected);
    for (int64_t i = 0; i < count; i++)
        store_one(CC_PIXEL_FLOAT32, cc__minimum(cc__maximum(sqrt(values[i]), (double)lower), (double)upper),
                  expected + 4 * i);
    loops->finish_float32(true, values, lower, upper, found, count);
    for (int64_t i = 0; i < count; i++)
        if (memcmp(found + 4 * i, expected + 4 * i, 4) != 0)
            ck_abort_msg("%s, root of %a", loops->name, values[i]);
    expect_bytes(loops, "roots", "float64", found, expected, 4 * count);

    /* Of the square of a float32 near the root, and what is added to it. */
    float x[MOST];
    for (int64_t i = 0; i < count; i++) {
        x[i] = (float)(sqrt(values[i]) * (i % 3 == 0 ? 1 : 0.75));
        const double value = (double)x[i] * (double)x[i] + values[i];
        store_one(CC_PIXEL_FLOAT32, cc__minimum(cc__maximum(sqrt(value), (double)lower), (double)upper),
                  expected + 4 * i);
    }
    memset(found, 0, sizeof found);
    loops->finish_squares((const unsigned char *)x, values, lower, upper, found, count);
    for (int64_t i = 0; i < count; i++)
        if (memcmp(found + 4 * i, expected + 4 * i, 4) != 0)
            ck_abort_msg("%s, root of the square of %a and %a", loops->name, (double)x[i], values[i]);
    expect_bytes(loops, "roots", "squares", found, expected, 4 * count);
}

/*
 * Roots halfway between two of float32, their squares, which float64 holds, and numbers just beside them: whether the
 * root is rounded up or down hangs on the last bits of the square. All exponents, odd and even, to those where float32
 * ends. Then roots that are float32 themselves, numbers with all bits random, and special ones at each place among
 * others.
 */
static void check_hard_roots(const cc__loops *loops)
{
    static const double special[] = {0.0,
                                     -0.0,
                                     -1.0,
                                     INFINITY,
                                     -INFINITY,
                                     NAN,
                                     0x1p-1074,
                                     0x1.8p-1023,
                                     0x1p-300,
                                     0x1.0000000000001p-300,
                                     0x1.0000000000002p-300,
                                     0x1.fffffffffffffp-251,
                                     0x1p-250,
                                     0x1.fffffffffffffp249,
                                     0x1p250,
                                     0x1.ffffffp255,
                                     0x1.fffffefffffffp255,
                                     0x1p256,
                                     0x1.fffffffffffffp1023};
    static const float limits[][2] = {{-INFINITY, INFINITY}, {1.2F, 3.0F}, {-0.0F, -0.0F}, {0.0F, 1.0F},
                                      {-0.0F, 1.0F},         {NAN, 1.0F},  {0.5F, NAN}};
    double values[MOST];
    uint64_t state = 11;
    for (int32_t round = 0; round < 600; round++) {
        for (int32_t i = 0; i < MOST; i++) {
            const uint64_t bits = next_bits(&state);
            /* From 2^-152 to 2^120 and a bit. */
            const double root = (double)((bits >> 40) | (1 << 24)) + (i % 4 == 3 ? 0.0 : 0.5);
            const int32_t exponent = (int32_t)(bits % 272) - 152 - 24;
            values[i] = ldexp(root * root, 2 * exponent);
            const uint64_t beside = cc__bits_of_float64(values[i]) + (bits >> 9) % 9 - 4;
            values[i] = i % 2 == 0 ? from_bits(beside) : values[i];
        }
        expect_roots(loops, values, -INFINITY, INFINITY, round % 2 == 0 ? MOST : 32);
        for (int32_t i = 0; i < MOST; i++)
            values[i] = from_bits(next_bits(&state) >> (i % 256 != 0 ? 2 : 0) | (uint64_t)(i % 2) << 61);
        expect_roots(loops, values, -INFINITY, INFINITY, MOST);
    }
    for (size_t n = 0; n < sizeof special / sizeof *special; n++)
        for (int32_t place = 0; place < 32; place++) {
            for (int32_t i = 0; i < 32; i++)
                values[i] = i == place ? special[n] : i % 3;
            for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
                expect_roots(loops, values, limits[l][0], limits[l][1], 32);
        }
}

START_TEST(roots_that_are_hard_to_round)
{
    each_version(check_hard_roots);
}
END_TEST

static void check_moves(const cc__loops *loops)
{
    unsigned char in[ROOM];
    unsigned char found[ROOM];
    unsigned char expected[ROOM];
    unsigned char table[256];
    for (int32_t i = 0; i < ROOM; i++)
        in[i] = (unsigned char)(i * 2654435761U >> 13);
    for (int32_t i = 0; i < 256; i++)
        table[i] = (unsigned char)(i * 167 + 41);
    for (int32_t c = 0; c < COUNTS; c++) {
        for (int64_t bytes = 1; bytes <= 8; bytes *= 2) {
            memset(found, 0, sizeof found);
            memset(expected, 0, sizeof expected);
            for (int64_t i = 0; i < counts[c]; i++)
                memcpy(expected + 1 + i * bytes, in + 5 + (counts[c] - 1 - i) * bytes, (size_t)bytes);
            loops->reverse(found + 1, in + 5 + (counts[c] - 1) * bytes, bytes, counts[c]);
            expect_bytes(loops, "reverse", "bytes", found + 1, expected + 1, counts[c] * bytes);
        }
        memset(found, 0, sizeof found);
        memset(expected, 0, sizeof expected);
        for (int64_t i = 0; i < counts[c]; i++)
            expected[7 + i] = table[in[3 + i]];
        loops->look_up(table, in + 3, found + 7, counts[c]);
        expect_bytes(loops, "look up", "bytes", found + 7, expected + 7, counts[c]);
    }
    /* Every index. */
    for (int32_t i = 0; i < 256; i++)
        in[i] = (unsigned char)i;
    loops->look_up(table, in, found, 256);
    ck_assert_mem_eq(found, table, 256);
}

START_TEST(moves)
{
    each_version(check_moves);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("loops");
    TCase *cases = tcase_create("loops");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, loads);
    tcase_add_test(cases, stores);
    tcase_add_test(cases, casts_by_way_of_float32);
    tcase_add_test(cases, steps_in_float64);
    tcase_add_test(cases, steps_in_float32);
    tcase_add_test(cases, squares_roots_and_limits);
    tcase_add_test(cases, scaling_into_float32);
    tcase_add_test(cases, integers_end_at_their_limits);
    tcase_add_test(cases, roots_that_are_hard_to_round);
    tcase_add_test(cases, moves);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
