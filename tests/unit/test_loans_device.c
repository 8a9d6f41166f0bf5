/* Loans on devices: the order of a borrower's work and everybody else's, whose stream is known or not. */
#include "backend/emulated.h"
#include "base/allocate.h"
#include "memory/transfer_streams.h"
#include "support/byte_pixels.h"
#include "support/dense_work.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <pthread.h>
#include <string.h>

#define SIZE 32
#define BYTES (SIZE * SIZE)

static cc_image *image;
static int32_t device; /* the last: so that loans are also taken on another one than the first */
static cc_stream stream, other_stream;
static void *found; /* on the device, for what kernels see */
static cc_descriptor lent;

static void set_up(void)
{
    const cc_descriptor none = CC_DESCRIPTOR_INIT;
    fixture_setup();
    lent = none;
    image = fixture_image(CC_PIXEL_UINT8, 1, 2, SIZE, SIZE, 1);
    device = fixture_device_count() - 1;
    if (device < 0)
        return;
    fixture_ok(cc_image_set_device(image, device));
    stream = fixture_stream_create(device);
    other_stream = fixture_stream_create(device);
    fixture_ok(fixture_inner->allocate(fixture_inner, device, stream, BYTES, &found));
    fixture_ok(cc_stream_synchronize(device, stream));
}

static void tear_down(void)
{
    cc_image_release(image);
    if (device >= 0) {
        fixture_ok(cc_stream_synchronize(device, other_stream));
        fixture_ok(fixture_inner->free(fixture_inner, device, stream, found));
        fixture_ok(cc_stream_synchronize(device, stream));
        fixture_stream_destroy(device, stream);
        fixture_stream_destroy(device, other_stream);
    }
    fixture_teardown();
}

static cc_loan *must_export(cc_access access, bool stream_is_known)
{
    cc_export_params params = CC_EXPORT_PARAMS_INIT;
    cc_loan *loan = NULL;
    params.place = device;
    params.access = (int32_t)access;
    params.stream = stream;
    params.flags = stream_is_known ? CC_EXPORT_STREAM_KNOWN : 0;
    fixture_ok(cc_image_export(image, &params, &lent, &loan));
    ck_assert_ptr_nonnull(lent.data);
    ck_assert_ptr_eq(lent.stream, stream);
    ck_assert_int_eq(lent.place, device);
    return loan;
}

/* What a kernel of the borrower does: late, in its stream. */
static void borrower_writes(cc_stream in, unsigned char value)
{
    fixture_ok(fill_bytes(fixture_inner, device, in, lent.data, value, BYTES));
}

static void borrower_reads(cc_stream in)
{
    fixture_ok(copy_bytes(fixture_inner, device, in, found, lent.data, BYTES));
}

static void expect_found(cc_stream in, unsigned char value)
{
    unsigned char bytes[BYTES];
    fixture_device_read(device, in, bytes, found, BYTES);
    fixture_ok(cc_stream_synchronize(device, in));
    ck_assert_int_eq(bytes[0], value);
    ck_assert(bytes_are(bytes, value, BYTES));
}

static int64_t waits_for_device(void)
{
    return faulty_backend_counts(fixture_backend).calls[FAULTY_SYNCHRONIZE];
}

/* The borrower of unknown stream writes in a stream that has no order with any other. */
START_TEST(the_host_sees_what_any_stream_writes)
{
    if (device < 0)
        return;
    cc_loan *loan = must_export(CC_ACCESS_READ_WRITE, false);
    for (unsigned char value = 1; value < 4; ++value) {
        borrower_writes(other_stream, value);
        byte_pixels_expect_host(image, NULL, value);
    }
    borrower_writes(other_stream, 9);
    cc_loan_release(loan);
    byte_pixels_expect_host(image, NULL, 9);
    const cc_counters before = fixture_counters(image);
    const int64_t waits = waits_for_device();
    byte_pixels_expect_host(image, NULL, 9);
    ck_assert_uint_eq(fixture_counters(image).device_to_host_copies, before.device_to_host_copies);
    ck_assert_int_eq(waits_for_device(), waits);
}
END_TEST

