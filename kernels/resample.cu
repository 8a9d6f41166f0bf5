#include "kernels/columns.h"
#include "kernels/launch.h"
#include "kernels/resample_math.h"
#include "kernels/step_math.h"

typedef struct resample_plan {
    cc__resample work;
    cc__columns columns; /* of the destination's components */
    int32_t stride[3];   /* the source's, where they are short */
    bool has_short_strides;
    bool has_short_planes;
    bool is_straight; /* displacements along an axis of the source are those of one component */
    uint64_t outside; /* the bits of a component of the destination */
} resample_plan;

/* A thread's column, and the pixel in it where it is. */
typedef struct walk {
    double i; /* whole numbers, of which the next is found exactly: conversions are slow */
    double j;
    double k;
    int64_t volume;
    int64_t rows; /* from this one to the last */
    int64_t left; /* pixels of the column still to do */
    int32_t component;
    const unsigned char *from; /* the source's first pixel of the volume, and its component */
    unsigned char *to;
} walk;

static __device__ inline bool begin_walk(const resample_plan *plan, int64_t patch, int64_t source_bytes,
                                         int64_t destination_bytes, walk *out)
{
    const cc__resample *work = &plan->work;
    cc__column column;
    if (!cc__columns_find(&plan->columns, patch, (int32_t)threadIdx.x, &column))
        return false;
    const int64_t j = plan->columns.march == 1 ? column.first : column.still;
    const int64_t k = plan->columns.march == 1 ? column.still : column.first;
    out->i = (double)column.pixel;
    out->j = (double)j;
    out->k = (double)k;
    out->rows = work->size[1] - j;
    out->volume = column.volume;
    out->left = column.end - column.first;
    out->component = column.component;
    out->from = work->source.data + column.volume * work->source.stride[3] + column.component * source_bytes;
    out->to = work->destination.data + column.pixel * work->destination.stride[0] + j * work->destination.stride[1] +
              k * work->destination.stride[2] + column.volume * work->destination.stride[3] +
              column.component * destination_bytes;
    return true;
}

static __device__ inline void step_walk(const resample_plan *plan, walk *w)
{
    const bool is_second = plan->columns.march == 1;
    w->j += is_second ? 1.0 : 0.0;
    w->k += is_second ? 0.0 : 1.0;
    w->to += is_second ? plan->work.destination.stride[1] : plan->work.destination.stride[2];
    w->left--;
}

static __device__ inline void find_position(const cc__resample *work, const walk *w, double out[3])
{
    CC__UNROLL
    for (int32_t axis = 0; axis < 3; axis++)
        out[axis] = cc__map_position(work->map.row[axis], cc__map_start(work->map.row[axis], w->i, w->j), w->k);
}

static __device__ inline void find_field_start(const cc__resample *work, const walk *w, double out[3])
{
    CC__UNROLL
    for (int32_t axis = 0; axis < 3; axis++)
        out[axis] = cc__map_start(work->field_map.row[axis], w->i, w->j);
}

static __device__ inline void copy_component(int32_t type, unsigned char *to, const unsigned char *from)
{
    switch (cc__bytes_of_real(type)) {
    case 1:
        *to = *from;
        break;
    case 2:
        *(uint16_t *)to = *(const uint16_t *)from;
        break;
    case 4:
        *(uint32_t *)to = *(const uint32_t *)from;
        break;
    default:
        *(uint64_t *)to = *(const uint64_t *)from;
        break;
    }
}

/* The nearest pixel; false outside. */
static __device__ inline bool find_nearest(const cc__resample *work, const double position[3],
                                           const unsigned char **pixel)
{
    CC__UNROLL
    for (int32_t axis = 0; axis < 3; axis++) {
        const int64_t at = cc__nearest_of(position[axis], work->source_size[axis], work->is_fixed != 0);
        if (at < 0)
            return false;
        *pixel += at * work->source.stride[axis];
    }
    return true;
}

