/* Filters along lines on the GPU: one kernel for lines that are rows, one for lines that lie side by side. */
#include "base/smooth.h"
#include "kernels/any_type.h"
#include "kernels/border_math.h"
#include "kernels/launch.h"
#include "kernels/line_math.h"
#include "kernels/short_filter.h"
#include "kernels/tiles.h"

#include <string.h>

/* Results of a thread, one after the other along its line: what one of them needs is mostly what the next one needs. */
#define RESULTS 8
/* Numbers of the rows that a block holds, and what stands in their place for 8 of them: no two threads of a warp then
 * want the same bank. */
#define ROW_NUMBERS 3072
#define PITCH 9
/* Results of a block along one row. */
#define LONGEST_ROW (RESULTS * CC__BLOCK_THREADS)
/* More lines, or tiles, than this are done in several launches. */
#ifndef MOST_LINES
#define MOST_LINES (INT64_C(1) << 30)
#endif

typedef struct cc__line_shape {
    const unsigned char *source;
    unsigned char *destination;
    int64_t step[2];
    int64_t length;
    int64_t first;
    int64_t count;
    double border_value;
    cc_pixel_type source_type;
    cc_pixel_type destination_type;
    int32_t border;
    int32_t radius;
    int32_t lines;
    int32_t axes;
    cc__divisor size[CC_MAX_DIMENSION];
    int64_t stride[2][CC_MAX_DIMENSION];
    cc__divisor line_tiles; /* tiles side by side; the next ones are further along the lines */
    cc__divisor across;     /* of columns: lines of a tile. Of rows: threads of a row */
    int32_t tile_lines;     /* lines of a tile */
    int32_t tile_results;   /* results of a tile along a line, a multiple of RESULTS */
    int32_t before;         /* of rows: numbers held before the first result, a multiple of RESULTS */
    int32_t row_pitch;      /* of rows: numbers from one to the next */
} cc__line_shape;

typedef struct cc__line_plan_float {
    cc__line_shape shape;
    float weight[CC__LINE_RADIUS + 1];
} cc__line_plan_float;

typedef struct cc__line_plan_double {
    cc__line_shape shape;
    double weight[CC__LINE_RADIUS + 1];
} cc__line_plan_double;

static __device__ inline int64_t offset_of_line(const cc__line_shape *shape, int32_t side, int32_t line)
{
    int64_t offset = 0;
    CC__UNROLL
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        if (i >= shape->axes)
            break;
        int32_t next = i + 1 < shape->axes ? cc__divide(line, &shape->size[i]) : 0;
        offset += (line - next * shape->size[i].value) * shape->stride[side][i];
        line = next;
    }
    return offset;
}

static __device__ inline float load_same_float(const cc__line_shape *shape, const unsigned char *at)
{
    (void)shape;
    return *(const float *)at;
}

static __device__ inline double load_same_double(const cc__line_shape *shape, const unsigned char *at)
{
    (void)shape;
    return *(const double *)at;
}

static __device__ inline float load_any_float(const cc__line_shape *shape, const unsigned char *at)
{
    return (float)cc__load_any((int32_t)shape->source_type, at);
}

static __device__ inline double load_any_double(const cc__line_shape *shape, const unsigned char *at)
{
    return cc__load_any((int32_t)shape->source_type, at);
}

static __device__ inline void store_same_float(const cc__line_shape *shape, unsigned char *at, float value)
{
    (void)shape;
    *(float *)at = value == value ? value : cc__float32_of_bits(UINT32_C(0x7fc00000));
}

static __device__ inline void store_same_double(const cc__line_shape *shape, unsigned char *at, double value)
{
    (void)shape;
    *(double *)at = value == value ? value : cc__float64_of_bits(UINT64_C(0x7ff8000000000000));
}

static __device__ inline void store_any_float(const cc__line_shape *shape, unsigned char *at, float value)
{
    cc__store_any((int32_t)shape->destination_type, at, (double)value);
}

static __device__ inline void store_any_double(const cc__line_shape *shape, unsigned char *at, double value)
{
    cc__store_any((int32_t)shape->destination_type, at, value);
}

