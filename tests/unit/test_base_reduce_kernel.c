/* The kernels of reductions, run on the CPU, against the host's own path: the same bits. */
#include "support/cuda_blocks_on_host.h"

#include "kernels/reduce.cu"
#include "support/plain_work.h"
#include "support/rescale_cases.h"
#include "support/share.h"

#include <stdlib.h>

#define BUFFER_BYTES ((int64_t)1 << 20)
/* Each thread of a block is a thread here. */
#define SHARE_OF(rounds) (1 + ((rounds)-1) / share_one_in())

typedef struct call {
    const void *kernel;
    void **arguments;
} call;

static int32_t packed_count;

static void run_kernel(void *context)
{
    const call *now = context;
    if (now->kernel == cc__join_kernel(CC__REDUCE_SUM) || now->kernel == cc__join_kernel(CC__REDUCE_MINIMUM) ||
        now->kernel == cc__join_kernel(CC__REDUCE_MAXIMUM) || now->kernel == cc__join_kernel(CC__REDUCE_MOMENTS)) {
        ((void (*)(const cc__join_plan))now->kernel)(*(const cc__join_plan *)now->arguments[0]);
    } else {
        ((void (*)(const cc__reduce_plan))now->kernel)(*(const cc__reduce_plan *)now->arguments[0]);
    }
}

static cc_status launch(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks, uint32_t block_threads,
                        void **arguments)
{
    call now = {kernel, arguments};
    (void)launcher;
    ck_assert_uint_eq(block_threads, CC__BLOCK_THREADS);
    ck_assert_uint_gt(grid_blocks, 0);
    if (kernel == reduce_kernel(CC__REDUCE_SUM, true) || kernel == reduce_kernel(CC__REDUCE_SUM, false) ||
        kernel == small_kernel(CC__REDUCE_SUM, true, true) || kernel == small_kernel(CC__REDUCE_SUM, false, true))
        packed_count += ((const cc__reduce_plan *)arguments[0])->from.is_packed[0];
    cuda_blocks_run(grid_blocks, run_kernel, &now);
    return CC_OK;
}

static const cc__launcher launcher = LAUNCHER(launch, 1);

static int64_t bytes_of(cc_pixel_type type)
{
    return (int64_t)cc_pixel_type_size_bytes(type);
}

static void write_cases(cc_pixel_type type, int64_t first, int64_t count, unsigned char *out)
{
    for (int64_t i = 0; i < count; i++)
        rescale_case_write(type, first + i, out + i * bytes_of(type));
}

/* Plain numbers, since with the special ones nearly everything is NaN. */
static void write_plain(cc_pixel_type type, int64_t count, unsigned char *out)
{
    for (int64_t i = 0; i < count; i++) {
        const float as_float = (float)(i * 37 % 101) / 3;
        const double as_double = (double)(i * 37 % 103) / 7;
        if (type == CC_PIXEL_FLOAT32)
            memcpy(out + 4 * i, &as_float, 4);
        else if (type == CC_PIXEL_FLOAT64)
            memcpy(out + 8 * i, &as_double, 8);
        else
            rescale_case_write(type, i, out + i * bytes_of(type));
    }
}

static int64_t random_size(uint32_t *state, int64_t out_size[CC_MAX_DIMENSION])
{
    int64_t count = 1;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        out_size[axis] = random_below(state, 3) == 0 ? 1 : 1 + random_below(state, 7);
    if (random_below(state, 2) == 0)
        out_size[random_below(state, 2)] = 1 + random_below(state, 900);
    if (random_below(state, 2) == 0)
        out_size[0] *= 4;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        count *= out_size[axis];
    return count;
}

static int64_t random_source(uint32_t *state, cc__reduced *source, const int64_t size[CC_MAX_DIMENSION],
                             int32_t components, unsigned char *buffer)
{
    source->type = (cc_pixel_type)random_below(state, 13);
    source->component_stride = bytes_of(source->type);
    const int64_t bytes = random_strides(state, size, components * source->component_stride,
                                         (1 + 3 * random_below(state, 2)) * source->component_stride, source->stride);
    const int64_t skip = random_below(state, 5);
    if (bytes + 80 > BUFFER_BYTES)
        return -1;
    if (random_below(state, 2) == 0)
        write_plain(source->type, bytes / source->component_stride + 5, buffer);
    else
        write_cases(source->type, skip, bytes / source->component_stride + 5, buffer);
    source->data = buffer + skip * source->component_stride;
    return bytes;
}

