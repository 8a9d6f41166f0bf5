/*
 * Rescaling through the public call: the bits that cc__rescale_on_host gives (which test_base_rescale.c compares with
 * NumPy), on the host and on devices, for every pair of types and every way in which pixels can lie.
 */
#include "base/work.h"
#include "support/byte_pixels.h"
#include "support/expect.h"
#include "support/fixture.h"
#include "support/rescale_cases.h"

#include <stdlib.h>
#include <string.h>

#define TYPES 15
#define MOST_COMPONENTS 1024
#define MOST_BYTES (MOST_COMPONENTS * 16)

static bool is_on_device;

/* The pixels of a dense image, written on the host; on its device too when that is where the work is to be. */
static void put_pixels(cc_image *image, const void *bytes)
{
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    memcpy(pixels, bytes, cc_image_get_size_bytes(image));
    fixture_ok(cc_image_unmap_host(image, pixels));
    if (is_on_device)
        fixture_ok(cc_image_prefetch(image, NULL, 0));
}

static void get_pixels(cc_image *image, void *bytes)
{
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    memcpy(bytes, pixels, cc_image_get_size_bytes(image));
    fixture_ok(cc_image_unmap_host(image, pixels));
}

static void put_cases(cc_pixel_type type, int64_t count, unsigned char *out_bytes)
{
    for (int64_t at = 0; at < count; ++at)
        rescale_case_write(type, at, out_bytes + (size_t)at * cc_pixel_type_size_bytes(type));
}

/* Components side by side. */
static void expected_of(cc_pixel_type source_type, unsigned char *source, cc_pixel_type destination_type,
                        unsigned char *destination, int64_t count, const double factors[2])
{
    cc__rescale work = {.destination = {.data = destination},
                        .source = {.data = source},
                        .size = {count, 1, 1, 1},
                        .components = 1,
                        .destination_type = destination_type,
                        .source_type = source_type,
                        .scale = factors[0],
                        .shift = factors[1]};
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        work.destination.stride[axis] = (int64_t)cc_pixel_type_size_bytes(destination_type) * (axis == 0 ? 1 : count);
        work.source.stride[axis] = (int64_t)cc_pixel_type_size_bytes(source_type) * (axis == 0 ? 1 : count);
    }
    cc__rescale_on_host(&work);
}

static void check_bits(cc_pixel_type source_type, cc_pixel_type destination_type, const double factors[2],
                       const unsigned char *found, const unsigned char *expected, int64_t count)
{
    const size_t bytes = cc_pixel_type_size_bytes(destination_type);
    if (memcmp(found, expected, (size_t)count * bytes) == 0)
        return;
    for (int64_t at = 0; at < count; ++at)
        ck_assert_msg(memcmp(found + (size_t)at * bytes, expected + (size_t)at * bytes, bytes) == 0,
                      "%s to %s, times %g plus %g: component %d differs from the host's",
                      cc_pixel_type_name(source_type), cc_pixel_type_name(destination_type), factors[0], factors[1],
                      (int)at);
}

/* All interesting values of one source type, into every other; the loop runs over the source types. */
START_TEST(every_pair_of_types)
{
    static unsigned char source[MOST_BYTES], expected[MOST_BYTES], found[MOST_BYTES];
    const cc_pixel_type source_type = (cc_pixel_type)(_i / 2);
    int32_t count = 0;
    is_on_device = _i % 2 == 1;
    if (is_on_device && fixture_device_count() == 0)
        return;
    (void)rescale_case_list(source_type, &count);
    count *= 2; /* parts of complex numbers meet in two ways */
    ck_assert_int_le(count, MOST_COMPONENTS);
    cc_image *input = fixture_image(source_type, 1, 1, count, 1, 1);
    put_cases(source_type, count, source);
    put_pixels(input, source);
    for (int32_t type = 0; type < TYPES; ++type) {
        const cc_pixel_type destination_type = (cc_pixel_type)type;
        cc_image *output = fixture_image(destination_type, 1, 1, count, 1, 1);
        for (int32_t factors = 0; factors < RESCALE_FACTORS; ++factors) {
            const double *scale_and_shift = rescale_factors[factors];
            expected_of(source_type, source, destination_type, expected, count, scale_and_shift);
            fixture_ok(cc_image_rescale(input, scale_and_shift[0], scale_and_shift[1], output, CC_STREAM_DEFAULT));
            cc_place_state state = CC_PLACE_STATE_INIT;
            fixture_ok(cc_image_get_place_state(output, is_on_device ? 0 : CC_PLACE_HOST, &state));
            ck_assert_int_eq(state.valid_pixels, count);
            get_pixels(output, found);
            check_bits(source_type, destination_type, scale_and_shift, found, expected, count);
            /* Where the output has memory must not decide for the next. */
            cc_image_release(output);
            output = fixture_image(destination_type, 1, 1, count, 1, 1);
        }
        cc_image_release(output);
    }
    cc_image_release(input);
}
END_TEST

