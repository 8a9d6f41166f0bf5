/* Linear, without a field, in float32, between some types. */
#include "kernels/resample_pairs.h"

/*
 * Places along the first two axes are those of the whole column, and of two neighbours in it one needs a plane of the
 * other's. A thread has several columns, so that the third axis is for all.
 */
#define ROWS CC__COLUMN_ROWS

/* Of all rows: which planes there are values of. */
typedef struct planes {
    int64_t first;
    int64_t second;
    float first_value[ROWS];
    float second_value[ROWS];
} planes;

/* Where the thread's columns are in a plane of the source: bytes to the pixel before, and on to the next ones. */
typedef struct footing {
    int64_t at[ROWS];
    int64_t x[ROWS];
    int64_t y[ROWS];
    float fx[ROWS];
    float fy[ROWS];
    uint32_t inside; /* a bit for each row */
} footing;

static __device__ inline void find_footing(const cc__resample *work, const walk *w, footing *out)
{
    walk row = *w;
    double position[3];
    out->inside = 0;
    CC__UNROLL
    for (int32_t n = 0; n < ROWS; n++) {
        row.j = w->j + n;
        find_position(work, &row, position);
        const cc__near_float32 nx = cc__near_float32_of(position[0], work->source_size[0]);
        const cc__near_float32 ny = cc__near_float32_of(position[1], work->source_size[1]);
        out->at[n] = nx.first * work->source.stride[0] + ny.first * work->source.stride[1];
        out->x[n] = nx.fraction != 0 ? work->source.stride[0] : 0;
        out->y[n] = ny.fraction != 0 ? work->source.stride[1] : 0;
        out->fx[n] = nx.fraction;
        out->fy[n] = ny.fraction;
        if (nx.is_inside && ny.is_inside)
            out->inside |= 1u << n;
    }
}

/* The same where all columns are between pixels, whose planes are short. */
typedef struct stand {
    uint32_t at[ROWS];
    float fx[ROWS];
    float fy[ROWS];
} stand;

/* False where the thread's pixels do not all have all their neighbours. Positions only go up or down along a column. */
static __device__ inline bool find_stand(const resample_plan *plan, const walk *w, stand *out)
{
    const cc__resample *work = &plan->work;
    const double *z = work->map.row[2];
    const double start = cc__map_start(z, w->i, w->j);
    bool inside = plan->has_short_planes && w->rows >= ROWS &&
                  is_between(cc__map_position(z, start, w->k), work->source_size[2]) &&
                  is_between(cc__map_position(z, start, w->k + (double)(w->left - 1)), work->source_size[2]);
    CC__UNROLL
    for (int32_t n = 0; n < ROWS; n++) {
        const double *row = work->map.row[0];
        const double x = cc__map_position(row, cc__map_start(row, w->i, w->j + n), w->k);
        row = work->map.row[1];
        const double y = cc__map_position(row, cc__map_start(row, w->i, w->j + n), w->k);
        inside = inside && is_between(x, work->source_size[0]) && is_between(y, work->source_size[1]);
        out->at[n] = pixel_of(x, &out->fx[n]) * (uint32_t)plan->stride[0];
        out->at[n] += pixel_of(y, &out->fy[n]) * (uint32_t)plan->stride[1];
    }
    return inside;
}

/*
 * Whether a column is where all pixels around have all their neighbours. Positions go up or down along it, also when
 * they are rounded, so that its ends tell.
 */
static __device__ inline bool is_inside(const resample_plan *plan, const walk *w)
{
    const cc__resample *work = &plan->work;
    bool inside = plan->has_short_strides && plan->columns.march == 2;
    CC__UNROLL
    for (int32_t axis = 0; axis < 3; axis++) {
        const double *row = work->map.row[axis];
        const double start = cc__map_start(row, w->i, w->j);
        const uint64_t first = (uint64_t)cc__fixed_of(cc__map_position(row, start, w->k));
        const uint64_t last = (uint64_t)cc__fixed_of(cc__map_position(row, start, w->k + (double)(w->left - 1)));
        const uint64_t end = (uint64_t)(work->source_size[axis] - 1) << CC__FIXED_BITS;
        inside = inside && first < end && last < end;
    }
    return inside;
}

