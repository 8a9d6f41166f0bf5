/* Copies, fills and rescaling on the GPU against the same done plainly on the host, and between GPUs. */
#include "cuda_test.h"

#include "support/dense_work.h"
#include "support/plain_work.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES ((int64_t)1 << 20)
#define GIBIBYTE ((size_t)1 << 30)

static cc_stream stream;
static unsigned char *device_to;
static unsigned char *device_from;
static unsigned char *host_from;
static unsigned char *expected;
static unsigned char *found;

static void set_up(void)
{
    stream = must_create_stream(0);
    device_to = must_allocate(0, stream, BUFFER_BYTES);
    device_from = must_allocate(0, stream, BUFFER_BYTES);
    host_from = malloc(BUFFER_BYTES);
    expected = malloc(BUFFER_BYTES);
    found = malloc(BUFFER_BYTES);
}

static void tear_down(void)
{
    must_free(0, stream, device_to);
    must_free(0, stream, device_from);
    must_synchronize(0, stream);
    backend->stream_destroy(backend, 0, stream);
    free(host_from);
    free(expected);
    free(found);
}

/* Both destinations start as the same noise, so that a byte written between pixels shows. */
static void prepare_destinations(uint32_t *state, int64_t size_bytes)
{
    random_bytes(state, expected, size_bytes);
    must_copy(0, stream, device_to, expected, (size_t)size_bytes);
}

static void compare_destinations(int64_t size_bytes)
{
    must_copy(0, stream, found, device_to, (size_t)size_bytes);
    must_synchronize(0, stream);
    ck_assert_mem_eq(found, expected, (size_t)size_bytes);
}

static void random_size(uint32_t *state, int64_t longest, int64_t out_size[CC_MAX_DIMENSION])
{
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        out_size[axis] = random_below(state, 3) == 0 ? 1 : 1 + random_below(state, longest);
}

/* _i: 0 from pageable host memory, 1 from page-locked, 2 from the device, all into the device; 3, 4 back. */
START_TEST(boxes_are_copied)
{
    uint32_t state = (uint32_t)_i + 1;
    const bool is_locked = _i == 1 || _i == 4;
    const bool is_down = _i >= 3;
    unsigned char *pages = allocate_pages();
    if (is_locked)
        ck_assert_int_eq(backend->host_register(backend, pages, PAGES_BYTES), CC_OK);
    for (int32_t run = 0; run < 200; run++) {
        static const int64_t widths[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 48, 1024};
        cc__copy work = {.pixel_bytes = widths[random_below(&state, 11)]};
        int64_t to_bytes = BUFFER_BYTES;
        int64_t from_bytes = BUFFER_BYTES;
        while (to_bytes > (int64_t)PAGES_BYTES || from_bytes > (int64_t)PAGES_BYTES) {
            random_size(&state, 6, work.size);
            to_bytes = random_strides(&state, work.size, work.pixel_bytes, 1, work.destination.stride);
            from_bytes = random_strides(&state, work.size, work.pixel_bytes, 1, work.source.stride);
        }
        random_bytes(&state, host_from, from_bytes);
        prepare_destinations(&state, to_bytes);
        work.source.data = host_from;
        work.destination.data = expected;
        memcpy(found, expected, (size_t)to_bytes);
        memcpy(pages, is_down ? found : host_from, (size_t)(is_down ? to_bytes : from_bytes));
        plain_copy(&work);

        must_copy(0, stream, device_from, host_from, (size_t)from_bytes);
        work.source.data = _i == 2 || is_down ? device_from : pages;
        work.destination.data = is_down ? pages : device_to;
        ck_assert_msg(backend->copy(backend, 0, stream, &work) == CC_OK, "%s", cc_last_error_message());
        must_synchronize(0, stream);
        if (is_down)
            ck_assert_mem_eq(pages, expected, (size_t)to_bytes);
        else
            compare_destinations(to_bytes);
    }
    if (is_locked)
        ck_assert_int_eq(backend->host_unregister(backend, pages), CC_OK);
    free(pages);
}
END_TEST

/* Rows 2 GiB apart, more than the driver takes as a pitch. */
START_TEST(far_rows_are_copied)
{
    unsigned char *memory = must_allocate(0, stream, 5 * GIBIBYTE);
    cc__copy work = {.size = {8, 3, 1, 1}, .pixel_bytes = 2};
    work.destination = (cc__span){memory, {2, (int64_t)(2 * GIBIBYTE), 0, 0}};
    work.source = (cc__span){host_from, {2, 16, 48, 48}};
    uint32_t state = 1;
    random_bytes(&state, host_from, 48);
    ck_assert_int_eq(backend->copy(backend, 0, stream, &work), CC_OK);
    for (size_t row = 0; row < 3; row++)
        must_copy(0, stream, found + row * 16, memory + row * 2 * GIBIBYTE, 16);
    must_synchronize(0, stream);
    ck_assert_mem_eq(found, host_from, 48);
    must_free(0, stream, memory);
}
END_TEST

