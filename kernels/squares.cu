/* Pixels in another order across rows, by squares in shared memory. */
#include "kernels/byte_squares.h"
#include "kernels/copy_unit.h"
#include "kernels/launch.h"
#include "kernels/rearrange_plan.h"

/* Puts a square into shared memory: a row for each pixel along the destination's rows. */
static __device__ inline void load_square(const cc__rearrange_plan *plan, int32_t unit_bytes, int32_t side,
                                          const unsigned char *from, int32_t width, int32_t height,
                                          unsigned char *square)
{
    const int64_t stride = plan->work.axes[0].from_stride;
    const int32_t lane = (int32_t)threadIdx.x % side;
    const int32_t first_row = (int32_t)threadIdx.x / side;
    const int32_t units = plan->of_pixel.value;
    if (units == 1) {
        cc__copy_unit held[CC__REARRANGE_MOST_PASSES] = {};
        CC__UNROLL
        for (int32_t pass = 0; pass < side * side / CC__BLOCK_THREADS; pass++) {
            int32_t pixel = first_row + pass * (CC__BLOCK_THREADS / side);
            if (pixel < width && lane < height)
                held[pass] = load_unit(from + pixel * stride + lane * unit_bytes, unit_bytes);
        }
        CC__UNROLL
        for (int32_t pass = 0; pass < side * side / CC__BLOCK_THREADS; pass++) {
            int32_t pixel = first_row + pass * (CC__BLOCK_THREADS / side);
            if (pixel < width && lane < height)
                store_unit(square + pixel * plan->pitch_bytes + lane * unit_bytes, held[pass], unit_bytes);
        }
        return;
    }
    for (int32_t pixel = first_row; pixel < width; pixel += CC__BLOCK_THREADS / side)
        for (int32_t unit = lane; unit < height * units; unit += side)
            store_unit(square + pixel * plan->pitch_bytes + unit * unit_bytes,
                       load_unit(from + pixel * stride + unit * unit_bytes, unit_bytes), unit_bytes);
}

/* And from there into the destination, where a row is one of the square's columns. */
static __device__ inline void store_square(const cc__rearrange_plan *plan, int32_t unit_bytes, int32_t side,
                                           unsigned char *to, int32_t width, int32_t height,
                                           const unsigned char *square)
{
    const int64_t stride = plan->work.axes[1].to_stride;
    const int32_t lane = (int32_t)threadIdx.x % side;
    const int32_t first_row = (int32_t)threadIdx.x / side;
    const int32_t units = plan->of_pixel.value;
    if (units == 1) {
        CC__UNROLL
        for (int32_t pass = 0; pass < side * side / CC__BLOCK_THREADS; pass++) {
            int32_t pixel = first_row + pass * (CC__BLOCK_THREADS / side);
            if (pixel < height && lane < width)
                store_unit(to + pixel * stride + lane * unit_bytes,
                           load_unit(square + lane * plan->pitch_bytes + pixel * unit_bytes, unit_bytes), unit_bytes);
        }
        return;
    }
    for (int32_t pixel = first_row; pixel < height; pixel += CC__BLOCK_THREADS / side)
        for (int32_t unit = lane; unit < width * units; unit += side) {
            int32_t column = cc__divide(unit, &plan->of_pixel);
            int32_t in_pixel = unit - column * units;
            store_unit(
                to + pixel * stride + unit * unit_bytes,
                load_unit(square + column * plan->pitch_bytes + (pixel * units + in_pixel) * unit_bytes, unit_bytes),
                unit_bytes);
        }
}

typedef struct square_place {
    const unsigned char *from;
    unsigned char *to;
    int32_t width;  /* along the destination's rows */
    int32_t height; /* along the source's */
} square_place;

