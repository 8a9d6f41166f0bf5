/* The kernels of histograms, run on the CPU, against the host's own path. */
#include "support/cuda_blocks_on_host.h"

#include "kernels/histogram.cu"
#include "support/plain_work.h"
#include "support/rescale_cases.h"
#include "support/share.h"

#include <stdlib.h>

/* Each thread of a block is a thread here. */
#define SHARE_OF(rounds) (1 + ((rounds)-1) / share_one_in())

typedef struct call {
    const void *kernel;
    void **arguments;
} call;

static int64_t batches;        /* of the last launch */
static const void *counted_by; /* of the last histogram */

static void run_kernel(void *context)
{
    const call *now = context;
    ((void (*)(const cc__histogram_plan))now->kernel)(*(const cc__histogram_plan *)now->arguments[0]);
}

static cc_status launch(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks, uint32_t block_threads,
                        void **arguments)
{
    call now = {kernel, arguments};
    (void)launcher;
    ck_assert_uint_eq(block_threads, CC__BLOCK_THREADS);
    ck_assert_uint_gt(grid_blocks, 0);
    batches = ((const cc__histogram_plan *)arguments[0])->batches;
    if (kernel != (const void *)clear_counts && kernel != (const void *)give_counts)
        counted_by = kernel;
    cuda_blocks_run(grid_blocks, run_kernel, &now);
    return CC_OK;
}

static const cc__launcher launcher = LAUNCHER(launch, 1);

static int64_t bytes_of(cc_pixel_type type)
{
    return (int64_t)cc_pixel_type_size_bytes(type);
}

static void compare(cc__histogram *work)
{
    const size_t bytes = (size_t)work->bins * sizeof(uint64_t);
    uint64_t *expected = malloc(bytes), *found = malloc(bytes);
    memset(expected, 0x5a, bytes);
    memset(found, 0xa5, bytes);
    work->counts = expected;
    cc__histogram_on_host(work);
    work->counts = found;
    work->scratch = malloc(bytes);
    ck_assert_int_eq(cc__launch_histogram(work, &launcher), CC_OK);
    ck_assert_mem_eq(found, expected, bytes);
    free(work->scratch);
    free(expected);
    free(found);
}

/* Few bins and many, also just as many as a block can have of its own and one more. */
static const int64_t bin_counts[] = {1, 7, 256, 257, 1000, OWN_COUNTERS - MORE_ROWS, OWN_COUNTERS - MORE_ROWS + 1};

START_TEST(any_rows)
{
    enum {
        BUFFER_BYTES = 1 << 20
    };
    unsigned char *buffer = malloc(BUFFER_BYTES);
    uint32_t state = 77;
    int32_t done = 0;
    for (int32_t round = 0; round < SHARE_OF(14); round++) {
        cc__histogram work = {.components = (int32_t)(1 + random_below(&state, 3)), .lower = -3, .upper = 100};
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
            work.size[axis] = random_below(&state, 3) == 0 ? 1 : 1 + random_below(&state, 9);
        work.bins = bin_counts[round % 7];
        work.source.type = (cc_pixel_type)random_below(&state, 13);
        const int64_t size_bytes = bytes_of(work.source.type);
        work.source.component_stride = size_bytes;
        const int64_t bytes = random_strides(&state, work.size, work.components * size_bytes,
                                             (1 + 3 * random_below(&state, 2)) * size_bytes, work.source.stride);
        const int64_t skip = random_below(&state, 5);
        if (bytes + 80 > BUFFER_BYTES)
            continue;
        for (int64_t i = 0; i < bytes / size_bytes + 5; i++)
            rescale_case_write(work.source.type, i + round, buffer + i * size_bytes);
        work.source.data = buffer + skip * size_bytes;
        compare(&work);
        done++;
    }
    ck_assert_int_gt(done, SHARE_OF(14) / 2);
    free(buffer);
}
END_TEST

