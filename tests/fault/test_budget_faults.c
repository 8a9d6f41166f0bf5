/*
 * Images that do not all fit on the device, with the nth thing failing: while others leave to make room, while pixels
 * are discarded or trimmed, while limits change. No pixel is lost, what is held is counted right, and the same call
 * then works.
 */
#include "memory/budget.h"
#include "memory/crew.h"
#include "memory/movement.h"
#include "memory/transfer_streams.h"
#include "support/fault_sequence.h"
#include "support/fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HANGS_AFTER_SECONDS 200

/* Images of bytes, each all one value. */
enum {
    OWN,
    OTHER,
    ALLOCATED, /* from an allocator, on both sides */
    WRAPPED,   /* pageable memory of the caller's */
    IMAGES
};

/* Too small for page-locking, and just large enough. */
static const int64_t widths[] = {40, 1100};
static const int64_t heights[] = {30, 1000};
#define SIZES 2
#define LARGE 1
/* Large images take long to look at. */
#define STEP_OF(size) ((size) == LARGE ? 4 * FAULT_STEP : FAULT_STEP)

static struct {
    int64_t width;
    int64_t height;
    cc_image *images[IMAGES];
    int values[IMAGES]; /* -1: undefined */
    unsigned char *memory;
    cc_stream stream;
    size_t limit_bytes;
    int64_t allocator_blocks;
} now;

static size_t image_bytes(void)
{
    return (size_t)(now.width * now.height);
}

static void *allocate(size_t size_bytes, size_t alignment_bytes, cc_place place, cc_stream stream, void *user_data)
{
    void *memory = NULL;
    (void)user_data;
    if (fault_sequence_allocator_fails())
        return NULL;
    if (place == CC_PLACE_HOST)
        memory = posix_memalign(&memory, alignment_bytes, size_bytes) == 0 ? memory : NULL;
    else if (fixture_inner->allocate(fixture_inner, place, stream, size_bytes, &memory) != CC_OK)
        memory = NULL;
    now.allocator_blocks += memory != NULL;
    return memory;
}

static void give_back(void *memory, size_t size_bytes, cc_place place, cc_stream stream, void *user_data)
{
    (void)user_data;
    --now.allocator_blocks;
    if (place != CC_PLACE_HOST) {
        (void)fixture_inner->free(fixture_inner, place, stream, memory);
        return;
    }
    memset(memory, 0xDD, size_bytes);
    free(memory);
}

static cc_status set_allocators(cc_image *image)
{
    cc_allocator allocator = CC_ALLOCATOR_INIT;
    allocator.allocate = allocate;
    allocator.free = give_back;
    const cc_status status = cc_image_set_host_allocator(image, &allocator);
    return status == CC_OK ? cc_image_set_device_allocator(image, &allocator) : status;
}

