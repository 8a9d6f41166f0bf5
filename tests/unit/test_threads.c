/* One image used from several threads at once: each thread sees whole, current pixels or is refused, and nobody waits
 * for ever. */
#include "support/fixture.h"
#include "support/uniform.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HANGS_AFTER_SECONDS 100
#define THREADS 8
#define ROUNDS 100
#define RACES 25
#define SIZE_I 32
#define SIZE_J 16
#define PIXELS ((size_t)SIZE_I * SIZE_J)

/* What the threads of a test share. They count what is wrong; Check's own assertions are for the main thread. */
typedef struct shared_image {
    cc_image *image;
    pthread_barrier_t start;
    atomic_int next_member;
    atomic_int failed; /* calls with a status that they must not have here */
    atomic_int wrong;  /* pixels seen */
    atomic_int busy;
    atomic_int done;
    _Atomic(void *) lent;
} shared_image;

typedef void (*team_work)(shared_image *shared, int member);

typedef struct team_start {
    shared_image *shared;
    team_work work;
} team_start;

static void *start_member(void *argument)
{
    const team_start *start = argument;
    const int member = atomic_fetch_add(&start->shared->next_member, 1);
    pthread_barrier_wait(&start->shared->start);
    start->work(start->shared, member);
    return NULL;
}

/* Gives the others time to come in while one thread is at the device without the lock. */
static bool linger(faulty_operation operation)
{
    if (operation == FAULTY_COPY || operation == FAULTY_ALLOCATE)
        (void)usleep(500);
    return false;
}

/* Runs the work in so many threads, which start at the same moment, and waits for them. */
static void run_team(shared_image *shared, int members, team_work work)
{
    pthread_t threads[THREADS];
    team_start start = {shared, work};
    atomic_store(&shared->next_member, 0);
    ck_assert_int_eq(pthread_barrier_init(&shared->start, NULL, (unsigned)members), 0);
    for (int i = 0; i < members; ++i)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, start_member, &start), 0);
    for (int i = 0; i < members; ++i)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&shared->start);
    ck_assert_int_eq(atomic_load(&shared->failed), 0);
    ck_assert_int_eq(atomic_load(&shared->wrong), 0);
}

static void set_up(void)
{
    alarm(HANGS_AFTER_SECONDS);
    fixture_setup();
}

static void tear_down(void)
{
    fixture_teardown();
    alarm(0);
}

static void note_status(shared_image *shared, cc_status status, bool may_be_busy)
{
    if (status == CC_ERROR_BUSY && may_be_busy)
        atomic_fetch_add(&shared->busy, 1);
    else if (status != CC_OK)
        atomic_fetch_add(&shared->failed, 1);
}

/* All of them must be the first one's value, and that one `value` unless it is negative. */
static void note_pixels(shared_image *shared, const float *pixels, size_t count, float value)
{
    const float expected = value < 0 ? pixels[0] : value;
    for (size_t i = 0; i < count; ++i)
        if (pixels[i] != expected)
            atomic_fetch_add(&shared->wrong, 1);
}

static void read_on_host(shared_image *shared, float value, bool may_be_busy)
{
    void *pixels = NULL;
    const cc_status status = cc_image_map_host(shared->image, NULL, CC_ACCESS_READ, &pixels);
    note_status(shared, status, may_be_busy);
    if (status != CC_OK)
        return;
    sched_yield();
    note_pixels(shared, pixels, PIXELS, value);
    note_status(shared, cc_image_unmap_host(shared->image, pixels), false);
}

static cc__copy dense(void *destination, void *source, size_t size_bytes)
{
    const int64_t bytes = (int64_t)size_bytes;
    const cc__copy work = {.destination = {destination, {1, bytes, bytes, bytes}},
                           .source = {source, {1, bytes, bytes, bytes}},
                           .size = {bytes, 1, 1, 1},
                           .pixel_bytes = 1};
    return work;
}

