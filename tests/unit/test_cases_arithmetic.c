/*
 * Faults that users of this kind of software have met, by the numbers that this project gives them: those about
 * arithmetic and arguments. Each is the whole kind of fault, not only the case.
 */
#include "support/byte_pixels.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>

static cc_image *image_of(cc_pixel_type type, int32_t components, int32_t dimension, cc_region region)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *image = NULL;
    params.dimension = dimension;
    params.pixel_type = type;
    params.components = components;
    params.region = region;
    fixture_ok(cc_image_create(&params, &image));
    return image;
}

static cc_descriptor describe(cc_image *image, const cc_region *region, cc_order order)
{
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    fixture_ok(cc_image_describe(image, region, order, 0, CC_PLACE_HOST, &descriptor));
    return descriptor;
}

static void check_axes(const cc_descriptor *descriptor, int32_t ndim, const int64_t shape[], const int64_t strides[])
{
    ck_assert_int_eq(descriptor->ndim, ndim);
    ck_assert_mem_eq(descriptor->shape, shape, (size_t)ndim * sizeof shape[0]);
    ck_assert_mem_eq(descriptor->strides_bytes, strides, (size_t)ndim * sizeof strides[0]);
}

/* 32-bit overflow on large volumes. */
START_TEST(t5)
{
    cc_place_state state = CC_PLACE_STATE_INIT;
    cc_image *image = image_of(CC_PIXEL_FLOAT32, 1, 3, (cc_region){.size = {1264, 1356, 1356, 0}});
    const cc_descriptor descriptor = describe(image, NULL, CC_ORDER_C);
    check_axes(&descriptor, 3, (const int64_t[]){1356, 1356, 1264}, (const int64_t[]){6855936, 5056, 4});
    ck_assert_uint_eq(cc_image_get_size_bytes(image), 9296649216);
    fixture_ok(cc_image_get_place_state(image, CC_PLACE_HOST, &state));
    ck_assert_int_eq(state.constant_pixels, 2324162304);
    cc_image_release(image);

    image = image_of(CC_PIXEL_FLOAT32, 1, 3, (cc_region){.size = {2048, 2048, 2048, 0}});
    ck_assert_uint_eq(cc_image_get_size_bytes(image), 34359738368);
    const cc_region last = {{2047, 2047, 2047, 0}, {1, 1, 1, 0}};
    cc_image *view = NULL;
    fixture_ok(cc_image_create_view(image, &last, &view));
    ck_assert_uint_eq(cc_image_get_size_bytes(view), 4);
    cc_image_release(view);
    cc_image_release(image);

    image = image_of(CC_PIXEL_UINT8, 1, 2, (cc_region){.size = {70000, 70000, 0, 0}});
    ck_assert_uint_eq(cc_image_get_size_bytes(image), 4900000000);
    cc_image_release(image);
}
END_TEST

/* The region's index is 64 bits wide, wherever it comes out. */
START_TEST(t7)
{
    static const int64_t far[] = {-7,        INT64_C(2147483648), INT64_C(-2147483649), INT64_C(1) << 53,
                                  INT64_MIN, INT64_MAX - 2};
    cc_image *image = image_of(CC_PIXEL_UINT8, 1, 3, (cc_region){{5, -7, 9, 0}, {2, 2, 2, 0}});
    ck_assert_int_eq(cc_image_get_index(image, 0), 5);
    ck_assert_int_eq(cc_image_get_index(image, 1), -7);
    ck_assert_int_eq(cc_image_get_index(image, 2), 9);
    for (size_t i = 0; i < sizeof far / sizeof far[0]; ++i) {
        const int64_t index[CC_MAX_DIMENSION] = {far[i], -7, 9, 0};
        fixture_ok(cc_image_set_index(image, index));
        ck_assert_int_eq(cc_image_get_index(image, 0), far[i]);
        ck_assert_int_eq(cc_image_get_region(image).index[0], far[i]);
        const cc_region second = {{far[i] + 1, -6, 10, 0}, {1, 1, 1, 1}};
        byte_pixels_write_host(image, &second, (unsigned char)(i + 1));
        byte_pixels_expect_host(image, &second, (unsigned char)(i + 1));
        cc_region valid;
        int32_t count = 0;
        fixture_ok(cc_image_get_valid_regions(image, CC_PLACE_HOST, 1, &valid, &count));
        ck_assert_int_eq(valid.index[0], far[i] + 1);
    }
    cc_image_release(image);
}
END_TEST

