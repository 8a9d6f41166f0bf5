/* What an image says of its pixels: where they are, and what they have cost. Asking changes nothing. */
#include "base/allocate.h"
#include "data_manager/internal.h"
#include "support/byte_pixels.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

#define SIZE_I 8
#define SIZE_J 6
#define PIXELS (SIZE_I * SIZE_J)

static cc_image *image; /* of int16, from (100, -50) */
static cc_image *bytes; /* from (0, 0) */

static void set_up(void)
{
    const int64_t index[CC_MAX_DIMENSION] = {100, -50, 0, 0};
    fixture_setup();
    image = fixture_image(CC_PIXEL_INT16, 1, 2, SIZE_I, SIZE_J, 1);
    bytes = fixture_image(CC_PIXEL_UINT8, 1, 2, SIZE_I, SIZE_J, 1);
    fixture_ok(cc_image_set_index(image, index));
}

static void tear_down(void)
{
    cc_image_release(image);
    cc_image_release(bytes);
    fixture_teardown();
}

static cc_place_state state_of(cc_image *of, cc_place place)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(of, place, &state));
    ck_assert_uint_eq(state.struct_size, sizeof state);
    return state;
}

static int32_t count_valid(cc_image *of, cc_place place)
{
    int32_t count = -1;
    fixture_ok(cc_image_get_valid_regions(of, place, 0, NULL, &count));
    return count;
}

START_TEST(a_new_image_is_nowhere)
{
    static const cc_place places[] = {CC_PLACE_HOST, 0, 60, 61, 62, 63, 64, INT32_MAX};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i) {
        const cc_place_state state = state_of(image, places[i]);
        ck_assert_uint_eq(state.memory_bytes, 0);
        ck_assert_int_eq(state.mapping_count, 0);
        ck_assert_int_eq(state.valid_pixels, 0);
        ck_assert_int_eq(state.constant_pixels, PIXELS);
        ck_assert_int_eq(count_valid(image, places[i]), 0);
    }
    const cc_counters counters = fixture_counters(image), none = {.struct_size = sizeof none};
    ck_assert_mem_eq(&counters, &none, sizeof none);
}
END_TEST

START_TEST(what_is_written_is_valid_there_and_nowhere_else)
{
    const cc_region part = region_at(102, -49, 3, 2);
    cc_region regions[4];
    int32_t count = -1;
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, &part, CC_ACCESS_WRITE, &pixels));
    ck_assert_int_eq(state_of(image, CC_PLACE_HOST).mapping_count, 1);
    ck_assert_int_eq(state_of(image, 0).mapping_count, 0);
    fixture_ok(cc_image_unmap_host(image, pixels));
    const cc_place_state host = state_of(image, CC_PLACE_HOST);
    ck_assert_uint_eq(host.memory_bytes, PIXELS * 2);
    ck_assert_int_eq(host.mapping_count, 0);
    ck_assert_int_eq(host.valid_pixels, 6);
    ck_assert_int_eq(host.constant_pixels, PIXELS - 6);
    ck_assert_int_eq(state_of(image, 0).valid_pixels, 0);
    fixture_ok(cc_image_get_valid_regions(image, CC_PLACE_HOST, 4, regions, &count));
    ck_assert_int_eq(count, 1);
    ck_assert_mem_eq(&regions[0], &part, sizeof part);
}
END_TEST

