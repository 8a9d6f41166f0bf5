/*
 * Gradient and Laplacian of float32 in three dimensions where rows are made of packs of 16 bytes: derivative.cu
 * includes this. A thread has a pack in each of two rows and goes along the third axis with it, so that a pixel is
 * loaded once for all that need it but its neighbours along the rows and in the rows beside. At an edge a pixel stands
 * in for its neighbour outside, as in derivative.cu.
 */
#ifndef CC_KERNELS_DERIVATIVE_PACKS_H
#define CC_KERNELS_DERIVATIVE_PACKS_H

#define PACK 4
#define PACK_BYTES 16
#define PACK_ROWS 2
#define WARP 32

/* More packs than this in a row: then all threads of a warp are in one row. */
#define PACKS_OF_HALF_A_WARP 16

typedef struct __align__(16) pack
{
    float value[PACK];
}
pack;

/* Bytes from a thread's first pack to what is beside it, or where that is outside, to what stands in for it. */
typedef struct pack_walk {
    const unsigned char *from;
    unsigned char *to;
    int32_t moving;
    int32_t end;
    int32_t above;
    int32_t second; /* row; the first where there is no second */
    int32_t below;
    int32_t left;
    int32_t right;
    int32_t count; /* packs of the row from the first thread of the warp on, at most WARP */
    bool is_in;    /* otherwise the thread is only there for its neighbours */
    bool has_second;
    bool is_left_edge;
    bool is_right_edge;
    bool is_top_edge;
    bool is_bottom_edge[PACK_ROWS];
} pack_walk;

/* Of all that a thread's pixels in a slice need. */
typedef struct pack_slices {
    pack before[PACK_ROWS];
    pack now[PACK_ROWS];
    pack after[PACK_ROWS];
} pack_slices;

typedef struct pack_sides {
    pack above;
    pack below;
    float left[PACK_ROWS];
    float right[PACK_ROWS];
} pack_sides;

/* False where no thread of the row has anything to do. */
static __device__ inline bool begin_packs(const derivative_plan *plan, int64_t patch, int32_t to_bytes, pack_walk *out)
{
    const cc__derivative *work = &plan->work;
    const int64_t last_row = work->size[1] - 1;
    cc__column column;
    out->is_in = cc__columns_find(&plan->columns, patch, (int32_t)threadIdx.x, &column);
    if (column.still > last_row)
        return false;
    const int64_t last_pack = plan->columns.width - 1;
    const int64_t at = column.pixel < last_pack ? column.pixel : last_pack;
    const int32_t row = (int32_t)work->source.stride[1];
    out->from = work->source.data + column.volume * work->source.stride[3] + column.first * work->source.stride[2] +
                column.still * work->source.stride[1] + at * PACK_BYTES;
    out->to = work->destination.data + column.volume * work->destination.stride[3] +
              column.first * work->destination.stride[2] + column.still * work->destination.stride[1] +
              column.pixel * to_bytes;
    const int64_t left = plan->columns.width - column.pixel + threadIdx.x % WARP;
    out->count = left < WARP ? (int32_t)left : WARP;
    out->moving = (int32_t)column.first;
    out->end = (int32_t)column.end;
    out->has_second = column.still < last_row;
    out->is_left_edge = at == 0;
    out->is_right_edge = at == last_pack;
    out->is_top_edge = column.still == 0;
    out->is_bottom_edge[0] = !out->has_second;
    out->is_bottom_edge[1] = column.still + 1 >= last_row;
    out->left = out->is_left_edge ? 0 : -4;
    out->right = out->is_right_edge ? PACK_BYTES - 4 : PACK_BYTES;
    out->above = out->is_top_edge ? 0 : -row;
    out->second = out->has_second ? row : 0;
    out->below = out->is_bottom_edge[1] ? out->second : 2 * row;
    return true;
}

static __device__ inline pack load_pack(const unsigned char *from)
{
    return *(const pack *)from;
}

static __device__ inline void load_slice(const pack_walk *w, const unsigned char *from, pack out[PACK_ROWS])
{
    out[0] = load_pack(from);
    out[1] = load_pack(from + w->second);
}

