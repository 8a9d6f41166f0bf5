/*
 * The kernels that expressions are compiled into: run on the CPU, against the host's own path, and given to the
 * toolkit's assembler where there is one.
 */
#include "base/allocate.h"
#include "base/program_text.h"
#include "kernels/step_math.h"
#include "support/plain_work.h"
#include "support/ptx_on_host.h"
#include "support/rescale_cases.h"
#include "support/share.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 1600
#define BYTES (MOST * 16)
#define BUFFERS 7

static const cc_pixel_type types[] = {CC_PIXEL_BOOL,     CC_PIXEL_UINT8,   CC_PIXEL_INT8,   CC_PIXEL_UINT16,
                                      CC_PIXEL_INT16,    CC_PIXEL_UINT32,  CC_PIXEL_INT32,  CC_PIXEL_FLOAT16,
                                      CC_PIXEL_BFLOAT16, CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT64};
#define TYPES ((int32_t)(sizeof types / sizeof types[0]))

static const cc_step_kind kinds[] = {CC_STEP_LOAD,        CC_STEP_ADD,     CC_STEP_SUBTRACT,  CC_STEP_MULTIPLY,
                                     CC_STEP_DIVIDE,      CC_STEP_MINIMUM, CC_STEP_MAXIMUM,   CC_STEP_MULTIPLY_ADD,
                                     CC_STEP_CLAMP,       CC_STEP_WITHIN,  CC_STEP_LESS,      CC_STEP_EQUAL,
                                     CC_STEP_SELECT,      CC_STEP_NEGATE,  CC_STEP_ABSOLUTE,  CC_STEP_SQUARE,
                                     CC_STEP_SQUARE_ROOT, CC_STEP_REAL,    CC_STEP_IMAGINARY, CC_STEP_CONJUGATE};
#define KINDS ((int32_t)(sizeof kinds / sizeof kinds[0]))

static unsigned char *buffers[BUFFERS];

static void make_buffers(void)
{
    for (int32_t n = 0; n < BUFFERS; n++)
        buffers[n] = aligned_alloc(64, BYTES);
}

static void free_buffers(void)
{
    for (int32_t n = 0; n < BUFFERS; n++)
        free(buffers[n]);
}

static cc__term random_term(uint32_t *state, const cc__evaluate *work, int32_t step, int32_t slots)
{
    static const double values[] = {0.0, -0.0, 1.0, -3.0, 0.5, 100.0, 1e300, NAN, INFINITY, 0x1p-1074};
    cc__term term = {.kind = CC__TERM_VALUE, .value = values[random_below(state, 10)]};
    const int64_t what = random_below(state, 10);
    if (what < 5 || step == 0) {
        term.kind = CC__TERM_SOURCE;
        term.number = (int32_t)random_below(state, work->source_count);
    } else if (what < 8 && slots > 0) {
        term.kind = CC__TERM_SLOT;
        term.number = (int32_t)random_below(state, slots);
    }
    return term;
}

/* A row of special values, `skip` components behind an alignment, in each image. */
static void make_row(uint32_t *state, cc__evaluate *work, int64_t count, int64_t skip)
{
    work->components = 1;
    memcpy(work->size, (const int64_t[]){count, 1, 1, 1}, sizeof work->size);
    work->destination.stride[0] = (int64_t)cc_pixel_type_size_bytes(work->destination_type);
    work->destination.data = buffers[BUFFERS - 2] + skip * work->destination.stride[0];
    for (int32_t n = 0; n < work->source_count; n++) {
        cc__source *source = &work->sources[n];
        const int64_t bytes = (int64_t)cc_pixel_type_size_bytes(source->type);
        const int64_t first = random_below(state, 200);
        source->components = 1;
        for (int64_t i = 0; i < count + skip; i++)
            rescale_case_write(source->type, first + i * (2 * n + 1), buffers[n] + i * bytes);
        source->data = buffers[n] + skip * bytes;
        if (n > 0 && random_below(state, 6) == 0) {
            source->data += random_below(state, count) * bytes;
            continue;
        }
        source->stride[0] = bytes;
        source->component_stride = bytes;
    }
}

