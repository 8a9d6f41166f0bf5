/* What stands before and after Fourier transforms of lines on the GPU: into the buffer, the filter, and out again. */
#include "base/convolve.h"
#include "kernels/any_type.h"
#include "kernels/convolve_launch.h"
#include "kernels/tiles.h"

#include <string.h>

/* A tile of lines and pixels of them, turned by way of the block's memory. */
#define SIDE 32
#define ROWS (CC__BLOCK_THREADS / SIDE)
#define BLOCKS_PER_MULTIPROCESSOR 16

typedef struct cc__lines_plan_of_tiles {
    const unsigned char *source;
    unsigned char *destination;
    void *buffer; /* a line after the other, each of `pitch` numbers */
    int64_t pitch;
    int64_t step[2];
    int32_t size;   /* pixels of a line */
    int32_t length; /* of the transforms */
    int32_t first;  /* line of the batch */
    int32_t lines;  /* that there are from it on, up to the batch's */
    int32_t axes;
    int32_t is_along_rows;
    cc_pixel_type source_type;
    cc_pixel_type destination_type;
    cc__divisor across; /* tiles along a line */
    cc__divisor line_size[CC_MAX_DIMENSION];
    int64_t stride[2][CC_MAX_DIMENSION];
} cc__lines_plan_of_tiles;

typedef struct cc__filter_plan {
    const unsigned char *filter;
    void *response;
    int64_t step;
    int32_t size;
    int32_t centre;
    int32_t length;
    int32_t in_frequency;
    cc_pixel_type type;
    int32_t reserved;
} cc__filter_plan;

typedef struct cc__multiply_plan {
    void *buffer;
    const void *response;
    int32_t frequencies;
    int32_t length;
    int32_t count; /* of all lines */
    int32_t reserved;
    cc__divisor divisor; /* frequencies */
} cc__multiply_plan;

/* The real part. */
static __device__ inline double load(cc_pixel_type type, const unsigned char *at)
{
    if (type == CC_PIXEL_COMPLEX64)
        return cc__load_FLOAT32(*(const uint32_t *)at);
    return type == CC_PIXEL_COMPLEX128 ? cc__load_FLOAT64(*(const uint64_t *)at) : cc__load_any((int32_t)type, at);
}

static __device__ inline double load_imaginary(cc_pixel_type type, const unsigned char *at)
{
    if (type == CC_PIXEL_COMPLEX64)
        return cc__load_FLOAT32(((const uint32_t *)at)[1]);
    return type == CC_PIXEL_COMPLEX128 ? cc__load_FLOAT64(((const uint64_t *)at)[1]) : 0.0;
}

static __device__ inline int64_t offset_of(const cc__lines_plan_of_tiles *plan, int32_t side, int32_t line)
{
    int64_t offset = 0;
    CC__UNROLL
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        if (i >= plan->axes)
            break;
        int32_t next = i + 1 < plan->axes ? cc__divide(line, &plan->line_size[i]) : 0;
        offset += (line - next * plan->line_size[i].value) * plan->stride[side][i];
        line = next;
    }
    return offset;
}

