/* The kernels of expressions, run on the CPU, against the host's own path: the same bits for every layout and step. */
#include "support/cuda_on_host.h"

#include "base/allocate.h"
#include "base/components.h"
#include "base/program_text.h"
#include "kernels/evaluate.cu"
#include "support/plain_work.h"
#include "support/ptx_on_host.h"
#include "support/rescale_cases.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define BUFFER_BYTES ((int64_t)1 << 18)

static int32_t launches;
static const void *last_kernel;

static bool is_table(const void *kernel)
{
    return kernel == (const void *)evaluate_table_8 || kernel == (const void *)evaluate_table_16 ||
           kernel == (const void *)evaluate_table_32;
}

static bool is_shallow(const void *kernel)
{
    return kernel == (const void *)narrow_one_step || kernel == (const void *)narrow_two_step ||
           kernel == (const void *)wide_one_step || kernel == (const void *)wide_two_step ||
           kernel == (const void *)float32_cast_step;
}

static bool is_magnitude(const void *kernel)
{
    return kernel == (const void *)magnitude_of_2 || kernel == (const void *)magnitude_of_3 ||
           kernel == (const void *)magnitude_of_4;
}

#define COMPLEX_KERNELS(KIND)                                                                                          \
    (const void *)KIND##_product_step, (const void *)KIND##_quotient_step, (const void *)KIND##_square_step,           \
        (const void *)KIND##_conjugate_step, (const void *)KIND##_real_step, (const void *)KIND##_imaginary_step,      \
        (const void *)KIND##_absolute_step, (const void *)KIND##_argument_step
#define KERNELS_OF_A_WIDTH 8

/* Which of the kernels that do one step on complex numbers alone; -1: none of them. */
static int32_t complex_direct_number(const void *kernel)
{
    const void *const kernels[2 * KERNELS_OF_A_WIDTH] = {COMPLEX_KERNELS(complex64), COMPLEX_KERNELS(complex128)};
    for (int32_t n = 0; n < 2 * KERNELS_OF_A_WIDTH; n++)
        if (kernel == kernels[n])
            return n;
    return -1;
}

static bool is_complex(const void *kernel)
{
    return kernel == (const void *)complex64_step || kernel == (const void *)complex128_step ||
           complex_direct_number(kernel) >= 0;
}

static cc_status launch(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks, uint32_t block_threads,
                        void **arguments)
{
    const bool is_general = kernel == (const void *)evaluate_real || kernel == (const void *)evaluate_complex ||
                            kernel == (const void *)evaluate_whole || kernel == (const void *)evaluate_copy;
    ck_assert_uint_eq(block_threads, is_table(kernel) ? TABLE_THREADS : CC__BLOCK_THREADS);
    ck_assert_uint_gt(grid_blocks, 0);
    (void)launcher;
    launches++;
    last_kernel = kernel;
    const bool is_dense = kernel == (const void *)narrow_evaluate || kernel == (const void *)wide_evaluate;
    if (is_dense) {
        void (*run)(const cc__dense_plan) = (void (*)(const cc__dense_plan))kernel;
        cuda_on_host_run(0, grid_blocks, grid_blocks, block_threads, run(*(const cc__dense_plan *)arguments[0]));
    } else if (is_table(kernel)) {
        void (*run)(const cc__table_plan) = (void (*)(const cc__table_plan))kernel;
        cuda_on_host_run(0, grid_blocks, grid_blocks, block_threads, run(*(const cc__table_plan *)arguments[0]));
    } else if (is_shallow(kernel)) {
        void (*run)(const cc__shallow_plan) = (void (*)(const cc__shallow_plan))kernel;
        cuda_on_host_run(0, grid_blocks, grid_blocks, block_threads, run(*(const cc__shallow_plan *)arguments[0]));
    } else if (is_complex(kernel)) {
        void (*run)(const cc__complex_plan) = (void (*)(const cc__complex_plan))kernel;
        cuda_on_host_run(0, grid_blocks, grid_blocks, block_threads, run(*(const cc__complex_plan *)arguments[0]));
    } else if (is_magnitude(kernel)) {
        void (*run)(const cc__magnitude_plan) = (void (*)(const cc__magnitude_plan))kernel;
        cuda_on_host_run(0, grid_blocks, grid_blocks, block_threads, run(*(const cc__magnitude_plan *)arguments[0]));
    } else if (is_general) {
        void (*run)(const cc__general_plan) = (void (*)(const cc__general_plan))kernel;
        cuda_on_host_run(0, grid_blocks, grid_blocks, block_threads, run(*(const cc__general_plan *)arguments[0]));
    } else {
        void (*run)(const cc__direct_plan) = (void (*)(const cc__direct_plan))kernel;
        cuda_on_host_run(0, grid_blocks, grid_blocks, block_threads, run(*(const cc__direct_plan *)arguments[0]));
    }
    return CC_OK;
}

static const cc__launcher launcher = LAUNCHER(launch, 1);

static int64_t bytes_of_type(cc_pixel_type type)
{
    return (int64_t)cc_pixel_type_size_bytes(type);
}

static void write_cases(cc_pixel_type type, int64_t first, int64_t count, unsigned char *out)
{
    for (int64_t i = 0; i < count; i++)
        rescale_case_write(type, first + i, out + i * bytes_of_type(type));
}

static cc_pixel_type random_type(uint32_t *state, cc__numbers numbers)
{
    static const cc_pixel_type whole[] = {CC_PIXEL_BOOL,   CC_PIXEL_UINT8,  CC_PIXEL_INT8,
                                          CC_PIXEL_UINT16, CC_PIXEL_INT16,  CC_PIXEL_INT32,
                                          CC_PIXEL_UINT32, CC_PIXEL_UINT64, CC_PIXEL_INT64};
    if (numbers == CC__NUMBERS_WHOLE)
        return whole[random_below(state, 9)];
    return (cc_pixel_type)random_below(state, numbers == CC__NUMBERS_REAL ? 13 : 15);
}

static cc__term random_term(uint32_t *state, const cc__evaluate *work, int32_t step, int32_t slots)
{
    static const double values[] = {0, 1, -3, 2, 100};
    cc__term term = {.kind = CC__TERM_VALUE, .value = values[random_below(state, 5)]};
    const int64_t what = random_below(state, 10);
    if (what < 6 || step == 0) {
        term.kind = CC__TERM_SOURCE;
        term.number = (int32_t)random_below(state, work->source_count);
        if (what == 0 && work->numbers != CC__NUMBERS_WHOLE)
            term.kind = CC__TERM_MAGNITUDE;
    } else if (what < 8 && slots > 0) {
        term.kind = CC__TERM_SLOT;
        term.number = (int32_t)random_below(state, slots);
    }
    return term;
}

