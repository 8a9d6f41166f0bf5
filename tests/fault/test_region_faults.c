/*
 * Regions and frames in which the nth thing fails: an error comes back, every image and its place in space are as they
 * were, nothing is left behind, and the same call works when tried again.
 */
#include "support/fault_sequence.h"
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

#define STREAM CC_STREAM_DEFAULT
#define I 6
#define J 5
#define K 4
#define PIXELS (I * J * K)

typedef enum call_kind {
    CALL_COPY,
    CALL_CAST,
    CALL_PAD,
    CALL_FLIP,
    CALL_PERMUTE,
    CALL_INTERPOLATE,
    CALL_SPLAT,
    CALL_AVERAGE,
    CALL_CREATE,
    CALLS
} call_kind;

static cc_image *input, *output;
static cc_image *created;

static cc_status do_call(call_kind kind)
{
    cc_pad_params pad = CC_PAD_PARAMS_INIT;
    const cc_region slices = {{0, 0, 1, 0}, {I, J, 2, 1}}, other = {{0, 0, 2, 0}, {I, J, 2, 1}};
    pad.border[0] = CC_BORDER_SYMMETRIC;
    pad.lower[0] = 2;
    switch (kind) {
    case CALL_COPY:
    case CALL_CAST:
        return cc_image_copy_region(input, &slices, output, &other, STREAM);
    case CALL_PAD:
        return cc_image_pad(input, &pad, output, STREAM);
    case CALL_FLIP:
        return cc_image_flip(input, 5, output, STREAM);
    case CALL_PERMUTE:
        return cc_image_permute(input, (const int32_t[]){2, 0, 1, 0}, output, STREAM);
    case CALL_INTERPOLATE:
        return cc_image_interpolate_frames(input, 1.5, CC_BORDER_REPLICATE, output, STREAM);
    case CALL_SPLAT:
        return cc_image_splat_frames(input, 1.5, CC_BORDER_REPLICATE, output, STREAM);
    case CALL_AVERAGE:
        return cc_image_average_frames(input, output, STREAM);
    case CALL_CREATE:
        return cc_image_create_flipped(input, 1, STREAM, &created);
    case CALLS:
        break;
    }
    return CC_OK;
}

static cc_image *numbered(cc_pixel_type type, int64_t i, int64_t j, int64_t k, int first)
{
    cc_image *image = fixture_image(type, 1, 3, i, j, k);
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    for (int64_t n = 0; n < i * j * k; n++) {
        if (type == CC_PIXEL_FLOAT32)
            ((float *)pixels)[n] = (float)(first + n);
        else
            ((int16_t *)pixels)[n] = (int16_t)(first + n);
    }
    fixture_ok(cc_image_unmap_host(image, pixels));
    return image;
}

/* The output's pixels are only on the host, so that the call must bring some, or only on the device. */
static void prepare(call_kind kind)
{
    const cc_pixel_type type = kind == CALL_CAST ? CC_PIXEL_FLOAT32 : CC_PIXEL_INT16;
    created = NULL;
    input = kind == CALL_SPLAT ? numbered(CC_PIXEL_INT16, I, J, 1, 1) : numbered(CC_PIXEL_INT16, I, J, K, 1);
    switch (kind) {
    case CALL_PAD:
        output = numbered(type, I + 2, J, K, 1000);
        break;
    case CALL_PERMUTE:
        output = numbered(type, K, I, J, 1000);
        break;
    case CALL_INTERPOLATE:
    case CALL_AVERAGE:
        output = numbered(type, I, J, 1, 1000);
        break;
    case CALL_COPY:
    case CALL_CAST:
    case CALL_FLIP:
    case CALL_SPLAT:
    case CALL_CREATE:
    case CALLS:
        output = numbered(type, I, J, K, 1000);
        break;
    }
    if (fixture_device_count() > 0)
        fixture_ok(cc_image_prefetch(input, NULL, 0));
}

static void *bytes_of(cc_image *image)
{
    void *pixels = NULL;
    void *bytes = malloc(cc_image_get_size_bytes(image));
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    memcpy(bytes, pixels, cc_image_get_size_bytes(image));
    fixture_ok(cc_image_unmap_host(image, pixels));
    return bytes;
}

static void expect_bytes(cc_image *image, const void *bytes)
{
    void *found = bytes_of(image);
    ck_assert_mem_eq(found, bytes, cc_image_get_size_bytes(image));
    free(found);
}

static void *result_of(call_kind kind)
{
    prepare(kind);
    fixture_ok(do_call(kind));
    void *bytes = bytes_of(kind == CALL_CREATE ? created : output);
    cc_image_release(created);
    cc_image_release(input);
    cc_image_release(output);
    return bytes;
}

START_TEST(nth_fault_of_each_call)
{
    const call_kind kind = (call_kind)_i;
    void *expected = result_of(kind);
    bool goes_on = true;
    int32_t faults = 0;
    for (int64_t nth = 1; goes_on; nth += FAULT_STEP) {
        cc_geometry before = CC_GEOMETRY_INIT, after = CC_GEOMETRY_INIT;
        prepare(kind);
        void *old_input = bytes_of(input), *old_output = bytes_of(output);
        fixture_ok(cc_image_get_geometry(output, &before));
        fault_sequence_start(nth, false);
        cc_status status = do_call(kind);
        goes_on = fault_sequence_stop() >= nth;
        if (status != CC_OK) {
            faults++;
            ck_assert_ptr_null(created);
            expect_bytes(input, old_input);
            expect_bytes(output, old_output);
            fixture_ok(cc_image_get_geometry(output, &after));
            ck_assert_mem_eq(&before, &after, sizeof before);
            fixture_ok(do_call(kind));
        }
        expect_bytes(kind == CALL_CREATE ? created : output, expected);
        expect_bytes(input, old_input);
        free(old_input);
        free(old_output);
        cc_image_release(created);
        cc_image_release(input);
        cc_image_release(output);
    }
    /* On the host all memory is there already. */
    if (fixture_device_count() > 0 || kind == CALL_CREATE)
        ck_assert_int_gt(faults, 0);
    free(expected);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("region_faults");
    TCase *tcase = tcase_create("region_faults");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_loop_test(tcase, nth_fault_of_each_call, 0, CALLS);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
