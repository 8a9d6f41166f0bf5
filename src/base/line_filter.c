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

void cc__line_pieces_plan(const cc__line_filter *work, cc__line_pieces *out_pieces)
{
    cc__lines_plan(&work->images, &out_pieces->lines);
    out_pieces->group = work->is_wide ? DOUBLES : FLOATS;
    out_pieces->positions = POSITIONS - 2 * (int64_t)work->radius;
    out_pieces->along = (work->images.size[work->images.axis] - 1) / out_pieces->positions + 1;
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
        out->source[n] = work->images.source.data + cc__lines_offset(lines, 0, first + n);
        out->destination[n] = work->images.destination.data + cc__lines_offset(lines, 1, first + n);
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
        cc__components_load(work->images.source_type, group->source[0] + offset, group->step[0], group->count, out,
                            NULL);
        return;
    }
    for (int64_t n = 0; n < group->count; n++)
        cc__components_load(work->images.source_type, group->source[n] + offset, 0, 1, out + n, NULL);
}

static void store_across(const cc__line_filter *work, const group_lines *group, int64_t offset, const double *values)
{
    if (group->is_even) {
        cc__components_store(work->images.destination_type, values, NULL, group->destination[0] + offset,
                             group->step[1], group->count);
        return;
    }
    for (int64_t n = 0; n < group->count; n++)
        cc__components_store(work->images.destination_type, values + n, NULL, group->destination[n] + offset, 0, 1);
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
    group_lines group = {.count = 0};
    const int64_t line = piece / pieces->along * pieces->group;
    const int64_t first = piece % pieces->along * pieces->positions;
    const int64_t lines_left = pieces->lines.count - line;
    const int64_t left = work->images.size[work->images.axis] - first;
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