typedef struct pair {
    cc_pixel_type source;
    cc_pixel_type destination;
} pair;

static const pair pairs[] = {
    {CC_PIXEL_UINT8, CC_PIXEL_UINT8},       {CC_PIXEL_INT16, CC_PIXEL_FLOAT32},     {CC_PIXEL_FLOAT32, CC_PIXEL_UINT8},
    {CC_PIXEL_COMPLEX64, CC_PIXEL_FLOAT64}, {CC_PIXEL_FLOAT64, CC_PIXEL_COMPLEX64}, {CC_PIXEL_BOOL, CC_PIXEL_BFLOAT16},
    {CC_PIXEL_INT64, CC_PIXEL_UINT64},      {CC_PIXEL_COMPLEX128, CC_PIXEL_BOOL},   {CC_PIXEL_FLOAT16, CC_PIXEL_INT32},
};
#define PAIRS (sizeof pairs / sizeof pairs[0])

#define ELEMENTS (6 * 5 * 4)

/* A crop of one image into a crop of another, 1 to 4 components: the pixels move, and nothing beside them. */
START_TEST(views_of_images)
{
    static unsigned char source[MOST_BYTES], before[MOST_BYTES], found[MOST_BYTES];
    const double factors[2] = {2, 3};
    const pair *types = &pairs[_i / 2];
    is_on_device = _i % 2 == 1;
    if (is_on_device && fixture_device_count() == 0)
        return;
    const cc_region in = {{1, 2, 0, 0}, {3, 2, 4, 0}}, out = {{2, 0, 1, 0}, {3, 2, 4, 0}};
    for (int32_t components = 1; components <= 4; ++components) {
        const int64_t count = (int64_t)ELEMENTS * components;
        cc_image *whole_input = fixture_image(types->source, components, 3, 6, 5, 4), *input = NULL;
        cc_image *whole_output = fixture_image(types->destination, components, 3, 5, 4, 6), *output = NULL;
        put_cases(types->source, count, source);
        put_cases(types->destination, count, before);
        put_pixels(whole_input, source);
        put_pixels(whole_output, before);
        fixture_ok(cc_image_create_view(whole_input, &in, &input));
        fixture_ok(cc_image_create_view(whole_output, &out, &output));
        fixture_ok(cc_image_rescale(input, factors[0], factors[1], output, CC_STREAM_DEFAULT));
        get_pixels(whole_output, found);
        const size_t source_bytes = cc_pixel_type_size_bytes(types->source) * (size_t)components;
        const size_t bytes = cc_pixel_type_size_bytes(types->destination) * (size_t)components;
        for (int64_t k = 0; k < 4; ++k)
            for (int64_t j = 0; j < 2; ++j)
                for (int64_t i = 0; i < 3; ++i)
                    expected_of(types->source, source + (size_t)((k * 5 + j + 2) * 6 + i + 1) * source_bytes,
                                types->destination, before + (size_t)(((k + 1) * 4 + j) * 5 + i + 2) * bytes,
                                components, factors);
        ck_assert_msg(memcmp(found, before, (size_t)ELEMENTS * bytes) == 0, "%s to %s, %d components",
                      cc_pixel_type_name(types->source), cc_pixel_type_name(types->destination), components);
        cc_image_release(input);
        cc_image_release(output);
        cc_image_release(whole_input);
        cc_image_release(whole_output);
    }
}
END_TEST

