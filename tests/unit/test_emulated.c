/* The emulated device's streams and events: what runs, when, and what shows when a wait is missing. */
#include "support/dense_work.h"
#include "support/two_devices.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

START_TEST(missing_wait_shows_poison)
{
    copy(0, a0, memory0, host_in);
    copy(0, b0, host_out, memory0);
    synchronize(0, b0);
    ck_assert(bytes_are(host_out, CC__EMULATED_FRESH, BYTES));
    synchronize(0, a0);
    ck_assert(bytes_are(memory0, 1, BYTES));
}
END_TEST

START_TEST(host_that_does_not_wait_sees_old_bytes)
{
    copy(0, a0, memory0, host_in);
    copy(0, a0, host_out, memory0);
    ck_assert(bytes_are(host_out, 2, BYTES));
    synchronize(0, a0);
    ck_assert(bytes_are(host_out, 1, BYTES));
}
END_TEST

START_TEST(waits_lead_across_streams_and_devices)
{
    copy(0, a0, memory0, host_in);
    cc__event *up = record_new(0, a0);
    wait_for(1, c1, up);
    copy(1, c1, memory1, memory0);
    cc__event *over = record_new(1, c1);
    wait_for(0, b0, over);
    copy(0, b0, host_out, memory1);
    ck_assert(bytes_are(memory0, CC__EMULATED_FRESH, BYTES));
    synchronize(0, b0);
    ck_assert(bytes_are(host_out, 1, BYTES));
    ck_assert(is_complete(0, up) && is_complete(1, over));
    ck_assert_int_eq(cc__emulated_count_live(backend).queued, 0);
}
END_TEST

START_TEST(only_what_is_needed_runs)
{
    launch(0, a0, "1");
    cc__event *event = record_new(0, a0);
    launch(0, a0, "2");
    launch(0, b0, "x");
    wait_for(0, b0, event);
    launch(0, b0, "y");
    launch(0, b0, "z");
    ck_assert_str_eq(order, "");
    ck_assert(!is_complete(0, event));
    ck_assert_str_eq(order, "");
    cc__event *later = record_new(0, b0);
    launch(0, b0, "w");
    ck_assert_int_eq(backend->event_synchronize(backend, 0, later), CC_OK);
    ck_assert_str_eq(order, "x1yz");
    ck_assert(is_complete(0, event));
    synchronize(0, a0);
    synchronize(0, b0);
    ck_assert_str_eq(order, "x1yz2w");
}
END_TEST

START_TEST(wait_is_for_the_record_it_saw)
{
    launch(0, a0, "1");
    cc__event *event = record_new(0, a0);
    wait_for(0, b0, event);
    launch(0, b0, "x");
    launch(0, a0, "2");
    ck_assert_int_eq(backend->event_record(backend, 0, event, a0), CC_OK);
    synchronize(0, b0);
    ck_assert_str_eq(order, "1x");
    ck_assert(!is_complete(0, event));
    ck_assert_int_eq(backend->event_synchronize(backend, 0, event), CC_OK);
    ck_assert_str_eq(order, "1x2");
    ck_assert(is_complete(0, event));
}
END_TEST

START_TEST(event_never_recorded_is_complete)
{
    cc__event *event = NULL;
    ck_assert_int_eq(backend->event_create(backend, 1, &event), CC_OK);
    ck_assert(is_complete(1, event));
    launch(0, a0, "1");
    ck_assert_int_eq(backend->event_synchronize(backend, 1, event), CC_OK);
    wait_for(0, b0, event);
    ck_assert_str_eq(order, "");
    /* A record after the wait is not what it waits for. */
    ck_assert_int_eq(backend->event_record(backend, 1, event, c1), CC_OK);
    launch(1, c1, "3");
    synchronize(0, b0);
    ck_assert_str_eq(order, "");
}
END_TEST

