#include "kernels/bspline_math.h"
#include "kernels/launch.h"
#include "kernels/tiles.h"

#define GROUP CC__BSPLINE_GROUP
#define WARP 32U
#define PACK 4
#define GROUP_PACKS (GROUP / 4U)

typedef struct bspline_plan {
    cc__bspline work;
    int64_t line_count;
} bspline_plan;

typedef struct __align__(16) pack
{
    float value[PACK];
}
pack;

/* Where lines begin, and how far its pixels are apart. */
typedef struct line_place {
    const unsigned char *from;
    unsigned char *to;
    int64_t from_step;
    int64_t to_step;
    int64_t length;
} line_place;

static __device__ inline line_place place_of(const bspline_plan *plan, int64_t line, int64_t from_bytes,
                                             int64_t to_bytes)
{
    const cc__bspline *work = &plan->work;
    line_place place;
    int64_t rest = line / work->components;
    const int64_t component = line - rest * work->components;
    place.from = work->source.data + component * from_bytes;
    place.to = work->destination.data + component * to_bytes;
    CC__UNROLL
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        if (axis == work->axis) {
            place.from_step = work->source.stride[axis];
            place.to_step = work->destination.stride[axis];
            place.length = work->size[axis];
            continue;
        }
        const int64_t next = rest / work->size[axis];
        const int64_t at = rest - next * work->size[axis];
        place.from += at * work->source.stride[axis];
        place.to += at * work->destination.stride[axis];
        rest = next;
    }
    return place;
}

/* A thread does a line, and its neighbours those beside it, component after component. */
static __global__ void __launch_bounds__(CC__BLOCK_THREADS) find_coefficients(const __grid_constant__ bspline_plan plan)
{
    const int64_t threads = (int64_t)gridDim.x * CC__BLOCK_THREADS;
    const int32_t type = (int32_t)plan.work.source_type;
    for (int64_t line = (int64_t)blockIdx.x * CC__BLOCK_THREADS + threadIdx.x; line < plan.line_count;
         line += threads) {
        const line_place p = place_of(&plan, line, cc__bytes_of_real(type), plan.work.in_float32 ? 4 : 8);
        cc__bspline_line(plan.work.in_float32, type, p.from, p.from_step, p.to, p.to_step, p.length);
    }
}

static __device__ inline void load_group(const line_place *p, int64_t first, float out[GROUP])
{
    const unsigned char *from = p->from + first * p->from_step;
    if (first + GROUP <= p->length) {
        CC__UNROLL
        for (int32_t i = 0; i < GROUP; i++)
            out[i] = *(const float *)(from + i * p->from_step);
    } else {
        CC__UNROLL
        for (int32_t i = 0; i < GROUP; i++)
            out[i] = first + i < p->length ? *(const float *)(from + i * p->from_step) : 0;
    }
}

static __device__ inline void store_group(const float run[GROUP], const line_place *p, int64_t first)
{
    unsigned char *to = p->to + first * p->to_step;
    if (first + GROUP <= p->length) {
        CC__UNROLL
        for (int32_t i = 0; i < GROUP; i++)
            *(float *)(to + i * p->to_step) = run[i];
    } else {
        CC__UNROLL
        for (int32_t i = 0; i < GROUP; i++)
            if (first + i < p->length)
                *(float *)(to + i * p->to_step) = run[i];
    }
}

/* As cc__bspline_long_line() from and to float32; the next group is on its way while one goes back. */
static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 2)
    find_long_coefficients(const __grid_constant__ bspline_plan plan)
{
    const int64_t threads = (int64_t)gridDim.x * CC__BLOCK_THREADS;
    for (int64_t line = (int64_t)blockIdx.x * CC__BLOCK_THREADS + threadIdx.x; line < plan.line_count;
         line += threads) {
        const line_place p = place_of(&plan, line, 4, 4);
        cc__bspline_window window = {0, 0, {0}};
        float run[GROUP], next[GROUP];
        load_group(&p, 0, run);
        load_group(&p, GROUP, next);
        window.last = cc__bspline_start(run, next[0]);
        cc__bspline_forth(run, &window);
        cc__bspline_forth(next, &window);
        for (int64_t first = 0; first < p.length; first += GROUP) {
            load_group(&p, first + CC__BSPLINE_LONG, next);
            cc__bspline_back(&window, p.length - first, run);
            store_group(run, &p, first);
            cc__bspline_forth(next, &window);
        }
    }
}

