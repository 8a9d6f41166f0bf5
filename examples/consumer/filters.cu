#include "filters.h"

#include "filter_pixels.h"

#include <cuda_runtime.h>

/* A fixed grid walks over any number of pixels: the index is 64 bits wide, the grid need not be. */
#define THREADS 256
#define FIRST ((int64_t)blockIdx.x * blockDim.x + threadIdx.x)
#define STEP ((int64_t)gridDim.x * blockDim.x)

static unsigned blocks_for(int64_t count)
{
    const int64_t blocks = (count + THREADS - 1) / THREADS;
    return (unsigned)(blocks < 65536 ? blocks : 65536);
}

static __global__ void square_kernel(const cc_tile_pixels image, int64_t count)
{
    for (int64_t n = FIRST; n < count; n += STEP)
        square_pixel(&image, n);
}

extern "C" cc_status square_on_device(const cc_tile *tile, void *)
{
    const int64_t count = count_pixels(&tile->output);
    square_kernel<<<blocks_for(count), THREADS, 0, tile->stream>>>(tile->output, count);
    return cudaGetLastError() == cudaSuccess ? CC_OK : CC_ERROR_DEVICE;
}

static __global__ void smooth_kernel(const cc_tile_pixels input, const cc_tile_pixels output, int64_t count)
{
    for (int64_t n = FIRST; n < count; n += STEP)
        smooth_pixel(&input, &output, n);
}

extern "C" cc_status smooth_rows_on_device(const cc_tile *tile, void *)
{
    const int64_t count = count_pixels(&tile->output);
    smooth_kernel<<<blocks_for(count), THREADS, 0, tile->stream>>>(tile->inputs[0], tile->output, count);
    return cudaGetLastError() == cudaSuccess ? CC_OK : CC_ERROR_DEVICE;
}
