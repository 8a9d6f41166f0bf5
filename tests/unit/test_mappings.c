/* Who has pixels now: many readers or one writer of each pixel, over all places. */
#include "base/allocate.h"
#include "data_manager/mappings.h"
#include "support/expect.h"

#include <stdlib.h>

static long live_before;
static cc__mappings mappings;
static const int owner, other_owner;
static unsigned char pixels[16];

static void set_up(void)
{
    live_before = cc__allocations_live();
    mappings = (cc__mappings){0};
}

static void tear_down(void)
{
    cc__allocate_set_hook(NULL);
    cc__mappings_destroy(&mappings);
    ck_assert_int_eq(mappings.count, 0);
    ck_assert_int_eq(cc__allocations_live(), live_before);
}

static cc__box box_at(int64_t i, int64_t size_i)
{
    const cc__box box = {{i, 0, 0, 0}, {size_i, 4, 1, 1}};
    return box;
}

static cc__mapping *add(cc_place place, cc_access access, int64_t i, int64_t size_i)
{
    const cc__box box = box_at(i, size_i);
    cc__mapping *mapping = cc__mappings_add(&mappings, &owner, place, access, &box);
    ck_assert_ptr_nonnull(mapping);
    return mapping;
}

static const cc__mapping *find_conflict(cc_access access, int64_t i, int64_t size_i)
{
    const cc__box box = box_at(i, size_i);
    return cc__mappings_find_conflict(&mappings, &box, access);
}

/* Every access against every access, at every pair of places; the place does not matter. */
START_TEST(many_readers_or_one_writer)
{
    static const cc_place places[] = {CC_PLACE_HOST, 0, 7};
    for (int32_t held = CC_ACCESS_READ; held <= CC_ACCESS_READ_WRITE; ++held) {
        for (int32_t asked = CC_ACCESS_READ; asked <= CC_ACCESS_READ_WRITE; ++asked) {
            for (int32_t place = 0; place < 3; ++place) {
                cc__mapping *holder = add(places[place], (cc_access)held, 4, 4);
                const bool excludes = held != CC_ACCESS_READ || asked != CC_ACCESS_READ;
                const cc__mapping *expected = excludes ? holder : NULL;
                ck_assert_ptr_eq(find_conflict((cc_access)asked, 4, 4), expected);
                ck_assert_ptr_eq(find_conflict((cc_access)asked, 7, 5), expected);  /* the last row */
                ck_assert_ptr_eq(find_conflict((cc_access)asked, 0, 5), expected);  /* the first */
                ck_assert_ptr_eq(find_conflict((cc_access)asked, 5, 1), expected);  /* inside */
                ck_assert_ptr_eq(find_conflict((cc_access)asked, 0, 12), expected); /* around */
                ck_assert_ptr_null(find_conflict((cc_access)asked, 0, 4));          /* beside */
                ck_assert_ptr_null(find_conflict((cc_access)asked, 8, 4));
                ck_assert_ptr_null(find_conflict((cc_access)asked, 5, 0)); /* nothing */
                cc__mappings_remove(&mappings, holder);
            }
        }
    }
}
END_TEST

START_TEST(the_one_that_excludes_is_found_among_many)
{
    for (int64_t i = 0; i < 20; ++i)
        add(i % 3 == 0 ? CC_PLACE_HOST : 0, i == 13 ? CC_ACCESS_READ_WRITE : CC_ACCESS_READ, 4 * i, 4);
    ck_assert_ptr_null(find_conflict(CC_ACCESS_READ, 0, 4 * 13));
    ck_assert_ptr_nonnull(find_conflict(CC_ACCESS_READ, 0, 4 * 13 + 1));
    ck_assert_int_eq(find_conflict(CC_ACCESS_READ, 0, 80)->box.start[0], 4 * 13);
    ck_assert_int_eq(find_conflict(CC_ACCESS_WRITE, 75, 1)->box.start[0], 72);
    ck_assert_ptr_null(find_conflict(CC_ACCESS_WRITE, 80, 10));
}
END_TEST

START_TEST(a_new_mapping_is_as_asked)
{
    const cc__mapping *mapping = add(3, CC_ACCESS_WRITE, 2, 5);
    ck_assert_ptr_eq(mapping->owner, &owner);
    ck_assert_int_eq(mapping->place, 3);
    ck_assert_int_eq(mapping->access, CC_ACCESS_WRITE);
    ck_assert_int_eq(mapping->box.start[0], 2);
    ck_assert_int_eq(mapping->box.size[0], 5);
    ck_assert_int_eq(mapping->count, 1);
    ck_assert(cc__box_equal(cc__mapping_reach(mapping), &mapping->box));
    ck_assert_ptr_null(mapping->pixels);
    ck_assert_ptr_null(mapping->fence);
}
END_TEST

