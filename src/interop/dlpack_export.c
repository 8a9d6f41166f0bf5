/* Pixels on loan as DLPack tensors. */
#include "base/error.h"
#include "image/image_handle.h"
#include "interop/dlpack.h"
#include "interop/loan.h"
#include "interop/private_copy.h"

#include <string.h>

/* A tensor with all that it points at, in one piece with the loan, which it owns: its manager_ctx. */
typedef struct exported {
    union {
        struct DLManagedTensorVersioned versioned;
        struct DLManagedTensor legacy;
    } tensor;
    int64_t shape[CC_MAX_DIMENSION + 1];
    int64_t strides[CC_MAX_DIMENSION + 1];
} exported;

_Static_assert(sizeof(cc_loan) % _Alignof(exported) == 0, "a tensor can follow a loan");

/* Plain C, and nothing of it needs to know who calls: no lock of an interpreter, no thread in particular. */
static void delete_versioned(struct DLManagedTensorVersioned *self)
{
    if (self != NULL)
        cc_loan_release(self->manager_ctx);
}

static void delete_legacy(struct DLManagedTensor *self)
{
    if (self != NULL)
        cc_loan_release(self->manager_ctx);
}

const cc_loan *cc__dlpack_loan(const struct DLManagedTensorVersioned *tensor)
{
    return tensor->deleter == delete_versioned ? (const cc_loan *)tensor->manager_ctx : NULL;
}

const cc_loan *cc__dlpack_loan_legacy(const struct DLManagedTensor *tensor)
{
    return tensor->deleter == delete_legacy ? (const cc_loan *)tensor->manager_ctx : NULL;
}

static cc__dlpack_type type_of(cc_pixel_type type)
{
    cc__dlpack_type element = {0, (uint8_t)(8 * cc_pixel_type_size_bytes(type)), 1};
    switch (type) {
    case CC_PIXEL_BOOL:
        element.code = CC__DLPACK_BOOL;
        break;
    case CC_PIXEL_UINT8:
    case CC_PIXEL_UINT16:
    case CC_PIXEL_UINT32:
    case CC_PIXEL_UINT64:
        element.code = CC__DLPACK_UINT;
        break;
    case CC_PIXEL_INT8:
    case CC_PIXEL_INT16:
    case CC_PIXEL_INT32:
    case CC_PIXEL_INT64:
        element.code = CC__DLPACK_INT;
        break;
    case CC_PIXEL_FLOAT16:
    case CC_PIXEL_FLOAT32:
    case CC_PIXEL_FLOAT64:
        element.code = CC__DLPACK_FLOAT;
        break;
    case CC_PIXEL_BFLOAT16:
        element.code = CC__DLPACK_BFLOAT;
        break;
    case CC_PIXEL_COMPLEX64:
    case CC_PIXEL_COMPLEX128:
        element.code = CC__DLPACK_COMPLEX;
        break;
    }
    return element;
}

static cc__dlpack_tensor describe(exported *that, const cc_descriptor *descriptor)
{
    cc__dlpack_tensor tensor = {
        .data = descriptor->data,
        .device = {CC__DLPACK_CPU, 0},
        .ndim = descriptor->ndim,
        .dtype = type_of((cc_pixel_type)descriptor->pixel_type),
        .shape = that->shape,
        .strides = that->strides,
    };
    /* Pixels that are none may have no device yet. */
    if (descriptor->place != CC_PLACE_HOST)
        tensor.device = (cc__dlpack_device){CC__DLPACK_CUDA, descriptor->place >= 0 ? descriptor->place : 0};
    for (int32_t axis = 0; axis < descriptor->ndim; ++axis) {
        that->shape[axis] = descriptor->shape[axis];
        that->strides[axis] = descriptor->strides_bytes[axis] / descriptor->itemsize_bytes;
    }
    return tensor;
}

