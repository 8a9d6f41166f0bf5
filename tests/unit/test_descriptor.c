/* Pixels as other array libraries describe them. The worked cases are in tests/interop. */
#include "support/byte_pixels.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static cc_image *image; /* 5 x 4 x 3 pixels of 2 floats, from (10, 20, 30) */
static const cc_region inside = {{11, 22, 30, 0}, {3, 2, 2, 0}};

static void set_up(void)
{
    const int64_t index[CC_MAX_DIMENSION] = {10, 20, 30, 0};
    fixture_setup();
    image = fixture_image(CC_PIXEL_FLOAT32, 2, 3, 5, 4, 3);
    fixture_ok(cc_image_set_index(image, index));
}

static void tear_down(void)
{
    cc_image_release(image);
    fixture_teardown();
}

static cc_descriptor describe(cc_image *of, const cc_region *region, cc_order order, uint32_t flags)
{
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    fixture_ok(cc_image_describe(of, region, order, flags, CC_PLACE_HOST, &descriptor));
    return descriptor;
}

static cc_descriptor filled_with(int byte)
{
    cc_descriptor descriptor;
    memset(&descriptor, byte, sizeof descriptor);
    descriptor.struct_size = sizeof descriptor;
    return descriptor;
}

START_TEST(a_region_in_c_order)
{
    static const int64_t shape[] = {2, 2, 3, 2}, strides[] = {160, 40, 8, 4};
    cc_descriptor descriptor = filled_with(0x55);
    fixture_ok(cc_image_describe(image, &inside, CC_ORDER_C, 0, CC_PLACE_HOST, &descriptor));
    ck_assert_uint_eq(descriptor.struct_size, sizeof descriptor);
    ck_assert_int_eq(descriptor.version, 3);
    ck_assert_int_eq(descriptor.ndim, 4);
    ck_assert_int_eq(descriptor.place, CC_PLACE_HOST);
    ck_assert_ptr_null(descriptor.data);
    ck_assert_ptr_null(descriptor.stream);
    ck_assert_mem_eq(descriptor.shape, shape, sizeof shape);
    ck_assert_mem_eq(descriptor.strides_bytes, strides, sizeof strides);
    ck_assert_int_eq(descriptor.shape[4], 0);
    ck_assert_int_eq(descriptor.strides_bytes[4], 0);
    ck_assert_str_eq(descriptor.typestr, "<f4");
    ck_assert_int_eq(descriptor.pixel_type, CC_PIXEL_FLOAT32);
    ck_assert_int_eq(descriptor.itemsize_bytes, 4);
    ck_assert_int_eq(descriptor.read_only, 0);
    ck_assert_int_eq(descriptor.c_contiguous, 0);
    ck_assert_int_eq(descriptor.f_contiguous, 0);
    ck_assert_uint_eq(descriptor.pending, 0);
}
END_TEST

START_TEST(kept_axes_are_the_exact_reversal)
{
    for (int32_t flags = 0; flags <= 1; ++flags) {
        cc_image *scalar = fixture_image(CC_PIXEL_UINT8, 1, 3, 5, 4, 3);
        cc_image *const images[] = {image, scalar};
        for (int32_t i = 0; i < 2; ++i) {
            const cc_descriptor c = describe(images[i], NULL, CC_ORDER_C, (uint32_t)flags);
            const cc_descriptor k = describe(images[i], NULL, CC_ORDER_K, (uint32_t)flags);
            ck_assert_int_eq(c.ndim, i == 0 || flags == 1 ? 4 : 3);
            ck_assert_int_eq(k.ndim, c.ndim);
            for (int32_t axis = 0; axis < c.ndim; ++axis) {
                ck_assert_int_eq(k.shape[axis], c.shape[c.ndim - 1 - axis]);
                ck_assert_int_eq(k.strides_bytes[axis], c.strides_bytes[c.ndim - 1 - axis]);
            }
            ck_assert_int_eq(c.c_contiguous, 1);
            ck_assert_int_eq(k.f_contiguous, 1);
            ck_assert_int_eq(k.c_contiguous, 0);
        }
        cc_image_release(scalar);
    }
}
END_TEST

