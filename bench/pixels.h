/* Images of the library for the benchmark, and a look at some of their pixels after every repetition. */
#ifndef BENCH_PIXELS_H
#define BENCH_PIXELS_H

#include "bench.h"

#define PROBE_LIMIT 512

/* Pixels of one array whose contents are written and looked at. */
typedef struct probes {
    int32_t count;
    int64_t positions[PROBE_LIMIT];
    int64_t *device_positions;
    float *device_values;
} probes;

/* Positions all over an array, its ends among them. */
void probes_spread(probes *p, int64_t pixel_count);
void probes_at(probes *p, const int64_t *positions, int32_t count);
void probes_release(probes *p);

/* The content's pixels at the positions; `pixels` is position 0. */
void probes_write(const probes *p, float *pixels, uint32_t seed);

/* Fails the group, with `what` in the message, unless the pixels are the content's. */
void probes_check_host(const probes *p, const float *pixels, uint32_t seed, const char *what);
void probes_check_device(const probes *p, const float *pixels, uint32_t seed, cudaStream_t stream, const char *what);

/* An image on the run's device with undefined pixels; a volume of 512 x 512 x n floats has n MiB. */
cc_image *image_create(const bench *b, cc_pixel_type type, int32_t components, int64_t i, int64_t j, int64_t k);
cc_image *image_create_volume(const bench *b, size_t bytes);

/* The library's calls, for images that are known to be right: an error fails the group. */
void *image_map_host(cc_image *image, const cc_region *region, cc_access access);
void image_unmap_host(cc_image *image, void *pixels);
void *image_map_device(cc_image *image, const cc_region *region, cc_access access, cudaStream_t stream);
void image_unmap_device(cc_image *image, void *pixels, cudaStream_t stream);

/* Makes one side the only one that is up to date, with a content all over an image of floats. */
void image_write_host(const bench *b, cc_image *image, uint32_t seed);
void image_write_device(cc_image *image, uint32_t seed, cudaStream_t stream);

#endif
