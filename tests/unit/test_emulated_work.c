/* The emulated device's work: which memory a copy, a fill or a rescale may have, and when it is done. */
#include "support/dense_work.h"
#include "support/two_devices.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(pageable_memory_is_copied_at_once)
{
    unsigned char in[BYTES], out[BYTES] = {0};
    unsigned char *memory = allocate(0, a0, BYTES);
    unsigned char *later = allocate(0, b0, BYTES);
    memset(in, 3, BYTES);
    ck_assert_int_eq(copy_bytes(backend, 0, a0, memory, in, BYTES), CC_OK);
    memset(in, 4, BYTES);
    ck_assert(bytes_are(memory, 3, BYTES));
    ck_assert_int_eq(fill_bytes(backend, 0, a0, memory, 7, BYTES / 2), CC_OK);
    ck_assert(bytes_are(memory, 3, BYTES));
    ck_assert_int_eq(copy_bytes(backend, 0, a0, out, memory, BYTES), CC_OK);
    ck_assert(bytes_are(out, 7, BYTES / 2));
    ck_assert(bytes_are(out + BYTES / 2, 3, BYTES / 2));
    /* Another stream's work is left alone. */
    ck_assert_int_eq(cc__emulated_count_live(backend).queued, 1);
    ck_assert(bytes_are(later, CC__EMULATED_FRESH, BYTES));
}
END_TEST

START_TEST(copies_do_not_cross_the_border_of_registered_memory)
{
    unsigned char host[4 * BYTES] = {0};
    unsigned char *memory = allocate(0, a0, 4 * BYTES);
    ck_assert_int_eq(backend->host_register(backend, host + BYTES, BYTES), CC_OK);
    const int64_t queued = cc__emulated_count_live(backend).queued;
    ck_assert_int_eq(copy_bytes(backend, 0, a0, memory, host, BYTES + 1), CC_ERROR_DEVICE);
    ck_assert_int_eq(cc_last_native_error(), 1);
    ck_assert_int_eq(copy_bytes(backend, 0, a0, host + 2 * BYTES - 1, memory, 2), CC_ERROR_DEVICE);
    ck_assert_int_eq(copy_bytes(backend, 0, a0, host, memory, 3 * BYTES), CC_ERROR_DEVICE);
    ck_assert_int_eq(cc__emulated_count_live(backend).queued, queued);
    ck_assert_int_eq(copy_bytes(backend, 0, a0, memory, host + BYTES + 1, BYTES - 1), CC_OK);
    ck_assert_int_eq(copy_bytes(backend, 0, a0, memory, host + BYTES, BYTES), CC_OK);
    ck_assert_int_eq(cc__emulated_count_live(backend).queued, queued + 2);
    ck_assert_int_eq(copy_bytes(backend, 0, a0, memory, host, BYTES), CC_OK);
    ck_assert_int_eq(cc__emulated_count_live(backend).queued, 0);

    ck_assert_int_eq(backend->host_register(backend, host + 2 * BYTES, BYTES), CC_OK);
    ck_assert_int_eq(copy_bytes(backend, 0, a0, memory, host + BYTES, 2 * BYTES), CC_ERROR_DEVICE);
}
END_TEST