/* Each thread in its own default stream. */
static void read_on_device(shared_image *shared, float value, bool may_be_busy)
{
    float seen[PIXELS];
    void *pixels = NULL;
    cc_status status = cc_image_map_device(shared->image, NULL, CC_ACCESS_READ, CC_STREAM_PER_THREAD, &pixels);
    note_status(shared, status, may_be_busy);
    if (status != CC_OK)
        return;
    const int32_t device = cc_image_get_device(shared->image);
    const cc__copy work = dense(seen, pixels, sizeof seen);
    status = fixture_inner->copy(fixture_inner, device, CC_STREAM_PER_THREAD, &work);
    if (status == CC_OK)
        status = fixture_inner->stream_synchronize(fixture_inner, device, CC_STREAM_PER_THREAD);
    note_status(shared, status, false);
    note_pixels(shared, seen, PIXELS, value);
    note_status(shared, cc_image_unmap_device(shared->image, pixels, CC_STREAM_PER_THREAD), false);
}

static void write_on_device(shared_image *shared, const cc_region *region, float value)
{
    float written[PIXELS];
    void *pixels = NULL;
    const size_t count = region != NULL ? (size_t)(region->size[0] * region->size[1]) : PIXELS;
    for (size_t i = 0; i < count; ++i)
        written[i] = value;
    cc_status status = cc_image_map_device(shared->image, region, CC_ACCESS_WRITE, CC_STREAM_PER_THREAD, &pixels);
    note_status(shared, status, true);
    if (status != CC_OK)
        return;
    const int32_t device = cc_image_get_device(shared->image);
    const cc__copy work = dense(pixels, written, count * sizeof written[0]);
    status = fixture_inner->copy(fixture_inner, device, CC_STREAM_PER_THREAD, &work);
    if (status == CC_OK)
        status = fixture_inner->stream_synchronize(fixture_inner, device, CC_STREAM_PER_THREAD);
    note_status(shared, status, false);
    note_status(shared, cc_image_unmap_device(shared->image, pixels, CC_STREAM_PER_THREAD), false);
}

static void write_on_host(shared_image *shared, const cc_region *region, float value)
{
    void *pixels = NULL;
    const size_t count = region != NULL ? (size_t)(region->size[0] * region->size[1]) : PIXELS;
    const cc_status status = cc_image_map_host(shared->image, region, CC_ACCESS_WRITE, &pixels);
    note_status(shared, status, true);
    if (status != CC_OK)
        return;
    for (size_t i = 0; i < count; ++i)
        ((float *)pixels)[i] = value;
    note_status(shared, cc_image_unmap_host(shared->image, pixels), false);
}

static void look_once(shared_image *shared, int member)
{
    (void)member;
    read_on_host(shared, 3, false);
}

START_TEST(the_first_look_on_the_host_is_raced)
{
    faulty_backend_set_hook(fixture_backend, linger);
    for (int round = 0; round < RACES; ++round) {
        shared_image shared = {.image = uniform_image(SIZE_I, SIZE_J)};
        const bool from_device = fixture_device_count() > 0;
        const float value = 3;
        if (from_device)
            uniform_write_on_device(shared.image, value);
        else
            fixture_ok(cc_image_fill(shared.image, NULL, &value, CC_STREAM_DEFAULT));
        run_team(&shared, THREADS, look_once);
        const cc_counters counters = fixture_counters(shared.image);
        ck_assert_uint_eq(counters.host_allocations, 1);
        ck_assert_uint_eq(counters.device_to_host_copies, from_device);
        ck_assert_uint_eq(counters.fills, !from_device);
        cc_image_release(shared.image);
    }
}
END_TEST

static void look_once_on_device(shared_image *shared, int member)
{
    (void)member;
    read_on_device(shared, 3, false);
}

START_TEST(the_first_look_on_a_device_is_raced)
{
    faulty_backend_set_hook(fixture_backend, linger);
    for (int round = 0; fixture_device_count() > 0 && round < RACES; ++round) {
        shared_image shared = {.image = uniform_image(SIZE_I, SIZE_J)};
        uniform_write_on_host(shared.image, 3);
        faulty_backend_reset_counts(fixture_backend);
        run_team(&shared, THREADS, look_once_on_device);
        const faulty_counts counts = faulty_backend_counts(fixture_backend);
        ck_assert_int_eq(counts.calls[FAULTY_ALLOCATE], 1);
        ck_assert_int_eq(counts.host_to_device_copies, 1);
        ck_assert_uint_eq(fixture_counters(shared.image).device_allocations, 1);
        ck_assert_uint_eq(fixture_counters(shared.image).host_to_device_copies, 1);
        cc_image_release(shared.image);
    }
}
END_TEST

