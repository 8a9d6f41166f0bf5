/* The kernels of resampling, run on the CPU, against the host's own path: the same bits for every layout and type. */
#include "support/cuda_on_host.h"

#include "kernels/bspline.cu"
#include "kernels/number_types.h"
#include "kernels/resample.cu"
#include "kernels/resample_cubic.cu"
#include "kernels/resample_linear.cu"
#include "kernels/resample_nearest.cu"
#include "kernels/resample_warp.cu"
#include "support/plain_work.h"
#include "support/rescale_cases.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define BUFFER_BYTES ((int64_t)1 << 18)
#define ROUNDS 500

/* Its threads wait for each other: test_base_resample_staged.c. */
const void *cc__staged_kernel(resample_plan *plan, int32_t multiprocessor_count)
{
    (void)plan, (void)multiprocessor_count;
    return NULL;
}

static const void *last_kernel;
static bool last_is_upright;

static cc_status launch(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks, uint32_t block_threads,
                        void **arguments)
{
    ck_assert_uint_eq(block_threads, CC__BLOCK_THREADS);
    ck_assert_uint_gt(grid_blocks, 0);
    (void)launcher;
    last_kernel = kernel;
    if (kernel == (const void *)find_coefficients || kernel == (const void *)find_long_coefficients ||
        kernel == (const void *)find_row_coefficients) {
        const bspline_plan *plan = arguments[0];
        void (*find)(const bspline_plan) = (void (*)(const bspline_plan))kernel;
        cuda_on_host_run(0, grid_blocks, grid_blocks, block_threads, find(*plan));
    } else {
        last_is_upright = is_upright(&((const resample_plan *)arguments[0])->work);
        void (*run)(const resample_plan) = (void (*)(const resample_plan))kernel;
        cuda_on_host_run(0, grid_blocks, grid_blocks, block_threads, run(*(const resample_plan *)arguments[0]));
    }
    return CC_OK;
}

static const cc__launcher launcher = LAUNCHER(launch, 1);

static int64_t bytes_of_type(cc_pixel_type type)
{
    return (int64_t)cc_pixel_type_size_bytes(type);
}

/* Cases that go wrong if they can, and between them plain numbers. */
static void write_cases(cc_pixel_type type, uint32_t *state, int64_t count, unsigned char *out)
{
    for (int64_t i = 0; i < count; i++, out += bytes_of_type(type)) {
        if (random_below(state, 16) == 0)
            rescale_case_write(type, random_below(state, 60), out);
        else
            cc__store_any((int32_t)type, out, (double)random_below(state, 2000) / 8 - 100);
    }
}

static double random_number(uint32_t *state, double least, double most)
{
    return least + (most - least) * (double)random_below(state, 100000) / 100000;
}

/* From parallel axes to wild ones, some with one axis parallel; halves and whole numbers too, so that points are on
 * pixels and at their edges. */
static void random_map(uint32_t *state, int32_t axes, const int64_t size[CC_MAX_DIMENSION], cc__map *map)
{
    const int64_t kind = random_below(state, 5);
    memset(map, 0, sizeof *map);
    for (int32_t row = 0; row < axes; row++) {
        for (int32_t column = 0; column < axes; column++)
            map->row[row][column] = row == column ? (double)random_below(state, 8) / 4
                                    : kind < 2 || (kind == 2 && (row == 2 || column == 2))
                                        ? 0
                                        : random_number(state, -0.3, 0.3);
        map->row[row][3] = kind == 0 ? (double)random_below(state, 4 * size[row] + 8) / 4 - 1
                                     : random_number(state, -1, (double)size[row]);
    }
    if (random_below(state, 20) == 0)
        map->row[random_below(state, axes)][random_below(state, 4)] = random_below(state, 2) == 0 ? 1e300 : -3e8;
}

static int64_t random_span(uint32_t *state, cc_pixel_type type, int32_t components,
                           const int64_t size[CC_MAX_DIMENSION], cc__span *out)
{
    return random_strides(state, size, components * bytes_of_type(type), bytes_of_type(type), out->stride);
}

