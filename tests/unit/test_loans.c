/* Loans at any place: what is described, what is refused, what the borrower and the image see of each other. */
#include "base/allocate.h"
#include "interop/loan.h"
#include "support/byte_pixels.h"
#include "support/dense_work.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <pthread.h>
#include <string.h>

#define SIZE 32
#define BYTES (SIZE * SIZE)

static cc_image *image;
static cc_descriptor lent;

static void set_up(void)
{
    const cc_descriptor none = CC_DESCRIPTOR_INIT;
    fixture_setup();
    lent = none;
    image = fixture_image(CC_PIXEL_UINT8, 1, 2, SIZE, SIZE, 1);
}

static void tear_down(void)
{
    cc_image_release(image);
    fixture_teardown();
}

static bool has_device(void)
{
    return fixture_device_count() > 0;
}

static cc_status export_at(cc_place place, cc_access access, const cc_region *region, cc_loan **out_loan)
{
    cc_export_params params = CC_EXPORT_PARAMS_INIT;
    params.place = place;
    params.access = (int32_t)access;
    params.region = region;
    return cc_image_export(image, &params, &lent, out_loan);
}

static cc_loan *must_export(cc_place place, cc_access access, const cc_region *region)
{
    cc_loan *loan = NULL;
    fixture_ok(export_at(place, access, region, &loan));
    ck_assert_ptr_nonnull(loan);
    return loan;
}

static int32_t loans_at(cc_place place)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(image, place, &state));
    return state.loan_count;
}

START_TEST(arguments)
{
    cc_export_params params = CC_EXPORT_PARAMS_INIT;
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    cc_geometry geometry = CC_GEOMETRY_INIT;
    cc_region outside = region_at(0, 0, SIZE + 1, 1);
    cc_loan *const untouched = (cc_loan *)&params;
    cc_loan *loan = untouched;
    params.place = CC_PLACE_HOST;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_export(NULL, &params, &descriptor, &loan));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params", cc_image_export(image, NULL, &descriptor, &loan));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_descriptor", cc_image_export(image, &params, NULL, &loan));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_loan", cc_image_export(image, &params, &descriptor, NULL));
    params.struct_size = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params.struct_size",
                   cc_image_export(image, &params, &descriptor, &loan));
    params.struct_size = sizeof params;
    descriptor.struct_size = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_descriptor.struct_size",
                   cc_image_export(image, &params, &descriptor, &loan));
    descriptor.struct_size = offsetof(cc_descriptor, data);
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_descriptor.struct_size",
                   cc_image_export(image, &params, &descriptor, &loan));
    descriptor.struct_size = sizeof descriptor;
    params.flags = 4;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params.flags", cc_image_export(image, &params, &descriptor, &loan));
    params.flags = 0;
    params.order = 2;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "order", cc_image_export(image, &params, &descriptor, &loan));
    params.order = CC_ORDER_C;
    params.access = 3;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "access", cc_image_export(image, &params, &descriptor, &loan));
    params.access = CC_ACCESS_READ;
    params.place = -3;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params.place", cc_image_export(image, &params, &descriptor, &loan));
    params.place = CC_PLACE_HOST;
    params.stream = CC_STREAM_PER_THREAD;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params.stream", cc_image_export(image, &params, &descriptor, &loan));
    params.stream = CC_STREAM_DEFAULT;
    params.region = &outside;
    expect_failure(CC_ERROR_REGION, "region", cc_image_export(image, &params, &descriptor, &loan));
    outside.size[0] = -1;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "region", cc_image_export(image, &params, &descriptor, &loan));
    params.region = NULL;
    params.place = 99;
    expect_failure(has_device() ? CC_ERROR_INVALID_DEVICE : CC_ERROR_NO_DEVICE, "device",
                   cc_image_export(image, &params, &descriptor, &loan));
    if (!has_device()) {
        params.place = CC_DEVICE_CURRENT;
        expect_failure(CC_ERROR_NO_DEVICE, "device", cc_image_export(image, &params, &descriptor, &loan));
    }
    ck_assert_ptr_eq(loan, untouched);
    ck_assert_ptr_null(descriptor.data);

    expect_failure(CC_ERROR_INVALID_ARGUMENT, "loan", cc_loan_get_geometry(NULL, &geometry));
    loan = must_export(CC_PLACE_HOST, CC_ACCESS_READ, NULL);
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_geometry", cc_loan_get_geometry(loan, NULL));
    geometry.struct_size = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_geometry", cc_loan_get_geometry(loan, &geometry));
    cc_loan_release(loan);
    cc_loan_release(NULL);
    cc_loan_release_in_stream(NULL, CC_STREAM_DEFAULT);
    ck_assert_ptr_null(cc_loan_retain(NULL));
}
END_TEST

