/* The work under way at a place: who must wait for what. */
#include "backend/emulated.h"
#include "base/allocate.h"
#include "data_manager/timeline.h"
#include "support/expect.h"
#include "support/faulty_backend.h"
#include "support/plain_work.h"

#include <stdlib.h>
#include <string.h>

static long live_before;
static cc__backend *emulated, *backend;
static cc__timeline timeline;
static cc_stream stream; /* of device 0 */

static void set_up(void)
{
    live_before = cc__allocations_live();
    emulated = cc__backend_emulated_create(2);
    ck_assert_ptr_nonnull(emulated);
    backend = faulty_backend_create(emulated);
    ck_assert_ptr_nonnull(backend);
    timeline = (cc__timeline){0};
    ck_assert_int_eq(backend->stream_create(backend, 0, &stream), CC_OK);
    faulty_backend_reset_counts(backend);
}

static void tear_down(void)
{
    cc__allocate_set_hook(NULL);
    cc__timeline_destroy(&timeline);
    ck_assert_int_eq(cc__emulated_count_live(emulated).events, 0);
    faulty_backend_destroy(backend);
    cc__backend_emulated_destroy(emulated);
    ck_assert_int_eq(cc__allocations_live(), live_before);
}

static int64_t calls(faulty_operation operation)
{
    return faulty_backend_counts(backend).calls[operation];
}

static cc__box box_at(int64_t i, int64_t size_i)
{
    const cc__box box = {{i, 0, 0, 0}, {size_i, 1, 1, 1}};
    return box;
}

static cc__fence *fence_in(int32_t device, cc_stream recorded_in)
{
    cc__fence *fence = NULL;
    ck_assert_int_eq(cc__fence_create(backend, device, &fence), CC_OK);
    ck_assert_int_eq(cc__fence_record(fence, recorded_in, 0), CC_OK);
    return fence;
}

/* The timeline alone keeps the fence that is returned. */
static cc__fence *note(cc__use use, int64_t i, int64_t size_i)
{
    const cc__box box = box_at(i, size_i);
    cc__fence *fence = fence_in(0, stream);
    ck_assert_int_eq(cc__timeline_reserve(&timeline), CC_OK);
    cc__timeline_add(&timeline, &box, use, fence);
    cc__fence_release(fence);
    return fence;
}

static cc__fences collect(cc__use use, int64_t i, int64_t size_i)
{
    const cc__box box = box_at(i, size_i);
    cc__fences fences = {0};
    ck_assert_int_eq(cc__timeline_collect(&timeline, &box, use, &cc__waiter_host, &fences), CC_OK);
    return fences;
}

static bool contains(const cc__fences *fences, const cc__fence *fence)
{
    for (int32_t i = 0; i < fences->count; ++i)
        if (fences->entries[i] == fence)
            return true;
    return false;
}

/* How many fences a use of these pixels waits for. */
static int32_t count_waits(cc__use use, int64_t i, int64_t size_i)
{
    cc__fences fences = collect(use, i, size_i);
    const int32_t count = fences.count;
    cc__fences_destroy(&fences);
    return count;
}

START_TEST(a_read_waits_for_writes_a_write_for_all)
{
    note(CC__USE_WRITE, 0, 8);
    note(CC__USE_READ, 4, 8);
    ck_assert_int_eq(count_waits(CC__USE_READ, 0, 12), 1);
    ck_assert_int_eq(count_waits(CC__USE_WRITE, 0, 12), 2);
    ck_assert_int_eq(count_waits(CC__USE_READ, 8, 4), 0);
    ck_assert_int_eq(count_waits(CC__USE_WRITE, 8, 4), 1);
    ck_assert_int_eq(count_waits(CC__USE_WRITE, 0, 4), 1);
    ck_assert_int_eq(count_waits(CC__USE_WRITE, 12, 4), 0);
    ck_assert_int_eq(count_waits(CC__USE_WRITE, 5, 0), 0);
}
END_TEST

