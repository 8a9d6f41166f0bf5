/* Rescaling on the host against NumPy and exact arithmetic, in every layout, whatever the thread's float environment.
 */
#include "base/work.h"
#include "data/rescale_reference.h"
#include "support/plain_work.h"
#include "support/rescale_cases.h"

#include <check.h>
#include <fenv.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#define TYPES 15
#define REFERENCES (sizeof rescale_reference / sizeof rescale_reference[0])
#define BUFFER_BYTES ((int64_t)1 << 18)

static bool is_complex(cc_pixel_type type)
{
    return type == CC_PIXEL_COMPLEX64 || type == CC_PIXEL_COMPLEX128;
}

static void put_bits(cc_pixel_type type, const uint64_t bits[2], unsigned char *component)
{
    size_t part_bytes = cc_pixel_type_size_bytes(type) / (is_complex(type) ? 2 : 1);
    memcpy(component, &bits[0], part_bytes);
    if (is_complex(type))
        memcpy(component + part_bytes, &bits[1], part_bytes);
}

/* One row of `count` components, `gap` times their size apart. */
static cc__rescale row_of(unsigned char *destination, cc_pixel_type destination_type, unsigned char *source,
                          cc_pixel_type source_type, int64_t count, int64_t gap)
{
    cc__rescale work = {.destination = {.data = destination},
                        .source = {.data = source},
                        .size = {count, 1, 1, 1},
                        .components = 1,
                        .destination_type = destination_type,
                        .source_type = source_type,
                        .scale = 1.0};
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        int64_t row = axis == 0 ? 1 : count;
        work.destination.stride[axis] = gap * row * (int64_t)cc_pixel_type_size_bytes(destination_type);
        work.source.stride[axis] = gap * row * (int64_t)cc_pixel_type_size_bytes(source_type);
    }
    return work;
}

static void check_reference(void)
{
    for (size_t i = 0; i < REFERENCES; i++) {
        const struct rescale_reference *row = &rescale_reference[i];
        unsigned char source[16];
        unsigned char expected[16];
        unsigned char found[16];
        cc_pixel_type source_type = (cc_pixel_type)row->source_type;
        cc_pixel_type destination_type = (cc_pixel_type)row->destination_type;
        put_bits(source_type, row->source, source);
        put_bits(destination_type, row->destination, expected);
        cc__rescale work = row_of(found, destination_type, source, source_type, 1, 1);
        work.scale = rescale_factors[row->factors][0];
        work.shift = rescale_factors[row->factors][1];
        cc__rescale_on_host(&work);
        uint64_t bits[2] = {0, 0};
        memcpy(bits, found, cc_pixel_type_size_bytes(destination_type));
        if (memcmp(found, expected, cc_pixel_type_size_bytes(destination_type)) != 0)
            ck_abort_msg("row %zu: %s 0x%llx 0x%llx * %g + %g to %s is 0x%llx 0x%llx, expected 0x%llx 0x%llx", i,
                         cc_pixel_type_name(source_type), (unsigned long long)row->source[0],
                         (unsigned long long)row->source[1], work.scale, work.shift,
                         cc_pixel_type_name(destination_type), (unsigned long long)bits[0], (unsigned long long)bits[1],
                         (unsigned long long)row->destination[0], (unsigned long long)row->destination[1]);
    }
}

START_TEST(every_pair_of_types_agrees_with_the_reference)
{
    bool seen[TYPES][TYPES] = {{false}};
    for (size_t i = 0; i < REFERENCES; i++)
        seen[rescale_reference[i].source_type][rescale_reference[i].destination_type] = true;
    for (int32_t i = 0; i < TYPES * TYPES; i++)
        ck_assert(seen[i / TYPES][i % TYPES]);
    check_reference();
}
END_TEST

START_TEST(the_float_environment_is_neither_used_nor_changed)
{
    static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        ck_assert_int_eq(fesetround(modes[i]), 0);
        feclearexcept(FE_ALL_EXCEPT);
        feraiseexcept(FE_DIVBYZERO);
        check_reference();
        int mode = fegetround();
        int raised = fetestexcept(FE_ALL_EXCEPT);
        fesetround(FE_TONEAREST);
        ck_assert_int_eq(mode, modes[i]);
        ck_assert_int_eq(raised, FE_DIVBYZERO);
    }
