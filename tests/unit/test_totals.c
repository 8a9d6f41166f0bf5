/* What the library says of the whole process: totals of counters, the images that are alive, labels, device memory. */
#include "base/allocate.h"
#include "support/byte_pixels.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_I 8
#define SIZE_J 4
#define PIXELS ((uint64_t)SIZE_I * SIZE_J)

static cc_counters totals(void)
{
    cc_counters counters = CC_COUNTERS_INIT;
    fixture_ok(cc_get_total_counters(&counters));
    ck_assert_uint_eq(counters.struct_size, sizeof counters);
    return counters;
}

static cc_image *image_of_bytes(void)
{
    return fixture_image(CC_PIXEL_UINT8, 1, 2, SIZE_I, SIZE_J, 1);
}

/* Everything but the time, added up. */
static void add(cc_counters *sum, const cc_counters *more)
{
    sum->host_to_device_copies += more->host_to_device_copies;
    sum->host_to_device_bytes += more->host_to_device_bytes;
    sum->device_to_host_copies += more->device_to_host_copies;
    sum->device_to_host_bytes += more->device_to_host_bytes;
    sum->device_to_device_copies += more->device_to_device_copies;
    sum->device_to_device_bytes += more->device_to_device_bytes;
    sum->fills += more->fills;
    sum->avoided_copies += more->avoided_copies;
    sum->avoided_bytes += more->avoided_bytes;
    sum->host_allocations += more->host_allocations;
    sum->device_allocations += more->device_allocations;
    for (int32_t path = 0; path < CC_PATH_CAPACITY; ++path) {
        sum->host_to_device_paths[path].copies += more->host_to_device_paths[path].copies;
        sum->host_to_device_paths[path].bytes += more->host_to_device_paths[path].bytes;
        sum->device_to_host_paths[path].copies += more->device_to_host_paths[path].copies;
        sum->device_to_host_paths[path].bytes += more->device_to_host_paths[path].bytes;
    }
    sum->evictions += more->evictions;
    sum->transfer_nanoseconds += more->transfer_nanoseconds;
}

static void work_on(cc_image *image, unsigned char value)
{
    byte_pixels_write_host(image, NULL, value);
    if (fixture_device_count() == 0)
        return;
    byte_pixels_expect_device(image, NULL, value, CC_STREAM_DEFAULT);
    byte_pixels_write_device(image, NULL, value, CC_STREAM_DEFAULT);
    byte_pixels_expect_host(image, NULL, value);
    fixture_ok(cc_image_evict(image, 0));
}

START_TEST(totals_are_the_sums)
{
    cc_image *images[5] = {NULL};
    cc_counters sum = CC_COUNTERS_INIT;
    cc_reset_total_counters();
    for (int32_t i = 0; i < 5; ++i) {
        images[i] = image_of_bytes();
        for (int32_t times = 0; times <= i; ++times)
            work_on(images[i], (unsigned char)(i + 1));
    }
    for (int32_t i = 0; i < 5; ++i) {
        const cc_counters own = fixture_counters(images[i]);
        add(&sum, &own);
    }
    cc_counters all = totals();
    ck_assert_mem_eq(&all, &sum, sizeof all);
    ck_assert_uint_eq(all.host_allocations, 5);
    if (fixture_device_count() > 0) {
        ck_assert_uint_eq(all.host_to_device_bytes, (1 + 2 + 3 + 4 + 5) * PIXELS);
        ck_assert_uint_eq(all.device_to_host_bytes, (1 + 2 + 3 + 4 + 5) * PIXELS);
        ck_assert_uint_eq(all.evictions, 1 + 2 + 3 + 4 + 5);
    }
    /* What is gone has counted. */
    for (int32_t i = 0; i < 5; ++i)
        cc_image_release(images[i]);
    all = totals();
    ck_assert_mem_eq(&all, &sum, sizeof all);
}
END_TEST

START_TEST(paths_make_up_the_directions)
{
    cc_image *image = image_of_bytes();
    work_on(image, 3);
    work_on(image, 4);
    const cc_counters counters = fixture_counters(image);
    uint64_t up = 0, down = 0;
    for (int32_t path = 0; path < CC_PATH_CAPACITY; ++path) {
        up += counters.host_to_device_paths[path].bytes;
        down += counters.device_to_host_paths[path].bytes;
        ck_assert_int_eq(counters.host_to_device_paths[path].bytes > 0, counters.host_to_device_paths[path].copies > 0);
    }
    ck_assert_uint_eq(up, counters.host_to_device_bytes);
    ck_assert_uint_eq(down, counters.device_to_host_bytes);
    cc_image_release(image);
}
END_TEST