static __device__ inline square_place find_square(const cc__rearrange_plan *plan, int64_t number, int32_t side)
{
    const cc__rearrange_axis *axes = plan->work.axes;
    square_place place;
    int32_t rest = cc__divide((int32_t)number, &plan->squares[0]);
    int64_t along = (int64_t)((int32_t)number - rest * plan->squares[0].value) * side;
    int32_t slice = cc__divide(rest, &plan->squares[1]);
    int64_t across = (int64_t)(rest - slice * plan->squares[1].value) * side;
    int32_t last = cc__divide(slice, &plan->tiles.size[0]);
    int64_t middle = slice - last * plan->tiles.size[0].value;
    place.from = plan->work.from + along * axes[0].from_stride + across * axes[1].from_stride +
                 middle * axes[2].from_stride + last * axes[3].from_stride;
    place.to = plan->work.to + along * axes[0].to_stride + across * axes[1].to_stride + middle * axes[2].to_stride +
               last * axes[3].to_stride;
    place.width = axes[0].size - along < side ? (int32_t)(axes[0].size - along) : side;
    place.height = axes[1].size - across < side ? (int32_t)(axes[1].size - across) : side;
    return place;
}

static __device__ inline void move_squares(const cc__rearrange_plan *plan, int32_t unit_bytes, int32_t side,
                                           unsigned char *square)
{
    for (int64_t number = blockIdx.x; number < plan->square_count; number += gridDim.x) {
        const square_place at = find_square(plan, number, side);
        load_square(plan, unit_bytes, side, at.from, at.width, at.height, square);
        __syncthreads();
        store_square(plan, unit_bytes, side, at.to, at.width, at.height, square);
        __syncthreads();
    }
}

#define DEFINE_SQUARES(BYTES)                                                                                          \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        rearrange_squares_##BYTES(const __grid_constant__ cc__rearrange_plan plan)                                     \
    {                                                                                                                  \
        __shared__ cc__copy_unit square[CC__REARRANGE_SQUARE_BYTES / 16];                                              \
        if (BYTES > 4 || plan.side == CC__REARRANGE_SIDE)                                                              \
            move_squares(&plan, BYTES, CC__REARRANGE_SIDE, (unsigned char *)square);                                   \
        else                                                                                                           \
            move_squares(&plan, BYTES, CC__REARRANGE_SMALL_SIDE, (unsigned char *)square);                             \
    }

DEFINE_SQUARES(1)
DEFINE_SQUARES(2)
DEFINE_SQUARES(4)
DEFINE_SQUARES(8)
DEFINE_SQUARES(16)

/*
 * Pixels of 4 bytes that both sides have 4 of at multiples of 16 bytes: a thread turns 4 x 4 of them in its registers,
 * so that all that is loaded and stored is 16 bytes.
 */
#define PACK 4
#define SIDE_PACKS (CC__REARRANGE_SMALL_SIDE / PACK)

typedef struct __align__(16) pack
{
    uint32_t value[PACK];
}
pack;

/* No two threads that have a turn at once then want the same banks, neither where packs are put nor where found. */
static __device__ inline pack *pack_at(pack *square, int32_t row, int32_t column)
{
    return &square[row * SIDE_PACKS + (column ^ (row / PACK & 7))];
}

static __device__ inline void load_packs(const unsigned char *from, int64_t stride, int32_t width, int32_t height,
                                         pack *square)
{
    const int32_t row = (int32_t)threadIdx.x / SIDE_PACKS, column = (int32_t)threadIdx.x % SIDE_PACKS;
    pack held[PACK];
    if (row * PACK >= width || column * PACK >= height)
        return;
    CC__UNROLL
    for (int32_t n = 0; n < PACK; n++)
        held[n] = *(const pack *)(from + (row * PACK + n) * stride + column * (int64_t)sizeof(pack));
    CC__UNROLL
    for (int32_t n = 0; n < PACK; n++) {
        const pack turned = {{held[0].value[n], held[1].value[n], held[2].value[n], held[3].value[n]}};
        *pack_at(square, column * PACK + n, row) = turned;
    }
}

static __device__ inline void store_packs(unsigned char *to, int64_t stride, int32_t width, int32_t height,
                                          pack *square)
{
    const int32_t first = (int32_t)threadIdx.x / SIDE_PACKS, column = (int32_t)threadIdx.x % SIDE_PACKS;
    pack held[PACK];
    CC__UNROLL
    for (int32_t n = 0; n < PACK; n++)
        held[n] = *pack_at(square, first + n * SIDE_PACKS, column);
    CC__UNROLL
    for (int32_t n = 0; n < PACK; n++) {
        const int32_t row = first + n * SIDE_PACKS;
        if (column * PACK < width && row < height)
            *(pack *)(to + row * stride + column * (int64_t)sizeof(pack)) = held[n];
    }
}

