/* The kernels that swap axes by squares, run on the CPU, against the host's own path: the same bytes. */
#include "support/cuda_blocks_on_host.h"

#include "kernels/strips.cu"
#undef PIECES
#include "kernels/rearrange.cu"
#include "kernels/squares.cu"
#include "support/plain_rearrange.h"

#include <stdlib.h>

#define BUFFER_BYTES ((int64_t)1 << 17)

typedef struct call {
    const void *kernel;
    const cc__rearrange_plan *plan;
} call;

static void run_kernel(void *context)
{
    const call *now = context;
    ((void (*)(const cc__rearrange_plan))now->kernel)(*now->plan);
}

static const void *last_kernel;

static cc_status launch(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks, uint32_t block_threads,
                        void **arguments)
{
    call now = {kernel, arguments[0]};
    (void)launcher;
    ck_assert_uint_eq(block_threads, CC__BLOCK_THREADS);
    ck_assert_uint_gt(grid_blocks, 0);
    last_kernel = kernel;
    cuda_blocks_run(grid_blocks, run_kernel, &now);
    return CC_OK;
}

static const cc__launcher launcher = LAUNCHER(launch, 1);

START_TEST(squares_agree_with_the_host)
{
    unsigned char *from = aligned_alloc(64, BUFFER_BYTES);
    unsigned char *to[2] = {aligned_alloc(64, BUFFER_BYTES), aligned_alloc(64, BUFFER_BYTES)};
    uint32_t state = 3;
    int32_t of_unit[17] = {0};
    int32_t done = 0;
    for (int32_t round = 0; round < 4000 && done < 30; round++) {
        cc__rearrange work;
        int64_t bytes = 0;
        if (!random_rearrange(&state, RANDOM_SQUARES, from, to[0], BUFFER_BYTES, &work, &bytes))
            continue;
        cc__rearrange_normalize(&work);
        if (cc__rearrange_choose(&work) != CC__REARRANGE_SQUARES || of_unit[work.unit_bytes] == 6)
            continue;
        memset(to[0], 0x5a, (size_t)bytes);
        memset(to[1], 0x5a, (size_t)bytes);
        for (int64_t row = 0; row < cc__rearrange_rows(&work); row++)
            cc__rearrange_row(&work, row, 0, work.axes[0].size);
        work.to = to[1] + (work.to - to[0]);
        ck_assert_int_eq(cc__launch_rearrange(&work, &launcher), CC_OK);
        ck_assert_msg(memcmp(to[0], to[1], (size_t)bytes) == 0, "round %d", round);
        of_unit[work.unit_bytes]++;
        done++;
    }
    for (int32_t unit = 1; unit <= 16; unit *= 2)
        ck_assert_msg(of_unit[unit] > 1, "%d of %d bytes", of_unit[unit], unit);
    free(from);
    free(to[0]);
    free(to[1]);
}
END_TEST

/* Pixels of 4 bytes, 4 of them at a time: whole squares and parts of them, also backwards along the source's rows. */
START_TEST(squares_of_packs)
{
    static const int64_t sizes[][3] = {{64, 64, 1}, {68, 12, 3}, {8, 132, 2}, {100, 72, 1}};
    static uint32_t from[16384] __attribute__((aligned(16))), to[2][16384] __attribute__((aligned(16)));
    for (uint32_t n = 0; n < 16384; n++)
        from[n] = n * 2654435761U;
    for (int32_t n = 0; n < 8; n++) {
        const int64_t *size = sizes[n / 2];
        const bool is_backwards = n % 2 != 0;
        const int64_t strides[3] = {4, 4 * size[0], 4 * size[0] * size[1]};
        const int32_t order[3] = {1, 0, 2};
        int64_t stride = 4;
        cc__rearrange work = {.from = (unsigned char *)from, .components = 1};
        work.from_type = work.to_type = CC_PIXEL_UINT32;
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
            cc__rearrange_axis *to_axis = &work.axes[axis];
            to_axis->size = to_axis->from_size = axis < 3 ? size[order[axis]] : 1;
            to_axis->from_stride = axis < 3 ? strides[order[axis]] : 0;
            to_axis->to_stride = stride;
            stride *= to_axis->size;
        }
        if (is_backwards) {
            work.from += 4 * (size[0] - 1);
            work.axes[1].from_stride = -4;
        }
        memset(to, 0x5a, sizeof to);
        work.to = (unsigned char *)to[0];
        plain_rearrange(&work);
        work.to = (unsigned char *)to[1];
        cc__rearrange_normalize(&work);
        last_kernel = NULL;
        ck_assert_int_eq(cc__launch_rearrange(&work, &launcher), CC_OK);
        ck_assert_ptr_eq(last_kernel, (const void *)rearrange_squares_of_packs);
        ck_assert_mem_eq(to[0], to[1], sizeof to[0]);
    }
}
END_TEST