START_TEST(images_that_share_pixels_count_once)
{
    cc_image *image = image_of_bytes(), *view = NULL;
    const cc_region part = region_at(0, 0, 2, 2);
    cc_reset_total_counters();
    fixture_ok(cc_image_create_view(image, &part, &view));
    byte_pixels_write_host(image, NULL, 1);
    ck_assert_uint_eq(totals().host_allocations, 1);
    cc_image_release(image);
    ck_assert_uint_eq(totals().host_allocations, 1);
    cc_image_release(view);
    ck_assert_uint_eq(totals().host_allocations, 1);
}
END_TEST

START_TEST(resets_are_apart)
{
    cc_image *image = image_of_bytes();
    cc_counters none = CC_COUNTERS_INIT;
    cc_reset_total_counters();
    work_on(image, 1);
    const cc_counters before = totals();
    fixture_ok(cc_image_reset_counters(image));
    cc_counters own = fixture_counters(image), all = totals();
    ck_assert_int_eq(memcmp(&own, &none, sizeof own), 0);
    ck_assert_mem_eq(&all, &before, sizeof all);

    work_on(image, 2);
    own = fixture_counters(image);
    cc_reset_total_counters();
    all = totals();
    ck_assert_mem_eq(&all, &none, sizeof all);
    const cc_counters still = fixture_counters(image);
    ck_assert_mem_eq(&own, &still, sizeof own);
    byte_pixels_expect_host(image, NULL, 2);
    ck_assert_uint_eq(totals().avoided_copies, 1);
    ck_assert_uint_eq(totals().avoided_bytes, PIXELS);
    cc_image_release(image);
    ck_assert_uint_eq(totals().avoided_copies, 1);
}
END_TEST

#define THREADS 4
#define ROUNDS 50

static atomic_bool stop;

static void *use_images(void *unused)
{
    (void)unused;
    for (int32_t i = 0; i < ROUNDS; ++i) {
        cc_image *image = image_of_bytes();
        byte_pixels_write_host(image, NULL, 1);
        if (i % 3 == 0)
            fixture_ok(cc_image_reset_counters(image));
        cc_image_release(image);
    }
    return NULL;
}

static void *read_all(void *unused)
{
    cc_counters before = CC_COUNTERS_INIT;
    (void)unused;
    while (!atomic_load(&stop)) {
        cc_live_image images[8] = {CC_LIVE_IMAGE_INIT};
        int32_t count = 0;
        const cc_counters now = totals();
        ck_assert_uint_ge(now.host_allocations, before.host_allocations);
        ck_assert_uint_ge(now.avoided_bytes, before.avoided_bytes);
        before = now;
        fixture_ok(cc_live_images(8, images, &count));
        for (int32_t i = 0; i < count && i < 8; ++i)
            ck_assert_uint_eq(images[i].size_bytes, PIXELS);
    }
    return NULL;
}

START_TEST(threads_lose_no_count)
{
    pthread_t users[THREADS], reader;
    int32_t count = -1;
    cc_reset_total_counters();
    atomic_store(&stop, false);
    ck_assert_int_eq(pthread_create(&reader, NULL, read_all, NULL), 0);
    for (int32_t i = 0; i < THREADS; ++i)
        ck_assert_int_eq(pthread_create(&users[i], NULL, use_images, NULL), 0);
    for (int32_t i = 0; i < THREADS; ++i)
        pthread_join(users[i], NULL);
    atomic_store(&stop, true);
    pthread_join(reader, NULL);
    ck_assert_uint_eq(totals().host_allocations, (uint64_t)THREADS * ROUNDS);
    ck_assert_uint_eq(totals().avoided_bytes, (uint64_t)THREADS * ROUNDS * PIXELS);
    fixture_ok(cc_live_images(0, NULL, &count));
    ck_assert_int_eq(count, 0);
}
END_TEST

