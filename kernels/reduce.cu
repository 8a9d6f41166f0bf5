/* Reductions and histograms on the GPU, in the order that src/base/reduce.c has on the CPU. */
#include "base/reduce.h"
#include "kernels/launch.h"
#include "kernels/tiles.h"

#include <string.h>

#define PACK 4 /* lanes of a thread, side by side: CC__REDUCE_LANES / CC__BLOCK_THREADS */
#define ROUNDS CC__REDUCE_ROUNDS
/* Rounds whose components are loaded before the first is taken: as many bytes for narrow types as for wide ones. */
#define NARROW_ROUNDS 4
#define SINGLE_ROUNDS (2 * NARROW_ROUNDS) /* of one source, into registers that a second one would need */
#define WIDE_ROUNDS 2
#define JOIN_ROUNDS 4
/* A block has few pieces, or one: all multiprocessors then end at about the same time, however many fit. */
#define BLOCKS_PER_MULTIPROCESSOR 128
/* Each adds its bins to those of all in the end, so there are no more than fit at once. */
#define COUNTING_BLOCKS 4
/* Bins that a block counts in its own memory. */
#define OWN_BINS 4096

typedef struct cc__reduce_plan {
    cc__reduced sources[2];
    cc__sequence sequence;
    int64_t pieces;
    cc__partial *partials;
    int32_t is_packed[2]; /* packs lie side by side, aligned, and no row ends in one */
    int32_t is_short;     /* components have numbers of 31 bits */
    cc__divisor length;
    cc__divisor size[CC_MAX_DIMENSION];
} cc__reduce_plan;

typedef struct cc__join_plan {
    const cc__partial *partials;
    int64_t count;
    int64_t pieces;
    cc__partial *next; /* of each piece one; NULL: each piece is what is left of a result, which is made of it */
    double *results;
    int64_t between; /* partials, from those of a result to those of the next */
    cc__reduce_kind kind;
    cc__reduce_end end;
    int64_t component_count;
} cc__join_plan;

typedef struct cc__histogram_plan {
    cc__reduce_plan reduce; /* its source and sequence */
    double lower;
    double upper;
    double scale;
    int64_t bins;
    uint64_t *counts;  /* scratch */
    uint64_t *results; /* what is left of them in the end */
} cc__histogram_plan;

static __device__ inline void add_32(uint32_t *to, uint32_t value)
{
#ifdef __CUDACC__
    atomicAdd(to, value);
#else
    __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
#endif
}

static __device__ inline void add_64(uint64_t *to, uint64_t value)
{
#ifdef __CUDACC__
    atomicAdd((unsigned long long *)to, (unsigned long long)value);
#else
    __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
#endif
}

/* Where a component is, when there are several rows. */
static CC__NOT_INLINE __device__ const unsigned char *find_in_rows(const cc__reduce_plan *plan, int32_t n,
                                                                   int64_t number)
{
    const cc__sequence *sequence = &plan->sequence;
    const unsigned char *data = plan->sources[n].data;
    if (plan->is_short != 0) {
        int32_t row = cc__divide((int32_t)number, &plan->length);
        data += ((int32_t)number - row * plan->length.value) * sequence->step[n];
        CC__UNROLL
        for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
            if (i >= sequence->axes)
                break;
            int32_t next = i + 1 < sequence->axes ? cc__divide(row, &plan->size[i]) : 0;
            data += (row - next * plan->size[i].value) * sequence->stride[n][i];
            row = next;
        }
        return data;
    }
    int64_t row = number / sequence->length;
    data += (number - row * sequence->length) * sequence->step[n];
    CC__UNROLL
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        if (i >= sequence->axes)
            break;
        int64_t next = i + 1 < sequence->axes ? row / sequence->size[i] : 0;
        data += (row - next * sequence->size[i]) * sequence->stride[n][i];
        row = next;
    }
    return data;
}

