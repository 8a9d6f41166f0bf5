/* What must happen before pixels can be used, against rules applied pixel by pixel. */
#include "base/allocate.h"
#include "data_manager/plan.h"
#include "support/expect.h"
#include "support/plain_work.h"

#include <stdlib.h>
#include <string.h>

#define HOST CC__SOURCE(CC_PLACE_HOST)
#define DEVICE(d) CC__SOURCE(d)

static const cc__plan_topology no_peers = {0};
static long live_before;

static void set_up(void)
{
    live_before = cc__allocations_live();
}

static void tear_down(void)
{
    cc__allocate_set_hook(NULL);
    ck_assert_int_eq(cc__allocations_live(), live_before);
}

/* Images of 2-D, which is enough here: axes are the business of boxes. */
#define SIZE 12

static const cc__box whole = {{0, 0, 0, 0}, {SIZE, SIZE, 1, 1}};

static cc__box box_at(int64_t i, int64_t j, int64_t size_i, int64_t size_j)
{
    const cc__box box = {{i, j, 0, 0}, {size_i, size_j, 1, 1}};
    return box;
}

static void start(cc__validity *validity, cc__sources sources)
{
    cc__validity_init(validity, &whole, sources);
}

static void put(cc__validity *validity, cc__box box, cc__sources sources)
{
    ck_assert_int_eq(cc__validity_prepare(validity, &box, 0, sources), CC_OK);
    cc__validity_install(validity);
}

static void plan_stale(const cc__validity *validity, cc__box box, cc_place place, const cc__plan_topology *topology,
                       cc__plan *out_plan)
{
    ck_assert_int_eq(cc__plan_make(validity, &box, place, CC__PLAN_STALE, place, topology, out_plan), CC_OK);
}

typedef struct nearest_case {
    cc_place place;
    cc__sources sources;
    cc__sources peers;
    cc_place source;
} nearest_case;

static const nearest_case nearest_cases[] = {
    /* For a device: a peer, then the host, then a device that is none; the lowest of several. */
    {0, HOST, 0, CC_PLACE_HOST},
    {0, HOST | DEVICE(1), DEVICE(1), 1},
    {0, HOST | DEVICE(1) | DEVICE(2), DEVICE(2), 2},
    {0, HOST | DEVICE(1) | DEVICE(2), DEVICE(1) | DEVICE(2), 1},
    {0, HOST | DEVICE(1), 0, CC_PLACE_HOST},
    {0, HOST | DEVICE(1), DEVICE(2), CC_PLACE_HOST},
    {0, DEVICE(1) | DEVICE(2), 0, 1},
    {0, DEVICE(1) | DEVICE(2), DEVICE(2), 2},
    {60, DEVICE(0) | DEVICE(59), DEVICE(59), 59},
    {0, DEVICE(60), 0, 60},
    /* For the host the lowest device. */
    {CC_PLACE_HOST, DEVICE(2) | DEVICE(5), 0, 2},
    {CC_PLACE_HOST, DEVICE(2) | DEVICE(5), DEVICE(5), 2},
    {CC_PLACE_HOST, DEVICE(60), 0, 60},
};

START_TEST(a_copy_comes_from_the_nearest)
{
    const nearest_case *that = &nearest_cases[_i];
    const cc__plan_topology topology = {.peers = that->peers};
    cc__validity validity;
    cc__plan plan;
    start(&validity, that->sources);
    plan_stale(&validity, box_at(1, 2, 3, 4), that->place, &topology, &plan);
    ck_assert_int_eq(plan.count, 1);
    ck_assert_int_eq(plan.steps[0].kind, CC__STEP_COPY);
    ck_assert_int_eq(plan.steps[0].source, that->source);
    ck_assert_int_eq(plan.steps[0].box.start[0], 1);
    ck_assert_int_eq(plan.steps[0].box.start[1], 2);
    ck_assert_int_eq(plan.steps[0].box.size[0], 3);
    ck_assert_int_eq(plan.steps[0].box.size[1], 4);
    cc__plan_destroy(&plan);
    cc__validity_destroy(&validity);
}
END_TEST

