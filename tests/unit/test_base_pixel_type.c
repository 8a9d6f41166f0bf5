/* Pixel types: sizes, names and NumPy's type strings. */
#include "base/work.h"

#include <check.h>
#include <cudacommon/pixel.h>
#include <stdlib.h>

START_TEST(every_type_has_its_number_size_and_names)
{
    /* Sizes and type strings: NumPy, "The array interface protocol", and numpy.dtype(...).str on a little-endian host.
     */
    static const struct {
        cc_pixel_type type;
        int number;
        size_t size_bytes;
        const char *name;
        const char *typestr;
    } types[] = {
        {CC_PIXEL_BOOL, 0, 1, "bool", "|b1"},
        {CC_PIXEL_UINT8, 1, 1, "u8", "|u1"},
        {CC_PIXEL_INT8, 2, 1, "i8", "|i1"},
        {CC_PIXEL_UINT16, 3, 2, "u16", "<u2"},
        {CC_PIXEL_INT16, 4, 2, "i16", "<i2"},
        {CC_PIXEL_UINT32, 5, 4, "u32", "<u4"},
        {CC_PIXEL_INT32, 6, 4, "i32", "<i4"},
        {CC_PIXEL_UINT64, 7, 8, "u64", "<u8"},
        {CC_PIXEL_INT64, 8, 8, "i64", "<i8"},
        {CC_PIXEL_FLOAT16, 9, 2, "f16", "<f2"},
        {CC_PIXEL_BFLOAT16, 10, 2, "bf16", ""},
        {CC_PIXEL_FLOAT32, 11, 4, "f32", "<f4"},
        {CC_PIXEL_FLOAT64, 12, 8, "f64", "<f8"},
        {CC_PIXEL_COMPLEX64, 13, 8, "c64", "<c8"},
        {CC_PIXEL_COMPLEX128, 14, 16, "c128", "<c16"},
    };
    size_t largest = 0;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        ck_assert_int_eq(types[i].type, types[i].number);
        ck_assert_uint_eq(cc_pixel_type_size_bytes(types[i].type), types[i].size_bytes);
        ck_assert_str_eq(cc_pixel_type_name(types[i].type), types[i].name);
        ck_assert_str_eq(cc_pixel_type_typestr(types[i].type), types[i].typestr);
        if (types[i].size_bytes > largest)
            largest = types[i].size_bytes;
    }
    ck_assert_uint_eq(largest * CC_MAX_COMPONENTS, CC__MAX_PIXEL_BYTES);
}
END_TEST

START_TEST(an_unknown_type_has_no_size)
{
    const int numbers[] = {-1, 15, 255, 0x7fffffff};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        ck_assert_uint_eq(cc_pixel_type_size_bytes((cc_pixel_type)numbers[i]), 0);
        ck_assert_str_eq(cc_pixel_type_name((cc_pixel_type)numbers[i]), "unknown");
        ck_assert_str_eq(cc_pixel_type_typestr((cc_pixel_type)numbers[i]), "");
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pixel type");
    TCase *cases = tcase_create("pixel type");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, every_type_has_its_number_size_and_names);
    tcase_add_test(cases, an_unknown_type_has_no_size);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
