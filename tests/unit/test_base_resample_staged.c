/*
 * Linear resampling by blocks that bring planes to shared memory, run on the CPU, against the host's own path: the same
 * bits. And what such blocks are not for.
 */
#include "support/cuda_blocks_on_host.h"

#include "kernels/number_types.h"
#include "kernels/resample.cu"
#include "kernels/resample_staged.cu"
#include "support/plain_work.h"
#include "support/rescale_cases.h"
#include "support/share.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

/* Each thread of a block is a thread here. */
#define SHARE_OF(rounds) (1 + ((rounds)-1) / share_one_in())

static const void *last_kernel;
static const void *last_staged;
static int32_t last_depth;
static uint32_t most_blocks;

/* Kernels that the staged ones are tried before, and the coefficients that they have nothing to do with. */
const void *cc__nearest_kernel(const cc__resample *work)
{
    (void)work;
    return NULL;
}

const void *cc__warp_kernel(const cc__resample *work)
{
    (void)work;
    return NULL;
}

const void *cc__cubic_kernel(const cc__resample *work)
{
    (void)work;
    return NULL;
}

const void *cc__linear_kernel(const cc__resample *work)
{
    return work->interpolation == CC_INTERPOLATION_LINEAR && work->in_float32 && work->field.data == NULL ? &last_kernel
                                                                                                          : NULL;
}

cc_status cc__launch_bspline(const cc__bspline *work, const cc__launcher *launcher)
{
    (void)work, (void)launcher;
    return CC_OK;
}

typedef struct call {
    const void *kernel;
    const resample_plan *plan;
} call;

static void run_kernel(void *context)
{
    const call *now = context;
    ((void (*)(const resample_plan))now->kernel)(*now->plan);
}

/* Only staged kernels run here. */
static cc_status launch(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks, uint32_t block_threads,
                        void **arguments)
{
    call now = {kernel, arguments[0]};
    resample_plan plan = *now.plan;
    (void)launcher;
    ck_assert_uint_eq(block_threads, CC__BLOCK_THREADS);
    last_kernel = kernel;
    last_staged = cc__staged_kernel(&plan, 1);
    last_depth = now.plan->columns.depth;
    if (kernel == last_staged)
        cuda_blocks_run(grid_blocks == 0 || grid_blocks > most_blocks ? most_blocks : grid_blocks, run_kernel, &now);
    return CC_OK;
}

/* As on a device with so few multiprocessors that columns are as long as they get, or so many that they are short. */
static const cc__launcher long_columns = LAUNCHER(launch, 0);
static const cc__launcher short_columns = LAUNCHER(launch, 1);

static int64_t bytes_of_type(cc_pixel_type type)
{
    return (int64_t)cc_pixel_type_size_bytes(type);
}

static void write_cases(cc_pixel_type type, uint32_t *state, int64_t count, unsigned char *out)
{
    for (int64_t i = 0; i < count; i++, out += bytes_of_type(type)) {
        if (random_below(state, 32) == 0)
            rescale_case_write(type, random_below(state, 60), out);
        else
            cc__store_any((int32_t)type, out, (double)random_below(state, 2000) / 8 - 100);
    }
}

/* The bytes from the first pixel to the end of the last one. */
static int64_t span_of(const int64_t size[CC_MAX_DIMENSION], const int64_t stride[CC_MAX_DIMENSION], int64_t pixel)
{
    int64_t span = pixel;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        span += (size[axis] - 1) * stride[axis];
    return span;
}

/* Gaps of so many bytes between rows, planes and volumes. */
static void lay_out_source(cc__resample *work, int64_t gap)
{
    int64_t *stride = work->source.stride;
    const int64_t *size = work->source_size;
    stride[0] = work->components * bytes_of_type(work->source_type);
    stride[1] = stride[0] * size[0] + gap;
    stride[2] = stride[1] * size[1] + gap;
    stride[3] = stride[2] * size[2] + gap;
}

