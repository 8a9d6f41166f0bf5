/* The three kinds of work on pixels in memory, as plain data, and how the CPU does them. */
#ifndef CC_BASE_WORK_H
#define CC_BASE_WORK_H

#include <cudacommon/pixel.h>
#include <cudacommon/region.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A box of pixels in memory: its first pixel, and the bytes to the next along each axis. */
typedef struct cc__span {
    unsigned char *data;
    int64_t stride[CC_MAX_DIMENSION];
} cc__span;

/* The most bytes of one pixel: 64 components of complex128. */
#define CC__MAX_PIXEL_BYTES (CC_MAX_COMPONENTS * 16)

/* Sizes are > 0 in every kind of work. Destination and source do not overlap, except where rescale's are the same. */
typedef struct cc__copy {
    cc__span destination;
    cc__span source;
    int64_t size[CC_MAX_DIMENSION]; /* pixels */
    int64_t pixel_bytes;
} cc__copy;

typedef struct cc__fill {
    cc__span destination;
    int64_t size[CC_MAX_DIMENSION];
    int64_t pixel_bytes;
    unsigned char value[CC__MAX_PIXEL_BYTES]; /* pixel_bytes of it */
} cc__fill;

typedef struct cc__rescale {
    cc__span destination;
    cc__span source; /* the same pixels as destination only when the types are equal too */
    int64_t size[CC_MAX_DIMENSION];
    int32_t components;
    cc_pixel_type destination_type;
    cc_pixel_type source_type;
    double scale;
    double shift;
} cc__rescale;

void cc__copy_on_host(const cc__copy *work);
void cc__fill_on_host(const cc__fill *work);
void cc__rescale_on_host(const cc__rescale *work);

/* The same for a part of larger work; past_cache: see base/past_cache.h, whose end is the caller's. */
void cc__copy_part_on_host(const cc__copy *work, bool past_cache);
void cc__fill_part_on_host(const cc__fill *work, bool past_cache);
void cc__rescale_part_on_host(const cc__rescale *work, bool past_cache);

/*
 * Merges axes whose rows follow each other without a gap in every span, so that a dense box becomes one long row.
 * Sizes and strides are rewritten; merged axes get size 1. Strides of both spans, or NULL for the second.
 */
void cc__work_collapse(int64_t size[CC_MAX_DIMENSION], int64_t stride_a[CC_MAX_DIMENSION],
                       int64_t stride_b[CC_MAX_DIMENSION]);

#endif
