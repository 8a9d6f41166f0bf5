/* The rescale kernels, run on the CPU, against the host's own path: the same bits for every pair of types and layout.
 */
#include "support/cuda_on_host.h"

#include "kernels/rescale.cu"
#include "support/plain_work.h"
#include "support/rescale_cases.h"

#include <check.h>
#include <stdlib.h>
#include <sys/mman.h>

#define TYPES 15
#define BUFFER_BYTES ((int64_t)1 << 19)

static int32_t launches;
static cc__rescale_plan last_plan;
static const void *last_kernel;

static cc_status launch(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks, uint32_t block_threads,
                        void **arguments)
{
    void (*run)(const cc__rescale_plan) = (void (*)(const cc__rescale_plan))kernel;
    const cc__rescale_plan *plan = arguments[0];
    ck_assert_uint_eq(block_threads, CC__BLOCK_THREADS);
    ck_assert_uint_gt(grid_blocks, 0);
    ck_assert_int_le(grid_blocks, launcher->multiprocessor_count * CC__BLOCKS_PER_MULTIPROCESSOR);
    launches++;
    last_plan = *plan;
    last_kernel = kernel;
    cuda_on_host_run(0, grid_blocks, grid_blocks, block_threads, run(*plan));
    return CC_OK;
}

static const cc__launcher launcher = LAUNCHER(launch, 1);

/* In the place of the kernels of expressions: whether the expression is the same can be seen on the host. */
static bool takes_rows;
static int32_t rows_taken;

cc_status cc__launch_evaluate_row(const cc__evaluate *work, const cc__launcher *with, bool *out_done)
{
    (void)with;
    *out_done = takes_rows;
    if (takes_rows)
        cc__evaluate_on_host(work);
    rows_taken += takes_rows;
    return CC_OK;
}

static void set_up(void)
{
    launches = 0;
    last_kernel = NULL;
    takes_rows = false;
    rows_taken = 0;
}

static int64_t bytes_of(cc_pixel_type type)
{
    return (int64_t)cc_pixel_type_size_bytes(type);
}

static cc__rescale dense_row(unsigned char *destination, cc_pixel_type destination_type, unsigned char *source,
                             cc_pixel_type source_type, int64_t count)
{
    cc__rescale work = {.destination = {.data = destination},
                        .source = {.data = source},
                        .size = {count, 1, 1, 1},
                        .components = 1,
                        .destination_type = destination_type,
                        .source_type = source_type,
                        .scale = 1.0};
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        work.destination.stride[axis] = (axis == 0 ? 1 : count) * bytes_of(destination_type);
        work.source.stride[axis] = (axis == 0 ? 1 : count) * bytes_of(source_type);
    }
    return work;
}

static void write_cases(cc_pixel_type type, int64_t first, int64_t count, unsigned char *out)
{
    for (int64_t i = 0; i < count; i++)
        rescale_case_write(type, first + i, out + i * bytes_of(type));
}

