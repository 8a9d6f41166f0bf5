/* What the library tells while it works: the callback, and the log that CUDACOMMON_LOG asks for. */
#include "base/allocate.h"
#include "support/byte_pixels.h"
#include "support/expect.h"
#include "support/fixture.h"
#include "trace/trace.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE_I 8
#define SIZE_J 4
#define PIXELS ((uint64_t)SIZE_I * SIZE_J)

extern char **environ;

/* What was told, with copies of the strings. */
typedef struct told {
    cc_trace_event event;
    char label[CC_LABEL_BYTES];
    char function[64];
    char reason[128];
} told;

#define MOST_EVENTS 256
static told events[MOST_EVENTS];
static int32_t event_count;

static void record(const cc_trace_event *event, void *user_data)
{
    ck_assert_ptr_eq(user_data, &event_count);
    ck_assert_int_lt(event_count, MOST_EVENTS);
    told *to = &events[event_count++];
    to->event = *event;
    ck_assert_uint_lt(strlen(event->function), sizeof to->function);
    (void)snprintf(to->label, sizeof to->label, "%s", event->label);
    (void)snprintf(to->function, sizeof to->function, "%s", event->function);
    (void)snprintf(to->reason, sizeof to->reason, "%s", event->reason);
}

static cc_image *image;

static void set_up(void)
{
    fixture_setup();
    image = fixture_image(CC_PIXEL_UINT8, 1, 2, SIZE_I, SIZE_J, 1);
    fixture_ok(cc_image_set_label(image, "volume"));
    event_count = 0;
    cc_set_trace(record, &event_count);
}

static void tear_down(void)
{
    cc_image_release(image);
    cc_set_trace(NULL, NULL);
    fixture_teardown();
}

static void expect_event(int32_t at, cc_trace_kind kind, cc_place from, cc_place to, uint64_t bytes, int32_t boxes,
                         const char *function, const char *reason)
{
    ck_assert_int_lt(at, event_count);
    const told *is = &events[at];
    ck_assert_uint_eq(is->event.struct_size, sizeof(cc_trace_event));
    ck_assert_int_eq(is->event.kind, (int32_t)kind);
    ck_assert_int_eq(is->event.from, from);
    ck_assert_int_eq(is->event.to, to);
    ck_assert_uint_eq(is->event.bytes, bytes);
    ck_assert_int_eq(is->event.box_count, boxes);
    ck_assert_str_eq(is->function, function);
    ck_assert_str_eq(is->reason, reason);
    ck_assert_str_eq(is->label, "volume");
    ck_assert_uint_eq(is->event.pixels_id, events[0].event.pixels_id);
}

/* Leaves out that host memory was page-locked, which is as the library sees fit. */
static void forget_registrations(void)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < event_count; ++i)
        if (events[i].event.kind != CC_TRACE_REGISTER)
            events[kept++] = events[i];
    event_count = kept;
}

START_TEST(what_happens_on_the_host_is_told)
{
    const cc_region part = region_at(2, 1, 3, 2);
    const unsigned char value = 7;
    fixture_ok(cc_image_fill(image, NULL, &value, CC_STREAM_DEFAULT));
    ck_assert_int_eq(event_count, 0);
    byte_pixels_expect_host(image, &part, 7);
    ck_assert_int_eq(event_count, 2);
    expect_event(0, CC_TRACE_ALLOCATE, CC_PLACE_HOST, CC_PLACE_HOST, PIXELS, 0, "cc_image_map_host",
                 "nothing at this place yet");
    expect_event(1, CC_TRACE_FILL, CC_PLACE_HOST, CC_PLACE_HOST, 6, 1, "cc_image_map_host",
                 "nothing at this place yet, known as the fill value");
    ck_assert_int_eq(events[1].event.box.index[0], 2);
    ck_assert_int_eq(events[1].event.box.index[1], 1);
    ck_assert_int_eq(events[1].event.box.size[0], 3);
    ck_assert_int_eq(events[1].event.box.size[1], 2);
    ck_assert_int_eq(events[1].event.box.size[2], 1);
    byte_pixels_expect_host(image, &part, 7);
    ck_assert_int_eq(event_count, 2);
}
END_TEST

