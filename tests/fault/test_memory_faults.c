/*
 * The ways in which pixels move, with the nth thing failing: staged through chunks, in parts of locked memory, wrapped,
 * from a caller's allocator. A call that fails leaves every pixel as it was, and works when it is tried again.
 */
#include "memory/crew.h"
#include "memory/movement.h"
#include "memory/transfer_streams.h"
#include "support/fault_sequence.h"
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define HANGS_AFTER_SECONDS 200

/* Images of bytes that are all one value, which is known. */
enum {
    OWN,       /* page-locked where it moves */
    WRAPPED,   /* pageable memory of the caller's, too much for one chunk */
    REUSED,    /* the same, page-locked in place, but for its first and last page */
    ALLOCATED, /* from an allocator, on both sides */
    IMAGES
};

static const int64_t width[IMAGES] = {2048, 2048, 1024, 512};
static const int64_t height[IMAGES] = {1024, 1100, 1100, 600};

typedef struct world {
    cc_image *images[IMAGES];
    int values[IMAGES];
    unsigned char *memory[IMAGES];
    cc_stream stream;
} world;

static world now;
static size_t direct_bytes_before;

static void *allocate(size_t size_bytes, size_t alignment_bytes, cc_place place, cc_stream stream, void *user_data)
{
    void *memory = NULL;
    (void)user_data;
    if (place == CC_PLACE_HOST)
        return posix_memalign(&memory, alignment_bytes, size_bytes) == 0 ? memory : NULL;
    return fixture_inner->allocate(fixture_inner, place, stream, size_bytes, &memory) == CC_OK ? memory : NULL;
}

static void give_back(void *memory, size_t size_bytes, cc_place place, cc_stream stream, void *user_data)
{
    (void)size_bytes, (void)user_data;
    if (place == CC_PLACE_HOST)
        free(memory);
    else
        (void)fixture_inner->free(fixture_inner, place, stream, memory);
}

static cc_status create(int image)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *created = NULL;
    params.dimension = 2;
    params.pixel_type = CC_PIXEL_UINT8;
    params.device = 0;
    params.region.size[0] = width[image];
    params.region.size[1] = height[image];
    cc_status status = cc_image_create(&params, &created);
    if (status == CC_OK && (image == WRAPPED || image == REUSED)) {
        cc_wrap_params wrap = CC_WRAP_PARAMS_INIT;
        wrap.flags = CC_WRAP_BORROWED | (image == REUSED ? CC_WRAP_REUSED : 0);
        wrap.size_bytes = (size_t)(width[image] * height[image]);
        wrap.data = now.memory[image];
        status = cc_image_wrap_host(created, &wrap);
    }
    if (status == CC_OK && image == ALLOCATED) {
        cc_allocator allocator = CC_ALLOCATOR_INIT;
        allocator.allocate = allocate;
        allocator.free = give_back;
        status = cc_image_set_host_allocator(created, &allocator);
        if (status == CC_OK)
            status = cc_image_set_device_allocator(created, &allocator);
    }
    if (status == CC_OK)
        now.images[image] = created;
    else
        cc_image_release(created);
    return status;
}

static cc_status write_on_host(int image, int value)
{
    void *pixels = NULL;
    const cc_status status = cc_image_map_host(now.images[image], NULL, CC_ACCESS_WRITE, &pixels);
    if (status != CC_OK)
        return status;
    memset(pixels, value, (size_t)(width[image] * height[image]));
    now.values[image] = value;
    return cc_image_unmap_host(now.images[image], pixels);
}