static cc_pixel_type random_type(uint32_t *state)
{
    static const cc_pixel_type fast[] = {CC_PIXEL_FLOAT32, CC_PIXEL_UINT8, CC_PIXEL_INT16, CC_PIXEL_UINT16};
    return random_below(state, 3) != 0 ? fast[random_below(state, 4)] : (cc_pixel_type)random_below(state, 13);
}

enum {
    SOURCE,
    PIXELS,
    FIELD,
    EXPECTED,
    FOUND,
    BUFFERS
};

/* All positions are between pixels, up or down along the third axis, which is parallel to the other image's or not. */
static void put_inside(uint32_t *state, cc__resample *work)
{
    const int64_t parallel = random_below(state, 3);
    work->axes = 3;
    for (int32_t axis = 0; axis < 3; axis++) {
        double *row = work->map.row[axis];
        work->size[axis] = axis == 0 ? 1 + random_below(state, 20) : 1 + random_below(state, 10);
        for (int32_t column = 0; column < 3; column++) {
            const bool leans = column != axis && (parallel == 0 || (parallel == 1 && axis < 2 && column < 2));
            row[column] = column == axis ? random_number(state, -1.7, 1.7)
                          : leans        ? random_number(state, -0.3, 0.3)
                                         : 0;
        }
    }
    for (int32_t axis = 0; axis < 3; axis++) {
        double *row = work->map.row[axis], least = 0, most = 0;
        for (int32_t column = 0; column < 3; column++) {
            const double reach = row[column] * (double)(work->size[column] - 1);
            least += reach < 0 ? reach : 0;
            most += reach > 0 ? reach : 0;
        }
        row[3] = random_number(state, 1, 1.5) - least;
        work->source_size[axis] = (int64_t)(most - least) + 4;
    }
}

/* Returns false when the work does not fit into the buffers. */
static bool random_work(uint32_t *state, cc__resample *work, unsigned char *const buffers[BUFFERS], int64_t *out_bytes)
{
    memset(work, 0, sizeof *work);
    work->axes = random_below(state, 2) == 0 ? 3 : (int32_t)(1 + random_below(state, 3));
    work->components = random_below(state, 2) == 0 ? 1 : (int32_t)(1 + random_below(state, 4));
    work->interpolation = (int32_t)random_below(state, 3);
    if (random_below(state, 2) == 0)
        work->interpolation = CC_INTERPOLATION_LINEAR;
    work->source_type = random_type(state);
    work->destination_type = random_below(state, 2) == 0 ? work->source_type : random_type(state);
    work->outside = random_number(state, -10, 300);
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        work->size[axis] = axis < work->axes && random_below(state, 4) != 0 ? 1 + random_below(state, 12) : 1;
        work->source_size[axis] = axis < work->axes && random_below(state, 4) != 0 ? 1 + random_below(state, 7) : 1;
    }
    if (random_below(state, 4) == 0)
        work->size[random_below(state, work->axes)] = 1 + random_below(state, 200);
    work->size[3] = work->source_size[3] = 1 + random_below(state, 2);
    random_map(state, work->axes, work->source_size, &work->map);
    const bool is_inside = random_below(state, 4) == 0;
    if (is_inside)
        put_inside(state, work);
    const bool has_field = random_below(state, is_inside ? 2 : 5) == 0, is_straight = random_below(state, 2) == 0;
    work->field_type = random_below(state, 2) == 0 ? CC_PIXEL_FLOAT32 : CC_PIXEL_FLOAT64;
    if (has_field && random_below(state, 4) != 0) {
        work->interpolation = CC_INTERPOLATION_LINEAR;
        work->source_type = work->destination_type = work->field_type = CC_PIXEL_FLOAT32;
    }
    if (is_inside && !has_field && random_below(state, 3) == 0) {
        work->interpolation = CC_INTERPOLATION_CUBIC_BSPLINE;
        work->source_type = work->destination_type = CC_PIXEL_FLOAT32;
    }
    work->is_fixed = random_below(state, 8) != 0;
    work->in_float32 = work->is_fixed && cc__fits_float32(work->source_type) &&
                       cc__fits_float32(work->destination_type) && (!has_field || cc__fits_float32(work->field_type));
    if (has_field) {
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
            work->field_size[axis] = axis < work->axes ? 1 + random_below(state, 5) : 1;
        work->field_size[3] = 1 + random_below(state, work->size[3]);
        random_map(state, work->axes, work->field_size, &work->field_map);
        const bool is_on_grid = is_straight && random_below(state, 2) == 0;
        for (int32_t row = 0; is_on_grid && row < 3; row++)
            for (int32_t column = 0; column < 4; column++)
                work->field_map.row[row][column] = column == 3 ? (double)random_below(state, 9) - 6 : row == column;
        for (int32_t n = 0; n < 9; n++)
            if (n / 3 < work->axes && n % 3 < work->axes && (n / 3 == n % 3 || !is_straight))
                work->pull[n / 3][n % 3] = random_number(state, -1, 1) * (is_inside ? 0.005 : 0.02);
        const int64_t span = random_span(state, work->field_type, work->axes, work->field_size, &work->field);
        if (span > BUFFER_BYTES)
            return false;
        write_cases(work->field_type, state, span / bytes_of_type(work->field_type), buffers[FIELD]);
        work->field.data = buffers[FIELD];
    }
    if (work->interpolation == CC_INTERPOLATION_CUBIC_BSPLINE) {
        work->pixels_type = work->source_type;
        work->source_type = work->in_float32 ? CC_PIXEL_FLOAT32 : CC_PIXEL_FLOAT64;
        const int64_t span = random_span(state, work->pixels_type, work->components, work->source_size, &work->pixels);
        if (span > BUFFER_BYTES)
            return false;
        write_cases(work->pixels_type, state, span / bytes_of_type(work->pixels_type), buffers[PIXELS]);
        work->pixels.data = buffers[PIXELS];
    }
    const int64_t span = random_span(state, work->source_type, work->components, work->source_size, &work->source);
    *out_bytes = random_span(state, work->destination_type, work->components, work->size, &work->destination);
    if (span > BUFFER_BYTES || *out_bytes > BUFFER_BYTES)
        return false;
    write_cases(work->source_type, state, span / bytes_of_type(work->source_type), buffers[SOURCE]);
    work->source.data = buffers[SOURCE];
    work->destination.data = buffers[EXPECTED];
    return true;
}

