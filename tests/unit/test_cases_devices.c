/* Cases of shared/cases.md about the caller's devices and streams: T19, T20, T63, T64; and stream capture. */
#include "backend/emulated.h"
#include "support/fixture.h"
#include "support/uniform.h"

#include <stdlib.h>

#define NEEDS_EMULATED(count)                                                                                          \
    do {                                                                                                               \
        if (!fixture_is_emulated() || fixture_device_count() < (count))                                                \
            return;                                                                                                    \
    } while (0)

static void expect_current(int32_t device)
{
    int32_t current = -1;
    fixture_ok(fixture_inner->current_device(fixture_inner, &current));
    ck_assert_int_eq(current, device);
}

/* The call may succeed or fail; the caller's device stays. */
#define STAYS(call)                                                                                                    \
    do {                                                                                                               \
        (void)(call);                                                                                                  \
        expect_current(1);                                                                                             \
    } while (0)

/* Every call that could reach a device, on an image of device 2. */
static void call_everything(cc_image *image, cc_image *other)
{
    const float value = 4;
    const cc_region row = {.size = {4, 1}};
    const cc_region outside = {.index = {9, 9}, .size = {4, 4}};
    cc_wrap_params wrap = uniform_borrowed(image, uniform_device_memory(image, 2, 1));
    cc_descriptor lent = CC_DESCRIPTOR_INIT;
    cc_place_state state = CC_PLACE_STATE_INIT;
    cc_counters counters = CC_COUNTERS_INIT;
    cc_image *view = NULL;
    cc_region regions[4];
    int32_t count = 0;
    void *pixels = NULL;

    STAYS(cc_device_count());
    STAYS(cc_device_backend_name());
    STAYS(cc_stream_synchronize(2, CC_STREAM_DEFAULT));
    STAYS(cc_image_set_device(image, 2));
    STAYS(cc_image_set_device(image, 99));
    STAYS(cc_image_map_device(image, NULL, CC_ACCESS_READ_WRITE, CC_STREAM_DEFAULT, &pixels));
    STAYS(cc_image_map_device(image, NULL, CC_ACCESS_READ_WRITE, CC_STREAM_DEFAULT, &pixels));
    STAYS(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
    STAYS(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
    STAYS(cc_image_map_device(image, &outside, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
    STAYS(cc_image_map_host(image, NULL, CC_ACCESS_READ_WRITE, &pixels));
    STAYS(cc_image_unmap_host(image, pixels));
    STAYS(cc_image_map_descriptor(image, &row, CC_ORDER_C, 0, 2, CC_ACCESS_READ, CC_STREAM_DEFAULT, &lent));
    STAYS(cc_image_unmap_descriptor(image, &lent));
    STAYS(cc_image_fill(image, &row, &value, CC_STREAM_DEFAULT));
    STAYS(cc_image_fill(image, NULL, &value, CC_STREAM_DEFAULT));
    STAYS(cc_image_rescale(other, 2, 1, image, CC_STREAM_DEFAULT));
    STAYS(cc_image_rescale(image, 2, 1, image, CC_STREAM_DEFAULT));
    STAYS(cc_image_prefetch(image, NULL, CC_PLACE_HOST));
    STAYS(cc_image_prefetch(image, NULL, 0));
    STAYS(cc_image_prefetch(image, NULL, 99));
    STAYS(cc_image_evict(image, CC_PLACE_HOST));
    STAYS(cc_image_evict(image, 2));
    STAYS(cc_image_evict(image, 0));
    STAYS(cc_image_get_place_state(image, 2, &state));
    STAYS(cc_image_get_valid_regions(image, 2, 4, regions, &count));
    STAYS(cc_image_get_counters(image, &counters));
    STAYS(cc_image_create_view(image, &row, &view));
    STAYS(cc_image_map_device(view, NULL, CC_ACCESS_WRITE, CC_STREAM_DEFAULT, &pixels));
    STAYS(cc_image_unmap_device(view, pixels, CC_STREAM_DEFAULT));
    STAYS((cc_image_release(view), CC_OK));
    STAYS(cc_image_graft(other, image));
    STAYS(cc_image_resize(other, &row));
    STAYS(cc_image_wrap_device(image, &wrap, CC_STREAM_DEFAULT));
    STAYS(cc_image_map_device(image, NULL, CC_ACCESS_READ, CC_STREAM_DEFAULT, &pixels));
    STAYS(cc_image_unmap_device(image, pixels, CC_STREAM_DEFAULT));
    STAYS((cc_image_release(image), CC_OK));
    STAYS((cc_image_release(other), CC_OK));
    uniform_free_device_memory(2, wrap.data);
}

START_TEST(t19_the_current_device_stays)
{
    NEEDS_EMULATED(3);
    cc__emulated_set_current_device(fixture_inner, 1);
    cc_image *image = uniform_image(4, 2);
    cc_image *other = uniform_image(4, 2);
    if (_i != 0)
        faulty_backend_fail_nth(fixture_backend, _i, false);
    call_everything(image, other);
    faulty_backend_clear_rules(fixture_backend);
    cc__emulated_set_current_device(fixture_inner, 0);
}
END_TEST

START_TEST(t20_the_caller_chooses_the_device)
{
    NEEDS_EMULATED(3);
    cc__emulated_set_current_device(fixture_inner, 1);
    cc_image *image = uniform_image(4, 2);
    ck_assert_int_eq(cc_image_get_device(image), CC_DEVICE_CURRENT);
    uniform_write_on_device(image, 1);
    ck_assert_int_eq(cc_image_get_device(image), 1);
    ck_assert_int_eq(uniform_state(image, 1).valid_pixels, 8);
    cc__emulated_set_current_device(fixture_inner, 0);
    uniform_expect_on_device(image, 1);
    ck_assert_int_eq(cc_image_get_device(image), 1);

    fixture_ok(cc_image_set_device(image, 2));
    ck_assert_int_eq(uniform_state(image, 2).valid_pixels, 0);
    uniform_expect_on_device(image, 1);
    ck_assert_int_eq(uniform_state(image, 2).valid_pixels, 8);
    ck_assert_int_eq(uniform_state(image, 0).valid_pixels, 0);
    const faulty_counts counts = faulty_backend_counts(fixture_backend);
    ck_assert_int_eq(counts.device_to_device_copies, 1);
    ck_assert_int_eq(counts.host_to_device_copies + counts.device_to_host_copies, 0);

    fixture_expect(CC_ERROR_INVALID_DEVICE, cc_image_set_device(image, 99));
    fixture_expect(CC_ERROR_INVALID_DEVICE, cc_image_set_device(image, -1));
    ck_assert_int_eq(cc_image_get_device(image), 2);
    cc_image_release(image);
}
END_TEST

START_TEST(t63_host_use_never_touches_a_device)
{
    const float value = 3;
    const cc_region pixel = {.index = {1, 1}, .size = {1, 1}};
    void *pixels = NULL;
    ck_assert(cc_version_string()[0] != '\0');
    cc_image *image = uniform_image(4, 2);
    fixture_ok(cc_image_fill(image, NULL, &value, CC_STREAM_DEFAULT));
    uniform_expect_on_host(image, 3);
    fixture_ok(cc_image_fill(image, &pixel, &value, CC_STREAM_DEFAULT));
    fixture_ok(cc_image_map_host(image, &pixel, CC_ACCESS_READ_WRITE, &pixels));
    fixture_ok(cc_image_unmap_host(image, pixels));
    fixture_ok(cc_image_prefetch(image, NULL, CC_PLACE_HOST));
    fixture_ok(cc_image_rescale(image, 2, 0, image, CC_STREAM_DEFAULT));
    uniform_expect_on_host(image, 6);
    cc_image_release(image);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).total_calls, 0);
}
END_TEST

/* Nobody marks a side as modified here; who writes has the pixels mapped, and the second is refused. */
START_TEST(t64_two_sides_cannot_both_write)
{
    NEEDS_EMULATED(1);
    cc_image *image = uniform_image(4, 2);
    void *on_host = NULL;
    void *on_device = &image;
    uniform_write_on_host(image, 1);
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ_WRITE, &on_host));
    fixture_expect(CC_ERROR_BUSY, cc_image_map_device(image, NULL, CC_ACCESS_WRITE, CC_STREAM_DEFAULT, &on_device));
    ck_assert_ptr_eq(on_device, &image);
    ck_assert_int_eq(uniform_state(image, CC_PLACE_HOST).valid_pixels, 8);
    ck_assert_int_eq(faulty_backend_counts(fixture_backend).calls[FAULTY_ALLOCATE], 0);
    fixture_ok(cc_image_unmap_host(image, on_host));
    uniform_expect_on_device(image, 1);
    cc_image_release(image);
}
END_TEST

