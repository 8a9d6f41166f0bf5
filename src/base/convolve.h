/* Lines convolved by way of their Fourier transforms, as plain data, and how the CPU does it. */
#ifndef CC_BASE_CONVOLVE_H
#define CC_BASE_CONVOLVE_H

#include "base/host_fft.h"
#include "base/lines.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cc__convolve {
    cc__line_images images;      /* whole lines on both sides */
    const unsigned char *filter; /* its first pixel */
    int64_t filter_step;         /* bytes */
    int64_t filter_size;
    int64_t centre;
    int64_t length; /* of the transforms */
    cc_pixel_type filter_type;
    int32_t in_frequency;
    int32_t is_wide;        /* float64 */
    int32_t slots;          /* lines that the CPU may work on at once */
    int64_t batch;          /* lines that the GPU transforms at once */
    unsigned char *scratch; /* the filter's transform, then slots or a batch */
    int64_t scratch_bytes;
} cc__convolve;

/* Bytes of the filter's transform, of a slot, and of a line of a batch. */
int64_t cc__convolve_response_bytes(const cc__convolve *work);
int64_t cc__convolve_slot_bytes(const cc__convolve *work);
int64_t cc__convolve_line_bytes(const cc__convolve *work);

/* What the CPU knows of a work before it does lines. */
typedef struct cc__convolve_plan {
    const cc__convolve *work;
    cc__lines lines;
    bool by_fft;
    /* Without: the filter in space, and how far before and after a pixel it reaches. */
    int64_t before;
    int64_t after;
} cc__convolve_plan;

void cc__convolve_begin(const cc__convolve *work, cc__convolve_plan *out_plan);

/* A thread's slot, and its transforms. */
typedef struct cc__convolve_slot {
    double *values;
    double *results;
    void *line;
    void *spectrum;
    void *plan_memory[2];
    cc__host_fft *plans[2]; /* forward and back */
} cc__convolve_slot;

void cc__convolve_open_slot(const cc__convolve_plan *plan, int32_t number, cc__convolve_slot *out_slot);
void cc__convolve_line(const cc__convolve_plan *plan, const cc__convolve_slot *slot, int64_t line);

#ifdef __cplusplus
}
#endif

#endif