static void look_here_or_there(shared_image *shared, int member)
{
    for (int round = 0; round < ROUNDS; ++round) {
        if (member % 2 == 0)
            read_on_host(shared, 4, false);
        else
            read_on_device(shared, 4, false);
    }
}

START_TEST(readers_on_both_sides_share)
{
    for (int members = 2; fixture_device_count() > 0 && members <= THREADS; members *= 2) {
        shared_image shared = {.image = uniform_image(SIZE_I, SIZE_J)};
        uniform_write_on_device(shared.image, 4);
        run_team(&shared, members, look_here_or_there);
        const cc_counters counters = fixture_counters(shared.image);
        ck_assert_uint_eq(counters.device_to_host_copies, 1);
        ck_assert_uint_eq(counters.host_to_device_copies, 0);
        cc_image_release(shared.image);
    }
}
END_TEST

/* The writers' values are all different; a reader may see any of them, but only one at a time. */
static void write_or_look(shared_image *shared, int member)
{
    const bool has_device = fixture_device_count() > 0;
    for (int round = 0; round < ROUNDS; ++round) {
        const float value = (float)(1 + member * ROUNDS + round);
        if (member == 0)
            write_on_host(shared, NULL, value);
        else if (member == 1 && has_device)
            write_on_device(shared, NULL, value);
        else if (member % 2 == 0 || !has_device)
            read_on_host(shared, -1, true);
        else
            read_on_device(shared, -1, true);
    }
}

START_TEST(readers_never_see_half_a_write)
{
    shared_image shared = {.image = uniform_image(SIZE_I, SIZE_J)};
    run_team(&shared, THREADS, write_or_look);
    /* Nobody holds anything any more. */
    uniform_write_on_host(shared.image, 5);
    uniform_expect_on_host(shared.image, 5);
    cc_image_release(shared.image);
}
END_TEST

START_TEST(a_writer_excludes_readers_and_writers)
{
    shared_image shared = {.image = uniform_image(SIZE_I, SIZE_J)};
    void *pixels = NULL;
    uniform_write_on_host(shared.image, 5);
    fixture_ok(cc_image_map_host(shared.image, NULL, CC_ACCESS_READ_WRITE, &pixels));
    run_team(&shared, THREADS, write_or_look);
    ck_assert_int_eq(atomic_load(&shared.busy), (int64_t)THREADS * ROUNDS);
    fixture_ok(cc_image_unmap_host(shared.image, pixels));
    uniform_expect_on_host(shared.image, 5);
    cc_image_release(shared.image);
}
END_TEST

#define ROWS_PIXELS ((size_t)2 * SIZE_I)

/* Each member owns two rows; even members write them on the host, odd ones on the device. */
static void write_own_rows(shared_image *shared, int member)
{
    const cc_region rows = {.index = {0, INT64_C(2) * member}, .size = {SIZE_I, 2}};
    for (int round = 0; round < ROUNDS; ++round) {
        if (member % 2 == 0 || fixture_device_count() == 0)
            write_on_host(shared, &rows, (float)(100 * member + round));
        else
            write_on_device(shared, &rows, (float)(100 * member + round));
    }
}

START_TEST(writers_of_disjoint_rows_do_not_meet)
{
    shared_image shared = {.image = uniform_image(SIZE_I, SIZE_J)};
    void *pixels = NULL;
    run_team(&shared, THREADS, write_own_rows);
    ck_assert_int_eq(atomic_load(&shared.busy), 0);
    fixture_ok(cc_image_map_host(shared.image, NULL, CC_ACCESS_READ, &pixels));
    for (int member = 0; member < THREADS; ++member)
        note_pixels(&shared, (const float *)pixels + ROWS_PIXELS * (size_t)member, ROWS_PIXELS,
                    (float)(100 * member + ROUNDS - 1));
    ck_assert_int_eq(atomic_load(&shared.wrong), 0);
    fixture_ok(cc_image_unmap_host(shared.image, pixels));
    cc_image_release(shared.image);
}
END_TEST

