/* Bringing pixels to a place without lending them, and giving up their memory without losing one. */
#include "backend/emulated.h"
#include "base/allocate.h"
#include "support/byte_pixels.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

#define SIZE 16
#define BYTES (SIZE * SIZE)

static cc_image *image;

static void set_up(void)
{
    fixture_setup();
    image = fixture_image(CC_PIXEL_UINT8, 1, 2, SIZE, SIZE, 1);
    if (fixture_device_count() > 0)
        fixture_ok(cc_image_set_device(image, 0));
}

static void tear_down(void)
{
    cc_image_release(image);
    fixture_teardown();
}

static uint64_t memory_at(cc_place place)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(image, place, &state));
    return state.memory_bytes;
}

static cc_status beyond_the_last(void)
{
    return fixture_device_count() == 0 ? CC_ERROR_NO_DEVICE : CC_ERROR_INVALID_DEVICE;
}

START_TEST(prefetch_checks_its_arguments)
{
    const cc_region negative = region_at(0, 0, -1, 1), outside = region_at(1, 0, SIZE, 1),
                    empty = region_at(3, 3, 0, 0);
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_prefetch(NULL, NULL, CC_PLACE_HOST));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "size[0] = -1", cc_image_prefetch(image, &negative, CC_PLACE_HOST));
    expect_failure(CC_ERROR_REGION, "size[0] = 16", cc_image_prefetch(image, &outside, CC_PLACE_HOST));
    expect_failure(beyond_the_last(), "device = 99", cc_image_prefetch(image, NULL, 99));
    expect_failure(beyond_the_last(), "device = -2", cc_image_prefetch(image, NULL, CC_DEVICE_CURRENT));
    fixture_ok(cc_image_prefetch(image, &empty, CC_PLACE_HOST));
    ck_assert_uint_eq(memory_at(CC_PLACE_HOST), 0);
}
END_TEST

START_TEST(prefetch_to_the_host_fills)
{
    const cc_region part = region_at(2, 2, 3, 3);
    fixture_ok(cc_image_prefetch(image, &part, CC_PLACE_HOST));
    ck_assert_uint_eq(fixture_counters(image).fills, 1);
    byte_pixels_expect_host(image, &part, 0);
    ck_assert_uint_eq(fixture_counters(image).fills, 1);
    byte_pixels_expect_host(image, NULL, 0);
}
END_TEST

START_TEST(what_was_prefetched_is_not_moved_again)
{
    const cc_region part = region_at(4, 4, 8, 8);
    if (fixture_device_count() == 0)
        return;
    byte_pixels_write_host(image, NULL, 1);
    fixture_ok(cc_image_prefetch(image, &part, 0));
    ck_assert_uint_eq(fixture_counters(image).host_to_device_bytes, 64);
    fixture_ok(cc_image_prefetch(image, &part, 0));
    byte_pixels_expect_device(image, &part, 1, CC_STREAM_DEFAULT);
    ck_assert_uint_eq(fixture_counters(image).host_to_device_bytes, 64);
    byte_pixels_write_device(image, &part, 2, CC_STREAM_DEFAULT);
    fixture_ok(cc_image_prefetch(image, NULL, CC_PLACE_HOST));
    const faulty_counts before = faulty_backend_counts(fixture_backend);
    byte_pixels_expect_host(image, &part, 2);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).calls[FAULTY_COPY], before.calls[FAULTY_COPY]);
    ck_assert_uint_eq(fixture_counters(image).device_to_host_bytes, 64);
}
END_TEST

/* Also by a reader for whom nothing else is to be done. As many pixels as move without a copy in between. */
START_TEST(what_is_on_its_way_is_waited_for)
{
    if (fixture_device_count() == 0)
        return;
    cc_image *large = fixture_image(CC_PIXEL_UINT8, 1, 2, BYTE_PIXELS_MAX_ROW, 1 << 15, 1);
    byte_pixels_write_host(large, NULL, 1);
    fixture_ok(cc_image_prefetch(large, NULL, 0));
    byte_pixels_write_device(large, NULL, 2, CC_STREAM_DEFAULT);
    fixture_ok(cc_image_prefetch(large, NULL, CC_PLACE_HOST));
    byte_pixels_expect_host(large, NULL, 2);
    cc_image_release(large);
}
END_TEST

