/* Lending pixels for work in streams: nobody sees a pixel too early, and nobody changes one too early. */
#include "backend/emulated.h"
#include "base/allocate.h"
#include "support/byte_pixels.h"
#include "support/dense_work.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 32
#define BYTES (SIZE * SIZE)

static cc_image *image;
static cc_stream stream, other_stream;
static void *found[2]; /* on the device, for what kernels see */

static void set_up(void)
{
    fixture_setup();
    image = fixture_image(CC_PIXEL_UINT8, 1, 2, SIZE, SIZE, 1);
    if (fixture_device_count() > 0) {
        fixture_ok(cc_image_set_device(image, 0));
        stream = fixture_stream_create(0);
        other_stream = fixture_stream_create(0);
        for (int32_t i = 0; i < 2; ++i)
            fixture_ok(fixture_inner->allocate(fixture_inner, 0, stream, BYTES, &found[i]));
        fixture_ok(cc_stream_synchronize(0, stream));
    }
}

static void tear_down(void)
{
    cc_image_release(image);
    if (fixture_device_count() > 0) {
        fixture_ok(cc_stream_synchronize(0, stream));
        fixture_ok(cc_stream_synchronize(0, other_stream));
        for (int32_t i = 0; i < 2; ++i)
            fixture_ok(fixture_inner->free(fixture_inner, 0, stream, found[i]));
        fixture_ok(fixture_inner->stream_synchronize(fixture_inner, 0, stream));
        fixture_stream_destroy(0, stream);
        fixture_stream_destroy(0, other_stream);
    }
    fixture_teardown();
}

static void *must_map(cc_image *of, cc_access access, cc_stream in)
{
    void *pixels = NULL;
    fixture_ok(cc_image_map_device(of, NULL, access, in, &pixels));
    ck_assert_ptr_nonnull(pixels);
    return pixels;
}

/* What kernels do: late, in stream order, without the host's memory. */
static void queue_write(cc_stream in, void *pixels, unsigned char value)
{
    fixture_ok(fill_bytes(fixture_inner, 0, in, pixels, value, BYTES));
}

static void queue_read(cc_stream in, void *into, const void *pixels)
{
    fixture_ok(copy_bytes(fixture_inner, 0, in, into, pixels, BYTES));
}

/* What queue_read() found, once its stream is done. */
static void expect_found(cc_stream in, const void *from, unsigned char value)
{
    unsigned char bytes[BYTES];
    fixture_device_read(0, in, bytes, from, BYTES);
    fixture_ok(cc_stream_synchronize(0, in));
    ck_assert(bytes_are(bytes, value, BYTES));
}