static __device__ inline const unsigned char *find(const cc__reduce_plan *plan, int32_t n, int64_t number)
{
    if (plan->sequence.axes == 0)
        return plan->sources[n].data + number * plan->sequence.step[n];
    return find_in_rows(plan, n, number);
}

/* A pack of components that lie side by side as bits, narrow types in HOLDERs of 32 bits. */
#define DEFINE_READ(BITS, ALIGNMENT, HOLDER)                                                                           \
    typedef struct __align__(ALIGNMENT) packed_##BITS                                                                  \
    {                                                                                                                  \
        uint##BITS##_t value[PACK];                                                                                    \
    }                                                                                                                  \
    packed_##BITS;                                                                                                     \
                                                                                                                       \
    static __device__ inline void read_pack_##BITS(const cc__reduce_plan *plan, int32_t n, int64_t first,              \
                                                   HOLDER out[PACK])                                                   \
    {                                                                                                                  \
        packed_##BITS whole = *(const packed_##BITS *)find(plan, n, first);                                            \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < PACK; i++)                                                                             \
            out[i] = whole.value[i];                                                                                   \
    }

DEFINE_READ(8, 4, uint32_t)
DEFINE_READ(16, 8, uint32_t)
DEFINE_READ(32, 16, uint32_t)
DEFINE_READ(64, 16, uint64_t)

CC__SHARED int32_t type_bytes(cc_pixel_type type)
{
    switch ((int32_t)type) {
#define BYTES(NAME, HOLDER, BITS)                                                                                      \
    case CC_PIXEL_##NAME:                                                                                              \
        return (BITS) / 8;
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(BYTES)
        CC__FOR_EACH_TYPE_OF_32_BITS(BYTES)
#undef BYTES
    }
    return 8;
}

/* The compiler cannot know that there are no other types. */
#define CLEAR(ROUNDS_AT_ONCE)                                                                                          \
    CC__UNROLL                                                                                                         \
    for (int32_t r = 0; r < (ROUNDS_AT_ONCE); r++) {                                                                   \
        CC__UNROLL                                                                                                     \
        for (int32_t i = 0; i < PACK; i++)                                                                             \
            out[r][i] = 0.0;                                                                                           \
    }

/* The packs of several rounds from the one that begins with component `first`. */
static __device__ inline void read_narrow(const cc__reduce_plan *plan, int32_t n, int64_t first,
                                          uint32_t bits[NARROW_ROUNDS][PACK])
{
#define READ(BITS)                                                                                                     \
    CC__UNROLL                                                                                                         \
    for (int32_t r = 0; r < NARROW_ROUNDS; r++)                                                                        \
        read_pack_##BITS(plan, n, first + r * CC__REDUCE_LANES, bits[r]);
    switch (type_bytes(plan->sources[n].type)) {
    case 1:
        READ(8)
        break;
    case 2:
        READ(16)
        break;
    default:
        READ(32)
        break;
    }
#undef READ
}

static __device__ inline void convert_narrow(cc_pixel_type type, const uint32_t bits[NARROW_ROUNDS][PACK],
                                             double out[NARROW_ROUNDS][PACK])
{
    CLEAR(NARROW_ROUNDS)
#define CONVERT(NAME, HOLDER, BITS)                                                                                    \
    case CC_PIXEL_##NAME:                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t r = 0; r < NARROW_ROUNDS; r++) {                                                                  \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < PACK; i++)                                                                         \
                out[r][i] = cc__load_##NAME((HOLDER)bits[r][i]);                                                       \
        }                                                                                                              \
        break;
    switch ((int32_t)type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(CONVERT)
        CC__FOR_EACH_TYPE_OF_32_BITS(CONVERT)
    }
#undef CONVERT
}

static __device__ inline void read_wide(const cc__reduce_plan *plan, int32_t n, int64_t first,
                                        uint64_t bits[WIDE_ROUNDS][PACK])
{
    CC__UNROLL
    for (int32_t r = 0; r < WIDE_ROUNDS; r++)
        read_pack_64(plan, n, first + r * CC__REDUCE_LANES, bits[r]);
}