START_TEST(prefetch_is_refused_while_somebody_writes)
{
    const cc_region left = region_at(0, 0, 8, SIZE), right = region_at(8, 0, 8, SIZE);
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, &left, CC_ACCESS_WRITE, &pixels));
    expect_failure(CC_ERROR_BUSY, "written on the host", cc_image_prefetch(image, NULL, CC_PLACE_HOST));
    fixture_ok(cc_image_prefetch(image, &right, CC_PLACE_HOST));
    if (fixture_device_count() > 0)
        expect_failure(CC_ERROR_BUSY, "written on the host", cc_image_prefetch(image, &left, 0));
    fixture_ok(cc_image_unmap_host(image, pixels));
    fixture_ok(cc_image_map_host(image, &left, CC_ACCESS_READ, &pixels));
    fixture_ok(cc_image_prefetch(image, NULL, CC_PLACE_HOST));
    fixture_ok(cc_image_unmap_host(image, pixels));
}
END_TEST

START_TEST(a_failed_prefetch_changes_nothing)
{
    static const faulty_rule rules[] = {{FAULTY_COPY, 1, false, CC_ERROR_DEVICE, 999},
                                        {FAULTY_ALLOCATE, 1, false, CC_ERROR_OUT_OF_DEVICE_MEMORY, 2},
                                        {FAULTY_EVENT_CREATE, 1, false, CC_ERROR_FORKED, 0}};
    byte_pixels_write_host(image, NULL, 1);
    for (int32_t i = 0; i < 3 && fixture_device_count() > 0; ++i) {
        faulty_backend_add_rule(fixture_backend, &rules[i]);
        expect_passed_on(rules[i].status, cc_image_prefetch(image, NULL, 0));
        faulty_backend_clear_rules(fixture_backend);
        ck_assert_uint_eq(memory_at(0), 0);
    }
    cc_status status = CC_ERROR_OUT_OF_HOST_MEMORY;
    for (long nth = 1; status != CC_OK; ++nth) {
        ck_assert(expect_is_out_of_memory(status));
        expect_allocations_to_fail_from(nth);
        status = cc_image_prefetch(image, NULL, fixture_device_count() > 0 ? 0 : CC_PLACE_HOST);
        cc__allocate_set_hook(NULL);
    }
    byte_pixels_expect_host(image, NULL, 1);
}
END_TEST

START_TEST(evict_checks_its_arguments)
{
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_evict(NULL, CC_PLACE_HOST));
    expect_failure(beyond_the_last(), "device = 99", cc_image_evict(image, 99));
    expect_failure(beyond_the_last(), "device = -2", cc_image_evict(image, CC_DEVICE_CURRENT));
    fixture_ok(cc_image_evict(image, CC_PLACE_HOST));
    for (int32_t device = 0; device < fixture_device_count(); ++device)
        fixture_ok(cc_image_evict(image, device));
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).total_calls, 0);
}
END_TEST

START_TEST(what_only_a_device_has_goes_to_the_host)
{
    const cc_region part = region_at(0, 0, SIZE, 4);
    if (fixture_device_count() == 0)
        return;
    byte_pixels_write_host(image, NULL, 1);
    byte_pixels_write_device(image, &part, 2, CC_STREAM_DEFAULT);
    ck_assert_uint_eq(memory_at(0), BYTES);
    fixture_ok(cc_image_evict(image, 0));
    ck_assert_uint_eq(memory_at(0), 0);
    ck_assert_uint_eq(fixture_counters(image).device_to_host_bytes, SIZE * 4);
    const cc_region rest = region_at(0, 4, SIZE, 12);
    byte_pixels_expect_host(image, &part, 2);
    byte_pixels_expect_host(image, &rest, 1);
    ck_assert_uint_eq(fixture_counters(image).device_to_host_copies, 1);
    byte_pixels_expect_device(image, &part, 2, CC_STREAM_DEFAULT);
    ck_assert_uint_eq(fixture_counters(image).device_allocations, 2);
}
END_TEST

START_TEST(what_only_the_host_has_goes_to_the_device)
{
    byte_pixels_write_host(image, NULL, 1);
    if (fixture_device_count() == 0) {
        expect_failure(CC_ERROR_NO_DEVICE, "place = host", cc_image_evict(image, CC_PLACE_HOST));
        ck_assert_uint_eq(memory_at(CC_PLACE_HOST), BYTES);
        byte_pixels_expect_host(image, NULL, 1);
        return;
    }
    fixture_ok(cc_image_evict(image, CC_PLACE_HOST));
    ck_assert_uint_eq(memory_at(CC_PLACE_HOST), 0);
    ck_assert_uint_eq(memory_at(0), BYTES);
    byte_pixels_expect_device(image, NULL, 1, CC_STREAM_DEFAULT);
    byte_pixels_expect_host(image, NULL, 1);
}
END_TEST