START_TEST(what_moves_is_told_with_its_reason)
{
    if (fixture_device_count() == 0)
        return;
    const cc_region rows[] = {region_at(0, 0, SIZE_I, 1), region_at(0, 2, SIZE_I, 1)};
    byte_pixels_write_host(image, NULL, 1);
    byte_pixels_expect_device(image, NULL, 1, CC_STREAM_DEFAULT);
    byte_pixels_write_device(image, &rows[0], 2, CC_STREAM_DEFAULT);
    byte_pixels_write_device(image, &rows[1], 2, CC_STREAM_DEFAULT);
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    fixture_ok(cc_image_unmap_host(image, pixels));
    fixture_ok(cc_image_evict(image, 0));
    forget_registrations();
    ck_assert_int_eq(event_count, 6);
    expect_event(0, CC_TRACE_ALLOCATE, CC_PLACE_HOST, CC_PLACE_HOST, PIXELS, 0, "cc_image_map_host",
                 "nothing at this place yet");
    expect_event(1, CC_TRACE_ALLOCATE, 0, 0, PIXELS, 0, "cc_image_map_device", "nothing at this place yet");
    expect_event(2, CC_TRACE_COPY_TO_DEVICE, CC_PLACE_HOST, 0, PIXELS, 1, "cc_image_map_device",
                 "nothing at this place yet, newest on the host");
    expect_event(3, CC_TRACE_COPY_TO_HOST, 0, CC_PLACE_HOST, (uint64_t)2 * SIZE_I, 2, "cc_image_map_host",
                 "out of date at this place, newest on device 0");
    ck_assert_int_eq(events[3].event.box.index[1], 0);
    ck_assert_int_eq(events[3].event.box.size[1], 3);
    expect_event(4, CC_TRACE_EVICT, 0, 0, PIXELS, 0, "cc_image_evict", "asked for");
    expect_event(5, CC_TRACE_FREE, 0, 0, PIXELS, 0, "cc_image_evict", "evicted");
    const cc_counters counters = fixture_counters(image);
    ck_assert_uint_eq(counters.host_to_device_paths[events[2].event.path].bytes, PIXELS);
    ck_assert_uint_eq(counters.device_to_host_paths[events[3].event.path].bytes, (uint64_t)2 * SIZE_I);
}
END_TEST

START_TEST(the_last_image_frees)
{
    byte_pixels_write_host(image, NULL, 1);
    cc_image *view = NULL;
    const cc_region part = region_at(0, 0, 1, 1);
    fixture_ok(cc_image_create_view(image, &part, &view));
    cc_image_release(image);
    ck_assert_int_eq(event_count, 1);
    cc_image_release(view);
    ck_assert_int_eq(event_count, 2);
    expect_event(1, CC_TRACE_FREE, CC_PLACE_HOST, CC_PLACE_HOST, PIXELS, 0, "", "no image uses the pixels any more");
    image = fixture_image(CC_PIXEL_UINT8, 1, 1, 1, 1, 1);
}
END_TEST

START_TEST(memory_of_others_is_not_freed)
{
    unsigned char memory[PIXELS] = {0};
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    cc_image *wrapped = fixture_image(CC_PIXEL_UINT8, 1, 2, SIZE_I, SIZE_J, 1);
    params.flags = CC_WRAP_BORROWED;
    params.data = memory;
    params.size_bytes = sizeof memory;
    fixture_ok(cc_image_wrap_host(wrapped, &params));
    byte_pixels_write_host(wrapped, NULL, 1);
    cc_image_release(wrapped);
    ck_assert_int_eq(event_count, 0);
}
END_TEST