static cc_live_image find(const cc_image *image, int32_t *out_count)
{
    static cc_live_image images[64];
    cc_live_image found = CC_LIVE_IMAGE_INIT;
    int32_t times = 0;
    memset(images, 0, sizeof images);
    images[0].struct_size = sizeof images[0];
    fixture_ok(cc_live_images(64, images, out_count));
    for (int32_t i = 0; i < *out_count && i < 64; ++i) {
        ck_assert_uint_eq(images[i].struct_size, sizeof images[i]);
        if (images[i].image == image) {
            found = images[i];
            ++times;
        }
    }
    ck_assert_int_eq(times, 1);
    return found;
}

START_TEST(live_images_are_listed_as_they_are)
{
    const int64_t index[CC_MAX_DIMENSION] = {-7, 9, 0, 0};
    const cc_region part = region_at(-6, 10, 3, 2), other_size = region_at(5, 6, 3, 3);
    cc_image *image = fixture_image(CC_PIXEL_INT16, 2, 2, SIZE_I, SIZE_J, 1), *view = NULL;
    void *pixels = NULL;
    int32_t count = -1;
    fixture_ok(cc_image_set_index(image, index));
    fixture_ok(cc_image_set_label(image, "sinogram"));
    fixture_ok(cc_image_create_view(image, &part, &view));
    fixture_ok(cc_image_map_host(view, NULL, CC_ACCESS_WRITE, &pixels));

    const cc_live_image seen = find(image, &count), seen_view = find(view, &count);
    ck_assert_int_eq(count, 2);
    ck_assert_int_eq(seen.pixel_type, CC_PIXEL_INT16);
    ck_assert_int_eq(seen.components, 2);
    ck_assert_int_eq(seen.dimension, 2);
    ck_assert_int_eq(seen.device, CC_DEVICE_CURRENT);
    ck_assert_int_eq(seen.mapping_count, 0);
    ck_assert_uint_eq(seen.size_bytes, PIXELS * 4);
    ck_assert_uint_eq(seen.host_bytes, PIXELS * 4);
    ck_assert_uint_eq(seen.device_bytes, 0);
    ck_assert_str_eq(seen.label, "sinogram");
    const cc_region region = cc_image_get_region(image);
    ck_assert_mem_eq(&seen.region, &region, sizeof region);
    ck_assert_int_eq(seen_view.mapping_count, 1);
    ck_assert_uint_eq(seen_view.size_bytes, 24);
    ck_assert_uint_eq(seen_view.pixels_id, seen.pixels_id);
    ck_assert_uint_eq(seen_view.host_bytes, PIXELS * 4);
    ck_assert_str_eq(seen_view.label, "sinogram");
    ck_assert_int_eq(seen_view.region.index[0], -6);

    /* A mapping keeps its image alive, and listed. */
    cc_image_release(view);
    (void)find(view, &count);
    ck_assert_int_eq(count, 2);
    fixture_ok(cc_image_unmap_host(view, pixels));
    fixture_ok(cc_image_resize(image, &other_size));
    const cc_live_image resized = find(image, &count);
    ck_assert_int_eq(count, 1);
    ck_assert_uint_ne(resized.pixels_id, seen.pixels_id);
    ck_assert_uint_eq(resized.size_bytes, 36);
    ck_assert_uint_eq(resized.host_bytes, 0);
    ck_assert_str_eq(resized.label, "sinogram");
    cc_image_release(image);
    fixture_ok(cc_live_images(0, NULL, &count));
    ck_assert_int_eq(count, 0);
}
END_TEST

START_TEST(memory_on_every_device_is_listed)
{
    cc_image *image = image_of_bytes();
    int32_t count = -1;
    const int32_t devices = fixture_device_count();
    byte_pixels_write_host(image, NULL, 1);
    for (int32_t device = 0; device < devices; ++device)
        fixture_ok(cc_image_prefetch(image, NULL, device));
    ck_assert_uint_eq(find(image, &count).host_bytes, PIXELS);
    ck_assert_uint_eq(find(image, &count).device_bytes, (uint64_t)devices * PIXELS);
    cc_image_release(image);
}
END_TEST

START_TEST(there_may_be_more_images_than_room)
{
    cc_image *images[3];
    int32_t count = -1;
    for (int32_t i = 0; i < 3; ++i)
        images[i] = image_of_bytes();
    for (int32_t capacity = 0; capacity <= 3; ++capacity) {
        cc_live_image list[3];
        memset(list, 0x55, sizeof list);
        list[0].struct_size = sizeof list[0];
        fixture_ok(cc_live_images(capacity, list, &count));
        ck_assert_int_eq(count, 3);
        for (int32_t i = 0; i < 3; ++i)
            ck_assert_int_eq(list[i].components == 1, i < capacity);
    }
    for (int32_t i = 0; i < 3; ++i)
        cc_image_release(images[i]);
}
END_TEST