static const cc_step_kind real_kinds[] = {
    CC_STEP_ADD,       CC_STEP_SUBTRACT,    CC_STEP_MULTIPLY, CC_STEP_DIVIDE, CC_STEP_MINIMUM,      CC_STEP_MAXIMUM,
    CC_STEP_CLAMP,     CC_STEP_WITHIN,      CC_STEP_LESS,     CC_STEP_EQUAL,  CC_STEP_SELECT,       CC_STEP_NEGATE,
    CC_STEP_SQUARE,    CC_STEP_ABSOLUTE,    CC_STEP_REAL,     CC_STEP_LOAD,   CC_STEP_MULTIPLY_ADD, CC_STEP_IMAGINARY,
    CC_STEP_CONJUGATE, CC_STEP_SQUARE_ROOT, CC_STEP_ARGUMENT};

static void random_steps(uint32_t *state, cc__evaluate *work)
{
    int32_t slots = 0;
    work->step_count = (int32_t)(1 + random_below(state, random_below(state, 2) == 0 ? 2 : 7));
    for (int32_t i = 0; i < work->step_count; i++) {
        cc__instruction *step = &work->steps[i];
        step->kind = i == 0 ? CC_STEP_LOAD
                            : (int32_t)real_kinds[random_below(state, work->numbers == CC__NUMBERS_WHOLE ? 19 : 21)];
        step->a = random_term(state, work, i, slots);
        step->b = random_term(state, work, i == 0 ? 1 : i, slots);
        step->reals = (int32_t)random_below(state, 4);
        step->slot = random_below(state, 3) == 0 ? slots++ : -1;
    }
}

/* Returns false when the work does not fit into the buffers. */
static bool random_work(uint32_t *state, cc__evaluate *work, unsigned char *const buffers[5], int64_t *out_bytes)
{
    memset(work, 0, sizeof *work);
    work->numbers = (cc__numbers)random_below(state, 3);
    work->components = (int32_t)(1 + random_below(state, 4));
    work->source_count = (int32_t)(1 + random_below(state, 4));
    work->destination_type = random_type(state, work->numbers);
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        work->size[axis] = random_below(state, 3) == 0 ? 1 : 1 + random_below(state, 5);
    if (random_below(state, 3) == 0)
        work->size[0] = 1 + random_below(state, 600);
    if (random_below(state, 3) == 0)
        work->size[0] *= 4;
    const int64_t to_bytes = bytes_of_type(work->destination_type);
    *out_bytes = 80 + random_strides(state, work->size, work->components * to_bytes,
                                     (1 + 3 * random_below(state, 2)) * to_bytes, work->destination.stride);
    work->destination.data = buffers[4] + random_below(state, 5) * to_bytes;
    if (*out_bytes > BUFFER_BYTES)
        return false;
    for (int32_t n = 0; n < work->source_count; n++) {
        cc__source *source = &work->sources[n];
        source->type = random_below(state, 2) == 0 ? random_type(state, work->numbers) : work->sources[0].type;
        const int64_t bytes = bytes_of_type(source->type);
        const bool is_single = random_below(state, 4) == 0;
        source->components = is_single ? (int32_t)(1 + random_below(state, 3)) : 1;
        source->component_stride = is_single ? 0 : bytes;
        const int64_t pixel = (is_single ? source->components : work->components) * bytes;
        const int64_t span =
            random_strides(state, work->size, pixel, (1 + 3 * random_below(state, 2)) * bytes, source->stride);
        if (span + 80 > BUFFER_BYTES)
            return false;
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
            if (random_below(state, 8) == 0)
                source->stride[axis] = 0;
        write_cases(source->type, random_below(state, 50), span / bytes + 5, buffers[n]);
        source->data = buffers[n] + random_below(state, 5) * bytes;
    }
    random_steps(state, work);
    return true;
}

START_TEST(any_work_agrees_with_the_host)
{
    unsigned char *buffers[6];
    uint32_t state = 23 + (uint32_t)_i;
    int32_t done = 0, in_packs = 0;
    for (int32_t n = 0; n < 6; n++)
        buffers[n] = malloc(BUFFER_BYTES);
    for (int32_t round = 0; round < 1500; round++) {
        cc__evaluate work;
        int64_t bytes = 0;
        if (!random_work(&state, &work, buffers, &bytes))
            continue;
        memset(buffers[4], 0x5a, (size_t)bytes);
        memset(buffers[5], 0x5a, (size_t)bytes);
        cc__evaluate_on_host(&work);
        work.destination.data = buffers[5] + (work.destination.data - buffers[4]);
        ck_assert_int_eq(cc__launch_evaluate(&work, &launcher), CC_OK);
        ck_assert_msg(memcmp(buffers[4], buffers[5], (size_t)bytes) == 0, "round %d", round);
        done++;
        in_packs += last_kernel == (const void *)evaluate_real;
    }
    ck_assert_int_gt(done, 700);
    ck_assert_int_gt(in_packs, 100);
    for (int32_t n = 0; n < 6; n++)
        free(buffers[n]);
}
END_TEST

#define COUNT_KERNELS 8

/* Counts how often each of the kernels with few steps ran. */
static void count_kernel(int32_t counts[COUNT_KERNELS])
{
    const void *const kernels[COUNT_KERNELS] = {(const void *)narrow_one_step,   (const void *)narrow_two_step,
                                                (const void *)wide_one_step,     (const void *)wide_two_step,
                                                (const void *)float32_cast_step, (const void *)evaluate_table_8,
                                                (const void *)evaluate_table_16, (const void *)evaluate_table_32};
    for (int32_t n = 0; n < COUNT_KERNELS; n++)
        counts[n] += last_kernel == kernels[n];
}

