/* The kernels that copy many boxes, run on the CPU, against plain copies. */
#include "support/cuda_on_host.h"

#include "kernels/copy_boxes.cu"
#include "support/plain_work.h"

#include <check.h>
#include <stdlib.h>
#include <sys/mman.h>

#define BUFFER_BYTES ((int64_t)1 << 20)
#define MOST_BLOCKS 3
#define MOST_BOXES 600

static int32_t launches;
static int32_t units_seen; /* all that were used, as bits */
static int64_t boxes_seen; /* of all launches */
static bool heads_seen;    /* in units wider than a grain */
static cc__copy works[MOST_BOXES];

static void set_up(void)
{
    launches = 0;
    units_seen = 0;
    boxes_seen = 0;
    heads_seen = false;
}

static void note_plan(const cc__boxes_plan *plan)
{
    units_seen |= plan->unit_bytes;
    boxes_seen += plan->boxes;
    heads_seen = heads_seen || plan->has_ends;
}

static cc_status launch(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks, uint32_t block_threads,
                        void **arguments)
{
    (void)launcher;
    void (*run)(const cc__boxes_plan) = (void (*)(const cc__boxes_plan))kernel;
    const cc__boxes_plan *plan = arguments[0];
    ck_assert_uint_eq(block_threads, CC__BLOCK_THREADS);
    ck_assert_uint_gt(grid_blocks, 0);
    ck_assert_uint_le(grid_blocks, MOST_BLOCKS);
    launches++;
    note_plan(plan);
    cuda_on_host_run(0, grid_blocks, grid_blocks, block_threads, run(*plan));
    return CC_OK;
}

static const cc__launcher launcher = LAUNCHER(launch, 132);

static unsigned char *found;
static unsigned char *expected;
static unsigned char *source;

static void set_up_memory(void)
{
    uint32_t state = 7;
    set_up();
    ck_assert_int_eq(posix_memalign((void **)&found, 256, BUFFER_BYTES), 0);
    ck_assert_int_eq(posix_memalign((void **)&expected, 256, BUFFER_BYTES), 0);
    ck_assert_int_eq(posix_memalign((void **)&source, 256, BUFFER_BYTES), 0);
    random_bytes(&state, source, BUFFER_BYTES);
    random_bytes(&state, found, BUFFER_BYTES);
    memcpy(expected, found, BUFFER_BYTES);
}

static void tear_down_memory(void)
{
    free(found);
    free(expected);
    free(source);
}

/* Copies by the kernels and plainly, and compares everything. The works' destinations are in `found`. */
static void copy_and_compare(int32_t count)
{
    ck_assert_int_eq(cc__launch_copy_boxes(works, count, MOST_BLOCKS, &launcher), CC_OK);
    for (int32_t i = 0; i < count; i++) {
        cc__copy work = works[i];
        work.destination.data = expected + (works[i].destination.data - found);
        plain_copy(&work);
    }
    ck_assert_mem_eq(found, expected, BUFFER_BYTES);
}

/* A box of a volume of `stride` at `start`. */
static cc__span span_at(unsigned char *pixels, const int64_t stride[CC_MAX_DIMENSION],
                        const int64_t start[CC_MAX_DIMENSION])
{
    cc__span span = {.data = pixels};
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        span.stride[axis] = stride[axis];
        span.data += start[axis] * stride[axis];
    }
    return span;
}

/* What the volumes of a random round are like. */
typedef struct volumes {
    int64_t size[CC_MAX_DIMENSION];
    int64_t pixel_bytes;
    int64_t stride[2][CC_MAX_DIMENSION];
    int64_t offset[2];
} volumes;

static bool draw_volumes(uint32_t *state, int32_t round, volumes *out)
{
    static const int64_t pixels[] = {1, 2, 3, 4, 6, 8, 12, 16, 24};
    volumes drawn = {.pixel_bytes = pixels[random_below(state, 9)]};
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        drawn.size[axis] = 1 + random_below(state, round % 3 == 0 ? 10 : 5);
    if (round % 4 == 1)
        drawn.size[0] = 1 + random_below(state, 700);
    const int64_t alignment = round % 2 == 0 ? drawn.pixel_bytes : 16;
    int64_t bytes[2];
    for (int32_t side = 0; side < 2; side++) {
        bytes[side] = random_strides(state, drawn.size, drawn.pixel_bytes, alignment, drawn.stride[side]);
        drawn.offset[side] = random_below(state, 40);
    }
    if (round % 5 == 0) {
        memcpy(drawn.stride[1], drawn.stride[0], sizeof drawn.stride[0]);
        drawn.offset[1] = drawn.offset[0];
        bytes[1] = bytes[0];
    }
    *out = drawn;
    return bytes[0] + 40 <= BUFFER_BYTES && bytes[1] + 40 <= BUFFER_BYTES;
}

