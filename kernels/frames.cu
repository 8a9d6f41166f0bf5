/* Frames into one volume, and a volume into frames; see base/frames.c for the same on the CPU. */
#include "kernels/frames_plan.h"
#include "kernels/launch.h"
#include "kernels/pixel_math.h"

#define PACK CC__FRAMES_PACK

#define DEFINE_PACK(BITS, ALIGNMENT)                                                                                   \
    typedef struct __align__(ALIGNMENT) pack_of_##BITS                                                                 \
    {                                                                                                                  \
        uint##BITS##_t value[PACK];                                                                                    \
    }                                                                                                                  \
    pack_of_##BITS;

DEFINE_PACK(8, 4)
DEFINE_PACK(16, 8)
DEFINE_PACK(32, 16)
DEFINE_PACK(64, 16)

#define LOAD_PACK(NAME, HOLDER, BITS)                                                                                  \
    case CC_PIXEL_##NAME: {                                                                                            \
        pack_of_##BITS bits;                                                                                           \
        if (is_whole) {                                                                                                \
            bits = *(const pack_of_##BITS *)from;                                                                      \
        } else {                                                                                                       \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < PACK; i++)                                                                         \
                bits.value[i] = i < count ? *(const uint##BITS##_t *)(from + i * step) : 0;                            \
        }                                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < PACK; i++)                                                                             \
            out[i] = cc__load_##NAME((HOLDER)bits.value[i]);                                                           \
        break;                                                                                                         \
    }

static __device__ inline void load_pack(cc_pixel_type type, const unsigned char *from, int64_t step, bool is_whole,
                                        int32_t count, double out[PACK])
{
    switch ((int32_t)type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(LOAD_PACK)
        CC__FOR_EACH_TYPE_OF_32_BITS(LOAD_PACK)
        CC__FOR_EACH_TYPE_OF_64_BITS(LOAD_PACK)
    }
}

#define STORE_PACK(NAME, HOLDER, BITS)                                                                                 \
    case CC_PIXEL_##NAME: {                                                                                            \
        pack_of_##BITS bits;                                                                                           \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < PACK; i++)                                                                             \
            bits.value[i] = (uint##BITS##_t)cc__store_##NAME(values[i]);                                               \
        if (is_whole) {                                                                                                \
            *(pack_of_##BITS *)to = bits;                                                                              \
        } else {                                                                                                       \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < PACK; i++) {                                                                       \
                if (i < count)                                                                                         \
                    *(uint##BITS##_t *)(to + i * step) = bits.value[i];                                                \
            }                                                                                                          \
        }                                                                                                              \
        break;                                                                                                         \
    }

static __device__ inline void store_pack(cc_pixel_type type, unsigned char *to, int64_t step, bool is_whole,
                                         int32_t count, const double values[PACK])
{
    switch ((int32_t)type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(STORE_PACK)
        CC__FOR_EACH_TYPE_OF_32_BITS(STORE_PACK)
        CC__FOR_EACH_TYPE_OF_64_BITS(STORE_PACK)
    }
}

/* A thread's components. */
typedef struct pack_place {
    unsigned char *volume;
    unsigned char *frames; /* of the first frame */
    int32_t count;         /* 0: none */
    bool is_whole[2];      /* may be moved at once */
} pack_place;

static __device__ inline pack_place find_pack(const cc__frames_launch *plan, int64_t tile)
{
    const cc__tiles *tiles = &plan->tiles;
    pack_place place = {NULL, NULL, 0, {false, false}};
    int32_t row;
    int64_t piece;
    int32_t thread = (int32_t)threadIdx.x;
    cc__tiles_begin(tiles, tile, &row, &piece);
    piece += thread & ((1 << tiles->width_log2) - 1);
    row += thread >> tiles->width_log2;
    if (row >= tiles->rows || piece >= tiles->pieces)
        return place;
    int64_t first = piece * PACK;
    place.count = plan->length - first < PACK ? (int32_t)(plan->length - first) : PACK;
    place.volume = plan->work.volume.data + cc__tiles_offset(tiles, 0, row) + first * plan->step[0];
    place.frames = plan->work.frames.data + cc__tiles_offset(tiles, 1, row) + first * plan->step[1];
    place.is_whole[0] = place.count == PACK && plan->packed[0] != 0;
    place.is_whole[1] = place.count == PACK && plan->packed[1] != 0;
    return place;
}

/* The types are constants, or not. */
static __device__ inline void splat_pack(const cc__frames_launch *plan, const pack_place *at, cc_pixel_type volume_type,
                                         cc_pixel_type frames_type)
{
    const cc__frames *work = &plan->work;
    double added[PACK] = {};
    double sum[2][PACK] = {};
    load_pack(volume_type, at->volume, plan->step[0], at->is_whole[0], at->count, added);
    CC__UNROLL
    for (int32_t frame = 0; frame < 2; frame++) {
        if (frame < work->frame_count)
            load_pack(frames_type, at->frames + frame * work->frame_stride, plan->step[1], at->is_whole[1], at->count,
                      sum[frame]);
    }
    CC__UNROLL
    for (int32_t frame = 0; frame < 2; frame++) {
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++)
            sum[frame][i] = sum[frame][i] + work->weights[frame] * added[i];
        if (frame < work->frame_count)
            store_pack(frames_type, at->frames + frame * work->frame_stride, plan->step[1], at->is_whole[1], at->count,
                       sum[frame]);
    }
}

