/* Copies in pieces: every byte once, and no piece across a border or larger than it may be. */
#include "memory/pieces.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PIECES 4096

typedef struct collected {
    cc__copy pieces[MOST_PIECES];
    bool in_range[MOST_PIECES];
    int32_t count;
    int32_t stop_after; /* 0: never */
} collected;

static collected found;

/* What copies are between. Only its addresses matter. */
static unsigned char there[1 << 16];
static unsigned char here[1 << 16];

static cc_status collect(void *context, const cc__copy *piece, bool is_in_range)
{
    collected *into = context;
    ck_assert_int_lt(into->count, MOST_PIECES);
    into->pieces[into->count] = *piece;
    into->in_range[into->count] = is_in_range;
    ++into->count;
    return into->stop_after > 0 && into->count == into->stop_after ? CC_ERROR_DEVICE : CC_OK;
}

static cc_status cut(const cc__copy *work, cc__side side, unsigned char *base, const cc__range *ranges, int32_t count)
{
    found.count = 0;
    found.stop_after = 0;
    return cc__pieces_at_borders(work, side, base, ranges, count, collect, &found);
}

static void set_dense(int64_t stride[CC_MAX_DIMENSION], const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes)
{
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        stride[axis] = pixel_bytes;
        pixel_bytes *= size[axis];
    }
}

/* Marks each byte of both sides that the copy moves; the n-th byte of one side must be the n-th of the other. */
static void mark(const cc__copy *piece, const cc__copy *whole, unsigned char *seen_there, unsigned char *seen_here)
{
    int64_t at[CC_MAX_DIMENSION];
    for (at[3] = 0; at[3] < piece->size[3]; ++at[3])
        for (at[2] = 0; at[2] < piece->size[2]; ++at[2])
            for (at[1] = 0; at[1] < piece->size[1]; ++at[1])
                for (at[0] = 0; at[0] < piece->size[0]; ++at[0]) {
                    int64_t to = piece->destination.data - whole->destination.data;
                    int64_t from = piece->source.data - whole->source.data;
                    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
                        to += at[axis] * piece->destination.stride[axis];
                        from += at[axis] * piece->source.stride[axis];
                    }
                    for (int64_t byte = 0; byte < piece->pixel_bytes; ++byte) {
                        ++seen_there[to + byte];
                        ++seen_here[from + byte];
                    }
                }
}

static void expect_same_bytes(const cc__copy *whole, const cc__copy *pieces, int32_t count)
{
    const size_t extent[2] = {(size_t)cc__copy_extent(whole, CC__SIDE_DESTINATION),
                              (size_t)cc__copy_extent(whole, CC__SIDE_SOURCE)};
    unsigned char *seen[4];
    for (int32_t i = 0; i < 4; ++i)
        seen[i] = calloc(1, extent[i % 2]);
    mark(whole, whole, seen[0], seen[1]);
    for (int32_t i = 0; i < count; ++i)
        mark(&pieces[i], whole, seen[2], seen[3]);
    ck_assert_mem_eq(seen[0], seen[2], extent[0]);
    ck_assert_mem_eq(seen[1], seen[3], extent[1]);
    for (int32_t i = 0; i < 4; ++i)
        free(seen[i]);
}

/* The pieces are all of the work, and each is where it says, and nowhere else. */
static void expect_cut(const cc__copy *work, cc__side side, const unsigned char *base, const cc__range *ranges,
                       int32_t count)
{
    expect_same_bytes(work, found.pieces, found.count);
    for (int32_t i = 0; i < found.count; ++i) {
        const size_t first = (size_t)(cc__copy_side_of(&found.pieces[i], side)->data - base);
        const size_t end = first + (size_t)cc__copy_extent(&found.pieces[i], side);
        bool is_inside = false;
        for (int32_t range = 0; range < count; ++range) {
            const bool holds = ranges[range].first <= first && end <= ranges[range].end;
            is_inside = is_inside || holds;
            ck_assert(holds || end <= ranges[range].first || ranges[range].end <= first);
        }
        ck_assert_int_eq(is_inside, found.in_range[i]);
    }
}