static void do_on_host(const cc__resample *work)
{
    const int64_t rows = cc__resample_row_count(work);
    cc__bspline bspline;
    for (int32_t axis = 0; axis < work->axes && work->pixels.data != NULL; axis++)
        if (cc__bspline_plan(work, axis, &bspline))
            cc__bspline_lines(&bspline, 0, cc__bspline_line_count(&bspline));
    cc__resample_rows(work, rows / 2, rows - rows / 2);
    cc__resample_rows(work, 0, rows / 2);
}

static bool is_fast(void)
{
    return last_kernel != (const void *)resample_any_float32 && last_kernel != (const void *)resample_any_float64;
}

START_TEST(any_work_agrees_with_the_host)
{
    unsigned char *buffers[BUFFERS];
    uint32_t state = 101 + (uint32_t)_i;
    int32_t done = 0, fast = 0, parallel = 0, warps = 0, steady = 0, on_grid = 0, cubic = 0;
    for (int32_t n = 0; n < BUFFERS; n++)
        buffers[n] = malloc(BUFFER_BYTES);
    for (int32_t round = 0; round < ROUNDS; round++) {
        cc__resample work;
        int64_t bytes = 0;
        if (!random_work(&state, &work, buffers, &bytes))
            continue;
        memset(buffers[EXPECTED], 0x5a, (size_t)bytes);
        memset(buffers[FOUND], 0x5a, (size_t)bytes);
        do_on_host(&work);
        if (work.pixels.data != NULL)
            memset(buffers[SOURCE], 0x5a, BUFFER_BYTES);
        work.destination.data = buffers[FOUND];
        ck_assert_int_eq(cc__launch_resample(&work, &launcher), CC_OK);
        ck_assert_msg(memcmp(buffers[EXPECTED], buffers[FOUND], (size_t)bytes) == 0, "round %d", round);
        done++;
        fast += is_fast();
        parallel += is_fast() && last_is_upright;
        cubic += last_kernel == (const void *)upright_cubic_float32;
        warps += last_kernel == (const void *)warp_float32;
        steady += last_kernel == (const void *)steady_warp_float32;
        on_grid += last_kernel == (const void *)grid_warp_float32;
    }
    ck_assert_int_gt(done, ROUNDS * 3 / 4);
    ck_assert_int_gt(fast, ROUNDS / 8);
    ck_assert_int_gt(parallel, 10);
    ck_assert_int_gt(cubic, 3);
    ck_assert_int_gt(warps, 3);
    ck_assert_int_gt(steady, 3);
    ck_assert_int_gt(on_grid, 3);
    for (int32_t n = 0; n < BUFFERS; n++)
        free(buffers[n]);
}
END_TEST