START_TEST(reductions_agree_with_the_host)
{
    unsigned char *buffers[2] = {malloc(BUFFER_BYTES), malloc(BUFFER_BYTES)};
    uint32_t state = 5 + (uint32_t)_i;
    int32_t done = 0;
    for (int32_t round = 0; round < SHARE_OF(25); round++) {
        cc__reduce work = {.components = (int32_t)(1 + random_below(&state, 4)), .result_count = 1};
        const int64_t count = random_size(&state, work.size) * work.components;
        work.kind = (cc__reduce_kind)random_below(&state, 6);
        work.end = work.kind == CC__REDUCE_MOMENTS ? CC__REDUCE_VARIANCE : (cc__reduce_end)random_below(&state, 3);
        work.source_count = work.kind == CC__REDUCE_DOT ? 2 : 1;
        bool fits = true;
        for (int32_t n = 0; n < work.source_count; n++)
            fits = fits && random_source(&state, &work.sources[n], work.size, work.components, buffers[n]) > 0;
        if (!fits)
            continue;
        double expected = 1, found = 2;
        work.scratch = malloc((size_t)cc__reduce_scratch(count) * sizeof *work.scratch);
        work.results = &expected;
        cc__reduce_on_host(&work);
        work.results = &found;
        ck_assert_int_eq(cc__launch_reduce(&work, &launcher), CC_OK);
        ck_assert_msg(memcmp(&expected, &found, sizeof found) == 0, "round %d, kind %d: %.17g, expected %.17g", round,
                      (int)work.kind, found, expected);
        free(work.scratch);
        done++;
    }
    ck_assert_int_ge(done, (SHARE_OF(25) + 1) / 2);
    free(buffers[0]);
    free(buffers[1]);
}
END_TEST

/* Whole pieces in packs, a piece that is cut short, and results of more pieces than one block joins. */
START_TEST(dense_rows_in_packs)
{
    static const cc_pixel_type types[] = {CC_PIXEL_FLOAT32, CC_PIXEL_BOOL,    CC_PIXEL_INT8,
                                          CC_PIXEL_UINT16,  CC_PIXEL_FLOAT64, CC_PIXEL_INT64};
    const int64_t count = 3 * CC__REDUCE_PIECE + 777;
    unsigned char *source = aligned_alloc(64, (size_t)count / 8 * 8 * 8 + 64);
    unsigned char *second = aligned_alloc(64, (size_t)count / 8 * 8 * 8 + 64);
    packed_count = 0;
    for (int32_t type = 0; type < 6; type++) {
        /* The last is a product of two types. */
        for (int32_t n = 0; n < 7; n++) {
            const int32_t kind = n < 6 ? n : CC__REDUCE_DOT;
            cc__reduce work = {.components = 1,
                               .result_count = 1,
                               .size = {count, 1, 1, 1},
                               .kind = (cc__reduce_kind)kind,
                               .source_count = kind == CC__REDUCE_DOT ? 2 : 1};
            work.end = kind == CC__REDUCE_MOMENTS ? CC__REDUCE_VARIANCE : CC__REDUCE_AS_IT_IS;
            work.sources[0].type = types[type];
            work.sources[0].data = source;
            work.sources[0].component_stride = bytes_of(types[type]);
            work.sources[0].stride[0] = bytes_of(types[type]);
            work.sources[1] = work.sources[0];
            if (n == 6) {
                work.sources[1].type = types[(type + 1) % 6];
                work.sources[1].data = second;
                work.sources[1].component_stride = work.sources[1].stride[0] = bytes_of(work.sources[1].type);
                write_plain(work.sources[1].type, count, second);
            }
            write_plain(types[type], count, source);
            double expected = 1, found = 2;
            work.scratch = malloc((size_t)cc__reduce_scratch(count) * sizeof *work.scratch);
            work.results = &expected;
            cc__reduce_on_host(&work);
            work.results = &found;
            ck_assert_int_eq(cc__launch_reduce(&work, &launcher), CC_OK);
            ck_assert_msg(memcmp(&expected, &found, sizeof found) == 0, "type %d, kind %d: %.17g, expected %.17g", type,
                          kind, found, expected);
            free(work.scratch);
        }
    }
    /* Squares of small integers have the kernel of their sums. */
    ck_assert_int_eq(packed_count, 12);
    free(second);
    free(source);
}
END_TEST

