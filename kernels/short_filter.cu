/* Filters of a few float32 along lines: a thread holds all the pixels that its next results need in its registers. */
#include "kernels/border_math.h"
#include "kernels/launch.h"
#include "kernels/line_math.h"
#include "kernels/short_filter.h"
#include "kernels/tiles.h"

#include <cudacommon/border.h>
#include <string.h>

/* Results of a thread at a time; and pixels to each side that there are kernels for. */
#define RESULTS 8
#define MOST_RADIUS 32
#define PACK 4

/* A line so long goes on beyond its ends as one copy of its pixels at each. */
#define LEAST_LENGTH 64

typedef struct short_plan {
    const unsigned char *source;
    unsigned char *destination;
    int64_t step[2];
    int64_t stride[2][CC_MAX_DIMENSION];
    cc__divisor size[CC_MAX_DIMENSION];
    cc__divisor tiles; /* of columns: side by side. Of rows: threads of a row */
    int32_t axes;
    int32_t lines;
    int32_t length; /* of the source's lines */
    int32_t first;  /* where in them the results begin */
    int32_t count;  /* of the results along a line */
    int32_t march;  /* results of a thread, when lines are columns */
    int32_t radius;
    int32_t low_end;  /* the pixel that stands for one at `at` before the first is low_end + way * at, */
    int32_t high_end; /* and high_end + way * at for one behind the last */
    int32_t way;
    int32_t is_constant;
    float border_value;
    float weight[MOST_RADIUS + 1];
} short_plan;

typedef struct __align__(16) pack
{
    float value[PACK];
}
pack;

static __device__ inline int64_t offset_of(const short_plan *plan, int32_t side, int32_t line)
{
    int64_t offset = 0;
    CC__UNROLL
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        if (i >= plan->axes)
            break;
        const int32_t next = i + 1 < plan->axes ? cc__divide(line, &plan->size[i]) : 0;
        offset += (line - next * plan->size[i].value) * plan->stride[side][i];
        line = next;
    }
    return offset;
}

static __device__ inline float load_outside(const short_plan *plan, const unsigned char *line, int32_t at)
{
    const bool is_outside = at < 0 || at >= plan->length;
    int32_t found = at;
    if (at < 0)
        found = plan->low_end + plan->way * at;
    if (at >= plan->length)
        found = plan->high_end + plan->way * at;
    const float value = *(const float *)(line + found * plan->step[0]);
    return is_outside && plan->is_constant != 0 ? plan->border_value : value;
}

static __device__ inline void load_run(const short_plan *plan, const unsigned char *line, int32_t at,
                                       float out[RESULTS])
{
    if (at >= 0 && at + RESULTS <= plan->length) {
        const unsigned char *from = line + at * plan->step[0];
        CC__UNROLL
        for (int32_t i = 0; i < RESULTS; i++)
            out[i] = *(const float *)(from + i * plan->step[0]);
    } else {
        CC__UNROLL
        for (int32_t i = 0; i < RESULTS; i++)
            out[i] = load_outside(plan, line, at + i);
    }
}

static __device__ inline void load_pack(const short_plan *plan, const unsigned char *line, int32_t at, float out[PACK])
{
    if (at >= 0 && at < plan->length) {
        const pack four = *(const pack *)(line + at * (int64_t)sizeof(float));
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++)
            out[i] = four.value[i];
    } else {
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++)
            out[i] = load_outside(plan, line, at + i);
    }
}

static __device__ inline float stored(float value)
{
    return value == value ? value : cc__float32_of_bits(UINT32_C(0x7fc00000));
}

/* held: the pixels from MOST before the first result on. */
#define WEIGH_HELD(MOST, HELD, SUM)                                                                                    \
    {                                                                                                                  \
        CC__UNROLL                                                                                                     \
        for (int32_t k = 0; k < RESULTS; k++)                                                                          \
            (SUM)[k] = cc__line_begin_float(plan.weight[0], (HELD)[(MOST) + k]);                                       \
        CC__UNROLL                                                                                                     \
        for (int32_t d = 1; d <= (MOST); d++) {                                                                        \
            if (d <= plan.radius) {                                                                                    \
                CC__UNROLL                                                                                             \
                for (int32_t k = 0; k < RESULTS; k++)                                                                  \
                    (SUM)[k] =                                                                                         \
                        cc__line_add_float((SUM)[k], plan.weight[d], (HELD)[(MOST) + k - d], (HELD)[(MOST) + k + d]);  \
            }                                                                                                          \
        }                                                                                                              \
    }

