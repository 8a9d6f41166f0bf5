/* What is done to one pixel, the same code for the CPU and the GPU: the mean of it and its six neighbours. */
#ifndef SMOOTH_PIXEL_H
#define SMOOTH_PIXEL_H

#include <cudacommon/tiles.h>

#ifdef __CUDACC__
#define SMOOTH_ANYWHERE static __host__ __device__ __forceinline__
#else
#define SMOOTH_ANYWHERE static inline
#endif

/* A neighbour; the nearest pixel there is, beyond the border of the image, where the tile's input ends too. */
SMOOTH_ANYWHERE float smooth_input(const cc_tile_pixels *input, const int64_t at[3], int axis, int64_t step)
{
    const char *pixel = (const char *)input->pixels;
    for (int a = 0; a < 3; a++) {
        const int64_t last = input->region.size[a] - 1;
        int64_t n = at[a] - input->region.index[a] + (a == axis ? step : 0);
        n = n < 0 ? 0 : n > last ? last : n;
        pixel += n * input->strides_bytes[a];
    }
    return *(const float *)(const void *)pixel;
}

/* The n-th pixel of the tile's output, counted with the first axis fastest. */
SMOOTH_ANYWHERE void smooth_pixel(const cc_tile_pixels *input, const cc_tile_pixels *output, int64_t n)
{
    char *pixel = (char *)output->pixels;
    int64_t at[3];
    float sum;
    for (int axis = 0; axis < 3; axis++) {
        const int64_t index = n % output->region.size[axis];
        n /= output->region.size[axis];
        at[axis] = output->region.index[axis] + index;
        pixel += index * output->strides_bytes[axis];
    }
    sum = smooth_input(input, at, 0, 0);
    for (int axis = 0; axis < 3; axis++)
        sum = sum + smooth_input(input, at, axis, -1) + smooth_input(input, at, axis, 1);
    *(float *)(void *)pixel = sum / 7.0f;
}

#endif
