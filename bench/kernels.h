/* The GPU's side of the benchmark. Each queues one kernel in `stream` on the current device. */
#ifndef BENCH_KERNELS_H
#define BENCH_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The limit for writing device memory, reading it, and both: 16 bytes a thread at a time. count: a multiple
 * of 4. */
cudaError_t kernel_fill(float *pixels, int64_t count, float value, cudaStream_t stream);
cudaError_t kernel_read(const float *input, float *output, int64_t count, cudaStream_t stream); /* writes nothing */
cudaError_t kernel_square(const float *input, float *output, int64_t count, cudaStream_t stream);

/* Contents as in content.h: pixels 0 to count - 1; the same bits as they are, for other pixel types. */
cudaError_t kernel_content(float *pixels, int64_t count, uint32_t seed, cudaStream_t stream);
cudaError_t kernel_content_bits(uint32_t *words, int64_t count, uint32_t seed, cudaStream_t stream);

/* The content of a cube with `side` pixels in a cube with `image_side`; `pixels` is its first pixel, at `position`. */
cudaError_t kernel_content_cube(float *pixels, int32_t side, int32_t image_side, int64_t position, uint32_t seed,
                                cudaStream_t stream);

/* Cubes of `side` pixels, a power of two from 4 on, in a cube with `image_side`, each at a position. */
#define KERNEL_CUBES 512
typedef struct kernel_cubes {
    int32_t count;
    int32_t side;
    int32_t image_side;
    uint32_t position[KERNEL_CUBES];
} kernel_cubes;

/* The limit for scattered boxes: a kernel that copies them straight from or to pinned memory, and nothing around it. */
cudaError_t kernel_copy_cubes(const float *from, float *to, const kernel_cubes *cubes, cudaStream_t stream);

/* The content of one pixel; `pixels` is position 0. */
cudaError_t kernel_content_pixel(float *pixels, int64_t position, uint32_t seed, cudaStream_t stream);

/* values[i] = pixels[positions[i]] */
cudaError_t kernel_gather(const float *pixels, const int64_t *positions, int32_t count, float *values,
                          cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
