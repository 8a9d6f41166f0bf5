/*
 * Pixels in another order on the CPU, against copies made one by one, and the kernels that go along rows, run on the
 * CPU, against it: the same bytes for every layout, order, border and type.
 */
#include "support/cuda_on_host.h"

#define __shared__ static
#define __syncthreads()

#include "kernels/strips.cu"
#undef PIECES
#include "kernels/rearrange.cu"
#include "kernels/squares.cu"
#include "support/plain_rearrange.h"
#include "support/plain_work.h"

#include <check.h>
#include <stdlib.h>

#define BUFFER_BYTES ((int64_t)1 << 16)

static int32_t launches, packed_launches, square_launches, strip_launches;

static bool is_strips_kernel(const void *kernel)
{
    const void *kernels[] = {
        (const void *)move_strips_1,    (const void *)move_strips_2,   (const void *)move_strips_4,
        (const void *)move_strips_8,    (const void *)move_strips_16,  (const void *)move_bordered_1,
        (const void *)move_bordered_2,  (const void *)move_bordered_4, (const void *)move_bordered_8,
        (const void *)move_bordered_16, (const void *)move_bytes_1,    (const void *)move_bytes_2};
    for (size_t n = 0; n < sizeof kernels / sizeof kernels[0]; n++)
        if (kernel == kernels[n])
            return true;
    return false;
}

static cc_status launch(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks, uint32_t block_threads,
                        void **arguments)
{
    const cc__rearrange_plan *plan = arguments[0];
    ck_assert_uint_eq(block_threads, CC__BLOCK_THREADS);
    ck_assert_uint_gt(grid_blocks, 0);
    (void)launcher;
    launches++;
    if (is_strips_kernel(kernel)) {
        void (*run)(const cc__strips_plan) = (void (*)(const cc__strips_plan))kernel;
        cuda_on_host_run(0, grid_blocks, grid_blocks, block_threads, run(*(const cc__strips_plan *)arguments[0]));
        return CC_OK;
    }
    if (kernel == (const void *)rearrange_cast) {
        void (*run)(const cc__rearrange_plan, int32_t, int32_t) =
            (void (*)(const cc__rearrange_plan, int32_t, int32_t))kernel;
        const int32_t to_bytes = *(const int32_t *)arguments[1], from_bytes = *(const int32_t *)arguments[2];
        cuda_on_host_run(0, grid_blocks, grid_blocks, block_threads, run(*plan, to_bytes, from_bytes));
    } else {
        void (*run)(const cc__rearrange_plan) = (void (*)(const cc__rearrange_plan))kernel;
        packed_launches += plan->is_dense;
        cuda_on_host_run(0, grid_blocks, grid_blocks, block_threads, run(*plan));
    }
    return CC_OK;
}

static const cc__launcher launcher = LAUNCHER(launch, 1);

static void do_on_host(const cc__rearrange *work)
{
    for (int64_t row = 0; row < cc__rearrange_rows(work); row++) {
        const int64_t half = work->axes[0].size / 2;
        cc__rearrange_row(work, row, half, work->axes[0].size - half);
        if (half > 0)
            cc__rearrange_row(work, row, 0, half);
    }
}

static cc_status launch_along_rows(const cc__rearrange *work)
{
    cc__rearrange_plan plan;
    cc__rows rows;
    cc__rearrange_plan_rows(work, &plan, &rows);
    return launch_rows(&plan, rows, &launcher);
}

START_TEST(any_work_agrees)
{
    unsigned char *from = aligned_alloc(64, BUFFER_BYTES);
    unsigned char *to[3];
    uint32_t state = 5 + (uint32_t)_i;
    int32_t done[3] = {0};
    for (int32_t n = 0; n < 3; n++)
        to[n] = aligned_alloc(64, BUFFER_BYTES);
    for (int32_t round = 0; round < 1000; round++) {
        const random_kind kind = (random_kind)(round % 3);
        cc__rearrange work;
        int64_t bytes = 0;
        if (!random_rearrange(&state, kind, from, to[0], BUFFER_BYTES, &work, &bytes))
            continue;
        for (int32_t n = 0; n < 3; n++)
            memset(to[n], 0x5a, (size_t)bytes);
        const cc__rearrange plain = work;
        cc__rearrange_normalize(&work);
        do_on_host(&work);
        if (kind != RANDOM_CASTS) {
            cc__rearrange other = plain;
            other.to = to[1] + (plain.to - to[0]);
            plain_rearrange(&other);
            ck_assert_msg(memcmp(to[0], to[1], (size_t)bytes) == 0, "round %d: on the host", round);
        }
        work.to = to[2] + (work.to - to[0]);
        square_launches += cc__rearrange_choose(&work) == CC__REARRANGE_SQUARES;
        ck_assert_int_eq(launch_along_rows(&work), CC_OK);
        ck_assert_msg(memcmp(to[0], to[2], (size_t)bytes) == 0, "round %d: the kernel", round);
        bool is_strips = false;
        memset(to[2], 0x5a, (size_t)bytes);
        ck_assert_int_eq(cc__launch_strips(&work, &launcher, &is_strips), CC_OK);
        ck_assert_msg(!is_strips || memcmp(to[0], to[2], (size_t)bytes) == 0, "round %d: strips", round);
        strip_launches += is_strips;
        done[kind]++;
    }
    for (int32_t kind = 0; kind < 3; kind++)
        ck_assert_int_gt(done[kind], 100);
    ck_assert_int_gt(packed_launches, 100);
    ck_assert_int_gt(square_launches, 20);
    ck_assert_int_gt(strip_launches, 100);
    free(from);
    for (int32_t n = 0; n < 3; n++)
        free(to[n]);
}
END_TEST

