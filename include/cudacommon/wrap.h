/* Images over memory that the caller already has. */
#ifndef CUDACOMMON_WRAP_H
#define CUDACOMMON_WRAP_H

#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/region.h>
#include <cudacommon/status.h>
#include <stddef.h>
#include <stdint.h>

CC_BEGIN_DECLS

/* The memory stays the caller's and outlives the image's use of it; needed when there is no release callback. */
#define CC_WRAP_BORROWED 1u
/* The pixels may only be read, through this image and all that share them. */
#define CC_WRAP_READ_ONLY 2u
/* The memory holds nothing worth reading; to read a pixel before it is written is an error. */
#define CC_WRAP_UNINITIALIZED 4u
/*
 * The pixels will move between the host and a device again and again, so that page-locking host memory pays: its whole
 * pages are locked in place, where pixels move, and unlocked before the release callback. Without it, what is not
 * page-locked is copied through memory of the library's own that is. No effect on device memory.
 */
#define CC_WRAP_REUSED 8u

/* Called once, when no image uses the memory any more and the device has finished with it. From any thread, no lock
 * held. */
typedef void (*cc_release_fn)(void *data, void *user_data);

typedef struct cc_wrap_params {
    uint32_t struct_size;                    /* set by CC_WRAP_PARAMS_INIT */
    uint32_t flags;                          /* CC_WRAP_... */
    void *data;                              /* the region's first pixel; may be NULL for an empty image */
    size_t size_bytes;                       /* bytes of memory from data on that may be used */
    int64_t strides_bytes[CC_MAX_DIMENSION]; /* bytes to the next pixel along i, j, k, l; all 0: dense */
    cc_release_fn release;                   /* or NULL, with CC_WRAP_BORROWED */
    void *user_data;                         /* for release */
} cc_wrap_params;

#define CC_WRAP_PARAMS_INIT                                                                                            \
    {                                                                                                                  \
        sizeof(cc_wrap_params), 0, 0, 0, {0, 0, 0, 0}, 0, 0                                                            \
    }

/**
 * Gives the image new pixels that are the caller's host memory, which counts as the newest copy. The image keeps its
 * region, type and geometry; what it held before is let go, unsaved. Views and grafts keep the old pixels.
 * Copies nothing; allocates nothing but bookkeeping. Host access then reads and writes the caller's memory itself.
 * params: size_bytes is exactly what the region needs with these strides: from the first byte of the first pixel to the
 * last byte of the last. Strides are >= 0 multiples of a component's size, and no two pixels overlap.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, struct_size 0, flags, or neither release nor CC_WRAP_BORROWED, or
 * both; CC_ERROR_SIZE when size_bytes is another number; CC_ERROR_LAYOUT for such strides or a misaligned pointer;
 * CC_ERROR_OVERFLOW; CC_ERROR_BUSY while `image` is mapped; CC_ERROR_OUT_OF_HOST_MEMORY.
 * Ownership: transferred on success to the release callback, or borrowed (CC_WRAP_BORROWED) until no image uses it.
 * Does not block, except as cc_image_release() does. Since 2.0.
 */
CC_API cc_status cc_image_wrap_host(cc_image *image, const cc_wrap_params *params);

/**
 * The same for device memory. The device is the one the memory is on, whatever the image's was; it becomes the image's.
 * stream: of that device; the image's users wait for what is queued in it now.
 * Returns as cc_image_wrap_host(), and CC_ERROR_NO_DEVICE; CC_ERROR_POINTER when data is not device memory;
 * CC_ERROR_CAPTURE when the stream is being captured; CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * Ownership: transferred on success to the release callback, which is called only when the device has finished with the
 * memory as far as the library knows; or borrowed (CC_WRAP_BORROWED) until no image uses it.
 * Does not block, except as cc_image_release() does. Since 2.0.
 */
CC_API cc_status cc_image_wrap_device(cc_image *image, const cc_wrap_params *params, cc_stream stream);

CC_END_DECLS

#endif
