/* Lending pixels: arguments, who excludes whom, and giving back. What streams add is in test_access_device.c. */
#include "base/allocate.h"
#include "support/byte_pixels.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static cc_image *image; /* 10 x 8 bytes from (-3, 4) */

static void set_up(void)
{
    const int64_t index[CC_MAX_DIMENSION] = {-3, 4, 0, 0};
    fixture_setup();
    image = fixture_image(CC_PIXEL_UINT8, 1, 2, 10, 8, 1);
    fixture_ok(cc_image_set_index(image, index));
}

static void tear_down(void)
{
    cc_image_release(image);
    fixture_teardown();
}

static cc_image *undefined_image(void)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *undefined = NULL;
    params.dimension = 2;
    params.pixel_type = CC_PIXEL_UINT8;
    params.flags = CC_IMAGE_UNINITIALIZED;
    params.region = region_at(0, 0, 10, 8);
    fixture_ok(cc_image_create(&params, &undefined));
    return undefined;
}

static void *must_map(const cc_region *region, cc_access access)
{
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, region, access, &pixels));
    ck_assert_ptr_nonnull(pixels);
    return pixels;
}

static int32_t mapping_count(cc_place place)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(image, place, &state));
    return state.mapping_count;
}

START_TEST(arguments_are_checked)
{
    const cc_region negative = region_at(-3, 4, 1, -1), outside = region_at(-4, 4, 1, 1),
                    too_long = region_at(6, 4, 2, 1);
    void *pixels = &image;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_map_host(NULL, NULL, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_pixels", cc_image_map_host(image, NULL, CC_ACCESS_READ, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "access = 3", cc_image_map_host(image, NULL, (cc_access)3, &pixels));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "size[1] = -1",
                   cc_image_map_host(image, &negative, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_REGION, "index[0] = -4", cc_image_map_host(image, &outside, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_REGION, "size[0] = 2", cc_image_map_host(image, &too_long, CC_ACCESS_WRITE, &pixels));

    const cc_stream stream = CC_STREAM_DEFAULT;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image",
                   cc_image_map_device(NULL, NULL, CC_ACCESS_READ, stream, &pixels));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_pixels",
                   cc_image_map_device(image, NULL, CC_ACCESS_READ, stream, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "access = 3",
                   cc_image_map_device(image, NULL, (cc_access)3, stream, &pixels));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "size[1] = -1",
                   cc_image_map_device(image, &negative, CC_ACCESS_READ, stream, &pixels));
    expect_failure(CC_ERROR_REGION, "index[0] = -4",
                   cc_image_map_device(image, &outside, CC_ACCESS_READ, stream, &pixels));
    ck_assert_ptr_eq(pixels, &image);
    ck_assert_int_eq(mapping_count(CC_PLACE_HOST), 0);
}
END_TEST

START_TEST(an_empty_region_needs_nothing)
{
    const cc_region empty = region_at(0, 5, 0, 3), at_the_end = region_at(7, 12, 0, 0);
    void *pixels = &image;
    fixture_ok(cc_image_map_host(image, &empty, CC_ACCESS_READ_WRITE, &pixels));
    ck_assert_ptr_null(pixels);
    fixture_ok(cc_image_unmap_host(image, pixels));
    pixels = &image;
    fixture_ok(cc_image_map_device(image, &at_the_end, CC_ACCESS_WRITE, CC_STREAM_DEFAULT, &pixels));
    ck_assert_ptr_null(pixels);
    fixture_ok(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
    ck_assert_uint_eq(fixture_counters(image).host_allocations, 0);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).total_calls, 0);
}
END_TEST

START_TEST(pixels_are_where_strides_say)
{
    const cc_region pixel = region_at(2, 9, 1, 1);
    unsigned char *first = must_map(NULL, CC_ACCESS_READ);
    unsigned char *inner = must_map(&pixel, CC_ACCESS_READ);
    ck_assert_int_eq(inner - first, 5 * 10 + 5);
    fixture_ok(cc_image_unmap_host(image, inner));
    fixture_ok(cc_image_unmap_host(image, first));
}
END_TEST

