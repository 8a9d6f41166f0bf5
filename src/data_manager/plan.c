#include "data_manager/plan.h"

#include "base/allocate.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* So many steps are compared each with each; more are sorted. */
#define STEPS_TO_COMPARE 32

#define FIRST_ALLOCATED_STEPS 64
/* So many at once when there are as many cells, though they may not all be needed. */
#define MOST_EXPECTED_STEPS 512
/* Room for so many is kept for the next plan. */
#define MOST_SPARE_STEPS 1024

void cc__plan_init(cc__plan *plan)
{
    plan->steps = plan->inline_steps;
    plan->count = 0;
    plan->origins = 0;
    plan->around = (cc__box){{0}, {0}};
    plan->pixels = 0;
    plan->capacity = CC__PLAN_INLINE_STEPS;
    plan->reads_undefined = false;
    plan->asked_by = NULL;
}

void cc__plan_destroy(cc__plan *plan)
{
    if (plan->steps != plan->inline_steps)
        cc__free(plan->steps);
    cc__plan_init(plan);
}

void cc__plan_leave(cc__plan *plan, cc__plan_room *room)
{
    if (plan->steps != plan->inline_steps && room->steps == NULL && plan->capacity <= MOST_SPARE_STEPS) {
        *room = (cc__plan_room){plan->steps, plan->capacity};
        plan->steps = plan->inline_steps;
    }
    cc__plan_destroy(plan);
}

static cc_place lowest_device(cc__sources devices)
{
    return (cc_place)__builtin_ctzll(devices) - 1;
}

static cc_place nearest(cc__sources sources, cc_place place, const cc__plan_topology *topology)
{
    const cc__sources devices = sources & ~(CC__SOURCE_CONSTANT | CC__SOURCE_UNDEFINED | CC__SOURCE(CC_PLACE_HOST));
    if (place != CC_PLACE_HOST && (devices & topology->peers) != 0)
        return lowest_device(devices & topology->peers);
    if ((sources & CC__SOURCE(CC_PLACE_HOST)) != 0)
        return CC_PLACE_HOST;
    return lowest_device(devices);
}

int32_t cc__plan_end_of_origin(const cc__plan *plan, int32_t first)
{
    int32_t end = plan->origins == 1 ? plan->count : first + 1;
    while (end < plan->count && cc__steps_have_one_origin(&plan->steps[end], &plan->steps[first]))
        ++end;
    return end;
}

int64_t cc__plan_pixels(const cc__plan *plan, int32_t first, int32_t end)
{
    int64_t pixels = 0;
    if (first == 0 && end == plan->count)
        return plan->pixels;
    for (int32_t i = first; i < end; ++i)
        pixels += cc__box_pixels(&plan->steps[i].box);
    return pixels;
}

