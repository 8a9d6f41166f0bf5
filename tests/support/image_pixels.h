/* What the pixels of an image must be, as plain numbers, and what the host or a kernel does to a box of the real ones.
 */
#ifndef CC_TESTS_IMAGE_PIXELS_H
#define CC_TESTS_IMAGE_PIXELS_H

#include <cudacommon/cudacommon.h>

/* Shared by all images that share the pixels. Three axes, the first index is 0. */
typedef struct image_pixels {
    struct image_pixels *next;
    int64_t size[3];
    cc_pixel_type type; /* int16 or float32: the values are small whole numbers, the same in both and as double */
    double values[];
} image_pixels;

image_pixels *image_pixels_create(const int64_t size[3], cc_pixel_type type); /* zeros */
double *image_pixels_at(image_pixels *pixels, int64_t i, int64_t j, int64_t k);
int64_t image_pixels_stride_bytes(const image_pixels *pixels, int32_t axis);
size_t image_pixels_size_bytes(const image_pixels *pixels);
/* As they lie in memory. */
void image_pixels_store(const image_pixels *pixels, unsigned char *memory);

/* One value as it lies in memory. */
void image_pixels_store_value(cc_pixel_type type, double value, unsigned char *memory);
size_t image_pixels_value_bytes(cc_pixel_type type);

/* Work on a box of real pixels, whose strides are those of the whole. */
typedef struct pixel_touch {
    struct pixel_touch *next;
    unsigned char *memory; /* the box's first pixel */
    int64_t stride[3];
    int64_t size[3];
    cc_pixel_type type;
    cc_access access;
    double seed;       /* what a writer writes depends on it */
    int64_t wrong;     /* pixels that were not as expected */
    double expected[]; /* what a reader must find, of the box */
} pixel_touch;

/* The touch expects what `pixels` hold in the region now, and a writer's pixels are changed as the real ones will be.
 */
pixel_touch *pixel_touch_create(image_pixels *pixels, const cc_region *region, cc_access access, double seed,
                                void *memory);
void pixel_touch_run(void *touch);
/* The bytes from the first pixel of the box to the last. */
size_t pixel_touch_extent_bytes(const pixel_touch *touch);

#endif