START_TEST(what_others_have_is_just_dropped)
{
    if (fixture_device_count() == 0)
        return;
    byte_pixels_write_host(image, NULL, 1);
    byte_pixels_expect_device(image, NULL, 1, CC_STREAM_DEFAULT);
    const cc_counters before = fixture_counters(image);
    fixture_ok(cc_image_evict(image, 0));
    fixture_ok(cc_image_evict(image, 0));
    cc_counters after = fixture_counters(image);
    ck_assert_uint_eq(after.device_to_host_copies, before.device_to_host_copies);
    ck_assert_uint_eq(after.host_to_device_copies, before.host_to_device_copies);
    byte_pixels_expect_device(image, NULL, 1, CC_STREAM_DEFAULT);
    fixture_ok(cc_image_evict(image, CC_PLACE_HOST));
    ck_assert_uint_eq(memory_at(CC_PLACE_HOST), 0);
    after = fixture_counters(image);
    ck_assert_uint_eq(after.host_to_device_copies, before.host_to_device_copies + 1);
    byte_pixels_expect_host(image, NULL, 1);
}
END_TEST

/* The fill value is known, and pixels that nobody wrote are nobody's: neither needs a place. */
START_TEST(constants_and_undefined_pixels_go_nowhere)
{
    const unsigned char value = 9;
    byte_pixels_expect_host(image, NULL, 0);
    fixture_ok(cc_image_evict(image, CC_PLACE_HOST));
    ck_assert_uint_eq(memory_at(CC_PLACE_HOST), 0);
    fixture_ok(cc_image_fill(image, NULL, &value, CC_STREAM_DEFAULT));
    byte_pixels_expect_host(image, NULL, 9);
    fixture_ok(cc_image_evict(image, CC_PLACE_HOST));
    byte_pixels_expect_host(image, NULL, 9);

    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    const cc_region part = region_at(0, 0, 4, 4);
    cc_image *undefined = NULL;
    void *pixels = NULL;
    params.dimension = 2;
    params.pixel_type = CC_PIXEL_UINT8;
    params.flags = CC_IMAGE_UNINITIALIZED;
    params.region = region_at(0, 0, SIZE, SIZE);
    fixture_ok(cc_image_create(&params, &undefined));
    if (fixture_device_count() > 0) {
        byte_pixels_write_device(undefined, &part, 5, CC_STREAM_DEFAULT);
        fixture_ok(cc_image_evict(undefined, cc_image_get_device(undefined)));
        ck_assert_uint_eq(fixture_counters(undefined).device_to_host_bytes, 16);
        byte_pixels_expect_host(undefined, &part, 5);
        expect_failure(CC_ERROR_UNINITIALIZED, "", cc_image_map_host(undefined, NULL, CC_ACCESS_READ, &pixels));
    }
    cc_image_release(undefined);
}
END_TEST

