/* The backend that fails on request: the tests that use it can only be as good as it is. */
#include "support/faulty_backend.h"

#include "backend/emulated.h"
#include "base/error.h"
#include "support/dense_work.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 32

static cc__backend *inner, *faulty;
static cc_stream stream;
static void *memory;

static void set_up(void)
{
    inner = cc__backend_emulated_create(2);
    faulty = faulty_backend_create(inner);
    ck_assert_ptr_nonnull(faulty);
    stream = NULL;
    ck_assert_int_eq(faulty->stream_create(faulty, 0, &stream), CC_OK);
    ck_assert_int_eq(faulty->allocate(faulty, 0, stream, BYTES, &memory), CC_OK);
    faulty_backend_reset_counts(faulty);
}

static void tear_down(void)
{
    faulty_backend_destroy(faulty);
    cc__backend_emulated_destroy(inner);
}

static cc_status do_nothing(void *context)
{
    (void)context;
    return CC_OK;
}

/* Every operation once, in the order of faulty_operation. Fills in what came back. */
static void call_all(cc_status statuses[FAULTY_OPERATION_COUNT])
{
    static unsigned char host[BYTES];
    int32_t device = -1;
    bool flag = false;
    void *other = NULL;
    cc_stream other_stream = NULL;
    cc__event *event = NULL, *other_event = NULL;
    ck_assert_int_eq(inner->event_create(inner, 0, &event), CC_OK);
    cc__rescale rescale = {.destination = {memory, {1, BYTES, BYTES, BYTES}},
                           .source = {memory, {1, BYTES, BYTES, BYTES}},
                           .size = {BYTES, 1, 1, 1},
                           .components = 1,
                           .destination_type = CC_PIXEL_UINT8,
                           .source_type = CC_PIXEL_UINT8,
                           .scale = 1.0};
    for (int i = 0; i < FAULTY_OPERATION_COUNT; i++)
        statuses[i] = CC_OK;
    statuses[FAULTY_CURRENT_DEVICE] = faulty->current_device(faulty, &device);
    statuses[FAULTY_ALLOCATE] = faulty->allocate(faulty, 0, stream, BYTES, &other);
    statuses[FAULTY_FREE] = other ? faulty->free(faulty, 0, stream, other) : CC_OK;
    statuses[FAULTY_HOST_REGISTER] = faulty->host_register(faulty, host, BYTES);
    statuses[FAULTY_HOST_UNREGISTER] =
        statuses[FAULTY_HOST_REGISTER] == CC_OK ? faulty->host_unregister(faulty, host) : CC_OK;
    statuses[FAULTY_MEMORY_DEVICE] = faulty->memory_device(faulty, memory, &device);
    faulty->has_peer_access(faulty, 0, 1);
    statuses[FAULTY_STREAM_CREATE] = faulty->stream_create(faulty, 0, &other_stream);
    faulty->stream_destroy(faulty, 0, other_stream);
    statuses[FAULTY_STREAM_SYNCHRONIZE] = faulty->stream_synchronize(faulty, 0, stream);
    statuses[FAULTY_STREAM_IS_CAPTURING] = faulty->stream_is_capturing(faulty, 0, stream, &flag);
    statuses[FAULTY_EVENT_CREATE] = faulty->event_create(faulty, 0, &other_event);
    faulty->event_destroy(faulty, 0, other_event ? other_event : event);
    if (other_event == NULL)
        ck_assert_int_eq(inner->event_create(inner, 0, &event), CC_OK);
    statuses[FAULTY_EVENT_RECORD] = faulty->event_record(faulty, 0, event, stream);
    statuses[FAULTY_EVENT_IS_COMPLETE] = faulty->event_is_complete(faulty, 0, event, &flag);
    statuses[FAULTY_EVENT_SYNCHRONIZE] = faulty->event_synchronize(faulty, 0, event);
    statuses[FAULTY_STREAM_WAIT] = faulty->stream_wait(faulty, 0, stream, event);
    statuses[FAULTY_COPY] = copy_bytes(faulty, 0, stream, memory, host, BYTES);
    statuses[FAULTY_FILL] = fill_bytes(faulty, 0, stream, memory, 1, BYTES);
    statuses[FAULTY_RUN_KERNEL] = faulty->run_kernel(faulty, 0, stream, &cc__rescale_kernel, &rescale, &flag);
    cc__copy boxes[2] = {dense_copy(memory, (char *)memory + 8, 4), dense_copy((char *)memory + 4, memory, 3)};
    statuses[FAULTY_COPY_BOXES] = faulty->copy_boxes(faulty, 0, stream, boxes, 2);
    ck_assert_uint_eq(faulty->stream_id(faulty, 0, stream), inner->stream_id(inner, 0, stream));
    size_t free_bytes = 0, total_bytes = 0;
    statuses[FAULTY_MEMORY_INFO] = faulty->memory_info(faulty, 0, &free_bytes, &total_bytes);
    statuses[FAULTY_TRIM] = faulty->trim(faulty, 0, 0);
    statuses[FAULTY_SYNCHRONIZE] = faulty->synchronize(faulty, 0);
    const cc__texture_form form = {
        .size = {BYTES, 1, 1}, .type = CC_PIXEL_UINT8, .channels = 1, .object_count = 1, .element_bytes = 1};
    const cc__sampling sampling = {.filter = CC_TEXTURE_POINT};
    uint64_t objects[CC_TEXTURE_MAX_OBJECTS];
    cc__texture *texture = NULL, *other_texture = NULL;
    ck_assert_int_eq(inner->texture_create(inner, 0, &form, &texture), CC_OK);
    statuses[FAULTY_CALL] = faulty->call(faulty, 0, do_nothing, NULL);
    statuses[FAULTY_TEXTURE_CREATE] = faulty->texture_create(faulty, 0, &form, &other_texture);
    statuses[FAULTY_TEXTURE_UPDATE] = faulty->texture_update(faulty, 0, stream, texture, &rescale.source);
    statuses[FAULTY_TEXTURE_OBJECTS] = faulty->texture_objects(faulty, 0, texture, &sampling, objects);
    ck_assert_int_eq(inner->stream_synchronize(inner, 0, stream), CC_OK);
    faulty->texture_destroy(faulty, 0, texture);
    statuses[FAULTY_STREAM_IS_IDLE] = faulty->stream_is_idle(faulty, 0, stream, &flag);
    if (other_texture != NULL)
        inner->texture_destroy(inner, 0, other_texture);
    faulty->range_push(faulty, "all");
    faulty->range_pop(faulty);
    inner->event_destroy(inner, 0, event);
}