/* Numbers of the lines come in, zeros after them. Threads are next to each other as the pixels are, on either side. */
#define DEFINE_LINES(NUMBER)                                                                                           \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        take_lines_##NUMBER(const __grid_constant__ cc__lines_plan_of_tiles plan)                                      \
    {                                                                                                                  \
        __shared__ NUMBER shared[SIDE][SIDE + 1];                                                                      \
        int32_t column = (int32_t)threadIdx.x % SIDE;                                                                  \
        int32_t row = (int32_t)threadIdx.x / SIDE;                                                                     \
        int32_t down = cc__divide((int32_t)blockIdx.x, &plan.across);                                                  \
        int32_t line = down * SIDE;                                                                                    \
        int32_t pixel = ((int32_t)blockIdx.x - down * plan.across.value) * SIDE;                                       \
        for (int32_t i = row; i < SIDE; i += ROWS) {                                                                   \
            int32_t l = plan.is_along_rows != 0 ? i : column;                                                          \
            int32_t p = plan.is_along_rows != 0 ? column : i;                                                          \
            NUMBER number = 0;                                                                                         \
            if (line + l < plan.lines && pixel + p < plan.size)                                                        \
                number = (NUMBER)cc__load_any((int32_t)plan.source_type,                                               \
                                              plan.source + offset_of(&plan, 0, plan.first + line + l) +               \
                                                  (pixel + p) * plan.step[0]);                                         \
            shared[l][p] = number;                                                                                     \
        }                                                                                                              \
        __syncthreads();                                                                                               \
        for (int32_t i = row; i < SIDE; i += ROWS) {                                                                   \
            if (line + i < plan.lines && pixel + column < plan.length)                                                 \
                ((NUMBER *)plan.buffer)[(line + i) * plan.pitch + pixel + column] = shared[i][column];                 \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        give_lines_##NUMBER(const __grid_constant__ cc__lines_plan_of_tiles plan)                                      \
    {                                                                                                                  \
        __shared__ NUMBER shared[SIDE][SIDE + 1];                                                                      \
        int32_t column = (int32_t)threadIdx.x % SIDE;                                                                  \
        int32_t row = (int32_t)threadIdx.x / SIDE;                                                                     \
        int32_t down = cc__divide((int32_t)blockIdx.x, &plan.across);                                                  \
        int32_t line = down * SIDE;                                                                                    \
        int32_t pixel = ((int32_t)blockIdx.x - down * plan.across.value) * SIDE;                                       \
        for (int32_t i = row; i < SIDE; i += ROWS) {                                                                   \
            NUMBER number = 0;                                                                                         \
            if (line + i < plan.lines && pixel + column < plan.size)                                                   \
                number = ((const NUMBER *)plan.buffer)[(line + i) * plan.pitch + pixel + column];                      \
            shared[i][column] = number;                                                                                \
        }                                                                                                              \
        __syncthreads();                                                                                               \
        for (int32_t i = row; i < SIDE; i += ROWS) {                                                                   \
            int32_t l = plan.is_along_rows != 0 ? i : column;                                                          \
            int32_t p = plan.is_along_rows != 0 ? column : i;                                                          \
            if (line + l < plan.lines && pixel + p < plan.size)                                                        \
                cc__store_any((int32_t)plan.destination_type,                                                          \
                              plan.destination + offset_of(&plan, 1, plan.first + line + l) +                          \
                                  (pixel + p) * plan.step[1],                                                          \
                              (double)shared[l][p]);                                                                   \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        take_filter_##NUMBER(const __grid_constant__ cc__filter_plan plan)                                             \
    {                                                                                                                  \
        const int32_t step = (int32_t)gridDim.x * CC__BLOCK_THREADS;                                                   \
        NUMBER *response = (NUMBER *)plan.response;                                                                    \
        const int32_t count = plan.in_frequency != 0 ? plan.size : plan.length;                                        \
        for (int32_t n = (int32_t)(blockIdx.x * CC__BLOCK_THREADS + threadIdx.x); n < count; n += step) {              \
            if (plan.in_frequency != 0) {                                                                              \
                const unsigned char *at = plan.filter + n * plan.step;                                                 \
                bool is_real = n == 0 || 2 * n == plan.length;                                                         \
                response[2 * n] = (NUMBER)load(plan.type, at);                                                         \
                response[2 * n + 1] = is_real ? (NUMBER)0 : (NUMBER)load_imaginary(plan.type, at);                     \
            } else {                                                                                                   \
                /* What weighs the pixel itself comes first, what weighs those after it from the end on. */            \
                int32_t from = n < plan.size - plan.centre ? n + plan.centre : n - (plan.length - plan.centre);        \
                response[n] = from < 0 ? (NUMBER)0 : (NUMBER)load(plan.type, plan.filter + from * plan.step);          \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
                                                                                                                       \
    static __global__ void __launch_bounds__(CC__BLOCK_THREADS)                                                        \
        multiply_##NUMBER(const __grid_constant__ cc__multiply_plan plan)                                              \
    {                                                                                                                  \
        const int32_t step = (int32_t)gridDim.x * CC__BLOCK_THREADS;                                                   \
        const NUMBER scale = (NUMBER)1 / (NUMBER)plan.length;                                                          \
        for (int64_t n = blockIdx.x * CC__BLOCK_THREADS + threadIdx.x; n < plan.count; n += step) {                    \
            int32_t f = (int32_t)n - cc__divide((int32_t)n, &plan.divisor) * plan.divisor.value;                       \
            NUMBER *number = (NUMBER *)plan.buffer + 2 * n;                                                            \
            const NUMBER *factor = (const NUMBER *)plan.response + 2 * f;                                              \
            NUMBER real = number[0] * factor[0] - number[1] * factor[1];                                               \
            NUMBER imaginary = number[0] * factor[1] + number[1] * factor[0];                                          \
            /* The transform back takes for granted that these are real. */                                            \
            bool is_real = f == 0 || 2 * f == plan.length;                                                             \
            number[0] = real * scale;                                                                                  \
            number[1] = is_real ? (NUMBER)0 : imaginary * scale;                                                       \
        }                                                                                                              \
    }

DEFINE_LINES(float)
DEFINE_LINES(double)

static uint32_t blocks_for(int64_t count, const cc__launcher *launcher)
{
    const int64_t blocks = (count - 1) / CC__BLOCK_THREADS + 1;
    const int64_t most = (int64_t)launcher->multiprocessor_count * BLOCKS_PER_MULTIPROCESSOR;
    return (uint32_t)(blocks < most ? blocks : most);
}

static cc_status launch_lines(const cc__convolve *work, int64_t first, int64_t count, void *buffer, int64_t extent,
                              const void *kernel, const cc__launcher *launcher, cc__launch_fn launch)
{
    cc__lines lines;
    cc__lines_plan_of_tiles plan;
    cc__lines_plan(&work->images, &lines);
    memset(&plan, 0, sizeof plan);
    plan.source = work->images.source.data;
    plan.destination = work->images.destination.data;
    plan.buffer = buffer;
    plan.pitch = 2 * (work->length / 2 + 1);
    plan.step[0] = lines.step[0];
    plan.step[1] = lines.step[1];
    plan.size = (int32_t)work->images.size[work->images.axis];
    plan.length = (int32_t)work->length;
    plan.first = (int32_t)first;
    plan.lines = (int32_t)count;
    plan.axes = lines.axes;
    plan.is_along_rows = lines.is_along_rows;
    plan.source_type = work->images.source_type;
    plan.destination_type = work->images.destination_type;
    for (int32_t i = 0; i < CC_MAX_DIMENSION; i++) {
        plan.line_size[i] = cc__divisor_of((int32_t)lines.size[i]);
        plan.stride[0][i] = lines.stride[0][i];
        plan.stride[1][i] = lines.stride[1][i];
    }
    const int32_t across = (int32_t)((extent - 1) / SIDE + 1);
    plan.across = cc__divisor_of(across);
    void *arguments[] = {&plan};
    return launch(launcher, kernel, (uint32_t)((count - 1) / SIDE + 1) * (uint32_t)across, CC__BLOCK_THREADS,
                  arguments);
}

cc_status cc__launch_take_lines(const cc__convolve *work, int64_t first, int64_t count, void *buffer,
                                const cc__launcher *launcher)
{
    const void *kernel = work->is_wide ? (const void *)take_lines_double : (const void *)take_lines_float;
    return launch_lines(work, first, count, buffer, work->length, kernel, launcher, cc__launch_aside);
}

cc_status cc__launch_give_lines(const cc__convolve *work, int64_t first, int64_t count, void *buffer,
                                const cc__launcher *launcher)
{
    const void *kernel = work->is_wide ? (const void *)give_lines_double : (const void *)give_lines_float;
    return launch_lines(work, first, count, buffer, work->images.size[work->images.axis], kernel, launcher,
                        launcher->launch);
}

cc_status cc__launch_take_filter(const cc__convolve *work, const cc__launcher *launcher)
{
    cc__filter_plan plan;
    memset(&plan, 0, sizeof plan);
    plan.filter = work->filter;
    plan.response = work->scratch;
    plan.step = work->filter_step;
    plan.size = (int32_t)work->filter_size;
    plan.centre = (int32_t)work->centre;
    plan.length = (int32_t)work->length;
    plan.in_frequency = work->in_frequency;
    plan.type = work->filter_type;
    void *arguments[] = {&plan};
    return cc__launch_aside(launcher,
                            work->is_wide ? (const void *)take_filter_double : (const void *)take_filter_float,
                            blocks_for(work->length, launcher), CC__BLOCK_THREADS, arguments);
}

cc_status cc__launch_multiply_lines(const cc__convolve *work, int64_t count, void *buffer, const cc__launcher *launcher)
{
    cc__multiply_plan plan;
    memset(&plan, 0, sizeof plan);
    plan.buffer = buffer;
    plan.response = work->scratch;
    plan.frequencies = (int32_t)(work->length / 2 + 1);
    plan.length = (int32_t)work->length;
    plan.count = (int32_t)(count * plan.frequencies);
    plan.divisor = cc__divisor_of(plan.frequencies);
    void *arguments[] = {&plan};
    return cc__launch_aside(launcher, work->is_wide ? (const void *)multiply_double : (const void *)multiply_float,
                            blocks_for(plan.count, launcher), CC__BLOCK_THREADS, arguments);
}
