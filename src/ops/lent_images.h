/* The images of an operation while it runs: inputs that are read, an output that is written, all at one place. */
#ifndef CC_OPS_LENT_IMAGES_H
#define CC_OPS_LENT_IMAGES_H

#include "base/kernel.h"
#include "image/image_handle.h"

#include <cudacommon/expression.h>

typedef struct cc__lent_images {
    const char *function;
    cc_stream stream;
    cc_image *inputs[CC_MAX_INPUTS];
    int32_t input_count;
    cc_image *output;
    /* Parts of them, of the data managers' pixels; NULL: all of the image. */
    const cc__box *input_boxes[CC_MAX_INPUTS];
    const cc__box *output_box;

    cc_place place;
    cc__mapping *input_mappings[CC_MAX_INPUTS]; /* NULL: the input's pixels are the output's, or an earlier input's */
    cc__mapping *output_mapping;
} cc__lent_images;

/*
 * Chooses the place and lends all images there; none is empty. Inputs that are the output's pixels are lent with it.
 * BUSY also where an input overlaps the output otherwise. On failure nothing is lent.
 */
cc_status cc__lend_images(cc__lent_images *images);
cc__span cc__lent_input(const cc__lent_images *images, int32_t input);
cc__span cc__lent_output(const cc__lent_images *images);
/* Does the work where the images are, and records the write. */
cc_status cc__lent_images_run(const cc__lent_images *images, const cc__kernel *kernel, const void *work);
void cc__lent_images_end(cc__lent_images *images);

#endif
