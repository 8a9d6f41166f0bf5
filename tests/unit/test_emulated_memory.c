/* The emulated device's memory: when it is there, what may touch it, and what shows when that is broken. */
#include "support/dense_work.h"
#include "support/two_devices.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static void order_after(int32_t device, cc_stream stream, int32_t other_device, cc_stream other)
{
    cc__event *event = NULL;
    ck_assert_int_eq(backend->event_create(backend, other_device, &event), CC_OK);
    ck_assert_int_eq(backend->event_record(backend, other_device, event, other), CC_OK);
    ck_assert_int_eq(backend->stream_wait(backend, device, stream, event), CC_OK);
    backend->event_destroy(backend, other_device, event);
}

START_TEST(memory_is_for_the_stream_it_was_allocated_in)
{
    unsigned char in[BYTES] = {1}, out[BYTES] = {2};
    unsigned char *memory = allocate(0, a0, BYTES);
    ck_assert(bytes_are(memory, CC__EMULATED_FRESH, BYTES));
    ck_assert_int_eq(copy_bytes(backend, 0, b0, memory, in, BYTES), CC_OK);
    ck_assert_int_eq(copy_bytes(backend, 0, a0, out, memory, BYTES), CC_OK);
    ck_assert(bytes_are(out, CC__EMULATED_FRESH, BYTES));

    unsigned char *other = allocate(0, a0, BYTES);
    order_after(0, b0, 0, a0);
    ck_assert_int_eq(copy_bytes(backend, 0, b0, other, in, BYTES), CC_OK);
    order_after(0, a0, 0, b0);
    ck_assert_int_eq(copy_bytes(backend, 0, a0, out, other, BYTES), CC_OK);
    ck_assert_mem_eq(out, in, BYTES);
}
END_TEST

START_TEST(free_comes_after_what_is_queued)
{
    unsigned char out[BYTES] = {0};
    ck_assert_int_eq(backend->host_register(backend, out, BYTES), CC_OK);
    unsigned char *memory = allocate(0, a0, BYTES);
    ck_assert_int_eq(fill_bytes(backend, 0, a0, memory, 7, BYTES), CC_OK);
    ck_assert_int_eq(copy_bytes(backend, 0, a0, out, memory, BYTES), CC_OK);
    ck_assert_int_eq(backend->free(backend, 0, a0, memory), CC_OK);
    const cc__emulated_live live = cc__emulated_count_live(backend);
    ck_assert_int_eq(live.allocations, 0);
    ck_assert_int_eq(live.allocated_bytes, 0);
    ck_assert_int_eq(live.queued, 4);
    synchronize(0, a0);
    ck_assert(bytes_are(out, 7, BYTES));
    ck_assert_int_eq(cc__emulated_count_live(backend).queued, 0);
}
END_TEST

START_TEST(freed_memory_is_refused)
{
    int32_t device = 5;
    unsigned char *memory = allocate(0, a0, BYTES);
    ck_assert_int_eq(backend->free(backend, 0, a0, memory), CC_OK);
    ck_assert_int_eq(fill_bytes(backend, 0, a0, memory, 7, BYTES), CC_ERROR_DEVICE);
    ck_assert_int_eq(cc_last_native_error(), 1);
    ck_assert_int_eq(backend->free(backend, 0, a0, memory), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->memory_device(backend, memory, &device), CC_ERROR_POINTER);
    ck_assert_int_eq(device, 5);
}
END_TEST

START_TEST(free_wants_what_was_allocated)
{
    unsigned char host[BYTES];
    unsigned char *memory = allocate(0, a0, BYTES);
    ck_assert_int_eq(backend->free(backend, 0, a0, memory + 1), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->free(backend, 1, c1, memory), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->free(backend, 0, c1, memory), CC_ERROR_STREAM);
    ck_assert_int_eq(backend->free(backend, 0, a0, NULL), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->free(backend, 0, a0, host), CC_ERROR_DEVICE);
    ck_assert_int_eq(cc__emulated_count_live(backend).allocations, 1);
    ck_assert_int_eq(backend->free(backend, 0, a0, memory), CC_OK);
}
END_TEST

