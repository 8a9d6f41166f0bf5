#include "program.h"

#include "pressure.h"
#include "steps.h"

#include "backend/emulated.h"
#include "base/allocate.h"
#include "data_manager/data_manager.h"
#include "memory/transfer_streams.h"
#include "ops/tiles.h"

#include <stdlib.h>

typedef struct kind_of_step {
    bool (*run)(model_world *world);
    int32_t weight;
    bool is_about_memory;
} kind_of_step;

static const kind_of_step kinds[] = {
    {step_create, 5, false},      {step_map_host, 14, false},     {step_map_device, 16, false},
    {step_write, 10, false},      {step_unmap, 22, false},        {step_view, 5, false},
    {step_graft, 2, false},       {step_resize, 2, false},        {step_set_device, 4, false},
    {step_set_index, 1, false},   {step_retain, 1, false},        {step_release, 4, false},
    {step_wrap_host, 4, false},   {step_wrap_device, 4, false},   {step_prefetch, 7, false},
    {step_evict, 5, false},       {step_fill, 6, false},          {step_rescale, 7, false},
    {step_synchronize, 2, false}, {step_unmap_wrongly, 1, false}, {step_limit, 5, true},
    {step_priority, 3, true},     {step_discard, 3, true},        {step_trim, 2, true},
    {step_host_limits, 3, true},  {step_allocator, 4, true},      {step_scatter, 6, true},
    {step_lend, 7, false},        {step_borrow, 9, false},        {step_return, 5, false},
    {step_subtract, 5, false},    {step_renew, 6, false},         {step_subtract, 5, false},
    {step_copy_region, 5, false}, {step_operation, 24, false},    {step_tiles, 4, false},
    {step_map_texture, 7, false},
};

#define KIND_COUNT ((int32_t)(sizeof kinds / sizeof kinds[0]))

/* Each program has steps that it likes and steps that it never makes, so that some of them go deep. */
static int32_t choose_weights(model_world *world, int32_t out_weights[KIND_COUNT])
{
    int32_t total = 0;
    for (int32_t i = 0; i < KIND_COUNT; i++) {
        const int64_t mood = random_below(&world->random, 6);
        out_weights[i] = kinds[i].weight * (mood == 0 ? 0 : mood == 1 ? 4 : 1);
        /* The oracle of what must leave knows nothing of loans, and of memory beside the images'. */
        if (world->pressure == NULL
                ? kinds[i].is_about_memory
                : kinds[i].run == step_lend || kinds[i].run == step_tiles || kinds[i].run == step_map_texture)
            out_weights[i] = 0;
        else if (out_weights[i] == 0 && (kinds[i].run == step_create || kinds[i].run == step_unmap))
            out_weights[i] = kinds[i].weight;
        total += out_weights[i];
    }
    return total;
}

static bool step(model_world *world, const int32_t weights[KIND_COUNT], int32_t total)
{
    int64_t left = random_below(&world->random, total);
    int32_t kind = 0;
    while (left >= weights[kind])
        left -= weights[kind++];
    return kinds[kind].run(world);
}

static void one_step(model_world *world, const int32_t weights[KIND_COUNT], int32_t total)
{
    world->step++;
    world_begin_step(world);
    while (world->image_count == 0 ? !step_create(world) : !step(world, weights, total))
        world->cost_count = 0;
    world_end_step(world);
}

/* Everything is given back, in any order. */
static void give_back(model_world *world)
{
    while (world->image_count > 0 || world->loan_count > 0) {
        world->step++;
        world_begin_step(world);
        const int64_t what = random_below(&world->random, 3);
        if (!(what == 0 && step_return(world)) && !(what == 1 && step_release(world)))
            (void)step_unmap(world);
        world_end_step(world);
    }
}

static void check_leaks(void)
{
    /* What is kept for reuse is no leak. */
    cc__transfer_streams_reset();
    (void)cc__data_managers_free_textures(true);
    if (!fixture_is_emulated())
        return;
    const cc__emulated_live live = cc__emulated_count_live(fixture_inner);
    model_check(live.allocations == 0, "%lld device allocations are left", (long long)live.allocations);
    model_check(live.registrations == 0, "%lld registrations are left", (long long)live.registrations);
    model_check(live.events == 0, "%lld events are left", (long long)live.events);
}

static void run(const char *test, uint64_t seed, int32_t steps, bool tidies, bool is_short)
{
    int32_t weights[KIND_COUNT];
    model_world *world = malloc(sizeof *world);
    const long allocations = cc__allocations_live();
    report_begin(test, seed, steps);
    /* So that a seed gives the same again. */
    cc__tiles_without_thread = true;
    world_begin(world, seed, tidies);
    if (is_short)
        pressure_begin(world);
    const int32_t total = choose_weights(world, weights);
    for (int32_t i = 0; i < steps; i++)
        one_step(world, weights, total);
    give_back(world);
    report_step(world->step + 1, "the end");
    if (is_short)
        pressure_end(world);
    work_end(&world->work);
    check_leaks();
    model_check(cc__allocations_live() == allocations, "%ld pieces of bookkeeping or pixels are left",
                cc__allocations_live() - allocations);
    if (fixture_is_emulated())
        cc__emulated_set_current_device(fixture_inner, 0);
    fixture_teardown();
    cc__tiles_without_thread = false;
    report_end();
    free(world);
}

void program_run(const char *test, uint64_t seed, int32_t steps, bool tidies)
{
    run(test, seed, steps, tidies, false);
}

void program_run_short_of_memory(const char *test, uint64_t seed, int32_t steps)
{
    run(test, seed, steps, false, true);
}
