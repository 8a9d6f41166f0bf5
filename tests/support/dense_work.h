/* Work on plain bytes, one after another. */
#ifndef CC_TESTS_DENSE_WORK_H
#define CC_TESTS_DENSE_WORK_H

#include "backend/backend.h"
#include "memory/pixel_kernels.h"

cc__copy dense_copy(void *destination, const void *source, int64_t size_bytes);
/* A box at `at` of a dense image of this size, with the same place on both sides. */
cc__copy box_copy(unsigned char *destination, unsigned char *source, const int64_t image[CC_MAX_DIMENSION],
                  const int64_t at[CC_MAX_DIMENSION], const int64_t size[CC_MAX_DIMENSION], int64_t pixel_bytes);
cc__fill dense_fill(void *destination, unsigned char value, int64_t size_bytes);

/* The same, queued. */
cc_status copy_bytes(cc__backend *backend, int32_t device, cc_stream stream, void *destination, const void *source,
                     int64_t size_bytes);
cc_status fill_bytes(cc__backend *backend, int32_t device, cc_stream stream, void *destination, unsigned char value,
                     int64_t size_bytes);

/* Any work, whose success is all that matters. */
cc_status queue_kernel(cc__backend *backend, int32_t device, cc_stream stream, const cc__kernel *kernel,
                       const void *work);

bool bytes_are(const void *memory, unsigned char value, size_t size_bytes);

#endif