/* A program compiled before the struct grew. */
START_TEST(short_params_have_defaults)
{
    cc_export_params params = CC_EXPORT_PARAMS_INIT;
    cc_loan *loan = NULL;
    const cc_status expected = has_device() ? CC_OK : CC_ERROR_NO_DEVICE;
    params.place = CC_PLACE_HOST;
    params.struct_size = offsetof(cc_export_params, place);
    ck_assert_int_eq(cc_image_export(image, &params, &lent, &loan), expected);
    if (has_device())
        ck_assert_int_eq(lent.place, cc_image_get_device(image));
    cc_loan_release(loan);
}
END_TEST

START_TEST(a_region_is_described)
{
    const cc_region region = region_at(3, 5, 7, 2);
    const double spacing[4] = {1, 2.5, 1, 1};
    cc_geometry geometry = CC_GEOMETRY_INIT;
    void *pixels = NULL;
    fixture_ok(cc_image_set_spacing(image, spacing));
    cc_loan *loan = must_export(CC_PLACE_HOST, CC_ACCESS_READ_WRITE, &region);
    ck_assert_int_eq(loans_at(CC_PLACE_HOST), 1);
    ck_assert_int_eq(lent.ndim, 2);
    ck_assert_int_eq(lent.shape[0], 2);
    ck_assert_int_eq(lent.shape[1], 7);
    ck_assert_int_eq(lent.strides_bytes[0], SIZE);
    ck_assert_int_eq(lent.strides_bytes[1], 1);
    ck_assert_int_eq(lent.place, CC_PLACE_HOST);
    ck_assert_int_eq(lent.read_only, 0);
    ck_assert_uint_eq(lent.pending, 0);
    ck_assert_ptr_null(lent.stream);
    fixture_ok(cc_image_map_host(image, &region, CC_ACCESS_READ, &pixels));
    ck_assert_ptr_eq(pixels, lent.data);
    fixture_ok(cc_image_unmap_host(image, pixels));

    /* As it was when it was lent. */
    const int64_t index[4] = {100, 100, 0, 0};
    fixture_ok(cc_image_set_index(image, index));
    fixture_ok(cc_loan_get_geometry(loan, &geometry));
    ck_assert_int_eq(geometry.dimension, 2);
    ck_assert_int_eq(geometry.index[0], 3);
    ck_assert_int_eq(geometry.index[1], 5);
    ck_assert_double_eq(geometry.spacing[1], 2.5);
    cc_loan_release(loan);
    ck_assert_int_eq(loans_at(CC_PLACE_HOST), 0);

    cc_loan *reading = must_export(CC_PLACE_HOST, CC_ACCESS_READ, NULL);
    ck_assert_int_eq(lent.read_only, 1);
    cc_loan_release(reading);
}
END_TEST

START_TEST(an_empty_region_is_lent)
{
    const cc_region empty = region_at(3, 5, 0, 2);
    for (cc_place place = CC_PLACE_HOST; place < fixture_device_count(); ++place) {
        cc_loan *loan = must_export(place, CC_ACCESS_READ_WRITE, &empty);
        ck_assert_ptr_null(lent.data);
        ck_assert_int_eq(lent.shape[1], 0);
        ck_assert_int_eq(lent.place, place);
        fixture_ok(cc_image_discard(image, NULL));
        cc_loan_release_in_stream(loan, CC_STREAM_DEFAULT);
    }
}
END_TEST