static void random_steps(uint32_t *state, cc__evaluate *work, int32_t step_count)
{
    int32_t slots = 0;
    work->step_count = step_count;
    for (int32_t i = 0; i < step_count; i++) {
        cc__instruction *step = &work->steps[i];
        step->kind = i == 0 ? CC_STEP_LOAD : (int32_t)kinds[random_below(state, KINDS)];
        step->a = random_term(state, work, i, slots);
        step->b = random_term(state, work, i == 0 ? 1 : i, slots);
        step->slot = random_below(state, 3) == 0 ? slots++ : -1;
    }
}

static void run(const cc__program *program, const cc__program_call *call)
{
    char *text = cc__program_text(program);
    ck_assert_ptr_nonnull(text);
    ptx_kernel *kernel = ptx_parse(text);
    ptx_run(kernel, cc__program_blocks(program, call), CC__PROGRAM_THREADS, call);
    ptx_free(kernel);
    cc__free(text);
}

static void fail_with(const cc__evaluate *work, const char *what, int32_t number)
{
    char text[600] = "";
    size_t length = 0;
    for (int32_t i = 0; i < work->step_count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, " %d(%d %d, %d %d)", (int)work->steps[i].kind,
                                   (int)work->steps[i].a.kind, (int)work->steps[i].a.number, (int)work->steps[i].b.kind,
                                   (int)work->steps[i].b.number);
    ck_abort_msg("%s %d: %s from %s:%s", what, (int)number, cc_pixel_type_name(work->destination_type),
                 cc_pixel_type_name(work->sources[0].type), text);
}

/* On the host and as a kernel, which may work in place. False when it is no program. */
static bool check_work(cc__evaluate *work, bool is_in_place, const char *what, int32_t number)
{
    cc__lattice lattice;
    cc__program program;
    cc__program_call call;
    const int64_t offset = work->destination.data - buffers[BUFFERS - 2];
    memset(buffers[BUFFERS - 2], 0x5a, BYTES);
    memset(buffers[BUFFERS - 1], 0x5a, BYTES);
    cc__evaluate_on_host(work);
    work->destination.data = buffers[BUFFERS - 1] + offset;
    if (is_in_place && work->sources[0].type == work->destination_type) {
        memcpy(work->destination.data, work->sources[0].data, (size_t)(work->size[0] * work->sources[0].stride[0]));
        work->sources[0].data = work->destination.data;
    }
    cc__evaluate_plan(work, &lattice);
    if (!cc__program_make(work, &lattice, &program, &call))
        return false;
    run(&program, &call);
    if (memcmp(buffers[BUFFERS - 2], buffers[BUFFERS - 1], BYTES) != 0)
        fail_with(work, what, number);
    return true;
}

/* What follows from the types: which numbers are real. */
static void find_reals(cc__evaluate *work)
{
    int32_t value_is_real = 0, slot_is_real[CC_MAX_STEPS] = {0};
    work->numbers = CC__NUMBERS_COMPLEX;
    for (int32_t i = 0; i < work->step_count; i++) {
        cc__instruction *step = &work->steps[i];
        const cc__term *a = &step->a;
        const int32_t a_is_real = a->kind == CC__TERM_SLOT     ? slot_is_real[a->number]
                                  : a->kind == CC__TERM_SOURCE ? work->sources[a->number].type < CC_PIXEL_COMPLEX64
                                                               : 1;
        step->reals = (value_is_real ? CC__VALUE_IS_REAL : 0) | (a_is_real ? CC__A_IS_REAL : 0);
        if (step->kind == CC_STEP_LOAD)
            value_is_real = a_is_real;
        else if (step->kind == CC_STEP_REAL || step->kind == CC_STEP_IMAGINARY || step->kind == CC_STEP_ABSOLUTE ||
                 step->kind == CC_STEP_EQUAL)
            value_is_real = 1;
        else if (step->kind <= CC_STEP_SELECT)
            value_is_real = 0;
        if (step->slot >= 0)
            slot_is_real[step->slot] = value_is_real;
    }
}

