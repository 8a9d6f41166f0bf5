/*
 * Linear, without a field, in float32, where the planes of one image are parallel to those of the other: a block goes
 * along the third axis and has what its patch needs of each plane of the source brought to shared memory once, some
 * planes ahead. What is on its way then waits in no register.
 */
#include "kernels/copy_unit.h"
#include "kernels/resample_pairs.h"

/* What a thread brings of a plane, and planes that are there or on their way. */
#define UNITS 3
#define STAGES 3
#define STAGE_UNITS (UNITS * CC__BLOCK_THREADS)
/* Where all is aligned to units they are brought; words, one by one, where it is not. */
#define UNIT_BYTES 16
#define WORD_BYTES 4
#define WARP 32

#define ROWS CC__COLUMN_ROWS

/* For loops that are not to take more registers. */
#ifdef __CUDACC__
#define ONE_BY_ONE _Pragma("unroll 1")
#else
#define ONE_BY_ONE
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define BRING(TO, FROM)                                                                                                \
    __asm__ volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(TO)),        \
                     "l"(__cvta_generic_to_global(FROM))                                                               \
                     : "memory")
#define BRING_WORD(TO, FROM)                                                                                           \
    __asm__ volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((uint32_t)__cvta_generic_to_shared(TO)),         \
                     "l"(__cvta_generic_to_global(FROM))                                                               \
                     : "memory")
#define END_PLANE() __asm__ volatile("cp.async.commit_group;" ::: "memory")
/* Until no more planes than this, the last ones, are on their way. */
#define AWAIT_PLANES(LEFT) __asm__ volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory")
#else
#define BRING(TO, FROM) (*(TO) = *(const cc__copy_unit *)(FROM))
#define BRING_WORD(TO, FROM) (*(uint32_t *)(TO) = *(const uint32_t *)(FROM))
#define END_PLANE() (void)0
#define AWAIT_PLANES(LEFT) (void)0
#endif

/* Where a pixel of the column is along the third axis: its plane before, -1 outside, and how far the next one is. */
typedef struct level {
    int32_t plane;
    float fraction;
} level;

/* What a block needs of a plane of the source, in whole units or words. */
typedef struct stage_box {
    int32_t first_row;
    int32_t rows;
    int32_t first_byte; /* of a row */
    int32_t row_bytes;
} stage_box;

/* The columns of a thread: where their first pixels are in the box, and what of them is inside. A bit for each row. */
typedef struct footprint {
    uint32_t at[ROWS];
    float fx[ROWS];
    float fy[ROWS];
    uint32_t has;
    uint32_t inside;
} footprint;

/* The pixel before a position, or the nearest. Where a position is inside, as cc__near_float32_of() has it. */
static __device__ inline int32_t pixel_before(double position, int64_t size)
{
    const int64_t fixed = cc__fixed_of(position), end = (size - 1) << CC__FIXED_BITS;
    return (int32_t)((fixed < 0 ? 0 : fixed < end ? fixed : end) >> CC__FIXED_BITS);
}

/* Positions go up or down along each axis, also when they are rounded, so that two corners of a patch tell. */
static __device__ inline void find_range(const double row[4], const double i[2], const double j[2], int64_t size,
                                         int32_t *out_first, int32_t *out_last)
{
    const double least = cc__map_start(row, row[0] < 0 ? i[1] : i[0], row[1] < 0 ? j[1] : j[0]);
    const double most = cc__map_start(row, row[0] < 0 ? i[0] : i[1], row[1] < 0 ? j[0] : j[1]);
    const int32_t last = pixel_before(most, size);
    *out_first = pixel_before(least, size);
    *out_last = last + 1 < size ? last + 1 : last;
}