START_TEST(found_by_owner_side_and_pixels)
{
    cc__mapping *on_host = add(CC_PLACE_HOST, CC_ACCESS_READ, 0, 4);
    cc__mapping *on_device = add(1, CC_ACCESS_READ, 0, 4);
    on_host->pixels = &pixels[0];
    on_device->pixels = &pixels[8];
    ck_assert_ptr_eq(cc__mappings_find(&mappings, &owner, true, &pixels[0]), on_host);
    ck_assert_ptr_eq(cc__mappings_find(&mappings, &owner, false, &pixels[8]), on_device);
    ck_assert_ptr_null(cc__mappings_find(&mappings, &owner, false, &pixels[0]));
    ck_assert_ptr_null(cc__mappings_find(&mappings, &owner, true, &pixels[8]));
    ck_assert_ptr_null(cc__mappings_find(&mappings, &owner, true, &pixels[1]));
    ck_assert_ptr_null(cc__mappings_find(&mappings, &other_owner, true, &pixels[0]));
    cc__mappings_remove(&mappings, on_host);
    ck_assert_ptr_null(cc__mappings_find(&mappings, &owner, true, &pixels[0]));
    ck_assert_ptr_eq(cc__mappings_find(&mappings, &owner, false, &pixels[8]), on_device);
}
END_TEST

START_TEST(counted_where_they_are)
{
    ck_assert(!cc__mappings_have_writer(&mappings));
    cc__mapping *twice = add(CC_PLACE_HOST, CC_ACCESS_READ, 0, 4);
    twice->count = 2;
    add(CC_PLACE_HOST, CC_ACCESS_READ, 4, 4);
    cc__mapping *on_device = add(2, CC_ACCESS_READ, 4, 4);
    ck_assert_int_eq(cc__mappings_count_at(&mappings, CC_PLACE_HOST), 3);
    ck_assert_int_eq(cc__mappings_count_at(&mappings, 2), 1);
    ck_assert_int_eq(cc__mappings_count_at(&mappings, 0), 0);
    ck_assert(!cc__mappings_have_writer(&mappings));
    cc__mapping *writer = add(0, CC_ACCESS_WRITE, 8, 4);
    ck_assert(cc__mappings_have_writer(&mappings));
    cc__mappings_remove(&mappings, writer);
    ck_assert(!cc__mappings_have_writer(&mappings));
    writer = add(0, CC_ACCESS_READ_WRITE, 8, 4);
    ck_assert(cc__mappings_have_writer(&mappings));
    cc__mappings_remove(&mappings, on_device);
    ck_assert_int_eq(cc__mappings_count_at(&mappings, 2), 0);
    ck_assert_int_eq(cc__mappings_count_at(&mappings, CC_PLACE_HOST), 3);
}
END_TEST

START_TEST(counted_by_their_owner)
{
    ck_assert_int_eq(cc__mappings_count_of(&mappings, &owner), 0);
    add(CC_PLACE_HOST, CC_ACCESS_READ, 0, 4)->count = 3;
    add(CC_PLACE_HOST, CC_ACCESS_READ, 4, 4)->count = 0;
    cc__mapping *on_device = add(2, CC_ACCESS_WRITE, 8, 4);
    add(0, CC_ACCESS_READ, 12, 4)->owner = NULL;
    ck_assert_int_eq(cc__mappings_count_of(&mappings, &owner), 4);
    ck_assert_int_eq(cc__mappings_count_of(&mappings, &other_owner), 0);
    on_device->owner = &other_owner;
    ck_assert_int_eq(cc__mappings_count_of(&mappings, &owner), 3);
    ck_assert_int_eq(cc__mappings_count_of(&mappings, &other_owner), 1);
}
END_TEST

/* What the mapping before it in the same memory had is gone. */
START_TEST(a_mapping_in_used_memory_is_as_new)
{
    int stands_for_fence = 0;
    cc__mapping *used = add(3, CC_ACCESS_WRITE, 2, 5);
    used->pixels = pixels;
    used->count = 7;
    used->has_further = true;
    used->further = box_at(0, 16);
    used->stream = (void *)&stands_for_fence;
    used->stream_id = 9;
    used->fence = (void *)&stands_for_fence;
    used->is_noted = true;
    cc__mappings_remove(&mappings, used);
    const cc__mapping *mapping = add(CC_PLACE_HOST, CC_ACCESS_READ, 1, 3);
    ck_assert_ptr_eq(mapping, used);
    ck_assert_int_eq(mapping->place, CC_PLACE_HOST);
    ck_assert_int_eq(mapping->access, CC_ACCESS_READ);
    ck_assert_int_eq(mapping->box.size[0], 3);
    ck_assert_int_eq(cc__mapping_reach(mapping)->size[0], 3);
    ck_assert_int_eq(mapping->count, 1);
    ck_assert_ptr_null(mapping->pixels);
    ck_assert_ptr_null(mapping->stream);
    ck_assert_uint_eq(mapping->stream_id, 0);
    ck_assert_ptr_null(mapping->fence);
    ck_assert(!mapping->is_noted);
}
END_TEST

