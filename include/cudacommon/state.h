/* What an image holds and where, and what it has cost. Looking changes nothing. */
#ifndef CUDACOMMON_STATE_H
#define CUDACOMMON_STATE_H

#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/region.h>
#include <cudacommon/status.h>
#include <stddef.h>
#include <stdint.h>

CC_BEGIN_DECLS

/* The pixels of an image at one place. */
typedef struct cc_place_state {
    uint32_t struct_size;    /* set by CC_PLACE_STATE_INIT */
    int32_t mapping_count;   /* mappings at the place, over all images that share the pixels */
    uint64_t memory_bytes;   /* memory held at the place, for all pixels that are shared; 0 when there is none yet */
    int64_t valid_pixels;    /* of this image: up to date at the place */
    int64_t constant_pixels; /* of this image: known to be the fill value; valid everywhere at no cost */
    uint64_t locked_bytes;   /* on the host: of memory_bytes, page-locked by the library; the rest is pageable */
    int32_t loan_count;      /* loans at the place (loan.h), over all images that share the pixels */
    int32_t reserved;
    uint64_t texture_bytes; /* on a device: memory that textures (texture.h) of the pixels hold beside memory_bytes */
} cc_place_state;

#define CC_PLACE_STATE_INIT                                                                                            \
    {                                                                                                                  \
        sizeof(cc_place_state), 0, 0, 0, 0, 0, 0, 0, 0                                                                 \
    }

/**
 * place: CC_PLACE_HOST or a device, which need not exist.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, struct_size 0 or place.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_status cc_image_get_place_state(cc_image *image, cc_place place, cc_place_state *out_state);

/**
 * The boxes of the image that are up to date at a place, disjoint, in the image's indices. Pixels known only as the
 * fill value are not among them. capacity: how many regions out_regions can hold; with 0 it may be NULL. out_count: how
 * many there are, also when that is more than capacity. Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, negative
 * capacity or place; CC_ERROR_OUT_OF_HOST_MEMORY. Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_status cc_image_get_valid_regions(cc_image *image, cc_place place, int32_t capacity, cc_region *out_regions,
                                            int32_t *out_count);

/* The ways in which pixels move. Later versions may add values, up to CC_PATH_CAPACITY of them. */
typedef enum cc_copy_path {
    CC_PATH_ENGINE = 0, /* by a copy engine: from or to page-locked memory, or between devices */
    CC_PATH_KERNEL = 1, /* by a kernel that reads or writes page-locked memory */
    CC_PATH_STAGED = 2, /* by the CPU into or out of page-locked memory of the library's own, and from there on */
    CC_PATH_PLAIN = 3   /* by the driver, from or to memory that is not page-locked */
} cc_copy_path;
#define CC_PATH_CAPACITY 6

typedef struct cc_path_counters {
    uint64_t copies;
    uint64_t bytes;
} cc_path_counters;

/*
 * What the pixels of an image, and all that share them, have cost since they were made, or since the counters were
 * reset. One copy is one box; by path, a box that moved in pieces is as many copies.
 */
typedef struct cc_counters {
    uint32_t struct_size; /* set by CC_COUNTERS_INIT */
    uint32_t reserved;
    uint64_t host_to_device_copies;
    uint64_t host_to_device_bytes;
    uint64_t device_to_host_copies;
    uint64_t device_to_host_bytes;
    uint64_t device_to_device_copies;
    uint64_t device_to_device_bytes;
    uint64_t fills;          /* boxes set to the fill value at a place, because somebody looked */
    uint64_t avoided_copies; /* accesses for which all pixels were up to date, or needed no old content */
    uint64_t avoided_bytes;  /* bytes of those accesses, and of the up-to-date part of the others */
    uint64_t host_allocations;
    uint64_t device_allocations;
    cc_path_counters host_to_device_paths[CC_PATH_CAPACITY]; /* by cc_copy_path */
    cc_path_counters device_to_host_paths[CC_PATH_CAPACITY];
    uint64_t evictions;            /* times that the pixels were taken from a place, and its memory freed */
    uint64_t transfer_nanoseconds; /* that threads spent in moving pixels; work of devices goes on after it */
    uint64_t texture_updates;      /* times that pixels were copied into a texture, because it had none or older ones */
} cc_counters;

