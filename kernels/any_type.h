/* Components of a type that is known at run time only, for kernels of which there is one for all types. */
#ifndef CC_KERNELS_ANY_TYPE_H
#define CC_KERNELS_ANY_TYPE_H

#include "kernels/pixel_math.h"

#include <cudacommon/pixel.h>

#define CC__LOAD_ANY(NAME, HOLDER, BITS)                                                                               \
    case CC_PIXEL_##NAME:                                                                                              \
        return cc__load_##NAME(*(const HOLDER *)from);
#define CC__STORE_ANY(NAME, HOLDER, BITS)                                                                              \
    case CC_PIXEL_##NAME:                                                                                              \
        *(HOLDER *)to = (HOLDER)cc__store_##NAME(value);                                                               \
        break;

CC__SHARED double cc__load_any(int32_t type, const unsigned char *from)
{
    switch (type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(CC__LOAD_ANY)
        CC__FOR_EACH_TYPE_OF_32_BITS(CC__LOAD_ANY)
        CC__FOR_EACH_TYPE_OF_64_BITS(CC__LOAD_ANY)
    }
    return 0.0;
}

CC__SHARED void cc__store_any(int32_t type, unsigned char *to, double value)
{
    switch (type) {
        CC__FOR_EACH_TYPE_UP_TO_16_BITS(CC__STORE_ANY)
        CC__FOR_EACH_TYPE_OF_32_BITS(CC__STORE_ANY)
        CC__FOR_EACH_TYPE_OF_64_BITS(CC__STORE_ANY)
    }
}

CC__SHARED int64_t cc__bytes_of_real(int32_t type)
{
    switch (type) {
    case CC_PIXEL_BOOL:
    case CC_PIXEL_UINT8:
    case CC_PIXEL_INT8:
        return 1;
    case CC_PIXEL_UINT16:
    case CC_PIXEL_INT16:
    case CC_PIXEL_FLOAT16:
    case CC_PIXEL_BFLOAT16:
        return 2;
    case CC_PIXEL_UINT32:
    case CC_PIXEL_INT32:
    case CC_PIXEL_FLOAT32:
        return 4;
    }
    return 8;
}

#endif