START_TEST(use_after_free_loses_the_device)
{
    unsigned char in[BYTES] = {0};
    ck_assert_int_eq(backend->host_register(backend, in, BYTES), CC_OK);
    unsigned char *memory = allocate(0, a0, BYTES);
    synchronize(0, a0);
    ck_assert_int_eq(copy_bytes(backend, 0, b0, memory, in, BYTES), CC_OK);
    ck_assert_int_eq(backend->free(backend, 0, a0, memory), CC_OK);
    synchronize(0, a0);
    ck_assert_int_eq(backend->stream_synchronize(backend, 0, b0), CC_ERROR_DEVICE);
    ck_assert_int_eq(cc_last_native_error(), 700);

    void *other = NULL;
    cc__event *event = NULL;
    cc_stream stream = NULL;
    ck_assert_int_eq(backend->allocate(backend, 0, a0, BYTES, &other), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->event_create(backend, 0, &event), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->stream_create(backend, 0, &stream), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->stream_synchronize(backend, 0, a0), CC_ERROR_DEVICE);
    ck_assert_int_eq(cc__emulated_count_live(backend).allocations, 0);
    other = allocate(1, c1, BYTES);
    ck_assert_int_eq(copy_bytes(backend, 1, c1, other, in, BYTES), CC_OK);
    synchronize(1, c1);
}
END_TEST

START_TEST(lost_device_still_frees)
{
    unsigned char in[BYTES] = {0};
    unsigned char *kept = allocate(0, a0, BYTES);
    unsigned char *memory = allocate(0, a0, BYTES);
    cc__event *event = NULL;
    bool complete = false;
    ck_assert_int_eq(backend->event_create(backend, 0, &event), CC_OK);
    synchronize(0, a0);
    ck_assert_int_eq(backend->host_register(backend, in, BYTES), CC_OK);
    ck_assert_int_eq(copy_bytes(backend, 0, a0, memory, in, BYTES), CC_OK);
    ck_assert_int_eq(backend->event_record(backend, 0, event, a0), CC_OK);
    ck_assert_int_eq(fill_bytes(backend, 0, a0, kept, 7, BYTES), CC_OK);
    ck_assert_int_eq(backend->host_unregister(backend, in), CC_OK);
    ck_assert(!backend->is_lost(backend, 0));
    ck_assert_int_eq(backend->event_synchronize(backend, 0, event), CC_ERROR_DEVICE);
    ck_assert_int_eq(cc_last_native_error(), 700);
    ck_assert(backend->is_lost(backend, 0));
    ck_assert(!backend->is_lost(backend, 1));
    ck_assert_int_eq(backend->event_is_complete(backend, 0, event, &complete), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->stream_synchronize(backend, 0, a0), CC_ERROR_DEVICE);
    ck_assert(bytes_are(kept, CC__EMULATED_FRESH, BYTES));
    ck_assert_int_eq(backend->free(backend, 0, a0, memory), CC_OK);
    ck_assert_int_eq(backend->free(backend, 0, a0, kept), CC_OK);
    ck_assert_int_eq(backend->stream_synchronize(backend, 0, a0), CC_ERROR_DEVICE);
    ck_assert_int_eq(cc__emulated_count_live(backend).queued, 0);
    cc__emulated_set_memory_limit(backend, BYTES);
    void *other = NULL;
    ck_assert_int_eq(backend->allocate(backend, 0, a0, BYTES, &other), CC_ERROR_DEVICE);
}
END_TEST