START_TEST(a_known_stream_costs_no_wait_for_the_device)
{
    if (device < 0)
        return;
    cc_loan *loan = must_export(CC_ACCESS_READ_WRITE, true);
    for (unsigned char value = 1; value < 4; ++value) {
        borrower_writes(stream, value);
        byte_pixels_expect_host(image, NULL, value);
        byte_pixels_expect_device(image, NULL, value, other_stream);
    }
    borrower_writes(stream, 9);
    cc_loan_release(loan);
    byte_pixels_expect_host(image, NULL, 9);
    fixture_ok(cc_image_evict(image, device));
    ck_assert_int_eq(waits_for_device(), 0);
    byte_pixels_expect_host(image, NULL, 9);
}
END_TEST

START_TEST(returning_in_a_stream_costs_no_wait_for_the_device)
{
    if (device < 0)
        return;
    cc_loan *loan = must_export(CC_ACCESS_READ_WRITE, false);
    borrower_writes(other_stream, 7);
    cc_loan_release_in_stream(loan, other_stream);
    byte_pixels_expect_host(image, NULL, 7);
    fixture_ok(cc_image_evict(image, device));
    ck_assert_int_eq(waits_for_device(), 0);
    byte_pixels_expect_host(image, NULL, 7);
}
END_TEST

START_TEST(what_is_written_elsewhere_is_brought_to_the_borrower)
{
    const cc_region rows = region_at(0, 2, SIZE, 3);
    if (device < 0)
        return;
    for (int32_t known = 0; known < 2; ++known) {
        const cc_stream in = known != 0 ? stream : CC_STREAM_DEFAULT;
        for (int32_t reads = 0; reads < 2; ++reads) {
            byte_pixels_write_host(image, NULL, 1);
            cc_loan *loan = must_export(reads != 0 ? CC_ACCESS_READ : CC_ACCESS_READ_WRITE, known != 0);
            fixture_ok(cc_stream_synchronize(device, stream));
            borrower_reads(in);
            byte_pixels_write_host(image, NULL, 2);
            expect_found(in, 1); /* read before the host wrote, though it runs after */
            borrower_reads(in);
            expect_found(in, 2);
            byte_pixels_write_host(image, &rows, 2);
            fixture_ok(cc_image_set_device(image, 0));
            byte_pixels_write_device(image, NULL, 3, CC_STREAM_DEFAULT);
            borrower_reads(in);
            expect_found(in, 3);
            fixture_ok(cc_image_fill(image, NULL, &(unsigned char){4}, CC_STREAM_DEFAULT));
            borrower_reads(in);
            expect_found(in, 4);
            fixture_ok(cc_image_fill(image, &rows, &(unsigned char){4}, CC_STREAM_DEFAULT));
            byte_pixels_expect_host(image, NULL, 4);
            fixture_ok(cc_image_set_device(image, device));
            cc_loan_release(loan);
        }
    }
}
END_TEST

/* Two users of the same memory on one device: each comes after what the other has queued. */
START_TEST(use_at_the_same_place_is_in_order_with_the_borrower)
{
    if (device < 0)
        return;
    cc_loan *loan = must_export(CC_ACCESS_READ_WRITE, true);
    borrower_writes(stream, 5);
    byte_pixels_expect_device(image, NULL, 5, other_stream);
    void *pixels = NULL;
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ, other_stream, &pixels));
    fixture_ok(copy_bytes(fixture_inner, device, other_stream, found, pixels, BYTES));
    fixture_ok(cc_image_unmap_device(image, pixels, other_stream));
    borrower_writes(stream, 6);
    fixture_ok(cc_stream_synchronize(device, stream));
    expect_found(other_stream, 5);
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_WRITE, other_stream, &pixels));
    ck_assert_ptr_eq(pixels, lent.data);
    fixture_ok(fill_bytes(fixture_inner, device, other_stream, pixels, 8, BYTES));
    fixture_ok(cc_image_unmap_device(image, pixels, other_stream));
    borrower_reads(stream);
    expect_found(stream, 8);
    cc_loan_release(loan);
}
END_TEST