static cc__resample plain_work(cc_pixel_type from, cc_pixel_type to, int32_t components)
{
    cc__resample work = {.axes = 3,
                         .components = components,
                         .interpolation = CC_INTERPOLATION_LINEAR,
                         .source_type = from,
                         .destination_type = to,
                         .in_float32 = 1,
                         .is_fixed = 1,
                         .outside = 7,
                         .size = {70, 18, 9, 1},
                         .source_size = {80, 24, 12, 1}};
    for (int32_t axis = 0; axis < 3; axis++) {
        work.map.row[axis][axis] = 0.96875;
        work.map.row[axis][3] = 0.5;
    }
    return work;
}

/* Memory that ends with the last pixel, so that the sanitizers see what is read or written beyond. Returns whether a
 * staged kernel did it. */
static bool run(cc__resample *work, int64_t skip, uint32_t *state, const cc__launcher *launcher)
{
    const int64_t to_bytes = work->components * bytes_of_type(work->destination_type);
    const int64_t from_span = span_of(work->source_size, work->source.stride, work->source.stride[0]);
    (void)random_strides(state, work->size, to_bytes, bytes_of_type(work->destination_type), work->destination.stride);
    const int64_t to_span = span_of(work->size, work->destination.stride, to_bytes);
    unsigned char *source = malloc((size_t)(skip + from_span)), *expected = malloc((size_t)to_span);
    unsigned char *found = malloc((size_t)to_span);
    write_cases(work->source_type, state, from_span / bytes_of_type(work->source_type), source + skip);
    memset(expected, 0x5a, (size_t)to_span);
    memset(found, 0x5a, (size_t)to_span);
    work->source.data = source + skip;
    work->destination.data = expected;
    cc__resample_rows(work, 0, cc__resample_row_count(work));
    work->destination.data = found;
    ck_assert_int_eq(cc__launch_resample(work, launcher), CC_OK);
    const bool is_staged = last_kernel == last_staged;
    if (is_staged)
        ck_assert_mem_eq(expected, found, (size_t)to_span);
    free(source);
    free(expected);
    free(found);
    return is_staged;
}

static double random_number(uint32_t *state, double least, double most)
{
    return least + (most - least) * (double)random_below(state, 100000) / 100000;
}

/* Along the third axis up to two planes a step, and none. */
static void random_map(uint32_t *state, const int64_t size[CC_MAX_DIMENSION], cc__map *map)
{
    static const double steps[] = {0, 0.125, 0.5, 0.96875, 1, 1.5, 2};
    const double lean = random_below(state, 2) == 0 ? 0 : 0.2;
    memset(map, 0, sizeof *map);
    for (int32_t row = 0; row < 3; row++) {
        for (int32_t column = 0; column < 2 && row < 2; column++)
            map->row[row][column] =
                row == column ? (double)(1 - 2 * (random_below(state, 4) == 0)) * random_number(state, 0.5, 1.1)
                              : random_number(state, -lean, lean);
        map->row[row][3] = random_below(state, 4) == 0 ? (double)random_below(state, 2 * size[row] + 2) / 2 - 1
                                                       : random_number(state, -2, (double)size[row] / 2);
        if (row < 2 && map->row[row][row] < 0)
            map->row[row][3] += (double)size[row] / 2;
    }
    map->row[2][2] = steps[random_below(state, 7)];
}

