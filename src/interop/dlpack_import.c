/* DLPack tensors as images. */
#include "base/checked.h"
#include "base/error.h"
#include "image/image_handle.h"
#include "interop/dlpack.h"
#include "interop/import.h"
#include "interop/lent_part.h"

#include <string.h>

static bool find_type(const cc__dlpack_type *element, cc_pixel_type *out_type)
{
    static const struct {
        uint8_t code;
        uint8_t bits;
        cc_pixel_type type;
    } types[] = {
        {CC__DLPACK_BOOL, 8, CC_PIXEL_BOOL},
        {CC__DLPACK_UINT, 8, CC_PIXEL_UINT8},
        {CC__DLPACK_INT, 8, CC_PIXEL_INT8},
        {CC__DLPACK_UINT, 16, CC_PIXEL_UINT16},
        {CC__DLPACK_INT, 16, CC_PIXEL_INT16},
        {CC__DLPACK_UINT, 32, CC_PIXEL_UINT32},
        {CC__DLPACK_INT, 32, CC_PIXEL_INT32},
        {CC__DLPACK_UINT, 64, CC_PIXEL_UINT64},
        {CC__DLPACK_INT, 64, CC_PIXEL_INT64},
        {CC__DLPACK_FLOAT, 16, CC_PIXEL_FLOAT16},
        {CC__DLPACK_BFLOAT, 16, CC_PIXEL_BFLOAT16},
        {CC__DLPACK_FLOAT, 32, CC_PIXEL_FLOAT32},
        {CC__DLPACK_FLOAT, 64, CC_PIXEL_FLOAT64},
        {CC__DLPACK_COMPLEX, 64, CC_PIXEL_COMPLEX64},
        {CC__DLPACK_COMPLEX, 128, CC_PIXEL_COMPLEX128},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i)
        if (types[i].code == element->code && types[i].bits == element->bits) {
            *out_type = types[i].type;
            return true;
        }
    return false;
}

static cc_status read_type(const char *function, const cc__dlpack_type *element, cc_pixel_type *out_type)
{
    if (element->lanes != 1)
        return cc__fail(CC_ERROR_UNSUPPORTED, "%s: dtype.lanes = %u, expected 1", function, (unsigned)element->lanes);
    if (element->bits % 8 != 0 || element->bits == 0)
        return cc__fail(CC_ERROR_UNSUPPORTED, "%s: dtype.bits = %u, expected whole bytes", function,
                        (unsigned)element->bits);
    if (!find_type(element, out_type))
        return cc__fail(CC_ERROR_PIXEL_TYPE, "%s: dtype.code = %u, dtype.bits = %u, expected those of a pixel type",
                        function, (unsigned)element->code, (unsigned)element->bits);
    return CC_OK;
}

static cc_status read_place(const char *function, const cc__dlpack_device *device, cc_place *out_place)
{
    switch (device->device_type) {
    case CC__DLPACK_CPU:
    case CC__DLPACK_CUDA_HOST:
        *out_place = CC_PLACE_HOST;
        return CC_OK;
    case CC__DLPACK_CUDA:
        if (device->device_id < 0)
            return cc__fail(CC_ERROR_INVALID_DEVICE, "%s: device.device_id = %d, expected >= 0", function,
                            device->device_id);
        *out_place = device->device_id;
        return CC_OK;
    case CC__DLPACK_CUDA_MANAGED:
        /* Its device_id is 0 for some, the device for others. */
        *out_place = CC_DEVICE_CURRENT;
        return CC_OK;
    default:
        return cc__fail(CC_ERROR_UNSUPPORTED, "%s: device.device_type = %d, expected the CPU's or CUDA's", function,
                        device->device_type);
    }
}

static cc_status read_strides(const char *function, const cc__dlpack_tensor *tensor, cc__array *array)
{
    const int64_t itemsize = (int64_t)cc_pixel_type_size_bytes(array->type);
    bool is_empty = false;
    for (int32_t axis = 0; axis < tensor->ndim; ++axis)
        is_empty = is_empty || tensor->shape[axis] == 0;
    if (tensor->strides == NULL) {
        if (cc__array_make_contiguous(array))
            return CC_OK;
        return cc__fail(CC_ERROR_OVERFLOW, "%s: shape has more elements than 63 bits of bytes", function);
    }
    for (int32_t axis = 0; axis < tensor->ndim && !is_empty; ++axis)
        if (tensor->shape[axis] != 1 &&
            !cc__checked_multiply(tensor->strides[axis], itemsize, &array->strides_bytes[axis]))
            return cc__fail(CC_ERROR_OVERFLOW, "%s: strides[%d] = %lld elements of %lld bytes, expected 63 bits",
                            function, axis, (long long)tensor->strides[axis], (long long)itemsize);
    return CC_OK;
}