/* A copy from the lent memory that is queued is not overtaken by the borrower's next write. */
START_TEST(the_borrower_comes_after_copies_of_its_pixels)
{
    if (fixture_device_count() < 2)
        return;
    cc_loan *loan = must_export(CC_ACCESS_READ_WRITE, true);
    borrower_writes(stream, 5);
    void *pixels = NULL;
    unsigned char bytes[BYTES];
    fixture_ok(cc_image_set_device(image, 0));
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
    borrower_writes(stream, 6);
    fixture_ok(cc_stream_synchronize(device, stream));
    fixture_device_read(0, CC_STREAM_DEFAULT, bytes, pixels, BYTES);
    fixture_ok(cc_stream_synchronize(0, CC_STREAM_DEFAULT));
    ck_assert(bytes_are(bytes, 5, BYTES));
    fixture_ok(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
    byte_pixels_expect_device(image, NULL, 6, CC_STREAM_DEFAULT);
    cc_loan_release(loan);
}
END_TEST

START_TEST(a_reading_loan_costs_no_copies)
{
    if (device < 0)
        return;
    byte_pixels_write_device(image, NULL, 5, stream);
    cc_loan *loan = must_export(CC_ACCESS_READ, false);
    byte_pixels_expect_host(image, NULL, 5);
    const cc_counters before = fixture_counters(image);
    byte_pixels_expect_host(image, NULL, 5);
    ck_assert_uint_eq(fixture_counters(image).device_to_host_copies, before.device_to_host_copies);
    cc_loan_release(loan);
    byte_pixels_expect_host(image, NULL, 5);
    ck_assert_uint_eq(fixture_counters(image).device_to_host_copies, before.device_to_host_copies);
    ck_assert_int_eq(waits_for_device(), 0);
}
END_TEST

START_TEST(what_is_pending_is_told)
{
    if (device < 0)
        return;
    cc_loan *loan = must_export(CC_ACCESS_READ, false);
    fixture_ok(cc_stream_synchronize(device, stream));
    cc_loan_release(loan);
    byte_pixels_expect_host(image, NULL, 0);
    loan = must_export(CC_ACCESS_READ, false);
    ck_assert_uint_eq(lent.pending, 0);
    cc_loan_release(loan);
    void *pixels = NULL;
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_WRITE, other_stream, &pixels));
    fixture_ok(fill_bytes(fixture_inner, device, other_stream, pixels, 3, BYTES));
    fixture_ok(cc_image_unmap_device(image, pixels, other_stream));
    loan = must_export(CC_ACCESS_READ, false);
    if (fixture_is_emulated())
        ck_assert_uint_eq(lent.pending, 1);
    borrower_reads(stream);
    expect_found(stream, 3);
    cc_loan_release(loan);
}
END_TEST

/* Somebody unknown may write: what is pending is then what the default stream holds. */
START_TEST(beside_somebody_unknown_the_default_stream_tells)
{
    if (device < 0)
        return;
    cc_loan *first = must_export(CC_ACCESS_READ_WRITE, false);
    fixture_ok(cc_stream_synchronize(device, stream));
    fixture_ok(cc_stream_synchronize(device, CC_STREAM_DEFAULT));
    cc_loan *second = must_export(CC_ACCESS_READ_WRITE, false);
    ck_assert_uint_eq(lent.pending, 0);
    fixture_ok(fill_bytes(fixture_inner, device, CC_STREAM_DEFAULT, lent.data, 3, BYTES));
    cc_loan_release(second);
    second = must_export(CC_ACCESS_READ_WRITE, false);
    if (fixture_is_emulated())
        ck_assert_uint_eq(lent.pending, 1);
    cc_loan_release(second);

    /* What cannot be asked is pending. */
    const faulty_rule rule = {FAULTY_STREAM_IS_IDLE, 1, false, CC_ERROR_DEVICE, 999};
    fixture_ok(cc_stream_synchronize(device, CC_STREAM_DEFAULT));
    faulty_backend_add_rule(fixture_backend, &rule);
    second = must_export(CC_ACCESS_READ_WRITE, false);
    ck_assert_uint_eq(lent.pending, 1);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).failures, 1);
    cc_loan_release(second);
    cc_loan_release(first);
}
END_TEST

/* Each copy for the host is one moment of the borrower's memory; a second one would change the first under its reader.
 */