static void draw_value(uint32_t *state, cc__fill *work)
{
    /* 1, 2 and 4 are what a memset can do, 0 anything. */
    static const int64_t periods[] = {1, 2, 4, 0};
    int64_t period = periods[random_below(state, 4)];
    random_bytes(state, work->value, work->pixel_bytes);
    for (int64_t i = period; period != 0 && i < work->pixel_bytes; i++)
        work->value[i] = work->value[i - period];
}

START_TEST(boxes_are_filled)
{
    uint32_t state = 99;
    for (int64_t pixel_bytes = 1; pixel_bytes <= 48; pixel_bytes++) {
        for (int32_t run = 0; run < 24; run++) {
            cc__fill work = {.pixel_bytes = pixel_bytes};
            int64_t size_bytes = BUFFER_BYTES;
            int64_t first = random_below(&state, 5);
            while (size_bytes + first > (int64_t)PAGES_BYTES) {
                random_size(&state, run % 2 == 0 ? 6 : 20, work.size);
                size_bytes = random_strides(&state, work.size, pixel_bytes, 1, work.destination.stride);
            }
            draw_value(&state, &work);
            prepare_destinations(&state, size_bytes + first);
            work.destination.data = expected + first;
            plain_fill(&work);
            work.destination.data = device_to + first;
            ck_assert_msg(backend->fill(backend, 0, stream, &work) == CC_OK, "%s", cc_last_error_message());
            compare_destinations(size_bytes + first);
        }
    }
}
END_TEST

START_TEST(largest_pixel_is_filled)
{
    cc__fill work = {.size = {3, 5, 1, 1}, .pixel_bytes = sizeof work.value};
    uint32_t state = 5;
    work.destination.stride[0] = 1040;
    work.destination.stride[1] = 4000;
    random_bytes(&state, work.value, work.pixel_bytes);
    prepare_destinations(&state, 20000);
    work.destination.data = expected;
    plain_fill(&work);
    work.destination.data = device_to;
    ck_assert_int_eq(backend->fill(backend, 0, stream, &work), CC_OK);
    compare_destinations(20000);
}
END_TEST

/* Values where rounding, clamping and the kinds of zero and infinity show. */
static const double telling[] = {
    0.0,          -0.0,       0.5,        -0.5,         1.5,      2.5,         -2.5,
    1.0,          254.5,      255.5,      256.0,        127.5,    -128.5,      32767.5,
    65535.5,      65519.9,    65520.0,    2147483647.5, -2.2e9,   4.3e9,       9007199254740993.0,
    9.3e18,       1.9e19,     -1e19,      1e-8,         6e-8,     1.0e-40,     3.4028235e38,
    3.4028236e38, 1e39,       1e300,      -1e300,       INFINITY, -INFINITY,   NAN,
    3.389e38,     1.00390625, 1.01171875, 0.1,          1.0 / 3,  1234567.891, -98765.4};

/* Half noise of the type's own bits, half telling values. */
static void draw_source(uint32_t *state, cc_pixel_type type, int64_t size_bytes)
{
    random_bytes(state, host_from, size_bytes);
    const int64_t component_bytes = (int64_t)cc_pixel_type_size_bytes(type);
    for (int64_t at = 0; at + component_bytes <= size_bytes; at += component_bytes) {
        if (type == CC_PIXEL_BOOL)
            host_from[at] &= 1;
        if (random_below(state, 2) == 0)
            continue;
        double value = telling[random_below(state, sizeof telling / sizeof telling[0])];
        cc__rescale convert = {.destination = {host_from + at, {component_bytes, 16, 16, 16}},
                               .source = {(unsigned char *)&value, {8, 16, 16, 16}},
                               .size = {1, 1, 1, 1},
                               .components = 1,
                               .destination_type = type,
                               .source_type = CC_PIXEL_FLOAT64,
                               .scale = 1.0};
        cc__rescale_on_host(&convert);
    }
}

static const double scales[][2] = {{1.0, 0.0}, {2.5, -3.25}, {-0.1, 1e10}, {1e30, 0.0}, {0.0, 7.5}};