#if defined(__SSE2__)
    /* Programs built with -ffast-math flush subnormals to zero. */
    const unsigned int flush = 0x8040;
    const unsigned int before = _mm_getcsr();
    _mm_setcsr(before | flush);
    check_reference();
    const unsigned int after = _mm_getcsr();
    _mm_setcsr(before);
    ck_assert_uint_eq(after & flush, flush);
#endif
}
END_TEST

/* Every float16 and bfloat16, read back from float64, is what it was; NaN is the one quiet NaN. */
START_TEST(all_16_bit_floats_survive_float64)
{
    const cc_pixel_type types[] = {CC_PIXEL_FLOAT16, CC_PIXEL_BFLOAT16};
    const uint16_t infinity[] = {0x7c00, 0x7f80};
    const uint16_t quiet_nan[] = {0x7e00, 0x7fc0};
    uint16_t *in = malloc(65536 * sizeof *in);
    uint16_t *out = malloc(65536 * sizeof *out);
    double *wide = malloc(65536 * sizeof *wide);
    for (int32_t i = 0; i < 65536; i++)
        in[i] = (uint16_t)i;
    for (int32_t t = 0; t < 2; t++) {
        cc__rescale up = row_of((unsigned char *)wide, CC_PIXEL_FLOAT64, (unsigned char *)in, types[t], 65536, 1);
        cc__rescale down = row_of((unsigned char *)out, types[t], (unsigned char *)wide, CC_PIXEL_FLOAT64, 65536, 1);
        cc__rescale_on_host(&up);
        cc__rescale_on_host(&down);
        for (int32_t i = 0; i < 65536; i++) {
            bool is_nan = (in[i] & 0x7fff) > infinity[t];
            if (out[i] != (is_nan ? quiet_nan[t] : in[i]))
                ck_abort_msg("0x%04x became 0x%04x", in[i], out[i]);
        }
        /* The values grow with the bits: none is out of place. */
        for (int32_t i = 0; i < infinity[t]; i++) {
            if (!(wide[i] < wide[i + 1] && -wide[i] == wide[i + 0x8000]))
                ck_abort_msg("0x%04x is %g", i, wide[i]);
        }
    }
    free(in);
    free(out);
    free(wide);
}
END_TEST

START_TEST(a_copy_keeps_every_bit)
{
    unsigned char source[256];
    unsigned char found[256];
    uint32_t state = 3;
    for (int32_t type = 0; type < TYPES; type++) {
        int64_t count = 256 / (int64_t)cc_pixel_type_size_bytes((cc_pixel_type)type);
        random_bytes(&state, source, sizeof source);
        memset(source, 0xff, 16); /* NaN of every float, with all of its payload; and no bool */
        memset(found, 0, sizeof found);
        cc__rescale work = row_of(found, (cc_pixel_type)type, source, (cc_pixel_type)type, count, 1);
        cc__rescale_on_host(&work);
        ck_assert_mem_eq(found, source, sizeof source);
        work.destination = work.source;
        cc__rescale_on_host(&work);
        ck_assert_mem_eq(found, source, sizeof source);
    }
}
END_TEST

/* A bool whose byte is neither 0 nor 1 is true. */
START_TEST(any_byte_but_zero_is_true)
{
    unsigned char source[4] = {0, 1, 2, 255};
    unsigned char found[4];
    cc__rescale work = row_of(found, CC_PIXEL_UINT8, source, CC_PIXEL_BOOL, 4, 1);
    work.scale = 7;
    cc__rescale_on_host(&work);
    ck_assert_int_eq(found[0], 0);
    for (int32_t i = 1; i < 4; i++)
        ck_assert_int_eq(found[i], 7);
}
END_TEST

