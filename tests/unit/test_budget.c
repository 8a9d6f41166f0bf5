/* Images that do not all fit on the device: who leaves, and in which order. */
#include "backend/emulated.h"
#include "memory/budget.h"
#include "support/expect.h"
#include "support/many_images.h"

static uint64_t downloads(int32_t image)
{
    return fixture_counters(images[image]).device_to_host_copies;
}

START_TEST(arguments_are_checked)
{
    const cc_status beyond = fixture_device_count() == 0 ? CC_ERROR_NO_DEVICE : CC_ERROR_INVALID_DEVICE;
    size_t limit = 77;
    size_t headroom = 77;
    int32_t priority = 77;
    const cc_region outside = region_at(1, 0, SIZE, 1), negative = region_at(0, 0, -1, 1),
                    empty = region_at(2, 2, 0, 1);
    expect_failure(beyond, "device = 99", cc_device_set_limit(99, 1, 1));
    expect_failure(beyond, "device = -1", cc_device_set_limit(CC_PLACE_HOST, 1, 1));
    expect_failure(beyond, "device = 99", cc_device_get_limit(99, &limit, &headroom));
    expect_failure(beyond, "device = 99", cc_device_trim(99, 0));
    ck_assert_uint_eq(limit, 77);
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_set_priority(NULL, 1));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_get_priority(NULL, &priority));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_priority", cc_image_get_priority(images[0], NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_discard(NULL, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "size[0] = -1", cc_image_discard(images[0], &negative));
    expect_failure(CC_ERROR_REGION, "size[0] = 64", cc_image_discard(images[0], &outside));
    fixture_ok(cc_image_discard(images[0], &empty));
    fixture_ok(cc_image_get_priority(images[0], &priority));
    ck_assert_int_eq(priority, 0);
    fixture_ok(cc_image_set_priority(images[0], INT32_MIN));
    fixture_ok(cc_image_get_priority(images[0], &priority));
    ck_assert_int_eq(priority, INT32_MIN);
    if (fixture_device_count() == 0)
        return;
    fixture_ok(cc_device_get_limit(0, &limit, &headroom));
    ck_assert_uint_eq(limit, 0);
    ck_assert_uint_eq(headroom, 0);
    fixture_ok(cc_device_set_limit(0, SIZE_MAX, 1));
    fixture_ok(cc_device_get_limit(0, &limit, NULL));
    fixture_ok(cc_device_get_limit(0, NULL, &headroom));
    ck_assert_uint_eq(limit, SIZE_MAX);
    ck_assert_uint_eq(headroom, 1);
    fixture_ok(cc_device_trim(0, 0));
}
END_TEST

START_TEST(what_was_used_longest_ago_leaves_first)
{
    if (fixture_device_count() == 0)
        return;
    set_limit(3);
    for (int32_t i = 0; i < 3; ++i)
        make_clean(i);
    expect_on_device("xxx..");
    byte_pixels_expect_device(images[0], NULL, 1, CC_STREAM_DEFAULT);
    fixture_ok(cc_image_prefetch(images[1], NULL, 0));
    make_clean(3);
    expect_on_device("xx.x.");
    make_clean(4);
    expect_on_device(".x.xx");
    for (int32_t i = 0; i < 5; ++i) {
        ck_assert_uint_eq(downloads(i), 0);
        expect_value(i);
    }
}
END_TEST

START_TEST(what_needs_no_copy_leaves_first)
{
    if (fixture_device_count() == 0)
        return;
    set_limit(4);
    make_dirty(0);
    make_clean(1);
    make_dirty(2);
    fixture_ok(cc_image_prefetch(images[3], NULL, 0)); /* zeros: nobody needs a copy of them */
    fixture_ok(cc_image_prefetch(images[4], NULL, 0));
    expect_on_device("x.xxx");
    make_dirty(5);
    expect_on_device("x.x.xx");
    make_dirty(6);
    expect_on_device("x.x..xx");
    ck_assert_uint_eq(downloads(0) + downloads(2), 0);
    make_dirty(7);
    expect_on_device("..x..xxx");
    ck_assert_uint_eq(downloads(0), 1);
    /* One that the host has read needs no copy any more, though it was used last. */
    byte_pixels_expect_host(images[6], NULL, 7);
    byte_pixels_expect_device(images[6], NULL, 7, CC_STREAM_DEFAULT);
    make_dirty(8);
    expect_on_device("..x..x.xx");
    ck_assert_uint_eq(downloads(2) + downloads(5), 0);
    /* And one that the host has overwritten. */
    byte_pixels_write_host(images[7], NULL, 8);
    make_dirty(9);
    expect_on_device("..x..x..xx");
    for (int32_t i = 0; i < 10; ++i)
        if (i != 3 && i != 4)
            expect_value(i);
    byte_pixels_expect_host(images[3], NULL, 0);
}
END_TEST