/*
 * The same where lines are rows. A warp's rows go through its part of the shared memory, where a thread finds its own
 * one: what the warp loads and stores at a time is side by side.
 */
#define TURN_ROWS (WARP / GROUP_PACKS)

typedef struct row_turn {
    pack packs[WARP * GROUP_PACKS];
    const unsigned char *from[WARP];
    unsigned char *to[WARP]; /* NULL: no such row */
} row_turn;

/* No two threads that have a turn at once want the same banks, neither with a row each nor with two rows of packs. */
static __device__ inline pack *pack_at(row_turn *turn, uint32_t row, uint32_t number)
{
    return &turn->packs[row * GROUP_PACKS + (number ^ (row / 2 % GROUP_PACKS))];
}

/* left: pixels from the group's first one to the end of the rows; a group that has not all is left to its thread. */
static __device__ inline void load_packs(const row_turn *turn, const float *from, int32_t first, int32_t left,
                                         pack out[GROUP_PACKS])
{
#ifdef __CUDA_ARCH__
    if (left >= GROUP) {
        const uint32_t lane = threadIdx.x % WARP;
        const uint32_t at = (uint32_t)first * 4 + lane % GROUP_PACKS * (uint32_t)sizeof(pack);
        CC__UNROLL
        for (uint32_t n = 0; n < GROUP_PACKS; n++)
            out[n] = *(const pack *)(turn->from[n * TURN_ROWS + lane / GROUP_PACKS] + at);
        return;
    }
#else
    (void)turn;
#endif
    CC__UNROLL
    for (int32_t i = 0; i < GROUP; i++)
        out[i / PACK].value[i % PACK] = i < left ? from[first + i] : 0;
}

/* To a thread what is of its own row, of what load_packs() has. */
static __device__ inline void turn_packs(row_turn *turn, int32_t left, const pack packs[GROUP_PACKS], float out[GROUP])
{
#ifdef __CUDA_ARCH__
    if (left >= GROUP) {
        const uint32_t lane = threadIdx.x % WARP;
        CC__UNROLL
        for (uint32_t n = 0; n < GROUP_PACKS; n++)
            *pack_at(turn, n * TURN_ROWS + lane / GROUP_PACKS, lane % GROUP_PACKS) = packs[n];
        __syncwarp();
        CC__UNROLL
        for (uint32_t n = 0; n < GROUP_PACKS; n++) {
            const pack own = *pack_at(turn, lane, n);
            CC__UNROLL
            for (int32_t i = 0; i < PACK; i++)
                out[n * PACK + i] = own.value[i];
        }
        __syncwarp();
        return;
    }
#else
    (void)turn;
    (void)left;
#endif
    CC__UNROLL
    for (int32_t i = 0; i < GROUP; i++)
        out[i] = packs[i / PACK].value[i % PACK];
}

/* to: the thread's own row, NULL if it has none. */
static __device__ inline void store_packs(row_turn *turn, float *to, int32_t first, int32_t left,
                                          const float run[GROUP])
{
#ifdef __CUDA_ARCH__
    if (left >= GROUP) {
        const uint32_t lane = threadIdx.x % WARP;
        const uint32_t at = (uint32_t)first * 4 + lane % GROUP_PACKS * (uint32_t)sizeof(pack);
        CC__UNROLL
        for (uint32_t n = 0; n < GROUP_PACKS; n++) {
            pack own;
            CC__UNROLL
            for (int32_t i = 0; i < PACK; i++)
                own.value[i] = run[n * PACK + i];
            *pack_at(turn, lane, n) = own;
        }
        __syncwarp();
        CC__UNROLL
        for (uint32_t n = 0; n < GROUP_PACKS; n++) {
            const uint32_t row = n * TURN_ROWS + lane / GROUP_PACKS;
            if (turn->to[row] != NULL)
                *(pack *)(turn->to[row] + at) = *pack_at(turn, row, lane % GROUP_PACKS);
        }
        __syncwarp();
        return;
    }
#else
    (void)turn;
#endif
    CC__UNROLL
    for (int32_t i = 0; i < GROUP; i++)
        if (to != NULL && i < left)
            to[first + i] = run[i];
}

