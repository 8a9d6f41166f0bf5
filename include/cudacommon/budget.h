/* Less device memory than all images together would take: limits, and what goes first. */
#ifndef CUDACOMMON_BUDGET_H
#define CUDACOMMON_BUDGET_H

#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/region.h>
#include <cudacommon/status.h>
#include <stddef.h>
#include <stdint.h>

CC_BEGIN_DECLS

/*
 * When an image needs device memory that the limit, or the device, does not have, others give up theirs: images of
 * lower priority first; among equals those that need no copy (every pixel is valid elsewhere too, or is the fill value)
 * before those that are copied to the host first; among these the one that was used longest ago. No pixel is lost:
 * whoever asks for it next gets it. What is mapped on the device, being written anywhere, wrapped, or part of a
 * transfer under way stays, and so does what cannot be copied for want of host memory. When that is not enough the call
 * that needed the memory returns CC_ERROR_OUT_OF_DEVICE_MEMORY; what left meanwhile stays away. An image that could not
 * be had even from an empty device makes nobody leave.
 *
 * The pixels that leave are those of whole images, with all that share them.
 */

/**
 * Limits what the library's own images hold on a device. Wrapped memory does not count, nor does what the driver rounds
 * up. What is held beyond the limit leaves now, as far as it is not in use; the rest of it when memory is next needed.
 * device: 0 to cc_device_count() - 1. limit_bytes: the most that images hold together, 0 for no limit (the default).
 * headroom_bytes: how much of the device's memory is to stay free for others, 0 (the default) for none; each allocation
 * then asks the driver, and when memory is short waits for what the library has queued on the device.
 * Returns CC_OK; CC_ERROR_NO_DEVICE; CC_ERROR_INVALID_DEVICE.
 * Thread safety: any thread. Blocks while pixels are copied to the host. Since 2.0.
 */
CC_API cc_status cc_device_set_limit(int32_t device, size_t limit_bytes, size_t headroom_bytes);

/**
 * What cc_device_set_limit() set. Either pointer may be NULL. Copies nothing, allocates nothing.
 * Returns CC_OK; CC_ERROR_NO_DEVICE; CC_ERROR_INVALID_DEVICE.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_status cc_device_get_limit(int32_t device, size_t *out_limit_bytes, size_t *out_headroom_bytes);

/**
 * Gives device memory that the library keeps for reuse back to the driver. No image loses any.
 * keep_bytes: how much to keep, of what is in use and not.
 * Returns CC_OK; CC_ERROR_NO_DEVICE; CC_ERROR_INVALID_DEVICE; CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * Thread safety: any thread. Memory whose last use is still queued stays. Blocks only when loans (loan.h) have left
 * pixels behind that nobody has any more: those are freed, once the device is done with them. Since 2.0.
 */
CC_API cc_status cc_device_trim(int32_t device, size_t keep_bytes);

/**
 * How long the image's pixels, and with them all that share them, stay on a device when memory is short: those with a
 * higher number leave only when none with a lower is left to leave. The default is 0. New pixels (cc_image_resize,
 * cc_image_wrap_host, cc_image_wrap_device) begin with 0 again. Copies nothing, allocates nothing.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_status cc_image_set_priority(cc_image *image, int32_t priority);

/**
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL. Copies nothing, allocates nothing.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_status cc_image_get_priority(cc_image *image, int32_t *out_priority);

/**
 * Says that what the pixels hold is not needed any more. They are undefined from then on, in this image and all that
 * share them: to read one before it is written is CC_ERROR_UNINITIALIZED, and nothing copies it. Copies nothing. When
 * no pixel that is shared is defined any more, memory of the library's own is freed everywhere; wrapped memory stays in
 * use, as it is. Unlike cc_image_evict() this loses pixels. region: inside the image's region, or NULL for all of it.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for image NULL or a negative size; CC_ERROR_REGION; CC_ERROR_BUSY while
 * pixels of the region are mapped or lent; CC_ERROR_READ_ONLY for memory wrapped read-only;
 * CC_ERROR_OUT_OF_HOST_MEMORY.
 * Thread safety: any thread. Blocks until host memory that is freed is no longer read or written by copies, and for the
 * device when it frees memory that was lent to somebody whose stream is not known. Since 2.0.
 */
CC_API cc_status cc_image_discard(cc_image *image, const cc_region *region);

CC_END_DECLS

#endif
