#include "base/resample.h"

#include "base/components.h"
#include "kernels/resample_math.h"

#include <fenv.h>
#include <stdbool.h>
#include <string.h>

/* Pixels whose results are kept before they are stored. */
#define PIECE 64

typedef struct piece {
    const cc__resample *work;
    int64_t at[CC_MAX_DIMENSION]; /* the first pixel */
    int64_t count;
    const unsigned char *source; /* of its volume */
    unsigned char *destination;
    int64_t source_bytes; /* of a component */
    int64_t destination_bytes;
} piece;

typedef double results[CC_MAX_COMPONENTS][PIECE];

static void starts(const cc__map *map, const piece *p, int64_t i, double out[3])
{
    for (int32_t axis = 0; axis < 3; axis++)
        out[axis] = cc__map_start(map->row[axis], p->at[0] + i, p->at[1]);
}

static void position_of(const piece *p, int64_t i, double out[3])
{
    const cc__resample *work = p->work;
    double start[3];
    starts(&work->map, p, i, start);
    for (int32_t axis = 0; axis < 3; axis++)
        out[axis] = cc__map_position(work->map.row[axis], start[axis], p->at[2]);
    if (work->field.data == NULL)
        return;
    starts(&work->field_map, p, i, start);
    if (work->in_float32)
        cc__displaced_any_float32(work, start, p->at[2], p->at[3], out);
    else
        cc__displaced_any_float64(work, start, p->at[2], p->at[3], out);
}

static void keep_outside(const cc__resample *work, int64_t i, results out)
{
    for (int32_t component = 0; component < work->components; component++)
        out[component][i] = work->outside;
}

#define DEFINE_LINEAR(NAME, NUMBER, SUFFIX)                                                                            \
    static void linear_##NAME(const piece *p, results out)                                                             \
    {                                                                                                                  \
        const cc__resample *work = p->work;                                                                            \
        for (int64_t i = 0; i < p->count; i++) {                                                                       \
            double position[3];                                                                                        \
            cc__near_##SUFFIX near[3];                                                                                 \
            position_of(p, i, position);                                                                               \
            for (int32_t axis = 0; axis < 3; axis++)                                                                   \
                near[axis] = cc__near_##SUFFIX##_of(position[axis], work->source_size[axis]);                          \
            if (!near[0].is_inside || !near[1].is_inside || !near[2].is_inside) {                                      \
                keep_outside(work, i, out);                                                                            \
                continue;                                                                                              \
            }                                                                                                          \
            for (int32_t component = 0; component < work->components; component++)                                     \
                out[component][i] = (double)cc__sample_linear_##NAME(                                                  \
                    (int32_t)work->source_type, p->source + component * p->source_bytes, work->source.stride, near);   \
        }                                                                                                              \
    }

#define DEFINE_CUBIC(NUMBER, SUFFIX)                                                                                   \
    static void cubic_##SUFFIX(const piece *p, results out)                                                            \
    {                                                                                                                  \
        const cc__resample *work = p->work;                                                                            \
        for (int64_t i = 0; i < p->count; i++) {                                                                       \
            double position[3];                                                                                        \
            cc__near_##SUFFIX near[3];                                                                                 \
            position_of(p, i, position);                                                                               \
            for (int32_t axis = 0; axis < 3; axis++)                                                                   \
                near[axis] = cc__near_raw_##SUFFIX(position[axis], work->source_size[axis]);                           \
            if (!near[0].is_inside || !near[1].is_inside || !near[2].is_inside) {                                      \
                keep_outside(work, i, out);                                                                            \
                continue;                                                                                              \
            }                                                                                                          \
            for (int32_t component = 0; component < work->components; component++)                                     \
                out[component][i] = (double)cc__sample_cubic_##SUFFIX(p->source + component * p->source_bytes,         \
                                                                      work->source.stride, work->source_size, near);   \
        }                                                                                                              \
    }

DEFINE_CUBIC(float, float32)
DEFINE_CUBIC(double, float64)

#define READ_FLOAT32(FROM) (*(const float *)(const void *)(FROM))
#define READ_INT16(FROM) ((float)*(const int16_t *)(const void *)(FROM))
#define READ_UINT16(FROM) ((float)*(const uint16_t *)(const void *)(FROM))
#define READ_UINT8(FROM) ((float)*(FROM))
CC__DEFINE_SAMPLE(of_float32, float, float32, READ_FLOAT32)
CC__DEFINE_SAMPLE(of_int16, float, float32, READ_INT16)
CC__DEFINE_SAMPLE(of_uint16, float, float32, READ_UINT16)
CC__DEFINE_SAMPLE(of_uint8, float, float32, READ_UINT8)
DEFINE_LINEAR(of_float32, float, float32)
DEFINE_LINEAR(of_int16, float, float32)
DEFINE_LINEAR(of_uint16, float, float32)
DEFINE_LINEAR(of_uint8, float, float32)
DEFINE_LINEAR(any_float32, float, float32)
DEFINE_LINEAR(any_float64, double, float64)