/*
 * What a thread adds up: near[] and far[] hold what is d before and after each of its results, in slots that turn by
 * one when d grows, so that each step takes in one number on either side, BEFORE and AFTER for distance d + j. NEXT
 * goes RESULTS further.
 */
#define ADD_STEP(NUMBER, BEFORE, AFTER)                                                                                \
    {                                                                                                                  \
        NUMBER weight = plan.weight[d + j];                                                                            \
        near[RESULTS - 1 - j] = BEFORE;                                                                                \
        far[j] = AFTER;                                                                                                \
        CC__UNROLL                                                                                                     \
        for (int32_t k = 0; k < RESULTS; k++)                                                                          \
            sum[k] = cc__line_add_##NUMBER(sum[k], weight, near[(k + RESULTS - 1 - j) % RESULTS],                      \
                                           far[(k + 1 + j) % RESULTS]);                                                \
    }

#define WEIGH(NUMBER, BEFORE, AFTER, NEXT)                                                                             \
    {                                                                                                                  \
        NUMBER near[RESULTS];                                                                                          \
        NUMBER far[RESULTS];                                                                                           \
        int32_t d = 1;                                                                                                 \
        CC__UNROLL                                                                                                     \
        for (int32_t k = 0; k < RESULTS; k++) {                                                                        \
            near[k] = sum[k];                                                                                          \
            far[k] = sum[k];                                                                                           \
            sum[k] = cc__line_begin_##NUMBER(plan.weight[0], sum[k]);                                                  \
        }                                                                                                              \
        for (; d + RESULTS - 1 <= plan.shape.radius; d += RESULTS) {                                                   \
            NUMBER before[RESULTS];                                                                                    \
            NUMBER after[RESULTS];                                                                                     \
            CC__UNROLL                                                                                                 \
            for (int32_t j = 0; j < RESULTS; j++) {                                                                    \
                before[j] = BEFORE;                                                                                    \
                after[j] = AFTER;                                                                                      \
            }                                                                                                          \
            CC__UNROLL                                                                                                 \
            for (int32_t j = 0; j < RESULTS; j++)                                                                      \
                ADD_STEP(NUMBER, before[j], after[j])                                                                  \
            NEXT;                                                                                                      \
        }                                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t j = 0; j < RESULTS - 1; j++) {                                                                    \
            if (d + j > plan.shape.radius)                                                                             \
                break;                                                                                                 \
            ADD_STEP(NUMBER, BEFORE, AFTER)                                                                            \
        }                                                                                                              \
    }

/*
 * Lines side by side: neighbouring threads have neighbouring lines, and what threads further along them share is in the
 * nearest cache.
 */