static __global__ void __launch_bounds__(CC__BLOCK_THREADS, 5)
    rearrange_squares_of_packs(const __grid_constant__ cc__rearrange_plan plan)
{
    __shared__ pack square[CC__REARRANGE_SMALL_SIDE * SIDE_PACKS];
    for (int64_t number = blockIdx.x; number < plan.square_count; number += gridDim.x) {
        const square_place at = find_square(&plan, number, CC__REARRANGE_SMALL_SIDE);
        load_packs(at.from, plan.work.axes[0].from_stride, at.width, at.height, square);
        __syncthreads();
        store_packs(at.to, plan.work.axes[1].to_stride, at.width, at.height, square);
        __syncthreads();
    }
}

#define DEFINE_BYTE_SQUARES(BYTES, GRAIN)                                                                              \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        rearrange_byte_squares_##BYTES##_##GRAIN(const __grid_constant__ cc__rearrange_plan plan)                      \
    {                                                                                                                  \
        const int32_t side = CC__REARRANGE_BYTE_SIDE / BYTES;                                                          \
        __shared__ byte_word square[CC__REARRANGE_BYTE_SIDE / BYTES * BYTE_ROW_WORDS];                                 \
        const square_place at = find_square(&plan, (int64_t)blockIdx.x, side);                                         \
        load_byte_square(at.from, plan.work.axes[0].from_stride, at.width, at.height, square, BYTES, GRAIN);           \
        __syncthreads();                                                                                               \
        store_byte_square(at.to, plan.work.axes[1].to_stride, at.width, at.height, square, BYTES, GRAIN);              \
    }

DEFINE_BYTE_SQUARES(1, 16)
DEFINE_BYTE_SQUARES(1, 4)
DEFINE_BYTE_SQUARES(2, 16)
DEFINE_BYTE_SQUARES(2, 4)

/* NULL where pixels are larger or words of both sides do not meet. */
static const void *byte_kernel_of(const cc__rearrange_plan *plan)
{
    const int32_t grain = cc__rearrange_square_grain(plan);
    if (plan->work.units != 1 || plan->work.unit_bytes > 2 || grain < 4)
        return NULL;
    if (plan->work.unit_bytes == 1)
        return grain == 16 ? (const void *)rearrange_byte_squares_1_16 : (const void *)rearrange_byte_squares_1_4;
    return grain == 16 ? (const void *)rearrange_byte_squares_2_16 : (const void *)rearrange_byte_squares_2_4;
}

static bool has_packs(const cc__rearrange_plan *plan)
{
    const cc__rearrange_axis *axes = plan->work.axes;
    const int64_t bytes = (int64_t)sizeof(pack);
    bool has = plan->work.units == 1 && plan->work.unit_bytes == 4 && (uintptr_t)plan->work.to % bytes == 0 &&
               (uintptr_t)plan->work.from % bytes == 0 && axes[0].size % PACK == 0 && axes[1].size % PACK == 0;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        has = has && (axis == 1 || axes[axis].from_stride % bytes == 0) &&
              (axis == 0 || axes[axis].to_stride % bytes == 0);
    return has;
}

static const void *kernel_of(const cc__rearrange_plan *plan)
{
    if (has_packs(plan))
        return (const void *)rearrange_squares_of_packs;
    switch (plan->work.unit_bytes) {
    case 16:
        return (const void *)rearrange_squares_16;
    case 8:
        return (const void *)rearrange_squares_8;
    case 4:
        return (const void *)rearrange_squares_4;
    case 2:
        return (const void *)rearrange_squares_2;
    default:
        return (const void *)rearrange_squares_1;
    }
}

cc_status cc__launch_squares(const cc__rearrange *work, const cc__launcher *launcher)
{
    cc__rearrange_plan plan;
    cc__rearrange_plan_squares(work, &plan);
    const void *kernel = byte_kernel_of(&plan);
    if (kernel != NULL)
        cc__rearrange_plan_sides(&plan, CC__REARRANGE_BYTE_SIDE / work->unit_bytes);
    else
        kernel = kernel_of(&plan);
    void *arguments[] = {&plan};
    return launcher->launch(launcher, kernel, (uint32_t)plan.square_count, CC__BLOCK_THREADS, arguments);
}