static __device__ inline void convert_wide(cc_pixel_type type, const uint64_t bits[WIDE_ROUNDS][PACK],
                                           double out[WIDE_ROUNDS][PACK])
{
    CLEAR(WIDE_ROUNDS)
#define CONVERT(NAME, HOLDER, BITS)                                                                                    \
    case CC_PIXEL_##NAME:                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t r = 0; r < WIDE_ROUNDS; r++) {                                                                    \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < PACK; i++)                                                                         \
                out[r][i] = cc__load_##NAME((HOLDER)bits[r][i]);                                                       \
        }                                                                                                              \
        break;
    switch ((int32_t)type) {
        CC__FOR_EACH_TYPE_OF_64_BITS(CONVERT)
    }
#undef CONVERT
}

static __device__ inline void take(cc__reduce_kind kind, cc__reduce_lane *lane, bool is_first, double x, double y)
{
    switch (kind) {
    case CC__REDUCE_SUM:
        lane->value = lane->value + x;
        break;
    case CC__REDUCE_MINIMUM:
        lane->value = cc__minimum(lane->value, x);
        break;
    case CC__REDUCE_MAXIMUM:
        lane->value = cc__maximum(lane->value, x);
        break;
    case CC__REDUCE_SQUARES:
        lane->value = lane->value + x * x;
        break;
    case CC__REDUCE_DOT:
        lane->value = lane->value + x * y;
        break;
    case CC__REDUCE_MOMENTS: {
        if (is_first)
            lane->first = x;
        double distance = x - lane->first;
        lane->value = lane->value + distance;
        lane->squares = lane->squares + distance * distance;
        break;
    }
    }
}

#ifdef __CUDACC__
#define WARP_THREADS 32

/* Joins what `count` threads of a warp have, in neighbouring pairs; the first has it all in the end. */
static __device__ inline cc__partial join_warp(cc__reduce_kind kind, cc__partial own, int32_t count)
{
    for (int32_t apart = 1; apart < count; apart *= 2) {
        cc__partial next;
        next.value = __shfl_down_sync(UINT32_MAX, own.value, apart);
        next.squares = kind == CC__REDUCE_MOMENTS ? __shfl_down_sync(UINT32_MAX, own.squares, apart) : 0.0;
        next.count = kind == CC__REDUCE_MOMENTS ? __shfl_down_sync(UINT32_MAX, own.count, apart) : 0.0;
        own = cc__reduce_join(kind, own, next);
    }
    return own;
}

/* Joins what the threads of a block have, in neighbouring pairs; thread 0 has it all in the end. */
static __device__ inline void join_threads(cc__reduce_kind kind, cc__partial *shared, cc__partial own)
{
    const int32_t thread = (int32_t)threadIdx.x;
    own = join_warp(kind, own, WARP_THREADS);
    if (thread % WARP_THREADS == 0)
        shared[thread / WARP_THREADS] = own;
    __syncthreads();
    if (thread < WARP_THREADS) {
        own = join_warp(kind, shared[thread % (CC__BLOCK_THREADS / WARP_THREADS)], CC__BLOCK_THREADS / WARP_THREADS);
        if (thread == 0)
            shared[0] = own;
    }
}
#else
/* The same pairs without a warp. */
static __device__ inline void join_threads(cc__reduce_kind kind, cc__partial *shared, cc__partial own)
{
    int32_t thread = (int32_t)threadIdx.x;
    shared[thread] = own;
    __syncthreads();
    for (int32_t apart = 1; apart < CC__BLOCK_THREADS; apart *= 2) {
        if (thread % (2 * apart) == 0)
            shared[thread] = cc__reduce_join(kind, shared[thread], shared[thread + apart]);
        __syncthreads();
    }
}
#endif