START_TEST(the_fill_value_comes_before_a_copy)
{
    cc__validity validity;
    cc__plan plan;
    start(&validity, CC__SOURCE_CONSTANT | HOST);
    plan_stale(&validity, whole, 0, &no_peers, &plan);
    ck_assert_int_eq(plan.count, 1);
    ck_assert_int_eq(plan.steps[0].kind, CC__STEP_CONSTANT);
    plan_stale(&validity, whole, CC_PLACE_HOST, &no_peers, &plan);
    ck_assert_int_eq(plan.count, 0);
    cc__validity_destroy(&validity);
}
END_TEST

START_TEST(undefined_pixels_are_told_and_not_moved)
{
    cc__validity validity;
    cc__plan plan;
    start(&validity, CC__SOURCE_UNDEFINED);
    put(&validity, box_at(0, 0, SIZE, 6), HOST);
    plan_stale(&validity, whole, 0, &no_peers, &plan);
    ck_assert(plan.reads_undefined);
    ck_assert_int_eq(plan.count, 1);
    plan_stale(&validity, box_at(0, 0, SIZE, 6), 0, &no_peers, &plan);
    ck_assert(!plan.reads_undefined);
    ck_assert_int_eq(plan.count, 1);
    ck_assert_int_eq(cc__plan_make(&validity, &whole, 0, CC__PLAN_STALE_OR_ZERO, 0, &no_peers, &plan), CC_OK);
    ck_assert(plan.reads_undefined);
    ck_assert_int_eq(plan.count, 2);
    for (int32_t i = 0; i < 2; ++i)
        ck_assert_int_eq(plan.steps[i].kind, plan.steps[i].box.start[1] == 0 ? CC__STEP_COPY : CC__STEP_ZERO);
    cc__plan_destroy(&plan);
    cc__validity_destroy(&validity);
}
END_TEST

START_TEST(steps_that_continue_each_other_are_one)
{
    cc__validity validity;
    cc__plan plan;
    start(&validity, DEVICE(0));
    /* Cells differ in what else is valid, but all four quarters come from device 0. */
    put(&validity, box_at(0, 0, 6, 6), DEVICE(0) | DEVICE(1));
    put(&validity, box_at(6, 0, 6, 6), DEVICE(0) | DEVICE(2));
    put(&validity, box_at(0, 6, 6, 6), DEVICE(0) | DEVICE(1) | DEVICE(2));
    ck_assert_int_eq(validity.cells.count, 3);
    plan_stale(&validity, whole, CC_PLACE_HOST, &no_peers, &plan);
    ck_assert_int_eq(plan.count, 1);
    ck_assert(cc__box_equal(&plan.steps[0].box, &whole));
    cc__validity_destroy(&validity);
}
END_TEST

START_TEST(steps_of_another_origin_stay_apart)
{
    cc__validity validity;
    cc__plan plan;
    start(&validity, DEVICE(0));
    put(&validity, box_at(0, 0, SIZE, 4), DEVICE(1));
    put(&validity, box_at(0, 4, SIZE, 4), CC__SOURCE_CONSTANT);
    plan_stale(&validity, whole, CC_PLACE_HOST, &no_peers, &plan);
    ck_assert_int_eq(plan.count, 3);
    cc__validity_destroy(&validity);
}
END_TEST

