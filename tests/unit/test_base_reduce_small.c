/*
 * Reductions of integers of up to 16 bits: what each thread of the kernels takes, one after the other, and what the
 * host makes of the same piece, against sums in 64 bits.
 */
#include "support/cuda_on_host.h"

/* Nothing waits: the threads are run without their blocks. */
#define __syncthreads() (void)0

#include "kernels/reduce.cu"
#include "support/plain_work.h"
#include "support/share.h"

#include <check.h>
#include <stdlib.h>

#define PIECE ((int64_t)CC__REDUCE_PIECE)
#define SHARE_OF(rounds) (1 + ((rounds)-1) / share_one_in())
#define MOST_COMPONENTS (3 * PIECE)
#define BUFFER_BYTES ((int64_t)1 << 19)

static const cc_pixel_type types[] = {CC_PIXEL_BOOL, CC_PIXEL_UINT8, CC_PIXEL_INT8, CC_PIXEL_UINT16, CC_PIXEL_INT16};

static int32_t bytes_of(cc_pixel_type type)
{
    return (int32_t)cc_pixel_type_size_bytes(type);
}

static int64_t number_at(cc_pixel_type type, const unsigned char *at)
{
    switch ((int32_t)type) {
    case CC_PIXEL_BOOL:
        return *at != 0;
    case CC_PIXEL_UINT8:
        return *at;
    case CC_PIXEL_INT8:
        return *(const int8_t *)at;
    case CC_PIXEL_UINT16:
        return *(const uint16_t *)at;
    }
    return *(const int16_t *)at;
}

/* All components in their order, pixel by pixel. */
static int64_t list_components(const cc__reduce *work, int32_t n, int64_t *out)
{
    const cc__reduced *source = &work->sources[n];
    int64_t count = 0;
    for (int64_t l = 0; l < work->size[3]; l++)
        for (int64_t k = 0; k < work->size[2]; k++)
            for (int64_t j = 0; j < work->size[1]; j++)
                for (int64_t i = 0; i < work->size[0]; i++)
                    for (int32_t c = 0; c < work->components; c++)
                        out[count++] =
                            number_at(source->type, source->data + i * source->stride[0] + j * source->stride[1] +
                                                        k * source->stride[2] + l * source->stride[3] +
                                                        c * source->component_stride);
    return count;
}

static cc__partial expected_piece(cc__reduce_kind kind, const int64_t *x, const int64_t *y, int64_t count)
{
    int64_t sum = 0, products = 0, least = x[0], greatest = x[0];
    for (int64_t n = 0; n < count; n++) {
        sum += x[n];
        products += x[n] * (kind == CC__REDUCE_DOT ? y[n] : x[n]);
        least = x[n] < least ? x[n] : least;
        greatest = x[n] > greatest ? x[n] : greatest;
    }
    switch (kind) {
    case CC__REDUCE_SUM:
        return (cc__partial){(double)sum, 0, 0};
    case CC__REDUCE_MINIMUM:
        return (cc__partial){(double)least, 0, 0};
    case CC__REDUCE_MAXIMUM:
        return (cc__partial){(double)greatest, 0, 0};
    case CC__REDUCE_SQUARES:
    case CC__REDUCE_DOT:
        return (cc__partial){(double)products, 0, 0};
    case CC__REDUCE_MOMENTS:
        break;
    }
    return (cc__partial){(double)sum / (double)count, (double)(count * products - sum * sum) / (double)count,
                         (double)count};
}

/* As a block does it, without its barriers. */
static cc__partial piece_of_threads(const cc__reduce *work, int64_t piece, cc__small_plan *out_plan)
{
    cc__packed_sequence from;
    cc__packed_sequence_plan(&from, work->sources, work->source_count, work->components, work->size);
    const cc__small_plan plan = cc__small_plan_of(work, &from);
    const int64_t first = piece * PIECE, left = from.sequence.count - first;
    const int32_t length = (int32_t)(left < PIECE ? left : PIECE), bits = 8 * bytes_of(work->sources[0].type);
    const bool is_extreme = work->kind == CC__REDUCE_MINIMUM || work->kind == CC__REDUCE_MAXIMUM;
    const cc__small_group group = is_extreme                     ? CC__SMALL_EXTREMES
                                  : work->kind == CC__REDUCE_DOT ? CC__SMALL_PRODUCTS
                                                                 : CC__SMALL_SUMS;
    cc__small all = {{0, 0}, 0};
    for (threadIdx.x = 0; threadIdx.x < CC__BLOCK_THREADS; threadIdx.x++)
        all = cc__join_small(group, all, cc__take_small(&from, &plan, group, bits, plan.is_row != 0, first, length));
    *out_plan = plan;
    return cc__end_small(&plan, bits, length, all);
}

