/* Rows moved as they are, turned round or continued past their ends, 16 bytes of the destination at a time. */
#include "kernels/byte_strips.h"
#include "kernels/launch.h"

/* The most of a thread. */
#define PIECES 4

static __device__ inline void move_strips(const cc__strips_plan *plan, bool has_border, int32_t unit_bytes)
{
    const int32_t count = 16 / unit_bytes;
    const int32_t threads = plan->threads.value;
    const int32_t of_thread = cc__strips_pieces(unit_bytes);
    int32_t block = (int32_t)blockIdx.x;
    int32_t down = cc__divide(block, &plan->tiles);
    int32_t along = block - down * plan->tiles.value;
    int32_t row_of_block = cc__divide((int32_t)threadIdx.x, &plan->threads);
    int32_t row = down * plan->rows_of_block + row_of_block;
    if (row_of_block >= plan->rows_of_block || row >= plan->rows)
        return;
    int32_t thread = (int32_t)threadIdx.x - row_of_block * threads;
    row_strip strip;
    int64_t to = 0;
    int64_t from = 0;
    bool is_there = find_strip(plan, row, &to, &from);
    strip.to = plan->to + to;
    strip.from = plan->from + from;
    strip.length = plan->length;
    strip.there = is_there ? plan->length : 0;
    strip.step = plan->from_step;
    strip.along = plan->along;
    strip.value = load_unit(plan->value, unit_bytes);
    int32_t skew = ((plan->misaligned + (int32_t)to) & 15) / unit_bytes;
    int32_t first = (along * of_thread * threads + thread) * count - skew;

    cc__copy_unit pieces[PIECES];
    CC__UNROLL
    for (int32_t i = 0; i < of_thread; i++)
        pieces[i] = load_strip_piece(&strip, first + i * threads * count, has_border, unit_bytes);
    CC__UNROLL
    for (int32_t i = 0; i < of_thread; i++) {
        int32_t begin = first + i * threads * count;
        store_strip_piece(strip.to + (int64_t)begin * unit_bytes, &pieces[i], begin, strip.length, unit_bytes);
    }
}

#define DEFINE_STRIPS(BYTES)                                                                                           \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        move_strips_##BYTES(const __grid_constant__ cc__strips_plan plan)                                              \
    {                                                                                                                  \
        move_strips(&plan, false, BYTES);                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        move_bordered_##BYTES(const __grid_constant__ cc__strips_plan plan)                                            \
    {                                                                                                                  \
        move_strips(&plan, true, BYTES);                                                                               \
    }

DEFINE_STRIPS(1)
DEFINE_STRIPS(2)
DEFINE_STRIPS(4)
DEFINE_STRIPS(8)
DEFINE_STRIPS(16)

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) move_bytes_1(const __grid_constant__ cc__strips_plan plan)
{
    move_bytes(&plan, 1);
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS) move_bytes_2(const __grid_constant__ cc__strips_plan plan)
{
    move_bytes(&plan, 2);
}

static const void *strips_kernel(const cc__strips_plan *plan)
{
    const bool has_border = plan->has_border != 0;
    if (plan->all_pieces > 0)
        return plan->unit_bytes == 1 ? (const void *)move_bytes_1 : (const void *)move_bytes_2;
    switch (plan->unit_bytes) {
    case 16:
        return has_border ? (const void *)move_bordered_16 : (const void *)move_strips_16;
    case 8:
        return has_border ? (const void *)move_bordered_8 : (const void *)move_strips_8;
    case 4:
        return has_border ? (const void *)move_bordered_4 : (const void *)move_strips_4;
    case 2:
        return has_border ? (const void *)move_bordered_2 : (const void *)move_strips_2;
    default:
        return has_border ? (const void *)move_bordered_1 : (const void *)move_strips_1;
    }
}

cc_status cc__launch_strips(const cc__rearrange *work, const cc__launcher *launcher, bool *out_done)
{
    cc__strips_plan plan;
    *out_done = cc__strips_plan_make(work, &plan);
    if (!*out_done)
        return CC_OK;
    void *arguments[] = {&plan};
    return launcher->launch(launcher, strips_kernel(&plan), (uint32_t)plan.blocks, CC__BLOCK_THREADS, arguments);
}

/* What a kernel for one box is worth: less is soon done by the one for many. */
#define BOX_BYTES ((int64_t)1 << 20)

cc_status cc__launch_copy_box(const cc__copy *copy, const cc__launcher *launcher, bool *out_done)
{
    int64_t bytes = copy->pixel_bytes;
    cc__rearrange work;
    *out_done = false;
    if (copy->pixel_bytes > INT32_MAX)
        return CC_OK;
    memset(&work, 0, sizeof work);
    work.to = copy->destination.data;
    work.from = copy->source.data;
    work.to_type = CC_PIXEL_UINT8;
    work.from_type = CC_PIXEL_UINT8;
    work.components = (int32_t)copy->pixel_bytes;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        cc__rearrange_axis *axis = &work.axes[i];
        axis->size = copy->size[i];
        axis->from_size = copy->size[i];
        axis->to_stride = copy->destination.stride[i];
        axis->from_stride = copy->source.stride[i];
        axis->border = CC_BORDER_REPLICATE;
        bytes *= copy->size[i];
        if (axis->size > 1 && axis->to_stride < 0)
            return CC_OK;
    }
    if (bytes < BOX_BYTES)
        return CC_OK;
    cc__rearrange_normalize(&work);
    return cc__launch_strips(&work, launcher, out_done);
}
