/*
 * A filter in which the nth thing fails: an error comes back, the images hold what they held, nothing is left behind,
 * and the same filter works when it is run again.
 */
#include "support/byte_pixels.h"
#include "support/fault_sequence.h"
#include "support/fixture.h"

#define OLD 3
#define INPUT 5
#define KINDS 8

static cc_image *input, *output;
static int calls;

/* output = last input + 1, by way of images, so that more can fail. */
static cc_status add_one(const cc_tile *tile, void *user_data)
{
    cc_image *from = NULL, *to = NULL;
    (void)user_data;
    ++calls;
    cc_status status = cc_tile_wrap(tile, tile->input_count - 1, &from);
    if (status == CC_OK)
        status = cc_tile_wrap(tile, CC_TILE_OUTPUT, &to);
    return status == CC_OK ? cc_image_rescale(from, 1, 1, to, tile->stream) : status;
}

static bool is_in_place(int kind)
{
    return (kind & 1) != 0;
}

/* The output's old pixels are on the host, and perhaps on the device; the input's too, or there alone. */
static void prepare(int kind)
{
    input = fixture_image(CC_PIXEL_UINT8, 1, 3, 7, 5, 3);
    output = fixture_image(CC_PIXEL_UINT8, 1, 3, 7, 5, 3);
    byte_pixels_write_host(input, NULL, INPUT);
    byte_pixels_write_host(output, NULL, OLD);
    if (fixture_device_count() == 0)
        return;
    fixture_ok(cc_image_set_device(input, 0));
    fixture_ok(cc_image_set_device(output, 0));
    if ((kind & 2) != 0)
        fixture_ok(cc_image_prefetch(output, NULL, 0));
    if ((kind & 4) != 0)
        byte_pixels_write_device(input, NULL, INPUT, CC_STREAM_DEFAULT);
}

static cc_status run(int kind)
{
    cc_image *const inputs[] = {input, output};
    cc_filter filter = CC_FILTER_INIT;
    filter.inputs = inputs;
    filter.input_count = is_in_place(kind) ? 2 : 1;
    filter.output = output;
    filter.on_device = add_one;
    filter.on_host = add_one;
    filter.place = fixture_device_count() > 0 ? 0 : CC_PLACE_HOST;
    return cc_filter_run(&filter);
}

START_TEST(nth_fault)
{
    const int kind = _i;
    const unsigned char expected = (unsigned char)(is_in_place(kind) ? OLD + 1 : INPUT + 1);
    bool goes_on = true;
    int faults = 0;
    for (int64_t nth = 1; goes_on; nth += FAULT_STEP) {
        prepare(kind);
        calls = 0;
        fault_sequence_start(nth, false);
        const cc_status status = run(kind);
        goes_on = fault_sequence_stop() >= nth;
        if (status != CC_OK) {
            faults++;
            ck_assert_int_le(calls, 1);
            byte_pixels_expect_host(input, NULL, INPUT);
            byte_pixels_expect_host(output, NULL, OLD);
            fixture_ok(run(kind));
        }
        byte_pixels_expect_host(output, NULL, expected);
        byte_pixels_expect_host(input, NULL, INPUT);
        cc_image_release(input);
        cc_image_release(output);
    }
    ck_assert_int_gt(faults, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("filter_faults");
    TCase *tcase = tcase_create("filter_faults");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_loop_test(tcase, nth_fault, 0, KINDS);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