START_TEST(a_loan_stands_while_nothing_has_to_be_waited_for)
{
    if (device < 0)
        return;
    cc_loan *loan = must_export(CC_ACCESS_READ_WRITE, false);
    fixture_ok(cc_stream_synchronize(device, stream));
    fixture_ok(cc_stream_synchronize(device, CC_STREAM_DEFAULT));
    cc_loan_release(must_export(CC_ACCESS_READ_WRITE, false)); /* asks what is done */
    fixture_ok(cc_stream_synchronize(device, CC_STREAM_DEFAULT));
    const faulty_counts before = faulty_backend_counts(fixture_backend);
    ck_assert_int_eq(cc_loan_renew(loan, image), CC_LOAN_STANDS);
    const faulty_counts asked = faulty_backend_counts(fixture_backend);
    ck_assert_int_eq(cc_loan_renew_without_asking(loan, image), CC_LOAN_PENDING);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).total_calls, asked.total_calls);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).calls[FAULTY_STREAM_WAIT],
                     before.calls[FAULTY_STREAM_WAIT]);

    fixture_ok(fill_bytes(fixture_inner, device, CC_STREAM_DEFAULT, lent.data, 4, BYTES));
    if (fixture_is_emulated())
        ck_assert_int_eq(cc_loan_renew(loan, image), CC_LOAN_PENDING);
    fixture_ok(cc_stream_synchronize(device, CC_STREAM_DEFAULT));

    /* Elsewhere the same loan says nothing. */
    if (fixture_device_count() > 1) {
        fixture_ok(cc_image_set_device(image, 0));
        ck_assert_int_eq(cc_loan_renew(loan, image), CC_LOAN_STALE);
        fixture_ok(cc_image_set_device(image, device));
    }
    void *pixels = NULL;
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ_WRITE, other_stream, &pixels));
    ck_assert_int_eq(cc_loan_renew(loan, image), CC_LOAN_STALE);
    fixture_ok(fill_bytes(fixture_inner, device, other_stream, pixels, 3, BYTES));
    fixture_ok(cc_image_unmap_device(image, pixels, other_stream));
    if (fixture_is_emulated())
        ck_assert_int_eq(cc_loan_renew(loan, image), CC_LOAN_STALE);
    cc_loan *second = must_export(CC_ACCESS_READ_WRITE, false);
    borrower_reads(stream);
    expect_found(stream, 3);
    cc_loan_release(second);
    cc_loan_release(loan);
}
END_TEST

/* A borrower in a stream of its own, which is not the default one, works on them whenever it likes. */
START_TEST(beside_a_known_stream_a_loan_is_made_anew)
{
    if (device < 0)
        return;
    cc_loan *known = must_export(CC_ACCESS_READ_WRITE, true);
    cc_loan *loan = must_export(CC_ACCESS_READ_WRITE, false);
    ck_assert_int_eq(cc_loan_renew(loan, image), CC_LOAN_STALE);
    cc_loan_release(loan);
    cc_loan_release(known);
}
END_TEST

/* Pixels that the host has brought to the borrower are there in the order of its stream. */
START_TEST(a_loan_stands_again_after_pixels_came_back)
{
    if (device < 0)
        return;
    cc_loan *loan = must_export(CC_ACCESS_READ_WRITE, false);
    byte_pixels_write_host(image, NULL, 5);
    fixture_ok(cc_stream_synchronize(device, CC_STREAM_DEFAULT));
    cc_loan *second = must_export(CC_ACCESS_READ_WRITE, false);
    const int32_t standing = cc_loan_renew(second, image);
    ck_assert(standing == CC_LOAN_STANDS || standing == CC_LOAN_PENDING);
    borrower_reads(CC_STREAM_DEFAULT);
    expect_found(CC_STREAM_DEFAULT, 5);
    cc_loan_release(second);
    cc_loan_release(loan);
}
END_TEST

START_TEST(a_copy_in_somebodys_hands_is_not_copied_over)
{
    const cc_region left = region_at(0, 0, 4, SIZE);
    const cc_region right = region_at(4, 0, 4, SIZE);
    void *pixels = NULL;
    void *more = NULL;
    if (device < 0)
        return;
    cc_loan *loan = must_export(CC_ACCESS_READ_WRITE, false);
    borrower_writes(other_stream, 5);
    fixture_ok(cc_image_map_host(image, &left, CC_ACCESS_READ, &pixels));
    borrower_writes(other_stream, 6);
    expect_failure(CC_ERROR_BUSY, "mapped on the host", cc_image_map_host(image, NULL, CC_ACCESS_READ, &more));
    expect_failure(CC_ERROR_BUSY, "mapped on the host", cc_image_prefetch(image, NULL, CC_PLACE_HOST));
    byte_pixels_expect_host(image, &right, 6);
    ck_assert_int_eq(*(unsigned char *)pixels, 5);
    /* Nor does it change when the loan ends. */
    cc_loan_release(loan);
    expect_failure(CC_ERROR_BUSY, "mapped on the host", cc_image_map_host(image, NULL, CC_ACCESS_READ, &more));
    expect_failure(CC_ERROR_BUSY, "lent", cc_image_evict(image, device));
    ck_assert_int_eq(*(unsigned char *)pixels, 5);
    byte_pixels_expect_device(image, NULL, 6, other_stream);
    fixture_ok(cc_image_unmap_host(image, pixels));
    byte_pixels_expect_host(image, NULL, 6);
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &more));
    fixture_ok(cc_image_unmap_host(image, pixels));
    fixture_ok(cc_image_unmap_host(image, more));
    fixture_ok(cc_image_evict(image, device));
}
END_TEST

