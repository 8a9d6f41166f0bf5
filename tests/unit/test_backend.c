/* Which backend is chosen, what the public device functions say, and the backend without devices. */
#include "backend/backend.h"
#include "backend/emulated.h"
#include "support/dense_work.h"
#include "support/faulty_backend.h"

#include <check.h>
#include <cudacommon/device.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The choice is made once in a process, so each runs in a child of its own: 0 is right. */
static int run_in_child(const char *device, const char *seed, int (*question)(const void *), const void *argument)
{
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        unsetenv("CUDACOMMON_DEVICE");
        unsetenv("CUDACOMMON_EMULATED_SEED");
        if (device)
            setenv("CUDACOMMON_DEVICE", device, 1);
        if (seed)
            setenv("CUDACOMMON_EMULATED_SEED", seed, 1);
        _exit(question(argument));
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

typedef struct choice {
    const char *device;
    const char *name; /* NULL: CUDA where it can be had */
    int32_t device_count;
} choice;

static const choice choices[] = {{NULL, NULL, 0},
                                 {"", NULL, 0},
                                 {"cuda", NULL, 0},
                                 {"none", "none", 0},
                                 {"none ", NULL, 0},
                                 {"None", NULL, 0},
                                 {"emulated", "emulated", 1},
                                 {"emulated:1", "emulated", 1},
                                 {"emulated:3", "emulated", 3},
                                 {"emulated:61", "emulated", 61},
                                 {"emulated:007", "emulated", 7},
                                 {"emulated:62", NULL, 0},
                                 {"emulated:0", NULL, 0},
                                 {"emulated:", NULL, 0},
                                 {"emulated:-1", NULL, 0},
                                 {"emulated:+1", NULL, 0},
                                 {"emulated: 3", NULL, 0},
                                 {"emulated:3 ", NULL, 0},
                                 {"emulated:3x", NULL, 0},
                                 {"emulated:0x3", NULL, 0},
                                 {"emulated3", NULL, 0},
                                 {"emulatedx", NULL, 0},
                                 {"emulated=3", NULL, 0},
                                 {"emulate", NULL, 0},
                                 {"EMULATED", NULL, 0},
                                 {"emulated:4294967297", NULL, 0},
                                 {"emulated:18446744073709551617", NULL, 0}};
#define CHOICE_COUNT ((int)(sizeof choices / sizeof choices[0]))

static int is_chosen(const void *argument)
{
    choice expected = *(const choice *)argument;
    if (!expected.name) {
        const cc__backend *cuda = cc__backend_cuda();
        expected.device_count = cuda ? cuda->device_count : 0;
        expected.name = expected.device_count > 0 ? "cuda" : "none";
    }
    cc__backend *backend = cc__backend_get();
    if (backend == NULL || strcmp(backend->name, expected.name) != 0 || backend->device_count != expected.device_count)
        return 1;
    if (strcmp(cc_device_backend_name(), expected.name) != 0 || cc_device_count() != expected.device_count)
        return 2;
    /* Once is for ever. */
    setenv("CUDACOMMON_DEVICE", "emulated:5", 1);
    return cc__backend_get() == backend ? 0 : 3;
}

/* The message of a call that needs a device says why there is none. */
static int says_why_there_is_none(const void *argument)
{
    int32_t device = 7;
    const cc__backend *cuda = argument == NULL ? cc__backend_cuda() : NULL;
    if (cuda != NULL && cuda->device_count > 0)
        return cuda->absence != NULL ? 1 : 0;
    const char *expected = argument != NULL ? argument : "this build of the library has no CUDA";
    if (cuda != NULL)
        expected = cuda->absence;
    if (cc_device_get_current(&device) != CC_ERROR_NO_DEVICE || device != 7 || expected == NULL)
        return 2;
    return strstr(cc_last_error_message(), "there are no devices: ") != NULL &&
                   strstr(cc_last_error_message(), expected) != NULL
               ? 0
               : 3;
}

START_TEST(absence_is_explained)
{
    ck_assert_int_eq(run_in_child("none", NULL, says_why_there_is_none, "CUDACOMMON_DEVICE=none"), 0);
    ck_assert_int_eq(run_in_child(NULL, NULL, says_why_there_is_none, NULL), 0);
}
END_TEST

START_TEST(environment_chooses)
{
    const int wrong = run_in_child(choices[_i].device, NULL, is_chosen, &choices[_i]);
    ck_assert_msg(wrong == 0, "\"%s\": %d", choices[_i].device ? choices[_i].device : "(not set)", wrong);
}
END_TEST

/* Whether queued work runs although nothing waits for it. */
static int runs_unasked(const void *argument)
{
    (void)argument;
    cc__backend *backend = cc__backend_get();
    cc__event *event = NULL;
    bool complete = false;
    if (backend->event_create(backend, 0, &event) != CC_OK)
        return 2;
    for (int i = 0; i < 100; i++)
        if (backend->event_record(backend, 0, event, CC_STREAM_DEFAULT) != CC_OK)
            return 3;
    for (int i = 0; i < 10000 && !complete; i++)
        if (backend->event_is_complete(backend, 0, event, &complete) != CC_OK)
            return 4;
    return complete ? 1 : 0;
}

START_TEST(environment_seeds)
{
    ck_assert_int_eq(run_in_child("emulated", "7", runs_unasked, NULL), 1);
    ck_assert_int_eq(run_in_child("emulated", "18446744073709551615", runs_unasked, NULL), 1);
    ck_assert_int_eq(run_in_child("emulated", NULL, runs_unasked, NULL), 0);
    ck_assert_int_eq(run_in_child("emulated", "0", runs_unasked, NULL), 0);
    ck_assert_int_eq(run_in_child("emulated", "x7", runs_unasked, NULL), 0);
    ck_assert_int_eq(run_in_child("emulated", "7x", runs_unasked, NULL), 0);
    ck_assert_int_eq(run_in_child("emulated", "", runs_unasked, NULL), 0);
}
END_TEST

#define THREADS 8
static pthread_barrier_t together;

static void *get(void *argument)
{
    pthread_barrier_wait(&together);
    *(cc__backend **)argument = cc__backend_get();
    return NULL;
}

static int threads_get_the_same(const void *argument)
{
    (void)argument;
    pthread_t threads[THREADS];
    cc__backend *backends[THREADS] = {0};
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, get, &backends[i]) != 0)
            return 2;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        if (backends[i] == NULL || backends[i] != backends[0])
            return 1;
    return 0;
}