static __device__ inline cc__partial join_pack(cc__reduce_kind kind, const cc__partial lanes[PACK])
{
    return cc__reduce_join(kind, cc__reduce_join(kind, lanes[0], lanes[1]), cc__reduce_join(kind, lanes[2], lanes[3]));
}

/* One component of each lane for all rounds of a whole piece; what comes next is loaded while the last is taken. */
#define TAKE_ROUNDS(COUNT, SIZE, BITS)                                                                                 \
    for (int32_t round = 0; round < ROUNDS; round += COUNT) {                                                          \
        uint##BITS##_t now_x[COUNT][PACK];                                                                             \
        uint##BITS##_t now_y[COUNT][PACK];                                                                             \
        double x[COUNT][PACK];                                                                                         \
        double y[COUNT][PACK];                                                                                         \
        read_##SIZE(plan, 0, first + round * CC__REDUCE_LANES, now_x);                                                 \
        if (kind == CC__REDUCE_DOT)                                                                                    \
            read_##SIZE(plan, 1, first + round * CC__REDUCE_LANES, now_y);                                             \
        convert_##SIZE(plan->sources[0].type, now_x, x);                                                               \
        if (kind == CC__REDUCE_DOT)                                                                                    \
            convert_##SIZE(plan->sources[1].type, now_y, y);                                                           \
        CC__UNROLL                                                                                                     \
        for (int32_t r = 0; r < COUNT; r++) {                                                                          \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < PACK; i++)                                                                         \
                take(kind, &lanes[i], round + r == 0, x[r][i], kind == CC__REDUCE_DOT ? y[r][i] : 0.0);                \
        }                                                                                                              \
    }

/* The same for one source of narrow components, each converted when it is taken. */
static __device__ inline void take_narrow(const cc__reduce_plan *plan, cc__reduce_kind kind, int64_t first,
                                          cc__reduce_lane lanes[PACK])
{
    for (int32_t round = 0; round < ROUNDS; round += SINGLE_ROUNDS) {
        uint32_t bits[SINGLE_ROUNDS][PACK];
        read_narrow(plan, 0, first + round * CC__REDUCE_LANES, bits);
        read_narrow(plan, 0, first + (round + NARROW_ROUNDS) * CC__REDUCE_LANES, bits + NARROW_ROUNDS);
        switch ((int32_t)plan->sources[0].type) {
#define TAKE(NAME, HOLDER, BITS)                                                                                       \
    case CC_PIXEL_##NAME:                                                                                              \
        CC__UNROLL                                                                                                     \
        for (int32_t r = 0; r < SINGLE_ROUNDS; r++) {                                                                  \
            CC__UNROLL                                                                                                 \
            for (int32_t i = 0; i < PACK; i++)                                                                         \
                take(kind, &lanes[i], round + r == 0, cc__load_##NAME((HOLDER)bits[r][i]), 0.0);                       \
        }                                                                                                              \
        break;
            CC__FOR_EACH_TYPE_UP_TO_16_BITS(TAKE)
            CC__FOR_EACH_TYPE_OF_32_BITS(TAKE)
#undef TAKE
        }
    }
}

/* One component of any type, anywhere. */
static CC__NOT_INLINE __device__ double load_one(const cc__reduce_plan *plan, int32_t n, int64_t number)
{
    const unsigned char *from = find(plan, n, number);
    switch ((int32_t)plan->sources[n].type) {
#define LOAD(NAME, HOLDER, BITS)                                                                                       \
    case CC_PIXEL_##NAME:                                                                                              \
        return cc__load_##NAME(*(const HOLDER *)from);
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(LOAD)
        CC__FOR_EACH_TYPE_OF_32_BITS(LOAD)
        CC__FOR_EACH_TYPE_OF_64_BITS(LOAD)
#undef LOAD
    }
    return 0.0;
}

/* The last piece, and pixels that do not lie in packs. */
static __device__ inline void take_one_by_one(const cc__reduce_plan *plan, cc__reduce_kind kind, int64_t first,
                                              cc__reduce_lane lanes[PACK])
{
    for (int32_t round = 0; round < ROUNDS; round++) {
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++) {
            int64_t number = first + round * CC__REDUCE_LANES + i;
            if (number < plan->sequence.count)
                take(kind, &lanes[i], round == 0, load_one(plan, 0, number),
                     kind == CC__REDUCE_DOT ? load_one(plan, 1, number) : 0.0);
        }
    }
}

