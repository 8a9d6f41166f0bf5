/* Small parts of a volume of 512^3 floats: single pixels, and 512 boxes scattered over it. */
#include "bench.h"
#include "content.h"
#include "kernels.h"
#include "pixels.h"

#include <stdio.h>

#define SIDE 512
#define CELL 64
#define BOX_COUNT 512

typedef struct volume {
    bench *b;
    cc_image *image;
    uint32_t seed;
    int32_t box_side;
    cc_region boxes[BOX_COUNT];
    probes look;
    /* The same boxes in memory that the library knows nothing of. */
    kernel_cubes cubes;
    float *bare_host;
    float *bare_device;
} volume;

static int64_t position_of(const int64_t index[3])
{
    return (index[2] * SIDE + index[1]) * SIDE + index[0];
}

static cc_region next_pixel(const volume *v)
{
    cc_region pixel = {.size = {1, 1, 1}};
    for (int32_t axis = 0; axis < 3; ++axis)
        pixel.index[axis] = content_bits(v->seed, axis) % SIDE;
    return pixel;
}

/* The device writes one pixel, and the library has to take all of them for written. */
static void write_somewhere_on_device(volume *v, int64_t position)
{
    v->seed = bench_next_seed(v->b);
    float *pixels = image_map_device(v->image, NULL, CC_ACCESS_READ_WRITE, v->b->stream);
    CUDA(kernel_content_pixel(pixels, position, v->seed, v->b->stream));
    image_unmap_device(v->image, pixels, v->b->stream);
    CUDA(cudaStreamSynchronize(v->b->stream));
}

static void read_pixel(volume *v, const cc_region *pixel, double *out_seconds)
{
    const double begin = clock_seconds();
    float *pixels = image_map_host(v->image, pixel, CC_ACCESS_READ);
    const float value = *(volatile float *)pixels;
    image_unmap_host(v->image, pixels);
    *out_seconds = clock_seconds() - begin;
    if (value != content_pixel(v->seed, position_of(pixel->index)))
        bench_fail("one pixel read on the host is not what the device wrote");
}

static double pixel_read(void *context)
{
    volume *v = context;
    double seconds;
    const cc_region pixel = next_pixel(v);
    write_somewhere_on_device(v, position_of(pixel.index));
    read_pixel(v, &pixel, &seconds);
    return seconds;
}

static double bring_up(const volume *v, float **out_pixels)
{
    const double begin = clock_seconds();
    *out_pixels = image_map_device(v->image, NULL, CC_ACCESS_READ, v->b->stream);
    CUDA(cudaStreamSynchronize(v->b->stream));
    return clock_seconds() - begin;
}

static double pixel_read_then_device(void *context)
{
    volume *v = context;
    float *pixels;
    double seconds = pixel_read(v);
    seconds += bring_up(v, &pixels);
    image_unmap_device(v->image, pixels, v->b->stream);
    return seconds;
}

static double pixel_write_then_device(void *context)
{
    volume *v = context;
    float *pixels;
    v->seed = bench_next_seed(v->b);
    const cc_region pixel = next_pixel(v);
    const int64_t position = position_of(pixel.index);
    const double begin = clock_seconds();
    float *written = image_map_host(v->image, &pixel, CC_ACCESS_WRITE);
    *written = content_pixel(v->seed, position);
    image_unmap_host(v->image, written);
    double seconds = clock_seconds() - begin;
    seconds += bring_up(v, &pixels);

    float value;
    CUDA(cudaMemcpyAsync(&value, pixels + position, sizeof value, cudaMemcpyDeviceToHost, v->b->stream));
    image_unmap_device(v->image, pixels, v->b->stream);
    CUDA(cudaStreamSynchronize(v->b->stream));
    if (value != content_pixel(v->seed, position))
        bench_fail("one pixel read on the device is not what the host wrote");
    return seconds;
}