static bool can_fail(int operation)
{
    return operation != FAULTY_HAS_PEER_ACCESS && operation != FAULTY_STREAM_DESTROY &&
           operation != FAULTY_EVENT_DESTROY && operation != FAULTY_STREAM_ID && operation != FAULTY_RANGE_PUSH &&
           operation != FAULTY_RANGE_POP && operation != FAULTY_TEXTURE_DESTROY;
}

static bool is_free(int operation)
{
    return operation == FAULTY_FREE || operation == FAULTY_HOST_UNREGISTER;
}

START_TEST(everything_passes_and_is_counted)
{
    cc_status statuses[FAULTY_OPERATION_COUNT];
    ck_assert_str_eq(faulty->name, "emulated");
    ck_assert_int_eq(faulty->device_count, 2);
    call_all(statuses);
    const faulty_counts counts = faulty_backend_counts(faulty);
    for (int i = 0; i < FAULTY_OPERATION_COUNT; i++) {
        ck_assert_msg(statuses[i] == CC_OK, "%s: %s", faulty_operation_name((faulty_operation)i),
                      cc_last_error_message());
        ck_assert_int_eq(counts.calls[i], 1);
    }
    ck_assert_int_eq(counts.total_calls, FAULTY_OPERATION_COUNT - 2); /* less the ranges */
    ck_assert_int_eq(counts.failures, 0);
    faulty_backend_reset_counts(faulty);
    ck_assert_int_eq(faulty_backend_counts(faulty).total_calls, 0);
}
END_TEST

START_TEST(chosen_operation_fails)
{
    cc_status statuses[FAULTY_OPERATION_COUNT];
    const faulty_rule rule = {(faulty_operation)_i, 1, true, CC_ERROR_FORKED, 123};
    faulty_backend_add_rule(faulty, &rule);
    call_all(statuses);
    for (int i = 0; i < FAULTY_OPERATION_COUNT; i++)
        ck_assert_int_eq(statuses[i], i == _i && can_fail(i) ? CC_ERROR_FORKED : CC_OK);
    if (can_fail(_i)) {
        ck_assert_int_eq(cc_last_native_error(), 123);
        ck_assert_ptr_eq(strstr(cc_last_error_message(), faulty_operation_name((faulty_operation)_i)),
                         cc_last_error_message());
    }
    ck_assert_int_eq(faulty_backend_counts(faulty).failures, can_fail(_i));
    faulty_backend_clear_rules(faulty);
    call_all(statuses);
    for (int i = 0; i < FAULTY_OPERATION_COUNT; i++)
        ck_assert_int_eq(statuses[i],
                         i == FAULTY_HOST_REGISTER && _i == FAULTY_HOST_UNREGISTER ? CC_ERROR_DEVICE : CC_OK);
}
END_TEST