START_TEST(more_steps_than_fit_inside)
{
    cc__validity validity;
    cc__plan plan;
    bool seen[SIZE] = {false};
    start(&validity, HOST);
    for (int64_t i = 0; i < SIZE; i += 2)
        put(&validity, box_at(i, 0, 1, SIZE), DEVICE(0));
    ck_assert_int_eq(cc__plan_make(&validity, &whole, CC_PLACE_HOST, CC__PLAN_STALE, 0, &no_peers, &plan), CC_OK);
    ck_assert_int_eq(plan.count, SIZE / 2);
    ck_assert_int_gt(plan.count, CC__PLAN_INLINE_STEPS);
    for (int32_t i = 0; i < plan.count; ++i) {
        ck_assert_int_eq(plan.steps[i].box.size[0], 1);
        ck_assert_int_eq(plan.steps[i].box.size[1], SIZE);
        ck_assert(!seen[plan.steps[i].box.start[0]]);
        seen[plan.steps[i].box.start[0]] = true;
    }
    cc__plan_destroy(&plan);
    ck_assert_int_eq(plan.count, 0);
    cc__validity_destroy(&validity);
}
END_TEST

START_TEST(no_memory_for_more_steps)
{
    cc__validity validity;
    cc__plan plan;
    start(&validity, HOST);
    for (int64_t i = 0; i < SIZE; i += 2)
        put(&validity, box_at(i, 0, 1, SIZE), DEVICE(0));
    expect_allocations_to_fail_from(1);
    expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY,
                     cc__plan_make(&validity, &whole, CC_PLACE_HOST, CC__PLAN_STALE, 0, &no_peers, &plan));
    cc__allocate_set_hook(NULL);
    ck_assert_int_eq(plan.count, 0);
    cc__validity_destroy(&validity);
}
END_TEST

START_TEST(nothing_to_do_for_no_pixels)
{
    const cc__box nothing = {{0, 0, 0, 0}, {0, SIZE, 1, 1}};
    cc__validity validity;
    cc__plan plan;
    start(&validity, HOST);
    plan_stale(&validity, nothing, 0, &no_peers, &plan);
    ck_assert_int_eq(plan.count, 0);
    cc__validity_destroy(&validity);
    cc__validity_init(&validity, &nothing, CC__SOURCE_UNDEFINED);
    plan_stale(&validity, nothing, 0, &no_peers, &plan);
    ck_assert_int_eq(plan.count, 0);
    ck_assert(!plan.reads_undefined);
    cc__validity_destroy(&validity);
}
END_TEST

/* The rules again, for one pixel. False when there is nothing to do. */
static bool step_for(cc__sources sources, cc_place place, cc__plan_scope scope, cc_place only_at, cc__sources peers,
                     cc__step *out_step)
{
    const bool wanted = scope == CC__PLAN_ONLY_AT ? sources == CC__SOURCE(only_at) : (sources & CC__SOURCE(place)) == 0;
    if (!wanted || (sources == CC__SOURCE_UNDEFINED && scope != CC__PLAN_STALE_OR_ZERO))
        return false;
    out_step->source = CC_PLACE_HOST;
    out_step->kind = sources == CC__SOURCE_UNDEFINED        ? CC__STEP_ZERO
                     : (sources & CC__SOURCE_CONSTANT) != 0 ? CC__STEP_CONSTANT
                                                            : CC__STEP_COPY;
    if (out_step->kind != CC__STEP_COPY)
        return true;
    for (cc_place peer = 0; peer <= 60 && place != CC_PLACE_HOST; ++peer) {
        if ((sources & peers & CC__SOURCE(peer)) != 0) {
            out_step->source = peer;
            return true;
        }
    }
    for (cc_place other = CC_PLACE_HOST; other <= 60; ++other) {
        if ((sources & CC__SOURCE(other)) != 0) {
            out_step->source = other;
            return true;
        }
    }
    return false;
}

