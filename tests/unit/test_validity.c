/* Where the newest pixels are, against a grid that remembers it pixel by pixel. */
#include "base/allocate.h"
#include "data_manager/validity.h"
#include "support/expect.h"
#include "support/plain_work.h"

#include <stdlib.h>
#include <string.h>

#define HOST CC__SOURCE(CC_PLACE_HOST)
#define DEVICE(d) CC__SOURCE(d)

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

static cc__box box_of(int64_t i, int64_t j, int64_t k, int64_t l)
{
    return cc__box_of_size((const int64_t[CC_MAX_DIMENSION]){i, j, k, l});
}

static cc__box box_at(int64_t i, int64_t j, int64_t size_i, int64_t size_j)
{
    const cc__box box = {{i, j, 0, 0}, {size_i, size_j, 1, 1}};
    return box;
}

/* One write, as a mapping for writing makes it. */
static void write_box(cc__validity *validity, const cc__box *box, cc__sources at)
{
    ck_assert_int_eq(cc__validity_prepare(validity, box, 0, at), CC_OK);
    cc__validity_install(validity);
}

/* All boxes that the pixels are in: cells, and parts of the rest. */
#define MOST_PARTS 2048

typedef struct parts {
    cc__cell items[MOST_PARTS];
    int32_t count;
    cc__sources sources;
} parts;

static cc_status add_part(void *context, const cc__box *box)
{
    parts *all = context;
    ck_assert_int_lt(all->count, MOST_PARTS);
    all->items[all->count++] = (cc__cell){*box, all->sources};
    return CC_OK;
}

static void find_parts(const cc__validity *validity, const cc__box *box, parts *all)
{
    cc__cells_walk walk;
    all->count = 0;
    cc__cells_begin(&walk, &validity->cells, box, 0);
    for (int32_t at = cc__cells_next(&walk); at != CC__NO_CELL; at = cc__cells_next(&walk)) {
        const cc__cell *cell = cc__cells_get(&validity->cells, at);
        cc__box inside;
        ck_assert(cc__box_intersect(&cell->box, box, &inside));
        all->sources = cell->sources;
        ck_assert_int_eq(add_part(all, &inside), CC_OK);
    }
    all->sources = validity->rest;
    ck_assert_int_eq(cc__validity_rest_parts(validity, box, add_part, all), CC_OK);
}

static int32_t count_parts(const cc__validity *validity)
{
    static parts all;
    find_parts(validity, &validity->whole, &all);
    return all.count;
}

/* The grid. */
#define GRID_I 6
#define GRID_J 5
#define GRID_K 4
#define GRID_L 3
#define GRID_PIXELS (GRID_I * GRID_J * GRID_K * GRID_L)

static const cc__box grid_whole = {{0, 0, 0, 0}, {GRID_I, GRID_J, GRID_K, GRID_L}};

static int32_t grid_at(int64_t i, int64_t j, int64_t k, int64_t l)
{
    return (int32_t)(((l * GRID_K + k) * GRID_J + j) * GRID_I + i);
}

/* Calls the body with `at` for each pixel of a box. */
#define FOR_EACH_PIXEL(box, at)                                                                                        \
    for (int64_t l_ = (box)->start[3]; l_ < (box)->start[3] + (box)->size[3]; ++l_)                                    \
        for (int64_t k_ = (box)->start[2]; k_ < (box)->start[2] + (box)->size[2]; ++k_)                                \
            for (int64_t j_ = (box)->start[1]; j_ < (box)->start[1] + (box)->size[1]; ++j_)                            \
                for (int64_t i_ = (box)->start[0], at = grid_at(i_, j_, k_, l_);                                       \
                     i_ < (box)->start[0] + (box)->size[0]; ++i_, ++at)

