#include "content.h"
#include "kernels.h"

#define THREADS 256

/* Enough blocks to keep every multiprocessor full; each walks on by the size of the grid. */
static unsigned blocks_for(int64_t count)
{
    int device = 0, multiprocessors = 1;
    (void)cudaGetDevice(&device);
    (void)cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    const int64_t wanted = (count + THREADS - 1) / THREADS, most = 16 * (int64_t)multiprocessors;
    return (unsigned)(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

static __device__ __forceinline__ int64_t first_of_thread()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ __forceinline__ int64_t grid_step()
{
    return (int64_t)gridDim.x * blockDim.x;
}

static __global__ void fill(float4 *pixels, int64_t count, float value)
{
    const float4 four = make_float4(value, value, value, value);
    for (int64_t n = first_of_thread(); n < count; n += grid_step())
        pixels[n] = four;
}

static __global__ void square(const float4 *input, float4 *output, int64_t count)
{
    for (int64_t n = first_of_thread(); n < count; n += grid_step()) {
        const float4 four = input[n];
        output[n] = make_float4(four.x * four.x, four.y * four.y, four.z * four.z, four.w * four.w);
    }
}

/* Four loads before the first is used; what comes out can only be written when all bits of all pixels are set. */
static __global__ void read(const uint4 *input, uint32_t *output, int64_t count)
{
    uint4 all = make_uint4(~0u, ~0u, ~0u, ~0u);
    const int64_t step = grid_step();
    for (int64_t n = first_of_thread(); n < count; n += 4 * step) {
        uint4 four[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            four[i] = input[n + i * step < count ? n + i * step : n];
#pragma unroll
        for (int i = 0; i < 4; i++)
            all = make_uint4(all.x & four[i].x, all.y & four[i].y, all.z & four[i].z, all.w & four[i].w);
    }
    if ((all.x & all.y & all.z & all.w) == ~0u)
        *output = 0;
}

static __global__ void content(float *pixels, int64_t count, uint32_t seed)
{
    for (int64_t n = first_of_thread(); n < count; n += grid_step())
        pixels[n] = content_pixel(seed, n);
}

static __global__ void content_words(uint32_t *words, int64_t count, uint32_t seed)
{
    for (int64_t n = first_of_thread(); n < count; n += grid_step())
        words[n] = content_bits(seed, n);
}

static __global__ void content_cube(float *pixels, int32_t side, int32_t image_side, int64_t position, uint32_t seed)
{
    const int64_t count = (int64_t)side * side * side;
    for (int64_t n = first_of_thread(); n < count; n += grid_step()) {
        const int64_t i = n % side, j = n / side % side, k = n / side / side;
        const int64_t offset = (k * image_side + j) * image_side + i;
        pixels[offset] = content_pixel(seed, position + offset);
    }
}

#define CUBE_UNITS 4
#define CUBE_BLOCKS 64

/* All loads of a thread before its first store; a block's units follow each other. */
template <typename unit>
static __global__ void copy_cubes(const float *from, float *to, const kernel_cubes cubes)
{
    const int32_t pixels = sizeof(unit) / sizeof(float), across = cubes.side / pixels;
    const int64_t count = (int64_t)cubes.count * cubes.side * cubes.side * across;
    for (int64_t block = blockIdx.x; block * CUBE_UNITS * THREADS < count; block += gridDim.x) {
        unit units[CUBE_UNITS];
        int64_t at[CUBE_UNITS];
#pragma unroll
        for (int n = 0; n < CUBE_UNITS; n++) {
            const int64_t wanted = (block * CUBE_UNITS + n) * THREADS + threadIdx.x;
            const int64_t number = wanted < count ? wanted : count - 1, row = number / across;
            const int64_t k = row / cubes.side % cubes.side, j = row % cubes.side;
            at[n] = cubes.position[row / cubes.side / cubes.side] + (k * cubes.image_side + j) * cubes.image_side +
                    number % across * pixels;
            units[n] = *(const unit *)(from + at[n]);
        }
#pragma unroll
        for (int n = 0; n < CUBE_UNITS; n++)
            *(unit *)(to + at[n]) = units[n];
    }
}

static __global__ void content_one(float *pixels, int64_t position, uint32_t seed)
{
    pixels[position] = content_pixel(seed, position);
}

static __global__ void gather(const float *pixels, const int64_t *positions, int32_t count, float *values)
{
    for (int64_t n = first_of_thread(); n < count; n += grid_step())
        values[n] = pixels[positions[n]];
}

cudaError_t kernel_fill(float *pixels, int64_t count, float value, cudaStream_t stream)
{
    fill<<<blocks_for(count / 4), THREADS, 0, stream>>>((float4 *)pixels, count / 4, value);
    return cudaGetLastError();
}

cudaError_t kernel_square(const float *input, float *output, int64_t count, cudaStream_t stream)
{
    square<<<blocks_for(count / 4), THREADS, 0, stream>>>((const float4 *)input, (float4 *)output, count / 4);
    return cudaGetLastError();
}

cudaError_t kernel_read(const float *input, float *output, int64_t count, cudaStream_t stream)
{
    read<<<blocks_for(count / 4), THREADS, 0, stream>>>((const uint4 *)input, (uint32_t *)output, count / 4);
    return cudaGetLastError();
}

cudaError_t kernel_content(float *pixels, int64_t count, uint32_t seed, cudaStream_t stream)
{
    content<<<blocks_for(count), THREADS, 0, stream>>>(pixels, count, seed);
    return cudaGetLastError();
}

cudaError_t kernel_content_bits(uint32_t *words, int64_t count, uint32_t seed, cudaStream_t stream)
{
    content_words<<<blocks_for(count), THREADS, 0, stream>>>(words, count, seed);
    return cudaGetLastError();
}

cudaError_t kernel_content_cube(float *pixels, int32_t side, int32_t image_side, int64_t position, uint32_t seed,
                                cudaStream_t stream)
{
    const int64_t count = (int64_t)side * side * side;
    content_cube<<<blocks_for(count), THREADS, 0, stream>>>(pixels, side, image_side, position, seed);
    return cudaGetLastError();
}

cudaError_t kernel_copy_cubes(const float *from, float *to, const kernel_cubes *cubes, cudaStream_t stream)
{
    uint32_t all = 0;
    for (int32_t i = 0; i < cubes->count; i++)
        all |= cubes->position[i];
    if (all % 4 == 0)
        copy_cubes<float4><<<CUBE_BLOCKS, THREADS, 0, stream>>>(from, to, *cubes);
    else
        copy_cubes<float><<<CUBE_BLOCKS, THREADS, 0, stream>>>(from, to, *cubes);
    return cudaGetLastError();
}

cudaError_t kernel_content_pixel(float *pixels, int64_t position, uint32_t seed, cudaStream_t stream)
{
    content_one<<<1, 1, 0, stream>>>(pixels, position, seed);
    return cudaGetLastError();
}

cudaError_t kernel_gather(const float *pixels, const int64_t *positions, int32_t count, float *values,
                          cudaStream_t stream)
{
    gather<<<blocks_for(count), THREADS, 0, stream>>>(pixels, positions, count, values);
    return cudaGetLastError();
}
