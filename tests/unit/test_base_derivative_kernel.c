/* The kernels of derivatives, run on the CPU, against the host's own path: the same bits for every layout and type. */
#include "support/cuda_on_host.h"

#include "kernels/derivative.cu"
#include "kernels/number_types.h"
#include "support/plain_work.h"
#include "support/rescale_cases.h"

#include <check.h>
#include <stdlib.h>

#define BUFFER_BYTES ((int64_t)1 << 18)
#define ROUNDS 900

static const void *last_kernel;

static cc_status launch(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks, uint32_t block_threads,
                        void **arguments)
{
    void (*run)(const derivative_plan) = (void (*)(const derivative_plan))kernel;
    ck_assert_uint_eq(block_threads, CC__BLOCK_THREADS);
    ck_assert_uint_gt(grid_blocks, 0);
    (void)launcher;
    last_kernel = kernel;
    cuda_on_host_run(0, grid_blocks, grid_blocks, block_threads, run(*(const derivative_plan *)arguments[0]));
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
        if (random_below(state, 4) == 0)
            rescale_case_write(type, random_below(state, 60), out);
        else
            cc__store_any((int32_t)type, out, (double)random_below(state, 2000) / 8 - 100);
    }
}

static void random_numbers(uint32_t *state, cc__derivative *work)
{
    for (int32_t row = 0; row < CC__SPACE_AXES; row++) {
        work->weight[row] = 1.0 / (double)(1 + random_below(state, 9));
        work->edge_weight[row] = random_below(state, 2) == 0 ? work->weight[row] : 2 * work->weight[row];
        for (int32_t axis = 0; axis < CC__SPACE_AXES; axis++)
            work->direction[row][axis] =
                row >= work->axes || axis >= work->axes ? row == axis : (double)random_below(state, 100) / 70 - 0.6;
    }
}

/* Rows that are made of packs of 16 bytes. */
static void make_long_rows(uint32_t *state, cc__derivative *work)
{
    work->axes = 3;
    work->components = 1;
    work->is_turned = 0;
    work->source_type = CC_PIXEL_FLOAT32;
    work->destination_type = CC_PIXEL_FLOAT32;
    work->in_float32 = 1;
    work->size[0] = 4 * (17 + random_below(state, 60));
    for (int32_t axis = 1; axis < CC_MAX_DIMENSION; axis++)
        work->size[axis] = 1 + random_below(state, axis == 3 ? 2 : 6);
}

/* One after another, with gaps of whole packs. */
static int64_t padded_strides(uint32_t *state, const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes,
                              int64_t out_stride[CC_MAX_DIMENSION])
{
    out_stride[0] = pixel_bytes;
    for (int32_t axis = 1; axis < CC_MAX_DIMENSION; axis++)
        out_stride[axis] = out_stride[axis - 1] * size[axis - 1] + 16 * random_below(state, 3);
    return out_stride[3] * size[3];
}

/* Returns false when the work does not fit into the buffers. */
static bool random_work(uint32_t *state, cc__derivative *work, unsigned char *const buffers[2], int64_t *out_bytes)
{
    memset(work, 0, sizeof *work);
    work->kind = (int32_t)random_below(state, 3);
    work->difference = (int32_t)random_below(state, 4);
    work->axes = random_below(state, 2) == 0 ? 3 : (int32_t)(1 + random_below(state, 3));
    work->components = work->kind == CC__DERIVATIVE_LAPLACIAN ? (int32_t)(1 + random_below(state, 4)) : 1;
    work->is_turned = work->kind != CC__DERIVATIVE_LAPLACIAN && random_below(state, 3) == 0;
    work->source_type = random_below(state, 2) == 0 ? CC_PIXEL_FLOAT32 : (cc_pixel_type)random_below(state, 13);
    work->destination_type = random_below(state, 2) == 0 ? work->source_type : (cc_pixel_type)random_below(state, 13);
    work->in_float32 = cc__fits_float32(work->source_type) && cc__fits_float32(work->destination_type);
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        work->size[axis] = random_below(state, 3) == 0 || axis == work->axes ? 1 : 1 + random_below(state, 7);
    if (random_below(state, 3) == 0)
        work->size[random_below(state, work->axes)] = 1 + random_below(state, random_below(state, 2) == 0 ? 30 : 300);
    const bool is_for_packs = random_below(state, 6) == 0;
    if (is_for_packs)
        make_long_rows(state, work);
    random_numbers(state, work);
    const int64_t from_bytes = bytes_of_type(work->source_type), to_bytes = bytes_of_type(work->destination_type);
    const int64_t from_components = work->kind == CC__DERIVATIVE_DIVERGENCE ? work->axes : work->components;
    const int64_t to_components = work->kind == CC__DERIVATIVE_GRADIENT ? work->axes : work->components;
    int64_t span = 0;
    if (is_for_packs) {
        span = padded_strides(state, work->size, from_components * from_bytes, work->source.stride);
        *out_bytes = padded_strides(state, work->size, to_components * to_bytes, work->destination.stride);
    } else {
        span = random_strides(state, work->size, from_components * from_bytes, from_bytes, work->source.stride);
        *out_bytes = random_strides(state, work->size, to_components * to_bytes, to_bytes, work->destination.stride);
    }
    if (span > BUFFER_BYTES || *out_bytes > BUFFER_BYTES)
        return false;
    work->source.data = buffers[0];
    work->destination.data = buffers[1];
    write_cases(work->source_type, state, span / from_bytes, buffers[0]);
    return true;
}

