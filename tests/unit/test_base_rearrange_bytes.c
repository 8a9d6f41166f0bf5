/* Rows of pixels of 1 and 2 bytes, moved by whole words on the CPU: what copies of pixels one by one give. */
#include "support/cuda_on_host.h"

#include "kernels/strips.cu"
#include "support/plain_rearrange.h"
#include "support/plain_work.h"

#include <check.h>
#include <stdlib.h>

#define ROWS 16
#define TO_PITCH 273 /* so that each row of 16 begins at another byte behind a multiple of 16 */
#define TO_BYTES (ROWS * TO_PITCH * 2 + 32)

static int32_t byte_launches;

static cc_status launch(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks, uint32_t block_threads,
                        void **arguments)
{
    void (*run)(const cc__strips_plan) = (void (*)(const cc__strips_plan))kernel;
    (void)launcher;
    ck_assert_uint_eq(block_threads, CC__BLOCK_THREADS);
    byte_launches += kernel == (const void *)move_bytes_1 || kernel == (const void *)move_bytes_2;
    cuda_on_host_run(0, grid_blocks, grid_blocks, block_threads, run(*(const cc__strips_plan *)arguments[0]));
    return CC_OK;
}

static const cc__launcher launcher = LAUNCHER(launch, 1);

static void count_from_0(void)
{
    byte_launches = 0;
}

static void fill_bytes(unsigned char *bytes, int64_t count, uint32_t seed)
{
    random_bytes(&seed, bytes, count);
}

/* Moves by the kernel and plainly, and compares all bytes of the destination, which `to` is a place in. */
static void move_and_compare(const cc__rearrange *asked, int64_t to_skip)
{
    static unsigned char to[2][TO_BYTES] __attribute__((aligned(16)));
    cc__rearrange work = *asked;
    bool is_done = false;
    memset(to, 0x5a, sizeof to);
    work.to = to[0] + to_skip;
    plain_rearrange(&work);
    work.to = to[1] + to_skip;
    cc__rearrange_normalize(&work);
    const int32_t before = byte_launches;
    ck_assert_int_eq(cc__launch_strips(&work, &launcher, &is_done), CC_OK);
    ck_assert(is_done);
    ck_assert_int_eq(byte_launches, before + 1);
    for (int64_t i = 0; i < TO_BYTES; i++)
        ck_assert_msg(to[0][i] == to[1][i], "byte %d is %d, not %d", (int)i, to[1][i], to[0][i]);
}

/*
 * Rows of 2 to 70 pixels and what a border adds to them, from each place behind a multiple of 16 bytes to each, both
 * ways round. The source ends where its memory does.
 */
static void rows_of(int32_t bytes, int32_t components, int64_t from_size, int64_t apart, bool is_backwards,
                    int32_t border, int64_t before, int64_t after)
{
    const int64_t pixel = (int64_t)bytes * components;
    const int64_t pitch = ((from_size * components + apart + 15) / 16 * 16 + 1) * bytes;
    const int64_t from_bytes = apart * bytes + (ROWS - 1) * pitch + from_size * pixel;
    unsigned char *from = malloc((size_t)from_bytes);
    const int64_t to_pitch = (int64_t)TO_PITCH * bytes;
    ck_assert_ptr_nonnull(from);
    fill_bytes(from, from_bytes, (uint32_t)(from_size * 16 + apart));
    cc__rearrange work = {
        .from = from + apart * bytes + (is_backwards ? (from_size - 1) * pixel : 0),
        .axes = {{before + from_size + after, pixel, is_backwards ? -pixel : pixel, from_size, before, border},
                 {ROWS, to_pitch, pitch, ROWS, 0, border},
                 {1, 0, 0, 1, 0, border},
                 {1, 0, 0, 1, 0, border}},
        .to_type = bytes == 1 ? CC_PIXEL_UINT8 : CC_PIXEL_UINT16,
        .from_type = bytes == 1 ? CC_PIXEL_UINT8 : CC_PIXEL_UINT16,
        .components = components,
        .value = {7, (unsigned char)(bytes == 1 ? 7 : 9)}};
    move_and_compare(&work, bytes);
    free(from);
}

START_TEST(every_length_and_place)
{
    const int32_t bytes = 1 + _i;
    for (int64_t size = 2; size <= 70; size++)
        for (int64_t apart = 0; apart < 16 / bytes; apart++) {
            rows_of(bytes, 1, size, apart, false, CC_BORDER_CONSTANT, 0, 0);
            rows_of(bytes, 1, size, apart, true, CC_BORDER_CONSTANT, 0, 0);
        }
    ck_assert_int_gt(byte_launches, 1000);
}
END_TEST

START_TEST(every_border)
{
    for (int32_t border = CC_BORDER_CONSTANT; border <= CC_BORDER_PERIODIC; border++)
        for (int64_t size = 2; size <= 70; size += size < 20 ? 3 : 7)
            for (int64_t n = 0; n < 16; n++) {
                const int64_t most = border == CC_BORDER_REFLECT ? size - 1 : size;
                const int64_t before = n % 8 == 5 ? 0 : n % 4 == 0 ? most : n < most ? n : most;
                const int64_t after = n % 3 == 0 ? most : (n * 7) % (most + 1);
                rows_of(1 + (int32_t)(n & 1), 1, size, n % 8, (n & 2) != 0, border, before, after);
            }
    ck_assert_int_gt(byte_launches, 500);
}
END_TEST

/* Vectors whose rows go on as they are, and parts of rows: pixels before the first and behind the last are not wanted.
 */