/* 3 floats a pixel, a 5 x 4 x 3 box in a 10 x 6 x 4 image, at pixel (2, 1, 1). */
static cc__copy usual(void)
{
    cc__copy work = {.size = {5, 4, 3, 1}, .pixel_bytes = 12};
    const int64_t image[CC_MAX_DIMENSION] = {10, 6, 4, 1};
    set_dense(work.destination.stride, work.size, 12);
    set_dense(work.source.stride, image, 12);
    work.destination.data = there;
    work.source.data = here + 2 * 12 + 1 * 120 + 1 * 720;
    return work;
}

START_TEST(sums_of_a_copy)
{
    const cc__copy work = usual();
    ck_assert_int_eq(cc__copy_bytes(&work), 720);
    ck_assert_int_eq(cc__copy_extent(&work, CC__SIDE_DESTINATION), 720);
    ck_assert_int_eq(cc__copy_extent(&work, CC__SIDE_SOURCE), 2 * 720 + 3 * 120 + 5 * 12);
    ck_assert_ptr_eq(cc__copy_side_of(&work, CC__SIDE_SOURCE), &work.source);
    ck_assert_ptr_eq(cc__copy_side_of(&work, CC__SIDE_DESTINATION), &work.destination);
}
END_TEST

START_TEST(without_borders_it_stays_whole)
{
    const cc__copy work = usual();
    ck_assert_int_eq(cut(&work, CC__SIDE_SOURCE, here, NULL, 0), CC_OK);
    ck_assert_int_eq(found.count, 1);
    ck_assert(!found.in_range[0]);
    ck_assert_mem_eq(&found.pieces[0], &work, sizeof work);
    const cc__range all = {0, 2880};
    ck_assert_int_eq(cut(&work, CC__SIDE_SOURCE, here, &all, 1), CC_OK);
    ck_assert_int_eq(found.count, 1);
    ck_assert(found.in_range[0]);
    /* It ends where the range ends, and the range begins where it does. */
    const cc__range exact = {864, 864 + 1860};
    ck_assert_int_eq(cut(&work, CC__SIDE_SOURCE, here, &exact, 1), CC_OK);
    ck_assert_int_eq(found.count, 1);
    ck_assert(found.in_range[0]);
}
END_TEST

START_TEST(a_border_between_slices_makes_two_boxes)
{
    const cc__copy work = usual();
    const cc__range first = {0, 1440};
    ck_assert_int_eq(cut(&work, CC__SIDE_SOURCE, here, &first, 1), CC_OK);
    ck_assert_int_eq(found.count, 2);
    ck_assert(found.in_range[0] && !found.in_range[1]);
    ck_assert_int_eq(found.pieces[0].size[2], 1);
    ck_assert_int_eq(found.pieces[1].size[2], 2);
    expect_cut(&work, CC__SIDE_SOURCE, here, &first, 1);
}
END_TEST

START_TEST(a_border_goes_through_a_pixel)
{
    const cc__copy work = usual();
    /* Byte 7 of the pixel (3, 2, 2). */
    const cc__range first = {0, 3 * 12 + 2 * 120 + 2 * 720 + 7};
    ck_assert_int_eq(cut(&work, CC__SIDE_SOURCE, here, &first, 1), CC_OK);
    expect_cut(&work, CC__SIDE_SOURCE, here, &first, 1);
    int32_t in_bytes = 0;
    for (int32_t i = 0; i < found.count; ++i)
        in_bytes += found.pieces[i].pixel_bytes != 12;
    ck_assert_int_eq(in_bytes, 2);
    /* Whole slices, whole rows, whole pixels, and twice a part of one. */
    ck_assert_int_eq(found.count, 8);
}
END_TEST

START_TEST(several_borders_go_through_one_pixel)
{
    cc__copy work = {.size = {1, 1, 1, 1}, .pixel_bytes = 64};
    set_dense(work.destination.stride, work.size, 64);
    set_dense(work.source.stride, work.size, 64);
    work.destination.data = there;
    work.source.data = here;
    const cc__range ranges[] = {{1, 2}, {2, 5}, {60, 63}};
    ck_assert_int_eq(cut(&work, CC__SIDE_DESTINATION, there, ranges, 3), CC_OK);
    ck_assert_int_eq(found.count, 6);
    expect_cut(&work, CC__SIDE_DESTINATION, there, ranges, 3);
}
END_TEST

