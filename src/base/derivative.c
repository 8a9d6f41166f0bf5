#include "base/derivative.h"

#include "base/components.h"
#include "kernels/derivative_math.h"

#include <fenv.h>
#include <stdbool.h>
#include <string.h>

/* Small enough that all lines stay in the nearest cache. */
#define LINE 256

/* One component of some pixels of a row, and of their neighbours: outside the image, of the nearest pixel inside. */
typedef struct lines {
    double along[LINE + 2]; /* [1] is the first pixel's */
    double low[CC__SPACE_AXES][LINE];
    double high[CC__SPACE_AXES][LINE];
} lines;

typedef struct piece {
    const cc__derivative *work;
    int64_t at[CC_MAX_DIMENSION]; /* the first pixel */
    int64_t count;
} piece;

static const unsigned char *pixel_at(const cc__derivative *work, const int64_t at[CC_MAX_DIMENSION])
{
    const unsigned char *pixel = work->source.data;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        pixel += at[axis] * work->source.stride[axis];
    return pixel;
}

static void load_line(const piece *p, const unsigned char *first, int64_t count, double *out)
{
    cc__components_load(p->work->source_type, first, p->work->source.stride[0], count, out, NULL);
}

static void load_lines(const piece *p, int32_t component, lines *out)
{
    const cc__derivative *work = p->work;
    const int64_t skipped = component * (int64_t)cc_pixel_type_size_bytes(work->source_type);
    const unsigned char *first = pixel_at(work, p->at) + skipped;
    const bool has_before = p->at[0] > 0, has_after = p->at[0] + p->count < work->size[0];
    load_line(p, first - (has_before ? work->source.stride[0] : 0), p->count + has_before + has_after,
              out->along + !has_before);
    if (!has_before)
        out->along[0] = out->along[1];
    if (!has_after)
        out->along[p->count + 1] = out->along[p->count];
    memcpy(out->low[0], out->along, (size_t)p->count * sizeof *out->along);
    memcpy(out->high[0], out->along + 2, (size_t)p->count * sizeof *out->along);
    for (int32_t axis = 1; axis < work->axes; axis++) {
        const int64_t step = work->source.stride[axis];
        load_line(p, first - (p->at[axis] > 0 ? step : 0), p->count, out->low[axis]);
        load_line(p, first + (p->at[axis] < work->size[axis] - 1 ? step : 0), p->count, out->high[axis]);
    }
}

/* The two lines of which a difference is taken, and which of a divergence's are 0 at an edge. */
static const double *upper_of(const cc__derivative *work, const lines *l, int32_t axis)
{
    return work->difference == CC_DIFFERENCE_BACKWARD ? l->along + 1 : l->high[axis];
}

static const double *lower_of(const cc__derivative *work, const lines *l, int32_t axis)
{
    return work->difference == CC_DIFFERENCE_FORWARD ? l->along + 1 : l->low[axis];
}

static bool ends_in_zero(const cc__derivative *work)
{
    return work->kind == CC__DERIVATIVE_DIVERGENCE &&
           (work->difference == CC_DIFFERENCE_BACKWARD || work->difference == CC_DIFFERENCE_FORWARD);
}