/* is_narrow, a constant: what the first source is. Each has a kernel, since wide components need more registers. */
static __device__ inline void reduce_pieces(const cc__reduce_plan *plan, cc__reduce_kind kind, bool is_narrow,
                                            cc__partial *shared)
{
    int64_t count = plan->sequence.count;
    bool is_packed = plan->is_packed[0] != 0;
    if (kind == CC__REDUCE_DOT)
        is_packed = is_packed && plan->is_packed[1] != 0 && (type_bytes(plan->sources[1].type) <= 4) == is_narrow;
    for (int64_t piece = blockIdx.x; piece < plan->pieces; piece += gridDim.x) {
        int64_t first = piece * CC__REDUCE_PIECE + PACK * (int32_t)threadIdx.x;
        cc__reduce_lane lanes[PACK];
        cc__partial partials[PACK];
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++) {
            lanes[i].value = cc__reduce_nothing(kind);
            lanes[i].squares = 0.0;
            lanes[i].first = 0.0;
        }
        if (!is_packed || (piece + 1) * CC__REDUCE_PIECE > count) {
            take_one_by_one(plan, kind, first, lanes);
        } else if (is_narrow && kind != CC__REDUCE_DOT) {
            take_narrow(plan, kind, first, lanes);
        } else if (is_narrow) {
            TAKE_ROUNDS(NARROW_ROUNDS, narrow, 32)
        } else {
            TAKE_ROUNDS(WIDE_ROUNDS, wide, 64)
        }
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++) {
            int64_t left = count - first - i;
            int64_t taken = left > 0 ? (left - 1) / CC__REDUCE_LANES + 1 : 0;
            partials[i] = cc__reduce_lane_end(kind, lanes[i], (int32_t)(taken < ROUNDS ? taken : ROUNDS));
        }
        join_threads(kind, shared, join_pack(kind, partials));
        if (threadIdx.x == 0)
            plan->partials[piece] = shared[0];
        __syncthreads();
    }
}

