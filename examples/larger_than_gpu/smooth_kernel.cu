#include "smooth.h"
#include "smooth_pixel.h"

#include <cuda_runtime.h>

static __global__ void smooth_kernel(const cc_tile_pixels input, const cc_tile_pixels output, int64_t count)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += step)
        smooth_pixel(&input, &output, n);
}

extern "C" int smooth_launch(const cc_tile *tile)
{
    const unsigned threads = 256;
    const int64_t *size = tile->output.region.size;
    const int64_t count = size[0] * size[1] * size[2];
    const int64_t blocks_wanted = (count + threads - 1) / threads;
    const unsigned blocks = (unsigned)(blocks_wanted < 65536 ? blocks_wanted : 65536);

    smooth_kernel<<<blocks, threads, 0, tile->stream>>>(tile->inputs[0], tile->output, count);
    return cudaGetLastError();
}