/* What a device call must leave as it was. */
typedef struct holding {
    int64_t valid_pixels[2];
    uint64_t memory_bytes[2];
    int32_t mapping_count[2];
    uint64_t generation;
    int64_t copies;
} holding;

static holding holding_of(cc_image *image)
{
    const faulty_counts counts = faulty_backend_counts(fixture_backend);
    holding held = {.generation = cc_image_get_generation(image),
                    .copies = counts.host_to_device_copies + counts.device_to_host_copies + counts.calls[FAULTY_FILL] +
                              counts.calls[FAULTY_RUN_KERNEL] + counts.calls[FAULTY_ALLOCATE]};
    for (cc_place place = CC_PLACE_HOST; place <= 0; ++place) {
        const cc_place_state state = uniform_state(image, place);
        held.valid_pixels[place + 1] = state.valid_pixels;
        held.memory_bytes[place + 1] = state.memory_bytes;
        held.mapping_count[place + 1] = state.mapping_count;
    }
    return held;
}

static void expect_same(cc_image *image, const holding *before)
{
    const holding now = holding_of(image);
    for (int32_t i = 0; i < 2; ++i) {
        ck_assert_int_eq(now.valid_pixels[i], before->valid_pixels[i]);
        ck_assert_uint_eq(now.memory_bytes[i], before->memory_bytes[i]);
        ck_assert_int_eq(now.mapping_count[i], before->mapping_count[i]);
    }
    ck_assert_uint_eq(now.generation, before->generation);
    ck_assert_int_eq(now.copies, before->copies);
}