/* Steps of one origin follow each other, and what is said of all of them is so. */
static void check_origins(const cc__plan *plan)
{
    int32_t origins = 0;
    for (int32_t i = 0, end = 0; i < plan->count; i = end) {
        end = cc__plan_end_of_origin(plan, i);
        ++origins;
        for (int32_t other = 0; other < plan->count; ++other)
            ck_assert(cc__steps_have_one_origin(&plan->steps[i], &plan->steps[other]) == (other >= i && other < end));
    }
    ck_assert_int_eq(plan->origins, origins);
    int64_t pixels = 0;
    for (int32_t i = 0; i < plan->count; ++i) {
        ck_assert_int_eq(cc__plan_pixels(plan, i, i + 1), cc__box_pixels(&plan->steps[i].box));
        pixels += cc__box_pixels(&plan->steps[i].box);
    }
    ck_assert_int_eq(cc__plan_pixels(plan, 0, plan->count), pixels);
    for (int32_t axis = 0; plan->count > 0 && axis < CC_MAX_DIMENSION; ++axis) {
        int64_t start = INT64_MAX;
        int64_t end = 0;
        for (int32_t i = 0; i < plan->count; ++i) {
            const cc__box *box = &plan->steps[i].box;
            start = box->start[axis] < start ? box->start[axis] : start;
            end = box->start[axis] + box->size[axis] > end ? box->start[axis] + box->size[axis] : end;
        }
        ck_assert_int_eq(plan->around.start[axis], start);
        ck_assert_int_eq(plan->around.size[axis], end - start);
    }
}

static void check_plan(const cc__plan *plan, cc__sources grid[SIZE][SIZE], const cc__box *box, cc_place place,
                       cc__plan_scope scope, cc_place only_at, cc__sources peers)
{
    const cc__step *step_at[SIZE][SIZE] = {{NULL}};
    bool undefined = false;
    for (int32_t i = 0; i < plan->count; ++i) {
        const cc__step *step = &plan->steps[i];
        ck_assert(cc__box_contains(box, &step->box) && !cc__box_is_empty(&step->box));
        for (int64_t y = step->box.start[1]; y < step->box.start[1] + step->box.size[1]; ++y) {
            for (int64_t x = step->box.start[0]; x < step->box.start[0] + step->box.size[0]; ++x) {
                if (step_at[y][x] != NULL)
                    ck_abort_msg("pixel (%d, %d) is moved twice", (int)x, (int)y);
                step_at[y][x] = step;
            }
        }
        for (int32_t other = 0; other < i; ++other) {
            cc__box joined;
            ck_assert(step->kind != plan->steps[other].kind ||
                      (step->kind == CC__STEP_COPY && step->source != plan->steps[other].source) ||
                      !cc__box_join(&step->box, &plan->steps[other].box, &joined));
        }
    }
    for (int64_t y = box->start[1]; y < box->start[1] + box->size[1]; ++y) {
        for (int64_t x = box->start[0]; x < box->start[0] + box->size[0]; ++x) {
            cc__step expected;
            undefined = undefined || (grid[y][x] == CC__SOURCE_UNDEFINED && scope != CC__PLAN_ONLY_AT);
            const cc__step *found = step_at[y][x];
            if (!step_for(grid[y][x], place, scope, only_at, peers, &expected)) {
                if (found != NULL)
                    ck_abort_msg("pixel (%d, %d) is moved for nothing", (int)x, (int)y);
                continue;
            }
            if (found == NULL || found->kind != expected.kind ||
                (expected.kind == CC__STEP_COPY && found->source != expected.source))
                ck_abort_msg("pixel (%d, %d) is forgotten, or comes from elsewhere", (int)x, (int)y);
        }
    }
    ck_assert_int_eq(plan->reads_undefined, undefined);
    check_origins(plan);
}

static cc__box random_box(uint32_t *state)
{
    const int64_t x = random_below(state, SIZE);
    const int64_t y = random_below(state, SIZE);
    return box_at(x, y, 1 + random_below(state, SIZE - x), 1 + random_below(state, SIZE - y));
}

