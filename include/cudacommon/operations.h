/* Work on pixels, done where they are: on the device when they are there, else on the host, with the same results. */
#ifndef CUDACOMMON_OPERATIONS_H
#define CUDACOMMON_OPERATIONS_H

#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/region.h>
#include <cudacommon/status.h>

CC_BEGIN_DECLS

/*
 * Where an operation runs: when one of its images has memory on a device, on that image's device
 * (cc_image_get_device()); when none has memory anywhere and there is a device, on the output's; else on the host. On a
 * device the work is queued in `stream`; on the host the call returns when it is done, and ignores `stream`.
 */

/**
 * Sets every pixel of a region to one value. When the region is all the pixels that are shared, only the value is kept:
 * nothing is allocated, moved or queued until somebody looks. While pixels are lent (loan.h) their memory is filled.
 * region: inside the image's region, or NULL for all of it. value: one pixel, of the image's type and components.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL or a negative size; CC_ERROR_REGION; CC_ERROR_READ_ONLY;
 * CC_ERROR_BUSY while pixels of the region are mapped; CC_ERROR_INVALID_DEVICE; CC_ERROR_CAPTURE;
 * CC_ERROR_OUT_OF_HOST_MEMORY; CC_ERROR_OUT_OF_DEVICE_MEMORY; CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * Ownership: value is copied before the call returns.
 * Thread safety: any thread. On a device does not block: `stream` order. Since 2.0.
 */
CC_API cc_status cc_image_fill(cc_image *image, const cc_region *region, const void *value, cc_stream stream);

/**
 * output = input * scale + shift, component by component, cast to the output's type. Pixel (0, 0, ...) counted from the
 * first pixel of each image; the sizes and components are equal, the regions' indices may differ. Parts of images:
 * views. The output may be the input, or share exactly its pixels.
 *
 * Computed in float64. scale 1 and shift 0 is a cast: between integers exact, also for 64 bits; between equal types a
 * copy; else each value as it is, -0 included. Into an integer: rounded half to even, then clamped to the type's range;
 * NaN gives 0. Into bool: 1 unless the value is 0 (complex: both parts). Into a float: rounded half to even, overflow
 * gives infinity; NaN gives the type's quiet NaN. Complex input: scale acts on both parts, shift on the real one; into
 * a real type the real part is kept. Real into complex: imaginary part 0. CPU and GPU give the same bits.
 *
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, or scale or shift not finite; CC_ERROR_SIZE when the sizes or
 * components differ; CC_ERROR_READ_ONLY; CC_ERROR_BUSY while the output is mapped, the input is being written, or the
 * two overlap otherwise than exactly; CC_ERROR_UNINITIALIZED; CC_ERROR_INVALID_DEVICE; CC_ERROR_CAPTURE;
 * CC_ERROR_OUT_OF_HOST_MEMORY; CC_ERROR_OUT_OF_DEVICE_MEMORY; CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * Allocates what the output needs at that place; brings the stale part of the input there.
 * Thread safety: any thread. On a device blocks only while pageable memory is copied: `stream` order. Since 2.0.
 * Source: IEEE 754-2019, 4.3.1 roundTiesToEven.
 */
CC_API cc_status cc_image_rescale(cc_image *input, double scale, double shift, cc_image *output, cc_stream stream);

CC_END_DECLS

#endif