static __device__ inline pack_sides load_sides(const pack_walk *w)
{
    pack_sides sides;
    sides.above = load_pack(w->from + w->above);
    sides.below = load_pack(w->from + w->below);
    sides.left[0] = READ_FLOAT32(w->from + w->left);
    sides.left[1] = READ_FLOAT32(w->from + w->second + w->left);
    sides.right[0] = READ_FLOAT32(w->from + w->right);
    sides.right[1] = READ_FLOAT32(w->from + w->second + w->right);
    return sides;
}

static __device__ inline void begin_slices(const derivative_plan *plan, const pack_walk *w, pack_slices *out)
{
    const int64_t slice = plan->work.source.stride[2];
    load_slice(w, w->from - (w->moving == 0 ? 0 : slice), out->before);
    load_slice(w, w->from, out->now);
    load_slice(w, w->from + (w->moving == plan->work.size[2] - 1 ? 0 : slice), out->after);
}

/* The slice behind the next one is on its way while the thread is busy with this one. */
static __device__ inline void load_ahead(const derivative_plan *plan, const pack_walk *w, pack out[PACK_ROWS])
{
    const int64_t slice = plan->work.source.stride[2];
    if (w->moving + 1 < w->end)
        load_slice(w, w->from + (w->moving + 2 < plan->work.size[2] ? 2 * slice : slice), out);
}

static __device__ inline void step_packs(const derivative_plan *plan, const pack ahead[PACK_ROWS], pack_walk *w,
                                         pack_slices *slices)
{
    CC__UNROLL
    for (int32_t n = 0; n < PACK_ROWS; n++) {
        slices->before[n] = slices->now[n];
        slices->now[n] = slices->after[n];
        slices->after[n] = ahead[n];
    }
    w->moving++;
    w->from += plan->work.source.stride[2];
    w->to += plan->work.destination.stride[2];
}

/* What is beside pixel `i` of a row. */
typedef struct pack_cross {
    float low[CC__SPACE_AXES];
    float high[CC__SPACE_AXES];
    float own;
} pack_cross;

static __device__ inline pack_cross cross_of(const pack_slices *slices, const pack_sides *sides, int32_t n, int32_t i)
{
    const pack *now = &slices->now[n];
    pack_cross cross;
    cross.own = now->value[i];
    cross.low[0] = i > 0 ? now->value[i > 0 ? i - 1 : 0] : sides->left[n];
    cross.high[0] = i < PACK - 1 ? now->value[i < PACK - 1 ? i + 1 : i] : sides->right[n];
    cross.low[1] = n == 0 ? sides->above.value[i] : slices->now[0].value[i];
    cross.high[1] = n == 0 ? slices->now[1].value[i] : sides->below.value[i];
    cross.low[2] = slices->before[n].value[i];
    cross.high[2] = slices->after[n].value[i];
    return cross;
}

static __device__ inline float stored(float value)
{
    return cc__float32_of_bits(cc__store_float32(value));
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 3)
    laplacian_packs(const __grid_constant__ derivative_plan plan)
{
    const float wx = plan.weight[0], wy = plan.weight[1], wz = plan.weight[2];
    for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {
        pack_walk w;
        pack_slices slices;
        pack ahead[PACK_ROWS] = {{{0, 0, 0, 0}}, {{0, 0, 0, 0}}};
        if (!begin_packs(&plan, patch, PACK_BYTES, &w) || !w.is_in)
            continue;
        begin_slices(&plan, &w, &slices);
        for (; w.moving < w.end; step_packs(&plan, ahead, &w, &slices)) {
            const pack_sides sides = load_sides(&w);
            load_ahead(&plan, &w, ahead);
            CC__UNROLL
            for (int32_t n = 0; n < PACK_ROWS; n++) {
                pack result;
                CC__UNROLL
                for (int32_t i = 0; i < PACK; i++) {
                    const pack_cross cross = cross_of(&slices, &sides, n, i);
                    const float twice = 2 * cross.own;
                    float sum = cc__bend_float32(cross.high[0], cross.low[0], twice, wx);
                    sum += cc__bend_float32(cross.high[1], cross.low[1], twice, wy);
                    sum += cc__bend_float32(cross.high[2], cross.low[2], twice, wz);
                    result.value[i] = stored(sum);
                }
                if (n == 0)
                    *(pack *)w.to = result;
                else if (w.has_second)
                    *(pack *)(w.to + plan.work.destination.stride[1]) = result;
            }
        }
    }
}

