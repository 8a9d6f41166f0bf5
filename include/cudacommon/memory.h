/* Where pixels' memory comes from, how much of it is page-locked, and what is kept for reuse. */
#ifndef CUDACOMMON_MEMORY_H
#define CUDACOMMON_MEMORY_H

#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/status.h>
#include <stddef.h>
#include <stdint.h>

CC_BEGIN_DECLS

/*
 * An allocator of the caller's, for the pixels of images. Every memory goes back to the allocator it came from, also
 * when another one has been set since. Called from any thread, with no lock held; the caller's current device is
 * whatever it is. The functions must not use the image that the memory is for.
 *
 * On a device both are in stream order. allocate: the memory may be used by work queued in `stream` from then on; an
 * allocator that knows nothing of streams returns memory that is free already. free: work queued in `stream` before may
 * still use the memory, nothing else does; the allocator gives it out again in an order after that work. The stream is
 * one of the library's own, or CC_STREAM_DEFAULT when all work is done. On the host the stream is CC_STREAM_DEFAULT,
 * and nothing uses the memory any more when it is freed.
 *
 * allocate: size_bytes > 0; the memory is a multiple of alignment_bytes (a power of two), NULL when there is none.
 * place: CC_PLACE_HOST, or the device that the memory is on. free: the same size and place.
 */
typedef void *(*cc_allocate_fn)(size_t size_bytes, size_t alignment_bytes, cc_place place, cc_stream stream,
                                void *user_data);
typedef void (*cc_free_fn)(void *memory, size_t size_bytes, cc_place place, cc_stream stream, void *user_data);

typedef struct cc_allocator {
    uint32_t struct_size; /* set by CC_ALLOCATOR_INIT */
    uint32_t reserved;
    cc_allocate_fn allocate;
    cc_free_fn free;
    void (*release)(void *user_data); /* or NULL; called once, when the library has no more use for user_data */
    void *user_data;                  /* for all three */
} cc_allocator;

#define CC_ALLOCATOR_INIT                                                                                              \
    {                                                                                                                  \
        sizeof(cc_allocator), 0, 0, 0, 0, 0                                                                            \
    }

/**
 * Sets where images get their memory from on the host, or on all devices, from now on; memory that they have stays
 * where it is. Images with an allocator of their own keep that. Allocates bookkeeping only. allocator: copied; or NULL
 * for the library's own memory again. Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for struct_size 0, or allocate or free
 * NULL; CC_ERROR_OUT_OF_HOST_MEMORY. Ownership: user_data is borrowed until `release` is called: when another allocator
 * has been set and no memory of this one is left. On failure it is not called. Thread safety: any thread. Does not
 * block. Since 2.0.
 */
CC_API cc_status cc_host_set_allocator(const cc_allocator *allocator);
CC_API cc_status cc_device_set_allocator(const cc_allocator *allocator);

/**
 * The same for the pixels of one image, and all that share them, while they have no memory yet of that kind.
 * allocator: copied; or NULL for what images get otherwise.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for image NULL, struct_size 0, or allocate or free NULL; CC_ERROR_BUSY when
 * there is memory on the host (on any device) already, wrapped memory included; CC_ERROR_OUT_OF_HOST_MEMORY.
 * Ownership: as above, until the pixels are gone or another allocator is set for them.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_status cc_image_set_host_allocator(cc_image *image, const cc_allocator *allocator);
CC_API cc_status cc_image_set_device_allocator(cc_image *image, const cc_allocator *allocator);

/*
 * Memory of the library's own on the host is page-locked where pixels move between it and a device, so that they move
 * at the speed of the link. Only the parts that move take up RAM and are locked: an image's first slice costs one
 * slice. When locking is refused, or its limit is reached, pixels move all the same, only slower.
 *
 * Memory that is freed is kept for the next image, up to a limit: locking it again would take long. From 4 MiB on this
 * holds without locks too, since new pages take long to write to; such memory is offered to the system (MADV_FREE on
 * Linux), which takes it back when it is short.
 */
typedef struct cc_host_memory_state {
    uint32_t struct_size; /* set by CC_HOST_MEMORY_STATE_INIT */
    uint32_t reserved;
    uint64_t locked_bytes; /* page-locked now: images, what is kept for reuse, and the library's own buffers */
    uint64_t locked_limit_bytes;
    uint64_t pooled_bytes; /* kept for reuse */
    uint64_t pool_limit_bytes;
    uint64_t staging_bytes; /* buffers through which memory that is not page-locked is copied */
} cc_host_memory_state;

#define CC_HOST_MEMORY_STATE_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(cc_host_memory_state), 0, 0, 0, 0, 0, 0                                                                 \
    }

/**
 * What the process has of page-locked memory. Allocates and copies nothing.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL or struct_size 0.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_status cc_host_get_memory_state(cc_host_memory_state *out_state);

/**
 * The most host memory that the library page-locks, over all images. What is locked already stays locked until its
 * image lets go of it. 0: never lock anything. At first half of the machine's memory, or what the environment variable
 * CUDACOMMON_PINNED_LIMIT says: bytes, or a number with K, M, G or T behind it for binary thousands.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API void cc_host_set_locked_limit(size_t limit_bytes);

/**
 * The most host memory that is kept for reuse; more than that is freed at once. 0: keep nothing. At first an eighth of
 * the machine's memory, at most 8 GiB.
 * Thread safety: any thread. Blocks while memory is given back to the system. Since 2.0.
 */
CC_API void cc_host_set_pool_limit(size_t limit_bytes);

/**
 * Gives host memory that is kept for reuse back to the system, what is not page-locked before the rest and the oldest
 * first, until this many bytes of it are left; with 0 also the buffers through which memory that is not page-locked is
 * copied.
 * Thread safety: any thread. Blocks while memory is given back, and for copies under way in those buffers. Since 2.0.
 */
CC_API void cc_host_trim(size_t keep_bytes);

CC_END_DECLS

#endif