static cc__box random_box(uint32_t *state)
{
    cc__box box;
    const int64_t kind = random_below(state, 8);
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        const int64_t size = grid_whole.size[axis];
        box.start[axis] = random_below(state, size);
        box.size[axis] = kind == 0 ? 1 : 1 + random_below(state, size - box.start[axis]);
    }
    if (kind == 1)
        box.size[random_below(state, CC_MAX_DIMENSION)] = 0;
    return kind == 2 ? grid_whole : box;
}

/* Cells that are alike are together no box. */
static void check_neighbours(const cc__validity *validity)
{
    static parts all;
    int64_t rest_pixels = cc__box_pixels(&validity->whole);
    find_parts(validity, &validity->whole, &all);
    for (int32_t i = 0; i < validity->cells.count; ++i) {
        rest_pixels -= cc__box_pixels(&all.items[i].box);
        ck_assert(all.items[i].sources != validity->rest);
        for (int32_t other = 0; other < i; ++other) {
            cc__box joined;
            if (all.items[i].sources == all.items[other].sources &&
                cc__box_join(&all.items[i].box, &all.items[other].box, &joined))
                ck_abort_msg("cells %d and %d are not joined", (int)i, (int)other);
        }
    }
    ck_assert_int_eq(validity->rest_pixels, rest_pixels);
    ck_assert(rest_pixels > 0 || validity->cells.count == 0);
}

static void check_against_grid(const cc__validity *validity, const cc__sources grid[GRID_PIXELS])
{
    static parts all;
    bool seen[GRID_PIXELS] = {false};
    find_parts(validity, &grid_whole, &all);
    for (int32_t cell = 0; cell < all.count; ++cell) {
        const cc__sources sources = all.items[cell].sources;
        const cc__box *box = &all.items[cell].box;
        if (sources == 0 || ((sources & CC__SOURCE_UNDEFINED) != 0 && sources != CC__SOURCE_UNDEFINED))
            ck_abort_msg("cell %d has sources 0x%llx", (int)cell, (unsigned long long)sources);
        if (cc__box_is_empty(box) || !cc__box_contains(&grid_whole, box))
            ck_abort_msg("cell %d is empty, or outside", (int)cell);
        FOR_EACH_PIXEL(box, at)
        {
            if (seen[at] || sources != grid[at])
                ck_abort_msg("pixel %d is in two cells, or in the wrong one", (int)at);
            seen[at] = true;
        }
    }
    for (int32_t at = 0; at < GRID_PIXELS; ++at)
        if (!seen[at])
            ck_abort_msg("pixel %d is in no cell", (int)at);
    check_neighbours(validity);
}

static void check_count(const cc__validity *validity, const cc__sources grid[GRID_PIXELS], const cc__box *box,
                        cc__sources sources)
{
    int64_t pixels = 0;
    FOR_EACH_PIXEL(box, at)
    pixels += (grid[at] & sources) == sources;
    ck_assert_int_eq(cc__validity_count_pixels(validity, box, sources), pixels);
    ck_assert(cc__validity_has(validity, box, sources) == (pixels == cc__box_pixels(box)));
}

/* A change of a box, as reading or writing makes one; the old state stays until the new one is installed. */
static void change(cc__validity *validity, cc__sources grid[GRID_PIXELS], const cc__box *box, cc__sources keep,
                   cc__sources add)
{
    bool differs = false;
    FOR_EACH_PIXEL(box, pixel)
    differs = differs || ((grid[pixel] & keep) | add) != grid[pixel];
    ck_assert(!differs || cc__validity_would_change(validity, box, keep, add));
    ck_assert_int_eq(cc__validity_prepare(validity, box, keep, add), CC_OK);
    check_against_grid(validity, grid);
    cc__validity_install(validity);
    FOR_EACH_PIXEL(box, at)
    grid[at] = (grid[at] & keep) | add;
    check_against_grid(validity, grid);
}

static void drop_where_possible(cc__validity *validity, cc__sources grid[GRID_PIXELS], cc__sources sources)
{
    for (int32_t at = 0; at < GRID_PIXELS; ++at)
        if ((grid[at] & ~sources) == 0)
            return;
    cc__validity_drop(validity, sources);
    for (int32_t at = 0; at < GRID_PIXELS; ++at)
        grid[at] &= ~sources;
    check_against_grid(validity, grid);
}