static void move_or_look(shared_image *shared, int member)
{
    const int32_t last_device = fixture_device_count() - 1;
    for (int round = 0; round < ROUNDS; ++round) {
        if (member == 0)
            note_status(shared, cc_image_evict(shared->image, CC_PLACE_HOST), true);
        else if (member == 1)
            note_status(shared, cc_image_evict(shared->image, last_device), true);
        else if (member == 2)
            note_status(shared, cc_image_prefetch(shared->image, NULL, round % 2 == 0 ? CC_PLACE_HOST : last_device),
                        true);
        else if (member % 2 == 0)
            read_on_host(shared, 6, true);
        else
            read_on_device(shared, 6, true);
    }
}

START_TEST(pixels_stay_right_while_they_are_moved)
{
    if (fixture_device_count() == 0)
        return;
    shared_image shared = {.image = uniform_image(SIZE_I, SIZE_J)};
    uniform_write_on_device(shared.image, 6);
    run_team(&shared, THREADS, move_or_look);
    uniform_expect_on_host(shared.image, 6);
    uniform_expect_on_device(shared.image, 6);
    cc_image_release(shared.image);
}
END_TEST

/* One fills what others do not look at. */
static void work_or_look(shared_image *shared, int member)
{
    const float value = 7;
    const cc_region rest = {.index = {0, 1}, .size = {SIZE_I, SIZE_J - 1}};
    const cc_region row = {.size = {SIZE_I, 1}};
    for (int round = 0; round < ROUNDS; ++round) {
        void *pixels = NULL;
        if (member == 0) {
            note_status(shared, cc_image_fill(shared->image, &rest, &value, CC_STREAM_PER_THREAD), true);
            continue;
        }
        const cc_status status = cc_image_map_host(shared->image, &row, CC_ACCESS_READ, &pixels);
        note_status(shared, status, false);
        if (status != CC_OK)
            continue;
        note_pixels(shared, pixels, SIZE_I, 8);
        note_status(shared, cc_image_unmap_host(shared->image, pixels), false);
    }
}

START_TEST(an_operation_leaves_others_alone)
{
    shared_image shared = {.image = uniform_image(SIZE_I, SIZE_J)};
    uniform_write_on_host(shared.image, 8);
    if (fixture_device_count() > 0)
        uniform_expect_on_device(shared.image, 8);
    run_team(&shared, 4, work_or_look);
    ck_assert_int_eq(atomic_load(&shared.busy), 0);
    cc_image_release(shared.image);
}
END_TEST

/* One thread maps what another unmaps. */
static void map_for_the_other(shared_image *shared, int member)
{
    for (int round = 0; round < ROUNDS; ++round) {
        void *pixels = NULL;
        if (member == 0) {
            note_status(shared, cc_image_map_host(shared->image, NULL, CC_ACCESS_READ_WRITE, &pixels), false);
            atomic_store(&shared->lent, pixels);
            while (atomic_load(&shared->lent) != NULL)
                sched_yield();
        } else {
            while ((pixels = atomic_load(&shared->lent)) == NULL)
                sched_yield();
            note_pixels(shared, pixels, PIXELS, (float)round);
            for (size_t i = 0; i < PIXELS; ++i)
                ((float *)pixels)[i] += 1;
            note_status(shared, cc_image_unmap_host(shared->image, pixels), false);
            atomic_store(&shared->lent, NULL);
        }
    }
}

START_TEST(one_thread_maps_and_another_unmaps)
{
    shared_image shared = {.image = uniform_image(SIZE_I, SIZE_J)};
    run_team(&shared, 2, map_for_the_other);
    uniform_expect_on_host(shared.image, ROUNDS);
    cc_image_release(shared.image);
}
END_TEST

/* The last owner goes while another thread reads: the pixels stay until they are unmapped. */
static void release_under_a_reader(shared_image *shared, int member)
{
    if (member == 0)
        cc_image_release(shared->image);
    else
        note_pixels(shared, atomic_load(&shared->lent), PIXELS, 9);
    atomic_fetch_add(&shared->done, 1);
    while (atomic_load(&shared->done) < 2)
        sched_yield();
    if (member == 1)
        note_pixels(shared, atomic_load(&shared->lent), PIXELS, 9);
}