/* The requested region is not the buffered one. */
START_TEST(t24)
{
    static const int64_t shape[] = {3, 64, 64}, strides[] = {16384, 256, 4};
    cc_image *image = image_of(CC_PIXEL_FLOAT32, 1, 3, (cc_region){.size = {64, 64, 10, 0}});
    const cc_region requested = {{0, 0, 4, 0}, {64, 64, 3, 0}}, outside = {{0, 0, 8, 0}, {64, 64, 3, 0}};
    void *base = NULL, *pixels = NULL;
    cc_descriptor descriptor = describe(image, &requested, CC_ORDER_C);
    check_axes(&descriptor, 3, shape, strides);
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &base));
    fixture_ok(cc_image_map_host(image, &requested, CC_ACCESS_READ, &pixels));
    ck_assert_int_eq((char *)pixels - (char *)base, 65536);
    fixture_ok(cc_image_unmap_host(image, pixels));
    fixture_ok(cc_image_unmap_host(image, base));
    expect_failure(CC_ERROR_REGION, "region",
                   cc_image_describe(image, &outside, CC_ORDER_C, 0, CC_PLACE_HOST, &descriptor));
    expect_failure(CC_ERROR_REGION, "region", cc_image_map_host(image, &outside, CC_ACCESS_READ, &pixels));
    cc_image_release(image);
}
END_TEST

/* No pixels: nothing is allocated, nothing crashes. */
START_TEST(t26)
{
    const unsigned char value[4] = {1, 2, 3, 4};
    for (int32_t axis = 0; axis < 4; ++axis) {
        cc_region region = {.size = {3, 4, 5, 6}};
        region.size[axis] = 0;
        cc_image *image = image_of(CC_PIXEL_FLOAT32, 1, 4, region), *view = NULL;
        cc_place_state state = CC_PLACE_STATE_INIT;
        int32_t count = -1;
        void *pixels = image;
        fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ_WRITE, &pixels));
        ck_assert_ptr_null(pixels);
        fixture_ok(cc_image_unmap_host(image, pixels));
        fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
        fixture_ok(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
        fixture_ok(cc_image_fill(image, NULL, value, CC_STREAM_DEFAULT));
        fixture_ok(cc_image_rescale(image, 2, 1, image, CC_STREAM_DEFAULT));
        fixture_ok(cc_image_prefetch(image, NULL, CC_PLACE_HOST));
        fixture_ok(cc_image_evict(image, CC_PLACE_HOST));
        fixture_ok(cc_image_create_view(image, &region, &view));
        fixture_ok(cc_image_graft(view, image));
        fixture_ok(cc_image_resize(view, &region));
        cc_image_release(view);
        fixture_ok(cc_image_get_valid_regions(image, CC_PLACE_HOST, 0, NULL, &count));
        ck_assert_int_eq(count, 0);
        fixture_ok(cc_image_get_place_state(image, CC_PLACE_HOST, &state));
        ck_assert_uint_eq(state.memory_bytes, 0);
        ck_assert_int_eq(state.constant_pixels, 0);
        ck_assert_uint_eq(cc_image_get_size_bytes(image), 0);
        cc_image_release(image);
    }
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).total_calls, 0);
}
END_TEST

