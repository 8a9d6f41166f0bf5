/*
 * Whatever fails while pixels are on loan, and whenever: the call in progress says so, the same call then works, and
 * neither the image nor the borrower ever sees another value than the last one written.
 */
#include "support/byte_pixels.h"
#include "support/dense_work.h"
#include "support/fault_sequence.h"
#include "support/fixture.h"

#include <stdio.h>
#include <string.h>

#define SIZE 32
#define BYTES (SIZE * SIZE)

/* What the library is asked to do; a borrower's own work does not fail. */
typedef enum call {
    LEND = 0,
    LEND_MORE = 1, /* for reading, in a known stream */
    MAP_HOST = 2,
    UNMAP_HOST = 3,
    MAP_DEVICE = 4, /* on another device, if there is one */
    UNMAP_DEVICE = 5,
    FILL = 6,
    FILL_ROWS = 7,
    PREFETCH = 8,
    EVICT = 9
} call;

static struct {
    cc_image *image;
    cc_place place; /* of the loans */
    int32_t device; /* that others use */
    cc_stream stream;
    cc_loan *loan;
    cc_loan *more;
    cc_descriptor lent;
    void *pixels;
    unsigned char value; /* of all pixels */
    cc_access access;
} now;

static const cc_region upper = {{0, 0, 0, 0}, {SIZE, SIZE / 2, 1, 1}};

static cc_status export_pixels(cc_access access, uint32_t flags, cc_loan **out_loan)
{
    cc_export_params params = CC_EXPORT_PARAMS_INIT;
    params.place = now.place;
    params.access = (int32_t)access;
    params.flags = flags;
    params.stream = now.place == CC_PLACE_HOST ? NULL : now.stream;
    return cc_image_export(now.image, &params, &now.lent, out_loan);
}

static cc_status make(call what)
{
    switch (what) {
    case LEND:
        return export_pixels(CC_ACCESS_READ_WRITE, 0, &now.loan);
    case LEND_MORE:
        return export_pixels(CC_ACCESS_READ, CC_EXPORT_STREAM_KNOWN, &now.more);
    case MAP_HOST:
        return cc_image_map_host(now.image, NULL, now.access, &now.pixels);
    case UNMAP_HOST:
        return cc_image_unmap_host(now.image, now.pixels);
    case MAP_DEVICE:
        return cc_image_map_device(now.image, NULL, now.access, CC_STREAM_DEFAULT, &now.pixels);
    case UNMAP_DEVICE:
        return cc_image_unmap_device(now.image, now.pixels, CC_STREAM_DEFAULT);
    case FILL:
        return cc_image_fill(now.image, NULL, &now.value, CC_STREAM_DEFAULT);
    case FILL_ROWS:
        return cc_image_fill(now.image, &upper, &now.value, CC_STREAM_DEFAULT);
    case PREFETCH:
        return cc_image_prefetch(now.image, NULL, CC_PLACE_HOST);
    case EVICT:
        return cc_image_evict(now.image, now.place);
    }
    return CC_OK;
}

/* What fails is tried once more, and nothing fails then. */
static void must(call what)
{
    const fault_set before = fault_sequence_failed();
    cc_status status = make(what);
    if (status != CC_OK) {
        ck_assert_msg(fault_sequence_failed() != before, "call %d: %s (%s) though nothing failed", (int)what,
                      cc_status_name(status), cc_last_error_message());
        (void)fault_sequence_stop();
        ck_assert(status == CC_ERROR_DEVICE || status == CC_ERROR_OUT_OF_HOST_MEMORY);
        status = make(what);
    }
    ck_assert_msg(status == CC_OK, "call %d again: %s (%s)", (int)what, cc_status_name(status),
                  cc_last_error_message());
}

static void borrower_writes(unsigned char value)
{
    now.value = value;
    if (now.place == CC_PLACE_HOST)
        memset(now.lent.data, value, BYTES);
    else
        fixture_ok(fill_bytes(fixture_inner, now.place, now.stream, now.lent.data, value, BYTES));
}

