/* The memory that pixels have at one place: whose it is, and who frees it. */
#include "backend/emulated.h"
#include "base/allocate.h"
#include "memory/host_pool.h"
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
    cc__host_pool_trim(0);
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
    ck_assert_int_eq(cc__host_memory_allocate(&layout, NULL, &memory), CC_OK);
    ck_assert_uint_eq(memory.size_bytes, 5 * 4 * 3 * 12);
    ck_assert(bytes_are(memory.pixels, 0, memory.size_bytes));
    ck_assert_int_eq(memory.stride[0], 12);
    ck_assert_int_eq(memory.stride[1], 60);
    ck_assert_int_eq(memory.stride[2], 240);
    ck_assert(!memory.is_wrapped);
    ck_assert(memory.host->is_zero);
    ck_assert_ptr_eq(memory.host->bytes, memory.pixels);
    ck_assert_uint_eq(cc__place_memory_locked_bytes(&memory), 0);
    /* The pages, and what is known of them. */
    ck_assert_int_eq(cc__allocations_live(), live_before + 2);
    cc__host_memory_free(&memory, true);
    ck_assert_ptr_null(memory.pixels);
    ck_assert_ptr_null(memory.host);
    ck_assert_int_eq(cc__allocations_live(), live_before);
    cc__host_memory_free(&memory, true);
}
END_TEST

START_TEST(locked_host_memory_is_unlocked_first_or_kept)
{
    const cc__layout layout = layout_of(64, 64, 64);
    cc__place_memory memory = {0};
    ck_assert_int_eq(cc__host_memory_allocate(&layout, NULL, &memory), CC_OK);
    cc__host_memory_lock(memory.host, backend, (cc__range){0, memory.size_bytes});
    ck_assert_uint_ge(cc__place_memory_locked_bytes(&memory), memory.size_bytes);
    /* A copy may still write to it: the next image does not get it. */
    cc__host_memory_free(&memory, false);
    ck_assert_int_eq(faulty_backend_counts(backend).calls[FAULTY_HOST_UNREGISTER], 0);
    ck_assert_uint_eq(cc__host_pool_bytes(), 0);
    ck_assert_int_eq(cc__host_memory_allocate(&layout, NULL, &memory), CC_OK);
    ck_assert(memory.host->is_zero);
    cc__host_memory_free(&memory, true);
    cc__host_pool_trim(0);
    ck_assert_int_eq(faulty_backend_counts(backend).calls[FAULTY_HOST_UNREGISTER], 1);

    ck_assert_int_eq(cc__host_memory_allocate(&layout, NULL, &memory), CC_OK);
    cc__host_memory_lock(memory.host, backend, (cc__range){0, memory.size_bytes});
    cc__host_memory_free(&memory, true);
    ck_assert_int_eq(faulty_backend_counts(backend).calls[FAULTY_HOST_UNREGISTER], 1);
    ck_assert_uint_eq(cc__host_pool_bytes(), (size_t)layout.extent_bytes);
    ck_assert_int_eq(cc__host_memory_allocate(&layout, NULL, &memory), CC_OK);
    ck_assert(!memory.host->is_zero);
    ck_assert_uint_eq(cc__host_pool_bytes(), 0);
    cc__host_memory_free(&memory, false);
    cc__host_pool_trim(0);
    ck_assert_int_eq(faulty_backend_counts(backend).calls[FAULTY_HOST_UNREGISTER], 2);
}
END_TEST

START_TEST(device_memory_is_allocated_and_freed_in_stream_order)
{
    const cc__layout layout = layout_of(5, 4, 3);
    cc__place_memory memory = {0};
    cc_stream stream = NULL;
    ck_assert_int_eq(backend->stream_create(backend, 0, &stream), CC_OK);
    ck_assert_int_eq(cc__device_memory_allocate(backend, 0, stream, &layout, NULL, &memory), CC_OK);
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
    cc__host_memory_free(&memory, true);
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
    for (long nth = 1; nth <= 2; ++nth) {
        expect_allocations_to_fail_from(nth);
        expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY, cc__host_memory_allocate(&layout, NULL, &memory));
    }
    cc__allocate_set_hook(NULL);
    ck_assert_ptr_eq(memory.pixels, &byte);
    cc__emulated_set_memory_limit(emulated, MIB);
    expect_passed_on(CC_ERROR_OUT_OF_DEVICE_MEMORY,
                     cc__device_memory_allocate(backend, 0, NULL, &layout, NULL, &memory));
    ck_assert_ptr_eq(memory.pixels, &byte);
}
END_TEST

START_TEST(more_than_an_address_space_is_not_to_be_had)
{
    const cc__layout layout = {.extent_bytes = INT64_MAX};
    cc__place_memory memory = {0};
    expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY, cc__host_memory_allocate(&layout, NULL, &memory));
    expect_passed_on(CC_ERROR_OUT_OF_DEVICE_MEMORY,
                     cc__device_memory_allocate(backend, 0, NULL, &layout, NULL, &memory));
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

START_TEST(wrapped_memory_that_is_used_again_can_be_locked)
{
    unsigned char *bytes = cc__pages_allocate(2 * MIB);
    cc__place_memory memory = {.pixels = bytes + 100, .size_bytes = 2 * MIB - 200, .is_wrapped = true};
    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(cc__host_memory_make_lockable(&memory), CC_OK);
    cc__host_memory_lock(memory.host, backend, (cc__range){0, memory.size_bytes});
    /* Its first and last page may hold somebody else's data. */
    ck_assert_uint_eq(cc__place_memory_locked_bytes(&memory), 2 * MIB - 2 * 4096);
    bytes[100] = 7;
    cc__host_memory_free(&memory, true);
    ck_assert_int_eq(faulty_backend_counts(backend).calls[FAULTY_HOST_UNREGISTER], 1);
    ck_assert_uint_eq(cc__host_pool_bytes(), 0);
    ck_assert_int_eq(bytes[100], 7);
    cc__pages_free(bytes, 2 * MIB);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("place_memory");
    TCase *tcase = tcase_create("place_memory");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, host_memory_is_zero_and_freed);
    tcase_add_test(tcase, locked_host_memory_is_unlocked_first_or_kept);
    tcase_add_test(tcase, device_memory_is_allocated_and_freed_in_stream_order);
    tcase_add_test(tcase, wrapped_memory_is_left_alone);
    tcase_add_test(tcase, without_memory_nothing_changes);
    tcase_add_test(tcase, more_than_an_address_space_is_not_to_be_had);
    tcase_add_test(tcase, a_span_starts_at_the_first_pixel_of_its_box);
    tcase_add_test(tcase, a_span_far_into_a_large_image);
    tcase_add_test(tcase, wrapped_memory_that_is_used_again_can_be_locked);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