/* Whole batches in packs, with some components before and after them; every type. */
START_TEST(dense_rows)
{
    unsigned char *buffer = aligned_alloc(64, (size_t)WIDE_BATCH * 4);
    for (int32_t n = 0; n < SHARE_OF(13); n++) {
        const int32_t type = n * 5 % 13;
        const int64_t size_bytes = bytes_of((cc_pixel_type)type);
        const int64_t count = 2 * batch_of((cc_pixel_type)type) + 333;
        for (int64_t i = 0; i < count + 16; i++)
            rescale_case_write((cc_pixel_type)type, i, buffer + i * size_bytes);
        cc__histogram work = {.components = 1,
                              .size = {count, 1, 1, 1},
                              .lower = -10.5,
                              .upper = 170.25,
                              .bins = type % 2 == 0 ? 256 : 60};
        work.source = (cc__reduced){
            .data = buffer, .stride = {size_bytes}, .component_stride = size_bytes, .type = (cc_pixel_type)type};
        compare(&work);
        ck_assert_int_ge(batches, 2);
        work.source.data = buffer + 3 * size_bytes;
        compare(&work);
        ck_assert_int_eq(batches, size_bytes == 1 ? 2 : 0);
    }
    free(buffer);
}
END_TEST

/* At the edges of bins, and where (upper - lower) * scale is rounded up to more than there are bins. */
START_TEST(edges_of_bins)
{
    static float values[2 * FEW];
    for (int32_t bins = 1; bins < 60; bins += 2 + bins / 3) {
        const double lower = 0.1, upper = (double)(0.1F + 0.7F * (float)bins), width = (upper - lower) / bins;
        for (int32_t i = 0; i < 2 * FEW; i++) {
            const float edge = (float)(lower + i % (bins + 1) * width);
            values[i] = i % 3 == 0 ? edge : nextafterf(edge, i % 3 == 1 ? -INFINITY : INFINITY);
        }
        values[0] = NAN, values[1] = -INFINITY, values[2] = INFINITY, values[3] = -0.0F, values[4] = (float)upper;
        /* By one block and by several. */
        cc__histogram work = {.components = 1, .size = {FEW, 1, 1, 1}, .lower = lower, .upper = upper, .bins = bins};
        work.source = (cc__reduced){
            .data = (const unsigned char *)values, .stride = {4}, .component_stride = 4, .type = CC_PIXEL_FLOAT32};
        compare(&work);
        work.size[0] = 2 * FEW;
        compare(&work);
    }
}
END_TEST

typedef struct bin_range {
    double lower;
    double upper;
    int64_t bins;
} bin_range;

/* The bin that all 65536 integers have on the line, or -1: the same as in float64. */
static bool expect_line(cc_pixel_type type, bin_range range)
{
    const double scale = (double)range.bins / (range.upper - range.lower);
    cc__histogram_line line;
    if (!cc__line_of(type, range.lower, range.upper, scale, range.bins, &line))
        return false;
    for (int64_t bits = 0; bits < 65536; bits++) {
        const double x = type == CC_PIXEL_INT16 ? (double)(int16_t)bits : (double)bits;
        const int64_t expected = cc__histogram_bin(x, range.lower, range.upper, scale, range.bins);
        const uint32_t place = ((uint32_t)bits << 16) - line.first;
        const int64_t bin = cc__line_value(&line, place) >> line.shift;
        const int64_t found = place > line.span ? -1 : bin < range.bins ? bin : range.bins - 1;
        if (found != expected || (found >= 0 && bin > range.bins))
            ck_abort_msg("[%.17g, %.17g] in %lld: %.17g in %lld, expected %lld", range.lower, range.upper,
                         (long long)range.bins, x, (long long)bin, (long long)expected);
    }
    return true;
}

