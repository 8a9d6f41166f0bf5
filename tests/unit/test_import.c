/* Arrays of others as images: every argument, whose memory it is when, and what comes first. */
#include "backend/emulated.h"
#include "support/byte_pixels.h"
#include "support/dense_work.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 4
#define COLUMNS 6
#define PITCH 8

static unsigned char memory[ROWS * PITCH];
static int32_t releases;
static void *released;
static cc_descriptor descriptor;
static cc_import_params params;
static cc_image *image;

static void count_release(void *data, void *user_data)
{
    ck_assert_ptr_eq(user_data, &releases);
    released = data;
    ++releases;
}

/* 4 rows of 6 bytes, on the host. */
static void set_up(void)
{
    fixture_setup();
    releases = 0;
    released = NULL;
    image = NULL;
    for (int32_t i = 0; i < ROWS * PITCH; ++i)
        memory[i] = (unsigned char)i;
    descriptor = (cc_descriptor)CC_DESCRIPTOR_INIT;
    descriptor.ndim = 2;
    descriptor.data = memory;
    descriptor.shape[0] = ROWS;
    descriptor.shape[1] = COLUMNS;
    descriptor.strides_bytes[0] = COLUMNS;
    descriptor.strides_bytes[1] = 1;
    strcpy(descriptor.typestr, "|u1");
    params = (cc_import_params)CC_IMPORT_PARAMS_INIT;
    params.dimension = 2;
    params.release = count_release;
    params.user_data = &releases;
}

static void tear_down(void)
{
    cc_image_release(image);
    fixture_teardown();
}

START_TEST(the_memory_is_used_as_it_is_and_given_back_once)
{
    void *pixels = NULL;
    fixture_ok(cc_image_import(&descriptor, &params, &image));
    ck_assert_int_eq(cc_image_get_size(image, 0), COLUMNS);
    ck_assert_int_eq(cc_image_get_size(image, 1), ROWS);
    ck_assert_int_eq(cc_image_get_pixel_type(image), CC_PIXEL_UINT8);
    ck_assert_int_eq(cc_image_get_device(image), CC_DEVICE_CURRENT);
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ_WRITE, &pixels));
    ck_assert_ptr_eq(pixels, memory);
    fixture_ok(cc_image_unmap_host(image, pixels));
    cc_image *view = NULL;
    const cc_region row = region_at(0, 1, COLUMNS, 1);
    fixture_ok(cc_image_create_view(image, &row, &view));
    cc_image_release(image);
    image = NULL;
    ck_assert_int_eq(releases, 0);
    cc_image_release(view);
    ck_assert_int_eq(releases, 1);
    ck_assert_ptr_eq(released, memory);
}
END_TEST

typedef struct bad_case {
    cc_status status;
    const char *argument;
    void (*change)(void);
} bad_case;

