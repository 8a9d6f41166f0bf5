/* Numbers that all pixels of an image have a part in: sums, extremes, histograms; computed where the pixels are. */
#ifndef CUDACOMMON_REDUCTIONS_H
#define CUDACOMMON_REDUCTIONS_H

#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/status.h>

CC_BEGIN_DECLS

typedef enum cc_reduction {
    CC_REDUCE_SUM = 0,
    CC_REDUCE_MEAN = 1,
    CC_REDUCE_MINIMUM = 2, /* NaN when a component is NaN; -0 is less than 0 */
    CC_REDUCE_MAXIMUM = 3,
    CC_REDUCE_VARIANCE = 4, /* the mean of the squares of the distances from the mean */
    CC_REDUCE_NORM = 5,     /* the square root of the sum of the squares */
    CC_REDUCE_DOT = 6       /* the sum of the products with the components of a second image */
} cc_reduction;

/**
 * Reduces an image to one number, or one for each component, and leaves it in an image: where the pixels are, in stream
 * order, ready to be an operand of cc_image_evaluate(). Where it runs: operations.h. Parts of images: views.
 * second: of the input's size and components for CC_REDUCE_DOT, else NULL.
 * output: one pixel of float64, with one component for all of the input's together, or as many as the input has. Of
 * complex128 for the sum or mean of complex pixels, of which else only the norm (float64) is there.
 *
 * Computed in float64, which 64-bit integers are converted to first. The components are added in an order that depends
 * on nothing but their number, so the result is the same to the bit from run to run, on every machine, on CPU and GPU,
 * however the pixels lie. Error: that of a tree of pairs over sums of 16. In the order of memory of a dense image, 1024
 * running results take every 1024th component of a piece of 16384, then are joined in neighbouring pairs; so are the
 * results of the pieces. The variance joins means and squares of the distances from them; those of a piece of integers
 * of up to 16 bits come from exact sums.
 *
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, an unknown reduction, or a second image where none belongs;
 * CC_ERROR_SIZE when the input has no pixels, the second differs, or the output is not one pixel of so many components;
 * CC_ERROR_PIXEL_TYPE for another output, or complex pixels where real ones are needed; CC_ERROR_READ_ONLY;
 * CC_ERROR_BUSY while the output is mapped, an input is being written, or they overlap; CC_ERROR_UNINITIALIZED;
 * CC_ERROR_INVALID_DEVICE; CC_ERROR_CAPTURE; CC_ERROR_OUT_OF_HOST_MEMORY; CC_ERROR_OUT_OF_DEVICE_MEMORY;
 * CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * Allocates what the output needs at that place, brings the stale parts of the inputs there, and for the time of the
 * work allocates 24 bytes for 16384 components and a little more.
 * Thread safety: any thread. On a device does not block, except while pageable memory is copied: `stream` order.
 * Since 2.0.
 * Source: Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983, for joining variances.
 */
CC_API cc_status cc_image_reduce(cc_reduction reduction, cc_image *input, cc_image *second, cc_image *output,
                                 cc_stream stream);

/**
 * cc_image_reduce() over all components together, with the number on the host. Complex pixels have only a norm.
 * out_value: untouched on failure.
 * Returns what cc_image_reduce() does.
 * Thread safety: any thread. Blocks until the number is there. Since 2.0.
 */
CC_API cc_status cc_image_measure(cc_reduction reduction, cc_image *input, cc_image *second, cc_stream stream,
                                  double *out_value);

/**
 * Counts the components of an image by their values. The bins share out the range from lower to upper evenly: a value x
 * belongs to bin floor((x - lower) * (bins / (upper - lower))), in float64, each operation rounded; the last bin
 * includes upper, and takes what rounding puts beyond it. Values outside, and NaN, are not counted.
 * output: pixels of uint64, one component, one for each bin along the first axis; the other axes have size 1.
 * Exact, and so the same on CPU and GPU. Where it runs: operations.h.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, a range that is not finite, without lower < upper, or so narrow
 * that bins / (upper - lower) is infinite; CC_ERROR_SIZE when the output has no bins, or more than one component or
 * axis; CC_ERROR_PIXEL_TYPE for another output, or complex pixels; CC_ERROR_LAYOUT when wrapped bins do not lie side by
 * side; the others of cc_image_reduce().
 * Thread safety: any thread. On a device does not block, except while pageable memory is copied: `stream` order.
 * Since 2.0.
 */
CC_API cc_status cc_image_histogram(cc_image *input, double lower, double upper, cc_image *output, cc_stream stream);

CC_END_DECLS

#endif
