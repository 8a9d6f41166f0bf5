/* The kernels of filters along lines, run on the CPU, against the host's own path: the same bits. */
#include "support/cuda_blocks_on_host.h"

/* So few that works of this size are split. */
static int64_t most_lines = INT64_C(1) << 30;
#define MOST_LINES most_lines
#include "kernels/line_filter.cu"
#undef RESULTS
#include "kernels/short_filter.cu"
#include "support/plain_work.h"
#include "support/rescale_cases.h"

#include <stdlib.h>

#define BUFFER_BYTES ((int64_t)1 << 17)

typedef struct call {
    const void *kernel;
    void **arguments;
    bool is_wide;
} call;

static int32_t launches;
static int32_t row_launches;
static int32_t short_launches;
static bool is_wide;

static bool is_short(const void *kernel)
{
    return kernel == (const void *)short_rows_8 || kernel == (const void *)short_rows_16 ||
           kernel == (const void *)short_rows_32 || kernel == (const void *)short_columns_8 ||
           kernel == (const void *)short_columns_16 || kernel == (const void *)short_columns_32;
}

static void run_kernel(void *context)
{
    const call *now = context;
    if (is_short(now->kernel))
        ((void (*)(const short_plan))now->kernel)(*(const short_plan *)now->arguments[0]);
    else if (now->is_wide)
        ((void (*)(const cc__line_plan_double))now->kernel)(*(const cc__line_plan_double *)now->arguments[0]);
    else
        ((void (*)(const cc__line_plan_float))now->kernel)(*(const cc__line_plan_float *)now->arguments[0]);
}

static cc_status launch(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks, uint32_t block_threads,
                        void **arguments)
{
    call now = {kernel, arguments, is_wide};
    (void)launcher;
    ck_assert_uint_eq(block_threads, CC__BLOCK_THREADS);
    ck_assert_uint_gt(grid_blocks, 0);
    launches++;
    short_launches += is_short(kernel);
    if (kernel == (const void *)filter_rows_same_float || kernel == (const void *)filter_rows_any_float ||
        kernel == (const void *)filter_rows_same_double || kernel == (const void *)filter_rows_any_double) {
        row_launches++;
        cuda_blocks_run(grid_blocks, run_kernel, &now);
        return CC_OK;
    }
    /* The threads of the others do not wait for each other. */
    gridDim.x = grid_blocks;
    for (blockIdx.x = 0; blockIdx.x < grid_blocks; blockIdx.x++)
        for (threadIdx.x = 0; threadIdx.x < block_threads; threadIdx.x++)
            run_kernel(&now);
    return CC_OK;
}

static const cc__launcher launcher = LAUNCHER(launch, 1);

static int64_t bytes_of(cc_pixel_type type)
{
    return (int64_t)cc_pixel_type_size_bytes(type);
}

static void write_numbers(cc_pixel_type type, int64_t count, bool special, unsigned char *out)
{
    for (int64_t i = 0; i < count; i++) {
        const float as_float = (float)(i * 37 % 101) / 3;
        const double as_double = (double)(i * 37 % 103) / 7;
        if (type == CC_PIXEL_FLOAT32 && !special)
            memcpy(out + 4 * i, &as_float, 4);
        else if (type == CC_PIXEL_FLOAT64 && !special)
            memcpy(out + 8 * i, &as_double, 8);
        else
            rescale_case_write(type, i, out + i * bytes_of(type));
    }
}

static void on_host(const cc__line_filter *work)
{
    cc__line_pieces pieces;
    cc__line_pieces_plan(work, &pieces);
    for (int64_t piece = 0; piece < pieces.count; piece++)
        cc__line_piece(work, &pieces, piece);
}

/* Same bits, also between the destination's pixels, where nothing may be written. */
static void compare(cc__line_filter *work, const char *what, int32_t round)
{
    static unsigned char expected[BUFFER_BYTES];
    static unsigned char found[BUFFER_BYTES];
    memset(expected, 0xA5, sizeof expected);
    memset(found, 0xA5, sizeof found);
    work->images.destination.data = expected + 64;
    on_host(work);
    work->images.destination.data = found + 64;
    is_wide = work->is_wide != 0;
    cc__line_filter given = *work;
    ck_assert_int_eq(launch_part(&given, &launcher, launch), CC_OK);
    int64_t i = 0;
    while (i < BUFFER_BYTES && expected[i] == found[i])
        i++;
    ck_assert_msg(i == BUFFER_BYTES,
                  "%s, round %d, types %d to %d, axis %d of %lld %lld %lld %lld x %d, radius %d, first %lld of "
                  "%lld: byte %lld differs",
                  what, round, (int)work->images.source_type, (int)work->images.destination_type, work->images.axis,
                  (long long)work->images.size[0], (long long)work->images.size[1], (long long)work->images.size[2],
                  (long long)work->images.size[3], work->images.components, work->radius, (long long)work->first,
                  (long long)work->length, (long long)i - 64);
}