START_TEST(boxes_stay_inside_one_allocation)
{
    unsigned char host[8] = {0, 1, 2, 3, 4, 5, 6, 7}, out[24] = {0};
    unsigned char *memory = allocate(0, a0, 24);
    /* 2 x 2 x 2 pixels of one byte, 3, 5 and 15 bytes apart: the last pixel is byte 23. */
    cc__copy work = {.destination = {memory, {3, 5, 15, 99}},
                     .source = {host, {1, 2, 4, 8}},
                     .size = {2, 2, 2, 1},
                     .pixel_bytes = 1};
    ck_assert_int_eq(backend->copy(backend, 0, a0, &work), CC_OK);
    ck_assert_int_eq(copy_bytes(backend, 0, a0, out, memory, 24), CC_OK);
    const unsigned char expected[24] = {[0] = 0, [3] = 1, [5] = 2, [8] = 3, [15] = 4, [18] = 5, [20] = 6, [23] = 7};
    for (int i = 0; i < 24; i++)
        ck_assert_int_eq(out[i], i == 0 || expected[i] != 0 ? expected[i] : CC__EMULATED_FRESH);

    const cc__copy good = work;
    work.destination.data = memory + 1;
    ck_assert_int_eq(backend->copy(backend, 0, a0, &work), CC_ERROR_DEVICE);
    ck_assert_int_eq(cc_last_native_error(), 1);
    work = good;
    work.destination.stride[2] = 16;
    ck_assert_int_eq(backend->copy(backend, 0, a0, &work), CC_ERROR_DEVICE);
    work = good;
    work.pixel_bytes = 2;
    ck_assert_int_eq(backend->copy(backend, 0, a0, &work), CC_ERROR_DEVICE);
    work = good;
    work.destination.stride[1] = -5;
    ck_assert_int_eq(backend->copy(backend, 0, a0, &work), CC_ERROR_DEVICE);
    work = good;
    work.destination.stride[1] = INT64_MAX;
    ck_assert_int_eq(backend->copy(backend, 0, a0, &work), CC_ERROR_DEVICE);
    work.size[1] = 3;
    ck_assert_int_eq(backend->copy(backend, 0, a0, &work), CC_ERROR_DEVICE);
    work = good;
    work.size[0] = 0;
    ck_assert_int_eq(backend->copy(backend, 0, a0, &work), CC_ERROR_DEVICE);
    work = good;
    work.source.data = NULL;
    ck_assert_int_eq(backend->copy(backend, 0, a0, &work), CC_ERROR_DEVICE);
    ck_assert_int_eq(copy_bytes(backend, 0, a0, memory - 1, host, 2), CC_ERROR_DEVICE);
    ck_assert_int_eq(copy_bytes(backend, 0, a0, host, out, 8), CC_ERROR_DEVICE);
}
END_TEST

START_TEST(fill_and_rescale_want_memory_of_their_device)
{
    unsigned char host[BYTES] = {0};
    float in[4] = {1.0f, 2.5f, 300.0f, -1.0f};
    unsigned char out[4] = {0};
    memory0 = allocate(0, a0, BYTES);
    memory1 = allocate(1, c1, BYTES);
    ck_assert_int_eq(fill_bytes(backend, 0, a0, memory1, 7, BYTES), CC_ERROR_DEVICE);
    ck_assert_int_eq(fill_bytes(backend, 0, a0, host, 7, BYTES), CC_ERROR_DEVICE);
    ck_assert_int_eq(backend->host_register(backend, host, BYTES), CC_OK);
    ck_assert_int_eq(fill_bytes(backend, 0, a0, host, 7, BYTES), CC_ERROR_DEVICE);
    ck_assert_int_eq(fill_bytes(backend, 0, a0, memory0, 7, BYTES + 1), CC_ERROR_DEVICE);

    cc__rescale work = {.destination = {memory0 + 16, {1, 4, 4, 4}},
                        .source = {memory0, {4, 16, 16, 16}},
                        .size = {4, 1, 1, 1},
                        .components = 1,
                        .destination_type = CC_PIXEL_UINT8,
                        .source_type = CC_PIXEL_FLOAT32,
                        .scale = 1.0,
                        .shift = 0.0};
    ck_assert_int_eq(copy_bytes(backend, 0, a0, memory0, in, sizeof in), CC_OK);
    ck_assert_int_eq(queue_kernel(backend, 0, a0, &cc__rescale_kernel, &work), CC_OK);
    ck_assert(bytes_are(memory0 + 16, CC__EMULATED_FRESH, 4));
    ck_assert_int_eq(copy_bytes(backend, 0, a0, out, memory0 + 16, 4), CC_OK);
    const unsigned char expected[4] = {1, 2, 255, 0}; /* half to even, then clamped */
    ck_assert_mem_eq(out, expected, 4);
    work.source.data = memory1;
    ck_assert_int_eq(queue_kernel(backend, 0, a0, &cc__rescale_kernel, &work), CC_ERROR_DEVICE);
    work.source.data = memory0 + BYTES - 15;
    ck_assert_int_eq(queue_kernel(backend, 0, a0, &cc__rescale_kernel, &work), CC_ERROR_DEVICE);
    work.source.data = memory0;
    work.destination.data = memory0 + BYTES - 3;
    ck_assert_int_eq(queue_kernel(backend, 0, a0, &cc__rescale_kernel, &work), CC_ERROR_DEVICE);
    work.destination.data = host;
    ck_assert_int_eq(queue_kernel(backend, 0, a0, &cc__rescale_kernel, &work), CC_ERROR_DEVICE);
}
END_TEST

