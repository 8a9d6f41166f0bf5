#include "square.h"
#include "square_pixel.h"

#include <cuda_runtime.h>

/* A fixed grid walks over any number of pixels: the index is 64 bits wide, the grid need not be. */
static __global__ void square_kernel(const cc_descriptor pixels, int64_t count)
{
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    for (int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; n < count; n += step)
        square_pixel(&pixels, n);
}

extern "C" int square_launch(const cc_descriptor *pixels, int64_t count, int32_t device, cc_stream stream)
{
    const unsigned threads = 256;
    const int64_t blocks_wanted = (count + threads - 1) / threads;
    const unsigned blocks = (unsigned)(blocks_wanted < 65536 ? blocks_wanted : 65536);
    int previous = 0;

    if (count == 0)
        return cudaSuccess;
    cudaError_t error = cudaGetDevice(&previous);
    if (error != cudaSuccess)
        return error;
    error = cudaSetDevice(device);
    if (error == cudaSuccess) {
        square_kernel<<<blocks, threads, 0, stream>>>(*pixels, count);
        error = cudaGetLastError();
    }
    const cudaError_t restored = cudaSetDevice(previous);
    return error != cudaSuccess ? error : restored;
}
