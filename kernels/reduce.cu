/* Reductions on the GPU, in the order that src/base/reduce.c has on the CPU. */
#include "kernels/launch.h"
#include "kernels/reduce_lanes.h"
#include "kernels/reduce_small.h"

/* A block has few pieces, or one: all multiprocessors then end at about the same time, however many fit. */
#define BLOCKS_PER_MULTIPROCESSOR 128
/* Where a piece is done so soon, one each up to 2 GiB. */
#define SMALL_BLOCKS_PER_MULTIPROCESSOR 1024
#define WARP_THREADS 32
#define WARPS (CC__BLOCK_THREADS / WARP_THREADS)

typedef struct cc__reduce_plan {
    cc__packed_sequence from;
    cc__partial *partials;
    double *result; /* of the only piece; else NULL */
    cc__reduce_end end;
    cc__small_plan small;
} cc__reduce_plan;

typedef struct cc__join_plan {
    const cc__partial *partials;
    int64_t count;
    int64_t pieces;
    cc__partial *next; /* of each piece one; NULL: each piece is what is left of a result, which is made of it */
    double *results;
    int64_t between; /* partials, from those of a result to those of the next */
    cc__reduce_end end;
    int32_t reserved;
    int64_t component_count;
} cc__join_plan;

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

static __device__ inline void give_piece(const cc__reduce_plan *plan, cc__reduce_kind kind, int64_t piece,
                                         cc__partial all)
{
    if (plan->result == NULL) {
        plan->partials[piece] = all;
    } else {
        const cc__partial nothing = {cc__reduce_nothing(kind), 0.0, 0.0};
        *plan->result = cc__reduce_result(plan->end, cc__reduce_join(kind, nothing, all), plan->from.sequence.count);
    }
}

static __device__ inline void reduce_pieces(const cc__reduce_plan *plan, cc__reduce_kind kind, bool is_narrow,
                                            cc__partial *shared)
{
    const cc__packed_sequence *from = &plan->from;
    const int64_t count = from->sequence.count;
    const bool is_packed = from->is_packed[0] != 0 && (kind != CC__REDUCE_DOT || from->is_packed[1] != 0);
    const bool is_mixed = kind == CC__REDUCE_DOT && from->sources[0].type != from->sources[1].type;
    int32_t turn = 0;
    for (int64_t piece = blockIdx.x; piece < from->pieces; piece += gridDim.x) {
        const int64_t first = piece * CC__REDUCE_PIECE + CC__PACK * (int32_t)threadIdx.x;
        const bool is_whole = (piece + 1) * CC__REDUCE_PIECE <= count;
        cc__reduce_lane lanes[CC__PACK];
        cc__partial partials[CC__PACK];
        cc__partial all;
        CC__UNROLL
        for (int32_t i = 0; i < CC__PACK; i++) {
            lanes[i].value = cc__reduce_nothing(kind);
            lanes[i].squares = 0.0;
            lanes[i].first = 0.0;
        }
        if (!is_packed || !is_whole)
            cc__take_one_by_one(from, kind, first, lanes);
        else if (is_mixed)
            cc__take_mixed(from, first, lanes);
        else
            cc__take_packs(from, kind, is_narrow, first, lanes);
        if (is_whole) {
            CC__UNROLL
            for (int32_t i = 0; i < CC__PACK; i++)
                partials[i] = cc__reduce_lane_end(kind, lanes[i], CC__REDUCE_ROUNDS);
            all = join_threads(kind, shared + turn, join_pack(kind, partials, CC__REDUCE_ROUNDS),
                               CC__PACK * CC__REDUCE_ROUNDS);
        } else {
            for (int32_t i = 0; i < CC__PACK; i++) {
                const int64_t left = count - first - i;
                partials[i] =
                    cc__reduce_lane_end(kind, lanes[i], (int32_t)(left > 0 ? (left - 1) / CC__REDUCE_LANES + 1 : 0));
            }
            all = join_threads(kind, shared + turn, join_pack(kind, partials, 0), 0);
        }
        if (threadIdx.x == 0)
            give_piece(plan, kind, piece, all);
        /* The next piece's barrier is enough for the one after that. */
        turn = CC__BLOCK_THREADS - turn;
    }
}