START_TEST(any_work_agrees_with_the_host)
{
    static const cc_pixel_type types[][2] = {
        {CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32}, {CC_PIXEL_UINT8, CC_PIXEL_UINT8},   {CC_PIXEL_UINT8, CC_PIXEL_FLOAT32},
        {CC_PIXEL_INT16, CC_PIXEL_INT16},     {CC_PIXEL_INT16, CC_PIXEL_FLOAT32}, {CC_PIXEL_UINT16, CC_PIXEL_UINT16},
        {CC_PIXEL_UINT16, CC_PIXEL_FLOAT32},
    };
    uint32_t state = 11;
    int32_t staged = 0;
    const int32_t rounds = (int32_t)SHARE_OF(56);
    for (int32_t round = 0; round < rounds; round++) {
        const int32_t pair = round % 8 == 0 ? 0 : round % 8 - 1;
        cc__resample work = plain_work(types[pair][0], types[pair][1],
                                       (int32_t)(random_below(&state, 2) * random_below(&state, 3) + 1));
        const int64_t unit = round % 8 == 0 ? 4 : 16, whole = unit / bytes_of_type(work.source_type);
        work.size[0] = 1 + random_below(&state, random_below(&state, 2) == 0 ? 20 : 150);
        work.size[1] = 1 + random_below(&state, 40);
        work.size[2] = 2 + random_below(&state, 12);
        work.size[3] = work.source_size[3] = 1 + random_below(&state, 5) / 4;
        work.source_size[0] = whole * (1 + random_below(&state, 160 / whole));
        work.source_size[1] = 1 + random_below(&state, 40);
        work.source_size[2] = 1 + random_below(&state, 12);
        random_map(&state, work.source_size, &work.map);
        lay_out_source(&work, unit * random_below(&state, 3));
        most_blocks = (uint32_t)(1 + random_below(&state, 2));
        staged += run(&work, unit * random_below(&state, 2), &state, round % 2 == 0 ? &long_columns : &short_columns);
    }
    ck_assert_int_gt(staged, rounds / 2);
}
END_TEST

/* What begins or ends where the source does, or where a patch does. */
START_TEST(edges)
{
    static const struct {
        int64_t size[3];
        int64_t source_size[3];
        double step[3];
        double origin[3];
    } cases[] = {
        /* One plane, two, and columns that end with the last plane, on it, between it and the next, and beyond. */
        {{64, 16, 3}, {68, 20, 1}, {1, 1, 0.25}, {0.5, 0.5, -0.25}},
        {{64, 16, 4}, {68, 20, 2}, {1, 1, 0.25}, {0.5, 0.5, 0.125}},
        {{64, 16, 9}, {64, 16, 9}, {1, 1, 1}, {0, 0, 0}},
        {{64, 16, 9}, {64, 16, 9}, {1, 1, 1}, {0.25, 0.25, 0.25}},
        {{64, 16, 9}, {64, 16, 9}, {1, 1, 1}, {-0.5, -0.5, -0.5}},
        {{64, 16, 9}, {64, 16, 7}, {1, 1, 1}, {0, 0, -3}},
        /* All of a block between two planes, and every second plane. */
        {{64, 16, 64}, {68, 20, 3}, {1, 1, 0.0078125}, {0.5, 0.5, 0.25}},
        {{64, 16, 9}, {68, 20, 18}, {1, 1, 2}, {0.5, 0.5, 0.5}},
        /* Nothing is inside: along the third axis, and along the first. */
        {{64, 16, 9}, {68, 20, 9}, {1, 1, 1}, {0.5, 0.5, 20}},
        {{64, 16, 9}, {68, 20, 9}, {1, 1, 1}, {-100, 0.5, 0.5}},
        {{64, 16, 9}, {68, 20, 9}, {1, 1, 1}, {-1e300, 0.5, 0.5}},
        /* One pixel more and one less than a patch; source and image of one pixel along an axis. */
        {{65, 17, 9}, {68, 20, 9}, {1, 1, 1}, {0.5, 0.5, 0.5}},
        {{63, 15, 9}, {68, 20, 9}, {1, 1, 1}, {0.5, 0.5, 0.5}},
        {{64, 16, 9}, {64, 1, 9}, {1, 0, 1}, {0, 0, 0}},
        {{20, 1, 9}, {64, 20, 9}, {1, 1, 1}, {3.5, 4.5, 0}},
        /* As large as a stage can be. */
        {{128, 32, 4}, {204, 54, 9}, {1.55, 1.55, 1}, {0.9, 0.9, 0.5}},
    };
    uint32_t state = 5;
    most_blocks = 2;
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        cc__resample work = plain_work(CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32, 1);
        for (int32_t axis = 0; axis < 3; axis++) {
            work.size[axis] = cases[n].size[axis];
            work.source_size[axis] = cases[n].source_size[axis];
            work.map.row[axis][axis] = cases[n].step[axis];
            work.map.row[axis][3] = cases[n].origin[axis];
        }
        lay_out_source(&work, 0);
        ck_assert_msg(run(&work, 0, &state, &long_columns), "case %d", (int)n);
        ck_assert_int_eq(last_depth, CC__COLUMN_MOST_DEPTH);
    }
}
END_TEST

