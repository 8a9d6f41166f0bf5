/* The plain operations on pixels, for whoever runs them on an image: see base/work.h for what they are about. */
#ifndef CC_MEMORY_PIXEL_KERNELS_H
#define CC_MEMORY_PIXEL_KERNELS_H

#include "base/kernel.h"

extern const cc__kernel cc__copy_kernel;    /* a cc__copy, within a place */
extern const cc__kernel cc__fill_kernel;    /* a cc__fill */
extern const cc__kernel cc__rescale_kernel; /* a cc__rescale */

#endif
