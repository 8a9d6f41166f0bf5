/* How boxes are put into launches: how many they take, and that nothing is lost. Nothing runs. */
#include "support/cuda_on_host.h"

#include "kernels/copy_boxes.cu"

#include <check.h>
#include <stdlib.h>

static int32_t launches;
static int32_t fail_launch; /* the number of the launch that fails; 0: none */
static int32_t units_seen;  /* all that were used, as bits */
static int64_t boxes_seen;  /* of all launches */
static int64_t grains_seen; /* that the boxes of all launches say they have */
static cc__copy works[512];

static void set_up(void)
{
    launches = 0;
    fail_launch = 0;
    units_seen = 0;
    boxes_seen = 0;
    grains_seen = 0;
}

static void note_plan(const cc__boxes_plan *plan)
{
    units_seen |= plan->unit_bytes;
    boxes_seen += plan->boxes;
    for (uint32_t box = 0; box < plan->boxes; box++) {
        cc__box_shape shape = plan->shape;
        if (plan->tiles_of_box == 0)
            memcpy(&shape, &plan->words[(box + 1) * (uint32_t)plan->record_words - CC__BOX_SHAPE_WORDS], sizeof shape);
        grains_seen += (int64_t)shape.length * shape.size[0] * shape.size[1] * shape.size[2];
    }
}

static cc_status launch_nothing(const cc__launcher *unused, const void *kernel, uint32_t grid_blocks,
                                uint32_t block_threads, void **arguments)
{
    (void)unused, (void)kernel, (void)grid_blocks, (void)block_threads;
    if (++launches == fail_launch)
        return CC_ERROR_DEVICE;
    note_plan(arguments[0]);
    return CC_OK;
}

static const cc__launcher nothing = LAUNCHER(launch_nothing, 132);

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

/* 8 x 8 x 8 boxes of 8^3 floats, 64 pixels apart, in a volume of 512^3 that is never touched. */
static void make_grid(unsigned char *to, unsigned char *from, int64_t from_row_pixels)
{
    for (int32_t i = 0; i < 512; i++) {
        const int64_t start[CC_MAX_DIMENSION] = {i % 8 * 64, i / 8 % 8 * 64, i / 64 * 64, 0};
        const int64_t to_stride[CC_MAX_DIMENSION] = {4, 2048, 512 * 2048, 512 * 512 * 2048};
        const int64_t from_stride[CC_MAX_DIMENSION] = {4, 4 * from_row_pixels, 512 * 4 * from_row_pixels, 0};
        works[i] = (cc__copy){.destination = span_at(to, to_stride, start),
                              .source = span_at(from, from_stride, start),
                              .size = {8, 8, 8, 1},
                              .pixel_bytes = 4};
    }
}

START_TEST(alike_boxes_take_one_launch)
{
    unsigned char *to = (unsigned char *)(uintptr_t)0x100000;
    unsigned char *from = (unsigned char *)(uintptr_t)0x7000000000;
    make_grid(to, from, 512);
    ck_assert_int_eq(cc__launch_copy_boxes(works, 512, 128, &nothing), CC_OK);
    ck_assert_int_eq(launches, 1);
    ck_assert_int_eq(boxes_seen, 512);
    ck_assert_int_eq(grains_seen, INT64_C(512) * 8 * 8 * 8);
    ck_assert_int_eq(units_seen, 16);

    /* Where distances differ, a record has two words. */
    set_up();
    make_grid(to, from, 520);
    ck_assert_int_eq(cc__launch_copy_boxes(works, 512, 128, &nothing), CC_OK);
    ck_assert_int_eq(launches, 2);
    ck_assert_int_eq(boxes_seen, 512);

    /* Boxes of other shapes still share launches, also flat ones, whose rows lie along other axes. */
    set_up();
    make_grid(to, from, 512);
    for (int32_t i = 0; i < 512; i++)
        works[i].size[i % 3] = 1 + i % 8;
    ck_assert_int_eq(cc__launch_copy_boxes(works, 512, 128, &nothing), CC_OK);
    ck_assert_int_eq(launches, 512 / (CC__BOX_WORDS / 6) + 1);
    ck_assert_int_eq(boxes_seen, 512);
}
END_TEST

START_TEST(nothing_takes_no_launch)
{
    ck_assert_int_eq(cc__launch_copy_boxes(NULL, 0, 128, &nothing), CC_OK);
    ck_assert_int_eq(launches, 0);
}
END_TEST

START_TEST(first_failure_is_the_last_launch)
{
    unsigned char *to = (unsigned char *)(uintptr_t)0x100000;
    make_grid(to, to + ((int64_t)1 << 40), 520);
    for (int32_t alike = 0; alike < 2; alike++) {
        for (int32_t nth = 1; nth <= 2; nth++) {
            set_up();
            fail_launch = nth;
            ck_assert_int_eq(cc__launch_copy_boxes(works, 512, 128, &nothing), CC_ERROR_DEVICE);
            ck_assert_int_eq(launches, nth);
        }
        works[511].size[0] = 7;
    }
}
END_TEST