static void set_weights(cc__line_filter *work)
{
    for (int32_t d = 0; d <= work->radius; d++)
        work->weight[d] = 1.0 / (3.0 + d);
}

START_TEST(any_layout)
{
    static unsigned char source[BUFFER_BYTES];
    uint32_t state = 11 + (uint32_t)_i;
    int32_t done = 0;
    for (int32_t round = 0; round < 40; round++) {
        cc__line_filter work = {.images.components = (int32_t)(1 + random_below(&state, 3)), .border_value = 2.5};
        int64_t lines_size[CC_MAX_DIMENSION];
        work.images.axis = round % 5 == 0 ? 0 : (int32_t)random_below(&state, CC_MAX_DIMENSION);
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
            work.images.size[axis] = random_below(&state, 3) == 0 ? 1 : 1 + random_below(&state, 4);
        if (random_below(&state, 2) == 0)
            work.images.size[work.images.axis] = 1 + random_below(&state, 60);
        work.first = random_below(&state, 2) == 0 ? 0 : random_below(&state, 40);
        work.length = work.images.size[work.images.axis] + work.first +
                      (random_below(&state, 2) == 0 ? 0 : random_below(&state, 40));
        work.radius = (int32_t)random_below(&state, random_below(&state, 3) == 0 ? 60 : 12);
        work.border = (int32_t)random_below(&state, 5);
        work.is_wide = (int32_t)random_below(&state, 2);
        const cc_pixel_type number = work.is_wide ? CC_PIXEL_FLOAT64 : CC_PIXEL_FLOAT32;
        const bool same = random_below(&state, 2) == 0;
        work.images.source_type = same ? number : (cc_pixel_type)random_below(&state, 13);
        work.images.destination_type = same ? number : (cc_pixel_type)random_below(&state, 13);
        set_weights(&work);
        const int64_t from = bytes_of(work.images.source_type), to = bytes_of(work.images.destination_type);
        memcpy(lines_size, work.images.size, sizeof lines_size);
        lines_size[work.images.axis] = work.length;
        const int64_t from_bytes =
            random_strides(&state, lines_size, from * work.images.components, from, work.images.source.stride);
        const int64_t to_bytes =
            random_strides(&state, work.images.size, to * work.images.components, to, work.images.destination.stride);
        if (from_bytes + 64 > BUFFER_BYTES || to_bytes + 128 > BUFFER_BYTES)
            continue;
        write_numbers(work.images.source_type, from_bytes / from, random_below(&state, 4) == 0, source);
        work.images.source.data = source;
        compare(&work, "any layout", round);
        done++;
    }
    ck_assert_int_gt(done, 30);
}
END_TEST

static cc__line_filter dense(int64_t i, int64_t j, int32_t axis, int32_t radius, bool wide)
{
    cc__line_filter work = {.images = {.components = 1, .axis = axis, .size = {i, j, 1, 1}}, .radius = radius};
    const cc_pixel_type number = wide ? CC_PIXEL_FLOAT64 : CC_PIXEL_FLOAT32;
    work.is_wide = wide;
    work.border = CC_BORDER_REFLECT;
    work.images.source_type = number;
    work.images.destination_type = number;
    work.length = axis == 0 ? i : j;
    work.images.source.stride[0] = bytes_of(number);
    for (int32_t n = 1; n < CC_MAX_DIMENSION; n++)
        work.images.source.stride[n] = work.images.source.stride[n - 1] * work.images.size[n - 1];
    work.images.destination = work.images.source;
    set_weights(&work);
    return work;
}

/* Rows of several blocks, the longest reach, many rows in a block; lines that are longer than a block's share. */
START_TEST(long_rows_and_far_reach)
{
    static unsigned char source[BUFFER_BYTES];
    static const struct {
        int64_t i, j;
        int32_t axis, radius;
    } cases[] = {{5003, 2, 0, 9},   {2048, 3, 0, 256}, {4100, 1, 0, 255}, {3, 16, 0, 256}, {62, 90, 0, 32},
                 {130, 40, 1, 256}, {7, 900, 1, 17},   {700, 7, 1, 3},    {1, 1, 0, 256},  {1, 1000, 1, 5}};
    row_launches = 0;
    launches = 0;
    for (int32_t n = 0; n < (int32_t)(sizeof cases / sizeof cases[0]); n++) {
        const bool wide = n % 3 == 2;
        cc__line_filter work = dense(cases[n].i, cases[n].j, cases[n].axis, cases[n].radius, wide);
        write_numbers(work.images.source_type, cases[n].i * cases[n].j, false, source);
        work.images.source.data = source;
        compare(&work, "long rows", n);
    }
    ck_assert_int_eq(launches, 10);
    ck_assert_int_eq(row_launches, 7);
}
END_TEST