START_TEST(read_only_memory_is_lent_for_reading)
{
    static unsigned char memory[BYTES];
    cc_wrap_params wrap = CC_WRAP_PARAMS_INIT;
    cc_loan *loan = NULL;
    wrap.flags = CC_WRAP_BORROWED | CC_WRAP_READ_ONLY;
    wrap.data = memory;
    wrap.size_bytes = sizeof memory;
    fixture_ok(cc_image_wrap_host(image, &wrap));
    ck_assert_int_eq(export_at(CC_PLACE_HOST, CC_ACCESS_WRITE, NULL, &loan), CC_ERROR_READ_ONLY);
    loan = must_export(CC_PLACE_HOST, CC_ACCESS_READ_WRITE, NULL);
    ck_assert_ptr_eq(lent.data, memory);
    ck_assert_int_eq(lent.read_only, 1);
    cc_loan_release(loan);
}
END_TEST

START_TEST(undefined_pixels_are_lent_for_writing_only)
{
    cc_loan *loan = NULL;
    fixture_ok(cc_image_discard(image, NULL));
    ck_assert_int_eq(export_at(CC_PLACE_HOST, CC_ACCESS_READ_WRITE, NULL, &loan), CC_ERROR_UNINITIALIZED);
    ck_assert_int_eq(loans_at(CC_PLACE_HOST), 0);
    loan = must_export(CC_PLACE_HOST, CC_ACCESS_WRITE, NULL);
    memset(lent.data, 9, BYTES);
    byte_pixels_expect_host(image, NULL, 9);
    cc_loan_release(loan);
    byte_pixels_expect_host(image, NULL, 9);
}
END_TEST