START_TEST(destroyed_event_is_still_waited_for)
{
    copy(0, a0, memory0, host_in);
    cc__event *event = record_new(0, a0);
    wait_for(0, b0, event);
    wait_for(1, c1, event);
    backend->event_destroy(backend, 0, event);
    copy(0, b0, host_out, memory0);
    synchronize(0, b0);
    ck_assert(bytes_are(host_out, 1, BYTES));
    synchronize(1, c1);
    ck_assert_int_eq(cc__emulated_count_live(backend).events, 0);
}
END_TEST

START_TEST(the_device_is_done_with_all_its_streams)
{
    launch(0, a0, "a");
    launch(0, b0, "b");
    launch(0, CC_STREAM_DEFAULT, "d");
    launch(1, c1, "c");
    backend->stream_destroy(backend, 0, b0);
    ck_assert_int_eq(backend->synchronize(backend, 0), CC_OK);
    ck_assert_int_eq(order_length, 3);
    ck_assert_ptr_null(strchr(order, 'c'));
    ck_assert_int_eq(backend->synchronize(backend, 0), CC_OK);
    ck_assert_int_eq(backend->synchronize(backend, 1), CC_OK);
    ck_assert_int_eq(order_length, 4);

    launch(0, a0, "e");
    cc__emulated_set_capturing(backend, 0, CC_STREAM_DEFAULT, true);
    ck_assert_int_eq(backend->synchronize(backend, 0), CC_ERROR_CAPTURE);
    ck_assert_int_eq(backend->synchronize(backend, 1), CC_OK);
    ck_assert_int_eq(order_length, 4);
    cc__emulated_set_capturing(backend, 0, CC_STREAM_DEFAULT, false);
    ck_assert_int_eq(backend->synchronize(backend, 0), CC_OK);
    ck_assert_int_eq(order_length, 5);
}
END_TEST

START_TEST(destroyed_stream_still_works)
{
    copy(0, a0, memory0, host_in);
    cc__event *event = record_new(0, a0);
    const int64_t streams = cc__emulated_count_live(backend).streams;
    backend->stream_destroy(backend, 0, a0);
    ck_assert_int_eq(cc__emulated_count_live(backend).streams, streams - 1);
    ck_assert_int_eq(backend->stream_synchronize(backend, 0, a0), CC_ERROR_STREAM);
    ck_assert(bytes_are(memory0, CC__EMULATED_FRESH, BYTES));
    ck_assert_int_eq(backend->event_synchronize(backend, 0, event), CC_OK);
    ck_assert(bytes_are(memory0, 1, BYTES));

    ck_assert_int_eq(copy_bytes(backend, 0, a0, memory0, host_in, BYTES), CC_ERROR_STREAM);
    ck_assert_int_eq(cc_last_native_error(), 400);
    cc_stream next = NULL;
    ck_assert_int_eq(backend->stream_create(backend, 0, &next), CC_OK);
    ck_assert_ptr_ne(next, a0);
    ck_assert_int_eq(backend->stream_synchronize(backend, 0, a0), CC_ERROR_STREAM);
    backend->stream_destroy(backend, 0, a0);
    backend->stream_destroy(backend, 0, CC_STREAM_DEFAULT);
    synchronize(0, CC_STREAM_DEFAULT);
}
END_TEST

START_TEST(long_chains_of_waits_end)
{
    cc__event *event = NULL;
    ck_assert_int_eq(backend->event_create(backend, 0, &event), CC_OK);
    for (int i = 0; i < 500; i++) {
        const cc_stream from = i % 2 ? a0 : b0;
        const cc_stream to = i % 2 ? b0 : a0;
        ck_assert_int_eq(backend->event_record(backend, 0, event, from), CC_OK);
        wait_for(0, to, event);
        wait_for(0, from, event); /* for itself: no cycle either */
    }
    launch(0, a0, "a");
    synchronize(0, a0);
    synchronize(0, b0);
    ck_assert_str_eq(order, "a");
    ck_assert_int_eq(cc__emulated_count_live(backend).queued, 0);
}
END_TEST