START_TEST(a_write_drops_what_is_inside_its_box)
{
    note(CC__USE_WRITE, 0, 4);
    note(CC__USE_READ, 2, 2);
    const cc__fence *half_outside = note(CC__USE_READ, 2, 8);
    const cc__fence *outside = note(CC__USE_WRITE, 20, 4);
    ck_assert_int_eq(timeline.count, 4);
    const cc__fence *written = note(CC__USE_WRITE, 0, 8);
    ck_assert_int_eq(timeline.count, 3);
    cc__fences fences = collect(CC__USE_WRITE, 0, 30);
    ck_assert_int_eq(fences.count, 3);
    ck_assert(contains(&fences, half_outside) && contains(&fences, outside) && contains(&fences, written));
    cc__fences_destroy(&fences);
    /* The fences of the two that went are gone with them. */
    ck_assert_int_eq(cc__emulated_count_live(emulated).events, 3);
}
END_TEST

START_TEST(a_read_drops_nothing)
{
    note(CC__USE_WRITE, 2, 2);
    note(CC__USE_READ, 2, 2);
    note(CC__USE_READ, 0, 8);
    ck_assert_int_eq(timeline.count, 3);
    ck_assert_int_eq(count_waits(CC__USE_WRITE, 2, 1), 3);
}
END_TEST

/* A write of some boxes in its box excludes like one of all, but what lies between them is still to be waited for. */
START_TEST(a_write_of_parts_drops_nothing)
{
    note(CC__USE_WRITE, 2, 2);
    note(CC__USE_READ, 4, 2);
    note(CC__USE_WRITE_PARTS, 0, 8);
    ck_assert_int_eq(timeline.count, 3);
    ck_assert_int_eq(count_waits(CC__USE_READ, 0, 8), 2);
    ck_assert_int_eq(count_waits(CC__USE_WRITE, 0, 8), 3);
    ck_assert_int_eq(count_waits(CC__USE_WRITE_PARTS, 0, 8), 3);
    ck_assert_int_eq(count_waits(CC__USE_WRITE_PARTS, 4, 1), 2);
    note(CC__USE_WRITE, 0, 8);
    ck_assert_int_eq(timeline.count, 1);
}
END_TEST

START_TEST(a_fence_is_waited_for_once)
{
    const cc__box boxes[] = {box_at(0, 4), box_at(8, 4), box_at(2, 8)};
    cc__fence *fence = fence_in(0, stream);
    cc__fences fences = {0};
    for (int32_t i = 0; i < 3; ++i) {
        ck_assert_int_eq(cc__timeline_reserve(&timeline), CC_OK);
        cc__timeline_add(&timeline, &boxes[i], CC__USE_READ, fence);
    }
    ck_assert_int_eq(fence->references, 4);
    for (int32_t i = 0; i < 3; ++i)
        ck_assert_int_eq(cc__timeline_collect(&timeline, &boxes[i], CC__USE_WRITE, &cc__waiter_host, &fences), CC_OK);
    ck_assert_int_eq(fences.count, 1);
    ck_assert_int_eq(fence->references, 5);
    cc__fences_destroy(&fences);
    ck_assert_int_eq(fences.count, 0);
    cc__fence_release(fence);
    ck_assert_int_eq(cc__emulated_count_live(emulated).events, 1);
}
END_TEST

START_TEST(what_is_known_to_be_done_is_not_waited_for)
{
    cc__fence *done = note(CC__USE_WRITE, 0, 4);
    cc__fences fences = collect(CC__USE_READ, 0, 4);
    ck_assert_int_eq(cc__fences_synchronize(&fences), CC_OK);
    ck_assert_int_eq(count_waits(CC__USE_READ, 0, 4), 1);
    cc__fences_mark_complete(&fences);
    cc__fences_destroy(&fences);
    ck_assert(done->is_complete);
    ck_assert_int_eq(count_waits(CC__USE_READ, 0, 4), 0);
    ck_assert_int_eq(timeline.count, 1);
    /* It goes when the next entry comes, which need not touch it; the device is not asked. */
    note(CC__USE_READ, 100, 1);
    ck_assert_int_eq(timeline.count, 1);
    ck_assert_int_eq(calls(FAULTY_EVENT_IS_COMPLETE), 0);
}
END_TEST

/* A write that is over still drops what it followed. */
START_TEST(what_is_done_already_is_not_added)
{
    const cc__box box = box_at(0, 4);
    note(CC__USE_READ, 1, 2);
    note(CC__USE_READ, 8, 2);
    cc__fence *done = fence_in(0, stream);
    done->is_complete = true;
    ck_assert_int_eq(cc__timeline_reserve(&timeline), CC_OK);
    cc__timeline_add(&timeline, &box, CC__USE_WRITE, done);
    ck_assert_int_eq(timeline.count, 1);
    ck_assert_int_eq(timeline.reserved, 0);
    ck_assert_int_eq(done->references, 1);
    ck_assert_int_eq(cc__timeline_reserve(&timeline), CC_OK);
    cc__timeline_take(&timeline, &box, CC__USE_WRITE, done, NULL);
    ck_assert_int_eq(timeline.count, 1);
    ck_assert_int_eq(cc__emulated_count_live(emulated).events, 1);
}
END_TEST

