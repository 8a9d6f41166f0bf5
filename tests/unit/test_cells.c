/* Boxes in a balanced tree, against a plain list of them. */
#include "base/allocate.h"
#include "data_manager/cells.h"
#include "support/expect.h"
#include "support/plain_work.h"

#include <stdlib.h>
#include <string.h>

#define A CC__SOURCE(CC_PLACE_HOST)
#define B CC__SOURCE(0)

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

/* A grid of places for boxes that do not touch each other. */
#define PLACES_I 16
#define PLACES_J 16
#define PLACES_K 8
#define PLACES 2048 /* the product */
#define PITCH INT64_C(8)

static cc__box box_in_place(int32_t place, int64_t inset, int64_t size)
{
    const int64_t i = place % PLACES_I;
    const int64_t j = place / PLACES_I % PLACES_J;
    const int64_t k = place / PLACES_I / PLACES_J;
    const cc__box box = {{i * PITCH + inset, j * PITCH + inset, k * PITCH + inset, 0}, {size, size, size, 1}};
    return box;
}

static const cc__box everything = {{0, 0, 0, 0}, {PLACES_I * PITCH, PLACES_J *PITCH, PLACES_K *PITCH, 1}};

typedef struct list {
    cc__cell cells[PLACES];
    int32_t number[PLACES]; /* CC__NO_CELL where there is none */
    int32_t count;
} list;

/* Everything that must hold of a node and of those below. */
static void check_node(const cc__cells *cells, int32_t at, int32_t parent)
{
    const cc__cell_node *node = &cells->nodes[at];
    ck_assert_int_eq(node->parent, parent);
    if (node->height == 0) {
        ck_assert_int_eq(node->child[0], CC__NO_CELL);
        return;
    }
    const cc__cell_node *left = &cells->nodes[node->child[0]];
    const cc__cell_node *right = &cells->nodes[node->child[1]];
    const int32_t taller = left->height > right->height ? left->height : right->height;
    const cc__box around = cc__box_bounding(&left->cell.box, &right->cell.box);
    ck_assert_int_eq(node->height, taller + 1);
    ck_assert_int_le(abs(left->height - right->height), 1);
    ck_assert(cc__box_equal(&node->cell.box, &around));
    ck_assert_uint_eq(node->cell.sources, left->cell.sources & right->cell.sources);
    check_node(cells, node->child[0], at);
    check_node(cells, node->child[1], at);
}

static void check_tree(const cc__cells *cells)
{
    ck_assert_int_le(2 * (int64_t)cells->count - 1, cells->capacity);
    if (cells->count > 0)
        check_node(cells, cells->root, CC__NO_CELL);
    else
        ck_assert_int_eq(cells->root, CC__NO_CELL);
}

static void check_walk(const cc__cells *cells, const list *all, const cc__box *box, cc__sources skip)
{
    bool seen[PLACES] = {false};
    cc__cells_walk walk;
    int32_t found = 0;
    cc__cells_begin(&walk, cells, box, skip);
    for (int32_t at = cc__cells_next(&walk); at != CC__NO_CELL; at = cc__cells_next(&walk)) {
        int32_t place = 0;
        while (place < PLACES && all->number[place] != at)
            ++place;
        ck_assert_int_lt(place, PLACES);
        ck_assert(!seen[place]);
        seen[place] = true;
        ++found;
        ck_assert(cc__box_equal(&cc__cells_get(cells, at)->box, &all->cells[place].box));
    }
    for (int32_t place = 0; place < PLACES; ++place) {
        const bool expected = all->number[place] != CC__NO_CELL && cc__box_overlaps(&all->cells[place].box, box) &&
                              (skip == 0 || (all->cells[place].sources & skip) != skip);
        if (seen[place] != expected)
            ck_abort_msg("the cell in place %d is %s", (int)place, expected ? "missing" : "not to be found");
    }
    ck_assert_int_le(found, all->count);
}

START_TEST(random_cells_are_found)
{
    static list all;
    uint32_t state = (uint32_t)_i + 1;
    const int32_t often = _i % 2 == 0 ? PLACES : 64; /* so many that a walk in order is too long; and few */
    cc__cells cells;
    cc__cells_init(&cells);
    all.count = 0;
    for (int32_t place = 0; place < PLACES; ++place)
        all.number[place] = CC__NO_CELL;
    for (int32_t step = 0; step < 2 * PLACES; ++step) {
        const int32_t place = (int32_t)random_below(&state, often);
        if (all.number[place] == CC__NO_CELL) {
            const int64_t inset = 1 + random_below(&state, 3);
            const cc__sources sources = random_below(&state, 4) == 0 ? A | B : A;
            all.cells[place] = (cc__cell){box_in_place(place, inset, 1 + random_below(&state, 3)), sources};
            ck_assert_int_eq(cc__cells_reserve(&cells, 1), CC_OK);
            all.number[place] = cc__cells_add(&cells, &all.cells[place]);
            ++all.count;
        } else if (random_below(&state, 3) == 0) {
            cc__cells_set_sources(&cells, all.number[place], B);
            all.cells[place].sources = B;
        } else {
            cc__cells_remove(&cells, all.number[place]);
            all.number[place] = CC__NO_CELL;
            --all.count;
        }
        ck_assert_int_eq(cells.count, all.count);
        if (step % 512 != 0)
            continue;
        check_tree(&cells);
        cc__box some = {{random_below(&state, 64), random_below(&state, 64), random_below(&state, 32), 0},
                        {1 + random_below(&state, 64), 1 + random_below(&state, 64), 1 + random_below(&state, 32), 1}};
        check_walk(&cells, &all, &some, 0);
        check_walk(&cells, &all, &some, B);
        check_walk(&cells, &all, &everything, A | B);
        check_walk(&cells, &all, &everything, B);
        check_walk(&cells, &all, &everything, 0);
        some.size[0] = 0;
        check_walk(&cells, &all, &some, 0);
    }
    cc__cells_destroy(&cells);
    ck_assert_int_eq(cells.count, 0);
}
END_TEST