START_TEST(any_work_agrees_with_the_host)
{
    unsigned char *buffers[3];
    uint32_t state = 31 + (uint32_t)_i;
    int32_t done = 0, fast = 0, packed = 0;
    for (int32_t n = 0; n < 3; n++)
        buffers[n] = malloc(BUFFER_BYTES);
    for (int32_t round = 0; round < ROUNDS; round++) {
        cc__derivative work;
        int64_t bytes = 0;
        if (!random_work(&state, &work, buffers, &bytes))
            continue;
        memset(buffers[1], 0x5a, (size_t)bytes);
        memset(buffers[2], 0x5a, (size_t)bytes);
        const int64_t rows = cc__derivative_row_count(&work);
        cc__derivative_rows(&work, rows / 2, rows - rows / 2);
        cc__derivative_rows(&work, 0, rows / 2);
        work.destination.data = buffers[2];
        ck_assert_int_eq(cc__launch_derivative(&work, &launcher), CC_OK);
        ck_assert_msg(memcmp(buffers[1], buffers[2], (size_t)bytes) == 0, "round %d", round);
        done++;
        fast += last_kernel == (const void *)gradient_rows || last_kernel == (const void *)divergence_rows ||
                last_kernel == (const void *)laplacian_rows;
        packed += last_kernel == (const void *)gradient_packs || last_kernel == (const void *)laplacian_packs;
    }
    ck_assert_int_gt(done, ROUNDS * 3 / 4);
    ck_assert_int_gt(fast, ROUNDS / 20);
    ck_assert_int_gt(packed, ROUNDS / 20);
    for (int32_t n = 0; n < 3; n++)
        free(buffers[n]);
}
END_TEST

/* Sizes whose products and patches leave 31 bits: every column is somewhere, and the last one is the last pixel. */
START_TEST(patches_of_large_images)
{
    static const int64_t sizes[][CC_MAX_DIMENSION] = {{INT64_C(5) << 30, 1, 1, 1},     {3, INT64_C(3) << 30, 1, 1},
                                                      {1, 1, INT64_C(3) << 30, 1},     {1, 1, 1, INT64_C(3) << 30},
                                                      {2048, 2048, 2048, 3},           {1, 3, 1, INT64_C(3) << 30},
                                                      {INT64_C(1) << 31, 40, 1, 2000}, {7, 5, 3, 2}};
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++) {
        for (int32_t components = 1; components <= 3; components += 2) {
            cc__columns columns;
            cc__column column;
            int64_t found[] = {-1, -1, -1, -1};
            cc__columns_plan(sizes[n], components, 1 + 3 * (int32_t)(n % 2), 100, &columns);
            for (int32_t thread = 0; thread < CC__BLOCK_THREADS; thread++) {
                if (!cc__columns_find(&columns, columns.count - 1, thread, &column))
                    continue;
                found[0] = column.pixel;
                const int64_t left = columns.still - column.still, rows = columns.rows < left ? columns.rows : left;
                found[1] = columns.march == 1 ? column.end - 1 : column.still + rows - 1;
                found[2] = columns.march == 1 ? column.still + rows - 1 : column.end - 1;
                found[3] = column.volume;
            }
            for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
                ck_assert_int_eq(found[axis], sizes[n][axis] - 1);
            ck_assert(cc__columns_find(&columns, 0, 0, &column));
            ck_assert_int_eq(column.pixel + column.component + column.still + column.first + column.volume, 0);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base_derivative_kernel");
    TCase *tcase = tcase_create("base_derivative_kernel");
    tcase_add_loop_test(tcase, any_work_agrees_with_the_host, 0, 2);
    tcase_add_test(tcase, patches_of_large_images);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