static __device__ inline void find_box(const resample_plan *plan, int64_t patch, int32_t unit_bytes, stage_box *out)
{
    const cc__resample *work = &plan->work;
    cc__column first, last;
    int32_t x[2], y[2];
    (void)cc__columns_find(&plan->columns, patch, 0, &first);
    (void)cc__columns_find(&plan->columns, patch, CC__BLOCK_THREADS - 1, &last);
    const int64_t end_i = last.pixel < work->size[0] ? last.pixel : work->size[0] - 1;
    const int64_t end_j = last.still + ROWS < work->size[1] ? last.still + ROWS - 1 : work->size[1] - 1;
    const double i[2] = {(double)first.pixel, (double)end_i}, j[2] = {(double)first.still, (double)end_j};
    find_range(work->map.row[0], i, j, work->source_size[0], &x[0], &x[1]);
    find_range(work->map.row[1], i, j, work->source_size[1], &y[0], &y[1]);
    out->first_row = y[0];
    out->rows = y[1] - y[0] + 1;
    const int32_t below = unit_bytes - 1;
    out->first_byte = x[0] * plan->stride[0] & ~below;
    out->row_bytes = ((x[1] + 1) * plan->stride[0] - out->first_byte + below) & ~below;
}

/*
 * At the last pixel of a row, or the last row, the fraction is 0 and what is read of the next one, which is not there,
 * is not used. fits_stage() leaves room to read it.
 */
static __device__ inline void find_footprint(const resample_plan *plan, const stage_box *box, const cc__column *column,
                                             int32_t source_bytes, footprint *out)
{
    const cc__resample *work = &plan->work;
    out->inside = 0;
    CC__UNROLL
    for (int32_t n = 0; n < ROWS; n++) {
        const double i = (double)column->pixel, j = (double)(column->still + n);
        const cc__near_float32 x = cc__near_float32_of(cc__map_start(work->map.row[0], i, j), work->source_size[0]);
        const cc__near_float32 y = cc__near_float32_of(cc__map_start(work->map.row[1], i, j), work->source_size[1]);
        const bool is_inside = (out->has >> n & 1) != 0 && x.is_inside && y.is_inside;
        out->at[n] = is_inside ? (uint32_t)(((int32_t)y.first - box->first_row) * box->row_bytes - box->first_byte +
                                            (int32_t)x.first * plan->stride[0] + column->component * source_bytes)
                               : 0;
        out->fx[n] = x.fraction;
        out->fy[n] = y.fraction;
        out->inside |= is_inside ? 1u << n : 0;
    }
}

/* The bytes from the box's first one to each unit that the thread brings; none is so far away as -1 says. */
static __device__ inline void find_units(const resample_plan *plan, const stage_box *box, uint32_t out[UNITS])
{
    const int32_t row_units = (box->row_bytes + UNIT_BYTES - 1) / UNIT_BYTES;
    CC__UNROLL
    for (int32_t n = 0; n < UNITS; n++) {
        const int32_t unit = (int32_t)threadIdx.x + n * CC__BLOCK_THREADS, row = unit / row_units;
        const int32_t across = (unit - row * row_units) * UNIT_BYTES;
        out[n] = row < box->rows ? (uint32_t)(row * plan->stride[1] + across) : UINT32_MAX;
    }
}

/* A row for each warp. */
static __device__ inline void bring_words(const unsigned char *from, int64_t row_step, int32_t rows, int32_t row_bytes,
                                          unsigned char *stage)
{
    ONE_BY_ONE
    for (int32_t row = (int32_t)threadIdx.x / WARP; row < rows; row += CC__BLOCK_THREADS / WARP) {
        ONE_BY_ONE
        for (int32_t x = (int32_t)threadIdx.x % WARP * WORD_BYTES; x < row_bytes; x += WARP * WORD_BYTES)
            BRING_WORD(stage + row * row_bytes + x, from + row * row_step + x);
    }
}

static __device__ inline void bring_units(const unsigned char *from, const uint32_t units[UNITS], cc__copy_unit *stage)
{
    CC__UNROLL
    for (int32_t n = 0; n < UNITS; n++) {
        if (units[n] != UINT32_MAX)
            BRING(&stage[(int32_t)threadIdx.x + n * CC__BLOCK_THREADS], from + units[n]);
    }
}

/* unit_bytes is a constant where these are called. */
static __device__ inline void bring_plane(const resample_plan *plan, const unsigned char *from, const stage_box *box,
                                          const uint32_t units[UNITS], int32_t unit_bytes, cc__copy_unit *stage)
{
    if (unit_bytes == UNIT_BYTES)
        bring_units(from, units, stage);
    else
        bring_words(from, plan->stride[1], box->rows, box->row_bytes, (unsigned char *)stage);
}