/* By the default stream, or the known one: both have been made to wait for what was written elsewhere. */
static void borrower_sees(cc_stream in)
{
    unsigned char found[BYTES];
    if (now.place == CC_PLACE_HOST) {
        memcpy(found, now.lent.data, BYTES);
    } else {
        fixture_device_read(now.place, in, found, now.lent.data, BYTES);
        fixture_ok(fixture_inner->stream_synchronize(fixture_inner, now.place, in));
    }
    ck_assert_int_eq(found[0], now.value);
    ck_assert(bytes_are(found, now.value, BYTES));
}

static void host_reads(void)
{
    now.access = CC_ACCESS_READ;
    must(MAP_HOST);
    ck_assert_int_eq(*(unsigned char *)now.pixels, now.value);
    ck_assert(bytes_are(now.pixels, now.value, BYTES));
    must(UNMAP_HOST);
}

static void host_writes(unsigned char value)
{
    now.access = CC_ACCESS_READ_WRITE;
    must(MAP_HOST);
    ck_assert(bytes_are(now.pixels, now.value, BYTES));
    now.value = value;
    memset(now.pixels, value, BYTES);
    must(UNMAP_HOST);
}

static void device_writes(unsigned char value)
{
    now.access = CC_ACCESS_READ_WRITE;
    must(MAP_DEVICE);
    now.value = value;
    fixture_ok(fill_bytes(fixture_inner, now.device, CC_STREAM_DEFAULT, now.pixels, value, BYTES));
    must(UNMAP_DEVICE);
}

static void begin(cc_place place)
{
    const bool on_device = place != CC_PLACE_HOST;
    memset(&now, 0, sizeof now);
    now.lent.struct_size = sizeof now.lent;
    now.place = place;
    now.device = fixture_device_count() - 1;
    now.image = fixture_image(CC_PIXEL_UINT8, 1, 2, SIZE, SIZE, 1);
    if (on_device) {
        now.stream = fixture_stream_create(place);
        fixture_ok(cc_image_set_device(now.image, now.device));
    }
}

/* Returns how many things could have failed. */
static int64_t run_with_fault(cc_place place, int64_t nth)
{
    const bool on_device = place != CC_PLACE_HOST;
    begin(place);
    fault_sequence_start(nth, false);
    must(LEND);
    borrower_writes(1);
    host_reads();
    borrower_writes(2);
    host_writes(3);
    borrower_sees(CC_STREAM_DEFAULT);
    must(PREFETCH);
    if (on_device)
        device_writes(4);
    borrower_sees(CC_STREAM_DEFAULT);
    must(LEND_MORE);
    now.value = 5;
    must(FILL);
    borrower_sees(now.stream);
    host_writes(6);
    borrower_sees(now.stream);
    must(FILL_ROWS);
    borrower_sees(now.stream);
    cc_loan_release(now.more);
    borrower_writes(7);
    cc_loan_release(now.loan);
    host_reads();
    if (on_device) {
        must(EVICT);
        host_reads();
        must(LEND);
        borrower_writes(8);
        cc_loan_release(now.loan);
        must(EVICT);
        host_reads();
    }
    const int64_t count = fault_sequence_stop();
    host_reads();
    cc_image_release(now.image);
    if (on_device) {
        fixture_ok(cc_stream_synchronize(place, now.stream));
        fixture_stream_destroy(place, now.stream);
    }
    fixture_teardown();
    fixture_setup();
    return count;
}

/* The host, then the devices. */
START_TEST(any_fault_is_survived)
{
    const cc_place place = (cc_place)_i - 1;
    if (place >= fixture_device_count() || place > 1)
        return;
    const int64_t count = run_with_fault(place, 0);
    ck_assert_int_gt(count, 0);
    for (int64_t nth = 1; nth <= count; ++nth)
        (void)run_with_fault(place, nth);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("loan_faults");
    TCase *tcase = tcase_create("loan_faults");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, any_fault_is_survived, 0, 3);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
