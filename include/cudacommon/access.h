/* Pixels where the caller needs them: on the host, or on a device in a stream. */
#ifndef CUDACOMMON_ACCESS_H
#define CUDACOMMON_ACCESS_H

#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/region.h>
#include <cudacommon/status.h>

CC_BEGIN_DECLS

/* What the caller will do with the pixels between map and unmap. */
typedef enum cc_access {
    CC_ACCESS_READ = 0,      /* look; other places stay valid */
    CC_ACCESS_WRITE = 1,     /* write every pixel of the region; what was there before is not brought over */
    CC_ACCESS_READ_WRITE = 2 /* look and change */
} cc_access;

/*
 * A mapping lends the pixels of a region. Overlapping regions have many readers or one writer, over all places
 * together; another request is refused with CC_ERROR_BUSY at once, and nothing changes. Disjoint regions are
 * independent. While a mapping lives, its memory is not freed, moved or evicted, and the image stays alive.
 *
 * A pointer points at the region's first pixel; the next pixel along an axis is strides away as in cc_descriptor
 * (for memory of the library's own: dense over the pixels that are shared, so a view has the strides of its parent).
 * An empty region maps to NULL, needs no memory and no device, and is unmapped with NULL.
 *
 * Pixels that are on loan (loan.h) may be mapped too. The end of a write then brings them to the borrower's memory: it
 * copies and allocates as cc_image_prefetch() to there does, and when it fails the mapping still stands.
 */

/**
 * Lends pixels on the host. Waits for what writes them, brings down only what is stale, nothing for CC_ACCESS_WRITE.
 * Allocates the pixels' host memory the first time.
 * region: inside the image's region, or NULL for all of it.
 * out_pixels: the region's first pixel, in host memory.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, access, or a negative size; CC_ERROR_REGION; CC_ERROR_BUSY;
 * CC_ERROR_READ_ONLY for writing to memory wrapped read-only; CC_ERROR_UNINITIALIZED for reading pixels nobody wrote;
 * CC_ERROR_OUT_OF_HOST_MEMORY; CC_ERROR_FORKED; CC_ERROR_DEVICE when a copy, or the work before it, failed.
 * Ownership: borrowed until cc_image_unmap_host().
 * Thread safety: any thread. Blocks until the region's pixels are there; for the whole device when they are, or were,
 * on loan there to somebody whose stream is not known. Since 2.0.
 */
CC_API cc_status cc_image_map_host(cc_image *image, const cc_region *region, cc_access access, void **out_pixels);

/**
 * Gives back what cc_image_map_host() lent. Copies nothing, unless pixels are on loan elsewhere. When several readers
 * mapped regions that start at the same pixel, these are given back one call each and stay lent until the last.
 * pixels: the pointer that was returned; NULL (an empty region) does nothing.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for image NULL or a pointer that this image has not mapped on the host; for
 * pixels on loan also what cc_image_prefetch() returns, and CC_ERROR_CAPTURE when the borrower's stream is captured.
 * Thread safety: any thread, not only the one that mapped. Does not block, but as cc_image_prefetch() for pixels on
 * loan. Since 2.0.
 */
CC_API cc_status cc_image_unmap_host(cc_image *image, void *pixels);

/**
 * Lends pixels on the image's device, for work in `stream`. Brings up only what is stale (nothing for CC_ACCESS_WRITE),
 * on the library's own streams; `stream` waits for that, and for the work of others that must come before.
 * Allocates the pixels' device memory the first time.
 * region: inside the image's region, or NULL for all of it. stream: of the image's device.
 * out_pixels: the region's first pixel, in device memory; for use in `stream`, or after synchronising with it.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, access, or a negative size; CC_ERROR_REGION; CC_ERROR_BUSY;
 * CC_ERROR_READ_ONLY; CC_ERROR_UNINITIALIZED; CC_ERROR_NO_DEVICE; CC_ERROR_INVALID_DEVICE; CC_ERROR_CAPTURE when the
 * stream is being captured; CC_ERROR_OUT_OF_DEVICE_MEMORY; CC_ERROR_OUT_OF_HOST_MEMORY; CC_ERROR_FORKED;
 * CC_ERROR_DEVICE.
 * Ownership: borrowed until cc_image_unmap_device().
 * Thread safety: any thread; the caller's current device and pending CUDA error are untouched.
 * Blocks only while pageable memory is copied, or other images leave the device to make room (budget.h); the rest is in
 * stream order. Since 2.0.
 */
CC_API cc_status cc_image_map_device(cc_image *image, const cc_region *region, cc_access access, cc_stream stream,
                                     void **out_pixels);

/**
 * Gives back what cc_image_map_device() lent. What was queued in `stream` so far is what others will wait for.
 * pixels: the pointer that was returned; NULL (an empty region) does nothing. stream: where the work was queued, on the
 * device it was mapped on; it may be another than at map. It may be destroyed afterwards.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for image NULL or a pointer that this image has not mapped on a device;
 * CC_ERROR_CAPTURE when the stream is being captured; CC_ERROR_FORKED; CC_ERROR_DEVICE; for pixels on loan also what
 * cc_image_prefetch() returns. When it fails, the mapping still stands.
 * Thread safety: any thread, not only the one that mapped. Does not block, but as cc_image_prefetch() for pixels on
 * loan. Since 2.0.
 */
CC_API cc_status cc_image_unmap_device(cc_image *image, void *pixels, cc_stream stream);

/**
 * Brings the stale pixels of a region to a place, without lending them.
 * region: inside the image's region, or NULL for all of it. place: CC_PLACE_HOST or a device.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for image NULL or a negative size; CC_ERROR_REGION; CC_ERROR_BUSY while a
 * writer has pixels of the region; CC_ERROR_UNINITIALIZED; CC_ERROR_NO_DEVICE; CC_ERROR_INVALID_DEVICE;
 * CC_ERROR_OUT_OF_HOST_MEMORY; CC_ERROR_OUT_OF_DEVICE_MEMORY; CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * Thread safety: any thread. Blocks only while pageable memory is copied, or other images leave the device to make room
 * (budget.h). Since 2.0.
 */
CC_API cc_status cc_image_prefetch(cc_image *image, const cc_region *region, cc_place place);

/**
 * Frees the memory that the pixels (all that are shared, not only this view's) have at a place. Pixels that are only
 * there are first copied to the host, or, when the place is the host, to the image's device; no pixel is lost.
 * Memory that was wrapped is not freed and stays in use; a place without memory is left as it is. Both are CC_OK.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for image NULL; CC_ERROR_INVALID_DEVICE; CC_ERROR_BUSY while pixels are
 * mapped or lent at the place, or a writer has some anywhere; CC_ERROR_NO_DEVICE when host pixels have nowhere to go;
 * CC_ERROR_OUT_OF_HOST_MEMORY; CC_ERROR_OUT_OF_DEVICE_MEMORY; CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * Thread safety: any thread. Blocks until host memory is no longer read or written by copies. Since 2.0.
 */
CC_API cc_status cc_image_evict(cc_image *image, cc_place place);

CC_END_DECLS

#endif