/* Components: last in C order, first in K order, and there when there are several; a 2-D RGB image is no volume. */
START_TEST(t27)
{
    cc_image *image = image_of(CC_PIXEL_FLOAT32, 3, 3, (cc_region){.size = {5, 3, 4, 0}});
    cc_descriptor descriptor = describe(image, NULL, CC_ORDER_C);
    check_axes(&descriptor, 4, (const int64_t[]){4, 3, 5, 3}, (const int64_t[]){180, 60, 12, 4});
    descriptor = describe(image, NULL, CC_ORDER_K);
    check_axes(&descriptor, 4, (const int64_t[]){3, 5, 3, 4}, (const int64_t[]){4, 12, 60, 180});
    cc_image_release(image);

    image = image_of(CC_PIXEL_UINT8, 3, 2, (cc_region){.size = {640, 480, 0, 0}});
    descriptor = describe(image, NULL, CC_ORDER_C);
    check_axes(&descriptor, 3, (const int64_t[]){480, 640, 3}, (const int64_t[]){1920, 3, 1});
    cc_image_release(image);
    image = image_of(CC_PIXEL_UINT8, 1, 3, (cc_region){.size = {3, 640, 480, 0}});
    descriptor = describe(image, NULL, CC_ORDER_C);
    check_axes(&descriptor, 3, (const int64_t[]){480, 640, 3}, (const int64_t[]){1920, 3, 1});
    cc_image_release(image);
}
END_TEST

typedef struct type_case {
    cc_pixel_type type;
    int32_t bytes;
    const char *typestr;
} type_case;

static const type_case type_cases[] = {
    {CC_PIXEL_BOOL, 1, "|b1"},    {CC_PIXEL_UINT8, 1, "|u1"},     {CC_PIXEL_INT8, 1, "|i1"},
    {CC_PIXEL_UINT16, 2, "<u2"},  {CC_PIXEL_INT16, 2, "<i2"},     {CC_PIXEL_UINT32, 4, "<u4"},
    {CC_PIXEL_INT32, 4, "<i4"},   {CC_PIXEL_UINT64, 8, "<u8"},    {CC_PIXEL_INT64, 8, "<i8"},
    {CC_PIXEL_FLOAT16, 2, "<f2"}, {CC_PIXEL_BFLOAT16, 2, ""},     {CC_PIXEL_FLOAT32, 4, "<f4"},
    {CC_PIXEL_FLOAT64, 8, "<f8"}, {CC_PIXEL_COMPLEX64, 8, "<c8"}, {CC_PIXEL_COMPLEX128, 16, "<c16"},
};
#define TYPES (sizeof type_cases / sizeof type_cases[0])

/* An image of every type, and of no other. */
START_TEST(t35)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *none = NULL;
    for (size_t i = 0; i < TYPES; ++i) {
        cc_image *image = image_of(type_cases[i].type, 5, 2, (cc_region){.size = {7, 3, 0, 0}});
        ck_assert_uint_eq(cc_image_get_size_bytes(image), (size_t)(7 * 3 * 5 * type_cases[i].bytes));
        ck_assert_int_eq(cc_image_get_pixel_type(image), type_cases[i].type);
        cc_image_release(image);
    }
    params.dimension = 1;
    for (int32_t type = -2; type < 40; type += type == -1 ? (int32_t)TYPES + 1 : 1) {
        params.pixel_type = type;
        expect_failure(CC_ERROR_PIXEL_TYPE, "pixel_type", cc_image_create(&params, &none));
    }
}
END_TEST