static cc_status lend_copy(const char *function, cc_image *image, const cc_export_params *params,
                           cc_descriptor *out_descriptor, cc_loan **out_loan)
{
    cc_export_params known = CC_EXPORT_PARAMS_INIT;
    cc_image *copy = NULL;
    if (params->struct_size < sizeof params->struct_size)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.struct_size = %u, expected CC_EXPORT_PARAMS_INIT",
                        function, (unsigned)params->struct_size);
    memcpy(&known, params, params->struct_size < sizeof known ? params->struct_size : sizeof known);
    known.struct_size = sizeof known;
    cc_status status = cc__private_copy_create(function, image, &known, &copy);
    if (status != CC_OK)
        return status;
    known.region = NULL;
    known.access = CC_ACCESS_READ_WRITE;
    status = cc__loan_create(copy, &known, false, sizeof(exported), out_descriptor, out_loan);
    cc_image_release(copy);
    return status;
}

/* flags: those of the tensor. */
static cc_status export_pixels(const char *function, cc_image *image, const cc_export_params *params,
                               uint32_t dlpack_flags, uint32_t known_flags, cc_loan **out_loan,
                               cc__dlpack_tensor *out_tensor, uint64_t *out_flags)
{
    const bool is_copied = (dlpack_flags & CC_DLPACK_COPY) != 0;
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    cc_status status = cc__image_check(function, image);
    if (status == CC_OK && params == NULL)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params = NULL, expected a pointer", function);
    if (status == CC_OK && (dlpack_flags & ~known_flags) != 0)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: dlpack_flags = 0x%x, expected CC_DLPACK_... values", function,
                          (unsigned)dlpack_flags);
    if (status != CC_OK)
        return status;
    status = is_copied ? lend_copy(function, image, params, &descriptor, out_loan)
                       : cc__loan_create(image, params, false, sizeof(exported), &descriptor, out_loan);
    if (status != CC_OK)
        return status;
    *out_tensor = describe(cc__loan_own(*out_loan), &descriptor);
    *out_flags = (descriptor.read_only != 0 ? CC__DLPACK_READ_ONLY : 0) | (is_copied ? CC__DLPACK_IS_COPIED : 0);
    return CC_OK;
}

cc_status cc_image_export_dlpack(cc_image *image, const cc_export_params *params, uint32_t dlpack_flags,
                                 struct DLManagedTensorVersioned **out_tensor)
{
    static const char *const function = "cc_image_export_dlpack";
    cc__dlpack_tensor tensor;
    cc_loan *loan = NULL;
    uint64_t flags = 0;
    if (out_tensor == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_tensor = NULL, expected a pointer", function);
    const cc_status status =
        export_pixels(function, image, params, dlpack_flags, CC_DLPACK_COPY, &loan, &tensor, &flags);
    if (status != CC_OK)
        return status;
    exported *that = cc__loan_own(loan);
    that->tensor.versioned = (struct DLManagedTensorVersioned){
        .version = {CC__DLPACK_MAJOR, CC__DLPACK_MINOR},
        .manager_ctx = loan,
        .deleter = delete_versioned,
        .flags = flags,
        .dl_tensor = tensor,
    };
    *out_tensor = &that->tensor.versioned;
    return CC_OK;
}

cc_status cc_image_export_dlpack_legacy(cc_image *image, const cc_export_params *params, uint32_t dlpack_flags,
                                        struct DLManagedTensor **out_tensor)
{
    static const char *const function = "cc_image_export_dlpack_legacy";
    cc__dlpack_tensor tensor;
    cc_loan *loan = NULL;
    uint64_t flags = 0;
    if (out_tensor == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_tensor = NULL, expected a pointer", function);
    const cc_status status =
        export_pixels(function, image, params, dlpack_flags, CC_DLPACK_COPY | CC_DLPACK_FORCE, &loan, &tensor, &flags);
    if (status != CC_OK)
        return status;
    if ((flags & CC__DLPACK_READ_ONLY) != 0 && (dlpack_flags & CC_DLPACK_FORCE) == 0) {
        cc_loan_release(loan);
        return cc__fail(CC_ERROR_READ_ONLY,
                        "%s: the pixels are read-only, which this tensor cannot say; expected CC_DLPACK_FORCE or "
                        "CC_DLPACK_COPY",
                        function);
    }
    exported *that = cc__loan_own(loan);
    that->tensor.legacy = (struct DLManagedTensor){.dl_tensor = tensor, .manager_ctx = loan, .deleter = delete_legacy};
    *out_tensor = &that->tensor.legacy;
    return CC_OK;
}