START_TEST(random_plans_move_what_is_stale_and_nothing_else)
{
    static const cc_place places[] = {CC_PLACE_HOST, 0, 1, 5};
    uint32_t state = (uint32_t)_i + 1;
    cc__sources grid[SIZE][SIZE];
    cc__validity validity;
    start(&validity, CC__SOURCE_UNDEFINED);
    for (int32_t y = 0; y < SIZE; ++y)
        for (int32_t x = 0; x < SIZE; ++x)
            grid[y][x] = CC__SOURCE_UNDEFINED;
    for (int32_t step = 0; step < 60; ++step) {
        const cc__box box = random_box(&state);
        cc__sources sources = random_below(&state, 4) == 0 ? CC__SOURCE_CONSTANT : 0;
        for (int32_t i = 0; i < 4; ++i)
            sources |= random_below(&state, 3) == 0 ? CC__SOURCE(places[i]) : 0;
        put(&validity, box, sources != 0 ? sources : CC__SOURCE_UNDEFINED);
        for (int64_t y = box.start[1]; y < box.start[1] + box.size[1]; ++y)
            for (int64_t x = box.start[0]; x < box.start[0] + box.size[0]; ++x)
                grid[y][x] = sources != 0 ? sources : CC__SOURCE_UNDEFINED;

        const cc__box asked = random_below(&state, 4) == 0 ? whole : random_box(&state);
        const cc_place place = places[random_below(&state, 4)];
        const cc_place only_at = places[random_below(&state, 4)];
        const cc__plan_scope scope = (cc__plan_scope)random_below(&state, 3);
        const cc__plan_topology topology = {.peers = (cc__sources)random_below(&state, 256) & ~HOST};
        cc__plan plan;
        if (scope == CC__PLAN_ONLY_AT && only_at == place)
            continue;
        ck_assert_int_eq(cc__plan_make(&validity, &asked, place, scope, only_at, &topology, &plan), CC_OK);
        check_plan(&plan, grid, &asked, place, scope, only_at, topology.peers);
        cc__plan_destroy(&plan);
    }
    cc__validity_destroy(&validity);
}
END_TEST

/* Five cells, no two of which are together a box. */
START_TEST(what_is_together_a_box_is_one_step)
{
    const cc__box bricks[] = {box_at(4, 4, 2, 1), box_at(6, 4, 1, 2), box_at(5, 6, 2, 1), box_at(4, 5, 1, 2),
                              box_at(5, 5, 1, 1)};
    const cc__box together = box_at(4, 4, 3, 3);
    cc__validity validity;
    cc__plan plan;
    start(&validity, DEVICE(0));
    for (int32_t i = 0; i < 5; ++i)
        put(&validity, bricks[i], HOST);
    ck_assert_int_eq(validity.cells.count, 5);
    plan_stale(&validity, whole, 0, &no_peers, &plan);
    ck_assert_int_eq(plan.count, 1);
    ck_assert(cc__box_equal(&plan.steps[0].box, &together));
    check_origins(&plan);
    cc__plan_destroy(&plan);
    cc__validity_destroy(&validity);
}
END_TEST

/* One step each, without what lies between them. */
START_TEST(scattered_boxes_are_a_step_each)
{
    const cc__box volume = {{0, 0, 0, 0}, {512, 512, 512, 1}};
    cc__validity validity;
    cc__plan plan;
    cc__validity_init(&validity, &volume, HOST | DEVICE(0));
    for (int64_t i = 0; i < 512; ++i) {
        const cc__box box = {{i % 8 * 64 + i % 5, i / 8 % 8 * 64 + i % 7, i / 64 * 64 + i % 11, 0}, {8, 8, 8, 1}};
        put(&validity, box, HOST);
    }
    plan_stale(&validity, volume, 0, &no_peers, &plan);
    ck_assert_int_eq(plan.count, 512);
    for (int32_t i = 0; i < plan.count; ++i)
        ck_assert_int_eq(cc__box_pixels(&plan.steps[i].box), 512);
    check_origins(&plan);
    cc__plan_destroy(&plan);
    /* Those in the first eighth along i, each cut. */
    const cc__box part = {{0, 0, 0, 0}, {5, 512, 512, 1}};
    plan_stale(&validity, part, 0, &no_peers, &plan);
    ck_assert_int_eq(plan.count, 64);
    check_origins(&plan);
    cc__plan_destroy(&plan);
    /* What was not written is all that the host alone does not have. */
    plan_stale(&validity, volume, CC_PLACE_HOST, &no_peers, &plan);
    ck_assert_int_eq(plan.count, 0);
    cc__validity_destroy(&validity);
}
END_TEST