START_TEST(registered_ranges_do_not_overlap)
{
    unsigned char host[4 * BYTES];
    unsigned char *memory = allocate(0, a0, BYTES);
    ck_assert_int_eq(backend->host_register(backend, host + BYTES, BYTES), CC_OK);
    ck_assert_int_eq(backend->host_register(backend, host, BYTES + 1), CC_ERROR_DEVICE);
    ck_assert_int_eq(cc_last_native_error(), 712);
    ck_assert_int_eq(backend->host_register(backend, host + 2 * BYTES - 1, 1), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->host_register(backend, host, 4 * BYTES), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->host_register(backend, memory, BYTES), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->host_register(backend, host, 0), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->host_register(backend, NULL, BYTES), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->host_register(backend, host, SIZE_MAX), CC_ERROR_DEVICE);
    ck_assert_int_eq(cc_last_native_error(), 1);
    ck_assert_int_eq(backend->host_unregister(backend, host + BYTES + 1), CC_ERROR_DEVICE);
    ck_assert_int_eq(cc_last_native_error(), 713);
    ck_assert_int_eq(backend->host_unregister(backend, host), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->host_unregister(backend, memory), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->host_unregister(backend, NULL), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->host_register(backend, host, BYTES), CC_OK);
    ck_assert_int_eq(cc__emulated_count_live(backend).registrations, 2);
    ck_assert_int_eq(backend->host_unregister(backend, host + BYTES), CC_OK);
    ck_assert_int_eq(backend->host_unregister(backend, host + BYTES), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->host_register(backend, host + BYTES, 3 * BYTES), CC_OK);
}
END_TEST

START_TEST(memory_tells_its_device)
{
    int32_t device = -1;
    unsigned char host[BYTES];
    memory0 = allocate(0, a0, BYTES);
    memory1 = allocate(1, c1, BYTES);
    ck_assert_int_eq(backend->memory_device(backend, memory1, &device), CC_OK);
    ck_assert_int_eq(device, 1);
    ck_assert_int_eq(backend->memory_device(backend, memory0 + BYTES - 1, &device), CC_OK);
    ck_assert_int_eq(device, 0);
    device = 5;
    ck_assert_int_eq(backend->memory_device(backend, memory0 + BYTES, &device), CC_ERROR_POINTER);
    ck_assert_int_eq(backend->memory_device(backend, NULL, &device), CC_ERROR_POINTER);
    ck_assert_int_eq(backend->host_register(backend, host, BYTES), CC_OK);
    ck_assert_int_eq(backend->memory_device(backend, host, &device), CC_ERROR_POINTER);
    ck_assert_int_eq(device, 5);
}
END_TEST

START_TEST(memory_runs_out)
{
    void *memory = NULL;
    const size_t limit = 4096;
    cc__emulated_set_memory_limit(backend, limit);
    ck_assert_int_eq(backend->allocate(backend, 0, a0, limit + 1, &memory), CC_ERROR_OUT_OF_DEVICE_MEMORY);
    unsigned char *most = allocate(0, a0, limit - 1);
    ck_assert_int_eq(backend->allocate(backend, 0, a0, 2, &memory), CC_ERROR_OUT_OF_DEVICE_MEMORY);
    ck_assert_int_eq(cc_last_native_error(), 2);
    ck_assert_ptr_null(memory);
    ck_assert_int_eq(backend->allocate(backend, 0, a0, SIZE_MAX, &memory), CC_ERROR_OUT_OF_DEVICE_MEMORY);
    ck_assert_int_eq(backend->allocate(backend, 0, a0, 0, &memory), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->allocate(backend, 0, c1, 1, &memory), CC_ERROR_STREAM);
    ck_assert_ptr_null(memory);
    ck_assert_int_eq(cc__emulated_count_live(backend).allocated_bytes, (int64_t)limit - 1);
    allocate(0, a0, 1);
    allocate(1, c1, limit); /* each device has its own */
    ck_assert_int_eq(backend->free(backend, 0, a0, most), CC_OK);
    allocate(0, b0, limit - 1);
    cc__emulated_set_memory_limit(backend, 0);
    allocate(0, a0, limit);
    ck_assert_int_eq(backend->allocate(backend, 0, a0, SIZE_MAX / 2, &memory), CC_ERROR_OUT_OF_DEVICE_MEMORY);
}
END_TEST