/* 3 x 3 accesses of overlapping and of disjoint regions, on the host and between the host and a device. */
START_TEST(many_readers_or_one_writer)
{
    const cc_region held_region = region_at(0, 6, 4, 3);
    const cc_region overlapping = region_at(3, 8, 4, 4), beside = region_at(4, 6, 3, 3), below = region_at(0, 9, 4, 3);
    const int32_t sides = fixture_device_count() > 0 ? 2 : 1;
    for (int32_t side = 0; side < 2 * sides; ++side) {
        const bool held_on_device = side >= 2, asked_on_device = sides > 1 && side % 2 == 1;
        for (int32_t combination = 0; combination < 9; ++combination) {
            const cc_access held = (cc_access)(combination / 3), asked = (cc_access)(combination % 3);
            const bool excludes = held != CC_ACCESS_READ || asked != CC_ACCESS_READ;
            /* Once more when others have come and gone. */
            const cc_region *regions[] = {&overlapping, &beside, &below, &overlapping};
            void *holder = NULL;
            byte_pixels_write_host(image, NULL, 1); /* so that the host has all of them */
            fixture_ok(held_on_device ? cc_image_map_device(image, &held_region, held, CC_STREAM_DEFAULT, &holder)
                                      : cc_image_map_host(image, &held_region, held, &holder));
            for (int32_t i = 0; i < 4; ++i) {
                const cc_status expected = i % 3 == 0 && excludes ? CC_ERROR_BUSY : CC_OK;
                void *pixels = &image;
                fixture_expect(expected, asked_on_device
                                             ? cc_image_map_device(image, regions[i], asked, CC_STREAM_DEFAULT, &pixels)
                                             : cc_image_map_host(image, regions[i], asked, &pixels));
                if (expected != CC_OK)
                    ck_assert_ptr_eq(pixels, &image);
                else
                    fixture_ok(asked_on_device ? cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT)
                                               : cc_image_unmap_host(image, pixels));
            }
            fixture_ok(held_on_device ? cc_image_unmap_device(image, holder, CC_STREAM_DEFAULT)
                                      : cc_image_unmap_host(image, holder));
        }
    }
}
END_TEST

START_TEST(the_message_says_who_excludes)
{
    void *refused = NULL;
    void *pixels = must_map(NULL, CC_ACCESS_READ);
    expect_failure(CC_ERROR_BUSY, "read on the host", cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &refused));
    fixture_ok(cc_image_unmap_host(image, pixels));
    pixels = must_map(NULL, CC_ACCESS_WRITE);
    expect_failure(CC_ERROR_BUSY, "pixels of the region are being written on the host by cc_image_map_host; unmap",
                   cc_image_map_host(image, NULL, CC_ACCESS_READ, &refused));
    fixture_ok(cc_image_set_label(image, "chest"));
    expect_failure(CC_ERROR_BUSY, "pixels of \"chest\" are", cc_image_add_value(image, 1, image, CC_STREAM_DEFAULT));
    fixture_ok(cc_image_unmap_host(image, pixels));
}
END_TEST

START_TEST(readers_that_start_together_end_one_by_one)
{
    const cc_region small = region_at(-3, 4, 2, 2);
    void *refused = NULL;
    void *first = must_map(NULL, CC_ACCESS_READ);
    void *second = must_map(&small, CC_ACCESS_READ);
    ck_assert_ptr_eq(first, second);
    ck_assert_int_eq(mapping_count(CC_PLACE_HOST), 2);
    fixture_ok(cc_image_unmap_host(image, first));
    ck_assert_int_eq(mapping_count(CC_PLACE_HOST), 1);
    /* Which of the two has ended cannot be told, so both regions stay lent. */
    const cc_region far_away = region_at(6, 11, 1, 1);
    expect_failure(CC_ERROR_BUSY, "", cc_image_map_host(image, &far_away, CC_ACCESS_WRITE, &refused));
    fixture_ok(cc_image_unmap_host(image, second));
    ck_assert_int_eq(mapping_count(CC_PLACE_HOST), 0);
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "pixels", cc_image_unmap_host(image, first));
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &refused));
    fixture_ok(cc_image_unmap_host(image, refused));
}
END_TEST