/* _i: the source's type; into each type. The expected bits are the host's, which have their own tests. */
START_TEST(every_pair_of_types_is_rescaled)
{
    const cc_pixel_type source_type = (cc_pixel_type)_i;
    uint32_t state = (uint32_t)_i + 7;
    for (int32_t type = CC_PIXEL_BOOL; type <= CC_PIXEL_COMPLEX128; type++) {
        const int64_t from_width = (int64_t)cc_pixel_type_size_bytes(source_type);
        const int64_t to_width = (int64_t)cc_pixel_type_size_bytes((cc_pixel_type)type);
        for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
            cc__rescale work = {.components = 1 + (int32_t)random_below(&state, 4),
                                .destination_type = (cc_pixel_type)type,
                                .source_type = source_type,
                                .scale = scales[i][0],
                                .shift = scales[i][1]};
            int64_t to_bytes = BUFFER_BYTES;
            int64_t from_bytes = BUFFER_BYTES;
            while (to_bytes > (int64_t)PAGES_BYTES || from_bytes > (int64_t)PAGES_BYTES) {
                random_size(&state, 12, work.size);
                to_bytes =
                    random_strides(&state, work.size, work.components * to_width, to_width, work.destination.stride);
                from_bytes =
                    random_strides(&state, work.size, work.components * from_width, from_width, work.source.stride);
            }
            draw_source(&state, source_type, from_bytes);
            must_copy(0, stream, device_from, host_from, (size_t)from_bytes);
            prepare_destinations(&state, to_bytes);
            work.destination.data = expected;
            work.source.data = host_from;
            cc__rescale_on_host(&work);
            work.destination.data = device_to;
            work.source.data = device_from;
            ck_assert_msg(queue_kernel(backend, 0, stream, &cc__rescale_kernel, &work) == CC_OK, "%s",
                          cc_last_error_message());
            compare_destinations(to_bytes);
        }
    }
}
END_TEST

START_TEST(pixels_are_rescaled_in_place)
{
    const cc_pixel_type type = (cc_pixel_type)_i;
    const int64_t width = (int64_t)cc_pixel_type_size_bytes(type);
    const int64_t size_bytes = width * 10000;
    uint32_t state = (uint32_t)_i + 70;
    cc__rescale work = {.size = {10000, 1, 1, 1},
                        .components = 1,
                        .destination_type = type,
                        .source_type = type,
                        .scale = 0.75,
                        .shift = 2.0};
    draw_source(&state, type, size_bytes);
    must_copy(0, stream, device_to, host_from, (size_t)size_bytes);
    memcpy(expected, host_from, (size_t)size_bytes);
    work.destination = work.source = (cc__span){expected, {width, size_bytes, size_bytes, size_bytes}};
    cc__rescale_on_host(&work);
    work.destination.data = work.source.data = device_to;
    ck_assert_int_eq(queue_kernel(backend, 0, stream, &cc__rescale_kernel, &work), CC_OK);
    compare_destinations(size_bytes);
}
END_TEST

/* Past 32 bits of bytes in one memset, of pixels in one fill, and of pixels in one rescale. */
START_TEST(huge_rows_are_whole)
{
    const int64_t count = ((int64_t)1 << 31) + 11;
    unsigned char *memory = must_allocate(0, stream, 7 * GIBIBYTE);
    unsigned char *other = must_allocate(0, stream, 3 * GIBIBYTE);
    unsigned char tail[16];
    cc__fill fill = dense_fill(memory, 0xAB, ((int64_t)1 << 32) + 7);
    ck_assert_int_eq(backend->fill(backend, 0, stream, &fill), CC_OK);
    must_copy(0, stream, tail, memory + ((size_t)1 << 32) - 1, 8);
    must_synchronize(0, stream);
    ck_assert(bytes_are(tail, 0xAB, 8));

    fill = (cc__fill){.destination = {memory, {3, 0, 0, 0}}, .size = {count, 1, 1, 1}, .pixel_bytes = 3};
    memcpy(fill.value, "\1\2\3", 3);
    ck_assert_int_eq(backend->fill(backend, 0, stream, &fill), CC_OK);
    must_copy(0, stream, tail, memory + count * 3 - 9, 9);
    must_synchronize(0, stream);
    ck_assert_mem_eq(tail, "\1\2\3\1\2\3\1\2\3", 9);

    fill = dense_fill(memory, 200, count);
    ck_assert_int_eq(backend->fill(backend, 0, stream, &fill), CC_OK);
    cc__rescale rescale = {.destination = {other, {1, 0, 0, 0}},
                           .source = {memory, {1, 0, 0, 0}},
                           .size = {count, 1, 1, 1},
                           .components = 1,
                           .destination_type = CC_PIXEL_INT8,
                           .source_type = CC_PIXEL_UINT8,
                           .scale = -0.5,
                           .shift = 1.0};
    ck_assert_int_eq(queue_kernel(backend, 0, stream, &cc__rescale_kernel, &rescale), CC_OK);
    must_copy(0, stream, tail, other + count - 4, 4);
    must_synchronize(0, stream);
    ck_assert(bytes_are(tail, 0x9D, 4)); /* -99 */
    must_free(0, stream, memory);
    must_free(0, stream, other);
}
END_TEST

