/* Smoothing along several axes as plain data, and the passes along lines that it is made of. */
#ifndef CC_BASE_SMOOTH_H
#define CC_BASE_SMOOTH_H

#include "base/line_filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One for each axis, and one that only casts. */
#define CC__SMOOTH_PASSES (CC_MAX_DIMENSION + 1)

typedef struct cc__smooth_pass {
    int32_t axis;
    int32_t radius;
    double weight[CC__LINE_RADIUS + 1];
} cc__smooth_pass;

/*
 * The first pass takes a slab of slices after the other, across its axis, from the input into memory for slabs; the
 * others go on there, and the last one of them writes the output. In place a slab is written when the next one has been
 * taken from the input, since that one needs the slices before it. A single pass, which is not in place, is one of all.
 */
typedef struct cc__smooth {
    cc__line_images images; /* as a pass has them, but no axis; the sizes are the images' */
    cc__smooth_pass passes[CC__SMOOTH_PASSES];
    int32_t pass_count; /* > 0; > 1 in place */
    int32_t in_place;
    int32_t border;
    int32_t is_wide;
    double border_value;
    int64_t slab; /* slices of a slab */
    int64_t slab_bytes;
    int64_t slab_memories; /* how many slabs there is memory for */
    unsigned char *scratch;
} cc__smooth;

/* Sets what is about slabs, but for the memory: slab_memories * slab_bytes, less than `most_bytes` if that will do. */
void cc__smooth_plan_slabs(cc__smooth *work, int64_t most_bytes);

/* What is done one after the other. */
int64_t cc__smooth_steps(const cc__smooth *work);
void cc__smooth_step(const cc__smooth *work, int64_t number, cc__line_filter *out_filter);

#ifdef __cplusplus
}
#endif

#endif