START_TEST(bad_arguments_are_refused_and_change_nothing)
{
    const cc_region negative = {{10, 20, 30, 0}, {1, 1, -1, 0}}, outside = {{10, 20, 33, 0}, {1, 1, 1, 0}};
    cc_descriptor descriptor = filled_with(0x55), before = descriptor;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image",
                   cc_image_describe(NULL, NULL, CC_ORDER_C, 0, CC_PLACE_HOST, &descriptor));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_descriptor",
                   cc_image_describe(image, NULL, CC_ORDER_C, 0, CC_PLACE_HOST, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "order = 2",
                   cc_image_describe(image, NULL, (cc_order)2, 0, CC_PLACE_HOST, &descriptor));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "flags = 0x2",
                   cc_image_describe(image, NULL, CC_ORDER_C, 2, CC_PLACE_HOST, &descriptor));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "place = -3",
                   cc_image_describe(image, NULL, CC_ORDER_C, 0, -3, &descriptor));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "size[2] = -1",
                   cc_image_describe(image, &negative, CC_ORDER_C, 0, CC_PLACE_HOST, &descriptor));
    expect_failure(CC_ERROR_REGION, "index[2] = 33",
                   cc_image_describe(image, &outside, CC_ORDER_C, 0, CC_PLACE_HOST, &descriptor));

    const cc_access read = CC_ACCESS_READ;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image",
                   cc_image_map_descriptor(NULL, NULL, CC_ORDER_C, 0, CC_PLACE_HOST, read, NULL, &descriptor));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_descriptor",
                   cc_image_map_descriptor(image, NULL, CC_ORDER_C, 0, CC_PLACE_HOST, read, NULL, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "order = -1",
                   cc_image_map_descriptor(image, NULL, (cc_order)-1, 0, CC_PLACE_HOST, read, NULL, &descriptor));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "flags = 0x80000000",
                   cc_image_map_descriptor(image, NULL, CC_ORDER_C, 1u << 31, CC_PLACE_HOST, read, NULL, &descriptor));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "place = -3",
                   cc_image_map_descriptor(image, NULL, CC_ORDER_C, 0, -3, read, NULL, &descriptor));
    expect_passed_on(CC_ERROR_INVALID_ARGUMENT, cc_image_map_descriptor(image, NULL, CC_ORDER_C, 0, CC_PLACE_HOST,
                                                                        (cc_access)7, NULL, &descriptor));
    expect_failure(CC_ERROR_REGION, "index[2] = 33",
                   cc_image_map_descriptor(image, &outside, CC_ORDER_C, 0, CC_PLACE_HOST, read, NULL, &descriptor));
    ck_assert_mem_eq(&descriptor, &before, sizeof before);
    descriptor.struct_size = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size = 0",
                   cc_image_describe(image, NULL, CC_ORDER_C, 0, CC_PLACE_HOST, &descriptor));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size = 0",
                   cc_image_map_descriptor(image, NULL, CC_ORDER_C, 0, CC_PLACE_HOST, read, NULL, &descriptor));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size = 0", cc_image_unmap_descriptor(image, &descriptor));
    descriptor.struct_size = offsetof(cc_descriptor, shape) - 1;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size = ",
                   cc_image_map_descriptor(image, NULL, CC_ORDER_C, 0, CC_PLACE_HOST, CC_ACCESS_READ, 0, &descriptor));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "descriptor", cc_image_unmap_descriptor(image, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_unmap_descriptor(NULL, &before));
    expect_passed_on(CC_ERROR_INVALID_ARGUMENT, cc_image_unmap_descriptor(image, &before));
}
END_TEST

START_TEST(a_device_need_not_exist_to_be_described)
{
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    const cc_place places[] = {0, 99, INT32_MAX};
    for (int32_t i = 0; i < 3; ++i) {
        fixture_ok(cc_image_describe(image, &inside, CC_ORDER_C, 0, places[i], &descriptor));
        ck_assert_int_eq(descriptor.place, places[i]);
        ck_assert_ptr_null(descriptor.data);
        ck_assert_int_eq(descriptor.strides_bytes[0], 160);
    }
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).total_calls, 0);
}
END_TEST

/* Whoever made the device's memory, it is not this handle, which has not decided for a device yet. */
START_TEST(an_undecided_device_has_no_strides_of_its_own)
{
    cc_image *view = NULL;
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    if (fixture_device_count() == 0)
        return;
    fixture_ok(cc_image_create_view(image, &inside, &view));
    fixture_ok(cc_image_prefetch(image, NULL, 0));
    fixture_ok(cc_image_describe(view, NULL, CC_ORDER_C, 0, CC_DEVICE_CURRENT, &descriptor));
    ck_assert_int_eq(descriptor.strides_bytes[0], 160);
    cc_image_release(view);
}
END_TEST

