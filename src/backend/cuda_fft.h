/* cuFFT, found at run time so that the library loads without it, and its plans, kept for the next time. */
#ifndef CC_BACKEND_CUDA_FFT_H
#define CC_BACKEND_CUDA_FFT_H

#include <cuda.h>
#include <cudacommon/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Transforms of real lines in place: `batch` lines of `length` numbers, each 2 * (length / 2 + 1) numbers long. */
typedef struct cc__fft_kind {
    int64_t length;
    int64_t batch;
    int32_t device;
    bool is_wide;
    bool is_inverse;
} cc__fft_kind;

typedef struct cc__fft_plan cc__fft_plan;

/*
 * A plan for a device that is entered, for the caller alone until it is given back: UNSUPPORTED without cuFFT,
 * OUT_OF_DEVICE_MEMORY, OUT_OF_HOST_MEMORY, DEVICE. The first of a kind is made, which may take milliseconds.
 */
cc_status cc__fft_plan_take(const char *function, const cc__fft_kind *kind, cc__fft_plan **out_plan);
void cc__fft_plan_give_back(cc__fft_plan *plan);

/* What a transform needs beside its lines. */
size_t cc__fft_plan_work_bytes(const cc__fft_plan *plan);
/* Queues it; work: so many bytes, that are the stream's. */
cc_status cc__fft_plan_run(cc__fft_plan *plan, CUstream stream, void *work, void *lines);

#endif