/* Odd lengths and beginnings: short rows, heads and tails of packs, several tiles. */
START_TEST(dense_rows_agree_with_the_host)
{
    unsigned char *source = malloc(BUFFER_BYTES);
    unsigned char *expected = malloc(BUFFER_BYTES);
    unsigned char *found = malloc(BUFFER_BYTES);
    takes_rows = _i == 1;
    for (int32_t pair = 0; pair < TYPES * TYPES; pair++) {
        static const int64_t counts[] = {1, 3, 4, 7, 1000, 2048, 4099};
        cc_pixel_type from = (cc_pixel_type)(pair / TYPES);
        cc_pixel_type to = (cc_pixel_type)(pair % TYPES);
        for (int64_t i = 0; i < 7; i++) {
            int64_t skip = i == 5 ? 0 : (pair + i) % 5;
            int64_t skip_to = i % 2 == 0 ? skip : (pair + 3 * i) % 5;
            int64_t span = (counts[i] + 10) * bytes_of(to);
            cc__rescale work =
                dense_row(expected + skip_to * bytes_of(to), to, source + skip * bytes_of(from), from, counts[i]);
            work.scale = rescale_factors[(pair + i) % RESCALE_FACTORS][0];
            work.shift = rescale_factors[(pair + i) % RESCALE_FACTORS][1];
            write_cases(from, pair, counts[i] + 10, source);
            memset(expected, 0x5a, (size_t)span);
            memset(found, 0x5a, (size_t)span);
            cc__rescale_on_host(&work);
            work.destination.data = found + skip_to * bytes_of(to);
            ck_assert_int_eq(cc__launch_rescale(&work, &launcher), CC_OK);
            ck_assert_mem_eq(found, expected, (size_t)span);
            if (from == to) {
                work.destination = work.source;
                ck_assert_int_eq(cc__launch_rescale(&work, &launcher), CC_OK);
                ck_assert_mem_eq(work.source.data, expected + skip_to * bytes_of(to),
                                 (size_t)(counts[i] * bytes_of(to)));
            }
        }
    }
    ck_assert_int_ge(rows_taken, takes_rows ? 7 * 13 * 12 : 0);
    free(source);
    free(expected);
    free(found);
}
END_TEST

START_TEST(boxes_agree_with_the_host)
{
    unsigned char *source = malloc(BUFFER_BYTES);
    unsigned char *expected = malloc(BUFFER_BYTES);
    unsigned char *found = malloc(BUFFER_BYTES);
    uint32_t state = 17;
    int32_t packed = 0;
    random_bytes(&state, expected, BUFFER_BYTES);
    memcpy(found, expected, BUFFER_BYTES);
    for (int32_t round = 0; round < 1500; round++) {
        cc__rescale work = {.components = (int32_t)(1 + random_below(&state, 4)),
                            .destination_type = (cc_pixel_type)random_below(&state, TYPES),
                            .source_type = (cc_pixel_type)random_below(&state, TYPES)};
        int64_t factors = random_below(&state, RESCALE_FACTORS);
        work.scale = rescale_factors[factors][0];
        work.shift = rescale_factors[factors][1];
        int64_t to_bytes = bytes_of(work.destination_type);
        int64_t from_bytes = bytes_of(work.source_type);
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
            work.size[axis] = random_below(&state, 3) == 0 ? 1 : 1 + random_below(&state, 5);
        if (round % 4 == 0)
            work.size[0] = 1 + random_below(&state, 700);
        if (round % 4 == 1)
            work.size[0] *= 4;
        int64_t to =
            random_strides(&state, work.size, work.components * to_bytes, 4 * to_bytes, work.destination.stride);
        int64_t from =
            random_strides(&state, work.size, work.components * from_bytes, 4 * from_bytes, work.source.stride);
        int64_t skip = random_below(&state, 5);
        if (to + 80 > BUFFER_BYTES || from + 80 > BUFFER_BYTES)
            continue;
        write_cases(work.source_type, round, from / from_bytes + 5, source);
        work.source.data = source + skip * from_bytes;
        if (round % 3 == 0)
            skip = random_below(&state, 5);
        work.destination.data = expected + skip * to_bytes;
        cc__rescale_on_host(&work);
        work.destination.data = found + skip * to_bytes;
        ck_assert_int_eq(cc__launch_rescale(&work, &launcher), CC_OK);
        ck_assert_mem_eq(found, expected, (size_t)(to + 80));
        packed += last_kernel == (const void *)rescale_packs && last_plan.tiles.rows > 1;
    }
    ck_assert_int_gt(packed, 10);
    free(source);
    free(expected);
    free(found);
}
END_TEST