/* Every reach that a thread can hold, and every border; lines and rows that end within a thread's share, or go on. */
START_TEST(short_reach)
{
    static unsigned char source[BUFFER_BYTES];
    static const int64_t lengths[] = {64, 68, 100, 128};
    short_launches = 0;
    for (int32_t n = 0; n < 160; n++) {
        const int64_t length = lengths[n % 4];
        const int32_t axis = n / 4 % 2, radius = n < 128 ? 1 + n / 8 : 17 + 5 * (n / 8 - 16);
        cc__line_filter work = dense(axis == 0 ? length : 3, axis == 0 ? 3 : length + n % 3, axis, radius, false);
        work.border = n % 5;
        work.border_value = -2.5;
        if (n % 3 == 0) {
            work.images.size[axis] -= 24;
            work.first = 20;
        }
        write_numbers(CC_PIXEL_FLOAT32, 3 * (length + 2), n % 7 == 0, source);
        work.images.source.data = source;
        compare(&work, "short reach", n);
    }
    ck_assert_int_eq(short_launches, 160);
}
END_TEST

START_TEST(too_many_lines_for_a_launch)
{
    static unsigned char source[BUFFER_BYTES];
    most_lines = 7;
    for (int32_t axis = 0; axis < 2; axis++) {
        cc__line_filter work = dense(11, 5, axis, 4, false);
        work.images.size[2] = 3;
        write_numbers(work.images.source_type, INT64_C(11) * 5 * 3, false, source);
        work.images.source.data = source;
        launches = 0;
        compare(&work, "split", axis);
        ck_assert_int_gt(launches, 2);
    }
    most_lines = INT64_C(1) << 30;
}
END_TEST

/* A radius of 0 casts, and may do so where it stands. */
START_TEST(a_cast_in_place)
{
    static unsigned char expected[BUFFER_BYTES];
    static unsigned char found[BUFFER_BYTES];
    for (int32_t axis = 0; axis < 2; axis++) {
        cc__line_filter work = dense(300, 20, axis, 0, false);
        work.weight[0] = 1;
        write_numbers(work.images.source_type, INT64_C(300) * 20, false, found);
        memcpy(expected, found, sizeof expected);
        work.images.source.data = found;
        work.images.destination.data = found;
        is_wide = false;
        cc__line_filter given = work;
        ck_assert_int_eq(launch_part(&given, &launcher, launch), CC_OK);
        ck_assert(memcmp(expected, found, sizeof found) == 0);
        on_host(&work);
        ck_assert(memcmp(expected, found, sizeof found) == 0);
    }
}
END_TEST

/* Several slabs are written one after the other; of one, only the last pass writes the output. */
START_TEST(failed_passes_leave_the_output_or_say_so)
{
    static unsigned char before[BUFFER_BYTES], found[BUFFER_BYTES], expected[BUFFER_BYTES], scratch[4 * BUFFER_BYTES];
    const size_t bytes = (size_t)5 * 4 * 40 * 4;
    write_numbers(CC_PIXEL_FLOAT32, 5 * 4 * 40, false, before);
    is_wide = false;
    for (int32_t n = 0; n < 4; n++) {
        const bool has_slabs = n % 2 == 1;
        cc__smooth work = {.pass_count = 3, .in_place = n / 2, .border = CC_BORDER_REPLICATE, .scratch = scratch};
        work.images = (cc__line_images){.source = {found, {4, 20, 80, 3200}},
                                        .destination = {found, {4, 20, 80, 3200}},
                                        .source_type = CC_PIXEL_FLOAT32,
                                        .destination_type = CC_PIXEL_FLOAT32,
                                        .size = {5, 4, 40, 1},
                                        .components = 1};
        for (int32_t pass = 0; pass < 3; pass++)
            work.passes[pass] = (cc__smooth_pass){.axis = 2 - pass, .radius = 1, .weight = {0.5, 0.25}};
        if (!work.in_place)
            work.images.source.data = before;
        cc__smooth_plan_slabs(&work, has_slabs ? 1 : INT64_MAX);
        ck_assert_int_le(work.slab_memories * work.slab_bytes, (int64_t)sizeof scratch);
        const failures seen = fail_each_launch(cc__launch_smooth, &work, launch, found, bytes, before);
        ck_assert_int_eq(seen.launches, has_slabs ? 9 : 3);
        if (has_slabs)
            ck_assert_int_eq(seen.torn, work.in_place ? 5 : 6);
        else
            ck_assert_int_eq(seen.torn, 0);
        if (n > 0)
            ck_assert_mem_eq(found, expected, bytes);
        memcpy(expected, found, bytes);
    }
    ck_assert_mem_ne(expected, before, bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("line_filter_kernel");
    TCase *tcase = tcase_create("line_filter_kernel");
    tcase_add_loop_test(tcase, any_layout, 0, 1);
    tcase_add_test(tcase, long_rows_and_far_reach);
    tcase_add_test(tcase, short_reach);
    tcase_add_test(tcase, too_many_lines_for_a_launch);
    tcase_add_test(tcase, a_cast_in_place);
    tcase_add_test(tcase, failed_passes_leave_the_output_or_say_so);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