static __device__ inline void find_levels(const resample_plan *plan, const cc__column *column, level *out)
{
    const double *row = plan->work.map.row[2];
    const int32_t n = (int32_t)threadIdx.x;
    if (n < column->end - column->first) {
        const double z = cc__map_position(row, cc__map_start(row, 0, 0), (double)(column->first + n));
        const cc__near_float32 near = cc__near_float32_of(z, plan->work.source_size[2]);
        out[n].plane = near.is_inside ? (int32_t)near.first : -1;
        out[n].fraction = near.fraction;
    }
}

#define DEFINE_STAGED(NAME, LOAD, WRITE, SOURCE_BYTES, DESTINATION_BYTES)                                              \
    /* What is outside is written first, since it waits for nothing. */                                                \
    static __device__ CC__NOT_INLINE void keep_##NAME(const resample_plan *plan, unsigned char *to, int32_t count,     \
                                                      int32_t first, int32_t end, uint32_t has, uint32_t inside)       \
    {                                                                                                                  \
        for (int32_t k = 0; k < count; k++, to += plan->work.destination.stride[2]) {                                  \
            const uint32_t rows = k < first || k >= end ? has : has & ~inside;                                         \
            for (int32_t n = 0; n < ROWS; n++)                                                                         \
                if ((rows >> n & 1) != 0)                                                                              \
                    KEEP_##DESTINATION_BYTES(to + n * plan->work.destination.stride[1], plan);                         \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __device__ inline void sample_plane_##NAME(const unsigned char *stage, int32_t pitch, int32_t x,            \
                                                      const footprint *s, float out[ROWS])                             \
    {                                                                                                                  \
        CC__UNROLL                                                                                                     \
        for (int32_t n = 0; n < ROWS; n++) {                                                                           \
            const unsigned char *p = stage + s->at[n], *q = stage + pitch + s->at[n];                                  \
            const float a = cc__between_float32(LOAD(p), LOAD(p + x), s->fx[n]);                                       \
            const float b = cc__between_float32(LOAD(q), LOAD(q + x), s->fx[n]);                                       \
            out[n] = cc__between_float32(a, b, s->fy[n]);                                                              \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __device__ inline void do_patch_##NAME(const resample_plan *plan, int64_t patch, cc__copy_unit *stages,     \
                                                  level *levels, int32_t unit_bytes)                                   \
    {                                                                                                                  \
        const cc__resample *work = &plan->work;                                                                        \
        const int64_t row_step = work->destination.stride[1], slice = work->source.stride[2];                          \
        cc__column column;                                                                                             \
        stage_box box;                                                                                                 \
        footprint s;                                                                                                   \
        uint32_t units[UNITS];                                                                                         \
        const bool has_column = cc__columns_find(&plan->columns, patch, (int32_t)threadIdx.x, &column);                \
        const int64_t rows = work->size[1] - column.still;                                                             \
        s.has = !has_column ? 0 : rows < ROWS ? (1u << rows) - 1 : (1u << ROWS) - 1;                                   \
        find_levels(plan, &column, levels);                                                                            \
        find_box(plan, patch, unit_bytes, &box);                                                                       \
        find_footprint(plan, &box, &column, SOURCE_BYTES, &s);                                                         \
        find_units(plan, &box, units);                                                                                 \
        unsigned char *to = work->destination.data + column.pixel * work->destination.stride[0] +                      \
                            column.still * row_step + column.first * work->destination.stride[2] +                     \
                            column.volume * work->destination.stride[3] + column.component * DESTINATION_BYTES;        \
        __syncthreads();                                                                                               \
        const int32_t count = (int32_t)(column.end - column.first);                                                    \
        int32_t k = 0, end = count;                                                                                    \
        while (k < end && levels[k].plane < 0)                                                                         \
            k++;                                                                                                       \
        while (k < end && levels[end - 1].plane < 0)                                                                   \
            end--;                                                                                                     \
        if (k > 0 || end < count || s.inside != s.has)                                                                 \
            keep_##NAME(plan, to, count, k, end, s.has, s.inside);                                                     \
        if (k == end)                                                                                                  \
            return;                                                                                                    \
                                                                                                                       \
        /* Behind the last plane none is needed: fractions are 0 there. */                                             \
        const int32_t first = levels[k].plane, last = levels[end - 1].plane + 1;                                       \
        const int32_t there = last < work->source_size[2] ? last : last - 1;                                           \
        const unsigned char *from = work->source.data + column.volume * work->source.stride[3] + first * slice +       \
                                    (int64_t)box.first_row * plan->stride[1] + box.first_byte;                         \
        int32_t next = first, stage = 0, spare = (STAGES - 1) * STAGE_UNITS;                                           \
        for (; next < first + STAGES - 1; next++, from += slice) {                                                     \
            if (next <= there)                                                                                         \
                bring_plane(plan, from, &box, units, unit_bytes, stages + (next - first) * STAGE_UNITS);               \
            END_PLANE();                                                                                               \
        }                                                                                                              \
        float before[ROWS] = {0, 0, 0, 0}, behind[ROWS] = {0, 0, 0, 0};                                                \
        level here = levels[k];                                                                                        \
        to += k * work->destination.stride[2];                                                                         \
        for (int32_t plane = first; plane <= last; plane++, next++, from += slice) {                                   \
            AWAIT_PLANES(STAGES - 2);                                                                                  \
            /* All see what all have brought, and none reads the plane before any more: its stage is free. */          \
            __syncthreads();                                                                                           \
            if (next <= there)                                                                                         \
                bring_plane(plan, from, &box, units, unit_bytes, stages + spare);                                      \
            END_PLANE();                                                                                               \
            CC__UNROLL                                                                                                 \
            for (int32_t n = 0; n < ROWS; n++)                                                                         \
                before[n] = behind[n];                                                                                 \
            sample_plane_##NAME((const unsigned char *)(stages + stage), box.row_bytes, plan->stride[0], &s, behind);  \
            spare = stage;                                                                                             \
            stage = stage + STAGE_UNITS < STAGES * STAGE_UNITS ? stage + STAGE_UNITS : 0;                              \
            for (; k < end && here.plane < plane; to += work->destination.stride[2]) {                                 \
                CC__UNROLL                                                                                             \
                for (int32_t n = 0; n < ROWS; n++) {                                                                   \
                    const float value = cc__between_float32(before[n], behind[n], here.fraction);                      \
                    if ((s.inside >> n & 1) != 0)                                                                      \
                        WRITE(to + n * row_step, value);                                                               \
                }                                                                                                      \
                k++;                                                                                                   \
                here = levels[k];                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

#define DEFINE_STAGED_KERNEL(NAME, PATCH, BYTES)                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 4)                                                     \
        staged_##NAME(const __grid_constant__ resample_plan plan)                                                      \
    {                                                                                                                  \
        __shared__ cc__copy_unit stages[STAGES * STAGE_UNITS];                                                         \
        __shared__ level levels[CC__COLUMN_MOST_DEPTH + 1];                                                            \
        for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {                             \
            do_patch_##PATCH(&plan, patch, stages, levels, BYTES);                                                     \
            /* The next patch writes what a slower thread may still read for this one. */                              \
            __syncthreads();                                                                                           \
        }                                                                                                              \
    }

#define DEFINE_PAIR(FROM, TO, SAMPLE, WRITE, FROM_BYTES, TO_BYTES)                                                     \
    DEFINE_STAGED(FROM##_##TO, READ_##FROM, WRITE, FROM_BYTES, TO_BYTES)                                               \
    DEFINE_STAGED_KERNEL(FROM##_##TO, FROM##_##TO, UNIT_BYTES)
FOR_EACH_PAIR(DEFINE_PAIR)
#undef DEFINE_PAIR
DEFINE_STAGED_KERNEL(words, FLOAT32_FLOAT32, WORD_BYTES)

/* Pixels of the source along an axis that no patch needs more of. */
static int64_t most_pixels(const double row[4], double width, double height, int64_t size)
{
    const double reach = fabs(row[0]) * width + fabs(row[1]) * height;
    /* Where it begins and ends between pixels costs two more; a sixteenth, since positions are rounded. */
    return reach < 0x1p20 && (int64_t)(reach + 0.0625) + 3 < size ? (int64_t)(reach + 0.0625) + 3 : size;
}

/* In units, which are larger than words. Two rows more than the box has: what is read of a next row, and a next pixel,
 * that are not there. */
static bool fits_stage(const resample_plan *plan, int64_t source_bytes)
{
    const cc__resample *work = &plan->work;
    const cc__columns *columns = &plan->columns;
    const double width = (double)((1 << columns->width_log2) + columns->components - 2) / columns->components;
    const double height = (double)((CC__BLOCK_THREADS >> columns->width_log2) * ROWS - 1);
    const int64_t pixels = most_pixels(work->map.row[0], width, height, work->source_size[0]);
    const int64_t rows = most_pixels(work->map.row[1], width, height, work->source_size[1]);
    const int64_t units = (pixels * plan->stride[0] - source_bytes + 2 * UNIT_BYTES - 1) / UNIT_BYTES;
    return units <= STAGE_UNITS && (rows + 2) * units <= STAGE_UNITS;
}

/* No bit is set below what all rows of the source begin and end on. */
static uint64_t bits_of_rows(const cc__resample *work)
{
    const int64_t *stride = work->source.stride;
    return (uint64_t)(uintptr_t)work->source.data | (uint64_t)(stride[0] * work->source_size[0]) | (uint64_t)stride[1] |
           (uint64_t)stride[2] | (uint64_t)stride[3];
}

/* Planes one after the other: beyond 2 some would be brought for nothing. */
static bool is_stageable(const resample_plan *plan, int64_t source_bytes)
{
    const cc__resample *work = &plan->work;
    return work->interpolation == CC_INTERPOLATION_LINEAR && work->in_float32 && is_upright(work) &&
           plan->has_short_planes && plan->columns.rows == ROWS &&
           work->source.stride[0] == source_bytes * work->components && work->map.row[2][2] >= 0 &&
           work->map.row[2][2] <= 2 && fits_stage(plan, source_bytes);
}

static const void *kernel_of_pair(const cc__resample *work, int64_t *out_source_bytes)
{
#define CHOOSE_PAIR(FROM, TO, SAMPLE, WRITE, FROM_BYTES, TO_BYTES)                                                     \
    if (work->source_type == CC_PIXEL_##FROM && work->destination_type == CC_PIXEL_##TO) {                             \
        *out_source_bytes = FROM_BYTES;                                                                                \
        return (const void *)staged_##FROM##_##TO;                                                                     \
    }
    FOR_EACH_PAIR(CHOOSE_PAIR)
#undef CHOOSE_PAIR
    return NULL;
}

/*
 * What a block does before its first pixel takes as long as several planes. So columns are longer here, as long as
 * there are three blocks for each multiprocessor, and twelve where they are longest: then the last ones are late.
 */
static void lengthen(cc__columns *columns, int64_t volumes, int32_t multiprocessor_count)
{
    cc__columns longer = *columns;
    for (int32_t depth = 2 * CC__COLUMN_LEAST_DEPTH; depth <= CC__COLUMN_MOST_DEPTH; depth *= 2) {
        cc__columns_cut(&longer, volumes, depth);
        if (longer.count < (int64_t)multiprocessor_count * (depth < CC__COLUMN_MOST_DEPTH ? 3 : 12))
            return;
        *columns = longer;
    }
}

const void *cc__staged_kernel(resample_plan *plan, int32_t multiprocessor_count)
{
    int64_t source_bytes = 0;
    const void *kernel = kernel_of_pair(&plan->work, &source_bytes);
    const uint64_t bits = bits_of_rows(&plan->work);
    if (kernel == (const void *)staged_FLOAT32_FLOAT32 && bits % UNIT_BYTES != 0 && bits % WORD_BYTES == 0)
        kernel = (const void *)staged_words;
    else if (bits % UNIT_BYTES != 0)
        kernel = NULL;
    if (kernel == NULL || !is_stageable(plan, source_bytes))
        return NULL;
    lengthen(&plan->columns, plan->work.size[3], multiprocessor_count);
    return kernel;
}
