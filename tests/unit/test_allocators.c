/* Memory from allocators of the caller's: all of it, with the same context, and back to where it came from. */
#include "base/allocate.h"
#include "memory/chunks.h"
#include "memory/page_locking.h"
#include "support/expect.h"
#include "support/fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define MOST_BLOCKS 32
#define JUNK 0xAB

typedef struct block {
    void *memory;
    void *begin; /* of what malloc gave */
    size_t size_bytes;
    cc_place place;
} block;

/* An allocator that knows what it gave out. */
typedef struct counted {
    pthread_mutex_t lock;
    block blocks[MOST_BLOCKS];
    int32_t allocated;
    int32_t freed;
    atomic_int released;
    int32_t wrong; /* frees that do not fit */
    size_t held_bytes;
    size_t limit_bytes;
    size_t misaligned_by;
    size_t locked_at_free;
    cc_stream stream; /* of the latest call */
    cc_image *uses;   /* an image that the allocator itself uses */
} counted;

static counted first, second;

static void set_up(void)
{
    fixture_setup();
    memset(&first, 0, sizeof first);
    pthread_mutex_init(&first.lock, NULL);
    first.limit_bytes = SIZE_MAX;
    memset(&second, 0, sizeof second);
    pthread_mutex_init(&second.lock, NULL);
    second.limit_bytes = SIZE_MAX;
}

static void tear_down(void)
{
    fixture_ok(cc_host_set_allocator(NULL));
    fixture_ok(cc_device_set_allocator(NULL));
    ck_assert_int_eq(first.wrong + second.wrong, 0);
    ck_assert_int_eq(first.allocated, first.freed);
    ck_assert_int_eq(second.allocated, second.freed);
    fixture_teardown();
}

static void *get_memory(size_t size_bytes, size_t alignment_bytes, cc_place place, cc_stream stream, void **out_begin)
{
    void *memory = NULL;
    if (place == CC_PLACE_HOST) {
        if (posix_memalign(&memory, alignment_bytes, size_bytes + alignment_bytes) != 0)
            return NULL;
        memset(memory, JUNK, size_bytes + alignment_bytes);
    } else if (fixture_inner->allocate(fixture_inner, place, stream, size_bytes + alignment_bytes, &memory) != CC_OK) {
        return NULL;
    }
    *out_begin = memory;
    return memory;
}

static void *counted_allocate(size_t size_bytes, size_t alignment_bytes, cc_place place, cc_stream stream,
                              void *user_data)
{
    counted *self = user_data;
    block found = {.size_bytes = size_bytes, .place = place};
    if (self->uses != NULL) {
        unsigned char *pixels = NULL;
        if (cc_image_map_host(self->uses, NULL, CC_ACCESS_READ_WRITE, (void **)&pixels) == CC_OK) {
            ++pixels[0];
            (void)cc_image_unmap_host(self->uses, pixels);
        }
    }
    pthread_mutex_lock(&self->lock);
    self->stream = stream;
    if (self->held_bytes + size_bytes <= self->limit_bytes)
        found.memory = get_memory(size_bytes, alignment_bytes, place, stream, &found.begin);
    if (found.memory != NULL) {
        found.memory = (char *)found.memory + self->misaligned_by;
        int32_t slot = 0;
        while (self->blocks[slot].memory != NULL)
            ++slot;
        self->blocks[slot] = found;
        self->held_bytes += size_bytes;
        ++self->allocated;
    }
    pthread_mutex_unlock(&self->lock);
    return found.memory;
}

static void counted_free(void *memory, size_t size_bytes, cc_place place, cc_stream stream, void *user_data)
{
    counted *self = user_data;
    pthread_mutex_lock(&self->lock);
    int32_t slot = 0;
    while (slot < MOST_BLOCKS && self->blocks[slot].memory != memory)
        ++slot;
    if (slot == MOST_BLOCKS || self->blocks[slot].size_bytes != size_bytes || self->blocks[slot].place != place) {
        ++self->wrong;
    } else {
        if (place == CC_PLACE_HOST)
            free(self->blocks[slot].begin);
        else if (fixture_inner->free(fixture_inner, place, stream, self->blocks[slot].begin) != CC_OK)
            ++self->wrong;
        self->blocks[slot].memory = NULL;
        self->held_bytes -= size_bytes;
    }
    self->stream = stream;
    self->locked_at_free = cc__page_locking_bytes() - cc__chunks_bytes();
    ++self->freed;
    pthread_mutex_unlock(&self->lock);
}