/* One or two steps on one or two sources, with every head, tail and number of units. */
START_TEST(kernels_of_one_step_agree_with_the_host)
{
    unsigned char *buffers[6];
    uint32_t state = 177 + (uint32_t)_i;
    int32_t counts[COUNT_KERNELS] = {0};
    const int64_t most = 4600;
    const size_t bytes = (size_t)most * 8;
    for (int32_t n = 0; n < 6; n++)
        buffers[n] = aligned_alloc(64, bytes);
    for (int32_t round = 0; round < 800; round++) {
        cc__evaluate work;
        memset(&work, 0, sizeof work);
        work.components = 1;
        work.source_count = (int32_t)(1 + random_below(&state, 2));
        work.destination_type = (cc_pixel_type)random_below(&state, 13);
        const int64_t skip = random_below(&state, 9);
        const int64_t count = round % 8 == 0 ? 4000 + random_below(&state, 500) : 1 + random_below(&state, 300);
        const bool is_cast = random_below(&state, 3) == 0;
        memcpy(work.size, (const int64_t[]){count, 1, 1, 1}, sizeof work.size);
        work.destination.stride[0] = bytes_of_type(work.destination_type);
        work.destination.data = buffers[4] + skip * work.destination.stride[0];
        for (int32_t n = 0; n < work.source_count; n++) {
            cc__source *source = &work.sources[n];
            source->type = (cc_pixel_type)random_below(&state, 13);
            source->components = 1;
            source->stride[0] = bytes_of_type(source->type);
            source->component_stride = source->stride[0];
            write_cases(source->type, random_below(&state, 50), count + 10, buffers[n]);
            source->data = buffers[n] + skip * source->stride[0];
        }
        do
            random_steps(&state, &work);
        while (work.step_count < 2);
        work.step_count = is_cast ? 1 : 2;
        memset(buffers[4], 0x5a, bytes);
        memset(buffers[5], 0x5a, bytes);
        cc__evaluate_on_host(&work);
        work.destination.data = buffers[5] + (work.destination.data - buffers[4]);
        if (random_below(&state, 4) == 0 && work.sources[0].type == work.destination_type) {
            memcpy(work.destination.data, work.sources[0].data, (size_t)(count * work.sources[0].stride[0]));
            work.sources[0].data = work.destination.data;
        }
        ck_assert_int_eq(cc__launch_evaluate(&work, &launcher), CC_OK);
        ck_assert_msg(memcmp(buffers[4], buffers[5], bytes) == 0, "round %d", round);
        count_kernel(counts);
    }
    for (int32_t n = 0; n < 5; n++)
        ck_assert_int_gt(counts[n], 20);
    for (int32_t n = 0; n < 6; n++)
        free(buffers[n]);
}
END_TEST

/* Each step of complex numbers on one or two sources, complex or real, in either precision. */
START_TEST(kernels_of_one_complex_step_agree_with_the_host)
{
    static const cc_step_kind complex_kinds[] = {
        CC_STEP_ADD,       CC_STEP_SUBTRACT, CC_STEP_MULTIPLY, CC_STEP_DIVIDE, CC_STEP_MULTIPLY_ADD,
        CC_STEP_NEGATE,    CC_STEP_ABSOLUTE, CC_STEP_SQUARE,   CC_STEP_REAL,   CC_STEP_IMAGINARY,
        CC_STEP_CONJUGATE, CC_STEP_ARGUMENT, CC_STEP_EQUAL,    CC_STEP_SELECT};
    unsigned char *buffers[4];
    uint32_t state = 31;
    int32_t counts[2] = {0};
    int32_t direct[2 * KERNELS_OF_A_WIDTH] = {0};
    const int64_t most = 1600;
    const size_t bytes = (size_t)most * 16;
    for (int32_t n = 0; n < 4; n++)
        buffers[n] = aligned_alloc(64, bytes);
    for (int32_t round = 0; round < 840; round++) {
        const bool is_wide = round % 2 != 0;
        const cc_pixel_type pair[] = {is_wide ? CC_PIXEL_COMPLEX128 : CC_PIXEL_COMPLEX64,
                                      is_wide ? CC_PIXEL_FLOAT64 : CC_PIXEL_FLOAT32};
        const int64_t skip = random_below(&state, 5);
        const int64_t count = round % 8 == 0 ? 1500 + random_below(&state, 90) : 1 + random_below(&state, 200);
        cc__evaluate work;
        memset(&work, 0, sizeof work);
        work.numbers = CC__NUMBERS_COMPLEX;
        work.components = 1;
        work.source_count = (int32_t)(1 + random_below(&state, 2));
        const cc_step_kind kind = complex_kinds[round / 2 % 14];
        const bool makes_real =
            kind == CC_STEP_ABSOLUTE || kind == CC_STEP_REAL || kind == CC_STEP_IMAGINARY || kind == CC_STEP_ARGUMENT;
        work.destination_type = pair[makes_real != (random_below(&state, 4) == 0)];
        memcpy(work.size, (const int64_t[]){count, 1, 1, 1}, sizeof work.size);
        work.destination.stride[0] = bytes_of_type(work.destination_type);
        work.destination.data = buffers[2] + skip * work.destination.stride[0];
        for (int32_t n = 0; n < work.source_count; n++) {
            cc__source *source = &work.sources[n];
            source->type = pair[random_below(&state, 4) == 0];
            source->components = 1;
            source->stride[0] = bytes_of_type(source->type);
            source->component_stride = source->stride[0];
            write_cases(source->type, random_below(&state, 5000), count + 5, buffers[n]);
            source->data = buffers[n] + skip * source->stride[0];
        }
        const cc__term value = {.kind = CC__TERM_VALUE, .value = (double)random_below(&state, 5) - 2.0};
        const cc__term second = {.kind = CC__TERM_SOURCE, .number = work.source_count - 1};
        work.steps[0] = (cc__instruction){.kind = CC_STEP_LOAD, .a = {.kind = CC__TERM_SOURCE}, .slot = -1};
        work.steps[1] = (cc__instruction){.kind = (int32_t)kind, .a = second, .b = value, .slot = -1};
        if (random_below(&state, 3) == 0) {
            work.steps[1].a = value;
            work.steps[1].b = second;
        }
        const bool a_is_real = work.steps[1].a.kind == CC__TERM_VALUE ||
                               cc__complex_is_real(work.sources[work.steps[1].a.number].type) != 0;
        work.steps[1].reals =
            (cc__complex_is_real(work.sources[0].type) != 0 ? CC__VALUE_IS_REAL : 0) | (a_is_real ? CC__A_IS_REAL : 0);
        work.step_count = random_below(&state, 10) == 0 ? 1 : 2;
        memset(buffers[2], 0x5a, bytes);
        memset(buffers[3], 0x5a, bytes);
        cc__evaluate_on_host(&work);
        work.destination.data = buffers[3] + skip * work.destination.stride[0];
        if (random_below(&state, 4) == 0 && work.sources[0].type == work.destination_type) {
            memcpy(work.destination.data, work.sources[0].data, (size_t)(count * work.sources[0].stride[0]));
            work.sources[0].data = work.destination.data;
        }
        ck_assert_int_eq(cc__launch_evaluate(&work, &launcher), CC_OK);
        ck_assert_msg(memcmp(buffers[2], buffers[3], bytes) == 0, "round %d, step %d", round, work.steps[1].kind);
        counts[is_wide] += last_kernel == (is_wide ? (const void *)complex128_step : (const void *)complex64_step);
        if (complex_direct_number(last_kernel) >= 0)
            direct[complex_direct_number(last_kernel)]++;
    }
    ck_assert_int_gt(counts[0], 50);
    ck_assert_int_gt(counts[1], 50);
    for (int32_t n = 0; n < 2 * KERNELS_OF_A_WIDTH; n++)
        ck_assert_msg(direct[n] >= 2, "kernel %d ran %d times", n, direct[n]);
    for (int32_t n = 0; n < 4; n++)
        free(buffers[n]);
}
END_TEST

