/* In which numbers an operation on neighbours computes: a question of the types alone, so that all places agree. */
#ifndef CC_KERNELS_NUMBER_TYPES_H
#define CC_KERNELS_NUMBER_TYPES_H

#include <cudacommon/pixel.h>
#include <stdbool.h>

/* Whether float32 holds every value of the type. */
static inline bool cc__fits_float32(cc_pixel_type type)
{
    switch (type) {
    case CC_PIXEL_BOOL:
    case CC_PIXEL_UINT8:
    case CC_PIXEL_INT8:
    case CC_PIXEL_UINT16:
    case CC_PIXEL_INT16:
    case CC_PIXEL_FLOAT16:
    case CC_PIXEL_BFLOAT16:
    case CC_PIXEL_FLOAT32:
        return true;
    case CC_PIXEL_UINT32:
    case CC_PIXEL_INT32:
    case CC_PIXEL_UINT64:
    case CC_PIXEL_INT64:
    case CC_PIXEL_FLOAT64:
    case CC_PIXEL_COMPLEX64:
    case CC_PIXEL_COMPLEX128:
        break;
    }
    return false;
}

#endif