/*
 * Three packs of each thread become one row of the warp, so that it stores 512 bytes side by side. `count` packs of the
 * row are there from the warp's first one on.
 */
static __device__ inline void store_vectors(const pack vectors[CC__SPACE_AXES], unsigned char *to, int32_t count,
                                            bool is_in, pack *shared)
{
#ifdef __CUDA_ARCH__
    const int32_t lane = (int32_t)threadIdx.x % WARP;
    unsigned char *row = to - lane * (CC__SPACE_AXES * PACK_BYTES);
    (void)is_in;
    __syncwarp();
    CC__UNROLL
    for (int32_t part = 0; part < CC__SPACE_AXES; part++)
        shared[lane * CC__SPACE_AXES + part] = vectors[part];
    __syncwarp();
    CC__UNROLL
    for (int32_t part = 0; part < CC__SPACE_AXES; part++) {
        const int32_t at = part * WARP + lane;
        if (at < CC__SPACE_AXES * count)
            *(pack *)(row + at * PACK_BYTES) = shared[at];
    }
#else
    (void)count;
    (void)shared;
    for (int32_t part = 0; part < CC__SPACE_AXES && is_in; part++)
        *(pack *)(to + part * PACK_BYTES) = vectors[part];
#endif
}

static __device__ inline float slope_of(const pack_cross *cross, int32_t axis, int32_t difference, float weight)
{
    const float high = difference == CC_DIFFERENCE_BACKWARD ? cross->own : cross->high[axis];
    const float low = difference == CC_DIFFERENCE_FORWARD ? cross->own : cross->low[axis];
    return cc__slope_float32(high, low, weight);
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 2)
    gradient_packs(const __grid_constant__ derivative_plan plan)
{
    __shared__ pack shared[CC__BLOCK_THREADS * CC__SPACE_AXES];
    pack *own = &shared[threadIdx.x / WARP * (WARP * CC__SPACE_AXES)];
    const int32_t difference = plan.work.difference;
    for (int64_t patch = blockIdx.x; patch < plan.columns.count; patch += gridDim.x) {
        pack_walk w;
        pack_slices slices;
        pack ahead[PACK_ROWS] = {{{0, 0, 0, 0}}, {{0, 0, 0, 0}}};
        if (!begin_packs(&plan, patch, CC__SPACE_AXES * PACK_BYTES, &w))
            continue;
        begin_slices(&plan, &w, &slices);
        const float first_wx = w.is_left_edge ? plan.edge_weight[0] : plan.weight[0];
        const float last_wx = w.is_right_edge ? plan.edge_weight[0] : plan.weight[0];
        for (; w.moving < w.end; step_packs(&plan, ahead, &w, &slices)) {
            const pack_sides sides = load_sides(&w);
            const bool is_z_edge = w.moving == 0 || w.moving == plan.work.size[2] - 1;
            const float wz = is_z_edge ? plan.edge_weight[2] : plan.weight[2];
            CC__UNROLL
            for (int32_t n = 0; n < PACK_ROWS; n++) {
                const bool is_y_edge = (n == 0 && w.is_top_edge) || w.is_bottom_edge[n];
                const float wy = is_y_edge ? plan.edge_weight[1] : plan.weight[1];
                pack vectors[CC__SPACE_AXES];
                CC__UNROLL
                for (int32_t i = 0; i < PACK; i++) {
                    const pack_cross cross = cross_of(&slices, &sides, n, i);
                    const float wx = i == 0 ? first_wx : i == PACK - 1 ? last_wx : plan.weight[0];
                    const int32_t at = i * CC__SPACE_AXES;
                    vectors[at / PACK].value[at % PACK] = stored(slope_of(&cross, 0, difference, wx));
                    vectors[(at + 1) / PACK].value[(at + 1) % PACK] = stored(slope_of(&cross, 1, difference, wy));
                    vectors[(at + 2) / PACK].value[(at + 2) % PACK] = stored(slope_of(&cross, 2, difference, wz));
                }
                if (n == 0 || w.has_second)
                    store_vectors(vectors, w.to + (n == 0 ? 0 : plan.work.destination.stride[1]), w.count, w.is_in,
                                  own);
            }
            /* Together with the sides of the next slice: the vectors need the registers until here. */
            load_ahead(&plan, &w, ahead);
        }
    }
}

#endif
