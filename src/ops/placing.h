/* Where the pixels of a new arrangement are in space. */
#ifndef CC_OPS_PLACING_H
#define CC_OPS_PLACING_H

#include "image/image_handle.h"

/* Pixel 0 of each of the output's axes is pixel first[source] of the input, and the next is beside it. */
typedef struct cc__placing {
    int32_t source[CC_MAX_DIMENSION]; /* an axis of the input */
    int64_t first[CC_MAX_DIMENSION];  /* absolute index, by the output's axes */
    bool is_flipped[CC_MAX_DIMENSION];
} cc__placing;

/* Spacing, origin and direction of an output with this index of its first pixel: each pixel keeps its place. */
cc__geometry cc__placing_geometry(const cc__placing *placing, int32_t dimension, const cc__geometry *input,
                                  const int64_t index[CC_MAX_DIMENSION]);
/* Sets those of the output. */
void cc__placing_set(const cc__placing *placing, const cc_image *input, cc_image *output);

#endif