/* The same bits, but for those of a NaN, which depend on how a sum of two is compiled. */
static bool are_same(cc_pixel_type type, const unsigned char *a, const unsigned char *b, int64_t bytes)
{
    bool are = true;
    for (int64_t at = 0; at < bytes && are; at += bytes_of_type(type)) {
        const double first = cc__load_any((int32_t)type, a + at), second = cc__load_any((int32_t)type, b + at);
        are = memcmp(a + at, b + at, (size_t)bytes_of_type(type)) == 0 || (isnan(first) && isnan(second));
    }
    return are;
}

/*
 * Lines of one pixel, around the horizon, and around where they are long and go by groups, along every axis; float32
 * often as they are where rows are packed, or in place.
 */
START_TEST(coefficients_agree_with_the_host)
{
    static const int64_t lengths[] = {1, 2, 3, 4, 29, 30, 31, 32, 33, 34, 47, 48, 49, 64, 65, 81, 100};
    unsigned char *buffers[BUFFERS];
    uint32_t state = 7;
    int32_t packed = 0, in_place = 0;
    for (int32_t n = 0; n < BUFFERS; n++)
        buffers[n] = malloc(BUFFER_BYTES);
    for (int32_t round = 0; round < 510; round++) {
        cc__bspline work = {.source_type = (cc_pixel_type)random_below(&state, 13),
                            .components = (int32_t)(1 + random_below(&state, 3)),
                            .axis = round % 3,
                            .size = {3, 2, 4, 2}};
        work.in_float32 = cc__fits_float32(work.source_type) && round % 2 == 0;
        work.size[work.axis] = lengths[round / 6 % 17];
        const cc_pixel_type type = work.in_float32 ? CC_PIXEL_FLOAT32 : CC_PIXEL_FLOAT64;
        int64_t span = random_span(&state, work.source_type, work.components, work.size, &work.source);
        int64_t bytes = random_span(&state, type, work.components, work.size, &work.destination);
        if (span > BUFFER_BYTES || bytes > BUFFER_BYTES)
            continue;
        if (type == CC_PIXEL_FLOAT32 && work.axis == 0 && random_below(&state, 2) == 0) {
            work.source_type = type;
            work.components = 1;
            for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
                work.source.stride[axis] = work.destination.stride[axis] =
                    axis == 0   ? 4
                    : axis == 1 ? 512
                                : 512 * work.size[1] * (axis == 3 ? work.size[2] : 1);
            span = bytes = 512 * work.size[1] * work.size[2] * work.size[3];
            packed += work.size[0] > CC__BSPLINE_LONG;
        }
        const bool is_in_place = work.in_float32 && work.source_type == type && random_below(&state, 2) == 0;
        if (is_in_place) {
            memcpy(work.source.stride, work.destination.stride, sizeof work.source.stride);
            span = bytes;
            in_place += work.size[work.axis] > CC__BSPLINE_LONG;
        }
        write_cases(work.source_type, &state, span / bytes_of_type(work.source_type), buffers[SOURCE]);
        memset(buffers[EXPECTED], 0x5a, (size_t)bytes);
        memset(buffers[FOUND], 0x5a, (size_t)bytes);
        work.destination.data = buffers[EXPECTED];
        work.source.data = is_in_place ? buffers[EXPECTED] : buffers[SOURCE];
        if (is_in_place) {
            memcpy(buffers[EXPECTED], buffers[SOURCE], (size_t)bytes);
            memcpy(buffers[FOUND], buffers[SOURCE], (size_t)bytes);
        }
        cc__bspline_lines(&work, 1, cc__bspline_line_count(&work) - 1);
        cc__bspline_lines(&work, 0, 1);
        work.destination.data = buffers[FOUND];
        work.source.data = is_in_place ? buffers[FOUND] : buffers[SOURCE];
        ck_assert_int_eq(cc__launch_bspline(&work, &launcher), CC_OK);
        ck_assert_msg(are_same(type, buffers[EXPECTED], buffers[FOUND], bytes), "round %d", round);
    }
    ck_assert_int_gt(packed, 10);
    ck_assert_int_gt(in_place, 10);
    for (int32_t n = 0; n < BUFFERS; n++)
        free(buffers[n]);
}
END_TEST

