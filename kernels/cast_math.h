/* One component from any pixel type to any other, by the rules of pixel_math.h. */
#ifndef CC_KERNELS_CAST_MATH_H
#define CC_KERNELS_CAST_MATH_H

#include "kernels/any_type.h"

#include <cudacommon/pixel.h>

/* The imaginary part of a real value is 0. */
CC__SHARED void cc__cast_load(cc_pixel_type type, const unsigned char *from, double *out_real, double *out_imaginary)
{
    if (type == CC_PIXEL_COMPLEX64) {
        *out_real = cc__load_FLOAT32(((const uint32_t *)from)[0]);
        *out_imaginary = cc__load_FLOAT32(((const uint32_t *)from)[1]);
    } else if (type == CC_PIXEL_COMPLEX128) {
        *out_real = cc__load_FLOAT64(((const uint64_t *)from)[0]);
        *out_imaginary = cc__load_FLOAT64(((const uint64_t *)from)[1]);
    } else {
        *out_real = cc__load_any((int32_t)type, from);
        *out_imaginary = 0.0;
    }
}

CC__SHARED void cc__cast_store(cc_pixel_type type, double real, double imaginary, unsigned char *to)
{
    if (type == CC_PIXEL_COMPLEX64) {
        ((uint32_t *)to)[0] = cc__store_FLOAT32(real);
        ((uint32_t *)to)[1] = cc__store_FLOAT32(imaginary);
    } else if (type == CC_PIXEL_COMPLEX128) {
        ((uint64_t *)to)[0] = cc__store_FLOAT64(real);
        ((uint64_t *)to)[1] = cc__store_FLOAT64(imaginary);
    } else {
        cc__store_any((int32_t)type, to, real);
    }
}

/* The types differ. */
CC__SHARED void cc__cast_component(cc_pixel_type from_type, const unsigned char *from, cc_pixel_type to_type,
                                   unsigned char *to)
{
    double real = 0.0;
    double imaginary = 0.0;
    if (from_type == CC_PIXEL_INT64 && to_type == CC_PIXEL_UINT64) {
        *(uint64_t *)to = cc__clamp_INT64_to_UINT64(*(const int64_t *)from);
        return;
    }
    if (from_type == CC_PIXEL_UINT64 && to_type == CC_PIXEL_INT64) {
        *(int64_t *)to = cc__clamp_UINT64_to_INT64(*(const uint64_t *)from);
        return;
    }
    cc__cast_load(from_type, from, &real, &imaginary);
    /* A complex value is 0 when both parts are. */
    if (to_type == CC_PIXEL_BOOL && imaginary != 0.0)
        real = 1.0;
    cc__cast_store(to_type, real, imaginary, to);
}

#endif