/* What users ask for has a line; for what has none, or hardly one, either is right. */
START_TEST(bins_on_a_line)
{
    static const bin_range usual[] = {{0, 65535, 256},    {0, 65536, 256},      {0, 65535, 1000},  {0, 65536, 4096},
                                      {0, 4096, 256},     {0, 4095, 256},       {0, 255, 256},     {0, 256, 256},
                                      {0, 1, 2},          {-1024, 3071, 256},   {-1024, 3072, 64}, {100, 900, 10},
                                      {-32768, 32767, 1}, {-32768, 32768, 512}, {-0.5, 255.5, 256}};
    static const bin_range strange[] = {{0.1, 0.7, 5},     {7, 7.5, 3},      {-1e300, 1e300, 7}, {0, 1e-300, 4},
                                        {70000, 80000, 9}, {0, 65535, 8192}, {65535, 65536, 3},  {-1e9, 1e-9, 100}};
    uint32_t state = 21;
    int32_t lines = 0;
    for (int32_t type = 0; type < 2; type++) {
        const cc_pixel_type now = type == 0 ? CC_PIXEL_UINT16 : CC_PIXEL_INT16;
        for (int32_t n = 0; n < (int32_t)(sizeof usual / sizeof *usual); n++)
            ck_assert_msg(expect_line(now, usual[n]), "%d", n);
        for (int32_t n = 0; n < (int32_t)(sizeof strange / sizeof *strange); n++)
            expect_line(now, strange[n]);
    }
    for (int32_t n = 0; n < SHARE_OF(100); n++) {
        const double unit = n % 3 == 0 ? 1 : 0x1p-7, lower = unit * (double)(random_below(&state, 90000) - 45000);
        const bin_range range = {lower, lower + unit * (double)(1 + random_below(&state, 80000)),
                                 1 + random_below(&state, 600)};
        lines += expect_line(n % 2 == 0 ? CC_PIXEL_UINT16 : CC_PIXEL_INT16, range);
    }
    ck_assert_int_gt(lines, SHARE_OF(100) / 2);
    ck_assert(!expect_line(CC_PIXEL_UINT8, usual[0]));
}
END_TEST

/* In batches of 16-byte loads, with components before and after them. */
START_TEST(many_integers_of_16_bits)
{
    const int64_t count = ((int64_t)2 << LINE_LOG2) + 77;
    uint16_t *pixels = aligned_alloc(64, (size_t)(count + 32) / 32 * 64);
    for (int64_t i = 0; i < count; i++)
        pixels[i] = (uint16_t)(i * 40503 % 65521);
    for (int64_t n = 0; n < 4; n++) {
        cc__histogram work = {.components = 1, .size = {count - 8, 1, 1, 1}, .bins = 2};
        work.source =
            (cc__reduced){.data = (const unsigned char *)(pixels + n % 3 * 3), .stride = {2}, .component_stride = 2};
        work.source.type = n % 2 == 0 ? CC_PIXEL_UINT16 : CC_PIXEL_INT16;
        work.lower = n < 2 ? -32768 : 100.5;
        work.upper = n < 2 ? 65535 : 20000;
        compare(&work);
        ck_assert_ptr_eq(counted_by, n < 2 ? (const void *)count_all_on_line : (const void *)count_some_on_line);
    }
    free(pixels);
}
END_TEST

START_TEST(failed_launches_leave_bins_as_they_were)
{
    static unsigned char source[9000], before[40 * 8];
    uint64_t expected[40], found[40], scratch[40];
    for (int32_t i = 0; i < 9000; i++)
        source[i] = (unsigned char)(i * 7 % 43);
    memset(before, 0x5a, sizeof before);
    cc__histogram work = {.source = {source, {1, 0, 0, 0}, 1, CC_PIXEL_UINT8, 0},
                          .components = 1,
                          .size = {9000, 1, 1, 1},
                          .upper = 40,
                          .bins = 40,
                          .counts = expected,
                          .scratch = scratch};
    cc__histogram_on_host(&work);
    work.counts = found;
    const failures seen =
        fail_each_launch(cc__launch_histogram, &work, launch, (unsigned char *)found, sizeof found, before);
    ck_assert_int_eq(seen.launches, 3);
    ck_assert_int_eq(seen.torn, 0);
    ck_assert_mem_eq(found, expected, sizeof found);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base_histogram_kernel");
    TCase *tcase = tcase_create("base_histogram_kernel");
    tcase_add_test(tcase, any_rows);
    tcase_add_test(tcase, dense_rows);
    tcase_add_test(tcase, edges_of_bins);
    tcase_add_test(tcase, bins_on_a_line);
    tcase_add_test(tcase, many_integers_of_16_bits);
    tcase_add_test(tcase, failed_launches_leave_bins_as_they_were);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