START_TEST(first_call_may_come_from_many_threads)
{
    ck_assert_int_eq(run_in_child("emulated:2", NULL, threads_get_the_same, NULL), 0);
}
END_TEST

static int can_be_replaced(const void *argument)
{
    (void)argument;
    cc__backend *other = cc__backend_emulated_create(4);
    cc__backend_set(other);
    if (cc__backend_get() != other || cc_device_count() != 4)
        return 1;
    /* Nothing was chosen so far. */
    setenv("CUDACOMMON_DEVICE", "emulated:2", 1);
    cc__backend_set(NULL);
    cc__backend *first = cc__backend_get();
    if (first == other || cc_device_count() != 2)
        return 2;
    cc__backend_set(cc__backend_none());
    if (cc_device_count() != 0 || strcmp(cc_device_backend_name(), "none") != 0)
        return 3;
    cc__backend_set(NULL);
    cc__backend_emulated_destroy(other);
    return cc__backend_get() == first ? 0 : 4;
}

START_TEST(another_takes_its_place)
{
    ck_assert_int_eq(run_in_child("none", NULL, can_be_replaced, NULL), 0);
}
END_TEST

START_TEST(devices_are_checked)
{
    cc__backend *backend = cc__backend_emulated_create(3);
    ck_assert_int_eq(cc__backend_check_device(backend, "f", 0), CC_OK);
    ck_assert_int_eq(cc__backend_check_device(backend, "f", 2), CC_OK);
    ck_assert_int_eq(cc__backend_check_device(backend, "f", 3), CC_ERROR_INVALID_DEVICE);
    ck_assert_str_eq(cc_last_error_message(), "f: device = 3, must be 0 to 2");
    ck_assert_int_eq(cc__backend_check_device(backend, "f", -1), CC_ERROR_INVALID_DEVICE);
    ck_assert_int_eq(cc__backend_check_device(backend, "f", INT32_MIN), CC_ERROR_INVALID_DEVICE);
    ck_assert_int_eq(cc__backend_check_device(cc__backend_none(), "g", 0), CC_ERROR_NO_DEVICE);
    ck_assert_ptr_nonnull(strstr(cc_last_error_message(), "g: device = 0, but there are no devices"));
    ck_assert_int_eq(cc__backend_check_device(cc__backend_none(), "g", -1), CC_ERROR_NO_DEVICE);
    cc__backend_emulated_destroy(backend);
}
END_TEST

