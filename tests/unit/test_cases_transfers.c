/* Cases of shared/cases.md about what moves, and when: T1, T2, T3, T14, T15, T23, T66, T67, T68, T79. */
#include "support/fixture.h"
#include "support/uniform.h"

#include <stdlib.h>
#include <string.h>

#define NEEDS_DEVICE()                                                                                                 \
    do {                                                                                                               \
        if (fixture_device_count() == 0)                                                                               \
            return;                                                                                                    \
    } while (0)

#define GUARD 0x5A

static int64_t calls_of(faulty_operation operation)
{
    return faulty_backend_counts(fixture_backend).calls[operation];
}

static void expect_copies(int64_t host_to_device, int64_t device_to_host)
{
    const faulty_counts counts = faulty_backend_counts(fixture_backend);
    ck_assert_int_eq(counts.host_to_device_copies, host_to_device);
    ck_assert_int_eq(counts.device_to_host_copies, device_to_host);
    ck_assert_int_eq(counts.device_to_device_copies, 0);
}

START_TEST(t1_replaced_host_memory_is_picked_up)
{
    NEEDS_DEVICE();
    cc_image *image = uniform_image(4, 2);
    float *a = uniform_memory(image, 1);
    float *b = uniform_memory(image, 2);
    const cc_wrap_params wrap_a = uniform_borrowed(image, a);
    const cc_wrap_params wrap_b = uniform_borrowed(image, b);
    fixture_ok(cc_image_wrap_host(image, &wrap_a));
    uniform_expect_on_device(image, 1);
    faulty_backend_reset_counts(fixture_backend);
    fixture_ok(cc_image_wrap_host(image, &wrap_b));
    free(a); /* read again, it would show under a sanitizer */
    uniform_expect_on_device(image, 2);
    expect_copies(1, 0);
    cc_image_release(image);
    free(b);
}
END_TEST

START_TEST(t2_pending_device_pixels_stay_out_of_new_host_memory)
{
    NEEDS_DEVICE();
    cc_image *image = uniform_image(4, 2);
    float *b = uniform_memory(image, 1);
    const cc_wrap_params wrap = uniform_borrowed(image, b);
    uniform_write_on_device(image, 99);
    faulty_backend_reset_counts(fixture_backend);
    fixture_ok(cc_image_wrap_host(image, &wrap));
    for (int32_t i = 0; i < 8; ++i)
        ck_assert(b[i] == 1);
    ck_assert_int_eq(uniform_state(image, cc_image_get_device(image)).valid_pixels, 0);
    ck_assert_int_eq(uniform_state(image, CC_PLACE_HOST).valid_pixels, 8);
    uniform_expect_on_host(image, 1);
    expect_copies(0, 0);
    cc_image_release(image);
    free(b);
}
END_TEST

START_TEST(t2_host_memory_of_another_size_is_refused)
{
    unsigned char memory[64];
    cc_image *image = uniform_image(256, 256);
    cc_wrap_params wrap = uniform_borrowed(image, memory);
    uniform_write_on_host(image, 99);
    memset(memory, GUARD, sizeof memory);
    wrap.size_bytes = 32;
    fixture_expect(CC_ERROR_SIZE, cc_image_wrap_host(image, &wrap));
    for (size_t i = 0; i < sizeof memory; ++i)
        ck_assert_int_eq(memory[i], GUARD);
    uniform_expect_on_host(image, 99);
    cc_image_release(image);
}
END_TEST

START_TEST(t3_new_pixels_are_not_uploaded)
{
    NEEDS_DEVICE();
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    params.dimension = 1;
    params.pixel_type = CC_PIXEL_FLOAT32;
    params.flags = _i == 0 ? CC_IMAGE_UNINITIALIZED : 0;
    params.region.size[0] = 16;
    cc_image *image = NULL;
    fixture_ok(cc_image_create(&params, &image));
    uniform_write_on_device(image, 3);
    expect_copies(0, 0);
    ck_assert_int_eq(calls_of(FAULTY_FILL), 0);
    uniform_expect_on_device(image, 3);
    cc_image_release(image);
}
END_TEST