static void linear(const piece *p, results out)
{
    if (!p->work->in_float32)
        linear_any_float64(p, out);
    else if (p->work->source_type == CC_PIXEL_FLOAT32)
        linear_of_float32(p, out);
    else if (p->work->source_type == CC_PIXEL_INT16)
        linear_of_int16(p, out);
    else if (p->work->source_type == CC_PIXEL_UINT16)
        linear_of_uint16(p, out);
    else if (p->work->source_type == CC_PIXEL_UINT8)
        linear_of_uint8(p, out);
    else
        linear_any_float32(p, out);
}

/* NULL outside. */
static const unsigned char *nearest_pixel(const piece *p, int64_t i)
{
    const cc__resample *work = p->work;
    const unsigned char *pixel = p->source;
    double position[3];
    position_of(p, i, position);
    for (int32_t axis = 0; axis < 3; axis++) {
        const int64_t at = cc__nearest_of(position[axis], work->source_size[axis], work->is_fixed != 0);
        if (at < 0)
            return NULL;
        pixel += at * work->source.stride[axis];
    }
    return pixel;
}

static void nearest(const piece *p, results out)
{
    const cc__resample *work = p->work;
    for (int64_t i = 0; i < p->count; i++) {
        const unsigned char *pixel = nearest_pixel(p, i);
        if (pixel == NULL)
            keep_outside(work, i, out);
        for (int32_t component = 0; pixel != NULL && component < work->components; component++)
            out[component][i] = cc__load_any((int32_t)work->source_type, pixel + component * p->source_bytes);
    }
}

static void copy_nearest(const piece *p)
{
    const cc__resample *work = p->work;
    const size_t pixel_bytes = (size_t)(work->components * p->source_bytes);
    for (int64_t i = 0; i < p->count; i++) {
        const unsigned char *pixel = nearest_pixel(p, i);
        unsigned char *to = p->destination + i * work->destination.stride[0];
        if (pixel != NULL)
            memcpy(to, pixel, pixel_bytes);
        for (int32_t component = 0; pixel == NULL && component < work->components; component++)
            cc__store_any((int32_t)work->destination_type, to + component * p->destination_bytes, work->outside);
    }
}

static void resample_piece(const piece *p, results out)
{
    const cc__resample *work = p->work;
    switch ((cc_interpolation)work->interpolation) {
    case CC_INTERPOLATION_NEAREST:
        if (work->source_type == work->destination_type) {
            copy_nearest(p);
            return;
        }
        nearest(p, out);
        break;
    case CC_INTERPOLATION_LINEAR:
        linear(p, out);
        break;
    case CC_INTERPOLATION_CUBIC_BSPLINE:
        if (work->in_float32)
            cubic_float32(p, out);
        else
            cubic_float64(p, out);
        break;
    }
    for (int32_t component = 0; component < work->components; component++)
        cc__components_store(work->destination_type, out[component], NULL,
                             p->destination + component * p->destination_bytes, work->destination.stride[0], p->count);
}

int64_t cc__resample_row_count(const cc__resample *work)
{
    return work->size[1] * work->size[2] * work->size[3];
}

void cc__resample_rows(const void *work, int64_t first, int64_t count)
{
    const cc__resample *self = work;
    results out;
    /* The caller's rounding mode, flushing of subnormals or trapping must neither change results nor be changed. */
    fenv_t environment;
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    for (int64_t row = first; row < first + count; row++) {
        piece p = {.work = self, .destination = self->destination.data};
        int64_t rest = row;
        for (int32_t axis = 1; axis < CC_MAX_DIMENSION; axis++) {
            p.at[axis] = rest % self->size[axis];
            rest /= self->size[axis];
            p.destination += p.at[axis] * self->destination.stride[axis];
        }
        p.source = self->source.data + p.at[3] * self->source.stride[3];
        p.source_bytes = (int64_t)cc_pixel_type_size_bytes(self->source_type);
        p.destination_bytes = (int64_t)cc_pixel_type_size_bytes(self->destination_type);
        for (; p.at[0] < self->size[0]; p.at[0] += PIECE, p.destination += PIECE * self->destination.stride[0]) {
            const int64_t left = self->size[0] - p.at[0];
            p.count = left < PIECE ? left : PIECE;
            resample_piece(&p, out);
        }
    }
    fesetenv(&environment);
}