START_TEST(what_is_done_can_be_dropped)
{
    note(CC__USE_READ, 0, 2);
    cc__fence *middle = note(CC__USE_READ, 2, 2);
    note(CC__USE_READ, 4, 2);
    cc__timeline_drop_done(&timeline);
    ck_assert_int_eq(timeline.count, 3);
    middle->is_complete = true;
    cc__timeline_drop_done(&timeline);
    ck_assert_int_eq(timeline.count, 2);
    ck_assert_int_eq(count_waits(CC__USE_WRITE, 2, 2), 0);
    ck_assert_int_eq(count_waits(CC__USE_WRITE, 0, 6), 2);
    ck_assert_int_eq(cc__emulated_count_live(emulated).events, 2);
}
END_TEST

/* A stream that waits for a device-wide fence waits for the default stream alone. */
START_TEST(what_a_stream_followed_is_done_unless_device_wide)
{
    cc__fence *ordinary = fence_in(0, stream);
    cc__fence *wide = fence_in(0, stream);
    wide->is_device_wide = true;
    cc__fence *entries[] = {wide, ordinary};
    const cc__fences fences = {entries, 2, 2};
    cc__fences_mark_followed(&fences);
    ck_assert(ordinary->is_complete);
    ck_assert(!wide->is_complete);
    cc__fence_release(ordinary);
    cc__fence_release(wide);
}
END_TEST

START_TEST(a_long_list_is_cleared_of_what_is_done)
{
    for (int64_t i = 0; i < 16; ++i)
        note(CC__USE_READ, i, 1);
    ck_assert_int_eq(timeline.count, 16);
    ck_assert_int_eq(calls(FAULTY_EVENT_IS_COMPLETE), 0);
    ck_assert_int_eq(backend->stream_synchronize(backend, 0, stream), CC_OK);
    note(CC__USE_READ, 50, 1);
    ck_assert_int_eq(timeline.count, 1);
    ck_assert_int_eq(calls(FAULTY_EVENT_IS_COMPLETE), 16);
}
END_TEST

START_TEST(what_cannot_be_asked_stays)
{
    for (int64_t i = 0; i < 16; ++i)
        note(CC__USE_READ, i, 1);
    ck_assert_int_eq(backend->stream_synchronize(backend, 0, stream), CC_OK);
    const faulty_rule rule = {FAULTY_EVENT_IS_COMPLETE, 1, true, CC_ERROR_DEVICE, 999};
    faulty_backend_add_rule(backend, &rule);
    note(CC__USE_READ, 50, 1);
    faulty_backend_clear_rules(backend);
    ck_assert_int_eq(timeline.count, 17);
    ck_assert_int_eq(count_waits(CC__USE_WRITE, 0, 60), 17);
}
END_TEST

/* As many adds as were reserved need no memory, however they mix with adds that free places. */
START_TEST(a_reserved_place_stays_reserved)
{
    cc__fence *fence = fence_in(0, stream);
    for (int32_t i = 0; i < 50; ++i)
        ck_assert_int_eq(cc__timeline_reserve(&timeline), CC_OK);
    cc__timeline_unreserve(&timeline);
    ck_assert_int_eq(timeline.reserved, 49);
    ck_assert_int_ge(timeline.capacity, 49);
    expect_allocations_to_fail_from(1);
    for (int64_t i = 0; i < 49; ++i) {
        const cc__box box = box_at(i, 1);
        cc__timeline_add(&timeline, &box, CC__USE_READ, fence);
    }
    ck_assert_int_eq(timeline.reserved, 0);
    ck_assert_int_eq(timeline.count, 49);
    while (timeline.reserved + timeline.count < timeline.capacity)
        ck_assert_int_eq(cc__timeline_reserve(&timeline), CC_OK);
    expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY, cc__timeline_reserve(&timeline));
    ck_assert_int_eq(timeline.reserved + timeline.count, timeline.capacity);
    cc__allocate_set_hook(NULL);
    ck_assert_int_eq(timeline.count, 49);
    cc__fence_release(fence);
}
END_TEST