#define DEFINE_COLUMNS(NAME, NUMBER)                                                                                   \
    static CC__NOT_INLINE __device__ NUMBER find_##NAME##_##NUMBER(const cc__line_shape *shape,                        \
                                                                   const unsigned char *line, int64_t position)        \
    {                                                                                                                  \
        int64_t found = cc__border_find(shape->border, position, shape->length);                                       \
        return found < 0 ? (NUMBER)shape->border_value : load_##NAME##_##NUMBER(shape, line + found * shape->step[0]); \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        filter_columns_##NAME##_##NUMBER(const __grid_constant__ cc__line_plan_##NUMBER plan)                          \
    {                                                                                                                  \
        const cc__line_shape *shape = &plan.shape;                                                                     \
        int32_t along = cc__divide((int32_t)blockIdx.x, &shape->line_tiles);                                           \
        int32_t group = cc__divide((int32_t)threadIdx.x, &shape->across);                                              \
        int32_t line = ((int32_t)blockIdx.x - along * shape->line_tiles.value) * shape->tile_lines +                   \
                       ((int32_t)threadIdx.x - group * shape->across.value);                                           \
        int64_t result = (int64_t)along * shape->tile_results + group * RESULTS;                                       \
        if (line >= shape->lines || result >= shape->count)                                                            \
            return;                                                                                                    \
        const unsigned char *from = shape->source + offset_of_line(shape, 0, line);                                    \
        const int64_t step = shape->step[0];                                                                           \
        int64_t centre = shape->first + result;                                                                        \
        NUMBER sum[RESULTS];                                                                                           \
        if (centre >= shape->radius && centre + RESULTS + shape->radius <= shape->length) {                            \
            const unsigned char *low = from + centre * step;                                                           \
            const unsigned char *high = low + RESULTS * step;                                                          \
            CC__UNROLL                                                                                                 \
            for (int32_t k = 0; k < RESULTS; k++)                                                                      \
                sum[k] = load_##NAME##_##NUMBER(shape, low + k * step);                                                \
            WEIGH(NUMBER, load_##NAME##_##NUMBER(shape, low - (1 + j) * step),                                         \
                  load_##NAME##_##NUMBER(shape, high + j * step), low -= RESULTS * step;                               \
                  high += RESULTS * step)                                                                              \
        } else {                                                                                                       \
            int64_t low = centre;                                                                                      \
            int64_t high = centre + RESULTS;                                                                           \
            CC__UNROLL                                                                                                 \
            for (int32_t k = 0; k < RESULTS; k++)                                                                      \
                sum[k] = find_##NAME##_##NUMBER(shape, from, low + k);                                                 \
            WEIGH(NUMBER, find_##NAME##_##NUMBER(shape, from, low - 1 - j),                                            \
                  find_##NAME##_##NUMBER(shape, from, high + j), low -= RESULTS;                                       \
                  high += RESULTS)                                                                                     \
        }                                                                                                              \
        unsigned char *to = shape->destination + offset_of_line(shape, 1, line) + result * shape->step[1];             \
        CC__UNROLL                                                                                                     \
        for (int32_t k = 0; k < RESULTS; k++) {                                                                        \
            if (result + k < shape->count)                                                                             \
                store_##NAME##_##NUMBER(shape, to + k * shape->step[1], sum[k]);                                       \
        }                                                                                                              \
    }

/* Where number i of a row is held. */
#define HELD(i) ((i) + (i) / RESULTS)

/* Rows, whose numbers a block holds; in the same place it then collects the results, to write them side by side. */
#define DEFINE_ROWS(NAME, NUMBER)                                                                                      \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        filter_rows_##NAME##_##NUMBER(const __grid_constant__ cc__line_plan_##NUMBER plan)                             \
    {                                                                                                                  \
        __shared__ NUMBER shared[ROW_NUMBERS];                                                                         \
        const cc__line_shape *shape = &plan.shape;                                                                     \
        int32_t along = cc__divide((int32_t)blockIdx.x, &shape->line_tiles);                                           \
        int32_t row = cc__divide((int32_t)threadIdx.x, &shape->across);                                                \
        int32_t thread = (int32_t)threadIdx.x - row * shape->across.value;                                             \
        int32_t line = ((int32_t)blockIdx.x - along * shape->line_tiles.value) * shape->tile_lines + row;              \
        int64_t result = (int64_t)along * shape->tile_results;                                                         \
        int64_t left = shape->count - result;                                                                          \
        int32_t results = left < shape->tile_results ? (int32_t)left : shape->tile_results;                            \
        bool is_active = row < shape->tile_lines && line < shape->lines;                                               \
        NUMBER *numbers = shared + row * shape->row_pitch;                                                             \
        if (is_active) {                                                                                               \
            const unsigned char *from = shape->source + offset_of_line(shape, 0, line);                                \
            int64_t first = shape->first + result - shape->before;                                                     \
            int32_t end = shape->before + results + shape->radius;                                                     \
            for (int32_t i = shape->before - shape->radius + thread; i < end; i += shape->across.value) {              \
                NUMBER number;                                                                                         \
                if (first + i >= 0 && first + i < shape->length)                                                       \
                    number = load_##NAME##_##NUMBER(shape, from + (first + i) * shape->step[0]);                       \
                else                                                                                                   \
                    number = find_##NAME##_##NUMBER(shape, from, first + i);                                           \
                numbers[HELD(i)] = number;                                                                             \
            }                                                                                                          \
        }                                                                                                              \
        __syncthreads();                                                                                               \
        NUMBER sum[RESULTS];                                                                                           \
        const NUMBER *low = numbers + (shape->before / RESULTS + thread) * PITCH;                                      \
        const NUMBER *high = low + PITCH;                                                                              \
        bool is_summing = is_active && thread * RESULTS < results;                                                     \
        if (is_summing) {                                                                                              \
            CC__UNROLL                                                                                                 \
            for (int32_t k = 0; k < RESULTS; k++)                                                                      \
                sum[k] = low[k];                                                                                       \
            WEIGH(NUMBER, low[-(PITCH - RESULTS) - 1 - j], high[j], low -= PITCH; high += PITCH)                       \
        }                                                                                                              \
        __syncthreads();                                                                                               \
        if (is_summing) {                                                                                              \
            CC__UNROLL                                                                                                 \
            for (int32_t k = 0; k < RESULTS; k++)                                                                      \
                numbers[thread * PITCH + k] = sum[k];                                                                  \
        }                                                                                                              \
        __syncthreads();                                                                                               \
        if (is_active) {                                                                                               \
            unsigned char *to = shape->destination + offset_of_line(shape, 1, line) + result * shape->step[1];         \
            for (int32_t i = thread; i < results; i += shape->across.value)                                            \
                store_##NAME##_##NUMBER(shape, to + i * shape->step[1], numbers[HELD(i)]);                             \
        }                                                                                                              \
    }

DEFINE_COLUMNS(same, float)
DEFINE_COLUMNS(any, float)
DEFINE_COLUMNS(same, double)
DEFINE_COLUMNS(any, double)
DEFINE_ROWS(same, float)
DEFINE_ROWS(any, float)
DEFINE_ROWS(same, double)
DEFINE_ROWS(any, double)

static int64_t divide_up(int64_t n, int64_t by)
{
    return n / by + (n % by != 0);
}

static int32_t round_up(int64_t n)
{
    return (int32_t)(divide_up(n, RESULTS) * RESULTS);
}

/* A block is so many lines times so many results of each; both powers of two, fewer along short lines. */
static void plan_columns(cc__line_shape *shape)
{
    int32_t groups = 1;
    while (groups < 8 && (int64_t)groups * RESULTS < shape->count)
        groups *= 2;
    shape->tile_results = groups * RESULTS;
    shape->tile_lines = CC__BLOCK_THREADS / groups;
    shape->across = cc__divisor_of(shape->tile_lines);
}

/* A block is parts of rows of equal length, as many as there are threads and room for. */
static void plan_rows(cc__line_shape *shape)
{
    const int64_t parts = divide_up(shape->count, LONGEST_ROW);
    shape->tile_results = round_up(divide_up(shape->count, parts));
    shape->before = round_up(shape->radius);
    shape->row_pitch = (shape->tile_results + 2 * shape->before) / RESULTS * PITCH;
    shape->across = cc__divisor_of(shape->tile_results / RESULTS);
    shape->tile_lines = CC__BLOCK_THREADS / shape->across.value;
    if (shape->tile_lines > ROW_NUMBERS / shape->row_pitch)
        shape->tile_lines = ROW_NUMBERS / shape->row_pitch;
}

static const void *choose_kernel(const cc__line_filter *work, bool is_along_rows)
{
    const cc_pixel_type number = work->is_wide ? CC_PIXEL_FLOAT64 : CC_PIXEL_FLOAT32;
    const bool is_same = work->images.source_type == number && work->images.destination_type == number;
    if (work->is_wide) {
        if (is_same)
            return is_along_rows ? (const void *)filter_rows_same_double : (const void *)filter_columns_same_double;
        return is_along_rows ? (const void *)filter_rows_any_double : (const void *)filter_columns_any_double;
    }
    if (is_same)
        return is_along_rows ? (const void *)filter_rows_same_float : (const void *)filter_columns_same_float;
    return is_along_rows ? (const void *)filter_rows_any_float : (const void *)filter_columns_any_float;
}

static cc_status start(const cc__line_filter *work, const cc__launcher *launcher, cc__launch_fn launch,
                       const cc__line_shape *shape, const void *kernel, int64_t tiles)
{
    cc__line_plan_float narrow;
    cc__line_plan_double wide;
    void *arguments[] = {&narrow};
    if (work->is_wide) {
        arguments[0] = &wide;
        memset(&wide, 0, sizeof wide);
        wide.shape = *shape;
        memcpy(wide.weight, work->weight, sizeof wide.weight);
    } else {
        memset(&narrow, 0, sizeof narrow);
        narrow.shape = *shape;
        for (int32_t d = 0; d <= work->radius; d++)
            narrow.weight[d] = (float)work->weight[d];
    }
    return launch(launcher, kernel, (uint32_t)tiles, CC__BLOCK_THREADS, arguments);
}

static cc_status launch_part(cc__line_filter *work, const cc__launcher *launcher, cc__launch_fn launch)
{
    cc__lines lines;
    cc__line_shape shape;
    cc__lines_plan(&work->images, &lines);
    if (cc__short_filter_kernel(work, &lines) != NULL)
        return cc__launch_short_filter(work, &lines, launcher, launch);
    memset(&shape, 0, sizeof shape);
    shape.count = work->images.size[work->images.axis];
    shape.radius = work->radius;
    if (lines.is_along_rows)
        plan_rows(&shape);
    else
        plan_columns(&shape);
    const int64_t line_tiles = divide_up(lines.count, shape.tile_lines);
    const int64_t tiles = line_tiles * divide_up(shape.count, shape.tile_results);
    if (lines.count > MOST_LINES || tiles > INT32_MAX) {
        cc__line_filter rest = *work;
        int64_t first = 0;
        rest.images = cc__line_images_split(&work->images, &first);
        rest.first += first;
        const cc_status begun = launch_part(work, launcher, launch);
        return begun == CC_OK ? launch_part(&rest, launcher, launch) : begun;
    }
    shape.source = work->images.source.data;
    shape.destination = work->images.destination.data;
    shape.step[0] = lines.step[0];
    shape.step[1] = lines.step[1];
    shape.length = work->length;
    shape.first = work->first;
    shape.border_value = work->border_value;
    shape.source_type = work->images.source_type;
    shape.destination_type = work->images.destination_type;
    shape.border = work->border;
    shape.lines = (int32_t)lines.count;
    shape.axes = lines.axes;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        shape.size[i] = cc__divisor_of((int32_t)lines.size[i]);
        shape.stride[0][i] = lines.stride[0][i];
        shape.stride[1][i] = lines.stride[1][i];
    }
    shape.line_tiles = cc__divisor_of((int32_t)line_tiles);
    return start(work, launcher, launch, &shape, choose_kernel(work, lines.is_along_rows != 0), tiles);
}