static void no_struct_size(void)
{
    descriptor.struct_size = 3;
}
static void no_params_size(void)
{
    params.struct_size = 0;
}
static void unknown_flag(void)
{
    params.flags = 64;
}
static void nobody_owns_it(void)
{
    params.release = NULL;
}
static void two_own_it(void)
{
    params.flags = CC_IMPORT_BORROWED;
}
static void dimension_0(void)
{
    params.dimension = 0;
}
static void dimension_5(void)
{
    params.dimension = 5;
}
static void no_order(void)
{
    params.order = 2;
}
static void ndim_3_of_dimension_1(void)
{
    params.dimension = 1;
    descriptor.ndim = 3;
}
static void ndim_6(void)
{
    descriptor.ndim = 6;
}
static void ndim_negative(void)
{
    descriptor.ndim = -1;
}
static void no_place(void)
{
    descriptor.place = -3;
}
static void negative_extent(void)
{
    descriptor.shape[1] = INT64_MIN;
}
static void no_components(void)
{
    params.dimension = 1;
    descriptor.shape[1] = 0;
}
static void too_many_components(void)
{
    params.dimension = 1;
    descriptor.shape[1] = CC_MAX_COMPONENTS + 1;
}
static void planar_components(void)
{
    params.dimension = 1;
    params.flags = CC_IMPORT_STRIDED;
    descriptor.strides_bytes[0] = 1;
    descriptor.strides_bytes[1] = ROWS;
}
static void no_data(void)
{
    descriptor.data = NULL;
}
static void half_a_float(void)
{
    strcpy(descriptor.typestr, "<f4");
    descriptor.strides_bytes[1] = 4;
    descriptor.strides_bytes[0] = 30;
}
static void big_endian(void)
{
    strcpy(descriptor.typestr, ">u2");
}
static void no_type(void)
{
    strcpy(descriptor.typestr, "<i3");
}
static void endless_type(void)
{
    memset(descriptor.typestr, 'f', sizeof descriptor.typestr);
}
static void two_types(void)
{
    descriptor.pixel_type = CC_PIXEL_INT8;
}
static void unknown_type(void)
{
    descriptor.typestr[0] = '\0';
    descriptor.pixel_type = 99;
}
static void broadcast(void)
{
    params.flags = CC_IMPORT_STRIDED;
    descriptor.strides_bytes[0] = 0;
}
static void flipped(void)
{
    params.flags = CC_IMPORT_STRIDED;
    descriptor.strides_bytes[1] = -1;
}
static void windows(void)
{
    params.flags = CC_IMPORT_STRIDED;
    descriptor.strides_bytes[0] = 5;
}
static void pitch_but_dense(void)
{
    descriptor.strides_bytes[0] = PITCH;
}
static void far_stride(void)
{
    descriptor.strides_bytes[0] = INT64_MAX / 2;
}
static void far_back(void)
{
    descriptor.strides_bytes[0] = INT64_MIN;
}
static void far_back_together(void)
{
    params.memory = memory;
    params.memory_bytes = sizeof memory;
    descriptor.shape[0] = 2;
    descriptor.strides_bytes[0] = INT64_MIN / 2;
    descriptor.shape[1] = 2;
    descriptor.strides_bytes[1] = INT64_MIN / 2;
}
static void huge(void)
{
    params.flags = CC_IMPORT_CONTIGUOUS;
    descriptor.shape[0] = descriptor.shape[1] = (int64_t)1 << 32;
}
static void past_the_memory(void)
{
    params.memory = memory;
    params.memory_bytes = ROWS * COLUMNS - 1;
}
static void before_the_memory(void)
{
    params.memory = memory + 1;
    params.memory_bytes = sizeof memory;
}
static void after_the_memory(void)
{
    params.memory = memory;
    params.memory_bytes = 4;
    descriptor.data = memory + 5;
}
static void must_not_write(void)
{
    params.flags = CC_IMPORT_WRITABLE;
    descriptor.read_only = 1;
}

static const bad_case bad_cases[] = {
    {CC_ERROR_INVALID_ARGUMENT, "descriptor.struct_size", no_struct_size},
    {CC_ERROR_INVALID_ARGUMENT, "params.struct_size", no_params_size},
    {CC_ERROR_INVALID_ARGUMENT, "params.flags", unknown_flag},
    {CC_ERROR_INVALID_ARGUMENT, "params.release", nobody_owns_it},
    {CC_ERROR_INVALID_ARGUMENT, "params.release", two_own_it},
    {CC_ERROR_INVALID_ARGUMENT, "params.dimension", dimension_0},
    {CC_ERROR_INVALID_ARGUMENT, "params.dimension", dimension_5},
    {CC_ERROR_INVALID_ARGUMENT, "params.order", no_order},
    {CC_ERROR_INVALID_ARGUMENT, "ndim = 3", ndim_3_of_dimension_1},
    {CC_ERROR_INVALID_ARGUMENT, "descriptor.ndim = 6", ndim_6},
    {CC_ERROR_INVALID_ARGUMENT, "descriptor.ndim = -1", ndim_negative},
    {CC_ERROR_INVALID_ARGUMENT, "descriptor.place", no_place},
    {CC_ERROR_INVALID_ARGUMENT, "shape[1]", negative_extent},
    {CC_ERROR_INVALID_ARGUMENT, "shape[1] = 0", no_components},
    {CC_ERROR_INVALID_ARGUMENT, "shape[1] = 65", too_many_components},
    {CC_ERROR_LAYOUT, "strides_bytes[1]", planar_components},
    {CC_ERROR_INVALID_ARGUMENT, "data = NULL", no_data},
    {CC_ERROR_LAYOUT, "strides_bytes[0] = 30", half_a_float},
    {CC_ERROR_UNSUPPORTED, "typestr", big_endian},
    {CC_ERROR_PIXEL_TYPE, "typestr", no_type},
    {CC_ERROR_PIXEL_TYPE, "typestr", endless_type},
    {CC_ERROR_PIXEL_TYPE, "descriptor.pixel_type = 2", two_types},
    {CC_ERROR_PIXEL_TYPE, "descriptor.pixel_type = 99", unknown_type},
    {CC_ERROR_LAYOUT, "strides_bytes", broadcast},
    {CC_ERROR_LAYOUT, "strides_bytes", flipped},
    {CC_ERROR_LAYOUT, "strides_bytes", windows},
    {CC_ERROR_LAYOUT, "CC_IMPORT_STRIDED", pitch_but_dense},
    {CC_ERROR_OVERFLOW, "strides_bytes[0]", far_stride},
    {CC_ERROR_OVERFLOW, "strides_bytes[0]", far_back},
    {CC_ERROR_SIZE, "params.memory", far_back_together},
    {CC_ERROR_OVERFLOW, "descriptor.shape", huge},
    {CC_ERROR_SIZE, "params.memory", past_the_memory},
    {CC_ERROR_SIZE, "params.memory", before_the_memory},
    {CC_ERROR_SIZE, "params.memory", after_the_memory},
    {CC_ERROR_READ_ONLY, "CC_IMPORT_WRITABLE", must_not_write},
};

