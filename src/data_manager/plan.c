#include "data_manager/plan.h"

#include "base/allocate.h"
#include "base/error.h"

#include <string.h>

void cc__plan_init(cc__plan *plan)
{
    plan->steps = plan->inline_steps;
    plan->count = 0;
    plan->capacity = CC__PLAN_INLINE_STEPS;
    plan->reads_undefined = false;
}

void cc__plan_destroy(cc__plan *plan)
{
    if (plan->steps != plan->inline_steps)
        cc__free(plan->steps);
    cc__plan_init(plan);
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

static bool same_origin(const cc__step *a, const cc__step *b)
{
    return a->kind == b->kind && (a->kind != CC__STEP_COPY || a->source == b->source);
}

/* Fewer, larger steps: a step that continues another one is joined to it, and so on with the result. */
static cc_status add_step(cc__plan *plan, cc__step step)
{
    for (int32_t i = 0; i < plan->count; ++i) {
        if (!same_origin(&plan->steps[i], &step) || !cc__box_join(&plan->steps[i].box, &step.box, &step.box))
            continue;
        --plan->count;
        plan->steps[i] = plan->steps[plan->count];
        i = -1;
    }
    if (plan->count == plan->capacity) {
        const bool is_inline = plan->steps == plan->inline_steps;
        const size_t capacity = (size_t)plan->capacity * 2;
        cc__step *steps = cc__reallocate(is_inline ? NULL : plan->steps, capacity * sizeof *steps);
        if (steps == NULL)
            return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "cc__plan_make: no memory for %zu steps", capacity);
        if (is_inline)
            memcpy(steps, plan->inline_steps, sizeof plan->inline_steps);
        plan->steps = steps;
        plan->capacity = (int32_t)capacity;
    }
    plan->steps[plan->count] = step;
    ++plan->count;
    return CC_OK;
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

cc_status cc__plan_make(const cc__validity *validity, const cc__box *box, cc_place place, cc__plan_scope scope,
                        cc_place only_at, const cc__plan_topology *topology, cc__plan *out_plan)
{
    cc__plan_init(out_plan);
    for (int32_t i = 0; i < validity->count; ++i) {
        const cc__sources sources = validity->cells[i].sources;
        cc__step step = {.kind = CC__STEP_COPY, .source = CC_PLACE_HOST};
        if (!in_scope(sources, place, scope, only_at) || !cc__box_intersect(&validity->cells[i].box, box, &step.box))
            continue;
        if (sources == CC__SOURCE_UNDEFINED) {
            out_plan->reads_undefined = true;
            if (scope != CC__PLAN_STALE_OR_ZERO)
                continue;
            step.kind = CC__STEP_ZERO;
        } else if ((sources & CC__SOURCE_CONSTANT) != 0) {
            step.kind = CC__STEP_CONSTANT;
        } else {
            step.source = nearest(sources, place, topology);
        }
        const cc_status status = add_step(out_plan, step);
        if (status != CC_OK) {
            cc__plan_destroy(out_plan);
            return status;
        }
    }
    return CC_OK;
}