#define CC_COUNTERS_INIT                                                                                               \
    {                                                                                                                  \
        sizeof(cc_counters), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}},     \
            {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}}, 0, 0, 0                                                  \
    }

/**
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL or struct_size 0.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_status cc_image_get_counters(cc_image *image, cc_counters *out_counters);

/**
 * Sets the counters of the image's pixels to 0, for all images that share them. The totals stay as they are.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_status cc_image_reset_counters(cc_image *image);

/**
 * The sums over all pixels of the process, also those that are gone: since it began, or since they were last reset.
 * Takes time in proportion to the number of images. While other threads use images, each image's counters are of one
 * moment, but not all of the same one; no counter ever runs backwards.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL or struct_size 0.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_status cc_get_total_counters(cc_counters *out_counters);

/**
 * Lets the totals begin at 0 again. The counters of images stay as they are.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API void cc_reset_total_counters(void);

/* Bytes of a label, with the final 0. */
#define CC_LABEL_BYTES 64

/**
 * Names the pixels of an image, for traces, logs and lists: UTF-8, at most 63 bytes; NULL or "" for none, as at first.
 * All images that share the pixels have the label; resizing and wrapping keep it, a graft takes over its source's.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for image NULL, or a label that is too long.
 * Ownership: label is copied. Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_status cc_image_set_label(cc_image *image, const char *label);

/**
 * Writes the label, with its final 0, to out_label.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL.
 * Ownership: out_label is the caller's, of CC_LABEL_BYTES. Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_status cc_image_get_label(cc_image *image, char out_label[CC_LABEL_BYTES]);

/* An image that has not been released by all its owners. */
typedef struct cc_live_image {
    uint32_t struct_size; /* of the caller's; in the first element set by CC_LIVE_IMAGE_INIT, the others need nothing */
    int32_t pixel_type;   /* a cc_pixel_type */
    int32_t components;   /* values per pixel */
    int32_t dimension;    /* 1 to CC_MAX_DIMENSION */
    int32_t device;       /* a device, or CC_DEVICE_CURRENT when it is not decided yet */
    int32_t mapping_count; /* mappings that this handle has out */
    const cc_image *image; /* only to be compared: its owners may have released it by now */
    cc_region region;
    uint64_t size_bytes;   /* of its pixels, wherever they are */
    uint64_t pixels_id;    /* the same for images that share pixels, and for no others in this process */
    uint64_t host_bytes;   /* memory held on the host for all pixels that are shared, wrapped memory included */
    uint64_t device_bytes; /* the same on all devices together, textures too */
    char label[CC_LABEL_BYTES];
} cc_live_image;

#define CC_LIVE_IMAGE_INIT                                                                                             \
    {                                                                                                                  \
        sizeof(cc_live_image), 0, 0, 0, 0, 0, 0, {{0, 0, 0, 0}, {0, 0, 0, 0}}, 0, 0, 0, 0,                             \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }

/**
 * Lists the images of the process, in no particular order, views and grafts too: for finding out who holds memory.
 * Allocates nothing. Takes time in proportion to their number.
 * capacity: how many elements out_images can hold; with 0 it may be NULL. out_images[0].struct_size is the size of each
 * element. out_count: how many images there are, also when that is more than capacity.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for out_count NULL, negative capacity, out_images NULL with a capacity, or a
 * struct_size of 0.
 * Thread safety: any thread; images that others make or release meanwhile may be listed or not. Does not block.
 * Since 2.0.
 */
CC_API cc_status cc_live_images(int32_t capacity, cc_live_image *out_images, int32_t *out_count);

/**
 * How much memory a device has, and how much of that nobody uses. Creates no context: a device that was never used
 * stays so. Memory that the library keeps for reuse does not count as free.
 * device: 0 to cc_device_count() - 1.
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL; CC_ERROR_NO_DEVICE without devices; CC_ERROR_INVALID_DEVICE;
 * CC_ERROR_UNSUPPORTED where it cannot be asked without a context; CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * Thread safety: any thread. Does not block once the driver is initialised. Since 2.0.
 */
CC_API cc_status cc_device_memory_info(int32_t device, size_t *out_free_bytes, size_t *out_total_bytes);

CC_END_DECLS

#endif