static cc_status copy_boxes(const cc__copy *works, int32_t count)
{
    return backend->copy_boxes(backend, 0, a0, works, count);
}

START_TEST(boxes_are_copied_late_and_in_order)
{
    unsigned char in[BYTES], out[BYTES] = {0}, expected[BYTES];
    unsigned char *memory = allocate(0, a0, BYTES);
    ck_assert_int_eq(backend->host_register(backend, in, BYTES), CC_OK);
    ck_assert_int_eq(backend->host_register(backend, out, BYTES), CC_OK);
    for (int i = 0; i < BYTES; i++)
        in[i] = (unsigned char)i;
    /* 2 x 3 pixels of 2 bytes, 8 bytes from row to row; and two bytes beside them. Then the first box comes back. */
    cc__copy up[2] = {{.destination = {memory + 4, {2, 8, 99, 99}},
                       .source = {in + 10, {2, 16, 99, 99}},
                       .size = {2, 3, 1, 1},
                       .pixel_bytes = 2},
                      dense_copy(memory + 9, in + 50, 2)};
    cc__copy down = {.destination = {out + 1, {2, 4, 99, 99}},
                     .source = {memory + 4, {2, 8, 99, 99}},
                     .size = {2, 3, 1, 1},
                     .pixel_bytes = 2};
    const int64_t queued = cc__emulated_count_live(backend).queued;
    ck_assert_int_eq(copy_boxes(up, 2), CC_OK);
    ck_assert_int_eq(copy_boxes(&down, 1), CC_OK);
    ck_assert_int_eq(cc__emulated_count_live(backend).queued, queued + 3);
    ck_assert(bytes_are(out, 0, BYTES));
    ck_assert_int_eq(backend->stream_synchronize(backend, 0, a0), CC_OK);

    memset(expected, 0, BYTES);
    memcpy(expected + 1, (unsigned char[]){10, 11, 12, 13, 26, 27, 28, 29, 42, 43, 44, 45}, 12);
    ck_assert_mem_eq(out, expected, BYTES);
    memset(expected, CC__EMULATED_FRESH, BYTES);
    memcpy(expected + 4, (unsigned char[]){10, 11, 12, 13}, 4);
    memcpy(expected + 9, (unsigned char[]){50, 51}, 2);
    memcpy(expected + 12, (unsigned char[]){26, 27, 28, 29}, 4);
    memcpy(expected + 20, (unsigned char[]){42, 43, 44, 45}, 4);
    ck_assert_mem_eq(memory, expected, BYTES);
}
END_TEST