#define DEFINE_KERNEL(KIND, WIDTH, IS_NARROW, BLOCKS)                                                                  \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS, BLOCKS)                                                \
        reduce_##WIDTH##_##KIND(const __grid_constant__ cc__reduce_plan plan)                                          \
    {                                                                                                                  \
        __shared__ cc__partial shared[CC__BLOCK_THREADS];                                                              \
        reduce_pieces(&plan, CC__REDUCE_##KIND, IS_NARROW, shared);                                                    \
    }

/* As many blocks on a multiprocessor as keep what they load in registers. */
DEFINE_KERNEL(SUM, narrow, true, 3)
DEFINE_KERNEL(MINIMUM, narrow, true, 3)
DEFINE_KERNEL(MAXIMUM, narrow, true, 3)
DEFINE_KERNEL(SQUARES, narrow, true, 3)
DEFINE_KERNEL(DOT, narrow, true, 2)
DEFINE_KERNEL(MOMENTS, narrow, true, 3)
DEFINE_KERNEL(SUM, wide, false, 4)
DEFINE_KERNEL(MINIMUM, wide, false, 4)
DEFINE_KERNEL(MAXIMUM, wide, false, 4)
DEFINE_KERNEL(SQUARES, wide, false, 4)
DEFINE_KERNEL(DOT, wide, false, 2)
DEFINE_KERNEL(MOMENTS, wide, false, 3)

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) join_partials(const __grid_constant__ cc__join_plan plan)
{
    __shared__ cc__partial shared[CC__BLOCK_THREADS];
    const bool is_last = plan.next == NULL;
    for (int64_t piece = blockIdx.x; piece < plan.pieces; piece += gridDim.x) {
        const cc__partial *partials = plan.partials + (is_last ? piece * plan.between : 0);
        int64_t first = (is_last ? 0 : piece * CC__REDUCE_PIECE) + PACK * (int32_t)threadIdx.x;
        cc__partial lanes[PACK];
        CC__UNROLL
        for (int32_t i = 0; i < PACK; i++) {
            lanes[i].value = cc__reduce_nothing(plan.kind);
            lanes[i].squares = 0.0;
            lanes[i].count = 0.0;
        }
        /* One block may have all of them: what it waits for is loaded for several rounds at once. */
        for (int32_t round = 0; round < ROUNDS; round += JOIN_ROUNDS) {
            cc__partial next[JOIN_ROUNDS][PACK];
            CC__UNROLL
            for (int32_t r = 0; r < JOIN_ROUNDS; r++) {
                CC__UNROLL
                for (int32_t i = 0; i < PACK; i++) {
                    int64_t n = first + (round + r) * CC__REDUCE_LANES + i;
                    next[r][i] = partials[n < plan.count ? n : 0];
                }
            }
            CC__UNROLL
            for (int32_t r = 0; r < JOIN_ROUNDS; r++) {
                CC__UNROLL
                for (int32_t i = 0; i < PACK; i++) {
                    if (first + (round + r) * CC__REDUCE_LANES + i < plan.count)
                        lanes[i] = cc__reduce_join(plan.kind, lanes[i], next[r][i]);
                }
            }
        }
        join_threads(plan.kind, shared, join_pack(plan.kind, lanes));
        if (threadIdx.x == 0) {
            if (is_last)
                plan.results[piece] = cc__reduce_result(plan.end, shared[0], plan.component_count);
            else
                plan.next[piece] = shared[0];
        }
        __syncthreads();
    }
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS)
    clear_counts(const __grid_constant__ cc__histogram_plan plan)
{
    const int64_t step = (int64_t)gridDim.x * CC__BLOCK_THREADS;
    for (int64_t bin = (int64_t)blockIdx.x * CC__BLOCK_THREADS + (int32_t)threadIdx.x; bin < plan.bins; bin += step)
        plan.counts[bin] = 0;
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) give_counts(const __grid_constant__ cc__histogram_plan plan)
{
    const int64_t step = (int64_t)gridDim.x * CC__BLOCK_THREADS;
    for (int64_t bin = (int64_t)blockIdx.x * CC__BLOCK_THREADS + (int32_t)threadIdx.x; bin < plan.bins; bin += step)
        plan.results[bin] = plan.counts[bin];
}

static __device__ inline void count_run(const cc__histogram_plan *plan, uint32_t *own, int64_t bin, uint32_t length)
{
    if (bin < 0 || length == 0)
        return;
    if (plan->bins <= OWN_BINS)
        add_32(&own[bin], length);
    else
        add_64(&plan->counts[bin], length);
}

/* Equal bins that follow each other, as in a background, are counted at once. */
typedef struct bin_run {
    int64_t bin; /* -1: none */
    uint32_t length;
} bin_run;

static __device__ inline void count_value(const cc__histogram_plan *plan, uint32_t *own, double x, bin_run *run)
{
    int64_t bin = cc__histogram_bin(x, plan->lower, plan->upper, plan->scale, plan->bins);
    if (bin != run->bin) {
        count_run(plan, own, run->bin, run->length);
        run->bin = bin;
        run->length = 0;
    }
    run->length++;
}

