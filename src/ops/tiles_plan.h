/* How work on images is cut into tiles that fit a device. Pure arithmetic; boxes count from each image's first pixel.
 */
#ifndef CC_OPS_TILES_PLAN_H
#define CC_OPS_TILES_PLAN_H

#include "base/box.h"

#include <cudacommon/status.h>
#include <cudacommon/tiles.h>
#include <stdbool.h>

/* The box that an output box needs, not cut to the image yet; its start may be negative. */
typedef cc_status (*cc__tiles_map)(void *context, const cc__box *output, int64_t out_first[CC_MAX_DIMENSION],
                                   int64_t out_end[CC_MAX_DIMENSION]);

/* An image that is read; see cc_tiles_input. */
typedef struct cc__tiles_source {
    int64_t size[CC_MAX_DIMENSION];
    int64_t pixel_bytes;
    int64_t halo_before[CC_MAX_DIMENSION];
    int64_t halo_after[CC_MAX_DIMENSION];
    int32_t numerator[CC_MAX_DIMENSION]; /* > 0 */
    int32_t denominator[CC_MAX_DIMENSION];
    int64_t offset[CC_MAX_DIMENSION];
    cc__tiles_map map; /* or NULL */
    void *context;
    bool is_output; /* its pixels are the output's, and have no room of their own */
} cc__tiles_source;

typedef struct cc__tiles_job {
    int64_t size[CC_MAX_DIMENSION]; /* of the output; no axis is empty */
    int64_t pixel_bytes;
    int32_t source_count;
    int32_t buffer_count; /* wanted */
    int64_t limit_bytes;  /* for all buffers */
    int64_t aim_bytes;    /* a tile need not be larger */
    cc__tiles_source sources[CC_TILES_MAX_INPUTS];
} cc__tiles_job;

/* Each buffer holds one tile: the sources, one after the other, then the output. */
typedef struct cc__tiles_plan {
    int64_t step[CC_MAX_DIMENSION]; /* pixels of a tile; those at the end may have fewer */
    int64_t tile_counts[CC_MAX_DIMENSION];
    int64_t tile_count;
    int32_t buffer_count;
    int64_t source_offset[CC_TILES_MAX_INPUTS]; /* in a buffer, a multiple of CC__TILES_ALIGNMENT */
    int64_t output_offset;
    int64_t buffer_bytes; /* the same */
} cc__tiles_plan;

#define CC__TILES_ALIGNMENT 256

/* *out_fits is false when one pixel and what it needs is larger than the limit. Else only a map fails. */
cc_status cc__tiles_plan_make(const cc__tiles_job *job, cc__tiles_plan *out_plan, bool *out_fits);

cc__box cc__tiles_plan_box(const cc__tiles_job *job, const cc__tiles_plan *plan, int64_t number);

/* What an output box needs of a source, cut to the image; empty boxes have some size 0. */
cc_status cc__tiles_source_box(const cc__tiles_source *source, const cc__box *output, cc__box *out_box);

#endif