static void fail_all(faulty_operation operation)
{
    const faulty_rule rule = {operation, 1, true, CC_ERROR_DEVICE, FAULTY_NATIVE_ERROR};
    faulty_backend_add_rule(fixture_backend, &rule);
}

START_TEST(bringing_back_may_fail)
{
    void *pixels = NULL;
    if (device < 0)
        return;
    cc_loan *loan = must_export(CC_ACCESS_READ, true);
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ_WRITE, &pixels));
    memset(pixels, 9, BYTES);
    fail_all(FAULTY_COPY);
    fail_all(FAULTY_COPY_BOXES);
    expect_passed_on(CC_ERROR_DEVICE, cc_image_unmap_host(image, pixels));
    /* The mapping stands. */
    ck_assert(bytes_are(pixels, 9, BYTES));
    expect_passed_on(CC_ERROR_DEVICE, cc_image_unmap_host(image, pixels));
    faulty_backend_clear_rules(fixture_backend);
    fixture_ok(cc_image_unmap_host(image, pixels));
    borrower_reads(stream);
    expect_found(stream, 9);

    /* A device that does not come back: with the loan gone nobody needs the pixels there. */
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ_WRITE, &pixels));
    memset(pixels, 10, BYTES);
    fail_all(FAULTY_COPY);
    fail_all(FAULTY_COPY_BOXES);
    expect_passed_on(CC_ERROR_DEVICE, cc_image_unmap_host(image, pixels));
    cc_loan_release(loan);
    fixture_ok(cc_image_unmap_host(image, pixels));
    byte_pixels_expect_host(image, NULL, 10);
    faulty_backend_clear_rules(fixture_backend);
}
END_TEST

START_TEST(a_capture_is_left_alone)
{
    cc_export_params params = CC_EXPORT_PARAMS_INIT;
    cc_loan *none = NULL;
    void *pixels = NULL;
    if (!fixture_is_emulated())
        return;
    params.place = device;
    params.stream = stream;
    cc__emulated_set_capturing(fixture_inner, device, stream, true);
    expect_failure(CC_ERROR_CAPTURE, "captured", cc_image_export(image, &params, &lent, &none));
    cc__emulated_set_capturing(fixture_inner, device, stream, false);
    cc_loan *loan = must_export(CC_ACCESS_READ_WRITE, true);
    borrower_writes(stream, 5);
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ_WRITE, &pixels));
    memset(pixels, 6, BYTES);
    cc__emulated_set_capturing(fixture_inner, device, stream, true);
    expect_passed_on(CC_ERROR_CAPTURE, cc_image_unmap_host(image, pixels));
    cc__emulated_set_capturing(fixture_inner, device, stream, false);
    fixture_ok(cc_image_unmap_host(image, pixels));
    borrower_reads(stream);
    expect_found(stream, 6);

    /* A stream that cannot be marked is as one that is not known. */
    borrower_writes(stream, 7);
    cc__emulated_set_capturing(fixture_inner, device, stream, true);
    cc_loan_release(loan);
    cc__emulated_set_capturing(fixture_inner, device, stream, false);
    byte_pixels_expect_host(image, NULL, 7);
    ck_assert_int_eq(waits_for_device(), 1);
}
END_TEST