START_TEST(nothing_happens_in_a_stream_that_is_captured)
{
    NEEDS_EMULATED(1);
    const float value = 4;
    const cc_region row = {.size = {4, 1}};
    const bool has_device_memory = _i != 0;
    cc_image *image = uniform_image(4, 2);
    cc_image *input = uniform_image(4, 2);
    void *memory = uniform_device_memory(image, 0, 9);
    const cc_wrap_params wrap = uniform_borrowed(image, memory);
    const cc_stream stream = fixture_stream_create(0);
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    void *pixels = &image;
    if (has_device_memory) {
        uniform_write_on_device(image, 1);
        uniform_write_on_device(input, 2);
    }
    const holding image_before = holding_of(image);
    const holding input_before = holding_of(input);
    cc__emulated_set_capturing(fixture_inner, 0, stream, true);
    for (cc_access access = CC_ACCESS_READ; access <= CC_ACCESS_READ_WRITE; ++access) {
        fixture_expect(CC_ERROR_CAPTURE, cc_image_map_device(image, NULL, access, stream, &pixels));
        fixture_expect(CC_ERROR_CAPTURE, cc_image_map_descriptor(image, &row, CC_ORDER_C, 0, CC_DEVICE_CURRENT, access,
                                                                 stream, &descriptor));
    }
    fixture_expect(CC_ERROR_CAPTURE, cc_image_fill(image, &row, &value, stream));
    fixture_expect(CC_ERROR_CAPTURE, cc_image_rescale(input, 2, 0, image, stream));
    fixture_expect(CC_ERROR_CAPTURE, cc_image_rescale(image, 2, 0, image, stream));
    fixture_expect(CC_ERROR_CAPTURE, cc_image_wrap_device(image, &wrap, stream));
    fixture_expect(CC_ERROR_CAPTURE, cc_stream_synchronize(0, stream));
    ck_assert_ptr_eq(pixels, &image);
    ck_assert_ptr_null(descriptor.data);
    expect_same(image, &image_before);
    expect_same(input, &input_before);
    cc__emulated_set_capturing(fixture_inner, 0, stream, false);
    fixture_ok(cc_image_rescale(input, 2, 0, image, stream));
    uniform_expect_on_host(image, has_device_memory ? 4 : 0);
    cc_image_release(image);
    cc_image_release(input);
    fixture_stream_destroy(0, stream);
    uniform_free_device_memory(0, memory);
}
END_TEST

START_TEST(unmapping_in_a_stream_that_is_captured_keeps_the_mapping)
{
    NEEDS_EMULATED(1);
    cc_image *image = uniform_image(4, 2);
    const cc_stream stream = fixture_stream_create(0);
    void *pixels = NULL;
    void *second = NULL;
    uniform_write_on_host(image, 1);
    const cc_access access = _i == 0 ? CC_ACCESS_READ : CC_ACCESS_READ_WRITE;
    fixture_ok(cc_image_map_device(image, NULL, access, stream, &pixels));
    if (access == CC_ACCESS_READ)
        fixture_ok(cc_image_map_device(image, NULL, access, stream, &second));
    const holding before = holding_of(image);
    cc__emulated_set_capturing(fixture_inner, 0, stream, true);
    fixture_expect(CC_ERROR_CAPTURE, cc_image_unmap_device(image, pixels, stream));
    expect_same(image, &before);
    cc__emulated_set_capturing(fixture_inner, 0, stream, false);
    fixture_ok(cc_image_unmap_device(image, pixels, stream));
    if (second != NULL)
        fixture_ok(cc_image_unmap_device(image, second, stream));
    uniform_expect_on_host(image, 1);
    cc_image_release(image);
    fixture_stream_destroy(0, stream);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cases: devices");
    TCase *tcase = tcase_create("devices");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_loop_test(tcase, t19_the_current_device_stays, 0, 100);
    tcase_add_test(tcase, t20_the_caller_chooses_the_device);
    tcase_add_test(tcase, t63_host_use_never_touches_a_device);
    tcase_add_test(tcase, t64_two_sides_cannot_both_write);
    tcase_add_loop_test(tcase, nothing_happens_in_a_stream_that_is_captured, 0, 2);
    tcase_add_loop_test(tcase, unmapping_in_a_stream_that_is_captured_keeps_the_mapping, 0, 2);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
