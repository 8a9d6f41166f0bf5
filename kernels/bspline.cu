#include "kernels/launch.h"
#include "kernels/resample_math.h"
#include "kernels/tiles.h"

typedef struct bspline_plan {
    cc__bspline work;
    int64_t line_count;
} bspline_plan;

/* A thread does a line, and its neighbours those beside it, component after component. */
static __global__ void __launch_bounds__(CC__BLOCK_THREADS) find_coefficients(const __grid_constant__ bspline_plan plan)
{
    const cc__bspline *work = &plan.work;
    const int64_t from_bytes = cc__bytes_of_real((int32_t)work->source_type);
    const int64_t to_bytes = work->in_float32 ? 4 : 8;
    const int64_t threads = (int64_t)gridDim.x * CC__BLOCK_THREADS;
    int64_t from_step = 0, to_step = 0, length = 0;
    CC__UNROLL
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        if (axis == work->axis) {
            from_step = work->source.stride[axis];
            to_step = work->destination.stride[axis];
            length = work->size[axis];
        }
    }
    for (int64_t line = (int64_t)blockIdx.x * CC__BLOCK_THREADS + threadIdx.x; line < plan.line_count;
         line += threads) {
        int64_t rest = line / work->components;
        const int64_t component = line - rest * work->components;
        const unsigned char *from = work->source.data + component * from_bytes;
        unsigned char *to = work->destination.data + component * to_bytes;
        CC__UNROLL
        for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
            if (axis == work->axis)
                continue;
            const int64_t next = rest / work->size[axis];
            const int64_t at = rest - next * work->size[axis];
            from += at * work->source.stride[axis];
            to += at * work->destination.stride[axis];
            rest = next;
        }
        if (work->in_float32)
            cc__bspline_line_float32((int32_t)work->source_type, from, from_step, to, to_step, length);
        else
            cc__bspline_line_float64((int32_t)work->source_type, from, from_step, to, to_step, length);
    }
}

cc_status cc__launch_bspline(const cc__bspline *work, const cc__launcher *launcher)
{
    bspline_plan plan;
    plan.work = *work;
    plan.line_count = cc__bspline_line_count(&plan.work);
    const int64_t blocks = (plan.line_count - 1) / CC__BLOCK_THREADS + 1;
    const int64_t most = (int64_t)launcher->multiprocessor_count * CC__BLOCKS_PER_MULTIPROCESSOR;
    void *arguments[] = {&plan};
    return launcher->launch(launcher, (const void *)find_coefficients, (uint32_t)(blocks < most ? blocks : most),
                            CC__BLOCK_THREADS, arguments);
}