START_TEST(all_16_bit_floats_agree_with_the_host)
{
    const cc_pixel_type types[] = {CC_PIXEL_FLOAT16, CC_PIXEL_BFLOAT16};
    unsigned char *source = malloc(65536 * 2);
    unsigned char *expected = malloc(65536 * 8);
    unsigned char *found = malloc(65536 * 8);
    for (uint32_t i = 0; i < 65536; i++)
        memcpy(source + 2 * i, &(uint16_t){(uint16_t)i}, 2);
    for (int32_t type = 0; type < 2; type++) {
        cc__rescale work = dense_row(expected, CC_PIXEL_FLOAT64, source, types[type], 65536);
        cc__rescale_on_host(&work);
        work.destination.data = found;
        ck_assert_int_eq(cc__launch_rescale(&work, &launcher), CC_OK);
        ck_assert_mem_eq(found, expected, 65536 * 8);
    }
    free(source);
    free(expected);
    free(found);
}
END_TEST

START_TEST(small_dense_types_are_read_in_packs)
{
    unsigned char *source = aligned_alloc(256, 65536);
    unsigned char *destination = aligned_alloc(256, 65536);
    memset(source, 0, 65536);
    /* The same distance from an aligned component in both: packs begin before the row. */
    cc__rescale work = dense_row(destination + 12, CC_PIXEL_FLOAT32, source + 6, CC_PIXEL_INT16, 5000);
    ck_assert_int_eq(cc__launch_rescale(&work, &launcher), CC_OK);
    ck_assert(last_kernel == (const void *)rescale_packs);
    ck_assert_int_eq(last_plan.before, 3);
    /* Another distance, an element apart, 8 bytes: one by one. */
    work.source.data = source + 4;
    ck_assert_int_eq(cc__launch_rescale(&work, &launcher), CC_OK);
    ck_assert(last_kernel == (const void *)rescale_singles);
    work = dense_row(destination, CC_PIXEL_FLOAT64, source, CC_PIXEL_INT16, 5000);
    ck_assert_int_eq(cc__launch_rescale(&work, &launcher), CC_OK);
    ck_assert(last_kernel == (const void *)rescale_singles);
    /* Rows that keep the alignment, and rows that do not. */
    work = dense_row(destination, CC_PIXEL_FLOAT32, source, CC_PIXEL_INT16, 100);
    work.size[1] = 10;
    work.source.stride[1] = 208;
    ck_assert_int_eq(cc__launch_rescale(&work, &launcher), CC_OK);
    ck_assert(last_kernel == (const void *)rescale_packs);
    work.source.stride[1] = 210;
    ck_assert_int_eq(cc__launch_rescale(&work, &launcher), CC_OK);
    ck_assert(last_kernel == (const void *)rescale_singles);
    free(source);
    free(destination);
}
END_TEST

START_TEST(nothing_to_do_in_place_is_not_launched)
{
    unsigned char memory[64] = {0};
    cc__rescale work = dense_row(memory, CC_PIXEL_FLOAT32, memory, CC_PIXEL_FLOAT32, 16);
    ck_assert_int_eq(cc__launch_rescale(&work, &launcher), CC_OK);
    ck_assert_int_eq(launches, 0);
    work.shift = 1;
    ck_assert_int_eq(cc__launch_rescale(&work, &launcher), CC_OK);
    ck_assert_int_eq(launches, 1);
    ck_assert_int_eq(memory[3], 0x3f);
}
END_TEST

/* Runs one block as if there were one for each tile; the rest of the memory is never touched. */
static uint32_t picked_block;

static cc_status launch_one(const cc__launcher *unused, const void *kernel, uint32_t grid_blocks,
                            uint32_t block_threads, void **arguments)
{
    (void)unused;
    (void)grid_blocks;
    void (*run)(const cc__rescale_plan) = (void (*)(const cc__rescale_plan))kernel;
    const cc__rescale_plan *plan = arguments[0];
    ck_assert_int_lt(picked_block, plan->tiles.count);
    cuda_on_host_run(picked_block, 1, (uint32_t)plan->tiles.count, block_threads, run(*plan));
    return CC_OK;
}