START_TEST(streams_and_events_belong_to_a_device)
{
    cc__event *event = record_new(0, a0);
    bool complete = false;
    ck_assert_int_eq(backend->stream_synchronize(backend, 1, a0), CC_ERROR_STREAM);
    ck_assert_int_eq(backend->event_record(backend, 0, event, c1), CC_ERROR_STREAM);
    ck_assert_int_eq(backend->event_record(backend, 1, event, c1), CC_ERROR_DEVICE);
    ck_assert_int_eq(cc_last_native_error(), 400);
    ck_assert_int_eq(backend->event_synchronize(backend, 1, event), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->event_is_complete(backend, 1, event, &complete), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->stream_wait(backend, 0, c1, event), CC_ERROR_STREAM);
    ck_assert_int_eq(backend->stream_wait(backend, 1, c1, event), CC_OK);
    ck_assert(!complete);
    ck_assert(!is_complete(0, event));
}
END_TEST

START_TEST(legacy_default_stream_has_two_names)
{
    const cc_stream legacy = (cc_stream)1;
    launch(0, CC_STREAM_DEFAULT, "1");
    launch(0, legacy, "2");
    launch(1, CC_STREAM_DEFAULT, "x");
    synchronize(0, legacy);
    ck_assert_str_eq(order, "12");
    synchronize(1, legacy);
    ck_assert_str_eq(order, "12x");
}
END_TEST

static void *launch_in_own_default_stream(void *argument)
{
    cc__emulated_launch(backend, 0, CC_STREAM_PER_THREAD, note, (void *)"t");
    backend->stream_synchronize(backend, 1, CC_STREAM_PER_THREAD);
    backend->event_record(backend, 0, argument, CC_STREAM_PER_THREAD);
    return NULL;
}

START_TEST(each_thread_has_a_default_stream)
{
    launch(0, CC_STREAM_PER_THREAD, "m");
    launch(1, CC_STREAM_PER_THREAD, "d");
    pthread_t thread;
    cc__event *event = NULL;
    ck_assert_int_eq(backend->event_create(backend, 0, &event), CC_OK);
    ck_assert_int_eq(pthread_create(&thread, NULL, launch_in_own_default_stream, event), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_str_eq(order, "");
    synchronize(0, CC_STREAM_PER_THREAD);
    ck_assert_str_eq(order, "m");
    /* The thread is gone, its work is not. */
    ck_assert_int_eq(backend->event_synchronize(backend, 0, event), CC_OK);
    ck_assert_str_eq(order, "mt");
    synchronize(1, CC_STREAM_PER_THREAD);
    ck_assert_str_eq(order, "mtd");
    ck_assert_int_eq(cc__emulated_count_live(backend).streams, 3);
}
END_TEST

START_TEST(stream_says_when_it_is_idle)
{
    bool is_idle = false;
    ck_assert_int_eq(backend->stream_is_idle(backend, 0, a0, &is_idle), CC_OK);
    ck_assert(is_idle);
    launch(0, a0, "1");
    launch(0, b0, "x");
    ck_assert_int_eq(backend->stream_is_idle(backend, 0, a0, &is_idle), CC_OK);
    ck_assert(!is_idle);
    ck_assert_str_eq(order, "");
    synchronize(0, a0);
    ck_assert_int_eq(backend->stream_is_idle(backend, 0, a0, &is_idle), CC_OK);
    ck_assert(is_idle);
    ck_assert_int_eq(backend->stream_is_idle(backend, 0, b0, &is_idle), CC_OK);
    ck_assert(!is_idle);
}
END_TEST

START_TEST(captured_stream_takes_no_work)
{
    bool capturing = true;
    void *memory = NULL;
    cc__event *event = record_new(0, b0);
    ck_assert_int_eq(backend->stream_is_capturing(backend, 0, a0, &capturing), CC_OK);
    ck_assert(!capturing);
    cc__emulated_set_capturing(backend, 0, a0, true);
    ck_assert_int_eq(backend->stream_is_capturing(backend, 0, a0, &capturing), CC_OK);
    ck_assert(capturing);
    const int64_t queued = cc__emulated_count_live(backend).queued;
    ck_assert_int_eq(backend->stream_is_idle(backend, 0, a0, &capturing), CC_ERROR_CAPTURE);
    ck_assert_int_eq(backend->stream_synchronize(backend, 0, a0), CC_ERROR_CAPTURE);
    ck_assert_int_eq(cc_last_native_error(), 900);
    ck_assert_int_eq(copy_bytes(backend, 0, a0, memory0, host_in, BYTES), CC_ERROR_DEVICE);
    ck_assert_int_eq(cc_last_native_error(), 900);
    ck_assert_int_eq(backend->event_record(backend, 0, event, a0), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->stream_wait(backend, 0, a0, event), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->allocate(backend, 0, a0, BYTES, &memory), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->free(backend, 0, a0, memory0), CC_ERROR_DEVICE);
    ck_assert_ptr_null(memory);
    ck_assert_int_eq(cc__emulated_count_live(backend).queued, queued);
    synchronize(0, b0);
    cc__emulated_set_capturing(backend, 0, a0, false);
    ck_assert_int_eq(copy_bytes(backend, 0, a0, memory0, host_in, BYTES), CC_OK);
}
END_TEST

static void *set_own_current_device(void *argument)
{
    int32_t *devices = argument;
    backend->current_device(backend, &devices[0]);
    cc__emulated_set_current_device(backend, 1);
    backend->current_device(backend, &devices[1]);
    return NULL;
}

START_TEST(current_device_is_the_threads)
{
    int32_t device = -1;
    int32_t devices[2] = {-1, -1};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, set_own_current_device, devices), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(devices[0], 0);
    ck_assert_int_eq(devices[1], 1);
    ck_assert_int_eq(backend->current_device(backend, &device), CC_OK);
    ck_assert_int_eq(device, 0);
}
END_TEST