/* Cuts the volume into cells, and takes a box out of some of them: none overlaps another. */
static int32_t draw_boxes(uint32_t *state, int32_t round, const volumes *in)
{
    int32_t count = 0;
    int64_t cell[CC_MAX_DIMENSION];
    int64_t at[CC_MAX_DIMENSION];
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        cell[axis] = 1 + random_below(state, in->size[axis]);
    for (at[3] = 0; at[3] + cell[3] <= in->size[3]; at[3] += cell[3])
        for (at[2] = 0; at[2] + cell[2] <= in->size[2]; at[2] += cell[2])
            for (at[1] = 0; at[1] + cell[1] <= in->size[1]; at[1] += cell[1])
                for (at[0] = 0; at[0] + cell[0] <= in->size[0]; at[0] += cell[0]) {
                    if (count == MOST_BOXES || random_below(state, 5) == 0)
                        continue;
                    cc__copy *work = &works[count++];
                    int64_t start[2][CC_MAX_DIMENSION];
                    work->pixel_bytes = in->pixel_bytes;
                    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
                        work->size[axis] = round % 2 == 0 ? cell[axis] : 1 + random_below(state, cell[axis]);
                        start[0][axis] = at[axis] + cell[axis] - work->size[axis];
                        start[1][axis] = round % 7 == 0 ? random_below(state, in->size[axis] - work->size[axis] + 1)
                                                        : start[0][axis];
                    }
                    work->destination = span_at(found + in->offset[0], in->stride[0], start[0]);
                    work->source = span_at(source + in->offset[1], in->stride[1], start[1]);
                }
    return count;
}

START_TEST(random_boxes_agree_with_plain_copies)
{
    uint32_t state = 2026;
    int64_t drawn = 0;
    for (int32_t round = 0; round < 500; round++) {
        volumes in;
        if (!draw_volumes(&state, round, &in))
            continue;
        int32_t count = draw_boxes(&state, round, &in);
        drawn += count;
        copy_and_compare(count);
    }
    ck_assert_int_eq(units_seen, 31);
    ck_assert(heads_seen);
    ck_assert_int_ge(boxes_seen, drawn);
    ck_assert_int_gt(drawn, 5000);
}
END_TEST

/* Rows of bytes that begin anywhere, alike on both sides: units of 16 in the middle, bytes at the ends. */
START_TEST(long_rows_have_ends)
{
    for (int64_t first = 0; first < 16; first++) {
        for (int64_t length = 126; length < 146; length++) {
            for (int32_t i = 0; i < 3; i++) {
                works[i] = (cc__copy){.destination = {found + first + i * 7001, {1, 400, 2000, 0}},
                                      .source = {source + first + i * 7001 + 1600, {1, 208, 1008, 0}},
                                      .size = {length - i, 3, 2, 1},
                                      .pixel_bytes = 1};
            }
            copy_and_compare(3);
        }
    }
    ck_assert_int_eq(units_seen, 16 | 1);
}
END_TEST

typedef struct unit_case {
    int64_t pixel_bytes, width, to, from, pitch;
    int32_t unit;
} unit_case;

static const unit_case unit_cases[] = {
    {4, 8, 0, 0, 64, 16},     {4, 8, 4, 0, 64, 4},     {4, 8, 16, 48, 64, 16},  {4, 8, 8, 0, 64, 8},
    {4, 8, 0, 0, 40, 8},      {4, 6, 0, 0, 64, 8},     {4, 7, 0, 0, 64, 4},     {2, 8, 0, 0, 64, 16},
    {2, 8, 2, 2, 64, 2},      {1, 64, 3, 3, 128, 1},   {1, 128, 3, 3, 256, 16}, {1, 128, 3, 7, 256, 4},
    {1, 128, 3, 4, 256, 1},   {1, 128, 3, 3, 260, 4},  {2, 128, 2, 2, 512, 16}, {2, 127, 2, 2, 512, 2},
    {4, 128, 4, 4, 1024, 16}, {4, 127, 4, 4, 1024, 4}, {3, 1, 0, 0, 64, 1},     {16, 1, 0, 16, 48, 16},
    {24, 1, 0, 0, 64, 8},
};

