/*
 * Float32 in three dimensions, several rows for each thread: derivative.cu includes this. Between the edges along the
 * second and third axes all distances are the same for all of a thread's pixels; at these edges the rows are done one
 * by one as there.
 */
#ifndef CC_KERNELS_DERIVATIVE_ROWS_H
#define CC_KERNELS_DERIVATIVE_ROWS_H

#define ROWS CC__COLUMN_ROWS

/* The second axis' rows that a thread has from its first one on; and whether they all are between the edges. */
static __device__ inline int32_t rows_of(const derivative_plan *plan, const walk *w, bool *out_are_inner)
{
    const int64_t left = plan->work.size[1] - w->at[1];
    *out_are_inner = w->at[1] > 0 && left > ROWS;
    return left < ROWS ? (int32_t)left : ROWS;
}

/* The same place in another row of the thread, as far as `end`. */
static __device__ inline walk row_of(const derivative_plan *plan, const walk *w, int32_t row, int64_t end)
{
    walk other = *w;
    other.at[1] += row;
    other.end = end;
    other.from += row * plan->work.source.stride[1];
    other.to += row * plan->work.destination.stride[1];
    return other;
}

static __device__ inline void leap(const derivative_plan *plan, walk *w, int64_t moving)
{
    w->from += (moving - w->moving) * plan->work.source.stride[2];
    w->to += (moving - w->moving) * plan->work.destination.stride[2];
    w->moving = moving;
}

/* The part of a column between the edges of the third axis. */
static __device__ inline int64_t inner_end(const derivative_plan *plan, const walk *w)
{
    const int64_t last = plan->work.size[2] - 1;
    return w->end < last ? w->end : last;
}

