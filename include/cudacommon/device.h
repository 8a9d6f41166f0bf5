/* Where pixels can be: the host and the devices; and the streams that order work on a device. */
#ifndef CUDACOMMON_DEVICE_H
#define CUDACOMMON_DEVICE_H

#include <cudacommon/export.h>
#include <cudacommon/status.h>
#include <stdint.h>

CC_BEGIN_DECLS

/* A place is the host, or a device by its CUDA ordinal (0, 1, ...). */
typedef int32_t cc_place;
#define CC_PLACE_HOST (-1)

/* In cc_image_params.device: the device that is current on the thread that first needs one. */
#define CC_DEVICE_CURRENT (-2)

/* The same type as cudaStream_t and CUstream, so that either can be passed as it is. A call that is given a stream of
 * another device, or one that was destroyed, is CC_ERROR_STREAM where the driver says so; not every driver does. */
typedef struct CUstream_st *cc_stream;
#define CC_STREAM_DEFAULT ((cc_stream)0)    /* the legacy default stream */
#define CC_STREAM_PER_THREAD ((cc_stream)2) /* the calling thread's default stream */

/**
 * How many devices images can live on. 0 without a GPU, without a driver, and in a build without CUDA: never an error;
 * the message of cc_device_get_current() then says why there is none. Initialises the driver on the first call, but
 * creates no context on any device. Thread safety: any thread. Blocks while the driver initialises. Since 2.0.
 */
CC_API int32_t cc_device_count(void);

/**
 * Which devices are behind the library: "cuda", "emulated" or "none". The environment variable CUDACOMMON_DEVICE
 * chooses before the first use of a device: "emulated" or "emulated:3" (separate host memory that behaves as devices,
 * for tests), "none"; anything else, or nothing, means CUDA where there is a driver.
 * Ownership: a static string. Thread safety: any thread. Blocks while the driver initialises. Since 2.0.
 */
CC_API const char *cc_device_backend_name(void);

/**
 * Which device is current on the calling thread: where an image with CC_DEVICE_CURRENT would go. Creates no context.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL; CC_ERROR_NO_DEVICE; CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * Thread safety: any thread. Blocks while the driver initialises. Since 2.0.
 */
CC_API cc_status cc_device_get_current(int32_t *out_device);

/**
 * Waits until everything queued on a stream of a device is done.
 * device: 0 to cc_device_count() - 1. stream: a stream of that device, or one of the default streams.
 * Returns CC_OK; CC_ERROR_NO_DEVICE without devices; CC_ERROR_INVALID_DEVICE; CC_ERROR_FORKED; CC_ERROR_STREAM;
 * CC_ERROR_CAPTURE when the stream is being captured; CC_ERROR_DEVICE when the driver, or work queued before, failed.
 * Thread safety: any thread. Blocks the calling thread on the stream. Since 2.0.
 */
CC_API cc_status cc_stream_synchronize(int32_t device, cc_stream stream);

/**
 * Makes a stream wait, on the device, for what is queued in another one now: how a producer hands pixels to a consumer
 * that works in a stream of its own. With the same stream twice there is nothing to do.
 * device: 0 to cc_device_count() - 1. stream, awaited: streams of that device, or default streams.
 * Returns CC_OK; CC_ERROR_NO_DEVICE without devices; CC_ERROR_INVALID_DEVICE; CC_ERROR_FORKED; CC_ERROR_STREAM;
 * CC_ERROR_CAPTURE when one of the two is being captured; CC_ERROR_DEVICE when the driver failed.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_status cc_stream_wait(int32_t device, cc_stream stream, cc_stream awaited);

CC_END_DECLS

#endif
