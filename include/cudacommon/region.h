/* A box of pixels: where it starts and how many pixels it has along each axis. */
#ifndef CUDACOMMON_REGION_H
#define CUDACOMMON_REGION_H

#include <cudacommon/export.h>
#include <stdint.h>

#define CC_MAX_DIMENSION 4

/*
 * Axes are i (fastest in memory), j, k, l. The index of the first pixel is signed; sizes are >= 0.
 * On the way in, entries past the image's dimension are ignored. On the way out they are index 0 and size 1.
 */
typedef struct cc_region {
    int64_t index[CC_MAX_DIMENSION];
    int64_t size[CC_MAX_DIMENSION];
} cc_region;

#endif