START_TEST(under_pressure_lent_memory_stays)
{
    cc_image *others[4];
    if (device < 0)
        return;
    byte_pixels_write_device(image, NULL, 50, stream);
    cc_loan *loan = must_export(CC_ACCESS_READ_WRITE, false);
    fixture_ok(cc_device_set_limit(device, (size_t)2 * BYTES, 0));
    for (int32_t i = 0; i < 4; ++i) {
        others[i] = fixture_image(CC_PIXEL_UINT8, 1, 2, SIZE, SIZE, 1);
        fixture_ok(cc_image_set_device(others[i], device));
    }
    for (int32_t round = 0; round < 3; ++round)
        for (int32_t i = 0; i < 4; ++i) {
            if (round > 0)
                byte_pixels_expect_device(others[i], NULL, (unsigned char)(round - 1 + i), other_stream);
            byte_pixels_write_device(others[i], NULL, (unsigned char)(round + i), other_stream);
        }
    borrower_reads(stream);
    expect_found(stream, 50);
    ck_assert_uint_eq(fixture_counters(image).evictions, 0);

    /* When it has come back, it is one like the others, and what was written last goes to the host. */
    borrower_writes(other_stream, 51);
    cc_loan_release(loan);
    for (int32_t i = 0; i < 4; ++i)
        byte_pixels_expect_device(others[i], NULL, (unsigned char)(2 + i), stream);
    void *pixels = NULL;
    void *more = NULL;
    fixture_ok(cc_image_map_device(others[0], NULL, CC_ACCESS_READ, stream, &pixels));
    fixture_ok(cc_image_map_device(others[1], NULL, CC_ACCESS_READ, stream, &more));
    ck_assert_uint_eq(fixture_counters(image).evictions, 1);
    fixture_ok(cc_image_unmap_device(others[0], pixels, stream));
    fixture_ok(cc_image_unmap_device(others[1], more, stream));
    byte_pixels_expect_host(image, NULL, 51);
    for (int32_t i = 0; i < 4; ++i)
        cc_image_release(others[i]);
    fixture_ok(cc_device_set_limit(device, 0, 0));
}
END_TEST

static void *mapped;
static int32_t refusals;

/* While the pixels are on their way to the borrower, a second unmap of the same ones finds nothing. */
static bool unmap_again(faulty_operation operation)
{
    void *const pixels = mapped;
    if (pixels != NULL && (operation == FAULTY_COPY || operation == FAULTY_COPY_BOXES)) {
        mapped = NULL;
        refusals += cc_image_unmap_host(image, pixels) == CC_ERROR_INVALID_ARGUMENT;
    }
    return false;
}

START_TEST(pixels_are_given_back_once)
{
    if (device < 0)
        return;
    cc_loan *loan = must_export(CC_ACCESS_READ, true);
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &mapped));
    void *const pixels = mapped;
    memset(pixels, 3, BYTES);
    refusals = 0;
    faulty_backend_set_hook(fixture_backend, unmap_again);
    fixture_ok(cc_image_unmap_host(image, pixels));
    faulty_backend_set_hook(fixture_backend, NULL);
    ck_assert_int_eq(refusals, 1);
    borrower_reads(stream);
    expect_found(stream, 3);
    cc_loan_release(loan);
}
END_TEST

static void *unmap_elsewhere(void *pixels)
{
    return cc_image_unmap_host(image, pixels) == CC_OK ? image : NULL;
}

static void *return_elsewhere(void *loan)
{
    cc_loan_release(loan);
    return NULL;
}

START_TEST(any_thread_brings_back_and_returns)
{
    void *pixels = NULL;
    void *done = NULL;
    pthread_t thread;
    if (device < 0)
        return;
    cc_loan *loan = must_export(CC_ACCESS_READ_WRITE, true);
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    memset(pixels, 3, BYTES);
    ck_assert_int_eq(pthread_create(&thread, NULL, unmap_elsewhere, pixels), 0);
    pthread_join(thread, &done);
    ck_assert_ptr_eq(done, image);
    borrower_reads(stream);
    expect_found(stream, 3);
    borrower_writes(stream, 4);
    ck_assert_int_eq(pthread_create(&thread, NULL, return_elsewhere, loan), 0);
    pthread_join(thread, NULL);
    byte_pixels_expect_host(image, NULL, 4);
}
END_TEST

