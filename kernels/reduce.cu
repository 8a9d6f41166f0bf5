/* Reductions on the GPU, in the order that src/base/reduce.c has on the CPU. */
#include "kernels/launch.h"
#include "kernels/reduce_join.h"
#include "kernels/reduce_lanes.h"
#include "kernels/reduce_small.h"

/* A block has few pieces, or one: all multiprocessors then end at about the same time, however many fit. */
#define BLOCKS_PER_MULTIPROCESSOR 128
/* Where a piece is done so soon, one each up to 2 GiB. */
#define SMALL_BLOCKS_PER_MULTIPROCESSOR 1024

typedef struct cc__reduce_plan {
    cc__packed_sequence from;
    cc__partial *partials;
    uint32_t *arrived; /* set to 0 for those that join the partials */
    double *result;    /* of the only piece; else NULL */
    cc__reduce_end end;
    cc__small_plan small;
} cc__reduce_plan;

static __device__ inline void give_piece(const cc__reduce_plan *plan, cc__reduce_kind kind, int64_t piece,
                                         cc__partial all)
{
    if (plan->result == NULL) {
        plan->partials[piece] = all;
        if (piece == 0)
            *plan->arrived = 0;
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

/* The partials of one result; of one piece everything. */
static cc_status launch_pieces(const cc__reduce *work, const cc__launcher *launcher, bool is_all)
{
    cc__reduce_plan plan;
    memset(&plan, 0, sizeof plan);
    cc__packed_sequence_plan(&plan.from, work->sources, work->source_count, work->components, work->size);
    plan.partials = work->scratch;
    plan.arrived = cc__join_arrived(work->scratch, plan.from.pieces);
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
    return (is_all ? launcher->launch : cc__launch_aside)(
        launcher, kernel, cc__sequence_blocks(plan.from.pieces, per_multiprocessor, launcher->multiprocessor_count),
        CC__BLOCK_THREADS, arguments);
}

cc_status cc__launch_reduce(const void *argument, const cc__launcher *launcher)
{
    const cc__reduce *work = (const cc__reduce *)argument;
    const int64_t count = cc__reduce_count(work);
    const bool is_all = work->result_count == 1 && count <= CC__REDUCE_PIECE;
    cc_status status = CC_OK;
    for (int32_t n = 0; n < work->result_count && status == CC_OK; n++) {
        const cc__reduce part = cc__reduce_part(work, n);
        status = launch_pieces(&part, launcher, is_all);
    }
    if (status != CC_OK || is_all)
        return status;
    cc__join_plan plan = cc__join_plan_of(work, count);
    void *arguments[] = {&plan};
    return launcher->launch(
        launcher, cc__join_kernel(work->kind),
        cc__sequence_blocks(plan.result_count * plan.blocks, BLOCKS_PER_MULTIPROCESSOR, launcher->multiprocessor_count),
        CC__BLOCK_THREADS, arguments);
}