static bool writes_scratch(const cc__smooth *work, const cc__line_filter *filter)
{
    const int64_t offset = filter->images.destination.data - work->scratch;
    return work->slab_memories > 0 && offset >= 0 && offset < work->slab_memories * work->slab_bytes;
}

/* The last slab may be so thin that others do it than those of the slabs before. */
static cc_status find_last_kernels(const cc__smooth *work, const cc__launcher *launcher)
{
    const int64_t steps = cc__smooth_steps(work);
    cc_status status = CC_OK;
    for (int64_t step = steps - work->pass_count; step < steps && status == CC_OK; step++) {
        cc__line_filter filter;
        cc__lines lines;
        cc__smooth_step(work, step, &filter);
        cc__lines_plan(&filter.images, &lines);
        const void *kernel = cc__short_filter_kernel(&filter, &lines);
        status = launcher->find(launcher, kernel != NULL ? kernel : choose_kernel(&filter, lines.is_along_rows != 0));
    }
    return status;
}

cc_status cc__launch_smooth(const void *argument, const cc__launcher *launcher)
{
    const cc__smooth *work = (const cc__smooth *)argument;
    const int64_t steps = cc__smooth_steps(work);
    cc_status status = steps > work->pass_count ? find_last_kernels(work, launcher) : CC_OK;
    for (int64_t step = 0; step < steps && status == CC_OK; step++) {
        cc__line_filter filter;
        cc__smooth_step(work, step, &filter);
        status = launch_part(&filter, launcher, writes_scratch(work, &filter) ? cc__launch_aside : launcher->launch);
    }
    return status;
}
