/* How partial results are joined: those of a block's threads, and those of all pieces. */
#ifndef CC_KERNELS_REDUCE_JOIN_H
#define CC_KERNELS_REDUCE_JOIN_H

#include "base/reduce.h"
#include "kernels/sequence.h"

#define WARP_THREADS 32
#define WARPS (CC__BLOCK_THREADS / WARP_THREADS)

/* What joins neighbours: `count`, of each, where both have as many components, else 0. */
static __device__ inline cc__partial join_two(cc__reduce_kind kind, cc__partial x, cc__partial y, int32_t count)
{
    return count > 0 ? cc__reduce_join_equal(kind, x, y, count) : cc__reduce_join(kind, x, y);
}

#ifdef __CUDACC__
/* Joins what `threads` of a warp have, in neighbouring pairs; the first has it all in the end. */
static __device__ inline cc__partial join_warp(cc__reduce_kind kind, cc__partial own, int32_t threads, int32_t count)
{
    CC__UNROLL
    for (int32_t apart = 1; apart < threads; apart *= 2) {
        cc__partial next = own;
        next.value = __shfl_down_sync(UINT32_MAX, own.value, apart);
        if (kind == CC__REDUCE_MOMENTS) {
            next.squares = __shfl_down_sync(UINT32_MAX, own.squares, apart);
            if (count == 0)
                next.count = __shfl_down_sync(UINT32_MAX, own.count, apart);
        }
        own = join_two(kind, own, next, count * apart);
    }
    return own;
}

/*
 * Joins what the threads of a block have, in neighbouring pairs. The first thread returns it all. `shared` is free when
 * all threads have been at the next barrier.
 */
static __device__ inline cc__partial join_threads(cc__reduce_kind kind, cc__partial *shared, cc__partial own,
                                                  int32_t count)
{
    const int32_t thread = (int32_t)threadIdx.x;
    own = join_warp(kind, own, WARP_THREADS, count);
    if (thread % WARP_THREADS == 0)
        shared[thread / WARP_THREADS] = own;
    __syncthreads();
    if (thread < WARP_THREADS)
        own = join_warp(kind, shared[thread % WARPS], WARPS, count * WARP_THREADS);
    return own;
}
#else
/* The same pairs without a warp. */
static __device__ inline cc__partial join_threads(cc__reduce_kind kind, cc__partial *shared, cc__partial own,
                                                  int32_t count)
{
    int32_t thread = (int32_t)threadIdx.x;
    shared[thread] = own;
    __syncthreads();
    for (int32_t apart = 1; apart < CC__BLOCK_THREADS; apart *= 2) {
        if (thread % (2 * apart) == 0)
            shared[thread] = join_two(kind, shared[thread], shared[thread + apart], count * apart);
        __syncthreads();
    }
    return shared[thread];
}
#endif

static __device__ inline cc__partial join_pack(cc__reduce_kind kind, const cc__partial lanes[CC__PACK], int32_t count)
{
    return join_two(kind, join_two(kind, lanes[0], lanes[1], count), join_two(kind, lanes[2], lanes[3], count),
                    2 * count);
}

/*
 * The partials of a result are joined as components of pieces are. Each piece of them has blocks for its parts, with a
 * lane for each thread; what they come to is joined by the block that arrives last, whichever it is. More partials than
 * a piece of pieces has would need components that no memory has room for.
 */
typedef struct cc__join_plan {
    cc__partial *partials; /* behind them: the parts, and how many blocks have arrived */
    int64_t count;
    int64_t between; /* from those of a result to those of the next */
    int64_t blocks;  /* of a result: one, or the parts of all pieces */
    int64_t result_count;
    double *results;
    int64_t component_count;
    cc__reduce_end end;
    int32_t reserved;
} cc__join_plan;

CC__SHARED uint32_t *cc__join_arrived(cc__partial *partials, int64_t count)
{
    return (uint32_t *)(void *)(partials + count + CC__REDUCE_PARTS * ((count - 1) / CC__REDUCE_PIECE + 1));
}

/* Past what this multiprocessor may have read before. */
static __device__ inline cc__partial load_part(const volatile cc__partial *from)
{
    const cc__partial partial = {from->value, from->squares, from->count};
    return partial;
}

static __device__ inline cc__partial load_partial(cc__reduce_kind kind, const cc__partial *from)
{
    cc__partial partial = {from->value, 0.0, 0.0};
    if (kind == CC__REDUCE_MOMENTS) {
        partial.squares = from->squares;
        partial.count = from->count;
    }
    return partial;
}

/* Neighbouring threads take neighbouring lanes, so that memory is read in its order, all of it at once. */
static __device__ inline cc__partial join_lane(cc__reduce_kind kind, const cc__partial *partials, int32_t lane,
                                               int32_t length)
{
    const cc__partial nothing = {cc__reduce_nothing(kind), 0.0, 0.0};
    cc__partial next[CC__REDUCE_ROUNDS];
    cc__partial all = nothing;
    CC__UNROLL
    for (int32_t round = 0; round < CC__REDUCE_ROUNDS; round++) {
        const int32_t n = lane + round * CC__REDUCE_LANES;
        next[round] = load_partial(kind, &partials[n < length ? n : 0]);
    }
    /* What joins nothing stays the same bits. */
    CC__UNROLL
    for (int32_t round = 0; round < CC__REDUCE_ROUNDS; round++) {
        const bool has_next = lane + round * CC__REDUCE_LANES < length;
        all = cc__reduce_join_next(kind, all, has_next ? next[round] : nothing, round);
    }
    return all;
}