static void counted_release(void *user_data)
{
    atomic_fetch_add(&((counted *)user_data)->released, 1);
}

static cc_allocator allocator_of(counted *self)
{
    cc_allocator allocator = CC_ALLOCATOR_INIT;
    allocator.allocate = counted_allocate;
    allocator.free = counted_free;
    allocator.release = counted_release;
    allocator.user_data = self;
    return allocator;
}

static cc_status set(bool on_host, counted *self)
{
    const cc_allocator allocator = allocator_of(self);
    return on_host ? cc_host_set_allocator(&allocator) : cc_device_set_allocator(&allocator);
}

static cc_status set_for(cc_image *image, bool on_host, counted *self)
{
    const cc_allocator allocator = allocator_of(self);
    return on_host ? cc_image_set_host_allocator(image, &allocator) : cc_image_set_device_allocator(image, &allocator);
}

static cc_image *image_of(size_t bytes)
{
    return fixture_image(CC_PIXEL_UINT8, 1, 1, (int64_t)bytes, 1, 1);
}

static void write_on_host(cc_image *image, int value)
{
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_WRITE, &pixels));
    memset(pixels, value, cc_image_get_size_bytes(image));
    fixture_ok(cc_image_unmap_host(image, pixels));
}

static void expect_on_host(cc_image *image, int value)
{
    unsigned char *pixels = NULL;
    size_t wrong = 0;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, (void **)&pixels));
    for (size_t i = 0; i < cc_image_get_size_bytes(image); ++i)
        wrong += pixels[i] != value;
    ck_assert_uint_eq(wrong, 0);
    fixture_ok(cc_image_unmap_host(image, pixels));
}

/* Gives the image memory at that place. */
static cc_status touch(cc_image *image, bool on_host)
{
    return cc_image_prefetch(image, NULL, on_host ? CC_PLACE_HOST : 0);
}

#define NEEDS_A_DEVICE_FOR(on_host)                                                                                    \
    if (!(on_host) && fixture_device_count() == 0)                                                                     \
    return

START_TEST(bad_allocators_are_refused_by_name)
{
    cc_image *image = image_of(4);
    cc_allocator allocator = allocator_of(&first);
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_set_host_allocator(NULL, &allocator));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "image", cc_image_set_device_allocator(NULL, &allocator));
    allocator.struct_size = 3;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size = 3", cc_host_set_allocator(&allocator));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size = 3", cc_device_set_allocator(&allocator));
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "struct_size = 3", cc_image_set_host_allocator(image, &allocator));
    /* One that ends before the second function. */
    allocator.struct_size = 16;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "free", cc_host_set_allocator(&allocator));
    allocator = allocator_of(&first);
    allocator.allocate = NULL;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "allocate", cc_device_set_allocator(&allocator));
    allocator = allocator_of(&first);
    allocator.free = NULL;
    expect_failure(CC_ERROR_INVALID_ARGUMENT, "free", cc_image_set_device_allocator(image, &allocator));
    allocator = allocator_of(&first);
    expect_allocations_to_fail_from(1);
    expect_failure(CC_ERROR_OUT_OF_HOST_MEMORY, "memory", cc_host_set_allocator(&allocator));
    expect_allocations_to_fail_from(1);
    expect_failure(CC_ERROR_OUT_OF_HOST_MEMORY, "memory", cc_image_set_host_allocator(image, &allocator));
    cc__allocate_set_hook(NULL);
    fixture_ok(cc_host_set_allocator(NULL));
    cc_image_release(image);
    ck_assert_int_eq(first.released, 0);
}
END_TEST

START_TEST(an_older_callers_struct_has_no_release)
{
    cc_allocator allocator = allocator_of(&first);
    memset(&allocator.release, 0x55, sizeof allocator.release);
    allocator.struct_size = offsetof(cc_allocator, release);
    fixture_ok(cc_host_set_allocator(&allocator));
    fixture_ok(cc_host_set_allocator(NULL));
}
END_TEST

