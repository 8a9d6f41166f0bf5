/*
 * What DLPack tensors look like in memory, versions 0.6 to 1.3: our own words for a foreign ABI. tests/interop compares
 * every offset and number with a dlpack.h. Names of structs and members are DLPack's, since they are the ABI's.
 */
#ifndef CC_INTEROP_DLPACK_ABI_H
#define CC_INTEROP_DLPACK_ABI_H

#include <stdint.h>

/* What is exported: the first version with flags. It has all that we say, and later readers take it. */
#define CC__DLPACK_MAJOR 1u
#define CC__DLPACK_MINOR 0u

/* The kinds of device that hold memory of ours. */
#define CC__DLPACK_CPU 1
#define CC__DLPACK_CUDA 2
#define CC__DLPACK_CUDA_HOST 3
#define CC__DLPACK_CUDA_MANAGED 13

/* The kinds of element that are pixel types. */
#define CC__DLPACK_INT 0u
#define CC__DLPACK_UINT 1u
#define CC__DLPACK_FLOAT 2u
#define CC__DLPACK_BFLOAT 4u
#define CC__DLPACK_COMPLEX 5u
#define CC__DLPACK_BOOL 6u

#define CC__DLPACK_READ_ONLY ((uint64_t)1)
#define CC__DLPACK_IS_COPIED ((uint64_t)2)

typedef struct cc__dlpack_version {
    uint32_t major;
    uint32_t minor;
} cc__dlpack_version;

typedef struct cc__dlpack_device {
    int32_t device_type;
    int32_t device_id;
} cc__dlpack_device;

typedef struct cc__dlpack_type {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} cc__dlpack_type;

typedef struct cc__dlpack_tensor {
    void *data;
    cc__dlpack_device device;
    int32_t ndim;
    cc__dlpack_type dtype;
    int64_t *shape;
    int64_t *strides; /* elements; NULL: compact, last axis fastest */
    uint64_t byte_offset;
} cc__dlpack_tensor;

struct DLManagedTensor {
    cc__dlpack_tensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
};

/* The members up to flags are where they are in every major version. */
struct DLManagedTensorVersioned {
    cc__dlpack_version version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    cc__dlpack_tensor dl_tensor;
};

#endif