START_TEST(mapped_and_described_on_the_host)
{
    cc_descriptor descriptor = filled_with(0x55);
    void *pixels = NULL;
    for (int32_t access = CC_ACCESS_READ; access <= CC_ACCESS_READ_WRITE; ++access) {
        fixture_ok(cc_image_map_descriptor(image, &inside, CC_ORDER_C, 0, CC_PLACE_HOST, (cc_access)access,
                                           (cc_stream)0x1234, &descriptor));
        ck_assert_int_eq(descriptor.place, CC_PLACE_HOST);
        ck_assert_ptr_nonnull(descriptor.data);
        ck_assert_ptr_null(descriptor.stream);
        ck_assert_int_eq(descriptor.read_only, access == CC_ACCESS_READ);
        ck_assert_int_eq(descriptor.shape[0], 2);
        expect_passed_on(CC_ERROR_BUSY, cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
        fixture_ok(cc_image_unmap_descriptor(image, &descriptor));
        expect_passed_on(CC_ERROR_INVALID_ARGUMENT, cc_image_unmap_descriptor(image, &descriptor));
    }
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    ck_assert_int_eq((char *)descriptor.data - (char *)pixels, 8 + 2 * 40);
    fixture_ok(cc_image_unmap_host(image, pixels));
}
END_TEST

START_TEST(mapped_and_described_on_the_device)
{
    cc_descriptor descriptor = filled_with(0x55);
    void *pixels = NULL;
    if (fixture_device_count() == 0) {
        expect_passed_on(CC_ERROR_NO_DEVICE, cc_image_map_descriptor(image, NULL, CC_ORDER_C, 0, 0, CC_ACCESS_READ,
                                                                     CC_STREAM_DEFAULT, &descriptor));
        ck_assert_int_eq(descriptor.place, 0x55555555);
        return;
    }
    const int32_t device = fixture_device_count() - 1;
    cc_stream stream = fixture_stream_create(device);
    const cc_place places[] = {device, CC_DEVICE_CURRENT};
    fixture_ok(cc_image_set_device(image, device));
    for (int32_t i = 0; i < 2; ++i) {
        fixture_ok(cc_image_map_descriptor(image, &inside, CC_ORDER_K, 0, places[i], CC_ACCESS_READ_WRITE, stream,
                                           &descriptor));
        ck_assert_int_eq(descriptor.place, device);
        ck_assert_ptr_eq(descriptor.stream, stream);
        ck_assert_int_eq(descriptor.read_only, 0);
        ck_assert_int_eq(descriptor.strides_bytes[3], 160);
        expect_passed_on(CC_ERROR_BUSY, cc_image_map_device(image, NULL, CC_ACCESS_READ, stream, &pixels));
        fixture_ok(cc_image_unmap_descriptor(image, &descriptor));
    }
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ, stream, &pixels));
    ck_assert_int_eq((char *)descriptor.data - (char *)pixels, 8 + 2 * 40);
    fixture_ok(cc_image_unmap_device(image, pixels, stream));
    fixture_ok(cc_stream_synchronize(device, stream));
    fixture_stream_destroy(device, stream);
}
END_TEST

START_TEST(only_the_images_device_can_be_mapped)
{
    cc_descriptor descriptor = filled_with(0x55), before = descriptor;
    if (fixture_device_count() == 0)
        return;
    fixture_ok(cc_image_set_device(image, 0));
    expect_failure(CC_ERROR_INVALID_DEVICE, "place = 7",
                   cc_image_map_descriptor(image, NULL, CC_ORDER_C, 0, 7, CC_ACCESS_READ, NULL, &descriptor));
    if (fixture_device_count() > 1)
        expect_failure(CC_ERROR_INVALID_DEVICE, "place = 1, expected the image's device 0",
                       cc_image_map_descriptor(image, NULL, CC_ORDER_C, 0, 1, CC_ACCESS_READ, NULL, &descriptor));
    ck_assert_mem_eq(&descriptor, &before, sizeof before);
}
END_TEST

START_TEST(a_refused_map_leaves_the_descriptor)
{
    cc_descriptor descriptor = filled_with(0x55), before = descriptor;
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    expect_passed_on(CC_ERROR_BUSY, cc_image_map_descriptor(image, &inside, CC_ORDER_C, 0, CC_PLACE_HOST,
                                                            CC_ACCESS_READ, NULL, &descriptor));
    ck_assert_mem_eq(&descriptor, &before, sizeof before);
    fixture_ok(cc_image_unmap_host(image, pixels));
}
END_TEST

