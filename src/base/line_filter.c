#include "base/line_filter.h"

#include "base/components.h"
#include "kernels/border_math.h"
#include "kernels/line_math.h"

#include <fenv.h>
#include <stdbool.h>
#include <string.h>

/* Lines that are filtered together, one vector of the CPU wide, and the positions of them that are loaded at once. */
#define FLOATS 16
#define DOUBLES 8
#define POSITIONS 576

void cc__lines_plan(const cc__line_filter *work, cc__lines *out_lines)
{
    const int64_t from_bytes = (int64_t)cc_pixel_type_size_bytes(work->source_type);
    const int64_t to_bytes = (int64_t)cc_pixel_type_size_bytes(work->destination_type);
    int32_t last = 0;
    memset(out_lines, 0, sizeof *out_lines);
    out_lines->step[0] = work->source.stride[work->axis];
    out_lines->step[1] = work->destination.stride[work->axis];
    out_lines->size[0] = work->components;
    out_lines->stride[0][0] = from_bytes;
    out_lines->stride[1][0] = to_bytes;
    out_lines->count = work->components;
    out_lines->is_along_rows = 1;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        const int64_t from = work->source.stride[axis];
        const int64_t to = work->destination.stride[axis];
        if (axis == work->axis || work->size[axis] == 1)
            continue;
        if (from <= out_lines->step[0])
            out_lines->is_along_rows = 0;
        if (out_lines->size[last] == 1 || from != out_lines->size[last] * out_lines->stride[0][last] ||
            to != out_lines->size[last] * out_lines->stride[1][last]) {
            last += out_lines->size[last] == 1 ? 0 : 1;
            out_lines->size[last] = work->size[axis];
            out_lines->stride[0][last] = from;
            out_lines->stride[1][last] = to;
        } else {
            out_lines->size[last] *= work->size[axis];
        }
        out_lines->count *= work->size[axis];
    }
    out_lines->axes = last + 1;
    for (int32_t axis = last + 1; axis < CC_MAX_DIMENSION; axis++)
        out_lines->size[axis] = 1;
}

void cc__line_pieces_plan(const cc__line_filter *work, cc__line_pieces *out_pieces)
{
    cc__lines_plan(work, &out_pieces->lines);
    out_pieces->group = work->is_wide ? DOUBLES : FLOATS;
    out_pieces->positions = POSITIONS - 2 * (int64_t)work->radius;
    out_pieces->along = (work->size[work->axis] - 1) / out_pieces->positions + 1;
    out_pieces->count = ((out_pieces->lines.count - 1) / out_pieces->group + 1) * out_pieces->along;
}

/* Some lines with their surroundings, next to each other; those of a group that are not there are 0. */
typedef struct group_lines {
    const unsigned char *source[FLOATS];
    unsigned char *destination[FLOATS];
    int64_t count;
    int64_t step[2]; /* between neighbouring lines, when it is the same for all */
    bool is_even;
} group_lines;

static void find_lines(const cc__lines *lines, const cc__line_filter *work, int64_t first, int64_t count,
                       group_lines *out)
{
    out->count = count;
    out->is_even = true;
    for (int64_t n = 0; n < count; n++) {
        int64_t rest = first + n;
        out->source[n] = work->source.data;
        out->destination[n] = work->destination.data;
        for (int32_t axis = 0; axis < lines->axes; axis++) {
            out->source[n] += rest % lines->size[axis] * lines->stride[0][axis];
            out->destination[n] += rest % lines->size[axis] * lines->stride[1][axis];
            rest /= lines->size[axis];
        }
    }
    out->step[0] = count > 1 ? out->source[1] - out->source[0] : 0;
    out->step[1] = count > 1 ? out->destination[1] - out->destination[0] : 0;
    for (int64_t n = 2; n < count; n++)
        out->is_even = out->is_even && out->source[n] - out->source[n - 1] == out->step[0] &&
                       out->destination[n] - out->destination[n - 1] == out->step[1];
}

