/* The memory that pixels have at one place: whose it is, and who frees it. */
#include "backend/emulated.h"
#include "base/allocate.h"
#include "memory/place_memory.h"
#include "support/dense_work.h"
#include "support/expect.h"
#include "support/faulty_backend.h"

#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

static long live_before;
static cc__backend *emulated, *backend;

static void set_up(void)
{
    live_before = cc__allocations_live();
    emulated = cc__backend_emulated_create(1);
    ck_assert_ptr_nonnull(emulated);
    backend = faulty_backend_create(emulated);
    ck_assert_ptr_nonnull(backend);
}

static void tear_down(void)
{
    cc__allocate_set_hook(NULL);
    ck_assert_int_eq(cc__emulated_count_live(emulated).allocations, 0);
    ck_assert_int_eq(cc__emulated_count_live(emulated).registrations, 0);
    faulty_backend_destroy(backend);
    cc__backend_emulated_destroy(emulated);
    ck_assert_int_eq(cc__allocations_live(), live_before);
}

static cc__layout layout_of(int64_t i, int64_t j, int64_t k)
{
    const int64_t size[CC_MAX_DIMENSION] = {i, j, k, 1};
    cc__layout layout;
    ck_assert_int_eq(cc__layout_dense("test", size, CC_PIXEL_FLOAT32, 3, &layout), CC_OK);
    return layout;
}

START_TEST(host_memory_is_zero_and_freed)
{
    const cc__layout layout = layout_of(5, 4, 3);
    cc__place_memory memory = {0};
    ck_assert_int_eq(cc__host_memory_allocate(&layout, &memory), CC_OK);
    ck_assert_uint_eq(memory.size_bytes, 5 * 4 * 3 * 12);
    ck_assert(bytes_are(memory.pixels, 0, memory.size_bytes));
    ck_assert_int_eq(memory.stride[0], 12);
    ck_assert_int_eq(memory.stride[1], 60);
    ck_assert_int_eq(memory.stride[2], 240);
    ck_assert(!memory.is_wrapped);
    ck_assert_int_eq(memory.registration, CC__REGISTRATION_NONE);
    ck_assert_int_eq(cc__allocations_live(), live_before + 1);
    /* No backend is needed for what was never registered. */
    cc__host_memory_free(NULL, &memory);
    ck_assert_ptr_null(memory.pixels);
    ck_assert_int_eq(cc__allocations_live(), live_before);
    cc__host_memory_free(NULL, &memory);
}
END_TEST

START_TEST(registered_host_memory_is_unregistered_first)
{
    const cc__layout layout = layout_of(64, 64, 64);
    cc__place_memory memory = {0};
    ck_assert_int_eq(cc__host_memory_allocate(&layout, &memory), CC_OK);
    ck_assert_int_eq(backend->host_register(backend, memory.pixels, memory.size_bytes), CC_OK);
    memory.registration = CC__REGISTRATION_DONE;
    cc__host_memory_free(backend, &memory);
    ck_assert_int_eq(faulty_backend_counts(backend).calls[FAULTY_HOST_UNREGISTER], 1);

    ck_assert_int_eq(cc__host_memory_allocate(&layout, &memory), CC_OK);
    memory.registration = CC__REGISTRATION_REFUSED;
    cc__host_memory_free(backend, &memory);
    ck_assert_int_eq(faulty_backend_counts(backend).calls[FAULTY_HOST_UNREGISTER], 1);
}
END_TEST

START_TEST(device_memory_is_allocated_and_freed_in_stream_order)
{
    const cc__layout layout = layout_of(5, 4, 3);
    cc__place_memory memory = {0};
    cc_stream stream = NULL;
    ck_assert_int_eq(backend->stream_create(backend, 0, &stream), CC_OK);
    ck_assert_int_eq(cc__device_memory_allocate(backend, 0, stream, &layout, &memory), CC_OK);
    ck_assert_uint_eq(memory.size_bytes, 720);
    ck_assert_int_eq(memory.stride[2], 240);
    ck_assert_int_eq(cc__emulated_count_live(emulated).allocated_bytes, 720);
    cc__device_memory_free(backend, 0, stream, &memory);
    ck_assert_ptr_null(memory.pixels);
    ck_assert_int_eq(cc__emulated_count_live(emulated).allocations, 0);
    cc__device_memory_free(backend, 0, stream, &memory);
    ck_assert_int_eq(faulty_backend_counts(backend).calls[FAULTY_FREE], 1);
    ck_assert_int_eq(backend->stream_synchronize(backend, 0, stream), CC_OK);
    backend->stream_destroy(backend, 0, stream);
}
END_TEST

