/* The emulated device with a seed, and with threads: another order, the same result. */
#include "support/dense_work.h"
#include "support/two_devices.h"

#include <check.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

/* Four streams that only events order. Returns the order in which the functions ran, in `order`. */
static void run_ordered_program(uint64_t seed)
{
    two_devices_set_up_with_memory();
    cc__emulated_set_seed(backend, seed);
    cc_stream d1 = NULL;
    ck_assert_int_eq(backend->stream_create(backend, 1, &d1), CC_OK);
    copy(0, a0, memory0, host_in);
    launch(0, a0, "a");
    launch(0, a0, "b");
    cc__event *up = record_new(0, a0);
    launch(0, b0, "p");
    launch(0, b0, "q");
    launch(1, d1, "u");
    launch(1, d1, "v");
    wait_for(1, c1, up);
    launch(1, c1, "c");
    copy(1, c1, memory1, memory0);
    cc__event *over = record_new(1, c1);
    launch(0, a0, "e");
    launch(1, d1, "w");
    wait_for(0, b0, over);
    copy(0, b0, host_out, memory1);
    launch(0, b0, "r");
    synchronize(0, b0);
    ck_assert_msg(bytes_are(host_out, 1, BYTES), "seed %d", (int)seed);
    synchronize(0, a0);
    synchronize(1, d1);
    two_devices_tear_down();
}

static bool comes_before(char first, char second)
{
    return strchr(order, first) && strchr(order, second) && strchr(order, first) < strchr(order, second);
}

START_TEST(seeds_change_the_order_and_not_the_result)
{
    static char orders[51][sizeof order];
    int32_t different = 0;
    two_devices_tear_down();
    for (uint64_t seed = 0; seed <= 50; seed++) {
        run_ordered_program(seed);
        ck_assert_int_eq(order_length, 10);
        ck_assert(comes_before('a', 'b') && comes_before('b', 'c') && comes_before('c', 'r') && comes_before('b', 'e'));
        ck_assert(comes_before('p', 'q') && comes_before('q', 'r'));
        ck_assert(comes_before('u', 'v') && comes_before('v', 'w'));
        memcpy(orders[seed], order, sizeof order);
        bool is_new = true;
        for (uint64_t other = 0; other < seed; other++)
            is_new &= strcmp(orders[other], order) != 0;
        different += is_new;
        run_ordered_program(seed);
        ck_assert_str_eq(order, orders[seed]);
    }
    ck_assert_str_eq(orders[0], "pqabcreuvw");
    ck_assert_int_gt(different, 35);
    two_devices_set_up_with_memory();
}
END_TEST

START_TEST(seed_lets_work_run_unasked)
{
    cc__emulated_set_seed(backend, 3);
    copy(0, a0, memory0, host_in);
    cc__event *event = record_new(0, a0);
    int calls = 0;
    while (!is_complete(0, event) && calls < 1000)
        calls++;
    ck_assert_int_lt(calls, 1000);
    ck_assert(bytes_are(memory0, 1, BYTES));
    cc__emulated_set_seed(backend, 0);
    ck_assert_int_eq(backend->event_record(backend, 0, event, a0), CC_OK);
    for (calls = 0; calls < 1000; calls++)
        ck_assert(!is_complete(0, event));
}
END_TEST

static sem_t function_started, function_may_end;

static void run_until_told(void *argument)
{
    (void)argument;
    sem_post(&function_started);
    sem_wait(&function_may_end);
    note("f");
}

static void *synchronize_a0(void *argument)
{
    (void)argument;
    backend->stream_synchronize(backend, 0, a0);
    return NULL;
}

static void *synchronize_b0_then_note(void *argument)
{
    (void)argument;
    backend->stream_synchronize(backend, 0, b0);
    note("g");
    return NULL;
}