/* A fence that goes over to the timeline, and what becomes of the one whose place it takes. */
static cc__fence *take(cc__fence *fence, cc__fence **spare)
{
    const cc__box box = box_at(0, 4);
    ck_assert_int_eq(cc__timeline_reserve(&timeline), CC_OK);
    cc__timeline_take(&timeline, &box, CC__USE_WRITE, fence, spare);
    return fence;
}

START_TEST(a_fence_is_used_again)
{
    cc__fence *spare = NULL;
    cc__fence *first = take(fence_in(0, stream), &spare);
    ck_assert_ptr_null(spare);
    first->is_complete = true;
    cc__fence *second = take(fence_in(0, stream), &spare);
    ck_assert_ptr_eq(spare, first);
    ck_assert(!spare->is_complete);
    ck_assert_int_eq(timeline.count, 1);
    ck_assert_int_eq(calls(FAULTY_EVENT_DESTROY), 0);

    /* Only one is kept. */
    take(fence_in(0, stream), &spare);
    ck_assert_ptr_eq(spare, first);
    ck_assert_int_eq(calls(FAULTY_EVENT_DESTROY), 1);
    (void)second;

    ck_assert_int_eq(cc__fence_record(spare, stream, 5), CC_OK);
    cc__fence *again = spare;
    spare = NULL;
    take(again, &spare);
    ck_assert_int_eq(again->stream_id, 5);
    ck_assert_int_eq(timeline.count, 1);
    ck_assert_ptr_eq(timeline.entries[0].fence, again);
    cc__fence_release(spare);
}
END_TEST

START_TEST(a_fence_that_somebody_has_is_not_used_again)
{
    cc__fence *spare = NULL;
    cc__fence *shared = take(cc__fence_retain(fence_in(0, stream)), &spare);
    take(fence_in(0, stream), &spare);
    ck_assert_ptr_null(spare);
    ck_assert_int_eq(calls(FAULTY_EVENT_DESTROY), 0);
    cc__fence_release(shared);
    ck_assert_int_eq(calls(FAULTY_EVENT_DESTROY), 1);
}
END_TEST

START_TEST(a_fence_of_another_device_is_not_used_again)
{
    cc__fence *spare = NULL;
    take(fence_in(1, CC_STREAM_DEFAULT), &spare);
    take(fence_in(0, stream), &spare);
    ck_assert_ptr_null(spare);
    ck_assert_int_eq(calls(FAULTY_EVENT_DESTROY), 1);
}
END_TEST

/* One for the default stream has no event yet, so there is nothing to use again. */
START_TEST(a_fence_without_event_is_not_used_again)
{
    cc__fence *spare = NULL;
    cc__fence *fence = NULL;
    ck_assert_int_eq(cc__fence_create_for_default_stream(backend, 0, &fence), CC_OK);
    take(fence, &spare);
    take(fence_in(0, stream), &spare);
    ck_assert_ptr_null(spare);
}
END_TEST

/* A use of the same fence takes the place of the one before it; references neither leak nor go twice. */
START_TEST(one_fence_for_use_after_use)
{
    const cc__box box = box_at(0, 4);
    const cc__use uses[] = {CC__USE_WRITE, CC__USE_READ, CC__USE_READ, CC__USE_WRITE, CC__USE_WRITE};
    cc__fence *fence = NULL;
    ck_assert_int_eq(cc__fence_create_for_default_stream(backend, 0, &fence), CC_OK);
    for (size_t i = 0; i < sizeof uses / sizeof *uses; ++i) {
        ck_assert_int_eq(cc__timeline_reserve(&timeline), CC_OK);
        cc__timeline_add(&timeline, &box, uses[i], fence);
        ck_assert_int_eq(atomic_load(&fence->references), 1 + timeline.count);
    }
    ck_assert_int_eq(timeline.count, 1);
    cc__fence_release(fence);
}
END_TEST

