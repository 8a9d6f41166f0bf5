/* The loops in every version that this CPU can run: the bits of one component at a time, whatever the length. */
#include "base/loops.h"
#include "kernels/step_math.h"
#include "support/rescale_cases.h"

#include <check.h>
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
    return a == a ? memcmp(&a, &b, sizeof a) == 0 : b != b;
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
        write_cases(CC_PIXEL_FLOAT64, t * 7, (unsigned char *)values);
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
            write_cases(CC_PIXEL_FLOAT64, c * 11, (unsigned char *)value);
            write_cases(CC_PIXEL_FLOAT64, c * 29 + 5, (unsigned char *)a);
            write_cases(CC_PIXEL_FLOAT64, c * 53 + 17, (unsigned char *)b);
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
                write_cases(CC_PIXEL_FLOAT32, 13 * c + 2, y + 2);
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
            }
}

START_TEST(steps_in_float32)
{
    each_version(check_float32_steps);
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
    tcase_add_test(cases, moves);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
