/* What the kernels offer to the CUDA backend: each plans one launch and hands it over. Plain C, no CUDA header. */
#ifndef CC_KERNELS_LAUNCH_H
#define CC_KERNELS_LAUNCH_H

#include "base/derivative.h"
#include "base/evaluate.h"
#include "base/program.h"
#include "base/rearrange.h"
#include "base/reduce.h"
#include "base/resample.h"
#include "base/work.h"

#include <cudacommon/status.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How a kernel is started: `kernel` is the host symbol of a __global__ function, `arguments` point at its parameters.
 * The backend passes this in, so that it alone talks to the driver.
 */
typedef struct cc__launcher cc__launcher;
typedef cc_status (*cc__launch_fn)(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks,
                                   uint32_t block_threads, void **arguments);
struct cc__launcher {
    cc__launch_fn launch; /* sets has_written when it succeeds */
    /* What a launch begins with, and may fail in for want of memory: where there are several, first for all of them. */
    cc_status (*find)(const cc__launcher *launcher, const void *kernel);
    int32_t multiprocessor_count;
    bool *has_written; /* whether something that writes the output is started */
    /* Starts the kernel that was made for a program; does nothing and says so where there is none. NULL: never any. */
    cc_status (*launch_program)(const cc__launcher *launcher, const cc__program *program, const cc__program_call *call,
                                bool *out_done);
};

/* Starts what writes scratch memory only: should a later launch fail, the output is what it was. */
static inline cc_status cc__launch_aside(const cc__launcher *launcher, const void *kernel, uint32_t grid_blocks,
                                         uint32_t block_threads, void **arguments)
{
    const bool before = *launcher->has_written;
    const cc_status status = launcher->launch(launcher, kernel, grid_blocks, block_threads, arguments);
    *launcher->has_written = before;
    return status;
}

/* For cc__kernel, each with the work of its header in base/. */
cc_status cc__launch_derivative(const void *work, const cc__launcher *launcher);
cc_status cc__launch_evaluate(const void *work, const cc__launcher *launcher);
cc_status cc__launch_fill(const void *work, const cc__launcher *launcher);
cc_status cc__launch_frames(const void *work, const cc__launcher *launcher);
cc_status cc__launch_histogram(const void *work, const cc__launcher *launcher);
cc_status cc__launch_rearrange(const void *work, const cc__launcher *launcher);
cc_status cc__launch_reduce(const void *work, const cc__launcher *launcher);
cc_status cc__launch_resample(const void *work, const cc__launcher *launcher);
cc_status cc__launch_rescale(const void *work, const cc__launcher *launcher);
cc_status cc__launch_smooth(const void *work, const cc__launcher *launcher);

/* The same in src/backend, for what is not done by kernels alone. */
cc_status cc__start_convolve(const void *work, const cc__launcher *launcher);
cc_status cc__start_copy(const void *work, const cc__launcher *launcher);
cc_status cc__start_evaluate(const void *work, const cc__launcher *launcher);
cc_status cc__start_fill(const void *work, const cc__launcher *launcher);

/* cc__launch_evaluate() for images that are one row without gaps; does nothing and says so when they are not. */
cc_status cc__launch_evaluate_row(const cc__evaluate *work, const cc__launcher *launcher, bool *out_done);

/* Axes that change places, where cc__rearrange_choose() says so. */
cc_status cc__launch_squares(const cc__rearrange *work, const cc__launcher *launcher);
/* Rows that go on as they are, or need one turn at most; does nothing and says so for others. */
cc_status cc__launch_strips(const cc__rearrange *work, const cc__launcher *launcher, bool *out_done);
/* The same for a box on the device that is large enough to be worth a launch of its own. */
cc_status cc__launch_copy_box(const cc__copy *copy, const cc__launcher *launcher, bool *out_done);

/* What cc__launch_resample() begins with for a cubic B-spline. */
cc_status cc__launch_bspline(const cc__bspline *work, const cc__launcher *launcher);

/*
 * Copies many boxes, whose memory on both sides the GPU reaches by its address, in as few launches as they fit in: most
 * when boxes have one shape and one layout. most_blocks: how much of the GPU each launch may fill.
 */
cc_status cc__launch_copy_boxes(const cc__copy *works, int32_t count, int32_t most_blocks,
                                const cc__launcher *launcher);

#ifdef __cplusplus
}
#endif

#endif
