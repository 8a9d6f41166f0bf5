/* Frames, which are what lies along an image's last axis: combined into one volume, or a volume added to them. */
#ifndef CUDACOMMON_FRAMES_H
#define CUDACOMMON_FRAMES_H

#include <cudacommon/border.h>
#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/status.h>

CC_BEGIN_DECLS

/*
 * An image of frames has two axes at least, the last of which counts them: volumes at several times, projections,
 * slices. A volume has the sizes of one frame (and 1 along what it has of the last axis) and as many components. Types
 * may differ, but complex goes with complex. Computed in float64, parts of complex values each by itself; the result is
 * rounded and clamped into its type as cc_image_rescale() does it. CPU and GPU give the same bits. Where it runs:
 * operations.h. No geometry is set.
 *
 * A position is an index along the last axis, absolute as the region's, and may lie between two: at 4.25 frame 4 has
 * the weight 0.75 and frame 5 0.25. At a whole number the other frame counts for nothing, and is not looked at, even
 * when it is NaN. border says what is beyond the first and the last frame: CC_BORDER_REPLICATE, it is like these, or
 * CC_BORDER_PERIODIC, after the last comes the first again, as in a breathing cycle. Only the frames that count are
 * moved; on both sides of such a seam, all are when they are written.
 *
 * Each returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, a position that is not finite, another border, or frames of
 * one dimension; CC_ERROR_SIZE when sizes or components do not match or there is no frame; CC_ERROR_PIXEL_TYPE when one
 * type is complex and the other is not; CC_ERROR_READ_ONLY; CC_ERROR_BUSY while pixels to be written are mapped or
 * pixels to be read are being written, or when the two overlap; CC_ERROR_UNINITIALIZED; CC_ERROR_INVALID_DEVICE;
 * CC_ERROR_CAPTURE; CC_ERROR_OUT_OF_HOST_MEMORY; CC_ERROR_OUT_OF_DEVICE_MEMORY; CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * Allocates what the output needs at that place; brings the stale part of what is read there.
 * Thread safety: any thread. On a device blocks only while pageable memory is copied: `stream` order.
 */

/**
 * output, a volume = (1 - f) * a + f * b, with the frames a and b of `input` at the whole numbers below and above the
 * position and f how far it is above; both products and the sum are rounded. At a whole number it is the frame as it
 * is, cast. The output may be another frame of the input, or one of the two. Since 2.0. Source: the interpolation of 4D
 * volumes of the Reconstruction Toolkit (RTK).
 */
CC_API cc_status cc_image_interpolate_frames(cc_image *input, double position, cc_border border, cc_image *output,
                                             cc_stream stream);

/**
 * The adjoint: adds (1 - f) * input to frame a of `output` and f * input to frame b. All other frames stay as they are.
 * Since 2.0. Source: the splatting of 4D volumes of the Reconstruction Toolkit (RTK).
 */
CC_API cc_status cc_image_splat_frames(cc_image *input, double position, cc_border border, cc_image *output,
                                       cc_stream stream);

/**
 * output, a volume = the sum of all frames of `input`, added one after the other, divided by their number.
 * Since 2.0.
 */
CC_API cc_status cc_image_average_frames(cc_image *input, cc_image *output, cc_stream stream);

CC_END_DECLS

#endif