START_TEST(no_memory_for_fences)
{
    const cc__box box = box_at(0, 8);
    cc__fence *fence = NULL;
    cc__fences fences = {0};
    expect_allocations_to_fail_from(1);
    expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY, cc__fence_create(backend, 0, &fence));
    cc__allocate_set_hook(NULL);
    ck_assert_ptr_null(fence);
    const faulty_rule rule = {FAULTY_EVENT_CREATE, 1, false, CC_ERROR_DEVICE, 999};
    faulty_backend_add_rule(backend, &rule);
    expect_passed_on(CC_ERROR_DEVICE, cc__fence_create(backend, 0, &fence));
    ck_assert_ptr_null(fence);
    /* Four fit into the first piece of memory, the fifth does not. */
    for (int64_t i = 0; i < 8; ++i)
        note(CC__USE_READ, i, 1);
    expect_allocations_to_fail_from(2);
    expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY,
                     cc__timeline_collect(&timeline, &box, CC__USE_WRITE, &cc__waiter_host, &fences));
    cc__allocate_set_hook(NULL);
    cc__fences_destroy(&fences);
    for (int32_t i = 0; i < timeline.count; ++i)
        ck_assert_int_eq(timeline.entries[i].fence->references, 1);
}
END_TEST

typedef struct wait_case {
    cc_stream recorded_in;
    uint64_t recorded_id;
    cc__waiter waiter;
    bool waits;
} wait_case;

#define LEGACY ((cc_stream)1)
#define OWN ((cc_stream)64)

/*
 * Only within the legacy default stream, or within one with a number, is there an order anyway: other handles may be of
 * a new stream by now.
 */
static const wait_case wait_cases[] = {
    {CC_STREAM_DEFAULT, 0, {0, CC_STREAM_DEFAULT, 0, false}, false},
    {CC_STREAM_DEFAULT, 0, {0, LEGACY, 0, false}, false},
    {LEGACY, 0, {0, CC_STREAM_DEFAULT, 0, false}, false},
    {CC_STREAM_DEFAULT, 0, {1, CC_STREAM_DEFAULT, 0, false}, true},
    {CC_STREAM_DEFAULT, 0, {0, CC_STREAM_PER_THREAD, 0, false}, true},
    {CC_STREAM_PER_THREAD, 0, {0, CC_STREAM_PER_THREAD, 0, false}, true},
    {CC_STREAM_PER_THREAD, 0, {0, CC_STREAM_DEFAULT, 0, false}, true},
    {CC_STREAM_DEFAULT, 0, {0, OWN, 7, false}, true},
    {CC_STREAM_DEFAULT, 0, {1, OWN, 7, false}, true},
    {OWN, 0, {0, OWN, 0, false}, true},
    {OWN, 7, {0, OWN, 7, false}, false},
    {OWN, 7, {0, OWN, 8, false}, true},
    {OWN, 7, {1, OWN, 7, false}, true},
    {OWN, 7, {CC_PLACE_HOST, CC_STREAM_DEFAULT, 0, false}, true},
    {CC_STREAM_DEFAULT, 0, {CC_PLACE_HOST, CC_STREAM_DEFAULT, 0, false}, true},
};

START_TEST(streams_wait_for_what_is_not_in_order_anyway)
{
    const wait_case *that = &wait_cases[_i];
    const cc__box box = box_at(0, 4);
    cc__fences fences = {0};
    cc__fence *fence = note(CC__USE_WRITE, 0, 4);
    fence->stream = that->recorded_in;
    fence->stream_id = that->recorded_id;
    ck_assert(cc__timeline_is_quiet(&timeline, &box, CC__USE_READ, &that->waiter) == !that->waits);
    ck_assert_int_eq(cc__timeline_collect(&timeline, &box, CC__USE_READ, &that->waiter, &fences), CC_OK);
    ck_assert_int_eq(fences.count, that->waits);
    cc__fences_destroy(&fences);
}
END_TEST

START_TEST(a_stream_is_made_to_wait)
{
    cc_stream waiting = NULL;
    note(CC__USE_WRITE, 0, 4);
    cc__fences fences = collect(CC__USE_READ, 0, 4);
    ck_assert_int_eq(backend->stream_create(backend, 1, &waiting), CC_OK);
    ck_assert_int_eq(cc__fences_wait_in_stream(&fences, backend, 1, waiting), CC_OK);
    ck_assert_int_eq(calls(FAULTY_STREAM_WAIT), 1);
    const faulty_rule rule = {FAULTY_STREAM_WAIT, 1, false, CC_ERROR_DEVICE, 999};
    faulty_backend_add_rule(backend, &rule);
    expect_passed_on(CC_ERROR_DEVICE, cc__fences_wait_in_stream(&fences, backend, 1, waiting));
    faulty_backend_clear_rules(backend);
    cc__fences_destroy(&fences);
    backend->stream_destroy(backend, 1, waiting);
}
END_TEST

