/* An array as its library lists it, and what image its elements are: arithmetic without state. */
#ifndef CC_INTEROP_ARRAY_H
#define CC_INTEROP_ARRAY_H

#include "base/layout.h"

#include <cudacommon/descriptor.h>
#include <cudacommon/import.h>

typedef struct cc__array {
    unsigned char *data; /* the first element; may be NULL */
    cc_pixel_type type;
    int32_t ndim;
    int64_t shape[CC_MAX_DIMENSION + 1];
    int64_t strides_bytes[CC_MAX_DIMENSION + 1];
} cc__array;

/* The same elements as pixels. */
typedef struct cc__array_image {
    int32_t dimension;
    cc_pixel_type type;
    int32_t components;
    cc__layout layout;
} cc__array_image;

/* Fills the strides: element after element, last axis fastest, an axis of 0 as if of 1. False when they leave 63 bits.
 */
bool cc__array_make_contiguous(cc__array *array);

/* How many bytes the elements span from the first one on, 0 without elements; false when a stride is negative, or they
 * leave 63 bits. */
bool cc__array_extent(const cc__array *array, int64_t *out_bytes);

/*
 * Everything that cc_image_import() says of shape, strides, alignment and params.memory. Of params: flags, dimension,
 * order, memory. Axes of one pixel, and all axes of an image without any, get dense strides.
 */
cc_status cc__array_to_image(const char *function, const cc__array *array, const cc_import_params *params,
                             cc__array_image *out_image);

#endif