/* Memory of the caller's with the axes in another order and gaps between the rows. */
START_TEST(wrapped_memory_with_strides)
{
    static uint64_t memory[2][64 * 64];
    unsigned char source[24 * 16], expected[24 * 16], found[16];
    const double factors[2] = {0.5, -1};
    const pair *types = &pairs[_i];
    const int64_t source_bytes = (int64_t)cc_pixel_type_size_bytes(types->source),
                  bytes = (int64_t)cc_pixel_type_size_bytes(types->destination);
    cc_image *images[] = {fixture_image(types->source, 1, 2, 4, 6, 1),
                          fixture_image(types->destination, 1, 2, 4, 6, 1)};
    const int64_t element_bytes[] = {source_bytes, bytes};
    put_cases(types->source, 24, source);
    memset(memory, 0x5a, sizeof memory);
    for (int32_t i = 0; i < 2; ++i) {
        cc_wrap_params params = CC_WRAP_PARAMS_INIT;
        params.flags = CC_WRAP_BORROWED;
        params.data = memory[i];
        params.strides_bytes[0] = i == 0 ? 7 * element_bytes[0] : 3 * element_bytes[1];
        params.strides_bytes[1] = i == 0 ? element_bytes[0] : 13 * element_bytes[1];
        params.size_bytes = (size_t)(3 * params.strides_bytes[0] + 5 * params.strides_bytes[1] + element_bytes[i]);
        fixture_ok(cc_image_wrap_host(images[i], &params));
    }
    for (int64_t j = 0; j < 6; ++j)
        for (int64_t i = 0; i < 4; ++i)
            memcpy((unsigned char *)memory[0] + (7 * i + j) * source_bytes, source + (j * 4 + i) * source_bytes,
                   (size_t)source_bytes);
    expected_of(types->source, source, types->destination, expected, 24, factors);
    if (fixture_device_count() > 0 && _i % 2 == 1)
        fixture_ok(cc_image_prefetch(images[0], NULL, 0));
    fixture_ok(cc_image_rescale(images[0], factors[0], factors[1], images[1], CC_STREAM_DEFAULT));
    fixture_ok(cc_image_prefetch(images[1], NULL, CC_PLACE_HOST));
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(images[1], NULL, CC_ACCESS_READ, &pixels));
    ck_assert_ptr_eq(pixels, memory[1]);
    for (int64_t j = 0; j < 6; ++j)
        for (int64_t i = 0; i < 4; ++i)
            ck_assert_mem_eq((unsigned char *)pixels + (3 * i + 13 * j) * bytes, expected + (j * 4 + i) * bytes,
                             (size_t)bytes);
    memset(found, 0x5a, sizeof found);
    ck_assert_mem_eq((unsigned char *)pixels + bytes, found, (size_t)bytes);
    fixture_ok(cc_image_unmap_host(images[1], pixels));
    cc_image_release(images[0]);
    cc_image_release(images[1]);
}
END_TEST

START_TEST(in_place)
{
    const cc_region part = region_at(2, 2, 4, 4), beside = region_at(2, 6, 4, 2);
    for (int32_t on_device = 0; on_device <= (fixture_device_count() > 0); ++on_device) {
        cc_image *image = fixture_image(CC_PIXEL_UINT8, 1, 2, 8, 8, 1), *view = NULL, *same = NULL;
        cc_image *graft = fixture_image(CC_PIXEL_UINT8, 1, 1, 1, 1, 1);
        byte_pixels_write_host(image, NULL, 3);
        if (on_device)
            fixture_ok(cc_image_prefetch(image, NULL, 0));
        fixture_ok(cc_image_rescale(image, 2, 1, image, CC_STREAM_DEFAULT));
        byte_pixels_expect_host(image, NULL, 7);
        fixture_ok(cc_image_create_view(image, &part, &view));
        fixture_ok(cc_image_create_view(image, &part, &same));
        fixture_ok(cc_image_rescale(view, 2, 0, same, CC_STREAM_DEFAULT));
        byte_pixels_expect_host(image, &part, 14);
        byte_pixels_expect_host(image, &beside, 7);
        fixture_ok(cc_image_graft(graft, image));
        fixture_ok(cc_image_rescale(image, 1, 1, graft, CC_STREAM_DEFAULT));
        byte_pixels_expect_host(graft, &part, 15);
        byte_pixels_expect_host(image, &beside, 8);
        cc_image_release(graft);
        cc_image_release(same);
        cc_image_release(view);
        cc_image_release(image);
    }
}
END_TEST