static void make_current_on_both_sides(volume *v)
{
    v->seed = bench_next_seed(v->b);
    image_write_device(v->image, v->seed, v->b->stream);
    image_unmap_host(v->image, image_map_host(v->image, NULL, CC_ACCESS_READ));
}

void library_pixel(bench *b)
{
    volume v = {.b = b, .image = image_create(b, CC_PIXEL_FLOAT32, 1, SIDE, SIDE, SIDE)};
    make_current_on_both_sides(&v);
    bench_measure(b, "library.pixel.read", 0, 10, 200, pixel_read, &v);
    bench_measure(b, "library.pixel.read_then_device", 0, 10, 200, pixel_read_then_device, &v);
    make_current_on_both_sides(&v);
    bench_measure(b, "library.pixel.write_then_device", 0, 10, 200, pixel_write_then_device, &v);
    cc_image_release(v.image);
}

/* One box in each cell of an 8 x 8 x 8 grid, at a random multiple of `alignment` pixels. */
static void scatter(volume *v, int32_t box_side, int32_t alignment)
{
    int64_t positions[BOX_COUNT];
    const uint32_t places = (uint32_t)((CELL - box_side) / alignment + 1);
    v->box_side = box_side;
    for (int32_t i = 0; i < BOX_COUNT; ++i) {
        const int32_t cell[3] = {i % 8, i / 8 % 8, i / 64};
        cc_region *box = &v->boxes[i];
        *box = (cc_region){.size = {box_side, box_side, box_side}};
        int64_t look[3];
        for (int32_t axis = 0; axis < 3; ++axis) {
            box->index[axis] =
                (int64_t)cell[axis] * CELL + (int64_t)(content_bits(7, i * 3 + axis) % places) * alignment;
            look[axis] = box->index[axis] + content_bits(8, i * 3 + axis) % (uint32_t)box_side;
        }
        positions[i] = position_of(look);
        v->cubes.position[i] = (uint32_t)position_of(box->index);
    }
    v->cubes.count = BOX_COUNT;
    v->cubes.side = box_side;
    v->cubes.image_side = SIDE;
    probes_at(&v->look, positions, BOX_COUNT);
}

/* `pixels` is the first of the box. */
static void write_box(const volume *v, const cc_region *box, float *pixels)
{
    const int64_t first = position_of(box->index);
    for (int64_t k = 0; k < v->box_side; ++k) {
        for (int64_t j = 0; j < v->box_side; ++j) {
            const int64_t row = (k * SIDE + j) * SIDE;
            for (int64_t i = 0; i < v->box_side; ++i)
                pixels[row + i] = content_pixel(v->seed, first + row + i);
        }
    }
}

static double bare_up(void *context)
{
    volume *v = context;
    v->seed = bench_next_seed(v->b);
    for (int32_t i = 0; i < BOX_COUNT; ++i)
        write_box(v, &v->boxes[i], v->bare_host + v->cubes.position[i]);
    const double begin = clock_seconds();
    CUDA(kernel_copy_cubes(v->bare_host, v->bare_device, &v->cubes, v->b->stream));
    CUDA(cudaStreamSynchronize(v->b->stream));
    const double seconds = clock_seconds() - begin;
    probes_check_device(&v->look, v->bare_device, v->seed, v->b->stream, "boxes that a kernel alone brings up");
    return seconds;
}

static double bare_down(void *context)
{
    volume *v = context;
    v->seed = bench_next_seed(v->b);
    for (int32_t i = 0; i < BOX_COUNT; ++i)
        CUDA(kernel_content_cube(v->bare_device + v->cubes.position[i], v->box_side, SIDE, v->cubes.position[i],
                                 v->seed, v->b->stream));
    CUDA(cudaStreamSynchronize(v->b->stream));
    const double begin = clock_seconds();
    CUDA(kernel_copy_cubes(v->bare_device, v->bare_host, &v->cubes, v->b->stream));
    CUDA(cudaStreamSynchronize(v->b->stream));
    const double seconds = clock_seconds() - begin;
    probes_check_host(&v->look, v->bare_host, v->seed, "boxes that a kernel alone brings down");
    return seconds;
}