START_TEST(all_memory_of_the_process)
{
    const bool on_host = _i == 0;
    NEEDS_A_DEVICE_FOR(on_host);
    fixture_ok(set(on_host, &first));
    for (int32_t round = 1; round <= 3; ++round) {
        cc_image *image = image_of(1000);
        fixture_ok(touch(image, on_host));
        ck_assert_int_eq(first.allocated, round);
        ck_assert_uint_eq(first.held_bytes, 1000);
        if (!on_host)
            ck_assert_ptr_nonnull(first.stream);
        expect_on_host(image, 0);
        cc_image_release(image);
        ck_assert_int_eq(first.freed, round);
    }
    ck_assert_int_eq(first.released, 0);
    fixture_ok(on_host ? cc_host_set_allocator(NULL) : cc_device_set_allocator(NULL));
    ck_assert_int_eq(first.released, 1);
    cc_image *image = image_of(1000);
    fixture_ok(touch(image, on_host));
    cc_image_release(image);
    ck_assert_int_eq(first.allocated, 3);
}
END_TEST

/* T77 of the cases: replaced while buffers live, old ones go back to the old one. */
START_TEST(memory_goes_back_to_where_it_came_from)
{
    const bool on_host = _i == 0;
    NEEDS_A_DEVICE_FOR(on_host);
    cc_image *own = image_of(1000);
    cc_image *from_first = image_of(2000);
    cc_image *from_second = image_of(3000);
    fixture_ok(touch(own, on_host));
    fixture_ok(set(on_host, &first));
    fixture_ok(touch(from_first, on_host));
    fixture_ok(set(on_host, &second));
    ck_assert_int_eq(first.released, 0);
    fixture_ok(touch(from_second, on_host));
    ck_assert_uint_eq(first.held_bytes, 2000);
    ck_assert_uint_eq(second.held_bytes, 3000);
    cc_image_release(own);
    ck_assert_int_eq(first.freed + second.freed, 0);
    cc_image_release(from_first);
    ck_assert_int_eq(first.freed, 1);
    ck_assert_int_eq(first.released, 1);
    fixture_ok(on_host ? cc_host_set_allocator(NULL) : cc_device_set_allocator(NULL));
    ck_assert_int_eq(second.released, 0);
    cc_image_release(from_second);
    ck_assert_int_eq(second.freed, 1);
    ck_assert_int_eq(second.released, 1);
}
END_TEST

START_TEST(an_image_has_its_own)
{
    const bool on_host = _i == 0;
    NEEDS_A_DEVICE_FOR(on_host);
    fixture_ok(set(on_host, &first));
    cc_image *image = image_of(1000);
    cc_image *other = image_of(500);
    fixture_ok(set_for(image, on_host, &first));
    fixture_ok(set_for(image, on_host, &second));
    ck_assert_int_eq(first.released, 1);
    const cc_region part = {.size = {10}};
    cc_image *view = NULL;
    fixture_ok(cc_image_create_view(image, &part, &view));
    fixture_ok(touch(view, on_host));
    fixture_ok(touch(other, on_host));
    ck_assert_uint_eq(first.held_bytes, 500);
    ck_assert_uint_eq(second.held_bytes, 1000);
    ck_assert_int_eq(set_for(image, on_host, &first), CC_ERROR_BUSY);
    ck_assert_int_eq(set_for(view, on_host, &first), CC_ERROR_BUSY);
    ck_assert_ptr_nonnull(strstr(cc_last_error_message(), on_host ? "host" : "device"));
    ck_assert_int_eq(first.released, 1);
    /* The other kind is free. */
    fixture_ok(set_for(image, !on_host, &first));
    cc_image_release(image);
    cc_image_release(view);
    ck_assert_uint_eq(second.held_bytes, 0);
    ck_assert_int_eq(second.released, 1);
    ck_assert_int_eq(first.released, 2);
    /* Back to what the process has. */
    image = image_of(700);
    fixture_ok(set_for(image, on_host, &second));
    fixture_ok(on_host ? cc_image_set_host_allocator(image, NULL) : cc_image_set_device_allocator(image, NULL));
    fixture_ok(touch(image, on_host));
    ck_assert_uint_eq(first.held_bytes, 1200);
    cc_image_release(image);
    cc_image_release(other);
}
END_TEST