static cc_status grow(cc__plan *plan, size_t capacity, cc__plan_room *room)
{
    const bool is_inline = plan->steps == plan->inline_steps;
    cc__step *steps = NULL;
    if (is_inline && room->steps != NULL && (size_t)room->capacity >= capacity) {
        steps = room->steps;
        capacity = (size_t)room->capacity;
        *room = (cc__plan_room){NULL, 0};
    } else {
        steps = cc__reallocate(is_inline ? NULL : plan->steps, capacity * sizeof *steps);
    }
    if (steps == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__plan_make: no memory for %zu steps", capacity);
    if (is_inline)
        memcpy(steps, plan->inline_steps, sizeof plan->inline_steps);
    plan->steps = steps;
    plan->capacity = (int32_t)capacity;
    return CC_OK;
}

/* Joins the last step with any that it continues, and the result with any other, until none is left. */
static void join_last(cc__plan *plan)
{
    cc__step *last = &plan->steps[plan->count - 1];
    for (int32_t i = 0; i < plan->count - 1; ++i) {
        if (!cc__steps_have_one_origin(&plan->steps[i], last) ||
            !cc__box_join(&plan->steps[i].box, &last->box, &plan->steps[i].box))
            continue;
        --plan->count;
        last = &plan->steps[plan->count - 1];
        const cc__step joined = plan->steps[i];
        plan->steps[i] = *last;
        *last = joined;
        i = -1;
    }
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Brings steps that could be joined along an axis next to each other, in the axis' order. */
static int compare_along(const cc__step *a, const cc__step *b, int32_t axis)
{
    int order = compare_numbers((int64_t)a->kind, (int64_t)b->kind);
    if (order == 0)
        order = compare_numbers(a->source, b->source);
    for (int32_t other = CC_MAX_DIMENSION - 1; order == 0 && other >= 0; --other) {
        if (other == axis)
            continue;
        order = compare_numbers(a->box.start[other], b->box.start[other]);
        if (order == 0)
            order = compare_numbers(a->box.size[other], b->box.size[other]);
    }
    return order != 0 ? order : compare_numbers(a->box.start[axis], b->box.start[axis]);
}

static int compare_along_i(const void *a, const void *b)
{
    return compare_along(a, b, 0);
}

static int compare_along_j(const void *a, const void *b)
{
    return compare_along(a, b, 1);
}

static int compare_along_k(const void *a, const void *b)
{
    return compare_along(a, b, 2);
}

static int compare_along_l(const void *a, const void *b)
{
    return compare_along(a, b, 3);
}

/* For many steps: along one axis after the other, in the time of sorting them. */
static void join_sorted(cc__plan *plan)
{
    static int (*const comparisons[CC_MAX_DIMENSION])(const void *, const void *) = {compare_along_i, compare_along_j,
                                                                                     compare_along_k, compare_along_l};
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis) {
        int32_t kept = 0;
        qsort(plan->steps, (size_t)plan->count, sizeof *plan->steps, comparisons[axis]);
        for (int32_t i = 1; i < plan->count; ++i) {
            cc__step *before = &plan->steps[kept];
            if (!cc__steps_have_one_origin(before, &plan->steps[i]) ||
                !cc__box_join(&before->box, &plan->steps[i].box, &before->box))
                plan->steps[++kept] = plan->steps[i];
        }
        plan->count = kept + 1;
    }
}

/*
 * Brings steps of one origin next to each other. Those that together are a box become that box, also where no two of
 * them could be joined.
 */
static void join_boxes(cc__plan *plan)
{
    for (int32_t first = 0; first < plan->count; ++first) {
        cc__box around = plan->steps[first].box;
        int64_t pixels = cc__box_pixels(&around);
        int32_t end = first + 1;
        for (int32_t i = end; i < plan->count; ++i) {
            if (!cc__steps_have_one_origin(&plan->steps[first], &plan->steps[i]))
                continue;
            if (i != end) {
                const cc__step other = plan->steps[end];
                plan->steps[end] = plan->steps[i];
                plan->steps[i] = other;
            }
            around = cc__box_bounding(&around, &plan->steps[end].box);
            pixels += cc__box_pixels(&plan->steps[end].box);
            ++end;
        }
        plan->around = plan->origins++ == 0 ? around : cc__box_bounding(&plan->around, &around);
        if (pixels == cc__box_pixels(&around)) {
            plan->steps[first].box = around;
            memmove(&plan->steps[first + 1], &plan->steps[end], (size_t)(plan->count - end) * sizeof *plan->steps);
            plan->count -= end - first - 1;
        } else {
            first = end - 1;
        }
    }
}

static bool in_scope(cc__sources sources, cc_place place, cc__plan_scope scope, cc_place only_at)
{
    switch (scope) {
    case CC__PLAN_STALE:
    case CC__PLAN_STALE_OR_ZERO:
        return (sources & CC__SOURCE(place)) == 0;
    case CC__PLAN_ONLY_AT:
        return sources == CC__SOURCE(only_at);
    }
    return false;
}

/* A plan in the making. */
typedef struct planner {
    cc__plan *plan;
    cc__plan_room *room;
    cc_place place;
    cc__plan_scope scope;
    cc_place only_at;
    const cc__plan_topology *topology;
    int32_t expected_count; /* of steps */
    /* The last sources that were looked at, and what pixels that have them become: cells in a row mostly have the same.
     */
    cc__sources last;
    bool is_in_scope;
    bool is_step;
    cc__step_kind kind;
    cc_place source;
    cc__sources first; /* those that the first step's pixels have */
    bool may_join;     /* else all steps are cells of one kind, which would have been joined */
} planner;

static void look_at(planner *self, cc__sources sources)
{
    self->last = sources;
    self->is_in_scope = in_scope(sources, self->place, self->scope, self->only_at);
    self->is_step = true;
    self->source = CC_PLACE_HOST;
    if (sources == CC__SOURCE_UNDEFINED) {
        self->is_step = self->scope == CC__PLAN_STALE_OR_ZERO;
        self->kind = CC__STEP_ZERO;
    } else if ((sources & CC__SOURCE_CONSTANT) != 0) {
        self->kind = CC__STEP_CONSTANT;
    } else {
        self->kind = CC__STEP_COPY;
        if (self->is_in_scope)
            self->source = nearest(sources, self->place, self->topology);
    }
}

/* Adds a part, not empty, of the sources that were looked at, which are in scope. */
static inline cc_status plan_part(planner *self, const cc__box *box)
{
    cc__plan *plan = self->plan;
    if (self->last == CC__SOURCE_UNDEFINED)
        plan->reads_undefined = true;
    if (!self->is_step)
        return CC_OK;
    if (plan->count == plan->capacity) {
        const int32_t larger = plan->capacity < FIRST_ALLOCATED_STEPS / 2 ? FIRST_ALLOCATED_STEPS : plan->capacity * 2;
        const cc_status status =
            grow(plan, (size_t)(larger > self->expected_count ? larger : self->expected_count), self->room);
        if (status != CC_OK)
            return status;
    }
    if (plan->count == 0)
        self->first = self->last;
    self->may_join = self->may_join || self->last != self->first;
    cc__step *step = &plan->steps[plan->count++];
    step->box = *box;
    step->kind = self->kind;
    step->source = self->source;
    return CC_OK;
}

static cc_status plan_cells(planner *self, const cc__validity *validity, const cc__box *box)
{
    const cc__sources skip = self->scope == CC__PLAN_ONLY_AT ? 0 : CC__SOURCE(self->place);
    const bool takes_all = cc__box_contains(box, &validity->whole);
    cc__cells_walk walk;
    cc_status status = CC_OK;
    cc__cells_begin(&walk, &validity->cells, box, skip);
    for (int32_t at = cc__cells_next(&walk); status == CC_OK && at != CC__NO_CELL; at = cc__cells_next(&walk)) {
        const cc__cell *cell = cc__cells_get(&validity->cells, at);
        cc__box inside;
        if (cell->sources != self->last)
            look_at(self, cell->sources);
        if (!self->is_in_scope)
            continue;
        if (takes_all || cc__box_contains(box, &cell->box)) {
            status = plan_part(self, &cell->box);
        } else if (cc__box_intersect(&cell->box, box, &inside)) {
            self->may_join = true;
            status = plan_part(self, &inside);
        }
    }
    return status;
}

static cc_status plan_rest_part(void *context, const cc__box *part)
{
    return plan_part(context, part);
}

static cc_status plan_rest(planner *self, const cc__validity *validity, const cc__box *box)
{
    look_at(self, validity->rest);
    if (!self->is_in_scope || cc__validity_count_rest(validity, box) == 0)
        return CC_OK;
    if (!self->is_step)
        return plan_part(self, box);
    self->may_join = true;
    return cc__validity_rest_parts(validity, box, plan_rest_part, self);
}

/* What all steps are together, of which there is one at least. All cells are what the tree of them knows. */
static void sum_up(const planner *self, const cc__validity *validity)
{
    cc__plan *plan = self->plan;
    if (!self->may_join && plan->count == validity->cells.count) {
        plan->around = cc__cells_get(&validity->cells, validity->cells.root)->box;
        plan->pixels = cc__box_pixels(&validity->whole) - validity->rest_pixels;
        return;
    }
    plan->around = plan->steps[0].box;
    for (int32_t i = 0; i < plan->count; ++i) {
        plan->around = cc__box_bounding(&plan->around, &plan->steps[i].box);
        plan->pixels += cc__box_pixels(&plan->steps[i].box);
    }
}

static void join_pairs(cc__plan *plan)
{
    const int32_t count = plan->count;
    plan->count = 0;
    for (int32_t i = 0; i < count; ++i) {
        plan->steps[plan->count++] = plan->steps[i];
        join_last(plan);
    }
}

cc_status cc__plan_make(const cc__validity *validity, const cc__box *box, cc_place place, cc__plan_scope scope,
                        cc_place only_at, const cc__plan_topology *topology, cc__plan *out_plan)
{
    cc__plan_room none = {NULL, 0};
    return cc__plan_make_in(&none, validity, box, place, scope, only_at, topology, out_plan);
}

cc_status cc__plan_make_in(cc__plan_room *room, const cc__validity *validity, const cc__box *box, cc_place place,
                           cc__plan_scope scope, cc_place only_at, const cc__plan_topology *topology,
                           cc__plan *out_plan)
{
    planner self = {
        .plan = out_plan, .room = room, .place = place, .scope = scope, .only_at = only_at, .topology = topology};
    const int32_t cells = validity->cells.count;
    self.expected_count = cells < MOST_EXPECTED_STEPS ? cells : MOST_EXPECTED_STEPS;
    cc__plan_init(out_plan);
    cc_status status = plan_cells(&self, validity, box);
    if (status == CC_OK)
        status = plan_rest(&self, validity, box);
    if (status != CC_OK) {
        cc__plan_destroy(out_plan);
        return status;
    }
    if (out_plan->count == 0)
        return CC_OK;
    sum_up(&self, validity);
    if (!self.may_join && out_plan->pixels != cc__box_pixels(&out_plan->around)) {
        out_plan->origins = 1;
        return CC_OK;
    }
    if (self.may_join && out_plan->count > STEPS_TO_COMPARE)
        join_sorted(out_plan);
    else if (self.may_join)
        join_pairs(out_plan);
    join_boxes(out_plan);
    return CC_OK;
}
