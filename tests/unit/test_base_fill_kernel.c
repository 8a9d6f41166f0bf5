/* The fill kernels, run on the CPU, against plain fills; and the tiles that every kernel's work is cut into. */
#include "support/cuda_on_host.h"

#include "kernels/fill.cu"
#include "support/plain_work.h"

#include <check.h>
#include <stdlib.h>
#include <sys/mman.h>

#define BUFFER_BYTES ((int64_t)1 << 20)

static int32_t launches;
static int32_t fail_launch; /* the number of the launch that fails; 0: none */
static int32_t last_unit;

static cc_status launch(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks, uint32_t block_threads,
                        void **arguments)
{
    void (*run)(const cc__fill_plan) = (void (*)(const cc__fill_plan))kernel;
    const cc__fill_plan *plan = arguments[0];
    ck_assert_uint_eq(block_threads, CC__BLOCK_THREADS);
    ck_assert_uint_gt(grid_blocks, 0);
    ck_assert_int_le(grid_blocks, launcher->multiprocessor_count * CC__BLOCKS_PER_MULTIPROCESSOR);
    last_unit = plan->unit_bytes;
    if (++launches == fail_launch)
        return CC_ERROR_DEVICE;
    cuda_on_host_run(0, grid_blocks, grid_blocks, block_threads, run(*plan));
    return CC_OK;
}

static const cc__launcher launcher = LAUNCHER(launch, 1);

static void set_up(void)
{
    launches = 0;
    fail_launch = 0;
}

START_TEST(quotients_are_those_of_division)
{
    uint32_t state = 1;
    for (int32_t i = 0; i < 40000; i++) {
        int32_t value = i < 3000 ? i + 1 : (int32_t)(1 + random_below(&state, INT32_MAX));
        if (i >= 3000 && i % 2 == 0)
            value >>= random_below(&state, 31);
        if (i < 31)
            value = INT32_MAX >> i;
        if (value == 0)
            continue;
        cc__divisor divisor = cc__divisor_of(value);
        int64_t most = INT32_MAX / value * (int64_t)value;
        const int64_t near[] = {0,
                                1,
                                value - 1,
                                value,
                                value + (int64_t)1,
                                most - 1,
                                most,
                                most + 1,
                                INT32_MAX,
                                INT32_MAX - 1,
                                value * INT64_C(2) - 1,
                                INT32_MAX / 2,
                                value * INT64_C(7),
                                random_below(&state, INT32_MAX)};
        for (size_t n = 0; n < sizeof near / sizeof near[0]; n++) {
            if (near[n] >= 0 && near[n] <= INT32_MAX && cc__divide((int32_t)near[n], &divisor) != near[n] / value)
                ck_abort_msg("%lld / %d", (long long)near[n], value);
        }
    }
}
END_TEST

/* Rows of `length` bytes, `a` x `b` x `c` of them. */
static cc__rows rows_of(int64_t length, int64_t a, int64_t b, int64_t c)
{
    cc__rows rows = {.length = length, .step = {1, 1}, .size = {a, b, c, 1}};
    rows.axes = c > 1 ? 3 : b > 1 ? 2 : a > 1 ? 1 : 0;
    int64_t stride = length + 1;
    for (int32_t i = 0; i < rows.axes; i++) {
        rows.stride[0][i] = stride;
        rows.stride[1][i] = 2 * stride;
        stride = stride * rows.size[i] + 3;
    }
    return rows;
}