/* An array without elements has no pointer, and is contiguous. */
START_TEST(t36)
{
    cc_image *image = image_of(CC_PIXEL_FLOAT32, 1, 3, (cc_region){.size = {0, 4, 4, 0}});
    cc_image *full = image_of(CC_PIXEL_FLOAT32, 1, 2, (cc_region){.size = {8, 8, 0, 0}});
    const cc_region at_an_offset = region_at(3, 3, 0, 2);
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    fixture_ok(cc_image_map_descriptor(image, NULL, CC_ORDER_C, 0, CC_PLACE_HOST, CC_ACCESS_READ, NULL, &descriptor));
    ck_assert_ptr_null(descriptor.data);
    ck_assert_mem_eq(descriptor.shape, ((int64_t[]){4, 4, 0}), 3 * sizeof(int64_t));
    ck_assert_int_eq(descriptor.c_contiguous, 1);
    fixture_ok(cc_image_unmap_descriptor(image, &descriptor));
    fixture_ok(
        cc_image_map_descriptor(full, &at_an_offset, CC_ORDER_C, 0, CC_PLACE_HOST, CC_ACCESS_READ, NULL, &descriptor));
    ck_assert_ptr_null(descriptor.data);
    ck_assert_int_eq(descriptor.c_contiguous, 1);
    fixture_ok(cc_image_unmap_descriptor(full, &descriptor));
    ck_assert_uint_eq(fixture_counters(full).host_allocations, 0);
    cc_image_release(full);
    cc_image_release(image);
}
END_TEST

/* Strides are always there in the descriptor; whether a protocol leaves them out is said by c_contiguous. */
START_TEST(t37)
{
    cc_image *image = image_of(CC_PIXEL_INT16, 1, 2, (cc_region){.size = {6, 4, 0, 0}});
    cc_descriptor descriptor = describe(image, NULL, CC_ORDER_C);
    check_axes(&descriptor, 2, (const int64_t[]){4, 6}, (const int64_t[]){12, 2});
    ck_assert_int_eq(descriptor.c_contiguous, 1);
    descriptor = describe(image, NULL, CC_ORDER_K);
    check_axes(&descriptor, 2, (const int64_t[]){6, 4}, (const int64_t[]){2, 12});
    ck_assert_int_eq(descriptor.c_contiguous, 0);
    ck_assert_int_eq(descriptor.f_contiguous, 1);
    cc_image_release(image);
}
END_TEST

/* The type string of every type; bfloat16 has none. */
START_TEST(t40)
{
    for (size_t i = 0; i < TYPES; ++i) {
        cc_image *image = image_of(type_cases[i].type, 2, 2, (cc_region){.size = {4, 3, 0, 0}});
        const cc_descriptor descriptor = describe(image, NULL, CC_ORDER_C);
        ck_assert_str_eq(descriptor.typestr, type_cases[i].typestr);
        ck_assert_int_eq(descriptor.itemsize_bytes, type_cases[i].bytes);
        ck_assert_int_eq(descriptor.pixel_type, type_cases[i].type);
        ck_assert_int_eq(descriptor.strides_bytes[2], type_cases[i].bytes);
        cc_image_release(image);
    }
}
END_TEST

/* Who only reads makes nothing stale; memory that may only be read says so and is not written. */
START_TEST(t41)
{
    unsigned char memory[16] = {0};
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    cc_image *image = image_of(CC_PIXEL_UINT8, 1, 1, (cc_region){.size = {16, 0, 0, 0}});
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    void *pixels = NULL;
    byte_pixels_write_host(image, NULL, 1);
    const uint64_t generation = cc_image_get_generation(image);
    const cc_place place = fixture_device_count() > 0 ? CC_DEVICE_CURRENT : CC_PLACE_HOST;
    fixture_ok(cc_image_map_descriptor(image, NULL, CC_ORDER_C, 0, place, CC_ACCESS_READ, NULL, &descriptor));
    ck_assert_int_eq(descriptor.read_only, 1);
    fixture_ok(cc_image_unmap_descriptor(image, &descriptor));
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(image, CC_PLACE_HOST, &state));
    ck_assert_int_eq(state.valid_pixels, 16);
    ck_assert_uint_eq(cc_image_get_generation(image), generation);
    fixture_ok(cc_image_map_descriptor(image, NULL, CC_ORDER_C, 0, place, CC_ACCESS_READ_WRITE, NULL, &descriptor));
    ck_assert_int_eq(descriptor.read_only, 0);
    fixture_ok(cc_image_unmap_descriptor(image, &descriptor));
    fixture_ok(cc_image_get_place_state(image, CC_PLACE_HOST, &state));
    ck_assert_int_eq(state.valid_pixels, place == CC_PLACE_HOST ? 16 : 0);

    params.flags = CC_WRAP_BORROWED | CC_WRAP_READ_ONLY;
    params.data = memory;
    params.size_bytes = sizeof memory;
    fixture_ok(cc_image_wrap_host(image, &params));
    ck_assert_int_eq(describe(image, NULL, CC_ORDER_C).read_only, 1);
    expect_failure(CC_ERROR_READ_ONLY, "",
                   cc_image_map_device(image, NULL, CC_ACCESS_READ_WRITE, CC_STREAM_DEFAULT, &pixels));
    cc_image_release(image);
}
END_TEST