/* A NumPy array: written at any time, without telling anybody. */
START_TEST(a_host_array_is_read_anew_each_time)
{
    const int32_t last = fixture_device_count() - 1;
    cc_loan *loan = must_export(CC_PLACE_HOST, CC_ACCESS_READ_WRITE, NULL);
    for (unsigned char value = 1; value < 4; ++value) {
        memset(lent.data, value, BYTES);
        byte_pixels_expect_host(image, NULL, value);
        if (last >= 0) {
            fixture_ok(cc_image_set_device(image, value % 2 == 0 ? 0 : last));
            byte_pixels_expect_device(image, NULL, value, CC_STREAM_DEFAULT);
        }
    }
    if (last >= 0) {
        /* What was mapped before the array is written again keeps the older value, also when the copy is late. */
        void *pixels = NULL;
        unsigned char found[BYTES];
        fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
        memset(lent.data, 77, BYTES);
        fixture_device_read(last, CC_STREAM_DEFAULT, found, pixels, BYTES);
        fixture_ok(cc_stream_synchronize(last, CC_STREAM_DEFAULT));
        ck_assert(bytes_are(found, 3, BYTES));
        fixture_ok(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
        byte_pixels_expect_device(image, NULL, 77, CC_STREAM_DEFAULT);
        expect_failure(CC_ERROR_BUSY, "lent on the host",
                       cc_image_map_device(image, NULL, CC_ACCESS_WRITE, CC_STREAM_DEFAULT, &pixels));
        expect_failure(CC_ERROR_BUSY, "lent on the host",
                       cc_image_map_device(image, NULL, CC_ACCESS_READ_WRITE, CC_STREAM_DEFAULT, &pixels));
    }
    byte_pixels_write_host(image, NULL, 8);
    ck_assert(bytes_are(lent.data, 8, BYTES));
    memset(lent.data, 9, BYTES);
    cc_loan_release(loan);
    if (last >= 0) {
        byte_pixels_expect_device(image, NULL, 9, CC_STREAM_DEFAULT);
        const cc_counters before = fixture_counters(image);
        byte_pixels_expect_device(image, NULL, 9, CC_STREAM_DEFAULT);
        ck_assert_uint_eq(fixture_counters(image).host_to_device_copies, before.host_to_device_copies);
        byte_pixels_write_device(image, NULL, 10, CC_STREAM_DEFAULT);
        byte_pixels_expect_host(image, NULL, 10);
    }
}
END_TEST

/* Copies from page-locked memory are late, and the array may be written as soon as the call is back. */
START_TEST(a_late_copy_does_not_see_what_the_host_array_becomes)
{
    const int64_t size = 1024;
    cc_region first = region_at(0, 0, 32, 1);
    if (!has_device())
        return;
    cc_image *small = image;
    image = fixture_image(CC_PIXEL_UINT8, 1, 2, size, size, 1);
    fixture_ok(cc_image_set_device(image, 0));
    cc_loan *loan = must_export(CC_PLACE_HOST, CC_ACCESS_READ_WRITE, NULL);
    for (unsigned char value = 1; value < 4; ++value) {
        void *pixels = NULL;
        unsigned char found[32];
        memset(lent.data, value, (size_t)(size * size));
        fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
        memset(lent.data, 99, (size_t)(size * size));
        fixture_device_read(0, CC_STREAM_DEFAULT, found, pixels, sizeof found);
        fixture_ok(cc_stream_synchronize(0, CC_STREAM_DEFAULT));
        ck_assert(bytes_are(found, value, sizeof found));
        fixture_ok(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
    }
    fixture_ok(cc_image_prefetch(image, NULL, 0));
    memset(lent.data, 98, (size_t)(size * size));
    byte_pixels_expect_device(image, &first, 98, CC_STREAM_DEFAULT);
    cc_loan_release(loan);
    cc_image_release(image);
    image = small;
}
END_TEST

START_TEST(a_host_array_sees_operations)
{
    const unsigned char value = 42;
    cc_image *input = fixture_image(CC_PIXEL_UINT8, 1, 2, SIZE, SIZE, 1);
    const cc_region row = region_at(0, 3, SIZE, 1);
    if (has_device())
        byte_pixels_write_device(image, NULL, 1, CC_STREAM_DEFAULT);
    cc_loan *loan = must_export(CC_PLACE_HOST, CC_ACCESS_READ, NULL);
    fixture_ok(cc_image_fill(image, NULL, &value, CC_STREAM_DEFAULT));
    ck_assert(bytes_are(lent.data, value, BYTES));
    fixture_ok(cc_image_fill(image, &row, &(unsigned char){43}, CC_STREAM_DEFAULT));
    ck_assert(bytes_are((unsigned char *)lent.data + 3 * SIZE, 43, SIZE));
    if (has_device())
        byte_pixels_write_device(input, NULL, 5, CC_STREAM_DEFAULT);
    else
        byte_pixels_write_host(input, NULL, 5);
    fixture_ok(cc_image_rescale(input, 2, 1, image, CC_STREAM_DEFAULT));
    ck_assert(bytes_are(lent.data, 11, BYTES));
    cc_loan_release(loan);
    fixture_ok(cc_image_fill(image, NULL, &value, CC_STREAM_DEFAULT));
    byte_pixels_expect_host(image, NULL, value);
    cc_image_release(input);
}
END_TEST

START_TEST(lent_memory_stays)
{
    for (cc_place place = CC_PLACE_HOST; place < fixture_device_count(); ++place) {
        if (place >= 0)
            fixture_ok(cc_image_set_device(image, place));
        cc_loan *loan = must_export(place, CC_ACCESS_READ, NULL);
        cc_loan *other = cc_loan_retain(loan);
        ck_assert_ptr_eq(other, loan);
        cc_loan_release(loan);
        expect_failure(CC_ERROR_BUSY, "lent", cc_image_evict(image, place));
        expect_failure(CC_ERROR_BUSY, "lent", cc_image_discard(image, NULL));
        ck_assert_int_eq(loans_at(place), 1);
        cc_loan_release(other);
        ck_assert_int_eq(loans_at(place), 0);
        if (has_device())
            fixture_ok(cc_image_evict(image, place));
        fixture_ok(cc_image_discard(image, NULL));
        byte_pixels_write_host(image, NULL, 1);
    }
}
END_TEST

START_TEST(the_borrower_outlives_the_handle)
{
    for (cc_place place = CC_PLACE_HOST; place < fixture_device_count(); ++place) {
        cc_region smaller = region_at(0, 0, 2, 2);
        byte_pixels_write_host(image, NULL, 5);
        cc_loan *loan = must_export(place, CC_ACCESS_READ_WRITE, NULL);
        cc_image *graft = fixture_image(CC_PIXEL_UINT8, 1, 2, 2, 2, 1);
        fixture_ok(cc_image_graft(graft, image));
        fixture_ok(cc_image_resize(image, &smaller));
        byte_pixels_expect_host(image, NULL, 0);
        byte_pixels_expect_host(graft, NULL, 5);
        cc_image_release(graft);
        if (place == CC_PLACE_HOST) {
            ck_assert(bytes_are(lent.data, 5, BYTES));
        } else {
            unsigned char found[BYTES];
            fixture_device_read(place, CC_STREAM_DEFAULT, found, lent.data, BYTES);
            fixture_ok(cc_stream_synchronize(place, CC_STREAM_DEFAULT));
            ck_assert(bytes_are(found, 5, BYTES));
        }
        cc_loan_release(loan);
        smaller = region_at(0, 0, SIZE, SIZE);
        fixture_ok(cc_image_resize(image, &smaller));
    }
}
END_TEST

START_TEST(rivals_are_refused)
{
    const cc_region left = region_at(0, 0, 4, SIZE);
    const cc_region right = region_at(4, 0, SIZE - 4, SIZE);
    cc_loan *second = NULL;
    if (!has_device())
        return;
    cc_loan *writing = must_export(CC_PLACE_HOST, CC_ACCESS_READ_WRITE, &left);
    ck_assert_int_eq(export_at(0, CC_ACCESS_READ, NULL, &second), CC_ERROR_BUSY);
    ck_assert_int_eq(export_at(0, CC_ACCESS_READ_WRITE, NULL, &second), CC_ERROR_BUSY);
    ck_assert_ptr_null(second);
    cc_loan *apart = must_export(0, CC_ACCESS_READ_WRITE, &right);
    cc_loan *same = must_export(CC_PLACE_HOST, CC_ACCESS_READ_WRITE, &left);
    cc_loan_release(writing);
    ck_assert_int_eq(export_at(0, CC_ACCESS_READ, NULL, &second), CC_ERROR_BUSY);
    cc_loan_release(same);
    second = must_export(0, CC_ACCESS_READ_WRITE, NULL);
    cc_loan_release(second);
    cc_loan_release(apart);

    cc_loan *here = must_export(CC_PLACE_HOST, CC_ACCESS_READ, NULL);
    cc_loan *there = must_export(0, CC_ACCESS_READ, NULL);
    ck_assert_int_eq(export_at(0, CC_ACCESS_READ_WRITE, NULL, &second), CC_ERROR_BUSY);
    cc_loan_release(here);
    cc_loan_release(there);
}
END_TEST

START_TEST(a_writer_keeps_the_pixels_to_himself)
{
    void *pixels = NULL;
    cc_loan *loan = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ_WRITE, &pixels));
    ck_assert_int_eq(export_at(CC_PLACE_HOST, CC_ACCESS_READ, NULL, &loan), CC_ERROR_BUSY);
    fixture_ok(cc_image_unmap_host(image, pixels));
    /* A reader does not mind. */
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    loan = must_export(CC_PLACE_HOST, CC_ACCESS_READ_WRITE, NULL);
    cc_loan_release(loan);
    fixture_ok(cc_image_unmap_host(image, pixels));
}
END_TEST