START_TEST(units_are_as_wide_as_both_sides_allow)
{
    for (size_t i = 0; i < sizeof unit_cases / sizeof unit_cases[0]; i++) {
        const unit_case *at = &unit_cases[i];
        works[0] = (cc__copy){.destination = {found + at->to, {at->pixel_bytes, at->pitch, 0, 0}},
                              .source = {source + at->from, {at->pixel_bytes, 2 * at->pitch, 0, 0}},
                              .size = {at->width, 3, 1, 1},
                              .pixel_bytes = at->pixel_bytes};
        units_seen = 0;
        copy_and_compare(1);
        ck_assert_msg(units_seen == at->unit, "case %zu: unit %d", i, units_seen);
    }
}
END_TEST

/* What holds for the first box need not hold for another of the call. */
START_TEST(boxes_of_a_call_may_differ)
{
    const cc__copy plain = {.destination = {found, {4, 64, 0, 0}},
                            .source = {source, {4, 64, 0, 0}},
                            .size = {8, 4, 1, 1},
                            .pixel_bytes = 4};
    const cc__copy others[] = {
        /* Bytes, where all addresses are multiples of 4. */
        {.destination = {found + 1024, {1, 32, 0, 0}}, .source = {source + 1024, {1, 32, 0, 0}}, .size = {3, 2, 1, 1}},
        /* As far from its source as the first, but its rows are not; and it is cut along the fourth axis. */
        {.destination = {found + 1024, {8, 100, 1000, 10000}},
         .source = {source + 1024, {12, 80, 500, 3000}},
         .size = {5, 4, 3, 6}},
        /* A row that ends before the first unit of a long one's would begin. */
        {.destination = {found + 1027, {1, 0, 0, 0}}, .source = {source + 1027, {1, 0, 0, 0}}, .size = {2, 1, 1, 1}},
    };
    const cc__copy long_row = {
        .destination = {found + 9000, {1, 0, 0, 0}}, .source = {source + 9000, {1, 0, 0, 0}}, .size = {300, 1, 1, 1}};
    for (int32_t i = 0; i < 3; i++) {
        works[0] = plain;
        works[1] = others[i];
        works[1].pixel_bytes = i == 1 ? 4 : 1;
        works[2] = i == 2 ? long_row : plain;
        works[2].pixel_bytes = i == 2 ? 1 : 4;
        works[2].destination.data += 512 * 1024;
        works[2].source.data += 512 * 1024;
        set_up();
        copy_and_compare(3);
        ck_assert_int_eq(heads_seen, i == 2);
    }
}
END_TEST

/* One shape and one layout, but each at addresses of its own; what the first and the last say need not hold between. */
START_TEST(alike_boxes_may_lie_anywhere)
{
    static const struct {
        int64_t to, from, width; /* bytes that the second box lies further on either side; pixels of a row */
        int32_t unit;
        int64_t launches;
    } cases[] = {{0, 0, 8, 16, 1}, {4, 4, 8, 4, 1}, {8, 8, 8, 8, 1},    {4, 0, 8, 4, 2},   {0, 16, 8, 16, 2},
                 {1, 1, 8, 1, 2},  {2, 3, 8, 1, 2}, {4, 4, 128, 16, 1}, {4, 0, 128, 4, 2}, {16, 0, 128, 16, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (int32_t box = 0; box < 4; box++) {
            const int64_t at = box * INT64_C(8192);
            works[box] = (cc__copy){.destination = {found + at, {4, 640, 0, 0}},
                                    .source = {source + at, {4, 640, 0, 0}},
                                    .size = {cases[i].width, 4, 1, 1},
                                    .pixel_bytes = 4};
        }
        works[1].destination.data += cases[i].to;
        works[1].source.data += cases[i].from;
        set_up();
        copy_and_compare(4);
        ck_assert_msg(launches == cases[i].launches, "case %zu: %d launches", i, launches);
        ck_assert_msg((units_seen & -units_seen) == cases[i].unit, "case %zu: units %d", i, units_seen);
    }
    /* The last lies otherwise too: then every record says where its source is, and units fit all of them. */
    works[1].destination.data -= 12;
    set_up();
    works[3].source.data += 16;
    copy_and_compare(4);
    ck_assert_int_eq(launches, 1);
    ck_assert_int_eq(units_seen, 4);
}
END_TEST

/* A few that differ among many that are alike cost one launch more, wherever they are, and not one at each of them. */
START_TEST(others_among_alike_boxes_go_together)
{
    static const int32_t others[][3] = {{100, 200, 300}, {0, 1, 2}, {0, 200, 399}, {200, 201, 399}, {397, 398, 399}};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        for (int32_t box = 0; box < 400; box++) {
            const int64_t at = box * INT64_C(2048);
            works[box] = (cc__copy){.destination = {found + at, {4, 128, 0, 0}},
                                    .source = {source + at, {4, 128, 0, 0}},
                                    .size = {8, 4, 1, 1},
                                    .pixel_bytes = 4};
        }
        for (int32_t k = 0; k < 3; k++)
            works[others[i][k]].size[1] = 5 + k;
        set_up();
        copy_and_compare(400);
        ck_assert_msg(launches == 2, "case %zu: %d launches", i, launches);
        ck_assert_int_eq(boxes_seen, 400);
    }
}
END_TEST