static cc_status read_tensor(const char *function, const cc__dlpack_tensor *tensor, cc__foreign *foreign)
{
    cc__array *array = &foreign->array;
    const uintptr_t data = (uintptr_t)tensor->data;
    if (tensor->ndim < 0 || tensor->ndim > CC_MAX_DIMENSION + 1)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: ndim = %d, expected 1 to %d", function, tensor->ndim,
                        CC_MAX_DIMENSION + 1);
    if (tensor->ndim > 0 && tensor->shape == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: shape = NULL, expected %d extents", function, tensor->ndim);
    cc_status status = read_type(function, &tensor->dtype, &array->type);
    if (status == CC_OK)
        status = read_place(function, &tensor->device, &foreign->place);
    if (status == CC_OK && tensor->byte_offset > UINTPTR_MAX - data)
        status = cc__fail(CC_ERROR_OVERFLOW, "%s: byte_offset = %llu, expected a place in memory after data = %p",
                          function, (unsigned long long)tensor->byte_offset, tensor->data);
    if (status != CC_OK)
        return status;
    array->ndim = tensor->ndim;
    for (int32_t axis = 0; axis < tensor->ndim; ++axis)
        array->shape[axis] = tensor->shape[axis];
    if (tensor->data != NULL)
        array->data = (unsigned char *)tensor->data + tensor->byte_offset;
    return read_strides(function, tensor, array);
}

static void release_versioned(void *data, void *user_data)
{
    struct DLManagedTensorVersioned *tensor = user_data;
    (void)data;
    if (tensor->deleter != NULL)
        tensor->deleter(tensor);
}

static void release_legacy(void *data, void *user_data)
{
    struct DLManagedTensor *tensor = user_data;
    (void)data;
    if (tensor->deleter != NULL)
        tensor->deleter(tensor);
}

static cc_status check(const char *function, const void *tensor, const cc_import_params *params, cc_image **out_image,
                       cc_import_params *out_params)
{
    if (tensor == NULL || out_image == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected a pointer", function,
                        tensor == NULL ? "tensor" : "out_image");
    cc_status status = cc__import_read_params(function, params, out_params);
    if (status == CC_OK && out_params->release != NULL)
        status = cc__fail(CC_ERROR_INVALID_ARGUMENT,
                          "%s: params.release is a callback, expected NULL: the tensor's "
                          "deleter is called",
                          function);
    return status;
}

static cc_status import_tensor(const char *function, const cc__dlpack_tensor *tensor, const cc_import_params *params,
                               const cc_loan *loan, cc__foreign *foreign, cc_image **out_image)
{
    const cc_status status = read_tensor(function, tensor, foreign);
    if (status != CC_OK)
        return status;
    if (foreign->place == CC_PLACE_HOST)
        foreign->stream = NULL;
    if (loan != NULL)
        foreign->lender_geometry = &loan->geometry;
    return cc__import(function, foreign, params, out_image);
}

cc_status cc_image_import_dlpack(struct DLManagedTensorVersioned *tensor, const cc_import_params *params,
                                 cc_stream stream, cc_image **out_image)
{
    static const char *const function = "cc_image_import_dlpack";
    cc_import_params known;
    cc__foreign foreign = {.stream = stream, .user_data = tensor};
    const cc_status status = check(function, tensor, params, out_image, &known);
    if (status != CC_OK)
        return status;
    const bool is_borrowed = (known.flags & CC_IMPORT_BORROWED) != 0;
    if (tensor->version.major != CC__DLPACK_MAJOR) {
        const uint32_t major = tensor->version.major;
        if (!is_borrowed)
            release_versioned(NULL, tensor);
        return cc__fail(CC_ERROR_UNSUPPORTED, "%s: version.major = %u, expected %u", function, (unsigned)major,
                        CC__DLPACK_MAJOR);
    }
    foreign.release = is_borrowed ? NULL : release_versioned;
    foreign.read_only = (tensor->flags & CC__DLPACK_READ_ONLY) != 0;
    return import_tensor(function, &tensor->dl_tensor, &known, cc__dlpack_loan(tensor), &foreign, out_image);
}