START_TEST(a_higher_priority_stays)
{
    if (fixture_device_count() == 0)
        return;
    set_limit(3);
    fixture_ok(cc_image_set_priority(images[0], 1));
    make_clean(0);
    make_dirty(1);
    make_dirty(2);
    make_dirty(3);
    expect_on_device("x.xx");
    make_dirty(4);
    expect_on_device("x..xx");
    /* What is there already gets its new place too. */
    fixture_ok(cc_image_set_priority(images[3], 2));
    fixture_ok(cc_image_set_priority(images[0], -1));
    make_dirty(5);
    expect_on_device("...xxx");
    make_dirty(6);
    make_dirty(7);
    expect_on_device("...x..xx");
    for (int32_t i = 0; i < 8; ++i)
        expect_value(i);
}
END_TEST

START_TEST(what_is_mapped_stays)
{
    void *pixels[2];
    void *none = NULL;
    if (fixture_device_count() == 0)
        return;
    set_limit(2);
    make_clean(0);
    make_clean(1);
    for (int32_t i = 0; i < 2; ++i)
        fixture_ok(cc_image_map_device(images[i], NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels[i]));
    expect_failure(CC_ERROR_OUT_OF_DEVICE_MEMORY, "",
                   cc_image_map_device(images[2], NULL, CC_ACCESS_WRITE, CC_STREAM_DEFAULT, &none));
    ck_assert_ptr_null(none);
    expect_on_device("xx.");
    fixture_ok(cc_image_unmap_device(images[1], pixels[1], CC_STREAM_DEFAULT));
    /* A writer elsewhere has what the device no longer has, but only when he is done. */
    const cc_region part = region_at(0, 0, 2, 2);
    fixture_ok(cc_image_map_host(images[1], &part, CC_ACCESS_READ_WRITE, &none));
    expect_failure(CC_ERROR_OUT_OF_DEVICE_MEMORY, "", cc_image_prefetch(images[2], NULL, 0));
    fixture_ok(cc_image_unmap_host(images[1], none));
    make_dirty(2);
    expect_on_device("x.x");
    fixture_ok(cc_image_unmap_device(images[0], pixels[0], CC_STREAM_DEFAULT));
    for (int32_t i = 0; i < 3; ++i)
        expect_value(i);
}
END_TEST

START_TEST(wrapped_memory_neither_counts_nor_leaves)
{
    void *memory = NULL;
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    if (fixture_device_count() == 0)
        return;
    fixture_ok(fixture_inner->allocate(fixture_inner, 0, CC_STREAM_DEFAULT, BYTES, &memory));
    params.flags = CC_WRAP_BORROWED | CC_WRAP_UNINITIALIZED;
    params.data = memory;
    params.size_bytes = BYTES;
    fixture_ok(cc_image_wrap_device(images[0], &params, CC_STREAM_DEFAULT));
    make_dirty(0);
    set_limit(1);
    make_dirty(1);
    make_dirty(2);
    expect_on_device("x.x");
    ck_assert_uint_eq(cc__budget_held_bytes(0), BYTES);
    fixture_ok(cc_image_discard(images[0], NULL));
    expect_on_device("x.x");
    make_dirty(0);
    for (int32_t i = 0; i < 3; ++i)
        expect_value(i);
    fixture_ok(cc_image_resize(images[0], &(cc_region){.size = {1, 1, 1, 1}}));
    fixture_ok(cc_stream_synchronize(0, CC_STREAM_DEFAULT));
    fixture_ok(fixture_inner->free(fixture_inner, 0, CC_STREAM_DEFAULT, memory));
}
END_TEST

START_TEST(what_can_never_fit_makes_nobody_leave)
{
    if (fixture_device_count() == 0)
        return;
    cc_image *large = fixture_image(CC_PIXEL_UINT8, 1, 2, SIZE, 3 * SIZE, 1);
    fixture_ok(cc_image_set_device(large, 0));
    set_limit(2);
    make_clean(0);
    make_dirty(1);
    expect_failure(CC_ERROR_OUT_OF_DEVICE_MEMORY, "", cc_image_prefetch(large, NULL, 0));
    expect_on_device("xx");
    if (fixture_is_emulated()) {
        set_limit(0);
        cc__emulated_set_memory_limit(fixture_inner, 2 * BYTES);
        expect_failure(CC_ERROR_OUT_OF_DEVICE_MEMORY, "", cc_image_prefetch(large, NULL, 0));
        expect_on_device("xx");
    }
    set_limit(3);
    if (fixture_is_emulated())
        cc__emulated_set_memory_limit(fixture_inner, 0);
    fixture_ok(cc_image_prefetch(large, NULL, 0));
    expect_on_device("..");
    cc_image_release(large);
    expect_value(0);
    expect_value(1);
}
END_TEST

