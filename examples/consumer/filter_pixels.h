/* What is done to one pixel, the same code for the CPU and the GPU. */
#ifndef FILTER_PIXELS_H
#define FILTER_PIXELS_H

#include <cudacommon/cudacommon.h>

#ifdef __CUDACC__
#define FILTER_ANYWHERE static __host__ __device__ __forceinline__
#else
#define FILTER_ANYWHERE static inline
#endif

FILTER_ANYWHERE int64_t count_pixels(const cc_tile_pixels *pixels)
{
    const int64_t *size = pixels->region.size;
    return size[0] * size[1] * size[2] * size[3];
}

/* The n-th pixel, the first axis fastest. Strides need not be dense: the image may be a view. */
FILTER_ANYWHERE char *pixel_at(const cc_tile_pixels *pixels, int64_t n)
{
    char *pixel = (char *)pixels->pixels;
    for (int axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        pixel += n % pixels->region.size[axis] * pixels->strides_bytes[axis];
        n /= pixels->region.size[axis];
    }
    return pixel;
}

FILTER_ANYWHERE void square_pixel(const cc_tile_pixels *image, int64_t n)
{
    float *pixel = (float *)(void *)pixel_at(image, n);
    *pixel *= *pixel;
}

/* Beyond the ends of a row is its last pixel once more. */
FILTER_ANYWHERE void smooth_pixel(const cc_tile_pixels *input, const cc_tile_pixels *output, int64_t n)
{
    const int64_t i = n % input->region.size[0];
    const int64_t step = input->strides_bytes[0];
    const char *here = pixel_at(input, n);
    const char *before = i > 0 ? here - step : here;
    const char *after = i + 1 < input->region.size[0] ? here + step : here;
    const int sum = *(const uint16_t *)(const void *)before + *(const uint16_t *)(const void *)here +
                    *(const uint16_t *)(const void *)after;
    *(float *)(void *)pixel_at(output, n) = (float)sum / 3.0f;
}

#endif