START_TEST(tiles_hold_every_piece_once)
{
    static const int64_t lengths[] = {1, 2, 5, 31, 256, 257, 300, 2047, 2048, 2049, 8191, 8192, 9000};
    static const int64_t counts[][3] = {{1, 1, 1}, {2, 1, 1}, {17, 1, 1}, {3, 5, 1}, {3, 2, 7}};
    unsigned char *seen = malloc(9000 * 42);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0] * 5; i++) {
        const int64_t *count = counts[i % 5];
        cc__rows rows = rows_of(lengths[i / 5], count[0], count[1], count[2]);
        for (int32_t tile_log2 = 9; tile_log2 <= 11; tile_log2 += 2) {
            cc__tiles tiles;
            ck_assert(cc__tiles_plan(&rows, rows.length, tile_log2, &tiles));
            memset(seen, 0, 9000 * 42);
            for (int64_t tile = 0; tile < tiles.count; tile++) {
                int32_t first_row;
                int64_t first_piece;
                cc__tiles_begin(&tiles, tile, &first_row, &first_piece);
                for (int32_t at = 0; at < 1 << tile_log2; at++) {
                    int32_t row = first_row + (at >> tiles.width_log2);
                    int64_t piece = first_piece + (at & ((1 << tiles.width_log2) - 1));
                    if (row < tiles.rows && piece < rows.length)
                        seen[row * rows.length + piece]++;
                }
            }
            for (int64_t at = 0; at < rows.length * tiles.rows; at++) {
                if (seen[at] != 1)
                    ck_abort_msg("piece %lld is in %d tiles", (long long)at, seen[at]);
            }
            int32_t row = 0;
            for (int64_t c = 0; c < count[2]; c++)
                for (int64_t b = 0; b < count[1]; b++)
                    for (int64_t a = 0; a < count[0]; a++, row++)
                        for (int32_t span = 0; span < 2; span++)
                            ck_assert_int_eq(cc__tiles_offset(&tiles, span, row), a * rows.stride[span][0] +
                                                                                      b * rows.stride[span][1] +
                                                                                      c * rows.stride[span][2]);
        }
    }
    free(seen);
}
END_TEST

START_TEST(one_row_may_have_any_length)
{
    cc__tiles tiles;
    cc__rows rows = rows_of(INT64_MAX / 2, 1, 1, 1);
    ck_assert(cc__tiles_plan(&rows, rows.length, 11, &tiles));
    ck_assert_int_eq(tiles.count, (INT64_C(1) << 51));
    int32_t row;
    int64_t piece;
    cc__tiles_begin(&tiles, tiles.count - 1, &row, &piece);
    ck_assert_int_eq(row, 0);
    ck_assert_int_eq(piece, (tiles.count - 1) * 2048);
    ck_assert_uint_eq(cc__tiles_blocks(&tiles, 132), 132 * CC__BLOCKS_PER_MULTIPROCESSOR);
}
END_TEST

START_TEST(too_many_rows_are_split_until_they_fit)
{
    /* 2^34 rows in three axes: the slowest is halved, then the next. */
    cc__rows rows = rows_of(1, INT64_C(1) << 16, INT64_C(1) << 16, 4);
    cc__tiles tiles;
    ck_assert(!cc__tiles_plan(&rows, rows.length, 11, &tiles));
    int64_t offset[2];
    cc__rows rest;
    cc__rows_split(&rows, &rest, offset);
    ck_assert_int_eq(rows.size[2], 2);
    ck_assert_int_eq(rest.size[2], 2);
    ck_assert_int_eq(offset[0], 2 * rows.stride[0][2]);
    ck_assert_int_eq(offset[1], 2 * rows.stride[1][2]);
    cc__rows_split(&rows, &rest, offset);
    ck_assert(!cc__tiles_plan(&rows, rows.length, 11, &tiles));
    cc__rows_split(&rows, &rest, offset);
    ck_assert_int_eq(rows.size[2], 1);
    ck_assert_int_eq(rows.size[1], 1 << 15);
    ck_assert_int_eq(offset[0], (INT64_C(1) << 15) * rows.stride[0][1]);
    ck_assert(!cc__tiles_plan(&rows, rows.length, 11, &tiles));
    cc__rows_split(&rows, &rest, offset);
    ck_assert(cc__tiles_plan(&rows, rows.length, 11, &tiles));
    ck_assert_int_eq(tiles.rows, 1 << 30);
    /* An odd number loses none. */
    rows = rows_of(1, 3, 1, 1);
    cc__rows_split(&rows, &rest, offset);
    ck_assert_int_eq(rows.size[0], 1);
    ck_assert_int_eq(rest.size[0], 2);
    /* Few rows, but too many tiles for a 31-bit number. */
    rows = rows_of(INT64_C(1) << 42, 2, 1, 1);
    ck_assert(!cc__tiles_plan(&rows, rows.length, 11, &tiles));
}
END_TEST

