/* Pixels of a part of one image put into a part of another, where they are. */
#ifndef CC_OPS_REARRANGE_H
#define CC_OPS_REARRANGE_H

#include "base/rearrange.h"
#include "image/image_handle.h"

/* All is checked but what lending finds: both boxes have pixels, the components are equal. */
typedef struct cc__arrangement {
    const char *function;
    cc_stream stream;
    cc_image *input;
    cc_image *output;
    cc__box from; /* of their data managers' pixels */
    cc__box to;
    int32_t order[CC_MAX_DIMENSION];  /* the axis of the input that an axis of the output is */
    int64_t before[CC_MAX_DIMENSION]; /* along the output's axes; with the rest of the output's size: the border */
    int32_t border[CC_MAX_DIMENSION];
    uint32_t flipped;  /* a bit for each of the output's axes */
    const void *value; /* a pixel of the output; NULL: zero */
} cc__arrangement;

/* BUSY where the parts overlap, unless they are the same and stay as they are. */
cc_status cc__arrange(const cc__arrangement *arrangement);

#endif
