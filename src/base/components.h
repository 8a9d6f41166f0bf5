/* Components of any pixel type as float64, and back; the exact rules are those of kernels/pixel_math.h. */
#ifndef CC_BASE_COMPONENTS_H
#define CC_BASE_COMPONENTS_H

#include <cudacommon/pixel.h>
#include <stdbool.h>
#include <stdint.h>

static inline bool cc__is_complex(cc_pixel_type type)
{
    return type == CC_PIXEL_COMPLEX64 || type == CC_PIXEL_COMPLEX128;
}

/* `count` components, `step` bytes apart. `imaginary` is written and read for complex types only. */
void cc__components_load(cc_pixel_type type, const unsigned char *source, int64_t step, int64_t count, double *real,
                         double *imaginary);
void cc__components_store(cc_pixel_type type, const double *real, const double *imaginary, unsigned char *destination,
                          int64_t step, int64_t count);

#endif