static void random_size(uint32_t *state, int64_t longest, int64_t out_size[CC_MAX_DIMENSION])
{
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        out_size[axis] = random_below(state, 3) == 0 ? 1 : 1 + random_below(state, longest);
}

START_TEST(random_fills_agree_with_plain_ones)
{
    unsigned char *expected = malloc(BUFFER_BYTES);
    unsigned char *found = malloc(BUFFER_BYTES);
    uint32_t state = 13;
    int32_t units_seen = 0;
    random_bytes(&state, expected, BUFFER_BYTES);
    memcpy(found, expected, BUFFER_BYTES);
    for (int32_t round = 0; round < 1200; round++) {
        static const int64_t components[] = {1, 1, 2, 3, 4, 5, 7, 63, 64};
        int64_t component = INT64_C(1) << random_below(&state, 5);
        cc__fill work = {.pixel_bytes = component * components[random_below(&state, 9)]};
        random_size(&state, work.pixel_bytes > 16 ? 3 : 6, work.size);
        if (round % 8 == 0)
            work.size[0] = 1 + random_below(&state, 40000 / work.pixel_bytes);
        int64_t alignment = round % 2 == 0 ? component : 16;
        int64_t to = random_strides(&state, work.size, work.pixel_bytes, alignment, work.destination.stride);
        if (to > BUFFER_BYTES / 2)
            continue;
        random_bytes(&state, work.value, work.pixel_bytes);
        int64_t offset = component * random_below(&state, 40);
        work.destination.data = expected + offset;
        plain_fill(&work);
        work.destination.data = found + offset;
        ck_assert_int_eq(cc__launch_fill(&work, &launcher), CC_OK);
        ck_assert_mem_eq(found, expected, (size_t)(to + 40 * 16));
        units_seen |= last_unit;
    }
    ck_assert_int_eq(units_seen, 31);
    free(expected);
    free(found);
}
END_TEST