/* In the middle of something nobody is told; afterwards, in order, with the texts cut to what is kept. */
START_TEST(events_wait_for_the_end)
{
    char endless[200];
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    const cc_trace_event first = {.kind = CC_TRACE_FILL, .label = endless, .function = "f", .reason = endless};
    const cc_trace_event second = {.kind = CC_TRACE_EVICT, .label = "", .function = "", .reason = ""};
    cc__trace_hold();
    cc__trace_note(&first);
    cc__trace_hold();
    cc__trace_tell();
    cc__trace_let_go();
    cc__trace_note(&second);
    cc__trace_tell();
    ck_assert_int_eq(event_count, 0);
    cc__trace_let_go();
    cc__trace_tell();
    ck_assert_int_eq(event_count, 2);
    ck_assert_int_eq(events[0].event.kind, CC_TRACE_FILL);
    ck_assert_uint_eq(strlen(events[0].label), CC_LABEL_BYTES - 1);
    ck_assert_uint_eq(strlen(events[0].reason), CC__TRACE_REASON_BYTES - 1);
    ck_assert_int_eq(events[1].event.kind, CC_TRACE_EVICT);
    cc__trace_tell();
    ck_assert_int_eq(event_count, 2);
}
END_TEST

START_TEST(between_devices)
{
    if (fixture_device_count() < 2)
        return;
    byte_pixels_write_device(image, NULL, 5, CC_STREAM_DEFAULT);
    event_count = 0;
    fixture_ok(cc_image_prefetch(image, NULL, 1));
    forget_registrations();
    ck_assert_int_ge(event_count, 2);
    expect_event(0, CC_TRACE_ALLOCATE, 1, 1, PIXELS, 0, "cc_image_prefetch", "nothing at this place yet");
    expect_event(1, CC_TRACE_COPY_BETWEEN_DEVICES, 0, 1, PIXELS, 1, "cc_image_prefetch",
                 "nothing at this place yet, newest on device 0");
    ck_assert_int_eq(events[1].event.path, CC_PATH_ENGINE);
}
END_TEST

START_TEST(nobody_is_told_after_the_end)
{
    cc_set_trace(NULL, NULL);
    ck_assert(!cc__trace_is_on() || getenv("CUDACOMMON_LOG") != NULL);
    byte_pixels_write_host(image, NULL, 1);
    ck_assert_int_eq(event_count, 0);
}
END_TEST

/* A call that fails tells of nothing that it did not do, and its message is its own. */
static void fail_at_something(const cc_trace_event *event, void *user_data)
{
    (void)event;
    ++*(int32_t *)user_data;
    (void)cc_image_set_label(NULL, "");
}

