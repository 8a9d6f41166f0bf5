/* Histograms on the GPU. Counts are whole numbers, so the order does not matter. */
#include "kernels/histogram_line.h"
#include "kernels/launch.h"
#include "kernels/sequence.h"

/*
 * Rounds of packs that a thread takes at once, in a batch of a block. What no longer fits into registers is written to
 * memory and read again in each batch, which costs a fifth.
 */
#define ROUNDS_16 4
#define ROUNDS_32 4
#define ROUNDS_64 2
/* Of integers of up to 16 bits so many times 16 bytes. */
#define WIDE_LOADS 8
#define WIDE_BATCH ((int64_t)CC__BLOCK_THREADS * 16 * WIDE_LOADS)
/* So many fit on a multiprocessor at once. */
#define COUNTING_BLOCKS 4
/* The line is worth finding where each bin has so many components. */
#define LINE_LOG2 16
/*
 * A block counts in rows of its own, in several columns: with 32 of them the threads of a warp never meet, neither at
 * an address nor in a bank of the memory. Of two rows more than bins one is for values that rounding puts beyond the
 * last bin, one for those that have none.
 */
#define MORE_ROWS 2
#define COLUMNS_LOG2 5
#define OWN_COUNTERS ((256 + MORE_ROWS) << COLUMNS_LOG2)
/* So few components are counted by one block, which needs no counts but its own. */
#define FEW (2 * (int64_t)CC__REDUCE_LANES * ROUNDS_32)
/* A block counts at most so many components, for 32 bits to hold them. */
#define MOST_OF_A_BLOCK ((int64_t)1 << 31)

