/* A DLPack tensor as another library makes it: with memory of its own, or over memory of a tensor that it was given. */
#ifndef CC_TESTS_FOREIGN_TENSOR_H
#define CC_TESTS_FOREIGN_TENSOR_H

#include "interop/dlpack_abi.h"

#include <cudacommon/cudacommon.h>
#include <stdatomic.h>

typedef struct foreign_tensor {
    struct DLManagedTensorVersioned versioned;
    struct DLManagedTensor legacy;
    int64_t shape[CC_MAX_DIMENSION + 2];
    int64_t strides[CC_MAX_DIMENSION + 2];
    struct DLManagedTensorVersioned *base; /* deleted with this one; or NULL */
    atomic_int deletions;
} foreign_tensor;

/* Compact, C order, of float32. The deleter counts and ends `base`; the struct itself stays the test's. */
void foreign_tensor_init(foreign_tensor *that, cc_place place, void *data, int32_t ndim, const int64_t *shape);

/* An array over `base`, as its library would export it again: the same elements, to be cut by the test. */
void foreign_tensor_over(foreign_tensor *that, struct DLManagedTensorVersioned *base);

/* As array[first:first + size:step] along an axis. */
void foreign_tensor_cut(foreign_tensor *that, int32_t axis, int64_t first, int64_t size, int64_t step);

#endif