/* Looking is not touching. */
START_TEST(t43)
{
    cc_image *image = image_of(CC_PIXEL_UINT8, 1, 2, (cc_region){.size = {32, 32, 0, 0}});
    const cc_region part = region_at(3, 3, 4, 4);
    byte_pixels_write_host(image, NULL, 1);
    if (fixture_device_count() > 0)
        byte_pixels_write_device(image, &part, 2, CC_STREAM_DEFAULT);
    const faulty_counts before = faulty_backend_counts(fixture_backend);
    const cc_counters counters = fixture_counters(image);
    const uint64_t generation = cc_image_get_generation(image);
    cc_place_state state = CC_PLACE_STATE_INIT, later = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(image, CC_PLACE_HOST, &state));
    for (int32_t i = 0; i < 10; ++i) {
        cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
        double values[CC_MAX_DIMENSION][CC_MAX_DIMENSION];
        cc_region regions[8];
        int32_t count = 0;
        fixture_ok(cc_image_describe(image, &part, CC_ORDER_K, 1, CC_PLACE_HOST, &descriptor));
        fixture_ok(cc_image_describe(image, NULL, CC_ORDER_C, 0, 0, &descriptor));
        fixture_ok(cc_image_get_direction(image, values[0]));
        fixture_ok(cc_image_get_valid_regions(image, 0, 8, regions, &count));
        ck_assert_uint_eq(cc_image_get_size_bytes(image), 1024);
        ck_assert_int_eq(cc_image_get_read_only(image), 0);
    }
    const faulty_counts after = faulty_backend_counts(fixture_backend);
    const cc_counters same = fixture_counters(image);
    ck_assert_mem_eq(&after, &before, sizeof after);
    ck_assert_mem_eq(&same, &counters, sizeof same);
    fixture_ok(cc_image_get_place_state(image, CC_PLACE_HOST, &later));
    ck_assert_mem_eq(&later, &state, sizeof state);
    ck_assert_uint_eq(cc_image_get_generation(image), generation);
    cc_image_release(image);
}
END_TEST

