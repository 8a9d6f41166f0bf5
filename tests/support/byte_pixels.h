/* Images of bytes, and what an application does to them: on the host, or in a stream as a kernel would. */
#ifndef CC_TESTS_BYTE_PIXELS_H
#define CC_TESTS_BYTE_PIXELS_H

#include <cudacommon/cudacommon.h>

/* No row of a region is longer. */
#define BYTE_PIXELS_MAX_ROW 64

/* Maps the region for writing (NULL: all of it), sets every pixel of it and unmaps. */
void byte_pixels_write_host(cc_image *image, const cc_region *region, unsigned char value);
void byte_pixels_write_device(cc_image *image, const cc_region *region, unsigned char value, cc_stream stream);

/* Maps the region for reading, and fails the test when a pixel of it has another value. */
void byte_pixels_expect_host(cc_image *image, const cc_region *region, unsigned char value);
void byte_pixels_expect_device(cc_image *image, const cc_region *region, unsigned char value, cc_stream stream);

/* The same for bytes that are mapped already, `strides_bytes` apart, and dense along the first axis. */
void byte_pixels_set(void *pixels, const cc_region *region, const int64_t strides_bytes[CC_MAX_DIMENSION],
                     unsigned char value);

/* The strides of an image at a place: i, j, k, l. */
void byte_pixels_strides(cc_image *image, cc_place place, int64_t out_strides[CC_MAX_DIMENSION]);

/* Two axes are enough for most tests. */
cc_region region_at(int64_t i, int64_t j, int64_t size_i, int64_t size_j);

#endif