/* Elements as far apart as the caller's struct is long, which may know less or more than the library. */
START_TEST(elements_of_other_versions)
{
    cc_image *images[3] = {image_of_bytes(), image_of_bytes(), image_of_bytes()};
    const size_t lengths[] = {sizeof(uint32_t), offsetof(cc_live_image, region), sizeof(cc_live_image) + 24};
    for (size_t at = 0; at < sizeof lengths / sizeof lengths[0]; ++at) {
        const uint32_t length = (uint32_t)lengths[at];
        int32_t count = 0;
        unsigned char *list = malloc((size_t)length * 3);
        memset(list, 0x55, (size_t)length * 3);
        memcpy(list, &length, sizeof length);
        fixture_ok(cc_live_images(3, (cc_live_image *)(void *)list, &count));
        ck_assert_int_eq(count, 3);
        for (int32_t i = 0; i < 3; ++i) {
            uint32_t said = 0;
            memcpy(&said, list + (size_t)i * length, sizeof said);
            ck_assert_uint_eq(said, length);
            if (length > sizeof(cc_live_image))
                ck_assert_uint_eq(list[(size_t)(i + 1) * length - 1], 0x55);
        }
        free(list);
    }
    for (int32_t i = 0; i < 3; ++i)
        cc_image_release(images[i]);
}
END_TEST

/* Released in another order than made, so that they leave from everywhere in the lists. */
START_TEST(many_images)
{
    enum {
        MANY = 1000,
        STEP = 377
    };
    cc_image **images = malloc(MANY * sizeof *images);
    cc_live_image *list = malloc(MANY * sizeof *list);
    ck_assert(images != NULL && list != NULL);
    for (int32_t i = 0; i < MANY; ++i)
        images[i] = image_of_bytes();
    for (int32_t released = 0; released < MANY; ++released) {
        int32_t count = -1;
        cc_image_release(images[released * STEP % MANY]);
        list[0].struct_size = sizeof list[0];
        fixture_ok(cc_live_images(MANY, list, &count));
        ck_assert_int_eq(count, MANY - 1 - released);
    }
    free(list);
    free(images);
}
END_TEST

START_TEST(labels)
{
    char longest[CC_LABEL_BYTES + 1], label[CC_LABEL_BYTES];
    cc_image *image = image_of_bytes(), *other = image_of_bytes();
    memset(longest, 'x', sizeof longest);
    longest[CC_LABEL_BYTES] = '\0';
    fixture_ok(cc_image_get_label(image, label));
    ck_assert_str_eq(label, "");
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "64 bytes", cc_image_set_label(image, longest));
    fixture_ok(cc_image_get_label(image, label));
    ck_assert_str_eq(label, "");
    longest[CC_LABEL_BYTES - 1] = '\0';
    fixture_ok(cc_image_set_label(image, longest));
    fixture_ok(cc_image_get_label(image, label));
    ck_assert_str_eq(label, longest);
    fixture_ok(cc_image_set_label(image, "short"));
    fixture_ok(cc_image_get_label(image, label));
    ck_assert_str_eq(label, "short");
    fixture_ok(cc_image_set_label(other, "other"));
    fixture_ok(cc_image_graft(image, other));
    fixture_ok(cc_image_get_label(image, label));
    ck_assert_str_eq(label, "other");
    fixture_ok(cc_image_set_label(image, NULL));
    fixture_ok(cc_image_get_label(other, label));
    ck_assert_str_eq(label, "");
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_set_label(NULL, "a"));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_get_label(NULL, label));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_label", cc_image_get_label(image, NULL));
    cc_image_release(image);
    cc_image_release(other);
}
END_TEST

START_TEST(wrapping_keeps_the_label)
{
    unsigned char memory[PIXELS] = {0};
    char label[CC_LABEL_BYTES];
    int32_t count = 0;
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    cc_image *image = image_of_bytes();
    params.flags = CC_WRAP_BORROWED;
    params.data = memory;
    params.size_bytes = sizeof memory;
    fixture_ok(cc_image_set_label(image, "mine"));
    fixture_ok(cc_image_wrap_host(image, &params));
    fixture_ok(cc_image_get_label(image, label));
    ck_assert_str_eq(label, "mine");
    ck_assert_uint_eq(find(image, &count).host_bytes, PIXELS);
    cc_image_release(image);
}
END_TEST

