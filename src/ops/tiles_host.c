/* Tiles on the host: the caller's function works on the images' own pixels. */
#include "data_manager/parts.h"
#include "ops/tiles.h"
#include "trace/trace.h"

static cc_status work_on(cc__tiles_run *run, cc__tile *tile)
{
    const cc__box *written = &tile->boxes[CC_TILES_MAX_INPUTS];
    cc_status status = CC_OK;
    for (int32_t i = 0; status == CC_OK && i < run->params.input_count; ++i) {
        if (!cc__box_is_empty(&tile->boxes[i]))
            status = cc__tiles_bring(run, i, &tile->boxes[i]);
        cc__tile_set_in_image(tile, i);
    }
    if (status != CC_OK)
        return status;
    cc__tile_set_in_image(tile, CC_TILE_OUTPUT);
    status = cc__tile_work(tile);
    cc__tile_release_images(tile);
    if (status == CC_OK)
        return cc__data_manager_commit_part(run->output.manager, written);
    cc__data_manager_give_up_part(run->output.manager, written);
    return status;
}

cc_status cc__tiles_run_on_host(cc__tiles_run *run)
{
    cc_status status = CC_OK;
    for (int64_t number = 0; status == CC_OK && number < run->plan.tile_count; ++number) {
        cc__tile tile;
        status = cc__tile_begin(&tile, run, number);
        if (status == CC_OK)
            status = work_on(run, &tile);
        cc__trace_tell();
        if (status == CC_OK)
            cc__tiles_tell(run, number + 1);
        if (status == CC_OK && run->is_cancelled && number + 1 < run->plan.tile_count)
            status = cc__tiles_fail_cancelled(run);
    }
    return status;
}