static __device__ inline void gather_pack(const cc__frames_launch *plan, const pack_place *at,
                                          cc_pixel_type volume_type, cc_pixel_type frames_type)
{
    const cc__frames *work = &plan->work;
    const bool is_average = work->way == CC__FRAMES_AVERAGE;
    double sum[PACK] = {};
    double next[PACK] = {};
    load_pack(frames_type, at->frames, plan->step[1], at->is_whole[1], at->count, sum);
    if (!is_average) {
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++)
            sum[i] *= work->weights[0];
    }
    double weight = is_average ? 1.0 : work->weights[1];
    for (int64_t frame = 1; frame < work->frame_count; frame++) {
        load_pack(frames_type, at->frames + frame * work->frame_stride, plan->step[1], at->is_whole[1], at->count,
                  next);
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++)
            sum[i] = sum[i] + weight * next[i];
    }
    if (is_average) {
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++)
            sum[i] /= (double)work->frame_count;
    }
    store_pack(volume_type, at->volume, plan->step[0], at->is_whole[0], at->count, sum);
}

/* The most common, with several packs of a thread on their way at once: float32 on both sides, all of it one row. */
#define PACKS CC__FRAMES_PACKS

static __device__ inline bool has_pack(const cc__frames_launch *plan, int64_t n)
{
    return n < plan->tiles.pieces;
}

static __device__ inline void load_packs(const cc__frames_launch *plan, const unsigned char *data, int64_t first,
                                         pack_of_32 out[PACKS])
{
    CC__UNROLL
    for (int32_t i = 0; i < PACKS; i++) {
        int64_t n = first + i * CC__BLOCK_THREADS;
        if (has_pack(plan, n))
            out[i] = ((const pack_of_32 *)data)[n];
    }
}

static __device__ inline void store_packs(const cc__frames_launch *plan, unsigned char *data, int64_t first,
                                          double values[PACKS][PACK])
{
    CC__UNROLL
    for (int32_t i = 0; i < PACKS; i++) {
        int64_t n = first + i * CC__BLOCK_THREADS;
        pack_of_32 made;
        CC__UNROLL
        for (int32_t j = 0; j < PACK; j++)
            made.value[j] = cc__store_FLOAT32(values[i][j]);
        if (has_pack(plan, n))
            ((pack_of_32 *)data)[n] = made;
    }
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS)
    frames_mix_row(const __grid_constant__ cc__frames_launch plan)
{
    const int64_t first = (int64_t)blockIdx.x * PACKS * CC__BLOCK_THREADS + (int64_t)threadIdx.x;
    pack_of_32 x[PACKS] = {};
    pack_of_32 y[PACKS] = {};
    double made[PACKS][PACK];
    load_packs(&plan, plan.work.frames.data, first, x);
    load_packs(&plan, plan.work.frames.data + plan.work.frame_stride, first, y);
    CC__UNROLL
    for (int32_t i = 0; i < PACKS; i++) {
        CC__UNROLL
        for (int32_t j = 0; j < PACK; j++) {
            made[i][j] = cc__load_FLOAT32(x[i].value[j]) * plan.work.weights[0];
            made[i][j] = made[i][j] + plan.work.weights[1] * cc__load_FLOAT32(y[i].value[j]);
        }
    }
    store_packs(&plan, plan.work.volume.data, first, made);
}