START_TEST(t14_reading_on_the_host_leaves_device_memory_alone)
{
    NEEDS_DEVICE();
    cc_image *image = uniform_image(4, 2);
    void *first = NULL;
    void *second = NULL;
    uniform_write_on_host(image, 4);
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &first));
    fixture_ok(cc_image_unmap_device(image, first, CC_STREAM_DEFAULT));
    uniform_expect_on_host(image, 4);
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &second));
    ck_assert_ptr_eq(first, second);
    fixture_ok(cc_image_unmap_device(image, second, CC_STREAM_DEFAULT));
    ck_assert_int_eq(calls_of(FAULTY_FREE), 0);
    ck_assert_int_eq(uniform_state(image, cc_image_get_device(image)).valid_pixels, 8);
    ck_assert_int_eq(uniform_state(image, CC_PLACE_HOST).valid_pixels, 8);
    cc_image_release(image);
}
END_TEST

START_TEST(t14_lent_device_memory_is_not_evicted)
{
    NEEDS_DEVICE();
    cc_image *image = uniform_image(4, 2);
    cc_descriptor lent = CC_DESCRIPTOR_INIT;
    uniform_write_on_host(image, 4);
    fixture_ok(cc_image_map_descriptor(image, NULL, CC_ORDER_C, 0, CC_DEVICE_CURRENT, CC_ACCESS_READ, CC_STREAM_DEFAULT,
                                       &lent));
    fixture_expect(CC_ERROR_BUSY, cc_image_evict(image, lent.place));
    uniform_expect_on_host(image, 4);
    ck_assert_int_eq(calls_of(FAULTY_FREE), 0);
    ck_assert_uint_eq(uniform_state(image, lent.place).memory_bytes, 8 * sizeof(float));
    fixture_ok(cc_image_unmap_descriptor(image, &lent));
    fixture_ok(cc_image_evict(image, lent.place));
    ck_assert_int_eq(calls_of(FAULTY_FREE), 1);
    cc_image_release(image);
}
END_TEST

START_TEST(t15_looking_on_both_sides_copies_once)
{
    NEEDS_DEVICE();
    cc_image *image = uniform_image(4, 2);
    uniform_write_on_host(image, 5);
    for (int32_t round = 0; round < 3; ++round) {
        uniform_expect_on_device(image, 5);
        uniform_expect_on_host(image, 5);
    }
    expect_copies(1, 0);
    ck_assert_uint_eq(fixture_counters(image).avoided_copies, 1 + 2 + 3); /* the first write, then all but one look */
    cc_image_release(image);
}
END_TEST

START_TEST(t23_host_memory_waits_for_a_look_on_the_host)
{
    NEEDS_DEVICE();
    cc_image *image = uniform_image(1024, 1024);
    uniform_write_on_device(image, 6);
    uniform_expect_on_device(image, 6);
    ck_assert_uint_eq(fixture_counters(image).host_allocations, 0);
    ck_assert_uint_eq(uniform_state(image, CC_PLACE_HOST).memory_bytes, 0);
    uniform_expect_on_host(image, 6);
    ck_assert_uint_eq(fixture_counters(image).host_allocations, 1);
    uniform_expect_on_host(image, 6);
    ck_assert_uint_eq(fixture_counters(image).host_allocations, 1);
    cc_image_release(image);
}
END_TEST