START_TEST(wrapped_memory_is_there_already)
{
    unsigned char memory[100] = {0};
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    cc_image *image = image_of(sizeof memory);
    params.flags = CC_WRAP_BORROWED;
    params.data = memory;
    params.size_bytes = sizeof memory;
    fixture_ok(cc_image_wrap_host(image, &params));
    ck_assert_int_eq(set_for(image, true, &first), CC_ERROR_BUSY);
    fixture_ok(set_for(image, false, &first));
    if (fixture_device_count() > 0) {
        fixture_ok(touch(image, false));
        ck_assert_uint_eq(first.held_bytes, sizeof memory);
    }
    cc_image_release(image);
}
END_TEST

START_TEST(an_allocator_that_fails_changes_nothing)
{
    const bool on_host = _i % 2 == 0;
    const bool is_misaligned = _i / 2 == 1;
    NEEDS_A_DEVICE_FOR(on_host);
    cc_image *image = image_of(1000);
    const unsigned char five = 5;
    fixture_ok(cc_image_fill(image, NULL, &five, CC_STREAM_DEFAULT));
    if (!on_host)
        write_on_host(image, 6);
    fixture_ok(set_for(image, on_host, &first));
    if (is_misaligned)
        first.misaligned_by = 8;
    else
        first.limit_bytes = 999;
    expect_passed_on(on_host ? CC_ERROR_OUT_OF_HOST_MEMORY : CC_ERROR_OUT_OF_DEVICE_MEMORY, touch(image, on_host));
    ck_assert_int_eq(first.allocated, first.freed);
    if (is_misaligned)
        ck_assert_int_gt(first.allocated, 0);
    cc_place_state state = CC_PLACE_STATE_INIT;
    fixture_ok(cc_image_get_place_state(image, on_host ? CC_PLACE_HOST : 0, &state));
    ck_assert_uint_eq(state.memory_bytes, 0);
    first.misaligned_by = 0;
    first.limit_bytes = 1000;
    fixture_ok(touch(image, on_host));
    expect_on_host(image, on_host ? 5 : 6);
    cc_image_release(image);
}
END_TEST

START_TEST(no_lock_is_held_while_it_is_called)
{
    const bool on_host = _i == 0;
    NEEDS_A_DEVICE_FOR(on_host);
    cc_image *used = image_of(1);
    write_on_host(used, 0);
    fixture_ok(set(on_host, &first));
    first.uses = used;
    cc_image *image = image_of(1000);
    fixture_ok(touch(image, on_host));
    cc_image_release(image);
    first.uses = NULL;
    expect_on_host(used, 1);
    cc_image_release(used);
}
END_TEST

START_TEST(host_memory_is_not_zero_and_is_locked_in_place)
{
    fixture_ok(set(true, &first));
    cc_image *image = image_of(3 * MIB);
    expect_on_host(image, 0);
    if (fixture_device_count() > 0) {
        write_on_host(image, 3);
        fixture_ok(touch(image, false));
        ck_assert_uint_ge(cc__page_locking_bytes(), 3 * MIB - 2 * 4096);
        ck_assert_uint_gt(fixture_counters(image).host_to_device_paths[CC_PATH_ENGINE].bytes, 2 * MIB);
        fixture_ok(cc_image_evict(image, CC_PLACE_HOST));
        ck_assert_int_eq(first.freed, 1);
        ck_assert_uint_eq(first.locked_at_free, 0);
        expect_on_host(image, 3);
    }
    cc_image_release(image);
    ck_assert_uint_eq(first.locked_at_free, 0);
}
END_TEST

/* Page-locked by the allocator already: locking it again is refused, and it works all the same. */
START_TEST(memory_that_its_allocator_has_locked)
{
    NEEDS_A_DEVICE_FOR(false);
    fixture_ok(set(true, &first));
    cc_image *image = image_of(2 * MIB);
    write_on_host(image, 3);
    void *pixels = NULL;
    fixture_ok(cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels));
    fixture_ok(fixture_inner->host_register(fixture_inner, pixels, 2 * MIB));
    fixture_ok(touch(image, false));
    fixture_ok(cc_image_unmap_host(image, pixels));
    ck_assert_uint_eq(fixture_counters(image).host_to_device_paths[CC_PATH_STAGED].bytes, 2 * MIB);
    fixture_ok(fixture_inner->host_unregister(fixture_inner, pixels));
    fixture_ok(cc_image_evict(image, CC_PLACE_HOST));
    expect_on_host(image, 3);
    cc_image_release(image);
}
END_TEST