/* Parts of all sizes, equal ones, those that differ by one bit and by many, and what is not ordinary. */
static uint32_t part_case(uint32_t *state, uint32_t other)
{
    static const uint32_t special[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000,
                                       0x0d7fffff, 0x0d800000, 0x717fffff, 0x71800000, 0x7f7fffff, 0xff7fffff,
                                       0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001};
    const uint32_t any = (uint32_t)random_below(state, 1 << 16) << 16 | (uint32_t)random_below(state, 1 << 16);
    switch (random_below(state, 8)) {
    case 0:
        return special[random_below(state, 17)];
    case 1:
        return any;
    case 2:
        return (other ^ (any & 0x80000000)) + (uint32_t)random_below(state, 3) - 1;
    case 3:
        return other - ((uint32_t)random_below(state, 40) << 23);
    default:
        return (any & 0x807fffff) | (uint32_t)(124 + random_below(state, 6)) << 23;
    }
}

static void check_both(cc__complex x, cc__complex y)
{
    ck_assert_uint_eq(cc__store_FLOAT32(x.real), cc__store_FLOAT32(y.real));
    ck_assert_uint_eq(cc__store_FLOAT32(x.imaginary), cc__store_FLOAT32(y.imaginary));
}

static void check_about(double about, double exact)
{
    if (!cc__is_unsure(about)) {
        ck_assert(fabs(about - exact) <= 0x1p-50 * fabs(exact));
        ck_assert_uint_eq(cc__store_FLOAT32(about), cc__store_FLOAT32(exact));
    }
}

static void check_quotient(cc__complex x, cc__complex y)
{
    const cc__complex about = cc__complex64_about_quotient(x, y);
    const cc__complex exact = cc__complex_quotient(x, y, 0);
    check_about(about.real, exact.real);
    check_about(about.imaginary, exact.imaginary);
}

/* The quick ways for complex64 give the bits of those for all complex numbers, or say that they do not. */
START_TEST(steps_of_complex64_are_those_of_complex128)
{
    uint32_t state = 3;
    int32_t unsure = 0;
    double last = 1.0;
    for (int32_t round = 0; round < 100000; round++) {
        const uint32_t real = part_case(&state, 0x3f800000);
        const uint32_t imaginary = part_case(&state, real);
        const cc__complex z = cc__complex_of(cc__load_FLOAT32(real), cc__load_FLOAT32(imaginary));
        const bool is_ordinary = (real >> 23 & 0xff) - 120 < 15 && (imaginary >> 23 & 0xff) - 120 < 15;
        bool is_sure = true;
        bool is_far = false;
        const double exact = cc__angle(z.real, z.imaginary);
        const double about = cc__complex64_about_angle(real, imaginary, &is_far);
        if (!is_far)
            ck_assert_msg(fabs(about - fabs(exact)) <= 0x1p-49 * fabs(exact), "%08x %08x", real, imaginary);
        const uint32_t angle = cc__complex64_angle(real, imaginary, &is_sure);
        if (is_sure)
            ck_assert_msg(angle == cc__store_FLOAT32(exact), "%08x %08x", real, imaginary);
        unsure += is_ordinary && !is_sure;
        const cc__complex other = cc__complex_of(cc__load_FLOAT32(part_case(&state, real)), last);
        check_both(cc__complex64_product(z, other), cc__complex_product(z, other, 0));
        check_quotient(z, other);
        last = z.real;
        ck_assert_msg(cc__store_FLOAT32(cc__complex64_magnitude(z)) == cc__store_FLOAT32(cc__complex_magnitude(z)),
                      "%08x %08x", real, imaginary);
    }
    ck_assert_int_lt(unsure, 20);
}
END_TEST

/* Near the middle between two float32, near the least normal one, at 0 and far below. */
START_TEST(roundings_that_are_sure)
{
    static const double around[] = {0x1.000001p0, 0x1.fffffdp-9, 0x1p-126, 0x1p-150, 0x1p-161, 3.0};
    for (int32_t n = 0; n < 6; n++) {
        for (int64_t off = -600; off <= 600; off++) {
            const uint64_t bits = cc__bits_of_float64(around[n]) + (uint64_t)off;
            const float below = (float)cc__float64_of_bits(bits - 255);
            const float above = (float)cc__float64_of_bits(bits + 255);
            const bool is_unsure = cc__is_unsure(cc__float64_of_bits(bits));
            ck_assert_msg(is_unsure || memcmp(&below, &above, sizeof below) == 0, "near %a, %d", around[n], (int)off);
            ck_assert(!is_unsure || n < 4);
        }
    }
    ck_assert(!cc__is_unsure(0.0) && !cc__is_unsure(-0.0) && !cc__is_unsure(-3.0));
    ck_assert(cc__is_unsure(-0x1.000001p0) && cc__is_unsure(-0x1p-130) && cc__is_unsure(0x1.fffffffp127));
    ck_assert(cc__is_unsure(NAN) && cc__is_unsure(-INFINITY));
}
END_TEST