START_TEST(an_empty_region_needs_no_place)
{
    const cc_region empty = {{11, 22, 30, 0}, {3, 0, 2, 0}};
    const cc_place places[] = {CC_PLACE_HOST, CC_DEVICE_CURRENT, 0};
    for (int32_t i = 0; i < 3; ++i) {
        cc_descriptor descriptor = filled_with(0x55);
        fixture_ok(
            cc_image_map_descriptor(image, &empty, CC_ORDER_C, 0, places[i], CC_ACCESS_READ_WRITE, NULL, &descriptor));
        ck_assert_ptr_null(descriptor.data);
        ck_assert_int_eq(descriptor.shape[1], 0);
        ck_assert_int_eq(descriptor.c_contiguous, 1);
        ck_assert_int_eq(descriptor.f_contiguous, 1);
        fixture_ok(cc_image_unmap_descriptor(image, &descriptor));
    }
    ck_assert_uint_eq(fixture_counters(image).host_allocations, 0);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).total_calls, 0);
}
END_TEST

START_TEST(each_side_has_its_own_strides)
{
    unsigned char memory[200];
    cc_image *wrapped = fixture_image(CC_PIXEL_UINT8, 1, 2, 6, 4, 1);
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    memset(memory, 0, sizeof memory);
    params.flags = CC_WRAP_BORROWED | CC_WRAP_READ_ONLY;
    params.data = memory;
    params.size_bytes = 3 * 32 + 6;
    params.strides_bytes[0] = 1;
    params.strides_bytes[1] = 32;
    fixture_ok(cc_image_wrap_host(wrapped, &params));
    fixture_ok(cc_image_describe(wrapped, NULL, CC_ORDER_C, 0, CC_PLACE_HOST, &descriptor));
    ck_assert_int_eq(descriptor.strides_bytes[0], 32);
    ck_assert_int_eq(descriptor.c_contiguous, 0);
    ck_assert_int_eq(descriptor.read_only, 1);
    fixture_ok(cc_image_describe(wrapped, NULL, CC_ORDER_C, 0, 0, &descriptor));
    ck_assert_int_eq(descriptor.strides_bytes[0], 6);
    ck_assert_int_eq(descriptor.c_contiguous, 1);
    ck_assert_int_eq(descriptor.read_only, 1);
    cc_image_release(wrapped);
}
END_TEST

/* Descriptors of programs compiled against another version; the memory ends where their struct does. */
START_TEST(shorter_and_longer_structs)
{
    struct {
        cc_descriptor known;
        uint64_t later;
    } longer = {.known = CC_DESCRIPTOR_INIT, .later = 0x7777};
    longer.known.struct_size = sizeof longer;
    fixture_ok(cc_image_map_descriptor(image, NULL, CC_ORDER_C, 0, CC_PLACE_HOST, CC_ACCESS_READ, NULL, &longer.known));
    ck_assert_uint_eq(longer.known.struct_size, sizeof longer);
    ck_assert_uint_eq(longer.later, 0x7777);
    fixture_ok(cc_image_unmap_descriptor(image, &longer.known));

    const size_t enough = offsetof(cc_descriptor, typestr);
    cc_descriptor *shorter = expect_short_struct(enough);
    shorter->struct_size = (uint32_t)enough;
    fixture_ok(cc_image_map_descriptor(image, NULL, CC_ORDER_C, 0, CC_PLACE_HOST, CC_ACCESS_READ, NULL, shorter));
    ck_assert_uint_eq(shorter->struct_size, enough);
    ck_assert_int_eq(shorter->strides_bytes[3], 4);
    fixture_ok(cc_image_unmap_descriptor(image, shorter));
    free(shorter);

    /* Too short to hold a pointer: nothing is lent, as far as it says. */
    for (uint32_t size = sizeof(uint32_t); size <= offsetof(cc_descriptor, data); size += 4) {
        uint32_t *words = expect_short_struct(size);
        words[0] = size;
        fixture_ok(cc_image_describe(image, NULL, CC_ORDER_C, 0, CC_PLACE_HOST, (cc_descriptor *)(void *)words));
        fixture_ok(cc_image_unmap_descriptor(image, (const cc_descriptor *)(void *)words));
        free(words);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("descriptor");
    TCase *tcase = tcase_create("descriptor");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_region_in_c_order);
    tcase_add_test(tcase, kept_axes_are_the_exact_reversal);
    tcase_add_test(tcase, bad_arguments_are_refused_and_change_nothing);
    tcase_add_test(tcase, a_device_need_not_exist_to_be_described);
    tcase_add_test(tcase, an_undecided_device_has_no_strides_of_its_own);
    tcase_add_test(tcase, mapped_and_described_on_the_host);
    tcase_add_test(tcase, mapped_and_described_on_the_device);
    tcase_add_test(tcase, only_the_images_device_can_be_mapped);
    tcase_add_test(tcase, a_refused_map_leaves_the_descriptor);
    tcase_add_test(tcase, an_empty_region_needs_no_place);
    tcase_add_test(tcase, each_side_has_its_own_strides);
    tcase_add_test(tcase, shorter_and_longer_structs);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