/* Every border, far beyond the image too. */
START_TEST(borders_are_as_drawn)
{
    for (int64_t size = 1; size < 6; size++)
        for (int32_t border = CC_BORDER_CONSTANT; border <= CC_BORDER_PERIODIC; border++)
            for (int64_t at = -40; at < 40; at++)
                ck_assert_int_eq(cc__border_find(border, at, size), plain_border(border, at, size));
}
END_TEST

/* Long rows of bytes from every alignment to every other, both ways round. */
START_TEST(alignments)
{
    static unsigned char from[400] __attribute__((aligned(16))), to[400] __attribute__((aligned(16))), expected[400];
    uint32_t state = 1;
    random_bytes(&state, from, sizeof from);
    for (int32_t n = 0; n < 16 * 16 * 2; n++) {
        const int64_t from_skip = n % 16, to_skip = n / 16 % 16, size = 150 + n % 37;
        const bool is_reversed = n >= 256;
        cc__rearrange work = {.to = to + to_skip,
                              .from = from + from_skip + (is_reversed ? size - 1 : 0),
                              .axes = {{size, 1, is_reversed ? -1 : 1, size, 0, 0},
                                       {1, 1, 1, 1, 0, 0},
                                       {1, 1, 1, 1, 0, 0},
                                       {1, 1, 1, 1, 0, 0}},
                              .to_type = CC_PIXEL_UINT8,
                              .from_type = CC_PIXEL_UINT8,
                              .components = 1};
        memset(to, 0, sizeof to);
        memset(expected, 0, sizeof expected);
        for (int64_t i = 0; i < size; i++)
            expected[to_skip + i] = from[from_skip + (is_reversed ? size - 1 - i : i)];
        cc__rearrange_normalize(&work);
        ck_assert_int_eq(cc__launch_rearrange(&work, &launcher), CC_OK);
        ck_assert_mem_eq(to, expected, sizeof to);
    }
}
END_TEST

/* Boxes with gaps between rows, at every alignment; small ones are left to another kernel. */
START_TEST(large_boxes)
{
    const int64_t pitch = 1056, slice = 40 * pitch, bytes = 40 * slice;
    unsigned char *from = aligned_alloc(64, (size_t)bytes), *to = aligned_alloc(64, (size_t)bytes);
    uint32_t state = 9;
    int32_t done = 0;
    random_bytes(&state, from, (size_t)bytes);
    for (int32_t n = 0; n < 8; n++) {
        const int64_t skip = (n & 3) * 4, pixel_bytes = n < 4 ? 4 : 12;
        const int64_t width = n % 2 == 0 ? 240 : 243, row_bytes = width * 4;
        const cc__copy copy = {.destination = {.data = to + 16 + skip, .stride = {pixel_bytes, pitch, slice, bytes}},
                               .source = {.data = from + 20, .stride = {pixel_bytes, pitch, slice, bytes}},
                               .size = {width * 4 / pixel_bytes, 30, n == 7 ? 1 : 39, 1},
                               .pixel_bytes = pixel_bytes};
        bool is_done = false;
        memset(to, 0, (size_t)bytes);
        ck_assert_int_eq(cc__launch_copy_box(&copy, &launcher, &is_done), CC_OK);
        ck_assert_int_eq(is_done, n < 7);
        done += is_done;
        for (int64_t row = 0; row < 40 * 40; row++) {
            static const unsigned char zeros[1056];
            const bool is_in = is_done && row % 40 < 30 && row / 40 < 39;
            const int64_t begin = 16 + skip;
            const unsigned char *at = to + row * pitch;
            ck_assert_mem_eq(at, zeros, (size_t)begin);
            ck_assert_mem_eq(at + begin, is_in ? from + 20 + row * pitch : zeros, (size_t)row_bytes);
            ck_assert_mem_eq(at + begin + row_bytes, zeros, (size_t)(pitch - begin - row_bytes));
        }
    }
    ck_assert_int_eq(done, 7);
    free(from);
    free(to);
}
END_TEST

/* More rows than a launch counts are split: here, as if it counted few. */
START_TEST(the_parts_of_split_rows)
{
    uint32_t state = 77;
    unsigned char *from = aligned_alloc(64, BUFFER_BYTES), *to = aligned_alloc(64, BUFFER_BYTES);
    unsigned char *expected = aligned_alloc(64, BUFFER_BYTES);
    int32_t done = 0;
    while (done < 50) {
        cc__rearrange work;
        cc__rearrange_plan plan, second;
        cc__rows rows, rest;
        int64_t bytes = 0;
        if (!random_rearrange(&state, RANDOM_PIXELS, from, to, BUFFER_BYTES, &work, &bytes))
            continue;
        memset(to, 0, (size_t)bytes);
        cc__rearrange_normalize(&work);
        cc__rearrange_plan_rows(&work, &plan, &rows);
        if (rows.axes == 0)
            continue;
        do_on_host(&work);
        memcpy(expected, to, (size_t)bytes);
        memset(to, 0, (size_t)bytes);
        cc__rearrange_split(&plan, &rows, &second, &rest);
        ck_assert_int_eq(launch_rows(&plan, rows, &launcher), CC_OK);
        ck_assert_int_eq(launch_rows(&second, rest, &launcher), CC_OK);
        ck_assert_mem_eq(to, expected, (size_t)bytes);
        done++;
    }
    free(from);
    free(to);
    free(expected);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base_rearrange_kernel");
    TCase *tcase = tcase_create("base_rearrange_kernel");
    tcase_add_loop_test(tcase, any_work_agrees, 0, 2);
    tcase_add_test(tcase, borders_are_as_drawn);
    tcase_add_test(tcase, alignments);
    tcase_add_test(tcase, large_boxes);
    tcase_add_test(tcase, the_parts_of_split_rows);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