START_TEST(a_full_device_makes_room)
{
    if (!fixture_is_emulated())
        return;
    cc__emulated_set_memory_limit(fixture_inner, 3 * BYTES + 100);
    for (int32_t round = 0; round < 3; ++round)
        for (int32_t i = 0; i < IMAGES; ++i)
            make_dirty(i);
    for (int32_t i = 0; i < IMAGES; ++i)
        byte_pixels_expect_device(images[i], NULL, (unsigned char)(i + 1), CC_STREAM_DEFAULT);
    for (int32_t i = 0; i < IMAGES; ++i)
        expect_value(i);
}
END_TEST

START_TEST(the_headroom_is_left_free)
{
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    if (!fixture_is_emulated())
        return;
    cc__emulated_set_memory_limit(fixture_inner, 8 * BYTES);
    fixture_ok(cc_device_set_limit(0, 0, 5 * BYTES));
    for (int32_t i = 0; i < 8; ++i) {
        make_dirty(i);
        fixture_ok(fixture_inner->memory_info(fixture_inner, 0, &free_bytes, &total_bytes));
        ck_assert_uint_ge(free_bytes, 5 * BYTES);
    }
    expect_on_device(".....xxx");
    fixture_ok(cc_device_set_limit(0, 0, 8 * BYTES));
    expect_failure(CC_ERROR_OUT_OF_DEVICE_MEMORY, "", cc_image_prefetch(images[8], NULL, 0));
    expect_on_device(".....xxx");
    for (int32_t i = 0; i < 8; ++i)
        expect_value(i);
}
END_TEST

START_TEST(a_lower_limit_works_at_once)
{
    void *pixels = NULL;
    if (fixture_device_count() == 0)
        return;
    for (int32_t i = 0; i < 5; ++i)
        make_dirty(i);
    set_limit(5);
    expect_on_device("xxxxx");
    fixture_ok(cc_image_map_device(images[0], NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
    set_limit(2);
    expect_on_device("x...x");
    fixture_ok(cc_device_set_limit(0, 1, 0));
    expect_on_device("x....");
    fixture_ok(cc_image_unmap_device(images[0], pixels, CC_STREAM_DEFAULT));
    fixture_ok(cc_device_set_limit(0, 1, 0));
    expect_on_device(".....");
    for (int32_t i = 0; i < 5; ++i)
        expect_value(i);
}
END_TEST

START_TEST(each_device_has_its_own_limit)
{
    if (fixture_device_count() < 2)
        return;
    set_limit(2);
    for (int32_t i = 0; i < 4; ++i) {
        make_clean(i);
        fixture_ok(cc_image_prefetch(images[i], NULL, 1));
    }
    expect_on_device("..xx");
    for (int32_t i = 0; i < 4; ++i)
        ck_assert(is_on(images[i], 1));
    /* What another device has needs no copy to the host. */
    make_dirty(4);
    fixture_ok(cc_image_prefetch(images[4], NULL, 1));
    make_dirty(5);
    make_dirty(6);
    expect_on_device(".....xx");
    ck_assert_uint_eq(downloads(4), 0);
    for (int32_t i = 0; i < 7; ++i)
        expect_value(i);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("budget");
    TCase *tcase = tcase_create("budget");
    tcase_add_checked_fixture(tcase, many_images_set_up, many_images_tear_down);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, arguments_are_checked);
    tcase_add_test(tcase, what_was_used_longest_ago_leaves_first);
    tcase_add_test(tcase, what_needs_no_copy_leaves_first);
    tcase_add_test(tcase, a_higher_priority_stays);
    tcase_add_test(tcase, what_is_mapped_stays);
    tcase_add_test(tcase, wrapped_memory_neither_counts_nor_leaves);
    tcase_add_test(tcase, what_can_never_fit_makes_nobody_leave);
    tcase_add_test(tcase, a_full_device_makes_room);
    tcase_add_test(tcase, the_headroom_is_left_free);
    tcase_add_test(tcase, a_lower_limit_works_at_once);
    tcase_add_test(tcase, each_device_has_its_own_limit);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