static void set_flag(void *argument)
{
    *(bool *)argument = true;
}

START_TEST(stream_is_synchronised)
{
    cc__backend *backend = cc__backend_emulated_create(2);
    bool ran = false;
    cc__backend_set(backend);
    ck_assert_int_eq(cc__emulated_launch(backend, 1, CC_STREAM_DEFAULT, set_flag, &ran), CC_OK);
    ck_assert_int_eq(cc_stream_synchronize(0, CC_STREAM_DEFAULT), CC_OK);
    ck_assert(!ran);
    ck_assert_int_eq(cc_stream_synchronize(1, CC_STREAM_DEFAULT), CC_OK);
    ck_assert(ran);
    ck_assert_int_eq(cc_stream_synchronize(2, CC_STREAM_DEFAULT), CC_ERROR_INVALID_DEVICE);
    ck_assert_ptr_nonnull(strstr(cc_last_error_message(), "cc_stream_synchronize: device = 2"));
    ck_assert_int_eq(cc_stream_synchronize(CC_PLACE_HOST, CC_STREAM_DEFAULT), CC_ERROR_INVALID_DEVICE);
    cc__emulated_set_capturing(backend, 1, CC_STREAM_PER_THREAD, true);
    ck_assert_int_eq(cc_stream_synchronize(1, CC_STREAM_PER_THREAD), CC_ERROR_CAPTURE);
    ck_assert_int_eq(cc_stream_synchronize(1, (cc_stream)0xBAD), CC_ERROR_STREAM);
    cc__backend_set(cc__backend_none());
    ck_assert_int_eq(cc_stream_synchronize(0, CC_STREAM_DEFAULT), CC_ERROR_NO_DEVICE);
    cc__backend_set(NULL);
    cc__backend_emulated_destroy(backend);
}
END_TEST

START_TEST(current_device_is_the_backends)
{
    cc__backend *backend = cc__backend_emulated_create(2);
    int32_t current = 7;
    cc__backend_set(backend);
    ck_assert_int_eq(cc_device_get_current(NULL), CC_ERROR_INVALID_ARGUMENT);
    ck_assert_int_eq(cc_device_get_current(&current), CC_OK);
    ck_assert_int_eq(current, 0);
    cc__backend_set(cc__backend_none());
    current = 7;
    ck_assert_int_eq(cc_device_get_current(&current), CC_ERROR_NO_DEVICE);
    ck_assert_int_eq(current, 7);
    cc__backend_set(NULL);
    cc__backend_emulated_destroy(backend);
}
END_TEST

/* From the first operation on, a table is nothing but functions. */
static void expect_complete(const cc__backend *backend)
{
    const size_t first = offsetof(cc__backend, current_device);
    const unsigned char *bytes = (const unsigned char *)backend;
    ck_assert_uint_eq((sizeof *backend - first) % sizeof(void *), 0);
    for (size_t at = first; at < sizeof *backend; at += sizeof(void *)) {
        void *operation = NULL;
        memcpy(&operation, bytes + at, sizeof operation);
        ck_assert_msg(operation != NULL, "%s: operation %zu is missing", backend->name,
                      (at - first) / sizeof operation);
    }
}

START_TEST(tables_are_complete)
{
    cc__backend *emulated = cc__backend_emulated_create(1);
    cc__backend *faulty = faulty_backend_create(emulated);
    expect_complete(cc__backend_none());
    expect_complete(emulated);
    expect_complete(faulty);
    if (cc__backend_cuda() != NULL)
        expect_complete(cc__backend_cuda());
    faulty_backend_destroy(faulty);
    cc__backend_emulated_destroy(emulated);
}
END_TEST