/* The whole image, late. An unmap that fails leaves the mapping, and is tried again. */
static cc_status write_on_device(int image, int value)
{
    void *pixels = NULL;
    cc_status status = cc_image_map_device(now.images[image], NULL, CC_ACCESS_WRITE, now.stream, &pixels);
    if (status != CC_OK)
        return status;
    const cc__fill work = {.destination = {.data = pixels, .stride = {1, now.width, now.width, now.width}},
                           .size = {now.width, now.height, 1, 1},
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

static cc_status write_on_host(int image, int value)
{
    void *pixels = NULL;
    const cc_status status = cc_image_map_host(now.images[image], NULL, CC_ACCESS_WRITE, &pixels);
    if (status != CC_OK)
        return status;
    memset(pixels, value, image_bytes());
    now.values[image] = value;
    return cc_image_unmap_host(now.images[image], pixels);
}

static cc_status read_on_host(int image, int value)
{
    void *pixels = NULL;
    (void)value;
    const cc_status status = cc_image_map_host(now.images[image], NULL, CC_ACCESS_READ, &pixels);
    if (status != CC_OK)
        return status;
    ck_assert_int_eq(*(unsigned char *)pixels, now.values[image]);
    return cc_image_unmap_host(now.images[image], pixels);
}

/* Rows, then columns, so that there are several boxes to bring back. */
static cc_status fill_parts(int image, int value)
{
    const unsigned char pixel = (unsigned char)now.values[image];
    const cc_region rows = {.index = {0, 5}, .size = {now.width, 3}};
    const cc_region columns = {.index = {value, 10}, .size = {2, 9}};
    const cc_status status = cc_image_fill(now.images[image], &rows, &pixel, now.stream);
    return status == CC_OK ? cc_image_fill(now.images[image], &columns, &pixel, now.stream) : status;
}

static cc_status prefetch_up(int image, int value)
{
    (void)value;
    return cc_image_prefetch(now.images[image], NULL, 0);
}

static cc_status evict(int image, int value)
{
    (void)value;
    return cc_image_evict(now.images[image], 0);
}

static cc_status set_priority(int image, int value)
{
    return cc_image_set_priority(now.images[image], value);
}

static cc_status set_limit(int image, int value)
{
    (void)image;
    now.limit_bytes = (size_t)value * image_bytes();
    return cc_device_set_limit(0, now.limit_bytes, 0);
}

static cc_status discard(int image, int value)
{
    (void)value;
    const cc_status status = cc_image_discard(now.images[image], NULL);
    if (status == CC_OK)
        now.values[image] = -1;
    return status;
}

static cc_status trim_device(int image, int value)
{
    (void)image, (void)value;
    return cc_device_trim(0, 0);
}

static cc_status trim_host(int image, int value)
{
    (void)image, (void)value;
    cc_host_trim(0);
    return CC_OK;
}

static cc_status release(int image, int value)
{
    (void)value;
    cc_image_release(now.images[image]);
    now.images[image] = NULL;
    return CC_OK;
}

static cc_status wrap(int image, int value)
{
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    params.flags = CC_WRAP_BORROWED;
    params.size_bytes = image_bytes();
    params.data = now.memory;
    memset(now.memory, value, image_bytes());
    const cc_status status = cc_image_wrap_host(now.images[image], &params);
    if (status == CC_OK)
        now.values[image] = value;
    return status;
}

static cc_status make(int image, int value)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *created = NULL;
    params.dimension = 2;
    params.pixel_type = CC_PIXEL_UINT8;
    params.device = 0;
    params.region.size[0] = now.width;
    params.region.size[1] = now.height;
    cc_status status = cc_image_create(&params, &created);
    if (status == CC_OK && image == ALLOCATED)
        status = set_allocators(created);
    if (status != CC_OK) {
        cc_image_release(created);
        return status;
    }
    now.images[image] = created;
    now.values[image] = value;
    return CC_OK;
}

typedef struct step {
    cc_status (*run)(int image, int value);
    int image;
    int value;
} step;

static const step steps[] = {
    {make, OWN, 0},
    {make, OTHER, 0},
    {make, ALLOCATED, 0},
    {make, WRAPPED, 0},
    {wrap, WRAPPED, 9},
    {set_limit, OWN, 2},
    {write_on_device, OWN, 1},
    {write_on_device, OTHER, 2},
    {write_on_device, ALLOCATED, 3}, /* the first leaves, with a copy */
    {fill_parts, ALLOCATED, 3},
    {prefetch_up, WRAPPED, 0}, /* and the second */
    {read_on_host, ALLOCATED, 0},
    {prefetch_up, OWN, 0}, /* one that needs no copy leaves */
    {set_priority, OWN, 3},
    {write_on_device, WRAPPED, 4},
    {write_on_host, OTHER, 5},
    {prefetch_up, OTHER, 0},
    {fill_parts, OTHER, 7},
    {set_limit, OWN, 1}, /* all but the most important leave */
    {set_priority, OWN, 0},
    {write_on_device, ALLOCATED, 6},
    {discard, ALLOCATED, 0},
    {write_on_device, OTHER, 7},
    {write_on_device, ALLOCATED, 8},
    {trim_device, OWN, 0},
    {evict, ALLOCATED, 0},
    {trim_host, OWN, 0},
    {write_on_device, WRAPPED, 10},
    {discard, WRAPPED, 0},
    {write_on_device, WRAPPED, 11},
    {set_limit, OWN, 0},
    {prefetch_up, OWN, 0},
    {prefetch_up, OTHER, 0},
    {release, OWN, 0},
    {set_limit, OTHER, 1},
    {prefetch_up, ALLOCATED, 0},
};
#define STEPS ((int32_t)(sizeof steps / sizeof *steps))

static size_t held_by_images(void)
{
    size_t bytes = 0;
    for (int image = 0; image < IMAGES; ++image) {
        cc_place_state state = CC_PLACE_STATE_INIT;
        if (now.images[image] == NULL)
            continue;
        fixture_ok(cc_image_get_place_state(now.images[image], 0, &state));
        bytes += state.memory_bytes;
    }
    return bytes;
}

static void check_held(const char *when)
{
    const size_t held = cc__budget_held_bytes(0);
    ck_assert_msg(held == held_by_images(), "%s: %zu bytes are held, by images %zu", when, held, held_by_images());
}

static void check_pixels(const char *when)
{
    for (int image = 0; image < IMAGES; ++image) {
        unsigned char *pixels = NULL;
        int64_t wrong = 0;
        if (now.images[image] == NULL || now.values[image] < 0)
            continue;
        fixture_ok(cc_image_map_host(now.images[image], NULL, CC_ACCESS_READ, (void **)&pixels));
        for (size_t i = 0; i < image_bytes(); ++i)
            wrong += pixels[i] != now.values[image];
        ck_assert_msg(wrong == 0, "%s: %lld pixels of image %d are not %d", when, (long long)wrong, image,
                      now.values[image]);
        fixture_ok(cc_image_unmap_host(now.images[image], pixels));
    }
}

static void begin(int size)
{
    memset(&now, 0, sizeof now);
    now.width = widths[size];
    now.height = heights[size];
    now.stream = fixture_stream_create(0);
    now.memory = malloc(image_bytes());
    ck_assert_ptr_nonnull(now.memory);
}

static void end(void)
{
    for (int image = 0; image < IMAGES; ++image)
        cc_image_release(now.images[image]);
    (void)fixture_inner->stream_synchronize(fixture_inner, 0, now.stream);
    fixture_stream_destroy(0, now.stream);
    free(now.memory);
    fixture_ok(cc_device_set_limit(0, 0, 0));
    ck_assert_uint_eq(cc__budget_held_bytes(0), 0);
    ck_assert_int_eq(now.allocator_blocks, 0);
    fixture_teardown();
    fixture_setup();
}

typedef enum when_to_look {
    LOOK_AFTERWARDS = 0, /* the call is tried again first */
    LOOK_FIRST = 1,
    LOOK_AT_THE_END = 2
} when_to_look;
#define LOOKS 3

static void check_failure(const char *when, cc_status status)
{
    const fault_set failed = fault_sequence_failed();
    const bool is_expected =
        status == CC_OK || (status == CC_ERROR_OUT_OF_HOST_MEMORY && (failed & (FAULT_ALLOCATION | FAULT_ALLOCATOR))) ||
        (status == CC_ERROR_DEVICE && (failed & ~(FAULT_ALLOCATION | FAULT_ALLOCATOR)) != 0) ||
        status == CC_ERROR_OUT_OF_DEVICE_MEMORY; /* others could not leave */
    ck_assert_msg(is_expected, "%s: %s", when, cc_status_name(status));
}

/* Returns how many things could have failed. */
static int64_t run_with_fault(int size, int64_t nth, bool all_of_the_call, when_to_look look)
{
    char when[128] = "at the end";
    begin(size);
    fault_sequence_start(nth, all_of_the_call);
    for (int32_t i = 0; i < STEPS; ++i) {
        const bool had_failed = fault_sequence_failed() != 0;
        cc_status status = steps[i].run(steps[i].image, steps[i].value);
        snprintf(when, sizeof when, "size %d, fault %lld, step %d", size, (long long)nth, (int)i);
        if (!had_failed && fault_sequence_failed() != 0) {
            (void)fault_sequence_stop();
            check_failure(when, status);
            check_held(when);
            if (look == LOOK_FIRST)
                check_pixels(when);
            if (status != CC_OK)
                status = steps[i].run(steps[i].image, steps[i].value);
            if (look == LOOK_AFTERWARDS)
                check_pixels(when);
        }
        ck_assert_msg(status == CC_OK, "%s, without a fault: %s (%s)", when, cc_status_name(status),
                      cc_last_error_message());
        check_held(when);
        /* What could not leave when the limit was set stays until memory is needed. */
        ck_assert_msg(now.limit_bytes == 0 || had_failed || fault_sequence_failed() != 0 ||
                          cc__budget_held_bytes(0) <= now.limit_bytes,
                      "%s: %zu bytes are held", when, cc__budget_held_bytes(0));
    }
    const int64_t count = fault_sequence_stop();
    check_pixels(when);
    end();
    return count;
}

static void set_up(void)
{
    alarm(HANGS_AFTER_SECONDS);
    fixture_setup();
    cc__crew_cores = 1;
}

static void tear_down(void)
{
    cc__crew_cores = 0;
    fixture_teardown();
    alarm(0);
}

START_TEST(each_fault)
{
    const int size = _i % SIZES;
    const bool all_of_the_call = _i / SIZES == 1;
    if (fixture_device_count() == 0)
        return;
    const int64_t count = run_with_fault(size, 0, false, LOOK_AFTERWARDS);
    ck_assert_int_gt(count, 10);
    for (int64_t nth = 1; nth <= count; nth += STEP_OF(size)) {
        for (int look = 0; look < LOOKS; ++look)
            if (size != LARGE || look == nth % LOOKS)
                run_with_fault(size, nth, all_of_the_call, (when_to_look)look);
    }
}
END_TEST

static void run_whatever_fails(void)
{
    for (int32_t i = 0; i < STEPS; ++i)
        if (steps[i].run == make ? now.images[steps[i].image] == NULL : now.images[steps[i].image] != NULL)
            (void)steps[i].run(steps[i].image, steps[i].value);
}

/* Everything fails from one moment on; what there was is there still when that is over. */
START_TEST(for_ever)
{
    if (fixture_device_count() == 0)
        return;
    const int64_t count = run_with_fault(_i, 0, false, LOOK_AFTERWARDS);
    for (int64_t nth = 1; nth <= count; nth += STEP_OF(_i)) {
        begin(_i);
        fault_sequence_start(nth, true);
        run_whatever_fails();
        (void)fault_sequence_stop();
        check_held("when it is over");
        check_pixels("when it is over");
        end();
    }
}
END_TEST

/* Nothing works any more of one kind: page-locking, callers' allocators, events, copies, frees of streams and so on. */
START_TEST(one_kind_is_refused)
{
    const int size = _i % SIZES;
    const fault_set kind = (fault_set)1 << (_i / SIZES);
    if (fixture_device_count() == 0)
        return;
    begin(size);
    fault_sequence_start_refusing(kind);
    run_whatever_fails();
    (void)fault_sequence_stop();
    check_held("when it is over");
    check_pixels("when it is over");
    end();
}
END_TEST

/* Without page-locking everything works, only slower; the same where the limit allows none. */
START_TEST(nothing_is_page_locked)
{
    cc_host_memory_state before = CC_HOST_MEMORY_STATE_INIT;
    cc_host_memory_state state = CC_HOST_MEMORY_STATE_INIT;
    const int size = _i % SIZES;
    if (fixture_device_count() == 0)
        return;
    fixture_ok(cc_host_get_memory_state(&before));
    begin(size);
    if (_i < SIZES)
        cc_host_set_locked_limit(0);
    else
        fault_sequence_start_refusing(FAULT(FAULTY_HOST_REGISTER));
    for (int32_t i = 0; i < STEPS; ++i)
        fixture_ok(steps[i].run(steps[i].image, steps[i].value));
    (void)fault_sequence_stop();
    fixture_ok(cc_host_get_memory_state(&state));
    ck_assert_uint_eq(state.locked_bytes, 0);
    ck_assert_uint_eq(state.staging_bytes, 0);
    check_pixels("without page-locked memory");
    end();
    cc_host_set_locked_limit((size_t)before.locked_limit_bytes);
}
END_TEST

static void add(Suite *suite, const char *name, const TTest *test, int count)
{
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 2 * HANGS_AFTER_SECONDS);
    tcase_add_loop_test(tcase, test, 0, count);
    suite_add_tcase(suite, tcase);
}

int main(void)
{
    Suite *suite = suite_create("budget_faults");
    add(suite, "each", each_fault, 2 * SIZES);
    add(suite, "for ever", for_ever, SIZES);
    add(suite, "one kind", one_kind_is_refused, SIZES * (FAULTY_OPERATION_COUNT + 2));
    add(suite, "page-locking", nothing_is_page_locked, 2 * SIZES);
    return fixture_run(suite);
}
