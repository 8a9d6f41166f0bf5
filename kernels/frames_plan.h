/* How frames are combined on the GPU: a thread takes a pack of components side by side, of every frame. Plain C. */
#ifndef CC_KERNELS_FRAMES_PLAN_H
#define CC_KERNELS_FRAMES_PLAN_H

#include "base/frames.h"
#include "kernels/tiles.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#define CC__FRAMES_PACK 4
#define CC__FRAMES_TILE_LOG2 8

/* Packs of a thread where all is one row. */
#define CC__FRAMES_PACKS 2

typedef struct cc__frames_launch {
    cc__frames work; /* data is where the first row of this launch begins */
    int64_t length;  /* components of a row */
    int64_t step[2];
    int32_t packed[2]; /* packs of the volume, of the frames are aligned and without gaps, in every row */
    cc__tiles tiles;
} cc__frames_launch;

static inline bool cc__frames_is_packed(const cc__rows *rows, int32_t span, const void *data, int64_t frame_stride,
                                        int64_t size_bytes)
{
    const int64_t pack_bytes = CC__FRAMES_PACK * size_bytes;
    const int64_t alignment = pack_bytes < 16 ? pack_bytes : 16;
    if (rows->step[span] != size_bytes || (uintptr_t)data % (uintptr_t)alignment != 0 || frame_stride % alignment != 0)
        return false;
    for (int32_t i = 0; i < rows->axes; i++)
        if (rows->stride[span][i] % alignment != 0)
            return false;
    return true;
}

/* All but where rows begin and the tiles, which follow when the rows are few enough. */
static inline void cc__frames_launch_make(const cc__frames *work, cc__frames_launch *plan, cc__rows *out_rows)
{
    memset(plan, 0, sizeof *plan);
    cc__frames_plan(work, out_rows);
    plan->work = *work;
    plan->length = out_rows->length;
    plan->step[0] = out_rows->step[0];
    plan->step[1] = out_rows->step[1];
    plan->packed[0] =
        cc__frames_is_packed(out_rows, 0, work->volume.data, 0, (int64_t)cc_pixel_type_size_bytes(work->volume_type));
    plan->packed[1] =
        cc__frames_is_packed(out_rows, 1, work->frames.data, work->frame_count > 1 ? work->frame_stride : 0,
                             (int64_t)cc_pixel_type_size_bytes(work->frames_type));
}

/* All of it is whole packs, one after the other, in every frame. */
static inline bool cc__frames_is_row(const cc__frames_launch *plan)
{
    return plan->tiles.rows == 1 && plan->packed[0] != 0 && plan->packed[1] != 0 &&
           plan->length % CC__FRAMES_PACK == 0 && plan->tiles.pieces < (int64_t)INT32_MAX * CC__BLOCK_THREADS;
}

static inline uint32_t cc__frames_row_blocks(const cc__frames_launch *plan)
{
    const int64_t of_block = CC__FRAMES_PACKS * CC__BLOCK_THREADS;
    return (uint32_t)((plan->tiles.pieces - 1) / of_block + 1);
}

#endif