/* The next frame is on its way while one is added. */
static __global__ void __launch_bounds__(CC__BLOCK_THREADS)
    frames_average_row(const __grid_constant__ cc__frames_launch plan)
{
    const int64_t first = (int64_t)blockIdx.x * PACKS * CC__BLOCK_THREADS + (int64_t)threadIdx.x;
    const unsigned char *data = plan.work.frames.data;
    pack_of_32 next[PACKS] = {};
    double sum[PACKS][PACK];
    load_packs(&plan, data, first, next);
    for (int64_t frame = 0; frame < plan.work.frame_count; frame++) {
        pack_of_32 now[PACKS];
        CC__UNROLL
        for (int32_t i = 0; i < PACKS; i++)
            now[i] = next[i];
        data += plan.work.frame_stride;
        if (frame + 1 < plan.work.frame_count)
            load_packs(&plan, data, first, next);
        CC__UNROLL
        for (int32_t i = 0; i < PACKS; i++) {
            CC__UNROLL
            for (int32_t j = 0; j < PACK; j++) {
                double value = cc__load_FLOAT32(now[i].value[j]);
                sum[i][j] = frame == 0 ? value : sum[i][j] + value;
            }
        }
    }
    CC__UNROLL
    for (int32_t i = 0; i < PACKS; i++) {
        CC__UNROLL
        for (int32_t j = 0; j < PACK; j++)
            sum[i][j] /= (double)plan.work.frame_count;
    }
    store_packs(&plan, plan.work.volume.data, first, sum);
}

#define DEFINE_KERNELS(NAME, VOLUME_TYPE, FRAMES_TYPE)                                                                 \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        frames_splat_##NAME(const __grid_constant__ cc__frames_launch plan)                                            \
    {                                                                                                                  \
        for (int64_t tile = blockIdx.x; tile < plan.tiles.count; tile += gridDim.x) {                                  \
            pack_place at = find_pack(&plan, tile);                                                                    \
            if (at.count > 0)                                                                                          \
                splat_pack(&plan, &at, VOLUME_TYPE, FRAMES_TYPE);                                                      \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        frames_gather_##NAME(const __grid_constant__ cc__frames_launch plan)                                           \
    {                                                                                                                  \
        for (int64_t tile = blockIdx.x; tile < plan.tiles.count; tile += gridDim.x) {                                  \
            pack_place at = find_pack(&plan, tile);                                                                    \
            if (at.count > 0)                                                                                          \
                gather_pack(&plan, &at, VOLUME_TYPE, FRAMES_TYPE);                                                     \
        }                                                                                                              \
    }

DEFINE_KERNELS(float32, CC_PIXEL_FLOAT32, CC_PIXEL_FLOAT32)
DEFINE_KERNELS(any, plan.work.volume_type, plan.work.frames_type)

static const void *frames_kernel(const cc__frames *work)
{
    const bool is_float32 = work->volume_type == CC_PIXEL_FLOAT32 && work->frames_type == CC_PIXEL_FLOAT32;
    if (work->way == CC__FRAMES_SPLAT)
        return is_float32 ? (const void *)frames_splat_float32 : (const void *)frames_splat_any;
    return is_float32 ? (const void *)frames_gather_float32 : (const void *)frames_gather_any;
}

/* NULL for all others. */
static const void *frames_row_kernel(const cc__frames_launch *plan)
{
    const cc__frames *work = &plan->work;
    if (!cc__frames_is_row(plan) || work->volume_type != CC_PIXEL_FLOAT32 || work->frames_type != CC_PIXEL_FLOAT32)
        return NULL;
    if (work->way == CC__FRAMES_AVERAGE)
        return (const void *)frames_average_row;
    return work->way != CC__FRAMES_SPLAT && work->frame_count == 2 ? (const void *)frames_mix_row : NULL;
}

static cc_status launch_rows(cc__frames_launch *plan, cc__rows rows, const cc__launcher *launcher)
{
    if (!cc__tiles_plan(&rows, (rows.length - 1) / PACK + 1, CC__FRAMES_TILE_LOG2, &plan->tiles)) {
        cc__rows rest;
        int64_t offset[2];
        cc__rows_split(&rows, &rest, offset);
        cc__frames_launch second = *plan;
        second.work.volume.data += offset[0];
        second.work.frames.data += offset[1];
        cc_status status = launch_rows(plan, rows, launcher);
        return status == CC_OK ? launch_rows(&second, rest, launcher) : status;
    }
    void *arguments[] = {plan};
    const void *row_kernel = frames_row_kernel(plan);
    if (row_kernel != NULL)
        return launcher->launch(launcher, row_kernel, cc__frames_row_blocks(plan), CC__BLOCK_THREADS, arguments);
    return launcher->launch(launcher, frames_kernel(&plan->work),
                            cc__tiles_blocks(&plan->tiles, launcher->multiprocessor_count), CC__BLOCK_THREADS,
                            arguments);
}

cc_status cc__launch_frames(const void *work, const cc__launcher *launcher)
{
    cc__frames_launch plan;
    cc__rows rows;
    cc__frames_launch_make((const cc__frames *)work, &plan, &rows);
    return launch_rows(&plan, rows, launcher);
}