START_TEST(offsets_beyond_32_bits)
{
    /* 64 GiB of floats; nothing is touched. */
    unsigned char *base = (unsigned char *)(uintptr_t)0x100000000000;
    cc__copy work = {.size = {4096, 4096, 1024, 1}, .pixel_bytes = 4};
    set_dense(work.destination.stride, work.size, 4);
    set_dense(work.source.stride, work.size, 4);
    work.destination.data = base;
    work.source.data = base + ((size_t)1 << 40);
    const size_t slice = (size_t)4 << 24;
    const cc__range ranges[] = {{700 * slice, 701 * slice}, {1000 * slice + 1, SIZE_MAX}};
    ck_assert_int_eq(cut(&work, CC__SIDE_DESTINATION, base, ranges, 2), CC_OK);
    int64_t locked = 0;
    int64_t all = 0;
    for (int32_t i = 0; i < found.count; ++i) {
        locked += found.in_range[i] ? cc__copy_bytes(&found.pieces[i]) : 0;
        all += cc__copy_bytes(&found.pieces[i]);
    }
    ck_assert_int_eq(all, (int64_t)1024 * (int64_t)slice);
    ck_assert_int_eq(locked, (int64_t)slice + (int64_t)(24 * slice) - 1);
    ck_assert_ptr_eq(found.pieces[1].source.data, work.source.data + 700 * slice);
    ck_assert_int_eq(found.pieces[1].size[2], 1);
}
END_TEST

/* Behind the last range there is room for more bytes than a signed number of pixels can say. */
START_TEST(a_row_of_bytes_is_one_piece_in_each_stretch)
{
    const cc__range range = {10, 20};
    cc__copy work = {.pixel_bytes = 1, .size = {1000, 1, 1, 1}};
    set_dense(work.destination.stride, work.size, 1);
    set_dense(work.source.stride, work.size, 1);
    work.destination.data = there;
    work.source.data = here;
    ck_assert_int_eq(cut(&work, CC__SIDE_SOURCE, here, &range, 1), CC_OK);
    ck_assert_int_eq(found.count, 3);
    ck_assert_int_eq(cc__copy_bytes(&found.pieces[2]), 980);
}
END_TEST

START_TEST(the_first_failure_ends_it)
{
    const cc__copy work = usual();
    const cc__range first = {0, 3 * 12 + 2 * 120 + 2 * 720 + 7};
    for (int32_t stop_after = 1; stop_after <= 8; ++stop_after) {
        found.count = 0;
        found.stop_after = stop_after;
        ck_assert_int_eq(cc__pieces_at_borders(&work, CC__SIDE_SOURCE, here, &first, 1, collect, &found),
                         CC_ERROR_DEVICE);
        ck_assert_int_eq(found.count, stop_after);
    }
}
END_TEST

static uint32_t random_state = 1;

static int64_t random_below(int64_t limit)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (int64_t)(random_state >> 8) % limit;
}

/* A nested layout with the axes in any order and gaps between them. */
static void set_random_strides(int64_t stride[CC_MAX_DIMENSION], const int64_t size[CC_MAX_DIMENSION],
                               int64_t pixel_bytes)
{
    int32_t order[CC_MAX_DIMENSION] = {0, 1, 2, 3};
    int64_t extent = pixel_bytes;
    for (int32_t i = CC_MAX_DIMENSION - 1; i > 0; --i) {
        const int32_t other = (int32_t)random_below(i + 1);
        const int32_t axis = order[i];
        order[i] = order[other];
        order[other] = axis;
    }
    for (int32_t i = 0; i < CC_MAX_DIMENSION; ++i) {
        stride[order[i]] = extent + random_below(5);
        extent += stride[order[i]] * (size[order[i]] - 1);
    }
}