/* More axes of rows than a launch has strides for. */
START_TEST(fourth_axis_is_cut)
{
    works[0] = (cc__copy){.destination = {found + 4, {8, 100, 1000, 10000}},
                          .source = {source, {12, 80, 500, 3000}},
                          .size = {5, 4, 3, 6},
                          .pixel_bytes = 4};
    works[1] = works[0];
    works[1].destination.data += 40;
    works[1].source.data += 2;
    works[1].size[3] = 1;
    copy_and_compare(2);
    ck_assert_int_eq(boxes_seen, 7);
}
END_TEST

/* Runs the first tile and the last two, and leaves the rest of the memory alone. */
static cc_status launch_ends(const cc__launcher *unused, const void *kernel, uint32_t grid_blocks,
                             uint32_t block_threads, void **arguments)
{
    (void)unused, (void)grid_blocks;
    void (*run)(const cc__boxes_plan) = (void (*)(const cc__boxes_plan))kernel;
    const cc__boxes_plan *plan = arguments[0];
    cuda_on_host_run(0, 1, plan->tiles, block_threads, run(*plan));
    cuda_on_host_run(plan->tiles - 2, 2, plan->tiles, block_threads, run(*plan));
    return CC_OK;
}

START_TEST(rows_reach_past_32_bits)
{
    const int64_t bytes = (INT64_C(1) << 33) + 64;
    const cc__launcher ends = LAUNCHER(launch_ends, 132);
    unsigned char *memory[2];
    for (int32_t side = 0; side < 2; side++) {
        memory[side] =
            mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        ck_assert(memory[side] != MAP_FAILED);
    }
    works[0] = (cc__copy){.destination = {memory[0], {4, 0, 0, 0}},
                          .source = {memory[1] + 32, {4, 0, 0, 0}},
                          .size = {(bytes - 32) / 4, 1, 1, 1},
                          .pixel_bytes = 4};
    memset(memory[1] + 32, 0xAB, 4);
    memset(memory[1] + bytes - 32, 0xCD, 32);
    ck_assert_int_eq(cc__launch_copy_boxes(works, 1, 1, &ends), CC_OK);
    ck_assert_mem_eq(memory[0], "\xAB\xAB\xAB\xAB\0", 5);
    for (int64_t at = bytes - 80; at < bytes; at++)
        ck_assert_int_eq(memory[0][at], at >= bytes - 64 && at < bytes - 32 ? 0xCD : 0);
    for (int32_t side = 0; side < 2; side++)
        munmap(memory[side], (size_t)bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("copy boxes kernel");
    TCase *copies = tcase_create("copies");
    tcase_add_checked_fixture(copies, set_up_memory, tear_down_memory);
    tcase_set_timeout(copies, 100);
    tcase_add_test(copies, random_boxes_agree_with_plain_copies);
    tcase_add_test(copies, long_rows_have_ends);
    tcase_add_test(copies, units_are_as_wide_as_both_sides_allow);
    tcase_add_test(copies, fourth_axis_is_cut);
    tcase_add_test(copies, boxes_of_a_call_may_differ);
    tcase_add_test(copies, alike_boxes_may_lie_anywhere);
    tcase_add_test(copies, others_among_alike_boxes_go_together);
    tcase_add_test(copies, rows_reach_past_32_bits);
    suite_add_tcase(suite, copies);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