/* The default stream's mark is set when somebody waits, and not before; its own uses need none. */
START_TEST(the_default_stream_is_marked_late)
{
    const cc__box box = box_at(0, 4);
    const cc__waiter itself = {.device = 0, .stream = CC_STREAM_DEFAULT};
    cc__fence *fence = NULL;
    cc__fences fences = {0};
    ck_assert_int_eq(cc__fence_create_for_default_stream(backend, 0, &fence), CC_OK);
    for (int32_t i = 0; i < 3; ++i) {
        ck_assert_int_eq(cc__timeline_reserve(&timeline), CC_OK);
        cc__timeline_add(&timeline, &box, CC__USE_READ, fence);
    }
    ck_assert_int_eq(timeline.count, 1);
    ck_assert_int_eq(cc__timeline_collect(&timeline, &box, CC__USE_WRITE, &itself, &fences), CC_OK);
    ck_assert_int_eq(fences.count, 0);
    ck_assert_int_eq(calls(FAULTY_EVENT_RECORD), 0);

    cc__emulated_set_capturing(emulated, 0, CC_STREAM_DEFAULT, true);
    expect_passed_on(CC_ERROR_CAPTURE, cc__timeline_collect(&timeline, &box, CC__USE_WRITE, &cc__waiter_host, &fences));
    cc__emulated_set_capturing(emulated, 0, CC_STREAM_DEFAULT, false);
    const faulty_rule rule = {FAULTY_EVENT_CREATE, 1, false, CC_ERROR_DEVICE, 999};
    faulty_backend_add_rule(backend, &rule);
    expect_passed_on(CC_ERROR_DEVICE, cc__timeline_collect(&timeline, &box, CC__USE_WRITE, &cc__waiter_host, &fences));
    faulty_backend_clear_rules(backend);

    ck_assert_int_eq(cc__timeline_collect(&timeline, &box, CC__USE_WRITE, &cc__waiter_host, &fences), CC_OK);
    ck_assert_int_eq(fences.count, 1);
    ck_assert_int_eq(calls(FAULTY_EVENT_RECORD), 1);
    cc__fences_destroy(&fences);
    ck_assert_int_eq(cc__timeline_collect(&timeline, &box, CC__USE_WRITE, &cc__waiter_host, &fences), CC_OK);
    ck_assert_int_eq(calls(FAULTY_EVENT_RECORD), 1);
    cc__fences_destroy(&fences);
    cc__fence_release(fence);
}
END_TEST

static void count_up(void *argument)
{
    ++*(int32_t *)argument;
}

START_TEST(synchronizing_waits_until_all_is_done)
{
    int32_t done = 0;
    ck_assert_int_eq(cc__emulated_launch(emulated, 0, stream, count_up, &done), CC_OK);
    note(CC__USE_READ, 0, 1);
    ck_assert_int_eq(cc__emulated_launch(emulated, 0, CC_STREAM_DEFAULT, count_up, &done), CC_OK);
    cc__fence *fence = fence_in(0, CC_STREAM_DEFAULT);
    const cc__box box = box_at(1, 1);
    ck_assert_int_eq(cc__timeline_reserve(&timeline), CC_OK);
    cc__timeline_add(&timeline, &box, CC__USE_READ, fence);
    cc__fence_release(fence);
    cc__fences fences = collect(CC__USE_WRITE, 0, 2);
    ck_assert_int_eq(fences.count, 2);
    ck_assert_int_eq(done, 0);
    ck_assert_int_eq(cc__fences_synchronize(&fences), CC_OK);
    ck_assert_int_eq(done, 2);
    const faulty_rule rule = {FAULTY_EVENT_SYNCHRONIZE, 2, false, CC_ERROR_DEVICE, 999};
    faulty_backend_add_rule(backend, &rule);
    expect_passed_on(CC_ERROR_DEVICE, cc__fences_synchronize(&fences));
    ck_assert_int_eq(cc_last_native_error(), 999);
    cc__fences_destroy(&fences);
}
END_TEST

/* Per pixel: the last write and the reads since must be waited for; nothing that was never queued there may be. */
#define PIXELS 24
#define STEPS 120

