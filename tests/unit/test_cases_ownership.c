/* Cases of shared/cases.md about who owns memory and locks: T8, T9, T10, T11, T12, T16, T17, T71. */
#include "backend/emulated.h"
#include "support/fixture.h"
#include "support/uniform.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define NEEDS_DEVICES(count)                                                                                           \
    do {                                                                                                               \
        if (fixture_device_count() < (count))                                                                          \
            return;                                                                                                    \
    } while (0)

#define WATCHDOG_SECONDS 2
#define LOOPS 1000

static int64_t calls_of(faulty_operation operation)
{
    return faulty_backend_counts(fixture_backend).calls[operation];
}

/* A call in a thread of its own, which may hang without hanging the test. */
typedef struct watched {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    cc_image *image;
    cc_status status;
    bool has_ended;
} watched;

static void *map_in_thread(void *argument)
{
    watched *call = argument;
    void *pixels = NULL;
    cc_status status = cc_image_map_device(call->image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels);
    if (status == CC_OK)
        status = cc_image_unmap_device(call->image, pixels, CC_STREAM_DEFAULT);
    pthread_mutex_lock(&call->lock);
    call->status = status;
    call->has_ended = true;
    pthread_cond_signal(&call->ended);
    pthread_mutex_unlock(&call->lock);
    return NULL;
}

