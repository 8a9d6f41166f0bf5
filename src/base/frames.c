#include "base/frames.h"

#include "base/components.h"

#include <fenv.h>

/* Components that are computed together: they stay in the nearest cache. */
#define BLOCK 256

void cc__frames_plan(const cc__frames *work, cc__rows *out_rows)
{
    cc__rows_plan(CC__ROWS_OF_ELEMENTS, work->components, (int64_t)cc_pixel_type_size_bytes(work->volume_type),
                  (int64_t)cc_pixel_type_size_bytes(work->frames_type), work->size, work->volume.stride,
                  work->frames.stride, out_rows);
}

int64_t cc__frames_count_rows(const cc__rows *rows)
{
    return rows->size[0] * rows->size[1] * rows->size[2] * rows->size[3];
}

/* `count` components side by side of the volume and of each frame. */
typedef struct block {
    unsigned char *volume;
    unsigned char *frames;
    int64_t volume_step;
    int64_t frames_step;
    int64_t count;
} block;

static void load_frame(const cc__frames *work, const block *at, int64_t frame, double *out)
{
    cc__components_load(work->frames_type, at->frames + frame * work->frame_stride, at->frames_step, at->count, out,
                        NULL);
}

static void splat(const cc__frames *work, const block *at)
{
    double added[BLOCK];
    double sum[BLOCK];
    cc__components_load(work->volume_type, at->volume, at->volume_step, at->count, added, NULL);
    for (int64_t frame = 0; frame < work->frame_count; frame++) {
        load_frame(work, at, frame, sum);
        for (int64_t i = 0; i < at->count; i++)
            sum[i] = sum[i] + work->weights[frame] * added[i];
        cc__components_store(work->frames_type, sum, NULL, at->frames + frame * work->frame_stride, at->frames_step,
                             at->count);
    }
}

static void gather(const cc__frames *work, const block *at)
{
    double sum[BLOCK];
    double next[BLOCK];
    const bool is_average = work->way == CC__FRAMES_AVERAGE;
    load_frame(work, at, 0, sum);
    for (int64_t i = 0; i < at->count && !is_average; i++)
        sum[i] *= work->weights[0];
    for (int64_t frame = 1; frame < work->frame_count; frame++) {
        const double weight = is_average ? 1.0 : work->weights[frame];
        load_frame(work, at, frame, next);
        for (int64_t i = 0; i < at->count; i++)
            sum[i] = sum[i] + weight * next[i];
    }
    for (int64_t i = 0; i < at->count && is_average; i++)
        sum[i] /= (double)work->frame_count;
    cc__components_store(work->volume_type, sum, NULL, at->volume, at->volume_step, at->count);
}

void cc__frames_row(const cc__frames *work, const cc__rows *rows, int64_t row, int64_t first, int64_t count)
{
    int64_t offset[2] = {first * rows->step[0], first * rows->step[1]};
    fenv_t environment;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        offset[0] += row % rows->size[i] * rows->stride[0][i];
        offset[1] += row % rows->size[i] * rows->stride[1][i];
        row /= rows->size[i];
    }
    /* The caller's rounding mode must neither change results nor be changed. */
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    for (int64_t done = 0; done < count; done += BLOCK) {
        const block at = {.volume = work->volume.data + offset[0] + done * rows->step[0],
                          .frames = work->frames.data + offset[1] + done * rows->step[1],
                          .volume_step = rows->step[0],
                          .frames_step = rows->step[1],
                          .count = count - done < BLOCK ? count - done : BLOCK};
        if (work->way == CC__FRAMES_SPLAT)
            splat(work, &at);
        else
            gather(work, &at);
    }
    fesetenv(&environment);
}