/* Positions that are not numbers, or far away, are outside; what is inside is up to half a pixel beyond the centres. */
START_TEST(positions)
{
    static const double outside[] = {-0.5 - 0x1p-22, 4.5,       1e9,   -1e9,   5e8, -5e8,
                                     0x1.8p29,       -0x1.8p29, 1e300, -1e300, 1e17};
    static const double inside[] = {-0.5, 0, 4, 4.5 - 0x1p-22, 2.5};
    static const int64_t nearest[] = {0, 0, 4, 4, 3};
    static const double wild[] = {NAN, INFINITY, -INFINITY};
    for (size_t n = 0; n < sizeof outside / sizeof outside[0] + 3; n++) {
        const double position = n < 3 ? wild[n] : outside[n - 3];
        ck_assert(!cc__near_float32_of(position, 5).is_inside);
        ck_assert(!cc__near_float64_of(position, 5).is_inside);
        ck_assert_int_eq(cc__nearest_of(position, 5, true), -1);
        ck_assert_int_eq(cc__nearest_of(position, 5, false), -1);
        const double clamped = cc__clamped_position(position, 5);
        ck_assert(clamped >= 0 && clamped <= 4);
    }
    for (size_t n = 0; n < sizeof inside / sizeof inside[0]; n++) {
        const cc__near_float32 near = cc__near_float32_of(inside[n], 5);
        const cc__near_float64 exact = cc__near_float64_of(inside[n], 5);
        ck_assert(near.is_inside && exact.is_inside);
        ck_assert_int_eq(near.first, exact.first);
        ck_assert_double_eq((double)near.fraction, exact.fraction);
        ck_assert_double_eq((double)near.first + exact.fraction, cc__clamped_position(inside[n], 5));
        ck_assert_int_eq(cc__nearest_of(inside[n], 5, true), nearest[n]);
        ck_assert_int_eq(cc__nearest_of(inside[n], 5, false), nearest[n]);
    }
    /* Half of what a float32 fraction can tell counts as the pixel itself. */
    ck_assert_int_eq(cc__near_float32_of(3 - 0x1p-25, 5).first, 3);
    ck_assert_int_eq(cc__near_float64_of(3 - 0x1p-25, 5).first, 2);
}
END_TEST

/* The coefficients are elsewhere: only the last launch writes the output. */
START_TEST(failed_launches_leave_the_output_as_it_was)
{
    unsigned char *buffers[BUFFERS];
    uint32_t state = 7;
    int32_t cubic = 0;
    for (int32_t n = 0; n < BUFFERS; n++)
        buffers[n] = malloc(BUFFER_BYTES);
    while (cubic < 5) {
        cc__resample work;
        int64_t bytes = 0;
        if (!random_work(&state, &work, buffers, &bytes) || work.pixels.data == NULL)
            continue;
        cubic++;
        memset(buffers[EXPECTED], 0x5a, (size_t)bytes);
        work.destination.data = buffers[FOUND];
        const failures seen =
            fail_each_launch(cc__launch_resample, &work, launch, buffers[FOUND], (size_t)bytes, buffers[EXPECTED]);
        ck_assert_int_ge(seen.launches, 2);
        ck_assert_int_eq(seen.torn, 0);
    }
    for (int32_t n = 0; n < BUFFERS; n++)
        free(buffers[n]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base_resample_kernel");
    TCase *tcase = tcase_create("base_resample_kernel");
    tcase_add_loop_test(tcase, any_work_agrees_with_the_host, 0, 2);
    tcase_add_test(tcase, coefficients_agree_with_the_host);
    tcase_add_test(tcase, positions);
    tcase_add_test(tcase, failed_launches_leave_the_output_as_it_was);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