START_TEST(lent_pixels_are_not_evicted)
{
    const cc_region part = region_at(0, 0, 1, 1);
    void *pixels = NULL;
    byte_pixels_write_host(image, NULL, 1);
    fixture_ok(cc_image_map_host(image, &part, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_BUSY, "place = -1", cc_image_evict(image, CC_PLACE_HOST));
    if (fixture_device_count() > 0) {
        /* A reader elsewhere does not matter, a writer does. */
        byte_pixels_expect_device(image, NULL, 1, CC_STREAM_DEFAULT);
        fixture_ok(cc_image_evict(image, 0));
        byte_pixels_expect_device(image, NULL, 1, CC_STREAM_DEFAULT);
        fixture_ok(cc_image_unmap_host(image, pixels));
        fixture_ok(cc_image_map_host(image, &part, CC_ACCESS_WRITE, &pixels));
        *(unsigned char *)pixels = 1;
        expect_failure(CC_ERROR_BUSY, "place = 0", cc_image_evict(image, 0));
    }
    fixture_ok(cc_image_unmap_host(image, pixels));
    byte_pixels_expect_host(image, NULL, 1);
}
END_TEST

START_TEST(wrapped_memory_is_not_freed)
{
    unsigned char memory[BYTES];
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    memset(memory, 4, sizeof memory);
    params.flags = CC_WRAP_BORROWED;
    params.data = memory;
    params.size_bytes = BYTES;
    fixture_ok(cc_image_wrap_host(image, &params));
    fixture_ok(cc_image_evict(image, CC_PLACE_HOST));
    ck_assert_uint_eq(memory_at(CC_PLACE_HOST), BYTES);
    byte_pixels_write_host(image, NULL, 5);
    ck_assert_int_eq(memory[BYTES - 1], 5);
    if (fixture_device_count() > 0) {
        byte_pixels_write_device(image, NULL, 6, CC_STREAM_DEFAULT);
        fixture_ok(cc_image_evict(image, 0));
        ck_assert_int_eq(memory[0], 6);
    }
}
END_TEST

START_TEST(a_failed_eviction_loses_nothing)
{
    const faulty_rule no_copy = {FAULTY_COPY, 1, false, CC_ERROR_DEVICE, 999};
    if (fixture_device_count() == 0)
        return;
    byte_pixels_write_device(image, NULL, 3, CC_STREAM_DEFAULT);
    faulty_backend_add_rule(fixture_backend, &no_copy);
    expect_passed_on(CC_ERROR_DEVICE, cc_image_evict(image, 0));
    ck_assert_uint_eq(memory_at(0), BYTES);
    cc_status status = CC_ERROR_OUT_OF_HOST_MEMORY;
    for (long nth = 1; status != CC_OK; ++nth) {
        ck_assert(expect_is_out_of_memory(status));
        expect_allocations_to_fail_from(nth);
        status = cc_image_evict(image, 0);
        cc__allocate_set_hook(NULL);
    }
    ck_assert_uint_eq(memory_at(0), 0);
    byte_pixels_expect_host(image, NULL, 3);
}
END_TEST

START_TEST(a_full_device_takes_nothing_from_the_host)
{
    if (!fixture_is_emulated())
        return;
    byte_pixels_write_host(image, NULL, 2);
    cc__emulated_set_memory_limit(fixture_inner, BYTES - 1);
    expect_passed_on(CC_ERROR_OUT_OF_DEVICE_MEMORY, cc_image_evict(image, CC_PLACE_HOST));
    byte_pixels_expect_host(image, NULL, 2);
    cc__emulated_set_memory_limit(fixture_inner, 0);
    fixture_ok(cc_image_evict(image, CC_PLACE_HOST));
    byte_pixels_expect_host(image, NULL, 2);
}
END_TEST

START_TEST(a_view_evicts_for_all)
{
    const cc_region part = region_at(0, 0, 2, 2);
    cc_image *view = NULL;
    if (fixture_device_count() == 0)
        return;
    fixture_ok(cc_image_create_view(image, &part, &view));
    byte_pixels_write_device(image, NULL, 8, CC_STREAM_DEFAULT);
    fixture_ok(cc_image_evict(view, 0));
    ck_assert_uint_eq(memory_at(0), 0);
    byte_pixels_expect_host(image, NULL, 8);
    cc_image_release(view);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("prefetch_evict");
    TCase *tcase = tcase_create("prefetch_evict");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, prefetch_checks_its_arguments);
    tcase_add_test(tcase, prefetch_to_the_host_fills);
    tcase_add_test(tcase, what_was_prefetched_is_not_moved_again);
    tcase_add_test(tcase, what_is_on_its_way_is_waited_for);
    tcase_add_test(tcase, prefetch_is_refused_while_somebody_writes);
    tcase_add_test(tcase, a_failed_prefetch_changes_nothing);
    tcase_add_test(tcase, evict_checks_its_arguments);
    tcase_add_test(tcase, what_only_a_device_has_goes_to_the_host);
    tcase_add_test(tcase, what_only_the_host_has_goes_to_the_device);
    tcase_add_test(tcase, what_others_have_is_just_dropped);
    tcase_add_test(tcase, constants_and_undefined_pixels_go_nowhere);
    tcase_add_test(tcase, lent_pixels_are_not_evicted);
    tcase_add_test(tcase, wrapped_memory_is_not_freed);
    tcase_add_test(tcase, a_failed_eviction_loses_nothing);
    tcase_add_test(tcase, a_full_device_takes_nothing_from_the_host);
    tcase_add_test(tcase, a_view_evicts_for_all);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
