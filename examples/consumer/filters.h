/* Two filters as a downstream module would have them, each with a kernel of its own. */
#ifndef FILTERS_H
#define FILTERS_H

#include <cudacommon/cudacommon.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Each runs on the output's GPU when this module was built with CUDA and there is one, else on the host, with the same
 * results; on the GPU the work is queued in `stream`. They return what the library returns.
 */

/* In place: squares every pixel of an image of float32. */
cc_status square(cc_image *image, cc_stream stream);

/* From one image to another: the mean of each pixel of uint16 and its neighbours along i, as float32. */
cc_status smooth_rows(cc_image *input, cc_image *output, cc_stream stream);

/* Where they run: "GPU" or "host". */
const char *filters_place(void);

/* The kernels' side, in filters.cu. */
cc_status square_on_device(const cc_tile *tile, void *user_data);
cc_status smooth_rows_on_device(const cc_tile *tile, void *user_data);

#ifdef __cplusplus
}
#endif

#endif