START_TEST(rows_reach_past_32_bits)
{
    /* 5 * 2^30 components, their last ones; only what is touched takes up memory. */
    const int64_t count = 5 * (INT64_C(1) << 30);
    const cc__launcher one = LAUNCHER(launch_one, 132);
    for (int32_t type = CC_PIXEL_UINT8; type <= CC_PIXEL_UINT64; type += CC_PIXEL_UINT64 - CC_PIXEL_UINT8) {
        size_t bytes = (size_t)(count * bytes_of((cc_pixel_type)type));
        unsigned char *source =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        unsigned char *destination =
            mmap(NULL, (size_t)(2 * count), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        ck_assert(source != MAP_FAILED && destination != MAP_FAILED);
        cc__rescale work = dense_row(destination, CC_PIXEL_INT16, source, (cc_pixel_type)type, count);
        work.shift = 5;
        source[bytes - (size_t)bytes_of((cc_pixel_type)type)] = 200;
        picked_block = (uint32_t)(count / 2048 - 1);
        ck_assert_int_eq(cc__launch_rescale(&work, &one), CC_OK);
        for (int64_t i = count - 2048; i < count - 1; i++) {
            if (destination[2 * i] != 5)
                ck_abort_msg("component %lld is %d", (long long)i, destination[2 * i]);
        }
        ck_assert_int_eq(destination[2 * (count - 1)], 205);
        ck_assert_int_eq(destination[2 * (count - 2049)], 0);
        munmap(source, bytes);
        munmap(destination, (size_t)(2 * count));
    }
}
END_TEST

static int64_t rows_launched;
static const unsigned char *next_destination;
static const unsigned char *next_source;

/* Checks that launches follow each other without a gap, and runs nothing. */
static cc_status launch_nothing(const cc__launcher *unused, const void *kernel, uint32_t grid_blocks,
                                uint32_t block_threads, void **arguments)
{
    (void)unused;
    (void)kernel;
    (void)grid_blocks;
    (void)block_threads;
    const cc__rescale_plan *plan = arguments[0];
    launches++;
    ck_assert_ptr_eq(plan->destination, next_destination);
    ck_assert_ptr_eq(plan->source, next_source);
    rows_launched += plan->tiles.rows;
    next_destination += plan->tiles.rows * INT64_C(3);
    next_source += plan->tiles.rows * INT64_C(8);
    return CC_OK;
}

START_TEST(more_rows_than_31_bits_take_several_launches)
{
    /* Three components, with a gap between pixels in the source: a row for each pixel. Never touched. */
    const int64_t pixels = (INT64_C(1) << 32) + 7;
    const cc__launcher none = LAUNCHER(launch_nothing, 132);
    cc__rescale work = dense_row((unsigned char *)(uintptr_t)4096, CC_PIXEL_UINT8, (unsigned char *)(uintptr_t)8192,
                                 CC_PIXEL_INT16, pixels);
    work.components = 3;
    work.destination.stride[0] = 3;
    work.source.stride[0] = 8;
    next_destination = work.destination.data;
    next_source = work.source.data;
    rows_launched = 0;
    ck_assert_int_eq(cc__launch_rescale(&work, &none), CC_OK);
    ck_assert_int_eq(rows_launched, pixels);
    ck_assert_int_ge(launches, 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rescale kernel");
    TCase *cases = tcase_create("rescale kernel");
    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, dense_rows_agree_with_the_host, 0, 2);
    tcase_add_test(cases, boxes_agree_with_the_host);
    tcase_add_test(cases, all_16_bit_floats_agree_with_the_host);
    tcase_add_test(cases, small_dense_types_are_read_in_packs);
    tcase_add_test(cases, nothing_to_do_in_place_is_not_launched);
    tcase_add_test(cases, rows_reach_past_32_bits);
    tcase_add_test(cases, more_rows_than_31_bits_take_several_launches);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