START_TEST(nth_operation_fails_once)
{
    cc_status statuses[FAULTY_OPERATION_COUNT];
    int expected = 0;
    int64_t nth = 0;
    for (; expected < FAULTY_OPERATION_COUNT; expected++) {
        if (!can_fail(expected) || is_free(expected))
            continue;
        faulty_backend_fail_nth(faulty, ++nth, false);
        call_all(statuses);
        for (int i = 0; i < FAULTY_OPERATION_COUNT; i++)
            ck_assert_int_eq(statuses[i], i == expected ? CC_ERROR_DEVICE : CC_OK);
    }
    faulty_backend_fail_nth(faulty, nth + 1, false);
    call_all(statuses);
    for (int i = 0; i < FAULTY_OPERATION_COUNT; i++)
        ck_assert_int_eq(statuses[i], CC_OK);
    ck_assert_int_eq(faulty_backend_counts(faulty).failures, nth);
}
END_TEST

START_TEST(nth_and_all_after_it_fail)
{
    cc_status statuses[FAULTY_OPERATION_COUNT];
    faulty_backend_fail_nth(faulty, 3, true);
    call_all(statuses);
    /* current_device, allocate and, not counted, free are before the third. */
    for (int i = 0; i < FAULTY_OPERATION_COUNT; i++)
        ck_assert_int_eq(statuses[i],
                         i >= FAULTY_HOST_REGISTER && can_fail(i) && !is_free(i) ? CC_ERROR_DEVICE : CC_OK);
}
END_TEST

START_TEST(frees_fail_when_asked)
{
    const faulty_rule rule = {FAULTY_ANY_OR_FREE, 1, true, CC_ERROR_DEVICE, 4};
    faulty_backend_fail_nth(faulty, 1, true);
    ck_assert_int_eq(faulty->free(faulty, 1, stream, memory), CC_ERROR_STREAM); /* the inner one's: wrong device */
    ck_assert_int_eq(cc_last_native_error(), 400);
    ck_assert_int_eq(faulty_backend_counts(faulty).failures, 0);
    faulty_backend_clear_rules(faulty);
    faulty_backend_add_rule(faulty, &rule);
    ck_assert_int_eq(faulty->free(faulty, 0, stream, memory), CC_ERROR_DEVICE);
    ck_assert_int_eq(cc_last_native_error(), 4);
    ck_assert_int_eq(faulty->host_unregister(faulty, memory), CC_ERROR_DEVICE);
    ck_assert_int_eq(cc_last_native_error(), 4);
    ck_assert_int_eq(cc__emulated_count_live(inner).allocations, 1);
    faulty_backend_clear_rules(faulty);
    ck_assert_int_eq(faulty->free(faulty, 0, stream, memory), CC_OK);
}
END_TEST

START_TEST(only_allocate_runs_out_of_memory)
{
    cc_status statuses[FAULTY_OPERATION_COUNT];
    const faulty_rule rule = {FAULTY_ANY, 1, true, CC_ERROR_OUT_OF_DEVICE_MEMORY, 2};
    faulty_backend_add_rule(faulty, &rule);
    call_all(statuses);
    ck_assert_int_eq(statuses[FAULTY_ALLOCATE], CC_ERROR_OUT_OF_DEVICE_MEMORY);
    ck_assert_int_eq(statuses[FAULTY_COPY], CC_ERROR_DEVICE);
}
END_TEST