typedef struct cc__histogram_plan {
    cc__packed_sequence from;
    double lower;
    double upper;
    double scale;
    int64_t bins;
    uint64_t *counts;  /* scratch */
    uint64_t *results; /* what is left of them in the end */
    int64_t batch;     /* components that a block counts at once */
    int64_t batches;   /* that are whole and lie in packs */
    int64_t head;      /* components before the first of these; they and those after the last are taken one by one */
    int32_t has_rows;  /* else there are too many bins */
    int32_t is_alone;  /* one block, which gives the results */
    int32_t columns_log2;
    uint32_t row_of_none; /* rows in bytes from the first */
    uint32_t row_mask;    /* without the bytes inside of a row */
    double row_unit;      /* of this size float64 counts in bytes of a row that is 1 */
    cc__histogram_line line;
    int32_t reserved;
    int32_t line_shift; /* makes bytes of a row, too, and what is inside of a row */
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

static __device__ inline void clear_rows(uint32_t *own, int32_t counters)
{
    for (int32_t n = (int32_t)threadIdx.x; n < counters; n += CC__BLOCK_THREADS)
        own[n] = 0;
    __syncthreads();
}

/* What the columns of a row have together. Threads of a warp, which have neighbouring rows, begin in different ones. */
static __device__ inline uint32_t sum_row(const uint32_t *own, int32_t row, int32_t columns_log2)
{
    const int32_t last = (1 << columns_log2) - 1;
    uint32_t sum = 0;
    for (int32_t n = 0; n <= last; n++)
        sum += own[(row << columns_log2) + ((row + n) & last)];
    return sum;
}

static __device__ inline void add_one(uint32_t *from, uint32_t bytes)
{
    add_32((uint32_t *)((unsigned char *)from + bytes), 1);
}

/* As cc__histogram_bin(), without branches: all threads of a warp count. */
static __device__ inline void count_in_row(const cc__histogram_plan *plan, uint32_t *column, double x)
{
    const bool has_bin = x >= plan->lower && x <= plan->upper;
#ifdef __CUDA_ARCH__
    /* Rounded down to whole bytes, which are the lower half of the bits: cheaper than a conversion. */
    const uint32_t row =
        (uint32_t)__double2loint(__dadd_rd((x - plan->lower) * plan->scale, plan->row_unit)) & plan->row_mask;
#else
    const uint32_t row = has_bin ? (uint32_t)((x - plan->lower) * plan->scale) << (plan->columns_log2 + 2) : 0;
#endif
    add_one(column, has_bin ? row : plan->row_of_none);
}

#define COUNT(NAME, HOLDER, BITS)                                                                                      \
    case CC_PIXEL_##NAME: {                                                                                            \
        cc__pack_##BITS packs[ROUNDS_##BITS];                                                                          \
        cc__read_##BITS(&plan->from, 0, first, ROUNDS_##BITS, packs);                                                  \
        CC__UNROLL                                                                                                     \
        for (int32_t n = 0; n < ROUNDS_##BITS * CC__PACK; n++)                                                         \
            count_in_row(plan, column, cc__load_##NAME((HOLDER)packs[n / CC__PACK].value[n % CC__PACK]));              \
        break;                                                                                                         \
    }

/* Types of 8 bits have a kernel of their own. */
static __device__ inline void count_batch(const cc__histogram_plan *plan, uint32_t *column, int64_t first)
{
    switch ((int32_t)plan->from.sources[0].type) {
        COUNT(UINT16, uint16_t, 16)
        COUNT(INT16, int16_t, 16)
        COUNT(FLOAT16, uint16_t, 16)
        COUNT(BFLOAT16, uint16_t, 16)
        CC__FOR_EACH_TYPE_OF_32_BITS(COUNT)
        CC__FOR_EACH_TYPE_OF_64_BITS(COUNT)
    }
}

static int64_t batch_of(cc_pixel_type type)
{
    switch (cc__bytes_of_real((int32_t)type)) {
    case 1:
        return WIDE_BATCH;
    case 2:
        return CC__REDUCE_LANES * ROUNDS_16;
    case 4:
        return CC__REDUCE_LANES * ROUNDS_32;
    }
    return CC__REDUCE_LANES * ROUNDS_64;
}

static __device__ inline void count_single(const cc__histogram_plan *plan, uint32_t *column, int64_t number)
{
    const double x = cc__read_one(&plan->from, 0, number);
    if (plan->has_rows != 0) {
        count_in_row(plan, column, x);
        return;
    }
    const int64_t bin = cc__histogram_bin(x, plan->lower, plan->upper, plan->scale, plan->bins);
    if (bin >= 0)
        add_64(&plan->counts[bin], 1);
}

/* What a block has counted in the end; all its threads are done with it. */
static __device__ inline void give_rows(const cc__histogram_plan *plan, const uint32_t *own)
{
    const int32_t bins = plan->has_rows != 0 ? (int32_t)plan->bins : -1;
    for (int32_t row = (int32_t)threadIdx.x; row <= bins; row += CC__BLOCK_THREADS) {
        uint32_t sum = sum_row(own, row, plan->columns_log2);
        if (plan->is_alone != 0) {
            if (row == bins - 1)
                sum += sum_row(own, bins, plan->columns_log2);
            if (row < bins)
                plan->results[row] = sum;
        } else if (sum != 0) {
            add_64(&plan->counts[row < bins ? row : bins - 1], sum);
        }
    }
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS, COUNTING_BLOCKS)
    count_values(const __grid_constant__ cc__histogram_plan plan)
{
    __shared__ uint32_t own[OWN_COUNTERS];
    const int32_t thread = (int32_t)threadIdx.x;
    uint32_t *column = own + (thread & ((1 << plan.columns_log2) - 1));
    const int64_t batched = plan.batches * plan.batch;
    const int64_t singles = plan.from.sequence.count - batched;
    clear_rows(own, plan.has_rows != 0 ? (int32_t)(plan.bins + MORE_ROWS) << plan.columns_log2 : 0);
    for (int64_t batch = blockIdx.x; batch < plan.batches; batch += gridDim.x)
        count_batch(&plan, column, batch * plan.batch + CC__PACK * thread);
    for (int64_t n = (int64_t)blockIdx.x * CC__BLOCK_THREADS + thread; n < singles;
         n += (int64_t)gridDim.x * CC__BLOCK_THREADS)
        count_single(&plan, column, n + batched);
    __syncthreads();
    give_rows(&plan, own);
    __syncthreads();
}

typedef struct __align__(16) wide_load
{
    uint32_t word[4];
}
wide_load;

/* What a thread takes of a batch of one row, after the head. */
static __device__ inline void load_batch(const cc__histogram_plan *plan, int64_t batch, wide_load out[WIDE_LOADS])
{
    const unsigned char *data = plan->from.sources[0].data + plan->head * plan->from.sequence.step[0];
    const wide_load *from = (const wide_load *)(data + batch * WIDE_BATCH) + threadIdx.x;
    CC__UNROLL
    for (int32_t n = 0; n < WIDE_LOADS; n++)
        out[n] = from[n * CC__BLOCK_THREADS];
}

/* Of integers of 16 bits the bins lie on a line. has_all: none is outside of it, which need not be asked then. */
static __device__ inline void count_on_line(const cc__histogram_plan *plan, bool has_all, uint32_t *own)
{
    const int32_t thread = (int32_t)threadIdx.x;
    const uint32_t column = (uint32_t)sizeof *own * (thread & ((1 << plan->columns_log2) - 1));
    const int64_t batched = plan->batches * plan->batch;
    const int64_t singles = plan->from.sequence.count - batched;
    clear_rows(own, (int32_t)(plan->bins + MORE_ROWS) << plan->columns_log2);
    for (int64_t batch = blockIdx.x; batch < plan->batches; batch += gridDim.x) {
        wide_load next[WIDE_LOADS];
        load_batch(plan, batch, next);
        CC__UNROLL
        for (int32_t n = 0; n < 8 * WIDE_LOADS; n++) {
            const uint32_t word = next[n / 8].word[n / 2 % 4];
            const uint32_t place = (n % 2 == 0 ? word << 16 : word & 0xffff0000) - plan->line.first;
            const uint32_t row = cc__line_value(&plan->line, place) >> plan->line_shift;
            add_one(own, ((has_all || place <= plan->line.span ? row : plan->row_of_none) & plan->row_mask) | column);
        }
    }
    for (int64_t n = (int64_t)blockIdx.x * CC__BLOCK_THREADS + thread; n < singles;
         n += (int64_t)gridDim.x * CC__BLOCK_THREADS)
        count_single(plan, own + column / sizeof *own, n < plan->head ? n : n + batched);
    __syncthreads();
    give_rows(plan, own);
    __syncthreads();
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS, COUNTING_BLOCKS)
    count_some_on_line(const __grid_constant__ cc__histogram_plan plan)
{
    __shared__ uint32_t own[OWN_COUNTERS];
    count_on_line(&plan, false, own);
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS, COUNTING_BLOCKS)
    count_all_on_line(const __grid_constant__ cc__histogram_plan plan)
{
    __shared__ uint32_t own[OWN_COUNTERS];
    count_on_line(&plan, true, own);
}

static __device__ inline double value_of(cc_pixel_type type, uint8_t byte)
{
    return type == CC_PIXEL_BOOL   ? cc__load_BOOL(byte)
           : type == CC_PIXEL_INT8 ? cc__load_INT8((int8_t)byte)
                                   : cc__load_UINT8(byte);
}

/* One shift brings a byte to the bits of its row. */
static __device__ inline uint32_t row_of_byte(uint32_t word, int32_t byte)
{
    const int32_t left = COLUMNS_LOG2 + 2 - 8 * byte;
    return (left >= 0 ? word << left : word >> -left) & 0xffu << (COLUMNS_LOG2 + 2);
}

/* Of a type of 8 bits each of the 256 values has a row, and only these are put into bins. */
static __global__ void __launch_bounds__(CC__BLOCK_THREADS, COUNTING_BLOCKS)
    count_bytes(const __grid_constant__ cc__histogram_plan plan)
{
    __shared__ uint32_t own[OWN_COUNTERS];
    const int32_t thread = (int32_t)threadIdx.x;
    const uint32_t column = (uint32_t)sizeof *own * (thread & ((1 << plan.columns_log2) - 1));
    const int64_t batched = plan.batches * WIDE_BATCH;
    const int64_t singles = plan.from.sequence.count - batched;
    clear_rows(own, 256 << COLUMNS_LOG2);
    for (int64_t batch = blockIdx.x; batch < plan.batches; batch += gridDim.x) {
        wide_load next[WIDE_LOADS];
        load_batch(&plan, batch, next);
        CC__UNROLL
        for (int32_t n = 0; n < 16 * WIDE_LOADS; n++)
            add_one(own, row_of_byte(next[n / 16].word[n / 4 % 4], n % 4) | column);
    }
    for (int64_t n = (int64_t)blockIdx.x * CC__BLOCK_THREADS + thread; n < singles;
         n += (int64_t)gridDim.x * CC__BLOCK_THREADS)
        add_one(own, column | row_of_byte(*cc__sequence_find(&plan.from, 0, n < plan.head ? n : n + batched), 0));
    __syncthreads();
    const uint32_t sum = sum_row(own, thread, COLUMNS_LOG2);
    const double x = value_of(plan.from.sources[0].type, (uint8_t)thread);
    const int64_t bin = cc__histogram_bin(x, plan.lower, plan.upper, plan.scale, plan.bins);
    __syncthreads();
    if (plan.has_rows == 0) {
        if (bin >= 0 && sum != 0)
            add_64(&plan.counts[bin], sum);
        return;
    }
    /* Few bins have many values, and all blocks add to them. */
    clear_rows(own, (int32_t)plan.bins);
    if (bin >= 0)
        add_32(&own[bin], sum);
    __syncthreads();
    for (int32_t n = thread; n < (int32_t)plan.bins; n += CC__BLOCK_THREADS)
        if (own[n] != 0)
            add_64(&plan.counts[n], own[n]);
    __syncthreads();
}

static void plan_rows(cc__histogram_plan *plan)
{
    const int64_t rows = plan->bins < OWN_COUNTERS ? plan->bins + MORE_ROWS : OWN_COUNTERS + 1;
    plan->has_rows = rows <= OWN_COUNTERS;
    if (!plan->has_rows)
        return;
    while (plan->columns_log2 < COLUMNS_LOG2 && rows << (plan->columns_log2 + 1) <= OWN_COUNTERS)
        plan->columns_log2++;
    const uint32_t row_bytes = (uint32_t)sizeof(uint32_t) << plan->columns_log2;
    plan->row_of_none = (uint32_t)(rows - 1) * row_bytes;
    plan->row_mask = ~(row_bytes - 1);
    plan->row_unit = 0x1p52 / row_bytes;
}

static bool has_line(const cc__histogram *work, cc__histogram_plan *plan)
{
    if (!plan->has_rows || plan->from.sequence.count >> LINE_LOG2 < plan->bins ||
        !cc__line_of(work->source.type, plan->lower, plan->upper, plan->scale, plan->bins, &plan->line))
        return false;
    plan->line_shift = plan->line.shift - plan->columns_log2 - 2;
    return true;
}

/* Counted in scratch memory, so that only the last launch writes the output. */
cc_status cc__launch_histogram(const void *argument, const cc__launcher *launcher)
{
    const cc__histogram *work = (const cc__histogram *)argument;
    cc__histogram_plan plan;
    memset(&plan, 0, sizeof plan);
    cc__packed_sequence_plan(&plan.from, &work->source, 1, work->components, work->size);
    plan.lower = work->lower;
    plan.upper = work->upper;
    plan.scale = (double)work->bins / (work->upper - work->lower);
    plan.bins = work->bins;
    plan.counts = work->scratch;
    plan.results = work->counts;
    plan_rows(&plan);
    const int64_t count = plan.from.sequence.count;
    const int64_t size_bytes = cc__bytes_of_real((int32_t)work->source.type);
    const bool is_row = plan.from.sequence.axes == 0 && plan.from.sequence.step[0] == size_bytes;
    const void *kernel = (const void *)count_values;
    plan.is_alone = plan.has_rows != 0 && count <= FEW;
    plan.batch = batch_of(work->source.type);
    plan.batches = plan.has_rows && plan.from.is_packed[0] ? count / plan.batch : 0;
    if (plan.is_alone == 0 && (size_bytes == 1 || (is_row && has_line(work, &plan)))) {
        kernel = size_bytes == 1                     ? (const void *)count_bytes
                 : plan.line.span == CC__LINE_OF_ALL ? (const void *)count_all_on_line
                                                     : (const void *)count_some_on_line;
        plan.columns_log2 = size_bytes == 1 ? COLUMNS_LOG2 : plan.columns_log2;
        plan.batch = WIDE_BATCH / size_bytes;
        plan.head = (int64_t)(-(uintptr_t)work->source.data % 16) / size_bytes;
        plan.batches = is_row && count > plan.head ? (count - plan.head) / plan.batch : 0;
    }
    void *arguments[] = {&plan};
    if (plan.is_alone != 0)
        return launcher->launch(launcher, (const void *)count_values, 1, CC__BLOCK_THREADS, arguments);
    /* As many blocks as fit at once, since each adds its rows to those of all in the end. */
    const int64_t least = (count - 1) / MOST_OF_A_BLOCK + 1;
    int64_t blocks = cc__sequence_blocks((count - 1) / plan.batch + 1, COUNTING_BLOCKS, launcher->multiprocessor_count);
    blocks = blocks > least ? blocks : least;
    const uint32_t bin_blocks = (uint32_t)cc__sequence_blocks((work->bins - 1) / CC__BLOCK_THREADS + 1, COUNTING_BLOCKS,
                                                              launcher->multiprocessor_count);
    cc_status status = cc__launch_aside(launcher, (const void *)clear_counts, bin_blocks, CC__BLOCK_THREADS, arguments);
    if (status == CC_OK)
        status = cc__launch_aside(launcher, kernel, (uint32_t)blocks, CC__BLOCK_THREADS, arguments);
    if (status == CC_OK)
        status = launcher->launch(launcher, (const void *)give_counts, bin_blocks, CC__BLOCK_THREADS, arguments);
    return status;
}