/* A whole piece of packs of narrow components, into bins of the block's own. */
static __device__ inline void count_packs(const cc__histogram_plan *plan, uint32_t *own, int64_t first)
{
    const int32_t bins = (int32_t)plan->bins;
    int32_t last = -1;
    uint32_t length = 0;
    for (int32_t round = 0; round < ROUNDS; round += NARROW_ROUNDS) {
        uint32_t bits[NARROW_ROUNDS][PACK];
        double x[NARROW_ROUNDS][PACK];
        read_narrow(&plan->reduce, 0, first + round * CC__REDUCE_LANES, bits);
        convert_narrow(plan->reduce.sources[0].type, bits, x);
        CC__UNROLL
        for (int32_t r = 0; r < NARROW_ROUNDS; r++) {
            CC__UNROLL
            for (int32_t i = 0; i < PACK; i++) {
                int32_t bin = cc__histogram_short_bin(x[r][i], plan->lower, plan->upper, plan->scale, bins);
                if (bin != last) {
                    if (last >= 0)
                        add_32(&own[last], length);
                    last = bin;
                    length = 0;
                }
                length++;
            }
        }
    }
    if (last >= 0)
        add_32(&own[last], length);
}

static __device__ inline void count_one_by_one(const cc__histogram_plan *plan, uint32_t *own, int64_t first,
                                               bin_run *run)
{
    for (int32_t round = 0; round < ROUNDS; round++) {
        for (int32_t i = 0; i < PACK; i++) {
            int64_t number = first + round * CC__REDUCE_LANES + i;
            if (number < plan->reduce.sequence.count)
                count_value(plan, own, load_one(&plan->reduce, 0, number), run);
        }
    }
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS, COUNTING_BLOCKS)
    count_values(const __grid_constant__ cc__histogram_plan plan)
{
    __shared__ uint32_t own[OWN_BINS];
    int32_t thread = (int32_t)threadIdx.x;
    bool has_own = plan.bins <= OWN_BINS;
    for (int64_t bin = thread; has_own && bin < plan.bins; bin += CC__BLOCK_THREADS)
        own[bin] = 0;
    __syncthreads();
    const bool is_packed = has_own && plan.reduce.is_packed[0] != 0 && type_bytes(plan.reduce.sources[0].type) <= 4;
    bin_run run = {-1, 0};
    for (int64_t piece = blockIdx.x; piece < plan.reduce.pieces; piece += gridDim.x) {
        int64_t first = piece * CC__REDUCE_PIECE + PACK * thread;
        if (is_packed && (piece + 1) * CC__REDUCE_PIECE <= plan.reduce.sequence.count)
            count_packs(&plan, own, first);
        else
            count_one_by_one(&plan, own, first, &run);
    }
    count_run(&plan, own, run.bin, run.length);
    __syncthreads();
    for (int64_t bin = thread; has_own && bin < plan.bins; bin += CC__BLOCK_THREADS) {
        if (own[bin] != 0)
            add_64(&plan.counts[bin], own[bin]);
    }
    __syncthreads();
}

static bool lies_in_packs(const cc__sequence *sequence, const cc__reduced *source, int32_t n)
{
    const int64_t size_bytes = (int64_t)cc_pixel_type_size_bytes(source->type);
    const int64_t alignment = PACK * size_bytes < 16 ? PACK * size_bytes : 16;
    if (sequence->step[n] != size_bytes || (uintptr_t)source->data % (uintptr_t)alignment != 0)
        return false;
    for (int32_t i = 0; i < sequence->axes; i++)
        if (sequence->stride[n][i] % alignment != 0)
            return false;
    return sequence->axes == 0 || sequence->length % PACK == 0;
}

static void plan_sequence(cc__reduce_plan *plan, const cc__reduced *sources, int32_t source_count, int32_t components,
                          const int64_t size[CC_MAX_DIMENSION])
{
    memset(plan, 0, sizeof *plan);
    cc__sequence_plan(sources, source_count, components, size, &plan->sequence);
    plan->pieces = cc__reduce_pieces(plan->sequence.count);
    for (int32_t n = 0; n < source_count; n++) {
        plan->sources[n] = sources[n];
        plan->is_packed[n] = lies_in_packs(&plan->sequence, &sources[n], n);
    }
    plan->is_short = plan->sequence.count <= INT32_MAX;
    if (plan->is_short) {
        plan->length = cc__divisor_of((int32_t)plan->sequence.length);
        for (int32_t i = 0; i < CC_MAX_DIMENSION; i++)
            plan->size[i] = cc__divisor_of((int32_t)plan->sequence.size[i]);
    }
}