/* Pixels of 1 and 2 bytes by words: whole squares and parts, rows that begin at multiples of 16 and of 4 bytes only. */
START_TEST(squares_of_bytes)
{
    static const int64_t sizes[][3] = {{128, 144, 1}, {132, 12, 2}, {8, 260, 2}, {304, 32, 1}, {140, 132, 1}};
    static unsigned char from[65536] __attribute__((aligned(16))), to[2][65536] __attribute__((aligned(16)));
    const void *kernels[] = {(const void *)rearrange_byte_squares_1_16, (const void *)rearrange_byte_squares_1_4,
                             (const void *)rearrange_byte_squares_2_16, (const void *)rearrange_byte_squares_2_4};
    int32_t seen[4] = {0};
    for (uint32_t n = 0; n < sizeof from; n++)
        from[n] = (unsigned char)(n * 2654435761U >> 24);
    for (int32_t n = 0; n < 10; n++) {
        const int64_t *size = sizes[n / 2];
        const int64_t bytes = 1 + n % 2, skip = n == 6 ? 4 : 0;
        const int64_t strides[3] = {bytes, bytes * size[0], bytes * size[0] * size[1]};
        const int32_t order[3] = {1, 0, 2};
        int64_t stride = bytes;
        /* Nothing of the array is behind the source. */
        const int64_t source_bytes = strides[2] * size[2];
        cc__rearrange work = {.from = from + sizeof from - source_bytes - skip, .components = 1};
        work.from_type = work.to_type = bytes == 1 ? CC_PIXEL_INT8 : CC_PIXEL_UINT16;
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
            cc__rearrange_axis *to_axis = &work.axes[axis];
            to_axis->size = to_axis->from_size = axis < 3 ? size[order[axis]] : 1;
            to_axis->from_stride = axis < 3 ? strides[order[axis]] : 0;
            to_axis->to_stride = stride;
            stride *= to_axis->size;
        }
        memset(to, 0x5a, sizeof to);
        work.to = to[0];
        plain_rearrange(&work);
        work.to = to[1];
        cc__rearrange_normalize(&work);
        ck_assert_int_eq(cc__launch_rearrange(&work, &launcher), CC_OK);
        for (int32_t kernel = 0; kernel < 4; kernel++)
            seen[kernel] += last_kernel == kernels[kernel];
        ck_assert_msg(memcmp(to[0], to[1], sizeof to[0]) == 0, "case %d", n);
    }
    ck_assert_int_eq(seen[0], 1);
    ck_assert_int_eq(seen[1], 4);
    ck_assert_int_eq(seen[2], 2);
    ck_assert_int_eq(seen[3], 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base_rearrange_squares");
    TCase *tcase = tcase_create("base_rearrange_squares");
    tcase_add_test(tcase, squares_agree_with_the_host);
    tcase_add_test(tcase, squares_of_packs);
    tcase_add_test(tcase, squares_of_bytes);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