START_TEST(regions_are_in_the_images_own_indices)
{
    const cc_region part = region_at(102, -49, 3, 2), view_region = region_at(103, -50, 4, 6);
    const int64_t index[CC_MAX_DIMENSION] = {0, INT64_MIN, 0, 0};
    cc_image *view = NULL;
    cc_region region;
    int32_t count = -1;
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, &part, CC_ACCESS_WRITE, &pixels));
    fixture_ok(cc_image_unmap_host(image, pixels));
    fixture_ok(cc_image_create_view(image, &view_region, &view));
    fixture_ok(cc_image_get_valid_regions(view, CC_PLACE_HOST, 1, &region, &count));
    const cc_region inside = region_at(103, -49, 2, 2);
    ck_assert_int_eq(count, 1);
    ck_assert_mem_eq(&region, &inside, sizeof inside);
    fixture_ok(cc_image_set_index(view, index));
    fixture_ok(cc_image_get_valid_regions(view, CC_PLACE_HOST, 1, &region, &count));
    const cc_region moved = region_at(0, INT64_MIN + 1, 2, 2);
    ck_assert_mem_eq(&region, &moved, sizeof moved);
    ck_assert_int_eq(state_of(view, CC_PLACE_HOST).valid_pixels, 4);
    ck_assert_int_eq(state_of(view, CC_PLACE_HOST).constant_pixels, 4 * 6 - 4);
    ck_assert_uint_eq(state_of(view, CC_PLACE_HOST).memory_bytes, PIXELS * 2);
    cc_image_release(view);
}
END_TEST

/* The regions are disjoint, and their pixels are as many as the state says. */
START_TEST(regions_cover_what_is_valid_once)
{
    int32_t valid[SIZE_J][SIZE_I] = {{0}};
    cc_region regions[PIXELS];
    int32_t count = -1;
    for (int64_t j = 0; j < SIZE_J; ++j) {
        for (int64_t i = (j * 5) % 3; i < SIZE_I; i += 3) {
            const cc_region pixel = region_at(i, j, 1, 1);
            byte_pixels_write_host(bytes, &pixel, 1);
            valid[j][i] = 1;
        }
    }
    fixture_ok(cc_image_get_valid_regions(bytes, CC_PLACE_HOST, PIXELS, regions, &count));
    int64_t pixels = 0;
    for (int32_t at = 0; at < count; ++at) {
        for (int64_t j = regions[at].index[1]; j < regions[at].index[1] + regions[at].size[1]; ++j) {
            for (int64_t i = regions[at].index[0]; i < regions[at].index[0] + regions[at].size[0]; ++i) {
                ck_assert_int_eq(valid[j][i], 1);
                valid[j][i] = 2;
                ++pixels;
            }
        }
    }
    for (int32_t at = 0; at < PIXELS; ++at)
        ck_assert_int_ne(valid[at / SIZE_I][at % SIZE_I], 1);
    ck_assert_int_eq(state_of(bytes, CC_PLACE_HOST).valid_pixels, pixels);
}
END_TEST

START_TEST(there_may_be_more_regions_than_room)
{
    const cc_region pixels[] = {region_at(0, 0, 1, 1), region_at(2, 2, 1, 1), region_at(4, 4, 1, 1)};
    cc_region regions[3];
    const cc_region sentinel = region_at(77, 77, 77, 77);
    int32_t count = -1;
    for (int32_t i = 0; i < 3; ++i)
        byte_pixels_write_host(bytes, &pixels[i], 1);
    for (int32_t capacity = 0; capacity <= 3; ++capacity) {
        for (int32_t i = 0; i < 3; ++i)
            regions[i] = sentinel;
        fixture_ok(cc_image_get_valid_regions(bytes, CC_PLACE_HOST, capacity, regions, &count));
        ck_assert_int_eq(count, 3);
        for (int32_t i = 0; i < 3; ++i)
            ck_assert_int_eq(regions[i].index[0] == 77, i >= capacity);
    }
}
END_TEST