static double boxes_up(void *context)
{
    volume *v = context;
    float *pixels;
    v->seed = bench_next_seed(v->b);
    for (int32_t i = 0; i < BOX_COUNT; ++i) {
        pixels = image_map_host(v->image, &v->boxes[i], CC_ACCESS_WRITE);
        write_box(v, &v->boxes[i], pixels);
        image_unmap_host(v->image, pixels);
    }
    const double seconds = bring_up(v, &pixels);
    probes_check_device(&v->look, pixels, v->seed, v->b->stream, "boxes brought up");
    image_unmap_device(v->image, pixels, v->b->stream);
    return seconds;
}

static double boxes_down(void *context)
{
    volume *v = context;
    v->seed = bench_next_seed(v->b);
    for (int32_t i = 0; i < BOX_COUNT; ++i) {
        const cc_region *box = &v->boxes[i];
        float *pixels = image_map_device(v->image, box, CC_ACCESS_WRITE, v->b->stream);
        CUDA(kernel_content_cube(pixels, v->box_side, SIDE, position_of(box->index), v->seed, v->b->stream));
        image_unmap_device(v->image, pixels, v->b->stream);
    }
    CUDA(cudaStreamSynchronize(v->b->stream));
    const double begin = clock_seconds();
    float *pixels = image_map_host(v->image, NULL, CC_ACCESS_READ);
    const double seconds = clock_seconds() - begin;
    probes_check_host(&v->look, pixels, v->seed, "boxes brought down");
    image_unmap_host(v->image, pixels);
    return seconds;
}

void library_boxes(bench *b)
{
    static const struct {
        const char *suffix;
        int32_t box_side;
        int32_t alignment;
    } scatters[] = {{"", 8, 8},         {"", 32, 8},          {"", 64, 8},          {"_lines", 8, 32},
                    {"_lines", 32, 32}, {"_unaligned", 8, 1}, {"_unaligned", 32, 1}};
    const size_t volume_bytes = (size_t)SIDE * SIDE * SIDE * sizeof(float);
    volume v = {.b = b, .image = image_create(b, CC_PIXEL_FLOAT32, 1, SIDE, SIDE, SIDE)};
    CUDA(cudaHostAlloc((void **)&v.bare_host, volume_bytes, cudaHostAllocDefault));
    CUDA(cudaMalloc((void **)&v.bare_device, volume_bytes));
    for (size_t i = 0; i < sizeof scatters / sizeof *scatters; ++i) {
        const int32_t side = scatters[i].box_side;
        const double bytes = BOX_COUNT * (double)side * side * side * sizeof(float);
        char name[NAME_BYTES];
        make_current_on_both_sides(&v);
        scatter(&v, side, scatters[i].alignment);
        snprintf(name, sizeof name, "library.boxes.up%s.%d", scatters[i].suffix, (int)side);
        bench_measure(b, name, bytes, 1, 10, boxes_up, &v);
        snprintf(name, sizeof name, "library.boxes.down%s.%d", scatters[i].suffix, (int)side);
        bench_measure(b, name, bytes, 1, 10, boxes_down, &v);
        snprintf(name, sizeof name, "library.boxes.bare_up%s.%d", scatters[i].suffix, (int)side);
        bench_measure(b, name, bytes, 1, 10, bare_up, &v);
        snprintf(name, sizeof name, "library.boxes.bare_down%s.%d", scatters[i].suffix, (int)side);
        bench_measure(b, name, bytes, 1, 10, bare_down, &v);
        probes_release(&v.look);
    }
    CUDA(cudaFree(v.bare_device));
    CUDA(cudaFreeHost(v.bare_host));
    cc_image_release(v.image);
}