/* Complex work that is done by parts as it is, and in real numbers on both sides; counts how much of it can be. */
static void compare_by_parts(uint32_t *state, unsigned char *const buffers[6], int32_t counts[2])
{
    static const cc_step_kind kinds[] = {CC_STEP_ADD,          CC_STEP_SUBTRACT, CC_STEP_MULTIPLY, CC_STEP_DIVIDE,
                                         CC_STEP_MULTIPLY_ADD, CC_STEP_NEGATE,   CC_STEP_CONJUGATE};
    static const cc_pixel_type types[] = {CC_PIXEL_COMPLEX64, CC_PIXEL_COMPLEX128, CC_PIXEL_FLOAT32};
    cc__evaluate work;
    int64_t bytes = 0;
    if (!random_work(state, &work, buffers, &bytes))
        return;
    const bool has_real = random_below(state, 8) == 0;
    work.numbers = CC__NUMBERS_COMPLEX;
    work.destination_type = types[random_below(state, 2)];
    const int64_t to_bytes = bytes_of_type(work.destination_type);
    bytes = 80 + random_strides(state, work.size, work.components * to_bytes, to_bytes, work.destination.stride);
    work.destination.data = buffers[4] + random_below(state, 5) * to_bytes;
    if (bytes > BUFFER_BYTES)
        return;
    for (int32_t n = 0; n < work.source_count; n++) {
        cc__source *source = &work.sources[n];
        const bool is_single = source->component_stride == 0;
        const bool is_real = has_real && n == 0;
        source->type = types[is_real ? 2 : random_below(state, 2)];
        source->components = 1;
        source->component_stride = is_single ? 0 : bytes_of_type(source->type);
        const int64_t span = random_strides(state, work.size, work.components * bytes_of_type(source->type),
                                            bytes_of_type(source->type), source->stride);
        if (span + 80 > BUFFER_BYTES)
            return;
        if (random_below(state, 8) == 0)
            source->stride[random_below(state, CC_MAX_DIMENSION)] = 0;
        write_cases(source->type, random_below(state, 5000), span / bytes_of_type(source->type) + 5, buffers[n]);
        source->data = buffers[n] + random_below(state, 5) * bytes_of_type(source->type);
    }
    const bool has_other = random_below(state, 8) == 0;
    for (int32_t i = 1; i < work.step_count; i++) {
        cc__instruction *step = &work.steps[i];
        step->kind = (int32_t)kinds[random_below(state, has_other ? 7 : 6)];
        const bool scales =
            step->kind == CC_STEP_MULTIPLY || step->kind == CC_STEP_DIVIDE || step->kind == CC_STEP_MULTIPLY_ADD;
        if (!has_other) {
            step->a = (cc__term){.kind = scales ? CC__TERM_VALUE : CC__TERM_SOURCE, .value = 0.1 * (double)(i - 2)};
            step->b = (cc__term){.kind = random_below(state, 8) == 0 ? CC__TERM_VALUE : CC__TERM_SOURCE,
                                 .value = 3.0,
                                 .number = (int32_t)random_below(state, work.source_count)};
        }
        step->reals = step->a.kind == CC__TERM_VALUE ? CC__A_IS_REAL : 0;
    }
    work.steps[0].a.kind = CC__TERM_SOURCE;
    memset(buffers[4], 0x5a, (size_t)bytes);
    memset(buffers[5], 0x5a, (size_t)bytes);
    cc__evaluate parts = work;
    cc__evaluate_by_parts(&parts);
    counts[parts.numbers == CC__NUMBERS_REAL]++;
    cc__evaluate_on_host(&work);
    parts.destination.data = buffers[5] + (work.destination.data - buffers[4]);
    cc__evaluate_on_host(&parts);
    ck_assert(memcmp(buffers[4], buffers[5], (size_t)bytes) == 0);
    memset(buffers[5], 0x5a, (size_t)bytes);
    ck_assert_int_eq(cc__launch_evaluate(&parts, &launcher), CC_OK);
    ck_assert(memcmp(buffers[4], buffers[5], (size_t)bytes) == 0);
}

START_TEST(complex_work_by_parts_agrees)
{
    unsigned char *buffers[6];
    uint32_t state = 61;
    int32_t counts[2] = {0};
    for (int32_t n = 0; n < 6; n++)
        buffers[n] = malloc(BUFFER_BYTES);
    for (int32_t round = 0; round < 600; round++)
        compare_by_parts(&state, buffers, counts);
    ck_assert_int_gt(counts[0], 100);
    ck_assert_int_gt(counts[1], 100);
    for (int32_t n = 0; n < 6; n++)
        free(buffers[n]);
}
END_TEST

/* Vectors of 2 to 4 components, with every head and tail. */
START_TEST(magnitudes_agree_with_the_host)
{
    unsigned char *buffers[3];
    uint32_t state = 8;
    int32_t counts[5] = {0};
    const size_t bytes = 640 * 16;
    for (int32_t n = 0; n < 3; n++)
        buffers[n] = aligned_alloc(64, bytes);
    for (int32_t round = 0; round < 120; round++) {
        const int32_t components = 2 + round % 3;
        const int64_t skip = round / 3 % 5;
        const int64_t count = 1 + random_below(&state, 600);
        cc__evaluate work = {.destination_type = CC_PIXEL_FLOAT32,
                             .components = 1,
                             .size = {count, 1, 1, 1},
                             .source_count = 1,
                             .step_count = 1,
                             .destination = {.data = buffers[1] + 4 * skip, .stride = {4}}};
        write_cases(CC_PIXEL_FLOAT32, random_below(&state, 60), (count + skip) * components, buffers[0]);
        work.sources[0] = (cc__source){.data = buffers[0] + skip * 4 * components,
                                       .stride = {(int64_t)4 * components},
                                       .type = CC_PIXEL_FLOAT32,
                                       .components = components};
        work.steps[0] = (cc__instruction){.kind = CC_STEP_LOAD, .a = {.kind = CC__TERM_MAGNITUDE}, .slot = -1};
        memset(buffers[1], 0x5a, bytes);
        memset(buffers[2], 0x5a, bytes);
        cc__evaluate_on_host(&work);
        work.destination.data = buffers[2] + 4 * skip;
        ck_assert_int_eq(cc__launch_evaluate(&work, &launcher), CC_OK);
        ck_assert_msg(memcmp(buffers[1], buffers[2], bytes) == 0, "round %d", round);
        counts[components] += is_magnitude(last_kernel);
    }
    for (int32_t n = 2; n <= 4; n++)
        ck_assert_int_gt(counts[n], 15);
    for (int32_t n = 0; n < 3; n++)
        free(buffers[n]);
}
END_TEST