/* Steps that order have whatever real part there is. */
START_TEST(any_complex_program_agrees_with_the_host)
{
    static const cc_pixel_type complex_types[] = {CC_PIXEL_COMPLEX64, CC_PIXEL_COMPLEX128};
    uint32_t state = 51 + (uint32_t)_i;
    int32_t done = 0;
    make_buffers();
    for (int32_t round = 0; round < 120; round++) {
        cc__evaluate work;
        memset(&work, 0, sizeof work);
        work.source_count = (int32_t)(1 + random_below(&state, 4));
        for (int32_t n = 0; n < work.source_count; n++)
            work.sources[n].type = random_below(&state, 3) == 0 ? types[random_below(&state, TYPES)]
                                                                : complex_types[random_below(&state, 2)];
        work.destination_type =
            random_below(&state, 3) == 0 ? types[random_below(&state, TYPES)] : complex_types[random_below(&state, 2)];
        make_row(&state, &work, 1 + random_below(&state, random_below(&state, 9) == 0 ? MOST - 20 : 60),
                 random_below(&state, 9));
        random_steps(&state, &work, (int32_t)(1 + random_below(&state, random_below(&state, 2) == 0 ? 3 : 12)));
        find_reals(&work);
        if (round % share_one_in() == 0)
            done += check_work(&work, random_below(&state, 3) == 0, "round", round);
    }
    ck_assert_int_gt(done, 0);
    free_buffers();
}
END_TEST

/* Parts that are zero, infinite, NaN, the greatest and the least, all with all others. */
START_TEST(complex_steps_on_special_values)
{
    static const double parts[] = {0.0,       -0.0,     1.0, -2.5, INFINITY, -INFINITY, NAN, 0x1.fffffffffffffp+1023,
                                   0x1p-1074, 0x1p-1022};
    static const cc_step_kind complex_kinds[] = {CC_STEP_ABSOLUTE, CC_STEP_DIVIDE, CC_STEP_MULTIPLY, CC_STEP_SQUARE,
                                                 CC_STEP_EQUAL,    CC_STEP_SELECT, CC_STEP_NEGATE,   CC_STEP_CONJUGATE};
    uint32_t state = 13;
    make_buffers();
    for (int32_t kind = 0; kind < 8; kind++) {
        for (int32_t shift = 0; shift < 10; shift++) {
            cc__evaluate work;
            memset(&work, 0, sizeof work);
            work.source_count = 2;
            work.sources[0].type = CC_PIXEL_COMPLEX128;
            work.sources[1].type = CC_PIXEL_COMPLEX128;
            work.destination_type = CC_PIXEL_COMPLEX128;
            make_row(&state, &work, 100, 0);
            work.sources[1].stride[0] = work.sources[1].component_stride = 16;
            work.sources[1].data = buffers[1];
            for (int32_t n = 0; n < 100; n++) {
                const double x[] = {parts[n % 10], parts[n / 10]};
                const double y[] = {parts[(n + shift) % 10], parts[(n * 3 + shift * 7 + n / 10) % 10]};
                memcpy(buffers[0] + (size_t)n * sizeof x, x, sizeof x);
                memcpy(buffers[1] + (size_t)n * sizeof y, y, sizeof y);
            }
            const cc__term second = {.kind = CC__TERM_SOURCE, .number = 1};
            work.step_count = 2;
            work.steps[0] = (cc__instruction){.kind = CC_STEP_LOAD, .a = {.kind = CC__TERM_SOURCE}, .slot = -1};
            work.steps[1] =
                (cc__instruction){.kind = (int32_t)complex_kinds[kind], .a = second, .b = {.kind = CC__TERM_VALUE}};
            work.steps[1].slot = -1;
            find_reals(&work);
            ck_assert(check_work(&work, false, "kind", kind));
        }
    }
    free_buffers();
}
END_TEST

START_TEST(any_program_agrees_with_the_host)
{
    uint32_t state = 41 + (uint32_t)_i;
    int32_t done = 0;
    make_buffers();
    for (int32_t round = 0; round < 200; round++) {
        cc__evaluate work;
        memset(&work, 0, sizeof work);
        work.source_count = (int32_t)(1 + random_below(&state, 5));
        work.destination_type = types[random_below(&state, TYPES)];
        for (int32_t n = 0; n < work.source_count; n++)
            work.sources[n].type = random_below(&state, 2) == 0 ? types[random_below(&state, TYPES)]
                                   : n > 0                      ? work.sources[0].type
                                                                : work.destination_type;
        const int64_t count = 1 + random_below(&state, random_below(&state, 5) == 0 ? MOST - 20 : 60);
        make_row(&state, &work, count, random_below(&state, 17));
        random_steps(&state, &work, (int32_t)(1 + random_below(&state, random_below(&state, 2) == 0 ? 4 : 16)));
        if (round % share_one_in() == 0)
            done += check_work(&work, random_below(&state, 3) == 0, "round", round);
    }
    ck_assert_int_gt(done, 0);
    free_buffers();
}
END_TEST

