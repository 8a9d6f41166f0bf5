/* What is done to one pixel, the same code for the CPU and the GPU. */
#ifndef SQUARE_PIXEL_H
#define SQUARE_PIXEL_H

#include <cudacommon/cudacommon.h>

#ifdef __CUDACC__
#define SQUARE_ANYWHERE static __host__ __device__ __forceinline__
#else
#define SQUARE_ANYWHERE static inline
#endif

/* The n-th element, counted with the first axis fastest (K order). Strides need not be dense: the image may be a view.
 */
SQUARE_ANYWHERE void square_pixel(const cc_descriptor *pixels, int64_t n)
{
    int64_t offset = 0;
    for (int32_t axis = 0; axis < pixels->ndim; axis++) {
        offset += n % pixels->shape[axis] * pixels->strides_bytes[axis];
        n /= pixels->shape[axis];
    }
    float *pixel = (float *)(void *)((char *)pixels->data + offset);
    *pixel *= *pixel;
}

#endif