/* Every type, interpolation and field. */
#define DEFINE_ANY(NUMBER, SUFFIX)                                                                                     \
    static __device__ CC__NOT_INLINE double sample_any_##SUFFIX(const cc__resample *work, const unsigned char *from,   \
                                                                const double position[3])                              \
    {                                                                                                                  \
        const bool is_cubic = work->interpolation == CC_INTERPOLATION_CUBIC_BSPLINE;                                   \
        cc__near_##SUFFIX near[3];                                                                                     \
        for (int32_t axis = 0; axis < 3; axis++) {                                                                     \
            near[axis] = is_cubic ? cc__near_raw_##SUFFIX(position[axis], work->source_size[axis])                     \
                                  : cc__near_##SUFFIX##_of(position[axis], work->source_size[axis]);                   \
            if (!near[axis].is_inside)                                                                                 \
                return work->outside;                                                                                  \
        }                                                                                                              \
        if (is_cubic)                                                                                                  \
            return (double)cc__sample_cubic_##SUFFIX(from, work->source.stride, work->source_size, near);              \
        return (double)cc__sample_linear_any_##SUFFIX((int32_t)work->source_type, from, work->source.stride, near);    \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        resample_any_##SUFFIX(const __grid_constant__ resample_plan plan)                                              \
    {                                                                                                                  \
        const cc__resample *work = &plan.work;                                                                         \
        const int64_t source_bytes = cc__bytes_of_real((int32_t)work->source_type);                                    \
        const int64_t destination_bytes = cc__bytes_of_real((int32_t)work->destination_type);                          \
        for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {                             \
            walk w;                                                                                                    \
            if (!begin_walk(&plan, patch, source_bytes, destination_bytes, &w))                                        \
                continue;                                                                                              \
            for (; w.left > 0; step_walk(&plan, &w)) {                                                                 \
                double position[3];                                                                                    \
                const unsigned char *pixel = w.from;                                                                   \
                find_position(work, &w, position);                                                                     \
                if (work->field.data != NULL) {                                                                        \
                    double start[3];                                                                                   \
                    find_field_start(work, &w, start);                                                                 \
                    cc__displaced_any_##SUFFIX(work, start, w.k, w.volume, position);                                  \
                }                                                                                                      \
                double value = work->outside;                                                                          \
                if (work->interpolation != CC_INTERPOLATION_NEAREST) {                                                 \
                    value = sample_any_##SUFFIX(work, pixel, position);                                                \
                } else if (find_nearest(work, position, &pixel)) {                                                     \
                    if (work->source_type == work->destination_type) {                                                 \
                        copy_component((int32_t)work->source_type, w.to, pixel);                                       \
                        continue;                                                                                      \
                    }                                                                                                  \
                    value = cc__load_any((int32_t)work->source_type, pixel);                                           \
                }                                                                                                      \
                cc__store_any((int32_t)work->destination_type, w.to, value);                                           \
            }                                                                                                          \
        }                                                                                                              \
    }

DEFINE_ANY(float, float32)
DEFINE_ANY(double, float64)

/* Linear, without a field, in float32, between some types. */
#define READ_UINT8(FROM) ((float)*(const uint8_t *)(FROM))
#define READ_INT16(FROM) ((float)*(const int16_t *)(FROM))
#define READ_UINT16(FROM) ((float)*(const uint16_t *)(FROM))
#define READ_FLOAT32(FROM) (*(const float *)(FROM))
CC__DEFINE_SAMPLE(of_uint8, float, float32, READ_UINT8)
CC__DEFINE_SAMPLE(of_int16, float, float32, READ_INT16)
CC__DEFINE_SAMPLE(of_uint16, float, float32, READ_UINT16)
CC__DEFINE_SAMPLE(of_float32, float, float32, READ_FLOAT32)
CC__DEFINE_POSITION(of_float32, float, float32)

/* As cc__store_UINT8() and so on do it: at 1.5 * 2^23 the last bit of a float32 is worth 1. */
static __device__ inline uint32_t round_into(float value, float least, float greatest)
{
    value = value > least ? value : least;
    value = value < greatest ? value : greatest;
    return cc__bits_of_float32(value + 0x1.8p23F);
}

/* WRITE: a float32; KEEP: the value outside, of so many bytes. */
#define WRITE_UINT8(TO, VALUE) (*(uint8_t *)(TO) = (uint8_t)round_into(VALUE, 0, UINT8_MAX))
#define WRITE_INT16(TO, VALUE)                                                                                         \
    (*(int16_t *)(TO) = (int16_t)round_into((VALUE) == (VALUE) ? (VALUE) : 0, INT16_MIN, INT16_MAX))
#define WRITE_UINT16(TO, VALUE) (*(uint16_t *)(TO) = (uint16_t)round_into(VALUE, 0, UINT16_MAX))
#define WRITE_FLOAT32(TO, VALUE) (*(uint32_t *)(TO) = cc__store_float32(VALUE))
#define KEEP_1(TO, PLAN) (*(TO) = (uint8_t)(PLAN)->outside)
#define KEEP_2(TO, PLAN) (*(uint16_t *)(TO) = (uint16_t)(PLAN)->outside)
#define KEEP_4(TO, PLAN) (*(uint32_t *)(TO) = (uint32_t)(PLAN)->outside)

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

/* The lower half of what cc__fixed_of() has holds all of a pixel inside. */
static __device__ inline uint32_t pixel_of(double position, float *out_fraction)
{
    const uint64_t bits = cc__bits_of_float64(position + 0x1.8p29);
    *out_fraction = (float)(int32_t)(bits & ((1 << CC__FIXED_BITS) - 1)) * 0x1p-23F;
    return (uint32_t)(bits >> CC__FIXED_BITS) - UINT32_C(0x90000000);
}

static __device__ inline bool is_between(double position, int64_t size)
{
    return (uint64_t)cc__fixed_of(position) < (uint64_t)(size - 1) << CC__FIXED_BITS;
}

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

/* X(from, to, SAMPLE, WRITE, bytes of each) */
#define FOR_EACH_PAIR(X)                                                                                               \
    X(FLOAT32, FLOAT32, float32, WRITE_FLOAT32, 4, 4)                                                                  \
    X(UINT8, UINT8, uint8, WRITE_UINT8, 1, 1)                                                                          \
    X(UINT8, FLOAT32, uint8, WRITE_FLOAT32, 1, 4)                                                                      \
    X(INT16, INT16, int16, WRITE_INT16, 2, 2)                                                                          \
    X(INT16, FLOAT32, int16, WRITE_FLOAT32, 2, 4)                                                                      \
    X(UINT16, UINT16, uint16, WRITE_UINT16, 2, 2)                                                                      \
    X(UINT16, FLOAT32, uint16, WRITE_FLOAT32, 2, 4)

#define DEFINE_PAIR(FROM, TO, SAMPLE, WRITE, FROM_BYTES, TO_BYTES)                                                     \
    DEFINE_LINEAR(FROM##_##TO, of_##SAMPLE, READ_##FROM, WRITE, FROM_BYTES, TO_BYTES)
FOR_EACH_PAIR(DEFINE_PAIR)

/* Linear, by a field, all of float32. */
static __global__ void __launch_bounds__(CC__BLOCK_THREADS) warp_float32(const __grid_constant__ resample_plan plan)
{
    const cc__resample *work = &plan.work;
    for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {
        walk w;
        if (!begin_walk(&plan, patch, 4, 4, &w))
            continue;
        for (; w.left > 0; step_walk(&plan, &w)) {
            double position[3], start[3];
            cc__near_float32 near[3];
            find_position(work, &w, position);
            find_field_start(work, &w, start);
            cc__displaced_of_float32(work, start, w.k, w.volume, position);
            CC__UNROLL
            for (int32_t axis = 0; axis < 3; axis++)
                near[axis] = cc__near_float32_of(position[axis], work->source_size[axis]);
            if (near[0].is_inside && near[1].is_inside && near[2].is_inside) {
                const float value = cc__sample_linear_of_float32(0, w.from, work->source.stride, near);
                WRITE_FLOAT32(w.to, value);
            } else {
                KEEP_4(w.to, &plan);
            }
        }
    }
}

/* The field in a column where both maps leave the first two axes as they are along it. */
typedef struct field_column {
    const unsigned char *first;
    double start;
    cc__near_float32 near[3];
} field_column;

static __device__ inline void begin_field(const cc__resample *work, const walk *w, field_column *out)
{
    double start[3];
    find_field_start(work, w, start);
    out->first = work->field.data + (work->field_size[3] > 1 ? w->volume : 0) * work->field.stride[3];
    out->start = start[2];
    CC__UNROLL
    for (int32_t axis = 0; axis < 2; axis++) {
        const double at = cc__map_position(work->field_map.row[axis], start[axis], w->k);
        const int64_t size = work->field_size[axis];
        out->near[axis] = cc__near_float32_of(cc__clamped_position(at, size), size);
    }
}

static __device__ inline void sample_field(const cc__resample *work, field_column *field, double k, float out[3])
{
    const double at = cc__map_position(work->field_map.row[2], field->start, k);
    const int64_t size = work->field_size[2];
    field->near[2] = cc__near_float32_of(cc__clamped_position(at, size), size);
    CC__UNROLL
    for (int32_t axis = 0; axis < 3; axis++) {
        out[axis] = 0;
        if (axis < work->axes)
            out[axis] = cc__sample_linear_of_float32(0, field->first + axis * 4, work->field.stride, field->near);
    }
}

/* The next pixel's displacement is on its way while this one's is followed. */
static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 3)
    steady_warp_float32(const __grid_constant__ resample_plan plan)
{
    const cc__resample *work = &plan.work;
    for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {
        walk w;
        field_column field;
        double still[3];
        float next[3];
        if (!begin_walk(&plan, patch, 4, 4, &w))
            continue;
        find_position(work, &w, still);
        begin_field(work, &w, &field);
        sample_field(work, &field, w.k, next);
        const double start = cc__map_start(work->map.row[2], w.i, w.j);
        for (; w.left > 0; w.left--, w.k += 1, w.to += work->destination.stride[2]) {
            const double d[3] = {(double)next[0], (double)next[1], (double)next[2]};
            cc__near_float32 near[3];
            if (w.left > 1)
                sample_field(work, &field, w.k + 1, next);
            CC__UNROLL
            for (int32_t axis = 0; axis < 3; axis++) {
                const double *pull = work->pull[axis];
                const double from = axis == 2 ? cc__map_position(work->map.row[2], start, w.k) : still[axis];
                /* An infinite displacement is outside along its own axis, so that zeros of the others need not tell. */
                const double way =
                    plan.is_straight ? pull[axis] * d[axis] : (pull[0] * d[0] + pull[1] * d[1]) + pull[2] * d[2];
                near[axis] = cc__near_float32_of(from + way, work->source_size[axis]);
            }
            if (near[0].is_inside && near[1].is_inside && near[2].is_inside) {
                const float value = cc__sample_linear_of_float32(0, w.from, work->source.stride, near);
                WRITE_FLOAT32(w.to, value);
            } else {
                KEEP_4(w.to, &plan);
            }
        }
    }
}

/* The nearest pixel as it is, without a field. */
#define DEFINE_NEAREST(BYTES, HOLDER)                                                                                  \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        nearest_##BYTES(const __grid_constant__ resample_plan plan)                                                    \
    {                                                                                                                  \
        const cc__resample *work = &plan.work;                                                                         \
        for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {                             \
            walk w;                                                                                                    \
            if (!begin_walk(&plan, patch, BYTES, BYTES, &w))                                                           \
                continue;                                                                                              \
            for (; w.left > 0; step_walk(&plan, &w)) {                                                                 \
                const unsigned char *pixel = w.from;                                                                   \
                double position[3];                                                                                    \
                find_position(work, &w, position);                                                                     \
                const bool inside = find_nearest(work, position, &pixel);                                              \
                *(HOLDER *)w.to = inside ? *(const HOLDER *)pixel : (HOLDER)plan.outside;                              \
            }                                                                                                          \
        }                                                                                                              \
    }

DEFINE_NEAREST(1, uint8_t)
DEFINE_NEAREST(2, uint16_t)
DEFINE_NEAREST(4, uint32_t)
DEFINE_NEAREST(8, uint64_t)

/* The same where the third axes are parallel: several pixels of a column at a time. */
#define NEAREST_RUN 4

#define DEFINE_UPRIGHT_NEAREST(BYTES, HOLDER)                                                                          \
    static __device__ inline HOLDER nearest_along_##BYTES(const resample_plan *plan, const unsigned char *column,      \
                                                          double start, double k, bool is_inside)                      \
    {                                                                                                                  \
        const cc__resample *work = &plan->work;                                                                        \
        const int64_t at =                                                                                             \
            cc__nearest_of(cc__map_position(work->map.row[2], start, k), work->source_size[2], work->is_fixed != 0);   \
        return is_inside && at >= 0 ? *(const HOLDER *)(column + at * work->source.stride[2]) : (HOLDER)plan->outside; \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        upright_nearest_##BYTES(const __grid_constant__ resample_plan plan)                                            \
    {                                                                                                                  \
        const cc__resample *work = &plan.work;                                                                         \
        const int64_t step = work->destination.stride[2];                                                              \
        for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {                             \
            walk w;                                                                                                    \
            double position[3];                                                                                        \
            bool is_inside = true;                                                                                     \
            if (!begin_walk(&plan, patch, BYTES, BYTES, &w))                                                           \
                continue;                                                                                              \
            find_position(work, &w, position);                                                                         \
            CC__UNROLL                                                                                                 \
            for (int32_t axis = 0; axis < 2; axis++) {                                                                 \
                const int64_t at = cc__nearest_of(position[axis], work->source_size[axis], work->is_fixed != 0);       \
                is_inside = is_inside && at >= 0;                                                                      \
                w.from += (at >= 0 ? at : 0) * work->source.stride[axis];                                              \
            }                                                                                                          \
            const double start = cc__map_start(work->map.row[2], w.i, w.j);                                            \
            for (; w.left >= NEAREST_RUN; w.left -= NEAREST_RUN) {                                                     \
                HOLDER found[NEAREST_RUN];                                                                             \
                CC__UNROLL                                                                                             \
                for (int32_t n = 0; n < NEAREST_RUN; n++)                                                              \
                    found[n] = nearest_along_##BYTES(&plan, w.from, start, w.k + n, is_inside);                        \
                CC__UNROLL                                                                                             \
                for (int32_t n = 0; n < NEAREST_RUN; n++)                                                              \
                    *(HOLDER *)(w.to + n * step) = found[n];                                                           \
                w.k += NEAREST_RUN;                                                                                    \
                w.to += NEAREST_RUN * step;                                                                            \
            }                                                                                                          \
            for (; w.left > 0; w.left--, w.k += 1, w.to += step)                                                       \
                *(HOLDER *)w.to = nearest_along_##BYTES(&plan, w.from, start, w.k, is_inside);                         \
        }                                                                                                              \
    }

DEFINE_UPRIGHT_NEAREST(1, uint8_t)
DEFINE_UPRIGHT_NEAREST(2, uint16_t)
DEFINE_UPRIGHT_NEAREST(4, uint32_t)
DEFINE_UPRIGHT_NEAREST(8, uint64_t)

/*
 * The cubic B-spline of float32 where the third axes are parallel: of four neighbours in a column, the next one needs
 * three planes again.
 */
static __device__ inline float cubic_plane(const cc__resample *work, const unsigned char *pixel, int64_t plane,
                                           const float wx[4], const float wy[4])
{
    const unsigned char *row = pixel + cc__mirrored(plane, work->source_size[2]) * work->source.stride[2];
    const int64_t x = work->source.stride[0];
    float sum = 0;
    CC__UNROLL
    for (int32_t j = 0; j < 4; j++) {
        float line = 0;
        CC__UNROLL
        for (int32_t i = 0; i < 4; i++)
            line += wx[i] * READ_FLOAT32(row + i * x);
        sum += wy[j] * line;
        row += work->source.stride[1];
    }
    return sum;
}

static __device__ CC__NOT_INLINE void cubic_edges(const resample_plan *plan, const walk *column)
{
    walk w = *column;
    for (; w.left > 0; step_walk(plan, &w)) {
        double position[3];
        find_position(&plan->work, &w, position);
        cc__store_any((int32_t)plan->work.destination_type, w.to, sample_any_float32(&plan->work, w.from, position));
    }
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 4)
    upright_cubic_float32(const __grid_constant__ resample_plan plan)
{
    const cc__resample *work = &plan.work;
    for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {
        walk w;
        double position[3];
        float wx[4], wy[4], plane[4] = {0, 0, 0, 0};
        if (!begin_walk(&plan, patch, 4, 4, &w))
            continue;
        find_position(work, &w, position);
        const cc__near_float32 x = cc__near_raw_float32(position[0], work->source_size[0]);
        const cc__near_float32 y = cc__near_raw_float32(position[1], work->source_size[1]);
        if (!x.is_inside || x.first < 1 || x.first + 2 >= work->source_size[0] || !y.is_inside || y.first < 1 ||
            y.first + 2 >= work->source_size[1]) {
            cubic_edges(&plan, &w);
            continue;
        }
        cc__cubic_weights_float32(x.fraction, wx);
        cc__cubic_weights_float32(y.fraction, wy);
        const unsigned char *pixel =
            w.from + (x.first - 1) * work->source.stride[0] + (y.first - 1) * work->source.stride[1];
        const double start = cc__map_start(work->map.row[2], w.i, w.j);
        int64_t first = INT64_MIN;
        for (; w.left > 0; w.left--, w.k += 1, w.to += work->destination.stride[2]) {
            const cc__near_float32 z =
                cc__near_raw_float32(cc__map_position(work->map.row[2], start, w.k), work->source_size[2]);
            if (!z.is_inside) {
                KEEP_4(w.to, &plan);
                continue;
            }
            while (first != z.first) {
                /* The last of the next pixel's planes, or one by one all of one that is further on. */
                const bool is_next = first < z.first && first >= z.first - 4;
                first = is_next ? first + 1 : z.first - 3;
                plane[0] = plane[1];
                plane[1] = plane[2];
                plane[2] = plane[3];
                plane[3] = cubic_plane(work, pixel, first + 2, wx, wy);
            }
            float wz[4], sum = 0;
            cc__cubic_weights_float32(z.fraction, wz);
            CC__UNROLL
            for (int32_t n = 0; n < 4; n++)
                sum += wz[n] * plane[n];
            WRITE_FLOAT32(w.to, sum);
        }
    }
}

static const void *nearest_kernel(cc_pixel_type type, bool is_upright)
{
    switch (cc__bytes_of_real((int32_t)type)) {
    case 1:
        return is_upright ? (const void *)upright_nearest_1 : (const void *)nearest_1;
    case 2:
        return is_upright ? (const void *)upright_nearest_2 : (const void *)nearest_2;
    case 4:
        return is_upright ? (const void *)upright_nearest_4 : (const void *)nearest_4;
    }
    return is_upright ? (const void *)upright_nearest_8 : (const void *)nearest_8;
}

static const void *pair_kernel(const cc__resample *work, bool is_upright)
{
#define CHOOSE_PAIR(FROM, TO, SAMPLE, WRITE, FROM_BYTES, TO_BYTES)                                                     \
    if (work->source_type == CC_PIXEL_##FROM && work->destination_type == CC_PIXEL_##TO)                               \
        return is_upright ? (const void *)upright_##FROM##_##TO : (const void *)oblique_##FROM##_##TO;
    FOR_EACH_PAIR(CHOOSE_PAIR)
#undef CHOOSE_PAIR
    return NULL;
}

static bool has_pair_kernel(const cc__resample *work)
{
    return work->interpolation == CC_INTERPOLATION_LINEAR && work->in_float32 && work->field.data == NULL &&
           pair_kernel(work, false) != NULL;
}

/* The third axis of one image is parallel to that of the other, and so are the planes of the others. */
static bool is_upright(const cc__resample *work)
{
    const double(*row)[4] = work->map.row;
    return work->field.data == NULL && work->size[2] > 1 && row[0][2] == 0 && row[1][2] == 0 && row[2][0] == 0 &&
           row[2][1] == 0;
}

static bool is_upright_cubic(const cc__resample *work)
{
    return work->interpolation == CC_INTERPOLATION_CUBIC_BSPLINE && work->in_float32 && is_upright(work) &&
           work->destination_type == CC_PIXEL_FLOAT32 && work->source_size[2] > 1;
}

static bool is_float32_warp(const cc__resample *work)
{
    return work->interpolation == CC_INTERPOLATION_LINEAR && work->in_float32 && work->field.data != NULL &&
           work->field_type == CC_PIXEL_FLOAT32 && work->source_type == CC_PIXEL_FLOAT32 &&
           work->destination_type == CC_PIXEL_FLOAT32;
}

/* Along columns, only the third axis of both maps moves on. */
static bool is_steady(const cc__resample *work)
{
    return work->size[2] > 1 && work->map.row[0][2] == 0 && work->map.row[1][2] == 0 &&
           work->field_map.row[0][2] == 0 && work->field_map.row[1][2] == 0;
}

static bool is_straight(const cc__resample *work)
{
    bool is = true;
    for (int32_t n = 0; n < 9; n++)
        is = is && (n / 3 == n % 3 || work->pull[n / 3][n % 3] == 0);
    return is;
}

static const void *kernel_of(const cc__resample *work)
{
    if (work->interpolation == CC_INTERPOLATION_NEAREST && work->source_type == work->destination_type &&
        work->field.data == NULL)
        return nearest_kernel(work->source_type, is_upright(work));
    if (is_float32_warp(work))
        return is_steady(work) ? (const void *)steady_warp_float32 : (const void *)warp_float32;
    if (has_pair_kernel(work))
        return pair_kernel(work, is_upright(work));
    if (is_upright_cubic(work))
        return (const void *)upright_cubic_float32;
    return work->in_float32 ? (const void *)resample_any_float32 : (const void *)resample_any_float64;
}

static bool has_short_planes(const cc__resample *work)
{
    const int64_t *stride = work->source.stride, *size = work->source_size;
    for (int32_t axis = 0; axis < 3; axis++)
        if (stride[axis] < 0 || stride[axis] > INT32_MAX || size[axis] > CC__RESAMPLE_MOST_FIXED)
            return false;
    return stride[0] * (size[0] - 1) <= INT32_MAX - stride[1] * (size[1] - 1);
}

static cc_status launch_coefficients(const cc__resample *work, const cc__launcher *launcher)
{
    cc__bspline bspline;
    cc_status status = CC_OK;
    for (int32_t axis = 0; axis < work->axes && status == CC_OK; axis++)
        if (cc__bspline_plan(work, axis, &bspline))
            status = cc__launch_bspline(&bspline, launcher);
    return status;
}

cc_status cc__launch_resample(const void *work, const cc__launcher *launcher)
{
    resample_plan plan;
    plan.work = *(const cc__resample *)work;
    if (plan.work.interpolation == CC_INTERPOLATION_CUBIC_BSPLINE) {
        const cc_status status = launch_coefficients(&plan.work, launcher);
        if (status != CC_OK)
            return status;
    }
    plan.outside = 0;
    cc__store_any((int32_t)plan.work.destination_type, (unsigned char *)&plan.outside, plan.work.outside);
    plan.has_short_strides = true;
    for (int32_t axis = 0; axis < 3; axis++) {
        plan.stride[axis] = (int32_t)plan.work.source.stride[axis];
        plan.has_short_strides = plan.has_short_strides && plan.stride[axis] == plan.work.source.stride[axis];
    }
    plan.has_short_planes = has_short_planes(&plan.work);
    plan.is_straight = is_straight(&plan.work);
    /* Such columns are long, since two or more planes are there before their first pixel. */
    const bool is_long = is_upright(&plan.work);
    cc__columns_plan(plan.work.size, plan.work.components, is_long && has_pair_kernel(&plan.work) ? ROWS : 1,
                     is_long ? (launcher->multiprocessor_count + 3) / 4 : launcher->multiprocessor_count,
                     &plan.columns);
    void *arguments[] = {&plan};
    return launcher->launch(launcher, kernel_of(&plan.work),
                            cc__columns_blocks(&plan.columns, launcher->multiprocessor_count), CC__BLOCK_THREADS,
                            arguments);
}