/* Limits with zeros of either sign, infinities and NaN on all special values: some need fewer comparisons. */
START_TEST(limits_of_every_kind)
{
    static const double limits[] = {0.0, -0.0, 2.5, -1.0, INFINITY, -INFINITY, NAN};
    uint32_t state = 11;
    make_buffers();
    for (int32_t n = 0; n < 7 * 9; n++) {
        cc__evaluate work;
        memset(&work, 0, sizeof work);
        work.source_count = 1;
        work.sources[0].type = CC_PIXEL_FLOAT64;
        work.destination_type = CC_PIXEL_FLOAT64;
        make_row(&state, &work, 150, 0);
        work.step_count = 2;
        work.steps[0] = (cc__instruction){.kind = CC_STEP_LOAD, .a = {.kind = CC__TERM_SOURCE}, .slot = -1};
        work.steps[1] = (cc__instruction){.kind = n / 7 == 7   ? CC_STEP_MINIMUM
                                                  : n / 7 == 8 ? CC_STEP_MAXIMUM
                                                               : CC_STEP_CLAMP,
                                          .a = {.kind = CC__TERM_VALUE, .value = limits[n % 7]},
                                          .b = {.kind = CC__TERM_VALUE, .value = limits[n / 7 % 7]},
                                          .slot = -1};
        ck_assert(check_work(&work, false, "limits", n));
    }
    free_buffers();
}
END_TEST

/* Where the toolkit is; NULL without one. */
static const char *assembler(void)
{
    static const char *const names[] = {"ptxas", "/usr/local/cuda/bin/ptxas"};
    char command[200];
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
        (void)snprintf(command, sizeof command, "%s --version >/dev/null 2>&1", names[n]);
        if (system(command) == 0)
            return names[n];
    }
    return NULL;
}

/* Every type with every other and every step with every type, as one kernel after the other in one text. */
START_TEST(the_assembler_takes_the_text)
{
    const char *name = assembler();
    char path[] = "/tmp/cc_program_XXXXXX";
    char command[200];
    uint32_t state = 3;
    if (name == NULL)
        return;
    const int descriptor = mkstemp(path);
    ck_assert_int_ge(descriptor, 0);
    FILE *file = fdopen(descriptor, "w");
    make_buffers();
    for (int32_t n = 0; n < TYPES + 4; n++) {
        cc__evaluate work;
        cc__lattice lattice;
        cc__program program;
        cc__program_call call;
        memset(&work, 0, sizeof work);
        work.source_count = 5;
        work.destination_type = types[n % TYPES];
        for (int32_t i = 0; i < work.source_count; i++)
            work.sources[i].type = types[(n + i * (n + 1)) % TYPES];
        if (n >= TYPES)
            work.sources[n % 2].type = n % 3 == 0 ? CC_PIXEL_COMPLEX128 : CC_PIXEL_COMPLEX64;
        make_row(&state, &work, 100, 0);
        random_steps(&state, &work, 12);
        for (int32_t i = 1; i < 11; i++)
            work.steps[i].kind = (int32_t)kinds[(n + 2 * i) % KINDS];
        if (n >= TYPES)
            find_reals(&work);
        cc__evaluate_plan(&work, &lattice);
        ck_assert(cc__program_make(&work, &lattice, &program, &call));
        char *text = cc__program_text(&program);
        const char *entry = strstr(text, CC__PROGRAM_ENTRY);
        const char *first = n == 0 ? text : strstr(text, ".visible");
        (void)fprintf(file, "%.*skernel_%d%s", (int)(entry - first), first, (int)n, entry + strlen(CC__PROGRAM_ENTRY));
        cc__free(text);
    }
    ck_assert_int_eq(fclose(file), 0);
    (void)snprintf(command, sizeof command, "%s -O0 -arch=sm_90 -o /dev/null %s", name, path);
    const int result = system(command);
    ck_assert_int_eq(remove(path), 0);
    ck_assert_int_eq(result, 0);
    free_buffers();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base_program");
    TCase *tcase = tcase_create("base_program");
    tcase_add_loop_test(tcase, any_program_agrees_with_the_host, 0, 2);
    tcase_add_loop_test(tcase, any_complex_program_agrees_with_the_host, 0, 2);
    tcase_add_test(tcase, complex_steps_on_special_values);
    tcase_add_test(tcase, limits_of_every_kind);
    tcase_add_test(tcase, the_assembler_takes_the_text);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