START_TEST(vectors_and_parts)
{
    for (int64_t n = 0; n < 16; n++) {
        rows_of(1, 3, 5 + n, n, false, CC_BORDER_CONSTANT, 0, 0);
        rows_of(1, 1, 60 + n, n, n % 2 != 0, CC_BORDER_CONSTANT, -n, -2);
        rows_of(2, 1, 60 + n, n % 8, n % 2 != 0, CC_BORDER_REPLICATE, -3, n);
    }
    ck_assert_int_eq(byte_launches, 48);
}
END_TEST

/* Rows that are the border's, and rows and slices from the other end. */
START_TEST(borders_across)
{
    unsigned char from[4 * 5 * 37];
    fill_bytes(from, sizeof from, 3);
    for (int32_t border = CC_BORDER_CONSTANT; border <= CC_BORDER_PERIODIC; border++) {
        const cc__rearrange work = {.from = from + 148, /* row 4 */
                                    .axes = {{41, 1, 1, 37, 2, border},
                                             {9, 43, -37, 5, 2, border},
                                             {6, 387, 185, 4, 1, border},
                                             {1, 0, 0, 1, 0, border}},
                                    .to_type = CC_PIXEL_UINT8,
                                    .from_type = CC_PIXEL_UINT8,
                                    .components = 1,
                                    .value = {8}};
        move_and_compare(&work, 3);
    }
    ck_assert_int_eq(byte_launches, 5);
}
END_TEST

/* A large box of bytes that nothing aligns is copied by whole words too. */
START_TEST(large_box)
{
    const int64_t width = 1501, height = 701, pitch = 1537, to_pitch = 1511;
    unsigned char *from = malloc((size_t)(pitch * height)), *to = malloc((size_t)(to_pitch * height));
    bool is_done = false;
    ck_assert(from != NULL && to != NULL);
    fill_bytes(from, pitch * height, 4);
    memset(to, 0, (size_t)(to_pitch * height));
    const cc__copy copy = {.destination = {.data = to + 5, .stride = {1, to_pitch, 0, 0}},
                           .source = {.data = from + 3, .stride = {1, pitch, 0, 0}},
                           .size = {width, height, 1, 1},
                           .pixel_bytes = 1};
    ck_assert_int_eq(cc__launch_copy_box(&copy, &launcher, &is_done), CC_OK);
    ck_assert(is_done);
    ck_assert_int_eq(byte_launches, 1);
    for (int64_t row = 0; row < height; row++) {
        const unsigned char *at = to + row * to_pitch;
        ck_assert_int_eq(at[4] | at[5 + width], 0);
        ck_assert_mem_eq(at + 5, from + 3 + row * pitch, (size_t)width);
    }
    free(from);
    free(to);
}
END_TEST

/* What is read of the source begins and ends with it, wherever its pixel 0 is. */
START_TEST(where_a_source_begins_and_ends)
{
    static unsigned char memory[4096];
    const cc__rearrange work = {
        .from = memory + 2000,
        .axes = {{10, 2, -2, 10, 0, 0}, {3, 20, 100, 3, 0, 0}, {4, 60, -300, 4, 0, 0}, {1, 0, 0, 1, 0, 0}},
        .unit_bytes = 2,
        .units = 1};
    const unsigned char *source[2];
    cc__strips_find_source(&work, source);
    ck_assert_ptr_eq(source[0], memory + 2000 - 18 - 900);
    ck_assert_ptr_eq(source[1], memory + 2000 + 200 + 2);
}
END_TEST

/* Rows of a dense image, with borders along them. */
static bool takes_words(int64_t bytes, int64_t before, int64_t from_size, int64_t rows)
{
    static unsigned char place[16] __attribute__((aligned(16))); /* nothing is read or written */
    const int64_t size = from_size + 2 * before;
    cc__rearrange work = {.to = place,
                          .from = place,
                          .axes = {{size, bytes, bytes, from_size, before, CC_BORDER_SYMMETRIC},
                                   {rows, size * bytes, from_size * bytes, rows, 0, CC_BORDER_SYMMETRIC},
                                   {1, 0, 0, 1, 0, 0},
                                   {1, 0, 0, 1, 0, 0}},
                          .to_type = bytes == 1 ? CC_PIXEL_UINT8 : CC_PIXEL_UINT16,
                          .from_type = bytes == 1 ? CC_PIXEL_UINT8 : CC_PIXEL_UINT16,
                          .components = 1};
    cc__strips_plan plan;
    cc__rearrange_normalize(&work);
    ck_assert(cc__strips_plan_make(&work, &plan));
    ck_assert_int_eq(plan.has_border, before > 0);
    return plan.all_pieces > 0;
}

/* What was measured: rows of 64 and 256 pieces, of 1 and 2 bytes. */
START_TEST(short_rows_with_borders)
{
    ck_assert(takes_words(1, 32, 960, 1024));
    ck_assert(!takes_words(1, 1, 1022, 1024));
    ck_assert(!takes_words(1, 33, 1022, 1024)); /* rows begin anywhere */
    ck_assert(takes_words(1, 1, 4094, 256));
    ck_assert(!takes_words(2, 32, 448, 1024));
    ck_assert(takes_words(2, 1, 2046, 256));
    ck_assert(takes_words(2, 1, 510, 1023)); /* a piece less than what is much */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base_rearrange_bytes");
    TCase *tcase = tcase_create("base_rearrange_bytes");
    tcase_add_checked_fixture(tcase, count_from_0, NULL);
    tcase_add_loop_test(tcase, every_length_and_place, 0, 2);
    tcase_add_test(tcase, every_border);
    tcase_add_test(tcase, vectors_and_parts);
    tcase_add_test(tcase, borders_across);
    tcase_add_test(tcase, large_box);
    tcase_add_test(tcase, where_a_source_begins_and_ends);
    tcase_add_test(tcase, short_rows_with_borders);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