START_TEST(t8_a_failed_copy_leaves_nothing_locked)
{
    NEEDS_DEVICES(1);
    static watched call = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};
    const faulty_rule rule = {FAULTY_COPY, 1, false, CC_ERROR_DEVICE, FAULTY_NATIVE_ERROR};
    void *pixels = &call;
    call.image = uniform_image(4, 2);
    uniform_write_on_host(call.image, 7);
    faulty_backend_add_rule(fixture_backend, &rule);
    fixture_expect(CC_ERROR_DEVICE, cc_image_map_device(call.image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
    ck_assert_ptr_eq(pixels, &call);

    pthread_t thread;
    struct timespec until;
    int waited = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WATCHDOG_SECONDS;
    ck_assert_int_eq(pthread_create(&thread, NULL, map_in_thread, &call), 0);
    pthread_mutex_lock(&call.lock);
    while (!call.has_ended && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&call.ended, &call.lock, &until);
    const bool has_ended = call.has_ended;
    pthread_mutex_unlock(&call.lock);
    ck_assert_msg(has_ended, "the call after the failed one hangs");
    pthread_join(thread, NULL);
    ck_assert_int_eq(call.status, CC_OK);
    uniform_expect_on_device(call.image, 7);
    cc_image_release(call.image);
}
END_TEST

START_TEST(t9_an_image_survives_exhausted_device_memory)
{
    NEEDS_DEVICES(1);
    const cc_region larger = {.size = {512, 512}};
    const faulty_rule rule = {FAULTY_ALLOCATE, 1, false, CC_ERROR_OUT_OF_DEVICE_MEMORY, 2};
    cc_image *image = uniform_image(4, 1);
    void *pixels = &image;
    uniform_write_on_device(image, 1);
    const int32_t device = cc_image_get_device(image);
    fixture_ok(cc_image_resize(image, &larger));
    uniform_write_on_host(image, 5);
    faulty_backend_add_rule(fixture_backend, &rule);
    fixture_expect(CC_ERROR_OUT_OF_DEVICE_MEMORY,
                   cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
    ck_assert_int_eq(cc_last_native_error(), 2);
    ck_assert_ptr_eq(pixels, &image);
    ck_assert_uint_eq(uniform_state(image, device).memory_bytes, 0);
    ck_assert_int_eq(uniform_state(image, device).valid_pixels, 0);
    uniform_expect_on_host(image, 5);
    uniform_expect_on_device(image, 5);
    cc_image_release(image);
    ck_assert_int_eq(calls_of(FAULTY_ALLOCATE), 3); /* one of them refused */
    ck_assert_int_eq(calls_of(FAULTY_FREE), 2);
}
END_TEST

static int32_t releases;
static void *released;

static void note_release(void *data, void *user_data)
{
    released = data;
    *(int32_t *)user_data += 1;
}

START_TEST(t10_borrowed_device_memory_is_not_freed)
{
    NEEDS_DEVICES(1);
    const cc_region other = {.size = {8, 8}};
    cc_image *image = uniform_image(4, 2);
    void *memory = uniform_device_memory(image, 0, 3);
    cc_wrap_params wrap = uniform_borrowed(image, memory);
    const bool has_callback = _i != 0;
    void *pixels = NULL;
    releases = 0;
    if (has_callback) {
        wrap.flags = 0;
        wrap.release = note_release;
        wrap.user_data = &releases;
    }
    fixture_ok(cc_image_wrap_device(image, &wrap, CC_STREAM_DEFAULT));
    uniform_expect_on_device(image, 3);
    ck_assert_int_eq(releases, 0);
    fixture_ok(cc_image_resize(image, &other));
    ck_assert_int_eq(releases, has_callback);
    ck_assert(!has_callback || released == memory);
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
    ck_assert_ptr_ne(pixels, memory);
    fixture_ok(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
    ck_assert_int_eq(calls_of(FAULTY_FREE), 0);
    cc_image_release(image);
    ck_assert_int_eq(calls_of(FAULTY_FREE), 1);
    ck_assert_int_eq(releases, has_callback);
    uniform_free_device_memory(0, memory);
}
END_TEST

START_TEST(t11_wrapping_gives_back_what_the_image_owned)
{
    NEEDS_DEVICES(1);
    cc_image *image = uniform_image(4, 2);
    void *memory = uniform_device_memory(image, 0, 3);
    const cc_wrap_params wrap = uniform_borrowed(image, memory);
    cc_image *view = NULL;
    const cc_region row = {.size = {4, 1}};
    uniform_write_on_device(image, 1);
    if (_i != 0)
        fixture_ok(cc_image_create_view(image, &row, &view));
    fixture_ok(cc_image_wrap_device(image, &wrap, CC_STREAM_DEFAULT));
    ck_assert_int_eq(calls_of(FAULTY_FREE), view == NULL);
    if (view != NULL)
        uniform_expect_on_host(view, 1);
    cc_image_release(view);
    ck_assert_int_eq(calls_of(FAULTY_FREE), 1);
    uniform_expect_on_host(image, 3);
    cc_image_release(image);
    ck_assert_int_eq(calls_of(FAULTY_FREE), 1);
    uniform_free_device_memory(0, memory);
}
END_TEST

START_TEST(t12_a_loop_leaves_nothing_behind)
{
    NEEDS_DEVICES(1);
    for (int32_t loop = 0; loop < LOOPS; ++loop) {
        cc_image *image = uniform_image(16, 16);
        uniform_write_on_host(image, 1);
        uniform_expect_on_device(image, 1);
        uniform_write_on_device(image, 2);
        uniform_expect_on_host(image, 2);
        cc_image_release(image);
    }
    ck_assert_int_eq(calls_of(FAULTY_ALLOCATE), LOOPS);
    ck_assert_int_eq(calls_of(FAULTY_FREE), LOOPS);
    /* What is kept for reuse does not grow with the loop, and can be given back. */
    cc_host_trim(0);
    ck_assert_int_eq(calls_of(FAULTY_EVENT_CREATE), calls_of(FAULTY_EVENT_DESTROY));
    if (fixture_is_emulated())
        ck_assert_int_eq(cc__emulated_count_live(fixture_inner).allocations, 0);
}
END_TEST

START_TEST(t16_a_graft_outlives_its_source)
{
    cc_image *source = uniform_image(4, 2);
    cc_image *graft = uniform_image(1, 1);
    uniform_write_on_host(source, 6);
    fixture_ok(cc_image_graft(graft, source));
    cc_image_release(source);
    uniform_expect_on_host(graft, 6);
    ck_assert_int_eq(cc_image_get_size(graft, 0), 4);
    cc_image_release(graft);
}
END_TEST

START_TEST(t17_grafted_images_agree)
{
    NEEDS_DEVICES(1);
    const int64_t moved[CC_MAX_DIMENSION] = {10, -20};
    const cc_region smaller = {.size = {2, 1}};
    cc_image *source = uniform_image(4, 2);
    cc_image *graft = uniform_image(1, 1);
    void *of_source = NULL;
    void *of_graft = NULL;
    fixture_ok(cc_image_set_device(source, fixture_device_count() - 1));
    fixture_ok(cc_image_graft(graft, source));
    uniform_write_on_device(source, 6);
    uniform_expect_on_host(graft, 6);
    ck_assert_int_eq(cc_image_get_device(graft), fixture_device_count() - 1);
    fixture_ok(cc_image_map_device(source, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &of_source));
    fixture_ok(cc_image_map_device(graft, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &of_graft));
    ck_assert_ptr_eq(of_source, of_graft);
    fixture_ok(cc_image_unmap_device(source, of_source, CC_STREAM_DEFAULT));
    fixture_ok(cc_image_unmap_device(graft, of_graft, CC_STREAM_DEFAULT));

    fixture_ok(cc_image_set_index(graft, moved));
    ck_assert_int_eq(cc_image_get_index(source, 0), 0);
    ck_assert_int_eq(cc_image_get_index(source, 1), 0);
    fixture_ok(cc_image_resize(graft, &smaller));
    ck_assert_int_eq(cc_image_get_size(source, 0), 4);
    uniform_expect_on_host(source, 6);
    uniform_expect_on_host(graft, 0);
    cc_image_release(source);
    cc_image_release(graft);
}
END_TEST

START_TEST(t71_memory_is_freed_on_its_own_device)
{
    NEEDS_DEVICES(2);
    int32_t current = -1;
    cc_image *image = uniform_image(4, 2);
    fixture_ok(cc_image_set_device(image, 1));
    uniform_write_on_device(image, 1);
    ck_assert_uint_eq(uniform_state(image, 1).memory_bytes, 8 * sizeof(float));
    ck_assert_uint_eq(uniform_state(image, 0).memory_bytes, 0);
    cc_image_release(image); /* on another device it would be refused, and still alive */
    if (fixture_is_emulated())
        ck_assert_int_eq(cc__emulated_count_live(fixture_inner).allocations, 0);
    fixture_ok(fixture_inner->current_device(fixture_inner, &current));
    ck_assert_int_eq(current, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cases: ownership");
    TCase *tcase = tcase_create("ownership");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, t8_a_failed_copy_leaves_nothing_locked);
    tcase_add_test(tcase, t9_an_image_survives_exhausted_device_memory);
    tcase_add_loop_test(tcase, t10_borrowed_device_memory_is_not_freed, 0, 2);
    tcase_add_loop_test(tcase, t11_wrapping_gives_back_what_the_image_owned, 0, 2);
    tcase_add_test(tcase, t12_a_loop_leaves_nothing_behind);
    tcase_add_test(tcase, t16_a_graft_outlives_its_source);
    tcase_add_test(tcase, t17_grafted_images_agree);
    tcase_add_test(tcase, t71_memory_is_freed_on_its_own_device);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
