#include "pixels.h"

#include "content.h"
#include "kernels.h"

#include <string.h>

#define SPREAD_COUNT 64

void probes_at(probes *p, const int64_t *positions, int32_t count)
{
    *p = (probes){.count = count};
    memcpy(p->positions, positions, (size_t)count * sizeof *positions);
    CUDA(cudaMalloc((void **)&p->device_positions, (size_t)count * sizeof *p->device_positions));
    CUDA(cudaMalloc((void **)&p->device_values, (size_t)count * sizeof *p->device_values));
    CUDA(cudaMemcpy(p->device_positions, positions, (size_t)count * sizeof *positions, cudaMemcpyHostToDevice));
    CUDA(cudaDeviceSynchronize()); /* a copy of pageable memory may return early, and is used in other streams */
}

void probes_spread(probes *p, int64_t pixel_count)
{
    int64_t positions[SPREAD_COUNT] = {0, pixel_count - 1};
    for (int32_t i = 2; i < SPREAD_COUNT; ++i)
        positions[i] = (int64_t)((double)(pixel_count - 1) * content_pixel(0, i));
    probes_at(p, positions, SPREAD_COUNT);
}

void probes_release(probes *p)
{
    CUDA(cudaFree(p->device_positions));
    CUDA(cudaFree(p->device_values));
    *p = (probes){.count = 0};
}

void probes_write(const probes *p, float *pixels, uint32_t seed)
{
    for (int32_t i = 0; i < p->count; ++i)
        pixels[p->positions[i]] = content_pixel(seed, p->positions[i]);
}

static void check(const probes *p, int32_t i, float value, uint32_t seed, const char *what)
{
    const float expected = content_pixel(seed, p->positions[i]);
    if (value != expected)
        bench_fail("%s: pixel %lld is %.9g, expected %.9g", what, (long long)p->positions[i], (double)value,
                   (double)expected);
}

void probes_check_host(const probes *p, const float *pixels, uint32_t seed, const char *what)
{
    for (int32_t i = 0; i < p->count; ++i)
        check(p, i, pixels[p->positions[i]], seed, what);
}

void probes_check_device(const probes *p, const float *pixels, uint32_t seed, cudaStream_t stream, const char *what)
{
    float values[PROBE_LIMIT];
    CUDA(kernel_gather(pixels, p->device_positions, p->count, p->device_values, stream));
    CUDA(cudaMemcpyAsync(values, p->device_values, (size_t)p->count * sizeof *values, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    for (int32_t i = 0; i < p->count; ++i)
        check(p, i, values[i], seed, what);
}

cc_image *image_create(const bench *b, cc_pixel_type type, int32_t components, int64_t i, int64_t j, int64_t k)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *image = NULL;
    params.dimension = 3;
    params.pixel_type = type;
    params.components = components;
    params.device = b->device;
    params.flags = CC_IMAGE_UNINITIALIZED;
    params.region = (cc_region){.size = {i, j, k}};
    CC(cc_image_create(&params, &image));
    return image;
}

cc_image *image_create_volume(const bench *b, size_t bytes)
{
    return image_create(b, CC_PIXEL_FLOAT32, 1, 512, 512, (int64_t)(bytes / MIB));
}

void *image_map_host(cc_image *image, const cc_region *region, cc_access access)
{
    void *pixels = NULL;
    CC(cc_image_map_host(image, region, access, &pixels));
    return pixels;
}

void image_unmap_host(cc_image *image, void *pixels)
{
    CC(cc_image_unmap_host(image, pixels));
}

void *image_map_device(cc_image *image, const cc_region *region, cc_access access, cudaStream_t stream)
{
    void *pixels = NULL;
    CC(cc_image_map_device(image, region, access, stream, &pixels));
    return pixels;
}

void image_unmap_device(cc_image *image, void *pixels, cudaStream_t stream)
{
    CC(cc_image_unmap_device(image, pixels, stream));
}

static int64_t pixel_count(const cc_image *image)
{
    return (int64_t)(cc_image_get_size_bytes(image) / sizeof(float));
}

void image_write_host(const bench *b, cc_image *image, uint32_t seed)
{
    float *pixels = image_map_host(image, NULL, CC_ACCESS_WRITE);
    content_write(pixels, pixel_count(image), seed, b->core_count);
    image_unmap_host(image, pixels);
}

void image_write_device(cc_image *image, uint32_t seed, cudaStream_t stream)
{
    float *pixels = image_map_device(image, NULL, CC_ACCESS_WRITE, stream);
    CUDA(kernel_content(pixels, pixel_count(image), seed, stream));
    image_unmap_device(image, pixels, stream);
}
