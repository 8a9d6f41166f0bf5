/* Fourier transforms of real lines on the CPU by KissFFT, which is looked for when it is first needed. */
#ifndef CC_BASE_HOST_FFT_H
#define CC_BASE_HOST_FFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For tests: as if there were no KissFFT. */
extern bool cc__host_fft_is_hidden;

/* Whether transforms of this length can be had: an even number made of 2, 3 and 5, and the library is there. */
bool cc__host_fft_has(int64_t length, bool is_wide);

/* What a plan of either direction takes at most. */
size_t cc__host_fft_plan_bytes(int64_t length, bool is_wide);

/* In the caller's memory, aligned to 16, for one thread at a time; nothing to free. NULL when there is none after all.
 */
typedef struct cc__host_fft cc__host_fft;
cc__host_fft *cc__host_fft_plan(int64_t length, bool is_wide, bool is_inverse, void *memory, size_t size_bytes);

/* `length` numbers to length / 2 + 1 complex ones and back, not scaled; float or double. */
void cc__host_fft_forward(cc__host_fft *plan, bool is_wide, const void *line, void *spectrum);
void cc__host_fft_inverse(cc__host_fft *plan, bool is_wide, const void *spectrum, void *line);

#endif
