/* A filter as a downstream module would have it: squares every pixel of an image of floats, in place. */
#ifndef SQUARE_H
#define SQUARE_H

#include <cudacommon/cudacommon.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Runs on the image's GPU when this module was built with CUDA and there is one, else on the host; the results are the
 * same. On the GPU the work is queued in `stream`. Returns what the library returns; CC_ERROR_PIXEL_TYPE for an image
 * that is not of floats; CC_ERROR_DEVICE when the kernel could not be started.
 */
cc_status square(cc_image *image, cc_stream stream);

/* Where square() would run: "GPU" or "host". */
const char *square_place(void);

/*
 * The kernel's side, in square_kernel.cu: queues the work on `device` and leaves the caller's current device as it was.
 * Returns a cudaError_t, 0 for success.
 */
int square_launch(const cc_descriptor *pixels, int64_t count, int32_t device, cc_stream stream);

#ifdef __cplusplus
}
#endif

#endif
