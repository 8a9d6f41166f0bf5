/* A gradient, divergence or Laplacian of pixels in memory, as plain data, and how the CPU computes it. */
#ifndef CC_BASE_DERIVATIVE_H
#define CC_BASE_DERIVATIVE_H

#include "base/work.h"

#include <cudacommon/derivatives.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Axes along which there are derivatives. */
#define CC__SPACE_AXES 3

typedef enum cc__derivative_kind {
    CC__DERIVATIVE_GRADIENT = 0,
    CC__DERIVATIVE_DIVERGENCE = 1,
    CC__DERIVATIVE_LAPLACIAN = 2
} cc__derivative_kind;

typedef struct cc__derivative {
    cc__span destination; /* apart from the source */
    cc__span source;
    cc_pixel_type destination_type;
    cc_pixel_type source_type;
    int32_t kind;       /* a cc__derivative_kind */
    int32_t difference; /* a cc_difference; not for the Laplacian */
    int32_t axes;       /* 1 to CC__SPACE_AXES */
    int32_t components; /* of the Laplacian; the vectors have `axes` */
    int32_t in_float32;
    int32_t is_turned; /* by direction, not for the Laplacian */
    int64_t size[CC_MAX_DIMENSION];
    double weight[CC__SPACE_AXES];      /* of a difference of two pixels, or of the second difference */
    double edge_weight[CC__SPACE_AXES]; /* the same at the first and last pixel of an axis */
    double direction[CC__SPACE_AXES][CC__SPACE_AXES];
} cc__derivative;

/* All that have the same places along all axes but the first. */
int64_t cc__derivative_row_count(const cc__derivative *work);
/* Of a cc__derivative; rows may be done in any order. */
void cc__derivative_rows(const void *work, int64_t first, int64_t count);

#ifdef __cplusplus
}
#endif

#endif