/* Late. An unmap that fails leaves the mapping, and is tried again. */
static cc_status write_on_device(int image, int value)
{
    void *pixels = NULL;
    cc_status status = cc_image_map_device(now.images[image], NULL, CC_ACCESS_WRITE, now.stream, &pixels);
    if (status != CC_OK)
        return status;
    const int64_t row = width[image];
    const cc__fill work = {.destination = {.data = pixels, .stride = {1, row, row, row}},
                           .size = {row, height[image], 1, 1},
                           .pixel_bytes = 1,
                           .value = {(unsigned char)value}};
    fixture_ok(fixture_inner->fill(fixture_inner, 0, now.stream, &work));
    now.values[image] = value;
    status = cc_image_unmap_device(now.images[image], pixels, now.stream);
    if (status == CC_OK)
        return CC_OK;
    (void)fault_sequence_stop();
    fixture_ok(cc_image_unmap_device(now.images[image], pixels, now.stream));
    return CC_OK;
}

/* Pixels that lie apart: a few columns of each row. */
static cc_status prefetch_columns(int image, int value)
{
    (void)value;
    const cc_region columns = {.index = {5, 3}, .size = {7, height[image] - 7}};
    return cc_image_prefetch(now.images[image], &columns, CC_PLACE_HOST);
}

static cc_status prefetch_rows_up(int image, int value)
{
    (void)value;
    const cc_region rows = {.index = {0, 9}, .size = {width[image], 40}};
    return cc_image_prefetch(now.images[image], &rows, 0);
}

static cc_status prefetch_up(int image, int value)
{
    (void)value;
    return cc_image_prefetch(now.images[image], NULL, 0);
}

static cc_status prefetch_down(int image, int value)
{
    (void)value;
    return cc_image_prefetch(now.images[image], NULL, CC_PLACE_HOST);
}

static cc_status evict_host(int image, int value)
{
    (void)value;
    return cc_image_evict(now.images[image], CC_PLACE_HOST);
}

static cc_status evict_device(int image, int value)
{
    (void)value;
    return cc_image_evict(now.images[image], 0);
}

static cc_status make(int image, int value)
{
    (void)value;
    return create(image);
}

typedef struct step {
    cc_status (*run)(int image, int value);
    int value;
} step;

/* Done with each image in turn. */
static const step steps[] = {
    {make, 0},          {write_on_host, 1},   {prefetch_rows_up, 0},
    {prefetch_up, 0},   {write_on_device, 2}, {prefetch_columns, 0},
    {prefetch_down, 0}, {evict_device, 0},    {prefetch_up, 0},
    {evict_host, 0},    {write_on_device, 3}, {evict_device, 0},
    {prefetch_up, 0},   {write_on_device, 4},
};
#define STEPS ((int32_t)(sizeof steps / sizeof *steps))

static void check(int image, const char *when)
{
    unsigned char *pixels = NULL;
    int64_t wrong = 0;
    if (now.images[image] == NULL)
        return;
    fixture_ok(cc_image_map_host(now.images[image], NULL, CC_ACCESS_READ, (void **)&pixels));
    for (int64_t i = 0; i < width[image] * height[image]; ++i)
        wrong += pixels[i] != now.values[image];
    ck_assert_msg(wrong == 0, "%s: %lld pixels of image %d are not %d", when, (long long)wrong, image,
                  now.values[image]);
    fixture_ok(cc_image_unmap_host(now.images[image], pixels));
}

static void begin(int image)
{
    memset(&now, 0, sizeof now);
    now.stream = fixture_stream_create(0);
    now.memory[image] = malloc((size_t)(width[image] * height[image]));
    ck_assert_ptr_nonnull(now.memory[image]);
    memset(now.memory[image], 0, (size_t)(width[image] * height[image]));
}

static void end(int image)
{
    cc_image_release(now.images[image]);
    (void)fixture_inner->stream_synchronize(fixture_inner, 0, now.stream);
    fixture_stream_destroy(0, now.stream);
    free(now.memory[image]);
    fixture_teardown();
    fixture_setup();
}

typedef enum when_to_look {
    LOOK_AFTERWARDS = 0, /* the call is tried again first */
    LOOK_FIRST = 1,
    LOOK_LATE = 2 /* afterwards, and what a failed call has left in the library's streams runs last of all */
} when_to_look;
#define LOOKS 3