START_TEST(rules_add_up)
{
    const faulty_rule second_copy = {FAULTY_COPY, 2, false, CC_ERROR_FORKED, 1};
    const faulty_rule third = {FAULTY_ANY, 3, false, CC_ERROR_DEVICE, 2};
    unsigned char host[BYTES] = {0};
    faulty_backend_add_rule(faulty, &second_copy);
    faulty_backend_add_rule(faulty, &third);
    ck_assert_int_eq(fill_bytes(faulty, 0, stream, memory, 1, BYTES), CC_OK);
    ck_assert_int_eq(copy_bytes(faulty, 0, stream, memory, host, BYTES), CC_OK);
    ck_assert_int_eq(copy_bytes(faulty, 0, stream, memory, host, BYTES), CC_ERROR_FORKED);
    ck_assert_int_eq(copy_bytes(faulty, 0, stream, memory, host, BYTES), CC_OK);
    ck_assert_int_eq(faulty_backend_counts(faulty).calls[FAULTY_COPY], 3);
    ck_assert_int_eq(faulty_backend_counts(faulty).host_to_device_copies, 2);
}
END_TEST

START_TEST(copies_are_counted_by_direction)
{
    unsigned char host[BYTES] = {0}, registered[BYTES];
    void *second = NULL;
    ck_assert_int_eq(inner->host_register(inner, registered, BYTES), CC_OK);
    ck_assert_int_eq(inner->allocate(inner, 1, CC_STREAM_DEFAULT, BYTES, &second), CC_OK);
    ck_assert_int_eq(inner->stream_synchronize(inner, 1, CC_STREAM_DEFAULT), CC_OK);
    ck_assert_int_eq(inner->stream_synchronize(inner, 0, stream), CC_OK);
    cc__copy box = dense_copy(memory, host, 1);
    box.pixel_bytes = 3;
    box.size[0] = 2;
    box.destination.stride[0] = box.source.stride[0] = 4;
    box.size[1] = 2;
    box.destination.stride[1] = box.source.stride[1] = 8;
    ck_assert_int_eq(faulty->copy(faulty, 0, stream, &box), CC_OK);
    ck_assert_int_eq(copy_bytes(faulty, 0, stream, (char *)memory + 5, registered, 5), CC_OK);
    ck_assert_int_eq(copy_bytes(faulty, 0, stream, registered, (char *)memory + 7, 7), CC_OK);
    ck_assert_int_eq(copy_bytes(faulty, 0, stream, second, memory, 11), CC_OK);
    ck_assert_int_eq(copy_bytes(faulty, 0, stream, second, memory, BYTES + 1), CC_ERROR_DEVICE);
    const faulty_counts counts = faulty_backend_counts(faulty);
    ck_assert_int_eq(counts.host_to_device_copies, 2);
    ck_assert_int_eq(counts.host_to_device_bytes, 12 + 5);
    ck_assert_int_eq(counts.device_to_host_copies, 1);
    ck_assert_int_eq(counts.device_to_host_bytes, 7);
    ck_assert_int_eq(counts.device_to_device_copies, 1);
    ck_assert_int_eq(counts.device_to_device_bytes, 11);
    ck_assert_int_eq(counts.calls[FAULTY_MEMORY_DEVICE], 0);
    ck_assert_int_eq(counts.total_calls, 5);
}
END_TEST

START_TEST(each_box_is_counted)
{
    unsigned char host[BYTES] = {0};
    ck_assert_int_eq(inner->host_register(inner, host, BYTES), CC_OK);
    cc__copy works[3] = {dense_copy(memory, host, 5), dense_copy((char *)memory + 5, host, 7),
                         dense_copy(host + 8, memory, 9)};
    works[1].size[1] = 2;
    works[1].source.stride[1] = works[1].destination.stride[1] = 8;
    ck_assert_int_eq(faulty->copy_boxes(faulty, 0, stream, works, 3), CC_OK);
    /* All of them fail together. */
    works[2].source.data = host;
    works[2].destination.data = host + BYTES - 1;
    ck_assert_int_eq(faulty->copy_boxes(faulty, 0, stream, works, 3), CC_ERROR_DEVICE);
    ck_assert_int_eq(faulty->copy_boxes(faulty, 0, stream, NULL, 0), CC_OK);
    const faulty_counts counts = faulty_backend_counts(faulty);
    ck_assert_int_eq(counts.calls[FAULTY_COPY_BOXES], 3);
    ck_assert_int_eq(counts.total_calls, 3);
    ck_assert_int_eq(counts.host_to_device_copies, 2);
    ck_assert_int_eq(counts.host_to_device_bytes, 5 + 14);
    ck_assert_int_eq(counts.device_to_host_copies, 1);
    ck_assert_int_eq(counts.device_to_host_bytes, 9);
    ck_assert_int_eq(counts.device_to_device_copies, 0);
}
END_TEST