/* KIND is gradient, divergence or laplacian: what is at the edges row by row, the rest together. */
#define DEFINE_ROWS(KIND)                                                                                              \
    static __device__ CC__NOT_INLINE void KIND##_edges(const derivative_plan *plan, const walk *w, int32_t rows,       \
                                                       int64_t end)                                                    \
    {                                                                                                                  \
        for (int32_t row = 0; row < rows; row++) {                                                                     \
            walk one = row_of(plan, w, row, end);                                                                      \
            KIND##_walk_of_float32(plan, &one);                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        KIND##_rows(const __grid_constant__ derivative_plan plan)                                                      \
    {                                                                                                                  \
        for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {                             \
            walk w;                                                                                                    \
            bool are_inner;                                                                                            \
            if (!begin_walk(&plan, patch, &w))                                                                         \
                continue;                                                                                              \
            w.from += KIND##_source_component(&w) * 4;                                                                 \
            w.to += w.component * 4;                                                                                   \
            const int32_t rows = rows_of(&plan, &w, &are_inner);                                                       \
            const int64_t end = are_inner ? inner_end(&plan, &w) : w.moving;                                           \
            if (!are_inner) {                                                                                          \
                KIND##_edges(&plan, &w, rows, w.end);                                                                  \
                continue;                                                                                              \
            }                                                                                                          \
            if (w.moving == 0) {                                                                                       \
                KIND##_edges(&plan, &w, rows, 1);                                                                      \
                leap(&plan, &w, 1);                                                                                    \
            }                                                                                                          \
            if (w.moving < end) {                                                                                      \
                KIND##_inside(&plan, &w, end);                                                                         \
                leap(&plan, &w, end);                                                                                  \
            }                                                                                                          \
            if (w.moving < w.end)                                                                                      \
                KIND##_edges(&plan, &w, rows, w.end);                                                                  \
        }                                                                                                              \
    }

static __device__ inline int32_t gradient_source_component(const walk *w)
{
    (void)w;
    return 0;
}

static __device__ inline void gradient_inside(const derivative_plan *plan, const walk *w, int64_t end)
{
    const cc__derivative *work = &plan->work;
    const arms a = arms_of(plan, w, w->component, work->difference);
    const bool is_edge = !a.moves && (a.is_first || a.is_last);
    const float weight = is_edge ? plan->edge_weight[w->component] : plan->weight[w->component];
    const unsigned char *high = w->from + (is_edge && a.is_last ? 0 : a.high);
    const unsigned char *low = w->from - (is_edge && a.is_first ? 0 : a.low);
    unsigned char *to = w->to;
    const int64_t row = work->source.stride[1], to_row = work->destination.stride[1];
    for (int64_t moving = w->moving; moving < end; moving++) {
        float highs[ROWS], lows[ROWS];
        CC__UNROLL
        for (int32_t n = 0; n < ROWS; n++) {
            highs[n] = READ_FLOAT32(high + n * row);
            lows[n] = READ_FLOAT32(low + n * row);
        }
        CC__UNROLL
        for (int32_t n = 0; n < ROWS; n++)
            WRITE_FLOAT32(to + n * to_row, cc__slope_float32(highs[n], lows[n], weight));
        high += work->source.stride[2];
        low += work->source.stride[2];
        to += work->destination.stride[2];
    }
}

DEFINE_ROWS(gradient)

static __device__ inline int32_t divergence_source_component(const walk *w)
{
    (void)w;
    return 0;
}

static __device__ inline void divergence_inside(const derivative_plan *plan, const walk *w, int64_t end)
{
    const cc__derivative *work = &plan->work;
    const bool is_central = work->difference <= CC_DIFFERENCE_CENTRAL_ONE_SIDED;
    const arms x = arms_of(plan, w, 0, work->difference), y = arms_of(plan, w, 1, work->difference),
               z = arms_of(plan, w, 2, work->difference);
    const float wx = x.is_first || x.is_last ? plan->edge_weight[0] : plan->weight[0], wy = plan->weight[1],
                wz = plan->weight[2];
    const bool has_high = is_central || !x.is_last, has_low = is_central || !x.is_first;
    const int64_t x_high = x.is_last ? 0 : x.high, x_low = x.is_first ? 0 : x.low;
    const int64_t row = work->source.stride[1], to_row = work->destination.stride[1];
    const unsigned char *from = w->from;
    unsigned char *to = w->to;
    for (int64_t moving = w->moving; moving < end; moving++) {
        float highs[ROWS][CC__SPACE_AXES], lows[ROWS][CC__SPACE_AXES];
        CC__UNROLL
        for (int32_t n = 0; n < ROWS; n++) {
            const unsigned char *at = from + n * row;
            highs[n][0] = READ_FLOAT32(at + x_high);
            lows[n][0] = READ_FLOAT32(at - x_low);
            highs[n][1] = READ_FLOAT32(at + y.high + 4);
            lows[n][1] = READ_FLOAT32(at - y.low + 4);
            highs[n][2] = READ_FLOAT32(at + z.high + 8);
            lows[n][2] = READ_FLOAT32(at - z.low + 8);
        }
        CC__UNROLL
        for (int32_t n = 0; n < ROWS; n++) {
            float sum = cc__slope_float32(has_high ? highs[n][0] : 0, has_low ? lows[n][0] : 0, wx);
            sum += cc__slope_float32(highs[n][1], lows[n][1], wy);
            sum += cc__slope_float32(highs[n][2], lows[n][2], wz);
            WRITE_FLOAT32(to + n * to_row, sum);
        }
        from += work->source.stride[2];
        to += work->destination.stride[2];
    }
}

DEFINE_ROWS(divergence)

static __device__ inline int32_t laplacian_source_component(const walk *w)
{
    return w->component;
}

/* What a pixel is to its neighbours in the column and in the thread's rows it need not load again. */
static __device__ inline void laplacian_inside(const derivative_plan *plan, const walk *w, int64_t end)
{
    const cc__derivative *work = &plan->work;
    const arms x = arms_of(plan, w, 0, CC_DIFFERENCE_CENTRAL);
    const float wx = plan->weight[0], wy = plan->weight[1], wz = plan->weight[2];
    const int64_t x_high = x.is_last ? 0 : x.high, x_low = x.is_first ? 0 : x.low;
    const int64_t row = work->source.stride[1], to_row = work->destination.stride[1];
    const int64_t slice = work->source.stride[2];
    const unsigned char *from = w->from;
    unsigned char *to = w->to;
    float before[ROWS], now[ROWS];
    CC__UNROLL
    for (int32_t n = 0; n < ROWS; n++) {
        before[n] = READ_FLOAT32(from - slice + n * row);
        now[n] = READ_FLOAT32(from + n * row);
    }
    for (int64_t moving = w->moving; moving < end; moving++) {
        float after[ROWS], highs[ROWS], lows[ROWS];
        const float above = READ_FLOAT32(from - row), below = READ_FLOAT32(from + ROWS * row);
        CC__UNROLL
        for (int32_t n = 0; n < ROWS; n++) {
            after[n] = READ_FLOAT32(from + slice + n * row);
            highs[n] = READ_FLOAT32(from + n * row + x_high);
            lows[n] = READ_FLOAT32(from + n * row - x_low);
        }
        CC__UNROLL
        for (int32_t n = 0; n < ROWS; n++) {
            const float twice = 2 * now[n];
            float sum = cc__bend_float32(highs[n], lows[n], twice, wx);
            sum += cc__bend_float32(n < ROWS - 1 ? now[n < ROWS - 1 ? n + 1 : n] : below,
                                    n > 0 ? now[n > 0 ? n - 1 : 0] : above, twice, wy);
            sum += cc__bend_float32(after[n], before[n], twice, wz);
            WRITE_FLOAT32(to + n * to_row, sum);
        }
        CC__UNROLL
        for (int32_t n = 0; n < ROWS; n++) {
            before[n] = now[n];
            now[n] = after[n];
        }
        from += slice;
        to += work->destination.stride[2];
    }
}

DEFINE_ROWS(laplacian)

#endif
