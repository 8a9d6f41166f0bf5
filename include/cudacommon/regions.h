/* Parts of images: copied, cut out, put in, continued at the border, turned round, axes swapped; done where they are.
 */
#ifndef CUDACOMMON_REGIONS_H
#define CUDACOMMON_REGIONS_H

#include <cudacommon/border.h>
#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/region.h>
#include <cudacommon/status.h>
#include <stdint.h>

CC_BEGIN_DECLS

/*
 * What holds for all of these. Where they run: operations.h. Between equal types pixels are copied bit for bit; else
 * each component is cast as cc_image_rescale() does it. Components are equal in number. The output's other pixels stay
 * as they are.
 *
 * Place in space: crop, pad, flip and permute make all of their output, which has the input's dimension, and set its
 * spacing, origin and direction so that each pixel keeps its place (cc_image_get_point()); the output keeps its own
 * region index. The forms that create the output give it the index named below, with which crop, pad and permute leave
 * the origin as it is. The others set no geometry. On failure the output's geometry stays too.
 *
 * Every status not named with a function: CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL; CC_ERROR_SIZE when sizes,
 * components or, where geometry is set, dimensions do not match; CC_ERROR_READ_ONLY; CC_ERROR_BUSY while pixels to be
 * written are mapped or pixels to be read are being written, or when the two overlap; CC_ERROR_UNINITIALIZED;
 * CC_ERROR_OVERFLOW when a size or index leaves 63 bits; CC_ERROR_INVALID_DEVICE; CC_ERROR_CAPTURE;
 * CC_ERROR_OUT_OF_HOST_MEMORY; CC_ERROR_OUT_OF_DEVICE_MEMORY; CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * Allocates what the output needs at that place; brings the stale part of what is read there, and no other pixel.
 * Ownership: values and arrays are read before the call returns; created images are returned with ownership.
 * Thread safety: any thread; what sets the output's geometry counts as setting its handle (image.h).
 * On a device blocks only while pageable memory is copied: `stream` order.
 */

/**
 * Copies a region of one image into a region of the same size of another, or of the same image when the two do not
 * overlap; a region onto itself is left as it is.
 * input_region, output_region: inside their image's region, NULL for all of it. Sizes along all four axes are equal, so
 * that a slice of a volume goes into an image of two dimensions.
 * Returns as above, and CC_ERROR_INVALID_ARGUMENT for a negative size; CC_ERROR_REGION. Since 2.0.
 * Source: itk::ImageAlgorithm::Copy().
 */
CC_API cc_status cc_image_copy_region(cc_image *input, const cc_region *input_region, cc_image *output,
                                      const cc_region *output_region, cc_stream stream);

/**
 * Puts an image into a larger one, its first pixel at `index`, and all others beside it; they must lie inside.
 * index: the output's, absolute; NULL for the input's own.
 * Returns as above, and CC_ERROR_REGION. Since 2.0. Source: itk::PasteImageFilter.
 */
CC_API cc_status cc_image_paste(cc_image *input, cc_image *output, const int64_t index[CC_MAX_DIMENSION],
                                cc_stream stream);

/**
 * The pixels of a region, as an image of its size. Not a view: cc_image_create_view() copies nothing.
 * region: inside the input's region. A new image has its index.
 * Returns as above, and CC_ERROR_INVALID_ARGUMENT for a negative size; CC_ERROR_REGION. Since 2.0.
 * Source: itk::ExtractImageFilter.
 */
CC_API cc_status cc_image_crop(cc_image *input, const cc_region *region, cc_image *output, cc_stream stream);
CC_API cc_status cc_image_create_cropped(cc_image *input, const cc_region *region, cc_stream stream,
                                         cc_image **out_image);

typedef struct cc_pad_params {
    uint32_t struct_size;             /* set by CC_PAD_PARAMS_INIT */
    uint32_t flags;                   /* 0 */
    int32_t border[CC_MAX_DIMENSION]; /* a cc_border for each axis */
    int64_t lower[CC_MAX_DIMENSION];  /* pixels to add before the first, >= 0 */
    int64_t upper[CC_MAX_DIMENSION];  /* after the last, >= 0; entries past the dimension are ignored */
    const void *value;                /* CC_BORDER_CONSTANT: a pixel of the output's type; NULL: zero */
} cc_pad_params;

/* Nothing is added; the border is the constant zero. */
#define CC_PAD_PARAMS_INIT                                                                                             \
    {                                                                                                                  \
        sizeof(cc_pad_params), 0, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, 0                                          \
    }

/**
 * The image with pixels around it. Each axis has a border of its own (border.h); in a corner they act one after the
 * other, and where one of them gives the value, that is it. A border may be wider than the image, whose pixels are then
 * mirrored or repeated again and again; one pixel mirrored is repeated. A new image has the input's type, and the
 * index of the input less `lower`.
 * Returns as above, and CC_ERROR_INVALID_ARGUMENT for struct_size 0, flags, an unknown border, a negative number of
 * pixels, or a border other than CONSTANT of an image without pixels. Since 2.0.
 * Source: numpy.pad(); itk::PadImageFilter.
 */
CC_API cc_status cc_image_pad(cc_image *input, const cc_pad_params *params, cc_image *output, cc_stream stream);
CC_API cc_status cc_image_create_padded(cc_image *input, const cc_pad_params *params, cc_stream stream,
                                        cc_image **out_image);

/**
 * The image with the order of its pixels turned round along some axes.
 * axes: bit n for axis n; only those of the image's dimension. A new image has the input's index; the direction of a
 * turned axis is the opposite one, and the origin is where the pixel that is now at index 0 was.
 * Returns as above, and CC_ERROR_INVALID_ARGUMENT for other axes. Since 2.0.
 * Source: numpy.flip(); for space itk::FlipImageFilter with FlipAboutOriginOff.
 */
CC_API cc_status cc_image_flip(cc_image *input, uint32_t axes, cc_image *output, cc_stream stream);
CC_API cc_status cc_image_create_flipped(cc_image *input, uint32_t axes, cc_stream stream, cc_image **out_image);

/**
 * The image with its axes in another order: axis n of the output is axis order[n] of the input.
 * order: each of 0 to dimension - 1 once; entries past the dimension are ignored. A new image has the input's size,
 * index, spacing and directions in that order.
 * Returns as above, and CC_ERROR_INVALID_ARGUMENT for another order. Since 2.0.
 * Source: itk::PermuteAxesImageFilter.
 */
CC_API cc_status cc_image_permute(cc_image *input, const int32_t order[CC_MAX_DIMENSION], cc_image *output,
                                  cc_stream stream);
CC_API cc_status cc_image_create_permuted(cc_image *input, const int32_t order[CC_MAX_DIMENSION], cc_stream stream,
                                          cc_image **out_image);

CC_END_DECLS

#endif