/* The borrower's last work runs in memory that is still there; and whoever returns it waits for nothing. */
START_TEST(memory_goes_after_the_borrowers_work)
{
    cc_region tiny = region_at(0, 0, 1, 1);
    if (device < 0)
        return;
    cc_loan *loan = must_export(CC_ACCESS_READ_WRITE, false);
    fixture_ok(cc_image_resize(image, &tiny));
    borrower_writes(other_stream, 6);
    borrower_reads(other_stream);
    const faulty_counts before = faulty_backend_counts(fixture_backend);
    cc_loan_release(loan);
    const faulty_counts after = faulty_backend_counts(fixture_backend);
    ck_assert_int_eq(after.calls[FAULTY_SYNCHRONIZE], before.calls[FAULTY_SYNCHRONIZE]);
    ck_assert_int_eq(after.calls[FAULTY_STREAM_SYNCHRONIZE], before.calls[FAULTY_STREAM_SYNCHRONIZE]);
    ck_assert_int_eq(after.calls[FAULTY_EVENT_SYNCHRONIZE], before.calls[FAULTY_EVENT_SYNCHRONIZE]);
    ck_assert_int_eq(after.calls[FAULTY_FREE], before.calls[FAULTY_FREE]);
    /* The next who needs memory frees it; also when that runs first, nothing of the borrower's comes too late. */
    byte_pixels_write_device(image, NULL, 7, stream);
    cc__transfer_streams_synchronize(fixture_backend, device);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).calls[FAULTY_FREE], before.calls[FAULTY_FREE] + 1);
    expect_found(other_stream, 6);

    loan = must_export(CC_ACCESS_READ_WRITE, false);
    fixture_ok(cc_image_resize(image, &tiny));
    cc_loan_release(loan);
    fixture_ok(cc_device_trim(device, 0));
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).calls[FAULTY_FREE], before.calls[FAULTY_FREE] + 2);
    loan = must_export(CC_ACCESS_READ_WRITE, true);
    fixture_ok(cc_image_resize(image, &tiny));
    cc_loan_release(loan);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).calls[FAULTY_FREE], before.calls[FAULTY_FREE] + 3);
}
END_TEST

START_TEST(lending_again_and_again_leaves_nothing_behind)
{
    if (device < 0)
        return;
    cc_loan_release(must_export(CC_ACCESS_READ_WRITE, false));
    const long live = cc__allocations_live();
    for (int32_t i = 0; i < 2000; ++i) {
        cc_loan *loan = must_export(CC_ACCESS_READ_WRITE, i % 3 == 0);
        cc_loan *second = i % 2 == 0 ? must_export(CC_ACCESS_READ_WRITE, false) : NULL;
        if (i % 100 == 0)
            borrower_writes(stream, (unsigned char)i);
        cc_loan_release(loan);
        cc_loan_release(second);
    }
    if (fixture_is_emulated())
        ck_assert_int_lt(cc__emulated_count_live(fixture_inner).events, 100);
    ck_assert_int_lt(cc__allocations_live(), live + 100);
    byte_pixels_expect_host(image, NULL, (unsigned char)1900);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("loans_device");
    TCase *tcase = tcase_create("loans_device");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, the_host_sees_what_any_stream_writes);
    tcase_add_test(tcase, a_known_stream_costs_no_wait_for_the_device);
    tcase_add_test(tcase, returning_in_a_stream_costs_no_wait_for_the_device);
    tcase_add_test(tcase, what_is_written_elsewhere_is_brought_to_the_borrower);
    tcase_add_test(tcase, use_at_the_same_place_is_in_order_with_the_borrower);
    tcase_add_test(tcase, the_borrower_comes_after_copies_of_its_pixels);
    tcase_add_test(tcase, a_reading_loan_costs_no_copies);
    tcase_add_test(tcase, what_is_pending_is_told);
    tcase_add_test(tcase, beside_somebody_unknown_the_default_stream_tells);
    tcase_add_test(tcase, a_loan_stands_while_nothing_has_to_be_waited_for);
    tcase_add_test(tcase, beside_a_known_stream_a_loan_is_made_anew);
    tcase_add_test(tcase, a_loan_stands_again_after_pixels_came_back);
    tcase_add_test(tcase, a_copy_in_somebodys_hands_is_not_copied_over);
    tcase_add_test(tcase, bringing_back_may_fail);
    tcase_add_test(tcase, a_capture_is_left_alone);
    tcase_add_test(tcase, under_pressure_lent_memory_stays);
    tcase_add_test(tcase, pixels_are_given_back_once);
    tcase_add_test(tcase, any_thread_brings_back_and_returns);
    tcase_add_test(tcase, memory_goes_after_the_borrowers_work);
    tcase_add_test(tcase, lending_again_and_again_leaves_nothing_behind);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