static unsigned char *filled_memory(int32_t device, cc_stream in, unsigned char value)
{
    unsigned char *memory = must_allocate(device, in, PAGES_BYTES);
    cc__fill fill = dense_fill(memory, value, (int64_t)PAGES_BYTES);
    ck_assert_int_eq(backend->fill(backend, device, in, &fill), CC_OK);
    must_synchronize(device, in);
    return memory;
}

/* Each device to each other, in a stream of either, as a row and as a box. */
START_TEST(devices_copy_to_each_other)
{
    for (int32_t to = 0; to < backend->device_count; to++) {
        for (int32_t from = 0; from < backend->device_count; from++) {
            cc_stream to_stream = must_create_stream(to);
            cc_stream from_stream = must_create_stream(from);
            unsigned char *destination = filled_memory(to, to_stream, 1);
            unsigned char *source = filled_memory(from, from_stream, 2);
            int can = 1;
            if (to != from)
                ck_assert_int_eq(cc__driver.cuDeviceCanAccessPeer(&can, to, from), CUDA_SUCCESS);
            ck_assert_int_eq(backend->has_peer_access(backend, to, from), can != 0);

            must_copy(to, to_stream, destination, source, 100);
            must_synchronize(to, to_stream);
            must_copy(from, from_stream, destination + 200, source, 100);
            cc__copy box = {.destination = {destination + 1000, {4, 100, 1000, 10000}},
                            .source = {source, {4, 40, 400, 4000}},
                            .size = {5, 6, 7, 2},
                            .pixel_bytes = 4};
            ck_assert_int_eq(backend->copy(backend, from, from_stream, &box), CC_OK);
            must_synchronize(from, from_stream);
            must_copy(to, to_stream, found, destination, PAGES_BYTES);
            must_synchronize(to, to_stream);

            memset(expected, 1, PAGES_BYTES);
            memset(expected, 2, 100);
            memset(expected + 200, 2, 100);
            memset(host_from, 2, PAGES_BYTES);
            box.destination.data = expected + 1000;
            box.source.data = host_from;
            plain_copy(&box);
            ck_assert_mem_eq(found, expected, PAGES_BYTES);
            must_free(to, to_stream, destination);
            must_free(from, from_stream, source);
            must_synchronize(to, to_stream);
            must_synchronize(from, from_stream);
            backend->stream_destroy(backend, to, to_stream);
            backend->stream_destroy(backend, from, from_stream);
        }
    }
}
END_TEST

/* What the library did for its own copies does not stand in the way of a caller who asks for the same. */
START_TEST(caller_can_still_enable_peers)
{
    for (int32_t other = 1; other < backend->device_count; other++) {
        if (!backend->has_peer_access(backend, 0, other))
            continue;
        ck_assert_int_eq(cudaSetDevice(0), cudaSuccess);
        ck_assert_int_eq(cudaDeviceEnablePeerAccess(other, 0), cudaSuccess);
        ck_assert_int_eq(cudaDeviceDisablePeerAccess(other), cudaSuccess);
    }
    make_none_current();
}
END_TEST

int main(void)
{
    int status = cuda_test_start();
    if (status != 0)
        return status;

    Suite *suite = suite_create("cuda_work");
    TCase *copies = tcase_create("copies");
    tcase_add_checked_fixture(copies, set_up, tear_down);
    tcase_add_loop_test(copies, boxes_are_copied, 0, 5);
    tcase_add_test(copies, far_rows_are_copied);
    tcase_add_test(copies, devices_copy_to_each_other);
    suite_add_tcase(suite, copies);
    TCase *kernels = tcase_create("kernels");
    tcase_add_checked_fixture(kernels, set_up, tear_down);
    tcase_add_test(kernels, boxes_are_filled);
    tcase_add_test(kernels, largest_pixel_is_filled);
    tcase_add_loop_test(kernels, every_pair_of_types_is_rescaled, CC_PIXEL_BOOL, CC_PIXEL_COMPLEX128 + 1);
    tcase_add_loop_test(kernels, pixels_are_rescaled_in_place, CC_PIXEL_BOOL, CC_PIXEL_COMPLEX128 + 1);
    tcase_add_test(kernels, huge_rows_are_whole);
    suite_add_tcase(suite, kernels);
    TCase *peers = tcase_create("peers");
    tcase_add_test(peers, caller_can_still_enable_peers);
    suite_add_tcase(suite, peers);
    return cuda_test_run(suite);
}