static __device__ inline void do_rows(row_turn *turn, const float *from, float *to, int32_t length)
{
    cc__bspline_window window = {0, 0, {0}};
    pack next[GROUP_PACKS];
    float run[GROUP], other[GROUP];
    load_packs(turn, from, 0, length, next);
    turn_packs(turn, length, next, run);
    load_packs(turn, from, GROUP, length - GROUP, next);
    turn_packs(turn, length - GROUP, next, other);
    window.last = cc__bspline_start(run, other[0]);
    cc__bspline_forth(run, &window);
    cc__bspline_forth(other, &window);
    for (int32_t first = 0; first < length; first += GROUP) {
        const int32_t ahead = first + CC__BSPLINE_LONG;
        load_packs(turn, from, ahead, length - ahead, next);
        cc__bspline_back(&window, length - first, run);
        store_packs(turn, to, first, length - first, run);
        turn_packs(turn, length - ahead, next, run);
        cc__bspline_forth(run, &window);
    }
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 2)
    find_row_coefficients(const __grid_constant__ bspline_plan plan)
{
    __shared__ row_turn turns[CC__BLOCK_THREADS / WARP];
    const uint32_t lane = threadIdx.x % WARP;
    row_turn *turn = &turns[threadIdx.x / WARP];
    const int64_t threads = (int64_t)gridDim.x * CC__BLOCK_THREADS;
    for (int64_t line = (int64_t)blockIdx.x * CC__BLOCK_THREADS + threadIdx.x; line - lane < plan.line_count;
         line += threads) {
        /* Those of a warp that have no row go along with the last one. */
        const bool is_in = line < plan.line_count;
        const line_place p = place_of(&plan, is_in ? line : plan.line_count - 1, 4, 4);
        unsigned char *to = is_in ? p.to : NULL;
#ifdef __CUDA_ARCH__
        __syncwarp();
        turn->from[lane] = p.from;
        turn->to[lane] = to;
        __syncwarp();
#endif
        do_rows(turn, (const float *)p.from, (float *)to, (int32_t)p.length);
    }
}

/* Whether lines begin at a multiple of a pack's size, and their pixels are side by side. */
static bool has_packs(const cc__span *span, int32_t axis)
{
    bool has = (uintptr_t)span->data % sizeof(pack) == 0 && span->stride[axis] == 4;
    for (int32_t other = 0; other < CC_MAX_DIMENSION; other++)
        has = has && (other == axis || span->stride[other] % (int64_t)sizeof(pack) == 0);
    return has;
}

static const void *choose_kernel(const cc__bspline *work)
{
    if (!work->in_float32 || work->source_type != CC_PIXEL_FLOAT32 || work->size[work->axis] <= CC__BSPLINE_LONG)
        return (const void *)find_coefficients;
    /* Bytes of a row are counted in 32 bits. */
    if (work->size[work->axis] < INT32_MAX / 8 && has_packs(&work->source, work->axis) &&
        has_packs(&work->destination, work->axis))
        return (const void *)find_row_coefficients;
    return (const void *)find_long_coefficients;
}

cc_status cc__launch_bspline(const cc__bspline *work, const cc__launcher *launcher)
{
    bspline_plan plan;
    plan.work = *work;
    plan.line_count = cc__bspline_line_count(&plan.work);
    const int64_t blocks = (plan.line_count - 1) / CC__BLOCK_THREADS + 1;
    const int64_t most = (int64_t)launcher->multiprocessor_count * CC__BLOCKS_PER_MULTIPROCESSOR;
    void *arguments[] = {&plan};
    return cc__launch_aside(launcher, choose_kernel(&plan.work), (uint32_t)(blocks < most ? blocks : most),
                            CC__BLOCK_THREADS, arguments);
}