#define DEFINE_KERNEL(KIND, WIDTH, IS_NARROW, BLOCKS)                                                                  \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS, BLOCKS)                                                \
        reduce_##WIDTH##_##KIND(const __grid_constant__ cc__reduce_plan plan)                                          \
    {                                                                                                                  \
        __shared__ cc__partial shared[2 * CC__BLOCK_THREADS];                                                          \
        reduce_pieces(&plan, CC__REDUCE_##KIND, IS_NARROW, shared);                                                    \
    }

/* As many blocks on a multiprocessor as keep what they load in registers. */
DEFINE_KERNEL(SUM, narrow, true, 2)
DEFINE_KERNEL(MINIMUM, narrow, true, 2)
DEFINE_KERNEL(MAXIMUM, narrow, true, 2)
DEFINE_KERNEL(SQUARES, narrow, true, 2)
DEFINE_KERNEL(DOT, narrow, true, 2)
DEFINE_KERNEL(MOMENTS, narrow, true, 2)
DEFINE_KERNEL(SUM, wide, false, 4)
DEFINE_KERNEL(MINIMUM, wide, false, 4)
DEFINE_KERNEL(MAXIMUM, wide, false, 4)
DEFINE_KERNEL(SQUARES, wide, false, 4)
DEFINE_KERNEL(DOT, wide, false, 2)
DEFINE_KERNEL(MOMENTS, wide, false, 3)

/* Few threads end a piece: each warp's, or on the CPU, where there are no warps, all. */
#ifdef __CUDACC__
#define ENDS WARPS
#else
#define ENDS CC__BLOCK_THREADS
#endif

static __device__ inline void reduce_small_pieces(const cc__reduce_plan *plan, cc__small_group group, int32_t bits,
                                                  bool is_row, cc__small *shared)
{
    const cc__packed_sequence *from = &plan->from;
    const int32_t thread = (int32_t)threadIdx.x;
    int32_t turn = 0;
    for (int64_t piece = blockIdx.x; piece < from->pieces; piece += gridDim.x) {
        const int64_t first = piece * CC__REDUCE_PIECE;
        const int64_t left = from->sequence.count - first;
        const int32_t length = (int32_t)(left < CC__REDUCE_PIECE ? left : CC__REDUCE_PIECE);
        cc__small own = cc__take_small(from, &plan->small, group, bits, is_row, first, length);
#ifdef __CUDACC__
        own = cc__join_small_warp(group, bits, own);
#endif
        if (thread % (CC__BLOCK_THREADS / ENDS) == 0)
            shared[turn + thread / (CC__BLOCK_THREADS / ENDS)] = own;
        __syncthreads();
        if (thread == 0) {
            CC__UNROLL
            for (int32_t n = 1; n < ENDS; n++)
                own = cc__join_small(group, own, shared[turn + n]);
            give_piece(plan, plan->small.kind, piece, cc__end_small(&plan->small, bits, length, own));
        }
        /* The next piece's barrier is enough for the one after that. */
        turn = ENDS - turn;
    }
}

#define DEFINE_SMALL_KERNEL(GROUP, BITS, LAYOUT, IS_ROW, BLOCKS)                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS, BLOCKS)                                                \
        reduce_##BITS##_##LAYOUT##_##GROUP(const __grid_constant__ cc__reduce_plan plan)                               \
    {                                                                                                                  \
        __shared__ cc__small shared[2 * ENDS];                                                                         \
        reduce_small_pieces(&plan, CC__SMALL_##GROUP, BITS, IS_ROW, shared);                                           \
    }
#define DEFINE_SMALL_KERNELS(GROUP, BLOCKS_8, BLOCKS_16)                                                               \
    DEFINE_SMALL_KERNEL(GROUP, 8, row, true, BLOCKS_8)                                                                 \
    DEFINE_SMALL_KERNEL(GROUP, 8, any, false, 3)                                                                       \
    DEFINE_SMALL_KERNEL(GROUP, 16, row, true, BLOCKS_16)                                                               \
    DEFINE_SMALL_KERNEL(GROUP, 16, any, false, 3)

DEFINE_SMALL_KERNELS(SUMS, 6, 6)
DEFINE_SMALL_KERNELS(PRODUCTS, 4, 4)
DEFINE_SMALL_KERNELS(EXTREMES, 6, 6)

static __device__ inline cc__partial load_partial(cc__reduce_kind kind, const cc__partial *from)
{
    cc__partial partial = {from->value, 0.0, 0.0};
    if (kind == CC__REDUCE_MOMENTS) {
        partial.squares = from->squares;
        partial.count = from->count;
    }
    return partial;
}

/* One block may have all: neighbouring threads take neighbouring lanes, so that memory is read in its order. */
static __device__ inline void join_pieces(const cc__join_plan *plan, cc__reduce_kind kind, cc__partial *lanes,
                                          cc__partial *shared)
{
    const bool is_last = plan->next == NULL;
    const int32_t thread = (int32_t)threadIdx.x;
    for (int64_t piece = blockIdx.x; piece < plan->pieces; piece += gridDim.x) {
        const cc__partial *partials = plan->partials + piece * (is_last ? plan->between : CC__REDUCE_PIECE);
        const int64_t left = plan->count - (is_last ? 0 : piece * CC__REDUCE_PIECE);
        const int32_t length = (int32_t)(left < CC__REDUCE_PIECE ? left : CC__REDUCE_PIECE);
        for (int32_t lane = thread; lane < CC__REDUCE_LANES; lane += CC__BLOCK_THREADS) {
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
            lanes[lane] = all;
        }
        __syncthreads();
        const cc__partial all = join_threads(kind, shared, join_pack(kind, lanes + CC__PACK * thread, 0), 0);
        if (thread == 0) {
            if (is_last)
                plan->results[piece] = cc__reduce_result(plan->end, all, plan->component_count);
            else
                plan->next[piece] = all;
        }
    }
}

#define DEFINE_JOIN_KERNEL(KIND)                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 1)                                                     \
        join_##KIND(const __grid_constant__ cc__join_plan plan)                                                        \
    {                                                                                                                  \
        __shared__ cc__partial lanes[CC__REDUCE_LANES];                                                                \
        __shared__ cc__partial shared[CC__BLOCK_THREADS];                                                              \
        join_pieces(&plan, CC__REDUCE_##KIND, lanes, shared);                                                          \
    }

DEFINE_JOIN_KERNEL(SUM)
DEFINE_JOIN_KERNEL(MINIMUM)
DEFINE_JOIN_KERNEL(MAXIMUM)
DEFINE_JOIN_KERNEL(MOMENTS)

static const void *reduce_kernel(cc__reduce_kind kind, bool is_narrow)
{
    switch (kind) {
    case CC__REDUCE_SUM:
        return is_narrow ? (const void *)reduce_narrow_SUM : (const void *)reduce_wide_SUM;
    case CC__REDUCE_MINIMUM:
        return is_narrow ? (const void *)reduce_narrow_MINIMUM : (const void *)reduce_wide_MINIMUM;
    case CC__REDUCE_MAXIMUM:
        return is_narrow ? (const void *)reduce_narrow_MAXIMUM : (const void *)reduce_wide_MAXIMUM;
    case CC__REDUCE_SQUARES:
        return is_narrow ? (const void *)reduce_narrow_SQUARES : (const void *)reduce_wide_SQUARES;
    case CC__REDUCE_DOT:
        return is_narrow ? (const void *)reduce_narrow_DOT : (const void *)reduce_wide_DOT;
    case CC__REDUCE_MOMENTS:
        return is_narrow ? (const void *)reduce_narrow_MOMENTS : (const void *)reduce_wide_MOMENTS;
    }
    return NULL;
}

#define CHOOSE_SMALL_KERNEL(GROUP)                                                                                     \
    return is_byte  ? is_row ? (const void *)reduce_8_row_##GROUP : (const void *)reduce_8_any_##GROUP                 \
           : is_row ? (const void *)reduce_16_row_##GROUP                                                              \
                    : (const void *)reduce_16_any_##GROUP;

static const void *small_kernel(cc__reduce_kind kind, bool is_byte, bool is_row)
{
    switch (kind) {
    case CC__REDUCE_MINIMUM:
    case CC__REDUCE_MAXIMUM:
        CHOOSE_SMALL_KERNEL(EXTREMES)
    case CC__REDUCE_DOT:
        CHOOSE_SMALL_KERNEL(PRODUCTS)
    case CC__REDUCE_SUM:
    case CC__REDUCE_SQUARES:
    case CC__REDUCE_MOMENTS:
        break;
    }
    CHOOSE_SMALL_KERNEL(SUMS)
}

/* Products of types with different sizes are left to the lanes, which give the same. */
static bool is_small(const cc__reduce *work)
{
    const cc_pixel_type types[2] = {work->sources[0].type, work->sources[work->source_count - 1].type};
    return cc__is_small_integer(types[0]) && cc__is_small_integer(types[1]) &&
           cc_pixel_type_size_bytes(types[0]) == cc_pixel_type_size_bytes(types[1]);
}

static const void *join_kernel(cc__reduce_kind kind)
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

static uint32_t blocks_for(int64_t pieces, int32_t per_multiprocessor, const cc__launcher *launcher)
{
    return cc__sequence_blocks(pieces, per_multiprocessor, launcher->multiprocessor_count);
}

static bool is_one_piece(const cc__reduce *work)
{
    return work->result_count == 1 && cc__reduce_count(work) <= CC__REDUCE_PIECE;
}

/* All of one result but the last level, which is left in the plan; of one piece everything. */
static cc_status launch_levels(const cc__reduce *work, const cc__launcher *launcher, bool is_all, cc__join_plan *join)
{
    cc__reduce_plan plan;
    cc__packed_sequence_plan(&plan.from, work->sources, work->source_count, work->components, work->size);
    plan.partials = work->scratch;
    plan.result = is_all ? work->results : NULL;
    plan.end = work->end;
    const int64_t size_bytes = cc__bytes_of_real((int32_t)work->sources[0].type);
    const void *kernel = reduce_kernel(work->kind, size_bytes <= 4);
    int32_t per_multiprocessor = BLOCKS_PER_MULTIPROCESSOR;
    if (is_small(work)) {
        per_multiprocessor = SMALL_BLOCKS_PER_MULTIPROCESSOR;
        plan.small = cc__small_plan_of(work, &plan.from);
        kernel = small_kernel(work->kind, size_bytes == 1, plan.small.is_row != 0);
    }
    void *arguments[] = {&plan};
    cc_status status = (is_all ? launcher->launch : cc__launch_aside)(
        launcher, kernel, blocks_for(plan.from.pieces, per_multiprocessor, launcher), CC__BLOCK_THREADS, arguments);
    join->partials = work->scratch;
    join->count = plan.from.pieces;
    join->end = work->end;
    join->component_count = plan.from.sequence.count;
    while (status == CC_OK && join->count > CC__REDUCE_PIECE) {
        void *join_arguments[] = {join};
        join->pieces = cc__reduce_pieces(join->count);
        join->next = (cc__partial *)join->partials + join->count;
        status = cc__launch_aside(launcher, join_kernel(work->kind),
                                  blocks_for(join->pieces, BLOCKS_PER_MULTIPROCESSOR, launcher), CC__BLOCK_THREADS,
                                  join_arguments);
        join->partials = join->next;
        join->count = join->pieces;
    }
    return status;
}

cc_status cc__launch_reduce(const void *argument, const cc__launcher *launcher)
{
    const cc__reduce *work = (const cc__reduce *)argument;
    const cc__partial *partials = NULL;
    const bool is_all = is_one_piece(work);
    cc_status status = CC_OK;
    cc__join_plan join;
    memset(&join, 0, sizeof join);
    for (int32_t n = 0; n < work->result_count && status == CC_OK; n++) {
        const cc__reduce part = cc__reduce_part(work, n);
        status = launch_levels(&part, launcher, is_all, &join);
        if (n == 0)
            partials = join.partials;
    }
    if (status != CC_OK || is_all)
        return status;
    join.partials = partials;
    join.between = cc__reduce_scratch(join.component_count);
    join.next = NULL;
    join.pieces = work->result_count;
    join.results = work->results;
    void *arguments[] = {&join};
    return launcher->launch(launcher, join_kernel(work->kind),
                            blocks_for(join.pieces, BLOCKS_PER_MULTIPROCESSOR, launcher), CC__BLOCK_THREADS, arguments);
}