static void lose(cc__validity *validity, cc__sources grid[GRID_PIXELS], const cc__box *box, cc__sources sources)
{
    cc__validity_lose(validity, box, sources);
    FOR_EACH_PIXEL(box, at)
    grid[at] = (grid[at] & ~sources) != 0 ? grid[at] & ~sources : CC__SOURCE_UNDEFINED;
    check_against_grid(validity, grid);
}

static const cc__sources places[] = {HOST, DEVICE(0), DEVICE(1), DEVICE(60)};

START_TEST(random_changes_match_a_grid)
{
    uint32_t state = (uint32_t)_i + 1;
    cc__sources grid[GRID_PIXELS];
    cc__validity validity;
    const cc__sources first = _i % 2 == 0 ? CC__SOURCE_CONSTANT : CC__SOURCE_UNDEFINED;
    cc__validity_init(&validity, &grid_whole, first);
    for (int32_t at = 0; at < GRID_PIXELS; ++at)
        grid[at] = first;
    check_against_grid(&validity, grid);
    for (int32_t step = 0; step < 120; ++step) {
        const cc__box box = random_box(&state);
        const cc__sources place = places[random_below(&state, 4)];
        switch (random_below(&state, 9)) {
        case 8:
            lose(&validity, grid, &box, place);
            break;
        case 0:
        case 1:
        case 2:
            change(&validity, grid, &box, 0, place);
            break;
        case 3:
        case 4:
        case 5:
            change(&validity, grid, &box, ~CC__SOURCE_UNDEFINED, place);
            break;
        case 6:
            drop_where_possible(&validity, grid, place);
            break;
        case 7:
            if (random_below(&state, 8) > 0)
                break;
            cc__validity_reset(&validity, CC__SOURCE_CONSTANT);
            for (int32_t at = 0; at < GRID_PIXELS; ++at)
                grid[at] = CC__SOURCE_CONSTANT;
            ck_assert_int_eq(count_parts(&validity), 1);
            check_against_grid(&validity, grid);
            break;
        }
        const cc__box other = random_box(&state);
        check_count(&validity, grid, &other, place);
        check_count(&validity, grid, &other, place | HOST);
        check_count(&validity, grid, &other, CC__SOURCE_CONSTANT);
    }
    cc__validity_destroy(&validity);
    ck_assert_int_eq(validity.cells.count, 0);
}
END_TEST

START_TEST(starts_as_one_cell)
{
    const cc__box whole = box_of(7, 5, 3, 1);
    cc__validity validity;
    cc__validity_init(&validity, &whole, CC__SOURCE_UNDEFINED);
    ck_assert_int_eq(count_parts(&validity), 1);
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, CC__SOURCE_UNDEFINED), 105);
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, HOST), 0);
    cc__validity_destroy(&validity);
}
END_TEST

START_TEST(nothing_of_nothing)
{
    const cc__box whole = box_of(7, 0, 3, 1);
    cc__validity validity;
    cc__validity_init(&validity, &whole, CC__SOURCE_CONSTANT);
    ck_assert_int_eq(count_parts(&validity), 0);
    ck_assert_int_eq(cc__validity_prepare(&validity, &whole, 0, HOST), CC_OK);
    cc__validity_install(&validity);
    cc__validity_drop(&validity, HOST);
    cc__validity_reset(&validity, CC__SOURCE_CONSTANT);
    ck_assert_int_eq(count_parts(&validity), 0);
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, CC__SOURCE_CONSTANT), 0);
    cc__validity_destroy(&validity);
}
END_TEST