START_TEST(random_uses_wait_for_enough)
{
    uint32_t state = (uint32_t)_i + 1;
    cc__fence *fences[STEPS];
    bool touched[PIXELS][STEPS] = {{false}};
    bool needed[PIXELS][STEPS] = {{false}};
    cc__use uses[STEPS];
    for (int32_t at = 0; at < STEPS; ++at) {
        const int64_t i = random_below(&state, PIXELS);
        const int64_t size = 1 + random_below(&state, PIXELS - i);
        uses[at] = random_below(&state, 3) == 0 ? CC__USE_WRITE : CC__USE_READ;
        fences[at] = cc__fence_retain(note(uses[at], i, size));
        for (int64_t pixel = i; pixel < i + size; ++pixel) {
            for (int32_t before = 0; before < at && uses[at] == CC__USE_WRITE; ++before)
                needed[pixel][before] = false;
            touched[pixel][at] = needed[pixel][at] = true;
        }
        const int64_t pixel = random_below(&state, PIXELS);
        const cc__use use = (cc__use)random_below(&state, 2);
        cc__fences waits = collect(use, pixel, 1);
        for (int32_t before = 0; before <= at; ++before) {
            const bool found = contains(&waits, fences[before]);
            const bool must = needed[pixel][before] && (use == CC__USE_WRITE || uses[before] == CC__USE_WRITE);
            if (must && !found)
                ck_abort_msg("step %d does not wait for %d", (int)at, (int)before);
            if (found && !touched[pixel][before])
                ck_abort_msg("step %d waits for %d, which is elsewhere", (int)at, (int)before);
        }
        cc__fences_destroy(&waits);
    }
    for (int32_t at = 0; at < STEPS; ++at)
        cc__fence_release(fences[at]);
}
END_TEST

START_TEST(a_standing_fence_is_a_new_moment_for_each_who_waits)
{
    cc__fence *standing = NULL;
    const cc__box all = {{0, 0, 0, 0}, {4, 1, 1, 1}};
    const cc__waiter anybody = cc__waiter_of_library(0);
    cc__waiter borrower = anybody;
    ck_assert_int_eq(cc__fence_create_standing(backend, 0, stream, 7, true, &standing), CC_OK);
    ck_assert_int_eq(cc__timeline_reserve(&timeline), CC_OK);
    cc__timeline_add(&timeline, &all, CC__USE_WRITE_PARTS, standing);
    ck_assert(!cc__timeline_is_quiet(&timeline, &all, CC__USE_READ, &anybody));
    ck_assert(!cc__timeline_is_quiet(&timeline, &all, CC__USE_READ, &cc__waiter_host));
    borrower.stream = stream;
    borrower.stream_id = 7;
    ck_assert(cc__timeline_is_quiet(&timeline, &all, CC__USE_WRITE, &borrower));
    borrower.stream_id = 8;
    ck_assert(!cc__timeline_is_quiet(&timeline, &all, CC__USE_WRITE, &borrower));
    borrower.skips_standing = true;
    ck_assert(cc__timeline_is_quiet(&timeline, &all, CC__USE_WRITE, &borrower));

    cc__fence *moments[2] = {NULL, NULL};
    for (int32_t i = 0; i < 2; ++i) {
        cc__fences fences = {0};
        ck_assert_int_eq(cc__timeline_collect(&timeline, &all, CC__USE_READ, &anybody, &fences), CC_OK);
        ck_assert_int_eq(cc__timeline_collect(&timeline, &all, CC__USE_READ, &anybody, &fences), CC_OK);
        ck_assert_int_eq(fences.count, 1);
        ck_assert_ptr_ne(fences.entries[0], standing);
        ck_assert_ptr_nonnull(fences.entries[0]->event);
        moments[i] = cc__fence_retain(fences.entries[0]);
        cc__fences_destroy(&fences);
    }
    ck_assert_ptr_ne(moments[0], moments[1]);
    cc__fence_release(moments[0]);
    cc__fence_release(moments[1]);

    /* A write of everything by somebody who has waited does not end it; its own end does. */
    cc__fence *later = NULL;
    ck_assert_int_eq(cc__fence_create(backend, 0, &later), CC_OK);
    ck_assert_int_eq(cc__fence_record(later, stream, 7), CC_OK);
    ck_assert_int_eq(cc__timeline_reserve(&timeline), CC_OK);
    cc__timeline_add(&timeline, &all, CC__USE_WRITE, later);
    ck_assert_int_eq(timeline.count, 2);
    cc__fence_release(later);
    cc__fence_end_standing(standing, false, NULL);
    ck_assert(standing->is_device_wide);
    cc__timeline_settle_standing(&timeline, standing);
    ck_assert(cc__timeline_has_device_wide(&timeline));
    standing->is_complete = true;
    ck_assert(!cc__timeline_has_device_wide(&timeline));
    cc__fence_release(standing);
}
END_TEST