/* One position of every line. */
static void load_across(const cc__line_filter *work, const group_lines *group, int64_t offset, double *out)
{
    if (group->is_even) {
        cc__components_load(work->source_type, group->source[0] + offset, group->step[0], group->count, out, NULL);
        return;
    }
    for (int64_t n = 0; n < group->count; n++)
        cc__components_load(work->source_type, group->source[n] + offset, 0, 1, out + n, NULL);
}

static void store_across(const cc__line_filter *work, const group_lines *group, int64_t offset, const double *values)
{
    if (group->is_even) {
        cc__components_store(work->destination_type, values, NULL, group->destination[0] + offset, group->step[1],
                             group->count);
        return;
    }
    for (int64_t n = 0; n < group->count; n++)
        cc__components_store(work->destination_type, values + n, NULL, group->destination[n] + offset, 0, 1);
}

/* `count` positions from `first` on, of which some may be in the border. */
#define DEFINE_FILTER(NUMBER, WIDTH)                                                                                   \
    static void gather_##NUMBER(const cc__line_filter *work, const cc__lines *all, const group_lines *group,           \
                                int64_t first, int64_t count, NUMBER out[][WIDTH])                                     \
    {                                                                                                                  \
        for (int64_t p = 0; p < count; p++) {                                                                          \
            double values[WIDTH] = {0};                                                                                \
            const int64_t at = cc__border_find(work->border, first + p, work->length);                                 \
            for (int64_t n = 0; at < 0 && n < group->count; n++)                                                       \
                values[n] = work->border_value;                                                                        \
            if (at >= 0)                                                                                               \
                load_across(work, group, at * all->step[0], values);                                                   \
            for (int32_t n = 0; n < (WIDTH); n++)                                                                      \
                out[p][n] = (NUMBER)values[n];                                                                         \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static void filter_##NUMBER(const cc__line_filter *work, const cc__lines *all, const group_lines *group,           \
                                int64_t first, int64_t count)                                                          \
    {                                                                                                                  \
        NUMBER lines[POSITIONS][WIDTH];                                                                                \
        gather_##NUMBER(work, all, group, work->first + first - work->radius, count + 2 * (int64_t)work->radius,       \
                        lines);                                                                                        \
        for (int64_t p = 0; p < count; p++) {                                                                          \
            NUMBER sum[WIDTH];                                                                                         \
            double values[WIDTH];                                                                                      \
            const NUMBER(*centre)[WIDTH] = (const NUMBER(*)[WIDTH])lines + p + work->radius;                           \
            for (int32_t n = 0; n < (WIDTH); n++)                                                                      \
                sum[n] = cc__line_begin_##NUMBER((NUMBER)work->weight[0], centre[0][n]);                               \
            for (int32_t d = 1; d <= work->radius; d++) {                                                              \
                const NUMBER weight = (NUMBER)work->weight[d];                                                         \
                for (int32_t n = 0; n < (WIDTH); n++)                                                                  \
                    sum[n] = cc__line_add_##NUMBER(sum[n], weight, centre[-d][n], centre[d][n]);                       \
            }                                                                                                          \
            for (int32_t n = 0; n < (WIDTH); n++)                                                                      \
                values[n] = (double)sum[n];                                                                            \
            store_across(work, group, (first + p) * all->step[1], values);                                             \
        }                                                                                                              \
    }

DEFINE_FILTER(float, FLOATS)
DEFINE_FILTER(double, DOUBLES)

void cc__line_piece(const cc__line_filter *work, const cc__line_pieces *pieces, int64_t piece)
{
    group_lines group;
    const int64_t line = piece / pieces->along * pieces->group;
    const int64_t first = piece % pieces->along * pieces->positions;
    const int64_t lines_left = pieces->lines.count - line;
    const int64_t left = work->size[work->axis] - first;
    const int64_t count = left < pieces->positions ? left : pieces->positions;
    fenv_t environment;
    fegetenv(&environment);
    fesetenv(FE_DFL_ENV);
    find_lines(&pieces->lines, work, line, lines_left < pieces->group ? lines_left : pieces->group, &group);
    if (work->is_wide)
        filter_double(work, &pieces->lines, &group, first, count);
    else
        filter_float(work, &pieces->lines, &group, first, count);
    fesetenv(&environment);
}