/* Any steps of an 8-bit source, for all types that its results may have. */
START_TEST(tables_agree_with_the_host)
{
    unsigned char *buffers[3];
    uint32_t state = 5;
    int32_t counts[COUNT_KERNELS] = {0};
    const int64_t most = CC__TABLE_LEAST + 640; /* whole alignments, as aligned_alloc() wants them */
    const size_t bytes = (size_t)most * 4;
    for (int32_t n = 0; n < 3; n++)
        buffers[n] = aligned_alloc(64, bytes);
    for (int32_t round = 0; round < 60; round++) {
        static const cc_pixel_type types[] = {CC_PIXEL_BOOL, CC_PIXEL_UINT8, CC_PIXEL_INT8};
        cc__evaluate work;
        memset(&work, 0, sizeof work);
        work.components = 1;
        work.source_count = 1;
        do
            work.destination_type = (cc_pixel_type)(round % 13);
        while (!cc__dense_is_narrow(work.destination_type) && ++round);
        const int64_t skip = random_below(&state, 17);
        const int64_t count = CC__TABLE_LEAST + random_below(&state, 580);
        const int64_t to_bytes = bytes_of_type(work.destination_type);
        memcpy(work.size, (const int64_t[]){count, 1, 1, 1}, sizeof work.size);
        work.destination.stride[0] = to_bytes;
        work.destination.data = buffers[1] + skip * to_bytes;
        work.sources[0] = (cc__source){.data = buffers[0] + skip,
                                       .type = types[random_below(&state, 3)],
                                       .stride = {1},
                                       .component_stride = 1,
                                       .components = 1};
        for (int64_t n = 0; n < most; n++)
            buffers[0][n] = (unsigned char)random_below(&state, 256);
        random_steps(&state, &work);
        memset(buffers[1], 0x5a, bytes);
        memset(buffers[2], 0x5a, bytes);
        cc__evaluate_on_host(&work);
        work.destination.data = buffers[2] + skip * to_bytes;
        if (to_bytes == 1 && random_below(&state, 2) == 0) {
            memcpy(work.destination.data, work.sources[0].data, (size_t)count);
            work.sources[0].data = work.destination.data;
        }
        ck_assert_int_eq(cc__launch_evaluate(&work, &launcher), CC_OK);
        ck_assert_msg(memcmp(buffers[1], buffers[2], bytes) == 0, "round %d", round);
        count_kernel(counts);
    }
    for (int32_t n = 5; n < COUNT_KERNELS; n++)
        ck_assert_int_gt(counts[n], 5);
    for (int32_t n = 0; n < 3; n++)
        free(buffers[n]);
}
END_TEST