START_TEST(what_is_refused_is_named_and_nothing_is_taken)
{
    const bad_case *that = &bad_cases[_i];
    that->change();
    expect_failure(that->status, that->argument, cc_image_import(&descriptor, &params, &image));
    ck_assert_ptr_null(image);
    ck_assert_int_eq(releases, 0);
}
END_TEST

START_TEST(null_is_refused_by_name)
{
    cc_pixel_type type = CC_PIXEL_BOOL;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "descriptor = NULL", cc_image_import(NULL, &params, &image));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params = NULL", cc_image_import(&descriptor, NULL, &image));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_image = NULL", cc_image_import(&descriptor, &params, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "typestr = NULL", cc_typestr_parse(NULL, &type));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_type = NULL", cc_typestr_parse("<f4", NULL));
    ck_assert_int_eq(releases, 0);
}
END_TEST

START_TEST(geometry_of_the_callers_or_none)
{
    cc_geometry geometry = CC_GEOMETRY_INIT, got = CC_GEOMETRY_INIT;
    geometry.dimension = 2;
    geometry.index[0] = -3;
    geometry.spacing[1] = 2.5;
    geometry.origin[0] = 8;
    params.geometry = &geometry;
    fixture_ok(cc_image_import(&descriptor, &params, &image));
    fixture_ok(cc_image_get_geometry(image, &got));
    ck_assert_mem_eq(&got, &geometry, sizeof got);
    cc_image_release(image);
    image = NULL;
    ck_assert_int_eq(releases, 1);

    geometry.spacing[0] = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "spacing[0]", cc_image_import(&descriptor, &params, &image));
    geometry.spacing[0] = 1;
    geometry.index[1] = INT64_MAX - ROWS + 1;
    expect_failure(CC_ERROR_OVERFLOW, "index[1]", cc_image_import(&descriptor, &params, &image));
    geometry.index[1] = 0;
    geometry.dimension = 3;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params.geometry.dimension",
                   cc_image_import(&descriptor, &params, &image));
    geometry.struct_size = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "params.geometry.struct_size",
                   cc_image_import(&descriptor, &params, &image));
    ck_assert_int_eq(releases, 1);
}
END_TEST

START_TEST(structs_of_other_versions_are_read_as_far_as_they_go)
{
    cc_import_params *shorter = expect_short_struct(offsetof(cc_import_params, memory));
    cc_descriptor *short_descriptor = expect_short_struct(offsetof(cc_descriptor, pixel_type));
    memcpy(shorter, &params, offsetof(cc_import_params, memory));
    shorter->struct_size = offsetof(cc_import_params, memory);
    memcpy(short_descriptor, &descriptor, offsetof(cc_descriptor, pixel_type));
    short_descriptor->struct_size = offsetof(cc_descriptor, pixel_type);
    fixture_ok(cc_image_import(short_descriptor, shorter, &image));
    cc_image_release(image);
    image = NULL;
    ck_assert_int_eq(releases, 1);
    params.struct_size = sizeof params + 16;
    descriptor.struct_size = sizeof descriptor + 16;
    struct {
        cc_import_params params;
        char later[16];
    } longer = {.params = params};
    struct {
        cc_descriptor descriptor;
        char later[16];
    } long_descriptor = {.descriptor = descriptor};
    fixture_ok(cc_image_import(&long_descriptor.descriptor, &longer.params, &image));
    free(shorter);
    free(short_descriptor);
}
END_TEST