/* Returns how many things could have failed. */
static int64_t run_with_fault(int image, int64_t nth, bool all_of_the_call, when_to_look look)
{
    char when[128];
    begin(image);
    fault_sequence_start(nth, all_of_the_call);
    for (int32_t i = 0; i < STEPS; ++i) {
        const bool had_failed = fault_sequence_failed() != 0;
        cc_status status = steps[i].run(image, steps[i].value);
        snprintf(when, sizeof when, "image %d, fault %lld, step %d", image, (long long)nth, (int)i);
        if (had_failed || fault_sequence_failed() == 0) {
            ck_assert_msg(status == CC_OK, "%s: %s (%s)", when, cc_status_name(status), cc_last_error_message());
            continue;
        }
        (void)fault_sequence_stop();
        ck_assert_msg(status == CC_OK || status == CC_ERROR_DEVICE || status == CC_ERROR_OUT_OF_HOST_MEMORY, "%s: %s",
                      when, cc_status_name(status));
        if (status == CC_ERROR_DEVICE)
            ck_assert_msg(cc_last_native_error() == FAULTY_NATIVE_ERROR, "%s: native error %d", when,
                          (int)cc_last_native_error());
        if (look == LOOK_FIRST)
            check(image, when);
        if (status != CC_OK)
            status = steps[i].run(image, steps[i].value);
        ck_assert_msg(status == CC_OK, "%s, again: %s (%s)", when, cc_status_name(status), cc_last_error_message());
        if (look != LOOK_LATE)
            check(image, when);
    }
    const int64_t count = fault_sequence_stop();
    if (look == LOOK_LATE)
        cc__transfer_streams_synchronize(fixture_inner, 0);
    check(image, "at the end");
    end(image);
    return count;
}

static void set_up(void)
{
    alarm(HANGS_AFTER_SECONDS);
    fixture_setup();
    /* The sequence is of one thread; and nothing is left to the driver. */
    cc__crew_cores = 1;
    direct_bytes_before = cc__movement_direct_bytes;
    cc__movement_direct_bytes = 0;
}

static void tear_down(void)
{
    cc__movement_direct_bytes = direct_bytes_before;
    cc__crew_cores = 0;
    fixture_teardown();
    alarm(0);
}

START_TEST(each_fault)
{
    const int image = _i % IMAGES;
    const bool all_of_the_call = _i / IMAGES == 1;
    if (fixture_device_count() == 0)
        return;
    const int64_t count = run_with_fault(image, 0, false, LOOK_AFTERWARDS);
    ck_assert_int_gt(count, 10);
    for (int64_t nth = 1; nth <= count; nth += FAULT_STEP) {
        /* Not in all ways: these images take long to look at. */
        for (int look = 0; look < LOOKS; ++look)
            if (all_of_the_call ? look == nth % LOOKS : look != nth % LOOKS)
                run_with_fault(image, nth, all_of_the_call, (when_to_look)look);
    }
}
END_TEST

/* Everything fails from one moment on; what there was is there still when that is over. */
START_TEST(for_ever)
{
    if (fixture_device_count() == 0)
        return;
    const int64_t count = run_with_fault(_i, 0, false, LOOK_AFTERWARDS);
    for (int64_t nth = 1; nth <= count; nth += FAULT_STEP) {
        begin(_i);
        fault_sequence_start(nth, true);
        for (int32_t i = 0; i < STEPS; ++i)
            if (now.images[_i] != NULL || i == 0)
                (void)steps[i].run(_i, steps[i].value);
        (void)fault_sequence_stop();
        check(_i, "when it is over");
        end(_i);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory_faults");
    TCase *tcase = tcase_create("memory_faults");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 2 * HANGS_AFTER_SECONDS);
    tcase_add_loop_test(tcase, each_fault, 0, 2 * IMAGES);
    tcase_add_loop_test(tcase, for_ever, 0, IMAGES);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