/* A long row is what its components are one by one, also when they lie apart, and in place. */
START_TEST(rows_agree_with_single_components)
{
    const int64_t count = 700; /* several buffers and a rest */
    unsigned char *source = malloc(700 * 16 * 3);
    unsigned char *expected = malloc(700 * 16 * 3);
    unsigned char *found = malloc(700 * 16 * 3);
    for (int32_t pair = 0; pair < TYPES * TYPES; pair++) {
        cc_pixel_type source_type = (cc_pixel_type)(pair / TYPES);
        cc_pixel_type destination_type = (cc_pixel_type)(pair % TYPES);
        for (int64_t gap = 1; gap <= 3; gap += 2) {
            cc__rescale work = row_of(found, destination_type, source, source_type, count, gap);
            size_t bytes = (size_t)(count * work.destination.stride[0]);
            work.scale = rescale_factors[pair % RESCALE_FACTORS][0];
            work.shift = rescale_factors[pair % RESCALE_FACTORS][1];
            memset(expected, 0x5a, bytes);
            memset(found, 0x5a, bytes);
            memset(source, 0x5a, 700 * 16 * 3);
            for (int64_t i = 0; i < count; i++) {
                rescale_case_write(source_type, i, source + i * work.source.stride[0]);
                cc__rescale one = work;
                one.size[0] = 1;
                one.source.data = source + i * work.source.stride[0];
                one.destination.data = expected + i * work.destination.stride[0];
                cc__rescale_on_host(&one);
            }
            cc__rescale_on_host(&work);
            ck_assert_mem_eq(found, expected, bytes);
            if (source_type == destination_type) {
                work.destination = work.source;
                cc__rescale_on_host(&work);
                ck_assert_mem_eq(source, expected, bytes);
            }
        }
    }
    free(source);
    free(expected);
    free(found);
}
END_TEST

START_TEST(boxes_agree_with_single_components)
{
    unsigned char *source = malloc(BUFFER_BYTES);
    unsigned char *expected = malloc(BUFFER_BYTES);
    unsigned char *found = malloc(BUFFER_BYTES);
    uint32_t state = 5;
    random_bytes(&state, expected, BUFFER_BYTES);
    memcpy(found, expected, BUFFER_BYTES);
    for (int32_t round = 0; round < 800; round++) {
        cc__rescale work = {.components = (int32_t)(1 + random_below(&state, 4)),
                            .destination_type = (cc_pixel_type)random_below(&state, TYPES),
                            .source_type = (cc_pixel_type)random_below(&state, TYPES)};
        int64_t factors = random_below(&state, RESCALE_FACTORS);
        work.scale = rescale_factors[factors][0];
        work.shift = rescale_factors[factors][1];
        int64_t to_bytes = (int64_t)cc_pixel_type_size_bytes(work.destination_type);
        int64_t from_bytes = (int64_t)cc_pixel_type_size_bytes(work.source_type);
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
            work.size[axis] = random_below(&state, 3) == 0 ? 1 : 1 + random_below(&state, 5);
        int64_t to = random_strides(&state, work.size, work.components * to_bytes, to_bytes, work.destination.stride);
        int64_t from = random_strides(&state, work.size, work.components * from_bytes, from_bytes, work.source.stride);
        if (to > BUFFER_BYTES || from > BUFFER_BYTES)
            continue;
        for (int64_t i = 0; i < from / from_bytes; i++)
            rescale_case_write(work.source_type, i + round, source + i * from_bytes);
        work.source.data = source;
        work.destination.data = found;
        cc__rescale_on_host(&work);

        int64_t at[CC_MAX_DIMENSION] = {0, 0, 0, 0};
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION;) {
            cc__rescale one = row_of(expected, work.destination_type, source, work.source_type, 1, 1);
            one.scale = work.scale;
            one.shift = work.shift;
            for (int32_t a = 0; a < CC_MAX_DIMENSION; a++) {
                one.source.data += at[a] * work.source.stride[a];
                one.destination.data += at[a] * work.destination.stride[a];
            }
            for (int32_t component = 0; component < work.components; component++) {
                cc__rescale_on_host(&one);
                one.source.data += from_bytes;
                one.destination.data += to_bytes;
            }
            for (axis = 0; axis < CC_MAX_DIMENSION && ++at[axis] == work.size[axis]; axis++)
                at[axis] = 0;
        }
        ck_assert_mem_eq(found, expected, (size_t)to);
    }
    free(source);
    free(expected);
    free(found);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rescale");
    TCase *cases = tcase_create("rescale");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, every_pair_of_types_agrees_with_the_reference);
    tcase_add_test(cases, the_float_environment_is_neither_used_nor_changed);
    tcase_add_test(cases, all_16_bit_floats_survive_float64);
    tcase_add_test(cases, a_copy_keeps_every_bit);
    tcase_add_test(cases, any_byte_but_zero_is_true);
    tcase_add_test(cases, rows_agree_with_single_components);
    tcase_add_test(cases, boxes_agree_with_single_components);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