/* NUMBER is float or double; the lines hold its values. */
#define DEFINE_COMPUTE(NUMBER, SUFFIX)                                                                                 \
    static void slope_at_##SUFFIX(const piece *p, int32_t axis, int64_t i, const double *upper, const double *lower,   \
                                  double *out)                                                                         \
    {                                                                                                                  \
        const cc__derivative *work = p->work;                                                                          \
        const int64_t at = p->at[axis] + (axis == 0 ? i : 0);                                                          \
        const bool is_first = at == 0, is_last = at == work->size[axis] - 1;                                           \
        const bool zeros = ends_in_zero(work);                                                                         \
        const double weight = is_first || is_last ? work->edge_weight[axis] : work->weight[axis];                      \
        const NUMBER high = zeros && is_last ? 0 : (NUMBER)upper[i];                                                   \
        const NUMBER low = zeros && is_first ? 0 : (NUMBER)lower[i];                                                   \
        out[i] = (double)cc__slope_##SUFFIX(high, low, (NUMBER)weight);                                                \
    }                                                                                                                  \
                                                                                                                       \
    static void slopes_##SUFFIX(const piece *p, const lines *l, int32_t axis, double *restrict out)                    \
    {                                                                                                                  \
        const cc__derivative *work = p->work;                                                                          \
        const double *upper = upper_of(work, l, axis), *lower = lower_of(work, l, axis);                               \
        const NUMBER weight = (NUMBER)work->weight[axis];                                                              \
        const bool is_edge = axis != 0 && (p->at[axis] == 0 || p->at[axis] == work->size[axis] - 1);                   \
        for (int64_t i = 0; i < p->count && !is_edge; i++)                                                             \
            out[i] = (double)cc__slope_##SUFFIX((NUMBER)upper[i], (NUMBER)lower[i], weight);                           \
        for (int64_t i = 0; i < p->count && is_edge; i++)                                                              \
            slope_at_##SUFFIX(p, axis, i, upper, lower, out);                                                          \
        if (axis == 0) {                                                                                               \
            slope_at_##SUFFIX(p, axis, 0, upper, lower, out);                                                          \
            slope_at_##SUFFIX(p, axis, p->count - 1, upper, lower, out);                                               \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void bends_##SUFFIX(const piece *p, const lines *l, double *restrict out)                                   \
    {                                                                                                                  \
        const cc__derivative *work = p->work;                                                                          \
        for (int32_t axis = 0; axis < work->axes; axis++) {                                                            \
            const double *high = l->high[axis], *low = l->low[axis], *middle = l->along + 1;                           \
            const NUMBER weight = (NUMBER)work->weight[axis];                                                          \
            for (int64_t i = 0; i < p->count; i++) {                                                                   \
                const NUMBER twice = 2 * (NUMBER)middle[i];                                                            \
                const NUMBER bend = cc__bend_##SUFFIX((NUMBER)high[i], (NUMBER)low[i], twice, weight);                 \
                out[i] = axis == 0 ? (double)bend : (double)((NUMBER)out[i] + bend);                                   \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void add_##SUFFIX(int64_t count, const double *restrict terms, double *restrict sums)                       \
    {                                                                                                                  \
        for (int64_t i = 0; i < count; i++)                                                                            \
            sums[i] = (double)((NUMBER)sums[i] + (NUMBER)terms[i]);                                                    \
    }                                                                                                                  \
                                                                                                                       \
    /* The vectors' parts along an axis, or, with the transpose, what has these parts. */                              \
    static void turn_##SUFFIX(const cc__derivative *work, bool is_transpose, int32_t axis, int64_t count,              \
                              double *const parts[CC__SPACE_AXES], double *restrict out)                               \
    {                                                                                                                  \
        const double *factors = is_transpose ? &work->direction[0][axis] : work->direction[axis];                      \
        for (int64_t i = 0; i < count; i++) {                                                                          \
            NUMBER vector[CC__SPACE_AXES] = {0, 0, 0};                                                                 \
            for (int32_t n = 0; n < work->axes; n++)                                                                   \
                vector[n] = (NUMBER)parts[n][i];                                                                       \
            out[i] = (double)cc__turned_##SUFFIX(vector, factors, is_transpose ? CC__SPACE_AXES : 1);                  \
        }                                                                                                              \
    }

DEFINE_COMPUTE(float, float32)
DEFINE_COMPUTE(double, float64)

#define COMPUTE(FUNCTION, ...)                                                                                         \
    do {                                                                                                               \
        if (work->in_float32)                                                                                          \
            FUNCTION##_float32(__VA_ARGS__);                                                                           \
        else                                                                                                           \
            FUNCTION##_float64(__VA_ARGS__);                                                                           \
    } while (0)

static void store(const piece *p, int32_t component, const double *values)
{
    const cc__derivative *work = p->work;
    unsigned char *to = work->destination.data + component * (int64_t)cc_pixel_type_size_bytes(work->destination_type);
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        to += p->at[axis] * work->destination.stride[axis];
    cc__components_store(work->destination_type, values, NULL, to, work->destination.stride[0], p->count);
}

static void gradient(const piece *p)
{
    const cc__derivative *work = p->work;
    double slopes[CC__SPACE_AXES][LINE];
    double *const parts[CC__SPACE_AXES] = {slopes[0], slopes[1], slopes[2]};
    double turned[LINE];
    lines l;
    load_lines(p, 0, &l);
    for (int32_t axis = 0; axis < work->axes; axis++)
        COMPUTE(slopes, p, &l, axis, slopes[axis]);
    for (int32_t axis = 0; axis < work->axes; axis++) {
        if (work->is_turned)
            COMPUTE(turn, work, false, axis, p->count, parts, turned);
        store(p, axis, work->is_turned ? turned : slopes[axis]);
    }
}

/* The lines of the vectors' parts along an axis. */
static void turn_lines(const piece *p, int32_t axis, lines all[CC__SPACE_AXES], lines *out)
{
    const cc__derivative *work = p->work;
    double *const along[] = {all[0].along, all[1].along, all[2].along};
    double *const low[] = {all[0].low[axis], all[1].low[axis], all[2].low[axis]};
    double *const high[] = {all[0].high[axis], all[1].high[axis], all[2].high[axis]};
    COMPUTE(turn, work, true, axis, p->count + 2, along, out->along);
    COMPUTE(turn, work, true, axis, p->count, low, out->low[axis]);
    COMPUTE(turn, work, true, axis, p->count, high, out->high[axis]);
}

static void divergence(const piece *p)
{
    const cc__derivative *work = p->work;
    double sums[LINE];
    double terms[LINE];
    lines all[CC__SPACE_AXES];
    lines turned;
    for (int32_t axis = 0; axis < work->axes; axis++)
        load_lines(p, axis, &all[axis]);
    for (int32_t axis = 0; axis < work->axes; axis++) {
        if (work->is_turned)
            turn_lines(p, axis, all, &turned);
        COMPUTE(slopes, p, work->is_turned ? &turned : &all[axis], axis, axis == 0 ? sums : terms);
        if (axis > 0)
            COMPUTE(add, p->count, terms, sums);
    }
    store(p, 0, sums);
}

static void laplacian(const piece *p)
{
    const cc__derivative *work = p->work;
    double sums[LINE];
    lines l;
    for (int32_t component = 0; component < work->components; component++) {
        load_lines(p, component, &l);
        COMPUTE(bends, p, &l, sums);
        store(p, component, sums);
    }
}

int64_t cc__derivative_row_count(const cc__derivative *work)
{
    return work->size[1] * work->size[2] * work->size[3];
}

void cc__derivative_rows(const void *work, int64_t first, int64_t count)
{
    const cc__derivative *self = work;
    /* The caller's rounding mode, flushing of subnormals or trapping must neither change results nor be changed. */
    fenv_t environment;
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    for (int64_t row = first; row < first + count; row++) {
        piece p = {.work = self};
        int64_t rest = row;
        for (int32_t axis = 1; axis < CC_MAX_DIMENSION; axis++) {
            p.at[axis] = rest % self->size[axis];
            rest /= self->size[axis];
        }
        for (; p.at[0] < self->size[0]; p.at[0] += LINE) {
            const int64_t left = self->size[0] - p.at[0];
            p.count = left < LINE ? left : LINE;
            switch ((cc__derivative_kind)self->kind) {
            case CC__DERIVATIVE_GRADIENT:
                gradient(&p);
                break;
            case CC__DERIVATIVE_DIVERGENCE:
                divergence(&p);
                break;
            case CC__DERIVATIVE_LAPLACIAN:
                laplacian(&p);
                break;
            }
        }
    }
    fesetenv(&environment);
}