/* By one block, by those of one piece and of two; the last piece was cut short. */
START_TEST(many_partial_results)
{
    static const cc__reduce_kind kinds[] = {CC__REDUCE_SUM,     CC__REDUCE_MOMENTS, CC__REDUCE_MINIMUM,
                                            CC__REDUCE_MOMENTS, CC__REDUCE_MAXIMUM, CC__REDUCE_MOMENTS};
    static const int64_t counts[] = {CC__REDUCE_PIECE + 300, 2500, 200};
    cc__partial *scratch = malloc((size_t)cc__reduce_scratch(counts[0] * CC__REDUCE_PIECE) * sizeof *scratch);
    for (int32_t n = 0; n < 6; n++) {
        const int64_t count = counts[n / 2], components = (count - 1) * CC__REDUCE_PIECE + 77;
        double expected = 1, found = 2;
        cc__reduce work = {.kind = kinds[n], .results = &expected, .result_count = 1, .scratch = scratch};
        work.end = work.kind == CC__REDUCE_MOMENTS ? CC__REDUCE_VARIANCE : CC__REDUCE_AS_IT_IS;
        for (int64_t i = 0; i < count; i++) {
            scratch[i] = (cc__partial){(double)(i * 37 % 1009) / 7, 0, 0};
            if (work.kind == CC__REDUCE_MOMENTS) {
                scratch[i].squares = (double)(i * 41 % 997) / 3;
                scratch[i].count = i < count - 1 ? (double)CC__REDUCE_PIECE : 77;
            }
        }
        const cc__sequence sequence = {.count = components};
        cc__reduce_finish(&work, &sequence);
        work.results = &found;
        cc__join_plan plan = cc__join_plan_of(&work, components);
        void *arguments[] = {&plan};
        *cc__join_arrived(scratch, count) = 0;
        ck_assert_int_eq(plan.blocks, n < 2 ? 8 : n < 4 ? 4 : 1);
        launch(&launcher, cc__join_kernel(work.kind), n % 2 == 0 ? (uint32_t)plan.blocks : 1, CC__BLOCK_THREADS,
               arguments);
        ck_assert_msg(memcmp(&expected, &found, sizeof found) == 0, "kind %d, %lld: %.17g, expected %.17g",
                      (int)work.kind, (long long)count, found, expected);
    }
    free(scratch);
}
END_TEST

/* Only the last launch writes the results, all of them. */
START_TEST(failed_launches_leave_results_as_they_were)
{
    static int16_t source[1500];
    static unsigned char before[3 * 8];
    double expected[3], found[3];
    for (int32_t i = 0; i < 1500; i++)
        source[i] = (int16_t)(i * 37 % 1009 - 300 * (i % 3));
    memset(before, 0x5a, sizeof before);
    for (int32_t kind = 0; kind < 6; kind += CC__REDUCE_DOT) {
        cc__reduce work = {.components = 1,
                           .size = {250, 2, 1, 1},
                           .kind = (cc__reduce_kind)kind,
                           .source_count = kind == CC__REDUCE_DOT ? 2 : 1,
                           .result_count = 3,
                           .between_bytes = {2, 2}};
        work.sources[0] = (cc__reduced){(const unsigned char *)source, {6, 1500, 0, 0}, 2, CC_PIXEL_INT16, 0};
        work.sources[1] = work.sources[0];
        work.scratch = malloc(3 * (size_t)cc__reduce_scratch(500) * sizeof *work.scratch);
        work.results = expected;
        cc__reduce_on_host(&work);
        work.results = found;
        const failures seen =
            fail_each_launch(cc__launch_reduce, &work, launch, (unsigned char *)found, sizeof found, before);
        ck_assert_int_eq(seen.launches, 4);
        ck_assert_int_eq(seen.torn, 0);
        ck_assert_mem_eq(found, expected, sizeof found);
        ck_assert(found[0] != found[1] && found[1] != found[2]);
        free(work.scratch);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base_reduce_kernel");
    TCase *tcase = tcase_create("base_reduce_kernel");
    tcase_add_loop_test(tcase, reductions_agree_with_the_host, 0, 2);
    tcase_add_test(tcase, dense_rows_in_packs);
    tcase_add_test(tcase, many_partial_results);
    tcase_add_test(tcase, failed_launches_leave_results_as_they_were);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