START_TEST(wrapped_memory_is_left_alone)
{
    unsigned char bytes[16];
    cc__place_memory memory = {.pixels = bytes, .size_bytes = sizeof bytes, .is_wrapped = true};
    memset(bytes, 7, sizeof bytes);
    cc__host_memory_free(backend, &memory);
    ck_assert_ptr_null(memory.pixels);
    memory = (cc__place_memory){.pixels = bytes, .size_bytes = sizeof bytes, .is_wrapped = true};
    cc__device_memory_free(backend, 0, NULL, &memory);
    ck_assert_ptr_null(memory.pixels);
    ck_assert_int_eq(faulty_backend_counts(backend).total_calls, 0);
    ck_assert(bytes_are(bytes, 7, sizeof bytes));
}
END_TEST

START_TEST(without_memory_nothing_changes)
{
    const cc__layout layout = layout_of(64, 64, 64);
    unsigned char byte = 0;
    cc__place_memory memory = {.pixels = &byte};
    expect_allocations_to_fail_from(1);
    expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY, cc__host_memory_allocate(&layout, &memory));
    cc__allocate_set_hook(NULL);
    ck_assert_ptr_eq(memory.pixels, &byte);
    cc__emulated_set_memory_limit(emulated, MIB);
    expect_passed_on(CC_ERROR_OUT_OF_DEVICE_MEMORY, cc__device_memory_allocate(backend, 0, NULL, &layout, &memory));
    ck_assert_ptr_eq(memory.pixels, &byte);
}
END_TEST

START_TEST(more_than_an_address_space_is_not_to_be_had)
{
    const cc__layout layout = {.extent_bytes = INT64_MAX};
    cc__place_memory memory = {0};
    expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY, cc__host_memory_allocate(&layout, &memory));
    expect_passed_on(CC_ERROR_OUT_OF_DEVICE_MEMORY, cc__device_memory_allocate(backend, 0, NULL, &layout, &memory));
    ck_assert_ptr_null(memory.pixels);
}
END_TEST

START_TEST(a_span_starts_at_the_first_pixel_of_its_box)
{
    unsigned char bytes[4000];
    const cc__place_memory memory = {.pixels = bytes, .stride = {4, 100, 1000, 2000}};
    const cc__box box = {{3, 2, 1, 1}, {1, 1, 1, 1}};
    const cc__span span = cc__place_memory_span(&memory, &box);
    ck_assert_ptr_eq(span.data, bytes + 12 + 200 + 1000 + 2000);
    ck_assert_mem_eq(span.stride, memory.stride, sizeof memory.stride);
}
END_TEST

START_TEST(a_span_far_into_a_large_image)
{
    const cc__place_memory memory = {.pixels = (unsigned char *)4096, .stride = {1, 70000, 4900000000, 0}};
    const cc__box box = {{69999, 69999, 1, 0}, {1, 1, 1, 1}};
    ck_assert_uint_eq((uintptr_t)cc__place_memory_span(&memory, &box).data,
                      4096 + 69999 + 69999LL * 70000 + 4900000000);
}
END_TEST

START_TEST(page_locking_must_pay)
{
    cc__place_memory memory = {.size_bytes = MIB};
    ck_assert(cc__host_memory_is_worth_registering(&memory, MIB));
    ck_assert(cc__host_memory_is_worth_registering(&memory, MIB / 4));
    ck_assert(!cc__host_memory_is_worth_registering(&memory, MIB / 4 - 1));
    memory.size_bytes = MIB - 1;
    ck_assert(!cc__host_memory_is_worth_registering(&memory, MIB));
    memory.size_bytes = 100 * MIB;
    ck_assert(!cc__host_memory_is_worth_registering(&memory, 4));
    ck_assert(cc__host_memory_is_worth_registering(&memory, 25 * MIB));
    memory.is_wrapped = true;
    ck_assert(!cc__host_memory_is_worth_registering(&memory, 100 * MIB));
    memory.is_wrapped = false;
    for (int32_t registration = CC__REGISTRATION_UNDER_WAY; registration <= CC__REGISTRATION_REFUSED; ++registration) {
        memory.registration = (cc__registration)registration;
        ck_assert(!cc__host_memory_is_worth_registering(&memory, 100 * MIB));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("place_memory");
    TCase *tcase = tcase_create("place_memory");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, host_memory_is_zero_and_freed);
    tcase_add_test(tcase, registered_host_memory_is_unregistered_first);
    tcase_add_test(tcase, device_memory_is_allocated_and_freed_in_stream_order);
    tcase_add_test(tcase, wrapped_memory_is_left_alone);
    tcase_add_test(tcase, without_memory_nothing_changes);
    tcase_add_test(tcase, more_than_an_address_space_is_not_to_be_had);
    tcase_add_test(tcase, a_span_starts_at_the_first_pixel_of_its_box);
    tcase_add_test(tcase, a_span_far_into_a_large_image);
    tcase_add_test(tcase, page_locking_must_pay);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