START_TEST(small_pixels_are_written_16_bytes_at_a_time)
{
    unsigned char *memory = aligned_alloc(256, 4096);
    /* One row, also when it begins anywhere; rows with a pitch of 16; then pitches that allow less. */
    static const struct {
        int64_t pixel_bytes, offset, width, pitch;
        int32_t unit;
    } cases[] = {
        {1, 0, 500, 500, 16}, {1, 3, 500, 500, 16}, {3, 3, 100, 300, 16}, {4, 4, 100, 416, 16}, {4, 4, 100, 408, 8},
        {4, 4, 100, 404, 4},  {2, 0, 50, 102, 2},   {1, 0, 50, 51, 1},    {4, 4, 1, 64, 4},     {8, 0, 1, 64, 8},
        {16, 0, 1, 64, 16},   {12, 4, 1, 64, 4},    {3, 0, 1, 64, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cc__fill work = {
            .destination = {memory + cases[i].offset,
                            {cases[i].pixel_bytes, cases[i].pitch, 3 * cases[i].pitch, 3 * cases[i].pitch}},
            .size = {cases[i].width, 3, 1, 1},
            .pixel_bytes = cases[i].pixel_bytes};
        ck_assert_int_eq(cc__launch_fill(&work, &launcher), CC_OK);
        ck_assert_msg(last_unit == cases[i].unit, "case %zu: unit %d", i, last_unit);
    }
    free(memory);
}
END_TEST

/* Runs one block as if there were one for each tile; the rest of the memory is never touched. */
static uint32_t picked_block;

static cc_status launch_one(const cc__launcher *unused, const void *kernel, uint32_t grid_blocks,
                            uint32_t block_threads, void **arguments)
{
    (void)unused;
    (void)grid_blocks;
    void (*run)(const cc__fill_plan) = (void (*)(const cc__fill_plan))kernel;
    const cc__fill_plan *plan = arguments[0];
    ck_assert_int_lt(picked_block, plan->tiles.count);
    cuda_on_host_run(picked_block, 1, (uint32_t)plan->tiles.count, block_threads, run(*plan));
    return CC_OK;
}

START_TEST(fills_reach_past_32_bits)
{
    /* 3 * 2^33 bytes of three-byte pixels; only what is written takes up memory. */
    const int64_t bytes = 3 * (INT64_C(1) << 33);
    unsigned char *memory =
        mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert(memory != MAP_FAILED);
    const cc__launcher one = LAUNCHER(launch_one, 132);
    cc__fill work = {.destination = {memory + 1, {3, bytes, bytes, bytes}},
                     .size = {(bytes - 1) / 3, 1, 1, 1},
                     .pixel_bytes = 3,
                     .value = {1, 2, 3}};
    /* Units begin at memory + 16, 2048 of them in a tile; the last tile has head and tail. */
    const int64_t tile_bytes = 2048 * 16;
    const int64_t units_end = 16 + (work.size[0] * 3 - 15) / 16 * 16;
    const int64_t last = (units_end - 16) / tile_bytes + 1;
    const int64_t picked[] = {0, last / 3, (INT64_C(1) << 32) / tile_bytes, last - 1, last};
    for (size_t i = 0; i < sizeof picked / sizeof picked[0]; i++) {
        picked_block = (uint32_t)picked[i];
        ck_assert_int_eq(cc__launch_fill(&work, &one), CC_OK);
        int64_t wrong = 0;
        for (int64_t at = 16 + picked[i] * tile_bytes; at < 16 + (picked[i] + 1) * tile_bytes && at < units_end; at++)
            wrong += memory[at] != 1 + (at - 1) % 3;
        ck_assert_int_eq(wrong, 0);
    }
    for (int64_t at = 0; at < 16; at++)
        ck_assert_int_eq(memory[at], at == 0 ? 0 : 1 + (at - 1) % 3);
    for (int64_t at = units_end; at < bytes; at++)
        ck_assert_int_eq(memory[at], at - 1 < work.size[0] * 3 ? 1 + (at - 1) % 3 : 0);
    munmap(memory, (size_t)bytes);
}
END_TEST

static int64_t rows_launched;
static const unsigned char *next_unit;

/* Checks that launches follow each other without a gap, and runs nothing. */
static cc_status launch_nothing(const cc__launcher *unused, const void *kernel, uint32_t grid_blocks,
                                uint32_t block_threads, void **arguments)
{
    (void)unused;
    (void)kernel;
    (void)grid_blocks;
    (void)block_threads;
    const cc__fill_plan *plan = arguments[0];
    if (++launches == fail_launch)
        return CC_ERROR_DEVICE;
    ck_assert_ptr_eq(plan->first_unit, next_unit);
    rows_launched += plan->tiles.rows;
    next_unit += plan->tiles.rows * INT64_C(2);
    return CC_OK;
}

START_TEST(more_rows_than_31_bits_take_several_launches)
{
    unsigned char *memory = (unsigned char *)(uintptr_t)4096; /* never touched */
    const int64_t pixels = (INT64_C(1) << 33) + 5;
    const cc__launcher none = LAUNCHER(launch_nothing, 132);
    cc__fill work = {
        .destination = {memory, {2, 2 * pixels, 2 * pixels, 2 * pixels}}, .size = {pixels, 1, 1, 1}, .pixel_bytes = 1};
    rows_launched = 0;
    next_unit = memory;
    ck_assert_int_eq(cc__launch_fill(&work, &none), CC_OK);
    ck_assert_int_eq(rows_launched, pixels);
    ck_assert_int_ge(launches, 5);
    /* The first that fails is the last. */
    launches = 0;
    fail_launch = 2;
    next_unit = memory;
    ck_assert_int_eq(cc__launch_fill(&work, &none), CC_ERROR_DEVICE);
    ck_assert_int_eq(launches, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fill kernel");
    TCase *cases = tcase_create("fill kernel");
    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, quotients_are_those_of_division);
    tcase_add_test(cases, tiles_hold_every_piece_once);
    tcase_add_test(cases, one_row_may_have_any_length);
    tcase_add_test(cases, too_many_rows_are_split_until_they_fit);
    tcase_add_test(cases, random_fills_agree_with_plain_ones);
    tcase_add_test(cases, small_pixels_are_written_16_bytes_at_a_time);
    tcase_add_test(cases, fills_reach_past_32_bits);
    tcase_add_test(cases, more_rows_than_31_bits_take_several_launches);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
