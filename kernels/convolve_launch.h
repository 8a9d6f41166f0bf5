/* What the kernels do beside the Fourier transforms of a convolution. The buffer has the lines of a batch. */
#ifndef CC_KERNELS_CONVOLVE_LAUNCH_H
#define CC_KERNELS_CONVOLVE_LAUNCH_H

#include "base/convolve.h"
#include "kernels/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In space: as a line of the transforms' length, at the start of the scratch. In frequency: as their numbers. */
cc_status cc__launch_take_filter(const cc__convolve *work, const cc__launcher *launcher);
/* Fewer than 2^30 lines in all; `count` from the one numbered `first` on, with zeros up to the transforms' length. */
cc_status cc__launch_take_lines(const cc__convolve *work, int64_t first, int64_t count, void *buffer,
                                const cc__launcher *launcher);
/* By the filter's transform at the start of the scratch, and by 1 / length. */
cc_status cc__launch_multiply_lines(const cc__convolve *work, int64_t count, void *buffer,
                                    const cc__launcher *launcher);
cc_status cc__launch_give_lines(const cc__convolve *work, int64_t first, int64_t count, void *buffer,
                                const cc__launcher *launcher);

#ifdef __cplusplus
}
#endif

#endif