START_TEST(bad_questions_are_refused)
{
    cc_place_state state = CC_PLACE_STATE_INIT, before = state;
    cc_counters counters = CC_COUNTERS_INIT;
    cc_region region;
    int32_t count = -5;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_get_place_state(NULL, 0, &state));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_state", cc_image_get_place_state(image, 0, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "place = -2", cc_image_get_place_state(image, CC_DEVICE_CURRENT, &state));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "place", cc_image_get_place_state(image, INT32_MIN, &state));
    ck_assert_mem_eq(&state, &before, sizeof state);
    state.struct_size = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size = 0", cc_image_get_place_state(image, 0, &state));

    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_get_counters(NULL, &counters));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_counters", cc_image_get_counters(image, NULL));
    counters.struct_size = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size = 0", cc_image_get_counters(image, &counters));

    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_get_valid_regions(NULL, 0, 1, &region, &count));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "place = -2",
                   cc_image_get_valid_regions(image, CC_DEVICE_CURRENT, 1, &region, &count));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "capacity = -1",
                   cc_image_get_valid_regions(image, 0, -1, &region, &count));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_regions", cc_image_get_valid_regions(image, 0, 1, NULL, &count));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_count", cc_image_get_valid_regions(image, 0, 1, &region, NULL));
    byte_pixels_write_host(bytes, NULL, 1);
    expect_allocations_to_fail_from(1);
    expect_failure(CC_ERROR_OUT_OF_HOST_MEMORY, "",
                   cc_image_get_valid_regions(bytes, CC_PLACE_HOST, 1, &region, &count));
    cc__allocate_set_hook(NULL);
    ck_assert_int_eq(count, -5);
}
END_TEST

/* Structs of programs compiled against another version: filled as far as they go, and no further. */
START_TEST(shorter_and_longer_structs)
{
    struct {
        cc_counters known;
        uint64_t later;
    } longer = {.known = CC_COUNTERS_INIT, .later = 0x7777};
    byte_pixels_write_host(bytes, NULL, 1);
    longer.known.struct_size = sizeof longer;
    fixture_ok(cc_image_get_counters(bytes, &longer.known));
    ck_assert_uint_eq(longer.known.struct_size, sizeof longer);
    ck_assert_uint_eq(longer.known.host_allocations, 1);
    ck_assert_uint_eq(longer.later, 0x7777);

    for (size_t size = sizeof(uint32_t); size <= sizeof(cc_place_state); ++size) {
        cc_place_state *state = expect_short_struct(size);
        state->struct_size = (uint32_t)size;
        fixture_ok(cc_image_get_place_state(bytes, CC_PLACE_HOST, state));
        ck_assert_uint_eq(state->struct_size, size);
        if (size >= offsetof(cc_place_state, constant_pixels))
            ck_assert_int_eq(state->valid_pixels, PIXELS);
        free(state);
    }
    const size_t enough = offsetof(cc_counters, device_to_host_copies);
    cc_counters *shorter = expect_short_struct(enough);
    shorter->struct_size = (uint32_t)enough;
    fixture_ok(cc_image_get_counters(bytes, shorter));
    ck_assert_uint_eq(shorter->host_to_device_bytes, 0);
    free(shorter);
}
END_TEST

/* Scattered writes cut the image up; before there are too many pieces, the next access makes it whole. */
START_TEST(pieces_do_not_pile_up)
{
    const int32_t before = cc__cells_before_tidying;
    cc__cells_before_tidying = 16;
    for (int64_t at = 0; at < PIXELS; at += 2) {
        const cc_region pixel = region_at((at + at / SIZE_I % 2) % SIZE_I, at / SIZE_I, 1, 1);
        byte_pixels_write_host(bytes, &pixel, (unsigned char)at);
        /* Each write adds four pieces at most. */
        ck_assert_int_le(count_valid(bytes, CC_PLACE_HOST), 16 + 4);
    }
    for (int64_t at = 0; at < PIXELS; ++at) {
        const cc_region pixel = region_at(at % SIZE_I, at / SIZE_I, 1, 1);
        const bool was_written = (at + at / SIZE_I) % 2 == 0;
        byte_pixels_expect_host(bytes, &pixel, was_written ? (unsigned char)(at / 2 * 2) : 0);
    }
    cc__cells_before_tidying = before;
}
END_TEST