#define CHECK_FROM(NAME, HOLDER, BITS)                                                                                 \
    for (uint32_t n = 0; n < UINT32_C(1) << BITS; n++) {                                                               \
        const double expected = cc__load_##NAME((HOLDER)n);                                                            \
        const double found = (double)cc__float32_from_##NAME((HOLDER)n);                                               \
        ck_assert_msg(cc__store_FLOAT64(found) == cc__store_FLOAT64(expected), #NAME " %u", n);                        \
    }
#define CHECK_INTO(NAME, HOLDER, BITS)                                                                                 \
    if (cc__float32_into_##NAME(value) != cc__store_##NAME((double)value))                                             \
        ck_abort_msg(#NAME " of %a", (double)value);

/* Every value of the small types, and float32 of every exponent and leading bits, halves and their neighbours. */
START_TEST(casts_in_float32_are_those_in_float64)
{
    static const uint32_t rest[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x1000, 0xf001};
    CC__FOR_EACH_TYPE_UP_TO_16_BITS(CHECK_FROM)
    for (uint32_t upper = 0; upper < 0x10000; upper++) {
        for (int32_t n = 0; n < 8; n++) {
            const float value = cc__float32_of_bits(upper << 16 | rest[n]);
            CC__FOR_EACH_TYPE_UP_TO_16_BITS(CHECK_INTO)
            CHECK_INTO(FLOAT32, uint32_t, 32)
        }
    }
    for (int32_t n = -140000; n < 140000; n++) {
        for (int32_t aside = -1; aside <= 1; aside++) {
            const float value = cc__float32_of_bits(cc__bits_of_float32((float)n * 0.5F) + (uint32_t)aside);
            CC__FOR_EACH_TYPE_UP_TO_16_BITS(CHECK_INTO)
        }
    }
}
END_TEST

START_TEST(plain_limits_do_what_limits_do)
{
    static const double values[] = {0.0, -0.0, 1.0, -1.0, 0x1p-1074, -0x1p-1074, 0x1p1023, INFINITY, -INFINITY, NAN};
    for (int32_t i = 0; i < 10; i++) {
        for (int32_t j = 0; j < 9; j++) {
            if (!cc__dense_is_plain(values[j]))
                continue;
            ck_assert(cc__store_FLOAT64(cc__dense_plain_minimum(values[i], values[j])) ==
                      cc__store_FLOAT64(cc__minimum(values[i], values[j])));
            ck_assert(cc__store_FLOAT64(cc__dense_plain_maximum(values[i], values[j])) ==
                      cc__store_FLOAT64(cc__maximum(values[i], values[j])));
        }
    }
    ck_assert(!cc__dense_is_plain(NAN) && !cc__dense_is_plain(-0.0) && cc__dense_is_plain(0.0));
}
END_TEST

/* Bits that the host's compiler would not take apart. */
START_TEST(whole_numbers_become_float64_exactly)
{
    for (int64_t n = 0; n < 1 << 17; n++) {
        const uint32_t value = (uint32_t)(n < 1 << 16 ? n * 65537 : n - (1 << 16));
        ck_assert(cc__bits_of_float64(cc__float64_of_uint32(value)) == cc__bits_of_float64((double)value));
        ck_assert(cc__bits_of_float64(cc__float64_of_int32((int32_t)value)) ==
                  cc__bits_of_float64((double)(int32_t)value));
    }
}
END_TEST

/* One long row of any types, with every head and tail; some sources are one component for all, some not aligned. */
static void random_dense_work(uint32_t *state, cc__evaluate *work, unsigned char *const buffers[5])
{
    memset(work, 0, sizeof *work);
    work->components = 1;
    work->source_count = (int32_t)(1 + random_below(state, 4));
    const bool is_wide = random_below(state, 3) == 0;
    const int64_t skip = random_below(state, 9);
    const int64_t count = 500 + random_below(state, 80);
    work->destination_type = (cc_pixel_type)random_below(state, 13);
    memcpy(work->size, (const int64_t[]){count, 1, 1, 1}, sizeof work->size);
    work->destination.stride[0] = bytes_of_type(work->destination_type);
    work->destination.data = buffers[4] + skip * work->destination.stride[0];
    for (int32_t n = 0; n < work->source_count; n++) {
        cc__source *source = &work->sources[n];
        do
            source->type = (cc_pixel_type)random_below(state, 13);
        while (!is_wide && !cc__dense_is_narrow(source->type));
        const int64_t bytes = bytes_of_type(source->type);
        const bool is_single = random_below(state, 6) == 0;
        source->components = 1;
        source->stride[0] = is_single ? 0 : bytes;
        source->component_stride = source->stride[0];
        write_cases(source->type, random_below(state, 50), count + 10, buffers[n]);
        source->data = buffers[n] + (skip + (random_below(state, 20) == 0 ? 1 : 0)) * bytes;
    }
    random_steps(state, work);
}

START_TEST(dense_kernels_agree_with_the_host)
{
    unsigned char *buffers[6];
    uint32_t state = 77 + (uint32_t)_i;
    int32_t narrow = 0, wide = 0;
    const size_t bytes = 800 * 8;
    for (int32_t n = 0; n < 6; n++)
        buffers[n] = aligned_alloc(64, bytes);
    for (int32_t round = 0; round < 1500; round++) {
        cc__evaluate work;
        random_dense_work(&state, &work, buffers);
        memset(buffers[4], 0x5a, bytes);
        memset(buffers[5], 0x5a, bytes);
        cc__evaluate_on_host(&work);
        work.destination.data = buffers[5] + (work.destination.data - buffers[4]);
        ck_assert_int_eq(cc__launch_evaluate(&work, &launcher), CC_OK);
        ck_assert_msg(memcmp(buffers[4], buffers[5], bytes) == 0, "round %d", round);
        narrow += last_kernel == (const void *)narrow_evaluate;
        wide += last_kernel == (const void *)wide_evaluate;
    }
    ck_assert_int_gt(narrow, 30);
    ck_assert_int_gt(wide, 30);
    for (int32_t n = 0; n < 6; n++)
        free(buffers[n]);
}
END_TEST

static int32_t programs;

/* Every second time there is no kernel. */
static cc_status run_program(const cc__launcher *self, const cc__program *program, const cc__program_call *call,
                             bool *out_done)
{
    (void)self;
    *out_done = programs++ % 2 == 0;
    if (*out_done) {
        char *text = cc__program_text(program);
        ptx_kernel *kernel = ptx_parse(text);
        ptx_run(kernel, cc__program_blocks(program, call), CC__PROGRAM_THREADS, call);
        ptx_free(kernel);
        cc__free(text);
    }
    return CC_OK;
}

/* What had a dense kernel has the one that was made for it, if there is one. */
START_TEST(compiled_kernels_agree_with_the_host)
{
    cc__launcher with_programs = launcher;
    with_programs.launch_program = run_program;
    unsigned char *buffers[6];
    uint32_t state = 99;
    const size_t bytes = 800 * 8;
    programs = 0;
    for (int32_t n = 0; n < 6; n++)
        buffers[n] = aligned_alloc(64, bytes);
    for (int32_t round = 0; round < 150; round++) {
        cc__evaluate work;
        random_dense_work(&state, &work, buffers);
        memset(buffers[4], 0x5a, bytes);
        memset(buffers[5], 0x5a, bytes);
        cc__evaluate_on_host(&work);
        work.destination.data = buffers[5] + (work.destination.data - buffers[4]);
        ck_assert_int_eq(cc__launch_evaluate(&work, &with_programs), CC_OK);
        ck_assert_msg(memcmp(buffers[4], buffers[5], bytes) == 0, "round %d", round);
    }
    ck_assert_int_gt(programs, 20);
    for (int32_t n = 0; n < 6; n++)
        free(buffers[n]);
}
END_TEST

/* Heads and tails are launches of their own: when a later one fails, the launcher says what the output is. */
START_TEST(failed_launches_leave_the_output_or_say_so)
{
    unsigned char *buffers[6];
    uint32_t state = 31;
    int64_t launches_before_the_last = 0, torn = 0;
    const size_t bytes = 800 * 8;
    for (int32_t n = 0; n < 6; n++)
        buffers[n] = aligned_alloc(64, bytes);
    memset(buffers[5], 0x5a, bytes);
    for (int32_t round = 0; round < 100; round++) {
        cc__evaluate work;
        random_dense_work(&state, &work, buffers);
        const failures seen = fail_each_launch(cc__launch_evaluate, &work, launch, buffers[4], bytes, buffers[5]);
        launches_before_the_last += seen.launches - 1;
        torn += seen.torn;
    }
    ck_assert_int_gt(launches_before_the_last, 30);
    ck_assert_int_eq(torn, launches_before_the_last);
    for (int32_t n = 0; n < 6; n++)
        free(buffers[n]);
}
END_TEST

/* Dense rows of float32, with every head and tail, one step or a multiply and an add. */
/* One or two steps on `count` numbers, of which the first lie `skip` behind a whole vector, and of y `skip_y`. */
static cc__evaluate direct_work(cc_pixel_type type, int64_t count, int32_t kind, bool has_y, double number,
                                unsigned char *const buffers[4], int64_t skip, int64_t skip_y)
{
    const int64_t bytes = bytes_of_type(type);
    cc__evaluate work = {.destination_type = type,
                         .components = 1,
                         .size = {count, 1, 1, 1},
                         .source_count = has_y ? 2 : 1,
                         .step_count = 2,
                         .destination = {.data = buffers[2] + skip * bytes, .stride = {bytes}}};
    for (int32_t n = 0; n < work.source_count; n++)
        work.sources[n] = (cc__source){.data = buffers[n] + (n == 0 ? skip : skip_y) * bytes,
                                       .stride = {bytes},
                                       .component_stride = bytes,
                                       .type = type,
                                       .components = 1};
    const cc__term value = {.kind = CC__TERM_VALUE, .value = number};
    const cc__term second = {.kind = CC__TERM_SOURCE, .number = 1};
    work.steps[0] = (cc__instruction){.kind = CC_STEP_LOAD, .a = {.kind = CC__TERM_SOURCE}, .slot = -1};
    work.steps[1] = (cc__instruction){.kind = kind, .a = value, .b = value, .slot = -1};
    work.steps[1].b.value = 3.0 * number;
    if (has_y && kind == CC_STEP_MULTIPLY_ADD)
        work.steps[1].b = second;
    else if (has_y)
        work.steps[1].a = second;
    return work;
}

static bool is_direct(const cc__evaluate *work)
{
    return cc__direct_form_of(work) != CC__DIRECT_NONE &&
           last_kernel ==
               direct_kernel(cc__direct_form_of(work), work->steps[1].kind, work->destination_type == CC_PIXEL_FLOAT64);
}

START_TEST(direct_kernels_agree_with_the_host)
{
    static const int32_t kinds[] = {CC_STEP_ADD,         CC_STEP_SUBTRACT, CC_STEP_MULTIPLY, CC_STEP_DIVIDE,
                                    CC_STEP_MINIMUM,     CC_STEP_MAXIMUM,  CC_STEP_NEGATE,   CC_STEP_ABSOLUTE,
                                    CC_STEP_SQUARE,      CC_STEP_CLAMP,    CC_STEP_WITHIN,   CC_STEP_SQUARE_ROOT,
                                    CC_STEP_MULTIPLY_ADD};
    static const int64_t counts[] = {1, 2, 3, 4, 5, 7, 63, 1024, 1027, 2999};
    const cc_pixel_type type = _i == 0 ? CC_PIXEL_FLOAT32 : CC_PIXEL_FLOAT64;
    static const double numbers[] = {0.75, 0.1, -1e-60, 1e300};
    const int64_t most = 3024; /* whole alignments, as aligned_alloc() wants them */
    const size_t bytes = (size_t)(most * bytes_of_type(type));
    unsigned char *buffers[4];
    int32_t direct = 0, done = 0;
    for (int32_t n = 0; n < 4; n++) {
        buffers[n] = aligned_alloc(64, bytes);
        write_cases(type, 7 * n, most, buffers[n]);
    }
    for (int32_t kind = 0; kind < 13; kind++) {
        for (int32_t variant = 0; variant < 32; variant++) {
            for (int32_t c = 0; c < 10; c++) {
                const int64_t skip = (c + kind) % 4, skip_y = variant & 4 ? skip + 1 : skip;
                const bool has_y = (variant & 1) != 0, is_in_place = (variant & 2) != 0;
                cc__evaluate work =
                    direct_work(type, counts[c], kinds[kind], has_y, numbers[variant / 8], buffers, skip, skip_y);
                memset(buffers[2], 0x5a, bytes);
                memset(buffers[3], 0x5a, bytes);
                cc__evaluate_on_host(&work);
                work.destination.data = buffers[3] + (work.destination.data - buffers[2]);
                if (is_in_place) {
                    memcpy(work.destination.data, work.sources[0].data, (size_t)(counts[c] * bytes_of_type(type)));
                    work.sources[0].data = work.destination.data;
                }
                ck_assert_int_eq(cc__launch_evaluate(&work, &launcher), CC_OK);
                ck_assert_msg(memcmp(buffers[2], buffers[3], bytes) == 0, "step %d, variant %d, %lld", kinds[kind],
                              variant, (long long)counts[c]);
                direct += is_direct(&work);
                done++;
            }
        }
    }
    ck_assert_int_gt(direct, done * 2 / 3);
    for (int32_t n = 0; n < 4; n++)
        free(buffers[n]);
}
END_TEST

/* More rows than a launch counts are split: here, as if it counted few. */
START_TEST(the_parts_of_split_rows)
{
    static unsigned char from[8 * 16], to[8 * 16], expected[8 * 16];
    cc__evaluate work = {
        .destination_type = CC_PIXEL_INT16, .components = 1, .size = {2, 2, 3, 2}, .source_count = 1, .step_count = 1};
    const int64_t strides[] = {4, 10, 20, 61};
    work.sources[0] = (cc__source){.data = from, .type = CC_PIXEL_UINT8, .components = 1, .component_stride = 1};
    work.destination.data = expected;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        work.destination.stride[axis] = strides[axis] / 2 * 2;
        work.sources[0].stride[axis] = strides[axis];
    }
    for (int32_t n = 0; n < 128; n++)
        from[n] = (unsigned char)n;
    work.steps[0] = (cc__instruction){.kind = CC_STEP_LOAD, .a = {.kind = CC__TERM_SOURCE}, .slot = -1};
    cc__evaluate_on_host(&work);
    cc__lattice lattice;
    cc__general_plan plan, second;
    cc__rows rows, rest;
    work.destination.data = to;
    cc__evaluate_plan(&work, &lattice);
    cc__general_plan_make(&work, &lattice, &plan, &rows);
    split_rows(&plan, &rows, &second, &rest);
    ck_assert_int_eq(launch_rows(&plan, (const void *)evaluate_real, PACK, rows, &launcher), CC_OK);
    ck_assert_int_eq(launch_rows(&second, (const void *)evaluate_real, PACK, rest, &launcher), CC_OK);
    ck_assert_mem_eq(to, expected, sizeof to);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base_evaluate_kernel");
    TCase *tcase = tcase_create("base_evaluate_kernel");
    tcase_add_loop_test(tcase, any_work_agrees_with_the_host, 0, 4);
    tcase_add_loop_test(tcase, dense_kernels_agree_with_the_host, 0, 4);
    tcase_add_test(tcase, compiled_kernels_agree_with_the_host);
    tcase_add_loop_test(tcase, kernels_of_one_step_agree_with_the_host, 0, 2);
    tcase_add_test(tcase, kernels_of_one_complex_step_agree_with_the_host);
    tcase_add_test(tcase, steps_of_complex64_are_those_of_complex128);
    tcase_add_test(tcase, roundings_that_are_sure);
    tcase_add_test(tcase, complex_work_by_parts_agrees);
    tcase_add_test(tcase, magnitudes_agree_with_the_host);
    tcase_add_test(tcase, tables_agree_with_the_host);
    tcase_add_test(tcase, casts_in_float32_are_those_in_float64);
    tcase_add_test(tcase, plain_limits_do_what_limits_do);
    tcase_add_test(tcase, whole_numbers_become_float64_exactly);
    tcase_add_loop_test(tcase, direct_kernels_agree_with_the_host, 0, 2);
    tcase_add_test(tcase, the_parts_of_split_rows);
    tcase_add_test(tcase, failed_launches_leave_the_output_or_say_so);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