START_TEST(bad_questions_are_refused)
{
    cc_counters counters = CC_COUNTERS_INIT;
    cc_live_image images[1] = {CC_LIVE_IMAGE_INIT};
    int32_t count = -5;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_reset_counters(NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_counters", cc_get_total_counters(NULL));
    counters.struct_size = 3;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size = 3", cc_get_total_counters(&counters));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_count", cc_live_images(1, images, NULL));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "capacity = -1", cc_live_images(-1, images, &count));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_images", cc_live_images(1, NULL, &count));
    images[0].struct_size = 0;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size = 0", cc_live_images(1, images, &count));
    ck_assert_int_eq(count, -5);
}
END_TEST

START_TEST(memory_of_a_device)
{
    size_t free_bytes = 11, total_bytes = 12;
    const int32_t devices = fixture_device_count();
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_free_bytes", cc_device_memory_info(0, NULL, &total_bytes));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "out_total_bytes", cc_device_memory_info(0, &free_bytes, NULL));
    if (devices == 0) {
        expect_failure(CC_ERROR_NO_DEVICE, "device", cc_device_memory_info(0, &free_bytes, &total_bytes));
    } else {
        expect_failure(CC_ERROR_INVALID_DEVICE, "device", cc_device_memory_info(-1, &free_bytes, &total_bytes));
        expect_failure(CC_ERROR_INVALID_DEVICE, "device", cc_device_memory_info(devices, &free_bytes, &total_bytes));
        const faulty_rule rule = {.operation = FAULTY_MEMORY_INFO, .nth = 1, .status = CC_ERROR_DEVICE};
        faulty_backend_add_rule(fixture_backend, &rule);
        expect_passed_on(CC_ERROR_DEVICE, cc_device_memory_info(0, &free_bytes, &total_bytes));
    }
    ck_assert_uint_eq(free_bytes, 11);
    ck_assert_uint_eq(total_bytes, 12);
    faulty_backend_clear_rules(fixture_backend);
    for (int32_t device = 0; device < devices; ++device) {
        fixture_ok(cc_device_memory_info(device, &free_bytes, &total_bytes));
        ck_assert_uint_gt(total_bytes, 0);
        ck_assert_uint_le(free_bytes, total_bytes);
    }
}
END_TEST

START_TEST(nothing_is_left_when_an_image_cannot_be_made)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *image = NULL;
    int32_t count = -1;
    cc_status status = CC_ERROR_OUT_OF_HOST_MEMORY;
    params.dimension = 1;
    params.region.size[0] = 1;
    for (long nth = 1; status != CC_OK; ++nth) {
        expect_allocations_to_fail_from(nth);
        status = cc_image_create(&params, &image);
        cc__allocate_set_hook(NULL);
        fixture_ok(cc_live_images(0, NULL, &count));
        ck_assert_int_eq(count, status == CC_OK);
        (void)totals();
    }
    cc_image_release(image);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("totals");
    TCase *tcase = tcase_create("totals");
    tcase_add_checked_fixture(tcase, fixture_setup, fixture_teardown);
    tcase_add_test(tcase, totals_are_the_sums);
    tcase_add_test(tcase, paths_make_up_the_directions);
    tcase_add_test(tcase, images_that_share_pixels_count_once);
    tcase_add_test(tcase, resets_are_apart);
    tcase_add_test(tcase, threads_lose_no_count);
    tcase_add_test(tcase, live_images_are_listed_as_they_are);
    tcase_add_test(tcase, memory_on_every_device_is_listed);
    tcase_add_test(tcase, there_may_be_more_images_than_room);
    tcase_add_test(tcase, elements_of_other_versions);
    tcase_add_test(tcase, many_images);
    tcase_add_test(tcase, labels);
    tcase_add_test(tcase, wrapping_keeps_the_label);
    tcase_add_test(tcase, bad_questions_are_refused);
    tcase_add_test(tcase, memory_of_a_device);
    tcase_add_test(tcase, nothing_is_left_when_an_image_cannot_be_made);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