START_TEST(borrowed_memory_is_given_back_to_nobody)
{
    params.release = NULL;
    params.flags = CC_IMPORT_BORROWED | CC_IMPORT_REUSED;
    fixture_ok(cc_image_import(&descriptor, &params, &image));
    byte_pixels_write_host(image, NULL, 9);
    ck_assert_int_eq(memory[ROWS * COLUMNS - 1], 9);
    ck_assert_int_eq(memory[ROWS * COLUMNS], ROWS * COLUMNS);
}
END_TEST

START_TEST(bfloat16_is_named_by_its_number)
{
    descriptor.typestr[0] = '\0';
    descriptor.pixel_type = CC_PIXEL_BFLOAT16;
    descriptor.shape[1] = COLUMNS / 2;
    params.flags = CC_IMPORT_CONTIGUOUS;
    fixture_ok(cc_image_import(&descriptor, &params, &image));
    ck_assert_int_eq(cc_image_get_pixel_type(image), CC_PIXEL_BFLOAT16);
    ck_assert_uint_eq(cc_image_get_size_bytes(image), ROWS * COLUMNS);
}
END_TEST

START_TEST(an_empty_array_needs_no_memory)
{
    descriptor.shape[0] = 0;
    descriptor.data = NULL;
    descriptor.strides_bytes[0] = -77;
    fixture_ok(cc_image_import(&descriptor, &params, &image));
    ck_assert_uint_eq(cc_image_get_size_bytes(image), 0);
    cc_image_release(image);
    image = NULL;
    ck_assert_int_eq(releases, 1);
    /* On a device, when there is one. */
    descriptor.place = CC_DEVICE_CURRENT;
    if (fixture_device_count() == 0) {
        expect_failure(CC_ERROR_NO_DEVICE, "", cc_image_import(&descriptor, &params, &image));
        return;
    }
    fixture_ok(cc_image_import(&descriptor, &params, &image));
    ck_assert_int_ge(cc_image_get_device(image), 0);
    cc_image_release(image);
    descriptor.place = fixture_device_count() - 1;
    fixture_ok(cc_image_import(&descriptor, &params, &image));
    ck_assert_int_eq(cc_image_get_device(image), descriptor.place);
    cc_image_release(image);
    image = NULL;
    descriptor.place = fixture_device_count();
    expect_failure(CC_ERROR_INVALID_DEVICE, "", cc_image_import(&descriptor, &params, &image));
}
END_TEST

START_TEST(host_memory_is_no_device_memory)
{
    descriptor.place = CC_DEVICE_CURRENT;
    if (fixture_device_count() == 0)
        expect_failure(CC_ERROR_NO_DEVICE, "", cc_image_import(&descriptor, &params, &image));
    else
        expect_failure(CC_ERROR_POINTER, "memory", cc_image_import(&descriptor, &params, &image));
    ck_assert_int_eq(releases, 0);
}
END_TEST

/* What is late in the stream that the descriptor names is there for whoever looks. */
START_TEST(the_descriptors_stream_comes_first)
{
    void *lent = NULL;
    if (fixture_device_count() == 0)
        return;
    const int32_t device = fixture_device_count() - 1;
    const cc_stream stream = fixture_stream_create(device);
    fixture_ok(fixture_inner->allocate(fixture_inner, device, stream, sizeof memory, &lent));
    fixture_ok(fill_bytes(fixture_inner, device, stream, lent, 77, sizeof memory)); /* late */
    descriptor.place = device;
    descriptor.data = lent;
    descriptor.stream = stream;
    descriptor.strides_bytes[0] = PITCH;
    params.flags = CC_IMPORT_STRIDED;
    if (device > 0) {
        descriptor.place = 0;
        expect_failure(CC_ERROR_INVALID_DEVICE, "", cc_image_import(&descriptor, &params, &image));
        descriptor.place = CC_DEVICE_CURRENT;
    }
    fixture_ok(cc_image_import(&descriptor, &params, &image));
    ck_assert_int_eq(cc_image_get_device(image), device);
    const cc_region last = region_at(COLUMNS - 1, ROWS - 1, 1, 1);
    byte_pixels_expect_host(image, &last, 77);
    cc_image_release(image);
    image = NULL;
    ck_assert_int_eq(releases, 1);
    ck_assert_ptr_eq(released, lent);
    fixture_ok(fixture_inner->free(fixture_inner, device, stream, lent));
    fixture_ok(cc_stream_synchronize(device, stream));
    fixture_stream_destroy(device, stream);
}
END_TEST

