/* An operation on pixels as the backends see it: what it does is plain data, and who does it is in one table. */
#ifndef CC_BASE_KERNEL_H
#define CC_BASE_KERNEL_H

#include "base/work.h"

#include <cudacommon/status.h>
#include <stddef.h>
#include <stdint.h>

struct cc__launcher;

/* The most pieces of memory that one work may touch: as many as an expression. */
#define CC__KERNEL_RANGES 17

/* Bytes of device memory that a work touches. */
typedef struct cc__kernel_range {
    const unsigned char *first;
    int64_t size_bytes; /* > 0 */
} cc__kernel_range;

/* The bytes from the first to the last of a box that has pixels; strides may be negative. */
cc__kernel_range cc__kernel_range_of(const cc__span *span, const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes);

/*
 * One operation. The work is a struct of its own that says everything and points at pixels only; it is copied, and may
 * be gone when the operation runs. It never asks for nothing: a work without pixels is not given to a backend.
 */
typedef struct cc__kernel {
    const char *name;
    size_t work_bytes;
    /* Does all of it on the CPU; with several threads if it likes. */
    void (*on_host)(const void *work);
    /* Every byte that is read or written is in one of these; at most CC__KERNEL_RANGES. For checks. */
    int32_t (*touches)(const void *work, cc__kernel_range out_ranges[CC__KERNEL_RANGES]);
    /* Starts it on a GPU: CC__LAUNCH(a function of kernels/launch.h). */
    cc_status (*launch)(const void *work, const struct cc__launcher *launcher);
} cc__kernel;

/* Kernels are compiled with a toolkit only. */
#ifdef CC__WITH_KERNELS
#define CC__LAUNCH(function) (function)
#else
#define CC__LAUNCH(function) NULL
#endif

#endif