START_TEST(a_loan_stands_for_a_new_one)
{
    const cc_region rows = region_at(0, 2, SIZE, 3);
    const cc_region nothing = region_at(0, 0, 0, SIZE);
    const cc_region tiny = region_at(0, 0, 1, 1);
    void *pixels = NULL;
    cc_image *other = NULL;
    cc_loan *part = must_export(CC_PLACE_HOST, CC_ACCESS_READ_WRITE, &rows);
    cc_loan *empty = must_export(CC_PLACE_HOST, CC_ACCESS_READ_WRITE, &nothing);
    cc_loan *loan = must_export(CC_PLACE_HOST, CC_ACCESS_READ_WRITE, NULL);
    (void)cc_image_set_label(NULL, NULL);
    const char *message = cc_last_error_message();
    ck_assert_int_eq(cc_loan_renew_without_asking(loan, image), CC_LOAN_STANDS);
    ck_assert_int_eq(cc_loan_renew_without_asking(NULL, image), CC_LOAN_STALE);
    ck_assert_int_eq(cc_loan_renew(loan, image), CC_LOAN_STANDS);
    ck_assert_int_eq(cc_loan_renew(NULL, image), CC_LOAN_STALE);
    ck_assert_int_eq(cc_loan_renew(loan, NULL), CC_LOAN_STALE);
    ck_assert_int_eq(cc_loan_renew(part, image), CC_LOAN_STALE);
    ck_assert_int_eq(cc_loan_renew(empty, image), CC_LOAN_STALE);

    /* Of another region of the same pixels, and of that region. */
    fixture_ok(cc_image_create_view(image, &rows, &other));
    ck_assert_int_eq(cc_loan_renew(loan, other), CC_LOAN_STALE);
    ck_assert_int_eq(cc_loan_renew(part, other), CC_LOAN_STANDS);
    cc_loan_release(part);

    /* While somebody writes, through whichever handle, a new one would be refused. */
    fixture_ok(cc_image_map_host(other, NULL, CC_ACCESS_READ_WRITE, &pixels));
    ck_assert_int_eq(cc_loan_renew(loan, image), CC_LOAN_STALE);
    fixture_ok(cc_image_unmap_host(other, pixels));
    ck_assert_int_eq(cc_loan_renew(loan, image), CC_LOAN_STANDS);
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    ck_assert_int_eq(cc_loan_renew(loan, image), CC_LOAN_STANDS);
    fixture_ok(cc_image_unmap_host(image, pixels));
    fixture_ok(cc_image_fill(image, NULL, &(unsigned char){4}, CC_STREAM_DEFAULT));
    ck_assert_int_eq(cc_loan_renew(loan, image), CC_LOAN_STANDS);
    ck_assert_int_eq(*(const unsigned char *)lent.data, 4);

    fixture_ok(cc_image_graft(other, image));
    ck_assert_int_eq(cc_loan_renew(loan, other), CC_LOAN_STANDS);
    fixture_ok(cc_image_resize(image, &tiny));
    ck_assert_int_eq(cc_loan_renew(loan, image), CC_LOAN_STALE);
    ck_assert_str_eq(cc_last_error_message(), message);
    cc_loan_release(loan);
    cc_loan_release(empty);
    cc_image_release(other);
}
END_TEST