START_TEST(every_copy_is_counted)
{
    if (fixture_device_count() == 0)
        return;
    const cc_region part = region_at(0, 0, SIZE_I, 2), pixel = region_at(3, 1, 1, 1);
    byte_pixels_write_host(bytes, NULL, 1);
    byte_pixels_expect_device(bytes, &part, 1, CC_STREAM_DEFAULT);
    byte_pixels_write_device(bytes, &part, 2, CC_STREAM_DEFAULT);
    byte_pixels_expect_host(bytes, &pixel, 2);
    byte_pixels_expect_host(bytes, &pixel, 2);
    const cc_counters counters = fixture_counters(bytes);
    ck_assert_uint_eq(counters.host_to_device_copies, 1);
    ck_assert_uint_eq(counters.host_to_device_bytes, 16);
    ck_assert_uint_eq(counters.device_to_host_copies, 1);
    ck_assert_uint_eq(counters.device_to_host_bytes, 1);
    ck_assert_uint_eq(counters.device_to_device_copies, 0);
    ck_assert_uint_eq(counters.host_allocations, 1);
    ck_assert_uint_eq(counters.device_allocations, 1);
    ck_assert_uint_eq(counters.fills, 0);
    /* The write on the host and that on the device needed no old content; the second look at a pixel had it. */
    ck_assert_uint_eq(counters.avoided_copies, 3);
    ck_assert_uint_eq(counters.avoided_bytes, PIXELS + 16 + 1);
    const faulty_counts counts = faulty_backend_counts(fixture_backend);
    ck_assert_int_eq(counts.host_to_device_bytes, 16);
    ck_assert_int_eq(counts.device_to_host_bytes, 1);
}
END_TEST

START_TEST(the_part_that_is_there_already_is_avoided)
{
    if (fixture_device_count() == 0)
        return;
    const cc_region half = region_at(0, 0, SIZE_I, SIZE_J / 2);
    byte_pixels_write_host(bytes, NULL, 1);
    byte_pixels_expect_device(bytes, &half, 1, CC_STREAM_DEFAULT);
    byte_pixels_expect_device(bytes, NULL, 1, CC_STREAM_DEFAULT);
    const cc_counters counters = fixture_counters(bytes);
    ck_assert_uint_eq(counters.host_to_device_copies, 2);
    ck_assert_uint_eq(counters.host_to_device_bytes, PIXELS);
    ck_assert_uint_eq(counters.avoided_copies, 1);
    ck_assert_uint_eq(counters.avoided_bytes, PIXELS + PIXELS / 2);
}
END_TEST

START_TEST(all_that_share_pixels_share_the_counters)
{
    cc_image *view = NULL;
    const cc_region part = region_at(0, 0, 2, 2);
    fixture_ok(cc_image_create_view(bytes, &part, &view));
    byte_pixels_write_host(view, NULL, 1);
    const cc_counters ours = fixture_counters(bytes), views = fixture_counters(view);
    ck_assert_mem_eq(&ours, &views, sizeof ours);
    ck_assert_uint_eq(ours.host_allocations, 1);
    cc_image_release(view);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("state");
    TCase *tcase = tcase_create("state");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_new_image_is_nowhere);
    tcase_add_test(tcase, what_is_written_is_valid_there_and_nowhere_else);
    tcase_add_test(tcase, regions_are_in_the_images_own_indices);
    tcase_add_test(tcase, regions_cover_what_is_valid_once);
    tcase_add_test(tcase, there_may_be_more_regions_than_room);
    tcase_add_test(tcase, bad_questions_are_refused);
    tcase_add_test(tcase, shorter_and_longer_structs);
    tcase_add_test(tcase, pieces_do_not_pile_up);
    tcase_add_test(tcase, every_copy_is_counted);
    tcase_add_test(tcase, the_part_that_is_there_already_is_avoided);
    tcase_add_test(tcase, all_that_share_pixels_share_the_counters);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
