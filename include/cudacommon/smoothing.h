/* Gaussian smoothing, where the pixels are. */
#ifndef CUDACOMMON_SMOOTHING_H
#define CUDACOMMON_SMOOTHING_H

#include <cudacommon/border.h>
#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/region.h>
#include <cudacommon/status.h>
#include <stdint.h>

CC_BEGIN_DECLS

/* What sigma is counted in. */
typedef enum cc_sigma_unit {
    CC_SIGMA_IN_MILLIMETRES = 0, /* that is, in what the image's spacing is counted in */
    CC_SIGMA_IN_PIXELS = 1
} cc_sigma_unit;

typedef struct cc_gaussian_params {
    uint32_t struct_size;           /* set by CC_GAUSSIAN_PARAMS_INIT */
    int32_t unit;                   /* of sigma, a cc_sigma_unit */
    double sigma[CC_MAX_DIMENSION]; /* >= 0, along i, j, k, l; 0 leaves the axis as it is */
    double truncate;     /* > 0; the filter reaches this many sigmas to either side, rounded to whole pixels */
    int32_t border;      /* a cc_border */
    int32_t reserved;    /* 0 */
    double border_value; /* for CC_BORDER_CONSTANT */
} cc_gaussian_params;

/* Millimetres, sigma 0, truncate 4, CC_BORDER_REPLICATE. */
#define CC_GAUSSIAN_PARAMS_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(cc_gaussian_params), CC_SIGMA_IN_MILLIMETRES, {0, 0, 0, 0}, 4.0, CC_BORDER_REPLICATE, 0, 0              \
    }

/* The most pixels to either side that the filter may reach. */
#define CC_GAUSSIAN_MAX_RADIUS 256

/**
 * Smooths along each axis with a Gaussian that is cut off and has the sum 1: weight[d] = exp(-d^2 / (2 s^2)), divided
 * by their sum, for d = -r to r, with s the sigma in pixels of the input's spacing and r = floor(truncate * s + 0.5).
 * The filter of scipy.ndimage.gaussian_filter, whose default border is CC_BORDER_SYMMETRIC; no recursive approximation.
 * Pixel (0, 0, ...) counted from the first pixel of each image; the sizes and components are equal, the regions'
 * indices may differ. What lies around a view does not count: the border of the view is a border. The output may be the
 * input, or share exactly its pixels. params: initialised with CC_GAUSSIAN_PARAMS_INIT; along the axes that the image
 * does not have, sigma is ignored.
 *
 * The last axis comes first, and the first axis last. In between nothing is rounded to the output's type: the
 * arithmetic is in float32 for float32 and all types of up to 16 bits, else in float64; in this order for each axis:
 * weight[0] x[p] + weight[1] (x[p - 1] + x[p + 1]) + weight[2] (x[p - 2] + x[p + 2]) + ... The result is cast as
 * cc_image_rescale() does. CPU and GPU give the same bits. Error: less than r + 4 units in the last place of the
 * largest magnitude of the pixels reached, for each axis. A NaN or an infinity reaches as far as the filter does.
 * Parts of complex pixels are smoothed on their own, and then both images are complex.
 *
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, struct_size 0, a sigma that is negative or not finite, a truncate
 * that is not finite and > 0, or an unknown unit or border; CC_ERROR_SIZE when the sizes or components differ;
 * CC_ERROR_PIXEL_TYPE when one image is complex and the other is not; CC_ERROR_UNSUPPORTED when r is greater than
 * CC_GAUSSIAN_MAX_RADIUS; CC_ERROR_READ_ONLY; CC_ERROR_BUSY while the output is mapped, the input is being written, or
 * the two overlap otherwise than exactly; CC_ERROR_UNINITIALIZED; CC_ERROR_INVALID_DEVICE; CC_ERROR_CAPTURE;
 * CC_ERROR_OUT_OF_HOST_MEMORY; CC_ERROR_OUT_OF_DEVICE_MEMORY; CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * Allocates what the output needs at that place, brings the stale part of the input there, and for the time of the work
 * allocates up to about 64 MiB, but at least what the greater of 16 and 2 r slices of the last axis that is smoothed
 * take, up to three times (in place). Nothing when one axis is smoothed into another image. Thread safety: any thread.
 * On a device does not block, except while pageable memory is copied: `stream` order. Since 2.0.
 */
CC_API cc_status cc_image_smooth_gaussian(cc_image *input, const cc_gaussian_params *params, cc_image *output,
                                          cc_stream stream);

CC_END_DECLS

#endif