START_TEST(a_mapping_outlives_the_release)
{
    for (int round = 0; round < ROUNDS; ++round) {
        shared_image shared = {.image = uniform_image(SIZE_I, SIZE_J)};
        void *pixels = NULL;
        uniform_write_on_host(shared.image, 9);
        fixture_ok(cc_image_map_host(shared.image, NULL, CC_ACCESS_READ, &pixels));
        atomic_store(&shared.lent, pixels);
        run_team(&shared, 2, release_under_a_reader);
        fixture_ok(cc_image_unmap_host(shared.image, pixels));
    }
}
END_TEST

/* The last reference and the last mapping go at once: one of the two ends the image, and neither twice. */
static void end_at_once(shared_image *shared, int member)
{
    if (member == 0)
        cc_image_release(shared->image);
    else if (cc_image_unmap_host(shared->image, atomic_load(&shared->lent)) != CC_OK)
        atomic_fetch_add(&shared->failed, 1);
}

START_TEST(the_last_reference_and_the_last_mapping_race)
{
    for (int round = 0; round < 10 * ROUNDS; ++round) {
        shared_image shared = {.image = uniform_image(SIZE_I, SIZE_J)};
        void *pixels = NULL;
        fixture_ok(cc_image_map_host(shared.image, NULL, CC_ACCESS_READ, &pixels));
        atomic_store(&shared.lent, pixels);
        run_team(&shared, 2, end_at_once);
    }
}
END_TEST

/* Who has a mapping alone may have the image again, while the last reference goes. */
static void retain_at_once(shared_image *shared, int member)
{
    if (member == 0) {
        cc_image_release(shared->image);
        return;
    }
    (void)cc_image_retain(shared->image);
    if (cc_image_unmap_host(shared->image, atomic_load(&shared->lent)) != CC_OK)
        atomic_fetch_add(&shared->failed, 1);
    read_on_host(shared, 4, false);
}

START_TEST(a_mapping_is_enough_to_retain)
{
    for (int round = 0; round < 10 * ROUNDS; ++round) {
        shared_image shared = {.image = uniform_image(SIZE_I, SIZE_J)};
        void *pixels = NULL;
        uniform_write_on_host(shared.image, 4);
        fixture_ok(cc_image_map_host(shared.image, NULL, CC_ACCESS_READ, &pixels));
        atomic_store(&shared.lent, pixels);
        run_team(&shared, 2, retain_at_once);
        cc_image_release(shared.image);
    }
}
END_TEST

/* Every member has an ownership of its own, and work of its own queued. */
static void use_and_release(shared_image *shared, int member)
{
    if (member % 2 == 0 || fixture_device_count() == 0)
        read_on_host(shared, -1, true);
    else
        write_on_device(shared, NULL, (float)member);
    cc_image_release(shared->image);
}

START_TEST(the_last_owner_is_any_thread)
{
    for (int round = 0; round < ROUNDS; ++round) {
        shared_image shared = {.image = uniform_image(SIZE_I, SIZE_J)};
        for (int member = 1; member < THREADS; ++member)
            (void)cc_image_retain(shared.image);
        run_team(&shared, THREADS, use_and_release);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("threads");
    TCase *tcase = tcase_create("threads");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, HANGS_AFTER_SECONDS);
    tcase_add_test(tcase, the_first_look_on_the_host_is_raced);
    tcase_add_test(tcase, the_first_look_on_a_device_is_raced);
    tcase_add_test(tcase, readers_on_both_sides_share);
    tcase_add_test(tcase, readers_never_see_half_a_write);
    tcase_add_test(tcase, a_writer_excludes_readers_and_writers);
    tcase_add_test(tcase, writers_of_disjoint_rows_do_not_meet);
    tcase_add_test(tcase, pixels_stay_right_while_they_are_moved);
    tcase_add_test(tcase, an_operation_leaves_others_alone);
    tcase_add_test(tcase, one_thread_maps_and_another_unmaps);
    tcase_add_test(tcase, a_mapping_outlives_the_release);
    tcase_add_test(tcase, the_last_reference_and_the_last_mapping_race);
    tcase_add_test(tcase, a_mapping_is_enough_to_retain);
    tcase_add_test(tcase, the_last_owner_is_any_thread);
    suite_add_tcase(suite, tcase);
    return fixture_run(suite);
}