START_TEST(an_empty_box_changes_nothing)
{
    const cc__box whole = box_of(4, 4, 1, 1);
    const cc__box empty = box_at(2, 2, 0, 2);
    cc__validity validity;
    cc__validity_init(&validity, &whole, CC__SOURCE_CONSTANT);
    write_box(&validity, &empty, HOST);
    ck_assert_int_eq(count_parts(&validity), 1);
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, CC__SOURCE_CONSTANT), 16);
    cc__validity_destroy(&validity);
}
END_TEST

START_TEST(a_change_that_is_none_cuts_nothing)
{
    const cc__box whole = box_of(64, 64, 1, 1);
    const cc__box inside = box_at(10, 10, 3, 3);
    cc__validity validity;
    cc__validity_init(&validity, &whole, HOST);
    write_box(&validity, &inside, HOST);
    ck_assert_int_eq(count_parts(&validity), 1);
    ck_assert_int_eq(cc__validity_prepare(&validity, &inside, ~CC__SOURCE_UNDEFINED, HOST), CC_OK);
    cc__validity_install(&validity);
    ck_assert_int_eq(count_parts(&validity), 1);
    cc__validity_destroy(&validity);
}
END_TEST

START_TEST(neighbours_are_joined)
{
    const cc__box whole = box_of(16, 16, 1, 1);
    cc__validity validity;
    cc__validity_init(&validity, &whole, CC__SOURCE_CONSTANT);
    for (int64_t j = 0; j < 16; ++j) {
        for (int64_t i = 0; i < 16; ++i) {
            const cc__box pixel = box_at(i, j, 1, 1);
            write_box(&validity, &pixel, DEVICE(0));
            /* What is written: whole rows, and a part of one; what is not: the rest of the row, and whole rows. */
            ck_assert_int_le(count_parts(&validity), 4);
        }
    }
    ck_assert_int_eq(count_parts(&validity), 1);
    cc__validity_destroy(&validity);
}
END_TEST

START_TEST(a_cut_out_pixel_costs_one_cell)
{
    const cc__box whole = box_of(9, 9, 9, 9);
    const cc__box middle = {{4, 4, 4, 4}, {1, 1, 1, 1}};
    cc__validity validity;
    cc__validity_init(&validity, &whole, HOST);
    write_box(&validity, &middle, DEVICE(0));
    ck_assert_int_eq(validity.cells.count, 1);
    ck_assert_int_eq(count_parts(&validity), 1 + CC__BOX_MAX_PIECES);
    write_box(&validity, &middle, HOST);
    ck_assert_int_eq(count_parts(&validity), 1);
    cc__validity_destroy(&validity);
}
END_TEST

/* Five boxes around a middle one, no two of which are together a box: how bricks meet. */
static const cc__box pinwheel[] = {{{0, 0, 0, 0}, {2, 1, 1, 1}},
                                   {{2, 0, 0, 0}, {1, 2, 1, 1}},
                                   {{1, 2, 0, 0}, {2, 1, 1, 1}},
                                   {{0, 1, 0, 0}, {1, 2, 1, 1}},
                                   {{1, 1, 0, 0}, {1, 1, 1, 1}}};

START_TEST(what_is_written_at_once_is_one_cell)
{
    const cc__box whole = box_of(3, 3, 1, 1);
    cc__validity validity;
    cc__validity_init(&validity, &whole, CC__SOURCE_CONSTANT);
    for (int32_t i = 0; i < 5; ++i)
        write_box(&validity, &pinwheel[i], DEVICE(i));
    ck_assert_int_eq(count_parts(&validity), 5);
    write_box(&validity, &whole, HOST);
    ck_assert_int_eq(count_parts(&validity), 1);
    cc__validity_destroy(&validity);

    /* The same in the middle of others: the box, and what was cut off around it. */
    const cc__box around = box_of(8, 3, 1, 1);
    cc__validity_init(&validity, &around, CC__SOURCE_CONSTANT);
    for (int32_t i = 0; i < 5; ++i)
        write_box(&validity, &pinwheel[i], DEVICE(i));
    write_box(&validity, &whole, HOST);
    ck_assert_int_eq(count_parts(&validity), 2);
    cc__validity_destroy(&validity);
}
END_TEST