/* The frees come in stream order: with a kernel still to run, its memory is not gone. */
START_TEST(device_memory_is_freed_in_stream_order)
{
    NEEDS_A_DEVICE_FOR(false);
    void *pixels = NULL;
    fixture_ok(set(false, &first));
    for (int32_t round = 0; round < 5; ++round) {
        const cc_stream stream = fixture_stream_create(0);
        cc_image *image = image_of(1000);
        fixture_ok(cc_image_map_device(image, NULL, CC_ACCESS_WRITE, stream, &pixels));
        const cc__fill work = {.destination = {.data = pixels, .stride = {1, 1, 1, 1}},
                               .size = {1000, 1, 1, 1},
                               .pixel_bytes = 1,
                               .value = {1}};
        fixture_ok(fixture_inner->fill(fixture_inner, 0, stream, &work));
        fixture_ok(cc_image_unmap_device(image, pixels, stream));
        cc_image_release(image);
        fixture_ok(cc_stream_synchronize(0, stream));
        fixture_stream_destroy(0, stream);
    }
    ck_assert_int_eq(first.freed, 5);
}
END_TEST

START_TEST(an_allocator_without_memory_makes_others_leave)
{
    NEEDS_A_DEVICE_FOR(false);
    fixture_ok(set(false, &first));
    first.limit_bytes = 1500;
    cc_image *images[3];
    for (int32_t i = 0; i < 3; ++i) {
        images[i] = image_of(1000);
        write_on_host(images[i], 10 + i);
        fixture_ok(touch(images[i], false));
        ck_assert_uint_eq(first.held_bytes, 1000);
    }
    for (int32_t i = 0; i < 3; ++i) {
        expect_on_host(images[i], 10 + i);
        cc_image_release(images[i]);
    }
    ck_assert_int_eq(first.allocated, 3);
}
END_TEST

#define THREADS 4

static void *use_images(void *argument)
{
    (void)argument;
    for (int32_t i = 0; i < 100; ++i) {
        cc_image_params params = CC_IMAGE_PARAMS_INIT;
        cc_image *image = NULL;
        params.dimension = 1;
        params.region.size[0] = 100 + i;
        if (cc_image_create(&params, &image) != CC_OK || cc_image_prefetch(image, NULL, CC_PLACE_HOST) != CC_OK ||
            (fixture_device_count() > 0 && cc_image_prefetch(image, NULL, 0) != CC_OK))
            return &first;
        if (i % 10 == 0 && set(i % 20 == 0, i % 3 == 0 ? &first : &second) != CC_OK)
            return &first;
        cc_image_release(image);
    }
    return NULL;
}

START_TEST(threads_set_and_use_them)
{
    pthread_t threads[THREADS];
    for (int32_t i = 0; i < THREADS; ++i)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, use_images, NULL), 0);
    for (int32_t i = 0; i < THREADS; ++i) {
        void *failed = NULL;
        ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
        ck_assert_ptr_null(failed);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("allocators");
    TCase *tcase = tcase_create("allocators");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, bad_allocators_are_refused_by_name);
    tcase_add_test(tcase, an_older_callers_struct_has_no_release);
    tcase_add_loop_test(tcase, all_memory_of_the_process, 0, 2);
    tcase_add_loop_test(tcase, memory_goes_back_to_where_it_came_from, 0, 2);
    tcase_add_loop_test(tcase, an_image_has_its_own, 0, 2);
    tcase_add_test(tcase, wrapped_memory_is_there_already);
    tcase_add_loop_test(tcase, an_allocator_that_fails_changes_nothing, 0, 4);
    tcase_add_loop_test(tcase, no_lock_is_held_while_it_is_called, 0, 2);
    tcase_add_test(tcase, host_memory_is_not_zero_and_is_locked_in_place);
    tcase_add_test(tcase, memory_that_its_allocator_has_locked);
    tcase_add_test(tcase, device_memory_is_freed_in_stream_order);
    tcase_add_test(tcase, an_allocator_without_memory_makes_others_leave);
    tcase_add_test(tcase, threads_set_and_use_them);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