START_TEST(ranges_are_counted_apart)
{
    faulty_backend_fail_nth(faulty, 1, true);
    faulty->range_push(faulty, "outer");
    faulty->range_push(faulty, "inner");
    faulty->range_pop(faulty);
    const faulty_counts counts = faulty_backend_counts(faulty);
    ck_assert_int_eq(counts.calls[FAULTY_RANGE_PUSH], 2);
    ck_assert_int_eq(counts.calls[FAULTY_RANGE_POP], 1);
    ck_assert_int_eq(counts.total_calls, 0);
    ck_assert_int_eq(counts.failures, 0);
}
END_TEST

START_TEST(counting_leaves_the_message_alone)
{
    unsigned char host[BYTES] = {0};
    cc__fail_native(CC_ERROR_BUSY, 77, "earlier: 100%% of it");
    ck_assert_int_eq(copy_bytes(faulty, 0, stream, memory, host, BYTES), CC_OK);
    ck_assert_str_eq(cc_last_error_message(), "earlier: 100% of it");
    ck_assert_int_eq(cc_last_native_error(), 77);
}
END_TEST

START_TEST(peer_access_is_refused)
{
    ck_assert(faulty->has_peer_access(faulty, 0, 1));
    faulty_backend_refuse_peer_access(faulty, true);
    ck_assert(!faulty->has_peer_access(faulty, 0, 1));
    faulty_backend_refuse_peer_access(faulty, false);
    ck_assert(faulty->has_peer_access(faulty, 0, 1));
}
END_TEST

START_TEST(log_keeps_the_latest)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    faulty_backend_print_log(faulty, file);
    fflush(file);
    ck_assert_ptr_eq(strstr(text, "0 stream_create device 0, "), text);
    ck_assert_ptr_nonnull(strstr(text, "\n1 allocate device 0, "));
    rewind(file);
    for (int i = 0; i < 300; i++)
        ck_assert_int_eq(fill_bytes(faulty, 0, stream, memory, 1, BYTES), CC_OK);
    faulty_backend_fail_nth(faulty, 1, false);
    ck_assert_int_eq(fill_bytes(faulty, 0, stream, memory, 1, 5), CC_ERROR_DEVICE);
    faulty_backend_print_log(faulty, file);
    fclose(file);
    int lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    ck_assert_int_eq(lines, 256);
    ck_assert_ptr_null(strstr(text, "allocate"));
    ck_assert_ptr_nonnull(strstr(text, " fill device 0, "));
    ck_assert_ptr_nonnull(strstr(text, " 32 bytes: CC_OK\n"));
    const char ending[] = " 5 bytes: CC_ERROR_DEVICE (injected)\n";
    ck_assert_uint_gt(length, sizeof ending);
    ck_assert_str_eq(text + length - (sizeof ending - 1), ending);
    free(text);
}
END_TEST

static void *fill_often(void *argument)
{
    int32_t *failures = argument;
    for (int i = 0; i < 500; i++)
        *failures += fill_bytes(faulty, 0, CC_STREAM_PER_THREAD, memory, 1, BYTES) != CC_OK;
    return NULL;
}

START_TEST(threads_share_the_nth)
{
    pthread_t threads[2];
    int32_t failures[2] = {0, 0};
    faulty_backend_fail_nth(faulty, 700, false);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, fill_often, &failures[i]), 0);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(failures[0] + failures[1], 1);
    ck_assert_int_eq(faulty_backend_counts(faulty).calls[FAULTY_FILL], 1000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("faulty backend");
    TCase *cases = tcase_create("faulty backend");
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, everything_passes_and_is_counted);
    tcase_add_loop_test(cases, chosen_operation_fails, 0, FAULTY_OPERATION_COUNT);
    tcase_add_test(cases, nth_operation_fails_once);
    tcase_add_test(cases, nth_and_all_after_it_fail);
    tcase_add_test(cases, frees_fail_when_asked);
    tcase_add_test(cases, only_allocate_runs_out_of_memory);
    tcase_add_test(cases, rules_add_up);
    tcase_add_test(cases, copies_are_counted_by_direction);
    tcase_add_test(cases, each_box_is_counted);
    tcase_add_test(cases, ranges_are_counted_apart);
    tcase_add_test(cases, counting_leaves_the_message_alone);
    tcase_add_test(cases, peer_access_is_refused);
    tcase_add_test(cases, log_keeps_the_latest);
    tcase_add_test(cases, threads_share_the_nth);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