/* Has a pixel brought to the second cache, for which no register waits. */
static __device__ inline void expect(const unsigned char *pixel)
{
#ifdef __CUDA_ARCH__
    __asm__ volatile("prefetch.global.L2 [%0];" ::"l"(pixel));
#else
    (void)pixel;
#endif
}

#define DEFINE_LINEAR(NAME, SAMPLE, LOAD, WRITE, SOURCE_BYTES, DESTINATION_BYTES)                                      \
    static __device__ inline void load_plane_##NAME(const unsigned char *plane, const footing *f, float out[ROWS])     \
    {                                                                                                                  \
        CC__UNROLL                                                                                                     \
        for (int32_t n = 0; n < ROWS; n++)                                                                             \
            out[n] = cc__sample_plane_##SAMPLE(0, plane + f->at[n], f->x[n], f->y[n], f->fx[n], f->fy[n]);             \
    }                                                                                                                  \
                                                                                                                       \
    static __device__ inline void load_planes_##NAME(const unsigned char *from, int64_t slice, const footing *f,       \
                                                     const cc__near_float32 *near, planes *had)                        \
    {                                                                                                                  \
        if (near->first == had->second) {                                                                              \
            CC__UNROLL                                                                                                 \
            for (int32_t n = 0; n < ROWS; n++)                                                                         \
                had->first_value[n] = had->second_value[n];                                                            \
        } else if (near->first != had->first) {                                                                        \
            load_plane_##NAME(from + near->first * slice, f, had->first_value);                                        \
        }                                                                                                              \
        had->first = near->first;                                                                                      \
        if (near->fraction != 0 && near->first + 1 != had->second) {                                                   \
            load_plane_##NAME(from + (near->first + 1) * slice, f, had->second_value);                                 \
            had->second = near->first + 1;                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __device__ CC__NOT_INLINE void upright_edges_##NAME(const resample_plan *plan, const walk *column)          \
    {                                                                                                                  \
        const cc__resample *work = &plan->work;                                                                        \
        const double *map = work->map.row[2];                                                                          \
        walk w = *column;                                                                                              \
        footing f;                                                                                                     \
        planes had = {-1, -1, {0, 0, 0, 0}, {0, 0, 0, 0}};                                                             \
        find_footing(work, &w, &f);                                                                                    \
        const int64_t rows = w.rows;                                                                                   \
        const double start = cc__map_start(map, w.i, w.j);                                                             \
        double k = w.k;                                                                                                \
        for (; w.left > 0; w.left--, k += 1, w.to += work->destination.stride[2]) {                                    \
            /* Whole numbers, so that adding 1 is exact. */                                                            \
            const cc__near_float32 near = cc__near_float32_of(start + map[2] * k, work->source_size[2]);               \
            if (near.is_inside && f.inside != 0)                                                                       \
                load_planes_##NAME(w.from, work->source.stride[2], &f, &near, &had);                                   \
            CC__UNROLL                                                                                                 \
            for (int32_t n = 0; n < ROWS; n++) {                                                                       \
                const float value = cc__between_float32(had.first_value[n], had.second_value[n], near.fraction);       \
                unsigned char *to = w.to + n * work->destination.stride[1];                                            \
                if (n < rows && near.is_inside && (f.inside >> n & 1) != 0)                                            \
                    WRITE(to, value);                                                                                  \
                else if (n < rows)                                                                                     \
                    KEEP_##DESTINATION_BYTES(to, plan);                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    /* All four pixels around each column in a plane. x: bytes to the next pixel, a constant where it can be. */       \
    typedef struct corners_##NAME {                                                                                    \
        float value[ROWS][4];                                                                                          \
    } corners_##NAME;                                                                                                  \
                                                                                                                       \
    static __device__ inline void load_corners_##NAME(const unsigned char *plane, const stand *s, int64_t x,           \
                                                      int64_t y, corners_##NAME *out)                                  \
    {                                                                                                                  \
        CC__UNROLL                                                                                                     \
        for (int32_t n = 0; n < ROWS; n++) {                                                                           \
            const unsigned char *p = plane + s->at[n];                                                                 \
            out->value[n][0] = LOAD(p);                                                                                \
            out->value[n][1] = LOAD(p + x);                                                                            \
            out->value[n][2] = LOAD(p + y);                                                                            \
            out->value[n][3] = LOAD(p + y + x);                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __device__ inline void between_corners_##NAME(const corners_##NAME *corners, const stand *s,                \
                                                         float out[ROWS])                                              \
    {                                                                                                                  \
        CC__UNROLL                                                                                                     \
        for (int32_t n = 0; n < ROWS; n++) {                                                                           \
            const float a = cc__between_float32(corners->value[n][0], corners->value[n][1], s->fx[n]);                 \
            const float b = cc__between_float32(corners->value[n][2], corners->value[n][3], s->fx[n]);                 \
            out[n] = cc__between_float32(a, b, s->fy[n]);                                                              \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    /* The plane behind the two in use is on its way, since the next pixel mostly needs it. */                         \
    static __device__ inline void upright_inside_##NAME(const resample_plan *plan, walk *w, const stand *s, int64_t x) \
    {                                                                                                                  \
        const cc__resample *work = &plan->work;                                                                        \
        const double *map = work->map.row[2];                                                                          \
        const double start = cc__map_start(map, w->i, w->j);                                                           \
        const int64_t y = plan->stride[1], slice = work->source.stride[2];                                             \
        const int32_t last = (int32_t)(work->source_size[2] - 1);                                                      \
        int32_t first = INT32_MIN, left = (int32_t)w->left;                                                            \
        float before[ROWS] = {0, 0, 0, 0}, behind[ROWS] = {0, 0, 0, 0};                                                \
        corners_##NAME next = {{{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}};                              \
        unsigned char *to = w->to;                                                                                     \
        double k = w->k;                                                                                               \
        for (; left > 0; left--, k += 1, to += work->destination.stride[2]) {                                          \
            float fz;                                                                                                  \
            const int32_t at = (int32_t)pixel_of(start + map[2] * k, &fz);                                             \
            if (at != first) {                                                                                         \
                const unsigned char *plane = w->from + at * slice;                                                     \
                if (at != first + 1) {                                                                                 \
                    load_corners_##NAME(plane, s, x, y, &next);                                                        \
                    between_corners_##NAME(&next, s, behind);                                                          \
                    load_corners_##NAME(plane + slice, s, x, y, &next);                                                \
                }                                                                                                      \
                CC__UNROLL                                                                                             \
                for (int32_t n = 0; n < ROWS; n++)                                                                     \
                    before[n] = behind[n];                                                                             \
                between_corners_##NAME(&next, s, behind);                                                              \
                if (at + 2 <= last)                                                                                    \
                    load_corners_##NAME(plane + 2 * slice, s, x, y, &next);                                            \
                if (at + 3 <= last) {                                                                                  \
                    CC__UNROLL                                                                                         \
                    for (int32_t n = 0; n < ROWS; n++)                                                                 \
                        expect(plane + 3 * slice + s->at[n]);                                                          \
                }                                                                                                      \
                first = at;                                                                                            \
            }                                                                                                          \
            CC__UNROLL                                                                                                 \
            for (int32_t n = 0; n < ROWS; n++) {                                                                       \
                const float value = cc__between_float32(before[n], behind[n], fz);                                     \
                WRITE(to + n * work->destination.stride[1], value);                                                    \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 3)                                                     \
        upright_##NAME(const __grid_constant__ resample_plan plan)                                                     \
    {                                                                                                                  \
        for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {                             \
            walk w;                                                                                                    \
            stand s;                                                                                                   \
            if (!begin_walk(&plan, patch, SOURCE_BYTES, DESTINATION_BYTES, &w))                                        \
                continue;                                                                                              \
            if (!find_stand(&plan, &w, &s))                                                                            \
                upright_edges_##NAME(&plan, &w);                                                                       \
            else if (plan.stride[0] == SOURCE_BYTES)                                                                   \
                upright_inside_##NAME(&plan, &w, &s, SOURCE_BYTES);                                                    \
            else                                                                                                       \
                upright_inside_##NAME(&plan, &w, &s, plan.stride[0]);                                                  \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    /* x: bytes to the next pixel, a constant where it can be. */                                                      \
    static __device__ inline void oblique_inside_##NAME(const resample_plan *plan, walk *w, int64_t x)                 \
    {                                                                                                                  \
        const cc__resample *work = &plan->work;                                                                        \
        double start[3];                                                                                               \
        CC__UNROLL                                                                                                     \
        for (int32_t axis = 0; axis < 3; axis++)                                                                       \
            start[axis] = cc__map_start(work->map.row[axis], w->i, w->j);                                              \
        double k = w->k;                                                                                               \
        for (; w->left > 0; w->left--, k += 1, w->to += work->destination.stride[2]) {                                 \
            const unsigned char *p = w->from;                                                                          \
            float f[3];                                                                                                \
            CC__UNROLL                                                                                                 \
            for (int32_t axis = 0; axis < 3; axis++) {                                                                 \
                const uint64_t bits = cc__bits_of_float64((start[axis] + work->map.row[axis][2] * k) + 0x1.8p29);      \
                /* The lower half of what cc__fixed_of() has, which holds all of a pixel inside. */                    \
                const int32_t first = (int32_t)((uint32_t)(bits >> CC__FIXED_BITS) - UINT32_C(0x90000000));            \
                f[axis] = (float)(int32_t)(bits & ((1 << CC__FIXED_BITS) - 1)) * 0x1p-23F;                             \
                p += (int64_t)first * plan->stride[axis];                                                              \
            }                                                                                                          \
            const float a = cc__sample_plane_##SAMPLE(0, p, x, plan->stride[1], f[0], f[1]);                           \
            const float b = cc__sample_plane_##SAMPLE(0, p + plan->stride[2], x, plan->stride[1], f[0], f[1]);         \
            const float value = cc__between_float32(a, b, f[2]);                                                       \
            WRITE(w->to, value);                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        oblique_##NAME(const __grid_constant__ resample_plan plan)                                                     \
    {                                                                                                                  \
        const cc__resample *work = &plan.work;                                                                         \
        for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {                             \
            walk w;                                                                                                    \
            if (!begin_walk(&plan, patch, SOURCE_BYTES, DESTINATION_BYTES, &w))                                        \
                continue;                                                                                              \
            if (is_inside(&plan, &w)) {                                                                                \
                if (work->source.stride[0] == SOURCE_BYTES)                                                            \
                    oblique_inside_##NAME(&plan, &w, SOURCE_BYTES);                                                    \
                else                                                                                                   \
                    oblique_inside_##NAME(&plan, &w, work->source.stride[0]);                                          \
                continue;                                                                                              \
            }                                                                                                          \
            for (; w.left > 0; step_walk(&plan, &w)) {                                                                 \
                double position[3];                                                                                    \
                cc__near_float32 near[3];                                                                              \
                find_position(work, &w, position);                                                                     \
                CC__UNROLL                                                                                             \
                for (int32_t axis = 0; axis < 3; axis++)                                                               \
                    near[axis] = cc__near_float32_of(position[axis], work->source_size[axis]);                         \
                if (near[0].is_inside && near[1].is_inside && near[2].is_inside) {                                     \
                    const float value = cc__sample_linear_##SAMPLE(0, w.from, work->source.stride, near);              \
                    WRITE(w.to, value);                                                                                \
                } else                                                                                                 \
                    KEEP_##DESTINATION_BYTES(w.to, &plan);                                                             \
            }                                                                                                          \
        }                                                                                                              \
    }

#define DEFINE_PAIR(FROM, TO, SAMPLE, WRITE, FROM_BYTES, TO_BYTES)                                                     \
    DEFINE_LINEAR(FROM##_##TO, of_##SAMPLE, READ_##FROM, WRITE, FROM_BYTES, TO_BYTES)
FOR_EACH_PAIR(DEFINE_PAIR)

static const void *pair_kernel(const cc__resample *work, bool is_upright)
{
#define CHOOSE_PAIR(FROM, TO, SAMPLE, WRITE, FROM_BYTES, TO_BYTES)                                                     \
    if (work->source_type == CC_PIXEL_##FROM && work->destination_type == CC_PIXEL_##TO)                               \
        return is_upright ? (const void *)upright_##FROM##_##TO : (const void *)oblique_##FROM##_##TO;
    FOR_EACH_PAIR(CHOOSE_PAIR)
#undef CHOOSE_PAIR
    return NULL;
}

const void *cc__linear_kernel(const cc__resample *work)
{
    const bool is_linear =
        work->interpolation == CC_INTERPOLATION_LINEAR && work->in_float32 && work->field.data == NULL;
    return is_linear ? pair_kernel(work, is_upright(work)) : NULL;
}