START_TEST(none_refuses_everything)
{
    cc__backend *none = cc__backend_none();
    unsigned char host[8];
    int32_t device = 7;
    void *memory = host;
    cc_stream stream = NULL;
    cc__event *event = NULL;
    bool flag = true;
    size_t free_bytes = 1;
    size_t total_bytes = 2;
    const cc__rescale rescale = {.size = {1, 1, 1, 1}};
    const cc__copy copy = dense_copy(host, host, 1);
    ck_assert_str_eq(none->name, "none");
    ck_assert_int_eq(none->device_count, 0);
    ck_assert_int_eq(none->current_device(none, &device), CC_ERROR_NO_DEVICE);
    ck_assert_str_eq(cc_last_error_message(), "current_device: there are no devices");
    ck_assert_int_eq(none->allocate(none, 0, stream, 8, &memory), CC_ERROR_NO_DEVICE);
    ck_assert_int_eq(none->free(none, 0, stream, host), CC_ERROR_NO_DEVICE);
    ck_assert_int_eq(none->host_register(none, host, 8), CC_ERROR_NO_DEVICE);
    ck_assert_int_eq(none->host_unregister(none, host), CC_ERROR_NO_DEVICE);
    ck_assert_int_eq(none->memory_device(none, host, &device), CC_ERROR_NO_DEVICE);
    ck_assert(!none->has_peer_access(none, 0, 0));
    ck_assert(!none->is_lost(none, 0));
    ck_assert_int_eq(none->stream_create(none, 0, &stream), CC_ERROR_NO_DEVICE);
    none->stream_destroy(none, 0, stream);
    ck_assert_int_eq(none->stream_synchronize(none, 0, stream), CC_ERROR_NO_DEVICE);
    ck_assert_int_eq(none->stream_is_capturing(none, 0, stream, &flag), CC_ERROR_NO_DEVICE);
    ck_assert_int_eq(none->stream_is_idle(none, 0, stream, &flag), CC_ERROR_NO_DEVICE);
    ck_assert_int_eq(none->event_create(none, 0, &event), CC_ERROR_NO_DEVICE);
    none->event_destroy(none, 0, event);
    ck_assert_int_eq(none->event_record(none, 0, event, stream), CC_ERROR_NO_DEVICE);
    ck_assert_int_eq(none->event_is_complete(none, 0, event, &flag), CC_ERROR_NO_DEVICE);
    ck_assert_int_eq(none->event_synchronize(none, 0, event), CC_ERROR_NO_DEVICE);
    ck_assert_int_eq(none->stream_wait(none, 0, stream, event), CC_ERROR_NO_DEVICE);
    ck_assert_int_eq(copy_bytes(none, 0, stream, host, host, 1), CC_ERROR_NO_DEVICE);
    ck_assert_int_eq(fill_bytes(none, 0, stream, host, 0, 1), CC_ERROR_NO_DEVICE);
    ck_assert_int_eq(queue_kernel(none, 0, stream, &cc__rescale_kernel, &rescale), CC_ERROR_NO_DEVICE);
    ck_assert_int_eq(none->copy_boxes(none, 0, stream, &copy, 1), CC_ERROR_NO_DEVICE);
    ck_assert_uint_eq(none->stream_id(none, 0, stream), 0);
    ck_assert_int_eq(none->memory_info(none, 0, &free_bytes, &total_bytes), CC_ERROR_NO_DEVICE);
    ck_assert_int_eq(none->trim(none, 0, 0), CC_ERROR_NO_DEVICE);
    ck_assert_int_eq(none->synchronize(none, 0), CC_ERROR_NO_DEVICE);
    none->range_push(none, "nothing");
    none->range_pop(none);
    ck_assert(device == 7 && memory == host && stream == NULL && event == NULL && flag);
    ck_assert(free_bytes == 1 && total_bytes == 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("backend");
    TCase *cases = tcase_create("backend");
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, environment_chooses, 0, CHOICE_COUNT);
    tcase_add_test(cases, absence_is_explained);
    tcase_add_test(cases, environment_seeds);
    tcase_add_test(cases, first_call_may_come_from_many_threads);
    tcase_add_test(cases, another_takes_its_place);
    tcase_add_test(cases, devices_are_checked);
    tcase_add_test(cases, stream_is_synchronised);
    tcase_add_test(cases, current_device_is_the_backends);
    tcase_add_test(cases, tables_are_complete);
    tcase_add_test(cases, none_refuses_everything);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