/* In order, backwards, and from both ends: what would make a tree that is not balanced a list. */
START_TEST(the_order_of_adding_does_not_matter)
{
    cc__cells cells;
    cc__cells_init(&cells);
    ck_assert_int_eq(cc__cells_reserve(&cells, PLACES), CC_OK);
    for (int32_t i = 0; i < PLACES; ++i) {
        const int32_t orders[] = {i, PLACES - 1 - i, i % 2 == 0 ? i / 2 : PLACES - 1 - i / 2};
        const cc__cell cell = {box_in_place(orders[_i], 1, 2), A};
        (void)cc__cells_add(&cells, &cell);
    }
    check_tree(&cells);
    /* 2048 leaves: a tree whose sides differ by one at most is no higher than 1.44 log2. */
    ck_assert_int_le(cells.nodes[cells.root].height, 15);
    cc__cells_destroy(&cells);
}
END_TEST

START_TEST(neighbours_become_one)
{
    uint32_t state = (uint32_t)_i + 1;
    int32_t order[64];
    cc__cells cells;
    cc__cells_init(&cells);
    ck_assert_int_eq(cc__cells_reserve(&cells, 64), CC_OK);
    for (int32_t i = 0; i < 64; ++i)
        order[i] = i;
    for (int32_t i = 63; i > 0; --i) {
        const int32_t other = (int32_t)random_below(&state, i + 1);
        const int32_t at = order[i];
        order[i] = order[other];
        order[other] = at;
    }
    /* Whatever meets whatever first, joining one after the other leaves none that could be. */
    for (int32_t i = 0; i < 64; ++i) {
        const cc__cell pixel = {{{order[i] % 4, order[i] / 4 % 4, order[i] / 16, 0}, {1, 1, 1, 1}}, A};
        (void)cc__cells_add(&cells, &pixel);
    }
    cc__cells_join_all(&cells);
    check_tree(&cells);
    int64_t pixels = 0;
    for (int32_t at = 0; at < cells.used; ++at) {
        if (cells.nodes[at].height != 0)
            continue;
        pixels += cc__box_pixels(&cells.nodes[at].cell.box);
        for (int32_t other = 0; other < at; ++other) {
            cc__box joined;
            ck_assert(cells.nodes[other].height != 0 ||
                      !cc__box_join(&cells.nodes[at].cell.box, &cells.nodes[other].cell.box, &joined));
        }
    }
    ck_assert_int_eq(pixels, 64);
    cc__cells_destroy(&cells);
}
END_TEST

START_TEST(unlike_neighbours_stay_two)
{
    const cc__cell left = {{{0, 0, 0, 0}, {2, 2, 1, 1}}, A};
    const cc__cell right = {{{2, 0, 0, 0}, {2, 2, 1, 1}}, B};
    cc__cells cells;
    cc__cells_init(&cells);
    ck_assert_int_eq(cc__cells_reserve(&cells, 2), CC_OK);
    (void)cc__cells_add(&cells, &left);
    cc__cells_join(&cells, cc__cells_add(&cells, &right));
    ck_assert_int_eq(cells.count, 2);
    /* They become alike. */
    cc__cells_change_all(&cells, 0, A | B, B);
    ck_assert_int_eq(cells.count, 1);
    ck_assert_int_eq(cells.nodes[cells.root].cell.box.size[0], 4);
    cc__cells_change_all(&cells, A, 0, A);
    ck_assert_int_eq(cells.count, 0);
    cc__cells_destroy(&cells);
}
END_TEST

START_TEST(no_memory_leaves_the_cells)
{
    const cc__cell cell = {{{0, 0, 0, 0}, {2, 2, 1, 1}}, A};
    cc__cells cells;
    cc__cells_init(&cells);
    expect_allocations_to_fail_from(1);
    expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY, cc__cells_reserve(&cells, 1));
    cc__allocate_set_hook(NULL);
    ck_assert_int_eq(cc__cells_reserve(&cells, 1), CC_OK);
    (void)cc__cells_add(&cells, &cell);
    expect_allocations_to_fail_from(1);
    expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY, cc__cells_reserve(&cells, 1000));
    expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY, cc__cells_reserve(&cells, (int64_t)1 << 40));
    ck_assert_int_eq(cc__cells_reserve(&cells, -1), CC_OK);
    cc__allocate_set_hook(NULL);
    ck_assert_int_eq(cells.count, 1);
    check_tree(&cells);
    cc__cells_destroy(&cells);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cells");
    TCase *tcase = tcase_create("cells");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, random_cells_are_found, 0, 8);
    tcase_add_loop_test(tcase, the_order_of_adding_does_not_matter, 0, 3);
    tcase_add_loop_test(tcase, neighbours_become_one, 0, 8);
    tcase_add_test(tcase, unlike_neighbours_stay_two);
    tcase_add_test(tcase, no_memory_leaves_the_cells);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
