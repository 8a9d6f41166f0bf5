/* Derivatives of images in space: gradient, divergence, Laplacian, done where the pixels are. */
#ifndef CUDACOMMON_DERIVATIVES_H
#define CUDACOMMON_DERIVATIVES_H

#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/status.h>
#include <stdint.h>

CC_BEGIN_DECLS

/*
 * Along the first three axes; along the fourth the image is a series, each of its volumes on its own. A is the number
 * of axes: the dimension, but no more than 3. The input's spacing h and direction count; of the output only the size
 * does, which is the input's, and its geometry stays as it is. Pixels are matched by their place from the first one.
 *
 * Every real type, also mixed: results are rounded half to even and clamped into the output's type, as in
 * cc_image_rescale(). Computed in float32 when input and output have no other types than bool, the integers of 8 and 16
 * bits, float16, bfloat16 and float32, else in float64; each operation rounds once. CPU and GPU give the same bits.
 * A result is within 4 A units in the last place of what the greatest of its pixels, divided by h or h^2, is.
 *
 * Each returns CC_OK, also when there are no pixels; CC_ERROR_INVALID_ARGUMENT for NULL, an unknown difference or flag;
 * CC_ERROR_SIZE when sizes, dimensions or components do not fit; CC_ERROR_PIXEL_TYPE for complex pixels;
 * CC_ERROR_READ_ONLY; CC_ERROR_BUSY while the output is mapped, the input is being written, or the two overlap: none
 * works in place; CC_ERROR_UNINITIALIZED; CC_ERROR_INVALID_DEVICE; CC_ERROR_CAPTURE; CC_ERROR_OUT_OF_HOST_MEMORY;
 * CC_ERROR_OUT_OF_DEVICE_MEMORY; CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * Where they run: operations.h. Allocates what the output needs at that place; brings the stale part of the input
 * there. Thread safety: any thread. On a device blocks only while pageable memory is copied: `stream` order. Since 2.0.
 */

/* Which neighbours a difference is taken of, and what it is at the image's edges. f[0] to f[n - 1] along an axis. */
typedef enum cc_difference {
    /* (f[i + 1] - f[i - 1]) / 2h, where a pixel outside is as the nearest one inside. As ITK's GradientImageFilter. */
    CC_DIFFERENCE_CENTRAL = 0,
    /* The same, but at the edges the difference to the only neighbour, over h. As numpy.gradient(). */
    CC_DIFFERENCE_CENTRAL_ONE_SIDED = 1,
    /* (f[i + 1] - f[i]) / h; the last is 0. */
    CC_DIFFERENCE_FORWARD = 2,
    /* (f[i] - f[i - 1]) / h; the first is 0. */
    CC_DIFFERENCE_BACKWARD = 3
} cc_difference;

/* Vectors are in physical space, not along the image's axes: multiplied by its direction. As ITK's UseImageDirection,
 * and right for directions that are rotations or reflections. */
#define CC_DERIVATIVE_USE_DIRECTION 1u
/* h is 1. */
#define CC_DERIVATIVE_IGNORE_SPACING 2u

/**
 * The gradient of an image of one component into one of A components. flags: 0, or of CC_DERIVATIVE_*.
 * Source: numpy.gradient; ITK GradientImageFilter.
 */
CC_API cc_status cc_image_gradient(cc_image *input, cc_difference difference, uint32_t flags, cc_image *output,
                                   cc_stream stream);

/**
 * The divergence of an image of A components into one of one component: the sum over the axes of each component's
 * difference along its axis. With CC_DERIVATIVE_USE_DIRECTION vectors are first multiplied by the direction's
 * transpose.
 *
 * BACKWARD is the negative adjoint of the FORWARD gradient, and FORWARD that of the BACKWARD one, with the same flags:
 * sum(gradient(f) . v) = -sum(f * divergence(v)) for all f and v. So at the edges, along an axis, BACKWARD is v[0] / h
 * at the first pixel and -v[n - 2] / h at the last, FORWARD v[1] / h and -v[n - 1] / h; 0 where n = 1. The central ones
 * are the differences of cc_image_gradient().
 * Source: Chambolle, "An Algorithm for Total Variation Minimization and Applications", 2004, section 2.
 */
CC_API cc_status cc_image_divergence(cc_image *input, cc_difference difference, uint32_t flags, cc_image *output,
                                     cc_stream stream);

/**
 * The Laplacian, component by component: the sum over the axes of (f[i - 1] + f[i + 1] - 2 f[i]) / h^2, where a pixel
 * outside is as the nearest one inside. flags: 0 or CC_DERIVATIVE_IGNORE_SPACING.
 * Source: ITK LaplacianImageFilter; scipy.ndimage.laplace with mode "nearest".
 */
CC_API cc_status cc_image_laplacian(cc_image *input, uint32_t flags, cc_image *output, cc_stream stream);

CC_END_DECLS

#endif