static const void *first_kernel;

static cc_status launch(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks, uint32_t block_threads,
                        void **arguments)
{
    (void)launcher, (void)grid_blocks, (void)block_threads, (void)arguments;
    first_kernel = first_kernel == NULL ? kernel : first_kernel;
    return CC_OK;
}

static void expect_pieces(cc__reduce *work, cc__small_plan *out_plan)
{
    static int64_t x[MOST_COMPONENTS], y[MOST_COMPONENTS];
    static const cc__launcher launcher = LAUNCHER(launch, 1);
    cc__sequence sequence;
    cc__sequence_plan(work->sources, work->source_count, work->components, work->size, &sequence);
    const int64_t count = list_components(work, 0, x);
    if (work->kind == CC__REDUCE_DOT)
        list_components(work, 1, y);
    for (int64_t piece = 0; piece < cc__reduce_pieces(count); piece++) {
        const int64_t first = piece * PIECE, left = count - first;
        const cc__partial expected = expected_piece(work->kind, x + first, y + first, left < PIECE ? left : PIECE);
        const cc__partial found = piece_of_threads(work, piece, out_plan);
        const cc__partial on_host = cc__reduce_piece(work, &sequence, piece);
        ck_assert_msg(memcmp(&found, &expected, sizeof found) == 0,
                      "kind %d, type %d, %lld components, head %d: %.17g, %.17g, expected %.17g, %.17g",
                      (int)work->kind, (int)work->sources[0].type, (long long)count, (int)out_plan->head, found.value,
                      found.squares, expected.value, expected.squares);
        ck_assert_mem_eq(&on_host, &expected, sizeof expected);
    }
    first_kernel = NULL;
    ck_assert_int_eq(cc__launch_reduce(work, &launcher), CC_OK);
    ck_assert_ptr_eq(first_kernel,
                     small_kernel(work->kind, bytes_of(work->sources[0].type) == 1, out_plan->is_row != 0));
}

static cc__reduce row_of(cc_pixel_type type, const unsigned char *data, int64_t count, cc__reduce_kind kind)
{
    cc__reduce work = {.components = 1, .size = {count, 1, 1, 1}, .kind = kind, .result_count = 1};
    work.source_count = kind == CC__REDUCE_DOT ? 2 : 1;
    work.sources[0] =
        (cc__reduced){.data = data, .stride = {bytes_of(type)}, .component_stride = bytes_of(type), .type = type};
    work.sources[1] = work.sources[0];
    return work;
}

/* Every bit pattern that a sum could overflow with, in all components and in every other one. */
START_TEST(extremes)
{
    static const uint16_t patterns[] = {0, 0xffff, 0x8080, 0x8000, 0x7f7f, 0x7fff, 0x0101};
    unsigned char *buffer = aligned_alloc(64, 2 * (size_t)PIECE);
    cc__small_plan plan;
    for (int32_t n = 0; n < 7; n++) {
        for (int32_t other = 0; other < 7; other += 1 + n % 3) {
            for (int64_t i = 0; i < PIECE; i++)
                memcpy(buffer + 2 * i, &patterns[i % 2 == 0 ? n : other], 2);
            for (int32_t type = 0; type < 5; type++) {
                cc__reduce work = row_of(types[type], buffer, PIECE, (cc__reduce_kind)((n + other + type + _i) % 6));
                expect_pieces(&work, &plan);
                ck_assert_int_eq(plan.is_row, 1);
            }
        }
    }
    free(buffer);
}
END_TEST

/* The variance of what is the same everywhere is 0, and that of two values the square of half their distance. */
START_TEST(squares_of_distances)
{
    static uint16_t values[PIECE];
    for (int32_t distance = 0; distance < 4; distance++) {
        for (int64_t i = 0; i < PIECE; i++)
            values[i] = (uint16_t)(65535 - (i % 2 == 0 ? 0 : 2 * distance));
        const cc__reduce work = row_of(CC_PIXEL_UINT16, (const unsigned char *)values, PIECE, CC__REDUCE_MOMENTS);
        cc__small_plan plan;
        const cc__partial found = piece_of_threads(&work, 0, &plan);
        ck_assert(found.value == 65535 - distance);
        ck_assert(found.squares == (double)(distance * distance * PIECE));
        ck_assert(found.count == (double)PIECE);
    }
}
END_TEST