cc_status cc_image_import_dlpack_legacy(struct DLManagedTensor *tensor, const cc_import_params *params,
                                        cc_stream stream, cc_image **out_image)
{
    static const char *const function = "cc_image_import_dlpack_legacy";
    cc_import_params known;
    cc__foreign foreign = {.stream = stream, .user_data = tensor};
    const cc_status status = check(function, tensor, params, out_image, &known);
    if (status != CC_OK)
        return status;
    foreign.release = (known.flags & CC_IMPORT_BORROWED) != 0 ? NULL : release_legacy;
    return import_tensor(function, &tensor->dl_tensor, &known, cc__dlpack_loan_legacy(tensor), &foreign, out_image);
}

/* The dimension is not in the tensor; the loan has it. The order is in the strides. */
static bool find_lent_geometry(const cc__dlpack_tensor *tensor, cc_geometry *out_geometry)
{
    static const char *const function = "cc_dlpack_get_geometry";
    cc_import_params params = CC_IMPORT_PARAMS_INIT;
    cc__foreign foreign = {0};
    cc__array_image array;
    cc__box box;
    cc_place place = CC_PLACE_HOST;
    int64_t bytes = 0;
    bool is_found = false;
    if (read_tensor(function, tensor, &foreign) != CC_OK || !cc__array_extent(&foreign.array, &bytes) ||
        cc__import_place(function, &foreign, bytes == 0, &place) != CC_OK)
        return false;
    cc_loan *loan = cc__loan_find(place, foreign.array.data, (size_t)bytes);
    if (loan == NULL)
        return false;
    params.flags = CC_IMPORT_STRIDED;
    params.dimension = loan->dimension;
    for (int32_t i = 0; i < 2 && !is_found; ++i) {
        params.order = i == 0 ? CC_ORDER_C : CC_ORDER_K;
        is_found = cc__array_to_image(function, &foreign.array, &params, &array) == CC_OK &&
                   cc__lent_part_find(loan, &array, foreign.array.data, &box, out_geometry);
    }
    cc_loan_release(loan);
    return is_found;
}

static cc_status get_geometry(const char *function, const cc__dlpack_tensor *tensor, const cc_loan *loan,
                              cc_geometry *out_geometry)
{
    cc_geometry found = CC_GEOMETRY_INIT;
    cc__error_state before;
    if (loan != NULL)
        return cc_loan_get_geometry(loan, out_geometry);
    cc__error_save(&before);
    const bool is_found = find_lent_geometry(tensor, &found);
    cc__error_restore(&before);
    if (!is_found)
        return cc__fail(CC_ERROR_UNSUPPORTED, "%s: the tensor's memory is not on loan from an image", function);
    cc__geometry_write(&found, out_geometry);
    return CC_OK;
}

static cc_status check_question(const char *function, const void *tensor, const cc_geometry *out_geometry)
{
    if (tensor == NULL || out_geometry == NULL)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: %s = NULL, expected a pointer", function,
                        tensor == NULL ? "tensor" : "out_geometry");
    if (out_geometry->struct_size < sizeof out_geometry->struct_size)
        return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: out_geometry.struct_size = %u, expected CC_GEOMETRY_INIT",
                        function, (unsigned)out_geometry->struct_size);
    return CC_OK;
}

cc_status cc_dlpack_get_geometry(const struct DLManagedTensorVersioned *tensor, cc_geometry *out_geometry)
{
    static const char *const function = "cc_dlpack_get_geometry";
    const cc_status status = check_question(function, tensor, out_geometry);
    if (status != CC_OK)
        return status;
    if (tensor->version.major != CC__DLPACK_MAJOR)
        return cc__fail(CC_ERROR_UNSUPPORTED, "%s: version.major = %u, expected %u", function,
                        (unsigned)tensor->version.major, CC__DLPACK_MAJOR);
    return get_geometry(function, &tensor->dl_tensor, cc__dlpack_loan(tensor), out_geometry);
}

cc_status cc_dlpack_get_geometry_legacy(const struct DLManagedTensor *tensor, cc_geometry *out_geometry)
{
    static const char *const function = "cc_dlpack_get_geometry_legacy";
    const cc_status status = check_question(function, tensor, out_geometry);
    if (status != CC_OK)
        return status;
    return get_geometry(function, &tensor->dl_tensor, cc__dlpack_loan_legacy(tensor), out_geometry);
}