/* Pixels of a column, 0 where none is staged. */
static int32_t staged_depth(const cc__resample *work, int32_t multiprocessors)
{
    resample_plan plan = {.work = *work, .has_short_planes = has_short_planes(work)};
    for (int32_t axis = 0; axis < 3; axis++)
        plan.stride[axis] = (int32_t)work->source.stride[axis];
    cc__columns_plan(work->size, work->components, CC__COLUMN_ROWS, multiprocessors, &plan.columns);
    return cc__staged_kernel(&plan, multiprocessors) != NULL ? plan.columns.depth : 0;
}

static bool is_staged(const cc__resample *work)
{
    return staged_depth(work, 1) != 0;
}

/* As long as there are blocks enough for a device of 132 multiprocessors. */
START_TEST(lengths_of_columns)
{
    static const struct {
        int64_t side;
        int32_t depth;
    } cases[] = {{64, 8}, {128, 8}, {192, 16}, {256, 32}, {384, 32}, {512, 64}, {2048, 64}};
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        cc__resample work = plain_work(CC_PIXEL_UINT8, CC_PIXEL_UINT8, 1);
        for (int32_t axis = 0; axis < 3; axis++)
            work.size[axis] = work.source_size[axis] = cases[n].side;
        lay_out_source(&work, 0);
        ck_assert_int_eq(staged_depth(&work, 132), cases[n].depth);
    }
}
END_TEST

START_TEST(what_it_is_not_for)
{
    static const double steps_not[] = {-1, -0.001, 2.001, 1e300, (double)NAN, (double)INFINITY};
    cc__resample work = plain_work(CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32, 1), other;
    lay_out_source(&work, 4);
    ck_assert(is_staged(&work));
    /* Data, rows, planes and volumes that are not whole words. */
    other = work;
    other.source.data += 2;
    ck_assert(!is_staged(&other));
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        other = work;
        other.source.stride[axis] += 2;
        ck_assert(!is_staged(&other));
    }
    /* Of narrower pixels, and of rows alone, that are not whole units. */
    other = plain_work(CC_PIXEL_UINT8, CC_PIXEL_UINT8, 1);
    lay_out_source(&other, 16);
    ck_assert(is_staged(&other));
    lay_out_source(&other, 4);
    ck_assert(!is_staged(&other));
    lay_out_source(&other, 16);
    other.source_size[0] -= 4;
    ck_assert(!is_staged(&other));
    /* Planes that are not parallel, go back, or are left out. */
    for (int32_t n = 0; n < 3; n++) {
        other = work;
        other.map.row[n == 2 ? 2 : n][n == 2 ? 0 : 2] = 0.001;
        ck_assert(!is_staged(&other));
    }
    for (int32_t n = 0; n < 6; n++) {
        other = work;
        other.map.row[2][2] = steps_not[n];
        ck_assert(!is_staged(&other));
    }
    /* A box too large. */
    for (int32_t row = 0; row < 2; row++) {
        for (int32_t column = 0; column < 2; column++) {
            other = work;
            other.source_size[0] = other.source_size[1] = 400;
            lay_out_source(&other, 0);
            ck_assert(is_staged(&other));
            other.map.row[row][column] = 10;
            ck_assert(!is_staged(&other));
            other.map.row[row][column] = NAN;
            ck_assert(!is_staged(&other));
        }
    }
    other = work;
    other.interpolation = CC_INTERPOLATION_NEAREST;
    ck_assert(!is_staged(&other));
    other = work;
    other.in_float32 = 0;
    ck_assert(!is_staged(&other));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base_resample_staged");
    TCase *tcase = tcase_create("base_resample_staged");
    tcase_add_test(tcase, any_work_agrees_with_the_host);
    tcase_add_test(tcase, edges);
    tcase_add_test(tcase, lengths_of_columns);
    tcase_add_test(tcase, what_it_is_not_for);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