START_TEST(parts_of_one_image)
{
    const cc_region left = region_at(0, 0, 4, 8), right = region_at(4, 0, 4, 8), shifted = region_at(1, 0, 4, 8);
    cc_image *image = fixture_image(CC_PIXEL_UINT8, 1, 2, 8, 8, 1), *views[3] = {NULL, NULL, NULL};
    const cc_region *regions[] = {&left, &right, &shifted};
    byte_pixels_write_host(image, NULL, 5);
    for (int32_t i = 0; i < 3; ++i)
        fixture_ok(cc_image_create_view(image, regions[i], &views[i]));
    fixture_ok(cc_image_rescale(views[0], 2, 0, views[1], CC_STREAM_DEFAULT));
    byte_pixels_expect_host(image, &left, 5);
    byte_pixels_expect_host(image, &right, 10);
    expect_failure(CC_ERROR_BUSY, "overlap", cc_image_rescale(views[0], 2, 0, views[2], CC_STREAM_DEFAULT));
    expect_failure(CC_ERROR_BUSY, "overlap", cc_image_rescale(views[2], 2, 0, views[1], CC_STREAM_DEFAULT));
    byte_pixels_expect_host(image, &left, 5);
    byte_pixels_expect_host(image, &right, 10);
    for (int32_t i = 0; i < 3; ++i)
        cc_image_release(views[i]);
    cc_image_release(image);
}
END_TEST

/* What counts is where pixels are, counted from the first: not indices, and not the number of axes. */
START_TEST(indices_and_dimensions_need_not_agree)
{
    const int64_t index[CC_MAX_DIMENSION] = {-100, 50, 0, 0};
    cc_image *flat = fixture_image(CC_PIXEL_UINT8, 1, 2, 4, 6, 1),
             *slice = fixture_image(CC_PIXEL_INT16, 1, 3, 4, 6, 1);
    unsigned char bytes[24];
    int16_t found[24];
    for (int32_t at = 0; at < 24; ++at)
        bytes[at] = (unsigned char)(10 * at);
    is_on_device = false;
    put_pixels(flat, bytes);
    fixture_ok(cc_image_set_index(flat, index));
    fixture_ok(cc_image_rescale(flat, -1, 0, slice, CC_STREAM_DEFAULT));
    get_pixels(slice, found);
    for (int32_t at = 0; at < 24; ++at)
        ck_assert_int_eq(found[at], -10 * at);
    cc_image_release(flat);
    cc_image_release(slice);
}
END_TEST

START_TEST(a_fill_value_is_rescaled_like_pixels)
{
    cc_image *input = fixture_image(CC_PIXEL_FLOAT32, 2, 3, 3, 3, 3),
             *output = fixture_image(CC_PIXEL_UINT8, 2, 3, 3, 3, 3);
    const float value[] = {300.5f, -4};
    unsigned char found[54];
    fixture_ok(cc_image_fill(input, NULL, value, CC_STREAM_DEFAULT));
    fixture_ok(cc_image_rescale(input, 0.5, 0.25, output, CC_STREAM_DEFAULT));
    get_pixels(output, found);
    for (int32_t at = 0; at < 54; at += 2) {
        ck_assert_int_eq(found[at], 150); /* 150.5 is halfway: to even */
        ck_assert_int_eq(found[at + 1], 0);
    }
    cc_image_release(input);
    cc_image_release(output);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rescale");
    TCase *tcase = tcase_create("rescale");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, every_pair_of_types, 0, 2 * TYPES);
    tcase_add_loop_test(tcase, views_of_images, 0, 2 * PAIRS);
    tcase_add_loop_test(tcase, wrapped_memory_with_strides, 0, PAIRS);
    tcase_add_test(tcase, in_place);
    tcase_add_test(tcase, parts_of_one_image);
    tcase_add_test(tcase, indices_and_dimensions_need_not_agree);
    tcase_add_test(tcase, a_fill_value_is_rescaled_like_pixels);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