/* Rows that begin anywhere, of so many components that packs, a head and what is left over of them meet. */
START_TEST(rows_anywhere)
{
    static const int64_t counts[] = {1, 3, 15, 16, 17, 255, 4095, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 37};
    unsigned char *buffers[2];
    uint32_t state = 3;
    for (int32_t n = 0; n < 2; n++) {
        buffers[n] = aligned_alloc(64, (size_t)BUFFER_BYTES);
        random_bytes(&state, buffers[n], BUFFER_BYTES);
    }
    for (int32_t round = 0; round < SHARE_OF(110); round++) {
        const cc_pixel_type type = types[random_below(&state, 5)];
        const int64_t skip = random_below(&state, 17), second = random_below(&state, 2) == 0 ? skip + 16 : 5;
        cc__reduce work = row_of(type, buffers[0] + skip * bytes_of(type), counts[round % 11],
                                 (cc__reduce_kind)random_below(&state, 6));
        cc__small_plan plan;
        if (bytes_of(type) == 1)
            work.sources[1].type = types[random_below(&state, 3)];
        work.sources[1].data = buffers[1] + second * bytes_of(type);
        expect_pieces(&work, &plan);
        if (work.kind != CC__REDUCE_DOT || second == skip + 16)
            ck_assert_int_eq(plan.head, -skip & (16 / bytes_of(type) - 1));
    }
    free(buffers[0]);
    free(buffers[1]);
}
END_TEST

/* Rows with gaps: by warps, in packs of 16 bytes, of four components, and in none; axes in any order. */
START_TEST(rows_with_gaps)
{
    static const int64_t lengths[] = {64, 48, 12, 100, 7, 33, 300, 1200};
    unsigned char *buffers[2];
    uint32_t state = 8;
    int32_t packs[3] = {0, 0, 0}, rows[2] = {0, 0};
    for (int32_t n = 0; n < 2; n++) {
        buffers[n] = aligned_alloc(64, (size_t)BUFFER_BYTES);
        random_bytes(&state, buffers[n], BUFFER_BYTES);
    }
    for (int32_t round = 0; round < SHARE_OF(200); round++) {
        const cc_pixel_type type = types[round % 5];
        cc__reduce work = {.components = (int32_t)(1 + random_below(&state, 3)), .result_count = 1};
        cc__small_plan plan;
        int64_t count = work.components;
        work.kind = (cc__reduce_kind)random_below(&state, 6);
        work.source_count = work.kind == CC__REDUCE_DOT ? 2 : 1;
        work.size[0] = lengths[random_below(&state, 8)];
        for (int32_t axis = 1; axis < CC_MAX_DIMENSION; axis++)
            work.size[axis] = 1 + random_below(&state, work.size[0] > 200 ? 4 : axis == 1 ? 60 : 4);
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
            count *= work.size[axis];
        bool fits = count <= MOST_COMPONENTS;
        for (int32_t n = 0; n < work.source_count && fits; n++) {
            const int64_t row_bytes = work.size[0] * work.components * bytes_of(type);
            const int64_t pitch = row_bytes + (random_below(&state, 2) == 0 ? 16 - row_bytes % 16 : 4);
            cc__reduced *source = &work.sources[n];
            source->type = type;
            source->component_stride = bytes_of(type);
            source->data = buffers[n];
            source->stride[0] = work.components * source->component_stride;
            source->stride[1] = pitch;
            source->stride[2] = pitch * work.size[1];
            source->stride[3] = source->stride[2] * work.size[2];
            int64_t bytes = source->stride[3] * work.size[3];
            if (random_below(&state, 4) == 0) {
                bytes = random_strides(&state, work.size, source->stride[0], bytes_of(type), source->stride);
                source->data += random_below(&state, 5) * bytes_of(type);
            }
            fits = bytes + 64 <= BUFFER_BYTES;
        }
        if (!fits)
            continue;
        expect_pieces(&work, &plan);
        if (plan.has_rows != 0)
            rows[work.size[0] > 1000]++;
        else
            packs[plan.pack > 16 ? 0 : plan.pack == CC__PACK ? 1 : 2]++;
    }
    ck_assert(share_one_in() > 1 || (packs[0] > 5 && packs[1] > 5 && packs[2] > 5 && rows[0] > 5 && rows[1] > 5));
    free(buffers[0]);
    free(buffers[1]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base_reduce_small");
    TCase *tcase = tcase_create("base_reduce_small");
    tcase_add_loop_test(tcase, extremes, 0, 2);
    tcase_add_test(tcase, squares_of_distances);
    tcase_add_test(tcase, rows_anywhere);
    tcase_add_test(tcase, rows_with_gaps);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