/* Not by a write, but because what told the cells apart is forgotten. */
START_TEST(cells_that_become_alike_are_one)
{
    const cc__box whole = box_of(3, 3, 1, 1);
    cc__validity validity;
    for (int32_t drops = 0; drops < 2; ++drops) {
        cc__sources several = 0;
        cc__validity_init(&validity, &whole, CC__SOURCE_CONSTANT);
        for (int32_t i = 0; i < 5; ++i) {
            write_box(&validity, &pinwheel[i], HOST | DEVICE(i));
            several |= DEVICE(i);
        }
        ck_assert_int_eq(count_parts(&validity), 5);
        if (drops) {
            cc__validity_drop(&validity, several);
        } else {
            ck_assert_int_eq(cc__validity_prepare(&validity, &whole, HOST, 0), CC_OK);
            cc__validity_install(&validity);
        }
        ck_assert_int_eq(count_parts(&validity), 1);
        ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, HOST), 9);
        cc__validity_destroy(&validity);
    }
}
END_TEST

START_TEST(no_memory_leaves_all_as_it_was)
{
    const cc__box whole = box_of(4, 4, 1, 1);
    const cc__box inside = box_at(1, 1, 2, 2);
    cc__validity validity;
    cc__validity_init(&validity, &whole, CC__SOURCE_CONSTANT);
    /* The list of what is added, the cells; then also that of what is removed. */
    for (int32_t allowed = 0; allowed < 2; ++allowed) {
        expect_allocations_to_fail_from(1 + allowed);
        expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY, cc__validity_prepare(&validity, &inside, 0, HOST));
        ck_assert_int_eq(count_parts(&validity), 1);
        ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, CC__SOURCE_CONSTANT), 16);
    }
    cc__allocate_set_hook(NULL);
    write_box(&validity, &inside, HOST);
    const cc__box corner = box_at(2, 2, 1, 1);
    expect_allocations_to_fail_from(1);
    expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY, cc__validity_prepare(&validity, &corner, 0, DEVICE(1)));
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, CC__SOURCE_CONSTANT), 12);
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, HOST), 4);
    /* Dropping and resetting need none. */
    cc__validity_reset(&validity, HOST | DEVICE(3));
    cc__validity_drop(&validity, DEVICE(3));
    cc__allocate_set_hook(NULL);
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, HOST), 16);
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, DEVICE(3)), 0);
    cc__validity_destroy(&validity);
}
END_TEST

START_TEST(scattered_boxes_cost_a_cell_each)
{
    const cc__box whole = box_of(512, 512, 512, 1);
    cc__validity validity;
    cc__validity_init(&validity, &whole, HOST | DEVICE(0));
    for (int64_t i = 0; i < 512; ++i) {
        const cc__box box = {{i % 8 * 64 + i % 5, i / 8 % 8 * 64 + i % 7, i / 64 * 64 + i % 11, 0}, {8, 8, 8, 1}};
        write_box(&validity, &box, HOST);
        ck_assert_int_eq(validity.cells.count, i + 1);
    }
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, DEVICE(0)), 512 * 512 * 512 - 512 * 512);
    ck_assert_uint_eq(cc__validity_everywhere(&validity), HOST);
    ck_assert(cc__validity_has_exactly(&validity, HOST));
    ck_assert(!cc__validity_has_exactly(&validity, DEVICE(0)));
    /* What one copy makes alike is no cell any more. */
    ck_assert_int_eq(cc__validity_prepare(&validity, &whole, ~CC__SOURCE_UNDEFINED, DEVICE(0)), CC_OK);
    cc__validity_install(&validity);
    ck_assert_int_eq(validity.cells.count, 0);
    ck_assert_uint_eq(cc__validity_everywhere(&validity), HOST | DEVICE(0));
    cc__validity_destroy(&validity);
}
END_TEST