START_TEST(t66_wrapped_host_memory_is_uploaded)
{
    NEEDS_DEVICE();
    cc_image *image = uniform_image(4, 2);
    float *memory = uniform_memory(image, 3);
    cc_wrap_params wrap = uniform_borrowed(image, memory);
    fixture_ok(cc_image_wrap_host(image, &wrap));
    uniform_expect_on_device(image, 3);
    expect_copies(1, 0);

    void *pixels = NULL;
    wrap.flags |= CC_WRAP_UNINITIALIZED;
    fixture_ok(cc_image_wrap_host(image, &wrap));
    fixture_expect(CC_ERROR_UNINITIALIZED,
                   cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
    uniform_write_on_device(image, 7);
    uniform_expect_on_device(image, 7);
    expect_copies(1, 0);
    cc_image_release(image);
    free(memory);
}
END_TEST

START_TEST(t67_changing_uploads_first_and_writing_does_not)
{
    NEEDS_DEVICE();
    cc_image *image = uniform_image(4, 2);
    void *pixels = NULL;
    uniform_write_on_host(image, 1);
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_READ_WRITE, CC_STREAM_DEFAULT, &pixels));
    expect_copies(1, 0);
    fixture_ok(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
    uniform_expect_on_host(image, 1);

    uniform_write_on_host(image, 2);
    faulty_backend_reset_counts(fixture_backend);
    fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_WRITE, CC_STREAM_DEFAULT, &pixels));
    expect_copies(0, 0);
    fixture_ok(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
    cc_image_release(image);
}
END_TEST

START_TEST(t68_a_view_and_its_parent_agree)
{
    NEEDS_DEVICE();
    cc_image *parent = uniform_image(4, 2);
    cc_image *view = NULL;
    const cc_region row = {.index = {0, 1}, .size = {4, 1}};
    uniform_write_on_host(parent, 1);
    fixture_ok(cc_image_create_view(parent, &row, &view));
    uniform_write_on_device(view, 8);
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(parent, NULL, CC_ACCESS_READ, &pixels));
    for (int32_t i = 0; i < 8; ++i)
        ck_assert(((const float *)pixels)[i] == (i < 4 ? 1 : 8));
    fixture_ok(cc_image_unmap_host(parent, pixels));
    expect_copies(0, 1);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).device_to_host_bytes, 4 * sizeof(float));
    cc_image_release(parent);
    uniform_expect_on_host(view, 8);
    cc_image_release(view);
}
END_TEST

/* The variant that discards is no call of ours: a writer with CC_ACCESS_WRITE, or cc_image_resize(), says the same. */
START_TEST(t79_eviction_saves_what_only_the_device_has)
{
    NEEDS_DEVICE();
    cc_image *image = uniform_image(4, 2);
    uniform_write_on_device(image, 9);
    const int32_t device = cc_image_get_device(image);
    fixture_ok(cc_image_evict(image, device));
    expect_copies(0, 1);
    ck_assert_int_eq(calls_of(FAULTY_FREE), 1);
    ck_assert_uint_eq(uniform_state(image, device).memory_bytes, 0);
    const int64_t calls = faulty_backend_counts(fixture_backend).total_calls;
    fixture_ok(cc_image_evict(image, device));
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).total_calls, calls);
    uniform_expect_on_host(image, 9);
    uniform_expect_on_device(image, 9);
    expect_copies(1, 1);
    cc_image_release(image);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cases: transfers");
    TCase *tcase = tcase_create("transfers");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_test(tcase, t1_replaced_host_memory_is_picked_up);
    tcase_add_test(tcase, t2_pending_device_pixels_stay_out_of_new_host_memory);
    tcase_add_test(tcase, t2_host_memory_of_another_size_is_refused);
    tcase_add_loop_test(tcase, t3_new_pixels_are_not_uploaded, 0, 2);
    tcase_add_test(tcase, t14_reading_on_the_host_leaves_device_memory_alone);
    tcase_add_test(tcase, t14_lent_device_memory_is_not_evicted);
    tcase_add_test(tcase, t15_looking_on_both_sides_copies_once);
    tcase_add_test(tcase, t23_host_memory_waits_for_a_look_on_the_host);
    tcase_add_test(tcase, t66_wrapped_host_memory_is_uploaded);
    tcase_add_test(tcase, t67_changing_uploads_first_and_writing_does_not);
    tcase_add_test(tcase, t68_a_view_and_its_parent_agree);
    tcase_add_test(tcase, t79_eviction_saves_what_only_the_device_has);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