/* A row and a column from the same pixel: what neither has is free. */
START_TEST(readers_that_start_together_lend_only_their_regions)
{
    const cc_region row = region_at(-3, 4, 10, 1), column = region_at(-3, 4, 1, 8), corner = region_at(6, 11, 1, 1);
    void *first = must_map(&row, CC_ACCESS_READ);
    void *second = must_map(&column, CC_ACCESS_READ);
    void *third = NULL;
    fixture_ok(cc_image_map_host(image, &corner, CC_ACCESS_WRITE, &third));
    fixture_ok(cc_image_unmap_host(image, third));
    fixture_ok(cc_image_unmap_host(image, first));
    fixture_ok(cc_image_unmap_host(image, second));
}
END_TEST

START_TEST(only_what_was_mapped_is_unmapped)
{
    unsigned char *pixels = must_map(NULL, CC_ACCESS_READ_WRITE);
    cc_image *other = fixture_image(CC_PIXEL_UINT8, 1, 1, 4, 1, 1);
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_unmap_host(NULL, pixels));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_unmap_device(NULL, pixels, CC_STREAM_DEFAULT));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "pixels", cc_image_unmap_host(image, pixels + 1));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "pixels", cc_image_unmap_host(other, pixels));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "pixels", cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
    fixture_ok(cc_image_unmap_host(image, NULL));
    fixture_ok(cc_image_unmap_device(image, NULL, CC_STREAM_DEFAULT));
    ck_assert_int_eq(mapping_count(CC_PLACE_HOST), 1);
    fixture_ok(cc_image_unmap_host(image, pixels));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "pixels", cc_image_unmap_host(image, pixels));
    cc_image_release(other);
}
END_TEST

START_TEST(pixels_that_nobody_wrote_are_not_read)
{
    const cc_region left = region_at(0, 0, 5, 8), more = region_at(0, 0, 6, 8);
    cc_image *undefined = undefined_image();
    void *pixels = &image;
    expect_failure(CC_ERROR_UNINITIALIZED, "", cc_image_map_host(undefined, NULL, CC_ACCESS_READ, &pixels));
    expect_failure(CC_ERROR_UNINITIALIZED, "", cc_image_map_host(undefined, NULL, CC_ACCESS_READ_WRITE, &pixels));
    fixture_ok(cc_image_set_label(undefined, "fresh"));
    expect_failure(CC_ERROR_UNINITIALIZED, "\"fresh\" has pixels", cc_image_prefetch(undefined, NULL, CC_PLACE_HOST));
    fixture_ok(cc_image_set_label(undefined, NULL));
    expect_failure(CC_ERROR_UNINITIALIZED, "the region has pixels",
                   cc_image_add_value(undefined, 1, undefined, CC_STREAM_DEFAULT));
    ck_assert_ptr_eq(pixels, &image);
    ck_assert_uint_eq(fixture_counters(undefined).host_allocations, 0);
    byte_pixels_write_host(undefined, &left, 6);
    byte_pixels_expect_host(undefined, &left, 6);
    expect_failure(CC_ERROR_UNINITIALIZED, "", cc_image_map_host(undefined, &more, CC_ACCESS_READ, &pixels));
    byte_pixels_write_host(undefined, NULL, 7);
    byte_pixels_expect_host(undefined, NULL, 7);
    cc_image_release(undefined);
}
END_TEST

/* Twice: the image is as it was, and can be used when memory is back. */
START_TEST(no_memory_changes_nothing)
{
    byte_pixels_write_host(image, NULL, 5);
    const cc_region region = region_at(0, 5, 3, 3);
    for (int32_t access = CC_ACCESS_READ; access <= CC_ACCESS_READ_WRITE; ++access) {
        cc_status status = CC_ERROR_OUT_OF_HOST_MEMORY;
        void *pixels = NULL;
        for (long nth = 1; status != CC_OK; ++nth) {
            pixels = &image;
            expect_allocations_to_fail_from(nth);
            status = cc_image_map_host(image, &region, (cc_access)access, &pixels);
            cc__allocate_set_hook(NULL);
            if (status == CC_OK)
                break;
            ck_assert_int_eq(status, CC_ERROR_OUT_OF_HOST_MEMORY);
            ck_assert_ptr_eq(pixels, &image);
            ck_assert_int_eq(mapping_count(CC_PLACE_HOST), 0);
            byte_pixels_expect_host(image, NULL, 5);
        }
        byte_pixels_set(pixels, &region, (const int64_t[CC_MAX_DIMENSION]){1, 10, 80, 80}, 5);
        fixture_ok(cc_image_unmap_host(image, pixels));
        byte_pixels_expect_host(image, NULL, 5);
    }
}
END_TEST