/* Checkers: no two cells are joined. */
START_TEST(room_for_many_cells_is_given_back)
{
    const cc__box whole = box_of(64, 64, 2, 1);
    cc__validity validity;
    cc__validity_init(&validity, &whole, HOST);
    for (int64_t i = 0; i < 64 * 64 * 2; i += 2) {
        const cc__box pixel = {{(i + i / 64 + i / 4096) % 64, i / 64 % 64, i / 4096, 0}, {1, 1, 1, 1}};
        write_box(&validity, &pixel, DEVICE(0));
    }
    ck_assert_int_eq(validity.cells.count, 4096);
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, HOST), 4096);
    write_box(&validity, &whole, HOST);
    ck_assert_int_eq(validity.cells.count, 0);
    ck_assert_int_lt(validity.cells.capacity, 8192);
    cc__validity_destroy(&validity);
}
END_TEST

START_TEST(what_is_prepared_need_not_be_made)
{
    const cc__box whole = box_of(8, 8, 1, 1);
    const cc__box inside = box_at(1, 1, 3, 3);
    const cc__box other = box_at(5, 5, 2, 2);
    cc__validity validity;
    cc__validity_init(&validity, &whole, HOST);
    ck_assert_int_eq(cc__validity_prepare(&validity, &inside, 0, DEVICE(0)), CC_OK);
    write_box(&validity, &other, DEVICE(1));
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, DEVICE(0)), 0);
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, DEVICE(1)), 4);
    ck_assert_int_eq(cc__validity_prepare(&validity, &whole, 0, DEVICE(0)), CC_OK);
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, DEVICE(0)), 0);
    cc__validity_destroy(&validity);
}
END_TEST

START_TEST(a_copy_goes_its_own_way)
{
    const cc__box whole = box_of(8, 8, 1, 1);
    const cc__box inside = box_at(1, 1, 3, 3);
    cc__validity validity;
    cc__validity copy;
    cc__validity_init(&validity, &whole, HOST);
    write_box(&validity, &inside, DEVICE(0));
    expect_allocations_to_fail_from(1);
    expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY, cc__validity_copy(&validity, &copy));
    cc__allocate_set_hook(NULL);
    ck_assert_int_eq(cc__validity_copy(&validity, &copy), CC_OK);
    write_box(&validity, &whole, DEVICE(1));
    ck_assert_int_eq(cc__validity_count_pixels(&copy, &whole, DEVICE(0)), 9);
    ck_assert_int_eq(cc__validity_count_pixels(&copy, &whole, HOST), 55);
    ck_assert_int_eq(copy.rest_pixels, 55);
    cc__validity_destroy(&copy);
    cc__validity_destroy(&validity);
}
END_TEST

START_TEST(what_is_forgotten_others_have)
{
    const cc__box whole = box_of(8, 8, 1, 1);
    const cc__box inside = box_at(1, 1, 3, 3);
    const cc__box corner = box_at(0, 0, 2, 2);
    cc__validity validity;
    cc__validity_init(&validity, &whole, HOST | DEVICE(0));
    write_box(&validity, &inside, DEVICE(0));
    /* The box has a part of the cell, where it is alone, and of the rest. */
    expect_allocations_to_fail_from(1);
    cc__validity_forget(&validity, &corner, DEVICE(0));
    cc__allocate_set_hook(NULL);
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, DEVICE(0)), 9);
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, HOST), 55);
    /* Only the cell; what becomes like the rest is part of it. */
    ck_assert_int_eq(cc__validity_prepare(&validity, &inside, ~CC__SOURCE_UNDEFINED, HOST), CC_OK);
    cc__validity_install(&validity);
    ck_assert_int_eq(validity.cells.count, 1);
    const cc__box middle = box_at(2, 2, 1, 1);
    cc__validity_forget(&validity, &middle, DEVICE(0));
    ck_assert_int_eq(validity.cells.count, 0);
    ck_assert_int_eq(validity.rest_pixels, 64);
    ck_assert(cc__validity_has_exactly(&validity, HOST));
    cc__validity_destroy(&validity);
}
END_TEST

