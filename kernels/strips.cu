/* Rows moved as they are, turned round or continued past their ends, 16 bytes of the destination at a time. */
#include "kernels/copy_unit.h"
#include "kernels/launch.h"
#include "kernels/strips_plan.h"

#define PIECES CC__STRIPS_PIECES

/* Where a row of both begins. False when it is the border's value. */
static __device__ inline bool find_strip(const cc__strips_plan *plan, int32_t row, unsigned char **out_to,
                                         const unsigned char **out_from)
{
    bool is_there = true;
    CC__UNROLL
    for (int32_t i = 0; i < CC_MAX_DIMENSION - 1; i++) {
        if (i >= plan->axes)
            break;
        int32_t next = i + 1 < plan->axes ? cc__divide(row, &plan->size[i]) : 0;
        int32_t at = row - next * plan->size[i].value;
        int32_t found = cc__strips_find(&plan->across[i], at - plan->across[i].before);
        *out_to += at * plan->stride[0][i];
        *out_from += found * plan->stride[1][i];
        is_there = is_there && found >= 0;
        row = next;
    }
    return is_there;
}

static __device__ inline cc__copy_unit load_strip_piece(const cc__strips_plan *plan, const unsigned char *from,
                                                        bool is_there, int32_t first, int32_t unit_bytes)
{
    const int32_t count = 16 / unit_bytes;
    cc__copy_unit piece = {{0, 0}};
    CC__UNROLL
    for (int32_t i = 0; i < count; i++) {
        int32_t found = cc__strips_find(&plan->along, first + i - plan->along.before);
        cc__copy_unit unit = load_unit(plan->value, unit_bytes);
        if (is_there && found >= 0 && (uint32_t)(first + i) < (uint32_t)plan->length)
            unit = load_unit(from + (int64_t)found * plan->from_step, unit_bytes);
        if (unit_bytes == 16)
            piece = unit;
        else
            piece.part[i * unit_bytes / 8] |= unit.part[0] << (i * unit_bytes % 8 * 8);
    }
    return piece;
}

static __device__ inline void store_strip_piece(unsigned char *to, const cc__copy_unit *piece, int32_t first,
                                                int32_t length, int32_t unit_bytes)
{
    const int32_t count = 16 / unit_bytes;
    if (first >= 0 && first + count <= length) {
        store_unit(to, *piece, 16);
        return;
    }
    CC__UNROLL
    for (int32_t i = 0; i < count; i++) {
        cc__copy_unit unit = *piece;
        if (unit_bytes < 16)
            unit.part[0] = piece->part[i * unit_bytes / 8] >> (i * unit_bytes % 8 * 8);
        if ((uint32_t)(first + i) < (uint32_t)length)
            store_unit(to + i * unit_bytes, unit, unit_bytes);
    }
}

static __device__ inline void move_strips(const cc__strips_plan *plan, int32_t unit_bytes)
{
    const int32_t count = 16 / unit_bytes;
    const int32_t threads = plan->threads.value;
    int32_t block = (int32_t)blockIdx.x;
    int32_t down = cc__divide(block, &plan->tiles);
    int32_t along = block - down * plan->tiles.value;
    int32_t row_of_block = cc__divide((int32_t)threadIdx.x, &plan->threads);
    int32_t row = down * plan->rows_of_block + row_of_block;
    if (row_of_block >= plan->rows_of_block || row >= plan->rows)
        return;
    int32_t thread = (int32_t)threadIdx.x - row_of_block * threads;
    unsigned char *to = plan->to;
    const unsigned char *from = plan->from;
    bool is_there = find_strip(plan, row, &to, &from);
    int32_t skew = (int32_t)((uintptr_t)to & 15) / unit_bytes;
    int32_t first = (along * PIECES * threads + thread) * count - skew;

    cc__copy_unit pieces[PIECES];
    CC__UNROLL
    for (int32_t i = 0; i < PIECES; i++)
        pieces[i] = load_strip_piece(plan, from, is_there, first + i * threads * count, unit_bytes);
    CC__UNROLL
    for (int32_t i = 0; i < PIECES; i++) {
        int32_t begin = first + i * threads * count;
        store_strip_piece(to + (int64_t)begin * unit_bytes, &pieces[i], begin, plan->length, unit_bytes);
    }
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS)
    move_strips_4(const __grid_constant__ cc__strips_plan plan)
{
    move_strips(&plan, 4);
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS)
    move_strips_8(const __grid_constant__ cc__strips_plan plan)
{
    move_strips(&plan, 8);
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS)
    move_strips_16(const __grid_constant__ cc__strips_plan plan)
{
    move_strips(&plan, 16);
}

cc_status cc__launch_strips(const cc__rearrange *work, const cc__launcher *launcher, bool *out_done)
{
    cc__strips_plan plan;
    *out_done = cc__strips_plan_make(work, &plan);
    if (!*out_done)
        return CC_OK;
    void *arguments[] = {&plan};
    const void *kernel = plan.unit_bytes == 16  ? (const void *)move_strips_16
                         : plan.unit_bytes == 8 ? (const void *)move_strips_8
                                                : (const void *)move_strips_4;
    return launcher->launch(launcher, kernel, (uint32_t)plan.blocks, CC__BLOCK_THREADS, arguments);
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