static bool refuse(size_t size_bytes)
{
    (void)size_bytes;
    return true;
}

/* What one plan has allocated the next one needs not. */
START_TEST(a_plan_leaves_its_room_to_the_next)
{
    const cc__box volume = {{0, 0, 0, 0}, {4096, 2, 1, 1}};
    cc__validity validity;
    cc__plan_room room = {NULL, 0};
    cc__plan plan;
    cc__validity_init(&validity, &volume, HOST | DEVICE(0));
    for (int64_t i = 0; i < 100; ++i) {
        const cc__box box = {{4 * i, i % 2, 0, 0}, {2, 1, 1, 1}};
        put(&validity, box, HOST);
    }
    for (int32_t round = 0; round < 3; ++round) {
        cc__allocate_set_hook(round > 0 ? refuse : NULL);
        ck_assert_int_eq(cc__plan_make_in(&room, &validity, &volume, 0, CC__PLAN_STALE, 0, &no_peers, &plan), CC_OK);
        ck_assert_ptr_null(room.steps);
        ck_assert_int_eq(plan.count, 100);
        check_origins(&plan);
        cc__plan_leave(&plan, &room);
        ck_assert_int_ge(room.capacity, 100);
        ck_assert_int_eq(plan.count, 0);
    }
    cc__allocate_set_hook(NULL);
    /* Few steps need none, and more than there is room for are allocated. */
    const cc__box few = {{0, 0, 0, 0}, {8, 2, 1, 1}};
    ck_assert_int_eq(cc__plan_make_in(&room, &validity, &few, 0, CC__PLAN_STALE, 0, &no_peers, &plan), CC_OK);
    ck_assert_int_eq(plan.count, 2);
    ck_assert_ptr_nonnull(room.steps);
    cc__plan_leave(&plan, &room);
    for (int64_t i = 100; i < 1000; ++i) {
        const cc__box box = {{4 * i, i % 2, 0, 0}, {2, 1, 1, 1}};
        put(&validity, box, HOST);
    }
    ck_assert_int_eq(cc__plan_make_in(&room, &validity, &volume, 0, CC__PLAN_STALE, 0, &no_peers, &plan), CC_OK);
    ck_assert_int_eq(plan.count, 1000);
    check_origins(&plan);
    cc__plan_destroy(&plan);
    cc__free(room.steps);
    cc__validity_destroy(&validity);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("plan");
    TCase *tcase = tcase_create("plan");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, a_copy_comes_from_the_nearest, 0, sizeof nearest_cases / sizeof nearest_cases[0]);
    tcase_add_test(tcase, the_fill_value_comes_before_a_copy);
    tcase_add_test(tcase, undefined_pixels_are_told_and_not_moved);
    tcase_add_test(tcase, steps_that_continue_each_other_are_one);
    tcase_add_test(tcase, steps_of_another_origin_stay_apart);
    tcase_add_test(tcase, more_steps_than_fit_inside);
    tcase_add_test(tcase, no_memory_for_more_steps);
    tcase_add_test(tcase, what_is_together_a_box_is_one_step);
    tcase_add_test(tcase, scattered_boxes_are_a_step_each);
    tcase_add_test(tcase, a_plan_leaves_its_room_to_the_next);
    tcase_add_test(tcase, nothing_to_do_for_no_pixels);
    tcase_add_loop_test(tcase, random_plans_move_what_is_stale_and_nothing_else, 0, 30);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