START_TEST(functions_run_without_the_lock)
{
    pthread_t runner, waiter;
    sem_init(&function_started, 0, 0);
    sem_init(&function_may_end, 0, 0);
    ck_assert_int_eq(cc__emulated_launch(backend, 0, a0, run_until_told, NULL), CC_OK);
    cc__event *event = record_new(0, a0);
    wait_for(0, b0, event);
    ck_assert_int_eq(pthread_create(&runner, NULL, synchronize_a0, NULL), 0);
    sem_wait(&function_started);
    /* The device is usable meanwhile, and whoever needs the function waits for it. */
    ck_assert_int_eq(pthread_create(&waiter, NULL, synchronize_b0_then_note, NULL), 0);
    launch(1, c1, "c");
    synchronize(1, c1);
    for (int i = 0; i < 10000; i++) /* time enough for the waiter to come upon the function */
        ck_assert(!is_complete(0, event));
    backend->stream_destroy(backend, 0, a0);
    sem_post(&function_may_end);
    ck_assert_int_eq(pthread_join(runner, NULL), 0);
    ck_assert_int_eq(pthread_join(waiter, NULL), 0);
    ck_assert_str_eq(order, "cfg");
    sem_destroy(&function_started);
    sem_destroy(&function_may_end);
}
END_TEST

/* A thread works in a stream of its own, and now and then waits for what the others have recorded. */
#define HAMMERS 3
static cc__event *shared_events[HAMMERS];
static _Atomic int32_t surprises; /* Check's own assertions are for the main thread */

static void expect(bool is_so)
{
    surprises += !is_so;
}

static void *hammer(void *argument)
{
    const int32_t self = *(const int32_t *)argument;
    const int32_t device = self % 2;
    unsigned char in[BYTES], out[BYTES];
    void *memory = NULL;
    cc_stream stream = NULL;
    expect(backend->stream_create(backend, device, &stream) == CC_OK);
    expect(backend->host_register(backend, in, BYTES) == CC_OK);
    for (int32_t round = 0; round < 200; round++) {
        const unsigned char value = (unsigned char)((self * 50 + round) % 256);
        memset(in, value, BYTES);
        expect(backend->allocate(backend, device, stream, BYTES, &memory) == CC_OK);
        expect(copy_bytes(backend, device, stream, memory, in, BYTES) == CC_OK);
        expect(backend->event_record(backend, device, shared_events[self], stream) == CC_OK);
        expect(backend->stream_wait(backend, device, stream, shared_events[(self + round) % HAMMERS]) == CC_OK);
        expect(copy_bytes(backend, device, stream, out, memory, BYTES) == CC_OK);
        expect(bytes_are(out, value, BYTES));
        expect(backend->free(backend, device, stream, memory) == CC_OK);
    }
    expect(backend->host_unregister(backend, in) == CC_OK);
    backend->stream_destroy(backend, device, stream);
    return NULL;
}

START_TEST(threads_hammer)
{
    pthread_t threads[HAMMERS];
    int32_t numbers[HAMMERS];
    const cc__emulated_live before = cc__emulated_count_live(backend);
    cc__emulated_set_seed(backend, (uint64_t)_i);
    for (int32_t i = 0; i < HAMMERS; i++)
        ck_assert_int_eq(backend->event_create(backend, i % 2, &shared_events[i]), CC_OK);
    for (int32_t i = 0; i < HAMMERS; i++) {
        numbers[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, hammer, &numbers[i]), 0);
    }
    for (int32_t i = 0; i < HAMMERS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(surprises, 0);
    for (int32_t i = 0; i < HAMMERS; i++)
        backend->event_destroy(backend, i % 2, shared_events[i]);
    const cc__emulated_live after = cc__emulated_count_live(backend);
    ck_assert_int_eq(after.allocations, before.allocations);
    ck_assert_int_eq(after.streams, before.streams);
    ck_assert_int_eq(after.events, before.events);
    ck_assert_int_eq(after.registrations, before.registrations);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("emulated order");
    TCase *cases = tcase_create("order");
    tcase_add_checked_fixture(cases, two_devices_set_up_with_memory, two_devices_tear_down);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, seeds_change_the_order_and_not_the_result);
    tcase_add_test(cases, seed_lets_work_run_unasked);
    tcase_add_test(cases, functions_run_without_the_lock);
    tcase_add_loop_test(cases, threads_hammer, 0, 3);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