/* A further box of readers that share a mapping excludes writers, but is no mapping to be counted or unmapped. */
START_TEST(a_further_box_only_excludes)
{
    cc__mapping *readers = add(CC_PLACE_HOST, CC_ACCESS_READ, 0, 4);
    readers->pixels = pixels;
    readers->count = 2;
    cc__mapping *further = add(CC_PLACE_HOST, CC_ACCESS_READ, 8, 4);
    further->count = 0;
    ck_assert_int_eq(cc__mappings_count_at(&mappings, CC_PLACE_HOST), 2);
    ck_assert_ptr_eq(find_conflict(CC_ACCESS_WRITE, 8, 1), further);
    ck_assert_ptr_null(find_conflict(CC_ACCESS_WRITE, 4, 4));
    ck_assert_ptr_eq(cc__mappings_find(&mappings, &owner, true, pixels), readers);
}
END_TEST

START_TEST(what_is_not_there_cannot_be_removed)
{
    static cc__mapping stranger; /* static, or newer compilers fear for a pointer to it */
    cc__mappings_remove(&mappings, &stranger);
    ck_assert_int_eq(mappings.count, 0);
    add(CC_PLACE_HOST, CC_ACCESS_READ, 0, 4);
    cc__mappings_remove(&mappings, &stranger);
    ck_assert_int_eq(mappings.count, 1);
}
END_TEST

/* A mapping stays where it is in memory while others come and go: callers keep pointers. */
START_TEST(mappings_do_not_move)
{
    cc__mapping *kept[40];
    for (int32_t i = 0; i < 40; ++i)
        kept[i] = add(CC_PLACE_HOST, CC_ACCESS_WRITE, i, 1);
    for (int32_t i = 0; i < 40; i += 2)
        cc__mappings_remove(&mappings, kept[i]);
    ck_assert_int_eq(mappings.count, 20);
    for (int32_t i = 1; i < 40; i += 2) {
        ck_assert_int_eq(kept[i]->box.start[0], i);
        ck_assert_ptr_eq(find_conflict(CC_ACCESS_READ, i, 1), kept[i]);
    }
}
END_TEST

START_TEST(no_memory_leaves_all_as_it_was)
{
    const cc__box box = box_at(0, 4);
    for (long nth = 1; nth <= 2; ++nth) {
        expect_allocations_to_fail_from(nth);
        ck_assert_ptr_null(cc__mappings_add(&mappings, &owner, 0, CC_ACCESS_READ, &box));
        cc__allocate_set_hook(NULL);
        ck_assert_int_eq(mappings.count, 0);
    }
    /* Room for one more is there, then not. */
    while (mappings.count < mappings.capacity || mappings.count == 0)
        add(0, CC_ACCESS_READ, 0, 4);
    const int32_t count = mappings.count;
    expect_allocations_to_fail_from(1);
    ck_assert_ptr_null(cc__mappings_add(&mappings, &owner, 0, CC_ACCESS_READ, &box));
    cc__allocate_set_hook(NULL);
    ck_assert_int_eq(mappings.count, count);
    ck_assert_int_eq(cc__mappings_count_at(&mappings, 0), count);
    add(0, CC_ACCESS_READ, 0, 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mappings");
    TCase *tcase = tcase_create("mappings");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, many_readers_or_one_writer);
    tcase_add_test(tcase, the_one_that_excludes_is_found_among_many);
    tcase_add_test(tcase, a_new_mapping_is_as_asked);
    tcase_add_test(tcase, found_by_owner_side_and_pixels);
    tcase_add_test(tcase, counted_where_they_are);
    tcase_add_test(tcase, counted_by_their_owner);
    tcase_add_test(tcase, a_mapping_in_used_memory_is_as_new);
    tcase_add_test(tcase, a_further_box_only_excludes);
    tcase_add_test(tcase, what_is_not_there_cannot_be_removed);
    tcase_add_test(tcase, mappings_do_not_move);
    tcase_add_test(tcase, no_memory_leaves_all_as_it_was);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