START_TEST(any_layout_any_borders)
{
    for (int32_t round = 0; round < 3000; ++round) {
        cc__copy work = {.pixel_bytes = 1 + random_below(20)};
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
            work.size[axis] = 1 + random_below(5);
        set_random_strides(work.destination.stride, work.size, work.pixel_bytes);
        set_random_strides(work.source.stride, work.size, work.pixel_bytes);
        const size_t before = (size_t)random_below(40);
        work.destination.data = there + before;
        work.source.data = here + before;
        const cc__side side = random_below(2) == 0 ? CC__SIDE_DESTINATION : CC__SIDE_SOURCE;
        cc__range ranges[8];
        int32_t count = 0;
        size_t at = (size_t)random_below(60);
        for (const int64_t wanted = random_below(9); count < wanted; ++count) {
            ranges[count].first = at;
            ranges[count].end = at + 1 + (size_t)random_below(200);
            at = ranges[count].end + (random_below(3) == 0 ? 0 : (size_t)random_below(200));
        }
        unsigned char *base = side == CC__SIDE_DESTINATION ? there : here;
        ck_assert_int_eq(cut(&work, side, base, ranges, count), CC_OK);
        expect_cut(&work, side, base, ranges, count);
    }
}
END_TEST

static void expect_parts(const cc__copy *work, int64_t most_bytes)
{
    const cc__parts parts = cc__parts_plan(work, most_bytes);
    ck_assert_int_le(parts.count, MOST_PIECES);
    for (int64_t i = 0; i < parts.count; ++i) {
        found.pieces[i] = cc__parts_get(work, &parts, i);
        ck_assert_int_le(cc__copy_bytes(&found.pieces[i]), most_bytes);
        ck_assert_int_gt(cc__copy_bytes(&found.pieces[i]), 0);
    }
    expect_same_bytes(work, found.pieces, (int32_t)parts.count);
}

START_TEST(parts_are_all_of_it_and_small_enough)
{
    const cc__copy work = usual();
    ck_assert_int_eq(cc__parts_plan(&work, 720).count, 1);
    ck_assert_int_eq(cc__parts_plan(&work, 719).count, 2);
    ck_assert_int_eq(cc__parts_plan(&work, 240).count, 3);
    ck_assert_int_eq(cc__parts_plan(&work, 239).count, 3 * 2);
    ck_assert_int_eq(cc__parts_plan(&work, 12).count, 60);
    for (int64_t most = 12; most <= 730; ++most)
        expect_parts(&work, most);
}
END_TEST

START_TEST(parts_of_any_box)
{
    for (int32_t round = 0; round < 1000; ++round) {
        cc__copy work = {.pixel_bytes = 1 + random_below(20), .destination.data = there, .source.data = here};
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
            work.size[axis] = 1 + random_below(6);
        set_random_strides(work.destination.stride, work.size, work.pixel_bytes);
        set_random_strides(work.source.stride, work.size, work.pixel_bytes);
        expect_parts(&work, work.pixel_bytes + random_below(2000));
    }
}
END_TEST

START_TEST(parts_of_one_long_row)
{
    cc__copy work = {.size = {((int64_t)1 << 40) + 1, 1, 1, 1}, .pixel_bytes = 8};
    const cc__parts parts = cc__parts_plan(&work, 4 << 20);
    ck_assert_int_eq(parts.axis, 0);
    ck_assert_int_eq(parts.step, 1 << 19);
    ck_assert_int_eq(parts.count, ((int64_t)1 << 21) + 1);
    const cc__copy last = cc__parts_get(&work, &parts, parts.count - 1);
    ck_assert_int_eq(last.size[0], 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pieces");
    TCase *tcase = tcase_create("pieces");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, sums_of_a_copy);
    tcase_add_test(tcase, without_borders_it_stays_whole);
    tcase_add_test(tcase, a_border_between_slices_makes_two_boxes);
    tcase_add_test(tcase, a_border_goes_through_a_pixel);
    tcase_add_test(tcase, several_borders_go_through_one_pixel);
    tcase_add_test(tcase, offsets_beyond_32_bits);
    tcase_add_test(tcase, a_row_of_bytes_is_one_piece_in_each_stretch);
    tcase_add_test(tcase, the_first_failure_ends_it);
    tcase_add_test(tcase, any_layout_any_borders);
    tcase_add_test(tcase, parts_are_all_of_it_and_small_enough);
    tcase_add_test(tcase, parts_of_any_box);
    tcase_add_test(tcase, parts_of_one_long_row);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