#define DEFINE_SHORT(MOST, BLOCKS)                                                                                     \
    /* Lines side by side: neighbouring threads have neighbouring lines, and go along them. */                         \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS, BLOCKS)                                                \
        short_columns_##MOST(const __grid_constant__ short_plan plan)                                                  \
    {                                                                                                                  \
        const int32_t along = cc__divide((int32_t)blockIdx.x, &plan.tiles);                                            \
        const int32_t line =                                                                                           \
            ((int32_t)blockIdx.x - along * plan.tiles.value) * CC__BLOCK_THREADS + (int32_t)threadIdx.x;               \
        int32_t result = along * plan.march;                                                                           \
        const int32_t end = plan.count - result < plan.march ? plan.count : result + plan.march;                       \
        float held[2 * (MOST) + RESULTS];                                                                              \
        if (line >= plan.lines)                                                                                        \
            return;                                                                                                    \
        const unsigned char *from = plan.source + offset_of(&plan, 0, line);                                           \
        unsigned char *to = plan.destination + offset_of(&plan, 1, line) + result * plan.step[1];                      \
        CC__UNROLL                                                                                                     \
        for (int32_t n = 0; n < 2 * (MOST) + RESULTS; n += RESULTS)                                                    \
            load_run(&plan, from, plan.first + result - (MOST) + n, &held[n]);                                         \
        for (; result < end; result += RESULTS, to += RESULTS * plan.step[1]) {                                        \
            float next[RESULTS] = {0}, sum[RESULTS];                                                                   \
            if (result + RESULTS < end)                                                                                \
                load_run(&plan, from, plan.first + result + (MOST) + RESULTS, next);                                   \
            WEIGH_HELD(MOST, held, sum)                                                                                \
            CC__UNROLL                                                                                                 \
            for (int32_t k = 0; k < RESULTS; k++) {                                                                    \
                if (result + k < end)                                                                                  \
                    *(float *)(to + k * plan.step[1]) = stored(sum[k]);                                                \
            }                                                                                                          \
            CC__UNROLL                                                                                                 \
            for (int32_t n = 0; n < 2 * (MOST); n++)                                                                   \
                held[n] = held[n + RESULTS];                                                                           \
            CC__UNROLL                                                                                                 \
            for (int32_t n = 0; n < RESULTS; n++)                                                                      \
                held[2 * (MOST) + n] = next[n];                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    /* Rows of whole packs: a thread has its results beside those of its neighbours. */                                \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS, BLOCKS)                                                \
        short_rows_##MOST(const __grid_constant__ short_plan plan)                                                     \
    {                                                                                                                  \
        const int32_t number = (int32_t)(blockIdx.x * CC__BLOCK_THREADS + threadIdx.x);                                \
        const int32_t line = cc__divide(number, &plan.tiles);                                                          \
        const int32_t result = (number - line * plan.tiles.value) * RESULTS;                                           \
        float held[2 * (MOST) + RESULTS], sum[RESULTS];                                                                \
        if (line >= plan.lines)                                                                                        \
            return;                                                                                                    \
        const unsigned char *from = plan.source + offset_of(&plan, 0, line);                                           \
        unsigned char *to = plan.destination + offset_of(&plan, 1, line) + result * (int64_t)sizeof(float);            \
        CC__UNROLL                                                                                                     \
        for (int32_t n = 0; n < 2 * (MOST) + RESULTS; n += PACK)                                                       \
            load_pack(&plan, from, plan.first + result - (MOST) + n, &held[n]);                                        \
        WEIGH_HELD(MOST, held, sum)                                                                                    \
        CC__UNROLL                                                                                                     \
        for (int32_t n = 0; n < RESULTS; n += PACK) {                                                                  \
            const pack four = {{stored(sum[n]), stored(sum[n + 1]), stored(sum[n + 2]), stored(sum[n + 3])}};          \
            if (result + n < plan.count)                                                                               \
                *(pack *)(to + n * sizeof(float)) = four;                                                              \
        }                                                                                                              \
    }

DEFINE_SHORT(8, 4)
DEFINE_SHORT(16, 3)
DEFINE_SHORT(32, 2)

static void plan_border(const cc__line_filter *work, short_plan *plan)
{
    const int32_t length = (int32_t)work->length;
    plan->border_value = (float)work->border_value;
    plan->is_constant = work->border == CC_BORDER_CONSTANT;
    switch ((cc_border)work->border) {
    case CC_BORDER_CONSTANT:
    case CC_BORDER_REPLICATE:
        plan->way = 0;
        plan->low_end = 0;
        plan->high_end = length - 1;
        break;
    case CC_BORDER_REFLECT:
        plan->way = -1;
        plan->low_end = 0;
        plan->high_end = 2 * (length - 1);
        break;
    case CC_BORDER_SYMMETRIC:
        plan->way = -1;
        plan->low_end = -1;
        plan->high_end = 2 * length - 1;
        break;
    case CC_BORDER_PERIODIC:
        plan->way = 1;
        plan->low_end = length;
        plan->high_end = -length;
        break;
    }
}

static bool has_packs(const cc__line_filter *work, const cc__lines *lines)
{
    bool has = lines->step[0] == sizeof(float) && lines->step[1] == sizeof(float) && work->length % PACK == 0 &&
               work->first % PACK == 0 && work->images.size[work->images.axis] % PACK == 0 &&
               (uintptr_t)work->images.source.data % sizeof(pack) == 0 &&
               (uintptr_t)work->images.destination.data % sizeof(pack) == 0;
    for (int32_t i = 0; i < lines->axes; i++)
        has =
            has && lines->stride[0][i] % (int64_t)sizeof(pack) == 0 && lines->stride[1][i] % (int64_t)sizeof(pack) == 0;
    return has;
}

static const void *kernel_of(int32_t radius, bool is_along_rows)
{
    if (radius <= 8)
        return is_along_rows ? (const void *)short_rows_8 : (const void *)short_columns_8;
    if (radius <= 16)
        return is_along_rows ? (const void *)short_rows_16 : (const void *)short_columns_16;
    return is_along_rows ? (const void *)short_rows_32 : (const void *)short_columns_32;
}

/* What a thread begins with is worth so many results. */
static int32_t march_of(const cc__line_filter *work)
{
    return work->radius > 16 ? 64 : 32;
}

static int64_t count_tiles(const cc__line_filter *work, const cc__lines *lines)
{
    return lines->is_along_rows != 0 ? (work->images.size[work->images.axis] - 1) / RESULTS + 1
                                     : (lines->count - 1) / CC__BLOCK_THREADS + 1;
}

/* The blocks that the work is for, or 0. */
static int64_t count_blocks(const cc__line_filter *work, const cc__lines *lines)
{
    const int64_t count = work->images.size[work->images.axis];
    const bool is_along_rows = lines->is_along_rows != 0;
    if (work->is_wide || work->images.source_type != CC_PIXEL_FLOAT32 ||
        work->images.destination_type != CC_PIXEL_FLOAT32 || work->radius < 1 || work->radius > MOST_RADIUS ||
        work->length < LEAST_LENGTH || work->length > INT32_MAX / 4 || lines->count > INT32_MAX / 2 ||
        (is_along_rows && !has_packs(work, lines)))
        return 0;
    const int64_t tiles = count_tiles(work, lines);
    const int64_t all = is_along_rows ? lines->count * tiles : tiles * ((count - 1) / march_of(work) + 1);
    if (all > INT32_MAX - CC__BLOCK_THREADS)
        return 0;
    return is_along_rows ? (all - 1) / CC__BLOCK_THREADS + 1 : all;
}

const void *cc__short_filter_kernel(const cc__line_filter *work, const cc__lines *lines)
{
    return count_blocks(work, lines) > 0 ? kernel_of(work->radius, lines->is_along_rows != 0) : NULL;
}

cc_status cc__launch_short_filter(const cc__line_filter *work, const cc__lines *lines, const cc__launcher *launcher,
                                  cc__launch_fn launch)
{
    short_plan plan;
    void *arguments[] = {&plan};
    memset(&plan, 0, sizeof plan);
    plan.source = work->images.source.data;
    plan.destination = work->images.destination.data;
    plan.lines = (int32_t)lines->count;
    plan.axes = lines->axes;
    plan.length = (int32_t)work->length;
    plan.first = (int32_t)work->first;
    plan.count = (int32_t)work->images.size[work->images.axis];
    plan.march = march_of(work);
    plan.radius = work->radius;
    plan.tiles = cc__divisor_of((int32_t)count_tiles(work, lines));
    plan_border(work, &plan);
    for (int32_t side = 0; side < 2; side++) {
        plan.step[side] = lines->step[side];
        memcpy(plan.stride[side], lines->stride[side], sizeof plan.stride[side]);
    }
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++)
        plan.size[i] = cc__divisor_of((int32_t)lines->size[i]);
    for (int32_t d = 0; d <= work->radius; d++)
        plan.weight[d] = (float)work->weight[d];
    return launch(launcher, kernel_of(work->radius, lines->is_along_rows != 0), (uint32_t)count_blocks(work, lines),
                  CC__BLOCK_THREADS, arguments);
}
