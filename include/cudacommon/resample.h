/* Images on another grid: through both geometries, an affine transform, a field of displacements. */
#ifndef CUDACOMMON_RESAMPLE_H
#define CUDACOMMON_RESAMPLE_H

#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/status.h>
#include <stdint.h>

CC_BEGIN_DECLS

typedef enum cc_interpolation {
    /* The nearest pixel; half way between two the one with the higher index. As itk::NearestNeighborInterpolate. */
    CC_INTERPOLATION_NEAREST = 0,
    /* Between the 2, 4 or 8 pixels around. As itk::LinearInterpolate, scipy.ndimage order 1. */
    CC_INTERPOLATION_LINEAR = 1,
    /* Cubic B-spline through all pixels, which mirror at the centres of the outermost ones: the input is prefiltered.
     * As itk::BSplineInterpolate (sitkBSpline), and scipy.ndimage order 3 with mode "mirror". Not Catmull-Rom. */
    CC_INTERPOLATION_CUBIC_BSPLINE = 2
} cc_interpolation;

typedef struct cc_resample_params {
    uint32_t struct_size;  /* set by CC_RESAMPLE_PARAMS_INIT */
    int32_t interpolation; /* a cc_interpolation */
    double outside;        /* each component of an output pixel that is not inside the input */
    /* From a physical point of the output to one of the input: matrix * point + offset, as an ITK transform has it
     * (its offset, which has the centre in it). Entries past the dimension are ignored. */
    double matrix[3][3];
    double offset[3]; /* millimetres */
} cc_resample_params;

/* Linear, 0 outside, points stay where they are. */
#define CC_RESAMPLE_PARAMS_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(cc_resample_params), CC_INTERPOLATION_LINEAR, 0, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},                     \
        {                                                                                                              \
            0, 0, 0                                                                                                    \
        }                                                                                                              \
    }

/**
 * Each output pixel is the input where the pixel's centre is in space: through the index, spacing, origin and direction
 * of both images and the transform of params (NULL: as CC_RESAMPLE_PARAMS_INIT). The output's grid and type are the
 * caller's choice. Components each on their own. A point is inside the input up to half a pixel beyond the centres of
 * the outermost pixels: -0.5 <= position < n - 0.5 along each axis, counted in pixels; between the centre and the edge
 * a linear interpolation has the outermost pixel's value. Both images have one dimension; of 4, the fourth axis is a
 * series and of equal size in both, each volume is resampled on its own, and the directions do not mix it with the
 * others.
 *
 * Every real type, also mixed: results are rounded half to even and clamped into the output's type, as in
 * cc_image_rescale(). Positions are computed in float64, for each pixel from its index. Interpolation is in float32
 * when input and output have no other types than bool, the integers of 8 and 16 bits, float16, bfloat16 and float32,
 * else in float64. In float32, and for the nearest pixel, positions are rounded to 2^-23 pixels (not where an input
 * axis has 2^28 pixels or more, which makes all of it float64). A pixel that has no weight does not matter, whatever it
 * is; one that has and is not finite may make the result NaN. The nearest pixel is copied between equal types and
 * otherwise goes through float64. CPU and GPU give the same bits. With e the precision of the arithmetic (2^-24 or
 * 2^-53) and d the greatest difference between neighbours in use, a linear result is within 12 e of the greatest of
 * them, plus 3 d times the rounding of the position; a cubic one within 200 e of the greatest pixel, plus 6 d times
 * that.
 *
 * Returns CC_OK, also when the output has no pixels; CC_ERROR_INVALID_ARGUMENT for NULL, struct_size 0, an unknown
 * interpolation, matrix or offset not finite, a fourth axis that is mixed with others, or positions that leave float64;
 * CC_ERROR_SIZE when dimensions, components or the fourth axis do not fit, or the input has no pixels;
 * CC_ERROR_PIXEL_TYPE for complex pixels; CC_ERROR_READ_ONLY; CC_ERROR_BUSY while the output is mapped, the input is
 * being written, or the two overlap; CC_ERROR_UNINITIALIZED; CC_ERROR_INVALID_DEVICE; CC_ERROR_CAPTURE;
 * CC_ERROR_OUT_OF_HOST_MEMORY; CC_ERROR_OUT_OF_DEVICE_MEMORY; CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * Where it runs: operations.h. Allocates what the output needs at that place, and for CUBIC_BSPLINE, until it is done,
 * float32 or float64 for each component of the input; brings the stale part of the input there.
 * Thread safety: any thread. On a device blocks only while pageable memory is copied: `stream` order. Since 2.0.
 * Source: ITK ResampleImageFilter; Unser, "Splines: A Perfect Fit for Signal and Image Processing", 1999.
 */
CC_API cc_status cc_image_resample(cc_image *input, const cc_resample_params *params, cc_image *output,
                                   cc_stream stream);

/**
 * The same, where each output pixel's point first moves by a displacement: the transform of params is applied to point
 * + displacement. displacement: an image of real type with as many components as the images have axes, at most 3, in
 * millimetres of physical space; on any grid, of the same dimension. Between its pixels displacements are interpolated
 * linearly, outside they are those of the nearest edge, as ITK's WarpImageFilter has it; in float32 when this image's
 * type allows it too. One that is NaN or infinite is a point outside. Of 4 dimensions: the displacement has one volume,
 * for all, or as many as the images.
 * Returns what cc_image_resample() does, for the displacement as for an input.
 */
CC_API cc_status cc_image_warp(cc_image *input, cc_image *displacement, const cc_resample_params *params,
                               cc_image *output, cc_stream stream);

CC_END_DECLS

#endif
