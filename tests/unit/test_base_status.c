/* Statuses, the last message of a thread, and the version. */
#include "base/error.h"

#include <check.h>
#include <cudacommon/cudacommon_config.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(every_status_has_its_name_and_number)
{
    static const struct {
        cc_status status;
        int32_t number;
        const char *name;
    } statuses[] = {
        {CC_OK, 0, "CC_OK"},
        {CC_ERROR_INVALID_ARGUMENT, 1, "CC_ERROR_INVALID_ARGUMENT"},
        {CC_ERROR_OVERFLOW, 2, "CC_ERROR_OVERFLOW"},
        {CC_ERROR_REGION, 3, "CC_ERROR_REGION"},
        {CC_ERROR_PIXEL_TYPE, 4, "CC_ERROR_PIXEL_TYPE"},
        {CC_ERROR_SIZE, 5, "CC_ERROR_SIZE"},
        {CC_ERROR_LAYOUT, 6, "CC_ERROR_LAYOUT"},
        {CC_ERROR_BUSY, 7, "CC_ERROR_BUSY"},
        {CC_ERROR_READ_ONLY, 8, "CC_ERROR_READ_ONLY"},
        {CC_ERROR_UNINITIALIZED, 9, "CC_ERROR_UNINITIALIZED"},
        {CC_ERROR_NO_DEVICE, 10, "CC_ERROR_NO_DEVICE"},
        {CC_ERROR_INVALID_DEVICE, 11, "CC_ERROR_INVALID_DEVICE"},
        {CC_ERROR_POINTER, 12, "CC_ERROR_POINTER"},
        {CC_ERROR_STREAM, 13, "CC_ERROR_STREAM"},
        {CC_ERROR_CAPTURE, 14, "CC_ERROR_CAPTURE"},
        {CC_ERROR_OUT_OF_HOST_MEMORY, 15, "CC_ERROR_OUT_OF_HOST_MEMORY"},
        {CC_ERROR_OUT_OF_DEVICE_MEMORY, 16, "CC_ERROR_OUT_OF_DEVICE_MEMORY"},
        {CC_ERROR_DEVICE, 17, "CC_ERROR_DEVICE"},
        {CC_ERROR_FORKED, 18, "CC_ERROR_FORKED"},
        {CC_ERROR_UNSUPPORTED, 19, "CC_ERROR_UNSUPPORTED"},
        {CC_ERROR_CANCELLED, 20, "CC_ERROR_CANCELLED"},
    };
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        ck_assert_int_eq(statuses[i].status, statuses[i].number);
        ck_assert_str_eq(cc_status_name(statuses[i].status), statuses[i].name);
    }
}
END_TEST

START_TEST(a_number_that_is_no_status_is_unknown)
{
    ck_assert_str_eq(cc_status_name((cc_status)21), "CC_ERROR_UNKNOWN");
    ck_assert_str_eq(cc_status_name((cc_status)-1), "CC_ERROR_UNKNOWN");
    ck_assert_str_eq(cc_status_name((cc_status)0x7fffffff), "CC_ERROR_UNKNOWN");
}
END_TEST

static void *look_at_a_fresh_thread(void *unused)
{
    (void)unused;
    ck_assert_str_eq(cc_last_error_message(), "");
    ck_assert_int_eq(cc_last_native_error(), 0);
    ck_assert_int_eq(cc__fail_native(CC_ERROR_DEVICE, 700, "theirs"), CC_ERROR_DEVICE);
    ck_assert_str_eq(cc_last_error_message(), "theirs");
    ck_assert_int_eq(cc_last_native_error(), 700);
    return NULL;
}

START_TEST(each_thread_has_its_own_message)
{
    ck_assert_int_eq(cc__fail_native(CC_ERROR_DEVICE, 2, "ours"), CC_ERROR_DEVICE);
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, look_at_a_fresh_thread, NULL), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_str_eq(cc_last_error_message(), "ours");
    ck_assert_int_eq(cc_last_native_error(), 2);
}
END_TEST

START_TEST(a_failure_that_is_not_the_drivers_has_no_native_error)
{
    ck_assert_int_eq(cc__fail_native(CC_ERROR_DEVICE, 2, "driver"), CC_ERROR_DEVICE);
    ck_assert_int_eq(cc__fail(CC_ERROR_SIZE, "%s: size[%d] = %d", "f", 1, -3), CC_ERROR_SIZE);
    ck_assert_str_eq(cc_last_error_message(), "f: size[1] = -3");
    ck_assert_int_eq(cc_last_native_error(), 0);
}
END_TEST