/* Without a device, its pointer is an error, never 0 with pixels; the host does as before. */
START_TEST(t44)
{
    cc_image *image = image_of(CC_PIXEL_UINT8, 1, 2, (cc_region){.size = {4, 4, 0, 0}});
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    void *pixels = image;
    if (fixture_device_count() == 0) {
        expect_failure(CC_ERROR_NO_DEVICE, "device",
                       cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
        expect_failure(CC_ERROR_NO_DEVICE, "device", cc_image_prefetch(image, NULL, 0));
        expect_failure(CC_ERROR_NO_DEVICE, "device", cc_image_set_device(image, 0));
        expect_failure(CC_ERROR_NO_DEVICE, "device", cc_stream_synchronize(0, CC_STREAM_DEFAULT));
        const cc_place places[] = {0, CC_DEVICE_CURRENT};
        for (int32_t i = 0; i < 2; ++i)
            expect_failure(
                CC_ERROR_NO_DEVICE, "device",
                cc_image_map_descriptor(image, NULL, CC_ORDER_C, 0, places[i], CC_ACCESS_READ, NULL, &descriptor));
        ck_assert_ptr_eq(pixels, image);
        ck_assert_ptr_null(descriptor.data);
        ck_assert_int_eq(descriptor.version, 0);
        ck_assert_int_eq(cc_device_count(), 0);
    }
    byte_pixels_write_host(image, NULL, 3);
    byte_pixels_expect_host(image, NULL, 3);
    cc_image_release(image);
}
END_TEST

/* No hidden row padding; a pitch of the caller's is honoured. */
START_TEST(t46)
{
    cc_image *image = image_of(CC_PIXEL_FLOAT32, 1, 2, (cc_region){.size = {35, 7, 0, 0}});
    cc_descriptor descriptor = describe(image, NULL, CC_ORDER_C);
    check_axes(&descriptor, 2, (const int64_t[]){7, 35}, (const int64_t[]){140, 4});
    ck_assert_uint_eq(cc_image_get_size_bytes(image), 980);
    float memory[7 * 64];
    for (int32_t at = 0; at < 7 * 64; ++at)
        memory[at] = (float)at;
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    params.flags = CC_WRAP_BORROWED;
    params.data = memory;
    params.size_bytes = 6 * 256 + 140;
    params.strides_bytes[0] = 4;
    params.strides_bytes[1] = 256;
    fixture_ok(cc_image_wrap_host(image, &params));
    const cc_region pixel = region_at(34, 6, 1, 1);
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, &pixel, CC_ACCESS_READ, &pixels));
    ck_assert_float_eq(*(float *)pixels, 6 * 64 + 34);
    fixture_ok(cc_image_unmap_host(image, pixels));
    params.size_bytes = 980;
    expect_failure(CC_ERROR_SIZE, "size_bytes = 980", cc_image_wrap_host(image, &params));
    cc_image_release(image);
}
END_TEST

static int32_t releases;

static void count_release(void *data, void *user_data)
{
    (void)data;
    ++*(int32_t *)user_data;
}

/* Whose the memory is must be said: a callback, or that it is only borrowed; not neither, not both. */
START_TEST(t81)
{
    unsigned char memory[4] = {0};
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    cc_image *image = image_of(CC_PIXEL_UINT8, 1, 1, (cc_region){.size = {4, 0, 0, 0}});
    params.data = memory;
    params.size_bytes = sizeof memory;
    params.user_data = &releases;
    releases = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "release", cc_image_wrap_host(image, &params));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "release", cc_image_wrap_device(image, &params, CC_STREAM_DEFAULT));
    params.release = count_release;
    params.flags = CC_WRAP_BORROWED;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "release", cc_image_wrap_host(image, &params));
    params.flags = 0;
    fixture_ok(cc_image_wrap_host(image, &params));
    params.flags = CC_WRAP_BORROWED;
    params.release = NULL;
    fixture_ok(cc_image_wrap_host(image, &params));
    ck_assert_int_eq(releases, 1);
    cc_image_release(image);
    ck_assert_int_eq(releases, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cases_arithmetic");
    TCase *tcase = tcase_create("cases_arithmetic");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_test(tcase, t5);
    tcase_add_test(tcase, t7);
    tcase_add_test(tcase, t24);
    tcase_add_test(tcase, t26);
    tcase_add_test(tcase, t27);
    tcase_add_test(tcase, t35);
    tcase_add_test(tcase, t36);
    tcase_add_test(tcase, t37);
    tcase_add_test(tcase, t40);
    tcase_add_test(tcase, t41);
    tcase_add_test(tcase, t43);
    tcase_add_test(tcase, t44);
    tcase_add_test(tcase, t46);
    tcase_add_test(tcase, t81);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
