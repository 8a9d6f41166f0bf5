/* Filters along lines that reach so few pixels that a thread can hold them. Plain C, no CUDA header. */
#ifndef CC_KERNELS_SHORT_FILTER_H
#define CC_KERNELS_SHORT_FILTER_H

#include "base/line_filter.h"
#include "kernels/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NULL for others than of float32 along lines that are long enough; lines: those of the images. */
const void *cc__short_filter_kernel(const cc__line_filter *work, const cc__lines *lines);

/* For what has a kernel here. */
cc_status cc__launch_short_filter(const cc__line_filter *work, const cc__lines *lines, const cc__launcher *launcher,
                                  cc__launch_fn launch);

#ifdef __cplusplus
}
#endif

#endif