/* Boxes as far apart as a record can say share a launch; one grain more, and they do not. */
START_TEST(boxes_far_apart_take_launches_of_their_own)
{
    unsigned char *to = (unsigned char *)(uintptr_t)0x100000000000;
    unsigned char *from = (unsigned char *)(uintptr_t)0x200000000000;
    const int64_t farthest = INT64_C(4) * INT32_MAX;
    for (int32_t is_source = 0; is_source < 2; is_source++) {
        for (int64_t beyond = 0; beyond < 2; beyond++) {
            for (int32_t is_before = 0; is_before < 2; is_before++) {
                const int64_t distance_bytes = is_before ? -farthest - 4 - 4 * beyond : farthest + 4 * beyond;
                works[0] = (cc__copy){.destination = {to, {4, 64, 0, 0}},
                                      .source = {from, {4, 32, 0, 0}},
                                      .size = {5, 3, 1, 1},
                                      .pixel_bytes = 4};
                works[1] = works[0];
                works[1].destination.data += is_source ? 1024 : distance_bytes;
                works[1].source.data += is_source ? distance_bytes : 1024;
                set_up();
                ck_assert_int_eq(cc__launch_copy_boxes(works, 2, 128, &nothing), CC_OK);
                ck_assert_int_eq(launches, 1 + beyond);
                ck_assert_int_eq(boxes_seen, 2);
                ck_assert_int_eq(grains_seen, 30);
            }
        }
    }
}
END_TEST

/* More of anything than a launch has numbers for is cut, and nothing is lost. */
START_TEST(huge_boxes_are_cut)
{
    unsigned char *to = (unsigned char *)(uintptr_t)0x100000000000;
    unsigned char *from = (unsigned char *)(uintptr_t)0x200000000000;
    static const int64_t sizes[][CC_MAX_DIMENSION] = {{(INT64_C(1) << 35) + 3, 1, 1, 1},
                                                      {3, INT64_C(1) << 32, 1, 1},
                                                      {1, (INT64_C(1) << 16) + 1, (INT64_C(1) << 16) - 1, 3},
                                                      {1 << 20, 1 << 20, 1, 1}};
    for (size_t i = 0; i < 4; i++) {
        cc__copy *work = &works[0];
        *work = (cc__copy){.destination = {to, {1, 0, 0, 0}}, .source = {from, {1, 0, 0, 0}}, .pixel_bytes = 1};
        memcpy(work->size, sizes[i], sizeof work->size);
        int64_t pixels = work->size[0];
        for (int32_t axis = 1; axis < CC_MAX_DIMENSION; axis++) {
            work->destination.stride[axis] = work->destination.stride[axis - 1] * (work->size[axis - 1] + 1);
            work->source.stride[axis] = work->source.stride[axis - 1] * (work->size[axis - 1] + 2);
            pixels *= work->size[axis];
        }
        set_up();
        ck_assert_int_eq(cc__launch_copy_boxes(works, 1, 128, &nothing), CC_OK);
        ck_assert_int_eq(grains_seen, pixels);
        ck_assert_int_gt(launches, 1);
    }
}
END_TEST

/* Each fits a launch, but not with another. */
START_TEST(tiles_of_a_launch_are_counted)
{
    unsigned char *to = (unsigned char *)(uintptr_t)0x100000000000;
    for (int32_t i = 0; i < 8; i++)
        works[i] = (cc__copy){.destination = {to + 2 * i, {1, 64, 64 << 20, 0}},
                              .source = {to + ((int64_t)1 << 44), {1, 64, 64 << 20, 0}},
                              .size = {1, 1 << 20, 1 << 9, 1},
                              .pixel_bytes = 1};
    for (int32_t differ = 0; differ < 2; differ++) {
        set_up();
        ck_assert_int_eq(cc__launch_copy_boxes(works, 8, 128, &nothing), CC_OK);
        ck_assert_int_eq(boxes_seen, 8);
        /* With rows less, one fits in with the one before. */
        ck_assert_int_eq(launches, differ ? 4 : 8);
        ck_assert_int_eq(grains_seen, (INT64_C(1) << 32) - differ * (INT64_C(28) << 9));
        for (int32_t i = 0; i < 8; i++)
            works[i].size[1] -= i;
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("box batch");
    TCase *cases = tcase_create("box batch");
    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_add_test(cases, nothing_takes_no_launch);
    tcase_add_test(cases, alike_boxes_take_one_launch);
    tcase_add_test(cases, first_failure_is_the_last_launch);
    tcase_add_test(cases, boxes_far_apart_take_launches_of_their_own);
    tcase_add_test(cases, huge_boxes_are_cut);
    tcase_add_test(cases, tiles_of_a_launch_are_counted);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
