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
} cc_place_state;

#define CC_PLACE_STATE_INIT                                                                                            \
    {                                                                                                                  \
        sizeof(cc_place_state), 0, 0, 0, 0                                                                             \
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

/* What the pixels of an image, and all that share them, have cost since they were made. One copy is one box. */
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
} cc_counters;

#define CC_COUNTERS_INIT                                                                                               \
    {                                                                                                                  \
        sizeof(cc_counters), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                                                        \
    }

/**
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL or struct_size 0.
 * Thread safety: any thread. Does not block. Since 2.0.
 */
CC_API cc_status cc_image_get_counters(cc_image *image, cc_counters *out_counters);

CC_END_DECLS

#endif