/* A kernel reaches neither memory that is not registered, nor another device's, nor past the end of a registration. */
START_TEST(boxes_want_memory_that_a_kernel_reaches)
{
    unsigned char host[4 * BYTES] = {0}, pageable[BYTES] = {0};
    unsigned char *memory = allocate(0, a0, BYTES);
    unsigned char *other = allocate(1, c1, BYTES);
    ck_assert_int_eq(backend->host_register(backend, host, BYTES), CC_OK);
    ck_assert_int_eq(backend->host_register(backend, host + BYTES, BYTES), CC_OK);
    const struct {
        unsigned char *destination, *source;
        int64_t bytes;
        cc_status status;
    } cases[] = {{memory, host, BYTES, CC_OK},
                 {host, memory, BYTES, CC_OK},
                 {memory, memory + 32, 32, CC_OK},
                 {memory, pageable, 1, CC_ERROR_DEVICE},
                 {pageable, memory, 1, CC_ERROR_DEVICE},
                 {memory, other, 1, CC_ERROR_DEVICE},
                 {other, memory, 1, CC_ERROR_DEVICE},
                 {memory, host + 1, BYTES, CC_ERROR_DEVICE},
                 {memory, host + 2 * BYTES - 1, 2, CC_ERROR_DEVICE},
                 {memory + 1, host, BYTES, CC_ERROR_DEVICE},
                 {NULL, host, 1, CC_ERROR_DEVICE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        /* Between two that are right: one refused keeps all from being queued. */
        const cc__copy works[3] = {dense_copy(memory, host, 8),
                                   dense_copy(cases[i].destination, cases[i].source, cases[i].bytes),
                                   dense_copy(host, memory + 8, 8)};
        const int64_t queued = cc__emulated_count_live(backend).queued;
        ck_assert_msg(copy_boxes(works, 3) == cases[i].status, "case %zu", i);
        ck_assert_int_eq(cc__emulated_count_live(backend).queued, queued + (cases[i].status == CC_OK ? 3 : 0));
        if (cases[i].status != CC_OK)
            ck_assert_int_eq(cc_last_native_error(), 1);
    }
    ck_assert_int_eq(copy_boxes(NULL, 0), CC_OK);
    ck_assert_int_eq(backend->copy_boxes(backend, 0, (cc_stream)0xBAD0, NULL, 0), CC_ERROR_STREAM);
    cc__emulated_set_capturing(backend, 0, a0, true);
    const cc__copy work = dense_copy(memory, host, 8);
    ck_assert_int_eq(copy_boxes(&work, 1), CC_ERROR_DEVICE);
    ck_assert_int_eq(cc_last_native_error(), 900);
}
END_TEST

/* More boxes than a stream holds back. */
START_TEST(many_boxes_are_copied)
{
    enum {
        COUNT = 3000
    };
    static unsigned char in[COUNT], out[COUNT];
    static cc__copy works[COUNT];
    unsigned char *memory = allocate(0, a0, COUNT);
    ck_assert_int_eq(backend->host_register(backend, in, COUNT), CC_OK);
    ck_assert_int_eq(backend->host_register(backend, out, COUNT), CC_OK);
    for (int i = 0; i < COUNT; i++) {
        in[i] = (unsigned char)(i % 251);
        works[i] = dense_copy(memory + COUNT - 1 - i, in + i, 1);
    }
    ck_assert_int_eq(copy_boxes(works, COUNT), CC_OK);
    for (int i = 0; i < COUNT; i++)
        works[i] = dense_copy(out + i, memory + i, 1);
    ck_assert_int_eq(copy_boxes(works, COUNT), CC_OK);
    ck_assert_int_eq(backend->stream_synchronize(backend, 0, a0), CC_OK);
    for (int i = 0; i < COUNT; i++)
        ck_assert_int_eq(out[i], (COUNT - 1 - i) % 251);
}
END_TEST

/* _i: 0 the destination goes, 1 the source. */
START_TEST(boxes_lose_the_device_when_memory_goes_first)
{
    unsigned char host[BYTES] = {0};
    unsigned char *memory = allocate(0, a0, BYTES);
    ck_assert_int_eq(backend->host_register(backend, host, BYTES), CC_OK);
    const cc__copy works[2] = {dense_copy(memory, memory + 8, 8),
                               _i == 0 ? dense_copy(host, memory, 8) : dense_copy(memory, host, 8)};
    ck_assert_int_eq(copy_boxes(works, 2), CC_OK);
    ck_assert_int_eq(backend->host_unregister(backend, host), CC_OK);
    ck_assert_int_eq(backend->stream_synchronize(backend, 0, a0), CC_ERROR_DEVICE);
    ck_assert_int_eq(cc_last_native_error(), 700);
    ck_assert_int_eq(copy_boxes(works, 1), CC_ERROR_DEVICE);
}
END_TEST

/* A kernel that adds one byte to another. */
typedef struct sum {
    unsigned char *to;
    const unsigned char *from;
} sum;

static void add_on_host(const void *work)
{
    const sum *self = work;
    *self->to = (unsigned char)(*self->to + *self->from);
}

static int32_t touch_both(const void *work, cc__kernel_range out_ranges[CC__KERNEL_RANGES])
{
    const sum *self = work;
    out_ranges[0] = (cc__kernel_range){self->to, 1};
    out_ranges[1] = (cc__kernel_range){self->from, 1};
    return 2;
}

static const cc__kernel add_kernel = {
    .name = "add", .work_bytes = sizeof(sum), .on_host = add_on_host, .touches = touch_both};

START_TEST(kernels_run_in_stream_order_on_memory_of_the_device)
{
    unsigned char host[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    unsigned char *memory = allocate(0, a0, 8);
    sum work = {memory, memory + 7};
    ck_assert_int_eq(copy_bytes(backend, 0, a0, memory, host, 8), CC_OK);
    ck_assert_int_eq(queue_kernel(backend, 0, a0, &add_kernel, &work), CC_OK);
    work.from = memory + 1; /* the first work was copied */
    ck_assert_int_eq(queue_kernel(backend, 0, a0, &add_kernel, &work), CC_OK);
    ck_assert_int_eq(copy_bytes(backend, 0, a0, host, memory, 8), CC_OK);
    ck_assert_int_eq(backend->stream_synchronize(backend, 0, a0), CC_OK);
    ck_assert_int_eq(host[0], 1 + 8 + 2);

    work.from = memory + 8;
    ck_assert_int_eq(queue_kernel(backend, 0, a0, &add_kernel, &work), CC_ERROR_DEVICE);
    work.from = host;
    ck_assert_int_eq(queue_kernel(backend, 0, a0, &add_kernel, &work), CC_ERROR_DEVICE);
    work.from = memory;
    ck_assert_int_eq(queue_kernel(backend, 0, (cc_stream)0xBAD0, &add_kernel, &work), CC_ERROR_STREAM);
    ck_assert_int_eq(cc__emulated_count_live(backend).queued, 0);
    ck_assert_int_eq(queue_kernel(backend, 0, a0, &add_kernel, &work), CC_OK);
    ck_assert_int_eq(backend->free(backend, 0, a0, memory), CC_OK);
}
END_TEST

START_TEST(range_of_a_box_has_its_first_and_last_byte)
{
    unsigned char pixels[200];
    const cc__span span = {pixels + 100, {-4, 20, 0, 7}};
    const int64_t size[CC_MAX_DIMENSION] = {3, 2, 9, 1};
    const cc__kernel_range range = cc__kernel_range_of(&span, size, 4);
    ck_assert_ptr_eq(range.first, pixels + 100 - 8);
    ck_assert_int_eq(range.size_bytes, 8 + 20 + 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("emulated work");
    TCase *cases = tcase_create("work");
    tcase_add_checked_fixture(cases, two_devices_set_up, two_devices_tear_down);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, pageable_memory_is_copied_at_once);
    tcase_add_test(cases, copies_do_not_cross_the_border_of_registered_memory);
    tcase_add_test(cases, boxes_stay_inside_one_allocation);
    tcase_add_test(cases, fill_and_rescale_want_memory_of_their_device);
    tcase_add_test(cases, boxes_are_copied_late_and_in_order);
    tcase_add_test(cases, boxes_want_memory_that_a_kernel_reaches);
    tcase_add_test(cases, many_boxes_are_copied);
    tcase_add_test(cases, kernels_run_in_stream_order_on_memory_of_the_device);
    tcase_add_test(cases, range_of_a_box_has_its_first_and_last_byte);
    tcase_add_loop_test(cases, boxes_lose_the_device_when_memory_goes_first, 0, 2);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
