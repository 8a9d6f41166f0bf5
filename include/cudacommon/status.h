/* What a call that can fail returns, and how to ask why. */
#ifndef CUDACOMMON_STATUS_H
#define CUDACOMMON_STATUS_H

#include <cudacommon/export.h>
#include <stdint.h>

CC_BEGIN_DECLS

/* A call that returns anything but CC_OK changed nothing and may be tried again. Each value: cause, then remedy. */
typedef enum cc_status {
    CC_OK = 0,
    /* NULL where a pointer is needed, a value out of its range, a struct_size of 0. Correct the argument. */
    CC_ERROR_INVALID_ARGUMENT = 1,
    /* A product or sum of sizes, strides or indices leaves 63 bits. Ask for less. */
    CC_ERROR_OVERFLOW = 2,
    /* The region is not inside the image's region. Crop it, or resize the image. */
    CC_ERROR_REGION = 3,
    /* The pixel type is unknown, or not supported by this call. Cast first. */
    CC_ERROR_PIXEL_TYPE = 4,
    /* A byte length or an image size does not match. Pass memory, or an image, of the size named. */
    CC_ERROR_SIZE = 5,
    /* Strides overlap, are too short, or are misaligned for the pixel type. Copy to a plain layout. */
    CC_ERROR_LAYOUT = 6,
    /* Somebody holds a mapping or a loan that excludes this one. Unmap it first; the library never waits for it. */
    CC_ERROR_BUSY = 7,
    /* The memory was wrapped read-only. Copy the image to write. */
    CC_ERROR_READ_ONLY = 8,
    /* Pixels that nobody has written would be read, or that were lost when an operation on a device failed after it had
     * begun to write. Write them, or create without CC_IMAGE_UNINITIALIZED. */
    CC_ERROR_UNINITIALIZED = 9,
    /* There is no GPU, no driver, or no CUDA in this build. Use the host functions. */
    CC_ERROR_NO_DEVICE = 10,
    /* The device number is not one of this machine's. Ask cc_device_count(). */
    CC_ERROR_INVALID_DEVICE = 11,
    /* The pointer is not memory of the kind the call needs (host memory given as device memory). */
    CC_ERROR_POINTER = 12,
    /* The stream is not one of the image's device, or none any more: from any call that takes a stream, as far as the
     * driver says so. Pass one of that device. */
    CC_ERROR_STREAM = 13,
    /* The stream is being captured into a graph and the call needs work that a graph cannot hold. Map before capturing.
     */
    CC_ERROR_CAPTURE = 14,
    /* Host memory is exhausted. Free some and try again. */
    CC_ERROR_OUT_OF_HOST_MEMORY = 15,
    /* Device memory is exhausted and nothing can be evicted. Unmap, evict or release images and try again. */
    CC_ERROR_OUT_OF_DEVICE_MEMORY = 16,
    /* The driver reported an error; cc_last_native_error() has its code. A lost device stays lost; host data is intact.
     */
    CC_ERROR_DEVICE = 17,
    /* The process was forked after the device was first used; CUDA does not work in the child. Use the device after
     * fork. */
    CC_ERROR_FORKED = 18,
    /* The call is right but this build or this memory cannot do it. The message says what can. */
    CC_ERROR_UNSUPPORTED = 19,
    /* The caller's own callback asked for the end. What was done by then is done; the function says what. */
    CC_ERROR_CANCELLED = 20
} cc_status;

/**
 * The name of a status, as in "CC_ERROR_BUSY"; "CC_ERROR_UNKNOWN" for a number that is none.
 * Copies nothing, allocates nothing.
 * Ownership: a static string. Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API const char *cc_status_name(cc_status status);

/**
 * One line about the last call on this thread that returned an error: function, argument, value, what was expected.
 * A call that succeeds leaves it as it is. "" when no call on this thread has failed.
 * Copies nothing, allocates nothing.
 * Ownership: borrowed until the next failing call on this thread.
 * Thread safety: each thread has its own. Does not block. Since 2.0.
 */
CC_API const char *cc_last_error_message(void);

/**
 * The driver's own code (a CUresult) of the last error on this thread, 0 when it did not come from the driver.
 * Copies nothing, allocates nothing.
 * Thread safety: each thread has its own. Does not block. Since 2.0.
 */
CC_API int32_t cc_last_native_error(void);

CC_END_DECLS

#endif