START_TEST(failures)
{
    void *pixels = NULL;
    if (fixture_device_count() == 0)
        return;
    byte_pixels_write_host(image, NULL, 1);
    int32_t calls = 0;
    cc_set_trace(fail_at_something, &calls);
    const faulty_rule rule = {.operation = FAULTY_ALLOCATE, .nth = 1, .status = CC_ERROR_OUT_OF_DEVICE_MEMORY};
    faulty_backend_add_rule(fixture_backend, &rule);
    expect_passed_on(CC_ERROR_OUT_OF_DEVICE_MEMORY,
                     cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
    faulty_backend_clear_rules(fixture_backend);
    ck_assert_int_eq(calls, 0);
    char before[512];
    (void)snprintf(before, sizeof before, "%s", cc_last_error_message());
    fixture_ok(cc_image_prefetch(image, NULL, 0));
    ck_assert_int_ge(calls, 2);
    ck_assert_str_eq(cc_last_error_message(), before);
    cc_set_trace(NULL, NULL);
}
END_TEST

/* Without memory for events they are lost; nothing else is. */
START_TEST(memory_for_events_runs_out)
{
    const unsigned char value = 9;
    int32_t heard = 0, lost = 0;
    for (long nth = 1; heard < 2; ++nth) {
        cc_image *fresh = fixture_image(CC_PIXEL_UINT8, 1, 2, SIZE_I, SIZE_J, 1);
        fixture_ok(cc_image_fill(fresh, NULL, &value, CC_STREAM_DEFAULT));
        event_count = 0;
        expect_allocations_to_fail_from(nth);
        const cc_status status = cc_image_prefetch(fresh, NULL, CC_PLACE_HOST);
        cc__allocate_set_hook(NULL);
        heard = event_count;
        lost += status == CC_OK && heard < 2;
        ck_assert_int_le(heard, status == CC_OK ? 2 : 0);
        byte_pixels_expect_host(fresh, NULL, 9);
        cc_image_release(fresh);
        ck_assert_int_lt(nth, 100);
    }
    ck_assert_int_eq(lost, 2);
}
END_TEST

/* What a profiler sees. */
START_TEST(transfers_are_ranges)
{
    if (fixture_device_count() == 0)
        return;
    faulty_backend_reset_counts(fixture_backend);
    byte_pixels_write_host(image, NULL, 1);
    fixture_ok(cc_image_prefetch(image, NULL, 0));
    const faulty_rule rule = {.operation = FAULTY_COPY, .nth = 1, .for_ever = true, .status = CC_ERROR_DEVICE};
    byte_pixels_write_host(image, NULL, 2);
    faulty_backend_add_rule(fixture_backend, &rule);
    (void)cc_image_prefetch(image, NULL, 0);
    faulty_backend_clear_rules(fixture_backend);
    const faulty_counts counts = faulty_backend_counts(fixture_backend);
    ck_assert_int_eq(counts.calls[FAULTY_RANGE_PUSH], 2);
    ck_assert_int_eq(counts.calls[FAULTY_RANGE_POP], 2);
}
END_TEST

/* A callback may use the library, also the image that the event is about. */
static int32_t inner_calls;

static void use_the_image(const cc_trace_event *event, void *user_data)
{
    cc_image *of = user_data;
    cc_counters counters = CC_COUNTERS_INIT;
    cc_live_image live = CC_LIVE_IMAGE_INIT;
    char label[CC_LABEL_BYTES];
    int32_t count = 0;
    void *pixels = NULL;
    (void)event;
    ++inner_calls;
    fixture_ok(cc_image_get_label(of, label));
    fixture_ok(cc_image_get_counters(of, &counters));
    fixture_ok(cc_get_total_counters(&counters));
    fixture_ok(cc_live_images(1, &live, &count));
    if (cc_image_map_host(of, NULL, CC_ACCESS_READ, &pixels) == CC_OK)
        fixture_ok(cc_image_unmap_host(of, pixels));
    cc_image *other = fixture_image(CC_PIXEL_UINT8, 1, 1, 16, 1, 1);
    byte_pixels_write_host(other, NULL, 3);
    cc_image_release(other);
    cc_image *shared = cc_image_retain(of);
    cc_image_release(shared);
}

START_TEST(callbacks_use_the_library)
{
    inner_calls = 0;
    cc_set_trace(use_the_image, image);
    byte_pixels_expect_host(image, NULL, 0);
    ck_assert_int_eq(inner_calls, 2);
    if (fixture_device_count() > 0) {
        byte_pixels_write_device(image, NULL, 4, CC_STREAM_DEFAULT);
        byte_pixels_expect_host(image, NULL, 4);
        fixture_ok(cc_image_evict(image, 0));
        fixture_ok(cc_image_discard(image, NULL));
    }
    cc_set_trace(NULL, NULL);
}
END_TEST

/* The memory of one image makes room for another; what is told of the first is told when the second is done. */
START_TEST(callbacks_during_eviction)
{
    if (fixture_device_count() == 0)
        return;
    cc_image *other = fixture_image(CC_PIXEL_UINT8, 1, 2, SIZE_I, SIZE_J, 1);
    byte_pixels_write_device(other, NULL, 6, CC_STREAM_DEFAULT);
    byte_pixels_write_host(image, NULL, 1);
    fixture_ok(cc_device_set_limit(0, PIXELS, 0));
    event_count = 0;
    byte_pixels_expect_device(image, NULL, 1, CC_STREAM_DEFAULT);
    int32_t evictions = 0;
    for (int32_t i = 0; i < event_count; ++i) {
        if (events[i].event.kind != CC_TRACE_EVICT)
            continue;
        ++evictions;
        ck_assert_str_eq(events[i].function, "eviction");
        ck_assert_str_eq(events[i].reason, "others need room on the device");
    }
    ck_assert_int_eq(evictions, 1);
    ck_assert_uint_eq(fixture_counters(other).evictions, 1);

    cc_set_trace(use_the_image, image);
    byte_pixels_expect_device(other, NULL, 6, CC_STREAM_DEFAULT);
    byte_pixels_expect_device(image, NULL, 1, CC_STREAM_DEFAULT);
    fixture_ok(cc_device_set_limit(0, 1, 0));
    cc_set_trace(NULL, NULL);
    fixture_ok(cc_device_set_limit(0, 0, 0));
    byte_pixels_expect_host(other, NULL, 6);
    byte_pixels_expect_host(image, NULL, 1);
    cc_image_release(other);
}
END_TEST

static void set_none(const cc_trace_event *event, void *user_data)
{
    (void)event;
    ++*(int32_t *)user_data;
    cc_set_trace(NULL, NULL);
}

START_TEST(a_callback_takes_itself_away)
{
    int32_t calls = 0;
    cc_set_trace(set_none, &calls);
    byte_pixels_expect_host(image, NULL, 0);
    ck_assert_int_eq(calls, 1);
}
END_TEST

static atomic_int entered, left, released;

static void linger(const cc_trace_event *event, void *user_data)
{
    (void)event, (void)user_data;
    atomic_fetch_add(&entered, 1);
    while (!atomic_load(&released))
        sched_yield();
    atomic_fetch_add(&left, 1);
}

static void *touch_image(void *unused)
{
    (void)unused;
    byte_pixels_write_host(image, NULL, 1);
    return NULL;
}

static void *end_trace(void *unused)
{
    (void)unused;
    cc_set_trace(NULL, NULL);
    /* Only now may what the callback used go away. */
    ck_assert_int_eq(atomic_load(&entered), atomic_load(&left));
    return NULL;
}

START_TEST(the_end_waits_for_callbacks)
{
    pthread_t user, ender;
    atomic_store(&entered, 0);
    atomic_store(&left, 0);
    atomic_store(&released, 0);
    cc_set_trace(linger, NULL);
    ck_assert_int_eq(pthread_create(&user, NULL, touch_image, NULL), 0);
    while (atomic_load(&entered) == 0)
        sched_yield();
    ck_assert_int_eq(pthread_create(&ender, NULL, end_trace, NULL), 0);
    /* Nobody else is held up meanwhile. */
    cc_image *other = fixture_image(CC_PIXEL_UINT8, 1, 1, 1, 1, 1);
    cc_image_release(other);
    atomic_store(&released, 1);
    pthread_join(ender, NULL);
    pthread_join(user, NULL);
}
END_TEST

#define THREADS 4
#define ROUNDS 40

static atomic_int allocations, frees;

static void tally(const cc_trace_event *event, void *user_data)
{
    (void)user_data;
    if (event->kind == CC_TRACE_ALLOCATE)
        atomic_fetch_add(&allocations, 1);
    if (event->kind == CC_TRACE_FREE)
        atomic_fetch_add(&frees, 1);
    ck_assert_str_eq(event->label, "thread's");
}

static void *make_images(void *unused)
{
    (void)unused;
    for (int32_t i = 0; i < ROUNDS; ++i) {
        cc_image *own = fixture_image(CC_PIXEL_UINT8, 1, 1, 4, 1, 1);
        fixture_ok(cc_image_set_label(own, "thread's"));
        byte_pixels_write_host(own, NULL, 1);
        cc_image_release(own);
    }
    return NULL;
}

START_TEST(threads_tell_at_the_same_time)
{
    pthread_t threads[THREADS];
    atomic_store(&allocations, 0);
    atomic_store(&frees, 0);
    cc_set_trace(tally, NULL);
    for (int32_t i = 0; i < THREADS; ++i)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, make_images, NULL), 0);
    for (int32_t i = 0; i < THREADS; ++i)
        pthread_join(threads[i], NULL);
    cc_set_trace(NULL, NULL);
    ck_assert_int_eq(atomic_load(&allocations), (intmax_t)THREADS * ROUNDS);
    ck_assert_int_eq(atomic_load(&frees), (intmax_t)THREADS * ROUNDS);
}
END_TEST