START_TEST(queues_are_bounded)
{
    for (int i = 0; i < 3000; i++)
        ck_assert_int_eq(fill_bytes(backend, 0, a0, memory0, (unsigned char)(i % 251), BYTES), CC_OK);
    ck_assert_int_le(cc__emulated_count_live(backend).queued, 1024);
    synchronize(0, a0);
    ck_assert(bytes_are(memory0, 2999 % 251, BYTES));
}
END_TEST

START_TEST(destroyed_backend_drops_its_work)
{
    copy(0, a0, host_out, memory0);
    cc__event *event = record_new(0, a0);
    wait_for(1, c1, event);
    ck_assert_int_eq(backend->free(backend, 0, a0, memory0), CC_OK);
    launch(1, c1, "x");
    backend->stream_destroy(backend, 1, c1);
    cc__backend_emulated_destroy(backend);
    ck_assert(bytes_are(host_out, 2, BYTES));
    ck_assert_str_eq(order, "");
    cc__backend_emulated_destroy(NULL);
    backend = NULL;
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("emulated");
    TCase *cases = tcase_create("streams");
    tcase_add_checked_fixture(cases, two_devices_set_up_with_memory, two_devices_tear_down);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, missing_wait_shows_poison);
    tcase_add_test(cases, host_that_does_not_wait_sees_old_bytes);
    tcase_add_test(cases, waits_lead_across_streams_and_devices);
    tcase_add_test(cases, only_what_is_needed_runs);
    tcase_add_test(cases, wait_is_for_the_record_it_saw);
    tcase_add_test(cases, event_never_recorded_is_complete);
    tcase_add_test(cases, destroyed_event_is_still_waited_for);
    tcase_add_test(cases, destroyed_stream_still_works);
    tcase_add_test(cases, long_chains_of_waits_end);
    tcase_add_test(cases, streams_and_events_belong_to_a_device);
    tcase_add_test(cases, legacy_default_stream_has_two_names);
    tcase_add_test(cases, each_thread_has_a_default_stream);
    tcase_add_test(cases, stream_says_when_it_is_idle);
    tcase_add_test(cases, captured_stream_takes_no_work);
    tcase_add_test(cases, current_device_is_the_threads);
    tcase_add_test(cases, queues_are_bounded);
    tcase_add_test(cases, the_device_is_done_with_all_its_streams);
    tcase_add_test(cases, destroyed_backend_drops_its_work);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