START_TEST(room_is_made_by_running_frees)
{
    unsigned char out[BYTES];
    ck_assert_int_eq(backend->host_register(backend, out, BYTES), CC_OK);
    cc__emulated_set_memory_limit(backend, BYTES);
    unsigned char *memory = allocate(0, a0, BYTES);
    ck_assert_int_eq(fill_bytes(backend, 0, a0, memory, 7, BYTES), CC_OK);
    order_after(0, b0, 0, a0);
    ck_assert_int_eq(copy_bytes(backend, 0, b0, out, memory, BYTES), CC_OK);
    ck_assert_int_eq(backend->free(backend, 0, b0, memory), CC_OK);
    allocate(0, a0, BYTES);
    ck_assert(bytes_are(out, 7, BYTES));
    ck_assert_int_eq(cc__emulated_count_live(backend).queued, 1);
}
END_TEST

START_TEST(memory_waiting_to_be_freed_is_bounded)
{
    const size_t size_bytes = (size_t)24 << 20;
    for (int i = 0; i < 6; i++) {
        unsigned char *memory = allocate(0, a0, size_bytes);
        ck_assert_int_eq(backend->free(backend, 0, a0, memory), CC_OK);
    }
    ck_assert_int_lt(cc__emulated_count_live(backend).queued, 12);
}
END_TEST

START_TEST(live_counts_tell_what_is_kept)
{
    cc__emulated_live live = cc__emulated_count_live(backend);
    ck_assert_int_eq(live.allocations + live.allocated_bytes + live.events + live.registrations + live.queued, 0);
    ck_assert_int_eq(live.streams, 3);
    unsigned char host[BYTES];
    cc__event *event = NULL;
    unsigned char *memory = allocate(1, c1, 10);
    allocate(0, CC_STREAM_DEFAULT, 20);
    ck_assert_int_eq(backend->host_register(backend, host, BYTES), CC_OK);
    ck_assert_int_eq(backend->event_create(backend, 1, &event), CC_OK);
    live = cc__emulated_count_live(backend);
    ck_assert_int_eq(live.allocations, 2);
    ck_assert_int_eq(live.allocated_bytes, 30);
    ck_assert_int_eq(live.events, 1);
    ck_assert_int_eq(live.registrations, 1);
    ck_assert_int_eq(live.queued, 2);
    backend->event_destroy(backend, 1, event);
    ck_assert_int_eq(backend->free(backend, 1, c1, memory), CC_OK);
    ck_assert_int_eq(backend->host_unregister(backend, host), CC_OK);
    backend->stream_destroy(backend, 1, c1);
    live = cc__emulated_count_live(backend);
    ck_assert_int_eq(live.allocations, 1);
    ck_assert_int_eq(live.allocated_bytes, 20);
    ck_assert_int_eq(live.events + live.registrations, 0);
    ck_assert_int_eq(live.streams, 2);
}
END_TEST

START_TEST(devices_are_1_to_61)
{
    ck_assert_ptr_null(cc__backend_emulated_create(-1));
    ck_assert_ptr_null(cc__backend_emulated_create(0));
    ck_assert_ptr_null(cc__backend_emulated_create(62));
    cc__backend *most = cc__backend_emulated_create(61);
    ck_assert_ptr_nonnull(most);
    ck_assert_int_eq(most->device_count, 61);
    ck_assert_str_eq(most->name, "emulated");
    ck_assert(most->has_peer_access(most, 60, 0));
    void *memory = NULL;
    int32_t device = -1;
    ck_assert_int_eq(most->allocate(most, 60, CC_STREAM_DEFAULT, 1, &memory), CC_OK);
    ck_assert_int_eq(most->memory_device(most, memory, &device), CC_OK);
    ck_assert_int_eq(device, 60);
    cc__backend_emulated_destroy(most);
}
END_TEST