START_TEST(one_line_for_each_event)
{
    char line[CC__TRACE_LINE_BYTES];
    cc_trace_event event = {.struct_size = sizeof event,
                            .kind = CC_TRACE_COPY_TO_DEVICE,
                            .path = CC_PATH_STAGED,
                            .box_count = 3,
                            .from = CC_PLACE_HOST,
                            .to = 2,
                            .bytes = UINT64_MAX,
                            .pixels_id = 17,
                            .box = {{1, 2, 3, 4}, {5, 6, 7, INT64_MAX}},
                            .label = "a \"b\"\n\\c\x7f",
                            .function = "cc_image_map_device",
                            .reason = "why"};
    const char *copy = "cudacommon 1.500000 copy from=host to=device:2 bytes=18446744073709551615 boxes=3"
                       " in=1,2,3,4+5,6,7,9223372036854775807 path=staged pixels=17 label=\"a ?b???c?\""
                       " for=cc_image_map_device why=\"why\"\n";
    ck_assert_uint_eq(cc__trace_format(line, 1.5, &event), strlen(copy));
    ck_assert_str_eq(line, copy);
    event.kind = CC_TRACE_FREE;
    event.box_count = 0;
    event.from = 2;
    event.label = event.function = "";
    const char *memory = "cudacommon 0.000000 free from=device:2 to=device:2 bytes=18446744073709551615 pixels=17"
                         " label=\"\" for=- why=\"why\"\n";
    ck_assert_uint_eq(cc__trace_format(line, 0, &event), strlen(memory));
    ck_assert_str_eq(line, memory);

    char endless[2 * CC__TRACE_LINE_BYTES];
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    event.label = endless;
    ck_assert_uint_eq(cc__trace_format(line, 0, &event), CC__TRACE_LINE_BYTES - 1);
    ck_assert_int_eq(line[CC__TRACE_LINE_BYTES - 2], '\n');
    ck_assert_int_eq(line[CC__TRACE_LINE_BYTES - 1], '\0');
}
END_TEST