/* Boxes in structures of the caller's. */
START_TEST(one_of_several_boxes_is_enough)
{
    const struct {
        cc__box box;
        int64_t other;
    } boxes[] = {{box_at(0, 2), 1}, {box_at(10, 2), 2}, {box_at(20, 2), 3}};
    cc__fences fences = {0};
    cc__fence *last = note(CC__USE_WRITE, 21, 4);
    cc__fence *between = note(CC__USE_WRITE, 12, 8);
    cc__fence *read = note(CC__USE_READ, 0, 30);
    ck_assert_int_eq(cc__timeline_collect_boxes(&timeline, &boxes[0].box, sizeof boxes[0], 3, CC__USE_READ,
                                                &cc__waiter_host, &fences),
                     CC_OK);
    ck_assert_int_eq(fences.count, 1);
    ck_assert(contains(&fences, last) && !contains(&fences, between));
    cc__fences_destroy(&fences);
    ck_assert_int_eq(cc__timeline_collect_boxes(&timeline, &boxes[0].box, sizeof boxes[0], 2, CC__USE_WRITE,
                                                &cc__waiter_host, &fences),
                     CC_OK);
    ck_assert_int_eq(fences.count, 1);
    ck_assert(contains(&fences, read));
    cc__fences_destroy(&fences);
    /* Whichever of the boxes an entry overlaps, and whichever the one before did. */
    cc__fence *first = note(CC__USE_WRITE, 0, 1);
    cc__fence *second = note(CC__USE_WRITE, 11, 1);
    ck_assert_int_eq(cc__timeline_collect_boxes(&timeline, &boxes[0].box, sizeof boxes[0], 3, CC__USE_READ,
                                                &cc__waiter_host, &fences),
                     CC_OK);
    ck_assert_int_eq(fences.count, 3);
    ck_assert(contains(&fences, last) && contains(&fences, first) && contains(&fences, second));
    cc__fences_destroy(&fences);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timeline");
    TCase *tcase = tcase_create("timeline");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, one_of_several_boxes_is_enough);
    tcase_add_test(tcase, a_read_waits_for_writes_a_write_for_all);
    tcase_add_test(tcase, a_write_drops_what_is_inside_its_box);
    tcase_add_test(tcase, a_read_drops_nothing);
    tcase_add_test(tcase, a_write_of_parts_drops_nothing);
    tcase_add_test(tcase, a_fence_is_waited_for_once);
    tcase_add_test(tcase, what_is_known_to_be_done_is_not_waited_for);
    tcase_add_test(tcase, what_is_done_already_is_not_added);
    tcase_add_test(tcase, what_is_done_can_be_dropped);
    tcase_add_test(tcase, what_a_stream_followed_is_done_unless_device_wide);
    tcase_add_test(tcase, a_long_list_is_cleared_of_what_is_done);
    tcase_add_test(tcase, what_cannot_be_asked_stays);
    tcase_add_test(tcase, a_reserved_place_stays_reserved);
    tcase_add_test(tcase, a_fence_is_used_again);
    tcase_add_test(tcase, a_fence_that_somebody_has_is_not_used_again);
    tcase_add_test(tcase, a_fence_of_another_device_is_not_used_again);
    tcase_add_test(tcase, a_fence_without_event_is_not_used_again);
    tcase_add_test(tcase, one_fence_for_use_after_use);
    tcase_add_test(tcase, no_memory_for_fences);
    tcase_add_test(tcase, a_stream_is_made_to_wait);
    tcase_add_test(tcase, the_default_stream_is_marked_late);
    tcase_add_loop_test(tcase, streams_wait_for_what_is_not_in_order_anyway, 0,
                        sizeof wait_cases / sizeof wait_cases[0]);
    tcase_add_test(tcase, synchronizing_waits_until_all_is_done);
    tcase_add_loop_test(tcase, random_uses_wait_for_enough, 0, 20);
    tcase_add_test(tcase, a_standing_fence_is_a_new_moment_for_each_who_waits);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