static void expect_memory(int32_t device, size_t free_bytes, size_t total_bytes)
{
    size_t found_free = 0;
    size_t found_total = 0;
    ck_assert_int_eq(backend->memory_info(backend, device, &found_free, &found_total), CC_OK);
    ck_assert_uint_eq(found_free, free_bytes);
    ck_assert_uint_eq(found_total, total_bytes);
}

START_TEST(memory_is_accounted_for)
{
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    ck_assert_int_eq(backend->memory_info(backend, 0, &free_bytes, &total_bytes), CC_OK);
    ck_assert_uint_eq(free_bytes, total_bytes); /* without a limit, the machine's */
    ck_assert_uint_ge(total_bytes, (size_t)16 << 20);
    cc__emulated_set_memory_limit(backend, 1000);
    expect_memory(0, 1000, 1000);
    unsigned char *memory = allocate(0, a0, 600);
    expect_memory(0, 400, 1000);
    expect_memory(1, 1000, 1000);
    /* Freed when the stream gets there, not before. */
    ck_assert_int_eq(backend->free(backend, 0, a0, memory), CC_OK);
    expect_memory(0, 400, 1000);
    synchronize(0, a0);
    expect_memory(0, 1000, 1000);
    allocate(0, a0, 600);
    cc__emulated_set_memory_limit(backend, 500);
    expect_memory(0, 0, 500);
}
END_TEST

START_TEST(nothing_is_kept_to_trim)
{
    unsigned char out[BYTES] = {0}, in[BYTES] = {0};
    cc__emulated_set_memory_limit(backend, 1000);
    unsigned char *memory = allocate(0, a0, 600);
    unsigned char *freed = allocate(0, a0, 100);
    ck_assert_int_eq(fill_bytes(backend, 0, a0, memory, 7, BYTES), CC_OK);
    ck_assert_int_eq(backend->free(backend, 0, a0, freed), CC_OK);
    ck_assert_int_eq(backend->trim(backend, 0, 0), CC_OK);
    /* It waits for nothing, so what is to be freed is still there. */
    expect_memory(0, 300, 1000);
    ck_assert_int_eq(copy_bytes(backend, 0, a0, out, memory, BYTES), CC_OK);
    ck_assert(bytes_are(out, 7, BYTES));

    ck_assert_int_eq(backend->host_register(backend, in, BYTES), CC_OK);
    ck_assert_int_eq(copy_bytes(backend, 0, a0, memory, in, BYTES), CC_OK);
    ck_assert_int_eq(backend->host_unregister(backend, in), CC_OK);
    ck_assert_int_eq(backend->stream_synchronize(backend, 0, a0), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->trim(backend, 0, 0), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->trim(backend, 1, SIZE_MAX), CC_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("emulated memory");
    TCase *cases = tcase_create("memory");
    tcase_add_checked_fixture(cases, two_devices_set_up, two_devices_tear_down);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, memory_is_for_the_stream_it_was_allocated_in);
    tcase_add_test(cases, free_comes_after_what_is_queued);
    tcase_add_test(cases, freed_memory_is_refused);
    tcase_add_test(cases, free_wants_what_was_allocated);
    tcase_add_test(cases, use_after_free_loses_the_device);
    tcase_add_test(cases, lost_device_still_frees);
    tcase_add_test(cases, registered_ranges_do_not_overlap);
    tcase_add_test(cases, memory_tells_its_device);
    tcase_add_test(cases, memory_runs_out);
    tcase_add_test(cases, room_is_made_by_running_frees);
    tcase_add_test(cases, memory_waiting_to_be_freed_is_bounded);
    tcase_add_test(cases, live_counts_tell_what_is_kept);
    tcase_add_test(cases, memory_is_accounted_for);
    tcase_add_test(cases, nothing_is_kept_to_trim);
    tcase_add_test(cases, devices_are_1_to_61);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