/* What a program does that sets nothing up itself: this one, run again with other variables. */
static int run_as_child(void)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *own = NULL;
    void *pixels = NULL;
    params.dimension = 1;
    params.pixel_type = CC_PIXEL_UINT8;
    params.region.size[0] = 5;
    if (cc_image_create(&params, &own) != CC_OK || cc_image_set_label(own, "five") != CC_OK ||
        cc_image_map_host(own, NULL, CC_ACCESS_READ, &pixels) != CC_OK || cc_image_unmap_host(own, pixels) != CC_OK)
        return 1;
    cc_image_release(own);
    return 0;
}

static char work_directory[64];

static void path_in(char out[128], const char *name)
{
    (void)snprintf(out, 128, "%s/%s", work_directory, name);
}

/* All of a file, "" when there is none. */
static char *read_file(const char *name)
{
    static char text[8192];
    char path[128];
    path_in(path, name);
    const int file = open(path, O_RDONLY);
    const ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : 0;
    text[length > 0 ? length : 0] = '\0';
    if (file >= 0)
        (void)close(file);
    return text;
}

/* Runs this program again; what it prints is in the files "out" and "err". */
static void run_child(const char *log)
{
    char setting[192], out[128], err[128];
    char *variables[128];
    char *arguments[] = {(char[]){"test_trace"}, (char[]){"child"}, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;
    int32_t count = 0;
    for (char **at = environ; *at != NULL && count < 120; ++at)
        if (strncmp(*at, "CUDACOMMON_LOG=", 15) != 0)
            variables[count++] = *at;
    if (log != NULL) {
        (void)snprintf(setting, sizeof setting, "CUDACOMMON_LOG=%s", log);
        variables[count++] = setting;
    }
    variables[count] = NULL;
    path_in(out, "out");
    path_in(err, "err");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ck_assert_int_eq(posix_spawn(&child, "/proc/self/exe", &actions, NULL, arguments, variables), 0);
    posix_spawn_file_actions_destroy(&actions);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}

static void set_up_files(void)
{
    (void)snprintf(work_directory, sizeof work_directory, "/tmp/cudacommon-trace-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(work_directory));
}

static void tear_down_files(void)
{
    static const char *const names[] = {"out", "err", "log"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        path_in(path, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(work_directory);
}

static void expect_log(const char *text, int32_t runs)
{
    static const char *const lines[] = {
        "allocate from=host to=host bytes=5 pixels=1 label=\"five\" for=cc_image_map_host why=\"nothing at this place "
        "yet\"",
        "fill from=host to=host bytes=5 boxes=1 in=0,0,0,0+5,1,1,1 pixels=1 label=\"five\" for=cc_image_map_host "
        "why=\"nothing at this place yet, known as the fill value\"",
        "free from=host to=host bytes=5 pixels=1 label=\"five\" for=- why=\"no image uses the pixels any more\""};
    for (int32_t i = 0; i < 3 * runs; ++i) {
        int seconds = -1, microseconds = -1, at = 0;
        ck_assert_int_eq(sscanf(text, "cudacommon %d.%6d %n", &seconds, &microseconds, &at), 2);
        const char *end = strchr(text, '\n');
        ck_assert_ptr_nonnull(end);
        ck_assert_uint_eq((size_t)(end - text) - (size_t)at, strlen(lines[i % 3]));
        ck_assert_int_eq(strncmp(text + at, lines[i % 3], strlen(lines[i % 3])), 0);
        text = end + 1;
    }
    ck_assert_str_eq(text, "");
}

START_TEST(nothing_is_printed_unasked)
{
    static const char *const nothing[] = {NULL, ""};
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; ++i) {
        run_child(nothing[i]);
        ck_assert_str_eq(read_file("out"), "");
        ck_assert_str_eq(read_file("err"), "");
    }
}
END_TEST

START_TEST(a_log_on_stderr)
{
    run_child("stderr");
    ck_assert_str_eq(read_file("out"), "");
    expect_log(read_file("err"), 1);
}
END_TEST

START_TEST(a_log_in_a_file_is_appended_to)
{
    char path[128];
    path_in(path, "log");
    run_child(path);
    run_child(path);
    ck_assert_str_eq(read_file("out"), "");
    ck_assert_str_eq(read_file("err"), "");
    expect_log(read_file("log"), 2);
}
END_TEST

START_TEST(a_log_that_cannot_be_written)
{
    run_child("/nowhere/at/all");
    ck_assert_str_eq(read_file("out"), "");
    ck_assert_str_eq(read_file("err"), "");
    run_child("/dev/full");
    ck_assert_str_eq(read_file("err"), "");
}
END_TEST

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return run_as_child();
    Suite *suite = suite_create("trace");
    TCase *tcase = tcase_create("callback");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, what_happens_on_the_host_is_told);
    tcase_add_test(tcase, what_moves_is_told_with_its_reason);
    tcase_add_test(tcase, the_last_image_frees);
    tcase_add_test(tcase, memory_of_others_is_not_freed);
    tcase_add_test(tcase, events_wait_for_the_end);
    tcase_add_test(tcase, between_devices);
    tcase_add_test(tcase, nobody_is_told_after_the_end);
    tcase_add_test(tcase, failures);
    tcase_add_test(tcase, memory_for_events_runs_out);
    tcase_add_test(tcase, transfers_are_ranges);
    tcase_add_test(tcase, callbacks_use_the_library);
    tcase_add_test(tcase, callbacks_during_eviction);
    tcase_add_test(tcase, a_callback_takes_itself_away);
    tcase_add_test(tcase, the_end_waits_for_callbacks);
    tcase_add_test(tcase, threads_tell_at_the_same_time);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("log");
    tcase_add_checked_fixture(tcase, set_up_files, tear_down_files);
    tcase_add_test(tcase, one_line_for_each_event);
    tcase_add_test(tcase, nothing_is_printed_unasked);
    tcase_add_test(tcase, a_log_on_stderr);
    tcase_add_test(tcase, a_log_in_a_file_is_appended_to);
    tcase_add_test(tcase, a_log_that_cannot_be_written);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
