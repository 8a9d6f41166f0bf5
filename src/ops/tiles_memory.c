/* How much memory the tiles of a run may take, and getting it. */
#include "base/allocate.h"
#include "base/error.h"
#include "data_manager/eviction.h"
#include "data_manager/report.h"
#include "memory/budget.h"
#include "ops/tiles.h"

/*
 * What keeps everything busy: a sixteenth of the work, so that little of it is not overlapped, but no less than pays
 * for the handling of a tile, and no more than does any good.
 */
#define LEAST_AIM_BYTES ((int64_t)32 << 20)
#define MOST_AIM_BYTES ((int64_t)128 << 20)
#define TILES_TO_AIM_AT 16

/* In floating point: this is but a rough size, and the pixels of all images together may leave 63 bits. */
static int64_t aim_of(const cc__tiles_run *run)
{
    double bytes = (double)cc__box_pixels(&run->output.box) * (double)run->output.pixel_bytes;
    for (int32_t i = 0; i < run->params.input_count; ++i)
        bytes += (double)cc__box_pixels(&run->sources[i].box) * (double)run->sources[i].pixel_bytes;
    bytes /= TILES_TO_AIM_AT;
    if (bytes < (double)LEAST_AIM_BYTES)
        return LEAST_AIM_BYTES;
    return bytes > (double)MOST_AIM_BYTES ? MOST_AIM_BYTES : (int64_t)bytes;
}

cc_status cc__tiles_plan_for(cc__tiles_run *run, int64_t limit_bytes)
{
    bool fits = false;
    run->job.limit_bytes = limit_bytes;
    run->job.aim_bytes = aim_of(run);
    const cc_status status = cc__tiles_plan_make(&run->job, &run->plan, &fits);
    if (status == CC_OK && !fits)
        return cc__fail(CC_ERROR_OUT_OF_DEVICE_MEMORY,
                        "%s: a tile of one pixel, with what it needs, takes %lld bytes, but the limit is %lld",
                        run->function, (long long)run->plan.buffer_bytes, (long long)limit_bytes);
    return status;
}

/* What images could have of the device if there were no others; unknown is much. */
static int64_t most_of(cc__backend *backend, int32_t device)
{
    const cc__budget budget = cc__budget_get(device);
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    int64_t most = INT64_MAX;
    cc__error_state before;
    cc__error_save(&before);
    if (backend->memory_info(backend, device, &free_bytes, &total_bytes) == CC_OK)
        most = total_bytes > budget.headroom_bytes ? (int64_t)(total_bytes - budget.headroom_bytes) : 0;
    cc__error_restore(&before);
    if (budget.limit_bytes != 0 && budget.limit_bytes < (size_t)most)
        most = (int64_t)budget.limit_bytes;
    return most;
}

cc_status cc__tiles_allocate(cc__tiles_run *run)
{
    const int64_t most = most_of(run->backend, run->place);
    const size_t wanted = run->params.limit_bytes;
    int64_t limit = wanted == 0 ? most / 2 : wanted < (size_t)most ? (int64_t)wanted : most;
    cc_status status = CC_ERROR_OUT_OF_DEVICE_MEMORY;
    cc__aside_try_again();
    run->aside = cc__aside_create();
    if (run->aside == NULL)
        return cc__fail(CC_ERROR_OUT_OF_HOST_MEMORY, "%s: no memory for %zu bytes", run->function, sizeof *run->aside);
    /* Images that are in use do not leave: then smaller tiles have to do. */
    while (status == CC_ERROR_OUT_OF_DEVICE_MEMORY) {
        cc__layout layout = {.component_bytes = 1, .pixel_bytes = 1};
        status = cc__tiles_plan_for(run, limit);
        if (status != CC_OK)
            return status;
        layout.extent_bytes = run->plan.buffer_count * run->plan.buffer_bytes;
        status = cc__eviction_allocate(run->backend, run->place, run->up, &layout, NULL, &run->memory);
        limit = layout.extent_bytes / 2;
    }
    if (status != CC_OK)
        return cc__fail_for(run->function, status);
    cc__report_tile_memory(run->output.manager, CC_TRACE_ALLOCATE, run->place, run->memory.size_bytes, run->function);
    return CC_OK;
}

void cc__tiles_free(cc__tiles_run *run)
{
    cc__free(run->aside);
    if (run->memory.pixels == NULL)
        return;
    cc__report_tile_memory(run->output.manager, CC_TRACE_FREE, run->place, run->memory.size_bytes, run->function);
    cc__device_memory_free(run->backend, run->place, run->up, &run->memory);
}