/* Without memory for a cell of its own the box takes with it what it shares one with; others keep what they have. */
START_TEST(what_is_lost_without_memory)
{
    const cc__box whole = box_of(8, 8, 1, 1);
    const cc__box inside = box_at(1, 1, 3, 3);
    const cc__box corner = box_at(0, 0, 2, 2);
    cc__validity validity;
    for (int32_t alone = 0; alone < 2; ++alone) {
        cc__validity_init(&validity, &whole, alone ? DEVICE(0) : HOST | DEVICE(0));
        write_box(&validity, &inside, alone ? DEVICE(0) | HOST : DEVICE(0));
        expect_allocations_to_fail_from(1);
        cc__validity_lose(&validity, &corner, DEVICE(0));
        cc__allocate_set_hook(NULL);
        ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, DEVICE(0)), 0);
        ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, HOST), alone ? 9 : 55);
        ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, CC__SOURCE_UNDEFINED), alone ? 55 : 9);
        check_neighbours(&validity);
        cc__validity_destroy(&validity);
    }
}
END_TEST

START_TEST(no_memory_for_parts)
{
    static parts all;
    const cc__box whole = box_of(8, 8, 1, 1);
    const cc__box inside = box_at(1, 1, 3, 3);
    cc__validity validity;
    cc__validity_init(&validity, &whole, HOST);
    write_box(&validity, &inside, DEVICE(0));
    expect_allocations_to_fail_from(1);
    expect_passed_on(CC_ERROR_OUT_OF_HOST_MEMORY, cc__validity_rest_parts(&validity, &whole, add_part, &all));
    cc__allocate_set_hook(NULL);
    cc__validity_destroy(&validity);
}
END_TEST

START_TEST(more_pixels_than_32_bits_count)
{
    const cc__box whole = box_of((int64_t)1 << 31, (int64_t)1 << 31, 1, 1);
    const cc__box inside = {{1, (int64_t)1 << 30, 0, 0}, {(int64_t)1 << 30, (int64_t)1 << 30, 1, 1}};
    cc__validity validity;
    cc__validity_init(&validity, &whole, HOST);
    write_box(&validity, &inside, DEVICE(0));
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, DEVICE(0)), (int64_t)1 << 60);
    ck_assert_int_eq(cc__validity_count_pixels(&validity, &whole, HOST), ((int64_t)1 << 62) - ((int64_t)1 << 60));
    cc__validity_destroy(&validity);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("validity");
    TCase *tcase = tcase_create("validity");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, random_changes_match_a_grid, 0, 24);
    tcase_add_test(tcase, starts_as_one_cell);
    tcase_add_test(tcase, nothing_of_nothing);
    tcase_add_test(tcase, an_empty_box_changes_nothing);
    tcase_add_test(tcase, a_change_that_is_none_cuts_nothing);
    tcase_add_test(tcase, neighbours_are_joined);
    tcase_add_test(tcase, a_cut_out_pixel_costs_one_cell);
    tcase_add_test(tcase, what_is_written_at_once_is_one_cell);
    tcase_add_test(tcase, cells_that_become_alike_are_one);
    tcase_add_test(tcase, no_memory_leaves_all_as_it_was);
    tcase_add_test(tcase, scattered_boxes_cost_a_cell_each);
    tcase_add_test(tcase, room_for_many_cells_is_given_back);
    tcase_add_test(tcase, what_is_prepared_need_not_be_made);
    tcase_add_test(tcase, a_copy_goes_its_own_way);
    tcase_add_test(tcase, what_is_forgotten_others_have);
    tcase_add_test(tcase, what_is_lost_without_memory);
    tcase_add_test(tcase, no_memory_for_parts);
    tcase_add_test(tcase, more_pixels_than_32_bits_count);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