START_TEST(the_generation_numbers_the_contents)
{
    const unsigned char value = 1;
    const cc_region part = region_at(0, 5, 1, 1);
    uint64_t generation = cc_image_get_generation(image);
    cc_image *view = NULL;
    fixture_ok(cc_image_create_view(image, &part, &view));
    ck_assert_uint_eq(cc_image_get_generation(view), generation);
    byte_pixels_expect_host(image, NULL, 0);
    fixture_ok(cc_image_prefetch(image, NULL, CC_PLACE_HOST));
    ck_assert_uint_eq(cc_image_get_generation(image), generation);
    for (int32_t step = 0; step < 5; ++step) {
        switch (step) {
        case 0:
            byte_pixels_write_host(image, &part, 1);
            break;
        case 1:
            byte_pixels_write_host(view, NULL, 1);
            break;
        case 2:
            fixture_ok(cc_image_fill(image, NULL, &value, CC_STREAM_DEFAULT));
            break;
        case 3:
            fixture_ok(cc_image_fill(view, NULL, &value, CC_STREAM_DEFAULT));
            break;
        case 4:
            fixture_ok(cc_image_rescale(image, 1, 0, image, CC_STREAM_DEFAULT));
            break;
        }
        ck_assert_msg(cc_image_get_generation(image) > generation, "step %d", step);
        generation = cc_image_get_generation(image);
        ck_assert_uint_eq(cc_image_get_generation(view), generation);
    }
    cc_image_release(view);
    ck_assert_uint_ne(cc_image_get_generation(image), 0);
}
END_TEST

static pthread_barrier_t barrier;

typedef struct worker {
    cc_region region;
    cc_access access;
    unsigned char value;
    int64_t wrong;
    cc_status status;
} worker;

static void *work(void *argument)
{
    worker *self = argument;
    pthread_barrier_wait(&barrier);
    for (int32_t round = 0; round < 200 && self->status == CC_OK; ++round) {
        void *pixels = NULL;
        self->status = cc_image_map_host(image, &self->region, self->access, &pixels);
        if (self->status != CC_OK)
            break;
        unsigned char *bytes = pixels;
        self->wrong += *bytes != self->value;
        if (self->access != CC_ACCESS_READ)
            *bytes = ++self->value;
        self->status = cc_image_unmap_host(image, pixels);
    }
    return NULL;
}

START_TEST(threads_lend_from_one_image)
{
    worker workers[8];
    pthread_t threads[8];
    ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, 8), 0);
    for (int32_t i = 0; i < 8; ++i) {
        /* Four readers of the same rows, four writers of a row each. */
        workers[i] = (worker){.region = i < 4 ? region_at(-3, 4, 10, 4) : region_at(-3, 4 + i, 10, 1),
                              .access = i < 4 ? CC_ACCESS_READ : CC_ACCESS_READ_WRITE};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int32_t i = 0; i < 8; ++i) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        fixture_ok(workers[i].status);
        ck_assert_int_eq(workers[i].wrong, 0);
    }
    pthread_barrier_destroy(&barrier);
    ck_assert_int_eq(mapping_count(CC_PLACE_HOST), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("access");
    TCase *tcase = tcase_create("access");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, arguments_are_checked);
    tcase_add_test(tcase, an_empty_region_needs_nothing);
    tcase_add_test(tcase, pixels_are_where_strides_say);
    tcase_add_test(tcase, many_readers_or_one_writer);
    tcase_add_test(tcase, the_message_says_who_excludes);
    tcase_add_test(tcase, readers_that_start_together_end_one_by_one);
    tcase_add_test(tcase, readers_that_start_together_lend_only_their_regions);
    tcase_add_test(tcase, only_what_was_mapped_is_unmapped);
    tcase_add_test(tcase, pixels_that_nobody_wrote_are_not_read);
    tcase_add_test(tcase, no_memory_changes_nothing);
    tcase_add_test(tcase, the_generation_numbers_the_contents);
    tcase_add_test(tcase, threads_lend_from_one_image);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