static uint32_t blocks_for(int64_t pieces, int32_t per_multiprocessor, const cc__launcher *launcher)
{
    const int64_t most = (int64_t)launcher->multiprocessor_count * per_multiprocessor;
    return (uint32_t)(pieces < most ? pieces : most);
}

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

/* All of one result but the last level, which is left in the plan. */
static cc_status launch_levels(const cc__reduce *work, const cc__launcher *launcher, cc__join_plan *join)
{
    cc__reduce_plan plan;
    plan_sequence(&plan, work->sources, work->source_count, work->components, work->size);
    plan.partials = work->scratch;
    void *arguments[] = {&plan};
    cc_status status =
        cc__launch_aside(launcher, reduce_kernel(work->kind, type_bytes(work->sources[0].type) <= 4),
                         blocks_for(plan.pieces, BLOCKS_PER_MULTIPROCESSOR, launcher), CC__BLOCK_THREADS, arguments);
    memset(join, 0, sizeof *join);
    join->partials = work->scratch;
    join->count = plan.pieces;
    join->kind = work->kind;
    join->end = work->end;
    join->component_count = plan.sequence.count;
    while (status == CC_OK && join->count > CC__REDUCE_PIECE) {
        void *join_arguments[] = {join};
        join->pieces = cc__reduce_pieces(join->count);
        join->next = (cc__partial *)join->partials + join->count;
        status = cc__launch_aside(launcher, (const void *)join_partials,
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
    cc_status status = CC_OK;
    cc__join_plan join;
    for (int32_t n = 0; n < work->result_count && status == CC_OK; n++) {
        const cc__reduce part = cc__reduce_part(work, n);
        status = launch_levels(&part, launcher, &join);
        if (n == 0)
            partials = join.partials;
    }
    if (status != CC_OK)
        return status;
    join.partials = partials;
    join.between = cc__reduce_scratch(join.component_count);
    join.next = NULL;
    join.pieces = work->result_count;
    join.results = work->results;
    void *arguments[] = {&join};
    return launcher->launch(launcher, (const void *)join_partials,
                            blocks_for(join.pieces, BLOCKS_PER_MULTIPROCESSOR, launcher), CC__BLOCK_THREADS, arguments);
}

/* Counted in scratch memory, so that only the last launch writes what the bins are from then on. */
cc_status cc__launch_histogram(const void *argument, const cc__launcher *launcher)
{
    const cc__histogram *work = (const cc__histogram *)argument;
    const uint32_t bin_blocks = blocks_for(cc__reduce_pieces(work->bins), BLOCKS_PER_MULTIPROCESSOR, launcher);
    cc__histogram_plan plan;
    memset(&plan, 0, sizeof plan);
    plan_sequence(&plan.reduce, &work->source, 1, work->components, work->size);
    plan.lower = work->lower;
    plan.upper = work->upper;
    plan.scale = (double)work->bins / (work->upper - work->lower);
    plan.bins = work->bins;
    plan.counts = work->scratch;
    plan.results = work->counts;
    void *arguments[] = {&plan};
    cc_status status = cc__launch_aside(launcher, (const void *)clear_counts, bin_blocks, CC__BLOCK_THREADS, arguments);
    if (status == CC_OK)
        status =
            cc__launch_aside(launcher, (const void *)count_values,
                             blocks_for(plan.reduce.pieces, COUNTING_BLOCKS, launcher), CC__BLOCK_THREADS, arguments);
    if (status == CC_OK)
        status = launcher->launch(launcher, (const void *)give_counts, bin_blocks, CC__BLOCK_THREADS, arguments);
    return status;
}
