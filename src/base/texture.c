#include "base/texture.h"

#include "base/error.h"

#include <string.h>

/* The type of the values that a component consists of; how many they are, 0 when a texture cannot hold it. */
static int32_t values_of(cc_pixel_type type, cc_pixel_type *out_type)
{
    *out_type = type;
    switch (type) {
    case CC_PIXEL_BOOL:
        *out_type = CC_PIXEL_UINT8;
        return 1;
    case CC_PIXEL_UINT8:
    case CC_PIXEL_INT8:
    case CC_PIXEL_UINT16:
    case CC_PIXEL_INT16:
    case CC_PIXEL_UINT32:
    case CC_PIXEL_INT32:
    case CC_PIXEL_FLOAT16:
    case CC_PIXEL_FLOAT32:
        return 1;
    case CC_PIXEL_COMPLEX64:
        *out_type = CC_PIXEL_FLOAT32;
        return 2;
    case CC_PIXEL_UINT64:
    case CC_PIXEL_INT64:
    case CC_PIXEL_BFLOAT16:
    case CC_PIXEL_FLOAT64:
    case CC_PIXEL_COMPLEX128:
        return 0;
    }
    return 0;
}

cc_status cc__texture_form_choose(const char *function, cc_pixel_type type, int32_t components, bool per_component,
                                  cc__texture_form *out_form)
{
    cc__texture_form form = {.channels = 0};
    const int32_t values = values_of(type, &form.type);
    const int32_t all = values * components;
    if (values == 0)
        return cc__fail(CC_ERROR_PIXEL_TYPE, "%s: pixels are %s, expected integers of up to 32 bits, f16, f32 or c64",
                        function, cc_pixel_type_name(type));
    const bool fits = all == 1 || all == 2 || all == 4;
    form.channels = fits && !per_component ? all : values;
    form.object_count = all / form.channels;
    form.element_bytes = form.channels * (int64_t)cc_pixel_type_size_bytes(form.type);
    if (form.object_count > CC_TEXTURE_MAX_OBJECTS)
        return cc__fail(CC_ERROR_UNSUPPORTED, "%s: pixels have %d components, expected at most %d", function,
                        (int)components, CC_TEXTURE_MAX_OBJECTS);
    *out_form = form;
    return CC_OK;
}

static cc_status fail_value(const char *function, const char *name, int32_t value, const char *expected)
{
    return cc__fail(CC_ERROR_INVALID_ARGUMENT, "%s: params.%s = %d, expected %s", function, name, (int)value, expected);
}

static bool is_integer(cc_pixel_type type)
{
    return type != CC_PIXEL_FLOAT16 && type != CC_PIXEL_FLOAT32;
}

static cc_status check_types(const char *function, const cc__sampling *sampling, cc_pixel_type type)
{
    const bool is_normalized = sampling->read == CC_TEXTURE_NORMALIZED;
    if (is_normalized && is_integer(type) && cc_pixel_type_size_bytes(type) > 2)
        return cc__fail(CC_ERROR_PIXEL_TYPE, "%s: params.read is normalized and pixels are %s, expected 8 or 16 bits",
                        function, cc_pixel_type_name(type));
    if (sampling->filter == CC_TEXTURE_LINEAR && is_integer(type) && !is_normalized)
        return cc__fail(CC_ERROR_PIXEL_TYPE,
                        "%s: params.filter is linear and pixels are %s, expected floats or a normalized read", function,
                        cc_pixel_type_name(type));
    return CC_OK;
}

cc_status cc__sampling_choose(const char *function, const cc_texture_params *params, cc_pixel_type type,
                              cc__sampling *out_sampling)
{
    static const char *const names[3] = {"address[0]", "address[1]", "address[2]"};
    cc__sampling sampling = {.filter = (cc_texture_filter)params->filter,
                             .read = (cc_texture_read)params->read,
                             .has_normalized_coordinates = (params->flags & CC_TEXTURE_NORMALIZED_COORDINATES) != 0};
    if (params->filter < CC_TEXTURE_POINT || params->filter > CC_TEXTURE_LINEAR)
        return fail_value(function, "filter", params->filter, "a cc_texture_filter");
    if (params->read < CC_TEXTURE_ELEMENT || params->read > CC_TEXTURE_NORMALIZED)
        return fail_value(function, "read", params->read, "a cc_texture_read");
    for (int32_t axis = 0; axis < 3; ++axis) {
        const int32_t address = params->address[axis];
        if (address < CC_TEXTURE_BORDER || address > CC_TEXTURE_MIRROR)
            return fail_value(function, names[axis], address, "a cc_texture_address");
        if (address >= CC_TEXTURE_WRAP && !sampling.has_normalized_coordinates)
            return fail_value(function, names[axis], address, "border or clamp, or normalized coordinates");
        sampling.address[axis] = (cc_texture_address)address;
    }
    const cc_status status = check_types(function, &sampling, type);
    if (status == CC_OK)
        *out_sampling = sampling;
    return status;
}

bool cc__texture_form_equal(const cc__texture_form *a, const cc__texture_form *b)
{
    return memcmp(a->size, b->size, sizeof a->size) == 0 && a->shape == b->shape && a->type == b->type &&
           a->channels == b->channels && a->object_count == b->object_count;
}

bool cc__sampling_equal(const cc__sampling *a, const cc__sampling *b)
{
    return a->filter == b->filter && a->read == b->read &&
           a->has_normalized_coordinates == b->has_normalized_coordinates &&
           memcmp(a->address, b->address, sizeof a->address) == 0;
}

size_t cc__texture_form_bytes(const cc__texture_form *form)
{
    return (size_t)(form->size[0] * form->size[1] * form->size[2] * form->element_bytes * form->object_count);
}