START_TEST(a_long_message_is_cut_and_says_so)
{
    char long_text[2000];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    ck_assert_int_eq(cc__fail(CC_ERROR_SIZE, "%s", long_text), CC_ERROR_SIZE);
    const char *message = cc_last_error_message();
    size_t length = strlen(message);
    ck_assert_uint_ge(length, 255);
    ck_assert_uint_lt(length, 600);
    ck_assert_str_eq(message + length - 4, "x...");

    /* One that just fits is whole. */
    long_text[length] = '\0';
    ck_assert_int_eq(cc__fail(CC_ERROR_SIZE, "%s", long_text), CC_ERROR_SIZE);
    ck_assert_str_eq(cc_last_error_message(), long_text);
}
END_TEST

START_TEST(a_message_is_not_cut_inside_a_character)
{
    /* U+1D11E, four bytes, after 0 to 3 bytes of something else. */
    static const char clef[] = "\xF0\x9D\x84\x9E";
    for (size_t before = 0; before < 4; before++) {
        char text[4 * 500 + 4] = "abc";
        for (size_t i = 0; i < 500; i++)
            memcpy(text + before + 4 * i, clef, 5);
        cc__fail(CC_ERROR_SIZE, "%s", text);
        const char *message = cc_last_error_message();
        size_t length = strlen(message);
        ck_assert_str_eq(message + length - 3, "...");
        ck_assert_uint_eq((length - 3 - before) % 4, 0);
        ck_assert_mem_eq(message, text, length - 3);
    }
}
END_TEST

START_TEST(a_message_is_one_line)
{
    cc__fail(CC_ERROR_SIZE, "one\ntwo\r\nthree");
    ck_assert_str_eq(cc_last_error_message(), "one two  three");
}
END_TEST

START_TEST(a_message_may_quote_the_last_one)
{
    cc__fail(CC_ERROR_SIZE, "first");
    cc__fail(CC_ERROR_SIZE, "again: %s", cc_last_error_message());
    ck_assert_str_eq(cc_last_error_message(), "again: first");
}
END_TEST

START_TEST(a_public_function_is_named_before_what_was_said)
{
    ck_assert_int_eq(cc__fail_for("f", cc__fail_native(CC_ERROR_DEVICE, 5, "below")), CC_ERROR_DEVICE);
    ck_assert_str_eq(cc_last_error_message(), "f: below");
    ck_assert_int_eq(cc_last_native_error(), 5);
    ck_assert_int_eq(cc__fail_for("g", CC_OK), CC_OK);
    ck_assert_int_eq(cc__fail_for(NULL, CC_ERROR_SIZE), CC_ERROR_SIZE);
    ck_assert_str_eq(cc_last_error_message(), "f: below");
}
END_TEST

START_TEST(a_saved_failure_can_be_brought_back)
{
    cc__error_state before;
    cc__fail_native(CC_ERROR_DEVICE, 5, "the one that counts, as long as it is");
    cc__error_save(&before);
    cc__fail(CC_ERROR_SIZE, "the other");
    cc__error_restore(&before);
    ck_assert_str_eq(cc_last_error_message(), "the one that counts, as long as it is");
    ck_assert_int_eq(cc_last_native_error(), 5);
}
END_TEST

START_TEST(errno_is_left_alone)
{
    errno = EDOM;
    cc__fail(CC_ERROR_SIZE, "%ls", L"\x7fffffff"); /* cannot be converted: formatting fails */
    ck_assert_int_eq(errno, EDOM);
    ck_assert_str_eq(cc_last_error_message(), "");
}
END_TEST

START_TEST(the_version_is_that_of_the_headers)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", CUDACOMMON_VERSION_MAJOR, CUDACOMMON_VERSION_MINOR,
             CUDACOMMON_VERSION_PATCH);
    ck_assert_str_eq(cc_version_string(), text);
    ck_assert_int_eq(cc_version() / 10000, CUDACOMMON_VERSION_MAJOR);
    ck_assert_int_eq(cc_version() / 100 % 100, CUDACOMMON_VERSION_MINOR);
    ck_assert_int_eq(cc_version() % 100, CUDACOMMON_VERSION_PATCH);
    ck_assert(CUDACOMMON_VERSION_AT_LEAST(2, 0));
    ck_assert(!CUDACOMMON_VERSION_AT_LEAST(3, 0));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("status");
    TCase *cases = tcase_create("status");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, every_status_has_its_name_and_number);
    tcase_add_test(cases, a_number_that_is_no_status_is_unknown);
    tcase_add_test(cases, each_thread_has_its_own_message);
    tcase_add_test(cases, a_failure_that_is_not_the_drivers_has_no_native_error);
    tcase_add_test(cases, a_long_message_is_cut_and_says_so);
    tcase_add_test(cases, a_message_is_not_cut_inside_a_character);
    tcase_add_test(cases, a_message_is_one_line);
    tcase_add_test(cases, a_message_may_quote_the_last_one);
    tcase_add_test(cases, a_public_function_is_named_before_what_was_said);
    tcase_add_test(cases, a_saved_failure_can_be_brought_back);
    tcase_add_test(cases, errno_is_left_alone);
    tcase_add_test(cases, the_version_is_that_of_the_headers);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