/* Reading loans at several places go together; what one of them has counts as long as nobody writes. */
START_TEST(a_reading_loan_stands_until_somebody_writes)
{
    if (!has_device())
        return;
    cc_loan *loan = must_export(CC_PLACE_HOST, CC_ACCESS_READ, NULL);
    cc_loan *second = must_export(CC_DEVICE_CURRENT, CC_ACCESS_READ, NULL);
    ck_assert_int_eq(cc_loan_renew(loan, image), CC_LOAN_STANDS);
    cc_loan_release(second);
    ck_assert_int_eq(cc_loan_renew(loan, image), CC_LOAN_STANDS);
    cc_loan_release(loan);
}
END_TEST

START_TEST(a_loan_is_found_by_its_memory)
{
    const cc_region region = region_at(2, 1, 3, 2);
    cc_loan *loan = must_export(CC_PLACE_HOST, CC_ACCESS_READ, &region);
    unsigned char *first = lent.data;
    const size_t extent = SIZE + 3;
    cc_loan *found = cc__loan_find(CC_PLACE_HOST, first, extent);
    ck_assert_ptr_eq(found, loan);
    cc_loan_release(found);
    found = cc__loan_find(CC_PLACE_HOST, first + extent - 1, 1);
    ck_assert_ptr_eq(found, loan);
    cc_loan_release(found);
    ck_assert_ptr_null(cc__loan_find(CC_PLACE_HOST, first, extent + 1));
    ck_assert_ptr_null(cc__loan_find(CC_PLACE_HOST, first + extent, 1));
    ck_assert_ptr_null(cc__loan_find(CC_PLACE_HOST, first - 1, 2));
    ck_assert_ptr_null(cc__loan_find(CC_PLACE_HOST, first, 0));
    ck_assert_ptr_null(cc__loan_find(0, first, 1));
    cc_loan_release(loan);
    ck_assert_ptr_null(cc__loan_find(CC_PLACE_HOST, first, 1));
}
END_TEST

/* The number that caches go by does not say that nothing has changed when a borrower may have written. */
START_TEST(generation_runs_while_somebody_may_write)
{
    cc_loan *loan = must_export(CC_PLACE_HOST, CC_ACCESS_READ, NULL);
    uint64_t generation = cc_image_get_generation(image);
    ck_assert_uint_eq(cc_image_get_generation(image), generation);
    cc_loan_release(loan);
    ck_assert_uint_eq(cc_image_get_generation(image), generation);
    loan = must_export(CC_PLACE_HOST, CC_ACCESS_READ_WRITE, NULL);
    ck_assert_uint_ne(cc_image_get_generation(image), generation);
    generation = cc_image_get_generation(image);
    ck_assert_uint_ne(cc_image_get_generation(image), generation);
    generation = cc_image_get_generation(image);
    cc_loan_release(loan);
    ck_assert_uint_ne(cc_image_get_generation(image), generation);
    generation = cc_image_get_generation(image);
    ck_assert_uint_eq(cc_image_get_generation(image), generation);
}
END_TEST

