/* Frames, which are what lies along an image's last axis, made into one volume, or one added to them. Plain data. */
#ifndef CC_BASE_FRAMES_H
#define CC_BASE_FRAMES_H

#include "base/rows.h"
#include "base/work.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cc__frames_way {
    CC__FRAMES_GATHER = 0,  /* volume = weights[0] * frame 0 + weights[1] * frame 1 */
    CC__FRAMES_SPLAT = 1,   /* frame f += weights[f] * volume, one frame or two */
    CC__FRAMES_AVERAGE = 2, /* volume = the sum of all frames / their number */
} cc__frames_way;

typedef struct cc__frames {
    cc__span volume;
    cc__span frames;      /* the first one */
    int64_t frame_stride; /* bytes to the next; may be negative */
    int64_t frame_count;
    int64_t size[CC_MAX_DIMENSION]; /* of the volume */
    int32_t components;
    cc_pixel_type volume_type; /* both real: complex components count as two */
    cc_pixel_type frames_type;
    int32_t way; /* a cc__frames_way */
    double weights[2];
} cc__frames;

/* Rows of components; [0] is the volume, [1] the first frame. */
void cc__frames_plan(const cc__frames *work, cc__rows *out_rows);
int64_t cc__frames_count_rows(const cc__rows *rows);
/* Components `first` to `first + count` of one row. */
void cc__frames_row(const cc__frames *work, const cc__rows *rows, int64_t row, int64_t first, int64_t count);

#ifdef __cplusplus
}
#endif

#endif
