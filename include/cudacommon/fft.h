/* Convolution along an axis by Fourier transforms, where the pixels are. */
#ifndef CUDACOMMON_FFT_H
#define CUDACOMMON_FFT_H

#include <cudacommon/device.h>
#include <cudacommon/export.h>
#include <cudacommon/image.h>
#include <cudacommon/status.h>
#include <stdint.h>

CC_BEGIN_DECLS

/* What the numbers of a filter are. */
typedef enum cc_filter_domain {
    CC_FILTER_IN_SPACE = 0,    /* the weights of neighbouring pixels */
    CC_FILTER_IN_FREQUENCY = 1 /* what each frequency is multiplied by */
} cc_filter_domain;

typedef struct cc_convolve_params {
    uint32_t struct_size; /* set by CC_CONVOLVE_PARAMS_INIT */
    int32_t axis;         /* 0 is i */
    int32_t domain;       /* a cc_filter_domain */
    int32_t reserved;     /* 0 */
    int64_t centre;       /* in space: which pixel of the filter weighs the pixel itself; -1: its size / 2 */
    int64_t length;       /* of the transforms in pixels; 0: see below */
} cc_convolve_params;

/* Along i, in space, centre in the middle, length 0. */
#define CC_CONVOLVE_PARAMS_INIT                                                                                        \
    {                                                                                                                  \
        sizeof(cc_convolve_params), 0, CC_FILTER_IN_SPACE, 0, -1, 0                                                    \
    }

/* The longest transform. */
#define CC_CONVOLVE_MAX_LENGTH (1 << 24)

/**
 * Filters every line along an axis with the same filter: rows of a detector with a ramp, say. Around the line there are
 * zeros. Pixel (0, 0, ...) counted from the first pixel of each image; the sizes and components are equal. Components
 * are filtered on their own. What lies around a view does not count. The output may be the input, or share exactly its
 * pixels.
 * filter: pixels of one component along its first axis, all other sizes 1.
 * In space they are real, and output[p] is the sum over n of filter[n] input[p + centre - n]: a convolution, of which
 * the pixels of the input's region are kept. length: at least the line's size + the greater of centre and the filter's
 * size - 1 - centre, so that the ends do not meet; 0 takes the next length that transforms fast.
 * In frequency they are real or complex, pixel f is the factor of frequency f / length (in cycles per pixel), and there
 * are floor(length / 2) + 1; those of the negative frequencies are their conjugates. length: at least the line's size;
 * 0 is 2 (the filter's size - 1). The line with its zeros is taken as periodic: what the filter spreads beyond length
 * comes in at the other end, so length is twice the line's size for a ramp. The imaginary parts of the first factor,
 * and of the last one of an even length, count as 0. Factor 1 leaves the line as it is, the library scales.
 *
 * The arithmetic is in float32 for input of float32 and all types of up to 16 bits, else in float64; the result is cast
 * as cc_image_rescale() does. Error: up to about 2 log2(length) units in the last place of the norm of the filter in
 * space (the root of its sum of squares) times that of the line. The same from run to run on one machine; CPU and GPU
 * agree within the error. A NaN or an infinity makes its whole line NaN.
 *
 * On a GPU by cuFFT, which is looked for when it is first needed: the file that CUDACOMMON_CUFFT in the environment
 * names, libcufft.so as the dynamic linker finds it or another library has loaded it, or that of an installed toolkit.
 * Plans are kept for the next call. On the CPU by KissFFT (libkissfft-float, for float64 libkissfft-double; Debian has
 * the first in libkissfft-dev), if it is found; else, and for odd lengths and other prime factors than 2, 3 and 5, by
 * adding up every product, which is slow for long filters.
 *
 * Returns CC_OK; CC_ERROR_INVALID_ARGUMENT for NULL, struct_size 0, an axis that is none of the input's, an unknown
 * domain, a centre outside the filter, or a length that is too short or does not belong to the filter; CC_ERROR_SIZE
 * when sizes or components differ, or the filter is not a line of pixels of one component; CC_ERROR_PIXEL_TYPE when an
 * image is complex, or a filter in space is; CC_ERROR_UNSUPPORTED when the transforms would be longer than
 * CC_CONVOLVE_MAX_LENGTH, or on a GPU without cuFFT; CC_ERROR_READ_ONLY; CC_ERROR_BUSY while the output is mapped, an
 * input is being written, or the output overlaps one otherwise than exactly;
 * CC_ERROR_UNINITIALIZED; CC_ERROR_INVALID_DEVICE; CC_ERROR_CAPTURE; CC_ERROR_OUT_OF_HOST_MEMORY;
 * CC_ERROR_OUT_OF_DEVICE_MEMORY; CC_ERROR_FORKED; CC_ERROR_DEVICE.
 * Allocates what the output needs at that place, brings the stale parts of the inputs there, and for the time of the
 * work allocates up to about 64 MiB, at least what one line takes, and as much again for cuFFT. Larger images are done
 * in batches of lines.
 * Thread safety: any thread. On a device does not block, except while pageable memory is copied or a plan is made:
 * `stream` order. Since 2.0.
 */
CC_API cc_status cc_image_convolve_axis(cc_image *input, cc_image *filter, const cc_convolve_params *params,
                                        cc_image *output, cc_stream stream);

CC_END_DECLS

#endif