static __device__ inline cc__partial join_parts(cc__reduce_kind kind, const cc__partial *parts)
{
    cc__partial lanes[CC__REDUCE_PARTS];
    for (int32_t n = 0; n < CC__REDUCE_PARTS; n++)
        lanes[n] = load_part(&parts[n]);
    return join_pack(kind, lanes, 0);
}

/* What all parts come to, for the first thread of the block. */
static __device__ inline cc__partial join_pieces(cc__reduce_kind kind, const cc__partial *parts, int64_t pieces,
                                                 cc__partial *shared)
{
    cc__partial quarters[CC__REDUCE_PARTS];
    if (pieces == 1)
        return join_parts(kind, parts);
    for (int32_t part = 0; part < CC__REDUCE_PARTS; part++) {
        cc__partial all = {cc__reduce_nothing(kind), 0.0, 0.0};
        for (int64_t n = part * CC__BLOCK_THREADS + (int32_t)threadIdx.x; n < pieces; n += CC__REDUCE_LANES)
            all = cc__reduce_join(kind, all, join_parts(kind, parts + n * CC__REDUCE_PARTS));
        quarters[part] = join_threads(kind, shared, all, 0);
        __syncthreads();
    }
    return join_pack(kind, quarters, 0);
}

static __device__ inline bool arrives_last(uint32_t *arrived, int64_t blocks)
{
#ifdef __CUDACC__
    __threadfence();
    const uint32_t before = atomicAdd(arrived, 1);
    __threadfence();
#else
    const uint32_t before = __atomic_fetch_add(arrived, 1, __ATOMIC_ACQ_REL);
#endif
    return before == blocks - 1;
}

static __device__ inline void join_results(const cc__join_plan *plan, cc__reduce_kind kind, cc__partial *shared,
                                           bool *is_last)
{
    const int32_t thread = (int32_t)threadIdx.x;
    for (int64_t block = blockIdx.x; block < plan->result_count * plan->blocks; block += gridDim.x) {
        const int64_t result = block / plan->blocks;
        const int64_t number = block % plan->blocks;
        const int64_t first = number / CC__REDUCE_PARTS * CC__REDUCE_PIECE;
        const int64_t left = plan->count - first;
        const int32_t length = (int32_t)(left < CC__REDUCE_PIECE ? left : CC__REDUCE_PIECE);
        const int32_t lane = (int32_t)(number % CC__REDUCE_PARTS) * CC__BLOCK_THREADS + thread;
        cc__partial *partials = plan->partials + result * plan->between;
        cc__partial *parts = partials + plan->count;
        cc__partial all = join_lane(kind, partials + first, lane, length);
        all = join_threads(kind, shared, all, 0);
        if (thread == 0) {
            *is_last = plan->blocks == 1;
            if (plan->blocks > 1) {
                parts[number] = all;
                *is_last = arrives_last(cc__join_arrived(partials, plan->count), plan->blocks);
            }
        }
        __syncthreads();
        if (*is_last) {
            if (plan->blocks > 1)
                all = join_pieces(kind, parts, plan->blocks / CC__REDUCE_PARTS, shared);
            if (thread == 0)
                plan->results[result] = cc__reduce_result(plan->end, all, plan->component_count);
        }
        __syncthreads();
    }
}

/* Registers for all that a thread loads. */
#define DEFINE_JOIN_KERNEL(KIND)                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 1)                                                     \
        join_##KIND(const __grid_constant__ cc__join_plan plan)                                                        \
    {                                                                                                                  \
        __shared__ cc__partial shared[CC__BLOCK_THREADS];                                                              \
        __shared__ bool is_last;                                                                                       \
        join_results(&plan, CC__REDUCE_##KIND, shared, &is_last);                                                      \
    }

DEFINE_JOIN_KERNEL(SUM)
DEFINE_JOIN_KERNEL(MINIMUM)
DEFINE_JOIN_KERNEL(MAXIMUM)
DEFINE_JOIN_KERNEL(MOMENTS)
#undef DEFINE_JOIN_KERNEL

static inline const void *cc__join_kernel(cc__reduce_kind kind)
{
    switch (kind) {
    case CC__REDUCE_MINIMUM:
        return (const void *)join_MINIMUM;
    case CC__REDUCE_MAXIMUM:
        return (const void *)join_MAXIMUM;
    case CC__REDUCE_MOMENTS:
        return (const void *)join_MOMENTS;
    case CC__REDUCE_SUM:
    case CC__REDUCE_SQUARES:
    case CC__REDUCE_DOT:
        break;
    }
    return (const void *)join_SUM;
}

/* `count` components belong to each result. */
static inline cc__join_plan cc__join_plan_of(const cc__reduce *work, int64_t count)
{
    cc__join_plan plan;
    memset(&plan, 0, sizeof plan);
    plan.partials = work->scratch;
    plan.count = cc__reduce_pieces(count);
    plan.between = cc__reduce_scratch(count);
    plan.blocks = plan.count <= CC__BLOCK_THREADS ? 1 : CC__REDUCE_PARTS * cc__reduce_pieces(plan.count);
    plan.result_count = work->result_count;
    plan.results = work->results;
    plan.component_count = count;
    plan.end = work->end;
    return plan;
}

#endif