START_TEST(a_stream_waits_for_another)
{
    unsigned char seen[sizeof memory] = {0};
    void *lent = NULL;
    if (fixture_device_count() == 0) {
        expect_failure(CC_ERROR_NO_DEVICE, "", cc_stream_wait(0, CC_STREAM_DEFAULT, CC_STREAM_PER_THREAD));
        return;
    }
    const int32_t device = fixture_device_count() - 1;
    const cc_stream first = fixture_stream_create(device), second = fixture_stream_create(device);
    fixture_ok(fixture_inner->allocate(fixture_inner, device, first, sizeof memory, &lent));
    /* Late, as a kernel: a copy of pageable memory would not be. */
    fixture_ok(fill_bytes(fixture_inner, device, first, lent, 77, sizeof memory));
    fixture_ok(cc_stream_wait(device, second, first));
    fixture_ok(cc_stream_wait(device, second, second));
    fixture_device_read(device, second, seen, lent, sizeof seen);
    fixture_ok(cc_stream_synchronize(device, second));
    ck_assert(bytes_are(seen, 77, sizeof seen));
    expect_failure(CC_ERROR_INVALID_DEVICE, "", cc_stream_wait(fixture_device_count(), first, second));
    expect_failure(CC_ERROR_INVALID_DEVICE, "", cc_stream_wait(-1, first, second));
    if (fixture_is_emulated()) {
        cc__emulated_set_capturing(fixture_inner, device, first, true);
        expect_failure(CC_ERROR_CAPTURE, "awaited", cc_stream_wait(device, second, first));
        expect_failure(CC_ERROR_CAPTURE, "stream", cc_stream_wait(device, first, second));
        cc__emulated_set_capturing(fixture_inner, device, first, false);
    }
    fixture_ok(fixture_inner->free(fixture_inner, device, second, lent));
    fixture_ok(cc_stream_synchronize(device, second));
    fixture_stream_destroy(device, first);
    fixture_stream_destroy(device, second);
}
END_TEST

START_TEST(a_type_string_is_parsed_as_it_is_written)
{
    static const char *const bad[] = {"",     "<",   "f4",  "4",   "<f",   "<f4 ", " <f4",     "<F4",
                                      "<f04", "<f3", "<c4", "<V2", "|O8",  "<b1x", "!f4",      "<i16",
                                      "|b8",  "<U1", "<M8", "|V4", "<g16", "<f16", "bfloat16", "float32"};
    for (int32_t number = CC_PIXEL_BOOL; number <= CC_PIXEL_COMPLEX128; ++number) {
        char typestr[8];
        cc_pixel_type type = CC_PIXEL_BFLOAT16;
        if (number == CC_PIXEL_BFLOAT16)
            continue;
        strcpy(typestr, cc_pixel_type_typestr((cc_pixel_type)number));
        for (const char *order = "<=|"; *order != '\0'; ++order) {
            typestr[0] = *order;
            fixture_ok(cc_typestr_parse(typestr, &type));
            ck_assert_int_eq(type, number);
        }
        typestr[0] = '>';
        type = CC_PIXEL_BFLOAT16;
        if (cc_pixel_type_size_bytes((cc_pixel_type)number) == 1)
            fixture_ok(cc_typestr_parse(typestr, &type));
        else
            expect_failure(CC_ERROR_UNSUPPORTED, typestr, cc_typestr_parse(typestr, &type));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        cc_pixel_type type = CC_PIXEL_BFLOAT16;
        expect_failure(CC_ERROR_PIXEL_TYPE, "typestr", cc_typestr_parse(bad[i], &type));
        ck_assert_int_eq(type, CC_PIXEL_BFLOAT16);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("import");
    TCase *tcase = tcase_create("import");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, the_memory_is_used_as_it_is_and_given_back_once);
    tcase_add_loop_test(tcase, what_is_refused_is_named_and_nothing_is_taken, 0,
                        sizeof bad_cases / sizeof bad_cases[0]);
    tcase_add_test(tcase, null_is_refused_by_name);
    tcase_add_test(tcase, geometry_of_the_callers_or_none);
    tcase_add_test(tcase, structs_of_other_versions_are_read_as_far_as_they_go);
    tcase_add_test(tcase, borrowed_memory_is_given_back_to_nobody);
    tcase_add_test(tcase, bfloat16_is_named_by_its_number);
    tcase_add_test(tcase, an_empty_array_needs_no_memory);
    tcase_add_test(tcase, host_memory_is_no_device_memory);
    tcase_add_test(tcase, the_descriptors_stream_comes_first);
    tcase_add_test(tcase, a_stream_waits_for_another);
    tcase_add_test(tcase, a_type_string_is_parsed_as_it_is_written);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