START_TEST(without_memory_nothing_is_lent)
{
    for (cc_place place = CC_PLACE_HOST; place < fixture_device_count(); ++place) {
        cc_status status = CC_ERROR_OUT_OF_HOST_MEMORY;
        for (long nth = 1; status != CC_OK; ++nth) {
            cc_loan *loan = NULL;
            expect_allocations_to_fail_from(nth);
            status = export_at(place, CC_ACCESS_READ_WRITE, NULL, &loan);
            cc__allocate_set_hook(NULL);
            ck_assert(status == CC_OK || expect_is_out_of_memory(status));
            ck_assert_int_eq(loans_at(place), status == CC_OK);
            cc_loan_release(loan);
        }
        byte_pixels_expect_host(image, NULL, 0);
    }
}
END_TEST

static void *lend_and_return(void *context)
{
    (void)context;
    for (int32_t i = 0; i < 200; ++i) {
        cc_export_params params = CC_EXPORT_PARAMS_INIT;
        cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
        cc_loan *loan = NULL;
        params.place = i % 2 == 0 || !has_device() ? CC_PLACE_HOST : 0;
        params.access = i % 5 == 0 ? CC_ACCESS_READ_WRITE : CC_ACCESS_READ;
        if (cc_image_export(image, &params, &descriptor, &loan) != CC_OK)
            continue;
        cc_loan *found = cc__loan_find(params.place, descriptor.data, 1);
        cc_loan_release(found);
        cc_loan_release(loan);
    }
    return NULL;
}

START_TEST(threads_lend_and_return)
{
    pthread_t threads[4];
    for (int32_t i = 0; i < 4; ++i)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, lend_and_return, NULL), 0);
    for (int32_t i = 0; i < 200; ++i) {
        void *pixels = NULL;
        const cc_access access = i % 3 == 0 ? CC_ACCESS_READ_WRITE : CC_ACCESS_READ;
        if (cc_image_map_host(image, NULL, access, &pixels) != CC_OK)
            continue;
        ck_assert(bytes_are(pixels, 0, BYTES));
        if (access != CC_ACCESS_READ)
            memset(pixels, 0, BYTES);
        fixture_ok(cc_image_unmap_host(image, pixels));
    }
    for (int32_t i = 0; i < 4; ++i)
        pthread_join(threads[i], NULL);
    for (cc_place place = CC_PLACE_HOST; place < fixture_device_count(); ++place)
        ck_assert_int_eq(loans_at(place), 0);
    byte_pixels_expect_host(image, NULL, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("loans");
    TCase *tcase = tcase_create("loans");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, arguments);
    tcase_add_test(tcase, short_params_have_defaults);
    tcase_add_test(tcase, a_region_is_described);
    tcase_add_test(tcase, an_empty_region_is_lent);
    tcase_add_test(tcase, read_only_memory_is_lent_for_reading);
    tcase_add_test(tcase, undefined_pixels_are_lent_for_writing_only);
    tcase_add_test(tcase, a_host_array_is_read_anew_each_time);
    tcase_add_test(tcase, a_late_copy_does_not_see_what_the_host_array_becomes);
    tcase_add_test(tcase, a_host_array_sees_operations);
    tcase_add_test(tcase, lent_memory_stays);
    tcase_add_test(tcase, the_borrower_outlives_the_handle);
    tcase_add_test(tcase, rivals_are_refused);
    tcase_add_test(tcase, a_writer_keeps_the_pixels_to_himself);
    tcase_add_test(tcase, a_loan_stands_for_a_new_one);
    tcase_add_test(tcase, a_reading_loan_stands_until_somebody_writes);
    tcase_add_test(tcase, a_loan_is_found_by_its_memory);
    tcase_add_test(tcase, generation_runs_while_somebody_may_write);
    tcase_add_test(tcase, without_memory_nothing_is_lent);
    tcase_add_test(tcase, threads_lend_and_return);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