START_TEST(without_a_device)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *elsewhere = NULL;
    void *pixels = &image;
    const cc_status beyond = fixture_device_count() > 0 ? CC_ERROR_INVALID_DEVICE : CC_ERROR_NO_DEVICE;
    params.dimension = 1;
    params.region.size[0] = 4;
    params.device = 99;
    fixture_ok(cc_image_create(&params, &elsewhere));
    expect_failure(beyond, "device = 99",
                   cc_image_map_device(elsewhere, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
    if (fixture_device_count() == 0)
        expect_failure(CC_ERROR_NO_DEVICE, "device",
                       cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
    ck_assert_ptr_eq(pixels, &image);
    byte_pixels_write_host(elsewhere, NULL, 1);
    byte_pixels_expect_host(elsewhere, NULL, 1);
    cc_image_release(elsewhere);
}
END_TEST

START_TEST(the_device_is_the_one_current_when_needed)
{
    if (!fixture_is_emulated())
        return;
    const int32_t last = fixture_device_count() - 1;
    cc_image *open = fixture_image(CC_PIXEL_UINT8, 1, 1, 4, 1, 1);
    ck_assert_int_eq(cc_image_get_device(open), CC_DEVICE_CURRENT);
    cc__emulated_set_current_device(fixture_inner, last);
    fixture_ok(cc_image_unmap_device(open, must_map(open, CC_ACCESS_READ, CC_STREAM_DEFAULT), CC_STREAM_DEFAULT));
    cc__emulated_set_current_device(fixture_inner, 0);
    ck_assert_int_eq(cc_image_get_device(open), last);
    cc_image_release(open);
}
END_TEST

/* The zeros of a new image and a fill value come into being on the device, in stream order; nothing is moved. */
START_TEST(constants_are_made_where_they_are_needed)
{
    const unsigned char value = 42;
    if (fixture_device_count() == 0)
        return;
    byte_pixels_expect_device(image, NULL, 0, stream);
    fixture_ok(cc_image_fill(image, NULL, &value, other_stream));
    byte_pixels_expect_device(image, NULL, 42, stream);
    const cc_counters counters = fixture_counters(image);
    ck_assert_uint_eq(counters.host_to_device_copies + counters.device_to_host_copies, 0);
    ck_assert_uint_eq(counters.host_allocations, 0);
    ck_assert_uint_eq(counters.device_allocations, 1);
    ck_assert_uint_eq(counters.fills, 2);
}
END_TEST

START_TEST(host_reads_wait_for_kernels)
{
    if (fixture_device_count() == 0)
        return;
    void *pixels = must_map(image, CC_ACCESS_WRITE, stream);
    queue_write(stream, pixels, 7);
    fixture_ok(cc_image_unmap_device(image, pixels, stream));
    byte_pixels_expect_host(image, NULL, 7);
}
END_TEST

START_TEST(streams_wait_for_each_other)
{
    if (fixture_device_count() == 0)
        return;
    void *pixels = must_map(image, CC_ACCESS_WRITE, stream);
    queue_write(stream, pixels, 1);
    fixture_ok(cc_image_unmap_device(image, pixels, stream));
    /* A reader after a writer in another stream. */
    pixels = must_map(image, CC_ACCESS_READ, other_stream);
    queue_read(other_stream, found[0], pixels);
    fixture_ok(cc_image_unmap_device(image, pixels, other_stream));
    /* A writer after a reader in another. */
    pixels = must_map(image, CC_ACCESS_WRITE, stream);
    queue_write(stream, pixels, 2);
    fixture_ok(cc_image_unmap_device(image, pixels, stream));
    fixture_ok(cc_stream_synchronize(0, stream));
    expect_found(other_stream, found[0], 1);
    byte_pixels_expect_host(image, NULL, 2);
}
END_TEST

START_TEST(unmapping_in_another_stream_than_mapping)
{
    if (fixture_device_count() == 0)
        return;
    void *pixels = must_map(image, CC_ACCESS_WRITE, stream);
    fixture_ok(cc_stream_synchronize(0, stream));
    cc_stream short_lived = fixture_stream_create(0);
    queue_write(short_lived, pixels, 5);
    fixture_ok(cc_image_unmap_device(image, pixels, short_lived));
    fixture_stream_destroy(0, short_lived);
    byte_pixels_expect_device(image, NULL, 5, stream);
    byte_pixels_expect_host(image, NULL, 5);
}
END_TEST

START_TEST(readers_that_start_together_are_all_waited_for)
{
    cc_stream streams[] = {stream, other_stream};
    void *pixels[2];
    if (fixture_device_count() == 0)
        return;
    byte_pixels_write_host(image, NULL, 1);
    for (int32_t i = 0; i < 2; ++i)
        pixels[i] = must_map(image, CC_ACCESS_READ, streams[i]);
    ck_assert_ptr_eq(pixels[0], pixels[1]);
    for (int32_t i = 0; i < 2; ++i) {
        queue_read(streams[i], found[i], pixels[i]);
        fixture_ok(cc_image_unmap_device(image, pixels[i], streams[i]));
    }
    pixels[0] = must_map(image, CC_ACCESS_WRITE, CC_STREAM_DEFAULT);
    queue_write(CC_STREAM_DEFAULT, pixels[0], 2);
    fixture_ok(cc_image_unmap_device(image, pixels[0], CC_STREAM_DEFAULT));
    fixture_ok(cc_stream_synchronize(0, CC_STREAM_DEFAULT));
    for (int32_t i = 0; i < 2; ++i)
        expect_found(streams[i], found[i], 1);
}
END_TEST

/* A kernel sees what was there when it was queued, though the host may write again at once. */
START_TEST(host_writes_wait_for_uploads)
{
    static unsigned char memory[BYTES];
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    if (fixture_device_count() == 0)
        return;
    memset(memory, 1, sizeof memory);
    /* Page-locked by its owner, so that the upload goes on while the host runs. */
    fixture_ok(fixture_inner->host_register(fixture_inner, memory, sizeof memory));
    params.flags = CC_WRAP_BORROWED;
    params.data = memory;
    params.size_bytes = BYTES;
    fixture_ok(cc_image_wrap_host(image, &params));
    void *pixels = must_map(image, CC_ACCESS_READ, stream);
    queue_read(stream, found[0], pixels);
    fixture_ok(cc_image_unmap_device(image, pixels, stream));
    byte_pixels_write_host(image, NULL, 2);
    expect_found(stream, found[0], 1);
    byte_pixels_expect_device(image, NULL, 2, stream);
    cc_image_release(image);
    image = NULL;
    fixture_ok(fixture_inner->host_unregister(fixture_inner, memory));
}
END_TEST

/* Another device's, or one that is not there any more. The mapping that it cannot end still stands. */
START_TEST(a_stream_of_elsewhere_is_refused)
{
    const unsigned char value = 1;
    const cc_region part = region_at(0, 0, 1, 1);
    const bool has_two = fixture_device_count() > 1;
    cc_export_params params = CC_EXPORT_PARAMS_INIT;
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    cc_loan *loan = NULL;
    void *pixels = &image, *mapped = NULL;
    if (!fixture_is_emulated())
        return;
    cc_stream elsewhere = fixture_stream_create(has_two ? 1 : 0);
    if (!has_two)
        fixture_stream_destroy(0, elsewhere);
    mapped = must_map(image, CC_ACCESS_READ_WRITE, stream);
    expect_passed_on(CC_ERROR_STREAM, cc_image_unmap_device(image, mapped, elsewhere));
    fixture_ok(cc_image_unmap_device(image, mapped, stream));
    expect_failure(CC_ERROR_STREAM, "stream", cc_image_map_device(image, NULL, CC_ACCESS_READ, elsewhere, &pixels));
    ck_assert_ptr_eq(pixels, &image);
    expect_failure(CC_ERROR_STREAM, "stream", cc_image_fill(image, &part, &value, elsewhere));
    expect_failure(CC_ERROR_STREAM, "stream", cc_image_rescale(image, 2, 0, image, elsewhere));
    params.stream = elsewhere;
    expect_failure(CC_ERROR_STREAM, "stream", cc_image_export(image, &params, &descriptor, &loan));
    ck_assert_ptr_null(loan);
    expect_passed_on(CC_ERROR_STREAM, cc_stream_synchronize(0, elsewhere));
    byte_pixels_expect_host(image, NULL, 0);
    if (has_two)
        fixture_stream_destroy(1, elsewhere);
}
END_TEST

START_TEST(a_captured_stream_is_refused)
{
    const unsigned char value = 1;
    const cc_region part = region_at(0, 0, 1, 1);
    void *pixels = &image, *mapped = NULL;
    if (!fixture_is_emulated())
        return;
    mapped = must_map(image, CC_ACCESS_READ_WRITE, stream);
    cc__emulated_set_capturing(fixture_inner, 0, other_stream, true);
    expect_passed_on(CC_ERROR_CAPTURE, cc_image_unmap_device(image, mapped, other_stream));
    fixture_ok(cc_image_unmap_device(image, mapped, stream));
    expect_failure(CC_ERROR_CAPTURE, "stream", cc_image_map_device(image, NULL, CC_ACCESS_READ, other_stream, &pixels));
    ck_assert_ptr_eq(pixels, &image);
    expect_failure(CC_ERROR_CAPTURE, "stream", cc_image_fill(image, &part, &value, other_stream));
    expect_failure(CC_ERROR_CAPTURE, "stream", cc_image_rescale(image, 2, 0, image, other_stream));
    cc__emulated_set_capturing(fixture_inner, 0, other_stream, false);
    byte_pixels_expect_host(image, NULL, 0);
}
END_TEST

START_TEST(a_device_that_is_full)
{
    void *pixels = &image;
    if (!fixture_is_emulated())
        return;
    byte_pixels_write_host(image, NULL, 3);
    cc__emulated_set_memory_limit(fixture_inner, BYTES - 1);
    expect_failure(CC_ERROR_OUT_OF_DEVICE_MEMORY, "",
                   cc_image_map_device(image, NULL, CC_ACCESS_READ_WRITE, stream, &pixels));
    ck_assert_ptr_eq(pixels, &image);
    byte_pixels_expect_host(image, NULL, 3);
    byte_pixels_write_host(image, NULL, 4);
    cc__emulated_set_memory_limit(fixture_inner, 0);
    byte_pixels_expect_device(image, NULL, 4, stream);
}
END_TEST

static const faulty_rule map_rules[] = {
    {FAULTY_STREAM_IS_CAPTURING, 1, false, CC_ERROR_FORKED, 0},
    {FAULTY_STREAM_CREATE, 1, false, CC_ERROR_DEVICE, 999},
    {FAULTY_ALLOCATE, 1, false, CC_ERROR_OUT_OF_DEVICE_MEMORY, 2},
    {FAULTY_COPY, 1, false, CC_ERROR_DEVICE, 999},
    {FAULTY_COPY, 1, false, CC_ERROR_FORKED, 0},
    {FAULTY_EVENT_RECORD, 1, false, CC_ERROR_DEVICE, 999},
    {FAULTY_STREAM_WAIT, 1, false, CC_ERROR_DEVICE, 999},
};

START_TEST(a_failed_map_lends_nothing)
{
    void *pixels = &image;
    if (fixture_device_count() == 0)
        return;
    byte_pixels_write_host(image, NULL, 6);
    faulty_backend_add_rule(fixture_backend, &map_rules[_i]);
    expect_passed_on(map_rules[_i].status, cc_image_map_device(image, NULL, CC_ACCESS_READ, stream, &pixels));
    ck_assert_int_eq(cc_last_native_error(), map_rules[_i].native_error);
    ck_assert_ptr_eq(pixels, &image);
    byte_pixels_write_host(image, NULL, 7);
    byte_pixels_expect_device(image, NULL, 7, stream);
}
END_TEST

START_TEST(a_failed_unmap_leaves_the_mapping)
{
    const faulty_rule no_event = {FAULTY_EVENT_RECORD, 1, true, CC_ERROR_DEVICE, 999};
    const faulty_rule no_wait = {FAULTY_STREAM_SYNCHRONIZE, 1, true, CC_ERROR_FORKED, 0};
    void *pixels = NULL, *refused = NULL;
    if (fixture_device_count() == 0)
        return;
    pixels = must_map(image, CC_ACCESS_READ_WRITE, stream);
    faulty_backend_add_rule(fixture_backend, &no_event);
    faulty_backend_add_rule(fixture_backend, &no_wait);
    expect_passed_on(CC_ERROR_FORKED, cc_image_unmap_device(image, pixels, stream));
    faulty_backend_clear_rules(fixture_backend);
    expect_failure(CC_ERROR_BUSY, "device 0", cc_image_map_host(image, NULL, CC_ACCESS_READ, &refused));
    fixture_ok(cc_image_unmap_device(image, pixels, stream));
    byte_pixels_expect_host(image, NULL, 0);
}
END_TEST

START_TEST(a_mapping_belongs_to_its_device)
{
    if (fixture_device_count() < 2)
        return;
    byte_pixels_write_device(image, NULL, 1, stream);
    void *pixels = must_map(image, CC_ACCESS_READ, stream);
    fixture_ok(cc_image_set_device(image, 1));
    byte_pixels_expect_device(image, NULL, 1, CC_STREAM_DEFAULT);
    fixture_ok(cc_image_unmap_device(image, pixels, stream));
    byte_pixels_write_device(image, NULL, 2, CC_STREAM_DEFAULT);
    fixture_ok(cc_image_set_device(image, 0));
    byte_pixels_expect_device(image, NULL, 2, stream);
}
END_TEST

/* Each thread has a row of the device's memory to itself; all of them make the memory together. */
typedef struct worker {
    cc_region row;
    unsigned char *written; /* all value */
    cc_status status;
} worker;

static pthread_barrier_t barrier;

static void *work(void *argument)
{
    worker *self = argument;
    pthread_barrier_wait(&barrier);
    for (int32_t round = 0; round < 20 && self->status == CC_OK; ++round) {
        void *pixels = NULL;
        self->status = cc_image_map_device(image, &self->row, CC_ACCESS_READ_WRITE, CC_STREAM_PER_THREAD, &pixels);
        if (self->status != CC_OK)
            break;
        self->status = copy_bytes(fixture_inner, 0, CC_STREAM_PER_THREAD, pixels, self->written, SIZE);
        const cc_status status = cc_image_unmap_device(image, pixels, CC_STREAM_PER_THREAD);
        self->status = self->status == CC_OK ? status : self->status;
    }
    return NULL;
}

START_TEST(threads_lend_from_one_image)
{
    static unsigned char written[8][SIZE];
    worker workers[8];
    pthread_t threads[8];
    if (fixture_device_count() == 0)
        return;
    ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, 8), 0);
    for (int32_t i = 0; i < 8; ++i) {
        memset(written[i], i + 1, SIZE);
        workers[i] = (worker){.row = region_at(0, 4 * i, SIZE, 1), .written = written[i]};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int32_t i = 0; i < 8; ++i) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        fixture_ok(workers[i].status);
    }
    pthread_barrier_destroy(&barrier);
    for (int32_t i = 0; i < 8; ++i) {
        const cc_region between = region_at(0, 4 * i + 1, SIZE, 3);
        byte_pixels_expect_host(image, &workers[i].row, (unsigned char)(i + 1));
        byte_pixels_expect_host(image, &between, 0);
    }
    ck_assert_uint_eq(fixture_counters(image).device_allocations, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("access_device");
    TCase *tcase = tcase_create("access_device");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, without_a_device);
    tcase_add_test(tcase, the_device_is_the_one_current_when_needed);
    tcase_add_test(tcase, constants_are_made_where_they_are_needed);
    tcase_add_test(tcase, host_reads_wait_for_kernels);
    tcase_add_test(tcase, streams_wait_for_each_other);
    tcase_add_test(tcase, unmapping_in_another_stream_than_mapping);
    tcase_add_test(tcase, readers_that_start_together_are_all_waited_for);
    tcase_add_test(tcase, host_writes_wait_for_uploads);
    tcase_add_test(tcase, a_stream_of_elsewhere_is_refused);
    tcase_add_test(tcase, a_captured_stream_is_refused);
    tcase_add_test(tcase, a_device_that_is_full);
    tcase_add_loop_test(tcase, a_failed_map_lends_nothing, 0, sizeof map_rules / sizeof map_rules[0]);
    tcase_add_test(tcase, a_failed_unmap_leaves_the_mapping);
    tcase_add_test(tcase, a_mapping_belongs_to_its_device);
    tcase_add_test(tcase, threads_lend_from_one_image);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
